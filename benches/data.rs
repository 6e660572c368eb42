//! What the benches work on: two documents and a stream of numbers, the same in every build and run,
//! nothing downloaded.
//!
//! Both documents have the field names and the field widths of the study they retell, and with them the
//! exact document sizes that the benches assert before they time anything; names and places are
//! made up.

#![allow(dead_code, reason = "each bench target compiles this module and uses a part of it")]

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

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

/// A stream of numbers from a fixed seed.
pub(crate) fn generator() -> Pcg64 {
    Pcg64::seed_from_u64(20)
}
