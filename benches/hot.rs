//! The paths that pacegate itself walks most often while it judges a suite.
//!
//! The sizes are those of a gate at work: 100 samples in a launch, 20 in an arm of a pair, 10 pairs,
//! 10,000 p-values in the largest suite that it accepts.

mod data;

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pacegate::assess::{Sides, assess};
use pacegate::gate::Policy;
use pacegate::history::{Settings, watch};
use pacegate::model::{
    Arm, BenchmarkId as Id, Evidence, Experiment, Launch, Metric, Run, Sample, SamplingMode, Series,
};
use pacegate::simulate::history::timeline;
use pacegate::stats::dist::{t_sf, t_upper};
use pacegate::stats::multiple::benjamini_hochberg;
use pacegate::stats::{Course, Statistic, launch_score, overlap_score, paired};
use pacegate::store::Limits;
use pacegate::store::evidence::{Ending, EvidenceFile};
use rand::Rng as _;

fn stats(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stats");

    let launch = around_one(100);
    group.bench_function(BenchmarkId::new("launch_score", launch.len()), |bencher| {
        bencher.iter(|| launch_score(black_box(&launch), Statistic::default()));
    });

    let candidate = around_one(40);
    let baseline: Vec<f64> = candidate.iter().rev().copied().collect();
    let course = |values| Course { values, spans: values };
    group.bench_function(BenchmarkId::new("overlap_score", baseline.len()), |bencher| {
        bencher.iter(|| overlap_score(course(black_box(&baseline)), course(black_box(&candidate))));
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

/// The default branch of a large project: ten thousand series of a hundred runs, one in a hundred with a step.
fn history(criterion: &mut Criterion) {
    let (series, runs) = (10_000, 100);
    // Made where it is measured: a launch of another benchmark would wait for it.
    let whole = LazyCell::new(|| {
        let mut noise = uniform(usize::MAX).map(|u| 0.02 * (u - 0.5));
        let mut whole = timeline(&vec![0.0; runs]);
        whole.series = (0..series)
            .map(|number| {
                let step = if number % 100 == 0 { 0.05 } else { 0.0 };
                let ys: Vec<f64> = noise
                    .by_ref()
                    .take(runs)
                    .enumerate()
                    .map(|(run, y)| if run < 80 { y } else { y + step })
                    .collect();
                let mut track = timeline(&ys).series.remove(0);
                track.key.id = Id::new("suite", format!("group/benchmark/{number:05}"));
                track
            })
            .collect();
        let found = watch(&whole, &[], &Settings::default());
        assert!(!found.alerts.is_empty(), "the steps are found");
        whole
    });

    let mut group = criterion.benchmark_group("history");
    group.sample_size(10);
    group.bench_function(BenchmarkId::new("watch", format!("{series}x{runs}")), |bencher| {
        let whole = &*whole;
        bencher.iter(|| watch(black_box(whole), &[], &Settings::default()));
    });
    group.finish();
}

/// A whole suite: read from packed evidence, compared and judged.
fn suite(criterion: &mut Criterion) {
    let (benchmarks, pairs, samples) = (10_000, 10, 20);
    // Made where they are measured, like the history.
    let file = LazyCell::new(|| evidence(benchmarks, pairs, samples));
    let packed = LazyCell::new(|| {
        let mut packed = Vec::new();
        let mut packer = zstd::Encoder::new(&mut packed, 3).expect("a level that zstd knows");
        file.to_writer(&mut packer).expect("memory takes every byte");
        packer.finish().expect("memory takes every byte");
        packed
    });

    let mut group = criterion.benchmark_group("suite");
    group.sample_size(10);
    let name = format!("{benchmarks}x2x{pairs}");
    group.bench_function(BenchmarkId::new("read", &name), |bencher| {
        let packed = packed.as_slice();
        bencher.iter(|| EvidenceFile::from_reader(packed, &Limits::OWN));
    });
    group.bench_function(BenchmarkId::new("assess", &name), |bencher| {
        let [baseline, candidate] = [Arm::Baseline, Arm::Candidate].map(|arm| &file.runs[&arm]);
        let sides = Sides { baseline, candidate, release: None };
        bencher.iter(|| assess(sides, &file.policy, None));
    });
    group.finish();
}

fn evidence(benchmarks: u32, pairs: u32, samples: usize) -> EvidenceFile {
    let mut values = uniform(usize::MAX).map(|u| 1e5 * (0.95 + 0.1 * u));
    let mut launch = |pair| Launch {
        pair,
        sample: Sample::new(
            SamplingMode::Flat,
            vec![7; samples],
            values.by_ref().take(samples).map(f64::round).collect(),
        )
        .expect("positive totals"),
        usage: None,
    };
    let mut run = || Run {
        session: Some("session".into()),
        series: (0..benchmarks)
            .map(|i| Series {
                id: Id::new("suite", format!("group/benchmark/{i:05}")),
                metric: Metric::time(),
                experiment: Experiment::Corun,
                evidence: Evidence::Sampled((0..pairs).map(&mut launch).collect()),
                looks: Vec::new(),
            })
            .collect(),
        ..Run::default()
    };
    let runs = [(Arm::Baseline, run()), (Arm::Candidate, run())].into();
    EvidenceFile {
        pacegate: env!("CARGO_PKG_VERSION").into(),
        started: None,
        policy: Policy::default(),
        plan: None,
        notices: Vec::new(),
        runs,
        ending: Ending::Complete,
    }
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

criterion_group!(benches, stats, suite, history);
criterion_main!(benches);
