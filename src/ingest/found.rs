//! What a reader found in a file, put together to runs: the one place that names, merges and counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::copies;
use super::unit::{self, Known};
use super::{Made, Options};
use crate::error::{Error, Result};
use crate::model::{
    BenchmarkId, Better, Evidence, Experiment, Failure, Launch, Metric, Notice, Revision, Run,
    Sample, SamplingMode, Series, Spread, Summary, Unit,
};

/// What a second value of one benchmark and metric in one file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Repeated {
    /// A further launch or value of the same benchmark, as `-count` and repetitions make them.
    Launch,
    /// Another benchmark of the same name: it is kept apart as `name #2`, and that is told.
    Apart,
}

/// Stands for the benchmarks that a broken run did not come to, of which nobody knows the names.
const WHOLE_RUN: &str = "(whole run)";

/// How many subjects of a notice are named.
const NAMED: usize = 3;

/// Collects the benchmarks of a file.
pub(in crate::ingest) struct Found<'a> {
    file: &'a str,
    options: &'a Options,
    repeated: Repeated,
    runs: Vec<Run>,
    /// Where the series of each benchmark of the current run are.
    places: BTreeMap<BenchmarkId, Vec<(Metric, usize)>>,
    /// The last number that was given to benchmarks of one name.
    numbers: BTreeMap<BenchmarkId, Vec<(Metric, u32)>>,
    /// What is told of many subjects at once: kind, what it is, what to do, and of whom.
    folded: BTreeMap<[&'static str; 3], Vec<String>>,
    told: BTreeSet<Notice>,
    /// There were more benchmarks than the limits allow.
    overfull: bool,
    /// When runs were made, by their place, in seconds since 1970.
    times: BTreeMap<usize, i64>,
}

impl<'a> Found<'a> {
    /// Starts with one empty run.
    pub(super) fn new(file: &'a str, options: &'a Options) -> Self {
        Found {
            file,
            options,
            repeated: Repeated::Apart,
            runs: vec![Run::default()],
            places: BTreeMap::new(),
            numbers: BTreeMap::new(),
            folded: BTreeMap::new(),
            told: BTreeSet::new(),
            overfull: false,
            times: BTreeMap::new(),
        }
    }

    /// Says what a second value of one benchmark is in this format.
    pub(super) fn repeated(&mut self, repeated: Repeated) {
        self.repeated = repeated;
    }

    /// Begins the next run of a history; the values that follow belong to it.
    pub(super) fn next_run(&mut self, revision: Revision) {
        self.unfold();
        let current = self.current();
        if !current.series.is_empty() || !current.failures.is_empty() || current.revision.is_some()
        {
            self.runs.push(Run::default());
        }
        self.current().revision = Some(revision);
        self.places.clear();
        self.numbers.clear();
        self.told.clear();
    }

    /// Says when the current run was made, in seconds since 1970.
    pub(super) fn made_at(&mut self, seconds: i64) {
        self.times.insert(self.runs.len() - 1, seconds);
    }

    /// The run that values are added to.
    pub(super) fn current(&mut self) -> &mut Run {
        self.runs.last_mut().expect("there is one from the start")
    }

    /// A benchmark's name in its suite; without one, in the suite that the caller named.
    pub(super) fn id(&self, suite: &str, name: &str) -> BenchmarkId {
        let suite = if suite.is_empty() { self.options.suite.as_str() } else { suite };
        BenchmarkId::new(suite, name.trim())
    }

    /// A benchmark's name as a tool printed it. What the tool did to the name is told.
    pub(super) fn printed(&mut self, suite: &str, name: &str) -> BenchmarkId {
        let id = self.id(suite, name);
        let (whole, position) = match id.name.rsplit_once(" #") {
            Some((whole, position)) => (whole, position.parse::<u32>().ok()),
            None => (id.name.as_str(), None),
        };
        if id.name.ends_with("...") || (position.is_some() && whole.ends_with("...")) {
            self.notice_each(
                "cut-name",
                "names were cut off where they were printed",
                "two long names may become one; give the benchmarks shorter names",
                &id,
            );
        }
        if position.is_some_and(|position| position > 1) {
            self.notice_each(
                "positional-name",
                "only their positions tell benchmarks from others of their name",
                "a new benchmark in front shifts them; give each a name of its own",
                &id,
            );
        }
        id
    }

