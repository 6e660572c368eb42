//! From runs to verdicts and the outcome: the table of `decisions`, row by row, and the laws that no input breaks.

use pacegate::gate::{
    Correction, ExactTolerance, Gated, Missing, OnInconclusive, Outcome, Policy, Rule, Verdict,
};
use pacegate::model::Better;
use proptest::prelude::*;

use crate::runs::Session;

fn rule(pattern: &str) -> Rule {
    Rule {
        pattern: pattern.into(),
        metric: None,
        tolerance: None,
        better: None,
        gate: None,
        experiment: None,
    }
}

/// Outcome, exit code and verdicts (worst first) of a session.
fn check(session: &Session, policy: &Policy, expected: (Outcome, u8, &[Verdict])) {
    let report = session.report(policy);
    let verdicts: Vec<Verdict> = report.rows.iter().map(|row| row.verdict).collect();
    assert_eq!((report.outcome, report.exit_code, verdicts.as_slice()), expected, "{report:#?}");
}

#[test]
fn unchanged_passes() {
    let session = Session::new(1).bench("a", 1.0, 0.002, 10).bench("b", 1.001, 0.002, 10);
    check(
        &session,
        &Policy::default(),
        (Outcome::Pass, 0, &[Verdict::Unchanged, Verdict::Unchanged]),
    );
}

#[test]
fn a_proven_slowdown_fails() {
    let session = Session::new(2).bench("a", 1.10, 0.002, 10).bench("b", 1.0, 0.002, 10);
    check(
        &session,
        &Policy::default(),
        (Outcome::Fail, 10, &[Verdict::Regression, Verdict::Unchanged]),
    );
}

#[test]
fn a_proven_speed_up_passes() {
    let session = Session::new(3).bench("a", 0.90, 0.002, 10);
    check(&session, &Policy::default(), (Outcome::Pass, 0, &[Verdict::Improvement]));
}

#[test]
fn undecided_warns_or_fails_as_the_policy_says() {
    let session = Session::new(4).bench("a", 1.0, 0.2, 10);
    let expected = [Verdict::Inconclusive];
    check(&session, &Policy::default(), (Outcome::Inconclusive, 0, &expected));
    let strict = Policy { on_inconclusive: OnInconclusive::Fail, ..Policy::default() };
    check(&session, &strict, (Outcome::Inconclusive, 11, &expected));
}

#[test]
fn a_removed_benchmark_fails_or_warns_as_the_policy_says() {
    let session = Session::new(5).bench("a", 1.0, 0.002, 10).only_baseline("gone");
    let expected = [Verdict::Removed, Verdict::Unchanged];
    check(&session, &Policy::default(), (Outcome::Fail, 10, &expected));
    let lenient = Policy { missing: Missing::Warn, ..Policy::default() };
    check(&session, &lenient, (Outcome::Pass, 0, &expected));
}

#[test]
fn an_added_benchmark_passes() {
    let session = Session::new(6).bench("a", 1.0, 0.002, 10).only_candidate("born");
    check(&session, &Policy::default(), (Outcome::Pass, 0, &[Verdict::Added, Verdict::Unchanged]));
}

#[test]
fn a_failed_benchmark_is_an_error_and_the_others_are_judged() {
    let session = Session::new(7).bench("a", 1.0, 0.002, 10).failed("broken");
    check(
        &session,
        &Policy::default(),
        (Outcome::Error, 1, &[Verdict::Failed, Verdict::Unchanged]),
    );
}

#[test]
fn a_regression_outranks_a_failure_and_both_are_listed() {
    let report =
        Session::new(8).bench("a", 1.2, 0.002, 10).failed("broken").report(&Policy::default());
    assert_eq!(report.applied, [Outcome::Fail, Outcome::Error]);
    assert_eq!(report.exit_code, 10);
}

#[test]
fn sides_without_a_common_benchmark_are_nothing_to_compare() {
    let session = Session::new(9).only_baseline("a").only_candidate("b");
    check(
        &session,
        &Policy::default(),
        (Outcome::NothingToCompare, 3, &[Verdict::Removed, Verdict::Added]),
    );
    check(&Session::new(9), &Policy::default(), (Outcome::NothingToCompare, 3, &[]));
}

