//! Reads what criterion prints for people, by itself or through `cargo criterion`.
//!
//! ```text
//!      Running benches/parse.rs (target/release/deps/parse-1f2e3d4c5b6a7988)
//! Benchmarking small: Collecting 100 samples in estimated 5.0000 s (3.3B iterations)      on stderr
//! small                   time:   [2.0246 ns 2.2311 ns 2.4461 ns]
//!                         thrpt:  [408.81 Melem/s 448.21 Melem/s 493.92 Melem/s]
//!                  change:
//!                         time:   [+5.2% +6.4% +8.5%] (p = 0.00 < 0.05)
//! Found 4 outliers among 100 measurements (4.00%)
//! a name of more than 23 characters
//!                         time:   [6.1020 µs 6.2200 µs 6.3511 µs]
//! ```
//!
//! The brackets hold the estimate (the slope, or the mean where there is none) between the bounds of its bootstrap
//! interval, of which the text does not say the confidence. A throughput is the time written differently, and a
//! change is no measurement. Names are cut after a hundred bytes.

use super::cargo::{self, quoted};
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit::{self, Known};
use super::{Format, cargo_criterion};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "criterion terminal text",
    signs: &["time:   [", "Benchmarking ", "outliers among", "Performance has"],
    claims: |input| {
        input.shape == Shape::Text
            && input.lines().any(|(_, line)| estimate(line).is_some())
            && !(cargo_criterion::FORMAT.claims)(input)
    },
    read,
};

/// Confidence of the interval unless a bench sets another one, which its text does not tell.
const CONFIDENCE: f64 = 0.95;

/// Numbers are printed with five digits, so a bound may seem to pass its estimate by this share of it.
const ROUNDING: f64 = 1e-4;

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut reader = Reader::default();
    for (number, line) in input.lines() {
        // A terminal shows progress by writing over its line.
        for line in line.split('\r') {
            reader.line(found, number, line);
        }
    }
    reader.give_up(found);
    reader.flush(found);
    Ok(())
}

#[derive(Default)]
struct Reader<'a> {
    suite: &'a str,
    /// The line before, where it may be a name.
    above: Option<&'a str>,
    /// The benchmark that is being measured.
    begun: Option<Begun<'a>>,
    /// A row that still may learn its number of samples.
    row: Option<(BenchmarkId, Known, Summary)>,
    /// Whether it was told that the run broke.
    broke: bool,
}

/// A benchmark whose measuring was announced.
struct Begun<'a> {
    number: usize,
    name: &'a str,
    samples: Option<u32>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, found: &mut Found<'_>, number: usize, line: &'a str) {
        if let Some(Estimate { name, values }) = estimate(line) {
            self.flush(found);
            let above = self.above.take();
            let begun = self.begun.take();
            let name = match (name, &begun, above) {
                ("", Some(begun), _) => begun.name,
                ("", None, Some(above)) => above,
                ("", None, None) => {
                    let why = format!("line {number} has a figure but no name");
                    return found.incomplete("", why);
                }
                (name, ..) => name,
            };
            let id = found.printed(self.suite, name);
            let (value, wrong) = summary(values);
            if let Some((known, summary)) = value {
                let n = begun.and_then(|begun| begun.samples);
                self.row = Some((id.clone(), known, Summary { n, ..summary }));
            }
            if let Some(message) = wrong {
                found.fail(&id, format!("line {number}: {message}"));
            }
        } else if line.contains("time:   [") && !line.contains(']') {
            found.incomplete("", format!("line {number} is cut off: {}", quoted(line)));
        } else if let Some(target) = cargo::target(line) {
            self.suite = target;
        } else if let Some((name, samples)) = benchmarking(line) {
            if self.begun.as_ref().is_some_and(|begun| begun.name != name) {
                self.give_up(found);
            }
            match &mut self.begun {
                Some(begun) => begun.samples = samples.or(begun.samples),
                None => self.begun = Some(Begun { number, name, samples }),
            }
        } else if let Some(samples) = measurements(line) {
            if let Some((_, _, summary)) = &mut self.row {
                summary.n = summary.n.or(Some(samples));
            }
        } else if cargo::crashed(line) {
            let why = format!("line {number}: {}", quoted(line));
            match self.begun.take() {
                Some(begun) => {
                    let id = found.printed(self.suite, begun.name);
                    found.fail(&id, format!("{why}; mend it and measure again"));
                }
                None if self.broke => {}
                None => found.incomplete("", why),
            }
            self.broke = true;
        } else {
            let name = !line.trim().is_empty() && !line.starts_with(char::is_whitespace);
            self.above = name.then_some(line);
        }
    }

    /// Tells of a benchmark that was begun and never estimated.
    fn give_up(&mut self, found: &mut Found<'_>) {
        if let Some(Begun { number, name, .. }) = self.begun.take() {
            let id = found.printed(self.suite, name);
            let message = "it was begun but no estimate follows; give the whole output";
            found.fail(&id, format!("line {number}: {message}"));
        }
    }

    fn flush(&mut self, found: &mut Found<'_>) {
        if let Some((id, known, summary)) = self.row.take() {
            found.summary(&id, &known, summary);
        }
    }
}

