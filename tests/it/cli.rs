//! The program as a user meets it: arguments in; stdout, stderr, files and exit code out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::desk::Desk;
use crate::runs::Session;

/// Five launches a side, of which the candidate's take `ratio` times as long.
fn five_launches(desk: &Desk, ratio: f64) -> Vec<String> {
    let mut arguments = vec!["compare".to_owned(), "--baseline".to_owned()];
    for i in 0..5 {
        let jitter = 1.0 + 0.001 * f64::from(i);
        desk.tree(&format!("a{i}"), &[("f", 1000.0 * jitter)]);
        desk.tree(&format!("b{i}"), &[("f", 1000.0 * ratio * jitter)]);
    }
    arguments.extend((0..5).map(|i| format!("a{i}")));
    arguments.push("--candidate".into());
    arguments.extend((0..5).map(|i| format!("b{i}")));
    arguments
}

#[test]
fn version_and_help_are_data() {
    let desk = Desk::new();
    let said = desk.check(&["--version"], 0, &[concat!("pacegate ", env!("CARGO_PKG_VERSION"))]);
    assert_eq!(said.stderr, "");
    desk.check(&["--help"], 0, &["Exit codes:", "10  the gate says no"]);
}

#[test]
fn exit_0_pass() {
    let desk = Desk::new();
    let arguments = five_launches(&desk, 1.0);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    desk.check(&arguments, 0, &["PASS"]);
    assert_eq!(desk.verdict()["outcome"], "pass");
    assert_eq!(desk.verdict()["benchmarks"][0]["verdict"], "unchanged");
}

#[test]
fn exit_1_could_not_judge() {
    let desk = Desk::new();
    desk.check(&["compare", "nowhere", "nowhere"], 1, &["nowhere"]);
    assert_eq!(desk.verdict()["outcome"], "error");
    assert_eq!(desk.verdict()["exit_code"], 1);
}

#[test]
fn exit_2_wrong_usage() {
    let desk = Desk::new();
    desk.check(&["compare"], 2, &["nothing to compare was named"]);
    desk.check(&["chekc"], 2, &["check"]);
}

#[test]
fn exit_2_wrong_configuration_with_its_place_and_a_suggestion() {
    let desk = Desk::new();
    desk.put("pacegate.yaml", "alpha: 0.05\ntolerence: 2%\n");
    desk.tree("a", &[("f", 1.0)]);
    desk.check(&["compare", "a", "a"], 2, &["pacegate.yaml", "2:1", "tolerence", "`tolerance`"]);
    assert_eq!(desk.verdict()["outcome"], "usage");
}

#[test]
fn exit_3_nothing_to_compare() {
    let desk = Desk::new();
    desk.tree("a", &[("f", 1000.0)]);
    desk.tree("b", &[("g", 1000.0)]);
    desk.check(&["compare", "a", "b"], 3, &["f", "g"]);
    assert_eq!(desk.verdict()["outcome"], "nothing_to_compare");
}

#[test]
fn exit_4_machines_differ() {
    let desk = Desk::new();
    let mut session = Session::new(1).bench("a", 1.0, 0.002, 10);
    session.baseline.environment.hard.insert("cpu".into(), "one".into());
    session.candidate.environment.hard.insert("cpu".into(), "another".into());
    desk.evidence("both.jsonl", &session);
    session.candidate.session = Some("a second one".into());
    desk.evidence("apart.jsonl", &session);
    desk.check(&["compare", "both.jsonl:baseline", "both.jsonl:candidate"], 0, &["PASS"]);
    let apart = ["compare", "apart.jsonl:baseline", "apart.jsonl:candidate"];
    desk.check(&apart, 4, &["cpu", "one", "another"]);
}

#[test]
fn exit_10_the_gate_says_no() {
    let desk = Desk::new();
    let arguments = five_launches(&desk, 1.5);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    desk.check(&arguments, 10, &["FAIL", "+50"]);
    let report = fs::read_to_string(desk.path("target/pacegate/report.md")).unwrap();
    assert!(report.contains("FAIL"), "{report}");
}

#[test]
fn exit_11_inconclusive_where_the_policy_says_so() {
    let desk = Desk::new();
    desk.tree("a", &[("f", 1000.0)]);
    desk.check(&["compare", "a", "a"], 0, &["INCONCLUSIVE", "fewer than 5 launches"]);
    desk.put("pacegate.yaml", "on_inconclusive: fail\n");
    desk.check(&["compare", "a", "a"], 11, &["INCONCLUSIVE"]);
    desk.check(&["compare", "a", "a", "--trust-samples"], 0, &["PASS"]);
}

