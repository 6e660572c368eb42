//! Reports made by hand and the pages that they must become.
//!
//! Each case is a report, built below, and a folder `tests/golden/<case>/` with the page for a terminal at 80 columns
//! (`out.txt`), for a pull request (`out.md`), the verdict file (`out.json`), the page with pictures without its style
//! and script (`out.html`), the rows as tests (`junit.xml`) and for a spreadsheet (`out.csv`) and, where a case has a
//! benchmark worth it, its explanation (`explain.txt`). A page that differs fails the test and is printed.
//!
//! To take new pages over, run `PACEGATE_GOLDEN=write cargo test --test it golden`, look at every line of
//! `git diff tests/golden`, and say in the commit why the new page is right. A file or folder that no case owns fails
//! the test, so nothing is left behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pacegate::compare::{Noise, Scores};
use pacegate::gate::{Accept, OnInconclusive, Outcome, Policy, Row, Rule, Verdict};
use pacegate::model::{
    BenchmarkId, Better, Environment, Experiment, Metric, Mode, Notice, Reference, Revision, Unit,
};
use pacegate::report::{
    Plan, Report, Screen, Side, Verbosity, csv, explain, html, json, junit, markdown, terminal,
    verdict_schema,
};

struct Case {
    name: &'static str,
    report: Report,
    explained: Option<BenchmarkId>,
}

pub(crate) fn cases() -> Vec<(&'static str, Report)> {
    all().into_iter().map(|case| (case.name, case.report)).collect()
}

fn all() -> Vec<Case> {
    let explained = |name, report, id: &str| {
        let (suite, rest) = id.split_once("::").expect("a suite and a name");
        Case { name, report, explained: Some(BenchmarkId::new(suite, rest)) }
    };
    let case = |name, report| Case { name, report, explained: None };
    vec![
        case("pass", pass()),
        explained("one-regression", one_regression(), "databind::read/serde_json"),
        explained("noisy", noisy(), "stream::write/large"),
        case("nothing-to-compare", nothing_to_compare()),
        case("not-comparable", not_comparable()),
        explained("comings-and-goings", comings_and_goings(), "stream::tape"),
        explained("exact", exact(), "parse::small"),
        explained("throughput", throughput(), "jmh::Pack.read"),
        explained("stored-release", stored_release(), "parser::large"),
        explained("creep", creep(), "parser::large"),
        case("accepted", accepted()),
        case("foreign-release", foreign_release()),
        case("hostile-names", hostile_names()),
        case("many-rows", many_rows()),
        case(
            "usage",
            Report::failed(
                Outcome::Usage,
                "`pacegate.yaml`, line 4: unknown key `tolerence`; did you mean `tolerance`?",
            ),
        ),
    ]
}

/// A row of a paired comparison of times in a co-run.
pub(crate) fn row(name: &str, baseline: f64, ratio: f64, verdict: Verdict) -> Row {
    let (suite, rest) = name.split_once("::").unwrap_or(("", name));
    let half = 0.009;
    Row {
        id: BenchmarkId::new(suite, rest),
        metric: Metric::time(),
        reference: Reference::Base,
        mode: Mode::Paired,
        experiment: Experiment::Corun,
        verdict,
        cleared: matches!(verdict, Verdict::Unchanged | Verdict::Improvement),
        gated: true,
        reason: String::new(),
        tolerance: 0.02,
        baseline: Some(baseline),
        candidate: Some(baseline * ratio),
        ratio: Some(ratio),
        ci: Some((ratio - half, ratio + half)),
        confidence: 0.95,
        p_raw: Some(0.98),
        p_regression: Some(1.0),
        p_improvement: Some(1.0),
        launches: (10, 10),
        launches_needed: None,
        detectable: Some(0.031),
        noise: Some(Noise::Suite),
        rule: None,
        accepted: None,
        scores: Scores::default(),
        notices: Vec::new(),
    }
}

