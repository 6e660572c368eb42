//! Stored baselines as their owner meets them: promoted, compared with, accepted past, and refused.

use std::collections::BTreeMap;
use std::fs;

use pacegate::compare::{Method, compare, launch_scores};
use pacegate::gate::{Accept, Noisy, Policy, Verdict};
use pacegate::model::{Arm, Evidence, Experiment, Failure, Mode, Reference, Revision, Run, Usage};
use pacegate::report::Plan;
use pacegate::stats::Statistic;
use pacegate::store::Limits;
use pacegate::store::baseline::{Baseline, Baselines, Header};
use pacegate::store::evidence::{Ending, EvidenceFile};
use proptest::prelude::*;

use crate::desk::Desk;
use crate::runs::Session;

/// A run of one tree alone: benchmarks that take so many times 100 µs.
fn plain(seed: u64, benchmarks: &[(&str, f64)], noise: f64, launches: u32) -> Run {
    let session = benchmarks.iter().fold(Session::new(seed), |session, (name, ratio)| {
        session.bench(name, *ratio, noise, launches)
    });
    let mut run = session.candidate;
    for series in &mut run.series {
        series.experiment = Experiment::Plain;
    }
    run.session = Some(format!("session {seed}"));
    run.revision =
        Some(Revision { id: "3f2c8".repeat(8), name: "HEAD (3f2c83f)".into(), distance: None });
    let facts = [("cpu", "EPYC 7763"), ("rustc", "1.95.0"), ("class", "metal")];
    run.environment.hard = facts.map(|(fact, value)| (fact.into(), value.into())).into();
    run
}

fn evidence(runs: impl Into<BTreeMap<Arm, Run>>) -> EvidenceFile {
    EvidenceFile {
        pacegate: "0.1.0".into(),
        started: "2026-11-30T12:00:00Z".parse().ok(),
        policy: Policy::default(),
        plan: Some(Plan {
            seed: 1,
            profile: "release".into(),
            cpus: vec![0],
            launches: 20,
            repeated: 0,
            budget_spent: false,
        }),
        notices: Vec::new(),
        runs: runs.into(),
        ending: Ending::Complete,
    }
}

/// Launches of one tree as `pacegate run` leaves them.
fn measured(desk: &Desk, name: &str, run: Run) {
    evidence([(Arm::Candidate, run)]).write(&desk.path(name)).unwrap();
}

fn promote(desk: &Desk, label: &str, run: Run) {
    measured(desk, "run.jsonl", run);
    desk.check(&["baseline", "promote", "run.jsonl", "--label", label], 0, &["promoted", label]);
}

#[test]
fn a_baseline_is_promoted_listed_shown_verified_and_pruned() {
    let desk = Desk::new();
    desk.check(&["baseline", "list"], 0, &["no stored baseline in baselines/"]);
    let run = || plain(1, &[("large", 1.0), ("small", 0.1)], 0.002, 10);
    promote(&desk, "1.3.0", run());
    let kept = fs::read(desk.path("baselines/metal/1.3.0.jsonl")).unwrap();
    let again = ["baseline", "promote", "run.jsonl", "--label", "1.3.0"];
    desk.check(&again, 2, &["baselines/metal/1.3.0.jsonl", "never written again"]);
    assert_eq!(fs::read(desk.path("baselines/metal/1.3.0.jsonl")).unwrap(), kept);

    promote(&desk, "1.4.0", run());
    let index = fs::read_to_string(desk.path("baselines/index.yaml")).unwrap();
    assert!(index.contains("\"metal\": \"1.4.0\""), "{index}");
    desk.check(
        &["baseline", "list"],
        0,
        &["  metal/1.3.0  2026-11-30  3f2c83f  2 benchmarks", "* metal/1.4.0"],
    );
    let shown =
        ["1.4.0 of class metal", "hard       cpu: EPYC 7763", "suite::small time:", "10 launches"];
    desk.check(&["baseline", "show"], 0, &shown);
    desk.check(&["baseline", "show", "metal/1.3.0"], 0, &["1.3.0 of class metal"]);
    desk.check(&["baseline", "show", "1.9.0"], 3, &["no baseline `1.9.0`"]);
    desk.check(&["baseline", "verify"], 0, &["ok    metal/1.3.0", "ok    metal/1.4.0"]);
    desk.check(&["baseline", "prune", "--keep", "1"], 0, &["deleted metal/1.3.0"]);
    desk.check(&["baseline", "prune", "--keep", "1"], 0, &["nothing to delete"]);

    let text = fs::read_to_string(desk.path("baselines/metal/1.4.0.jsonl")).unwrap();
    desk.put("baselines/metal/1.4.0.jsonl", &text.replace("EPYC 7763", "EPYC 7764"));
    desk.check(
        &["baseline", "verify"],
        1,
        &["BAD   metal/1.4.0", "line 1: its checksum does not fit"],
    );
    fs::remove_file(desk.path("baselines/metal/1.4.0.jsonl")).unwrap();
    desk.check(&["baseline", "verify"], 1, &["the index names it and it is not there"]);
}

