//! `bisect`: the commit that made one benchmark slower, by paired runs against the good end.
//!
//! ```text
//!   good ......................... bad       slower by D, proven
//!              ^ slower than good by more than D / 2?   yes: the guilty commit is here or before   no: behind
//! ```
//!
//! Each question is the gate's own, with half of the whole slowdown as its tolerance and an error rate that all questions
//! share. What does not build, or cannot be told, is left out; its neighbours are asked instead.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::Args;

use crate::config::DEFAULT_PROFILE;
use crate::error::{Error, ErrorKind, Result};
use crate::gate::{Policy, Row, Verdict};
use crate::history::search::{Search, Told};
use crate::measure::build::{Built, Workshop};
use crate::measure::revisions::{Named, between};
use crate::model::{Arm, Metric};
use crate::store::evidence::{Ending, EvidenceFile};

use super::check::{Job, SuiteArgs, interrupted};
use super::evidence::{EVIDENCE, report_of};
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct BisectArgs {
    /// A commit, tag or branch that was fast.
    #[arg(value_name = "GOOD")]
    good: String,
    /// One behind it that is slow.
    #[arg(value_name = "BAD")]
    bad: String,
    /// The benchmark: its name, or a glob that matches one.
    #[arg(value_name = "BENCH")]
    benchmark: String,
    /// Profile of pacegate.yaml: how much is measured.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PROFILE)]
    profile: String,
    /// Seed of every drawn order; drawn if absent.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Flags for `cargo bench`, for example `--features fast`.
    #[arg(last = true, value_name = "CARGO FLAGS")]
    cargo: Vec<String>,
}

pub(super) fn bisect(arguments: &BisectArgs, output: &Output) -> Result<u8> {
    let suite =
        SuiteArgs::one(&arguments.benchmark, &arguments.profile, arguments.seed, &arguments.cargo);
    let job = Job::new(&suite, output)?;
    let workshop = Workshop::open(Path::new("."), &job.target)?;
    let commits = between(Path::new("."), &arguments.good, &arguments.bad)?;
    let usual = job.policy.clone();
    let mut bisection =
        Bisection { job, workshop, commits, built: BTreeMap::new(), pages: String::new(), output };
    let last = bisection.commits.len() - 1;
    output::say(&format!("{} commits; first the two ends", last));
    let (whole, _) = bisection.compare(0, last, &usual)?;
    bisection.note(0, last, &whole, "the whole way");
    let Some(shift) = whole.worse_by().filter(|_| whole.verdict == Verdict::Regression) else {
        output::print(&bisection.pages)?;
        return Err(Error::new(
            ErrorKind::Judge,
            format!(
                "{} is not proven slower at {} than at {}: {}; nothing to bisect",
                whole.id, arguments.bad, arguments.good, whole.reason
            ),
        ));
    };
    let mut search = Search::new(bisection.commits.len());
    let policy = halved(&usual, shift, Search::questions(bisection.commits.len()));
    while let Some(place) = search.ask() {
        let told = match bisection.compare(0, place, &policy) {
            Ok((row, _)) => {
                let told = match row.verdict {
                    Verdict::Regression => Told::Slow,
                    _ if row.cleared => Told::Fast,
                    _ => Told::Unknown,
                };
                let word = match told {
                    Told::Slow => "slow",
                    Told::Fast => "fast",
                    Told::Unknown => "cannot tell",
                };
                bisection.note(0, place, &row, word);
                told
            }
            Err(error) if error.kind() == ErrorKind::Judge => {
                bisection.skip(place, &error);
                Told::Unknown
            }
            Err(error) => return Err(error),
        };
        search.tell(place, told);
    }
    bisection.conclude(search.bounds(), &usual)
}

/// The policy of a question: half of the whole slowdown is the border, and all questions share one error rate.
fn halved(usual: &Policy, shift: f64, questions: u32) -> Policy {
    let share = f64::from(questions.max(1));
    let rules = usual.rules.iter().cloned().map(|mut rule| {
        rule.tolerance = None;
        rule
    });
    Policy {
        tolerance: (0.5 * shift.ln_1p()).exp_m1(),
        alpha: usual.alpha / share,
        alpha_pass: usual.alpha_pass / share,
        rules: rules.collect(),
        ..usual.clone()
    }
}

