//! Pairs baseline and candidate by benchmark and metric and estimates the change. It knows no tolerance.
//!
//! ```text
//!  baseline Run ──┐                        ┌─ Tested      launches on both sides: an estimate at each look
//!                 ├── by id and metric ────┼─ Exact       counts and sizes
//!  candidate Run ─┘                        ├─ Indicative  a ratio, but no launches to test it with
//!                                          └─ Added, Removed, Failed
//! ```
//!
//! The launch is the unit of evidence. Two arms that were launched together give one number a pair: the
//! logarithm of the ratio. Sides that were measured apart are compared launch against launch, with the noise
//! between sessions in the standard error.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    BenchmarkId, Evidence, Experiment, Failure, Launch, Look, Metric, Mode, Notice, Reference, Run,
    Sample, Score, Series, Spread, Summary,
};
use crate::stats::flags::FirstBatch;
use crate::stats::prior::noisier_today;
use crate::stats::{self, Course, Estimate, Prior, Statistic, Tau, flags, summary};

/// How the sides are compared.
#[derive(Clone, Debug)]
pub struct Method {
    /// What the baseline is.
    pub reference: Reference,
    /// What a launch is scored by.
    pub statistic: Statistic,
    /// Noise between sessions, for sides that pacegate measured apart and whose own is not known.
    pub session_noise: Tau,
    /// Noise learned from earlier sessions, by benchmark, metric name and experiment.
    pub learned: BTreeMap<(BenchmarkId, String, Experiment), Prior>,
    /// Noise between sessions learned from earlier ones, by the same.
    pub sessions: BTreeMap<(BenchmarkId, String, Experiment), Tau>,
}

/// What earlier sessions taught about the noise of one metric of one benchmark, launched in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// Whose.
    pub id: BenchmarkId,
    /// Name of the metric.
    pub metric: String,
    /// How it was launched.
    pub experiment: Experiment,
    /// Sessions that it was learned from.
    pub runs: u32,
    /// The noise of one pair, or of one launch where it was launched alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Prior>,
    /// The noise between sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Tau>,
}

/// Degrees of freedom of a session noise that is assumed rather than learned. With more, the assumption would
/// pass for knowledge.
const ASSUMED_DF: f64 = 4.0;

impl Method {
    /// Compares against a reference with a statistic and an assumed session noise, with nothing learned.
    pub fn new(reference: Reference, statistic: Statistic, session_noise: f64) -> Self {
        let session_noise = Tau { sd: session_noise, df: ASSUMED_DF };
        let (learned, sessions) = (BTreeMap::new(), BTreeMap::new());
        Method { reference, statistic, session_noise, learned, sessions }
    }

    /// The same with what earlier sessions taught.
    #[must_use]
    pub fn taught(mut self, learned: &[Learned]) -> Self {
        for Learned { id, metric, experiment, pair, session, .. } in learned {
            let key = (id.clone(), metric.clone(), *experiment);
            if let Some(session) = session {
                self.sessions.insert(key.clone(), *session);
            }
            if let Some(pair) = pair {
                self.learned.insert(key, *pair);
            }
        }
        self
    }
}

/// What is known of one metric of one benchmark on two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whose.
    pub id: BenchmarkId,
    /// Of what.
    pub metric: Metric,
    /// Compared with what.
    pub reference: Reference,
    /// Measured together or apart.
    pub mode: Mode,
    /// How it was launched.
    pub experiment: Experiment,
    /// What was found.
    pub finding: Finding,
    /// Whether both sides are the same executable.
    pub identical: bool,
    /// Whether most launches of a side waited for a CPU, where the sides were measured apart: then the times of that
    /// side are those of a busy machine. Sides launched together were busy together.
    pub disturbed: bool,
    /// The numbers behind it.
    pub scores: Scores,
    /// Where the noise estimate comes from.
    pub noise: Noise,
    /// The noise between sessions that stands in the estimate, for sides that were measured in different ones.
    pub between_sessions: Option<Tau>,
    /// What is worth telling.
    pub notices: Vec<Notice>,
}

