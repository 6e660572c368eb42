//! Comparisons and a policy to rows with verdicts, and rows to one outcome. Total, pure, order-free.
//!
//! On the number line of the change for the worse, with the tolerance λ on a logarithmic scale:
//!
//! ```text
//!            −λ          0          +λ
//! ────────────┼──────────┼──────────┼────────────
//!  ├────┤     │          │          │              Improvement   proven below −λ, over the whole suite
//!             │     ├────┼───┤      │              Unchanged     proven within ±λ
//!         ├───┼──────────┤          │              Inconclusive, but cleared
//!             │          │       ├──┼────┤         Inconclusive
//!             │          │          │   ├────┤     Regression    proven above +λ, over the whole suite
//! ```

use std::collections::BTreeSet;
use std::f64::consts::PI;

use crate::compare::{Comparison, Finding, Looked, Noise};
use crate::model::{BenchmarkId, Better, Mode, Notice, Reference, listed};
use crate::stats::dist::t_upper;
use crate::stats::multiple::{benjamini_hochberg, holm};
use crate::stats::power::{Needed, needed, smallest_caught};
use crate::stats::sequential::{attempt_alpha, sequential_p};
use crate::stats::summary::{self, MAD_TO_SD};
use crate::stats::{Component, Estimate};

use super::accept::{Accept, Standing};
use super::policy::{Applied, Correction, Gated, Missing, Noisy, Policy, Rules, Trust};
use super::verdict::{Outcome, Row, Verdict};

/// The gate's answer to a set of comparisons.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// One row for each comparison, in their order.
    pub rows: Vec<Row>,
    /// Every outcome that applies, in order of precedence; never empty.
    pub applied: Vec<Outcome>,
    /// What is worth telling of the whole.
    pub notices: Vec<Notice>,
}

/// Smallest tolerance that is ever applied: below half a percent, layout alone decides.
pub const TOLERANCE_FLOOR: f64 = 0.005;

/// Confidence of the interval that people are shown.
pub const SHOWN_CONFIDENCE: f64 = 0.95;

/// Probability with which a detectable slowdown would be caught.
const POWER: f64 = 0.9;

/// Judges comparisons by a policy.
///
/// # Errors
///
/// When a rule's pattern is not a glob.
pub fn judge(comparisons: Vec<Comparison>, policy: &Policy) -> Result<Judgement, String> {
    let rules = policy.compile()?;
    let mut tested: Vec<Tested> =
        comparisons.into_iter().map(|comparison| Tested::new(comparison, &rules, policy)).collect();
    let mut notices = Vec::new();
    common_shift(&mut tested, policy, &mut notices);
    correct(&mut tested, policy);
    notices.extend(canary(&tested, policy));
    notices.extend(disturbed(&tested));
    notices.extend(tested.iter().filter_map(Tested::ended));
    let rejected =
        tested.iter().filter(|t| t.regression.is_some_and(|p| p <= level(policy))).count();
    let family = tested.iter().filter(|t| t.regression.is_some()).count();
    let crowd = Crowd { rejected, family };
    let mut rows: Vec<Row> = tested.into_iter().map(|t| t.row(policy, crowd)).collect();
    metrics_gone(&mut rows);
    notices.extend(no_longer_needed(&rows, policy));
    let applied = outcomes(&rows, policy);
    Ok(Judgement { rows, applied, notices })
}

/// Error rate of the suite in this attempt.
fn level(policy: &Policy) -> f64 {
    attempt_alpha(policy.alpha, policy.attempt)
}

/// How many tests stand together, and how many were rejected.
#[derive(Clone, Copy)]
struct Crowd {
    rejected: usize,
    family: usize,
}

