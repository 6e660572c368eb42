//! Reads what iai prints; its successor prints nearly the same and is read by `gungraun.rs`.
//!
//! ```text
//! Running target/release/deps/fib-1f2e3d4c5b6a7988
//!
//! fib_short
//!   Instructions:                1243 (+1.139138%)
//!   L1 Accesses:                 1580 (No change)
//!   L2 Accesses:                    1
//!   RAM Accesses:                   2
//!   Estimated Cycles:            1655
//! ```

use super::Format;
use super::gungraun;
use super::input::Shape;

pub(super) const FORMAT: Format = Format {
    name: "iai text",
    signs: &["L1 Accesses:", "RAM Accesses:", "Estimated Cycles:"],
    claims: |input| {
        input.shape == Shape::Text
            && input.lines().any(|(_, line)| gungraun::is_count(line, "L1 Accesses"))
    },
    read: gungraun::read_text,
};

#[cfg(test)]
mod tests {
    use super::super::testing::{error, failures, rows, run_of};

    #[test]
    fn every_count_is_read() {
        let run = run_of(
            "
Running target/release/deps/fib-0a1b2c3d4e5f6071

fib_short
  Instructions:                1200 (+1.139138%)
  L1 Accesses:                 1500 (No change)
  L2 Accesses:                    1 (-50.00000%)
  RAM Accesses:                   2
  Estimated Cycles:            1575

fib_long
  Instructions:            18400000
  L1 Accesses:             23400000
  L2 Accesses:                    0
  RAM Accesses:                   0
  Estimated Cycles:        23400000
",
        );
        let all = rows(&run);
        assert_eq!(all.len(), 10);
        assert_eq!(
            all[5..],
            [
                "fib::fib_short L1 accesses accesses lower exactly 1500",
                "fib::fib_short L2 accesses accesses lower exactly 1",
                "fib::fib_short RAM accesses accesses lower exactly 2",
                "fib::fib_short estimated cycles cycles lower exactly 1575",
                "fib::fib_short instructions instructions lower exactly 1200",
            ]
        );
        assert!(failures(&run).is_empty());
    }

    #[test]
    fn a_bench_that_did_not_count_is_told() {
        let run = run_of(
            "
a
  Instructions:                   0
  L1 Accesses:                 1500

b
thread 'main' panicked at 'Failed to run benchmark in cachegrind. Exit code: 1', x.rs:1:1
",
        );
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 7: `thread 'main' panicked at 'Failed to run benchmark in cachegrind. Exit code: 1',…`; benchmarks may be missing, so measure again",
                "a: the count of instructions is 0 while that of L1 accesses is 1500, which is not to be believed; measure again",
            ]
        );
    }

    #[test]
    fn a_name_alone_is_refused() {
        let said = error("fib_short\n  L1 Accesses: many\n  RAM Accesses: few\n");
        assert!(said.contains("looks most like iai text"), "{said}");
    }
}
