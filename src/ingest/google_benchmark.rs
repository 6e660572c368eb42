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

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::Format;
use super::found::{Found, named, own_name};
use super::input::{Input, Number, Scalar, Text};
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
    #[serde(rename = "benchmarks")]
    _benchmarks: Vec<IgnoredAny>,
}

/// A row: the keys that say what it is, and every other number under its key.
#[derive(Default)]
struct GRow<'a> {
    name: Cow<'a, str>,
    run_name: Cow<'a, str>,
    run_type: Option<Cow<'a, str>>,
    aggregate_name: Option<Cow<'a, str>>,
    time_unit: Cow<'a, str>,
    error_occurred: bool,
    skipped: bool,
    /// Why it failed or was skipped.
    message: Cow<'a, str>,
    family: Option<u64>,
    /// What a fit of complexity says: `N`, or the word `rms` for the error of one.
    fit: bool,
    rms: bool,
    repetitions: Option<f64>,
    /// What is measured, under its key.
    numbers: Vec<(Cow<'a, str>, f64)>,
}

impl<'de: 'a, 'a> Deserialize<'de> for GRow<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Row;
        impl<'de> Visitor<'de> for Row {
            type Value = GRow<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the row of a benchmark")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut row = GRow::default();
                while let Some(Text(key)) = map.next_key()? {
                    let mut text = || map.next_value().map(Scalar::into_text);
                    match &*key {
                        "name" => row.name = text()?,
                        "run_name" => row.run_name = text()?,
                        "run_type" => row.run_type = Some(text()?),
                        "aggregate_name" => row.aggregate_name = Some(text()?),
                        "time_unit" => row.time_unit = text()?,
                        "error_message" | "skip_message" => row.message = text()?,
                        "error_occurred" => row.error_occurred = map.next_value::<Value>()? == true,
                        "skipped" => row.skipped = map.next_value::<Value>()? == true,
                        "repetitions" => row.repetitions = map.next_value::<Number>()?.0,
                        "family_index" => {
                            row.family = map.next_value::<Number>()?.0.map(|number| number as u64);
                        }
                        "rms" => {
                            row.rms = true;
                            map.next_value::<IgnoredAny>()?;
                        }
                        "per_family_instance_index"
                        | "repetition_index"
                        | "threads"
                        | "iterations"
                        | "cpu_coefficient"
                        | "real_coefficient" => {
                            map.next_value::<IgnoredAny>()?;
                        }
                        _ => {
                            row.fit |= key == "big_o";
                            if let Scalar::Number(number) = map.next_value()? {
                                row.numbers.push((key, number));
                            }
                        }
                    }
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(Row)
    }
}

impl GRow<'_> {
    fn number(&self, key: &str) -> Option<f64> {
        self.numbers.iter().find(|(own, _)| own == key).map(|&(_, number)| number)
    }

    fn time_unit(&self) -> &str {
        if self.time_unit.is_empty() { "ns" } else { &self.time_unit }
    }
}

/// Endings of the aggregates that every version computes, for files that do not mark them.
const AGGREGATES: [&str; 4] = ["_mean", "_median", "_stddev", "_cv"];

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut rows: Vec<GRow<'_>> = Vec::new();
    let rest = input.bulk("benchmarks", |_, row| rows.push(row))?;
    machine(&rest.json::<GFile>()?.context, found);
    // Only files of early versions have rows that do not say what they are.
    let unsaid = rows.iter().any(|row| row.run_type.is_none());
    let names: BTreeSet<&str> = rows.iter().filter(|_| unsaid).map(|row| &*row.name).collect();
    let mut places = HashMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let kind = aggregate(row, &names);
        let name = match kind {
            Some(kind) => subject(row, kind),
            None => &*row.name,
        };
        if name.is_empty() {
            let id = found.id("", &format!("benchmarks[{index}]"));
            found.fail(&id, format!("benchmarks[{index}] has no name; write the file again"));
            continue;
        }
        // Two families may share a name; their repetitions are not one another's.
        let key = (name, row.family);
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
    repetitions: Vec<(usize, &'a GRow<'a>)>,
    /// By what they are: `mean`; empty where the row does not say.
    aggregates: BTreeMap<&'a str, &'a GRow<'a>>,
}

