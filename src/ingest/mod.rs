//! Reads what others measured: files and folders become a [`Run`], told apart by what is in them.
//!
//! One file for each tool; each begins with the shape that it reads. Foreign shapes stay private to their file.

mod asv;
mod benchmarkdotnet;
mod bmf;
mod cargo;
mod cargo_criterion;
mod catch2;
mod catch2_xml;
mod copies;
mod critcmp;
pub mod criterion;
mod criterion_text;
mod divan;
mod found;
mod github_action_benchmark;
mod go;
mod google_benchmark;
mod gungraun;
mod hyperfine;
mod iai;
mod import;
mod input;
mod jmh;
mod jmh_text;
mod libtest;
mod pytest;
mod serializers;
#[cfg(test)]
mod testing;
mod unit;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result};
use crate::model::{Metric, Notice, Run};
use crate::store::Limits;
use crate::store::baseline::{self, Baseline};
use crate::store::evidence::{self, EvidenceFile};

pub use import::schema as import_schema;

use found::Found;
use input::{Input, Shape};

/// One input as it is written on a command line: `PATH` or `PATH:PART`.
///
/// ```
/// use pacegate::ingest::Spec;
/// let spec = Spec::parse(".:main");
/// assert_eq!((spec.path.to_str(), spec.part.as_deref()), (Some("."), Some("main")));
/// assert_eq!(Spec::parse(r"C:\results").part, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// File or folder.
    pub path: PathBuf,
    /// Which measurement in it: a baseline of a criterion tree, an arm of an evidence file.
    pub part: Option<String>,
}

impl Spec {
    /// Takes a text apart. What exists under the whole text is a path, colons or not; a part follows the last
    /// colon, after which there is no separator (so that `C:\results` stays whole).
    pub fn parse(text: &str) -> Self {
        if let Some((path, part)) = text.rsplit_once(':')
            && !part.is_empty()
            && !part.contains(['/', '\\'])
            && !Path::new(text).exists()
            && Path::new(path).exists()
        {
            return Spec { path: path.into(), part: Some(part.into()) };
        }
        Spec { path: text.into(), part: None }
    }
}

/// What is told to a reader beside the input itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Suite of inputs that do not name one.
    pub suite: String,
    /// What was measured, for inputs that do not say so: criterion names a unit in `raw.csv` only.
    pub metric: Option<Metric>,
    /// How much to take.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options { suite: String::new(), metric: None, limits: Limits::OWN }
    }
}

/// A file format that a tool writes: how to know it, and how to read it.
///
/// Every format is one of these in [`FORMATS`]; each lives in the file of its tool.
struct Format {
    /// What people call it: `JMH JSON`.
    name: &'static str,
    /// Words that such a file holds, to guess by when nobody claims a file.
    signs: &'static [&'static str],
    /// Whether a file is of this format. No file is claimed by two.
    claims: fn(&Input) -> bool,
    /// Takes the benchmarks out of it.
    read: fn(&Input, &mut Found<'_>) -> Result<()>,
}

/// Every format that is one file, in the order of the documentation. Criterion's tree is a folder and pacegate's own
/// evidence is packed, so both are told apart before.
const FORMATS: &[&Format] = &[
    &asv::FORMAT,
    &benchmarkdotnet::FORMAT,
    &bmf::FORMAT,
    &cargo_criterion::FORMAT,
    &catch2::FORMAT,
    &catch2_xml::FORMAT,
    &critcmp::FORMAT,
    &criterion_text::FORMAT,
    &divan::FORMAT,
    &github_action_benchmark::FORMAT,
    &github_action_benchmark::HISTORY,
    &go::FORMAT,
    &go::EVENTS,
    &google_benchmark::FORMAT,
    &gungraun::JSON,
    &gungraun::TEXT,
    &hyperfine::FORMAT,
    &iai::FORMAT,
    &import::FORMAT,
    &jmh::FORMAT,
    &jmh_text::FORMAT,
    &jmh_text::CSV,
    &libtest::FORMAT,
    &pytest::FORMAT,
    &serializers::FORMAT,
];

