//! The pages of `watch` and `history show`: what moved on the default branch, with a plot of each series.
//!
//! ```text
//! ALERT: 1 change for the worse is open: suite::parse +12.4 % since 3f2c81a          the answer
//!   Fix it, or `pacegate watch --acknowledge 3f2c81a --reason WHY`                     what to do
//!
//! OPEN  3f2c81a  step                                                                  one block an alert
//!   suite::parse   100.2 -> 112.6 ns   +12.4 %   9 runs ago
//!     112.9 ns ┤ ▁▂▁▁▂▁▁▁▇▇█▇▇▇▇▇▇                                                     the series, oldest first
//!     99.81 ns ┤         ^                                                             where it changed
//! ```

use anstyle::{AnsiColor, Style};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use super::element::element;
use super::explain::typed;
use super::markdown::{code, sentence, table_row};
use super::plot::{self, Course};
use super::terminal::{Page, Screen, Verbosity, left, right};
use super::{Headline, text};
use crate::history::watch::{EVENT_SLACK, Member};
use crate::history::{Alert, Findings, Kind, Point, Status, Timeline, Track};
use crate::model::{BenchmarkId, Better, Metric, Notice, listed};
use crate::stats::ranks::hodges_lehmann;

/// Name and version of the format.
const SCHEMA: &str = "pacegate.watch/1";

/// Points that a plot shows at most, the newest.
const PLOT_POINTS: usize = 100;

/// Benchmarks of an alert that a page of normal verbosity lists.
const FEW: usize = 8;

/// Runs on each side of a change that its interval is from.
const NEAR: usize = 10;

/// Heights of a text plot.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The answer in one sentence, and what to do.
pub fn watch_headline(findings: &Findings, timeline: &Timeline) -> Headline {
    let with = |status: Status| -> Vec<&Alert> {
        findings.alerts.iter().filter(|alert| alert.status == status).collect()
    };
    let (open, suspect) = (with(Status::Open), with(Status::Suspect));
    let watched = text::plural(findings.watched, "series", "series");
    let commits = text::plural(timeline.commits.len(), "commit", "commits");
    if let Some(worst) = open.first() {
        let is =
            if open.len() == 1 { "change for the worse is" } else { "changes for the worse are" };
        return Headline {
            answer: format!("ALERT: {} {is} open: {}", open.len(), in_short(worst, timeline)),
            action: format!(
                "Undo the slowdown, or say that it stays: `pacegate watch --acknowledge {} --reason WHY`.",
                text::name(&worst.id)
            ),
        };
    }
    if let Some(worst) = suspect.first() {
        let seen = if suspect.len() == 1 { "change" } else { "changes" };
        return Headline {
            answer: format!(
                "SUSPECT: {} {seen} for the worse may not last: {}",
                suspect.len(),
                in_short(worst, timeline)
            ),
            action: "Nothing needs doing yet; more runs or a paired run will tell.".into(),
        };
    }
    Headline {
        answer: format!("QUIET: nothing got slower and stayed so, in {watched} over {commits}"),
        action: String::new(),
    }
}

/// `suite::parse +12.4 % since 3f2c81a`.
pub(super) fn in_short(alert: &Alert, timeline: &Timeline) -> String {
    let worst = &alert.members[0];
    let more = match alert.members.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} {}{more} since {}",
        text::name(&timeline.series[worst.track].key.id.to_string()),
        text::percent(worst.change),
        commit(timeline, alert.range.0)
    )
}

/// The page for a terminal.
pub fn watch_terminal(findings: &Findings, timeline: &Timeline, screen: &Screen) -> String {
    let mut page = Page::new(*screen);
    let headline = watch_headline(findings, timeline);
    let (word, rest) = headline.answer.split_once(':').expect("it begins with a word");
    let colour = match word {
        "ALERT" => AnsiColor::Red,
        "SUSPECT" => AnsiColor::Yellow,
        _ => AnsiColor::Green,
    };
    let painted = page.paint(Style::new().bold().fg_color(Some(colour.into())), word);
    page.line(&format!("{painted}:{rest}"));
    if !headline.action.is_empty() {
        page.wrapped("  ", &headline.action, 2);
    }
    if screen.verbosity == Verbosity::Quiet {
        return page.finish();
    }
    let alerts = findings
        .alerts
        .iter()
        .filter(|alert| screen.verbosity == Verbosity::Verbose || alert.status != Status::WentAway);
    for alert in alerts {
        page.alert(alert, timeline, alert.status.name());
    }
    for alert in &findings.faster {
        if alert.status != Status::WentAway {
            page.alert(alert, timeline, "faster");
        }
    }
    page.rest(findings, timeline);
    page.finish()
}

