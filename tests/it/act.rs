//! Workflows for real: `act` runs what `pacegate init` writes, step by step, as programs on this machine. Actions of others are
//! replaced by stand-ins, since nothing is fetched: checkout is a copy, and an upload copies to a folder.
//!
//! Most of them look at how the workflow calls the program, by a stand-in of it; one measures to a verdict.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::desk::{Desk, Said};
use crate::hub::{Hub, REPOSITORY};
use crate::stored::Project;
use crate::workflows::{aloud, tool};

/// The actions that are replaced.
const REPLACED: [(&str, &str); 4] = [
    ("checkout", CHECKOUT),
    ("upload-artifact", UPLOAD),
    ("download-artifact", DOWNLOAD),
    ("attest-build-provenance", ATTEST),
];

/// Where it is asked for another revision than that of the event; without that act copies the project itself.
const CHECKOUT: &str = r#"
name: checkout
description: Copies the project.
inputs:
  ref: { description: revision, required: true }
  persist-credentials: { description: no }
runs:
  using: composite
  steps:
    - shell: bash
      env: { REF: "${{ inputs.ref }}" }
      run: cp -r "$PROJECT/." . && git checkout --quiet "$REF"
"#;

const UPLOAD: &str = r#"
name: upload
description: Copies files to a folder.
inputs:
  name: { description: name, required: true }
  path: { description: files, required: true }
  retention-days: { description: days }
  if-no-files-found: { description: what then }
runs:
  using: composite
  steps:
    - shell: bash
      env: { NAME: "${{ inputs.name }}", FILES: "${{ inputs.path }}" }
      run: |
        mkdir -p "$ARTIFACTS/$NAME"
        printf '%s\n' "$FILES" | while read -r file; do
          if [ -d "$file" ]; then file="$file/."; fi
          if [ -e "$file" ]; then cp -r "$file" "$ARTIFACTS/$NAME/"; fi
        done
"#;

const DOWNLOAD: &str = r#"
name: download
description: Copies files from folders.
inputs:
  name: { description: name }
  pattern: { description: names }
  merge-multiple: { description: into one folder }
  path: { description: folder, required: true }
runs:
  using: composite
  steps:
    - shell: bash
      env: { NAMES: "${{ inputs.name || inputs.pattern }}", FOLDER: "${{ inputs.path }}" }
      run: |
        mkdir -p "$FOLDER"
        for folder in "$ARTIFACTS"/$NAMES; do cp -r "$folder/." "$FOLDER/"; done
"#;

const ATTEST: &str = r#"
name: attest
description: Shows what would be signed.
inputs:
  subject-checksums: { description: file, required: true }
runs:
  using: composite
  steps:
    - shell: bash
      env: { FILE: "${{ inputs.subject-checksums }}" }
      run: sed 's/^/ATTESTED /' "$FILE"
"#;

