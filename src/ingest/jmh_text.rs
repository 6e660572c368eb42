//! Reads what the Java Microbenchmark Harness prints: its log, and the table at the end of it or anywhere in a text.
//!
//! ```text
//! # Measurement: 3 iterations, 1 s each
//! # Threads: 1 thread, will synchronize iterations
//! # Benchmark mode: Average time, time/op
//! # Benchmark: org.example.Pack.read
//! # Parameters: (size = 512)
//! # Fork: 1 of 2                                             a JVM of its own: a launch
//! # Warmup Iteration   1: 4.100 us/op
//! Iteration   1: 3.400 us/op                                 a sample of it, perhaps `3.400 ±(99.9%) 0.1 us/op`
//!
//! Benchmark                      (size)   Mode  Cnt   Score   Error  Units
//! Pack.read                         512   avgt    6   3.410 ± 0.052  us/op
//! Pack.read:·gc.alloc.rate.norm     512   avgt    6  ≈ 10⁻⁵           B/op
//! Pack.open                         N/A     ss        1.234          ms/op        one value: no count, no error
//! ```
//!
//! Of the same runs, `-rf csv` (`scsv` with semicolons) writes a row each, full names and counts of threads included:
//!
//! ```text
//! "Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: size"
//! "org.example.Pack.read","avgt",1,6,3.410000,0.052000,"us/op",512
//! "org.example.Pack.read:gc.count","avgt",1,6,0.000000,NaN,"counts",512
//! ```
//!
//! The log holds every value, so it is evidence where it is there, and the table adds the secondary results only. Of a table
//! alone, a score is a summary: its error is half of a Student interval at 99.9 % over `Cnt` values, of which the table
//! does not say how many JVMs they come from. Columns are read from the right and by words, since tables are pasted
//! and edited; JMH prints no thousands separators, so a single comma is a decimal one.

use super::Format;
use super::found::{Found, Repeated};
use super::input::{Input, Shape};
use super::jmh::{CONFIDENCE, full_name, primary_metric, secondary_metric};
use super::unit;
use crate::error::{Error, Result};
use crate::model::{Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "JMH text",
    signs: &["# JMH version", "# Fork: ", "\nIteration ", " thrpt ", " avgt ", "Cnt", "ops/"],
    claims: |input| {
        input.shape == Shape::Text
            && input.glance().lines().any(|line| {
                let line = plain(line);
                line.starts_with("# Benchmark mode: ")
                    || columns(&line).is_some()
                    || Row::parse(&line, &[]).is_some_and(|row| row.unit.contains('/'))
            })
    },
    read,
};

/// What `-rf csv` and `-rf scsv` write.
pub(super) const CSV: Format = Format {
    name: "JMH CSV",
    signs: &["\"Benchmark\"", "\"Mode\"", "Score Error (99.9%)", "Param: "],
    claims: |input| input.shape == Shape::Text && csv_header(input).is_some(),
    read: read_csv,
};

const MODES: [&str; 4] = ["thrpt", "avgt", "sample", "ss"];

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let runs = LoggedRun::all(input, found);
    found.repeated(Repeated::Launch);
    for run in &runs {
        run.tell(found);
    }
    found.repeated(Repeated::Apart);
    tables(input, &runs, found);
    for run in runs.iter().filter(|run| run.coarse) {
        let id = found.id("", &run.name());
        if !found.current().series.iter().any(|series| series.id == id) {
            let message = "its values are below what the log prints; choose a smaller time unit";
            found.fail(&id, format!("line {}: {message}", run.line));
        }
    }
    Ok(())
}

/// The columns of a table in CSV, by their names, and the character between them.
fn csv_header(input: &Input) -> Option<(usize, char, Vec<String>)> {
    let (number, line) = input.lines().find(|(_, line)| !line.trim().is_empty())?;
    let separator = line.trim().strip_prefix("\"Benchmark\"")?.chars().next()?;
    let columns = fields(line, separator);
    let has = |name: &str| columns.iter().any(|column| column == name);
    (has("Mode") && has("Score") && has("Unit")).then_some((number, separator, columns))
}

