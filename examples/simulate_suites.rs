//! Counts false alarms, catches and launch pairs in simulated suites of a hundred benchmarks.
//!
//! `cargo run --release --example simulate_suites -- [SUITES]`. The docs' table of accuracy is this output.
//! "passed wrongly" is the share of benchmarks exactly as slow as the tolerance that were cleared.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use pacegate::simulate::{Noise, Plan, Stop};
use pacegate::stats::Prior;
use pacegate::stats::prior::suite_prior;
use pacegate::stats::sequential::WEIGHTS;

/// Clearing spends more of its alpha at the first look, where it saves launches.
const EARLY: [f64; 3] = [0.4, 0.3, 0.3];

type Lend = fn(&[(f64, f64)]) -> Option<Prior>;

fn main() {
    let suites: usize =
        std::env::args().nth(1).map_or(400, |text| text.parse().expect("a number of suites"));
    println!(
        "noise         spread stop    prior clearing   red/no-op  red/mixed  +5 % caught  cleared  passed wrongly  pairs"
    );
    let nothing: Lend = |_| None;
    for (noise, spread) in
        Noise::ALL.map(|noise| (noise, 0.0)).into_iter().chain([(Noise::Runner, 0.5)])
    {
        for stop in [Stop::Cleared, Stop::Settled] {
            for (name, lend) in [("none", nothing), ("suite", suite_prior)] {
                for (clearing, weights) in [("as red", WEIGHTS), ("early", EARLY)] {
                    if noise != Noise::Runner && (clearing == "early" || stop == Stop::Settled) {
                        continue;
                    }
                    let mut plan = Plan { spread, stop, lend, ..Plan::new(noise) };
                    for (look, weight) in plan.looks.iter_mut().zip(weights) {
                        look.pass_weight = weight;
                    }
                    let null = plan.simulate(suites, 1);
                    let mixed = Plan { changed: 5, ..plan.clone() }.simulate(suites, 2);
                    let border = Plan { changed: 99, ratio: 1.02, ..plan }.simulate(suites / 4, 3);
                    let passed = border.changed[2] as f64 / border.changed[0] as f64;
                    println!(
                        "{:13} {spread:<6} {:7} {name:5} {clearing:8} {:10.2} {:10.2} {:12.2} {:8.2} {:15.2} {:6.2}",
                        format!("{noise:?}"),
                        format!("{stop:?}"),
                        100.0 * null.red_share(),
                        100.0 * mixed.red_share(),
                        100.0 * mixed.caught(),
                        100.0 * null.cleared(),
                        100.0 * passed,
                        null.mean_pairs(),
                    );
                }
            }
        }
    }
}
