//! Files that tools really wrote, with the values that stand in them. `scripts/fixtures` makes them again; then the values
//! below are to be read off the new files.

use std::path::Path;

use pacegate::ingest::{self, Options};
use pacegate::model::{Evidence, Run};

/// Reads a file as the format that is expected.
fn read(file: &str, format: &str) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    let options = Options::default();
    assert_eq!(ingest::format_name(&path, &options).as_deref(), Ok(format), "{file}");
    ingest::read_file(&path, &options).unwrap().remove(0)
}

/// Checks how many series a file holds, the values of some of them in order, and what failed.
#[track_caller]
fn check(file: &str, format: &str, series: usize, some: &[(&str, &str, &[f64])], failed: &[&str]) {
    let run = read(file, format);
    assert_eq!(run.series.len(), series, "{file}: {:?}", names(&run));
    for (name, metric, expected) in some {
        let found = run
            .series
            .iter()
            .find(|series| series.id.to_string() == *name && series.metric.name == *metric)
            .unwrap_or_else(|| panic!("{file}: no {metric} of {name} in {:?}", names(&run)));
        let values: Vec<f64> = match &found.evidence {
            Evidence::Sampled(launches) => {
                launches.iter().flat_map(|launch| launch.sample.values()).collect()
            }
            Evidence::Summary(summaries) => summaries.iter().map(|summary| summary.score).collect(),
            Evidence::Scored(scores) => scores.iter().map(|launch| launch.score).collect(),
            Evidence::Exact(values) => values.clone(),
        };
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
        assert!(
            values.len() == expected.len() && values.iter().zip(*expected).all(near),
            "{file}: {name} {metric}: {values:?} is not {expected:?}"
        );
    }
    let failures: Vec<String> =
        run.failures.iter().map(|failure| format!("{}: {}", failure.id, failure.message)).collect();
    assert_eq!(failures, failed, "{file}");
}

fn names(run: &Run) -> Vec<String> {
    run.series.iter().map(|series| format!("{} {}", series.id, series.metric.name)).collect()
}

#[test]
fn go() {
    let small = "example.org/codec::BenchmarkJoin/size=small-2";
    let large = "example.org/codec::BenchmarkJoin/size=large-2";
    check(
        "go/baseline.txt",
        "Go benchmark text",
        10,
        &[
            (small, "time", &[131.5, 98.04, 102.9]),
            (small, "throughput", &[121.70e6, 163.19e6, 155.44e6]),
            (small, "bytes", &[24.0; 3]),
            (small, "allocations", &[1.0; 3]),
            (large, "words/op", &[400.0; 3]),
        ],
        &[],
    );
    check(
        "go/events.json",
        "Go test events",
        10,
        &[(small, "time", &[79.73, 100.3]), (large, "time", &[5058.0, 4573.0])],
        &[],
    );
}

#[test]
fn google_benchmark() {
    let failed = "Open: benchmarks[23]: it failed: no such file";
    let failures = [
        failed,
        "Open: benchmarks[24]: it failed: no such file",
        "Open: benchmarks[25]: it failed: no such file",
    ];
    check(
        "google_benchmark/baseline.json",
        "Google Benchmark JSON",
        12,
        &[
            ("Copy/64", "time", &[3.401940836674129, 3.506917073522204, 3.438291750810149]),
            ("Copy/512", "cpu-time", &[6.0166859017669125, 5.876011157234462, 5.9382750452835396]),
            ("Copy/512", "blocks", &[8.0; 3]),
            (
                "Copy/4096",
                "bytes_per_second",
                &[2895692911.9873915, 2974508664.786817, 2945198776.7155046],
            ),
        ],
        &failures,
    );
    let failures =
        ["14", "15", "16"].map(|at| format!("Open: benchmarks[{at}]: it failed: no such file"));
    check(
        "google_benchmark/aggregates.json",
        "Google Benchmark JSON",
        12,
        &[
            ("Copy/64", "time", &[3.685442650698942]),
            ("Copy/4096", "cpu-time", &[1387.586866167914]),
        ],
        &failures.each_ref().map(String::as_str),
    );
}

#[test]
fn catch2() {
    let long =
        "Sorting & searching/of many::a name that is much too long for the column it stands in";
    check(
        "catch2/baseline.txt",
        "Catch2 text",
        2,
        &[
            (long, "time", &[1198.09]),
            ("Sorting & searching/of many::find <first>", "time", &[3.82529]),
        ],
        &["Failing::throws: line 37: it failed: boom"],
    );
    check(
        "catch2/baseline.xml",
        "Catch2 XML",
        2,
        &[
            (long, "time", &[2469.83]),
            ("Sorting & searching/of many::find <first>", "time", &[4.73868]),
        ],
        &["Failing::throws: line 23: it failed: boom"],
    );
}

#[test]
fn pytest_benchmark() {
    check(
        "pytest/baseline.json",
        "pytest-benchmark JSON",
        3,
        &[(
            "test_codec.py::test_join[small]",
            "time",
            &[
                278.50001060869545,
                314.6000381093472,
                263.4998963912949,
                261.5000994410366,
                275.4997694864869,
                255.49998099450022,
                286.59997042268515,
                260.50001906696707,
            ],
        )],
        &[],
    );
}

#[test]
fn hyperfine() {
    check(
        "hyperfine/baseline.json",
        "hyperfine JSON",
        16,
        &[
            (
                "sleep 0.001",
                "time",
                &[3092704.0000000004, 2659355.0, 2603610.0, 2707965.0, 2631372.0, 2613028.0],
            ),
            ("true (seconds=0.002)", "user", &[784499.9999999999]),
            ("sleep 0.001", "memory", &[3035136.0; 6]),
        ],
        &[],
    );
}

#[test]
fn divan() {
    check(
        "divan/baseline.txt",
        "divan text",
        15,
        &[
            ("with_divan::join::4", "time", &[51.23]),
            ("with_divan::join::4", "max alloc count", &[1.015]),
            ("with_divan::join::400", "time", &[1853.0]),
            ("with_divan::join::400", "alloc bytes", &[8399.0]),
            ("with_divan::sum", "time", &[20.09]),
        ],
        &[],
    );
}

#[test]
fn gungraun() {
    let small = "with_gungraun::codec_group::join small:(4)";
    check(
        "gungraun/baseline.txt",
        "gungraun text",
        12,
        &[
            (small, "instructions", &[466.0]),
            (small, "RAM hits", &[15.0]),
            (small, "estimated cycles", &[1151.0]),
            ("with_gungraun::codec_group::join large:(400)", "instructions", &[15952.0]),
        ],
        &[],
    );
    let small = "with_gungraun::codec_group::join small";
    check(
        "gungraun/baseline.json",
        "gungraun JSON",
        44,
        &[(small, "instructions", &[466.0]), (small, "L1 hits", &[626.0])],
        &[],
    );
}

#[test]
fn libtest() {
    check(
        "libtest/baseline.txt",
        "libtest bench text",
        2,
        &[("join_small", "time", &[50.72]), ("sums::sum", "time", &[20.75])],
        &[],
    );
}
