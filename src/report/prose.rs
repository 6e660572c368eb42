//! The sentences that every page shares: the headline, what was not guarded, and how it was measured.
//!
//! Every number of the headline is counted from the rows, benchmark by benchmark; none is an average over
//! benchmarks, since an average hides the one that matters.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{self, listed, plural, share};
use super::{Headline, Report, Side};
use crate::gate::{Correction, Missing, Outcome, Row, Verdict};
use crate::model::{BenchmarkId, Experiment, Mode, Notice, Reference};

/// How a page shows text that pacegate did not write: names, and sentences of others.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) name: fn(&str) -> String,
    pub(super) sentence: fn(&str) -> String,
}

/// Pages without mark-up.
pub(super) const PLAIN: Page = Page { name: text::name, sentence: text::sentence };

/// Names shown in a sentence before the rest is counted.
const NAMES: usize = 5;

impl Page {
    /// The benchmark, and what of it is judged.
    pub(super) fn label(self, row: &Row) -> String {
        format!("{}{}", (self.name)(&row.id.to_string()), self.aspect(row))
    }

    /// A metric other than time, a reference other than the base.
    pub(super) fn aspect(self, row: &Row) -> String {
        let mut aspect = String::new();
        if row.metric.name != "time" {
            aspect.push_str(&format!(" {}", (self.name)(&row.metric.name)));
        }
        if row.reference == Reference::Release {
            aspect.push_str(" vs release");
        }
        aspect
    }

    fn names(self, ids: &BTreeSet<&BenchmarkId>) -> String {
        let names: Vec<String> = ids.iter().map(|id| (self.name)(&id.to_string())).collect();
        listed(&names, NAMES)
    }
}

/// Writes the first lines of a page.
pub(super) fn headline(report: &Report, page: Page) -> Headline {
    let tally = Tally::of(report);
    let (answer, action) = match report.outcome {
        Outcome::Usage => (
            cause(report, page, "the command line or `pacegate.yaml` is not usable"),
            "Correct it and run again; `pacegate help` lists what there is.".into(),
        ),
        Outcome::Fail => (fail(report, &tally, page), fail_action(&tally)),
        Outcome::Error => (
            cause(report, page, &error(report, &tally, page)),
            "Mend what failed and run again; this run says nothing of it.".into(),
        ),
        Outcome::NotComparable => (
            cause(report, page, &not_comparable(report, page)),
            "Measure the baseline again on this class of runner, or measure both sides in one job with \
             `pacegate check`."
                .into(),
        ),
        Outcome::NothingToCompare => (
            cause(report, page, &nothing(report, page)),
            "Nothing was guarded: check that both sides hold the same benchmarks, or record a baseline."
                .into(),
        ),
        Outcome::Inconclusive => (undecided(&tally, page), undecided_action(report)),
        Outcome::Pass => (pass(report, &tally), String::new()),
    };
    Headline { answer: format!("{}: {answer}", word(report.outcome)), action }
}

/// The outcome as the first word of a page.
fn word(outcome: Outcome) -> String {
    outcome.name().replace('_', " ").to_uppercase()
}

/// Benchmarks by what has to be said of them in the headline.
struct Tally<'a> {
    all: BTreeSet<&'a BenchmarkId>,
    slower: Vec<&'a Row>,
    removed: BTreeSet<&'a BenchmarkId>,
    failed: BTreeSet<&'a BenchmarkId>,
    undecided: BTreeSet<&'a BenchmarkId>,
    cleared: BTreeSet<&'a BenchmarkId>,
    added: BTreeSet<&'a BenchmarkId>,
    improved: Vec<&'a Row>,
    unguarded: BTreeSet<&'a BenchmarkId>,
    unguarded_slower: BTreeSet<&'a BenchmarkId>,
}

