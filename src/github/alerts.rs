//! What got slower on the default branch, one issue an alert: found again by a marker on its first line, by its label, and
//! by who wrote it, since anybody can write the marker.
//!
//! ```text
//! <!-- pacegate:alert:v1 key=0f3a.. -->          digits only: nothing can end the comment early
//! <!-- pacegate:alert:v1 key=0f3a.. over -->     closed from here
//!
//! alert       no issue     open issue                closed by hand    closed from here
//! open        opened       brought up to date        left alone        opened: another issue
//! suspect     nothing      brought up to date        left alone        nothing
//! over        nothing      told why, and closed      left alone        nothing
//! none                     told why, and closed      left alone
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::{Change, Client, Failure, plain_client, safe};
use super::comment::{Comment, User};
use super::names::encode;
use super::publish::JOB_LOGIN;
use crate::error::{Error, Result};
use crate::report::{AlertPage, NO_ALERT, Stage, chat_line};
use crate::store::hex;

/// The label of every issue.
pub const ALERT_LABEL: &str = "pacegate-alert";

/// What became of the issues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alerted {
    /// What was opened or closed, in words: news for people.
    pub news: Vec<String>,
    /// How many issues were brought up to date.
    pub updated: usize,
    /// What could not be done, and why.
    pub undone: Vec<String>,
}

#[derive(Deserialize)]
struct Listed {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
    state: String,
    user: Option<User>,
    /// GitHub lists pull requests among the issues.
    #[serde(default)]
    pull_request: Option<Value>,
}

/// An issue of ours that still counts.
struct Issue {
    number: u64,
    title: String,
    body: String,
    key: String,
    is_open: bool,
}

/// Opens, updates and closes issues, so that they say what the pages say; equal pages write nothing. `author` is who the
/// issues are by, where the token does not tell: an App's.
///
/// # Errors
///
/// When the issues can't be looked up: then nothing is written.
pub fn alerts(client: &Client, pages: &[AlertPage], author: Option<&str>) -> Result<Alerted> {
    let login =
        author.map(str::to_owned).or_else(|| client.login()).unwrap_or_else(|| JOB_LOGIN.into());
    let mut known = ours(client, &login)
        .map_err(|failure| Error::judge(denied("no issue was looked up", &failure)))?;
    let mut alerted = Alerted::default();
    let keys: Vec<Vec<String>> =
        pages.iter().map(|page| page.names.iter().map(|name| key(name)).collect()).collect();
    // An issue that bears an alert's own name is no other's.
    let mut told: Vec<Option<Issue>> = pages.iter().map(|_| None).collect();
    for names in [1, usize::MAX] {
        for (told, keys) in told.iter_mut().zip(&keys).filter(|(told, _)| told.is_none()) {
            let keys: BTreeSet<&String> = keys.iter().take(names).collect();
            let at = known.iter().position(|issue| keys.contains(&issue.key));
            *told = at.map(|at| known.remove(at));
        }
    }
    for ((page, told), keys) in pages.iter().zip(told).zip(&keys) {
        let what = match &told {
            Some(issue) => format!("#{} on {}", issue.number, page.title),
            None => format!("the issue on {}", page.title),
        };
        let done = match (&page.stage, told) {
            (Stage::Open, None) => open(client, page, &keys[0], &login, &mut alerted),
            (_, None) => Ok(()),
            (_, Some(issue)) if !issue.is_open => Ok(()),
            (Stage::Open | Stage::Suspect, Some(issue)) => {
                update(client, page, &issue).map(|changed| alerted.updated += usize::from(changed))
            }
            (Stage::Over(why), Some(issue)) => close(client, &issue, why, &login, &mut alerted),
        };
        if let Err(failure) = done {
            alerted.undone.push(denied(&format!("{what} is not as it should be"), &failure));
        }
    }
    for issue in known.into_iter().filter(|issue| issue.is_open) {
        if let Err(failure) = close(client, &issue, NO_ALERT, &login, &mut alerted) {
            alerted.undone.push(denied(&format!("#{} was not closed", issue.number), &failure));
        }
    }
    Ok(alerted)
}

/// Sends news to a chat whose address is in the environment variable `name`. The address is a secret and is shown nowhere.
///
/// # Errors
///
/// When the address is not a safe one, or the chat does not take it.
pub fn tell_chat(name: &str, address: &str, news: &[String]) -> Result<()> {
    const TIME: Duration = Duration::from_secs(30);
    let url = safe(address)
        .map_err(|_| Error::usage(format!("{name}: it is no address that begins with https://")))?;
    let text: Vec<String> = news.iter().map(|line| chat_line(line)).collect();
    let plain = plain_client(Duration::from_secs(10), TIME)?;
    let message = plain
        .post(url)
        .header("content-type", "application/json")
        .body(json!({"text": text.join("\n")}).to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let failed = |why: &str| Error::judge(format!("the chat of {name} was not told: {why}"));
    let answer = runtime
        .block_on(async { tokio::time::timeout(TIME, message.send()).await })
        .map_err(|_| failed("no answer"))?
        .map_err(|error| failed(if error.is_connect() { "no connection" } else { "no answer" }))?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(failed(&format!("status {}", status.as_u16()))) }
}

