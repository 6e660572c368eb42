//! Stored baselines: what a release measured on one class of runner, kept in the repository beside the code.
//!
//! ```text
//! baselines/
//!   index.yaml              the current baseline of each runner class
//!   accepted.yaml           slowdowns that were agreed to, see `accepted`
//!   <class>/<label>.jsonl   one baseline, never written again
//! ```
//!
//! A baseline is JSON Lines: a header, then one metric of one benchmark a line, sorted, with the score of every launch,
//! which is all that a comparison needs:
//!
//! ```text
//! {"schema":"pacegate.baseline/1","label":"1.4.0","class":"metal","pacegate":..,"recorded":..,"revision":{..},
//!  "environment":{"hard":{..},"soft":{..},"info":{..}},"statistic":..,"profile":..,..,"checksum":"<SHA-256>"}
//! {"id":{"suite":"parser","name":"large"},"metric":{..},"experiment":"plain","evidence":{"scored":[{"score":..},..]}}
//! ```
//!
//! The checksum covers everything but itself, line by line, so that a checkout with other line endings is the same file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_yaml::Spanned;
use sha2::{Digest, Sha256};

use super::evidence::{is_finite, rfc3339, unplaced};
use super::{Limits, hex};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Environment, Evidence, Experiment, Label, Notice, Revision, Run, Series};
use crate::stats::Statistic;
use crate::yaml::{Fault, from_yaml};

/// Name of the format, without its version.
const FORMAT: &str = "pacegate.baseline/";

/// The version that is written. Every older one is read.
const VERSION: u32 = 1;

/// Where baselines lie, seen from the top of a project.
pub const FOLDER: &str = "baselines";

/// Name and version of the index.
const INDEX_SCHEMA: &str = "pacegate.baselines/1";

/// One baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// What it is and where it comes from.
    pub header: Header,
    /// What was measured, sorted by benchmark and metric: scores of plain launches, and exact values.
    pub series: Vec<Series>,
}

/// What a baseline is and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Its name, mostly that of a release.
    #[schemars(with = "String")]
    pub label: Label,
    /// The class of runners that it speaks for.
    #[schemars(with = "String")]
    pub class: Label,
    /// Version of pacegate that measured.
    pub pacegate: String,
    /// When it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339")]
    #[schemars(with = "Option<String>")]
    pub recorded: Option<Timestamp>,
    /// What was measured.
    pub revision: Revision,
    /// Where, and with which tools.
    pub environment: Environment,
    /// SHA-256 of the executable of each suite, in hex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub executables: BTreeMap<String, String>,
    /// What the launches are scored by.
    pub statistic: Statistic,
    /// The profile that it was measured by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The evidence that it was made from.
    pub provenance: Provenance,
}

/// How a baseline came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// SHA-256 of the evidence file, in hex.
    pub evidence: String,
    /// What spoke against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<String>,
    /// Why it was promoted all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// The first line: the header between its schema and its checksum.
#[derive(Serialize, Deserialize, JsonSchema)]
struct FirstLine {
    schema: String,
    #[serde(flatten)]
    header: Header,
    checksum: String,
}

/// The JSON schema of a line: the header or a series.
pub fn schema() -> String {
    #[derive(JsonSchema)]
    #[schemars(untagged, title = "a line of pacegate.baseline/1")]
    #[expect(dead_code, reason = "it names the kinds of lines for the schema")]
    enum Line {
        Header(Box<FirstLine>),
        Series(Series),
    }
    serde_json::to_string_pretty(&schema_for!(Line)).expect("a schema is JSON") + "\n"
}

/// Whether a file that begins like this is a stored baseline.
pub fn looks_like(start: &[u8]) -> bool {
    start.starts_with(b"{\"schema\":\"pacegate.baseline/")
}