fn read_csv(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let Some((header, separator, columns)) = csv_header(input) else {
        return Err(Error::judge("it has no header of JMH's; give the file as JMH wrote it"));
    };
    for (number, line) in input.lines().skip(header).filter(|(_, line)| !line.trim().is_empty()) {
        let values = fields(line, separator);
        let at = |name: &str| {
            let place = columns.iter().position(|column| column.starts_with(name));
            place.and_then(|place| values.get(place)).map_or("", String::as_str)
        };
        let (full, mode) = (at("Benchmark"), MODES.into_iter().find(|mode| *mode == at("Mode")));
        let score = Score::of(at("Score"));
        let (Some(mode), Some(score), true) = (mode, score, values.len() == columns.len()) else {
            let message = "the row is cut off or edited; give it as JMH wrote it";
            found.fail(&found.id("", full), format!("line {number}: {message}"));
            continue;
        };
        let (name, label) = full.split_once(':').map_or((full, None), |(n, l)| (n, Some(l)));
        let params = columns.iter().zip(&values).filter_map(|(column, value)| {
            let name = column.strip_prefix("Param: ")?;
            (!value.is_empty()).then(|| (name, value.clone()))
        });
        let row = Row {
            name,
            label,
            params: params.collect(),
            threads: at("Threads").parse().unwrap_or(1),
            mode,
            count: at("Samples").parse().ok(),
            score,
            error: decimal(at("Score Error")),
            unit: at("Unit").to_owned(),
            comma: at("Score").contains(','),
        };
        row.tell(number, &[], found);
    }
    Ok(())
}

/// The fields of a line; one in quotes may hold the separator, and a quote twice.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("there is one from the start");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            c if c == separator && !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

/// One benchmark in one mode, as the log tells of it.
struct LoggedRun<'a> {
    line: usize,
    benchmark: &'a str,
    mode: &'static str,
    params: Vec<(&'a str, String)>,
    threads: u32,
    /// Iterations that each fork is to make.
    iterations: usize,
    /// Forks that are to be made.
    planned: usize,
    /// The values of each fork.
    forks: Vec<Vec<f64>>,
    unit: &'a str,
    /// The line on which an iteration failed.
    broken: Option<usize>,
    /// Some values are printed as an order of magnitude only.
    coarse: bool,
}

