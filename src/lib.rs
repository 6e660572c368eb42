//! pacegate keeps a project's pace: a performance regression gate for continuous integration.

pub mod compare;
pub mod gate;
pub mod model;
pub mod stats;
