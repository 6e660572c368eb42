//! The whole way from runs to a report, as one pure function: what `check` does at the end, `replay` does again, and
//! `compare` does with any two inputs.

use crate::compare::{Method, compare};
use crate::gate::{Judgement, Outcome, Policy, judge};
use crate::model::{Mode, Notice, Reference, Run};
use crate::report::{Plan, Report, Side};

/// The runs that take part.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// What the candidate is compared with.
    pub baseline: &'a Run,
    /// What is judged.
    pub candidate: &'a Run,
    /// The last release, where it was measured too.
    pub release: Option<&'a Run>,
}

/// Compares, judges and reports. Equal input gives an equal report.
///
/// # Errors
///
/// When a rule's pattern in the policy is not a glob.
pub fn assess(sides: Sides<'_>, policy: &Policy, plan: Option<Plan>) -> Result<Report, String> {
    let mut comparisons = compare(
        sides.baseline,
        sides.candidate,
        &Method::new(Reference::Base, policy.statistic, policy.session_noise),
    );
    if let Some(release) = sides.release {
        let method = Method::new(Reference::Release, policy.statistic, policy.session_noise);
        comparisons.extend(compare(release, sides.candidate, &method));
    }
    let apart = comparisons.iter().any(|comparison| comparison.mode == Mode::Stored);
    let foreign = sides.baseline.environment.hard_differences(&sides.candidate.environment);
    let judgement = if apart && !foreign.is_empty() {
        // Numbers of machines that differ in a hard part prove nothing about the code.
        let applied = vec![Outcome::NotComparable];
        Judgement { rows: Vec::new(), applied, notices: Vec::new() }
    } else {
        judge(comparisons, policy)?
    };
    let soft = sides.baseline.environment.soft_differences(&sides.candidate.environment);
    let mut notices = judgement.notices;
    notices.extend(soft.iter().map(|difference| {
        Notice::new("environment", format!("the environments differ: {difference}"), "")
    }));
    for run in [Some(sides.baseline), Some(sides.candidate), sides.release].into_iter().flatten() {
        notices.extend(run.notices.iter().cloned());
    }
    notices.sort();
    notices.dedup();
    let (baseline, candidate) = (side(sides.baseline), side(sides.candidate));
    let report =
        Report::new(judgement.applied, policy.clone(), baseline, candidate, judgement.rows);
    Ok(Report { plan, notices, ..report })
}

fn side(run: &Run) -> Side {
    let label =
        run.revision.as_ref().map_or_else(|| "unnamed".into(), |revision| revision.name.clone());
    Side { revision: run.revision.clone(), label, environment: run.environment.clone() }
}
