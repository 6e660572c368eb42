//! Writes one object 100,000 times, ten times over, and tells whether the first batch of a process is like the others.
//!
//! ```text
//! cargo run --release --example person_batches
//! cargo run --release --example person_batches --features suite-full
//! ```
//!
//! Each contestant has a process of its own, which does nothing before its first batch: what that one pays for cold
//! caches, first pages of memory and a sleeping CPU is seen, as in the study, whose first batch took up to
//! twice the time. The mean that is told is that of the later batches, and the first one stands
//! beside it. It stands apart if Grubbs' test calls it an outlier among all (two-sided, 5 %).

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

#[path = "../benches/by_hand.rs"]
mod by_hand;
#[path = "../benches/data.rs"]
mod data;
#[path = "../benches/persons.rs"]
mod persons;

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Parser;
use pacegate::stats::flags::first_batch;
use pacegate::stats::summary::mean;

const ALPHA: f64 = 0.05;

#[derive(Parser)]
struct Arguments {
    /// Batches in a process.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..))]
    batches: u32,
    /// Persons in a batch.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    persons: u64,
    /// Time the batches of this contestant; how the program starts itself.
    #[arg(long, value_name = "NAME", hide = true)]
    contestant: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(contestant) = &arguments.contestant {
        println!("{}", serde_json::to_string(&time_batches(contestant, &arguments)?)?);
        return Ok(());
    }
    persons::assert_equal_work();
    let rows = persons::CONTESTANTS
        .iter()
        .map(|(contestant, _)| Ok((*contestant, in_a_process(contestant, &arguments)?)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;

    println!("Milliseconds for {} persons\n", arguments.persons);
    print!("batch");
    for (contestant, _) in &rows {
        print!("  {contestant:>10}");
    }
    println!();
    for number in 0..arguments.batches as usize {
        print!("{:>5}", number + 1);
        for (_, batches) in &rows {
            print!("  {:>10.3}", batches[number]);
        }
        println!();
    }
    println!("\ncontestant  mean of later ones  first / mean  furthest batch  distance  limit");
    for (contestant, batches) in &rows {
        tell(contestant, batches);
    }
    Ok(())
}

/// One line on the first batch of a contestant against the later ones.
fn tell(contestant: &str, batches: &[f64]) {
    print!("{contestant:<10}  {:>18.3}", mean(&batches[1..]));
    let Some(found) = first_batch(batches, ALPHA) else {
        println!("  all batches took the same time");
        return;
    };
    let number = found.furthest.index + 1;
    print!("  {:>12.3}  {number:>14}", found.ratio);
    print!("  {:>8.2}  {:>5.2}", found.furthest.distance, found.furthest.critical);
    if found.stands_apart() {
        print!("  the first batch stands apart");
    } else if found.furthest.is_proven() {
        print!("  batch {number} stands apart");
    }
    println!();
}

/// The milliseconds of each batch, in a fresh process.
fn in_a_process(contestant: &str, arguments: &Arguments) -> Result<Vec<f64>, Box<dyn Error>> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--contestant", contestant])
        .args(["--batches", &arguments.batches.to_string()])
        .args(["--persons", &arguments.persons.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    if !child.status.success() {
        return Err(format!("the process of {contestant} failed: {}", child.status).into());
    }
    Ok(serde_json::from_slice(&child.stdout)?)
}

/// The milliseconds of each batch, in this process.
fn time_batches(contestant: &str, arguments: &Arguments) -> Result<Vec<f64>, Box<dyn Error>> {
    let (_, write) = persons::CONTESTANTS
        .iter()
        .find(|(name, _)| *name == contestant)
        .ok_or_else(|| format!("there is no contestant {contestant}"))?;
    let person = data::person();
    let batches = (0..arguments.batches).map(|_| {
        let start = Instant::now();
        persons::batch(&person, arguments.persons, *write);
        start.elapsed().as_secs_f64() * 1e3
    });
    Ok(batches.collect())
}
