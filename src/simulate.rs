//! Benchmarks that never ran: launches drawn from noise of a known kind, with a known true ratio, so that the gate's
//! promises can be counted instead of believed.
//!
//! ```text
//!  seed ── Bench: launches ── two Runs ── compare ── judge ── wants_more? ─┐
//!                   ↑                                                      │
//!                   └──────────────── the next look ───────────────────────┘
//! ```
//!
//! Everything follows from a seed, and everything behind the launches is the gate itself. The families are assumptions
//! about the world; [`Noise::Runner`] is the one that the design was made with, the others are what else a runner may do.

pub mod history;

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::compare::{Method, compare};
use crate::gate::{Policy, Row, Verdict, judge};
use crate::model::{
    BenchmarkId, Evidence, Experiment, Launch, Metric, Reference, Run, Sample, Series,
};
use crate::stats::{Statistic, launch_score};

/// Samples in one simulated launch.
const SAMPLES: usize = 100;

/// A kind of noise. Percentages are of the benchmark's time, at scale 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noise {
    /// A pinned runner: launches differ by 1 %, samples by 2 % with a correlation of one half, one sample in fifty is
    /// a spike of 30 % on average, and three launches in a hundred run 10 % slower throughout.
    Runner,
    /// Launches by 1 %, samples by 2 %, all normal and independent.
    Normal,
    /// As normal, but with samples skewed to the right.
    LogNormal,
    /// As normal, but one launch in ten runs 10 % slower throughout.
    SlowMode,
    /// Launches and samples follow Student's distribution with three degrees of freedom.
    HeavyTail,
    /// The machine becomes slower by 0.5 % with every pair; the order within a pair is random.
    Drift,
    /// Samples with a correlation of 0.9, launches of one side with one of 0.5.
    Autocorrelated,
    /// As normal, read from a clock whose tick is 1 % of a sample.
    Quantised,
}

impl Noise {
    /// All families, in the order in which a table shows them.
    pub const ALL: [Noise; 8] = [
        Noise::Runner,
        Noise::Normal,
        Noise::LogNormal,
        Noise::SlowMode,
        Noise::HeavyTail,
        Noise::Drift,
        Noise::Autocorrelated,
        Noise::Quantised,
    ];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Noise::Runner => "runner",
            Noise::Normal => "normal",
            Noise::LogNormal => "log-normal",
            Noise::SlowMode => "slow mode",
            Noise::HeavyTail => "heavy tail",
            Noise::Drift => "drift",
            Noise::Autocorrelated => "autocorrelated",
            Noise::Quantised => "quantised",
        }
    }
}

/// A benchmark of which any number of launch pairs can be drawn.
#[derive(Clone, Debug)]
pub struct Bench {
    noise: Noise,
    scale: f64,
    log_ratio: f64,
    rng: Pcg64Mcg,
    /// The launch effects of baseline and candidate before, for noise with memory.
    before: [f64; 2],
    /// The normal value that was drawn along with the last one.
    spare: Option<f64>,
    pairs: u32,
}

impl Bench {
    /// A benchmark whose candidate takes `ratio` times as long; `scale` multiplies the noise.
    pub fn new(noise: Noise, scale: f64, ratio: f64, seed: u64) -> Bench {
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Bench { noise, scale, log_ratio: ratio.ln(), rng, before: [0.0; 2], spare: None, pairs: 0 }
    }

    /// The sample times of the next baseline and candidate launch.
    pub fn pair(&mut self) -> [Vec<f64>; 2] {
        let first = usize::from(self.rng.random_bool(0.5));
        let mut launches = [Vec::new(), Vec::new()];
        for (position, side) in [first, 1 - first].into_iter().enumerate() {
            launches[side] = self.launch(side, position);
        }
        self.pairs += 1;
        launches
    }

    /// The launch scores of the next pair, baseline first.
    pub fn scores(&mut self) -> [f64; 2] {
        self.pair().map(|samples| launch_score(&samples, Statistic::default()))
    }

    fn launch(&mut self, side: usize, position: usize) -> Vec<f64> {
        let level = self.launch_effect(side, position) + self.log_ratio * side as f64;
        let correlation: f64 = match self.noise {
            Noise::Runner => 0.5,
            Noise::Autocorrelated => 0.9,
            _ => 0.0,
        };
        let fresh = (1.0 - correlation * correlation).sqrt();
        let mut state = self.normal();
        (0..SAMPLES)
            .map(|_| {
                state = correlation * state + fresh * self.normal();
                self.sample(level, state)
            })
            .collect()
    }

