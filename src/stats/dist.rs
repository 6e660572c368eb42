//! The few distributions that the tests need, made safe: every function ends, and gives a number for
//! every finite argument.
//!
//! The tails come from `statrs`, whose Student tail and normal quantile are good to ten digits and more. Its
//! Student *quantile* is not used: it loses all digits at a million degrees of freedom and never
//! returns at a hundred million. Ours follows the tail down by Newton's method (see [`t_upper`]).

use statrs::distribution::{
    Binomial, ContinuousCDF, DiscreteCDF, FisherSnedecor, Normal, StudentsT,
};

/// Above this many degrees of freedom the quantile comes from the Cornish-Fisher series, whose four terms are
/// then good to eleven digits. A larger value would only cost time.
const SERIES_FROM_DF: f64 = 1000.0;

/// No level below this is told apart; it is far below any level that a suite correction can ask for.
const SMALLEST_LEVEL: f64 = 1e-100;

/// Above this many degrees of freedom a Student variable is treated as normal in its tail.
const NORMAL_FROM_DF: f64 = 1e9;

fn standard_normal() -> Normal {
    Normal::new(0.0, 1.0).expect("the standard normal has a positive deviation")
}

/// The probability that a standard normal variable exceeds `z`.
pub fn normal_sf(z: f64) -> f64 {
    if z.is_nan() { 1.0 } else { standard_normal().sf(z) }
}

/// The value that a standard normal variable exceeds with probability `level`.
pub fn normal_upper(level: f64) -> f64 {
    -standard_normal().inverse_cdf(bounded_level(level))
}

/// The probability that a Student variable with `df` (at least 1, infinity allowed) exceeds `t`.
///
/// NaN counts as no evidence and gives 1.
pub fn t_sf(t: f64, df: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    let df = bounded_df(df);
    if NORMAL_FROM_DF <= df {
        return normal_sf(t);
    }
    StudentsT::new(0.0, 1.0, df).expect("the degrees of freedom are positive").sf(t).clamp(0.0, 1.0)
}

/// The value that a Student variable with `df` degrees of freedom exceeds with probability `level`.
///
/// `t_upper(0.025, df)` is the familiar 97.5 % quantile. `ln sf` is a concave, falling function of `ln t`, so
/// that Newton's method on it, begun at the normal quantile, is on the far side of the root after
/// one step and then walks back without ever passing it. Near the median, where `ln t` has no lower end, the plain
/// tail does the same: it is convex there.
pub fn t_upper(level: f64, df: f64) -> f64 {
    let level = bounded_level(level);
    if 0.5 < level {
        return -t_upper(1.0 - level, df);
    }
    let df = bounded_df(df);
    let mut t = normal_upper(level);
    if t <= 0.0 {
        return 0.0;
    }
    if SERIES_FROM_DF < df {
        return cornish_fisher(t, df);
    }
    // Thirty steps are never needed (six are usual); the bound is what makes a hang impossible.
    for _ in 0..30 {
        let (tail, density) = (t_sf(t, df), t_density(t, df));
        let next = if level < 0.25 {
            t * ((tail / level).ln() * tail / (t * density)).exp()
        } else {
            t + (tail - level) / density
        };
        if !(0.0 < next && next.is_finite()) || (next - t).abs() <= 1e-15 * t {
            break;
        }
        t = next;
    }
    t
}

/// Four terms of Cornish and Fisher's series in 1/df, from the normal quantile (Abramowitz and Stegun 26.7.5).
fn cornish_fisher(z: f64, df: f64) -> f64 {
    let z2 = z * z;
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df
}

fn t_density(t: f64, df: f64) -> f64 {
    use statrs::function::beta::ln_beta;
    let log = -0.5 * (df + 1.0) * (t * t / df).ln_1p() - 0.5 * df.ln() - ln_beta(0.5 * df, 0.5);
    log.exp()
}

/// The probability that an F variable exceeds `x`.
pub fn f_sf(x: f64, df1: f64, df2: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    let f = FisherSnedecor::new(bounded_df(df1).min(1e6), bounded_df(df2).min(1e6))
        .expect("the degrees of freedom are positive");
    f.sf(x.min(1e300)).clamp(0.0, 1.0)
}

