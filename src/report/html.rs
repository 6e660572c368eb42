//! The page with pictures: one file that asks nobody for anything.
//!
//! ```text
//! FAIL  1 of 24 benchmarks is slower than its tolerance: …    the answer, and what to do
//! ▶ regression 1   ◇ inconclusive 2   ● unchanged 21           counts by verdict; each can be folded away
//!                      faster        0        slower
//! ▶ regression  read     ░░░░░░░░░░░░│░░░░░░░░░░░░ ├─▶─┤       the forest, worst first; a row unfolds into launches,
//! ● unchanged   write    ░░░░░░░░░░├─●──┤░░░░░░░░░             distributions, the test in words, and how to repeat it
//! notices, circumstances, environment
//! ```
//!
//! The page is whole without its script, which only searches, orders and zooms. Its policy on content lets in that one
//! script and nothing from elsewhere. Rows are laid out when they come into view, so that thousands stay usable.

use std::collections::BTreeSet;

use super::element::{Element, element};
use super::explain::{again, facts};
use super::plot::{self, Span};
use super::prose::{self, Page};
use super::{Headline, Report, Side, text};
use crate::gate::{Outcome, Row, Verdict};
use crate::model::{Metric, Reference, Unit};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the page may do: its own style, this one script, and nothing else. A test computes the hash.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; script-src 'sha256-mMAV/mexB+hYTANS3+qiA9yzYsNpRLn07pw57s/oGvM='";

/// Orders of the rows.
const ORDERS: &[(&str, &str)] = &[
    ("verdict", "worst verdict first"),
    ("worse", "worst change first"),
    ("better", "best change first"),
    ("noise", "widest interval first"),
    ("name", "by name"),
];

/// Rows with all that is known of them, worst first; the others are a line each.
const DETAILED: usize = 300;

/// Names stand in code, which a backtick would end.
const HTML: Page = Page {
    name: |name| format!("`{}`", text::name(name).replace('`', "\\u{60}")),
    sentence: |sentence| {
        let sentence = text::sentence(sentence);
        if sentence.matches('`').count().is_multiple_of(2) {
            sentence
        } else {
            sentence.replace('`', "'")
        }
    },
};

/// Renders the page.
pub fn html(report: &Report) -> String {
    let answer = report.headline().answer;
    let mut main = vec![benchmarks(report)];
    main.extend(notices(report));
    main.extend(circumstances(report));
    let main = element("main").attr("id", "main").lines(main);
    let size = text::quantity(&bytes(), main.len() as f64);
    let about = format!(
        "Written by pacegate {}: {} in about {size}, which need nothing from elsewhere.",
        env!("CARGO_PKG_VERSION"),
        text::plural(report.rows.len(), "row", "rows"),
    );
    document(
        &text::middle(&answer, 120),
        [
            element("a").class("skip").attr("href", "#main").text("To the benchmarks"),
            banner(report),
            main,
            element("footer").text(about),
        ],
    )
}

/// A whole page with the style and the script that all pages share.
pub(super) fn document(title: &str, parts: impl IntoIterator<Item = Element>) -> String {
    let head = element("head").lines([
        element("meta").attr("charset", "utf-8"),
        element("meta")
            .attr("http-equiv", "Content-Security-Policy")
            .attr("content", CONTENT_POLICY),
        element("meta")
            .attr("name", "viewport")
            .attr("content", "width=device-width, initial-scale=1"),
        element("title").text(title),
        element("link").attr("rel", "icon").attr("href", "data:,"),
        element("style").literal(STYLE),
    ]);
    let script = element("script").literal(SCRIPT);
    let body = element("body").lines(parts.into_iter().chain([script]));
    let page = element("html").attr("lang", "en").lines([head, body]);
    format!("<!doctype html>\n{}\n", page.into_string())
}

fn bytes() -> Metric {
    Metric { name: "size".into(), unit: Unit::new("B"), better: crate::model::Better::Lower }
}

