//! The gate's own estimators: what a few launches say about a change, helped by what is known about noise.
//!
//! A handful of launches estimate their own spread badly: five pairs, trimmed, leave two degrees of freedom. So
//! the spread is *moderated*, as in the analysis of gene expression (Smyth 2004): a weighted mean of the own
//! variance and a prior one, each weighted by its degrees of freedom, which then add up.
//!
//! ```text
//!            d0 * v0 + f * v
//!   v~   =  -----------------      df = d0 + f       delta = trimmed mean, a fifth cut on each side
//!                d0 + f
//! ```

use super::estimate::{Component, Estimate};
use super::prior::{Prior, Tau};
use super::summary::{sum_of_squares, weighted_median};
use super::trimmed::{cut, trimmed};

/// The share of launches cut on each side. A slow launch in five is outvoted; a larger share would leave five
/// pairs with no spread of their own.
pub const LAUNCHES_CUT: f64 = 0.20;

/// From this many pairs on at least one is cut on each side. Three leave nothing to cut.
const PAIRS_CUT_FROM: usize = 4;

/// From this many launches a side on they are cut. On real unchanged code, five forks a side, cutting bought less
/// power than moving the tolerance would for the same false alarms; a slow fork then widens the
/// error instead, which is safe.
const SIDE_CUT_FROM: usize = 10;

/// The score of a pair that was measured side by side: the median of the log ratios of samples taken next to
/// each other, weighted (by iterations) where weights are given.
///
/// NaN where no sample has a positive value on both sides.
pub fn paired_score(baseline: &[f64], candidate: &[f64], weights: Option<&[f64]>) -> f64 {
    let (ratios, weights): (Vec<f64>, Vec<f64>) = baseline
        .iter()
        .zip(candidate)
        .enumerate()
        .filter(|(_, (b, c))| 0.0 < **b && 0.0 < **c)
        // A difference of logs: the ratio of two finite values may overflow.
        .map(|(i, (b, c))| {
            (c.ln() - b.ln(), weights.map_or(1.0, |w| w.get(i).copied().unwrap_or(0.0)))
        })
        .unzip();
    weighted_median(&ratios, &weights)
}

/// The change over pairs, from their log ratios; `prior` tells the noise of one pair.
///
/// None where nothing can be tested: no pair, a difference that is no number, or so few pairs that they have no
/// spread of their own (one pair) and no prior to lean on. Differences that are all equal have a standard
/// error of 0 unless a prior says otherwise.
pub fn paired(differences: &[f64], prior: Option<&Prior>) -> Option<Estimate> {
    let side = moderated(center(differences, PAIRS_CUT_FROM)?, differences.len(), prior)?;
    Some(Estimate::from_components(side.center, &[side.component]))
}

/// The variance of one pair as the pairs themselves tell it, with its degrees of freedom (0 where they cannot):
/// what a suite prior is fitted from.
///
/// It is the squared error of the trimmed mean times the number of pairs, so that it can be carried from one
/// number of pairs to another.
pub fn own_variance(differences: &[f64]) -> (f64, f64) {
    center(differences, PAIRS_CUT_FROM).map_or((0.0, 0.0), |center| (center.variance, center.df))
}

/// The variance of one launch as the launches of one side tell it, from the logs of their scores: what the priors
/// of [`unpaired`] are fitted from. As [`own_variance`] otherwise.
pub fn launch_variance(logs: &[f64]) -> (f64, f64) {
    center(logs, SIDE_CUT_FROM).map_or((0.0, 0.0), |center| (center.variance, center.df))
}

/// The change between launches that were not paired, from the logs of their scores.
///
/// `priors` tell the noise of one launch on the baseline's and the candidate's side; `tau` is the noise between
/// sessions, for a baseline that was recorded on another day. None as for [`paired`], for either side.
pub fn unpaired(
    baseline_logs: &[f64],
    candidate_logs: &[f64],
    priors: [Option<&Prior>; 2],
    tau: Option<Tau>,
) -> Option<Estimate> {
    let side = |logs: &[f64], prior| moderated(center(logs, SIDE_CUT_FROM)?, logs.len(), prior);
    let baseline = side(baseline_logs, priors[0])?;
    let candidate = side(candidate_logs, priors[1])?;
    let mut components = vec![baseline.component, candidate.component];
    components.extend(tau.map(|tau| tau.component()));
    Some(Estimate::from_components(candidate.center - baseline.center, &components))
}

