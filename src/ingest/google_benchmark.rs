//! Reads the JSON of Google Benchmark (`--benchmark_format=json`, `--benchmark_out`).
//!
//! ```text
//! {"context": {"num_cpus": 8, "library_build_type": "release", ..},
//!  "benchmarks": [
//!   {"name": "BM_Copy/64", "run_type": "iteration", "repetition_index": 0, "iterations": 5000,
//!    "real_time": 9.1, "cpu_time": 9.0, "time_unit": "ns", "bytes_per_second": 7.0e9, "misses": 3},
//!   {"name": "BM_Copy/64_mean", "run_name": "BM_Copy/64", "run_type": "aggregate", "aggregate_name": "mean", ..},
//!   {"name": "BM_Copy_BigO", "run_type": "aggregate", "aggregate_name": "BigO", "big_o": "N", ..},
//!   {"name": "BM_Open", "error_occurred": true, "error_message": "no such file", ..}]}
//! ```
//!
//! Repetitions run in one process: they are samples of one launch. Aggregates are no benchmarks; they are read where the
//! repetitions themselves were not written (`--benchmark_report_aggregates_only`): then the mean is a summary with
//! its standard deviation. Fits of complexity (BigO, RMS) measure nothing of their own. Every other number of a row is a
//! counter of the user, of which nobody says what it counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Format;
use super::found::{Found, named, own_name};
use super::input::Input;
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "Google Benchmark JSON",
    signs: &["\"real_time\"", "\"cpu_time\"", "\"library_build_type\"", "\"run_type\""],
    claims: |input| {
        input.outline().is_some_and(|outline| {
            !outline.list
                && outline.has(&["context", "benchmarks"])
                && (outline.has_inside("benchmarks", &["name", "real_time"])
                    || outline.has_inside("benchmarks", &["name", "run_type"])
                    || outline.has_inside("context", &["num_cpus"]))
        })
    },
    read,
};

#[derive(Deserialize)]
struct GFile {
    context: Map<String, Value>,
    benchmarks: Vec<GRow>,
}

type GRow = Map<String, Value>;

/// Numbers of a row that are no metric.
const ABOUT_THE_ROW: &[&str] = &[
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "cpu_coefficient",
    "real_coefficient",
    "rms",
];

/// Endings of the aggregates that every version computes, for files that do not mark them.
const AGGREGATES: [&str; 4] = ["_mean", "_median", "_stddev", "_cv"];

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let file: GFile = input.json()?;
    machine(&file.context, found);
    let names: BTreeSet<&str> = file.benchmarks.iter().map(|row| text(row, "name")).collect();
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, row) in file.benchmarks.iter().enumerate() {
        let kind = aggregate(row, &names);
        let name = match kind {
            Some(kind) => subject(row, kind),
            None => text(row, "name"),
        };
        if name.is_empty() {
            let id = found.id("", &format!("benchmarks[{index}]"));
            found.fail(&id, format!("benchmarks[{index}] has no name; write the file again"));
            continue;
        }
        // Two families may share a name; their repetitions are not one another's.
        let key = (name, row.get("family_index").and_then(Value::as_u64));
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(Group { name, repetitions: Vec::new(), aggregates: BTreeMap::new() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            match kind {
                Some(kind) => {
                    group.aggregates.insert(kind, row);
                }
                None => group.repetitions.push((index, row)),
            }
        }
    }
    for group in groups {
        group.tell(found);
    }
    Ok(())
}

/// The rows of one benchmark.
struct Group<'a> {
    name: &'a str,
    /// With their place in the file.
    repetitions: Vec<(usize, &'a GRow)>,
    /// By what they are: `mean`; empty where the row does not say.
    aggregates: BTreeMap<&'a str, &'a GRow>,
}

