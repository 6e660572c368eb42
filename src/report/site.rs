//! The site of a project: what its history says, as pages that link to each other and need nothing from elsewhere.
//!
//! ```text
//!   index.html                   the answer, open alerts, every series, releases, what was accepted, runners
//!   benchmarks/<name>-<hash>.html  one benchmark: its series with levels, alerts and releases, and every point
//!   benchmarks/<name>-<hash>.svg   its badge
//!   badge.svg                    the badge of the whole
//!   feed.xml                     alerts, the newest first (Atom)
//! ```
//!
//! Equal history gives equal bytes: no page says when it was written.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::element::{Element, element};
use super::html::{answer, document, tools};
use super::plot::{self, Course};
use super::text;
use super::watch::{asides, between, commit, in_short, member_line, watch_headline};
use crate::gate::Accepted;
use crate::history::{Alert, Findings, Point, Status, Stretch, Timeline, Track};
use crate::model::BenchmarkId;

/// Alerts in the feed, and benchmarks that an alert lists.
const FEED: usize = 50;
const FEW: usize = 12;

/// What a site tells of.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// What the project is called.
    pub project: &'a str,
    /// Its history.
    pub timeline: &'a Timeline,
    /// When each commit was made (RFC 3339), where known.
    pub times: &'a [Option<String>],
    /// What moved in it.
    pub findings: &'a Findings,
    /// The levels of each series.
    pub stretches: &'a [Vec<Stretch>],
    /// Its stored baselines.
    pub releases: &'a [Release],
    /// What it has agreed to.
    pub accepted: &'a Accepted,
    /// Where the site will be found, with a slash at its end: the feed needs whole addresses.
    pub url: &'a str,
}

/// A stored baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its name.
    pub label: String,
    /// The runner class that it speaks for.
    pub class: String,
    /// The commit that was measured.
    pub commit: String,
    /// The day on which it was measured, where it says so.
    pub day: Option<String>,
    /// How many metrics of benchmarks it holds.
    pub series: usize,
    /// Whether it is the one that `check` compares with.
    pub current: bool,
}

/// The files of the site, by path.
pub fn site(site: &Site<'_>) -> BTreeMap<String, String> {
    let looks: Vec<Look<'_>> =
        (0..site.timeline.series.len()).map(|track| Look::of(site, track)).collect();
    let mut files = BTreeMap::new();
    files.insert("index.html".to_owned(), index(site, &looks));
    files.insert("feed.xml".to_owned(), feed(site));
    files.insert("badge.svg".to_owned(), badge(site.project, whole(site)));
    for of_one in looks.chunk_by(|a, b| a.track.key.id == b.track.key.id) {
        let id = &of_one[0].track.key.id;
        let path = path(id);
        let worst = of_one.iter().map(|look| look.mood).max().unwrap_or(Mood::Steady);
        files.insert(format!("{path}.html"), page(site, id, of_one));
        files.insert(format!("{path}.svg"), badge(&id.to_string(), worst));
    }
    files
}

/// Where the page of a benchmark lies, without its ending: readable, and another one for each.
fn path(id: &BenchmarkId) -> String {
    let name = id.to_string();
    let mut readable = String::new();
    for c in name.chars().take(60) {
        match c {
            c if c.is_ascii_alphanumeric() => readable.push(c.to_ascii_lowercase()),
            _ if readable.ends_with('-') => {}
            _ => readable.push('-'),
        }
    }
    let hash: String =
        Sha256::digest(&name).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("benchmarks/{}-{hash}", readable.trim_matches('-'))
}

/// How a series stands, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mood {
    Steady,
    Faster,
    Known,
    Suspect,
    Slower,
}

impl Mood {
    fn of(alerts: &[&Alert], faster: bool) -> Self {
        let worst = alerts.iter().map(|alert| match alert.status {
            Status::Open => Mood::Slower,
            Status::Suspect => Mood::Suspect,
            Status::Acknowledged => Mood::Known,
            Status::Refuted | Status::WentAway => Mood::Steady,
        });
        worst.max().unwrap_or(Mood::Steady).max(if faster { Mood::Faster } else { Mood::Steady })
    }

