//! Change points to alerts: what got slower on the default branch, since which commits, and whether it lasts.
//!
//! ```text
//!             +- seen 6 runs, the last 3 beyond half of it -+
//!   suspect --+                                             +--> open --> went away    4 runs back at the old level
//!             +- confirmed by a paired run -----------------+     |  \--> acknowledged  somebody says so
//!      \--> refuted by a paired run                                \---> went away
//! ```
//!
//! A change that most of a runner's benchmarks share is the runner's, one that only moves work between the benchmarks of a
//! group is a shift of cost, one that has no place is a drift, one that is over at once is a spike, and where a runner
//! was replaced a new series begins. None of these is called a step.
//!
//! Everything follows from the timeline and the events; nothing is remembered between two looks. An alert that was seen to
//! last stays open however the series goes on, until it goes away or somebody acts on it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timeline::{Key, Timeline, Track};
use crate::model::{Difference, Environment, Notice};
use crate::stats::changepoint::{Change, LEVEL_MIN, Levels, Shape, levels};
use crate::stats::multiple::benjamini_hochberg;
use crate::stats::summary::median;

/// What is called a change, and how far back is looked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Points of a series that are looked at, from its end.
    pub window: usize,
    /// A series without a point among this many last commits is no longer watched.
    pub recent: usize,
    /// Smallest change of what is timed that is told, as a fraction.
    pub smallest: f64,
    /// The same for counts and sizes.
    pub smallest_exact: f64,
    /// How much a group of benchmarks may move together for its members' moves to be a shift of cost.
    pub tolerance: f64,
    /// How much a drift, or everything since the release, may come to before it is an alert.
    pub creep: f64,
    /// Place of the last release's commit.
    pub release: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            window: 100,
            recent: 24,
            smallest: 0.01,
            smallest_exact: 0.001,
            tolerance: 0.02,
            creep: 0.05,
            release: None,
        }
    }
}

/// Share of the series of a runner that move alike for the runner to be the cause, and how few series prove nothing.
const RUNNER_SHARE: f64 = 0.5;
const RUNNER_SERIES_MIN: usize = 5;

/// Expected share of false alerts among the alerts of all series together.
const SUITE_ALPHA: f64 = 0.05;

/// An alert opens after this many runs of which the last few all lie beyond half of the shift.
const LASTING_RUNS: usize = 6;
const LASTING_BEYOND: usize = 3;

/// A value this many sigma off its level is a spike.
const SPIKE_SIGMAS: f64 = 5.0;

/// How many points on each side tell the cost of a benchmark before and after.
const COST_POINTS: usize = 8;

/// An event still means an alert whose place has moved by so many commits since.
pub(crate) const EVENT_SLACK: usize = 2;

/// What somebody, or a paired run, says of an alert. Events are kept beside the runs and never change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The runner class.
    pub class: String,
    /// The commits among which the change lies.
    pub commits: Vec<String>,
    /// The benchmarks meant, as they are shown; all of them where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<String>,
    /// What is said.
    pub action: Action,
    /// Why: a person's words, or the numbers of the paired run.
    pub reason: String,
}

/// What an event says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is known and stays.
    Acknowledge,
    /// A paired run has it too.
    Confirm,
    /// A paired run excludes it.
    Refute,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What got slower, the worst first.
    pub alerts: Vec<Alert>,
    /// What got faster.
    pub faster: Vec<Alert>,
    /// Values that were off for a few runs and came back.
    pub spikes: Vec<Spike>,
    /// Runners that were replaced.
    pub moves: Vec<Move>,
    /// Series that were looked at.
    pub watched: usize,
    /// Series that have no recent point: benchmarks that are gone, runners that are no longer used.
    pub retired: usize,
    /// What is worth telling.
    pub notices: Vec<Notice>,
}

/// One change of one or several benchmarks.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// What it is called: its first commit, with a number where several begin there.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub status: Status,
    /// The runner class.
    pub class: String,
    /// Places of the commits among which the change lies, both inclusive.
    pub range: (usize, usize),
    /// Place of the last commit known to be before it.
    pub good: Option<usize>,
    /// The benchmarks, the largest change first.
    pub members: Vec<Member>,
    /// Why it stands where it does.
    pub reason: String,
    /// Facts of the environment that changed at the same place.
    pub facts: Vec<Difference>,
}

/// One benchmark of an alert.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Place in [`Timeline::series`].
    pub track: usize,
    /// Change for the worse, as a fraction: 0.1 takes a tenth longer.
    pub change: f64,
    /// Typical value before, in the metric's unit.
    pub before: f64,
    /// Typical value after.
    pub after: f64,
    /// Points since.
    pub since: usize,
    /// p of the test at the place.
    pub p: f64,
    /// Where this benchmark stands.
    pub status: Status,
}

/// What an alert is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A change with a place.
    Step,
    /// Little by little, or since the release.
    Drift,
    /// Members of a group moved opposite ways and their sum did not.
    CostShift,
    /// Most of the runner's series moved alike.
    Environment,
}

