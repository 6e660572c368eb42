//! Reads what libtest's own benches print, and everything that imitates them (bencher, criterion's `--output-format bencher`).
//!
//! ```text
//!      Running benches/store.rs (target/release/deps/store-1f2e3d4c5b6a7988)
//! running 4 tests
//! test store::scan ... bench:   3,104,227 ns/iter (+/- 88,410)
//! test parse       ... bench:         329 ns/iter (+/- 12) = 481 MB/s
//! test insert/10 ... Criterion.rs ERROR: cannot open base/sample.json     the figure follows on a line of its own
//! bench:   6,512 ns/iter (+/- 190)
//! test broken ... FAILED
//! test result: FAILED. 0 passed; 1 failed; 0 ignored; 3 measured; 0 filtered out
//! ```
//!
//! libtest prints the median of its batches and the distance between the largest and the smallest one; criterion
//! prints the standard deviation in the same place, which is never more than that distance, so the figure is kept as
//! one. The number of batches is not said, so a row can be shown but not tested. Throughput is the time written
//! differently, so it is no metric of its own.

use super::cargo::{self, quoted};
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::{Format, unit};
use crate::error::Result;
use crate::model::{BenchmarkId, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "libtest bench text",
    signs: &["bench:", "ns/iter", "(+/-", "test result:"],
    claims: |input| {
        input.shape == Shape::Text && input.lines().any(|(_, line)| figure(line).is_some())
    },
    read,
};

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut suite = "";
    let mut pending: Option<(usize, BenchmarkId)> = None;
    let mut running: Option<(usize, &str)> = None;
    // A run that broke is told of once, under the narrowest name that is known.
    let mut broke = false;
    for (number, line) in input.lines() {
        let line = line.trim();
        if let Some(target) = cargo::target(line) {
            suite = target;
        } else if let Some(benches) = announced(line) {
            broke |= cut_off(found, running.take());
            running = (benches > 0).then_some((number, line));
        } else if line.starts_with("test result:") {
            running = None;
        }
        let (name, rest) = match line.strip_prefix("test ").and_then(named_row) {
            Some((name, rest)) => (Some(name), rest),
            None => (None, line),
        };
        if let Some(name) = name {
            fail_pending(found, pending.take());
            if rest.starts_with("ignored") || rest.starts_with("ok") {
                continue;
            }
            pending = Some((number, found.printed(suite, name)));
        }
        if name.is_some() && rest.starts_with("FAILED") || !broke && cargo::crashed(rest) {
            let why = format!("line {number}: {}", quoted(line));
            match pending.take() {
                Some((_, id)) => found.fail(&id, format!("{why}; mend it and measure again")),
                None => found.incomplete("", why),
            }
            broke = true;
            continue;
        }
        let Some((summary, unit)) = figure(rest) else { continue };
        let Some((begun, id)) = pending.take() else {
            found.incomplete("", format!("line {number} has a figure but no name"));
            continue;
        };
        if begun < number {
            found.notice(
                "split-line",
                format!(
                    "{}: the figure of `{id}` (line {begun}) stands on line {number}",
                    input.name
                ),
                "something else was printed in between",
            );
        }
        if summary.score < 0.0 {
            found.fail(&id, format!("line {number}: a time below zero; measure again"));
            continue;
        }
        found.summary(&id, &named("time", unit), summary);
    }
    fail_pending(found, pending);
    if !broke {
        cut_off(found, running);
    }
    Ok(())
}

/// The number in `running 4 tests`.
fn announced(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.strip_suffix(" tests").or(rest.strip_suffix(" test"))?.parse().ok()
}

/// Takes `name ... rest` apart; what follows the dots may stand on the next line.
fn named_row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) =
        line.split_once(" ... ").or(line.strip_suffix(" ...").map(|name| (name, "")))?;
    Some((name.trim(), rest.trim()))
}

/// Tells of benches that were announced and whose result never came.
fn cut_off(found: &mut Found<'_>, running: Option<(usize, &str)>) -> bool {
    if let Some((number, line)) = running {
        found.incomplete("", format!("line {number}: no `test result:` follows {}", quoted(line)));
    }
    running.is_some()
}

fn fail_pending(found: &mut Found<'_>, pending: Option<(usize, BenchmarkId)>) {
    if let Some((number, id)) = pending {
        found.fail(
            &id,
            format!(
                "line {number}: no figure that can be read follows the name; give the whole output"
            ),
        );
    }
}

