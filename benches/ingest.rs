//! How fast inputs are read: the two JSON parsers on criterion's `sample.json`, a whole tree, a result file of another tool
//! beside typed `serde_json`, an evidence file. `examples/large_results.rs` does the same with files of 300 MB.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pacegate::gate::Policy;
use pacegate::ingest::{Options, criterion as tree, read_bytes};
use pacegate::model::{
    self, Arm, Evidence, Experiment, Launch, Metric, Run, Sample, SamplingMode, Series, Usage,
};
use pacegate::store::Limits;
use pacegate::store::evidence::{Ending, EvidenceFile};
use serde::Deserialize;

/// The shape of `sample.json`, for both parsers alike.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsing is timed")]
struct CSample {
    sampling_mode: String,
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// Totals as criterion writes them: whole nanoseconds as floats.
fn sample_json(samples: u64) -> String {
    let iters: Vec<f64> = (1..=samples).map(|i| (i * 37) as f64).collect();
    let times: Vec<f64> = (1..=samples).map(|i| (i * 37 * 211 + i * i % 97) as f64).collect();
    serde_json::json!({"sampling_mode": "Linear", "iters": iters, "times": times}).to_string()
}

fn parsers(c: &mut Criterion) {
    let mut group = c.benchmark_group("ingest/sample");
    for samples in [20, 100, 10_000] {
        let text = sample_json(samples).into_bytes();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("serde_json", samples), &text, |b, text| {
            b.iter(|| serde_json::from_slice::<CSample>(black_box(text)).is_ok());
        });
        // simd-json destroys its input, so it is given a copy; the copy is not timed.
        let mut buffers = simd_json::Buffers::default();
        group.bench_with_input(BenchmarkId::new("simd_json", samples), &text, |b, text| {
            b.iter_batched_ref(
                || text.clone(),
                |copy| {
                    let parsed: simd_json::Result<CSample> =
                        simd_json::serde::from_slice_with_buffers(copy, &mut buffers);
                    parsed.is_ok()
                },
                BatchSize::SmallInput,
            );
        });
        // What the reader does: copy, parse, check, turn into a sample.
        group.bench_with_input(BenchmarkId::new("pacegate", samples), &text, |b, text| {
            b.iter(|| tree::sample_from_slice(black_box(text), 50_000).is_ok());
        });
    }
    group.finish();
}

fn trees(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = sample_json(100);
    for i in 0..500 {
        let side = folder.path().join(format!("group/{i}/new"));
        fs::create_dir_all(&side).expect("folders can be made in it");
        let write = |file: &str, text: &str| {
            fs::write(side.join(file), text).expect("files can be written in it");
        };
        write("benchmark.json", &format!(r#"{{"full_id":"group/{i}"}}"#));
        write("sample.json", &text);
    }
    let read =
        |path: &Path| tree::read(path, None, &Options::default()).map(|run| run.series.len());
    assert_eq!(read(folder.path()), Ok(500));
    c.bench_function("ingest/tree/500", |b| b.iter(|| read(black_box(folder.path()))));
}

/// The part of JMH's result that its values are in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only parsing is timed")]
struct JEntry {
    benchmark: String,
    primary_metric: JMetric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only parsing is timed")]
struct JMetric {
    score: f64,
    score_unit: String,
    raw_data: Vec<Vec<f64>>,
}

/// A hundred benchmarks of five forks with five hundred iterations each: 5 MB.
fn results(c: &mut Criterion) {
    let fork = |i: u64| -> Vec<f64> {
        (0..500_u64).map(|j| 1e4 / ((i * 500 + j * j) % 9973 + 1) as f64).collect()
    };
    let entries: Vec<_> = (0..100_u64)
        .map(|i| {
            let forks: Vec<_> = (0..5).map(|f| fork(5 * i + f)).collect();
            serde_json::json!({
                "benchmark": format!("org.example.Codec.pack{i}"), "mode": "avgt", "threads": 1, "forks": 5,
                "primaryMetric": {"score": 1.5, "scoreError": 0.1, "scoreUnit": "us/op", "rawData": forks},
                "secondaryMetrics": {},
            })
        })
        .collect();
    let text = serde_json::Value::Array(entries).to_string().into_bytes();
    let mut group = c.benchmark_group("ingest/results");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("serde_json", |b| {
        b.iter(|| serde_json::from_slice::<Vec<JEntry>>(black_box(&text)).is_ok());
    });
    // The reader takes the bytes as they were read; the copy is not timed.
    group.bench_function("pacegate", |b| {
        b.iter_batched(
            || text.clone(),
            |copy| read_bytes("results", copy, &Options::default()).is_ok(),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn evidence(c: &mut Criterion) {
    let mut bytes = Vec::new();
    evidence_file(500).to_writer(&mut bytes).expect("memory can be written to");
    let packed = zstd::encode_all(bytes.as_slice(), 3).expect("memory can be packed");
    let mut group = c.benchmark_group("ingest/evidence");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for (name, source) in [("plain", &bytes), ("packed", &packed)] {
        group.bench_with_input(BenchmarkId::new(name, 500), source, |b, source| {
            b.iter(|| EvidenceFile::from_reader(source.as_slice(), &Limits::OWN).is_ok());
        });
    }
    group.finish();
}

/// Two arms of so many benchmarks with ten launches of twenty samples.
fn evidence_file(benchmarks: u64) -> EvidenceFile {
    let launch = |benchmark: u64, pair: u32| {
        let step = 3 + benchmark % 1000;
        let iters: Vec<u64> = vec![step * 7; 20];
        let totals = iters.iter().zip(1..).map(|(&n, i)| n as f64 * 31.7 + f64::from(i * pair));
        let totals = totals.collect();
        Launch {
            pair,
            sample: Sample::new(SamplingMode::Flat, iters, totals).expect("it is one"),
            usage: Some(Usage {
                wall_s: 0.412_345_678,
                cpu_s: 0.398_765_432,
                wait_s: 0.001_234_567,
                voluntary_switches: 12,
                involuntary_switches: 3,
                cpu: 1,
            }),
        }
    };
    let run = || Run {
        series: (0..benchmarks)
            .map(|i| Series {
                id: model::BenchmarkId::new("suite", format!("group/function/{i}")),
                metric: Metric::time(),
                experiment: Experiment::Corun,
                evidence: Evidence::Sampled((0..10).map(|pair| launch(i, pair)).collect()),
                looks: Vec::new(),
            })
            .collect(),
        ..Run::default()
    };
    EvidenceFile {
        pacegate: "0.1.0".into(),
        started: None,
        policy: Policy::default(),
        plan: None,
        notices: Vec::new(),
        runs: BTreeMap::from([(Arm::Baseline, run()), (Arm::Candidate, run())]),
        ending: Ending::Complete,
    }
}

criterion_group!(benches, parsers, trees, results, evidence);
criterion_main!(benches);
