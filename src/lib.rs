//! pacegate keeps a project's pace: a performance regression gate for continuous integration.

pub mod measure;
pub mod stats;
