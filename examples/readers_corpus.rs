//! Reads every real file of a corpus and holds the result against what is known of it.
//!
//! ```console
//! $ PACEGATE_CORPUS=DIR cargo run --release --example readers_corpus
//! ```
//!
//! `DIR/readers/expected.json` lists the files with the number of their benchmarks (or of their runs, for a history) and
//! two values of each.

#![allow(clippy::print_stdout, reason = "this is a program that prints a table")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use pacegate::ingest::{self, Options, Spec};
use pacegate::model::{Evidence, Run, Series};
use serde::Deserialize;

/// What is known of one file.
#[derive(Deserialize)]
struct Expected {
    id: String,
    format: String,
    path: PathBuf,
    count: usize,
    values: Vec<Value>,
}

/// A value as the file has it.
#[derive(Deserialize)]
struct Value {
    name: String,
    value: f64,
    unit: String,
}

/// What came of one file.
pub(crate) struct Outcome {
    /// Name in the list.
    pub(crate) id: String,
    /// What it was taken for, or the message.
    pub(crate) format: Result<&'static str, String>,
    /// Benchmarks or runs that were read, and how many there are.
    pub(crate) entries: (usize, usize),
    /// Values that were found, and how many were looked for.
    pub(crate) values: (usize, usize),
    /// Kinds of the notices.
    pub(crate) notices: Vec<String>,
    /// Benchmarks that could not be read.
    pub(crate) failures: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(corpus) = std::env::var_os("PACEGATE_CORPUS") else {
        return Err("PACEGATE_CORPUS does not name a folder; there is nothing to read".into());
    };
    let outcomes = check(Path::new(&corpus))?;
    println!("file  format                           entries      values   failed  notices");
    for outcome in &outcomes {
        let Outcome { id, format, entries, values, notices, failures } = outcome;
        let format = match format {
            Ok(format) => format,
            Err(message) => message.as_str(),
        };
        let notices = notices.join(", ");
        let entries = format!("{}/{}", entries.0, entries.1);
        let values = format!("{}/{}", values.0, values.1);
        println!("{id:<5} {format:<32} {entries:<11}  {values:<7}  {failures:<6}  {notices}");
    }
    let right = outcomes.iter().filter(|outcome| outcome.is_right()).count();
    println!("{right} of {} files as expected", outcomes.len());
    Ok(())
}

impl Outcome {
    /// Whether everything known was found.
    pub(crate) fn is_right(&self) -> bool {
        self.format.is_ok() && self.entries.0 == self.entries.1 && self.values.0 == self.values.1
    }
}

/// Reads every file of the list.
pub(crate) fn check(corpus: &Path) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let folder = corpus.join("readers");
    let list = folder.join("expected.json");
    let text = fs::read_to_string(&list)
        .map_err(|error| format!("{}: {error}; name a corpus that has it", list.display()))?;
    let expected: Vec<Expected> = serde_json::from_str(&text)?;
    Ok(expected.iter().map(|expected| compare(&folder, expected)).collect())
}

