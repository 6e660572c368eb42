//! `check` and `run`: build, list, launch, and hand over what was measured.

mod stored;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use globset::GlobMatcher;
use jiff::Timestamp;

use crate::assess::{Sides, assess, release_of};
use crate::compare::Learned;
use crate::config::{Config, DEFAULT_PROFILE, Profile};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::{ExperimentChoice, Policy, glob};
use crate::history::entry::class;
use crate::history::noise::monitor;
use crate::history::shard::Shards;
use crate::history::{Entry as Past, learn};
use crate::measure::build::{
    Built, CargoOptions, Progress as CargoProgress, Revision as Commit, Workshop,
};
use crate::measure::discover::{Contents, Executable, contents};
use crate::measure::fingerprint::{Tools, fingerprint};
use crate::measure::launch::LaunchSettings;
use crate::measure::session::{self, Benchmark, Series as Measured, session};
use crate::measure::{self, Interrupt, Reaper, Watch, cpu};
use crate::model::{
    Arm, BenchmarkId, Environment, Evidence, Experiment, Label, Metric, Mode, Notice, Reference,
    Revision, Run, Series,
};
use crate::report::Plan;
use crate::store::evidence::{Ending, EvidenceFile};
use crate::store::history::Store;

use super::accept::accepted_today;
use super::compare::read_side;
use super::evidence::{EVIDENCE, report_of};
use super::progress::Bar;
use super::record::{Entry, failure, record};
use super::{Output, output};

/// Environment variable that names the class of this runner.
const RUNNER_CLASS: &str = "PACEGATE_RUNNER_CLASS";

#[derive(Args, Debug)]
pub(super) struct SuiteArgs {
    /// Benchmarks to launch: names or globs; all of the profile if absent.
    #[arg(value_name = "BENCH")]
    benchmarks: Vec<String>,
    /// Profile of pacegate.yaml: how much is measured.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PROFILE)]
    profile: String,
    /// Seed of every drawn order; drawn and printed if absent.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How benchmarks are launched.
    #[arg(long, value_name = "EXPERIMENT", value_parser = experiment)]
    experiment: Option<ExperimentChoice>,
    /// A plan of `pacegate shard plan`, of which this machine measures one part.
    #[arg(long, value_name = "FILE", requires = "shard")]
    shard_plan: Option<PathBuf>,
    /// Which part, from 1.
    #[arg(long, value_name = "N", requires = "shard_plan")]
    shard: Option<u32>,
    /// Flags for `cargo bench`, for example `--features fast`.
    #[arg(last = true, value_name = "CARGO FLAGS")]
    cargo: Vec<String>,
}

