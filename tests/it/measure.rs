//! Builds the fixture project in a repository of its own, launches its benches, and asserts facts: counts, kinds of
//! failure, no child left, the repository untouched. Never a time.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use pacegate::measure::build::{Built, CargoOptions, Workshop};
use pacegate::measure::calibrate::{Width, calibrate};
use pacegate::measure::corun::{self, Clock, Way, corun};
use pacegate::measure::discover::{Contents, Executable, contents};
use pacegate::measure::launch::{LaunchSettings, launch};
use pacegate::measure::session::{Benchmark, Ending, Plan, Series, Stage, session};
use pacegate::measure::{ErrorKind, Phase, Reaper, Watch, cpu, reaper};
use pacegate::model::Experiment;

/// What all tests share: the executables of two revisions that differ.
struct Fixture {
    baseline: Built,
    candidate: Built,
    /// Held so that nobody builds there while tests launch.
    _workshop: Workshop,
    _repository: tempfile::TempDir,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(build_fixture);

fn build_fixture() -> Fixture {
    let repository = copy_of_the_fixture();
    let top = repository.path();
    // The same place for every run of the tests, so that criterion is compiled once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixture-benches");
    let workshop = Workshop::open(top, &target).unwrap();

    // The candidate is a dirty work tree: one file changed, one new, one staged, one deleted.
    let library = top.join("src/lib.rs");
    let source = std::fs::read_to_string(&library).unwrap();
    let source = source.replace("REPEATS: u32 = 100", "REPEATS: u32 = untracked::REPEATS");
    std::fs::write(&library, format!("{source}\nmod untracked;\n")).unwrap();
    std::fs::write(top.join("src/untracked.rs"), "pub const REPEATS: u32 = 200;\n").unwrap();
    std::fs::write(top.join("staged.txt"), "staged\n").unwrap();
    git(top, &["add", "staged.txt"]);
    std::fs::remove_file(top.join("notes.txt")).unwrap();

    let before = state_of(top);
    let baseline = workshop.baseline(None, None).unwrap();
    let candidate = workshop.candidate().unwrap();
    assert_eq!((baseline.origin.as_str(), baseline.distance), ("HEAD", 0));
    assert_eq!(candidate.origin, "work tree");
    let (watch, options) = (Watch::default(), CargoOptions::default());
    let baseline = workshop.build(&baseline, &options, &watch).unwrap();
    let candidate = workshop.build(&candidate, &options, &watch).unwrap();
    assert!(state_of(top) == before, "the user's files, index and branches are untouched");
    Fixture { baseline, candidate, _workshop: workshop, _repository: repository }
}

/// The fixture project with one commit on `main` and another one behind it.
fn copy_of_the_fixture() -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture-benches");
    let repository = tempfile::tempdir().unwrap();
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        ".gitignore",
        "src/lib.rs",
        "benches/well.rs",
        "benches/ill.rs",
        "benches/foreign.rs",
    ] {
        let copy = repository.path().join(file);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(source.join(file), copy).unwrap();
    }
    std::fs::write(repository.path().join("notes.txt"), "to be deleted\n").unwrap();
    git(repository.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(repository.path(), &["commit", "--quiet", "--allow-empty", "--message=first"]);
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "--quiet", "--message=second"]);
    repository
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@localhost", "-C"])
        .arg(directory)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// All that a user may call his own in a repository, the bytes of the index included.
fn state_of(top: &Path) -> (Vec<u8>, String, String, String) {
    let index = std::fs::read(top.join(".git/index")).unwrap();
    let refs = git(top, &["for-each-ref"]) + &git(top, &["reflog"]);
    let status = git(top, &["--no-optional-locks", "status", "--porcelain=v2", "--branch"]);
    (index, refs, status, git(top, &["--no-optional-locks", "diff"]))
}

fn executable<'b>(built: &'b Built, target: &str) -> &'b Executable {
    let mut found = built.executables.iter().filter(|executable| executable.target == target);
    found.next().expect("the fixture has this bench target")
}

fn brief() -> LaunchSettings {
    LaunchSettings {
        warm_up: Duration::from_millis(20),
        measurement: Duration::from_millis(50),
        sample_size: 10,
        ..LaunchSettings::default()
    }
}

