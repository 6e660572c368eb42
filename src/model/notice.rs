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

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(crate) fn listed(items: &[String], most: usize) -> String {
    let shown = &items[..items.len().min(most)];
    let more = items.len() - shown.len();
    match (shown, more) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_where_it_is_long() {
        let items = ["a", "b", "c", "d"].map(String::from);
        assert_eq!(listed(&items[..2], 3), "a and b");
        assert_eq!(listed(&items, 2), "a, b and 2 more");
    }
}
