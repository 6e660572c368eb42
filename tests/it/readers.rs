//! Every reader at once: the corpus of real files, and what no two readers may do.

use std::path::Path;

use pacegate::ingest::{Options, read_bytes, read_file};
use pacegate::model::Evidence;
use pacegate::store::Limits;
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

/// At the limit everything is read, one past it nothing.
#[test]
fn limits_hold_at_the_limit_and_one_past_it() {
    let benchmarks = |n: usize| {
        let rows: Vec<String> =
            (0..n).map(|i| format!(r#"{{"name":"b{i}","unit":"ns","value":{i}.5}}"#)).collect();
        format!("[{}]", rows.join(","))
    };
    let read = |n: usize, limits: Limits| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        std::fs::write(&path, benchmarks(n)).unwrap();
        let options = Options { limits, ..Options::default() };
        read_file(&path, &options).map(|runs| runs[0].series.len()).map_err(|e| e.to_string())
    };
    let bytes = benchmarks(3).len() as u64;
    let limits = Limits { benchmarks: 3, samples: 2, bytes };
    assert_eq!(read(3, limits), Ok(3));
    let many = read(4, Limits { bytes: 1000, ..limits }).unwrap_err();
    assert!(many.ends_with("it holds more than 3 benchmarks; give several files"), "{many}");
    let large = read(3, Limits { bytes: bytes - 1, ..limits }).unwrap_err();
    assert!(large.contains("it is larger than"), "{large}");
}

/// A value that is kept may be nested 127 deep, with what is around it; what is skipped may be nested as it likes.
#[test]
fn depth_is_limited_where_it_is_kept() {
    let nested = |key: &str, depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let text = format!(
            r#"[{{"benchmark":"a.B.c","mode":"avgt",{key}{open}{close}{},
                "primaryMetric":{{"score":1.5,"scoreUnit":"us/op","rawData":[[1.5]]}}}}]"#,
            if key.contains('{') { "}" } else { "" }
        );
        read_bytes("results", text.into(), &Options::default())
            .map(|runs| runs[0].series.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(nested(r#""params":{"p":"#, 125), Ok(1));
    let deep = nested(r#""params":{"p":"#, 126).unwrap_err();
    assert!(deep.contains("recursion limit exceeded at line 1 column"), "{deep}");
    assert_eq!(nested(r#""notes":"#, 100_000), Ok(1));
}

/// With an attempt for each line that goes to the end of the file, this would not end in a lifetime.
#[test]
fn objects_that_never_end_are_given_up_in_time() {
    let text =
        "\"module_path\" \"benchmark-complete\"\n".to_owned() + &"{\"a\":[\n".repeat(300_000);
    assert!(read_bytes("results", text.clone().into(), &Options::default()).is_err());
    let reversed = "{\"a\":[\n".repeat(300_000) + "\"module_path\" \"benchmark-complete\"\n";
    assert!(read_bytes("results", reversed.into(), &Options::default()).is_err());
}

/// A file of which only the beginning was looked at to tell what it is.
#[test]
fn large_documents_are_read_whole() {
    let row = |i: usize, value: &str| {
        format!(
            r#"{{"name":"BM_A/{}","run_type":"iteration","real_time":{value},"cpu_time":1,"time_unit":"ns"}}"#,
            i % 7
        )
    };
    let rows: Vec<String> = (0..70_000).map(|i| row(i, "1.5")).collect();
    let document = |rows: &[String]| {
        format!("{{\"context\":{{\"num_cpus\":2}},\n\"benchmarks\":[\n{}\n]}}\n", rows.join(",\n"))
    };
    let read = |text: String| read_bytes("results", text.into(), &Options::default());
    let text = document(&rows);
    assert!(text.len() > 5 << 20);
    let run = read(text.clone()).unwrap().remove(0);
    assert_eq!(run.series.len(), 14);
    // The keys in another order: the one that tells what it is comes last.
    let tail = text.replacen("\"context\":{\"num_cpus\":2},", "", 1);
    let tail = tail.trim_end().trim_end_matches('}').to_owned() + ",\"context\":{\"num_cpus\":2}}";
    assert_eq!(read(tail).unwrap().remove(0).series, run.series);
    // What is wrong far behind is told with its place, and NaN is no number there either.
    let at = 65_000;
    let mut broken = rows.clone();
    broken[at] = row(at, "1,5");
    let said = read(document(&broken)).unwrap_err().to_string();
    assert!(said.contains(&format!("at line {} column", at + 3)), "{said}");
    broken[at] = row(at, "NaN");
    let said = read(document(&broken)).unwrap().remove(0);
    assert_eq!(
        said.failures[0].message,
        "benchmarks[65000]: real_time is no number; look at why it was not measured"
    );
    broken[at] = "{\"name\": ".into();
    assert!(read(document(&broken)).is_err());
    let cut = &text[..text.len() - 20];
    let said = read(cut.to_owned()).unwrap_err().to_string();
    assert!(said.contains("EOF while parsing"), "{said}");
}

/// The same results, as consoles and CI services hand them on.
#[test]
fn what_stands_around_a_result_changes_nothing() {
    let plain = "running 2 tests\ntest a ... bench:       1,250 ns/iter (+/- 20)\ntest b ... bench: 7 ns/iter (+/- 1)\n\n\
         test result: ok. 0 passed; 0 failed; 0 ignored; 2 measured\n";
    let criterion = "parse                   time:   [1.0 µs 1.5 µs 2.0 µs]\n";
    let read = |bytes: Vec<u8>| {
        let mut runs = read_bytes("results", bytes, &Options::default()).unwrap();
        runs.remove(0).series
    };
    let stamped = |text: &str| -> String {
        text.lines().map(|line| format!("2026-01-31T23:59:59.1234567Z {line}\n")).collect()
    };
    let utf16 = |text: &str, bom: [u8; 2], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        bom.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    };
    for text in [plain, criterion] {
        let expected = read(text.into());
        assert!(!expected.is_empty());
        assert_eq!(read(stamped(text).into()), expected);
        assert_eq!(read(text.replace('\n', "\r\n").into()), expected);
        assert_eq!(read(format!("\u{feff}{text}").into()), expected);
        assert_eq!(read(utf16(text, [0xFF, 0xFE], u16::to_le_bytes)), expected);
        assert_eq!(read(utf16(text, [0xFE, 0xFF], u16::to_be_bytes)), expected);
        for micro in ["Âµ", "┬╡", "┬Á", "\u{3bc}"] {
            assert_eq!(read(text.replace('µ', micro).into()), expected, "{micro}");
        }
        let latin1 = text.chars().map(|c| c as u32 as u8).collect();
        assert_eq!(read(latin1), expected);
    }
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
                    Evidence::Scored(_) => unreachable!("no tool writes scores without samples"),
                };
                prop_assert!(finite, "{}", series.id);
            }
        }
    }
}
