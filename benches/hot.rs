//! The paths that pacegate itself walks most often while it judges a suite.
//!
//! The sizes are those of a gate at work: 100 samples in a launch, 20 in an arm of a pair, 10 pairs,
//! 10,000 p-values in the largest suite that it accepts.

mod data;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pacegate::stats::dist::{t_sf, t_upper};
use pacegate::stats::multiple::benjamini_hochberg;
use pacegate::stats::{Statistic, launch_score, paired, paired_score};
use rand::Rng as _;

fn stats(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stats");

    let launch = around_one(100);
    group.bench_function(BenchmarkId::new("launch_score", launch.len()), |bencher| {
        bencher.iter(|| launch_score(black_box(&launch), Statistic::default()));
    });

    let candidate = around_one(20);
    let baseline: Vec<f64> = candidate.iter().rev().copied().collect();
    group.bench_function(BenchmarkId::new("paired_score", baseline.len()), |bencher| {
        bencher.iter(|| paired_score(black_box(&baseline), black_box(&candidate), None));
    });

    let differences: Vec<f64> = around_one(10).into_iter().map(f64::ln).collect();
    assert!(paired(&differences, None).is_some(), "ten differences can be tested");
    group.bench_function(BenchmarkId::new("paired", differences.len()), |bencher| {
        bencher.iter(|| paired(black_box(&differences), None));
    });

    // Cubed, so that some are small enough to be discoveries, as in a suite where something happened.
    let p_values: Vec<f64> = uniform(10_000).map(|u| u.powi(3)).collect();
    group.bench_function(BenchmarkId::new("benjamini_hochberg", p_values.len()), |bencher| {
        bencher.iter(|| benjamini_hochberg(black_box(&p_values)));
    });

    // Ten pairs that lose two on each side keep five degrees of freedom.
    let df = 5.0;
    group.bench_function(BenchmarkId::new("t_sf", df), |bencher| {
        bencher.iter(|| t_sf(black_box(2.5), black_box(df)));
    });
    group.bench_function(BenchmarkId::new("t_upper", df), |bencher| {
        bencher.iter(|| t_upper(black_box(0.0005), black_box(df)));
    });

    group.finish();
}

/// Times per iteration in the unit of their own mean, give or take 5 %.
fn around_one(count: usize) -> Vec<f64> {
    uniform(count).map(|u| 0.95 + 0.1 * u).collect()
}

/// Numbers between 0 and 1.
fn uniform(count: usize) -> impl Iterator<Item = f64> {
    let mut generator = data::generator();
    (0..count).map(move |_| f64::from(generator.next_u32()) / f64::from(u32::MAX))
}

criterion_group!(benches, stats);
criterion_main!(benches);
