//! Runs to series: one point a commit, in the order of the default branch, for each benchmark on each runner class.
//!
//! ```text
//!   entries      a.1  a.2  b.1  c.1  c.2  c.3        runs of the commits a, b, c
//!                 └─┬──┘    │    └────┼────┘
//!   points          a       b         c              the middle of the runs: a repeat adds evidence, no point
//! ```
//!
//! A point is the logarithm of the score, turned so that up is worse. Launches that ran beside a partner give no point:
//! what they took means something only beside what the partner took.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Commit, Entry, Row, Values};
use crate::model::{BenchmarkId, Better, Environment, Experiment, Metric, Notice, Spread};
use crate::stats::summary::median;
use crate::stats::{self, trimmed};

/// Everything that history knows, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Commits, oldest first.
    pub commits: Vec<Commit>,
    /// Runner classes with the environment that names them.
    pub classes: BTreeMap<String, Environment>,
    /// What differs between commits of one class without making it another: for each commit and class, the soft facts.
    pub soft: BTreeMap<(usize, String), BTreeMap<String, String>>,
    /// One for each benchmark, metric, experiment and runner class, sorted by that.
    pub series: Vec<Track>,
    /// What is worth telling.
    pub notices: Vec<Notice>,
}

/// What no two series share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Whose.
    pub id: BenchmarkId,
    /// Name of the metric.
    pub metric: String,
    /// How it was launched.
    pub experiment: Experiment,
    /// Where.
    pub class: String,
}

/// One metric of one benchmark on one runner class over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Which one.
    pub key: Key,
    /// The metric, as the newest run has it.
    pub metric: Metric,
    /// Whether the values are counts that do not vary by themselves.
    pub exact: bool,
    /// One for each commit that has it, in order.
    pub points: Vec<Point>,
}

/// What all runs of one commit say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Place of the commit in [`Timeline::commits`].
    pub commit: usize,
    /// Logarithm of the score, positive is worse.
    pub y: f64,
    /// The score in the metric's unit.
    pub value: f64,
    /// Squared standard error of `y` from the launches alone, where there are several.
    pub squared_error: Option<f64>,
    /// Runs behind it.
    pub runs: u32,
}

impl Timeline {
    /// Puts entries in order. The order of the entries themselves does not matter.
    pub fn of(entries: &[Entry]) -> Timeline {
        let commits = ordered(entries);
        let place: BTreeMap<&str, usize> =
            commits.iter().enumerate().map(|(place, commit)| (commit.id.as_str(), place)).collect();
        let mut sorted: Vec<(usize, &Entry)> =
            entries.iter().map(|entry| (place[entry.head.commit.id.as_str()], entry)).collect();
        sorted.sort_by(|(a, ours), (b, theirs)| {
            let key = |entry: &Entry| (entry.head.shard.clone(), entry.head.attempt);
            a.cmp(b).then_with(|| key(ours).cmp(&key(theirs)))
        });
        let mut timeline = Timeline::default();
        let mut seen: BTreeMap<Key, (Metric, BTreeMap<usize, Vec<Score>>)> = BTreeMap::new();
        let mut directionless: BTreeSet<String> = BTreeSet::new();
        for (commit, entry) in sorted {
            let class = entry.class();
            let environment = &entry.head.environment;
            timeline.soft.insert((commit, class.clone()), environment.soft.clone());
            timeline.classes.insert(class.clone(), environment.clone());
            for row in &entry.rows {
                if row.metric.better == Better::Unknown {
                    directionless.insert(row.metric.unit.to_string());
                    continue;
                }
                let Some(of_run) = row.score() else { continue };
                let key = Key {
                    id: row.id.clone(),
                    metric: row.metric.name.clone(),
                    experiment: row.experiment,
                    class: class.clone(),
                };
                let (metric, runs) =
                    seen.entry(key).or_insert_with(|| (row.metric.clone(), BTreeMap::new()));
                metric.clone_from(&row.metric);
                runs.entry(commit).or_default().push(of_run);
            }
        }
        if !directionless.is_empty() {
            let units: Vec<String> = directionless.into_iter().collect();
            timeline.notices.push(Notice::new(
                "no-direction",
                format!("nothing says which way is good for `{}`", units.join("`, `")),
                "series of these units are not watched; give a rule with `better` when they are measured",
            ));
        }
        for (key, (metric, runs)) in seen {
            timeline.track(key, metric, &runs);
        }
        timeline.commits = commits;
        timeline
    }

