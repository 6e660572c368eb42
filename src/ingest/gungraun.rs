//! Reads what gungraun and iai-callgrind (its former name) print: text, and JSON summaries of versions 1 to 7.
//!
//! ```text
//! bench_file::group::function id:description
//!   ======= CALLGRIND =======================================      only where several tools ran
//!   ## pid: 1 thread: 1 part: 1      |pid: 2 thread: 1 part: 1     only on demand; then `## Total` follows
//!   Instructions:                1734|1650            (+5.09090%) [+1.04844x]
//!   L1 Hits:                     2359|N/A             (*********)
//!   ======= DHAT ============================================
//!   Total bytes:                29499|29499           (No change)
//!   Comparison with function id                                    another benchmark; no measurement
//! ```
//!
//! New counts stand left of old ones. Older versions of iai-callgrind printed the new ones alone, `Instructions: 1734`
//! and `Total: 9 bytes in 1 blocks`. The JSON is one object for each benchmark, in one line or pretty, among the lines of a log:
//!
//! ```text
//! {"version": "6", "module_path": "bench_file::group::function", "id": "id", ..}
//! 1, 2    callgrind_summary.summaries[].events.Ir {new, old}
//!         tool_summaries[] {tool, summaries[] {summary {Total: "9 bytes in 1 blocks"}, num_errors,
//!                                              costs_summary {"Total bytes": {new, old}}, error_summary {errors}}}
//! 3       tool_summaries[] {tool, summaries {segments[].metrics_summary, total.summary.CallgrindSummary.Ir}}
//! 4 to 6  profiles[] {tool, summaries {parts[].metrics_summary, total.summary.Callgrind.Ir}}
//!         each Ir {metrics {Left: 5} or {Both: [5, 4]} or {Right: 4}}; from version 5 on {Int: 5} or {Float: 0.5}
//! 7       profiles[] {tool, data {parts[].metrics, total.metrics.Ir {values {new: 5, old: 4}}}}
//! ```
//!
//! Counts are of one run and do not vary, so they are exact. The tool takes every increase for worse, which is right
//! but for the rates of hits; what is not listed below is kept without a direction.

use serde_json::Value;

use super::Format;
use super::cargo::{self, quoted};
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Metric, Summary, Unit};

pub(super) const TEXT: Format = Format {
    name: "gungraun text",
    signs: &["Instructions:", "L1 Hits:", "RAM Hits:", "Estimated Cycles:", "|N/A"],
    claims: |input| {
        let sign =
            |line| metric(line).is_some_and(|metric| metric.barred) || is_count(line, "L1 Hits");
        input.shape == Shape::Text
            && input.lines().any(|(_, line)| sign(line))
            && !claims_json(input)
    },
    read: read_text,
};

pub(super) const JSON: Format = Format {
    name: "gungraun JSON",
    signs: &["\"module_path\"", "callgrind", "Callgrind", "\"tool\"", "\"benchmark_exe\""],
    claims: claims_json,
    read: read_json,
};

