//! The clock shim: a preloaded library that replaces the monotonic clock of a bench executable, so that
//! several of them can share one CPU without seeing each other's time.
//!
//! ```text
//!   CPU clock    A ##..##..##      the main thread's clock advances only while it runs (#)
//!                B ..##..##..
//!
//!   turns        A ####|....|####  a turn is handed over at a clock call (|), so between two
//!                B ....|####|....  samples; the wait (.) is hidden from the clock
//! ```
//!
//! Compiled on its own by `build.rs` (no standard library, no C), embedded in pacegate and preloaded by
//! `measure::corun`. Only `clock_gettime(CLOCK_MONOTONIC)` on the main thread changes; a process without
//! the page, a child of the bench and every other thread and clock get the real answer. Nothing here can
//! block for good: each wait ends when the partner is gone, or when patience is at an end.

#![no_std]

#[allow(dead_code)]
mod page;

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use page::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(file: c_int) -> c_int;
    fn mmap(at: *mut c_void, n: usize, prot: c_int, flags: c_int, fd: c_int, o: i64)
    -> *mut c_void;
    fn getpid() -> c_int;
    fn pthread_self() -> usize;
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

const CLOCK_MONOTONIC: c_int = 1;
const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
const CLOCK_THREAD_CPUTIME_ID: c_int = 3;
const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
const O_RDWR_CLOEXEC: c_int = 0o2 | 0o2000000;
const PROT_READ_WRITE: c_int = 1 | 2;
const MAP_SHARED: c_int = 1;
const FUTEX_WAIT: c_int = 0;
const FUTEX_WAKE: c_int = 1;

#[cfg(target_arch = "x86_64")]
const SYS: (c_long, c_long, c_long) = (228, 186, 202);
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64", target_arch = "loongarch64"))]
const SYS: (c_long, c_long, c_long) = (113, 178, 98);
const SYS_CLOCK_GETTIME: c_long = SYS.0;
const SYS_GETTID: c_long = SYS.1;
const SYS_FUTEX: c_long = SYS.2;

/// Waits are cut into slices, because a partner that was killed wakes nobody.
const SLICE_NS: i64 = 10_000_000;

/// The page, null until the main thread's first clock call and where there is none.
static PAGE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// `UNASKED`, then `OFF` or the number of the arm.
static ARM: AtomicUsize = AtomicUsize::new(UNASKED);
static MAIN_THREAD: AtomicUsize = AtomicUsize::new(0);
static REAL_CLOCK: AtomicUsize = AtomicUsize::new(0);

const UNASKED: usize = usize::MAX;
const OFF: usize = usize::MAX - 1;

// State of the main thread; no other thread reads it.
/// What is added to the chosen clock to get the clock that the bench sees.
static SHIFT: AtomicI64 = AtomicI64::new(0);
static LAST_WALL: AtomicI64 = AtomicI64::new(0);
static LAST_CPU: AtomicI64 = AtomicI64::new(0);
static LAST_CPU_ALL: AtomicI64 = AtomicI64::new(0);
static TURN_FROM: AtomicI64 = AtomicI64::new(0);

/// Replaces the C library's function of this name.
///
/// # Safety
/// As for the C library: `out` points to a writable `timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, out: *mut Timespec) -> c_int {
    if clock == CLOCK_MONOTONIC {
        let mut arm = ARM.load(Acquire);
        if arm == UNASKED {
            arm = attach();
        }
        if arm < ARMS_MAX {
            let arm = Arm { page: PAGE.load(Relaxed), index: arm };
            if unsafe { pthread_self() } == MAIN_THREAD.load(Relaxed) {
                let ns = arm.main_clock();
                unsafe {
                    *out = Timespec {
                        seconds: ns.div_euclid(1_000_000_000),
                        nanoseconds: ns.rem_euclid(1_000_000_000),
                    }
                };
                return 0;
            }
            arm.count(ARM_CALLS_OTHER).fetch_add(1, Relaxed);
        }
    }
    unsafe { real_clock(clock, out) }
}