/// The median of an F variable, by bisection of its tail.
pub fn f_median(df1: f64, df2: f64) -> f64 {
    let (mut low, mut high) = (-10.0_f64, 10.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if 0.5 < f_sf(middle.exp(), df1, df2) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

/// The probability of at most `successes` in `trials` fair coin tosses.
pub fn coin_cdf(successes: u64, trials: u64) -> f64 {
    Binomial::new(0.5, trials).expect("a half is a probability").cdf(successes)
}

/// The probability of at least `successes` among `trials` that each succeed with `chance`.
pub fn binomial_upper(successes: u64, trials: u64, chance: f64) -> f64 {
    match successes.checked_sub(1) {
        None => 1.0,
        Some(below) => Binomial::new(chance.clamp(0.0, 1.0), trials)
            .expect("it was made a probability")
            .sf(below),
    }
}

/// The derivative of `ln gamma(x)`, for positive `x`.
pub fn digamma(x: f64) -> f64 {
    statrs::function::gamma::digamma(x.max(1e-300))
}

/// The second derivative of `ln gamma(x)`, for positive `x`.
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut shifted) = (x.max(1e-150), 0.0);
    // The recurrence carries the argument to where the asymptotic series has converged.
    while x < 12.0 {
        shifted += 1.0 / (x * x);
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series =
        s * (1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s * (1.0 / 30.0 - s * 5.0 / 66.0))));
    shifted + (1.0 + 0.5 / x + series) / x
}

