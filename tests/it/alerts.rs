//! `watch --issues` against the fake GitHub of hub.rs: which issues there are after one run, two, and many.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use pacegate::github::{ALERT_LABEL, Alerted, alerts};
use pacegate::history::{Findings, Settings, Status, Timeline, watch};
use pacegate::report::{AlertPage, Stage, alert_pages};
use pacegate::simulate::history::timeline;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::github::{Paused, TOKEN, client};
use crate::hub::{Fault, Hub, REPOSITORY};

/// Forty runs, of which those from the 25th on take 12 % longer.
fn slower() -> (Findings, Timeline) {
    let wave = |run: usize| 0.003 * (run as f64 * 1.7).sin();
    let ys: Vec<f64> =
        (0..40).map(|run| wave(run) + if 25 <= run { 0.12f64.ln_1p() } else { 0.0 }).collect();
    let timeline = timeline(&ys);
    let findings = watch(&timeline, &[], &Settings::default());
    assert_eq!(findings.alerts.len(), 1);
    assert_eq!(findings.alerts[0].status, Status::Open);
    (findings, timeline)
}

pub(crate) fn pages() -> Vec<AlertPage> {
    let (findings, timeline) = slower();
    alert_pages(&findings, &timeline)
}

#[track_caller]
pub(crate) fn tell(hub: &Hub, pages: &[AlertPage]) -> Alerted {
    let alerted = alerts(&client(hub, &Paused::default()), pages, None).unwrap();
    assert!(alerted.undone.is_empty(), "{alerted:?}");
    alerted
}

fn writes(hub: &Hub) -> usize {
    hub.state().asked.iter().filter(|asked| asked.method != "GET").count()
}

/// Number and state of the issues.
fn issues(hub: &Hub) -> Vec<String> {
    hub.state().issues.iter().map(|issue| issue["state"].as_str().unwrap().into()).collect()
}

fn issue(number: u64, login: &str, body: &str) -> Value {
    json!({
        "id": number, "number": number, "state": "open", "title": "planted", "body": body,
        "labels": [{"name": ALERT_LABEL}], "user": {"login": login},
    })
}

#[test]
fn one_alert_is_one_issue_and_a_second_run_writes_nothing() {
    let hub = Hub::new();
    let alerted = tell(&hub, &pages());
    assert_eq!(alerted.news.len(), 1);
    // The label and the issue.
    assert_eq!(writes(&hub), 2);
    {
        let state = hub.state();
        let issue = &state.issues[0];
        assert_eq!(issue["labels"][0]["name"], ALERT_LABEL);
        assert_eq!(issue["title"], "`simulated::series` is slower since `run 25`");
        let body = issue["body"].as_str().unwrap();
        let key = body.strip_prefix("<!-- pacegate:alert:v1 key=").unwrap();
        assert!(key.lines().next().unwrap().ends_with(" -->"), "{body}");
        for part in ["**open**: step, at", "+12.", "[+11.", "▁█", "^", "runs since"] {
            assert!(body.contains(part), "`{part}` is missing:\n{body}");
        }
        let again = "\npacegate bisect 'run 24' 'run 25' simulated::series\n";
        assert!(body.contains(again), "{body}");
        assert!(body.contains("`pacegate watch --acknowledge 'run 25' --reason WHY`"), "{body}");
    }
    // Somebody edited it in a browser and changed nothing.
    let body = hub.state().issues[0]["body"].as_str().unwrap().replace('\n', "\r\n");
    hub.state().issues[0]["body"] = body.into();
    assert_eq!(tell(&hub, &pages()), Alerted::default());
    assert_eq!(writes(&hub), 2);
}

#[test]
fn a_place_that_moved_is_the_same_issue() {
    let hub = Hub::new();
    tell(&hub, &pages());
    let (mut findings, timeline) = slower();
    findings.alerts[0].range = (26, 27);
    let alerted = tell(&hub, &alert_pages(&findings, &timeline));
    assert_eq!((alerted.updated, alerted.news.len()), (1, 0));
    assert_eq!(issues(&hub), ["open"]);
    assert!(hub.state().issues[0]["title"].as_str().unwrap().ends_with("`run 26`"));
    assert_eq!(writes(&hub), 3);
    // Far away it is another one, and this one is gone.
    findings.alerts[0].range = (33, 33);
    tell(&hub, &alert_pages(&findings, &timeline));
    assert_eq!(issues(&hub), ["closed", "open"]);
}