/// The children that the fixture's benches left running.
fn sleepers() -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let mark =
        format!("CARGO_MANIFEST_DIR={}", executable(&FIXTURE.baseline, "ill").directory.display());
    processes
        .flatten()
        .filter(|process| {
            let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            name.trim() == "sleep"
                && environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
        })
        .count()
}

#[test]
fn both_revisions_are_built_in_one_place_and_differ_where_they_should() {
    let Fixture { baseline, candidate, .. } = &*FIXTURE;
    let targets: Vec<_> = baseline.executables.iter().map(|found| found.target.as_str()).collect();
    assert_eq!(targets, ["foreign", "ill", "well"]);
    for (ours, theirs) in baseline.executables.iter().zip(&candidate.executables) {
        assert_eq!((&ours.package, &ours.version), (&"fixture".to_owned(), &"1.2.3".to_owned()));
        assert_eq!(ours.directory, theirs.directory);
        assert_eq!(ours.sha256.len(), 64);
        // The bench that does not use the library comes out the same to the byte.
        assert_eq!(ours.sha256 == theirs.sha256, ours.target == "foreign", "{}", ours.target);
    }
    assert!(executable(candidate, "well").directory.join("src/untracked.rs").exists());
    assert!(!executable(candidate, "well").directory.join("notes.txt").exists());
}

#[test]
fn all_benchmarks_are_listed_with_their_full_names() {
    let watch = Watch::default();
    let listed = contents(executable(&FIXTURE.baseline, "well"), &watch).unwrap();
    let Contents::Criterion(ids) = listed else { panic!("not criterion: {listed:?}") };
    assert_eq!(ids.len(), 11);
    assert_eq!(ids[0], "compute/mix/odd: *?|");
    let long: Vec<_> = ids.iter().filter(|id| id.len() > 100).collect();
    assert_eq!(long.len(), 3);
    for id in long {
        launch(executable(&FIXTURE.baseline, "well"), id, &brief(), 1, &watch).unwrap();
    }
    let foreign = contents(executable(&FIXTURE.baseline, "foreign"), &watch).unwrap();
    assert!(matches!(foreign, Contents::Foreign(_)), "{foreign:?}");
}

#[test]
fn a_launch_brings_samples_metrics_and_usage() {
    let well = executable(&FIXTURE.candidate, "well");
    let watch = Watch::default();
    let made = launch(well, "compute/mix/odd: *?|", &brief(), 7, &watch).unwrap();
    assert_eq!(made.sample.iters().len(), 10);
    assert_eq!(made.sample.totals().len(), 10);
    assert!(made.usage.wall_ns > 0);
    if cfg!(target_os = "linux") {
        assert!(made.usage.cpu_ns > 0);
    }
    let made = launch(well, "tells a metric", &brief(), 7, &watch).unwrap();
    // Once for every time that criterion calls the closure.
    assert!(!made.metrics.is_empty() && made.metrics.iter().all(|line| line.contains("size")));
}

#[test]
fn every_launch_runs_a_copy_of_its_own_that_is_gone_afterwards() {
    let well = executable(&FIXTURE.candidate, "well");
    let watch = Watch::default();
    let mut launches: Vec<_> =
        (0..2).map(|_| launch(well, "tells its file", &brief(), 7, &watch).unwrap()).collect();
    if corun::AVAILABLE {
        launches.extend(
            corun(&[well, well], "tells its file", &brief(), Way::Free, 7, &watch).unwrap(),
        );
    }
    let files: BTreeSet<PathBuf> =
        launches.iter().map(|launch| launch.metrics[0].clone().into()).collect();
    assert_eq!(files.len(), launches.len());
    for file in files {
        assert_eq!(file.file_name(), well.path.file_name());
        assert_eq!(file.parent().unwrap().parent(), well.path.parent());
        assert!(!file.parent().unwrap().exists());
    }
}

