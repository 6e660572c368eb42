//! The view model that every page is rendered from, and its renderers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{Outcome, Policy, Row, Verdict};
use crate::model::{Environment, Notice, Revision};

/// Everything that a page shows. Renderers decide nothing and compute no statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The answer.
    pub outcome: Outcome,
    /// Every outcome that applied, in order of precedence.
    pub applied: Vec<Outcome>,
    /// Exit code that goes with the outcome under the policy.
    pub exit_code: u8,
    /// What the candidate was compared with.
    pub baseline: Side,
    /// What was judged.
    pub candidate: Side,
    /// One row for each benchmark, metric and reference; worst first, then by id.
    pub rows: Vec<Row>,
    /// The policy that was applied.
    pub policy: Policy,
    /// How the launches were made, where pacegate made them.
    pub plan: Option<Plan>,
    /// What is worth telling of the whole.
    pub notices: Vec<Notice>,
}

/// One side of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Revision, or the names of the files.
    pub revision: Option<Revision>,
    /// Where the numbers came from, for people: `working tree on 3f2c81a`, `old.json`.
    pub label: String,
    /// Where it was measured.
    pub environment: Environment,
}

/// How launches were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every drawn order.
    pub seed: u64,
    /// Name of the profile.
    pub profile: String,
    /// CPUs that launches were pinned to.
    pub cpus: Vec<u32>,
    /// Launches in all.
    pub launches: u32,
    /// Launches that were disturbed and made again.
    pub repeated: u32,
    /// Whether a time budget ended the looking.
    pub budget_spent: bool,
}

impl Report {
    /// Number of rows with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The answer in one sentence, and what to do.
    pub fn headline(&self) -> Headline {
        let _ = self;
        unimplemented!("written with the renderers")
    }
}

/// The first line of every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// `FAIL: 1 of 24 benchmarks is slower than its tolerance`.
    pub answer: String,
    /// What to do about it; empty where nothing needs doing.
    pub action: String,
}