#[test]
fn machines_that_differ_are_not_comparable_unless_measured_together() {
    let mut session = Session::new(10).bench("a", 1.3, 0.002, 10);
    session.baseline.environment.hard.insert("cpu".into(), "one".into());
    session.candidate.environment.hard.insert("cpu".into(), "another".into());
    check(&session, &Policy::default(), (Outcome::Fail, 10, &[Verdict::Regression]));
    session.baseline.session = None;
    let report = session.report(&Policy::default());
    assert_eq!((report.outcome, report.exit_code), (Outcome::NotComparable, 4));
    let answer = report.headline().answer;
    assert!(answer.contains("one") && answer.contains("another"), "{answer}");
}

#[test]
fn too_few_launches_decide_nothing() {
    let session = Session::new(11).bench("a", 2.0, 0.0001, 4);
    check(&session, &Policy::default(), (Outcome::Inconclusive, 0, &[Verdict::Inconclusive]));
    let session = Session::new(11).bench("a", 2.0, 0.0001, 5);
    check(&session, &Policy::default(), (Outcome::Fail, 10, &[Verdict::Regression]));
}

#[test]
fn exact_metrics_are_compared_exactly() {
    let exact = |baseline, candidate, verdict| {
        let session = Session::new(12).exact("a", "B", baseline, candidate);
        let report = session.report(&Policy::default());
        assert_eq!(report.rows[0].verdict, verdict, "{baseline} to {candidate}");
    };
    exact(485.0, 485.0, Verdict::Unchanged);
    exact(485.0, 486.0, Verdict::Regression);
    exact(485.0, 484.0, Verdict::Improvement);
    exact(0.0, 1.0, Verdict::Regression);
    exact(0.0, 0.0, Verdict::Unchanged);
}

#[test]
fn the_tolerance_of_an_exact_metric_is_kept_at_its_limit() {
    let policy = Policy {
        exact: [("B".to_owned(), ExactTolerance { relative: 0.01, absolute: 0.0 })].into(),
        ..Policy::default()
    };
    let at = |candidate| {
        Session::new(13).exact("a", "B", 1000.0, candidate).report(&policy).rows[0].verdict
    };
    assert_eq!(at(1010.0), Verdict::Unchanged);
    assert_eq!(at(1011.0), Verdict::Regression);
}

#[test]
fn identical_executables_are_a_canary() {
    let mut session = Session::new(14).bench("a", 1.5, 0.002, 5);
    for run in [&mut session.baseline, &mut session.candidate] {
        run.executables.insert("suite".into(), "abc".into());
    }
    check(&session, &Policy::default(), (Outcome::Pass, 0, &[Verdict::Unchanged]));
    let notices = session.report(&Policy::default()).notices;
    assert!(
        notices.iter().any(|n| n.kind == "canary" && n.seen.contains("1 of these")),
        "{notices:?}"
    );
}

#[test]
fn a_rule_is_named_and_its_tolerance_holds() {
    let session = Session::new(15).bench("a", 1.05, 0.002, 10).bench("b", 1.05, 0.002, 10);
    let rules = vec![Rule { tolerance: Some(0.10), ..rule("suite::a*") }];
    let report = session.report(&Policy { rules, ..Policy::default() });
    let row = |name: &str| {
        let found = report.rows.iter().find(|row| row.id.name == name).expect("a row for each");
        (found.verdict, found.rule.as_deref())
    };
    assert_eq!(row("a"), (Verdict::Unchanged, Some("suite::a*")));
    assert_eq!(row("b"), (Verdict::Regression, None));
}

#[test]
fn a_row_that_is_not_gated_cannot_fail_and_is_still_judged() {
    let session = Session::new(16).bench("a", 1.3, 0.002, 10).bench("b", 1.0, 0.002, 10);
    let rules = vec![Rule { gate: Some(Gated::No), ..rule("*::a") }];
    let report = session.report(&Policy { rules, ..Policy::default() });
    assert_eq!(report.outcome, Outcome::Pass);
    assert_eq!(report.rows[0].verdict, Verdict::Regression);
    assert!(!report.rows[0].gated);
}

#[test]
fn a_common_shift_is_the_runner_only_where_the_sides_were_measured_apart() {
    let mut session = Session::new(17);
    for name in ["a", "b", "c", "d", "e", "f"] {
        session = session.bench(name, 1.5, 0.002, 10);
    }
    let paired = session.report(&Policy::default());
    assert_eq!(paired.outcome, Outcome::Fail);
    assert!(paired.notices.iter().any(|notice| notice.kind == "common-shift"));
    session.baseline.session = None;
    let apart = session.report(&Policy::default());
    assert_eq!(apart.outcome, Outcome::Inconclusive);
    assert!(apart.notices.iter().any(|notice| notice.kind == "runner"));
}

