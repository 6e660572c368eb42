//! One small object written many times in a row.
//!
//! Retells a loop that serialised one [`Person`] 100,000 times, discarded the text, and timed the
//! whole loop ten times in one process. Here one iteration is a batch of 1,000, so that a launch
//! stays short; `PACEGATE_PERSON_BATCH=100000` gives the batch of the study. The size of the batch
//! is a part of the benchmark's name, since two sizes are two benchmarks.

mod by_hand;
mod data;
mod metrics;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use data::Person;

/// Persons in a batch, unless `PACEGATE_PERSON_BATCH` says otherwise.
const BATCH: u64 = 1_000;

/// A contestant makes a new string for each person, as the libraries of the study did.
type Contestant = (&'static str, fn(&Person) -> String);

const CONTESTANTS: [Contestant; 3] = [
    ("serde_json", |person| serde_json::to_string(person).expect("a person is plain data")),
    ("simd_json", |person| simd_json::to_string(person).expect("a person is plain data")),
    ("by_hand", write_by_hand),
];

fn person(criterion: &mut Criterion) {
    assert_equal_work();

    let person = data::person();
    let size = batch_size();
    let mut group = criterion.benchmark_group("batch");
    group.throughput(Throughput::Elements(size));
    for (name, write) in CONTESTANTS {
        metrics::record_document_size(&format!("batch/{name}/{size}"), write(&person).len());
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| batch(&person, size, write));
        });
    }
    group.finish();
}

/// Writes the person `size` times; each text is dropped before the next one is made.
fn batch(person: &Person, size: u64, write: fn(&Person) -> String) {
    for _ in 0..size {
        black_box(write(black_box(person)));
    }
}

fn batch_size() -> u64 {
    let Ok(text) = std::env::var("PACEGATE_PERSON_BATCH") else { return BATCH };
    match text.parse() {
        Ok(size) if 0 < size => size,
        _ => panic!("PACEGATE_PERSON_BATCH is {text:?}; give a number of persons above zero"),
    }
}

/// Panics unless all contestants write the same text, which every library reads as the same person.
fn assert_equal_work() {
    let person = data::person();
    let text = serde_json::to_string(&person).expect("a person is plain data");
    assert_eq!((text.chars().count(), text.len()), (104, 122), "characters and bytes of {text}");
    let awkward =
        Person { name: "\u{1}\"\\\n é 𝄞".to_owned(), age: -1, gender: false, ..data::person() };
    for person in [person, awkward] {
        let expected = serde_json::to_string(&person).expect("a person is plain data");
        for (name, write) in CONTESTANTS {
            let text = write(&person);
            assert_eq!(text, expected, "text written by {name}");
            let read: Person = serde_json::from_str(&text).expect("the text is JSON");
            assert_eq!(read, person, "written by {name}, read by serde_json");
            let read: Person =
                simd_json::from_slice(&mut text.into_bytes()).expect("the text is JSON");
            assert_eq!(read, person, "written by {name}, read by simd_json");
        }
    }
}

fn write_by_hand(person: &Person) -> String {
    // serde_json starts with the same room.
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(br#"{"Id":"#);
    by_hand::write_integer(&mut out, i64::from(person.id));
    out.extend_from_slice(br#","Name":"#);
    by_hand::write_string(&mut out, &person.name);
    out.extend_from_slice(br#","Age":"#);
    by_hand::write_integer(&mut out, i64::from(person.age));
    out.extend_from_slice(br#","Gender":"#);
    out.extend_from_slice(if person.gender { b"true" } else { b"false" });
    out.extend_from_slice(br#","Address":"#);
    by_hand::write_string(&mut out, &person.address);
    out.extend_from_slice(br#","IDCard":"#);
    by_hand::write_string(&mut out, &person.id_card);
    out.push(b'}');
    String::from_utf8(out).expect("only whole strings were written")
}

criterion_group!(benches, person);
criterion_main!(benches);