/// A comparison with the policy's words for it and its p-values.
struct Tested {
    comparison: Comparison,
    applied: Applied,
    /// Tolerance on the logarithmic scale.
    lambda: f64,
    /// What was agreed to, where it holds today, and where it has ended.
    accept: Option<Accept>,
    ended: Option<Accept>,
    /// Looks that may decide, turned so that positive is worse: what the code changed at least, and at most. They are the
    /// same unless the runner moved.
    at_least: Vec<Looked>,
    at_most: Vec<Looked>,
    /// One-sided p over all looks, then corrected for the suite; absent where nothing is tested.
    regression: Option<f64>,
    improvement: Option<f64>,
    /// What the whole suite moved by, where that is taken for the runner.
    shift: Option<Shift>,
}

/// A change that is taken for the runner's.
#[derive(Clone, Copy)]
struct Shift {
    /// The logarithm of the ratio that the suite has in common, positive where it got worse.
    by: f64,
    /// How far the runner's effect on one benchmark may lie from it.
    unknown: Component,
}

impl Tested {
    fn new(comparison: Comparison, rules: &Rules<'_>, policy: &Policy) -> Self {
        let applied = rules.apply(&comparison.id, &comparison.metric, comparison.reference);
        let mut lambda = applied.tolerance.max(TOLERANCE_FLOOR).ln_1p();
        let worse = |estimate: Estimate| match applied.better {
            Better::Lower | Better::Unknown => estimate,
            Better::Higher => estimate.negated(),
        };
        let looks: Vec<Looked> = match &comparison.finding {
            _ if applied.better == Better::Unknown => Vec::new(),
            Finding::Tested(looks) => looks
                .iter()
                .filter(|looked| looked.look.pairs >= policy.min_launches)
                .map(|looked| Looked { estimate: worse(looked.estimate), ..*looked })
                .collect(),
            Finding::Indicative { estimate: Some(estimate), .. }
                if policy.trust == Trust::Samples =>
            {
                vec![Looked {
                    look: crate::model::Look { pairs: 1, weight: 1.0 },
                    estimate: worse(*estimate),
                }]
            }
            _ => Vec::new(),
        };
        if policy.noisy == Noisy::RaiseTolerance
            && comparison.noise == Noise::History
            && let Some(last) = looks.last()
        {
            lambda = lambda.max(provable(last, policy.alpha_pass));
        }
        let (accept, ended) = match policy.accepted.standing(&comparison.id, &comparison.metric) {
            Some(Standing::InForce(accept)) => (Some(accept.clone()), None),
            Some(Standing::Ended(accept)) => (None, Some(accept.clone())),
            None => (None, None),
        };
        let mut tested = Tested {
            regression: None,
            improvement: None,
            comparison,
            applied,
            lambda,
            accept,
            ended,
            at_most: looks.clone(),
            at_least: looks,
            shift: None,
        };
        tested.test();
        tested
    }

    /// Asks every look. What a busy machine measured is no test of the code, and makes those of others no stricter.
    fn test(&mut self) {
        if !self.comparison.disturbed {
            self.regression = over_looks(&self.at_least, Estimate::p_above, self.limit());
            self.improvement = over_looks(&self.at_most, Estimate::p_below, -self.lambda);
        }
    }

    /// Takes off what the runner may have done. One that got slower made nothing faster: what it may explain lies on its
    /// side, and on the other the numbers stand as they are.
    fn beside(&mut self, shift: Shift) {
        let looks = if 0.0 < shift.by { &mut self.at_least } else { &mut self.at_most };
        for looked in looks {
            looked.estimate.delta -= shift.by;
            looked.estimate = looked.estimate.widened(&[shift.unknown]);
        }
        self.shift = Some(shift);
        self.test();
    }

    /// What must be exceeded to fail the gate: the tolerance, or what was agreed to beyond it.
    fn limit(&self) -> f64 {
        self.accept.as_ref().map_or(self.lambda, |accept| self.lambda.max(accept.ceiling.ln_1p()))
    }

    /// Whether any look excludes a change for the worse beyond a margin.
    fn below(&self, margin: f64, alpha_pass: f64) -> bool {
        self.at_most.iter().any(|l| l.estimate.upper(alpha_pass * l.look.weight) < margin)
    }

