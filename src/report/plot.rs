//! The pictures of the page: a few shapes of SVG of our own, the same bytes for the same row.
//!
//! ```text
//!   forest     one line a row: the interval of the change against the tolerance, worse to the right
//!              ░░░░░░│░░░░░░   ├──▶──┤
//!   launches   the scores of both sides in measured order │ and how they are distributed
//!              the change of each pair in measured order  │ and the estimate with its interval
//!   series     the scores of commits in order, their levels, changes and releases
//! ```
//!
//! Shapes take their colour from the style of the page, so that they follow its theme; a verdict has a shape of its
//! own, so that no colour is needed to tell it.

use super::element::{Element, element};
use super::text;
use crate::gate::{Row, Verdict};
use crate::history::Point;
use crate::model::{Better, Metric, Mode};

/// Half the width of a line of the forest.
const HALF: f64 = 160.0;

/// Height of a line of the forest.
const HEIGHT: f64 = 30.0;

/// Launches that are drawn and listed.
pub(super) const LAUNCHES: usize = 200;

/// How far the forest reaches to each side, as a fraction.
const REACHES: &[f64] =
    &[0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0];

/// The change of a row turned so that worse is more: `+0.3` is 30 % slower, or 30 % less throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    /// The estimate.
    pub(super) change: f64,
    /// The interval, where there is one.
    interval: Option<(f64, f64)>,
    /// The tolerance on both sides.
    tolerated: (f64, f64),
}

impl Span {
    /// The span of a row; `None` where the sides can't be compared.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let turned = |low: f64, high: f64| match row.metric.better {
            Better::Lower | Better::Unknown => (low - 1.0, high - 1.0),
            Better::Higher => (1.0 - high, 1.0 - low),
        };
        // From nothing to something is infinitely more.
        let ratio = row.ratio.or(match (row.baseline?, row.candidate?) {
            (0.0, 0.0) => Some(1.0),
            (0.0, candidate) if 0.0 < candidate => Some(f64::INFINITY),
            _ => None,
        });
        let ratio = ratio.filter(|ratio| !ratio.is_nan())?;
        Some(Span {
            change: turned(ratio, ratio).0,
            interval: row.ci.map(|(low, high)| turned(low, high)).filter(|(low, high)| low <= high),
            // The gate judges logarithms: what is tolerated upwards and downwards is one factor.
            tolerated: turned(1.0 / (1.0 + row.tolerance), 1.0 + row.tolerance),
        })
    }

    /// Width of the interval.
    pub(super) fn width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| high - low)
    }

    fn reach(&self) -> f64 {
        let (low, high) = self.interval.unwrap_or((self.change, self.change));
        let reach = [low, high, self.change, 2.0 * self.tolerated.1];
        reach.into_iter().map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
    }
}

/// How far a forest of rows reaches: a round fraction that holds everything, unless a few rows would press all
/// others together; those then stand at the edge.
pub(super) fn reach(rows: &[Row]) -> f64 {
    let mut reaches: Vec<f64> = rows.iter().filter_map(Span::of).map(|span| span.reach()).collect();
    reaches.sort_by(f64::total_cmp);
    let most = reaches.last().copied().unwrap_or(0.0);
    let common = reaches.get(reaches.len() * 9 / 10).copied().unwrap_or(0.0);
    let wanted = most.min(8.0 * common);
    let round = REACHES.iter().copied().find(|step| wanted <= *step);
    round.unwrap_or_else(|| *REACHES.last().expect("there are steps"))
}

/// The fractions that the axis can be set to, for a reader who wants to look closer.
pub(super) fn reaches() -> impl Iterator<Item = f64> {
    REACHES.iter().copied()
}

/// The shape that stands for a verdict, and how it is painted.
fn shape(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Regression => ("M-5 -6.5L7 0L-5 6.5Z", "solid"),
        Verdict::Improvement => ("M5 -6.5L-7 0L5 6.5Z", "solid"),
        Verdict::Unchanged => ("M-4.5 0A4.5 4.5 0 1 1 4.5 0A4.5 4.5 0 1 1 -4.5 0Z", "solid"),
        Verdict::Inconclusive => ("M0 -6L6 0L0 6L-6 0Z", "hollow"),
        Verdict::Failed => ("M-5 -5L5 5M-5 5L5 -5", "stroke"),
        Verdict::Removed => ("M-6 0H6", "stroke"),
        Verdict::Added => ("M-6 0H6M0 -6V6", "stroke"),
    }
}

