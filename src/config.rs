//! Reads `pacegate.yaml`: what a project asks of its gate. Every mistake is told with its place and a way out.
//!
//! ```yaml
//! tolerance: 2%               # largest slowdown that is let through
//! looks: [5, 10, 20]          # pairs of launches after which it may decide
//! exact:
//!   B: 0.5% and 64 B          # counts and sizes: both must be exceeded
//! rules:                      # the last one that matches and sets a key wins
//!   - match: "parse/*"
//!     tolerance: 5%
//! profiles:
//!   quick:
//!     looks: [5, 10]
//!     budget: 3m
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_yaml::Spanned;

use crate::error::{Error, Result};
use crate::gate::{
    Correction, ExactTolerance, ExperimentChoice, Gated, Missing, Noisy, OnInconclusive, Policy,
    Rule, Trust, glob,
};
use crate::measure::build::Layout;
use crate::model::{Better, Label, Look};
use crate::stats::Statistic;
use crate::yaml::{Fault, Text, from_yaml, percent};

/// Name of the profile that is used when none is asked for.
pub const DEFAULT_PROFILE: &str = "default";

/// What a project asks of its gate. [`Config::default`] is that of a project without a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What turns comparisons into verdicts; a profile may replace its looks.
    pub policy: Policy,
    /// How benchmarks are launched where no rule says otherwise.
    pub experiment: ExperimentChoice,
    /// How much is measured, by name; there is always one named [`DEFAULT_PROFILE`].
    pub profiles: BTreeMap<String, Profile>,
    /// How the benches are built.
    pub build: Build,
    /// Environment variables that benches get to see, beside those that every process needs.
    pub env: Vec<String>,
    /// The branch that changes are merged into; found out from the repository where it is not given.
    pub default_branch: Option<String>,
    /// The class of the runners that measure; the kind of machine where it is not given.
    pub runner_class: Option<Label>,
    /// Where history is kept, as `--store` takes it.
    pub history: Option<String>,
}

/// How much is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Globs over the benchmarks to launch; every benchmark where there is none.
    pub benchmarks: Vec<String>,
    /// Planned looks; the weights sum to one.
    pub looks: Vec<Look>,
    /// When to stop launching.
    pub budget: Option<Duration>,
    /// How one launch is made.
    pub launch: LaunchSettings,
    /// CPUs to pin launches to; chosen by measuring where there is none.
    pub cpus: Vec<u32>,
    /// How the candidate is launched alone, for a comparison with a stored baseline.
    pub stored: StoredSettings,
}

/// How the candidate is launched alone, for a comparison with a stored baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// Launches of each benchmark; with none, no stored baseline is looked at.
    pub launches: u32,
    /// When to stop launching.
    pub budget: Option<Duration>,
}

impl Default for StoredSettings {
    /// Ten launches: from there on the noise between sessions is the larger part, and more launches show no more.
    fn default() -> Self {
        StoredSettings { launches: 10, budget: None }
    }
}

/// How one launch of a benchmark is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSettings {
    /// Time before the first sample.
    pub warm_up: Duration,
    /// Time that the samples take together.
    pub measurement: Duration,
    /// Number of samples.
    pub samples: u32,
}

impl Default for LaunchSettings {
    fn default() -> Self {
        LaunchSettings {
            warm_up: Duration::from_millis(100),
            measurement: Duration::from_millis(250),
            samples: 40,
        }
    }
}

/// How the benches are built; every list is empty for what cargo does by itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Build {
    /// Packages of the workspace.
    #[schemars(extend("examples" = [["parser"]]))]
    pub packages: Vec<String>,
    /// Features to turn on.
    #[schemars(extend("examples" = [["fast"]]))]
    pub features: Vec<String>,
    /// Whether the default features are on; off, the benches of a large crate may build much faster.
    #[schemars(extend("examples" = [false]))]
    pub default_features: bool,
    /// Cargo's profile; `bench` where it is not given.
    #[schemars(extend("examples" = ["release"]))]
    pub profile: Option<String>,
    /// Bench targets.
    #[schemars(extend("examples" = [["parse"]]))]
    pub benches: Vec<String>,
    /// Where functions begin in the executables.
    #[schemars(extend("default" = "aligned", "examples" = ["as_built"]))]
    pub layout: Layout,
}