    /// Whether it is proven worse than its tolerance and lies within what was agreed to.
    fn is_accepted(&self, alpha: f64) -> bool {
        let within = self.at_least.last().is_some_and(|last| last.estimate.delta <= self.limit());
        self.accept.is_some() && within && self.is_beyond_tolerance(alpha)
    }

    fn is_beyond_tolerance(&self, alpha: f64) -> bool {
        over_looks(&self.at_least, Estimate::p_above, self.lambda).is_some_and(|p| p <= alpha)
    }

    fn ended(&self) -> Option<Notice> {
        let ended = self.ended.as_ref()?;
        let until = ended.until.as_ref().expect("only what has an end has ended");
        Some(Notice::new(
            "accepted-ended",
            format!("what was accepted of {} ended with {until}", ended.benchmark),
            "delete it from the accept records, or accept it anew with `pacegate accept`",
        ))
    }

    /// Whether it is proven better or worse.
    fn differs(&self, alpha: f64) -> bool {
        [self.regression, self.improvement].into_iter().flatten().any(|p| p <= alpha)
    }

    /// Whether any look excludes a change for the better beyond the tolerance.
    fn above(&self, alpha_pass: f64) -> bool {
        self.at_least.iter().any(|l| l.estimate.lower(alpha_pass * l.look.weight) > -self.lambda)
    }

