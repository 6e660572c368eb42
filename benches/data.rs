//! What the benches work on: values, documents and a stream of numbers, the same in every build and run, nothing
//! downloaded.
//!
//! All have the field names and the field widths of the study they retell, and with them the
//! exact document sizes that the benches assert before they time anything; names and places are
//! made up. What the studies drew at random is drawn from a fixed seed.

#![allow(dead_code, reason = "each bench target compiles this module and uses a part of it")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, offset};
use jiff::{Timestamp, ZonedDateTime};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize, Serializer};

/// One person with six plain properties: 104 characters of compact JSON.
///
/// The address is Chinese, so that the 104 characters are 122 bytes of UTF-8.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Person {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) age: i32,
    pub(crate) gender: bool,
    pub(crate) address: String,
    #[serde(rename = "IDCard")]
    pub(crate) id_card: String,
}

/// Tabular data bound to a list of rows: `{"row":[{"id":0,"firstname":…},…]}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DbData {
    pub(crate) row: Vec<DbRow>,
}

/// One row: who lives where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DbRow {
    pub(crate) id: i64,
    pub(crate) firstname: String,
    pub(crate) lastname: String,
    pub(crate) zip: i32,
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) state: String,
}

/// Fourteen numbers of four types: two `i32`, two `i64`, two `f32`, eight `f64`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NumberBean {
    value1: i32,
    value2: i32,
    value3: i64,
    value4: i64,
    value5: f32,
    value6: f32,
    value7: f64,
    value8: f64,
    value9: f64,
    value10: f64,
    value11: f64,
    value12: f64,
    value13: f64,
    value14: f64,
}

/// One moment, as text in the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DateBean {
    pub(crate) date: Timestamp,
}

/// One moment as the five types that a program may hold it in, written as digits alone.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatesBean {
    #[serde(serialize_with = "second_in_utc")]
    date: Timestamp,
    #[serde(serialize_with = "second_of_clock")]
    local_date_time: DateTime,
    #[serde(serialize_with = "second_in_zone")]
    zoned_date_time: ZonedDateTime,
    #[serde(serialize_with = "day")]
    local_date: Date,
    #[serde(serialize_with = "day_in_utc")]
    instant: Timestamp,
}

/// A bit of everything. The fields without a value are absent from the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SimpleBean {
    id: i32,
    version: i64,
    percent: f64,
    name: String,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    date: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    simple_enum: Option<SimpleEnum>,
    map_instance: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<String>>,
    versions: Vec<String>,
}

/// The choice that [`SimpleBean`] leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum SimpleEnum {
    One,
    Two,
    Three,
}

/// The person that is written again and again.
pub(crate) fn person() -> Person {
    Person {
        id: 1,
        name: "Ada Example".to_owned(),
        age: 28,
        gender: true,
        address: "北京市海淀区中关村".to_owned(),
        id_card: "42XXXX198XXXXXXXXX".to_owned(),
    }
}

/// Tabular data with `rows` rows.
pub(crate) fn db_data(rows: usize) -> DbData {
    let first_names =
        ["Al", "Bea", "Carla", "Doris", "Edgar", "Fiona", "Gerald", "Heinz", "Irene", "Jasmine"];
    let row = (0..rows).zip(first_names.iter().cycle()).map(|(number, first_name)| DbRow {
        id: number as i64,
        firstname: (*first_name).to_owned(),
        lastname: "Sample".to_owned(),
        zip: 22_000,
        street: format!("{number} Any St."),
        city: "Anytown".to_owned(),
        state: "CA".to_owned(),
    });
    DbData { row: row.collect() }
}

/// Whole numbers over their full range, fractions between 0 and 1, one very large, one very small, and four zeros.
pub(crate) fn number_bean() -> NumberBean {
    let mut generator = generator();
    NumberBean {
        value1: generator.random(),
        value2: generator.random(),
        value3: generator.random(),
        value4: generator.random(),
        value5: generator.random(),
        value6: generator.random(),
        value7: generator.random(),
        value8: generator.random(),
        value9: 1.234_567_89e107,
        value10: 1.234_567_89e-97,
        value11: 0.0,
        value12: 0.0,
        value13: 0.0,
        value14: 0.0,
    }
}