impl Baseline {
    /// The whole file.
    ///
    /// # Errors
    ///
    /// When there is nothing to keep, or something that no baseline keeps: launches that were not made alone, a
    /// value that is not finite.
    pub fn to_text(&self) -> Result<String> {
        if self.series.is_empty() {
            return Err(Error::new(
                ErrorKind::NothingToCompare,
                "there is nothing to keep; measure first",
            ));
        }
        let mut series: Vec<&Series> = self.series.iter().collect();
        series.sort_by_key(|series| (&series.id, &series.metric));
        let mut lines = String::new();
        for series in series {
            check(series)?;
            lines += &serde_json::to_string(series)
                .expect("its keys are strings and its numbers finite");
            lines.push('\n');
        }
        let mut first = FirstLine {
            schema: format!("{FORMAT}{VERSION}"),
            header: self.header.clone(),
            checksum: String::new(),
        };
        let to_line =
            |first: &FirstLine| serde_json::to_string(first).expect("its keys are strings") + "\n";
        first.checksum = checksum(&(to_line(&first) + &lines));
        Ok(to_line(&first) + &lines)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, was changed or cut off, is beyond a limit, or was written by a newer pacegate; the
    /// message names file and line.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self> {
        let read = || -> Result<Baseline> {
            let mut text = String::new();
            File::open(path)?.take(limits.bytes.saturating_add(1)).read_to_string(&mut text)?;
            Baseline::parse(&text, limits)
        };
        read().context(|| path.display().to_string())
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// As [`Baseline::read`].
    pub fn parse(text: &str, limits: &Limits) -> Result<Self> {
        if text.len() as u64 > limits.bytes {
            return Err(Error::judge(format!(
                "it is larger than the {} bytes that are read; split the suite",
                limits.bytes
            )));
        }
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let header = header(first, text).context(|| "line 1".into())?;
        let mut series: Vec<Series> = Vec::new();
        for (number, line) in (2..).zip(lines) {
            let next =
                one_series(line, series.last(), limits).context(|| format!("line {number}"))?;
            series.push(next);
        }
        let benchmarks = series.chunk_by(|a, b| a.id == b.id).count();
        if limits.benchmarks < benchmarks {
            return Err(Error::judge(format!(
                "it has {benchmarks} benchmarks, more than the {} that are read; split the suite",
                limits.benchmarks
            )));
        }
        Ok(Baseline { header, series })
    }

    /// The baseline as one side of a comparison, called by its label.
    pub fn to_run(&self) -> Run {
        let header = &self.header;
        let mut environment = header.environment.clone();
        if let Some(recorded) = header.recorded {
            environment.info.insert("recorded".into(), recorded.strftime("%Y-%m-%d").to_string());
        }
        Run {
            revision: Some(Revision { name: header.label.to_string(), ..header.revision.clone() }),
            environment,
            executables: header.executables.clone(),
            series: self.series.clone(),
            ..Run::default()
        }
    }
}

/// Older than this, a baseline says little of today.
const AGE_MAX_DAYS: i64 = 180;

/// Further back than this, too.
const DISTANCE_MAX: u32 = 1000;

/// Whether a baseline is so old, or so many commits back, that a new one should be promoted.
pub fn ageing(header: &Header, now: Timestamp, distance: Option<u32>) -> Option<Notice> {
    let days = header.recorded.map(|recorded| now.duration_since(recorded).as_hours() / 24);
    let mut past = Vec::new();
    past.extend(days.filter(|days| AGE_MAX_DAYS < *days).map(|days| format!("{days} days old")));
    past.extend(
        distance.filter(|n| DISTANCE_MAX < *n).map(|distance| format!("{distance} commits back")),
    );
    (!past.is_empty()).then(|| {
        Notice::new(
            "old-baseline",
            format!("the stored baseline {} is {}", header.label, past.join(" and ")),
            format!(
                "promote a new one with each release; after {AGE_MAX_DAYS} days or {DISTANCE_MAX} commits it hides much"
            ),
        )
    })
}

fn header(first: &str, text: &str) -> Result<Header> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let damaged = |error: serde_json::Error| {
        Error::judge(format!("{}, or from the repository", unplaced(&error)))
    };
    let Schema { schema } = serde_json::from_str(first).map_err(damaged)?;
    match schema.strip_prefix(FORMAT).and_then(|version| version.parse::<u32>().ok()) {
        Some(version) if (1..=VERSION).contains(&version) => {}
        Some(version) if VERSION < version => {
            return Err(Error::judge(format!(
                "it is version {version} of the format and this pacegate reads up to {VERSION}; update pacegate"
            )));
        }
        _ => {
            return Err(Error::judge(format!(
                "the format is `{schema}`, which is no stored baseline; promote one"
            )));
        }
    }
    let line: FirstLine = serde_json::from_str(first).map_err(damaged)?;
    let blank = text.replacen(&line.checksum, "", usize::from(!line.checksum.is_empty()));
    if checksum(&blank) != line.checksum {
        return Err(Error::judge(
            "its checksum does not fit: it was changed or cut off after it was written; take it from the repository's \
             history, or promote a new one",
        ));
    }
    Ok(line.header)
}

