//! Reads the messages of `cargo criterion --message-format=json`: one JSON object a line, among the lines of a build.
//!
//! ```text
//! {"reason": "benchmark-complete", "id": "group/function", "unit": "ns",
//!  "iteration_count": [10, 20, 30], "measured_values": [52.0, 101.0, 149.0],
//!  "mean": {"estimate": 5.1, "lower_bound": 5.0, "upper_bound": 5.2, "unit": "ns"},
//!  "typical": .., "median": .., "slope": .., "throughput": [..], "change": ..}
//! {"reason": "group-complete", ..}                                                  no measurement
//! ```
//!
//! `measured_values` are totals over `iteration_count` iterations. Programs that imitate the format may leave both
//! empty; then there is the mean alone. Names are cut after a hundred bytes.

use serde::Deserialize;

use super::Format;
use super::cargo::{self, quoted};
use super::criterion_text::{bounded, known};
use super::found::Found;
use super::input::{Input, Number, Shape};
use crate::error::Result;
use crate::model::BenchmarkId;

pub(super) const FORMAT: Format = Format {
    name: "cargo-criterion JSON messages",
    signs: &["\"reason\"", "benchmark-complete", "measured_values", "iteration_count"],
    claims: |input| {
        let may_be = match &input.shape {
            Shape::Json(outline) => outline.has(&["reason"]),
            Shape::Text | Shape::Broken(_) => input.text.contains("\"benchmark-complete\""),
        };
        may_be && input.objects().any(|(_, object)| is_result(object))
    },
    read,
};

/// The mean of the samples and the mean as it is stated come from the same numbers; they differ by rounding only.
const SAME_MEAN: f64 = 1e-6;

/// What every message has.
#[derive(Deserialize)]
struct CMessage {
    reason: String,
}

/// A message of the reason `benchmark-complete`.
#[derive(Deserialize)]
struct CComplete {
    id: String,
    iteration_count: Vec<u64>,
    measured_values: Vec<Number>,
    unit: String,
    mean: CEstimate,
}

#[derive(Deserialize)]
struct CEstimate {
    #[serde(default)]
    estimate: Number,
    #[serde(default)]
    lower_bound: Number,
    #[serde(default)]
    upper_bound: Number,
    unit: String,
}

fn is_result(object: &str) -> bool {
    serde_json::from_str::<CMessage>(object)
        .is_ok_and(|message| message.reason == "benchmark-complete")
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    for (number, object) in input.objects().filter(|(_, object)| is_result(object)) {
        match serde_json::from_str::<CComplete>(object) {
            Ok(complete) => {
                let id = found.printed("", &complete.id);
                if let Err(message) = keep(found, &id, complete) {
                    found.fail(&id, format!("line {number}: {message}; measure again"));
                }
            }
            Err(error) => found.incomplete("", format!("the message on line {number}: {error}")),
        }
    }
    if let Some(number) = input.cut_object() {
        found.incomplete("", format!("line {number}: a message is cut off"));
    }
    if let Some((number, line)) = input.lines().find(|(_, line)| cargo::crashed(line)) {
        found.incomplete("", format!("line {number}: {}", quoted(line)));
    }
    Ok(())
}

