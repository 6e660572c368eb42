//! One file as its reader sees it: decoded text, and an outline of the keys where it is JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Context, Error, Result};
use crate::store::Limits;

/// How much of a text a reader looks at to tell whether it is its own.
const GLANCE: usize = 256 << 10;

/// How much of a large document its outline is taken from, unless that is not enough to tell what it is.
const OUTLINED: usize = 4 << 20;

/// How often a log may be gone through in search of the ends of its objects.
const PATIENCE: usize = 16;

/// One file: UTF-8 text without byte order mark, colour codes or carriage returns at line ends.
pub(in crate::ingest) struct Input {
    /// What the file is called in messages.
    pub(super) name: String,
    /// Its text.
    pub(super) text: String,
    /// What kind of text it is.
    pub(super) shape: Shape,
    seen: Seen,
}

/// How much of a text was looked at to tell its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Beginning,
    Whole,
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

impl<'s> Scalar<'s> {
    /// The finite number that it is or spells. A text with a comma spells none: nobody knows which kind it is.
    pub(super) fn number(&self) -> Option<f64> {
        let number = match self {
            Scalar::Nothing => None,
            Scalar::Number(number) => Some(*number),
            Scalar::Text(text) => text.trim().parse().ok(),
        };
        number.filter(|number: &f64| number.is_finite())
    }

    /// Its text as it is written, empty where it is none.
    pub(super) fn into_text(self) -> Cow<'s, str> {
        match self {
            Scalar::Text(text) => text,
            Scalar::Nothing | Scalar::Number(_) => Cow::Borrowed(""),
        }
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

/// A text that is borrowed from the file where it holds no escapes; plain `Cow` never is.
#[derive(Deserialize)]
pub(in crate::ingest) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A number in foreign JSON, or nothing where a tool wrote what is none: `null`, `"NaN"`, `"+INF"`, `""`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Scalar<'_>")]
pub(in crate::ingest) struct Number(pub(super) Option<f64>);

impl From<Scalar<'_>> for Number {
    fn from(scalar: Scalar<'_>) -> Self {
        Number(scalar.number())
    }
}

