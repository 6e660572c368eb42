//! Chooses the experiment that fits a benchmark, and settings that give every arm the same schedule, from one
//! probe per arm.
//!
//! ```text
//!   takes the clock every few microseconds    -> in turn      the shim's own time would be measured
//!   waits, and takes the clock meanwhile      -> in turn      its deadlines would meet a shifted clock
//!   several threads, or waits                 -> turnstile
//!   else: one thread that computes            -> co-run
//! ```
//!
//! criterion gives sample i of N `i * d` iterations, `d = ceil(time / (met * N (N + 1) / 2))`, where `met` is
//! the mean time of an iteration while warming up; a slow benchmark gets `ceil(time / (met * N))` in every
//! sample. A measurement time midway between two steps lets `met` differ by several percent between the
//! arms without changing their counts.

use std::time::Duration;

use super::corun::{self, ArmFailed, probe};
use super::discover::Executable;
use super::launch::{LaunchSettings, launch};
use super::{ClockReport, Failed, Launch, Phase, Watch};
use crate::model::Experiment;

/// How many CPUs a pair needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One, so that several pairs are measured at once.
    OneCpu,
    /// All of them: the benchmark has several threads.
    EveryCpu,
}

/// What was chosen for one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The experiment.
    pub experiment: Experiment,
    /// Why, as a sentence without its full stop.
    pub why: String,
    /// The CPUs that a pair needs.
    pub width: Width,
    /// The settings, with a measurement time that gives every arm the same counts.
    pub settings: LaunchSettings,
}

/// Below this mean time between two clock calls the shim costs more than half a percent (about 0.3 us a call).
const CLOCK_EVERY_MIN_NS: u64 = 60_000;
/// A share of CPU time on other threads, or of waiting, beyond this is a property of the benchmark.
const SHARE_MIN: f64 = 0.05;
/// A process that computes gives its CPU up a handful of times, while it starts and writes its files.
const VOLUNTARY_MAX: u64 = 100;
/// criterion takes the clock four times a sample, and four times for each doubling while warming up; a bench
/// that takes it more often than this does so itself, or in batches.
const CALLS_A_SAMPLE: u64 = 5;
const CALLS_BESIDE: u64 = 120;

/// Probes every arm and chooses; `asked_for` overrules the choice where it is possible.
///
/// # Errors
/// If an arm fails in a plain launch.
pub fn calibrate(
    arms: &[&Executable],
    benchmark: &str,
    settings: &LaunchSettings,
    asked_for: Option<Experiment>,
    seed: u64,
    watch: &Watch,
) -> Result<Choice, ArmFailed> {
    let mut probes = Vec::new();
    let mut fault = None;
    for (arm, executable) in arms.iter().enumerate() {
        let observed = match probe(executable, benchmark, settings, seed, watch) {
            Err(failed) if failed.phase == Phase::Handshake || failed.phase == Phase::Exit => {
                // What fails under the shim only is not the benchmark's fault.
                let plain = launch(executable, benchmark, settings, seed, watch);
                plain.inspect(|_| fault = Some(failed))
            }
            other => other,
        };
        probes.push(observed.map_err(|failed| ArmFailed { arm, failed })?);
    }
    let (fitting, width, why) = fit(&probes, fault.as_ref());
    let possible = fault.is_none() && corun::AVAILABLE && arms.len() > 1;
    let (experiment, why) = match asked_for {
        Some(asked) if possible || asked == Experiment::Interleaved => {
            (asked, "it was asked for".to_owned())
        }
        _ => (fitting, why),
    };
    let longest = probes.iter().filter_map(|probe| Some(probe.clock?.longest_ns)).max();
    let slowest = probes.iter().map(|probe| probe.usage.wall_ns).max().unwrap_or(0);
    Ok(Choice {
        experiment,
        why,
        width,
        settings: LaunchSettings {
            measurement: steady_measurement(settings, &probes),
            // A co-run of n arms takes n times as long.
            time_out: settings
                .time_out
                .max(Duration::from_nanos(slowest) * 5 * u32::try_from(arms.len()).unwrap_or(1)),
            patience: settings.patience.max(Duration::from_nanos(longest.unwrap_or(0)) * 5),
            ..settings.clone()
        },
    })
}

/// The experiment that fits what was seen of all arms.
fn fit(probes: &[Launch], fault: Option<&Failed>) -> (Experiment, Width, String) {
    let arms: Vec<Seen> = probes.iter().filter_map(Seen::of).collect();
    if let Some(fault) = fault {
        let why = format!("no co-run is possible: {}", fault.message);
        return (Experiment::Interleaved, Width::OneCpu, why);
    }
    let any = |what: fn(&Seen) -> bool| arms.iter().any(what);
    let width = if any(Seen::has_threads) { Width::EveryCpu } else { Width::OneCpu };
    let (experiment, why) = if any(Seen::hurries) {
        (Experiment::Interleaved, "it takes the clock every few microseconds")
    } else if any(|seen| seen.waits() && seen.takes_the_clock()) {
        (
            Experiment::Interleaved,
            "it waits and takes the clock meanwhile, so it may have deadlines",
        )
    } else if any(Seen::has_threads) {
        (Experiment::Turnstile, "it has several threads")
    } else if any(Seen::waits) {
        (Experiment::Turnstile, "it sleeps, or waits for input or output")
    } else {
        (Experiment::Corun, "it computes on one thread")
    };
    (experiment, width, why.to_owned())
}

/// What a probe saw of one arm.
struct Seen {
    clock: ClockReport,
    queue_wait_ns: u64,
    voluntary_switches: u64,
    samples: u64,
}