/// Unit and good direction of what the tools count, by the words that are printed.
const COUNTS: &[(&str, Better, &[&str])] = &[
    ("instructions", Better::Lower, &["instructions"]),
    ("cycles", Better::Lower, &["estimated cycles"]),
    (
        "accesses",
        Better::Lower,
        &["L1 hits", "LL hits", "RAM hits", "total read+write", "Dr", "Dw"],
    ),
    ("accesses", Better::Lower, &["L1 accesses", "L2 accesses", "RAM accesses"]),
    (
        "cache-misses",
        Better::Lower,
        &["I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "ILdmr", "DLdmr", "DLdmw"],
    ),
    (
        "%",
        Better::Lower,
        &["I1 miss rate", "LLi miss rate", "D1 miss rate", "LLd miss rate", "LL miss rate"],
    ),
    ("%", Better::Lower, &["RAM hit rate"]),
    ("%", Better::Higher, &["L1 hit rate"]),
    ("%", Better::Unknown, &["LL hit rate"]),
    ("branches", Better::Lower, &["Bc", "Bi"]),
    ("branch-misses", Better::Lower, &["Bcm", "Bim"]),
    ("system-calls", Better::Lower, &["SysCount"]),
    ("bus-events", Better::Lower, &["Ge"]),
    ("losses", Better::Lower, &["AcCost1", "AcCost2", "SpLoss1", "SpLoss2"]),
    (
        "B",
        Better::Lower,
        &["total bytes", "at t-gmax bytes", "at t-end bytes", "reads bytes", "writes bytes"],
    ),
    ("B", Better::Lower, &["maximum bytes"]),
    (
        "blocks",
        Better::Lower,
        &["total blocks", "at t-gmax blocks", "at t-end blocks", "maximum blocks"],
    ),
    ("errors", Better::Lower, &["errors", "suppressed errors"]),
    ("contexts", Better::Lower, &["contexts", "suppressed contexts"]),
];

/// Other words for the same, without spaces and capitals.
const ALIASES: &[(&str, &str)] = &[
    ("ir", "instructions"),
    ("l2hits", "llhits"),
    ("totalrw", "totalreadwrite"),
    ("numerrors", "errors"),
    ("supperrors", "suppressederrors"),
    ("suppcontexts", "suppressedcontexts"),
];

/// Something that a tool counted in the new run.
struct Count {
    /// `callgrind`.
    tool: String,
    /// Which part of the run it is of; nothing for the whole.
    part: Option<usize>,
    /// What was counted, in the words of the tool.
    label: String,
    /// Unit, where the tool says one.
    unit: Option<String>,
    value: f64,
}

/// Keeps the counts of a benchmark.
fn keep(found: &mut Found<'_>, id: &BenchmarkId, counts: &[Count]) {
    if counts.is_empty() {
        found.fail(id, "no tool counted anything in this run; look at how it was started");
    }
    for count in counts {
        let of_tool = || counts.iter().filter(|other| other.tool == count.tool);
        let parts = of_tool().filter_map(|other| other.part).max();
        let name = match (count.part, parts) {
            // The total of a tool stands for its parts, if there is one.
            (Some(_), _) if of_tool().any(|other| other.part.is_none()) => continue,
            (Some(part), Some(1..)) => format!("{} (part {})", count.label, part + 1),
            _ => count.label.clone(),
        };
        let mut known = understand(&name, count);
        if count.tool != "callgrind" {
            known.metric.name = format!("{} {}", count.tool, known.metric.name);
        }
        let suspicious = (count.value == 0.0).then(|| {
            let same = |other: &&Count| other.part.is_some() && other.label == count.label;
            let instructions = known.metric.unit.as_str() == "instructions";
            of_tool().find(|other| other.value != 0.0 && (same(other) || instructions))
        });
        match suspicious {
            Some(Some(other)) => {
                let other_name = understand(&other.label, other).metric.name;
                let part = if other.part.is_some() { " in a part of the run" } else { "" };
                found.fail(
                    id,
                    format!(
                        "the count of {} is 0 while that of {other_name}{part} is {}, which is not to be believed; measure again",
                        known.metric.name, other.value
                    ),
                );
            }
            Some(None) if known.metric.unit.as_str() == "instructions" => {
                found.fail(id, "measured nothing: it ran no instruction; look at what is called");
            }
            // What the hardware counts varies, and how often it was counted is not said here.
            _ if count.tool == "perf" => {
                let score =
                    Summary { score: count.value, spread: None, n: None, launches: Some(1) };
                found.summary(id, &known, score);
            }
            _ => found.exact(id, &known, count.value),
        }
    }
}

/// Name, unit and direction of a count. The names are those that are printed, whatever the format.
fn understand(name: &str, count: &Count) -> Known {
    let key = plain(&count.label);
    let of = |words: &&str| plain(words) == key;
    for (unit, better, words) in COUNTS {
        if let Some(words) = words.iter().find(|words| of(words)) {
            let name = name.replacen(&count.label, words, 1);
            let metric = Metric { name, unit: Unit::new(*unit), better: *better };
            return Known { metric, factor: 1.0 };
        }
    }
    named(name, count.unit.as_deref().unwrap_or(&count.label))
}

/// Words without spaces, capitals and aliases: `L2 Hits` and `LLhits` are both `llhits`.
fn plain(words: &str) -> String {
    let plain: String =
        words.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    match ALIASES.iter().find(|(alias, _)| *alias == plain) {
        Some((_, plain)) => (*plain).to_owned(),
        None => plain,
    }
}

/// Reads the text of this tool and of iai.
pub(super) fn read_text(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut text = Text { broke: judged_itself(input), ..Text::default() };
    for (number, line) in input.lines() {
        text.line(found, number, line);
    }
    text.finish(found);
    if let Some((number, name)) = text.header().filter(|(_, name)| is_path(name)) {
        let id = found.printed("", &name);
        found.fail(&id, format!("line {number}: no counts follow the name; give the whole output"));
    }
    Ok(())
}

/// Whether the run ended with an error for regressions that it found itself: then it came to its end.
fn judged_itself(input: &Input) -> bool {
    let signs = ["result: Regressed", "Performance has regressed", "(exit status: 3)"];
    input.lines().any(|(_, line)| signs.iter().any(|sign| line.contains(sign)))
}

/// Whether a line begins as the name of a benchmark does.
fn is_path(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.contains("::"))
}

