//! Data binding: documents read, written, and read, modified and written per second.
//!
//! Retells a comparison of data binding libraries over ten rows of tabular data, in documents a second; criterion's
//! `elem/s` is that unit, and the bytes stand beside it. All contestants bind the same 1,127 bytes to
//! the same [`DbData`]:
//!
//! ```text
//! serde_json     bytes <-> DbData                the general library
//! simd_json      bytes <-> DbData                parses in place, so it copies its input first
//! sonic_rs       bytes <-> DbData                with the feature suite-full
//! through_tree   bytes <-> tree of values <-> DbData
//! by_hand        bytes <-> DbData                written for this type: the bound
//! ```
//!
//! Before anything is timed each contestant has to read what each other one wrote. A read is timed
//! with the release of the rows that it made; a write goes to a buffer that is used again.

mod by_hand;
mod data;
mod metrics;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use data::{DbData, DbRow};

const ROWS: usize = 10;

/// One way to bind a document to [`DbData`], with the scratch space that it keeps between calls.
trait Contestant {
    fn name(&self) -> &'static str;

    fn read(&mut self, document: &[u8]) -> DbData;

    /// Appends the document to `out`.
    fn write(&mut self, data: &DbData, out: &mut Vec<u8>);

    fn document(&mut self, data: &DbData) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(data, &mut out);
        out
    }
}

fn databind(criterion: &mut Criterion) {
    assert_equal_work();

    let data = data::db_data(ROWS);
    let document = SerdeJson.document(&data);
    let throughput = Throughput::ElementsAndBytes { elements: 1, bytes: document.len() as u64 };
    for mut contestant in contestants() {
        let size = contestant.document(&data).len();
        metrics::record_document_size(&format!("write/{}", contestant.name()), size);
    }

    let mut group = criterion.benchmark_group("read");
    group.throughput(throughput.clone());
    for mut contestant in contestants() {
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter(|| contestant.read(black_box(&document)));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("write");
    group.throughput(throughput.clone());
    for mut contestant in contestants() {
        let mut out = Vec::with_capacity(16_000);
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter(|| {
                out.clear();
                contestant.write(black_box(&data), &mut out);
                black_box(&out);
            });
        });
    }
    group.finish();

    // The study called this read-modify-write but wrote back what it had read. Here one field of
    // one row changes each time, so that no contestant could hand back the bytes that came in. The
    // new postal code is as long as the former one, so the size of the document stays.
    let mut group = criterion.benchmark_group("read_modify_write");
    group.throughput(throughput);
    for mut contestant in contestants() {
        let mut out = Vec::with_capacity(16_000);
        let mut turn = 0;
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter(|| {
                let mut data = contestant.read(black_box(&document));
                turn += 1;
                data.row[turn % ROWS].zip = 22_001 + (turn % 999) as i32;
                out.clear();
                contestant.write(&data, &mut out);
                black_box(&out);
            });
        });
    }
    group.finish();
}

/// Panics unless every contestant reads what every other one writes, at the expected sizes.
fn assert_equal_work() {
    let rows = data::db_data(ROWS);
    let array = serde_json::to_vec(&rows.row).expect("rows are plain data");
    assert_eq!(array.len(), 1_119, "size of the rows as a bare array");
    for mut writer in contestants() {
        let size = writer.document(&rows).len();
        assert_eq!(size, 1_127, "size of the document by {}", writer.name());
    }

    let mut awkward = data::db_data(3);
    awkward.row[0].firstname = "quote \" backslash \\ solidus / controls \u{1}\u{1f}\u{7f}".into();
    awkward.row[1].firstname = "\u{8}\u{c}\n\r\t é € 𝄞".into();
    awkward.row[1].id = i64::MIN;
    awkward.row[2].firstname = String::new();
    awkward.row[2].id = i64::MAX;
    awkward.row[2].zip = -1;
    for data in [rows, awkward, DbData { row: Vec::new() }] {
        for mut writer in contestants() {
            let document = writer.document(&data);
            for mut reader in contestants() {
                let (from, by) = (writer.name(), reader.name());
                assert_eq!(reader.read(&document), data, "written by {from}, read by {by}");
            }
        }
    }

    let spaced = r#" { "row" : [ { "state" : "\u0043\u0041" , "city" : "\ud834\udd1e\/" ,
        "street" : "" , "zip" : 0 , "lastname" : "b" , "firstname" : "a" , "id" : -1 } ] } "#;
    for mut reader in contestants() {
        let row = reader.read(spaced.as_bytes()).row.remove(0);
        assert_eq!((row.id, row.state.as_str()), (-1, "CA"), "keys in reverse, {}", reader.name());
        assert_eq!(row.city, "𝄞/", "escapes read by {}", reader.name());
    }
}

fn contestants() -> Box<[Box<dyn Contestant>]> {
    Box::new([
        Box::new(SerdeJson),
        Box::new(SimdJson { input: Vec::new(), buffers: simd_json::Buffers::default() }),
        #[cfg(feature = "suite-full")]
        Box::new(SonicRs),
        Box::new(ThroughTree),
        Box::new(ByHand),
    ])
}