    fn row(self, policy: &Policy, crowd: Crowd) -> Row {
        let ruling = self.ruling(policy);
        let limit = self.limit();
        let accepted = self.accept.clone().filter(|_| ruling.accepted);
        let Tested {
            comparison, applied, lambda, at_least, regression, improvement, shift, ..
        } = self;
        let last = at_least.last().copied();
        let shown = shown_estimate(&comparison);
        let mut gated =
            applied.gate == Gated::Yes && !matches!(comparison.finding, Finding::Shown { .. });
        let exact = match comparison.finding {
            Finding::Exact { baseline, candidate, .. } => Some((baseline, candidate)),
            _ => None,
        };
        let middle = |scores: &[f64]| (!scores.is_empty()).then(|| summary::median(scores));
        let count = |scores: &[f64]| scores.len() as u32;
        let mut notices = comparison.notices;
        let unit = &comparison.metric.unit;
        if let Some(better) = unit.better().filter(|&better| better != applied.better) {
            let opposite = if better == Better::Lower { "less" } else { "more" };
            notices.push(Notice::new(
                "direction-contradicts-unit",
                format!(
                    "{}: of `{unit}` {opposite} is good, but the opposite was said",
                    comparison.id
                ),
                "look at the rule's `better`, or at what the tool wrote",
            ));
        }
        let provable = last.map(|last| provable(&last, policy.alpha_pass));
        if ruling.verdict == Verdict::Inconclusive
            && !ruling.cleared
            && !comparison.disturbed
            && shift.is_none()
            && let Some(provable) = provable.filter(|&provable| provable > lambda)
        {
            let learned = comparison.noise == Noise::History;
            // The noise between sessions hides the budget of a whole suite at once; an estimate beyond it still counts.
            let hidden = comparison.reference == Reference::Release
                && comparison.between_sessions.is_some()
                && last.is_some_and(|last| last.estimate.delta <= lambda);
            let advisory = (learned || hidden) && policy.noisy == Noisy::Advisory;
            gated &= !advisory;
            notices.push(Notice::new(
                "noisy",
                format!(
                    "{} can be proven within ±{:.2} % with these launches, not within its tolerance",
                    comparison.id,
                    100.0 * provable.exp_m1()
                ),
                if advisory {
                    "it is not guarded; give it a tolerance of its own, or make it quieter"
                } else {
                    "give it a tolerance of its own, more launches, or make it quieter"
                },
            ));
        }
        let alpha = level(policy);
        let test_level = |weight: f64| match policy.correction {
            Correction::Bh => {
                alpha * weight * crowd.rejected.max(1) as f64 / crowd.family.max(1) as f64
            }
            Correction::Holm => alpha * weight / crowd.family.max(1) as f64,
        };
        Row {
            id: comparison.id,
            metric: crate::model::Metric { better: applied.better, ..comparison.metric },
            reference: comparison.reference,
            mode: comparison.mode,
            experiment: comparison.experiment,
            verdict: ruling.verdict,
            cleared: ruling.cleared,
            gated,
            reason: ruling.reason,
            tolerance: if exact.is_some() { applied.exact.relative } else { lambda.exp_m1() },
            baseline: exact.map(|(baseline, _)| baseline).or(middle(&comparison.scores.baseline)),
            candidate: exact
                .map(|(_, candidate)| candidate)
                .or(middle(&comparison.scores.candidate)),
            ratio: match exact {
                Some((baseline, candidate)) => (baseline != 0.0).then(|| candidate / baseline),
                None => shown.map(|estimate| estimate.delta.exp()).or_else(|| {
                    // What cannot be tested can still be shown.
                    let baseline = middle(&comparison.scores.baseline).filter(|&b| b > 0.0)?;
                    Some(middle(&comparison.scores.candidate)? / baseline)
                }),
            },
            ci: shown.map(|estimate| {
                let (low, high) = estimate.interval(SHOWN_CONFIDENCE);
                (low.exp(), high.exp())
            }),
            confidence: SHOWN_CONFIDENCE,
            p_raw: last.map(|last| last.estimate.p_above(limit)),
            p_regression: regression,
            p_improvement: improvement,
            launches: (count(&comparison.scores.baseline), count(&comparison.scores.candidate)),
            // Against the noise between sessions and the speed of the runner, more launches of this one help nothing.
            launches_needed: last
                .filter(|_| ruling.verdict == Verdict::Inconclusive)
                .filter(|_| comparison.between_sessions.is_none() && shift.is_none())
                .and_then(|last| {
                    let (pairs, weight) = (last.look.pairs as usize, last.look.weight);
                    match needed(
                        &last.estimate,
                        pairs,
                        limit,
                        test_level(weight),
                        policy.alpha_pass,
                    ) {
                        Needed::Pairs(pairs) => Some(pairs as u32),
                        Needed::TooMany => None,
                    }
                }),
            detectable: last.map(|last| {
                let Estimate { se, df, .. } = last.estimate;
                smallest_caught(limit, test_level(last.look.weight), se, df)
            }),
            noise: last.map(|_| comparison.noise),
            rule: applied.rule,
            accepted,
            scores: comparison.scores,
            notices,
        }
    }