impl Seen {
    fn of(probe: &Launch) -> Option<Self> {
        Some(Seen {
            clock: probe.clock?,
            queue_wait_ns: probe.usage.run_queue_wait_ns,
            voluntary_switches: probe.usage.voluntary_switches,
            samples: probe.sample.iters().len() as u64,
        })
    }

    fn hurries(&self) -> bool {
        self.clock.wall_ns < self.clock.calls * CLOCK_EVERY_MIN_NS && self.takes_the_clock()
    }

    fn takes_the_clock(&self) -> bool {
        self.clock.calls > CALLS_A_SAMPLE * self.samples + CALLS_BESIDE
    }

    fn has_threads(&self) -> bool {
        let others = self.clock.cpu_all_ns.saturating_sub(self.clock.cpu_ns);
        others as f64 > SHARE_MIN * self.clock.cpu_all_ns as f64
    }

    /// There was wall time in which no thread of the process ran or wanted to; or the main thread waited so
    /// often that on a busy machine it would only seem to wait for its CPU.
    fn waits(&self) -> bool {
        let busy = self.clock.cpu_all_ns + self.queue_wait_ns;
        let idle = self.clock.wall_ns.saturating_sub(busy);
        idle as f64 > SHARE_MIN * self.clock.wall_ns as f64
            || self.voluntary_switches > VOLUNTARY_MAX
    }
}

/// The measurement time nearest to the one asked for that lies midway between two steps of criterion's
/// schedule, for the slowest arm.
fn steady_measurement(settings: &LaunchSettings, probes: &[Launch]) -> Duration {
    let per_iteration = probes.iter().map(median_time_ns).max_by(f64::total_cmp);
    match per_iteration {
        Some(met) if met > 0.0 => {
            let asked = settings.measurement.as_nanos() as f64;
            Duration::from_nanos(midway(asked, met, f64::from(settings.sample_size)) as u64)
        }
        _ => settings.measurement,
    }
}

/// All in nanoseconds; `samples` is N.
fn midway(asked: f64, met: f64, samples: f64) -> f64 {
    let linear_step = met * samples * (samples + 1.0) / 2.0;
    let flat_step = met * samples;
    let steps = (asked / linear_step).ceil();
    if steps > 1.0 {
        (steps - 0.5) * linear_step
    } else if asked >= 0.5 * linear_step {
        // One step. Below half a step criterion turns to flat samples, so the middle is at three quarters.
        0.75 * linear_step
    } else {
        // The largest middle of a flat step that keeps well away from linear samples.
        let steps =
            (asked / flat_step).ceil().min((0.4 * linear_step / flat_step).floor()).max(1.0);
        (steps - 0.5) * flat_step
    }
}

fn median_time_ns(launch: &Launch) -> f64 {
    let mut times = launch.sample.values();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// criterion's schedule: the step d and whether samples are linear.
    fn schedule(time: f64, met: f64, samples: f64) -> (f64, bool) {
        let linear_step = met * samples * (samples + 1.0) / 2.0;
        let steps = (time / linear_step).ceil().max(1.0);
        if steps * linear_step > 2.0 * time {
            ((time / samples / met).ceil().max(1.0), false)
        } else {
            (steps, true)
        }
    }

    proptest! {
        #[test]
        fn both_arms_get_the_same_counts(
            met in 1e3..1e9_f64, apart in 0.97..1.03_f64, samples in 10..60_u32
        ) {
            let samples = f64::from(samples);
            let time = midway(2.5e8, met, samples);
            let (steps, linear) = schedule(time, met, samples);
            // With many steps a count may differ by one, which is then less than a tenth.
            let (other_steps, other_linear) = schedule(time, met * apart, samples);
            prop_assert_eq!(linear, other_linear);
            prop_assert!((steps - other_steps).abs() <= (0.1 * steps).floor());
        }
    }

    #[test]
    fn the_choice_follows_what_was_seen() {
        let check = |clock: ClockReport, queue_wait_ns: u64, expected: Experiment, width: Width| {
            let sample = crate::model::Sample::of_values(vec![1.0; 20]).expect("positive values");
            let usage =
                super::super::Usage { run_queue_wait_ns: queue_wait_ns, ..Default::default() };
            let probe = Launch { sample, metrics: Vec::new(), usage, seed: 0, clock: Some(clock) };
            let (experiment, seen_width, why) = fit(&[probe], None);
            assert_eq!((experiment, seen_width), (expected, width), "{why}");
        };
        let ms = |ms: u64| ms * 1_000_000;
        let alone = ClockReport {
            calls: 130,
            wall_ns: ms(400),
            cpu_ns: ms(395),
            cpu_all_ns: ms(395),
            ..ClockReport::default()
        };
        check(alone, 0, Experiment::Corun, Width::OneCpu);
        let busy_machine = ClockReport { wall_ns: ms(800), ..alone };
        check(busy_machine, ms(400), Experiment::Corun, Width::OneCpu);
        let threads = ClockReport { cpu_ns: ms(100), ..alone };
        check(threads, 0, Experiment::Turnstile, Width::EveryCpu);
        let sleeps = ClockReport { cpu_ns: ms(9), cpu_all_ns: ms(9), ..alone };
        check(sleeps, 0, Experiment::Turnstile, Width::OneCpu);
        let deadlines = ClockReport { calls: 800, ..sleeps };
        check(deadlines, 0, Experiment::Interleaved, Width::OneCpu);
        let hurries = ClockReport { calls: 40_000, ..alone };
        check(hurries, 0, Experiment::Interleaved, Width::OneCpu);
    }
}
