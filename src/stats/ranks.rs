//! Tests that look only at order: Mann-Whitney, Wilcoxon, Hodges-Lehmann and Kolmogorov-Smirnov.
//!
//! They explain and cross-check; the gate does not decide by them, because with five launches a side the smallest
//! possible p-value is 1/252, which no suite correction lets through. Exact values count, by dynamic
//! programming, in how many ways chance could deal the ranks; ties are dealt as they are (midranks).

use super::dist::{normal_sf, normal_upper};
use super::summary::{median, sorted};

/// Up to this many values in all the exact distribution is counted; beyond, the normal approximation is as good.
const EXACT_UP_TO: usize = 100;

/// A rank statistic with its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The statistic: U of the candidate, or the smaller signed rank sum.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// Whether a normal approximation of a count is moved by half a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// Moved towards the center, which suits a count.
    Corrected,
    /// Left as it is.
    Plain,
}

/// The test of Mann and Whitney (1947): exact up to a hundred values, else approximate. None if a side is empty.
pub fn mann_whitney(baseline: &[f64], candidate: &[f64]) -> Option<RankTest> {
    if baseline.len() + candidate.len() <= EXACT_UP_TO {
        mann_whitney_exact(baseline, candidate)
    } else {
        mann_whitney_approximate(baseline, candidate, Continuity::Corrected)
    }
}

/// [`mann_whitney`] by counting all ways to deal the ranks. Cubic in the number of values.
pub fn mann_whitney_exact(baseline: &[f64], candidate: &[f64]) -> Option<RankTest> {
    let (n, m) = (candidate.len(), baseline.len());
    if n == 0 || m == 0 {
        return None;
    }
    let ranks = doubled_midranks(&[candidate, baseline].concat());
    let sum: usize = ranks[..n].iter().sum();
    let p = two_sided(&rank_sums(&ranks, n), sum);
    Some(RankTest { statistic: (sum - n * (n + 1)) as f64 / 2.0, p })
}

/// [`mann_whitney`] by the normal approximation with its correction for ties.
pub fn mann_whitney_approximate(
    baseline: &[f64],
    candidate: &[f64],
    continuity: Continuity,
) -> Option<RankTest> {
    let (n, m) = (candidate.len(), baseline.len());
    if n == 0 || m == 0 {
        return None;
    }
    let ranks = doubled_midranks(&[candidate, baseline].concat());
    let u = (ranks[..n].iter().sum::<usize>() - n * (n + 1)) as f64 / 2.0;
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - tied(&ranks) / (all * (all - 1.0)));
    Some(RankTest { statistic: u, p: approximate_p(u - 0.5 * n * m, variance, continuity) })
}

/// Wilcoxon's signed-rank test (1945) of "the differences lie around zero", zeros left out; None if none is left.
pub fn wilcoxon(differences: &[f64]) -> Option<RankTest> {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let ranks = doubled_midranks(&sizes);
    let total: usize = ranks.iter().sum();
    let positive: usize =
        ranks.iter().zip(&nonzero).filter(|(_, d)| 0.0 < **d).map(|(rank, _)| rank).sum();
    let statistic = positive.min(total - positive) as f64 / 2.0;
    if nonzero.is_empty() {
        return None;
    }
    if nonzero.len() <= EXACT_UP_TO {
        return Some(RankTest { statistic, p: two_sided(&signed_sums(&ranks), positive) });
    }
    let n = nonzero.len() as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied(&ranks) / 48.0;
    let distance = statistic - 0.25 * n * (n + 1.0);
    Some(RankTest { statistic, p: approximate_p(distance, variance, Continuity::Corrected) })
}

/// An interval between two order statistics, with the confidence that it really has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderInterval {
    /// The lower end.
    pub low: f64,
    /// The point estimate.
    pub point: f64,
    /// The upper end.
    pub high: f64,
    /// The achieved confidence, at least the one asked for.
    pub confidence: f64,
}

