//! The stable name of a benchmark.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stable name of a benchmark: the suite it lives in and its full name there.
///
/// The suite of a criterion bench is its bench target (`databind`), with the package in front where a
/// workspace has several (`parser::databind`). It is empty for files that do not say where their numbers
/// come from. The name is what the harness calls the full id: group, function and parameter joined by `/`.
/// A name may hold a `/` anywhere, so it is never taken apart again.
///
/// ```
/// use pacegate::model::BenchmarkId;
/// let id = BenchmarkId::new("databind", "read/serde_json");
/// assert_eq!(id.to_string(), "databind::read/serde_json");
/// assert_eq!(BenchmarkId::new("", "fib 10").to_string(), "fib 10");
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct BenchmarkId {
    /// Where the benchmark lives; empty where the input does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// Full name within the suite.
    pub name: String,
}

impl BenchmarkId {
    /// Names a benchmark.
    pub fn new(suite: impl Into<String>, name: impl Into<String>) -> Self {
        BenchmarkId { suite: suite.into(), name: name.into() }
    }
}

impl fmt::Display for BenchmarkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.suite.is_empty() {
            write!(f, "{}::", self.suite)?;
        }
        f.write_str(&self.name)
    }
}
