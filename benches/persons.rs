//! Who writes one [`Person`] many times over, for whoever times it.
//!
//! Retells a loop that serialised one object 100,000 times and discarded the text. A contestant makes a new string for
//! each person, as the libraries of the study did.

use std::hint::black_box;

use crate::by_hand;
use crate::data::{self, Person};

/// A name, and how the text of a person is made.
pub(crate) type Contestant = (&'static str, fn(&Person) -> String);

/// A general library each, and the bound.
pub(crate) const CONTESTANTS: &[Contestant] = &[
    ("serde_json", |person| serde_json::to_string(person).expect("a person is plain data")),
    ("simd_json", |person| simd_json::to_string(person).expect("a person is plain data")),
    #[cfg(feature = "suite-full")]
    ("sonic_rs", |person| sonic_rs::to_string(person).expect("a person is plain data")),
    ("by_hand", write_by_hand),
];

/// Writes the person `size` times; each text is dropped before the next one is made.
pub(crate) fn batch(person: &Person, size: u64, write: fn(&Person) -> String) {
    for _ in 0..size {
        black_box(write(black_box(person)));
    }
}

/// Panics unless all contestants write the same text, which every library reads as the same person.
pub(crate) fn assert_equal_work() {
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
            #[cfg(feature = "suite-full")]
            {
                let read: Person = sonic_rs::from_str(&text).expect("the text is JSON");
                assert_eq!(read, person, "written by {name}, read by sonic_rs");
            }
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
