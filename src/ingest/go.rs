//! Reads what `go test -bench` prints, and everything else in the Go benchmark format.
//!
//! ```text
//! goos: linux
//! pkg: example.org/codec
//! cpu: Example CPU @ 2.00GHz
//! Unit retries/op better=lower assume=exact                   what the file says of a unit, anywhere in it
//! BenchmarkEncode/size=4k-8   30000   40537 ns/op   101.04 MB/s   64 B/op   2 allocs/op
//! BenchmarkEncode/size=4k-8   30000   40612 ns/op   100.85 MB/s   64 B/op   2 allocs/op      repeated by -count
//! BenchmarkSlow                                               a name alone: its figures follow, or it crashed
//! --- FAIL: BenchmarkBroken-8
//! PASS
//! ok    example.org/codec   3.614s                            the end of this process
//! ```
//!
//! With `-json` the same text comes in pieces, of several packages at once:
//!
//! ```text
//! {"Time":"..","Action":"output","Package":"example.org/codec","Output":"BenchmarkSlow-8 \t"}
//! {"Time":"..","Action":"output","Package":"example.org/codec","Output":"     100\t 91000 ns/op\n"}
//! ```
//!
//! Repetitions by `-count` run in one process, so they are samples of one launch; a package that comes again was run
//! again, which is a further launch. The `-8` is the number of CPUs and stays a part of the name, since one file may
//! hold several. Sizes, counts and units that nobody explains are kept as exact values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Format;
use super::found::{Found, Repeated, named, own_name};
use super::input::{Input, Shape};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Notice};

pub(super) const FORMAT: Format = Format {
    name: "Go benchmark text",
    signs: &["\nBenchmark", "ns/op", "allocs/op", "goos: ", "pkg: ", "--- FAIL: Benchmark"],
    claims: |input| {
        input.shape == Shape::Text
            && input
                .glance()
                .lines()
                .any(|line| benchmark(line).is_some_and(|(_, rest)| figures(rest).is_ok()))
    },
    read,
};

/// The events of `go test -json`.
pub(super) const EVENTS: Format =
    Format {
        name: "Go test events",
        signs: &["\"Action\"", "\"Package\"", "\"Output\"", "\"Elapsed\""],
        claims: |input| {
            input.glance().lines().filter_map(event).any(|event| {
                event.output.is_some_and(|output| benchmark(output.trim_end()).is_some())
            })
        },
        read: read_events,
    };

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GEvent<'a> {
    #[serde(rename = "Action")]
    _action: IgnoredAny,
    #[serde(borrow)]
    package: Cow<'a, str>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
}

fn event(line: &str) -> Option<GEvent<'_>> {
    line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten()
}

/// Puts the output of each package together again and reads it. Lines in messages are those of this output.
fn read_events(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut packages: Vec<(Cow<'_, str>, String)> = Vec::new();
    let mut places: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    for (number, line) in input.lines() {
        let Some(event) = event(line) else {
            if line.starts_with('{') {
                found.incomplete("", format!("line {number}: an event is cut off or edited"));
            }
            continue;
        };
        let place = *places.entry(event.package.clone()).or_insert_with(|| {
            packages.push((event.package.clone(), String::new()));
            packages.len() - 1
        });
        if let (Some((_, text)), Some(output)) = (packages.get_mut(place), event.output) {
            text.push_str(&output);
        }
    }
    let text = packages.iter().map(|(package, text)| format!("pkg: {package}\n{text}\n")).collect();
    read(&Input::of_text(format!("{} (output)", input.name), text), found)
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    found.repeated(Repeated::Launch);
    let stated = Stated::of(input, found);
    let mut log = Log::default();
    for (number, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["pkg:", package] => log.next_process(package),
            ["PASS"] => log.process += 1,
            ["ok", package, took, ..] if took.ends_with('s') || took.starts_with('(') => {
                log.next_process(package);
            }
            ["goos:" | "goarch:" | "cpu:", ..] => machine(line, found),
            ["---", "FAIL:", name, ..] if name.starts_with("Benchmark") => {
                log.settle(name);
                found.fail(&found.id(&log.package, name), format!("line {number}: it failed"));
            }
            ["---", "SKIP:", name, ..] => log.settle(name),
            ["FAIL"] if !log.crashes.is_empty() => {}
            ["FAIL", package, ..] if line.starts_with("FAIL\t") => log.crash(package, number, line),
            ["FAIL"] | ["panic:", ..] | ["fatal", "error:", ..] | ["exit", "status", _] => {
                let package = log.package.clone();
                log.crash(&package, number, line);
            }
            _ => log.row(input, found, number, line),
        }
    }
    log.finish(found, &stated);
    Ok(())
}

