//! Benches that do not behave.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

fn benches(c: &mut Criterion) {
    c.bench_function("panics", |b| {
        b.iter(|| -> u32 { panic!("the bench panics on purpose") });
    });
    c.bench_function("aborts", |b| b.iter(|| -> u32 { std::process::abort() }));
    c.bench_function("ends", |b| b.iter(|| -> u32 { std::process::exit(0) }));
    c.bench_function("hangs", |b| b.iter(|| std::thread::sleep(Duration::from_secs(1000))));
    c.bench_function("measures nothing", |b| b.iter_custom(|_| Duration::ZERO));
    c.bench_function("leaves a child", |b| {
        std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        b.iter(|| fixture::compute(1));
    });
    c.bench_function("talks", |b| b.iter(|| println!("{}", "talk ".repeat(1000))));
}

criterion_group!(all, benches);
criterion_main!(all);
