//! What pacegate keeps in files: evidence, baselines, accept records, history.

pub mod accepted;
pub mod baseline;
pub mod evidence;
#[cfg(feature = "parquet")]
pub mod export;
mod git;
pub mod history;
#[cfg(feature = "object-store")]
mod objects;

/// How much a reader takes before it refuses; files of strangers get the small ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Benchmarks in one run.
    pub benchmarks: usize,
    /// Samples in one launch of a benchmark.
    pub samples: usize,
    /// Bytes of one file after unpacking.
    pub bytes: u64,
}

impl Limits {
    /// For what somebody else may have written, such as the artifact of a pull request.
    pub const UNTRUSTED: Limits = Limits { benchmarks: 10_000, samples: 50_000, bytes: 20 << 20 };

    /// For files of one's own.
    pub const OWN: Limits = Limits { bytes: 2 << 30, ..Limits::UNTRUSTED };
}

/// Bytes as two digits each, as checksums are written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
