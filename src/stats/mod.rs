//! Statistics on plain numbers: this room knows no domain word.
//!
//! Read from the top: summaries of one set of values, the distributions behind the tests, the [`Estimate`] that
//! every test answers with, the estimators of the gate, what makes many tests and many looks honest, and
//! last what explains a result or warns about it, and what finds the levels of a history.
//! All functions are pure, draw no random number, and neither panic nor hang on any finite input.

pub mod summary;
pub mod trimmed;

pub mod dist;
pub mod estimate;
pub mod student;

pub mod launches;
pub mod prior;

pub mod multiple;
pub mod power;
pub mod sequential;

pub mod changepoint;
pub mod components;
pub mod energy;
pub mod exact;
pub mod flags;
pub mod ranks;

#[cfg(test)]
mod testing;

pub use estimate::{Component, Estimate};
pub use launches::{
    Course, launch_variance, overlap_score, own_variance, paired, turns_score, unpaired,
};
pub use power::Needed;
pub use prior::{Prior, Tau, suite_prior};
pub use student::{Summary, summaries};
pub use trimmed::{Statistic, launch_score};
