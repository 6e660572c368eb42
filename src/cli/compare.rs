//! `compare`: any two inputs, or the contestants inside one.

use std::collections::BTreeMap;

use clap::Args;

use crate::assess::{Sides, assess};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::gate::{Policy, Trust};
use crate::ingest::{self, Options, Spec};
use crate::model::{Revision, Run, Series};
use crate::store::Limits;

use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct CompareArgs {
    /// Baseline and candidate: evidence files or criterion trees, `PATH` or `PATH:baseline-name`.
    #[arg(value_names = ["BASELINE", "CANDIDATE"], num_args = 2, conflicts_with_all = ["baseline", "candidate", "within"])]
    sides: Vec<String>,
    /// Inputs of the baseline; several are several launches.
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "candidate")]
    baseline: Vec<String>,
    /// Inputs of the candidate; several are several launches.
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "baseline")]
    candidate: Vec<String>,
    /// Compare the contestants of each group inside one input with the first of the group.
    #[arg(long, value_name = "INPUT", conflicts_with_all = ["baseline", "candidate"])]
    within: Option<String>,
    /// Name of the contestant that the others are compared with.
    #[arg(long, value_name = "NAME", requires = "within")]
    reference: Option<String>,
    /// Let the samples of a single process decide. They say nothing of the next process.
    #[arg(long)]
    trust_samples: bool,
}

pub(super) fn compare(arguments: &CompareArgs, output: &Output) -> Result<u8> {
    let mut policy = Config::read(&output.config)?.policy;
    if arguments.trust_samples {
        policy.trust = Trust::Samples;
    }
    let (baseline, candidate) = if let Some(input) = &arguments.within {
        contestants(read(input)?, arguments.reference.as_deref())?
    } else if let [baseline, candidate] = arguments.sides.as_slice() {
        (read_side(std::slice::from_ref(baseline))?, read_side(std::slice::from_ref(candidate))?)
    } else if !arguments.baseline.is_empty() {
        (read_side(&arguments.baseline)?, read_side(&arguments.candidate)?)
    } else {
        return Err(Error::usage(
            "nothing to compare was named; give BASELINE and CANDIDATE, or --within",
        ));
    };
    judge_sides(&baseline, &candidate, &policy, output)
}

fn judge_sides(baseline: &Run, candidate: &Run, policy: &Policy, output: &Output) -> Result<u8> {
    let sides = Sides { baseline, candidate, release: None };
    let report = assess(sides, policy, None).map_err(Error::usage)?;
    output::deliver(&report, output)
}

fn read(input: &str) -> Result<Run> {
    ingest::read(&Spec::parse(input), &Options { limits: Limits::OWN, ..Options::default() })
}

fn read_side(inputs: &[String]) -> Result<Run> {
    let runs = inputs.iter().map(|input| read(input)).collect::<Result<Vec<_>>>()?;
    let mut run = Run::merged(runs);
    let name = inputs.join(", ");
    run.revision.get_or_insert(Revision { id: name.clone(), name, distance: None });
    Ok(run)
}

/// Turns one run into two sides: in each group (a name up to its last `/`) the reference is the baseline of every
/// other contestant.
fn contestants(run: Run, reference: Option<&str>) -> Result<(Run, Run)> {
    let mut groups: BTreeMap<(String, String, String), Vec<Series>> = BTreeMap::new();
    for series in run.series {
        if let Some((group, _)) = series.id.name.rsplit_once('/') {
            let key = (series.id.suite.clone(), group.to_owned(), series.metric.name.clone());
            groups.entry(key).or_default().push(series);
        }
    }
    let session = Some("within".to_owned());
    let side = |role: &str| Run {
        session: session.clone(),
        revision: Some(Revision { id: role.into(), name: role.into(), distance: None }),
        environment: run.environment.clone(),
        ..Run::default()
    };
    let (mut baseline, mut candidate) = (side("the first of each group"), side("the others"));
    if let Some(name) = reference {
        baseline = side(name);
    }
    for ((_, group, _), members) in groups {
        let contestant = |series: &Series| series.id.name[group.len() + 1..].to_owned();
        let first = match reference {
            Some(name) => members.iter().find(|series| contestant(series) == name),
            None => members.first(),
        };
        let Some(first) = first else { continue };
        for other in members.iter().filter(|other| other.id != first.id) {
            let mut id = other.id.clone();
            id.name = format!("{} vs {}", other.id.name, contestant(first));
            baseline.series.push(Series { id: id.clone(), looks: Vec::new(), ..first.clone() });
            candidate.series.push(Series { id, looks: Vec::new(), ..other.clone() });
        }
    }
    if candidate.series.is_empty() {
        return Err(Error::new(
            crate::error::ErrorKind::NothingToCompare,
            "no group holds two contestants; a group is a name up to its last `/`",
        ));
    }
    Ok((baseline, candidate))
}
