//! One launch: a fresh process that measures one benchmark, in a fixed environment and a home of its own.
//!
//! ```text
//!   EXE --bench --exact ID --warm-up-time 0.1 --measurement-time 0.25 ...     cwd = package directory
//!     $CRITERION_HOME/<directory>/new/benchmark.json   group_id, function_id, value_str, full_id, throughput
//!     $CRITERION_HOME/<directory>/new/sample.json      sampling_mode, iters[], times[] (total ns)
//!     $PACEGATE_METRICS                                one JSON object a line, written by the bench
//! ```
//!
//! criterion's own statistics are thrown away, so a launch asks for few resamples and no plots. An id that
//! criterion doesn't know ends well and writes nothing: that is [`Phase::Vanished`].

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;
use tempfile::TempDir;

use super::discover::Executable;
use super::process::{Process, last_lines, wait_a_slice};
use super::{Failed, Launch, Phase, Reaper, Usage, Watch};
use crate::ingest::criterion::{MEASURED_NOTHING, sample_from_slice};

/// Longest padding of the environment in bytes: the place of the stack, which moves times by a few percent,
/// is then drawn anew in every launch, over a whole page.
const PADDING_MAX: usize = 4096;
/// What a bench needs of the environment, where it is set.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "TMPDIR", "USERPROFILE", "SYSTEMROOT", "TEMP"];

/// Where Linux keeps files in memory.
pub(super) const MEMORY_FOLDER: &str = "/dev/shm";

/// How a launch is made.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchSettings {
    /// Time for warming up.
    pub warm_up: Duration,
    /// Time for all samples together.
    pub measurement: Duration,
    /// Number of samples, at least 10.
    pub sample_size: u32,
    /// A launch that takes longer is killed and has failed.
    pub time_out: Duration,
    /// How long an arm of a co-run waits for a partner that keeps its turn, or doesn't come to the start;
    /// it should be several times the longest sample.
    pub patience: Duration,
    /// Further environment variables to pass on, where they are set.
    pub pass_on: Vec<String>,
}

impl Default for LaunchSettings {
    fn default() -> Self {
        LaunchSettings {
            warm_up: Duration::from_millis(100),
            measurement: Duration::from_millis(250),
            sample_size: 20,
            time_out: Duration::from_secs(60),
            patience: Duration::from_secs(2),
            pass_on: Vec::new(),
        }
    }
}

/// Launches one benchmark, on the CPUs that the calling thread is pinned to.
///
/// # Errors
/// A [`Failed`] that says where it failed; the process and its group are gone by then.
pub fn launch(
    executable: &Executable,
    benchmark: &str,
    settings: &LaunchSettings,
    seed: u64,
    watch: &Watch,
) -> Result<Launch, Failed> {
    let (home, copy) = (Home::new(&watch.reaper)?, Copy::of(executable)?);
    let mut command = home.command(&copy.executable, settings, seed);
    command.args(["--exact", benchmark]);
    let mut running = [home.start(&mut command, watch)?];
    wait_for_all(&mut running, settings.time_out, watch)?;
    let [process] = running;
    let (usage, _) = home.end(process)?;
    home.read(benchmark, usage, seed)
}

/// A copy of an executable that one launch runs, beside the executable and gone with it.
///
/// Where the pages of a file lie in memory moves times by percents, and every launch of that file shares them: two
/// copies of one executable were seen to differ by 9 % throughout a session. So this place is drawn anew as well.
pub(super) struct Copy {
    pub(super) executable: Executable,
    _folder: TempDir,
}

impl Copy {
    pub(super) fn of(executable: &Executable) -> Result<Self, Failed> {
        let path = &executable.path;
        let copy = || -> io::Result<Copy> {
            let beside = path.parent().unwrap_or(Path::new("."));
            let folder = tempfile::Builder::new().prefix("pacegate-").tempdir_in(beside)?;
            let copy = folder.path().join(path.file_name().unwrap_or_default());
            fs::copy(path, &copy)?;
            Ok(Copy {
                executable: Executable { path: copy, ..executable.clone() },
                _folder: folder,
            })
        };
        copy().map_err(|error| {
            let message = format!("{} could not be copied for a launch: {error}", path.display());
            Failed::new(Phase::Start, message)
        })
    }
}

