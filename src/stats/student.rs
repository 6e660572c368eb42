//! Classical tests on means: Welch, Yuen, paired, and from published summaries.
//!
//! Each returns an [`Estimate`]; its p-values against a margin are the tests. Called on logs with the margin
//! `ln(1 + tolerance)` it asks "slower by more than the tolerance?", which is what a gate wants to know.

use super::dist::t_upper;
use super::estimate::{Component, Estimate};
use super::prior::Tau;
use super::summary::{mean, sum_of_squares, variance};
use super::trimmed::{cut, trimmed};

/// Above this relative standard error the log of a ratio is no longer close to normal, and the bounds come from
/// Fieller's theorem. Below it the two differ by less than a tenth of a half-width.
const FIELLER_ABOVE: f64 = 0.05;

/// The level at which Fieller's bounds are turned into one standard error; bounds at every milder level are
/// then wider than Fieller's own.
const FIELLER_LEVEL: f64 = 0.0005;

/// Candidate mean minus baseline mean, variances not assumed equal (Welch 1947); None for fewer than two
/// values on a side.
pub fn welch(baseline: &[f64], candidate: &[f64]) -> Option<Estimate> {
    yuen(baseline, candidate, 0.0)
}

/// The difference of trimmed means (Yuen 1974), `share` cut on each side; None for fewer than two kept
/// values on a side.
pub fn yuen(baseline: &[f64], candidate: &[f64], share: f64) -> Option<Estimate> {
    let part = |values: &[f64]| {
        let trimmed = trimmed(values, cut(values.len(), share))?;
        let (variance, df) = trimmed.squared_error()?;
        Some((trimmed.mean, Component { variance, df }))
    };
    let ((from, a), (to, b)) = (part(baseline)?, part(candidate)?);
    Some(Estimate::from_components(to - from, &[a, b]))
}

/// The difference of means with one pooled variance (Student 1908); None for fewer than three values in all
/// or none on a side.
pub fn pooled(baseline: &[f64], candidate: &[f64]) -> Option<Estimate> {
    let (n, m) = (baseline.len() as f64, candidate.len() as f64);
    let df = n + m - 2.0;
    if baseline.is_empty() || candidate.is_empty() || df < 1.0 {
        return None;
    }
    let variance = (sum_of_squares(baseline) + sum_of_squares(candidate)) / df;
    let se = (variance * (1.0 / n + 1.0 / m)).sqrt();
    Some(Estimate::new(mean(candidate) - mean(baseline), se, df))
}

/// The mean of paired differences; None for fewer than two.
pub fn paired_mean(differences: &[f64]) -> Option<Estimate> {
    let n = differences.len() as f64;
    let se = (variance(differences) / n).sqrt();
    (2 <= differences.len()).then(|| Estimate::new(mean(differences), se, n - 1.0))
}

/// A published score with its standard error, where the values behind it are gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The score, in any unit.
    pub score: f64,
    /// Its standard error, in the same unit.
    pub se: f64,
    /// The degrees of freedom of that error.
    pub df: f64,
}

impl Summary {
    /// From a score and the half-width of its interval at `confidence` over `count` values, as JMH prints
    /// it (`12.345 ± 0.231`, 99.9 %). None for fewer than two values or a number that is not one.
    pub fn from_half_width(
        score: f64,
        half_width: f64,
        confidence: f64,
        count: u64,
    ) -> Option<Summary> {
        let df = count.checked_sub(1).filter(|df| 1 <= *df)? as f64;
        let se = half_width / t_upper(0.5 * (1.0 - confidence), df);
        Summary::checked(score, se, df)
    }

    /// From a score and the standard deviation of `count` values. None as for [`Summary::from_half_width`].
    pub fn from_deviation(score: f64, deviation: f64, count: u64) -> Option<Summary> {
        let df = count.checked_sub(1).filter(|df| 1 <= *df)? as f64;
        Summary::checked(score, deviation / (count as f64).sqrt(), df)
    }

    fn checked(score: f64, se: f64, df: f64) -> Option<Summary> {
        (score.is_finite() && se.is_finite() && 0.0 <= se).then_some(Summary { score, se, df })
    }

    fn component(&self) -> Component {
        Component { variance: self.se * self.se, df: self.df }
    }

