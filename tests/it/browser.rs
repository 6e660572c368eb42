//! The page in a real browser: headless Chromium, driven through chromedriver's WebDriver interface.
//!
//! Where there is no chromedriver the test says so and checks nothing; `scripts/test` installs one. With
//! `PACEGATE_SCREENSHOTS=FOLDER` it also leaves pictures of the page there, for people to look at.

#![expect(clippy::print_stdout, reason = "what was measured or skipped is told aloud")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pacegate::gate::{Policy, Verdict};
use pacegate::model::{BenchmarkId, Environment, Evidence, Revision};
use pacegate::report::{Plan, Report, html, json};
use serde_json::{Value, json as value};

use crate::golden::cases;
use crate::runs::Session;

/// Seconds of the browser's own CPU time in which a page of ten thousand rows is loaded, searched, ordered and drawn. A busy
/// machine makes it wait, and not work, longer.
const BUDGET: f64 = 30.0;

/// Bytes of a page of ten thousand rows.
const BUDGET_BYTES: usize = 12 << 20;

/// A browser with one window.
struct Browser {
    driver: Child,
    /// The browser itself, which may outlive its driver.
    process: Option<u64>,
    port: u16,
    session: String,
    folder: tempfile::TempDir,
}

impl Browser {
    /// `None` where there is no chromedriver.
    fn start() -> Option<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| {
                line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
            })
            .expect("chromedriver says its port");
        let folder = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, process: None, port, session: String::new(), folder };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let wanted = value!({
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            // A machine that compiles beside it is slow, and that is no fault of the page.
            "timeouts": {"script": 300_000, "pageLoad": 300_000},
        });
        let started =
            browser.ask("POST", "/session", &value!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = started["sessionId"].as_str().expect("a session").to_owned();
        browser.process = started["capabilities"]["goog:processID"].as_u64();
        Some(browser)
    }

    /// One question to the driver, and its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body).unwrap();
        assert!(answer.get("error").is_none(), "{path} {body}: {answer:#}");
        answer
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number of bytes");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        Ok(answer["value"].clone())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{path}", self.session), body)
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", &format!("/session/{}/{path}", self.session), &Value::Null)
    }

    /// Runs a function body in the page.
    fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &value!({"script": script, "args": []}))
    }

    fn develop(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &value!({"cmd": command, "params": parameters}))
    }

    /// Opens a page as a file.
    fn open(&self, page: &str) {
        let path = self.folder.path().join("report.html");
        std::fs::write(&path, page).unwrap();
        self.post("url", &value!({"url": format!("file://{}", path.display())}));
    }

    /// Opens a page of a site as a file.
    fn visit(&self, files: &BTreeMap<String, String>, page: &str) {
        for (path, content) in files {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let path = self.folder.path().join(page);
        self.post("url", &value!({"url": format!("file://{}", path.display())}));
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &value!({"type": kind})).as_array().expect("a log").clone()
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &value!({"using": "css selector", "value": selector}));
        let found = found.as_object().expect("an element").values().next().expect("its id");
        found.as_str().expect("a string").to_owned()
    }

    fn type_into(&self, selector: &str, text: &str) {
        self.post(&format!("element/{}/value", self.element(selector)), &value!({"text": text}));
    }

    fn click(&self, selector: &str) {
        self.post(&format!("element/{}/click", self.element(selector)), &value!({}));
    }

    /// Role and name that the browser tells a reader of screens.
    fn told(&self, selector: &str) -> (String, String) {
        let element = self.element(selector);
        let text = |what: &str| {
            self.get(&format!("element/{element}/{what}")).as_str().expect("text").to_owned()
        };
        (text("computedrole"), text("computedlabel"))
    }

    fn theme(&self, theme: &str) {
        let feature = value!({"name": "prefers-color-scheme", "value": theme});
        self.develop("Emulation.setEmulatedMedia", &value!({"features": [feature]}));
    }

    fn size(&self, width: u32, height: u32) {
        let mobile = width < 600;
        let metrics =
            value!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.develop("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// A picture of the page from the top, as it would be scrolled.
    fn picture(&self, path: &Path, height: u32) {
        // What has come into view is laid out in the next frame.
        self.run(
            "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
        let whole = self.run("return [innerWidth, document.documentElement.scrollHeight]");
        let height = whole[1].as_u64().expect("a height").min(u64::from(height));
        let clip = value!({"x": 0, "y": 0, "width": whole[0], "height": height, "scale": 1});
        let shot = self.develop(
            "Page.captureScreenshot",
            &value!({"format": "png", "captureBeyondViewport": true, "clip": clip}),
        );
        std::fs::write(path, decode(shot["data"].as_str().expect("base64"))).unwrap();
    }
}

impl Drop for Browser {
    /// Ends the browser too when a check has failed: without its driver it would go on alone.
    fn drop(&mut self) {
        let _ = self.send("DELETE", &format!("/session/{}", self.session), &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        if let Some(process) = self.process {
            let mut kill = Command::new("kill");
            let _ = kill.args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
        }
    }
}

/// Base64 to bytes.
fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let word =
            four.iter().fold(0u32, |word, d| word << 6 | u32::from(*d)) << (6 * (4 - four.len()));
        word.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

#[test]
fn the_page_in_a_browser() {
    let Some(browser) = Browser::start() else {
        println!("SKIPPED: there is no chromedriver, so no page was opened in a browser");
        return;
    };
    for (name, report) in cases().into_iter().chain(pictures()) {
        browser.open(&html(&report));
        stands(&browser, name, &report);
    }
    foreign_text_does_nothing(&browser);
    tools_work(&browser);
    a_link_leads_to_its_row(&browser);
    print_shows_what_must_be_acted_on(&browser);
    names_are_told(&browser);
    everything_can_be_read(&browser);
    ten_thousand_rows_stay_usable(&browser);
    the_site_stands(&browser);
    if let Some(folder) = std::env::var_os("PACEGATE_SCREENSHOTS") {
        take_pictures(&browser, &PathBuf::from(folder));
    }
}

/// A page says nothing on the console and asks nobody for anything.
fn silent(browser: &Browser, name: &str) {
    let said = browser.log("browser");
    assert!(said.is_empty(), "{name}: {said:#?}");
    for entry in browser.log("performance") {
        let entry: Value = serde_json::from_str(entry["message"].as_str().expect("text")).unwrap();
        if entry["message"]["method"] == "Network.requestWillBeSent" {
            let url = entry["message"]["params"]["request"]["url"].as_str().expect("a URL");
            assert!(url.starts_with("file:///") || url.starts_with("data:"), "{name}: {url}");
        }
    }
}

/// The page renders, is silent, and counts as the verdict file does.
fn stands(browser: &Browser, name: &str, report: &Report) {
    silent(browser, name);
    let counts = browser.run(
        "return [...document.querySelectorAll('.chip')].map(chip => [
            chip.querySelector('input').value,
            Number(chip.querySelector('b').textContent.replace(',', '')),
            document.querySelectorAll(`#rows > li.${chip.querySelector('input').value}`).length,
        ])",
    );
    let file: Value = serde_json::from_str(&json(report)).unwrap();
    let shown: BTreeMap<String, u64> = counts
        .as_array()
        .expect("a list")
        .iter()
        .map(|count| {
            assert_eq!(count[1], count[2], "{name}: {count}");
            (count[0].as_str().expect("a verdict").to_owned(), count[1].as_u64().expect("a count"))
        })
        .collect();
    for verdict in Verdict::ALL {
        let told = file["counts"][verdict.name()].as_u64().expect("a count");
        assert_eq!(
            shown.get(verdict.name()).copied().unwrap_or(0),
            told,
            "{name}: {}",
            verdict.name()
        );
    }
    let answer = browser.run("return document.querySelector('h1').textContent");
    let words = |text: &str| text.replace(['`', ':'], "");
    let headline = words(&report.headline().answer);
    if name != "hostile-names" && !headline.contains('…') {
        assert_eq!(words(answer.as_str().expect("text")), headline, "{name}");
    }
    let wide = browser.run("return document.documentElement.scrollWidth > innerWidth");
    assert_eq!(wide, false, "{name}: it scrolls sideways");
}

/// No name becomes an element, an attribute or a script.
fn foreign_text_does_nothing(browser: &Browser) {
    let (_, report) =
        cases().into_iter().find(|(name, _)| *name == "hostile-names").expect("a case");
    browser.open(&html(&report));
    let names = browser
        .run("return [...document.querySelectorAll('#rows .name')].map(name => name.textContent)");
    let names: Vec<&str> =
        names.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(names.len(), report.rows.len());
    for name in [
        "<script>alert(1)</script>",
        "s|u`ite::@octocat/team fixes #1",
        "</details>",
        "s|u`ite::![x](https://example.org/x.png)",
    ] {
        assert!(names.iter().any(|shown| shown.ends_with(name)), "{name} is not in {names:?}");
    }
    let odd = browser.run(
        "const known = new Set('html head meta title link style body a svg defs path header p span b div h1 code main section h2 \
         fieldset legend label input form select option output use text ol li details summary small h3 g dl dt dd ul pre h4 \
         table thead tbody tr th td footer script figure figcaption circle rect br'.split(' '));
         return [...document.querySelectorAll('*')].map(e => e.localName).filter(name => !known.has(name))
           .concat([...document.querySelectorAll('script')].slice(1).map(() => 'a second script'))
           .concat([...document.querySelectorAll('[onclick],[onerror],[onload],a:not(.skip),[src]')].map(e => e.outerHTML))",
    );
    assert_eq!(odd, value!([]));
}

const SHOWN: &str = "return [...document.querySelectorAll('#rows > li')].filter(row => row.checkVisibility()).length";

/// Filters, search, order, scale and unfolding, by pointer and by keyboard.
fn tools_work(browser: &Browser) {
    let (_, report) =
        pictures().into_iter().find(|(name, _)| *name == "regression").expect("a picture");
    browser.open(&html(&report));
    let all = report.rows.len();
    let unchanged = report.count(Verdict::Unchanged);
    let check = |expected: usize| {
        assert_eq!(browser.run(SHOWN), expected);
        let told = browser.run("return document.getElementById('shown').textContent");
        assert_eq!(told, format!("{expected} of {all} shown"));
    };
    check(all);
    browser.type_into("#show-unchanged", " ");
    check(all - unchanged);
    browser.click("label:has(#show-unchanged)");
    check(all);
    browser.type_into("#search", "READ serde");
    let matching = |row: &&pacegate::gate::Row| {
        let name = row.id.to_string();
        name.contains("read") && name.contains("serde")
    };
    let found = report.rows.iter().filter(matching).count();
    assert!(0 < found && found < all);
    check(found);
    browser.run("const search = document.getElementById('search'); search.value = ''; search.dispatchEvent(new Event('input'))");
    check(all);

    let choose = |id: &str, value: &str| {
        browser.run(&format!(
            "const field = document.getElementById('{id}'); field.value = '{value}'; field.dispatchEvent(new Event('change'))"
        ))
    };
    let first = || browser.run("return document.querySelector('#rows .name').textContent");
    let worst = report.rows[0].id.to_string();
    assert_eq!(first(), worst);
    choose("order", "name");
    let mut names: Vec<String> = report.rows.iter().map(|row| row.id.to_string()).collect();
    names.sort();
    assert_eq!(first(), names[0]);
    choose("order", "better");
    let ratio = |row: &&pacegate::gate::Row| row.ratio.unwrap_or(f64::INFINITY);
    let best = report.rows.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b))).expect("rows");
    assert_eq!(first(), best.id.to_string());
    choose("order", "verdict");
    assert_eq!(first(), worst);

    let tick = || browser.run("return document.querySelector('.tick').textContent");
    let place = "return document.querySelector('#rows .plot .at').getBoundingClientRect().x";
    let before = (tick(), browser.run(place));
    choose("reach", "1");
    assert_eq!(tick(), "100 %");
    assert_ne!((tick(), browser.run(place)), before);

    let unfolded = "return document.querySelector('#rows details').open";
    assert_eq!(browser.run(unfolded), false);
    browser.type_into("#rows summary", "\u{e007}");
    assert_eq!(browser.run(unfolded), true);
    assert_eq!(browser.run("return document.activeElement.localName"), "summary");
    let outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid", "the focus can be seen");
}