/// Where an alert stands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It lasts, or a paired run has it too: somebody must act.
    Open,
    /// It may be over tomorrow.
    Suspect,
    /// Somebody knows.
    Acknowledged,
    /// A paired run excludes it.
    Refuted,
    /// The series is back where it was.
    WentAway,
}

/// Values off their level that came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Spike {
    /// Place in [`Timeline::series`].
    pub track: usize,
    /// Place of the first commit.
    pub commit: usize,
    /// Runs in a row.
    pub runs: usize,
    /// How far off, as a fraction, positive is worse.
    pub change: f64,
}

/// A runner that was replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Place of the first commit on the new one.
    pub commit: usize,
    /// Class before.
    pub from: String,
    /// Class after.
    pub to: String,
    /// What differs.
    pub facts: Vec<Difference>,
    /// Benchmarks whose series begins anew.
    pub series: usize,
}

impl Alert {
    /// Whether somebody must act: it lasts and is no business of the runner's.
    pub fn is_open(&self) -> bool {
        self.status == Status::Open
    }
}

impl Kind {
    /// Its name on pages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Step => "step",
            Kind::Drift => "drift",
            Kind::CostShift => "cost shift",
            Kind::Environment => "environment change",
        }
    }
}

impl Status {
    /// Its name on pages.
    pub fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Suspect => "suspect",
            Status::Acknowledged => "acknowledged",
            Status::Refuted => "refuted",
            Status::WentAway => "went away",
        }
    }
}

/// Looks at every series and tells what moved. Equal input gives equal findings, on any number of threads.
pub fn watch(timeline: &Timeline, events: &[Event], settings: &Settings) -> Findings {
    let newest = timeline.commits.len();
    let is_recent = |track: &Track| {
        track.points.last().is_some_and(|p| newest < p.commit + 1 + settings.recent)
    };
    let watched: Vec<usize> =
        (0..timeline.series.len()).filter(|&place| is_recent(&timeline.series[place])).collect();
    let seen: Vec<Seen> =
        watched.par_iter().map(|&place| Seen::of(timeline, place, settings)).collect();
    let mut moved = proven(&seen);
    moved.extend(seen.iter().flat_map(|seen| seen.crept.clone()));

    let (slower, faster): (Vec<Moved>, Vec<Moved>) =
        moved.into_iter().partition(|moved| 0.0 < moved.shift);
    let watcher = Watcher { timeline, events, settings, seen: &seen };
    let mut alerts: Vec<Alert> =
        grouped(&slower).iter().map(|group| watcher.alert(group)).collect();
    let mut faster: Vec<Alert> =
        grouped(&faster).iter().map(|group| watcher.alert(group)).collect();
    for alerts in [&mut alerts, &mut faster] {
        alerts.sort_by(|a, b| {
            let size =
                |alert: &Alert| alert.members.iter().map(|m| m.change.abs()).fold(0.0, f64::max);
            let rank = |alert: &Alert| (alert.status, alert.kind);
            (rank(a).cmp(&rank(b)))
                .then(size(b).total_cmp(&size(a)))
                .then_with(|| (a.range, &a.class).cmp(&(b.range, &b.class)))
        });
        name(alerts, timeline);
    }
    Findings {
        alerts,
        faster,
        spikes: seen.iter().flat_map(|seen| seen.spikes.clone()).collect(),
        moves: moves(timeline, settings),
        watched: watched.len(),
        retired: timeline.series.len() - watched.len(),
        notices: timeline.notices.clone(),
    }
}

/// A change of one series.
#[derive(Clone, Debug)]
struct Moved {
    track: usize,
    shape: Shape,
    /// Logarithms, positive is worse.
    shift: f64,
    /// First and last place of a commit that may have done it, and the last one before.
    range: (usize, usize),
    good: Option<usize>,
    before: f64,
    after: f64,
    since: usize,
    p: f64,
    status: Status,
}

/// Points of a series on one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Places in [`Track::points`].
    pub points: std::ops::Range<usize>,
    /// The typical value, in the metric's unit.
    pub value: f64,
    /// Its logarithm, positive is worse.
    pub y: f64,
}

/// The levels of every series, oldest first, as far back as [`Settings::window`] looks.
pub fn stretches(timeline: &Timeline, settings: &Settings) -> Vec<Vec<Stretch>> {
    let of = |track| {
        let (window, smallest) = Window::of(timeline, track, settings);
        let found = levels(&window.ys, smallest);
        let begins = std::iter::once(0).chain(found.changes.iter().map(|change| change.at));
        let ends = found.changes.iter().map(|change| change.at).chain([window.ys.len()]);
        let stretch = |(begin, end): (usize, usize)| Stretch {
            points: window.from + begin..window.from + end,
            value: window.value(begin..end),
            y: median(&window.ys[begin..end]),
        };
        begins.zip(ends).map(stretch).collect()
    };
    (0..timeline.series.len()).into_par_iter().map(of).collect()
}

