//! Reads what the action `github-action-benchmark` takes (its custom JSON) and what it keeps (`data.js`).
//!
//! ```text
//! custom JSON      [{"name": "parse", "unit": "ms", "value": 12.5, "range": "± 0.3", "extra": ".."}, ..]
//!
//! data.js          window.BENCHMARK_DATA = {
//! or a JSON file     "lastUpdate": 1700000000000, "repoUrl": "..",
//!                    "entries": {"My suite": [                      one run after the other
//!                      {"commit": {"id": "0123abc..", ..}, "date": 1700000000000, "tool": "cargo",
//!                       "benches": [{"name": "parse", "value": 329, "range": "± 12", "unit": "ns/iter"}, ..]}]}}
//! ```
//!
//! Every entry of a history is a run of its suite, and all are read in the order of their dates. A rerun of a commit is
//! a further run of the same revision. The unit says which way is good; only the tools `customSmallerIsBetter` and
//! `customBiggerIsBetter` are a statement of the author, which is obeyed. One name may have several units, which are
//! several metrics.
//!
//! What `range` means depends on the tool: pytest's is a standard deviation in seconds, Benchmark.js's a relative 95 %
//! margin, and both say how many values they come from. Those of the others are ranges, or say no unit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::Format;
use super::found::Found;
use super::input::{Input, Pairs, Scalar};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{Better, Revision, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "github-action-benchmark custom JSON",
    signs: &["\"name\"", "\"value\"", "\"unit\"", "\"range\""],
    claims: |input| {
        input.outline().is_some_and(|outline| {
            outline.list && (outline.has(&["name", "value"]) || outline.has(&["name", "unit"]))
        })
    },
    read: |input, found| {
        let rows: Vec<GRow<'_>> = input.json()?;
        Source { suite: "", tool: "", place: String::new() }.add(found, &rows);
        Ok(())
    },
};

pub(super) const HISTORY: Format = Format {
    name: "github-action-benchmark history",
    signs: &["BENCHMARK_DATA", "\"lastUpdate\"", "\"entries\"", "\"benches\""],
    claims: |input| {
        input
            .outline()
            .is_some_and(|outline| !outline.list && outline.has(&["entries", "lastUpdate"]))
    },
    read: read_history,
};

#[derive(Deserialize)]
struct GRow<'a> {
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    value: Scalar<'a>,
    #[serde(borrow, default)]
    unit: Scalar<'a>,
    #[serde(borrow, default)]
    range: Scalar<'a>,
    #[serde(borrow, default)]
    extra: Scalar<'a>,
}

#[derive(Deserialize)]
struct GHistory<'a> {
    #[serde(borrow)]
    entries: Pairs<Cow<'a, str>, Vec<GEntry<'a>>>,
}

#[derive(Deserialize)]
struct GEntry<'a> {
    #[serde(borrow)]
    commit: GCommit<'a>,
    #[serde(borrow, default)]
    date: Scalar<'a>,
    #[serde(borrow, default)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    benches: Vec<GRow<'a>>,
}

#[derive(Deserialize)]
struct GCommit<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

fn read_history(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let GHistory { entries: Pairs(suites) } = input.json()?;
    let mut runs: Vec<(&str, usize, &GEntry<'_>)> = suites
        .iter()
        .flat_map(|(suite, entries)| (0..).zip(entries).map(|(at, entry)| (&**suite, at, entry)))
        .collect();
    let date = |entry: &GEntry<'_>| entry.date.number().unwrap_or_default();
    runs.sort_by(|(.., a), (.., b)| date(a).total_cmp(&date(b)));
    for (suite, at, entry) in runs {
        let id = entry.commit.id.to_string();
        let name = id.get(..7).unwrap_or(&id).to_owned();
        found.next_run(Revision { id, name, distance: None });
        if let Some(milliseconds) = entry.date.number() {
            found.made_at((milliseconds / 1000.0) as i64);
        }
        let place = format!("entries.{suite}[{at}].benches");
        Source { suite, tool: &entry.tool, place }.add(found, &entry.benches);
    }
    Ok(())
}

/// Where rows come from.
struct Source<'a> {
    suite: &'a str,
    tool: &'a str,
    /// The key that they stand under.
    place: String,
}