/// A link to a row brings it into view and unfolds it.
fn a_link_leads_to_its_row(browser: &Browser) {
    let (_, report) =
        pictures().into_iter().find(|(name, _)| *name == "regression").expect("a picture");
    browser.open(&html(&report));
    // Where it scrolls to is looked at once, so that it must be there at once.
    let still = value!({"name": "prefers-reduced-motion", "value": "reduce"});
    browser.develop("Emulation.setEmulatedMedia", &value!({"features": [still]}));
    let last = browser.run(
        "const row = [...document.querySelectorAll('#rows > li')].at(-1);
         return new Promise(done => {
             addEventListener('hashchange', () => {
                 const box = row.querySelector('summary').getBoundingClientRect();
                 done([row.querySelector('details').open, 0 <= box.top, box.bottom <= innerHeight]);
             });
             location.hash = row.id;
         })",
    );
    assert_eq!(last, value!([true, true, true]));
}

/// On paper nothing can be unfolded, and nothing needs to be.
fn print_shows_what_must_be_acted_on(browser: &Browser) {
    let (_, report) =
        pictures().into_iter().find(|(name, _)| *name == "regression").expect("a picture");
    browser.open(&html(&report));
    let visible = "const seen = selector => [...document.querySelectorAll(selector)].map(e => e.checkVisibility());
         return [seen('#rows .regression .facts'), seen('#rows .unchanged .facts'), seen('#tools'), seen('#rows .name')]
           .map(list => [list.some(seen => seen), list.every(seen => seen)])";
    let check = |media: &str, expected: Value| {
        browser.develop("Emulation.setEmulatedMedia", &value!({"media": media}));
        assert_eq!(browser.run(visible), expected, "{media}");
    };
    let (all, none) = ([true, true], [false, false]);
    check("screen", value!([none, none, all, all]));
    check("print", value!([all, none, none, all]));
    check("", value!([none, none, all, all]));
}