impl Page {
    fn alert(&mut self, alert: &Alert, timeline: &Timeline, status: &str) {
        self.heading(&format!(
            "{}  {}  {}, {}",
            status.to_uppercase(),
            text::name(&alert.id),
            alert.kind.name(),
            between(alert, timeline)
        ));
        if status != "faster" {
            self.wrapped("  ", &text::sentence(&alert.reason), 2);
        }
        for difference in &alert.facts {
            let fact = format!("at the same place: {difference}");
            self.wrapped("  ", &text::sentence(&fact), 2);
        }
        let verbose = self.verbosity() == Verbosity::Verbose;
        let shown = if verbose { alert.members.len() } else { FEW };
        for member in alert.members.iter().take(shown) {
            let track = &timeline.series[member.track];
            self.wrapped("  ", &member_line(member, track), 4);
            self.course(track, Some(alert.range), timeline);
        }
        if shown < alert.members.len() {
            self.line(&format!("  and {} more; --verbose lists them", alert.members.len() - shown));
        }
    }

    /// The last points of a series, and below them where it changed.
    fn course(&mut self, track: &Track, range: Option<(usize, usize)>, timeline: &Timeline) {
        let room = self.width().saturating_sub(20).clamp(10, PLOT_POINTS);
        for line in course(track, range, room) {
            self.line(&format!("    {line}"));
        }
        if self.verbosity() == Verbosity::Verbose {
            let shown = &track.points[track.points.len().saturating_sub(room)..];
            if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
                let (first, last) = (commit(timeline, first.commit), commit(timeline, last.commit));
                self.line(&format!("    {first} to {last}"));
            }
        }
    }

    fn rest(&mut self, findings: &Findings, timeline: &Timeline) {
        let lines = asides(findings, timeline);
        if !lines.is_empty() {
            self.heading("Also seen");
        }
        for line in lines {
            self.wrapped("- ", &text::sentence(&line), 2);
        }
        let mut notices = findings.notices.iter().peekable();
        if notices.peek().is_some() {
            self.heading("Notices");
        }
        for notice in notices {
            self.wrapped("- ", &text::sentence(&notice.seen), 2);
            if !notice.advice.is_empty() {
                self.wrapped("  ", &text::sentence(&notice.advice), 2);
            }
        }
    }
}

/// The last points of a series as a plot, and a line that marks where it changed.
fn course(track: &Track, range: Option<(usize, usize)>, room: usize) -> Vec<String> {
    let points = &track.points[track.points.len().saturating_sub(room)..];
    let Some((low, high)) = ends(points.iter().map(|point| point.value)) else {
        return Vec::new();
    };
    let span = if low < high { high - low } else { 1.0 };
    let bars = points.iter().map(|point| {
        let height = (point.value - low) / span * (BLOCKS.len() - 1) as f64;
        BLOCKS[height.round() as usize]
    });
    let marks = points.iter().map(|point| match range {
        Some((first, last)) if (first..=last).contains(&point.commit) => '^',
        _ => ' ',
    });
    let label = |value: f64| text::quantity(&track.metric, value).to_string();
    let width = text::width(&label(low)).max(text::width(&label(high)));
    vec![
        format!("{} ┤{}", right(&label(high), width), bars.collect::<String>()),
        format!("{} ┤{}", right(&label(low), width), marks.collect::<String>()),
    ]
}

/// Spikes, runners that were replaced, series that are no longer watched, in words.
pub(super) fn asides(findings: &Findings, timeline: &Timeline) -> Vec<String> {
    let mut lines = Vec::new();
    for moved in &findings.moves {
        let facts: Vec<String> = moved.facts.iter().map(ToString::to_string).collect();
        let series = text::plural(moved.series, "series begins", "series begin");
        lines.push(format!(
            "runner change at {}: {} became {}, so {series} anew: {}",
            commit(timeline, moved.commit),
            moved.from,
            moved.to,
            if facts.is_empty() { "no hard fact differs".into() } else { listed(&facts, 3) }
        ));
    }
    for spike in &findings.spikes {
        lines.push(format!(
            "spike at {}: {} was {} off for {} and came back",
            commit(timeline, spike.commit),
            timeline.series[spike.track].key.id,
            text::percent(spike.change),
            text::plural(spike.runs, "run", "runs"),
        ));
    }
    let away = findings.alerts.iter().filter(|alert| alert.status == Status::WentAway).count();
    if 0 < away {
        lines.push(format!("{} went away", text::plural(away, "change", "changes")));
    }
    if 0 < findings.retired {
        lines.push(format!(
            "{} without a recent run: not watched",
            text::plural(findings.retired, "series", "series")
        ));
    }
    lines
}

