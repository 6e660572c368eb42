//! What two runs have to say to each other, whatever the policy.

use pacegate::compare::{Comparison, Finding, Method, Noise, compare};
use pacegate::model::{
    BenchmarkId, Evidence, Experiment, Metric, Mode, Reference, Run, Sample, SamplingMode, Series,
    Spread, Summary,
};
use pacegate::stats::{Estimate, Prior, Statistic};

use crate::runs::Session;

fn method() -> Method {
    Method::new(Reference::Base, Statistic::default(), 0.02)
}

fn only(session: &Session, method: &Method) -> Comparison {
    let mut all = compare(&session.baseline, &session.candidate, method);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn last(comparison: &Comparison) -> Estimate {
    match &comparison.finding {
        Finding::Tested(looks) => looks.last().expect("a test has a look").estimate,
        other => panic!("not tested: {other:?}"),
    }
}

fn launched(mut session: Session, experiment: Experiment) -> Session {
    for series in session.baseline.series.iter_mut().chain(&mut session.candidate.series) {
        series.experiment = experiment;
    }
    session
}

#[test]
fn sessions_apart_are_widened_by_the_noise_between_them() {
    let mut session = launched(Session::new(1).bench("a", 1.05, 0.002, 10), Experiment::Plain);
    let together = only(&session, &method());
    session.candidate.session = Some("another day".into());
    let apart = only(&session, &method());
    assert_eq!(apart.mode, Mode::Stored);
    let added = last(&apart).se.powi(2) - last(&together).se.powi(2);
    // Two sessions, each with a standard deviation of 2 %.
    assert!((added - 2.0 * 0.02f64.powi(2)).abs() < 1e-9, "{added}");
}

#[test]
fn arms_of_different_co_runs_are_never_compared() {
    for experiment in [Experiment::Corun, Experiment::Turnstile] {
        let mut session = launched(Session::new(2).bench("a", 1.0, 0.002, 10), experiment);
        assert!(matches!(only(&session, &method()).finding, Finding::Tested(_)));
        session.candidate.session = Some("another".into());
        assert!(matches!(only(&session, &method()).finding, Finding::Failed(_)));
    }
}

#[test]
fn experiments_units_and_directions_must_agree() {
    let broken: [fn(&mut Series); 3] = [
        |series| series.experiment = Experiment::Turnstile,
        |series| series.metric.unit = pacegate::model::Unit::new("ms"),
        |series| series.metric.better = pacegate::model::Better::Higher,
    ];
    for break_it in broken {
        let mut session = Session::new(3).bench("a", 1.0, 0.002, 10);
        break_it(&mut session.candidate.series[0]);
        assert!(matches!(only(&session, &method()).finding, Finding::Failed(_)));
    }
}

#[test]
fn arms_that_ran_together_are_compared_at_the_same_time() {
    // Both arms meet a neighbour in their first half; the candidate measures in steps of half the length.
    let mut session = launched(Session::new(4).bench("a", 1.0, 0.0, 5), Experiment::Corun);
    let sample = |iters: u64, times: &[f64]| {
        let totals = times.iter().map(|time| time * iters as f64).collect();
        Sample::new(SamplingMode::Flat, vec![iters; times.len()], totals).expect("positive times")
    };
    let launches = |run: &mut Run, sample: &Sample| {
        let Evidence::Sampled(launches) = &mut run.series[0].evidence else { return };
        launches.iter_mut().for_each(|launch| launch.sample = sample.clone());
    };
    launches(&mut session.baseline, &sample(10, &[20.0, 20.0, 10.0, 10.0]));
    launches(&mut session.candidate, &sample(5, &[21.0, 21.0, 21.0, 21.0, 10.5, 10.5, 10.5, 10.5]));
    let estimate = last(&only(&session, &method()));
    assert!((estimate.delta - 1.05f64.ln()).abs() < 1e-12, "{estimate:?}");
}

#[test]
fn a_suite_lends_its_noise_from_ten_benchmarks_on() {
    let suite = |count: usize| {
        let session = (0..count)
            .fold(Session::new(5), |session, i| session.bench(&format!("b{i}"), 1.0, 0.01, 5));
        let all = compare(&session.baseline, &session.candidate, &method());
        (all[0].noise, last(&all[0]).df)
    };
    assert_eq!(suite(9), (Noise::Own, 2.0));
    let (noise, df) = suite(10);
    assert_eq!(noise, Noise::Suite);
    assert!(2.0 < df, "{df}");
}

#[test]
fn learned_noise_counts_and_a_noisy_day_is_believed() {
    let quiet = Session::new(6).bench("a", 1.0, 0.001, 10);
    let noisy = Session::new(6).bench("a", 1.0, 0.03, 10);
    let mut method = method();
    let key = (BenchmarkId::new("suite", "a"), "time".to_owned(), Experiment::Interleaved);
    method.learned.insert(key, Prior { variance: 2.0 * 0.01f64.powi(2), df: 20.0 });
    let on_a_quiet_day = only(&quiet, &method);
    assert_eq!(on_a_quiet_day.noise, Noise::History);
    // Twenty degrees learned and five of its own; the history's noise is not forgotten on one quiet day.
    assert!((last(&on_a_quiet_day).df - 25.0).abs() < 1e-9);
    assert!(0.003 < last(&on_a_quiet_day).se, "{:?}", last(&on_a_quiet_day));
    // A day three times as noisy is not judged by a quiet history.
    let on_a_noisy_day = last(&only(&noisy, &method)).se;
    let history = (2.0 * 0.01f64.powi(2) / 10.0).sqrt();
    assert!(1.5 * history < on_a_noisy_day, "{on_a_noisy_day} beside {history}");
}

#[test]
fn summaries_are_tested_by_the_launches_that_they_stand_for() {
    // Two lines of a JMH table: 25 values each, half-widths at 99.9 %.
    let summary = |score, value, launches| Summary {
        score,
        spread: Some(Spread::HalfWidth { value, confidence: 0.999 }),
        n: Some(25),
        launches,
    };
    let run = |summary| Run {
        series: vec![Series {
            id: BenchmarkId::new("", "a"),
            metric: Metric::time(),
            experiment: Experiment::Imported,
            evidence: Evidence::Summary(vec![summary]),
            looks: Vec::new(),
        }],
        ..Run::default()
    };
    let compared = |launches| {
        let (baseline, candidate) =
            (run(summary(12.345, 0.231, launches)), run(summary(13.012, 0.305, launches)));
        compare(&baseline, &candidate, &method()).remove(0)
    };
    let Finding::Indicative { estimate: Some(estimate), .. } = compared(None).finding else {
        panic!("one process decides nothing");
    };
    assert!((estimate.delta - 0.05262088581).abs() < 1e-9);
    assert!((estimate.se - 0.008007910306).abs() < 1e-9);
    let five_forks = compared(Some(5));
    assert!(last(&five_forks).df <= 8.0, "five launches a side are not 25 values: {five_forks:?}");
}
