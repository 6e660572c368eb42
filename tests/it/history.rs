//! History as a user meets it: runs are kept, watched, judged again and shared out; and what real histories give.

#![expect(clippy::print_stdout, reason = "what was measured or skipped is told aloud")]

use std::fs;
use std::path::Path;

use pacegate::gate::Policy;
use pacegate::history::{Alert, Entry, Kind, Origin, Settings, Status, Timeline, watch as look};
use pacegate::ingest::{Options, read_history};
use pacegate::model::{
    Arm, BenchmarkId, Environment, Evidence, Experiment, Launch, Metric, Revision, Run, Sample,
    Series, Usage,
};
use pacegate::simulate::history::timeline;
use pacegate::stats::changepoint::{Shape, levels};
use pacegate::store::evidence::{Ending, EvidenceFile};
use serde_json::Value;

use crate::desk::Desk;
use crate::runs::Session;

/// Evidence of `pacegate run`: one benchmark of five launches, `score` nanoseconds each, give or take.
pub(crate) fn plain(
    desk: &Desk,
    name: &str,
    commit: &str,
    started: i64,
    benchmarks: &[(&str, f64)],
    cpu: &str,
) {
    let series = benchmarks.iter().enumerate().map(|(which, (benchmark, score))| Series {
        id: BenchmarkId::new("suite", *benchmark),
        metric: Metric::time(),
        experiment: Experiment::Plain,
        evidence: Evidence::Sampled(
            (0..5)
                .map(|pair| {
                    // Some noise that differs between benchmarks, runs and launches and is always the same.
                    let wave = (f64::from(pair) * 2.4 + started as f64 * 1.7 + which as f64).sin();
                    let sample = Sample::of_values(vec![score * (1.0 + 0.003 * wave); 10]).unwrap();
                    let usage = Usage { wall_s: score / 100.0, ..Usage::default() };
                    Launch { pair, sample, usage: Some(usage) }
                })
                .collect(),
        ),
        looks: Vec::new(),
    });
    let mut environment = Environment::default();
    environment.hard.insert("cpu".into(), cpu.into());
    let run = Run {
        session: Some(format!("session {name}")),
        revision: Some(Revision { id: commit.into(), name: commit.into(), distance: None }),
        environment,
        series: series.collect(),
        ..Run::default()
    };
    let file = EvidenceFile {
        pacegate: "0.0.0".into(),
        started: Some(jiff::Timestamp::from_second(1_700_000_000 + started).unwrap()),
        policy: Policy::default(),
        plan: None,
        notices: Vec::new(),
        runs: [(Arm::Candidate, run)].into(),
        ending: Ending::Complete,
    };
    file.write(&desk.path(name)).unwrap();
}

/// Forty commits: `steps` gets 12 % slower at 25, `spikes` is off at 30, `drifts` takes 0.4 % longer with each, and at 36
/// the runner is another one.
fn a_made_history(desk: &Desk) {
    for number in 0..40i64 {
        let n = number as f64;
        let step = if 25 <= number { 112.0 } else { 100.0 };
        let spike = if number == 30 { 150.0 } else { 100.0 };
        let benchmarks = [
            ("steps", step),
            ("spikes", spike),
            ("drifts", 100.0 * (1.0 + 0.004 * n)),
            ("still", 100.0),
            ("calm", 100.0),
            ("quiet", 50.0),
        ];
        let cpu = if 36 <= number { "new" } else { "old" };
        let name = format!("e{number}.jsonl");
        plain(desk, &name, &format!("c{number:02}"), number, &benchmarks, cpu);
        desk.check(&["history", "add", &name], 0, &["kept runs/"]);
    }
}

