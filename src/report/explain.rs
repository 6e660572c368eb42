//! One benchmark in depth: every number that its verdict rests on, and what would change it.

use anstyle::Style;

use super::prose::{self, PLAIN};
use super::terminal::{Page, Screen, left, right, verdict_style};
use super::{Report, text};
use crate::compare::Noise;
use crate::gate::{Row, Verdict};
use crate::model::{BenchmarkId, Better, Mode, Reference, listed};

/// Dots of the plot that stand on each other; more than that share one.
const PLOT_HEIGHT: usize = 6;

/// Explains one benchmark; `None` where the report does not have it. The verbosity of the screen does not matter.
pub fn explain(report: &Report, id: &BenchmarkId, screen: &Screen) -> Option<String> {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.id == *id).collect();
    if rows.is_empty() {
        return None;
    }
    let mut page = Page::new(*screen);
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        page.explain(report, row);
    }
    page.heading("To reproduce");
    for line in reproduce(report) {
        page.wrapped("  ", &line, 4);
    }
    if let Some(command) = again(report, rows[0]) {
        page.line(&format!("    {command}"));
    }
    Some(page.finish())
}

impl Page {
    fn explain(&mut self, report: &Report, row: &Row) {
        let label = self.paint(Style::new().bold(), &PLAIN.label(row));
        self.line(&label);
        let word = self.paint(verdict_style(row.verdict), &row.verdict.name().to_uppercase());
        self.line(&format!("{word}: {}", text::sentence(&row.reason)));
        self.line("");
        for (name, value) in facts(report, row).iter().filter(|(_, value)| !value.is_empty()) {
            self.wrapped(&format!("  {name:11}"), value, 13);
        }
        self.plots(row);
        self.launches(row);
        if !row.notices.is_empty() {
            self.heading("Notices");
        }
        for notice in &row.notices {
            self.wrapped("- ", &text::sentence(&notice.seen), 2);
            if !notice.advice.is_empty() {
                self.wrapped("  ", &text::sentence(&notice.advice), 2);
            }
        }
    }

    fn plots(&mut self, row: &Row) {
        let changes: Vec<f64> = row.scores.pairs.iter().map(|log| log.exp() - 1.0).collect();
        if !changes.is_empty() {
            self.heading(
                "Pair scores: change of each pair, the tolerance between the dotted marks",
            );
            let (low, high) = (1.0 / (1.0 + row.tolerance) - 1.0, row.tolerance);
            let mut marks = vec![(0.0, '│')];
            if row.tolerance > 0.0 {
                marks.extend([(low, '┊'), (high, '┊')]);
            }
            self.plot(&changes, &marks, &text::percent);
        } else if row.scores.baseline.len() + row.scores.candidate.len() > 2 {
            self.heading("Launch scores of each side, on one scale");
            let all: Vec<f64> =
                row.scores.baseline.iter().chain(&row.scores.candidate).copied().collect();
            let ends: Vec<(f64, char)> =
                range(&all).map_or(Vec::new(), |(low, high)| vec![(low, '╵'), (high, '╵')]);
            let label = |value: f64| text::quantity(&row.metric, value).to_string();
            for (name, side) in
                [("baseline", &row.scores.baseline), ("candidate", &row.scores.candidate)]
            {
                self.line(&format!("  {name}"));
                self.plot(side, &ends, &label);
            }
        }
    }

    /// A dot plot over a line with marks.
    fn plot(&mut self, values: &[f64], marks: &[(f64, char)], label: &dyn Fn(f64) -> String) {
        let all: Vec<f64> = values.iter().copied().chain(marks.iter().map(|mark| mark.0)).collect();
        let Some((low, high)) = range(&all) else { return };
        let columns = self.width().clamp(24, 100) - 4;
        let span = if high > low { high - low } else { 1.0 };
        // Within 0 to columns - 1, since value lies between low and high.
        let place = |value: f64| ((value - low) / span * (columns - 1) as f64).round() as usize;
        let mut counts = vec![0usize; columns];
        values
            .iter()
            .filter(|value| value.is_finite())
            .for_each(|value| counts[place(*value)] += 1);
        let most = counts.iter().copied().max().unwrap_or(0);
        let per_dot = most.div_ceil(PLOT_HEIGHT).max(1);
        for level in (0..most.div_ceil(per_dot)).rev() {
            let dots: String = counts
                .iter()
                .map(|n| if n.div_ceil(per_dot) > level { '•' } else { ' ' })
                .collect();
            self.line(&format!("  {dots}"));
        }
        let mut axis = vec!['─'; columns];
        marks.iter().rev().for_each(|(value, mark)| axis[place(*value)] = *mark);
        self.line(&format!("  {}", axis.iter().collect::<String>()));
        let labels = labels(marks.iter().map(|mark| (place(mark.0), label(mark.0))), columns);
        self.line(&format!("  {labels}"));
        if per_dot > 1 {
            self.line(&format!("  one dot stands for up to {per_dot} of them"));
        }
    }