    fn ruling(&self, policy: &Policy) -> Ruling {
        let percent = |lambda: f64| format!("{} %", trim_zeros(100.0 * lambda.exp_m1()));
        match &self.comparison.finding {
            Finding::Failed(message) => Ruling::new(Verdict::Failed, false, message.clone()),
            Finding::Added => Ruling::new(Verdict::Added, true, "new: there is no baseline for it"),
            Finding::Removed => {
                Ruling::new(Verdict::Removed, false, "the baseline has it, the candidate does not")
            }
            Finding::Exact { baseline, candidate, .. }
                if self.applied.better == Better::Unknown && baseline == candidate =>
            {
                Ruling::new(Verdict::Unchanged, true, "identical")
            }
            Finding::Exact { .. }
            | Finding::Indicative { .. }
            | Finding::Shown { .. }
            | Finding::Tested(_)
                if self.applied.better == Better::Unknown =>
            {
                let unit = &self.comparison.metric.unit;
                let reason = format!(
                    "its unit `{unit}` does not say which way is good; add a rule that sets `better`"
                );
                Ruling::new(Verdict::Inconclusive, false, reason)
            }
            Finding::Exact { baseline, candidate, slack } => {
                self.rule_exact(*baseline, *candidate, *slack)
            }
            Finding::Shown { why } => Ruling::new(Verdict::Inconclusive, false, why.clone()),
            Finding::Indicative { why, .. } if self.at_least.is_empty() => {
                Ruling::new(Verdict::Inconclusive, false, why.clone())
            }
            Finding::Tested(_) if self.comparison.identical => Ruling::new(
                Verdict::Unchanged,
                true,
                if self.differs(level(policy)) {
                    "both revisions build the same executable, so that the difference is the runner's"
                } else {
                    "both revisions build the same executable; the numbers are a canary"
                },
            ),
            Finding::Tested(looks) if self.at_least.is_empty() => {
                let had = looks.last().map_or(0, |looked| looked.look.pairs);
                let reason = format!(
                    "{had} launches a side are too few; the policy asks for {}",
                    policy.min_launches
                );
                Ruling::new(Verdict::Inconclusive, false, reason)
            }
            Finding::Tested(_) | Finding::Indicative { .. } => {
                let alpha = level(policy);
                let tolerance = percent(self.lambda);
                let cleared = self.below(self.limit(), policy.alpha_pass);
                if self.comparison.disturbed {
                    let why = "most launches of a side waited for a CPU that something else used";
                    Ruling::new(Verdict::Inconclusive, false, why)
                } else if self.regression.is_some_and(|p| p <= alpha) {
                    let than = match (&self.accept, &self.ended) {
                        (Some(accept), _) => format!("what was accepted, {}", up_to(accept)),
                        (None, Some(_)) => {
                            format!("the tolerance of {tolerance}, and what was accepted has ended")
                        }
                        (None, None) => format!("the tolerance of {tolerance}"),
                    };
                    let beside = self.shift.map_or(String::new(), |shift| {
                        format!(
                            ", beside the {:+.1} % of the whole suite",
                            100.0 * shift.by.exp_m1()
                        )
                    });
                    let reason = format!("proven worse by more than {than}{beside}");
                    Ruling::new(Verdict::Regression, false, reason)
                } else if let Some(accept) =
                    self.accept.as_ref().filter(|_| self.is_accepted(alpha))
                {
                    let reason = format!(
                        "proven worse by more than {tolerance}, and accepted, {}: {}",
                        up_to(accept),
                        accept.reason
                    );
                    Ruling { accepted: true, ..Ruling::new(Verdict::Regression, cleared, reason) }
                } else if self.improvement.is_some_and(|p| p <= alpha) {
                    Ruling::new(
                        Verdict::Improvement,
                        true,
                        format!("proven better by more than {tolerance}"),
                    )
                } else if self.below(self.lambda, policy.alpha_pass)
                    && self.above(policy.alpha_pass)
                {
                    Ruling::new(
                        Verdict::Unchanged,
                        true,
                        format!("shown to lie within ±{tolerance}"),
                    )
                } else if cleared {
                    Ruling::new(
                        Verdict::Inconclusive,
                        true,
                        format!(
                            "shown to be no more than {} worse; whether it is better is open",
                            percent(self.limit())
                        ),
                    )
                } else {
                    let limit = percent(self.limit());
                    let mut reason =
                        format!("a change for the worse of more than {limit} is not excluded");
                    if self.shift.is_some() {
                        reason.push_str(
                            ": most of the suite moved alike, which is the runner rather than the code",
                        );
                    } else if let Some(noise) = self.comparison.between_sessions {
                        reason.push_str(&format!(
                            ": sessions of a runner are taken to differ by {} one from another",
                            percent(noise.sd.ln_1p())
                        ));
                    }
                    Ruling::new(Verdict::Inconclusive, false, reason)
                }
            }
        }
    }

