//! Criterion trees and evidence files, as they come and as they break.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pacegate::error::{Error, ErrorKind};
use pacegate::gate::Policy;
use pacegate::ingest::{self, Options, Spec, criterion};
use pacegate::model::{
    Arm, Better, Evidence, Experiment, Failure, Metric, Run, Sample, SamplingMode, Series, Spread,
    Unit,
};
use pacegate::store::Limits;
use pacegate::store::evidence::{Ending, EvidenceFile};
use tempfile::TempDir;

fn corpus(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/criterion").join(version)
}

fn read(path: &Path) -> Result<Run, Error> {
    criterion::read(path, None, &Options::default())
}

fn names(run: &Run) -> Vec<&str> {
    run.series.iter().map(|series| series.id.name.as_str()).collect()
}

fn kinds(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}

fn series<'a>(run: &'a Run, name: &str) -> &'a Series {
    run.series.iter().find(|series| series.id.name == name).expect(name)
}

fn sample<'a>(run: &'a Run, name: &str) -> &'a Sample {
    match &series(run, name).evidence {
        Evidence::Sampled(launches) => &launches[0].sample,
        other => panic!("{name} has {other:?}"),
    }
}

/// A tree with one benchmark `a` of two samples with mean 10, on which a test may lay hands.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a/new/benchmark.json", r#"{"full_id":"a"}"#);
    put(folder.path(), "a/new/sample.json", SAMPLE);
    folder
}

const SAMPLE: &str = r#"{"sampling_mode":"Flat","iters":[2.0,2.0,2.0],"times":[18.0,20.0,22.0]}"#;

