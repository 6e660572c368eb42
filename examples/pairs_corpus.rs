//! Scores the paired estimator on recorded pairs whose true ratio is known.
//!
//! `PACEGATE_CORPUS=DIR cargo run --release --example pairs_corpus`, where DIR holds
//! `pairs-shared-runner.jsonl.gz` and `pairs-shared-runner-2.jsonl.gz`. For each experiment, twenty pairs a workload are drawn
//! with replacement, with a fixed seed; no history; a one-sided level of .0005, as in a suite of a hundred.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use flate2::read::GzDecoder;
use pacegate::stats::{
    Course, Prior, Statistic, launch_score, overlap_score, own_variance, paired, suite_prior,
    turns_score,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

const FILES: [&str; 2] = ["pairs-shared-runner.jsonl.gz", "pairs-shared-runner-2.jsonl.gz"];
const DRAWS: usize = 4000;
const LEVEL: f64 = 0.0005;
const ALPHA_PASS: f64 = 0.05;

/// Pair scores by workload and true ratio in per mille.
type Workloads = BTreeMap<String, BTreeMap<i64, Vec<f64>>>;

type Lend = fn(&[(f64, f64)]) -> Option<Prior>;
const NOTHING: Lend = |_| None;
const SUITE: Lend = suite_prior;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(corpus) = std::env::var_os("PACEGATE_CORPUS") else {
        println!("skipped: PACEGATE_CORPUS names no folder");
        return Ok(());
    };
    println!(
        "experiment       trial pool      pairs  prior    red cleared    +5 %   +10 %   (percent, mean over workloads)"
    );
    for (trial, file) in FILES.into_iter().enumerate() {
        for (experiment, workloads) in read(&Path::new(&corpus).join(file))? {
            for (pool, workloads) in [("centred", centred(&workloads)), ("recorded", workloads)] {
                for (pairs, name, lend) in [
                    (10, "none", NOTHING),
                    (20, "none", NOTHING),
                    (10, "suite", SUITE),
                    (20, "suite", SUITE),
                ] {
                    let [red, cleared, five, ten] = rates(&workloads, pairs, lend);
                    println!(
                        "{experiment:20} {trial}     {pool:9} {pairs:5}  {name:5} {red:6.2} {cleared:7.2} {five:7.2} {ten:7.2}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// Shares in percent: unchanged called red, unchanged cleared, +5 % caught, +10 % caught.
fn rates(workloads: &Workloads, pairs: usize, lend: Lend) -> [f64; 4] {
    let tolerance = 1.02f64.ln();
    let mut rng = Pcg64Mcg::seed_from_u64(20);
    let mut counts = [0usize; 4];
    for _ in 0..DRAWS {
        let mut draw = |ratio: i64| -> Vec<Vec<f64>> {
            let pools = workloads.values().map(|ratios| &ratios[&ratio]);
            pools
                .map(|pool| (0..pairs).map(|_| pool[rng.random_range(0..pool.len())]).collect())
                .collect()
        };
        let (unchanged, slower) = (draw(1000), draw(1050));
        let lend =
            |sets: &[Vec<f64>]| lend(&sets.iter().map(|set| own_variance(set)).collect::<Vec<_>>());
        let prior = lend(&unchanged);
        for set in &unchanged {
            let estimate = paired(set, prior.as_ref()).expect("twenty pairs can be tested");
            counts[0] += usize::from(estimate.p_above(tolerance) <= LEVEL);
            counts[1] += usize::from(estimate.upper(ALPHA_PASS) < tolerance);
        }
        let prior = lend(&slower);
        for set in &slower {
            let mut estimate = paired(set, prior.as_ref()).expect("twenty pairs can be tested");
            counts[2] += usize::from(estimate.p_above(tolerance) <= LEVEL);
            estimate.delta += (1.10f64 / 1.05).ln();
            counts[3] += usize::from(estimate.p_above(tolerance) <= LEVEL);
        }
    }
    counts.map(|count| 100.0 * count as f64 / (DRAWS * workloads.len()) as f64)
}

/// All pairs of a workload as if they came from one experiment: the known ratio is taken off each, and put back on all.
///
/// The recorded pairs of one ratio are so few that their own mean is off by up to a percent, which no test can mend;
/// centred ones show the test alone.
fn centred(workloads: &Workloads) -> Workloads {
    let log = |ratio: &i64| (*ratio as f64 / 1000.0).ln();
    workloads
        .iter()
        .map(|(workload, ratios)| {
            let noise: Vec<f64> = ratios
                .iter()
                .flat_map(|(r, scores)| scores.iter().map(move |d| d - log(r)))
                .collect();
            let shifted = |r: &i64| (*r, noise.iter().map(|d| d + log(r)).collect());
            (workload.clone(), ratios.keys().map(shifted).collect())
        })
        .collect()
}

fn read(path: &Path) -> Result<BTreeMap<String, Workloads>, Box<dyn std::error::Error>> {
    let mut scores: BTreeMap<String, Workloads> = BTreeMap::new();
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_string();
        let experiment = text("experiment");
        let numbers = |side: &str, key: &str| -> Vec<f64> {
            row[side][key].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        let times = |side: &str| -> Vec<f64> {
            let iters = numbers(side, "iters");
            numbers(side, "times_ns").iter().zip(iters).map(|(time, n)| time / n).collect()
        };
        let (baseline, candidate) = (times("baseline"), times("candidate"));
        let spans = (numbers("baseline", "times_ns"), numbers("candidate", "times_ns"));
        let score = if experiment.starts_with("in-turn") {
            let log = |values: &[f64]| launch_score(values, Statistic::default()).ln();
            log(&candidate) - log(&baseline)
        } else if experiment.starts_with("co-run") {
            overlap_score(
                Course { values: &baseline, spans: &spans.0 },
                Course { values: &candidate, spans: &spans.1 },
            )
        } else {
            turns_score(&baseline, &candidate)
        };
        let ratio = (1000.0 * row["true_ratio"].as_f64().unwrap_or(1.0)).round() as i64;
        let workload = scores.entry(experiment).or_default().entry(text("bench")).or_default();
        workload.entry(ratio).or_default().push(score);
    }
    Ok(scores)
}
