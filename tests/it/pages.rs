//! Laws that hold for every page, whatever the rows: nothing is lost, nothing is added, and no foreign text does more
//! than stand there.

use std::collections::BTreeSet;

use pacegate::gate::{Accept, OnInconclusive, Outcome, Policy, Row, Verdict};
use pacegate::model::{
    BenchmarkId, Better, Evidence, Experiment, Metric, Notice, Reference, Unit, Usage,
};
use pacegate::report::{
    Colour, MARKDOWN_LIMIT, Report, Screen, Side, Verbosity, VerdictFile, csv, explain, html, json,
    junit, markdown, terminal, verdict_schema,
};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::golden::{bare, cases, row};
use crate::runs::Session;

/// Bits that mean something to Markdown, HTML, GitHub, a terminal or a table.
const HOSTILE: &[&str] = &[
    "|",
    "\\",
    "`",
    "``",
    "<b>",
    "</details>",
    "<!--",
    "-->",
    "@octocat",
    "#1",
    "GH-1",
    "[a](b)",
    "![a](b)",
    "*",
    "_",
    "~~",
    "https://example.org",
    "www.example.org",
    "a@example.org",
    ":tada:",
    "\n",
    "\r\n",
    "\t",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "&amp;",
    "&#64;",
    "漢",
    "👍",
    "e\u{301}",
    " ",
    "x",
    "/",
    "::",
    "3f2c81a9d1e2",
    "$a$",
    "- ",
    "1. ",
    "> ",
    "===",
    "\u{0}",
    "…",
];

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(HOSTILE), 0..12).prop_map(|bits| bits.concat())
}

fn value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        6 => (1e-3..1e12f64).prop_map(Some),
        1 => Just(Some(0.0)),
        1 => Just(None),
        1 => prop::num::f64::ANY.prop_map(Some),
    ]
}

prop_compose! {
    fn any_row()(
        suite in hostile(), name in hostile(), metric in prop_oneof![
            4 => Just(Metric::time()),
            1 => Just(Metric { name: "rate".into(), unit: Unit::new("ops/s"), better: Better::Higher }),
            1 => (hostile(), hostile()).prop_map(|(name, unit)| Metric {
                name, unit: Unit::new(unit), better: Better::Lower
            }),
        ],
        verdict in prop::sample::select(&Verdict::ALL[..]),
        cleared in any::<bool>(), gated in any::<bool>(), reason in hostile(), tolerance in 0.0..0.2f64,
        baseline in value(), candidate in value(), ratio in value(), ci in prop::option::of((value(), value())),
        p in value(), needed in prop::option::of(any::<u32>()), notice in prop::option::of((hostile(), hostile())),
        pairs in prop::collection::vec(prop::num::f64::ANY, 0..8),
    ) -> Row {
        let mut row = row("", 1.0, 1.0, verdict);
        row.id = BenchmarkId::new(suite, name);
        (row.metric, row.cleared, row.gated, row.reason) = (metric, cleared, gated, reason);
        (row.tolerance, row.baseline, row.candidate, row.ratio) = (tolerance, baseline, candidate, ratio);
        row.ci = ci.map(|(lo, hi)| (lo.unwrap_or(0.5), hi.unwrap_or(f64::INFINITY)));
        (row.p_raw, row.p_regression, row.launches_needed) = (p, p, needed);
        if needed.is_some_and(|needed| needed % 2 == 0) {
            row.reference = Reference::Release;
        }
        row.scores.baseline = pairs.clone();
        row.scores.pairs = pairs;
        row.notices = notice.into_iter().map(|(seen, advice)| Notice::new("kind", seen, advice)).collect();
        row
    }
}

/// Rows of different benchmarks.
fn any_rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(any_row(), 0..most).prop_map(|mut rows| {
        for (index, row) in rows.iter_mut().enumerate() {
            row.id.name.push_str(&format!(" n{index}"));
        }
        rows
    })
}

fn any_outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    prop::collection::vec(
        prop::sample::select(vec![
            Outcome::Usage,
            Outcome::Fail,
            Outcome::Error,
            Outcome::NotComparable,
            Outcome::NothingToCompare,
            Outcome::Inconclusive,
            Outcome::Pass,
        ]),
        1..3,
    )
}