    fn rule_exact(&self, baseline: f64, candidate: f64, slack: f64) -> Ruling {
        let worse_by = match self.applied.better {
            Better::Lower | Better::Unknown => candidate - baseline,
            Better::Higher => baseline - candidate,
        };
        let allowed =
            (self.applied.exact.relative * baseline.abs()).max(self.applied.exact.absolute) + slack;
        let (from, to) = (trim_zeros(baseline), trim_zeros(candidate));
        let agreed = |accept: &&Accept| worse_by <= accept.ceiling * baseline.abs() + slack;
        if worse_by > allowed
            && let Some(accept) = self.accept.as_ref().filter(agreed)
        {
            let reason =
                format!("{from} became {to}, and accepted, {}: {}", up_to(accept), accept.reason);
            Ruling { accepted: true, ..Ruling::new(Verdict::Regression, true, reason) }
        } else if worse_by > allowed {
            Ruling::new(
                Verdict::Regression,
                false,
                format!("{from} became {to}, more than allowed"),
            )
        } else if -worse_by > allowed {
            Ruling::new(Verdict::Improvement, true, format!("{from} became {to}"))
        } else if worse_by == 0.0 {
            Ruling::new(Verdict::Unchanged, true, "identical")
        } else {
            Ruling::new(
                Verdict::Unchanged,
                true,
                format!("{from} became {to}, within what is allowed"),
            )
        }
    }
}

/// A verdict with its reason.
struct Ruling {
    verdict: Verdict,
    cleared: bool,
    reason: String,
    /// It is worse than its tolerance, and that was agreed to.
    accepted: bool,
}

impl Ruling {
    fn new(verdict: Verdict, cleared: bool, reason: impl Into<String>) -> Self {
        Ruling { verdict, cleared, reason: reason.into(), accepted: false }
    }
}

/// One-sided p over all looks against a margin; none where nothing was tested.
fn over_looks(looks: &[Looked], p: fn(&Estimate, f64) -> f64, margin: f64) -> Option<f64> {
    let spent: Vec<(f64, f64)> =
        looks.iter().map(|looked| (p(&looked.estimate, margin), looked.look.weight)).collect();
    (!spent.is_empty()).then(|| sequential_p(&spent))
}

/// `up to +6 %`.
fn up_to(accept: &Accept) -> String {
    format!("up to +{} %", trim_zeros(100.0 * accept.ceiling))
}

/// A record has done its work where every row of its benchmark is shown to lie within the tolerance.
fn no_longer_needed(rows: &[Row], policy: &Policy) -> Vec<Notice> {
    if policy.accepted.records.is_empty() {
        return Vec::new();
    }
    let named: Vec<(String, &Row)> = rows.iter().map(|row| (row.id.to_string(), row)).collect();
    let needless = |record: &&Accept| {
        let mut of_record =
            named.iter().filter(|(name, row)| record.is_for(name, &row.metric.name)).peekable();
        of_record.peek().is_some()
            && of_record
                .all(|(_, row)| matches!(row.verdict, Verdict::Unchanged | Verdict::Improvement))
    };
    let records = policy.accepted.records.iter().filter(needless);
    records
        .map(|record| {
            Notice::new(
                "accepted-needless",
                format!(
                    "{} is back within its tolerance, but {} is accepted",
                    record.benchmark,
                    up_to(record)
                ),
                "delete it from the accept records",
            )
        })
        .collect()
}

/// Corrects the p-values for the number of tests. Gated rows are one family; rows that cannot fail the gate do
/// not make it less sensitive.
fn correct(tested: &mut [Tested], policy: &Policy) {
    let adjust = match policy.correction {
        Correction::Bh => benjamini_hochberg,
        Correction::Holm => holm,
    };
    for family in [Gated::Yes, Gated::No] {
        let members: Vec<usize> = (0..tested.len())
            .filter(|&i| tested[i].applied.gate == family && tested[i].regression.is_some())
            .collect();
        let corrected = |side: fn(&Tested) -> Option<f64>, tested: &[Tested]| {
            let raw: Vec<f64> = members.iter().filter_map(|&i| side(&tested[i])).collect();
            adjust(&raw)
        };
        let regression = corrected(|t| t.regression, tested);
        let improvement = corrected(|t| t.improvement, tested);
        for (at, &i) in members.iter().enumerate() {
            tested[i].regression = Some(regression[at]);
            tested[i].improvement = Some(improvement[at]);
        }
    }
}