/// What a reader of screens is told.
fn names_are_told(browser: &Browser) {
    let check = |selector: &str, role: &str, name: &str| {
        let (told_role, told_name) = browser.told(selector);
        assert_eq!(told_role.replace("img", "image"), role, "{selector}");
        assert!(told_name.contains(name), "{selector} is called `{told_name}`");
    };
    check("main", "main", "");
    check("header", "banner", "");
    check("footer", "contentinfo", "");
    check("section", "region", "Benchmarks");
    check("#tools", "search", "");
    check("#search", "searchbox", "Search");
    check("#order", "combobox", "Order");
    check("#reach", "combobox", "Scale");
    check("#show-regression", "checkbox", "regression");
    check("#rows", "list", "Benchmarks");
    check("h1", "heading", "FAIL");
    check(".axis svg", "image", "slower");
    browser.run("document.querySelectorAll('#rows details').forEach(row => row.open = true)");
    check(".figure", "image", "in measured order");
    check("thead th", "columnheader", "pair");
    check("tbody th", "rowheader", "1");
    let nameless = browser.run(
        "return [...document.querySelectorAll('svg:not([aria-hidden]):not([aria-label])')].length
           + [...document.querySelectorAll('input, select')].filter(field => !field.labels.length).length
           + [...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size",
    );
    assert_eq!(nameless, 0);
    let levels = browser.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.localName[1]))",
    );
    let levels: Vec<u64> =
        levels.as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level of heading is left out");
}