impl Input {
    /// Reads and decodes a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is larger than the limit, or is no text.
    pub(super) fn read(path: &Path, limits: &Limits) -> Result<Self> {
        let shown = || path.display().to_string();
        let file = File::open(path).context(shown)?;
        let length = file.metadata().context(shown)?.len().min(limits.bytes);
        // One byte more, so that the end is seen without growing.
        let mut bytes = Vec::with_capacity(length as usize + 1);
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

    /// A text that was taken out of another input.
    pub(super) fn of_text(name: String, text: String) -> Self {
        Input { name, text, shape: Shape::Text, seen: Seen::Whole }
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
        let mut input = Input { name, text, shape: Shape::Text, seen: Seen::Beginning };
        input.look();
        Ok(input)
    }

    /// Finds out what kind of text it is.
    fn look(&mut self) {
        let begins = self.text.trim_start();
        if !begins.starts_with(['{', '[']) {
            self.seen = Seen::Whole;
            return;
        }
        let may_be_a_log_line = begins.starts_with('[') && !looks_like_list(begins);
        let (mut outline, mut end) = Outline::of(self.beginning());
        if end.as_ref().is_err_and(|error| !error.is_eof()) && self.quote_no_numbers() {
            (outline, end) = Outline::of(self.beginning());
        }
        let cut = self.beginning().len() < self.text.len();
        self.shape = match end {
            Ok(()) if cut => return self.look_at_all(),
            Err(error) if error.is_eof() && cut => Shape::Json(outline),
            Ok(()) => Shape::Json(outline),
            // Objects that follow each other are lines of a log, not one broken document.
            Err(error) if error.to_string().starts_with("trailing characters") => Shape::Text,
            Err(error) if may_be_a_log_line && !error.is_eof() => Shape::Text,
            Err(error) => Shape::Broken(error.to_string()),
        };
        if !cut || !matches!(self.shape, Shape::Json(_)) {
            self.seen = Seen::Whole;
        }
    }

    /// Takes the outline from the whole of a document, where only its beginning was looked at; tells whether that was so.
    pub(super) fn look_closer(&mut self) -> bool {
        let more = self.seen == Seen::Beginning;
        if more {
            self.look_at_all();
        }
        more
    }

    fn look_at_all(&mut self) {
        self.seen = Seen::Whole;
        self.look();
    }

    fn beginning(&self) -> &str {
        match self.seen {
            Seen::Whole => &self.text,
            Seen::Beginning => beginning(&self.text, OUTLINED),
        }
    }

    /// Some tools write NaN and infinities into their JSON, which has neither: they become texts. Tells whether there
    /// was one.
    pub(super) fn quote_no_numbers(&mut self) -> bool {
        let quoted = quoted(&self.text);
        let any = quoted.is_some();
        if let Some(quoted) = quoted {
            self.text = quoted;
        }
        any
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
        beginning(&self.text, GLANCE)
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
        serde_json::from_str(&self.text).map_err(|error| self.complaint(&error.to_string()))
    }

    /// Hands over each element of the list under a key of the top object, or of the top list, with its place in it, and
    /// returns the rest of the document, with an empty list of as many lines in its place. Where there is no such list, or
    /// it does not end, everything is the rest, and binding that says why.
    ///
    /// While one batch of elements is handed over, all CPUs bind the next one and cut the one after it, so that a large
    /// file takes little more memory than its text and what is kept of it.
    ///
    /// # Errors
    ///
    /// As [`Input::json`], for an element.
    pub(super) fn bulk<'a, T: Deserialize<'a> + Send>(
        &'a self,
        key: &str,
        mut take: impl FnMut(usize, T),
    ) -> Result<Input> {
        let whole = || Input::of_text(self.name.clone(), self.text.clone());
        let Some(mut list) = List::under(&self.text, key) else { return Ok(whole()) };
        let (mut places, mut cut, mut bound) = (0.., list.batch(), Vec::new());
        while !(cut.is_empty() && bound.is_empty()) {
            let (mut next_cut, mut next_bound) = (Vec::new(), Vec::new());
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| next_cut = list.batch());
                scope.spawn(|_| {
                    let bind = |element| {
                        serde_json::from_str::<T>(element)
                            .map_err(|error| self.misplaced(element, &error))
                    };
                    next_bound = cut.par_iter().copied().map(bind).collect();
                });
                for (element, place) in bound.into_iter().zip(places.by_ref()) {
                    take(place, element?);
                }
                Ok::<_, Error>(())
            })?;
            (cut, bound) = (next_cut, next_bound);
        }
        let Some((before, list, after)) = list.around() else { return Ok(whole()) };
        let lines = "\n".repeat(list.bytes().filter(|byte| *byte == b'\n').count());
        Ok(Input::of_text(self.name.clone(), [before, "[", &lines, "]", after].concat()))
    }

    /// An error within an element, with line and column of the file.
    fn misplaced(&self, element: &str, error: &serde_json::Error) -> Error {
        let offset = element.as_ptr() as usize - self.text.as_ptr() as usize;
        let before = self.text.get(..offset).unwrap_or_default();
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let what = message.strip_suffix(&format!(" at line {line} column {column}"));
        let column = match before.rfind('\n') {
            Some(end) if line == 1 => column + before.len() - end - 1,
            None if line == 1 => column + before.len(),
            _ => column,
        };
        let line = line + before.matches('\n').count();
        let what = what.unwrap_or(&message);
        self.complaint(&format!("{what} at line {line} column {column}"))
    }

    fn complaint(&self, message: &str) -> Error {
        Error::judge(format!("{message}; give the file as the tool wrote it")).within(&*self.name)
    }

    /// The JSON objects of a log, each with the number of the line that it begins on. An object begins a line, may
    /// span several, and whatever stands between objects is skipped.
    pub(super) fn objects(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut rest = self.text.as_str();
        let mut line = 1;
        // Where every line begins an object that never ends, each attempt would go through all that follows.
        let mut patience = PATIENCE.saturating_mul(self.text.len());
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                if patience > 0 && rest.trim_start_matches([' ', '\t']).starts_with('{') {
                    let mut values =
                        serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
                    match values.next() {
                        Some(Ok(_)) => {
                            let (object, after) = rest.split_at(values.byte_offset());
                            let begins = line;
                            line += object.matches('\n').count();
                            rest = after;
                            return Some((begins, object));
                        }
                        Some(Err(error)) => {
                            let tried = rest.split_inclusive('\n').take(error.line());
                            patience = patience.saturating_sub(tried.map(str::len).sum());
                        }
                        None => {}
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
    /// What is seen of a text until it ends or breaks.
    fn of(text: &str) -> (Self, serde_json::Result<()>) {
        let mut outline = Outline::default();
        let mut json = serde_json::Deserializer::from_str(text);
        let end = Top(&mut outline).deserialize(&mut json).and_then(|()| json.end());
        (outline, end)
    }

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

/// Drops colour codes, carriage returns at line ends and the times that CI services put before each line of a log. UTF-8 that
/// was once taken for Latin-1, or for what consoles of Windows use, and encoded again is repaired where it matters: `Â±`,
/// `┬▒`, `Âµ`, `┬╡`, `Î¼`, `â‰ˆ`.
fn plain(text: String) -> String {
    let text = if text.contains('\u{1b}') {
        anstream::adapter::strip_str(&text).to_string()
    } else {
        text
    };
    let text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
    let text = if is_stamped(&text) { without_stamps(&text) } else { text };
    if text.is_ascii() {
        return text;
    }
    let mangled = [
        ("Â±", "±"),
        ("┬▒", "±"),
        ("Âµ", "µ"),
        ("┬╡", "µ"),
        ("┬Á", "µ"),
        ("Î¼", "µ"),
        ("â‰ˆ", "≈"),
        ("\u{3bc}", "µ"),
    ];
    mangled.into_iter().fold(
        text,
        |text, (from, to)| {
            if text.contains(from) { text.replace(from, to) } else { text }
        },
    )
}

/// How long a stamp is at least: `2026-01-31T23:59:59Z `.
const STAMP: usize = 21;

/// The line behind a time and a blank.
fn behind_stamp(line: &str) -> Option<&str> {
    let (stamp, rest) = line.split_once(' ').unwrap_or((line, ""));
    let digits = stamp.bytes().filter(u8::is_ascii_digit).count();
    let signs = stamp.bytes().filter(|byte| b"-T:.Z".contains(byte)).count();
    let is_stamp = stamp.len() + 1 >= STAMP
        && stamp.get(10..11) == Some("T")
        && stamp.ends_with('Z')
        && stamp.starts_with("20")
        && digits + signs == stamp.len();
    is_stamp.then_some(rest)
}

/// Whether a text is a log whose every line has a time before it.
fn is_stamped(text: &str) -> bool {
    text.starts_with("20") && text.lines().take(3).all(|line| behind_stamp(line).is_some())
}

fn without_stamps(text: &str) -> String {
    let lines = text.lines().map(|line| behind_stamp(line).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n") + "\n"
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

/// A JSON text with NaN and infinities in quotes, if there are any. Strings are kept.
fn quoted(text: &str) -> Option<String> {
    if !["NaN", "nan", "Inf", "inf"].iter().any(|name| text.contains(name)) {
        return None;
    }
    let names =
        ["NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "Inf", "-Inf", "inf", "-inf"];
    let mut out = String::with_capacity(text.len() + 1024);
    let mut rest = text;
    let mut any = false;
    while let Some(next) = rest.find(['"', 'N', 'n', 'I', 'i', '-']) {
        let (before, from) = rest.split_at(next);
        out.push_str(before);
        if from.starts_with('"') {
            let end = end_of_string(from);
            out.push_str(&from[..end]);
            rest = &from[end..];
            continue;
        }
        let word = from.split([',', ']', '}', ' ', '\n', '\r', '\t']).next().unwrap_or_default();
        if names.contains(&word) {
            out.extend(["\"", word, "\""]);
            any = true;
            rest = &from[word.len()..];
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    any.then_some(out)
}

/// The beginning of a text, of at most so many bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A list within a JSON text, whose elements are cut out a batch at a time. Only brackets are counted and strings skipped:
/// whether what stands in between is JSON shows when it is bound.
struct List<'a> {
    text: &'a str,
    /// Where its bracket stands.
    begin: usize,
    /// Where the next element begins.
    from: usize,
    /// What its end is known to be: none yet, that there is none, or the place behind its closing bracket.
    end: Option<Option<usize>>,
}

/// How much text is cut and bound at a time, in bytes: enough to keep all CPUs busy, little beside the whole.
const BATCH: usize = 4 << 20;

impl<'a> List<'a> {
    /// The list under a key of the top object, or the top list.
    fn under(text: &'a str, key: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut at = text.len() - text.trim_start().len();
        let mut depth = 0_usize;
        if bytes.get(at) == Some(&b'{') {
            let is_key = |string: &str, after: &str| {
                string.trim_matches('"') == key
                    && after
                        .trim_start()
                        .strip_prefix(':')
                        .is_some_and(|v| v.trim_start().starts_with('['))
            };
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        let end = at + end_of_string(text.get(at..)?);
                        if depth == 1 && is_key(text.get(at..end)?, text.get(end..)?) {
                            at = end + text.get(end..)?.find('[')?;
                            break;
                        }
                        at = end;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                at += 1;
            }
        }
        let is_list = bytes.get(at) == Some(&b'[');
        is_list.then_some(List { text, begin: at, from: at + 1, end: None })
    }

    /// The next elements, as they stand between commas; none where there are no more.
    fn batch(&mut self) -> Vec<&'a str> {
        let mut elements = Vec::new();
        let until = self.from + BATCH;
        while self.end.is_none() && self.from < until {
            let first = self.from == self.begin + 1;
            match self.element() {
                // An empty list has no element, but between two commas there must be one.
                Some(element) if self.end.is_some() && first && element.trim().is_empty() => {}
                Some(element) => elements.push(element),
                None => self.end = Some(None),
            }
        }
        elements
    }

    /// What stands until the next comma, or until the end of the list; none where the text ends before.
    fn element(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.from, 1);
        loop {
            at += bytes.get(at..)?.iter().position(|byte| SIGNS[usize::from(*byte)])?;
            match bytes.get(at)? {
                b'"' => {
                    at += end_of_string(self.text.get(at..)?);
                    continue;
                }
                b',' if depth > 1 => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 1 => depth -= 1,
                b'}' => return None,
                ending => {
                    let element = self.text.get(self.from..at)?;
                    self.from = at + 1;
                    if *ending == b']' {
                        self.end = Some(Some(at + 1));
                    }
                    return Some(element);
                }
            }
            at += 1;
        }
    }

    /// What stands before the list, the list with its brackets, and what stands behind it, once its end is known.
    fn around(&self) -> Option<(&'a str, &'a str, &'a str)> {
        let (list, after) = self.text.split_at_checked(self.end??)?;
        let (before, list) = list.split_at_checked(self.begin)?;
        Some((before, list, after))
    }
}

/// The bytes at which a list or a string begins or ends, or an element does. A table is twice as fast as comparing.
const SIGNS: [bool; 256] = {
    let mut signs = [false; 256];
    let mut rest: &[u8] = br#"{}[],""#;
    while let [sign, others @ ..] = rest {
        signs[*sign as usize] = true;
        rest = others;
    }
    signs
};

/// Length of the JSON string that `text` begins with, quotes included.
pub(super) fn end_of_string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(more) = bytes.get(at..) {
        match more.iter().position(|byte| matches!(byte, b'\\' | b'"')) {
            Some(next) if more.get(next) == Some(&b'"') => return at + next + 1,
            Some(next) => at += next + 2,
            None => break,
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

/// Visits the top level, or the first object of the top list.
struct Top<'o>(&'o mut Outline);

/// Visits what stands under a key of the top level: an object, or the first object of a list.
struct Below<'o> {
    keys: &'o mut Vec<String>,
    /// How many lists may stand around the object.
    lists: usize,
}

macro_rules! ignored_scalars {
    () => {
        fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> std::result::Result<(), E> {
            Ok(())
        }
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON value")
        }
    };
}

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.keys.push(key.clone());
            let keys = self.0.inner.entry(key).or_default();
            map.next_value_seed(Below { keys, lists: 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        self.0.list = true;
        list.next_element_seed(Top(self.0))?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    ignored_scalars!();
}

impl<'de> DeserializeSeed<'de> for Below<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below<'_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            self.keys.push(key);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        if let Some(lists) = self.lists.checked_sub(1) {
            list.next_element_seed(Below { keys: self.keys, lists })?;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    ignored_scalars!();
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
