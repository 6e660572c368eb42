//! The texts of a verdict on GitHub: comment, check run, job summary, commit status, and the lines in the diff.
//!
//! ```text
//! text            limit                        ours
//! comment         65,536 characters            60,000 with the marker that is put in front
//! check summary   65,535 characters            60,000
//! job summary     1 MiB, or all of it is lost  250,000 characters of up to 4 bytes
//! status          140 characters               140
//! ```

use super::markdown::{MARKDOWN_LIMIT, code, sentence, within};
use super::prose::{self, PLAIN};
use super::{Report, text};
use crate::gate::{Outcome, Row, Verdict};
use crate::model::BenchmarkId;

/// Room on a comment for the marker that finds it again.
const MARKER_MAX: usize = 250;

/// Longest job summary, in characters; each may take four bytes.
const SUMMARY_LIMIT: usize = 250_000;

/// Longest description of a commit status, and of a check run's title, in characters.
const STATUS_LIMIT: usize = 140;

/// Whose code was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A branch of the repository itself.
    Own,
    /// A fork: its code measured itself.
    Fork,
}

/// What GitHub makes of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It passes.
    Success,
    /// It passes, in grey.
    Neutral,
    /// It fails.
    Failure,
}

impl Conclusion {
    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Conclusion::Success => "success",
            Conclusion::Neutral => "neutral",
            Conclusion::Failure => "failure",
        }
    }
}

/// Where a report comes from.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The page of the run.
    pub url: String,
    /// Its number.
    pub run: u64,
    /// Which attempt of it.
    pub attempt: u64,
    /// The commit that was measured.
    pub sha: String,
    /// Whose code was measured.
    pub origin: Origin,
}

/// Everything that is shown of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What the check says.
    pub conclusion: Conclusion,
    /// Whether a benchmark changed, or something needs doing.
    pub is_news: bool,
    /// The answer as one plain line.
    pub title: String,
    /// For a pull request.
    pub comment: String,
    /// For a check run.
    pub check: String,
    /// For the summary of a job.
    pub summary: String,
    /// For a commit status.
    pub status: String,
}

/// Renders every text of a report.
pub fn page(report: &Report, from: &Provenance) -> Page {
    let title = text::middle(&text::sentence(&prose::headline(report, PLAIN).answer), STATUS_LIMIT);
    let changed = |row: &Row| !matches!(row.verdict, Verdict::Unchanged | Verdict::Inconclusive);
    Page {
        conclusion: conclusion(report),
        is_news: report.outcome != Outcome::Pass || report.rows.iter().any(changed),
        comment: framed(report, from, MARKDOWN_LIMIT - MARKER_MAX),
        check: framed(report, from, MARKDOWN_LIMIT),
        summary: framed(report, from, SUMMARY_LIMIT),
        status: title.clone(),
        title,
    }
}

/// What the check says: what the process would have said by its exit code, but for a first run, which can't compare.
fn conclusion(report: &Report) -> Conclusion {
    match report.outcome {
        Outcome::Pass => Conclusion::Success,
        Outcome::Inconclusive if report.exit_code == 0 => Conclusion::Neutral,
        Outcome::NothingToCompare if is_first(report) => Conclusion::Neutral,
        _ => Conclusion::Failure,
    }
}

/// Whether the change brings the first benchmarks.
fn is_first(report: &Report) -> bool {
    let new = |row: &Row| row.verdict == Verdict::Added;
    report.outcome == Outcome::NothingToCompare
        && !report.rows.is_empty()
        && report.rows.iter().all(new)
}

/// The page with what only GitHub needs to be told, in at most `limit` characters.
fn framed(report: &Report, from: &Provenance, limit: usize) -> String {
    let mut notes = String::new();
    if from.origin == Origin::Fork {
        notes.push_str("**Measured by code of a fork, which can say anything.** The numbers are the fork's own.\n\n");
    }
    if is_first(report) {
        notes.push_str(
            "This is the first run: the baseline holds no benchmark yet, so there was nothing to compare. \
             The next change will be compared with these.\n\n",
        );
    }
    let run = match is_plain_url(&from.url) {
        true => format!("[run {}]({})", from.run, from.url),
        false => format!("run {}", from.run),
    };
    let commit = code(&text::name(from.sha.get(..7).unwrap_or(&from.sha)));
    let footer = format!("\nMeasured on {commit} by {run}, attempt {}.\n", from.attempt);
    let used = notes.chars().count() + footer.chars().count();
    let body = within(report, limit - used);
    let (headline, rest) = body.split_once("\n\n").unwrap_or((&body, ""));
    format!("{headline}\n\n{notes}{rest}{footer}")
}

fn is_plain_url(url: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/:._-".contains(c);
    url.len() < 500 && url.starts_with("http") && url.chars().all(plain)
}

/// The first regressions, each as a plain line for the place where the benchmark is written.
pub fn remarks(report: &Report, most: usize) -> Vec<(&BenchmarkId, String)> {
    let worse = report.rows.iter().filter(|row| row.gated && row.verdict == Verdict::Regression);
    let line = |row: &Row| {
        let (word, _) = text::words(&row.metric);
        let change =
            format!("{} {word} than the baseline, {}", text::change(row), text::interval(row));
        format!("{}: {change}", PLAIN.label(row))
    };
    worse.take(most).map(|row| (&row.id, line(row))).collect()
}

/// What could not be done, for the summary of a job.
pub fn undone(failures: &[String]) -> String {
    let mut page = String::new();
    if !failures.is_empty() {
        page.push_str("\n**Not done:**\n\n");
        page.extend(failures.iter().take(20).map(|line| format!("- {}\n", sentence(line))));
    }
    page
}

/// Somebody else's text as one harmless line for a log, in which a line that begins with `::` is a command.
pub fn log_line(text: &str) -> String {
    text::sentence(text)
}