/// Contrast of every text against what lies behind it, by the formula of WCAG 2: at least 4.5.
fn everything_can_be_read(browser: &Browser) {
    const FAINT: &str = "
        const parse = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
        const light = ([r, g, b]) => {
            const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * x + 0.7152 * y + 0.0722 * z;
        };
        const behind = element => {
            for (let e = element; e; e = e.parentElement) {
                const colour = parse(getComputedStyle(e).backgroundColor);
                if (colour.length === 3 || colour[3] === 1) return colour;
            }
            return [255, 255, 255];
        };
        const faint = new Set();
        let seen = 0;
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest('script, style')) continue;
            const style = getComputedStyle(element);
            const front = light(parse(element instanceof SVGElement ? style.fill : style.color)), back = light(behind(element));
            const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
            seen += 1;
            if (contrast < 4.5) faint.add(`${contrast.toFixed(2)} ${element.localName}.${element.getAttribute('class')}`);
        }
        return [seen, [...faint]]";
    for theme in ["light", "dark"] {
        browser.theme(theme);
        for (name, report) in cases().into_iter().chain(pictures()) {
            if report.rows.len() > 100 {
                continue;
            }
            browser.open(&html(&report));
            browser.run("document.querySelectorAll('details').forEach(row => row.open = true)");
            let found = browser.run(FAINT);
            assert!(found[0].as_u64().expect("a count") > 4, "{name}");
            assert_eq!(found[1], value!([]), "{name}, {theme}");
            let back = browser.run("return getComputedStyle(document.body).backgroundColor");
            assert_eq!(back == "rgb(255, 255, 255)", theme == "light", "{name}, {theme}");
        }
    }
    browser.theme("light");
}

