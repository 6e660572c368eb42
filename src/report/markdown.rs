//! The page for a pull request: headline, what is wrong, and the rest folded away, within GitHub's limit.
//!
//! Benchmark names, revisions, notices and errors come from the code under test, so none of them may do anything on
//! the page: a name stands in a code span, where GitHub links no mention, issue, commit or address; of a sentence,
//! every word that is more than letters or a number does. Only then is a `|` inside a table cell escaped, since it
//! splits cells even within a code span.

use super::prose::{self, Page};
use super::{Report, text};
use crate::gate::{Outcome, Row, Verdict};

/// Longest page, in Unicode scalar values. GitHub refuses a comment of more than 65,536; the rest is for the
/// marker that finds the comment again, and for a count that differs from ours.
pub const MARKDOWN_LIMIT: usize = 60_000;

/// Columns of the picture of an interval; odd, so that zero has one of its own.
const BAR: usize = 21;

/// A change beyond this is drawn at the edge of the picture.
const BAR_LIMIT: f64 = 0.5;

const MARKDOWN: Page = Page { name: |name| code(&text::name(name)), sentence };

/// Renders the page for a pull request.
pub fn markdown(report: &Report) -> String {
    within(report, MARKDOWN_LIMIT)
}

/// The page in at most `limit` characters. Rows are left out from the end, so regressions go last, and the page
/// says how many are missing.
pub(super) fn within(report: &Report, limit: usize) -> String {
    let headline = prose::headline(report, MARKDOWN);
    let mut top = format!("### {}\n\n", headline.answer);
    if !headline.action.is_empty() {
        top.push_str(&format!("{}\n\n", headline.action));
    }
    for accepted in prose::accepted(report, MARKDOWN) {
        top.push_str(&format!("{accepted}\n\n"));
    }
    let blocks = blocks(report);
    let mut bottom = prose::not_guarded(report, MARKDOWN);
    if !bottom.is_empty() {
        bottom.push_str("\n\n");
    }
    let circumstances = prose::circumstances(report, MARKDOWN);
    if !circumstances.is_empty() {
        bottom.push_str(&folded("How this was measured"));
        bottom.extend(circumstances.iter().map(|line| format!("{line}\n\n")));
        bottom.push_str("</details>\n");
    }

    let whole: usize = blocks.iter().map(Block::length).sum();
    let fixed = length(&top) + length(&bottom);
    let mut out = top;
    if fixed + whole <= limit {
        blocks.iter().for_each(|block| block.write(block.rows.len(), &mut out));
    } else {
        let frames: usize = blocks.iter().map(Block::frame).sum();
        let mut room = limit.saturating_sub(fixed + frames);
        for block in &blocks {
            let kept = block.fitting(&mut room);
            block.write(kept, &mut out);
        }
    }
    out.push_str(&bottom);
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A table, the text around it, and what its rows are called.
struct Block {
    open: String,
    rows: Vec<String>,
    close: &'static str,
    what: &'static str,
}

impl Block {
    fn length(&self) -> usize {
        length(&self.open)
            + length(self.close)
            + self.rows.iter().map(|row| length(row)).sum::<usize>()
    }

    /// Most that the block takes beside its rows.
    fn frame(&self) -> usize {
        length(&self.open) + length(self.close) + length(&self.left_out(self.rows.len()))
    }

    /// How many rows fit. After the first that does not, there is room for no other row on the page.
    fn fitting(&self, room: &mut usize) -> usize {
        for (index, row) in self.rows.iter().enumerate() {
            match room.checked_sub(length(row)) {
                Some(rest) => *room = rest,
                None => {
                    *room = 0;
                    return index;
                }
            }
        }
        self.rows.len()
    }

    fn write(&self, kept: usize, out: &mut String) {
        if kept > 0 {
            out.push_str(&self.open);
            self.rows[..kept].iter().for_each(|row| out.push_str(row));
            out.push_str(self.close);
        }
        if kept < self.rows.len() {
            out.push_str(&self.left_out(self.rows.len() - kept));
        }
    }

    fn left_out(&self, rows: usize) -> String {
        let more = text::plural(rows, "more row", "more rows");
        format!(
            "_Left out for length: {more} ({}). The verdict file holds them all._\n\n",
            self.what
        )
    }
}

/// The opening of a part that is folded away. The blank line lets Markdown begin inside.
fn folded(summary: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n")
}

fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks: Vec<Block> = Verdict::ALL
        .into_iter()
        .map(|verdict| (verdict, report.rows_with(verdict)))
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(verdict, rows)| block(report, verdict, &rows))
        .collect();
    blocks.splice(0..0, differences(report));
    if let Some(since) = since_release(report) {
        let unchanged_last = blocks.iter().take_while(|block| block.what != "unchanged").count();
        blocks.insert(unchanged_last, since);
    }
    let notices = prose::gathered(report);
    if !notices.is_empty() {
        let rows: Vec<String> = notices
            .iter()
            .flat_map(|(seen, advice)| seen.iter().map(move |seen| (seen, advice)))
            .map(|(seen, advice)| table_row(&[sentence(seen), sentence(advice)]))
            .collect();
        let unchanged_last = blocks.iter().take_while(|block| block.what != "unchanged").count();
        blocks.insert(
            unchanged_last,
            Block {
                open: format!(
                    "{}| notice | what to try |\n| --- | --- |\n",
                    folded(&format!("Notices: {}", rows.len()))
                ),
                rows,
                close: "\n</details>\n\n",
                what: "notices",
            },
        );
    }
    blocks
}