#[test]
fn missing_cut_off_and_left_over_are_each_named() {
    let desk = Desk::new();
    desk.tree("a", &[("kept", 1000.0), ("gone", 1000.0), ("cut", 1000.0)]);
    desk.tree("b", &[("kept", 1000.0), ("cut", 1000.0)]);
    desk.put("b/cut/new/sample.json", r#"{"sampling_mode":"Flat","iters":[1.0,"#);
    desk.put("b/left-over/base/benchmark.json", r#"{"full_id":"left-over"}"#);
    let said = desk.check(&["compare", "a", "b"], 10, &["gone", "cut", "sample.json", "left-over"]);
    assert!(said.stdout.starts_with("FAIL"), "{}", said.stdout);
    let verdict = desk.verdict();
    assert_eq!(verdict["applied"], serde_json::json!(["fail", "error", "inconclusive"]));
    assert_eq!(verdict["counts"]["removed"], 1);
    assert_eq!(verdict["counts"]["failed"], 1);
}

#[test]
fn contestants_inside_one_file_are_compared() {
    let desk = Desk::new();
    desk.tree(
        "t",
        &[("read/one", 1000.0), ("read/two", 1100.0), ("write/one", 50.0), ("write/two", 50.0)],
    );
    desk.check(&["compare", "--within", "t"], 0, &["read/two vs one", "write/two vs one", "+10"]);
    desk.check(&["compare", "--within", "t", "--reference", "two"], 0, &["read/one vs two"]);
}

#[test]
fn a_replay_says_the_same_byte_for_byte() {
    let desk = Desk::new();
    let session = Session::new(2).bench("a", 1.2, 0.004, 10).bench("b", 1.0, 0.004, 10);
    desk.evidence("evidence.jsonl.zst", &session.looks(&[(5, 0.2), (10, 0.3)]));
    let first = desk.check(&["replay", "evidence.jsonl.zst", "--out", "one"], 10, &["suite::a"]);
    let second = desk.check(&["replay", "evidence.jsonl.zst", "--out", "two"], 10, &[]);
    assert_eq!(first.stdout, second.stdout);
    let bytes = |folder: &str, file: &str| fs::read(desk.path(folder).join(file)).unwrap();
    for file in ["verdict.json", "report.md"] {
        assert_eq!(bytes("one", file), bytes("two", file));
    }
}

#[test]
fn one_benchmark_is_explained_and_a_wrong_name_is_met_with_a_near_one() {
    let desk = Desk::new();
    let session = Session::new(3).bench("parse/large", 1.2, 0.004, 10);
    desk.evidence("target/pacegate/evidence.jsonl.zst", &{
        fs::create_dir_all(desk.path("target/pacegate")).unwrap();
        session
    });
    desk.check(&["explain", "parse/large"], 0, &["REGRESSION", "Launches in measured order"]);
    desk.check(&["explain", "suite::parse/*"], 0, &["REGRESSION"]);
    desk.check(&["explain", "parse/larg"], 2, &["did you mean `suite::parse/large`"]);
}

#[test]
fn the_gate_proves_itself_on_evidence() {
    let desk = Desk::new();
    let session = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
        .iter()
        .fold(Session::new(4), |session, name| session.bench(name, 1.0, 0.004, 10));
    desk.evidence("evidence.jsonl.zst", &session.bench("changed", 1.3, 0.004, 10));
    let arguments = ["selftest", "evidence.jsonl.zst", "--rounds", "200"];
    let said = desk.check(&arguments, 0, &["PASS", "13 of 13"]);
    assert_eq!(said.stdout, desk.run(&arguments).stdout);
}

#[test]
fn schemas_are_json_and_completions_are_a_script() {
    let desk = Desk::new();
    let names = [
        "verdict", "evidence", "config", "baseline", "accepted", "import", "history", "watch",
        "shards",
    ];
    for name in names {
        let said = desk.check(&["schema", name], 0, &["$schema"]);
        assert!(serde_json::from_str::<Value>(&said.stdout).unwrap().is_object());
        let kept = format!("docs/schema/{name}-1.json");
        let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&kept));
        assert_eq!(
            kept.unwrap(),
            said.stdout,
            "run `pacegate schema {name} > docs/schema/{name}-1.json`"
        );
    }
    desk.check(&["completions", "bash"], 0, &["complete -F"]);
}

/// A command and those below it, by the names of their man pages.
fn man_pages(command: &clap::Command, page: &str, pages: &mut BTreeMap<String, clap::Command>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        man_pages(inner, &format!("{page}-{}", inner.get_name()), pages);
    }
    pages.insert(format!("{page}.1"), command.clone());
}

#[test]
fn every_command_has_a_man_page_that_names_its_options() {
    let desk = Desk::new();
    desk.check(&["man", "share/man1"], 0, &[]);
    let mut command = pacegate::cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = BTreeMap::new();
    man_pages(&command, "pacegate", &mut pages);
    assert!(pages.contains_key("pacegate-baseline-promote.1"), "{:?}", pages.keys());
    let written: BTreeSet<String> = fs::read_dir(desk.path("share/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(written, pages.keys().cloned().collect());
    let read = |name: &str| fs::read_to_string(desk.path("share/man1").join(name)).unwrap();
    for (name, command) in &pages {
        // Roff writes a hyphen that is no hyphenation as `\-`.
        let page = read(name).replace("\\-", "-");
        for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
            let shown = match option.get_long() {
                Some(long) => format!("--{long}"),
                None => option.get_value_names().expect("built").join(" "),
            };
            assert!(page.contains(&shown), "{name} is silent on {shown}:\n{page}");
        }
    }
    assert_eq!(desk.check(&["man"], 0, &[".TH pacegate 1"]).stdout, read("pacegate.1"));
}

#[test]
fn an_input_that_is_neither_a_file_nor_a_baseline_says_what_to_do() {
    let desk = Desk::new();
    desk.put("b.json", "{}");
    let says = ["1.0: there is no such file", "no stored baseline", "pacegate baseline list"];
    desk.check(&["compare", "1.0", "b.json"], 1, &says);
}

#[test]
fn check_outside_of_a_repository_says_what_to_do() {
    let desk = Desk::new();
    let said = desk.run(&["check"]);
    assert_ne!(said.code, 0);
    assert!(said.stderr.contains("git"), "{}", said.stderr);
    assert_ne!(desk.verdict()["outcome"], "pass");
}