fn sides() -> (Side, Side) {
    let revision = |id: &str, name: &str, distance| {
        Some(Revision { id: id.repeat(8), name: name.into(), distance })
    };
    let environment = Environment {
        hard: BTreeMap::from([
            ("cpu".into(), "EPYC 7763".into()),
            ("rustc".into(), "1.95.0".into()),
        ]),
        soft: BTreeMap::from([("kernel".into(), "6.1.0".into())]),
        info: BTreeMap::new(),
    };
    let baseline = Side {
        revision: revision("3f2c8", "3f2c81a", None),
        label: "merge base with main".into(),
        environment: environment.clone(),
    };
    let candidate = Side {
        revision: revision("9d1e2", "9d1e2aa", Some(4)),
        label: "faster-strings".into(),
        environment,
    };
    (baseline, candidate)
}

fn report(applied: &[Outcome], rows: Vec<Row>) -> Report {
    let (baseline, candidate) = sides();
    let mut report = Report::new(applied.to_vec(), Policy::default(), baseline, candidate, rows);
    report.plan = Some(Plan {
        seed: 42,
        profile: "quick".into(),
        cpus: vec![0, 1],
        launches: 480,
        repeated: 0,
        budget_spent: false,
    });
    report
}

fn quiet_rows() -> Vec<Row> {
    ["read", "write"]
        .iter()
        .flat_map(|verb| {
            ["serde_json", "simd-json", "sonic-rs"]
                .map(|library| format!("databind::{verb}/{library}"))
        })
        .enumerate()
        .map(|(index, name)| {
            let baseline = 812_000.0 * (1.0 + index as f64 * 1.7);
            row(&name, baseline, 1.0 + (index as f64 - 2.0) * 0.001, Verdict::Unchanged)
        })
        .collect()
}

fn pass() -> Report {
    let mut rows = quiet_rows();
    rows[3] = row("databind::write/serde_json", 4_950_000.0, 0.913, Verdict::Improvement);
    report(&[Outcome::Pass], rows)
}

fn one_regression() -> Report {
    let mut rows = quiet_rows();
    let mut slow = row("databind::read/serde_json", 12_312_000.0, 1.098, Verdict::Regression);
    slow.reason = "slower than its tolerance of 2 % at the second look".into();
    slow.p_raw = Some(1.2e-9);
    slow.p_regression = Some(4.8e-8);
    slow.rule = Some("databind::read/*".into());
    slow.scores.pairs =
        [0.088, 0.094, 0.091, 0.103, 0.089, 0.097, 0.092, 0.0935, 0.0915, 0.096].to_vec();
    slow.scores.baseline =
        slow.scores.pairs.iter().map(|d| 12_312_000.0 * (1.0 + (d - 0.0935) * 2.0)).collect();
    slow.scores.candidate =
        slow.scores.pairs.iter().zip(&slow.scores.baseline).map(|(d, b)| b * d.exp()).collect();
    slow.scores.looks = vec![5, 10];
    rows[0] = slow;
    let mut open = row("stream::write/large", 1_310_000.0, 1.015, Verdict::Inconclusive);
    open.ci = Some((0.988, 1.042));
    open.reason = "the interval reaches beyond the tolerance of 2 %".into();
    open.launches_needed = Some(40);
    open.launches = (20, 20);
    rows.push(open);
    let mut open = row("stream::read/large", 910_000.0, 0.981, Verdict::Inconclusive);
    open.ci = Some((0.967, 1.002));
    open.cleared = true;
    rows.push(open);
    rows.push(row("stream::read/small", 1_234.0, 0.933, Verdict::Improvement));
    let mut report = report(&[Outcome::Fail, Outcome::Inconclusive], rows);
    report.policy.rules = vec![Rule {
        pattern: "databind::read/*".into(),
        metric: None,
        tolerance: Some(0.02),
        better: None,
        gate: None,
        experiment: None,
    }];
    report.notices = vec![Notice::new(
        "toolchain-changed",
        "the candidate is built by rustc 1.96.0, the baseline by rustc 1.95.0",
        "a compiler that changes within the pull request is part of the change",
    )];
    report.plan.as_mut().expect("made above").repeated = 6;
    report
}

