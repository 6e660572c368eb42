//! `baseline`: stored baselines are promoted, listed, shown, verified and pruned by people; `check` never writes one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::compare::{Method, compare, launch_scores};
use crate::config::Config;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::gate::{Policy, Verdict, judge};
use crate::measure::build::commits_since;
use crate::model::{Arm, Environment, Evidence, Experiment, Label, Launch, Reference, Run, Series};
use crate::stats::summary::{MAD_TO_SD, mad, median};
use crate::store::baseline::{
    Baseline, Baselines, FOLDER, Header, Index, Place, Provenance, ageing,
};
use crate::store::evidence::{Ending, EvidenceFile};
use crate::store::{Limits, hex};

use super::accept::accepted_today;
use super::evidence::EVIDENCE;
use super::{Output, output};

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Keep plain launches of `pacegate run` as the baseline of a release.
    Promote(PromoteArgs),
    /// List every baseline; the current one of each class is marked.
    List,
    /// Show one baseline.
    Show {
        /// `LABEL`, or `CLASS/LABEL` where several classes have it; the current one if there is one only.
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Check that every baseline is as it was written and not too old.
    Verify,
    /// Delete old baselines; the current ones stay.
    Prune {
        /// How many of each class to keep, the newest.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        keep: u32,
    },
}

#[derive(Args, Debug)]
pub(super) struct PromoteArgs {
    /// Evidence of `pacegate run`; that of the last one if absent.
    #[arg(value_name = "EVIDENCE")]
    evidence: Option<PathBuf>,
    /// Name of the baseline, mostly the version that was released.
    #[arg(long, value_name = "LABEL")]
    label: Label,
    /// Runner class that it speaks for; that of the evidence if absent.
    #[arg(long, value_name = "CLASS")]
    class: Option<Label>,
    /// Why it is promoted although something speaks against it.
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
}

pub(super) fn baseline(command: &BaselineCommand, output: &Output) -> Result<u8> {
    match command {
        BaselineCommand::Promote(arguments) => promote(arguments, output),
        BaselineCommand::List => list(),
        BaselineCommand::Show { name } => show(name.as_deref()),
        BaselineCommand::Verify => verify(),
        BaselineCommand::Prune { keep } => prune(*keep as usize),
    }
}

/// A baseline as a side of a comparison under a policy, which must score launches as the baseline's were.
pub(super) fn scored_alike(baseline: &Baseline, policy: &Policy) -> Result<Run> {
    let Header { label, statistic, .. } = &baseline.header;
    if *statistic != policy.statistic {
        return Err(Error::judge(format!(
            "the stored baseline {label} was scored by {statistic:?} and the policy asks for {:?}; promote a new one",
            policy.statistic
        )));
    }
    Ok(baseline.to_run())
}

fn promote(arguments: &PromoteArgs, output: &Output) -> Result<u8> {
    let path = arguments.evidence.clone().unwrap_or_else(|| output.out.join(EVIDENCE));
    let shown = || path.display().to_string();
    let bytes = fs::read(&path).context(shown)?;
    let file = EvidenceFile::from_reader(bytes.as_slice(), &Limits::OWN).context(shown)?;
    let run = plain_run(&file).context(shown)?;
    let class = arguments.class.clone().or_else(|| run.environment.class()).ok_or_else(|| {
        Error::usage(format!("{}: it names no runner class; give one by `--class`", shown()))
    })?;
    let baselines = Baselines::at(FOLDER);
    let objections = objections(&file, run, &class, &baselines, output)?;
    if !objections.is_empty() && arguments.because.is_none() {
        let list: String = objections.iter().map(|what| format!("\n  - {what}")).collect();
        return Err(Error::usage(format!(
            "{}: not fit for a baseline:{list}\n  measure again, or say why it is promoted all the same by `--because`",
            shown()
        )));
    }
    let revision = run.revision.clone().ok_or_else(|| {
        Error::usage(format!("{}: it names no revision; measure with `pacegate run`", shown()))
    })?;
    let evidence = hex(&Sha256::digest(&bytes));
    let baseline = Baseline {
        header: Header {
            label: arguments.label.clone(),
            class: class.clone(),
            pacegate: file.pacegate.clone(),
            recorded: file.started,
            revision,
            environment: run.environment.clone(),
            executables: run.executables.clone(),
            statistic: file.policy.statistic,
            profile: file.plan.as_ref().map(|plan| plan.profile.clone()),
            provenance: Provenance { evidence, objections, because: arguments.because.clone() },
        },
        series: run.series.iter().filter_map(|series| reduced(series, &file.policy)).collect(),
    };
    let written = baselines.add(&baseline)?;
    output::print(&format!(
        "promoted {} of class {class}, {} benchmarks: commit {} and the index beside it\n",
        arguments.label,
        benchmarks(&baseline),
        written.display()
    ))?;
    Ok(0)
}