#[test]
fn a_made_history_is_told_for_what_it_is() {
    let desk = Desk::new();
    a_made_history(&desk);
    let said = desk.check(
        &["watch", "--svg", "pictures"],
        10,
        &[
            "ALERT",
            "suite::steps",
            "+12",
            "step",
            "drift",
            "suite::drifts",
            "spike at c30",
            "runner change at c36",
            "`new`",
        ],
    );
    assert!(said.stdout.contains('▁') && said.stdout.contains('^'), "{}", said.stdout);
    assert_eq!(said.stdout, desk.run(&["watch"]).stdout);
    let pictures = fs::read_dir(desk.path("pictures")).unwrap().count();
    assert!(2 <= pictures, "{pictures}");
    let json = desk.run(&["watch", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["schema"], "pacegate.watch/1");
    assert_eq!(json["open"], true);
    let alerts = json["alerts"].as_array().unwrap();
    let step = alerts.iter().find(|alert| alert["kind"] == "step").unwrap();
    assert_eq!(step["status"], "open");
    let id = step["id"].as_str().unwrap().to_owned();
    desk.check(&["watch", "--format", "markdown"], 10, &["| `suite::steps` |"]);

    desk.check(
        &["watch", "--acknowledge", &id, "--reason", "the checks cost that"],
        10,
        &["ACKNOWLEDGED"],
    );
    let json: Value =
        serde_json::from_str(&desk.run(&["watch", "--format", "json"]).stdout).unwrap();
    let open: Vec<&Value> =
        json["alerts"].as_array().unwrap().iter().filter(|a| a["status"] == "open").collect();
    assert!(open.iter().all(|alert| alert["kind"] == "drift"), "{open:?}");
    desk.check(&["watch", "--acknowledge", "nothing", "--reason", "x"], 2, &["there is no alert"]);

    desk.check(&["history", "show"], 0, &["12 series over 40 commits", "suite::still"]);
    desk.check(&["history", "show", "steps", "--verbose"], 0, &["c00", "1 run"]);
    desk.check(&["history", "show", "stepz"], 2, &["no series"]);
    desk.check(&["what-if", "--tolerance", "3%"], 0, &["over the last 38 runs tolerance 3 %"]);

    desk.check(&["history", "prune", "--keep", "10"], 0, &["removed 30 runs"]);
    desk.check(&["history", "show"], 0, &["over 10 commits"]);
}

#[test]
fn a_paired_run_confirms_or_refutes() {
    let desk = Desk::new();
    for number in 0..20i64 {
        let step = if 14 <= number { 108.0 } else { 100.0 };
        let name = format!("e{number}.jsonl");
        let benchmarks = [("a", step), ("b", 100.0), ("c", 70.0)];
        plain(&desk, &name, &format!("c{number:02}"), number, &benchmarks, "one");
        desk.check(&["history", "add", &name], 0, &[]);
    }
    let paired = |ratio: f64, file: &str| {
        let mut session = Session::new(7).bench("a", ratio, 0.004, 10);
        for (run, id) in [(&mut session.baseline, "c13"), (&mut session.candidate, "c14")] {
            run.revision = Some(Revision { id: id.into(), name: id.into(), distance: None });
        }
        desk.evidence(file, &session);
    };
    desk.check(&["watch"], 10, &["OPEN", "suite::a"]);
    paired(1.0, "refutes.jsonl");
    desk.check(&["watch", "--confirm", "refutes.jsonl"], 0, &["REFUTED", "in 10 pairs"]);
    paired(1.08, "confirms.jsonl");
    desk.check(&["watch", "--confirm", "confirms.jsonl"], 10, &["OPEN"]);
}

#[test]
fn a_store_that_holds_nothing_is_no_pass() {
    let desk = Desk::new();
    desk.check(&["watch"], 3, &["holds no run"]);
    desk.check(&["history", "show", "--store", "s3:x"], 2, &["is no store"]);
    #[cfg(not(feature = "parquet"))]
    desk.check(&["history", "export", "x"], 2, &["`--features parquet`"]);
    #[cfg(not(feature = "object-store"))]
    desk.check(&["history", "show", "--store", "s3://x/y"], 2, &["`--features object-store`"]);
    desk.check(&["what-if", "--tolerance", "3"], 2, &["3%"]);
}

#[test]
fn evidence_is_judged_by_another_policy() {
    let desk = Desk::new();
    desk.evidence("slow.jsonl", &Session::new(1).bench("a", 1.05, 0.003, 10));
    desk.evidence("same.jsonl", &Session::new(2).bench("a", 1.0, 0.003, 10));
    let both = ["what-if", "slow.jsonl", "same.jsonl", "--tolerance"];
    let at = |tolerance: &'static str| [both.as_slice(), &[tolerance]].concat();
    desk.check(&at("2%"), 0, &["over the last 2 runs tolerance 2 % would have raised 1 alarm,"]);
    desk.check(&at("10%"), 0, &["raised 0 alarms", "as they were judged: 1", "fail -> pass"]);
}

#[test]
fn benchmarks_are_shared_out_and_the_parts_put_together() {
    let desk = Desk::new();
    let benchmarks = [("a", 800.0), ("b", 600.0), ("c", 500.0), ("d", 300.0), ("e", 200.0)];
    plain(&desk, "e.jsonl", "c0", 0, &benchmarks, "one");
    desk.check(&["history", "add", "e.jsonl"], 0, &[]);
    let said = desk.check(&["shard", "plan", "--shards", "2"], 0, &["\"include\""]);
    let plan: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        plan["include"][0]["benchmarks"],
        serde_json::json!(["suite::a", "suite::d", "suite::e"])
    );
    desk.put("plan.json", &said.stdout);
    let part = |seed, names: &[&str], file: &str| {
        let session = names
            .iter()
            .fold(Session::new(seed), |session, name| session.bench(name, 1.0, 0.003, 10));
        desk.evidence(file, &session);
    };
    part(1, &["a", "d", "e"], "one.jsonl");
    part(2, &["b", "c"], "two.jsonl");
    let merge = ["shard", "merge", "--shard-plan", "plan.json"];
    let with = |files: &[&'static str]| [merge.as_slice(), files].concat();
    desk.check(&with(&["one.jsonl", "two.jsonl"]), 0, &["PASS"]);
    desk.check(&["replay", "target/pacegate/evidence.jsonl.zst"], 0, &["PASS"]);
    desk.check(&with(&["one.jsonl"]), 1, &["measured by no part", "suite::b"]);
    desk.check(&with(&["one.jsonl", "two.jsonl", "one.jsonl"]), 1, &["by several parts"]);
}

#[test]
fn noise_is_learned_and_explained() {
    let desk = Desk::new();
    for number in 0..8i64 {
        let name = format!("e{number}.jsonl");
        let session = Session::new(number as u64 + 10).bench("a", 1.0, 0.004, 10);
        desk.evidence(&name, &session);
        let commit = format!("c{number}");
        desk.check(&["history", "add", &name, "--commit", &commit], 0, &["kept"]);
    }
    let entries =
        pacegate::store::history::Store::open("history", &desk.path("")).unwrap().read().unwrap();
    let learned = pacegate::history::learn(&entries.entries, "unknown");
    assert_eq!(learned.len(), 1);
    assert_eq!(learned[0].runs, 8);
    // Two launches of 0.4 % each make a pair of 0.57 %.
    let sd = learned[0].pair.unwrap().variance.sqrt();
    assert!((0.004..0.008).contains(&sd), "{sd}");

    let session = Session::new(3).bench("a", 1.0, 0.004, 5);
    let policy = Policy { learned, ..Policy::default() };
    let row = &session.report(&policy).rows[0];
    assert_eq!(row.noise, Some(pacegate::compare::Noise::History));
    let file = EvidenceFile {
        pacegate: "0.0.0".into(),
        started: None,
        policy,
        plan: None,
        notices: Vec::new(),
        runs: [(Arm::Baseline, session.baseline), (Arm::Candidate, session.candidate)].into(),
        ending: Ending::Complete,
    };
    file.write(&desk.path("learned.jsonl")).unwrap();
    desk.check(&["explain", "a", "--evidence", "learned.jsonl"], 0, &["earlier"]);
}

#[test]
fn other_tools_histories_come_in() {
    let desk = Desk::new();
    let entry = |id: &str, date: u64, value: u32| {
        format!(
            r#"{{"commit": {{"id": "{id}"}}, "date": {date}, "tool": "cargo", "benches": [{{"name": "b", "value": {value}, "range": "± 1", "unit": "ns/iter"}}]}}"#
        )
    };
    let all: Vec<String> = (0..30)
        .map(|n| {
            entry(
                &format!("{n:02}abc"),
                1_700_000_000_000 + n * 1000,
                if n < 20 { 100 + (n % 3) as u32 } else { 150 },
            )
        })
        .collect();
    let text = format!(
        r#"window.BENCHMARK_DATA = {{"lastUpdate": 1, "repoUrl": "", "entries": {{"S": [{}]}}}};"#,
        all.join(",")
    );
    desk.put("data.js", &text);
    desk.check(&["history", "import", "data.js"], 0, &["kept 30 runs"]);
    desk.check(&["history", "import", "data.js"], 0, &["kept 0 runs, 30 were there already"]);
    desk.check(&["watch"], 10, &["ALERT", "S::b", "since 20abc"]);
    desk.tree("t", &[("f", 100.0)]);
    desk.put("one.json", r#"[{"name": "b", "unit": "ns", "value": 3}]"#);
    desk.check(&["history", "import", "one.json"], 2, &["--commit"]);
    desk.check(
        &["history", "import", "one.json", "--commit", "x", "--date", "2026-03-01"],
        0,
        &["kept runs/"],
    );
    desk.check(
        &["history", "import", "one.json", "--commit", "x", "--date", "soon"],
        2,
        &["2026-03-01"],
    );
}

fn corpus() -> Option<std::path::PathBuf> {
    let folder = std::env::var_os("PACEGATE_CORPUS").map(Into::into);
    if folder.is_none() {
        println!("skipped: PACEGATE_CORPUS does not name the folder of foreign files");
    }
    folder
}

#[test]
fn a_public_throughput_history_gives_its_steps() {
    let Some(folder) = corpus() else { return };
    let text = fs::read_to_string(folder.join("throughput-365.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let values: Vec<f64> =
        file["series"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    // Higher is better, so that up is worse after the sign.
    let ys: Vec<f64> = values.iter().map(|value| -value.ln()).collect();
    let changes = levels(&ys, 0.01f64.ln_1p()).changes;
    let steps: Vec<usize> =
        changes.iter().filter(|c| c.shape == Shape::Step).map(|change| change.at).collect();
    println!("{changes:#?}");
    for expected in [15usize, 71] {
        assert!(steps.iter().any(|at| at.abs_diff(expected) <= 2), "{expected}: {steps:?}");
    }
    assert!(steps.iter().all(|at| 3 < at.abs_diff(10)), "{steps:?}");
    let late = steps.iter().filter(|at| 110 < **at).count();
    assert!(late <= 3, "the slope became {late} steps: {steps:?}");

    // Run by run: each level is called out once, and the outlier by nothing that stays.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for seen in 8..=ys.len() {
        let findings = look(&timeline(&ys[..seen]), &[], &Settings::default());
        for alert in
            findings.alerts.iter().filter(|alert| alert.is_open() && alert.kind == Kind::Step)
        {
            if !open
                .iter()
                .any(|range| alert.range.0 <= range.1 + 4 && range.0 <= alert.range.1 + 4)
            {
                open.push(alert.range);
            }
        }
    }
    println!("opened: {open:?}");
    assert!(open.iter().any(|range| range.0 <= 17 && 13 <= range.1), "{open:?}");
    assert!(open.iter().all(|range| range.1 < 6 || 13 <= range.0), "the outlier stays: {open:?}");
}

/// Every data.js of the corpus, one run after the other.
#[test]
fn public_histories_replay_with_one_alert_a_level() {
    let Some(folder) = corpus() else { return };
    let (mut histories, mut looks, mut twice) = (0, 0, 0);
    let mut told = String::new();
    for path in data_js(&folder) {
        let made = match read_history(&path, &Options::default()) {
            Ok(made) => made,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let entries: Vec<Entry> = made
            .into_iter()
            .enumerate()
            .filter_map(|(place, made)| {
                let commit = pacegate::history::Commit {
                    id: made.run.revision.as_ref()?.id.clone(),
                    position: None,
                    committed_s: None,
                };
                let origin = Origin {
                    commit,
                    shard: place.to_string(),
                    measured_s: made.at_s,
                    pacegate: String::new(),
                };
                Some(Entry::of(origin, None, &made.run, pacegate::stats::Statistic::default()))
            })
            .collect();
        let whole = Timeline::of(&entries);
        let (mut opened, mut levels_seen, mut series) = (0, 0, 0);
        for track in &whole.series {
            series += 1;
            let ys = track.ys();
            let from = ys.len().saturating_sub(150);
            let ys = &ys[from..];
            let mut ranges: Vec<(usize, usize)> = Vec::new();
            for seen in 8..=ys.len() {
                let findings = look(&timeline(&ys[..seen]), &[], &Settings::default());
                let open: Vec<&Alert> = findings
                    .alerts
                    .iter()
                    .filter(|alert| alert.status == Status::Open && alert.kind == Kind::Step)
                    .collect();
                looks += 1;
                for (at, alert) in open.iter().enumerate() {
                    twice += open[at + 1..]
                        .iter()
                        .filter(|other| {
                            alert.range.0 <= other.range.1 && other.range.0 <= alert.range.1
                        })
                        .count();
                    if !ranges.iter().any(|r| alert.range.0 <= r.1 + 4 && r.0 <= alert.range.1 + 4)
                    {
                        ranges.push(alert.range);
                    }
                }
            }
            // A value that is off by itself, with quiet neighbours on both sides, is in no open alert's place at the end.
            opened += ranges.len();
            levels_seen += 1 + levels(ys, 0.01f64.ln_1p()).changes.len();
        }
        told.push_str(&format!(
            "{}: {} commits, {series} series, {levels_seen} levels, {opened} alerts opened\n",
            path.strip_prefix(&folder).unwrap().display(),
            whole.commits.len()
        ));
        assert!(opened <= levels_seen, "{told}");
        histories += 1;
    }
    println!("{told}two open alerts at one place: {twice} times in {looks} looks");
    assert_eq!(twice, 0, "in {looks} looks");
    assert!(10 <= histories, "{histories} histories");
}

fn data_js(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("data") && name.ends_with(".js")
        })
        .collect();
    paths.sort();
    paths
}
