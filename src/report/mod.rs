//! The view model that every page is rendered from, and its renderers.
//!
//! ```text
//!            ┌─ terminal   80 columns, the answer first      ┐
//!            ├─ explain    one benchmark in depth            │ text     numbers, names, widths
//!            ├─ markdown   a comment within GitHub's limit   ├ prose    headline, circumstances
//!  Report ───┼─ html       one page with pictures            │ plot     the pictures
//!            ├─ json       the verdict file and its schema   │ element  what is escaped, and how
//!            ├─ junit      the rows as tests                 │
//!            └─ csv        the rows for a spreadsheet        ┘
//! ```
//!
//! A renderer is a pure function from a [`Report`] to text. It decides nothing and computes no statistic; colour,
//! width and verbosity are parameters.

mod csv;
mod element;
mod explain;
mod html;
mod json;
mod junit;
mod markdown;
mod plot;
mod prose;
mod publication;
mod site;
mod terminal;
mod text;
mod watch;

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use csv::csv;
pub use explain::explain;
pub use html::html;
pub use json::{VerdictFile, json, verdict_schema};
pub use junit::junit;
pub use markdown::{MARKDOWN_LIMIT, markdown};
pub use publication::{Conclusion, Origin, Page, Provenance, log_line, page, remarks, undone};
pub use site::{Release, Site, site};
pub use terminal::{Colour, Screen, Verbosity, terminal};
pub use watch::{
    AlertPage, NO_ALERT, Stage, alert_pages, chat_line, history_terminal, series_svg,
    watch_headline, watch_json, watch_markdown, watch_schema, watch_terminal,
};

use crate::gate::{OnInconclusive, Outcome, Policy, Row, Verdict};
use crate::model::{Environment, Notice, Revision};

/// Everything that a page shows. Made by [`Report::new`] or [`Report::failed`], which keep its rows in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The answer.
    pub outcome: Outcome,
    /// Every outcome that applied, in order of precedence.
    pub applied: Vec<Outcome>,
    /// Exit code that goes with the outcome under the policy.
    pub exit_code: u8,
    /// Why there is no verdict, in the words of who noticed: an error, where a baseline was looked for.
    pub cause: Option<String>,
    /// What the candidate was compared with.
    pub baseline: Side,
    /// What was judged.
    pub candidate: Side,
    /// The last release, where there was one to compare with.
    pub release: Option<Side>,
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
    /// The source that was measured, where known.
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

/// The first lines of every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// `FAIL: 1 of 24 benchmarks is slower than its tolerance: …`.
    pub answer: String,
    /// What to do about it; empty where nothing needs doing.
    pub action: String,
}

impl Report {
    /// A report on judged rows. The outcome is the first of those that applied in the order of precedence.
    ///
    /// # Panics
    ///
    /// When no outcome applied: the gate's fold is total.
    pub fn new(
        mut applied: Vec<Outcome>,
        policy: Policy,
        baseline: Side,
        candidate: Side,
        mut rows: Vec<Row>,
    ) -> Self {
        applied.sort_unstable();
        applied.dedup();
        let outcome = *applied.first().expect("the gate's fold is total");
        rows.sort_by(worst_first);
        Report {
            outcome,
            applied,
            exit_code: outcome.exit_code(policy.on_inconclusive),
            cause: None,
            baseline,
            candidate,
            release: None,
            rows,
            policy,
            plan: None,
            notices: Vec::new(),
        }
    }

    /// A report where nothing could be judged: wrong usage, a failed build, an input that cannot be read, no
    /// baseline. The message becomes the headline.
    pub fn failed(outcome: Outcome, message: impl Into<String>) -> Self {
        let (baseline, candidate) = (Side::default(), Side::default());
        Report {
            cause: Some(message.into()),
            ..Report::new(vec![outcome], Policy::default(), baseline, candidate, Vec::new())
        }
    }

    /// Number of rows with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The answer in one sentence, and what to do.
    pub fn headline(&self) -> Headline {
        prose::headline(self, prose::PLAIN)
    }

    /// Rows with a verdict, in the order of the report.
    fn rows_with(&self, verdict: Verdict) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.verdict == verdict).collect()
    }
}

impl Outcome {
    /// The process's exit code.
    pub fn exit_code(self, on_inconclusive: OnInconclusive) -> u8 {
        match (self, on_inconclusive) {
            (Outcome::Pass, _) | (Outcome::Inconclusive, OnInconclusive::Warn) => 0,
            (Outcome::Error, _) => 1,
            (Outcome::Usage, _) => 2,
            (Outcome::NothingToCompare, _) => 3,
            (Outcome::NotComparable, _) => 4,
            (Outcome::Fail, _) => 10,
            (Outcome::Inconclusive, OnInconclusive::Fail) => 11,
        }
    }
}

/// Verdicts worst first; within one what takes part in the outcome before what does not, what is open before
/// what is cleared, and the larger change before the smaller; then by id, metric and reference.
fn worst_first(a: &Row, b: &Row) -> std::cmp::Ordering {
    let rank = |row: &Row| (row.verdict, Reverse(row.gated), row.cleared);
    rank(a)
        .cmp(&rank(b))
        .then_with(|| size(b).total_cmp(&size(a)))
        .then_with(|| (&a.id, &a.metric, a.reference).cmp(&(&b.id, &b.metric, b.reference)))
        .then_with(|| (a.mode, a.experiment).cmp(&(b.mode, b.experiment)))
}

/// How much a row moved in the direction that its verdict names.
fn size(row: &Row) -> f64 {
    let grown_from_nothing = row.baseline == Some(0.0) && row.candidate.is_some_and(|c| c > 0.0);
    let worse = match row.worse_by() {
        Some(worse) if !worse.is_nan() => worse,
        _ if grown_from_nothing => f64::INFINITY,
        _ => return 0.0,
    };
    match row.verdict {
        Verdict::Regression | Verdict::Inconclusive => worse,
        Verdict::Improvement => -worse,
        _ => 0.0,
    }
}