/// The shape of a verdict by itself.
pub(super) fn mark(verdict: Verdict) -> Element {
    element("svg")
        .class("mark")
        .attr("viewBox", "-8 -8 16 16")
        .attr("aria-hidden", "true")
        .child(painted(verdict, ""))
}

fn painted(verdict: Verdict, class: &str) -> Element {
    let (path, paint) = shape(verdict);
    element("path").class(&format!("{class}{paint}")).attr("d", path)
}

/// Where a change lies on a line of the forest, from -160 to 160 and beyond.
pub(super) fn place(change: f64, reach: f64) -> String {
    // Far beyond the edge is as good as infinitely far, and keeps numbers short.
    num((change / reach * HALF).clamp(-99_999.0, 99_999.0))
}

/// One line of the forest. The row's text says the same, so readers of screens are spared the picture. The place of the
/// mark is a property of the row, `--x`, so that a script can zoom.
pub(super) fn forest(span: &Span, verdict: Verdict, reach: f64) -> Element {
    let place = |change| place(change, reach);
    let (low, high) = span.tolerated;
    let band = element("path")
        .class("band")
        .attr("d", format!("M{} -99H{}V199H{0}Z", place(low), place(high)));
    let interval = span.interval.map(|(low, high)| {
        element("path").class("interval").attr("d", format!("M{} 15H{}", place(low), place(high)))
    });
    element("svg")
        .attr("viewBox", format!("{} 0 {} {}", num(-HALF), num(2.0 * HALF), num(HEIGHT)))
        .attr("aria-hidden", "true")
        .child(element("g").child(band).children(interval))
        .child(element("path").class("zero").attr("d", "M0 -99V199"))
        .child(painted(verdict, "at "))
}

/// The axis of the forest: what lies on which side, and how far.
pub(super) fn axis(reach: f64, better: &str, worse: &str) -> Element {
    let ticks = [("start", -1.0), ("middle", -0.5), ("middle", 0.0), ("middle", 0.5), ("end", 1.0)];
    let ticks = ticks.map(|(anchor, at): (&str, f64)| {
        label(&format!("tick {anchor}"), at * HALF, 27.0, &text::share(reach * at.abs()))
            .attr("data-at", at)
    });
    element("svg")
        .attr("viewBox", format!("{} 0 {} 32", num(-HALF), num(2.0 * HALF)))
        .attr("role", "img")
        .attr("aria-label", format!("{better} to the left, {worse} to the right"))
        .child(label("end", -14.0, 12.0, &format!("← {better}")))
        .child(label("start", 14.0, 12.0, &format!("{worse} →")))
        .children(ticks)
}

// The figure of a row: two panels above each other, each with a narrow one beside it.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 516.0;
const SIDE: [f64; 2] = [590.0, 664.0];
const PANEL: f64 = 132.0;
const GAP: f64 = 54.0;
const TOP: f64 = 26.0;

/// The launches of a row in measured order, their distributions, and the change of each pair; `None` where there are
/// not two launches to show.
pub(super) fn launches(row: &Row, label: &str) -> Option<Element> {
    let scores = &row.scores;
    let count = scores.baseline.len().max(scores.candidate.len()).max(scores.pairs.len());
    if count < 2 {
        return None;
    }
    let count = count.min(LAUNCHES);
    let mut panels: Vec<Panel> = Vec::new();
    let quantity = |value: f64| text::quantity(&row.metric, value).to_string();
    let sides = [&scores.baseline, &scores.candidate].map(|side| &side[..side.len().min(count)]);
    if sides.iter().any(|side| !side.is_empty()) {
        let values = sides.iter().flat_map(|side| side.iter().copied());
        panels.extend(Panel::new("launch", values, TOP, &quantity));
    }
    let mut content = Vec::new();
    if let Some(panel) = panels.last() {
        content.extend(panel.frame(row, count));
        let named = [("baseline", row.baseline), ("candidate", row.candidate)];
        for ((side, disturbed), (class, middle)) in sides.iter().zip(&scores.disturbed).zip(named) {
            content.push(panel.course(class, side, disturbed, count));
            content.extend(panel.distribution(class, side, middle));
        }
    }
    let changes: Vec<f64> = scores.pairs.iter().take(count).map(|log| log.exp_m1()).collect();
    if !changes.is_empty() {
        let top = TOP + panels.len() as f64 * (PANEL + GAP);
        let (low, high) = (1.0 / (1.0 + row.tolerance) - 1.0, row.tolerance);
        let ends = row.ci.map_or([0.0; 2], |(low, high)| [low - 1.0, high - 1.0]);
        let values = changes.iter().copied().chain([low, high]).chain(ends);
        if let Some(panel) = Panel::new("pair", values, top, &text::percent) {
            content.push(panel.band(low, high));
            content.extend(panel.frame(row, count));
            content.push(panel.course("change", &changes, &[], count));
            content.extend(panel.estimate(row));
            panels.push(panel);
        }
    }
    let last = panels.last()?;
    let what = if changes.is_empty() {
        "the scores of both sides, and how they are distributed"
    } else {
        "the scores of both sides, how they are distributed, and the change of each pair"
    };
    let title = format!("Launches of {label} in measured order: {what}");
    let height = last.bottom() + 34.0;
    Some(
        element("svg")
            .class("figure")
            .attr("viewBox", format!("0 0 {} {}", num(WIDTH), num(height)))
            .attr("role", "img")
            .attr("aria-label", &title)
            .children(content),
    )
}

