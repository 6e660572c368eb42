//! Histories that never happened: how often `watch` calls out for nothing, how soon it sees a step, and what it makes of
//! blips.
//!
//! A series is a level with 1.1 % of normal noise a run, and one run in fifty that is 10 % slower by itself.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::history::{Commit, Key, Point, Settings, Timeline, Track, watch};
use crate::model::{BenchmarkId, Experiment, Metric};
use crate::stats::changepoint::{Shape, levels};
use crate::stats::dist::normal_upper;

/// Noise of a run.
const NOISE: f64 = 0.011;

/// Share of runs that are slow by themselves, and by how much.
const WILD_SHARE: f64 = 0.02;
const WILD: f64 = 1.10;

/// Runs of a series without a change, and before a step.
const RUNS: usize = 100;
const STEP_AT: usize = 60;

/// Runs within which a step may be found.
const WITHIN: [usize; 3] = [5, 10, 24];

/// Runs after which a blip should be forgotten.
const FORGOTTEN: usize = 20;

/// What came of a number of series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Steps that were told though there was none, a hundred runs.
    pub false_steps: f64,
    /// Share of series with one.
    pub false_series: f64,
    /// Drifts that were told, a hundred runs.
    pub drifts: f64,
}

/// Looks once at each of `series` series of a hundred runs without a change, whose level wanders by `walk` a run.
pub fn still(series: u32, walk: f64, seed: u64) -> Rates {
    let counts: Vec<(usize, usize)> = (0..series)
        .into_par_iter()
        .map(|number| {
            let mut runs = Runs::new(seed, number);
            let mut level = 0.0;
            let ys: Vec<f64> = (0..RUNS)
                .map(|_| {
                    level += walk * runs.normal();
                    level + runs.run()
                })
                .collect();
            let changes = levels(&ys, Settings::default().smallest.ln_1p()).changes;
            let steps = changes.iter().filter(|change| change.shape == Shape::Step).count();
            (steps, changes.len() - steps)
        })
        .collect();
    let n = f64::from(series);
    Rates {
        false_steps: counts.iter().map(|(steps, _)| *steps as f64).sum::<f64>() / n,
        false_series: counts.iter().filter(|(steps, _)| 0 < *steps).count() as f64 / n,
        drifts: counts.iter().map(|(_, drifts)| *drifts as f64).sum::<f64>() / n,
    }
}

/// Share of series in which a slowdown by `ratio` at run sixty is told as a step within five, ten and twenty-four runs.
pub fn found(series: u32, ratio: f64, seed: u64) -> [f64; 3] {
    let delays: Vec<Option<usize>> = (0..series)
        .into_par_iter()
        .map(|number| {
            let mut runs = Runs::new(seed, number);
            let last = STEP_AT + WITHIN[2];
            let ys: Vec<f64> = (0..last)
                .map(|at| runs.run() + if at < STEP_AT { 0.0 } else { ratio.ln() })
                .collect();
            (1..=WITHIN[2]).find(|delay| {
                let seen = &ys[..STEP_AT + delay];
                levels(seen, Settings::default().smallest.ln_1p()).changes.iter().any(|change| {
                    change.shape == Shape::Step
                        && 0.0 < change.shift()
                        && STEP_AT <= change.latest + 1
                })
            })
        })
        .collect();
    WITHIN.map(|within| {
        let soon = delays.iter().flatten().filter(|delay| **delay <= within).count();
        soon as f64 / f64::from(series)
    })
}

/// Share of blips, `runs` runs that are slower by `ratio`, that are suspected at some time, and that are open twenty runs
/// after.
pub fn blips(series: u32, runs: usize, ratio: f64, seed: u64) -> [f64; 2] {
    let told: Vec<(bool, bool)> = (0..series)
        .into_par_iter()
        .map(|number| {
            let mut noise = Runs::new(seed, number);
            let last = STEP_AT + runs + FORGOTTEN;
            let ys: Vec<f64> = (0..last)
                .map(|at| {
                    let inside = (STEP_AT..STEP_AT + runs).contains(&at);
                    noise.run() + if inside { ratio.ln() } else { 0.0 }
                })
                .collect();
            let mut suspected = false;
            let mut open = false;
            for seen in STEP_AT + 1..=last {
                let findings = watch(&timeline(&ys[..seen]), &[], &Settings::default());
                suspected |= !findings.alerts.is_empty();
                open = findings.alerts.iter().any(crate::history::Alert::is_open);
            }
            (suspected, open)
        })
        .collect();
    let share = |pick: fn(&(bool, bool)) -> bool| {
        told.iter().filter(|told| pick(told)).count() as f64 / f64::from(series)
    };
    [share(|told| told.0), share(|told| told.1)]
}