/// What was read so far.
#[derive(Default)]
struct Log<'a> {
    package: String,
    /// Number of the process whose output this is.
    process: u32,
    /// Values of each benchmark and unit with the process that measured them, in measured order.
    values: BTreeMap<(BenchmarkId, &'a str), Vec<(u32, f64)>>,
    /// Names without figures, latest last.
    open: Vec<Open<'a>>,
    /// The first mark of a crash in each package.
    crashes: BTreeMap<String, String>,
}

/// A name that was printed without figures.
struct Open<'a> {
    line: usize,
    package: String,
    name: &'a str,
    /// What stands in place of the figures; empty where only the name was printed, as `-v` does at the start.
    message: String,
}

impl<'a> Log<'a> {
    fn next_process(&mut self, package: &str) {
        package.clone_into(&mut self.package);
        self.process += 1;
    }

    fn crash(&mut self, package: &str, number: usize, line: &str) {
        let message = format!("line {number}: `{}`", line.trim());
        self.crashes.entry(package.to_owned()).or_insert(message);
    }

    /// Whatever was printed of a benchmark that is now known to have failed or been skipped, it is not missing.
    fn settle(&mut self, name: &str) {
        self.open.retain(|open| !open.message.is_empty() || !answers(name, open.name));
    }

    fn row(&mut self, input: &Input, found: &mut Found<'_>, line: usize, text: &'a str) {
        if let Some((name, rest)) = benchmark(text) {
            match figures(rest) {
                Ok(figures) => self.take(found, line, name, &figures),
                Err(message) => {
                    let package = self.package.clone();
                    self.open.push(Open { line, package, name, message });
                }
            }
        } else if let Some(open) = self.open.last()
            && let Ok(figures) = figures(text)
            && figures.values.first().is_some_and(|(_, unit)| unit.ends_with("/op"))
        {
            let name = open.name;
            found.notice(
                "split-line",
                format!(
                    "{}: the figures of `{name}` (line {}) stand on line {line}",
                    input.name, open.line
                ),
                "something else was printed in between",
            );
            self.open.pop();
            self.take(found, line, name, &figures);
        }
    }

    fn take(&mut self, found: &mut Found<'_>, line: usize, name: &str, figures: &Figures<'a>) {
        let id = found.id(&self.package, name);
        if figures.iterations == 0 {
            found.notice(
                "no-iterations",
                format!("line {line}: {id} ran 0 iterations by its own account"),
                "its figures are taken as they are; check how they were reported",
            );
        }
        for &(value, unit) in &figures.values {
            self.values.entry((id.clone(), unit)).or_default().push((self.process, value));
        }
    }

    fn finish(self, found: &mut Found<'_>, stated: &Stated<'_>) {
        for open in self.open {
            let measured = self.values.keys().any(|(id, _)| {
                *id == found.id(&open.package, &id.name) && answers(&id.name, open.name)
            });
            if open.message.is_empty() && measured {
                continue;
            }
            let message = match open.message.as_str() {
                "" => "it has no figures; it crashed or was cut off",
                message => message,
            };
            let id = found.id(&open.package, open.name);
            found.fail(&id, format!("line {}: {message}", open.line));
        }
        for (package, message) in self.crashes {
            found.incomplete(&package, message);
        }
        let cpus: BTreeSet<_> = self.values.keys().map(|(id, _)| cpus(&id.name)).collect();
        if let (1, Some(Some(cpus))) = (cpus.len(), cpus.first()) {
            let soft = &mut found.current().environment.soft;
            soft.insert("gomaxprocs".into(), (*cpus).to_owned());
        }
        for ((id, unit), values) in &self.values {
            let (known, nature) = stated.metric(unit);
            for process in values.chunk_by(|a, b| a.0 == b.0) {
                let values: Vec<f64> = process.iter().map(|&(_, value)| value).collect();
                match nature {
                    Nature::Main => found.launch(id, &known, &values),
                    Nature::Measured => found.launch_beside(id, &known, &values),
                    Nature::Exact => found.exact_all(id, &known, &values),
                }
            }
        }
    }
}

