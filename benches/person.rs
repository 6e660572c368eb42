//! One small object written many times in a row.
//!
//! Here one iteration is a batch of 1,000, so that a launch stays short; `PACEGATE_PERSON_BATCH=100000` gives the batch of
//! the study. The size of the batch is a part of the benchmark's name, since two sizes are two
//! benchmarks. criterion warms up, so the slow first batch of the study does not show here; the
//! example `person_batches` is about that.

mod by_hand;
mod data;
mod metrics;
mod persons;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Persons in a batch, unless `PACEGATE_PERSON_BATCH` says otherwise.
const BATCH: u64 = 1_000;

fn person(criterion: &mut Criterion) {
    persons::assert_equal_work();

    let person = data::person();
    let size = batch_size();
    let mut group = criterion.benchmark_group("batch");
    group.throughput(Throughput::Elements(size));
    for (name, write) in persons::CONTESTANTS {
        metrics::record_document_size(&format!("batch/{name}/{size}"), write(&person).len());
        group.bench_function(BenchmarkId::new(*name, size), |bencher| {
            bencher.iter(|| persons::batch(&person, size, *write));
        });
    }
    group.finish();
}

fn batch_size() -> u64 {
    let Ok(text) = std::env::var("PACEGATE_PERSON_BATCH") else { return BATCH };
    match text.parse() {
        Ok(size) if 0 < size => size,
        _ => panic!("PACEGATE_PERSON_BATCH is {text:?}; give a number of persons above zero"),
    }
}

criterion_group!(benches, person);
criterion_main!(benches);
