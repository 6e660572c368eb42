//! History on a branch of its own, written by plumbing: neither index, work tree nor refs of the user are touched.
//!
//! ```text
//!   ls-remote ── tip ── fetch (objects only) ── ls-tree, cat-file            read
//!                 │
//!                 └─ read-tree, update-index, write-tree   in an index of our own
//!                    commit-tree -p tip
//!                    push --force-with-lease=<branch>:<tip>                 fails where the tip has moved: look again
//! ```
//!
//! The remote is used by its URL rather than its name, so that no remote-tracking ref follows.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::history::{Change, Changed, Files, Listing};
use crate::error::{Context, Error, Result};
use crate::git;

/// Branch that is used where none is named.
const BRANCH: &str = "pacegate-data";

/// A branch of a repository.
#[derive(Debug)]
pub(super) struct Branch {
    /// Where git runs: a repository whose objects take a copy of the branch's.
    directory: PathBuf,
    /// URL of the remote.
    url: String,
    /// `refs/heads/..`.
    branch: String,
}

impl Branch {
    /// Takes `REMOTE` or `REMOTE#BRANCH` apart; a remote is a name or a URL.
    pub(super) fn open(place: &str, directory: &Path) -> Result<Self> {
        let (remote, branch) = match place.rsplit_once('#') {
            Some((remote, branch)) => (remote, branch),
            None => (place, BRANCH),
        };
        let remote = if remote.is_empty() { "origin" } else { remote };
        let mut store = Branch {
            directory: directory.to_owned(),
            url: remote.into(),
            branch: format!("refs/heads/{branch}"),
        };
        store.git(["rev-parse", "--git-dir"]).context(|| {
            "a branch as store needs a git repository to work in; run it in a checkout".into()
        })?;
        store.git(["check-ref-format", &store.branch]).map_err(|_| {
            Error::usage(format!("`{branch}` is no name of a branch; write `git:REMOTE#BRANCH`"))
        })?;
        if let Ok(url) = store.git(["remote", "get-url", "--push", "--", remote]) {
            store.url = url;
        } else if !remote.contains(['/', ':', '.']) {
            return Err(Error::usage(format!(
                "there is no remote `{remote}`; `git remote` lists those that there are"
            )));
        }
        if store.url.starts_with('-') {
            return Err(Error::usage(format!("`{}` is no remote; write a name or URL", store.url)));
        }
        Ok(store)
    }

    /// The commit that the branch is at, empty where there is no such branch.
    fn tip(&self) -> Result<String> {
        let said = self.git(["ls-remote", "--", &self.url, &self.branch])?;
        Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
    }

    fn command(&self) -> Command {
        let mut command = git::command(&self.directory);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "pacegate");
            command.env(format!("GIT_{role}_EMAIL"), "pacegate@localhost");
        }
        command
    }

    fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<String> {
        let mut command = self.command();
        command.args(arguments);
        said(&mut command, &[])
    }

    /// The tree that a change makes of the listing's.
    fn tree(&self, listing: &Listing, change: &Change) -> Result<String> {
        let index = tempfile::Builder::new().prefix("pacegate-index-").tempdir()?;
        let with_index = |arguments: &[&str], input: &[u8]| {
            let mut command = self.command();
            command.env("GIT_INDEX_FILE", index.path().join("index")).args(arguments);
            said(&mut command, input)
        };
        if !listing.state.is_empty() {
            with_index(&["read-tree", &listing.state], &[])?;
        }
        let lines: Vec<u8> = match change {
            Change::Create(files) => {
                let mut lines = Vec::new();
                for (path, bytes) in files {
                    let blob = with_index(&["hash-object", "-w", "--stdin"], bytes)?;
                    lines.extend(format!("100644 {blob}\t{path}\0").into_bytes());
                }
                lines
            }
            Change::Remove(paths) => {
                let nothing = "0".repeat(listing.state.len());
                paths
                    .iter()
                    .flat_map(|path| format!("0 {nothing}\t{path}\0").into_bytes())
                    .collect()
            }
        };
        with_index(&["update-index", "-z", "--add", "--index-info"], &lines)?;
        with_index(&["write-tree"], &[])
    }
}

