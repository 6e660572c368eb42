//! The samples study: a number of small objects written and read, one document for each.
//!
//! ```text
//! write/<library>/<samples>/<number>    objects to texts
//! parse/<library>/<samples>/<number>    the library's own texts to objects
//! ```
//!
//! Retells a study of one to 100,000 objects. `same` takes the same ones again in each iteration and `different`
//! takes others, so that the processor cannot learn them by heart. Numbers above 1,000 take a while, also
//! to prepare: `PACEGATE_SAMPLES=100000` names the largest one wanted.

mod sample;

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sample::{LIBRARIES, Sample};

const NUMBERS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// The largest number of objects, unless `PACEGATE_SAMPLES` says otherwise.
const LARGEST: usize = 1_000;

/// Objects that an iteration with different ones can meet, where a handful of sets has so few.
const POOL: usize = 10_000;

/// Whether each iteration takes the same objects.
#[derive(Clone, Copy)]
enum Samples {
    Same,
    Different,
}

impl Samples {
    fn name(self) -> &'static str {
        match self {
            Samples::Same => "same",
            Samples::Different => "different",
        }
    }

    /// Sets of `number` objects, which the iterations take in turn.
    fn sets(self, number: usize) -> Vec<Vec<Sample>> {
        let sets = match self {
            Samples::Same => 1,
            Samples::Different => (POOL / number).clamp(2, 1_000),
        };
        let mut samples = sample::samples();
        (0..sets).map(|_| samples.by_ref().take(number).collect()).collect()
    }
}

fn samples(criterion: &mut Criterion) {
    assert_equal_work();

    let largest = largest();
    for number in NUMBERS.into_iter().filter(|&number| number <= largest) {
        for which in [Samples::Same, Samples::Different] {
            // A launch measures one benchmark and makes nothing that only the others need.
            let sets = LazyCell::new(|| which.sets(number));
            for library in LIBRARIES {
                let id = || BenchmarkId::new(format!("{}/{}", library.name, which.name()), number);
                let throughput = || Throughput::Elements(number as u64);

                let mut turn = 0;
                let mut group = criterion.benchmark_group("write");
                group.throughput(throughput()).bench_function(id(), |bencher| {
                    let sets = &*sets;
                    bencher.iter(|| {
                        turn += 1;
                        for sample in &sets[turn % sets.len()] {
                            black_box((library.write)(black_box(sample)));
                        }
                    });
                });
                group.finish();

                let texts = LazyCell::new(|| {
                    let write_all = |set: &Vec<Sample>| set.iter().map(library.write).collect();
                    sets.iter().map(write_all).collect::<Vec<Vec<Vec<u8>>>>()
                });
                let mut group = criterion.benchmark_group("parse");
                group.throughput(throughput()).bench_function(id(), |bencher| {
                    let texts = &*texts;
                    bencher.iter(|| {
                        turn += 1;
                        for text in &texts[turn % texts.len()] {
                            black_box((library.read)(black_box(text)).expect(OWN_TEXT));
                        }
                    });
                });
                group.finish();
            }
        }
    }
}

/// Why reading cannot fail.
const OWN_TEXT: &str = "the same library wrote the text";

/// Panics unless every library reads what every other one writes as the same objects.
fn assert_equal_work() {
    for sample in sample::samples().take(30).chain([sample::awkward()]) {
        for writer in LIBRARIES {
            let text = (writer.write)(&sample);
            for reader in LIBRARIES {
                let read = (reader.read)(&text);
                assert_eq!(
                    read.as_ref(),
                    Ok(&sample),
                    "written by {}, read by {}",
                    writer.name,
                    reader.name
                );
            }
        }
    }
}

fn largest() -> usize {
    let Ok(text) = std::env::var("PACEGATE_SAMPLES") else { return LARGEST };
    match text.parse() {
        Ok(largest) if NUMBERS.contains(&largest) => largest,
        _ => panic!("PACEGATE_SAMPLES is {text:?}; give one of {NUMBERS:?}"),
    }
}

criterion_group!(benches, samples);
criterion_main!(benches);
