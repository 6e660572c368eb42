//! Every reader at once: the corpus of real files, and what no two readers may do.

use std::path::Path;

use pacegate::ingest::{Options, read_bytes};
use pacegate::model::Evidence;
use proptest::prelude::*;

#[path = "../../examples/readers_corpus.rs"]
#[allow(dead_code, reason = "the program's own main and table are not used here")]
mod corpus;

#[test]
fn every_file_of_the_corpus_is_read_as_expected() {
    let Some(folder) = std::env::var_os("PACEGATE_CORPUS") else {
        println!("skipped: PACEGATE_CORPUS does not name the folder of foreign files");
        return;
    };
    let outcomes = corpus::check(Path::new(&folder)).unwrap();
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.is_right())
        .map(|outcome| {
            let corpus::Outcome { id, format, entries, values, .. } = outcome;
            format!("{id}: {format:?}, entries {entries:?}, values {values:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(outcomes.len() > 50, "the list names {} files", outcomes.len());
}

/// What results are made of; strung together at random they come near to many formats at once.
const WORDS: &[&str] = &[
    "\n",
    " ",
    "\t",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "/",
    "(",
    ")",
    "±",
    "µs",
    "ns",
    "ns/iter",
    "ns/op",
    "ops/s",
    "B/op",
    "allocs/op",
    "0",
    "-1",
    "7.5",
    "1e308",
    "1,234",
    "NaN",
    "null",
    "true",
    "test ",
    " ... bench: ",
    " (+/- 3)",
    "FAILED",
    "panicked at",
    "Benchmark",
    "BenchmarkA-4",
    "pkg: x",
    "PASS",
    "time:   [1.0 ns 2.0 ns 3.0 ns]",
    "thrpt",
    "avgt",
    "Cnt",
    "Score",
    "Error",
    "Units",
    "Mode",
    "  Instructions: ",
    "|",
    "├─ a",
    "╰─ b",
    "│",
    "\"benchmarks\":",
    "\"results\":",
    "\"name\":\"a\",",
    "\"unit\":\"ns\",",
    "\"value\":1",
    "\"context\":{\"num_cpus\":2},",
    "\"times\":[1,2],",
    "\"command\":\"c\",",
    "\"primaryMetric\":{",
    "\"rawData\":[[1,2]]",
    "window.BENCHMARK_DATA = ",
    "\"entries\":{",
    "\"stats\":{\"data\":[1,2]}",
    "\"machine_info\":{},",
    "\"Benchmarks\":[",
    "\"reason\":\"benchmark-complete\"",
    "samples",
    "iterations",
    "mean",
    "-----",
    "create",
    "ser",
    "deser",
    "total",
    "size",
    "+dfl",
    "\u{1b}[31m",
    "\u{feff}",
    "\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_breaks_a_reader(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..60)) {
        let text = words.concat();
        for run in read_bytes("text", text.into_bytes(), &Options::default()).unwrap_or_default() {
            for series in run.series {
                let finite = match series.evidence {
                    Evidence::Sampled(launches) => launches
                        .iter()
                        .flat_map(|launch| launch.sample.values())
                        .all(|value| value.is_finite() && 0.0 <= value),
                    Evidence::Summary(summaries) => summaries.iter().all(|s| s.score.is_finite()),
                    Evidence::Exact(values) => values.iter().all(|value| value.is_finite()),
                };
                prop_assert!(finite, "{}", series.id);
            }
        }
    }
}
