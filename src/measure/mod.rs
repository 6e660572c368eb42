//! Finds bench executables, builds both revisions and launches benchmarks: the room that turns a project
//! into numbers.
//!
//! ```text
//!   build      both revisions, one after the other, in one fixed tree
//!   discover   which executables there are, and which benchmarks each holds
//!   calibrate  one probe per benchmark: which experiment fits it, with which settings
//!   session    looks of pairs, one worker per CPU
//!     corun      the arms of a pair at the same time on one CPU, under the clock shim
//!     launch     one fresh process for one benchmark
//!   reaper     whatever happens to pacegate, no child outlives it
//!
//!   doctor     what the machine's settings do to measurements;   noise   a bench to learn its noise with
//! ```
//!
//! Nothing here judges; a pair of launches is handed on with all its samples in measured order.

pub mod build;
pub mod calibrate;
pub mod corun;
pub mod cpu;
pub mod discover;
pub mod doctor;
pub mod fingerprint;
pub mod launch;
pub mod noise;
#[cfg(clock_shim)]
#[path = "shim/page.rs"]
#[expect(dead_code, reason = "half of the layout is the shim's own business")]
mod page;
mod process;
pub mod reaper;
pub mod revisions;
pub mod session;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use reaper::{Reaper, reaper_main};

use crate::model::Sample;

/// What one launch used, beside its own clock. A number that the system does not tell is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time from start to end of the process, nanoseconds.
    pub wall_ns: u64,
    /// CPU time of all its threads, nanoseconds.
    pub cpu_ns: u64,
    /// Time its main thread was ready to run and had no CPU, nanoseconds.
    pub run_queue_wait_ns: u64,
    /// Times its main thread gave up the CPU.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from its main thread.
    pub involuntary_switches: u64,
    /// Time the hypervisor took from the machine meanwhile, nanoseconds, all CPUs together.
    pub steal_ns: u64,
}

impl Usage {
    /// The part of the wall time for which the process was ready and had no CPU, 0 to 1.
    #[must_use]
    pub fn queue_share(&self) -> f64 {
        if self.wall_ns == 0 { 0.0 } else { self.run_queue_wait_ns as f64 / self.wall_ns as f64 }
    }
}

/// One launch: one fresh process that measured one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// What it measured.
    pub sample: Sample,
    /// Lines the bench wrote to the file named by `PACEGATE_METRICS`, as they are.
    pub metrics: Vec<String>,
    /// What the process used.
    pub usage: Usage,
    /// Seed of its environment padding.
    pub seed: u64,
    /// What the clock shim saw, where it was loaded.
    pub clock: Option<ClockReport>,
}

/// What the clock shim saw in one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReport {
    /// Calls of the monotonic clock on the main thread.
    pub calls: u64,
    /// Calls of the monotonic clock on other threads.
    pub calls_elsewhere: u64,
    /// Turns handed to the partner.
    pub turns: u64,
    /// Times it lost patience with a partner.
    pub turn_time_outs: u64,
    /// Wall time between clock calls of the main thread, nanoseconds, waiting for turns left out.
    pub wall_ns: u64,
    /// CPU time of the main thread in these intervals, nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of all threads in these intervals, nanoseconds; counted by a probe only.
    pub cpu_all_ns: u64,
    /// Longest of these intervals, nanoseconds.
    pub longest_ns: u64,
    /// Time spent waiting at the start and for turns, nanoseconds.
    pub waited_ns: u64,
}

/// Where a launch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The process could not be started.
    Start,
    /// It ended with an exit code other than zero, or by a signal.
    Exit,
    /// It took longer than the settings allow and was killed.
    TimeOut,
    /// It ended well and measured no benchmark of this name.
    Vanished,
    /// It measured nothing: no iterations, or no time.
    Empty,
    /// Its files could not be read.
    Read,
    /// The clock shim was not loaded, for example into a static executable: no co-run is possible.
    Handshake,
    /// pacegate was told to stop.
    Interrupted,
}

/// A launch that gave no numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Where it failed.
    pub phase: Phase,
    /// What happened, in words that follow the name of the benchmark and a colon.
    pub message: String,
    /// The last lines it wrote, empty if none.
    pub last_output: String,
}

impl Failed {
    fn new(phase: Phase, message: impl Into<String>) -> Self {
        Failed { phase, message: message.into(), last_output: String::new() }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.last_output.is_empty() {
            write!(f, "; it wrote last:\n{}", self.last_output)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failed {}

/// Why measuring as a whole stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// SIGINT or SIGTERM; all children have been killed.
    Interrupted,
    /// The revision can't be found or checked out.
    Revision,
    /// cargo could not build it.
    Build,
    /// A file or process of our own failed us.
    System,
}

/// An error that stops measuring as a whole; one benchmark that fails is a [`Failed`] instead.
#[derive(Debug)]
pub struct Error {
    /// Which kind of thing went wrong.
    pub kind: ErrorKind,
    /// What, and what to do about it.
    pub message: String,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into() }
    }

    fn interrupted() -> Self {
        Error::new(ErrorKind::Interrupted, "interrupted; all children were ended")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A flag that every wait of this room polls; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that SIGINT and SIGTERM raise.
    ///
    /// # Errors
    /// If the system refuses the handlers.
    pub fn on_signals() -> std::io::Result<Self> {
        let interrupt = Interrupt::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    /// Raises the flag.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What every child process of this room is watched by.
#[derive(Debug, Default)]
pub struct Watch {
    /// Ends the waiting and the children.
    pub interrupt: Interrupt,
    /// Ends the children if pacegate itself is killed.
    pub reaper: Reaper,
}
