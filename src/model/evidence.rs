//! The values behind a number: samples in launches, summaries without samples, exact counts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a harness spread its iterations over the samples of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SamplingMode {
    /// Every sample runs the same number of iterations.
    #[default]
    Flat,
    /// Sample `i` runs `i` times as many iterations as the first.
    Linear,
}

/// The values inside one launch, in measured order: for each sample its iterations and their total.
///
/// A sample is never empty; iterations are at least one; totals are finite and not negative. The order is
/// that of measuring, since drift and pairing need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RawSample", into = "RawSample")]
#[schemars(with = "RawSample")]
pub struct Sample {
    mode: SamplingMode,
    iters: Vec<u64>,
    totals: Vec<f64>,
}

/// The written form of a [`Sample`], before its invariants are checked.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawSample {
    /// How iterations were spread.
    mode: SamplingMode,
    /// Iterations of each sample.
    iters: Vec<u64>,
    /// Total of each sample, in the metric's unit.
    totals: Vec<f64>,
}

/// Why values cannot be a [`Sample`].
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidSample {
    /// There is no value.
    Empty,
    /// There are more or fewer iteration counts than totals.
    Lengths {
        /// Number of iteration counts.
        iters: usize,
        /// Number of totals.
        totals: usize,
    },
    /// A sample ran no iteration.
    NoIterations {
        /// Index of the sample.
        index: usize,
    },
    /// A total is negative, infinite or not a number.
    BadTotal {
        /// Index of the sample.
        index: usize,
        /// The total.
        total: f64,
    },
    /// Every total is zero: nothing was measured.
    AllZero,
}

impl fmt::Display for InvalidSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidSample::Empty => f.write_str("it holds no sample"),
            InvalidSample::Lengths { iters, totals } => {
                write!(f, "{iters} iteration counts but {totals} totals")
            }
            InvalidSample::NoIterations { index } => {
                write!(f, "sample {index} ran no iteration")
            }
            InvalidSample::BadTotal { index, total } => {
                write!(f, "sample {index} has the impossible total {total}")
            }
            InvalidSample::AllZero => f.write_str("every total is zero, so nothing was measured"),
        }
    }
}

impl std::error::Error for InvalidSample {}

impl Sample {
    /// Checks and keeps the samples of one launch.
    ///
    /// # Errors
    ///
    /// When the values break an invariant of the type.
    pub fn new(
        mode: SamplingMode,
        iters: Vec<u64>,
        totals: Vec<f64>,
    ) -> Result<Self, InvalidSample> {
        if totals.is_empty() && iters.is_empty() {
            return Err(InvalidSample::Empty);
        }
        if iters.len() != totals.len() {
            return Err(InvalidSample::Lengths { iters: iters.len(), totals: totals.len() });
        }
        if let Some(index) = iters.iter().position(|&n| n == 0) {
            return Err(InvalidSample::NoIterations { index });
        }
        if let Some(index) = totals.iter().position(|t| !t.is_finite() || *t < 0.0) {
            return Err(InvalidSample::BadTotal { index, total: totals[index] });
        }
        if totals.iter().all(|&t| t == 0.0) {
            return Err(InvalidSample::AllZero);
        }
        Ok(Sample { mode, iters, totals })
    }

    /// Samples of one iteration each.
    ///
    /// # Errors
    ///
    /// As [`Sample::new`].
    pub fn of_values(values: Vec<f64>) -> Result<Self, InvalidSample> {
        Sample::new(SamplingMode::Flat, vec![1; values.len()], values)
    }

    /// How iterations were spread over the samples.
    pub fn mode(&self) -> SamplingMode {
        self.mode
    }

    /// Iterations of each sample.
    pub fn iters(&self) -> &[u64] {
        &self.iters
    }

    /// Total of each sample, in the metric's unit.
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Value per iteration of each sample, in measured order.
    pub fn values(&self) -> Vec<f64> {
        self.iters.iter().zip(&self.totals).map(|(&n, t)| t / n as f64).collect()
    }
}

