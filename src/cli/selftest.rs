//! `selftest`: proof, on real evidence or on simulated launches, that the gate goes red and stays green.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::compare::{Comparison, Method, compare};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::{Judgement, Policy, Row, Verdict, judge};
use crate::model::{Arm, BenchmarkId, Better, Evidence, Mode, Reference, Run, Sample, Series};
use crate::simulate;
use crate::store::Limits;
use crate::store::evidence::EvidenceFile;

use super::evidence::EVIDENCE;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct SelftestArgs {
    /// Evidence of a `check`; that of the last one if absent.
    #[arg(value_name = "EVIDENCE", conflicts_with = "simulate")]
    evidence: Option<PathBuf>,
    /// Simulate instead, and print how often the gate is right under several families of noise, or `watch` over
    /// histories.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "gate")]
    simulate: Option<Simulated>,
    /// How often the sides are exchanged at random (1000 if absent), or how many suites of each kind are
    /// simulated (100 if absent, which takes about a minute), or how many series (1000 if absent).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Seed of everything that is drawn.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// What is simulated.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Simulated {
    /// Suites that the gate judges.
    Gate,
    /// Histories that `watch` looks at.
    History,
}

/// How often the sides are exchanged, and how many suites are simulated, where nothing else is asked for.
const EXCHANGES: u32 = 1000;
const SUITES: u32 = 100;
const SERIES: u32 = 1000;

/// A slowdown of the stated detectable size must be seen in this share of the benchmarks. It is stated for nine in
/// ten; on one set of evidence, whose noise is what it is, eight in ten must hold.
const CAUGHT_AT_DETECTABLE: f64 = 0.80;

/// More benchmarks than this are sampled, so that the work does not grow with the square of the suite.
const TRIED_AT_MOST: usize = 200;

pub(super) fn selftest(arguments: &SelftestArgs, output: &Output) -> Result<u8> {
    if let Some(what) = arguments.simulate {
        let (rounds, seed) = (arguments.rounds, arguments.seed);
        output::print(&match what {
            Simulated::Gate => simulate::table(rounds.unwrap_or(SUITES), seed),
            Simulated::History => simulate::history::table(rounds.unwrap_or(SERIES), seed),
        })?;
        return Ok(0);
    }
    let rounds = arguments.rounds.unwrap_or(EXCHANGES);
    let path = arguments.evidence.clone().unwrap_or_else(|| output.out.join(EVIDENCE));
    let file = EvidenceFile::read(&path, &Limits::OWN)?;
    let trial = Trial::new(&file).map_err(|error| error.within(path.display().to_string()))?;
    let slowdowns = trial.slow_down_each(arguments.seed);
    let reds = trial.exchange(rounds, arguments.seed);
    let verdict = Verdicts { slowdowns, reds, rounds, alpha: trial.policy.alpha };
    output::print(&verdict.to_text())?;
    Ok(if verdict.holds() { 0 } else { ErrorKind::Judge.exit_code() })
}

/// Real evidence, with every proven change taken out so that nothing differs that is not put in.
struct Trial<'a> {
    policy: &'a Policy,
    baseline: Run,
    candidate: Run,
    /// Without the proven changes.
    comparisons: Vec<Comparison>,
    rows: Vec<Row>,
}

/// What became of one benchmark that was slowed down.
struct Slowdown {
    id: BenchmarkId,
    detectable: f64,
    at_once: Verdict,
    at_twice: Verdict,
}