    fn track(&mut self, key: Key, metric: Metric, runs: &BTreeMap<usize, Vec<Score>>) {
        let exact = runs.values().flatten().all(|seen| seen.exact);
        // A count of nothing has no logarithm; one more everywhere has, and keeps every step a step.
        let shifted = exact && runs.values().flatten().any(|seen| seen.value == 0.0);
        let usable = |seen: &&Score| shifted || 0.0 < seen.value;
        let mut points = Vec::with_capacity(runs.len());
        let mut below_the_timer = 0;
        for (&commit, all) in runs {
            let good: Vec<&Score> = all.iter().filter(usable).collect();
            below_the_timer += all.len() - good.len();
            if good.is_empty() {
                continue;
            }
            let value = median(&good.iter().map(|seen| seen.value).collect::<Vec<_>>());
            let log = if shifted { value.ln_1p() } else { value.ln() };
            let errors: Vec<f64> = good.iter().filter_map(|seen| seen.squared_error).collect();
            points.push(Point {
                commit,
                y: if metric.better == Better::Higher { -log } else { log },
                value,
                squared_error: (errors.len() == good.len())
                    .then(|| errors.iter().sum::<f64>() / (errors.len() * errors.len()) as f64),
                runs: good.len() as u32,
            });
        }
        if 0 < below_the_timer {
            self.notices.push(Notice::new(
                "zero",
                format!("{} of {} scored zero in {below_the_timer} runs", key.metric, key.id),
                "these runs are left out; make an iteration do more, or keep the compiler from removing it",
            ));
        }
        if let Some((_, number)) = key.id.name.rsplit_once(" #")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.notices.push(Notice::new(
                "positional-name",
                format!("only its position tells `{}` from others of its name", key.id),
                "a new benchmark in front of it shifts its history; give each a name of its own",
            ));
        }
        if !points.is_empty() {
            self.series.push(Track { key, metric, exact, points });
        }
    }
}

impl Track {
    /// The scores as the detectors want them: logarithms, positive is worse.
    pub fn ys(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.y).collect()
    }
}

/// What one run says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The score in the metric's unit.
    pub value: f64,
    /// Squared standard error of its logarithm from the launches alone, where there are several.
    pub squared_error: Option<f64>,
    /// Whether it is a count that does not vary by itself.
    pub exact: bool,
}

impl Row {
    /// What the run says by itself, as series take it; nothing where its launches ran beside a partner.
    pub fn score(&self) -> Option<Score> {
        let (value, squared_error, exact) = match &self.values {
            Values::Pairs { .. } => return None,
            Values::Launches(_)
                if matches!(self.experiment, Experiment::Corun | Experiment::Turnstile) =>
            {
                return None;
            }
            Values::Launches(scores) => {
                let logs: Vec<f64> = scores.iter().map(|score| score.ln()).collect();
                if !logs.iter().all(|log| log.is_finite()) {
                    (0.0, None, false)
                } else {
                    let cut = trimmed::cut(logs.len(), stats::launches::LAUNCHES_CUT);
                    let center = trimmed::trimmed(&logs, cut)?.mean;
                    let (variance, df) = stats::launch_variance(&logs);
                    let squared = (0.0 < df).then(|| variance / logs.len() as f64);
                    (center.exp(), squared, false)
                }
            }
            Values::Summary(summaries) => {
                let scores: Vec<f64> = summaries.iter().map(|summary| summary.score).collect();
                let squared = match summaries.as_slice() {
                    [one] => one.spread.and_then(|spread| match spread {
                        Spread::StandardError(error) => Some((error / one.score).powi(2)),
                        Spread::StandardDeviation(sd) => {
                            Some((sd / one.score).powi(2) / f64::from(one.n?))
                        }
                        Spread::HalfWidth { .. } => None,
                    }),
                    _ => None,
                };
                (median(&scores), squared.filter(|squared| squared.is_finite()), false)
            }
            Values::Exact(values) => (median(values), None, true),
        };
        (value.is_finite() && 0.0 <= value).then_some(Score { value, squared_error, exact })
    }
}