impl Comparison {
    /// As if every launch of the candidate had scored `factor` times as much.
    ///
    /// The samples themselves cannot be stretched instead: those of a co-run are matched by when they were measured, and
    /// longer ones would be matched with others.
    pub fn stretch(&mut self, factor: f64) {
        if let Finding::Tested(looks) = &mut self.finding {
            for looked in looks {
                looked.estimate.delta += factor.ln();
            }
        }
        self.scores.pairs.iter_mut().for_each(|pair| *pair += factor.ln());
        self.scores.candidate.iter_mut().for_each(|score| *score *= factor);
    }
}

/// What two sides have to say to each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Launches on both sides: the change at each look, ascending.
    Tested(Vec<Looked>),
    /// One score a side without a spread or a number of values: nothing can be tested. Never guarded.
    Shown {
        /// Why.
        why: String,
    },
    /// A change that no launches stand behind.
    Indicative {
        /// The change, with an interval that knows only the noise inside one process; labelled optimistic.
        estimate: Option<Estimate>,
        /// Why it is not tested, and what would be needed.
        why: String,
    },
    /// Values that do not vary.
    Exact {
        /// The baseline's value.
        baseline: f64,
        /// The candidate's value.
        candidate: f64,
        /// Half of the spread that was seen within a side; zero when all values were equal.
        slack: f64,
    },
    /// Only the candidate has it.
    Added,
    /// Only the baseline has it.
    Removed,
    /// It could not be measured or read.
    Failed(String),
}

/// What a look saw: the estimated ln(candidate / baseline).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    /// The look; its pairs are the launches of the smaller side when the sides were measured apart.
    pub look: Look,
    /// The change.
    pub estimate: Estimate,
}

/// Where the noise of a comparison was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Noise {
    /// From its own launches only.
    #[serde(rename = "own")]
    Own,
    /// From its own launches and the other benchmarks of the session.
    #[serde(rename = "own+suite")]
    Suite,
    /// From its own launches and earlier sessions.
    #[serde(rename = "own+history")]
    History,
}

/// The numbers that a comparison rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// ln(candidate / baseline) of each pair, in measured order; empty when the sides were measured apart.
    pub pairs: Vec<f64>,
    /// Score of each launch of the baseline, in the metric's unit.
    pub baseline: Vec<f64>,
    /// Score of each launch of the candidate.
    pub candidate: Vec<f64>,
    /// Pairs at each look that was taken.
    pub looks: Vec<u32>,
    /// Which launches of the baseline and of the candidate, from 0, waited for a CPU that something else used. Launches
    /// that run together wait for each other, so none of them is named.
    pub disturbed: [Vec<usize>; 2],
}

/// Compares two runs. Every benchmark and metric of either side comes out exactly once, sorted.
pub fn compare(baseline: &Run, candidate: &Run, method: &Method) -> Vec<Comparison> {
    let couples = couples(baseline, candidate);
    let sides = Sides { baseline, candidate, method };
    let scored: Vec<Scored> = couples.par_iter().map(|couple| sides.score(couple)).collect();
    let known = Known { suite: SuitePriors::fit(&scored), learned: learned_today(&scored, method) };
    scored.into_par_iter().map(|scored| sides.estimate(scored, &known)).collect()
}

/// Identity across the sides: benchmark and metric name.
type Key = (BenchmarkId, String);

/// What either side says of one key.
struct Couple<'a> {
    key: Key,
    baseline: Option<&'a Series>,
    candidate: Option<&'a Series>,
    baseline_failure: Option<&'a Failure>,
    candidate_failure: Option<&'a Failure>,
}

/// Joins the sides. A file that names no suites matches by name alone, where that is unambiguous.
fn couples<'a>(baseline: &'a Run, candidate: &'a Run) -> Vec<Couple<'a>> {
    let renamed = adopt_suites(baseline, candidate);
    let id_of = |id: &BenchmarkId| renamed.get(id).cloned().unwrap_or_else(|| id.clone());
    let mut couples: BTreeMap<Key, Couple<'a>> = BTreeMap::new();
    let mut entry = |id: &BenchmarkId, metric: &str, fill: &mut dyn FnMut(&mut Couple<'a>)| {
        let key = (id_of(id), metric.to_owned());
        fill(couples.entry(key.clone()).or_insert(Couple {
            key,
            baseline: None,
            candidate: None,
            baseline_failure: None,
            candidate_failure: None,
        }));
    };
    for series in &baseline.series {
        entry(&series.id, &series.metric.name, &mut |couple| couple.baseline = Some(series));
    }
    for series in &candidate.series {
        entry(&series.id, &series.metric.name, &mut |couple| couple.candidate = Some(series));
    }
    // A failure stands for the benchmark's time: that is the metric which the launch did not deliver.
    let time = Metric::time().name;
    for failure in &baseline.failures {
        entry(&failure.id, &time, &mut |couple| couple.baseline_failure = Some(failure));
    }
    for failure in &candidate.failures {
        entry(&failure.id, &time, &mut |couple| couple.candidate_failure = Some(failure));
    }
    couples.into_values().collect()
}