#[derive(Default)]
struct Text<'a> {
    /// The bench target that cargo announced.
    target: &'a str,
    /// Lines that may be a name, which may have several.
    above: Vec<(usize, &'a str)>,
    /// The benchmark that counts belong to; none within a comparison.
    id: Option<BenchmarkId>,
    counts: Vec<Count>,
    tool: String,
    part: Option<usize>,
    /// Whether old counts stand beside the new ones; the first count tells it for all.
    barred: Option<bool>,
    /// Whether the end of the run is known already.
    broke: bool,
}

impl<'a> Text<'a> {
    fn line(&mut self, found: &mut Found<'_>, number: usize, line: &'a str) {
        if let Some(target) = cargo::target(line) {
            self.target = target;
            return;
        }
        if line.contains("panicked at") || (!self.broke && cargo::crashed(line)) {
            let why = format!("line {number}: {}", quoted(line));
            match self.header().filter(|(_, name)| is_path(name)) {
                Some((_, name)) => {
                    let id = found.printed("", &name);
                    found.fail(&id, format!("{why}; mend it and measure again"));
                }
                None => found.incomplete("", why),
            }
            self.broke = true;
            self.above.clear();
            return;
        }
        let body = body(line);
        if line.trim().is_empty() {
            self.above.clear();
        } else if body == line {
            self.above.push((number, line));
        } else if let Some(tool) = body.strip_prefix("======= ") {
            self.begin(found);
            self.tool = tool.trim_end_matches('=').trim().to_lowercase();
            self.part = None;
        } else if let Some(part) = body.strip_prefix("## ") {
            self.begin(found);
            let total = part.trim() == "Total";
            self.part = if total { None } else { Some(self.part.map_or(0, |part| part + 1)) };
        } else if body.starts_with("Comparison with ") {
            self.finish(found);
        } else if let Some(metric) = metric(line)
            && metric.barred == *self.barred.get_or_insert(metric.barred)
        {
            self.begin(found);
            if let Some(value) = metric.new {
                self.count(metric.label, metric.unit, value);
            }
        } else if let Some((label, words)) = body.split_once(':') {
            if is_known(label) {
                self.begin(found);
                if let Some(id) = &self.id {
                    let message = format!("no count can be read in {}", quoted(body));
                    found.fail(id, format!("line {number}: {message}; give the whole output"));
                }
            } else if self.tool == "dhat" {
                for (label, value) in sized(label, words) {
                    self.count(&label, None, value);
                }
            }
        }
    }

    /// Adds a new count, unless it stands in a comparison.
    fn count(&mut self, label: &str, unit: Option<&str>, value: f64) {
        if self.id.is_some() {
            self.counts.push(Count {
                tool: self.tool.clone(),
                part: self.part,
                label: label.to_owned(),
                unit: unit.map(str::to_owned),
                value,
            });
        }
    }

    /// Begins the benchmark whose name stands above, if there is one.
    fn begin(&mut self, found: &mut Found<'_>) {
        if let Some((_, name)) = self.header() {
            self.finish(found);
            self.id = Some(found.printed(self.suite(&name), &name));
            self.tool = "callgrind".to_owned();
            self.part = None;
        }
        self.above.clear();
    }

    /// Keeps the counts of the benchmark that came before.
    fn finish(&mut self, found: &mut Found<'_>) {
        if let Some(id) = self.id.take() {
            keep(found, &id, &std::mem::take(&mut self.counts));
        }
    }

    /// The name in the lines above: from the last path on, since a description may have several lines; where nothing
    /// is a path, the last line.
    fn header(&self) -> Option<(usize, String)> {
        let from = self.above.iter().rposition(|(_, line)| is_path(line));
        let from = from.or(self.above.len().checked_sub(1))?;
        let lines = self.above.get(from..)?;
        let (number, _) = lines.first()?;
        let name: Vec<&str> = lines.iter().map(|(_, line)| line.trim()).collect();
        Some((*number, name.join(" ")))
    }

    /// A path names its target itself.
    fn suite(&self, name: &str) -> &'a str {
        if is_path(name) { "" } else { self.target }
    }
}

/// What a line holds behind its indentation or grid.
fn body(line: &str) -> &str {
    match line.strip_prefix("|=").or(line.strip_prefix("|-")).or(line.strip_prefix('|')) {
        Some(rest) => rest.trim(),
        None if line.starts_with([' ', '\t']) => line.trim(),
        None => line,
    }
}

