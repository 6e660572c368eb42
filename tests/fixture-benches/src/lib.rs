//! Something to measure.

/// How often the work is repeated.
pub const REPEATS: u32 = 100;

/// Work without memory or branches.
pub fn compute(seed: u64) -> u64 {
    (0..REPEATS).fold(seed, |x, _| (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