fn report(applied: Vec<Outcome>, label: &str, rows: Vec<Row>) -> Report {
    let side = || Side { label: label.into(), ..Side::default() };
    Report {
        release: Some(side()),
        ..Report::new(applied, Policy::default(), side(), side(), rows)
    }
}

/// The report with something accepted of most of its benchmarks.
fn accepting(mut report: Report, reason: &str) -> Report {
    let record = |row: &Row| Accept {
        benchmark: row.id.to_string(),
        metric: row.metric.name.clone(),
        ceiling: 0.06,
        reason: reason.into(),
        until: "2027-03-01".parse().ok(),
    };
    report.policy.accepted.records = report.rows.iter().take(20).map(record).collect();
    report
}

fn verbose() -> Screen {
    Screen { verbosity: Verbosity::Verbose, ..Screen::default() }
}

/// The number in `REGRESSION (3): …` of a terminal page.
fn told_on_terminal(page: &str, verdict: Verdict) -> usize {
    let head = format!("{} (", verdict.name().to_uppercase());
    let line = page.lines().find_map(|line| line.strip_prefix(&head));
    line.map_or(0, |rest| rest.split(')').next().and_then(|n| n.parse().ok()).expect("a count"))
}

/// The number in `Regression: 3, …` of a Markdown page.
fn told_in_markdown(page: &str, verdict: Verdict) -> usize {
    let mut name = verdict.name().to_owned();
    name[..1].make_ascii_uppercase();
    ["**", "<details><summary>"]
        .iter()
        .find_map(|mark| {
            page.lines().find_map(|line| line.strip_prefix(&format!("{mark}{name}: ")))
        })
        .map_or(0, |rest| rest.split(',').next().and_then(|n| n.parse().ok()).expect("a count"))
}

/// What a parser of GitHub's Markdown makes of a page.
#[derive(Default)]
struct Parsed {
    /// Text of the cells of each row, tables in order.
    rows: Vec<Vec<String>>,
    code: String,
}

fn parse(page: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let (mut cell, mut row, mut columns) = (None::<String>, Vec::new(), 0);
    for event in Parser::new_ext(
        page,
        Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH,
    ) {
        match event {
            Event::Start(Tag::Table(alignments)) => columns = alignments.len(),
            Event::Start(Tag::TableCell) => cell = Some(String::new()),
            Event::End(TagEnd::TableCell) => row.push(cell.take().expect("it was begun")),
            Event::End(TagEnd::TableRow | TagEnd::TableHead) => {
                assert_eq!(row.len(), columns, "{row:?}");
                parsed.rows.push(std::mem::take(&mut row));
            }
            Event::Code(code) => {
                parsed.code.push_str(&code);
                if let Some(cell) = &mut cell {
                    cell.push_str(&code);
                }
            }
            Event::Text(text) => {
                for trap in [
                    "@", "#", "<", ">", "://", "www.", "|", "`", "GH-", "&", "$", ":tada:", "](",
                    "~~",
                ] {
                    assert!(!text.contains(trap), "{trap} in {text:?} of\n{page}");
                }
                if let Some(cell) = &mut cell {
                    cell.push_str(&text);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let ours = html.replace("<details>", "").replace("</details>", "");
                let ours = ours.replace("<summary>", "").replace("</summary>", "");
                assert!(!ours.contains('<'), "{html:?}");
            }
            Event::Start(
                Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::TableHead
                | Tag::TableRow
                | Tag::Strong
                | Tag::HtmlBlock
                | Tag::Emphasis,
            )
            | Event::End(_) => {}
            other => panic!("{other:?} on\n{page}"),
        }
    }
    parsed
}

/// What a reader of XML makes of a page: the names of its elements, and the text of those that are called `of`.
pub(crate) fn elements(page: &str, of: &str) -> (Vec<String>, Vec<String>) {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(page);
    let (mut names, mut texts, mut open) = (Vec::new(), Vec::new(), None::<String>);
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error} in {page}"));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                for attribute in start.attributes() {
                    attribute.unwrap_or_else(|error| panic!("{error} in {page}"));
                }
                if name == of {
                    open = Some(String::new());
                }
                names.push(name);
            }
            Event::Text(text) => {
                if let Some(open) = &mut open {
                    open.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                if let Some(open) = &mut open {
                    open.push_str(match &*name {
                        "amp" => "&",
                        "lt" => "<",
                        "gt" => ">",
                        "quot" => "\"",
                        "#39" => "'",
                        other => panic!("`{other}` is not one of our escapes"),
                    });
                }
            }
            Event::End(end) if end.name().as_ref() == of => {
                texts.extend(open.take());
            }
            Event::End(_) | Event::Decl(_) | Event::DocType(_) => {}
            Event::Eof => return (names, texts),
            other => panic!("{other:?} in {page}"),
        }
    }
}

