//! Every format from its sample file to a verdict: two files of it are compared, and a broken one says what is wrong.

use std::path::{Path, PathBuf};

use pacegate::ingest::{self, Options, Spec};
use pacegate::model::{Evidence, Metric, Run};
use serde_json::Value;

use crate::desk::Desk;

/// A format, a small file of it, and what must come out when each `100…` in it becomes `150…`.
struct Sample {
    format: &'static str,
    file: &'static str,
    /// Rows of the benchmarks, as `benchmark | metric unit | baseline -> candidate | verdict`, in the order of the verdict.
    rows: &'static [&'static str],
    /// What is broken in it, by what, and what is said of it.
    broken: (&'static str, &'static str, &'static str),
}

const SAMPLES: &[Sample] = &[
    Sample {
        format: "asv results",
        file: "asv.json",
        rows: &["io.Read.time_read('small') | time ns lower | 1003000 -> 1503000 | inconclusive"],
        broken: (
            "0.001003\n   ],\n   [\n    [",
            "null\n   ],\n   [\n    [",
            "results.io.Read.time_read: it failed (null); look at what asv said of it",
        ),
    },
    Sample {
        format: "BenchmarkDotNet JSON",
        file: "benchmarkdotnet.json",
        rows: &[
            "Demo.Codec::Pack(Size: 10) | Allocated Memory B lower | 64 -> 64 | unchanged",
            "Demo.Codec::Pack(Size: 10) | time ns lower | 1005 -> 1505 | regression",
        ],
        broken: (
            "\"Nanoseconds\": 10020",
            "\"Nanoseconds\": \"fast\"",
            "a measurement of launch 1 is not a number; run it again",
        ),
    },
    Sample {
        format: "Bencher Metric Format",
        file: "bmf.json",
        rows: &[
            "codec::pack | file-size B lower | 4096 -> 4096 | unchanged",
            "codec::pack | time ns lower | 1001 -> 1501 | inconclusive",
        ],
        broken: ("1001.0", "null", "`value` of latency is not a number; look at what wrote it"),
    },
    Sample {
        format: "cargo-criterion JSON messages",
        file: "cargo_criterion.json",
        rows: &["codec/pack | time ns lower | 1002 -> 1502 | inconclusive"],
        broken: ("\"group-complete\"", CUT, "line 2: a message is cut off"),
    },
    Sample {
        format: "Catch2 text",
        file: "catch2.txt",
        rows: &["Packing::pack | time ns lower | 1001 -> 1501 | inconclusive"],
        broken: (
            "                                           1001",
            CUT,
            "its mean and deviation are missing or no numbers; it crashed or the log was cut off",
        ),
    },
    Sample {
        format: "Catch2 XML",
        file: "catch2.xml",
        rows: &["Packing::pack | time ns lower | 1001 -> 1501 | inconclusive"],
        broken: ("    <OverallResult ", CUT, "<Catch2TestRun> has no end: the file is cut off"),
    },
    Sample {
        format: "critcmp export",
        file: "critcmp.json",
        rows: &["codec/pack | time ns lower | 1001 -> 1501 | inconclusive"],
        broken: ("\"point_estimate\": 1001.0", "\"point_estimate\": 2001.0", "export it again"),
    },
    Sample {
        format: "criterion terminal text",
        file: "criterion.txt",
        rows: &["codec::pack | time ns lower | 1001.2 -> 1501.2 | inconclusive"],
        broken: (
            "pack                    time",
            "thread 'main' panicked at benches/codec.rs:3:5:\nx   time",
            "`thread 'main' panicked at benches/codec.rs:3:5:`; mend it and measure again",
        ),
    },
    Sample {
        format: "divan text",
        file: "divan.txt",
        rows: &[
            "codec::pack | max alloc bytes B lower | 64 -> 64 | unchanged",
            "codec::pack | max alloc count allocations lower | 2 -> 2 | unchanged",
            "codec::pack | time ns lower | 1001 -> 1501 | inconclusive",
        ],
        broken: ("1000 ns       │ 1009 ns", CUT, "no figures follow"),
    },
    Sample {
        format: "github-action-benchmark custom JSON",
        file: "github_action_benchmark.json",
        rows: &[
            "pack | throughput ops/s higher | 100300 -> 150300 | inconclusive",
            "pack | time ns lower | 1001 -> 1501 | inconclusive",
        ],
        broken: ("\"value\": 1001", "\"value\": 100,1", "key must be a string at line"),
    },
    Sample {
        format: "github-action-benchmark history",
        file: "github_action_benchmark.js",
        rows: &["Codec::pack | time ns lower | 1001 -> 1501 | inconclusive"],
        broken: (
            "\"value\": 1001",
            "\"value\": \"\"",
            "entries.Codec[0].benches[0].value is no number: ``; look at what wrote it",
        ),
    },
    Sample {
        format: "Go benchmark text",
        file: "go.txt",
        rows: &[
            "example.org/codec::BenchmarkPack-8 | allocations allocations lower | 2 -> 2 | unchanged",
            "example.org/codec::BenchmarkPack-8 | bytes B lower | 64 -> 64 | unchanged",
            "example.org/codec::BenchmarkPack-8 | throughput B/s higher | 100100000 -> 150100000 | inconclusive",
            "example.org/codec::BenchmarkPack-8 | time ns lower | 1002 -> 1502 | inconclusive",
        ],
        broken: ("PASS\n", "panic: boom\n", "line 8: `panic: boom`"),
    },
    Sample {
        format: "Go test events",
        file: "go_events.json",
        rows: &[
            "example.org/codec::BenchmarkPack-8 | allocations allocations lower | 2 -> 2 | unchanged",
            "example.org/codec::BenchmarkPack-8 | bytes B lower | 64 -> 64 | unchanged",
            "example.org/codec::BenchmarkPack-8 | time ns lower | 1001 -> 1501 | inconclusive",
        ],
        broken: (
            "\"Package\": \"example.org/codec\", \"Output\": \"PASS",
            CUT,
            "line 6: an event is cut off or edited",
        ),
    },
    Sample {
        format: "Google Benchmark JSON",
        file: "google_benchmark.json",
        rows: &[
            "Pack/64 | blocks  unknown | 7 -> 7 | unchanged",
            "Pack/64 | bytes_per_second B/s higher | 64000000 -> 64000000 | inconclusive",
            "Pack/64 | cpu-time ns lower | 1001.5 -> 1501.5 | inconclusive",
            "Pack/64 | time ns lower | 1002.5 -> 1502.5 | inconclusive",
        ],
        broken: (
            "\"time_unit\": \"ns\"",
            "\"time_unit\": \"fortnights\"",
            "`fortnights` is no unit of time; give the file as the tool wrote it",
        ),
    },
    Sample {
        format: "gungraun JSON",
        file: "gungraun.json",
        rows: &[
            "codec::group::pack large | L1 hits accesses lower | 1300 -> 1300 | unchanged",
            "codec::group::pack large | instructions instructions lower | 1002 -> 1502 | regression",
            "codec::group::pack small | L1 hits accesses lower | 1300 -> 1300 | unchanged",
            "codec::group::pack small | instructions instructions lower | 1001 -> 1501 | regression",
        ],
        broken: ("\"id\": \"large\"", CUT, "line 2: a summary is cut off"),
    },
    Sample {
        format: "gungraun text",
        file: "gungraun.txt",
        rows: &[
            "codec::group::pack small:4 | L1 hits accesses lower | 1300 -> 1300 | unchanged",
            "codec::group::pack small:4 | LL hits accesses lower | 2 -> 2 | unchanged",
            "codec::group::pack small:4 | RAM hits accesses lower | 3 -> 3 | unchanged",
            "codec::group::pack small:4 | estimated cycles cycles lower | 1415 -> 1415 | unchanged",
            "codec::group::pack small:4 | instructions instructions lower | 1001 -> 1501 | regression",
            "codec::group::pack small:4 | total read+write accesses lower | 1305 -> 1305 | unchanged",
        ],
        broken: (
            "1001|N/A",
            "0|1001",
            "the count of instructions is 0 while that of L1 hits is 1300, which is not to be believed; measure again",
        ),
    },
    Sample {
        format: "hyperfine JSON",
        file: "hyperfine.json",
        rows: &[
            "pack -9 big.tar | memory B lower | 4096 -> 4096 | unchanged",
            "pack -9 big.tar | system ns lower | 10000000 -> 10000000 | inconclusive",
            "pack -9 big.tar | time ns lower | 100350000 -> 150350000 | regression",
            "pack -9 big.tar | user ns lower | 90000000 -> 90000000 | inconclusive",
        ],
        broken: (
            "\"exit_codes\": [\n    0",
            "\"exit_codes\": [\n    101",
            "run 1 of 6 exited with code 101; measure a command that succeeds",
        ),
    },
    Sample {
        format: "iai text",
        file: "iai.txt",
        rows: &[
            "codec::pack | L1 accesses accesses lower | 1300 -> 1300 | unchanged",
            "codec::pack | L2 accesses accesses lower | 2 -> 2 | unchanged",
            "codec::pack | RAM accesses accesses lower | 3 -> 3 | unchanged",
            "codec::pack | estimated cycles cycles lower | 1415 -> 1415 | unchanged",
            "codec::pack | instructions instructions lower | 1001 -> 1501 | regression",
        ],
        broken: ("1001 (No change)", "1001#", "no count can be read in"),
    },
    Sample {
        format: "pacegate import",
        file: "import.json",
        rows: &[
            "codec::pack | output B lower | 4096 -> 4096 | unchanged",
            "codec::pack | time ns lower | 1003 -> 1503 | regression",
        ],
        broken: ("\"exact\"", "\"exakt\"", "unknown field `exakt`"),
    },
    Sample {
        format: "JMH JSON",
        file: "jmh.json",
        rows: &[
            "org.example.Codec.pack:size=512 | gc.alloc.rate.norm B lower | 24 -> 24 | unchanged",
            "org.example.Codec.pack:size=512 | time ns lower | 1003.5 -> 1503.5 | regression",
            "org.example.Codec.rate | throughput ops/s higher | 1003.5 -> 1503.5 | improvement",
        ],
        broken: (
            "1001.5,",
            "\"NaN\",",
            "[0].primaryMetric.rawData[0] holds what is no number; measure again",
        ),
    },
    Sample {
        format: "JMH text",
        file: "jmh.txt",
        rows: &[
            "Codec.pack:size=512 | time ns lower | 1001.5 -> 1501.5 | inconclusive",
            "Codec.rate:size=512 | throughput ops/s higher | 1002.5 -> 1502.5 | inconclusive",
        ],
        broken: (
            "1001.500 ± 3.052  ns/op",
            "1001.5",
            "line 3: the row is cut off or edited; give it as JMH printed it",
        ),
    },
    Sample {
        format: "JMH CSV",
        file: "jmh.csv",
        rows: &[
            "org.example.Codec.pack:size=512 | time ns lower | 1001.5 -> 1501.5 | inconclusive",
            "org.example.Codec.rate:size=512 | throughput ops/s higher | 1002.5 -> 1502.5 | inconclusive",
        ],
        broken: (
            "1001.500000,3.052000,",
            "1001.5,",
            "line 2: the row is cut off or edited; give it as JMH wrote it",
        ),
    },
    Sample {
        format: "libtest bench text",
        file: "libtest.txt",
        rows: &["codec::pack | time ns lower | 100150 -> 150150 | inconclusive"],
        broken: ("bench:", "FAILED\n", "it looks most like libtest bench text"),
    },
    Sample {
        format: "pytest-benchmark JSON",
        file: "pytest.json",
        rows: &[
            "tests/test_codec.py::test_pack[small] | time ns lower | 1002000 -> 1502000 | inconclusive",
        ],
        broken: (
            "\"mean\": 0.001002",
            "\"mean\": 0.003",
            "one of them was edited, run the test again",
        ),
    },
    Sample {
        format: "serializer table",
        file: "serializers.txt",
        rows: &[
            "json/some/databind | +dfl B lower | 261 -> 261 | unchanged",
            "json/some/databind | create ns lower | 61 -> 61 | inconclusive",
            "json/some/databind | deser ns lower | 1002 -> 1502 | inconclusive",
            "json/some/databind | ser ns lower | 1001 -> 1501 | inconclusive",
            "json/some/databind | size B lower | 485 -> 485 | unchanged",
            "json/some/databind | total ns lower | 2003 -> 2003 | inconclusive",
        ],
        broken: (
            "1001",
            "fast",
            "it has not the 6 numbers that the header names; give the whole row",
        ),
    },
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/samples")
}

