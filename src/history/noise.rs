//! What earlier runs teach about noise: of one pair or launch, and between sessions; and whether the gate's null holds.
//!
//! ```text
//!   run 1   d1 d2 d3 ..      differences of neighbours within a run: the noise of one pair; levels cancel
//!   run 2   d1 d2 d3 ..
//!   ...      |
//!   level   y1 y2 y3 ..      differences of neighbouring runs, less what the launches explain: the noise of a session
//! ```

use std::collections::BTreeMap;

use super::entry::{Entry, Values};
use super::timeline::Timeline;
use crate::compare::Learned;
use crate::model::{BenchmarkId, Experiment, Notice};
use crate::stats::dist::binomial_upper;
use crate::stats::exact::sign_test;
use crate::stats::prior::{learned, session_noise};
use crate::stats::{self, Prior, Tau};

/// Runs that are learned from, and how few teach nothing. Longer ago is another machine room.
const RUNS_MAX: usize = 20;
const RUNS_MIN: usize = 3;

/// Sessions below which the noise between them is assumed rather than learned.
const SESSIONS_MIN: usize = 5;

/// What the runs of one runner class teach, one for each metric of each benchmark and way of launching it, sorted.
pub fn learn(entries: &[Entry], class: &str) -> Vec<Learned> {
    let ours: Vec<Entry> = entries.iter().filter(|entry| entry.class() == class).cloned().collect();
    let timeline = Timeline::of(&ours);
    let place: BTreeMap<&str, usize> = timeline
        .commits
        .iter()
        .enumerate()
        .map(|(place, commit)| (commit.id.as_str(), place))
        .collect();
    let mut sorted: Vec<&Entry> = ours.iter().collect();
    sorted.sort_by_key(|entry| {
        (place[entry.head.commit.id.as_str()], entry.head.shard.clone(), entry.head.attempt)
    });

    type Name = (BenchmarkId, String, Experiment);
    let mut within: BTreeMap<Name, Vec<Vec<f64>>> = BTreeMap::new();
    for row in sorted.iter().rev().flat_map(|entry| &entry.rows) {
        let scores = match &row.values {
            Values::Pairs { logs, .. } => logs.clone(),
            Values::Launches(scores) => scores.iter().map(|score| score.ln()).collect(),
            Values::Summary(_) | Values::Exact(_) => continue,
        };
        let runs =
            within.entry((row.id.clone(), row.metric.name.clone(), row.experiment)).or_default();
        if runs.len() < RUNS_MAX && scores.iter().all(|score| score.is_finite()) {
            runs.push(scores);
        }
    }
    let mut between: BTreeMap<Name, (Tau, u32)> = BTreeMap::new();
    for track in &timeline.series {
        let points = &track.points[track.points.len().saturating_sub(RUNS_MAX)..];
        if points.len() < SESSIONS_MIN || track.exact {
            continue;
        }
        let ys: Vec<f64> = points.iter().map(|point| point.y).collect();
        let errors: Vec<f64> = points.iter().filter_map(|point| point.squared_error).collect();
        let name = (track.key.id.clone(), track.key.metric.clone(), track.key.experiment);
        between.insert(name, (session_noise(&ys, &errors), points.len() as u32));
    }
    let names: std::collections::BTreeSet<Name> =
        within.keys().chain(between.keys()).cloned().collect();
    names
        .into_iter()
        .filter_map(|name| {
            let runs = within.get(&name);
            let pair: Option<Prior> = runs
                .filter(|runs| RUNS_MIN <= runs.len())
                .and_then(|runs| learned(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>()));
            let session = between.get(&name);
            let count = runs.map_or(0, |runs| runs.len() as u32);
            let (id, metric, experiment) = name;
            (pair.is_some() || session.is_some()).then(|| Learned {
                id,
                metric,
                experiment,
                runs: count.max(session.map_or(0, |(_, runs)| *runs)),
                pair,
                session: session.map(|(tau, _)| *tau),
            })
        })
        .collect()
}

/// One side of a two-sided five percent.
const ONE_SIDED: f64 = 0.05;

/// Chance below which a share is no chance.
const ALARM: f64 = 0.001;

