//! Something worth telling that does not stop the work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something worth telling that does not stop the work: what was seen, why it matters, what to try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Stable kebab-case name of the kind, for machines: `left-over-folder`.
    pub kind: String,
    /// What was seen, naming the file or benchmark.
    pub seen: String,
    /// Why it matters and what to try; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Notice {
    /// A notice of a kind.
    pub fn new(kind: &str, seen: impl Into<String>, advice: impl Into<String>) -> Self {
        Notice { kind: kind.into(), seen: seen.into(), advice: advice.into() }
    }
}