/// At a normal exit the partners need not wait for the launcher to tell them.
extern "C" fn at_exit() {
    let index = ARM.load(Acquire);
    if index < ARMS_MAX {
        let arm = Arm { page: PAGE.load(Relaxed), index };
        if arm.word(ARM_PID).load(Relaxed) == unsafe { getpid() } as u32 {
            arm.word(ARM_GONE).store(1, Release);
            wake(arm.header(AT_STEP));
            wake(arm.header(AT_ARRIVED));
        }
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Joins the page named in the environment. Another thread than the main one leaves the question open.
fn attach() -> usize {
    unsafe {
        if syscall(SYS_GETTID) != c_long::from(getpid()) {
            return OFF;
        }
        let arm = keeping_errno(|| join().unwrap_or(OFF));
        MAIN_THREAD.store(pthread_self(), Relaxed);
        ARM.store(arm, Release);
        if arm < ARMS_MAX {
            Arm { page: PAGE.load(Relaxed), index: arm }.begin();
        }
        arm
    }
}

fn join() -> Option<usize> {
    unsafe {
        let path = getenv(c"PACEGATE_PAGE".as_ptr());
        let arm = getenv(c"PACEGATE_ARM".as_ptr());
        if path.is_null() || arm.is_null() {
            return None;
        }
        let arm = match CStr::from_ptr(arm).to_bytes() {
            &[digit @ b'0'..=b'3'] => usize::from(digit - b'0'),
            _ => return None,
        };
        let file = open(path, O_RDWR_CLOEXEC);
        if file < 0 {
            return None;
        }
        let at = mmap(core::ptr::null_mut(), LENGTH, PROT_READ_WRITE, MAP_SHARED, file, 0);
        close(file);
        if at as isize == -1 {
            return None;
        }
        let joined = Arm { page: at.cast(), index: arm };
        let sound = joined.header(AT_MAGIC).load(Relaxed) == MAGIC
            && (arm as u32) < joined.header(AT_ARMS).load(Relaxed);
        // A child of the bench inherits the environment; the first process keeps the place.
        let claimed = sound
            && joined.word(ARM_PID).compare_exchange(0, getpid() as u32, AcqRel, Relaxed).is_ok();
        if !claimed {
            return None;
        }
        PAGE.store(at.cast(), Relaxed);
        Some(arm)
    }
}

struct Arm {
    page: *mut u8,
    index: usize,
}

impl Arm {
    /// The first clock call: meets the partners at the barrier and starts the bench's clock at the real one.
    fn begin(&self) {
        let arrived = self.header(AT_ARRIVED);
        arrived.fetch_add(1, AcqRel);
        wake(arrived);
        let from = now(CLOCK_MONOTONIC);
        if self.header(AT_BARRIER).load(Relaxed) == 1 {
            let patience = self.duration(AT_PATIENCE);
            loop {
                let seen = arrived.load(Acquire);
                let gone = (0..self.arms()).filter(|&other| self.is_gone(other)).count();
                if seen as usize + gone >= self.arms() || now(CLOCK_MONOTONIC) - from > patience {
                    break;
                }
                wait(arrived, seen);
            }
        }
        if self.takes_turns() {
            self.wait_for_turn();
        }
        let wall = now(CLOCK_MONOTONIC);
        self.count(ARM_WAITED).fetch_add((wall - from) as u64, Relaxed);
        SHIFT.store(wall - self.clock(wall), Relaxed);
        self.start_interval(wall);
        TURN_FROM.store(wall, Relaxed);
    }

    /// The clock that the bench's main thread sees, nanoseconds.
    fn main_clock(&self) -> i64 {
        let wall = now(CLOCK_MONOTONIC);
        let clock = self.clock(wall);
        let answer = clock + SHIFT.load(Relaxed);
        self.end_interval(wall, clock);
        if self.takes_turns()
            && wall - TURN_FROM.load(Relaxed) >= self.duration(AT_TURN_MIN)
            // A forked child shares the page but not the turn.
            && self.word(ARM_PID).load(Relaxed) == unsafe { getpid() } as u32
        {
            self.hand_over();
            let after = now(CLOCK_MONOTONIC);
            self.count(ARM_WAITED).fetch_add((after - wall) as u64, Relaxed);
            SHIFT.fetch_sub(self.clock(after) - clock, Relaxed);
            TURN_FROM.store(after, Relaxed);
            self.start_interval(after);
        } else {
            self.start_interval(wall);
        }
        answer
    }

    /// The clock that this arm's time is counted in, before the shift.
    fn clock(&self, wall: i64) -> i64 {
        match self.header(AT_CLOCK).load(Relaxed) {
            CLOCK_CPU => now(CLOCK_THREAD_CPUTIME_ID),
            _ => wall,
        }
    }

    fn start_interval(&self, wall: i64) {
        LAST_WALL.store(wall, Relaxed);
        LAST_CPU.store(now(CLOCK_THREAD_CPUTIME_ID), Relaxed);
        if self.observes() {
            LAST_CPU_ALL.store(now(CLOCK_PROCESS_CPUTIME_ID), Relaxed);
        }
    }

    fn end_interval(&self, wall: i64, clock: i64) {
        let cpu = match self.header(AT_CLOCK).load(Relaxed) {
            CLOCK_CPU => clock,
            _ => now(CLOCK_THREAD_CPUTIME_ID),
        };
        let wall = (wall - LAST_WALL.load(Relaxed)).max(0) as u64;
        let cpu = (cpu - LAST_CPU.load(Relaxed)).max(0) as u64;
        self.count(ARM_CALLS).fetch_add(1, Relaxed);
        self.count(ARM_WALL).fetch_add(wall, Relaxed);
        self.count(ARM_CPU).fetch_add(cpu, Relaxed);
        self.count(ARM_LONGEST).fetch_max(wall, Relaxed);
        if self.observes() {
            let all = now(CLOCK_PROCESS_CPUTIME_ID) - LAST_CPU_ALL.load(Relaxed);
            self.count(ARM_CPU_ALL).fetch_add(all.max(0) as u64, Relaxed);
        }
    }

    fn hand_over(&self) {
        let step = self.header(AT_STEP);
        let seen = step.load(Acquire);
        // Without the turn (patience was lost, ours or theirs) there is nothing to hand over.
        if self.holder(seen) == self.index {
            let _ = step.compare_exchange(seen, seen.wrapping_add(1), AcqRel, Relaxed);
            wake(step);
            self.count(ARM_TURNS).fetch_add(1, Relaxed);
        }
        self.wait_for_turn();
    }

    fn wait_for_turn(&self) {
        self.word(ARM_ABSENT).store(0, Release);
        let step = self.header(AT_STEP);
        let patience = self.duration(AT_PATIENCE);
        let mut from = now(CLOCK_MONOTONIC);
        let mut last = step.load(Acquire);
        loop {
            let seen = step.load(Acquire);
            let holder = self.holder(seen);
            if holder == self.index {
                return;
            }
            let time = now(CLOCK_MONOTONIC);
            if seen != last {
                (from, last) = (time, seen);
            }
            let holder = Arm { page: self.page, index: holder };
            if time - from > patience && holder.word(ARM_ABSENT).swap(1, AcqRel) == 0 {
                self.word(ARM_TIMEOUTS).fetch_add(1, Relaxed);
            }
            if self.is_gone(holder.index) || holder.word(ARM_ABSENT).load(Acquire) == 1 {
                let _ = step.compare_exchange(seen, seen.wrapping_add(1), AcqRel, Relaxed);
                wake(step);
                continue;
            }
            wait(step, seen);
        }
    }

    /// Whose turn it is: every round holds each arm once, forwards or backwards from a drawn place, so that
    /// no arm always comes first.
    fn holder(&self, step: u32) -> usize {
        let arms = self.arms() as u32;
        let (round, place) = (step / arms, step % arms);
        let mut drawn = self.header(AT_SEED).load(Relaxed) ^ round.wrapping_mul(0x9e37_79b9);
        // The finaliser of MurmurHash3, to spread one bit of the round over the word.
        drawn = (drawn ^ (drawn >> 16)).wrapping_mul(0x85eb_ca6b);
        drawn = (drawn ^ (drawn >> 13)).wrapping_mul(0xc2b2_ae35);
        drawn ^= drawn >> 16;
        let place = if drawn & 1 == 0 { place } else { arms - 1 - place };
        let turn = if arms > 2 { (drawn >> 1) % arms } else { 0 };
        ((place + turn) % arms) as usize
    }

    /// A probe of one arm: nothing is changed, so there is time to look at all threads.
    fn observes(&self) -> bool {
        self.header(AT_CLOCK).load(Relaxed) == CLOCK_REAL && !self.takes_turns()
    }

    fn takes_turns(&self) -> bool {
        self.header(AT_TURNS).load(Relaxed) == 1
    }

    fn is_gone(&self, index: usize) -> bool {
        Arm { page: self.page, index }.word(ARM_GONE).load(Acquire) == 1
    }

    fn arms(&self) -> usize {
        (self.header(AT_ARMS).load(Relaxed) as usize).clamp(1, ARMS_MAX)
    }

    fn duration(&self, at: usize) -> i64 {
        unsafe { (*self.page.add(at).cast::<AtomicU64>()).load(Relaxed) as i64 }
    }

    fn header(&self, at: usize) -> &AtomicU32 {
        unsafe { &*self.page.add(at).cast() }
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        self.header(ARMS_FROM + self.index * ARM_LENGTH + at)
    }

    fn count(&self, at: usize) -> &AtomicU64 {
        unsafe { &*self.page.add(ARMS_FROM + self.index * ARM_LENGTH + at).cast() }
    }
}

fn now(clock: c_int) -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { real_clock(clock, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds
}

unsafe fn real_clock(clock: c_int, out: *mut Timespec) -> c_int {
    let mut real = REAL_CLOCK.load(Relaxed);
    if real == 0 {
        real = unsafe { dlsym(RTLD_NEXT, c"clock_gettime".as_ptr()) } as usize;
        REAL_CLOCK.store(real, Relaxed);
    }
    if real == 0 {
        return unsafe { syscall(SYS_CLOCK_GETTIME, c_long::from(clock), out) } as c_int;
    }
    type Clock = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;
    unsafe { core::mem::transmute::<usize, Clock>(real)(clock, out) }
}

fn wait(futex: &AtomicU32, seen: u32) {
    let slice = Timespec { seconds: 0, nanoseconds: SLICE_NS };
    keeping_errno(|| unsafe {
        syscall(SYS_FUTEX, futex.as_ptr(), FUTEX_WAIT, seen, &raw const slice, 0usize, 0usize);
    });
}

fn wake(futex: &AtomicU32) {
    keeping_errno(|| unsafe {
        syscall(SYS_FUTEX, futex.as_ptr(), FUTEX_WAKE, c_int::MAX, 0usize, 0usize, 0usize);
    });
}

/// A clock call that succeeds leaves `errno` alone, and so must ours.
fn keeping_errno<T>(job: impl FnOnce() -> T) -> T {
    unsafe {
        let errno = *__errno_location();
        let result = job();
        *__errno_location() = errno;
        result
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
