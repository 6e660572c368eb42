//! Reads the tables that divan prints.
//!
//! ```text
//! Timer precision: 20 ns
//! parse           fastest       │ slowest       │ median        │ mean          │ samples │ iters
//! ├─ json                       │               │               │               │         │
//! │  ├─ small     71.3 ns       │ 90.1 ns       │ 72.2 ns       │ 73.05 ns      │ 100     │ 6400
//! │  │            1.2 GB/s      │ 950.1 MB/s    │ 1.19 GB/s     │ 1.17 GB/s     │         │
//! │  │            max alloc:    │               │               │               │         │
//! │  │              2           │ 2             │ 2             │ 2             │         │
//! │  │              466.4 KB    │ 466.4 KB      │ 466.4 KB      │ 466.4 KB      │         │
//! │  ╰─ large     (ignored)     │               │               │               │         │
//! ╰─ xml          0.926 µs      │ 1.069 µs      │ 0.967 µs      │ 0.964 µs      │ 100     │ 400
//! ```
//!
//! The root of the tree is the bench target. A row gives four statistics of the same samples and how many there were;
//! the median is the score, since one slow sample moves the mean. No spread is printed, so a row can be shown but not
//! tested. A throughput is the time written differently. Of allocations, which are counts, the median is taken too.
//! Older versions print iterations before samples and no space before units.

use super::Format;
use super::cargo::{self, quoted};
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Metric, Summary, Unit};

pub(super) const FORMAT: Format = Format {
    name: "divan text",
    signs: &["Timer precision", "fastest", "slowest", "╰─"],
    claims: |input| {
        input.shape == Shape::Text && input.lines().any(|(_, line)| header(line).is_some())
    },
    read,
};

/// Columns of a table.
const COLUMNS: usize = 6;

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut tables = Tables::default();
    for (number, line) in input.lines() {
        tables.line(found, number, line);
    }
    tables.end(found);
    if !tables.varying.is_empty() {
        found.notice(
            "varying-count",
            format!(
                "{}: allocations differ between the samples of {}",
                input.name,
                tables.varying.join(", ")
            ),
            "their medians are taken as if they were exact; add a rule with a tolerance if they differ between runs",
        );
    }
    Ok(())
}

#[derive(Default)]
struct Tables<'a> {
    /// Root of the tree and place of the number of samples, once there was a header.
    root: Option<(&'a str, usize)>,
    /// Names of the nodes above a row.
    path: Vec<&'a str>,
    /// A benchmark whose row has no figures yet.
    begun: Option<(usize, BenchmarkId)>,
    /// The benchmark that rows without a name belong to.
    last: Option<BenchmarkId>,
    /// What the rows that follow count: `max alloc`.
    tally: Option<&'a str>,
    /// The last row with a name, where its tree goes on below it.
    open: Option<usize>,
    /// Benchmarks with counts that differ between samples.
    varying: Vec<String>,
    broke: bool,
}

impl<'a> Tables<'a> {
    fn line(&mut self, found: &mut Found<'_>, number: usize, line: &'a str) {
        if let Some(root) = header(line) {
            self.end(found);
            self.root = Some(root);
            self.path.clear();
            return;
        }
        if cargo::crashed(line) {
            let why = format!("line {number}: {}", quoted(line));
            match self.begun.take() {
                Some((_, id)) => found.fail(&id, format!("{why}; mend it and measure again")),
                None if self.broke => {}
                None => found.incomplete("", why),
            }
            self.broke = true;
            return;
        }
        let Some((root, _)) = self.root else { return };
        let Some(Row { depth, text, more }) = branch(line) else {
            if let Some(mut cells) = cells(line) {
                // What stands before the last bar of the tree belongs to the rows below.
                cells[0] = cells[0].rsplit('│').next().unwrap_or_default().trim();
                self.figures(found, number, cells);
            }
            return;
        };
        self.give_up(found);
        self.open = more.then_some(number);
        self.last = None;
        self.path.truncate(depth);
        let name_of = |path: &[&str], name: &str| [path, &[name.trim()]].concat().join("::");
        match cells(text) {
            Some([name, rest @ ..]) if rest.iter().all(|cell| cell.is_empty()) => {
                let ignored = name.ends_with("(ignored)");
                self.path.extend((!ignored).then_some(name));
            }
            Some([head, b, c, d, e, f]) => {
                let (name, first) = head.rsplit_once("  ").unwrap_or((head, ""));
                let id = found.printed(root, &name_of(&self.path, name));
                self.begun = Some((number, id));
                self.figures(found, number, [first.trim(), b, c, d, e, f]);
            }
            // The figures follow when the bench is done; what stands here was printed by the bench.
            None if !text.trim_end().ends_with("(ignored)") => {
                let name = text.split_once("  ").map_or(text, |(name, _)| name);
                let id = found.printed(root, &name_of(&self.path, name));
                self.begun = Some((number, id));
            }
            None => {}
        }
    }