/// A line with an estimate between its bounds.
struct Estimate<'a> {
    /// Empty where the name stands elsewhere.
    name: &'a str,
    /// Lower bound, estimate and upper bound, each a number and its unit.
    values: [(&'a str, &'a str); 3],
}

fn estimate(line: &str) -> Option<Estimate<'_>> {
    let (name, rest) = line.rsplit_once("time:")?;
    let inside = rest.trim().strip_prefix('[')?.strip_suffix(']')?;
    let words: Vec<&str> = inside.split_whitespace().collect();
    let values = match *words {
        [a, b, c] => [a, b, c].map(|word| {
            let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || ".,-".contains(c));
            word.split_at(word.len() - unit.len())
        }),
        [a, au, b, bu, c, cu] => [(a, au), (b, bu), (c, cu)],
        _ => return None,
    };
    let numeric = values.iter().all(|(value, unit)| {
        let size = value.trim_start_matches('-');
        let none = ["nan", "inf"].iter().any(|none| size.eq_ignore_ascii_case(none));
        (none || size.starts_with(|c: char| c.is_ascii_digit())) && !unit.ends_with('%')
    });
    numeric.then_some(Estimate { name: name.trim(), values })
}

/// The estimate, in the unit that it is written in, and what is wrong with it.
fn summary(values: [(&str, &str); 3]) -> (Option<(Known, Summary)>, Option<String>) {
    let [low_unit, unit, high_unit] = values.map(|(_, written)| known(written));
    let [Some(low), Some(score), Some(high)] = values.map(|(value, _)| unit::number(value)) else {
        let [low, score, high] = values.map(|(value, _)| value);
        let message =
            format!("measured nothing: [{low} {score} {high}]; look at what the bench iterates");
        return (None, Some(message));
    };
    let bounds = [low * low_unit.factor, high * high_unit.factor].map(|bound| bound / unit.factor);
    match bounded(score, bounds) {
        Ok(summary) => (Some((unit, summary)), None),
        Err(message) => {
            let summary = Summary { score, spread: None, n: None, launches: Some(1) };
            ((0.0 < score).then_some((unit, summary)), Some(message))
        }
    }
}

/// What criterion measured in a unit. A bench may bring its own measurement; criterion counts every increase of it
/// as a regression.
pub(super) fn known(written: &str) -> Known {
    if unit::time(written).is_some() {
        return named("time", written);
    }
    let mut known = unit::understand(written);
    if known.metric.better == Better::Unknown {
        known.metric.better = Better::Lower;
    }
    known
}

/// An estimate of one process with its bounds, all in one unit.
///
/// # Errors
///
/// When nothing was measured, or the estimate is not between its bounds.
pub(super) fn bounded(score: f64, [low, high]: [f64; 2]) -> Result<Summary, String> {
    if score <= 0.0 {
        return Err(format!(
            "measured nothing: the estimate is {score}; look at what the bench iterates"
        ));
    }
    let slack = ROUNDING * score;
    if score + slack < low || high < score - slack {
        return Err(format!(
            "inconsistent: the estimate {score} lies outside its own interval from {low} to {high}; measure again"
        ));
    }
    let spread = Spread::HalfWidth { value: (high - low) / 2.0, confidence: CONFIDENCE };
    Ok(Summary { score, spread: Some(spread), n: None, launches: Some(1) })
}

