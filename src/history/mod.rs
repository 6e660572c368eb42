//! What happened on the default branch: runs to series, series to alerts, and what history teaches.
//!
//! ```text
//!  store ── Entry (one run) ── Timeline ── Track (one benchmark on one runner class)
//!                 │                │
//!                 │              watch ── Finding: alert, spike, drift, runner change   <── Event: acknowledged, ..
//!                 ├── noise: what earlier runs teach about today's
//!                 └── shard, search: what a fleet measures, and which commit did it
//! ```
//!
//! Nothing here reads a file or a clock. What is told follows from the entries and events alone: there is no state between
//! two looks that could be lost, or disagree with them.

pub mod entry;
pub mod noise;
pub mod search;
pub mod shard;
pub mod timeline;
pub mod watch;

pub use entry::{Commit, Entry, Head, Origin, Row, Values};
pub use noise::learn;
pub use timeline::{Key, Point, Score, Timeline, Track};
pub use watch::{
    Action, Alert, Event, Findings, Kind, Settings, Status, Stretch, stretches, watch,
};