/// What links to the rows of a page end in.
fn anchors(page: &str) -> Vec<String> {
    let ids = page.split("<li id=\"").skip(1);
    ids.map(|rest| rest.split('"').next().expect("the end of an attribute").to_owned()).collect()
}

#[test]
fn a_link_to_a_row_leads_to_it_in_the_next_report() {
    let check = |rows: Vec<Row>, expected: &[&str]| {
        let mut anchors = anchors(&html(&report(vec![Outcome::Pass], "x", rows)));
        anchors.sort();
        assert_eq!(anchors, expected);
    };
    let one = row("parser::large", 1e6, 1.0, Verdict::Unchanged);
    let mut worse = row("parser::large", 1e6, 1.3, Verdict::Regression);
    worse.reference = Reference::Release;
    let odd = row("parser::a, 10 % \u{e9}", 1e6, 1.0, Verdict::Unchanged);
    check(vec![one.clone()], &["parser::large,time,base"]);
    check(
        vec![one, worse, odd],
        &[
            "parser::a~2c~2010~20~25~20~c3~a9,time,base",
            "parser::large,time,base",
            "parser::large,time,release",
        ],
    );
}

#[test]
fn a_launch_that_waited_for_a_cpu_has_a_shape_and_a_word() {
    let page = |experiment: Experiment| {
        let mut session = Session::new(1).bench("a", 1.0, 0.004, 10);
        for run in [&mut session.baseline, &mut session.candidate] {
            run.series[0].experiment = experiment;
        }
        let Evidence::Sampled(launches) = &mut session.candidate.series[0].evidence else {
            unreachable!("bench makes samples")
        };
        launches[3].usage = Some(Usage { wall_s: 1.0, wait_s: 0.2, ..Usage::default() });
        launches[4].usage = Some(Usage { wall_s: 1.0, wait_s: 0.01, ..Usage::default() });
        html(&session.report(&Policy::default()))
    };
    let told = |page: &str| {
        ["l5 9h-10Z", ">waited, ", "A triangle is"].map(|what| page.matches(what).count())
    };
    assert_eq!(told(&page(Experiment::Interleaved)), [1, 1, 1]);
    // On one CPU each waits for the other, which says nothing of the machine.
    assert_eq!(told(&page(Experiment::Corun)), [0, 0, 0]);
}

/// Whether a value is what the schema says. It knows the keywords that our schema uses and no other.
fn conforms(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return if schema == &Value::Bool(true) {
            Ok(())
        } else {
            Err(format!("{value} is refused"))
        };
    };
    let any = |schemas: &Value| -> usize {
        let schemas = schemas.as_array().expect("a list of schemas");
        schemas.iter().filter(|schema| conforms(schema, root, value).is_ok()).count()
    };
    for (keyword, wants) in keywords {
        let ok = match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "format" | "default" | "required" => {
                true
            }
            "$ref" => {
                let path = wants
                    .as_str()
                    .and_then(|path| path.strip_prefix('#'))
                    .expect("a local reference");
                let target = root.pointer(path).expect("the target of a reference");
                conforms(target, root, value)?;
                true
            }
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a name of a type") {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("unknown type {other}"),
                };
                wants.as_array().map_or_else(|| is(wants), |names| names.iter().any(is))
            }
            "const" => value == wants,
            "enum" => wants.as_array().expect("a list").contains(value),
            "minimum" => value.as_f64().is_none_or(|v| v >= wants.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_none_or(|v| v <= wants.as_f64().expect("a number")),
            "minItems" => {
                value.as_array().is_none_or(|v| v.len() as u64 >= wants.as_u64().expect("a count"))
            }
            "maxItems" => {
                value.as_array().is_none_or(|v| v.len() as u64 <= wants.as_u64().expect("a count"))
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    conforms(wants, root, item)?;
                }
                true
            }
            "properties" => {
                for (key, schema) in wants.as_object().expect("an object") {
                    if let Some(value) = value.get(key) {
                        conforms(schema, root, value).map_err(|why| format!("{key}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                for (key, value) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(key)) {
                        conforms(wants, root, value).map_err(|why| format!("{key}: {why}"))?;
                    }
                }
                true
            }
            "anyOf" => any(wants) >= 1,
            "oneOf" => any(wants) == 1,
            other => panic!("the schema uses `{other}`, which this check does not know yet"),
        };
        if !ok {
            return Err(format!("{value} breaks {keyword}: {wants}"));
        }
    }
    for key in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
        let key = key.as_str().expect("a key");
        if value.is_object() && value.get(key).is_none() {
            return Err(format!("{key} is missing"));
        }
    }
    Ok(())
}