/// The estimator of Hodges and Lehmann (1963): the median of all differences, candidate minus baseline, with the
/// interval that inverts the Mann-Whitney test. None where so few values allow no such interval.
pub fn hodges_lehmann(
    baseline: &[f64],
    candidate: &[f64],
    confidence: f64,
) -> Option<OrderInterval> {
    let (n, m) = (candidate.len(), baseline.len());
    if n == 0 || m == 0 {
        return None;
    }
    let differences: Vec<f64> =
        candidate.iter().flat_map(|c| baseline.iter().map(move |b| c - b)).collect();
    if n + m <= EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=n + m).map(|rank| 2 * rank).collect();
        let sums = rank_sums(&ranks, n);
        let all: f64 = sums.iter().sum();
        // The count for U is that for a doubled rank sum of 2 U + n (n + 1).
        let tail = |k: usize| sums[..=n * (n + 1) + 2 * (k - 1)].iter().sum::<f64>() / all;
        return order_interval(&differences, confidence, tail);
    }
    let (n, m) = (n as f64, m as f64);
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let tail = |k: usize| 1.0 - normal_sf((k as f64 - 0.5 - 0.5 * n * m) / deviation);
    order_interval(&differences, confidence, tail)
}

/// The median with the interval between order statistics that covers it; None where so few values allow none (fewer
/// than six at 95 %).
pub fn median_interval(values: &[f64], confidence: f64) -> Option<OrderInterval> {
    let n = values.len() as u64;
    order_interval(values, confidence, |k| super::dist::coin_cdf(k as u64 - 1, n))
}

/// The interval from the `k`-th smallest to the `k`-th largest for the largest `k` that is confident enough, where
/// `tail(k)` is the chance that the truth lies below it; None if there is none.
fn order_interval(
    values: &[f64],
    confidence: f64,
    tail: impl Fn(usize) -> f64,
) -> Option<OrderInterval> {
    let alpha = (1.0 - confidence).clamp(0.0, 1.0);
    let (mut none, mut beyond) = (0, values.len() / 2 + 1);
    while 1 < beyond - none {
        let k = none + (beyond - none) / 2;
        // The hair forgives 1 - 0.95 its last bit.
        if 2.0 * tail(k) <= alpha * (1.0 + 1e-12) {
            none = k;
        } else {
            beyond = k;
        }
    }
    let sorted = sorted(values);
    (0 < none).then(|| OrderInterval {
        low: sorted[none - 1],
        point: median(&sorted),
        high: sorted[sorted.len() - none],
        confidence: 1.0 - 2.0 * tail(none),
    })
}

/// The largest distance between the two distribution functions (Kolmogorov and Smirnov), with its exact p-value;
/// ties make that value too large, never too small. None if a side is empty. Cost: product of the sizes.
pub fn kolmogorov_smirnov(baseline: &[f64], candidate: &[f64]) -> Option<RankTest> {
    let (n, m) = (baseline.len(), candidate.len());
    if n == 0 || m == 0 {
        return None;
    }
    let (a, b) = (sorted(baseline), sorted(candidate));
    // Distances are kept as whole numbers, |i m - j n|, so that equality is exact.
    let (mut i, mut j, mut largest) = (0, 0, 0);
    while i < n && j < m {
        let value = a[i].min(b[j]);
        i += a[i..].iter().take_while(|x| **x == value).count();
        j += b[j..].iter().take_while(|x| **x == value).count();
        largest = largest.max((i * m).abs_diff(j * n));
    }
    // Walk all orders of the pooled values as paths on a grid. What reaches the distance leaves the walk, and is
    // added up by itself, so that a small p-value keeps its digits.
    let (mut left, mut row) = (0.0, vec![0.0; m + 1]);
    for i in 0..=n {
        for j in 0..=m {
            let remaining = (n + m + 1 - i - j) as f64;
            let from_below = if 0 < i { row[j] * (n + 1 - i) as f64 / remaining } else { 0.0 };
            let from_left = if 0 < j { row[j - 1] * (m + 1 - j) as f64 / remaining } else { 0.0 };
            let here = if i + j == 0 { 1.0 } else { from_below + from_left };
            let outside = largest <= (i * m).abs_diff(j * n);
            left += if outside { here } else { 0.0 };
            row[j] = if outside { 0.0 } else { here };
        }
    }
    Some(RankTest { statistic: largest as f64 / (n * m) as f64, p: f64::min(left, 1.0) })
}

/// The power-less floor of exact tests: the smallest two-sided p-value that ranks can reach with these sizes.
pub fn smallest_rank_p(n: usize, m: usize) -> f64 {
    let splits: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    (2.0 / splits).min(1.0)
}

/// Twice the rank of each value, ties sharing the mean of theirs: whole numbers, so that sums are exact.
fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut first) = (vec![0; values.len()], 0);
    for tie in order.chunk_by(|a, b| values[*a] == values[*b]) {
        tie.iter().for_each(|i| ranks[*i] = 2 * first + tie.len() + 1);
        first += tie.len();
    }
    ranks
}

