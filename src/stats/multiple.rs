//! Many tests at once: p-values adjusted so that a whole suite has one error rate.
//!
//! Reject where the adjusted value is at most alpha. *Holm* bounds the chance of any false alarm, *Benjamini-Hochberg* the
//! share of false alarms among the alarms; when nothing is wrong the two are the same promise.

/// Benjamini and Hochberg's (1995) step-up: valid for independent or positively dependent tests.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    step_up(p, 1.0)
}

/// Benjamini and Yekutieli's (2001) step-up: valid under any dependence, and duller for it.
pub fn benjamini_yekutieli(p: &[f64]) -> Vec<f64> {
    step_up(p, (1..=p.len()).map(|i| 1.0 / i as f64).sum())
}

/// Holm's (1979) step-down: valid under any dependence.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let (mut adjusted, mut floor) = (vec![0.0; p.len()], 0.0_f64);
    for (rank, i) in ascending(p).into_iter().enumerate() {
        floor = floor.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = floor;
    }
    adjusted
}

fn step_up(p: &[f64], factor: f64) -> Vec<f64> {
    let (mut adjusted, mut ceiling) = (vec![0.0; p.len()], 1.0_f64);
    for (rank, i) in ascending(p).into_iter().enumerate().rev() {
        ceiling = ceiling.min(p[i] * (factor * p.len() as f64 / (rank + 1) as f64));
        adjusted[i] = ceiling;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;
    use proptest::prelude::*;

    /// The worked example of Benjamini and Hochberg (1995).
    const P: [f64; 15] = [
        0.0001, 0.004, 0.019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ];

    fn check_all(actual: &[f64], expected: &[f64]) {
        actual.iter().zip(expected).for_each(|(a, e)| check(*a, *e, 1e-9));
    }

    #[test]
    fn published_example() {
        let bh = benjamini_hochberg(&P);
        check_all(
            &bh,
            &[
                0.0015,
                0.03,
                0.0603,
                0.0475,
                0.0603,
                0.06385714286,
                0.06385714286,
                0.0645,
                0.0765,
                0.486,
                0.5811818182,
                0.714875,
                0.7532307692,
                0.8132142857,
                1.0,
            ],
        );
        assert_eq!(bh.iter().filter(|q| **q <= 0.05).count(), 3);
        let by = [
            0.00497734349,
            0.0995468698,
            0.2000892083,
            0.1576158772,
            0.2000892083,
            0.2118926229,
            0.2118926229,
            0.2140257701,
            0.253844518,
            1.0,
        ];
        check_all(&benjamini_yekutieli(&P), &by);
        let holm_expected = [0.0015, 0.056, 0.228, 0.1235, 0.228, 0.278, 0.278, 0.278, 0.3213, 1.0];
        check_all(&holm(&P), &holm_expected);
    }

    #[test]
    fn none_and_one() {
        assert!(benjamini_hochberg(&[]).is_empty() && holm(&[]).is_empty());
        assert_eq!((benjamini_hochberg(&[0.3]), holm(&[0.3])), (vec![0.3], vec![0.3]));
    }

    proptest! {
        #[test]
        fn laws(p in prop::collection::vec(0.0..=1.0, 1..30)) {
            let (bh, by, holm) = (benjamini_hochberg(&p), benjamini_yekutieli(&p), holm(&p));
            for i in 0..p.len() {
                // Never smaller than the raw value; whatever Holm rejects, Benjamini-Hochberg does too.
                prop_assert!(p[i] <= bh[i] && bh[i] <= by[i] && bh[i] <= holm[i] + 1e-12 && holm[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[j] < p[i] || (bh[i] <= bh[j] && holm[i] <= holm[j]));
                }
            }
        }
    }
}