    fn relative(&self) -> Summary {
        Summary { score: 1.0, se: self.se / self.score, df: self.df }
    }
}

/// Candidate score minus baseline score, in their own unit.
pub fn summary_difference(baseline: &Summary, candidate: &Summary) -> Estimate {
    let parts = [baseline.component(), candidate.component()];
    Estimate::from_components(candidate.score - baseline.score, &parts)
}

/// The log ratio of two published scores, widened by session noise where it is known; None unless both
/// scores are positive.
///
/// The standard errors are relative ones (the delta method). Where one exceeds 5 % the error is raised until the
/// bounds contain Fieller's, or to infinity where Fieller's are unbounded.
pub fn summaries(baseline: &Summary, candidate: &Summary, tau: Option<Tau>) -> Option<Estimate> {
    if !(0.0 < baseline.score && 0.0 < candidate.score) {
        return None;
    }
    let (a, b) = (baseline.relative(), candidate.relative());
    let delta = candidate.score.ln() - baseline.score.ln();
    let mut estimate = Estimate::from_components(delta, &[a.component(), b.component()]);
    if FIELLER_ABOVE < a.se.max(b.se) {
        let quantile = t_upper(FIELLER_LEVEL, estimate.df);
        let reach = fieller(&a, &b, quantile)
            .map_or(f64::INFINITY, |(low, high)| high.ln().max(-low.max(0.0).ln()));
        estimate.se = estimate.se.max(reach / quantile);
    }
    Some(match tau {
        Some(tau) => estimate.widened(&[tau.component()]),
        None => estimate,
    })
}