/// How often `watch` is right, as a table. On two cores a thousand series take half a minute.
pub fn table(series: u32, seed: u64) -> String {
    let mut text = format!(
        "{series} series each; runs vary by {:.1} %, and one in fifty is 10 % slower by itself\n\n",
        100.0 * NOISE
    );
    for (name, walk) in [("nothing changes", 0.0), ("level wanders by 0.1 % a run", 0.001)] {
        let rates = still(series, walk, seed);
        let _ = writeln!(
            text,
            "{name:30}  {:.3} false steps a hundred runs, in {:.1} % of the series; {:.3} drifts",
            rates.false_steps,
            100.0 * rates.false_series,
            rates.drifts
        );
    }
    for ratio in [1.02, 1.03, 1.05] {
        let [five, ten, more] = found(series, ratio, seed);
        let name = format!("+{:.0} % from run {STEP_AT} on", 100.0 * (ratio - 1.0));
        let _ = writeln!(
            text,
            "{name:30}  found within 5 runs {:.1} %, within 10 {:.1} %, within 24 {:.1} %",
            100.0 * five,
            100.0 * ten,
            100.0 * more
        );
    }
    for runs in [1, 2, 3] {
        let [suspected, open] = blips(series.div_ceil(4), runs, 1.05, seed);
        let name = format!("+5 % for {runs} {}", if runs == 1 { "run" } else { "runs" });
        let _ = writeln!(
            text,
            "{name:30}  suspected at some time {:.1} %, open {FORGOTTEN} runs later {:.1} %",
            100.0 * suspected,
            100.0 * open
        );
    }
    text
}

/// A timeline of one series of commits in a row.
pub fn timeline(ys: &[f64]) -> Timeline {
    let commit = |number: usize| Commit {
        id: format!("run {number}"),
        position: Some(number as u64),
        committed_s: None,
    };
    Timeline {
        commits: (0..ys.len()).map(commit).collect(),
        series: vec![Track {
            key: Key {
                id: BenchmarkId::new("simulated", "series"),
                metric: Metric::time().name,
                experiment: Experiment::Plain,
                class: "unknown".into(),
            },
            metric: Metric::time(),
            exact: false,
            points: ys
                .iter()
                .enumerate()
                .map(|(commit, &y)| Point {
                    commit,
                    y,
                    value: 100.0 * y.exp(),
                    squared_error: None,
                    runs: 1,
                })
                .collect(),
        }],
        ..Timeline::default()
    }
}

/// Draws runs.
struct Runs(Pcg64Mcg);

impl Runs {
    fn new(seed: u64, number: u32) -> Self {
        Runs(Pcg64Mcg::seed_from_u64(seed ^ u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    fn normal(&mut self) -> f64 {
        normal_upper(self.0.random_range(1e-12..1.0))
    }

    /// The logarithm of one run.
    fn run(&mut self) -> f64 {
        let wild = if self.0.random_bool(WILD_SHARE) { WILD.ln() } else { 0.0 };
        NOISE * self.normal() + wild
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promises at a small size; `pacegate selftest --simulate history` counts them at a large one.
    #[test]
    fn promises_hold() {
        // At most 0.02 false steps a hundred runs; three standard errors of four hundred series above it.
        let rates = still(400, 0.0, 1);
        assert!(rates.false_steps <= 0.02 + 3.0 * (0.02f64 / 400.0).sqrt(), "{rates:?}");
        // At least 95 % of +3 % within ten runs; three standard errors below it.
        let [_, ten, _] = found(300, 1.03, 2);
        assert!(0.95 - 3.0 * (0.95f64 * 0.05 / 300.0).sqrt() <= ten, "{ten}");
        // At most 1 % of blips left open.
        for runs in 1..=3 {
            let [_, open] = blips(60, runs, 1.05, 3);
            assert!(open <= 0.01 + 3.0 * (0.01f64 / 60.0).sqrt(), "{runs}: {open}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        assert_eq!(table(8, 5), table(8, 5));
        assert_ne!(table(8, 5), table(8, 6));
    }
}