/// In place of cargo: "builds" the stand-in of pacegate.
const CARGO: &str = r#"#!/bin/bash
folder=target/release
while [ $# -gt 0 ]; do [ "$1" != --target ] || folder="target/$2/release"; shift; done
mkdir -p "$folder"; cp "$(command -v pacegate)" "$folder/pacegate"
"#;

/// In place of GitHub's own program.
const GH: &str = "#!/bin/bash\nprintf 'GH'; printf ' <%q>' \"$@\"; echo\n";

/// In place of pacegate: tells how it was called and leaves what a check leaves.
const STAND_IN: &str = r#"#!/bin/bash
if [ "$1" = --version ]; then echo "pacegate VERSION"; exit; fi
printf 'CALLED'; printf ' <%q>' "$@"; echo
[ -z "${GITHUB_TOKEN:-}" ] || echo "WITH TOKEN"
if [ "$1 $2" = "baseline promote" ]; then mkdir -p baselines/here; echo "$4" > "baselines/here/$4.jsonl"; fi
mkdir -p target/pacegate
echo "The report." > target/pacegate/report.md
printf '{\n  "outcome": "fail",\n  "counts": {\n    "regression": 3,\n' > target/pacegate/verdict.json
touch target/pacegate/{report.html,junit.xml,comparisons.csv,evidence.jsonl.zst}
exit "${STAND_IN_CODE:-0}"
"#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn program(desk: &Desk, name: &str, text: &str) {
    desk.put(name, &text.replace("VERSION", env!("CARGO_PKG_VERSION")));
    fs::set_permissions(desk.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Where a run happens: stand-ins, events, artifacts, and act's own folders.
struct Stage {
    act: PathBuf,
    /// Where pacegate is found.
    programs: PathBuf,
    desk: Desk,
}

impl Stage {
    /// Nothing where act is not installed.
    fn set() -> Option<Self> {
        let act = tool("venv/bin/act")?;
        let desk = Desk::new();
        for (name, text) in REPLACED {
            desk.put(&format!("{name}/action.yml"), text);
        }
        desk.put("config/act/actrc", "");
        program(&desk, "bin/pacegate", STAND_IN);
        Some(Stage { act, programs: desk.path("bin"), desk })
    }

    /// Runs the workflow for an event on machines with this label; no other label has one.
    fn run(
        &self,
        project: &Path,
        workflow: &str,
        event: &str,
        payload: &str,
        label: &str,
        more: &[&str],
    ) -> Said {
        self.desk.put("event.json", payload);
        let mut path = self.programs.clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let stand_ins = self.stand_ins(&fs::read_to_string(project.join(workflow)).unwrap());
        let platform = format!("{label}=-self-hosted");
        let artifacts = format!("ARTIFACTS={}", self.desk.path("artifacts").display());
        let copied = format!("PROJECT={}", project.display());
        let output = Command::new("timeout")
            .arg("600")
            .arg(&self.act)
            .args([event, "--workflows", workflow, "--platform", &platform])
            .args(["--env", &artifacts, "--env", &copied])
            .args(stand_ins.iter().flat_map(|stand_in| ["--local-repository", stand_in]))
            .args(["--var", "BENCH_RUNNER=pinned", "--eventpath"])
            .arg(self.desk.path("event.json"))
            .args(more)
            .current_dir(project)
            .env("PATH", path)
            .env("XDG_CACHE_HOME", self.desk.path("cache"))
            .env("XDG_CONFIG_HOME", self.desk.path("config"))
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What stands in for the actions of a workflow, each by its pin.
    fn stand_ins(&self, workflow: &str) -> Vec<String> {
        let words = workflow.split_whitespace();
        let pinned = words.filter(|word| word.starts_with("actions/"));
        pinned
            .flat_map(|pin| REPLACED.iter().map(move |(name, _)| (pin, name)))
            .filter(|(pin, name)| pin.starts_with(&format!("actions/{name}@")))
            .map(|(pin, name)| format!("{pin}={}", self.desk.path(name).display()))
            .collect()
    }

    fn artifacts(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.desk.path("artifacts").join(name)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A project on whose `main` `pacegate init` was merged, and a branch with a change.
fn project() -> Project {
    let project = Project::new();
    project.check(&["init"], 0, &["fixture::work criterion", "kept pacegate.yaml"]);
    project.commit("the gate");
    project.git(&["remote", "add", "origin", "https://github.com/octo/speed"]);
    project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    project.git(&["switch", "--quiet", "--create", "topic"]);
    project
}

fn pull_request(from: &str) -> String {
    format!(
        r#"{{"action":"opened","number":7,"pull_request":{{"number":7,"head":{{"ref":"topic","repo":{{"full_name":"{from}"}}}},
        "base":{{"ref":"main"}}}},"repository":{{"full_name":"octo/speed"}}}}"#
    )
}

const BENCH: &str = ".github/workflows/bench.yml";
const REPORT: &str = ".github/workflows/report.yml";

#[track_caller]
fn says(said: &Said, succeeds: bool, words: &[&str]) {
    let text = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(said.code == 0, succeeds, "{text}");
    for word in words {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
}

#[test]
fn a_pull_request_of_a_fork_never_gets_the_pinned_machine() {
    let Some(stage) = Stage::set() else { return };
    let project = project();
    let run = |from: &str, label: &str| {
        stage.run(project.path(), BENCH, "pull_request", &pull_request(from), label, &[])
    };
    let base = project.revision("main");
    let called = format!("CALLED <check> <--baseline> <{base}> <--attempt> <1>");
    says(&run("stranger/demo", "ubuntu-24.04"), true, &[&called, "The report."]);
    says(&run("octo/speed", "pinned"), true, &[&called]);
    // Without a machine of the label that was chosen, nothing runs.
    for (from, label) in [("stranger/demo", "pinned"), ("octo/speed", "ubuntu-24.04")] {
        let said = run(from, label);
        assert!(!said.stdout.contains("CALLED"), "{from} on {label}\n{}", said.stdout);
    }
    aloud("act ran the generated bench.yml for a fork and for a branch");
}

#[test]
fn every_event_is_compared_with_its_own_base() {
    let Some(stage) = Stage::set() else { return };
    let project = project();
    let run = |event: &str, payload: &str| {
        stage.run(project.path(), BENCH, event, payload, "pinned", &[])
    };
    let queue = r#"{"merge_group":{"base_sha":"1234"},"repository":{"full_name":"octo/speed"}}"#;
    says(&run("merge_group", queue), true, &["<--baseline> <1234>"]);
    project.git(&["switch", "--quiet", "main"]);
    let push =
        r#"{"before":"5678","ref":"refs/heads/main","repository":{"full_name":"octo/speed"}}"#;
    says(&run("push", push), true, &["<--baseline> <5678>"]);
}

#[test]
fn a_red_verdict_is_the_jobs_and_still_leaves_what_the_report_needs() {
    let Some(stage) = Stage::set() else { return };
    let project = project();
    let event = pull_request("stranger/demo");
    let red = ["--env", "STAND_IN_CODE=10"];
    let said = stage.run(project.path(), BENCH, "pull_request", &event, "ubuntu-24.04", &red);
    says(&said, false, &["exit status 10", "The report.", "Job failed"]);
    assert_eq!(stage.artifacts("pacegate-evidence-1"), ["evidence.jsonl.zst"]);
    let pages = ["comparisons.csv", "junit.xml", "report.html", "report.md", "verdict.json"];
    assert_eq!(stage.artifacts("pacegate-report-1"), pages);
}

#[test]
fn the_report_gets_the_run_and_a_token_and_nothing_else() {
    let Some(stage) = Stage::set() else { return };
    let project = project();
    let run = |event: &str| {
        let payload = format!(
            r#"{{"action":"completed","workflow_run":{{"id":30433642,"event":"{event}","head_sha":"abc"}},
            "repository":{{"full_name":"octo/speed"}}}}"#
        );
        let token = ["--secret", "GITHUB_TOKEN=ghs_stand_in"];
        stage.run(project.path(), REPORT, "workflow_run", &payload, "ubuntu-24.04", &token)
    };
    let said = run("pull_request");
    says(&said, true, &["CALLED <publish> <--run-id> <30433642>", "WITH TOKEN"]);
    assert!(!said.stdout.contains("ghs_stand_in") && !said.stdout.contains("checkout"));
    assert!(!run("push").stdout.contains("CALLED"));
}