/// `{"key_0":"value_0",…}` with so many keys.
pub(crate) fn string_map(keys: usize) -> String {
    let pairs: Vec<String> = (0..keys).map(|i| format!(r#""key_{i}":"value_{i}""#)).collect();
    format!("{{{}}}", pairs.join(","))
}

/// The moment in a document of its own, east of Greenwich and to the millisecond.
pub(crate) fn date_document() -> (DateBean, &'static str) {
    (DateBean { date: moment() }, r#"{"date": "2022-09-25T12:30:45.000+08:00"}"#)
}

/// The moment in five types, and the document that they make.
pub(crate) fn dates_document() -> (DatesBean, &'static str) {
    let zoned = moment().to_zoned_datetime(TimeZone::fixed(offset(8)));
    let bean = DatesBean {
        date: moment(),
        local_date_time: zoned.datetime(),
        local_date: zoned.date(),
        zoned_date_time: zoned,
        instant: moment(),
    };
    let document = concat!(
        r#"{"date":"20220925043045","localDateTime":"20220925123045","#,
        r#""zonedDateTime":"20220925123045","localDate":"20220925","instant":"20220925"}"#,
    );
    (bean, document)
}

/// The small bean, at the moment.
pub(crate) fn simple_bean() -> SimpleBean {
    let text = |first| (first..).take(14).collect();
    SimpleBean {
        id: 1,
        version: moment().as_millisecond(),
        percent: 12.34,
        name: "simple".to_owned(),
        date: moment(),
        simple_enum: None,
        map_instance: [("v1".to_owned(), text('a')), ("v2".to_owned(), text('A'))].into(),
        list: None,
        versions: (1..=3).map(|number| format!("v0.0.{number}")).collect(),
    }
}

/// What a long text holds besides letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controls {
    /// Nothing.
    None,
    /// Each of U+0001 to U+001F at a place of its own; JSON has to escape them.
    Each,
}

/// `{"a":"aaa…","b":"aaa…",…}` with 18 keys and 10,000 characters under each: 175 KiB.
pub(crate) fn long_text(controls: Controls) -> String {
    let mut text = vec![b'a'; 10_000];
    if controls == Controls::Each {
        let mut generator = generator();
        for control in 1..=0x1f {
            let free = |at: &usize| text[*at] == b'a';
            let at = std::iter::repeat_with(|| generator.random_range(..10_000)).find(free);
            text[at.expect("the draws do not end")] = control;
        }
    }
    let text = String::from_utf8(text).expect("every character is of ASCII");
    let pairs: BTreeMap<char, &str> = ('a'..='r').map(|key| (key, text.as_str())).collect();
    serde_json::to_string(&pairs).expect("text is plain data")
}

/// A map of building lots as GeoJSON, of exactly so many bytes (at least 1,000): polygons of long fractions,
/// each with a few short strings. A larger one begins with the same lots.
pub(crate) fn feature_collection(bytes: usize) -> String {
    const END: &str = "]}";
    let mut generator = generator();
    let mut text = String::with_capacity(bytes);
    text.push_str(r#"{"type":"FeatureCollection","features":["#);
    for number in 0.. {
        let before = text.len();
        write_lot(&mut text, number, &mut generator);
        // The last lot and the comma before it give way to white space.
        if bytes < text.len() + END.len() {
            text.truncate(before - 1);
            break;
        }
        text.push(',');
    }
    while text.len() + END.len() < bytes {
        text.push(' ');
    }
    text + END
}

fn write_lot(text: &mut String, number: usize, generator: &mut Pcg64) {
    let (block, lot) = (number / 50 + 1, number % 50 + 1);
    let house = generator.random_range(1..2_000);
    let side = if house % 2 == 0 { 'E' } else { 'O' };
    let street = ["MAPLE", "HARBOUR", "SECOND", "ORCHARD"][number / 50 % 4];
    let (mut east, mut north) =
        (generator.random_range(7.0..8.0), generator.random_range(53.0..54.0));
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for _ in 0..generator.random_range(4..16) {
        corners.push((east, north));
        east += generator.random_range(-1e-4..1e-4);
        north += generator.random_range(-1e-4..1e-4);
    }
    corners.push(corners[0]);
    write!(
        text,
        r#"{{"type":"Feature","properties":{{"BLOCKLOT":"{block:04}{lot:03}","BLOCK":"{block:04}","LOT":"{lot:03}","FROM":"{house}","TO":"{house}","STREET":"{street}","KIND":null,"SIDE":"{side}"}},"geometry":{{"type":"Polygon","coordinates":[["#,
    )
    .and_then(|()| {
        for (number, (east, north)) in corners.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(text, "{comma}[{east:.15},{north:.15},0.0]")?;
        }
        text.write_str("]]}}")
    })
    .expect("a string takes every character");
}

/// A stream of numbers from a fixed seed.
pub(crate) fn generator() -> Pcg64 {
    Pcg64::seed_from_u64(20)
}

/// The one moment that all dates tell.
fn moment() -> Timestamp {
    Timestamp::constant(1_664_080_245, 0)
}

const SECOND: &str = "%Y%m%d%H%M%S";
const DAY: &str = "%Y%m%d";

fn second_in_utc<S: Serializer>(date: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.strftime(SECOND))
}

fn second_of_clock<S: Serializer>(date: &DateTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.strftime(SECOND))
}

fn second_in_zone<S: Serializer>(date: &ZonedDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.strftime(SECOND))
}

fn day<S: Serializer>(date: &Date, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.strftime(DAY))
}

fn day_in_utc<S: Serializer>(date: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.strftime(DAY))
}