struct SerdeJson;

impl Contestant for SerdeJson {
    fn name(&self) -> &'static str {
        "serde_json"
    }

    fn read(&mut self, document: &[u8]) -> DbData {
        serde_json::from_slice(document).expect("the document binds to the type")
    }

    fn write(&mut self, data: &DbData, out: &mut Vec<u8>) {
        serde_json::to_writer(out, data).expect("a vector takes every byte");
    }
}

/// Keeps its input and its tape between calls, as the library offers.
struct SimdJson {
    input: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl Contestant for SimdJson {
    fn name(&self) -> &'static str {
        "simd_json"
    }

    fn read(&mut self, document: &[u8]) -> DbData {
        // Parsing destroys its input. The document is needed again, so the copy is part of the price.
        self.input.clear();
        self.input.extend_from_slice(document);
        simd_json::serde::from_slice_with_buffers(&mut self.input, &mut self.buffers)
            .expect("the document binds to the type")
    }

    fn write(&mut self, data: &DbData, out: &mut Vec<u8>) {
        simd_json::serde::to_writer(out, data).expect("a vector takes every byte");
    }
}

#[cfg(feature = "suite-full")]
struct SonicRs;

#[cfg(feature = "suite-full")]
impl Contestant for SonicRs {
    fn name(&self) -> &'static str {
        "sonic_rs"
    }

    fn read(&mut self, document: &[u8]) -> DbData {
        sonic_rs::from_slice(document).expect("the document binds to the type")
    }

    fn write(&mut self, data: &DbData, out: &mut Vec<u8>) {
        sonic_rs::to_writer(out, data).expect("a vector takes every byte");
    }
}

/// Reads to a tree of values and binds that; writes the tree to a string and copies that.
struct ThroughTree;

impl Contestant for ThroughTree {
    fn name(&self) -> &'static str {
        "through_tree"
    }

    fn read(&mut self, document: &[u8]) -> DbData {
        let tree: serde_json::Value =
            serde_json::from_slice(document).expect("the document is JSON");
        serde_json::from_value(tree).expect("the tree binds to the type")
    }

    fn write(&mut self, data: &DbData, out: &mut Vec<u8>) {
        let tree = serde_json::to_value(data).expect("rows are plain data");
        out.extend_from_slice(tree.to_string().as_bytes());
    }
}

struct ByHand;

impl Contestant for ByHand {
    fn name(&self) -> &'static str {
        "by_hand"
    }

    fn read(&mut self, document: &[u8]) -> DbData {
        read_by_hand(document).expect("the document binds to the type")
    }

    fn write(&mut self, data: &DbData, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"row":["#);
        for (number, row) in data.row.iter().enumerate() {
            let opening: &[u8] = if number == 0 { br#"{"id":"# } else { br#",{"id":"# };
            out.extend_from_slice(opening);
            by_hand::write_integer(out, row.id);
            out.extend_from_slice(br#","firstname":"#);
            by_hand::write_string(out, &row.firstname);
            out.extend_from_slice(br#","lastname":"#);
            by_hand::write_string(out, &row.lastname);
            out.extend_from_slice(br#","zip":"#);
            by_hand::write_integer(out, i64::from(row.zip));
            out.extend_from_slice(br#","street":"#);
            by_hand::write_string(out, &row.street);
            out.extend_from_slice(br#","city":"#);
            by_hand::write_string(out, &row.city);
            out.extend_from_slice(br#","state":"#);
            by_hand::write_string(out, &row.state);
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
}

fn read_by_hand(document: &[u8]) -> Option<DbData> {
    let mut reader = by_hand::Reader::new(document)?;
    let mut rows = None;
    reader.object(|reader, key| match key {
        "row" => {
            let mut read = Vec::new();
            reader.array(|reader| {
                read.push(read_row_by_hand(reader)?);
                Some(())
            })?;
            rows = Some(read);
            Some(())
        }
        _ => None,
    })?;
    reader.end()?;
    Some(DbData { row: rows? })
}

fn read_row_by_hand(reader: &mut by_hand::Reader<'_>) -> Option<DbRow> {
    let (mut id, mut zip) = (None, None);
    let (mut firstname, mut lastname, mut street, mut city, mut state) =
        (None, None, None, None, None);
    reader.object(|reader, key| {
        match key {
            "id" => id = Some(reader.integer()?),
            "firstname" => firstname = Some(reader.string()?),
            "lastname" => lastname = Some(reader.string()?),
            "zip" => zip = Some(i32::try_from(reader.integer()?).ok()?),
            "street" => street = Some(reader.string()?),
            "city" => city = Some(reader.string()?),
            "state" => state = Some(reader.string()?),
            _ => return None,
        }
        Some(())
    })?;
    Some(DbRow {
        id: id?,
        firstname: firstname?.into_owned(),
        lastname: lastname?.into_owned(),
        zip: zip?,
        street: street?.into_owned(),
        city: city?.into_owned(),
        state: state?.into_owned(),
    })
}

criterion_group!(benches, databind);
criterion_main!(benches);
