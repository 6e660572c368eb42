//! Reads what others measured: files and folders become a [`Run`], told apart by what is in them.
//!
//! One file for each tool; each begins with the shape that it reads. Foreign shapes stay private to their file.

pub mod criterion;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result};
use crate::model::{Metric, Run};
use crate::store::Limits;
use crate::store::evidence::{self, EvidenceFile};

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

/// The kinds of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A file that pacegate wrote.
    Evidence,
    /// A tree of folders that criterion wrote.
    Criterion,
}

/// Tells what an input is by what is in it, never by its name.
///
/// # Errors
///
/// When it cannot be opened, or is none of the kinds; the message says what was looked for.
pub fn detect(path: &Path) -> Result<Format> {
    let shown = || path.display().to_string();
    if fs::metadata(path).context(shown)?.is_dir() {
        return Ok(Format::Criterion);
    }
    let mut start = Vec::new();
    File::open(path).context(shown)?.take(64).read_to_end(&mut start).context(shown)?;
    if evidence::looks_like(&start) {
        return Ok(Format::Evidence);
    }
    Err(Error::judge(format!(
        "{}: neither an evidence file (its first line would begin with {{\"schema\":\"{}\") nor a folder with criterion's benchmark.json files; name one of these",
        path.display(),
        evidence::SCHEMA
    )))
}

/// Reads one side of a comparison.
///
/// # Errors
///
/// When the input cannot be read, is of no known kind, or holds no such part.
pub fn read(spec: &Spec, options: &Options) -> Result<Run> {
    match detect(&spec.path)? {
        Format::Criterion => criterion::read(&spec.path, spec.part.as_deref(), options),
        Format::Evidence => {
            let file = EvidenceFile::read(&spec.path, &options.limits)?;
            arm(file, spec.part.as_deref()).context(|| spec.path.display().to_string())
        }
    }
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
