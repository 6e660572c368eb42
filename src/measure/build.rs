//! Builds the bench executables of both revisions in one fixed place, without touching the user's checkout.
//!
//! ```text
//!   <target>/pacegate/
//!     lock                   held while one pacegate works here
//!     index                  temporary index, from which a dirty work tree becomes a commit object
//!     tree/                  git worktree; holds one revision after the other
//!     build/                 CARGO_TARGET_DIR; dependencies are compiled once
//!     exe/<revision>/<package>/<target>      copied aside and hashed before anything is launched
//! ```
//!
//! Built in one path, both revisions have the same symbol hashes and embedded paths, so that unchanged
//! code gives identical executables. Afterwards the tree holds the revision built last (the
//! candidate), and every arm reads its data files from there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::discover::{Executable, executables};
use super::process::{Process, last_lines, wait_a_slice};
use super::{Error, ErrorKind, Watch};
use crate::git;
use crate::model::Notice;

/// A commit that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Commit id; of a commit object that no branch knows where the work tree was dirty.
    pub sha: String,
    /// Commits from here to HEAD; 0 for HEAD itself and for the dirty work tree on it.
    pub distance: u64,
    /// What it is, for people: `HEAD`, `work tree`, `merge base with origin/main`.
    pub origin: String,
}

/// What of the workspace is built, as flags of `cargo bench`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CargoOptions {
    /// Handed to `cargo bench` as they are, for example `--package x`, `--bench y`, `--features z`.
    pub arguments: Vec<String>,
    /// Where functions begin in the executables.
    pub layout: Layout,
    /// Whether the user sees cargo's progress.
    pub progress: Progress,
}

/// Where functions begin in the executables.
///
/// A function that grows moves every function behind it. What does not change then still runs up to 15 % faster or
/// slower, because its loops lie differently in the lines of the instruction cache; `docs/accuracy.md` has the numbers. With
/// every function on a line of its own, unchanged code lies alike in both revisions wherever it is moved to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Each at the start of a cache line, in both revisions.
    #[default]
    Aligned,
    /// Where the compiler puts them.
    AsBuilt,
}

/// What the compiler is told for [`Layout::Aligned`]: 2^6 bytes, a cache line.
const ALIGNED: &str = "-Cllvm-args=-align-all-functions=6";

/// Where cargo's progress goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Kept for the message of a failure.
    #[default]
    Captured,
    /// Also passed on to standard error.
    PassedOn,
}

/// The place where both revisions are built; it is held by one pacegate at a time, until dropped.
#[derive(Debug)]
pub struct Workshop {
    /// Top folder of the user's work tree.
    top: PathBuf,
    /// Root of the cargo workspace below the top, empty if they are the same.
    prefix: PathBuf,
    /// `<target>/pacegate`.
    place: PathBuf,
    /// The target folder, to leave out of a snapshot.
    target: PathBuf,
    _lock: File,
}

/// The executables of one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// What was built.
    pub revision: Revision,
    /// Its bench executables, copied aside, sorted by package and target.
    pub executables: Vec<Executable>,
    /// What is worth telling of the build.
    pub notices: Vec<Notice>,
}

