//! The serializer table: one small object written and read in every format that has a sound library.
//!
//! Retells a table with the columns `create ser deser total size +dfl`:
//!
//! ```text
//! create/<row>/<variant>   the object made into the form that the library works on
//! ser/<row>/<variant>      create, and the form written to a fresh vector of bytes
//! deser/<row>/<variant>    the bytes read into the library's form
//! total                    ser + deser: added up where the table is printed
//! size, deflated           exact metrics of ser/<row>/<variant>
//! ```
//!
//! A row is a format and the library for it. That `ser` holds `create` is the rule of the study: so a library
//! with types of its own is held against one that takes any type. Before anything is timed each library has to
//! give back each variant, and the sizes that a format fixes have to be the published ones.

mod media;
mod metrics;
#[cfg(feature = "suite-full")]
mod protobuf;

use std::hint::black_box;
use std::io::Write as _;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use media::{MediaContent, Variant};

/// Rows of the table whose bytes are fixed by their format, with the published size of the standard variant.
const PUBLISHED: [(&str, usize); 5] = [
    ("json/serde_json", 485),
    ("json/simd_json", 485),
    ("json/sonic_rs", 485),
    ("smile/serde_smile", 352),
    ("bson/bson", 506),
];

/// Why writing cannot fail.
const WRITES: &str = "the object is plain data";
/// Why reading cannot fail.
const READS: &str = "the same library wrote the bytes";

/// A row of the table. The form that its library works on does not leave the functions.
struct Contestant {
    name: &'static str,
    create: Operation<MediaContent, ()>,
    ser: Operation<MediaContent, Vec<u8>>,
    deser: Operation<[u8], ()>,
    /// Reads all the way back to the object, for the proof.
    back: Operation<[u8], MediaContent>,
}

type Operation<From, To> = Box<dyn Fn(&From) -> To>;

impl Contestant {
    /// A library that takes any type: its form is a copy of the object.
    fn of_any_type(
        name: &'static str,
        write: impl Fn(&MediaContent) -> Vec<u8> + 'static,
        read: impl Fn(&[u8]) -> MediaContent + Copy + 'static,
    ) -> Self {
        Contestant::of_own_type(name, MediaContent::clone, write, read, |content| content)
    }

    /// A library that needs a type of its own, or one made for it.
    fn of_own_type<Form: 'static>(
        name: &'static str,
        forward: impl Fn(&MediaContent) -> Form + Copy + 'static,
        write: impl Fn(&Form) -> Vec<u8> + 'static,
        read: impl Fn(&[u8]) -> Form + Copy + 'static,
        backward: impl Fn(Form) -> MediaContent + 'static,
    ) -> Self {
        Contestant {
            name,
            create: Box::new(move |content| drop(black_box(forward(content)))),
            ser: Box::new(move |content| write(&forward(content))),
            deser: Box::new(move |bytes| drop(black_box(read(bytes)))),
            back: Box::new(move |bytes| backward(read(bytes))),
        }
    }
}

fn serializers(criterion: &mut Criterion) {
    assert_equal_work();

    for contestant in contestants() {
        for variant in Variant::ALL {
            let content = variant.content();
            let bytes = (contestant.ser)(&content);
            let id = format!("ser/{}/{}", contestant.name, variant.name());
            metrics::record_bytes(&id, "size", bytes.len());
            metrics::record_bytes(&id, "deflated", deflated(&bytes).len());

            let id = || BenchmarkId::new(contestant.name, variant.name());
            criterion.benchmark_group("create").bench_function(id(), |bencher| {
                bencher.iter(|| (contestant.create)(black_box(&content)));
            });
            criterion.benchmark_group("ser").bench_function(id(), |bencher| {
                bencher.iter(|| (contestant.ser)(black_box(&content)));
            });
            criterion.benchmark_group("deser").bench_function(id(), |bencher| {
                bencher.iter(|| (contestant.deser)(black_box(&bytes)));
            });
        }
    }
}

/// Panics unless each library gives back what it was given, and writes as many bytes as its format asks for.
fn assert_equal_work() {
    for contestant in contestants() {
        for variant in Variant::ALL {
            let content = variant.content();
            let bytes = (contestant.ser)(&content);
            let back = (contestant.back)(&bytes);
            assert_eq!(back, content, "{} of {}", variant.name(), contestant.name);
        }
        let size = (contestant.ser)(&Variant::Standard.content()).len();
        if let Some((name, published)) = PUBLISHED.iter().find(|(name, _)| *name == contestant.name)
        {
            assert_eq!(size, *published, "bytes of {name}");
        }
    }
}