/// The facts that make sides incomparable.
fn differences(report: &Report) -> Option<Block> {
    let applies = report.applied.contains(&Outcome::NotComparable);
    let facts = prose::hard_differences(report);
    let value = |value: &Option<String>| {
        value.as_deref().map_or_else(String::new, |value| code(&text::fact(value)))
    };
    (applies && !facts.is_empty()).then(|| Block {
        open: "| fact | baseline | candidate |\n| --- | --- | --- |\n".into(),
        rows: facts
            .iter()
            .map(|fact| {
                table_row(&[
                    code(&text::name(&fact.fact)),
                    value(&fact.baseline),
                    value(&fact.candidate),
                ])
            })
            .collect(),
        close: "\n",
        what: "differences",
    })
}

/// What has added up since the release.
fn since_release(report: &Report) -> Option<Block> {
    let all = prose::since_release(report);
    let worst = all.first()?;
    let release = prose::release_name(report, MARKDOWN);
    let title = format!("{}: {}", MARKDOWN.subject(worst.row), worst.sentence(&release));
    let rows = all.iter().map(|one| {
        let change = one.change.map_or_else(String::new, text::percent);
        table_row(&[
            MARKDOWN.subject(one.row),
            change,
            text::percent(one.since),
            text::share(one.budget),
        ])
    });
    let heading = ["benchmark", "this change", &format!("since {release}"), "may be"];
    Some(Block {
        open: format!(
            "Nearest to its budget is {title}.\n\n{}{}| --- | ---: | ---: | ---: |\n",
            folded(&format!("Since the release: {}", all.len())),
            table_row(&heading.map(str::to_owned)),
        ),
        rows: rows.collect(),
        close: "\n</details>\n\n",
        what: "since the release",
    })
}

fn block(report: &Report, verdict: Verdict, rows: &[&Row]) -> Block {
    let title =
        format!("{}: {}, {}", capital(verdict.name()), rows.len(), prose::meaning(report, verdict));
    let red = matches!(verdict, Verdict::Regression | Verdict::Failed | Verdict::Removed);
    let (title, close) =
        if red { (format!("**{title}**\n\n"), "\n") } else { (folded(&title), "\n</details>\n\n") };
    let ids: Vec<(String, String)> =
        rows.iter().map(|row| (text::uncut(&row.id.to_string()), String::new())).collect();
    let short = text::shorten(&ids, text::NAME_LIMIT);
    let names = ids.into_iter().zip(short).zip(rows).map(|(((whole, _), short), row)| {
        let name = short.unwrap_or(whole);
        format!("{}{}", code(&name), MARKDOWN.aspect(row))
    });
    let compared = !matches!(verdict, Verdict::Failed | Verdict::Removed | Verdict::Added);
    let (head, rows) = if compared {
        let scale = scale(rows);
        let confidence =
            rows.iter().find(|row| row.ci.is_some()).map_or(0.95, |row| row.confidence);
        let head = format!(
            "| benchmark | baseline | candidate | change | {} interval | {} | |\n\
             | --- | ---: | ---: | ---: | --- | --- | --- |\n",
            text::share(confidence),
            ruler(scale),
        );
        (head, names.zip(rows).map(|(name, row)| numbers(name, row, scale)).collect())
    } else {
        let head = "| benchmark | |\n| --- | --- |\n".to_owned();
        (
            head,
            names.zip(rows).map(|(name, row)| table_row(&[name, sentence(&row.reason)])).collect(),
        )
    };
    Block { open: title + &head, rows, close, what: verdict.name() }
}