impl Group<'_> {
    fn tell(&self, found: &mut Found<'_>) {
        let id = found.id("", self.name);
        let mut measured = Vec::new();
        for &(index, row) in &self.repetitions {
            let said = |key: &str| row.get(key) == Some(&Value::Bool(true));
            if said("error_occurred") {
                let message = text(row, "error_message");
                found.fail(&id, format!("benchmarks[{index}]: it failed: {message}"));
            } else if said("skipped") {
                let message = text(row, "skip_message");
                found.notice("skipped", format!("{id} skipped itself: {message}"), "");
            } else if row.get("real_time").and_then(Value::as_f64).is_none() {
                let message = "real_time is no number; look at why it was not measured";
                found.fail(&id, format!("benchmarks[{index}]: {message}"));
            } else if unit::time(time_unit(row)).is_none() {
                let message = "is no unit of time; give the file as the tool wrote it";
                found.fail(&id, format!("benchmarks[{index}]: `{}` {message}", time_unit(row)));
            } else {
                measured.push(row);
            }
        }
        if !measured.is_empty() {
            launch(&id, &measured, found);
        } else if self.repetitions.is_empty() {
            self.tell_aggregates(&id, found);
        }
    }

    fn tell_aggregates(&self, id: &BenchmarkId, found: &mut Found<'_>) {
        let centre = self.aggregates.get("mean").or(self.aggregates.get("median"));
        let Some(centre) = centre else {
            // A fit stands beside what it is fitted to, under a name of its own.
            if !self.aggregates.keys().all(|kind| matches!(*kind, "BigO" | "RMS")) {
                found.notice(
                    "unknown-aggregate",
                    format!("{id} has aggregates only, and no mean or median among them"),
                    "it is not read; write the repetitions too",
                );
            }
            return;
        };
        let spread = self.aggregates.get("stddev");
        for key in metrics(centre) {
            let known = metric(centre, key);
            let Some(score) = centre.get(key).and_then(Value::as_f64) else { continue };
            let spread = spread.and_then(|row| row.get(key)).and_then(Value::as_f64);
            let summary = Summary {
                score,
                spread: spread.map(Spread::StandardDeviation),
                n: centre
                    .get("repetitions")
                    .and_then(Value::as_u64)
                    .and_then(|n| n.try_into().ok()),
                launches: Some(1),
            };
            found.summary(id, &known, summary);
        }
    }
}

/// The repetitions of a benchmark as samples of one launch.
fn launch(id: &BenchmarkId, rows: &[&GRow], found: &mut Found<'_>) {
    let keys: BTreeSet<&str> = rows.iter().flat_map(|row| metrics(row)).collect();
    for key in keys {
        let taken: Vec<(f64, Known)> = rows
            .iter()
            .filter_map(|row| Some((row.get(key)?.as_f64()?, metric(row, key))))
            .collect();
        let Some((_, known)) = taken.first() else { continue };
        // Repetitions may differ in unit: each is brought to that of the first.
        let values: Vec<f64> =
            taken.iter().map(|(value, own)| value * (own.factor / known.factor)).collect();
        match key {
            "real_time" => found.launch(id, known, &values),
            _ if is_exact(known) => found.exact_all(id, known, &values),
            _ => found.launch_beside(id, known, &values),
        }
    }
}

/// Sizes, counts and what nobody explains.
fn is_exact(known: &Known) -> bool {
    let unit = known.metric.unit.as_str();
    known.metric.better == Better::Unknown || (unit != "ns" && !unit.ends_with("/s"))
}

/// Keys of the numbers in a row that are metrics.
fn metrics(row: &GRow) -> impl Iterator<Item = &str> {
    row.iter()
        .filter(|(key, value)| value.is_number() && !ABOUT_THE_ROW.contains(&key.as_str()))
        .map(|(key, _)| key.as_str())
}

/// What a key of a row measures.
fn metric(row: &GRow, key: &str) -> Known {
    match key {
        "real_time" => named("time", time_unit(row)),
        "cpu_time" => named("cpu-time", time_unit(row)),
        "bytes_per_second" => named(key, "B/s"),
        "items_per_second" => named(key, "items/s"),
        "allocs_per_iter" => named(key, "allocations"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => named(key, "B"),
        _ => named(&own_name(key), ""),
    }
}

fn time_unit(row: &GRow) -> &str {
    match text(row, "time_unit") {
        "" => "ns",
        unit => unit,
    }
}

fn text<'a>(row: &'a GRow, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What aggregate a row is, if it is one. Files of early versions tell by the ending of the name alone.
fn aggregate<'a>(row: &'a GRow, names: &BTreeSet<&str>) -> Option<&'a str> {
    if row.contains_key("big_o") {
        return Some("BigO");
    }
    if row.contains_key("rms") {
        return Some("RMS");
    }
    if row.contains_key("aggregate_name") || text(row, "run_type") == "aggregate" {
        return Some(text(row, "aggregate_name"));
    }
    if row.contains_key("run_type") {
        return None;
    }
    let name = text(row, "name");
    let ending = AGGREGATES.into_iter().find(|ending| name.ends_with(ending))?;
    let stem = name.strip_suffix(ending)?;
    let has = |ending: &str| names.contains(format!("{stem}{ending}").as_str());
    let kind = name.get(stem.len() + 1..)?;
    (has("") || (has("_mean") && has("_median") && has("_stddev"))).then_some(kind)
}

