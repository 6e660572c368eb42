//! Reads what pytest-benchmark saves with `--benchmark-json`, `--benchmark-save` and `--benchmark-autosave`.
//!
//! ```text
//! {"machine_info": {"machine": "x86_64", "python_implementation": "CPython", "python_version": "3.12.1",
//!                   "system": "Linux", "release": "6.8.0", "cpu": {"brand_raw": "Some CPU"}},   brand before 4.0
//!  "commit_info": {"id": "5c1e..", "dirty": false},
//!  "benchmarks": [{
//!    "group": null, "name": "test_parse[small]", "fullname": "tests/test_io.py::test_parse[small]",
//!    "params": {"size": "small"}, "extra_info": {},
//!    "stats": {"mean": 2.5e-5, "stddev": 1e-6, "rounds": 2, "iterations": 10,    seconds for one iteration
//!              "data": [2.4e-5, 2.6e-5]}                                         only with --benchmark-save-data
//!  }]}
//! ```
//!
//! All rounds come from one process, so they are the samples of one launch. `ops` is the mean written differently, the
//! parameters stand in the name already, and `extra_info` holds the author's own notes, which have no unit.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Format;
use super::found::{Found, facts, named};
use super::input::{Input, Number, Scalar};
use crate::error::Result;
use crate::model::{BenchmarkId, Environment, Revision, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "pytest-benchmark JSON",
    signs: &["\"machine_info\"", "\"fullname\"", "\"stddev_outliers\"", "\"benchmarks\""],
    claims: |input| {
        input.outline().is_some_and(|outline| {
            !outline.list
                && outline.has(&["benchmarks"])
                && (outline.has(&["machine_info"])
                    || outline.has_inside("benchmarks", &["stats", "fullname"]))
        })
    },
    read,
};

/// The mean of the data and the mean that is written differ by rounding only.
const SAME_MEAN: f64 = 1e-6;

#[derive(Deserialize)]
struct PFile<'a> {
    #[serde(borrow, default)]
    machine_info: PMachine<'a>,
    #[serde(borrow, default)]
    commit_info: PCommit<'a>,
    #[serde(rename = "benchmarks")]
    _benchmarks: Vec<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PMachine<'a> {
    #[serde(borrow)]
    machine: Scalar<'a>,
    #[serde(borrow)]
    python_implementation: Scalar<'a>,
    #[serde(borrow)]
    python_version: Scalar<'a>,
    #[serde(borrow)]
    system: Scalar<'a>,
    #[serde(borrow)]
    release: Scalar<'a>,
    #[serde(borrow)]
    cpu: PCpu<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PCpu<'a> {
    #[serde(borrow)]
    brand: Scalar<'a>,
    #[serde(borrow)]
    brand_raw: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PCommit<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    dirty: bool,
}

#[derive(Deserialize)]
struct PBenchmark<'a> {
    #[serde(borrow)]
    fullname: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    stats: Option<PStats>,
}

#[derive(Deserialize)]
struct PStats {
    #[serde(default)]
    mean: Number,
    #[serde(default)]
    stddev: Number,
    rounds: Option<u32>,
    data: Option<Vec<Number>>,
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let rest = input.bulk("benchmarks", |index, benchmark: PBenchmark<'_>| {
        let full = benchmark.fullname.as_deref().unwrap_or(&benchmark.name);
        // Parameters stand in brackets behind the function and may hold anything.
        let path = full.split_once('[').map_or(full, |(path, _)| path);
        let cut = path.rfind("::").filter(|&cut| cut > 0);
        let (suite, name) = match cut.and_then(|cut| full.split_at_checked(cut)) {
            Some((suite, name)) => (suite, name.trim_start_matches("::")),
            None => ("", full),
        };
        let id = found.id(suite, name);
        if let Err(message) = add(found, &id, benchmark.stats) {
            found.fail(&id, format!("benchmarks[{index}].stats: {message}"));
        }
    })?;
    let PFile { machine_info, commit_info, .. } = rest.json()?;
    let run = found.current();
    run.revision = revision(&commit_info);
    run.environment = environment(&machine_info);
    Ok(())
}

fn add(found: &mut Found<'_>, id: &BenchmarkId, stats: Option<PStats>) -> Result<(), String> {
    let PStats { mean: Number(mean), stddev: Number(stddev), rounds, data } =
        stats.ok_or("there are none; run the test again")?;
    let data = data.unwrap_or_default();
    let time = named("time", "s");
    if rounds.is_none_or(|rounds| rounds as usize == data.len()) && !data.is_empty() {
        let values: Option<Vec<f64>> = data.iter().map(|value| value.0).collect();
        let values = values.ok_or("one value of `data` is not a number; run the test again")?;
        let of_data = values.iter().sum::<f64>() / values.len() as f64;
        if let Some(mean) = mean.filter(|mean| SAME_MEAN * mean.abs() < (of_data - mean).abs()) {
            return Err(format!(
                "the mean of `data` is {of_data} and `mean` is {mean}; one of them was edited, run the test again"
            ));
        }
        found.launch(id, &time, &values);
        return Ok(());
    }
    if !data.is_empty() {
        let numbers = data.iter().filter(|value| value.0.is_some()).count();
        found.notice(
            "cut-data",
            format!("{id} has {numbers} values of {} rounds", rounds.unwrap_or_default()),
            "somebody shortened the file, so only its mean and deviation are used",
        );
    }
    let score = mean.ok_or("`mean` is not a number; run the test again")?;
    let spread = stddev.map(Spread::StandardDeviation);
    found.summary(id, &time, Summary { score, spread, n: rounds, launches: Some(1) });
    Ok(())
}