/// Maps ids without a suite to the one id of the other side that has the same name.
fn adopt_suites(baseline: &Run, candidate: &Run) -> BTreeMap<BenchmarkId, BenchmarkId> {
    let ids = |run: &Run| -> BTreeSet<BenchmarkId> {
        run.series
            .iter()
            .map(|s| &s.id)
            .chain(run.failures.iter().map(|f| &f.id))
            .cloned()
            .collect()
    };
    let (ours, theirs) = (ids(baseline), ids(candidate));
    let mut renamed = BTreeMap::new();
    for (from, to) in [(&ours, &theirs), (&theirs, &ours)] {
        for id in from.iter().filter(|id| id.suite.is_empty() && !to.contains(id)) {
            let mut same_name = to.iter().filter(|other| other.name == id.name);
            if let (Some(only), None) = (same_name.next(), same_name.next()) {
                renamed.insert(id.clone(), only.clone());
            }
        }
    }
    renamed
}

/// A couple whose launches are scored; what remains is the noise, which the whole suite helps to learn.
struct Scored {
    id: BenchmarkId,
    metric: Metric,
    experiment: Experiment,
    mode: Mode,
    identical: bool,
    disturbed: bool,
    looks: Vec<Look>,
    scores: Scores,
    /// Known without a test, or `None` where launches decide.
    finding: Option<Finding>,
    /// Standard deviation of a pair's logarithm that the timer's steps alone cause.
    grain: f64,
    notices: Vec<Notice>,
}

impl Scored {
    fn key(&self) -> (BenchmarkId, String, Experiment) {
        (self.id.clone(), self.metric.name.clone(), self.experiment)
    }
}

/// Both runs and how to compare them.
struct Sides<'a> {
    baseline: &'a Run,
    candidate: &'a Run,
    method: &'a Method,
}

