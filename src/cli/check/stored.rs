//! The second reference of `check`: the candidate launched alone, beside the stored baseline of this runner class.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::{Job, unmeasured};
use crate::cli::baseline::scored_alike;
use crate::cli::output;
use crate::cli::progress::Bar;
use crate::cli::record::{Entry, record};
use crate::error::Result;
use crate::measure::build::commits_since;
use crate::measure::session::{self, Benchmark, session};
use crate::model::{Arm, BenchmarkId, Look, Notice, Run};
use crate::store::Limits;
use crate::store::baseline::{Baseline, Baselines, FOLDER, ageing};

/// What launching the candidate alone gave.
#[derive(Default)]
pub(super) struct Alone {
    pub(super) launches: usize,
    pub(super) repeated: usize,
    pub(super) notices: Vec<Notice>,
}

impl Job {
    /// Launches the candidate alone where this class of runners has a stored baseline, and adds both sides to the
    /// runs. It comes before the pairs, so that every look at these knows the whole family of tests.
    pub(super) fn measure_alone(
        &self,
        suite: &[Entry],
        runs: &mut BTreeMap<Arm, Run>,
        plan: &session::Plan,
    ) -> Result<Alone> {
        let settings = self.profile.stored;
        let is_check = runs.contains_key(&Arm::Baseline) && !runs.contains_key(&Arm::Release);
        let candidate = &runs[&Arm::Candidate];
        let Some(class) =
            candidate.environment.class().filter(|_| is_check && settings.launches > 0)
        else {
            return Ok(Alone::default());
        };
        let baselines = Baselines::at(FOLDER);
        let Some(baseline) = baselines.current(&class, &Limits::OWN)? else {
            let classes: Vec<String> = baselines.index()?.keys().map(ToString::to_string).collect();
            let notices = if classes.is_empty() {
                Vec::new()
            } else {
                vec![Notice::new(
                    "no-stored-baseline",
                    format!(
                        "no stored baseline for the runner class `{class}`, so nothing was compared with the last \
                         release; there is one for `{}`",
                        classes.join("`, `")
                    ),
                    "record one with `pacegate run` and `pacegate baseline promote`, or name the release with \
                     `--release` to measure it in the same session",
                )]
            };
            return Ok(Alone { notices, ..Alone::default() });
        };
        let (mut release, notices) = self.release(&baseline)?;
        let mut alone = Run {
            session: candidate.session.clone(),
            revision: candidate.revision.clone(),
            environment: candidate.environment.clone(),
            executables: candidate.executables.clone(),
            ..Run::default()
        };
        release.series.retain(|series| self.wants(&series.id));
        let mut made = Alone { notices, ..Alone::default() };
        // Where the machines differ there is nothing to launch for: the report says so.
        if release.is_of_the_same_machine(&alone) {
            let entries = self.entries_alone(suite, &release);
            output::say(&format!(
                "launching {} benchmarks alone, for the stored baseline {} of the runner class {class}",
                entries.len(),
                baseline.header.label
            ));
            self.launch_alone(&entries, &mut alone, plan, &mut made)?;
        }
        runs.insert(Arm::Release, release);
        runs.insert(Arm::Alone, alone);
        Ok(made)
    }

    /// The stored side, with its distance from here.
    fn release(&self, baseline: &Baseline) -> Result<(Run, Vec<Notice>)> {
        let header = &baseline.header;
        let mut run = scored_alike(baseline, &self.policy)?;
        let distance = commits_since(Path::new("."), &header.revision.id);
        if let Some(revision) = &mut run.revision {
            revision.distance = distance;
        }
        Ok((run, ageing(header, Timestamp::now(), distance).into_iter().collect()))
    }

    /// The benchmarks that the release has too, by today's names.
    fn entries_alone(&self, suite: &[Entry], release: &Run) -> Vec<Entry> {
        let known: BTreeSet<String> = release
            .series
            .iter()
            .map(|series| series.id.to_string())
            .map(|name| self.policy.aliases.get(&name).cloned().unwrap_or(name))
            .collect();
        let held = |id: &BenchmarkId| known.contains(&id.to_string());
        suite
            .iter()
            .filter(|entry| held(&entry.id))
            .filter_map(|entry| {
                let place = entry.arms.iter().position(|arm| *arm == Arm::Candidate)?;
                Some(Entry {
                    id: entry.id.clone(),
                    arms: vec![Arm::Alone],
                    benchmark: Benchmark {
                        arms: vec![entry.benchmark.arms[place].clone()],
                        experiment: None,
                        ..entry.benchmark.clone()
                    },
                })
            })
            .collect()
    }

    fn launch_alone(
        &self,
        entries: &[Entry],
        alone: &mut Run,
        plan: &session::Plan,
        made: &mut Alone,
    ) -> Result<()> {
        let settings = self.profile.stored;
        let plan = session::Plan {
            looks: vec![settings.launches as usize],
            budget: settings.budget,
            ..plan.clone()
        };
        let benchmarks: Vec<Benchmark> =
            entries.iter().map(|entry| entry.benchmark.clone()).collect();
        let bar = Bar::new(settings.budget);
        let mut no_further_look = |_: &[session::Series]| BTreeSet::new();
        let measured =
            session(&benchmarks, &plan, &self.watch, &|step| bar.step(step), &mut no_further_look)?;
        bar.finish();
        let mut runs = BTreeMap::from([(Arm::Alone, std::mem::take(alone))]);
        let looks = [Look { pairs: settings.launches, weight: 1.0 }];
        record(&mut runs, entries, &measured.series, &looks, &|id| self.wants(id));
        *alone = runs.remove(&Arm::Alone).expect("it was put there");
        // A benchmark that the budget left out stands there without launches: it is no missing one.
        for entry in entries {
            let seen = alone.series.iter().map(|series| &series.id);
            if !seen
                .chain(alone.failures.iter().map(|failure| &failure.id))
                .any(|id| *id == entry.id)
            {
                alone.series.push(unmeasured(&entry.id));
            }
        }
        alone.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
        made.launches = measured.series.iter().map(|series| series.pairs.len()).sum();
        made.repeated = measured.series.iter().map(|series| series.hygiene.repeated).sum();
        if measured.ending == session::Ending::BudgetSpent {
            made.notices.push(Notice::new(
                "stored-budget",
                "the time budget ended the launches for the stored baseline",
                "raise `stored: {budget: ..}` of the profile, or ask for fewer launches",
            ));
        }
        Ok(())
    }
}
