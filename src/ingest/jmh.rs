//! Reads the JSON of the Java Microbenchmark Harness (`-rf json`) and of what imitates it.
//!
//! ```text
//! [{"benchmark": "org.example.Pack.read", "mode": "avgt", "threads": 1, "forks": 2, "measurementIterations": 3,
//!   "params": {"size": "512"},
//!   "primaryMetric": {"score": 3.41, "scoreError": 0.05 | "NaN", "scoreUnit": "us/op",
//!                     "rawData": [[3.4, 3.5, 3.4], [3.3, 3.4, 3.4]]},          a list for each fork
//!   "secondaryMetrics": {"gc.alloc.rate.norm": {"score": 24.0, .., "scoreUnit": "B/op", "rawData": ..}}},
//!  {.., "mode": "sample",
//!   "primaryMetric": {.., "rawDataHistogram": [[[[120, 4], [130, 1]], ..], ..]}}]   value and count, by iteration
//! ```
//!
//! A fork is a JVM of its own, hence a launch, and its iterations are its samples. Where the raw data was left out, the
//! score is a summary with JMH's error, half of a Student interval at 99.9 % over all iterations of all forks.
//! The name is the full one of the method, then its parameters and, unless it is one, the number of threads.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Format;
use super::found::{Found, Repeated, named, own_name};
use super::input::{Input, Number};
use super::unit::{self, Known};
use crate::error::Result;
use crate::model::{BenchmarkId, Better, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "JMH JSON",
    signs: &[
        "\"primaryMetric\"",
        "\"scoreUnit\"",
        "\"rawData\"",
        "\"jmhVersion\"",
        "\"secondaryMetrics\"",
    ],
    claims: |input| {
        input
            .outline()
            .is_some_and(|outline| outline.list && outline.has(&["benchmark", "primaryMetric"]))
    },
    read,
};

/// Confidence of the interval that JMH prints.
pub(super) const CONFIDENCE: f64 = 0.999;