fn keep(found: &mut Found<'_>, id: &BenchmarkId, complete: CComplete) -> Result<(), String> {
    let CComplete { iteration_count, measured_values, unit, mean, .. } = complete;
    if iteration_count.is_empty() && measured_values.is_empty() {
        let (Some(score), Some(low), Some(high)) =
            (mean.estimate.0, mean.lower_bound.0, mean.upper_bound.0)
        else {
            return Err("measured nothing: the mean is not a number".into());
        };
        let summary = bounded(score, [low, high])?;
        found.summary(id, &known(&mean.unit), summary);
        return Ok(());
    }
    let totals: Vec<f64> = measured_values
        .into_iter()
        .map(|value| value.0)
        .collect::<Option<_>>()
        .ok_or("measured nothing: a measured value is not a number")?;
    let known = known(&unit);
    if let (Some(stated), true) = (mean.estimate.0, unit == mean.unit) {
        let values = totals.iter().zip(&iteration_count).map(|(total, &n)| total / n as f64);
        let ours = values.sum::<f64>() / totals.len() as f64;
        if SAME_MEAN * ours.abs() < (ours - stated).abs() {
            return Err(format!(
                "inconsistent: the measured values have the mean {ours}, but {stated} is stated"
            ));
        }
    }
    found.batches(id, &known, iteration_count, &totals);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, notices, rows, run_of};
    use crate::model::{Evidence, SamplingMode};

    /// A message with three samples of the mean 5.
    fn message(id: &str, values: &str) -> String {
        format!(
            r#"{{"reason":"benchmark-complete","id":"{id}","report_directory":"target/criterion/reports/x","iteration_count":[1,2,3],"measured_values":{values},"unit":"ns","throughput":[{{"per_iteration":7,"unit":"bytes"}}],"typical":{{"estimate":5.0,"lower_bound":4.0,"upper_bound":6.0,"unit":"ns"}},"mean":{{"estimate":5.0,"lower_bound":4.0,"upper_bound":6.0,"unit":"ns"}},"median":{{"estimate":5.0,"lower_bound":4.0,"upper_bound":6.0,"unit":"ns"}},"median_abs_dev":{{"estimate":0.0,"lower_bound":0.0,"upper_bound":0.0,"unit":"ns"}},"slope":null,"change":null}}"#
        )
    }

    #[test]
    fn samples_are_read_from_between_other_lines() {
        let run = run_of(&format!(
            "   Compiling x v0.1.0\n{{\"reason\":\"build-finished\",\"success\":true}}\n{}\nsmall                   time:   [4.0 ns 5.0 ns 6.0 ns]\n{}\n{{\"reason\":\"group-complete\",\"group_name\":\"g\",\"benchmarks\":[\"g/a\"],\"report_directory\":\"x\"}}\n",
            message("g/b", "[5.0,10.0,15.0]"),
            message("g/a", "[4.0,10.0,18.0]"),
        ));
        assert_eq!(rows(&run), ["g/a time ns lower [4 5 6]", "g/b time ns lower [5 5 5]"]);
        assert_eq!((failures(&run), notices(&run)), (vec![], vec![]));
        let Evidence::Sampled(launches) = &run.series[0].evidence else { panic!("samples") };
        assert_eq!(launches[0].sample.mode(), SamplingMode::Linear);
    }

    #[test]
    fn one_message_alone_and_a_pretty_one_are_read() {
        let one = message("a", "[5.0,10.0,15.0]");
        let pretty = serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(&one).expect("JSON"),
        )
        .expect("JSON");
        for text in [&one, &pretty, &format!("warning: x\n{pretty}\n")] {
            assert_eq!(rows(&run_of(text)), ["a time ns lower [5 5 5]"]);
        }
    }

    #[test]
    fn a_mean_alone_is_a_summary() {
        let text = message("a", "[]").replace("[1,2,3]", "[]");
        assert_eq!(rows(&run_of(&text)), ["a time ns lower score 5 ± 1 at 0.95 of 1"]);
    }

    #[test]
    fn what_does_not_fit_together_is_told() {
        let check = |values: &str, failure: &str| {
            let run = run_of(&message("a", values));
            assert_eq!(failures(&run), [failure], "{values}");
            assert!(rows(&run).is_empty(), "{values}");
        };
        check(
            "[NaN,1.0,2.0]",
            "a: line 1: measured nothing: a measured value is not a number; measure again",
        );
        check(
            "[5.0,10.0,150.0]",
            "a: line 1: inconsistent: the measured values have the mean 20, but 5 is stated; measure again",
        );
        check("[5.0,10.0]", "a: time: 3 iteration counts but 2 totals");
    }

    #[test]
    fn a_stream_that_broke_off_is_not_whole() {
        let whole = message("a", "[5.0,10.0,15.0]");
        let cut = &message("b", "[5.0,10.0,15.0]")[..90];
        let broke = run_of(&format!("{whole}\n{cut}\n"));
        assert_eq!(
            failures(&broke),
            [
                "(whole run): line 2: a message is cut off; benchmarks may be missing, so measure again"
            ]
        );
        let crashed = run_of(&format!("{whole}\nthread 'main' panicked at x.rs:1:1:\n"));
        assert_eq!(
            failures(&crashed),
            [
                "(whole run): line 2: `thread 'main' panicked at x.rs:1:1:`; benchmarks may be missing, so measure again"
            ]
        );
        let odd = run_of(&format!(
            "{whole}\n{}\n",
            whole.replace("\"unit\":\"ns\",\"throughput\"", "\"throughput\"")
        ));
        assert_eq!(
            failures(&odd),
            [
                "(whole run): the message on line 2: missing field `unit` at line 1 column 528; benchmarks may be missing, so measure again"
            ]
        );
    }

    #[test]
    fn one_message_that_is_cut_off_is_refused() {
        let said = error(&message("a", "[5.0,10.0,15.0]")[..90]);
        assert!(said.contains("it begins as JSON, but EOF"), "{said}");
        assert!(said.contains("looks most like cargo-criterion JSON messages"), "{said}");
    }
}
