//! Looking more than once without raising the chance of a false alarm.
//!
//! The gate looks after 5, 10 and 20 pairs. Each look may spend a fixed share of alpha, its *weight*; the shares
//! sum to one, so that all looks together spend alpha once (a weighted Bonferroni bound, exact for any
//! dependence between looks, where normal-theory boundaries fail at these few degrees of freedom).
//!
//! ```text
//!   pairs      5        10        20
//!   weight    0.2      0.3       0.5        p over looks = min of p / weight so far, never rising
//! ```
//!
//! For the patient there is the anytime form, which may look after every pair: the mixture martingale for t
//! statistics of Lai (1976) as set right by Wang and Ramdas (2023).

use super::summary::{mean, sum_of_squares};

/// One p-value over all looks so far, from `(p, weight)` of each; 1 before the first look.
pub fn sequential_p(looks: &[(f64, f64)]) -> f64 {
    looks
        .iter()
        .filter(|(_, weight)| 0.0 < *weight)
        .map(|(p, weight)| p / weight)
        .fold(1.0, f64::min)
}

/// The weight of an early last look: all that the earlier looks have not spent.
pub fn rest_of(spent: &[f64]) -> f64 {
    (1.0 - spent.iter().sum::<f64>()).clamp(0.0, 1.0)
}

/// The level that attempt number `attempt` (from 1) of the same job may use: alpha halved each time, so that
/// pressing "re-run" until green, or until red, gains nothing.
pub fn attempt_alpha(alpha: f64, attempt: u32) -> f64 {
    alpha * 0.5f64.powi(attempt.saturating_sub(1).min(1000) as i32)
}

/// The e-value of "the mean of `values` is zero" after all of them: evidence against it, 1 for none.
///
/// It may be read after every value and exceeds `1 / alpha` ever with a chance of at most alpha. `c2` is the
/// precision of the effects looked for, in units of the deviation: small for large effects. It is two-sided: look at
/// the sign of the mean before calling a direction.
pub fn e_value(values: &[f64], c2: f64) -> f64 {
    let n = values.len() as f64;
    if values.len() < 2 {
        return 1.0;
    }
    let shrunk = n * n / (n + c2) * mean(values).powi(2);
    let squares = sum_of_squares(values) + n * mean(values).powi(2);
    if squares == 0.0 {
        return 1.0;
    }
    let log = 0.5 * (c2 / (n + c2)).ln() - 0.5 * n * (1.0 - (shrunk / squares).min(1.0)).ln();
    log.exp()
}

/// Half the width of the confidence sequence after `n` values, in units of their standard deviation: the interval
/// that may be read after every value. Infinite while nothing is known.
pub fn sequence_half_width(n: usize, c2: f64, alpha: f64) -> f64 {
    let n = n as f64;
    let r = ((n + c2) / (c2 * alpha * alpha)).powf(1.0 / n);
    let rho = c2 / (n + c2);
    if n < 2.0 || 1.0 <= r * rho {
        return f64::INFINITY;
    }
    ((n - 1.0) / n * (r - 1.0) / (1.0 - r * rho)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, check, ln};
    use proptest::prelude::*;

    #[test]
    fn reference_e_values() {
        let excess: Vec<f64> =
            ln(&A).iter().zip(ln(&B)).map(|(a, b)| b - a - 1.02f64.ln()).collect();
        let expected = [
            1.0,
            1.72914001,
            3.951513303,
            9.915930042,
            6.642648005,
            3.270975118,
            5.407409234,
            9.727941564,
        ];
        for (n, expected) in (1..=8).zip(expected) {
            check(e_value(&excess[..n], 1.0), expected, 1e-8);
        }
    }

    #[test]
    fn reference_widths() {
        check(sequence_half_width(8, 1.0, 0.05), 1.502917806, 1e-9);
        check(sequence_half_width(20, 1.0, 0.05), 0.7658042545, 1e-9);
        check(sequence_half_width(50, 1.0, 0.05), 0.4694786957, 1e-9);
        assert_eq!(sequence_half_width(1, 1.0, 0.05), f64::INFINITY);
        assert_eq!(sequence_half_width(0, 1.0, 0.05), f64::INFINITY);
    }

    #[test]
    fn looks_spend_alpha_once() {
        check(rest_of(&[0.2]), 0.8, 1e-15);
        assert_eq!(rest_of(&[0.5, 0.6]), 0.0);
        assert_eq!(sequential_p(&[]), 1.0);
        check(sequential_p(&[(0.01, 0.2), (0.006, 0.3)]), 0.02, 1e-12);
        assert_eq!((attempt_alpha(0.05, 1), attempt_alpha(0.05, 3)), (0.05, 0.0125));
    }

    #[test]
    fn equal_values_are_evidence_without_bound() {
        assert_eq!(e_value(&[0.0; 5], 1.0), 1.0);
        assert_eq!(e_value(&[], 1.0), 1.0);
        assert!(e_value(&[1.0; 5], 1.0).is_finite());
    }

    proptest! {
        #[test]
        fn more_looks_never_raise_p(looks in prop::collection::vec((0.0..=1.0, 0.05..0.5), 1..6)) {
            for n in 1..looks.len() {
                prop_assert!(sequential_p(&looks[..=n]) <= sequential_p(&looks[..n]));
            }
        }
    }
}
