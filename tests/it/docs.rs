//! What the pages for people say of commands is true: flags are there, programs and scripts too.

use std::fs;
use std::path::{Path, PathBuf};

use pacegate::cli;
use pacegate::config::Config;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page for people.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages: Vec<PathBuf> = [root().to_owned(), root().join("docs")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The commands of a page's `console` blocks, each with its place.
fn commands(path: &Path, page: &str) -> Vec<(String, Vec<String>)> {
    let mut inside = false;
    let mut commands = Vec::new();
    for (number, line) in page.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(kind) => inside = kind == "console",
            None if inside => {
                let place = format!("{}:{}", path.display(), number + 1);
                let typed = line.strip_prefix("$ ").unwrap_or_else(|| {
                    panic!("{place}: a console block holds what is typed, after `$ `: {line}")
                });
                commands.push((place, words(typed)));
            }
            None => {}
        }
    }
    commands
}

/// The words of a command up to its pipe or comment, without quotes and without variables in front.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let typed = line.split(" # ").next().unwrap_or_default();
    for letter in typed.split(" | ").next().unwrap_or_default().chars() {
        match letter {
            '\'' | '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    let variable = |word: &String| {
        word.split('=').next().is_some_and(|name| {
            word.contains('=') && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        })
    };
    words.into_iter().filter(|word| !word.is_empty()).skip_while(variable).collect()
}

#[track_caller]
fn is_understood(place: &str, arguments: &[String]) {
    let typed = std::iter::once("pacegate".to_owned()).chain(arguments.iter().cloned());
    if let Err(error) = cli::command().try_get_matches_from(typed) {
        panic!("{place}: pacegate {}\n{error}", arguments.join(" "));
    }
}

/// The value of a flag, and whatever stands behind `--`.
fn after<'w>(words: &'w [String], flag: &str) -> Option<&'w String> {
    words.iter().skip_while(|word| *word != flag).nth(1)
}

#[test]
fn every_command_on_a_page_can_be_typed() {
    let mut seen = 0;
    for (path, page) in pages() {
        for (place, words) in commands(&path, &page) {
            seen += 1;
            let rest =
                words.iter().position(|word| word == "--").map_or(&[][..], |at| &words[at + 1..]);
            match words[0].as_str() {
                "pacegate" => is_understood(&place, &words[1..]),
                "cargo" => {
                    for (flag, folder) in [("--example", "examples"), ("--bench", "benches")] {
                        if let Some(name) = after(&words, flag) {
                            let source = root().join(folder).join(format!("{name}.rs"));
                            assert!(source.is_file(), "{place}: there is no {}", source.display());
                        }
                    }
                    if words[1] == "run" && after(&words, "--example").is_none() {
                        is_understood(&place, rest);
                    }
                }
                script if script.starts_with("./") => {
                    assert!(root().join(script).is_file(), "{place}: there is no {script}");
                }
                // What comes with a system, or is installed by a line before.
                "git" | "curl" | "sudo" => {}
                other => panic!("{place}: nobody knows whether `{other}` works"),
            }
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn the_readme_lists_every_command_with_flags_that_exist() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let command = cli::command();
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = subcommand.get_name();
        assert!(readme.contains(&format!("`pacegate {name}")), "the README is silent on {name}");
    }
    for typed in readme.split('`').filter_map(|code| code.strip_prefix("pacegate ")) {
        let words = words(typed);
        let mut command = command.clone();
        for word in &words {
            if let Some(inner) = command.find_subcommand(word) {
                command = inner.clone();
            } else if let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) {
                let known =
                    command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                assert!(known || flag == "help", "`pacegate {typed}`: there is no --{flag}");
            }
        }
    }
}

#[test]
fn every_configuration_on_a_page_is_understood() {
    let mut seen = 0;
    for (path, page) in pages() {
        for block in page.split("```yaml\n").skip(1) {
            let text = block.split("```").next().unwrap_or_default();
            // Workflows are tried elsewhere, by linters; a list is steps of one.
            if !text.contains("jobs:") && !text.trim_start().starts_with("- ") {
                seen += 1;
                if let Err(error) = Config::parse(text, "pacegate.yaml") {
                    panic!("{}: {error}", path.display());
                }
            }
        }
    }
    assert!(seen > 40, "{seen}");
}
