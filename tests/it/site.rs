//! The site of a made project with a year of history: its pages hold together, and nothing foreign acts in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pacegate::gate::{Accept, Accepted};
use pacegate::history::{Commit, Entry, Head, Row, Settings, Timeline, Values, stretches, watch};
use pacegate::model::{BenchmarkId, Environment, Experiment, Metric};
use pacegate::report::{Release, Site, site};

use crate::desk::Desk;
use crate::pages::elements;

/// One commit a day. `parse/large` takes 9 % longer from day 300 on and `render/page` 4 % from day 362 on, `render/text`
/// gets faster at day 290, `io/load` is slow for a day; everything else stays what it was but for noise.
pub(crate) fn year() -> BTreeMap<String, String> {
    let names = [
        "parse/small",
        "parse/large",
        "render/page",
        "render/text",
        "io/load",
        "io/store",
        "hash/1k",
        "hash/64k",
        "<b>\"&'x</b>",
        "../../up",
    ];
    let mut seed = 7_u64;
    let mut noise = || {
        let mut uniform = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        0.008 * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)
    };
    let mut environment = Environment::default();
    environment.hard.insert("cpu".into(), "Example CPU".into());
    let entries: Vec<Entry> = (0..365_u32)
        .map(|day| {
            let rows = names.iter().enumerate().map(|(which, name)| {
                let factor = match (*name, day) {
                    ("parse/large", 300..) => 1.09,
                    ("render/page", 359..) => 1.08,
                    ("render/text", 290..) => 0.85,
                    ("io/load", 340) => 1.4,
                    _ => 1.0,
                };
                let score = 1_000.0 * (which + 1) as f64 * factor * (1.0 + noise());
                Row {
                    id: BenchmarkId::new("shop", *name),
                    metric: Metric::time(),
                    experiment: Experiment::Plain,
                    values: Values::Launches(vec![score; 5]),
                    seconds: None,
                    identical: false,
                }
            });
            let commit = Commit {
                id: format!("{:08x}{day:032x}", (day + 1).wrapping_mul(2_654_435_761)),
                position: Some(u64::from(day)),
                committed_s: Some(1_767_225_600 + 86_400 * i64::from(day)),
            };
            Entry {
                head: Head {
                    pacegate: String::new(),
                    commit,
                    shard: "all".into(),
                    attempt: 1,
                    measured_s: None,
                    session: None,
                    environment: environment.clone(),
                    baseline: None,
                },
                rows: rows.collect(),
            }
        })
        .collect();
    let timeline = Timeline::of(&entries);
    let findings = watch(&timeline, &[], &Settings::default());
    let release = |label: &str, day: usize, current| Release {
        label: label.into(),
        class: "metal".into(),
        commit: timeline.commits[day].id.clone(),
        day: Some("2026-11-01".into()),
        series: names.len(),
        current,
    };
    let accept = Accept {
        benchmark: "shop::render/page".into(),
        metric: "time".into(),
        ceiling: 0.1,
        reason: "draws <shadows> & more".into(),
        until: None,
    };
    let times: Vec<Option<String>> = (0..365)
        .map(|day| Some(format!("2026-{:02}-{:02}T12:00:00Z", day / 31 + 1, day % 31 + 1)))
        .collect();
    site(&Site {
        project: "shop",
        timeline: &timeline,
        times: &times,
        findings: &findings,
        stretches: &stretches(&timeline, &Settings::default()),
        releases: &[release("1.3.0", 200, false), release("1.4.0", 290, true)],
        accepted: &Accepted { records: vec![accept], ..Accepted::default() },
        url: "https://example.org/perf/",
    })
}

/// The values of an attribute on a page, without its escapes.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    page.split(begin.as_str()).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
}

