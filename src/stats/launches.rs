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
use super::summary::sum_of_squares;
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

/// The share of weight cut on each side of the log ratios inside a pair: the middle fifth remains. Recorded pairs
/// with known ratios are told apart best near it: the median alone scatters a tenth more, and half as much of a
/// cut lets in the samples that met another neighbour.
const PAIR_CUT: f64 = 0.40;

/// The values that one arm measured one after another, and how long it worked on each.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// Values in measured order.
    pub values: &'a [f64],
    /// How long each took, in any unit that both arms share.
    pub spans: &'a [f64],
}

/// The score of a pair whose arms took turns, sample by sample: the middle of the log ratios of the samples with
/// the same number.
///
/// NaN where no sample has a positive value on both sides.
pub fn turns_score(baseline: &[f64], candidate: &[f64]) -> f64 {
    let ratios = baseline.iter().zip(candidate).filter_map(|(&b, &c)| log_ratio(b, c));
    middle(ratios.map(|ratio| (ratio, 1.0)).collect())
}

/// The score of a pair whose arms shared one processor evenly: the middle of the log ratios of what they measured
/// at the same time, each stretch weighted by its length.
///
/// ```text
///   baseline   |   1   |    2    |     3     |   ...      own working time, from a common start
///   candidate  |  1  |   2   |    3    |    4    | ...
///   stretches  | 1:1 |1:2|2:2|2:3| 3:3 ...
/// ```
///
/// Pairing by time rather than by number keeps neighbours together when one arm runs more iterations a sample than
/// the other, and scatters less even when both run the same.
///
/// NaN where no stretch has a positive value on both sides.
pub fn overlap_score(baseline: Course<'_>, candidate: Course<'_>) -> f64 {
    let mut stretches = Vec::with_capacity(baseline.values.len() + candidate.values.len());
    let (mut i, mut j) = (0, 0);
    let (mut ends, mut now) = ([0.0; 2], 0.0);
    let at = |course: Course<'_>, k: usize| Some((*course.values.get(k)?, *course.spans.get(k)?));
    while let (Some((b, b_span)), Some((c, c_span))) = (at(baseline, i), at(candidate, j)) {
        let (b_end, c_end) = (ends[0] + b_span, ends[1] + c_span);
        let until = b_end.min(c_end);
        if let Some(ratio) = log_ratio(b, c).filter(|_| now < until) {
            stretches.push((ratio, until - now));
        }
        now = until;
        if b_end <= until {
            (ends[0], i) = (b_end, i + 1);
        }
        if c_end <= until {
            (ends[1], j) = (c_end, j + 1);
        }
    }
    middle(stretches)
}

/// A difference of logs: the ratio of two finite values may overflow.
fn log_ratio(baseline: f64, candidate: f64) -> Option<f64> {
    (0.0 < baseline && 0.0 < candidate).then(|| candidate.ln() - baseline.ln())
}

/// The mean of the middle fifth by weight; NaN for nothing.
fn middle(mut weighted: Vec<(f64, f64)>) -> f64 {
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let (low, high) = (PAIR_CUT * total, (1.0 - PAIR_CUT) * total);
    let (mut below, mut sum, mut kept) = (0.0, 0.0, 0.0);
    for (value, weight) in weighted {
        let inside = (below + weight).min(high) - f64::max(below, low);
        if 0.0 < inside {
            sum += value * inside;
            kept += inside;
        }
        below += weight;
    }
    sum / kept
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
    fn scores_of_turns() {
        check(turns_score(&[1.0, 2.0, 4.0], &[1.1, 2.2, 40.0]), 1.1f64.ln(), 1e-12);
        check(turns_score(&[5e-324], &[f64::MAX]), f64::MAX.ln() - 5e-324f64.ln(), 1e-12);
        assert!(turns_score(&[0.0], &[1.0]).is_nan() && turns_score(&[], &[]).is_nan());
    }

    #[test]
    fn overlaps_follow_time_rather_than_number() {
        // The baseline is slow for its first 3 units, and the candidate, which measures twice as often, with it.
        let baseline = Course { values: &[2.0, 1.0, 1.0], spans: &[3.0, 3.0, 3.0] };
        let candidate = Course { values: &[2.2, 2.2, 1.1, 1.1, 1.1, 1.1], spans: &[1.5; 6] };
        check(overlap_score(baseline, candidate), 1.1f64.ln(), 1e-12);
        assert!(1.1f64.ln() < turns_score(baseline.values, candidate.values));
        // What the longer arm measures alone counts for nothing.
        let longer = Course { values: &[1.1, 50.0], spans: &[1.0, 9.0] };
        let short = Course { values: &[1.0], spans: &[1.0] };
        check(overlap_score(short, longer), 1.1f64.ln(), 1e-12);
        let none = Course { values: &[], spans: &[] };
        assert!(overlap_score(none, longer).is_nan());
    }

    #[test]
    fn the_middle_is_a_fifth_of_the_weight() {
        check(middle(vec![(3.0, 1.0), (1.0, 1.0), (2.0, 1.0), (9.0, 1.0), (0.0, 1.0)]), 2.0, 1e-12);
        check(middle(vec![(0.0, 1.0), (1.0, 1.0)]), 0.5, 1e-12);
        check(middle(vec![(0.0, 1.0), (1.0, 99.0)]), 1.0, 1e-12);
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
            let score = turns_score(&values, &values);
            prop_assert!(score.is_nan() || score == 0.0);
        }
    }
}