/// The third derivative of `ln gamma(x)`, for positive `x`.
fn tetragamma(x: f64) -> f64 {
    let (mut x, mut shifted) = (x.max(1e-100), 0.0);
    while x < 12.0 {
        shifted -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series = s * (0.5 - s * (1.0 / 6.0 - s * (1.0 / 6.0 - s * (0.3 - s * 5.0 / 6.0))));
    shifted - s * (1.0 + 1.0 / x + series)
}

/// The `x` with `trigamma(x) = y`, for positive `y`.
///
/// Newton's method on 1/trigamma, which is convex and nearly straight, from Smyth (2004), appendix.
pub fn trigamma_inverse(y: f64) -> f64 {
    if 1e7 < y {
        return 1.0 / y.sqrt();
    }
    if y < 1e-6 {
        return 1.0 / y.max(1e-300);
    }
    let mut x = 0.5 + 1.0 / y;
    for _ in 0..50 {
        let value = trigamma(x);
        let step = value * (1.0 - value / y) / tetragamma(x);
        x += step;
        if step.abs() <= 1e-14 * x {
            break;
        }
    }
    x
}

fn bounded_level(level: f64) -> f64 {
    if level.is_nan() { 0.5 } else { level.clamp(SMALLEST_LEVEL, 1.0 - f64::EPSILON / 2.0) }
}

fn bounded_df(df: f64) -> f64 {
    if df.is_nan() { 1.0 } else { df.max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;
    use proptest::prelude::*;

    #[test]
    fn reference_tails() {
        check(t_sf(3.2, 7.4), 0.006991538738, 1e-9);
        check(t_sf(8.0, 5.0), 0.0002464533303, 1e-9);
        check(t_sf(40.0, 300.0), 1.426209020e-122, 1e-9);
        check(t_sf(6.78, 4.0), 0.001235104471, 1e-9);
        check(t_sf(0.1, 3.0), 0.4633261744, 1e-9);
        check(normal_sf(1.959963984540054), 0.025, 1e-9);
        check(f_sf(21.9, 3.0, 8.0), 0.0003264706264, 1e-9);
    }

    #[test]
    fn reference_quantiles() {
        check(t_upper(0.025, 4.0), 2.776445105, 1e-9);
        check(t_upper(0.05, 18.0), 1.734063607, 1e-9);
        check(t_upper(0.0005, 9.0), 4.780912586, 1e-9);
        check(t_upper(0.0005, 24.0), 3.745398619, 1e-9);
        check(t_upper(0.025, 899.0), 1.962606269, 1e-9);
        check(t_upper(0.0005, 5.0), 6.868826626, 1e-9);
        check(t_upper(5e-6, 9.0), 8.827483617, 1e-9);
        check(t_upper(0.0005, 4.0), 8.610301581380, 1e-12);
        check(normal_upper(1e-6), 4.753424309, 1e-9);
    }

    /// Made by `tests/oracle/dist.py`, which names the versions.
    #[test]
    fn oracle_values() {
        type Table = std::collections::BTreeMap<String, Vec<Vec<f64>>>;
        let table: Table =
            serde_json::from_str(include_str!("../../tests/oracle/dist.json")).unwrap();
        table["t_sf"].iter().for_each(|row| check(t_sf(row[0], row[1]), row[2], 1e-9));
        table["t_upper"].iter().for_each(|row| check(t_upper(row[0], row[1]), row[2], 1e-9));
        table["trigamma"].iter().for_each(|row| check(trigamma(row[0]), row[1], 1e-12));
        table["digamma"].iter().for_each(|row| check(digamma(row[0]), row[1], 1e-12));
        table["f_sf"].iter().for_each(|row| check(f_sf(row[0], row[1], row[2]), row[3], 1e-9));
    }

    #[test]
    fn quantiles_where_statrs_fails() {
        // df 1 is the Cauchy distribution: tan(pi (0.5 - level)).
        check(t_upper(1e-10, 1.0), 3.183098861837907e9, 1e-9);
        check(t_upper(0.025, 1e6), 1.959966356940, 1e-10);
        check(t_upper(0.025, 1e8), 1.959963984540 + 2.4e-8, 1e-8);
        check(t_upper(0.025, f64::INFINITY), 1.959963984540054, 1e-14);
        check(t_upper(1e-90, 1e5), normal_upper(1e-90), 2e-3);
    }

    #[test]
    fn the_two_quantile_methods_meet() {
        for level in [0.4, 0.25, 0.1, 0.025, 5e-4, 5e-6, 1e-10] {
            let z = normal_upper(level);
            check(t_upper(level, SERIES_FROM_DF), cornish_fisher(z, SERIES_FROM_DF), 1e-9);
        }
    }

    #[test]
    fn reference_gammas() {
        check(digamma(2.5), 0.7031566406, 1e-9);
        check(trigamma(2.5), 0.4903577561, 1e-9);
        check(digamma(4.0), 1.256117668, 1e-9);
        check(trigamma(4.0), 0.2838229557, 1e-9);
        check(trigamma_inverse(0.5), 2.459952948, 1e-9);
        check(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0, 1e-14);
    }

    #[test]
    fn extremes_end() {
        for df in [f64::NAN, 0.0, 1.0, 1.5, 1e3, 1e8, 1e300, f64::INFINITY] {
            for level in [f64::NAN, 0.0, 1e-320, 1e-60, 0.3, 0.5, 0.5 - 1e-12, 1.0] {
                assert!(t_upper(level, df).is_finite(), "level {level}, df {df}");
            }
            for t in [f64::NEG_INFINITY, -1e300, 0.0, 1e-300, 1e300, f64::INFINITY, f64::NAN] {
                assert!((0.0..=1.0).contains(&t_sf(t, df)), "t {t}, df {df}");
            }
        }
        assert!(0.3 < f_median(2.0, 10.0) && f_median(1.0, f64::INFINITY).is_finite());
    }

    proptest! {
        #[test]
        fn quantile_inverts_tail(log_level in -60.0..-0.4_f64, df in 1.0..1000.0) {
            let level = log_level.exp();
            check(t_sf(t_upper(level, df), df), level, 1e-8);
        }

        #[test]
        fn tails_fall(t in -50.0..50.0, step in 0.0..5.0, df in 1.0..1e6) {
            prop_assert!(t_sf(t + step, df) <= t_sf(t, df) + 1e-12);
            check(t_sf(t, df) + t_sf(-t, df), 1.0, 1e-12);
        }

        #[test]
        fn trigamma_inverts(x in 1e-3..1e5) {
            check(trigamma_inverse(trigamma(x)), x, 1e-9);
        }
    }
}
