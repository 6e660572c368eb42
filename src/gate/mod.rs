//! Comparison and policy to verdict, and verdicts to one outcome.

mod policy;
mod verdict;

pub use policy::{
    Applied, Correction, ExactTolerance, ExperimentChoice, Gated, Look, Missing, Noisy,
    OnInconclusive, Policy, Rule, Rules, Trust, glob,
};
pub use verdict::{Mode, Outcome, Reference, Row, Scores, Verdict};
