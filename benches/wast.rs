//! Eleven workloads, each a question of its own about a JSON library: numbers, short strings, long strings, dates,
//! trees, beans, and one very large document.
//!
//! Retells a comparison that counted operations a millisecond. criterion's `Kelem/s` is that unit, since an element
//! is one document; the bytes stand beside it.
//!
//! ```text
//! parse/number_bean         14 numbers of four types                            -> NumberBean
//! parse/string_map          40 short strings                                    -> tree
//! parse/date                one date with a zone                                -> DateBean
//! parse/media               a film and two pictures                             -> tree
//! parse/simple_bean         a bit of everything, indented                       -> SimpleBean
//! parse/long_text           18 strings of 10,000 letters                        -> tree
//! parse/long_text_escaped   the same with every control character in each       -> tree
//! parse/super_long/*/4MB    a map of building lots; PACEGATE_SUPER_LONG_MB=180  -> tree
//! write/media               the tree                                            -> 468 bytes
//! write/simple_bean         the bean, without what it lacks                     -> 185 bytes
//! write/date                one moment in five types                            -> 135 bytes
//! ```
//!
//! A tree is the one that the library itself offers and that owns its text. Before anything is timed each
//! contestant has to read every document as the same value, and to write each value as a document
//! that all others read as the same. A parse is timed with the release of what it made; a write
//! goes to a buffer that is used again.

mod data;
mod media;
mod metrics;

use std::cell::LazyCell;
use std::fmt::Debug;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use data::{Controls, DateBean, NumberBean, SimpleBean};
use media::Variant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use simd_json::prelude::Writable as _;

/// Megabytes of the super-long document, unless `PACEGATE_SUPER_LONG_MB` says otherwise.
const SUPER_LONG_MB: usize = 4;

/// A library that is compared.
#[derive(Clone, Copy, Debug)]
enum Contestant {
    SerdeJson,
    SimdJson,
    #[cfg(feature = "suite-full")]
    SonicRs,
}

/// A document as the values that it holds, in the contestant's own form.
#[derive(Debug)]
enum Tree {
    SerdeJson(Value),
    SimdJson(simd_json::OwnedValue),
    #[cfg(feature = "suite-full")]
    SonicRs(sonic_rs::Value),
}

/// simd_json destroys what it parses. The document is needed again, so a copy of it is part of the price; the room is kept
/// between calls, as the library offers.
#[derive(Default)]
struct Scratch {
    input: Vec<u8>,
    buffers: simd_json::Buffers,
}

fn wast(criterion: &mut Criterion) {
    let documents = Documents::new();
    assert_equal_work(&documents);

    parse(criterion, "number_bean", &documents.number_bean, Contestant::parse::<NumberBean>);
    parse(criterion, "string_map", &documents.string_map, Contestant::parse_tree);
    parse(criterion, "date", &documents.date, Contestant::parse::<DateBean>);
    parse(criterion, "media", &documents.media, Contestant::parse_tree);
    parse(criterion, "simple_bean", &documents.simple_bean, Contestant::parse::<SimpleBean>);
    parse(criterion, "long_text", &documents.long_text, Contestant::parse_tree);
    parse(criterion, "long_text_escaped", &documents.long_text_escaped, Contestant::parse_tree);
    parse_super_long(criterion);

    write_tree(criterion, "media", &documents.media);
    write(criterion, "simple_bean", &data::simple_bean());
    write(criterion, "date", &data::dates_document().0);
}

fn parse<T>(
    criterion: &mut Criterion,
    workload: &str,
    document: &str,
    parse: fn(Contestant, &[u8], &mut Scratch) -> T,
) {
    let mut group = criterion.benchmark_group(format!("parse/{workload}"));
    group.throughput(one_document(document.len()));
    for contestant in Contestant::ALL {
        let mut scratch = Scratch::default();
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter(|| parse(*contestant, black_box(document.as_bytes()), &mut scratch));
        });
    }
    group.finish();
}

fn parse_super_long(criterion: &mut Criterion) {
    let megabytes = super_long_megabytes();
    let bytes = megabytes * 1_000_000;
    // Every launch of this target comes past here, and few need the document.
    let document = LazyCell::new(|| data::feature_collection(bytes));
    let mut group = criterion.benchmark_group("parse/super_long");
    group.throughput(one_document(bytes)).sample_size(10);
    for contestant in Contestant::ALL {
        let mut scratch = Scratch::default();
        let id = BenchmarkId::new(contestant.name(), format!("{megabytes}MB"));
        group.bench_function(id, |bencher| {
            let document = document.as_bytes();
            bencher.iter(|| contestant.parse_tree(black_box(document), &mut scratch));
        });
    }
    group.finish();
}