#[test]
fn what_is_no_baseline_is_refused_unless_told_why() {
    let run = || plain(2, &[("large", 1.0)], 0.002, 10);
    let check = |change: fn(&mut EvidenceFile), code: i32, says: &[&str], overridable: bool| {
        let desk = Desk::new();
        promote(&desk, "1.3.0", run());
        let mut file = evidence([(Arm::Candidate, run())]);
        change(&mut file);
        file.write(&desk.path("next.jsonl")).unwrap();
        let arguments = ["baseline", "promote", "next.jsonl", "--label", "1.4.0"];
        desk.check(&arguments, code, says);
        let told = [arguments.as_slice(), &["--because", "a new parser"]].concat();
        if overridable {
            desk.check(&told, 0, &["promoted 1.4.0"]);
            desk.check(&["baseline", "show", "1.4.0"], 0, &["because", "a new parser", "although"]);
        } else {
            desk.check(&told, code, says);
            assert!(!desk.path("baselines/metal/1.4.0.jsonl").exists());
        }
    };
    fn candidate(file: &mut EvidenceFile) -> &mut Run {
        file.runs.get_mut(&Arm::Candidate).unwrap()
    }
    check(
        |f| _ = f.runs.insert(Arm::Baseline, Run::default()),
        2,
        &["beside another revision", "pacegate run"],
        false,
    );
    check(
        |f| candidate(f).series[0].experiment = Experiment::Corun,
        2,
        &["measured co-run"],
        false,
    );
    check(|f| candidate(f).series.clear(), 3, &["it holds no launch"], false);
    check(|f| f.ending = Ending::Interrupted, 2, &["it was interrupted", "--because"], true);
    check(
        |f| candidate(f).revision.as_mut().unwrap().name = "work tree (3f2c83f)".into(),
        2,
        &["not committed"],
        true,
    );
    check(
        |f| _ = candidate(f).environment.hard.insert("cpu".into(), "Xeon".into()),
        2,
        &[
            "differs from that of 1.3.0: cpu is `EPYC 7763` for the baseline and `Xeon` for the candidate",
        ],
        true,
    );
    check(
        |f| *candidate(f) = plain(3, &[("large", 1.4)], 0.002, 10),
        2,
        &["suite::large time is worse than in 1.3.0 by"],
        true,
    );
    check(
        |f| *candidate(f) = plain(3, &[("large", 1.0)], 0.002, 4),
        2,
        &["fewer than 5 launches"],
        true,
    );
    check(
        |f| {
            let id = candidate(f).series[0].id.clone();
            let failure = Failure { id, message: "exited".into(), output: String::new() };
            candidate(f).failures.push(failure);
        },
        2,
        &["1 of its benchmarks failed: suite::large"],
        true,
    );
    check(
        |f| {
            let Evidence::Sampled(launches) = &mut candidate(f).series[0].evidence else { return };
            for launch in &mut launches[..2] {
                launch.usage = Some(Usage { wall_s: 1.0, wait_s: 0.2, ..Usage::default() });
            }
        },
        2,
        &["2 of its 10 launches were disturbed"],
        true,
    );
}

#[test]
fn several_classes_lie_side_by_side() {
    let desk = Desk::new();
    let of_class = |class: &str| {
        let mut run = plain(4, &[("large", 1.0)], 0.002, 10);
        run.environment.hard.insert("class".into(), class.into());
        run
    };
    promote(&desk, "1.4.0", of_class("metal"));
    promote(&desk, "1.4.0", of_class("vm"));
    desk.check(&["baseline", "list"], 0, &["* metal/1.4.0", "* vm/1.4.0"]);
    measured(&desk, "new.jsonl", of_class("vm"));
    desk.check(&["compare", "1.4.0", "new.jsonl"], 2, &["name one of `metal/1.4.0`, `vm/1.4.0`"]);
    desk.check(&["compare", "vm/1.4.0", "new.jsonl"], 0, &["1.4.0"]);
    desk.check(&["compare", "metal/1.4.0", "new.jsonl"], 4, &["class", "metal", "vm"]);
}