    fn word(self) -> &'static str {
        match self {
            Mood::Steady => "steady",
            Mood::Faster => "better",
            Mood::Known => "known",
            Mood::Suspect => "suspect",
            Mood::Slower => "worse",
        }
    }

    /// The verdict whose shape and colour stand for it.
    fn class(self) -> &'static str {
        match self {
            Mood::Steady => "unchanged",
            Mood::Faster => "improvement",
            Mood::Known | Mood::Suspect => "inconclusive",
            Mood::Slower => "regression",
        }
    }

    /// How its answer is painted.
    fn paint(self) -> &'static str {
        match self {
            Mood::Steady | Mood::Faster => "answer good",
            Mood::Known | Mood::Suspect => "answer warn",
            Mood::Slower => "answer bad",
        }
    }
}

/// What is to be seen of one series.
struct Look<'a> {
    track: &'a Track,
    /// The levels that are shown, oldest first; never empty.
    stretches: &'a [Stretch],
    /// What was told of it, and is not over.
    alerts: Vec<&'a Alert>,
    mood: Mood,
}

impl<'a> Look<'a> {
    /// Of the series at a place of the timeline.
    fn of(site: &Site<'a>, at: usize) -> Self {
        let about = |alerts: &'a [Alert]| {
            let of_track = |alert: &&Alert| {
                alert.status != Status::WentAway && alert.members.iter().any(|m| m.track == at)
            };
            alerts.iter().filter(of_track).collect::<Vec<&Alert>>()
        };
        let (worse, better) = (about(&site.findings.alerts), about(&site.findings.faster));
        let mood = Mood::of(&worse, !better.is_empty());
        let alerts = worse.into_iter().chain(better).collect();
        let (track, stretches) = (&site.timeline.series[at], site.stretches[at].as_slice());
        Look { track, stretches, alerts, mood }
    }

    /// Place of the first point that is shown.
    fn from(&self) -> usize {
        self.stretches.first().map_or(0, |first| first.points.start)
    }

    fn points(&self) -> &'a [Point] {
        &self.track.points[self.from()..]
    }

    fn newest(&self) -> &'a Point {
        self.track.points.last().expect("a series has a point")
    }

    /// The newest level against the oldest one that is shown: the change of the quantity, and how much worse it is.
    fn change(&self) -> Option<(f64, f64)> {
        let [first, .., last] = self.stretches else { return None };
        Some((last.value / first.value - 1.0, (last.y - first.y).exp_m1()))
    }

    /// Metric, where it is no time, and what else tells it from its neighbours.
    fn label(&self) -> String {
        let name = text::uncut(&self.track.key.id.to_string());
        match self.track.metric.name.as_str() {
            "time" => name,
            metric => format!("{name} {}", text::visible(metric)),
        }
    }

    fn quantity(&self, value: f64) -> String {
        text::quantity(&self.track.metric, value).to_string()
    }

    fn figure(&self, site: &Site<'_>) -> Option<Element> {
        let changes: Vec<(usize, usize)> = self.alerts.iter().map(|alert| alert.range).collect();
        let place = |id: &str| site.timeline.commits.iter().position(|commit| commit.id == id);
        let releases: Vec<(usize, &str)> = site
            .releases
            .iter()
            .filter_map(|release| Some((place(&release.commit)?, release.label.as_str())))
            .collect();
        let from = self.from();
        let levels: Vec<(usize, usize, f64)> = self
            .stretches
            .iter()
            .map(|Stretch { points, value, .. }| (points.start - from, points.end - from, *value))
            .collect();
        let course = Course {
            metric: &self.track.metric,
            points: self.points(),
            levels: &levels,
            changes: &changes,
            releases: &releases,
        };
        plot::series(&course, &self.label())
            .map(|figure| element("figure").class(self.mood.class()).child(figure))
    }
}