impl<'a> Trial<'a> {
    fn new(file: &'a EvidenceFile) -> Result<Self> {
        let arm = |arm: Arm| {
            let run = file.runs.get(&arm).cloned();
            run.ok_or_else(|| {
                Error::usage(format!("it holds no {arm}; give evidence of `pacegate check`"))
            })
        };
        let mut trial = Trial {
            policy: &file.policy,
            baseline: arm(Arm::Baseline)?,
            candidate: arm(Arm::Candidate)?,
            comparisons: Vec::new(),
            rows: Vec::new(),
        };
        // Identical executables can never be red; here they may, since the slowdown is put in.
        trial.baseline.executables.clear();
        trial.candidate.executables.clear();
        trial.comparisons = trial.compare(&trial.baseline, &trial.candidate);
        for row in trial.judge(trial.comparisons.clone())?.rows.iter().filter(|row| tested(row)) {
            if let (Verdict::Regression | Verdict::Improvement, Some(ratio)) =
                (row.verdict, row.ratio)
            {
                trial.comparisons = stretched(trial.comparisons, row, 1.0 / ratio);
                scale(&mut trial.candidate, &row.id, &row.metric.name, 1.0 / ratio);
            }
        }
        trial.rows = trial.judge(trial.comparisons.clone())?.rows;
        trial.rows.retain(tested);
        if trial.rows.is_empty() {
            return Err(Error::new(
                ErrorKind::NothingToCompare,
                "no benchmark was tested in pairs; measure with `pacegate check` first",
            ));
        }
        Ok(trial)
    }

    fn compare(&self, baseline: &Run, candidate: &Run) -> Vec<Comparison> {
        let method = Method::new(Reference::Base, self.policy.statistic, self.policy.session_noise)
            .taught(&self.policy.learned);
        compare(baseline, candidate, &method)
    }

    fn judge(&self, comparisons: Vec<Comparison>) -> Result<Judgement> {
        judge(comparisons, self.policy).map_err(Error::usage)
    }

    /// Slows each benchmark down in turn, once by what the gate says it would catch and once by twice that.
    fn slow_down_each(&self, seed: u64) -> Vec<Slowdown> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut chosen: Vec<&Row> = self.rows.iter().collect();
        while chosen.len() > TRIED_AT_MOST {
            chosen.swap_remove(rng.random_range(0..chosen.len()));
        }
        chosen.sort_by(|a, b| a.id.cmp(&b.id));
        chosen
            .par_iter()
            .filter_map(|row| {
                let detectable = row.detectable?;
                let verdict = |slowdown: f64| {
                    let factor = match row.metric.better {
                        Better::Lower | Better::Unknown => 1.0 + slowdown,
                        Better::Higher => 1.0 / (1.0 + slowdown),
                    };
                    let judgement =
                        self.judge(stretched(self.comparisons.clone(), row, factor)).ok()?;
                    judgement
                        .rows
                        .iter()
                        .find(|other| other.id == row.id && other.metric.name == row.metric.name)
                        .map(|row| row.verdict)
                };
                Some(Slowdown {
                    id: row.id.clone(),
                    detectable,
                    at_once: verdict(detectable)?,
                    at_twice: verdict(2.0 * detectable)?,
                })
            })
            .collect()
    }

    /// How many of `rounds` suites are red whose pairs have their sides exchanged by the toss of a coin.
    fn exchange(&self, rounds: u32, seed: u64) -> u32 {
        (0..rounds)
            .into_par_iter()
            .filter(|&round| {
                let mut rng = Pcg64Mcg::seed_from_u64(seed ^ (u64::from(round) << 20));
                let (mut baseline, mut candidate) = (self.baseline.clone(), self.candidate.clone());
                for series in &mut candidate.series {
                    let twin = baseline
                        .series
                        .iter_mut()
                        .find(|other| other.id == series.id && other.metric == series.metric);
                    if let Some(twin) = twin {
                        exchange_pairs(twin, series, &mut rng);
                    }
                }
                self.judge(self.compare(&baseline, &candidate)).is_ok_and(|judged| {
                    judged.rows.iter().any(|row| tested(row) && row.verdict == Verdict::Regression)
                })
            })
            .count() as u32
    }
}

fn tested(row: &Row) -> bool {
    row.mode == Mode::Paired && row.detectable.is_some()
}