fn banner(report: &Report) -> Element {
    let class = match (report.outcome, report.exit_code) {
        (Outcome::Pass, _) => "answer good",
        (_, 0) => "answer warn",
        _ => "answer bad",
    };
    let mut parts = Vec::new();
    if report.baseline != Side::default() || report.candidate != Side::default() {
        let side = |name: &str, side: &Side| {
            element("span").child(element("b").text(name)).text(" ").prose(prose::side(side, HTML))
        };
        parts.push(
            element("p")
                .class("sides")
                .child(side("Candidate", &report.candidate))
                .child(side("Baseline", &report.baseline)),
        );
    }
    parts.push(answer(class, &prose::headline(report, HTML)));
    element("header").class("banner").lines(parts)
}

/// The answer, and what to do.
pub(super) fn answer(class: &str, headline: &Headline) -> Element {
    let (word, rest) = headline.answer.split_once(':').expect("a headline begins with its outcome");
    let title = element("h1").child(element("span").class("outcome").text(word)).prose(rest);
    let action = (!headline.action.is_empty()).then(|| element("p").prose(&headline.action));
    element("div").class(class).child(title).children(action)
}

fn benchmarks(report: &Report) -> Element {
    let section = element("section").attr("aria-labelledby", "benchmarks");
    let heading = element("h2").attr("id", "benchmarks").text("Benchmarks");
    if report.rows.is_empty() {
        return section.child(heading).child(element("p").text("No benchmark was compared."));
    }
    let reach = plot::reach(&report.rows);
    let ids: Vec<(String, String)> = report
        .rows
        .iter()
        .map(|row| (text::uncut(&row.id.to_string()), prose::PLAIN.aspect(row)))
        .collect();
    let names = text::shorten(&ids, text::NAME_LIMIT).into_iter().zip(&ids);
    let names = names.map(|(short, (id, aspect))| short.unwrap_or_else(|| format!("{id}{aspect}")));
    let rows = report.rows.iter().zip(names).enumerate().map(|(index, (row, name))| {
        let item = item(row, reach);
        let line = line(row, &name, reach);
        match index {
            0..DETAILED => item.child(
                element("details")
                    .child(element("summary").class("line").lines(line))
                    .child(depth(report, row, &name)),
            ),
            _ => item.child(element("div").class("line").children(line)),
        }
    });
    let list = element("ol")
        .class("rows")
        .attr("id", "rows")
        .attr("aria-labelledby", "benchmarks")
        .attr("data-reach", reach)
        .lines(rows);
    let tools = tools(ORDERS, Some(reach));
    let mut parts = vec![heading, chips(report), tools, axis(report, reach), list];
    if report.rows.len() > DETAILED {
        parts.push(element("p").class("told").prose(format!(
            "Launches are shown for the first {DETAILED} of {} rows; `pacegate explain` shows those of any.",
            report.rows.len()
        )));
    }
    let not_guarded = prose::not_guarded(report, HTML);
    if !not_guarded.is_empty() {
        parts.push(element("p").class("told").prose(not_guarded));
    }
    section.lines(parts)
}

/// Counts by verdict, each with a box that folds its rows away.
fn chips(report: &Report) -> Element {
    let chips = Verdict::ALL.into_iter().map(|verdict| (verdict, report.count(verdict)));
    let chips = chips.filter(|(_, count)| *count > 0).map(|(verdict, count)| {
        let name = verdict.name();
        let check = element("input")
            .attr("type", "checkbox")
            .attr("id", format!("show-{name}"))
            .attr("value", name)
            .attr("checked", "")
            .attr("autocomplete", "off");
        element("label")
            .class(&format!("chip {name}"))
            .attr("title", prose::meaning(report, verdict))
            .child(check)
            .child(plot::mark(verdict))
            .text(name)
            .text(" ")
            .child(element("b").text(text::counted(count as f64)))
    });
    element("fieldset")
        .class("chips")
        .child(element("legend").text("Verdicts to show"))
        .lines(chips)
}

