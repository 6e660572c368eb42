//! What the tests of the readers share: a text in, one line for each series out.

use super::input::Input;
use super::{Options, read_input};
use crate::error::Result;
use crate::model::{Better, Evidence, Run, Spread};

/// Reads a text as a file called `file`.
pub(in crate::ingest) fn try_read(text: &str) -> Result<Run> {
    let input = Input::decode("file".into(), text.as_bytes().to_vec())?;
    Ok(read_input(&input, &Options::default())?.swap_remove(0))
}

/// Reads a text that is one run.
pub(in crate::ingest) fn read(text: &str) -> Run {
    try_read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Every series: benchmark, metric with unit, direction (`<` less is better, `>` more, `?` unknown) and evidence.
pub(in crate::ingest) fn shown(run: &Run) -> Vec<String> {
    let series = run.series.iter().map(|series| {
        let metric = &series.metric;
        let better = match metric.better {
            Better::Lower => "<",
            Better::Higher => ">",
            Better::Unknown => "?",
        };
        let evidence = match &series.evidence {
            Evidence::Sampled(launches) => {
                let values = launches.iter().map(|launch| format!("{:?}", launch.sample.values()));
                format!("launches {}", values.collect::<Vec<_>>().join(" "))
            }
            Evidence::Exact(values) => format!("exact {values:?}"),
            Evidence::Summary(summaries) => {
                let values = summaries.iter().map(|summary| {
                    let spread = match summary.spread {
                        None => String::new(),
                        Some(Spread::StandardDeviation(value)) => format!(" sd {value}"),
                        Some(Spread::StandardError(value)) => format!(" se {value}"),
                        Some(Spread::HalfWidth { value, confidence }) => {
                            format!(" ±{value} at {confidence}")
                        }
                    };
                    let said = |what: &str, count: Option<u32>| {
                        count.map_or_else(String::new, |count| format!(" {what} {count}"))
                    };
                    let (n, launches) = (said("n", summary.n), said("launches", summary.launches));
                    format!("{}{spread}{n}{launches}", summary.score)
                });
                format!("summary {}", values.collect::<Vec<_>>().join(", "))
            }
        };
        format!("{} {} [{}] {better} {evidence}", series.id, metric.name, metric.unit)
    });
    series.collect()
}

/// Benchmarks that failed, with the message.
pub(in crate::ingest) fn failed(run: &Run) -> Vec<String> {
    run.failures.iter().map(|failure| format!("{}: {}", failure.id, failure.message)).collect()
}

/// The kinds of what is told.
pub(in crate::ingest) fn told(run: &Run) -> Vec<&str> {
    run.notices.iter().map(|notice| notice.kind.as_str()).collect()
}

/// Reads every beginning, every end and every gap of a text: whatever is said of them, nothing panics.
pub(in crate::ingest) fn survives(text: &str) {
    for (at, c) in text.char_indices() {
        let (before, from) = text.split_at(at);
        let after = from.get(c.len_utf8()..).unwrap_or_default();
        for mangled in
            [before, from, &[before, after].concat(), &[before, "9,\u{b1}:-", after].concat()]
        {
            let _ = try_read(mangled);
        }
    }
}