/// What one series shows.
struct Seen {
    track: usize,
    moved: Vec<Moved>,
    crept: Option<Moved>,
    spikes: Vec<Spike>,
}

impl Seen {
    fn of(timeline: &Timeline, track: usize, settings: &Settings) -> Seen {
        let (window, smallest) = Window::of(timeline, track, settings);
        let found = levels(&window.ys, smallest);
        let moved = window.moved(&found, smallest, settings);
        let crept = settings.release.and_then(|release| window.crept(&found, release, settings));
        // What one change alone comes to is told once, as that change.
        let told = |crept: &Moved| {
            moved.iter().any(|one| crept.good < one.good && settings.creep.ln_1p() <= one.shift)
        };
        Seen {
            track,
            crept: crept.filter(|crept| !told(crept)),
            moved,
            spikes: window.spikes(&found, smallest, settings),
        }
    }
}

/// The last points of a series.
struct Window<'a> {
    series: &'a Track,
    track: usize,
    /// Points before the window.
    from: usize,
    ys: Vec<f64>,
}

impl<'a> Window<'a> {
    /// The window of a series, and the smallest change of its logarithm that is told.
    fn of(timeline: &'a Timeline, track: usize, settings: &Settings) -> (Self, f64) {
        let series = &timeline.series[track];
        let from = series.points.len().saturating_sub(settings.window);
        let smallest = if series.exact { settings.smallest_exact } else { settings.smallest };
        let ys = series.ys()[from..].to_vec();
        (Window { series, track, from, ys }, smallest.ln_1p())
    }

    fn commit(&self, at: usize) -> usize {
        self.series.points[self.from + at].commit
    }

    fn value(&self, range: std::ops::Range<usize>) -> f64 {
        let values: Vec<f64> =
            self.series.points[self.from..][range].iter().map(|point| point.value).collect();
        median(&values)
    }

    /// Steps each for itself; slopes of one direction in a row as one.
    fn moved(&self, found: &Levels, smallest: f64, settings: &Settings) -> Vec<Moved> {
        let mut moved: Vec<Moved> = Vec::new();
        let mut start = 0;
        for (index, change) in found.changes.iter().enumerate() {
            let begins = if index == 0 { 0 } else { found.changes[index - 1].at };
            if change.shape == Shape::Drift
                && let Some(last) = moved.last_mut()
                && last.shape == Shape::Drift
                && last.shift.signum() == change.shift().signum()
            {
                last.shift += change.shift();
                last.range.1 = self.commit(change.latest);
                last.after = self.value(change.at..change.until);
                last.since = self.ys.len() - change.at;
                last.p = last.p.min(change.p);
                let first = found.changes[start];
                last.status =
                    self.status_of_drift(found, first.before, last.shift, smallest, settings);
                continue;
            }
            start = index;
            let status = match change.shape {
                Shape::Step => self.status_of_step(found, change, smallest),
                Shape::Drift => {
                    self.status_of_drift(found, change.before, change.shift(), smallest, settings)
                }
            };
            moved.push(Moved {
                track: self.track,
                shape: change.shape,
                shift: change.shift(),
                range: (self.commit(change.earliest), self.commit(change.latest)),
                good: change.earliest.checked_sub(1).map(|at| self.commit(at)),
                before: self.value(begins..change.at),
                after: self.value(change.at..change.until),
                since: self.ys.len() - change.at,
                p: change.p,
                status,
            });
        }
        moved
    }

    /// The level at the end, where it is not the one that a change began.
    fn later_level(&self, found: &Levels, change: &Change) -> Option<f64> {
        let last = found.changes.last()?;
        (change.at < last.at).then_some(last.after)
    }

    fn status_of_step(&self, found: &Levels, change: &Change, smallest: f64) -> Status {
        let (before, half) = (change.before, 0.5 * change.shift());
        let beyond = |y: f64| {
            if 0.0 < half { before + half < y } else { y < before + half }
        };
        // Levels are four runs long at least, so the last one proves by itself that the series is back.
        let back = self.later_level(found, change).is_some_and(|level| {
            if 0.0 < half { level <= before + smallest } else { before - smallest <= level }
        });
        if back {
            return Status::WentAway;
        }
        let lasted = (change.at + LASTING_RUNS..=self.ys.len())
            .any(|end| self.ys[end - LASTING_BEYOND..end].iter().all(|&y| beyond(y)));
        if lasted { Status::Open } else { Status::Suspect }
    }

    fn status_of_drift(
        &self,
        found: &Levels,
        before: f64,
        shift: f64,
        smallest: f64,
        settings: &Settings,
    ) -> Status {
        let last = found.changes.last().map_or(before, |change| change.after);
        if (last - before) * shift.signum() <= smallest {
            Status::WentAway
        } else if settings.creep.ln_1p() <= (last - before) * shift.signum() {
            Status::Open
        } else {
            Status::Suspect
        }
    }