fn numbers(name: String, row: &Row, scale: f64) -> String {
    let (baseline, candidate) = match (row.baseline, row.candidate) {
        (Some(baseline), Some(candidate)) => {
            let (baseline, candidate) = text::quantities(&row.metric, baseline, candidate);
            (value(&baseline), value(&candidate))
        }
        _ => ("?".into(), "?".into()),
    };
    let change = text::change(row);
    let change = if row.verdict == Verdict::Regression { format!("**{change}**") } else { change };
    table_row(&[
        name,
        baseline,
        candidate,
        change,
        text::interval(row),
        bar(row, scale),
        remark(row),
    ])
}

/// A quantity; a unit that is not one of ours stands in a code span.
fn value(quantity: &text::Quantity) -> String {
    format!("{} {}", quantity.number, sentence(&quantity.unit)).trim_end().into()
}

fn remark(row: &Row) -> String {
    let (worse, better) = text::words(&row.metric);
    let mut remark = match row.verdict {
        _ if row.accepted.is_some() => "accepted".into(),
        Verdict::Regression => worse.into(),
        Verdict::Improvement => better.into(),
        Verdict::Inconclusive if row.cleared => "cleared".into(),
        Verdict::Inconclusive => row
            .launches_needed
            .map_or_else(|| sentence(&row.reason), |needed| format!("needs about {needed} pairs")),
        _ => String::new(),
    };
    if !row.gated {
        remark.push_str(if remark.is_empty() { "not guarded" } else { ", not guarded" });
    }
    remark
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One line of a table; pipes inside the cells no longer split them.
pub(super) fn table_row(cells: &[String]) -> String {
    let mut row = String::from("|");
    for cell in cells {
        row.push(' ');
        let mut before = ' ';
        for c in cell.chars() {
            match (before, c) {
                // Parsers disagree on what a backslash before an escaped pipe means.
                ('\\', '|') => row.push_str("\\u{7c}"),
                (_, '|') => row.push_str("\\|"),
                (_, c) => row.push(c),
            }
            before = c;
        }
        row.push_str(" |");
    }
    row.push('\n');
    row
}

/// A code span that shows the text as it is.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // One blank on each side is taken off again by the parser, unless there are only blanks.
    let padded = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let pad = if padded && !text.trim_matches(' ').is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A sentence of somebody else. What stands between backticks stays code, and so becomes every word that is more
/// than letters or a number.
pub(super) fn sentence(text: &str) -> String {
    let text = text::sentence(text);
    let parts: Vec<&str> = text.split('`').collect();
    let paired =
        parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(|part| !part.is_empty());
    if !paired {
        return words(&text);
    }
    let parts = parts.iter().enumerate().map(|(index, part)| match index % 2 {
        0 => words(part),
        _ => code(part),
    });
    parts.collect()
}

fn words(text: &str) -> String {
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    let core = word.trim_start_matches(['(', '"', '\'']);
    let (before, core) = (&word[..word.len() - core.len()], core);
    let trimmed = core.trim_end_matches(['.', ',', ';', ':', '?', ')', '"', '\'']);
    let (core, after) = core.split_at(trimmed.len());
    if core.is_empty() || is_plain(core) || is_number(core) {
        return word.to_owned();
    }
    format!("{before}{}{after}", code(core))
}

/// Letters, with hyphens and apostrophes between them: nothing that Markdown or GitHub reacts to.
fn is_plain(word: &str) -> bool {
    word.split(['-', '\'', '’'])
        .all(|part| !part.is_empty() && part.chars().all(char::is_alphabetic))
}

/// A number, perhaps signed, perhaps a bound of an interval; or a percent sign.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches('[').trim_end_matches([']', '%']);
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    word == "%"
        || digits == "∞"
        || (digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ','))
}

