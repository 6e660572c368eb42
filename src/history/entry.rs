//! What history keeps of one run: everything that a test needs, and no samples.
//!
//! ```text
//! Entry ── commit, shard, attempt       the key: three of them name one run
//!   ├── environment, baseline commit
//!   └── Row (metric of a benchmark) ── Values ─┬─ Launches: a score each
//!                                              ├─ Pairs:    scores of both arms, log ratio, looks
//!                                              ├─ Summary, Exact
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::compare::pair_score;
use crate::model::{
    BenchmarkId, Environment, Evidence, Experiment, Launch, Look, Metric, Revision, Run, Sample,
    Series, Summary,
};
use crate::stats::{Statistic, launch_score};

/// One run as history keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was measured, when, and where.
    pub head: Head,
    /// What was seen, sorted by benchmark, metric and experiment.
    pub rows: Vec<Row>,
}

/// What was measured, when, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Version of pacegate that measured; empty where another harness did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pacegate: String,
    /// The commit.
    pub commit: Commit,
    /// The part of the suite that this run holds, `all` where it was not split.
    pub shard: String,
    /// Which run of this commit and shard it is, from 1.
    pub attempt: u32,
    /// When the run began, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<i64>,
    /// The session, where pacegate measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where it was measured.
    #[serde(default)]
    pub environment: Environment,
    /// What it was launched together with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Revision>,
}

/// A commit of the default branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Full identifier.
    pub id: String,
    /// Number of commits up to it along first parents: the order, where every commit has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// When it was committed, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_s: Option<i64>,
}

impl Commit {
    /// What people call it.
    pub fn name(&self) -> &str {
        // A hash is cut; a name that somebody chose is not.
        let hash = 12 <= self.id.len() && self.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hash { &self.id[..7] } else { &self.id }
    }
}

/// What a run says of one metric of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Whose.
    pub id: BenchmarkId,
    /// Of what.
    pub metric: Metric,
    /// How it was launched.
    pub experiment: Experiment,
    /// What was seen.
    pub values: Values,
    /// Time that its launches took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Both arms ran the same executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub identical: bool,
}

/// Numbers that a test can be made of again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Values {
    /// Score of each launch alone, in the metric's unit.
    Launches(Vec<f64>),
    /// Arms that were launched together.
    Pairs {
        /// Score of each launch of the baseline.
        baseline: Vec<f64>,
        /// ln(candidate / baseline) of each pair.
        logs: Vec<f64>,
        /// The looks that were taken.
        looks: Vec<Look>,
    },
    /// Scores whose values are not at hand.
    Summary(Vec<Summary>),
    /// Counts and sizes.
    Exact(Vec<f64>),
}

/// What identifies a run beside what its evidence says.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The commit.
    pub commit: Commit,
    /// The part of the suite, `all` where it was not split.
    pub shard: String,
    /// When the run began.
    pub measured_s: Option<i64>,
    /// Version of pacegate that measured.
    pub pacegate: String,
}

/// Digits that are kept of a score that was measured: noise begins thousands of times above the last one.
const SCORE_DIGITS: usize = 8;

impl Entry {
    /// What history keeps of a candidate that was measured alone, or together with a baseline in one session.
    pub fn of(
        origin: Origin,
        baseline: Option<&Run>,
        candidate: &Run,
        statistic: Statistic,
    ) -> Self {
        let baseline =
            baseline.filter(|run| run.session.is_some() && run.session == candidate.session);
        let mut rows: Vec<Row> = candidate
            .series
            .iter()
            .filter(|series| !series.evidence.is_empty())
            .map(|series| row(series, baseline, candidate, statistic))
            .collect();
        rows.sort_by(|a, b| a.key().cmp(&b.key()));
        Entry {
            head: Head {
                pacegate: origin.pacegate,
                commit: origin.commit,
                shard: origin.shard,
                attempt: 1,
                measured_s: origin.measured_s,
                session: candidate.session.clone(),
                environment: candidate.environment.clone(),
                baseline: baseline.and_then(|run| run.revision.clone()),
            },
            rows,
        }
    }

    /// The runner class: machines on which numbers may be compared.
    pub fn class(&self) -> String {
        class(&self.head.environment)
    }

