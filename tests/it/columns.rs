//! History as Parquet, read by an engine that is not ours: DuckDB counts and aggregates to pacegate's own numbers.
//!
//! `scripts/test` installs DuckDB beside the build; without it the test says so.

use std::fs;
use std::process::Command;

use pacegate::history::{Timeline, Values};
use pacegate::stats;
use pacegate::store::history::{Kept, Store};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::history::plain;
use crate::runs::Session;
use crate::workflows::{aloud, tool};

/// Prints the rows of a query as JSON.
const ASK: &str = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))";

/// Answers of DuckDB over what was exported into `out`; nothing where it is not there.
struct Duck(std::path::PathBuf);

impl Duck {
    fn there() -> Option<Duck> {
        let python = tool("venv/bin/python")?;
        let found = Command::new(&python).args(["-c", "import duckdb"]).output().unwrap();
        if !found.status.success() {
            aloud("SKIPPED: there is no DuckDB in target/tools; ./scripts/test installs it");
            return None;
        }
        Some(Duck(python))
    }

    fn ask(&self, desk: &Desk, query: &str) -> Vec<Value> {
        let query =
            query.replace("RUNS", "read_parquet('out/**/*.parquet', hive_partitioning = true)");
        let said = Command::new(&self.0)
            .args(["-c", ASK, &query])
            .current_dir(desk.path(""))
            .output()
            .unwrap();
        assert!(said.status.success(), "{query}\n{}", String::from_utf8_lossy(&said.stderr));
        serde_json::from_slice(&said.stdout).unwrap()
    }
}

/// Runs of a year on two machines, one of them repeated, one without a time, and one of pairs.
fn a_year(desk: &Desk) -> Kept {
    let add = |file: &str, commit: &str| {
        desk.check(&["history", "add", file, "--commit", commit], 0, &["kept runs/"]);
    };
    for number in 0..12i64 {
        let cpu = if number < 9 { "one" } else { "two" };
        let benchmarks = [("group/a", 100.0 + number as f64), ("b", 3.25), ("ü \"|", 1e6)];
        let (name, commit) = (format!("e{number}"), format!("c{number:02}"));
        plain(desk, &name, &commit, number * 30 * 86_400, &benchmarks, cpu);
        add(&name, &commit);
    }
    plain(desk, "again", "c03", 400 * 86_400, &[("group/a", 99.0), ("b", 3.5)], "one");
    add("again", "c03");
    desk.evidence("pairs", &Session::new(5).bench("a", 1.1, 0.004, 10));
    add("pairs", "c11");
    Store::open("history", &desk.path("")).unwrap().read().unwrap()
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value} is not {expected}");
}

#[test]
fn an_engine_sees_what_pacegate_sees() {
    let desk = Desk::new();
    let kept = a_year(&desk);
    let rows: usize = kept.entries.iter().map(|entry| entry.rows.len()).sum();
    let says = format!("{rows} rows of 14 runs in 14 files below out");
    desk.check(&["history", "export", "out"], 0, &[&says]);
    desk.check(&["history", "export", "out"], 2, &["out: ", "empty folder"]);
    desk.check(&["history", "export", "twin"], 0, &[&says.replace("out", "twin")]);
    let files = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let all = walkdir::WalkDir::new(desk.path(folder)).sort_by_file_name();
        let all = all.into_iter().flatten().filter(|entry| entry.file_type().is_file());
        all.map(|entry| {
            let below = entry.path().strip_prefix(desk.path(folder)).unwrap();
            (below.display().to_string(), fs::read(entry.path()).unwrap())
        })
        .collect()
    };
    assert_eq!(files("out"), files("twin"));

    let Some(duck) = Duck::there() else { return };
    let counted = duck
        .ask(&desk, "SELECT count(*), sum(launches), sum(len(scores) + len(log_ratios)) FROM RUNS");
    let launches: usize = kept
        .entries
        .iter()
        .flat_map(|entry| &entry.rows)
        .map(|row| match &row.values {
            Values::Launches(scores) => scores.len(),
            Values::Pairs { logs, .. } => logs.len(),
            other => panic!("{other:?} was not kept"),
        })
        .sum();
    assert_eq!(counted, [json!([rows, launches, launches])]);

    // Points of series: the middle of the runs of a commit, with the error that one run alone has.
    let timeline = Timeline::of(&kept.entries);
    let points = duck.ask(
        &desk,
        "SELECT class, commit, suite, benchmark, median(score), count(*), any_value(standard_error)
         FROM RUNS WHERE score IS NOT NULL GROUP BY ALL ORDER BY suite, benchmark, class, commit",
    );
    let expected: Vec<_> = timeline
        .series
        .iter()
        .flat_map(|track| track.points.iter().map(move |point| (&track.key, point)))
        .collect();
    assert_eq!(points.len(), expected.len());
    for (key, point) in expected {
        let commit = &timeline.commits[point.commit].id;
        let names = [&key.class, commit, &key.id.suite, &key.id.name].map(|name| json!(name));
        let row = points.iter().find(|row| row.as_array().unwrap()[..4] == names).unwrap();
        near(&row[4], point.value);
        assert_eq!(row[5], point.runs);
        if point.runs == 1 {
            near(&row[6], point.value * point.squared_error.unwrap().sqrt());
        }
    }

    // Every score is there, in its order.
    let scores = duck.ask(
        &desk,
        "SELECT scores FROM RUNS WHERE commit = 'c03' AND benchmark = 'group/a' ORDER BY attempt",
    );
    let theirs: Vec<Value> = kept
        .entries
        .iter()
        .filter(|entry| entry.head.commit.id == "c03")
        .map(|entry| {
            match &entry.rows.iter().find(|row| row.id.name == "group/a").unwrap().values {
                Values::Launches(scores) => json!([scores]),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(scores, theirs);

    let pairs = duck.ask(
        &desk,
        "SELECT log_ratio, log_ratio_error, log_ratios, score, month, measured_at FROM RUNS
         WHERE len(log_ratios) > 0",
    );
    let logs =
        kept.entries.iter().flat_map(|entry| &entry.rows).find_map(|row| match &row.values {
            Values::Pairs { logs, .. } => Some(logs),
            _ => None,
        });
    let estimate = stats::paired(logs.unwrap(), None).unwrap();
    assert_eq!(pairs.len(), 1);
    near(&pairs[0][0], estimate.delta);
    near(&pairs[0][1], estimate.se);
    assert_eq!(pairs[0][2], json!(logs));
    assert!(pairs[0][3].is_null() && pairs[0][5].is_null(), "{pairs:?}");

    // The folders are columns, and tell an engine which files it need not read.
    let months = duck.ask(
        &desk,
        "SELECT DISTINCT month FROM RUNS
         WHERE month <> strftime(timezone('UTC', measured_at), '%Y-%m')",
    );
    assert_eq!(months, [] as [Value; 0]);
    let first = duck.ask(&desk, "SELECT min(month), max(month) FROM RUNS WHERE month < '2100'");
    assert_eq!(first, [json!(["2023-11", "2024-12"])]);
    let facts = duck.ask(
        &desk,
        "SELECT DISTINCT unit, better, metric, position, epoch(min(measured_at) OVER ()) FROM RUNS",
    );
    assert_eq!(facts, [json!(["ns", "lower", "time", null, 1_700_000_000.0])]);
}