    /// What one launch has that its samples share, as a log.
    fn launch_effect(&mut self, side: usize, position: usize) -> f64 {
        let plain = 0.01 * self.scale * self.normal();
        match self.noise {
            Noise::Runner => plain + self.slow(0.03),
            Noise::SlowMode => plain + self.slow(0.10),
            Noise::HeavyTail => 0.01 * self.scale * self.student(),
            Noise::Drift => plain + 0.005 * (f64::from(self.pairs) + 0.5 * position as f64),
            Noise::Autocorrelated => {
                self.before[side] = 0.5 * self.before[side] + 0.75f64.sqrt() * plain;
                self.before[side]
            }
            Noise::Normal | Noise::LogNormal | Noise::Quantised => plain,
        }
    }

    fn sample(&mut self, level: f64, state: f64) -> f64 {
        let spread = 0.02 * self.scale;
        match self.noise {
            Noise::Runner => {
                let spike =
                    if self.rng.random_bool(0.02) { 1.0 + 0.3 * self.exponential() } else { 1.0 };
                (level + spread * state).exp() * spike
            }
            Noise::LogNormal => level.exp() * (1.0 + 2.0 * spread * state.exp()),
            Noise::HeavyTail => (level + spread * self.student()).exp(),
            Noise::Quantised => ((level + spread * state).exp() * 100.0).round(),
            Noise::Normal | Noise::SlowMode | Noise::Drift | Noise::Autocorrelated => {
                (level + spread * state).exp()
            }
        }
    }

    fn slow(&mut self, share: f64) -> f64 {
        if self.rng.random_bool(share) { 1.1f64.ln() } else { 0.0 }
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.rng.random::<f64>()).ln()
    }

    /// A standard normal value, by Box and Muller, who always give two.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (sin, cos) = (std::f64::consts::TAU * self.rng.random::<f64>()).sin_cos();
        let radius = (2.0 * self.exponential()).sqrt();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// A value of Student's distribution with three degrees of freedom.
    fn student(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

/// A kind of suite, judged by the policy that a project without a `pacegate.yaml` gets.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The noise of every benchmark.
    pub noise: Noise,
    /// How much the benchmarks' noise differs: the standard deviation of the log of its scale.
    pub spread: f64,
    /// Benchmarks in the suite.
    pub benches: usize,
    /// How many of them have a true change.
    pub changed: usize,
    /// The candidate's time over the baseline's, for those that have.
    pub ratio: f64,
}

/// How the benchmarks of the table's last row differ: two in three have between 0.6 and 1.6 times the usual noise.
const SPREAD: f64 = 0.5;

/// How often the gate is right, for each family of noise: one row each, in percent.
///
/// A row takes `suites` suites without a change, and half as many for each of four slowdowns. On two cores a
/// hundred suites take about a minute.
pub fn table(suites: u32, seed: u64) -> String {
    let slowed = suites.div_ceil(2);
    let mut text = format!(
        "{suites} suites of 100 unchanged benchmarks; for each slowdown {slowed} suites in which it befell 5 of 100\n\n{:18}",
        "noise"
    );
    let width = |column: &str| (column.len() + 2).max(7);
    for column in COLUMNS {
        let _ = write!(text, "{column:>0$}", width(column));
    }
    let mixed = (Noise::Runner, SPREAD);
    for (noise, spread) in Noise::ALL.map(|noise| (noise, 0.0)).into_iter().chain([mixed]) {
        let suite = Suite { spread, ..Suite::new(noise) };
        let still = suite.simulate(suites, seed);
        let [two, three, five, ten] =
            [1.02, 1.03, 1.05, 1.10].map(|ratio| suite.with_changes(ratio).simulate(slowed, seed));
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
        let caught = |tally: Tally| percent(tally.changed.regressions, tally.changed.benches);
        let Count { benches, cleared, unchanged, inconclusive, pairs, .. } = still.unchanged;
        let cells = [
            percent(still.red, still.suites),
            caught(two),
            caught(three),
            caught(five),
            caught(ten),
            percent(two.changed.cleared, two.changed.benches),
            percent(cleared, benches),
            percent(unchanged, benches),
            percent(inconclusive, benches),
            pairs as f64 / benches as f64,
        ];
        let kind = if spread == 0.0 { "" } else { ", unequal" };
        let _ = write!(text, "\n{:18}", format!("{}{kind}", noise.name()));
        for (cell, column) in cells.iter().zip(COLUMNS) {
            let _ = write!(text, "{cell:0$.1}", width(column));
        }
    }
    text.push_str(LEGEND);
    text
}

const COLUMNS: [&str; 10] = [
    "red",
    "+2 %",
    "+3 %",
    "+5 %",
    "+10 %",
    "passed",
    "cleared",
    "unchanged",
    "inconclusive",
    "pairs",
];

