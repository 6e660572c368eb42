//! A small GitHub on this machine: it remembers what it is told, answers in pages of two, holds to GitHub's limits, and
//! misbehaves as a script says. Nothing leaves the loopback.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::contract;

/// What goes wrong with one request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// This status, with a header and a body; the request is not carried out.
    Status(u16, &'static str, &'static str),
    /// It is carried out, and nobody hears of it.
    DropAfter,
    /// It is carried out, and a proxy says otherwise.
    BadGatewayAfter,
    /// The connection ends before anything happened.
    DropBefore,
    /// The answer is shorter than it says.
    Truncated,
    /// No answer comes for as long as anybody waits.
    Silence,
}

/// A request that came in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    /// What of the other headers says how to read the body, and which answer is wanted.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) asked: Vec<Asked>,
    /// What was asked of the store of artifacts.
    pub(crate) fetched: Vec<Asked>,
    pub(crate) comments: Vec<Value>,
    pub(crate) checks: Vec<Value>,
    pub(crate) statuses: Vec<Value>,
    pub(crate) issues: Vec<Value>,
    pub(crate) labels: Vec<String>,
    pub(crate) pulls: Vec<Value>,
    pub(crate) runs: BTreeMap<u64, Value>,
    pub(crate) artifacts: Vec<(Value, Vec<u8>)>,
    /// Files by path and commit; the default branch is the empty commit.
    pub(crate) files: BTreeMap<(String, String), String>,
    /// Once each, in order, for the first request whose method and path begin and end like this.
    pub(crate) faults: VecDeque<(&'static str, &'static str, Fault)>,
    /// Parts of paths that may not be written.
    pub(crate) denied: Vec<&'static str>,
    /// Who the token belongs to; a user where it is a person's.
    pub(crate) login: String,
    next_id: u64,
}

/// The running server.
pub(crate) struct Hub {
    pub(crate) url: String,
    store: String,
    state: Arc<Mutex<State>>,
}

pub(crate) const REPOSITORY: &str = "octo/speed";

impl Hub {
    pub(crate) fn new() -> Self {
        let state = Arc::new(Mutex::new(State {
            login: "github-actions[bot]".into(),
            next_id: 1000,
            ..State::default()
        }));
        let listen = |serve: fn(&TcpStream, &Mutex<State>, &str, &str)| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            (listener, url, serve)
        };
        let (api, url, serve_api) = listen(serve);
        let (blobs, store, serve_blobs) = listen(serve_blob);
        for (listener, serve) in [(api, serve_api), (blobs, serve_blobs)] {
            let (state, url, store) = (Arc::clone(&state), url.clone(), store.clone());
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let (state, url, store) = (Arc::clone(&state), url.clone(), store.clone());
                    thread::spawn(move || serve(&stream, &state, &url, &store));
                }
            });
        }
        Hub { url, store, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn fault(&self, method: &'static str, path: &'static str, fault: Fault) {
        self.state().faults.push_back((method, path, fault));
    }

    /// Adds an artifact to a run.
    pub(crate) fn artifact(&self, run: u64, name: &str, bytes: Vec<u8>) {
        let mut state = self.state();
        let id = state.artifacts.len() as u64 + 1;
        let sha = state.runs[&run]["head_sha"].clone();
        let digest: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let facts = json!({
            "id": id, "name": name, "size_in_bytes": bytes.len(), "expired": false,
            "digest": format!("sha256:{digest}"), "workflow_run": {"id": run, "head_sha": sha},
        });
        state.artifacts.push((facts, bytes));
    }

    pub(crate) fn count(&self, method: &str, path: &str) -> usize {
        let fits = |asked: &&Asked| asked.method == method && asked.path.contains(path);
        self.state().asked.iter().filter(fits).count()
    }

    /// Where artifacts are redirected to.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }
}

