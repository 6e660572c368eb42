//! The stored half of the gate for real: a project with one bench, a promoted baseline, a slowdown of 40 %, an accept
//! record, and a baseline of another machine. Asserts exit codes and words, never a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use pacegate::model::{Arm, Evidence};
use pacegate::store::Limits;
use pacegate::store::baseline::{Baselines, FOLDER};
use pacegate::store::evidence::EvidenceFile;

const MANIFEST: &str = r#"
[package]
name = "fixture"
version = "1.2.3"
edition = "2024"
publish = false

[workspace]

[dev-dependencies]
criterion = { version = "0.8.2", default-features = false, features = ["cargo_bench_support"] }

[[bench]]
name = "work"
harness = false

[profile.bench]
opt-level = 1
debug = false
"#;

const BENCH: &str = r#"
use criterion::{Criterion, criterion_group, criterion_main};

fn benches(c: &mut Criterion) {
    c.bench_function("mix", |b| b.iter(|| fixture::compute(std::hint::black_box(1))));
}

criterion_group!(all, benches);
criterion_main!(all);
"#;

const CONFIG: &str = "\
runner_class: here
profiles:
  default:
    looks: [5, 10]
    launch: {warm_up: 20ms, measurement: 60ms, samples: 10}
    stored: {launches: 6}
";

/// A project in a repository of its own, and the program in it.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    pub(crate) fn new() -> Self {
        let project = Project(tempfile::tempdir().unwrap());
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture-benches/Cargo.lock");
        fs::copy(lock, project.path().join("Cargo.lock")).unwrap();
        project.put("Cargo.toml", MANIFEST);
        project.put("benches/work.rs", BENCH);
        project.put("pacegate.yaml", CONFIG);
        project.put(".gitignore", "target\n");
        project.repeat(100_000);
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.commit("first");
        project
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Work that takes a time in proportion to the repeats.
    pub(crate) fn repeat(&self, repeats: u32) {
        let source = format!(
            "pub fn compute(seed: u64) -> u64 {{\n    (0..{repeats}u32).fold(seed, |x, _| \
             (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15))\n}}\n"
        );
        self.put("src/lib.rs", &source);
    }

    /// Writes something else in place of every occurrence of a text.
    pub(crate) fn replace(&self, name: &str, text: &str, other: &str) {
        let old = fs::read_to_string(self.path().join(name)).unwrap();
        let new = old.replace(text, other);
        assert_ne!(old, new, "{name} holds no `{text}`");
        self.put(name, &new);
    }

    /// The full id of a commit.
    pub(crate) fn revision(&self, name: &str) -> String {
        self.git(&["rev-parse", name]).trim().to_owned()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@localhost", "-C"])
            .arg(self.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// The exit code, and what the program said, with blanks for line ends.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        // The same place for every run of the tests, so that criterion is compiled once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored-benches");
        let output = Command::new(env!("CARGO_BIN_EXE_pacegate"))
            .args(arguments)
            .current_dir(self.path())
            .env("CARGO_TARGET_DIR", target)
            .env_remove("PACEGATE_RUNNER_CLASS")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].map(|out| String::from_utf8(out).unwrap());
        let words: Vec<&str> = said.iter().flat_map(|out| out.split_whitespace()).collect();
        (output.status.code().unwrap(), words.join(" "))
    }

    #[track_caller]
    pub(crate) fn check(&self, arguments: &[&str], code: i32, says: &[&str]) {
        expect(arguments, &self.run(arguments), code, says);
    }

    /// A check, and its evidence judged as if nobody had waited for a CPU: other tests run beside this one, and launches
    /// that they disturbed prove nothing about a release, which the check itself must then say.
    #[track_caller]
    fn check_calmly(&self, code: i32, says: &[&str]) {
        // The base is as slow as the candidate, so that only the stored baseline can tell.
        let check = ["check", "--baseline", "HEAD", "--seed", "2"];
        let said = self.run(&check);
        let path = self.path().join("target/pacegate/evidence.jsonl.zst");
        let mut file = EvidenceFile::read(&path, &Limits::OWN).unwrap();
        let [series] = file.runs.get_mut(&Arm::Alone).unwrap().series.as_mut_slice() else {
            panic!("the fixture has one benchmark")
        };
        let Evidence::Sampled(launches) = &mut series.evidence else { panic!("plain launches") };
        let disturbed = launches.iter().filter(|launch| launch.was_disturbed()).count();
        if 2 * disturbed > launches.len() {
            let notice = "measured while something else used the CPU (1): work::mix";
            expect(&check, &said, 0, &[notice]);
        } else {
            expect(&check, &said, code, says);
        }
        launches.iter_mut().for_each(|launch| launch.usage = None);
        file.write(&path).unwrap();
        // Evidence holds both references, so that it is judged again without measuring.
        self.check(&["replay", "target/pacegate/evidence.jsonl.zst"], code, says);
    }
}

#[track_caller]
fn expect(arguments: &[&str], (code, words): &(i32, String), expected: i32, says: &[&str]) {
    assert_eq!(*code, expected, "{arguments:?}\n{words}");
    for text in says {
        assert!(words.contains(text), "{arguments:?} should say `{text}`\n{words}");
    }
}

#[test]
fn a_promoted_baseline_guards_what_comes_after_it() {
    let project = Project::new();
    project.check(&["run", "--seed", "1"], 0, &["measured 1 benchmarks"]);
    // A busy machine disturbs launches, which speaks against a baseline anywhere else.
    project.check(
        &["baseline", "promote", "--label", "1.0.0", "--because", "whatever this machine is like"],
        0,
        &["promoted 1.0.0 of class here"],
    );
    project.check(&["baseline", "verify"], 0, &["ok here/1.0.0"]);
    // So much slower that a busy machine does not hide it; tests of made evidence go to the edges.
    project.repeat(400_000);
    project.commit("slower, and the baseline");

    let says = ["work::mix vs release by", "since 1.0.0", "1 commit ago", "stored, plain launches"];
    project.check_calmly(10, &says);
    let refused = ["baseline", "promote", "--label", "1.1.0"];
    project.check(&refused, 2, &["beside another revision", "pacegate run"]);

    let accept = |ceiling: &'static str| {
        ["accept", "mix", "--ceiling", ceiling, "--reason", "it is worth it", "--until", "2.0.0"]
    };
    project.check(&accept("900%"), 0, &["accepted work::mix"]);
    let says = ["Accepted: work::mix up to +900 %", "until 2.0.0: it is worth it"];
    project.check_calmly(0, &says);
    project.check(&accept("6%"), 0, &[]);
    project.check_calmly(10, &["FAIL", "Accepted: work::mix up to +6 %"]);

    // The same release on another machine.
    let baselines = Baselines::at(project.path().join(FOLDER));
    let place = baselines.find("1.0.0").unwrap().unwrap();
    let mut foreign = baselines.read(&place, &Limits::OWN).unwrap();
    foreign.header.label = "1.0.1".parse().unwrap();
    foreign.header.environment.hard.insert("cpu".into(), "another one".into());
    baselines.add(&foreign).unwrap();
    let check = ["check", "--baseline", "HEAD", "--seed", "2"];
    project.check(&check, 4, &["NOT COMPARABLE", "cpu another one", "from that of 1.0.1"]);
}