impl Sides<'_> {
    fn score(&self, couple: &Couple<'_>) -> Scored {
        let either = couple.candidate.or(couple.baseline);
        let mut scored = Scored {
            id: couple.key.0.clone(),
            metric: either.map_or_else(Metric::time, |series| series.metric.clone()),
            experiment: either.map_or(Experiment::Imported, |series| series.experiment),
            mode: self.mode(couple),
            identical: self.identical(&couple.key.0),
            disturbed: false,
            looks: couple.candidate.map(|series| series.looks.clone()).unwrap_or_default(),
            scores: Scores::default(),
            finding: None,
            grain: 0.0,
            notices: Vec::new(),
        };
        match (couple.baseline, couple.candidate, couple.candidate_failure) {
            (_, _, Some(failure)) => {
                scored.finding = Some(Finding::Failed(said(failure)));
            }
            (Some(baseline), Some(candidate), None) => match couple.baseline_failure {
                // Some of its values are there, but nobody knows what the failure did to them.
                Some(failure) => {
                    scored.finding = Some(Finding::Failed(format!("baseline: {}", said(failure))));
                }
                None => self.score_both(&mut scored, baseline, candidate),
            },
            (None, Some(_), None) => {
                if let Some(failure) = couple.baseline_failure {
                    scored.notices.push(Notice::new(
                        "baseline-failed",
                        format!("the baseline of {} failed: {}", couple.key.0, failure.message),
                        "the candidate works, so it counts as added",
                    ));
                }
                scored.finding = Some(Finding::Added);
            }
            (Some(_), None, None) => scored.finding = Some(Finding::Removed),
            (None, None, None) => {
                let failure = couple.baseline_failure.expect("a couple has something on one side");
                scored.finding = Some(Finding::Failed(format!("baseline: {}", said(failure))));
            }
        }
        scored
    }

    fn one_session(&self) -> bool {
        self.baseline.session.is_some() && self.baseline.session == self.candidate.session
    }

    /// Arms that were launched together in one session are paired; everything else was measured apart.
    fn mode(&self, couple: &Couple<'_>) -> Mode {
        let plain = couple.candidate.or(couple.baseline).is_some_and(|series| {
            // What does not vary is the same whenever it was counted.
            !matches!(series.evidence, Evidence::Exact(_))
                && matches!(series.experiment, Experiment::Plain | Experiment::Imported)
        });
        if self.one_session() && !plain { Mode::Paired } else { Mode::Stored }
    }

    fn identical(&self, id: &BenchmarkId) -> bool {
        match (self.baseline.executables.get(&id.suite), self.candidate.executables.get(&id.suite))
        {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => false,
        }
    }

    fn score_both(&self, scored: &mut Scored, baseline: &Series, candidate: &Series) {
        if let Some(conflict) = conflict(baseline, candidate, scored.mode) {
            scored.finding = Some(Finding::Failed(conflict));
            return;
        }
        if let (Some(ours), Some(theirs)) =
            (self.scores(&baseline.evidence), self.scores(&candidate.evidence))
        {
            self.score_launches(scored, baseline, candidate, [ours, theirs]);
            return;
        }
        match (&baseline.evidence, &candidate.evidence) {
            (Evidence::Exact(ours), Evidence::Exact(theirs)) => score_exact(scored, ours, theirs),
            (Evidence::Summary(ours), Evidence::Summary(theirs)) => {
                score_summaries(scored, ours, theirs)
            }
            _ => {
                scored.finding = Some(Finding::Failed(
                    "the sides hold different kinds of evidence; write both with the same tool"
                        .into(),
                ));
            }
        }
    }

    /// The scores of launches, whether or not their samples are still at hand.
    fn scores(&self, evidence: &Evidence) -> Option<Vec<Score>> {
        match evidence {
            Evidence::Sampled(launches) => Some(launch_scores(launches, self.method.statistic)),
            Evidence::Scored(scores) => Some(scores.clone()),
            Evidence::Summary(_) | Evidence::Exact(_) => None,
        }
    }

    fn score_launches(
        &self,
        scored: &mut Scored,
        baseline: &Series,
        candidate: &Series,
        [ours, theirs]: [Vec<Score>; 2],
    ) {
        scored.scores.baseline = ours.iter().map(|launch| launch.score).collect();
        scored.scores.candidate = theirs.iter().map(|launch| launch.score).collect();
        if matches!(scored.experiment, Experiment::Interleaved | Experiment::Plain) {
            scored.scores.disturbed = [baseline, candidate].map(disturbed);
        }
        let below_timer = |scores: &[f64]| scores.iter().any(|&score| score <= 0.0);
        if below_timer(&scored.scores.baseline) || below_timer(&scored.scores.candidate) {
            scored.finding = Some(Finding::Indicative {
                estimate: None,
                why: "a launch scores zero, below what the timer can resolve; make an iteration do more".into(),
            });
            return;
        }
        let coarsest = |side: &[Score]| side.iter().map(|launch| launch.grain).fold(0.0, f64::max);
        scored.grain = coarsest(&ours).hypot(coarsest(&theirs));
        if scored.grain > 0.0 {
            scored.notices.push(Notice::new(
                "quantised",
                format!("{} moves in the steps of a coarse timer", scored.id),
                "the steps are part of the interval; make an iteration do more",
            ));
        }
        if scored.mode == Mode::Stored {
            scored.disturbed = [baseline, candidate].into_iter().any(mostly_disturbed);
        }
        let (Evidence::Sampled(ours), Evidence::Sampled(theirs)) =
            (&baseline.evidence, &candidate.evidence)
        else {
            return;
        };
        unsteady(scored, ours, theirs);
        if scored.mode == Mode::Paired {
            self.score_pairs(scored, ours, theirs);
            slow_modes(scored);
        } else if let ([ours], [theirs]) = (ours.as_slice(), theirs.as_slice()) {
            let sides = [("baseline", &ours.sample), ("candidate", &theirs.sample)];
            scored.notices.extend(first_batches(&scored.id, sides));
            scored.finding = Some(one_process(&ours.sample, &theirs.sample));
        }
    }

    fn score_pairs(&self, scored: &mut Scored, baseline: &[Launch], candidate: &[Launch]) {
        let by_pair: BTreeMap<u32, &Sample> =
            baseline.iter().map(|l| (l.pair, &l.sample)).collect();
        for launch in candidate {
            let Some(partner) = by_pair.get(&launch.pair) else { continue };
            let score =
                pair_score(scored.experiment, partner, &launch.sample, self.method.statistic);
            scored.scores.pairs.push(score);
        }
        if scored.looks.is_empty() {
            let pairs = scored.scores.pairs.len() as u32;
            scored.looks = vec![Look { pairs, weight: 1.0 }];
        }
    }

    fn estimate(&self, mut scored: Scored, known: &Known) -> Comparison {
        let mut noise = Noise::Own;
        let finding = match scored.finding.take() {
            Some(finding) => finding,
            None => {
                let looked = match scored.mode {
                    Mode::Paired => estimate_pairs(&scored, known, &mut noise),
                    Mode::Stored => self.estimate_apart(&scored, known, &mut noise),
                };
                if looked.is_empty() {
                    Finding::Indicative {
                        estimate: None,
                        why: "too few launches for any test; a test needs two on each side".into(),
                    }
                } else {
                    Finding::Tested(looked)
                }
            }
        };
        let between_sessions = self.between_sessions(&scored);
        scored.scores.looks = scored.looks.iter().map(|look| look.pairs).collect();
        Comparison {
            id: scored.id,
            metric: scored.metric,
            reference: self.method.reference,
            mode: scored.mode,
            experiment: scored.experiment,
            finding,
            identical: scored.identical,
            disturbed: scored.disturbed,
            scores: scored.scores,
            noise,
            between_sessions,
            notices: scored.notices,
        }
    }

    /// Files of other tools may well have been measured in turn; only pacegate's own sessions are known to lie apart.
    fn between_sessions(&self, scored: &Scored) -> Option<Tau> {
        let ours = scored.experiment != Experiment::Imported;
        let apart = scored.mode == Mode::Stored && ours && !self.one_session();
        let own = self.method.sessions.get(&scored.key()).copied();
        apart.then(|| own.unwrap_or(self.method.session_noise))
    }

    fn estimate_apart(&self, scored: &Scored, known: &Known, noise: &mut Noise) -> Vec<Looked> {
        let prior;
        (prior, *noise) = known.prior(scored, 0);
        let tau = self.between_sessions(scored);
        let logs = |scores: &[f64]| scores.iter().map(|score| score.ln()).collect::<Vec<f64>>();
        let (ours, theirs) = (logs(&scored.scores.baseline), logs(&scored.scores.candidate));
        let pairs = ours.len().min(theirs.len());
        stats::unpaired(&ours, &theirs, [prior; 2], tau)
            .map(|estimate| Looked {
                look: Look { pairs: pairs as u32, weight: 1.0 },
                estimate: widened(estimate, scored.grain, pairs),
            })
            .into_iter()
            .collect()
    }
}