    fn launches(&mut self, row: &Row) {
        let (baseline, candidate) = (&row.scores.baseline, &row.scores.candidate);
        let count = baseline.len().max(candidate.len()).max(row.scores.pairs.len());
        if count == 0 {
            return;
        }
        let paired = !row.scores.pairs.is_empty();
        self.heading("Launches in measured order");
        let value = |side: &[f64], index: usize| {
            side.get(index)
                .map_or_else(String::new, |v| text::quantity(&row.metric, *v).to_string())
        };
        let mut lines = vec![[
            if paired { "pair" } else { "launch" }.to_owned(),
            "baseline".into(),
            "candidate".into(),
            if paired { "change" } else { "" }.into(),
        ]];
        lines.extend((0..count).map(|index| {
            let change = row.scores.pairs.get(index);
            [
                (index + 1).to_string(),
                value(baseline, index),
                value(candidate, index),
                change.map_or_else(String::new, |log| text::percent(log.exp() - 1.0)),
            ]
        }));
        let widest =
            |column: usize| lines.iter().map(|line| text::width(&line[column])).max().unwrap_or(0);
        let widths: [usize; 4] = std::array::from_fn(widest);
        for (index, line) in lines.iter().enumerate() {
            let cells: Vec<String> =
                line.iter().zip(widths).map(|(cell, width)| right(cell, width)).collect();
            let looked = u32::try_from(index).is_ok_and(|n| n > 0 && row.scores.looks.contains(&n));
            let look = if looked { "   look" } else { "" };
            self.line(&format!("  {}{look}", cells.join("   ")));
        }
    }
}

/// Smallest and largest of the finite values.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    Some((finite().min_by(f64::total_cmp)?, finite().max_by(f64::total_cmp)?))
}

/// Writes each text below its column; one that would touch an earlier one is left out.
fn labels(marks: impl Iterator<Item = (usize, String)>, columns: usize) -> String {
    let mut taken: Vec<(usize, usize, String)> = Vec::new();
    for (column, text) in marks {
        let width = text::width(&text);
        let from = column.saturating_sub(width / 2).min(columns.saturating_sub(width));
        if taken.iter().all(|(start, end, _)| from + width < *start || *end < from) {
            taken.push((from, from + width, text));
        }
    }
    taken.sort_unstable();
    taken.iter().fold(String::new(), |line, (from, _, text)| left(&line, *from) + text)
}

/// What a verdict rests on, by name; a fact that does not apply is empty.
pub(super) fn facts(report: &Report, row: &Row) -> Vec<(&'static str, String)> {
    let side = |value: Option<f64>, launches: u32| {
        value.map_or_else(String::new, |value| {
            let launches = text::plural(launches as usize, "launch", "launches");
            format!("{}, the median of {launches}", text::quantity(&row.metric, value))
        })
    };
    let compared = row.baseline.is_some() && row.candidate.is_some();
    let change = if compared {
        let interval = text::interval(row);
        let interval = if interval.is_empty() {
            "without an interval".into()
        } else {
            format!("{} interval {interval}", text::share(row.confidence))
        };
        format!("{}, {interval}", text::change(row))
    } else {
        String::new()
    };
    let direction = match row.metric.better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
        Better::Unknown => "nothing says which way is better",
    };
    let unit = match row.metric.unit.as_str() {
        unit if unit == row.metric.name => String::new(),
        unit => format!(" in {}", text::name(unit)),
    };
    let rule = row
        .rule
        .as_ref()
        .map_or_else(String::new, |rule| format!(", by the rule for `{}`", text::name(rule)));
    let standing = match (row.gated, row.cleared) {
        (false, _) => "not guarded: it takes no part in the outcome",
        (true, true) => "cleared: a change for the worse beyond the tolerance is excluded",
        (true, false) => "guarded, and not cleared",
    };
    let looks: Vec<String> = row.scores.looks.iter().map(u32::to_string).collect();
    let pairs = if row.mode == Mode::Paired { "pairs" } else { "launches on each side" };
    vec![
        ("metric", format!("{}{unit}, {direction}", text::name(&row.metric.name))),
        ("compared", prose::design(row.reference, row.mode, row.experiment)),
        ("baseline", side(row.baseline, row.launches.0)),
        ("candidate", side(row.candidate, row.launches.1)),
        ("change", change),
        ("tolerance", format!("{}{rule}", tolerance(row))),
        ("standing", standing.into()),
        ("chance", chance(report, row)),
        ("noise", row.noise.map_or_else(String::new, |source| noise(report, row, source))),
        (
            "detects",
            row.detectable.map_or_else(String::new, |change| {
                format!(
                    "would have caught a change for the worse of {} nine times in ten",
                    text::percent(change).replace('+', "")
                )
            }),
        ),
        (
            "looks",
            if looks.is_empty() {
                String::new()
            } else {
                format!("after {} {pairs}{}", listed(&looks, looks.len()), enough(report, row))
            },
        ),
        ("to settle", settle(row)),
    ]
}

