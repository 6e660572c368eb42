//! One child process in its own process group: started, waited for, killed with its descendants, reaped.
//!
//! Its output goes to a file, which is cut when it grows too long, so no thread reads a pipe and a
//! descendant that keeps the output open can't hold us up.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use super::{Usage, Watch};

/// Output beyond this is dropped from the front, in bytes.
const OUTPUT_MAX: u64 = 1 << 20;
/// How much of the output a failure quotes: lines, and bytes.
const QUOTED_LINES: usize = 20;
const QUOTED_BYTES: u64 = 4096;
/// A program that was just written is busy while a process that another thread started meanwhile still has the open
/// file, which lasts until that one has become its own program. So many tries are made, a millisecond apart.
const TRIES_MAX: u32 = 1000;
/// Longest wait between two looks at the interrupt flag.
const SLICE: Duration = Duration::from_millis(20);

pub(super) struct Process<'w> {
    child: Child,
    output: File,
    started: Instant,
    steal_before: u64,
    watch: &'w Watch,
    /// Readable once the process has ended.
    #[cfg(target_os = "linux")]
    handle: Option<rustix::fd::OwnedFd>,
    reaped: bool,
}

impl<'w> Process<'w> {
    /// Starts the command in a process group of its own, with both outputs appended to `output`.
    pub(super) fn start(command: &mut Command, output: File, watch: &'w Watch) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command.stdin(std::process::Stdio::null());
        watch.reaper.mark(command);
        let steal_before = steal_ns();
        let mut started = Instant::now();
        let mut tries = 1;
        let child = loop {
            match command.spawn() {
                Err(error)
                    if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES_MAX =>
                {
                    std::thread::sleep(Duration::from_millis(1));
                    started = Instant::now();
                    tries += 1;
                }
                done => break done?,
            }
        };
        watch.reaper.add(child.id());
        #[cfg(target_os = "linux")]
        let handle = rustix::process::pidfd_open(pid(&child), rustix::process::PidfdFlags::empty());
        Ok(Process {
            #[cfg(target_os = "linux")]
            handle: handle.ok(),
            child,
            output,
            started,
            steal_before,
            watch,
            reaped: false,
        })
    }

    #[cfg(clock_shim)]
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended; it is not reaped by this.
    pub(super) fn has_ended(&mut self) -> bool {
        if let Ok(meta) = self.output.metadata()
            && meta.len() > OUTPUT_MAX
        {
            // The file is open for appending, so the child goes on at the new end.
            let _ = self.output.set_len(0);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            !matches!(waitid(WaitId::Pid(pid(&self.child)), options), Ok(None))
        }
        #[cfg(not(target_os = "linux"))]
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The last lines that it wrote.
    pub(super) fn last_lines(&mut self) -> String {
        last_lines(&mut self.output)
    }

    /// Time since the start.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Kills the process and all that is left of its group.
    pub(super) fn kill(&mut self) {
        #[cfg(unix)]
        let _ =
            rustix::process::kill_process_group(pid(&self.child), rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ = self.child.kill();
    }

    /// Reaps the ended process, after whatever it left behind in its group was killed.
    pub(super) fn reap(mut self) -> io::Result<(ExitStatus, Usage, File)> {
        let mut usage = Usage {
            wall_ns: self.started.elapsed().as_nanos() as u64,
            steal_ns: steal_ns().saturating_sub(self.steal_before),
            ..Usage::default()
        };
        usage_of(self.child.id(), &mut usage);
        let status = self.end()?;
        Ok((status, usage, self.output.try_clone()?))
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        // The group is killed before its leader is reaped: until then nobody else can get its number.
        self.kill();
        let status = self.child.wait();
        self.reaped = true;
        self.watch.reaper.remove(self.child.id());
        status
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.end();
        }
    }
}

/// Waits until one of the processes ends, at most for a slice of time.
pub(super) fn wait_a_slice(processes: &[Process<'_>]) {
    #[cfg(target_os = "linux")]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut handles: Vec<_> = processes
            .iter()
            .filter_map(|process| Some(PollFd::new(process.handle.as_ref()?, PollFlags::IN)))
            .collect();
        if handles.len() == processes.len() {
            let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(SLICE.subsec_nanos()) };
            let _ = poll(&mut handles, Some(&slice));
            return;
        }
    }
    let _ = processes;
    std::thread::sleep(SLICE / 4);
}

/// The last lines of an output file, for the message of a failure.
pub(super) fn last_lines(output: &mut File) -> String {
    let mut tail = Vec::new();
    let length = output.metadata().map_or(0, |meta| meta.len());
    if output.seek(SeekFrom::Start(length.saturating_sub(QUOTED_BYTES))).is_ok() {
        let _ = output.take(QUOTED_BYTES).read_to_end(&mut tail);
    }
    let text = String::from_utf8_lossy(&tail);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
}

#[cfg(unix)]
fn pid(child: &Child) -> rustix::process::Pid {
    rustix::process::Pid::from_child(child)
}

/// Reads what the system knows of a process that has ended and is not reaped yet.
///
/// `schedstat` counts nanoseconds but only of the main thread; `stat` counts all threads in ticks. The
/// larger one is right to a tick in both cases.
fn usage_of(process: u32, usage: &mut Usage) {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
    let schedstat = read("schedstat");
    let mut words = schedstat.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0));
    let main_thread_ns: u64 = words.next().unwrap_or(0);
    usage.run_queue_wait_ns = words.next().unwrap_or(0);
    let stat = read("stat");
    // The name in parentheses may hold spaces; utime and stime are the 12th and 13th word after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = after_name
        .split_ascii_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<u64>().ok())
        .sum();
    usage.cpu_ns = main_thread_ns.max(ticks * tick_ns());
    for line in read("status").lines() {
        let number = || line.rsplit('\t').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        if line.starts_with("voluntary_ctxt_switches") {
            usage.voluntary_switches = number();
        } else if line.starts_with("nonvoluntary_ctxt_switches") {
            usage.involuntary_switches = number();
        }
    }
}

/// Stolen time of all CPUs since the machine started: the 8th number of the first line of `/proc/stat`.
fn steal_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or_default();
    first.split_ascii_whitespace().nth(8).and_then(|word| word.parse().ok()).unwrap_or(0)
        * tick_ns()
}

/// The unit of the kernel's times in `/proc`, which is 100 Hz for user space on every Linux of today.
fn tick_ns() -> u64 {
    10_000_000
}