/// A center and the moderated variance of that center.
struct Side {
    center: f64,
    component: Component,
}

/// A center with the variance of one value, and the degrees of freedom of that variance (0 where unknown).
#[derive(Clone, Copy)]
struct Center {
    mean: f64,
    variance: f64,
    df: f64,
}

fn moderated(own: Center, count: usize, prior: Option<&Prior>) -> Option<Side> {
    let prior = prior.filter(|prior| !prior.contradicted_by(own.variance, own.df));
    let (variance, df) = match prior {
        Some(prior) => prior.moderate(own.variance, own.df),
        None => (own.variance, own.df),
    };
    let component = Component { variance: variance / count as f64, df };
    (0.0 < df).then_some(Side { center: own.mean, component })
}

fn center(values: &[f64], cut_from: usize) -> Option<Center> {
    if !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let count = values.len();
    let cut = if count < cut_from { 0 } else { cut(count, LAUNCHES_CUT).max(1) };
    let trimmed = trimmed(values, cut)?;
    let (squared_error, df) = trimmed.squared_error().unwrap_or((0.0, 0.0));
    // A coarse clock can make the kept values equal while others differ. They are then not known exactly: the
    // spread of all values stands in, with the degrees of freedom of the kept.
    let variance = if squared_error == 0.0 && 1 < count {
        sum_of_squares(values) / (count - 1) as f64
    } else {
        squared_error * count as f64
    };
    Some(Center { mean: trimmed.mean, variance, df })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, check, ln};
    use proptest::prelude::*;

    const TOLERANCE: f64 = 0.019_802_627_296_179_712;

    fn log_ratios() -> Vec<f64> {
        ln(&A).iter().zip(ln(&B)).map(|(a, b)| b - a).collect()
    }

    #[test]
    fn worked_example_without_prior() {
        let estimate = paired(&log_ratios(), None).unwrap();
        check(estimate.delta, 0.04668748795, 1e-9);
        check(estimate.se, 0.001712776252, 1e-9);
        assert_eq!(estimate.df, 5.0);
        check(estimate.t(TOLERANCE), 15.6966566, 1e-8);
        check(estimate.p_above(TOLERANCE), 9.539716723e-06, 1e-9);
        let (variance, df) = own_variance(&log_ratios());
        check(variance / 8.0, 2.933602488e-06, 1e-9);
        assert_eq!(df, 5.0);
        check(trimmed(&log_ratios(), 1).unwrap().winsorised_squares, 8.800807464e-05, 1e-9);
    }

    #[test]
    fn worked_example_with_prior() {
        let prior = Prior { variance: 2.5e-4, df: 20.0 };
        let estimate = paired(&log_ratios(), Some(&prior)).unwrap();
        check(estimate.se, 0.00505833179, 1e-9);
        check(estimate.df, 25.0, 1e-12);
        check(estimate.t(TOLERANCE), 5.314965836, 1e-9);
        check(estimate.p_above(TOLERANCE), 8.266722921e-06, 1e-9);
        check(estimate.delta.exp(), 1.047794509, 1e-9);
        let (low, high) = estimate.interval(0.95);
        check(low.exp(), 1.036935427, 1e-9);
        check(high.exp(), 1.058767311, 1e-9);
    }

    #[test]
    fn degrees_of_freedom_by_pairs() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i * i)).collect();
        let df = |pairs: usize| own_variance(&values[..pairs]).1;
        assert_eq!([0, 1, 2, 3, 4, 5, 10, 20].map(df), [0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 5.0, 11.0]);
    }

    #[test]
    fn few_pairs() {
        let prior = Prior { variance: 1e-4, df: 10.0 };
        assert_eq!(paired(&[], Some(&prior)), None);
        assert_eq!(paired(&[0.1], None), None);
        assert_eq!(paired(&[0.1, f64::NAN], Some(&prior)), None);
        let one = paired(&[0.1], Some(&prior)).unwrap();
        check(one.se, 0.01, 1e-12);
        check(one.df, 10.0, 1e-12);
        assert_eq!(unpaired(&[1.0], &[1.0, 2.0], [None, None], None), None);
    }

    #[test]
    fn equal_differences() {
        assert_eq!(paired(&[0.0; 5], None).unwrap().se, 0.0);
        let prior = Prior { variance: 1e-4, df: 8.0 };
        check(paired(&[0.0; 5], Some(&prior)).unwrap().se, (1e-4f64 * 0.8 / 5.0).sqrt(), 1e-12);
        // Three of five on one step of a coarse clock: not known exactly.
        let coarse = paired(&[0.05, 0.05, 0.05, 0.0, 0.1], None).unwrap();
        assert!(0.0 < coarse.se && 0.01 < coarse.p_above(TOLERANCE), "{coarse:?}");
    }

    #[test]
    fn a_prior_that_cannot_be_is_ignored() {
        let noisy = [-0.3, 0.2, -0.1, 0.4, 0.0, 0.3, -0.2, 0.1, -0.4, 0.25];
        let quiet = Prior { variance: 1e-6, df: 20.0 };
        assert_eq!(paired(&noisy, Some(&quiet)), paired(&noisy, None));
    }

    #[test]
    fn scores_of_pairs() {
        let (a, b) = ([1.0, 2.0, 4.0], [1.1, 2.2, 40.0]);
        check(paired_score(&a, &b, None), 1.1f64.ln(), 1e-12);
        check(paired_score(&a, &b, Some(&[1.0, 1.0, 9.0])), 10f64.ln(), 1e-12);
        check(paired_score(&[5e-324], &[f64::MAX], None), f64::MAX.ln() - 5e-324f64.ln(), 1e-12);
        assert!(
            paired_score(&[0.0], &[1.0], None).is_nan() && paired_score(&[], &[], None).is_nan()
        );
    }

    #[test]
    fn sessions_widen() {
        let prior = Prior { variance: 1e-4, df: 20.0 };
        let logs = [0.01, -0.01, 0.0, 0.02, -0.02];
        let tau = Tau { sd: 0.01, df: 19.0 };
        let alone = unpaired(&logs, &logs, [Some(&prior); 2], None).unwrap();
        let widened = unpaired(&logs, &logs, [Some(&prior); 2], Some(tau)).unwrap();
        check(widened.se.powi(2), alone.se.powi(2) + 2e-4, 1e-12);
        check(alone.df, 48.0, 1e-9);
    }

    proptest! {
        #[test]
        fn exchanging_sides_mirrors(differences in prop::collection::vec(-0.2..0.2, 2..25), df in 0.5..30.0) {
            let prior = Prior { variance: 1e-3, df };
            let back: Vec<f64> = differences.iter().map(|d| -d).collect();
            let (there, back) = (paired(&differences, Some(&prior)).unwrap(), paired(&back, Some(&prior)).unwrap());
            check(there.delta, -back.delta, 1e-12);
            check(there.se, back.se, 1e-12);
        }

        #[test]
        fn order_of_launches_does_not_matter(a in prop::collection::vec(-0.2..0.2, 2..25), b in prop::collection::vec(-0.2..0.2, 2..25)) {
            let reversed = |values: &[f64]| values.iter().rev().copied().collect::<Vec<_>>();
            prop_assert_eq!(unpaired(&a, &b, [None, None], None), unpaired(&reversed(&a), &reversed(&b), [None, None], None));
        }

        #[test]
        fn slower_is_never_better(differences in prop::collection::vec(-0.2..0.2, 2..25), slower in 0.0..0.2) {
            let shifted: Vec<f64> = differences.iter().map(|d| d + slower).collect();
            let (before, after) = (paired(&differences, None).unwrap(), paired(&shifted, None).unwrap());
            prop_assert!(after.p_above(TOLERANCE) <= before.p_above(TOLERANCE) + 1e-9);
        }

        #[test]
        fn any_finite_input_is_answered(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 0..12)) {
            if let Some(estimate) = paired(&values, None) {
                prop_assert!((0.0..=1.0).contains(&estimate.p_above(TOLERANCE)));
                prop_assert!(0.0 <= estimate.se && 1.0 <= estimate.df && estimate.delta.is_finite());
                prop_assert!(!estimate.interval(0.95).0.is_nan());
            }
            let score = paired_score(&values, &values, None);
            prop_assert!(score.is_nan() || score == 0.0);
        }
    }
}