const LEGEND: &str = "

red           suites with a false alarm
+2 % ...      slowed benchmarks called a regression; the tolerance is 2 %
passed        benchmarks slowed by exactly 2 % that were cleared; 5 may be
cleared       unchanged benchmarks shown to be no more than 2 % slower
unchanged     of these, shown to be no more than 2 % faster either
inconclusive  unchanged benchmarks with that verdict, cleared or not
pairs         launch pairs that an unchanged benchmark took
";

/// What became of benchmarks that are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All of them.
    pub benches: usize,
    /// Called a regression.
    pub regressions: usize,
    /// A regression was excluded.
    pub cleared: usize,
    /// Called unchanged.
    pub unchanged: usize,
    /// Called inconclusive, cleared or not.
    pub inconclusive: usize,
    /// Launch pairs that they took.
    pub pairs: usize,
}

/// What happened in a number of suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Suites simulated.
    pub suites: usize,
    /// Suites in which an unchanged benchmark was called a regression.
    pub red: usize,
    /// The benchmarks with a true change.
    pub changed: Count,
    /// The benchmarks without.
    pub unchanged: Count,
}

impl Suite {
    /// A hundred unchanged benchmarks, equally noisy.
    pub fn new(noise: Noise) -> Suite {
        Suite { noise, spread: 0.0, benches: 100, changed: 0, ratio: 1.0 }
    }

    /// The same with five benchmarks whose candidate takes `ratio` times as long.
    pub fn with_changes(self, ratio: f64) -> Suite {
        Suite { changed: 5, ratio, ..self }
    }