/// The run of evidence that holds nothing but launches of one tree alone.
fn plain_run(file: &EvidenceFile) -> Result<&Run> {
    let run = match file.runs.iter().collect::<Vec<_>>().as_slice() {
        [(Arm::Candidate, run)] => *run,
        _ => {
            return Err(Error::usage(
                "its launches were made beside another revision, and such times mean something only beside each \
                 other; measure with `pacegate run`",
            ));
        }
    };
    if run.series.iter().all(|series| series.evidence.is_empty()) {
        return Err(Error::new(ErrorKind::NothingToCompare, "it holds no launch; measure again"));
    }
    if let Some(series) = run.series.iter().find(|series| series.experiment != Experiment::Plain) {
        return Err(Error::usage(format!(
            "{} was measured {}; measure with `pacegate run`",
            series.id, series.experiment
        )));
    }
    Ok(run)
}

/// More disturbed launches than this share make a disturbed run.
const DISTURBED_SHARE: f64 = 0.10;

/// What speaks against a run as a baseline.
fn objections(
    file: &EvidenceFile,
    run: &Run,
    class: &Label,
    baselines: &Baselines,
    output: &Output,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if file.ending == Ending::Interrupted {
        found.push("it was interrupted".to_owned());
    }
    if !run.failures.is_empty() {
        let names: Vec<String> =
            run.failures.iter().map(|failure| failure.id.to_string()).collect();
        found.push(format!("{} of its benchmarks failed: {}", names.len(), names.join(", ")));
    }
    let least = file.policy.min_launches as usize;
    let few = run.series.iter().filter(
        |series| matches!(&series.evidence, Evidence::Sampled(launches) if launches.len() < least),
    );
    let few: Vec<String> = few.map(|series| series.id.to_string()).collect();
    if !few.is_empty() {
        found.push(format!("fewer than {least} launches decide nothing: {}", few.join(", ")));
    }
    let launches: Vec<&Launch> = run
        .series
        .iter()
        .filter_map(|series| match &series.evidence {
            Evidence::Sampled(launches) => Some(launches),
            _ => None,
        })
        .flatten()
        .collect();
    let disturbed = launches.iter().filter(|launch| launch.was_disturbed()).count();
    if disturbed as f64 > DISTURBED_SHARE * launches.len() as f64 {
        found.push(format!("{disturbed} of its {} launches were disturbed", launches.len()));
    }
    if run.revision.as_ref().is_some_and(|revision| revision.name.starts_with("work tree")) {
        found.push("it measured a work tree that is not committed".to_owned());
    }
    if let Some(own) =
        run.environment.hard.get(Environment::CLASS).filter(|own| **own != class.to_string())
    {
        found.push(format!("its runner says that it is of the class `{own}`"));
    }
    if let Some(current) = baselines.current(class, &Limits::OWN)? {
        found.extend(against_current(&current, file, run, output)?);
    }
    Ok(found)
}

