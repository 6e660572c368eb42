//! Any bytes as criterion's files: no panic, and a sample that is read keeps the promises of its type.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::ingest::criterion::{Interval, mean_from_slice, sample_from_slice};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(sample) = sample_from_slice(bytes, 1000) {
        assert_eq!(sample.iters().len(), sample.totals().len());
        assert!(sample.values().iter().all(|value| value.is_finite() && 0.0 <= *value));
    }
    if let Ok(summary) = mean_from_slice(bytes, Interval::Checked) {
        assert!(0.0 < summary.score && summary.score.is_finite());
    }
});
