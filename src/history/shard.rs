//! One suite on many machines: who measures what, and whether everything was measured once.
//!
//! ```text
//!   durations    ████████ a   ██████ b   █████ c   ███ d   ██ e
//!   longest first, each to the machine with the least to do
//!   machine 1    ████████ a   ███ d
//!   machine 2    ██████ b   █████ c   ██ e ...
//! ```
//!
//! A benchmark goes to one machine with all of its arms, so that no comparison spans two machines.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entry::Entry;
use crate::model::BenchmarkId;
use crate::stats::summary::median;

/// Name and version of the format.
pub const SCHEMA: &str = "pacegate.shards/1";

/// Which machine measures what: a matrix as GitHub Actions takes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shards {
    /// Names the format and its version.
    pub schema: String,
    /// One for each machine.
    pub include: Vec<Shard>,
}

/// What one machine measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Its number, from 1.
    pub shard: u32,
    /// How many there are.
    pub of: u32,
    /// How long its launches will probably take, in seconds.
    pub seconds: f64,
    /// Its benchmarks, as they are shown, sorted.
    pub benchmarks: Vec<String>,
}

/// The JSON schema of a plan.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schema_for!(Shards)).expect("a schema is JSON") + "\n"
}

/// How long the launches of each benchmark took in its newest run.
pub fn durations(entries: &[Entry]) -> BTreeMap<BenchmarkId, f64> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| (entry.head.measured_s, entry.head.commit.committed_s));
    let mut durations = BTreeMap::new();
    for entry in sorted {
        let mut of_run: BTreeMap<&BenchmarkId, f64> = BTreeMap::new();
        for row in &entry.rows {
            if let Some(seconds) = row.seconds {
                *of_run.entry(&row.id).or_default() += seconds;
            }
        }
        durations.extend(of_run.into_iter().map(|(id, seconds)| (id.clone(), seconds)));
    }
    durations
}

/// Gives each benchmark to a machine: the longest first, each to the one with the least to do (Graham 1969, at most a third
/// longer than the best). A benchmark of unknown duration counts as the middle one. Some machines stay idle where there
/// are fewer benchmarks.
pub fn plan(durations: &BTreeMap<BenchmarkId, Option<f64>>, shards: u32) -> Shards {
    let known: Vec<f64> = durations.values().flatten().copied().collect();
    let middle = if known.is_empty() { 1.0 } else { median(&known) };
    let mut longest: Vec<(f64, String)> =
        durations.iter().map(|(id, seconds)| (seconds.unwrap_or(middle), id.to_string())).collect();
    longest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut include: Vec<Shard> = (1..=shards)
        .map(|shard| Shard { shard, of: shards, seconds: 0.0, benchmarks: Vec::new() })
        .collect();
    for (seconds, benchmark) in longest {
        let least = include
            .iter_mut()
            .min_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.shard.cmp(&b.shard)))
            .expect("there is a shard");
        least.seconds += seconds;
        least.benchmarks.push(benchmark);
    }
    for shard in &mut include {
        shard.benchmarks.sort();
        shard.seconds = (shard.seconds * 10.0).round() / 10.0;
    }
    Shards { schema: SCHEMA.into(), include }
}

impl Shards {
    /// The number of the machine that measures a benchmark. One that the plan does not know, since it is new, goes where
    /// a hash of its name says, so that every machine agrees.
    pub fn owner(&self, id: &BenchmarkId) -> u32 {
        let shown = id.to_string();
        let planned = self
            .include
            .iter()
            .find(|shard| shard.benchmarks.binary_search(&shown).is_ok())
            .map(|shard| shard.shard);
        planned.unwrap_or_else(|| {
            let hash = Sha256::digest(&shown);
            let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
            1 + number % (self.include.len().max(1) as u32)
        })
    }

    /// The benchmarks of the plan that were measured by no machine, and those measured by several, given those of each.
    pub fn coverage<'a>(
        &self,
        measured: impl IntoIterator<Item = &'a BenchmarkId>,
    ) -> (Vec<String>, Vec<String>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for id in measured {
            *counts.entry(id.to_string()).or_default() += 1;
        }
        let missing = self
            .include
            .iter()
            .flat_map(|shard| &shard.benchmarks)
            .filter(|benchmark| !counts.contains_key(*benchmark))
            .cloned()
            .collect();
        let several =
            counts.into_iter().filter(|(_, count)| 1 < *count).map(|(id, _)| id).collect();
        (missing, several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(durations: &[f64]) -> BTreeMap<BenchmarkId, Option<f64>> {
        (0..)
            .zip(durations)
            .map(|(i, seconds)| (BenchmarkId::new("s", format!("b{i:03}")), Some(*seconds)))
            .collect()
    }

    #[test]
    fn the_longest_go_first() {
        let shards = plan(&ids(&[8.0, 6.0, 5.0, 3.0, 2.0]), 2);
        let seconds: Vec<f64> = shards.include.iter().map(|shard| shard.seconds).collect();
        assert_eq!(seconds, [13.0, 11.0]);
        assert_eq!(shards.include[1].benchmarks, ["s::b001", "s::b002"]);
    }

    #[test]
    fn coverage_tells_what_is_missing_and_what_is_there_twice() {
        let shards = plan(&ids(&[1.0, 1.0, 1.0]), 2);
        let id = |name: &str| BenchmarkId::new("s", name);
        let measured = [id("b000"), id("b001"), id("b001"), id("new")];
        let (missing, several) = shards.coverage(&measured);
        assert_eq!((missing, several), (vec!["s::b002".to_owned()], vec!["s::b001".to_owned()]));
    }

    proptest! {
        #[test]
        fn every_benchmark_has_one_owner(durations in prop::collection::vec(0.0..100.0, 0..60), shards in 1u32..9) {
            let ids = ids(&durations);
            let plan = plan(&ids, shards);
            let all: usize = plan.include.iter().map(|shard| shard.benchmarks.len()).sum();
            prop_assert_eq!(all, ids.len());
            for shard in &plan.include {
                for (id, _) in ids.iter().filter(|(id, _)| plan.owner(id) == shard.shard) {
                    prop_assert!(shard.benchmarks.contains(&id.to_string()));
                }
            }
            prop_assert!((1..=shards).contains(&plan.owner(&BenchmarkId::new("", "unheard of"))));
        }
    }
}