fn one_series(line: &str, before: Option<&Series>, limits: &Limits) -> Result<Series> {
    let series: Series =
        serde_json::from_str(line).map_err(|error| Error::judge(unplaced(&error)))?;
    check(&series)?;
    if before.is_some_and(|before| (&series.id, &series.metric) <= (&before.id, &before.metric)) {
        return Err(Error::judge(format!(
            "{} does not come after the line before it; promote a new one",
            series.id
        )));
    }
    if limits.samples < series.evidence.len() {
        return Err(Error::judge(format!(
            "{}: {} launches, more than the {} that are read; promote a smaller run",
            series.id,
            series.evidence.len(),
            limits.samples
        )));
    }
    Ok(series)
}

/// What a baseline keeps: finite scores of launches that were made alone, and exact values; at least one.
fn check(series: &Series) -> Result<()> {
    let kept = matches!(series.evidence, Evidence::Scored(_) | Evidence::Exact(_));
    let why = if !kept || series.experiment != Experiment::Plain {
        "holds launches that were not made alone"
    } else if series.evidence.is_empty() {
        "holds no launch"
    } else if !is_finite(&series.evidence) {
        "holds a value that is not finite"
    } else {
        return Ok(());
    };
    Err(Error::judge(format!(
        "{} {} {why}, which no baseline keeps; promote evidence of `pacegate run`",
        series.id, series.metric.name
    )))
}

