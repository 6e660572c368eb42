//! How far a session is: a bar with the time left on a terminal, plain lines elsewhere.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::measure::session::{Progress, Stage};

use super::output;

/// Shows the progress of a session on stderr.
pub(super) struct Bar {
    bar: ProgressBar,
    budget: Option<Duration>,
    told: Mutex<Option<Stage>>,
}

impl Bar {
    pub(super) fn new(budget: Option<Duration>) -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}, {eta} left");
        bar.set_style(style.expect("the template is one").progress_chars("=> "));
        Bar { bar, budget, told: Mutex::new(None) }
    }

    /// Takes the news of one step. Called from several threads.
    pub(super) fn step(&self, step: Progress) {
        let what = match step.stage {
            Stage::Calibrating => "choosing experiments".to_owned(),
            Stage::Measuring(pairs) => format!("measuring to {pairs} pairs"),
        };
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *told != Some(step.stage) {
            *told = Some(step.stage);
            self.bar.reset();
            self.bar.set_message(what.clone());
            if self.bar.is_hidden() {
                let budget =
                    self.budget.map(|budget| format!(" of at most {} s", budget.as_secs()));
                output::say(&format!(
                    "{what}: {} launches of pairs, after {} s{}",
                    step.planned,
                    step.elapsed.as_secs(),
                    budget.unwrap_or_default()
                ));
            }
        }
        self.bar.set_length(step.planned as u64);
        self.bar.set_position(step.done as u64);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