/// Reads one side of a comparison. Of a history it is the newest revision, or the one that begins with the wanted
/// part, with all of its runs.
///
/// # Errors
///
/// When the input cannot be read, is of no known kind, or holds no such part.
pub fn read(spec: &Spec, options: &Options) -> Result<Run> {
    let shown = || spec.path.display().to_string();
    let runs = match source(&spec.path)? {
        Source::Folder => {
            return criterion::read(&spec.path, spec.part.as_deref(), options);
        }
        Source::Evidence => {
            let file = EvidenceFile::read(&spec.path, &options.limits)?;
            return arm(file, spec.part.as_deref()).context(shown);
        }
        Source::Baseline => {
            return Ok(Baseline::read(&spec.path, &options.limits)?.to_run());
        }
        Source::File => read_file(&spec.path, options)?,
    };
    let total = runs.len();
    let part = spec.part.as_deref();
    let id = |run: &Run| run.revision.as_ref().map(|revision| revision.id.clone());
    let wanted =
        |run: &&Run| part.is_none_or(|part| id(run).is_some_and(|id| id.starts_with(part)));
    let Some(newest) = runs.iter().rfind(wanted).map(id) else {
        return Err(Error::usage(format!(
            "{}: none of its {total} runs is of revision `{}`; name one of these or none",
            shown(),
            part.unwrap_or_default()
        )));
    };
    // A revision that was measured again keeps its first results: the runs are launches of one side.
    let mut same: Vec<Run> = runs.into_iter().filter(|run| id(run) == newest).collect();
    let repeats = same.len();
    let mut run = if newest.is_some() {
        Run::merged(same)
    } else {
        same.pop().expect("the newest is one of them")
    };
    if total > 1 && part.is_none() {
        let revision = run.revision.as_ref().map_or("the last", |revision| &revision.name);
        run.notices.push(Notice::new(
            "history",
            format!("{} holds {total} runs; taken is {revision} ({repeats} of them)", shown()),
            "name another one by its revision after a colon",
        ));
    }
    Ok(run)
}

/// Reads every run of a file, in its order: one of most formats, many of a history.
///
/// # Errors
///
/// When the file cannot be read or is of no known format; the message has the nearest guesses.
pub fn read_file(path: &Path, options: &Options) -> Result<Vec<Run>> {
    read_input(Input::read(path, &options.limits)?, options)
}

/// A run, and when it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The run.
    pub run: Run,
    /// When it was made, in seconds since 1970, where the file says so.
    pub at_s: Option<i64>,
}

/// Reads every run of a file with the time that it was made at.
///
/// # Errors
///
/// As [`read_file`].
pub fn read_history(path: &Path, options: &Options) -> Result<Vec<Made>> {
    read_made(Input::read(path, &options.limits)?, options)
}

/// Reads every run of a file that is at hand as bytes; `name` is what messages call it.
///
/// # Errors
///
/// As [`read_file`].
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &Options) -> Result<Vec<Run>> {
    read_input(Input::decode(name.to_owned(), bytes)?, options)
}

/// The name of the format that a file has, for people.
///
/// # Errors
///
/// As [`read_file`].
pub fn format_name(path: &Path, options: &Options) -> Result<&'static str> {
    match source(path)? {
        Source::Folder => Ok("criterion tree"),
        Source::Evidence => Ok("pacegate evidence"),
        Source::Baseline => Ok("stored baseline"),
        Source::File => Ok(detect(&mut Input::read(path, &options.limits)?)?.name),
    }
}

/// Whether a path is a stored baseline.
pub fn is_baseline(path: &Path) -> bool {
    matches!(source(path), Ok(Source::Baseline))
}

/// The names of the formats that one file may have, for people.
pub fn formats() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Reads bytes as the format of this name whatever they look like: for tools that know it, such as a fuzzer.
///
/// # Errors
///
/// As [`read_file`], and when no format has this name.
pub fn read_bytes_as(format: &str, bytes: Vec<u8>, options: &Options) -> Result<Vec<Run>> {
    let known = FORMATS.iter().copied().find(|known| known.name == format);
    let known = known.ok_or_else(|| Error::usage(format!("no format is called `{format}`")))?;
    Ok(runs(read_as(known, Input::decode(format.to_owned(), bytes)?, options)?))
}

fn read_input(input: Input, options: &Options) -> Result<Vec<Run>> {
    Ok(runs(read_made(input, options)?))
}

fn runs(made: Vec<Made>) -> Vec<Run> {
    made.into_iter().map(|made| made.run).collect()
}