fn estimate_pairs(scored: &Scored, known: &Known, noise: &mut Noise) -> Vec<Looked> {
    let mut looked = Vec::new();
    for (index, &look) in scored.looks.iter().enumerate() {
        let pairs = &scored.scores.pairs[..scored.scores.pairs.len().min(look.pairs as usize)];
        let prior;
        (prior, *noise) = known.prior(scored, index);
        if let Some(estimate) = stats::paired(pairs, prior) {
            let look = Look { pairs: pairs.len() as u32, ..look };
            looked.push(Looked { look, estimate: widened(estimate, scored.grain, pairs.len()) });
        }
    }
    looked
}

/// What is known of the noise beside a benchmark's own launches.
struct Known {
    suite: SuitePriors,
    learned: BTreeMap<(BenchmarkId, String, Experiment), Prior>,
}

impl Known {
    /// A benchmark's own history knows it better than its neighbours do.
    fn prior(&self, scored: &Scored, look: usize) -> (Option<&Prior>, Noise) {
        match (self.learned.get(&scored.key()), self.suite.at(scored.experiment, look)) {
            (Some(learned), _) => (Some(learned), Noise::History),
            (None, Some(suite)) => (Some(suite), Noise::Suite),
            (None, None) => (None, Noise::Own),
        }
    }
}

