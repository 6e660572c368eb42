//! The media content of the serializer studies: what one film and two pictures of it are called, how large they are and who
//! appears.
//!
//! ```text
//! MediaContent ─┬─ media:  Media   uri, title, size of the picture, format, length, bytes, persons, player
//!               └─ images: Image*  uri, title, width, height, size
//! ```
//!
//! Field names and field widths are those of the studies, so [`Variant::Standard`] is 485 bytes of compact JSON, and
//! 468 where a library leaves out the copyright that is not there. The other variants are there to expose a
//! library that is fast on one document only. Names and places are made up.

#![allow(dead_code, reason = "each bench target compiles this module and uses a part of it")]

use serde::{Deserialize, Serialize};

/// A film with pictures of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "suite-full", derive(bitcode::Encode, bitcode::Decode))]
#[cfg_attr(feature = "suite-full", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub(crate) struct MediaContent {
    pub(crate) media: Media,
    pub(crate) images: Vec<Image>,
}

/// A film.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "suite-full", derive(bitcode::Encode, bitcode::Decode))]
#[cfg_attr(feature = "suite-full", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub(crate) struct Media {
    pub(crate) uri: String,
    pub(crate) title: Option<String>,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) format: String,
    /// Milliseconds.
    pub(crate) duration: i64,
    /// Bytes.
    pub(crate) size: i64,
    /// Bits a second.
    pub(crate) bitrate: Option<i32>,
    pub(crate) persons: Vec<String>,
    pub(crate) player: Player,
    pub(crate) copyright: Option<String>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "suite-full", derive(bitcode::Encode, bitcode::Decode))]
#[cfg_attr(feature = "suite-full", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub(crate) struct Image {
    pub(crate) uri: String,
    pub(crate) title: Option<String>,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) size: Size,
}

/// What a film is played by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "suite-full", derive(bitcode::Encode, bitcode::Decode))]
#[cfg_attr(feature = "suite-full", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Player {
    Java,
    Flash,
}

/// Whether a picture is one to look at or one to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "suite-full", derive(bitcode::Encode, bitcode::Decode))]
#[cfg_attr(feature = "suite-full", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Size {
    Small,
    Large,
}

/// One of the four documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The document that the published tables are about: ASCII, a few dozen letters in each string.
    Standard,
    /// No value twice, absent where the standard one is present and the other way round; letters of three and of four
    /// bytes, quotes and markup in the strings. Shows who can write ASCII only.
    Different,
    /// Each string of the standard one, made 140 letters longer.
    Long,
    /// Each string one letter long.
    Short,
}

impl Variant {
    pub(crate) const ALL: [Variant; 4] =
        [Variant::Standard, Variant::Different, Variant::Long, Variant::Short];

    /// How a benchmark's id calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::Standard => "standard",
            Variant::Different => "different",
            Variant::Long => "long",
            Variant::Short => "short",
        }
    }

    /// The document.
    pub(crate) fn content(self) -> MediaContent {
        match self {
            Variant::Standard => standard(),
            Variant::Different => different(),
            Variant::Long => {
                with_strings(standard(), |text| text + &"0123456789 abcdefghi".repeat(7))
            }
            Variant::Short => with_strings(standard(), |mut text| {
                text.truncate(1);
                text
            }),
        }
    }
}

fn standard() -> MediaContent {
    let image = |uri: &str, width, height, size| Image {
        uri: uri.to_owned(),
        title: Some("Example Keynote".to_owned()),
        width,
        height,
        size,
    };
    MediaContent {
        media: Media {
            uri: "http://example.com/keynote.mpg".to_owned(),
            title: Some("Example Keynote".to_owned()),
            width: 640,
            height: 480,
            format: "video/mpg4".to_owned(),
            duration: 18_000_000,
            size: 58_982_400,
            bitrate: Some(262_144),
            persons: vec!["Ada Sample".to_owned(), "Carl Tests".to_owned()],
            player: Player::Java,
            copyright: None,
        },
        images: vec![
            image("http://example.com/keynote_large.jpg", 1_024, 768, Size::Large),
            image("http://example.com/keynote_small.jpg", 320, 240, Size::Small),
        ],
    }
}

fn different() -> MediaContent {
    MediaContent {
        media: Media {
            uri: "ftp://example.org/\u{1234}/a film".to_owned(),
            title: None,
            width: 1_920,
            height: 0,
            format: "\u{1f3b5} \"quoted\" \\ <&>\n\t/".to_owned(),
            duration: i64::from(i32::MAX) + 1,
            size: -(1 << 40),
            bitrate: Some(1),
            persons: vec!["\u{e9}\u{1234}\u{10ffff}".to_owned(), "Dora".to_owned(), "E".to_owned()],
            player: Player::Flash,
            copyright: Some("nobody \u{a9}".to_owned()),
        },
        images: vec![
            Image {
                uri: "file:///one".to_owned(),
                title: None,
                width: -1,
                height: i32::MIN,
                size: Size::Small,
            },
            Image {
                uri: "file:///two".to_owned(),
                title: Some("\u{1d11e} clef".to_owned()),
                width: 127,
                height: 65_536,
                size: Size::Large,
            },
        ],
    }
}

fn with_strings(mut content: MediaContent, change: impl Fn(String) -> String) -> MediaContent {
    let MediaContent { media, images } = &mut content;
    let own = [&mut media.uri, &mut media.format].into_iter();
    let own = own.chain(&mut media.title).chain(&mut media.persons).chain(&mut media.copyright);
    let of_images =
        images.iter_mut().flat_map(|image| std::iter::once(&mut image.uri).chain(&mut image.title));
    for text in own.chain(of_images) {
        *text = change(std::mem::take(text));
    }
    content
}
