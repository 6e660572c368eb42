//! Location, spread and order of one set of numbers.
//!
//! Every function takes the values in any order and is written so that a large common offset does
//! no harm: NIST's NumAcc4 (values near 10,000,000 with a spread of 0.1) comes out right.

use std::f64::consts::FRAC_1_SQRT_2;

/// The median absolute deviation of a normal distribution, as a share of its standard deviation, inverted.
///
/// 1.4826 = 1 / norm.ppf(0.75): it turns a median absolute deviation into a robust standard deviation.
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The arithmetic mean; NaN for no values.
///
/// A second pass adds the mean of the residuals, which removes the rounding of a long sum.
pub fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let rough = if sum.is_finite() { sum / n } else { overflowing_mean(values) };
    let correction = values.iter().map(|x| x - rough).sum::<f64>() / n;
    if correction.is_finite() { rough + correction } else { rough }
}

fn overflowing_mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let largest = values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    values.iter().map(|x| x / n).sum::<f64>().clamp(-largest, largest)
}

/// The sum of squared deviations from the mean, in two passes with Chan's correction; 0 for no values.
pub fn sum_of_squares(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let center = mean(values);
    let (squares, rest) = values.iter().fold((0.0, 0.0), |(squares, rest), x| {
        let deviation = x - center;
        (squares + deviation * deviation, rest + deviation)
    });
    (squares - rest * rest / values.len() as f64).max(0.0)
}

/// The unbiased variance (divisor n - 1); NaN for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 { f64::NAN } else { sum_of_squares(values) / (values.len() - 1) as f64 }
}

/// The median; NaN for no values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The quantile at `level` in 0..=1, linear between order statistics (type 7 of Hyndman and Fan, as
/// numpy and R do by default); NaN for no values.
pub fn quantile(values: &[f64], level: f64) -> f64 {
    quantile_of_sorted(&sorted(values), level)
}

/// [`quantile`] of values that are already in ascending order.
pub fn quantile_of_sorted(sorted: &[f64], level: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = level.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let share = position - below as f64;
    // Not `low + share * (high - low)`: the difference of two finite values can overflow.
    let between = sorted[below] * (1.0 - share) + sorted[above] * share;
    between.clamp(sorted[below], sorted[above])
}

/// The median absolute deviation from the median, unscaled; NaN for no values.
pub fn mad(values: &[f64]) -> f64 {
    let center = median(values);
    median(&values.iter().map(|x| (x - center).abs()).collect::<Vec<_>>())
}

/// The autocorrelation at `lag`, as NIST defines it: lagged products over the sum of squares.
///
/// NaN where the values do not vary or are no more than the lag.
pub fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let center = mean(values);
    let products: f64 =
        values.iter().zip(values.iter().skip(lag)).map(|(x, y)| (x - center) * (y - center)).sum();
    let squares = sum_of_squares(values);
    if squares == 0.0 || values.len() <= lag { f64::NAN } else { products / squares }
}

/// Differences of neighbours divided by the square root of two: as noisy as one value, and free of any
/// level that all of them share.
pub fn successive_differences(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    values.windows(2).map(|pair| (pair[0] - pair[1]) * FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;
    use proptest::prelude::*;

    /// NIST StRD: 1001 values, certified mean 10000000.2, sd 0.1, lag-1 autocorrelation -0.999.
    fn num_acc4() -> Vec<f64> {
        let mut values = vec![10_000_000.2];
        values.extend((0..1000).map(|i| if i % 2 == 0 { 10_000_000.1 } else { 10_000_000.3 }));
        values
    }

    #[test]
    fn nist_certified_values() {
        let num_acc1 = [10_000_001.0, 10_000_003.0, 10_000_002.0];
        check(mean(&num_acc1), 10_000_002.0, 0.0);
        check(variance(&num_acc1).sqrt(), 1.0, 0.0);
        check(autocorrelation(&num_acc1, 1), -0.5, 1e-15);
        check(mean(&num_acc4()), 10_000_000.2, 1e-15);
        // The decimal fractions are not doubles: the data itself limits these two to eight digits.
        check(variance(&num_acc4()).sqrt(), 0.1, 1e-8);
        check(autocorrelation(&num_acc4(), 1), -0.999, 1e-8);
    }

    #[test]
    fn quantiles_as_numpy() {
        let values = [4.0, 1.0, 3.0, 2.0];
        check(quantile(&values, 0.0), 1.0, 0.0);
        check(quantile(&values, 0.25), 1.75, 1e-15);
        check(median(&values), 2.5, 0.0);
        check(quantile(&values, 1.0), 4.0, 0.0);
        check(mad(&[1.0, 2.0, 3.0, 4.0, 100.0]), 1.0, 0.0);
    }

    #[test]
    fn few_values() {
        assert!(mean(&[]).is_nan() && median(&[]).is_nan() && variance(&[1.0]).is_nan());
        assert_eq!(sum_of_squares(&[]), 0.0);
        assert_eq!((median(&[7.0]), mad(&[7.0])), (7.0, 0.0));
        assert!(mean(&[f64::MAX, f64::MAX, f64::MAX]).is_finite());
        assert_eq!(median(&[f64::MAX, -f64::MAX]), 0.0);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(-1e6..1e6, 1..40)) {
            let (middle, spread) = (median(&values), mad(&values));
            values.reverse();
            prop_assert_eq!((median(&values), mad(&values)), (middle, spread));
        }

        #[test]
        fn scaling_scales(values in prop::collection::vec(0.1..1e6, 2..40), power in -20..20) {
            // A power of two is exact, so equality is.
            let c = 2f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|x| x * c).collect();
            prop_assert_eq!(median(&scaled), median(&values) * c);
            prop_assert_eq!(mad(&scaled), mad(&values) * c);
            prop_assert_eq!(sum_of_squares(&scaled), sum_of_squares(&values) * c * c);
        }

        #[test]
        fn finite_in_never_panics(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 0..20)) {
            let middle = median(&values);
            prop_assert!(values.is_empty() || middle.is_finite());
            let _ = (mean(&values), variance(&values), mad(&values), autocorrelation(&values, 1));
        }
    }
}