/// Name and number of samples in `Benchmarking small: Collecting 100 samples in estimated 5.0000 s (3.3B iterations)`.
fn benchmarking(line: &str) -> Option<(&str, Option<u32>)> {
    let rest = line.strip_prefix("Benchmarking ")?.trim_end();
    if let Some((name, collecting)) = rest.rsplit_once(": Collecting ") {
        let samples = collecting.split_once(" samples").and_then(|(n, _)| n.parse().ok());
        return Some((name, samples));
    }
    let phases = [": Warming up for ", ": Profiling for ", ": Analyzing", ": Complete ("];
    let name = phases.iter().find_map(|phase| rest.rsplit_once(phase)).map(|(name, _)| name);
    Some((name.unwrap_or(rest), None))
}

/// Number of samples in `Found 4 outliers among 100 measurements (4.00%)`.
fn measurements(line: &str) -> Option<u32> {
    let (_, rest) = line.strip_prefix("Found ")?.split_once(" among ")?;
    rest.split_once(" measurements")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, notices, rows, run_of};

    #[test]
    fn every_row_is_read() {
        let run = run_of(
            "
running 2 tests
test tests::adds ... ignored
test tests::subs ... ignored

test result: ok. 0 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out

     Running benches/parse.rs (target/release/deps/parse-0a1b2c3d4e5f6071)
Gnuplot not found, using plotters backend
Benchmarking short
Benchmarking short: Warming up for 3.0000 s
Benchmarking short: Collecting 50 samples in estimated 5.0000 s (3.2B iterations)
Benchmarking short: Analyzing
short                   time:   [1.0000 ns 1.2000 ns 1.4000 ns]
                        thrpt:  [714.29 Melem/s 833.33 Melem/s 1000.0 Melem/s]
                 change:
                        time:   [+1.0000% +2.0000% +3.0000%] (p = 0.00 < 0.05)
                        thrpt:  [-2.9126% -1.9608% -0.9901%]
                        Performance has regressed.
Found 2 outliers among 50 measurements (4.00%)
  2 (4.00%) high mild

Benchmarking a group/a function: with a name
Benchmarking a group/a function: with a name: Warming up for 3.0000 s
a group/a function: with a name
                        time:   [998.00 ns 1.0000 µs 1.0020 µs]
                        change: [-1.0000% +0.1000% +1.1000%] (p = 0.40 > 0.05)
                        No change in performance detected.
Found 3 outliers among 80 measurements (3.75%)
  3 (3.75%) high severe
",
        );
        assert_eq!(
            rows(&run),
            [
                "parse::a group/a function: with a name time ns lower score 1000 ± 2 at 0.95 n 80 of 1",
                "parse::short time ns lower score 1.2 ± 0.2 at 0.95 n 50 of 1",
            ]
        );
        assert_eq!((failures(&run), notices(&run)), (vec![], vec![]));
    }

    #[test]
    fn human_output_is_no_riddle() {
        let run = run_of("decode/full         time:   [6.1020 s 6.2200 s 6.3511 s]\n");
        assert_eq!(
            rows(&run),
            ["decode/full time ns lower score 6220000000 ± 124550000 at 0.95 of 1"]
        );
    }

    #[test]
    fn a_terminal_that_overwrites_its_line_is_read() {
        let run = run_of(
            "Benchmarking a\r\u{1b}[2KBenchmarking a: Collecting 10 samples in estimated 1.0 s (9 iterations)\r\u{1b}[2K\u{1b}[32ma\u{1b}[0m                       time:   [\u{1b}[2m1.0 ms\u{1b}[0m \u{1b}[1m2.0 ms\u{1b}[0m \u{1b}[2m3.0 ms\u{1b}[0m]\n",
        );
        assert_eq!(rows(&run), ["a time ns lower score 2000000 ± 1000000 at 0.95 n 10 of 1"]);
    }

    #[test]
    fn names_that_criterion_cut_are_told() {
        let run = run_of(
            "
group/a name that is so long that it was cut in the mi...
                        time:   [1.0 ns 1.1 ns 1.2 ns]
group/a name that is so long that it was cut in the mi... #2
                        time:   [2.0 ns 2.1 ns 2.2 ns]
",
        );
        assert_eq!(rows(&run).len(), 2);
        assert_eq!(notices(&run), ["cut-name", "positional-name"]);
    }

    #[test]
    fn an_estimate_outside_its_interval_is_inconsistent() {
        let run = run_of(
            "
good                    time:   [2.0 µs 2.1 µs 2.2 µs]
edited                  time:   [2.0 µs 57.1 µs 2.2 µs]
",
        );
        assert_eq!(
            failures(&run),
            [
                "edited: line 3: inconsistent: the estimate 57.1 lies outside its own interval from 2 to 2.2; measure again"
            ]
        );
        assert_eq!(
            rows(&run),
            [
                "edited time ns lower score 57100 of 1",
                "good time ns lower score 2100 ± 100 at 0.95 of 1"
            ]
        );
    }

    #[test]
    fn a_bench_that_never_iterates_measured_nothing() {
        let run = run_of(
            "
empty                   time:   [0.0000 ps 0.0000 ps 0.0000 ps]
odd                     time:   [NaN ps NaN ps NaN ps]
",
        );
        assert_eq!(
            failures(&run),
            [
                "empty: line 2: measured nothing: the estimate is 0; look at what the bench iterates",
                "odd: line 3: measured nothing: [NaN NaN NaN]; look at what the bench iterates",
            ]
        );
        assert!(rows(&run).is_empty());
    }

    #[test]
    fn a_measurement_of_ones_own_keeps_its_unit() {
        let run = run_of(
            "
a                       time:   [10 cycles 12 cycles 14 cycles]
b                       time:   [10mWh 12mWh 14mWh]
",
        );
        assert_eq!(
            rows(&run),
            [
                "a cycles cycles lower score 12 ± 2 at 0.95 of 1",
                "b mWh mWh lower score 12 ± 2 at 0.95 of 1"
            ]
        );
    }

    #[test]
    fn a_panic_makes_the_run_incomplete() {
        let row = "a                       time:   [1.0 ns 1.1 ns 1.2 ns]\n";
        let between = run_of(&format!(
            "{row}\nthread 'main' panicked at 'boom', x.rs:1:1\nerror: bench failed\n"
        ));
        assert_eq!(
            failures(&between),
            [
                "(whole run): line 3: `thread 'main' panicked at 'boom', x.rs:1:1`; benchmarks may be missing, so measure again"
            ]
        );
        assert_eq!((rows(&between).len(), notices(&between)), (1, vec!["incomplete"]));

        let within = run_of(&format!(
            "{row}Benchmarking b: Warming up for 3.0000 s\nthread 'main' panicked at x.rs:1:1:\nerror: bench failed\n"
        ));
        assert_eq!(
            failures(&within),
            ["b: line 3: `thread 'main' panicked at x.rs:1:1:`; mend it and measure again"]
        );
    }

    #[test]
    fn a_log_that_ends_in_a_bench_is_cut_off() {
        let run = run_of(
            "
a                       time:   [1.0 ns 1.1 ns 1.2 ns]
Benchmarking b: Warming up for 3.0000 s
Benchmarking c: Warming up for 3.0000 s
",
        );
        assert_eq!(
            failures(&run),
            [
                "b: line 3: it was begun but no estimate follows; give the whole output",
                "c: line 4: it was begun but no estimate follows; give the whole output",
            ]
        );
    }

    #[test]
    fn an_estimate_that_is_cut_off_is_told() {
        let run = run_of(
            "
a                       time:   [1.0 ns 1.1 ns 1.2 ns]
b                       time:   [1.0 ns 1.",
        );
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 3 is cut off: `b                       time:   [1.0 ns 1.`; benchmarks may be missing, so measure again"
            ]
        );
    }

    #[test]
    fn a_figure_without_a_name_is_not_dropped() {
        let run = run_of("                        time:   [1.0 ns 1.1 ns 1.2 ns]\n");
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 1 has a figure but no name; benchmarks may be missing, so measure again"
            ]
        );
    }

    #[test]
    fn progress_without_an_estimate_is_refused() {
        let said = error("Benchmarking a: Warming up for 3.0000 s\n");
        assert!(said.contains("looks most like criterion terminal text"), "{said}");
    }
}
