//! Statistics on plain numbers: this room knows no domain word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the values of one launch are summarised by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Mean after cutting this fraction off each end.
    Trimmed(f64),
    /// Median.
    Median,
    /// Mean.
    Mean,
    /// Minimum.
    Min,
    /// Quantile at this fraction.
    Quantile(f64),
}

impl Default for Statistic {
    fn default() -> Self {
        Statistic::Trimmed(0.10)
    }
}