/// What only a script can do, hidden until there is one.
pub(super) fn tools(orders: &[(&str, &str)], reach: Option<f64>) -> Element {
    let option = |value: &str, text: &str| element("option").attr("value", value).text(text);
    let select = |id: &str| element("select").attr("id", id).attr("autocomplete", "off");
    let search =
        element("input").attr("type", "search").attr("id", "search").attr("autocomplete", "off");
    let order = select("order").children(orders.iter().map(|(value, text)| option(value, text)));
    let scale = reach.map(|reach| {
        select("reach").children(plot::reaches().map(|step| {
            let option = option(&step.to_string(), &format!("±{}", text::share(step)));
            if step == reach { option.attr("selected", "") } else { option }
        }))
    });
    let labelled = |name: &str, field| element("label").text(name).child(field);
    element("form")
        .class("tools")
        .attr("id", "tools")
        .attr("hidden", "")
        .attr("role", "search")
        .lines(
            [labelled("Search", search), labelled("Order", order)]
                .into_iter()
                .chain(scale.map(|scale| labelled("Scale", scale)))
                .chain([element("output").attr("id", "shown").attr("role", "status")]),
        )
}

/// The heading of the columns, and the axis of the forest.
fn axis(report: &Report, reach: f64) -> Element {
    let span = |class: &str, text: &str| element("span").class(class).text(text);
    let confidence =
        report.rows.iter().find(|row| row.ci.is_some()).map_or(0.95, |row| row.confidence);
    let (worse, better) = direction(report);
    element("div").class("line axis").children([
        element("span").text("verdict"),
        element("span").text("benchmark"),
        element("span").class("plot").child(plot::axis(reach, better, worse)),
        span("change", "change"),
        element("span").text(format!("{} interval", text::share(confidence))),
        span("values", "baseline → candidate"),
    ])
}

/// What worse and better are called, where all rows agree.
fn direction(report: &Report) -> (&'static str, &'static str) {
    let words: BTreeSet<_> = report
        .rows
        .iter()
        .filter(|row| row.ratio.is_some())
        .map(|row| text::words(&row.metric))
        .collect();
    match words.first() {
        Some(words_of_all) if words.len() == 1 => *words_of_all,
        _ => ("worse", "better"),
    }
}

/// The list item of a row: the verdict is its first class, and the place of its mark a property.
fn item(row: &Row, reach: f64) -> Element {
    let loose = if row.gated { "" } else { " loose" };
    let item =
        element("li").attr("id", anchor(row)).class(&format!("{}{loose}", row.verdict.name()));
    match Span::of(row) {
        Some(span) => {
            let item = item.attr("style", format!("--x:{}", plot::place(span.change, reach)));
            match span.width() {
                Some(width) => item.attr("data-width", plot::place(width, reach)),
                None => item,
            }
        }
        None => item,
    }
}

/// What a link to a row ends in: benchmark, metric and reference, so that it leads to the same row in the next report. What a
/// link or an attribute could not hold as it is becomes `~` and its hexadecimal bytes.
fn anchor(row: &Row) -> String {
    let id = row.id.to_string();
    let reference = match row.reference {
        Reference::Base => "base",
        Reference::Release => "release",
    };
    let mut anchor = String::new();
    for part in [&id, &row.metric.name, reference] {
        if !anchor.is_empty() {
            anchor.push(',');
        }
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b':' | b'/' | b'-' => {
                    anchor.push(char::from(byte));
                }
                _ => anchor.push_str(&format!("~{byte:02x}")),
            }
        }
    }
    anchor
}

/// A row of the forest.
fn line(row: &Row, name: &str, reach: f64) -> Vec<Element> {
    let span = |class: &str, text: String| element("span").class(class).text(text);
    let remark = remark(row);
    let remark = (!remark.is_empty()).then(|| element("small").text(remark));
    let mut line = vec![
        element("span").class("verdict").text(row.verdict.name()).children(remark),
        element("h3").class("name").text(name),
    ];
    match Span::of(row) {
        Some(change) => line.extend([
            element("span").class("plot").child(plot::forest(&change, row.verdict, reach)),
            span("change", text::change(row)),
            span("range", text::interval(row)),
            span("values", text::arrow(row).replace("->", "→")),
        ]),
        None => line.push(element("span").class("why").prose((HTML.sentence)(&row.reason))),
    }
    line
}