#[test]
fn a_stored_baseline_is_a_side_of_compare_by_name_or_path() {
    let desk = Desk::new();
    promote(&desk, "1.4.0", plain(5, &[("large", 1.0), ("small", 1.0)], 0.002, 10));
    measured(&desk, "slow.jsonl", plain(6, &[("large", 1.4), ("small", 1.0)], 0.002, 10));
    for name in ["1.4.0", "baselines/metal/1.4.0.jsonl"] {
        desk.check(&["compare", name, "slow.jsonl"], 10, &["suite::large", "1.4.0"]);
    }
    let mut other = plain(7, &[("large", 1.0)], 0.002, 10);
    other.environment.hard.insert("cpu".into(), "Xeon 8370C".into());
    measured(&desk, "other.jsonl", other);
    let said = desk.check(&["compare", "1.4.0", "other.jsonl"], 4, &["NOT COMPARABLE"]);
    assert!(said.stdout.contains("  cpu   EPYC 7763  Xeon 8370C"), "{}", said.stdout);
    desk.put("pacegate.yaml", "statistic: median\n");
    desk.check(&["compare", "1.4.0", "slow.jsonl"], 1, &["was scored by", "promote a new one"]);
}

/// A check on a runner with a stored baseline: this change against its base, and the candidate alone against 1.4.0.
fn check_with_release(change: f64, since: f64, policy: &Policy) -> EvidenceFile {
    let pair = Session::new(8).bench("large", change, 0.002, 10);
    let mut runs = [
        (Arm::Baseline, pair.baseline),
        (Arm::Candidate, pair.candidate),
        (Arm::Release, plain(9, &[("large", 1.0)], 0.002, 10)),
        (Arm::Alone, plain(10, &[("large", since)], 0.002, 10)),
    ];
    runs[2].1.revision.as_mut().unwrap().name = "1.4.0".into();
    let hard = runs[3].1.environment.hard.clone();
    for (_, run) in &mut runs {
        run.environment.hard.clone_from(&hard);
    }
    EvidenceFile { policy: policy.clone(), ..evidence(runs) }
}

#[track_caller]
fn judged(file: &EvidenceFile, code: i32, says: &[&str]) -> serde_json::Value {
    let desk = Desk::new();
    file.write(&desk.path("e.jsonl")).unwrap();
    let said = desk.check(&["replay", "e.jsonl"], code, &[]);
    let all = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in says {
        assert!(all.contains(text), "should say `{text}`\n{}", said.stdout);
    }
    desk.verdict()
}

#[test]
fn two_references_stand_in_one_verdict() {
    let quiet = Policy { session_noise: 0.001, ..Policy::default() };
    let file = check_with_release(1.01, 1.042, &quiet);
    judged(
        &file,
        0,
        &[
            "suite::large: this change +1.",
            ", since 1.4.0 +4.",
            "% of 5 %",
            "Release: 1.4.0 (3f2c83f)",
        ],
    );
    let verdict =
        judged(&check_with_release(1.01, 1.07, &quiet), 10, &["suite::large vs release by"]);
    assert_eq!(verdict["release"]["label"], "1.4.0");
    assert_eq!(verdict["benchmarks"][0]["reference"], "release");
    assert_eq!(verdict["benchmarks"][0]["mode"], "stored");
    assert_eq!(verdict["benchmarks"][0]["experiment"], "plain");
}

#[test]
fn on_the_first_day_forty_percent_is_red_and_ten_is_open_with_the_reason() {
    judged(&check_with_release(1.0, 1.4, &Policy::default()), 10, &["1 of 1 benchmark is slower"]);
    let verdict = judged(&check_with_release(1.0, 1.1, &Policy::default()), 0, &["INCONCLUSIVE"]);
    assert_eq!(verdict["outcome"], "inconclusive");
    let reason = verdict["benchmarks"][0]["reason"].as_str().unwrap();
    assert_eq!(
        reason,
        "a change for the worse of more than 5 % is not excluded: sessions of a runner are taken to differ by 2 % one \
         from another"
    );
}

