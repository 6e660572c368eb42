//! A pair measured by co-running: every arm at the same time on the same CPU, under the clock shim.
//!
//! ```text
//!              arm 0    arm 1                one CPU
//!                |        |
//!     shim       |        |                  hides the partner's time from the arm's clock
//!                 \      /
//!                  page                      settings, turns, counters; a file that the arms map
//!                   |
//!                launcher                    reads it as a file, tells the arms when one has ended
//! ```
//!
//! Both arms meet the same neighbours, frequency and temperature at the scale on which these change, so
//! they cancel in the ratio. The shim is described in `shim/shim.rs`.

use super::discover::Executable;
use super::launch::LaunchSettings;
use super::{Failed, Launch, Watch};

/// Which clock the main thread of an arm sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Its own CPU time: not disturbed by a busy machine, right for one thread that computes.
    Cpu,
    /// Wall time without the waiting for turns: right for benches with threads or input and output.
    Wall,
}

/// How the arms of a pair share the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The kernel alternates them every few milliseconds, and each sees its own CPU time.
    Free,
    /// They hand a turn to each other at their clock calls, so one runs at a time.
    Turns(Clock),
}

/// One arm that failed, which ends the pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmFailed {
    /// Place of the arm in the list of arms; the first one for a failure of our own.
    pub arm: usize,
    /// How it failed.
    pub failed: Failed,
}

/// Whether this build of pacegate can co-run at all.
pub const AVAILABLE: bool = cfg!(clock_shim);

