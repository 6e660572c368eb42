//! pacegate keeps a project's pace: a performance regression gate for continuous integration.

pub mod simulate;
pub mod stats;