impl Workshop {
    /// Opens the workshop of the cargo workspace that `directory` is in; `target` is its target folder.
    ///
    /// # Errors
    /// Outside of a git repository or cargo workspace, and while another pacegate works there.
    pub fn open(directory: &Path, target: &Path) -> Result<Self, Error> {
        let top = git(directory, &["rev-parse", "--show-toplevel"]).map_err(|error| {
            let here = directory.display();
            revision_error(format!(
                "{here} is not in a git work tree ({error}); run pacegate in a checkout, or compare result files"
            ))
        })?;
        let top = canonical(Path::new(&top))?;
        let manifest = run(Command::new(cargo()).current_dir(directory).args([
            "locate-project",
            "--workspace",
            "--message-format=plain",
        ]))
        .map_err(|error| {
            Error::new(ErrorKind::Build, format!("no cargo workspace: {error}; name its folder"))
        })?;
        let root = canonical(Path::new(&manifest).parent().unwrap_or(directory))?;
        let prefix = root.strip_prefix(&top).map(Path::to_owned).map_err(|_| {
            let (root, top) = (root.display(), top.display());
            revision_error(format!("the workspace {root} is not inside its repository {top}"))
        })?;
        let place = target.join("pacegate");
        fs::create_dir_all(&place).map_err(|error| system(&place, &error))?;
        let target = canonical(target)?;
        let place = target.join("pacegate");
        let path = place.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&path);
        let lock = lock.map_err(|error| system(&path, &error))?;
        if lock.try_lock().is_err() {
            let path = place.display();
            let message = format!(
                "another pacegate works in {path}; wait for it, or set another target directory"
            );
            return Err(Error::new(ErrorKind::System, message));
        }
        let _ = fs::remove_dir_all(place.join("exe"));
        Ok(Workshop { top, prefix, place, target, _lock: lock })
    }

    /// The candidate: HEAD, or the work tree with all files that are not ignored where it differs from HEAD.
    ///
    /// # Errors
    /// If there is no commit yet, or git fails.
    pub fn candidate(&self) -> Result<Revision, Error> {
        let head = self.head()?;
        if !self.is_dirty()? {
            return Ok(Revision { sha: head, distance: 0, origin: "HEAD".to_owned() });
        }
        let index = self.place.join("index");
        let copied = git(&self.top, &["rev-parse", "--git-path", "index"])
            .map(|path| fs::copy(self.top.join(path), &index));
        if !matches!(copied, Ok(Ok(_))) {
            let _ = fs::remove_file(&index);
        }
        let with_index = |arguments: &[&str]| {
            run(git::command(&self.top)
                .env("GIT_INDEX_FILE", &index)
                .envs(identity())
                .args(arguments))
            .map_err(|error| revision_error(format!("the work tree can't be recorded: {error}")))
        };
        let mut add = vec!["add", "--all", "--", "."];
        // What is ignored stays out by itself, and git refuses it by name.
        let target = self.target.strip_prefix(&self.top).ok().and_then(Path::to_str);
        let target = target
            .filter(|target| git(&self.top, &["check-ignore", "--quiet", "--", target]).is_err());
        let exclude = target.map(|target| format!(":(exclude,literal){target}"));
        add.extend(exclude.as_deref());
        with_index(&add)?;
        let tree = with_index(&["write-tree"])?;
        let message = "work tree, as measured by pacegate";
        let sha = with_index(&["commit-tree", &tree, "-p", &head, "-m", message])?;
        let _ = fs::remove_file(&index);
        Ok(Revision { sha, distance: 0, origin: "work tree".to_owned() })
    }

    /// The baseline: the revision asked for; else the merge base with the default branch; else, where that
    /// is HEAD itself, HEAD for a dirty work tree and its parent for a clean one. The default branch is found out
    /// unless it is given.
    ///
    /// # Errors
    /// If it can't be found, with the reason: a shallow clone, no default branch, a first commit.
    pub fn baseline(
        &self,
        asked_for: Option<&str>,
        default_branch: Option<&str>,
    ) -> Result<Revision, Error> {
        let head = self.head()?;
        let (sha, origin) = match asked_for {
            Some(name) => (self.commit(name)?, name.to_owned()),
            None => {
                let branch = match default_branch {
                    Some(branch) => {
                        self.commit(branch)?;
                        branch.to_owned()
                    }
                    None => self.default_branch()?,
                };
                let base = git(&self.top, &["merge-base", "HEAD", &branch]).map_err(|_| {
                    let why = self.shallow_or("they have no common history");
                    revision_error(format!(
                        "no merge base of HEAD and {branch}: {why}; or name a baseline revision"
                    ))
                })?;
                let branch = branch.trim_start_matches("refs/remotes/");
                let branch = branch.trim_start_matches("refs/heads/");
                if base != head {
                    (base, format!("merge base with {branch}"))
                } else if self.is_dirty()? {
                    (head, "HEAD".to_owned())
                } else {
                    (self.commit("HEAD^")?, "parent of HEAD".to_owned())
                }
            }
        };
        let range = format!("{sha}..HEAD");
        let distance = git(&self.top, &["rev-list", "--count", &range]);
        let distance = distance.ok().and_then(|count| count.parse().ok()).unwrap_or(0);
        Ok(Revision { sha, distance, origin })
    }

    /// A commit as a candidate, by any name.
    ///
    /// # Errors
    /// If it can't be found.
    pub fn named(&self, name: &str) -> Result<Revision, Error> {
        Ok(Revision { sha: self.commit(name)?, distance: 0, origin: name.to_owned() })
    }

    /// Puts the revision into the tree, builds its benches and copies the executables aside.
    ///
    /// # Errors
    /// If the revision can't be checked out or does not build, with cargo's last lines.
    pub fn build(
        &self,
        revision: &Revision,
        options: &CargoOptions,
        watch: &Watch,
    ) -> Result<Built, Error> {
        self.check_out(&revision.sha)?;
        self.check_for_leaks(revision)?;
        self.supply_lock_file(&revision.sha)?;
        let (flags, notices) = match options.layout {
            Layout::Aligned => self.aligned(),
            Layout::AsBuilt => (None, Vec::new()),
        };
        let messages = self.run_cargo(revision, options, flags, watch)?;
        let folder = self.place.join("exe").join(&revision.sha);
        let executables = executables(&messages)
            .into_iter()
            .map(|executable| copy_aside(executable, &folder))
            .collect::<Result<_, _>>()?;
        Ok(Built { revision: revision.clone(), executables, notices })
    }

    /// The variable that adds [`ALIGNED`] to the compiler's flags and keeps the user's own. Cargo takes flags from one
    /// source only, and one in a `[target]` table cannot be added to from outside, so there it is left to the user.
    fn aligned(&self) -> (Option<(&'static str, OsString)>, Vec<Notice>) {
        for (name, separator) in [("CARGO_ENCODED_RUSTFLAGS", "\u{1f}"), ("RUSTFLAGS", " ")] {
            if let Some(mut flags) = std::env::var_os(name) {
                if !flags.is_empty() {
                    flags.push(separator);
                }
                flags.push(ALIGNED);
                return (Some((name, flags)), Vec::new());
            }
        }
        if let Some(place) = self.target_flags() {
            let notice = Notice::new(
                "layout",
                format!("functions are not aligned, because {place} sets flags of its own"),
                format!("add `{ALIGNED}` there, or code that only moved can turn red"),
            );
            return (None, vec![notice]);
        }
        // Cargo joins this one with `build.rustflags` of its configuration files.
        let name = "CARGO_BUILD_RUSTFLAGS";
        let mut flags = std::env::var_os(name).unwrap_or_default();
        flags.push(" ");
        flags.push(ALIGNED);
        (Some((name, flags)), Vec::new())
    }

    /// Where compiler flags for a target are set, which take the place of all others.
    fn target_flags(&self) -> Option<String> {
        let variable = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .find(|name| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS"));
        if variable.is_some() {
            return variable;
        }
        let workspace = self.tree().join(&self.prefix);
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        let folders = workspace.ancestors().map(|folder| folder.join(".cargo")).chain(home);
        folders
            .flat_map(|folder| [folder.join("config.toml"), folder.join("config")])
            .find(|path| fs::read_to_string(path).is_ok_and(|text| has_target_flags(&text)))
            .map(|path| path.display().to_string())
    }

    fn head(&self) -> Result<String, Error> {
        git(&self.top, &["rev-parse", "--verify", "HEAD^{commit}"])
            .map_err(|_| revision_error("the repository has no commit yet; commit something first"))
    }

    fn is_dirty(&self) -> Result<bool, Error> {
        git(&self.top, &["status", "--porcelain", "--untracked-files=normal", "--", "."])
            .map(|status| {
                // A target folder that is not ignored is ours and cargo's, not a change.
                let target = self.target.strip_prefix(&self.top).ok();
                let target = target.map(|path| format!("{}/", path.display()));
                status.lines().any(|line| {
                    target.as_ref().is_none_or(|target| line.get(3..) != Some(target.as_str()))
                })
            })
            .map_err(|error| revision_error(format!("git status failed: {error}")))
    }

    fn commit(&self, name: &str) -> Result<String, Error> {
        let spec = format!("{name}^{{commit}}");
        git(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &spec]).map_err(
            |_| {
                let why = self.shallow_or("there is no such commit");
                revision_error(format!(
                    "revision {name} can't be found: {why}; name another baseline"
                ))
            },
        )
    }

    fn default_branch(&self) -> Result<String, Error> {
        default_branch(&self.top).ok_or_else(|| {
            revision_error(
                "no default branch (origin/HEAD, main, master) to compare with; name a baseline \
                 revision",
            )
        })
    }

    fn shallow_or<'a>(&self, otherwise: &'a str) -> &'a str {
        match git(&self.top, &["rev-parse", "--is-shallow-repository"]).as_deref() {
            Ok("true") => "the clone is shallow; fetch the full history (fetch-depth: 0)",
            _ => otherwise,
        }
    }

    fn tree(&self) -> PathBuf {
        self.place.join("tree")
    }

    fn check_out(&self, sha: &str) -> Result<(), Error> {
        let tree = self.tree();
        let common = |directory: &Path| {
            let path = git(directory, &["rev-parse", "--git-common-dir"]).ok()?;
            directory.join(path).canonicalize().ok()
        };
        let failed = |error: String| {
            revision_error(format!("{sha} can't be checked out into {}: {error}", tree.display()))
        };
        // Without a `.git` of its own, git would take the folder for part of the user's work tree.
        let ours = tree.join(".git").exists() && common(&tree) == common(&self.top);
        if !ours {
            let _ = fs::remove_dir_all(&tree);
            let path = tree.to_string_lossy();
            git(
                &self.top,
                &["worktree", "add", "--force", "--detach", "--no-checkout", &path, sha],
            )
            .map_err(failed)?;
        }
        git(&tree, &["checkout", "--quiet", "--force", "--detach", sha]).map_err(failed)?;
        git(&tree, &["clean", "-ffdq", "--exclude=Cargo.lock"]).map_err(failed)?;
        if tree.join(".gitmodules").exists() {
            git(&tree, &["submodule", "update", "--quiet", "--init", "--recursive"])
                .map_err(failed)?;
        }
        self.renew_changed_packages(sha)
    }

    /// cargo does not know of every file that goes into an executable (a macro may read one, or list a folder), so all
    /// sources of a package are made new when one of its files has come, gone or changed since the last build here. Sources
    /// that were only edited are what cargo does know.
    fn renew_changed_packages(&self, sha: &str) -> Result<(), Error> {
        let tree = self.tree();
        let note = self.place.join("built");
        let changed = match fs::read_to_string(&note) {
            Ok(last) => {
                let diff = ["diff", "--name-status", "--no-renames", "-z", last.trim(), sha];
                git(&tree, &diff).ok()
            }
            Err(_) => None,
        };
        let changed = changed.map(|changed| {
            let mut parts = changed.split('\0');
            let pairs = std::iter::from_fn(|| Some((parts.next()?, parts.next()?)));
            let beyond_cargo = |&(status, path): &(&str, &str)| {
                status != "M" || Path::new(path).extension() != Some("rs".as_ref())
            };
            pairs.filter(beyond_cargo).map(|(_, path)| path.to_owned()).collect::<Vec<String>>()
        });
        let packages: BTreeSet<PathBuf> = match &changed {
            None => BTreeSet::from([tree.clone()]),
            Some(changed) => changed
                .iter()
                .map(|path| {
                    let path = tree.join(path);
                    let mut folders = path.ancestors().skip(1).take_while(|f| f.starts_with(&tree));
                    folders.find(|f| f.join("Cargo.toml").exists()).unwrap_or(&tree).to_owned()
                })
                .collect(),
        };
        let now = SystemTime::now();
        for package in packages {
            for entry in walkdir::WalkDir::new(package).into_iter().flatten() {
                if entry.file_type().is_file() && entry.path().extension() == Some("rs".as_ref()) {
                    let touched = File::options()
                        .append(true)
                        .open(entry.path())
                        .and_then(|f| f.set_modified(now));
                    touched.map_err(|error| system(entry.path(), &error))?;
                }
            }
        }
        fs::write(&note, sha).map_err(|error| system(&note, &error))
    }

    /// cargo and rustup read these files from every folder above the tree as well, so inside the user's checkout
    /// a revision would be built with the flags or the toolchain of another one.
    fn check_for_leaks(&self, revision: &Revision) -> Result<(), Error> {
        let names =
            [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
        for folder in self.place.ancestors().take_while(|folder| folder.starts_with(&self.top)) {
            let below = folder.strip_prefix(&self.top).expect("it starts with the top");
            for name in names {
                let above = folder.join(name);
                let own = self.tree().join(below).join(name);
                if above.exists() && fs::read(&above).ok() != fs::read(&own).ok() {
                    let message = format!(
                        "{} differs in {} and would leak into its build; set CARGO_TARGET_DIR to a \
                         folder outside of the repository",
                        above.display(),
                        revision.origin
                    );
                    return Err(Error::new(ErrorKind::Build, message));
                }
            }
        }
        Ok(())
    }

    /// Where the revision does not track a lock file, both arms get the user's, so that they share their
    /// dependencies.
    fn supply_lock_file(&self, sha: &str) -> Result<(), Error> {
        let name = self.prefix.join("Cargo.lock");
        let users = self.top.join(&name);
        let spec = format!("{sha}:{}", name.to_string_lossy().replace('\\', "/"));
        let tracked = git(&self.top, &["cat-file", "-e", &spec]).is_ok();
        if !tracked && users.exists() {
            let ours = self.tree().join(&name);
            fs::copy(&users, &ours).map_err(|error| system(&ours, &error))?;
        }
        Ok(())
    }

    /// Runs `cargo bench --no-run` in the tree and returns its messages.
    fn run_cargo(
        &self,
        revision: &Revision,
        options: &CargoOptions,
        flags: Option<(&str, OsString)>,
        watch: &Watch,
    ) -> Result<String, Error> {
        let messages = self.place.join("cargo-messages");
        let log = self.place.join("cargo-log");
        let create = |path: &Path| File::create(path).map_err(|error| system(path, &error));
        create(&log)?;
        let append = OpenOptions::new().append(true).open(&log);
        let append = append.map_err(|error| system(&log, &error))?;
        let mut command = Command::new(cargo());
        command
            .current_dir(self.tree().join(&self.prefix))
            .args(["bench", "--no-run", "--message-format=json-render-diagnostics"])
            .args(&options.arguments)
            .env("CARGO_TARGET_DIR", self.place.join("build"))
            .envs(flags)
            .stdout(create(&messages)?)
            .stderr(append);
        let output = File::open(&log).map_err(|error| system(&log, &error))?;
        let process = Process::start(&mut command, output, watch).map_err(|error| {
            let message = format!("cargo can't be started: {error}; install it or set CARGO");
            Error::new(ErrorKind::Build, message)
        })?;
        let mut running = [process];
        let mut shown = 0;
        let mut pass_on = || {
            if options.progress == Progress::PassedOn
                && let Ok(text) = fs::read(&log)
            {
                let _ = std::io::stderr().write_all(text.get(shown..).unwrap_or_default());
                shown = text.len();
            }
        };
        while !running[0].has_ended() {
            if watch.interrupt.is_raised() {
                return Err(Error::interrupted());
            }
            wait_a_slice(&running);
            pass_on();
        }
        pass_on();
        let [process] = running;
        let (status, _, mut output) = process.reap().map_err(|error| system(&log, &error))?;
        if !status.success() {
            let Revision { sha, origin, .. } = revision;
            let message = format!(
                "the benches of {origin} ({}) do not build, cargo ended with {status}:\n{}",
                sha.get(..12).unwrap_or(sha),
                last_lines(&mut output)
            );
            return Err(Error::new(ErrorKind::Build, message));
        }
        fs::read_to_string(&messages).map_err(|error| system(&messages, &error))
    }
}