/// Measures one benchmark on 2 to 4 arms at the same time, on the CPUs that the calling thread is pinned to;
/// the launches come back in the order of `arms`. All arms get the same padding.
///
/// # Errors
/// The first arm that failed; the others are ended with it. [`super::Phase::Handshake`] means that no co-run is
/// possible with this executable or on this system, and that launches in turn are.
pub fn corun(
    arms: &[&Executable],
    benchmark: &str,
    settings: &LaunchSettings,
    way: Way,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<Launch>, ArmFailed> {
    #[cfg(clock_shim)]
    return shimmed::run(arms, benchmark, settings, Some(way), seed, watch);
    #[cfg(not(clock_shim))]
    {
        let _ = (arms, benchmark, settings, way, seed, watch);
        Err(ArmFailed { arm: 0, failed: no_shim() })
    }
}

/// One plain launch whose clock calls are counted; nothing is changed for it.
///
/// # Errors
/// As [`super::launch::launch`], and [`super::Phase::Handshake`] where the shim was not loaded.
pub fn probe(
    executable: &Executable,
    benchmark: &str,
    settings: &LaunchSettings,
    seed: u64,
    watch: &Watch,
) -> Result<Launch, Failed> {
    #[cfg(clock_shim)]
    return shimmed::run(&[executable], benchmark, settings, None, seed, watch)
        .map(|mut launches| launches.remove(0))
        .map_err(|failed| failed.failed);
    #[cfg(not(clock_shim))]
    {
        let _ = (executable, benchmark, settings, seed, watch);
        Err(no_shim())
    }
}

#[cfg(not(clock_shim))]
fn no_shim() -> Failed {
    Failed::new(super::Phase::Handshake, "this build of pacegate has no clock shim")
}

#[cfg(clock_shim)]
mod shimmed {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    use std::sync::OnceLock;
    use std::time::Duration;

    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::{ArmFailed, Clock, Way};
    use crate::measure::discover::Executable;
    use crate::measure::launch::{Copy, Home, LaunchSettings, check_on};
    use crate::measure::process::{Process, wait_a_slice};
    use crate::measure::{ClockReport, Failed, Launch, Phase, Watch, page};

    /// A turn shorter than this is kept, so that the calls before and after a sample are one turn, and
    /// small batches do not pay a switch each.
    const TURN_MIN_NS: u64 = 200_000;

    /// Runs the arms under the shim; without a way, one arm is only observed.
    pub(super) fn run(
        arms: &[&Executable],
        benchmark: &str,
        settings: &LaunchSettings,
        way: Option<Way>,
        seed: u64,
        watch: &Watch,
    ) -> Result<Vec<Launch>, ArmFailed> {
        assert!((1..=page::ARMS_MAX).contains(&arms.len()), "the page has room for four arms");
        let all = |failed| ArmFailed { arm: 0, failed };
        let mut drawn = Pcg64Mcg::seed_from_u64(seed);
        // `slots[arm]` is the arm's place in the page; the arms are started in order of place.
        let mut slots: Vec<usize> = (0..arms.len()).collect();
        slots.shuffle(&mut drawn);
        let shim = shim().map_err(all)?;
        let page = Page::new(arms.len(), way, settings.patience, drawn.random()).map_err(all)?;
        let homes: Vec<Home> =
            arms.iter().map(|_| Home::new(&watch.reaper)).collect::<Result<_, _>>().map_err(all)?;
        let copies: Vec<Copy> =
            arms.iter().map(|arm| Copy::of(arm)).collect::<Result<_, _>>().map_err(all)?;

        let mut running: Vec<Process<'_>> = Vec::new();
        let mut started: Vec<usize> = Vec::new();
        for slot in 0..arms.len() {
            let arm = slots.iter().position(|&place| place == slot).expect("slots are shuffled");
            let mut command = homes[arm].command(&copies[arm].executable, settings, seed);
            command
                .args(["--exact", benchmark])
                .env("LD_PRELOAD", &shim)
                .env("PACEGATE_PAGE", page.0.path())
                .env("PACEGATE_ARM", slot.to_string());
            let process = homes[arm].start(&mut command, watch);
            running.push(process.map_err(|failed| ArmFailed { arm, failed })?);
            started.push(arm);
        }

        let mut launches: Vec<Option<Launch>> = arms.iter().map(|_| None).collect();
        while !running.is_empty() {
            let Some(ended) = running.iter_mut().position(Process::has_ended) else {
                check_on(&mut running, settings.time_out, watch)
                    .map_err(|failed| ArmFailed { arm: started[0], failed })?;
                wait_a_slice(&running);
                continue;
            };
            let (process, arm) = (running.remove(ended), started.remove(ended));
            page.say_gone(slots[arm]).map_err(all)?;
            let id = process.id();
            let launch = homes[arm].end(process).and_then(|(usage, _)| {
                let mut launch = homes[arm].read(benchmark, usage, seed)?;
                launch.clock = Some(page.report(slots[arm], id)?);
                Ok(launch)
            });
            // An error drops the partners that still run, which ends them.
            launches[arm] = Some(launch.map_err(|failed| ArmFailed { arm, failed })?);
        }
        Ok(launches.into_iter().map(|launch| launch.expect("every arm has ended")).collect())
    }

    /// A file that has no name in any folder and vanishes with us; the children open it through our `/proc`.
    struct MemoryFile(File);

    impl MemoryFile {
        fn new(name: &str) -> io::Result<Self> {
            use rustix::fs::{MemfdFlags, memfd_create};
            Ok(MemoryFile(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?)))
        }

        fn path(&self) -> String {
            format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
        }
    }

    /// The shim as a file for `LD_PRELOAD`, written once per process.
    fn shim() -> Result<String, Failed> {
        static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock_shim.so"));
        static FILE: OnceLock<Result<MemoryFile, String>> = OnceLock::new();
        let write = || -> io::Result<MemoryFile> {
            let file = MemoryFile::new("clock_shim.so")?;
            file.0.write_all_at(LIBRARY, 0)?;
            Ok(file)
        };
        match FILE.get_or_init(|| write().map_err(|error| error.to_string())) {
            Ok(file) => Ok(file.path()),
            Err(error) => {
                let message = format!("the clock shim could not be written: {error}");
                Err(Failed::new(Phase::Handshake, message))
            }
        }
    }

    /// The shared page, seen as a file: what the arms write into their mapping can be read here, and the
    /// other way round.
    struct Page(MemoryFile);

    impl Page {
        fn new(
            arms: usize,
            way: Option<Way>,
            patience: Duration,
            seed: u32,
        ) -> Result<Self, Failed> {
            Page::create(arms, way, patience, seed).map_err(|error| {
                let message = format!("the page shared by the arms could not be written: {error}");
                Failed::new(Phase::Start, message)
            })
        }

        fn create(
            arms: usize,
            way: Option<Way>,
            patience: Duration,
            seed: u32,
        ) -> io::Result<Self> {
            let page = Page(MemoryFile::new("page")?);
            page.0.0.set_len(page::LENGTH as u64)?;
            page.write(page::AT_ARMS, arms as u32)?;
            page.write(page::AT_SEED, seed)?;
            page.write_long(page::AT_TURN_MIN, TURN_MIN_NS)?;
            if let Some(way) = way {
                let (clock, turns) = match way {
                    Way::Free => (page::CLOCK_CPU, 0),
                    Way::Turns(Clock::Cpu) => (page::CLOCK_CPU, 1),
                    Way::Turns(Clock::Wall) => (page::CLOCK_REAL, 1),
                };
                page.write(page::AT_CLOCK, clock)?;
                page.write(page::AT_TURNS, turns)?;
                page.write(page::AT_BARRIER, 1)?;
                page.write_long(page::AT_PATIENCE, patience.as_nanos() as u64)?;
            }
            page.write(page::AT_MAGIC, page::MAGIC)?;
            Ok(page)
        }

        fn say_gone(&self, slot: usize) -> Result<(), Failed> {
            self.write(page::ARMS_FROM + slot * page::ARM_LENGTH + page::ARM_GONE, 1)
                .map_err(|error| lost(&error))
        }

        /// What the shim counted in this arm, if it was loaded there.
        fn report(&self, slot: usize, process: u32) -> Result<ClockReport, Failed> {
            let from = page::ARMS_FROM + slot * page::ARM_LENGTH;
            let mut arm = [0; page::ARM_LENGTH];
            self.0.0.read_exact_at(&mut arm, from as u64).map_err(|error| lost(&error))?;
            let word =
                |at: usize| u32::from_ne_bytes(arm[at..at + 4].try_into().expect("four bytes"));
            let count =
                |at: usize| u64::from_ne_bytes(arm[at..at + 8].try_into().expect("eight bytes"));
            if word(page::ARM_PID) != process {
                let message = "the clock shim was not loaded: the executable is static, or measures \
                               on another thread than the main one";
                return Err(Failed::new(Phase::Handshake, message));
            }
            Ok(ClockReport {
                calls: count(page::ARM_CALLS),
                calls_elsewhere: count(page::ARM_CALLS_OTHER),
                turns: count(page::ARM_TURNS),
                turn_time_outs: u64::from(word(page::ARM_TIMEOUTS)),
                wall_ns: count(page::ARM_WALL),
                cpu_ns: count(page::ARM_CPU),
                cpu_all_ns: count(page::ARM_CPU_ALL),
                longest_ns: count(page::ARM_LONGEST),
                waited_ns: count(page::ARM_WAITED),
            })
        }

        fn write(&self, at: usize, word: u32) -> io::Result<()> {
            self.0.0.write_all_at(&word.to_ne_bytes(), at as u64)
        }

        fn write_long(&self, at: usize, number: u64) -> io::Result<()> {
            self.0.0.write_all_at(&number.to_ne_bytes(), at as u64)
        }
    }

    fn lost(error: &io::Error) -> Failed {
        Failed::new(Phase::Read, format!("the page shared by the arms can't be used: {error}"))
    }
}
