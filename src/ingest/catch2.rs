//! Reads the benchmark tables that Catch2 (2.9 and later, and 3) prints on its console.
//!
//! ```text
//! -------------------------------------------------------------------------------
//! Sorting                                    the test case; sections follow, indented
//! -------------------------------------------------------------------------------
//! sort.cpp:5
//! ...............................................................................
//!
//! benchmark name                       samples       iterations    estimated
//!                                      mean          low mean      high mean
//!                                      std dev       low std dev   high std dev
//! -------------------------------------------------------------------------------
//! a name that is too long for its
//! column                                         100            20       7.48 ms
//!                                           3.789 us      3.734 us      3.888 us
//!                                             362 ns        234 ns        539 ns
//!
//! broken                                         Benchmark failed (boom)
//! quick                                          100           208        344 ns     with --benchmark-no-analysis
//! ```
//!
//! Each column has a unit of its own. The mean of the samples is a summary of one process, with their standard
//! deviation and their number.

use super::Format;
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit;
use crate::error::Result;
use crate::model::{Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "Catch2 text",
    signs: &["benchmark name", "low std dev", "is a Catch", "high mean", "iterations    estimated"],
    claims: |input| {
        input.shape == Shape::Text && {
            let lines: Vec<&str> = input.glance().lines().collect();
            lines.iter().any(|line| is_header(line))
                || lines.windows(3).any(|three| match three {
                    [name, mean, deviation] => {
                        head(name).is_some()
                            && first_of_three(mean).and(first_of_three(deviation)).is_some()
                    }
                    _ => false,
                })
        }
    },
    read,
};

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let lines: Vec<&str> = input.text.lines().collect();
    let mut table = Table::default();
    for (index, &line) in lines.iter().enumerate() {
        let number = index + 1;
        if let Some(suite) = title(lines.get(index..).unwrap_or_default()) {
            table.close(found);
            table.suite = suite;
        } else if is_header(line) {
            table.open = true;
            table.analysed = line.contains("estimated");
        } else if line.trim_end().ends_with("FAILED:") {
            table.close(found);
            let message = format!("line {number}: an assertion failed: `{}`", line.trim());
            found.incomplete(&table.suite, message);
        } else {
            table.row(found, number, line, lines.get(index + 1..).unwrap_or_default());
        }
    }
    table.close(found);
    Ok(())
}

const UNMEASURED: &str =
    "its mean and deviation are missing or no numbers; it crashed or the log was cut off";

/// The table that is being read.
#[derive(Default)]
struct Table<'a> {
    suite: String,
    open: bool,
    /// Whether mean and standard deviation stand on lines of their own.
    analysed: bool,
    /// Lines of a name that goes on, with the number of the first.
    name: Vec<(usize, &'a str)>,
}

impl<'a> Table<'a> {
    fn row(&mut self, found: &mut Found<'_>, number: usize, line: &'a str, below: &[&str]) {
        if let Some((before, message)) = line.split_once("Benchmark failed (") {
            self.name.push((number, before));
            let message = message.trim_end().trim_end_matches(')');
            self.fail(found, &format!("it failed: {message}"));
        } else if let Some((name, samples, value, unit)) = head(line) {
            self.name.push((number, name));
            let summary =
                |score| Summary { score, spread: None, n: Some(samples), launches: Some(1) };
            let id = found.id(&self.suite, &self.joined());
            let figure = |at: usize| {
                let (value, unit) = first_of_three(below.get(at)?)?;
                Some((unit::number(value)?, named("time", unit)))
            };
            match (figure(0), figure(1)) {
                (Some((mean, known)), Some((deviation, own))) => {
                    let deviation = deviation * own.factor / known.factor;
                    let spread = Some(Spread::StandardDeviation(deviation));
                    found.summary(&id, &known, Summary { spread, ..summary(mean) });
                    self.name.clear();
                }
                _ if self.open && !self.analysed => {
                    found.summary(&id, &named("time", unit), summary(value));
                    self.name.clear();
                }
                _ => self.fail(found, UNMEASURED),
            }
        } else if line.trim().is_empty() {
            self.fail(found, UNMEASURED);
        } else if line.starts_with("====") {
            self.close(found);
        } else if self.open && goes_on(line) {
            self.name.push((number, line));
        }
    }

    fn joined(&self) -> String {
        let parts: Vec<&str> = self.name.iter().map(|(_, part)| part.trim()).collect();
        parts.join(" ").trim().to_owned()
    }

    fn fail(&mut self, found: &mut Found<'_>, message: &str) {
        if let Some((number, _)) = self.name.first() {
            let id = found.id(&self.suite, &self.joined());
            found.fail(&id, format!("line {number}: {message}"));
        }
        self.name.clear();
    }

    /// Ends the table; a name without figures was being measured when the process ended.
    fn close(&mut self, found: &mut Found<'_>) {
        self.open = false;
        self.fail(found, UNMEASURED);
    }
}

/// Whether a line is the first one of a table.
fn is_header(line: &str) -> bool {
    line.starts_with("benchmark name") && line.contains("samples") && line.contains("iterations")
}

/// Whether a line of a table is the beginning of a name that goes on below: no figures, no heading, no rule, and not how
/// long a test case took.
fn goes_on(line: &str) -> bool {
    let words = line.trim();
    let took = words.split_once(" s: ").is_some_and(|(time, _)| unit::number(time).is_some());
    let heading = words.starts_with("mean ") || words.starts_with("std dev");
    !took && !heading && !words.starts_with("---") && first_of_three(line).is_none()
}