impl TryFrom<RawSample> for Sample {
    type Error = InvalidSample;

    fn try_from(raw: RawSample) -> Result<Self, InvalidSample> {
        Sample::new(raw.mode, raw.iters, raw.totals)
    }
}

impl From<Sample> for RawSample {
    fn from(sample: Sample) -> Self {
        RawSample { mode: sample.mode, iters: sample.iters, totals: sample.totals }
    }
}

/// What the operating system said of a launch. It never holds the measured values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Wall time of the process in seconds.
    pub wall_s: f64,
    /// CPU time of the process in seconds.
    pub cpu_s: f64,
    /// Time that the process was ready but another ran in its place, in seconds.
    pub wait_s: f64,
    /// Switches that the process asked for.
    pub voluntary_switches: u64,
    /// Switches that it was forced into.
    pub involuntary_switches: u64,
    /// The CPU that it was pinned to.
    pub cpu: u32,
}

impl Usage {
    /// A launch that waited for a CPU for more than this share of its time was disturbed.
    pub const DISTURBED_SHARE: f64 = 0.05;

    /// Whether others used the CPU for a part of the launch that shows in its times.
    pub fn was_disturbed(&self) -> bool {
        self.wait_s > Self::DISTURBED_SHARE * self.wall_s
    }
}

/// One fresh process for one benchmark: the unit of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Number of the pair that this launch belongs to, from 0; launches of two arms with the same number were
    /// made together.
    pub pair: u32,
    /// What it measured.
    pub sample: Sample,
    /// What the operating system said of it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Launch {
    /// Whether it is known to have been disturbed.
    pub fn was_disturbed(&self) -> bool {
        self.usage.as_ref().is_some_and(Usage::was_disturbed)
    }
}

/// One launch whose samples are no longer at hand: all that a comparison of launches needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The launch's score by the statistic of the policy, in the metric's unit.
    pub score: f64,
    /// How many samples it was made of.
    pub samples: u32,
    /// Standard deviation of the score's logarithm that the steps of a coarse timer alone cause.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grain: f64,
}

fn is_zero(grain: &f64) -> bool {
    *grain == 0.0
}

/// How the spread of a [`Summary`] is given, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spread {
    /// Standard deviation of the values.
    StandardDeviation(f64),
    /// Standard error of the score.
    StandardError(f64),
    /// Half-width of a two-sided Student interval of the score.
    HalfWidth {
        /// Half of the interval's width.
        value: f64,
        /// Its confidence, for example 0.999.
        confidence: f64,
    },
}

/// A score whose values are not at hand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The score, in the metric's unit.
    pub score: f64,
    /// Its spread, where the input gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// How many values stand behind the score, where the input says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// How many processes the values come from, where the input says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u32>,
}

impl Summary {
    /// The same score and spread in a unit that is `1 / factor` as large.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let spread = self.spread.map(|spread| match spread {
            Spread::StandardDeviation(value) => Spread::StandardDeviation(value * factor),
            Spread::StandardError(value) => Spread::StandardError(value * factor),
            Spread::HalfWidth { value, confidence } => {
                Spread::HalfWidth { value: value * factor, confidence }
            }
        });
        Summary { score: self.score * factor, spread, ..self }
    }
}

/// What stands behind a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Evidence {
    /// Launches with their samples, in the order of their pairs.
    Sampled(Vec<Launch>),
    /// Launches without their samples, as a stored baseline keeps them.
    Scored(Vec<Score>),
    /// A score, its spread and how many values stand behind it, one for each process or file.
    Summary(Vec<Summary>),
    /// Counts and sizes that do not vary: one value for each launch.
    Exact(Vec<f64>),
}

impl Evidence {
    /// Number of launches, summaries or exact values.
    pub fn len(&self) -> usize {
        match self {
            Evidence::Sampled(launches) => launches.len(),
            Evidence::Scored(scores) => scores.len(),
            Evidence::Summary(summaries) => summaries.len(),
            Evidence::Exact(values) => values.len(),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