fn revision(commit: &PCommit<'_>) -> Option<Revision> {
    let id = commit.id.text()?;
    // Outside of a repository it is a word.
    let short = id.get(..7).filter(|_| id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let name = if commit.dirty { format!("working tree on {short}") } else { short.to_owned() };
    Some(Revision { id: id.clone().into_owned(), name, distance: None })
}

fn environment(machine: &PMachine<'_>) -> Environment {
    let hard = facts([
        ("arch", machine.machine.text()),
        ("cpu", machine.cpu.brand_raw.text().or_else(|| machine.cpu.brand.text())),
        ("python", machine.python_version.text()),
        ("python-implementation", machine.python_implementation.text()),
    ]);
    let soft = facts([("os", machine.system.text()), ("kernel", machine.release.text())]);
    Environment { hard, soft, ..Environment::default() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lines, notices, run_of};
    use crate::model::Environment;

    fn check(benchmarks: &str, expected: &[&str]) {
        let run = run_of(&format!(r#"{{"machine_info": {{}}, "benchmarks": [{benchmarks}]}}"#));
        assert_eq!(lines(&run), expected);
    }

    #[test]
    fn saved_data_is_one_launch() {
        check(
            r#"{"group": "io", "name": "test_parse[a::b]", "fullname": "tests/test_io.py::TestFast::test_parse[a::b]",
                "params": {"text": "a::b"}, "param": "a::b", "extra_info": {"rows": 7},
                "stats": {"mean": 2.5, "stddev": 0.7, "rounds": 2, "iterations": 10, "ops": 0.4, "data": [2, 3]}}"#,
            &["tests/test_io.py::TestFast::test_parse[a::b] time ns lower [2000000000 3000000000]"],
        );
    }

    #[test]
    fn without_data_there_is_a_summary() {
        check(
            r#"{"name": "test_old", "fullname": "test_old.py::test_old", "group": null,
                "stats": {"mean": 0.5, "stddev": 0.25, "rounds": 40, "iterations": 3}},
               {"name": "test_bare", "stats": {"mean": 0.5, "stddev": null}}"#,
            &[
                "test_bare time ns lower score 500000000 of 1",
                "test_old.py::test_old time ns lower score 500000000 sd 250000000 n 40 of 1",
            ],
        );
    }

    #[test]
    fn shortened_data_is_not_taken_for_all_of_it() {
        let run = run_of(
            r#"{"machine_info": {}, "benchmarks": [{"name": "t", "fullname": "a.py::t",
            "stats": {"mean": 4, "stddev": 1, "rounds": 900, "data": [3, 3, "and so on"]}}]}"#,
        );
        assert_eq!(
            lines(&run),
            ["a.py::t time ns lower score 4000000000 sd 1000000000 n 900 of 1"]
        );
        assert_eq!(notices(&run), ["cut-data"]);
    }

    #[test]
    fn more_data_than_is_kept_is_thinned_out() {
        let data: Vec<String> = (1..=50_001).map(|value| value.to_string()).collect();
        let run = run_of(&format!(
            r#"{{"machine_info": {{}}, "benchmarks": [{{"name": "t", "stats": {{"mean": 25001, "data": [{}]}}}}]}}"#,
            data.join(",")
        ));
        assert_eq!(notices(&run), ["thinned"]);
        assert!(lines(&run)[0].starts_with("t time ns lower [1000000000 3000000000 5000000000 "));
    }

    #[test]
    fn what_contradicts_itself_or_is_no_number_fails() {
        check(
            r#"{"name": "a", "stats": {"mean": 9, "rounds": 2, "data": [2, 3]}},
               {"name": "b", "stats": {"mean": 1, "rounds": 2, "data": [1, NaN]}},
               {"name": "c", "stats": {"mean": NaN, "rounds": 2}},
               {"name": "d", "stats": null},
               {"name": "e", "stats": {"mean": 0, "rounds": 2, "data": [0, 0]}}"#,
            &[
                "a failed: benchmarks[0].stats: the mean of `data` is 2.5 and `mean` is 9; one of them was edited, run the test again",
                "b failed: benchmarks[1].stats: one value of `data` is not a number; run the test again",
                "c failed: benchmarks[2].stats: `mean` is not a number; run the test again",
                "d failed: benchmarks[3].stats: there are none; run the test again",
                "e failed: time: every total is zero, so nothing was measured",
            ],
        );
    }

    #[test]
    fn machine_and_commit_are_kept() {
        let run = run_of(
            r#"{"machine_info": {"machine": "x86_64", "python_implementation": "CPython", "system": "Linux",
                "python_version": "3.12.1", "release": "6.8", "cpu": {"brand_raw": "Some CPU", "count": 8}},
            "commit_info": {"id": "0123456789abcdef", "dirty": true, "branch": "main"},
            "benchmarks": [{"name": "t", "stats": {"mean": 1}}]}"#,
        );
        let Environment { hard, soft, .. } = &run.environment;
        assert_eq!((hard.len(), hard["cpu"].as_str()), (4, "Some CPU"));
        assert_eq!((soft["os"].as_str(), soft["kernel"].as_str()), ("Linux", "6.8"));
        let revision = run.revision.unwrap();
        assert_eq!(
            (revision.id.as_str(), revision.name.as_str()),
            ("0123456789abcdef", "working tree on 0123456")
        );
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"machine_info": {}, "benchmarks": [{"fullname": "a.py::t"}]}"#),
            "results: missing field `name` at line 1 column 59; give the file as the tool wrote it"
        );
    }
}