/// Name, samples, and the last figure of a line that ends in samples, iterations and a time.
fn head(line: &str) -> Option<(&str, u32, f64, &str)> {
    let (rest, unit) = line.trim_end().rsplit_once(char::is_whitespace)?;
    unit::time(unit)?;
    let (rest, value) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    let (rest, iterations) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    let (name, samples) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    iterations.parse::<u64>().ok()?;
    Some((name, samples.parse().ok()?, unit::number(value)?, unit))
}

/// Value and unit of the first of three times on a line of their own.
fn first_of_three(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [value, unit, _, low, _, high] = words.as_slice() else { return None };
    [unit, low, high].iter().all(|unit| unit::time(unit).is_some()).then_some((*value, *unit))
}

/// The test case and sections whose title begins with the first line: they stand between two rules, and a source line and a
/// row of dots follow.
fn title(lines: &[&str]) -> Option<String> {
    let is_rule = |line: &&str| line.len() > 9 && line.bytes().all(|b| b == b'-');
    let (first, rest) = lines.split_first()?;
    let end = rest.iter().position(|line| is_rule(line) || line.trim().is_empty())?;
    let dots = rest.get(end + 2)?;
    (is_rule(first) && rest.get(end).is_some_and(is_rule) && dots.starts_with("....")).then(|| {
        let parts: Vec<&str> = rest.iter().take(end).map(|line| line.trim()).collect();
        parts.join("/")
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failures, notices, rows, run_of, survives};

    const HEADER: &str = "\
benchmark name                       samples       iterations    estimated
                                     mean          low mean      high mean
                                     std dev       low std dev   high std dev
-------------------------------------------------------------------------------
";

    fn test_case(name: &str, table: &str) -> String {
        let rule = "-".repeat(79);
        format!("{rule}\n{name}\n{rule}\nsort.cpp:5\n{}\n\n{HEADER}{table}\n", ".".repeat(79))
    }

    #[test]
    fn the_mean_is_a_summary_in_its_own_unit() {
        let text = test_case(
            "Sorting",
            "sort 10                     100           208     7.1968 ms \n\
             \x20                        344 ns        341 ns        349 ns \n\
             \x20                         19 ns         11 ns         29 ns \n\
             \x20                                                           \n\
             a name that is too long for its                                \n\
             column                      50             2     8.3712 ms \n\
             \x20                     41.5 us      41.25 us     42.622 us \n\
             \x20                      250 ns      2.163 us      5.353 us \n",
        ) + &test_case(
            "Sorting\n  small inputs",
            "sort 10   10  2  8 ms\n 1 ms 1 ms 1 ms\n 2 us 1 us 3 us\n",
        ) + "1.234 s: Sorting\n\n=====\ntest cases: 2 | 2 passed\nassertions: - none -\n";
        let run = run_of(&text);
        assert_eq!(
            rows(&run),
            [
                "Sorting::a name that is too long for its column time ns lower score 41500 sd 250 n 50 of 1",
                "Sorting::sort 10 time ns lower score 344 sd 19 n 100 of 1",
                "Sorting/small inputs::sort 10 time ns lower score 1000000 sd 2000 n 10 of 1",
            ]
        );
        assert!(run.failures.is_empty() && run.notices.is_empty(), "{:?}", failures(&run));
        survives(&text);
    }

    #[test]
    fn an_estimate_of_minutes_is_read() {
        let table = "slow sort            100             1     1.36667 m\n\
                    \x20            820.1 ms    819 ms   821 ms\n            2 ms     1 ms     3 ms\n";
        let expected = ["slow sort time ns lower score 820100000 sd 2000000 n 100 of 1"];
        assert_eq!(rows(&run_of(&format!("{HEADER}{table}"))), expected);
        assert_eq!(rows(&run_of(table)), expected);
    }

    #[test]
    fn without_analysis_there_is_a_mean_alone() {
        let text = "benchmark name       samples    iterations       mean\n-------\nquick   100   208   344 ns\n";
        assert_eq!(rows(&run_of(text)), ["quick time ns lower score 344 n 100 of 1"]);
    }

    #[test]
    fn what_failed_fails_by_name() {
        let good = "good 10 2 8 ms\n1 ms 1 ms 1 ms\n2 us 1 us 3 us\n\n";
        let check = |rows: &str, messages: &[&str]| {
            let run = run_of(&test_case("Sorting", &format!("{good}{rows}")));
            assert_eq!(failures(&run), messages, "{rows}");
            assert_eq!(run.series.len(), 1, "{rows}");
        };
        check(
            "bad          Benchmark failed (boom)\n",
            &["Sorting::bad: line 15: it failed: boom"],
        );
        let unmeasured = "Sorting::bad: line 15: its mean and deviation are missing or no numbers; it crashed or the log was cut off";
        check("bad 10 2 8 ms\n", &[unmeasured]);
        check("bad 10 2 8 ms\nnan ns nan ns nan ns\n0 ns 0 ns 0 ns\n", &[unmeasured]);
        check("bad\n", &[unmeasured]);
        let message = "line 15: an assertion failed: `sort.cpp:9: FAILED:`; benchmarks may be missing, so measure again";
        check("sort.cpp:9: FAILED:\n  CHECK( sorted )\n", &[&format!("Sorting: {message}")]);
    }

    #[test]
    fn a_failed_assertion_makes_the_run_incomplete() {
        let run = run_of(
            &(test_case("A", "a 1 2 8 ms\n1 ms 1 ms 1 ms\n2 us 1 us 3 us\n")
                + "x.cpp:1: FAILED:\n"),
        );
        assert_eq!(notices(&run), ["incomplete"]);
    }
}
