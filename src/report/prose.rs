//! The sentences that every page shares: the headline, what was not guarded, and how it was measured.
//!
//! Every number of the headline is counted from the rows, benchmark by benchmark; none is an average over
//! benchmarks, since an average hides the one that matters.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{self, plural, share};
use super::{Headline, Report, Side};
use crate::gate::{Accept, Correction, Missing, Outcome, Row, Verdict};
use crate::model::{BenchmarkId, Difference, Experiment, Mode, Notice, Reference, listed};

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

/// Accept records shown on top of a page before the rest is counted.
const ACCEPTED_SHOWN: usize = 10;

impl Page {
    /// The benchmark, and what of it is judged.
    pub(super) fn label(self, row: &Row) -> String {
        format!("{}{}", (self.name)(&row.id.to_string()), self.aspect(row))
    }

    /// The benchmark and its metric, whatever it is compared with.
    pub(super) fn subject(self, row: &Row) -> String {
        format!("{}{}", (self.name)(&row.id.to_string()), self.metric(row))
    }

    /// A metric other than time.
    fn metric(self, row: &Row) -> String {
        if row.metric.name == "time" {
            return String::new();
        }
        format!(" {}", (self.name)(&row.metric.name))
    }

    /// A metric other than time, a reference other than the base.
    pub(super) fn aspect(self, row: &Row) -> String {
        let mut aspect = self.metric(row);
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
        Outcome::NotComparable if report.release.is_some() && base_is_comparable(report) => (
            cause(report, page, &not_comparable(report, page)),
            "Promote a new baseline from this runner, or give it a class of its own; the comparison with the base \
             stands."
                .into(),
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
    accepted: BTreeSet<&'a BenchmarkId>,
    removed: BTreeSet<&'a BenchmarkId>,
    failed: BTreeSet<&'a BenchmarkId>,
    undecided: BTreeSet<&'a BenchmarkId>,
    cleared: BTreeSet<&'a BenchmarkId>,
    added: BTreeSet<&'a BenchmarkId>,
    improved: Vec<&'a Row>,
    unguarded: BTreeSet<&'a BenchmarkId>,
    unguarded_since: BTreeSet<&'a BenchmarkId>,
    unguarded_slower: BTreeSet<&'a BenchmarkId>,
}

impl<'a> Tally<'a> {
    fn of(report: &'a Report) -> Self {
        let ids = |keep: &dyn Fn(&Row) -> bool| -> BTreeSet<&'a BenchmarkId> {
            report.rows.iter().filter(|row| keep(row)).map(|row| &row.id).collect()
        };
        let with = |verdict| ids(&move |row| row.verdict == verdict);
        let free = |row: &Row| row.gated && row.accepted.is_none();
        let open = ids(&|row| free(row) && !row.cleared && row.verdict != Verdict::Added);
        let mut cleared = ids(&|row| free(row) && row.cleared);
        let accepted = ids(&|row| row.gated && row.accepted.is_some());
        cleared.retain(|id| !open.contains(id) && !accepted.contains(id));
        Tally {
            all: ids(&|_| true),
            slower: report
                .rows
                .iter()
                .filter(|row| free(row) && row.verdict == Verdict::Regression)
                .collect(),
            accepted,
            removed: ids(&|row| row.gated && row.verdict == Verdict::Removed),
            failed: with(Verdict::Failed),
            undecided: ids(&|row| {
                row.gated && !row.cleared && row.verdict == Verdict::Inconclusive
            }),
            cleared,
            added: with(Verdict::Added),
            improved: report.rows_with(Verdict::Improvement),
            unguarded: unguarded(report, Reference::Base),
            unguarded_since: unguarded(report, Reference::Release),
            unguarded_slower: ids(&|row| !row.gated && row.verdict == Verdict::Regression),
        }
    }

    /// `3 of 24 benchmarks are`.
    fn of_all(&self, n: usize) -> String {
        let is = if n == 1 { "is" } else { "are" };
        format!("{n} of {} {is}", plural(self.all.len(), "benchmark", "benchmarks"))
    }
}

/// Benchmarks with a row that was compared with a reference but takes no part in the outcome.
fn unguarded(report: &Report, reference: Reference) -> BTreeSet<&BenchmarkId> {
    report
        .rows
        .iter()
        .filter(|row| row.reference == reference && !row.gated && row.verdict != Verdict::Added)
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
    let differences: Vec<String> = hard_differences(report)
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
    let side = report.release.as_ref().filter(|_| base_is_comparable(report));
    let whose =
        side.map_or_else(String::new, |side| format!(" from that of {}", (page.name)(&side.label)));
    if differences.is_empty() {
        "the two sides were measured in environments that differ".into()
    } else {
        let what =
            if whose.is_empty() { "the environments differ" } else { "this environment differs" };
        format!("{what}{whose} in {}", listed(&differences, NAMES))
    }
}

/// The hard facts that make sides incomparable: those of the base, or else those of the release.
pub(super) fn hard_differences(report: &Report) -> Vec<Difference> {
    let candidate = &report.candidate.environment;
    match &report.release {
        Some(release) if base_is_comparable(report) => {
            release.environment.hard_differences(candidate)
        }
        _ => report.baseline.environment.hard_differences(candidate),
    }
}

fn base_is_comparable(report: &Report) -> bool {
    let candidate = &report.candidate.environment;
    report.baseline.environment.hard_differences(candidate).is_empty()
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
    let rows: Vec<&Row> = report
        .rows
        .iter()
        .filter(|row| row.gated && row.cleared && row.accepted.is_none())
        .collect();
    if rows.is_empty() {
        return format!("nothing is worse than what was accepted{}", tail(tally));
    }
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
    say(&tally.accepted, "is worse and accepted", "are worse and accepted");
    say(&tally.added, "is new", "are new");
    say(&tally.removed, "is gone", "are gone");
    say(&tally.unguarded, "is not guarded", "are not guarded");
    say(
        &tally.unguarded_since,
        "is not guarded since the release",
        "are not guarded since the release",
    );
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
    let accepted = report.rows_with(verdict).iter().filter(|row| row.accepted.is_some()).count();
    if accepted > 0 {
        return format!("{meaning}; {}", plural(accepted, "is accepted", "are accepted"));
    }
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
    let of = |reference: Reference, since: &str| {
        let ids = unguarded(report, reference);
        (!ids.is_empty())
            .then(|| format!("Not guarded{since} ({}): {}.", ids.len(), page.names(&ids)))
    };
    let sentences = [of(Reference::Base, ""), of(Reference::Release, " since the release")];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What was agreed to of the benchmarks of this report, one sentence a record, whether or not it was needed.
pub(super) fn accepted(report: &Report, page: Page) -> Vec<String> {
    let records = &report.policy.accepted.records;
    if records.is_empty() {
        return Vec::new();
    }
    let named: Vec<(String, &Row)> =
        report.rows.iter().map(|row| (row.id.to_string(), row)).collect();
    let sentence = |record: &Accept| {
        let of = |(name, row): &&(String, &Row)| record.is_for(name, &row.metric.name);
        let rows: Vec<&Row> = named.iter().filter(of).map(|(_, row)| *row).collect();
        let worst = rows.iter().filter_map(|row| row.worse_by()).max_by(f64::total_cmp);
        let label = page.subject(rows.first()?);
        let now =
            worst.map_or_else(String::new, |worst| format!(" (now {})", text::percent(worst)));
        let until = match &record.until {
            None => String::new(),
            Some(until) if report.policy.accepted.has_ended(record) => {
                format!(", which ended with {until}")
            }
            Some(until) => format!(", until {until}"),
        };
        let ceiling = share(record.ceiling);
        let reason = (page.sentence)(&record.reason);
        Some(format!("Accepted: {label} up to +{ceiling}{now}{until}: {reason}"))
    };
    let mut sentences: Vec<String> = records.iter().filter_map(sentence).collect();
    let more = sentences.len().saturating_sub(ACCEPTED_SHOWN);
    if more > 0 {
        sentences.truncate(ACCEPTED_SHOWN);
        sentences.push(format!("Accepted: {more} more; the verdict file holds them all."));
    }
    sentences
}

/// A benchmark against both of its references.
pub(super) struct SinceRelease<'a> {
    pub(super) row: &'a Row,
    /// What this change alone does, where it was compared with its base too.
    pub(super) change: Option<f64>,
    /// What happened since the release.
    pub(super) since: f64,
    /// What may have happened since the release.
    pub(super) budget: f64,
}

/// Every benchmark that was compared with the release; that which has used most of its budget first.
pub(super) fn since_release(report: &Report) -> Vec<SinceRelease<'_>> {
    let against =
        |reference: Reference| report.rows.iter().filter(move |row| row.reference == reference);
    let bases: BTreeMap<(&BenchmarkId, &str), &Row> =
        against(Reference::Base).map(|row| ((&row.id, row.metric.name.as_str()), row)).collect();
    let mut all: Vec<SinceRelease<'_>> = against(Reference::Release)
        .filter_map(|row| {
            let base = bases.get(&(&row.id, row.metric.name.as_str())).copied();
            let budget = row.accepted.as_ref().map_or(row.tolerance, |accept| accept.ceiling);
            let change = base.and_then(Row::worse_by);
            Some(SinceRelease { row, change, since: row.worse_by()?, budget })
        })
        .collect();
    let used = |one: &SinceRelease<'_>| one.since / one.budget.max(f64::MIN_POSITIVE);
    all.sort_by(|a, b| used(b).total_cmp(&used(a)));
    all
}