/// What speaks against a run beside the current baseline of its class.
fn against_current(
    current: &Baseline,
    file: &EvidenceFile,
    run: &Run,
    output: &Output,
) -> Result<Vec<String>> {
    let label = &current.header.label;
    let ours = current.to_run();
    let foreign = ours.environment.hard_differences(&run.environment);
    if !foreign.is_empty() {
        return Ok(foreign
            .iter()
            .map(|difference| format!("its runner differs from that of {label}: {difference}"))
            .collect());
    }
    if current.header.statistic != file.policy.statistic {
        return Ok(vec![format!("{label} was scored by another statistic")]);
    }
    let policy = Policy { accepted: accepted_today()?, ..Config::read(&output.config)?.policy };
    let method = Method::new(Reference::Release, file.policy.statistic, policy.session_noise);
    let rows = judge(compare(&ours, run, &method), &policy).map_err(Error::usage)?.rows;
    let slower = rows
        .iter()
        .filter(|row| row.gated && row.verdict == Verdict::Regression && row.accepted.is_none());
    let objection = |row: &crate::gate::Row| {
        let by = row.worse_by().map_or_else(String::new, |by| format!(" by {:.1} %", 100.0 * by));
        format!("{} {} is worse than in {label}{by}", row.id, row.metric.name)
    };
    Ok(slower.map(objection).collect())
}

/// What a baseline keeps of a series: scores instead of samples, and one value instead of many equal ones.
fn reduced(series: &Series, policy: &Policy) -> Option<Series> {
    let evidence = match &series.evidence {
        Evidence::Sampled(launches) => Evidence::Scored(launch_scores(launches, policy.statistic)),
        Evidence::Exact(values) if values.iter().all(|value| *value == values[0]) => {
            Evidence::Exact(values.iter().take(1).copied().collect())
        }
        other => other.clone(),
    };
    (!evidence.is_empty()).then(|| Series { evidence, looks: Vec::new(), ..series.clone() })
}

fn benchmarks(baseline: &Baseline) -> usize {
    baseline.series.chunk_by(|a, b| a.id == b.id).count()
}

fn list() -> Result<u8> {
    let baselines = Baselines::at(FOLDER);
    let index = baselines.index()?;
    let mut text = String::new();
    for place in baselines.places()? {
        let mark = if index.get(&place.class) == Some(&place.label) { "*" } else { " " };
        let what = match baselines.read(&place, &Limits::OWN) {
            Ok(baseline) => format!(
                "{}  {}  {} benchmarks",
                day(&baseline.header),
                short(&baseline.header.revision.id),
                benchmarks(&baseline)
            ),
            Err(error) => format!("cannot be read: {error}"),
        };
        let _ = writeln!(text, "{mark} {}/{}  {what}", place.class, place.label);
    }
    if text.is_empty() {
        text = format!("no stored baseline in {FOLDER}/; `pacegate baseline promote` keeps one\n");
    }
    output::print(&text)?;
    Ok(0)
}

fn show(name: Option<&str>) -> Result<u8> {
    let baselines = Baselines::at(FOLDER);
    let place = match name {
        Some(name) => baselines.find(name)?,
        None => {
            let index = baselines.index()?;
            let only = if index.len() == 1 { index.into_iter().next() } else { None };
            only.map(|(class, label)| Place { class, label })
        }
    };
    let place = place.ok_or_else(|| {
        let what = name
            .map_or("no name, and not one class".into(), |name| format!("no baseline `{name}`"));
        Error::new(
            ErrorKind::NothingToCompare,
            format!("{FOLDER}/: {what}; `pacegate baseline list` shows all"),
        )
    })?;
    let baseline = baselines.read(&place, &Limits::OWN)?;
    output::print(&in_words(&baseline))?;
    Ok(0)
}

fn in_words(baseline: &Baseline) -> String {
    let header = &baseline.header;
    let mut text = format!(
        "{} of class {}, {} ({}), recorded {} by pacegate {}\n",
        header.label,
        header.class,
        header.revision.name,
        short(&header.revision.id),
        day(header),
        header.pacegate
    );
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:10} {value}");
    };
    line("evidence", &header.provenance.evidence);
    line("profile", header.profile.as_deref().unwrap_or("-"));
    line("scored by", &format!("{:?}", header.statistic));
    if let Some(because) = &header.provenance.because {
        line("because", because);
    }
    for objection in &header.provenance.objections {
        line("although", objection);
    }
    let environment = &header.environment;
    for (part, facts) in
        [("hard", &environment.hard), ("soft", &environment.soft), ("info", &environment.info)]
    {
        for (fact, value) in facts {
            line(part, &format!("{fact}: {value}"));
        }
    }
    for series in &baseline.series {
        let values: Vec<f64> = match &series.evidence {
            Evidence::Scored(scores) => scores.iter().map(|launch| launch.score).collect(),
            Evidence::Exact(values) => values.clone(),
            Evidence::Sampled(_) | Evidence::Summary(_) => Vec::new(),
        };
        let middle = median(&values);
        let spread = 100.0 * MAD_TO_SD * mad(&values) / middle;
        let _ = writeln!(
            text,
            "  {} {}: {middle:.5} {}, {} launches, spread {spread:.2} %",
            series.id,
            series.metric.name,
            series.metric.unit,
            values.len()
        );
    }
    text
}

