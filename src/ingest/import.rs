//! Reads `pacegate.import/1`: a small JSON for the results of harnesses that nobody here knows.
//!
//! ```text
//! {"schema": "pacegate.import/1", "suite": "codec", "revision": "0123abc",
//!  "environment": {"hard": {"cpu": "Some CPU"}},                    what must not differ between two sides
//!  "benchmarks": [
//!    {"name": "pack/small", "unit": "us", "launches": [[12.1, 12.3], [12.0, 12.2]]},   values of two processes
//!    {"name": "pack/small", "metric": "output", "unit": "B", "exact": 512},
//!    {"name": "serve", "metric": "score", "unit": "points", "better": "higher",
//!     "summary": {"score": 940, "spread": {"standard_deviation": 12}, "n": 20, "launches": 1}},
//!    {"name": "unpack", "failed": "timed out"}]}
//! ```
//!
//! `pacegate schema import` prints the schema. Unlike those of other formats, its unknown keys are refused: who writes
//! it writes it for pacegate.

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::Format;
use super::found::{Found, named};
use super::input::Input;
use super::unit;
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Environment, Revision, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "pacegate import",
    signs: &["pacegate.import", "\"schema\"", "\"benchmarks\"", "\"launches\""],
    claims: |input| {
        input.outline().is_some_and(|outline| !outline.list && outline.has(&["schema"]))
            && input.glance().contains("\"pacegate.import/")
    },
    read,
};

const SCHEMA: &str = "pacegate.import/1";

/// The JSON schema of a file for import.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schema_for!(File)).expect("a schema is JSON") + "\n"
}

/// Results of a harness that pacegate does not know, written for it: all benchmarks of one suite on one side.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "pacegate.import/1")]
struct File {
    /// Names the format and its version.
    #[serde(rename = "schema", deserialize_with = "this_version")]
    #[schemars(with = "String", extend("const" = SCHEMA))]
    _schema: (),
    /// Where the benchmarks live, for example a bench target or package.
    #[serde(default)]
    suite: String,
    /// What was measured: a commit hash.
    #[serde(default)]
    revision: Option<String>,
    /// Where it was measured. Two sides whose hard facts differ are not compared.
    #[serde(default)]
    environment: Environment,
    /// The benchmarks, one entry for each metric.
    benchmarks: Vec<Benchmark>,
}

/// One metric of one benchmark. Exactly one of `launches`, `exact`, `summary` and `failed` says what was seen.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["launches"]}, {"required": ["exact"]}, {"required": ["summary"]}, {"required": ["failed"]}
]))]
struct Benchmark {
    /// Full name within the suite.
    name: String,
    /// What is measured; `time`, `bytes`, `throughput` and so on by the unit, if nothing else is said.
    #[serde(default)]
    metric: Option<String>,
    /// Unit of every value: `ns`, `us/op`, `MiB`, `ops/s`, `instructions`, or any other name.
    #[serde(default)]
    unit: String,
    /// Which way is good. Units of time, size and counted work, and rates, say so by themselves.
    #[serde(default)]
    better: Option<Better>,
    /// The values of each process in measured order, one list for each process.
    #[serde(default)]
    launches: Option<Vec<Vec<f64>>>,
    /// A count or size that is the same in every run.
    #[serde(default)]
    exact: Option<f64>,
    /// A score without its values.
    #[serde(default)]
    summary: Option<Summary>,
    /// Why there is no value.
    #[serde(default)]
    failed: Option<String>,
}

fn this_version<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<(), D::Error> {
    match String::deserialize(deserializer)? {
        schema if schema == SCHEMA => Ok(()),
        schema => {
            Err(D::Error::custom(format!("the format is `{schema}`, but `{SCHEMA}` is read here")))
        }
    }
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let file: File = input.json()?;
    if let Some(id) = file.revision {
        let name = id.get(..7).unwrap_or(&id).to_owned();
        found.next_run(Revision { id, name, distance: None });
    }
    found.current().environment = file.environment;
    for (index, benchmark) in file.benchmarks.into_iter().enumerate() {
        let id = found.id(&file.suite, &benchmark.name);
        if let Err(message) = add(found, &id, benchmark) {
            found.fail(&id, format!("benchmarks[{index}]: {message}"));
        }
    }
    Ok(())
}