    /// What everything since the release comes to.
    fn crept(&self, found: &Levels, release: usize, settings: &Settings) -> Option<Moved> {
        let at = (0..self.ys.len()).rev().find(|&at| self.commit(at) <= release)?;
        let last = found.changes.last()?;
        let begins: Vec<usize> =
            std::iter::once(0).chain(found.changes.iter().map(|change| change.at)).collect();
        let index = begins.iter().rposition(|&begin| begin <= at)?;
        let ends = begins.get(index + 1).copied().unwrap_or(self.ys.len());
        let level = median(&self.ys[begins[index]..ends]);
        let shift = last.after - level;
        (settings.creep.ln_1p() <= shift && ends <= last.at).then(|| Moved {
            track: self.track,
            shape: Shape::Drift,
            shift,
            range: (self.commit(ends), self.commit(self.ys.len() - 1)),
            good: Some(self.commit(at)),
            before: self.value(begins[index]..ends),
            after: self.value(last.at..self.ys.len()),
            since: self.ys.len() - ends,
            p: last.p,
            status: Status::Open,
        })
    }

    fn spikes(&self, found: &Levels, smallest: f64, settings: &Settings) -> Vec<Spike> {
        let ends: Vec<usize> =
            found.changes.iter().map(|change| change.at).chain([self.ys.len()]).collect();
        let mut spikes: Vec<Spike> = Vec::new();
        let mut from = 0;
        for end in ends {
            let level = median(&self.ys[from..end]);
            let off = |at: usize| {
                let distance = (self.ys[at] - level).abs();
                SPIKE_SIGMAS * found.sigma < distance && 2.0 * smallest < distance
            };
            let mut at = from.max(self.ys.len().saturating_sub(settings.recent));
            while at < end {
                let runs = (at..end).take_while(|&at| off(at)).count();
                // What is off to the very end may be the first of a new level.
                if 0 < runs && at + runs < self.ys.len() {
                    let change = (self.ys[at] - level).exp_m1();
                    spikes.push(Spike { track: self.track, commit: self.commit(at), runs, change });
                }
                at += runs.max(1);
            }
            from = end;
        }
        spikes
    }
}

/// The changes that stand when all series are looked at together (Benjamini and Hochberg over series).
fn proven(seen: &[Seen]) -> Vec<Moved> {
    let mut p: Vec<f64> = Vec::with_capacity(seen.len());
    for seen in seen {
        if seen.moved.is_empty() {
            p.push(1.0);
        }
        p.extend(seen.moved.iter().map(|moved| moved.p));
    }
    let mut adjusted = benjamini_hochberg(&p).into_iter();
    let mut kept = Vec::new();
    for seen in seen {
        if seen.moved.is_empty() {
            adjusted.next();
        }
        kept.extend(
            seen.moved
                .iter()
                .filter(|_| adjusted.next().is_some_and(|q| q <= SUITE_ALPHA))
                .cloned(),
        );
    }
    kept
}

