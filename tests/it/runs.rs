//! Runs made up for a test: benchmarks with a known change and a known noise, from a seed.

use pacegate::gate::Policy;
use pacegate::model::{
    BenchmarkId, Evidence, Experiment, Failure, Launch, Look, Metric, Run, Sample, Series,
};

/// Two runs of one session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) baseline: Run,
    pub(crate) candidate: Run,
    pub(crate) seed: u64,
}

impl Session {
    pub(crate) fn new(seed: u64) -> Self {
        let run = || Run { session: Some("test".into()), ..Run::default() };
        Session { baseline: run(), candidate: run(), seed: seed.wrapping_mul(2).wrapping_add(1) }
    }

    /// Adds a benchmark of 100 µs whose candidate takes `ratio` times as long, with a standard deviation of `noise`
    /// on the logarithm of each launch.
    pub(crate) fn bench(mut self, name: &str, ratio: f64, noise: f64, pairs: u32) -> Self {
        let mut side = |centre: f64| -> Vec<Launch> {
            (0..pairs)
                .map(|pair| {
                    let value = centre * (noise * self.normal()).exp();
                    let sample = Sample::of_values(vec![value; 20]).expect("a positive value");
                    Launch { pair, sample, usage: None }
                })
                .collect()
        };
        let (ours, theirs) = (side(1e5), side(1e5 * ratio));
        self.baseline.series.push(series(name, Evidence::Sampled(ours)));
        self.candidate.series.push(series(name, Evidence::Sampled(theirs)));
        self
    }

    pub(crate) fn exact(mut self, name: &str, unit: &str, baseline: f64, candidate: f64) -> Self {
        for (run, value) in [(&mut self.baseline, baseline), (&mut self.candidate, candidate)] {
            let mut series = series(name, Evidence::Exact(vec![value; 3]));
            series.metric.name = "size".into();
            series.metric.unit = pacegate::model::Unit::new(unit);
            run.series.push(series);
        }
        self
    }

    pub(crate) fn only_baseline(mut self, name: &str) -> Self {
        self = self.bench(name, 1.0, 0.001, 10);
        self.candidate.series.pop();
        self
    }

    pub(crate) fn only_candidate(mut self, name: &str) -> Self {
        self = self.bench(name, 1.0, 0.001, 10);
        self.baseline.series.pop();
        self
    }

    pub(crate) fn failed(mut self, name: &str) -> Self {
        self.candidate.failures.push(Failure {
            id: BenchmarkId::new("suite", name),
            message: "exited with code 101".into(),
            output: "thread 'main' panicked".into(),
        });
        self
    }

    pub(crate) fn looks(mut self, looks: &[(u32, f64)]) -> Self {
        for series in self.baseline.series.iter_mut().chain(&mut self.candidate.series) {
            series.looks = looks.iter().map(|&(pairs, weight)| Look { pairs, weight }).collect();
        }
        self
    }

    pub(crate) fn report(&self, policy: &Policy) -> pacegate::report::Report {
        let sides = pacegate::assess::Sides {
            baseline: &self.baseline,
            candidate: &self.candidate,
            release: None,
        };
        pacegate::assess::assess(sides, policy, None).expect("the policy's patterns are globs")
    }

    /// A standard normal number by the sum of twelve uniform ones: good to three standard deviations, which is
    /// all that a test needs.
    fn normal(&mut self) -> f64 {
        let mut uniform = || {
            self.seed = self
                .seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.seed >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

fn series(name: &str, evidence: Evidence) -> Series {
    Series {
        id: BenchmarkId::new("suite", name),
        metric: Metric::time(),
        experiment: Experiment::Interleaved,
        evidence,
        looks: Vec::new(),
    }
}
