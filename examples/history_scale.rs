//! How far each store goes: keeps made-up runs in a folder, on a branch of a bare repository beside it, and in the stores
//! that are named, and prints what that took. `docs/scale.md` has what it printed.
//!
//! ```console
//! $ cargo run --release --example history_scale -- 1000 100
//! $ target/tools/venv/bin/python tests/it/objects/server.py \
//!       cargo run --release --features object-store --example history_scale -- 100 1000 s3://history/scale
//! ```

#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pacegate::history::{Commit, Entry, Head, Row, Settings, Timeline, Values, watch};
use pacegate::model::{BenchmarkId, Environment, Experiment, Metric};
use pacegate::store::history::Store;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn main() -> Result {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().map_or(Ok(100), |argument| argument.parse::<usize>());
    let (benchmarks, runs) = (number()?, number()?);
    let place = tempfile::tempdir()?;
    git(place.path(), &["init", "--quiet", "--bare", "remote.git"])?;
    git(place.path(), &["clone", "--quiet", "remote.git", "user"])?;
    let user = place.path().join("user");
    println!("{benchmarks} benchmarks of ten launches, {runs} runs");
    let stores = ["folder", "git:origin"].map(str::to_owned).into_iter().chain(arguments);
    for store in stores {
        fill(&store, &user, benchmarks, runs)?;
    }
    git(&place.path().join("remote.git"), &["gc", "--quiet"])?;
    let packed = size(&place.path().join("remote.git"));
    println!("the whole bare repository, packed by git gc: {:.2} MiB", mebibytes(packed));
    Ok(())
}

fn fill(name: &str, directory: &Path, benchmarks: usize, runs: usize) -> Result {
    let store = Store::open(name, directory)?;
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    // All but the last few at once, as an import does; then one after the other, as jobs do.
    let single = runs.min(10);
    let all: Vec<Entry> = (0..runs).map(|run| entry(run, benchmarks, &mut rng)).collect();
    let began = Instant::now();
    store.add(&all[..runs - single], None)?;
    let at_once = began.elapsed();
    let began = Instant::now();
    for entry in &all[runs - single..] {
        store.add(std::slice::from_ref(entry), None)?;
    }
    let each = began.elapsed() / single as u32;
    let began = Instant::now();
    let kept = store.read()?;
    let reading = began.elapsed();
    assert_eq!((kept.entries.len(), kept.notices.len()), (runs, 0), "everything is there");
    let began = Instant::now();
    let timeline = Timeline::of(&kept.entries);
    let ordered = began.elapsed();
    let began = Instant::now();
    let findings = watch(&timeline, &[], &Settings::default());
    let watching = began.elapsed();
    println!(
        "{name:10}  {:.2} MiB, {:.1} KiB a run; {} runs at once {at_once:.2?}, one more {each:.2?}, read {reading:.2?}, put in order {ordered:.2?}, watch {watching:.2?} ({} series, {} alerts)",
        mebibytes(kept.size.bytes),
        kept.size.bytes as f64 / 1024.0 / runs as f64,
        runs - single,
        findings.watched,
        findings.alerts.len()
    );
    Ok(())
}

fn entry(run: usize, benchmarks: usize, rng: &mut Pcg64Mcg) -> Entry {
    let row = |benchmark: usize, rng: &mut Pcg64Mcg| {
        let typical = 100.0 * (benchmark + 1) as f64;
        let score = |rng: &mut Pcg64Mcg| {
            // Nine digits, as a launch's score is kept.
            let value = typical * (1.0 + 0.02 * rng.random::<f64>());
            (value * 1e6).round() / 1e6
        };
        Row {
            id: BenchmarkId::new("suite", format!("group/benchmark/{benchmark:05}")),
            metric: Metric::time(),
            experiment: Experiment::Plain,
            values: Values::Launches((0..10).map(|_| score(rng)).collect()),
            seconds: Some(3.5),
            identical: false,
        }
    };
    Entry {
        head: Head {
            pacegate: "0.1.0".into(),
            commit: Commit {
                id: format!("{:040x}", 0xABCD_EF01_u64 + run as u64),
                position: Some(run as u64),
                committed_s: None,
            },
            shard: "all".into(),
            attempt: 1,
            measured_s: Some(1_700_000_000 + run as i64),
            session: Some(format!("session {run}")),
            environment: Environment::default(),
            baseline: None,
        },
        rows: (0..benchmarks).map(|benchmark| row(benchmark, rng)).collect(),
    }
}

fn git(directory: &Path, arguments: &[&str]) -> Result {
    let status = Command::new("git").arg("-C").arg(directory).args(arguments).status()?;
    if status.success() { Ok(()) } else { Err(format!("git {arguments:?} failed").into()) }
}

fn size(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten();
    files
        .filter_map(|entry| entry.metadata().ok())
        .filter(|meta| meta.is_file())
        .map(|m| m.len())
        .sum()
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
