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
    let mut page = Page::new(*screen);
    page.headline(report);
    for accepted in prose::accepted(report, PLAIN) {
        page.wrapped("  ", &accepted, 4);
    }
    if screen.verbosity > Verbosity::Quiet {
        page.differences(report);
        page.rows(report);
        page.since_release(report);
        page.not_guarded(report);
        page.notices(report);
        page.circumstances(report);
    }
    page.finish()
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

/// A page for a terminal, line by line.
pub(super) struct Page {
    screen: Screen,
    out: String,
}

impl Page {
    pub(super) fn new(screen: Screen) -> Self {
        Page { screen, out: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Columns that may be used.
    pub(super) fn width(&self) -> usize {
        self.screen.width
    }

    /// How much is told.
    pub(super) fn verbosity(&self) -> Verbosity {
        self.screen.verbosity
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        match self.screen.colour {
            Colour::Never => text.into(),
            Colour::Always => format!("{style}{text}{style:#}"),
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// Text that begins after `first` and goes on, where it is too long for a line, after `indent` blanks.
    pub(super) fn wrapped(&mut self, first: &str, text: &str, indent: usize) {
        let text = text::wrap(first, text, self.screen.width, indent);
        self.line(&text);
    }

    /// A heading after an empty line.
    pub(super) fn heading(&mut self, text: &str) {
        let text = self.paint(Style::new().bold(), text);
        self.line("");
        self.line(&text);
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
        let word = self.paint(style, word);
        self.line(&format!("{word}:{rest}"));
        if !headline.action.is_empty() {
            self.wrapped("  ", &headline.action, 2);
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
        let (heading, lines) = self.table(&measured);
        let mut heading = Some(heading);
        let mut lines = lines.into_iter();
        for verdict in Verdict::ALL {
            let (rows, all) = (shown(verdict), report.count(verdict));
            if all == 0 {
                continue;
            }
            let word = verdict.name().to_uppercase();
            let word = self.paint(verdict_style(verdict), &word);
            let fold = if rows.is_empty() { "; --verbose lists them" } else { "" };
            self.line("");
            self.line(&format!("{word} ({all}): {}{fold}", prose::meaning(report, verdict)));
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
            return self.wrapped("  ", &what, 4);
        }
        if let Some(heading) = heading.take() {
            self.line(&heading);
        }
        self.line(&lines.next().expect("the table has a line for each measured row"));
        if self.screen.verbosity == Verbosity::Verbose && !reason.is_empty() {
            self.wrapped("    ", &reason, 4);
        }
    }

    /// The heading and the lines of measured rows, in columns as wide as their widest cell; the name gives way first.
    fn table(&self, rows: &[&Row]) -> (String, Vec<String>) {
        const NAME: &str = "benchmark";
        const VALUES: &str = "baseline -> candidate";
        let cells: Vec<[String; 4]> = rows
            .iter()
            .map(|row| [text::arrow(row), text::change(row), text::interval(row), remark(row)])
            .collect();
        let widest =
            |column: usize| cells.iter().map(|row| text::width(&row[column])).max().unwrap_or(0);
        let confidence =
            rows.iter().find(|row| row.ci.is_some()).map_or(0.95, |row| row.confidence);
        let interval = format!("{} interval", text::share(confidence));
        // A column that is empty in every row is not shown.
        let interval = if widest(2) == 0 { "" } else { &interval };
        let widths =
            [widest(0), widest(1).max("change".len()), widest(2).max(interval.len()), widest(3)];
        let taken: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();

        // The names get what the other columns leave. The heading of the values may reach into their column.
        let names: Vec<(String, String)> =
            rows.iter().map(|row| (text::uncut(&row.id.to_string()), PLAIN.aspect(row))).collect();
        let longest = names.iter().map(|(id, aspect)| text::width(id) + text::width(aspect)).max();
        let room = self.screen.width.saturating_sub(2 + taken).max(NAME_MIN);
        let headed = (NAME.len() + VALUES.len()).saturating_sub(widths[0]);
        let name_width = longest.unwrap_or(0).min(room).max(headed);
        let short = text::shorten(&names, name_width);

        let values = right(VALUES, name_width + 2 + widths[0] - NAME.len());
        let heading = format!("  {NAME}{values}  {}  {interval}", right("change", widths[1]));
        let lines = rows.iter().zip(cells).zip(names.iter().zip(short));
        let lines =
            lines.map(|((row, [arrow, change, interval, remark]), ((id, aspect), short))| {
                let mut line = match &short {
                    Some(short) => format!("  {}", left(short, name_width)),
                    None => format!("  {id}{aspect}\n  {}", left("", name_width)),
                };
                let style = match row.verdict {
                    Verdict::Regression | Verdict::Improvement => verdict_style(row.verdict),
                    _ => Style::new(),
                };
                let change = self.paint(style, &right(&change, widths[1]));
                line.push_str(&format!("  {}  {change}", right(&arrow, widths[0])));
                if widths[2] > 0 {
                    line.push_str(&format!("  {}", left(&interval, widths[2])));
                }
                format!("{line}  {remark}")
            });
        (self.paint(Style::new().dimmed(), &heading), lines.collect())
    }

    /// The facts that make sides incomparable, one under the other.
    fn differences(&mut self, report: &Report) {
        if !report.applied.contains(&Outcome::NotComparable) {
            return;
        }
        let value = |value: &Option<String>| value.as_deref().map_or("-".into(), text::fact);
        let facts: Vec<[String; 3]> = prose::hard_differences(report)
            .iter()
            .map(|fact| [text::name(&fact.fact), value(&fact.baseline), value(&fact.candidate)])
            .collect();
        if facts.is_empty() {
            return;
        }
        let heading = ["fact", "baseline", "candidate"].map(String::from);
        let lines: Vec<&[String; 3]> = std::iter::once(&heading).chain(&facts).collect();
        let widest = |column: usize| lines.iter().map(|line| text::width(&line[column])).max();
        let [first, second] = [0, 1].map(|column| widest(column).unwrap_or(0));
        self.line("");
        for [fact, ours, theirs] in lines {
            self.line(&format!("  {}  {}  {theirs}", left(fact, first), left(ours, second)));
        }
    }

    fn since_release(&mut self, report: &Report) {
        let all = prose::since_release(report);
        if all.is_empty() {
            return;
        }
        let release = prose::release_name(report, PLAIN);
        let most = if self.screen.verbosity == Verbosity::Verbose { usize::MAX } else { 5 };
        self.heading(&format!("Since {release}, of what may add up until the next release"));
        for one in all.iter().take(most) {
            let subject = PLAIN.subject(one.row);
            self.wrapped("  ", &format!("{subject}: {}", one.sentence(&release)), 4);
        }
        if all.len() > most {
            self.line(&format!("  and {} that used less of it", all.len() - most));
        }
    }

    fn not_guarded(&mut self, report: &Report) {
        let names = prose::not_guarded(report, PLAIN);
        if !names.is_empty() {
            self.line("");
            self.wrapped("", &names, 2);
        }
    }

    fn notices(&mut self, report: &Report) {
        let notices = prose::gathered(report);
        if notices.is_empty() {
            return;
        }
        self.heading("Notices");
        for (seen, advice) in notices {
            let most = if self.screen.verbosity == Verbosity::Verbose { usize::MAX } else { 3 };
            for one in seen.iter().take(most) {
                self.wrapped("- ", &text::sentence(one), 2);
            }
            if seen.len() > most {
                self.line(&format!("  and {} more like it", seen.len() - most));
            }
            if !advice.is_empty() {
                self.wrapped("  ", &text::sentence(advice), 2);
            }
        }
    }

    fn circumstances(&mut self, report: &Report) {
        let lines = prose::circumstances(report, PLAIN);
        if !lines.is_empty() {
            self.line("");
        }
        for line in lines {
            self.wrapped("", &line, 2);
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

fn remark(row: &Row) -> String {
    let (worse, better) = text::words(&row.metric);
    match row.verdict {
        _ if !row.gated => "not guarded".into(),
        _ if row.accepted.is_some() => "accepted".into(),
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