fn noisy() -> Report {
    let mut rows = quiet_rows();
    for (index, name) in ["stream::write/large", "stream::write/small"].iter().enumerate() {
        let mut open = row(name, 1_310_000.0, 1.012, Verdict::Inconclusive);
        open.ci = Some((0.97, 1.055));
        open.launches_needed = (index == 0).then_some(160);
        open.launches = (20, 20);
        open.detectable = Some(0.071);
        open.p_raw = Some(0.64);
        open.reason = "the interval reaches beyond the tolerance of 2 %".into();
        open.scores.pairs =
            [0.04, -0.05, 0.01, 0.09, -0.02, 0.012, 0.03, -0.04, 0.07, 0.0].to_vec();
        open.scores.looks = vec![5, 10];
        open.notices = vec![Notice::new(
            "wide-spread",
            format!("`{name}`: single pairs differ by up to 15 %"),
            "try a quieter runner, or a longer measurement in the profile",
        )];
        rows.push(open);
    }
    let mut advisory = row("stream::flush", 52_000.0, 1.02, Verdict::Inconclusive);
    advisory.ci = Some((0.91, 1.14));
    advisory.gated = false;
    advisory.reason = "noisy: can prove 12 % with this launch budget".into();
    rows.push(advisory);
    let mut report = report(&[Outcome::Inconclusive], rows);
    report.policy.on_inconclusive = OnInconclusive::Warn;
    report.plan.as_mut().expect("made above").budget_spent = true;
    report
}

fn nothing_to_compare() -> Report {
    let mut gone = row("old::parse", 100.0, 1.0, Verdict::Removed);
    gone.candidate = None;
    let mut new = row("new::parse", 100.0, 1.0, Verdict::Added);
    new.baseline = None;
    for row in [&mut gone, &mut new] {
        row.ratio = None;
        row.ci = None;
        row.reason = "the names differ by their suite: `old::parse`, `new::parse`".into();
    }
    report(&[Outcome::NothingToCompare], vec![gone, new])
}

fn not_comparable() -> Report {
    let mut report = report(&[Outcome::NotComparable], Vec::new());
    report.plan = None;
    report.candidate.environment.hard.insert("cpu".into(), "Xeon 8370C".into());
    report.candidate.environment.soft.insert("kernel".into(), "6.8.0".into());
    report
}

fn comings_and_goings() -> Report {
    let mut rows = quiet_rows();
    let mut add = |name: &str, verdict, reason: &str| {
        let mut row = row(name, 2_500.0, 1.0, verdict);
        (row.ratio, row.ci, row.p_raw, row.p_regression) = (None, None, None, None);
        row.reason = reason.into();
        match verdict {
            Verdict::Added => row.baseline = None,
            Verdict::Removed => row.candidate = None,
            _ => {
                (row.baseline, row.candidate) = (None, None);
                (row.noise, row.detectable) = (None, None);
            }
        }
        rows.push(row);
    };
    add(
        "stream::tape",
        Verdict::Failed,
        "exited with code 101: thread `main` panicked at benches/stream.rs:41",
    );
    add(
        "stream::write",
        Verdict::Removed,
        "the candidate has no such benchmark; `stream::write_all` is new and has a similar name",
    );
    add("stream::write_all", Verdict::Added, "the baseline has no such benchmark");
    report(&[Outcome::Fail, Outcome::Error], rows)
}

