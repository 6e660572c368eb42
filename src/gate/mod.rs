//! Comparison and policy to verdict, and verdicts to one outcome.

mod accept;
mod judge;
mod policy;
mod verdict;

pub use accept::{Accept, Accepted, Day, Standing, Until, Version};
pub use judge::{Judgement, SHOWN_CONFIDENCE, TOLERANCE_FLOOR, judge};
pub use policy::{
    Applied, Correction, ExactTolerance, ExperimentChoice, Gated, Missing, Noisy, OnInconclusive,
    Policy, Rule, Rules, Trust, glob,
};
pub use verdict::{Outcome, Row, Verdict};