impl<'a> LoggedRun<'a> {
    fn all(input: &'a Input, found: &mut Found<'_>) -> Vec<LoggedRun<'a>> {
        let mut runs: Vec<LoggedRun<'a>> = Vec::new();
        let (mut mode, mut threads, mut iterations) = ("", 1, 0);
        let mut warmup = false;
        // The line of an iteration whose value has not come yet.
        let mut waiting = None;
        for (number, line) in input.lines() {
            let line = bare(line);
            if let Some(value) = line.strip_prefix("# Measurement: ") {
                iterations = first_number(value).unwrap_or(0) as usize;
            } else if let Some(value) = line.strip_prefix("# Threads: ") {
                threads = first_number(value).unwrap_or(1);
            } else if let Some(value) = line.strip_prefix("# Benchmark mode: ") {
                mode = mode_of(value);
            } else if let Some(benchmark) = line.strip_prefix("# Benchmark: ") {
                waiting = None;
                runs.push(LoggedRun {
                    line: number,
                    benchmark: benchmark.trim(),
                    mode,
                    params: Vec::new(),
                    threads,
                    iterations,
                    planned: 0,
                    forks: Vec::new(),
                    unit: "",
                    broken: None,
                    coarse: false,
                });
            }
            let Some(run) = runs.last_mut() else { continue };
            if let Some(params) = line.strip_prefix("# Parameters: ") {
                run.params = parameters(params);
            } else if line.starts_with("# Warmup Fork:") {
                warmup = true;
            } else if let Some(fork) = line.strip_prefix("# Fork: ") {
                warmup = false;
                run.planned = fork.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(1);
                run.forks.push(Vec::new());
            } else if line.contains("<failure>") {
                run.broken.get_or_insert(number);
                waiting = None;
            } else if let Some((_, value)) =
                line.strip_prefix("Iteration ").and_then(|rest| rest.split_once(':'))
            {
                waiting = (!warmup && !run.take(value)).then_some(number);
            } else if let Some(begun) = waiting
                && run.take(line)
            {
                waiting = None;
                found.notice(
                    "split-line",
                    format!(
                        "{}: the value of {} (line {begun}) stands on line {number}",
                        input.name, run.benchmark
                    ),
                    "something else was printed in between",
                );
            }
        }
        runs
    }

    /// Takes the value of an iteration if it is one; otherwise something else was printed first.
    fn take(&mut self, text: &'a str) -> bool {
        let text = text.split_once("mean = ").map_or(text, |(_, mean)| mean);
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { return false };
        if first.starts_with('≈') {
            self.coarse = true;
            return true;
        }
        let (Some(value), Some(mut word)) = (decimal(first), words.next()) else { return false };
        if word.contains("99.9%") {
            words.next();
            let Some(unit) = words.next() else { return false };
            word = unit;
        }
        let unit = word.trim_end_matches(',');
        if !unit.contains('/') && unit::time(unit).is_none() {
            return false;
        }
        self.unit = unit;
        if self.forks.is_empty() {
            self.forks.push(Vec::new());
        }
        if let Some(fork) = self.forks.last_mut() {
            fork.push(value);
        }
        true
    }

    fn name(&self) -> String {
        full_name(self.benchmark, self.params.iter().map(|(k, v)| (k, v)), self.threads)
    }

    fn has_values(&self) -> bool {
        !self.coarse && self.forks.iter().any(|fork| !fork.is_empty())
    }

    fn tell(&self, found: &mut Found<'_>) {
        let id = found.id("", &self.name());
        let seen: usize = self.forks.iter().map(Vec::len).sum();
        let planned = self.planned.saturating_mul(self.iterations);
        if let Some(line) = self.broken {
            found.fail(&id, format!("line {line}: an iteration failed; the cause stands below it"));
        } else if !self.coarse && (seen == 0 || seen < planned) {
            let seen = match seen {
                0 => "none of its iterations is".to_owned(),
                _ => format!("{seen} of {planned} iterations are"),
            };
            let message = "in the log; a fork died or the log was cut off";
            found.fail(&id, format!("line {}: {seen} {message}", self.line));
        }
        if self.has_values() {
            let known = primary_metric(found, &id, self.mode, self.unit);
            for fork in self.forks.iter().filter(|fork| !fork.is_empty()) {
                found.launch(&id, &known, fork);
            }
        }
    }

    /// Whether a row of the table is of this run: the table shortens packages, to nothing or to their first letters.
    fn is(&self, row: &Row<'_>) -> bool {
        let mut full = self.benchmark.rsplit('.');
        row.mode == self.mode
            && row.params.len() == self.params.len()
            && row.params.iter().all(|(_, value)| self.params.iter().any(|(_, own)| own == value))
            && row.name.rsplit('.').all(|short| {
                full.next().is_some_and(|own| {
                    own == short || (short.chars().count() == 1 && own.starts_with(short))
                })
            })
    }
}

/// Reads every row of every table.
fn tables(input: &Input, runs: &[LoggedRun<'_>], found: &mut Found<'_>) {
    let mut params: Option<Vec<String>> = None;
    for (number, line) in input.lines() {
        let line = plain(line);
        if let Some(columns) = columns(&line) {
            params = Some(columns);
            continue;
        }
        let names = params.as_deref().unwrap_or_default();
        if let Some(row) =
            Row::parse(&line, names).filter(|row| params.is_some() || row.unit.contains('/'))
        {
            row.tell(number, runs, found);
        } else if params.is_some() && !line.trim().is_empty() {
            let mut words = line.split_whitespace();
            if let (Some(name), true) = (words.next(), words.any(|word| MODES.contains(&word))) {
                let message = "the row is cut off or edited; give it as JMH printed it";
                found.fail(&found.id("", name), format!("line {number}: {message}"));
            } else {
                params = None;
            }
        }
    }
}

/// A row of a table, as text or in CSV.
struct Row<'a> {
    name: &'a str,
    label: Option<&'a str>,
    params: Vec<(&'a str, String)>,
    /// The table does not say them.
    threads: u32,
    mode: &'static str,
    count: Option<u32>,
    score: Score,
    error: Option<f64>,
    unit: String,
    comma: bool,
}

/// A score as it is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Score {
    Number(f64),
    /// `≈ 10⁻⁵`: the order of magnitude of what is too small for the digits that are printed.
    About(f64),
    /// `NaN`.
    Nothing,
}