impl Default for Build {
    fn default() -> Self {
        Build {
            packages: Vec::new(),
            features: Vec::new(),
            default_features: true,
            profile: None,
            benches: Vec::new(),
            layout: Layout::default(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let policy = Policy::default();
        let profile = Profile {
            benchmarks: Vec::new(),
            looks: policy.looks.clone(),
            budget: None,
            launch: LaunchSettings::default(),
            cpus: Vec::new(),
            stored: StoredSettings::default(),
        };
        Config {
            policy,
            experiment: ExperimentChoice::default(),
            profiles: BTreeMap::from([(DEFAULT_PROFILE.to_owned(), profile)]),
            build: Build::default(),
            env: Vec::new(),
            default_branch: None,
            runner_class: None,
            history: None,
        }
    }
}

impl Config {
    /// Reads a file; one that does not exist, or is empty, means the defaults.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or as [`Config::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Config::parse(&text, &path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(Error::usage(format!("{}: {error}", path.display()))),
        }
    }

    /// Reads a text; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// A usage error that shows file, line, column and the line itself, and says what to write.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        from_yaml::<Option<File>>(text)
            .and_then(|file| file.unwrap_or_default().resolve())
            .map_err(|fault| fault.show(text, name))
    }

    /// The JSON schema of the file, for editors.
    pub fn schema() -> String {
        let schema = schema_for!(File);
        serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
    }
}

/// A tolerance as people write it, `3%`, as a fraction.
///
/// # Errors
///
/// When it is none, with what to write.
pub fn tolerance(text: &str) -> Result<f64, String> {
    text.parse::<Tolerance>().map(|tolerance| tolerance.0)
}

/// A chance as people write it, `0.05`.
///
/// # Errors
///
/// When it is none, with what to write.
pub fn chance(text: &str) -> Result<f64, String> {
    text.parse::<Alpha>().map(|alpha| alpha.0)
}