/// How the values of a unit come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    /// The time of an operation, without which nothing was measured.
    Main,
    /// They vary from run to run.
    Measured,
    /// They do not vary, or nobody says whether.
    Exact,
}

/// What `Unit` lines say, by unit.
struct Stated<'a>(BTreeMap<&'a str, (Option<Better>, Option<Nature>)>);

impl<'a> Stated<'a> {
    fn of(input: &'a Input, found: &mut Found<'_>) -> Self {
        let mut stated: BTreeMap<&str, (Option<Better>, Option<Nature>)> = BTreeMap::new();
        for (number, line) in input.lines() {
            let mut words = line.split_whitespace();
            let (Some("Unit"), Some(unit)) = (words.next(), words.next()) else { continue };
            for word in words {
                let (better, nature) = stated.entry(unit).or_default();
                match word {
                    "better=higher" => *better = Some(Better::Higher),
                    "better=lower" => *better = Some(Better::Lower),
                    "assume=exact" => *nature = Some(Nature::Exact),
                    "assume=nothing" => *nature = Some(Nature::Measured),
                    _ => {}
                }
            }
            let known = metric(unit).metric.better;
            if let Some(&(Some(better), _)) = stated.get(unit)
                && known != Better::Unknown
                && known != better
            {
                let own = if known == Better::Lower { "less" } else { "more" };
                found.notice(
                    "direction-contradicts-unit",
                    format!("line {number}: `{}`, but {own} of that unit is better", line.trim()),
                    "the line is followed; correct it if it is a slip",
                );
            }
        }
        Stated(stated)
    }

    fn metric(&self, unit: &str) -> (Known, Nature) {
        let mut known = metric(unit);
        let (better, nature) = self.0.get(unit).copied().unwrap_or_default();
        let base = known.metric.unit.as_str();
        let varies = base == "ns" || base.ends_with("/s");
        let explained = known.metric.better == Better::Unknown && better.is_some();
        let nature = match nature {
            _ if known.metric.name == "time" => Nature::Main,
            Some(nature) => nature,
            None if varies || explained => Nature::Measured,
            None => Nature::Exact,
        };
        known.metric.better = better.unwrap_or(known.metric.better);
        (known, nature)
    }
}

/// The metric of a unit: `p99-ns/op` is a time and `bin-bytes` a size, each under its own name.
fn metric(written: &str) -> Known {
    let name = match written {
        "ns/op" | "sec/op" => "time",
        "MB/s" | "B/s" => "throughput",
        "B/op" => "bytes",
        "allocs/op" => "allocations",
        own => &own_name(own),
    };
    let plain = written.rsplit_once('-').map_or(written, |(_, plain)| plain);
    let whole = named(name, written);
    if whole.metric.better == Better::Unknown
        && unit::understand(plain).metric.better != Better::Unknown
    {
        return named(name, plain);
    }
    whole
}

/// Name and rest of a line that begins with one. `Benchmarking` and `Benchmark 1:` are what other tools print.
fn benchmark(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let own = name.strip_prefix("Benchmark")?.chars().next()?;
    (!own.is_lowercase()).then_some((name, rest))
}

/// What stands behind a name.
struct Figures<'a> {
    iterations: u64,
    /// Value and unit of each metric, at least one.
    values: Vec<(f64, &'a str)>,
}