impl<'a> Tally<'a> {
    fn of(report: &'a Report) -> Self {
        let ids = |keep: &dyn Fn(&Row) -> bool| -> BTreeSet<&'a BenchmarkId> {
            report.rows.iter().filter(|row| keep(row)).map(|row| &row.id).collect()
        };
        let with = |verdict| ids(&move |row| row.verdict == verdict);
        let open = ids(&|row| row.gated && !row.cleared && row.verdict != Verdict::Added);
        let mut cleared = ids(&|row| row.gated && row.cleared);
        cleared.retain(|id| !open.contains(id));
        Tally {
            all: ids(&|_| true),
            slower: report
                .rows
                .iter()
                .filter(|row| row.gated && row.verdict == Verdict::Regression)
                .collect(),
            removed: ids(&|row| row.gated && row.verdict == Verdict::Removed),
            failed: with(Verdict::Failed),
            undecided: ids(&|row| {
                row.gated && !row.cleared && row.verdict == Verdict::Inconclusive
            }),
            cleared,
            added: with(Verdict::Added),
            improved: report.rows_with(Verdict::Improvement),
            unguarded: unguarded(report),
            unguarded_slower: ids(&|row| !row.gated && row.verdict == Verdict::Regression),
        }
    }

    /// `3 of 24 benchmarks are`.
    fn of_all(&self, n: usize) -> String {
        let is = if n == 1 { "is" } else { "are" };
        format!("{n} of {} {is}", plural(self.all.len(), "benchmark", "benchmarks"))
    }
}

/// Benchmarks with a row that was compared but takes no part in the outcome.
fn unguarded(report: &Report) -> BTreeSet<&BenchmarkId> {
    report
        .rows
        .iter()
        .filter(|row| !row.gated && row.verdict != Verdict::Added)
        .map(|row| &row.id)
        .collect()
}

fn fail(report: &Report, tally: &Tally<'_>, page: Page) -> String {
    let mut parts = Vec::new();
    if let Some(worst) = tally.slower.first() {
        let ids: BTreeSet<_> = tally.slower.iter().map(|row| &row.id).collect();
        let word = common(&tally.slower, |row| text::words(&row.metric).0).unwrap_or("worse");
        let (its, the_worst) =
            if ids.len() == 1 { ("its", "") } else { ("their", "the worst is ") };
        let by = if worst.ratio.is_some() {
            format!("by {}", text::amount(worst))
        } else {
            // Its unit is somebody else's text.
            format!("from {}", (page.name)(&text::arrow(worst).replace("->", "to")))
        };
        parts.push(format!(
            "{} {word} than {its} tolerance: {the_worst}{} {by}",
            tally.of_all(ids.len()),
            page.label(worst),
        ));
    }
    if report.policy.missing == Missing::Fail && !tally.removed.is_empty() {
        parts.push(format!(
            "{} gone: {}",
            tally.of_all(tally.removed.len()),
            page.names(&tally.removed)
        ));
    }
    if !tally.failed.is_empty() {
        parts.push(format!("{} could not be judged", tally.failed.len()));
    }
    if parts.is_empty() { cause(report, page, "the gate says no") } else { parts.join("; ") }
}

fn fail_action(tally: &Tally<'_>) -> String {
    let mut action = Vec::new();
    if !tally.slower.is_empty() {
        action.push(
            "Undo the regression, or give it a tolerance of its own by a rule; `pacegate explain` shows one \
             benchmark in depth.",
        );
    }
    if !tally.removed.is_empty() {
        action.push(
            "Bring back what is gone, or say `missing: warn` in `pacegate.yaml` where it was dropped on purpose.",
        );
    }
    action.join(" ")
}

fn error(report: &Report, tally: &Tally<'_>, page: Page) -> String {
    let failed = report.rows.iter().find(|row| row.verdict == Verdict::Failed);
    match (failed, tally.failed.len()) {
        (None, _) => "something could not be judged".into(),
        (Some(row), 1) => format!(
            "1 of {} could not be judged: {}: {}",
            plural(tally.all.len(), "benchmark", "benchmarks"),
            page.label(row),
            (page.sentence)(&row.reason),
        ),
        (Some(_), n) => format!(
            "{n} of {} could not be judged: {}",
            plural(tally.all.len(), "benchmark", "benchmarks"),
            page.names(&tally.failed),
        ),
    }
}