/// Launches whatever matches the regular expression `filter`, as briefly as criterion allows, and returns
/// the full ids that it wrote. The only way to the ids that `--list` cuts.
pub(super) fn ids_matching(
    executable: &Executable,
    filter: &str,
    time_out: Duration,
    watch: &Watch,
) -> Result<Vec<String>, Failed> {
    let home = Home::new(&watch.reaper)?;
    let settings = LaunchSettings {
        warm_up: Duration::from_millis(1),
        measurement: Duration::from_millis(1),
        sample_size: 10,
        ..LaunchSettings::default()
    };
    let mut command = home.command(executable, &settings, 0);
    command.arg(filter);
    let mut running = [home.start(&mut command, watch)?];
    wait_for_all(&mut running, time_out, watch)?;
    let [process] = running;
    home.end(process)?;
    Ok(home.benchmarks()?.into_iter().map(|(_, found)| found.full_id).collect())
}

/// Runs the executable with these arguments and returns what it wrote.
pub(super) fn output_of(
    executable: &Executable,
    arguments: &[&str],
    time_out: Duration,
    watch: &Watch,
) -> Result<String, Failed> {
    let home = Home::new(&watch.reaper)?;
    let mut command = home.bare_command(executable, &LaunchSettings::default(), 0);
    command.args(arguments);
    let mut running = [home.start(&mut command, watch)?];
    wait_for_all(&mut running, time_out, watch)?;
    let [process] = running;
    home.end(process)?;
    fs::read_to_string(home.output()).map_err(|error| unreadable(&home.output(), &error))
}

