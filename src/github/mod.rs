//! What pacegate says on GitHub. The text is the work of `report`; here is where it goes.
//!
//! ```text
//!   run id ──> run ──> artifact ──> evidence ──> assess ──> report ──> check run, or commit status
//!              │        caps, digest   limits     ▲                    comment, by marker and author
//!              │        one name                  │
//!              └─ pull requests ── base commit ── pacegate.yaml        never from the artifact, never from the change
//! ```
//!
//! `publish` runs with rights, and on what a stranger measured. It takes the id of a run and asks GitHub for everything
//! else; it checks nothing out, writes nothing to disk and judges the numbers again. Whatever it does not expect becomes
//! a failed check with a reason.
//!
//! `watch --issues` runs on the default branch and on its own history: each alert is one issue.

mod alerts;
mod artifact;
mod check;
mod client;
mod comment;
mod names;
mod publish;
mod run;

pub use alerts::{ALERT_LABEL, Alerted, alerts, tell_chat};
#[cfg(feature = "app-auth")]
pub use client::app_token;
pub use client::{Access, Client, Clock, Failure, SystemClock, Token};
pub use comment::Comments;
pub use names::{FilePath, Repository, Sha, Title};
pub use publish::{Order, Published, Trust, publish, rehearse};
pub use run::run_of_event;