impl SuiteArgs {
    /// One benchmark, measured as `bisect` asks.
    pub(super) fn one(benchmark: &str, profile: &str, seed: Option<u64>, cargo: &[String]) -> Self {
        SuiteArgs {
            benchmarks: vec![benchmark.to_owned()],
            profile: profile.to_owned(),
            seed,
            experiment: None,
            shard_plan: None,
            shard: None,
            cargo: cargo.to_vec(),
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    suite: SuiteArgs,
    /// Results of any harness to judge as the candidate; several are several launches. Nothing is built or launched.
    #[arg(long, value_name = "RESULT", num_args = 1.., requires = "baseline", conflicts_with_all = ["benchmarks", "release"])]
    from: Vec<String>,
    /// Revision to compare with; the merge base with the default branch if absent. With --from: a result, or several
    /// by several --baseline.
    #[arg(long, value_name = "REVISION")]
    baseline: Vec<String>,
    /// A release to compare with as well, in the same session.
    #[arg(long, value_name = "REVISION")]
    release: Option<String>,
    /// Which attempt of the same job this is; each may spend half of the error rate of the one before.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    attempt: u32,
    /// History to learn the noise of this runner from; the `history` of pacegate.yaml if absent, and none without that.
    #[arg(long, value_name = "STORE")]
    history: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    suite: SuiteArgs,
}

pub(super) fn check(arguments: &CheckArgs, output: &Output) -> Result<u8> {
    let mut job = Job::new(&arguments.suite, output)?;
    job.policy.attempt = arguments.attempt;
    if !arguments.from.is_empty() {
        return job.judge_results(&arguments.baseline, &arguments.from, output);
    }
    let baseline = match arguments.baseline.as_slice() {
        [] => None,
        [revision] => Some(revision.as_str()),
        _ => return Err(Error::usage("several baselines need --from; name one revision")),
    };
    job.learn_from(arguments.history.as_deref())?;
    let workshop = Workshop::open(Path::new("."), &job.target)?;
    let mut arms = vec![
        (Arm::Baseline, workshop.baseline(baseline, job.config.default_branch.as_deref())?),
        (Arm::Candidate, workshop.candidate()?),
    ];
    if let Some(release) = &arguments.release {
        arms.push((Arm::Release, workshop.baseline(Some(release), None)?));
    }
    let file = job.measure(&workshop, &arms, output)?;
    match file.ending {
        Ending::Complete => output::deliver(&report_of(&file)?, output),
        Ending::Interrupted => Err(interrupted(output)),
    }
}

pub(super) fn run(arguments: &RunArgs, output: &Output) -> Result<u8> {
    let mut job = Job::new(&arguments.suite, output)?;
    let workshop = Workshop::open(Path::new("."), &job.target)?;
    let candidate = workshop.candidate()?;
    let file = job.measure(&workshop, &[(Arm::Candidate, candidate)], output)?;
    if file.ending == Ending::Interrupted {
        return Err(interrupted(output));
    }
    let run = &file.runs[&Arm::Candidate];
    output::print(&format!(
        "measured {} benchmarks, {} failed: {}\n",
        run.series.iter().filter(|series| series.metric == Metric::time()).count(),
        run.failures.len(),
        output.out.join(EVIDENCE).display()
    ))?;
    Ok(if run.failures.is_empty() { 0 } else { ErrorKind::Judge.exit_code() })
}

pub(super) fn interrupted(output: &Output) -> Error {
    Error::new(
        ErrorKind::Interrupted,
        format!(
            "interrupted; all children were ended, and what was measured until then is in {}",
            output.out.join(EVIDENCE).display()
        ),
    )
}

/// What is to be measured, and by which rules.
pub(super) struct Job {
    config: Config,
    profile: Profile,
    profile_name: String,
    pub(super) policy: Policy,
    class: Option<Label>,
    /// Runs of the default branch, to learn noise from.
    history: Vec<Past>,
    shard: Option<(Shards, u32)>,
    filters: Vec<(String, GlobMatcher)>,
    experiment: ExperimentChoice,
    cargo: Vec<String>,
    seed: u64,
    started: Timestamp,
    pub(super) target: PathBuf,
    watch: Watch,
}

impl Job {
    pub(super) fn new(arguments: &SuiteArgs, output: &Output) -> Result<Self> {
        let config = Config::read(&output.config)?;
        let Some(profile) = config.profiles.get(&arguments.profile).cloned() else {
            let known: Vec<&str> = config.profiles.keys().map(String::as_str).collect();
            return Err(Error::usage(format!(
                "{}: there is no profile `{}`; it knows `{}`",
                output.config.display(),
                arguments.profile,
                known.join("`, `")
            )));
        };
        let filters = if arguments.benchmarks.is_empty() {
            &profile.benchmarks
        } else {
            &arguments.benchmarks
        };
        let filters = filters
            .iter()
            .map(|pattern| Ok((pattern.clone(), glob(pattern).map_err(Error::usage)?)))
            .collect::<Result<_>>()?;
        let policy = Policy {
            looks: profile.looks.clone(),
            accepted: accepted_today()?,
            ..config.policy.clone()
        };
        let shard = match (&arguments.shard_plan, arguments.shard) {
            (Some(path), Some(shard)) => Some((super::shard::read_plan(path, shard)?, shard)),
            _ => None,
        };
        let started = Timestamp::now();
        Ok(Job {
            history: Vec::new(),
            shard,
            experiment: arguments.experiment.unwrap_or(config.experiment),
            profile_name: arguments.profile.clone(),
            class: runner_class(&config)?,
            cargo: cargo_flags(&config, &arguments.cargo),
            // Short enough to be typed again.
            seed: arguments.seed.unwrap_or((started.as_nanosecond() % 1_000_000_007) as u64),
            target: target_folder(),
            watch: Watch {
                interrupt: Interrupt::on_signals()?,
                reaper: Reaper::start(&std::env::current_exe()?)?,
            },
            config,
            profile,
            policy,
            filters,
            started,
        })
    }

    /// Judges what was measured elsewhere as if it had been measured here, and keeps it as evidence.
    fn judge_results(&self, baseline: &[String], from: &[String], output: &Output) -> Result<u8> {
        let runs = [
            (Arm::Baseline, read_side(baseline, &self.policy)?),
            (Arm::Candidate, read_side(from, &self.policy)?),
        ];
        let file = EvidenceFile {
            pacegate: env!("CARGO_PKG_VERSION").into(),
            started: Some(self.started),
            policy: self.policy.clone(),
            plan: None,
            notices: Vec::new(),
            runs: runs.into(),
            ending: Ending::Complete,
        };
        std::fs::create_dir_all(&output.out)?;
        file.write(&output.out.join(EVIDENCE))?;
        output::deliver(&report_of(&file)?, output)
    }

    /// Takes the runs of a store as teachers. A gate goes on without them where nobody asked for this store by name.
    fn learn_from(&mut self, asked: Option<&str>) -> Result<()> {
        let Some(name) = asked.map(str::to_owned).or_else(|| self.config.history.clone()) else {
            return Ok(());
        };
        match Store::open(&name, Path::new(".")).and_then(|store| store.read()) {
            Ok(kept) => self.history = kept.entries,
            Err(error) if asked.is_some() => return Err(error),
            Err(error) => {
                output::say(&format!("pacegate: nothing is learned from history: {error}"))
            }
        }
        Ok(())
    }

    /// What earlier runs on this machine teach of the benchmarks of the suite.
    fn learned(&self, environment: &Environment, suite: &[Entry]) -> Vec<Learned> {
        let ids: BTreeSet<&BenchmarkId> = suite.iter().map(|entry| &entry.id).collect();
        let mut learned = learn(&self.history, &class(environment));
        learned.retain(|learned| ids.contains(&learned.id));
        learned
    }

    /// Builds and launches all arms, and writes the evidence.
    fn measure(
        &mut self,
        workshop: &Workshop,
        arms: &[(Arm, Commit)],
        output: &Output,
    ) -> Result<EvidenceFile> {
        let mut built = BTreeMap::new();
        // The candidate is built last, so that benches find its data files in the tree.
        let order = [Arm::Release, Arm::Baseline, Arm::Candidate];
        for wanted in order {
            for (arm, commit) in arms.iter().filter(|(arm, _)| *arm == wanted) {
                output::say(&format!("building the {arm}: {}", named(commit)));
                built.insert(*arm, self.build(workshop, commit)?);
            }
        }
        if !self.policy.accepted.records.is_empty() {
            let executables = &built[&Arm::Candidate].executables;
            self.policy.accepted.version =
                executables.iter().filter_map(|executable| executable.version.parse().ok()).max();
        }
        let file = self.launch(&built)?;
        std::fs::create_dir_all(&output.out)?;
        file.write(&output.out.join(EVIDENCE))?;
        Ok(file)
    }

    /// Builds one revision.
    pub(super) fn build(&self, workshop: &Workshop, commit: &Commit) -> Result<Built> {
        let options = CargoOptions {
            arguments: self.cargo.clone(),
            layout: self.config.build.layout,
            progress: CargoProgress::PassedOn,
        };
        Ok(workshop.build(commit, &options, &self.watch)?)
    }

    /// Launches what was built; the tree holds the files of the candidate.
    pub(super) fn launch(&mut self, built: &BTreeMap<Arm, Built>) -> Result<EvidenceFile> {
        let environment = self.environment();
        let mut runs: BTreeMap<Arm, Run> =
            built.iter().map(|(&arm, built)| (arm, empty_run(self, built, &environment))).collect();
        let suite = self.suite(built, &mut runs)?;
        self.policy.learned = self.learned(&environment, &suite);
        self.announce(&suite);
        let cpus = self.cpus();
        let plan = session::Plan {
            settings: LaunchSettings {
                warm_up: self.profile.launch.warm_up,
                measurement: self.profile.launch.measurement,
                sample_size: self.profile.launch.samples,
                pass_on: self.config.env.clone(),
                ..LaunchSettings::default()
            },
            looks: self.policy.looks.iter().map(|look| look.pairs as usize).collect(),
            cpus: cpus.clone(),
            seed: self.seed,
            budget: self.profile.budget,
        };
        let benchmarks: Vec<Benchmark> =
            suite.iter().map(|entry| entry.benchmark.clone()).collect();
        let alone = self.measure_alone(&suite, &mut runs, &plan)?;
        let bar = Bar::new(self.profile.budget);
        let judged = RefCell::new(Ok(()));
        let mut decide = |so_far: &[Measured]| match self.undecided(&runs, &suite, so_far) {
            Ok(places) => places,
            Err(error) => {
                *judged.borrow_mut() = Err(error);
                BTreeSet::new()
            }
        };
        let measured =
            session(&benchmarks, &plan, &self.watch, &|step| bar.step(step), &mut decide)?;
        bar.finish();
        judged.into_inner()?;
        self.record(&mut runs, &suite, &measured.series);
        let launches: usize = measured
            .series
            .iter()
            .flat_map(|series| &series.pairs)
            .map(|pair| pair.launches.len())
            .sum();
        let repeated: usize = measured.series.iter().map(|series| series.hygiene.repeated).sum();
        let of_class = class(&environment);
        self.history.retain(|entry| entry.class() == of_class);
        let mut notices = choices(&suite, &measured.series);
        notices.extend(alone.notices);
        notices.extend(monitor(&self.history));
        Ok(EvidenceFile {
            pacegate: env!("CARGO_PKG_VERSION").into(),
            started: Some(self.started),
            policy: self.policy.clone(),
            plan: Some(Plan {
                seed: self.seed,
                profile: self.profile_name.clone(),
                cpus: cpus.iter().map(|&cpu| cpu as u32).collect(),
                launches: (launches + alone.launches) as u32,
                repeated: (repeated + alone.repeated) as u32,
                budget_spent: measured.ending == session::Ending::BudgetSpent,
            }),
            notices,
            runs,
            ending: match measured.ending {
                session::Ending::Interrupted => Ending::Interrupted,
                session::Ending::Complete | session::Ending::BudgetSpent => Ending::Complete,
            },
        })
    }

    /// Lists what the executables hold. A benchmark that only one side has stands in that side's run without
    /// launches, so that it comes out as added or removed.
    fn suite(
        &self,
        built: &BTreeMap<Arm, Built>,
        runs: &mut BTreeMap<Arm, Run>,
    ) -> Result<Vec<Entry>> {
        let several = built
            .values()
            .flat_map(|built| built.executables.iter().map(|executable| &executable.package))
            .collect::<BTreeSet<_>>()
            .len()
            > 1;
        let mut holders: BTreeMap<BenchmarkId, BTreeMap<Arm, Executable>> = BTreeMap::new();
        let mut broken: Vec<(Arm, String, measure::Failed)> = Vec::new();
        for (&arm, built) in built {
            let run = runs.get_mut(&arm).expect("there is a run for every arm");
            for executable in &built.executables {
                let suite = if several {
                    format!("{}::{}", executable.package, executable.target)
                } else {
                    executable.target.clone()
                };
                run.executables.insert(suite.clone(), executable.sha256.clone());
                match contents(executable, &self.watch) {
                    Ok(Contents::Criterion(names)) => {
                        for name in names {
                            let id = BenchmarkId::new(suite.clone(), name);
                            holders.entry(id).or_default().insert(arm, executable.clone());
                        }
                    }
                    Ok(Contents::Foreign(what)) => run.notices.push(Notice::new(
                        "foreign-bench",
                        format!("the bench target {suite} is no criterion bench: {what}"),
                        "it is left out",
                    )),
                    Err(failed) => broken.push((arm, suite, failed)),
                }
            }
        }
        let known: Vec<String> = holders.keys().map(ToString::to_string).collect();
        holders.retain(|id, _| self.wants(id));
        if holders.is_empty() && broken.is_empty() {
            return Err(self.nothing_matches(&known));
        }
        let rules = self.policy.compile().map_err(Error::usage)?;
        let mut entries = Vec::new();
        for (id, mut arms) in holders {
            for (arm, suite, failed) in &broken {
                if *suite == id.suite && !arms.contains_key(arm) {
                    runs.get_mut(arm).expect("as above").failures.push(failure(&id, failed));
                }
            }
            let alone = arms.len() == 1 && built.len() > 1;
            if alone || (built.len() > 1 && !arms.contains_key(&Arm::Candidate)) {
                for arm in arms.keys() {
                    runs.get_mut(arm).expect("as above").series.push(unmeasured(&id));
                }
                continue;
            }
            // The tree holds the candidate's files, so every arm runs in the candidate's folder.
            let directory =
                arms.get(&Arm::Candidate).map(|executable| executable.directory.clone());
            if let Some(directory) = directory {
                arms.values_mut().for_each(|arm| arm.directory.clone_from(&directory));
            }
            let choice = rules.experiment(&id).unwrap_or(self.experiment);
            entries.push(Entry {
                arms: arms.keys().copied().collect(),
                benchmark: Benchmark {
                    id: id.name.clone(),
                    arms: arms.into_values().collect(),
                    experiment: match choice {
                        ExperimentChoice::Auto => None,
                        ExperimentChoice::Corun => Some(Experiment::Corun),
                        ExperimentChoice::Turnstile => Some(Experiment::Turnstile),
                        ExperimentChoice::Interleaved => Some(Experiment::Interleaved),
                    },
                },
                id,
            });
        }
        Ok(entries)
    }

    /// Whether a benchmark was asked for, by its name or by a pattern, and is of our shard.
    fn wants(&self, id: &BenchmarkId) -> bool {
        let shown = id.to_string();
        let ours = self.shard.as_ref().is_none_or(|(plan, shard)| plan.owner(id) == *shard);
        let named = self.filters.is_empty()
            || self.filters.iter().any(|(text, glob)| *text == id.name || glob.is_match(&shown));
        ours && named
    }

    fn nothing_matches(&self, known: &[String]) -> Error {
        let Some((wanted, _)) = self.filters.first() else {
            return Error::new(
                ErrorKind::NothingToCompare,
                "no criterion benchmark was found; give the project a bench target with `harness = false`",
            );
        };
        let near = known
            .iter()
            .max_by(|a, b| {
                strsim::jaro_winkler(a, wanted).total_cmp(&strsim::jaro_winkler(b, wanted))
            })
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default();
        Error::new(ErrorKind::NothingToCompare, format!("no benchmark matches `{wanted}`{near}"))
    }

    fn record(&self, runs: &mut BTreeMap<Arm, Run>, suite: &[Entry], measured: &[Measured]) {
        record(runs, suite, measured, &self.policy.looks, &|id| self.wants(id));
    }

    /// The benchmarks that are worth another look. A verdict reached at a look is final, so the others are not
    /// launched again.
    fn undecided(
        &self,
        runs: &BTreeMap<Arm, Run>,
        suite: &[Entry],
        so_far: &[Measured],
    ) -> Result<BTreeSet<usize>> {
        let all = || (0..suite.len()).collect();
        let mut runs = runs.clone();
        self.record(&mut runs, suite, so_far);
        let (Some(baseline), Some(candidate)) =
            (runs.get(&Arm::Baseline), runs.get(&Arm::Candidate))
        else {
            return Ok(all());
        };
        let sides = Sides { baseline, candidate, release: release_of(&runs) };
        let report = assess(sides, &self.policy, None).map_err(Error::usage)?;
        let open: BTreeSet<&BenchmarkId> =
            // Launches of pairs do not help a comparison with a stored baseline.
            report
                .rows
                .iter()
                .filter(|row| row.reference == Reference::Base || row.mode == Mode::Paired)
                .filter(|row| row.wants_more())
                .map(|row| &row.id)
                .collect();
        Ok((0..suite.len()).filter(|&place| open.contains(&suite[place].id)).collect())
    }

    fn announce(&self, suite: &[Entry]) {
        let looks: Vec<String> =
            self.policy.looks.iter().map(|look| look.pairs.to_string()).collect();
        output::say(&format!(
            "measuring {} benchmarks, profile {}, seed {}, looks after {} pairs",
            suite.len(),
            self.profile_name,
            self.seed,
            looks.join(", ")
        ));
    }

    fn cpus(&self) -> Vec<usize> {
        if self.profile.cpus.is_empty() {
            return cpu::usable();
        }
        self.profile.cpus.iter().map(|&cpu| cpu as usize).collect()
    }

    fn environment(&self) -> Environment {
        let lock = std::fs::read_to_string(self.target.join("pacegate/tree/Cargo.lock"))
            .unwrap_or_default();
        let mut environment = fingerprint(&Tools {
            profile: self.config.build.profile.clone().unwrap_or_else(|| "bench".into()),
            rustflags: std::env::var("RUSTFLAGS").unwrap_or_default(),
            criterion: locked_version(&lock, "criterion"),
        });
        if let Some(class) = &self.class {
            environment.hard.insert(Environment::CLASS.into(), class.to_string());
        }
        let launch = &self.profile.launch;
        let launch = format!(
            "warm-up {:?}, measurement {:?}, {} samples",
            launch.warm_up, launch.measurement, launch.samples
        );
        environment.soft.insert("launch".into(), launch);
        environment
    }
}

fn empty_run(job: &Job, built: &Built, environment: &Environment) -> Run {
    let commit = &built.revision;
    Run {
        session: Some(format!("{}-{}", job.started, job.seed)),
        revision: Some(Revision {
            id: commit.sha.clone(),
            name: named(commit),
            distance: Some(commit.distance as u32),
        }),
        environment: environment.clone(),
        notices: built.notices.clone(),
        ..Run::default()
    }
}

/// `merge base with main (3f2c81a)`.
fn named(commit: &Commit) -> String {
    format!("{} ({})", commit.origin, commit.sha.get(..7).unwrap_or(&commit.sha))
}

/// A benchmark that was seen on one side only.
fn unmeasured(id: &BenchmarkId) -> Series {
    Series {
        id: id.clone(),
        metric: Metric::time(),
        experiment: Experiment::Plain,
        evidence: Evidence::Sampled(Vec::new()),
        looks: Vec::new(),
    }
}

/// How benchmarks were launched, where it is not the usual way, and why.
fn choices(suite: &[Entry], measured: &[Measured]) -> Vec<Notice> {
    let mut by_reason: BTreeMap<(Experiment, String), Vec<String>> = BTreeMap::new();
    for (entry, measured) in suite.iter().zip(measured) {
        let unusual = |experiment| !matches!(experiment, Experiment::Corun | Experiment::Plain);
        if let Some(choice) = measured.choice.as_ref().filter(|choice| unusual(choice.experiment)) {
            let reason = (choice.experiment, choice.why.clone());
            by_reason.entry(reason).or_default().push(entry.id.to_string());
        }
    }
    by_reason
        .into_iter()
        .map(|((experiment, why), ids)| {
            Notice::new(
                "experiment",
                format!("{} measured {experiment}: {why}", ids.join(", ")),
                "",
            )
        })
        .collect()
}

/// The class that these runners were given: by the environment, which knows the runner, or by the configuration.
fn runner_class(config: &Config) -> Result<Option<Label>> {
    match std::env::var(RUNNER_CLASS) {
        Ok(class) if !class.is_empty() => class
            .parse()
            .map(Some)
            .map_err(|error| Error::usage(format!("{RUNNER_CLASS}: {error}"))),
        _ => Ok(config.runner_class.clone()),
    }
}

fn cargo_flags(config: &Config, more: &[String]) -> Vec<String> {
    let build = &config.build;
    let each = |flag: &'static str, values: &[String]| {
        values.iter().flat_map(move |value| [flag.to_owned(), value.clone()]).collect::<Vec<_>>()
    };
    let mut flags = each("--package", &build.packages);
    flags.extend(each("--features", &build.features));
    flags.extend((!build.default_features).then(|| "--no-default-features".to_owned()));
    flags.extend(each("--bench", &build.benches));
    flags.extend(each("--profile", build.profile.as_slice()));
    flags.extend_from_slice(more);
    flags
}

/// The target folder of this project: cargo's variable, or `target`.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), Into::into)
}

/// The version of a package in a lock file.
fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

fn experiment(name: &str) -> Result<ExperimentChoice, String> {
    match name {
        "auto" => Ok(ExperimentChoice::Auto),
        "corun" => Ok(ExperimentChoice::Corun),
        "turnstile" => Ok(ExperimentChoice::Turnstile),
        "interleaved" => Ok(ExperimentChoice::Interleaved),
        _ => Err("one of auto, corun, turnstile, interleaved".into()),
    }
}

impl From<measure::Error> for Error {
    fn from(error: measure::Error) -> Self {
        let kind = match error.kind {
            measure::ErrorKind::Interrupted => ErrorKind::Interrupted,
            measure::ErrorKind::Revision => ErrorKind::NothingToCompare,
            measure::ErrorKind::Build | measure::ErrorKind::System => ErrorKind::Judge,
        };
        Error::new(kind, error.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_lock_files() {
        let lock = "[[package]]\nname = \"criterion\"\nversion = \"0.8.2\"\nsource = \"x\"\n";
        assert_eq!(locked_version(lock, "criterion").as_deref(), Some("0.8.2"));
        assert_eq!(locked_version(lock, "serde"), None);
    }
}
