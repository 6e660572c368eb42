//! What the tests of this room share: one way to compare numbers, and two small data sets.

/// Launch scores of a baseline, one of them slow.
pub(crate) const A: [f64; 8] = [100.2, 101.1, 99.7, 100.9, 103.0, 100.4, 99.9, 100.6];

/// Launch scores of a candidate that is about five percent slower.
pub(crate) const B: [f64; 8] = [104.8, 105.9, 104.1, 106.3, 105.2, 112.0, 104.6, 105.5];

/// Panics unless `actual` is within a relative `tolerance` of `expected`.
#[track_caller]
pub(crate) fn check(actual: f64, expected: f64, tolerance: f64) {
    let distance = (actual - expected).abs();
    assert!(
        distance <= tolerance * expected.abs() || actual == expected,
        "{actual} is not {expected}"
    );
}

/// The logs of positive values.
pub(crate) fn ln(values: &[f64]) -> Vec<f64> {
    values.iter().map(|x| x.ln()).collect()
}