/// A shift that this share of the suite has in common is one finding, not many.
const COMMON_SHARE: f64 = 0.5;

/// A suite of fewer benchmarks than this has no common shift to speak of.
const COMMON_FLOOR: usize = 5;

/// By how much benchmarks differ, as a share of the shift, in what another speed of the runner does to them: its clock
/// moves those that compute, its memory those that wait for it. They may differ more, and then the suite shows it.
const RESPONSE: f64 = 0.5;

/// Efficiency of the median absolute deviation against the standard deviation: it is known as if from so few values.
const MAD_EFFICIENCY: f64 = 0.37;

/// Sides that were measured apart may differ because the runner does, and each benchmark follows the runner in its own
/// measure: there a row that moved with the suite is tested by what it moved beyond it. Sides measured together share the
/// runner, so there a common shift is real, and only told.
fn common_shift(tested: &mut [Tested], policy: &Policy, notices: &mut Vec<Notice>) {
    for mode in [Mode::Stored, Mode::Paired] {
        let (rows, deltas): (Vec<usize>, Vec<f64>) = (0..tested.len())
            .filter(|&i| tested[i].comparison.mode == mode && !tested[i].comparison.identical)
            .filter(|&i| tested[i].comparison.metric.unit.follows_speed())
            .filter_map(|i| Some((i, tested[i].at_least.last()?.estimate.delta)))
            .unzip();
        if rows.len() < COMMON_FLOOR {
            continue;
        }
        let (n, shift) = (rows.len() as f64, summary::median(&deltas));
        let alike =
            deltas.iter().filter(|&delta| (delta - shift).abs() <= 0.5 * shift.abs()).count();
        if shift.abs() < policy.tolerance.ln_1p() || (alike as f64) < COMMON_SHARE * n {
            continue;
        }
        let seen = format!(
            "{alike} of {} benchmarks moved alike, by about {:+.1} %",
            rows.len(),
            100.0 * shift.exp_m1()
        );
        match mode {
            Mode::Stored => {
                let response = (MAD_TO_SD * summary::mad(&deltas)).max(RESPONSE * shift.abs());
                // The second part is the variance of the median that stands for the runner.
                let unknown = Component {
                    variance: response.powi(2) * (1.0 + 0.5 * PI / n),
                    df: MAD_EFFICIENCY * (n - 1.0),
                };
                for i in rows {
                    tested[i].beside(Shift { by: shift, unknown });
                }
                notices.push(Notice::new(
                    "runner",
                    seen,
                    "the sides were measured at different times, so this is taken for the runner, and what moved \
                     that way is tested by what it moved beyond the others; measure both revisions in one session to tell",
                ));
            }
            Mode::Paired => notices.push(Notice::new(
                "common-shift",
                seen,
                "the runner cancels in a paired run, so the cause is shared code: allocator, flags, a common path",
            )),
        }
    }
}

/// Identical executables cannot differ, so what their numbers say is said of the runner and of this program.
fn canary(tested: &[Tested], policy: &Policy) -> Option<Notice> {
    let same: Vec<&Tested> =
        tested.iter().filter(|t| t.comparison.identical && t.regression.is_some()).collect();
    let alpha = level(policy);
    let wrong: Vec<String> =
        same.iter().filter(|t| t.differs(alpha)).map(|t| t.comparison.id.to_string()).collect();
    let benchmarks = |tested: &mut dyn Iterator<Item = &Tested>| {
        tested.map(|t| &t.comparison.id).collect::<BTreeSet<_>>().len()
    };
    let seen = format!(
        "{} of {} benchmarks come from identical executables",
        benchmarks(&mut same.iter().copied()),
        benchmarks(&mut tested.iter())
    );
    match (same.len(), wrong.len()) {
        (0, _) => None,
        (_, 0) => Some(Notice::new(
            "canary",
            seen,
            "their numbers only watch the runner, and show no difference",
        )),
        _ => Some(Notice::new(
            "canary",
            format!(
                "{seen}, and {} of these came out different: {}",
                wrong.len(),
                listed(&wrong, NAMED)
            ),
            "they cannot be red, but the runner is not to be trusted today",
        )),
    }
}

