//! `replay` and `explain`: stored evidence, looked at again.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::assess::session;
use crate::error::{Error, Result};
use crate::gate::glob;
use crate::report::{self, Report};
use crate::store::Limits;
use crate::store::evidence::EvidenceFile;

use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// Evidence of a `check`.
    #[arg(value_name = "EVIDENCE")]
    evidence: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// Benchmark, or a glob that matches one.
    #[arg(value_name = "BENCH")]
    benchmark: String,
    /// Evidence of a `check`; that of the last one if absent.
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
}

/// Name of the evidence file in the folder of reports.
pub(super) const EVIDENCE: &str = "evidence.jsonl.zst";

pub(super) fn replay(arguments: &ReplayArgs, output: &Output) -> Result<u8> {
    output::deliver(&judge_again(&arguments.evidence)?, output)
}

pub(super) fn explain(arguments: &ExplainArgs, output: &Output) -> Result<u8> {
    let path = arguments.evidence.clone().unwrap_or_else(|| output.out.join(EVIDENCE));
    if arguments.evidence.is_none() && !path.exists() {
        return Err(Error::usage(format!(
            "there is no {}; run `pacegate check` first, or name the evidence with --evidence",
            path.display()
        )));
    }
    let report = judge_again(&path)?;
    let pattern = glob(&arguments.benchmark).map_err(Error::usage)?;
    let named = |row: &&crate::gate::Row| {
        let id = row.id.to_string();
        id == arguments.benchmark || row.id.name == arguments.benchmark || pattern.is_match(&id)
    };
    let mut ids: Vec<_> = report.rows.iter().filter(named).map(|row| row.id.clone()).collect();
    ids.dedup();
    if ids.is_empty() {
        let known: Vec<String> = report.rows.iter().map(|row| row.id.to_string()).collect();
        let near = known
            .iter()
            .max_by(|a, b| {
                let likeness = |name: &str| strsim::jaro_winkler(name, &arguments.benchmark);
                likeness(a).total_cmp(&likeness(b))
            })
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default();
        return Err(Error::usage(format!(
            "{}: no benchmark is called `{}`{near}",
            path.display(),
            arguments.benchmark
        )));
    }
    for id in ids {
        if let Some(page) = report::explain(&report, &id, &output::screen(output)) {
            output::print(&page)?;
        }
    }
    Ok(0)
}

/// Reads evidence and judges it by the policy that it carries.
fn judge_again(path: &Path) -> Result<Report> {
    report_of(&EvidenceFile::read(path, &Limits::OWN)?)
        .map_err(|error| error.within(path.display().to_string()))
}

/// The report of stored evidence: the one way from evidence to a verdict.
pub(super) fn report_of(file: &EvidenceFile) -> Result<Report> {
    session(&file.runs, &file.policy, file.plan.clone(), &file.notices)
}
