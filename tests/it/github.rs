//! `publish` against the fake GitHub of hub.rs: every answer that GitHub or somebody in between may give, and what must
//! stand on the commit and the pull request after it.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use pacegate::error::Result;
use pacegate::gate::Policy;
use pacegate::github::{Access, Client, Clock, Comments, Order, Published, Token, Trust, publish};
use pacegate::model::Arm;
use pacegate::store::evidence::{Ending, EvidenceFile};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::hub::{Fault, Hub, REPOSITORY};
use crate::runs::Session;

pub(crate) const TOKEN: &str = "ghs_SENTINEL0123456789";
pub(crate) const SHA: &str = "1111111111111111111111111111111111111111";
pub(crate) const BASE: &str = "2222222222222222222222222222222222222222";
const WORKFLOW: &str = ".github/workflows/bench.yml";
pub(crate) const ENTRY: &str = "evidence.jsonl.zst";

/// A clock on which waiting takes no time.
#[derive(Clone, Default)]
pub(crate) struct Paused {
    now: Rc<Cell<Duration>>,
    waits: Rc<RefCell<Vec<Duration>>>,
}

impl Clock for Paused {
    fn elapsed(&self) -> Duration {
        self.now.get()
    }

    fn unix(&self) -> u64 {
        1_800_000_000
    }

    fn wait(&self, time: Duration) {
        self.now.set(self.now.get() + time);
        self.waits.borrow_mut().push(time);
    }
}

impl Paused {
    fn longest(&self) -> u64 {
        self.waits.borrow().iter().max().map_or(0, Duration::as_secs)
    }
}

pub(crate) fn client(hub: &Hub, clock: &Paused) -> Client {
    let access = Access {
        api: hub.url.clone(),
        token: Token::new(TOKEN).unwrap(),
        repository: REPOSITORY.parse().unwrap(),
        connect: Duration::from_secs(5),
        answer: Duration::from_secs(2),
        deadline: Duration::from_secs(300),
    };
    Client::new(access, Box::new(clock.clone())).unwrap()
}

fn order(run: u64) -> Order {
    Order {
        run,
        workflow: WORKFLOW.parse().unwrap(),
        config: "pacegate.yaml".parse().unwrap(),
        name: "pacegate".parse().unwrap(),
        comments: Comments::Always,
        today: None,
    }
}

pub(crate) fn say(hub: &Hub, run: u64) -> Result<Published> {
    publish(&client(hub, &Paused::default()), &order(run))
}

fn session(ratio: f64) -> Session {
    Session::new(1).bench("read/serde", ratio, 0.001, 10).bench("write/serde", 1.0, 0.001, 10)
}

pub(crate) fn packed(session: &Session) -> Vec<u8> {
    let file = EvidenceFile {
        pacegate: "0.1.0".into(),
        started: None,
        policy: Policy { tolerance: 0.9, ..Policy::default() },
        plan: None,
        notices: Vec::new(),
        runs: [
            (Arm::Baseline, session.baseline.clone()),
            (Arm::Candidate, session.candidate.clone()),
        ]
        .into(),
        ending: Ending::Complete,
    };
    let mut text = Vec::new();
    file.to_writer(&mut text).unwrap();
    zstd::encode_all(text.as_slice(), 3).unwrap()
}

pub(crate) fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn repository(id: u64) -> Value {
    let (name, owner) = if id == 1 { (REPOSITORY, "octo") } else { ("mallory/speed", "mallory") };
    json!({"id": id, "full_name": name, "owner": {"login": owner}})
}

/// A completed run of a pull request from repository `head`; 1 is ours.
fn run(id: u64, head: u64) -> Value {
    json!({
        "id": id, "run_attempt": 1, "status": "completed", "conclusion": "success", "event": "pull_request",
        "path": WORKFLOW, "head_sha": SHA, "head_branch": "faster", "pull_requests": [],
        "html_url": format!("https://github.com/{REPOSITORY}/actions/runs/{id}"),
        "repository": repository(1), "head_repository": repository(head),
    })
}