#[test]
fn a_slowdown_of_a_fork_fails_its_job_and_the_same_speed_passes() {
    let Some(mut stage) = Stage::set() else { return };
    stage.programs = Path::new(env!("CARGO_BIN_EXE_pacegate")).parent().unwrap().to_owned();
    let project = project();
    // The same place for every run of the tests, so that criterion is compiled once.
    let target = format!("CARGO_TARGET_DIR={}/act-benches", env!("CARGO_TARGET_TMPDIR"));
    let run = || {
        let event = pull_request("stranger/demo");
        let target = ["--env", &target];
        stage.run(project.path(), BENCH, "pull_request", &event, "ubuntu-24.04", &target)
    };
    // Another constant makes another program of the same speed.
    project.replace("src/lib.rs", "7c15", "7c17");
    project.commit("as fast");
    says(&run(), true, &["Job succeeded"]);
    // So much slower that a busy machine does not hide it.
    project.repeat(400_000);
    project.commit("slower");
    says(&run(), false, &["FAIL", "work::mix", "exit status 10", "Job failed"]);
    // The evidence alone gives the same verdict, which is what the report relies on.
    let evidence = stage.desk.path("artifacts/pacegate-evidence-1/evidence.jsonl.zst");
    project.check(&["replay", evidence.to_str().unwrap()], 10, &["work::mix"]);
    aloud("act measured the same speed to green and a slowdown to red");
    reported(&stage, &project, &fs::read(evidence).unwrap());
}

