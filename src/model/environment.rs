//! Where a run was measured.

use std::collections::BTreeMap;
use std::fmt;

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
    /// The hard facts that differ. An environment that says nothing (a file of another harness) differs from none.
    pub fn hard_differences(&self, other: &Environment) -> Vec<Difference> {
        differences(&self.hard, &other.hard)
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