/// The bytes in zlib's wrapping at its default level, as the study packed them.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte")
}

fn contestants() -> impl Iterator<Item = Contestant> {
    quick_to_build().into_iter().chain(slow_to_build())
}

fn quick_to_build() -> Vec<Contestant> {
    vec![
        Contestant::of_any_type(
            "json/serde_json",
            |content| serde_json::to_vec(content).expect(WRITES),
            |bytes| serde_json::from_slice(bytes).expect(READS),
        ),
        Contestant::of_any_type(
            "json/simd_json",
            |content| simd_json::to_vec(content).expect(WRITES),
            // Parsing destroys its input, so the copy is a part of the price.
            |bytes| simd_json::from_slice(&mut bytes.to_vec()).expect(READS),
        ),
        Contestant::of_any_type(
            "smile/serde_smile",
            |content| serde_smile::to_vec(content).expect(WRITES),
            |bytes| serde_smile::from_slice(bytes).expect(READS),
        ),
        Contestant::of_any_type(
            "msgpack/rmp_serde",
            |content| rmp_serde::to_vec(content).expect(WRITES),
            |bytes| rmp_serde::from_slice(bytes).expect(READS),
        ),
        Contestant::of_any_type(
            "cbor/ciborium",
            |content| {
                let mut bytes = Vec::new();
                ciborium::into_writer(content, &mut bytes).expect(WRITES);
                bytes
            },
            |bytes| ciborium::from_reader(bytes).expect(READS),
        ),
        Contestant::of_any_type(
            "xml/quick_xml",
            |content| quick_xml::se::to_string(content).expect(WRITES).into_bytes(),
            xml_with_absent_texts,
        ),
        Contestant::of_any_type(
            "postcard",
            |content| postcard::to_stdvec(content).expect(WRITES),
            |bytes| postcard::from_bytes(bytes).expect(READS),
        ),
    ]
}

/// XML has no word for what is absent: the library writes an empty element, and reads it as an empty text.
fn xml_with_absent_texts(bytes: &[u8]) -> MediaContent {
    let text = std::str::from_utf8(bytes).expect(READS);
    let mut content: MediaContent = quick_xml::de::from_str(text).expect(READS);
    let MediaContent { media, images } = &mut content;
    let titles = images.iter_mut().map(|image| &mut image.title);
    for text in titles.chain([&mut media.title, &mut media.copyright]) {
        text.take_if(|text| text.is_empty());
    }
    content
}

#[cfg(not(feature = "suite-full"))]
fn slow_to_build() -> Vec<Contestant> {
    Vec::new()
}

#[cfg(feature = "suite-full")]
fn slow_to_build() -> Vec<Contestant> {
    use bson::{deserialize_from_slice, serialize_to_vec};
    use prost::Message as _;
    use rkyv::rancor::Error;

    vec![
        Contestant::of_any_type(
            "json/sonic_rs",
            |content| sonic_rs::to_vec(content).expect(WRITES),
            |bytes| sonic_rs::from_slice(bytes).expect(READS),
        ),
        Contestant::of_any_type(
            "bson/bson",
            |content| serialize_to_vec(content).expect(WRITES),
            |bytes| deserialize_from_slice(bytes).expect(READS),
        ),
        Contestant::of_own_type(
            "protobuf/prost",
            |content| protobuf::MediaContent::from(content),
            protobuf::MediaContent::encode_to_vec,
            |bytes| protobuf::MediaContent::decode(bytes).expect(READS),
            MediaContent::from,
        ),
        Contestant::of_any_type("bitcode", bitcode::encode, |bytes| {
            bitcode::decode(bytes).expect(READS)
        }),
        Contestant {
            // Its form is the bytes themselves, once they are checked.
            deser: Box::new(|bytes| {
                black_box(rkyv::access::<media::ArchivedMediaContent, Error>(bytes).expect(READS));
            }),
            ..Contestant::of_any_type(
                "rkyv",
                |content| {
                    rkyv::api::high::to_bytes_in::<_, Error>(content, Vec::new()).expect(WRITES)
                },
                |bytes| rkyv::from_bytes::<_, Error>(bytes).expect(READS),
            )
        },
    ]
}

criterion_group!(benches, serializers);
criterion_main!(benches);