impl Group<'_> {
    fn tell(&self, found: &mut Found<'_>) {
        let id = found.id("", self.name);
        let mut measured = Vec::new();
        for &(index, row) in &self.repetitions {
            if row.error_occurred {
                found.fail(&id, format!("benchmarks[{index}]: it failed: {}", row.message));
            } else if row.skipped {
                found.skip(&id, &row.message);
            } else if row.number("real_time").is_none() {
                let message = "real_time is no number; look at why it was not measured";
                found.fail(&id, format!("benchmarks[{index}]: {message}"));
            } else if unit::time(row.time_unit()).is_none() {
                let message = "is no unit of time; give the file as the tool wrote it";
                found.fail(&id, format!("benchmarks[{index}]: `{}` {message}", row.time_unit()));
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
        for (key, _) in &centre.numbers {
            let known = metric(centre, key);
            let Some(score) = centre.number(key) else { continue };
            let spread = spread.and_then(|row| row.number(key));
            let summary = Summary {
                score,
                spread: spread.map(Spread::StandardDeviation),
                n: centre.repetitions.map(|n| n as u32),
                launches: Some(1),
            };
            found.summary(id, &known, summary);
        }
    }
}

/// The repetitions of a benchmark as samples of one launch.
fn launch(id: &BenchmarkId, rows: &[&GRow<'_>], found: &mut Found<'_>) {
    let keys: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.numbers.iter().map(|(key, _)| &**key)).collect();
    for key in keys {
        let mut having = rows.iter().filter(|row| row.number(key).is_some()).peekable();
        let Some(first) = having.peek().copied() else { continue };
        let known = &metric(first, key);
        // Repetitions may differ in unit: each is brought to that of the first.
        let factor = |row: &GRow<'_>| {
            let alike = row.time_unit() == first.time_unit();
            if alike { 1.0 } else { metric(row, key).factor / known.factor }
        };
        let values: Vec<f64> =
            having.filter_map(|row| Some(row.number(key)? * factor(row))).collect();
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

/// What a key of a row measures.
fn metric(row: &GRow<'_>, key: &str) -> Known {
    match key {
        "real_time" => named("time", row.time_unit()),
        "cpu_time" => named("cpu-time", row.time_unit()),
        "bytes_per_second" => named(key, "B/s"),
        "items_per_second" => named(key, "items/s"),
        "allocs_per_iter" => named(key, "allocations"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => named(key, "B"),
        _ => named(&own_name(key), ""),
    }
}

/// What aggregate a row is, if it is one. Files of early versions tell by the ending of the name alone.
fn aggregate<'a>(row: &'a GRow<'_>, names: &BTreeSet<&str>) -> Option<&'a str> {
    if row.fit {
        return Some("BigO");
    }
    if row.rms {
        return Some("RMS");
    }
    if row.aggregate_name.is_some() || row.run_type.as_deref() == Some("aggregate") {
        return Some(row.aggregate_name.as_deref().unwrap_or_default());
    }
    if row.run_type.is_some() {
        return None;
    }
    let name = &*row.name;
    let ending = AGGREGATES.into_iter().find(|ending| name.ends_with(ending))?;
    let stem = name.strip_suffix(ending)?;
    let has = |ending: &str| names.contains(format!("{stem}{ending}").as_str());
    let kind = name.get(stem.len() + 1..)?;
    (has("") || (has("_mean") && has("_median") && has("_stddev"))).then_some(kind)
}

/// The benchmark that an aggregate is of.
fn subject<'a>(row: &'a GRow<'_>, kind: &str) -> &'a str {
    let name = &*row.name;
    match &*row.run_name {
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
    use super::super::testing::{failures, notices, rows, run_of, survives, try_run_of};

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
        let run = run_of(&text);
        survives(&text);
        assert_eq!(
            rows(&run),
            [
                "BM_Copy/64 :time  unknown exactly 1 exactly 1",
                "BM_Copy/64 bytes_per_second B/s higher [7000000000 6000000000]",
                "BM_Copy/64 cpu-time ns lower [9 500]",
                "BM_Copy/64 items_per_second items/s higher [100 90]",
                "BM_Copy/64 max_bytes_used B lower exactly 640 exactly 640",
                "BM_Copy/64 misses  unknown exactly 3 exactly 4",
                "BM_Copy/64 time ns lower [9.5 250]",
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
        let all = [
            row("BM_A", 1.0),
            row("BM_A", 3.0),
            row("BM_A_mean", 2.0),
            row("BM_A_stddev", 1.0),
            row("harmonic_mean", 5.0),
        ];
        assert_eq!(
            rows(&run_of(&file(&all.join(",")))),
            ["BM_A time ns lower [1 3]", "harmonic_mean time ns lower [5]"]
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
        let all = [row("mean", 2.0), row("median", 1.75), row("stddev", 0.5), row("cv", 0.25)];
        assert_eq!(
            rows(&run_of(&file(&all.join(",")))),
            [
                "BM_A cpu-time ns lower score 2000 sd 500 n 5 of 1",
                "BM_A time ns lower score 2000 sd 500 n 5 of 1",
            ]
        );
        let run =
            run_of(&file(&format!("{},{}", row("max", 3.0), r#"{"name": "B", "real_time": 1}"#)));
        assert_eq!(notices(&run), ["unknown-aggregate"]);
        assert_eq!(run.series.len(), 1);
    }

    #[test]
    fn errors_and_missing_times_fail_by_name() {
        let run = run_of(&file(
            r#"{"name": "BM_Open", "run_type": "iteration", "error_occurred": true, "error_message": "no such file", "real_time": 0},
               {"name": "BM_Nan", "run_type": "iteration", "real_time": NaN, "time_unit": "ns"},
               {"name": "BM_Zero", "run_type": "iteration", "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
               {"name": "BM_Unit", "run_type": "iteration", "real_time": 1, "time_unit": "fortnights"},
               {"name": "BM_Not", "run_type": "iteration", "skipped": true, "skip_message": "no GPU"},
               {"run_type": "iteration", "real_time": 1}"#,
        ));
        assert_eq!(
            failures(&run),
            [
                "BM_Nan: benchmarks[1]: real_time is no number; look at why it was not measured",
                "BM_Open: benchmarks[0]: it failed: no such file",
                "BM_Unit: benchmarks[3]: `fortnights` is no unit of time; give the file as the tool wrote it",
                "BM_Zero: time: every total is zero, so nothing was measured",
                "benchmarks[5]: benchmarks[5] has no name; write the file again",
            ]
        );
        assert_eq!(notices(&run), ["skipped"]);
    }

    #[test]
    fn two_families_of_one_name_are_kept_apart() {
        let row = |family: u32, time: u32| {
            format!(
                r#"{{"name": "BM_A", "run_type": "iteration", "family_index": {family}, "real_time": {time}}}"#
            )
        };
        let run = run_of(&file(&[row(0, 1), row(0, 2), row(1, 9)].join(",")));
        assert_eq!(rows(&run), ["BM_A time ns lower [1 2]", "BM_A #2 time ns lower [9]"]);
        assert_eq!(notices(&run), ["duplicate-name"]);
    }

    #[test]
    fn a_cut_file_says_where() {
        let whole = file(r#"{"name": "BM_A", "real_time": 1}"#);
        let error = try_run_of(&whole[..whole.len() - 3]).unwrap_err().to_string();
        assert!(error.starts_with("results: it begins as JSON, but EOF while parsing"), "{error}");
        assert!(error.contains("it looks most like Google Benchmark JSON"), "{error}");
        let empty = try_run_of(&file("")).unwrap();
        assert_eq!(
            empty.notices[0].seen,
            "results is Google Benchmark JSON but holds no benchmark"
        );
    }
}
