//! What was measured, written down as runs: one for each arm.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::measure::session::{Benchmark, Pair, Series as Measured};
use crate::measure::{self, Failed};
use crate::model::{
    Arm, BenchmarkId, Better, Evidence, Experiment, Failure, Launch, Look, Metric, Notice, Run,
    Series, Unit, Usage,
};

/// A benchmark as the session launches it: where it stands in the suite, and which arms hold it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: BenchmarkId,
    /// The arms that are launched, in the order of the session's executables.
    pub(super) arms: Vec<Arm>,
    pub(super) benchmark: Benchmark,
}

/// Adds everything that was measured to the runs of its arms. A bench may tell the exact metrics of all its benchmarks
/// at every start; those of benchmarks that nobody `wants` are not heard.
pub(super) fn record(
    runs: &mut BTreeMap<Arm, Run>,
    entries: &[Entry],
    measured: &[Measured],
    planned: &[Look],
    wants: &dyn Fn(&BenchmarkId) -> bool,
) {
    let mut exact = ExactMetrics::default();
    for (entry, measured) in entries.iter().zip(measured) {
        for (place, &arm) in entry.arms.iter().enumerate() {
            let Some(run) = runs.get_mut(&arm) else { continue };
            if let Some(failed) = measured.failed.as_ref().filter(|failed| failed.arm == place) {
                run.failures.push(failure(&entry.id, &failed.failed));
                continue;
            }
            let launches: Vec<Launch> =
                measured.pairs.iter().map(|pair| launch(pair, place)).collect();
            for pair in &measured.pairs {
                exact.read(arm, &entry.id, &pair.launches[place].metrics);
            }
            if launches.is_empty() {
                continue;
            }
            run.series.push(Series {
                id: entry.id.clone(),
                metric: Metric::time(),
                experiment: measured.choice.as_ref().map_or(Experiment::Plain, |c| c.experiment),
                evidence: Evidence::Sampled(launches),
                looks: looks(&measured.looks, planned),
            });
        }
    }
    exact.settle(runs, wants);
    for run in runs.values_mut() {
        run.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
        run.failures.sort_by(|a, b| a.id.cmp(&b.id));
    }
}

/// A benchmark that failed, with what it said last.
pub(super) fn failure(id: &BenchmarkId, failed: &Failed) -> Failure {
    Failure { id: id.clone(), message: failed.message.clone(), output: failed.last_output.clone() }
}

fn launch(pair: &Pair, place: usize) -> Launch {
    let measure::Launch { sample, usage, .. } = &pair.launches[place];
    let seconds = |ns: u64| ns as f64 / 1e9;
    Launch {
        pair: pair.round as u32,
        sample: sample.clone(),
        usage: Some(Usage {
            wall_s: seconds(usage.wall_ns),
            cpu_s: seconds(usage.cpu_ns),
            wait_s: seconds(usage.run_queue_wait_ns),
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            cpu: pair.cpus.first().map_or(0, |&cpu| cpu as u32),
        }),
    }
}

/// Gives each look that was taken its weight. A look that was not planned ended the looking, so it may spend
/// whatever is left.
fn looks(taken: &[usize], planned: &[Look]) -> Vec<Look> {
    let mut left = 1.0;
    taken
        .iter()
        .enumerate()
        .map(|(index, &pairs)| {
            let pairs = pairs as u32;
            let plan = planned.get(index).filter(|look| look.pairs == pairs);
            let weight = plan.map_or(left, |look| look.weight);
            left -= weight;
            Look { pairs, weight }
        })
        .collect()
}

/// Exact metrics that benches wrote: one value for each launch that told it.
#[derive(Default)]
struct ExactMetrics {
    values: BTreeMap<(Arm, BenchmarkId, String, String), Told>,
    faults: BTreeMap<Arm, BTreeSet<Notice>>,
}

/// What launches said of one metric. A launch of another benchmark is heard only where none of this one's own says
/// anything.
#[derive(Default)]
struct Told {
    own: Vec<f64>,
    other: Vec<f64>,
}

/// A line of the file that `PACEGATE_METRICS` names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricLine {
    id: String,
    metric: String,
    unit: String,
    value: f64,
}

impl ExactMetrics {
    /// Takes the lines of one launch; equal lines are one.
    fn read(&mut self, arm: Arm, launched: &BenchmarkId, lines: &[String]) {
        let lines: BTreeSet<&String> = lines.iter().collect();
        for line in lines {
            match serde_json::from_str::<MetricLine>(line) {
                Ok(told) if told.value.is_finite() => {
                    let id = BenchmarkId::new(launched.suite.clone(), told.id);
                    let own = id == *launched;
                    let values = self.values.entry((arm, id, told.metric, told.unit)).or_default();
                    let values = if own { &mut values.own } else { &mut values.other };
                    values.push(told.value);
                }
                Ok(_) => self.fault(arm, launched, line, "its value is not finite"),
                Err(error) => self.fault(arm, launched, line, &error.to_string()),
            }
        }
    }

    fn fault(&mut self, arm: Arm, launched: &BenchmarkId, line: &str, why: &str) {
        self.faults.entry(arm).or_default().insert(Notice::new(
            "metric-line",
            format!("{launched} wrote a metric that cannot be read: {line}: {why}"),
            "write one JSON object a line: {\"id\", \"metric\", \"unit\", \"value\"}",
        ));
    }

    fn settle(self, runs: &mut BTreeMap<Arm, Run>, wants: &dyn Fn(&BenchmarkId) -> bool) {
        for ((arm, id, name, unit), told) in self.values {
            if !wants(&id) {
                continue;
            }
            let values = if told.own.is_empty() { told.other } else { told.own };
            let Some(run) = runs.get_mut(&arm) else { continue };
            let unit = Unit::new(unit);
            let better = unit.better().unwrap_or(Better::Unknown);
            run.series.push(Series {
                id,
                metric: Metric { name, unit, better },
                experiment: Experiment::Plain,
                evidence: Evidence::Exact(values),
                looks: Vec::new(),
            });
        }
        for (arm, faults) in self.faults {
            if let Some(run) = runs.get_mut(&arm) {
                run.notices.extend(faults);
            }
        }
    }
}