/// Forty benchmarks against a release of another day: the first moved by `odd`, the others by `runner` to a power
/// around one, since each follows the speed of a runner in its own measure.
fn another_day(seed: u64, runner: f64, odd: f64) -> Session {
    let mut session = Session::new(seed).bench("odd", odd, 0.002, 10);
    for i in 0..39_i32 {
        let measure = 0.4 + 1.2 * f64::from(i) / 38.0;
        session = session.bench(&format!("b{i}"), runner.powf(measure), 0.002, 10);
    }
    session.baseline.session = None;
    session
}

#[test]
fn benchmarks_that_follow_the_runner_in_their_own_measure_are_no_regressions() {
    for (seed, runner) in [(30, 1.45), (31, 1.1), (32, 0.7)] {
        // The odd one is among the most sensitive ones: +77 % where the suite moved by +45 %.
        let report = another_day(seed, runner, f64::powf(runner, 1.54)).report(&Policy::default());
        assert_eq!(report.outcome, Outcome::Inconclusive, "{:?}", report.headline());
        assert!(report.rows.iter().all(|row| row.verdict == Verdict::Inconclusive));
        assert!(report.rows.iter().all(|row| row.launches_needed.is_none()));
        assert!(report.notices.iter().any(|notice| notice.kind == "runner"));
    }
}

#[test]
fn what_lies_far_beyond_the_shift_of_the_suite_is_red() {
    for (runner, odd) in [(1.06, 4.0), (1.45, 4.0), (0.7, 4.0), (1.06, 1.5)] {
        let report = another_day(33, runner, odd).report(&Policy::default());
        assert_eq!(report.outcome, Outcome::Fail, "{runner} {odd}: {:?}", report.headline());
        let red: Vec<_> =
            report.rows.iter().filter(|row| row.verdict == Verdict::Regression).collect();
        assert_eq!(red.len(), 1);
        assert_eq!(red[0].id.name, "odd");
        assert!(red[0].reason.contains("of the whole suite"), "{}", red[0].reason);
    }
}

#[test]
fn a_runner_explains_nothing_that_went_the_other_way() {
    // A fast day hides no slowdown, and on a slow one what did not get slower is cleared.
    let report = another_day(35, 0.5, 1.6).report(&Policy::default());
    assert_eq!(report.outcome, Outcome::Fail);
    let lenient = Policy { tolerance: 0.1, ..Policy::default() };
    let report = another_day(36, 1.45, 1.0).report(&lenient);
    let odd = report.rows.iter().find(|row| row.id.name == "odd").expect("a row");
    assert!(odd.cleared && odd.verdict == Verdict::Inconclusive, "{odd:#?}");
}

#[test]
fn the_speed_of_a_runner_explains_no_change_of_sizes() {
    let mut session = another_day(34, 1.45, 1.45);
    for run in [&mut session.baseline, &mut session.candidate] {
        for series in &mut run.series {
            series.metric.unit = pacegate::model::Unit::new("B");
        }
    }
    let report = session.report(&Policy::default());
    assert_eq!(report.outcome, Outcome::Fail);
    assert!(report.notices.iter().all(|notice| notice.kind != "runner"));
}

#[test]
fn a_repeated_attempt_spends_less() {
    let session = Session::new(18).bench("a", 1.03, 0.004, 6);
    let p = session.report(&Policy::default()).rows[0].p_regression.expect("a tested row");
    let just_enough = Policy { alpha: p * 1.5, ..Policy::default() };
    let again = Policy { attempt: 2, ..just_enough.clone() };
    assert_eq!(session.report(&just_enough).rows[0].verdict, Verdict::Regression);
    assert_ne!(session.report(&again).rows[0].verdict, Verdict::Regression);
}

#[test]
fn throughput_is_judged_the_right_way_up() {
    let mut session = Session::new(19).bench("a", 0.7, 0.002, 10);
    for run in [&mut session.baseline, &mut session.candidate] {
        run.series[0].metric.unit = pacegate::model::Unit::new("ops/s");
        run.series[0].metric.better = Better::Higher;
    }
    let report = session.report(&Policy::default());
    assert_eq!(report.rows[0].verdict, Verdict::Regression);
    assert!(report.rows[0].worse_by().expect("a ratio") > 0.4);
}

#[test]
fn names_without_a_suite_find_their_partner() {
    let mut session = Session::new(20).bench("a", 1.0, 0.002, 10);
    session.baseline.series[0].id.suite.clear();
    check(&session, &Policy::default(), (Outcome::Pass, 0, &[Verdict::Unchanged]));
}

