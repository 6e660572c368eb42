//! History in object storage: the program beside a server on this machine that speaks S3.
//!
//! The server is moto, which `scripts/test` installs beside the build; without it the tests say so and check nothing. It comes
//! as a package of Python because the tools do: a server in Rust would be built by everyone who runs a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::desk::{Desk, Said};
use crate::history::plain;
use crate::workflows::tool;

/// What signs a request of ours. moto reads the name and believes it.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=somebody/20260101/us-east-1/s3/aws4_request, \
                      SignedHeaders=host, Signature=0";

/// What no output may hold.
const SECRET: &str = "hush-hush";

/// How long the server may take to start, and to answer once: more than it takes on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Storage with an empty bucket `history`, for as long as it is held.
struct Storage {
    server: Child,
    address: String,
}

impl Storage {
    fn start(arguments: &[&str]) -> Option<Self> {
        // An environment of before this server was among the tools has no moto.
        tool("venv/bin/moto_server")?;
        let mut server = Command::new(tool("venv/bin/python")?)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/objects/server.py"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = server.stdout.take().unwrap();
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(said).read_line(&mut line);
            let _ = tell.send(line);
        });
        let line = told.recv_timeout(PATIENCE).unwrap();
        let address = line.trim().strip_prefix("http://").expect("an address").to_owned();
        Some(Storage { server, address })
    }

    /// Status and body of a request that is made without pacegate.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} /history{path} HTTP/1.0\r\nHost: {}\r\nAuthorization: {SIGNED}\r\n{headers}Content-Length: {length}\r\n\r\n",
            self.address
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        let status = String::from_utf8_lossy(&answer[..end]);
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_off(end))
    }

    fn names(&self) -> Vec<String> {
        let (status, page) = self.ask("GET", "?list-type=2", "", b"");
        assert_eq!(status, 200);
        let page = String::from_utf8(page).unwrap();
        let keys = page.split("<Key>").skip(1);
        keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        leading_to(&self.address)
    }

    /// Runs `pacegate history` with this storage.
    #[track_caller]
    fn check(&self, desk: &Desk, arguments: &[&str], code: i32, says: &[&str]) -> Said {
        check(desk, arguments, &self.environment(), code, says)
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn leading_to(address: &str) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ALLOW_HTTP", "true".into()),
        ("AWS_ACCESS_KEY_ID", "somebody".into()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
    ]
}

#[track_caller]
fn check(
    desk: &Desk,
    arguments: &[&str],
    environment: &[(&str, String)],
    code: i32,
    says: &[&str],
) -> Said {
    let said = desk.run_with(&[&["history"], arguments].concat(), environment);
    let all = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(said.code, code, "{arguments:?}\n{all}");
    for text in says {
        assert!(all.contains(text), "{arguments:?} should say `{text}`\n{all}");
    }
    assert!(!all.contains(SECRET), "{all}");
    said
}

/// Evidence of a run of one benchmark.
fn run(desk: &Desk, name: &str, commit: &str, score: f64) {
    plain(desk, name, commit, score as i64, &[("a", score)], "one");
}

#[test]
fn a_run_is_kept_once_and_a_damaged_one_is_named_and_made_good() {
    let Some(storage) = Storage::start(&[]) else { return };
    let desk = Desk::new();
    let at = |arguments: &[&'static str]| [arguments, &["--store", "s3://history/of/it"]].concat();
    storage.check(&desk, &at(&["show"]), 3, &["s3://history/of/it: it holds no run"]);

    run(&desk, "one", "c1", 100.0);
    let said = storage.check(&desk, &at(&["add", "one"]), 0, &["kept runs/"]);
    let path = said.stdout.lines().next().unwrap().strip_prefix("kept ").unwrap().to_owned();
    storage.check(&desk, &at(&["add", "one"]), 0, &[&format!("{path} was there already")]);
    assert_eq!(storage.names(), [format!("of/it/{path}")]);

    // The same commit with other numbers, and one whose name is no name of a file.
    run(&desk, "again", "c1", 101.0);
    storage.check(&desk, &at(&["add", "again"]), 0, &["/c1/all.2.jsonl.zst"]);
    run(&desk, "odd", "feature/ü &+%.", 102.0);
    storage.check(&desk, &at(&["add", "odd"]), 0, &["kept runs/"]);
    storage.check(&desk, &at(&["add", "odd"]), 0, &["was there already"]);
    storage.check(&desk, &at(&["show"]), 0, &["1 series over 2 commits"]);
    // What lies beside it is not its.
    storage.check(&desk, &["show", "--store", "s3://history/of/i"], 3, &["holds no run"]);
    storage.check(&desk, &["show", "--store", "s3://history"], 3, &["holds no run"]);

    let object = format!("/of/it/{path}");
    let (_, whole) = storage.ask("GET", &object, "", b"");
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        assert_eq!(storage.ask("PUT", &object, "", &whole[..cut]).0, 200);
        let says = [&*format!("{path} cannot be read"), "1 series over 2 commits"];
        storage.check(&desk, &at(&["show"]), 0, &says);
    }
    storage.check(&desk, &at(&["add", "one"]), 0, &[&format!("kept {path}")]);
    assert_eq!(storage.ask("GET", &object, "", b"").1, whole);

    storage.check(&desk, &at(&["prune", "--keep", "1"]), 0, &["removed 2 runs"]);
    assert_eq!(storage.names().len(), 1);
}

