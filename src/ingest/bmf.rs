//! Reads Bencher Metric Format, the JSON that bencher.dev takes from harnesses it does not know.
//!
//! ```text
//! {"codec::pack": {                                                   benchmark
//!    "latency": {"value": 88.0, "lower_value": 87.4, "upper_value": 88.9},    measure
//!    "file-size": {"value": 42}},
//!  "codec::grid": [                                                   since version 1: a benchmark with parameters
//!    {"parameters": {"op": "read", "size": 16}, "measures": {"latency": {"value": 42, "p99": 97}}}]}
//! ```
//!
//! A measure's name says its unit: nanoseconds for `latency`, operations a second for `throughput`, seconds for
//! `build-time`, bytes for `file-size`, counts for what valgrind counts. Nothing says what the bounds are the bounds of
//! or how many values stand behind them, so they only show whether a value contradicts them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::Format;
use super::found::{Found, counted, named};
use super::input::{Input, Pairs, Scalar, end_of_string};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::BenchmarkId;

pub(super) const FORMAT: Format = Format {
    name: "Bencher Metric Format",
    signs: &["\"latency\"", "\"lower_value\"", "\"upper_value\"", "\"measures\""],
    claims: |input| {
        input.outline().is_some_and(|outline| !outline.list)
            && begins_with_a_measure(&input.text).is_some()
    },
    read,
};

/// Whether the first measure of the first benchmark has the keys of one; the keys around it are anybody's.
fn begins_with_a_measure(text: &str) -> Option<()> {
    let (_, benchmark) = first_key(text)?;
    let known = match benchmark.strip_prefix('[') {
        Some(variants) => ["parameters", "measures"].contains(&first_key(variants)?.0),
        None => {
            let (_, measure) = first_key(benchmark)?;
            ["value", "lower_value", "upper_value"].contains(&first_key(measure)?.0)
        }
    };
    known.then_some(())
}

/// The key that an object begins with, and the text of its value and all that follows.
fn first_key(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('{')?.trim_start();
    let (key, rest) = text.split_at_checked(end_of_string(text))?;
    Some((key.trim_matches('"'), rest.trim_start().strip_prefix(':')?.trim_start()))
}

type BMeasures<'a> = Pairs<Cow<'a, str>, BTreeMap<Cow<'a, str>, Scalar<'a>>>;

enum BBenchmark<'a> {
    Measures(BMeasures<'a>),
    Variants(Vec<BVariant<'a>>),
}

#[derive(Deserialize)]
struct BVariant<'a> {
    #[serde(borrow, default)]
    parameters: BTreeMap<Cow<'a, str>, Scalar<'a>>,
    #[serde(borrow)]
    measures: BMeasures<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for BBenchmark<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = BBenchmark<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the measures of a benchmark")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(BBenchmark::Measures)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(BBenchmark::Variants)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let Pairs(benchmarks): Pairs<Cow<'_, str>, BBenchmark<'_>> = input.json()?;
    for (name, benchmark) in benchmarks {
        match benchmark {
            BBenchmark::Measures(measures) => {
                let id = found.id("", &name);
                add(found, &id, &measures);
            }
            BBenchmark::Variants(variants) => {
                for BVariant { parameters, measures } in variants {
                    let parameters: Vec<String> = parameters
                        .iter()
                        .map(|(key, value)| format!("{key}={}", value.text().unwrap_or_default()))
                        .collect();
                    let id = match parameters.as_slice() {
                        [] => found.id("", &name),
                        parameters => found.id("", &format!("{name} ({})", parameters.join(", "))),
                    };
                    add(found, &id, &measures);
                }
            }
        }
    }
    Ok(())
}

fn add(found: &mut Found<'_>, id: &BenchmarkId, Pairs(measures): &BMeasures<'_>) {
    if measures.is_empty() {
        found.fail(id, "it has no measure; look at why it was not measured");
    }
    for (measure, values) in measures {
        for (key, value) in values {
            if key == "lower_value" || key == "upper_value" {
                continue;
            }
            let Some(score) = value.number() else {
                found.fail(
                    id,
                    format!("`{key}` of {measure} is not a number; look at what wrote it"),
                );
                continue;
            };
            match unit_of(measure) {
                Measure::Count if key == "value" => found.exact(id, &counted(measure), score),
                Measure::Count => found.exact(id, &counted(&format!("{measure} {key}")), score),
                Measure::Known(mut known) => {
                    if key != "value" {
                        known.metric.name += &format!(" {key}");
                    }
                    found.lone(id, &known, score);
                }
            }
        }
        let bound = |key: &str| values.get(key).and_then(Scalar::number);
        let outside = bound("value").is_some_and(|value| {
            bound("lower_value").is_some_and(|lower| value < lower)
                || bound("upper_value").is_some_and(|upper| upper < value)
        });
        if outside {
            found.notice(
                "outside-its-bounds",
                format!("{measure} of {id} lies outside of its own bounds"),
                "one of the three was edited, or the bounds are meant as widths",
            );
        }
        if values.keys().all(|key| key == "lower_value" || key == "upper_value") {
            found.fail(id, format!("{measure} has no value; look at what wrote it"));
        }
    }
}

