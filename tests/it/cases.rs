//! Situations that broke other gates, played with this program. What concerns a single reader is tested beside it.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::runs::Session;

/// A file of hyperfine's: every value is the time of a process of its own, in seconds.
fn hyperfine(benchmarks: &[(&str, f64)]) -> String {
    let results: Vec<Value> = benchmarks
        .iter()
        .map(|(command, time)| {
            let times: Vec<f64> =
                (0..10).map(|i| time * (1.0 + 0.002 * f64::from(i % 4))).collect();
            json!({"command": command, "mean": time, "times": times, "exit_codes": vec![0; 10]})
        })
        .collect();
    json!({ "results": results }).to_string()
}

/// A file of JMH's with five forks of each benchmark.
fn jmh(benchmarks: &[(&str, &str, &str, f64)]) -> String {
    let results: Vec<Value> = benchmarks
        .iter()
        .map(|(name, mode, unit, score)| {
            let forks: Vec<Vec<f64>> = (0..5)
                .map(|fork| {
                    (0..5).map(|i| score * (1.0 + 0.002 * f64::from((fork + i) % 4))).collect()
                })
                .collect();
            json!({
                "jmhVersion": "1.37", "benchmark": name, "mode": mode, "threads": 1, "forks": 5,
                "measurementIterations": 5,
                "primaryMetric": {
                    "score": score, "scoreError": 0.1, "scoreUnit": unit, "rawData": forks
                },
                "secondaryMetrics": {}
            })
        })
        .collect();
    Value::Array(results).to_string()
}

fn custom(entries: &[(&str, &str, f64)]) -> String {
    let entries: Vec<Value> = entries
        .iter()
        .map(|(name, unit, value)| json!({"name": name, "unit": unit, "value": value}))
        .collect();
    Value::Array(entries).to_string()
}

/// Compares two texts and returns the verdict file.
#[track_caller]
fn compare(desk: &Desk, baseline: &str, candidate: &str, code: i32, says: &[&str]) -> Value {
    desk.put("baseline", baseline);
    desk.put("candidate", candidate);
    desk.check(&["compare", "baseline", "candidate"], code, says);
    desk.verdict()
}

#[track_caller]
fn row<'v>(verdict: &'v Value, name: &str) -> &'v Value {
    let rows = verdict["benchmarks"].as_array().unwrap();
    let mut found = rows.iter().filter(|row| row["id"].as_str().unwrap().contains(name));
    let row = found.next().unwrap_or_else(|| panic!("{name} is not in {verdict:#}"));
    assert!(found.next().is_none(), "several {name} in {verdict:#}");
    row
}

fn near(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() / expected - 1.0).abs() < 1e-3
}

#[test]
fn b09_one_name_in_two_packages_is_two_benchmarks() {
    let text = "pkg: ex.org/m/a\nBenchmarkPut-4 900 50.0 ns/op\npkg: ex.org/m/b\nBenchmarkPut-4 900 0.4 ns/op\n";
    let verdict = compare(&Desk::new(), text, text, 0, &[]);
    assert_eq!(verdict["benchmarks"].as_array().unwrap().len(), 2);
    for row in verdict["benchmarks"].as_array().unwrap() {
        assert!(near(&row["ratio"], 1.0), "{row}");
    }
}