/// Value and unit of `bench:   3,104,227 ns/iter (+/- 88,410)`.
fn figure(text: &str) -> Option<(Summary, &str)> {
    let (_, rest) = text.split_once("bench:")?;
    let (value, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let (written, rest) = match rest.trim_start().split_once(char::is_whitespace) {
        Some((written, rest)) => (written, rest),
        None => (rest.trim(), ""),
    };
    unit::time(written.strip_suffix("/iter")?)?;
    let spread = rest
        .trim_start()
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(inside, _)| inside.split_whitespace().last())
        .and_then(unit::number)
        .map(Spread::StandardDeviation);
    let summary = Summary { score: unit::number(value)?, spread, n: None, launches: Some(1) };
    Some((summary, written))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, notices, rows, run_of};

    #[test]
    fn every_row_is_read() {
        let run = run_of(
            "
running 1 test
test unit::adds ... ignored

test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out

     Running benches/hash.rs (target/release/deps/hash-0a1b2c3d4e5f6071)
running 4 tests
test wide name (fast) ... bench:         512 ns/iter (+/- 7)
test padded           ... bench:          41.25 ns/iter (+/- 1.50) = 240 MB/s
test slow             ... bench:           3 ms/iter (+/- 1)
test micro            ... bench:           2 µs/iter (+/- 1)

test result: ok. 0 passed; 0 failed; 0 ignored; 4 measured; 0 filtered out; finished in 4.10s
",
        );
        assert_eq!(
            rows(&run),
            [
                "hash::micro time ns lower score 2000 sd 1000 of 1",
                "hash::padded time ns lower score 41.25 sd 1.5 of 1",
                "hash::slow time ns lower score 3000000 sd 1000000 of 1",
                "hash::wide name (fast) time ns lower score 512 sd 7 of 1",
            ]
        );
        assert_eq!((failures(&run), notices(&run)), (vec![], vec![]));
    }

    #[test]
    fn module_paths_and_thousands_separators_are_read() {
        let run =
            run_of("test store::index::bench_scan ... bench:   3,104,227 ns/iter (+/- 88,410)\n");
        assert_eq!(
            rows(&run),
            ["store::index::bench_scan time ns lower score 3104227 sd 88410 of 1"]
        );
    }

    #[test]
    fn a_split_line_keeps_its_benchmark() {
        let run = run_of(
            "test insert/10 ... Criterion.rs ERROR: cannot open base/sample.json\nbench:   6,512 ns/iter (+/- 190)\n",
        );
        assert_eq!(rows(&run), ["insert/10 time ns lower score 6512 sd 190 of 1"]);
        assert_eq!((failures(&run), notices(&run)), (vec![], vec!["split-line"]));
    }

    #[test]
    fn zeros_are_kept_and_names_by_position_are_flagged() {
        let run = run_of(
            "
test fft/forward ... bench:           0 ns/iter (+/- 0)
test fft/forward #2 ... bench:         88 ns/iter (+/- 2)
test fft/forward #3 ... bench:         91 ns/iter (+/- 3)
",
        );
        assert_eq!(
            rows(&run),
            [
                "fft/forward time ns lower score 0 sd 0 of 1",
                "fft/forward #2 time ns lower score 88 sd 2 of 1",
                "fft/forward #3 time ns lower score 91 sd 3 of 1",
            ]
        );
        assert_eq!(notices(&run), ["positional-name"]);
    }

    #[test]
    fn one_name_in_two_targets_is_two_benchmarks() {
        let run = run_of(
            "
     Running benches/a.rs (target/release/deps/a-0a1b2c3d4e5f6071)
test decode ... bench: 5 ns/iter (+/- 1)
     Running benches/b.rs (target/release/deps/b-0a1b2c3d4e5f6071)
test decode ... bench: 9 ns/iter (+/- 1)
",
        );
        assert_eq!(
            rows(&run),
            [
                "a::decode time ns lower score 5 sd 1 of 1",
                "b::decode time ns lower score 9 sd 1 of 1"
            ]
        );
    }

    #[test]
    fn a_failed_bench_is_named() {
        let run = run_of(
            "
running 2 tests
test good ... bench: 5 ns/iter (+/- 1)
test bad ... FAILED

failures:

---- bad stdout ----
thread 'main' panicked at benches/x.rs:3:5:

test result: FAILED. 0 passed; 1 failed; 0 ignored; 1 measured; 0 filtered out

error: bench failed, to rerun pass `--bench x`
",
        );
        assert_eq!(
            failures(&run),
            ["bad: line 4: `test bad ... FAILED`; mend it and measure again"]
        );
        assert_eq!(rows(&run).len(), 1);
    }

    #[test]
    fn a_run_that_broke_off_is_not_whole() {
        let check = |text: &str, failure: &str| {
            let run = run_of(text);
            assert_eq!(failures(&run), [failure], "{text}");
            assert_eq!(rows(&run), ["a time ns lower score 5 sd 1 of 1"], "{text}");
        };
        let a = "test a ... bench: 5 ns/iter (+/- 1)\n";
        check(
            &format!("running 6 tests\n{a}"),
            "(whole run): line 1: no `test result:` follows `running 6 tests`; benchmarks may be missing, so measure again",
        );
        check(
            &format!("{a}thread 'main' panicked at src/x.rs:1:1:\nerror: bench failed"),
            "(whole run): line 2: `thread 'main' panicked at src/x.rs:1:1:`; benchmarks may be missing, so measure again",
        );
        check(
            &format!("{a}test b ... thread 'main' panicked at src/x.rs:1:1:"),
            "b: line 2: `test b ... thread 'main' panicked at src/x.rs:1:1:`; mend it and measure again",
        );
        check(
            &format!("{a}test b ... "),
            "b: line 2: no figure that can be read follows the name; give the whole output",
        );
        check(
            &format!("{a}test b ... bench: 1,5 ns/iter (+/- 1)"),
            "b: line 2: no figure that can be read follows the name; give the whole output",
        );
        check(
            &format!("{a}test b ... bench: NaN ns/iter (+/- NaN)"),
            "b: line 2: no figure that can be read follows the name; give the whole output",
        );
        check(
            &format!("{a}bench: 7 ns/iter (+/- 1)"),
            "(whole run): line 2 has a figure but no name; benchmarks may be missing, so measure again",
        );
    }

    #[test]
    fn tests_without_benches_are_refused() {
        let said = error("running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed\n");
        assert!(said.contains("no line of it is a result"), "{said}");
        assert!(said.contains("libtest bench text"), "{said}");
    }
}