/// Our issues but those that were closed from here; open ones first, then the oldest.
fn ours(client: &Client, login: &str) -> Result<Vec<Issue>, Failure> {
    let all: Vec<Listed> =
        client.list(&format!("issues?state=all&labels={}", encode(ALERT_LABEL)), None)?;
    let ours = all.into_iter().filter_map(|listed| {
        let body = unix_lines(&listed.body?);
        let (key, is_over) = marked(&body)?;
        let is_open = listed.state == "open";
        let is_ours =
            listed.user?.is(login) && listed.pull_request.is_none() && (is_open || !is_over);
        let key = key.to_owned();
        let (number, title) = (listed.number, listed.title);
        is_ours.then_some(Issue { number, title, body, key, is_open })
    });
    let mut ours: Vec<Issue> = ours.collect();
    ours.sort_by_key(|issue| (!issue.is_open, issue.number));
    Ok(ours)
}

fn open(
    client: &Client,
    page: &AlertPage,
    key: &str,
    login: &str,
    alerted: &mut Alerted,
) -> Result<(), Failure> {
    label(client)?;
    let body = format!("{}\n{}", marker(key), page.body);
    let issue = json!({"title": page.title, "body": body, "labels": [ALERT_LABEL]});
    let issue = client.create("issues", &issue, &|| {
        let there =
            ours(client, login)?.into_iter().find(|issue| issue.is_open && issue.key == key);
        Ok(there.map(|issue| json!({"number": issue.number, "user": {"login": login}})))
    })?;
    alerted.news.push(format!("opened #{}: {}", issue["number"], page.title));
    let by = issue["user"]["login"].as_str().unwrap_or(login);
    if !by.eq_ignore_ascii_case(login) {
        alerted.undone.push(format!(
            "#{} is by {by}, and the next run looks for issues by {login}; give `--author {by}`",
            issue["number"]
        ));
    }
    Ok(())
}

fn label(client: &Client) -> Result<(), Failure> {
    let there = || match client.get::<Value>(&format!("labels/{ALERT_LABEL}")) {
        Ok(label) => Ok(Some(label)),
        Err(failure) if failure.status == Some(404) => Ok(None),
        Err(failure) => Err(failure),
    };
    if there()?.is_none() {
        let label = json!({"name": ALERT_LABEL, "color": "d93f0b", "description": "A benchmark got slower"});
        client.create("labels", &label, &there)?;
    }
    Ok(())
}

/// Whether something had to be changed.
fn update(client: &Client, page: &AlertPage, issue: &Issue) -> Result<bool, Failure> {
    let body = format!("{}\n{}", marker(&issue.key), page.body);
    let same = |ours: &str, theirs: &str| ours.trim() == theirs.trim();
    if same(&page.title, &issue.title) && same(&body, &issue.body) {
        return Ok(false);
    }
    let change = json!({"title": page.title, "body": body});
    client.change(Change::Patch, &format!("issues/{}", issue.number), Some(&change))?;
    Ok(true)
}

fn close(
    client: &Client,
    issue: &Issue,
    why: &str,
    login: &str,
    alerted: &mut Alerted,
) -> Result<(), Failure> {
    let route = format!("issues/{}/comments", issue.number);
    // A run before may have come this far and no further.
    let told = || {
        let all: Vec<Comment> = client.list(&route, None)?;
        let is_told = all.into_iter().any(|comment| {
            comment.user.is_some_and(|user| user.is(login))
                && comment.body.is_some_and(|body| unix_lines(&body).trim() == why.trim())
        });
        Ok(is_told.then_some(Value::Null))
    };
    if told()?.is_none() {
        client.create(&route, &json!({"body": why}), &told)?;
    }
    let rest = issue.body.split_once('\n').map_or("", |(_, rest)| rest);
    let marker = format!("<!-- {PREFIX}{} over -->", issue.key);
    let change = json!({"state": "closed", "body": format!("{marker}\n{rest}")});
    client.change(Change::Patch, &format!("issues/{}", issue.number), Some(&change))?;
    alerted.news.push(format!("closed #{}: {}; {why}", issue.number, issue.title));
    Ok(())
}

const PREFIX: &str = "pacegate:alert:v1 key=";

fn marker(key: &str) -> String {
    format!("<!-- {PREFIX}{key} -->")
}

/// Key of an issue with our marker, and whether it was closed from here.
fn marked(body: &str) -> Option<(&str, bool)> {
    let line = body.lines().next()?.trim_end();
    let key = line.strip_prefix("<!-- ")?.strip_prefix(PREFIX)?.strip_suffix(" -->")?;
    let (key, is_over) = key.strip_suffix(" over").map_or((key, false), |key| (key, true));
    key.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some((key, is_over))
}

fn key(name: &str) -> String {
    hex(&Sha256::digest(name)[..8])
}

/// GitHub gives back other line ends than it was sent where somebody edited a text in a browser.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn denied(what: &str, failure: &Failure) -> String {
    if !failure.is_denied() {
        return format!("{what}: {failure}");
    }
    format!("{what}: {failure}; add `issues: write` to the permissions of the job")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read_to_the_letter() {
        let check = |body: &str, expected: Option<(&str, bool)>| {
            assert_eq!(marked(body), expected, "{body}");
        };
        check(&marker("0f"), Some(("0f", false)));
        check("<!-- pacegate:alert:v1 key=0f over -->\r\ntext", Some(("0f", true)));
        check("text\n<!-- pacegate:alert:v1 key=0f -->", None);
        check("<!-- pacegate:alert:v1 key=xyz -->", None);
        check("<!-- pacegate:alert:v2 key=0f -->", None);
        check("", None);
    }
}