fn not_comparable(report: &Report, page: Page) -> String {
    let differences: Vec<String> = report
        .baseline
        .environment
        .hard_differences(&report.candidate.environment)
        .iter()
        .map(|difference| {
            let value = |value: &Option<String>| {
                value.as_deref().map_or_else(|| "unknown".into(), |value| (page.name)(value))
            };
            format!(
                "{} (baseline {}, candidate {})",
                (page.name)(&difference.fact),
                value(&difference.baseline),
                value(&difference.candidate)
            )
        })
        .collect();
    if differences.is_empty() {
        "the two sides were measured in environments that differ".into()
    } else {
        format!("the environments differ in {}", listed(&differences, NAMES))
    }
}

fn nothing(report: &Report, page: Page) -> String {
    if report.rows.is_empty() {
        let (baseline, candidate) = (side(&report.baseline, page), side(&report.candidate, page));
        return format!(
            "neither side holds a benchmark; baseline: {baseline}, candidate: {candidate}"
        );
    }
    let only = |verdict| {
        let ids: BTreeSet<_> = report.rows_with(verdict).iter().map(|row| &row.id).collect();
        plural(ids.len(), "is", "are")
    };
    format!(
        "no benchmark is on both sides: {} only in the baseline, {} only in the candidate",
        only(Verdict::Removed),
        only(Verdict::Added),
    )
}

fn undecided(tally: &Tally<'_>, page: Page) -> String {
    if tally.undecided.is_empty() {
        let all = plural(tally.all.len(), "benchmark", "benchmarks");
        return format!("none of {all} can be guarded; what was measured is shown and not tested");
    }
    let mut answer = format!(
        "{} neither proven slower nor cleared: {}",
        tally.of_all(tally.undecided.len()),
        page.names(&tally.undecided),
    );
    if !tally.cleared.is_empty() {
        let cleared = plural(tally.cleared.len(), "is cleared", "are cleared");
        answer.push_str(&format!("; {cleared}"));
    }
    answer.push_str(&tail(tally));
    answer
}

fn undecided_action(report: &Report) -> String {
    let open: Vec<&Row> = report
        .rows
        .iter()
        .filter(|row| row.gated && !row.cleared && row.verdict == Verdict::Inconclusive)
        .collect();
    if open.is_empty() {
        return "Give results that say their spread and their number of values, or several files a side.".into();
    }
    let needs: Vec<u32> = open.iter().filter_map(|row| row.launches_needed).collect();
    let mut action = String::from(if report.exit_code == 0 {
        "Nothing is proven slower and nobody has to act"
    } else {
        "Nothing is proven slower, but `on_inconclusive: fail` asks for proof"
    });
    if let Some(most) = needs.iter().max() {
        let them = match (needs.len(), open.len()) {
            (1, 1) => "it".into(),
            (some, all) if some == all => "them".into(),
            (some, _) => format!("{some} of them"),
        };
        action.push_str(&format!("; about {most} pairs would probably settle {them}"));
    }
    let stuck = open.iter().filter(|row| row.launches_needed.is_none());
    let least = report.policy.min_launches;
    let (few, noisy): (Vec<&Row>, Vec<&Row>) =
        stuck.partition(|row| row.launches.0.min(row.launches.1) < least);
    let whom = if needs.is_empty() { "" } else { " for the rest" };
    if !few.is_empty() {
        action.push_str(&format!("; fewer than {least} launches on each side decide nothing"));
    }
    if !noisy.is_empty() {
        action.push_str(&format!("; a wider tolerance or a quieter runner is needed{whom}"));
    }
    action.push('.');
    action
}

fn pass(report: &Report, tally: &Tally<'_>) -> String {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.gated && row.cleared).collect();
    let word = common(&rows, |row| text::words(&row.metric).0).unwrap_or("worse");
    let bound = match common(&rows, |row| share(row.tolerance)) {
        Some(zero) if zero == share(0.0) => format!("no {word}"),
        Some(tolerance) => format!("no more than {tolerance} {word}"),
        None => format!("no {word} than their tolerances allow"),
    };
    format!("{} shown to be {bound}{}", tally.of_all(tally.cleared.len()), tail(tally))
}