/// What earlier sessions taught, for a day that may be noisier than they were: never less, since a quiet day proves
/// nothing about the next benchmark.
fn learned_today(
    all: &[Scored],
    method: &Method,
) -> BTreeMap<(BenchmarkId, String, Experiment), Prior> {
    let rows: Vec<(f64, f64, Prior)> = all
        .iter()
        .filter_map(|scored| {
            let prior = method.learned.get(&scored.key())?;
            let (variance, df) = stats::own_variance(&scored.scores.pairs);
            Some((variance, df, *prior))
        })
        .collect();
    let factor = noisier_today(&rows);
    method.learned.iter().map(|(key, prior)| (key.clone(), prior.scaled(factor))).collect()
}

/// The noise that the benchmarks of a session share, by experiment and look. It is fitted from everything
/// that had been measured by that look, so that a later look never changes what an earlier one saw.
struct SuitePriors(BTreeMap<(Experiment, usize), Prior>);

impl SuitePriors {
    fn fit(all: &[Scored]) -> Self {
        let mut variances: BTreeMap<(Experiment, usize), Vec<(f64, f64)>> = BTreeMap::new();
        let looks = all.iter().map(|scored| scored.looks.len()).max().unwrap_or(0).max(1);
        for scored in all.iter().filter(|scored| scored.finding.is_none()) {
            for index in 0..looks {
                let at = variances.entry((scored.experiment, index)).or_default();
                match scored.mode {
                    Mode::Paired => {
                        let Some(look) = scored.looks.get(index).or(scored.looks.last()) else {
                            continue;
                        };
                        let pairs = &scored.scores.pairs;
                        at.push(stats::own_variance(
                            &pairs[..pairs.len().min(look.pairs as usize)],
                        ));
                    }
                    Mode::Stored if index == 0 => {
                        for scores in [&scored.scores.baseline, &scored.scores.candidate] {
                            let logs: Vec<f64> = scores.iter().map(|score| score.ln()).collect();
                            at.push(stats::launch_variance(&logs));
                        }
                    }
                    Mode::Stored => {}
                }
            }
        }
        SuitePriors(
            variances
                .into_iter()
                .filter_map(|(key, variances)| Some((key, stats::suite_prior(&variances)?)))
                .collect(),
        )
    }

    fn at(&self, experiment: Experiment, look: usize) -> Option<&Prior> {
        self.0.get(&(experiment, look))
    }
}

/// ln(candidate / baseline) of one pair. Arms that ran together met the same neighbours at the same time, so what
/// they measured at the same time is compared; arms that ran in turn are compared launch against launch, by
/// `statistic`. Not finite where a launch is below what the timer can resolve.
pub fn pair_score(
    experiment: Experiment,
    ours: &Sample,
    theirs: &Sample,
    statistic: Statistic,
) -> f64 {
    let (baseline, candidate) = (ours.values(), theirs.values());
    let score = match experiment {
        Experiment::Corun => stats::overlap_score(
            Course { values: &baseline, spans: ours.totals() },
            Course { values: &candidate, spans: theirs.totals() },
        ),
        Experiment::Turnstile => stats::turns_score(&baseline, &candidate),
        Experiment::Interleaved | Experiment::Plain | Experiment::Imported => f64::NAN,
    };
    if score.is_finite() {
        score
    } else {
        stats::launch_score(&candidate, statistic).ln()
            - stats::launch_score(&baseline, statistic).ln()
    }
}

/// Which launches are known to have been disturbed, from 0.
fn disturbed(series: &Series) -> Vec<usize> {
    let Evidence::Sampled(launches) = &series.evidence else { return Vec::new() };
    let launches = launches.iter().enumerate();
    launches.filter(|(_, launch)| launch.was_disturbed()).map(|(index, _)| index).collect()
}

fn mostly_disturbed(series: &Series) -> bool {
    let Evidence::Sampled(launches) = &series.evidence else { return false };
    2 * disturbed(series).len() > launches.len()
}

