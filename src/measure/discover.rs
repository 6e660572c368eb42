//! Finds the bench executables of a workspace and the benchmarks that each of them holds.
//!
//! ```text
//!   cargo bench --no-run --message-format=json-render-diagnostics
//!     {"reason":"compiler-artifact","target":{"kind":["bench"],"name":...},"executable":...,"package_id":...}
//!   EXE --bench --list --format terse
//!     parser/small: benchmark
//!     parser/a name of more than a hundred bytes is cut...: benchmark
//! ```
//!
//! criterion cuts what it lists at 100 bytes and then numbers equal names (` #2`), while `--exact` compares the
//! full id; cut names are completed from the files of one brief launch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::build::{cargo, run};
use super::launch::{ids_matching, output_of};
use super::{Error, ErrorKind, Failed, Phase, Watch};

/// A bench executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// Package that the bench belongs to.
    pub package: String,
    /// Version of that package.
    pub version: String,
    /// Name of the bench target.
    pub target: String,
    /// Where it runs: the folder of the package.
    pub directory: PathBuf,
    /// SHA-256 of the file in hexadecimal; empty until it is copied aside.
    pub sha256: String,
    /// Environment variables that its launches get besides those that every launch gets.
    pub variables: Vec<(String, String)>,
}

/// What an executable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The full ids of its criterion benchmarks, in the order of registration.
    Criterion(Vec<String>),
    /// It does not speak criterion's language: what it did instead, for a notice.
    Foreign(String),
}

/// A bench target as its manifest declares it, before anything is built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Package that the bench belongs to.
    pub package: String,
    /// Name of the bench target.
    pub name: String,
    /// Whether its source speaks of criterion. Only launching it can prove that.
    pub criterion: bool,
}

/// Longest time for an answer to `--list`.
const LIST_TIME_OUT: Duration = Duration::from_secs(30);
/// Longest time for the launch that completes cut names.
const NAMES_TIME_OUT: Duration = Duration::from_secs(120);
/// What criterion writes behind a name that it cut.
const CUT: &str = "...";

/// Lists the benchmarks of an executable.
///
/// # Errors
/// If the executable crashes, hangs or can't be started.
pub fn contents(executable: &Executable, watch: &Watch) -> Result<Contents, Failed> {
    let arguments = ["--bench", "--list", "--format", "terse"];
    let listed = match output_of(executable, &arguments, LIST_TIME_OUT, watch) {
        Ok(listed) => listed,
        // Other harnesses refuse the flags.
        Err(failed) if failed.phase == Phase::Exit => {
            return Ok(Contents::Foreign(format!("{failed}")));
        }
        Err(failed) => return Err(failed),
    };
    let mut ids = Vec::new();
    let mut completed = BTreeSet::new();
    for name in listed.lines().filter_map(|line| line.strip_suffix(": benchmark")) {
        match cut_prefix(name) {
            None => ids.push(name.to_owned()),
            // All names that are cut to the same text are found by the first of them.
            Some(prefix) if completed.contains(prefix) => {}
            Some(prefix) => {
                completed.insert(prefix.to_owned());
                match ids_matching(executable, &starting_with(prefix), NAMES_TIME_OUT, watch) {
                    Ok(found) => ids.extend(found),
                    Err(failed) if failed.phase == Phase::Interrupted => return Err(failed),
                    // One of them can't be measured. The name stays cut, so that it is not lost: its
                    // launch will fail.
                    Err(_) => ids.push(name.to_owned()),
                }
            }
        }
    }
    if ids.is_empty() {
        // libtest lists what it holds as tests and benchmarks alike, and criterion never lists none.
        return Ok(Contents::Foreign("it lists no criterion benchmark".to_owned()));
    }
    Ok(Contents::Criterion(ids))
}

/// The bench targets of the workspace around `directory`, sorted. Nothing is built or fetched.
///
/// # Errors
/// If cargo does not understand the project.
pub fn targets(directory: &Path) -> Result<Vec<Target>, Error> {
    let asked = ["metadata", "--no-deps", "--format-version=1", "--offline"];
    let failed = |why: String| {
        Error::new(ErrorKind::Build, format!("no cargo workspace: {why}; go to its folder"))
    };
    let answer = run(Command::new(cargo()).current_dir(directory).args(asked)).map_err(failed)?;
    let metadata: Metadata =
        serde_json::from_str(&answer).map_err(|error| failed(error.to_string()))?;
    let mut found = Vec::new();
    for package in metadata.packages {
        for target in package.targets.into_iter().filter(CargoTarget::is_bench) {
            let source = target.src_path.and_then(|path| std::fs::read_to_string(path).ok());
            found.push(Target {
                package: package.name.clone(),
                name: target.name,
                criterion: source.is_some_and(|source| source.contains("criterion")),
            });
        }
    }
    found.sort();
    Ok(found)
}

