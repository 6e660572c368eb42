//! What the readers' tests share: a text read as if it came from a file, and a run in words.

use super::input::Input;
use super::{Options, read_input};
use crate::model::{Better, Evidence, Run, Series, Spread};

/// The one run of a text, by whichever format claims it.
pub(super) fn run(text: &str) -> Run {
    let mut runs = read(text).expect("a known format");
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// What is said when a text is refused.
pub(super) fn refused(text: &str) -> String {
    read(text).expect_err("refused").to_string()
}

fn read(text: &str) -> crate::error::Result<Vec<Run>> {
    let input = Input::decode("results".into(), text.as_bytes().to_vec())?;
    read_input(&input, &Options::default())
}

/// Each series on a line: `suite::name | metric unit better | evidence`.
pub(super) fn rows(run: &Run) -> Vec<String> {
    run.series.iter().map(row).collect()
}

fn row(series: &Series) -> String {
    let Series { id, metric, .. } = series;
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Unknown => "?",
    };
    let evidence = match &series.evidence {
        Evidence::Sampled(launches) => {
            let values: Vec<String> =
                launches.iter().map(|launch| format!("{:?}", launch.sample.values())).collect();
            format!("samples {}", values.join(" "))
        }
        Evidence::Summary(summaries) => {
            let values: Vec<String> = summaries
                .iter()
                .map(|summary| {
                    let spread = match summary.spread {
                        None => String::new(),
                        Some(Spread::StandardDeviation(value)) => format!(" sd {}", short(value)),
                        Some(Spread::StandardError(value)) => format!(" se {}", short(value)),
                        Some(Spread::HalfWidth { value, confidence }) => {
                            format!(" ± {} at {confidence}", short(value))
                        }
                    };
                    let n = summary.n.map(|n| format!(" n {n}")).unwrap_or_default();
                    format!("{}{spread}{n}", short(summary.score))
                })
                .collect();
            format!("summary {}", values.join(", "))
        }
        Evidence::Exact(values) => format!("exact {values:?}"),
    };
    format!("{id} | {} {} {better} | {evidence}", metric.name, metric.unit)
}

/// A number without the dust of scaling.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().expect("just printed");
    rounded.to_string()
}

/// Each failure on a line: `suite::name: message`.
pub(super) fn failures(run: &Run) -> Vec<String> {
    run.failures.iter().map(|failure| format!("{}: {}", failure.id, failure.message)).collect()
}

/// The kinds of the notices.
pub(super) fn notices(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}