/// A single process on each side: the samples inside give an interval that knows nothing of the next process.
fn one_process(baseline: &Sample, candidate: &Sample) -> Finding {
    let logs = |sample: &Sample| -> Option<Vec<f64>> {
        let values = sample.values();
        values
            .iter()
            .all(|&value| value > 0.0)
            .then(|| values.iter().map(|value| value.ln()).collect())
    };
    let estimate = match (logs(baseline), logs(candidate)) {
        (Some(ours), Some(theirs)) => stats::unpaired(&ours, &theirs, [None; 2], None),
        _ => None,
    };
    Finding::Indicative {
        estimate,
        why: "one process on each side says nothing of the next process; give several launches, \
              or let samples decide with --trust-samples"
            .into(),
    }
}

/// How seldom chance sets the first value of a process apart where that is told.
const FIRST_BATCH_ALPHA: f64 = 0.05;

/// Tells where a process began slowly or fast: its first value may be a warm-up that the others do not share.
fn first_batches<'a>(
    id: &'a BenchmarkId,
    sides: [(&'a str, &'a Sample); 2],
) -> impl Iterator<Item = Notice> + 'a {
    sides.into_iter().filter_map(move |(side, sample)| {
        let values = sample.values();
        let first = flags::first_batch(&values, FIRST_BATCH_ALPHA).filter(FirstBatch::stands_apart)?;
        Some(Notice::new(
            "first-batch",
            format!(
                "the first of {} values of the {side} of {id} is {:.2} times the mean of the others",
                values.len(),
                first.ratio
            ),
            "it looks like a warm-up; a median hardly feels it, a mean does",
        ))
    })
}

/// Summaries of several processes or files are launches; a single one is indicative, unless it says itself
/// how many processes it stands for.
fn score_summaries(scored: &mut Scored, baseline: &[Summary], candidate: &[Summary]) {
    let scores = |side: &[Summary]| side.iter().map(|summary| summary.score).collect::<Vec<f64>>();
    scored.scores.baseline = scores(baseline);
    scored.scores.candidate = scores(candidate);
    if scored.scores.baseline.iter().chain(&scored.scores.candidate).any(|&score| score <= 0.0) {
        scored.finding = Some(Finding::Indicative {
            estimate: None,
            why: "a score of zero or less has no ratio; look at how it was measured".into(),
        });
        return;
    }
    let ([ours], [theirs]) = (baseline, candidate) else { return };
    let (Some(a), Some(b)) = (side(ours), side(theirs)) else {
        scored.finding = Some(Finding::Shown {
            why: "the input gives no spread or no number of values, so it is shown and not guarded"
                .into(),
        });
        return;
    };
    let Some(estimate) = stats::summaries(&a, &b, None) else { return };
    scored.finding = Some(match ours.launches.zip(theirs.launches).map(|(a, b)| a.min(b)) {
        Some(launches) if launches > 1 => {
            Finding::Tested(vec![Looked { look: Look { pairs: launches, weight: 1.0 }, estimate }])
        }
        _ => Finding::Indicative {
            estimate: Some(estimate),
            why: "the numbers of each side come from one process; give several launches, \
                  or let samples decide with --trust-samples"
                .into(),
        },
    });
}

/// A summary as statistics want it. Where it stands for several launches, they are the degrees of freedom.
fn side(summary: &Summary) -> Option<stats::Summary> {
    let n = u64::from(summary.n?);
    let values = match summary.spread? {
        Spread::StandardError(error) => {
            stats::Summary { score: summary.score, se: error, df: n.checked_sub(1)? as f64 }
        }
        Spread::StandardDeviation(deviation) => {
            stats::Summary::from_deviation(summary.score, deviation, n)?
        }
        Spread::HalfWidth { value, confidence } => {
            stats::Summary::from_half_width(summary.score, value, confidence, n)?
        }
    };
    let launches = summary.launches.filter(|&launches| launches > 1);
    Some(stats::Summary { df: launches.map_or(values.df, |n| f64::from(n - 1)), ..values })
}

/// Values of one side that are this close, relative to their median, count as one value with a slack.
const EXACT_SPREAD: f64 = 1e-3;

