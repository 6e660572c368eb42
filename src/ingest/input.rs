//! One file as its reader sees it: decoded text, and an outline of the keys where it is JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Context, Error, Result};
use crate::store::Limits;

/// How much of a text a reader looks at to tell whether it is its own.
const GLANCE: usize = 256 << 10;

/// One file: UTF-8 text without byte order mark, colour codes or carriage returns at line ends.
pub(in crate::ingest) struct Input {
    /// What the file is called in messages.
    pub(super) name: String,
    /// Its text.
    pub(super) text: String,
    /// What kind of text it is.
    pub(super) shape: Shape,
}

/// What kind of text a file holds.
#[derive(Debug, PartialEq)]
pub(in crate::ingest) enum Shape {
    /// Lines, among which may stand JSON objects.
    Text,
    /// One JSON value.
    Json(Outline),
    /// It begins as JSON and breaks; the message names line and column.
    Broken(String),
}

/// The keys of a JSON document down to the second level, in the order of the file.
///
/// ```text
/// {"a": 1, "b": [{"c": 2}, ..]}     object, keys a and b; inside b: c
/// [{"a": 1, "b": {"c": 2}}, ..]     list; keys of its first object: a and b; inside b: c
/// ```
#[derive(Debug, Default, PartialEq)]
pub(in crate::ingest) struct Outline {
    /// Whether the top is a list.
    pub(super) list: bool,
    /// Keys of the top object, or of the first object in the top list.
    pub(super) keys: Vec<String>,
    /// Keys of the object (or of the first object in the list) under each of `keys`.
    pub(super) inner: BTreeMap<String, Vec<String>>,
}

/// A value on whose type the writers of a format do not agree: a number, a text that may be one, or neither.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::ingest) enum Scalar<'a> {
    /// Null, or anything that is no single value.
    #[default]
    Nothing,
    /// A number.
    Number(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// The finite number that it is or spells. A text with a comma spells none: nobody knows which kind it is.
    pub(super) fn number(&self) -> Option<f64> {
        let number = match self {
            Scalar::Nothing => None,
            Scalar::Number(number) => Some(*number),
            Scalar::Text(text) => text.trim().parse().ok(),
        };
        number.filter(|number: &f64| number.is_finite())
    }

    /// Its text, without blanks around it; none where it is blank.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Scalar::Nothing => None,
            Scalar::Number(number) => Some(number.to_string().into()),
            Scalar::Text(text) => Some(text.trim().into()).filter(|text: &Cow<_>| !text.is_empty()),
        }
    }
}

/// The entries of an object in their order, so that a key that comes twice keeps both of its values.
pub(in crate::ingest) struct Pairs<K, V>(pub(super) Vec<(K, V)>);
/// A number in foreign JSON, or nothing where a tool wrote what is none: `null`, `"NaN"`, `"+INF"`, `""`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::ingest) struct Number(pub(super) Option<f64>);

impl Input {
    /// Reads and decodes a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is larger than the limit, or is no text.
    pub(super) fn read(path: &Path, limits: &Limits) -> Result<Self> {
        let shown = || path.display().to_string();
        let mut bytes = Vec::new();
        let file = File::open(path).context(shown)?;
        file.take(limits.bytes + 1).read_to_end(&mut bytes).context(shown)?;
        if bytes.len() as u64 > limits.bytes {
            let message = format!(
                "it is larger than {} MB; give a file of fewer benchmarks",
                limits.bytes >> 20
            );
            return Err(Error::judge(message).within(shown()));
        }
        Input::decode(shown(), bytes)
    }

