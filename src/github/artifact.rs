//! The evidence that a run left: found, downloaded and unpacked in memory, as the work of a stranger. Nothing of it
//! touches the disk.

use std::io::{Cursor, Read};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::client::{Client, Failure};
use super::run::Run;
use crate::model::Series;
use crate::store::evidence::{Ending, EvidenceFile};
use crate::store::{Limits, hex};

/// What the artifact is called, before the attempt.
const PREFIX: &str = "pacegate-evidence-";

/// The one file in it.
const ENTRY: &str = "evidence.jsonl.zst";

/// Largest artifact that is downloaded.
const PACKED_MAX: u64 = 5 << 20;

/// Entries of an archive above which nobody looks at them.
const ENTRIES_MAX: usize = 4;

/// Largest ratio of unpacked to packed bytes; evidence is packed already.
const RATIO_MAX: u64 = 200;

/// Why there is no evidence.
#[derive(Debug)]
pub(super) enum Missing {
    /// The run left none.
    None,
    /// It is not to be believed, or not to be read.
    Refused(String),
    /// GitHub did not hand it over.
    Failed(Failure),
}

#[derive(Deserialize)]
struct Artifact {
    id: u64,
    name: String,
    size_in_bytes: u64,
    expired: bool,
    #[serde(default)]
    digest: Option<String>,
    workflow_run: Option<Of>,
}

#[derive(Deserialize)]
struct Of {
    id: Option<u64>,
    head_sha: Option<String>,
}

/// Evidence, and the attempt of the run that measured it.
pub(super) fn evidence(client: &Client, run: &Run) -> Result<(EvidenceFile, u64), Missing> {
    let all: Vec<Artifact> = client
        .list(&format!("actions/runs/{}/artifacts", run.id), Some("artifacts"))
        .map_err(Missing::Failed)?;
    // Where only other jobs were run again, an earlier attempt holds the evidence.
    let attempt = |artifact: &Artifact| -> Option<u64> {
        let attempt = artifact.name.strip_prefix(PREFIX)?.parse().ok()?;
        (1..=run.attempt).contains(&attempt).then_some(attempt)
    };
    let Some(newest) = all.iter().filter_map(attempt).max() else { return Err(Missing::None) };
    let mut named = all.iter().filter(|artifact| attempt(artifact) == Some(newest));
    let artifact = named.next().expect("the newest is one of them");
    let name = &artifact.name;
    if named.next().is_some() {
        return Err(Missing::Refused(format!("the run has two artifacts `{name}`; upload one")));
    }
    let of = artifact.workflow_run.as_ref();
    let is_of = |of: &Of| of.id == Some(run.id) && of.head_sha.as_deref() == Some(run.sha.as_ref());
    if !of.is_some_and(is_of) {
        return Err(Missing::Refused(format!("the artifact `{name}` is of another run or commit")));
    }
    if artifact.expired {
        return Err(Missing::Refused(format!(
            "the artifact `{name}` has expired; run the benches again"
        )));
    }
    if PACKED_MAX < artifact.size_in_bytes {
        return Err(Missing::Refused(format!(
            "the artifact `{name}` has {} bytes, more than the {PACKED_MAX} that are read; split the suite",
            artifact.size_in_bytes
        )));
    }
    let route = format!("actions/artifacts/{}/zip", artifact.id);
    let bytes = client.download(&route, PACKED_MAX as usize).map_err(Missing::Failed)?;
    if let Some(wanted) =
        artifact.digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"))
    {
        let found = hex(&Sha256::digest(&bytes));
        if !found.eq_ignore_ascii_case(wanted) {
            return Err(Missing::Refused(format!(
                "the artifact `{name}` is not what was uploaded: its SHA-256 differs; run the benches again"
            )));
        }
    }
    let refused =
        |why: String| Missing::Refused(format!("the artifact `{name}` is refused: {why}"));
    let packed = unzip(bytes).map_err(refused)?;
    let file = EvidenceFile::from_reader(Cursor::new(packed), &Limits::UNTRUSTED)
        .map_err(|error| refused(error.to_string()))?;
    if file.ending == Ending::Interrupted {
        return Err(Missing::Refused(
            "the session was interrupted before its end; run the benches again".into(),
        ));
    }
    // Which looks were made is the evidence's to say, but not how much error each may spend.
    let spent = |series: &Series| -> f64 { series.looks.iter().map(|look| look.weight).sum() };
    let mut all = file.runs.values().flat_map(|run| &run.series);
    if let Some(series) = all.find(|series| !(0.0..=1.0 + 1e-9).contains(&spent(series))) {
        return Err(refused(format!("the looks at {} spend more than their share", series.id)));
    }
    Ok((file, newest))
}

/// The one file of an archive.
fn unzip(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let broken =
        |error: zip::result::ZipError| format!("it is no archive that can be read: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if ENTRIES_MAX < archive.len() {
        return Err(format!("it holds {} files", archive.len()));
    }
    if archive.has_duplicate_names() {
        return Err("it holds one name twice".into());
    }
    let names: Vec<String> =
        archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if names != [ENTRY] {
        return Err(format!("it holds `{}` and not {ENTRY} alone", names.join("`, `")));
    }
    let mut entry = archive.by_index(0).map_err(broken)?;
    const KIND: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    if entry.unix_mode().is_some_and(|mode| ![0, REGULAR].contains(&(mode & KIND))) {
        return Err(format!("{ENTRY} is no file"));
    }
    let (declared, packed) = (entry.size(), entry.compressed_size());
    let cap = Limits::UNTRUSTED.bytes.min(packed.saturating_mul(RATIO_MAX));
    if cap < declared {
        return Err(format!("{ENTRY} grows from {packed} to {declared} bytes"));
    }
    // What the header declares is a promise of a stranger, so the bytes are counted.
    let mut out = Vec::new();
    (&mut entry)
        .take(cap + 1)
        .read_to_end(&mut out)
        .map_err(|error| format!("{ENTRY}: {error}"))?;
    if declared != out.len() as u64 {
        return Err(format!("{ENTRY} has not the {declared} bytes that the archive promises"));
    }
    if out.starts_with(b"PK") {
        return Err(format!("{ENTRY} is an archive itself"));
    }
    Ok(out)
}
