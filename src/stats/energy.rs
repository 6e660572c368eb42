//! The energy distance between two stretches of a series, which finds where it changes.
//!
//! Reference: Matteson and James, *A nonparametric approach for multiple change point analysis* (2014). A
//! statistic only: its maximum over all splits has no ordinary p-value.

/// Where a series is most divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The index of the first value after the change.
    pub at: usize,
    /// The end (exclusive) of the stretch that was compared.
    pub end: usize,
    /// The scaled energy distance there.
    pub q: f64,
}

/// The split and right end with the largest scaled energy distance, each side at least two values long; None for
/// fewer than four values. Cost: cubic.
pub fn strongest_split(series: &[f64]) -> Option<Split> {
    let ends = 4..=series.len();
    ends.flat_map(|end| (2..=end - 2).map(move |at| (at, end)))
        .map(|(at, end)| Split { at, end, q: energy(&series[..at], &series[at..end]) })
        .max_by(|a, b| a.q.total_cmp(&b.q))
}

/// The scaled energy distance: mean distance across, less the mean distances within.
pub fn energy(x: &[f64], y: &[f64]) -> f64 {
    let (n, m) = (x.len() as f64, y.len() as f64);
    let across: f64 = x.iter().flat_map(|a| y.iter().map(move |b| (a - b).abs())).sum();
    n * m / (n + m) * (2.0 * across / (n * m) - mean_distance(x) - mean_distance(y))
}

fn mean_distance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let sum: f64 = values
        .iter()
        .enumerate()
        .flat_map(|(i, a)| values[i + 1..].iter().map(move |b| (a - b).abs()))
        .sum();
    if values.len() < 2 { 0.0 } else { sum / (0.5 * n * (n - 1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;

    const SERIES: [f64; 14] =
        [0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0];

    #[test]
    fn published_series() {
        let split = strongest_split(&SERIES).unwrap();
        assert_eq!((split.at, split.end), (5, 14));
        check(split.q, 761.2821429, 1e-9);
        check(energy(&SERIES[..5], &SERIES[5..8]), 364.3, 1e-9);
        assert_eq!(strongest_split(&SERIES[..3]), None);
    }
}
