//! Reads the tree of files that criterion leaves behind, any version from 0.3 on.
//!
//! ```text
//! target/criterion/
//!   report/                    pages: no measurement
//!   group/function/value/      one benchmark; the folder's name only resembles its id
//!     new/                     its latest measurement; base/ and the names of --save-baseline stand beside it
//!       tukey.json             not read
//!       sample.json            {"sampling_mode": "Linear", "iters": [3.0, 6.0], "times": [61.0, 118.0]}
//!                              0.3.0 to 0.3.3: [[3.0, 6.0], [61.0, 118.0]]
//!       estimates.json         {"mean": {"point_estimate": 20.0, "standard_error": 0.3, ..}, "slope": null, ..}
//!                              0.3.0 to 0.3.3: {"Mean": ..}
//!       raw.csv                since 0.3.4 with feature csv_output: the only file that names a unit
//!       benchmark.json         {"full_id": "group/function/value", ..}; written last
//!     change/estimates.json    fractions by which it changed: never a measurement
//! ```
//!
//! `times` are totals over `iters` iterations, in the unit of criterion's `Measurement`: nanoseconds unless the
//! bench brings its own. Criterion counts every increase as a regression, whatever the measurement, so the good
//! direction of all of them is down. The `throughput` of a benchmark is its time written differently, so it
//! is no metric here: a second row would test the same numbers twice.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Options;
use super::input::Number;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{
    BenchmarkId, Better, Evidence, Experiment, Failure, Launch, Metric, Notice, Run, Sample,
    SamplingMode, Series, Spread, Summary, Unit,
};

/// Folders deeper than this are not criterion's: group, function, value and side make four, and the tree may
/// stand some folders below the one that was named.
const MAX_DEPTH: usize = 12;

/// Folders whose numbers are older than the newest by more than this are pointed out: no suite takes a day.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// No file of criterion's is larger, since fifty thousand samples take a quarter of it.
const FILE_BYTES: u64 = 8 << 20;

/// Criterion's estimate of the mean and ours come from the same numbers; they differ by rounding only.
const SAME_MEAN: f64 = 1e-6;

/// Reads `target/criterion`, a target folder or project that holds one, or the folder of one benchmark. Of each
/// benchmark it takes the measurement named `baseline`: `new`, `base` or a name of `--save-baseline`. Without
/// a name it is `new`, or the one that the path leads into. Series are sorted by benchmark.
///
/// A benchmark whose files are cut off, hold nothing or contradict each other is a [`Failure`], never skipped.
/// Notices: `left-over-folder`, `side-missing`, `unfinished-folder`, `foreign-folder`, `quick-mode`.
///
/// # Errors
///
/// When the folder cannot be read, holds no such measurement, or holds too many.
pub fn read(path: &Path, baseline: Option<&str>, options: &Options) -> Result<Run> {
    let root = root(path);
    let inside = root.join("benchmark.json").is_file();
    let side = match (baseline, root.file_name()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) if inside => name.to_string_lossy().into_owned(),
        _ => "new".to_owned(),
    };
    if side == "change" {
        return Err(Error::usage(
            "criterion keeps its own comparisons under the name `change`, so it is no baseline; name another one",
        ));
    }

    let mut tree = Tree::default();
    tree.visit(&root, &side, Within::Root, 0)?;
    tree.check(path, &side, options)?;

    let read: Vec<(Result<Series, Failure>, &PathBuf)> =
        tree.sides.par_iter().map(|folder| (read_side(&root, folder, options), folder)).collect();
    let mut run = Run { notices: tree.notices(&root, &side), ..Run::default() };
    let mut by_id: BTreeMap<BenchmarkId, Vec<(Series, &PathBuf)>> = BTreeMap::new();
    for (result, folder) in read {
        match result {
            Ok(series) => by_id.entry(series.id.clone()).or_default().push((series, folder)),
            Err(failure) => run.failures.push(failure),
        }
    }
    let mut quick = Vec::new();
    for (id, mut found) in by_id {
        if found.len() > 1 {
            let folders: Vec<String> =
                found.iter().map(|(_, folder)| folder.display().to_string()).collect();
            run.failures.push(Failure {
                message: format!(
                    "{} hold the same benchmark; delete the ones that are left over, or give each bench executable its own CRITERION_HOME",
                    folders.join(" and ")
                ),
                id,
                output: String::new(),
            });
        } else if let Some((series, _)) = found.pop() {
            if is_quick(&series.evidence) {
                quick.push(series.id.to_string());
            }
            run.series.push(series);
        }
    }
    run.failures.sort_by(|a, b| (&a.id, &a.message).cmp(&(&b.id, &b.message)));
    run.notices.extend(folded(
        "quick-mode",
        &quick,
        "two samples only",
        "criterion's --quick is too short to judge by; measure without it",
    ));
    Ok(run)
}

