//! All measurements of one execution of a suite, for one side.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BenchmarkId, Environment, Evidence, Launch, Metric, Notice};

/// How launches were made. Numbers of different experiments are never compared.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// Arms together on one CPU, on the clock of their own CPU time.
    Corun,
    /// Arms together on one CPU, one running at a time, on the wall clock.
    Turnstile,
    /// Arms in turn, on the wall clock.
    Interleaved,
    /// One arm alone.
    Plain,
    /// Taken from files as they came.
    Imported,
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Experiment::Corun => "co-run",
            Experiment::Turnstile => "turnstile",
            Experiment::Interleaved => "interleaved",
            Experiment::Plain => "plain",
            Experiment::Imported => "imported",
        })
    }
}

/// The part that a run plays in a session.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Arm {
    /// What the candidate is compared with.
    Baseline,
    /// The change under test.
    Candidate,
    /// The last release.
    Release,
    /// The change under test once more, launched alone: what is compared with a stored baseline.
    Alone,
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arm::Baseline => "baseline",
            Arm::Candidate => "candidate",
            Arm::Release => "release",
            Arm::Alone => "alone",
        })
    }
}

/// What a row's candidate is compared with.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// The change's own base.
    Base,
    /// The last release.
    Release,
}

/// Whether both sides were measured together.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Launched together or in turn, in one job.
    Paired,
    /// Compared with numbers recorded at another time.
    Stored,
}

/// The source that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// Full identifier: a commit hash, or the hash of a tree that is not committed.
    pub id: String,
    /// What people call it: `3f2c81a`, `main`, `working tree on 3f2c81a`.
    pub name: String,
    /// Commits between the baseline and this revision, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}

/// One metric of one benchmark on one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Whose.
    pub id: BenchmarkId,
    /// Of what.
    pub metric: Metric,
    /// How it was measured.
    pub experiment: Experiment,
    /// The values.
    pub evidence: Evidence,
    /// The looks that the session took at this benchmark, ascending by pairs; empty for one look at everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Look>,
}

/// One look at the data of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Pairs at this look.
    pub pairs: u32,
    /// Share of the error rates that it may spend; the weights of all looks sum to at most one.
    pub weight: f64,
}

/// A benchmark that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Which one.
    pub id: BenchmarkId,
    /// What happened: `exited with code 101`.
    pub message: String,
    /// The last lines that it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// All measurements of one execution of a suite, for one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Identifies the job; launches of two runs of one session with equal pair numbers were made together.
    pub session: Option<String>,
    /// What was measured, where known.
    pub revision: Option<Revision>,
    /// Where it was measured.
    pub environment: Environment,
    /// SHA-256 of the executable of each suite, in hex, where pacegate launched it.
    pub executables: BTreeMap<String, String>,
    /// Everything measured; no two series share benchmark and metric.
    pub series: Vec<Series>,
    /// Benchmarks that could not be measured.
    pub failures: Vec<Failure>,
    /// What is worth telling.
    pub notices: Vec<Notice>,
}

impl Run {
    /// Whether no hard part of the environments differs.
    pub fn is_of_the_same_machine(&self, other: &Run) -> bool {
        self.environment.hard_differences(&other.environment).is_empty()
    }

    /// Puts several runs of one side together: their launches become the launches of one run, in the order
    /// given. What only some of them hold is kept.
    pub fn merged(runs: impl IntoIterator<Item = Run>) -> Run {
        let mut runs = runs.into_iter();
        let mut whole = runs.next().unwrap_or_default();
        let key = |series: &Series| (series.id.clone(), series.metric.clone());
        let mut all: BTreeMap<(BenchmarkId, Metric), Series> =
            whole.series.drain(..).map(|series| (key(&series), series)).collect();
        for run in runs {
            whole.session = None;
            for difference in whole.environment.hard_differences(&run.environment) {
                whole.notices.push(Notice::new(
                    "mixed-machines",
                    format!(
                        "the launches of one side come from machines that differ: {} is `{}` and `{}`",
                        difference.fact,
                        difference.baseline.unwrap_or_default(),
                        difference.candidate.unwrap_or_default()
                    ),
                    "give launches of one machine",
                ));
            }
            for series in run.series {
                match all.entry(key(&series)) {
                    Entry::Occupied(mut ours) => ours.get_mut().append(series),
                    Entry::Vacant(place) => {
                        place.insert(series);
                    }
                }
            }
            whole.failures.extend(run.failures);
            whole.notices.extend(run.notices);
        }
        whole.series = all.into_values().collect();
        whole
    }
}

impl Series {
    /// Adds the evidence of another file as further launches.
    pub(crate) fn append(&mut self, other: Series) {
        self.looks.clear();
        match (&mut self.evidence, other.evidence) {
            (Evidence::Sampled(ours), Evidence::Sampled(theirs)) => {
                let next = ours.len() as u32;
                let renumbered =
                    theirs.into_iter().zip(next..).map(|(launch, pair)| Launch { pair, ..launch });
                ours.extend(renumbered);
            }
            (Evidence::Scored(ours), Evidence::Scored(theirs)) => ours.extend(theirs),
            (Evidence::Summary(ours), Evidence::Summary(theirs)) => ours.extend(theirs),
            (Evidence::Exact(ours), Evidence::Exact(theirs)) => ours.extend(theirs),
            // A score beside samples cannot be weighed against them: the later file wins nothing and loses nothing
            // that is needed, since the samples say more.
            (Evidence::Sampled(_), _) => {}
            (ours, theirs) => *ours = theirs,
        }
    }
}
