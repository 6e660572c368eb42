//! What the tests of the readers share: a text in, a run in words out.

use super::{Options, read_bytes};
use crate::error::Result;
use crate::model::{Better, Evidence, Run, Series, Spread};

/// The runs that a text holds, by whichever format claims it.
pub(super) fn runs(text: &str) -> Result<Vec<Run>> {
    read_bytes("results", text.as_bytes().to_vec(), &Options::default())
}

/// The first run that a text holds.
pub(super) fn try_run_of(text: &str) -> Result<Run> {
    Ok(runs(text)?.swap_remove(0))
}

/// The one run that a text holds.
#[track_caller]
pub(super) fn run_of(text: &str) -> Run {
    let mut runs = runs(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Why a text cannot be read.
#[track_caller]
pub(super) fn error(text: &str) -> String {
    runs(text).expect_err("refused").to_string()
}

/// A line for each series: `suite::name time ns lower [1 2] [3]`, where a bracket is a launch.
pub(super) fn rows(run: &Run) -> Vec<String> {
    run.series.iter().map(row).collect()
}

/// A line for each benchmark that failed: `suite::name: message`.
pub(super) fn failures(run: &Run) -> Vec<String> {
    run.failures.iter().map(|failure| format!("{}: {}", failure.id, failure.message)).collect()
}

/// A line for each series and then each failure: `suite::name failed: message`.
pub(super) fn lines(run: &Run) -> Vec<String> {
    let failures = run.failures.iter();
    let failures = failures.map(|failure| format!("{} failed: {}", failure.id, failure.message));
    rows(run).into_iter().chain(failures).collect()
}

/// The kinds of a run's notices.
pub(super) fn notices(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}

/// Reads every beginning, every end and every gap of a text: whatever is said of them, nothing panics.
pub(super) fn survives(text: &str) {
    for (at, c) in text.char_indices() {
        let (before, from) = text.split_at(at);
        let after = from.get(c.len_utf8()..).unwrap_or_default();
        for mangled in
            [before, from, &[before, after].concat(), &[before, "9,\u{b1}:-", after].concat()]
        {
            let _ = runs(mangled);
        }
    }
}

fn row(series: &Series) -> String {
    let Series { id, metric, evidence, .. } = series;
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Unknown => "unknown",
    };
    let words: Vec<String> = match evidence {
        Evidence::Sampled(launches) => launches
            .iter()
            .map(|launch| {
                let values: Vec<String> = launch.sample.values().into_iter().map(short).collect();
                format!("[{}]", values.join(" "))
            })
            .collect(),
        Evidence::Summary(summaries) => summaries
            .iter()
            .map(|summary| {
                let spread = match summary.spread {
                    None => String::new(),
                    Some(Spread::StandardDeviation(sd)) => format!(" sd {}", short(sd)),
                    Some(Spread::StandardError(se)) => format!(" se {}", short(se)),
                    Some(Spread::HalfWidth { value, confidence }) => {
                        format!(" ± {} at {confidence}", short(value))
                    }
                };
                let said = |what: &str, count: Option<u32>| {
                    count.map_or_else(String::new, |count| format!(" {what} {count}"))
                };
                let (n, launches) = (said("n", summary.n), said("of", summary.launches));
                format!("score {}{spread}{n}{launches}", short(summary.score))
            })
            .collect(),
        Evidence::Scored(scores) => {
            scores.iter().map(|launch| format!("scored {}", short(launch.score))).collect()
        }
        Evidence::Exact(values) => {
            values.iter().map(|&value| format!("exactly {}", short(value))).collect()
        }
    };
    format!("{id} {} {} {better} {}", metric.name, metric.unit, words.join(" "))
}

/// A number without the dust of scaling.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().expect("just printed");
    rounded.to_string()
}