fn whole(site: &Site<'_>) -> Mood {
    Mood::of(&site.findings.alerts.iter().collect::<Vec<_>>(), false)
}

fn index(site: &Site<'_>, looks: &[Look<'_>]) -> String {
    let headline = watch_headline(site.findings, site.timeline);
    let last = site.timeline.commits.len().saturating_sub(1);
    let on = day(site, last).map_or_else(String::new, |day| format!(" of {day}"));
    let newest = format!(", newest {}{on}", commit(site.timeline, last));
    let sides = element("p")
        .class("sides")
        .child(element("span").child(element("b").text(text::name(site.project))).text(format!(
            " {}{newest}",
            text::plural(site.timeline.commits.len(), "commit", "commits")
        )))
        .child(element("a").attr("href", "feed.xml").text("feed of alerts"))
        .child(element("a").attr("href", "badge.svg").text("badge"));
    let banner =
        element("header").class("banner").lines([sides, answer(whole(site).paint(), &headline)]);
    let mut main = Vec::new();
    main.extend(alerts(site, looks));
    main.push(series(looks));
    main.extend(releases(site));
    main.extend(accepted(site));
    main.push(runners(site));
    let title = format!("{}: {}", text::name(site.project), headline.answer);
    document(
        &text::middle(&title, 120),
        [
            element("a").class("skip").attr("href", "#benchmarks").text("To the benchmarks"),
            banner,
            element("main").attr("id", "main").lines(main),
        ],
    )
}

/// The day on which a commit was made, where it is known.
fn day(site: &Site<'_>, commit: usize) -> Option<String> {
    Some(site.times.get(commit)?.as_ref()?.get(..10)?.to_owned())
}

/// What an alert is called within a page.
fn anchor(alert: &Alert) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("alert-{}", alert.id.chars().map(safe).collect::<String>())
}

fn section(id: &'static str, title: &str, parts: impl IntoIterator<Item = Element>) -> Element {
    let heading = element("h2").attr("id", id).text(title);
    element("section").attr("aria-labelledby", id).lines([heading].into_iter().chain(parts))
}

/// What moved and is not over, and what else was seen.
fn alerts(site: &Site<'_>, looks: &[Look<'_>]) -> Option<Element> {
    let Site { timeline, findings, .. } = *site;
    let told = findings.alerts.iter().map(|alert| (alert, alert.status.name()));
    let told = told.chain(findings.faster.iter().map(|alert| (alert, "better")));
    let mut parts: Vec<Element> = told
        .filter(|(alert, _)| alert.status != Status::WentAway)
        .map(|(alert, status)| {
            let mood = if status == "better" { Mood::Faster } else { Mood::of(&[alert], false) };
            let title = format!("{status}: {}, {}", alert.kind.name(), between(alert, timeline));
            let members = alert.members.iter().take(FEW).map(|member| {
                let track = &timeline.series[member.track];
                let href = format!("{}.html", path(&track.key.id));
                element("li").child(
                    element("a")
                        .attr("href", href)
                        .text(member_line(member, track).replace("->", "→")),
                )
            });
            let more = alert.members.len().saturating_sub(FEW);
            let more = (0 < more).then(|| element("li").text(format!("and {more} more")));
            let figure = looks.get(alert.members[0].track).and_then(|look| look.figure(site));
            element("article")
                .class(&format!("alert {}", mood.class()))
                .attr(
                    "id",
                    if mood == Mood::Faster { "better-" } else { "" }.to_owned() + &anchor(alert),
                )
                .child(element("h3").text(title))
                .child(element("p").text(text::sentence(&alert.reason)))
                .child(element("ul").children(members).children(more))
                .children(figure)
        })
        .collect();
    let seen = asides(findings, timeline);
    let notices =
        findings.notices.iter().map(|notice| format!("{}; {}", notice.seen, notice.advice));
    let seen: Vec<Element> = seen
        .into_iter()
        .chain(notices)
        .map(|line| element("li").prose(text::sentence(&line)))
        .collect();
    if !seen.is_empty() {
        parts.push(element("ul").class("told notices").lines(seen));
    }
    (!parts.is_empty()).then(|| section("alerts", "What moved", parts))
}