/// The sum of t^3 - t over groups of t tied ranks.
fn tied(ranks: &[usize]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|tie| (tie.len() as f64).powi(3) - tie.len() as f64).sum()
}

/// In how many ways `chosen` of the doubled ranks add up to each sum.
fn rank_sums(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for taken in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(taken);
            for sum in *rank..=reached {
                more[0][sum] += fewer[taken - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(chosen)
}

/// In how many ways a choice of signs makes the positive doubled ranks add up to each sum.
fn signed_sums(ranks: &[usize]) -> Vec<f64> {
    let mut ways = vec![0.0; ranks.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (*rank..ways.len()).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

fn two_sided(ways: &[f64], observed: usize) -> f64 {
    let all: f64 = ways.iter().sum();
    let below: f64 = ways[..=observed].iter().sum();
    let above: f64 = ways[observed..].iter().sum();
    (2.0 * below.min(above) / all).min(1.0)
}

fn approximate_p(distance: f64, variance: f64, continuity: Continuity) -> f64 {
    let step = if continuity == Continuity::Corrected { 0.5 } else { 0.0 };
    let z = (distance.abs() - step).max(0.0) / variance.max(0.0).sqrt();
    (2.0 * normal_sf(z)).min(1.0)
}

/// The number of standard deviations that a two-sided normal p-value stands for; for display.
pub fn sigmas(p: f64) -> f64 {
    normal_upper(0.5 * p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, check, ln};
    use proptest::prelude::*;

    #[test]
    fn v6_v7_v8_mann_whitney() {
        let exact = mann_whitney(&A, &B).unwrap();
        assert_eq!(exact.statistic, 64.0);
        check(exact.p, 2.0 / 12870.0, 1e-12);
        let approximate = |continuity| mann_whitney_approximate(&A, &B, continuity).unwrap().p;
        check(approximate(Continuity::Corrected), 0.0009391056991, 1e-9);
        check(approximate(Continuity::Plain), 0.0007775304469, 1e-9);
        let (first, second) = ([1.0, 2.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 3.0, 4.0, 6.0, 7.0]);
        let ties = mann_whitney_approximate(&second, &first, Continuity::Corrected).unwrap();
        assert_eq!(ties.statistic, 10.5);
        check(ties.p, 0.2547194045, 1e-9);
    }

    #[test]
    fn benchstat_examples() {
        check(mann_whitney(&[-1.0; 3], &[1.0; 3]).unwrap().p, 0.1, 1e-12);
        check(mann_whitney(&[-1.0; 4], &[1.0; 4]).unwrap().p, 0.02857142857, 1e-9);
        let mixed = mann_whitney(&[1.0, -1.0, -1.0, -1.0], &[-1.0, 1.0, 1.0, 1.0]).unwrap();
        check(mixed.p, 0.4857142857, 1e-9);
        check(smallest_rank_p(3, 3), 0.1, 1e-12);
        check(smallest_rank_p(5, 5), 2.0 / 252.0, 1e-12);
    }

    #[test]
    fn v11_wilcoxon() {
        let differences: Vec<f64> = A.iter().zip(&B).map(|(a, b)| b - a).collect();
        let test = wilcoxon(&differences).unwrap();
        assert_eq!((test.statistic, test.p), (0.0, 0.0078125));
    }

    #[test]
    fn v13_v14_hodges_lehmann() {
        let shift = hodges_lehmann(&A, &B, 0.95).unwrap();
        check(shift.point, 4.85, 1e-12);
        check(shift.low, 3.7, 1e-12);
        check(shift.high, 5.9, 1e-12);
        check(shift.confidence, 0.9501165501, 1e-9);
        let ratio = hodges_lehmann(&ln(&A), &ln(&B), 0.95).unwrap();
        check(ratio.point.exp(), 1.048258163, 1e-9);
    }

    #[test]
    fn v18_kolmogorov_smirnov() {
        let test = kolmogorov_smirnov(&A, &B).unwrap();
        assert_eq!(test.statistic, 1.0);
        check(test.p, 0.0001554001554, 1e-9);
        check(kolmogorov_smirnov(&A, &A).unwrap().p, 1.0, 1e-12);
    }

    #[test]
    fn median_intervals() {
        let six = median_interval(&[-10.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
        assert_eq!((six.low, six.high), (-10.0, 6.0));
        check(six.confidence, 0.96875, 1e-12);
        let ranks = |n: i32| (1..=n).map(f64::from).collect::<Vec<_>>();
        let ten = median_interval(&ranks(10), 0.95).unwrap();
        assert_eq!((ten.low, ten.high), (2.0, 9.0));
        check(ten.confidence, 0.978515625, 1e-12);
        let twenty = median_interval(&ranks(20), 0.95).unwrap();
        assert_eq!((twenty.low, twenty.high), (6.0, 15.0));
        check(twenty.confidence, 0.9586105347, 1e-9);
        assert_eq!(median_interval(&ranks(5), 0.95), None);
    }

    #[test]
    fn approximate_meets_exact_where_it_takes_over() {
        let baseline: Vec<f64> = (0..50).map(|i| f64::from(i * 37 % 50)).collect();
        for shift in [0.5, 2.5, 8.5, 12.5] {
            let candidate: Vec<f64> = baseline.iter().map(|x| x + shift).collect();
            let exact = mann_whitney_exact(&baseline, &candidate).unwrap();
            let approximate =
                mann_whitney_approximate(&baseline, &candidate, Continuity::Corrected).unwrap();
            assert_eq!(exact.statistic, approximate.statistic);
            assert!((exact.p - approximate.p).abs() < 2e-3, "{exact:?} {approximate:?}");
        }
        check(sigmas(0.0026997960632601866), 3.0, 1e-9);
    }

    #[test]
    fn nothing_to_rank() {
        assert!(mann_whitney(&[], &[1.0]).is_none() && kolmogorov_smirnov(&[1.0], &[]).is_none());
        assert!(wilcoxon(&[0.0, 0.0]).is_none() && hodges_lehmann(&[], &[], 0.95).is_none());
        assert!(median_interval(&[], 0.95).is_none());
        check(mann_whitney(&[1.0; 60], &[1.0; 60]).unwrap().p, 1.0, 0.0);
    }

    /// The share of all splits whose U is as far out, by trying them all.
    fn brute_force(baseline: &[f64], candidate: &[f64]) -> f64 {
        let pooled = [candidate, baseline].concat();
        let u = |is_candidate: &dyn Fn(usize) -> bool| {
            let mut twice = 0;
            for i in (0..pooled.len()).filter(|i| is_candidate(*i)) {
                for j in (0..pooled.len()).filter(|j| !is_candidate(*j)) {
                    twice += match pooled[i].total_cmp(&pooled[j]) {
                        std::cmp::Ordering::Greater => 2,
                        std::cmp::Ordering::Equal => 1,
                        std::cmp::Ordering::Less => 0,
                    };
                }
            }
            twice
        };
        let observed = u(&|i| i < candidate.len());
        let splits: Vec<i32> = (0u32..1 << pooled.len())
            .filter(|mask| mask.count_ones() as usize == candidate.len())
            .map(|mask| u(&|i| mask >> i & 1 == 1))
            .collect();
        let below = splits.iter().filter(|u| **u <= observed).count();
        let above = splits.iter().filter(|u| observed <= **u).count();
        (2.0 * below.min(above) as f64 / splits.len() as f64).min(1.0)
    }

    fn whole_numbers(most: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((0..6i32).prop_map(f64::from), 1..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn exact_equals_brute_force(a in whole_numbers(5), b in whole_numbers(5)) {
            check(mann_whitney_exact(&a, &b).unwrap().p, brute_force(&a, &b), 1e-12);
        }

        #[test]
        fn laws(a in whole_numbers(12), b in whole_numbers(12), shift in -100..100) {
            let shifted = |values: &[f64]| values.iter().map(|x| x + f64::from(shift)).collect::<Vec<_>>();
            let (there, back) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
            prop_assert_eq!(there.statistic + back.statistic, (a.len() * b.len()) as f64);
            check(there.p, back.p, 1e-9);
            prop_assert_eq!(there, mann_whitney(&shifted(&a), &shifted(&b)).unwrap());
            prop_assert!((0.0..=1.0).contains(&there.p));
            prop_assert!((0.0..=1.0).contains(&kolmogorov_smirnov(&a, &b).unwrap().p));
            if let Some(interval) = hodges_lehmann(&a, &b, 0.9) {
                prop_assert!(interval.low <= interval.point && interval.point <= interval.high);
                if let Some(wider) = hodges_lehmann(&a, &b, 0.95) {
                    prop_assert!(wider.low <= interval.low && interval.high <= wider.high);
                }
            }
        }
    }
}