#[test]
fn what_is_over_is_closed_once_and_told_why() {
    for status in [Some(Status::WentAway), Some(Status::Acknowledged), Some(Status::Refuted), None]
    {
        let hub = Hub::new();
        tell(&hub, &pages());
        let (mut findings, timeline) = slower();
        match status {
            Some(status) => findings.alerts[0].status = status,
            None => findings.alerts.clear(),
        }
        let over = alert_pages(&findings, &timeline);
        assert_eq!(tell(&hub, &over).news.len(), 1, "{status:?}");
        assert_eq!(issues(&hub), ["closed"]);
        assert_eq!(hub.state().comments.len(), 1);
        assert!(hub.state().comments[0]["body"].as_str().unwrap().starts_with("Closed: "));
        let before = writes(&hub);
        assert_eq!(tell(&hub, &over), Alerted::default());
        assert_eq!(writes(&hub), before);
        // It comes again: nothing is opened again.
        tell(&hub, &pages());
        assert_eq!(issues(&hub), ["closed", "open"]);
    }
}

#[test]
fn nobody_is_called_for_a_suspicion_or_twice() {
    let hub = Hub::new();
    let mut suspected = pages();
    suspected[0].stage = Stage::Suspect;
    tell(&hub, &suspected);
    assert_eq!(writes(&hub), 0);
    tell(&hub, &pages());
    tell(&hub, &suspected);
    assert_eq!(issues(&hub), ["open"]);
    // Whoever closed it by hand has heard of it.
    hub.state().issues[0]["state"] = "closed".into();
    let before = writes(&hub);
    tell(&hub, &pages());
    assert_eq!((issues(&hub), writes(&hub)), (vec!["closed".to_owned()], before));
}

#[test]
fn a_planted_marker_is_left_alone() {
    let first = Hub::new();
    tell(&first, &pages());
    let ours = first.state().issues[0]["body"].as_str().unwrap().to_owned();
    let hub = Hub::new();
    // On the second page of the list, too.
    for number in 1..=3 {
        hub.state().issues.push(issue(number, "mallory", &ours));
    }
    hub.state().issues.push(issue(4, "github-actions[bot]", &format!("see below\n{ours}")));
    tell(&hub, &pages());
    assert_eq!(hub.state().issues.len(), 5);
    tell(&hub, &[]);
    assert_eq!(issues(&hub), ["open", "open", "open", "open", "closed"]);
    assert!(hub.state().issues[..4].iter().all(|issue| issue["title"] == "planted"));
}

#[test]
fn a_write_whose_answer_was_lost_is_not_sent_again() {
    for fault in [Fault::DropAfter, Fault::BadGatewayAfter, Fault::Truncated] {
        let hub = Hub::new();
        hub.fault("POST", "labels", fault.clone());
        hub.fault("POST", "issues", fault.clone());
        tell(&hub, &pages());
        assert_eq!((issues(&hub).len(), hub.state().labels.len()), (1, 1), "{fault:?}");
        hub.fault("POST", "comments", fault.clone());
        hub.fault("PATCH", "", fault.clone());
        tell(&hub, &[]);
        assert_eq!(issues(&hub), ["closed"]);
        assert_eq!(hub.state().comments.len(), 1, "{fault:?}");
    }
    // A run that ended between the comment and the closing.
    let hub = Hub::new();
    tell(&hub, &pages());
    for _ in 0..5 {
        hub.fault("PATCH", "", Fault::DropBefore);
    }
    let ended = alerts(&client(&hub, &Paused::default()), &[], None).unwrap();
    assert_eq!(ended.undone.len(), 1);
    tell(&hub, &[]);
    assert_eq!((issues(&hub), hub.state().comments.len()), (vec!["closed".to_owned()], 1));
}