/// Waits until all have ended; at the time-out, and when pacegate is told to stop, all are killed.
pub(super) fn wait_for_all(
    running: &mut [Process<'_>],
    time_out: Duration,
    watch: &Watch,
) -> Result<(), Failed> {
    loop {
        if running.iter_mut().all(Process::has_ended) {
            return Ok(());
        }
        check_on(running, time_out, watch)?;
        wait_a_slice(running);
    }
}

/// The two reasons to kill what runs: pacegate was told to stop, or the time is up.
pub(super) fn check_on(
    running: &mut [Process<'_>],
    time_out: Duration,
    watch: &Watch,
) -> Result<(), Failed> {
    let failed = if watch.interrupt.is_raised() {
        Failed::new(Phase::Interrupted, "interrupted")
    } else if running.iter().any(|process| process.age() > time_out) {
        let message = format!(
            "still running after {} s and was killed; raise the launch time-out if it needs longer",
            time_out.as_secs_f64()
        );
        let last_output = running
            .iter_mut()
            .find_map(|process| (!process.has_ended()).then(|| process.last_lines()));
        Failed {
            last_output: last_output.unwrap_or_default(),
            ..Failed::new(Phase::TimeOut, message)
        }
    } else {
        return Ok(());
    };
    running.iter_mut().for_each(Process::kill);
    Err(failed)
}

/// The private folder of one launch, in memory where the system has such a place.
pub(super) struct Home(TempDir);

impl Home {
    pub(super) fn new(reaper: &Reaper) -> Result<Self, Failed> {
        scratch_folder(reaper).map(Home).map_err(|error| {
            let message = format!("no folder for temporary files ({error}); set TMPDIR to one");
            Failed::new(Phase::Start, message)
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    fn output(&self) -> PathBuf {
        self.path().join("output")
    }

    fn metrics(&self) -> PathBuf {
        self.path().join("metrics")
    }

    /// The command of a launch, but for the filter.
    pub(super) fn command(
        &self,
        executable: &Executable,
        settings: &LaunchSettings,
        seed: u64,
    ) -> Command {
        let mut command = self.bare_command(executable, settings, seed);
        command
            .args(["--bench", "--noplot", "--nresamples", "1001"])
            .args(["--warm-up-time", &settings.warm_up.as_secs_f64().to_string()])
            .args(["--measurement-time", &settings.measurement.as_secs_f64().to_string()])
            .args(["--sample-size", &settings.sample_size.to_string()]);
        command
    }

    fn bare_command(
        &self,
        executable: &Executable,
        settings: &LaunchSettings,
        seed: u64,
    ) -> Command {
        let mut command = Command::new(&executable.path);
        command.current_dir(&executable.directory).env_clear();
        let passed_on =
            PASSED_ON.iter().copied().chain(settings.pass_on.iter().map(String::as_str));
        for name in passed_on {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let padding = Pcg64Mcg::seed_from_u64(seed).random_range(0..=PADDING_MAX);
        command
            .envs(executable.variables.iter().map(|(name, value)| (name, value)))
            .env("LANG", "C")
            .env("CARGO_MANIFEST_DIR", &executable.directory)
            .env("CARGO_PKG_NAME", &executable.package)
            .env("CARGO_PKG_VERSION", &executable.version)
            .env("CRITERION_HOME", self.path().join("criterion"))
            .env("PACEGATE_METRICS", self.metrics())
            .env("PACEGATE_PADDING", "x".repeat(padding));
        command
    }

    /// Starts the command with its output in this home.
    pub(super) fn start<'w>(
        &self,
        command: &mut Command,
        watch: &'w Watch,
    ) -> Result<Process<'w>, Failed> {
        let mut start = || -> io::Result<Process<'w>> {
            let append = || OpenOptions::new().create(true).append(true).open(self.output());
            command.stdout(append()?).stderr(append()?);
            Process::start(command, File::open(self.output())?, watch)
        };
        start().map_err(|error| {
            let program = command.get_program().display().to_string();
            Failed::new(Phase::Start, format!("{program} could not be started: {error}"))
        })
    }

    /// Reaps the ended process; an exit code other than zero is a failure.
    pub(super) fn end(&self, process: Process<'_>) -> Result<(Usage, ExitStatus), Failed> {
        let reaped = process.reap().map_err(|error| {
            Failed::new(Phase::Exit, format!("its end could not be learned: {error}"))
        });
        let (status, usage, mut output) = reaped?;
        if status.success() {
            return Ok((usage, status));
        }
        let message = format!("ended with {status}");
        Err(Failed { last_output: last_lines(&mut output), ..Failed::new(Phase::Exit, message) })
    }

    /// Reads what criterion wrote for this benchmark.
    pub(super) fn read(&self, benchmark: &str, usage: Usage, seed: u64) -> Result<Launch, Failed> {
        let found = self.benchmarks()?;
        let Some((folder, _)) = found.into_iter().find(|(_, found)| found.full_id == benchmark)
        else {
            let mut output = File::open(self.output()).ok();
            let last_output = output.as_mut().map(last_lines).unwrap_or_default();
            // criterion's own words for a sample without time, which it does not write down.
            if last_output.contains("took zero time per iteration") {
                return Err(measured_nothing());
            }
            let message = "ended well and measured nothing: the executable holds no benchmark of this \
                           name, or ended before it was measured";
            return Err(Failed { last_output, ..Failed::new(Phase::Vanished, message) });
        };
        let path = folder.join("sample.json");
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        let sample = sample_from_slice(&bytes, usize::MAX).map_err(|error| {
            if error.starts_with(MEASURED_NOTHING) {
                measured_nothing()
            } else {
                unreadable(&path, &error)
            }
        })?;
        let metrics = fs::read_to_string(self.metrics()).unwrap_or_default();
        Ok(Launch {
            sample,
            metrics: metrics.lines().map(str::to_owned).collect(),
            usage,
            seed,
            clock: None,
        })
    }

    /// Every benchmark that was measured, with the folder of its files. The tree is walked, because the names
    /// of its folders are cut and altered.
    fn benchmarks(&self) -> Result<Vec<(PathBuf, CriterionBenchmark)>, Failed> {
        walkdir::WalkDir::new(self.path().join("criterion"))
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .filter(|entry| {
                entry.file_name() == "benchmark.json"
                    && entry.path().parent().is_some_and(|folder| folder.ends_with("new"))
            })
            .map(|entry| {
                let folder = entry.path().parent().expect("a file has a folder").to_owned();
                Ok((folder, read_json(entry.path())?))
            })
            .collect()
    }
}

/// A private folder for short-lived files, in memory where the system has such a place.
fn scratch_folder(reaper: &Reaper) -> io::Result<TempDir> {
    let mut named = tempfile::Builder::new();
    let prefix = reaper.folder_prefix();
    named.prefix(&prefix);
    #[cfg(target_os = "linux")]
    if let Ok(folder) = named.tempdir_in(MEMORY_FOLDER) {
        return Ok(folder);
    }
    named.tempdir()
}

/// `benchmark.json`
#[derive(Deserialize)]
struct CriterionBenchmark {
    full_id: String,
}

fn measured_nothing() -> Failed {
    let message = "measured no iterations, or no time; a bench with `iter_custom` must return the time that \
                   its iterations took";
    Failed::new(Phase::Empty, message)
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Failed> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failed {
    let name = path.file_name().unwrap_or_default().display();
    let message =
        format!("{name} of criterion can't be read: {error}; criterion 0.5 to 0.8 is known");
    Failed::new(Phase::Read, message)
}
