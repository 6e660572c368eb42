//! Reads what hyperfine exports with `--export-json`.
//!
//! ```text
//! {"results": [{
//!   "command": "pack -9 big.tar",
//!   "mean": 1.25, "stddev": 0.05, "user": 1.1, "system": 0.1,    seconds; user and system are means of all runs
//!   "times": [1.2, 1.3],                                         seconds, one for each run
//!   "memory_usage_byte": [4096, 4096],                           since 1.19
//!   "exit_codes": [0, 0],                                        null where a signal ended the run
//!   "parameters": {"level": "9"}                                 with --parameter-scan and --parameter-list
//! }]}
//! ```
//!
//! Every run is a process of its own, so every time is a launch. A command is its own name, with its parameters in it;
//! where several results share one command, as they do when `--command-name` hides the parameters, those are added.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::Format;
use super::found::{Found, named};
use super::input::{Input, Number, Scalar};
use crate::error::Result;
use crate::model::{BenchmarkId, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "hyperfine JSON",
    signs: &["\"results\"", "\"command\"", "\"exit_codes\"", "\"times\""],
    claims: |input| {
        input.outline().is_some_and(|outline| {
            !outline.list && outline.has_inside("results", &["command", "mean"])
        })
    },
    read,
};

#[derive(Deserialize)]
struct HExport<'a> {
    #[serde(borrow)]
    results: Vec<HResult<'a>>,
}

#[derive(Deserialize)]
struct HResult<'a> {
    #[serde(borrow)]
    command: Cow<'a, str>,
    #[serde(default)]
    mean: Number,
    #[serde(default)]
    stddev: Number,
    #[serde(default)]
    user: Number,
    #[serde(default)]
    system: Number,
    times: Option<Vec<Number>>,
    memory_usage_byte: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i64>>,
    #[serde(borrow, default)]
    parameters: BTreeMap<Cow<'a, str>, Scalar<'a>>,
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let HExport { results } = input.json()?;
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for result in &results {
        *count.entry(&result.command).or_default() += 1;
    }
    for (index, result) in results.iter().enumerate() {
        let mut name = result.command.clone().into_owned();
        if count[&*result.command] > 1 && !result.parameters.is_empty() {
            let parameters: Vec<String> = result
                .parameters
                .iter()
                .map(|(key, value)| format!("{key}={}", value.text().unwrap_or_default()))
                .collect();
            name += &format!(" ({})", parameters.join(", "));
        }
        let id = found.id("", &name);
        if let Err(message) = add(found, &id, result) {
            found.fail(&id, format!("results[{index}]: {message}"));
        }
    }
    Ok(())
}