impl Files for Branch {
    fn list(&self) -> Result<Listing> {
        let tip = self.tip().context(|| self.name())?;
        if tip.is_empty() {
            return Ok(Listing::default());
        }
        if self.git(["cat-file", "-e", &format!("{tip}^{{commit}}")]).is_err() {
            // The branch may have moved on since; what it was at is then among what it was built on.
            self.git([
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--",
                &self.url,
                &self.branch,
            ])
            .context(|| self.name())?;
        }
        let tree = self.git(["ls-tree", "-r", "-l", "-z", "--full-tree", &tip])?;
        let mut files = BTreeMap::new();
        for line in tree.split('\0').filter(|line| !line.is_empty()) {
            // `100644 blob <hash>    <size>\t<path>`
            let (facts, path) = line.split_once('\t').unwrap_or_default();
            let size = facts.split_whitespace().nth(3).and_then(|size| size.parse().ok());
            files.insert(path.to_owned(), size.unwrap_or(0));
        }
        Ok(Listing { state: tip, files })
    }

    fn read(&self, listing: &Listing, paths: &[String]) -> Result<Vec<Vec<u8>>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut child = self
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = child.stdin.take().expect("it was asked for");
        let asked: String =
            paths.iter().map(|path| format!("{}:{path}\n", listing.state)).collect();
        // Written by a thread of its own: git answers before it has heard everything.
        let writer = thread::spawn(move || input.write_all(asked.as_bytes()));
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut contents = Vec::with_capacity(paths.len());
        for path in paths {
            let mut line = String::new();
            output.read_line(&mut line)?;
            // `<hash> blob <size>`
            let size = line.split_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
            let Some(size) = size else {
                return Err(
                    Error::judge(format!("{path}: git says `{}`", line.trim())).within(self.name())
                );
            };
            let mut bytes = Vec::new();
            (&mut output).take(size).read_to_end(&mut bytes)?;
            output.read_exact(&mut [0])?;
            contents.push(bytes);
        }
        let _ = writer.join();
        child.wait()?;
        Ok(contents)
    }

    fn change(&self, listing: &Listing, change: &Change) -> Result<Changed> {
        let tree = self.tree(listing, change).context(|| self.name())?;
        let message = match change {
            Change::Create(files) if files.len() == 1 => format!("history: {}", files[0].0),
            Change::Create(files) => format!("history: {} runs", files.len()),
            Change::Remove(paths) => format!("history: without {} old runs", paths.len()),
        };
        let mut commit = vec!["commit-tree", &tree, "-m", &message];
        // What was removed goes for good: the branch begins anew, or it would be as large as before.
        if !listing.state.is_empty() && matches!(change, Change::Create(_)) {
            commit.extend(["-p", &listing.state]);
        }
        let commit = self.git(commit)?;
        let lease = format!("--force-with-lease={}:{}", self.branch, listing.state);
        let target = format!("{commit}:{}", self.branch);
        let pushed = self.git(["push", "--quiet", "--no-verify", &lease, "--", &self.url, &target]);
        let Err(error) = pushed else { return Ok(Changed::Yes) };
        let now = self.tip().context(|| self.name())?;
        if now == commit {
            // It went through and only the answer got lost.
            Ok(Changed::Yes)
        } else if now != listing.state || is_race(&error.to_string()) {
            Ok(Changed::Raced)
        } else {
            Err(error.within(self.name()))
        }
    }

    fn name(&self) -> String {
        // A URL may hold a password.
        let url = match self.url.split_once("://") {
            Some((scheme, rest)) => match rest.split_once('@') {
                Some((user, place)) if !user.contains('/') => format!("{scheme}://{place}"),
                _ => self.url.clone(),
            },
            None => self.url.clone(),
        };
        format!("git:{url}#{}", self.branch.trim_start_matches("refs/heads/"))
    }
}

