//! Signs that a set of values is not what the tests assume: worth telling, never a reason to drop data.

use super::dist::t_upper;
use super::exact::fisher;
use super::summary::{MAD_TO_SD, mad, mean, median, sorted, variance};

/// A shift between the halves of a launch below this is not worth a word.
const UNSTEADY_ABOVE: f64 = 0.02;

/// How much wider correlated samples make the median than independent ones (variance ratio), as seen in practice.
const DESIGN_EFFECT: f64 = 3.0;

/// The variance of a median relative to that of a mean, for normal values: pi / 2.
const MEDIAN_VARIANCE: f64 = 1.57;

/// Values on no more levels than this show the clock's grain rather than the time.
const QUANTISED_LEVELS: usize = 3;

/// A launch this many robust deviations above the median ran in a slow mode.
const SLOW_ABOVE: f64 = 5.0;

/// The natural-log shift from the first to the second half of a launch where it is larger than chance makes it
/// (four standard errors) and than 2 %; None for a steady launch or fewer than eight positive values.
pub fn unsteady(samples: &[f64]) -> Option<f64> {
    if samples.len() < 8 || !samples.iter().all(|x| 0.0 < *x) {
        return None;
    }
    let (first, second) = samples.split_at(samples.len() / 2);
    let shift = median(second).ln() - median(first).ln();
    let spread = MAD_TO_SD * mad(samples) / median(samples);
    let error = spread * (DESIGN_EFFECT * 2.0 * MEDIAN_VARIANCE / first.len() as f64).sqrt();
    (UNSTEADY_ABOVE.max(4.0 * error) < shift.abs()).then_some(shift)
}

/// The grain of values that a coarse clock has rounded: the smallest gap between them. None where they look
/// continuous or are all equal.
///
/// Rounding adds [`grain_variance`] to the variance of each value.
pub fn grain(values: &[f64]) -> Option<f64> {
    let mut levels = sorted(values);
    levels.dedup();
    let coarse =
        levels.len() <= QUANTISED_LEVELS.min(values.len().saturating_sub(1)) || mad(values) == 0.0;
    let gap = levels.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    (coarse && gap.is_finite()).then_some(gap)
}

/// The variance of the rounding to a grain (a uniform distribution).
pub fn grain_variance(grain: f64) -> f64 {
    grain * grain / 12.0
}

/// How many launches ran in a slow mode: log scores above the median by five robust deviations, and by half of
/// `gap`, the distance of the modes where history knows it.
pub fn slow_launches(logs: &[f64], gap: Option<f64>) -> usize {
    let limit = (SLOW_ABOVE * MAD_TO_SD * mad(logs)).max(0.5 * gap.unwrap_or(0.0));
    let center = median(logs);
    logs.iter().filter(|y| center + limit < **y).count()
}

/// The p-value of "both sides run in the slow mode equally often" (Fisher), from slow and all launches of each.
pub fn mode_share(baseline: (usize, usize), candidate: (usize, usize)) -> f64 {
    let row = |(slow, all): (usize, usize)| [slow as u64, all.saturating_sub(slow) as u64];
    fisher([row(baseline), row(candidate)])
}

/// The value that lies furthest out, by Grubbs' test (1950).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Where it stands; 0 is the first batch, which is often a warm-up.
    pub index: usize,
    /// Its distance from the mean in standard deviations.
    pub distance: f64,
    /// The distance above which it is called an outlier.
    pub critical: f64,
}

impl Outlier {
    /// Whether it is further out than chance allows.
    pub fn is_proven(&self) -> bool {
        self.critical < self.distance
    }
}

/// The furthest value with Grubbs' two-sided limit at `alpha`; None for fewer than three values or equal ones.
pub fn furthest(values: &[f64], alpha: f64) -> Option<Outlier> {
    let n = values.len() as f64;
    let (center, deviation) = (mean(values), variance(values).sqrt());
    let far = |i: &usize| (values[*i] - center).abs();
    let index = (0..values.len()).max_by(|a, b| far(a).total_cmp(&far(b)))?;
    if values.len() < 3 || deviation == 0.0 {
        return None;
    }
    let t2 = t_upper(alpha / (2.0 * n), n - 2.0).powi(2);
    let critical = (n - 1.0) / n.sqrt() * (t2 / (n - 2.0 + t2)).sqrt();
    Some(Outlier { index, distance: far(&index) / deviation, critical })
}

/// How far a first value is off at least where that matters: less is within any tolerance, however quiet the others are.
const FIRST_APART: f64 = 0.02;

/// The first batch of a process against all later ones: the price of a cold start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstBatch {
    /// The first value over the mean of the rest.
    pub ratio: f64,
    /// The value that lies furthest out, which need not be the first one.
    pub furthest: Outlier,
}