/// What a project asks of its gate. A key that is not given keeps its default.
// `docs/configuration.md` is made of this type. A test holds every default against the code, and tries every example.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "pacegate.yaml", extend("dependentRequired" = {"weights": ["looks"]}))]
struct File {
    /// Largest slowdown that is let through, from 0.1% to 100%.
    #[schemars(with = "Option<String>", extend("default" = "2%", "examples" = ["5%"]))]
    tolerance: Option<Text<Tolerance>>,
    /// Largest slowdown since the last release that is let through, from 0.1% to 100%.
    #[schemars(with = "Option<String>", extend("default" = "5%", "examples" = ["10%"]))]
    creep: Option<Text<Tolerance>>,
    /// Noise between sessions that is assumed where none is learned, from 0.1% to 100%.
    #[schemars(with = "Option<String>", extend("default" = "2%", "examples" = ["1%"]))]
    session_noise: Option<Text<Tolerance>>,
    /// Chance of a red verdict on a suite in which nothing is slower than the tolerance, up to 0.5.
    #[schemars(with = "Option<f64>", extend("default" = 0.05, "examples" = [0.01]))]
    alpha: Option<Text<Alpha>>,
    /// Chance that a benchmark beyond its tolerance is cleared, up to 0.5.
    #[schemars(with = "Option<f64>", extend("default" = 0.05, "examples" = [0.1]))]
    alpha_pass: Option<Text<Alpha>>,
    /// How the suite's tests are corrected for their number.
    #[schemars(extend("default" = "bh", "examples" = ["holm"]))]
    correction: Option<Correction>,
    /// What a launch is scored by: median, mean, min, trimmed(0.1) or quantile(0.9).
    #[schemars(with = "Option<String>", extend("default" = "trimmed(0.1)", "examples" = ["median"]))]
    statistic: Option<Text<Scored>>,
    /// Fewer launches than this decide nothing; at least 2.
    #[schemars(with = "Option<u32>", extend("default" = 5, "examples" = [4]))]
    min_launches: Option<Spanned<u32>>,
    /// Pairs of launches after which the gate may decide, ascending.
    #[schemars(with = "Option<Vec<u32>>", extend("default" = [5, 10, 20], "examples" = [[5, 10]]))]
    looks: Option<Spanned<Vec<u32>>>,
    /// Share of the error rates that each look may spend; they sum to 1. Where they are not given, later looks get more.
    #[schemars(with = "Option<Vec<f64>>", extend("examples" = [[0.25, 0.75]]))]
    weights: Option<Spanned<Vec<f64>>>,
    /// What a benchmark means that the candidate no longer has.
    #[schemars(extend("default" = "fail", "examples" = ["warn"]))]
    missing: Option<Missing>,
    /// What a benchmark means that is neither red nor cleared.
    #[schemars(extend("default" = "warn", "examples" = ["fail"]))]
    on_inconclusive: Option<OnInconclusive>,
    /// What a benchmark means whose noise hides its tolerance.
    #[schemars(extend("default" = "advisory", "examples" = ["raise_tolerance"]))]
    noisy: Option<Noisy>,
    /// What may decide a verdict.
    #[schemars(extend("default" = "launches", "examples" = ["samples"]))]
    trust: Option<Trust>,
    /// Tolerances of exact metrics by unit: `0.5%`, `64 B`, or `0.5% and 64 B`, of which both must be exceeded. Units that are not
    /// given keep their default; where there is none, nothing is let through.
    #[schemars(with = "Option<BTreeMap<String, String>>", extend(
        "default" = {
            "%": "0.5% and 0.5 %",
            "B": "0 B",
            "accesses": "0.5% and 8 accesses",
            "allocations": "0 allocations",
            "cache-misses": "0.5% and 8 cache-misses",
            "cycles": "0.5% and 280 cycles",
            "instructions": "0.5%",
        },
        "examples" = [{"B": "0.5% and 64 B", "instructions": "1%"}],
    ))]
    exact: Option<BTreeMap<String, Spanned<String>>>,
    /// Exceptions; the last one that matches and sets a key wins.
    #[schemars(extend(
        "default" = [],
        "examples" = [[{"match": "parse/*", "tolerance": "5%"}, {"gate": "no", "match": "*/cold"}]],
    ))]
    rules: Option<Vec<FileRule>>,
    /// Benchmarks that were renamed: `old name: new name`, both as reports show them.
    #[schemars(extend("default" = {}, "examples" = [{"suite::parse small": "suite::parse/small"}]))]
    aliases: Option<BTreeMap<String, String>>,
    /// How benchmarks are launched where no rule says otherwise.
    #[schemars(extend("default" = "auto", "examples" = ["interleaved"]))]
    experiment: Option<ExperimentChoice>,
    /// How much is measured, by name. `--profile` chooses one; there is always one named `default`.
    #[schemars(extend(
        "default" = {},
        "examples" = [{"quick": {"benchmarks": ["parse/*"], "budget": "3m", "looks": [5, 10]}}],
    ))]
    profiles: Option<BTreeMap<String, FileProfile>>,
    /// How the benches are built.
    #[schemars(extend("default" = {}, "examples" = [{"benches": ["parse"], "features": ["fast"]}]))]
    build: Option<Build>,
    /// Environment variables that benches get to see, beside those that every process needs.
    #[schemars(with = "Option<Vec<String>>", extend("default" = [], "examples" = [["RAYON_NUM_THREADS"]]))]
    env: Option<Vec<Text<Variable>>>,
    /// The branch that changes are merged into; found out from the repository where it is not given.
    #[schemars(extend("examples" = ["trunk"]))]
    default_branch: Option<String>,
    /// The class of the runners that measure, which chooses the stored baseline; the kind of machine where it is not given.
    #[schemars(with = "Option<String>", extend("default" = null, "examples" = ["bench-box"]))]
    runner_class: Option<Text<Label>>,
    /// Where history is kept: a folder, `git:REMOTE`, `git:REMOTE#BRANCH`, or object storage where it is built in. Where it is
    /// given, `check` learns the noise of each benchmark from it.
    #[schemars(extend("examples" = ["git:origin"]))]
    history: Option<String>,
}

/// An exception for the benchmarks that a pattern matches.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileRule {
    /// Glob over the benchmark's id; `*` also crosses `/`.
    #[serde(rename = "match")]
    #[schemars(with = "String", extend("examples" = ["parse/*"]))]
    pattern: Text<Pattern>,
    /// Metric that the rule is for; every metric where it is not given.
    #[schemars(extend("default" = null, "examples" = ["allocations"]))]
    metric: Option<String>,
    /// Tolerance, from 0.1% to 100%; that of the file where it is not given.
    #[schemars(with = "Option<String>", extend("default" = null, "examples" = ["5%"]))]
    tolerance: Option<Text<Tolerance>>,
    /// Good direction, for units that do not imply one.
    #[schemars(extend("default" = null, "examples" = ["higher"]))]
    better: Option<Better>,
    /// Whether matching rows can fail the gate.
    #[schemars(extend("default" = null, "examples" = ["no"]))]
    gate: Option<Gated>,
    /// How matching benchmarks are launched; as the file says where it is not given.
    #[schemars(extend("default" = null, "examples" = ["turnstile"]))]
    experiment: Option<ExperimentChoice>,
}