impl Source<'_> {
    fn add(&self, found: &mut Found<'_>, rows: &[GRow<'_>]) {
        let mut count: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
        for name in rows.iter().filter_map(|row| row.name.text()) {
            *count.entry(name).or_default() += 1;
        }
        // Criterion's folders of one benchmark, taken for benchmarks by a walk through its tree.
        let folder = |name: &str| {
            ["base", "change"].into_iter().find(|folder| *folder == name && count[name] > 1)
        };
        let by_position = count.keys().find(|name| {
            let number = name.rsplit_once(" #").filter(|(first, number)| {
                count.contains_key(*first) && number.bytes().all(|byte| byte.is_ascii_digit())
            });
            number.is_some()
        });
        if let Some(name) = by_position {
            found.notice(
                "positional-name",
                format!("`{name}` and others are told apart by their position"),
                "a new benchmark in front of them shifts the others; give each a name of its own",
            );
        }
        for (index, row) in rows.iter().enumerate() {
            let Some(name) = row.name.text() else {
                let id = found.id(self.suite, &format!("{}[{index}]", self.place));
                found.fail(&id, "it has no name; look at what wrote it");
                continue;
            };
            if let Some(folder) = folder(&name) {
                found.notice(
                    "criterion-folders",
                    format!(
                        "`{folder}` stands {} times for a folder of criterion's",
                        count[folder]
                    ),
                    "these are left out; give target/criterion itself instead",
                );
                continue;
            }
            let id = found.id(self.suite, &name);
            let Some(score) = row.value.number() else {
                let said = row.value.text().unwrap_or_default();
                let message = format!(
                    "{}[{index}].value is no number: `{said}`; look at what wrote it",
                    self.place
                );
                found.fail(&id, message);
                continue;
            };
            let mut metric = metric(&row.unit.text().unwrap_or_default());
            if let Some(better) = self.stated() {
                metric = found.declared(&id, metric, better);
            }
            match self.spread(row, score, &metric) {
                Some((spread, n)) => {
                    let summary =
                        Summary { score, spread: Some(spread), n: Some(n), launches: None };
                    found.summary(&id, &metric, summary);
                }
                None => found.lone(&id, &metric, score),
            }
        }
    }

    /// What the author says of the direction.
    fn stated(&self) -> Option<Better> {
        match self.tool {
            "customSmallerIsBetter" => Some(Better::Lower),
            "customBiggerIsBetter" => Some(Better::Higher),
            _ => None,
        }
    }

    /// The spread of a row, in its unit, and how many values it comes from.
    fn spread(&self, row: &GRow<'_>, score: f64, metric: &Known) -> Option<(Spread, u32)> {
        let (range, extra) = (row.range.text()?, row.extra.text()?);
        match self.tool {
            "pytest" => {
                let seconds: f64 = range.strip_prefix("stddev:")?.trim().parse().ok()?;
                let rounds = extra.lines().find_map(|line| line.strip_prefix("rounds:"))?;
                // A rate spreads by the same share as the time that it is the inverse of.
                let deviation = match metric.metric.better {
                    Better::Higher => seconds * score * score,
                    _ => seconds * 1e9 / metric.factor,
                };
                Some((Spread::StandardDeviation(deviation), rounds.trim().parse().ok()?))
            }
            "benchmarkjs" => {
                let share: f64 =
                    range.strip_suffix('%')?.trim_start_matches(['±', '+', '-']).parse().ok()?;
                let value = score * share / 100.0;
                let samples = extra.strip_suffix(" samples")?.trim().parse().ok()?;
                Some((Spread::HalfWidth { value, confidence: 0.95 }, samples))
            }
            _ => None,
        }
    }
}