/// Whether the tests that the gate rests on behave on earlier runs as they should, in notices where they do not.
///
/// Pairs whose arms ran the same executable are a canary: each side of the test rejects one in twenty. And across all runs
/// the middle benchmark should be faster as often as slower. Both count runs, since benchmarks of one run share its luck.
pub fn monitor(entries: &[Entry]) -> Vec<Notice> {
    let mut notices = Vec::new();
    let (mut canaries, mut rejected) = (0u64, [0u64; 2]);
    let (mut runs, mut slower) = (0u64, 0u64);
    for entry in entries {
        let mut deltas = Vec::new();
        for row in &entry.rows {
            let Values::Pairs { logs, .. } = &row.values else { continue };
            let Some(estimate) = stats::paired(logs, None) else { continue };
            deltas.push(estimate.delta);
            if row.identical {
                canaries += 1;
                for (side, p) in
                    [estimate.p_above(0.0), estimate.p_below(0.0)].into_iter().enumerate()
                {
                    rejected[side] += u64::from(p <= ONE_SIDED);
                }
            }
        }
        let middle = stats::summary::median(&deltas);
        if middle.is_finite() && middle != 0.0 {
            runs += 1;
            slower += u64::from(0.0 < middle);
        }
    }
    for (rejected, direction) in rejected.into_iter().zip(["slower", "faster"]) {
        if 0 < canaries && binomial_upper(rejected, canaries, ONE_SIDED) < ALARM {
            notices.push(Notice::new(
                "canary-rejects",
                format!(
                    "{rejected} of {canaries} comparisons of one executable with itself call it {direction}; one in twenty may"
                ),
                "do not trust the gate on this runner before `pacegate selftest` on fresh evidence passes",
            ));
        }
    }
    let lopsided = slower.max(runs - slower);
    if sign_test(slower, runs - slower) < ALARM {
        let direction = if slower == lopsided { "slower" } else { "faster" };
        notices.push(Notice::new(
            "lopsided",
            format!("the middle benchmark was {direction} in {lopsided} of {runs} runs"),
            "changes should go both ways; if the code did not, the order of the arms or the runner favours one side",
        ));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Commit, Head, Row};
    use super::*;
    use crate::model::{Environment, Metric};

    fn entry(number: i64, values: Values, identical: bool) -> Entry {
        let experiment = match values {
            Values::Pairs { .. } => Experiment::Corun,
            _ => Experiment::Plain,
        };
        Entry {
            head: Head {
                pacegate: String::new(),
                commit: Commit {
                    id: format!("{number}"),
                    position: None,
                    committed_s: Some(number),
                },
                shard: "all".into(),
                attempt: 1,
                measured_s: None,
                session: None,
                environment: Environment::default(),
                baseline: None,
            },
            rows: vec![Row {
                id: BenchmarkId::new("s", "b"),
                metric: Metric::time(),
                experiment,
                values,
                seconds: None,
                identical,
            }],
        }
    }

    fn pairs(number: i64, offset: f64) -> Entry {
        let logs = (0..6).map(|i| offset + if i % 2 == 0 { 0.01 } else { -0.01 }).collect();
        entry(number, Values::Pairs { baseline: vec![1.0; 6], logs, looks: Vec::new() }, true)
    }

    #[test]
    fn pairs_teach_pair_noise_and_levels_do_not_matter() {
        let still: Vec<Entry> = (0..4).map(|i| pairs(i, 0.0)).collect();
        let stepped: Vec<Entry> = (0..4).map(|i| pairs(i, 0.3 * i as f64)).collect();
        let (a, b) = (learn(&still, "unknown"), learn(&stepped, "unknown"));
        let (a, b) = (a[0].pair.unwrap(), b[0].pair.unwrap());
        assert!((a.variance / b.variance - 1.0).abs() < 1e-9);
        assert_eq!((a.df, learn(&still, "unknown")[0].session), (4.0, None));
        assert_eq!(learn(&still[..2], "unknown"), []);
        assert_eq!(learn(&still, "another class"), []);
    }

    #[test]
    fn sessions_teach_session_noise() {
        let plain: Vec<Entry> = (0..10)
            .map(|i| {
                let level = if i % 3 == 0 { 102.0 } else { 100.0 };
                let scores = (0..5).map(|j| level + 0.1 * f64::from(j % 2)).collect();
                entry(i, Values::Launches(scores), false)
            })
            .collect();
        let [learned] = &learn(&plain, "unknown")[..] else { panic!("one benchmark") };
        let tau = learned.session.unwrap();
        assert!(0.005 < tau.sd && tau.sd < 0.03, "{tau:?}");
        assert!((tau.df - 2.8).abs() < 1e-9);
        assert_eq!(learned.runs, 10);
    }

    #[test]
    fn a_null_that_is_broken_is_told() {
        let fair: Vec<Entry> =
            (0..40).map(|i| pairs(i, if i % 2 == 0 { 0.001 } else { -0.001 })).collect();
        assert_eq!(monitor(&fair), []);
        let broken: Vec<Entry> = (0..40).map(|i| pairs(i, 0.05)).collect();
        let kinds: Vec<String> = monitor(&broken).into_iter().map(|notice| notice.kind).collect();
        assert_eq!(kinds, ["canary-rejects", "lopsided"]);
        assert_eq!(monitor(&[]), []);
    }
}