#[test]
fn verdict_files_conform_to_the_schema() {
    let schema: Value = serde_json::from_str(&verdict_schema()).unwrap();
    for (name, report) in cases() {
        let file: Value = serde_json::from_str(&json(&report)).unwrap();
        conforms(&schema, &schema, &file).unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut broken = file.clone();
        broken["outcome"] = "green".into();
        conforms(&schema, &schema, &broken).expect_err("the check can refuse");
        let mut broken = file;
        broken.as_object_mut().unwrap().remove("counts");
        conforms(&schema, &schema, &broken).expect_err("the check can refuse");
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (name, report) in cases() {
        let plain = terminal(&report, &verbose());
        let coloured = terminal(&report, &Screen { colour: Colour::Always, ..verbose() });
        assert!(coloured.contains('\u{1b}'), "{name}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "{name}");
        assert!(plain.chars().all(|c| c == '\n' || !c.is_control()), "{name}");
    }
}

/// A page of exactly the limit is whole; one character more and it says what is missing.
#[test]
fn markdown_is_cut_at_the_limit_and_not_before() {
    for filler in ["x", "👍"] {
        let page = |rows: usize, fill: usize| {
            let mut rows: Vec<Row> = (0..rows)
                .map(|n| row(&format!("s::{n:04}"), 1e6, 1.0, Verdict::Unchanged))
                .collect();
            rows.iter_mut().take(fill).for_each(|row| row.id.name.push_str(filler));
            markdown(&report(vec![Outcome::Pass], "label", rows))
        };
        let length = |page: &str| page.chars().count();
        let fixed = length(&page(1000, 0));
        assert!(fixed <= MARKDOWN_LIMIT);
        let each = length(&page(400, 0)) - length(&page(399, 0));
        let rows = 400 + (MARKDOWN_LIMIT - length(&page(400, 0))) / each;
        let fill = MARKDOWN_LIMIT - length(&page(rows, 0));
        assert_eq!(length(&page(rows, fill)), MARKDOWN_LIMIT);
        assert!(!page(rows, fill).contains("Left out"));
        let cut = page(rows, fill + 1);
        assert!(length(&cut) <= MARKDOWN_LIMIT);
        assert!(cut.contains("_Left out for length: "), "{}", &cut[cut.len() - 600..]);
    }
}

#[test]
fn a_change_reads_the_same_on_every_page() {
    let slow = report(vec![Outcome::Fail], "", vec![row("a", 100.0, 2.3, Verdict::Regression)]);
    assert_eq!(
        slow.headline().answer,
        "FAIL: 1 of 1 benchmark is slower than its tolerance: a by 130 % (129 to 131 %)"
    );
    for page in [terminal(&slow, &verbose()), markdown(&slow)] {
        assert!(page.contains("+130 %") && page.contains("by 130 %"), "{page}");
        assert!(!page.contains("230 %"), "{page}");
    }
    assert!(json(&slow).contains("\"ratio\": 2.3"));
}

#[test]
fn headlines() {
    let check = |report: &Report, exit_code: u8, answer: &str| {
        assert_eq!(report.headline().answer, answer);
        assert_eq!(report.exit_code, exit_code, "{answer}");
    };
    let of = |outcome, rows| report(vec![outcome], "x", rows);
    check(
        &Report::failed(Outcome::Error, "cannot read `a.json`"),
        1,
        "ERROR: cannot read `a.json`",
    );
    check(
        &Report::failed(Outcome::NothingToCompare, "no baseline `v1` in baselines/ci"),
        3,
        "NOTHING TO COMPARE: no baseline `v1` in baselines/ci",
    );
    check(
        &of(Outcome::NothingToCompare, Vec::new()),
        3,
        "NOTHING TO COMPARE: neither side holds a benchmark; baseline: x, candidate: x",
    );
    check(
        &of(Outcome::Pass, vec![row("a", 1.0, 1.0, Verdict::Unchanged)]),
        0,
        "PASS: 1 of 1 benchmark is shown to be no more than 2 % slower",
    );
    let mut wide = row("b", 1.0, 1.0, Verdict::Unchanged);
    wide.tolerance = 0.05;
    let mut unguarded = row("c", 1.0, 1.2, Verdict::Regression);
    unguarded.gated = false;
    check(
        &of(Outcome::Pass, vec![row("a", 1.0, 1.0, Verdict::Unchanged), wide, unguarded]),
        0,
        "PASS: 2 of 3 benchmarks are shown to be no slower than their tolerances allow; 1 is not guarded; \
         1 of these is worse than its tolerance",
    );
    check(
        &of(Outcome::Inconclusive, vec![row("a", 1.0, 1.0, Verdict::Inconclusive)]),
        0,
        "INCONCLUSIVE: 1 of 1 benchmark is neither proven slower nor cleared: a",
    );
    let mut one = row("a", 1.0, 1.0, Verdict::Inconclusive);
    one.launches = (1, 1);
    assert_eq!(
        of(Outcome::Inconclusive, vec![one]).headline().action,
        "Nothing is proven slower and nobody has to act; fewer than 5 launches on each side decide nothing."
    );
    let mut failed = row("a", 1.0, 1.0, Verdict::Failed);
    failed.reason = "exited with code 101".into();
    check(
        &of(Outcome::Error, vec![failed]),
        1,
        "ERROR: 1 of 1 benchmark could not be judged: a: exited with code 101",
    );
    let fail = Policy { on_inconclusive: OnInconclusive::Fail, ..Policy::default() };
    let side = Side::default;
    let strict = Report::new(vec![Outcome::Inconclusive], fail, side(), side(), Vec::new());
    assert_eq!(strict.exit_code, 11);
}

#[test]
fn one_regression_among_many_improvements_decides_the_headline() {
    let mut rows: Vec<Row> =
        (0..50).map(|n| row(&format!("s::{n}"), 1e6, 0.5, Verdict::Improvement)).collect();
    rows.push(row("s::slow", 1e6, 1.03, Verdict::Regression));
    let answer = report(vec![Outcome::Fail], "", rows).headline().answer;
    assert!(
        answer
            .starts_with("FAIL: 1 of 51 benchmarks is slower than its tolerance: s::slow by 3.0 %"),
        "{answer}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn pages_agree_and_lose_no_regression(rows in any_rows(24), applied in any_outcomes(), label in hostile()) {
        let report = report(applied, &label, rows);
        let (page, comment) = (terminal(&report, &Screen::default()), markdown(&report));
        let file: Value = serde_json::from_str(&json(&report)).unwrap();
        for verdict in Verdict::ALL {
            let count = report.count(verdict);
            prop_assert_eq!(told_on_terminal(&page, verdict), count);
            prop_assert_eq!(told_in_markdown(&comment, verdict), count);
            prop_assert_eq!(&file["counts"][verdict.name()], count);
        }
        for row in report.rows.iter().filter(|row| row.verdict == Verdict::Regression) {
            // Each name ends in a number of its own.
            let end = row.id.name.rsplit(' ').next().expect("a number").to_owned();
            let ends_so = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == end);
            prop_assert!(ends_so(&page) && ends_so(&comment), "{}", end);
            let listed = file["benchmarks"].as_array().unwrap().iter();
            prop_assert_eq!(listed.filter(|entry| entry["id"] == row.id.to_string()).count(), 1);
            prop_assert!(explain(&report, &row.id, &Screen::default()).is_some());
        }
        let first = report.headline().answer;
        prop_assert!(page.split_whitespace().zip(first.split_whitespace()).all(|(a, b)| a == b));
    }

    #[test]
    fn order_of_rows_is_of_no_account(
        (rows, shuffled) in any_rows(24).prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
    ) {
        let of = |rows| accepting(report(vec![Outcome::Fail], "x", rows), "reason");
        let (one, other) = (of(rows), of(shuffled));
        prop_assert_eq!(terminal(&one, &verbose()), terminal(&other, &verbose()));
        prop_assert_eq!(markdown(&one), markdown(&other));
        prop_assert_eq!(json(&one), json(&other));
        prop_assert_eq!(html(&one), html(&other));
        prop_assert_eq!(junit(&one), junit(&other));
        prop_assert_eq!(csv(&one), csv(&other));
    }

    #[test]
    fn the_page_is_well_formed_and_holds_every_row(
        rows in any_rows(12), applied in any_outcomes(), label in hostile(), cause in prop::option::of(hostile()),
    ) {
        let mut report = report(applied, &label, rows);
        report.cause = cause;
        let page = html(&report);
        let (names, rows) = elements(&bare(&page), "h3");
        let count = |name: &str| names.iter().filter(|n| *n == name).count();
        let ids = anchors(&page);
        prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), report.rows.len(), "{:?}", ids);
        prop_assert!(ids.iter().all(|id| id.chars().all(|c| c.is_ascii_graphic() && !"%#&\"".contains(c))));
        prop_assert_eq!(count("script"), 1);
        prop_assert_eq!(count("a"), 1);
        prop_assert_eq!(count("img"), 0);
        prop_assert_eq!(rows.len(), report.rows.len());
        for (shown, row) in rows.iter().zip(&report.rows) {
            let end = row.id.name.rsplit(' ').next().expect("a number");
            prop_assert!(shown.contains(end), "{} is not {}", shown, row.id);
        }
        let (names, _) = elements(&junit(&report), "");
        let count = |name: &str| names.iter().filter(|n| *n == name).count();
        let own = usize::from(report.exit_code != 0 && count("testcase") > report.rows.len());
        prop_assert_eq!(count("testcase"), report.rows.len() + own);
        prop_assert!(report.exit_code == 0 || count("failure") + count("error") > 0);
        prop_assert_eq!(csv(&report).lines().count(), report.rows.len() + 1);
    }

    #[test]
    fn foreign_text_does_nothing(rows in any_rows(12), applied in any_outcomes(), label in hostile(), cause in prop::option::of(hostile())) {
        let mut report = accepting(report(applied, &label, rows), &label);
        report.cause = cause;
        let comment = markdown(&report);
        let parsed = parse(&comment);
        prop_assert!(parsed.rows.len() >= report.rows.len());
        for row in &report.rows {
            let end = row.id.name.rsplit(' ').next().expect("a number");
            prop_assert!(parsed.code.contains(end));
        }
        for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
            let page = terminal(&report, &Screen { verbosity, width: 40, ..Screen::default() });
            prop_assert!(page.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", page);
        }
        let schema: Value = serde_json::from_str(&verdict_schema()).unwrap();
        let text = json(&report);
        let file: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(conforms(&schema, &schema, &file), Ok(()));
        let read: VerdictFile = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::to_string_pretty(&read).unwrap() + "\n", text);
    }

}

