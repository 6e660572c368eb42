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
//! Lines are laid out by hand: a table crate knows neither headings between rows whose columns still line up, nor
//! a cut in the middle that keeps two names apart, and what remains of its work is one `format!`.

use anstyle::{AnsiColor, Style};

use super::prose::{self, PLAIN};
use super::{Report, text};
use crate::gate::{Row, Verdict};
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

/// The cells of a row that has numbers.
struct Cells {
    label: String,
    arrow: String,
    change: String,
    interval: String,
    remark: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn wrapped(&mut self, text: &str, first: &str, indent: usize) {
        let text = text::wrap(&format!("{first}{text}"), self.screen.width, indent);
        self.line(&text);
    }

    /// A paragraph of its own; nothing where there is nothing to say.
    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.line("");
            self.wrapped(text, "", 2);
        }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        paint(self.screen.colour, style, text)
    }

    fn headline(&mut self, report: &Report) {
        let headline = prose::headline(report, PLAIN);
        let wrapped = text::wrap(&headline.answer, self.screen.width, 2);
        let (word, rest) = wrapped.split_once(':').expect("a headline begins with its outcome");
        let style = match report.exit_code {
            0 if report.outcome == crate::gate::Outcome::Pass => verdict_style(Verdict::Unchanged),
            0 => verdict_style(Verdict::Inconclusive),
            _ => verdict_style(Verdict::Regression),
        };
        let word = self.paint(style, word);
        self.line(&format!("{word}:{rest}"));
        if !headline.action.is_empty() {
            self.wrapped(&headline.action, "  ", 2);
        }
    }

    fn rows(&mut self, report: &Report) {
        let shown: Vec<(Verdict, Vec<&Row>, usize)> = Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, report.rows_with(verdict)))
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(verdict, mut rows)| {
                let all = rows.len();
                rows.truncate(self.listed(verdict));
                (verdict, rows, all)
            })
            .collect();
        let mut table = Table::new(shown.iter().flat_map(|(_, rows, _)| rows), self.screen.width);
        let mut heading_due = true;
        for (verdict, rows, all) in &shown {
            let word = verdict.name().to_uppercase();
            let word = self.paint(verdict_style(*verdict), &word);
            let fold = if rows.is_empty() { "; --verbose lists them" } else { "" };
            self.line("");
            self.line(&format!("{word} ({all}): {}{fold}", meaning(*verdict)));
            if heading_due && rows.iter().any(|row| has_numbers(row)) {
                heading_due = false;
                let heading = self.paint(Style::new().dimmed(), &table.heading);
                self.line(&format!("  {heading}"));
            }
            for row in rows {
                let lines = table.row(row);
                if has_numbers(row) {
                    self.line(&lines);
                } else {
                    self.wrapped(&lines, "  ", 4);
                }
            }
            if !rows.is_empty() && rows.len() < *all {
                self.line(&format!("  and {} more; --verbose lists them", all - rows.len()));
            }
        }
    }

    /// How many rows of a verdict are listed.
    fn listed(&self, verdict: Verdict) -> usize {
        match verdict {
            _ if self.screen.verbosity == Verbosity::Verbose => usize::MAX,
            Verdict::Regression | Verdict::Failed | Verdict::Removed => usize::MAX,
            Verdict::Inconclusive | Verdict::Added | Verdict::Improvement => FEW,
            Verdict::Unchanged => 0,
        }
    }

    fn notices(&mut self, report: &Report) {
        let notices = gathered(report);
        if notices.is_empty() {
            return;
        }
        self.line("");
        let heading = self.paint(Style::new().bold(), "Notices");
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
        self.line("");
        for line in prose::circumstances(report, PLAIN) {
            self.wrapped(&line, "", 2);
        }
    }
}

/// Whether a row is shown as numbers: something was compared.
fn has_numbers(row: &Row) -> bool {
    !matches!(row.verdict, Verdict::Failed | Verdict::Removed | Verdict::Added)
}

/// Columns as wide as their widest cell; the name gives way first.
struct Table {
    heading: String,
    labels: std::vec::IntoIter<(String, Option<String>)>,
    name: usize,
    arrow: usize,
    change: usize,
    interval: usize,
}

impl Table {
    /// Lays out the rows, which are then asked for in the same order.
    fn new<'r>(rows: impl Iterator<Item = &'r &'r Row>, width: usize) -> Self {
        let rows: Vec<&Row> = rows.copied().collect();
        let cells: Vec<Cells> =
            rows.iter().filter(|row| has_numbers(row)).map(|row| cells(row)).collect();
        let widest = |cell: fn(&Cells) -> &str, least: &str| {
            cells.iter().map(|row| text::width(cell(row))).fold(text::width(least), usize::max)
        };
        let confidence =
            rows.iter().find(|row| row.ci.is_some()).map_or(0.95, |row| row.confidence);
        let interval_heading = format!("{} interval", text::share(confidence));
        let arrow = widest(|row| &row.arrow, "baseline -> candidate");
        let change = widest(|row| &row.change, "change");
        let interval = widest(|row| &row.interval, &interval_heading);
        let remark = widest(|row| &row.remark, "");
        let gaps = if remark == 0 { 6 } else { 8 };
        let room = width.saturating_sub(2 + arrow + change + interval + remark + gaps);
        let longest = widest(|row| &row.label, "benchmark");
        let name = longest.min(room.max(NAME_MIN));
        let labels: Vec<String> = rows.iter().map(|row| PLAIN.label(row)).collect();
        let short = text::shorten(&labels, name);
        let heading = format!(
            "{:name$}  {:>arrow$}  {:>change$}  {interval_heading}",
            "benchmark", "baseline -> candidate", "change",
        );
        let labels = labels.into_iter().zip(short).collect::<Vec<_>>().into_iter();
        Table { heading, labels, name, arrow, change, interval }
    }

    fn row(&mut self, row: &Row) -> String {
        let (label, short) = self.labels.next().expect("rows are asked for in their order");
        if !has_numbers(row) {
            return format!("{label}: {}", text::sentence(&row.reason));
        }
        let cells = cells(row);
        let (above, name) = match short {
            Some(short) => (String::new(), short),
            None => (format!("  {label}\n"), String::new()),
        };
        format!(
            "{above}  {}  {}  {}  {}  {}",
            left(&name, self.name),
            right(&cells.arrow, self.arrow),
            right(&cells.change, self.change),
            left(&cells.interval, self.interval),
            cells.remark,
        )
    }
}

fn cells(row: &Row) -> Cells {
    let (worse, better) = text::words(&row.metric);
    let remark = match row.verdict {
        _ if !row.gated => "not guarded".into(),
        Verdict::Regression => worse.into(),
        Verdict::Improvement => better.into(),
        Verdict::Inconclusive if row.cleared => "cleared".into(),
        Verdict::Inconclusive => {
            row.launches_needed.map_or_else(String::new, |needed| format!("needs {needed}"))
        }
        _ => String::new(),
    };
    Cells {
        label: PLAIN.label(row),
        arrow: text::arrow(row),
        change: text::change(row),
        interval: text::interval(row),
        remark,
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