/// The other half: report.yml takes what the fork's run left and puts the verdict on its pull request.
fn reported(stage: &Stage, project: &Project, evidence: &[u8]) {
    let hub = Hub::new();
    let (head, base) = (project.revision("HEAD"), project.revision("main"));
    let repository = json!({"id": 1, "full_name": REPOSITORY, "owner": {"login": "octo"}});
    let fork = json!({"id": 2, "full_name": "stranger/speed", "owner": {"login": "stranger"}});
    let run = json!({
        "id": 30433642, "run_attempt": 1, "status": "completed", "conclusion": "failure", "event": "pull_request",
        "path": BENCH, "head_sha": head, "head_branch": "topic", "html_url": "https://github.com/octo/speed/actions/runs/1",
        "repository": repository, "head_repository": fork,
    });
    let pull = json!({
        "number": 7, "state": "open", "head": {"sha": head, "ref": "topic", "repo": fork},
        "base": {"sha": base, "ref": "main", "repo": repository},
    });
    let policy = fs::read_to_string(project.path().join("pacegate.yaml")).unwrap();
    hub.state().runs.insert(30433642, run.clone());
    hub.state().pulls.push(pull);
    hub.state().files.insert(("pacegate.yaml".into(), base), policy);
    hub.artifact(30433642, "pacegate-evidence-1", zipped("evidence.jsonl.zst", evidence));

    let event =
        json!({"action": "completed", "workflow_run": run, "repository": repository}).to_string();
    let api = format!("GITHUB_API_URL={}", hub.url);
    let more = ["--env", &api, "--secret", "GITHUB_TOKEN=ghs_sentinel"];
    let report =
        || stage.run(project.path(), REPORT, "workflow_run", &event, "ubuntu-24.04", &more);
    // The second time finds what is there.
    for said in [report(), report()] {
        says(&said, true, &["Job succeeded"]);
        assert!(!format!("{}{}", said.stdout, said.stderr).contains("ghs_sentinel"));
        let state = hub.state();
        assert_eq!((state.checks.len(), state.comments.len()), (1, 1));
        assert_eq!(state.checks[0]["conclusion"], "failure");
        let comment = state.comments[0]["body"].as_str().unwrap();
        assert!(comment.contains("FAIL") && comment.contains("work::mix"), "{comment}");
    }
    aloud("act took the verdict of a fork's run to a check and one comment");
}

/// An archive as GitHub makes it of an artifact with one file.
fn zipped(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(bytes).unwrap();
    archive.finish().unwrap().into_inner()
}

/// Our own workflow in the project, with a folder in place of its remote, and the programs that it uses replaced.
fn own_workflow(stage: &Stage, name: &str) -> Project {
    program(&stage.desk, "bin/cargo", CARGO);
    program(&stage.desk, "bin/gh", GH);
    let project = project();
    project.git(&["switch", "--quiet", "main"]);
    let text = fs::read_to_string(root().join(".github/workflows").join(name)).unwrap();
    project.put(&format!(".github/workflows/{name}"), &text);
    project.put("scripts/action.sha256", "");
    project.commit("our own");
    let remote = stage.desk.path("remote").display().to_string();
    project.git(&["clone", "--quiet", "--bare", ".", &remote]);
    project.git(&["config", "remote.origin.pushurl", &remote]);
    project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    project
}

#[test]
fn a_release_becomes_binaries_and_a_pull_request_with_its_baseline() {
    let Some(stage) = Stage::set() else { return };
    let project = own_workflow(&stage, "release.yml");
    let event = r#"{"action":"published","release":{"tag_name":"v1.2.3"},"ref":"refs/tags/v1.2.3",
        "repository":{"full_name":"octo/speed","default_branch":"main"}}"#;
    // Of the systems that binaries are built for this is the one that is here.
    let pinned = ["--platform", "pinned=-self-hosted"];
    let old = ["--platform", "ubuntu-22.04=-self-hosted", "--matrix", "os:ubuntu-22.04"];
    let more = [&pinned[..], &old].concat();
    let workflow = ".github/workflows/release.yml";
    let said = stage.run(project.path(), workflow, "release", event, "ubuntu-24.04", &more);
    let archive = "pacegate-1.2.3-x86_64-unknown-linux-gnu.tar.gz";
    let says_all = [
        "CALLED <run> <--profile> <full>",
        "CALLED <baseline> <promote> <--label> <1.2.3>",
        &format!("dist/{archive}>"),
        "GH <pr> <create> <--base> <main> <--head> <baseline-1.2.3>",
    ];
    says(&said, true, &says_all);
    assert!(
        said.stdout.lines().any(|line| line.contains("ATTESTED") && line.ends_with(archive)),
        "{}",
        said.stdout
    );
    let remote = stage.desk.path("remote").display().to_string();
    let git = |arguments: &[&str]| project.git(&[&["--git-dir", &remote], arguments].concat());
    let changed = git(&["diff", "--name-only", "main", "baseline-1.2.3"]);
    let ours: Vec<&str> = changed.lines().filter(|file| !file.contains("workflows")).collect();
    assert_eq!(ours, ["baselines/here/1.2.3.jsonl", "scripts/action.sha256"]);
    assert!(
        git(&["show", "baseline-1.2.3:scripts/action.sha256"]).contains(&format!("  {archive}"))
    );
}

