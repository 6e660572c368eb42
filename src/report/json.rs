//! The verdict file: what machines read. Its types are its own, so that the rest can change while the file does not.
//!
//! Keys are only ever added. Whatever is not known, or not a finite number, is `null`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

use super::{Report, Side};
use crate::compare::Noise;
use crate::gate::{Accept, Outcome, Policy, Row, Verdict};
use crate::model::{
    Better, Difference, Environment, Experiment, Mode, Notice, Reference, Revision,
};

const SCHEMA: &str = "pacegate.verdict/1";

/// Renders the verdict file.
pub fn json(report: &Report) -> String {
    let file = VerdictFile::from(report);
    let text =
        serde_json::to_string_pretty(&file).expect("its keys are strings and its numbers finite");
    text + "\n"
}

/// The JSON schema of the verdict file.
pub fn verdict_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<VerdictFile>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// The verdict file of pacegate: the answer, and for each benchmark what it was judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictFile {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The answer: the first in precedence of those that applied.
    pub outcome: Outcome,
    /// Every outcome that applied, in order of precedence.
    pub applied: Vec<Outcome>,
    /// Exit code of the process.
    pub exit_code: u8,
    /// The answer for people.
    pub headline: HeadlineEntry,
    /// Number of entries of `benchmarks` by verdict.
    pub counts: Counts,
    /// What the candidate was compared with.
    pub baseline: SideEntry,
    /// What was judged.
    pub candidate: SideEntry,
    /// The last release, where the candidate was compared with it too.
    pub release: Option<SideEntry>,
    /// Where the candidate was measured, and what was different for the baseline.
    pub environment: EnvironmentEntry,
    /// The policy that was applied.
    pub policy: Policy,
    /// How the launches were made; null where pacegate did not make them.
    pub plan: Option<PlanEntry>,
    /// One entry for each benchmark, metric and reference; worst first.
    pub benchmarks: Vec<BenchmarkEntry>,
    /// What is worth telling of the whole.
    pub notices: Vec<Notice>,
}

/// The answer for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Headline")]
pub struct HeadlineEntry {
    /// The answer in one sentence.
    pub answer: String,
    /// What to do about it; empty where nothing needs doing.
    pub action: String,
}

/// Number of entries by verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Proven worse by more than the tolerance.
    pub regression: usize,
    /// Could not be measured or read.
    pub failed: usize,
    /// Not in the candidate.
    pub removed: usize,
    /// The data cannot tell.
    pub inconclusive: usize,
    /// Not in the baseline.
    pub added: usize,
    /// Proven better by more than the tolerance.
    pub improvement: usize,
    /// Shown to lie within the tolerance.
    pub unchanged: usize,
    /// Entries of any verdict for which a regression beyond the tolerance is excluded.
    pub cleared: usize,
    /// Entries that take part in the outcome.
    pub gated: usize,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Side")]
pub struct SideEntry {
    /// Where the numbers came from, for people.
    pub label: String,
    /// The source that was measured, where known.
    pub revision: Option<Revision>,
}

/// The runner's fingerprint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunnerFingerprint")]
pub struct EnvironmentEntry {
    /// Of the candidate.
    pub candidate: Environment,
    /// Hard facts that were different for the baseline.
    pub hard_differences: Vec<DifferenceEntry>,
    /// Soft facts that were different for the baseline.
    pub soft_differences: Vec<DifferenceEntry>,
    /// Hard facts that were different for the release.
    pub release_hard_differences: Vec<DifferenceEntry>,
    /// Soft facts that were different for the release.
    pub release_soft_differences: Vec<DifferenceEntry>,
}

/// One fact that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Difference")]
pub struct DifferenceEntry {
    /// Its name.
    pub fact: String,
    /// The baseline's value.
    pub baseline: Option<String>,
    /// The candidate's value.
    pub candidate: Option<String>,
}

/// How launches were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub struct PlanEntry {
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

/// One metric of one benchmark against one reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Benchmark")]
pub struct BenchmarkEntry {
    /// Suite and name, joined by `::`; the name alone where the input names no suite.
    pub id: String,
    /// What the candidate is compared with.
    pub reference: Reference,
    /// Whether both sides were measured together.
    pub mode: Mode,
    /// How it was launched.
    pub experiment: Experiment,
    /// Name of the metric.
    pub metric: String,
    /// Unit of `baseline` and `candidate`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The answer.
    pub verdict: Verdict,
    /// Whether a regression beyond the tolerance is excluded.
    pub cleared: bool,
    /// Whether the entry takes part in the outcome.
    pub gated: bool,
    /// Why, as a sentence fragment.
    pub reason: String,
    /// Tolerance as a fraction of the baseline.
    pub tolerance: Option<f64>,
    /// Typical value of the baseline.
    pub baseline: Option<f64>,
    /// Typical value of the candidate.
    pub candidate: Option<f64>,
    /// Candidate over baseline.
    pub ratio: Option<f64>,
    /// Bounds of the ratio's interval, the lower first; a bound that is not finite is null.
    pub ci: Option<[Option<f64>; 2]>,
    /// Confidence of the interval.
    pub confidence: Option<f64>,
    /// One-sided p of "no worse than the tolerance" at the last look, uncorrected.
    pub p_raw: Option<f64>,
    /// The same over all looks and the whole suite: what was compared with alpha.
    pub p_regression: Option<f64>,
    /// The mirror of `p_regression` for "no better than the tolerance".
    pub p_improvement: Option<f64>,
    /// Launches on each side.
    pub launches: Launches,
    /// Pairs that would probably settle an inconclusive entry.
    pub launches_needed: Option<u32>,
    /// Smallest change for the worse, as a fraction, that this design catches with 90 % power.
    pub detectable: Option<f64>,
    /// Where the noise estimate came from.
    pub noise: Option<Noise>,
    /// Pattern of the rule that was applied.
    pub rule: Option<String>,
    /// What was agreed to, where that alone keeps the entry from failing the gate.
    pub accepted: Option<Accept>,
    /// What is worth telling of this entry.
    pub notices: Vec<Notice>,
}