fn verify() -> Result<u8> {
    let baselines = Baselines::at(FOLDER);
    let index = baselines.index()?;
    let places = baselines.places()?;
    let mut text = String::new();
    let mut broken = 0;
    for place in &places {
        let name = format!("{}/{}", place.class, place.label);
        let current = index.get(&place.class) == Some(&place.label);
        match baselines.read(place, &Limits::OWN) {
            Ok(baseline) => {
                let distance = commits_since(Path::new("."), &baseline.header.revision.id);
                let old = ageing(&baseline.header, Timestamp::now(), distance).filter(|_| current);
                let _ = match old {
                    None => writeln!(text, "ok    {name}"),
                    Some(notice) => {
                        writeln!(text, "old   {name}: {}; {}", notice.seen, notice.advice)
                    }
                };
            }
            Err(error) => {
                broken += 1;
                let _ = writeln!(text, "BAD   {name}: {error}");
            }
        }
    }
    for (class, label) in &index {
        let place = Place { class: class.clone(), label: label.clone() };
        if !places.contains(&place) {
            broken += 1;
            let _ = writeln!(
                text,
                "BAD   {class}/{label}: the index names it and it is not there; restore it, or promote a new one"
            );
        }
    }
    text += &records_in_words(&baselines, &index)?;
    if text.is_empty() {
        text = format!("no stored baseline in {FOLDER}/\n");
    }
    output::print(&text)?;
    Ok(if broken == 0 { 0 } else { ErrorKind::Judge.exit_code() })
}

/// The accept records that have ended, or name a benchmark that no current baseline has.
fn records_in_words(baselines: &Baselines, index: &Index) -> Result<String> {
    let accepted = accepted_today()?;
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (class, label) in index {
        let place = Place { class: class.clone(), label: label.clone() };
        if let Ok(baseline) = baselines.read(&place, &Limits::OWN) {
            known.extend(baseline.series.iter().map(|series| series.id.to_string()));
        }
    }
    let mut text = String::new();
    for record in &accepted.records {
        let name = &record.benchmark;
        let _ = match &record.until {
            Some(until) if accepted.has_ended(record) => {
                writeln!(
                    text,
                    "old   {name}: what was accepted of it ended with {until}; delete the record"
                )
            }
            _ if !known.is_empty() && !known.contains(name) => {
                writeln!(
                    text,
                    "old   {name}: accepted, and no current baseline has it; delete the record"
                )
            }
            _ => Ok(()),
        };
    }
    Ok(text)
}

fn prune(keep: usize) -> Result<u8> {
    let baselines = Baselines::at(FOLDER);
    let index = baselines.index()?;
    let mut by_class: BTreeMap<Label, Vec<(Option<Timestamp>, Place)>> = BTreeMap::new();
    for place in baselines.places()? {
        let recorded = baselines.read(&place, &Limits::OWN)?.header.recorded;
        by_class.entry(place.class.clone()).or_default().push((recorded, place));
    }
    let mut text = String::new();
    for (class, mut all) in by_class {
        all.sort_by(|a, b| b.cmp(a));
        let is_current = |place: &Place| index.get(&class) == Some(&place.label);
        for (_, place) in all.into_iter().skip(keep).filter(|(_, place)| !is_current(place)) {
            baselines.remove(&place)?;
            let _ = writeln!(text, "deleted {}/{}", place.class, place.label);
        }
    }
    if text.is_empty() {
        text = "nothing to delete\n".into();
    }
    output::print(&text)?;
    Ok(0)
}

fn day(header: &Header) -> String {
    header
        .recorded
        .map_or_else(|| "on no known day".into(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// As much of a commit's hash as people read.
fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}