fn remark(row: &Row) -> String {
    let (worse, better) = text::words(&row.metric);
    match row.verdict {
        _ if !row.gated => "not guarded".into(),
        Verdict::Regression => worse.into(),
        Verdict::Improvement => better.into(),
        Verdict::Inconclusive if row.cleared => "cleared".into(),
        Verdict::Inconclusive => {
            row.launches_needed.map_or_else(String::new, |needed| format!("needs {needed} pairs"))
        }
        _ => String::new(),
    }
}

/// All that is known of a row.
fn depth(report: &Report, row: &Row, name: &str) -> Element {
    let title = |text: &str| element("h4").text(text);
    let facts: Vec<_> =
        facts(report, row).into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let facts = facts
        .iter()
        .flat_map(|(name, value)| [element("dt").text(name), element("dd").prose(value)]);
    let mut told = vec![element("dl").class("facts").lines(facts)];
    if !row.notices.is_empty() {
        told.push(title("Notices"));
        let notices = row.notices.iter().map(|notice| told_notice(&[&notice.seen], &notice.advice));
        told.push(element("ul").class("notices").lines(notices));
    }
    if let Some(command) = again(report, row) {
        told.push(title("To reproduce"));
        told.push(element("pre").child(element("code").text(command)));
    }
    let figure = plot::launches(row, name).map(|figure| {
        element("figure").lines([figure, element("figcaption").text(plot::caption(row))])
    });
    let shown: Vec<Element> = figure.into_iter().chain(numbers(row)).collect();
    let reason = (HTML.sentence)(&row.reason);
    let reason = (!reason.is_empty()).then(|| {
        let verdict = element("b").text(row.verdict.name());
        element("p").class("reason").child(verdict).text(": ").prose(reason)
    });
    let shown = (!shown.is_empty()).then(|| element("div").lines(shown));
    let told = element("div").lines(told);
    element("div").class("depth").lines(reason.into_iter().chain(shown).chain([told]))
}

/// The launches as a table, for those who can't or won't read them from the picture.
fn numbers(row: &Row) -> Option<Element> {
    let scores = &row.scores;
    let paired = !scores.pairs.is_empty();
    let count = scores.baseline.len().max(scores.candidate.len()).max(scores.pairs.len());
    if count == 0 {
        return None;
    }
    let head = |scope: &str, text: &str| element("th").attr("scope", scope).text(text);
    let mut columns = vec![head("col", if paired { "pair" } else { "launch" })];
    let mut sides = Vec::new();
    let both = [("baseline", &scores.baseline), ("candidate", &scores.candidate)];
    for ((name, side), disturbed) in both.into_iter().zip(&scores.disturbed) {
        if !side.is_empty() {
            columns.push(head("col", name));
            sides.push((side, disturbed));
        }
    }
    if paired {
        columns.push(head("col", "change"));
    }
    let lines = (0..count.min(plot::LAUNCHES)).map(|index| {
        let value = |side: &[f64], disturbed: &[usize]| {
            let Some(value) = side.get(index) else { return String::new() };
            let waited = if disturbed.contains(&index) { "waited, " } else { "" };
            format!("{waited}{}", text::quantity(&row.metric, *value))
        };
        let change =
            scores.pairs.get(index).map_or_else(String::new, |log| text::percent(log.exp_m1()));
        let cells = sides
            .iter()
            .map(|(side, disturbed)| value(side, disturbed))
            .chain(paired.then_some(change));
        element("tr")
            .child(head("row", &(index + 1).to_string()))
            .children(cells.map(|cell| element("td").text(cell)))
    });
    let table = element("table")
        .child(element("thead").child(element("tr").children(columns)))
        .child(element("tbody").children(lines));
    Some(
        element("details")
            .child(element("summary").text("Numbers of each launch"))
            .child(element("div").class("scroll").child(table)),
    )
}