/// A line with a count.
struct Printed<'a> {
    label: &'a str,
    unit: Option<&'a str>,
    /// The new count; nothing for `N/A`.
    new: Option<f64>,
    /// Whether an old count stands beside it.
    barred: bool,
}

fn metric(line: &str) -> Option<Printed<'_>> {
    let body = body(line);
    if body == line {
        return None;
    }
    let (label, rest) = body.split_once(':')?;
    let rest = rest.trim();
    let (new, old) = match rest.split_once('|') {
        Some((new, old)) => (new.trim(), Some(old)),
        None => rest.split_once(char::is_whitespace).map_or((rest, None), |(new, _)| (new, None)),
    };
    let count = |word: &str| if word == "N/A" { Some(None) } else { unit::number(word).map(Some) };
    if let Some(old) = old {
        let mut words = old.split_whitespace();
        count(words.next()?)?;
        if !words.next()?.starts_with('(') {
            return None;
        }
    } else if !is_known(label) {
        return None;
    }
    let (label, unit) = match label.strip_suffix(']').and_then(|label| label.rsplit_once(" [")) {
        Some((label, unit)) => (label, Some(unit)),
        None => (label, None),
    };
    Some(Printed { label, unit, new: count(new)?, barred: old.is_some() })
}

/// Whether words name something that the tools count.
fn is_known(label: &str) -> bool {
    let key = plain(label);
    COUNTS.iter().any(|(_, _, all)| all.iter().any(|words| plain(words) == key))
}

/// Whether a line is a new count alone, by these words.
pub(super) fn is_count(line: &str, words: &str) -> bool {
    metric(line).is_some_and(|metric| !metric.barred && metric.label == words)
}

fn claims_json(input: &Input) -> bool {
    let may_be = match &input.shape {
        Shape::Json(outline) => outline.has(&["module_path"]),
        Shape::Text | Shape::Broken(_) => input.text.contains("\"module_path\""),
    };
    may_be && input.objects().any(|(_, object)| summary(object).is_some())
}

/// A JSON object that is a summary.
fn summary(object: &str) -> Option<Value> {
    let summary: Value = serde_json::from_str(object).ok()?;
    let tools = ["profiles", "tool_summaries", "callgrind_summary"];
    let is_summary = summary.get("module_path").is_some_and(Value::is_string)
        && tools.iter().any(|tools| summary.get(tools).is_some());
    is_summary.then_some(summary)
}

fn read_json(input: &Input, found: &mut Found<'_>) -> Result<()> {
    for (number, object) in input.objects() {
        let Some(summary) = summary(object) else { continue };
        let text = |key: &str| summary.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = found.printed("", &format!("{} {}", text("module_path"), text("id")));
        let counts = counts(&summary);
        if counts.is_empty() {
            let message = format!(
                "line {number}: the summary (version {}) has no new count of any tool; look at how it was started",
                text("version")
            );
            found.fail(&id, message);
        } else {
            keep(found, &id, &counts);
        }
    }
    if let Some(number) = input.cut_object() {
        found.incomplete("", format!("line {number}: a summary is cut off"));
    }
    let judged = judged_itself(input);
    let crashed = |line: &str| line.contains("panicked at") || (!judged && cargo::crashed(line));
    if let Some((number, line)) = input.lines().find(|(_, line)| crashed(line)) {
        found.incomplete("", format!("line {number}: {}", quoted(line)));
    }
    Ok(())
}

/// Everything that a summary counted in the new run.
fn counts(summary: &Value) -> Vec<Count> {
    let mut counts = Vec::new();
    let callgrind = summary.get("callgrind_summary").and_then(|tool| tool.get("summaries"));
    add_runs(&mut counts, "callgrind", list(callgrind));
    let profiles = list(summary.get("tool_summaries")).iter().chain(list(summary.get("profiles")));
    for profile in profiles {
        let tool = profile.get("tool").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let Some(data) = profile.get("summaries").or(profile.get("data")) else { continue };
        add_runs(&mut counts, &tool, list(Some(data)));
        let parts = list(data.get("parts").or(data.get("segments")));
        for (part, value) in parts.iter().enumerate() {
            let metrics = value.get("metrics_summary").or(value.get("metrics"));
            add(&mut counts, &tool, Some(part), metrics);
        }
        let total =
            data.get("total").and_then(|total| total.get("summary").or(total.get("metrics")));
        add(&mut counts, &tool, None, total);
    }
    counts
}