    /// Simulates many suites. The same seed gives the same tally, on any number of threads.
    pub fn simulate(&self, suites: u32, seed: u64) -> Tally {
        (0..u64::from(suites))
            .into_par_iter()
            .map(|suite| self.tally(seed ^ suite.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .reduce(Tally::default, Tally::add)
    }

    fn tally(&self, seed: u64) -> Tally {
        let rows = self.judged(seed);
        let (changed, unchanged) = rows.split_at(self.changed);
        let (changed, unchanged) = (Count::of(changed), Count::of(unchanged));
        Tally { suites: 1, red: usize::from(0 < unchanged.regressions), changed, unchanged }
    }

    /// Measures a suite look by look, as `check` does, and gives its last rows; those with a change come first.
    fn judged(&self, seed: u64) -> Vec<Row> {
        let policy = Policy::default();
        let method = Method::new(Reference::Base, policy.statistic, policy.session_noise);
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut benches: Vec<Bench> = (0..self.benches)
            .map(|place| {
                let ratio = if place < self.changed { self.ratio } else { 1.0 };
                let mut bench = Bench::new(self.noise, 1.0, ratio, rng.random());
                bench.scale = (self.spread * bench.normal()).exp();
                bench
            })
            .collect();
        let [mut baseline, mut candidate] = [self.run(), self.run()];
        let mut rows: Vec<Row> = Vec::new();
        for look in &policy.looks {
            for (place, bench) in benches.iter_mut().enumerate() {
                if rows.get(place).is_some_and(|row| !row.wants_more()) {
                    continue;
                }
                let mut sides = [&mut baseline.series[place], &mut candidate.series[place]];
                for pair in bench.pairs..look.pairs {
                    for (series, score) in sides.iter_mut().zip(bench.scores()) {
                        let sample = Sample::of_values(vec![score]).expect("times are positive");
                        if let Evidence::Sampled(launches) = &mut series.evidence {
                            launches.push(Launch { pair, sample, usage: None });
                        }
                    }
                }
                for series in sides {
                    series.looks.push(*look);
                }
            }
            let judgement = judge(compare(&baseline, &candidate, &method), &policy);
            rows = judgement.expect("the default policy has no pattern").rows;
        }
        rows
    }

    /// One side before its first launch. The names sort as the places do.
    fn run(&self) -> Run {
        let series = (0..self.benches).map(|place| Series {
            id: BenchmarkId::new("simulated", format!("{place:06}")),
            metric: Metric::time(),
            experiment: Experiment::Interleaved,
            evidence: Evidence::Sampled(Vec::new()),
            looks: Vec::new(),
        });
        Run { session: Some("simulated".into()), series: series.collect(), ..Run::default() }
    }
}

impl Count {
    fn of(rows: &[Row]) -> Count {
        let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        Count {
            benches: rows.len(),
            regressions: of(Verdict::Regression),
            cleared: rows.iter().filter(|row| row.cleared).count(),
            unchanged: of(Verdict::Unchanged),
            inconclusive: of(Verdict::Inconclusive),
            pairs: rows.iter().map(|row| row.scores.pairs.len()).sum(),
        }
    }

    fn add(self, other: Count) -> Count {
        Count {
            benches: self.benches + other.benches,
            regressions: self.regressions + other.regressions,
            cleared: self.cleared + other.cleared,
            unchanged: self.unchanged + other.unchanged,
            inconclusive: self.inconclusive + other.inconclusive,
            pairs: self.pairs + other.pairs,
        }
    }
}

impl Tally {
    fn add(self, other: Tally) -> Tally {
        Tally {
            suites: self.suites + other.suites,
            red: self.red + other.red,
            changed: self.changed.add(other.changed),
            unchanged: self.unchanged.add(other.unchanged),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_launches() {
        for noise in Noise::ALL {
            let draw = |seed| Bench::new(noise, 1.0, 1.05, seed).pair();
            assert_eq!(draw(7), draw(7));
            assert_ne!(draw(7), draw(8));
            assert!(draw(7).concat().iter().all(|time| 0.0 < *time), "{noise:?}");
        }
    }

    #[test]
    fn the_true_ratio_is_in_the_data() {
        for noise in Noise::ALL {
            let mut bench = Bench::new(noise, 0.2, 1.5, 3);
            let ratios: Vec<f64> = (0..200)
                .map(|_| {
                    let [baseline, candidate] = bench.scores();
                    candidate / baseline
                })
                .collect();
            let found = crate::stats::summary::median(&ratios);
            assert!((found - 1.5).abs() < 0.015, "{noise:?}: {found}");
        }
    }

    /// The promise of the gate at a small size; `pacegate selftest --simulate` counts it at a large one.
    #[test]
    fn suites_stay_green_and_changes_are_caught() {
        let suite = Suite::new(Noise::Runner);
        let still = suite.simulate(8, 1);
        let changed = suite.with_changes(1.05).simulate(8, 2);
        assert_eq!(still.red + changed.red, 0);
        let Count { benches, regressions, cleared, .. } = changed.changed;
        assert!(benches <= regressions + 1 && cleared == 0, "{changed:?}");
        let Count { benches, cleared, pairs, .. } = still.unchanged;
        assert!(98 * benches < 100 * cleared && pairs < 10 * benches, "{still:?}");
    }

    #[test]
    fn as_slow_as_the_tolerance_passes_rarely() {
        let suite = Suite { changed: 100, ratio: 1.02, ..Suite::new(Noise::Runner) };
        let Count { benches, regressions, cleared, .. } = suite.simulate(8, 4).changed;
        // 5 % is promised; the rest is three standard errors of eight hundred benchmarks.
        assert!((cleared as f64) < 0.073 * benches as f64, "{cleared} of {benches}");
        assert!(100 * regressions < benches, "{regressions} of {benches}");
    }

    /// Whoever changes the statistics sees here what was bought, and what it cost.
    #[test]
    fn the_table_is_what_it_was() {
        assert_eq!(table(1, 1), GOLDEN);
    }

    const GOLDEN: &str = "\
1 suites of 100 unchanged benchmarks; for each slowdown 1 suites in which it befell 5 of 100

noise                 red   +2 %   +3 %   +5 %  +10 %  passed  cleared  unchanged  inconclusive  pairs
runner                0.0    0.0   60.0  100.0  100.0     0.0    100.0       76.0          24.0    9.8
normal                0.0    0.0    0.0  100.0  100.0     0.0    100.0       87.0          13.0    8.8
log-normal            0.0    0.0    0.0  100.0  100.0     0.0    100.0       80.0          20.0    9.3
slow mode             0.0    0.0   20.0  100.0  100.0     0.0     94.0       54.0          46.0   12.0
heavy tail            0.0    0.0    0.0  100.0  100.0     0.0     99.0       75.0          25.0   11.9
drift                 0.0    0.0   20.0  100.0  100.0     0.0    100.0       86.0          14.0    8.6
autocorrelated        0.0    0.0    0.0  100.0  100.0     0.0     97.0       66.0          34.0   10.1
quantised             0.0    0.0    0.0  100.0  100.0     0.0    100.0       86.0          14.0    8.7
runner, unequal       0.0    0.0  100.0  100.0  100.0     0.0     96.0       74.0          26.0    9.8

red           suites with a false alarm
+2 % ...      slowed benchmarks called a regression; the tolerance is 2 %
passed        benchmarks slowed by exactly 2 % that were cleared; 5 may be
cleared       unchanged benchmarks shown to be no more than 2 % slower
unchanged     of these, shown to be no more than 2 % faster either
inconclusive  unchanged benchmarks with that verdict, cleared or not
pairs         launch pairs that an unchanged benchmark took
";
}
