//! A bench without a project: what `doctor` launches to learn how noisy a machine is.
//!
//! It speaks the little of criterion's language that a launch needs, so that it is launched, paired and scored like any
//! other bench:
//!
//! ```text
//!   EXE --warm-up-time 0.05 --measurement-time 0.1 --sample-size 20 ...
//!     $CRITERION_HOME/noise/new/benchmark.json   {"full_id":"noise"}
//!     $CRITERION_HOME/noise/new/sample.json      {"sampling_mode":"Flat","iters":[..],"times":[..]}
//! ```
//!
//! An iteration fills a table of 256 KiB in an order that depends on what it holds: arithmetic, branches and the caches that
//! a neighbour shares.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::discover::Executable;

/// Full id of the benchmark.
pub const BENCHMARK: &str = "noise";

/// Its presence in the environment makes the program this bench.
const VARIABLE: &str = "PACEGATE_NOISE_BENCH";

/// Words of the table: 256 KiB, more than the first cache and less than the last one.
const WORDS: usize = 1 << 15;

/// This bench, in a program that calls [`noise_main`].
#[must_use]
pub fn executable(program: PathBuf, directory: PathBuf) -> Executable {
    Executable {
        path: program,
        package: env!("CARGO_PKG_NAME").into(),
        version: env!("CARGO_PKG_VERSION").into(),
        target: BENCHMARK.into(),
        directory,
        sha256: String::new(),
        variables: vec![(VARIABLE.into(), "1".into())],
    }
}

/// Whether this process is to be the bench.
#[must_use]
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Measures, and writes what criterion would.
///
/// # Errors
/// When the files cannot be written.
pub fn noise_main(arguments: &[String]) -> io::Result<()> {
    let number = |flag: &str, default: f64| {
        let value = arguments.iter().skip_while(|word| *word != flag).nth(1);
        value.and_then(|word| word.parse().ok()).unwrap_or(default)
    };
    let warm_up = Duration::from_secs_f64(number("--warm-up-time", 0.05));
    let samples = number("--sample-size", 20.0).max(1.0);
    let per_sample = number("--measurement-time", 0.1) / samples;
    let mut table = vec![1_u64; WORDS];
    let began = Instant::now();
    let mut warmed: u32 = 0;
    while warmed == 0 || began.elapsed() < warm_up {
        iteration(&mut table);
        warmed += 1;
    }
    let each = began.elapsed().as_secs_f64() / f64::from(warmed);
    // A power of two, so that two arms that warmed up a little differently still do equal work.
    let iterations = 2_f64.powf((per_sample / each).log2().round()).max(1.0) as u64;
    let times: Vec<String> = (0..samples as u64)
        .map(|_| {
            let began = Instant::now();
            (0..iterations).for_each(|_| iteration(&mut table));
            began.elapsed().as_nanos().to_string()
        })
        .collect();
    let iters = vec![iterations.to_string(); times.len()];
    let home = std::env::var_os("CRITERION_HOME").ok_or(io::ErrorKind::NotFound)?;
    let folder = Path::new(&home).join(BENCHMARK).join("new");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("benchmark.json"), format!(r#"{{"full_id":"{BENCHMARK}"}}"#))?;
    fs::write(
        folder.join("sample.json"),
        format!(
            r#"{{"sampling_mode":"Flat","iters":[{}],"times":[{}]}}"#,
            iters.join(","),
            times.join(",")
        ),
    )
}

fn iteration(table: &mut [u64]) {
    let mut x = black_box(3_u64);
    for step in 0..4096 {
        let place = (x >> 20) as usize % WORDS;
        x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ table[place];
        table[place] = if x & 64 == 0 { x } else { x ^ step };
    }
    black_box(x);
}