/// Whether a push failed only because another one was under way, so that the tip had not moved yet when it was looked at.
fn is_race(message: &str) -> bool {
    [
        "stale info",
        "cannot lock ref",
        "failed to update ref",
        "incorrect old value",
        "unable to create",
    ]
    .iter()
    .any(|sign| message.to_lowercase().contains(sign))
}

/// What a command says, without its last line end; its words if it fails.
fn said(command: &mut Command, input: &[u8]) -> Result<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::judge(format!("git can't be started: {error}; install it")))?;
    // The commands that are given input read all of it before they say anything.
    let mut stdin = child.stdin.take().expect("it was asked for");
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(Error::judge(format!(
        "git failed: {}",
        if words.is_empty() { "it gave no reason".to_owned() } else { words.join("; ") }
    )))
}

#[cfg(test)]
mod tests {
    use super::super::history::{Added, Store};
    use super::*;
    use crate::history::{Commit, Entry, Head};
    use crate::model::Environment;

    /// A user's repository with a file that is staged, one that is changed, and a bare remote.
    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let place = Place { folder };
            place.git(&["init", "--quiet", "--bare", "remote.git"]);
            place.clone("user");
            place
        }

        fn clone(&self, name: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            self.git(&["clone", "--quiet", "remote.git", name]);
            std::fs::write(path.join("staged"), "x").unwrap();
            let user = |arguments: &[&str]| {
                self.git(
                    &[&["-C", name, "-c", "user.name=n", "-c", "user.email=e"], arguments].concat(),
                )
            };
            user(&["commit", "--quiet", "--allow-empty", "--message=first"]);
            user(&["add", "staged"]);
            path
        }

        fn git(&self, arguments: &[&str]) -> String {
            let output = Command::new("git")
                .current_dir(self.folder.path())
                .args(arguments)
                .output()
                .unwrap();
            assert!(output.status.success(), "git {arguments:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        }

        /// Index, refs and work tree of a clone.
        fn state(&self, name: &str) -> (Vec<u8>, String, String) {
            let index = std::fs::read(self.folder.path().join(name).join(".git/index")).unwrap();
            let refs = self.git(&["-C", name, "for-each-ref"]);
            let status = self.git(&["-C", name, "--no-optional-locks", "status", "--porcelain"]);
            (index, refs, status)
        }

        fn files(&self) -> Vec<String> {
            let branch = format!("refs/heads/{BRANCH}");
            let tree = self.git(&["-C", "remote.git", "ls-tree", "-r", "--name-only", &branch]);
            tree.lines().map(str::to_owned).collect()
        }
    }

    fn entry(commit: &str) -> Entry {
        Entry {
            head: Head {
                pacegate: String::new(),
                commit: Commit { id: commit.into(), position: None, committed_s: None },
                shard: "all".into(),
                attempt: 1,
                measured_s: Some(1),
                session: Some(commit.into()),
                environment: Environment::default(),
                baseline: None,
            },
            rows: Vec::new(),
        }
    }

    #[test]
    fn a_branch_keeps_runs_and_touches_nothing_of_the_user() {
        let place = Place::new();
        let user = place.folder.path().join("user");
        let before = place.state("user");
        let store = Store::open("git:origin", &user).unwrap();
        assert_eq!(store.read().unwrap().entries, []);
        for commit in ["a", "b", "c"] {
            let added = store.add(&[entry(commit)], None).unwrap();
            assert!(matches!(added[0], Added::Kept { .. }));
        }
        let again = store.add(&[entry("b")], None).unwrap();
        assert!(matches!(again[0], Added::There { .. }));
        assert_eq!(store.read().unwrap().entries, [entry("a"), entry("b"), entry("c")]);
        assert_eq!(place.files().len(), 3);
        let branch = format!("refs/heads/{BRANCH}");
        let count = place.git(&["-C", "remote.git", "rev-list", "--count", &branch]);
        assert_eq!(count.trim(), "3");
        assert!(place.state("user") == before, "index, refs and work tree are as they were");

        // A second clone, which has none of the objects.
        let other = place.clone("other");
        let by_url = format!("git:{}", place.folder.path().join("remote.git").display());
        let other = Store::open(&by_url, &other).unwrap();
        assert_eq!(other.read().unwrap().entries.len(), 3);
        let commits: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(other.prune(&commits, 2).unwrap(), 1);
        assert_eq!(place.git(&["-C", "remote.git", "rev-list", "--count", &branch]).trim(), "1");
        assert_eq!(store.read().unwrap().entries, [entry("b"), entry("c")]);
    }

    #[test]
    fn eight_writers_lose_nothing_and_keep_nothing_twice() {
        let place = Place::new();
        let clones: Vec<PathBuf> = (0..8).map(|n| place.clone(&format!("writer{n}"))).collect();
        thread::scope(|scope| {
            for (number, clone) in clones.iter().enumerate() {
                scope.spawn(move || {
                    let store = Store::open("git:origin", clone).unwrap();
                    store.add(&[entry(&format!("c{number}"))], None).unwrap();
                });
            }
        });
        assert_eq!(place.files().len(), 8, "{:?}", place.files());
        let store = Store::open("git:origin", &clones[0]).unwrap();
        let mut commits: Vec<String> =
            store.read().unwrap().entries.into_iter().map(|entry| entry.head.commit.id).collect();
        commits.sort();
        assert_eq!(commits, (0..8).map(|n| format!("c{n}")).collect::<Vec<_>>());
    }

    #[test]
    fn a_writer_that_dies_between_fetch_and_push_loses_nothing() {
        let place = Place::new();
        let user = place.folder.path().join("user");
        let store = Store::open("git:origin", &user).unwrap();
        store.add(&[entry("a")], None).unwrap();
        // It looked, and made its commit; then it died, and another one wrote.
        let dying = Branch::open("origin", &user).unwrap();
        let seen = dying.list().unwrap();
        let change = Change::Create(vec![("runs/x".into(), b"x".to_vec())]);
        dying.tree(&seen, &change).unwrap();
        store.add(&[entry("b")], None).unwrap();
        // Had it lived on, it would have been told to look again.
        assert_eq!(dying.change(&seen, &change).unwrap(), Changed::Raced);
        assert_eq!(store.read().unwrap().entries.len(), 2);
        // Its retry adds exactly its run.
        store.add(&[entry("c")], None).unwrap();
        assert_eq!(store.read().unwrap().entries, [entry("a"), entry("b"), entry("c")]);
        assert_eq!(place.files().len(), 3);
    }

    #[test]
    fn a_remote_that_refuses_is_an_error() {
        let place = Place::new();
        let user = place.folder.path().join("user");
        let hook = place.folder.path().join("remote.git/hooks/pre-receive");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, "#!/bin/sh\necho closed on Sundays\nexit 1\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
            let store = Store::open("git:origin", &user).unwrap();
            let error = store.add(&[entry("a")], None).unwrap_err().to_string();
            assert!(error.contains("closed on Sundays"), "{error}");
        }
        let error = Store::open("git:upstream", &user).unwrap_err().to_string();
        assert!(error.contains("no remote `upstream`"), "{error}");
        let error = Store::open("git:origin#a..b", &user).unwrap_err().to_string();
        assert!(error.contains("is no name of a branch"), "{error}");
    }

    #[test]
    fn passwords_are_not_shown() {
        let branch = |url: &str| Branch {
            directory: PathBuf::new(),
            url: url.into(),
            branch: format!("refs/heads/{BRANCH}"),
        };
        let name = branch("https://user:secret@example.org/x.git").name();
        assert_eq!(name, "git:https://example.org/x.git#pacegate-data");
        assert_eq!(
            branch("git@example.org:x.git").name(),
            "git:git@example.org:x.git#pacegate-data"
        );
    }
}