/// SHA-256 over the lines, whatever ends them.
fn checksum(text: &str) -> String {
    let mut hash = Sha256::new();
    for line in text.lines() {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// The folder of baselines. It need not exist.
#[derive(Clone, Debug)]
pub struct Baselines {
    folder: PathBuf,
}

/// A baseline by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its class.
    pub class: Label,
    /// Its name.
    pub label: Label,
}

/// Which baseline of each class is the current one.
pub type Index = BTreeMap<Label, Label>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexFile {
    #[serde(default)]
    schema: Option<Spanned<String>>,
    #[serde(default)]
    current: Option<BTreeMap<String, Spanned<String>>>,
}

impl Baselines {
    /// The baselines in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Baselines { folder: folder.into() }
    }

    /// Where a baseline lies.
    pub fn path(&self, place: &Place) -> PathBuf {
        self.folder.join(place.class.to_string()).join(format!("{}.jsonl", place.label))
    }

    /// The current baseline of each class; empty where there is no index.
    ///
    /// # Errors
    ///
    /// A usage error that names file, line and key.
    pub fn index(&self) -> Result<Index> {
        let path = self.index_path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Index::new()),
            Err(error) => return Err(Error::usage(format!("{}: {error}", path.display()))),
        };
        parse_index(&text).map_err(|fault| fault.show(&text, &path.display().to_string()))
    }

    /// The current baseline of a class, where it has one.
    ///
    /// # Errors
    ///
    /// When the index or the baseline cannot be read.
    pub fn current(&self, class: &Label, limits: &Limits) -> Result<Option<Baseline>> {
        let Some(label) = self.index()?.remove(class) else { return Ok(None) };
        self.read(&Place { class: class.clone(), label }, limits).map(Some)
    }

    /// Reads the baseline at a place.
    ///
    /// # Errors
    ///
    /// As [`Baseline::read`], and where what the file says of itself is not where it lies.
    pub fn read(&self, place: &Place, limits: &Limits) -> Result<Baseline> {
        let path = self.path(place);
        let baseline = Baseline::read(&path, limits)?;
        let Header { class, label, .. } = &baseline.header;
        if (class, label) != (&place.class, &place.label) {
            return Err(Error::judge(format!(
                "{}: it says that it is {class}/{label}; put it back there",
                path.display()
            )));
        }
        Ok(baseline)
    }

    /// Every baseline there is, sorted by class and label.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read.
    pub fn places(&self) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        for class in names(&self.folder)? {
            let folder = self.folder.join(&class);
            let Ok(class) = class.parse::<Label>() else { continue };
            if !folder.is_dir() {
                continue;
            }
            for file in names(&folder)? {
                if let Some(label) =
                    file.strip_suffix(".jsonl").and_then(|label| label.parse().ok())
                {
                    places.push(Place { class: class.clone(), label });
                }
            }
        }
        places.sort();
        Ok(places)
    }

    /// The baseline that people call by a name: `LABEL` where one class alone has it, or `CLASS/LABEL`; none where no
    /// baseline is called so.
    ///
    /// # Errors
    ///
    /// When several classes have it, or a folder cannot be read.
    pub fn find(&self, name: &str) -> Result<Option<Place>> {
        let (class, label) =
            name.rsplit_once('/').map_or((None, name), |(class, label)| (Some(class), label));
        let wanted = |place: &Place| {
            place.label.to_string() == label
                && class.is_none_or(|class| place.class.to_string() == class)
        };
        let found: Vec<Place> = self.places()?.into_iter().filter(wanted).collect();
        match found.as_slice() {
            [] => Ok(None),
            [place] => Ok(Some(place.clone())),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|place| format!("{}/{}", place.class, place.label))
                    .collect();
                Err(Error::usage(format!(
                    "several classes have a baseline `{label}`; name one of `{}`",
                    names.join("`, `")
                )))
            }
        }
    }

    /// Keeps a new baseline and makes it the current one of its class.
    ///
    /// # Errors
    ///
    /// When there is one of this name already, or nothing can be written.
    pub fn add(&self, baseline: &Baseline) -> Result<PathBuf> {
        let place =
            Place { class: baseline.header.class.clone(), label: baseline.header.label.clone() };
        let text = baseline.to_text()?;
        let mut index = self.index()?;
        let path = self.path(&place);
        let folder = path.parent().expect("a baseline lies in the folder of its class");
        fs::create_dir_all(folder).context(|| folder.display().to_string())?;
        let mut file =
            tempfile::NamedTempFile::new_in(folder).context(|| folder.display().to_string())?;
        file.write_all(text.as_bytes()).context(|| folder.display().to_string())?;
        readable_by_all(file.as_file()).context(|| folder.display().to_string())?;
        file.persist_noclobber(&path).map_err(|error| {
            if error.error.kind() == std::io::ErrorKind::AlreadyExists {
                return Error::usage(format!(
                    "{}: there is one already, and a baseline is never written again; choose another label",
                    path.display()
                ));
            }
            Error::judge(format!("{}: {}", path.display(), error.error))
        })?;
        index.insert(place.class, place.label);
        self.write_index(&index)?;
        Ok(path)
    }

    /// Deletes a baseline.
    ///
    /// # Errors
    ///
    /// When it cannot be deleted.
    pub fn remove(&self, place: &Place) -> Result<()> {
        let path = self.path(place);
        fs::remove_file(&path).context(|| path.display().to_string())
    }

    fn index_path(&self) -> PathBuf {
        self.folder.join("index.yaml")
    }

    fn write_index(&self, index: &Index) -> Result<()> {
        let mut text = format!(
            "# The current baseline of each runner class. Written by `pacegate baseline promote`.\n\
             schema: {INDEX_SCHEMA}\ncurrent:\n"
        );
        for (class, label) in index {
            // A label such as 1.10 is no number.
            let _ = writeln!(text, "  \"{class}\": \"{label}\"");
        }
        replace(&self.index_path(), &text)
    }
}

