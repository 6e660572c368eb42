//! A run in words, for the tests of the readers.

use super::input::Input;
use super::{Options, read_input};
use crate::error::Result;
use crate::model::{Better, Evidence, Failure, Run, Series, Spread};

/// The runs that a text holds.
pub(super) fn runs(text: &str) -> Result<Vec<Run>> {
    let input = Input::decode("results".into(), text.as_bytes().to_vec())?;
    read_input(&input, &Options::default())
}

/// The one run that a text holds.
pub(super) fn run(text: &str) -> Run {
    let mut runs = runs(text).unwrap();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Why a text cannot be read.
pub(super) fn error(text: &str) -> String {
    runs(text).unwrap_err().to_string()
}

/// The kinds of a run's notices.
pub(super) fn kinds(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}

/// A line for each series and then each failure: `suite::name time ns lower [1 2] [3]`.
pub(super) fn lines(run: &Run) -> Vec<String> {
    let series = run.series.iter().map(|Series { id, metric, evidence, .. }| {
        let better = match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Unknown => "unknown",
        };
        let words: Vec<String> = match evidence {
            Evidence::Sampled(launches) => launches
                .iter()
                .map(|launch| {
                    let values: Vec<String> =
                        launch.sample.values().iter().map(f64::to_string).collect();
                    format!("[{}]", values.join(" "))
                })
                .collect(),
            Evidence::Summary(summaries) => summaries
                .iter()
                .map(|summary| {
                    let mut words = format!("score {}", summary.score);
                    match summary.spread {
                        None => {}
                        Some(Spread::StandardDeviation(sd)) => words += &format!(" sd {sd}"),
                        Some(Spread::StandardError(se)) => words += &format!(" se {se}"),
                        Some(Spread::HalfWidth { value, confidence }) => {
                            words += &format!(" ± {value} at {confidence}");
                        }
                    }
                    words += &summary.n.map_or(String::new(), |n| format!(" n {n}"));
                    words += &summary.launches.map_or(String::new(), |n| format!(" of {n}"));
                    words
                })
                .collect(),
            Evidence::Exact(values) => {
                values.iter().map(|value| format!("exactly {value}")).collect()
            }
        };
        format!("{id} {} {} {better} {}", metric.name, metric.unit, words.join(" "))
    });
    let failures =
        run.failures.iter().map(|Failure { id, message, .. }| format!("{id} failed: {message}"));
    series.chain(failures).collect()
}
