//! Benches that behave, each in its own way.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fixture::compute;

fn benches(c: &mut Criterion) {
    let mut group = c.benchmark_group("compute");
    group.throughput(Throughput::Elements(100));
    group.bench_function(BenchmarkId::new("mix", "odd: *?|"), |b| b.iter(|| compute(black_box(1))));
    group.finish();
    c.bench_function("threads", |b| {
        b.iter(|| {
            std::thread::scope(|scope| {
                (0..2).for_each(|_| drop(scope.spawn(|| (0..2000).map(compute).max())));
            })
        })
    });
    c.bench_function("sleeps", |b| b.iter(|| std::thread::sleep(Duration::from_millis(1))));
    c.bench_function("waits with a deadline", |b| {
        b.iter(|| std::thread::park_timeout(Duration::from_micros(20)))
    });
    c.bench_function("takes the clock", |b| {
        b.iter_batched(|| 1, |seed| compute(black_box(seed)), BatchSize::PerIteration)
    });
    c.bench_function("custom", |b| {
        b.iter_custom(|iters| {
            let start = Instant::now();
            (0..iters).for_each(|seed| _ = black_box(compute(seed)));
            start.elapsed()
        })
    });
    c.bench_function("tells a metric", |b| {
        if let Ok(path) = std::env::var("PACEGATE_METRICS") {
            let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
            let line = r#"{"id":"tells a metric","metric":"size","unit":"bytes","value":12}"#;
            writeln!(file, "{line}").unwrap();
        }
        b.iter(|| compute(black_box(2)))
    });
    c.bench_function("tells its file", |b| {
        if let Ok(path) = std::env::var("PACEGATE_METRICS") {
            std::fs::write(path, std::env::current_exe().unwrap().to_str().unwrap()).unwrap();
        }
        b.iter(|| compute(black_box(2)))
    });
    for (first, last) in [('a', 'x'), ('b', 'x'), ('b', 'y')] {
        // Two of them are cut to the same text, and all hold what means something else in a pattern.
        let name = format!("{}/[{}]+(?.{last}", first.to_string().repeat(70), "m".repeat(70));
        c.bench_function(&name, |b| b.iter(|| compute(black_box(3))));
    }
}

criterion_group!(all, benches);
criterion_main!(all);