fn write<T: Serialize>(criterion: &mut Criterion, workload: &str, value: &T) {
    write_with(criterion, workload, |contestant| {
        move |out| contestant.write(black_box(value), out)
    });
}

fn write_tree(criterion: &mut Criterion, workload: &str, document: &str) {
    write_with(criterion, workload, |contestant| {
        let tree = contestant.parse_tree(document.as_bytes(), &mut Scratch::default());
        move |out| black_box(&tree).write(out)
    });
}

/// Times what `writer` makes for each contestant: a function that appends one document to a buffer.
fn write_with<F: Fn(&mut Vec<u8>)>(
    criterion: &mut Criterion,
    workload: &str,
    writer: impl Fn(Contestant) -> F,
) {
    let mut group = criterion.benchmark_group(format!("write/{workload}"));
    for contestant in Contestant::ALL {
        let write = writer(*contestant);
        let mut out = Vec::new();
        write(&mut out);
        let id = format!("write/{workload}/{}", contestant.name());
        metrics::record_document_size(&id, out.len());
        group.throughput(one_document(out.len()));
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter(|| {
                out.clear();
                write(&mut out);
                black_box(&out);
            });
        });
    }
    group.finish();
}

fn one_document(bytes: usize) -> Throughput {
    Throughput::ElementsAndBytes { elements: 1, bytes: bytes as u64 }
}

fn super_long_megabytes() -> usize {
    let Ok(text) = std::env::var("PACEGATE_SUPER_LONG_MB") else { return SUPER_LONG_MB };
    match text.parse() {
        Ok(megabytes) if 0 < megabytes => megabytes,
        _ => panic!("PACEGATE_SUPER_LONG_MB is {text:?}; give a number of megabytes above zero"),
    }
}

/// What is parsed.
struct Documents {
    number_bean: String,
    string_map: String,
    date: String,
    media: String,
    simple_bean: String,
    long_text: String,
    long_text_escaped: String,
}

impl Documents {
    fn new() -> Self {
        let pretty = serde_json::to_string_pretty(&data::simple_bean());
        Documents {
            number_bean: json(&data::number_bean()),
            string_map: data::string_map(40),
            date: data::date_document().1.to_owned(),
            media: media().to_string(),
            simple_bean: pretty.expect("a bean is plain data"),
            long_text: data::long_text(Controls::None),
            long_text_escaped: data::long_text(Controls::Each),
        }
    }
}

/// The standard media content without the copyright that it does not have, keys in alphabetical order.
fn media() -> Value {
    let content = serde_json::to_value(Variant::Standard.content());
    let mut content = content.expect("media are plain data");
    content["media"].as_object_mut().expect("a film is an object").remove("copyright");
    content.sort_all_objects();
    content
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the value is plain data")
}

/// Panics unless every contestant reads and writes the same values, at the expected sizes.
fn assert_equal_work(documents: &Documents) {
    assert_eq!(documents.string_map.len(), 781, "size of the map of strings");
    assert_eq!(documents.date.len(), 41, "size of the date");
    assert_eq!(documents.media.len(), 468, "size of the media content");
    assert_eq!(documents.long_text.len(), 180_127, "size of the long text");
    assert_eq!(documents.long_text_escaped.len(), 182_557, "size of the long text with escapes");

    assert_parsed(&documents.number_bean, &data::number_bean());
    assert_parsed(&documents.date, &data::date_document().0);
    assert_parsed(&documents.simple_bean, &data::simple_bean());
    // The super-long document begins with the same lots.
    let lots = data::feature_collection(20_000);
    let Documents { string_map, media, long_text, long_text_escaped, .. } = documents;
    for document in [string_map, media, long_text, long_text_escaped, &lots] {
        assert_trees(document, document, "the document");
    }

    let bean = data::simple_bean();
    assert_written(&json(&bean), |contestant, out| contestant.write(&bean, out));
    let (dates, document) = data::dates_document();
    assert_written(document, |contestant, out| contestant.write(&dates, out));
    assert_written(media, |contestant, out| {
        contestant.parse_tree(media.as_bytes(), &mut Scratch::default()).write(out);
    });
}

fn assert_parsed<T: DeserializeOwned + PartialEq + Debug>(document: &str, expected: &T) {
    for contestant in Contestant::ALL {
        let read: T = contestant.parse(document.as_bytes(), &mut Scratch::default());
        assert_eq!(&read, expected, "read by {} from {document}", contestant.name());
    }
}