/// The metric of a unit. A name may come with several rates (`req/s`, `MB/s`), which are several metrics.
fn metric(unit: &str) -> Known {
    let mut known = unit::understand(unit);
    let rate = known.metric.unit.as_str();
    if known.metric.name == "throughput" && rate != "ops/s" {
        known.metric.name = rate.to_owned();
    }
    known
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{error, lines, notices, run_of, runs};
    use super::super::{Options, Spec, read};

    fn check(rows: &str, expected: &[&str]) {
        assert_eq!(lines(&run_of(&format!("[{rows}]"))), expected);
    }

    fn history(tool: &str, rows: &str) -> String {
        format!(
            r#"window.BENCHMARK_DATA = {{"lastUpdate": 1, "repoUrl": "", "entries": {{"Suite": [
                {{"commit": {{"id": "0123456789"}}, "date": 5, "tool": "{tool}", "benches": [{rows}]}}]}}}};
"#
        )
    }

    #[test]
    fn the_unit_says_what_a_row_is() {
        check(
            r#"{"name": "parse", "unit": "ms", "value": 12.5, "range": "± 0.5", "extra": "any"},
               {"name": "serve", "unit": "req/s", "value": 70, "range": 3},
               {"name": "serve", "unit": "MB/s", "value": "2"},
               {"name": "serve", "unit": "ops/s", "value": 5},
               {"name": "bundle", "unit": "KiB", "value": 2},
               {"name": "score", "unit": "points", "value": 9}"#,
            &[
                "bundle bytes B lower exactly 2048",
                "parse time ns lower score 12500000",
                "score points points unknown score 9",
                "serve B/s B/s higher score 2000000",
                "serve req/s req/s higher score 70",
                "serve throughput ops/s higher score 5",
            ],
        );
    }

    #[test]
    fn one_name_with_several_units_is_several_metrics() {
        check(
            r#"{"name": "a", "unit": "instructions", "value": 100},
               {"name": "a", "unit": "wall-clock(s)", "value": 1.5},
               {"name": "a", "unit": "max-rss(MB)", "value": 20},
               {"name": "a", "unit": "output-size(MB)", "value": 3}"#,
            &[
                "a instructions instructions lower exactly 100",
                "a max-rss B lower score 20000000",
                "a output-size B lower exactly 3000000",
                "a wall-clock ns lower score 1500000000",
            ],
        );
    }

    #[test]
    fn a_decimal_comma_is_no_number() {
        assert_eq!(
            error(r#"[{"name":"a","unit":"ms","value":1,5}]"#),
            "results: it begins as JSON, but key must be a string at line 1 column 36; measure again or mend it; \
             it looks most like github-action-benchmark custom JSON"
        );
        check(
            r#"{"name": "a", "unit": "ms", "value": "1,5"}, {"name": "b", "unit": "ms", "value": null}, {"unit": "ms"}"#,
            &[
                "[2] failed: it has no name; look at what wrote it",
                "a failed: [0].value is no number: `1,5`; look at what wrote it",
                "b failed: [1].value is no number: ``; look at what wrote it",
            ],
        );
    }

    #[test]
    fn a_unit_that_moves_between_runs_changes_nothing() {
        check(r#"{"name": "a", "unit": "ns/iter", "value": 990}"#, &["a time ns lower score 990"]);
        check(
            r#"{"name": "a", "unit": "us/iter", "value": 1.25}"#,
            &["a time ns lower score 1250"],
        );
    }

    #[test]
    fn times_are_never_negative() {
        check(
            r#"{"name": "a", "unit": "ns/op", "value": -0.5}, {"name": "b", "unit": "points", "value": -1}"#,
            &[
                "b points points unknown score -1",
                "a failed: time is negative (-0.5), which no measurement is; look at what wrote it",
            ],
        );
    }

    #[test]
    fn a_history_is_read_by_date_and_suite() {
        let runs = runs(
            r#"window.BENCHMARK_DATA = {"lastUpdate": 9, "repoUrl": "", "entries": {
                "One": [{"commit": {"id": "aaaaaaaaaa", "message": "x"}, "date": 10, "tool": "cargo",
                         "benches": [{"name": "f", "value": 329, "range": "± 12", "unit": "ns/iter"}]},
                        {"commit": {"id": "bbbbbbbbbb"}, "date": 30, "tool": "cargo",
                         "benches": [{"name": "f", "value": 0, "range": "± 0", "unit": "ns/iter"}]}],
                "Two": [{"commit": {"id": "aaaaaaaaaa"}, "date": 20, "tool": "go",
                         "benches": [{"name": "f", "value": 5, "unit": "ns/op", "extra": "3 times"}]}]}};"#,
        )
        .unwrap();
        let all: Vec<String> = runs
            .iter()
            .map(|run| format!("{} {}", run.revision.as_ref().unwrap().name, lines(run).join(", ")))
            .collect();
        assert_eq!(
            all,
            [
                "aaaaaaa One::f time ns lower score 329",
                "aaaaaaa Two::f time ns lower score 5",
                "bbbbbbb One::f time ns lower score 0",
            ]
        );
    }

    #[test]
    fn a_rerun_of_a_commit_keeps_its_first_result() {
        let entry = |commit: &str, date: u32, value: f64| {
            format!(
                r#"{{"commit": {{"id": "{commit}"}}, "date": {date}, "tool": "cargo",
                    "benches": [{{"name": "f", "value": {value}, "unit": "ns/iter"}}]}}"#
            )
        };
        let entries =
            [entry("aaaaaaaaaa", 1, 5.0), entry("bbbbbbbbbb", 2, 6.0), entry("bbbbbbbbbb", 3, 7.0)];
        let text = format!(r#"{{"lastUpdate": 3, "entries": {{"S": [{}]}}}}"#, entries.join(", "));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.json");
        fs::write(&path, text).unwrap();
        let spec = |part: Option<&str>| Spec { path: path.clone(), part: part.map(str::to_owned) };
        let newest = read(&spec(None), &Options::default()).unwrap();
        assert_eq!(lines(&newest), ["S::f time ns lower score 6 score 7"]);
        assert_eq!(notices(&newest), ["history"]);
        assert!(newest.notices[0].seen.ends_with("holds 3 runs; taken is bbbbbbb (2 of them)"));
        let first = read(&spec(Some("aaa")), &Options::default()).unwrap();
        assert_eq!(lines(&first), ["S::f time ns lower score 5"]);
        let none = read(&spec(Some("ccc")), &Options::default()).unwrap_err().to_string();
        assert!(
            none.ends_with("none of its 3 runs is of revision `ccc`; name one of these or none"),
            "{none}"
        );
    }

    #[test]
    fn the_author_states_the_direction() {
        let bigger = run_of(&history(
            "customBiggerIsBetter",
            r#"{"name": "a", "value": 5, "unit": "points"}"#,
        ));
        assert_eq!(lines(&bigger), ["Suite::a points points higher score 5"]);
        assert!(notices(&bigger).is_empty());
        let smaller = run_of(&history(
            "customSmallerIsBetter",
            r#"{"name": "a", "value": 5, "unit": "points"}"#,
        ));
        assert_eq!(lines(&smaller), ["Suite::a points points lower score 5"]);
    }

    #[test]
    fn a_direction_that_contradicts_its_unit_is_told() {
        let run =
            run_of(&history("customBiggerIsBetter", r#"{"name": "a", "value": 5, "unit": "ms"}"#));
        assert_eq!(lines(&run), ["Suite::a time ns higher score 5000000"]);
        assert_eq!(notices(&run), ["direction-contradicts-unit"]);
        assert_eq!(
            run.notices[0].seen,
            "more is said to be better for time of Suite::a, but of `ns` less usually is"
        );
    }

    #[test]
    fn throughput_is_better_when_higher_whatever_the_tool() {
        let rows = r#"{"name": "a", "value": 1000, "unit": "ops/s"}, {"name": "b", "value": 10, "unit": "ms/op"}"#;
        assert_eq!(
            lines(&run_of(&history("jmh", rows))),
            [
                "Suite::a throughput ops/s higher score 1000",
                "Suite::b time ns lower score 10000000"
            ]
        );
    }

    #[test]
    fn spreads_that_say_what_they_are_are_kept() {
        let check = |tool: &str, row: &str, expected: &str| {
            assert_eq!(lines(&run_of(&history(tool, row))), [expected]);
        };
        check(
            "pytest",
            r#"{"name": "t", "value": 4, "unit": "iter/sec", "range": "stddev: 0.125", "extra": "mean: 250 msec\nrounds: 20"}"#,
            "Suite::t throughput ops/s higher score 4 sd 2 n 20",
        );
        check(
            "pytest",
            r#"{"name": "t", "value": 4, "unit": "sec", "range": "stddev: 0.5", "extra": "mean: 4 sec\nrounds: 3"}"#,
            "Suite::t time ns lower score 4000000000 sd 500000000 n 3",
        );
        check(
            "benchmarkjs",
            r#"{"name": "t", "value": 100, "unit": "ops/sec", "range": "±1.5%", "extra": "93 samples"}"#,
            "Suite::t throughput ops/s higher score 100 ± 1.5 at 0.95 n 93",
        );
        check(
            "catch2",
            r#"{"name": "t", "value": 7, "unit": "ns", "range": "± 2", "extra": "100 samples\n1 iterations"}"#,
            "Suite::t time ns lower score 7",
        );
    }

    #[test]
    fn folders_of_criterion_are_no_benchmarks() {
        let run = run_of(&history(
            "customSmallerIsBetter",
            r#"{"name": "add", "value": 2, "unit": "ns/op"}, {"name": "base", "value": 2, "unit": "ns/op"},
               {"name": "change", "value": -0.01, "unit": "ns/op"}, {"name": "get", "value": 3, "unit": "ns/op"},
               {"name": "base", "value": 3, "unit": "ns/op"}, {"name": "change", "value": 0.02, "unit": "ns/op"}"#,
        ));
        assert_eq!(
            lines(&run),
            ["Suite::add time ns lower score 2", "Suite::get time ns lower score 3"]
        );
        assert_eq!(notices(&run), ["criterion-folders", "criterion-folders"]);
    }

    #[test]
    fn names_by_position_are_flagged() {
        let run = run_of(&history(
            "cargo",
            r#"{"name": "fft", "value": 1, "unit": "ns/iter"}, {"name": "fft #2", "value": 0, "unit": "ns/iter"}"#,
        ));
        assert_eq!(
            lines(&run),
            ["Suite::fft time ns lower score 1", "Suite::fft #2 time ns lower score 0"]
        );
        assert_eq!(notices(&run), ["positional-name"]);
    }

    #[test]
    fn a_broken_history_says_where() {
        let text = history("cargo", r#"{"name": "a", "value": 1, "unit": "ns"}"#)
            .replace("\"cargo\"", "5");
        assert_eq!(
            error(&text),
            "results: invalid type: integer `5`, expected a string at line 2 column 69; \
             give the file as the tool wrote it"
        );
        let cut = history("cargo", r#"{"name": "a", "#);
        let cut = cut.split_once("a\", ").unwrap().0;
        let message = error(cut);
        assert!(
            message.starts_with(
                "results: it begins as JSON, but EOF while parsing a string at line 2 column 99; measure again or mend it; \
                 it looks most like github-action-benchmark history"
            ),
            "{message}"
        );
    }
}