pub(super) fn member_line(member: &Member, track: &Track) -> String {
    let (before, after) = text::quantities(&track.metric, member.before, member.after);
    let metric =
        if track.metric.name == "time" { String::new() } else { format!(" {}", track.metric.name) };
    let (worse, better) = text::words(&track.metric);
    let word = if 0.0 < member.change { worse } else { better };
    format!(
        "{}{}  {before} -> {after}  {} {word}, {} since",
        text::name(&track.key.id.to_string()),
        text::visible(&metric),
        text::percent(member.after / member.before - 1.0),
        text::plural(member.since, "run", "runs")
    )
}

/// `between 1a2b3c4 and 3f2c81a`.
pub(super) fn between(alert: &Alert, timeline: &Timeline) -> String {
    let last = commit(timeline, alert.range.1);
    match alert.good {
        Some(good) if good + 1 == alert.range.1 => format!("at {last}"),
        Some(good) => format!("after {} and not after {last}", commit(timeline, good)),
        None => format!("not after {last}"),
    }
}

pub(super) fn commit(timeline: &Timeline, place: usize) -> String {
    timeline.commits.get(place).map_or_else(String::new, |commit| text::name(commit.name()))
}

/// Smallest and largest.
fn ends(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    Some((values.clone().min_by(f64::total_cmp)?, values.max_by(f64::total_cmp)?))
}

/// The page for an issue or a job's summary.
pub fn watch_markdown(findings: &Findings, timeline: &Timeline) -> String {
    let headline = watch_headline(findings, timeline);
    let mut page = format!("### {}\n\n", sentence(&headline.answer));
    if !headline.action.is_empty() {
        page.push_str(&format!("{}\n\n", sentence(&headline.action)));
    }
    let alerts = findings.alerts.iter().filter(|alert| alert.status != Status::WentAway);
    for (alert, status) in alerts
        .map(|alert| (alert, alert.status.name()))
        .chain(findings.faster.iter().map(|alert| (alert, "faster")))
        .filter(|(alert, _)| alert.status != Status::WentAway)
    {
        page.push_str(&block(alert, status, timeline));
    }
    for line in asides(findings, timeline) {
        page.push_str(&format!("- {}\n", sentence(&line)));
    }
    page
}

/// One alert, with a table of its benchmarks.
fn block(alert: &Alert, status: &str, timeline: &Timeline) -> String {
    let mut page = format!(
        "**{status}**: {}, {} ({})\n\n",
        alert.kind.name(),
        sentence(&between(alert, timeline)),
        code(&text::name(&alert.id))
    );
    if status != "faster" {
        page.push_str(&format!("{}\n\n", sentence(&alert.reason)));
    }
    let cells = ["benchmark", "before", "after", "change", "95 % interval", "runs since"];
    page.push_str(&table_row(&cells.map(str::to_owned)));
    page.push_str("| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for member in alert.members.iter().take(FEW) {
        let track = &timeline.series[member.track];
        let (before, after) = text::quantities(&track.metric, member.before, member.after);
        page.push_str(&table_row(&[
            code(&text::name(&track.key.id.to_string())),
            code(&before.to_string()),
            code(&after.to_string()),
            text::percent(member.after / member.before - 1.0),
            interval(alert, track),
            member.since.to_string(),
        ]));
    }
    if FEW < alert.members.len() {
        page.push_str(&format!("\nand {} more\n", alert.members.len() - FEW));
    }
    page.push('\n');
    page
}