fn ten_thousand_rows_stay_usable(browser: &Browser) {
    let page = html(&many(10_000));
    assert!(page.len() <= BUDGET_BYTES, "{} bytes", page.len());
    browser.develop("Performance.enable", &value!({}));
    let spent = || {
        let metrics = browser.develop("Performance.getMetrics", &value!({}));
        let metrics = metrics["metrics"].as_array().expect("a list").clone();
        let time = metrics.iter().find(|metric| metric["name"] == "ThreadTime").expect("a metric");
        time["value"].as_f64().expect("seconds")
    };
    let before = spent();
    browser.open(&page);
    assert_eq!(browser.run("return document.querySelectorAll('#rows > li').length"), 10_000);
    let loaded = spent();
    browser.run(
        "const search = document.getElementById('search'); search.value = 'case/77'; search.dispatchEvent(new Event('input'));
         const order = document.getElementById('order'); order.value = 'noise'; order.dispatchEvent(new Event('change'));
         window.scrollTo(0, 1e6)",
    );
    assert_eq!(browser.run(SHOWN), 111);
    browser.run("document.getElementById('show-unchanged').click(); window.scrollTo(0, 0)");
    browser.picture(&browser.folder.path().join("many.png"), 900);
    let whole = spent();
    // Another process may have taken over, whose time begins with the page.
    let since = |after: f64| if before <= after { after - before } else { after };
    let (loaded, whole) = (since(loaded), since(whole));
    println!(
        "10,000 rows: {} bytes, loaded in {loaded:.1} s of CPU, used in {whole:.1} s",
        page.len()
    );
    assert!(whole <= BUDGET, "{whole}");
}

/// The pages of a site render, say nothing on the console and ask nobody; the index can be searched and followed.
fn the_site_stands(browser: &Browser) {
    let files = crate::site::year();
    for page in files.keys().filter(|path| path.ends_with(".html")) {
        browser.visit(&files, page);
        silent(browser, page);
    }
    browser.visit(&files, "index.html");
    browser.type_into("#search", "large");
    let shown = browser.run("return document.querySelector('#shown').textContent");
    assert_eq!(shown, "1 of 10 shown");
    // Smooth scrolling moves the link away under the driver's pointer.
    browser.run("document.querySelector('#rows > li:not([hidden]) a').click()");
    let title = browser.run("return document.querySelector('h1').textContent");
    assert_eq!(title, "worse: shop::parse/large");
    if let Some(folder) = std::env::var_os("PACEGATE_SCREENSHOTS") {
        let folder = PathBuf::from(folder);
        let large =
            files.keys().find(|path| path.contains("parse-large") && path.ends_with("html"));
        let pages = [("site", "index.html"), ("site-benchmark", large.expect("a page"))];
        for (name, page) in pages {
            browser.visit(&files, page);
            for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390)] {
                browser.theme(theme);
                browser.size(width, 900);
                browser.picture(&folder.join(format!("{name}-{theme}-{width}.png")), 2600);
            }
        }
        browser.theme("light");
        browser.size(1280, 900);
    }
}

fn take_pictures(browser: &Browser, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (name, report) in cases().into_iter().chain(pictures()).chain([("1500", many(1500))]) {
        let page = html(&report);
        std::fs::write(folder.join(format!("{name}.html")), &page).unwrap();
        for theme in ["light", "dark"] {
            browser.theme(theme);
            for (screen, width, height) in [("desktop", 1280, 1600), ("phone", 390, 1600)] {
                browser.size(width, height);
                browser.open(&page);
                browser.picture(&folder.join(format!("{name}-{theme}-{screen}.png")), 1600);
                if browser.run("return document.querySelector('#rows details') !== null") == true {
                    browser.run("document.querySelector('#rows details').open = true");
                    browser
                        .picture(&folder.join(format!("{name}-{theme}-{screen}-open.png")), 1600);
                }
            }
        }
    }
}