proptest! {
    // Thousands of rows a case.
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn markdown_stays_within_its_limit(
        count in 0usize..4000, long in 0usize..400, every in 1usize..9, notices in 0usize..200,
    ) {
        let rows: Vec<Row> = (0..count)
            .map(|n| {
                let verdict = Verdict::ALL[(n / every) % Verdict::ALL.len()];
                let mut row = row(&format!("{}{n}", "漢".repeat(long)), 1e6, 1.0, verdict);
                row.reason = format!("@{}", "r".repeat(long));
                row
            })
            .collect();
        let mut report = report(vec![Outcome::Fail], &"l\u{301}".repeat(long * 50), rows);
        report.cause = Some("c `\u{301}".repeat(long * 50));
        report.notices = (0..notices).map(|n| Notice::new("k", "s".repeat(long) + &n.to_string(), "a".repeat(long))).collect();
        let comment = markdown(&report);
        prop_assert!(comment.chars().count() <= MARKDOWN_LIMIT);
        parse(&comment);
        // A regression is left out only where no row of another kind is left.
        let left_out: BTreeSet<&str> = comment
            .lines()
            .filter_map(|line| line.strip_prefix("_Left out for length: ")?.split_once('(')?.1.split(')').next())
            .collect();
        if left_out.contains("regression") {
            let kinds = Verdict::ALL.iter().filter(|verdict| report.count(**verdict) > 0).count();
            prop_assert_eq!(left_out.len(), kinds + usize::from(notices > 0));
        }
    }
}