/// Whether fewer pairs than planned settled the row.
fn enough(report: &Report, row: &Row) -> String {
    let planned = report.policy.looks.iter().map(|look| look.pairs).max();
    match (row.scores.looks.last(), planned) {
        (Some(taken), Some(planned))
            if *taken < planned && row.verdict != Verdict::Inconclusive =>
        {
            format!("; {taken} of at most {planned} were enough")
        }
        _ => String::new(),
    }
}

fn tolerance(row: &Row) -> String {
    let share = text::share(row.tolerance);
    match row.metric.better {
        Better::Lower | Better::Unknown => share,
        // The gate judges logarithms, so a rate may fall to 1 / (1 + t).
        Better::Higher => format!(
            "{share}: the rate may change by {}",
            text::percent(1.0 / (1.0 + row.tolerance) - 1.0)
        ),
    }
}

fn chance(report: &Report, row: &Row) -> String {
    if row.p_raw.is_none() && row.p_regression.is_none() {
        return String::new();
    }
    let attempt = match report.policy.attempt {
        0 | 1 => String::new(),
        attempt => format!(", halved for each attempt before attempt {attempt}"),
    };
    format!(
        "{} by this look alone, of data this bad from a candidate that is no worse than the tolerance; {} corrected \
         for all looks and benchmarks; red at or below {}{attempt}",
        text::p_value(row.p_raw),
        text::p_value(row.p_regression),
        text::p_value(Some(report.policy.alpha)),
    )
}

fn noise(report: &Report, row: &Row, source: Noise) -> String {
    let learned = report.policy.learned.iter().find(|learned| {
        learned.id == row.id
            && learned.metric == row.metric.name
            && learned.experiment == row.experiment
    });
    let mut said = match (source, learned.and_then(|learned| Some((learned.runs, learned.pair?)))) {
        (Noise::Own, _) => "from the launches of this run alone".to_owned(),
        (Noise::Suite, _) => {
            "from the launches of this run, steadied by the rest of the suite".to_owned()
        }
        (Noise::History, None) => {
            "from the launches of this run, steadied by earlier runs".to_owned()
        }
        (Noise::History, Some((runs, pair))) => format!(
            "from the launches of this run, steadied by {}, in which one {} scattered by {}",
            text::plural(runs as usize, "earlier run", "earlier runs"),
            if row.mode == Mode::Paired { "pair" } else { "launch" },
            text::percent(pair.variance.sqrt()).replace('+', "")
        ),
    };
    if row.mode == Mode::Stored {
        let tau = learned.and_then(|learned| learned.session);
        said.push_str(&match tau {
            Some(tau) => format!(
                "; sessions differ by {}, as {} taught",
                text::percent(tau.sd).replace('+', ""),
                text::plural(learned.map_or(0, |l| l.runs as usize), "earlier run", "earlier runs")
            ),
            None => format!(
                "; sessions are assumed to differ by {}, since too few are known",
                text::share(report.policy.session_noise)
            ),
        });
    }
    said
}

fn settle(row: &Row) -> String {
    match (row.verdict, row.launches_needed) {
        (Verdict::Inconclusive, Some(needed)) => format!("about {needed} pairs"),
        (Verdict::Inconclusive, None) => {
            "no reasonable number of pairs: widen its tolerance, or make the benchmark or the runner quieter".into()
        }
        _ => String::new(),
    }
}

fn reproduce(report: &Report) -> Vec<String> {
    let revision = |side: &super::Side| {
        let revision = side.revision.as_ref();
        text::name(revision.map_or(side.label.as_str(), |revision| &revision.id))
    };
    let mut lines = vec![
        "`pacegate replay` judges the recorded evidence of this run again, to the same bytes."
            .to_owned(),
    ];
    let mut again = format!(
        "A new measurement compares {} with {}",
        revision(&report.candidate),
        revision(&report.baseline)
    );
    if let Some(plan) = &report.plan {
        again.push_str(&format!(", profile {}, seed {}", text::name(&plan.profile), plan.seed));
    }
    lines.push(format!("{again}."));
    lines
}

/// The command that measures the row again; `None` where pacegate did not measure it against this baseline, or where
/// its name can't be typed.
pub(super) fn again(report: &Report, row: &Row) -> Option<String> {
    let plan = report.plan.as_ref()?;
    let baseline =
        report.baseline.revision.as_ref().filter(|_| row.reference == Reference::Base)?;
    let id = row.id.to_string();
    let [baseline, profile, id] = typed([&baseline.id, &plan.profile, &id])?;
    Some(format!(
        "pacegate check --baseline {baseline} --profile {profile} --seed {} {id}",
        plan.seed
    ))
}

/// Words as a shell takes them; `None` where one of them can't be typed, or would be taken for a flag.
pub(super) fn typed<const N: usize>(words: [&str; N]) -> Option<[String; N]> {
    let odd =
        |word: &&str| word.is_empty() || word.starts_with('-') || text::visible(word) != *word;
    (!words.iter().any(odd)).then(|| words.map(quoted))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