/// Names that a notice about many benchmarks gives.
const NAMED: usize = 3;

/// What a busy machine measured is told once for all, with a few names.
fn disturbed(tested: &[Tested]) -> Option<Notice> {
    let ids: BTreeSet<&BenchmarkId> =
        tested.iter().filter(|t| t.comparison.disturbed).map(|t| &t.comparison.id).collect();
    let names: Vec<String> = ids.into_iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| {
        Notice::new(
            "disturbed",
            format!(
                "measured while something else used the CPU ({}): {}",
                names.len(),
                listed(&names, NAMED)
            ),
            "beside launches of another time that proves nothing; measure again when the runner is quiet",
        )
    })
}

/// What a look can prove: the tolerance, on the logarithmic scale, that an unchanged benchmark with this noise
/// would be cleared at with 90 % probability.
fn provable(looked: &Looked, alpha_pass: f64) -> f64 {
    let Estimate { se, df, .. } = looked.estimate;
    (t_upper(alpha_pass * looked.look.weight, df) + t_upper(1.0 - POWER, df)) * se
}

/// The estimate that people are shown: that of the last look, or the optimistic one of a single process.
fn shown_estimate(comparison: &Comparison) -> Option<Estimate> {
    match &comparison.finding {
        Finding::Tested(looks) => looks.last().map(|looked| looked.estimate),
        Finding::Indicative { estimate, .. } => *estimate,
        _ => None,
    }
}

fn outcomes(rows: &[Row], policy: &Policy) -> Vec<Outcome> {
    let gated = || rows.iter().filter(|row| row.gated);
    let any = |verdict: Verdict| gated().any(|row| row.verdict == verdict);
    let compared = rows.iter().any(was_compared);
    let mut applied = Vec::new();
    // Where the sides share no benchmark at all, "removed" would be a guess: they are not two states of one suite.
    if gated().any(|row| row.verdict == Verdict::Regression && row.accepted.is_none())
        || (compared && policy.missing == Missing::Fail && any(Verdict::Removed))
    {
        applied.push(Outcome::Fail);
    }
    if any(Verdict::Failed) {
        applied.push(Outcome::Error);
    }
    // Where nothing that was compared is guarded, nothing is shown, so it is no pass either.
    let guarded = gated().any(|row| row.verdict != Verdict::Added);
    if !compared {
        applied.push(Outcome::NothingToCompare);
    } else if !guarded || gated().any(|row| row.verdict == Verdict::Inconclusive && !row.cleared) {
        applied.push(Outcome::Inconclusive);
    }
    if applied.is_empty() {
        applied.push(Outcome::Pass);
    }
    applied
}

/// A benchmark of which another metric was compared has not vanished: the metric that is gone can't be judged.
fn metrics_gone(rows: &mut [Row]) {
    let still_there: BTreeSet<(BenchmarkId, Reference)> = rows
        .iter()
        .filter(|row| was_compared(row))
        .map(|row| (row.id.clone(), row.reference))
        .collect();
    for row in rows.iter_mut().filter(|row| row.verdict == Verdict::Removed) {
        if still_there.contains(&(row.id.clone(), row.reference)) {
            row.verdict = Verdict::Inconclusive;
            row.reason =
                "the candidate has this benchmark without this metric; measure both sides alike"
                    .into();
        }
    }
}

fn was_compared(row: &Row) -> bool {
    !matches!(row.verdict, Verdict::Added | Verdict::Removed | Verdict::Failed)
}

/// A number without needless zeros: `2`, `0.5`, `485`.
fn trim_zeros(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