/// The percentiles that are kept of a histogram. Beyond them, the few slowest calls of a fork decide.
const PERCENTILES: [&str; 5] = ["50", "90", "95", "99", "99.9"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JEntry {
    benchmark: String,
    #[serde(default)]
    mode: String,
    threads: Option<u32>,
    forks: Option<u32>,
    jdk_version: Option<String>,
    vm_name: Option<String>,
    measurement_iterations: Option<u32>,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    primary_metric: JMetric,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, JMetric>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JMetric {
    #[serde(default)]
    score: Number,
    #[serde(default)]
    score_error: Number,
    #[serde(default)]
    score_unit: String,
    #[serde(default)]
    score_percentiles: BTreeMap<String, Number>,
    #[serde(default)]
    raw_data: Vec<Vec<Number>>,
    /// Of each fork and iteration, values with how often they were seen.
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<(f64, u64)>>>,
}

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    found.repeated(Repeated::Launch);
    let rest = input.bulk("", |index, entry: JEntry| {
        let params = entry.params.iter().map(|(key, value)| match value {
            Value::String(value) => (key.as_str(), value.clone()),
            other => (key.as_str(), other.to_string()),
        });
        let name = full_name(&entry.benchmark, params, entry.threads.unwrap_or(1));
        let id = found.id("", &name);
        entry.primary(found, &id, index);
        for (label, metric) in &entry.secondary_metrics {
            entry.secondary(found, &id, label, metric);
        }
        let soft = &mut found.current().environment.soft;
        for (fact, value) in [("jdk", &entry.jdk_version), ("vm", &entry.vm_name)] {
            if let Some(value) = value {
                soft.insert(fact.into(), value.clone());
            }
        }
    })?;
    rest.json::<Vec<IgnoredAny>>()?;
    Ok(())
}

impl JEntry {
    fn primary(&self, found: &mut Found<'_>, id: &BenchmarkId, index: usize) {
        let metric = &self.primary_metric;
        let known = primary_metric(found, id, &self.mode, &metric.score_unit);
        let mut launches = 0;
        for (fork, values) in metric.raw_data.iter().enumerate() {
            let finite: Vec<f64> = values.iter().filter_map(|value| value.0).collect();
            if finite.len() < values.len() {
                let place = format!("[{index}].primaryMetric.rawData[{fork}]");
                found.fail(id, format!("{place} holds what is no number; measure again"));
                return;
            }
            if !finite.is_empty() {
                found.launch(id, &known, &finite);
                launches += 1;
            }
        }
        for fork in &metric.raw_data_histogram {
            let (counts, totals): (Vec<u64>, Vec<f64>) = fork
                .iter()
                .map(|i| (count(i), i.iter().map(|&(v, n)| v * n as f64).sum::<f64>()))
                .filter(|&(n, _)| n > 0)
                .unzip();
            if !counts.is_empty() {
                found.batches(id, &known, counts, &totals);
                launches += 1;
            }
        }
        if launches == 0 {
            let n = self
                .forks
                .unwrap_or(1)
                .max(1)
                .checked_mul(self.measurement_iterations.unwrap_or(0));
            let n = n.filter(|&n| self.mode != "sample" && n > 0);
            match metric.summary(n, self.forks.map(|forks| forks.max(1))) {
                Some(summary) => found.summary(id, &known, summary),
                None => found.fail(
                    id,
                    format!("[{index}].primaryMetric.score is no number; look at why it was not measured"),
                ),
            }
        }
        if self.mode == "sample" {
            self.percentiles(found, id);
        }
    }

    fn percentiles(&self, found: &mut Found<'_>, id: &BenchmarkId) {
        let metric = &self.primary_metric;
        let mut forks: Vec<Vec<(f64, u64)>> =
            metric.raw_data_histogram.iter().map(|f| f.concat()).collect();
        forks.retain(|fork| count(fork) > 0);
        for fork in &mut forks {
            fork.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        for percent in PERCENTILES {
            let Ok(share) = percent.parse::<f64>() else { continue };
            let known = named(&format!("p{percent}"), &metric.score_unit);
            for fork in &forks {
                found.launch_beside(id, &known, &[percentile(fork, share / 100.0)]);
            }
            let stated = metric
                .score_percentiles
                .iter()
                .find(|(key, _)| key.parse::<f64>().is_ok_and(|key| key == share));
            if let (true, Some((_, Number(Some(score))))) = (forks.is_empty(), stated) {
                let summary = Summary { score: *score, spread: None, n: None, launches: None };
                found.summary(id, &known, summary);
            }
        }
    }

    fn secondary(&self, found: &mut Found<'_>, id: &BenchmarkId, label: &str, metric: &JMetric) {
        // Percentiles are taken from the histogram, fork by fork.
        let Some(known) =
            secondary_metric(label, &metric.score_unit).filter(|_| percent(bare(label)).is_none())
        else {
            return;
        };
        let forks: Vec<Vec<f64>> = metric
            .raw_data
            .iter()
            .map(|fork| fork.iter().filter_map(|value| value.0).collect::<Vec<f64>>())
            .filter(|fork| !fork.is_empty())
            .collect();
        let n = forks.iter().map(Vec::len).sum::<usize>();
        let whole = n > 0 && n == metric.raw_data.iter().map(Vec::len).sum::<usize>();
        if whole && known.metric.name == ALLOCATED {
            for fork in &forks {
                let values: Vec<f64> =
                    fork.iter().map(|bytes| (bytes * 1e3).round() / 1e3).collect();
                found.exact_all(id, &known, &values);
            }
        } else if whole && metric.score_unit == self.primary_metric.score_unit {
            forks.iter().for_each(|fork| found.launch_beside(id, &known, fork));
        } else if let Some(summary) =
            metric.summary(u32::try_from(n).ok().filter(|&n| n > 0), self.forks.map(|n| n.max(1)))
        {
            found.summary(id, &known, summary);
        } else {
            found.notice(
                "no-value",
                format!("{id}: its secondary metric {label} is no number"),
                "it is left out",
            );
        }
    }
}

impl JMetric {
    fn summary(&self, n: Option<u32>, launches: Option<u32>) -> Option<Summary> {
        Some(Summary {
            score: self.score.0?,
            spread: self
                .score_error
                .0
                .map(|value| Spread::HalfWidth { value, confidence: CONFIDENCE }),
            n,
            launches,
        })
    }
}

/// The name with what tells it from its siblings: `org.example.Pack.read:size=512,threads=4`.
pub(super) fn full_name<K: AsRef<str>, V: AsRef<str>>(
    method: &str,
    params: impl IntoIterator<Item = (K, V)>,
    threads: u32,
) -> String {
    let mut parts: Vec<String> = params
        .into_iter()
        .map(|(key, value)| format!("{}={}", key.as_ref(), value.as_ref()))
        .collect();
    if threads != 1 {
        parts.push(format!("threads={threads}"));
    }
    if parts.is_empty() { method.to_owned() } else { format!("{method}:{}", parts.join(",")) }
}

/// What the score of a mode measures. The average, the sampled and the single-shot time of one method are different
/// metrics: warm and cold numbers are never compared.
pub(super) fn primary_metric(
    found: &mut Found<'_>,
    id: &BenchmarkId,
    mode: &str,
    written: &str,
) -> Known {
    let mut known = unit::understand(written);
    let stated = match mode {
        "thrpt" => Better::Higher,
        "avgt" | "sample" | "ss" => Better::Lower,
        _ => Better::Unknown,
    };
    if known.metric.better == Better::Unknown {
        known.metric.better = stated;
    } else if stated != Better::Unknown && stated != known.metric.better {
        found.notice(
            "direction-contradicts-unit",
            format!("{id} has the mode {mode} and the unit {written}"),
            "the unit is followed; look at which of them is wrong",
        );
    }
    match (mode, known.metric.name.as_str()) {
        ("sample", "time") => "sampled-time".clone_into(&mut known.metric.name),
        ("ss", "time") => "single-shot-time".clone_into(&mut known.metric.name),
        _ => {}
    }
    known
}

/// Bytes that an operation allocates.
const ALLOCATED: &str = "gc.alloc.rate.norm";

/// What a secondary result measures, under its label; none for a percentile that is not kept. Who allocates more a
/// second may just be faster, so the rates of a collector have no direction.
pub(super) fn secondary_metric(label: &str, written: &str) -> Option<Known> {
    let label = bare(label);
    if let Some(percent) = percent(label) {
        let kept = PERCENTILES.iter().find(|kept| kept.parse() == Ok(percent))?;
        return Some(named(&format!("p{kept}"), written));
    }
    let mut known = named(&own_name(label), written);
    if label.starts_with("gc.") && known.metric.better == Better::Higher {
        known.metric.better = Better::Unknown;
    }
    Some(known)
}

/// A label without what older versions put in front: `·gc.count`, `read·p0.50`.
fn bare(label: &str) -> &str {
    let label = label.rsplit('·').next().unwrap_or(label);
    label.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// 99.9 for `p0.999`.
fn percent(label: &str) -> Option<f64> {
    let share: f64 = label.strip_prefix('p')?.parse().ok().filter(|p| (0.0..=1.0).contains(p))?;
    Some((share * 1e6).round() / 1e4)
}

/// How many values a histogram holds.
fn count(counted: &[(f64, u64)]) -> u64 {
    counted.iter().fold(0, |sum, &(_, n)| sum.saturating_add(n))
}

/// The percentile of values with counts, ascending and not all zero: linear between neighbours of the rank
/// `share * (n + 1)`, as JMH computes it.
fn percentile(counted: &[(f64, u64)], share: f64) -> f64 {
    let n = count(counted) as f64;
    let at = |rank: f64| {
        let mut seen = 0;
        let reached = counted.iter().find(|&&(_, n)| {
            seen = n.saturating_add(seen);
            rank <= seen as f64
        });
        reached.or(counted.last()).map_or(0.0, |&(value, _)| value)
    };
    let position = (share * (n + 1.0)).max(1.0).min(n);
    let (low, high) = (at(position.floor()), at(position.ceil()));
    low + (position - position.floor()) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failures, notices, rows, run_of, survives, try_run_of};
    use super::percentile;

    fn entry(rest: &str, primary: &str, secondary: &str) -> String {
        format!(
            r#"{{"benchmark": "org.ex.Pack.read", {rest}, "primaryMetric": {{{primary}}}, "secondaryMetrics": {{{secondary}}}}}"#
        )
    }

    #[test]
    fn forks_are_launches_and_iterations_their_samples() {
        let text = entry(
            r#""jmhVersion": "1.37", "mode": "avgt", "threads": 4, "forks": 2, "jdkVersion": "21", "vmName": "Some VM",
               "params": {"size": "512", "kind": "\"a\", [b]"}"#,
            r#""score": 3.5, "scoreError": 0.05, "scoreConfidence": ["NaN", "NaN"], "scoreUnit": "us/op",
               "rawData": [[3.0, 4.0], [3.25, 3.75], []]"#,
            r#""·gc.alloc.rate": {"score": 900.5, "scoreError": "NaN", "scoreUnit": "MB/sec", "rawData": [[900.5]]},
               "·gc.alloc.rate.norm": {"score": 24.0, "scoreError": 0.001, "scoreUnit": "B/op",
                                       "rawData": [[24.0001, 24.00001], [24.0]]},
               "gc.count": {"score": 0.0, "scoreError": "NaN", "scoreUnit": "counts", "rawData": [[0.0, 0.0], [0.0, 0.0]]},
               "gc.time": {"score": 7.0, "scoreError": "NaN", "scoreUnit": "ms", "rawData": [[3.0, 4.0]]},
               "reader": {"score": 1.5, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[1.0], [2.0]]},
               "stack": {"score": "NaN", "scoreError": "NaN", "scoreUnit": "---", "rawData": [["NaN"]]}"#,
        );
        let run = run_of(&format!("[{text}]"));
        let id = r#"org.ex.Pack.read:kind="a", [b],size=512,threads=4"#;
        let expected = [
            "gc.alloc.rate B/s unknown score 900500000 n 1 of 2",
            "gc.alloc.rate.norm B lower exactly 24 exactly 24 exactly 24",
            "gc.count counts unknown score 0 n 4 of 2",
            "gc.time ns lower score 7000000 n 2 of 2",
            "reader ns lower [1000] [2000]",
            "time ns lower [3000 4000] [3250 3750]",
        ];
        assert_eq!(rows(&run), expected.map(|series| format!("{id} {series}")));
        assert_eq!(notices(&run), ["no-value"]);
        assert!(run.failures.is_empty());
        assert_eq!(run.environment.soft["jdk"], "21");
        survives(&format!("[{text}]"));
    }

    #[test]
    fn each_mode_has_its_own_metric_and_direction() {
        let check = |mode: &str, unit: &str, expected: &str, told: &[&str]| {
            let primary = format!(r#""score": 2, "scoreUnit": "{unit}", "rawData": [[2]]"#);
            let run =
                run_of(&format!("[{}]", entry(&format!(r#""mode": "{mode}""#), &primary, "")));
            assert_eq!(rows(&run), [format!("org.ex.Pack.read {expected}")]);
            assert_eq!(notices(&run), told, "{mode} {unit}");
        };
        check("thrpt", "ops/ms", "throughput ops/s higher [2000]", &[]);
        check("avgt", "ms/op", "time ns lower [2000000]", &[]);
        check("sample", "ns/op", "sampled-time ns lower [2]", &[]);
        check("ss", "s/op", "single-shot-time ns lower [2000000000]", &[]);
        check("thrpt", "furlongs", "furlongs furlongs higher [2]", &[]);
        check("thrpt", "ns/op", "time ns lower [2]", &["direction-contradicts-unit"]);
        check("avgt", "ops/s", "throughput ops/s higher [2]", &["direction-contradicts-unit"]);
    }

    #[test]
    fn throughput_and_time_of_one_suite_keep_their_directions() {
        let all = [("A.put", "thrpt", "ops/s"), ("A.get", "avgt", "ms/op")].map(|(name, mode, unit)| {
            format!(
                r#"{{"benchmark": "{name}", "mode": "{mode}", "primaryMetric": {{"score": 7, "scoreUnit": "{unit}", "rawData": [[7]]}}}}"#
            )
        });
        assert_eq!(
            rows(&run_of(&format!("[{}]", all.join(",")))),
            ["A.get time ns lower [7000000]", "A.put throughput ops/s higher [7]"]
        );
    }

    #[test]
    fn a_histogram_is_read_with_its_percentiles() {
        let histogram: Vec<String> = (1..=999).map(|ns| format!("[{ns}.0, 1]")).collect();
        let primary = format!(
            r#""score": 500, "scoreError": 9, "scorePercentiles": {{"0.0": 1, "50.0": 500, "99.0": 990}}, "scoreUnit": "ns/op",
               "rawDataHistogram": [[[{}]], [[[10.0, 3], [20.0, 1]], [[10.0, 1]]]]"#,
            histogram.join(",")
        );
        let secondary = r#""read·p0.50": {"score": 1, "scoreUnit": "ns/op", "rawData": [[1]]}"#;
        let run =
            run_of(&format!("[{}]", entry(r#""mode": "sample", "forks": 2"#, &primary, secondary)));
        assert_eq!(
            rows(&run),
            [
                "org.ex.Pack.read p50 ns lower [500] [10]",
                "org.ex.Pack.read p90 ns lower [900] [20]",
                "org.ex.Pack.read p95 ns lower [950] [20]",
                "org.ex.Pack.read p99 ns lower [990] [20]",
                "org.ex.Pack.read p99.9 ns lower [999] [20]",
                "org.ex.Pack.read sampled-time ns lower [500] [12.5 10]",
            ]
        );
        assert!(run.failures.is_empty() && run.notices.is_empty());
    }

    #[test]
    fn percentiles_of_counted_values() {
        assert_eq!(percentile(&[(7.0, 1)], 0.5), 7.0);
        assert_eq!(percentile(&[(1.0, 1), (3.0, 1)], 0.5), 2.0);
        assert_eq!(percentile(&[(1.0, 2), (3.0, u64::MAX)], 0.5), 3.0);
    }

    #[test]
    fn without_raw_data_the_score_is_a_summary() {
        let primary = r#""score": 3.5, "scoreError": 0.25, "scoreUnit": "ns/op", "rawData": []"#;
        let percentiles = r#""score": 3.5, "scoreError": "NaN", "scoreUnit": "ns/op", "scorePercentiles": {"50.0": 3.0, "100.0": 9}"#;
        let check = |rest: &str, primary: &str, expected: &[&str]| {
            assert_eq!(rows(&run_of(&format!("[{}]", entry(rest, primary, "")))), expected);
        };
        check(
            r#""mode": "avgt", "forks": 2, "measurementIterations": 5"#,
            primary,
            &["org.ex.Pack.read time ns lower score 3.5 ± 0.25 at 0.999 n 10 of 2"],
        );
        check(
            r#""mode": "avgt""#,
            primary,
            &["org.ex.Pack.read time ns lower score 3.5 ± 0.25 at 0.999"],
        );
        check(
            r#""mode": "sample", "forks": 0, "measurementIterations": 5"#,
            percentiles,
            &[
                "org.ex.Pack.read p50 ns lower score 3",
                "org.ex.Pack.read sampled-time ns lower score 3.5 of 1",
            ],
        );
    }

    #[test]
    fn what_is_no_number_fails_by_name() {
        let check = |primary: &str, message: &str| {
            let run = run_of(&format!("[{}]", entry(r#""mode": "avgt""#, primary, "")));
            assert_eq!(failures(&run), [format!("org.ex.Pack.read: {message}")]);
            assert!(run.series.is_empty());
        };
        let measure = "measure again";
        check(
            r#""score": "NaN", "scoreUnit": "ns/op", "rawData": [["NaN", 1.0]]"#,
            &format!("[0].primaryMetric.rawData[0] holds what is no number; {measure}"),
        );
        check(
            r#""score": NaN, "scoreUnit": "ns/op""#,
            "[0].primaryMetric.score is no number; look at why it was not measured",
        );
        check(
            r#""score": 0, "scoreUnit": "ns/op", "rawData": [[0, 0]]"#,
            "time: every total is zero, so nothing was measured",
        );
    }

    #[test]
    fn a_cut_file_says_where() {
        let whole =
            format!("[{}]", entry(r#""mode": "avgt""#, r#""score": 1, "scoreUnit": "ns/op""#, ""));
        let error = try_run_of(&whole[..100]).unwrap_err().to_string();
        assert!(error.contains("it begins as JSON, but EOF while parsing"), "{error}");
        let odd = whole.replace(r#""mode": "avgt""#, r#""mode": 5"#);
        let error = try_run_of(&odd).unwrap_err().to_string();
        assert!(
            error.contains("invalid type: integer `5`, expected a string at line 1"),
            "{error}"
        );
    }
}