/// The comparisons with one of them stretched.
fn stretched(mut comparisons: Vec<Comparison>, row: &Row, factor: f64) -> Vec<Comparison> {
    for comparison in &mut comparisons {
        if comparison.id == row.id && comparison.metric.name == row.metric.name {
            comparison.stretch(factor);
        }
    }
    comparisons
}

/// Stretches the samples of one benchmark. In a co-run that also shifts which of them are matched, so that it scatters more:
/// good enough for taking out a change where sides are exchanged.
fn scale(run: &mut Run, id: &BenchmarkId, metric: &str, factor: f64) {
    let ours = |series: &&mut Series| series.id == *id && series.metric.name == metric;
    for series in run.series.iter_mut().filter(ours) {
        if let Evidence::Sampled(launches) = &mut series.evidence {
            for launch in launches {
                let totals = launch.sample.totals().iter().map(|total| total * factor).collect();
                launch.sample =
                    Sample::new(launch.sample.mode(), launch.sample.iters().to_vec(), totals)
                        .expect("a positive finite factor keeps every invariant");
            }
        }
    }
}

fn exchange_pairs(baseline: &mut Series, candidate: &mut Series, rng: &mut Pcg64Mcg) {
    let (Evidence::Sampled(ours), Evidence::Sampled(theirs)) =
        (&mut baseline.evidence, &mut candidate.evidence)
    else {
        return;
    };
    for launch in theirs {
        if rng.random::<bool>()
            && let Some(partner) = ours.iter_mut().find(|partner| partner.pair == launch.pair)
        {
            std::mem::swap(partner, launch);
        }
    }
}

/// What the trials showed.
struct Verdicts {
    slowdowns: Vec<Slowdown>,
    reds: u32,
    rounds: u32,
    alpha: f64,
}

impl Verdicts {
    fn caught(&self, verdict: fn(&Slowdown) -> Verdict) -> usize {
        self.slowdowns.iter().filter(|slowdown| verdict(slowdown) == Verdict::Regression).count()
    }

    /// Reds that chance allows at the promised rate: three standard deviations above it.
    fn allowed(&self) -> f64 {
        let n = f64::from(self.rounds);
        n * self.alpha + 3.0 * (n * self.alpha * (1.0 - self.alpha)).sqrt()
    }

    fn holds(&self) -> bool {
        let all = self.slowdowns.len();
        self.caught(|s| s.at_once) as f64 >= CAUGHT_AT_DETECTABLE * all as f64
            && self.caught(|s| s.at_twice) == all
            && f64::from(self.reds) <= self.allowed()
    }

    fn to_text(&self) -> String {
        let all = self.slowdowns.len();
        let answer = if self.holds() {
            "PASS: the gate goes red when it must and stays green when it must"
        } else {
            "FAIL: the gate is not what it promises on this evidence"
        };
        let mut text = format!("{answer}\n\n");
        let mut line = |line: String| {
            let _ = writeln!(text, "{line}");
        };
        line(format!(
            "  slowed by what is called detectable     red in {} of {all} (at least {:.0} % must be)",
            self.caught(|s| s.at_once),
            100.0 * CAUGHT_AT_DETECTABLE
        ));
        line(format!(
            "  slowed by twice that                    red in {} of {all} (all must be)",
            self.caught(|s| s.at_twice)
        ));
        line(format!(
            "  sides exchanged at random               red in {} of {} suites (at most {:.0} may be)",
            self.reds,
            self.rounds,
            self.allowed().floor()
        ));
        for slowdown in self.slowdowns.iter().filter(|s| s.at_once != Verdict::Regression) {
            line(format!(
                "  missed at its detectable +{:.1} %: {} was {}, at twice that {}",
                100.0 * slowdown.detectable,
                slowdown.id,
                slowdown.at_once.name(),
                slowdown.at_twice.name()
            ));
        }
        text
    }
}
