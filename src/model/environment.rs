//! Where a run was measured.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The runner's fingerprint: stable facts only, never a measured quantity such as a clock rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// A difference refuses a stored comparison: CPU, memory, compiler, profile, runner class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hard: BTreeMap<String, String>,
    /// A difference is told: kernel, governor, linker.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub soft: BTreeMap<String, String>,
    /// Shown, never compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub info: BTreeMap<String, String>,
}

/// The name of a runner class or of a stored baseline, which is also the name of a folder or file: 1 to 100 ASCII
/// letters, digits, `.`, `_`, `+` and `-`, with a letter or digit at both ends.
///
/// ```
/// use pacegate::model::Label;
/// assert_eq!("1.4.0-rc.1".parse::<Label>().map(|label| label.to_string()), Ok("1.4.0-rc.1".into()));
/// assert!("../1.4.0".parse::<Label>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

/// A longer name fits no line.
const LABEL_MAX: usize = 100;

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric();
        let ends = text.starts_with(plain) && text.ends_with(plain);
        let inside = text.chars().all(|c| plain(c) || "._+-".contains(c));
        if ends && inside && text.len() <= LABEL_MAX {
            return Ok(Label(text.to_owned()));
        }
        Err(format!(
            "`{text}` is no name for a folder; write up to {LABEL_MAX} letters, digits, `.`, `_`, `+` and `-`, \
             with a letter or digit at both ends"
        ))
    }
}

impl TryFrom<String> for Label {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Label> for String {
    fn from(label: Label) -> String {
        label.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One fact that differs between two environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the fact.
    pub fact: String,
    /// The baseline's value, where it says.
    pub baseline: Option<String>,
    /// The candidate's value, where it says.
    pub candidate: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let say = |value: &Option<String>| value.clone().unwrap_or_else(|| "not said".into());
        write!(
            f,
            "{} is `{}` for the baseline and `{}` for the candidate",
            self.fact,
            say(&self.baseline),
            say(&self.candidate)
        )
    }
}

impl Environment {
    /// Name of the hard fact that holds the configured runner class.
    pub const CLASS: &str = "class";

    /// The hard facts that differ. An environment that says nothing (a file of another harness) differs from none.
    pub fn hard_differences(&self, other: &Environment) -> Vec<Difference> {
        differences(&self.hard, &other.hard)
    }

    /// The runner class: the one that was configured, or else the kind of machine.
    pub fn class(&self) -> Option<Label> {
        self.hard.get(Self::CLASS).or_else(|| self.info.get("machine"))?.parse().ok()
    }

    /// The soft facts that differ.
    pub fn soft_differences(&self, other: &Environment) -> Vec<Difference> {
        differences(&self.soft, &other.soft)
    }
}

fn differences(
    ours: &BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
) -> Vec<Difference> {
    if ours.is_empty() || theirs.is_empty() {
        return Vec::new();
    }
    let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
        .filter(|key| ours.get(*key) != theirs.get(*key))
        .map(|key| Difference {
            fact: key.clone(),
            baseline: ours.get(key).cloned(),
            candidate: theirs.get(key).cloned(),
        })
        .collect()
}