/// Changes of one shape whose ranges overlap, the clearest first: each joins the first group that it has a commit in
/// common with, and the group's range is what all of its members have in common.
fn grouped(moved: &[Moved]) -> Vec<Vec<&Moved>> {
    let mut order: Vec<&Moved> = moved.iter().collect();
    let width = |moved: &Moved| moved.range.1 - moved.range.0;
    order.sort_by(|a, b| {
        (width(a).cmp(&width(b))).then(a.p.total_cmp(&b.p)).then(a.track.cmp(&b.track))
    });
    let mut groups: Vec<((usize, usize), Vec<&Moved>)> = Vec::new();
    for one in order {
        let home = groups.iter_mut().find(|(range, members)| {
            let alike =
                members[0].shape == one.shape && members.iter().all(|m| m.track != one.track);
            // A series that went away and one that did not are two stories.
            let over = (members[0].status == Status::WentAway) == (one.status == Status::WentAway);
            alike && over && one.range.0 <= range.1 && range.0 <= one.range.1
        });
        match home {
            Some((range, members)) => {
                *range = (range.0.max(one.range.0), range.1.min(one.range.1));
                members.push(one);
            }
            None => groups.push((one.range, vec![one])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// What an alert is made with.
struct Watcher<'a> {
    timeline: &'a Timeline,
    events: &'a [Event],
    settings: &'a Settings,
    seen: &'a [Seen],
}

impl Watcher<'_> {
    fn key(&self, track: usize) -> &Key {
        &self.timeline.series[track].key
    }

    fn alert(&self, group: &[&Moved]) -> Alert {
        let class = self.key(group[0].track).class.clone();
        let range = group.iter().fold(group[0].range, |range, moved| {
            (range.0.max(moved.range.0), range.1.min(moved.range.1))
        });
        let good = group.iter().filter_map(|moved| moved.good).filter(|&good| good < range.0).max();
        let mut members: Vec<Member> = group
            .iter()
            .map(|moved| Member {
                track: moved.track,
                change: moved.shift.exp_m1(),
                before: moved.before,
                after: moved.after,
                since: moved.since,
                p: moved.p,
                status: self.told(moved, range),
            })
            .collect();
        members
            .sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()).then(a.track.cmp(&b.track)));
        let confirmed = group.iter().any(|moved| self.said(moved, range) == Some(Action::Confirm));
        let kind = match group[0].shape {
            Shape::Drift => Kind::Drift,
            Shape::Step if confirmed => Kind::Step,
            Shape::Step if self.is_common(&class, members.len()) => Kind::Environment,
            Shape::Step if group.iter().all(|moved| self.is_cost_shift(moved)) => Kind::CostShift,
            Shape::Step => Kind::Step,
        };
        let status = members.iter().map(|member| member.status).min().expect("no group is empty");
        let status = match (kind, status) {
            // These are told, but nobody is called before a paired run has them too.
            (Kind::Environment | Kind::CostShift, Status::Open) => Status::Suspect,
            (_, status) => status,
        };
        let facts = self.facts(&class, good, range.1);
        let reason = self.reason(kind, status, &members, group, range);
        Alert { id: String::new(), kind, status, class, range, good, members, reason, facts }
    }

    /// What the events say of a change. A person outweighs a paired run, and a run that has it one that has not.
    fn said(&self, moved: &Moved, range: (usize, usize)) -> Option<Action> {
        self.event(moved, range).map(|event| event.action)
    }

    fn event(&self, moved: &Moved, range: (usize, usize)) -> Option<&Event> {
        let key = self.key(moved.track);
        let from = range.0.saturating_sub(EVENT_SLACK);
        let to = (range.1 + EVENT_SLACK + 1).min(self.timeline.commits.len());
        let near = &self.timeline.commits[from..to];
        let id = key.id.to_string();
        let mut matching: Vec<&Event> = self
            .events
            .iter()
            .filter(|event| {
                event.class == key.class
                    && event.commits.iter().any(|wanted| near.iter().any(|c| c.id == *wanted))
                    && (event.benchmarks.is_empty() || event.benchmarks.contains(&id))
            })
            .collect();
        // Whoever acknowledges has seen the paired runs.
        matching.sort_by_key(|event| {
            (matches!(event.action, Action::Confirm | Action::Refute), (*event).clone())
        });
        matching.first().copied()
    }

    fn told(&self, moved: &Moved, range: (usize, usize)) -> Status {
        match (moved.status, self.said(moved, range)) {
            (Status::WentAway, _) => Status::WentAway,
            (_, Some(Action::Acknowledge)) => Status::Acknowledged,
            (_, Some(Action::Refute)) => Status::Refuted,
            (_, Some(Action::Confirm)) => Status::Open,
            (status, None) => status,
        }
    }

    /// Most of the class's series moved alike.
    fn is_common(&self, class: &str, members: usize) -> bool {
        let watched = self.seen.iter().filter(|seen| self.key(seen.track).class == class).count();
        RUNNER_SERIES_MIN <= watched && RUNNER_SHARE * watched as f64 <= members as f64
    }

    /// The group's sum stayed while its members moved opposite ways.
    fn is_cost_shift(&self, moved: &Moved) -> bool {
        let key = self.key(moved.track);
        let parent = |name: &str| name.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let Some(group) = parent(&key.id.name) else { return false };
        let (mut before, mut after, mut opposite) = (0.0, 0.0, false);
        for seen in self.seen {
            let other = self.key(seen.track);
            let alike = other.class == key.class
                && other.metric == key.metric
                && other.experiment == key.experiment
                && other.id.suite == key.id.suite
                && parent(&other.id.name).as_ref() == Some(&group);
            if !alike {
                continue;
            }
            let points = &self.timeline.series[seen.track].points;
            let split = points.partition_point(|point| point.commit < moved.range.0);
            let later = points.partition_point(|point| point.commit < moved.range.1);
            // Times, also of what is given as a rate.
            let costs = |range: &[super::timeline::Point]| {
                median(&range.iter().map(|point| point.y.exp()).collect::<Vec<_>>())
            };
            if split == 0 || later == points.len() {
                return false;
            }
            let (ours, theirs) = (
                costs(&points[split.saturating_sub(COST_POINTS)..split]),
                costs(&points[later..points.len().min(later + COST_POINTS)]),
            );
            (before, after) = (before + ours, after + theirs);
            opposite |= seen.moved.iter().any(|other| {
                other.shift < 0.0
                    && other.range.0 <= moved.range.1
                    && moved.range.0 <= other.range.1
            });
        }
        opposite && (after / before).ln().abs() < self.settings.tolerance.ln_1p()
    }

    fn facts(&self, class: &str, good: Option<usize>, until: usize) -> Vec<Difference> {
        let soft = |commit: usize| self.timeline.soft.get(&(commit, class.to_owned()));
        let before = (0..=good.unwrap_or(0)).rev().find_map(soft);
        let after = (until..self.timeline.commits.len()).find_map(soft);
        let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
        let side = |soft: &BTreeMap<String, String>| Environment {
            soft: soft.clone(),
            ..Environment::default()
        };
        side(before).soft_differences(&side(after))
    }

    fn reason(
        &self,
        kind: Kind,
        status: Status,
        members: &[Member],
        group: &[&Moved],
        range: (usize, usize),
    ) -> String {
        let event = group.iter().find_map(|moved| self.event(moved, range));
        let said = event.map(|event| event.reason.as_str()).unwrap_or_default();
        match (status, kind) {
            (Status::Acknowledged, _) => format!("acknowledged: {said}"),
            (Status::Refuted, _) => format!("a paired run excludes it: {said}"),
            (Status::WentAway, _) => "the series is back where it was".into(),
            (_, Kind::Environment) => format!(
                "{} of the runner's series moved alike, which is the runner rather than the code; a paired run tells",
                members.len()
            ),
            (_, Kind::CostShift) => {
                "benchmarks of its group moved the other way, and their sum did not move".into()
            }
            (Status::Open, Kind::Drift) if self.settings.release.is_some() => format!(
                "it comes to more than {} % since {}",
                100.0 * self.settings.creep,
                self.settings.release.map_or("", |place| self.timeline.commits[place].name())
            ),
            (Status::Open, Kind::Drift) => {
                format!("little by little it came to more than {} %", 100.0 * self.settings.creep)
            }
            (Status::Suspect, Kind::Drift) => format!(
                "little by little; it becomes an alert at {} %",
                100.0 * self.settings.creep
            ),
            (Status::Open, Kind::Step) => match event {
                Some(event) if event.action == Action::Confirm => {
                    format!("a paired run has it too: {said}")
                }
                _ => {
                    let since = members.iter().map(|member| member.since).max().unwrap_or(0);
                    format!("it has lasted for {since} runs")
                }
            },
            (Status::Suspect, Kind::Step) => {
                let since = members.iter().map(|member| member.since).max().unwrap_or(0);
                format!(
                    "seen in {since} runs; it opens when {LASTING_RUNS} have it, or a paired run does"
                )
            }
        }
    }
}

