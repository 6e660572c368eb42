//! The whole way from runs to a report, as one pure function: what `check` does at the end, `replay` does again, and
//! `compare` does with any two inputs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::compare::{Comparison, Finding, Method, compare};
use crate::error::{Error, ErrorKind};
use crate::gate::{Judgement, Outcome, Policy, Row, Verdict, judge};
use crate::model::{Arm, BenchmarkId, Mode, Notice, Reference, Run};
use crate::report::{Plan, Report, Side};

/// The runs that take part.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// What the candidate is compared with.
    pub baseline: &'a Run,
    /// What is judged.
    pub candidate: &'a Run,
    /// The last release, where there is one to compare with.
    pub release: Option<Release<'a>>,
}

/// The last release, and what is compared with it.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// The release: an arm of the session, or a stored baseline.
    pub baseline: &'a Run,
    /// The candidate as the release was measured: the same arm of the session, or launched alone.
    pub candidate: &'a Run,
}

/// Compares, judges and reports. Equal input gives an equal report.
///
/// # Errors
///
/// When a rule's pattern in the policy is not a glob.
pub fn assess(sides: Sides<'_>, policy: &Policy, plan: Option<Plan>) -> Result<Report, String> {
    let mut notices = Vec::new();
    let known = known_as(sides.baseline, sides.candidate, policy, &mut notices);
    let mut comparisons = compare(
        &known,
        sides.candidate,
        &Method::new(Reference::Base, policy.statistic, policy.session_noise)
            .taught(&policy.learned),
    );
    let apart = comparisons.iter().any(|comparison| comparison.mode == Mode::Stored);
    let comparable = !apart || sides.baseline.is_of_the_same_machine(sides.candidate);
    let mut release_comparable = true;
    if let Some(release) = sides.release {
        let one_session = release.baseline.session.is_some()
            && release.baseline.session == release.candidate.session;
        release_comparable =
            one_session || release.baseline.is_of_the_same_machine(release.candidate);
        if release_comparable {
            comparisons.extend(against_release(release, policy, &mut notices));
        }
    }
    let mut judgement = if comparable {
        judge(comparisons, policy)?
    } else {
        // Numbers of machines that differ in a hard part prove nothing about the code.
        Judgement { rows: Vec::new(), applied: Vec::new(), notices: Vec::new() }
    };
    if !(comparable && release_comparable) {
        judgement.applied.retain(|outcome| *outcome != Outcome::Pass);
        judgement.applied.push(Outcome::NotComparable);
    }
    notices.extend(judgement.notices);
    notices.extend(renamed(&judgement.rows));
    let release = sides.release.map(|release| [release.baseline, release.candidate]);
    for [ours, theirs] in [Some([sides.baseline, sides.candidate]), release].into_iter().flatten() {
        let soft = ours.environment.soft_differences(&theirs.environment);
        notices.extend(soft.iter().map(|difference| {
            Notice::new("environment", format!("the environments differ: {difference}"), "")
        }));
        notices.extend(ours.notices.iter().chain(&theirs.notices).cloned());
    }
    notices.sort();
    notices.dedup();
    let (baseline, candidate) = (side(sides.baseline), side(sides.candidate));
    let report =
        Report::new(judgement.applied, policy.clone(), baseline, candidate, judgement.rows);
    let release = sides.release.map(|release| side(release.baseline));
    Ok(Report { plan, notices, release, ..report })
}

/// Judges a session again from what it kept: its runs by arm, and what it had to tell.
///
/// # Errors
///
/// When there are no two sides, or as [`assess`].
pub fn session(
    runs: &BTreeMap<Arm, Run>,
    policy: &Policy,
    plan: Option<Plan>,
    notices: &[Notice],
) -> Result<Report, Error> {
    let arm = |arm: Arm| -> Result<&Run, Error> {
        runs.get(&arm).ok_or_else(|| {
            Error::new(
                ErrorKind::NothingToCompare,
                format!("it holds no {arm}; only evidence of `check` can be judged by itself"),
            )
        })
    };
    let sides = Sides {
        baseline: arm(Arm::Baseline)?,
        candidate: arm(Arm::Candidate)?,
        release: release_of(runs),
    };
    let mut report = assess(sides, policy, plan).map_err(Error::usage)?;
    report.notices.extend(notices.iter().cloned());
    report.notices.sort();
    report.notices.dedup();
    Ok(report)
}

