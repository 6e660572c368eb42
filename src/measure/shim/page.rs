//! The layout of the page that the launcher and the arms of one pair share.
//!
//! ```text
//!   0                64                        64 + 128 * ARMS_MAX
//!   | header         | arm 0 | arm 1 | arm 2 | arm 3 |
//! ```
//!
//! The launcher writes the settings and reads the rest through the file; the arms map the file. Every
//! number is in the byte order of the machine.

/// First word of a page, so that a stray file is never taken for one.
pub(crate) const MAGIC: u32 = 0x7061_6365;
/// Most arms that can share a page.
pub(crate) const ARMS_MAX: usize = 4;
/// Length of the page in bytes.
pub(crate) const LENGTH: usize = 4096;

// The header, byte offsets. `u32`:
pub(crate) const AT_MAGIC: usize = 0;
pub(crate) const AT_ARMS: usize = 4;
/// One of the `CLOCK_*` values below.
pub(crate) const AT_CLOCK: usize = 8;
/// 1 where the arms take turns, 0 where they run freely.
pub(crate) const AT_TURNS: usize = 12;
/// Seed of the order of the turns.
pub(crate) const AT_SEED: usize = 16;
/// Futex: arms that came to the start barrier.
pub(crate) const AT_ARRIVED: usize = 20;
/// Futex: number of turns handed over so far; it says whose turn it is.
pub(crate) const AT_STEP: usize = 24;
/// 1 where the first clock call waits for the other arms.
pub(crate) const AT_BARRIER: usize = 28;
// `u64`, nanoseconds:
/// A turn shorter than this is not handed over.
pub(crate) const AT_TURN_MIN: usize = 32;
/// A partner that keeps its turn longer than this is passed over.
pub(crate) const AT_PATIENCE: usize = 40;

/// The main thread sees the real clock.
pub(crate) const CLOCK_REAL: u32 = 0;
/// The main thread's clock advances with its own CPU time.
pub(crate) const CLOCK_CPU: u32 = 1;

// One arm, byte offsets from its start. `u32`:
pub(crate) const ARMS_FROM: usize = 64;
pub(crate) const ARM_LENGTH: usize = 128;
/// Process id of the arm: the handshake.
pub(crate) const ARM_PID: usize = 0;
/// 1 once the arm has ended; written by the arm at exit and by the launcher.
pub(crate) const ARM_GONE: usize = 4;
/// 1 while the others have lost patience with the arm.
pub(crate) const ARM_ABSENT: usize = 8;
/// Times that this arm lost patience with another.
pub(crate) const ARM_TIMEOUTS: usize = 12;
// `u64`:
/// Clock calls of the main thread.
pub(crate) const ARM_CALLS: usize = 16;
/// Clock calls of other threads.
pub(crate) const ARM_CALLS_OTHER: usize = 24;
/// Turns handed over.
pub(crate) const ARM_TURNS: usize = 32;
/// Wall time between clock calls of the main thread, waiting left out, nanoseconds.
pub(crate) const ARM_WALL: usize = 40;
/// CPU time of the main thread in these intervals, nanoseconds.
pub(crate) const ARM_CPU: usize = 48;
/// CPU time of all threads in these intervals, nanoseconds.
pub(crate) const ARM_CPU_ALL: usize = 56;
/// Longest interval, nanoseconds of wall time.
pub(crate) const ARM_LONGEST: usize = 64;
/// Time spent waiting for the barrier and for turns, nanoseconds.
pub(crate) const ARM_WAITED: usize = 72;