impl<'a> Row<'a> {
    /// Takes a row apart, given the names of the columns with parameters.
    fn parse(line: &'a str, names: &'a [String]) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().rposition(|word| MODES.contains(word)).filter(|at| 0 < *at)?;
        let mode = MODES.into_iter().find(|mode| words.get(at) == Some(mode))?;
        let tail = words.get(at + 1..)?.join(" ");
        let tail = tail.replace("+/-", "±").replace("+-", "±");
        let tail = tail.replace('±', " ± ").replace('≈', " ≈ ");
        let mut tail: Vec<&str> = tail.split_whitespace().collect();
        let unit = tail.pop().filter(|unit| decimal(unit).is_none() && *unit != "±")?;
        // A console that has no ± prints something else in its place, and perhaps in that of `≈` too.
        let sign = tail.iter().position(|word| matches!(*word, "±" | "?" | "\u{fffd}"));
        let (before, error) = match sign.map(|at| (tail.get(..at), tail.get(at + 1..))) {
            None => (tail.as_slice(), None),
            Some((Some(before), Some(["NaN"]))) => (before, None),
            Some((Some(before), Some([error]))) => (before, Some(decimal(error)?)),
            Some(_) => return None,
        };
        let whole = |word: &str| word.parse::<u32>().ok();
        let (count, score, error) = match before {
            ["≈", about] => (None, Score::About(magnitude(about)?), error),
            [count, "≈", about] => (Some(whole(count)?), Score::About(magnitude(about)?), error),
            [score] if sign.is_none_or(|at| tail.get(at) == Some(&"±")) => {
                (None, Score::of(score)?, error)
            }
            [count, score] if whole(count).is_some() => (whole(count), Score::of(score)?, error),
            [score, error] if sign.is_none() => (None, Score::of(score)?, Some(decimal(error)?)),
            [count, score, error] if sign.is_none() => {
                (Some(whole(count)?), Score::of(score)?, Some(decimal(error)?))
            }
            _ => return None,
        };
        let full = *words.first()?;
        let (name, label) = full.split_once(':').map_or((full, None), |(n, l)| (n, Some(l)));
        let values = words.get(1..at)?;
        let params = match (names, values) {
            (_, []) => Vec::new(),
            ([only], values) => vec![(only.as_str(), values.join(" "))],
            (names, values) if names.len() == values.len() => names
                .iter()
                .map(String::as_str)
                .zip(values.iter().map(ToString::to_string))
                .collect(),
            (_, values) => vec![("param", values.join(" "))],
        };
        let params = params.into_iter().filter(|(_, value)| value != "N/A").collect();
        let comma = before.iter().any(|word| word.contains(','));
        Some(Row {
            name,
            label,
            params,
            threads: 1,
            mode,
            count,
            score,
            error,
            unit: unit.to_owned(),
            comma,
        })
    }

    fn tell(&self, line: usize, runs: &[LoggedRun<'_>], found: &mut Found<'_>) {
        let logged = runs.iter().find(|run| run.is(self));
        if self.label.is_none() && logged.is_some_and(LoggedRun::has_values) {
            return;
        }
        let name = match logged {
            Some(run) => run.name(),
            None => full_name(self.name, self.params.iter().map(|(k, v)| (k, v)), self.threads),
        };
        let id = found.id("", &name);
        let known = match self.label {
            None => primary_metric(found, &id, self.mode, &self.unit),
            Some(label) => match secondary_metric(label, &self.unit) {
                Some(known) => known,
                None => return,
            },
        };
        if self.comma {
            found.notice_each(
                "decimal-comma",
                "numbers have a comma, which is read as a decimal one",
                "JMH prints no thousands separators; run it with -Duser.language=en to be sure",
                &format_args!("line {line}"),
            );
        }
        let spread = self.error.map(|value| Spread::HalfWidth { value, confidence: CONFIDENCE });
        match self.score {
            Score::Number(score) => {
                let summary = Summary { score, spread, n: self.count, launches: None };
                found.summary(&id, &known, summary);
            }
            Score::About(score) => {
                found.notice_each(
                    "below-resolution",
                    "scores are printed as an order of magnitude only",
                    "they cannot be tested; choose a smaller time unit, or give the JSON",
                    &format_args!("line {line}"),
                );
                let summary = Summary { score, spread: None, n: None, launches: None };
                found.summary(&id, &known, summary);
            }
            Score::Nothing if self.label.is_some() => found.notice_each(
                "no-value",
                "secondary results are no numbers",
                "they are left out",
                &format_args!("line {line}"),
            ),
            Score::Nothing => {
                found.fail(&id, format!("line {line}: its score is no number; look at why"));
            }
        }
    }
}

