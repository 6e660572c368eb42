//! What is true of the repository itself: walls between rooms, one heading for the version, no machine's paths.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(room: &str) -> Vec<PathBuf> {
    let path = root().join("src").join(room);
    if path.is_file() {
        return vec![path];
    }
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(path)
        .into_iter()
        .map(|entry| entry.expect("a readable folder").into_path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect();
    files.sort();
    files
}

fn product(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned()
}

/// Rooms, each with the rooms that it may use. Arrows never turn back.
const WALLS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &[]),
    ("compare.rs", &["model", "stats"]),
    ("gate", &["model", "stats", "compare"]),
    ("history", &["model", "stats", "compare"]),
    ("report", &["model", "stats", "compare", "gate", "history", "error"]),
    ("assess.rs", &["model", "compare", "gate", "report", "error"]),
    ("github", &["model", "error", "gate", "report", "assess", "store", "config"]),
    ("ingest", &["model", "error", "store"]),
    ("store", &["model", "error", "stats", "gate", "report", "history", "git", "yaml"]),
    ("config.rs", &["model", "error", "gate", "stats", "measure", "yaml"]),
    ("yaml.rs", &["error"]),
    ("git.rs", &[]),
    ("measure", &["model", "ingest", "git"]),
];

#[test]
fn rooms_use_only_what_lies_before_them() {
    for (room, allowed) in WALLS {
        let own = room.trim_end_matches(".rs");
        for path in sources(room) {
            for line in product(&path).lines() {
                let Some(rest) = line.trim_start().strip_prefix("use crate::") else { continue };
                let used = rest.split([':', ';', '{', ' ']).next().unwrap_or_default();
                assert!(
                    used == own || allowed.contains(&used),
                    "{}: `{}` may not use `{used}`",
                    path.display(),
                    room
                );
            }
        }
    }
}

#[test]
fn the_core_touches_nothing_outside() {
    let forbidden = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::time",
        "SystemTime",
        "Instant",
        "rand::",
        "jiff::",
    ];
    for room in ["model", "stats", "compare.rs", "gate", "history", "report", "assess.rs"] {
        for path in sources(room) {
            let text = product(&path);
            for word in forbidden {
                assert!(!text.contains(word), "{} holds `{word}`", path.display());
            }
        }
    }
}

#[test]
fn the_changelog_names_this_version_once() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).expect("a changelog");
    let heading = format!("## [{}]", env!("CARGO_PKG_VERSION"));
    let count = text.lines().filter(|line| line.starts_with(&heading)).count();
    let unreleased = text.lines().filter(|line| line.starts_with("## [Unreleased]")).count();
    assert!(count + unreleased >= 1 && count <= 1, "{count} headings of this version");
}

#[test]
fn no_file_names_a_machine_path() {
    let home = ["/ho", "me/"].concat();
    let root_home = ["/ro", "ot/"].concat();
    for folder in ["src", "docs", "tests", "benches", "baselines", ".github", "scripts"] {
        for entry in walkdir::WalkDir::new(root().join(folder)).into_iter().flatten() {
            if !entry.file_type().is_file() {
                continue;
            }
            let Ok(text) = fs::read_to_string(entry.path()) else { continue };
            for path in [&home, &root_home] {
                assert!(!text.contains(path.as_str()), "{} holds `{path}`", entry.path().display());
            }
        }
    }
}