    /// The runs that a gate could judge again: the baseline where arms were launched together, and the candidate. Each
    /// launch has one sample, its score; the candidate's is set so that every pair has its ratio.
    pub fn runs(&self) -> (Option<Run>, Run) {
        let revision = |commit: &Commit| Revision {
            id: commit.id.clone(),
            name: commit.name().to_owned(),
            distance: None,
        };
        let side = |revision| Run {
            session: self.head.session.clone(),
            revision,
            environment: self.head.environment.clone(),
            ..Run::default()
        };
        let mut candidate = side(Some(revision(&self.head.commit)));
        let mut baseline = side(self.head.baseline.clone());
        for row in &self.rows {
            let series = |evidence, looks| Series {
                id: row.id.clone(),
                metric: row.metric.clone(),
                experiment: row.experiment,
                evidence,
                looks,
            };
            match &row.values {
                Values::Launches(scores) => {
                    candidate.series.push(series(launches(scores.iter().copied()), Vec::new()));
                }
                Values::Pairs { baseline: scores, logs, looks } => {
                    let theirs = scores.iter().zip(logs).map(|(score, log)| score * log.exp());
                    candidate.series.push(series(launches(theirs), looks.clone()));
                    baseline.series.push(series(launches(scores.iter().copied()), looks.clone()));
                    if row.identical {
                        // Any two equal names say that the executables are one.
                        for run in [&mut baseline, &mut candidate] {
                            run.executables.insert(row.id.suite.clone(), "identical".into());
                        }
                    }
                }
                Values::Summary(all) => {
                    candidate.series.push(series(Evidence::Summary(all.clone()), Vec::new()));
                }
                Values::Exact(all) => {
                    candidate.series.push(series(Evidence::Exact(all.clone()), Vec::new()));
                }
            }
        }
        let paired = !baseline.series.is_empty();
        (paired.then_some(baseline), candidate)
    }
}

impl Row {
    /// What no two rows of one run share.
    pub fn key(&self) -> (&BenchmarkId, &Metric, Experiment) {
        (&self.id, &self.metric, self.experiment)
    }
}

/// The runner class of an environment: what the machine is, and a hash of every hard fact, so that a change of the
/// toolchain is another class.
pub fn class(environment: &Environment) -> String {
    if environment.hard.is_empty() {
        return "unknown".into();
    }
    let mut hasher = Sha256::new();
    for (fact, value) in &environment.hard {
        hasher.update(format!("{fact}={value}\n"));
    }
    let hash: String = hasher.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    environment.class().map_or_else(|| hash.clone(), |class| format!("{class}-{hash}"))
}

fn launches(scores: impl Iterator<Item = f64>) -> Evidence {
    let launch = |(pair, score)| {
        // A launch that scored zero has no sample; neither test nor plot could use it.
        Some(Launch { pair, sample: Sample::of_values(vec![score]).ok()?, usage: None })
    };
    Evidence::Sampled((0..).zip(scores).filter_map(launch).collect())
}

fn row(series: &Series, baseline: Option<&Run>, candidate: &Run, statistic: Statistic) -> Row {
    let together = !matches!(series.experiment, Experiment::Plain | Experiment::Imported);
    let partner = baseline.filter(|_| together).and_then(|run| {
        run.series.iter().find(|other| other.id == series.id && other.metric == series.metric)
    });
    let score = |launch: &Launch| rounded(launch_score(&launch.sample.values(), statistic));
    let values = match (&series.evidence, partner.map(|partner| &partner.evidence)) {
        (Evidence::Sampled(theirs), Some(Evidence::Sampled(ours))) => {
            let by_pair: BTreeMap<u32, &Launch> = ours.iter().map(|l| (l.pair, l)).collect();
            let pairs: Vec<(&Launch, f64)> = theirs
                .iter()
                .filter_map(|launch| {
                    let partner = *by_pair.get(&launch.pair)?;
                    let log =
                        pair_score(series.experiment, &partner.sample, &launch.sample, statistic);
                    log.is_finite().then(|| (partner, rounded(log)))
                })
                .collect();
            Values::Pairs {
                baseline: pairs.iter().map(|(partner, _)| score(partner)).collect(),
                logs: pairs.iter().map(|(_, log)| *log).collect(),
                looks: series.looks.clone(),
            }
        }
        (Evidence::Sampled(launches), _) => Values::Launches(launches.iter().map(score).collect()),
        (Evidence::Scored(scores), _) => {
            Values::Launches(scores.iter().map(|launch| rounded(launch.score)).collect())
        }
        (Evidence::Summary(summaries), _) => Values::Summary(summaries.clone()),
        (Evidence::Exact(values), _) => Values::Exact(values.clone()),
    };
    let executables = |run: &Run| run.executables.get(&series.id.suite).cloned();
    let identical = baseline.is_some_and(|run| {
        executables(run).is_some() && executables(run) == executables(candidate)
    });
    Row {
        id: series.id.clone(),
        metric: series.metric.clone(),
        experiment: series.experiment,
        seconds: seconds(&series.evidence, partner.map(|partner| &partner.evidence)),
        identical: identical && matches!(values, Values::Pairs { .. }),
        values,
    }
}

