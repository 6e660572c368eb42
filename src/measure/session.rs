//! The engine: measures pairs of all benchmarks, on all CPUs at once, look by look.
//!
//! ```text
//!   calibrate all                        one probe per benchmark and arm
//!   look 1    round 1 .. 5               a round is one pair of every benchmark, in drawn order
//!     decide  ->  benchmarks to go on with
//!   look 2    round 6 .. 10              of these only
//!     ...
//!             worker on CPU 0   | pair | pair | pair ...
//!             worker on CPU 1   | pair | pair | pair ...
//!             then, on all CPUs | pair of a benchmark with threads | ...
//! ```
//!
//! Order, roles and padding are drawn from the seed of the plan. A benchmark that fails is left with its failure
//! and the others go on. A time budget ends the measuring between two pairs; complete rounds count.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::calibrate::{Choice, Width, calibrate};
use super::corun::{ArmFailed, Clock, Way, corun};
use super::discover::Executable;
use super::launch::{LaunchSettings, launch};
use super::{Error, ErrorKind, Launch, Phase, Watch, cpu};
use crate::model::{Experiment, Usage};

/// One benchmark that all arms hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benchmark {
    /// Full id.
    pub id: String,
    /// The executable of each arm, 1 to 4, in the order of the arms; one alone is launched plainly.
    pub arms: Vec<Executable>,
    /// The experiment asked for; without one, the one that fits.
    pub experiment: Option<Experiment>,
}

/// How much is measured, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Settings of each launch.
    pub settings: LaunchSettings,
    /// Numbers of pairs after which it is decided who goes on, ascending; the last one ends it.
    pub looks: Vec<usize>,
    /// CPUs to measure on.
    pub cpus: Vec<usize>,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// No pair is begun after this time, counted from the start of the session.
    pub budget: Option<Duration>,
}

/// Launches of all arms that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Number of the pair in its series, from 0.
    pub round: usize,
    /// One launch per arm, in the order of the arms.
    pub launches: Vec<Launch>,
    /// Where it was measured; empty where threads can't be pinned.
    pub cpus: Vec<usize>,
    /// Its start, counted from the start of the session.
    pub started: Duration,
}

/// What was measured of one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// How it was measured; `None` if it failed before that was known.
    pub choice: Option<Choice>,
    /// The pairs, in order of round and without gaps.
    pub pairs: Vec<Pair>,
    /// Numbers of pairs at which it could be judged, ascending.
    pub looks: Vec<usize>,
    /// The failure that ended it.
    pub failed: Option<ArmFailed>,
    /// What launch hygiene did.
    pub hygiene: Hygiene,
}

/// Counts of launch hygiene: a pair launched in turn is repeated where a launch waited long for its CPU.
/// The times measured are never looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hygiene {
    /// Pairs that were looked at.
    pub pairs: usize,
    /// Repetitions.
    pub repeated: usize,
    /// Pairs that were still disturbed after the last repetition, and kept.
    pub kept_disturbed: usize,
}

/// What a session measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// One series for each benchmark, in their order.
    pub series: Vec<Series>,
    /// How it ended.
    pub ending: Ending,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was left to measure.
    Complete,
    /// The time budget was spent.
    BudgetSpent,
    /// Somebody stopped it; what was measured until then is there.
    Interrupted,
}

/// Where the session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Steps done in this stage.
    pub done: usize,
    /// Steps of this stage.
    pub planned: usize,
    /// Time since the start of the session.
    pub elapsed: Duration,
}

/// The stages of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Choosing experiments.
    Calibrating,
    /// Measuring towards a look, which is given as its number of pairs.
    Measuring(usize),
}

/// Where the whole session is disturbed, a launch counts as disturbed that waited for this many times the median.
const QUEUE_SHARE_MEDIANS: f64 = 3.0;
/// Repetitions of a disturbed pair.
const REPETITIONS_MAX: usize = 2;

/// Measures all benchmarks.
///
/// `decide` is called after every look but the last one, with the series so far, and returns the places of
/// the benchmarks to go on with. `progress` is called from the workers.
///
/// # Errors
/// If a worker can't be pinned to its CPU. A benchmark that fails is no error, and neither is being told to stop.
pub fn session(
    benchmarks: &[Benchmark],
    plan: &Plan,
    watch: &Watch,
    progress: &(dyn Fn(Progress) + Sync),
    decide: &mut dyn FnMut(&[Series]) -> BTreeSet<usize>,
) -> Result<Measured, Error> {
    let session = Session {
        benchmarks,
        plan,
        watch,
        progress,
        began: Instant::now(),
        series: Mutex::new(vec![Series::default(); benchmarks.len()]),
        queue_shares: Mutex::new(Vec::new()),
    };
    let all = || 0..benchmarks.len();
    session.work_off(Stage::Calibrating, all().map(|place| Job { place, round: 0 }).collect())?;
    let mut ending = Ending::Complete;

    let mut going_on: BTreeSet<usize> = all().collect();
    let mut taken = 0;
    for &look in &plan.looks {
        let jobs = session.rounds(&going_on, taken..look);
        session.work_off(Stage::Measuring(look), jobs)?;
        if watch.interrupt.is_raised() {
            // Nobody will judge this, so every pair is kept, also those beyond the common round.
            ending = Ending::Interrupted;
            break;
        }
        let complete = session.close_look(&going_on, taken);
        if complete < look {
            ending = Ending::BudgetSpent;
            break;
        }
        if Some(&look) == plan.looks.last() {
            break;
        }
        taken = look;
        let next = decide(&locked(&session.series));
        going_on.retain(|place| next.contains(place));
        if going_on.is_empty() {
            break;
        }
    }
    let series = session.series.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Measured { series, ending })
}