    /// Decodes the bytes of a file.
    ///
    /// # Errors
    ///
    /// When they are neither UTF-8, UTF-16 with a byte order mark, nor Latin-1 text.
    pub(super) fn decode(name: String, bytes: Vec<u8>) -> Result<Self> {
        let text = match bytes.as_slice() {
            [0xEF, 0xBB, 0xBF, rest @ ..] => utf8_or_latin1(rest.to_vec()),
            [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
            [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
            _ => utf8_or_latin1(bytes),
        };
        if text.contains('\0') {
            let message = "it is not text; give the file that the benchmark tool wrote";
            return Err(Error::judge(message).within(name));
        }
        let mut text = plain(text);
        lay_bare(&mut text);
        let shape = if text.trim_start().starts_with(['{', '[']) {
            let mut outline = serde_json::from_str::<Outline>(&text);
            if outline.is_err()
                && let Cow::Owned(finite) = without_nan(&text)
            {
                text = finite;
                outline = serde_json::from_str(&text);
            }
            match outline {
                Ok(outline) => Shape::Json(outline),
                // Objects that follow each other are lines of a log, not one broken document.
                Err(error) if error.to_string().starts_with("trailing characters") => Shape::Text,
                Err(error) if text.trim_start().starts_with('[') && !error.is_eof() => {
                    // A log line may begin with a bracket: `[INFO] ..`.
                    if looks_like_list(&text) {
                        Shape::Broken(error.to_string())
                    } else {
                        Shape::Text
                    }
                }
                Err(error) => Shape::Broken(error.to_string()),
            }
        } else {
            Shape::Text
        };
        Ok(Input { name, text, shape })
    }

    /// The outline of the one JSON value that the file is.
    pub(super) fn outline(&self) -> Option<&Outline> {
        match &self.shape {
            Shape::Json(outline) => Some(outline),
            _ => None,
        }
    }

    /// The beginning of the text, enough to tell what it is.
    pub(super) fn glance(&self) -> &str {
        let mut end = self.text.len().min(GLANCE);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[..end]
    }

    /// The lines of a file that is not one JSON value, numbered from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The one JSON value that the file is, bound to a reader's own type.
    ///
    /// # Errors
    ///
    /// When a key is missing or holds something else; the message names line and column.
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        serde_json::from_str(&self.text).map_err(|error| {
            Error::judge(format!("{error}; give the file as the tool wrote it")).within(&*self.name)
        })
    }

    /// The JSON objects of a log, each with the number of the line that it begins on. An object begins a line, may
    /// span several, and whatever stands between objects is skipped.
    pub(super) fn objects(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut rest = self.text.as_str();
        let mut line = 1;
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                if rest.trim_start_matches([' ', '\t']).starts_with('{') {
                    let mut values =
                        serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
                    if let Some(Ok(_)) = values.next() {
                        let (object, after) = rest.split_at(values.byte_offset());
                        let begins = line;
                        line += object.matches('\n').count();
                        rest = after;
                        return Some((begins, object));
                    }
                }
                let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
                rest = &rest[end..];
                line += 1;
            }
            None
        })
    }

    /// The line of the first object of a log that is cut off: it begins, but never ends.
    pub(super) fn cut_object(&self) -> Option<usize> {
        let mut objects = self.objects().peekable();
        let mut covered = 0;
        self.lines().find_map(|(number, line)| {
            while let Some((_, object)) = objects.next_if(|&(begins, _)| begins == number) {
                covered = number + object.matches('\n').count();
            }
            let line = line.trim();
            let begins = line == "{" || line.starts_with("{\"");
            (begins && covered < number).then_some(number)
        })
    }
}

