//! The requests to GitHub, held against GitHub's own description of its API: what the program really sends to the fake
//! GitHub of hub.rs is sent again to prism, a mock that refuses what the description does not allow.
//!
//! ```text
//! scenarios -> hub.rs, which records -> every distinct request -> prism <- description, cut down to ROUTES
//! ```
//!
//! Both come into `target/tools` by `scripts/test`; without them the test says so and checks less. A hub refuses to end
//! after a request that is not of ROUTES, in whatever test, so that there is none that nobody holds against anything.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::alerts::{pages, tell};
use crate::github::{BASE, ENTRY, SHA, hub, packed, say, zipped};
use crate::hub::{Asked, Hub};
use crate::runs::Session;
use crate::workflows::{aloud, tool};

/// Everything that is asked of GitHub, as its description writes it.
pub(crate) const ROUTES: [&str; 21] = [
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}",
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}",
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts",
    "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
    "GET /repos/{owner}/{repo}/commits/{ref}/statuses",
    "GET /repos/{owner}/{repo}/contents/{path}",
    "GET /repos/{owner}/{repo}/issues",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "GET /repos/{owner}/{repo}/labels/{name}",
    "GET /repos/{owner}/{repo}/pulls",
    "GET /user",
    "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "PATCH /repos/{owner}/{repo}/issues/{issue_number}",
    "POST /repos/{owner}/{repo}/check-runs",
    "POST /repos/{owner}/{repo}/issues",
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "POST /repos/{owner}/{repo}/labels",
    "POST /repos/{owner}/{repo}/statuses/{sha}",
];

/// How long prism may take to start, and to answer once: more than it takes on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// How a file is wanted as it is. The description tells of it in words only, so prism knows no answer of that kind.
const RAW: &str = "application/vnd.github.raw+json";

/// The route of a request.
pub(crate) fn route(asked: &Asked) -> Option<&'static str> {
    let path = asked.path.split('?').next().unwrap_or_default();
    ROUTES.into_iter().find(|route| {
        let (method, template) = route.split_once(' ').unwrap();
        let mut parts = path.split('/');
        let fits = template.split('/').all(|wanted| {
            parts.next().is_some_and(|part| part == wanted || wanted.starts_with('{'))
        });
        method == asked.method
            && fits
            && (template.ends_with("/contents/{path}") || parts.next().is_none())
    })
}

/// Hubs that were asked everything that there is to ask.
fn scenarios() -> Vec<Hub> {
    let publish = |hub: &Hub| drop(say(hub, 42).unwrap());
    let slower = (0..60).fold(Session::new(3), |session, index| {
        session.bench(&format!("read/{index}"), 1.2, 0.001, 10)
    });
    let source: String = (0..60).map(|index| format!("bench(\"{index}\");\n")).collect();
    let many = hub(1.0, 1);
    many.state().artifacts.clear();
    many.artifact(42, "pacegate-evidence-1", zipped(&[(ENTRY, &packed(&slower))]));
    many.state().files.insert(("benches/suite.rs".into(), SHA.into()), source);
    publish(&many);

    // First, a second time, and with a comment too many.
    let twice = hub(1.2, 1);
    publish(&twice);
    let mut again = twice.state().comments[0].clone();
    again["id"] = 2000.into();
    twice.state().comments.push(again);
    publish(&twice);

    // A fork, and one whose branch was renamed.
    let fork = hub(1.0, 2);
    publish(&fork);
    let renamed = hub(1.0, 2);
    renamed.state().pulls[0]["head"]["ref"] = "fastest".into();
    publish(&renamed);

    let ladder = hub(1.2, 1);
    ladder.state().denied = vec!["check-runs"];
    publish(&ladder);

    let refused = hub(1.0, 1);
    refused.state().files.insert(("pacegate.yaml".into(), BASE.into()), "tolerence: 2%\n".into());
    publish(&refused);

    let unfinished = hub(1.0, 1);
    unfinished.state().artifacts.clear();
    publish(&unfinished);

    // An alert that comes and goes.
    let alert = Hub::new();
    tell(&alert, &pages());
    tell(&alert, &[]);

    vec![many, twice, fork, renamed, ladder, refused, unfinished, alert]
}

/// The mock. It ends with this value.
struct Prism {
    child: Child,
    address: String,
}