/// Whatever a test is about, the program asks nothing that contract.rs does not hold against GitHub's description.
impl Drop for Hub {
    fn drop(&mut self) {
        if !thread::panicking() {
            for asked in &self.state().asked {
                assert!(contract::route(asked).is_some(), "not in contract.rs: {asked:?}");
            }
        }
    }
}

/// One answer.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn answer(status: u16, body: &Value) -> Answer {
    Answer { status, headers: Vec::new(), body: body.to_string().into_bytes() }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut length, mut authorization, mut headers) = (0, None, Vec::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            "accept" | "content-type" => headers.push((name.to_owned(), value.to_owned())),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Asked { method, path, authorization, headers, body })
}

fn write(mut stream: &TcpStream, answer: &Answer, cut: usize) {
    let mut head = format!(
        "HTTP/1.1 {} x\r\nConnection: close\r\nContent-Length: {}\r\n",
        answer.status,
        answer.body.len()
    );
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // The other side may have gone away.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(b"\r\n");
    let _ = stream.write_all(&answer.body[..answer.body.len() - cut.min(answer.body.len())]);
}

fn serve(stream: &TcpStream, state: &Mutex<State>, url: &str, store: &str) {
    let Some(asked) = read(stream) else { return };
    let mut state = state.lock().unwrap();
    state.asked.push(asked.clone());
    let route = asked.path.split('?').next().unwrap_or_default().to_owned();
    let at = state
        .faults
        .iter()
        .position(|(method, path, _)| *method == asked.method && route.ends_with(path));
    let fault = at.and_then(|at| state.faults.remove(at)).map(|(.., fault)| fault);
    match fault {
        Some(Fault::Status(status, header, body)) => {
            let headers = header.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned()));
            write(
                stream,
                &Answer { status, headers: headers.into_iter().collect(), body: body.into() },
                0,
            );
        }
        Some(Fault::DropBefore) => {}
        Some(Fault::Silence) => {
            drop(state);
            // Ends when the other side gives up.
            let _ = { stream }.read(&mut [0; 1]);
        }
        Some(Fault::DropAfter) => _ = state.carry_out(&asked, url, store),
        Some(Fault::BadGatewayAfter) => {
            state.carry_out(&asked, url, store);
            let body = b"<html><body><h1>502 Bad Gateway</h1></body></html>".to_vec();
            write(stream, &Answer { status: 502, headers: Vec::new(), body }, 0);
        }
        Some(Fault::Truncated) => write(stream, &state.carry_out(&asked, url, store), 10),
        None => write(stream, &state.carry_out(&asked, url, store), 0),
    }
}

fn serve_blob(stream: &TcpStream, state: &Mutex<State>, _: &str, _: &str) {
    let Some(asked) = read(stream) else { return };
    let mut state = state.lock().unwrap();
    let id = asked.path.trim_start_matches("/blob/").to_owned();
    state.fetched.push(asked);
    let bytes = state
        .artifacts
        .iter()
        .find(|(facts, _)| facts["id"].as_u64() == id.parse().ok())
        .map(|(_, bytes)| bytes.clone());
    let (status, body) = bytes.map_or((404, Vec::new()), |bytes| (200, bytes));
    write(stream, &Answer { status, headers: Vec::new(), body }, 0);
}