/// The part of a listed name that criterion kept, if it cut the name.
fn cut_prefix(name: &str) -> Option<&str> {
    let unnumbered = match name.rsplit_once(" #") {
        Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => name,
    };
    let prefix = unnumbered.strip_suffix(CUT)?;
    // criterion cuts at 100 bytes, or up to three bytes before that where a character would be split.
    (97..=100).contains(&prefix.len()).then_some(prefix)
}

/// A regular expression for names that start with this text.
fn starting_with(prefix: &str) -> String {
    let mut pattern = String::from("^");
    for letter in prefix.chars() {
        if letter.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// The bench executables among cargo's messages (`--message-format=json`), sorted by package and target.
pub fn executables(messages: &str) -> Vec<Executable> {
    let mut found: Vec<Executable> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<CargoMessage>(line).ok())
        .filter_map(CargoMessage::into_bench)
        .collect();
    found.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    found
}

#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    package_id: Option<String>,
    manifest_path: Option<PathBuf>,
    target: Option<CargoTarget>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    targets: Vec<CargoTarget>,
}

#[derive(Deserialize)]
struct CargoTarget {
    kind: Vec<String>,
    name: String,
    src_path: Option<PathBuf>,
}

impl CargoTarget {
    fn is_bench(&self) -> bool {
        self.kind.iter().any(|kind| kind == "bench")
    }
}

impl CargoMessage {
    fn into_bench(self) -> Option<Executable> {
        let target = self.target.filter(CargoTarget::is_bench)?;
        if self.reason != "compiler-artifact" {
            return None;
        }
        let directory = self.manifest_path?.parent()?.to_owned();
        let (package, version) = package_and_version(&self.package_id?, &directory);
        Some(Executable {
            path: self.executable?,
            package,
            version,
            target: target.name,
            directory,
            sha256: String::new(),
            variables: Vec::new(),
        })
    }
}

/// Reads `path+file:///x/y#name@1.0.0`, `path+file:///x/name#1.0.0` and the older `name 1.0.0 (path+...)`.
fn package_and_version(id: &str, directory: &Path) -> (String, String) {
    let folder = || directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match id.rsplit_once('#') {
        Some((_, spec)) => match spec.split_once('@') {
            Some((name, version)) => (name.to_owned(), version.to_owned()),
            None => (folder(), spec.to_owned()),
        },
        None => {
            let mut words = id.split(' ').map(str::to_owned);
            (words.next().unwrap_or_else(folder), words.next().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_name_is_told_from_one_that_ends_in_dots() {
        let long = "n".repeat(100);
        let check = |name: &str, expected: Option<&str>| assert_eq!(cut_prefix(name), expected);
        check("parser/small", None);
        check("wait for it...", None);
        check(&format!("{long}..."), Some(&long));
        check(&format!("{long}... #2"), Some(&long));
        check(&long, None);
    }

    #[test]
    fn a_prefix_is_matched_letter_by_letter() {
        assert_eq!(starting_with("a/[b]+é.c"), r"^a\/\[b\]\+é\.c");
    }

    #[test]
    fn package_ids_of_all_cargo_versions_are_read() {
        let check = |id: &str, name: &str, version: &str| {
            let expected = (name.to_owned(), version.to_owned());
            assert_eq!(package_and_version(id, Path::new("/w/folder")), expected);
        };
        check("path+file:///w/folder#1.2.3", "folder", "1.2.3");
        check("path+file:///w/folder#parser@1.2.3", "parser", "1.2.3");
        check("parser 1.2.3 (path+file:///w/folder)", "parser", "1.2.3");
    }

    #[test]
    fn only_benches_are_picked_from_the_messages() {
        let line = |kind: &str, name: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/p#1.0.0",
                "manifest_path":"/w/p/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},
                "executable":"/w/t/{name}-1"}}"#
            )
            .replace('\n', " ")
        };
        let messages =
            [line("lib", "p"), line("bench", "z"), "noise".to_owned(), line("bench", "a")]
                .join("\n");
        let names: Vec<_> = executables(&messages).into_iter().map(|found| found.target).collect();
        assert_eq!(names, ["a", "z"]);
    }
}