    /// What the caller says was measured, for a format that does not say so itself.
    pub(super) fn stated(&self) -> Option<&Metric> {
        self.options.metric.as_ref()
    }

    /// Adds the values of one launch, in measured order, in the unit as written. Several calls for one benchmark are
    /// several launches where the format says so.
    pub(super) fn launch(&mut self, id: &BenchmarkId, metric: &Known, values: &[f64]) {
        self.launches(id, metric, &[values]);
    }

    /// Adds the values of several launches at once, each in measured order, in the unit as written. Of a launch with
    /// more values than the limit, every second, third and so on is kept, which leaves its distribution as it is.
    pub(super) fn launches<V: AsRef<[f64]>>(
        &mut self,
        id: &BenchmarkId,
        metric: &Known,
        launches: &[V],
    ) {
        let limit = self.options.limits.samples.max(1);
        let mut kept = Vec::with_capacity(launches.len());
        for (pair, values) in (0..).zip(launches) {
            let values = values.as_ref();
            let step = values.len().div_ceil(limit).max(1);
            if step > 1 {
                self.notice(
                    "thinned",
                    format!("{id} has {} values, of which one in {step} is kept", values.len()),
                    format!("more than {limit} values in one process say nothing new; give launches instead"),
                );
            }
            let scaled = values.iter().step_by(step).map(|value| value * metric.factor).collect();
            match Sample::of_values(scaled) {
                Ok(sample) => kept.push(Launch { pair, sample, usage: None }),
                Err(error) => {
                    let name = &metric.metric.name;
                    let which = match launches.len() {
                        1 => String::new(),
                        _ => format!(", launch {}", pair + 1),
                    };
                    self.fail(id, format!("{name}{which}: {error}"));
                    return;
                }
            }
        }
        if kept.is_empty() {
            self.fail(id, format!("{}: no launch is there; measure again", metric.metric.name));
            return;
        }
        self.add(id, &metric.metric, Evidence::Sampled(kept));
    }

    /// Adds one launch as totals over iterations, in the unit as written.
    pub(super) fn batches(
        &mut self,
        id: &BenchmarkId,
        metric: &Known,
        iterations: Vec<u64>,
        totals: &[f64],
    ) {
        let scaled = totals.iter().map(|total| total * metric.factor).collect();
        let first = iterations.first().copied().unwrap_or_default();
        let linear = iterations.len() > 1
            && iterations.iter().zip(1..).all(|(&n, i)| first.checked_mul(i) == Some(n));
        let mode = if linear { SamplingMode::Linear } else { SamplingMode::Flat };
        match Sample::new(mode, iterations, scaled) {
            Ok(sample) => {
                let launch = Launch { pair: 0, sample, usage: None };
                self.add(id, &metric.metric, Evidence::Sampled(vec![launch]));
            }
            Err(error) => self.fail(id, format!("{}: {error}", metric.metric.name)),
        }
    }

    /// Adds one launch of a metric beside the main one. Zeros and negative values are no fault there: since no
    /// ratio can be tested, they are kept as exact.
    pub(super) fn launch_beside(&mut self, id: &BenchmarkId, metric: &Known, values: &[f64]) {
        if values.iter().all(|value| 0.0 <= *value) && values.iter().any(|value| 0.0 < *value) {
            self.launch(id, metric, values);
        } else {
            self.exact_all(id, metric, values);
        }
    }

    /// Adds a score without its values, in the unit as written.
    pub(super) fn summary(&mut self, id: &BenchmarkId, metric: &Known, summary: Summary) {
        let name = &metric.metric.name;
        let scaled = summary.scaled(metric.factor);
        let unit = metric.metric.unit.as_str();
        let spread = match scaled.spread {
            None => 0.0,
            Some(Spread::StandardDeviation(value) | Spread::StandardError(value)) => value,
            Some(Spread::HalfWidth { value, .. }) => value,
        };
        let wrong = if !scaled.score.is_finite() {
            format!("{name} is not a number; look at why it was not measured")
        } else if scaled.score < 0.0 && (unit == "ns" || unit.ends_with("/s")) {
            let score = summary.score;
            format!("{name} is negative ({score}), which no measurement is; look at what wrote it")
        } else if !spread.is_finite() || spread < 0.0 {
            format!("the spread of {name} is negative or not a number; look at what wrote it")
        } else {
            self.add(id, &metric.metric, Evidence::Summary(vec![scaled]));
            return;
        };
        self.fail(id, wrong);
    }