fn add(found: &mut Found<'_>, id: &BenchmarkId, benchmark: Benchmark) -> Result<(), String> {
    let Benchmark { metric, unit, better, launches, exact, summary, failed, .. } = benchmark;
    let mut known = match &metric {
        Some(name) => named(name, &unit),
        None => unit::understand(&unit),
    };
    if let Some(better) = better {
        known = found.declared(id, known, better);
    }
    match (launches, exact, summary, failed) {
        (Some(launches), None, None, None) => found.launches(id, &known, &launches),
        (None, Some(value), None, None) => found.exact(id, &known, value),
        (None, None, Some(summary), None) => {
            if let Some(Spread::HalfWidth { confidence, .. }) = summary.spread
                && !(0.0 < confidence && confidence < 1.0)
            {
                return Err("`confidence` is not between 0 and 1; write 0.95 for 95 %".into());
            }
            found.summary(id, &known, summary);
        }
        (None, None, None, Some(why)) => return Err(why),
        _ => {
            return Err(
                "exactly one of `launches`, `exact`, `summary` and `failed` must say what was seen"
                    .into(),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lines, notices, run_of};

    fn check(benchmarks: &str, expected: &[&str]) {
        let run =
            run_of(&format!(r#"{{"schema": "pacegate.import/1", "benchmarks": [{benchmarks}]}}"#));
        assert_eq!(lines(&run), expected);
    }

    #[test]
    fn all_kinds_of_evidence_can_be_written() {
        let run = run_of(
            r#"{"schema": "pacegate.import/1", "suite": "codec", "revision": "0123456789",
            "environment": {"hard": {"cpu": "Some CPU"}},
            "benchmarks": [
                {"name": "pack", "unit": "us", "launches": [[12, 13], [14]]},
                {"name": "pack", "metric": "output", "unit": "KiB", "exact": 2},
                {"name": "serve", "metric": "score", "unit": "points", "better": "higher",
                 "summary": {"score": 940, "spread": {"standard_deviation": 12}, "n": 20, "launches": 1}},
                {"name": "unpack", "failed": "timed out"}]}"#,
        );
        assert_eq!(
            lines(&run),
            [
                "codec::pack output B lower exactly 2048",
                "codec::pack time ns lower [12000 13000] [14000]",
                "codec::serve score points higher score 940 sd 12 n 20 of 1",
                "codec::unpack failed: benchmarks[3]: timed out",
            ]
        );
        assert_eq!(run.revision.unwrap().name, "0123456");
        assert_eq!(run.environment.hard["cpu"], "Some CPU");
    }

    #[test]
    fn a_direction_that_contradicts_its_unit_is_told() {
        let run = run_of(
            r#"{"schema": "pacegate.import/1", "benchmarks": [
            {"name": "a", "unit": "ms", "better": "higher", "exact": 1}, {"name": "b", "unit": "x", "exact": 1}]}"#,
        );
        assert_eq!(lines(&run), ["a time ns higher exactly 1000000", "b x x unknown exactly 1"]);
        assert_eq!(notices(&run), ["direction-contradicts-unit"]);
    }

    #[test]
    fn what_says_nothing_fails() {
        check(
            r#"{"name": "a", "unit": "ns"},
               {"name": "b", "unit": "ns", "exact": 1, "failed": "no"},
               {"name": "c", "unit": "ns", "launches": []},
               {"name": "d", "unit": "ns", "launches": [[1], [-1]]},
               {"name": "e", "unit": "ns", "summary": {"score": 1, "spread": {"standard_error": -1}}},
               {"name": "f", "unit": "ns", "summary": {"score": 1, "spread": {"half_width": {"value": 1, "confidence": 95}}}}"#,
            &[
                "a failed: benchmarks[0]: exactly one of `launches`, `exact`, `summary` and `failed` must say what was seen",
                "b failed: benchmarks[1]: exactly one of `launches`, `exact`, `summary` and `failed` must say what was seen",
                "c failed: time: no launch is there; measure again",
                "d failed: time, launch 2: sample 0 has the impossible total -1",
                "e failed: the spread of time is negative or not a number; look at what wrote it",
                "f failed: benchmarks[5]: `confidence` is not between 0 and 1; write 0.95 for 95 %",
            ],
        );
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"schema": "pacegate.import/1", "benchmarks": [{"name": "a", "exakt": 1}]}"#),
            "results: unknown field `exakt`, expected one of `name`, `metric`, `unit`, `better`, `launches`, `exact`, \
             `summary`, `failed` at line 1 column 68; give the file as the tool wrote it"
        );
        assert_eq!(
            error(r#"{"schema": "pacegate.import/2", "benchmarks": []}"#),
            "results: the format is `pacegate.import/2`, but `pacegate.import/1` is read here at line 1 column 30; \
             give the file as the tool wrote it"
        );
    }
}