/// Half the width of the picture as a fraction: a round number that holds the intervals and twice the tolerance.
fn scale(rows: &[&Row]) -> f64 {
    let reach = |row: &&Row| {
        let (lo, hi) = row.ci.or(row.ratio.map(|ratio| (ratio, ratio))).unwrap_or((1.0, 1.0));
        [lo - 1.0, hi - 1.0, 2.0 * row.tolerance].into_iter().fold(0.0, |most, x| x.abs().max(most))
    };
    let reach = rows.iter().map(reach).fold(0.01, f64::max);
    [0.01, 0.02, 0.05, 0.1, 0.2].into_iter().find(|step| reach <= *step).unwrap_or(BAR_LIMIT)
}

/// The scale, as the heading of the pictures.
fn ruler(scale: f64) -> String {
    let (low, high) = (format!("-{}", text::share(scale)), format!("+{}", text::share(scale)));
    let side = BAR / 2;
    format!("`{low:<side$}0{high:>side$}`")
}

/// ```text
/// ────────┊─│─┊──━━●━━─    interval and estimate; zero and both marks of the tolerance
/// ```
///
/// The band of the tolerance is `1 / (1 + t)` to `1 + t`, as the gate judges logarithms.
fn bar(row: &Row, scale: f64) -> String {
    let Some(ratio) = row.ratio.filter(|ratio| ratio.is_finite()) else { return String::new() };
    let place = |ratio: f64| {
        let along = ((ratio - 1.0) / scale).clamp(-1.0, 1.0);
        // Within 0 to BAR - 1 after the clamp.
        ((along + 1.0) / 2.0 * (BAR - 1) as f64).round() as usize
    };
    let mut cells = ['─'; BAR];
    cells[place(1.0 / (1.0 + row.tolerance))] = '┊';
    cells[place(1.0 + row.tolerance)] = '┊';
    cells[BAR / 2] = '│';
    let (lo, hi) = row.ci.unwrap_or((ratio, ratio));
    cells[place(lo)..=place(hi).max(place(lo))].fill('━');
    cells[place(ratio)] = '●';
    if hi - 1.0 > scale {
        cells[BAR - 1] = '▶';
    }
    if lo - 1.0 < -scale {
        cells[0] = '◀';
    }
    format!("`{}`", cells.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_show_what_they_were_given() {
        let check = |text: &str, expected: &str| assert_eq!(code(text), expected);
        check("read/serde", "`read/serde`");
        check("`a`", "`` `a` ``");
        check("a``b", "```a``b```");
        check(" a", "`  a `");
        check("  ", "`  `");
    }

    #[test]
    fn words_that_could_do_something_are_code() {
        let check = |text: &str, expected: &str| assert_eq!(sentence(text), expected);
        check("slower by 9.8 %, [+8.9, +10.7] %.", "slower by 9.8 %, [+8.9, +10.7] %.");
        check(
            "a co-run isn't (always) quiet: see docs/runners.md.",
            "a co-run isn't (always) quiet: see `docs/runners.md`.",
        );
        check("ask @octocat, close #12", "ask `@octocat`, close `#12`");
        check("pattern `a b` is no glob", "pattern `a b` is no glob");
        check("one ` alone", "one `` ` `` alone");
        check("see\n\n# www.example.org", "see `#` `www.example.org`");
        check("", "");
    }

    #[test]
    fn pipes_split_no_cell() {
        let check = |cell: &str, expected: &str| {
            assert_eq!(table_row(&[cell.to_owned()]), format!("| {expected} |\n"));
        };
        check("`a|b`", "`a\\|b`");
        check("`a\\|b`", "`a\\\\u{7c}b`");
    }
}