/// Every series, the worst first.
fn series(looks: &[Look<'_>]) -> Element {
    let mut ordered: Vec<&Look<'_>> = looks.iter().collect();
    ordered.sort_by_key(|look| Reverse(look.mood));
    let ids: Vec<(String, String)> =
        ordered.iter().map(|look| (look.label(), String::new())).collect();
    let names = text::shorten(&ids, text::NAME_LIMIT).into_iter().zip(&ids);
    let rows = ordered.iter().zip(names).map(|(look, (short, (whole, _)))| {
        let span = |class: &str, text: String| element("span").class(class).text(text);
        let change = look.change();
        let newest = look.newest();
        let item = element("li").class(look.mood.class());
        let item = match change {
            Some((_, worse)) => {
                item.attr("style", format!("--x:{:.1}", 100.0 * worse.clamp(-99.0, 99.0)))
            }
            None => item,
        };
        item.child(
            element("a")
                .class("line")
                .attr("href", format!("{}.html", path(&look.track.key.id)))
                .child(element("span").class("verdict").text(look.mood.word()))
                .child(element("h3").class("name").text(short.unwrap_or_else(|| whole.clone())))
                .child(element("span").class("plot").child(plot::spark(look.points())))
                .child(span(
                    "change",
                    change.map_or_else(String::new, |(change, _)| text::percent(change)),
                ))
                .child(span("range", text::middle(&text::name(&look.track.key.class), 22)))
                .child(span("values", look.quantity(newest.value))),
        )
    });
    let rows = element("ol")
        .class("rows")
        .attr("id", "rows")
        .attr("aria-labelledby", "benchmarks")
        .lines(rows);
    let heads = ["now", "benchmark", "newest runs"].map(|head| element("span").text(head));
    let numbers = [("change", "change"), ("range", "runner"), ("values", "newest")];
    let numbers = numbers.map(|(class, head)| element("span").class(class).text(head));
    let head = element("div").class("line axis").children(heads).children(numbers);
    let orders = [
        ("verdict", "worst first"),
        ("worse", "worst change first"),
        ("better", "best change first"),
        ("name", "by name"),
    ];
    section("benchmarks", "Benchmarks", [tools(&orders, None), head, rows])
}

/// A table with a heading for each column; the first cell of a row heads it.
fn table(heads: &[&str], rows: Vec<Vec<Element>>) -> Element {
    let heads = heads.iter().map(|head| element("th").attr("scope", "col").text(head));
    let rows = rows.into_iter().map(|cells| element("tr").children(cells));
    element("div").class("scroll").child(
        element("table")
            .class("words")
            .child(element("thead").child(element("tr").children(heads)))
            .child(element("tbody").lines(rows)),
    )
}

fn head(text: impl AsRef<str>) -> Element {
    element("th").attr("scope", "row").text(text)
}

fn cell(text: impl AsRef<str>) -> Element {
    element("td").text(text)
}

fn releases(site: &Site<'_>) -> Option<Element> {
    let rows: Vec<Vec<Element>> = site
        .releases
        .iter()
        .map(|release| {
            vec![
                head(text::name(&release.label)),
                cell(text::name(&release.class)),
                cell(text::name(release.commit.get(..7).unwrap_or(&release.commit))),
                cell(release.day.as_deref().unwrap_or_default()),
                cell(release.series.to_string()),
                cell(if release.current { "current" } else { "" }),
            ]
        })
        .collect();
    let heads = ["release", "runner class", "commit", "measured", "metrics", ""];
    (!rows.is_empty()).then(|| section("releases", "Stored baselines", [table(&heads, rows)]))
}

fn accepted(site: &Site<'_>) -> Option<Element> {
    let rows: Vec<Vec<Element>> = site
        .accepted
        .records
        .iter()
        .map(|record| {
            let until = match (&record.until, site.accepted.has_ended(record)) {
                (None, _) => "for good".into(),
                (Some(until), true) => format!("ended with {until}"),
                (Some(until), false) => until.to_string(),
            };
            vec![
                head(text::uncut(&record.benchmark)),
                cell(text::visible(&record.metric)),
                cell(format!("+{}", text::share(record.ceiling))),
                cell(text::sentence(&record.reason)),
                cell(until),
            ]
        })
        .collect();
    let heads = ["benchmark", "metric", "up to", "why", "until"];
    (!rows.is_empty()).then(|| section("accepted", "Accepted slowdowns", [table(&heads, rows)]))
}

fn runners(site: &Site<'_>) -> Element {
    let classes = site.timeline.classes.iter().map(|(class, environment)| {
        let facts = environment.hard.iter().chain(&environment.soft).flat_map(|(fact, value)| {
            [element("dt").text(text::name(fact)), element("dd").text(text::fact(value))]
        });
        element("details")
            .child(element("summary").text(text::name(class)))
            .child(element("dl").class("facts").lines(facts))
    });
    section("runners", "Runners", classes)
}

/// The page of one benchmark.
fn page(site: &Site<'_>, id: &BenchmarkId, looks: &[Look<'_>]) -> String {
    let name = text::uncut(&id.to_string());
    let mood = looks.iter().map(|look| look.mood).max().unwrap_or(Mood::Steady);
    let badge = path(id).replacen("benchmarks/", "", 1) + ".svg";
    let sides = element("p")
        .class("sides")
        .child(element("a").attr("href", "../index.html").text(text::name(site.project)))
        .child(element("a").attr("href", badge).text("badge"));
    let title = element("h1")
        .child(element("span").class("outcome").text(mood.word()))
        .text(format!(": {name}"));
    let banner = element("header")
        .class("banner")
        .lines([sides, element("div").class(mood.paint()).child(title)]);
    let shown = id.to_string();
    let agreed =
        site.accepted.records.iter().filter(|record| record.benchmark == shown).map(|record| {
            let reason = text::sentence(&record.reason);
            element("p")
                .class("told")
                .text(format!("Accepted up to +{}: {reason}", text::share(record.ceiling)))
        });
    let main = element("main")
        .attr("id", "main")
        .lines(agreed)
        .lines(looks.iter().enumerate().map(|(at, look)| depth(site, look, at)));
    document(&text::middle(&format!("{name}: {}", text::name(site.project)), 120), [banner, main])
}

