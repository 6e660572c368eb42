//! `history`: keeps runs of the default branch, shows them, takes those of other tools in.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;

use crate::config::Config;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::gate::glob;
use crate::history::{Commit, Entry, Origin, Timeline};
use crate::ingest::{self, Options};
use crate::measure::revisions::standing;
use crate::model::{Arm, BenchmarkId};
use crate::report::history_terminal;
use crate::store::Limits;
use crate::store::evidence::{Ending, EvidenceFile};
use crate::store::history::{Added, BYTES_MAX, Kept, Store};

use super::evidence::EVIDENCE;
use super::{Output, output};

/// Where history is kept where nothing else is said.
const FOLDER: &str = "history";

/// Which store.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct StoreArgs {
    /// Where history is kept: a folder, `git:REMOTE`, `git:REMOTE#BRANCH`, or `s3://BUCKET/PREFIX` (also gs, az). The
    /// `history` of pacegate.yaml if absent, and the folder `history` without that.
    #[arg(long, value_name = "STORE")]
    pub(super) store: Option<String>,
    /// How large the store may grow, in MiB (1024 if absent).
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

impl StoreArgs {
    pub(super) fn open(&self, output: &Output) -> Result<Store> {
        let config = Config::read(&output.config)?;
        let name = self.store.clone().or(config.history).unwrap_or_else(|| FOLDER.into());
        let limit = self.limit.map_or(BYTES_MAX, |mebibytes| mebibytes << 20);
        Ok(Store::open(&name, Path::new("."))?.limited(limit))
    }

