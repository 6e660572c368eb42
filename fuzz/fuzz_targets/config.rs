//! Any text as pacegate.yaml: no panic, and what is accepted keeps the promises of the policy.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::config::Config;

fuzz_target!(|text: &str| {
    if let Ok(config) = Config::parse(text, "pacegate.yaml") {
        let policy = &config.policy;
        assert!((0.001..=1.0).contains(&policy.tolerance));
        assert!(policy.compile().is_ok());
        for looks in config.profiles.values().map(|p| &p.looks).chain([&policy.looks]) {
            let sum: f64 = looks.iter().map(|look| look.weight).sum();
            assert!((sum - 1.0).abs() < 1e-6);
            assert!(looks.windows(2).all(|pair| pair[0].pairs < pair[1].pairs));
        }
    }
});
