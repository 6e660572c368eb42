//! Prints the serializer table of the `serializers` bench: `create ser deser total size +dfl`.
//!
//! ```text
//! pacegate run 'serializers::*'
//! cargo run --release --example serializer_table -- target/pacegate/evidence.jsonl.zst
//! ```
//!
//! An evidence file of `check` holds two runs: name one after a colon, as in `evidence.jsonl.zst:candidate`. A folder of
//! criterion's does for the times, with the file that `PACEGATE_METRICS` named as a second argument for the sizes.
//!
//! Times are nanoseconds: the median over launches of what a launch scores. Sizes are bytes. As in the study, `total` is
//! `ser + deser`, and `ser` holds `create`.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::error::Error;

use pacegate::ingest::{self, Options, Spec};
use pacegate::model::{Evidence, Metric, Series};
use pacegate::stats::summary::median;
use pacegate::stats::{Statistic, launch_score};
use serde::Deserialize;

const USAGE: &str = "usage: serializer_table EVIDENCE[:ARM] | CRITERION_FOLDER [METRICS_FILE]";

/// Values by variant, then row, then column.
type Tables = BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>;

/// A line of the file that `PACEGATE_METRICS` names.
#[derive(Deserialize)]
struct MetricLine {
    id: String,
    metric: String,
    value: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let input = arguments.next().ok_or(USAGE)?;
    let mut tables = Tables::new();
    for series in ingest::read(&Spec::parse(&input), &Options::default())?.series {
        // A criterion tree does not say which bench target it comes from.
        if ["serializers", ""].contains(&series.id.suite.as_str()) {
            put(&mut tables, &series.id.name, &series.metric.name, score(&series));
        }
    }
    if let Some(path) = arguments.next() {
        for line in std::fs::read_to_string(&path)?.lines() {
            let line: MetricLine = serde_json::from_str(line)?;
            put(&mut tables, &line.id, &line.metric, line.value);
        }
    }
    // Each launch tells the sizes of every variant, measured or not.
    tables.retain(|_, rows| rows.values().any(|row| row.contains_key("ser")));
    if tables.is_empty() {
        return Err(format!("{input}: no benchmark of `serializers`; measure them first").into());
    }
    for (variant, rows) in &tables {
        print(variant, rows);
    }
    Ok(())
}

/// One number for a series: launches or values of equal right.
fn score(series: &Series) -> f64 {
    let values: Vec<f64> = match &series.evidence {
        Evidence::Sampled(launches) => launches
            .iter()
            .map(|launch| launch_score(&launch.sample.values(), Statistic::default()))
            .collect(),
        Evidence::Summary(summaries) => summaries.iter().map(|summary| summary.score).collect(),
        Evidence::Exact(values) => values.clone(),
        Evidence::Scored(scores) => scores.iter().map(|launch| launch.score).collect(),
    };
    median(&values)
}

/// Files a value under `<column>/<row>/<variant>`; sizes are told of `ser/…`.
fn put(tables: &mut Tables, id: &str, metric: &str, value: f64) {
    let Some((operation, rest)) = id.split_once('/') else { return };
    let Some((row, variant)) = rest.rsplit_once('/') else { return };
    let column = match metric {
        "size" | "deflated" => metric,
        time if time == Metric::time().name => operation,
        _ => return,
    };
    if ["create", "ser", "deser", "size", "deflated"].contains(&column) {
        let row = tables.entry(variant.to_owned()).or_default().entry(row.to_owned()).or_default();
        row.insert(column.to_owned(), value);
    }
}

fn print(variant: &str, rows: &BTreeMap<String, BTreeMap<String, f64>>) {
    println!(
        "{variant:32} {:>6} {:>7} {:>7} {:>7} {:>6} {:>5}",
        "create", "ser", "deser", "total", "size", "+dfl"
    );
    for (name, row) in rows {
        let value = |column: &str| row.get(column).copied();
        let total = value("ser").zip(value("deser")).map(|(ser, deser)| ser + deser);
        let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
        println!(
            "{name:32} {:>6} {:>7} {:>7} {:>7} {:>6} {:>5}",
            cell(value("create")),
            cell(value("ser")),
            cell(value("deser")),
            cell(total),
            cell(value("size")),
            cell(value("deflated")),
        );
    }
    println!();
}