impl FirstBatch {
    /// Whether the first batch is proven to stand apart from the others, and by 2 % or more.
    pub fn stands_apart(&self) -> bool {
        self.furthest.index == 0
            && self.furthest.is_proven()
            && FIRST_APART.ln_1p() <= self.ratio.ln().abs()
    }
}

/// How the first of several positive values compares with the others; None where [`furthest`] has no answer.
pub fn first_batch(values: &[f64], alpha: f64) -> Option<FirstBatch> {
    let (first, rest) = values.split_first()?;
    let furthest = furthest(values, alpha)?;
    Some(FirstBatch { ratio: first / mean(rest), furthest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, check};

    #[test]
    fn grubbs_limit() {
        let mut values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100.0];
        check(furthest(&values, 0.05).unwrap().critical, 2.2899540845, 1e-9);
        assert!(!furthest(&values, 0.05).unwrap().is_proven());
        values[0] = 220.0;
        let outlier = furthest(&values, 0.05).unwrap();
        assert!(outlier.index == 0 && outlier.is_proven() && outlier.distance < 9.0 / 10f64.sqrt());
        assert_eq!((furthest(&[], 0.05), furthest(&[1.0; 9], 0.05)), (None, None));
    }

    #[test]
    fn the_first_of_ten_batches() {
        // Published milliseconds of three .NET libraries for 100,000 small objects, ten times over; the numbers
        // were computed with SciPy.
        let rows = [
            ([480, 218, 216, 219, 220, 215, 217, 216, 216, 218], 2.2097186701, 2.8455564489),
            ([342, 308, 307, 326, 310, 308, 309, 305, 306, 306], 1.1052064632, 2.4548667577),
            ([406, 251, 235, 235, 251, 232, 233, 233, 233, 269], 1.6823204420, 2.7716351634),
        ];
        for (row, ratio, distance) in rows {
            let first = first_batch(&row.map(f64::from), 0.05).unwrap();
            check(first.ratio, ratio, 1e-9);
            check(first.furthest.distance, distance, 1e-9);
            check(first.furthest.critical, 2.2899540845, 1e-9);
            assert!(first.stands_apart());

            let mut cold_last = row.map(f64::from);
            cold_last.reverse();
            assert!(!first_batch(&cold_last, 0.05).unwrap().stands_apart());
        }
        assert_eq!((first_batch(&[], 0.05), first_batch(&[1.0; 9], 0.05)), (None, None));

        let cold = |first: f64| {
            let values: Vec<f64> = [first].into_iter().chain([1.0, 1.0001].repeat(5)).collect();
            first_batch(&values, 0.05).unwrap()
        };
        assert!(cold(1.019).furthest.is_proven() && !cold(1.019).stands_apart());
        assert!(cold(1.021).stands_apart() && cold(0.979).stands_apart());
        assert!(!cold(0.981).stands_apart());
    }

    #[test]
    fn a_launch_that_warms_up() {
        let ramp: Vec<f64> = (0..40).map(|i| if i < 20 { 110.0 } else { 100.0 }).collect();
        check(unsteady(&ramp).unwrap_or(0.0), 0.0, 0.0);
        let step: Vec<f64> =
            (0..40).map(|i| if i < 20 { 110.0 } else { 100.0 } + 0.01 * f64::from(i % 7)).collect();
        let quiet: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 7)).collect();
        assert_eq!(unsteady(&quiet), None);
        assert_eq!(unsteady(&step), None);
        // A late shift of half a half moves one median only.
        let late: Vec<f64> = (0..100).map(|i| if i < 45 { 103.0 } else { 100.0 }).collect();
        assert!(unsteady(&late).is_some_and(|shift| shift < -0.02));
        assert_eq!(unsteady(&[1.0; 4]), None);
    }

    #[test]
    fn coarse_clocks() {
        assert_eq!(grain(&[1.0, 2.0, 1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(grain(&[1.0, 1.0, 1.0, 1.0, 5.0, 9.0, 12.0]), Some(3.0));
        assert_eq!((grain(&A), grain(&[4.0; 6]), grain(&[])), (None, None, None));
        check(grain_variance(6.0), 3.0, 1e-15);
    }

    #[test]
    fn slow_modes() {
        let logs = [0.0, 0.01, -0.01, 0.005, 0.12, -0.005, 0.13];
        assert_eq!(slow_launches(&logs, None), 2);
        assert_eq!(slow_launches(&logs, Some(0.5)), 0);
        assert!(mode_share((0, 20), (9, 20)) < 0.01 && 0.5 < mode_share((1, 20), (2, 20)));
    }
}