#[test]
fn names_can_do_nothing() {
    let (findings, mut timeline) = slower();
    for name in [
        "@everyone <!-- --> `x` | ``` \n# head \u{202e}evil",
        &"\u{1f980}".repeat(300),
        &"'".repeat(100_000),
        "'; rm -rf $HOME `id`",
        "",
    ] {
        timeline.series[0].key.id.name = name.into();
        let page = &alert_pages(&findings, &timeline)[0];
        assert!(page.title.chars().count() <= 256 && !page.title.contains(['\n', '\u{202e}']));
        let parser = pulldown_cmark::Parser::new_ext(&page.body, pulldown_cmark::Options::all());
        for event in parser {
            use pulldown_cmark::{Event, Tag};
            let acts = matches!(
                &event,
                Event::Html(_)
                    | Event::InlineHtml(_)
                    | Event::Start(Tag::Heading { .. } | Tag::Link { .. })
            );
            let calls = matches!(&event, Event::Text(text) if text.contains("@everyone"));
            assert!(!acts && !calls, "{event:?}\n{}", page.body);
        }
        let typed = page.body.contains(r"'simulated::'\''; rm -rf $HOME `id`'");
        assert!(!name.contains("rm") || typed, "{}", page.body);
        let hub = Hub::new();
        tell(&hub, std::slice::from_ref(page));
        tell(&hub, std::slice::from_ref(page));
        assert_eq!(issues(&hub), ["open"]);
    }
}

#[test]
fn a_right_that_is_missing_is_named() {
    let hub = Hub::new();
    hub.state().denied.push("issues");
    hub.state().labels.push(ALERT_LABEL.into());
    let alerted = alerts(&client(&hub, &Paused::default()), &pages(), None).unwrap();
    assert!(alerted.undone[0].contains("add `issues: write`"), "{alerted:?}");
    // An App whose name the token does not tell.
    let hub = Hub::new();
    hub.state().login = "speedy[bot]".into();
    let alerted = alerts(&client(&hub, &Paused::default()), &pages(), None).unwrap();
    assert!(alerted.undone[0].contains("`--author speedy[bot]`"), "{alerted:?}");
    let again = alerts(&client(&hub, &Paused::default()), &pages(), Some("speedy[bot]")).unwrap();
    assert_eq!((again, issues(&hub).len()), (Alerted::default(), 1));
}

/// A chat that takes one message.
fn chat() -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/SECRET", listener.local_addr().unwrap());
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 4096]);
        while !text.ends_with('}') {
            let read = stream.read(&mut bytes).unwrap();
            assert!(0 < read, "{text}");
            text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\nok").unwrap();
        text
    });
    (url, heard)
}

#[test]
fn the_program_opens_an_issue_and_tells_the_chat() {
    let desk = Desk::new();
    let entry = |number: u64| {
        let value = if number < 20 { 100 + number % 3 } else { 150 };
        format!(
            r#"{{"commit": {{"id": "{number:02}abc"}}, "date": {}, "tool": "cargo", "benches": [{{"name": "b", "value": {value}, "range": "± 1", "unit": "ns/iter"}}]}}"#,
            1_700_000_000_000 + number * 1000
        )
    };
    let all: Vec<String> = (0..30).map(entry).collect();
    let text = format!(
        r#"window.BENCHMARK_DATA = {{"lastUpdate": 1, "repoUrl": "", "entries": {{"<!channel>": [{}]}}}};"#,
        all.join(",")
    );
    desk.put("data.js", &text);
    desk.check(&["history", "import", "data.js"], 0, &["kept 30 runs"]);

    let hub = Hub::new();
    hub.state().labels.push(ALERT_LABEL.into());
    let run = |chat: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_pacegate"))
            .args(["watch", "--issues", "--webhook-env", "CHAT"])
            .current_dir(desk.path(""))
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("GITHUB_API_URL", &hub.url)
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_TOKEN", TOKEN)
            .env("CHAT", chat)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("SECRET") && !text.contains(TOKEN), "{text}");
        (output.status.code().unwrap(), text)
    };
    let (code, text) = run("");
    assert_eq!((code, hub.state().issues.len()), (2, 0), "{text}");
    let (url, heard) = chat();
    let (code, text) = run(&url);
    assert_eq!(code, 10, "{text}");
    assert_eq!(issues(&hub), ["open"]);
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("POST /SECRET ") && heard.contains("opened #"), "{heard}");
    assert!(heard.contains(REPOSITORY) && !heard.contains("<!"), "{heard}");
    // There is no news, so the chat is not asked at all.
    let (code, text) = run("https://chat.invalid/SECRET");
    assert_eq!((code, hub.state().issues.len()), (10, 1), "{text}");
    hub.state().issues.clear();
    let (code, text) = run("http://chat.invalid/SECRET");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("CHAT: it is no address"), "{text}");
}