/// The interval of candidate over baseline by Fieller's theorem, for independent scores and a Student quantile.
///
/// None where the baseline cannot be told from zero, so that the interval is unbounded.
pub fn fieller(baseline: &Summary, candidate: &Summary, quantile: f64) -> Option<(f64, f64)> {
    let (a, b) = (baseline.score, candidate.score);
    let (ha, hb) = (quantile * baseline.se, quantile * candidate.se);
    let bounded = a * a - ha * ha;
    let root = ((a * b).powi(2) - bounded * (b * b - hb * hb)).sqrt();
    (0.0 < bounded && root.is_finite())
        .then(|| ((a * b - root) / bounded, (a * b + root) / bounded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, check, ln};
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Summary {
        Summary::from_deviation(mean(values), variance(values).sqrt(), values.len() as u64).unwrap()
    }

    #[test]
    fn v1_v2_welch() {
        let welch = welch(&A, &B).unwrap();
        check(welch.t(0.0), 5.555201729, 1e-9);
        check(welch.df, 9.312682749, 1e-9);
        check(welch.p_two_sided(0.0), 0.0003132626543, 1e-9);
        check(welch.p_above(0.0), 0.0001566313271, 1e-9);
        let (low, high) = welch.interval(0.95);
        check(low, 3.167632013, 1e-9);
        check(high, 7.482367987, 1e-9);
    }

    #[test]
    fn v3_pooled() {
        let pooled = pooled(&A, &B).unwrap();
        check(pooled.t(0.0), 5.555201729, 1e-9);
        check(pooled.p_two_sided(0.0), 7.089116514e-05, 1e-9);
    }

    #[test]
    fn v4_yuen() {
        let yuen = yuen(&A, &B, 0.2).unwrap();
        check(yuen.t(0.0), 11.61283973, 1e-9);
        check(yuen.df, 8.901098951, 1e-9);
        check(yuen.p_two_sided(0.0), 1.119978357e-06, 1e-9);
    }

    #[test]
    fn v5_margin() {
        let margin = welch(&ln(&A), &ln(&B)).unwrap();
        check(margin.t(1.02f64.ln()), 3.524046481, 1e-9);
        check(margin.df, 9.614385886, 1e-9);
        check(margin.p_above(1.02f64.ln()), 0.002921639716, 1e-9);
    }

    #[test]
    fn v10_paired() {
        let differences: Vec<f64> = A.iter().zip(&B).map(|(a, b)| b - a).collect();
        let paired = paired_mean(&differences).unwrap();
        check(paired.t(0.0), 5.559525265, 1e-9);
        check(paired.p_two_sided(0.0), 0.0008513394216, 1e-9);
        assert_eq!(paired.df, 7.0);
    }

    #[test]
    fn v12_from_summaries() {
        let baseline = Summary::from_deviation(100.1, 2.1, 15).unwrap();
        let candidate = Summary::from_deviation(105.2, 1.3, 10).unwrap();
        let difference = summary_difference(&baseline, &candidate);
        check(difference.t(0.0), 7.495138813, 1e-9);
        check(difference.p_two_sided(0.0), 1.312338854e-07, 1e-9);
    }

    #[test]
    fn v15_v16_ratios() {
        let (low, high) = fieller(&of(&A), &of(&B), t_upper(0.025, 9.312682749)).unwrap();
        check(mean(&B) / mean(&A), 1.052866716, 1e-9);
        check(low, 1.031349475, 1e-9);
        check(high, 1.074524300, 1e-9);
        let logs = welch(&ln(&A), &ln(&B)).unwrap();
        check(logs.delta.exp(), 1.052664415, 1e-9);
        check(logs.interval(0.95).0.exp(), 1.031779896, 1e-9);
        check(logs.interval(0.95).1.exp(), 1.073971663, 1e-9);
    }

    #[test]
    fn jmh_scores() {
        let baseline = Summary::from_half_width(12.345, 0.231, 0.999, 25).unwrap();
        let candidate = Summary::from_half_width(13.012, 0.305, 0.999, 25).unwrap();
        check(baseline.se, 0.06167567821, 1e-9);
        let difference = summary_difference(&baseline, &candidate);
        check(difference.t(0.0), 6.529412526, 1e-9);
        check(difference.p_two_sided(0.0), 5.237172043e-08, 1e-9);
        let ratio = summaries(&baseline, &candidate, None).unwrap();
        check(ratio.delta, 0.05262088581, 1e-9);
        check(ratio.se, 0.008007910306, 1e-9);
        check(ratio.df, 45.75441019, 1e-9);
        check(ratio.p_above(1.02f64.ln()), 8.417815337e-05, 1e-9);
    }

    /// Published throughputs with 99.9 % half-widths over five values each, numerator first.
    #[test]
    fn pairs_of_json_libraries() {
        struct Row {
            numerator: (f64, f64),
            denominator: (f64, f64),
            t: f64,
            df: f64,
            p: f64,
            log: (f64, f64),
            fieller: (f64, f64),
        }
        let rows = [
            Row {
                numerator: (677.154, 4.977),
                denominator: (387.163, 2.635),
                t: 443.3830190266,
                df: 6.0790644891,
                p: 6.0920056396e-15,
                log: (1.7443245752, 1.7537185839),
                fieller: (1.7443240855, 1.7537181057),
            },
            Row {
                numerator: (400.257, 4.487),
                denominator: (381.460, 6.173),
                t: 21.2079936436,
                df: 7.3043630815,
                p: 7.8930744678e-08,
                log: (1.0436382939, 1.0549450941),
                fieller: (1.0436435813, 1.0549505126),
            },
            Row {
                numerator: (982.312, 23.943),
                denominator: (923.627, 31.809),
                t: 12.6917034497,
                df: 7.4311684593,
                p: 2.6472774037e-06,
                log: (1.0513548053, 1.0758614715),
                fieller: (1.0513776525, 1.0758855824),
            },
            Row {
                numerator: (1896.977, 88.649),
                denominator: (1777.183, 67.500),
                t: 9.2572480472,
                df: 7.4713467959,
                p: 2.3505594152e-05,
                log: (1.0502055701, 1.0848895169),
                fieller: (1.0501762758, 1.0848612421),
            },
            Row {
                numerator: (10423.660, 435.687),
                denominator: (10411.933, 83.327),
                t: 0.2276300804,
                df: 4.2922345730,
                p: 8.3037025987e-01,
                log: (0.9878388756, 1.0145924613),
                fieller: (0.9877561858, 1.0145090629),
            },
            Row {
                numerator: (107.492, 8.661),
                denominator: (71.115, 6.011),
                t: 29.7098320056,
                df: 7.1277469998,
                p: 9.7847310965e-09,
                log: (1.4649643380, 1.5595625774),
                fieller: (1.4649892960, 1.5596090829),
            },
        ];
        for row in rows {
            let of = |(score, error)| Summary::from_half_width(score, error, 0.999, 5).unwrap();
            let (numerator, denominator) = (of(row.numerator), of(row.denominator));
            let difference = summary_difference(&denominator, &numerator);
            check(difference.t(0.0), row.t, 1e-9);
            check(difference.df, row.df, 1e-9);
            check(difference.p_two_sided(0.0), row.p, 1e-8);
            let ratio = summaries(&denominator, &numerator, None).unwrap();
            let (low, high) = ratio.interval(0.95);
            check(low.exp(), row.log.0, 1e-9);
            check(high.exp(), row.log.1, 1e-9);
            let fieller = fieller(&denominator, &numerator, t_upper(0.025, ratio.df)).unwrap();
            check(fieller.0, row.fieller.0, 1e-8);
            check(fieller.1, row.fieller.1, 1e-8);
        }
    }

    #[test]
    fn loose_summaries_contain_fieller() {
        let baseline = Summary { score: 10.0, se: 0.8, df: 24.0 };
        let candidate = Summary { score: 12.0, se: 0.9, df: 24.0 };
        let ratio = summaries(&baseline, &candidate, None).unwrap();
        for confidence in [0.5, 0.9, 0.95, 0.999] {
            let (low, high) = ratio.interval(confidence);
            let quantile = t_upper(0.5 * (1.0 - confidence), ratio.df);
            let exact = fieller(&baseline, &candidate, quantile).unwrap();
            assert!(low.exp() <= exact.0 + 1e-12 && exact.1 <= high.exp() + 1e-12);
        }
        let hopeless = Summary { score: 1.0, se: 1.0, df: 4.0 };
        assert_eq!(summaries(&hopeless, &candidate, None).unwrap().se, f64::INFINITY);
    }

    #[test]
    fn session_noise_widens() {
        let of = |score| Summary { score, se: 0.01, df: 24.0 };
        let tau = Tau { sd: 0.02, df: 3.0 };
        let wide = summaries(&of(10.0), &of(10.5), Some(tau)).unwrap();
        check(wide.se, (2.0f64 * 0.02 * 0.02 + 1e-6 + (0.01f64 / 10.5).powi(2)).sqrt(), 1e-9);
        assert!(wide.df < 3.1);
    }

    #[test]
    fn few_values() {
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(paired_mean(&[1.0]), None);
        assert_eq!(pooled(&[], &[1.0, 2.0, 3.0]), None);
        assert_eq!(Summary::from_half_width(1.0, f64::NAN, 0.999, 25), None);
        assert_eq!(Summary::from_deviation(1.0, 0.1, 1), None);
        assert_eq!(welch(&[5.0; 4], &[6.0; 4]).unwrap().p_above(0.0), 0.0);
        assert_eq!(welch(&[5.0; 4], &[5.0; 4]).unwrap().p_above(0.0), 1.0);
        let zero = Summary { score: 0.0, se: 0.0, df: 4.0 };
        assert_eq!(summaries(&zero, &zero, None), None);
    }

    proptest! {
        #[test]
        fn a_common_factor_changes_nothing(a in prop::collection::vec(1.0..100.0, 3..12), b in prop::collection::vec(1.0..100.0, 3..12), c in 1e-6..1e6_f64) {
            let scale = |values: &[f64]| values.iter().map(|x: &f64| (x * c).ln()).collect::<Vec<_>>();
            let (plain, scaled) = (welch(&ln(&a), &ln(&b)).unwrap(), welch(&scale(&a), &scale(&b)).unwrap());
            prop_assert!((plain.p_above(0.02) - scaled.p_above(0.02)).abs() < 1e-6);
        }

        #[test]
        fn doubling_both_sides_keeps_the_sign(a in prop::collection::vec(1.0..100.0, 3..12), b in prop::collection::vec(1.0..100.0, 3..12)) {
            let twice = |values: &[f64]| [values, values].concat();
            let (once, doubled) = (welch(&a, &b).unwrap(), welch(&twice(&a), &twice(&b)).unwrap());
            prop_assume!(1e-9 < once.delta.abs());
            prop_assert_eq!(once.delta.signum(), doubled.delta.signum());
        }
    }
}