fn exact() -> Report {
    let metric = |name: &str, unit: &str| Metric {
        name: name.into(),
        unit: Unit::new(unit),
        better: Better::Lower,
    };
    let exact = |name: &str, of: Metric, baseline: f64, candidate: f64, verdict, reason: &str| {
        let mut row = row(name, baseline, 1.0, verdict);
        row.metric = of;
        row.candidate = Some(candidate);
        row.ratio = (baseline > 0.0).then(|| candidate / baseline);
        row.ci = None;
        row.tolerance = 0.0;
        row.reason = reason.into();
        (row.p_raw, row.p_regression, row.p_improvement) = (None, None, None);
        (row.noise, row.detectable, row.launches) = (None, None, (1, 1));
        row
    };
    let mut instructions = exact(
        "parse::small",
        metric("instructions", "instructions"),
        1_000_000.0,
        1_000_040.0,
        Verdict::Unchanged,
        "within its tolerance of 0.5 %",
    );
    instructions.tolerance = 0.005;
    report(
        &[Outcome::Fail],
        vec![
            exact(
                "parse::small",
                metric("allocations", "allocations"),
                0.0,
                12.0,
                Verdict::Regression,
                "0 became 12",
            ),
            exact(
                "parse::large",
                metric("peak", "B"),
                1_234_567.0,
                1_234_575.0,
                Verdict::Regression,
                "8 B more",
            ),
            exact(
                "parse::large",
                metric("allocations", "allocations"),
                310.0,
                290.0,
                Verdict::Improvement,
                "20 fewer",
            ),
            instructions,
            row("parse::large", 830_000.0, 1.001, Verdict::Unchanged),
        ],
    )
}

fn throughput() -> Report {
    let rate =
        Metric { name: "throughput".into(), unit: Unit::new("ops/s"), better: Better::Higher };
    let mut worse = row("jmh::Pack.read", 1_000_000.0, 0.7, Verdict::Regression);
    worse.metric = rate.clone();
    worse.experiment = Experiment::Imported;
    worse.reason = "slower than its tolerance of 2 %".into();
    worse.scores.baseline = [1.001e6, 0.998e6, 1.003e6, 0.999e6, 1e6].to_vec();
    worse.scores.candidate = [0.701e6, 0.697e6, 0.705e6, 0.7e6, 0.692e6].to_vec();
    worse.launches = (5, 5);
    worse.p_raw = Some(2e-14);
    worse.p_regression = Some(4e-14);
    let mut better = row("jmh::Pack.write", 10.0e6, 0.7, Verdict::Improvement);
    better.experiment = Experiment::Imported;
    let mut report = report(&[Outcome::Fail], vec![worse, better]);
    report.plan = None;
    let name = |file: &str| Side { label: file.into(), ..Side::default() };
    report.baseline = name("results/before.json");
    report.candidate = name("results/after.json");
    report
}

fn stored_release() -> Report {
    let mut rows = Vec::new();
    for (index, name) in ["parser::large", "parser::small", "printer::pretty"].iter().enumerate() {
        let baseline = 3_100_000.0 + 17_000.0 * index as f64;
        rows.push(row(name, baseline, 1.004, Verdict::Unchanged));
        let mut stored = row(name, baseline * 0.95, 1.021, Verdict::Unchanged);
        stored.reference = Reference::Release;
        stored.mode = Mode::Stored;
        stored.experiment = Experiment::Plain;
        stored.tolerance = 0.05;
        stored.ci = Some((0.993, 1.049));
        stored.noise = Some(Noise::History);
        if index == 0 {
            stored.verdict = Verdict::Regression;
            stored.cleared = false;
            stored.ratio = Some(1.118);
            stored.candidate = stored.baseline.map(|b| b * 1.118);
            stored.ci = Some((1.082, 1.155));
            stored.reason = "slower than the release by more than its tolerance of 5 %".into();
            stored.p_raw = Some(3.2e-4);
            stored.p_regression = Some(0.0038);
            stored.scores.baseline = [2.94e6, 2.95e6, 2.93e6, 2.97e6, 2.945e6, 2.96e6].to_vec();
            stored.scores.candidate = [3.29e6, 3.31e6, 3.28e6, 3.30e6, 3.33e6, 3.27e6].to_vec();
        }
        rows.push(stored);
    }
    let mut report = report(&[Outcome::Fail], rows);
    report.release = Some(release());
    report
}

/// The stored baseline of a release.
fn release() -> Side {
    let (mut side, _) = sides();
    side.label = "1.4.0".into();
    side.revision =
        Some(Revision { id: "b7e01".repeat(8), name: "1.4.0".into(), distance: Some(34) });
    side.environment.info.insert("recorded".into(), "2026-11-02".into());
    side
}