fn add(found: &mut Found<'_>, id: &BenchmarkId, result: &HResult<'_>) -> Result<(), String> {
    let runs = result.exit_codes.len();
    if let Some((code, run)) = result.exit_codes.iter().zip(1..).find(|(code, _)| **code != Some(0))
    {
        let how = match code {
            Some(code) => format!("exited with code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        return Err(format!("run {run} of {runs} {how}; measure a command that succeeds"));
    }
    let time = named("time", "s");
    let n = match &result.times {
        Some(times) => {
            let launches: Option<Vec<[f64; 1]>> =
                times.iter().map(|time| time.0.map(|time| [time])).collect();
            let launches = launches.ok_or("one of its times is not a number; measure again")?;
            found.launches(id, &time, &launches);
            u32::try_from(launches.len()).ok()
        }
        None => {
            let score = result.mean.0.ok_or("its mean is not a number; measure again")?;
            let n = u32::try_from(runs).ok().filter(|&runs| runs > 0);
            let spread = result.stddev.0.map(Spread::StandardDeviation);
            found.summary(id, &time, Summary { score, spread, n, launches: n });
            n
        }
    };
    for (name, score) in [("user", result.user.0), ("system", result.system.0)] {
        if let Some(score) = score {
            let summary = Summary { score, spread: None, n, launches: n };
            found.summary(id, &named(name, "s"), summary);
        }
    }
    // Where the system does not say how much memory a process took, all of these are zero.
    let memory = result.memory_usage_byte.as_deref().unwrap_or_default();
    if memory.iter().any(|&bytes| bytes > 0.0) {
        let launches: Vec<[f64; 1]> = memory.iter().map(|&bytes| [bytes]).collect();
        found.launches(id, &named("memory", "B"), &launches);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lines, notices, run_of};

    fn check(results: &str, expected: &[&str]) {
        let run = run_of(&format!(r#"{{"results": [{results}]}}"#));
        assert_eq!(lines(&run), expected);
    }

    #[test]
    fn every_run_is_a_launch() {
        check(
            r#"{"command": "pack -9 a.tar", "mean": 1.25, "stddev": 0.05, "median": 1.25, "user": 1.5, "system": 0.0,
                "min": 1.2, "max": 1.3, "times": [1.25, 1.5], "memory_usage_byte": [4096, 8192], "exit_codes": [0, 0],
                "parameters": {"level": "9"}}"#,
            &[
                "pack -9 a.tar memory B lower [4096] [8192]",
                "pack -9 a.tar system ns lower score 0 n 2 of 2",
                "pack -9 a.tar time ns lower [1250000000] [1500000000]",
                "pack -9 a.tar user ns lower score 1500000000 n 2 of 2",
            ],
        );
    }

    #[test]
    fn without_times_the_mean_stands_for_all_runs() {
        check(
            r#"{"command": "nap", "mean": 0.5, "stddev": 0.25, "exit_codes": [0, 0, 0]}"#,
            &["nap time ns lower score 500000000 sd 250000000 n 3 of 3"],
        );
        check(
            r#"{"command": "nap", "mean": 0.5, "stddev": null}"#,
            &["nap time ns lower score 500000000"],
        );
    }

    #[test]
    fn parameters_tell_equal_commands_apart() {
        check(
            r#"{"command": "nap", "mean": 1, "times": [1], "parameters": {"n": "1", "k": "x"}},
               {"command": "nap", "mean": 2, "times": [2], "parameters": {"n": "2", "k": "x"}}"#,
            &[
                "nap (k=x, n=1) time ns lower [1000000000]",
                "nap (k=x, n=2) time ns lower [2000000000]",
            ],
        );
    }

    #[test]
    fn the_same_command_twice_is_two_benchmarks() {
        let run = run_of(
            r#"{"results": [{"command": "nap", "mean": 1, "times": [1]},
                                      {"command": "nap", "mean": 2, "times": [2]}]}"#,
        );
        assert_eq!(
            lines(&run),
            ["nap time ns lower [1000000000]", "nap #2 time ns lower [2000000000]"]
        );
        assert_eq!(notices(&run), ["duplicate-name"]);
    }

    #[test]
    fn a_run_that_failed_is_no_measurement() {
        check(
            r#"{"command": "a", "mean": 1, "times": [1, 1], "exit_codes": [0, 3]},
               {"command": "b", "mean": 1, "times": [1], "exit_codes": [null]},
               {"command": "c", "mean": 1, "times": [1, NaN]},
               {"command": "d", "mean": null},
               {"command": "e", "mean": 1, "times": []},
               {"command": "f", "mean": 1, "times": [1, 0]},
               {"command": "g", "mean": 1, "times": [1, -1]},
               {"command": "h", "mean": 1e305},
               {"command": "i", "mean": 1, "stddev": -1}"#,
            &[
                "a failed: results[0]: run 2 of 2 exited with code 3; measure a command that succeeds",
                "b failed: results[1]: run 1 of 1 was ended by a signal; measure a command that succeeds",
                "c failed: results[2]: one of its times is not a number; measure again",
                "d failed: results[3]: its mean is not a number; measure again",
                "e failed: time: no launch is there; measure again",
                "f failed: time, launch 2: every total is zero, so nothing was measured",
                "g failed: time, launch 2: sample 0 has the impossible total -1000000000",
                "h failed: time is not a number; look at why it was not measured",
                "i failed: the spread of time is negative or not a number; look at what wrote it",
            ],
        );
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"results": [{"command": 1, "mean": 1.5}]}"#),
            "results: invalid type: integer `1`, expected a string at line 1 column 26; give the file as the tool wrote it"
        );
        assert_eq!(
            error(r#"{"results": [{"command": "a", "mean": 1, "times": [1, "#),
            "results: it begins as JSON, but EOF while parsing a value at line 1 column 54; measure again or mend it; \
             it looks most like hyperfine JSON, then asv results"
        );
    }
}