/// Whether a configuration of cargo's sets flags in a `[target]` table.
fn has_target_flags(text: &str) -> bool {
    let mut table = String::new();
    text.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            line.trim_matches(['[', ']', ' ']).clone_into(&mut table);
            return false;
        }
        let key = line.split('=').next().unwrap_or_default();
        let key = format!("{table}.{key}");
        key.trim_start_matches('.').starts_with("target.") && key.contains("rustflags")
    })
}

/// Copies an executable to `folder/<package>/<target>` and hashes the copy.
fn copy_aside(mut executable: Executable, folder: &Path) -> Result<Executable, Error> {
    let folder = folder.join(&executable.package);
    fs::create_dir_all(&folder).map_err(|error| system(&folder, &error))?;
    let copy = folder.join(format!("{}{}", executable.target, std::env::consts::EXE_SUFFIX));
    fs::copy(&executable.path, &copy).map_err(|error| system(&executable.path, &error))?;
    let bytes = fs::read(&copy).map_err(|error| system(&copy, &error))?;
    let digest = Sha256::digest(&bytes);
    executable.sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    executable.path = copy;
    Ok(executable)
}

/// The cargo that pacegate was started by, if it was; it may be of a toolchain that the user asked for.
pub(super) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Author of the commit object of a dirty work tree; fixed, so that equal trees on one HEAD are one commit.
fn identity() -> impl Iterator<Item = (String, &'static str)> {
    ["AUTHOR", "COMMITTER"].into_iter().flat_map(|role| {
        [("NAME", "pacegate"), ("EMAIL", "pacegate@localhost"), ("DATE", "2000-01-01T00:00:00Z")]
            .map(|(part, value)| (format!("GIT_{role}_{part}"), value))
    })
}

