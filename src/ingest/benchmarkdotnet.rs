//! Reads BenchmarkDotNet's JSON exports: `-report-full.json`, `-report-brief.json`, compressed or not, of any version.
//!
//! ```text
//! {"HostEnvironmentInfo": {"ProcessorName": "..", "RuntimeVersion": "..", "Architecture": "..", "OsVersion": ".."},
//!  "Benchmarks": [{
//!    "DisplayInfo": "Codec.Pack: ShortRun(LaunchCount=2) [Size=10]",   type, method, job, parameters
//!    "Namespace": "Demo", "Type": "Codec", "Method": "Pack", "Parameters": "Size=10",
//!    "FullName": "Demo.Codec.Pack(Size: 10)",                          old versions have none
//!    "Statistics": {"Mean": 41.5, "StandardDeviation": 0.5, "N": 3,    nanoseconds for one operation
//!                   "OriginalValues": [41, 41.5, 42]},                 NaN and "" stand for what is unknown
//!    "Memory": {"BytesAllocatedPerOperation": 32},                     with the memory diagnoser
//!    "Measurements": [                                                 full only
//!      {"IterationMode": "Workload", "IterationStage": "Result",       before 0.11: "IterationMode": "Result"
//!       "LaunchIndex": 1, "Operations": 100, "Nanoseconds": 4100}],
//!    "Metrics": [{"Value": 32, "Descriptor": {"Id": "Allocated Memory", "Unit": "B", "TheGreaterTheBetter": false}}]
//!  }]}
//! ```
//!
//! Measurements of the stage `Result` are what remains after warm-up, overhead and outliers: the samples of their
//! launches. Without them the original values are taken for one launch, and without those there is a summary.
//! Where a file holds several jobs, the job is part of the name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Format;
use super::found::{Found, facts, named};
use super::input::{Input, Number, Scalar};
use super::unit;
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Environment, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "BenchmarkDotNet JSON",
    signs: &["\"HostEnvironmentInfo\"", "\"Benchmarks\"", "\"Statistics\"", "\"FullName\""],
    claims: |input| {
        input.outline().is_some_and(|outline| !outline.list && outline.has(&["Benchmarks"]))
    },
    read,
};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DExport<'a> {
    #[serde(borrow, default)]
    host_environment_info: DHost<'a>,
    #[serde(borrow)]
    benchmarks: Vec<DBenchmark<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DHost<'a> {
    #[serde(borrow)]
    processor_name: Scalar<'a>,
    #[serde(borrow)]
    runtime_version: Scalar<'a>,
    #[serde(borrow)]
    architecture: Scalar<'a>,
    #[serde(borrow)]
    os_version: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DBenchmark<'a> {
    #[serde(borrow, default)]
    display_info: Scalar<'a>,
    #[serde(borrow, default)]
    namespace: Scalar<'a>,
    #[serde(borrow, default, rename = "Type")]
    class: Scalar<'a>,
    #[serde(borrow, default)]
    method: Scalar<'a>,
    #[serde(borrow, default)]
    parameters: Scalar<'a>,
    #[serde(borrow, default)]
    full_name: Scalar<'a>,
    #[serde(borrow)]
    statistics: Option<DStatistics<'a>>,
    memory: Option<DMemory>,
    #[serde(default)]
    measurements: Vec<DMeasurement>,
    #[serde(borrow, default)]
    metrics: Vec<DMetric<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DStatistics<'a> {
    #[serde(borrow, default)]
    mean: Scalar<'a>,
    #[serde(borrow, default)]
    standard_deviation: Scalar<'a>,
    n: Option<u32>,
    #[serde(default)]
    original_values: Vec<Number>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DMemory {
    #[serde(default)]
    bytes_allocated_per_operation: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DMeasurement {
    iteration_mode: DStage,
    #[serde(default)]
    iteration_stage: DStage,
    launch_index: u32,
    operations: f64,
    #[serde(default)]
    nanoseconds: Number,
}

/// What a measurement was made for, as either of its two keys says.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum DStage {
    Result,
    #[default]
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DMetric<'a> {
    #[serde(default)]
    value: Number,
    #[serde(borrow)]
    descriptor: DDescriptor<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DDescriptor<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    unit: Scalar<'a>,
    the_greater_the_better: Option<bool>,
}