#[test]
fn b25_a_cut_off_file_is_never_a_pass() {
    let desk = Desk::new();
    desk.tree("a", &[("kept", 1000.0)]);
    desk.tree("b", &[("kept", 1000.0)]);
    desk.put("b/kept/new/sample.json", r#"{"sampling_mode":"Fl"#);
    desk.check(&["compare", "a", "b"], 1, &["kept", "sample.json"]);
}

#[test]
fn b43_a_unit_that_moves_is_the_same_quantity() {
    let verdict = compare(
        &Desk::new(),
        &custom(&[("f", "ns/iter", 990.0)]),
        &custom(&[("f", "us/iter", 1.1)]),
        0,
        &["INCONCLUSIVE", "+11"],
    );
    assert!(near(&row(&verdict, "f")["ratio"], 1100.0 / 990.0));
}

#[test]
fn b45_direction_belongs_to_the_metric() {
    let suite = |ops: f64, time: f64| {
        jmh(&[("p.B.rate", "thrpt", "ops/s", ops), ("p.B.time", "avgt", "ms/op", time)])
    };
    let verdict =
        compare(&Desk::new(), &suite(1000.0, 10.0), &suite(700.0, 7.0), 10, &["p.B.rate"]);
    assert_eq!(row(&verdict, "rate")["verdict"], "regression");
    assert_eq!(row(&verdict, "time")["verdict"], "improvement");
}

#[test]
fn b47_a_time_of_which_more_is_good_is_pointed_out() {
    let desk = Desk::new();
    desk.put("pacegate.yaml", "rules:\n  - match: \"*\"\n    better: higher\n");
    let suite = hyperfine(&[("f", 1.0)]);
    compare(
        &desk,
        &suite,
        &suite,
        0,
        &["direction-contradicts-unit"].map(|_| "the opposite was said"),
    );
}

#[test]
fn b49_a_large_improvement_never_fails() {
    let verdict =
        compare(&Desk::new(), &hyperfine(&[("f", 10.0)]), &hyperfine(&[("f", 1.0)]), 0, &["PASS"]);
    assert_eq!(row(&verdict, "f")["verdict"], "improvement");
}

#[test]
fn b51_a_hundred_to_two_hundred_and_thirty_is_130_percent_more() {
    let desk = Desk::new();
    let verdict = compare(
        &desk,
        &hyperfine(&[("f", 100.0)]),
        &hyperfine(&[("f", 230.0)]),
        10,
        &["FAIL", "+130"],
    );
    assert!(near(&row(&verdict, "f")["ratio"], 2.3));
    let page = std::fs::read_to_string(desk.path("target/pacegate/report.md")).unwrap();
    assert!(page.contains("130") && !page.contains("230 %"), "{page}");
}

#[test]
fn b53_a_new_benchmark_has_no_baseline_and_the_others_are_judged() {
    let verdict = compare(
        &Desk::new(),
        &hyperfine(&[("f", 1.0)]),
        &hyperfine(&[("f", 1.0), ("g", 1.0)]),
        0,
        &["PASS", "there is no baseline for it"],
    );
    assert_eq!(row(&verdict, "g")["verdict"], "added");
    assert_eq!(row(&verdict, "f")["verdict"], "unchanged");
}

#[test]
fn b55_a_renamed_benchmark_is_hinted_at_and_an_alias_keeps_it() {
    let desk = Desk::new();
    let (old, new) = (
        hyperfine(&[("f", 1.0), ("parse small", 2.0)]),
        hyperfine(&[("f", 1.0), ("parse_small", 2.0)]),
    );
    compare(&desk, &old, &new, 10, &["`parse small` is gone and `parse_small` is new", "aliases"]);
    desk.put("pacegate.yaml", "aliases:\n  parse small: parse_small\n");
    let verdict = compare(&desk, &old, &new, 0, &["PASS"]);
    assert_eq!(row(&verdict, "parse_small")["verdict"], "unchanged");
}

#[test]
fn b57_any_regression_decides_the_headline() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let suite = |times: [f64; 8]| {
        let benchmarks: Vec<(&str, f64)> = names.into_iter().zip(times).collect();
        hyperfine(&benchmarks)
    };
    let faster = [0.5, 0.5, 0.5, 0.5, 1.2, 0.5, 0.5, 0.5];
    compare(&Desk::new(), &suite([1.0; 8]), &suite(faster), 10, &["FAIL: 1 of 8"]);
}

#[test]
fn b59_one_repetition_is_visibly_undecided() {
    let suite = custom(&[("f", "ns", 100.0)]);
    let verdict = compare(&Desk::new(), &suite, &suite, 0, &["INCONCLUSIVE"]);
    assert_eq!(verdict["outcome"], "inconclusive");
    assert_eq!(row(&verdict, "f")["verdict"], "inconclusive");
}

#[test]
fn b61_a_log_with_a_panic_is_an_incomplete_run() {
    let whole = "test a ... bench: 10 ns/iter (+/- 1)\ntest b ... bench: 10 ns/iter (+/- 1)\n";
    let cut = "test a ... bench: 10 ns/iter (+/- 1)\nthread 'main' panicked at benches/b.rs:3:5:\nno data\n";
    let desk = Desk::new();
    desk.put("baseline", whole);
    desk.put("candidate", cut);
    let said = desk.run(&["compare", "baseline", "candidate"]);
    assert!(![0, 3].contains(&said.code), "{}{}", said.stdout, said.stderr);
    assert!(format!("{}{}", said.stdout, said.stderr).contains("panicked"));
}

#[test]
fn b63_no_baseline_has_a_code_and_words_of_its_own() {
    let desk = Desk::new();
    desk.tree("here", &[("f", 1000.0)]);
    // A tree that was never saved under that name.
    let said = desk.check(&["compare", "here:main", "here"], 3, &["main"]);
    assert!(said.stderr.contains("here"), "it names where it looked\n{}", said.stderr);
}

#[test]
fn b67_numbers_of_two_machines_are_not_compared() {
    let desk = Desk::new();
    let mut session = Session::new(1).bench("a", 1.0, 0.002, 10);
    session.baseline.environment.hard.insert("cpu".into(), "one".into());
    session.candidate.environment.hard.insert("cpu".into(), "another".into());
    session.candidate.session = Some("a second one".into());
    desk.evidence("apart.jsonl", &session);
    desk.check(&["compare", "apart.jsonl:baseline", "apart.jsonl:candidate"], 4, &["cpu"]);
}

#[test]
fn b83_an_empty_suite_is_told_and_nothing_breaks() {
    let desk = Desk::new();
    let empty = r#"{"context": {"date": "2026-01-01", "num_cpus": 2, "library_build_type": "release"}, "benchmarks": []}"#;
    let said = compare_codes(&desk, empty, empty);
    assert_eq!(said.0, 3, "{}", said.1);
}

fn compare_codes(desk: &Desk, baseline: &str, candidate: &str) -> (i32, String) {
    desk.put("baseline", baseline);
    desk.put("candidate", candidate);
    let said = desk.run(&["compare", "baseline", "candidate"]);
    (said.code, format!("{}{}", said.stdout, said.stderr))
}