/// Gives each alert a name of its own.
fn name(alerts: &mut [Alert], timeline: &Timeline) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut order: Vec<usize> = (0..alerts.len()).collect();
    // By what stays when alerts open and close.
    order.sort_by_key(|&at| (alerts[at].range, alerts[at].class.clone(), alerts[at].kind));
    for at in order {
        let first = timeline.commits[alerts[at].range.0].name();
        let id = std::iter::once(first.to_owned())
            .chain((2..).map(|number| format!("{first}-{number}")))
            .find(|id| !taken.contains(id))
            .expect("numbers do not end");
        taken.insert(id.clone());
        alerts[at].id = id;
    }
}

/// Places where benchmarks go on under another runner class.
fn moves(timeline: &Timeline, settings: &Settings) -> Vec<Move> {
    let mut by_benchmark: BTreeMap<(&crate::model::BenchmarkId, &str), Vec<&Track>> =
        BTreeMap::new();
    for track in &timeline.series {
        by_benchmark.entry((&track.key.id, &track.key.metric)).or_default().push(track);
    }
    let mut moves: BTreeMap<(usize, &str, &str), usize> = BTreeMap::new();
    for tracks in by_benchmark.values_mut() {
        tracks.sort_by_key(|track| (track.points[0].commit, &track.key.class));
        for pair in tracks.windows(2) {
            let (from, to) = (&pair[0].key.class, &pair[1].key.class);
            let (begins, ended) = (pair[1].points[0].commit, pair[0].points.last());
            // Runners that go on side by side are no replacement.
            let replaced = ended.is_some_and(|last| last.commit <= begins);
            if from != to && replaced && timeline.commits.len() <= begins + settings.window {
                *moves.entry((begins, from, to)).or_default() += 1;
            }
        }
    }
    moves
        .into_iter()
        .map(|((commit, from, to), series)| Move {
            commit,
            from: from.to_owned(),
            to: to.to_owned(),
            facts: timeline.classes[from].hard_differences(&timeline.classes[to]),
            series,
        })
        .collect()
}