/// The same check on a machine where others used the CPU during so many of the ten plain launches, for a share of each.
fn disturbed(launches: usize, share: f64) -> EvidenceFile {
    let mut file = check_with_release(1.0, 1.4, &Policy::default());
    let series = &mut file.runs.get_mut(&Arm::Alone).unwrap().series[0];
    let Evidence::Sampled(plain) = &mut series.evidence else { panic!("plain launches") };
    assert_eq!(plain.len(), 10);
    for launch in &mut plain[..launches] {
        launch.usage = Some(Usage { wall_s: 1.0, wait_s: share, ..Usage::default() });
    }
    file
}

#[test]
fn launches_of_a_busy_machine_say_nothing_about_a_release() {
    judged(&disturbed(10, Usage::DISTURBED_SHARE), 10, &["FAIL"]);
    let busy = 1.01 * Usage::DISTURBED_SHARE;
    judged(&disturbed(5, busy), 10, &["FAIL"]);
    let verdict = judged(
        &disturbed(6, busy),
        0,
        &["INCONCLUSIVE", "measured while something else used the CPU (1): suite::large"],
    );
    assert_eq!(verdict["outcome"], "inconclusive");
    let rows = verdict["benchmarks"].as_array().unwrap();
    let of = |reference: &str| rows.iter().find(|row| row["reference"] == reference).unwrap();
    assert_eq!((&of("release")["gated"], &of("release")["cleared"]), (&true.into(), &false.into()));
    // What was launched together was busy together.
    assert_eq!(of("base")["verdict"], "unchanged");
}

#[test]
fn noise_between_sessions_that_hides_the_budget_does_not_nag() {
    let says = ["PASS", "1 is not guarded since the release", "since 1.4.0 +1."];
    let verdict = judged(&check_with_release(1.0, 1.015, &Policy::default()), 0, &says);
    let row = verdict["benchmarks"].as_array().unwrap().iter().find(|row| row["mode"] == "stored");
    assert_eq!(
        (&row.unwrap()["gated"], &row.unwrap()["verdict"]),
        (&false.into(), &"inconclusive".into())
    );
    let strict = Policy { noisy: Noisy::Strict, ..Policy::default() };
    judged(&check_with_release(1.0, 1.015, &strict), 0, &["INCONCLUSIVE"]);
}

#[test]
fn ten_small_steps_pass_one_by_one_and_exceed_the_budget_together() {
    let policy = Policy { session_noise: 0.002, ..Policy::default() };
    let mut reds = Vec::new();
    for step in 1..=10 {
        let file = check_with_release(1.008, 1.008f64.powi(step), &policy);
        let desk = Desk::new();
        file.write(&desk.path("e.jsonl")).unwrap();
        let said = desk.run(&["replay", "e.jsonl"]);
        let rows = desk.verdict()["benchmarks"].as_array().unwrap().clone();
        let base = rows.iter().find(|row| row["reference"] == "base").unwrap();
        assert_eq!(base["verdict"], "unchanged", "step {step}");
        if said.code == 10 {
            reds.push(step);
        }
    }
    // Six steps are +4.9 %, eight are +6.6 %.
    assert_eq!(reds.first().map(|first| (7..=8).contains(first)), Some(true), "{reds:?}");
    assert_eq!(reds.last(), Some(&10));
}

fn record(ceiling: f64, until: Option<&str>) -> Accept {
    Accept {
        benchmark: "suite::large".into(),
        metric: "time".into(),
        ceiling,
        reason: "reads the new header".into(),
        until: until.map(|until| until.parse().unwrap()),
    }
}

#[test]
fn what_was_accepted_passes_up_to_its_ceiling_and_its_end() {
    let accepting = |ceiling: f64, until: Option<&str>| {
        let mut policy = Policy::default();
        policy.accepted.records = vec![record(ceiling, until)];
        policy.accepted.today = "2026-11-30".parse().ok();
        policy.accepted.version = "1.5.0".parse().ok();
        policy
    };
    let file = |policy: &Policy| check_with_release(1.4, 1.4, policy);
    let verdict = judged(
        &file(&accepting(0.6, None)),
        0,
        &["PASS", "Accepted: suite::large up to +60 %", "reads the new header", "accepted"],
    );
    assert_eq!(verdict["benchmarks"][0]["verdict"], "regression");
    assert_eq!(verdict["benchmarks"][0]["accepted"]["ceiling"], 0.6);
    judged(&file(&accepting(0.1, None)), 10, &["FAIL", "Accepted: suite::large up to +10 %"]);
    judged(&file(&accepting(0.6, Some("2026-11-30"))), 0, &["until 2026-11-30"]);
    judged(&file(&accepting(0.6, Some("2026-11-29"))), 10, &["which ended with 2026-11-29"]);
    judged(&file(&accepting(0.6, Some("1.6.0"))), 0, &["until 1.6.0"]);
    judged(
        &file(&accepting(0.6, Some("1.5.0"))),
        10,
        &["what was accepted of suite::large ended with 1.5.0"],
    );
    let quiet = Policy { session_noise: 0.001, ..accepting(0.6, None) };
    let needless = check_with_release(1.0, 1.0, &quiet);
    let says = ["suite::large is back within its tolerance", "delete it from the accept records"];
    judged(&needless, 0, &says);
    // The benchmark is still worse than the release: the record is needed.
    let verdict = judged(&check_with_release(1.0, 1.4, &quiet), 0, &["PASS"]);
    let kinds: Vec<&str> =
        verdict["notices"].as_array().unwrap().iter().filter_map(|n| n["kind"].as_str()).collect();
    assert!(!kinds.contains(&"accepted-needless"), "{kinds:?}");
}