/// A plot of values over their order, and the room beside it, on one scale of values.
struct Panel<'a> {
    what: &'static str,
    top: f64,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    label: &'a dyn Fn(f64) -> String,
}

impl<'a> Panel<'a> {
    /// `None` where no value is finite.
    fn new(
        what: &'static str,
        values: impl Iterator<Item = f64>,
        top: f64,
        label: &'a dyn Fn(f64) -> String,
    ) -> Option<Self> {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return None;
        }
        // Equal values lie in the middle.
        let slack = if low < high { 0.06 * (high - low) } else { 0.01 * low.abs().max(1e-9) };
        let (low, high) = (low - slack, high + slack);
        (high - low).is_finite().then(|| Panel {
            what,
            top,
            low,
            high,
            ticks: ticks(low, high),
            label,
        })
    }

    fn bottom(&self) -> f64 {
        self.top + PANEL
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - (value - self.low) / (self.high - self.low) * PANEL
    }

    /// Lines at round values.
    fn grid(&self) -> Vec<Element> {
        let of = |&tick: &f64| {
            let y = self.y(tick);
            [
                line("grid", LEFT, y, WIDTH, y),
                label("end", LEFT - 8.0, y + 4.0, &(self.label)(tick)),
            ]
        };
        self.ticks.iter().flat_map(of).collect()
    }

    /// Axes with their labels, and a line at each look.
    fn frame(&self, row: &Row, count: usize) -> Vec<Element> {
        let mut parts = self.grid();
        let looks = &row.scores.looks;
        for look in looks.iter().filter_map(|look| usize::try_from(*look).ok()) {
            if (1..=count).contains(&look) {
                let x = at(look as f64, count);
                parts.push(line("look", x, self.top, x, self.bottom()));
                parts.push(label("middle", x, self.top - 6.0, "look"));
            }
        }
        let step = count.div_ceil(10);
        for number in (1..=count).filter(|number| (number % step == 0) || *number == 1) {
            let x = at(number as f64 - 0.5, count);
            parts.push(label("middle", x, self.bottom() + 16.0, &number.to_string()));
        }
        parts.push(label("end", LEFT - 8.0, self.bottom() + 16.0, self.what));
        parts.push(line("base", LEFT, self.bottom(), RIGHT, self.bottom()));
        parts.push(line("base", SIDE[0] - 36.0, self.bottom(), WIDTH, self.bottom()));
        parts
    }

    /// What is tolerated.
    fn band(&self, low: f64, high: f64) -> Element {
        element("rect")
            .class("band")
            .attr("x", num(LEFT))
            .attr("y", num(self.y(high)))
            .attr("width", num(WIDTH - LEFT))
            .attr("height", num(self.y(low) - self.y(high)))
    }

    /// Values in their order, a dot for each, and a triangle for a launch that was disturbed.
    fn course(&self, class: &str, values: &[f64], disturbed: &[usize], count: usize) -> Element {
        let dots = values.iter().enumerate().filter(|(_, value)| value.is_finite());
        element("g").class(class).children(dots.map(|(index, value)| {
            let (x, y) = (at(index as f64 + 0.5, count), self.y(*value));
            if disturbed.contains(&index) { triangle(x, y) } else { dot(class, x, y) }
        }))
    }

    /// How the values of a side are distributed: dots that would cover each other stand side by side, and a line at
    /// their middle.
    fn distribution(&self, class: &str, values: &[f64], middle: Option<f64>) -> Vec<Element> {
        const DOT: f64 = 6.0;
        let center = SIDE[usize::from(class == "candidate")];
        let mut heights: Vec<f64> =
            values.iter().filter(|value| value.is_finite()).map(|value| self.y(*value)).collect();
        heights.sort_by(f64::total_cmp);
        let mut dots = Vec::new();
        let mut rest = heights.as_slice();
        while let Some(first) = rest.first() {
            let near = rest.partition_point(|y| *y < first + DOT);
            let pitch = (60.0 / near as f64).min(DOT + 1.0);
            for (index, y) in rest[..near].iter().enumerate() {
                let x = center + (index as f64 - (near as f64 - 1.0) / 2.0) * pitch;
                dots.push(dot(class, x, *y));
            }
            rest = &rest[near..];
        }
        let middle = middle.filter(|middle| (self.low..=self.high).contains(middle));
        let middle = middle.map(|middle| {
            line("median", center - 34.0, self.y(middle), center + 34.0, self.y(middle))
        });
        let group = element("g").class(class).children(dots).children(middle);
        vec![group, label("middle", center, self.bottom() + 16.0, class)]
    }

    /// The estimated change with its interval.
    fn estimate(&self, row: &Row) -> Vec<Element> {
        let Some(ratio) = row.ratio.filter(|ratio| ratio.is_finite()) else { return Vec::new() };
        let x = f64::midpoint(SIDE[0], SIDE[1]);
        let inside = |value: f64| self.y(value.clamp(self.low, self.high));
        let interval =
            row.ci.map(|(low, high)| line("interval", x, inside(low - 1.0), x, inside(high - 1.0)));
        let mark = painted(row.verdict, "mark ").attr(
            "transform",
            format!("translate({} {}) scale(.8)", num(x), num(inside(ratio - 1.0))),
        );
        let name = label("middle", x, self.bottom() + 16.0, "estimate");
        interval.into_iter().chain([mark, name]).collect()
    }
}