struct Bisection<'a> {
    job: Job,
    workshop: Workshop,
    commits: Vec<Named>,
    /// What was built of each place.
    built: BTreeMap<usize, Built>,
    /// What was seen, line by line.
    pages: String,
    output: &'a Output,
}

impl Bisection<'_> {
    fn name(&self, place: usize) -> &str {
        let sha = &self.commits[place].sha;
        sha.get(..7).unwrap_or(sha)
    }

    /// Builds what is not built and launches the two side by side.
    fn compare(
        &mut self,
        good: usize,
        place: usize,
        policy: &Policy,
    ) -> Result<(Row, EvidenceFile)> {
        for at in [good, place] {
            // The one that was built last has its files in the tree, so the candidate is always built.
            if at == place || !self.built.contains_key(&at) {
                let sha = self.commits[at].sha.clone();
                output::say(&format!("building {} {}", self.name(at), self.commits[at].subject));
                let revision = self.workshop.named(&sha)?;
                let built = self.job.build(&self.workshop, &revision)?;
                self.built.insert(at, built);
            }
        }
        self.job.policy = policy.clone();
        let arms = BTreeMap::from([
            (Arm::Baseline, self.built[&good].clone()),
            (Arm::Candidate, self.built[&place].clone()),
        ]);
        let file = self.job.launch(&arms)?;
        if file.ending == Ending::Interrupted {
            return Err(interrupted(self.output));
        }
        let rows = report_of(&file)?.rows;
        let mut rows = rows.into_iter().filter(|row| row.metric.name == Metric::time().name);
        match (rows.next(), rows.next()) {
            (Some(row), None) => Ok((row, file)),
            (Some(one), Some(other)) => Err(Error::usage(format!(
                "both {} and {} match; name one benchmark",
                one.id, other.id
            ))),
            (None, _) => Err(Error::judge("it measured nothing; look at the benchmark")),
        }
    }

    fn note(&mut self, good: usize, place: usize, row: &Row, word: &str) {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let change = row.ratio.map_or_else(|| "?".into(), |r| format!("{:+.1} %", percent(r)));
        let interval = row.ci.map_or_else(String::new, |(low, high)| {
            format!(" [{:+.1}, {:+.1}]", percent(low), percent(high))
        });
        let line = format!(
            "{} against {}  {word:11}  {change}{interval}, {} pairs  {}",
            self.name(place),
            self.name(good),
            row.scores.pairs.len(),
            self.commits[place].subject
        );
        output::say(&line);
        let _ = writeln!(self.pages, "  {line}");
    }

    fn skip(&mut self, place: usize, error: &Error) {
        let message = error.to_string();
        let why = message.lines().next().unwrap_or_default();
        let line = format!("{} left out: {why}", self.name(place));
        output::say(&line);
        let _ = writeln!(self.pages, "  {line}");
    }

    /// Measures the two sides of what was found against each other, and says it.
    fn conclude(mut self, (good, bad): (usize, usize), usual: &Policy) -> Result<u8> {
        let (row, file) = self.compare(good, bad, usual)?;
        self.note(good, bad, &row, "the step");
        std::fs::create_dir_all(&self.output.out)?;
        let path = self.output.out.join(EVIDENCE);
        file.write(&path)?;
        let guilty = &self.commits[bad];
        let answer = if bad == good + 1 {
            format!("{} made {} slower: {}", guilty.sha, row.id, guilty.subject)
        } else {
            let names: Vec<&str> = (good + 1..=bad).map(|place| self.name(place)).collect();
            format!(
                "one of {} commits made {} slower, and they cannot be told apart: {}",
                bad - good,
                row.id,
                names.join(", ")
            )
        };
        let proof = match row.verdict {
            Verdict::Regression => "proven against the commit before it".to_owned(),
            _ => format!("not proven against the commit before it: {}", row.reason),
        };
        output::print(&format!(
            "{answer}\n  {proof}; evidence: {}\n{}",
            path.display(),
            self.pages
        ))?;
        Ok(0)
    }
}