/// What is the same for all rows.
fn common<T: PartialEq>(rows: &[&Row], what: impl Fn(&Row) -> T) -> Option<T> {
    let first = what(rows.first()?);
    rows.iter().all(|row| what(row) == first).then_some(first)
}

/// What else a reader of a headline that is not red should know.
fn tail(tally: &Tally<'_>) -> String {
    let mut tail = String::new();
    let mut say = |ids: &BTreeSet<&BenchmarkId>, one: &str, many: &str| {
        if !ids.is_empty() {
            tail.push_str(&format!("; {}", plural(ids.len(), one, many)));
        }
    };
    let improved = tally.improved.iter().map(|row| &row.id).collect();
    let word = common(&tally.improved, |row| text::words(&row.metric).1).unwrap_or("better");
    say(&improved, &format!("is {word}"), &format!("are {word}"));
    say(&tally.added, "is new", "are new");
    say(&tally.removed, "is gone", "are gone");
    say(&tally.unguarded, "is not guarded", "are not guarded");
    say(
        &tally.unguarded_slower,
        "of these is worse than its tolerance",
        "of these are worse than their tolerances",
    );
    tail
}

/// Why there is no verdict, in the words of who noticed, or else in ours.
fn cause(report: &Report, page: Page, otherwise: &str) -> String {
    report.cause.as_ref().map_or_else(|| otherwise.into(), |cause| (page.sentence)(cause))
}

/// The revision or the file, and its distance.
pub(super) fn side(side: &Side, page: Page) -> String {
    let revision = side.revision.as_ref();
    let label = match (side.label.as_str(), revision) {
        ("", None) => "unnamed".into(),
        ("", Some(revision)) => (page.name)(&revision.name),
        (label, Some(revision)) if !label.contains(&revision.name) => {
            format!("{} ({})", (page.name)(label), (page.name)(&revision.name))
        }
        (label, _) => (page.name)(label),
    };
    match revision.and_then(|revision| revision.distance) {
        Some(distance) if distance > 0 => {
            format!("{label}, {} from the baseline", plural(distance as usize, "commit", "commits"))
        }
        _ => label,
    }
}

/// What a verdict says, for a heading.
pub(super) fn meaning(report: &Report, verdict: Verdict) -> String {
    let meaning = match verdict {
        Verdict::Regression => "proven worse by more than the tolerance",
        Verdict::Failed => "could not be measured or read",
        Verdict::Removed => "not in the candidate",
        Verdict::Inconclusive => "the data cannot tell",
        Verdict::Added => "not in the baseline",
        Verdict::Improvement => "proven better by more than the tolerance",
        Verdict::Unchanged => "shown to lie within the tolerance",
    };
    let cleared = report.rows_with(verdict).iter().filter(|row| row.cleared).count();
    if verdict == Verdict::Inconclusive && cleared > 0 {
        return format!(
            "{meaning}, but {} of being worse",
            plural(cleared, "is cleared", "are cleared")
        );
    }
    meaning.into()
}

/// Notices of the report and of its rows; those of one kind and advice together, in order of appearance.
pub(super) fn gathered(report: &Report) -> Vec<(Vec<&str>, &str)> {
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut told: BTreeSet<&Notice> = BTreeSet::new();
    for notice in report.notices.iter().chain(report.rows.iter().flat_map(|row| &row.notices)) {
        let Notice { kind, seen, advice } = notice;
        if told.insert(notice) {
            let place = *places.entry((kind, advice)).or_insert(groups.len());
            if place == groups.len() {
                groups.push((Vec::new(), advice));
            }
            groups[place].0.push(seen);
        }
    }
    groups
}

/// The benchmarks that are not guarded, in one sentence; empty when all are.
pub(super) fn not_guarded(report: &Report, page: Page) -> String {
    let ids = unguarded(report);
    if ids.is_empty() {
        return String::new();
    }
    format!("Not guarded ({}): {}.", ids.len(), page.names(&ids))
}