#[test]
fn eight_writers_lose_nothing_and_keep_nothing_twice() {
    let Some(storage) = Storage::start(&[]) else { return };
    let desk = Desk::new();
    let all_at_once = |files: &[String], store: &str| {
        thread::scope(|scope| {
            for file in files {
                let (desk, storage) = (&desk, &storage);
                let arguments = ["add", &**file, "--store", store];
                scope.spawn(move || storage.check(desk, &arguments, 0, &["all."]));
            }
        });
    };
    let files: Vec<String> = (0..8).map(|number| format!("e{number}")).collect();
    for (number, file) in files.iter().enumerate() {
        run(&desk, file, "same", 100.0 + number as f64);
    }
    all_at_once(&files, "s3://history/eight");
    let names = storage.names();
    let attempts: Vec<String> = (1..=8).map(|number| format!("all.{number}.jsonl.zst")).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert!(names.iter().zip(&attempts).all(|(name, end)| name.ends_with(&**end)), "{names:?}");
    for file in &files {
        let arguments = ["add", file, "--store", "s3://history/eight"];
        storage.check(&desk, &arguments, 0, &["was there already"]);
    }

    all_at_once(&vec!["e0".into(); 8], "s3://history/one");
    assert_eq!(storage.names().len(), 8 + 1);
}

#[test]
fn storage_that_writes_over_is_found_out() {
    let condition = "If-None-Match: *\r\n";
    let desk = Desk::new();
    run(&desk, "one", "c1", 100.0);
    let add = ["add", "one", "--store", "s3://history"];

    let Some(storage) = Storage::start(&[]) else { return };
    assert_eq!(storage.ask("PUT", "/x", condition, b"first").0, 200);
    assert_eq!(storage.ask("PUT", "/x", condition, b"second").0, 412);
    assert_eq!(storage.ask("GET", "/x", "", b"").1, b"first");
    assert_eq!(storage.ask("DELETE", "/x", "", b"").0, 204);
    storage.check(&desk, &add, 0, &["kept"]);

    let Some(forgetful) = Storage::start(&["--forgetful"]) else { return };
    assert_eq!(forgetful.ask("PUT", "/x", condition, b"first").0, 200);
    assert_eq!(forgetful.ask("PUT", "/x", condition, b"second").0, 200);
    assert_eq!(forgetful.ask("DELETE", "/x", "", b"").0, 204);
    let says = ["s3://history", "writes over", "If-None-Match"];
    forgetful.check(&desk, &add, 1, &says);
    run(&desk, "other", "c2", 100.0);
    forgetful.check(&desk, &["add", "other", "--store", "s3://history"], 1, &says);
}

#[test]
fn what_is_wrong_is_told_without_secrets() {
    let desk = Desk::new();
    run(&desk, "one", "c1", 100.0);
    let says = ["credentials come from the environment"];
    for name in [
        "s3://somebody:hush-hush@history/x",
        "s3://history/x?key=hush-hush",
        "s3://h/x#hush-hush",
        "s3:///x",
    ] {
        check(&desk, &["show", "--store", name], &[], 2, &says);
    }
    check(
        &desk,
        &["show", "--store", "az://history/x"],
        &[],
        2,
        &["az://history/x", "docs/history.md"],
    );

    // Nobody listens at this port any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = leading_to(&gone.to_string());
    let show = ["show", "--store", "s3://history/x"];
    check(&desk, &show, &nowhere, 1, &["s3://history/x: ", "refused", "try again"]);

    let Some(storage) = Storage::start(&[]) else { return };
    let elsewhere = ["add", "one", "--store", "s3://elsewhere/x"];
    storage.check(&desk, &elsewhere, 1, &["s3://elsewhere/x: ", "NoSuchBucket", "such a bucket"]);
}