impl State {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn carry_out(&mut self, asked: &Asked, url: &str, store: &str) -> Answer {
        let missing = || answer(404, &json!({"message": "Not Found"}));
        if !asked.authorization.as_ref().is_some_and(|value| value.starts_with("Bearer ")) {
            return answer(401, &json!({"message": "Requires authentication"}));
        }
        let (route, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        if route == "/user" {
            return match self.login.ends_with("[bot]") {
                true => answer(403, &json!({"message": "Resource not accessible by integration"})),
                false => answer(200, &json!({"login": self.login})),
            };
        }
        let Some(route) = route.strip_prefix(&format!("/repos/{REPOSITORY}/")) else {
            return missing();
        };
        let parts: Vec<&str> = route.split('/').collect();
        if asked.method != "GET" && self.denied.iter().any(|denied| route.contains(denied)) {
            return answer(
                403,
                &json!({
                    "message": "Resource not accessible by integration",
                    "documentation_url": "https://docs.github.com/rest/checks/runs#create-a-check-run",
                }),
            );
        }
        let value = |name: &str| -> String {
            let found =
                query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            decoded(found.unwrap_or_default())
        };
        let all = |items: Vec<Value>, key: Option<&str>| page(&items, key, &asked.path, url);
        let invalid = |why: &str| {
            answer(422, &json!({"message": "Validation Failed", "errors": [{"message": why}]}))
        };
        let body = &asked.body;
        let long = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        match (asked.method.as_str(), parts.as_slice()) {
            ("GET", ["actions", "runs", id]) => {
                let run = id.parse().ok().and_then(|id: u64| self.runs.get(&id));
                run.map_or_else(missing, |run| answer(200, run))
            }
            ("GET", ["actions", "runs", id, "artifacts"]) => {
                let of = |(facts, _): &&(Value, Vec<u8>)| {
                    facts["listed"].as_u64().or(facts["workflow_run"]["id"].as_u64())
                        == id.parse().ok()
                };
                all(
                    self.artifacts.iter().filter(of).map(|(facts, _)| facts.clone()).collect(),
                    Some("artifacts"),
                )
            }
            ("GET", ["actions", "artifacts", id, "zip"]) => Answer {
                status: 302,
                headers: vec![("Location".into(), format!("{store}/blob/{id}"))],
                body: Vec::new(),
            },
            ("GET", ["pulls"]) => {
                let head = value("head");
                let fits = |pull: &&Value| {
                    let owner = pull["head"]["repo"]["owner"]["login"].as_str().unwrap_or_default();
                    head == format!("{owner}:{}", pull["head"]["ref"].as_str().unwrap())
                };
                all(self.pulls.iter().filter(fits).cloned().collect(), None)
            }
            ("GET", ["commits", sha, "pulls"]) => {
                let fits = |pull: &&Value| pull["head"]["sha"] == **sha;
                all(self.pulls.iter().filter(fits).cloned().collect(), None)
            }
            ("GET", ["commits", sha, "check-runs"]) => {
                let fits = |check: &&Value| {
                    check["head_sha"] == **sha && check["name"] == value("check_name")
                };
                all(self.checks.iter().filter(fits).cloned().collect(), Some("check_runs"))
            }
            ("GET", ["commits", sha, "statuses"]) => {
                let fits = |status: &&Value| status["sha"] == **sha;
                all(self.statuses.iter().rev().filter(fits).cloned().collect(), None)
            }
            ("POST", ["check-runs"]) => {
                let output = &body["output"];
                let notes = output["annotations"].as_array().map_or(0, Vec::len);
                if long(&output["summary"]) > 65_535 || notes > 50 || body["conclusion"].is_null() {
                    return invalid("output is too long");
                }
                let mut check = body.clone();
                check["id"] = self.id().into();
                check["app"] = json!({"slug": self.login.trim_end_matches("[bot]")});
                check["output"]["annotations_count"] = notes.into();
                self.checks.push(check.clone());
                answer(201, &check)
            }
            ("PATCH", ["check-runs", id]) => {
                update(&mut self.checks, id, body).map_or_else(missing, |check| answer(200, &check))
            }
            ("POST", ["statuses", sha]) => {
                let known = ["error", "failure", "pending", "success"];
                if !known.contains(&body["state"].as_str().unwrap())
                    || long(&body["description"]) > 140
                {
                    return invalid("state or description");
                }
                let mut status = body.clone();
                status["sha"] = (*sha).into();
                self.statuses.push(status.clone());
                answer(201, &status)
            }
            ("GET", ["issues", pull, "comments"]) => {
                let fits = |comment: &&Value| comment["pull"] == **pull;
                all(self.comments.iter().filter(fits).cloned().collect(), None)
            }
            ("POST", ["issues", pull, "comments"]) => {
                if long(&body["body"]) > 65_536 {
                    return invalid("body is too long (maximum is 65536 characters)");
                }
                let login = self.login.clone();
                let comment = json!({"id": self.id(), "pull": pull, "body": body["body"], "user": {"login": login}});
                self.comments.push(comment.clone());
                answer(201, &comment)
            }
            ("PATCH", ["issues", "comments", id]) => {
                if long(&body["body"]) > 65_536 {
                    return invalid("body is too long (maximum is 65536 characters)");
                }
                update(&mut self.comments, id, body)
                    .map_or_else(missing, |comment| answer(200, &comment))
            }
            ("DELETE", ["issues", "comments", id]) => {
                let before = self.comments.len();
                self.comments.retain(|comment| comment["id"].as_u64() != id.parse().ok());
                if self.comments.len() == before {
                    missing()
                } else {
                    Answer { status: 204, headers: Vec::new(), body: Vec::new() }
                }
            }
            ("GET", ["contents", path @ ..]) => {
                let key = (decoded(&path.join("/")), value("ref"));
                match self.files.get(&key) {
                    Some(text) => {
                        Answer { status: 200, headers: Vec::new(), body: text.clone().into_bytes() }
                    }
                    None => missing(),
                }
            }
            ("GET", ["labels", name]) => match self.labels.iter().any(|label| label == name) {
                true => answer(200, &json!({"name": name})),
                false => missing(),
            },
            ("POST", ["labels"]) => {
                self.labels.push(body["name"].as_str().unwrap().into());
                answer(201, body)
            }
            ("GET", ["issues"]) => {
                let label = value("labels");
                let fits = |issue: &&Value| {
                    issue["labels"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|known| known["name"] == label.as_str())
                };
                all(self.issues.iter().filter(fits).cloned().collect(), None)
            }
            ("POST", ["issues"]) => {
                if long(&body["body"]) > 65_536 || long(&body["title"]) > 256 {
                    return invalid("body is too long (maximum is 65536 characters)");
                }
                let labels: Vec<Value> = body["labels"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|name| json!({"name": name}))
                    .collect();
                let number = self.id();
                let issue = json!({
                    "id": number, "number": number, "state": "open", "title": body["title"], "body": body["body"],
                    "labels": labels, "user": {"login": self.login},
                });
                self.issues.push(issue.clone());
                answer(201, &issue)
            }
            ("PATCH", ["issues", id]) => {
                update(&mut self.issues, id, body).map_or_else(missing, |issue| answer(200, &issue))
            }
            // GitHub knows no POST for what is changed by PATCH.
            _ => answer(404, &json!({"message": format!("{} {route}", asked.method)})),
        }
    }
}

fn update(all: &mut [Value], id: &str, body: &Value) -> Option<Value> {
    let found = all.iter_mut().find(|item| item["id"].as_u64() == id.parse().ok())?;
    for (key, value) in body.as_object()? {
        match value.as_object() {
            Some(inner) => inner.iter().for_each(|(name, value)| found[key][name] = value.clone()),
            None => found[key] = value.clone(),
        }
    }
    Some(found.clone())
}

/// Two at a time, whatever was asked for.
fn page(items: &[Value], key: Option<&str>, path: &str, url: &str) -> Answer {
    const SIZE: usize = 2;
    let (base, number) = match path.split_once("&page=") {
        Some((base, number)) => (base, number.parse().unwrap()),
        None => (path, 1),
    };
    let shown: Vec<Value> = items.iter().skip(SIZE * (number - 1)).take(SIZE).cloned().collect();
    let mut answer = answer(
        200,
        &key.map_or_else(|| json!(shown), |key| json!({"total_count": items.len(), key: shown})),
    );
    if SIZE * number < items.len() {
        let link = format!(
            "<{url}{base}&page={}>; rel=\"next\", <{url}{base}&page=9>; rel=\"last\"",
            number + 1
        );
        answer.headers.push(("Link".into(), link));
    }
    answer
}

fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
            out.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}