/// How much is measured.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("dependentRequired" = {"weights": ["looks"]}))]
struct FileProfile {
    /// Globs over the benchmarks to launch; every benchmark where there is none.
    #[schemars(with = "Vec<String>", extend("default" = [], "examples" = [["parse/*", "write/*"]]))]
    benchmarks: Vec<Text<Pattern>>,
    /// Pairs of launches after which the gate may decide, ascending; those of the file where they are not given.
    #[schemars(with = "Option<Vec<u32>>", extend("examples" = [[5, 10]]))]
    looks: Option<Spanned<Vec<u32>>>,
    /// Share of the error rates that each look may spend; they sum to 1. Where they are not given, later looks get more.
    #[schemars(with = "Option<Vec<f64>>", extend("examples" = [[0.25, 0.75]]))]
    weights: Option<Spanned<Vec<f64>>>,
    /// When to stop launching, though not all looks were taken: `90s`, `3m`, `1h`.
    #[schemars(with = "Option<String>", extend("default" = null, "examples" = ["3m"]))]
    budget: Option<Text<Span>>,
    /// How one launch is made.
    #[schemars(extend("default" = {}, "examples" = [{"measurement": "500ms", "samples": 50}]))]
    launch: Option<FileLaunch>,
    /// CPUs to pin launches to; chosen by measuring where there is none.
    #[schemars(extend("examples" = [[2, 3]]))]
    cpus: Vec<u32>,
    /// How the candidate is launched alone, for a comparison with a stored baseline.
    #[schemars(extend("default" = {}, "examples" = [{"budget": "3m", "launches": 20}]))]
    stored: Option<FileStored>,
}

/// How the candidate is launched alone, for a comparison with a stored baseline.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileStored {
    /// Launches of each benchmark; with 0, no stored baseline is looked at.
    #[schemars(with = "Option<u32>", extend("default" = 10, "examples" = [0]))]
    launches: Option<Spanned<u32>>,
    /// When to stop launching: `90s`, `3m`, `1h`.
    #[schemars(with = "Option<String>", extend("default" = null, "examples" = ["3m"]))]
    budget: Option<Text<Span>>,
}

/// How one launch is made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileLaunch {
    /// Time before the first sample.
    #[schemars(with = "Option<String>", extend("default" = "100ms", "examples" = ["500ms"]))]
    warm_up: Option<Text<Span>>,
    /// Time that the samples take together.
    #[schemars(with = "Option<String>", extend("default" = "250ms", "examples" = ["1s"]))]
    measurement: Option<Text<Span>>,
    /// Number of samples; criterion takes 10 at least.
    #[schemars(with = "Option<u32>", extend("default" = 40, "examples" = [20]))]
    samples: Option<Spanned<u32>>,
}

impl File {
    fn resolve(self) -> Result<Config, Fault> {
        let base = Policy::default();
        let min_launches = match &self.min_launches {
            Some(n) if n.value < 2 => {
                return Err(Fault::at(n, "one launch has no spread to judge by; write 2 or more"));
            }
            Some(n) => n.value,
            None => base.min_launches,
        };
        let looks = plan(self.looks, self.weights, min_launches)?.unwrap_or(base.looks);
        let mut exact = base.exact;
        for (unit, text) in self.exact.unwrap_or_default() {
            let tolerance =
                exact_tolerance(&text.value, &unit).map_err(|message| Fault::at(&text, message))?;
            exact.insert(unit, tolerance);
        }
        let policy = Policy {
            tolerance: self.tolerance.map_or(base.tolerance, |text| text.0.0),
            creep: self.creep.map_or(base.creep, |text| text.0.0),
            session_noise: self.session_noise.map_or(base.session_noise, |text| text.0.0),
            alpha: self.alpha.map_or(base.alpha, |text| text.0.0),
            alpha_pass: self.alpha_pass.map_or(base.alpha_pass, |text| text.0.0),
            correction: self.correction.unwrap_or(base.correction),
            statistic: self.statistic.map_or(base.statistic, |text| text.0.0),
            min_launches,
            looks,
            missing: self.missing.unwrap_or(base.missing),
            on_inconclusive: self.on_inconclusive.unwrap_or(base.on_inconclusive),
            noisy: self.noisy.unwrap_or(base.noisy),
            trust: self.trust.unwrap_or(base.trust),
            exact,
            attempt: base.attempt,
            rules: self.rules.unwrap_or_default().into_iter().map(Rule::from).collect(),
            aliases: self.aliases.unwrap_or_default(),
            accepted: base.accepted,
            learned: base.learned,
        };
        let mut profiles = self.profiles.unwrap_or_default();
        profiles.entry(DEFAULT_PROFILE.to_owned()).or_default();
        let profiles = profiles
            .into_iter()
            .map(|(name, profile)| Ok((name, profile.resolve(&policy)?)))
            .collect::<Result<_, Fault>>()?;
        Ok(Config {
            policy,
            experiment: self.experiment.unwrap_or_default(),
            profiles,
            build: self.build.unwrap_or_default(),
            env: self.env.unwrap_or_default().into_iter().map(|text| text.0.0).collect(),
            default_branch: self.default_branch,
            runner_class: self.runner_class.map(|text| text.0),
            history: self.history,
        })
    }
}