fn sessions() -> impl Strategy<Value = Session> {
    (any::<u32>(), prop::collection::vec((0.8f64..1.3, 0.0005f64..0.05, 5u32..21), 1..6)).prop_map(
        |(seed, benches)| {
            let session = Session::new(seed.into());
            benches.into_iter().enumerate().fold(session, |session, (i, (ratio, noise, pairs))| {
                session.bench(&format!("b{i}"), ratio, noise, pairs)
            })
        },
    )
}

fn policies() -> impl Strategy<Value = Policy> {
    (0.005f64..0.2, 0.001f64..0.2, any::<bool>()).prop_map(|(tolerance, alpha, holm)| Policy {
        tolerance,
        alpha,
        correction: if holm { Correction::Holm } else { Correction::Bh },
        ..Policy::default()
    })
}

fn reds(session: &Session, policy: &Policy) -> Vec<String> {
    let report = session.report(policy);
    let mut names: Vec<String> = report
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Regression)
        .map(|row| row.id.to_string())
        .collect();
    names.sort();
    names
}

fn subset(part: &[String], whole: &[String]) -> bool {
    part.iter().all(|name| whole.contains(name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_against_itself_never_changes(session in sessions(), policy in policies()) {
        let same = Session { candidate: session.baseline.clone(), ..session };
        for row in same.report(&policy).rows {
            prop_assert!(!matches!(row.verdict, Verdict::Regression | Verdict::Improvement), "{row:?}");
        }
    }

    #[test]
    fn a_larger_tolerance_never_reddens(session in sessions(), policy in policies(), more in 1.0f64..4.0) {
        let lenient = Policy { tolerance: policy.tolerance * more, ..policy.clone() };
        prop_assert!(subset(&reds(&session, &lenient), &reds(&session, &policy)));
    }

    #[test]
    fn a_smaller_alpha_never_reddens(session in sessions(), policy in policies(), less in 0.01f64..1.0) {
        let strict = Policy { alpha: policy.alpha * less, ..policy.clone() };
        prop_assert!(subset(&reds(&session, &strict), &reds(&session, &policy)));
    }

    #[test]
    fn holm_is_stricter_than_bh(session in sessions(), policy in policies()) {
        let holm = Policy { correction: Correction::Holm, ..policy.clone() };
        let bh = Policy { correction: Correction::Bh, ..policy };
        prop_assert!(subset(&reds(&session, &holm), &reds(&session, &bh)));
    }

    #[test]
    fn slowing_everything_down_never_mends(session in sessions(), policy in policies(), slower in 1.0f64..1.5) {
        let mut slowed = session.clone();
        for series in &mut slowed.candidate.series {
            let pacegate::model::Evidence::Sampled(launches) = &mut series.evidence else { continue };
            for launch in launches {
                let values = launch.sample.values().iter().map(|value| value * slower).collect();
                launch.sample = pacegate::model::Sample::of_values(values).expect("positive");
            }
        }
        prop_assert!(subset(&reds(&session, &policy), &reds(&slowed, &policy)));
    }

    #[test]
    fn exchanging_the_sides_exchanges_the_verdicts(session in sessions(), policy in policies()) {
        let back = Session {
            baseline: session.candidate.clone(),
            candidate: session.baseline.clone(),
            ..session.clone()
        };
        let (there, back) = (session.report(&policy), back.report(&policy));
        for row in &there.rows {
            let mirror = back.rows.iter().find(|other| other.id == row.id).expect("the same ids");
            let expected = match row.verdict {
                Verdict::Regression => Verdict::Improvement,
                Verdict::Improvement => Verdict::Regression,
                other => other,
            };
            prop_assert_eq!(mirror.verdict, expected);
        }
    }

    #[test]
    fn every_benchmark_appears_once_and_order_does_not_matter(session in sessions(), policy in policies()) {
        let session = session.only_baseline("gone").only_candidate("born").failed("broken");
        let report = session.report(&policy);
        let mut reversed = session.clone();
        reversed.baseline.series.reverse();
        reversed.candidate.series.reverse();
        prop_assert_eq!(&report, &reversed.report(&policy));
        let mut ids: Vec<String> = report.rows.iter().map(|row| row.id.to_string()).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), all);
        prop_assert_eq!(all, session.baseline.series.len() + 2);
    }

    #[test]
    fn looking_again_never_takes_a_red_back(session in sessions(), policy in policies()) {
        let early = session.clone().looks(&[(5, 0.2)]);
        let late = session.looks(&[(5, 0.2), (10, 0.3), (20, 0.5)]);
        prop_assert!(subset(&reds(&early, &policy), &reds(&late, &policy)));
    }
}
