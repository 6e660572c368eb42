//! Probabilities by counting: permutations, Fisher's table, coin tosses.

use super::dist::coin_cdf;

/// More splits than this are not tried.
const SPLITS_MAX: f64 = 1e6;

/// The exact one-sided p-value of "the candidate's mean is no larger", over all ways to split the pooled values.
///
/// A margin is tested by moving one side first. None if a side is empty or there are more than a million splits
/// (eleven a side is the most).
pub fn permutation(baseline: &[f64], candidate: &[f64]) -> Option<f64> {
    let (n, m) = (candidate.len(), baseline.len());
    let splits: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    if n == 0 || m == 0 || SPLITS_MAX < splits {
        return None;
    }
    let pooled = [candidate, baseline].concat();
    let observed: f64 = candidate.iter().sum();
    // Sums in another order differ in their last digits: such a one is as large as the observed.
    let scale: f64 = pooled.iter().map(|x| x.abs()).sum();
    let reached = count_reaching(&pooled, n, observed - 1e-14 * scale);
    Some(reached as f64 / splits.round())
}

/// How many choices of `chosen` values add up to at least `goal`.
fn count_reaching(values: &[f64], chosen: usize, goal: f64) -> u64 {
    if chosen == 0 {
        return u64::from(goal <= 0.0);
    }
    (0..=values.len() - chosen)
        .map(|i| count_reaching(&values[i + 1..], chosen - 1, goal - values[i]))
        .sum()
}

/// Fisher's exact two-sided p-value of the table `[[a, b], [c, d]]`.
pub fn fisher(table: [[u64; 2]; 2]) -> f64 {
    let [[a, b], [c, d]] = table;
    let (row, column, rest) = (a + b, a + c, b + d);
    // The chance of each table with these margins, relative to that of the first.
    let first = column.saturating_sub(c + d);
    let mut weights = vec![1.0];
    for x in first..row.min(column) {
        let odds =
            (row - x) as f64 * (column - x) as f64 / ((x + 1) as f64 * (rest + x + 1 - row) as f64);
        weights.push(weights[weights.len() - 1] * odds);
        let largest = weights[weights.len() - 1];
        if 1e200 < largest {
            weights.iter_mut().for_each(|w| *w /= largest);
        }
    }
    let observed = weights[(a - first) as usize];
    let as_rare: f64 = weights.iter().filter(|w| **w <= observed * (1.0 + 1e-7)).sum();
    as_rare / weights.iter().sum::<f64>()
}

/// The two-sided p-value of the sign test: is a positive difference as likely as a negative one?
pub fn sign_test(positive: u64, negative: u64) -> f64 {
    let trials = positive + negative;
    if trials == 0 { 1.0 } else { (2.0 * coin_cdf(positive.min(negative), trials)).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, check};
    use proptest::prelude::*;

    #[test]
    fn v9_permutation() {
        check(permutation(&A, &B).unwrap(), 1.0 / 12870.0, 1e-12);
        check(permutation(&A[..4], &B[..4]).unwrap(), 1.0 / 70.0, 1e-12);
        check(permutation(&[1.0; 4], &[1.0; 4]).unwrap(), 1.0, 0.0);
        assert_eq!((permutation(&[], &A), permutation(&[0.0; 20], &[0.0; 20])), (None, None));
    }

    #[test]
    fn v17_fisher() {
        check(fisher([[9, 1], [3, 7]]), 0.0197666111, 1e-8);
        check(fisher([[0, 0], [0, 0]]), 1.0, 0.0);
        check(fisher([[5, 5], [5, 5]]), 1.0, 1e-12);
        check(fisher([[0, 20], [0, 20]]), 1.0, 0.0);
    }

    #[test]
    fn signs() {
        check(sign_test(5, 0), 2.0 / 32.0, 1e-12);
        assert_eq!((sign_test(0, 0), sign_test(3, 3)), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn fisher_is_symmetric(a in 0..30u64, b in 0..30u64, c in 0..30u64, d in 0..30u64) {
            let p = fisher([[a, b], [c, d]]);
            prop_assert!(0.0 < p && p <= 1.0 + 1e-12);
            check(fisher([[c, d], [a, b]]), p, 1e-9);
            check(fisher([[a, c], [b, d]]), p, 1e-9);
        }
    }
}
