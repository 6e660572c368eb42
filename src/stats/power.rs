//! What a measurement could have found, and how many launches it would take to settle it.

use super::dist::t_upper;
use super::estimate::Estimate;

/// The chance of being missed that "would have caught" allows.
const MISSED: f64 = 0.10;

/// More pairs than this are no advice.
const PAIRS_MAX: f64 = 200.0;

/// How many pairs would settle a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// About this many, with a chance of nine in ten.
    Pairs(usize),
    /// More than can be asked for, or the change sits on the tolerance, where no amount of data decides:
    /// raise the tolerance or cut the noise.
    TooMany,
}

/// The smallest slowdown, as a share (0.05 is 5 %), that a test at `level` against `tolerance` (a log
/// ratio) would have caught nine times in ten.
pub fn smallest_caught(tolerance: f64, level: f64, se: f64, df: f64) -> f64 {
    (tolerance + reach(level, df) * se).exp_m1()
}

/// The pairs that would settle on which side of `tolerance` the change lies: as a regression at `level`, or
/// as none at `alpha_pass`, whichever side the estimate is on.
pub fn needed(
    estimate: &Estimate,
    pairs: usize,
    tolerance: f64,
    level: f64,
    alpha_pass: f64,
) -> Needed {
    let distance = estimate.delta - tolerance;
    if estimate.se == 0.0 {
        return Needed::Pairs(pairs);
    }
    let level = if 0.0 < distance { level } else { alpha_pass };
    let pairs = pairs as f64 * (reach(level, estimate.df) * estimate.se / distance).powi(2);
    if distance.abs() < 0.25 * estimate.se || pairs.is_nan() || PAIRS_MAX < pairs {
        return Needed::TooMany;
    }
    // The tiny subtraction keeps a whole number that rounding pushed up whole.
    Needed::Pairs((pairs - 1e-9).ceil().max(1.0) as usize)
}

fn reach(level: f64, df: f64) -> f64 {
    t_upper(level, df) + t_upper(MISSED, df)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;
    use proptest::prelude::*;

    #[test]
    fn reference_detectable_changes() {
        let expected = [
            (5.0, 22.0, 0.05, 0.04429062402),
            (10.0, 25.0, 0.05, 0.03703784000),
            (20.0, 31.0, 0.05, 0.03194035910),
            (5.0, 22.0, 0.0005, 0.06121088551),
            (10.0, 25.0, 0.0005, 0.04855811844),
            (20.0, 31.0, 0.0005, 0.03971483012),
        ];
        for (pairs, df, level, share) in expected {
            let se = (3e-4f64 / pairs).sqrt();
            check(smallest_caught(1.02f64.ln(), level, se, df), share, 1e-9);
        }
    }

    #[test]
    fn advice() {
        let at = |delta, se| needed(&Estimate::new(delta, se, 20.0), 10, 0.02, 0.0005, 0.05);
        assert_eq!(at(0.02, 0.01), Needed::TooMany);
        assert_eq!(at(0.021, 0.1), Needed::TooMany);
        assert_eq!(at(0.05, 0.0), Needed::Pairs(10));
        assert_eq!(at(0.05, f64::INFINITY), Needed::TooMany);
        assert!(matches!(at(0.0, 0.01), Needed::Pairs(11..=30)));
        assert!(matches!(at(0.1, 0.01), Needed::Pairs(1..=9)));
    }

    proptest! {
        #[test]
        fn more_noise_needs_more(delta in -0.1..0.1, se in 1e-4..0.02, more in 1.0..2.0) {
            let at = |se| match needed(&Estimate::new(delta, se, 10.0), 10, 0.02, 0.001, 0.05) {
                Needed::Pairs(pairs) => pairs,
                Needed::TooMany => usize::MAX,
            };
            prop_assert!(at(se) <= at(se * more));
        }
    }
}