fn score_exact(scored: &mut Scored, baseline: &[f64], candidate: &[f64]) {
    scored.scores.baseline = baseline.to_vec();
    scored.scores.candidate = candidate.to_vec();
    let [ours, theirs] = [baseline, candidate].map(|values| {
        let centre = summary::median(values);
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        (centre, (high - low) / 2.0)
    });
    let varies = |(centre, slack): (f64, f64)| slack > EXACT_SPREAD * centre.abs() / 2.0;
    if varies(ours) || varies(theirs) {
        // The counts are not deterministic after all: they are scores of launches, and are tested so.
        let positive = baseline.iter().chain(candidate).all(|&value| value > 0.0);
        if !positive {
            scored.finding = Some(Finding::Indicative {
                estimate: None,
                why: "an exact metric that varies and reaches zero has no ratio to test".into(),
            });
        }
        scored.mode = Mode::Stored;
        return;
    }
    scored.finding =
        Some(Finding::Exact { baseline: ours.0, candidate: theirs.0, slack: ours.1.max(theirs.1) });
}

/// What makes two series incomparable.
fn conflict(baseline: &Series, candidate: &Series, mode: Mode) -> Option<String> {
    if baseline.metric.unit != candidate.metric.unit {
        return Some(format!(
            "the baseline is in {} and the candidate in {}; measure both in one unit",
            baseline.metric.unit, candidate.metric.unit
        ));
    }
    if baseline.metric.better != candidate.metric.better {
        return Some(
            "the sides disagree on whether more is better; state it with a `better` rule".into(),
        );
    }
    if baseline.experiment != candidate.experiment {
        return Some(format!(
            "the baseline was measured {} and the candidate {}; such numbers are not comparable",
            baseline.experiment, candidate.experiment
        ));
    }
    let together = matches!(baseline.experiment, Experiment::Corun | Experiment::Turnstile);
    if together && mode == Mode::Stored {
        return Some(format!(
            "the sides are {} launches of different sessions, whose times mean something only beside each other; \
             compare plain launches of `pacegate run`",
            baseline.experiment
        ));
    }
    None
}

fn said(failure: &Failure) -> String {
    match failure.output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("{}; it last said: {}", failure.message, last.trim()),
        None => failure.message.clone(),
    }
}

/// What a comparison needs to know of each launch, so that its samples need not be kept.
pub fn launch_scores(launches: &[Launch], statistic: Statistic) -> Vec<Score> {
    let one = |launch: &Launch| {
        let values = launch.sample.values();
        let grain = flags::grain(&values)
            .map_or(0.0, |grain| flags::grain_variance(grain).sqrt() / summary::median(&values));
        Score {
            score: stats::launch_score(&values, statistic),
            samples: values.len() as u32,
            grain: if grain.is_finite() { grain } else { 0.0 },
        }
    };
    launches.iter().map(one).collect()
}

/// Adds the timer's steps to a standard error.
fn widened(estimate: Estimate, grain: f64, pairs: usize) -> Estimate {
    Estimate { se: estimate.se.hypot(grain / (pairs.max(1) as f64).sqrt()), ..estimate }
}

fn unsteady(scored: &mut Scored, baseline: &[Launch], candidate: &[Launch]) {
    let all = baseline.iter().chain(candidate);
    let count = all.filter(|launch| flags::unsteady(&launch.sample.values()).is_some()).count();
    let total = baseline.len() + candidate.len();
    if 2 * count > total {
        scored.notices.push(Notice::new(
            "unsteady",
            format!(
                "{count} of {total} launches of {} drift from their first half to their second",
                scored.id
            ),
            "all samples count; a longer warm-up may help",
        ));
    }
}

/// A difference between the shares of slow launches is told when chance would make it this seldom.
const MODE_SHARE_ALPHA: f64 = 0.01;

fn slow_modes(scored: &mut Scored) {
    let [ours, theirs] = [&scored.scores.baseline, &scored.scores.candidate].map(|scores| {
        let logs: Vec<f64> = scores.iter().map(|score| score.ln()).collect();
        (flags::slow_launches(&logs, None), logs.len())
    });
    if flags::mode_share(ours, theirs) < MODE_SHARE_ALPHA {
        scored.notices.push(Notice::new(
            "mode-share",
            format!(
                "{} of {} launches of the baseline and {} of {} of the candidate of {} fell into a slow mode",
                ours.0, ours.1, theirs.0, theirs.1, scored.id
            ),
            "the estimate ignores a few slow launches on purpose; see whether the change made them likelier",
        ));
    }
}