#[test]
fn each_kind_of_failure_is_told_apart() {
    let watch = Watch::default();
    let check = |id: &str, settings: &LaunchSettings, phase: Phase, words: &str| {
        let failed =
            launch(executable(&FIXTURE.baseline, "ill"), id, settings, 1, &watch).unwrap_err();
        assert_eq!(failed.phase, phase, "{id}: {failed}");
        assert!(failed.to_string().contains(words), "{id}: {failed}");
    };
    check("panics", &brief(), Phase::Exit, "panics on purpose");
    check("aborts", &brief(), Phase::Exit, "signal");
    check("ends", &brief(), Phase::Vanished, "measured nothing");
    check("no such name", &brief(), Phase::Vanished, "no benchmark of this name");
    let impatient = LaunchSettings { time_out: Duration::from_millis(300), ..brief() };
    check("hangs", &impatient, Phase::TimeOut, "still running");
    check("measures nothing", &brief(), Phase::Empty, "no time");
    let absent = Executable {
        path: PathBuf::from("absent"),
        ..executable(&FIXTURE.baseline, "ill").clone()
    };
    assert_eq!(launch(&absent, "x", &brief(), 1, &watch).unwrap_err().phase, Phase::Start);
}

#[test]
fn output_without_end_and_children_left_behind_are_no_trouble() {
    let watch = Watch::default();
    let ill = executable(&FIXTURE.baseline, "ill");
    launch(ill, "talks", &brief(), 1, &watch).unwrap();
    launch(ill, "leaves a child", &brief(), 1, &watch).unwrap();
    // They have been killed by now, but the system takes a moment to bury them.
    let killed = Instant::now();
    while sleepers() > 0 && killed.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    assert_eq!(sleepers(), 0);
}

#[test]
fn co_runs_shake_hands_and_both_arms_are_measured() {
    if !corun::AVAILABLE {
        eprintln!("skipped: this build has no clock shim");
        return;
    }
    let arms = [executable(&FIXTURE.baseline, "well"), executable(&FIXTURE.candidate, "well")];
    let watch = Watch::default();
    let cpu = cpu::usable()[0];
    cpu::pin(&[cpu]).unwrap();
    for way in [Way::Free, Way::Turns(Clock::Wall), Way::Turns(Clock::Cpu)] {
        for arms in [arms.as_slice(), &[arms[0], arms[1], arms[0], arms[1]]] {
            let made = corun(arms, "custom", &brief(), way, 3, &watch).unwrap();
            assert_eq!(made.len(), arms.len());
            for launch in made {
                assert_eq!(launch.sample.iters().len(), 10);
                let clock = launch.clock.unwrap();
                assert!(clock.calls > 20, "{clock:?}");
                assert_eq!(clock.turns > 0, way != Way::Free, "{clock:?}");
            }
        }
    }
}

#[test]
fn a_partner_that_fails_or_hangs_ends_the_pair() {
    if !corun::AVAILABLE {
        eprintln!("skipped: this build has no clock shim");
        return;
    }
    let arms = [executable(&FIXTURE.baseline, "ill"), executable(&FIXTURE.candidate, "ill")];
    let watch = Watch::default();
    for way in [Way::Free, Way::Turns(Clock::Wall)] {
        let restless = LaunchSettings { patience: Duration::from_millis(100), ..brief() };
        let failed = corun(&arms, "panics", &restless, way, 3, &watch).unwrap_err();
        assert_eq!(failed.failed.phase, Phase::Exit, "{}", failed.failed);
        let impatient = LaunchSettings { time_out: Duration::from_millis(400), ..restless };
        let failed = corun(&arms, "hangs", &impatient, way, 3, &watch).unwrap_err();
        assert_eq!(failed.failed.phase, Phase::TimeOut, "{}", failed.failed);
    }
    // One arm that has ended already does not keep the other waiting.
    let odd = [&arms[0].clone(), executable(&FIXTURE.candidate, "well")];
    let failed = corun(&odd, "custom", &brief(), Way::Turns(Clock::Wall), 3, &watch).unwrap_err();
    assert_eq!((failed.arm, failed.failed.phase), (0, Phase::Vanished));
}

#[test]
fn the_experiment_follows_the_benchmark() {
    if !corun::AVAILABLE {
        eprintln!("skipped: this build has no clock shim");
        return;
    }
    let arms = [executable(&FIXTURE.baseline, "well"), executable(&FIXTURE.candidate, "well")];
    let watch = Watch::default();
    let check = |id: &str, expected: Experiment, width: Width| {
        let choice = calibrate(&arms, id, &brief(), None, 5, &watch).unwrap();
        assert_eq!((choice.experiment, choice.width), (expected, width), "{id}: {}", choice.why);
    };
    check("custom", Experiment::Corun, Width::OneCpu);
    check("threads", Experiment::Turnstile, Width::EveryCpu);
    check("sleeps", Experiment::Turnstile, Width::OneCpu);
    check("waits with a deadline", Experiment::Interleaved, Width::OneCpu);
    check("takes the clock", Experiment::Interleaved, Width::OneCpu);
    let asked = calibrate(&arms, "custom", &brief(), Some(Experiment::Interleaved), 5, &watch);
    assert_eq!(asked.unwrap().experiment, Experiment::Interleaved);
}

