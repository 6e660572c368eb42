//! `convert`: any result as pacegate's own evidence, or as Bencher Metric Format.
//!
//! ```text
//! evidence   one run, as `pacegate run` writes it: nothing is lost
//! bmf        {"suite::name": {"latency": {"value": 88.0, "lower_value": 87.4, "upper_value": 88.9},
//!                             "peak-memory (B)": {"value": 4096.0}}}
//! ```
//!
//! A measure of Bencher Metric Format has one value: the median over the launches, each scored as the policy says. Its
//! bounds are those of the launches where there are several, or of the spread that the input gives; which spread that is, the
//! format cannot say, nor can it hold a direction, a number of values, or a benchmark that failed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::config::Config;
use crate::error::{Context, ErrorKind, Result};
use crate::model::{Arm, Evidence, Metric, Run, Spread};
use crate::stats::{Statistic, launch_score, summary};
use crate::store::evidence::{Ending, EvidenceFile};

use super::compare::read_side;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct ConvertArgs {
    /// Results of any harness; several are several launches of one run.
    #[arg(value_name = "RESULT", required = true)]
    inputs: Vec<String>,
    /// What to write.
    #[arg(long, value_name = "FORMAT")]
    to: Target,
    /// Where to write it, packed where the name ends in `.zst`; standard output if absent.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    /// pacegate's own evidence, JSON Lines.
    Evidence,
    /// Bencher Metric Format, JSON.
    Bmf,
}

pub(super) fn convert(arguments: &ConvertArgs, output: &Output) -> Result<u8> {
    let policy = Config::read(&output.config)?.policy;
    let run = read_side(&arguments.inputs, &policy)?;
    for notice in &run.notices {
        output::say(&format!("notice: {}", notice.seen));
    }
    for failure in &run.failures {
        output::say(&format!("failed: {}: {}", failure.id, failure.message));
    }
    match arguments.to {
        Target::Evidence => {
            let file = EvidenceFile {
                pacegate: env!("CARGO_PKG_VERSION").into(),
                started: None,
                policy,
                plan: None,
                notices: Vec::new(),
                runs: BTreeMap::from([(Arm::Candidate, run)]),
                ending: Ending::Complete,
            };
            match &arguments.into {
                Some(path) => file.write(path)?,
                None => {
                    let mut text = Vec::new();
                    file.to_writer(&mut text)?;
                    output::print(&String::from_utf8(text).expect("JSON is UTF-8"))?;
                }
            }
            Ok(0)
        }
        Target::Bmf => {
            let failed = !run.failures.is_empty();
            let text = bmf(&run, policy.statistic);
            match &arguments.into {
                Some(path) => std::fs::write(path, text).context(|| path.display().to_string())?,
                None => output::print(&text)?,
            }
            // The format has no place for what failed, so nobody who reads it would learn of it.
            Ok(if failed { ErrorKind::Judge.exit_code() } else { 0 })
        }
    }
}

#[derive(Serialize)]
struct BMeasure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// The run in Bencher Metric Format.
fn bmf(run: &Run, statistic: Statistic) -> String {
    let mut benchmarks: BTreeMap<String, BTreeMap<String, BMeasure>> = BTreeMap::new();
    for series in &run.series {
        let measures = benchmarks.entry(series.id.to_string()).or_default();
        measures.insert(measure(&series.metric), value(&series.evidence, statistic));
    }
    serde_json::to_string_pretty(&benchmarks).expect("texts and finite numbers are JSON") + "\n"
}

/// The name that says a metric and its unit: Bencher's own where it has one.
fn measure(metric: &Metric) -> String {
    match (metric.name.as_str(), metric.unit.as_str()) {
        ("time", "ns") => "latency".into(),
        ("throughput", "ops/s") => "throughput".into(),
        (name, unit) if name == unit || unit.is_empty() => name.into(),
        (name, unit) => format!("{name} ({unit})"),
    }
}

fn value(evidence: &Evidence, statistic: Statistic) -> BMeasure {
    let (scores, around): (Vec<f64>, Option<f64>) = match evidence {
        Evidence::Sampled(launches) => {
            let score = |values: Vec<f64>| launch_score(&values, statistic);
            (launches.iter().map(|launch| score(launch.sample.values())).collect(), None)
        }
        Evidence::Scored(scores) => (scores.iter().map(|launch| launch.score).collect(), None),
        Evidence::Exact(values) => (values.clone(), None),
        Evidence::Summary(summaries) => {
            let around = match summaries.as_slice() {
                [only] => only.spread.map(|spread| match spread {
                    Spread::StandardDeviation(value)
                    | Spread::StandardError(value)
                    | Spread::HalfWidth { value, .. } => value,
                }),
                _ => None,
            };
            (summaries.iter().map(|summary| summary.score).collect(), around)
        }
    };
    let value = summary::median(&scores);
    let ends = match around {
        Some(around) => Some((value - around, value + around)),
        None if scores.len() > 1 => scores
            .iter()
            .map(|&score| (score, score))
            .reduce(|(low, high), (score, _)| (low.min(score), high.max(score))),
        None => None,
    };
    let (lower_value, upper_value) = ends.unzip();
    BMeasure { value, lower_value, upper_value }
}
