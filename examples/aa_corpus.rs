//! False alarms against power on real unchanged code: ten forks each of a few hundred JMH benchmarks.
//!
//! `PACEGATE_CORPUS=DIR cargo run --release --example aa_corpus`, where DIR holds `aa-jmh.jsonl.gz`. All 252 ways to call five
//! of the ten forks the baseline are tried. Power is measured by making the candidate slower by a known factor. Each
//! test is one-sided at .05 a benchmark, as nobody should do in a suite; it shows the estimator, not the gate.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use flate2::read::GzDecoder;
use pacegate::stats::trimmed::trimmed;
use pacegate::stats::{Component, Estimate, Prior, Statistic, launch_score, suite_prior, unpaired};
use rayon::prelude::*;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

const ALPHA: f64 = 0.05;
const TOLERANCES: [f64; 7] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0];
const SLOWER: [f64; 4] = [0.0, 3.0, 5.0, 10.0];
const FORKS: usize = 10;

/// How the noise of a side is estimated.
#[derive(Clone, Copy, Debug)]
enum Method {
    /// Each side by itself, this many forks cut at each end.
    Welch(usize),
    /// One variance for both sides, this many forks cut at each end.
    Pooled(usize),
}

/// How much the other benchmarks lend.
type Lend = fn(&[(f64, f64)]) -> Option<Prior>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(corpus) = std::env::var_os("PACEGATE_CORPUS") else {
        println!("skipped: PACEGATE_CORPUS names no folder");
        return Ok(());
    };
    let forks = read(&Path::new(&corpus).join("aa-jmh.jsonl.gz"))?;
    let medians = logs(&forks, Statistic::Median);
    let splits = splits();
    println!(
        "{} benchmarks, {} splits; percent slower found at a true 0 / +3 / +5 / +10 %",
        forks.len(),
        splits.len()
    );
    let rule = rates(
        &medians,
        &splits,
        Method::Welch(0),
        |_| None,
        |estimate| 1.03f64.ln() < estimate.delta && estimate.p_two_sided(0.0) < ALPHA,
    );
    println!("rule: Welch of medians, p < .05, above 3 %   {}", show(rule));
    for (score, statistic) in [
        ("mean", Statistic::Mean),
        ("trimmed", Statistic::default()),
        ("median", Statistic::Median),
    ] {
        let logs = logs(&forks, statistic);
        for method in [Method::Welch(0), Method::Welch(1), Method::Pooled(0)] {
            for (name, lend) in LENDS {
                for tolerance in TOLERANCES {
                    let margin = (tolerance / 100.0f64).ln_1p();
                    let found = |estimate: &Estimate| estimate.p_above(margin) < ALPHA;
                    let rates = rates(&logs, &splits, method, lend, found);
                    println!(
                        "{score:8} {method:?} prior {name:5} tolerance {tolerance} %   {}",
                        show(rates)
                    );
                }
            }
        }
    }
    let single = medians.iter().filter_map(|y| unpaired(&y[..1], &y[1..2], [None, None], None));
    println!("one fork a side: {} of {} can be tested", single.count(), medians.len());
    Ok(())
}

const LENDS: [(&str, Lend); 2] = [("none", |_| None), ("suite", suite_prior)];

fn show(rates: [f64; 4]) -> String {
    rates.map(|rate| format!("{:6.2}", 100.0 * rate)).join(" ")
}

/// The share of all benchmarks and splits that `found` calls slower, for each of [`SLOWER`].
fn rates(
    logs: &[Vec<f64>],
    splits: &[[Vec<usize>; 2]],
    method: Method,
    lend: Lend,
    found: impl Fn(&Estimate) -> bool + Sync,
) -> [f64; 4] {
    let counts = splits
        .par_iter()
        .map(|split| {
            let sides: Vec<[Side; 2]> =
                logs.iter().map(|y| split.each_ref().map(|forks| side(y, forks, method))).collect();
            let variances: Vec<(f64, f64)> = sides
                .iter()
                .flat_map(|[a, b]| match method {
                    Method::Welch(_) => vec![(a.variance, a.df), (b.variance, b.df)],
                    Method::Pooled(_) => vec![(0.5 * (a.variance + b.variance), a.df + b.df)],
                })
                .collect();
            let prior = lend(&variances);
            let mut counts = [0usize; 4];
            for [a, b] in &sides {
                let estimate = estimate(a, b, method, prior.as_ref());
                for (count, slower) in counts.iter_mut().zip(SLOWER) {
                    let delta = estimate.delta + (slower / 100.0).ln_1p();
                    *count += usize::from(found(&Estimate { delta, ..estimate }));
                }
            }
            counts
        })
        .reduce(|| [0; 4], |a, b| std::array::from_fn(|i| a[i] + b[i]));
    counts.map(|count| count as f64 / (splits.len() * logs.len()) as f64)
}

struct Side {
    center: f64,
    /// Of one fork.
    variance: f64,
    df: f64,
}

fn side(logs: &[f64], forks: &[usize], method: Method) -> Side {
    let (Method::Welch(cut) | Method::Pooled(cut)) = method;
    let values: Vec<f64> = forks.iter().map(|fork| logs[*fork]).collect();
    let trimmed = trimmed(&values, cut).expect("five forks survive a cut of one");
    let (squared, df) = trimmed.squared_error().expect("at least three are kept");
    Side { center: trimmed.mean, variance: squared * forks.len() as f64, df }
}

fn estimate(a: &Side, b: &Side, method: Method, prior: Option<&Prior>) -> Estimate {
    let forks = FORKS as f64 / 2.0;
    let moderate = |variance: f64, df: f64| match prior {
        Some(prior) if !prior.contradicted_by(variance, df) => prior.moderate(variance, df),
        _ => (variance, df),
    };
    let component =
        |(variance, df): (f64, f64), share: f64| Component { variance: variance * share, df };
    let components = match method {
        Method::Welch(_) => {
            [a, b].map(|side| component(moderate(side.variance, side.df), 1.0 / forks)).to_vec()
        }
        Method::Pooled(_) => {
            let pooled = moderate(0.5 * (a.variance + b.variance), a.df + b.df);
            vec![component(pooled, 2.0 / forks)]
        }
    };
    Estimate::from_components(b.center - a.center, &components)
}

fn splits() -> Vec<[Vec<usize>; 2]> {
    (0u32..1 << FORKS)
        .filter(|mask| mask.count_ones() as usize == FORKS / 2)
        .map(|mask| {
            let chosen = |side: u32| (0..FORKS).filter(|i| mask >> i & 1 == side).collect();
            [chosen(0), chosen(1)]
        })
        .collect()
}

fn logs(forks: &[Vec<Vec<f64>>], statistic: Statistic) -> Vec<Vec<f64>> {
    let of = |bench: &Vec<Vec<f64>>| {
        bench.iter().map(|fork| launch_score(fork, statistic).ln()).collect()
    };
    forks.iter().map(of).collect()
}

fn read(path: &Path) -> Result<Vec<Vec<Vec<f64>>>, Box<dyn std::error::Error>> {
    let mut benches = Vec::new();
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        let row: Value = serde_json::from_str(&line?)?;
        benches.push(serde_json::from_value(row["forks"].clone())?);
    }
    Ok(benches)
}
