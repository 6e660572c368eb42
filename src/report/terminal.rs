//! The page for a terminal: the answer first, then the rows by verdict, worst first.
//!
//! ```text
//! FAIL: 1 of 24 benchmarks is slower than its tolerance: …     the answer
//!   Undo the slowdown, or …                                    whether anybody must act
//!
//! REGRESSION (1): proven worse by more than the tolerance      one heading a verdict
//!   benchmark      baseline -> candidate  change  95 % interval
//!   read/serde_json    12.31 -> 13.52 ms  +9.8 %  [+8.9, +10.7] %  slower
//!
//! UNCHANGED (23): shown to lie within the tolerance            folded into its count
//!
//! Not guarded …  Notices …  Candidate … Policy …               what else to know
//! ```
//!
//! The table is laid out by hand: headings between rows whose columns still line up, and names that are cut in the
//! middle but stay apart, leave a table crate with no more to do than one `format!`.

use anstyle::{AnsiColor, Style};

use super::prose::{self, PLAIN};
use super::{Report, text};
use crate::gate::{Outcome, Row, Verdict};
use crate::model::Notice;

/// How a page for a terminal looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns that may be used.
    pub width: usize,
    /// Whether ANSI escapes are written.
    pub colour: Colour,
    /// How much is told.
    pub verbosity: Verbosity,
}

impl Default for Screen {
    fn default() -> Self {
        Screen { width: 80, colour: Colour::Never, verbosity: Verbosity::Normal }
    }
}

/// Whether ANSI escapes are written. No page needs them to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escapes.
    Always,
}

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// The headline.
    Quiet,
    /// What changed or is open; the rest as counts.
    Normal,
    /// Every row.
    Verbose,
}

/// Rows of one verdict that a page of normal verbosity lists. Regressions, failures and removals are all listed.
const FEW: usize = 20;

/// Names get at least this much room, even where a line then grows beyond the width.
const NAME_MIN: usize = 16;

/// Renders the page for a terminal.
pub fn terminal(report: &Report, screen: &Screen) -> String {
    let mut page = Page { screen: *screen, out: String::new() };
    page.headline(report);
    if screen.verbosity > Verbosity::Quiet {
        page.rows(report);
        page.paragraph(&prose::not_guarded(report, PLAIN));
        page.notices(report);
        page.circumstances(report);
    }
    page.out
}

/// The colour of a verdict.
pub(super) fn verdict_style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Regression | Verdict::Failed | Verdict::Removed => AnsiColor::Red,
        Verdict::Inconclusive => AnsiColor::Yellow,
        Verdict::Added => AnsiColor::Cyan,
        Verdict::Improvement | Verdict::Unchanged => AnsiColor::Green,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

/// Text in a style, or as it is.
pub(super) fn paint(colour: Colour, style: Style, text: &str) -> String {
    match colour {
        Colour::Never => text.into(),
        Colour::Always => format!("{style}{text}{style:#}"),
    }
}

/// What a verdict says, for a heading.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "proven worse by more than the tolerance",
        Verdict::Failed => "could not be measured or read",
        Verdict::Removed => "not in the candidate",
        Verdict::Inconclusive => "the data cannot tell",
        Verdict::Added => "not in the baseline",
        Verdict::Improvement => "proven better by more than the tolerance",
        Verdict::Unchanged => "shown to lie within the tolerance",
    }
}

/// Notices of the report and of its rows; those of one kind and advice together, in order of appearance.
pub(super) fn gathered(report: &Report) -> Vec<(Vec<&str>, &str)> {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for Notice { kind, seen, advice } in
        report.notices.iter().chain(report.rows.iter().flat_map(|row| &row.notices))
    {
        match groups.iter_mut().find(|group| (group.0, group.1) == (kind, advice)) {
            Some((.., all)) if all.contains(&seen.as_str()) => {}
            Some((.., all)) => all.push(seen),
            None => groups.push((kind, advice, vec![seen])),
        }
    }
    groups.into_iter().map(|(_, advice, seen)| (seen, advice)).collect()
}

