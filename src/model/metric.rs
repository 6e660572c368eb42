//! What is measured, in what unit, and which way is good.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which direction of a metric is good. It belongs to the metric, never to the tool that wrote it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times, sizes, counts of work.
    Lower,
    /// Throughputs.
    Higher,
    /// Neither the unit nor the tool says. Such a metric is shown and never gated until a rule says more.
    Unknown,
}

/// A unit as pacegate keeps it: times are nanoseconds, sizes are bytes, everything else keeps its name.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Unit(String);

impl Unit {
    /// A unit by its base name, for example `ns`, `B`, `instructions`, `ops/s`.
    pub fn new(name: impl Into<String>) -> Self {
        Unit(name.into())
    }

    /// Nanoseconds, the base of every time.
    pub fn nanoseconds() -> Self {
        Unit::new("ns")
    }

    /// The unit's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The direction that the unit itself implies; `None` asks for a rule instead of a guess.
    pub fn better(&self) -> Option<Better> {
        match self.0.as_str() {
            "ns" | "B" | "bytes" | "allocations" | "instructions" | "cycles" | "cache-misses"
            | "branches" | "branch-misses" | "page-faults" => Some(Better::Lower),
            rate if rate.ends_with("/s") => Some(Better::Higher),
            cost if cost.ends_with("/op") => Some(Better::Lower),
            _ => None,
        }
    }

    /// Whether the speed of the runner moves it: times and rates, not sizes or counts.
    pub fn follows_speed(&self) -> bool {
        self.0 == "ns" || self.0.ends_with("/s")
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A measured quantity of a benchmark.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Metric {
    /// Name, unique within a benchmark: `time` for what a harness times.
    pub name: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Good direction.
    pub better: Better,
}

impl Metric {
    /// The time per iteration, in nanoseconds.
    pub fn time() -> Self {
        Metric { name: "time".into(), unit: Unit::nanoseconds(), better: Better::Lower }
    }
}
