//! Any bytes as the output of some tool: no panic, and what is read is finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::ingest::{Options, read_bytes};
use pacegate::model::Evidence;

fuzz_target!(|bytes: &[u8]| {
    for run in read_bytes("input", bytes.to_vec(), &Options::default()).unwrap_or_default() {
        for series in run.series {
            let finite = match series.evidence {
                Evidence::Sampled(launches) => launches
                    .iter()
                    .flat_map(|launch| launch.sample.values())
                    .all(|value| value.is_finite() && 0.0 <= value),
                Evidence::Summary(summaries) => summaries.iter().all(|s| s.score.is_finite()),
                Evidence::Exact(values) => values.iter().all(|value| value.is_finite()),
                Evidence::Scored(_) => unreachable!("no tool writes scores without samples"),
            };
            assert!(finite, "{}", series.id);
        }
    }
});