fn creep() -> Report {
    let mut rows = Vec::new();
    let names = ["parser::large", "parser::small", "printer::pretty"];
    for (name, (change, since)) in
        names.iter().zip([(1.010, 1.042), (1.004, 0.981), (0.997, 1.012)])
    {
        rows.push(row(name, 3_100_000.0, change, Verdict::Unchanged));
        let mut stored = row(name, 3_100_000.0, since, Verdict::Inconclusive);
        stored.reference = Reference::Release;
        stored.mode = Mode::Stored;
        stored.experiment = Experiment::Plain;
        stored.tolerance = 0.05;
        stored.ci = Some((since - 0.07, since + 0.07));
        stored.gated = false;
        stored.reason = "a change for the worse of more than 5 % is not excluded: sessions of a runner are taken to \
                         differ by 2 % one from another"
            .into();
        rows.push(stored);
    }
    let mut report = report(&[Outcome::Pass], rows);
    report.release = Some(release());
    report
}

fn accepted() -> Report {
    let mut rows = quiet_rows();
    let record = |benchmark: &str, ceiling: f64, until: &str| Accept {
        benchmark: benchmark.into(),
        metric: "time".into(),
        ceiling,
        reason: "reads the new header, see `docs/header.md`".into(),
        until: until.parse().ok(),
    };
    let held = record("databind::read/serde_json", 0.06, "1.6.0");
    let mut slow = row("databind::read/serde_json", 12_312_000.0, 1.052, Verdict::Regression);
    slow.cleared = true;
    slow.reason =
        "proven worse by more than 2 %, and accepted, up to +6 %: reads the new header".into();
    slow.accepted = Some(held.clone());
    rows[0] = slow;
    let mut report = report(&[Outcome::Pass], rows);
    report.policy.accepted.records =
        vec![held, record("databind::write/serde_json", 0.1, "2026-11-01")];
    report.policy.accepted.today = "2026-11-30".parse().ok();
    report.notices = vec![Notice::new(
        "accepted-ended",
        "what was accepted of databind::write/serde_json ended with 2026-11-01",
        "delete it from the accept records, or accept it anew with `pacegate accept`",
    )];
    report
}

/// The base is the same machine and the stored baseline is not.
fn foreign_release() -> Report {
    let mut report = report(&[Outcome::NotComparable], quiet_rows());
    let mut release = release();
    release.environment.hard.insert("cpu".into(), "Xeon 8370C".into());
    release.environment.hard.insert("memory".into(), "16 GiB".into());
    report.release = Some(release);
    report
}

fn hostile_names() -> Report {
    let names = [
        "a|b",
        "a\\|b",
        "`tick`",
        "``two``|``",
        "<script>alert(1)</script>",
        "@octocat/team fixes #1",
        "[link](https://example.org)",
        "![x](https://example.org/x.png)",
        "line\nbreak\ttab",
        "\u{1b}[31mred",
        "right\u{202e}left",
        "zero\u{200b}width",
        "漢字/größe µs 👍",
        "",
        " padded ",
        "www.example.org",
        ":tada:",
        "| --- |",
        "</details>",
        "-->",
    ];
    let verdicts =
        [Verdict::Regression, Verdict::Inconclusive, Verdict::Unchanged, Verdict::Failed];
    let mut rows: Vec<Row> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let verdict = verdicts[index % verdicts.len()];
            let mut row =
                row("x", 1e6, if verdict == Verdict::Regression { 1.1 } else { 1.0 }, verdict);
            row.id = BenchmarkId::new(if index % 2 == 0 { "" } else { "s|u`ite" }, *name);
            row.reason = format!("see {name} and @octocat at https://example.org/{name}");
            row
        })
        .collect();
    for parameter in ["first", "other"] {
        let long = format!("select/{}{parameter}{}", "x".repeat(90), "y".repeat(90));
        rows.push(row(&long, 1e6, 1.1, Verdict::Regression));
    }
    let mut report = report(&[Outcome::Fail, Outcome::Error], rows);
    report.candidate.label = "branch `@octocat` <b>#1</b> | x".into();
    report.candidate.revision = None;
    report.notices = vec![Notice::new(
        "odd",
        "see #12, @octocat, GH-12 and www.example.org | <img src=x>",
        "`a` | b",
    )];
    report
}