/// The elements of what may be a list.
fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Adds the runs of a tool in a summary of version 1 or 2, one for each process.
fn add_runs(counts: &mut Vec<Count>, tool: &str, runs: &[Value]) {
    for (number, run) in runs.iter().enumerate() {
        let part = (runs.len() > 1).then_some(number);
        let metrics = ["events", "costs_summary", "summary"]
            .iter()
            .find_map(|key| run.get(key).filter(|value| value.is_object()));
        add(counts, tool, part, metrics);
        match run.get("error_summary") {
            Some(errors @ Value::Object(_)) => add(counts, tool, part, Some(errors)),
            _ => {
                if let Some(value) = run.get("num_errors").and_then(Value::as_f64) {
                    let label = "errors".to_owned();
                    counts.push(Count { tool: tool.to_owned(), part, label, unit: None, value });
                }
            }
        }
    }
}

/// Adds the new counts of one map of counts, which may lie in one that names the tool again.
fn add(counts: &mut Vec<Count>, tool: &str, part: Option<usize>, metrics: Option<&Value>) {
    let Some(Value::Object(metrics)) = metrics else { return };
    for (label, value) in metrics {
        let tools = ["callgrind", "cachegrind", "dhat", "errortool", "error", "perf"];
        if tools.contains(&plain(label).trim_end_matches("summary")) {
            add(counts, tool, part, Some(value));
            continue;
        }
        let count = |label: String, value: f64, unit: Option<&Value>| Count {
            tool: tool.to_owned(),
            part,
            label,
            unit: unit.and_then(Value::as_str).map(str::to_owned),
            value,
        };
        if let Some(words) = value.as_str() {
            let pairs = sized(label, words).into_iter();
            counts.extend(pairs.map(|(label, value)| count(label, value, None)));
        } else if let Some(new) = new(value) {
            counts.push(count(label.clone(), number(new), new.get("unit")));
        }
    }
}

/// Bytes and blocks in `9 bytes in 1 blocks`.
fn sized(label: &str, words: &str) -> Vec<(String, f64)> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| match *pair {
        [number, unit @ ("bytes" | "blocks")] => {
            Some((format!("{label} {unit}"), unit::number(number)?))
        }
        _ => None,
    });
    pairs.collect()
}

/// The new side of a count.
fn new(value: &Value) -> Option<&Value> {
    if value.is_number() {
        return Some(value);
    }
    match value.get("metrics") {
        Some(metrics) => metrics.get("Left").or_else(|| metrics.get("Both")?.get(0)),
        None => value.get("values").unwrap_or(value).get("new"),
    }
}

/// A number by itself, or with the name of its type, or with its unit. What is none is not a number.
fn number(value: &Value) -> f64 {
    let inside = || ["Int", "Float", "value"].iter().find_map(|key| value.get(key)?.as_f64());
    value.as_f64().or_else(inside).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, notices, rows, run_of};

    const SHORT: &str = "
running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out

fib::group::run short:10
  Instructions:                1700|N/A             (*********)
  L1 Hits:                     2300|2250            (+2.22222%) [+1.02222x]
  L2 Hits:                        0|0               (No change)
  RAM Hits:                       3|3               (No change)
  Total read+write:            2303|2253            (+2.21926%) [+1.02219x]
  Estimated Cycles:            2405|0               (+++inf+++) [+++inf+++]
