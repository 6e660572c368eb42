//! Benchmarks that never ran: launches drawn from noise of a known kind, with a known true ratio, so that the gate's
//! promises can be counted instead of believed.
//!
//! Everything follows from a seed. The families are assumptions about the world; [`Noise::Runner`] is the one that
//! the design was made with, the others are what else a runner may do.

use crate::stats::multiple::benjamini_hochberg;
use crate::stats::{Estimate, Prior, Statistic, launch_score, own_variance, paired};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

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
    pairs: usize,
}

impl Bench {
    /// A benchmark whose candidate takes `ratio` times as long; `scale` multiplies the noise.
    pub fn new(noise: Noise, scale: f64, ratio: f64, seed: u64) -> Bench {
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Bench { noise, scale, log_ratio: ratio.ln(), rng, before: [0.0; 2], pairs: 0 }
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

    /// The log ratio of the launch scores of the next pair.
    pub fn difference(&mut self) -> f64 {
        let [baseline, candidate] =
            self.pair().map(|samples| launch_score(&samples, Statistic::default()).ln());
        candidate - baseline
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
            Noise::Drift => plain + 0.005 * (self.pairs as f64 + 0.5 * position as f64),
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

    /// A standard normal value, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let angle = std::f64::consts::TAU * self.rng.random::<f64>();
        (2.0 * self.exponential()).sqrt() * angle.cos()
    }

    /// A value of Student's distribution with three degrees of freedom.
    fn student(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

/// When a benchmark gets no further launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As soon as a regression is proven or excluded.
    Cleared,
    /// As soon as it is proven to be a regression, an improvement or unchanged.
    Settled,
}

/// One look at a suite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// After how many pairs.
    pub pairs: usize,
    /// The share of alpha that it spends on regressions.
    pub weight: f64,
    /// The share of alpha that it spends on clearing.
    pub pass_weight: f64,
}

/// How a simulated suite is measured and judged.
#[derive(Clone, Debug)]
pub struct Plan {
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
    /// The tolerance, as a log ratio.
    pub tolerance: f64,
    /// When to look.
    pub looks: Vec<Look>,
    /// When to stop.
    pub stop: Stop,
    /// What the suite lends to each benchmark, from the own variances of all.
    pub lend: fn(&[(f64, f64)]) -> Option<Prior>,
}

/// The chance of a red suite, and of clearing a benchmark that is as slow as the tolerance.
const ALPHA: f64 = 0.05;

/// What happened in a number of suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Suites simulated.
    pub suites: usize,
    /// Suites in which an unchanged benchmark was called a regression.
    pub red_suites: usize,
    /// Benchmarks with a true change, and how many of them were called regressions and were cleared.
    pub changed: [usize; 3],
    /// Unchanged benchmarks, and how many of them were called regressions and were cleared.
    pub unchanged: [usize; 3],
    /// Launch pairs of unchanged benchmarks.
    pub pairs: usize,
}

impl Tally {
    /// The share of suites with a false alarm.
    pub fn red_share(&self) -> f64 {
        self.red_suites as f64 / self.suites as f64
    }

    /// The share of true changes that were called regressions; NaN without any.
    pub fn caught(&self) -> f64 {
        self.changed[1] as f64 / self.changed[0] as f64
    }

    /// The share of unchanged benchmarks of which a regression was excluded.
    pub fn cleared(&self) -> f64 {
        self.unchanged[2] as f64 / self.unchanged[0] as f64
    }

    /// The mean number of pairs that an unchanged benchmark took.
    pub fn mean_pairs(&self) -> f64 {
        self.pairs as f64 / self.unchanged[0] as f64
    }

    fn add(self, other: Tally) -> Tally {
        let sum = |a: [usize; 3], b: [usize; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        Tally {
            suites: self.suites + other.suites,
            red_suites: self.red_suites + other.red_suites,
            changed: sum(self.changed, other.changed),
            unchanged: sum(self.unchanged, other.unchanged),
            pairs: self.pairs + other.pairs,
        }
    }
}

impl Plan {
    /// A suite of a hundred unchanged benchmarks at a tolerance of 2 %, looked at after 5, 10 and 20 pairs, with
    /// nothing lent.
    pub fn new(noise: Noise) -> Plan {
        use crate::stats::sequential::{LOOKS, WEIGHTS};
        Plan {
            noise,
            spread: 0.0,
            benches: 100,
            changed: 0,
            ratio: 1.05,
            tolerance: 1.02f64.ln(),
            looks: LOOKS
                .into_iter()
                .zip(WEIGHTS)
                .map(|(pairs, weight)| Look { pairs, weight, pass_weight: weight })
                .collect(),
            stop: Stop::Cleared,
            lend: |_| None,
        }
    }

