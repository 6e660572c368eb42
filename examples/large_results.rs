//! Reads large result files and holds time and memory against typed `serde_json` with exact floats.
//!
//! ```console
//! $ cargo run --release --example large_results -- 300
//! ```
//!
//! Files of so many megabytes, in the shapes of Google Benchmark and of JMH, are written to a temporary folder. Each is read
//! in turn by both, five times, each time by a process of its own, which says its time and its peak of memory (Linux only).

#![allow(clippy::print_stdout, reason = "this is a program that prints a table")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pacegate::ingest::{self, Options, Spec};
use pacegate::store::Limits;
use serde::Deserialize;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["read", reader, shape, path] => read(reader, shape, Path::new(path)),
        rest => compare(rest.first().map_or(Ok(300), |megabytes| megabytes.parse())?),
    }
}

const TIMES: usize = 5;

fn compare(megabytes: u64) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    println!("shape             megabytes  reader       seconds  peak MB");
    for shape in ["google", "jmh"] {
        let path = folder.path().join(shape);
        write(shape, &path, megabytes << 20)?;
        let size = fs::metadata(&path)?.len() >> 20;
        let mut seen = [Vec::new(), Vec::new()];
        for _ in 0..TIMES {
            for (reader, seen) in ["serde_json", "pacegate"].into_iter().zip(&mut seen) {
                let program = std::env::current_exe()?;
                let said =
                    Command::new(program).args(["read", reader, shape]).arg(&path).output()?;
                let said = String::from_utf8(said.stdout)?;
                let (seconds, peak) = said.trim().split_once(' ').ok_or("the reader failed")?;
                seen.push((seconds.parse::<f64>()?, peak.parse::<f64>()?));
            }
        }
        let middle = seen.map(|mut seen| {
            seen.sort_by(|a, b| a.0.total_cmp(&b.0));
            seen[TIMES / 2]
        });
        for (reader, (seconds, peak)) in ["serde_json", "pacegate"].into_iter().zip(middle) {
            println!("{shape:<16}  {size:>9}  {reader:<11}  {seconds:>7.2}  {peak:>7.0}");
        }
        let [(typed, typed_peak), (ours, our_peak)] = middle;
        println!(
            "{shape:<16}  ratio of time {:.2}, of memory {:.2}",
            ours / typed,
            our_peak / typed_peak
        );
    }
    Ok(())
}

/// The rows of Google Benchmark: many repetitions of a few thousand benchmarks. Of JMH: a few hundred benchmarks of many values.
fn write(shape: &str, path: &Path, bytes: u64) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut value = 1_234.567_890_123_f64;
    let mut next = || {
        value = (value * 1.000_37 + 0.001_234_567).rem_euclid(9_000.0) + 1.0;
        value
    };
    let mut index = 0_u64;
    if shape == "google" {
        write!(
            file,
            "{{\n  \"context\": {{\"num_cpus\": 8, \"library_build_type\": \"release\"}},\n  \"benchmarks\": ["
        )?;
    } else {
        write!(file, "[")?;
    }
    while written < bytes {
        let comma = if index > 0 { "," } else { "" };
        let row = if shape == "google" {
            let name = format!("BM_Copy/{}/{}", index % 4000, (index % 4000) * 8);
            format!(
                "{comma}\n    {{\n      \"name\": \"{name}\",\n      \"family_index\": {},\n      \"per_family_instance_index\": 0,\n      \
                 \"run_name\": \"{name}\",\n      \"run_type\": \"iteration\",\n      \"repetitions\": 100,\n      \
                 \"repetition_index\": {},\n      \"threads\": 1,\n      \"iterations\": {},\n      \"real_time\": {:e},\n      \
                 \"cpu_time\": {:e},\n      \"time_unit\": \"ns\"\n    }}",
                index % 4000,
                index / 4000,
                1000 + index,
                next(),
                next()
            )
        } else {
            let forks: Vec<String> = (0..5)
                .map(|_| {
                    let values: Vec<String> = (0..4000).map(|_| next().to_string()).collect();
                    format!("[\n{}\n]", values.join(",\n"))
                })
                .collect();
            format!(
                "{comma}\n{{\"jmhVersion\": \"1.37\", \"benchmark\": \"org.example.Codec.pack{index}\", \"mode\": \"avgt\", \
                 \"threads\": 1, \"forks\": 5, \"measurementIterations\": 4000, \"primaryMetric\": {{\"score\": 1.5, \
                 \"scoreError\": 0.1, \"scoreUnit\": \"us/op\", \"rawData\": [{}]}}, \"secondaryMetrics\": {{}}}}",
                forks.join(",")
            )
        };
        file.write_all(row.as_bytes())?;
        written += row.len() as u64;
        index += 1;
    }
    file.write_all(if shape == "google" { b"\n  ]\n}\n" } else { b"\n]\n" })?;
    Ok(file.flush()?)
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsing is timed")]
struct Google {
    benchmarks: Vec<GoogleRow>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsing is timed")]
struct GoogleRow {
    name: String,
    run_name: String,
    run_type: String,
    family_index: u64,
    repetitions: u64,
    repetition_index: u64,
    threads: u64,
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only parsing is timed")]
struct Jmh {
    benchmark: String,
    mode: String,
    threads: u32,
    forks: u32,
    primary_metric: JmhMetric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only parsing is timed")]
struct JmhMetric {
    score: f64,
    score_error: f64,
    score_unit: String,
    raw_data: Vec<Vec<f64>>,
}

fn read(reader: &str, shape: &str, path: &Path) -> Outcome<()> {
    let begun = Instant::now();
    let kept: Box<dyn std::any::Any> = match (reader, shape) {
        ("pacegate", _) => {
            let options = Options { limits: Limits::OWN, ..Options::default() };
            Box::new(ingest::read(&Spec { path: path.into(), part: None }, &options)?)
        }
        (_, "google") => Box::new(serde_json::from_slice::<Google>(&fs::read(path)?)?),
        _ => Box::new(serde_json::from_slice::<Vec<Jmh>>(&fs::read(path)?)?),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak is told")?;
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse()?;
    println!("{seconds} {}", kilobytes >> 10);
    drop(kept);
    Ok(())
}