    /// Adds a count or size that does not vary, in the unit as written.
    pub(super) fn exact(&mut self, id: &BenchmarkId, metric: &Known, value: f64) {
        self.exact_all(id, metric, &[value]);
    }

    /// Adds a count or size that was taken several times, in the unit as written.
    pub(super) fn exact_all(&mut self, id: &BenchmarkId, metric: &Known, values: &[f64]) {
        let scaled: Vec<f64> = values.iter().map(|value| value * metric.factor).collect();
        if scaled.iter().any(|value| !value.is_finite()) {
            self.fail(
                id,
                format!("{} is not a number; look at why it was not measured", metric.metric.name),
            );
            return;
        }
        self.add(id, &metric.metric, Evidence::Exact(scaled));
    }

    /// Adds a value that comes alone, in the unit as written. Allocations, instructions and sizes are the same in every
    /// run, except for the memory of a whole process; of anything else nobody knows how much it varies.
    pub(super) fn lone(&mut self, id: &BenchmarkId, metric: &Known, value: f64) {
        let words = format!("{} {}", id.name, metric.metric.name).to_lowercase();
        let exact = match metric.metric.unit.as_str() {
            "allocations" | "instructions" => true,
            "B" => !["rss", "mem", "heap"].iter().any(|word| words.contains(word)),
            _ => false,
        };
        if exact {
            self.exact(id, metric, value);
        } else {
            let summary = Summary { score: value, spread: None, n: None, launches: None };
            self.summary(id, metric, summary);
        }
    }

    /// A metric whose direction a tool states. It is obeyed; where it contradicts the unit, that is told.
    pub(super) fn declared(&mut self, id: &BenchmarkId, mut known: Known, better: Better) -> Known {
        let Metric { name, unit, better: of_unit } = &known.metric;
        if ![*of_unit, better].contains(&Better::Unknown) && *of_unit != better {
            let (stated, usual) = match better {
                Better::Higher => ("more", "less"),
                _ => ("less", "more"),
            };
            self.notice(
                "direction-contradicts-unit",
                format!("{stated} is said to be better for {name} of {id}, but of `{unit}` {usual} usually is"),
                "set `better` in a rule if this is wrong",
            );
        }
        known.metric.better = better;
        known
    }

    /// Tells of a benchmark that has no value. It is judged as failed, never passed over.
    pub(super) fn fail(&mut self, id: &BenchmarkId, message: impl Into<String>) {
        let failure = Failure { id: id.clone(), message: message.into(), output: String::new() };
        self.current().failures.push(failure);
    }

    /// Tells of a benchmark that its own suite left out. It has no value, so it is missing where the other side has one.
    pub(super) fn skip(&mut self, id: &BenchmarkId, why: &str) {
        let of = if why.is_empty() { id.to_string() } else { format!("{id} ({why})") };
        let seen = "benchmarks skipped themselves";
        self.notice_each("skipped", seen, "they are gone where the other side has them", &of);
    }

    /// Tells that a run did not come to its end, so that what it holds can't be taken for the whole: the suite fails,
    /// or all of the run where it is not known. `why` names the line.
    pub(super) fn incomplete(&mut self, suite: &str, why: impl Into<String>) {
        let why = why.into();
        self.notice(
            "incomplete",
            format!("{}: {why}", self.file),
            "benchmarks may be missing; mend the bench, or give the whole output",
        );
        let id = self.id("", if suite.is_empty() { WHOLE_RUN } else { suite });
        self.fail(&id, format!("{why}; benchmarks may be missing, so measure again"));
    }

    /// Tells of something that does not stop the reading.
    pub(super) fn notice(
        &mut self,
        kind: &str,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let notice = Notice::new(kind, seen, advice);
        if self.told.insert(notice.clone()) {
            self.current().notices.push(notice);
        }
    }

    /// Tells the same of one more benchmark or line. All of a run are one notice, with their number and the first names.
    pub(super) fn notice_each(
        &mut self,
        kind: &'static str,
        seen: &'static str,
        advice: &'static str,
        of: &dyn fmt::Display,
    ) {
        self.folded.entry([kind, seen, advice]).or_default().push(of.to_string());
    }

    fn unfold(&mut self) {
        for ([kind, seen, advice], mut of) in std::mem::take(&mut self.folded) {
            of.dedup();
            let more = match of.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            of.truncate(NAMED);
            self.notice(kind, format!("{}: {seen}: {}{more}", self.file, of.join(", ")), advice);
        }
    }