/// Where the tree begins. Narrowing a target folder down only saves the walk through it: names come from the
/// files, so a root too high changes nothing.
fn root(path: &Path) -> PathBuf {
    let in_project = path.join("target").join("criterion");
    let in_target = path.join("criterion");
    let is_target = path.file_name().is_some_and(|name| name == "target")
        || path.join("CACHEDIR.TAG").is_file()
        || path.join(".rustc_info.json").is_file();
    if in_project.is_dir() {
        in_project
    } else if is_target && in_target.is_dir() {
        in_target
    } else {
        path.to_owned()
    }
}

/// What a walk found. A folder is what its files say, so a group may be called `new`, `report` or `change`.
#[derive(Default)]
struct Tree {
    /// Folders with the wanted measurement.
    sides: Vec<PathBuf>,
    /// Benchmark folders and the names of their other measurements.
    others: BTreeMap<PathBuf, Vec<String>>,
    /// Folders with numbers but without `benchmark.json`, which criterion writes last.
    unfinished: Vec<PathBuf>,
    /// Folders that criterion did not write.
    foreign: Vec<PathBuf>,
}

/// Whose folder the walk is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Root,
    Benchmarks,
    Report,
}

impl Tree {
    fn visit(&mut self, folder: &Path, side: &str, within: Within, depth: usize) -> Result<()> {
        let listing = || format!("{}: cannot list the folder", folder.display());
        let mut folders = Vec::new();
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).context(listing)? {
            let entry = entry.context(listing)?;
            let kind = entry.file_type().context(listing)?;
            if kind.is_dir() { folders.push(entry.path()) } else { files.push(entry.file_name()) }
        }
        folders.sort();
        let has = |name: &str| files.iter().any(|file| file == name);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let within =
            if within == Within::Benchmarks && name == "report" { Within::Report } else { within };
        if has("benchmark.json") {
            if name == side {
                self.sides.push(folder.to_owned());
            } else if let Some(benchmark) = folder.parent() {
                self.others.entry(benchmark.to_owned()).or_default().push(name.into_owned());
            }
        } else if has("sample.json") || (has("estimates.json") && name != "change") {
            self.unfinished.push(folder.to_owned());
        } else if within == Within::Benchmarks
            && name != "change"
            && (folders.is_empty() || !files.is_empty())
        {
            self.foreign.push(folder.to_owned());
        }
        if depth < MAX_DEPTH {
            let below = if within == Within::Root { Within::Benchmarks } else { within };
            for folder in folders {
                self.visit(&folder, side, below, depth + 1)?;
            }
        }
        Ok(())
    }

    fn check(&self, path: &Path, side: &str, options: &Options) -> Result<()> {
        let path = path.display();
        if self.sides.len() > options.limits.benchmarks {
            return Err(Error::judge(format!(
                "{path}: it holds {} benchmarks, more than the {} that are read; split the suite",
                self.sides.len(),
                options.limits.benchmarks
            )));
        }
        if !self.sides.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = self.others.values().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let message = if let [first, ..] = self.unfinished.as_slice() {
            format!(
                "{path}: no benchmark is complete, the first unfinished one is {}; run the benches to their end",
                first.display()
            )
        } else if names.is_empty() {
            format!(
                "{path}: no criterion tree: no folder in it holds a benchmark.json; name target/criterion, or run the benches first"
            )
        } else {
            format!(
                "{path}: no benchmark has a measurement named `{side}`; name one of `{}` after a colon",
                names.join("`, `")
            )
        };
        let kind =
            if self.unfinished.is_empty() { ErrorKind::NothingToCompare } else { ErrorKind::Judge };
        Err(Error::new(kind, message))
    }

    fn notices(&self, root: &Path, side: &str) -> Vec<Notice> {
        let short = |folder: &Path| relative(root, folder);
        let missing: Vec<String> = self
            .others
            .keys()
            .filter(|folder| self.sides.binary_search(&folder.join(side)).is_err())
            .map(|folder| short(folder))
            .collect();
        let written: Vec<Option<SystemTime>> =
            self.sides.iter().map(|folder| written(folder)).collect();
        let newest = written.iter().flatten().max();
        let old: Vec<String> = self
            .sides
            .iter()
            .zip(&written)
            .filter(|(_, time)| match (time, newest) {
                (Some(time), Some(newest)) => {
                    newest.duration_since(*time).is_ok_and(|age| OLD < age)
                }
                _ => false,
            })
            .map(|(folder, _)| short(folder))
            .collect();
        let unfinished: Vec<String> = self.unfinished.iter().map(|f| short(f)).collect();
        let foreign: Vec<String> = self.foreign.iter().map(|f| short(f)).collect();
        [
            folded(
                "left-over-folder",
                &old,
                "written more than a day before the newest",
                "criterion never deletes: remove the tree before measuring if these benchmarks are gone",
            ),
            folded(
                "side-missing",
                &missing,
                &format!("there are measurements, but none named `{side}`"),
                "these benchmarks count as not measured",
            ),
            folded(
                "unfinished-folder",
                &unfinished,
                "there is no benchmark.json, which criterion writes last",
                "the bench was stopped or crashed there; run it again",
            ),
            folded(
                "foreign-folder",
                &foreign,
                "criterion did not write this",
                "it was not read; remove it, or name the folder that holds the benchmarks",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// When a measurement was completed, where the file system says so.
fn written(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder.join("benchmark.json")).and_then(|data| data.modified()).ok()
}

/// The path below the root with `/` on every system.
fn relative(root: &Path, folder: &Path) -> String {
    let parts = folder.strip_prefix(root).unwrap_or(folder).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// One notice for all that share a fate: ten thousand notices would hide each other.
fn folded(kind: &str, names: &[String], seen: &str, advice: &str) -> Option<Notice> {
    let mut shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 3 {
        shown += &format!(" and {} more", names.len() - 3);
    }
    (!names.is_empty()).then(|| Notice::new(kind, format!("{shown}: {seen}"), advice))
}

/// Criterion's --quick leaves a sample of `n` iterations and one of `2 n`, or the same launch twice.
fn is_quick(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Sampled(launches) if launches[0].sample.totals().len() == 2)
}

fn read_side(root: &Path, folder: &Path, options: &Options) -> Result<Series, Failure> {
    let fallback = folder.parent().map(|benchmark| relative(root, benchmark)).unwrap_or_default();
    let failed = |name: &str, message: String| Failure {
        id: BenchmarkId::new(&options.suite, name),
        message,
        output: String::new(),
    };
    let limit = options.limits.bytes.min(FILE_BYTES);
    let name = load(&folder.join("benchmark.json"), limit)
        .and_then(|bytes| parse::<CBenchmark>(&bytes.unwrap_or_default()))
        .map_err(|message| failed(&fallback, at(folder, "benchmark.json", &message)))?
        .full_id;
    let (evidence, metric) =
        read_values(folder, options).map_err(|message| failed(&name, message))?;
    Ok(Series {
        id: BenchmarkId::new(&options.suite, name),
        metric,
        experiment: Experiment::Imported,
        evidence,
        looks: Vec::new(),
    })
}

fn read_values(folder: &Path, options: &Options) -> Result<(Evidence, Metric), String> {
    let limit = options.limits.bytes.min(FILE_BYTES);
    let sample = match load(&folder.join("sample.json"), limit) {
        Ok(Some(bytes)) => sample_from_slice(&bytes, options.limits.samples).map(Some),
        Ok(None) => Ok(None),
        Err(message) => Err(message),
    }
    .map_err(|message| at(folder, "sample.json", &message))?;
    let interval = if sample.is_some() { Interval::Unchecked } else { Interval::Checked };
    let estimate = match load(&folder.join("estimates.json"), limit) {
        Ok(Some(bytes)) => mean_from_slice(&bytes, interval).map(Some),
        Ok(None) => Ok(None),
        Err(message) => Err(message),
    }
    .map_err(|message| at(folder, "estimates.json", &message))?;

    let metric = match (&options.metric, &sample) {
        (Some(metric), _) => metric.clone(),
        (None, Some(sample)) => foreign_metric(folder, sample).unwrap_or_else(Metric::time),
        (None, None) => Metric::time(),
    };
    let evidence = match (sample, estimate) {
        (Some(sample), estimate) => {
            let values = sample.values();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            if let Some(Summary { score, .. }) = estimate
                && SAME_MEAN * mean < (score - mean).abs()
            {
                return Err(format!(
                    "{}: sample.json has the mean {mean} but estimates.json says {score}; the folder mixes two measurements, run the bench again",
                    folder.display()
                ));
            }
            Evidence::Sampled(vec![Launch { pair: 0, sample, usage: None }])
        }
        (None, Some(summary)) => Evidence::Summary(vec![summary]),
        (None, None) => {
            return Err(format!(
                "{}: neither sample.json nor estimates.json is there; run the bench again",
                folder.display()
            ));
        }
    };
    Ok((evidence, metric))
}

fn at(folder: &Path, file: &str, message: &str) -> String {
    format!("{}: {message}; run the bench again", folder.join(file).display())
}

/// The bytes of a file, or nothing where there is none.
fn load(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit {
        return Err(format!("it is larger than the {limit} bytes that are read"));
    }
    Ok(Some(bytes))
}

/// Criterion's `benchmark.json`.
#[derive(Deserialize)]
struct CBenchmark {
    full_id: String,
}

/// Criterion's `sample.json`.
#[derive(Debug, PartialEq, Deserialize)]
struct CSample<T = f64> {
    sampling_mode: CMode,
    iters: Vec<f64>,
    times: Vec<T>,
}

/// Criterion's `sample.json` before it had sampling modes; all were linear.
#[derive(Deserialize)]
struct COldSample<T>(Vec<f64>, Vec<T>);

impl<T> From<COldSample<T>> for CSample<T> {
    fn from(COldSample(iters, times): COldSample<T>) -> Self {
        CSample { sampling_mode: CMode::Linear, iters, times }
    }
}

#[derive(Debug, PartialEq, Deserialize)]
enum CMode {
    Linear,
    Flat,
}

/// Criterion's `estimates.json`.
#[derive(Deserialize)]
pub(super) struct CEstimates {
    #[serde(alias = "Mean")]
    mean: CEstimate,
}

#[derive(Deserialize)]
struct CEstimate {
    confidence_interval: CInterval,
    #[serde(default)]
    point_estimate: Number,
    #[serde(default)]
    standard_error: Number,
}

#[derive(Deserialize)]
struct CInterval {
    #[serde(default)]
    lower_bound: Number,
    #[serde(default)]
    upper_bound: Number,
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// How the message begins when a sample is sound and holds nothing that was measured.
pub const MEASURED_NOTHING: &str = "measured nothing";

/// Reads `sample.json`.
///
/// # Errors
///
/// When it is damaged, holds more than `limit` samples, or nothing that was measured.
pub fn sample_from_slice(bytes: &[u8], limit: usize) -> Result<Sample, String> {
    let raw = parse_fast(bytes)?;
    if raw.times.len() > limit {
        return Err(format!("{} samples, more than the {limit} that are read", raw.times.len()));
    }
    let iters = raw.iters.iter().map(|&n| whole(n)).collect::<Result<_, _>>()?;
    let mode = match raw.sampling_mode {
        CMode::Linear => SamplingMode::Linear,
        CMode::Flat => SamplingMode::Flat,
    };
    Sample::new(mode, iters, raw.times).map_err(|error| format!("{MEASURED_NOTHING}: {error}"))
}

/// A count that criterion wrote as a float.
fn whole(n: f64) -> Result<u64, String> {
    // Doubles hold every whole number up to 2^53.
    if n.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&n) {
        Ok(n as u64)
    } else {
        Err(format!("{n} is not a number of iterations"))
    }
}

thread_local! {
    /// simd-json destroys its input and likes to keep its scratch space.
    static SCRATCH: RefCell<(Vec<u8>, simd_json::Buffers)> = RefCell::default();
}

/// simd-json where it can, and serde_json, the parser of record, where simd-json refuses: it knows line and column.
fn parse_fast(bytes: &[u8]) -> Result<CSample, String> {
    let old = bytes.trim_ascii_start().first() == Some(&b'[');
    let fast = SCRATCH.with_borrow_mut(|(scratch, buffers)| {
        scratch.clear();
        scratch.extend_from_slice(bytes);
        if old {
            simd_json::serde::from_slice_with_buffers::<COldSample<f64>>(scratch, buffers)
                .map(CSample::from)
        } else {
            simd_json::serde::from_slice_with_buffers(scratch, buffers)
        }
    });
    fast.or_else(|_| parse_exact(bytes, old))
}

fn parse_exact(bytes: &[u8], old: bool) -> Result<CSample, String> {
    // JSON has no NaN: criterion writes null, which is worth its own words.
    let raw: CSample<Option<f64>> =
        if old { parse::<COldSample<_>>(bytes)?.into() } else { parse(bytes)? };
    let times = raw.times.into_iter().collect::<Option<_>>();
    let times = times.ok_or("measured nothing: a time is null, which stands for not a number")?;
    Ok(CSample { sampling_mode: raw.sampling_mode, iters: raw.iters, times })
}

/// Whether a mean must lie within its own interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// There is nothing else to tell an edited or mixed-up file by.
    Checked,
    /// The samples are at hand, and a bootstrap interval at a low confidence may miss its mean.
    Unchecked,
}

/// Reads the mean of `estimates.json`: the score of one launch with its standard error.
///
/// # Errors
///
/// When it is damaged, contradicts itself, or says that nothing was measured.
pub fn mean_from_slice(bytes: &[u8], interval: Interval) -> Result<Summary, String> {
    parse(bytes).and_then(|estimates| mean_of(estimates, interval))
}

/// The mean of estimates that somebody else took out of their file.
pub(super) fn mean_of(estimates: CEstimates, interval: Interval) -> Result<Summary, String> {
    let CEstimates { mean } = estimates;
    let score = mean
        .point_estimate
        .0
        .filter(|score| 0.0 < *score)
        .ok_or("measured nothing: the mean is zero, negative or not a number")?;
    let CInterval { lower_bound: Number(lower), upper_bound: Number(upper) } =
        mean.confidence_interval;
    let slack = SAME_MEAN * score;
    if interval == Interval::Checked
        && (lower.is_some_and(|lower| score + slack < lower)
            || upper.is_some_and(|upper| upper < score - slack))
    {
        return Err(format!("the mean {score} lies outside its own interval"));
    }
    Ok(Summary {
        score,
        spread: mean.standard_error.0.filter(|error| 0.0 <= *error).map(Spread::StandardError),
        n: None,
        launches: Some(1),
    })
}

/// The metric of a bench with its own `Measurement`, if `raw.csv` is there to tell. Its rows end in
/// `value,unit,iterations`; a formatter may scale the values, and then the unit is not that of `sample.json`.
fn foreign_metric(folder: &Path, sample: &Sample) -> Option<Metric> {
    let text = String::from_utf8(load(&folder.join("raw.csv"), FILE_BYTES).ok()??).ok()?;
    let mut fields = text.trim_end().rsplit(',');
    let (_, unit, value) = (fields.next()?, fields.next()?, fields.next()?);
    let same = value.parse::<f64>().ok()? == *sample.totals().last()?;
    (same && !unit.is_empty() && unit != "ns").then(|| Metric {
        name: unit.to_owned(),
        unit: Unit::new(unit),
        better: Better::Lower,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both parsers on one text: what simd-json takes, serde_json takes, and to the bit. One bit is let go:
    /// simd-json reads the integer `-0` as 0, which is no other total; `-0.0` it reads as it is.
    fn check(bytes: &[u8]) {
        let old = bytes.trim_ascii_start().first() == Some(&b'[');
        let bits = |raw: CSample| {
            let bits =
                |values: &[f64]| values.iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<_>>();
            (raw.sampling_mode, bits(&raw.iters), bits(&raw.times))
        };
        assert_eq!(
            parse_fast(bytes).map(bits),
            parse_exact(bytes, old).map(bits),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }

    #[test]
    fn both_parsers_agree_on_odd_numbers() {
        for number in [
            "0",
            "-0",
            "-0.0",
            "1e0",
            "1E+2",
            "5e-324",
            "2.2250738585072011e-308",
            "1e-400",
            "1e308",
            "1.7976931348623159e308",
            "1e400",
            "-1e400",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "123456789012345678901234567890",
            "-9223372036854775809",
            "0.1000000000000000055511151231257827021181583404541015625",
            "01",
            "1.",
            ".5",
            "+1",
            "NaN",
            "Infinity",
            "null",
            "\"1\"",
            "1e",
            "--1",
            "0x10",
            "1_000",
            "true",
            "[1]",
            "{}",
            "",
        ] {
            check(
                format!(r#"{{"sampling_mode":"Flat","iters":[1],"times":[{number}]}}"#).as_bytes(),
            );
            check(format!("[[1.0],[{number}]]").as_bytes());
        }
    }

    #[test]
    fn both_parsers_agree_on_odd_documents() {
        for text in [
            "",
            " ",
            "[",
            "[[]]",
            "[[],[]]",
            "[[],[],[]]",
            "{}",
            "null",
            "[[1],[2]] ",
            "[[1],[2]]x",
            r#"{"sampling_mode":"Flat","iters":[1],"iters":[2],"times":[3]}"#,
            r#"{"sampling_mode":"Flat","iters":[1],"times":[3],"more":{"a":[1,"x"]}}"#,
            r#"{"sampling_mode":"Other","iters":[1],"times":[3]}"#,
            r#"{"sampling_mode":"Fl\u0061t","iters":[1],"times":[3]}"#,
            r#"["Flat",[1],[3]]"#,
            "\u{feff}[[1],[2]]",
        ] {
            check(text.as_bytes());
        }
        check(b"{\"sampling_mode\":\"Flat\",\"iters\":[1],\"times\":[3],\"\xff\":1}");
        check(&b"[".repeat(100_000));
    }

    proptest! {
        #[test]
        fn both_parsers_give_the_same_bits(
            iters in prop::collection::vec(1u64..1 << 53, 0..40),
            times in prop::collection::vec(prop::num::f64::ANY, 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let iters: Vec<f64> = iters.into_iter().map(|n| n as f64).collect();
            let text = serde_json::json!({"sampling_mode": "Linear", "iters": iters, "times": times});
            let old = serde_json::json!([iters, times]);
            for text in [text.to_string(), old.to_string()] {
                check(text.as_bytes());
                check(&text.as_bytes()[..cut.index(text.len())]);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            check(&bytes);
            let _ = mean_from_slice(&bytes, Interval::Checked);
            let _ = parse::<CBenchmark>(&bytes);
        }
    }
}