/// What the memory diagnoser calls the bytes of one operation.
const ALLOCATED: &str = "Allocated Memory";

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let DExport { host_environment_info: host, benchmarks } = input.json()?;
    let hard = facts([
        ("cpu", host.processor_name.text()),
        ("runtime", host.runtime_version.text()),
        ("arch", host.architecture.text()),
    ]);
    let soft = facts([("os", host.os_version.text())]);
    found.current().environment = Environment { hard, soft, ..Environment::default() };
    let jobs: BTreeSet<Option<String>> = benchmarks.iter().map(DBenchmark::job).collect();
    for (index, benchmark) in benchmarks.iter().enumerate() {
        let place = format!("Benchmarks[{index}]");
        let (suite, mut name) = benchmark.name().unwrap_or_else(|| (String::new(), place.clone()));
        if let Some(job) = benchmark.job().filter(|_| jobs.len() > 1) {
            name += &format!(" [{job}]");
        }
        let id = found.id(&suite, &name);
        if let Err(message) = add(found, &id, benchmark) {
            found.fail(&id, format!("{place}: {message}"));
        }
    }
    Ok(())
}

impl DBenchmark<'_> {
    /// The class with its namespace, and the method with its parameters.
    fn name(&self) -> Option<(String, String)> {
        if let Some(full) = self.full_name.text() {
            // The last dot before the arguments that is not inside the brackets of a generic type.
            let mut depth = 0_usize;
            let mut cut = None;
            for (at, c) in full.char_indices() {
                match c {
                    '(' => break,
                    '<' | '[' => depth += 1,
                    '>' | ']' => depth = depth.saturating_sub(1),
                    '.' if depth == 0 => cut = Some(at),
                    _ => {}
                }
            }
            return Some(match cut.and_then(|cut| full.split_at_checked(cut)) {
                Some((class, method)) => (class.to_owned(), method.replacen('.', "", 1)),
                None => (String::new(), full.into_owned()),
            });
        }
        let method = self.method.text()?;
        let class: Vec<Cow<'_, str>> =
            [&self.namespace, &self.class].into_iter().filter_map(Scalar::text).collect();
        let name = match self.parameters.text() {
            Some(parameters) => format!("{method}({parameters})"),
            None => method.into_owned(),
        };
        Some((class.join("."), name))
    }

    /// The job that it ran in, unless that is the default one: `Codec.Pack: ShortRun(LaunchCount=2) [Size=10]`.
    fn job(&self) -> Option<String> {
        let text = self.display_info.text()?;
        let (_, rest) = text.split_once(": ")?;
        let job = rest.split_once(" [").map_or(rest, |(job, _)| job).trim();
        (job != "DefaultJob").then(|| job.to_owned())
    }
}

fn add(found: &mut Found<'_>, id: &BenchmarkId, benchmark: &DBenchmark<'_>) -> Result<(), String> {
    let statistics = benchmark
        .statistics
        .as_ref()
        .ok_or("it has no statistics; look at why the benchmark did not run")?;
    let time = named("time", "ns");
    let launches = benchmark.launches()?;
    let values: Vec<f64> = statistics.original_values.iter().filter_map(|value| value.0).collect();
    if !launches.is_empty() {
        found.launches(id, &time, &launches);
    } else if !values.is_empty() && values.len() == statistics.original_values.len() {
        found.launch(id, &time, &values);
    } else {
        let score = statistics
            .mean
            .number()
            .ok_or("its mean is not a number; look at why the benchmark did not run")?;
        let spread = statistics.standard_deviation.number().map(Spread::StandardDeviation);
        found.summary(id, &time, Summary { score, spread, n: statistics.n, launches: None });
    }
    for DMetric { value, descriptor } in &benchmark.metrics {
        let Number(Some(score)) = *value else { continue };
        let mut metric = named(&descriptor.id, &descriptor.unit.text().unwrap_or_default());
        if metric.metric.unit == unit::understand("B").metric.unit {
            found.exact(id, &metric, score);
            continue;
        }
        metric.metric.better = match descriptor.the_greater_the_better {
            Some(true) => Better::Higher,
            Some(false) => Better::Lower,
            None => metric.metric.better,
        };
        found.summary(id, &metric, Summary { score, spread: None, n: None, launches: None });
    }
    let allocated = benchmark.memory.as_ref().and_then(|m| m.bytes_allocated_per_operation.0);
    if let Some(bytes) =
        allocated.filter(|_| benchmark.metrics.iter().all(|m| m.descriptor.id != ALLOCATED))
    {
        found.exact(id, &named(ALLOCATED, "B"), bytes);
    }
    Ok(())
}