    /// Takes the figures of the benchmark that was begun, or further ones of the last.
    fn figures(&mut self, found: &mut Found<'_>, number: usize, cells: [&'a str; COLUMNS]) {
        let samples = self.root.map_or(4, |(_, samples)| samples);
        let [fastest, slowest, median, ..] = cells;
        if let Some((begun, id)) = self.begun.take() {
            if begun < number {
                found.notice(
                    "split-line",
                    format!("the figures of `{id}` (line {begun}) stand on line {number}"),
                    "something else was printed in between",
                );
            }
            match time([fastest, slowest, median]) {
                Ok((known, score)) => {
                    let n = cells.get(samples).and_then(|cell| cell.parse().ok());
                    let summary = Summary { score, spread: None, n, launches: Some(1) };
                    found.summary(&id, &known, summary);
                }
                Err(message) => found.fail(&id, format!("line {number}: {message}; measure again")),
            }
            self.last = Some(id);
            self.tally = None;
        } else if let Some(tally) = fastest.strip_suffix(':') {
            self.tally = Some(tally);
        } else if let (Some(id), Some(tally)) = (&self.last, self.tally) {
            let Some((count, known)) = counted(tally, median) else {
                found.fail(id, format!("line {number}: {tally} is `{median}`; measure again"));
                return;
            };
            found.exact(id, &known, count);
            let name = id.to_string();
            if fastest != slowest && self.varying.last() != Some(&name) {
                self.varying.push(name);
            }
        }
    }

    /// Ends a table, whose last row the tree itself tells.
    fn end(&mut self, found: &mut Found<'_>) {
        self.give_up(found);
        if let (Some(number), false) = (self.open.take(), self.broke) {
            found.incomplete(
                "",
                format!("the tree goes on below line {number}, but nothing follows"),
            );
        }
    }

    /// Tells of a benchmark that was begun and never measured.
    fn give_up(&mut self, found: &mut Found<'_>) {
        if let Some((number, id)) = self.begun.take() {
            let message = "no figures follow the name; give the whole output";
            found.fail(&id, format!("line {number}: {message}"));
        }
    }
}

/// Root of a table and place of its column `samples`.
fn header(line: &str) -> Option<(&str, usize)> {
    let cells = cells(line)?;
    let [first, "slowest", "median", "mean", ..] = cells else { return None };
    let root = first.strip_suffix("fastest")?.trim();
    Some((root, cells.iter().position(|cell| *cell == "samples")?))
}

/// A row that has a name.
struct Row<'a> {
    /// Number of nodes above it, without the root.
    depth: usize,
    /// The name and what follows it.
    text: &'a str,
    /// Whether the tree goes on below it.
    more: bool,
}

fn branch(line: &str) -> Option<Row<'_>> {
    let (mut depth, mut more, mut rest) = (0, false, line);
    while let Some(below) = rest.strip_prefix("│  ").or(rest.strip_prefix("   ")) {
        more |= rest.starts_with('│');
        depth += 1;
        rest = below;
    }
    more |= rest.starts_with('├');
    let text = rest.strip_prefix("├─ ").or(rest.strip_prefix("╰─ "))?;
    Some(Row { depth, text, more })
}

