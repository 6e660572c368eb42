//! pacegate keeps a project's pace: a performance regression gate for continuous integration.

pub mod assess;
pub mod cli;
pub mod compare;
pub mod config;
pub mod error;
pub mod gate;
mod git;
#[cfg(feature = "github")]
pub mod github;
pub mod history;
pub mod ingest;
pub mod measure;
pub mod model;
pub mod report;
pub mod simulate;
pub mod stats;
pub mod store;
mod yaml;
