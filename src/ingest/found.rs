//! What a reader found in a file, put together to runs: the one place that names, merges and counts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Options;
use super::copies;
use super::unit::{self, Known};
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

/// Collects the benchmarks of a file.
pub(in crate::ingest) struct Found<'a> {
    options: &'a Options,
    repeated: Repeated,
    runs: Vec<Run>,
    places: BTreeMap<(BenchmarkId, Metric), usize>,
}

impl<'a> Found<'a> {
    /// Starts with one empty run.
    pub(super) fn new(options: &'a Options) -> Self {
        Found {
            options,
            repeated: Repeated::Apart,
            runs: vec![Run::default()],
            places: BTreeMap::new(),
        }
    }

    /// Says what a second value of one benchmark is in this format.
    pub(super) fn repeated(&mut self, repeated: Repeated) {
        self.repeated = repeated;
    }

    /// Begins the next run of a history; the values that follow belong to it.
    pub(super) fn next_run(&mut self, revision: Revision) {
        let current = self.current();
        if !current.series.is_empty() || !current.failures.is_empty() || current.revision.is_some()
        {
            self.runs.push(Run::default());
        }
        self.current().revision = Some(revision);
        self.places.clear();
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
            self.notice(
                "cut-name",
                format!("`{id}` was cut off where it was printed"),
                "two long names may become one; give the benchmark a shorter name",
            );
        }
        if position.is_some_and(|position| position > 1) {
            self.notice(
                "positional-name",
                format!("only its position tells `{id}` from others of its name"),
                "a new benchmark in front of it shifts it; give each a name of its own",
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
        let failures = &mut self.current().failures;
        if !failures.contains(&failure) {
            failures.push(failure);
        }
    }

    /// Tells that a log has the marks of a crash, so that results may be missing from it. The suite fails as a
    /// whole: what is not there must not pass.
    pub(super) fn incomplete_suite(&mut self, suite: &str, seen: impl Into<String>) {
        let seen = seen.into();
        let id = self.id("", if suite.is_empty() { WHOLE_RUN } else { suite });
        self.notice(
            "incomplete",
            &*seen,
            "results may be missing; mend it and run the whole suite",
        );
        self.fail(&id, seen);
    }

    /// Tells that the run did not come to its end, so that what it holds can't be taken for the whole suite. `why`
    /// names the line.
    pub(super) fn incomplete(&mut self, file: &str, why: &str) {
        self.notice(
            "incomplete",
            format!("{file}: {why}"),
            "benchmarks may be missing; mend the bench, or give the whole output",
        );
        let run = self.id("", WHOLE_RUN);
        self.fail(&run, format!("{why}; benchmarks may be missing, so measure again"));
    }

    /// Tells of something that does not stop the reading.
    pub(super) fn notice(
        &mut self,
        kind: &str,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let notice = Notice::new(kind, seen, advice);
        let notices = &mut self.current().notices;
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    /// The runs in the order of the file; series sorted by benchmark. A file without a benchmark is an empty run, which
    /// is told.
    ///
    /// # Errors
    ///
    /// When there are more benchmarks than the limits allow.
    pub(super) fn finish(mut self, file: &str, format: &str) -> Result<Vec<Run>> {
        let found = self.runs.iter().any(|run| !run.series.is_empty() || !run.failures.is_empty());
        if !found {
            self.notice(
                "empty",
                format!("{file} is {format} but holds no benchmark"),
                "look at whether the run was filtered or cut off",
            );
        }
        for run in &mut self.runs {
            if run.series.len() > self.options.limits.benchmarks {
                return Err(Error::judge(format!(
                    "it holds {} benchmarks; the limit is {}, give several files",
                    run.series.len(),
                    self.options.limits.benchmarks
                )));
            }
            run.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
            run.failures.sort_by(|a, b| (&a.id, &a.message).cmp(&(&b.id, &b.message)));
            run.notices.extend(copies::notices(&run.series));
        }
        Ok(self.runs)
    }

    fn add(&mut self, id: &BenchmarkId, metric: &Metric, evidence: Evidence) {
        let key = (id.clone(), metric.clone());
        let place = match self.places.get(&key) {
            Some(&place) if self.repeated == Repeated::Launch => place,
            Some(_) => return self.add_apart(id, metric, evidence),
            None => {
                let place = self.current().series.len();
                self.places.insert(key, place);
                self.current().series.push(Series {
                    id: id.clone(),
                    metric: metric.clone(),
                    experiment: Experiment::Imported,
                    evidence,
                    looks: Vec::new(),
                });
                return;
            }
        };
        let series = &mut self.current().series[place];
        let further = Series { evidence, ..series.clone() };
        series.append(further);
    }

    fn add_apart(&mut self, id: &BenchmarkId, metric: &Metric, evidence: Evidence) {
        let number = (2..)
            .find(|number| {
                let apart = BenchmarkId::new(&*id.suite, format!("{} #{number}", id.name));
                !self.places.contains_key(&(apart, metric.clone()))
            })
            .expect("numbers do not end");
        self.notice(
            "duplicate-name",
            format!("{id} is there more than once; the later ones are called `#2` and so on"),
            "give each benchmark a name of its own, or a new one in front shifts the others",
        );
        let apart = BenchmarkId::new(&*id.suite, format!("{} #{number}", id.name));
        self.add(&apart, metric, evidence);
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