/// The cells of a row; the first one holds all that stands before.
fn cells(text: &str) -> Option<[&str; COLUMNS]> {
    let mut cells: Vec<&str> = text.rsplitn(COLUMNS, '│').map(str::trim).collect();
    cells.reverse();
    cells.try_into().ok()
}

/// The median, in the unit that it is written in.
fn time([fastest, slowest, median]: [&str; 3]) -> Result<(Known, f64), String> {
    let [fast, slow, middle] = [fastest, slowest, median].map(|cell| {
        let (value, written) = amount(cell)?;
        unit::time(written).map(|_| (value, named("time", written)))
    });
    let (Some((fast, a)), Some((slow, b)), Some((score, known))) = (fast, slow, middle) else {
        return Err(format!("no time in `{fastest} │ {slowest} │ {median}`"));
    };
    let nanoseconds = score * known.factor;
    if nanoseconds < fast * a.factor || slow * b.factor < nanoseconds {
        return Err(format!(
            "inconsistent: the median {median} is not between {fastest} and {slowest}"
        ));
    }
    Ok((known, score))
}

/// A count of allocations or their size, which is the one with a unit.
fn counted(tally: &str, cell: &str) -> Option<(f64, Known)> {
    let (value, written) = amount(cell)?;
    if !written.is_empty() {
        unit::size(written)?;
        return Some((value, named(&format!("{tally} bytes"), written)));
    }
    let metric = Metric {
        name: format!("{tally} count"),
        unit: Unit::new("allocations"),
        better: Better::Lower,
    };
    Some((value, Known { metric, factor: 1.0 }))
}