impl SinceRelease<'_> {
    /// `this change +1.0 %, since 1.4.0 +4.2 % of 5 %`.
    pub(super) fn sentence(&self, release: &str) -> String {
        let change = self
            .change
            .map_or_else(String::new, |change| format!("this change {}, ", text::percent(change)));
        let (since, budget) = (text::percent(self.since), share(self.budget));
        format!("{change}since {release} {since} of {budget}")
    }
}

/// What people call the release.
pub(super) fn release_name(report: &Report, page: Page) -> String {
    report.release.as_ref().map_or_else(|| "the release".into(), |side| (page.name)(&side.label))
}

/// `1.4.0 (3f2c81a), recorded on 2026-11-30, 34 commits ago`.
fn age(release: &Side, page: Page) -> String {
    let mut text = (page.name)(&release.label);
    if let Some(revision) = &release.revision {
        let id: String = revision.id.chars().take(7).collect();
        if !release.label.contains(&id) {
            text.push_str(&format!(" ({})", (page.name)(&id)));
        }
    }
    if let Some(recorded) = release.environment.info.get("recorded") {
        text.push_str(&format!(", recorded on {}", (page.name)(recorded)));
    }
    let distance = release.revision.as_ref().and_then(|revision| revision.distance);
    if let Some(distance) = distance.filter(|&distance| distance > 0) {
        text.push_str(&format!(", {} ago", plural(distance as usize, "commit", "commits")));
    }
    text
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
    lines
        .extend(report.release.as_ref().map(|release| format!("Release: {}.", age(release, page))));
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
