//! The data of the benchmark suite, who can read whose samples, and what the quick profile takes of it.

#[path = "../../benches/data.rs"]
mod data;
#[path = "../../benches/media.rs"]
mod media;
#[path = "../../benches/sample.rs"]
mod sample;

use data::Controls;
use media::Variant;
use pacegate::config::Config;
use sample::LIBRARIES;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

#[test]
fn the_standard_media_content_has_the_published_widths() {
    let mut content = serde_json::to_value(Variant::Standard.content()).unwrap();
    assert_eq!(content.to_string().len(), 485);
    content["media"].as_object_mut().unwrap().remove("copyright");
    assert_eq!(content.to_string().len(), 468, "without the absent copyright");
}

#[test]
fn the_other_variants_are_what_they_are_made_for() {
    let text = |variant: Variant| serde_json::to_string(&variant.content()).unwrap();
    assert_eq!(text(Variant::Long).len(), 485 + 9 * 140, "nine strings");
    assert_eq!(text(Variant::Short).len(), 317);
    let different = text(Variant::Different);
    for width in 1..=4 {
        assert!(different.chars().any(|letter| letter.len_utf8() == width), "{width} bytes");
    }
}

#[test]
fn samples_are_the_same_each_time_and_a_thousand_bytes_long() {
    let [once, again] = [0, 1].map(|_| sample::samples().take(1_000).collect::<Vec<_>>());
    assert_eq!(once, again);
    let bytes: usize = once.iter().map(|sample| serde_json::to_vec(sample).unwrap().len()).sum();
    assert!((980..1_080).contains(&(bytes / once.len())), "{} bytes", bytes / once.len());
}

/// The table in docs/suite.md says who reads whose text; this is what is true.
#[test]
fn the_documented_compatibility_matrix_is_true() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/suite.md"));
    let page = page.unwrap();
    let mut rows = page
        .lines()
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .skip_while(|cells| cells[0] != "written by \\ read by")
        .take_while(|cells| 1 < cells.len());
    let readers = rows.next().expect("the table's heading");
    let rows: Vec<_> = rows.collect();
    let documented = |writer: &str, reader: &str| {
        let row = rows.iter().find(|row| row[0] == writer)?;
        Some(row[readers.iter().position(|name| *name == reader)?])
    };
    let samples: Vec<_> = sample::samples().take(1_000).chain([sample::awkward()]).collect();
    for writer in LIBRARIES {
        for reader in LIBRARIES {
            let equal = samples
                .iter()
                .all(|sample| (reader.read)(&(writer.write)(sample)).as_ref() == Ok(sample));
            let cell = if equal { "equal" } else { "differs" };
            assert_eq!(
                documented(writer.name, reader.name),
                Some(cell),
                "written by {}, read by {}",
                writer.name,
                reader.name
            );
        }
    }
}

/// Another text would make another benchmark under the same name.
#[test]
fn documents_are_the_same_in_every_build() {
    let numbers = serde_json::to_string(&data::number_bean()).unwrap();
    let bean = serde_json::to_string(&data::simple_bean()).unwrap();
    let indented_bean = serde_json::to_string_pretty(&data::simple_bean()).unwrap();
    let person = serde_json::to_string(&data::person()).unwrap();
    let rows = serde_json::to_string(&data::db_data(10)).unwrap();
    let told = [
        ("numbers", numbers.as_str()),
        ("map of strings", &data::string_map(40)),
        ("date", data::date_document().1),
        ("dates", data::dates_document().1),
        ("bean", &bean),
        ("indented bean", &indented_bean),
        ("long text", &data::long_text(Controls::None)),
        ("long text with escapes", &data::long_text(Controls::Each)),
        ("lots", &data::feature_collection(100_000)),
        ("person", &person),
        ("rows", &rows),
    ]
    .map(|(name, document)| {
        serde_json::from_str::<Value>(document).unwrap();
        let digest = Sha256::digest(document);
        let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{name}: {} bytes, {digest}", document.len())
    });
    let expected = [
        "numbers: 300 bytes, 402f0b1b",
        "map of strings: 781 bytes, d4920687",
        "date: 41 bytes, 73353316",
        "dates: 135 bytes, 5096ce81",
        "bean: 185 bytes, 22689240",
        "indented bean: 247 bytes, 181134ad",
        "long text: 180127 bytes, 5fae9341",
        "long text with escapes: 182557 bytes, 5f0af753",
        "lots: 100000 bytes, 7c7aac21",
        "person: 122 bytes, f6dea311",
        "rows: 1127 bytes, c7aee19c",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_larger_map_of_lots_begins_with_the_same_lots() {
    let lots = |bytes| -> Vec<Value> {
        let text = data::feature_collection(bytes);
        assert_eq!(text.len(), bytes);
        let mut tree: Value = serde_json::from_str(&text).unwrap();
        serde_json::from_value(tree["features"].take()).unwrap()
    };
    let mut fewer = lots(1_000);
    for bytes in [1_001, 1_500, 2_222, 20_000, 20_001, 50_000] {
        let more = lots(bytes);
        assert!(more.starts_with(&fewer), "{bytes} bytes");
        fewer = more;
    }
    let (lot, ring) = (&fewer[0], &fewer[0]["geometry"]["coordinates"][0]);
    assert_eq!(lot["properties"]["BLOCKLOT"], "0001001");
    assert_eq!(ring[0], ring[ring.as_array().unwrap().len() - 1], "a ring is closed");
}

#[test]
fn the_escaped_text_holds_every_control_character_once() {
    let text = data::long_text(Controls::Each);
    let tree: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(tree.as_object().unwrap().len(), 18);
    for control in '\u{1}'..='\u{1f}' {
        assert_eq!(tree["r"].as_str().unwrap().matches(control).count(), 1, "{control:?}");
    }
}

#[test]
fn the_quick_profile_takes_something_of_every_target() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::read(&root.join("pacegate.yaml")).unwrap();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let targets: Vec<&str> = manifest
        .split("[[bench]]\nname = \"")
        .skip(1)
        .filter(|section| !section.contains("\nbench = false"))
        .filter_map(|section| section.split('"').next())
        .collect();
    assert!(5 < targets.len(), "{targets:?}");
    for target in targets {
        let prefix = format!("{target}::");
        let globs = &config.profiles["quick"].benchmarks;
        assert!(globs.iter().any(|glob| glob.starts_with(&prefix)), "{target}");
    }
}
