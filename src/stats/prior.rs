//! What is known about noise before today's launches: from a benchmark's own history, or from its suite.
//!
//! Priors hold the variance of *one* launch or pair, as [`super::own_variance`] gives it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dist::{digamma, f_median, trigamma, trigamma_inverse};
use super::estimate::Component;
use super::summary::{MAD_TO_SD, mean, median, successive_differences, variance};
use super::trimmed::{cut, trimmed};

/// The most degrees of freedom that a benchmark's own history earns. Twenty runs of five differences reach it; a
/// higher one would make a changed noise level slow to be believed.
const HISTORY_DF_MAX: f64 = 20.0;

/// Fewer historic differences than this tell nothing.
const DIFFERENCES_MIN: usize = 10;

/// The most degrees of freedom that a suite lends to a benchmark: benchmarks differ.
const SUITE_DF_MAX: f64 = 10.0;

/// A suite smaller than this lends nothing.
const SUITE_MIN: usize = 10;

/// The noise between sessions that is assumed until [`SESSIONS_MIN`] are known, and how well it is known.
const TAU_UNKNOWN: Tau = Tau { sd: 0.02, df: 3.0 };
const SESSIONS_MIN: usize = 5;

/// The degrees of freedom that one session adds to the deviation estimated from the median absolute
/// successive difference (a robust estimate is worth about a quarter of its values).
const DF_PER_SESSION: f64 = 0.28;

/// What was known beforehand about the variance of one launch or pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// The variance, of a log ratio.
    pub variance: f64,
    /// How many degrees of freedom that knowledge is worth, possibly infinite.
    pub df: f64,
}

impl Prior {
    /// The same knowledge on a day that is noisier by `factor` in variance.
    pub fn scaled(&self, factor: f64) -> Prior {
        Prior { variance: self.variance * factor, ..*self }
    }

    /// Whether a benchmark's own variance is so far above that its noise must have changed regime, so that the prior
    /// is of no use: more than tenfold, with at least four degrees of freedom.
    pub fn contradicted_by(&self, own: f64, own_df: f64) -> bool {
        4.0 <= own_df && 10.0 * self.variance < own
    }

    /// The mean of prior and own variance weighted by degrees of freedom, and the sum of these.
    pub fn moderate(&self, own: f64, own_df: f64) -> (f64, f64) {
        if self.df == f64::INFINITY {
            return (self.variance, self.df);
        }
        let df = self.df + own_df;
        ((self.df * self.variance + own_df * own) / df, df)
    }
}

/// The noise between sessions: a standard deviation of the log score of one session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tau {
    /// The standard deviation.
    pub sd: f64,
    /// The degrees of freedom with which it is known.
    pub df: f64,
}

impl Tau {
    /// What it adds to the squared error of a difference between two sessions.
    pub fn component(&self) -> Component {
        Component { variance: 2.0 * self.sd * self.sd, df: self.df }
    }
}

/// The noise of one pair as a benchmark's history tells it: the pair scores of each earlier run.
///
/// None below ten differences. Successive differences within a run are taken, never residuals from its
/// center: those hold one structural zero in each run of odd size and make the noise look smaller than it is.
pub fn learned(runs: &[&[f64]]) -> Option<Prior> {
    let differences: Vec<f64> = runs.iter().flat_map(|run| successive_differences(run)).collect();
    let count = differences.len();
    if count < DIFFERENCES_MIN || !differences.iter().all(|d| d.is_finite()) {
        return None;
    }
    let trimmed = trimmed(&differences, cut(count, super::launches::LAUNCHES_CUT))?;
    let share = trimmed.kept as f64 / count as f64;
    let variance = trimmed.winsorised_variance() / (share * share);
    (0.0 < variance).then(|| Prior { variance, df: (count as f64 / 5.0).min(HISTORY_DF_MAX) })
}

/// The noise between sessions, from the log scores of successive runs and their squared standard errors.
///
/// The median absolute difference is used so that real steps do not inflate it. 2 % until five sessions are known.
pub fn session_noise(scores: &[f64], squared_errors: &[f64]) -> Tau {
    if scores.len() < SESSIONS_MIN {
        return TAU_UNKNOWN;
    }
    let steps: Vec<f64> = successive_differences(scores).map(f64::abs).collect();
    let within = if squared_errors.is_empty() { 0.0 } else { mean(squared_errors) };
    let between = ((MAD_TO_SD * median(&steps)).powi(2) - within).max(0.0);
    Tau { sd: between.sqrt(), df: (DF_PER_SESSION * scores.len() as f64).max(1.0) }
}

/// How much noisier today is than the priors say, as a factor of variance, never below one.
///
/// Each row is a benchmark's own variance, its degrees of freedom and its prior. The median of own over prior is
/// compared with what chance alone would make of it, the median of an F variable.
pub fn noisier_today(rows: &[(f64, f64, Prior)]) -> f64 {
    let ratios: Vec<f64> = rows
        .iter()
        .filter(|(_, df, prior)| 0.0 < *df && 0.0 < prior.variance)
        .map(|(own, df, prior)| own / (prior.variance * f_median(*df, prior.df)))
        .collect();
    if ratios.is_empty() { 1.0 } else { median(&ratios).max(1.0) }
}

