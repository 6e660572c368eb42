//! The rows as JUnit XML, for dashboards that know tests: a test case for each row, a test suite for each bench target.
//!
//! ```text
//! guarded and proven worse, or gone where the policy forbids it     failure
//! could not be judged                                               error
//! undecided, new, gone or not guarded                               skipped, with the reason
//! cleared                                                           a test that passed
//! ```
//!
//! Where the gate says no and no row says why, a test case of its own does, so that no reader takes it for a pass.

use std::collections::BTreeMap;

use super::element::{Element, element};
use super::prose::PLAIN;
use super::{Report, text};
use crate::gate::{Missing, OnInconclusive, Row, Verdict};

/// What a row is to a reader of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Passed,
    Failure,
    Error,
    Skipped,
}

/// Numbers of test cases by kind.
#[derive(Default)]
struct Tally {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

/// Renders JUnit XML.
pub fn junit(report: &Report) -> String {
    let mut suites: BTreeMap<&str, Vec<(Kind, Element)>> = BTreeMap::new();
    for row in &report.rows {
        let kind = kind(report, row);
        suites.entry(&row.id.suite).or_default().push((kind, case(row, kind)));
    }
    let told = |kind: &Kind| matches!(kind, Kind::Failure | Kind::Error);
    let row_tells = suites.values().flatten().any(|(kind, _)| told(kind));
    if report.exit_code != 0 && !row_tells {
        let answer = report.headline().answer;
        let case = element("testcase").attr("classname", "pacegate").attr("name", "verdict");
        let case = case.child(element("error").attr("message", &answer));
        suites.entry("pacegate").or_default().push((Kind::Error, case));
    }
    let mut all = Tally::default();
    suites.values().flatten().for_each(|(kind, _)| all.count(*kind));
    let suites = suites.into_iter().map(|(name, cases)| {
        let mut tally = Tally::default();
        cases.iter().for_each(|(kind, _)| tally.count(*kind));
        let name = if name.is_empty() { "benchmarks".into() } else { text::uncut(name) };
        tally
            .write(element("testsuite").attr("name", name))
            .lines(cases.into_iter().map(|(_, case)| case))
    });
    let root = all.write(element("testsuites").attr("name", "pacegate")).lines(suites);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", root.into_string())
}

impl Tally {
    fn count(&mut self, kind: Kind) {
        self.tests += 1;
        match kind {
            Kind::Passed => {}
            Kind::Failure => self.failures += 1,
            Kind::Error => self.errors += 1,
            Kind::Skipped => self.skipped += 1,
        }
    }

    fn write(&self, element: Element) -> Element {
        element
            .attr("tests", self.tests)
            .attr("failures", self.failures)
            .attr("errors", self.errors)
            .attr("skipped", self.skipped)
    }
}

fn kind(report: &Report, row: &Row) -> Kind {
    let policy = &report.policy;
    match row.verdict {
        Verdict::Failed => Kind::Error,
        _ if !row.gated => Kind::Skipped,
        Verdict::Regression => Kind::Failure,
        Verdict::Removed if policy.missing == Missing::Fail => Kind::Failure,
        Verdict::Removed | Verdict::Added => Kind::Skipped,
        _ if row.cleared => Kind::Passed,
        _ if policy.on_inconclusive == OnInconclusive::Fail => Kind::Failure,
        _ => Kind::Skipped,
    }
}

fn case(row: &Row, kind: Kind) -> Element {
    let case = element("testcase")
        .attr("classname", text::uncut(&row.id.suite))
        .attr("name", text::uncut(&row.id.name) + &PLAIN.aspect(row));
    let guarded = if row.gated { "" } else { "not guarded: " };
    let verdict = row.verdict.name();
    let message = format!("{guarded}{verdict}: {}", text::sentence(&row.reason));
    let told = |name| element(name).attr("message", &message);
    match kind {
        Kind::Passed => case,
        Kind::Skipped => case.child(told("skipped")),
        Kind::Error => case.child(told("error").attr("type", verdict)),
        Kind::Failure => {
            let failure = told("failure").attr("type", verdict);
            if row.baseline.is_none() || row.candidate.is_none() {
                return case.child(failure);
            }
            let numbers =
                format!("{}  {}  {}", text::arrow(row), text::change(row), text::interval(row));
            case.child(failure.text(numbers.trim_end()))
        }
    }
}