";

    const SHORT_ROWS: [&str; 6] = [
        "fib::group::run short:10 L1 hits accesses lower exactly 2300",
        "fib::group::run short:10 LL hits accesses lower exactly 0",
        "fib::group::run short:10 RAM hits accesses lower exactly 3",
        "fib::group::run short:10 estimated cycles cycles lower exactly 2405",
        "fib::group::run short:10 instructions instructions lower exactly 1700",
        "fib::group::run short:10 total read+write accesses lower exactly 2303",
    ];

    #[test]
    fn every_count_is_read() {
        let run = run_of(SHORT);
        assert_eq!(rows(&run), SHORT_ROWS);
        assert_eq!((failures(&run), notices(&run)), (vec![], vec![]));
    }

    #[test]
    fn colours_change_nothing() {
        let text = SHORT
            .replace("fib::group::run", "\u{1b}[32mfib::group::run\u{1b}[0m")
            .replace(
                "short:10",
                "\u{1b}[36mshort\u{1b}[0m\u{1b}[36m:\u{1b}[0m\u{1b}[1;34m10\u{1b}[0m",
            )
            .replace("1700", "\u{1b}[1m           1700\u{1b}[0m")
            .replace("*********", "\u{1b}[90m*********\u{1b}[0m");
        assert_eq!(rows(&run_of(&text)), SHORT_ROWS);
    }

    #[test]
    fn a_grid_and_a_summary_of_regressions_change_nothing() {
        let text = SHORT.replace("\n  ", "\n| ");
        let end = "
Regressions:

  fib::group::run short:
    Callgrind: Instructions (1600 -> 1700): +6.25000% exceeds limit of +5.00000%

Gungraun result: Regressed. 0 without regressions; 1 regressed; 0 filtered; 1 benchmarks finished in 0.5s
error: bench failed, to rerun pass `--bench fib`
";
        let run = run_of(&format!("{text}{end}"));
        assert_eq!(rows(&run), SHORT_ROWS);
        assert_eq!((failures(&run), notices(&run)), (vec![], vec![]));
    }

    #[test]
    fn each_tool_and_each_kind_of_name_is_read() {
        let run = run_of(
            "
x::g::two_tools
  ======= CALLGRIND =======================================================
  Instructions:                  10|N/A             (*********)
  I1 Miss Rate:             10.0000|N/A             (*********)
  L1 Hit Rate:              99.0000|N/A             (*********)
  SysTime:                        4|N/A             (*********)
  ======= DHAT ============================================================
  Total bytes:                  640|N/A             (*********)
  Total blocks:                   5|N/A             (*********)
  ======= MEMCHECK ========================================================
  Errors:                         0|N/A             (*********)
x::g::lines id_1:two
lines
  Instructions:                  11|N/A             (*********)
  Comparison with two_tools id:desc
  Instructions:                  11|10              (+10.0000%) [+1.10000x]
x::g::long id:(a description that was cut in the middle of th...
  Instructions:                  12|N/A             (*********)
.... something else ...
",
        );
        assert_eq!(
            rows(&run),
            [
                "x::g::lines id_1:two lines instructions instructions lower exactly 11",
                "x::g::long id:(a description that was cut in the middle of th... instructions instructions lower exactly 12",
                "x::g::two_tools I1 miss rate % lower exactly 10",
                "x::g::two_tools L1 hit rate % higher exactly 99",
                "x::g::two_tools SysTime SysTime unknown exactly 4",
                "x::g::two_tools dhat total blocks blocks lower exactly 5",
                "x::g::two_tools dhat total bytes B lower exactly 640",
                "x::g::two_tools instructions instructions lower exactly 10",
                "x::g::two_tools memcheck errors errors lower exactly 0",
            ]
        );
        assert_eq!((failures(&run), notices(&run)), (vec![], vec!["cut-name"]));
    }

    #[test]
    fn the_total_of_several_parts_is_taken() {
        let run = run_of(
            "
x::g::threads
  ## pid: 1 thread: 1 part: 1        |N/A
  Command:            target/release/deps/x
  Instructions:                   4|N/A             (*********)
  ## pid: 1 thread: 2 part: 1        |N/A
  Instructions:                   6|N/A             (*********)
  ## Total
  Instructions:                  10|N/A             (*********)
",
        );
        assert_eq!(rows(&run), ["x::g::threads instructions instructions lower exactly 10"]);
    }

    #[test]
    fn older_versions_print_no_old_counts() {
        let run = run_of(
            "
x::g::f short:10
  Instructions:                1733
  L1 Hits:                     2359 (No change)
  ======= DHAT ============================================================
  Total:            18 bytes in 2 blocks
  Logfile:          target/iai/dhat.log
",
        );
        assert_eq!(
            rows(&run),
            [
                "x::g::f short:10 L1 hits accesses lower exactly 2359",
                "x::g::f short:10 dhat total blocks blocks lower exactly 2",
                "x::g::f short:10 dhat total bytes B lower exactly 18",
                "x::g::f short:10 instructions instructions lower exactly 1733",
            ]
        );
        assert!(failures(&run).is_empty());
    }

    #[test]
    fn a_zero_beside_real_counts_is_suspicious() {
        let text = SHORT.replace("1700|N/A", "0|1700");
        let found = run_of(&text);
        assert_eq!(
            failures(&found),
            [
                "fib::group::run short:10: the count of instructions is 0 while that of L1 hits is 2300, which is not to be believed; measure again"
            ]
        );
        assert_eq!(rows(&found).len(), 5);

        let parts = run_of(
            r#"{"version":"6","module_path":"x::g::f","id":"a","profiles":[{"tool":"Callgrind","summaries":{"parts":[{"metrics_summary":{"Callgrind":{"Dr":{"metrics":{"Left":{"Int":7}}}}}}],"total":{"summary":{"Callgrind":{"Dr":{"metrics":{"Left":{"Int":0}}}}}}}}]}"#,
        );
        assert_eq!(
            failures(&parts),
            [
                "x::g::f a: the count of Dr is 0 while that of Dr in a part of the run is 7, which is not to be believed; measure again"
            ]
        );
        assert!(rows(&parts).is_empty());
    }

    #[test]
    fn a_run_that_broke_off_is_not_whole() {
        let check = |end: &str, failure: &str| {
            let run = run_of(&format!("{SHORT}{end}"));
            assert_eq!(failures(&run), [failure], "{end}");
            let of_short: Vec<String> =
                rows(&run).into_iter().filter(|row| row.contains("short:10")).collect();
            assert_eq!(of_short, SHORT_ROWS, "{end}");
        };
        check(
            "fib::group::run long:30",
            "fib::group::run long:30: line 13: no counts follow the name; give the whole output",
        );
        check(
            "fib::group::run long:30\nthread 'main' panicked at x.rs:1:1:\nerror: bench failed",
            "fib::group::run long:30: line 14: `thread 'main' panicked at x.rs:1:1:`; mend it and measure again",
        );
        check(
            "\nerror: bench failed, to rerun pass `--bench fib`",
            "(whole run): line 14: `error: bench failed, to rerun pass `--bench fib``; benchmarks may be missing, so measure again",
        );
        check(
            "fib::group::run long:30\n  L1 Hits:                 7|N/A             (*********)\n  Instructions:           17",
            "fib::group::run long:30: line 15: no count can be read in `Instructions:           17`; give the whole output",
        );
        check(
            "fib::group::run long:30\n  Instructions:                 N/A|1734            (*********)\n",
            "fib::group::run long:30: no tool counted anything in this run; look at how it was started",
        );
    }

    #[test]
    fn every_version_of_the_json_is_read() {
        let check = |body: &str, expected: &[&str]| {
            let text = format!(r#"{{"module_path":"x::g::f","id":"a","details":"10",{body}}}"#);
            let run = run_of(&text);
            assert_eq!(rows(&run), expected, "{body}");
            assert!(failures(&run).is_empty(), "{body}");
        };
        let ir = "x::g::f a instructions instructions lower exactly 5";
        let bytes = "x::g::f a dhat total bytes B lower exactly 9";
        let errors = "x::g::f a memcheck errors errors lower exactly 1";
        check(
            r#""version":"1","callgrind_summary":{"summaries":[{"command":"x","events":{"Ir":{"new":5,"old":4,"diff_pct":25.0}},"regressions":[]}]},"tool_summaries":[{"tool":"DHAT","summaries":[{"pid":1,"summary":{"Total":"9 bytes in 2 blocks","Reads":"7 bytes"}}]},{"tool":"Memcheck","summaries":[{"pid":1,"summary":{},"error_summary":"1 errors from 1 contexts","num_errors":1}]}]"#,
            &[
                "x::g::f a dhat reads bytes B lower exactly 7",
                "x::g::f a dhat total blocks blocks lower exactly 2",
                bytes,
                ir,
                errors,
            ],
        );
        check(
            r#""version":"2","callgrind_summary":{"summaries":[{"events":{"Ir":{"new":5,"old":null},"L1hits":{"old":3}}}]},"tool_summaries":[{"tool":"DHAT","summaries":[{"summary":{},"costs_summary":{"Total bytes":{"new":9}}}]},{"tool":"Memcheck","summaries":[{"summary":{},"costs_summary":null,"error_summary":{"errors":1,"contexts":0,"supp_errors":0,"supp_contexts":0}}]}]"#,
            &[
                bytes,
                ir,
                "x::g::f a memcheck contexts contexts lower exactly 0",
                errors,
                "x::g::f a memcheck suppressed contexts contexts lower exactly 0",
                "x::g::f a memcheck suppressed errors errors lower exactly 0",
            ],
        );
        check(
            r#""version":"3","tool_summaries":[{"tool":"Callgrind","summaries":{"segments":[{"metrics_summary":{"CallgrindSummary":{"Ir":{"diffs":null,"metrics":{"Left":5}}}}}],"total":{"summary":{"CallgrindSummary":{"Ir":{"metrics":{"Left":5}}}},"regressions":[]}}},{"tool":"DHAT","summaries":{"segments":[],"total":{"summary":{"DhatSummary":{"TotalBytes":{"metrics":{"Both":[9,8]}}}}}}},{"tool":"Memcheck","summaries":{"segments":[],"total":{"summary":{"ErrorSummary":{"Errors":{"metrics":{"Left":1}}}}}}}]"#,
            &[bytes, ir, errors],
        );
        for (version, left, both) in [
            ("4", "5", "[9,8]"),
            ("5", r#"{"Int":5}"#, r#"[{"Int":9},{"Int":8}]"#),
            ("6", r#"{"Float":5.0}"#, r#"[{"Int":9},{"Int":8}]"#),
        ] {
            let one = if version == "4" { "1" } else { r#"{"Int":1}"# };
            check(
                &format!(
                    r#""version":"{version}","baselines":[null,null],"profiles":[{{"tool":"Callgrind","summaries":{{"parts":[],"total":{{"summary":{{"Callgrind":{{"Ir":{{"metrics":{{"Left":{left}}}}},"Dr":{{"metrics":{{"Right":{left}}}}}}}}}}}}}}},{{"tool":"DHAT","summaries":{{"parts":[],"total":{{"summary":{{"Dhat":{{"TotalBytes":{{"metrics":{{"Both":{both}}}}}}}}}}}}}}},{{"tool":"Memcheck","summaries":{{"parts":[],"total":{{"summary":{{"ErrorTool":{{"Errors":{{"metrics":{{"Left":{one}}}}}}}}}}}}}}},{{"tool":"Massif","summaries":{{"parts":[{{"metrics_summary":"None"}}],"total":{{"summary":"None"}}}}}}]"#
                ),
                &[bytes, ir, errors],
            );
        }
        check(
            r#""version":"7","group":"g","profiles":[{"tool":"Callgrind","data":{"parts":[{"metrics":{"Ir":{"values":{"new":5}}}}],"total":{"metrics":{"Ir":{"change":null,"values":{"new":5,"old":4}}},"regressions":[]}}},{"tool":"Perf","data":{"parts":[{"metrics":{"task-clock":{"values":{"new":{"value":2.5,"unit":"msec","n":4}}}}}],"total":{"metrics":{},"regressions":[]}}}]"#,
            &[ir, "x::g::f a perf task-clock ns lower score 2500000 of 1"],
        );
    }

    #[test]
    fn objects_among_other_lines_are_read() {
        let one = |id: &str| {
            format!(
                r#"{{"module_path":"x::g::f","id":{id},"version":"6","profiles":[{{"tool":"Callgrind","summaries":{{"parts":[],"total":{{"summary":{{"Callgrind":{{"Ir":{{"metrics":{{"Left":{{"Int":5}}}}}}}}}}}}}}}}]}}"#
            )
        };
        let pretty = serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(&one("\"b\"")).expect("JSON"),
        )
        .expect("JSON");
        let text = format!(
            "running 0 tests\n\n{{\"reason\":\"build-finished\",\"success\":true}}\n{}\nsome text\n{pretty}\n\n.... more\n{}\n",
            one("\"a\""),
            one("null")
        );
        assert_eq!(
            rows(&run_of(&text)),
            [
                "x::g::f instructions instructions lower exactly 5",
                "x::g::f a instructions instructions lower exactly 5",
                "x::g::f b instructions instructions lower exactly 5",
            ]
        );

        let cut: String = pretty.lines().take(4).collect::<Vec<_>>().join("\n");
        let run = run_of(&format!("running 0 tests\n{cut}\n{}\n", one("\"a\"")));
        assert_eq!(rows(&run).len(), 1);
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 2: a summary is cut off; benchmarks may be missing, so measure again"
            ]
        );
    }

    #[test]
    fn a_summary_without_counts_is_told() {
        let run = run_of(r#"{"module_path":"x::g::f","id":"a","version":"9","profiles":[]}"#);
        assert_eq!(
            failures(&run),
            [
                "x::g::f a: line 1: the summary (version 9) has no new count of any tool; look at how it was started"
            ]
        );
    }

    #[test]
    fn a_count_that_is_no_number_is_told() {
        let run = run_of(
            r#"{"version":"6","module_path":"x::g::f","id":"a","profiles":[{"tool":"Callgrind","summaries":{"parts":[],"total":{"summary":{"Callgrind":{"Ir":{"metrics":{"Left":{"Float":NaN}}}}}}}}]}"#,
        );
        assert_eq!(
            failures(&run),
            ["x::g::f a: instructions is not a number; look at why it was not measured"]
        );
    }

    #[test]
    fn what_is_cut_off_within_its_only_benchmark_is_refused() {
        let text = error("fib::group::run short:10\n  Instructions:                1734|\n");
        assert!(text.contains("line 1 is `fib::group::run short:10`"), "{text}");
        assert!(text.contains("it looks most like gungraun text"), "{text}");
        let json = error("{\n  \"module_path\": \"x::g::f\",\n  \"profiles\": [\n");
        assert!(json.contains("it begins as JSON, but EOF"), "{json}");
        assert!(json.contains("looks most like gungraun JSON"), "{json}");
    }
}