/// One series in depth.
fn depth(site: &Site<'_>, look: &Look<'_>, at: usize) -> Element {
    let Site { timeline, .. } = *site;
    let key = &look.track.key;
    let id = format!("series-{at}");
    let title = format!("{} on {}", text::visible(&look.track.metric.name), text::name(&key.class));
    let newest = look.newest();
    let mut facts = vec![
        (
            "newest",
            format!("{} at {}", look.quantity(newest.value), commit(timeline, newest.commit)),
        ),
        ("launched", key.experiment.to_string()),
        ("runs", text::plural(look.track.points.len(), "commit", "commits")),
    ];
    if let Some((change, _)) = look.change() {
        facts.push(("change", format!("{} over the runs that are shown", text::percent(change))));
    }
    for alert in &look.alerts {
        facts.push((
            alert.kind.name(),
            format!("{}, {}", alert.status.name(), between(alert, timeline)),
        ));
    }
    let facts = facts
        .into_iter()
        .flat_map(|(name, value)| [element("dt").text(name), element("dd").text(value)]);
    let rows = look.points().iter().rev().map(|point| {
        vec![
            head(commit(timeline, point.commit)),
            cell(day(site, point.commit).unwrap_or_default()),
            cell(look.quantity(point.value)),
            cell(point.runs.to_string()),
        ]
    });
    let numbers = element("details")
        .child(element("summary").text("Every point"))
        .child(table(&["commit", "day", look.track.metric.unit.as_str(), "runs"], rows.collect()));
    element("section").attr("aria-labelledby", &id).lines(
        [element("h2").attr("id", &id).text(title)].into_iter().chain(look.figure(site)).chain([
            element("p").class("told").text(CAPTION),
            element("dl").class("facts").lines(facts),
            numbers,
        ]),
    )
}

