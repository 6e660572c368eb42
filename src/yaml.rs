//! YAML that people write: how it is read, and how a mistake is shown with its place and a way out.
//!
//! ```text
//! pacegate.yaml:1:1: unknown key `tolerence`; did you mean `tolerance`?
//!   |
//! 1 | tolerence: 2%
//!   | ^^^^^^^^^
//! ```

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Location, MessageFormatter, Spanned};

use crate::error::Error;

/// The one way that YAML is read here: words stay words (`no`, `012`, `1_000`), a key stands once, and a text
/// that grows out of bounds is refused.
pub(crate) fn from_yaml<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Fault> {
    let mut options = serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        duplicate_keys: serde_yaml::DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    if let Some(budget) = &mut options.budget {
        budget.max_nodes = 10_000;
        budget.max_depth = 32;
        budget.max_documents = 1;
    }
    serde_yaml::from_str_with_options(text, options).map_err(Fault::from)
}

/// A value that is written as text.
pub(crate) struct Text<T>(pub(crate) T);

impl<'de, T: FromStr<Err = String>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Text).map_err(D::Error::custom)
    }
}

/// YAML of whatever shape, with the place of everything in it. Scalars are text, and nothing is the empty text.
#[derive(Debug)]
pub(crate) enum Node {
    Scalar(String),
    Sequence(Vec<Spanned<Node>>),
    Mapping(Vec<(Spanned<String>, Spanned<Node>)>),
}

impl Node {
    /// The keys of a mapping and what they hold.
    pub(crate) fn entries(&self) -> &[(Spanned<String>, Spanned<Node>)] {
        if let Node::Mapping(entries) = self { entries } else { &[] }
    }

    /// What a key of a mapping holds.
    pub(crate) fn get(&self, key: &str) -> Option<&Spanned<Node>> {
        self.entries().iter().find(|(name, _)| name.value == key).map(|(_, value)| value)
    }

    /// The elements of a sequence.
    pub(crate) fn items(&self) -> &[Spanned<Node>] {
        if let Node::Sequence(items) = self { items } else { &[] }
    }

    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Node::Scalar(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(String::new()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::Sequence(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Mapping(entries))
    }
}

/// A fraction written as a percentage. The sign is asked for, since 2 and 0.02 look equally right without it.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let Some(number) = text.strip_suffix('%') else {
        return Err(match text.parse::<f64>() {
            Ok(value) if value < 0.1 => format!(
                "`{text}` has no unit; write {text}%, or {}% if it is a fraction",
                value * 100.0
            ),
            Ok(_) => format!("`{text}` has no unit; write {text}%"),
            Err(_) => format!("`{text}` is no percentage; write for example 2%"),
        });
    };
    let number = number.trim();
    match number.parse::<f64>() {
        // Shifting the decimal point in the text keeps 0.1% the double nearest to 0.001.
        Ok(value) if value.is_finite() && 0.0 <= value => {
            Ok(format!("{number}e-2").parse().unwrap_or(value / 100.0))
        }
        _ => Err(format!("`{text}` is no percentage; write for example 2%")),
    }
}

/// What is wrong, and where.
pub(crate) struct Fault {
    message: String,
    location: Option<Location>,
}

impl Fault {
    pub(crate) fn at<T>(value: &Spanned<T>, message: impl Into<String>) -> Self {
        Fault { message: message.into(), location: Some(value.referenced) }
    }

    /// The error as people see it:
    ///
    /// ```text
    /// pacegate.yaml:1:1: unknown key `tolerence`; did you mean `tolerance`?
    ///   |
    /// 1 | tolerence: 2%
    ///   | ^^^^^^^^^
    /// ```
    pub(crate) fn show(&self, text: &str, name: &str) -> Error {
        let Some(location) = self.location.filter(|location| 0 < location.line()) else {
            return Error::usage(format!("{name}: {}", self.message));
        };
        let (line, column) = (location.line(), location.column());
        let mut shown = format!("{name}:{line}:{column}: {}", self.message);
        let source: Option<&str> =
            usize::try_from(line).ok().and_then(|line| text.lines().nth(line - 1));
        let before = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
        // A line that does not fit a screen shows nothing.
        if let Some(source) = source
            && source.chars().count() <= 200
        {
            let room = source.chars().count().saturating_sub(before).max(1);
            let marked = usize::try_from(location.span().len()).unwrap_or(1).clamp(1, room);
            let source: String =
                source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let margin = " ".repeat(line.to_string().len());
            shown += &format!(
                "\n{margin} |\n{line} | {source}\n{margin} | {}{}",
                " ".repeat(before.min(200)),
                "^".repeat(marked)
            );
        }
        Error::usage(shown)
    }
}

impl From<serde_yaml::Error> for Fault {
    fn from(error: serde_yaml::Error) -> Self {
        use serde_yaml::Error as Yaml;
        let message = match &error {
            Yaml::SerdeUnknownField { field, expected, .. } => {
                format!("unknown key `{field}`; {}", suggestion(field, expected))
            }
            Yaml::SerdeUnknownVariant { variant, expected, .. } => {
                format!("unknown value `{variant}`; {}", suggestion(variant, expected))
            }
            Yaml::SerdeMissingField { field, .. } => {
                format!("the key `{field}` is missing; write it here")
            }
            Yaml::DuplicateMappingKey { key: Some(key), .. } => {
                format!("the key `{key}` stands here a second time; keep one of them")
            }
            Yaml::SerdeInvalidType { unexpected, expected, .. }
            | Yaml::SerdeInvalidValue { unexpected, expected, .. } => {
                format!("found {unexpected}; write {expected}")
            }
            Yaml::Unexpected { expected: "sequence start", .. } => {
                "a list belongs here; write for example [5, 10]".to_owned()
            }
            Yaml::Unexpected { expected: "mapping start", .. } => {
                "keys belong here; write for example `key: value`".to_owned()
            }
            Yaml::Unexpected { expected: "string scalar", .. } => {
                "a single value belongs here; write it without brackets".to_owned()
            }
            Yaml::InvalidScalar { ty, .. } if ty.starts_with(['u', 'i']) => {
                "a whole number belongs here; write for example 5".to_owned()
            }
            Yaml::InvalidScalar { ty, .. } if *ty == "floating point" => {
                "a number belongs here; write for example 0.5".to_owned()
            }
            Yaml::MultipleDocuments { .. }
            | Yaml::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
                "a second document begins here; keep one of them".to_owned()
            }
            Yaml::Budget { .. } => {
                "larger or deeper than any configuration is; write it shorter".to_owned()
            }
            other => serde_yaml::UserMessageFormatter.format_message(other).into_owned(),
        };
        Fault { message, location: error.location() }
    }
}

/// `did you mean ...?` for a likely slip of the finger, else what can be written.
fn suggestion(written: &str, expected: &[&str]) -> String {
    let near = expected
        .iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(written, name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((likeness, name)) if 0.6 <= likeness => format!("did you mean `{name}`?"),
        _ => format!("write one of `{}`", expected.join("`, `")),
    }
}