#[test]
fn a_session_goes_on_with_the_undecided_and_past_the_failed() {
    let benchmark = |target: &str, id: &str, experiment: Option<Experiment>| Benchmark {
        id: id.to_owned(),
        arms: [&FIXTURE.baseline, &FIXTURE.candidate]
            .map(|b| executable(b, target).clone())
            .to_vec(),
        experiment,
    };
    let mut benchmarks = vec![
        benchmark("well", "custom", None),
        benchmark("ill", "panics", None),
        benchmark("well", "tells a metric", Some(Experiment::Interleaved)),
        benchmark("well", "threads", None),
        benchmark("well", "compute/mix/odd: *?|", None),
    ];
    benchmarks[4].arms.truncate(1);
    let plan =
        Plan { settings: brief(), looks: vec![1, 3], cpus: cpu::usable(), seed: 11, budget: None };
    let stages = Mutex::new(Vec::new());
    let progress = |at: pacegate::measure::session::Progress| stages.lock().unwrap().push(at);
    let mut decided = Vec::new();
    let mut decide = |series: &[Series]| {
        decided.push(series.iter().map(|series| series.pairs.len()).collect::<Vec<_>>());
        BTreeSet::from([0, 2])
    };
    let measured = session(&benchmarks, &plan, &Watch::default(), &progress, &mut decide).unwrap();
    let series = measured.series;
    assert_eq!(decided, [[1, 0, 1, 1, 1]]);
    let pairs: Vec<_> = series.iter().map(|series| series.pairs.len()).collect();
    assert_eq!(pairs, [3, 0, 3, 1, 1]);
    let looks: Vec<_> = series.iter().map(|series| series.looks.as_slice()).collect();
    assert_eq!(looks, [&[1, 3][..], &[], &[1, 3], &[1], &[1]]);
    assert_eq!(series[1].failed.as_ref().unwrap().failed.phase, Phase::Exit);
    assert_eq!(series[2].hygiene.pairs, 3);
    let experiments: Vec<_> = series
        .iter()
        .map(|series| series.choice.as_ref().map(|choice| choice.experiment))
        .collect();
    assert_eq!(experiments[2], Some(Experiment::Interleaved));
    assert_eq!(experiments[4], Some(Experiment::Plain));
    for (series, benchmark) in series.iter().zip(&benchmarks) {
        assert!(series.pairs.iter().all(|pair| pair.launches.len() == benchmark.arms.len()));
    }
    let stages = stages.into_inner().unwrap();
    assert_eq!(stages.last().unwrap().stage, Stage::Measuring(3));
    assert_eq!(stages.last().unwrap().done, stages.last().unwrap().planned);
}

#[test]
fn a_budget_ends_a_session_at_a_round_that_all_completed() {
    let benchmark = Benchmark {
        id: "custom".to_owned(),
        arms: vec![executable(&FIXTURE.baseline, "well").clone()],
        experiment: None,
    };
    let benchmarks =
        [benchmark.clone(), Benchmark { id: "tells a metric".to_owned(), ..benchmark }];
    let plan = Plan {
        settings: brief(),
        looks: vec![10_000],
        cpus: cpu::usable(),
        seed: 11,
        budget: Some(Duration::from_secs(1)),
    };
    let mut decide = |_: &[Series]| panic!("there is one look only");
    let measured = session(&benchmarks, &plan, &Watch::default(), &|_| {}, &mut decide).unwrap();
    let series = measured.series;
    assert_eq!(series[0].pairs.len(), series[1].pairs.len());
    assert_eq!(series[0].looks, series[1].looks);
}