fn put(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_version_of_criterion_is_read() {
    let common = [
        "a/b:c?*/fn<T>",
        "a/b:c?*/x*1",
        "a/b:c?*/x:1",
        "alone",
        "counted",
        "flat/slow",
        "linear/fold/64",
        "linear/fold/8",
    ];
    for (version, more) in [
        ("0.3.0", vec![]),
        ("0.3.6", vec![]),
        ("0.5.1", vec!["flat/decimal"]),
        ("0.8.2", vec!["flat/decimal", "flat/bits", "flat/both"]),
    ] {
        let mut expected = [common.as_slice(), &more].concat();
        expected.sort_unstable();
        let run = read(&corpus(version)).unwrap();
        assert_eq!(names(&run), expected, "{version}");
        assert_eq!((run.failures, run.notices), (vec![], vec![]), "{version}");
        for series in &run.series {
            assert_eq!(series.experiment, Experiment::Imported);
        }
        let run = read(&corpus(version)).unwrap();
        assert_eq!(sample(&run, "linear/fold/8").mode(), SamplingMode::Linear);
        let flat = if version == "0.3.0" { SamplingMode::Linear } else { SamplingMode::Flat };
        assert_eq!(sample(&run, "flat/slow").mode(), flat, "{version}");
        // Between 100 and 102 beats an iteration, by the bench's own count.
        for value in sample(&run, "counted").values() {
            assert!((100.0..=102.0).contains(&value), "{version}: {value}");
        }
    }
}

#[test]
fn a_unit_is_known_from_the_csv_file_or_from_the_caller() {
    let beats = Metric { name: "beats".into(), unit: Unit::new("beats"), better: Better::Lower };
    // Only with csv_output does criterion write a unit; without it a bench with its own measurement looks
    // like any other.
    let run = read(&corpus("0.5.1")).unwrap();
    assert_eq!(series(&run, "counted").metric, beats);
    assert_eq!(series(&run, "alone").metric, Metric::time());
    let run = read(&corpus("0.8.2")).unwrap();
    assert_eq!(series(&run, "counted").metric, Metric::time());
    let told = Options { metric: Some(beats.clone()), ..Options::default() };
    let run = criterion::read(&corpus("0.8.2").join("counted"), None, &told).unwrap();
    assert_eq!(series(&run, "counted").metric, beats);
}

#[test]
fn the_tree_is_found_from_all_around() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("target/criterion");
    put(&tree, "g/f/new/benchmark.json", r#"{"full_id":"g/f"}"#);
    put(&tree, "g/f/new/sample.json", SAMPLE);
    put(&tree, "report/index.html", "");
    put(&tree, "g/report/index.html", "");
    put(folder.path(), "target/CACHEDIR.TAG", "");
    put(folder.path(), "target/debug/deps/x.d", "");
    put(folder.path(), "src/lib.rs", "");
    for inside in
        ["", "target", "target/criterion", "target/criterion/g/f", "target/criterion/g/f/new"]
    {
        let run = read(&folder.path().join(inside)).unwrap();
        assert_eq!((names(&run), run.notices.len()), (vec!["g/f"], 0), "{inside}");
    }
}

#[test]
fn a_baseline_is_chosen_by_its_name() {
    let path = corpus("0.8.2");
    let spec = |part: &str| Spec { path: path.clone(), part: Some(part.into()) };
    let options = Options::default();
    let kept = ingest::read(&spec("kept"), &options).unwrap();
    assert_eq!((names(&kept), kinds(&kept)), (vec!["alone"], vec!["side-missing"]));
    let base = ingest::read(&spec("base"), &options).unwrap();
    assert_eq!((base.series.len(), base.notices.len()), (11, 0));
    let error = ingest::read(&spec("nightly"), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NothingToCompare);
    assert!(error.to_string().ends_with(
        "no benchmark has a measurement named `nightly`; name one of `base`, `kept`, `new` after a colon"
    ));
    let error = ingest::read(&spec("change"), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn groups_may_have_the_names_of_criterions_own_folders() {
    let tree = tree();
    for group in ["new", "change", "report", "base"] {
        let file = |name: &str| format!("{group}/f/new/{name}");
        put(tree.path(), &file("benchmark.json"), &format!(r#"{{"full_id":"{group}/f"}}"#));
        put(tree.path(), &file("sample.json"), SAMPLE);
    }
    put(tree.path(), "a/change/estimates.json", "{}");
    let run = read(tree.path()).unwrap();
    assert_eq!(names(&run), ["a", "base/f", "change/f", "new/f", "report/f"]);
    assert_eq!(kinds(&run), Vec::<&str>::new());
}

#[test]
fn quick_measurements_are_pointed_out() {
    let run = read(&corpus("0.8.2-quick")).unwrap();
    assert_eq!((run.series.len(), kinds(&run)), (2, vec!["quick-mode"]));
}

#[test]
fn folders_that_are_no_measurement_are_named() {
    let tree = tree();
    put(tree.path(), "gone/base/benchmark.json", r#"{"full_id":"gone"}"#);
    put(tree.path(), "stopped/new/sample.json", SAMPLE);
    put(tree.path(), "notes/todo.txt", "");
    put(tree.path(), "old/new/benchmark.json", r#"{"full_id":"old"}"#);
    put(tree.path(), "old/new/sample.json", SAMPLE);
    let old = fs::File::options().write(true).open(tree.path().join("old/new/benchmark.json"));
    let day_before = std::time::SystemTime::now() - std::time::Duration::from_secs(100_000);
    old.unwrap().set_modified(day_before).unwrap();
    let run = read(tree.path()).unwrap();
    assert_eq!(names(&run), ["a", "old"]);
    let seen: Vec<(&str, &str)> =
        run.notices.iter().map(|notice| (notice.kind.as_str(), notice.seen.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("left-over-folder", "old/new: written more than a day before the newest"),
            ("side-missing", "gone: there are measurements, but none named `new`"),
            (
                "unfinished-folder",
                "stopped/new: there is no benchmark.json, which criterion writes last"
            ),
            ("foreign-folder", "notes: criterion did not write this"),
        ]
    );
}

/// Breaks one file of a tree and looks at the failure.
#[track_caller]
fn check_failure(file: &str, text: &str, expected: &str) {
    let tree = tree();
    put(tree.path(), file, text);
    let run = read(tree.path()).unwrap();
    assert_eq!(names(&run), Vec::<&str>::new(), "{file}: {text}");
    let Failure { id, message, .. } = &run.failures[0];
    assert_eq!(id.name, "a");
    assert!(message.contains(file) || message.contains("a/new: "), "{message}");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn damage_is_a_failure_with_its_place() {
    check_failure(
        "a/new/benchmark.json",
        r#"{"full_"#,
        "EOF while parsing a string at line 1 column 7",
    );
    check_failure("a/new/benchmark.json", "", "EOF while parsing a value at line 1 column 0");
    check_failure(
        "a/new/sample.json",
        "{\n\"iters\": [1.0,",
        "EOF while parsing a value at line 2",
    );
    check_failure("a/new/sample.json", "[[1.0],", "EOF while parsing");
    check_failure(
        "a/new/sample.json",
        r#"{"iters":[1.0],"times":[1.0]}"#,
        "missing field `sampling_mode`",
    );
    // The first bytes of a real estimates.json beside a sound sample.json: the bench was stopped there.
    let cut = r#"{"mean":{"confidence_interval":{"confidence_level":0.95,"low"#;
    check_failure("a/new/estimates.json", cut, "EOF while parsing");
    check_failure(
        "a/new/sample.json",
        &sample_json("[1.5]", "[3]"),
        "1.5 is not a number of iterations",
    );
    check_failure(
        "a/new/sample.json",
        &sample_json("[1e300]", "[3]"),
        "is not a number of iterations",
    );
    check_failure(
        "a/new/sample.json",
        &sample_json("[-1.0]", "[3]"),
        "is not a number of iterations",
    );
    check_failure(
        "a/new/sample.json",
        &sample_json("[1.0]", "[3,4]"),
        "1 iteration counts but 2 totals",
    );
    check_failure(
        "a/new/estimates.json",
        &estimates(11.0, 10.0, 12.0),
        "the folder mixes two measurements",
    );
}

#[test]
fn a_bench_that_measured_nothing_is_a_failure() {
    check_failure("a/new/sample.json", &sample_json("[1.0,1.0]", "[0.0,0.0]"), "measured nothing");
    check_failure(
        "a/new/sample.json",
        &sample_json("[1.0,1.0]", "[null,null]"),
        "measured nothing",
    );
    check_failure("a/new/sample.json", &sample_json("[]", "[]"), "measured nothing");
    check_failure("a/new/sample.json", &sample_json("[0.0]", "[1.0]"), "measured nothing");
    check_failure("a/new/sample.json", &sample_json("[1.0]", "[-1.0]"), "measured nothing");
    check_failure("a/new/estimates.json", &estimates(0.0, 0.0, 0.0), "measured nothing");
}

fn sample_json(iters: &str, times: &str) -> String {
    format!(r#"{{"sampling_mode":"Flat","iters":{iters},"times":{times}}}"#)
}

fn estimates(mean: f64, lower: f64, upper: f64) -> String {
    format!(
        r#"{{"mean":{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":{lower:?},"upper_bound":{upper:?}}},"point_estimate":{mean:?},"standard_error":0.25}},"slope":null}}"#
    )
}

#[test]
fn without_samples_the_estimates_are_a_summary() {
    let tree = tree();
    fs::remove_file(tree.path().join("a/new/sample.json")).unwrap();
    put(tree.path(), "a/new/estimates.json", &estimates(10.0, 9.0, 11.0));
    let run = read(tree.path()).unwrap();
    let Evidence::Summary(summaries) = &run.series[0].evidence else { panic!("{run:?}") };
    assert_eq!((summaries[0].score, summaries[0].launches), (10.0, Some(1)));
    assert_eq!(summaries[0].spread, Some(Spread::StandardError(0.25)));

    // An estimate outside its own interval was edited by hand.
    put(tree.path(), "a/new/estimates.json", &estimates(270.0, 9.0, 11.0));
    let run = read(tree.path()).unwrap();
    assert!(run.failures[0].message.contains("the mean 270 lies outside its own interval"));

    fs::remove_file(tree.path().join("a/new/estimates.json")).unwrap();
    let run = read(tree.path()).unwrap();
    assert!(run.failures[0].message.contains("neither sample.json nor estimates.json"));
}

#[test]
fn two_folders_with_one_id_are_never_one_benchmark() {
    let tree = tree();
    put(tree.path(), "a_2/new/benchmark.json", r#"{"full_id":"a"}"#);
    put(tree.path(), "a_2/new/sample.json", SAMPLE);
    let run = read(tree.path()).unwrap();
    assert_eq!((names(&run), run.failures.len()), (vec![], 1));
    assert!(run.failures[0].message.contains("hold the same benchmark"));
}

#[test]
fn limits_hold_at_the_limit_and_one_past_it() {
    let limits = Limits { benchmarks: 2, samples: 3, bytes: SAMPLE.len() as u64 };
    let options = Options { limits, ..Options::default() };
    let tree = tree();
    put(tree.path(), "b/new/benchmark.json", r#"{"full_id":"b"}"#);
    put(tree.path(), "b/new/sample.json", SAMPLE);
    let run = criterion::read(tree.path(), None, &options).unwrap();
    assert_eq!((names(&run), run.failures.len()), (vec!["a", "b"], 0));

    put(tree.path(), "a/new/sample.json", &format!("{SAMPLE} "));
    put(tree.path(), "b/new/sample.json", &sample_json("[1,1,1,1]", "[1,1,1,1]"));
    let run = criterion::read(tree.path(), None, &options).unwrap();
    let messages: Vec<&str> = run.failures.iter().map(|f| f.message.as_str()).collect();
    assert!(messages[0].contains("larger than the 71 bytes"), "{messages:?}");
    assert!(messages[1].contains("4 samples, more than the 3"), "{messages:?}");

    put(tree.path(), "c/new/benchmark.json", r#"{"full_id":"c"}"#);
    let error = criterion::read(tree.path(), None, &options).unwrap_err();
    assert!(error.to_string().contains("3 benchmarks, more than the 2"), "{error}");

    let many = |n: usize| {
        sample_json(&format!("[1{}]", ",1".repeat(n - 1)), &format!("[1{}]", ",1".repeat(n - 1)))
    };
    let limit = Limits::UNTRUSTED.samples;
    assert!(criterion::sample_from_slice(many(limit).as_bytes(), limit).is_ok());
    assert!(criterion::sample_from_slice(many(limit + 1).as_bytes(), limit).is_err());
}

#[test]
fn what_is_no_input_is_told_what_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "notes.txt", "hello");
    let options = Options::default();
    let at = |name: &str| Spec { path: folder.path().join(name), part: None };
    let error = ingest::read(&at("notes.txt"), &options).unwrap_err();
    assert!(
        error.to_string().contains("no line of it is a result of a known tool; line 1 is `hello`"),
        "{error}"
    );
    let error = ingest::read(&at("."), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NothingToCompare);
    assert!(error.to_string().contains("no folder in it holds a benchmark.json"), "{error}");
    let error = ingest::read(&at("absent"), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Judge);
    assert!(error.to_string().contains("absent: "), "{error}");
}

#[test]
fn a_path_with_colons_is_a_path_where_it_exists() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(folder.path().join("a")).unwrap();
    let spec = Spec::parse(&text("a:b"));
    assert_eq!((spec.path, spec.part.as_deref()), (folder.path().join("a"), Some("b")));
    fs::write(folder.path().join("a:b"), "").unwrap();
    let spec = Spec::parse(&text("a:b"));
    assert_eq!((spec.path, spec.part), (folder.path().join("a:b"), None));
    for whole in [r"C:\results\a", "C:/results", "absent:part", "a:"] {
        assert_eq!(Spec::parse(whole), Spec { path: whole.into(), part: None });
    }
}

#[test]
fn one_arm_of_an_evidence_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evidence.jsonl.zst");
    let run = read(&corpus("0.8.2")).unwrap();
    let mut file = EvidenceFile {
        pacegate: "0.1.0".into(),
        started: None,
        policy: Policy::default(),
        plan: None,
        notices: Vec::new(),
        runs: BTreeMap::from([(Arm::Candidate, run.clone())]),
        ending: Ending::Complete,
    };
    let read = |part: Option<&str>| {
        ingest::read(&Spec { path: path.clone(), part: part.map(Into::into) }, &Options::default())
    };
    file.write(&path).unwrap();
    assert_eq!(read(None), Ok(run.clone()));
    file.runs.insert(Arm::Baseline, Run::default());
    file.write(&path).unwrap();
    assert_eq!(read(Some("candidate")), Ok(run));
    let error = read(None).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it holds the runs `baseline`, `candidate`; name one of them after a colon")
    );
    assert_eq!(read(Some("release")).map_err(|e| e.kind()), Err(ErrorKind::Usage));
}

#[test]
fn a_real_tree_with_both_sides_is_read() {
    let Some(corpus) = std::env::var_os("PACEGATE_CORPUS") else {
        println!("skipped: PACEGATE_CORPUS does not name the folder of foreign files");
        return;
    };
    let path = Path::new(&corpus).join("readers/CD01");
    for side in ["new", "base"] {
        let run = criterion::read(&path, Some(side), &Options::default()).unwrap();
        assert_eq!((run.series.len(), run.failures.len()), (6, 0), "{:?}", run.failures);
        for (name, mean) in [
            ("Fibonacci/Iterative", 4.723173110355467),
            ("Fibonacci2/Recursive/21", 31796.96962697949),
        ] {
            let values = sample(&run, name).values();
            let ours = values.iter().sum::<f64>() / values.len() as f64;
            assert!((ours - mean).abs() < 1e-9 * mean, "{name}: {ours}");
        }
    }
}