struct Page {
    screen: Screen,
    out: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn wrapped(&mut self, text: &str, first: &str, indent: usize) {
        let text = text::wrap(first, text, self.screen.width, indent);
        self.line(&text);
    }

    /// A paragraph of its own; nothing where there is nothing to say.
    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.line("");
            self.wrapped(text, "", 2);
        }
    }

    fn headline(&mut self, report: &Report) {
        let headline = prose::headline(report, PLAIN);
        let wrapped = text::wrap("", &headline.answer, self.screen.width, 2);
        let (word, rest) = wrapped.split_once(':').expect("a headline begins with its outcome");
        let style = match report.exit_code {
            0 if report.outcome == Outcome::Pass => verdict_style(Verdict::Unchanged),
            0 => verdict_style(Verdict::Inconclusive),
            _ => verdict_style(Verdict::Regression),
        };
        let word = paint(self.screen.colour, style, word);
        self.line(&format!("{word}:{rest}"));
        if !headline.action.is_empty() {
            self.wrapped(&headline.action, "  ", 2);
        }
    }

    fn rows(&mut self, report: &Report) {
        let verbosity = self.screen.verbosity;
        let shown = |verdict| {
            let mut rows = report.rows_with(verdict);
            rows.truncate(most_listed(verdict, verbosity));
            rows
        };
        let measured: Vec<&Row> =
            Verdict::ALL.into_iter().flat_map(shown).filter(|row| is_measured(row)).collect();
        let (heading, lines) = table(&measured, &self.screen);
        let mut heading = Some(heading);
        let mut lines = lines.into_iter();
        for verdict in Verdict::ALL {
            let (rows, all) = (shown(verdict), report.count(verdict));
            if all == 0 {
                continue;
            }
            let word = verdict.name().to_uppercase();
            let word = paint(self.screen.colour, verdict_style(verdict), &word);
            let fold = if rows.is_empty() { "; --verbose lists them" } else { "" };
            self.line("");
            self.line(&format!("{word} ({all}): {}{fold}", meaning(verdict)));
            for row in &rows {
                self.row(row, &mut heading, &mut lines);
            }
            if !rows.is_empty() && rows.len() < all {
                self.line(&format!("  and {} more; --verbose lists them", all - rows.len()));
            }
        }
    }

    fn row(
        &mut self,
        row: &Row,
        heading: &mut Option<String>,
        lines: &mut impl Iterator<Item = String>,
    ) {
        let reason = text::sentence(&row.reason);
        if !is_measured(row) {
            let what = format!("{}: {reason}", PLAIN.label(row));
            return self.wrapped(&what, "  ", 4);
        }
        if let Some(heading) = heading.take() {
            self.line(&heading);
        }
        self.line(&lines.next().expect("the table has a line for each measured row"));
        if self.screen.verbosity == Verbosity::Verbose && !reason.is_empty() {
            self.wrapped(&reason, "    ", 4);
        }
    }

    fn notices(&mut self, report: &Report) {
        let notices = gathered(report);
        if notices.is_empty() {
            return;
        }
        self.line("");
        let heading = paint(self.screen.colour, Style::new().bold(), "Notices");
        self.line(&heading);
        for (seen, advice) in notices {
            let most = if self.screen.verbosity == Verbosity::Verbose { usize::MAX } else { 3 };
            for one in seen.iter().take(most) {
                self.wrapped(&text::sentence(one), "- ", 2);
            }
            if seen.len() > most {
                self.line(&format!("  and {} more like it", seen.len() - most));
            }
            if !advice.is_empty() {
                self.wrapped(&text::sentence(advice), "  ", 2);
            }
        }
    }

    fn circumstances(&mut self, report: &Report) {
        let lines = prose::circumstances(report, PLAIN);
        if !lines.is_empty() {
            self.line("");
        }
        for line in lines {
            self.wrapped(&line, "", 2);
        }
    }
}