fn parse_index(text: &str) -> Result<Index, Fault> {
    let file =
        from_yaml::<Option<IndexFile>>(text)?.unwrap_or(IndexFile { schema: None, current: None });
    if let Some(schema) = file.schema.filter(|schema| schema.value != INDEX_SCHEMA) {
        let message = format!("`{}` is not `{INDEX_SCHEMA}`; update pacegate", schema.value);
        return Err(Fault::at(&schema, message));
    }
    let current = file.current.unwrap_or_default().into_iter().map(|(class, label)| {
        let at = |message: String| Fault::at(&label, message);
        Ok((class.parse().map_err(at)?, label.value.parse().map_err(at)?))
    });
    current.collect()
}

/// The names in a folder; none where there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::judge(format!("{}: {error}", folder.display()))),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.context(|| folder.display().to_string())?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

/// Puts a whole new file in the place of another, so that no reader meets half of one.
pub(super) fn replace(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        readable_by_all(file.as_file())?;
        file.persist(path).map_err(|error| Error::from(error.error))?;
        Ok(())
    };
    write().context(|| path.display().to_string())
}

/// A temporary file is its owner's alone; what is committed is everybody's.
fn readable_by_all(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{BenchmarkId, Better, Metric, Score, Unit};

    const LIMITS: Limits = Limits { benchmarks: 2, samples: 5, bytes: 1 << 20 };

    fn label(text: &str) -> Label {
        text.parse().unwrap()
    }

    fn scored(name: &str, scores: &[f64]) -> Series {
        let score = |&score| Score { score, samples: 40, grain: 0.0 };
        Series {
            id: BenchmarkId::new("parser", name),
            metric: Metric::time(),
            experiment: Experiment::Plain,
            evidence: Evidence::Scored(scores.iter().map(score).collect()),
            looks: Vec::new(),
        }
    }

    fn small() -> Baseline {
        let hard = [("cpu", "EPYC 7763"), ("rustc", "1.95.0"), ("class", "metal")];
        let hard = hard.map(|(fact, value)| (fact.to_owned(), value.to_owned()));
        Baseline {
            header: Header {
                label: label("1.4.0"),
                class: label("metal"),
                pacegate: "0.1.0".into(),
                recorded: Some("2026-11-30T12:00:00Z".parse().unwrap()),
                revision: Revision {
                    id: "3f2c8".repeat(8),
                    name: "HEAD (3f2c83f)".into(),
                    distance: None,
                },
                environment: Environment { hard: hard.into(), ..Environment::default() },
                executables: BTreeMap::from([("parser".into(), "ab12".into())]),
                statistic: Statistic::default(),
                profile: Some("default".into()),
                provenance: Provenance { evidence: "cd34".into(), ..Provenance::default() },
            },
            series: vec![
                scored("large", &[3100.5, 3101.25, 3099.75, 3100.0, 3102.5]),
                scored("small", &[12.5, 12.625, 12.375]),
            ],
        }
    }

    /// Reads the small file after a change of its text that the checksum knows of, and looks at the message.
    #[track_caller]
    fn check(from: &str, to: &str, limits: Limits, message: &str) {
        let text = small().to_text().unwrap();
        assert!(text.contains(from), "{text}");
        let text = text.replacen(from, to, 1);
        let error = Baseline::parse(&signed(&text), &limits).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }

    /// The text with the checksum that fits it.
    fn signed(text: &str) -> String {
        let at = text.find("\"checksum\":\"").unwrap() + "\"checksum\":\"".len();
        let blank = format!("{}{}", &text[..at], &text[at + 64..]);
        format!("{}{}{}", &text[..at], checksum(&blank), &text[at + 64..])
    }

    #[test]
    fn one_metric_of_one_benchmark_a_line_in_order() {
        let mut turned = small();
        turned.series.reverse();
        let text = turned.to_text().unwrap();
        assert_eq!(text, small().to_text().unwrap());
        assert_eq!(signed(&text), text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0]
                .starts_with(r#"{"schema":"pacegate.baseline/1","label":"1.4.0","class":"metal","#)
        );
        assert!(
            lines[1].starts_with(r#"{"id":{"suite":"parser","name":"large"},"#),
            "{}",
            lines[1]
        );
        assert!(looks_like(text.as_bytes()));
    }

    #[test]
    fn line_ends_of_a_checkout_change_nothing() {
        let text = small().to_text().unwrap();
        assert_eq!(Baseline::parse(&text.replace('\n', "\r\n"), &LIMITS), Ok(small()));
    }

    #[test]
    fn errors_name_the_line_and_what_to_do() {
        check(
            "baseline/1",
            "baseline/2",
            LIMITS,
            "line 1: it is version 2 of the format and this pacegate reads up to 1; update",
        );
        check(
            "baseline/1",
            "baseline/0",
            LIMITS,
            "line 1: the format is `pacegate.baseline/0`, which is no stored baseline",
        );
        check("pacegate.baseline/1", "nonsense/1", LIMITS, "line 1: the format is `nonsense/1`");
        check("\"label\"", "\"lable\"", LIMITS, "line 1: column ");
        check("\"scored\"", "\"sampled\"", LIMITS, "line 2: column ");
        check(
            "\"plain\"",
            "\"corun\"",
            LIMITS,
            "line 2: parser::large time holds launches that were not made alone",
        );
        check(
            "large",
            "tall",
            LIMITS,
            "line 3: parser::small does not come after the line before it",
        );
        check("large", "small", LIMITS, "line 3: parser::small does not come after");
        let emptied = r#"[{"score":12.5,"samples":40},{"score":12.625,"samples":40},{"score":12.375,"samples":40}]"#;
        check(emptied, "[]", LIMITS, "line 3: parser::small time holds no launch");
        assert!(Baseline::parse("", &LIMITS).is_err());
    }

    #[test]
    fn limits_hold_at_the_limit_and_one_past_it() {
        let bytes = small().to_text().unwrap().len() as u64;
        let limits = Limits { bytes, ..LIMITS };
        assert_eq!(Baseline::parse(&small().to_text().unwrap(), &limits), Ok(small()));
        check("", "", Limits { bytes: bytes - 1, ..limits }, "it is larger than the");
        check("", "", Limits { benchmarks: 1, ..limits }, "it has 2 benchmarks, more than the 1");
        check(
            "",
            "",
            Limits { samples: 4, ..limits },
            "line 2: parser::large: 5 launches, more than the 4",
        );
    }

    #[test]
    fn what_no_baseline_keeps_is_not_written() {
        let refused =
            |series: Vec<Series>| Baseline { series, ..small() }.to_text().unwrap_err().to_string();
        assert!(refused(Vec::new()).starts_with("there is nothing to keep"));
        assert!(refused(vec![scored("a", &[f64::NAN])]).contains("not finite"));
        let corun = Series { experiment: Experiment::Corun, ..scored("a", &[1.0]) };
        assert!(refused(vec![corun]).contains("not made alone"));
    }

    #[test]
    fn a_baseline_is_never_written_again_and_the_index_names_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let baselines = Baselines::at(folder.path().join("baselines"));
        assert_eq!(baselines.index(), Ok(Index::new()));
        assert_eq!(baselines.current(&label("metal"), &LIMITS), Ok(None));
        let path = baselines.add(&small()).unwrap();
        let before = fs::read(&path).unwrap();
        let error = baselines.add(&small()).unwrap_err();
        assert!(error.to_string().contains("never written again"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);

        let mut next = small();
        next.header.label = label("1.10");
        baselines.add(&next).unwrap();
        let mut other = small();
        other.header.class = label("vm");
        baselines.add(&other).unwrap();
        let current = |class: &str| baselines.current(&label(class), &LIMITS).unwrap().unwrap();
        assert_eq!((current("metal"), current("vm")), (next, other));
        let names =
            |name: &str| baselines.find(name).map(|place| place.map(|p| p.class.to_string()));
        assert_eq!(names("1.10"), Ok(Some("metal".into())));
        assert_eq!(names("vm/1.4.0"), Ok(Some("vm".into())));
        assert_eq!(names("1.5.0"), Ok(None));
        assert!(names("1.4.0").unwrap_err().to_string().contains("`metal/1.4.0`, `vm/1.4.0`"));
        assert_eq!(baselines.places().unwrap().len(), 3);

        fs::rename(&path, path.with_file_name("1.5.0.jsonl")).unwrap();
        let moved = Place { class: label("metal"), label: label("1.5.0") };
        let error = baselines.read(&moved, &LIMITS).unwrap_err().to_string();
        assert!(error.contains("it says that it is metal/1.4.0"), "{error}");
    }

    #[test]
    fn mistakes_in_the_index_are_shown_with_their_place() {
        let check = |text: &str, words: &str| {
            let error =
                parse_index(text).map_err(|fault| fault.show(text, "index.yaml").to_string());
            let error = error.unwrap_err();
            assert!(error.starts_with("index.yaml:") && error.contains(words), "{error}");
        };
        check("schema: pacegate.baselines/2\n", "1:9: `pacegate.baselines/2` is not");
        check("current:\n  metal: ../x\n", "2:10: `../x` is no name for a folder");
        check("curent: {}\n", "did you mean `current`?");
        assert_eq!(parse_index("").map_err(|_| ()), Ok(Index::new()));
    }

    #[test]
    fn b65_age_and_distance_are_told_past_their_limits() {
        let header = small().header;
        let check = |days: i64, distance: Option<u32>, expected: Option<&str>| {
            let now = header.recorded.unwrap() + jiff::SignedDuration::from_hours(24 * days);
            let seen = ageing(&header, now, distance).map(|notice| notice.seen);
            assert_eq!(seen.as_deref(), expected);
        };
        check(180, Some(1000), None);
        check(181, None, Some("the stored baseline 1.4.0 is 181 days old"));
        check(0, Some(1001), Some("the stored baseline 1.4.0 is 1001 commits back"));
        check(
            200,
            Some(2000),
            Some("the stored baseline 1.4.0 is 200 days old and 2000 commits back"),
        );
    }

    fn series() -> impl Strategy<Value = Vec<Series>> {
        let number = || prop::num::f64::POSITIVE | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
        let scores =
            prop::collection::vec((number(), any::<u32>(), number()), 1..5).prop_map(|all| {
                let score = |(score, samples, grain)| Score { score, samples, grain };
                Evidence::Scored(all.into_iter().map(score).collect())
            });
        let exact = prop::collection::vec(number(), 1..5).prop_map(Evidence::Exact);
        let key = (any::<(String, String)>(), any::<String>());
        let all = prop::collection::btree_map(key, prop_oneof![scores, exact], 1..4);
        all.prop_map(|all| {
            let one =
                |(((suite, name), metric), evidence): (((String, String), String), Evidence)| {
                    let unit = Unit::new("ns");
                    Series {
                        id: BenchmarkId::new(suite, name),
                        metric: Metric { name: metric, unit, better: Better::Lower },
                        experiment: Experiment::Plain,
                        evidence,
                        looks: Vec::new(),
                    }
                };
            all.into_iter().map(one).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read(series in series(), facts in any::<BTreeMap<String, String>>(), because in any::<Option<String>>()) {
            let mut baseline = Baseline { series, ..small() };
            baseline.header.environment.soft = facts;
            baseline.header.provenance.because = because;
            let limits = Limits { benchmarks: 4, ..LIMITS };
            let text = baseline.to_text().unwrap();
            let read = Baseline::parse(&text, &limits).unwrap();
            prop_assert_eq!(read.to_text().unwrap(), text);
            prop_assert_eq!(read, baseline);
        }

        #[test]
        fn any_change_is_noticed(at in any::<prop::sample::Index>(), byte in 0x20u8..0x7f) {
            let text = small().to_text().unwrap();
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len() - 1);
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert!(Baseline::parse(&changed, &LIMITS).is_err());
            prop_assert!(Baseline::parse(&text[..at], &LIMITS).is_err());
        }
    }
}