fn many_rows() -> Report {
    let rows = (0..300)
        .map(|index| {
            let name = format!("suite{}::case/{index}", index % 7);
            match index % 10 {
                0 if index % 100 == 0 => {
                    row(&name, 5e5, 1.08 + f64::from(index) / 5e3, Verdict::Regression)
                }
                1 | 2 => row(&name, 5e5, 1.013, Verdict::Inconclusive),
                3 => row(&name, 5e5, 0.95, Verdict::Improvement),
                _ => row(&name, 5e5, 1.002, Verdict::Unchanged),
            }
        })
        .collect();
    report(&[Outcome::Fail, Outcome::Inconclusive], rows)
}

/// A page without its style and its script, which are the same on every one.
pub(crate) fn bare(page: &str) -> String {
    ["style", "script"].iter().fold(page.to_owned(), |page, name| {
        let (before, rest) = page.split_once(&format!("<{name}>")).expect("its start");
        let (_, after) = rest.split_once(&format!("</{name}>")).expect("its end");
        format!("{before}<{name}></{name}>{after}")
    })
}

#[test]
fn golden_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for case in all() {
        let folder = root.join(case.name);
        let report = &case.report;
        pages.insert(folder.join("out.txt"), terminal(report, &Screen::default()));
        // Three hundred rows of these would show a reviewer nothing that the other cases do not.
        if case.name != "many-rows" {
            pages.insert(folder.join("out.md"), markdown(report));
            pages.insert(folder.join("out.json"), json(report));
            pages.insert(folder.join("out.html"), bare(&html(report)));
            pages.insert(folder.join("junit.xml"), junit(report));
            pages.insert(folder.join("out.csv"), csv(report));
        }
        if let Some(id) = &case.explained {
            let text = explain(report, id, &Screen::default()).expect("the case has it");
            pages.insert(folder.join("explain.txt"), text);
        }
    }
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/verdict-1.json");
    pages.insert(schema.clone(), verdict_schema());

    let mode = std::env::var("PACEGATE_GOLDEN").unwrap_or_default();
    let mut differing = Vec::new();
    for (path, page) in &pages {
        if mode == "write" {
            std::fs::create_dir_all(path.parent().expect("a file has a folder")).unwrap();
            std::fs::write(path, page).unwrap();
        }
        if std::fs::read_to_string(path).ok().as_ref() != Some(page) {
            println!("{} should be:\n{page}", path.display());
            differing.push(path);
        }
    }
    let unowned: Vec<PathBuf> = walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        // The comments on GitHub are the business of github.rs.
        .filter(|path| !path.starts_with(root.join("comments")))
        .filter(|path| path.is_file() && !pages.contains_key(path))
        .collect();
    assert!(
        differing.is_empty(),
        "pages differ (how to take them over: tests/it/golden.rs): {differing:#?}"
    );
    assert!(unowned.is_empty(), "no case owns these files: {unowned:#?}");
}

#[test]
fn golden_pages_are_told_at_every_verbosity_and_width() {
    for case in all() {
        for width in [80, 120] {
            let verbose = Screen { width, verbosity: Verbosity::Verbose, ..Screen::default() };
            let page = terminal(&case.report, &verbose);
            for row in case.report.rows.iter().filter(|row| row.id.name.is_ascii()) {
                let end = row.id.name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
                let end = end.expect("splitting gives at least one part");
                assert!(page.contains(end), "{}: {} is missing", case.name, row.id);
            }
            let quiet = Screen { verbosity: Verbosity::Quiet, ..verbose };
            assert!(page.starts_with(&terminal(&case.report, &quiet)), "{}", case.name);
        }
    }
}