struct Session<'s> {
    benchmarks: &'s [Benchmark],
    plan: &'s Plan,
    watch: &'s Watch,
    progress: &'s (dyn Fn(Progress) + Sync),
    began: Instant,
    series: Mutex<Vec<Series>>,
    /// Share of waiting of every launch in turn so far.
    queue_shares: Mutex<Vec<f64>>,
}

#[derive(Clone, Copy)]
struct Job {
    /// Place of the benchmark.
    place: usize,
    round: usize,
}

struct Counter {
    stage: Stage,
    planned: usize,
    done: Mutex<usize>,
}

impl Session<'_> {
    /// All pairs of these rounds, in drawn order within each round.
    fn rounds(&self, going_on: &BTreeSet<usize>, rounds: std::ops::Range<usize>) -> Vec<Job> {
        let mut jobs = Vec::new();
        for round in rounds {
            let mut places: Vec<usize> = going_on.iter().copied().collect();
            places.shuffle(&mut self.drawn(usize::MAX, round, 0));
            jobs.extend(places.into_iter().map(|place| Job { place, round }));
        }
        jobs
    }

    /// Does all jobs, those that need one CPU on all CPUs at once and the others one by one. Where there are
    /// such, the rounds are kept apart, so that a budget ends both kinds in the same round.
    fn work_off(&self, stage: Stage, jobs: Vec<Job>) -> Result<(), Error> {
        let counter = Counter { stage, planned: jobs.len(), done: Mutex::new(0) };
        let is_wide = |job: &Job| {
            let series = &locked(&self.series)[job.place];
            series.choice.as_ref().is_some_and(|choice| choice.width == Width::EveryCpu)
        };
        let each: Vec<&[usize]> = self.plan.cpus.chunks(1).collect();
        if !jobs.iter().any(is_wide) {
            return self.share_out(jobs, &each, &counter);
        }
        for round in jobs.chunk_by(|a, b| a.round == b.round) {
            let (wide, narrow) = round.iter().copied().partition(is_wide);
            self.share_out(narrow, &each, &counter)?;
            self.share_out(wide, &[&self.plan.cpus], &counter)?;
        }
        Ok(())
    }

    /// Does the jobs with one worker for each set of CPUs.
    fn share_out(
        &self,
        jobs: Vec<Job>,
        workers: &[&[usize]],
        counter: &Counter,
    ) -> Result<(), Error> {
        let jobs = Mutex::new(jobs.into_iter());
        let worker = |cpus: &[usize]| -> Result<(), Error> {
            let pinned = cpu::pin(cpus).map_err(|error| {
                let message = format!("can't measure on CPU {cpus:?}: {error}; choose others");
                Error::new(ErrorKind::System, message)
            })?;
            let cpus = if pinned { cpus } else { &[] };
            loop {
                if self.watch.interrupt.is_raised() {
                    return Ok(());
                }
                if self.plan.budget.is_some_and(|budget| self.began.elapsed() >= budget) {
                    return Ok(());
                }
                let Some(job) = locked(&jobs).next() else { return Ok(()) };
                match counter.stage {
                    Stage::Calibrating => self.calibrate(job),
                    Stage::Measuring(_) => self.measure(job, cpus),
                }
                let mut done = locked(&counter.done);
                *done += 1;
                let elapsed = self.began.elapsed();
                let Counter { stage, planned, .. } = *counter;
                (self.progress)(Progress { stage, done: *done, planned, elapsed });
            }
        };
        std::thread::scope(|scope| {
            let running: Vec<_> =
                workers.iter().map(|&cpus| scope.spawn(|| worker(cpus))).collect();
            running
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|why| std::panic::resume_unwind(why)))
                .collect::<Result<Vec<()>, Error>>()
        })?;
        Ok(())
    }

    fn calibrate(&self, job: Job) {
        let benchmark = &self.benchmarks[job.place];
        let arms: Vec<&Executable> = benchmark.arms.iter().collect();
        let settings = &self.plan.settings;
        let choice = if arms.len() == 1 {
            Ok(Choice {
                experiment: Experiment::Plain,
                why: "there is one arm".to_owned(),
                width: Width::OneCpu,
                settings: settings.clone(),
            })
        } else {
            let seed = self.drawn(job.place, usize::MAX, 0).random();
            calibrate(&arms, &benchmark.id, settings, benchmark.experiment, seed, self.watch)
        };
        let series = &mut locked(&self.series)[job.place];
        match choice {
            Ok(choice) => series.choice = Some(choice),
            // Ended with pacegate, not by itself.
            Err(failed) if failed.failed.phase == Phase::Interrupted => {}
            Err(failed) => series.failed = Some(failed),
        }
    }

    fn measure(&self, job: Job, cpus: &[usize]) {
        let choice = {
            let series = &locked(&self.series)[job.place];
            match (&series.choice, &series.failed) {
                (Some(choice), None) => choice.clone(),
                _ => return,
            }
        };
        let started = self.began.elapsed();
        let mut hygiene = Hygiene::default();
        let pair = match choice.experiment {
            Experiment::Corun => self.together(job, &choice, Way::Free),
            Experiment::Turnstile => self.together(job, &choice, Way::Turns(Clock::Wall)),
            Experiment::Interleaved | Experiment::Plain | Experiment::Imported => {
                self.in_turn(job, &choice, &mut hygiene)
            }
        };
        let series = &mut locked(&self.series)[job.place];
        series.hygiene.pairs += hygiene.pairs;
        series.hygiene.repeated += hygiene.repeated;
        series.hygiene.kept_disturbed += hygiene.kept_disturbed;
        match pair {
            Ok(launches) => {
                let pair = Pair { round: job.round, launches, cpus: cpus.to_vec(), started };
                let at = series.pairs.partition_point(|other| other.round < pair.round);
                series.pairs.insert(at, pair);
            }
            Err(failed) if failed.failed.phase == Phase::Interrupted => {}
            Err(failed) => {
                series.failed.get_or_insert(failed);
            }
        }
    }

    fn together(&self, job: Job, choice: &Choice, way: Way) -> Result<Vec<Launch>, ArmFailed> {
        let benchmark = &self.benchmarks[job.place];
        let arms: Vec<&Executable> = benchmark.arms.iter().collect();
        let seed = self.drawn(job.place, job.round, 0).random();
        corun(&arms, &benchmark.id, &choice.settings, way, seed, self.watch)
    }

    fn in_turn(
        &self,
        job: Job,
        choice: &Choice,
        hygiene: &mut Hygiene,
    ) -> Result<Vec<Launch>, ArmFailed> {
        let benchmark = &self.benchmarks[job.place];
        hygiene.pairs += 1;
        for attempt in 0.. {
            let mut drawn = self.drawn(job.place, job.round, attempt);
            let mut order: Vec<usize> = (0..benchmark.arms.len()).collect();
            order.shuffle(&mut drawn);
            let seed = drawn.random();
            let mut launches = vec![None; order.len()];
            for arm in order {
                let executable = &benchmark.arms[arm];
                let made = launch(executable, &benchmark.id, &choice.settings, seed, self.watch);
                launches[arm] = Some(made.map_err(|failed| ArmFailed { arm, failed })?);
            }
            let launches: Vec<Launch> = launches.into_iter().flatten().collect();
            if !self.is_disturbed(&launches) {
                return Ok(launches);
            }
            if attempt == REPETITIONS_MAX {
                hygiene.kept_disturbed += 1;
                return Ok(launches);
            }
            hygiene.repeated += 1;
        }
        unreachable!("the last attempt returns")
    }

    fn is_disturbed(&self, launches: &[Launch]) -> bool {
        let mut shares = locked(&self.queue_shares);
        shares.extend(launches.iter().map(|launch| launch.usage.queue_share()));
        let mut sorted = shares.clone();
        sorted.sort_by(f64::total_cmp);
        let limit = Usage::DISTURBED_SHARE.max(QUEUE_SHARE_MEDIANS * sorted[sorted.len() / 2]);
        launches.iter().any(|launch| launch.usage.queue_share() > limit)
    }

    /// Notes how far all series got together, which is the look; pairs of incomplete rounds are dropped.
    fn close_look(&self, going_on: &BTreeSet<usize>, taken: usize) -> usize {
        let mut series = locked(&self.series);
        let alive = |series: &Series| series.failed.is_none() && series.choice.is_some();
        let complete = going_on
            .iter()
            .filter(|&&place| alive(&series[place]))
            .map(|&place| series[place].pairs.len())
            .min();
        // With none left alive there is nothing to wait for.
        let Some(complete) = complete else { return usize::MAX };
        for &place in going_on {
            let series = &mut series[place];
            // Without gaps: workers finish out of order, and a failed series may have lost a pair.
            let gapless = series.pairs.iter().enumerate().take_while(|(n, pair)| *n == pair.round);
            let keep = gapless.count().min(complete);
            series.pairs.truncate(keep);
            if alive(series) && complete > taken {
                series.looks.push(complete);
            }
        }
        complete
    }

    /// The random numbers of one decision, the same whichever worker takes it.
    fn drawn(&self, place: usize, round: usize, attempt: usize) -> Pcg64Mcg {
        let mut seed = Pcg64Mcg::seed_from_u64(self.plan.seed);
        for part in [place, round, attempt] {
            seed = Pcg64Mcg::seed_from_u64(seed.random::<u64>() ^ part as u64);
        }
        seed
    }
}

/// A worker that panicked ends the session anyway, so a poisoned lock is no news.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