/// How many rows of a verdict are listed.
fn most_listed(verdict: Verdict, verbosity: Verbosity) -> usize {
    match verdict {
        _ if verbosity == Verbosity::Verbose => usize::MAX,
        Verdict::Regression | Verdict::Failed | Verdict::Removed => usize::MAX,
        Verdict::Inconclusive | Verdict::Added | Verdict::Improvement => FEW,
        Verdict::Unchanged => 0,
    }
}

/// Whether a row is shown as numbers: something was compared.
fn is_measured(row: &Row) -> bool {
    !matches!(row.verdict, Verdict::Failed | Verdict::Removed | Verdict::Added)
}

/// The heading and the lines of measured rows, in columns as wide as their widest cell; the name gives way first.
fn table(rows: &[&Row], screen: &Screen) -> (String, Vec<String>) {
    let cells: Vec<[String; 4]> = rows
        .iter()
        .map(|row| [text::arrow(row), text::change(row), text::interval(row), remark(row)])
        .collect();
    let widest = |column: usize, least: &str| {
        cells.iter().map(|row| text::width(&row[column])).fold(text::width(least), usize::max)
    };
    let confidence = rows.iter().find(|row| row.ci.is_some()).map_or(0.95, |row| row.confidence);
    let interval = match widest(2, "") {
        0 => String::new(),
        _ => format!("{} interval", text::share(confidence)),
    };
    let widths = [widest(0, ""), widest(1, "change"), widest(2, &interval), widest(3, "")];

    // The names, cut to what the other columns leave. The heading of the values may reach into their column.
    const VALUES: &str = "baseline -> candidate";
    let names: Vec<(String, String)> =
        rows.iter().map(|row| (text::visible(&row.id.to_string()), PLAIN.aspect(row))).collect();
    let longest = names.iter().map(|(id, aspect)| text::width(id) + text::width(aspect)).max();
    let taken: usize = widths.iter().map(|width| width + 2).sum::<usize>() + 2;
    let least = ("benchmark".len() + 2 + VALUES.len()).saturating_sub(widths[0] + 2);
    let name_width =
        longest.unwrap_or(0).min(screen.width.saturating_sub(taken).max(NAME_MIN)).max(least);
    let short = text::shorten(&names, name_width);

    let values = right(VALUES, name_width + 2 + widths[0] - "benchmark".len());
    let heading = format!("  benchmark{values}  {}  {interval}", right("change", widths[1]));
    let lines = rows.iter().zip(cells).zip(names).zip(short).map(
        |(((row, cells), (id, aspect)), short)| {
            let (above, name) = match short {
                Some(short) => (String::new(), short),
                None => (format!("  {id}{aspect}\n"), String::new()),
            };
            let style = match row.verdict {
                Verdict::Regression | Verdict::Improvement => verdict_style(row.verdict),
                _ => Style::new(),
            };
            format!(
                "{above}  {}  {}  {}  {}  {}",
                left(&name, name_width),
                right(&cells[0], widths[0]),
                paint(screen.colour, style, &right(&cells[1], widths[1])),
                left(&cells[2], widths[2]),
                cells[3],
            )
        },
    );
    (paint(screen.colour, Style::new().dimmed(), &heading), lines.collect())
}

fn remark(row: &Row) -> String {
    let (worse, better) = text::words(&row.metric);
    match row.verdict {
        _ if !row.gated => "not guarded".into(),
        Verdict::Regression => worse.into(),
        Verdict::Improvement => better.into(),
        Verdict::Inconclusive if row.cleared => "cleared".into(),
        Verdict::Inconclusive => {
            row.launches_needed.map_or_else(String::new, |needed| format!("needs {needed}"))
        }
        _ => String::new(),
    }
}

/// Pads by display width, which `format!` does not know.
pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text::width(text))))
}

/// As [`left`], from the other side.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text::width(text))))
}