impl DBenchmark<'_> {
    /// Nanoseconds for one operation, by launch.
    fn launches(&self) -> Result<Vec<Vec<f64>>, String> {
        let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for measurement in &self.measurements {
            if ![measurement.iteration_stage, measurement.iteration_mode].contains(&DStage::Result)
            {
                continue;
            }
            let value = measurement.nanoseconds.0.map(|total| total / measurement.operations);
            let value = value.filter(|value| value.is_finite()).ok_or_else(|| {
                let launch = measurement.launch_index;
                format!("a measurement of launch {launch} is not a number; run it again")
            })?;
            launches.entry(measurement.launch_index).or_default().push(value);
        }
        Ok(launches.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lines, run_of};

    fn check(benchmarks: &str, expected: &[&str]) {
        let run = run_of(&format!(r#"{{"Benchmarks": [{benchmarks}]}}"#));
        assert_eq!(lines(&run), expected);
    }

    #[test]
    fn results_are_the_samples_of_their_launches() {
        check(
            r#"{"DisplayInfo": "Codec.Pack: DefaultJob [Size=10]", "Namespace": "Demo", "Type": "Codec",
                "Method": "Pack", "MethodTitle": "Pack", "Parameters": "Size=10", "FullName": "Demo.Codec.Pack(Size: 1.5)",
                "Statistics": {"Mean": 3, "N": 3},
                "Memory": {"Gen0Collections": 1, "TotalOperations": 100, "BytesAllocatedPerOperation": 32},
                "Measurements": [
                    {"IterationMode": "Overhead", "IterationStage": "Warmup", "LaunchIndex": 1, "IterationIndex": 1,
                     "Operations": 10, "Nanoseconds": 1},
                    {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 2, "IterationIndex": 1,
                     "Operations": 10, "Nanoseconds": 40},
                    {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "IterationIndex": 1,
                     "Operations": 10, "Nanoseconds": 20},
                    {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "IterationIndex": 2,
                     "Operations": 10, "Nanoseconds": 30}],
                "Metrics": [
                    {"Value": 10, "Descriptor": {"Id": "Gen0Collects", "Unit": "Count", "TheGreaterTheBetter": false}},
                    {"Value": 32, "Descriptor": {"Id": "Allocated Memory", "Unit": "B", "TheGreaterTheBetter": false}},
                    {"Value": 0.5, "Descriptor": {"Id": "HitRate", "Unit": "", "TheGreaterTheBetter": true}}]}"#,
            &[
                "Demo.Codec::Pack(Size: 1.5) Allocated Memory B lower exactly 32",
                "Demo.Codec::Pack(Size: 1.5) Gen0Collects Count lower score 10",
                "Demo.Codec::Pack(Size: 1.5) HitRate  higher score 0.5",
                "Demo.Codec::Pack(Size: 1.5) time ns lower [2 3] [4]",
            ],
        );
    }

    #[test]
    fn old_measurements_name_their_stage_as_mode() {
        check(
            r#"{"Method": "Nap", "Statistics": {"Mean": 2}, "Measurements": [
                {"IterationMode": "MainTarget", "LaunchIndex": 1, "Operations": 1, "Nanoseconds": 9},
                {"IterationMode": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 4}]}"#,
            &["Nap time ns lower [2]"],
        );
    }

    #[test]
    fn a_brief_export_has_values_or_a_mean() {
        check(
            r#"{"FullName": "A.B.Values", "Statistics": {"OriginalValues": [1, 2], "N": 2, "Mean": 1.5},
                "Memory": {"BytesAllocatedPerOperation": 24}},
               {"FullName": "A.B.Mean", "Statistics": {"N": 2, "Mean": 1.5, "StandardDeviation": 0.5}}"#,
            &[
                "A.B::Mean time ns lower score 1.5 sd 0.5 n 2",
                "A.B::Values Allocated Memory B lower exactly 24",
                "A.B::Values time ns lower [1 2]",
            ],
        );
    }

    #[test]
    fn a_deviation_that_is_no_number_is_unknown() {
        check(
            r#"{"FullName": "N.T.M", "Statistics": {"Mean": 41.5, "StandardDeviation": NaN, "N": 1}},
               {"FullName": "N.T.M2(a: 1, NaN, inf)", "Statistics": {"Mean": "41.5", "StandardDeviation": "", "N": 1}}"#,
            &[
                "N.T::M time ns lower score 41.5 n 1",
                "N.T::M2(a: 1, NaN, inf) time ns lower score 41.5 n 1",
            ],
        );
    }

    #[test]
    fn a_name_is_made_of_what_there_is() {
        check(
            r#"{"Namespace": null, "Method": "Alone", "Statistics": {"Mean": 0, "StandardDeviation": 0}},
               {"Namespace": "Demo", "Type": "Codec", "Method": "Pack", "Parameters": "Size=10",
                "Statistics": {"Mean": 5}},
               {"FullName": "Demo.Bag<System.Int32>.Add<System.Byte>(x: 1.5)", "Statistics": {"Mean": 6}},
               {"FullName": "Plain", "Statistics": {"Mean": 7}},
               {"Statistics": {"Mean": 8}}"#,
            &[
                "Alone time ns lower score 0 sd 0",
                "Benchmarks[4] time ns lower score 8",
                "Plain time ns lower score 7",
                "Demo.Bag<System.Int32>::Add<System.Byte>(x: 1.5) time ns lower score 6",
                "Demo.Codec::Pack(Size=10) time ns lower score 5",
            ],
        );
    }

    #[test]
    fn jobs_are_told_apart_where_there_are_several() {
        check(
            r#"{"FullName": "A.B.C", "DisplayInfo": "B.C: DefaultJob", "Statistics": {"Mean": 1}},
               {"FullName": "A.B.C", "DisplayInfo": "B.C: Job-ABCDEF(Runtime=.NET 9.0)", "Statistics": {"Mean": 2}}"#,
            &[
                "A.B::C time ns lower score 1",
                "A.B::C [Job-ABCDEF(Runtime=.NET 9.0)] time ns lower score 2",
            ],
        );
        check(
            r#"{"FullName": "A.B.C", "DisplayInfo": "B.C: ShortRun(LaunchCount=1)", "Statistics": {"Mean": 1}}"#,
            &["A.B::C time ns lower score 1"],
        );
    }

    #[test]
    fn what_did_not_run_fails() {
        check(
            r#"{"FullName": "A.B.C", "Statistics": null},
               {"FullName": "A.B.D", "Statistics": {"Mean": NaN}},
               {"FullName": "A.B.E", "Statistics": {"Mean": 1}, "Measurements": [
                {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 0, "Nanoseconds": 4}]}"#,
            &[
                "A.B::C failed: Benchmarks[0]: it has no statistics; look at why the benchmark did not run",
                "A.B::D failed: Benchmarks[1]: its mean is not a number; look at why the benchmark did not run",
                "A.B::E failed: Benchmarks[2]: a measurement of launch 1 is not a number; run it again",
            ],
        );
    }

    #[test]
    fn the_machine_is_kept() {
        let run = run_of(
            r#"{"HostEnvironmentInfo": {"ProcessorName": {"IsValueCreated": true, "Value": "X"},
            "RuntimeVersion": ".NET 9.0", "Architecture": "X64", "OsVersion": "Linux"},
            "Benchmarks": [{"Method": "M", "Statistics": {"Mean": 1}}]}"#,
        );
        assert_eq!(run.environment.hard["runtime"], ".NET 9.0");
        assert_eq!(run.environment.hard["arch"], "X64");
        assert_eq!(run.environment.soft["os"], "Linux");
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"Benchmarks": [{"Method": "M", "Statistics": 5}]}"#),
            "results: invalid type: integer `5`, expected struct DStatistics at line 1 column 47; \
             give the file as the tool wrote it"
        );
    }
}