/// What a measure's name says of its values.
enum Measure {
    /// What valgrind and its like count: the same in every run.
    Count,
    Known(Known),
}

fn unit_of(measure: &str) -> Measure {
    let slug = measure.to_lowercase().replace([' ', '+', '_'], "-");
    let counts =
        ["-hits", "-accesses", "-cycles", "-blocks", "-errors", "-contexts", "-read-write"];
    Measure::Known(match slug.as_str() {
        "latency" => unit::understand("ns"),
        "throughput" => unit::understand("ops/s"),
        "build-time" => named(measure, "s"),
        "file-size" | "allocated" => named(measure, "B"),
        bytes if bytes.ends_with("-bytes") => named(measure, "B"),
        count if counts.iter().any(|ending| count.ends_with(ending)) => return Measure::Count,
        _ => unit::understand(measure),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lines, notices, run_of, runs};

    #[test]
    fn measures_say_their_units() {
        let run = run_of(
            r#"{
            "codec::pack": {
                "latency": {"value": 88.0, "lower_value": 87.5, "upper_value": 89},
                "throughput": {"value": 5.5},
                "Build Time": {"value": 2},
                "file-size": {"value": 42},
                "instructions": {"value": 1000},
                "l1-hits": {"value": 900},
                "peak-memory (kB)": {"value": 3},
                "furlongs": {"value": 7}},
            "empty": {}}"#,
        );
        assert_eq!(
            lines(&run),
            [
                "codec::pack Build Time ns lower score 2000000000",
                "codec::pack file-size B lower exactly 42",
                "codec::pack furlongs furlongs unknown score 7",
                "codec::pack instructions instructions lower exactly 1000",
                "codec::pack l1-hits l1-hits lower exactly 900",
                "codec::pack peak-memory B lower score 3000",
                "codec::pack throughput ops/s higher score 5.5",
                "codec::pack time ns lower score 88",
                "empty failed: it has no measure; look at why it was not measured",
            ]
        );
        assert!(notices(&run).is_empty());
    }

    #[test]
    fn parameters_and_percentiles_are_kept() {
        let run = run_of(
            r#"{"codec": [
            {"parameters": {"op": "read", "size": 16}, "measures": {"latency": {"value": 42, "p99": 97}}},
            {"measures": {"latency": {"p99": 5}}}]}"#,
        );
        assert_eq!(
            lines(&run),
            [
                "codec time p99 ns lower score 5",
                "codec (op=read, size=16) time ns lower score 42",
                "codec (op=read, size=16) time p99 ns lower score 97",
            ]
        );
    }

    #[test]
    fn what_is_no_number_or_contradicts_itself_is_told() {
        let run = run_of(
            r#"{
            "a": {"latency": {"value": null}},
            "b": {"latency": {"lower_value": 1}},
            "c": {"latency": {"value": 5, "lower_value": 6}},
            "d": {"latency": {"value": -5}}}"#,
        );
        assert_eq!(
            lines(&run),
            [
                "c time ns lower score 5",
                "a failed: `value` of latency is not a number; look at what wrote it",
                "b failed: latency has no value; look at what wrote it",
                "d failed: time is negative (-5), which no measurement is; look at what wrote it",
            ]
        );
        assert_eq!(notices(&run), ["outside-its-bounds"]);
    }

    #[test]
    fn a_name_that_comes_twice_keeps_both() {
        let run = run_of(r#"{"a": {"latency": {"value": 1}}, "a": {"latency": {"value": 2}}}"#);
        assert_eq!(lines(&run), ["a time ns lower score 1", "a #2 time ns lower score 2"]);
        assert_eq!(notices(&run), ["duplicate-name"]);
    }

    #[test]
    fn other_objects_of_objects_are_not_claimed() {
        for text in
            [r#"{"a": {"b": 1}}"#, r#"{"a": {"b": {"c": 1}}}"#, r#"{"a": {}}"#, r#"{"a": [1]}"#]
        {
            assert!(runs(text).unwrap_err().to_string().contains("which no tool writes"), "{text}");
        }
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"a": {"latency": {"value": 1}}, "b": {"latency": 2}}"#),
            "results: invalid type: integer `2`, expected a map at line 1 column 51; \
             give the file as the tool wrote it"
        );
    }
}
