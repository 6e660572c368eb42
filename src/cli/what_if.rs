//! `what-if`: stored evidence judged by another policy.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::assess::{Sides, assess};
use crate::config::{Config, chance, tolerance};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::gate::{Policy, Verdict};
use crate::history::{Entry, Timeline, learn};
use crate::model::{Arm, Run};
use crate::report::Report;
use crate::store::Limits;
use crate::store::evidence::EvidenceFile;

use super::history::StoreArgs;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct WhatIfArgs {
    /// Evidence of `check`; the runs of the history if absent.
    #[arg(value_name = "EVIDENCE", conflicts_with = "last")]
    evidence: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// How many of the newest runs of the history are judged; all if absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    /// Tolerance of every benchmark whose rule names none: `3%`.
    #[arg(long, value_name = "TOLERANCE", value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Error rate of a suite: `0.01`.
    #[arg(long, value_name = "ALPHA", value_parser = chance)]
    alpha: Option<f64>,
    /// Judge by pacegate.yaml as it is now, rather than by the policy of the time.
    #[arg(long)]
    now: bool,
}

/// One run that is judged twice.
struct Case {
    name: String,
    baseline: Run,
    candidate: Run,
    policy: Policy,
}

pub(super) fn what_if(arguments: &WhatIfArgs, output: &Output) -> Result<u8> {
    let config = Config::read(&output.config)?;
    let cases = if arguments.evidence.is_empty() {
        let (_, kept) = arguments.store.read(output)?;
        let mut cases = of_history(&kept.entries, &config.policy);
        if let Some(last) = arguments.last {
            cases.drain(..cases.len().saturating_sub(last as usize));
        }
        cases
    } else {
        arguments.evidence.iter().map(|path| of_evidence(path)).collect::<Result<_>>()?
    };
    if cases.is_empty() {
        return Err(Error::new(
            ErrorKind::NothingToCompare,
            "no run of the history has one before it on the same runner; keep more with `pacegate history add`",
        ));
    }
    let other = |policy: &Policy| {
        let mut policy = if arguments.now { config.policy.clone() } else { policy.clone() };
        policy.tolerance = arguments.tolerance.unwrap_or(policy.tolerance);
        policy.alpha = arguments.alpha.unwrap_or(policy.alpha);
        policy
    };
    let mut text = String::new();
    let (mut before, mut after, mut open) = (0, 0, 0);
    for case in &cases {
        let judged = |policy: &Policy| -> Result<Report> {
            let sides =
                Sides { baseline: &case.baseline, candidate: &case.candidate, release: None };
            assess(sides, policy, None).map_err(Error::usage).context(|| case.name.clone())
        };
        let policy = other(&case.policy);
        let policy = Policy { learned: case.policy.learned.clone(), ..policy };
        let (was, would) = (judged(&case.policy)?, judged(&policy)?);
        before += usize::from(red(&was));
        after += usize::from(red(&would));
        open += usize::from(!red(&would) && would.rows.iter().any(|row| row.gated && !row.cleared));
        let differs = red(&was) != red(&would);
        if differs || red(&would) || output.verbose {
            let _ = writeln!(
                text,
                "  {:<12}  {} -> {}{}",
                case.name,
                was.outcome.name(),
                would.outcome.name(),
                worst(&would)
            );
        }
    }
    let runs = if cases.len() == 1 { "run" } else { "runs" };
    let alarms = if after == 1 { "alarm" } else { "alarms" };
    output::print(&format!(
        "over the last {} {runs} {} would have raised {after} {alarms}, and left {open} undecided; as they were judged: {before}\n{text}",
        cases.len(),
        named(arguments),
    ))?;
    Ok(0)
}

/// What is asked, in words.
fn named(arguments: &WhatIfArgs) -> String {
    let mut words = Vec::new();
    if arguments.now {
        words.push("the policy of today".to_owned());
    }
    if let Some(tolerance) = arguments.tolerance {
        words.push(format!("tolerance {} %", trimmed(100.0 * tolerance)));
    }
    if let Some(alpha) = arguments.alpha {
        words.push(format!("alpha {alpha}"));
    }
    if words.is_empty() { "the same policy".into() } else { words.join(" with ") }
}

fn trimmed(value: f64) -> String {
    format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn red(report: &Report) -> bool {
    report.rows.iter().any(|row| row.gated && row.verdict == Verdict::Regression)
}

/// The worst regression, in words.
fn worst(report: &Report) -> String {
    let row = report.rows.iter().find(|row| row.gated && row.verdict == Verdict::Regression);
    row.map_or_else(String::new, |row| {
        let change =
            row.worse_by().map_or(String::new(), |worse| format!(" {:+.1} %", 100.0 * worse));
        format!("  {}{change}", row.id)
    })
}

fn of_evidence(path: &Path) -> Result<Case> {
    let mut file = EvidenceFile::read(path, &Limits::OWN)?;
    let mut arm = |arm: Arm| {
        file.runs.remove(&arm).ok_or_else(|| {
            Error::usage(format!("it holds no {arm}; give evidence of `pacegate check`"))
                .within(path.display().to_string())
        })
    };
    let (baseline, candidate) = (arm(Arm::Baseline)?, arm(Arm::Candidate)?);
    Ok(Case { name: path.display().to_string(), baseline, candidate, policy: file.policy })
}

/// Runs that were launched beside their baseline are judged as they were; a run alone is judged against the one before it
/// of the same runner class and shard.
fn of_history(entries: &[Entry], policy: &Policy) -> Vec<Case> {
    let timeline = Timeline::of(entries);
    let place = |entry: &Entry| {
        timeline.commits.iter().position(|commit| commit.id == entry.head.commit.id)
    };
    let mut sorted: Vec<(Option<usize>, &Entry)> =
        entries.iter().map(|entry| (place(entry), entry)).collect();
    sorted.sort_by(|(a, ours), (b, theirs)| {
        let key = |entry: &Entry| (entry.head.shard.clone(), entry.head.attempt);
        a.cmp(b).then_with(|| key(ours).cmp(&key(theirs)))
    });
    let mut learned = std::collections::BTreeMap::new();
    let mut last: std::collections::BTreeMap<(String, String), &Entry> =
        std::collections::BTreeMap::new();
    let mut cases = Vec::new();
    for (_, entry) in sorted {
        let class = entry.class();
        let taught = learned.entry(class.clone()).or_insert_with(|| learn(entries, &class)).clone();
        let key = (class, entry.head.shard.clone());
        let (baseline, candidate) = entry.runs();
        let baseline = baseline.or_else(|| {
            let before =
                last.get(&key).filter(|before| before.head.commit.id != entry.head.commit.id);
            before.map(|before| before.runs().1)
        });
        last.insert(key, entry);
        if let Some(baseline) = baseline {
            cases.push(Case {
                name: entry.head.commit.name().to_owned(),
                baseline,
                candidate,
                policy: Policy { learned: taught, ..policy.clone() },
            });
        }
    }
    cases
}