#[test]
fn accept_writes_a_record_that_compare_honours() {
    let desk = Desk::new();
    promote(&desk, "1.4.0", plain(11, &[("large", 1.0)], 0.002, 10));
    measured(&desk, "slow.jsonl", plain(12, &[("large", 1.4)], 0.002, 10));
    let accept = |ceiling: &str| {
        ["accept", "suite::large", "--ceiling", ceiling, "--reason", "it is \"worth\" it"]
            .map(str::to_owned)
    };
    let run = |arguments: &[String], code: i32, says: &[&str]| {
        desk.check(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), code, says)
    };
    run(&accept("60%"), 0, &["commit baselines/accepted.yaml"]);
    desk.check(&["compare", "1.4.0", "slow.jsonl"], 0, &["PASS", "it is \"worth\" it"]);
    run(&accept("10%"), 0, &[]);
    desk.check(&["compare", "1.4.0", "slow.jsonl"], 10, &["FAIL"]);
    run(&accept("10"), 2, &["`10` has no unit; write 10%"]);
    desk.put(
        "baselines/accepted.yaml",
        "accepted:\n  - benchmark: a\n    ceiling: lots\n    reason: b\n",
    );
    desk.check(
        &["compare", "1.4.0", "slow.jsonl"],
        2,
        &["baselines/accepted.yaml:3:14", "`lots` is no percentage"],
    );
}

#[test]
fn another_machine_refuses_the_stored_half_and_the_paired_half_is_judged() {
    let foreign = |change: f64| {
        let mut file = check_with_release(change, 1.0, &Policy::default());
        let release = file.runs.get_mut(&Arm::Release).unwrap();
        release.environment.hard.insert("cpu".into(), "Xeon 8370C".into());
        release.environment.soft.insert("kernel".into(), "6.1".into());
        file
    };
    let says = ["NOT COMPARABLE", "cpu Xeon 8370C EPYC 7763"];
    let verdict = judged(&foreign(1.0), 4, &says);
    assert_eq!(verdict["applied"], serde_json::json!(["not_comparable"]));
    assert_eq!(verdict["environment"]["release_hard_differences"][0]["fact"], "cpu");
    assert_eq!(verdict["benchmarks"].as_array().unwrap().len(), 1);
    let verdict = judged(&foreign(1.3), 10, &["FAIL"]);
    assert_eq!(verdict["applied"], serde_json::json!(["fail", "not_comparable"]));
}

#[test]
fn a_soft_difference_is_told() {
    let mut file = check_with_release(1.0, 1.0, &Policy::default());
    for (arm, kernel) in [(Arm::Release, "6.1"), (Arm::Alone, "6.8")] {
        let environment = &mut file.runs.get_mut(&arm).unwrap().environment;
        environment.soft.insert("kernel".into(), kernel.into());
    }
    judged(&file, 0, &["kernel is `6.1` for the baseline and `6.8` for the candidate"]);
}

