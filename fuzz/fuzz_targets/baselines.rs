//! Any text as a stored baseline and as accept records: no panic, and a baseline that is read is written and read again
//! as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::store::Limits;
use pacegate::store::accepted;
use pacegate::store::baseline::Baseline;

fuzz_target!(|text: &str| {
    let limits = Limits { benchmarks: 100, samples: 1000, bytes: 1 << 20 };
    if let Ok(baseline) = Baseline::parse(text, &limits)
        && let Ok(again) = baseline.to_text()
    {
        assert_eq!(Baseline::parse(&again, &limits), Ok(baseline));
    }
    let _ = accepted::parse(text, "accepted.yaml");
});
