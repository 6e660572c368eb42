//! An estimated change with its uncertainty, and every question that a gate asks of it.
//!
//! ```text
//!         -tolerance      0      +tolerance
//!   ----------|-----------|-----------|-----------> delta = ln(candidate / baseline)
//!                                        |--*--|    regression: p_above(+tolerance) is small
//!                    |--*--|                        unchanged: the interval lies inside
//!                    |---------*---------|          inconclusive
//! ```

use super::dist::{t_sf, t_upper};

/// An estimated difference, usually a natural-log ratio, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The difference: candidate minus baseline, or the natural log of their ratio.
    pub delta: f64,
    /// Its standard error, at least 0; 0 means known exactly, infinity means unknown.
    pub se: f64,
    /// Degrees of freedom of the standard error, at least 1, possibly infinite.
    pub df: f64,
}

/// An independent variance that is added to an estimate, such as that of sessions or of a coarse clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// The variance that it adds to the squared standard error.
    pub variance: f64,
    /// The degrees of freedom with which that variance is known.
    pub df: f64,
}

impl Estimate {
    /// An estimate from its parts; a part that is no number becomes "unknown".
    pub fn new(delta: f64, se: f64, df: f64) -> Estimate {
        let known = delta.is_finite() && !se.is_nan();
        Estimate {
            delta: if delta.is_nan() { 0.0 } else { delta },
            se: if known { se.max(0.0) } else { f64::INFINITY },
            df: if df.is_nan() { 1.0 } else { df.max(1.0) },
        }
    }

    /// An estimate whose squared standard error is a sum of independent variances, with the degrees of freedom
    /// of Welch and Satterthwaite.
    pub fn from_components(delta: f64, components: &[Component]) -> Estimate {
        let total: f64 = components.iter().map(|c| c.variance).sum();
        // Shares of the total, not squares of variances: those of very small spreads underflow.
        let denominator: f64 = components
            .iter()
            .filter(|c| 0.0 < c.variance)
            .map(|c| (c.variance / total).powi(2) / c.df)
            .sum();
        let df = if 0.0 < denominator { 1.0 / denominator } else { f64::INFINITY };
        Estimate::new(delta, total.sqrt(), df)
    }

    /// The same estimate with independent variances added.
    pub fn widened(&self, added: &[Component]) -> Estimate {
        let mut components = vec![Component { variance: self.se * self.se, df: self.df }];
        components.extend_from_slice(added);
        Estimate::from_components(self.delta, &components)
    }

    /// The test statistic against `margin`.
    pub fn t(&self, margin: f64) -> f64 {
        let distance = self.delta - margin;
        if distance == 0.0 { 0.0 } else { distance / self.se }
    }

    /// The one-sided p-value of "the change is at most `margin`".
    pub fn p_above(&self, margin: f64) -> f64 {
        if self.se == 0.0 {
            // Known exactly, there is nothing to test: the answer is yes or no.
            return if margin < self.delta { 0.0 } else { 1.0 };
        }
        t_sf(self.t(margin), self.df)
    }

    /// The one-sided p-value of "the change is at least `margin`".
    pub fn p_below(&self, margin: f64) -> f64 {
        self.negated().p_above(-margin)
    }

    /// The two-sided p-value of "the change is `margin`".
    pub fn p_two_sided(&self, margin: f64) -> f64 {
        (2.0 * self.p_above(margin).min(self.p_below(margin))).min(1.0)
    }

    /// The two-sided interval that covers the true change with probability `confidence`.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let alpha = 0.5 * (1.0 - confidence);
        (self.lower(alpha), self.upper(alpha))
    }

    /// The bound that lies below the true change but for a chance of `alpha`.
    pub fn lower(&self, alpha: f64) -> f64 {
        self.delta - self.half_width(alpha)
    }

    /// The bound that lies above the true change but for a chance of `alpha`.
    pub fn upper(&self, alpha: f64) -> f64 {
        self.delta + self.half_width(alpha)
    }

    /// The same evidence seen from the other side: baseline and candidate exchanged.
    pub fn negated(&self) -> Estimate {
        Estimate { delta: -self.delta, ..*self }
    }

    fn half_width(&self, alpha: f64) -> f64 {
        let quantile = t_upper(alpha, self.df);
        if quantile == 0.0 || self.se == 0.0 { 0.0 } else { quantile * self.se }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;
    use proptest::prelude::*;

    #[test]
    fn exact_knowledge_is_yes_or_no() {
        let same = Estimate::new(0.0, 0.0, 4.0);
        assert_eq!((same.p_above(0.0), same.p_above(-0.01), same.p_below(0.01)), (1.0, 0.0, 0.0));
        assert_eq!(same.interval(0.95), (0.0, 0.0));
    }

    #[test]
    fn no_knowledge_proves_nothing() {
        for (delta, se) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::NAN)] {
            let unknown = Estimate::new(delta, se, f64::NAN);
            assert!(0.5 <= unknown.p_above(0.02), "{unknown:?}");
            assert_eq!(unknown.se, f64::INFINITY);
        }
        let (low, high) = Estimate::new(0.1, f64::INFINITY, 3.0).interval(0.95);
        assert_eq!((low, high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn components_combine_as_welch() {
        let parts = [Component { variance: 1.0, df: 4.0 }, Component { variance: 1.0, df: 4.0 }];
        let sum = Estimate::from_components(0.0, &parts);
        check(sum.df, 8.0, 1e-12);
        check(sum.se, 2f64.sqrt(), 1e-12);
        check(Estimate::new(0.0, 1.0, 4.0).widened(&[]).df, 4.0, 1e-12);
    }

    proptest! {
        #[test]
        fn bound_and_p_agree(delta in -0.2..0.2, se in 1e-4..0.1, df in 1.0..100.0, alpha in 1e-6..0.5, margin in -0.1..0.1) {
            let estimate = Estimate::new(delta, se, df);
            let distance: f64 = estimate.lower(alpha) - margin;
            prop_assume!(1e-9 < distance.abs());
            prop_assert_eq!(estimate.p_above(margin) < alpha, 0.0 < distance);
        }

        #[test]
        fn exchanging_sides_mirrors(delta in -0.2..0.2, se in 0.0..0.1, df in 1.0..100.0, margin in -0.1..0.1) {
            let (there, back) = (Estimate::new(delta, se, df), Estimate::new(-delta, se, df));
            prop_assert_eq!(there.p_above(margin), back.p_below(-margin));
            prop_assert_eq!(there.p_two_sided(0.0), back.p_two_sided(0.0));
            let ((low, high), (back_low, back_high)) = (there.interval(0.95), back.interval(0.95));
            prop_assert_eq!((low, high), (-back_high, -back_low));
        }

        #[test]
        fn a_larger_tolerance_is_never_easier_to_exceed(delta in -0.2..0.2, se in 0.0..0.1, df in 1.0..100.0, margin in -0.1..0.1, step in 0.0..0.1) {
            let estimate = Estimate::new(delta, se, df);
            prop_assert!(estimate.p_above(margin) <= estimate.p_above(margin + step) + 1e-12);
        }

        #[test]
        fn more_confidence_is_never_narrower(delta in -0.2..0.2, se in 0.0..0.1, df in 1.0..100.0, low in 0.01..0.98, step in 0.0..0.01) {
            let estimate = Estimate::new(delta, se, df);
            let (narrow, wide) = (estimate.interval(low), estimate.interval(low + step));
            prop_assert!(wide.0 <= narrow.0 && narrow.0 <= delta && delta <= narrow.1 && narrow.1 <= wide.1);
        }
    }
}
