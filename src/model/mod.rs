//! The words of the trade as types: what was measured, on which side of a change, and where.
//!
//! ```text
//! Run ── Series (one metric of one benchmark) ── Evidence ─┬─ Sampled: Launch ── Sample
//!  ├── Revision                                            ├─ Summary: score, spread, n
//!  ├── Environment                                         └─ Exact:   counts, bytes
//!  └── Failure, Notice
//! ```
//!
//! Nothing here reads a file or a clock. A type that exists is valid: invariants are checked where a
//! value is made, and nowhere else.

mod benchmark;
mod environment;
mod evidence;
mod metric;
mod notice;
mod run;

pub use benchmark::BenchmarkId;
pub use environment::{Difference, Environment, Label};
pub use evidence::{
    Evidence, InvalidSample, Launch, Sample, SamplingMode, Score, Spread, Summary, Usage,
};
pub use metric::{Better, Metric, Unit};
pub use notice::Notice;
pub(crate) use notice::listed;
pub use run::{Arm, Experiment, Failure, Look, Mode, Reference, Revision, Run, Series};