    /// The runs in the order of the file; series sorted by benchmark. A file without a benchmark is an empty run, which
    /// is told.
    ///
    /// # Errors
    ///
    /// When there are more benchmarks than the limits allow.
    pub(super) fn finish(mut self, format: &str) -> Result<Vec<Made>> {
        if self.overfull {
            return Err(Error::judge(format!(
                "it holds more than {} benchmarks; give several files",
                self.options.limits.benchmarks
            )));
        }
        self.unfold();
        let found = self.runs.iter().any(|run| !run.series.is_empty() || !run.failures.is_empty());
        if !found {
            self.notice(
                "empty",
                format!("{} is {format} but holds no benchmark", self.file),
                "look at whether the run was filtered or cut off",
            );
        }
        for run in &mut self.runs {
            run.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
            run.failures.sort_by(|a, b| (&a.id, &a.message).cmp(&(&b.id, &b.message)));
            run.failures.dedup();
            run.notices.extend(copies::notices(&run.series));
        }
        let made = |(place, run)| Made { run, at_s: self.times.get(&place).copied() };
        Ok(self.runs.into_iter().enumerate().map(made).collect())
    }

    fn add(&mut self, id: &BenchmarkId, metric: &Metric, evidence: Evidence) {
        let place = self.place(id, metric);
        if place.is_some() && self.repeated == Repeated::Apart {
            return self.add_apart(id, metric, evidence);
        }
        let series = Series {
            id: id.clone(),
            metric: metric.clone(),
            experiment: Experiment::Imported,
            evidence,
            looks: Vec::new(),
        };
        if let Some(place) = place {
            self.current().series[place].append(series);
        } else if self.places.contains_key(id) || self.places.len() < self.options.limits.benchmarks
        {
            let place = self.current().series.len();
            self.places.entry(id.clone()).or_default().push((metric.clone(), place));
            self.current().series.push(series);
        } else {
            self.overfull = true;
        }
    }

    fn place(&self, id: &BenchmarkId, metric: &Metric) -> Option<usize> {
        let of_id = self.places.get(id)?;
        of_id.iter().find(|(of, _)| of == metric).map(|&(_, place)| place)
    }

    fn add_apart(&mut self, id: &BenchmarkId, metric: &Metric, evidence: Evidence) {
        self.notice_each(
            "duplicate-name",
            "benchmarks are there more than once; the later ones are called `#2` and so on",
            "give each a name of its own, or a new one in front shifts the others",
            id,
        );
        let numbers = self.numbers.entry(id.clone()).or_default();
        let given = numbers.iter().find(|(of, _)| of == metric).map_or(1, |&(_, number)| number);
        let called = |number: u32| BenchmarkId::new(&*id.suite, format!("{} #{number}", id.name));
        let number = (given + 1..)
            .find(|&number| self.place(&called(number), metric).is_none())
            .expect("numbers do not end");
        let numbers = self.numbers.entry(id.clone()).or_default();
        numbers.retain(|(of, _)| of != metric);
        numbers.push((metric.clone(), number));
        self.add(&called(number), metric, evidence);
    }
}

/// Facts of a machine that a file says anything of.
pub(super) fn facts<'a>(
    said: impl IntoIterator<Item = (&'a str, Option<Cow<'a, str>>)>,
) -> BTreeMap<String, String> {
    let known = said.into_iter().filter_map(|(fact, value)| Some((fact, value?)));
    known.map(|(fact, value)| (fact.to_owned(), value.into_owned())).collect()
}

/// A metric of a name of its own, in a unit as a tool wrote it. The direction is the unit's.
pub(super) fn named(name: &str, written_unit: &str) -> Known {
    let mut known = unit::understand(written_unit);
    known.metric.name = name.to_owned();
    known
}

/// The name of a metric that a user chose, kept apart from the names that readers give.
pub(super) fn own_name(name: &str) -> String {
    let given = ["time", "cpu-time", "throughput", "bytes", "allocations"];
    if given.contains(&name) { format!(":{name}") } else { name.to_owned() }
}

/// A count without a unit of its own: its name is its unit, and less is better.
pub(super) fn counted(name: &str) -> Known {
    Known {
        metric: Metric { name: name.to_owned(), unit: Unit::new(name), better: Better::Lower },
        factor: 1.0,
    }
}