/// The change between the runs just before the place and those just after it, or the newest where it has no place, by
/// [`hodges_lehmann`]; empty where they are too few.
fn interval(alert: &Alert, track: &Track) -> String {
    let (first, last) = alert.range;
    let begins = track.points.partition_point(|point| point.commit < first);
    let ends = track.points.partition_point(|point| point.commit < last);
    let after = match alert.kind {
        Kind::Drift => &track.points[ends.max(track.points.len().saturating_sub(NEAR))..],
        _ => &track.points[ends..track.points.len().min(ends + NEAR)],
    };
    let ys = |points: &[Point]| points.iter().map(|point| point.y).collect::<Vec<f64>>();
    let before = ys(&track.points[begins.saturating_sub(NEAR)..begins]);
    let Some(shift) = hodges_lehmann(&before, &ys(after), 0.95) else { return String::new() };
    // Up is worse in `y`; the page tells of the quantity itself.
    let (low, high) = match track.metric.better {
        Better::Higher => (-shift.high, -shift.low),
        Better::Lower | Better::Unknown => (shift.low, shift.high),
    };
    text::bounds(low.exp(), high.exp())
}

/// An alert as an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertPage {
    /// What is to be seen of it.
    pub stage: Stage,
    /// What it may be recognised by, its own name first: others are those that it has when its place moves by a commit
    /// or two, or when another benchmark moved most.
    pub names: Vec<String>,
    /// One line of at most 256 characters.
    pub title: String,
    /// Markdown.
    pub body: String,
}

/// How far an alert has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Somebody must act.
    Open,
    /// It may be over tomorrow; nobody is called for it.
    Suspect,
    /// Nothing needs doing any more, in words.
    Over(String),
}

/// What is said where an issue is open and nothing is found any more that it could be about.
pub const NO_ALERT: &str =
    "Closed: history no longer shows this change, or another issue tells of it.";

/// Longest title of an issue at GitHub, in characters.
const TITLE_LIMIT: usize = 256;

/// Longest command in an issue, in bytes: a body may have 65,536 characters.
const COMMAND_LIMIT: usize = 4096;

/// What got slower as issues, one an alert. No name in them can call anybody, or be taken for Markdown.
pub fn alert_pages(findings: &Findings, timeline: &Timeline) -> Vec<AlertPage> {
    let page = |alert: &Alert| AlertPage {
        stage: match alert.status {
            Status::Open => Stage::Open,
            Status::Suspect => Stage::Suspect,
            Status::Acknowledged | Status::Refuted | Status::WentAway => {
                Stage::Over(format!("Closed: {}", sentence(&alert.reason)))
            }
        },
        names: names(alert, timeline),
        title: title(alert, timeline),
        body: body(alert, timeline),
    };
    findings.alerts.iter().map(page).collect()
}