fn pull(number: u64, head: u64, sha: &str) -> Value {
    json!({
        "number": number, "state": "open",
        "head": {"sha": sha, "ref": "faster", "repo": repository(head)},
        "base": {"sha": BASE, "ref": "main", "repo": repository(1)},
    })
}

/// A hub with one run of pull request 7 whose candidate takes `ratio` times as long.
pub(crate) fn hub(ratio: f64, head: u64) -> Hub {
    let hub = Hub::new();
    hub.state().runs.insert(42, run(42, head));
    hub.state().pulls.push(pull(7, head, SHA));
    hub.state().files.insert(("pacegate.yaml".into(), BASE.into()), "tolerance: 2%\n".into());
    hub.artifact(42, "pacegate-evidence-1", zipped(&[(ENTRY, &packed(&session(ratio)))]));
    hub
}

#[track_caller]
fn conclusion(hub: &Hub) -> String {
    let state = hub.state();
    assert_eq!(state.checks.len(), 1, "{:#?}", state.checks);
    assert!(!state.checks[0]["output"]["summary"].as_str().unwrap().is_empty());
    state.checks[0]["conclusion"].as_str().unwrap().to_owned()
}

#[track_caller]
fn one_of_each(hub: &Hub) {
    let state = hub.state();
    assert_eq!((state.comments.len(), state.checks.len()), (1, 1));
}

#[test]
fn a_verdict_stands_on_the_commit_and_the_pull_request() {
    for (ratio, expected) in [(1.0, "success"), (1.2, "failure")] {
        let hub = hub(ratio, 1);
        let published = say(&hub, 42).unwrap();
        assert!(published.is_complete(), "{:?}", published.undone);
        assert_eq!(published.trust, Trust::Judged);
        // The evidence carries a tolerance of 90 %, which nobody heeds.
        assert_eq!(conclusion(&hub), expected);
        one_of_each(&hub);
        let state = hub.state();
        assert_eq!(state.checks[0]["external_id"], "42-1");
        let body = state.comments[0]["body"].as_str().unwrap();
        assert!(body.starts_with("<!-- pacegate:v1 key="), "{body}");
        assert!(!body.contains("fork"), "{body}");
    }
}

#[test]
fn a_second_run_updates_what_is_there_and_an_older_one_changes_nothing() {
    let hub = hub(1.2, 1);
    say(&hub, 42).unwrap();
    hub.state().runs.insert(43, run(43, 1));
    hub.artifact(43, "pacegate-evidence-1", zipped(&[(ENTRY, &packed(&session(1.0)))]));
    say(&hub, 43).unwrap();
    assert_eq!(conclusion(&hub), "success");
    one_of_each(&hub);
    let told = || {
        let state = hub.state();
        (state.comments.clone(), state.checks.clone())
    };
    let before = told();
    assert!(before.0[0]["body"].as_str().unwrap().contains("run=43"));
    say(&hub, 42).unwrap();
    assert_eq!(told(), before);
}

#[test]
fn a_further_attempt_takes_over() {
    let hub = hub(1.2, 1);
    say(&hub, 42).unwrap();
    hub.state().runs.get_mut(&42).unwrap()["run_attempt"] = 2.into();
    hub.artifact(42, "pacegate-evidence-2", zipped(&[(ENTRY, &packed(&session(1.0)))]));
    say(&hub, 42).unwrap();
    assert_eq!(conclusion(&hub), "success");
    one_of_each(&hub);
    assert_eq!(hub.state().checks[0]["external_id"], "42-2");
}