/// Reports as they are made from launches, for people to look at.
fn pictures() -> Vec<(&'static str, Report)> {
    const PLANNED: &[(u32, f64)] = &[(5, 0.2), (10, 0.3), (20, 0.5)];
    let suite = |session: Session, noise: f64, pairs: u32| {
        ["read", "write"].iter().fold(session, |session, verb| {
            ["serde_json", "simd-json", "sonic-rs", "json"]
                .iter()
                .fold(session, |session, library| {
                    session.bench(&format!("{verb}/{library}"), 1.0, noise, pairs)
                })
        })
    };
    let quiet = suite(Session::new(3), 0.004, 10).bench("write/streamed", 0.91, 0.005, 10);
    let mut slow = suite(Session::new(5), 0.004, 10)
        .bench("read/serde_json/large", 1.098, 0.006, 10)
        .bench("read/serde_json/small", 1.041, 0.007, 10)
        .bench("tape/flush", 1.012, 0.02, 10)
        .bench("tape/open", 0.93, 0.005, 10)
        .only_candidate("tape/close");
    // One drifts on both sides, and one falls into a slow mode now and then.
    let mut bend = |name: &str, factor: &dyn Fn(usize) -> f64| {
        for run in [&mut slow.baseline, &mut slow.candidate] {
            let series =
                run.series.iter_mut().find(|series| series.id.name == name).expect("made above");
            let Evidence::Sampled(launches) = &mut series.evidence else {
                unreachable!("bench makes samples")
            };
            for (index, launch) in launches.iter_mut().enumerate() {
                let values =
                    launch.sample.values().iter().map(|value| value * factor(index)).collect();
                launch.sample =
                    pacegate::model::Sample::of_values(values).expect("positive values");
            }
        }
    };
    bend("read/serde_json/large", &|index| 1.0 + 0.004 * index as f64);
    bend("tape/flush", &|index| if index % 4 == 3 { 1.12 } else { 1.0 });
    let noisy = suite(Session::new(11), 0.03, 20);
    [("clean", quiet), ("regression", slow), ("restless", noisy)]
        .map(|(name, session)| (name, dressed(session.looks(PLANNED).report(&Policy::default()))))
        .into()
}

/// A report with what only a measured one has.
fn dressed(mut report: Report) -> Report {
    let revision =
        |id: &str, distance| Some(Revision { id: id.repeat(8), name: format!("{id}1f"), distance });
    let facts = |facts: &[(&str, &str)]| {
        facts.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let environment = Environment {
        hard: facts(&[("cpu", "AMD EPYC 7763"), ("rustc", "1.95.0"), ("profile", "bench")]),
        soft: facts(&[("kernel", "6.1.0"), ("governor", "performance")]),
        info: facts(&[("memory", "15.6 GiB")]),
    };
    (report.baseline.label, report.candidate.label) =
        ("merge base with main".into(), "faster-strings".into());
    report.baseline.revision = revision("3f2c8", None);
    report.candidate.revision = revision("9d1e2", Some(4));
    report.baseline.environment = environment.clone();
    report.candidate.environment = environment;
    report.plan = Some(Plan {
        seed: 42,
        profile: "ci".into(),
        cpus: vec![0, 1],
        launches: 280,
        repeated: 3,
        budget_spent: false,
    });
    for row in &mut report.rows {
        row.id = BenchmarkId::new("databind", row.id.name.clone());
    }
    report
}

/// Many rows, as a large suite has them.
fn many(count: u32) -> Report {
    let session = (0..count).fold(Session::new(7), |session, n| {
        let ratio = match n % 500 {
            11 => 1.06 + f64::from(n) / f64::from(count) / 10.0,
            12..15 => 0.94,
            15..25 => 1.014,
            _ => 1.0,
        };
        session.bench(&format!("group{}/case/{n}", n % 7), ratio, 0.004, 10)
    });
    dressed(session.looks(&[(5, 0.2), (10, 0.3)]).report(&Policy::default()))
}