/// Fewest points after which a series can have changed at all.
pub const POINTS_MIN: usize = 2 * LEVEL_MIN;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::history::timeline;
    use crate::stats::dist::normal_upper;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Normal noise of half a percent, another one for each seed.
    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        (0..count).map(|_| 0.005 * normal_upper(rng.random_range(1e-9..1.0))).collect()
    }

    /// A series of 100 commits that takes the fraction `shift(commit)` longer.
    fn series(seed: u64, shift: impl Fn(usize) -> f64) -> Vec<f64> {
        let shifted = |(at, y): (usize, f64)| y + shift(at).ln_1p();
        noise(seed, 100).into_iter().enumerate().map(shifted).collect()
    }

    fn from(start: usize, shift: f64) -> impl Fn(usize) -> f64 {
        move |at| if start <= at { shift } else { 0.0 }
    }

    /// Several series by name.
    fn suite(all: &[(&str, Vec<f64>)]) -> Timeline {
        let mut whole = timeline(&all[0].1);
        whole.series.clear();
        for (name, ys) in all {
            let mut track = timeline(ys).series.remove(0);
            track.key.id.name = (*name).into();
            whole.series.push(track);
        }
        whole
    }

    fn look(timeline: &Timeline) -> Findings {
        watch(timeline, &[], &Settings::default())
    }

    /// Kind, status and whether the place is right of the only alert.
    #[track_caller]
    fn only(findings: &Findings, kind: Kind, status: Status) -> &Alert {
        let [alert] = findings.alerts.as_slice() else { panic!("{findings:#?}") };
        assert_eq!((alert.kind, alert.status), (kind, status), "{alert:#?}");
        alert
    }

    #[test]
    fn quiet_series_raise_nothing() {
        let findings = look(&suite(&[("a", series(1, |_| 0.0)), ("b", series(2, |_| 0.0))]));
        assert_eq!(
            (findings.alerts.len(), findings.faster.len(), findings.spikes.len()),
            (0, 0, 0)
        );
        assert_eq!(findings.watched, 2);
        assert_eq!(look(&Timeline::default()), Findings::default());
    }

    #[test]
    fn a_step_is_suspected_then_open_and_has_its_place() {
        let whole = series(3, from(80, 0.10));
        let seen = |count: usize| look(&suite(&[("a", whole[..count].to_vec())]));
        assert!(seen(81).alerts.is_empty());
        only(&seen(85), Kind::Step, Status::Suspect);
        let findings = seen(90);
        let alert = only(&findings, Kind::Step, Status::Open);
        assert_eq!((alert.range, alert.good, alert.id.as_str()), ((80, 80), Some(79), "run 80"));
        assert!((alert.members[0].change - 0.10).abs() < 0.01);
        assert!(alert.is_open());
    }

    #[test]
    fn what_comes_back_went_away_and_what_got_faster_is_no_alert() {
        let blip = |at: usize| if (60..75).contains(&at) { 0.10 } else { 0.0 };
        only(&look(&suite(&[("a", series(4, blip))])), Kind::Step, Status::WentAway);
        let findings = look(&suite(&[("a", series(5, from(70, -0.10)))]));
        assert_eq!((findings.alerts.len(), findings.faster.len()), (0, 1));
        // A slowdown of which half was won back stays open.
        let half = |at: usize| {
            if at < 50 {
                0.0
            } else if at < 75 {
                0.20
            } else {
                0.10
            }
        };
        only(&look(&suite(&[("a", series(6, half))])), Kind::Step, Status::Open);
    }

    #[test]
    fn a_spike_is_told_and_raises_nothing() {
        let findings = look(&suite(&[("a", series(7, |at| if at == 90 { 0.4 } else { 0.0 }))]));
        assert!(findings.alerts.is_empty(), "{findings:#?}");
        let [spike] = findings.spikes.as_slice() else { panic!("{findings:#?}") };
        assert_eq!((spike.commit, spike.runs), (90, 1));
        assert!((spike.change - 0.4).abs() < 0.03);
    }

    #[test]
    fn a_drift_is_one_alert_however_long() {
        let findings = look(&suite(&[("a", series(8, |at| 0.002 * at as f64))]));
        let alert = only(&findings, Kind::Drift, Status::Open);
        assert!(0.10 < alert.members[0].change, "{alert:#?}");
        let little = look(&suite(&[("a", series(9, |at| 0.0004 * at as f64))]));
        assert!(little.alerts.iter().all(|alert| !alert.is_open()), "{little:#?}");
    }

    #[test]
    fn benchmarks_that_moved_together_are_one_alert_and_all_of_them_are_the_runner() {
        let quiet = |name, seed| (name, series(seed, |_| 0.0));
        let slow = |name, seed, shift| (name, series(seed, from(80, shift)));
        let two = [
            slow("a", 1, 0.10),
            slow("b", 2, 0.05),
            quiet("c", 3),
            quiet("d", 4),
            quiet("e", 5),
            quiet("f", 6),
        ];
        let findings = look(&suite(&two));
        let alert = only(&findings, Kind::Step, Status::Open);
        assert_eq!(alert.members.iter().map(|member| member.track).collect::<Vec<_>>(), [0, 1]);
        let most = [
            slow("a", 1, 0.10),
            slow("b", 2, 0.05),
            slow("c", 3, 0.07),
            slow("d", 4, 0.06),
            quiet("e", 5),
            quiet("f", 6),
        ];
        let timeline = suite(&most);
        only(&look(&timeline), Kind::Environment, Status::Suspect);
        // Unless a paired run has it too.
        let confirmed = Event {
            class: "unknown".into(),
            commits: vec!["run 80".into()],
            benchmarks: Vec::new(),
            action: Action::Confirm,
            reason: "+5.0 % in 10 pairs".into(),
        };
        let findings = watch(&timeline, &[confirmed], &Settings::default());
        only(&findings, Kind::Step, Status::Open);
    }

    #[test]
    fn work_that_moved_within_a_group_is_a_shift_of_cost() {
        let up = ("read/one", series(1, from(80, 0.10)));
        let down = ("read/two", series(2, from(80, -0.10)));
        only(&look(&suite(&[up.clone(), down.clone()])), Kind::CostShift, Status::Suspect);
        let elsewhere = ("write/two", down.1.clone());
        only(&look(&suite(&[up, elsewhere])), Kind::Step, Status::Open);
    }

    #[test]
    fn two_steps_are_two_alerts() {
        let stairs = |at: usize| {
            if at < 40 {
                0.0
            } else if at < 75 {
                0.10
            } else {
                0.20
            }
        };
        let findings = look(&suite(&[("a", series(3, stairs))]));
        let ranges: Vec<usize> = findings.alerts.iter().map(|alert| alert.range.0).collect();
        assert_eq!(ranges.len(), 2, "{findings:#?}");
        assert!(findings.alerts.iter().all(Alert::is_open));
    }

    #[test]
    fn somebody_or_a_paired_run_may_have_said_something() {
        let timeline = suite(&[("a", series(3, from(80, 0.10)))]);
        let event = |action| Event {
            class: "unknown".into(),
            commits: vec!["run 80".into()],
            benchmarks: vec!["simulated::a".into()],
            action,
            reason: "because".into(),
        };
        let told =
            |events: &[Event]| watch(&timeline, events, &Settings::default()).alerts[0].status;
        assert_eq!(told(&[event(Action::Acknowledge)]), Status::Acknowledged);
        assert_eq!(told(&[event(Action::Refute)]), Status::Refuted);
        assert_eq!(
            told(&[event(Action::Confirm), event(Action::Acknowledge)]),
            Status::Acknowledged
        );
        let another =
            Event { benchmarks: vec!["simulated::b".into()], ..event(Action::Acknowledge) };
        let elsewhere = Event { commits: vec!["run 60".into()], ..event(Action::Acknowledge) };
        assert_eq!(told(&[another, elsewhere]), Status::Open);
    }

    #[test]
    fn another_runner_is_a_new_series_and_is_told() {
        let mut timeline = suite(&[("a", series(1, |_| 0.0)), ("a", series(2, |_| 0.3))]);
        timeline.series[0].points.truncate(80);
        timeline.series[1].points.drain(..80);
        timeline.series[1].key.class = "another".into();
        let environment = |cpu: &str| {
            let mut environment = Environment::default();
            environment.hard.insert("cpu".into(), cpu.into());
            environment
        };
        timeline.classes = BTreeMap::from([
            ("unknown".to_owned(), environment("one")),
            ("another".to_owned(), environment("two")),
        ]);
        let findings = look(&timeline);
        assert!(findings.alerts.is_empty(), "{findings:#?}");
        let [moved] = findings.moves.as_slice() else { panic!("{findings:#?}") };
        assert_eq!((moved.commit, moved.to.as_str(), moved.facts.len()), (80, "another", 1));
    }

    #[test]
    fn what_is_gone_is_not_watched() {
        let mut timeline = suite(&[("a", series(1, |_| 0.0)), ("gone", series(3, from(50, 0.10)))]);
        timeline.series[1].points.truncate(70);
        let findings = look(&timeline);
        assert_eq!((findings.watched, findings.retired, findings.alerts.len()), (1, 1, 0));
    }

    #[test]
    fn small_steps_add_up_since_the_release() {
        let stairs = |at: usize| 0.008 * (at / 10) as f64;
        let timeline = suite(&[("a", series(3, stairs))]);
        let settings = Settings { release: Some(12), ..Settings::default() };
        let findings = watch(&timeline, &[], &settings);
        assert!(
            findings.alerts.iter().any(|a| a.kind == Kind::Drift && a.is_open()),
            "{findings:#?}"
        );
    }

    /// Noise does not decide: shuffled series, shuffled commits further apart, the same findings.
    #[test]
    fn the_order_of_series_does_not_matter() {
        let all = [
            ("a", series(1, from(80, 0.10))),
            ("b", series(2, |_| 0.0)),
            ("c", series(3, from(79, 0.06))),
        ];
        let names = |timeline: &Timeline, findings: &Findings| -> Vec<(String, Vec<String>)> {
            let shown = |alert: &Alert| {
                let members = alert.members.iter();
                let ids = members.map(|m| timeline.series[m.track].key.id.to_string()).collect();
                (alert.id.clone(), ids)
            };
            findings.alerts.iter().map(shown).collect()
        };
        let there = suite(&all);
        let mut back = all.clone();
        back.reverse();
        let back = suite(&back);
        assert_eq!(names(&there, &look(&there)), names(&back, &look(&back)));
    }
}