/// Number and unit of `72.2 ns`, `0.926ns` and `2`.
fn amount(cell: &str) -> Option<(f64, &str)> {
    let written = cell.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
    let value = unit::number(cell.strip_suffix(written)?)?;
    Some((value, written.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, notices, rows, run_of};

    const HEADER: &str = "x                  fastest       │ slowest       │ median        │ mean          │ samples │ iters\n";

    #[test]
    fn the_whole_tree_is_read() {
        let run = run_of("
     Running benches/x.rs (target/release/deps/x-0a1b2c3d4e5f6071)
Timer precision: 41 ns
x                  fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ big             1.397 ms      │ 2.491 s       │ 1.475 ms      │ 1.454 ms      │ 3       │ 3
├─ group                         │               │               │               │         │
│  ├─ Vec<i32>                   │               │               │               │         │
│  │  ├─ 1.00 MB in 2 pieces     40.7 ns       │ 622.6 ms      │ 457.7 ns      │ 729.6 ns      │ 500     │ 4000
│  │  │                          130.2 MiB/s   │ 86.46 MiB/s   │ 103.5 MiB/s   │ 104.4 MiB/s   │         │
│  │  │                          max alloc:    │               │               │               │         │
│  │  │                            3           │ 3             │ 3             │ 3             │         │
│  │  │                            128 KiB     │ 128 KiB       │ 128 KiB       │ 128 KiB       │         │
│  │  │                          alloc:        │               │               │               │         │
│  │  │                            0.125       │ 20            │ 19.5          │ 19            │         │
│  │  │                            1.5 MB      │ 1.5 MB        │ 1.5 MB        │ 1.5 MB        │         │
│  │  ╰─ 8         (ignored)     │               │               │               │         │
│  ╰─ t=4          0.926ns       │ 1.069ns       │ 0.967ns       │ 0.964ns       │ 100     │ 409600
╰─ last            2 µs          │ 4 µs          │ 3 µs          │ 3 µs          │ 10      │ 10
                   8.5 Kitem/s   │ 4.5 Kitem/s   │ 7 Kitem/s     │ 7 Kitem/s     │         │

");
        assert_eq!(
            rows(&run),
            [
                "x::big time ns lower score 1475000 n 3 of 1",
                "x::group::Vec<i32>::1.00 MB in 2 pieces alloc bytes B lower exactly 1500000",
                "x::group::Vec<i32>::1.00 MB in 2 pieces alloc count allocations lower exactly 19.5",
                "x::group::Vec<i32>::1.00 MB in 2 pieces max alloc bytes B lower exactly 131072",
                "x::group::Vec<i32>::1.00 MB in 2 pieces max alloc count allocations lower exactly 3",
                "x::group::Vec<i32>::1.00 MB in 2 pieces time ns lower score 457.7 n 500 of 1",
                "x::group::t=4 time ns lower score 0.967 n 100 of 1",
                "x::last time ns lower score 3000 n 10 of 1",
            ]
        );
        assert_eq!((failures(&run), notices(&run)), (vec![], vec!["varying-count"]));
    }

    #[test]
    fn iterations_may_stand_before_samples() {
        let run = run_of(
            "
old     fastest │ slowest │ median │ mean  │ iters  │ samples
╰─ add  1ns     │ 2ns     │ 1.5ns  │ 1.5ns │ 409600 │ 100

two     fastest │ slowest │ median │ mean  │ iters  │ samples
╰─ add  1ns     │ 2ns     │ 1.5ns  │ 1.5ns │ 409600 │ 50
",
        );
        assert_eq!(
            rows(&run),
            [
                "old::add time ns lower score 1.5 n 100 of 1",
                "two::add time ns lower score 1.5 n 50 of 1"
            ]
        );
    }

    #[test]
    fn figures_that_follow_what_a_bench_printed_are_its_own() {
        let run = run_of(&format!(
            "{HEADER}├─ a                hello from a\n1 ns          │ 3 ns          │ 2 ns          │ 2 ns          │ 100     │ 100\n╰─ b               1 ns          │ 3 ns          │ 2 ns          │ 2 ns          │ 100     │ 100\n"
        ));
        assert_eq!(
            rows(&run),
            ["x::a time ns lower score 2 n 100 of 1", "x::b time ns lower score 2 n 100 of 1"]
        );
        assert_eq!(notices(&run), ["split-line"]);
    }

    #[test]
    fn what_is_broken_is_told() {
        let check = |text: &str, failure: &str| {
            let run = run_of(&format!("{HEADER}{text}"));
            assert_eq!(failures(&run), [failure], "{text}");
        };
        check("╰─ a", "x::a: line 2: no figures follow the name; give the whole output");
        check(
            "├─ a   \nthread 'main' panicked at benches/x.rs:3:5:\nerror: bench failed",
            "x::a: line 3: `thread 'main' panicked at benches/x.rs:3:5:`; mend it and measure again",
        );
        check(
            "╰─ a   1 ns │ 3 ns │ 2 ns │ 2 ns │ 100 │ 100\nerror: bench failed, to rerun pass `--bench x`",
            "(whole run): line 3: `error: bench failed, to rerun pass `--bench x``; benchmarks may be missing, so measure again",
        );
        check(
            "╰─ g       │       │       │       │     │\n   ├─ h    │       │       │       │     │\n   │  ╰─ a   1 ns │ 3 ns │ 2 ns │ 2 ns │ 100 │ 100",
            "(whole run): the tree goes on below line 4, but nothing follows; benchmarks may be missing, so measure again",
        );
        check(
            "├─ a   1 ns │ 3 ns │ 2 ns │ 2 ns │ 100 │ 100",
            "(whole run): the tree goes on below line 2, but nothing follows; benchmarks may be missing, so measure again",
        );
        check(
            "╰─ a   1 ns │ 3 ns │ 54 ns │ 2 ns │ 100 │ 100",
            "x::a: line 2: inconsistent: the median 54 ns is not between 1 ns and 3 ns; measure again",
        );
        check(
            "╰─ a   1 ns │ 3 ns │ NaN ns │ 2 ns │ 100 │ 100",
            "x::a: line 2: no time in `1 ns │ 3 ns │ NaN ns`; measure again",
        );
        check(
            "╰─ a   1 ns │ 3 ns │ 2,5 ns │ 2 ns │ 100 │ 100",
            "x::a: line 2: no time in `1 ns │ 3 ns │ 2,5 ns`; measure again",
        );
    }

    #[test]
    fn a_tree_without_figures_is_refused() {
        let said = error("Timer precision: 41 ns\nx\n├─ a\n╰─ b\n");
        assert!(said.contains("looks most like divan text"), "{said}");
    }
}
