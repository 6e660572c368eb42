//! Reads what `critcmp --export` writes: criterion's own estimates of every benchmark of one baseline.
//!
//! ```text
//! {"name": "main", "benchmarks": {
//!   "group/function": {
//!     "baseline": "main", "fullname": "main/group/function",
//!     "criterion_benchmark_v1": {"group_id": "group", "throughput": null, ..},
//!     "criterion_estimates_v1": {"mean": {"point_estimate": 20.0, "standard_error": 0.3, ..}, ..}}}}
//! ```
//!
//! There are no samples and no number of them, so a row is shown but not tested. The unit is not said; it is
//! nanoseconds unless the caller knows of another measurement.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Format;
use super::criterion::{CEstimates, Interval, mean_of};
use super::found::Found;
use super::input::Input;
use super::unit::Known;
use crate::error::Result;
use crate::model::Metric;

pub(super) const FORMAT: Format = Format {
    name: "critcmp export",
    signs: &["criterion_estimates_v1", "criterion_benchmark_v1", "point_estimate"],
    claims: |input| {
        input.outline().is_some_and(|outline| !outline.list && outline.has(&["name", "benchmarks"]))
            && input.glance().contains("\"criterion_estimates_v1\"")
    },
    read,
};

#[derive(Deserialize)]
struct CExport {
    benchmarks: BTreeMap<String, CBenchmark>,
}

#[derive(Deserialize)]
struct CBenchmark {
    criterion_estimates_v1: Option<CEstimates>,
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let metric = found.stated().cloned().unwrap_or_else(Metric::time);
    let known = Known { metric, factor: 1.0 };
    for (name, benchmark) in input.json::<CExport>()?.benchmarks {
        let id = found.id("", &name);
        let mean = benchmark
            .criterion_estimates_v1
            .ok_or_else(|| "it has no `criterion_estimates_v1`".to_owned())
            .and_then(|estimates| mean_of(estimates, Interval::Checked));
        match mean {
            Ok(mean) => found.summary(&id, &known, mean),
            Err(message) => {
                found.fail(&id, format!("`benchmarks.{name}`: {message}; export it again"))
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, rows, run_of};

    fn benchmark(name: &str, mean: &str) -> String {
        format!(
            r#""{name}":{{"baseline":"main","fullname":"main/{name}","criterion_benchmark_v1":{{"group_id":"g","function_id":null,"value_str":null,"throughput":{{"Bytes":12}},"full_id":"{name}","directory_name":"g"}},"criterion_estimates_v1":{{"mean":{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":19.5,"upper_bound":20.5}},"point_estimate":{mean},"standard_error":0.25}},"median":{{}},"slope":null,"std_dev":{{}}}}}}"#
        )
    }

    fn export(benchmarks: &[String]) -> String {
        format!(r#"{{"name":"main","benchmarks":{{{}}}}}"#, benchmarks.join(","))
    }

    #[test]
    fn means_are_read() {
        let run = run_of(&export(&[benchmark("g/a", "20.0"), benchmark("g/b/10", "20.25")]));
        assert_eq!(
            rows(&run),
            [
                "g/a time ns lower score 20 se 0.25 of 1",
                "g/b/10 time ns lower score 20.25 se 0.25 of 1"
            ]
        );
        assert!(failures(&run).is_empty());
    }

    #[test]
    fn capital_keys_of_older_versions_are_read() {
        let text = export(&[benchmark("a", "20.0")]).replace("\"mean\"", "\"Mean\"");
        assert_eq!(rows(&run_of(&text)), ["a time ns lower score 20 se 0.25 of 1"]);
    }

    #[test]
    fn what_was_edited_or_not_measured_is_told() {
        let run = run_of(&export(&[
            benchmark("edited", "540.0"),
            benchmark("empty", "NaN"),
            r#""gone":{"baseline":"main"}"#.to_owned(),
        ]));
        assert_eq!(
            failures(&run),
            [
                "edited: `benchmarks.edited`: the mean 540 lies outside its own interval; export it again",
                "empty: `benchmarks.empty`: measured nothing: the mean is zero, negative or not a number; export it again",
                "gone: `benchmarks.gone`: it has no `criterion_estimates_v1`; export it again",
            ]
        );
        assert!(rows(&run).is_empty());
    }

    #[test]
    fn an_export_that_is_cut_off_is_refused() {
        let text = export(&[benchmark("a", "20.0")]);
        let said = error(&text[..300]);
        assert!(said.contains("it begins as JSON, but EOF"), "{said}");
        assert!(said.contains("looks most like critcmp export"), "{said}");
    }
}