/// A series over commits as it is drawn.
pub(super) struct Course<'a> {
    /// What was measured.
    pub(super) metric: &'a Metric,
    /// One point a commit.
    pub(super) points: &'a [Point],
    /// Levels: the first point and the one behind the last, and the value.
    pub(super) levels: &'a [(usize, usize, f64)],
    /// The first and the last commit of each change, places in the timeline.
    pub(super) changes: &'a [(usize, usize)],
    /// Commits with a name: releases.
    pub(super) releases: &'a [(usize, &'a str)],
}

/// The points of a series in order, its levels, where it changed, and releases; `None` where nothing can be drawn.
pub(super) fn series(course: &Course<'_>, name: &str) -> Option<Element> {
    let Course { metric, points, levels, changes, releases } = course;
    let quantity = |value: f64| text::quantity(metric, value).to_string();
    let panel = Panel::new("run", points.iter().map(|point| point.value), TOP, &quantity)?;
    let step = (WIDTH - LEFT) / points.len() as f64;
    let x = |index: usize| LEFT + step * (index as f64 + 0.5);
    let place = |commit: usize| points.partition_point(|point| point.commit < commit);
    let mut content = panel.grid();
    for &(first, last) in *changes {
        let (first, last) = (place(first), place(last + 1));
        if first < last {
            let shade = element("rect").class("changed").attr("x", num(x(first) - 0.5 * step));
            content.push(
                shade
                    .attr("y", num(TOP))
                    .attr("width", num(step * (last - first) as f64))
                    .attr("height", num(PANEL)),
            );
        }
    }
    for &(commit, name) in *releases {
        let at = place(commit);
        if points.get(at).is_some_and(|point| point.commit == commit) {
            content.push(line("release", x(at), TOP, x(at), panel.bottom()));
            content.push(label("middle", x(at), TOP - 6.0, &text::middle(name, 20)));
        }
    }
    let dots = points.iter().enumerate().map(|(at, point)| dot("", x(at), panel.y(point.value)));
    content.push(element("g").class("course").children(dots));
    for &(begin, end, value) in *levels {
        let y = panel.y(value);
        content.push(line("median", x(begin) - 0.5 * step, y, x(end - 1) + 0.5 * step, y));
    }
    content.push(line("base", LEFT, panel.bottom(), WIDTH, panel.bottom()));
    let newest = points.last()?;
    let told = format!(
        "{name} over {}, newest {}",
        text::plural(points.len(), "commit", "commits"),
        quantity(newest.value)
    );
    Some(
        element("svg")
            .class("figure")
            .attr("viewBox", format!("0 0 {} {}", num(WIDTH), num(panel.bottom() + 12.0)))
            .attr("role", "img")
            .attr("aria-label", told)
            .children(content),
    )
}

