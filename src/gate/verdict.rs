//! What the gate says: of one benchmark, and of all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accept::Accept;
use crate::compare::{Noise, Scores};
use crate::model::{BenchmarkId, Better, Experiment, Metric, Mode, Notice, Reference};

/// What the gate says of one metric of one benchmark.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Proven worse by more than the tolerance.
    Regression,
    /// It could not be measured or read.
    Failed,
    /// The candidate no longer has it.
    Removed,
    /// The data cannot tell.
    Inconclusive,
    /// The baseline did not have it.
    Added,
    /// Proven better by more than the tolerance.
    Improvement,
    /// Proven to lie within the tolerance.
    Unchanged,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Verdict; 7] = [
        Verdict::Regression,
        Verdict::Failed,
        Verdict::Removed,
        Verdict::Inconclusive,
        Verdict::Added,
        Verdict::Improvement,
        Verdict::Unchanged,
    ];

    /// Its name in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Regression => "regression",
            Verdict::Failed => "failed",
            Verdict::Removed => "removed",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Added => "added",
            Verdict::Improvement => "improvement",
            Verdict::Unchanged => "unchanged",
        }
    }
}

/// What the gate says of everything: the fold of the rows. The order is that of precedence: the first one
/// that applies wins.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Wrong flags or configuration.
    Usage,
    /// A proven regression, or a removed benchmark where the policy forbids it.
    Fail,
    /// A build, a bench or an input could not be judged.
    Error,
    /// A hard part of the environment differs.
    NotComparable,
    /// No baseline, no common benchmark, empty input.
    NothingToCompare,
    /// Some gated row is neither red nor cleared.
    Inconclusive,
    /// Every gated row is cleared.
    Pass,
}

impl Outcome {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Usage => "usage",
            Outcome::Fail => "fail",
            Outcome::Error => "error",
            Outcome::NotComparable => "not_comparable",
            Outcome::NothingToCompare => "nothing_to_compare",
            Outcome::Inconclusive => "inconclusive",
            Outcome::Pass => "pass",
        }
    }
}

/// The gate's answer for one metric of one benchmark against one reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Whose.
    pub id: BenchmarkId,
    /// Of what, with the direction that was applied.
    pub metric: Metric,
    /// Compared with what.
    pub reference: Reference,
    /// Measured together or apart.
    pub mode: Mode,
    /// How it was launched.
    pub experiment: Experiment,
    /// The answer.
    pub verdict: Verdict,
    /// Whether a regression beyond the tolerance, or beyond what was accepted, is excluded.
    pub cleared: bool,
    /// Whether the row takes part in the outcome.
    pub gated: bool,
    /// Why, in one sentence fragment.
    pub reason: String,
    /// Tolerance that was applied, as a fraction.
    pub tolerance: f64,
    /// Typical value of each side in the metric's unit: the median of its launch scores.
    pub baseline: Option<f64>,
    /// See `baseline`.
    pub candidate: Option<f64>,
    /// Candidate over baseline; above 1 is slower for times. Absent where it cannot be formed.
    pub ratio: Option<f64>,
    /// Ordinary interval of the ratio at `confidence`.
    pub ci: Option<(f64, f64)>,
    /// Confidence of `ci`, 0.95 unless said otherwise.
    pub confidence: f64,
    /// One-sided p of "no worse than the tolerance" at the last look, uncorrected.
    pub p_raw: Option<f64>,
    /// The same over all looks and the whole suite: what was compared with alpha.
    pub p_regression: Option<f64>,
    /// The mirror of `p_regression`.
    pub p_improvement: Option<f64>,
    /// Launches on each side, baseline first.
    pub launches: (u32, u32),
    /// Pairs that would probably settle an inconclusive row; absent where none would.
    pub launches_needed: Option<u32>,
    /// Smallest change for the worse, as a fraction, that this design would catch with 90 % power.
    pub detectable: Option<f64>,
    /// Where the noise estimate came from.
    pub noise: Option<Noise>,
    /// Pattern of the rule that was applied.
    pub rule: Option<String>,
    /// What was agreed to, where that alone keeps a row that is worse than its tolerance from failing the gate.
    pub accepted: Option<Accept>,
    /// Scores of the pairs (or of the launches of each side) in measured order, for pictures and `explain`.
    pub scores: Scores,
    /// What is worth telling of this row.
    pub notices: Vec<Notice>,
}

/// How near to the border between unchanged and improved an estimate counts as lying on it, in tolerances. Simulated
/// suites without a change need ten pairs on average with it; with half of it, and more settled rows, half a pair more.
const BORDER: f64 = 2.0 / 3.0;

impl Row {
    /// Whether a further look at the benchmark is worth its launches.
    ///
    /// It is while a regression is neither proven nor excluded. Once it is excluded, what is left to learn is whether
    /// the change lies within the tolerance or is an improvement. That is worth the launches of the second look, which are
    /// few, where the estimate lies clear of the border between the two; on the border they would be spent in vain.
    pub fn wants_more(&self) -> bool {
        let clear_of_border = self
            .worse_by()
            .is_some_and(|worse| BORDER * self.tolerance < (worse + self.tolerance).abs());
        let worth_a_second_look = self.scores.looks.len() == 1 && clear_of_border;
        match self.verdict {
            Verdict::Inconclusive => !self.cleared || worth_a_second_look,
            // Whether it is past what was agreed to is open.
            Verdict::Regression => self.accepted.is_some() && !self.cleared,
            _ => false,
        }
    }

    /// The change for the worse as a fraction: positive is worse, whichever way the metric points.
    pub fn worse_by(&self) -> Option<f64> {
        self.ratio.map(|ratio| match self.metric.better {
            Better::Lower | Better::Unknown => ratio - 1.0,
            Better::Higher => 1.0 / ratio - 1.0,
        })
    }
}