#[test]
fn an_interrupt_ends_a_launch_that_hangs() {
    let watch = Watch::default();
    let interrupt = watch.interrupt.clone();
    let ill = executable(&FIXTURE.baseline, "ill");
    let failed = std::thread::scope(|scope| {
        let launched = scope.spawn(|| launch(ill, "hangs", &brief(), 1, &watch));
        interrupt.raise();
        launched.join().unwrap().unwrap_err()
    });
    assert_eq!(failed.phase, Phase::Interrupted);
    let plan =
        Plan { settings: brief(), looks: vec![1], cpus: cpu::usable(), seed: 1, budget: None };
    let measured = session(&[], &plan, &watch, &|_| {}, &mut |_| BTreeSet::new()).unwrap();
    assert_eq!(measured.ending, Ending::Interrupted);
}

#[cfg(unix)]
#[test]
fn the_reaper_ends_what_is_left() {
    // The handle is dropped without taking the group back, as if pacegate had been killed.
    let mut left = Command::new("sleep");
    std::os::unix::process::CommandExt::process_group(&mut left, 0);
    let mut left = left.arg("1000").spawn().unwrap();
    let mut reaping = Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args([reaper::REAPER_ARGUMENT, "token"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = reaping.stdin.take().unwrap();
    std::io::Write::write_all(&mut pipe, format!("+{0}\n-{0}\n+{0}\n", left.id()).as_bytes())
        .unwrap();
    drop(pipe);
    assert!(reaping.wait().unwrap().success());
    assert!(!left.wait().unwrap().success());

    // A child that was not announced is found by its environment.
    let mut stray =
        Command::new("sleep").arg("1000").env("PACEGATE_SESSION", "another token").spawn().unwrap();
    if cfg!(target_os = "linux") {
        let ended = Command::new(env!("CARGO_BIN_EXE_pacegate"))
            .args([reaper::REAPER_ARGUMENT, "another token"])
            .stdin(Stdio::null())
            .status();
        assert!(ended.unwrap().success());
    } else {
        stray.kill().unwrap();
    }
    assert!(!stray.wait().unwrap().success());

    let watch = Watch {
        reaper: Reaper::start(Path::new(env!("CARGO_BIN_EXE_pacegate"))).unwrap(),
        ..Watch::default()
    };
    launch(executable(&FIXTURE.baseline, "well"), "custom", &brief(), 1, &watch).unwrap();
    // What another launch of this very process still uses.
    let name = format!("pacegate-{}-", std::process::id());
    let another = tempfile::Builder::new().prefix(&name).tempdir().unwrap();
    let dropped = Instant::now();
    drop(watch);
    assert!(another.path().exists(), "a reaper removes the folders of its own launches only");
    assert!(dropped.elapsed() < Duration::from_secs(600), "the reaper ends with its handle");
}

#[test]
fn the_baseline_is_found_or_the_reason_is_told() {
    let repository = copy_of_the_fixture();
    let top = repository.path();
    let target = tempfile::tempdir().unwrap();
    let workshop = Workshop::open(top, target.path()).unwrap();
    let second = git(top, &["rev-parse", "HEAD"]).trim().to_owned();
    let first = git(top, &["rev-parse", "HEAD^"]).trim().to_owned();

    let parent = workshop.baseline(None, None).unwrap();
    assert_eq!((&parent.sha, parent.distance, &*parent.origin), (&first, 1, "parent of HEAD"));
    assert_eq!(workshop.candidate().unwrap().sha, second);
    git(top, &["checkout", "--quiet", "-b", "topic"]);
    git(top, &["commit", "--quiet", "--allow-empty", "--message=third"]);
    git(top, &["commit", "--quiet", "--allow-empty", "--message=fourth"]);
    let base = workshop.baseline(None, None).unwrap();
    assert_eq!((&base.sha, base.distance, &*base.origin), (&second, 2, "merge base with main"));
    let asked = workshop.baseline(Some("HEAD~3"), None).unwrap();
    assert_eq!((&asked.sha, asked.distance), (&first, 3));

    let told = workshop.baseline(None, Some("HEAD~3")).unwrap();
    assert_eq!(told.sha, asked.sha);
    let error = workshop.baseline(None, Some("no branch")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Revision);
    let error = workshop.baseline(Some("nowhere"), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Revision);
    assert!(error.message.contains("nowhere can't be found: there is no such commit"), "{error}");
    assert!(Workshop::open(top, target.path()).unwrap_err().message.contains("another pacegate"));

    // A target folder that is not ignored is no change, and stays out of what is measured.
    let inside = Workshop::open(top, &top.join("out")).unwrap();
    assert_eq!(inside.candidate().unwrap().origin, "HEAD");
    std::fs::write(top.join("src/more.rs"), "").unwrap();
    let dirty = inside.candidate().unwrap();
    let files = git(top, &["ls-tree", "-r", "--name-only", &dirty.sha]);
    assert!(files.contains("src/more.rs") && !files.contains("out/"), "{files}");

    // Most are ignored, which git takes amiss where one is named.
    std::fs::write(top.join(".gitignore"), "/out\n").unwrap();
    let dirty = inside.candidate().unwrap();
    let files = git(top, &["ls-tree", "-r", "--name-only", &dirty.sha]);
    assert!(files.contains("src/more.rs") && !files.contains("out/"), "{files}");
    std::fs::remove_file(top.join(".gitignore")).unwrap();
    std::fs::remove_file(top.join("src/more.rs")).unwrap();

    // A linked work tree is as good as the first one.
    let linked = tempfile::tempdir().unwrap();
    let path = linked.path().join("linked");
    git(top, &["worktree", "add", "--quiet", "-b", "linked", path.to_str().unwrap(), "HEAD^"]);
    let workshop = Workshop::open(&path.join("src"), &linked.path().join("target")).unwrap();
    let base = workshop.baseline(None, None).unwrap();
    assert_eq!((&base.sha, base.distance), (&second, 1));
    std::fs::write(path.join("notes.txt"), "changed\n").unwrap();
    assert_eq!(workshop.candidate().unwrap().origin, "work tree");

    let shallow = tempfile::tempdir().unwrap();
    let url = format!("file://{}", top.display());
    git(shallow.path(), &["clone", "--quiet", "--depth=1", "--branch=topic", &url, "."]);
    let other = tempfile::tempdir().unwrap();
    let workshop = Workshop::open(shallow.path(), other.path()).unwrap();
    let error = workshop.baseline(Some("HEAD^"), None).unwrap_err();
    assert!(error.message.contains("shallow"), "{error}");

    let nowhere = tempfile::tempdir().unwrap();
    let error = Workshop::open(nowhere.path(), other.path()).unwrap_err();
    assert!(error.message.contains("not in a git work tree"), "{error}");
    git(nowhere.path(), &["init", "--quiet"]);
    std::fs::copy(top.join("Cargo.toml"), nowhere.path().join("Cargo.toml")).unwrap();
    std::fs::create_dir(nowhere.path().join("src")).unwrap();
    std::fs::write(nowhere.path().join("src/lib.rs"), "").unwrap();
    for bench in ["well", "ill", "foreign"] {
        let path = nowhere.path().join("benches").join(bench).with_extension("rs");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let workshop = Workshop::open(nowhere.path(), elsewhere.path()).unwrap();
    let error = workshop.baseline(None, None).unwrap_err();
    assert!(error.message.contains("no commit yet"), "{error}");
}

#[test]
fn a_revision_that_does_not_build_is_named_with_the_compilers_words() {
    let repository = copy_of_the_fixture();
    let top = repository.path();
    std::fs::write(top.join("Cargo.toml"), "[package]\nname = \"fixture\"\nnonsense").unwrap();
    git(top, &["commit", "--quiet", "--all", "--message=broken"]);
    let target = tempfile::tempdir().unwrap();
    // The workspace is asked for its root before the break is looked at.
    let error = Workshop::open(top, target.path()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Build, "{error}");
    git(top, &["revert", "--no-edit", "HEAD"]);
    let workshop = Workshop::open(top, target.path()).unwrap();
    // The tree would inherit what a revision does not have itself.
    std::fs::create_dir(top.join(".cargo")).unwrap();
    std::fs::write(top.join(".cargo/config.toml"), "").unwrap();
    let broken = workshop.baseline(Some("HEAD^"), None).unwrap();
    let (options, watch) = (CargoOptions::default(), Watch::default());
    drop(workshop);
    let inside = Workshop::open(top, &top.join("target")).unwrap();
    let error = inside.build(&broken, &options, &watch).unwrap_err();
    assert!(error.message.contains("would leak into its build"), "{error}");
    let workshop = Workshop::open(top, target.path()).unwrap();
    let error = workshop.build(&broken, &options, &watch).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Build);
    assert!(error.message.contains("HEAD^"), "{error}");
    assert!(error.message.contains("nonsense"), "{error}");
}