impl Score {
    fn of(word: &str) -> Option<Self> {
        if word == "NaN" { Some(Score::Nothing) } else { decimal(word).map(Score::Number) }
    }
}

/// The names of the columns with parameters, if a line is the header of a table. Before the first release the count
/// was called `Samples` and the error `Score error`.
fn columns(line: &str) -> Option<Vec<String>> {
    let mut words = line.split_whitespace();
    if words.next() != Some("Benchmark") {
        return None;
    }
    let params: Vec<&str> = words.by_ref().take_while(|word| *word != "Mode").collect();
    let rest: Vec<&str> = words.collect();
    (rest.contains(&"Score") && rest.last().is_some_and(|last| last.starts_with("Unit")))
        .then(|| params.iter().map(|name| name.trim_matches(['(', ')']).to_owned()).collect())
}

/// A line without the prefix of the build tool that ran the benchmarks.
fn bare(line: &str) -> &str {
    let line = line.trim();
    ["[info] ", "[INFO] "].iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line)
}

/// A line of a table, which may be one of Markdown.
fn plain(line: &str) -> String {
    let line = bare(line);
    if line.starts_with('|') { line.replace('|', " ") } else { line.to_owned() }
}

fn mode_of(text: &str) -> &'static str {
    match text.split([',', ' ']).next() {
        Some("Throughput") => "thrpt",
        Some("Average") => "avgt",
        Some("Sampling") => "sample",
        Some("Single") => "ss",
        _ => "",
    }
}

/// The pairs of `(size = 512, kind = a, b)`; a value may hold a comma.
fn parameters(text: &str) -> Vec<(&str, String)> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for part in text.split(", ") {
        match (part.split_once(" = "), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key, value.to_owned())),
            (None, Some((_, value))) => {
                value.push_str(", ");
                value.push_str(part);
            }
            (None, None) => {}
        }
    }
    pairs
}

fn first_number(text: &str) -> Option<u32> {
    text.split_whitespace().next()?.parse().ok()
}

/// A number as JMH prints it in any locale.
fn decimal(word: &str) -> Option<f64> {
    match word.split_once(',') {
        Some((whole, fraction)) if !whole.contains('.') && !fraction.contains(['.', ',']) => {
            unit::number(&format!("{whole}.{fraction}"))
        }
        _ => unit::number(word),
    }
}

