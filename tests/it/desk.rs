//! A folder of its own for a test, and the program in it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pacegate::gate::Policy;
use pacegate::model::Arm;
use pacegate::store::evidence::{Ending, EvidenceFile};
use serde_json::Value;
use tempfile::TempDir;

use crate::runs::Session;

/// A folder of its own, and the program in it.
pub(crate) struct Desk(TempDir);

/// What a run of the program gave.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the program without anything from the outside that could change what it says.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, &[])
    }

    /// The same with an environment.
    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, String)]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_pacegate"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(environment.iter().cloned())
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, arguments: &[&str], code: i32, says: &[&str]) -> Said {
        let said = self.run(arguments);
        let all = format!("{}{}", said.stdout, said.stderr);
        assert_eq!(said.code, code, "{arguments:?}\n{all}");
        for text in says {
            assert!(all.contains(text), "{arguments:?} should say `{text}`\n{all}");
        }
        said
    }

    pub(crate) fn verdict(&self) -> Value {
        let text = fs::read_to_string(self.path("target/pacegate/verdict.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// One process of criterion, as it leaves it: benchmarks of these times, give or take.
    pub(crate) fn tree(&self, name: &str, benchmarks: &[(&str, f64)]) {
        for (benchmark, time) in benchmarks {
            let folder = format!("{name}/{benchmark}/new");
            self.put(
                &format!("{folder}/benchmark.json"),
                &format!(r#"{{"full_id":"{benchmark}"}}"#),
            );
            let times: Vec<String> =
                (0..20).map(|i| (time * (1.0 + 0.001 * f64::from(i % 5))).to_string()).collect();
            let sample = format!(
                r#"{{"sampling_mode":"Flat","iters":[{}],"times":[{}]}}"#,
                vec!["1.0"; 20].join(","),
                times.join(",")
            );
            self.put(&format!("{folder}/sample.json"), &sample);
        }
    }

    pub(crate) fn evidence(&self, name: &str, session: &Session) {
        let runs = [
            (Arm::Baseline, session.baseline.clone()),
            (Arm::Candidate, session.candidate.clone()),
        ];
        let file = EvidenceFile {
            pacegate: "0.0.0".into(),
            started: None,
            policy: Policy::default(),
            plan: None,
            notices: Vec::new(),
            runs: runs.into(),
            ending: Ending::Complete,
        };
        file.write(&self.path(name)).unwrap();
    }
}
