//! Situations that broke other gates, played with this program. The readers have further tests of them beside their code.

use pacegate::ingest::{Options, Spec, read, read_bytes};
use pacegate::model::{Better, Evidence, Run, Spread};
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

/// The run of a text, whatever tool wrote it.
#[track_caller]
fn run_of(text: &str) -> Run {
    let mut runs = read_bytes("results", text.into(), &Options::default()).unwrap();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Every value in base units: `suite::name metric unit` with the first number that stands behind it.
fn values(run: &Run) -> Vec<(String, f64)> {
    let value = |evidence: &Evidence| match evidence {
        Evidence::Sampled(launches) => launches[0].sample.values()[0],
        Evidence::Summary(summaries) => summaries[0].score,
        Evidence::Scored(scores) => scores[0].score,
        Evidence::Exact(values) => values[0],
    };
    let series = run.series.iter();
    series
        .map(|series| {
            let name = format!("{} {} {}", series.id, series.metric.name, series.metric.unit);
            (name, value(&series.evidence))
        })
        .collect()
}

#[track_caller]
fn holds(run: &Run, expected: &[(&str, f64)]) {
    let seen = values(run);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let same = seen.len() == expected.len()
        && seen.iter().zip(expected).all(|((a, x), (b, y))| a == b && near(*x, *y));
    assert!(same, "{seen:?} is not {expected:?}; failures {:?}", run.failures);
}

fn spread(run: &Run) -> Option<Spread> {
    match &run.series[0].evidence {
        Evidence::Summary(summaries) => summaries[0].spread,
        _ => None,
    }
}

fn kinds(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}

#[test]
fn b01_libtest_with_paths_and_thousands_separators() {
    let run = run_of(
        "running 1 test\ntest store::index::bench_scan ... bench:   3,104,227 ns/iter (+/- 88,410)\n\n\
         test result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n",
    );
    holds(&run, &[("store::index::bench_scan time ns", 3_104_227.0)]);
}

#[test]
fn b03_text_of_criterion_is_known() {
    let run = run_of("decode/full         time:   [6.1020 s 6.2200 s 6.3511 s]\n");
    holds(&run, &[("decode/full time ns", 6.22e9)]);
    assert!(spread(&run).is_some());
}

#[test]
fn b05_a_name_and_its_figure_on_two_lines() {
    let run = run_of(
        "running 1 test\ntest insert/10 ... Criterion.rs ERROR: cannot open base/sample.json\n\
         bench:   6,512 ns/iter (+/- 190)\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 1 measured\n",
    );
    holds(&run, &[("insert/10 time ns", 6512.0)]);
    assert!(!run.notices.is_empty());
}

#[test]
fn b07_an_estimate_in_minutes() {
    let run = run_of(
        "benchmark name                       samples       iterations    estimated\n\
         slow sort                                      100             1     1.36667 m\n\
         \x20                                        820.5 ms       810 ms       835 ms\n\
         \x20                                         12.5 ms        10 ms        15 ms\n",
    );
    holds(&run, &[("slow sort time ns", 820.5e6)]);
}

#[test]
fn b11_commas_and_equals_signs_in_names_of_go() {
    let run = run_of("BenchmarkTick/agents=20,range=2000-16\t600\t1650 ns/op\n");
    holds(&run, &[("BenchmarkTick/agents=20,range=2000-16 time ns", 1650.0)]);
    assert_eq!(run.environment.soft["gomaxprocs"], "16");
}

#[test]
fn b13_no_iterations_beside_a_real_time() {
    let run = run_of("BenchmarkLink-4        0  9100000000 ns/op  64000 bin-bytes\n");
    holds(&run, &[("BenchmarkLink-4 bin-bytes B", 64000.0), ("BenchmarkLink-4 time ns", 9.1e9)]);
    assert_eq!(kinds(&run), ["no-iterations"]);
}

#[test]
fn b15_a_mangled_sign_of_the_error() {
    let run = run_of(
        "Benchmark (size) Mode Cnt Score Error Units\nPack.read   512  avgt   20    3.410 Â±  0.052  us/op\n",
    );
    holds(&run, &[("Pack.read:size=512 time ns", 3410.0)]);
    assert!(
        matches!(spread(&run), Some(Spread::HalfWidth { value, .. }) if (value - 52.0).abs() < 1e-9)
    );
}

#[test]
fn b17_a_zero_beside_real_counts_is_not_believed() {
    let run = run_of(
        "a::b::c one\n  Instructions:   0|1700  (*********)\n  L1 Hits:   2300|2300  (No change)\n",
    );
    assert!(values(&run).iter().all(|(name, _)| !name.contains("instructions")));
    assert!(run.failures[0].message.contains("not to be believed"), "{:?}", run.failures);
}

#[test]
fn b19_colour_codes_change_nothing() {
    let plain =
        "grp::b short\n  Instructions:  1502|N/A  (*********)\n  L1 Hits:  1900|N/A  (*********)\n";
    let coloured =
        plain.replace("grp::b", "\x1b[32mgrp::b\x1b[0m").replace("1502|", "\x1b[1m 1502\x1b[0m|");
    assert_eq!(values(&run_of(&coloured)), values(&run_of(plain)));
    assert_eq!(values(&run_of(plain)).len(), 2);
}

#[test]
fn b21_estimates_of_criterion_in_either_case() {
    for key in ["mean", "Mean"] {
        let desk = Desk::new();
        desk.put("t/f/new/benchmark.json", r#"{"full_id":"f"}"#);
        desk.put(
            "t/f/new/estimates.json",
            &format!(
                r#"{{"{key}":{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":9.0,"upper_bound":11.0}},"point_estimate":10.0,"standard_error":0.5}}}}"#
            ),
        );
        let spec = Spec { path: desk.path("t"), part: None };
        let run = read(&spec, &Options::default()).unwrap();
        holds(&run, &[("f time ns", 10.0)]);
    }
}

#[test]
fn b23_only_the_chosen_side_of_a_tree_counts() {
    let desk = Desk::new();
    desk.tree("t", &[("f", 1000.0)]);
    let new = std::fs::read_to_string(desk.path("t/f/new/sample.json")).unwrap();
    for side in ["base", "main"] {
        desk.put(&format!("t/f/{side}/sample.json"), &new.replace("1000", "3000"));
        desk.put(&format!("t/f/{side}/benchmark.json"), r#"{"full_id":"f"}"#);
    }
    desk.put("t/f/change/estimates.json", r#"{"mean":{"point_estimate":-0.5}}"#);
    let run = read(&Spec { path: desk.path("t"), part: None }, &Options::default()).unwrap();
    holds(&run, &[("f time ns", 1000.0)]);
    let main = read(&Spec { path: desk.path("t"), part: Some("main".into()) }, &Options::default());
    holds(&main.unwrap(), &[("f time ns", 3000.0)]);
}

#[test]
fn b27_a_bench_that_measured_nothing_is_said_so() {
    let desk = Desk::new();
    desk.tree("a", &[("f", 1000.0), ("idle", 0.0)]);
    desk.check(&["compare", "a", "a"], 1, &["idle", "nothing was measured"]);
    let page = std::fs::read_to_string(desk.path("target/pacegate/report.md")).unwrap();
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn b29_a_bare_nan_leaves_the_spread_unknown() {
    let run = run_of(
        r#"{"Benchmarks":[{"FullName":"N.T.M","Statistics":{"Mean":41.5,"StandardDeviation":NaN,"N":1}}]}"#,
    );
    holds(&run, &[("N.T::M time ns", 41.5)]);
    assert_eq!(spread(&run), None);
}

#[test]
fn b31_a_name_is_built_from_what_there_is() {
    let run = run_of(
        r#"{"Benchmarks":[{"Namespace":null,"Type":"T","Method":"M","Parameters":"Size=8","Statistics":{"Mean":7,"N":1}}]}"#,
    );
    holds(&run, &[("T::M(Size=8) time ns", 7.0)]);
    let zero = r#"{"Benchmarks":[{"FullName":"N.T.M","Statistics":{"Mean":0,"N":1}}]}"#;
    let verdict = compare(&Desk::new(), zero, zero, 0, &["INCONCLUSIVE"]);
    assert_eq!(row(&verdict, "M")["verdict"], "inconclusive");
}

#[test]
fn b33_a_histogram_gives_its_score_and_percentiles() {
    let run = run_of(
        r#"[{"benchmark":"p.B.read","mode":"sample","threads":1,"forks":1,"primaryMetric":{"score":2.0,"scoreError":"NaN",
            "scoreUnit":"us/op","scorePercentiles":{"50.0":2.0},"rawDataHistogram":[[[[1.0,50],[2.0,100],[3.0,50]]]]},
            "secondaryMetrics":{}}]"#,
    );
    let seen = values(&run);
    assert!(seen.contains(&("p.B.read sampled-time ns".into(), 2000.0)), "{seen:?}");
    assert!(seen.contains(&("p.B.read p50 ns".into(), 2000.0)), "{seen:?}");
}

#[test]
fn b35_a_decimal_comma_in_json_is_an_error_with_its_place() {
    let said = read_bytes(
        "results",
        r#"[{"name":"a","unit":"ms","value":1,5}]"#.into(),
        &Options::default(),
    );
    let said = said.unwrap_err().to_string();
    assert!(said.contains("line 1 column 37") || said.contains("line 1 column 36"), "{said}");
}

#[test]
fn b37_repetitions_are_samples_and_aggregates_no_benchmarks() {
    let row = |name: &str, rest: &str| {
        format!(r#"{{"name":"{name}","run_name":"BM_A",{rest},"time_unit":"us"}}"#)
    };
    let text = format!(
        r#"{{"context":{{"num_cpus":2}},"benchmarks":[{},{},{},{},{}]}}"#,
        row("BM_A", r#""run_type":"iteration","real_time":2,"cpu_time":2"#),
        row("BM_A", r#""run_type":"iteration","real_time":4,"cpu_time":4"#),
        row(
            "BM_A_mean",
            r#""run_type":"aggregate","aggregate_name":"mean","real_time":3,"cpu_time":3"#
        ),
        row(
            "BM_A_cv",
            r#""run_type":"aggregate","aggregate_name":"cv","real_time":0.5,"cpu_time":0.5"#
        ),
        row(
            "BM_A_BigO",
            r#""run_type":"aggregate","aggregate_name":"BigO","big_o":"N","cpu_coefficient":1"#
        ),
    );
    let run = run_of(&text);
    holds(&run, &[("BM_A cpu-time ns", 2000.0), ("BM_A time ns", 2000.0)]);
    let Evidence::Sampled(launches) = &run.series[1].evidence else { panic!("{run:?}") };
    assert_eq!((launches.len(), launches[0].sample.values().len()), (1, 2));
}

#[test]
fn b39_a_failed_cell_of_a_grid_leaves_the_others() {
    let run = run_of(
        r#"{"commit_hash":"0123abcd","params":{},"results":{"m.time_x":{"params":[["a","b"]],"result":[null,1.9e-7]}}}"#,
    );
    holds(&run, &[("m.time_x(b) time ns", 190.0)]);
    assert_eq!(run.failures[0].id.name, "m.time_x(a)");
}

#[test]
fn b41_one_name_with_four_units_is_four_metrics() {
    let run = run_of(&custom(&[
        ("bench", "instructions", 5e6),
        ("bench", "wall-clock(s)", 1.5),
        ("bench", "max-rss(MB)", 12.0),
        ("bench", "output-size(MB)", 3.0),
    ]));
    holds(
        &run,
        &[
            ("bench instructions instructions", 5e6),
            ("bench max-rss B", 12e6),
            ("bench output-size B", 3e6),
            ("bench wall-clock ns", 1.5e9),
        ],
    );
    assert!(run.series.iter().all(|series| series.metric.better == Better::Lower));
}

#[test]
fn b69_what_was_compared_with_is_named_and_echoed() {
    let desk = Desk::new();
    desk.tree("t", &[("f", 1000.0)]);
    let new = std::fs::read_to_string(desk.path("t/f/new/sample.json")).unwrap();
    desk.put("t/f/release-1/sample.json", &new);
    desk.put("t/f/release-1/benchmark.json", r#"{"full_id":"f"}"#);
    desk.check(&["compare", "t:release-1", "t"], 0, &["release-1"]);
}

#[test]
fn b71_a_commit_that_was_measured_again_keeps_all_of_its_results() {
    let entry = |commit: &str, value: f64| {
        json!({"commit": {"id": commit}, "date": 1, "tool": "cargo",
               "benches": [{"name": "f", "value": value, "unit": "ns/iter"}]})
    };
    let history = json!({"lastUpdate": 1, "entries": {"S": [
        entry("aaaa", 10.0), entry("bbbb", 20.0), entry("bbbb", 30.0), entry("bbbb", 25.0)]}});
    let desk = Desk::new();
    desk.put("data.js", &format!("window.BENCHMARK_DATA = {history}"));
    let run = read(&Spec { path: desk.path("data.js"), part: None }, &Options::default()).unwrap();
    let Evidence::Summary(summaries) = &run.series[0].evidence else { panic!("{run:?}") };
    let scores: Vec<f64> = summaries.iter().map(|summary| summary.score).collect();
    assert_eq!(scores, [20.0, 30.0, 25.0]);
}

#[test]
fn b77_zeros_are_no_measurement_and_positions_no_names() {
    let text = "running 2 tests\ntest scan ... bench: 0 ns/iter (+/- 0)\ntest scan #2 ... bench: 10 ns/iter (+/- 1)\n\n\
         test result: ok. 0 passed; 0 failed; 0 ignored; 2 measured\n";
    let run = run_of(text);
    assert!(kinds(&run).contains(&"positional-name"), "{:?}", run.notices);
    let verdict = compare(&Desk::new(), text, text, 0, &["INCONCLUSIVE"]);
    for row in verdict["benchmarks"].as_array().unwrap() {
        assert_ne!(row["verdict"], "unchanged", "{row}");
    }
}

#[test]
fn b85_a_cut_name_is_told_and_an_estimate_outside_its_bounds_is_no_pass() {
    let line = |name: &str, values: &str| format!("{name:<24}time:   [{values}]\n");
    let name = "select a_long_list_of_columns from a_table...";
    let baseline =
        line("other", "1.0 ms 1.1 ms 1.2 ms") + name + "\n" + &line("", "1.0 ms 1.1 ms 1.2 ms");
    let edited =
        line("other", "1.0 ms 1.1 ms 1.2 ms") + name + "\n" + &line("", "1.0 ms 29.7 ms 1.2 ms");
    let desk = Desk::new();
    desk.put("baseline", &baseline);
    desk.put("candidate", &edited);
    let said = desk.run(&["compare", "baseline", "candidate"]);
    let all = format!("{}{}", said.stdout, said.stderr);
    assert!(![0, 3].contains(&said.code), "{all}");
    assert!(all.contains("names were cut off"), "{all}");
}

/// Files that a harness wrote on another machine, judged as `check` judges its own.
#[test]
fn results_of_any_harness_can_be_checked() {
    let desk = Desk::new();
    desk.put("pacegate.yaml", "tolerance: 5%\non_inconclusive: fail\n");
    desk.put("a", &hyperfine(&[("f", 1.0), ("g", 1.0)]));
    desk.put("b", &hyperfine(&[("f", 1.04), ("g", 1.2)]));
    desk.check(&["check", "--from", "b", "--baseline", "a"], 10, &["FAIL", "g"]);
    assert_eq!(row(&desk.verdict(), "f")["verdict"], "unchanged");
    // It is kept as evidence like any other.
    desk.check(&["replay", "target/pacegate/evidence.jsonl.zst"], 10, &["FAIL"]);
    desk.check(&["explain", "g"], 0, &["+20"]);
    // Several files are several launches.
    let side = |time: f64| custom(&[("f", "ns", time)]);
    for (file, time) in [("a1", 100.0), ("a2", 101.0), ("b1", 100.5), ("b2", 100.2)] {
        desk.put(file, &side(time));
    }
    let both = ["check", "--from", "b1", "b2", "--baseline", "a1", "--baseline", "a2"];
    desk.check(&both, 11, &["INCONCLUSIVE"]);
    assert_eq!(row(&desk.verdict(), "f")["launches"]["baseline"], 2);
    // What makes no sense is refused.
    desk.check(&["check", "--from", "b"], 2, &["--baseline"]);
    desk.check(&["check", "--from", "b", "--baseline", "a", "--release", "v1"], 2, &["--release"]);
    desk.check(&["check", "--baseline", "a", "--baseline", "b"], 2, &["--from"]);
    desk.check(&["check", "--from", "missing", "--baseline", "a"], 1, &["missing"]);
}

/// A metric that only the baseline's run took does not make its benchmark vanish.
#[test]
fn a_metric_that_is_gone_is_told_and_a_benchmark_that_is_gone_fails() {
    let with = |secondary: &str| {
        let text =
            jmh(&[("p.B.read", "avgt", "us/op", 10.0), ("p.B.write", "avgt", "us/op", 10.0)]);
        text.replacen(
            r#""secondaryMetrics":{}"#,
            &format!(r#""secondaryMetrics":{{{secondary}}}"#),
            1,
        )
    };
    let profiled = with(
        r#""gc.alloc.rate.norm":{"score":24.0,"scoreError":0.1,"scoreUnit":"B/op","rawData":[[24.0]]}"#,
    );
    let plain = with("");
    let verdict = compare(&Desk::new(), &profiled, &plain, 0, &["INCONCLUSIVE", "p.B.read"]);
    let rows = verdict["benchmarks"].as_array().unwrap();
    let gone = rows.iter().find(|row| row["metric"] == "gc.alloc.rate.norm").unwrap();
    assert_eq!(gone["verdict"], "inconclusive");
    assert!(gone["reason"].as_str().unwrap().contains("without this metric"), "{gone}");
    // The other way round it is new.
    compare(&Desk::new(), &plain, &profiled, 0, &["PASS"]);
    // Where nothing of a benchmark was compared, it is gone.
    let fewer = jmh(&[("p.B.write", "avgt", "us/op", 10.0)]);
    compare(&Desk::new(), &profiled, &fewer, 10, &["FAIL", "p.B.read"]);
}

/// A side that has values of a benchmark beside its failure is not judged by them.
#[test]
fn values_beside_a_failure_are_not_judged() {
    let whole = "running 2 tests\ntest a ... bench: 10 ns/iter (+/- 1)\ntest b ... bench: 10 ns/iter (+/- 1)\n\n\
         test result: ok. 0 passed; 0 failed; 0 ignored; 2 measured\n";
    let import = |failed: &str| {
        format!(
            r#"{{"schema":"pacegate.import/1","benchmarks":[
                {{"name":"f","unit":"ns","launches":[[1],[1],[1],[1],[1]]}}{failed}]}}"#
        )
    };
    let broken = import(r#",{"name":"f","unit":"ns","failed":"it crashed after some launches"}"#);
    for (baseline, candidate) in [(&broken, &import("")), (&import(""), &broken)] {
        let verdict = compare(&Desk::new(), baseline, candidate, 1, &["it crashed"]);
        assert_eq!(row(&verdict, "f")["verdict"], "failed");
    }
    assert_eq!(values(&run_of(whole)).len(), 2);
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