/// Wall time of all launches, where every one is known. Arms of a pair run at the same time or one after the other; the
/// sum of both is right for either within the share that waits.
fn seconds(candidate: &Evidence, baseline: Option<&Evidence>) -> Option<f64> {
    let mut total = 0.0;
    for evidence in [Some(candidate), baseline].into_iter().flatten() {
        let Evidence::Sampled(launches) = evidence else { return None };
        for launch in launches {
            total += launch.usage?.wall_s;
        }
    }
    Some((total * 1e3).round() / 1e3)
}

fn rounded(value: f64) -> f64 {
    format!("{value:.SCORE_DIGITS$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Finding, Method, compare};
    use crate::model::Reference;

    fn run(session: &str, scores: &[f64], experiment: Experiment) -> Run {
        let series = Series {
            id: BenchmarkId::new("s", "b"),
            metric: Metric::time(),
            experiment,
            evidence: Evidence::Sampled(
                (0..)
                    .zip(scores)
                    .map(|(pair, score)| Launch {
                        pair,
                        sample: Sample::of_values(vec![*score, *score]).unwrap(),
                        usage: None,
                    })
                    .collect(),
            ),
            looks: Vec::new(),
        };
        Run { session: Some(session.into()), series: vec![series], ..Run::default() }
    }

    fn origin() -> Origin {
        Origin {
            commit: Commit { id: "c0ffee".into(), position: None, committed_s: None },
            shard: "all".into(),
            measured_s: None,
            pacegate: String::new(),
        }
    }

    #[test]
    fn pairs_are_judged_again_as_they_were() {
        let ours = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let theirs = [105.0, 106.5, 104.0, 105.1, 104.9, 105.3];
        for experiment in [Experiment::Corun, Experiment::Turnstile, Experiment::Interleaved] {
            let (baseline, candidate) =
                (run("x", &ours, experiment), run("x", &theirs, experiment));
            let entry = Entry::of(origin(), Some(&baseline), &candidate, Statistic::default());
            let (again, there) = entry.runs();
            let method = Method::new(Reference::Base, Statistic::default(), 0.02);
            let first = compare(&baseline, &candidate, &method);
            let second = compare(&again.unwrap(), &there, &method);
            let (Finding::Tested(a), Finding::Tested(b)) = (&first[0].finding, &second[0].finding)
            else {
                panic!("both are tested")
            };
            assert!((a[0].estimate.delta - b[0].estimate.delta).abs() < 1e-7);
            assert!((a[0].estimate.se / b[0].estimate.se - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn sessions_that_differ_are_no_pairs() {
        let (baseline, candidate) =
            (run("x", &[1.0], Experiment::Corun), run("y", &[1.0], Experiment::Corun));
        let entry = Entry::of(origin(), Some(&baseline), &candidate, Statistic::default());
        assert!(matches!(entry.rows[0].values, Values::Launches(_)));
        assert_eq!(entry.runs().0, None);
    }

    #[test]
    fn a_class_is_every_hard_fact() {
        let of = |rustc: &str| {
            let mut environment = Environment::default();
            environment.hard.insert("rustc".into(), rustc.into());
            environment.info.insert("machine".into(), "x86-64-some-cpu".into());
            class(&environment)
        };
        assert_eq!(of("1"), of("1"));
        assert_ne!(of("1"), of("2"));
        assert!(of("1").starts_with("x86-64-some-cpu-"), "{}", of("1"));
        assert_eq!(class(&Environment::default()), "unknown");
    }

    #[test]
    fn scores_keep_the_digits_that_matter() {
        assert_eq!(rounded(12_345.678_901_234), 12_345.678_9);
        assert_eq!(rounded(0.0), 0.0);
    }
}