    /// Everything that the store holds; damaged files are told.
    pub(super) fn read(&self, output: &Output) -> Result<(Store, Kept)> {
        let store = self.open(output)?;
        let kept = store.read()?;
        for notice in &kept.notices {
            output::say(&format!("pacegate: {}; {}", notice.seen, notice.advice));
        }
        if kept.entries.is_empty() {
            return Err(Error::new(
                ErrorKind::NothingToCompare,
                format!("{}: it holds no run; `pacegate history add` keeps one", store.name()),
            ));
        }
        Ok((store, kept))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum HistoryCommand {
    /// Keep the run of an evidence file.
    Add(AddArgs),
    /// Show the series, or one in depth.
    Show(ShowArgs),
    /// Keep the runs of another tool's file: a data.js with its whole history, or any result file with --commit.
    Import(ImportArgs),
    /// Write every run as Parquet, for DuckDB, DataFusion, Spark and their like.
    Export(ExportArgs),
    /// Remove the runs of old commits.
    Prune(PruneArgs),
}

#[derive(Args, Debug)]
pub(super) struct AddArgs {
    /// Evidence of `check` or `run`; that of the last one if absent.
    #[arg(value_name = "EVIDENCE")]
    evidence: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// The commit that was measured; the one that the evidence names if absent.
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// The part of the suite that was measured.
    #[arg(long, value_name = "NAME", default_value = "all")]
    shard: String,
    /// Which run of the commit it is; the next one if absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempt: Option<u32>,
}

#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// Benchmarks: names or globs; all if absent.
    #[arg(value_name = "BENCH")]
    benchmarks: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    /// Any file that `compare` reads.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
    /// The commit that was measured, for files that do not say so.
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// When it was measured, for files that do not say so: `2026-03-01` or `2026-03-01T12:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    date: Option<i64>,
    /// The runner class, for files that say nothing of the machine.
    #[arg(long, value_name = "NAME", default_value = "imported")]
    class: String,
}

#[derive(Args, Debug)]
pub(super) struct ExportArgs {
    /// Where the files go: a folder that is empty or not there yet.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Args, Debug)]
pub(super) struct PruneArgs {
    /// How many of the newest commits stay.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: u32,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn history(command: &HistoryCommand, output: &Output) -> Result<u8> {
    match command {
        HistoryCommand::Add(arguments) => add(arguments, output),
        HistoryCommand::Show(arguments) => show(arguments, output),
        HistoryCommand::Import(arguments) => import(arguments, output),
        HistoryCommand::Export(arguments) => export(arguments, output),
        HistoryCommand::Prune(arguments) => prune(arguments, output),
    }
}

fn add(arguments: &AddArgs, output: &Output) -> Result<u8> {
    let path = arguments.evidence.clone().unwrap_or_else(|| output.out.join(EVIDENCE));
    let file = EvidenceFile::read(&path, &Limits::OWN)?;
    let entry = entry_of(&file, arguments).context(|| path.display().to_string())?;
    keep(&arguments.store.open(output)?, &[entry], arguments.attempt)
}

fn entry_of(file: &EvidenceFile, arguments: &AddArgs) -> Result<Entry> {
    if file.ending == Ending::Interrupted {
        return Err(Error::judge("the session was interrupted; history keeps whole runs"));
    }
    let Some(candidate) = file.runs.get(&Arm::Candidate) else {
        return Err(Error::usage("it holds no candidate; give evidence of `check` or `run`"));
    };
    let measured = candidate.revision.as_ref();
    let commit = match (&arguments.commit, measured) {
        (Some(commit), _) => commit.clone(),
        (None, Some(revision)) if revision.name.starts_with("work tree") => {
            return Err(Error::usage(
                "it is of a work tree with changes that no commit holds; commit them and measure, or name one with --commit",
            ));
        }
        (None, Some(revision)) => revision.id.clone(),
        (None, None) => {
            return Err(Error::usage("it does not say what was measured; name it with --commit"));
        }
    };
    let origin = Origin {
        commit: commit_of(commit),
        shard: arguments.shard.clone(),
        measured_s: file.started.map(Timestamp::as_second),
        pacegate: file.pacegate.clone(),
    };
    let baseline = file.runs.get(&Arm::Baseline);
    Ok(Entry::of(origin, baseline, candidate, file.policy.statistic))
}

/// A commit with its place on the branch, where this repository knows it.
fn commit_of(id: String) -> Commit {
    let standing = standing(Path::new("."), &id);
    Commit { id, position: standing.position, committed_s: standing.committed_s }
}

fn keep(store: &Store, entries: &[Entry], attempt: Option<u32>) -> Result<u8> {
    let added = store.add(entries, attempt)?;
    let kept = added.iter().filter(|added| matches!(added, Added::Kept { .. })).count();
    let size = store.size()?;
    let what = match added.as_slice() {
        [Added::Kept { path, .. }] => format!("kept {path}"),
        [Added::There { path }] => format!("{path} was there already"),
        all => format!("kept {kept} runs, {} were there already", all.len() - kept),
    };
    output::print(&format!(
        "{what}\n{}: {} files, {:.1} KiB\n",
        store.name(),
        size.files,
        size.bytes as f64 / 1024.0
    ))?;
    if let Some(notice) = store.fullness(size) {
        output::say(&format!("pacegate: {}; {}", notice.seen, notice.advice));
    }
    Ok(0)
}

fn show(arguments: &ShowArgs, output: &Output) -> Result<u8> {
    let (_, kept) = arguments.store.read(output)?;
    let timeline = Timeline::of(&kept.entries);
    let patterns = arguments
        .benchmarks
        .iter()
        .map(|pattern| glob(pattern).map_err(Error::usage))
        .collect::<Result<Vec<_>>>()?;
    let wanted = |id: &BenchmarkId| {
        let shown = id.to_string();
        patterns.is_empty()
            || arguments.benchmarks.iter().any(|name| *name == id.name || *name == shown)
            || patterns.iter().any(|pattern| pattern.is_match(&shown))
    };
    if timeline.series.is_empty() {
        return Err(Error::usage(
            "the store holds no series; launches made beside another revision are no points of one, so add evidence of `pacegate run`",
        ));
    }
    if !timeline.series.iter().any(|track| wanted(&track.key.id)) {
        return Err(Error::usage(format!(
            "no series is called `{}`; `pacegate history show` lists them",
            arguments.benchmarks.join("`, `")
        )));
    }
    output::print(&history_terminal(&timeline, &wanted, &output::screen(output)))?;
    Ok(0)
}

fn import(arguments: &ImportArgs, output: &Output) -> Result<u8> {
    let shown = || arguments.file.display().to_string();
    let made = ingest::read_history(&arguments.file, &Options::default())?;
    let mut entries = Vec::with_capacity(made.len());
    let several = 1 < made.len();
    for (place, made) in made.into_iter().enumerate() {
        let mut run = made.run;
        for notice in &run.notices {
            output::say(&format!("pacegate: {}", notice.seen));
        }
        let id = match (&arguments.commit, run.revision.take()) {
            (Some(_), _) if several => {
                return Err(Error::usage(
                    "it holds several runs, so one --commit cannot name them; leave it out",
                )
                .within(shown()));
            }
            (Some(commit), _) => commit.clone(),
            (None, Some(revision)) => revision.id,
            (None, None) => {
                return Err(Error::usage(
                    "it does not say what was measured; name it with --commit",
                )
                .within(shown()));
            }
        };
        if run.environment.hard.is_empty() {
            run.environment.hard.insert("class".into(), arguments.class.clone());
        }
        let mut suites: Vec<&str> = run.series.iter().map(|series| &*series.id.suite).collect();
        suites.dedup();
        let shard = match suites.as_slice() {
            [suite] if !suite.is_empty() => (*suite).to_owned(),
            _ => "all".into(),
        };
        let mut commit = commit_of(id);
        if several {
            // Its runs are in the order in which they were made, whatever the clocks of the commits said.
            commit = Commit { position: None, committed_s: None, ..commit };
        }
        let origin = Origin {
            commit,
            shard,
            measured_s: made.at_s.or(arguments.date).or(several.then_some(place as i64)),
            pacegate: String::new(),
        };
        entries.push(Entry::of(origin, None, &run, crate::stats::Statistic::default()));
    }
    entries.retain(|entry| !entry.rows.is_empty());
    if entries.is_empty() {
        return Err(Error::new(
            ErrorKind::NothingToCompare,
            "it holds no run; look at how it was written",
        )
        .within(shown()));
    }
    keep(&arguments.store.open(output)?, &entries, None)
}

#[cfg(feature = "parquet")]
fn export(arguments: &ExportArgs, output: &Output) -> Result<u8> {
    let (_, kept) = arguments.store.read(output)?;
    let exported = crate::store::export::export(&kept.entries, &arguments.folder)?;
    output::print(&format!(
        "{} rows of {} runs in {} files below {}\n",
        exported.rows,
        kept.entries.len(),
        exported.files,
        arguments.folder.display()
    ))?;
    Ok(0)
}

#[cfg(not(feature = "parquet"))]
fn export(arguments: &ExportArgs, output: &Output) -> Result<u8> {
    let store = arguments.store.open(output)?.name();
    Err(Error::usage(format!(
        "{store}: it cannot be exported to {} by this pacegate, which was built without Parquet; build it with `--features \
         parquet`",
        arguments.folder.display()
    )))
}

fn prune(arguments: &PruneArgs, output: &Output) -> Result<u8> {
    let (store, kept) = arguments.store.read(output)?;
    let commits: Vec<String> =
        Timeline::of(&kept.entries).commits.into_iter().map(|commit| commit.id).collect();
    let gone = store.prune(&commits, arguments.keep as usize)?;
    let size = store.size()?;
    output::print(&format!(
        "removed {gone} runs\n{}: {} files, {:.1} KiB\n",
        store.name(),
        size.files,
        size.bytes as f64 / 1024.0
    ))?;
    Ok(0)
}

/// Seconds since 1970 of a date or a moment.
fn time(text: &str) -> Result<i64, String> {
    let midnight = format!("{text}T00:00:00Z");
    text.parse::<Timestamp>()
        .or_else(|_| midnight.parse())
        .map(Timestamp::as_second)
        .map_err(|_| "write `2026-03-01` or `2026-03-01T12:00:00Z`".to_owned())
}