/// The figures of a line, or what is wrong with them, which is empty where there is nothing at all.
fn figures(text: &str) -> Result<Figures<'_>, String> {
    let mut words = text.split_whitespace();
    let Some(iterations) = words.next() else { return Err(String::new()) };
    let iterations = iterations
        .parse()
        .map_err(|_| format!("`{iterations}` is no number of iterations; run it again"))?;
    let mut values = Vec::new();
    while let Some(value) = words.next() {
        let number = unit::number(value)
            .ok_or_else(|| format!("`{value}` is no number that can be compared; run it again"))?;
        let unit = words.next().ok_or("its last figure has no unit; the line was cut off")?;
        values.push((number, unit));
    }
    if values.is_empty() {
        return Err("it has no figures; the line was cut off".into());
    }
    Ok(Figures { iterations, values })
}

/// Whether a result of this name is what `announced` announced: itself with a number of CPUs, or one below it.
fn answers(name: &str, announced: &str) -> bool {
    let Some(rest) = name.strip_prefix(announced) else { return false };
    rest.is_empty() || rest.starts_with('/') || cpus(name).is_some_and(|n| rest == format!("-{n}"))
}

/// The number of CPUs that a name ends in.
fn cpus(name: &str) -> Option<&str> {
    let (_, digits) = name.rsplit_once('-')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// The CPU decides whether numbers are comparable; the rest is told.
fn machine(line: &str, found: &mut Found<'_>) {
    let Some((fact, value)) = line.split_once(':') else { return };
    let run = found.current();
    let facts = match fact {
        "cpu" => &mut run.environment.hard,
        _ => &mut run.environment.soft,
    };
    let before = facts.insert(fact.to_owned(), value.trim().to_owned());
    if let Some(before) = before.filter(|before| before != value.trim()) {
        run.notices.push(Notice::new(
            "mixed-machines",
            format!("{fact} is `{before}` and `{}` in one file", value.trim()),
            "give results of one machine",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failures, notices, rows, run_of, survives, try_run_of};

    #[test]
    fn events_are_put_together_package_by_package() {
        let event = |package: &str, output: &str| {
            format!(
                "{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"output\",\"Package\":\"ex.org/{package}\",\"Output\":{}}}\n",
                serde_json::to_string(output).unwrap()
            )
        };
        let start = "{\"Action\":\"start\",\"Package\":\"ex.org/a\"}\n";
        let text = [
            start,
            &event("a", "BenchmarkPut-4 \t"),
            &event("b", "BenchmarkPut-4 \t"),
            &event("a", "  100\t  50.5 ns/op\n"),
            &event("b", "  100\t  0.5 ns/op\n"),
            &event("b", "--- FAIL: BenchmarkGone\n"),
            "{\"Action\":\"outp",
        ]
        .concat();
        let run = run_of(&text);
        assert_eq!(
            rows(&run),
            [
                "ex.org/a::BenchmarkPut-4 time ns lower [50.5]",
                "ex.org/b::BenchmarkPut-4 time ns lower [0.5]",
            ]
        );
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 7: an event is cut off or edited; benchmarks may be missing, so measure again",
                "ex.org/b::BenchmarkGone: line 6: it failed",
            ]
        );
        survives(&text);
    }

    #[test]
    fn repetitions_are_samples_of_the_process_and_every_metric_is_kept() {
        let text = "goos: linux\ngoarch: arm64\npkg: ex.org/codec\ncpu: Example CPU @ 2.00GHz\n\
             Unit retries/op better=lower\nUnit hits/op better=higher assume=exact\n\
             BenchmarkEncode/size=4k-8 \t 300\t 40537 ns/op\t 101.5 MB/s\t 64 B/op\t 2 allocs/op\n\
             BenchmarkEncode/size=4k-8 \t 300\t 40612 ns/op\t 101.0 MB/s\t 65 B/op\t 2 allocs/op\n\
             BenchmarkLookup-8 \t 10\t 1.5 ns/op\t 7 p99-ns/op\t 3 retries/op\t 4 hits/op\t 0.5 furlongs\n\
             PASS\nok  \tex.org/codec\t3.614s\n";
        let run = run_of(text);
        survives(text);
        assert_eq!(
            rows(&run),
            [
                "ex.org/codec::BenchmarkEncode/size=4k-8 allocations allocations lower exactly 2 exactly 2",
                "ex.org/codec::BenchmarkEncode/size=4k-8 bytes B lower exactly 64 exactly 65",
                "ex.org/codec::BenchmarkEncode/size=4k-8 throughput B/s higher [101500000 101000000]",
                "ex.org/codec::BenchmarkEncode/size=4k-8 time ns lower [40537 40612]",
                "ex.org/codec::BenchmarkLookup-8 furlongs furlongs unknown exactly 0.5",
                "ex.org/codec::BenchmarkLookup-8 hits/op hits/op higher exactly 4",
                "ex.org/codec::BenchmarkLookup-8 p99-ns/op ns lower [7]",
                "ex.org/codec::BenchmarkLookup-8 retries/op retries/op lower [3]",
                "ex.org/codec::BenchmarkLookup-8 time ns lower [1.5]",
            ]
        );
        assert_eq!(run.environment.hard["cpu"], "Example CPU @ 2.00GHz");
        assert_eq!(run.environment.soft["goarch"], "arm64");
        assert_eq!(run.environment.soft["gomaxprocs"], "8");
        assert!(run.failures.is_empty() && run.notices.is_empty());
    }

    #[test]
    fn one_name_in_two_packages_is_two_benchmarks() {
        let run = run_of(
            "pkg: ex.org/m/a\nBenchmarkPut-4 900 50.0 ns/op\n\npkg: ex.org/m/b\nBenchmarkPut-4 900 0.4 ns/op\n",
        );
        assert_eq!(
            rows(&run),
            [
                "ex.org/m/a::BenchmarkPut-4 time ns lower [50]",
                "ex.org/m/b::BenchmarkPut-4 time ns lower [0.4]",
            ]
        );
    }

    #[test]
    fn commas_equals_signs_and_quotes_stay_in_the_name() {
        let run = run_of(
            "BenchmarkTick/agents=20,range=2000-16\t600\t1650 ns/op\n\
             BenchmarkCtx/run-[]string{\"a\",_\"b\"}#01-16 \t 4 \t 2.5 ns/op\n",
        );
        assert_eq!(
            rows(&run),
            [
                "BenchmarkCtx/run-[]string{\"a\",_\"b\"}#01-16 time ns lower [2.5]",
                "BenchmarkTick/agents=20,range=2000-16 time ns lower [1650]",
            ]
        );
        assert_eq!(run.environment.soft["gomaxprocs"], "16");
        let run = run_of("BenchmarkTick-2 600 1650 ns/op\nBenchmarkTick-4 600 1650 ns/op\n");
        assert_eq!((run.series.len(), run.environment.soft.get("gomaxprocs")), (2, None));
    }

    #[test]
    fn no_iterations_with_a_time_is_told() {
        let run = run_of("BenchmarkLink-4        0  9100000000 ns/op  64000 bin-bytes\n");
        assert_eq!(
            rows(&run),
            [
                "BenchmarkLink-4 bin-bytes B lower exactly 64000",
                "BenchmarkLink-4 time ns lower [9100000000]",
            ]
        );
        assert_eq!(notices(&run), ["no-iterations"]);
    }

    #[test]
    fn a_package_that_comes_again_is_a_further_launch() {
        let once = "pkg: ex.org/a\nBenchmarkX 10 3 ns/op\nBenchmarkX 10 4 ns/op\nPASS\n";
        assert_eq!(
            rows(&run_of(&once.repeat(2))),
            ["ex.org/a::BenchmarkX time ns lower [3 4] [3 4]"]
        );
    }

    #[test]
    fn a_split_line_keeps_its_benchmark() {
        let run = run_of(
            "BenchmarkChatty-4   \tloading 3 files\n     100\t 12.0 ns/op\t 0 B/op\nBenchmarkNext-4 10 1 ns/op\n",
        );
        assert_eq!(
            rows(&run),
            [
                "BenchmarkChatty-4 bytes B lower exactly 0",
                "BenchmarkChatty-4 time ns lower [12]",
                "BenchmarkNext-4 time ns lower [1]",
            ]
        );
        assert_eq!(notices(&run), ["split-line"]);
        assert!(run.failures.is_empty());
    }

    #[test]
    fn a_name_alone_is_answered_by_its_results_or_fails() {
        let run = run_of(
            "BenchmarkTree\nBenchmarkTree/deep\nBenchmarkTree/deep-4 10 1 ns/op\n\
             BenchmarkSkipped\n--- SKIP: BenchmarkSkipped\nBenchmarkGone\n",
        );
        assert_eq!(
            failures(&run),
            ["BenchmarkGone: line 6: it has no figures; it crashed or was cut off"]
        );
    }

    #[test]
    fn a_crash_is_never_a_pass() {
        let run = run_of(
            "pkg: ex.org/a\nBenchmarkA-4 10 1 ns/op\npanic: index out of range\n\nexit status 2\nFAIL\tex.org/a\t0.2s\n\
             FAIL\tex.org/b [build failed]\nFAIL\n",
        );
        assert_eq!(
            failures(&run),
            [
                "ex.org/a: line 3: `panic: index out of range`; benchmarks may be missing, so measure again",
                "ex.org/b: line 7: `FAIL\tex.org/b [build failed]`; benchmarks may be missing, so measure again",
            ]
        );
        assert_eq!(notices(&run), ["incomplete", "incomplete"]);
        let run =
            run_of("BenchmarkA-4 10 1 ns/op\n--- FAIL: BenchmarkB-4\n    b_test.go:9: no\nFAIL\n");
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 4: `FAIL`; benchmarks may be missing, so measure again",
                "BenchmarkB-4: line 2: it failed"
            ]
        );
    }

    #[test]
    fn broken_figures_name_their_line() {
        let check = |line: &str, message: &str| {
            let run = run_of(&format!("BenchmarkGood 10 1 ns/op\n{line}\n"));
            assert_eq!(failures(&run), [format!("BenchmarkBad-4: {message}")]);
        };
        check(
            "BenchmarkBad-4 100 1.2.3 ns/op",
            "line 2: `1.2.3` is no number that can be compared; run it again",
        );
        check(
            "BenchmarkBad-4 100 NaN ns/op",
            "line 2: `NaN` is no number that can be compared; run it again",
        );
        check(
            "BenchmarkBad-4 100 +Inf ns/op",
            "line 2: `+Inf` is no number that can be compared; run it again",
        );
        check("BenchmarkBad-4 100 12", "line 2: its last figure has no unit; the line was cut off");
        check("BenchmarkBad-4 100", "line 2: it has no figures; the line was cut off");
        check("BenchmarkBad-4", "line 2: it has no figures; it crashed or was cut off");
        check("BenchmarkBad-4 100 0 ns/op", "time: every total is zero, so nothing was measured");
        check("BenchmarkBad-4 100 -1 ns/op", "time: sample 0 has the impossible total -1");
    }

    #[test]
    fn a_contradicted_direction_is_told() {
        let run = run_of("Unit MB/s better=lower\nBenchmarkA 10 1 ns/op 5 MB/s\n");
        assert_eq!(notices(&run), ["direction-contradicts-unit"]);
        assert_eq!(rows(&run)[0], "BenchmarkA throughput B/s lower [5000000]");
    }

    #[test]
    fn results_of_two_machines_are_told() {
        let run = run_of("cpu: a\nBenchmarkA 1 1 ns/op\ncpu: b\nBenchmarkB 1 1 ns/op\n");
        assert_eq!(notices(&run), ["mixed-machines"]);
    }

    #[test]
    fn what_other_tools_call_benchmark_is_not_claimed() {
        for text in
            ["Benchmarking a: Warming up\n", "Benchmark 1: sleep 1\n", "BenchmarkA-8 \t soon\n"]
        {
            assert!(try_run_of(text).is_err(), "{text}");
        }
    }
}