const CAPTION: &str = "Each dot is a commit, a line is a level, and what is shaded is where an alert lies; a dashed line is a \
    stored baseline.";

/// Alerts that are not over, the newest first.
fn feed(site: &Site<'_>) -> String {
    let Site { timeline, .. } = *site;
    let mut told: Vec<&Alert> =
        site.findings.alerts.iter().filter(|alert| alert.status != Status::WentAway).collect();
    told.sort_by(|a, b| b.range.1.cmp(&a.range.1).then_with(|| a.id.cmp(&b.id)));
    let text_of = |name: &'static str, text: &str| element(name).text(text);
    let link = |to: &str| element("link").attr("href", format!("{}{to}", site.url));
    // Nobody knows when a commit without a time was made; a feed must say something.
    let when = |place: usize| {
        let time = site.times.get(place).and_then(Option::as_deref);
        time.unwrap_or("1970-01-01T00:00:00Z").to_owned()
    };
    let entries = told.iter().take(FEED).map(|alert| {
        let title = format!("{}: {}", alert.status.name(), in_short(alert, timeline));
        let members = alert.members.iter().take(FEW);
        let lines = members.map(|member| member_line(member, &timeline.series[member.track]));
        let content: Vec<String> =
            [text::sentence(&alert.reason)].into_iter().chain(lines).collect();
        element("entry").lines([
            text_of("title", &title),
            text_of("id", &urn(&[site.project, &alert.class, &alert.id])),
            text_of("updated", &when(alert.range.1)),
            link(&format!("index.html#{}", anchor(alert))),
            element("content").attr("type", "text").text(content.join("\n")),
        ])
    });
    let head = [
        text_of("title", &format!("{}: slowdowns", text::name(site.project))),
        text_of("id", &urn(&[site.project])),
        text_of("updated", &when(timeline.commits.len().saturating_sub(1))),
        element("author").child(text_of("name", "pacegate")),
        link("index.html"),
        link("feed.xml").attr("rel", "self"),
    ];
    let feed = element("feed")
        .attr("xmlns", "http://www.w3.org/2005/Atom")
        .lines(head.into_iter().chain(entries));
    format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{}\n", feed.into_string())
}

/// A name for good, made of what it names (a UUID of version 8, RFC 9562).
fn urn(parts: &[&str]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(parts.join("\n"))[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    format!("urn:uuid:{a}-{b}-{c}-{d}-{e}")
}

/// A picture of a name and how it stands, for a README.
fn badge(name: &str, mood: Mood) -> String {
    let name = text::middle(&text::name(name), 60);
    let colour = match mood {
        Mood::Steady | Mood::Faster => "#0a6b4c",
        Mood::Known | Mood::Suspect => "#845400",
        Mood::Slower => "#b23a00",
    };
    // Browsers fit each text into its length, whatever their font.
    let width = |text: &str| 7 * text::width(text) + 12;
    let (left, right) = (width(&name), width(mood.word()));
    let part = |x: usize, width: usize, fill: &str, text: &str| {
        let rect =
            element("rect").attr("x", x).attr("width", width).attr("height", 20).attr("fill", fill);
        let text = element("text")
            .attr("x", x + 6)
            .attr("y", 14)
            .attr("textLength", width - 12)
            .attr("fill", "#fff")
            .text(text);
        [rect, text]
    };
    let svg = element("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("width", left + right)
        .attr("height", 20)
        .attr("role", "img")
        .attr("aria-label", format!("{name}: {}", mood.word()))
        .attr("font-family", "Verdana, DejaVu Sans, sans-serif")
        .attr("font-size", 11)
        .children(part(0, left, "#3a444e", &name))
        .children(part(left, right, colour, mood.word()));
    svg.into_string() + "\n"
}