#[test]
fn the_night_measures_without_rights_and_then_writes_without_measuring() {
    let Some(stage) = Stage::set() else { return };
    let project = own_workflow(&stage, "watch.yml");
    let more = ["--platform", "pinned=-self-hosted", "--secret", "GITHUB_TOKEN=ghs_stand_in"];
    let event = r#"{"repository":{"full_name":"octo/speed"}}"#;
    let workflow = ".github/workflows/watch.yml";
    let said = stage.run(project.path(), workflow, "schedule", event, "ubuntu-24.04", &more);
    let steps = [
        "CALLED <doctor> <--strict>",
        "CALLED <check> <--profile> <ci> <--baseline> <HEAD> <--out> <target/canary>",
        "CALLED <selftest> <target/canary/evidence.jsonl.zst>",
        "CALLED <run> <--profile> <standard>",
        "GH <auth> <setup-git>",
        "CALLED <history> <add> <target/pacegate/evidence.jsonl.zst> <--store> <git:origin>",
        "CALLED <watch> <--store> <git:origin>",
        "WITH TOKEN",
    ];
    says(&said, true, &steps);
    let places = steps.map(|step| said.stdout.find(step).unwrap());
    assert!(places.is_sorted(), "{}", said.stdout);
}

/// The action's script with stand-ins around it.
struct Action {
    desk: Desk,
    variables: Vec<(String, String)>,
}

impl Action {
    fn new() -> Self {
        let desk = Desk::new();
        let copy =
            |from: &str, to: &str| desk.put(to, &fs::read_to_string(root().join(from)).unwrap());
        for file in ["action.yml", "Cargo.toml", "scripts/action", "scripts/action.sha256"] {
            copy(file, &format!("action/{file}"));
        }
        desk.put("work/here", "");
        let mut action = Action { variables: Vec::new(), desk };
        for name in ["VERSION", "BASELINE"] {
            action.set(&format!("INPUT_{name}"), "");
        }
        action.set("INPUT_PROFILE", "default");
        action.set("INPUT_CONFIG", "pacegate.yaml");
        action.set("EVENT_BASELINE", "");
        action.set("ACTION_REPOSITORY", "owner/pacegate");
        for (name, path) in [
            ("ACTION_PATH", "action"),
            ("GITHUB_OUTPUT", "output"),
            ("GITHUB_STEP_SUMMARY", "summary"),
            ("RUNNER_TEMP", "work"),
        ] {
            let path = action.desk.path(path).display().to_string();
            action.set(name, &path);
        }
        program(&action.desk, "bin/cargo", "#!/bin/sh\necho \"CARGO $*\"\nexit 101\n");
        action
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    #[track_caller]
    fn run(&self, code: i32, words: &[&str]) -> String {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.desk.path("bin").display());
        let output = Command::new("bash")
            .arg(self.desk.path("action/scripts/action"))
            .current_dir(self.desk.path("work"))
            .env_clear()
            .env("PATH", path)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        for word in words {
            assert!(text.contains(word), "no `{word}` in\n{text}");
        }
        fs::read_to_string(self.desk.path("output")).unwrap_or_default()
    }
}

/// Inputs that would do something if any of them were read as a script, an option or a line.
const HOSTILE: [&str; 7] = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "a b",
    "'\"",
    "--out=elsewhere",
    "x\nverdict=pass",
];