impl From<FileRule> for Rule {
    fn from(rule: FileRule) -> Self {
        Rule {
            pattern: rule.pattern.0.0,
            metric: rule.metric,
            tolerance: rule.tolerance.map(|text| text.0.0),
            better: rule.better,
            gate: rule.gate,
            experiment: rule.experiment,
        }
    }
}

impl FileProfile {
    fn resolve(self, policy: &Policy) -> Result<Profile, Fault> {
        let looks = plan(self.looks, self.weights, policy.min_launches)?;
        let mut launch = LaunchSettings::default();
        if let Some(file) = self.launch {
            launch.warm_up = file.warm_up.map_or(launch.warm_up, |text| text.0.0);
            launch.measurement = file.measurement.map_or(launch.measurement, |text| text.0.0);
            if let Some(samples) = file.samples {
                if samples.value < 10 {
                    return Err(Fault::at(
                        &samples,
                        "criterion takes 10 samples at least; write 10 or more",
                    ));
                }
                launch.samples = samples.value;
            }
        }
        Ok(Profile {
            benchmarks: self.benchmarks.into_iter().map(|text| text.0.0).collect(),
            looks: looks.unwrap_or_else(|| policy.looks.clone()),
            budget: self.budget.map(|text| text.0.0),
            launch,
            cpus: self.cpus,
            stored: self
                .stored
                .map_or(Ok(StoredSettings::default()), |file| file.resolve(policy))?,
        })
    }
}

impl FileStored {
    fn resolve(self, policy: &Policy) -> Result<StoredSettings, Fault> {
        let mut stored = StoredSettings {
            budget: self.budget.map(|text| text.0.0),
            ..StoredSettings::default()
        };
        if let Some(launches) = self.launches {
            if (1..policy.min_launches).contains(&launches.value) {
                let message = format!(
                    "nothing is decided below {} launches; write that many or more, or 0 to leave stored baselines out",
                    policy.min_launches
                );
                return Err(Fault::at(&launches, message));
            }
            stored.launches = launches.value;
        }
        Ok(stored)
    }
}

/// Looks with their weights: those of the file, those that were simulated for three and four looks
/// (a late look has the most data, so it gets the most), else in proportion to the pairs.
fn plan(
    looks: Option<Spanned<Vec<u32>>>,
    weights: Option<Spanned<Vec<f64>>>,
    min_launches: u32,
) -> Result<Option<Vec<Look>>, Fault> {
    let Some(looks) = looks else {
        return match weights {
            Some(weights) => Err(Fault::at(&weights, "`weights` without `looks`; write both")),
            None => Ok(None),
        };
    };
    let pairs = &looks.value;
    if pairs.is_empty() {
        return Err(Fault::at(
            &looks,
            "no look, so nothing would ever be decided; write [5, 10, 20]",
        ));
    }
    if let Some(pair) = pairs.windows(2).find(|pair| pair[1] <= pair[0]) {
        let message =
            format!("{} does not come after {}; write the looks ascending", pair[1], pair[0]);
        return Err(Fault::at(&looks, message));
    }
    if pairs[0] < min_launches {
        let message = format!(
            "nothing is decided below {min_launches} launches, so the look after {} is wasted; begin later or lower `min_launches`",
            pairs[0]
        );
        return Err(Fault::at(&looks, message));
    }
    let total: f64 = pairs.iter().copied().map(f64::from).sum();
    let shares = match (weights, pairs.len()) {
        (Some(weights), count) => {
            let values = &weights.value;
            let sum: f64 = values.iter().sum();
            if values.len() != count {
                let message =
                    format!("{} weights for {count} looks; write one for each", values.len());
                return Err(Fault::at(&weights, message));
            }
            let positive = values.iter().all(|&weight| 0.0 < weight);
            // Not-a-number fails both comparisons.
            if !(positive && (sum - 1.0).abs() <= 1e-9) {
                let message = format!("weights are above 0 and sum to 1, but these sum to {sum}");
                return Err(Fault::at(&weights, message));
            }
            weights.value
        }
        (None, 3) => vec![0.2, 0.3, 0.5],
        (None, 4) => vec![0.15, 0.2, 0.25, 0.4],
        (None, _) => pairs.iter().map(|&pairs| f64::from(pairs) / total).collect(),
    };
    let looks = pairs.iter().zip(shares).map(|(&pairs, weight)| Look { pairs, weight });
    Ok(Some(looks.collect()))
}