#[test]
fn pages_hold_together() {
    let files = year();
    assert_eq!(files, year(), "equal history gives equal bytes");
    let kinds = |ending: &str| files.keys().filter(|path| path.ends_with(ending)).count();
    assert_eq!((kinds(".html"), kinds(".svg"), kinds(".xml")), (11, 11, 1));
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    for (path, page) in &files {
        assert!(path.split('/').all(|part| !part.starts_with('.')), "{path} leads elsewhere");
        let (names, titles) = elements(page, "title");
        assert!(!names.is_empty());
        if !path.ends_with(".html") {
            continue;
        }
        assert_eq!(titles.len(), 1, "{path}");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for href in values(page, "href").into_iter().filter(|href| !href.starts_with("data:")) {
            let (file, anchor) = href.split_once('#').unwrap_or((href, ""));
            let target = match (file, file.strip_prefix("../")) {
                ("", _) => path.clone(),
                (_, Some(up)) => up.to_owned(),
                _ if folder.is_empty() => file.to_owned(),
                _ => format!("{folder}/{file}"),
            };
            let page = files.get(&target).unwrap_or_else(|| panic!("{path} leads to {href}"));
            assert!(anchor.is_empty() || values(page, "id").contains(&anchor), "{path}: {href}");
            reached.insert(target);
        }
        let ids = values(page, "id");
        assert_eq!(
            ids.len(),
            ids.iter().collect::<BTreeSet<_>>().len(),
            "{path}: an id comes twice"
        );
    }
    let unreached: Vec<&String> = files.keys().filter(|path| !reached.contains(*path)).collect();
    assert!(unreached.is_empty(), "nothing leads to {unreached:?}");
}

#[test]
fn it_says_what_happened() {
    let files = year();
    let index = &files["index.html"];
    let mut at = 0;
    let said = [
        "ALERT",
        "shop::parse/large",
        "open: step",
        "better: step",
        "shop::render/text",
        "class=\"line\"",
        "1.4.0",
        "current",
        "draws &lt;shadows&gt; &amp; more",
        "Example CPU",
    ];
    for said in said {
        let next =
            index[at..].find(said).unwrap_or_else(|| panic!("`{said}` is not where it should be"));
        at += next;
    }
    let (_, names) = elements(index, "h3");
    assert!(names.contains(&"shop::<b>\"&'x</b>".to_owned()), "{names:?}");
    let page =
        files.iter().find(|(path, _)| path.starts_with("benchmarks/shop-parse-large")).unwrap().1;
    for said in
        ["worse", "class=\"changed\"", "class=\"release\"", "class=\"median\"", "Every point"]
    {
        assert!(page.contains(said), "{said}");
    }
    assert!(files["badge.svg"].contains("aria-label=\"shop: worse\""));
    let feed = &files["feed.xml"];
    let (_, ids) = elements(feed, "id");
    let (_, times) = elements(feed, "updated");
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len());
    assert!(
        ids.len() > 1 && ids.iter().all(|id| id.starts_with("urn:uuid:") && id.len() == 45),
        "{ids:?}"
    );
    assert!(times[1..].is_sorted_by(|a, b| a >= b), "the newest is not first: {times:?}");
    assert!(feed.contains("href=\"https://example.org/perf/index.html#alert-"));
}

#[test]
fn a_folder_that_is_no_site_is_left_alone() {
    let desk = Desk::new();
    let data = r#"window.BENCHMARK_DATA = {"lastUpdate": 1, "repoUrl": "", "entries": {"suite": [
        {"commit": {"id": "a1", "timestamp": "2026-01-01T00:00:00Z"}, "date": 1767225600000, "tool": "cargo",
         "benches": [{"name": "old", "value": 100, "unit": "ns/iter"}, {"name": "kept", "value": 5, "unit": "ns/iter"}]}]}}"#;
    desk.put("data.js", data);
    desk.check(&["site"], 3, &["it holds no run"]);
    desk.check(&["history", "import", "data.js"], 0, &[]);
    desk.check(&["site", "--url", "example.org"], 2, &["https://"]);
    desk.check(&["site", "--project", "shop"], 0, &["index.html of 2 benchmarks", "QUIET"]);
    let pages = || fs::read_dir(desk.path("site/benchmarks")).unwrap().count();
    assert_eq!(pages(), 4);
    // Of an earlier site nothing is left.
    desk.put("site/benchmarks/gone-00000000.html", "an old page");
    desk.check(&["site", "--project", "shop"], 0, &[]);
    assert_eq!(pages(), 4);
    desk.put("docs/mine.html", "mine");
    desk.check(&["site", "--to", "docs"], 2, &["docs: it holds other files", "--to"]);
    assert_eq!(fs::read_to_string(desk.path("docs/mine.html")).unwrap(), "mine");
}