/// Notices of one kind that are shown; the others are counted.
const ALIKE: usize = 10;

/// Notices of one kind, and their advice.
fn told_notice(seen: &[&str], advice: &str) -> Element {
    let lines = seen.iter().take(ALIKE).map(|seen| element("p").prose((HTML.sentence)(seen)));
    let more = (seen.len() > ALIKE)
        .then(|| element("p").text(format!("and {} more like it", seen.len() - ALIKE)));
    let advice = (!advice.is_empty()).then(|| element("small").prose((HTML.sentence)(advice)));
    element("li").children(lines).children(more).children(advice)
}

fn notices(report: &Report) -> Option<Element> {
    let groups = prose::gathered(report);
    if groups.is_empty() {
        return None;
    }
    let notices = groups.iter().map(|(seen, advice)| told_notice(seen, advice));
    Some(element("section").attr("aria-labelledby", "notices").lines([
        element("h2").attr("id", "notices").text("Notices"),
        element("ul").class("notices").lines(notices),
    ]))
}

fn circumstances(report: &Report) -> Option<Element> {
    let lines = prose::circumstances(report, HTML);
    if lines.is_empty() {
        return None;
    }
    let told = element("ul")
        .class("told notices")
        .lines(lines.iter().map(|line| element("li").prose(line)));
    let words =
        Verdict::ALL.into_iter().filter(|verdict| report.count(*verdict) > 0).flat_map(|verdict| {
            let name = verdict.name();
            [
                element("dt").class(name).child(plot::mark(verdict)).text(name),
                element("dd").text(prose::meaning(report, verdict)),
            ]
        });
    let heading = element("h2").attr("id", "measured").text("How this was measured");
    Some(
        element("section")
            .attr("aria-labelledby", "measured")
            .lines([heading, told])
            .children(environment(report))
            .lines([
                element("h2").text("What the words mean"),
                element("dl").class("told words").lines(words),
            ]),
    )
}

/// What is known of the machines, side by side.
fn environment(report: &Report) -> Option<Element> {
    let sides = [&report.baseline.environment, &report.candidate.environment];
    let maps = |environment: &'_ crate::model::Environment| {
        [environment.hard.clone(), environment.soft.clone(), environment.info.clone()]
    };
    let [ours, theirs] = sides.map(maps);
    let mut lines = Vec::new();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let facts: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for fact in facts {
            let (a, b) = (ours.get(fact), theirs.get(fact));
            let line = element("tr").class(if a == b { "same" } else { "differs" });
            let value = |value: Option<&String>| {
                element("td")
                    .text(value.map_or_else(|| "not said".into(), |value| text::fact(value)))
            };
            let head = element("th").attr("scope", "row").text(text::name(fact));
            lines.push(line.child(head).child(value(a)).child(value(b)));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let head = ["environment", "baseline", "candidate"]
        .map(|name| element("th").attr("scope", "col").text(name));
    Some(
        element("div").class("scroll").child(
            element("table")
                .class("environment")
                .child(element("thead").child(element("tr").children(head)))
                .child(element("tbody").lines(lines)),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// The page's policy lets in the script that it carries: a changed script needs its new hash.
    #[test]
    fn the_script_is_the_one_that_the_policy_names() {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut hash = String::new();
        for bytes in Sha256::digest(SCRIPT.as_bytes()).chunks(3) {
            let word = bytes.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
                << (8 * (3 - bytes.len()));
            for digit in 0..4 {
                let at = (word >> (18 - 6 * digit)) as usize % 64;
                hash.push(if digit <= bytes.len() { DIGITS[at] as char } else { '=' });
            }
        }
        let source = format!("script-src 'sha256-{hash}'");
        assert!(CONTENT_POLICY.ends_with(&source), "it should end in {source}");
    }

    #[test]
    fn style_and_script_are_harmless_inside_their_elements() {
        for source in [STYLE, SCRIPT] {
            assert!(!source.contains(['<', '&']), "they would need escaping");
        }
    }
}
