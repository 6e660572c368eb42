//! `shard`: one suite on many machines, each benchmark on one, and the parts put together again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::error::{Context, Error, ErrorKind, Result};
use crate::history::shard::{SCHEMA, Shards, durations, plan};
use crate::model::{BenchmarkId, Notice, Run};
use crate::store::Limits;
use crate::store::evidence::{Ending, EvidenceFile};

use super::evidence::{EVIDENCE, report_of};
use super::history::StoreArgs;
use super::{Output, output};

#[derive(Debug, Subcommand)]
pub(super) enum ShardCommand {
    /// Share out the benchmarks by how long they took; prints a matrix for GitHub Actions.
    Plan(PlanArgs),
    /// Put the evidence of all parts together, check that every benchmark was measured once, and judge.
    Merge(MergeArgs),
}

#[derive(Args, Debug)]
pub(super) struct PlanArgs {
    /// How many machines.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    shards: u32,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Args, Debug)]
pub(super) struct MergeArgs {
    /// Evidence of each part.
    #[arg(value_name = "EVIDENCE", required = true)]
    evidence: Vec<PathBuf>,
    /// The plan that the parts were measured by.
    #[arg(long, value_name = "FILE")]
    shard_plan: PathBuf,
}

pub(super) fn shard(command: &ShardCommand, output: &Output) -> Result<u8> {
    match command {
        ShardCommand::Plan(arguments) => {
            let (_, kept) = arguments.store.read(output)?;
            let known = durations(&kept.entries);
            let newest: BTreeMap<BenchmarkId, Option<f64>> = newest(&kept.entries)
                .into_iter()
                .map(|id| {
                    let seconds = known.get(&id).copied();
                    (id, seconds)
                })
                .collect();
            let plan = plan(&newest, arguments.shards);
            let json = serde_json::to_string(&plan).expect("every number is finite");
            output::print(&format!("{json}\n"))?;
            Ok(0)
        }
        ShardCommand::Merge(arguments) => merge(arguments, output),
    }
}

/// The benchmarks of the newest commit, whichever shards measured it.
fn newest(entries: &[crate::history::Entry]) -> BTreeSet<BenchmarkId> {
    let timeline = crate::history::Timeline::of(entries);
    let last = timeline.commits.last().map(|commit| &commit.id);
    entries
        .iter()
        .filter(|entry| Some(&entry.head.commit.id) == last)
        .flat_map(|entry| entry.rows.iter().map(|row| row.id.clone()))
        .collect()
}

/// Reads a plan, of which `shard` must be a part.
pub(super) fn read_plan(path: &Path, shard: u32) -> Result<Shards> {
    let shown = || path.display().to_string();
    let text = fs::read_to_string(path).context(shown)?;
    let plan: Shards = serde_json::from_str(&text)
        .map_err(|error| Error::usage(format!("it is no plan of `pacegate shard plan`: {error}")))
        .context(shown)?;
    if plan.schema != SCHEMA {
        return Err(Error::usage(format!("its format is `{}`, not `{SCHEMA}`", plan.schema))
            .within(shown()));
    }
    let parts = plan.include.len() as u32;
    if shard == 0 || parts < shard {
        return Err(Error::usage(format!("it has the parts 1 to {parts}, and no part {shard}"))
            .within(shown()));
    }
    Ok(plan)
}

fn merge(arguments: &MergeArgs, output: &Output) -> Result<u8> {
    let plan = read_plan(&arguments.shard_plan, 1)?;
    let mut files = Vec::new();
    for path in &arguments.evidence {
        let file = EvidenceFile::read(path, &Limits::OWN)?;
        if file.ending == Ending::Interrupted {
            return Err(Error::judge("the session was interrupted; measure this part again")
                .within(path.display().to_string()));
        }
        files.push((path, file));
    }
    let (first_path, first) = &files[0];
    for (path, file) in &files[1..] {
        if let Some(difference) = different(first, file) {
            return Err(Error::usage(format!(
                "{} and {} are not parts of one run: {difference}; measure both anew",
                first_path.display(),
                path.display()
            )));
        }
    }
    let measured = |file: &EvidenceFile| -> BTreeSet<BenchmarkId> {
        let runs = file.runs.values();
        runs.flat_map(|run| {
            let series = run.series.iter().map(|series| &series.id);
            series.chain(run.failures.iter().map(|failure| &failure.id)).cloned()
        })
        .collect()
    };
    let all: Vec<BenchmarkId> = files.iter().flat_map(|(_, file)| measured(file)).collect();
    let (missing, several) = plan.coverage(&all);
    if let Some(first) = several.first() {
        return Err(Error::judge(format!(
            "{} benchmarks were measured by several parts, among them `{first}`; give each part once",
            several.len()
        )));
    }
    let merged = merged(files.into_iter().map(|(_, file)| file).collect(), &missing, &plan);
    fs::create_dir_all(&output.out)?;
    merged.write(&output.out.join(EVIDENCE))?;
    if missing.is_empty() {
        return output::deliver(&report_of(&merged)?, output);
    }
    Err(Error::new(
        ErrorKind::Judge,
        format!(
            "{} of the planned benchmarks were measured by no part, among them `{}`; give the evidence of every part",
            missing.len(),
            missing[0]
        ),
    ))
}

/// What makes two files no parts of one run.
fn different(a: &EvidenceFile, b: &EvidenceFile) -> Option<String> {
    if a.runs.keys().ne(b.runs.keys()) {
        return Some("they have other arms".into());
    }
    for (arm, ours) in &a.runs {
        let revision = |run: &Run| run.revision.as_ref().map(|revision| revision.id.clone());
        if revision(ours) != revision(&b.runs[arm]) {
            return Some(format!("their {arm} is another revision"));
        }
    }
    // What each machine learned of its own benchmarks is no part of what it was asked.
    let asked =
        |file: &EvidenceFile| crate::gate::Policy { learned: Vec::new(), ..file.policy.clone() };
    (asked(a) != asked(b)).then(|| "their policies differ".into())
}

/// The parts as one session. Every comparison stays within the part that measured it, since no benchmark is in two.
fn merged(files: Vec<EvidenceFile>, missing: &[String], plan: &Shards) -> EvidenceFile {
    let parts = files.len();
    let mut files = files.into_iter();
    let mut whole = files.next().expect("there is a part");
    let mut sessions: Vec<String> =
        whole.runs.values().filter_map(|run| run.session.clone()).collect();
    for file in files {
        whole.policy.learned.extend(file.policy.learned);
        whole.notices.extend(file.notices);
        if let (Some(ours), Some(theirs)) = (&mut whole.plan, file.plan) {
            ours.launches += theirs.launches;
            ours.repeated += theirs.repeated;
            ours.budget_spent |= theirs.budget_spent;
        }
        for (arm, run) in file.runs {
            sessions.extend(run.session.clone());
            let ours = whole.runs.get_mut(&arm).expect("the arms are the same");
            for difference in ours.environment.hard_differences(&run.environment) {
                whole.notices.push(Notice::new(
                    "shards-differ",
                    format!("the machines of the parts differ: {}", difference.fact),
                    "each benchmark was compared on one machine, so the verdicts hold",
                ));
            }
            ours.series.extend(run.series);
            ours.failures.extend(run.failures);
            ours.notices.extend(run.notices);
            ours.executables.extend(run.executables);
        }
    }
    sessions.sort();
    sessions.dedup();
    let session = sessions.join("+");
    for run in whole.runs.values_mut() {
        run.session = Some(session.clone());
        run.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
        run.failures.sort_by(|a, b| a.id.cmp(&b.id));
    }
    whole.notices.push(Notice::new(
        "shards",
        format!("{parts} of {} parts were put together", plan.include.len()),
        if missing.is_empty() { "" } else { "some are missing" },
    ));
    whole.notices.sort();
    whole.notices.dedup();
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Policy;
    use crate::model::{Arm, Evidence, Experiment, Launch, Metric, Revision, Sample, Series};

    fn part(session: &str, names: &[&str]) -> EvidenceFile {
        let run = |revision: &str| Run {
            session: Some(session.into()),
            revision: Some(Revision { id: revision.into(), name: revision.into(), distance: None }),
            series: names
                .iter()
                .map(|name| Series {
                    id: BenchmarkId::new("s", *name),
                    metric: Metric::time(),
                    experiment: Experiment::Corun,
                    evidence: Evidence::Sampled(
                        (0..5)
                            .map(|pair| Launch {
                                pair,
                                sample: Sample::of_values(vec![1.0, 1.01]).unwrap(),
                                usage: None,
                            })
                            .collect(),
                    ),
                    looks: Vec::new(),
                })
                .collect(),
            ..Run::default()
        };
        EvidenceFile {
            pacegate: String::new(),
            started: None,
            policy: Policy::default(),
            plan: None,
            notices: Vec::new(),
            runs: BTreeMap::from([(Arm::Baseline, run("old")), (Arm::Candidate, run("new"))]),
            ending: Ending::Complete,
        }
    }

    #[test]
    fn parts_become_one_run_that_is_paired() {
        let ids = ["a", "b", "c"].map(|name| (BenchmarkId::new("s", name), None));
        let plan = plan(&BTreeMap::from(ids), 2);
        let whole = merged(vec![part("x", &["a", "c"]), part("y", &["b"])], &[], &plan);
        let report = report_of(&whole).unwrap();
        assert_eq!(report.rows.len(), 3);
        assert!(report.rows.iter().all(|row| row.mode == crate::model::Mode::Paired));
        assert_eq!(different(&part("x", &["a"]), &part("y", &["b"])), None);
    }

    #[test]
    fn parts_of_other_runs_are_told() {
        let mut other = part("y", &["b"]);
        other.runs.get_mut(&Arm::Candidate).unwrap().revision = None;
        assert_eq!(
            different(&part("x", &["a"]), &other).unwrap(),
            "their candidate is another revision"
        );
        let mut other = part("y", &["b"]);
        other.policy.tolerance = 0.5;
        assert_eq!(different(&part("x", &["a"]), &other).unwrap(), "their policies differ");
    }
}