fn compare(folder: &Path, expected: &Expected) -> Outcome {
    let mut outcome = Outcome {
        id: expected.id.clone(),
        format: Err(String::new()),
        entries: (0, expected.count),
        values: (0, expected.values.len()),
        notices: Vec::new(),
        failures: 0,
    };
    let history = expected.format == "gab-datajs";
    let path = only_file(&folder.join(&expected.path));
    let read =
        runs(&path).and_then(|runs| Ok((ingest::format_name(&path, &Options::default())?, runs)));
    let runs = match read {
        Ok((format, runs)) => {
            outcome.format = Ok(format);
            runs
        }
        Err(error) => {
            outcome.format = Err(error.to_string());
            return outcome;
        }
    };
    let mut ids = BTreeSet::new();
    let mut skipped = 0;
    for run in &runs {
        let failed = run.failures.iter().map(|failure| &failure.id);
        let all = run.series.iter().map(|series| &series.id).chain(failed);
        // A broken run stands for no benchmark, and the list counts a grid of parameters once.
        let named = all.filter(|id| id.name != "(whole run)");
        let whole = |name: &str| match expected.format.as_str() {
            "asv-json" => name.split('(').next().unwrap_or_default().to_owned(),
            _ => name.to_owned(),
        };
        ids.extend(named.map(|id| (id.suite.clone(), whole(&id.name))));
        // What skipped itself is an entry of the list. Here it is told in a notice, which names the first of them.
        let told = run.notices.iter().filter(|notice| notice.kind == "skipped");
        skipped += told
            .map(|notice| {
                let more =
                    notice.seen.rsplit(" and ").next().and_then(|end| end.strip_suffix(" more"));
                let more = more.and_then(|more| more.parse().ok()).unwrap_or(0);
                notice.seen.matches("(NaN)").count() + more
            })
            .sum::<usize>();
        outcome.notices.extend(run.notices.iter().map(|notice| notice.kind.clone()));
        outcome.failures += run.failures.len();
    }
    outcome.notices.sort();
    outcome.notices.dedup();
    outcome.entries.0 = if history { runs.len() } else { ids.len() };
    outcome.entries.0 += skipped;
    let holds = |value: &&Value| {
        let mut series = runs.iter().flat_map(|run| &run.series);
        series.any(|series| is_of(series, &value.name) && has(series, value))
    };
    outcome.values.0 = expected.values.iter().filter(holds).count();
    outcome
}

/// The file in a folder that holds a single one; a folder of several is a tree.
fn only_file(path: &Path) -> PathBuf {
    let files: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    match files.as_slice() {
        [file] if file.is_file() => file.clone(),
        _ => path.to_owned(),
    }
}

fn runs(path: &Path) -> pacegate::error::Result<Vec<Run>> {
    if path.is_dir() {
        let spec = Spec { path: path.to_owned(), part: None };
        return ingest::read(&spec, &Options::default()).map(|run| vec![run]);
    }
    ingest::read_file(path, &Options::default())
}

/// Whether a series is the one that a tool calls `name`: tools join package, group and parameters in their own ways, so
/// letters and digits decide.
fn is_of(series: &Series, name: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (ours, theirs) = (plain(&series.id.name), plain(name));
    let whole = plain(&series.id.to_string());
    !ours.is_empty() && (whole.contains(&theirs) || theirs.contains(&ours))
}

/// Whether a series holds a value, by itself or as the mean of its values.
fn has(series: &Series, expected: &Value) -> bool {
    let seconds = expected.unit == "asv unit" && expected.name.contains(".time_");
    let wanted = expected.value * if seconds { 1e9 } else { factor(&expected.unit) };
    let near = |value: f64| {
        (value - wanted).abs() <= 1e-6 * wanted.abs() || (value == 0.0 && wanted == 0.0)
    };
    match &series.evidence {
        Evidence::Sampled(launches) => {
            let values: Vec<f64> =
                launches.iter().flat_map(|launch| launch.sample.values()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.into_iter().any(near) || near(mean)
        }
        Evidence::Summary(summaries) => summaries.iter().any(|summary| near(summary.score)),
        Evidence::Exact(values) => values.iter().copied().any(near),
        Evidence::Scored(scores) => scores.iter().any(|launch| near(launch.score)),
    }
}

/// What one of a unit is in base units. Written a second time on purpose: the list is no witness for itself.
fn factor(unit: &str) -> f64 {
    let amount = unit.split([' ', '/']).next().unwrap_or_default();
    let rate = unit.contains('/') && !["iter", "op"].iter().any(|per| unit.ends_with(per));
    match (amount, rate) {
        (_, true) => match unit {
            "ops/ms" => 1e3,
            "MB/s" => 1e6,
            _ => 1.0,
        },
        ("us" | "µs", _) => 1e3,
        ("ms", _) => 1e6,
        ("s" | "sec", _) => 1e9,
        ("output-size(MB)" | "Megabytes", _) => 1e6,
        _ => 1.0,
    }
}