struct Tolerance(f64);

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = percent(text)?;
        if (0.001..=1.0).contains(&fraction) {
            Ok(Tolerance(fraction))
        } else {
            Err(format!("`{text}` is outside 0.1% to 100%; write for example 2%"))
        }
    }
}

struct Alpha(f64);

impl FromStr for Alpha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(alpha) if 0.0 < alpha && alpha <= 0.5 => Ok(Alpha(alpha)),
            _ => {
                Err(format!("`{text}` is no chance above 0 and up to 0.5; write for example 0.05"))
            }
        }
    }
}

struct Scored(Statistic);

impl FromStr for Scored {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = |name: &str| -> Option<f64> {
            text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()
        };
        Ok(Scored(match text {
            "median" => Statistic::Median,
            "mean" => Statistic::Mean,
            "min" => Statistic::Min,
            _ => match (fraction("trimmed"), fraction("quantile")) {
                (Some(cut), _) if (0.0..0.5).contains(&cut) => Statistic::Trimmed(cut),
                (_, Some(at)) if (0.0..=1.0).contains(&at) => Statistic::Quantile(at),
                _ => {
                    return Err(format!(
                        "`{text}` is no statistic; write median, mean, min, trimmed(0.1) with less than 0.5, or quantile(0.9)"
                    ));
                }
            },
        }))
    }
}

struct Pattern(String);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match glob(text) {
            Ok(_) => Ok(Pattern(text.to_owned())),
            Err(message) => Err(format!("{message}; write a glob such as \"parse/*\"")),
        }
    }
}

struct Span(Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let seconds = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => f64::NAN,
        };
        let number: f64 = number.trim().parse().unwrap_or(f64::NAN);
        match Duration::try_from_secs_f64(number * seconds) {
            Ok(duration) if !duration.is_zero() => Ok(Span(duration)),
            _ => Err(format!("`{text}` is no duration; write for example 250ms, 90s, 3m or 1h")),
        }
    }
}

struct Variable(String);

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.contains(['=', '\0']) {
            Err(format!("`{text}` is no name of an environment variable; write the name alone"))
        } else {
            Ok(Variable(text.to_owned()))
        }
    }
}

/// `0.5%`, `64 B` or `0.5% and 64 B`.
fn exact_tolerance(text: &str, unit: &str) -> Result<ExactTolerance, String> {
    let mut tolerance = ExactTolerance { relative: 0.0, absolute: 0.0 };
    let parts: Vec<&str> = text.split(" and ").map(str::trim).collect();
    let absolute = |part: &str| -> Option<f64> {
        let number: f64 = part.strip_suffix(unit)?.trim_end().parse().ok()?;
        (number.is_finite() && 0.0 <= number).then_some(number)
    };
    match parts.as_slice() {
        [relative] if relative.ends_with('%') => tolerance.relative = percent(relative)?,
        [one] if absolute(one).is_some() => tolerance.absolute = absolute(one).unwrap_or_default(),
        [relative, second] if relative.ends_with('%') && absolute(second).is_some() => {
            tolerance.relative = percent(relative)?;
            tolerance.absolute = absolute(second).unwrap_or_default();
        }
        _ => {
            return Err(format!(
                "`{text}` is no tolerance for {unit}; write 0.5%, 64 {unit}, or 0.5% and 64 {unit}"
            ));
        }
    }
    Ok(tolerance)
}