/// A line for a chat: what begins with `<` or `&` there, such as a call to everybody, is text.
pub fn chat_line(text: &str) -> String {
    text::sentence(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn names(alert: &Alert, timeline: &Timeline) -> Vec<String> {
    let (first, last) = alert.range;
    let near = first.saturating_sub(EVENT_SLACK)..=last + EVENT_SLACK;
    let places = std::iter::once(first).chain(near.filter(|place| *place != first));
    let commits: Vec<&str> = places
        .filter_map(|place| timeline.commits.get(place))
        .map(|commit| commit.id.as_str())
        .collect();
    let name = |member: &Member, commit: &str| {
        let key = &timeline.series[member.track].key;
        let shape = if alert.kind == Kind::Drift { "drift" } else { "step" };
        let id = key.id.to_string();
        serde_json::to_string(&(&alert.class, shape, &key.metric, &id, commit))
            .expect("texts are JSON")
    };
    let of = |member| commits.iter().map(move |commit| name(member, commit));
    alert.members.iter().flat_map(of).collect()
}

fn title(alert: &Alert, timeline: &Timeline) -> String {
    let track = &timeline.series[alert.members[0].track];
    let more = match alert.members.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    // Without the amount, which is another one after each run.
    let title = format!(
        "{} is {} since {}{more}",
        code(&text::name(&track.key.id.to_string())),
        text::words(&track.metric).0,
        code(&commit(timeline, alert.range.0)),
    );
    text::middle(&title, TITLE_LIMIT)
}

fn body(alert: &Alert, timeline: &Timeline) -> String {
    let mut page = block(alert, alert.status.name(), timeline);
    if !alert.facts.is_empty() {
        let facts: Vec<String> = alert.facts.iter().map(ToString::to_string).collect();
        let facts = format!("At the same place: {}", listed(&facts, 3));
        page.push_str(&format!("{}\n\n", sentence(&facts)));
    }
    let worst = &timeline.series[alert.members[0].track];
    page.push_str("The first of them, oldest run first, and where it changed:\n\n```text\n");
    for line in course(worst, Some(alert.range), PLOT_POINTS) {
        page.push_str(&format!("{line}\n"));
    }
    page.push_str("```\n\n");
    let id = worst.key.id.to_string();
    let ends = alert.good.map(|good| [good, alert.range.1].map(|at| &*timeline.commits[at].id));
    let words = ends.and_then(|[good, bad]| typed([good, bad, &id]));
    if let Some([good, bad, id]) = words.filter(|words| words.concat().len() <= COMMAND_LIMIT) {
        page.push_str(&format!(
            "To see it again, and which commit did it:\n\n```console\npacegate bisect {good} {bad} {id}\n```\n\n"
        ));
    }
    if let Some([id]) = typed([&alert.id]).filter(|[id]| id.len() <= COMMAND_LIMIT) {
        let stays = code(&format!("pacegate watch --acknowledge {id} --reason WHY"));
        page.push_str(&format!("If it is to stay: {stays}\n"));
    }
    page
}

/// What `watch` found, for machines.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "pacegate.watch/1")]
struct WatchFile {
    /// Names the format and its version.
    schema: &'static str,
    /// The answer in one sentence.
    headline: String,
    /// Whether somebody must act.
    open: bool,
    /// Series that were looked at.
    watched: usize,
    /// Series without a recent run.
    retired: usize,
    /// Commits that are known.
    commits: usize,
    /// What got slower, the worst first.
    alerts: Vec<AlertEntry>,
    /// What got faster.
    faster: Vec<AlertEntry>,
    /// Values that were off for a few runs and came back.
    spikes: Vec<SpikeEntry>,
    /// Runners that were replaced.
    runner_changes: Vec<MoveEntry>,
    /// What is worth telling.
    notices: Vec<Notice>,
}

/// One change of one or several benchmarks.
#[derive(Serialize, JsonSchema)]
struct AlertEntry {
    /// What it is called.
    id: String,
    /// What it is.
    kind: Kind,
    /// Where it stands.
    status: Status,
    /// Why.
    reason: String,
    /// The runner class.
    class: String,
    /// The last commit known to be before it.
    good: Option<String>,
    /// The commits among which the change lies, oldest first.
    commits: Vec<String>,
    /// The benchmarks, the largest change first.
    benchmarks: Vec<MemberEntry>,
    /// Facts of the environment that changed at the same place.
    facts: Vec<String>,
}

/// One benchmark of an alert.
#[derive(Serialize, JsonSchema)]
struct MemberEntry {
    /// Which one.
    #[serde(flatten)]
    id: BenchmarkId,
    /// Of what.
    metric: Metric,
    /// Typical value before, in the metric's unit.
    before: f64,
    /// Typical value after.
    after: f64,
    /// Change for the worse, as a fraction.
    worse_by: f64,
    /// Runs since.
    runs_since: usize,
    /// p of the test at the place, after a search for it.
    p: f64,
    /// Where this benchmark stands.
    status: Status,
}

/// Values that were off and came back.
#[derive(Serialize, JsonSchema)]
struct SpikeEntry {
    /// Which benchmark.
    #[serde(flatten)]
    id: BenchmarkId,
    /// Name of the metric.
    metric: String,
    /// The first commit.
    commit: String,
    /// Runs in a row.
    runs: usize,
    /// How far off, as a fraction, positive is worse.
    worse_by: f64,
}

/// A runner that was replaced.
#[derive(Serialize, JsonSchema)]
struct MoveEntry {
    /// The first commit on the new one.
    commit: String,
    /// Class before.
    from: String,
    /// Class after.
    to: String,
    /// What differs.
    facts: Vec<String>,
    /// Series that begin anew.
    series: usize,
}

/// The file for machines.
pub fn watch_json(findings: &Findings, timeline: &Timeline) -> String {
    let id = |place: usize| timeline.commits[place].id.clone();
    let alert = |alert: &Alert| AlertEntry {
        id: alert.id.clone(),
        kind: alert.kind,
        status: alert.status,
        reason: alert.reason.clone(),
        class: alert.class.clone(),
        good: alert.good.map(id),
        commits: (alert.range.0..=alert.range.1).map(id).collect(),
        benchmarks: alert
            .members
            .iter()
            .map(|member| {
                let track = &timeline.series[member.track];
                MemberEntry {
                    id: track.key.id.clone(),
                    metric: track.metric.clone(),
                    before: member.before,
                    after: member.after,
                    worse_by: member.change,
                    runs_since: member.since,
                    p: member.p,
                    status: member.status,
                }
            })
            .collect(),
        facts: alert.facts.iter().map(ToString::to_string).collect(),
    };
    let file = WatchFile {
        schema: SCHEMA,
        headline: watch_headline(findings, timeline).answer,
        open: findings.alerts.iter().any(Alert::is_open),
        watched: findings.watched,
        retired: findings.retired,
        commits: timeline.commits.len(),
        alerts: findings.alerts.iter().map(alert).collect(),
        faster: findings.faster.iter().map(alert).collect(),
        spikes: findings
            .spikes
            .iter()
            .map(|spike| {
                let key = &timeline.series[spike.track].key;
                SpikeEntry {
                    id: key.id.clone(),
                    metric: key.metric.clone(),
                    commit: id(spike.commit),
                    runs: spike.runs,
                    worse_by: spike.change,
                }
            })
            .collect(),
        runner_changes: findings
            .moves
            .iter()
            .map(|moved| MoveEntry {
                commit: id(moved.commit),
                from: moved.from.clone(),
                to: moved.to.clone(),
                facts: moved.facts.iter().map(ToString::to_string).collect(),
                series: moved.series,
            })
            .collect(),
        notices: findings.notices.clone(),
    };
    serde_json::to_string_pretty(&file).expect("every number is finite") + "\n"
}

/// The JSON schema of the file.
pub fn watch_schema() -> String {
    serde_json::to_string_pretty(&schema_for!(WatchFile)).expect("a schema is JSON") + "\n"
}

/// One line for each series that `wanted` picks; with few of them, a plot and every point.
pub fn history_terminal(
    timeline: &Timeline,
    wanted: &dyn Fn(&BenchmarkId) -> bool,
    screen: &Screen,
) -> String {
    let mut page = Page::new(*screen);
    let tracks: Vec<&Track> =
        timeline.series.iter().filter(|track| wanted(&track.key.id)).collect();
    let label = |track: &Track| {
        let metric = &track.metric.name;
        let name = text::name(&track.key.id.to_string());
        if metric == "time" { name } else { format!("{name} {}", text::visible(metric)) }
    };
    let widest = tracks.iter().map(|track| text::width(&label(track))).max().unwrap_or(0);
    page.line(&format!(
        "{} over {}",
        text::plural(tracks.len(), "series", "series"),
        text::plural(timeline.commits.len(), "commit", "commits")
    ));
    let in_depth = tracks.len() <= FEW || screen.verbosity == Verbosity::Verbose;
    for track in tracks {
        let last = track.points.last().expect("a series has a point");
        page.line(&format!(
            "{}  {}  {}  {}",
            left(&label(track), widest.min(text::NAME_LIMIT)),
            right(&text::quantity(&track.metric, last.value).to_string(), 10),
            right(&text::plural(track.points.len(), "point", "points"), 10),
            text::name(&track.key.class),
        ));
        if in_depth {
            page.course(track, None, timeline);
        }
        if screen.verbosity == Verbosity::Verbose {
            for point in &track.points {
                page.line(&format!(
                    "    {}  {}  {}",
                    left(&commit(timeline, point.commit), 12),
                    right(&text::quantity(&track.metric, point.value).to_string(), 10),
                    text::plural(point.runs as usize, "run", "runs")
                ));
            }
        }
    }
    for notice in &timeline.notices {
        page.wrapped("- ", &text::sentence(&notice.seen), 2);
    }
    page.finish()
}

/// A picture of one series, with the commits of a change shaded; for pages that show SVG. Empty where nothing can be drawn.
pub fn series_svg(track: &Track, range: Option<(usize, usize)>) -> String {
    const STYLE: &str = "text{fill:#666;font:11px sans-serif}.middle{text-anchor:middle}.end{text-anchor:end}\
        .grid{stroke:#ddd}.base{stroke:#888}.course>*{fill:#337ab7}.changed{fill:#d9534f;opacity:.25}";
    let points = &track.points[track.points.len().saturating_sub(PLOT_POINTS)..];
    let changes: Vec<(usize, usize)> = range.into_iter().collect();
    let course =
        Course { metric: &track.metric, points, levels: &[], changes: &changes, releases: &[] };
    plot::series(&course, &text::name(&track.key.id.to_string())).map_or_else(
        String::new,
        |figure| {
            let figure = figure.attr("xmlns", "http://www.w3.org/2000/svg");
            figure.child(element("style").literal(STYLE)).into_string() + "\n"
        },
    )
}