fn read_made(mut input: Input, options: &Options) -> Result<Vec<Made>> {
    let format = detect(&mut input)?;
    read_as(format, input, options)
}

fn read_as(format: &Format, mut input: Input, options: &Options) -> Result<Vec<Made>> {
    let name = input.name.clone();
    let mut found = Found::new(&name, options);
    let mut read = (format.read)(&input, &mut found);
    if read.is_err() && input.quote_no_numbers() {
        found = Found::new(&name, options);
        read = (format.read)(&input, &mut found);
    }
    read?;
    found.finish(format.name).map_err(|error| error.within(&*name))
}

/// Tells what a file is by what is in it, never by its name.
fn detect(input: &mut Input) -> Result<&'static Format> {
    let claimants = |input: &Input| -> Vec<&Format> {
        FORMATS.iter().copied().filter(|format| (format.claims)(input)).collect()
    };
    let mut claims = claimants(input);
    if claims.is_empty() && input.look_closer() {
        claims = claimants(input);
    }
    match claims.as_slice() {
        [format] => return Ok(format),
        [] => {}
        several => {
            let names: Vec<&str> = several.iter().map(|format| format.name).collect();
            return Err(Error::judge(format!(
                "it could be {}; give the output of one tool alone",
                names.join(" or ")
            ))
            .within(&*input.name));
        }
    }
    let broken = match &input.shape {
        Shape::Broken(message) => {
            format!("it begins as JSON, but {message}; measure again or mend it")
        }
        Shape::Json(outline) if outline.keys.is_empty() => {
            "it is JSON, but no object with keys".to_owned()
        }
        Shape::Json(outline) => {
            let keys: Vec<&str> = outline.keys.iter().take(6).map(String::as_str).collect();
            format!(
                "it is JSON with the keys `{}`, which no tool writes that is known here",
                keys.join("`, `")
            )
        }
        Shape::Text => match input.lines().find(|(_, line)| !line.trim().is_empty()) {
            Some((number, line)) => {
                let line: String = line.trim().chars().take(60).collect();
                format!("no line of it is a result of a known tool; line {number} is `{line}`")
            }
            None => "it is empty; measure again".to_owned(),
        },
    };
    let glance = input.glance();
    let mut guesses: Vec<(usize, &str)> = FORMATS
        .iter()
        .map(|format| {
            (format.signs.iter().filter(|sign| glance.contains(**sign)).count(), format.name)
        })
        .filter(|&(signs, _)| signs > 0)
        .collect();
    guesses.sort_by_key(|&(signs, _)| std::cmp::Reverse(signs));
    let guess = match guesses.as_slice() {
        [] => "`pacegate compare --help` lists what is read".to_owned(),
        nearest => {
            let names: Vec<&str> = nearest.iter().take(3).map(|&(_, name)| name).collect();
            format!("it looks most like {}", names.join(", then "))
        }
    };
    Err(Error::judge(format!("{broken}; {guess}")).within(&*input.name))
}

/// The kinds of input.
enum Source {
    /// A file that pacegate wrote.
    Evidence,
    /// A baseline that pacegate stored.
    Baseline,
    /// A tree of folders that criterion wrote.
    Folder,
    /// The output of a tool.
    File,
}

fn source(path: &Path) -> Result<Source> {
    let shown = || path.display().to_string();
    if fs::metadata(path).context(shown)?.is_dir() {
        return Ok(Source::Folder);
    }
    let mut start = Vec::new();
    File::open(path).context(shown)?.take(64).read_to_end(&mut start).context(shown)?;
    Ok(match start.as_slice() {
        start if baseline::looks_like(start) => Source::Baseline,
        start if evidence::looks_like(start) => Source::Evidence,
        _ => Source::File,
    })
}

/// The wanted run of an evidence file, or its only one.
fn arm(file: EvidenceFile, part: Option<&str>) -> Result<Run> {
    let names: Vec<String> = file.runs.keys().map(ToString::to_string).collect();
    let mut runs =
        file.runs.into_iter().filter(|(arm, _)| part.is_none_or(|p| p == arm.to_string()));
    match (runs.next(), runs.next()) {
        (Some((_, run)), None) => Ok(run),
        (None, _) if names.is_empty() => Err(Error::judge("it holds no run; measure again")),
        _ => Err(Error::usage(format!(
            "it holds the runs `{}`; name one of them after a colon",
            names.join("`, `")
        ))),
    }
}