#[test]
fn what_only_one_side_of_a_release_has_is_told_and_fails_nothing() {
    let mut file = check_with_release(1.0, 1.0, &Policy::default());
    let more = |name: &str| plain(13, &[(name, 1.0)], 0.002, 10).series;
    file.runs.get_mut(&Arm::Release).unwrap().series.extend(more("gone"));
    file.runs.get_mut(&Arm::Alone).unwrap().series.extend(more("new"));
    let verdict = judged(&file, 0, &["gone: suite::gone", "new: suite::new"]);
    assert_eq!(verdict["benchmarks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_shift_that_the_whole_suite_shares_is_the_runner_since_the_release() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut file = check_with_release(1.0, 1.0, &Policy::default());
    let each = |ratio: f64| names.map(|name| (name, ratio));
    let alone = file.runs[&Arm::Alone].clone();
    let of = |run: Run| Run { environment: alone.environment.clone(), ..run };
    file.runs.insert(Arm::Release, of(plain(14, &each(1.0), 0.002, 10)));
    file.runs.insert(Arm::Alone, of(plain(15, &each(1.4), 0.002, 10)));
    let verdict = judged(&file, 0, &["moved alike", "taken for the runner"]);
    assert_eq!(verdict["outcome"], "inconclusive");
}

#[test]
fn the_first_version_of_the_format_is_still_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/baseline-1.jsonl");
    let baseline = Baseline::read(path.as_ref(), &Limits::OWN).unwrap();
    let Header { label, class, .. } = &baseline.header;
    assert_eq!((label.to_string(), class.to_string()), ("1.4.0".into(), "metal".into()));
    assert_eq!(baseline.series.len(), 2);
    assert_eq!(baseline.series[0].evidence.len(), 10);
}

#[test]
fn a_folder_of_baselines_that_is_not_there_is_empty() {
    let desk = Desk::new();
    assert_eq!(Baselines::at(desk.path("baselines")).places(), Ok(Vec::new()));
    desk.check(&["baseline", "verify"], 0, &["no stored baseline"]);
    desk.check(&["baseline", "promote", "nowhere.jsonl", "--label", "1"], 1, &["nowhere.jsonl"]);
    desk.check(&["baseline", "promote", "x", "--label", "../1"], 2, &["no name for a folder"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_baseline_says_all_that_the_launches_said(
        seed in any::<u32>(), ratio in 0.7f64..1.5, noise in 0.0005f64..0.05, launches in 2u32..25, coarse in any::<bool>(),
    ) {
        let mut ours = plain(seed.into(), &[("a", 1.0), ("b", 2.0)], noise, launches);
        let theirs = plain(u64::from(seed) + 1, &[("a", ratio), ("b", 2.0)], noise, launches);
        if coarse {
            for series in &mut ours.series {
                let Evidence::Sampled(launches) = &mut series.evidence else { continue };
                for launch in launches {
                    let mut values = launch.sample.values();
                    values[0] *= 1.01;
                    launch.sample = pacegate::model::Sample::of_values(values).unwrap();
                }
            }
        }
        let method = Method::new(Reference::Release, Statistic::default(), 0.02);
        let mut kept = ours.clone();
        for series in &mut kept.series {
            let Evidence::Sampled(launches) = &series.evidence else { continue };
            series.evidence = Evidence::Scored(launch_scores(launches, Statistic::default()));
        }
        let from_launches = compare(&ours, &theirs, &method);
        prop_assert_eq!(&compare(&kept, &theirs, &method), &from_launches);
        prop_assert!(from_launches.iter().all(|comparison| comparison.mode == Mode::Stored));
    }
}

#[test]
fn verdicts_of_accepted_rows_stay_what_they_are() {
    // Accepting never turns a row into one that was shown to be unchanged.
    let mut policy = Policy::default();
    policy.accepted.records = vec![record(0.06, None)];
    let report = |ratio: f64, policy: &Policy| {
        Session::new(16).bench("large", ratio, 0.002, 10).report(policy)
    };
    let check = |ratio: f64, verdict: Verdict, accepted: bool, code: u8| {
        let report = report(ratio, &policy);
        let row = &report.rows[0];
        assert_eq!(
            (row.verdict, row.accepted.is_some(), report.exit_code),
            (verdict, accepted, code),
            "{ratio}"
        );
    };
    check(1.0, Verdict::Unchanged, false, 0);
    check(1.05, Verdict::Regression, true, 0);
    check(1.08, Verdict::Regression, false, 10);
    check(0.9, Verdict::Improvement, false, 0);
    let exact = |candidate: f64| {
        let mut policy = policy.clone();
        policy.accepted.records[0].metric = "size".into();
        let report = Session::new(17).exact("large", "B", 1000.0, candidate).report(&policy);
        (report.rows[0].verdict, report.rows[0].accepted.is_some(), report.exit_code)
    };
    assert_eq!(exact(1000.0), (Verdict::Unchanged, false, 0));
    assert_eq!(exact(1060.0), (Verdict::Regression, true, 0));
    assert_eq!(exact(1061.0), (Verdict::Regression, false, 10));
}
