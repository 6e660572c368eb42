//! What `pacegate.yaml` says, and what is said about its mistakes.

use std::time::Duration;

use pacegate::config::{Config, DEFAULT_PROFILE, LaunchSettings};
use pacegate::error::ErrorKind;
use pacegate::gate::{
    Correction, ExactTolerance, ExperimentChoice, Gated, Missing, Noisy, OnInconclusive, Policy,
    Trust,
};
use pacegate::model::{Better, Look};
use pacegate::stats::Statistic;
use proptest::prelude::*;

#[test]
fn nothing_means_the_defaults() {
    for text in ["", "~\n", "# nothing yet\n", "tolerance:\nrules:\n", "---\n"] {
        assert_eq!(Config::parse(text, "pacegate.yaml"), Ok(Config::default()), "{text:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Config::read(&folder.path().join("pacegate.yaml")), Ok(Config::default()));
    let config = Config::default();
    assert_eq!(config.policy, Policy::default());
    assert_eq!(config.profiles[DEFAULT_PROFILE].looks, config.policy.looks);
}

#[test]
fn every_key_is_read() {
    let config = Config::parse(
        r#"
tolerance: 0.5 %
alpha: 0.01
alpha_pass: 0.1
correction: holm
statistic: trimmed(0.2)
min_launches: 4
looks: [5, 10, 20, 40]
missing: warn
on_inconclusive: fail
noisy: raise_tolerance
trust: samples
exact:
  instructions: 1%
  B: 0.5% and 64 B
  allocations: 3 allocations
rules:
  - match: "parse/*"
    metric: time
    tolerance: 5%
    better: lower
    gate: no
    experiment: turnstile
experiment: corun
profiles:
  quick:
    benchmarks: ["parse/*"]
    looks: [5, 10]
    weights: [0.25, 0.75]
    budget: 3m
    launch: {warm_up: 50ms, measurement: 1.5s, samples: 40}
    cpus: [2, 3]
build:
  packages: [parser]
  features: [fast]
  default_features: false
  profile: release
  benches: [parse]
env: [LANG]
default_branch: trunk
"#,
        "pacegate.yaml",
    )
    .unwrap();
    let policy = &config.policy;
    assert_eq!(
        (policy.tolerance, policy.alpha, policy.alpha_pass, policy.min_launches),
        (0.005, 0.01, 0.1, 4)
    );
    assert_eq!(policy.correction, Correction::Holm);
    assert_eq!(policy.statistic, Statistic::Trimmed(0.2));
    let weights: Vec<f64> = policy.looks.iter().map(|look| look.weight).collect();
    assert_eq!(weights, [0.15, 0.2, 0.25, 0.4]);
    assert_eq!(
        (policy.missing, policy.on_inconclusive, policy.noisy, policy.trust),
        (Missing::Warn, OnInconclusive::Fail, Noisy::RaiseTolerance, Trust::Samples)
    );
    let exact = |unit: &str| policy.exact[unit];
    assert_eq!(exact("instructions"), ExactTolerance { relative: 0.01, absolute: 0.0 });
    assert_eq!(exact("B"), ExactTolerance { relative: 0.005, absolute: 64.0 });
    assert_eq!(exact("allocations"), ExactTolerance { relative: 0.0, absolute: 3.0 });
    let rule = &policy.rules[0];
    assert_eq!((rule.pattern.as_str(), rule.metric.as_deref()), ("parse/*", Some("time")));
    assert_eq!((rule.tolerance, rule.better), (Some(0.05), Some(Better::Lower)));
    assert_eq!((rule.gate, rule.experiment), (Some(Gated::No), Some(ExperimentChoice::Turnstile)));
    assert_eq!(config.experiment, ExperimentChoice::Corun);
    let quick = &config.profiles["quick"];
    assert_eq!(quick.looks, [Look { pairs: 5, weight: 0.25 }, Look { pairs: 10, weight: 0.75 }]);
    assert_eq!(quick.budget, Some(Duration::from_secs(180)));
    assert_eq!(
        quick.launch,
        LaunchSettings {
            warm_up: Duration::from_millis(50),
            measurement: Duration::from_millis(1500),
            samples: 40
        }
    );
    assert_eq!((quick.benchmarks.len(), quick.cpus.as_slice()), (1, [2, 3].as_slice()));
    assert_eq!(config.profiles[DEFAULT_PROFILE].looks, policy.looks);
    assert_eq!(config.build.profile.as_deref(), Some("release"));
    assert!(!config.build.default_features);
    assert_eq!((config.env, config.default_branch), (vec!["LANG".into()], Some("trunk".into())));
}

#[test]
fn other_numbers_of_looks_are_weighted_by_their_pairs() {
    let config = Config::parse("looks: [5, 15]", "pacegate.yaml").unwrap();
    let weights: Vec<f64> = config.policy.looks.iter().map(|look| look.weight).collect();
    assert_eq!(weights, [0.25, 0.75]);
}

#[test]
fn percentages_are_the_nearest_doubles() {
    for (text, fraction) in [("0.1%", 0.001), ("2%", 0.02), ("0.7 %", 0.007), ("100%", 1.0)] {
        let config = Config::parse(&format!("tolerance: {text}"), "pacegate.yaml").unwrap();
        assert_eq!(config.policy.tolerance.to_bits(), f64::to_bits(fraction), "{text}");
    }
}

#[test]
fn a_mistake_is_shown_in_its_line() {
    let error = Config::parse("alpha: 0.05\ntolerence: 2%\n", "pacegate.yaml").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.kind().exit_code(), 2);
    assert_eq!(
        error.to_string(),
        "pacegate.yaml:2:1: unknown key `tolerence`; did you mean `tolerance`?
  |
2 | tolerence: 2%
  | ^^^^^^^^^"
    );
}

/// One mistake: the text, its place, and how the message begins.
#[track_caller]
fn check(text: &str, place: &str, message: &str) {
    let error = Config::parse(text, "p").expect_err(text).to_string();
    let first = error.lines().next().unwrap_or_default();
    let expected = format!("p:{place}: {message}");
    assert!(first.starts_with(&expected), "{text:?}\n wanted {expected}\n got    {first}");
}

#[test]
fn every_mistake_has_a_place_and_a_way_out() {
    check("tolerance: 2", "1:12", "`2` has no unit; write 2%");
    check("tolerance: 0.02", "1:12", "`0.02` has no unit; write 0.02%, or 2% if it is a fraction");
    check("tolerance: 200%", "1:12", "`200%` is outside 0.1% to 100%; write for example 2%");
    check("tolerance: 0.05%", "1:12", "`0.05%` is outside 0.1% to 100%");
    check("tolerance: -2%", "1:12", "`-2%` is no percentage; write for example 2%");
    check("tolerance: nan%", "1:12", "`nan%` is no percentage");
    check("tolerance: [1]", "1:12", "a single value belongs here");
    check("alpha: 5%", "1:8", "`5%` is no chance above 0 and up to 0.5; write for example 0.05");
    check("alpha: 0", "1:8", "`0` is no chance");
    check("alpha: 0.51", "1:8", "`0.51` is no chance");
    check("statistic: trimmed(0.5)", "1:12", "`trimmed(0.5)` is no statistic; write median");
    check("missing: wrn", "1:10", "unknown value `wrn`; did you mean `warn`?");
    check("missing: no", "1:10", "unknown value `no`; write one of `fail`, `warn`");
    check("min_launches: 1", "1:15", "one launch has no spread");
    check("min_launches: -1", "1:15", "a whole number belongs here");
    check("looks: [10, 5]", "1:8", "5 does not come after 10; write the looks ascending");
    check("looks: [5, 5]", "1:8", "5 does not come after 5");
    check("looks: []", "1:8", "no look");
    check("looks: [5, x]", "1:12", "a whole number belongs here");
    check("looks: 5", "1:8", "a list belongs here");
    check("looks: [3, 5]", "1:8", "nothing is decided below 5 launches, so the look after 3");
    check("weights: [1]", "1:10", "`weights` without `looks`; write both");
    check("looks: [5, 9]\nweights: [0.5]", "2:10", "1 weights for 2 looks");
    check("looks: [5, 9]\nweights: [0.5, 0.6]", "2:10", "weights are above 0 and sum to 1");
    check("looks: [5, 9]\nweights: [1, 0]", "2:10", "weights are above 0 and sum to 1");
    check("looks: [5, 9]\nweights: [.nan, 1]", "2:10", "weights are above 0 and sum to 1");
    check("looks: [5, 9]\nweights: [a, 1]", "2:11", "a number belongs here");
    check("exact: {B: 64}", "1:12", "`64` is no tolerance for B; write 0.5%, 64 B");
    check("exact:\n  B: 1 KiB", "2:6", "`1 KiB` is no tolerance for B");
    check("rules:\n  - match: 'a['", "2:12", "pattern `a[`: unclosed character class");
    check("rules:\n  - tolerance: 5%", "2:5", "the key `match` is missing");
    check(
        "rules:\n  - match: a\n    gates: no",
        "3:5",
        "unknown key `gates`; did you mean `gate`?",
    );
    check("profiles: {a: {}, a: {}}", "1:19", "the key `a` stands here a second time");
    check("profiles:\n  q:\n    budget: 3", "3:13", "`3` is no duration; write for example 250ms");
    check("profiles:\n  q:\n    budget: 0s", "3:13", "`0s` is no duration");
    check("profiles:\n  q:\n    budget: 1e99h", "3:13", "`1e99h` is no duration");
    check("profiles:\n  q:\n    benchmarks: ['[']", "3:18", "pattern `[`");
    check("profiles:\n  q:\n    launch: {samples: 5}", "3:23", "criterion takes 10 samples");
    check("min_launches: 6\nprofiles:\n  q:\n    looks: [5]", "4:12", "nothing is decided below 6");
    check("env: [A=B]", "1:7", "`A=B` is no name of an environment variable");
    check("alpha: 0.1\nalpha: 0.2", "2:1", "the key `alpha` stands here a second time");
    check("a: 1\n", "1:1", "unknown key `a`; write one of `tolerance`, `creep`,");
    check("- a", "1:1", "keys belong here");
    check("tolerance: '2%", "1:12", "unclosed quote");
    check("alpha: 0.1\n---\nalpha: 0.2\n", "2:1", "a second document begins here");
    check("tolerance: &t 2%\nalpha: *t", "2:8", "`2%` is no chance");
    check("looks: *l", "1:8", "reference to unknown value");
}

#[test]
fn a_text_out_of_bounds_is_refused() {
    let deep = format!("profiles: {}", "{a: ".repeat(40));
    let bomb = "exact:\n  a: &a [x,x,x,x,x,x,x,x,x,x]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n";
    let long = format!("looks: [{}]", "1,".repeat(20_000));
    for text in [deep.as_str(), bomb, &long] {
        assert_eq!(Config::parse(text, "p").map_err(|e| e.kind()), Err(ErrorKind::Usage));
    }
}

#[test]
fn the_schema_names_every_key_that_an_unknown_one_is_told() {
    let schema: serde_json::Value = serde_json::from_str(&Config::schema()).unwrap();
    let error = Config::parse("zzzzzz: 1", "p").unwrap_err().to_string();
    let mut told: Vec<&str> = error.lines().next().unwrap().split('`').skip(3).step_by(2).collect();
    told.sort_unstable();
    let known: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(told, known);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}|([a-z_]{1,12}: [\\[\\]{}a-z0-9%., &*-]{0,20}\n){0,6}") {
        let _ = Config::parse(&text, "pacegate.yaml");
    }
}
