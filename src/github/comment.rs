//! The one comment on a pull request, found again by a marker on its first line, and by who wrote it: anybody can write
//! the marker.
//!
//! ```text
//! <!-- pacegate:v1 key=0f3a.. sha=3f2c.. run=42 attempt=1 -->      digits only: nothing can end the comment early
//! ```

use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::client::{Change, Client, Failure};
use super::names::{FilePath, Title};
use super::run::Run;
use crate::store::hex;

/// When a comment is written; one that is there is always brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comments {
    /// After every run.
    Always,
    /// When some benchmark changed or something needs doing.
    OnChange,
    /// When the check fails.
    OnFail,
}

/// What became of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commented {
    /// It is new.
    Created,
    /// The one that was there says it now.
    Updated,
    /// A later run has spoken.
    Stale,
    /// Nobody wanted one.
    Quiet,
}

/// A comment on an issue or a pull request.
#[derive(Deserialize)]
pub(super) struct Comment {
    id: u64,
    #[serde(default)]
    pub(super) body: Option<String>,
    pub(super) user: Option<User>,
}

/// Who wrote something.
#[derive(Deserialize)]
pub(super) struct User {
    login: String,
}

impl User {
    /// Whether it is the one of that name; GitHub does not mind capitals.
    pub(super) fn is(&self, login: &str) -> bool {
        self.login.eq_ignore_ascii_case(login)
    }
}

/// Tells the comments of one workflow and check name from those of others.
pub(super) fn key(workflow: &FilePath, name: &Title) -> String {
    let digest = Sha256::digest(format!("{workflow}\0{name}"));
    hex(&digest[..8])
}

/// Writes or updates the comment; `wanted` is whether a new one is.
pub(super) fn upsert(
    client: &Client,
    pull: u64,
    run: &Run,
    (key, login): (&str, &str),
    text: &str,
    wanted: bool,
) -> Result<Commented, Failure> {
    let ours = || -> Result<Vec<(u64, u64, u64)>, Failure> {
        let all: Vec<Comment> = client.list(&format!("issues/{pull}/comments"), None)?;
        let ours = all.iter().filter_map(|comment| {
            let author = comment.user.as_ref()?;
            let (run, attempt) = marked(comment.body.as_ref()?, key)?;
            author.is(login).then_some((run, attempt, comment.id))
        });
        let mut ours: Vec<_> = ours.collect();
        ours.sort_unstable();
        Ok(ours)
    };
    let marker = format!(
        "<!-- pacegate:v1 key={key} sha={} run={} attempt={} -->",
        run.sha, run.id, run.attempt
    );
    let body = json!({"body": format!("{marker}\n{text}")});
    let mut known = ours()?;
    let done = match known.last() {
        Some(&(id, attempt, _)) if run.age() < (id, attempt) => return Ok(Commented::Stale),
        Some(&(_, _, comment)) => {
            client.change(Change::Patch, &format!("issues/comments/{comment}"), Some(&body))?;
            Commented::Updated
        }
        None if !wanted => return Ok(Commented::Quiet),
        None => {
            client.create(&format!("issues/{pull}/comments"), &body, &|| {
                let there =
                    ours()?.into_iter().find(|(id, attempt, _)| (*id, *attempt) == run.age());
                Ok(there.map(|(_, _, comment)| json!({"id": comment})))
            })?;
            // Somebody else may have looked and written at the same time.
            known = ours()?;
            Commented::Created
        }
    };
    known.pop();
    for (_, _, comment) in known {
        match client.change(Change::Delete, &format!("issues/comments/{comment}"), None) {
            Err(failure) if failure.status != Some(404) => return Err(failure),
            _ => {}
        }
    }
    Ok(done)
}

/// Run and attempt of a comment with our marker.
fn marked(body: &str, key: &str) -> Option<(u64, u64)> {
    let marker =
        body.lines().next()?.trim_end().strip_prefix("<!-- pacegate:v1 ")?.strip_suffix(" -->")?;
    let field = |name: &str| {
        marker.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
    };
    if field("key") != Some(key) {
        return None;
    }
    Some((field("run")?.parse().ok()?, field("attempt")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read_to_the_letter() {
        let check = |body: &str, expected: Option<(u64, u64)>| {
            assert_eq!(marked(body, "0f"), expected, "{body}")
        };
        check("<!-- pacegate:v1 key=0f sha=a run=42 attempt=2 -->\r\ntext", Some((42, 2)));
        check("<!-- pacegate:v1 key=0e sha=a run=42 attempt=2 -->", None);
        check("text\n<!-- pacegate:v1 key=0f sha=a run=42 attempt=2 -->", None);
        check("<!-- pacegate:v1 key=0f run=x attempt=2 -->", None);
        check("<!-- pacegate:v2 key=0f run=1 attempt=2 -->", None);
        check("", None);
    }
}