fn text(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

/// What begins with 100 is half as much again.
fn slower(text: &str) -> String {
    text.replace("100", "150")
}

#[test]
fn every_format_has_a_sample_of_its_own() {
    let known: Vec<&str> = ingest::formats().collect();
    let ours: Vec<&str> = SAMPLES.iter().map(|sample| sample.format).collect();
    assert_eq!(ours, known);
    for sample in SAMPLES {
        let name = ingest::format_name(&folder().join(sample.file), &Options::default());
        assert_eq!(name.as_deref(), Ok(sample.format), "{}", sample.file);
    }
}

#[test]
fn two_files_of_each_format_are_judged_in_the_right_unit_and_direction() {
    let mut wrong = Vec::new();
    for sample in SAMPLES {
        let desk = Desk::new();
        let baseline = text(sample.file);
        desk.put("baseline", &baseline);
        desk.put("candidate", &slower(&baseline));
        let said = desk.run(&["compare", "baseline", "candidate"]);
        let verdict = desk.verdict();
        let rows = verdict["benchmarks"].as_array().unwrap();
        let mut shown: Vec<String> = rows.iter().map(row).collect();
        shown.sort();
        if shown != sample.rows {
            println!("{}{}", said.stdout, said.stderr);
            wrong.push((sample.file, shown));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn row(row: &Value) -> String {
    let number = |key: &str| {
        row[key].as_f64().map_or("-".to_owned(), |value| {
            format!("{:.4e}", value).parse::<f64>().unwrap().to_string()
        })
    };
    format!(
        "{} | {} {} {} | {} -> {} | {}",
        row["id"].as_str().unwrap(),
        row["metric"].as_str().unwrap(),
        row["unit"].as_str().unwrap(),
        row["better"].as_str().unwrap(),
        number("baseline"),
        number("candidate"),
        row["verdict"].as_str().unwrap(),
    )
}

#[test]
fn a_broken_file_of_each_format_says_what_is_wrong_and_is_never_a_pass() {
    let mut wrong = Vec::new();
    let page = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/troubleshooting.md"),
    )
    .unwrap();
    for sample in SAMPLES {
        let (from, to, message) = sample.broken;
        let whole = text(sample.file);
        assert!(whole.contains(from), "{} does not hold `{from}`", sample.file);
        let desk = Desk::new();
        desk.put(sample.file, &whole);
        let cut = match to {
            CUT => whole[..whole.find(from).unwrap()].to_owned(),
            to => whole.replacen(from, to, 1),
        };
        desk.put(&format!("broken/{}", sample.file), &cut);
        let broken = format!("broken/{}", sample.file);
        let said = desk.run(&["compare", sample.file, &broken]);
        let mut reasons: Vec<String> = desk.verdict()["benchmarks"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|row| row["verdict"] == "failed")
            .map(|row| row["reason"].as_str().unwrap().to_owned())
            .collect();
        reasons.extend(said.stderr.lines().map(str::to_owned));
        assert!(![0, 3].contains(&said.code), "{}: {}", sample.file, said.stdout);
        if !reasons.iter().any(|reason| reason.contains(message)) || !page.contains(message) {
            wrong.push((sample.file, reasons));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn whatever_is_read_is_converted_without_loss_to_evidence_and_by_value_to_bmf() {
    for sample in SAMPLES {
        let desk = Desk::new();
        desk.put(sample.file, &text(sample.file));
        let read = |file: &str| {
            let spec = Spec { path: desk.path(file), part: None };
            ingest::read(&spec, &Options::default()).unwrap()
        };
        let original = read(sample.file);
        let kept = ["convert", sample.file, "--to", "evidence", "--into", "kept.jsonl.zst"];
        desk.check(&kept, 0, &[]);
        let again = read("kept.jsonl.zst");
        assert_eq!(again.series, original.series, "{}", sample.file);
        assert_eq!(again.environment, original.environment, "{}", sample.file);
        // Evidence that was converted is converted again to the same bytes.
        let said = desk.check(&["convert", "kept.jsonl.zst", "--to", "evidence"], 0, &[]);
        desk.put("again.jsonl", &said.stdout);
        assert_eq!(read("again.jsonl"), again, "{}", sample.file);

        let said = desk.check(&["convert", sample.file, "--to", "bmf"], 0, &[]);
        desk.put("bmf.json", &said.stdout);
        let bmf = read("bmf.json");
        let scores = |run: &Run| {
            let mut scores: Vec<(String, f64)> = run
                .series
                .iter()
                .map(|series| (series.id.to_string(), score(&series.evidence)))
                .collect();
            scores.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            scores
        };
        for (ours, theirs) in scores(&original).iter().zip(scores(&bmf)) {
            assert_eq!(ours.0, theirs.0, "{}", sample.file);
            assert!((ours.1 - theirs.1).abs() <= 5e-3 * ours.1.abs(), "{ours:?} {theirs:?}");
        }
        assert_eq!(bmf.series.len(), original.series.len(), "{}", sample.file);
        let times = |run: &Run| run.series.iter().filter(|s| s.metric == Metric::time()).count();
        assert_eq!(times(&bmf), times(&original), "{}", sample.file);
    }
}

fn score(evidence: &Evidence) -> f64 {
    match evidence {
        Evidence::Exact(values) => values[0],
        Evidence::Scored(scores) => scores[0].score,
        Evidence::Summary(summaries) => summaries[0].score,
        Evidence::Sampled(launches) => {
            let all: Vec<f64> = launches.iter().flat_map(|launch| launch.sample.values()).collect();
            all.iter().sum::<f64>() / all.len() as f64
        }
    }
}

#[test]
fn what_failed_is_kept_as_evidence_and_makes_bmf_an_error() {
    let desk = Desk::new();
    desk.put("a", r#"{"results": [{"command": "f", "times": [1.0], "exit_codes": [7]}]}"#);
    desk.put(
        "b",
        r#"{"results": [{"command": "f", "mean": 1.0, "times": [1.0], "exit_codes": [7]}]}"#,
    );
    let failed = "run 1 of 1 exited with code 7";
    desk.check(&["convert", "a", "--to", "bmf"], 1, &["it is JSON with the keys"]);
    desk.check(&["convert", "b", "--to", "bmf"], 1, &[failed]);
    desk.check(&["convert", "b", "--to", "evidence", "--into", "kept.jsonl"], 0, &[failed]);
    desk.check(&["compare", "kept.jsonl", "kept.jsonl"], 1, &[failed]);
    desk.check(&["convert", "b"], 2, &["--to"]);
    desk.check(
        &["convert", "b", "--to", "evidence", "--into", "no/such/folder"],
        1,
        &["no/such/folder"],
    );
}

/// The file ends where the other text begins.
const CUT: &str = "(cut)";