#[test]
fn a_write_whose_answer_was_lost_is_not_sent_again() {
    for fault in [Fault::DropAfter, Fault::BadGatewayAfter, Fault::Truncated] {
        let hub = hub(1.2, 1);
        hub.fault("POST", "check-runs", fault.clone());
        hub.fault("POST", "issues/7/comments", fault.clone());
        let published = say(&hub, 42).unwrap();
        assert!(published.is_complete(), "{fault:?} {:?}", published.undone);
        one_of_each(&hub);
        assert_eq!(hub.count("POST", "check-runs"), 1, "{fault:?}");
        assert_eq!(hub.count("POST", "comments"), 1, "{fault:?}");
    }
}

#[test]
fn a_write_that_was_not_carried_out_is_sent_again() {
    let faults = [
        (Fault::Status(500, "", "{}"), 0..=1),
        (Fault::Status(502, "", "<html>Bad Gateway</html>"), 0..=1),
        (Fault::DropBefore, 0..=1),
        (Fault::Status(429, "Retry-After: 7", "{}"), 7..=7),
        (
            Fault::Status(
                403,
                "Retry-After: 9",
                r#"{"message":"You have exceeded a secondary rate limit"}"#,
            ),
            9..=9,
        ),
        (
            Fault::Status(403, "", r#"{"message":"You have exceeded a secondary rate limit"}"#),
            60..=60,
        ),
    ];
    for (fault, waits) in faults {
        let hub = hub(1.2, 1);
        hub.fault("POST", "check-runs", fault.clone());
        let clock = Paused::default();
        let published = publish(&client(&hub, &clock), &order(42)).unwrap();
        assert!(published.is_complete(), "{fault:?} {:?}", published.undone);
        one_of_each(&hub);
        assert_eq!(hub.count("POST", "check-runs"), 2, "{fault:?}");
        assert!(waits.contains(&clock.longest()), "{fault:?} {:?}", clock.waits);
    }
}

#[test]
fn a_read_is_tried_five_times() {
    let hub = hub(1.0, 1);
    for _ in 0..4 {
        hub.fault("GET", "runs/42", Fault::Status(500, "", "{}"));
    }
    assert!(say(&hub, 42).unwrap().is_complete());
    assert_eq!(hub.count("GET", "runs/42"), 6, "five for the run, one for its artifacts");
    for fault in [Fault::DropBefore, Fault::Truncated, Fault::Status(429, "Retry-After: 3", "{}")] {
        hub.fault("GET", "runs/42", fault);
    }
    assert!(say(&hub, 42).unwrap().is_complete());
    for _ in 0..5 {
        hub.fault("GET", "runs/42", Fault::Status(502, "", "<html>oh</html>"));
    }
    assert!(say(&hub, 42).unwrap_err().to_string().contains("502"));
}

#[test]
fn silence_ends_and_is_asked_again() {
    let hub = hub(1.0, 1);
    hub.fault("GET", "runs/42", Fault::Silence);
    assert!(say(&hub, 42).unwrap().is_complete());
}

#[test]
fn a_wait_beyond_the_deadline_is_not_begun() {
    let hub = hub(1.0, 1);
    hub.fault("GET", "runs/42", Fault::Status(429, "Retry-After: 3600", "{}"));
    let clock = Paused::default();
    let error = publish(&client(&hub, &clock), &order(42)).unwrap_err().to_string();
    assert!(error.contains("3600 s away") && error.contains("--deadline"), "{error}");
    assert_eq!(clock.longest(), 0);
}

#[test]
fn what_is_refused_is_not_tried_again() {
    for (status, body) in [
        (401, r#"{"message":"Bad credentials"}"#),
        (404, "{}"),
        (422, "{}"),
        (403, r#"{"message":"Resource not accessible by integration"}"#),
    ] {
        let hub = hub(1.0, 1);
        hub.fault("GET", "runs/42", Fault::Status(status, "", body));
        let error = say(&hub, 42).unwrap_err().to_string();
        assert!(error.contains(&status.to_string()), "{error}");
        assert_eq!(hub.count("GET", "runs/42"), 1);
    }
}

#[test]
fn a_marker_on_a_later_page_is_found_and_one_that_somebody_planted_is_not() {
    let hub = hub(1.2, 1);
    say(&hub, 42).unwrap();
    let ours = hub.state().comments.remove(0);
    let planted = json!({"id": 1, "pull": "7", "body": ours["body"], "user": {"login": "mallory"}});
    let chat = |id: u64| json!({"id": id, "pull": "7", "body": "nice", "user": {"login": "octo"}});
    let all = vec![planted.clone(), chat(2), chat(3), chat(4), ours, chat(5)];
    hub.state().comments.clone_from(&all);
    say(&hub, 42).unwrap();
    let state = hub.state();
    assert_eq!(state.comments.len(), 6);
    assert_eq!(state.comments[0], planted);
}

#[test]
fn of_several_comments_the_newest_is_kept() {
    let hub = hub(1.2, 1);
    say(&hub, 42).unwrap();
    let mut second = hub.state().comments[0].clone();
    second["id"] = 2000.into();
    hub.state().comments.push(second);
    say(&hub, 42).unwrap();
    one_of_each(&hub);
    assert_eq!(hub.state().comments[0]["id"], 2000);
}

#[test]
fn a_tip_that_moved_leaves_the_comment_alone() {
    let hub = hub(1.2, 1);
    hub.state().pulls[0]["head"]["sha"] = "3".repeat(40).into();
    let published = say(&hub, 42).unwrap();
    assert_eq!(conclusion(&hub), "failure");
    assert!(hub.state().comments.is_empty());
    assert!(published.done.iter().any(|line| line.contains("#7 has moved on")), "{published:?}");
}

#[test]
fn a_fork_is_found_though_its_run_names_no_pull_request() {
    let hub = hub(1.0, 2);
    hub.state().pulls.push(pull(8, 1, SHA));
    say(&hub, 42).unwrap();
    one_of_each(&hub);
    let state = hub.state();
    assert_eq!(state.comments[0]["pull"], "7");
    for text in [&state.comments[0]["body"], &state.checks[0]["output"]["summary"]] {
        assert!(
            text.as_str().unwrap().contains("Measured by code of a fork, which can say anything")
        );
    }
}

#[test]
fn every_pull_request_of_the_tip_gets_its_comment() {
    let hub = hub(1.0, 1);
    hub.state().pulls.push(pull(9, 1, SHA));
    say(&hub, 42).unwrap();
    assert_eq!(hub.state().comments.len(), 2);
    assert_eq!(hub.state().checks.len(), 1);
}

#[test]
fn what_is_not_the_run_that_was_expected_fails_the_check() {
    let check = |key: &str, value: Value, says: &str| {
        let hub = hub(1.0, 2);
        hub.state().runs.get_mut(&42).unwrap()[key] = value;
        let published = say(&hub, 42).unwrap();
        assert_eq!(published.trust, Trust::Refused);
        assert_eq!(conclusion(&hub), "failure");
        let state = hub.state();
        let summary = state.checks[0]["output"]["summary"].as_str().unwrap();
        assert!(summary.contains(says), "{summary}");
        assert!(state.fetched.is_empty());
    };
    check("path", ".github/workflows/other.yml".into(), "other.yml");
    check("event", "pull_request_target".into(), "pull_request_target");
    check("status", "in_progress".into(), "in_progress");
}

#[test]
fn a_run_without_evidence_is_told() {
    let hub = hub(1.0, 1);
    hub.state().artifacts.clear();
    hub.state().runs.get_mut(&42).unwrap()["conclusion"] = "timed_out".into();
    say(&hub, 42).unwrap();
    assert_eq!(conclusion(&hub), "failure");
    let state = hub.state();
    let body = state.comments[0]["body"].as_str().unwrap();
    assert!(body.contains("did not finish") && body.contains("timed_out"), "{body}");
}

#[track_caller]
fn refused(bytes: Vec<u8>, change: impl FnOnce(&mut Value), says: &str) {
    let hub = hub(1.0, 2);
    hub.state().artifacts.clear();
    hub.artifact(42, "pacegate-evidence-1", bytes);
    change(&mut hub.state().artifacts[0].0);
    let published = say(&hub, 42).unwrap();
    assert_eq!(published.trust, Trust::Refused, "{says}");
    assert_eq!(conclusion(&hub), "failure");
    assert!(published.page.check.contains(says), "{says} is not in {}", published.page.check);
}

#[test]
fn archives_that_attack_are_refused() {
    let good = packed(&session(1.0));
    let same = |_: &mut Value| {};
    refused(zipped(&[("../evidence.jsonl.zst", &good)]), same, "alone");
    refused(zipped(&[("/evidence.jsonl.zst", &good)]), same, "alone");
    refused(zipped(&[(ENTRY, &good), ("b", b"x")]), same, "alone");
    refused(zipped(&[]), same, "alone");
    refused(zipped(&[(ENTRY, &vec![0; 1 << 20])]), same, "grows");
    refused(zipped(&[(ENTRY, &zipped(&[("a", b"x")]))]), same, "archive itself");
    refused(zipped(&[(ENTRY, b"{}")]), same, "refused");
    refused(b"no archive".to_vec(), same, "no archive");
    let many: Vec<String> = (0..3000).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    refused(zipped(&many), same, "3000");
    let mut link = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    link.add_symlink(ENTRY, "/etc/passwd", SimpleFileOptions::default()).unwrap();
    refused(link.finish().unwrap().into_inner(), same, "is no");
    // Two names of one length become one name.
    let twin = String::from_utf8_lossy(ENTRY.as_bytes()).replace("zst", "zsT");
    let mut twice = zipped(&[(ENTRY, &good), (&twin, &good)]);
    while let Some(at) = twice.windows(twin.len()).position(|part| part == twin.as_bytes()) {
        twice[at..at + twin.len()].copy_from_slice(ENTRY.as_bytes());
    }
    refused(twice, same, "twice");
    // The central directory promises fewer bytes than there are.
    let mut lying = zipped(&[(ENTRY, &good)]);
    let at = lying.windows(4).rposition(|part| part == b"PK\x01\x02").unwrap();
    lying[at + 24..at + 28].copy_from_slice(&3u32.to_le_bytes());
    refused(lying, same, "refused");
}

#[test]
fn artifacts_that_are_not_what_they_seem_are_refused() {
    let good = || zipped(&[(ENTRY, &packed(&session(1.0)))]);
    refused(
        good(),
        |facts| facts["digest"] = format!("sha256:{}", "0".repeat(64)).into(),
        "differs",
    );
    refused(good(), |facts| facts["size_in_bytes"] = (6 << 20).into(), "more than");
    refused(good(), |facts| facts["expired"] = true.into(), "expired");
    refused(good(), |facts| facts["workflow_run"]["head_sha"] = BASE.into(), "another run");
    refused(
        good(),
        |facts| facts["workflow_run"] = json!({"id": 43, "head_sha": SHA}),
        "no evidence",
    );
    // The size that was promised is not the size that comes.
    let fat = vec![1; 6 << 20];
    refused(fat, |facts| facts["size_in_bytes"] = 10.into(), "longer than");
    let interrupted = session(1.0).looks(&[(5, 0.9), (10, 0.9)]);
    refused(zipped(&[(ENTRY, &packed(&interrupted))]), |_| {}, "their share");
}

#[test]
fn the_token_stays_at_github_and_out_of_every_text() {
    let hub = hub(1.2, 1);
    hub.fault(
        "GET",
        "7/comments",
        Fault::Status(422, "", "{\"message\":\"ghs_SENTINEL0123456789 is bad\"}"),
    );
    let published = say(&hub, 42).unwrap();
    assert!(!format!("{published:?}").contains("SENTINEL"), "{:?}", published.undone);
    let state = hub.state();
    assert!(!state.fetched.is_empty() && hub_store_is_elsewhere(&hub.url, hub.store()));
    assert!(state.fetched.iter().all(|asked| asked.authorization.is_none()));
    assert!(state.asked.iter().all(|asked| asked.authorization == Some(format!("Bearer {TOKEN}"))));
    let told = format!("{:?}{:?}", state.comments, state.checks);
    assert!(!told.contains("SENTINEL"));
}

fn hub_store_is_elsewhere(api: &str, store: &str) -> bool {
    api != store
}

#[test]
fn b79_without_rights_the_next_best_thing_is_done_and_the_right_is_named() {
    let hub = hub(1.2, 1);
    hub.state().denied = vec!["check-runs"];
    let published = say(&hub, 42).unwrap();
    assert!(published.undone[0].contains("checks: write"), "{:?}", published.undone);
    assert_eq!(hub.state().statuses[0]["state"], "failure");
    assert_eq!(hub.state().comments.len(), 1);

    hub.state().denied = vec!["check-runs", "statuses", "comments"];
    let published = say(&hub, 42).unwrap();
    for right in ["checks: write", "statuses: write", "pull-requests: write"] {
        assert!(published.undone.iter().any(|line| line.contains(right)), "{right}");
    }
    assert!(published.page.summary.contains("FAIL"));
}

#[test]
fn b81_a_quiet_reporter_speaks_when_there_is_something_to_say() {
    let check = |ratio: f64, comments: Comments, expected: usize| {
        let hub = hub(ratio, 1);
        publish(&client(&hub, &Paused::default()), &Order { comments, ..order(42) }).unwrap();
        assert_eq!(hub.state().comments.len(), expected, "{ratio} {comments:?}");
    };
    check(1.0, Comments::OnChange, 0);
    check(0.8, Comments::OnChange, 1);
    check(0.8, Comments::OnFail, 0);
    check(1.2, Comments::OnFail, 1);

    // A comment that is there is brought up to date when all is well again.
    let hub = hub(1.2, 1);
    let quiet = |run| Order { comments: Comments::OnFail, ..order(run) };
    publish(&client(&hub, &Paused::default()), &quiet(42)).unwrap();
    hub.state().runs.insert(43, run(43, 1));
    hub.artifact(43, "pacegate-evidence-1", zipped(&[(ENTRY, &packed(&session(1.0)))]));
    publish(&client(&hub, &Paused::default()), &quiet(43)).unwrap();
    let state = hub.state();
    assert_eq!(state.comments.len(), 1);
    assert!(state.comments[0]["body"].as_str().unwrap().contains("PASS"));
}

#[test]
fn a_regression_is_annotated_where_it_is_written() {
    let hub = hub(1.2, 1);
    let source = "fn main() {\n    group(\"read\").bench(\"serde\");\n}\n";
    hub.state().files.insert(("benches/suite.rs".into(), SHA.into()), source.into());
    say(&hub, 42).unwrap();
    let state = hub.state();
    let notes = state.checks[0]["output"]["annotations"].as_array().unwrap();
    assert_eq!(notes.len(), 1);
    assert_eq!(
        (&notes[0]["path"], &notes[0]["start_line"]),
        (&json!("benches/suite.rs"), &json!(2))
    );
}

#[test]
fn a_policy_that_cannot_be_read_fails_the_check() {
    let hub = hub(1.0, 1);
    hub.state().files.insert(("pacegate.yaml".into(), BASE.into()), "tolerence: 2%\n".into());
    say(&hub, 42).unwrap();
    assert_eq!(conclusion(&hub), "failure");
}

#[test]
fn many_benchmarks_fit_and_every_regression_is_told() {
    let mut session = Session::new(3);
    for index in 0..1500 {
        let ratio = if index % 37 == 0 && index < 37 * 40 { 1.2 } else { 1.0 };
        session = session.bench(&format!("group/{index}"), ratio, 0.001, 5);
    }
    let hub = hub(1.0, 1);
    hub.state().artifacts.clear();
    hub.artifact(42, "pacegate-evidence-1", zipped(&[(ENTRY, &packed(&session))]));
    let published = say(&hub, 42).unwrap();
    assert!(published.is_complete(), "{:?}", published.undone);
    let state = hub.state();
    let body = state.comments[0]["body"].as_str().unwrap();
    assert!(body.chars().count() <= 60_000);
    for index in (0..40).map(|index| index * 37) {
        assert!(body.contains(&format!("`suite::group/{index}`")), "{index}");
    }
    assert!(published.page.summary.len() < 1 << 20);
}

#[test]
fn ten_thousand_regressions_of_long_names_fit() {
    let crabs = "\u{1f980}".repeat(100);
    let session = (0..10_000).fold(Session::new(3), |session, index| {
        session.bench(&format!("{crabs}/{index}"), 1.2, 0.001, 5)
    });
    // More than a stranger may send.
    let evidence = EvidenceFile::from_reader(
        std::io::Cursor::new(packed(&session)),
        &pacegate::store::Limits::OWN,
    );
    let event = json!({ "workflow_run": run(42, 1) }).to_string();
    let page =
        pacegate::github::rehearse(&event, Some(evidence.unwrap()), None, &order(42)).unwrap();
    // GitHub takes 65,536 and 65,535 characters, 1 MiB and 140 characters.
    assert!((50_000..=60_000).contains(&page.comment.chars().count()));
    assert!((50_000..=60_000).contains(&page.check.chars().count()));
    assert!((200_000..1 << 20).contains(&page.summary.len()));
    assert!(page.status.chars().count() <= 140);
    assert!(page.comment.contains("more rows"));
}

/// What is written on pull requests, as files that people can read: `tests/golden/comments/`. They are taken over as
/// those of golden.rs are.
#[test]
fn golden_comments() {
    let many = (0..1500).fold(Session::new(3), |session, index| {
        let ratio = if index % 37 == 0 && index < 37 * 40 { 1.2 } else { 1.0 };
        session.bench(&format!("group/{index}"), ratio, 0.001, 5)
    });
    let cases = [
        ("pass", 1, Some(session(1.0))),
        ("regression", 1, Some(session(1.2))),
        ("inconclusive", 1, Some(Session::new(1).bench("read/serde", 1.02, 0.05, 5))),
        ("nothing-to-compare", 1, Some(Session::new(1))),
        (
            "first-run",
            1,
            Some(Session::new(1).only_candidate("read/serde").only_candidate("write/serde")),
        ),
        ("fork", 2, Some(session(1.0))),
        ("runner-fault", 1, None),
        ("many", 1, Some(many)),
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/comments");
    let mut differing = Vec::new();
    for (name, head, session) in cases {
        let mut run = run(42, head);
        if session.is_none() {
            run["conclusion"] = "cancelled".into();
        }
        let event = json!({ "workflow_run": run }).to_string();
        let evidence = session.map(|session| {
            let bytes = std::io::Cursor::new(packed(&session));
            EvidenceFile::from_reader(bytes, &pacegate::store::Limits::UNTRUSTED).unwrap()
        });
        let policy = Some("tolerance: 2%\n".to_owned());
        let page = pacegate::github::rehearse(&event, evidence, policy, &order(42)).unwrap();
        let text =
            format!("<!-- {}: {} -->\n{}", page.conclusion.name(), page.status, page.comment);
        assert!(page.comment.chars().count() <= 60_000);
        let path = folder.join(format!("{name}.md"));
        if std::env::var("PACEGATE_GOLDEN").is_ok_and(|mode| mode == "write") {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            println!("{} should be:\n{text}", path.display());
            differing.push(name);
        }
    }
    assert!(differing.is_empty(), "comments differ: {differing:?}");
}
