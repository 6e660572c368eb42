//! Prints what the samples study would say of an evidence file: the mean over launches without the extreme twentieth on
//! each side. Of a thousand launches that drops the fifty fastest and the fifty slowest.
//!
//! ```text
//! pacegate run --profile study
//! cargo run --release --example trimmed_mean -- target/pacegate/evidence.jsonl.zst
//! ```
//!
//! The error beside it is Yuen's, as if launches were independent. How far they are not tells the last column, the correlation of
//! a launch with the next one; the study's own launches show 0.2 to 0.5.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;

use pacegate::ingest::{self, Options, Spec};
use pacegate::model::Evidence;
use pacegate::stats::summary::autocorrelation;
use pacegate::stats::trimmed::{cut, trimmed};
use pacegate::stats::{Statistic, launch_score};

/// What the study cut on each side.
const SHARE: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let input = std::env::args().nth(1).ok_or("usage: trimmed_mean EVIDENCE[:ARM]")?;
    println!(
        "{:48} {:>8} {:>5} {:>15} {:>8} {:>6}",
        "benchmark", "launches", "kept", "trimmed mean ns", "± error", "lag 1"
    );
    for series in ingest::read(&Spec::parse(&input), &Options::default())?.series {
        let Evidence::Sampled(launches) = &series.evidence else { continue };
        let scores: Vec<f64> = launches
            .iter()
            .map(|launch| launch_score(&launch.sample.values(), Statistic::Mean))
            .collect();
        let Some(center) = trimmed(&scores, cut(scores.len(), SHARE)) else { continue };
        let error = center.squared_error().map_or(f64::NAN, |(squared, _)| squared.sqrt());
        println!(
            "{:48} {:8} {:5} {:15.1} {error:8.1} {:6.2}",
            series.id.to_string(),
            center.count,
            center.kept,
            center.mean,
            autocorrelation(&scores, 1)
        );
    }
    Ok(())
}