/// How it was measured and by what policy it was judged: one sentence a line; nothing where nothing was read.
pub(super) fn circumstances(report: &Report, page: Page) -> Vec<String> {
    let nothing_known = |side: &Side| *side == Side::default();
    if report.rows.is_empty() && nothing_known(&report.baseline) && nothing_known(&report.candidate)
    {
        return Vec::new();
    }
    let mut lines = vec![
        format!("Candidate: {}.", side(&report.candidate, page)),
        format!("Baseline: {}.", side(&report.baseline, page)),
    ];
    let mut designs: BTreeMap<(Reference, Mode, Experiment), usize> = BTreeMap::new();
    for row in compared(report) {
        *designs.entry((row.reference, row.mode, row.experiment)).or_default() += 1;
    }
    if !designs.is_empty() {
        let designs: Vec<String> = designs
            .iter()
            .map(|((reference, mode, experiment), count)| {
                format!(
                    "{} {}",
                    plural(*count, "row", "rows"),
                    design(*reference, *mode, *experiment)
                )
            })
            .collect();
        lines.push(format!("Compared: {}.", listed(&designs, designs.len())));
    }
    let launches = || compared(report).flat_map(|row| [row.launches.0, row.launches.1]);
    if let (Some(least), Some(most)) = (launches().min(), launches().max()) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let noun = if most == 1 { "launch" } else { "launches" };
        let mut line = format!("Evidence: {range} {noun} of each benchmark on each side");
        if let Some(plan) = &report.plan {
            line.push_str(&format!(", {} in all", plan.launches));
            if plan.repeated > 0 {
                line.push_str(&format!(", {} disturbed and made again", plan.repeated));
            }
        }
        lines.push(format!("{line}."));
    }
    if let Some(plan) = &report.plan {
        let cpus: Vec<String> = plan.cpus.iter().map(u32::to_string).collect();
        let mut line = format!("Plan: profile {}, seed {}", (page.name)(&plan.profile), plan.seed);
        if !cpus.is_empty() {
            let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
            line.push_str(&format!(", {noun} {}", listed(&cpus, cpus.len())));
        }
        if plan.budget_spent {
            line.push_str("; the time budget ended the looking");
        }
        lines.push(format!("{line}."));
    }
    lines.push(policy(report));
    lines
}

fn policy(report: &Report) -> String {
    let policy = &report.policy;
    let looks: Vec<String> = policy.looks.iter().map(|look| look.pairs.to_string()).collect();
    let correction = match policy.correction {
        Correction::Bh => "Benjamini-Hochberg",
        Correction::Holm => "Holm",
    };
    let mut line = format!(
        "Policy: tolerance {}, alpha {} over the suite ({correction})",
        share(policy.tolerance),
        share(policy.alpha),
    );
    if !looks.is_empty() {
        line.push_str(&format!(", looks after {} pairs", listed(&looks, looks.len())));
    }
    if policy.attempt > 1 {
        line.push_str(&format!(", attempt {} of this job with its smaller alpha", policy.attempt));
    }
    format!("{line}.")
}

/// `paired in a co-run`, `stored, plain launches, against the last release`.
pub(super) fn design(reference: Reference, mode: Mode, experiment: Experiment) -> String {
    let mut design = String::from(match mode {
        Mode::Paired => "paired",
        Mode::Stored => "stored",
    });
    design.push_str(match experiment {
        Experiment::Corun => " in a co-run",
        Experiment::Turnstile => " in a turnstile",
        Experiment::Interleaved => ", launched in turn",
        Experiment::Plain => ", plain launches",
        Experiment::Imported => ", from files of another tool",
    });
    if reference == Reference::Release {
        design.push_str(", against the last release");
    }
    design
}

/// Rows with a number on both sides.
fn compared(report: &Report) -> impl Iterator<Item = &Row> {
    report.rows.iter().filter(|row| row.baseline.is_some() && row.candidate.is_some())
}
