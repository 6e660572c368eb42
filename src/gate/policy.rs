//! What the gate is asked to hold: tolerances, error rates, looks, and what missing or undecided means.

use std::collections::BTreeMap;

use globset::{Glob, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accept::Accepted;
use crate::compare::Learned;
use crate::model::{BenchmarkId, Better, Look, Metric, Reference};
use crate::stats::Statistic;

/// Everything that turns comparisons into verdicts. [`Policy::default`] is what a project without a
/// `pacegate.yaml` gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Largest slowdown that is let through, as a fraction: 0.02 is 2 %.
    pub tolerance: f64,
    /// Largest slowdown since the last release that is let through, as a fraction: small steps add up.
    pub creep: f64,
    /// Assumed standard deviation between sessions, as a fraction, for sides that were measured apart.
    pub session_noise: f64,
    /// Chance of a red verdict on a suite in which nothing is slower than the tolerance.
    pub alpha: f64,
    /// Chance that a benchmark beyond its tolerance is cleared.
    pub alpha_pass: f64,
    /// How the suite's tests are corrected for their number.
    pub correction: Correction,
    /// What a launch is scored by.
    pub statistic: Statistic,
    /// Fewer launches than this decide nothing.
    pub min_launches: u32,
    /// Planned looks, ascending by pairs; the weights sum to one.
    pub looks: Vec<Look>,
    /// What a benchmark means that the candidate no longer has.
    pub missing: Missing,
    /// What a benchmark means that is neither red nor cleared.
    pub on_inconclusive: OnInconclusive,
    /// What a benchmark means whose noise hides its tolerance at the last look.
    pub noisy: Noisy,
    /// What may decide.
    pub trust: Trust,
    /// Tolerances of exact metrics by unit.
    pub exact: BTreeMap<String, ExactTolerance>,
    /// Which attempt of the same job this is, from 1: attempt `n` may spend `alpha / 2^(n-1)`, so that pressing
    /// re-run gains nothing.
    pub attempt: u32,
    /// Exceptions, in the order written; the last one that matches and sets a key wins.
    pub rules: Vec<Rule>,
    /// Benchmarks that were renamed: the name in the baseline, then the one in the candidate, both as they are shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// Slowdowns that the project has agreed to.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub accepted: Accepted,
    /// What earlier sessions on this runner class taught about noise, where a history was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Learned>,
}

fn is_nothing(accepted: &Accepted) -> bool {
    accepted.records.is_empty()
}

/// Correction for the number of tests in a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// Benjamini and Hochberg: the expected share of false reds among the reds.
    Bh,
    /// Holm: the chance of any false red.
    Holm,
}

/// What a removed benchmark means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The gate says no.
    Fail,
    /// It is told.
    Warn,
}

/// What an undecided benchmark means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnInconclusive {
    /// It is told; the exit code is 0.
    Warn,
    /// The exit code is 11.
    Fail,
}

/// What a benchmark means that is too noisy for its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noisy {
    /// It is named as not guarded; it can still be proven slower.
    Advisory,
    /// Its tolerance becomes what it can prove, and that is printed.
    RaiseTolerance,
    /// It counts as any other.
    Strict,
}

/// What may decide a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Launches only: the samples of one process say nothing of the next process.
    Launches,
    /// A single process may decide, at the user's risk.
    Samples,
}

/// How much worse an exact metric may get.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactTolerance {
    /// As a fraction of the baseline.
    pub relative: f64,
    /// In the metric's unit; both must be exceeded.
    pub absolute: f64,
}

/// An exception for the benchmarks that a pattern matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Glob over the benchmark's id; `*` also crosses `/`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// Metric that the rule is for; every metric if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Tolerance as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Good direction, for units that do not imply one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// Whether matching rows can fail the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gated>,
    /// How matching benchmarks are launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentChoice>,
}

/// Whether a row takes part in the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gated {
    /// It can fail the gate.
    Yes,
    /// It is shown, and named as not guarded.
    No,
}