/// How many commits lie between a revision and HEAD; none where git does not know.
pub fn commits_since(directory: &Path, sha: &str) -> Option<u32> {
    if sha.is_empty() || !sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    git(directory, &["rev-list", "--count", &format!("{sha}..HEAD")]).ok()?.parse().ok()
}

/// The default branch of a repository, by its full name: where the remote's HEAD points, or the branch of a usual name.
pub fn default_branch(directory: &Path) -> Option<String> {
    if let Ok(branch) = git(directory, &["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"]) {
        return Some(branch);
    }
    let usual = ["remotes/origin/main", "remotes/origin/master", "heads/main", "heads/master"];
    usual
        .iter()
        .map(|name| format!("refs/{name}"))
        .find(|name| git(directory, &["rev-parse", "--verify", "--quiet", name]).is_ok())
}

pub(super) fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    run(git::command(directory).args(arguments))
}

/// The output of a command that ends soon, without its last line end; its last words if it fails.
pub(super) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name} can't be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(words
        .lines()
        .rfind(|line| !line.trim().is_empty() && !line.starts_with("hint:"))
        .unwrap_or("it gave no reason")
        .to_owned())
}

fn canonical(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|error| system(path, &error))
}

fn revision_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Revision, message)
}

fn system(path: &Path, error: &std::io::Error) -> Error {
    let message = format!(
        "{}: {error}; check that it may be written and the disk is not full",
        path.display()
    );
    Error::new(ErrorKind::System, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_target_table_are_seen() {
        for (text, expected) in [
            ("[build]\nrustflags = [\"-Ctarget-cpu=native\"]\n", false),
            ("[target.x86_64-unknown-linux-gnu]\nlinker = \"clang\"\n", false),
            ("[target.x86_64-unknown-linux-gnu]\nrustflags = [\"-Cfoo\"]\n", true),
            ("[target.'cfg(unix)']\nrustflags = \"-Cfoo\"\n", true),
            ("target.x86_64-unknown-linux-gnu.rustflags = []\n", true),
            ("[target.x]\nlinker = \"l\"\n[build]\nrustflags = []\n", false),
            ("", false),
        ] {
            assert_eq!(has_target_flags(text), expected, "{text}");
        }
    }
}