/// The prior that a suite lends to a benchmark without history, from the own variances (and their degrees of
/// freedom) of all its benchmarks; None for fewer than ten that can be used.
pub fn suite_prior(variances: &[(f64, f64)]) -> Option<Prior> {
    let usable = variances.iter().filter(|(v, df)| 0.0 < *v && v.is_finite() && 0.0 < *df).count();
    if usable < SUITE_MIN {
        return None;
    }
    let prior = smyth(variances)?;
    Some(Prior { df: prior.df.min(SUITE_DF_MAX), ..prior })
}

/// Smyth's (2004) moment fit of a scaled inverse chi-square distribution to variances with their degrees of freedom.
///
/// The logs of the variances scatter by trigamma(f/2) through chance alone; what they scatter beyond it is
/// how much the benchmarks really differ. No excess gives an infinite `df`. None for fewer than two usable.
pub fn smyth(variances: &[(f64, f64)]) -> Option<Prior> {
    let usable = || variances.iter().filter(|(v, df)| 0.0 < *v && v.is_finite() && 0.0 < *df);
    let logs: Vec<f64> =
        usable().map(|(v, df)| v.ln() - digamma(0.5 * df) + (0.5 * df).ln()).collect();
    let chance: Vec<f64> = usable().map(|(_, df)| trigamma(0.5 * df)).collect();
    if logs.len() < 2 {
        return None;
    }
    let excess = variance(&logs) - mean(&chance);
    let center = mean(&logs);
    if excess <= 0.0 {
        return Some(Prior { variance: center.exp(), df: f64::INFINITY });
    }
    let df = 2.0 * trigamma_inverse(excess);
    Some(Prior { variance: (center + digamma(0.5 * df) - (0.5 * df).ln()).exp(), df })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;

    fn eight_df(variances: [f64; 10]) -> Vec<(f64, f64)> {
        variances.iter().map(|v| (v * 1e-4, 8.0)).collect()
    }

    #[test]
    fn suites_that_differ() {
        let variances = eight_df([1.1, 0.3, 7.3, 1.7, 0.2, 1.2, 9.1, 0.9, 4.4, 0.5]);
        let prior = smyth(&variances).unwrap();
        check(prior.df, 2.249378068, 1e-8);
        check(prior.variance, 9.149875565e-05, 1e-8);
        check(prior.moderate(1.1e-4, 8.0).0, 1.059396275e-04, 1e-8);
        assert_eq!(suite_prior(&variances), Some(prior));
    }

    #[test]
    fn suites_that_do_not() {
        let variances = eight_df([1.1, 0.8, 2.3, 1.7, 0.6, 1.2, 3.1, 0.9, 1.4, 2.0]);
        let prior = smyth(&variances).unwrap();
        assert_eq!(prior.df, f64::INFINITY);
        check(prior.variance, 1.531829523e-04, 1e-9);
        assert_eq!(suite_prior(&variances).unwrap().df, SUITE_DF_MAX);
    }

    #[test]
    fn too_little_to_lend() {
        assert_eq!(suite_prior(&eight_df([1.0; 10])[..9]), None);
        assert_eq!(suite_prior(&[(0.0, 8.0); 50]), None);
        assert_eq!(smyth(&[(1e-4, 2.0)]), None);
        assert_eq!(learned(&[&[0.1, 0.2], &[0.3]]), None);
    }

    #[test]
    fn history_ignores_levels() {
        let run = [0.01, -0.01, 0.02, -0.02, 0.01, -0.01];
        let shifted = run.map(|d| d + 0.5);
        let runs: Vec<&[f64]> = vec![&run, &shifted, &run];
        let same: Vec<&[f64]> = vec![&run, &run, &run];
        let (a, b) = (learned(&runs).unwrap(), learned(&same).unwrap());
        check(a.variance, b.variance, 1e-9);
        assert_eq!(a.df, 3.0);
    }

    #[test]
    fn sessions() {
        assert_eq!(session_noise(&[0.0; 4], &[]), TAU_UNKNOWN);
        let still = session_noise(&[0.0; 10], &[1e-6; 10]);
        assert_eq!(still.sd, 0.0);
        let scores: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 0.01 } else { -0.01 }).collect();
        let tau = session_noise(&scores, &[0.0; 40]);
        check(tau.df, 11.2, 1e-12);
        assert!(0.01 < tau.sd);
    }

    #[test]
    fn noise_of_the_day() {
        let prior = Prior { variance: 1e-4, df: 20.0 };
        let at = |factor: f64| {
            let own = 1e-4 * factor * f_median(5.0, 20.0);
            noisier_today(&[(own, 5.0, prior); 30])
        };
        check(at(1.0), 1.0, 1e-12);
        check(at(4.0), 4.0, 1e-9);
        check(at(0.1), 1.0, 0.0);
        assert_eq!(noisier_today(&[]), 1.0);
    }
}