/// Launches on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Launches {
    /// Of the baseline.
    pub baseline: u32,
    /// Of the candidate.
    pub candidate: u32,
}

impl From<&Report> for VerdictFile {
    fn from(report: &Report) -> Self {
        let headline = report.headline();
        let (baseline, candidate) = (&report.baseline.environment, &report.candidate.environment);
        let differences = |of: fn(&Environment, &Environment) -> Vec<Difference>| {
            report.release.as_ref().map_or_else(Vec::new, |side| of(&side.environment, candidate))
        };
        VerdictFile {
            schema: SCHEMA.into(),
            outcome: report.outcome,
            applied: report.applied.clone(),
            exit_code: report.exit_code,
            headline: HeadlineEntry { answer: headline.answer, action: headline.action },
            counts: Counts {
                regression: report.count(Verdict::Regression),
                failed: report.count(Verdict::Failed),
                removed: report.count(Verdict::Removed),
                inconclusive: report.count(Verdict::Inconclusive),
                added: report.count(Verdict::Added),
                improvement: report.count(Verdict::Improvement),
                unchanged: report.count(Verdict::Unchanged),
                cleared: report.rows.iter().filter(|row| row.cleared).count(),
                gated: report.rows.iter().filter(|row| row.gated).count(),
            },
            baseline: SideEntry::from(&report.baseline),
            candidate: SideEntry::from(&report.candidate),
            release: report.release.as_ref().map(SideEntry::from),
            environment: EnvironmentEntry {
                candidate: candidate.clone(),
                hard_differences: entries(baseline.hard_differences(candidate)),
                soft_differences: entries(baseline.soft_differences(candidate)),
                release_hard_differences: entries(differences(Environment::hard_differences)),
                release_soft_differences: entries(differences(Environment::soft_differences)),
            },
            policy: report.policy.clone(),
            plan: report.plan.as_ref().map(|plan| PlanEntry {
                seed: plan.seed,
                profile: plan.profile.clone(),
                cpus: plan.cpus.clone(),
                launches: plan.launches,
                repeated: plan.repeated,
                budget_spent: plan.budget_spent,
            }),
            benchmarks: report.rows.iter().map(BenchmarkEntry::from).collect(),
            notices: report.notices.clone(),
        }
    }
}

impl From<&Side> for SideEntry {
    fn from(side: &Side) -> Self {
        SideEntry { label: side.label.clone(), revision: side.revision.clone() }
    }
}

impl From<&Row> for BenchmarkEntry {
    fn from(row: &Row) -> Self {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        BenchmarkEntry {
            id: row.id.to_string(),
            reference: row.reference,
            mode: row.mode,
            experiment: row.experiment,
            metric: row.metric.name.clone(),
            unit: row.metric.unit.to_string(),
            better: row.metric.better,
            verdict: row.verdict,
            cleared: row.cleared,
            gated: row.gated,
            reason: row.reason.clone(),
            tolerance: finite(Some(row.tolerance)),
            baseline: finite(row.baseline),
            candidate: finite(row.candidate),
            ratio: finite(row.ratio),
            ci: row.ci.map(|(lo, hi)| [finite(Some(lo)), finite(Some(hi))]),
            confidence: finite(Some(row.confidence)),
            p_raw: finite(row.p_raw),
            p_regression: finite(row.p_regression),
            p_improvement: finite(row.p_improvement),
            launches: Launches { baseline: row.launches.0, candidate: row.launches.1 },
            launches_needed: row.launches_needed,
            detectable: finite(row.detectable),
            noise: row.noise,
            rule: row.rule.clone(),
            accepted: row.accepted.clone(),
            notices: row.notices.clone(),
        }
    }
}

fn entries(differences: Vec<Difference>) -> Vec<DifferenceEntry> {
    differences
        .into_iter()
        .map(|Difference { fact, baseline, candidate }| DifferenceEntry {
            fact,
            baseline,
            candidate,
        })
        .collect()
}