/// A series as a line so small that it fits into a row; its text says the same.
pub(super) fn spark(points: &[Point]) -> Element {
    let values = || points.iter().map(|point| point.value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let span = if low < high { high - low } else { 1.0 };
    let step = 2.0 * HALF / points.len().saturating_sub(1).max(1) as f64;
    let places: Vec<String> = values()
        .enumerate()
        .map(|(at, value)| {
            format!("{} {}", num(step * at as f64), num(26.0 - 22.0 * (value - low) / span))
        })
        .collect();
    element("svg")
        .attr("viewBox", format!("0 0 {} {}", num(2.0 * HALF), num(HEIGHT)))
        .attr("aria-hidden", "true")
        .child(element("path").class("spark").attr("d", format!("M{}", places.join("L"))))
}

/// Where so many launches end; the middle of the first one is at a half.
fn at(launches: f64, count: usize) -> f64 {
    LEFT + launches / count as f64 * (RIGHT - LEFT)
}

/// Round numbers between two others, about four of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 4.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| rough <= *step);
    let step = step.expect("ten times its power of ten is more than any number");
    let first = (low / step).ceil();
    // An absurd scale, where neighbours are equal, has no ticks.
    (0..=8)
        .map(|n| (first + f64::from(n)) * step)
        .take_while(|tick| *tick <= high)
        .filter(|tick| tick.is_finite())
        .collect()
}

fn dot(class: &str, x: f64, y: f64) -> Element {
    if class == "candidate" {
        // Sides differ by shape too.
        return element("path").attr("d", format!("M{} {}h6v6h-6Z", num(x - 3.0), num(y - 3.0)));
    }
    element("circle").attr("cx", num(x)).attr("cy", num(y)).attr("r", "3.2")
}

fn triangle(x: f64, y: f64) -> Element {
    element("path").attr("d", format!("M{} {}l5 9h-10Z", num(x), num(y - 5.5)))
}

fn line(class: &str, x1: f64, y1: f64, x2: f64, y2: f64) -> Element {
    let path = format!("M{} {}L{} {}", num(x1), num(y1), num(x2), num(y2));
    element("path").class(class).attr("d", path)
}

fn label(anchor: &str, x: f64, y: f64, text: &str) -> Element {
    element("text").class(anchor).attr("x", num(x)).attr("y", num(y)).text(text)
}

/// A length of a picture: a tenth is finer than anybody sees.
fn num(length: f64) -> String {
    let text = format!("{length:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.to_owned() }
}

/// What the panels of [`launches`] show, in words for below the picture.
pub(super) fn caption(row: &Row) -> String {
    let scores = &row.scores;
    let count = scores.baseline.len().max(scores.candidate.len()).max(scores.pairs.len());
    let mut caption = String::from(match (row.mode, scores.baseline.is_empty()) {
        (_, true) => "The change of each pair in measured order.",
        (Mode::Paired, _) => {
            "Above: the launches of both sides in measured order, and how they are distributed; a line is the median. \
             Below: the change of each pair, and the estimate with its interval. The band is the tolerance."
        }
        (Mode::Stored, _) => {
            "The launches of both sides in measured order, and how they are distributed; a line is the median. The sides \
             were measured apart."
        }
    });
    if scores.disturbed.iter().flatten().any(|index| *index < LAUNCHES) {
        caption
            .push_str(" A triangle is a launch that waited for a CPU which something else used.");
    }
    if count > LAUNCHES {
        caption.push_str(&format!(" The first {LAUNCHES} of {count} are shown."));
    }
    caption
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let check = |length: f64, expected: &str| assert_eq!(num(length), expected);
        check(1.0, "1");
        check(-0.01, "0");
        check(1.26, "1.3");
        check(-12.5, "-12.5");
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let check = |low: f64, high: f64, expected: &str| {
            let ticks: Vec<String> =
                ticks(low, high).iter().map(|tick| format!("{tick:.2}")).collect();
            assert_eq!(ticks.join(" "), expected);
        };
        check(0.0, 10.0, "0.00 5.00 10.00");
        check(11.9, 12.7, "12.00 12.20 12.40 12.60");
        check(-0.03, 0.11, "0.00 0.05 0.10");
    }
}