/// The release among the runs of a session: an arm of it, or a stored baseline for the candidate that was launched alone.
pub fn release_of(runs: &BTreeMap<Arm, Run>) -> Option<Release<'_>> {
    let candidate = runs.get(&Arm::Alone).or_else(|| runs.get(&Arm::Candidate))?;
    Some(Release { baseline: runs.get(&Arm::Release)?, candidate })
}

/// Compares with the release. What was dropped or added since is told and is no row: the change that did it had its own
/// row against its base, and no later change can mend it.
fn against_release(
    release: Release<'_>,
    policy: &Policy,
    notices: &mut Vec<Notice>,
) -> Vec<Comparison> {
    let method = Method::new(Reference::Release, policy.statistic, policy.session_noise)
        .taught(&policy.learned);
    let known = known_as(release.baseline, release.candidate, policy, &mut Vec::new());
    let mut comparisons = compare(&known, release.candidate, &method);
    for (finding, kind, what) in [
        (Finding::Removed, "gone-since-release", "the release has benchmarks that are gone"),
        (Finding::Added, "new-since-release", "the release does not have benchmarks that are new"),
    ] {
        let mut names: Vec<String> = comparisons
            .iter()
            .filter(|comparison| comparison.finding == finding)
            .map(|comparison| comparison.id.to_string())
            .collect();
        names.dedup();
        if !names.is_empty() {
            let seen = format!("{what}: {}", names.join(", "));
            notices.push(Notice::new(kind, seen, "they are compared with the base alone"));
            comparisons.retain(|comparison| comparison.finding != finding);
        }
    }
    comparisons
}

/// The baseline under the names that the candidate gives its benchmarks, as the policy's aliases say.
fn known_as<'r>(
    baseline: &'r Run,
    candidate: &Run,
    policy: &Policy,
    notices: &mut Vec<Notice>,
) -> Cow<'r, Run> {
    if policy.aliases.is_empty() {
        return Cow::Borrowed(baseline);
    }
    let ids = |run: &'_ Run| -> BTreeMap<String, BenchmarkId> {
        let failed = run.failures.iter().map(|failure| &failure.id);
        let all = run.series.iter().map(|series| &series.id).chain(failed);
        all.map(|id| (id.to_string(), id.clone())).collect()
    };
    let (ours, theirs) = (ids(baseline), ids(candidate));
    let mut renamed: BTreeMap<&BenchmarkId, &BenchmarkId> = BTreeMap::new();
    for (from, to) in &policy.aliases {
        match (ours.get(from), theirs.get(to)) {
            (Some(_), Some(_)) if ours.contains_key(to) => notices.push(Notice::new(
                "alias",
                format!(
                    "the baseline has both `{from}` and `{to}`, so neither stands for the other"
                ),
                "delete the alias",
            )),
            (Some(from), Some(to)) => _ = renamed.insert(from, to),
            // It has done its work, or the benchmark was not measured this time.
            _ => {}
        }
    }
    let mut run = baseline.clone();
    let failed = run.failures.iter_mut().map(|failure| &mut failure.id);
    for id in run.series.iter_mut().map(|series| &mut series.id).chain(failed) {
        if let Some(new) = renamed.get(id) {
            *id = (*new).clone();
        }
    }
    Cow::Owned(run)
}

/// How much alike two names are, from 0 to 1, for one to be suggested as the other's new name.
const ALIKE: f64 = 0.6;

/// A name that is gone beside one that is new and much like it was probably changed; the numbers go on with an alias.
fn renamed(rows: &[Row]) -> Vec<Notice> {
    let names = |verdict: Verdict| {
        let mut names: Vec<String> = rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .map(|row| row.id.to_string())
            .collect();
        names.dedup();
        names.truncate(200);
        names
    };
    let mut added = names(Verdict::Added);
    let mut notices = Vec::new();
    for gone in names(Verdict::Removed) {
        let likeness = |name: &String| strsim::normalized_levenshtein(&gone, name);
        let nearest = (0..added.len())
            .max_by(|&a, &b| likeness(&added[a]).total_cmp(&likeness(&added[b])))
            .filter(|&place| likeness(&added[place]) >= ALIKE);
        if let Some(place) = nearest {
            let new = added.swap_remove(place);
            notices.push(Notice::new(
                "renamed",
                format!("`{gone}` is gone and `{new}` is new"),
                format!("if that is one benchmark, write `aliases: {{\"{gone}\": \"{new}\"}}`"),
            ));
        }
    }
    notices
}

fn side(run: &Run) -> Side {
    let label =
        run.revision.as_ref().map_or_else(|| "unnamed".into(), |revision| revision.name.clone());
    Side { revision: run.revision.clone(), label, environment: run.environment.clone() }
}