fn assert_written(expected: &str, write: impl Fn(Contestant, &mut Vec<u8>)) {
    for contestant in Contestant::ALL {
        let mut out = Vec::new();
        write(*contestant, &mut out);
        let written = String::from_utf8(out).expect("JSON is UTF-8");
        let by = contestant.name();
        // A tree has an order of keys of its own.
        assert_eq!(written.len(), expected.len(), "size of {written}, written by {by}");
        assert_trees(&written, expected, by);
    }
}

/// Panics unless all contestants make the tree of `expected` of this document.
fn assert_trees(document: &str, expected: &str, origin: &str) {
    let expected: Value = serde_json::from_str(expected).expect("the document is JSON");
    for contestant in Contestant::ALL {
        let tree = contestant.parse_tree(document.as_bytes(), &mut Scratch::default());
        // Not `assert_eq`: some of these trees are long.
        assert!(tree.to_serde() == expected, "{origin}, read by {}", contestant.name());
    }
}

impl Contestant {
    const ALL: &[Contestant] = &[
        Contestant::SerdeJson,
        Contestant::SimdJson,
        #[cfg(feature = "suite-full")]
        Contestant::SonicRs,
    ];

    fn name(self) -> &'static str {
        match self {
            Contestant::SerdeJson => "serde_json",
            Contestant::SimdJson => "simd_json",
            #[cfg(feature = "suite-full")]
            Contestant::SonicRs => "sonic_rs",
        }
    }

    fn parse<T: DeserializeOwned>(self, document: &[u8], scratch: &mut Scratch) -> T {
        const BINDS: &str = "the document binds to the type";
        match self {
            Contestant::SerdeJson => serde_json::from_slice(document).expect(BINDS),
            Contestant::SimdJson => {
                let (input, buffers) = scratch.filled(document);
                simd_json::serde::from_slice_with_buffers(input, buffers).expect(BINDS)
            }
            #[cfg(feature = "suite-full")]
            Contestant::SonicRs => sonic_rs::from_slice(document).expect(BINDS),
        }
    }

    fn parse_tree(self, document: &[u8], scratch: &mut Scratch) -> Tree {
        const PARSES: &str = "the document is JSON";
        match self {
            Contestant::SerdeJson => {
                Tree::SerdeJson(serde_json::from_slice(document).expect(PARSES))
            }
            Contestant::SimdJson => {
                let (input, buffers) = scratch.filled(document);
                let tree = simd_json::owned::to_value_with_buffers(input, buffers);
                Tree::SimdJson(tree.expect(PARSES))
            }
            #[cfg(feature = "suite-full")]
            Contestant::SonicRs => Tree::SonicRs(sonic_rs::from_slice(document).expect(PARSES)),
        }
    }

    fn write<T: Serialize>(self, value: &T, out: &mut Vec<u8>) {
        const TAKES: &str = "a vector takes every byte";
        match self {
            Contestant::SerdeJson => serde_json::to_writer(out, value).expect(TAKES),
            Contestant::SimdJson => simd_json::serde::to_writer(out, value).expect(TAKES),
            #[cfg(feature = "suite-full")]
            Contestant::SonicRs => sonic_rs::to_writer(out, value).expect(TAKES),
        }
    }
}

impl Tree {
    /// Writes the tree as its library does.
    fn write(&self, out: &mut Vec<u8>) {
        const TAKES: &str = "a vector takes every byte";
        match self {
            Tree::SerdeJson(tree) => serde_json::to_writer(out, tree).expect(TAKES),
            Tree::SimdJson(tree) => tree.write(out).expect(TAKES),
            #[cfg(feature = "suite-full")]
            Tree::SonicRs(tree) => sonic_rs::to_writer(out, tree).expect(TAKES),
        }
    }

    fn to_serde(&self) -> Value {
        match self {
            Tree::SerdeJson(tree) => Ok(tree.clone()),
            Tree::SimdJson(tree) => serde_json::to_value(tree),
            #[cfg(feature = "suite-full")]
            Tree::SonicRs(tree) => serde_json::to_value(tree),
        }
        .expect("a tree is plain data")
    }
}

impl Scratch {
    fn filled(&mut self, document: &[u8]) -> (&mut [u8], &mut simd_json::Buffers) {
        self.input.clear();
        self.input.extend_from_slice(document);
        (&mut self.input, &mut self.buffers)
    }
}

criterion_group!(benches, wast);
criterion_main!(benches);
