//! Reads a result file of airspeed velocity: one commit in one environment on one machine.
//!
//! ```text
//! results/benchmarks.json                 units of track_ benchmarks; read where it is there
//! results/machine/0123abcd-env.json       such a file
//!
//! {"commit_hash": "0123abcd..", "params": {"machine": "desk", "cpu": "..", "arch": "..", ..}, "python": "3.12",
//!  "result_columns": ["result", "params", .., "stats_ci_99_a", "stats_ci_99_b", .., "stats_repeat", "samples"],
//!  "results": {
//!    "io.Read.time_read": [[1e-3, null], [["'small'", "'large'"]], .., [9e-4, null], [1.1e-3, null], .., [20, null]],
//!    "io.peakmem_read": [[1048576]]                              trailing columns may be left out
//!  }}
//!
//! version 1:  "results": {"io.time_plain": 1e-3, "io.time_failed": null,
//!                         "io.time_grid": {"params": [["1", "2"]], "result": [1e-3, null],
//!                                          "stats": [{"ci_99": [9e-4, 1.1e-3], "repeat": 20}, null]}}
//! ```
//!
//! A benchmark is a grid of its parameters, whose last one changes fastest; each cell is a benchmark here, named as asv
//! prints it: `io.Read.time_read('small')`. A cell that is null failed, and NaN was left out by the suite itself. The
//! name's last part says what is measured: seconds for `time`, bytes for `mem` and `peakmem`, anything for `track`.
//!
//! The result of a time is the median of its samples, and `ci_99` an interval of that median by ranks; it is taken as
//! that of a Student interval with its wider half, and the samples as those of one process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Format;
use super::found::{Found, facts, named};
use super::input::{Input, Number, Scalar};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Environment, Revision, Spread, Summary};
use crate::store::Limits;

pub(super) const FORMAT: Format = Format {
    name: "asv results",
    signs: &["\"commit_hash\"", "\"results\"", "\"result_columns\"", "\"requirements\""],
    claims: |input| {
        input.outline().is_some_and(|outline| {
            !outline.list && outline.has(&["commit_hash", "results", "params"])
        })
    },
    read,
};

#[derive(Deserialize)]
struct AFile<'a> {
    #[serde(borrow)]
    commit_hash: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: BTreeMap<Cow<'a, str>, Scalar<'a>>,
    #[serde(borrow, default)]
    python: Scalar<'a>,
    #[serde(borrow, default)]
    requirements: BTreeMap<Cow<'a, str>, Scalar<'a>>,
    #[serde(default)]
    result_columns: Vec<String>,
    results: BTreeMap<String, AResult>,
}

/// The result of a cell.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ACell {
    Number(f64),
    /// It failed.
    Null(()),
    /// `NaN`, which JSON has not: the suite skipped it.
    Text(String),
}

impl ACell {
    fn number(&self) -> Option<f64> {
        match self {
            ACell::Number(number) => Some(*number),
            ACell::Null(()) | ACell::Text(_) => None,
        }
    }