/// The value of `10⁻⁵`, or of `0`.
fn magnitude(word: &str) -> Option<f64> {
    if let Some(value) = decimal(word).filter(|value| *value == 0.0) {
        return Some(value);
    }
    let exponent: String = word
        .strip_prefix("10")?
        .chars()
        .map(|c| match c {
            '⁻' => Some('-'),
            '¹' => Some('1'),
            '²' => Some('2'),
            '³' => Some('3'),
            '⁰' | '⁴'..='⁹' => char::from_digit(c as u32 - '⁰' as u32, 10),
            _ => None,
        })
        .collect::<Option<_>>()?;
    exponent.parse::<i32>().ok().map(|exponent| 10f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failures, notices, rows, run_of, survives, try_run_of};
    use super::{decimal, magnitude};

    #[test]
    fn a_table_is_summaries_with_everything_that_it_says() {
        let run = run_of(
            "words before\n\
             Benchmark                     (kind)  (size)   Mode  Cnt    Score   Error   Units\n\
             Pack.open                          a     N/A     ss         1.250           ms/op\n\
             Pack.read                          a     512  thrpt    5   10.500 ± 0.250  ops/ms\n\
             Pack.read:·gc.alloc.rate           a     512  thrpt    5  900.000 ± 9.000  MB/sec\n\
             Pack.read:·gc.alloc.rate.norm      a     512  thrpt    5   24.000 ± 0.001    B/op\n\
             Pack.read:·gc.count                a     512  thrpt    5    3.000          counts\n\
             \n\
             Pack.walk                          a     512 sample 1000    8.000 ± 0.500   us/op\n\
             Pack.walk:walk·p0.00               a     512 sample         1.000           us/op\n\
             Pack.walk:walk·p0.999              a     512 sample        20.000           us/op\n\
             words after\n",
        );
        assert_eq!(
            rows(&run),
            [
                "Pack.open:kind=a single-shot-time ns lower score 1250000",
                "Pack.read:kind=a,size=512 gc.alloc.rate B/s unknown score 900000000 ± 9000000 at 0.999 n 5",
                "Pack.read:kind=a,size=512 gc.alloc.rate.norm B lower score 24 ± 0.001 at 0.999 n 5",
                "Pack.read:kind=a,size=512 gc.count counts unknown score 3 n 5",
                "Pack.read:kind=a,size=512 throughput ops/s higher score 10500 ± 250 at 0.999 n 5",
                "Pack.walk:kind=a,size=512 p99.9 ns lower score 20000",
                "Pack.walk:kind=a,size=512 sampled-time ns lower score 8000 ± 500 at 0.999 n 1000",
            ]
        );
        assert!(run.failures.is_empty() && run.notices.is_empty());
    }

    #[test]
    fn a_row_is_read_whatever_became_of_its_sign() {
        for sign in ["±", "Â±", "+-", "+/-", "?", "\u{fffd}"] {
            let text = format!("Pack.read   512  avgt   20    3.410 {sign}  0.052  us/op\n");
            assert_eq!(
                rows(&run_of(&text)),
                ["Pack.read:param=512 time ns lower score 3410 ± 52 at 0.999 n 20"],
                "{sign}"
            );
        }
        let latin1 = b"Pack.read  avgt   20    3.410 \xb1  0.052  us/op\n".to_vec();
        let input = super::Input::decode("file".into(), latin1).unwrap();
        assert!((super::FORMAT.claims)(&input) && input.text.contains('±'));
    }

    #[test]
    fn rows_of_other_shapes_are_read() {
        let check = |row: &str, expected: &str| {
            let run = run_of(&format!("Benchmark Mode Cnt Score Error Units\n{row}\n"));
            assert_eq!(rows(&run), [format!("A.b {expected}")], "{row}");
            assert!(run.failures.is_empty(), "{row}");
        };
        check("A.b avgt 20 3.5±0.5 us/op", "time ns lower score 3500 ± 500 at 0.999 n 20");
        check("A.b avgt 20 3.5 0.5 us/op", "time ns lower score 3500 ± 500 at 0.999 n 20");
        check("A.b avgt 20 3.5 us/op", "time ns lower score 3500 n 20");
        check("A.b avgt 3.5 us/op", "time ns lower score 3500");
        check("A.b avgt 3.5 ± 0.5 us/op", "time ns lower score 3500 ± 500 at 0.999");
        check("A.b avgt 2 3.5 ± NaN us/op", "time ns lower score 3500 n 2");
        check("[info] A.b avgt 20 3.5 us/op", "time ns lower score 3500 n 20");
        check(
            "| A.b | avgt | 20 | 3.5 | ± 0.5 | us/op |",
            "time ns lower score 3500 ± 500 at 0.999 n 20",
        );
        check(
            "A.b thrpt 20 71.5 ± 6.5 ops/min",
            // 71.5 / 60 and 6.5 / 60.
            "throughput ops/s higher score 1.191666667 ± 0.1083333333 at 0.999 n 20",
        );
    }

    #[test]
    fn an_order_of_magnitude_is_not_tested() {
        let run = run_of(
            "Benchmark Mode Cnt Score Error Units\nA.b avgt 5 ≈ 10⁻⁵ s/op\nA.c:gc.count avgt 5 ≈ 0 counts\n",
        );
        assert_eq!(
            rows(&run),
            [
                &*format!("A.b time ns lower score {}", 10f64.powi(-5) * 1e9),
                "A.c gc.count counts unknown score 0"
            ]
        );
        assert_eq!(notices(&run), ["below-resolution"]);
        assert_eq!(magnitude("10⁻¹²"), Some(10f64.powi(-12)));
        assert_eq!(magnitude("10??"), None);
    }

    #[test]
    fn a_decimal_comma_is_read_and_told() {
        let run = run_of(
            "Benchmark Mode Cnt Score Error Units\nA.b thrpt 14 528,857 ±  278,142  ops/s\n",
        );
        assert_eq!(
            rows(&run),
            ["A.b throughput ops/s higher score 528.857 ± 278.142 at 0.999 n 14"]
        );
        assert_eq!(notices(&run), ["decimal-comma"]);
        assert_eq!((decimal("1,234.5"), decimal("1.234,5")), (Some(1234.5), None));
    }

    const LOG: &str = "\
# JMH version: 1.37
# Warmup: 1 iterations, 1 s each
# Measurement: 2 iterations, 1 s each
# Threads: 2 threads, will synchronize iterations
# Benchmark mode: Average time, time/op
# Benchmark: org.ex.Pack.read
# Parameters: (kind = a, b, size = 512)

# Run progress: 0.00% complete, ETA 00:00:06
# Warmup Fork: 1 of 1
# Warmup Iteration   1: 9.000 us/op
Iteration   1: 8.000 us/op
Iteration   2: 8.000 us/op

# Fork: 1 of 2
# Warmup Iteration   1: 4.100 us/op
Iteration   1: 3.500 ±(99.9%) 0.1 us/op
                 ·gc.count: 3.000 counts
Iteration   2: hello
3.250 us/op

# Fork: 2 of 2
# Warmup Iteration   1: 4.100 us/op
Iteration   1: n = 5, mean = 3.750 us/op, p{0.00, 1.00} = 3, 4 us/op
Iteration   2: 4.000 us/op


Result \"org.ex.Pack.read\":
  3.625 ±(99.9%) 0.5 us/op [Average]

";

    #[test]
    fn forks_in_the_log_are_launches_and_the_table_adds_the_rest() {
        let table = "\
Benchmark                  (kind)  (size)  Mode  Cnt  Score   Error  Units
Pack.read                       c     512  avgt    4  3.625 ± 0.500  us/op
o.e.Pack.read                a, b     512  avgt    4  3.625 ± 0.500  us/op
";
        let run = run_of(LOG);
        let id = "org.ex.Pack.read:kind=a, b,size=512,threads=2";
        let launches = format!("{id} time ns lower [3500 3250] [3750 4000]");
        assert_eq!(rows(&run), [&*launches]);
        assert_eq!((notices(&run), failures(&run)), (vec!["split-line"], vec![]));
        // A value with a blank takes the columns of the table apart, so this row is a benchmark of its own.
        assert_eq!(run_of(&format!("{LOG}{table}")).series.len(), 3);

        survives(&format!("{LOG}{table}"));

        let log = LOG.replace("a, b", "a");
        let table = "\
Benchmark                  (kind)  (size)  Mode  Cnt  Score   Error  Units
o.e.Pack.read                   a     512  avgt    4  3.625 ± 0.500  us/op
o.e.Pack.read:·gc.count         a     512  avgt    4  6.000         counts
";
        let id = id.replace("a, b", "a");
        assert_eq!(
            rows(&run_of(&format!("{log}{table}"))),
            [format!("{id} gc.count counts unknown score 6 n 4"), launches.replace("a, b", "a")]
        );
    }

    #[test]
    fn a_log_that_is_not_whole_fails_by_name() {
        let check = |log: &str, message: &str| {
            let run = run_of(log);
            let id = "org.ex.Pack.read:kind=a, b,size=512,threads=2";
            assert_eq!(failures(&run), [format!("{id}: line {message}")]);
        };
        let cut = "of 4 iterations are in the log; a fork died or the log was cut off";
        check(LOG.split("# Fork: 2").next().unwrap(), &format!("6: 2 {cut}"));
        check(
            LOG.split("# Fork: 1").next().unwrap(),
            "6: none of its iterations is in the log; a fork died or the log was cut off",
        );
        check(
            &LOG.replace(
                "Iteration   2: 4.000 us/op",
                "Iteration   2: <failure>\n\njava.lang.Error",
            ),
            "25: an iteration failed; the cause stands below it",
        );
        let coarse = LOG.replace("4.000 us/op", "≈ 10⁻³ us/op");
        check(&coarse, "6: its values are below what the log prints; choose a smaller time unit");
    }

    #[test]
    fn a_row_that_is_cut_or_no_number_fails_by_name() {
        let check = |row: &str, message: &str| {
            let run = run_of(&format!(
                "Benchmark Mode Cnt Score Error Units\nA.a avgt 5 1.0 us/op\n{row}"
            ));
            assert_eq!(failures(&run), [format!("A.b: line 3: {message}")], "{row}");
        };
        let cut = "the row is cut off or edited; give it as JMH printed it";
        check("A.b avgt    5   495.", cut);
        check("A.b avgt    5   495.0 ± us/op", cut);
        check("A.b avgt    5   4 9 5 us/op", cut);
        check("A.b avgt    5   ? 10?? us/op", cut);
        check("A.b avgt    5   NaN us/op", "its score is no number; look at why");
    }

    #[test]
    fn equal_rows_of_two_tables_are_kept_apart() {
        let table = "Benchmark Mode Cnt Score Error Units\nA.b avgt 5 1.0 us/op\n\n";
        let run = run_of(&table.repeat(2));
        assert_eq!(
            rows(&run),
            ["A.b time ns lower score 1000 n 5", "A.b #2 time ns lower score 1000 n 5"]
        );
        assert_eq!(notices(&run), ["duplicate-name"]);
    }

    #[test]
    fn a_table_in_csv_has_full_names() {
        let csv = "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\",\"Param: kind\",\"Param: size\"\n\
             \"ex.Pack.read\",\"avgt\",1,6,3.410000,0.052000,\"us/op\",\"a, \"\"b\"\"\",512\n\
             \"ex.Pack.read:gc.count\",\"avgt\",1,6,7.000000,NaN,\"counts\",,512\n\
             \"ex.Pack.open\",\"ss\",4,1,2.5,NaN,\"ms/op\",,\n\
             \"ex.Pack.cut\",\"avgt\",1,6\n";
        let run = run_of(csv);
        assert_eq!(
            rows(&run),
            [
                "ex.Pack.open:threads=4 single-shot-time ns lower score 2500000 n 1",
                "ex.Pack.read:kind=a, \"b\",size=512 time ns lower score 3410 ± 52 at 0.999 n 6",
                "ex.Pack.read:size=512 gc.count counts unknown score 7 n 6",
            ]
        );
        assert_eq!(
            failures(&run),
            ["ex.Pack.cut: line 5: the row is cut off or edited; give it as JMH wrote it"]
        );
        let german = run_of(
            "\"Benchmark\";\"Mode\";\"Threads\";\"Samples\";\"Score\";\"Score Error (99,9%)\";\"Unit\"\n\
             \"ex.A.b\";\"thrpt\";1;5;3,5;0,25;\"ops/s\"\n",
        );
        assert_eq!(rows(&german), ["ex.A.b throughput ops/s higher score 3.5 ± 0.25 at 0.999 n 5"]);
        assert_eq!(notices(&german), ["decimal-comma"]);
    }

    #[test]
    fn prose_is_not_claimed() {
        assert!(try_run_of("the mode is avgt here\nBenchmark results follow\n").is_err());
    }
}