impl Prism {
    fn start(program: &Path, description: &Path) -> Self {
        let child = Command::new(program)
            .args(["mock", "--host=127.0.0.1", "--port=0", "--multiprocess=false"])
            .arg(description)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut prism = Prism { child, address: String::new() };
        let lines = BufReader::new(prism.child.stdout.take().unwrap()).lines();
        let (send, listens) = mpsc::channel();
        // Reads on, since a full pipe would stop it.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on http://") {
                    let _ = send.send(address.trim().to_owned());
                }
            }
        });
        prism.address = listens.recv_timeout(PATIENCE).expect("prism says where it listens");
        prism
    }

    /// Status and body of the answer.
    fn ask(&self, asked: &Asked) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = if asked.body.is_null() { String::new() } else { asked.body.to_string() };
        let mut head = format!("{} {} HTTP/1.1\r\n", asked.method, described(&asked.path));
        for (name, value) in &asked.headers {
            let value = if value == RAW { "application/json" } else { value };
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let rest =
            format!("Host: localhost\r\nConnection: close\r\nContent-Length: {}", body.len());
        write!(stream, "{head}{rest}\r\n\r\n{body}").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no answer: {answer}")), answer)
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A path as the description has it, in which the name of a file is one part.
fn described(path: &str) -> String {
    match path.split_once("/contents/") {
        Some((before, file)) => format!("{before}/contents/{}", file.replace('/', "%2F")),
        None => path.to_owned(),
    }
}

#[test]
fn every_request_is_as_github_describes_it() {
    let hubs = scenarios();
    let mut requests: Vec<Asked> = Vec::new();
    for asked in hubs.iter().flat_map(|hub| hub.state().asked.clone()) {
        if !requests.contains(&asked) {
            requests.push(asked);
        }
    }
    let sent: BTreeSet<_> = requests.iter().map(|asked| route(asked).expect("a route")).collect();
    assert_eq!(sent, BTreeSet::from(ROUTES), "what is sent is not what is listed");
    let notes = |asked: &Asked| asked.body["output"]["annotations"].as_array().map_or(0, Vec::len);
    assert_eq!(requests.iter().map(notes).max(), Some(50));

    let description = "npm/node_modules/@octokit/openapi/generated/api.github.com.json";
    let (Some(prism), Some(description)) = (tool("npm/node_modules/.bin/prism"), tool(description))
    else {
        return;
    };
    let small = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("github-description.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/contract/cut-down.mjs");
    let cut = |routes: &[&str]| {
        Command::new("node").arg(&script).arg(&description).arg(&small).args(routes).output()
    };
    assert!(!cut(&["POST /user"]).unwrap().status.success(), "a route that is not there");
    let said = cut(&ROUTES).unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(fs::read_to_string(&small).unwrap().contains(RAW));
    let prism = Prism::start(&prism, &small);

    for asked in &requests {
        let (status, answer) = prism.ask(asked);
        // The archive lies elsewhere; nobody goes there.
        assert!((200..=302).contains(&status), "{asked:#?}\n{answer}");
    }

    let like = |route_: &str| requests.iter().find(|asked| route(asked) == Some(route_)).unwrap();
    let check = like("POST /repos/{owner}/{repo}/check-runs");
    let comment = like("POST /repos/{owner}/{repo}/issues/{issue_number}/comments");
    let answers = |asked: &Asked, change: &dyn Fn(&mut Asked), expected: u16| {
        let mut bad = asked.clone();
        change(&mut bad);
        let (status, answer) = prism.ask(&bad);
        assert_eq!(status, expected, "{bad:#?}\n{answer}");
    };
    answers(check, &|bad| bad.body["conclusion"] = "slower".into(), 422);
    answers(check, &|bad| bad.body["output"]["summary"] = "x".repeat(65_536).into(), 422);
    let note = json!({"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "a"});
    let notes = |count: usize| Value::from(vec![note.clone(); count]);
    answers(check, &|bad| bad.body["output"]["annotations"] = notes(50), 201);
    answers(check, &|bad| bad.body["output"]["annotations"] = notes(51), 422);
    answers(comment, &|bad| bad.body = json!({}), 422);
    answers(comment, &|bad| bad.path = "/repos/octo/speed/remarks".into(), 404);
    answers(comment, &|bad| bad.method = "PUT".into(), 405);
    aloud(&format!(
        "{}: {} requests are as described, 6 bad ones were refused",
        String::from_utf8_lossy(&said.stdout).trim(),
        requests.len()
    ));
}