/// How benchmarks are launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentChoice {
    /// One calibration launch of each benchmark decides.
    #[default]
    Auto,
    /// Together on one CPU, on the CPU-time clock.
    Corun,
    /// Together on one CPU, one at a time, on the wall clock.
    Turnstile,
    /// In turn, on the wall clock.
    Interleaved,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            tolerance: 0.02,
            creep: 0.05,
            session_noise: 0.02,
            alpha: 0.05,
            alpha_pass: 0.05,
            correction: Correction::Bh,
            statistic: Statistic::default(),
            min_launches: 5,
            looks: vec![
                Look { pairs: 5, weight: 0.2 },
                Look { pairs: 10, weight: 0.3 },
                Look { pairs: 20, weight: 0.5 },
            ],
            missing: Missing::Fail,
            on_inconclusive: OnInconclusive::Warn,
            noisy: Noisy::Advisory,
            trust: Trust::Launches,
            exact: BTreeMap::from([
                ("instructions".into(), ExactTolerance { relative: 0.005, absolute: 0.0 }),
                ("allocations".into(), ExactTolerance { relative: 0.0, absolute: 0.0 }),
                ("B".into(), ExactTolerance { relative: 0.0, absolute: 0.0 }),
                // Which cache lines a simulated cache hits depends on where code and data lie. Eight lines count
                // 35 cycles each, and rates of misses are points.
                ("accesses".into(), ExactTolerance { relative: 0.005, absolute: 8.0 }),
                ("cache-misses".into(), ExactTolerance { relative: 0.005, absolute: 8.0 }),
                ("cycles".into(), ExactTolerance { relative: 0.005, absolute: 280.0 }),
                ("%".into(), ExactTolerance { relative: 0.005, absolute: 0.5 }),
            ]),
            attempt: 1,
            rules: Vec::new(),
            aliases: BTreeMap::new(),
            accepted: Accepted::default(),
            learned: Vec::new(),
        }
    }
}

/// What the policy says of one metric of one benchmark, rules applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// Tolerance as a fraction.
    pub tolerance: f64,
    /// Tolerance of an exact metric.
    pub exact: ExactTolerance,
    /// Good direction.
    pub better: Better,
    /// Whether the row takes part in the outcome.
    pub gate: Gated,
    /// The pattern of the rule that set any of this.
    pub rule: Option<String>,
}

/// A policy whose patterns are compiled.
#[derive(Debug)]
pub struct Rules<'a> {
    policy: &'a Policy,
    matchers: Vec<GlobMatcher>,
}

impl Policy {
    /// Compiles the patterns of the rules.
    ///
    /// # Errors
    ///
    /// When a pattern is not a glob; the message names it.
    pub fn compile(&self) -> Result<Rules<'_>, String> {
        let matchers =
            self.rules.iter().map(|rule| glob(&rule.pattern)).collect::<Result<_, _>>()?;
        Ok(Rules { policy: self, matchers })
    }
}

/// Compiles a pattern over benchmark ids: `*` crosses `/`, `?`, `[..]` and `{a,b}` as in shells.
///
/// # Errors
///
/// When the pattern is not a glob.
pub fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    match Glob::new(pattern) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(format!("pattern `{pattern}`: {}", error.kind())),
    }
}

impl Rules<'_> {
    /// What the policy says of one metric of one benchmark against a reference.
    pub fn apply(&self, id: &BenchmarkId, metric: &Metric, reference: Reference) -> Applied {
        let mut applied = Applied {
            tolerance: match reference {
                Reference::Base => self.policy.tolerance,
                Reference::Release => self.policy.creep,
            },
            exact: self
                .policy
                .exact
                .get(metric.unit.as_str())
                .copied()
                .unwrap_or(ExactTolerance { relative: 0.0, absolute: 0.0 }),
            better: metric.better,
            gate: Gated::Yes,
            rule: None,
        };
        for rule in self.matching(id) {
            if rule.metric.as_ref().is_some_and(|name| *name != metric.name) {
                continue;
            }
            if let Some(tolerance) = rule.tolerance {
                applied.tolerance = match reference {
                    Reference::Base => tolerance,
                    Reference::Release => tolerance.max(self.policy.creep),
                };
                applied.exact = ExactTolerance { relative: tolerance, absolute: 0.0 };
            }
            applied.better = rule.better.unwrap_or(applied.better);
            applied.gate = rule.gate.unwrap_or(applied.gate);
            if rule.tolerance.is_some() || rule.better.is_some() || rule.gate.is_some() {
                applied.rule = Some(rule.pattern.clone());
            }
        }
        applied
    }

    /// How a benchmark is launched, where a rule says so.
    pub fn experiment(&self, id: &BenchmarkId) -> Option<ExperimentChoice> {
        self.matching(id).filter_map(|rule| rule.experiment).last()
    }

    fn matching<'s>(&'s self, id: &BenchmarkId) -> impl Iterator<Item = &'s Rule> + 's {
        let id = id.to_string();
        self.policy
            .rules
            .iter()
            .zip(&self.matchers)
            .filter(move |(_, matcher)| matcher.is_match(&id))
            .map(|(rule, _)| rule)
    }
}
