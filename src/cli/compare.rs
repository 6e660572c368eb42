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
use crate::store::baseline::{Baseline, Baselines, FOLDER};

use super::accept::accepted_today;
use super::baseline::scored_alike;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct CompareArgs {
    /// Baseline and candidate: results of any known harness, `PATH` or `PATH:PART`, where the part names a baseline of a
    /// criterion tree, an arm of an evidence file or a revision of a history; or stored baselines by their names.
    #[arg(value_names = ["BASELINE", "CANDIDATE"], num_args = 2, conflicts_with_all = ["baseline", "candidate", "within"])]
    sides: Vec<String>,
    /// Inputs of the baseline; several are several launches.
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "candidate")]
    baseline: Vec<String>,
    /// Inputs of the candidate; several are several launches.
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "baseline")]
    candidate: Vec<String>,
    /// Compare the contestants of each group inside one input, each with every other.
    #[arg(long, value_name = "INPUT", conflicts_with_all = ["baseline", "candidate"])]
    within: Option<String>,
    /// Name of the one contestant that the others are compared with.
    #[arg(long, value_name = "NAME", requires = "within")]
    reference: Option<String>,
    /// Let the samples of a single process decide. They say nothing of the next process.
    #[arg(long)]
    trust_samples: bool,
}

pub(super) fn compare(arguments: &CompareArgs, output: &Output) -> Result<u8> {
    let mut policy = Config::read(&output.config)?.policy;
    policy.accepted = accepted_today()?;
    if arguments.trust_samples {
        policy.trust = Trust::Samples;
    }
    let (baseline, candidate) = if let Some(input) = &arguments.within {
        contestants(read(input, &policy)?, arguments.reference.as_deref())?
    } else if let [baseline, candidate] = arguments.sides.as_slice() {
        let [baseline, candidate] = [baseline, candidate].map(std::slice::from_ref);
        (read_side(baseline, &policy)?, read_side(candidate, &policy)?)
    } else if !arguments.baseline.is_empty() {
        (read_side(&arguments.baseline, &policy)?, read_side(&arguments.candidate, &policy)?)
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

/// Reads one input: a file or folder, or else a stored baseline by its name.
fn read(input: &str, policy: &Policy) -> Result<Run> {
    let spec = Spec::parse(input);
    if !spec.path.exists() {
        let Some(place) = Baselines::at(FOLDER).find(input)? else {
            let message = "there is no such file or folder, and no stored baseline of this name; `pacegate baseline list` \
                           shows those that there are";
            return Err(Error::judge(message).within(input));
        };
        return scored_alike(&Baselines::at(FOLDER).read(&place, &Limits::OWN)?, policy);
    }
    if ingest::is_baseline(&spec.path) {
        return scored_alike(&Baseline::read(&spec.path, &Limits::OWN)?, policy);
    }
    ingest::read(&spec, &Options { limits: Limits::OWN, ..Options::default() })
}

/// One side of a comparison: several inputs are several launches.
pub(super) fn read_side(inputs: &[String], policy: &Policy) -> Result<Run> {
    let runs = inputs.iter().map(|input| read(input, policy)).collect::<Result<Vec<_>>>()?;
    let mut run = Run::merged(runs);
    let name = inputs.join(", ");
    run.revision.get_or_insert(Revision { id: name.clone(), name, distance: None });
    Ok(run)
}

/// Turns one run into two sides: in each group every contestant is the baseline of those behind it, or the reference is
/// that of all others.
fn contestants(run: Run, reference: Option<&str>) -> Result<(Run, Run)> {
    let Run { series, environment, failures, notices, .. } = run;
    let mut groups: BTreeMap<(String, String, String), Vec<(String, Series)>> = BTreeMap::new();
    for series in series {
        if let Some((group, contestant)) = group(&series.id.name) {
            let key = (series.id.suite.clone(), group, series.metric.name.clone());
            groups.entry(key).or_default().push((contestant, series));
        }
    }
    let session = Some("within".to_owned());
    let side = |role: &str| Run {
        session: session.clone(),
        revision: Some(Revision { id: role.into(), name: role.into(), distance: None }),
        environment: environment.clone(),
        ..Run::default()
    };
    let mut baseline = side(reference.unwrap_or("those before it"));
    let mut candidate = Run { failures, notices, ..side("each contestant") };
    for members in groups.values() {
        for (at, (name, ours)) in members.iter().enumerate() {
            let others = match reference {
                Some(reference) if name != reference => continue,
                Some(_) => members.as_slice(),
                None => &members[at + 1..],
            };
            for (_, other) in others.iter().filter(|(_, other)| other.id != ours.id) {
                let mut id = other.id.clone();
                id.name = format!("{} vs {name}", other.id.name);
                baseline.series.push(Series { id: id.clone(), looks: Vec::new(), ..ours.clone() });
                candidate.series.push(Series { id, looks: Vec::new(), ..other.clone() });
            }
        }
    }
    if candidate.series.is_empty() {
        return Err(Error::new(
            crate::error::ErrorKind::NothingToCompare,
            "no group holds two contestants; a group is a name up to its last `/`, or the class of a method",
        ));
    }
    Ok((baseline, candidate))
}

/// Group and contestant of a name: `read/one` is `one` in `read`, and the method `Pack.read:size=8` is `read` in
/// `Pack:size=8`, since values of a parameter are no rivals.
fn group(name: &str) -> Option<(String, String)> {
    let (path, params) = name.split_at(name.find(':').unwrap_or(name.len()));
    let is_method = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match path.rsplit_once('.') {
        Some((class, method)) if is_method(method) && !path.contains(['/', ' ']) => {
            Some((format!("{class}{params}"), method.to_owned()))
        }
        _ => {
            let (group, contestant) = name.rsplit_once('/')?;
            Some((group.to_owned(), contestant.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BenchmarkId, Evidence, Experiment, Metric};

    #[test]
    fn a_group_is_a_path_or_a_class() {
        let check = |name: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(group, own)| (group.to_owned(), own.to_owned()));
            assert_eq!(group(name), expected, "{name}");
        };
        check("read/one", Some(("read", "one")));
        check("json/a.b/one", Some(("json/a.b", "one")));
        check("org.ex.Pack.read", Some(("org.ex.Pack", "read")));
        check("Pack.read:path=/a.b,size=8", Some(("Pack:path=/a.b,size=8", "read")));
        check("alpha 0.5", None);
        check("fib 10", None);
    }

    #[test]
    fn every_contestant_meets_every_other_or_the_reference_alone() {
        let series = |name: &str| Series {
            id: BenchmarkId::new("", name),
            metric: Metric::time(),
            experiment: Experiment::Imported,
            evidence: Evidence::Exact(vec![1.0]),
            looks: Vec::new(),
        };
        let check = |reference: Option<&str>, expected: &[&str]| {
            let run =
                Run { series: ["A.x", "A.y", "A.z", "B.x"].map(series).into(), ..Run::default() };
            let (baseline, candidate) = contestants(run, reference).unwrap();
            let names =
                |run: &Run| run.series.iter().map(|s| s.id.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&candidate), expected);
            assert_eq!(names(&baseline), expected);
        };
        check(None, &["A.y vs x", "A.z vs x", "A.z vs y"]);
        check(Some("y"), &["A.x vs y", "A.z vs y"]);
    }
}