#[test]
fn the_action_takes_inputs_as_they_are() {
    let mut action = Action::new();
    program(&action.desk, "bin/pacegate", STAND_IN);
    let output = action
        .run(0, &["CALLED <check> <--profile=default> <--config=pacegate.yaml> <--attempt=1>\n"]);
    let path = action.desk.path("work/target/pacegate").canonicalize().unwrap();
    assert_eq!(output, format!("verdict=fail\nregressions=3\nreport-path={}\n", path.display()));
    assert_eq!(fs::read_to_string(action.desk.path("summary")).unwrap(), "The report.\n");
    action.set("STAND_IN_CODE", "10");
    action.set("EVENT_BASELINE", "abc");
    action.run(10, &["<--baseline=abc>"]);
    for hostile in HOSTILE {
        for name in ["BASELINE", "PROFILE", "CONFIG"] {
            let input = format!("INPUT_{name}");
            action.set(&input, hostile);
            fs::remove_file(action.desk.path("output")).unwrap();
            let output = action.run(10, &["CALLED <check>"]);
            assert!(
                output.starts_with("verdict=fail\n") && output.lines().count() == 3,
                "{output}"
            );
            action.set(&input, "default");
        }
        action.set("INPUT_VERSION", hostile);
        action.run(2, &["no version"]);
        action.set("INPUT_VERSION", "");
    }
    let left: Vec<_> = fs::read_dir(action.desk.path("work"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn the_action_runs_nothing_that_it_does_not_know() {
    let mut action = Action::new();
    // Neither there nor to be had.
    action.run(2, &["CARGO install pacegate --locked --version =", "install it on the runner"]);

    let system = Command::new("uname").arg("-m").output().unwrap();
    let target = format!("{}-unknown-linux-gnu", String::from_utf8(system.stdout).unwrap().trim());
    let version = env!("CARGO_PKG_VERSION");
    let archive = format!("pacegate-{version}-{target}.tar.gz");
    program(&action.desk, "packed/pacegate", STAND_IN);
    let tar = Command::new("tar")
        .arg("-czf")
        .arg(action.desk.path(&archive))
        .arg("-C")
        .arg(action.desk.path("packed"))
        .arg("pacegate")
        .status();
    assert!(tar.unwrap().success());
    let bytes = fs::read(action.desk.path(&archive)).unwrap();
    let right = sha256(&bytes);
    let address = serve(format!("/v{version}/{archive}"), bytes);
    action.set("PACEGATE_DOWNLOADS", &address);

    action.desk.put("action/scripts/action.sha256", &format!("{right}  {archive}\n"));
    let output = action.run(0, &["CALLED <check>"]);
    assert!(output.starts_with("verdict=fail\n"), "{output}");
    let wrong = "0".repeat(64);
    action.desk.put("action/scripts/action.sha256", &format!("{wrong}  {archive}\n"));
    action.run(2, &[&right, &wrong, "nothing of it was run"]);
}

#[test]
fn the_action_is_wired_to_its_script() {
    let Some(stage) = Stage::set() else { return };
    let project = project();
    for file in ["action.yml", "Cargo.toml", "scripts/action", "scripts/action.sha256"] {
        project.put(&format!("its/{file}"), &fs::read_to_string(root().join(file)).unwrap());
    }
    project.put(
        ".github/workflows/action.yml",
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: actions/checkout@v7\n      \
         - id: gate\n        uses: ./its\n        with:\n          baseline: \"$(touch pwned) ${{ github.event.text }}\"\n      \
         - run: echo \"OUT $VERDICT $REGRESSIONS\"; ls\n        env:\n          VERDICT: ${{ steps.gate.outputs.verdict }}\n          \
         REGRESSIONS: ${{ steps.gate.outputs.regressions }}\n",
    );
    project.commit("the action");
    let event = r#"{"text":"\"; touch pwned; echo \"","repository":{"full_name":"octo/speed"}}"#;
    let workflow = ".github/workflows/action.yml";
    let said = stage.run(project.path(), workflow, "push", event, "ubuntu-24.04", &[]);
    says(&said, true, &["OUT fail 3", "CALLED <check>"]);
    assert!(!said.stdout.contains("| pwned"), "{}", said.stdout);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Serves one file to whoever asks for it, until the tests end.
fn serve(path: String, bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            let known = request[..length].starts_with(format!("GET {path} ").as_bytes());
            let (status, body) =
                if known { ("200 OK", &bytes[..]) } else { ("404 Not Found", &[][..]) };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).unwrap();
        }
    });
    address
}