    /// Simulates many suites. The same seed gives the same tally, on any number of threads.
    pub fn simulate(&self, suites: usize, seed: u64) -> Tally {
        (0..suites as u64)
            .into_par_iter()
            .map(|suite| self.simulate_one(seed ^ suite.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .reduce(Tally::default, Tally::add)
    }

    fn simulate_one(&self, seed: u64) -> Tally {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut rows: Vec<Row> = (0..self.benches)
            .map(|i| {
                let ratio = if i < self.changed { self.ratio } else { 1.0 };
                let mut bench = Bench::new(self.noise, 1.0, ratio, rng.random());
                bench.scale = (self.spread * bench.normal()).exp();
                Row { bench, differences: Vec::new(), p: 1.0, state: State::Open }
            })
            .collect();
        for look in &self.looks {
            self.look(&mut rows, look);
        }
        let (changed, unchanged) = rows.split_at(self.changed);
        let count = |rows: &[Row]| {
            let of = |state| rows.iter().filter(|row| row.state == state).count();
            let excluded = of(State::Cleared) + of(State::Settled);
            [rows.len(), of(State::Red), excluded]
        };
        Tally {
            suites: 1,
            red_suites: usize::from(0 < count(unchanged)[1]),
            changed: count(changed),
            unchanged: count(unchanged),
            pairs: unchanged.iter().map(|row| row.differences.len()).sum(),
        }
    }

    /// One look: more pairs for the open benchmarks, then a judgement of each.
    fn look(&self, rows: &mut [Row], look: &Look) {
        let Look { pairs, weight, pass_weight } = *look;
        for row in rows.iter_mut().filter(|row| row.state.wants_more(self.stop)) {
            while row.differences.len() < pairs {
                row.differences.push(row.bench.difference());
            }
        }
        // Every benchmark's latest variance, also of those that are done: whoever is still open is noisier than
        // the suite, and a prior fitted from the open ones alone would shift from look to look.
        let variances: Vec<(f64, f64)> =
            rows.iter().map(|row| own_variance(&row.differences)).collect();
        let prior = (self.lend)(&variances);
        let estimates: Vec<Option<Estimate>> =
            rows.iter().map(|row| paired(&row.differences, prior.as_ref())).collect();
        for (row, estimate) in rows.iter_mut().zip(&estimates) {
            if let Some(estimate) = estimate
                && row.differences.len() == pairs
            {
                row.p = row.p.min(estimate.p_above(self.tolerance) / weight);
            }
        }
        let adjusted = benjamini_hochberg(&rows.iter().map(|row| row.p).collect::<Vec<_>>());
        for ((row, estimate), adjusted) in rows.iter_mut().zip(&estimates).zip(adjusted) {
            let Some(estimate) = estimate.filter(|_| row.differences.len() == pairs) else {
                continue;
            };
            let (low, high) =
                (estimate.lower(ALPHA * pass_weight), estimate.upper(ALPHA * pass_weight));
            if adjusted <= ALPHA {
                row.state = State::Red;
            } else if high < self.tolerance {
                let improved = estimate.p_below(-self.tolerance) <= ALPHA * weight;
                let settled = -self.tolerance < low || improved;
                row.state = if settled { State::Settled } else { State::Cleared };
            }
        }
    }
}

/// A benchmark of a simulated suite.
struct Row {
    bench: Bench,
    differences: Vec<f64>,
    p: f64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Cleared,
    Settled,
    Red,
}

impl State {
    fn wants_more(self, stop: Stop) -> bool {
        self == State::Open || (self == State::Cleared && stop == Stop::Settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::prior::suite_prior;

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
            let differences: Vec<f64> = (0..200).map(|_| bench.difference()).collect();
            let found = crate::stats::summary::median(&differences).exp();
            assert!((found - 1.5).abs() < 0.01, "{noise:?}: {found}");
        }
    }

    /// The promise of the gate at a small size; the example `simulate_suites` counts it at a large one.
    #[test]
    fn suites_stay_green_and_changes_are_caught() {
        let plan = Plan { lend: suite_prior, ..Plan::new(Noise::Runner) };
        let unchanged = plan.simulate(12, 1);
        let changed = Plan { changed: 5, ..plan.clone() }.simulate(12, 2);
        assert_eq!(unchanged.red_suites + changed.red_suites, 0);
        assert!(0.98 < changed.caught() && 0.98 < unchanged.cleared(), "{changed:?} {unchanged:?}");
        assert!(unchanged.mean_pairs() < 10.0, "{unchanged:?}");
        assert_eq!(unchanged, plan.simulate(12, 1));
        let settled = Plan { stop: Stop::Settled, ..plan }.simulate(4, 1);
        assert!(unchanged.mean_pairs() < settled.mean_pairs());
    }

    #[test]
    fn the_suite_prior_saves_launches() {
        let alone = Plan::new(Noise::Normal);
        let lent = Plan { lend: suite_prior, ..alone.clone() };
        assert!(lent.simulate(4, 5).mean_pairs() + 1.0 < alone.simulate(4, 5).mean_pairs());
    }

    #[test]
    fn as_slow_as_the_tolerance_passes_rarely() {
        let plan =
            Plan { changed: 100, ratio: 1.02, lend: suite_prior, ..Plan::new(Noise::Runner) };
        let [all, red, cleared] = plan.simulate(8, 4).changed;
        // 5 % is promised; the rest is three standard errors of eight hundred benchmarks.
        assert!(
            (cleared as f64) < 0.073 * all as f64 && red * 100 < all,
            "{cleared} {red} of {all}"
        );
    }
}