/// The benchmark that an aggregate is of.
fn subject<'a>(row: &'a GRow, kind: &str) -> &'a str {
    let name = text(row, "name");
    match text(row, "run_name") {
        "" => name.strip_suffix(kind).and_then(|name| name.strip_suffix('_')).unwrap_or(name),
        run => run,
    }
}

/// The number of CPUs decides whether numbers are comparable; how the library was built is told.
fn machine(context: &Map<String, Value>, found: &mut Found<'_>) {
    let environment = &mut found.current().environment;
    if let Some(cpus) = context.get("num_cpus").and_then(Value::as_u64) {
        environment.hard.insert("num_cpus".into(), cpus.to_string());
    }
    if let Some(build) = context.get("library_build_type").and_then(Value::as_str) {
        environment.soft.insert("library_build_type".into(), build.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, read, shown, survives, told, try_read};

    fn file(rows: &str) -> String {
        format!(
            r#"{{"context": {{"num_cpus": 8, "library_build_type": "release"}}, "benchmarks": [{rows}]}}"#
        )
    }

    #[test]
    fn repetitions_are_samples_and_aggregates_are_no_benchmarks() {
        let text = file(
            r#"{"name": "BM_Copy/64", "run_name": "BM_Copy/64", "run_type": "iteration", "family_index": 0, "repetitions": 2,
                "repetition_index": 0, "threads": 1, "iterations": 50, "real_time": 9.5, "cpu_time": 9.0, "time_unit": "ns",
                "bytes_per_second": 7.0e9, "items_per_second": 100, "misses": 3, "time": 1, "max_bytes_used": 640, "label": "x"},
               {"name": "BM_Copy/64", "run_name": "BM_Copy/64", "run_type": "iteration", "family_index": 0, "repetitions": 2,
                "repetition_index": 1, "threads": 1, "iterations": 50, "real_time": 0.25, "cpu_time": 0.5, "time_unit": "us",
                "bytes_per_second": 6.0e9, "items_per_second": 90, "misses": 4, "time": 1, "max_bytes_used": 640},
               {"name": "BM_Copy/64_mean", "run_name": "BM_Copy/64", "run_type": "aggregate", "family_index": 0,
                "aggregate_name": "mean", "iterations": 2, "real_time": 129.75, "cpu_time": 254.5, "time_unit": "ns"},
               {"name": "BM_Copy/64_cv", "run_name": "BM_Copy/64", "run_type": "aggregate", "family_index": 0,
                "aggregate_name": "cv", "aggregate_unit": "percentage", "real_time": 0.1, "cpu_time": NaN, "time_unit": "ns"},
               {"name": "BM_Copy_BigO", "run_name": "BM_Copy", "run_type": "aggregate", "aggregate_name": "BigO",
                "cpu_coefficient": 4.2, "real_coefficient": 6.4, "big_o": "N", "time_unit": "ns"},
               {"name": "BM_Copy_RMS", "run_name": "BM_Copy", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.05}"#,
        );
        let run = read(&text);
        survives(&text);
        assert_eq!(
            shown(&run),
            [
                "BM_Copy/64 :time [] ? exact [1.0, 1.0]",
                "BM_Copy/64 bytes_per_second [B/s] > launches [7000000000.0, 6000000000.0]",
                "BM_Copy/64 cpu-time [ns] < launches [9.0, 500.0]",
                "BM_Copy/64 items_per_second [items/s] > launches [100.0, 90.0]",
                "BM_Copy/64 max_bytes_used [B] < exact [640.0, 640.0]",
                "BM_Copy/64 misses [] ? exact [3.0, 4.0]",
                "BM_Copy/64 time [ns] < launches [9.5, 250.0]",
            ]
        );
        assert!(run.failures.is_empty() && run.notices.is_empty());
        assert_eq!(run.environment.hard["num_cpus"], "8");
        assert_eq!(run.environment.soft["library_build_type"], "release");
    }

    #[test]
    fn early_files_tell_aggregates_by_their_ending() {
        let row = |name: &str, time: f64| {
            format!(r#"{{"name": "{name}", "real_time": {time}, "time_unit": "ns"}}"#)
        };
        let rows = [
            row("BM_A", 1.0),
            row("BM_A", 3.0),
            row("BM_A_mean", 2.0),
            row("BM_A_stddev", 1.0),
            row("harmonic_mean", 5.0),
        ];
        assert_eq!(
            shown(&read(&file(&rows.join(",")))),
            ["BM_A time [ns] < launches [1.0, 3.0]", "harmonic_mean time [ns] < launches [5.0]"]
        );
    }

    #[test]
    fn aggregates_alone_are_a_summary() {
        let row = |kind: &str, time: f64| {
            format!(
                r#"{{"name": "BM_A_{kind}", "run_name": "BM_A", "run_type": "aggregate", "aggregate_name": "{kind}",
                    "repetitions": 5, "iterations": 5, "real_time": {time}, "cpu_time": {time}, "time_unit": "us"}}"#
            )
        };
        let rows = [row("mean", 2.0), row("median", 1.75), row("stddev", 0.5), row("cv", 0.25)];
        assert_eq!(
            shown(&read(&file(&rows.join(",")))),
            [
                "BM_A cpu-time [ns] < summary 2000 sd 500 n 5 launches 1",
                "BM_A time [ns] < summary 2000 sd 500 n 5 launches 1",
            ]
        );
        let run =
            read(&file(&format!("{},{}", row("max", 3.0), r#"{"name": "B", "real_time": 1}"#)));
        assert_eq!(told(&run), ["unknown-aggregate"]);
        assert_eq!(run.series.len(), 1);
    }

    #[test]
    fn errors_and_missing_times_fail_by_name() {
        let run = read(&file(
            r#"{"name": "BM_Open", "run_type": "iteration", "error_occurred": true, "error_message": "no such file", "real_time": 0},
               {"name": "BM_Nan", "run_type": "iteration", "real_time": NaN, "time_unit": "ns"},
               {"name": "BM_Zero", "run_type": "iteration", "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
               {"name": "BM_Unit", "run_type": "iteration", "real_time": 1, "time_unit": "fortnights"},
               {"name": "BM_Not", "run_type": "iteration", "skipped": true, "skip_message": "no GPU"},
               {"run_type": "iteration", "real_time": 1}"#,
        ));
        assert_eq!(
            failed(&run),
            [
                "BM_Nan: benchmarks[1]: real_time is no number; look at why it was not measured",
                "BM_Open: benchmarks[0]: it failed: no such file",
                "BM_Unit: benchmarks[3]: `fortnights` is no unit of time; give the file as the tool wrote it",
                "BM_Zero: time: every total is zero, so nothing was measured",
                "benchmarks[5]: benchmarks[5] has no name; write the file again",
            ]
        );
        assert_eq!(told(&run), ["skipped"]);
    }

    #[test]
    fn two_families_of_one_name_are_kept_apart() {
        let row = |family: u32, time: u32| {
            format!(
                r#"{{"name": "BM_A", "run_type": "iteration", "family_index": {family}, "real_time": {time}}}"#
            )
        };
        let run = read(&file(&[row(0, 1), row(0, 2), row(1, 9)].join(",")));
        assert_eq!(
            shown(&run),
            ["BM_A time [ns] < launches [1.0, 2.0]", "BM_A #2 time [ns] < launches [9.0]"]
        );
        assert_eq!(told(&run), ["duplicate-name"]);
    }

    #[test]
    fn a_cut_file_says_where() {
        let whole = file(r#"{"name": "BM_A", "real_time": 1}"#);
        let error = try_read(&whole[..whole.len() - 3]).unwrap_err().to_string();
        assert!(error.starts_with("file: it begins as JSON, but EOF while parsing"), "{error}");
        assert!(error.contains("it looks most like Google Benchmark JSON"), "{error}");
        let empty = try_read(&file("")).unwrap();
        assert_eq!(empty.notices[0].seen, "file is Google Benchmark JSON but holds no benchmark");
    }
}