    /// asv writes NaN for what the suite left out by itself.
    fn is_skipped(&self) -> bool {
        matches!(self, ACell::Text(text) if text.eq_ignore_ascii_case("nan"))
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AResult {
    Columns(Vec<AColumn>),
    Grid {
        #[serde(default)]
        params: AColumn,
        #[serde(default)]
        result: AColumn,
        #[serde(default)]
        samples: AColumn,
        #[serde(default)]
        stats: Option<AStats>,
    },
    Plain(ACell),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AColumn {
    Cells(Vec<ACell>),
    Cell(ACell),
    Params(Vec<Vec<String>>),
    Samples(Vec<Option<Vec<Number>>>),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AStats {
    OfCells(Vec<Option<AStatsOfCell>>),
    OfOne(AStatsOfCell),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct AStatsOfCell {
    ci_99: Option<(Option<f64>, Option<f64>)>,
    repeat: Option<f64>,
}

impl Default for AColumn {
    fn default() -> Self {
        AColumn::Cells(Vec::new())
    }
}

impl AColumn {
    fn cells(self) -> Vec<ACell> {
        match self {
            AColumn::Cells(cells) => cells,
            AColumn::Cell(number @ ACell::Number(_)) => vec![number],
            _ => Vec::new(),
        }
    }

    fn numbers(self) -> Vec<Option<f64>> {
        self.cells().iter().map(ACell::number).collect()
    }
}

/// One benchmark, whichever version wrote it. Columns are as long as the grid, or empty.
#[derive(Default)]
struct Grid {
    params: Vec<Vec<String>>,
    results: Vec<ACell>,
    samples: Vec<Option<Vec<Number>>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    repeat: Vec<Option<f64>>,
}

impl Grid {
    fn new(result: AResult, columns: &[String]) -> Self {
        let mut grid = Grid::default();
        match result {
            AResult::Columns(values) => {
                for (column, value) in columns.iter().zip(values) {
                    grid.set(column, value);
                }
            }
            AResult::Grid { params, result, samples, stats } => {
                grid.set("params", params);
                grid.set("result", result);
                grid.set("samples", samples);
                let stats = match stats {
                    Some(AStats::OfCells(stats)) => stats,
                    Some(AStats::OfOne(stats)) => vec![Some(stats)],
                    Some(AStats::Other(_)) | None => Vec::new(),
                };
                for cell in stats {
                    let (low, high) = cell.as_ref().and_then(|cell| cell.ci_99).unzip();
                    grid.low.push(low.flatten());
                    grid.high.push(high.flatten());
                    grid.repeat.push(cell.and_then(|cell| cell.repeat));
                }
            }
            AResult::Plain(result) => grid.results = vec![result],
            AResult::Other(_) => {}
        }
        grid
    }

    fn set(&mut self, column: &str, value: AColumn) {
        match (column, value) {
            ("params", AColumn::Params(params)) => self.params = params,
            ("samples", AColumn::Samples(samples)) => self.samples = samples,
            ("result", value) => self.results = value.cells(),
            ("stats_ci_99_a", value) => self.low = value.numbers(),
            ("stats_ci_99_b", value) => self.high = value.numbers(),
            ("stats_repeat", value) => self.repeat = value.numbers(),
            _ => {}
        }
    }

    /// The name of a cell: that of the benchmark and its parameters.
    fn cell(&self, benchmark: &str, index: usize) -> String {
        if self.params.is_empty() {
            return benchmark.to_owned();
        }
        let mut rest = index;
        let mut chosen: Vec<&str> = Vec::new();
        for values in self.params.iter().rev() {
            let count = values.len().max(1);
            chosen.extend(values.get(rest % count).map(String::as_str));
            rest /= count;
        }
        chosen.reverse();
        format!("{benchmark}({})", chosen.join(", "))
    }

    /// How many cells the parameters make.
    fn size(&self) -> Option<usize> {
        self.params.iter().try_fold(1, |size: usize, values| size.checked_mul(values.len()))
    }
}

/// What the last part of a benchmark's name says of it.
enum Kind {
    Time,
    Memory,
    PeakMemory,
    Track,
}

impl Kind {
    fn of(benchmark: &str) -> Kind {
        let last = benchmark.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        if last.starts_with("time") {
            Kind::Time
        } else if last.starts_with("peakmem") {
            Kind::PeakMemory
        } else if last.starts_with("mem") {
            Kind::Memory
        } else {
            Kind::Track
        }
    }
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let file: AFile<'_> = input.json()?;
    if let Some(id) = file.commit_hash.as_deref() {
        let name = id.get(..8).unwrap_or(id).to_owned();
        found.next_run(Revision { id: id.to_owned(), name, distance: None });
    }
    found.current().environment = environment(&file);
    let units = units_beside(input, found);
    for (benchmark, result) in file.results {
        let grid = Grid::new(result, &file.result_columns);
        if grid.size() != Some(grid.results.len()) {
            let message = if grid.results.is_empty() {
                "it has no result; look at what asv said of it"
            } else {
                "its results are not one for each combination of its parameters; run asv again"
            };
            found.fail(&found.id("", &benchmark), format!("results.{benchmark}: {message}"));
            continue;
        }
        let kind = Kind::of(&benchmark);
        let metric = match kind {
            Kind::Time => named("time", "s"),
            Kind::Memory | Kind::PeakMemory => unit::understand("B"),
            Kind::Track => unit::understand(units.get(&benchmark).map_or("", String::as_str)),
        };
        if !grid.results.is_empty() && grid.results.iter().all(ACell::is_skipped) {
            let id = found.id("", &benchmark);
            found.skip(&id, "NaN");
            continue;
        }
        for index in 0..grid.results.len() {
            let id = found.id("", &grid.cell(&benchmark, index));
            if let Err(message) = add(found, &id, &kind, &metric, &grid, index) {
                found.fail(&id, format!("results.{benchmark}: {message}"));
            }
        }
    }
    Ok(())
}

fn add(
    found: &mut Found<'_>,
    id: &BenchmarkId,
    kind: &Kind,
    metric: &Known,
    grid: &Grid,
    index: usize,
) -> Result<(), String> {
    let at = |column: &[Option<f64>]| column.get(index).copied().flatten();
    let score = match grid.results.get(index) {
        Some(ACell::Number(score)) => *score,
        Some(cell) if cell.is_skipped() => {
            let seen = "cells of grids skipped themselves";
            found.notice_each(
                "skipped-cells",
                seen,
                "they are gone where the other side has them",
                id,
            );
            return Ok(());
        }
        _ => return Err("it failed (null); look at what asv said of it".into()),
    };
    if let Some(Some(samples)) = grid.samples.get(index) {
        let values: Option<Vec<f64>> = samples.iter().map(|value| value.0).collect();
        let values = values.ok_or("one of its samples is not a number; run asv again")?;
        found.launch(id, metric, &values);
        return Ok(());
    }
    if let Kind::Memory = kind {
        found.exact(id, metric, score);
        return Ok(());
    }
    let half = at(&grid.low).zip(at(&grid.high)).map(|(low, high)| (score - low).max(high - score));
    let spread =
        half.filter(|half| 0.0 <= *half).map(|value| Spread::HalfWidth { value, confidence: 0.99 });
    let n = at(&grid.repeat).filter(|n| (1.0..=f64::from(u32::MAX)).contains(n)).map(|n| n as u32);
    found.summary(id, metric, Summary { score, spread, n, launches: None });
    Ok(())
}

fn environment(file: &AFile<'_>) -> Environment {
    let said = |fact: &str| file.params.get(fact).and_then(Scalar::text);
    let hard =
        facts([("arch", said("arch")), ("cpu", said("cpu")), ("python", file.python.text())]);
    let packages = file.requirements.iter().map(|(name, version)| (&**name, version.text()));
    let soft = facts(packages.chain([("os", said("os"))]));
    let info = facts([("machine", said("machine")), ("memory", said("ram"))]);
    Environment { hard, soft, info }
}

/// The units that the authors of track_ benchmarks gave them, from the file that stands beside the results of every
/// machine. `unit` is what asv writes where an author gave none.
fn units_beside(input: &Input, found: &mut Found<'_>) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ADescribed {
        Benchmark { unit: String },
        Other(IgnoredAny),
    }
    let folders = Path::new(&input.name).ancestors().skip(1).take(2);
    let Some(path) =
        folders.map(|folder| folder.join("benchmarks.json")).find(|path| path.is_file())
    else {
        return BTreeMap::new();
    };
    let described = Input::read(&path, &Limits::UNTRUSTED)
        .and_then(|input| input.json::<BTreeMap<String, ADescribed>>());
    match described {
        Ok(described) => described
            .into_iter()
            .filter_map(|(benchmark, described)| match described {
                ADescribed::Benchmark { unit } if unit != "unit" => Some((benchmark, unit)),
                ADescribed::Benchmark { .. } | ADescribed::Other(_) => None,
            })
            .collect(),
        Err(error) => {
            found.notice(
                "no-units",
                error.to_string(),
                "the units of track_ benchmarks are not known",
            );
            BTreeMap::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{error, lines, notices, run_of};
    use super::super::{Options, read_file};

    fn check(file: &str, expected: &[&str]) {
        let run = run_of(&format!(r#"{{"commit_hash": "0123abcdef", "params": {{}}, {file}}}"#));
        assert_eq!(lines(&run), expected);
    }

    #[test]
    fn flat_results_are_scalars_or_grids() {
        check(
            r#""version": 1, "results": {"io.time_plain": 0.5, "io.time_failed": null, "io.mem_table": 728,
                "io.peakmem_load": 4096, "io.track_odd": true,
                "io.Grid.time_it": {"params": [["1", "2"], ["'a'", "'b'"]], "result": [1, 2, 3, 4],
                    "stats": [{"ci_99": [0.5, 1.25], "repeat": 20, "number": 3}, null, {"ci_99": null}, null]},
                "io.track_rows": {"params": [], "result": 7}}"#,
            &[
                "io.Grid.time_it(1, 'a') time ns lower score 1000000000 ± 500000000 at 0.99 n 20",
                "io.Grid.time_it(1, 'b') time ns lower score 2000000000",
                "io.Grid.time_it(2, 'a') time ns lower score 3000000000",
                "io.Grid.time_it(2, 'b') time ns lower score 4000000000",
                "io.mem_table bytes B lower exactly 728",
                "io.peakmem_load bytes B lower score 4096",
                "io.time_plain time ns lower score 500000000",
                "io.track_rows value  unknown score 7",
                "io.time_failed failed: results.io.time_failed: it failed (null); look at what asv said of it",
                "io.track_odd failed: results.io.track_odd: it has no result; look at what asv said of it",
            ],
        );
    }

    #[test]
    fn columns_are_found_by_their_names() {
        check(
            r#""result_columns": ["result", "stats_ci_99_a", "stats_ci_99_b", "params", "stats_repeat", "samples"],
                "results": {"a.time_x": [[2, 3], [1.5, null], [3, null], [["10", "20"]], [10, 4]],
                            "a.time_sampled": [[2], [1.5], [3], [], [2], [[1, 3]]],
                            "a.time_gone": [null, null, null, [["1", "2"]]]}"#,
            &[
                "a.time_sampled time ns lower [1000000000 3000000000]",
                "a.time_x(10) time ns lower score 2000000000 ± 1000000000 at 0.99 n 10",
                "a.time_x(20) time ns lower score 3000000000 n 4",
                "a.time_gone failed: results.a.time_gone: it has no result; look at what asv said of it",
            ],
        );
    }

    #[test]
    fn a_failed_cell_leaves_the_others_and_nan_is_skipped() {
        let run = run_of(
            r#"{"commit_hash": "0123abcdef", "params": {}, "results": {
                "a.time_x": {"params": [["a", "b", "c"]], "result": [null, 0.5, NaN]}, "a.time_y": NaN}}"#,
        );
        assert_eq!(
            lines(&run),
            [
                "a.time_x(b) time ns lower score 500000000",
                "a.time_x(a) failed: results.a.time_x: it failed (null); look at what asv said of it",
            ]
        );
        let seen: Vec<&str> = run.notices.iter().map(|notice| notice.seen.as_str()).collect();
        assert_eq!(
            seen,
            [
                "results: benchmarks skipped themselves: a.time_y (NaN)",
                "results: cells of grids skipped themselves: a.time_x(c)",
            ]
        );
    }

    #[test]
    fn a_grid_of_another_size_is_not_guessed_at() {
        check(
            r#""results": {"a.time_x": {"params": [["a", "b"], ["c"]], "result": [1, 2, 3]}}"#,
            &[
                "a.time_x failed: results.a.time_x: its results are not one for each combination of its parameters; \
               run asv again",
            ],
        );
    }

    #[test]
    fn machine_and_commit_are_kept() {
        let run = run_of(
            r#"{"commit_hash": "0123abcdef", "python": "3.12", "requirements": {"numpy": "2.0"},
            "params": {"machine": "desk", "cpu": "Some CPU", "arch": "x86_64", "os": "Linux", "ram": 123},
            "results": {"a.time_x": 1}}"#,
        );
        assert_eq!(run.revision.unwrap().name, "0123abcd");
        let environment = run.environment;
        assert_eq!((environment.hard["cpu"].as_str(), environment.hard.len()), ("Some CPU", 3));
        assert_eq!((environment.soft["numpy"].as_str(), environment.soft.len()), ("2.0", 2));
        assert_eq!((environment.info["memory"].as_str(), environment.info.len()), ("123", 2));
    }

    #[test]
    fn units_stand_in_the_file_beside() {
        let folder = tempfile::tempdir().unwrap();
        let machine = folder.path().join("desk");
        fs::create_dir(&machine).unwrap();
        let file = machine.join("0123abcd-env.json");
        fs::write(
            &file,
            r#"{"commit_hash": "01", "params": {}, "results": {"a.track_x": 2, "a.track_y": 3}}"#,
        )
        .unwrap();
        let beside = folder.path().join("benchmarks.json");
        fs::write(&beside, r#"{"a.track_x": {"unit": "MiB", "type": "track"}, "a.track_y": {"unit": "unit"}, "version": 2}"#)
            .unwrap();
        let read = || read_file(&file, &Options::default()).unwrap().remove(0);
        assert_eq!(
            lines(&read()),
            ["a.track_x bytes B lower score 2097152", "a.track_y value  unknown score 3"]
        );
        fs::write(&beside, "{").unwrap();
        assert_eq!(notices(&read()), ["no-units"]);
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            error(r#"{"commit_hash": "01", "params": {}, "results": [1]}"#),
            "results: invalid type: sequence, expected a map at line 1 column 47; give the file as the tool wrote it"
        );
    }
}