impl Outline {
    /// Whether the top object, or the first object of the top list, has all these keys.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.keys.iter().any(|k| k == key))
    }

    /// Whether the first object under `key` has all these keys.
    pub(super) fn has_inside(&self, key: &str, keys: &[&str]) -> bool {
        self.inner
            .get(key)
            .is_some_and(|inner| keys.iter().all(|key| inner.iter().any(|k| k == key)))
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Old consoles write `µ` and `±` as single bytes; those are the only bytes above 127 that results hold.
fn utf8_or_latin1(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

/// Drops colour codes and carriage returns at line ends. UTF-8 that was once taken for Latin-1 and encoded again is
/// repaired where it matters: `Â±`, `Âµ`, `Î¼`, `â‰ˆ`.
fn plain(text: String) -> String {
    let text = if text.contains('\u{1b}') {
        anstream::adapter::strip_str(&text).to_string()
    } else {
        text
    };
    let text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
    if text.is_ascii() {
        return text;
    }
    let mangled = [("Â±", "±"), ("Âµ", "µ"), ("Î¼", "µ"), ("â‰ˆ", "≈"), ("\u{3bc}", "µ")];
    mangled.into_iter().fold(
        text,
        |text, (from, to)| {
            if text.contains(from) { text.replace(from, to) } else { text }
        },
    )
}

/// A script that does nothing but assign one object, `window.BENCHMARK_DATA = {..};`, is that object. What stands
/// before it gives way to blanks, so that lines and columns in messages stay those of the file.
fn lay_bare(text: &mut String) {
    if text.trim_start().starts_with("window.BENCHMARK_DATA")
        && let Some(begin) = text.find('{')
    {
        let blanks = text.bytes().take(begin).map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        let blanks: String = blanks.collect();
        text.replace_range(..begin, &blanks);
        text.truncate(text.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).len());
    }
}

/// Some tools write NaN and infinities into their JSON, which has neither; they become null. Strings are kept.
fn without_nan(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN")
        && !text.contains("Inf")
        && !text.contains("inf")
        && !text.contains("nan")
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = false;
    while let Some(next) = rest.find(['"', 'N', 'n', 'I', 'i', '-']) {
        let (before, from) = rest.split_at(next);
        out.push_str(before);
        if from.starts_with('"') {
            let end = end_of_string(from);
            out.push_str(&from[..end]);
            rest = &from[end..];
            continue;
        }
        let names =
            ["NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "Inf", "-Inf", "inf", "-inf"];
        let word = from.split([',', ']', '}', ' ', '\n', '\r', '\t']).next().unwrap_or_default();
        if names.contains(&word) {
            out.push_str("null");
            replaced = true;
            rest = &from[word.len()..];
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    if !replaced {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Length of the JSON string that `text` begins with, quotes included.
pub(super) fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Whether a text that begins with a bracket goes on as a list of JSON does.
fn looks_like_list(text: &str) -> bool {
    let inside = text.trim_start().trim_start_matches('[').trim_start();
    inside.starts_with(['{', '[', ']', '"', '-'])
        || inside.starts_with(|c: char| c.is_ascii_digit())
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Level { list, keys } = deserializer.deserialize_any(Second)?;
        let inner = keys.iter().filter(|(_, below)| !below.is_empty());
        let inner = inner.map(|(key, below)| (key.clone(), below.clone())).collect();
        Ok(Outline { list, keys: keys.into_iter().map(|(key, _)| key).collect(), inner })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Loose;
        impl Visitor<'_> for Loose {
            type Value = Number;

            fn visit_f64<E>(self, value: f64) -> std::result::Result<Number, E> {
                Ok(Number(Some(value).filter(|value| value.is_finite())))
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_str<E>(self, text: &str) -> std::result::Result<Number, E> {
                Ok(Number(text.trim().parse().ok().filter(|value: &f64| value.is_finite())))
            }
            fn visit_unit<E>(self) -> std::result::Result<Number, E> {
                Ok(Number(None))
            }
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
        }
        deserializer.deserialize_any(Loose)
    }
}

/// One level of a document, and the keys one level below.
#[derive(Default)]
struct Level {
    list: bool,
    keys: Vec<(String, Vec<String>)>,
}

/// Keys of an object, or of the first object of a list.
struct Keys(Vec<String>);

/// Visits the top level.
struct Second;

macro_rules! scalars {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E>(self, _: &str) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
            Ok($value)
        }
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON value")
        }
    };
}

impl<'de> Visitor<'de> for Second {
    type Value = Level;

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Level, A::Error> {
        let mut level = Level::default();
        while let Some(key) = map.next_key::<String>()? {
            let Keys(below) = map.next_value()?;
            level.keys.push((key, below));
        }
        Ok(level)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Level, A::Error> {
        let first = list.next_element::<FirstOfList>()?.map(|FirstOfList(level)| level);
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Level { list: true, keys: first.unwrap_or_default().keys })
    }

    scalars!(Level::default());
}

/// The first element of the top list.
struct FirstOfList(Level);

impl<'de> Deserialize<'de> for FirstOfList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Second).map(FirstOfList)
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = Keys;

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Keys, A::Error> {
                let first = list.next_element::<Keys>()?;
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(first.unwrap_or(Keys(Vec::new())))
            }

            scalars!(Keys(Vec::new()));
        }
        deserializer.deserialize_any(First)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }

            fn visit_bool<E>(self, _: bool) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Nothing)
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Number(number as f64))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Number(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Number(number))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Text(text.to_owned().into()))
            }

            fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
                Ok(Scalar::Nothing)
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nothing)
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nothing)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Pairs<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = Pairs<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Pairs(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
