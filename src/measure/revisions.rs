//! Where commits stand on the branch.

use std::path::Path;

use super::build::git;
use super::{Error, ErrorKind};

/// Where a commit stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Number of commits up to it along first parents; unknown in a shallow clone, which has forgotten some.
    pub position: Option<u64>,
    /// When it was committed, seconds since 1970.
    pub committed_s: Option<i64>,
}

/// Where a commit stands; nothing is known of one that the repository around `directory` does not have.
pub fn standing(directory: &Path, commit: &str) -> Standing {
    let spec = format!("{commit}^{{commit}}");
    let Ok(commit) =
        git(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])
    else {
        return Standing::default();
    };
    let shallow = git(directory, &["rev-parse", "--is-shallow-repository"]);
    let whole = shallow.is_ok_and(|shallow| shallow == "false");
    let count = || git(directory, &["rev-list", "--count", "--first-parent", &commit]).ok();
    let committed = git(directory, &["show", "--no-patch", "--format=%ct", &commit]);
    Standing {
        position: whole.then(count).flatten().and_then(|count| count.parse().ok()),
        committed_s: committed.ok().and_then(|seconds| seconds.parse().ok()),
    }
}

/// A commit and the first line of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Full id.
    pub sha: String,
    /// First line of its message.
    pub subject: String,
}

/// The commits from `good` to `bad` along first parents, both included, oldest first.
///
/// # Errors
/// If one of them can't be found, or `good` does not lie on the way.
pub fn between(directory: &Path, good: &str, bad: &str) -> Result<Vec<Named>, Error> {
    let find = |name: &str| {
        let spec = format!("{name}^{{commit}}");
        git(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &spec]).map_err(
            |_| {
                let message =
                    format!("revision {name} can't be found; name a commit, tag or branch");
                Error::new(ErrorKind::Revision, message)
            },
        )
    };
    let (good, bad) = (find(good)?, find(bad)?);
    let failed = |error| Error::new(ErrorKind::Revision, format!("git failed: {error}"));
    if git(directory, &["merge-base", "--is-ancestor", &good, &bad]).is_err() || good == bad {
        return Err(Error::new(
            ErrorKind::Revision,
            "the good revision is no ancestor of the bad one; name the older one first",
        ));
    }
    let range = format!("{good}..{bad}");
    let list = ["log", "--first-parent", "--reverse", "--format=%H%x09%s", &range];
    let first =
        git(directory, &["show", "--no-patch", "--format=%H%x09%s", &good]).map_err(failed)?;
    let rest = git(directory, &list).map_err(failed)?;
    let named = |line: &str| {
        let (sha, subject) = line.split_once('\t')?;
        Some(Named { sha: sha.to_owned(), subject: subject.to_owned() })
    };
    Ok(first.lines().chain(rest.lines()).filter_map(named).collect())
}
