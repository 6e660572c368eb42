//! The object of the samples study, made from a seed, and the libraries that write and read it as JSON.
//!
//! ```text
//! Sample   boolean, integer, long, double, date, string
//!          list   ten strings
//!          map    key0..key9, each a boolean, an integer, a long, a double, a date or a string
//! ```
//!
//! A string has 1 to 99 letters and digits, so an object is about a thousand bytes of JSON.

#![allow(dead_code, reason = "each target that compiles this module uses a part of it")]

use std::collections::BTreeMap;
use std::fmt;

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The date of every sample, as milliseconds since 1970; the study took the time of the call.
const DATE: i64 = 1_531_440_000_000;

/// One value of each basic type, with a list and a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) boolean: bool,
    pub(crate) integer: i32,
    pub(crate) long: i64,
    pub(crate) double: f64,
    pub(crate) date: i64,
    pub(crate) string: String,
    pub(crate) list: Vec<String>,
    pub(crate) map: BTreeMap<String, Value>,
}

/// A value whose type only the text tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Boolean(bool),
    Whole(i64),
    Double(f64),
    String(String),
}

/// Samples without end, the same ones each time.
pub(crate) fn samples() -> impl Iterator<Item = Sample> {
    let mut random = Pcg64::seed_from_u64(13);
    std::iter::repeat_with(move || sample(&mut random))
}

/// A sample at the ends of every type, for proofs only.
pub(crate) fn awkward() -> Sample {
    let text =
        "quote \" backslash \\ solidus / controls \u{0}\u{1f}\u{7f} \u{e9} \u{20ac} \u{1d11e}";
    let values = [
        Value::Whole(i64::MIN),
        Value::Whole(i64::MAX),
        Value::Double(-0.0),
        Value::Double(0.1 + 0.2),
        Value::Double(f64::MAX),
        Value::Double(f64::MIN_POSITIVE),
        Value::Double(f64::from_bits(1)),
        Value::String(String::new()),
    ];
    Sample {
        boolean: false,
        integer: i32::MIN,
        long: i64::MAX,
        double: 1e23,
        date: -1,
        string: text.to_owned(),
        list: vec![String::new(), text.to_owned()],
        map: (0..).map(|number| format!("{text}{number}")).zip(values).collect(),
    }
}

fn sample(random: &mut impl Rng) -> Sample {
    Sample {
        boolean: random.random(),
        integer: random.random(),
        long: random.random(),
        double: random.random(),
        date: DATE,
        string: string(random),
        list: (0..10).map(|_| string(random)).collect(),
        map: (0..10).map(|number| (format!("key{number}"), value(random))).collect(),
    }
}

fn value(random: &mut impl Rng) -> Value {
    match random.random_range(0..6) {
        0 => Value::Boolean(random.random()),
        1 => Value::Whole(i64::from(random.random::<i32>())),
        2 => Value::Whole(random.random()),
        3 => Value::Double(random.random()),
        4 => Value::Whole(DATE),
        _ => Value::String(string(random)),
    }
}

/// As in the study, where a length of 0 was drawn the string has 50 letters.
fn string(random: &mut impl Rng) -> String {
    let length = match random.random_range(0..100) {
        0 => 50,
        length => length,
    };
    (0..length).map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())])).collect()
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl Visitor<'_> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, a number or a string")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Boolean(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Whole(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
                i64::try_from(value).map(Value::Whole).map_err(E::custom)
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Double(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::String(value.to_owned()))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

/// A library that writes and reads samples.
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) write: fn(&Sample) -> Vec<u8>,
    pub(crate) read: fn(&[u8]) -> Result<Sample, String>,
}

/// Every library that was built.
pub(crate) const LIBRARIES: &[Library] = &[
    Library {
        name: "serde_json",
        write: |sample| serde_json::to_vec(sample).expect(WRITES),
        read: |text| serde_json::from_slice(text).map_err(|error| error.to_string()),
    },
    Library {
        name: "simd_json",
        write: |sample| simd_json::to_vec(sample).expect(WRITES),
        // Parsing destroys its input, so the copy is a part of the price.
        read: |text| simd_json::from_slice(&mut text.to_vec()).map_err(|error| error.to_string()),
    },
    #[cfg(feature = "suite-full")]
    Library {
        name: "sonic_rs",
        write: |sample| sonic_rs::to_vec(sample).expect(WRITES),
        read: |text| sonic_rs::from_slice(text).map_err(|error| error.to_string()),
    },
    Library {
        name: "through_tree",
        write: |sample| serde_json::to_value(sample).expect(WRITES).to_string().into_bytes(),
        read: |text| {
            serde_json::from_slice::<serde_json::Value>(text)
                .and_then(serde_json::from_value)
                .map_err(|error| error.to_string())
        },
    },
];

/// Why writing cannot fail.
const WRITES: &str = "a sample is plain data";