/// Commits in the order of the branch: by position where every one has it, else by the time of the commit or of its
/// first run. Only the order is used, never how far apart they are.
fn ordered(entries: &[Entry]) -> Vec<Commit> {
    let mut commits: BTreeMap<&str, (Commit, Option<i64>)> = BTreeMap::new();
    for entry in entries {
        let Commit { id, position, committed_s } = &entry.head.commit;
        let (commit, first) =
            commits.entry(id).or_insert_with(|| (entry.head.commit.clone(), entry.head.measured_s));
        commit.position = commit.position.or(*position);
        commit.committed_s = commit.committed_s.or(*committed_s);
        *first = match (*first, entry.head.measured_s) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    let by_position = commits.values().all(|(commit, _)| commit.position.is_some());
    let mut commits: Vec<(Commit, Option<i64>)> = commits.into_values().collect();
    commits.sort_by(|(a, a_first), (b, b_first)| {
        let position = |commit: &Commit| by_position.then_some(commit.position).flatten();
        let time = |commit: &Commit, first: &Option<i64>| commit.committed_s.or(*first);
        (position(a), time(a, a_first), *a_first, &a.id).cmp(&(
            position(b),
            time(b, b_first),
            *b_first,
            &b.id,
        ))
    });
    commits.into_iter().map(|(commit, _)| commit).collect()
}

#[cfg(test)]
mod tests {
    use super::super::entry::Head;
    use super::*;
    use crate::model::Unit;

    fn entry(commit: &str, time: i64, attempt: u32, value: f64) -> Entry {
        Entry {
            head: Head {
                pacegate: String::new(),
                commit: Commit { id: commit.into(), position: None, committed_s: None },
                shard: "all".into(),
                attempt,
                measured_s: Some(time),
                session: None,
                environment: Environment::default(),
                baseline: None,
            },
            rows: vec![Row {
                id: BenchmarkId::new("s", "b"),
                metric: Metric::time(),
                experiment: Experiment::Plain,
                values: Values::Launches(vec![value; 5]),
                seconds: None,
                identical: false,
            }],
        }
    }

    #[test]
    fn a_repeat_is_evidence_and_no_point() {
        let entries = [
            entry("a", 1, 1, 100.0),
            entry("b", 2, 1, 100.0),
            entry("a", 9, 2, 102.0),
            entry("a", 10, 3, 300.0),
        ];
        let timeline = Timeline::of(&entries);
        let names: Vec<&str> = timeline.commits.iter().map(|commit| commit.id.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let [track] = timeline.series.as_slice() else { panic!("one series") };
        let runs: Vec<u32> = track.points.iter().map(|point| point.runs).collect();
        assert_eq!(runs, [3, 1]);
        assert!((track.points[0].value - 102.0).abs() < 1e-9);
    }

    #[test]
    fn b73_only_the_order_matters() {
        let near = [entry("a", 1, 1, 1.0), entry("b", 2, 1, 2.0), entry("c", 3, 1, 3.0)];
        let far = [entry("c", 900_000, 1, 3.0), entry("a", -7, 1, 1.0), entry("b", 8, 1, 2.0)];
        assert_eq!(Timeline::of(&near).series, Timeline::of(&far).series);
    }

    #[test]
    fn ancestry_wins_over_the_clock_where_all_have_it() {
        let positioned = |id: &str, time, position| {
            let mut entry = entry(id, time, 1, 1.0);
            entry.head.commit.position = Some(position);
            entry
        };
        let order = |entries: &[Entry]| {
            Timeline::of(entries).commits.iter().map(|c| c.id.clone()).collect::<Vec<_>>()
        };
        let all = [positioned("a", 9, 1), positioned("b", 1, 2)];
        assert_eq!(order(&all), ["a", "b"]);
        assert_eq!(
            order(&[all[0].clone(), all[1].clone(), entry("c", 5, 1, 1.0)]),
            ["b", "c", "a"]
        );
    }

    #[test]
    fn machines_are_kept_apart_and_what_is_no_number_is_told() {
        let mut other = entry("b", 2, 1, 50.0);
        other.head.environment.hard.insert("cpu".into(), "another".into());
        let mut zero = entry("c", 3, 1, 0.0);
        zero.rows[0].id.name = "b #2".into();
        let mut points = entry("d", 4, 1, 7.0);
        points.rows[0].metric =
            Metric { name: "score".into(), unit: Unit::new("points"), better: Better::Unknown };
        let timeline = Timeline::of(&[entry("a", 1, 1, 100.0), other, zero, points]);
        let classes: Vec<&str> =
            timeline.series.iter().map(|track| track.key.class.as_str()).collect();
        assert_eq!(classes.len(), 2);
        let kinds: Vec<&str> = timeline.notices.iter().map(|notice| notice.kind.as_str()).collect();
        assert_eq!(kinds, ["no-direction", "zero", "positional-name"]);
    }

    #[test]
    fn counts_of_nothing_have_a_place() {
        let count = |commit: &str, time, value| {
            let mut entry = entry(commit, time, 1, 1.0);
            entry.rows[0].values = Values::Exact(vec![value]);
            entry.rows[0].metric = Metric {
                name: "allocations".into(),
                unit: Unit::new("allocations"),
                better: Better::Lower,
            };
            entry
        };
        let timeline = Timeline::of(&[count("a", 1, 0.0), count("b", 2, 3.0)]);
        let ys = timeline.series[0].ys();
        assert_eq!(ys[0], 0.0);
        assert!((ys[1] - 4f64.ln()).abs() < 1e-12);
        assert!(timeline.series[0].exact);
    }
}
