//! `accept`: agree to a slowdown, in a file that is reviewed with the change.

use std::path::Path;

use clap::Args;
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::gate::{Accept, Accepted, Day, Until};
use crate::model::{BenchmarkId, Metric};
use crate::store::Limits;
use crate::store::accepted::{self, Ceiling, FILE, Reason};
use crate::store::baseline::FOLDER;
use crate::store::evidence::EvidenceFile;

use super::evidence::EVIDENCE;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct AcceptArgs {
    /// Benchmark, by the name that reports show.
    #[arg(value_name = "BENCH")]
    benchmark: String,
    /// Largest slowdown that is accepted, such as `6%`; past it the gate is red again.
    #[arg(long, value_name = "PERCENT")]
    ceiling: Ceiling,
    /// Why it is worth it; reviewers read it on top of the report.
    #[arg(long, value_name = "TEXT")]
    reason: Reason,
    /// Last day on which it holds, or the first version for which it no longer does; for ever if absent.
    #[arg(long, value_name = "DAY|VERSION")]
    until: Option<Until>,
    /// Metric; the time if absent.
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
}

pub(super) fn accept(arguments: &AcceptArgs, output: &Output) -> Result<u8> {
    let metric = arguments.metric.clone().unwrap_or_else(|| Metric::time().name);
    let benchmark = known_name(&arguments.benchmark, &metric, output)?;
    let record = Accept {
        benchmark: benchmark.clone(),
        metric,
        ceiling: arguments.ceiling.0,
        reason: arguments.reason.0.clone(),
        until: arguments.until.clone(),
    };
    accepted::add(Path::new(FOLDER), record)?;
    let path = Path::new(FOLDER).join(FILE);
    output::print(&format!("accepted {benchmark}: commit {} with the change\n", path.display()))?;
    Ok(0)
}

/// The records of this project, to be judged today.
pub(super) fn accepted_today() -> Result<Accepted> {
    let records = accepted::read(Path::new(FOLDER))?;
    if records.is_empty() {
        return Ok(Accepted::default());
    }
    Ok(Accepted { records, today: Some(today()), version: None })
}

/// The day in UTC, so that all runners agree on it.
pub(super) fn today() -> Day {
    let today = Timestamp::now().strftime("%Y-%m-%d").to_string();
    today.parse().expect("today is a day of the calendar")
}

/// The whole name of a benchmark of the last evidence; as it was given where there is none.
fn known_name(name: &str, metric: &str, output: &Output) -> Result<String> {
    let path = output.out.join(EVIDENCE);
    if !path.exists() {
        return Ok(name.to_owned());
    }
    let file = EvidenceFile::read(&path, &Limits::OWN)?;
    let series = file.runs.values().flat_map(|run| &run.series);
    let mut ids: Vec<&BenchmarkId> =
        series.filter(|series| series.metric.name == metric).map(|series| &series.id).collect();
    ids.sort();
    ids.dedup();
    let called: Vec<String> = ids
        .iter()
        .filter(|id| id.to_string() == name || id.name == name)
        .map(ToString::to_string)
        .collect();
    if let [one] = called.as_slice() {
        return Ok(one.clone());
    }
    if called.iter().any(|id| id == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let (near, what): (Vec<String>, &str) = if called.is_empty() {
        let near = known
            .into_iter()
            .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        (near.into_iter().collect(), "no benchmark is called")
    } else {
        (called, "several benchmarks are called")
    };
    Err(Error::usage(format!(
        "{}: {what} `{name}` with the metric `{metric}`; write `{}`",
        path.display(),
        near.join("` or `")
    )))
}
