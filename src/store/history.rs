//! Where history is kept: one file for each run, written once and never changed, so that any two copies merge as sets.
//!
//! ```text
//!   runs/<class>/<commit>/<shard>.<attempt>.jsonl.zst     a run
//!   events/<hash>.json                                    what somebody said of an alert
//!
//! a run   {"schema":"pacegate.history/1","pacegate":"0.1.0","commit":{..},"shard":"all","attempt":1,..}
//!         {"id":{..},"metric":{..},"experiment":"plain","values":{"launches":[..]},"seconds":1.2}     sorted
//!         {"end":{"rows":1}}                                                a cut-off file is noticed
//! ```
//!
//! A store is a folder, a branch of a git repository, or a prefix in object storage. A file that is damaged costs that run
//! only, and is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::git::Branch;
use super::hex;
use crate::error::{Context, Error, Result};
use crate::history::{Entry, Event, Head, Row};
use crate::model::Notice;

/// Name and version of the format of a run.
pub const SCHEMA: &str = "pacegate.history/1";

/// Name and version of the format of an event.
pub const EVENT_SCHEMA: &str = "pacegate.event/1";

/// Bytes that a store may come to. Hosts refuse repositories of a few GB, and every clone takes a branch along.
pub const BYTES_MAX: u64 = 1 << 30;

/// From this share of the limit on, a store says how full it is at every write.
const TELL_FROM: f64 = 0.5;

/// Bytes of one run after unpacking that are read at most.
pub(super) const RUN_BYTES_MAX: usize = 64 << 20;

/// How often a write is tried while others write too. Each time somebody else's write went through, so with fewer writers
/// than this none is turned away.
const TRIES: u32 = 100;

/// How hard runs are packed: a run is written once and read for years.
const PACK_LEVEL: i32 = 12;

/// A place where history is kept.
#[derive(Debug)]
pub struct Store {
    files: Box<dyn Files + Sync>,
    limit: u64,
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Its runs, sorted by file.
    pub entries: Vec<Entry>,
    /// What was said of alerts.
    pub events: Vec<Event>,
    /// How much it is.
    pub size: Size,
    /// Files that could not be read.
    pub notices: Vec<Notice>,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Files.
    pub files: usize,
    /// Bytes of them.
    pub bytes: u64,
}

/// What became of a run that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is kept under this name, as this attempt.
    Kept {
        /// Path in the store.
        path: String,
        /// Its attempt.
        attempt: u32,
    },
    /// It was there already, under this name.
    There {
        /// Path in the store.
        path: String,
    },
}

/// Files that are created and never changed.
pub(super) trait Files: std::fmt::Debug {
    /// What is there now.
    fn list(&self) -> Result<Listing>;
    /// The contents of some of the files of a listing, in their order.
    fn read(&self, listing: &Listing, paths: &[String]) -> Result<Vec<Vec<u8>>>;
    /// Changes what is there from what the listing says, in one step.
    fn change(&self, listing: &Listing, change: &Change) -> Result<Changed>;
    /// What people call the place.
    fn name(&self) -> String;
}

/// The files of a store at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// What the store calls this moment: a commit; empty where it has no name.
    pub(super) state: String,
    /// Path, separated by `/`, and size of each.
    pub(super) files: BTreeMap<String, u64>,
}

/// What is to become different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Files more, each a path and its content.
    Create(Vec<(String, Vec<u8>)>),
    /// Files fewer.
    Remove(Vec<String>),
}

/// Whether a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// It was.
    Yes,
    /// Somebody else was faster: look again.
    Raced,
}

impl Store {
    /// Opens the store of this name: a folder, `git:REMOTE` or `git:REMOTE#BRANCH`, or with the feature `object-store`
    /// `s3://BUCKET/PREFIX`, `gs://..` or `az://..`. The git commands run in `directory`. A store that nobody wrote to yet is
    /// empty.
    ///
    /// # Errors
    ///
    /// When the name is none, or the repository cannot be found.
    pub fn open(name: &str, directory: &Path) -> Result<Self> {
        let files: Box<dyn Files + Sync> = match name.split_once(':') {
            Some(("git", place)) => Box::new(Branch::open(place, directory)?),
            Some((scheme @ ("s3" | "gs" | "az"), place)) if place.starts_with("//") => {
                in_objects(scheme, name)?
            }
            // A drive letter is no scheme.
            Some((scheme, _))
                if 1 < scheme.len() && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) =>
            {
                return Err(Error::usage(format!(
                    "`{name}` is no store: write a folder, `git:REMOTE`, `git:REMOTE#BRANCH`, or `s3://BUCKET/PREFIX` \
                     (also gs, az)"
                )));
            }
            _ => Box::new(Folder(directory.join(name))),
        };
        Ok(Store { files, limit: BYTES_MAX })
    }

    /// The same with another limit of bytes.
    #[must_use]
    pub fn limited(self, limit: u64) -> Self {
        Store { limit, ..self }
    }

    /// What people call it.
    pub fn name(&self) -> String {
        self.files.name()
    }

    /// Reads everything.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached. A file that cannot be read is a notice.
    pub fn read(&self) -> Result<Kept> {
        let listing = self.files.list()?;
        let wanted: Vec<String> =
            listing.files.keys().filter(|path| is_run(path) || is_event(path)).cloned().collect();
        let contents = self.files.read(&listing, &wanted)?;
        let mut kept = Kept { size: listing.size(), ..Kept::default() };
        let decoded: Vec<Result<Decoded>> = wanted
            .par_iter()
            .zip(&contents)
            .map(|(path, bytes)| {
                if is_run(path) {
                    decode(bytes).map(|entry| Decoded::Run(Box::new(entry)))
                } else {
                    decode_event(bytes).map(Decoded::Event)
                }
            })
            .collect();
        for (path, decoded) in wanted.iter().zip(decoded) {
            match decoded {
                Ok(Decoded::Run(entry)) => kept.entries.push(*entry),
                Ok(Decoded::Event(event)) => kept.events.push(event),
                Err(error) => kept.notices.push(Notice::new(
                    "damaged-run",
                    format!("{path} cannot be read: {error}"),
                    "it is left out; add the run again, which replaces it",
                )),
            }
        }
        Ok(kept)
    }

    /// Keeps runs, each once: one that is there already, whichever attempt it is, is not added again. Without an attempt
    /// each gets the next one that is free. A branch becomes one commit longer.
    ///
    /// # Errors
    ///
    /// When they cannot be written, the store is full, or the attempt asked for is another run.
    pub fn add(&self, entries: &[Entry], attempt: Option<u32>) -> Result<Vec<Added>> {
        let mut added = Vec::new();
        self.write(&mut |listing| {
            let mut pending: BTreeMap<String, &Entry> = BTreeMap::new();
            let mut known: BTreeMap<String, Option<Entry>> = BTreeMap::new();
            added.clear();
            for entry in entries {
                added.push(self.place(entry, attempt, listing, &mut pending, &mut known)?);
            }
            let files = pending
                .into_iter()
                .map(|(path, entry)| {
                    let attempt = attempt_of(&path);
                    let head = Head { attempt, ..entry.head.clone() };
                    Ok((path, encode(&head, &entry.rows)?))
                })
                .collect::<Result<Vec<_>>>()?;
            Ok((!files.is_empty()).then_some(Change::Create(files)))
        })?;
        Ok(added)
    }

    /// Finds the place of a run among those that are there and those that are about to be.
    fn place<'e>(
        &self,
        entry: &'e Entry,
        attempt: Option<u32>,
        listing: &Listing,
        pending: &mut BTreeMap<String, &'e Entry>,
        known: &mut BTreeMap<String, Option<Entry>>,
    ) -> Result<Added> {
        let folder = format!("runs/{}/{}", plain(&entry.class()), plain(&entry.head.commit.id));
        for number in attempt.unwrap_or(1).. {
            let path = format!("{folder}/{}.{number}.jsonl.zst", plain(&entry.head.shard));
            if !known.contains_key(&path) && listing.files.contains_key(&path) {
                let bytes = self.files.read(listing, std::slice::from_ref(&path))?;
                // What was cut off holds no run that could be lost.
                known.insert(path.clone(), bytes.first().and_then(|bytes| decode(bytes).ok()));
            }
            let there = match (pending.get(&path), known.get(&path)) {
                (Some(other), _) => Some(*other),
                (None, Some(Some(other))) => Some(other),
                (None, _) => None,
            };
            match there {
                None => {
                    pending.insert(path.clone(), entry);
                    return Ok(Added::Kept { path, attempt: number });
                }
                Some(other) if same_run(other, entry) => return Ok(Added::There { path }),
                Some(_) if attempt.is_some() => {
                    return Err(Error::usage(format!(
                        "{path} is another run; leave out --attempt, or count on"
                    )));
                }
                Some(_) => {}
            }
        }
        unreachable!("numbers do not end")
    }

    /// Keeps what was said of an alert.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn note(&self, event: &Event) -> Result<()> {
        let bytes = encode_event(event)?;
        let path = format!("events/{}.json", hex(&Sha256::digest(&bytes)[..10]));
        self.write(&mut |listing| {
            Ok((!listing.files.contains_key(&path))
                .then(|| Change::Create(vec![(path.clone(), bytes.clone())])))
        })
    }

    /// Removes the runs of all but the last `keep` of the commits given, oldest first. Returns how many files went.
    ///
    /// # Errors
    ///
    /// When they cannot be removed.
    pub fn prune(&self, commits: &[String], keep: usize) -> Result<usize> {
        let kept: BTreeSet<String> =
            commits.iter().rev().take(keep).map(|commit| plain(commit)).collect();
        let mut gone = 0;
        self.write(&mut |listing| {
            let of_old = |path: &&String| {
                is_run(path) && path.split('/').nth(2).is_some_and(|commit| !kept.contains(commit))
            };
            let old: Vec<String> = listing.files.keys().filter(of_old).cloned().collect();
            gone = old.len();
            Ok((!old.is_empty()).then_some(Change::Remove(old)))
        })?;
        Ok(gone)
    }

    /// How much it holds.
    ///
    /// # Errors
    ///
    /// When it cannot be reached.
    pub fn size(&self) -> Result<Size> {
        Ok(self.files.list()?.size())
    }

    /// What a store that fills up should say; `None` while there is room.
    pub fn fullness(&self, size: Size) -> Option<Notice> {
        (TELL_FROM * self.limit as f64 <= size.bytes as f64).then(|| {
            Notice::new(
                "history-fills-up",
                format!(
                    "{} holds {} of the {} that it may",
                    self.name(),
                    megabytes(size.bytes),
                    megabytes(self.limit)
                ),
                "`pacegate history prune --keep N` removes the runs of old commits",
            )
        })
    }

    /// Decides on what is there and makes the change, again and again while others are faster.
    fn write(&self, decide: &mut dyn FnMut(&Listing) -> Result<Option<Change>>) -> Result<()> {
        for attempt in 0..TRIES {
            let listing = self.files.list()?;
            let Some(change) = decide(&listing)? else { return Ok(()) };
            if let Change::Create(files) = &change {
                let size = listing.size().bytes;
                let more: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
                if self.limit < size + more as u64 {
                    return Err(Error::judge(format!(
                        "{}: it holds {}, and the run would bring it beyond the {} that it may; run `pacegate history \
                         prune --keep N`, or give a larger --limit",
                        self.name(),
                        megabytes(size),
                        megabytes(self.limit)
                    )));
                }
            }
            if self.files.change(&listing, &change)? == Changed::Yes {
                return Ok(());
            }
            thread::sleep(pause(attempt));
        }
        Err(Error::judge(format!(
            "{}: others wrote at every one of {TRIES} tries; try again later",
            self.name()
        )))
    }
}

/// Long enough that writers who met do not meet again: up to a fifth of a second, by chance.
fn pause(attempt: u32) -> Duration {
    let most = 20u64 << attempt.min(4);
    Duration::from_millis(rand::RngExt::random_range(&mut fresh_rng(), 1..most))
}

/// What no other process draws: neither does anything that is kept depend on it.
fn fresh_rng() -> rand_pcg::Pcg64Mcg {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |now| u64::from(now.subsec_nanos()));
    rand::SeedableRng::seed_from_u64(nanoseconds ^ (u64::from(std::process::id()) << 32))
}

#[cfg(feature = "object-store")]
fn in_objects(_: &str, name: &str) -> Result<Box<dyn Files + Sync>> {
    Ok(Box::new(super::objects::Objects::open(name)?))
}

#[cfg(not(feature = "object-store"))]
fn in_objects(scheme: &str, _: &str) -> Result<Box<dyn Files + Sync>> {
    Err(Error::usage(format!(
        "`{scheme}://` is object storage, which this pacegate was built without; build it with `--features object-store`, or \
         give a folder or a branch"
    )))
}

enum Decoded {
    Run(Box<Entry>),
    Event(Event),
}

impl Listing {
    fn size(&self) -> Size {
        Size { files: self.files.len(), bytes: self.files.values().sum() }
    }
}

fn is_run(path: &str) -> bool {
    path.starts_with("runs/") && path.ends_with(".jsonl.zst")
}

fn is_event(path: &str) -> bool {
    path.starts_with("events/") && path.ends_with(".json")
}

/// The attempt in the name of a run.
fn attempt_of(path: &str) -> u32 {
    let name = path.trim_end_matches(".jsonl.zst");
    name.rsplit_once('.').and_then(|(_, number)| number.parse().ok()).unwrap_or(1)
}

/// Whether two entries hold the same run, as whichever attempt they were counted.
fn same_run(a: &Entry, b: &Entry) -> bool {
    a.rows == b.rows
        && Head { attempt: 0, ..a.head.clone() } == Head { attempt: 0, ..b.head.clone() }
}

/// A word as part of a path: what is not safe everywhere is written as its bytes, and a long one as its hash.
pub(super) fn plain(word: &str) -> String {
    let mut path = String::new();
    for (at, byte) in word.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => path.push(byte.into()),
            b'.' if 0 < at => path.push('.'),
            _ => path.push_str(&format!("%{byte:02x}")),
        }
    }
    match path.len() {
        0 => "%".into(),
        1..=120 => path,
        _ => format!("{}-{}", &path[..60], hex(&Sha256::digest(word)[..10])),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct HeadLine {
    schema: String,
    #[serde(flatten)]
    head: Head,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: End,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct End {
    rows: usize,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct EventFile {
    schema: String,
    #[serde(flatten)]
    event: Event,
}

/// The JSON schema of a line of a run, or of an event.
pub fn schema() -> String {
    #[derive(JsonSchema)]
    #[schemars(untagged, title = "a line of pacegate.history/1, or pacegate.event/1")]
    #[expect(dead_code, reason = "it names the kinds of lines for the schema")]
    enum Line {
        Head(HeadLine),
        Row(Row),
        End(EndLine),
        Event(EventFile),
    }
    serde_json::to_string_pretty(&schema_for!(Line)).expect("a schema is JSON") + "\n"
}

/// The bytes of a run. Equal runs have equal bytes.
fn encode(head: &Head, rows: &[Row]) -> Result<Vec<u8>> {
    let json = |error: serde_json::Error| Error::judge(format!("{error}; measure again"));
    let mut text = Vec::new();
    let head = HeadLine { schema: SCHEMA.into(), head: head.clone() };
    serde_json::to_writer(&mut text, &head).map_err(json)?;
    for row in rows {
        text.push(b'\n');
        serde_json::to_writer(&mut text, row).map_err(json)?;
    }
    text.push(b'\n');
    serde_json::to_writer(&mut text, &EndLine { end: End { rows: rows.len() } }).map_err(json)?;
    text.push(b'\n');
    // At once rather than as a stream: the size is known, so that the packer's tables are as small as the run.
    let mut packer = zstd::bulk::Compressor::new(PACK_LEVEL)?;
    packer.include_checksum(true)?;
    Ok(packer.compress(&text)?)
}

pub(super) fn decode(bytes: &[u8]) -> Result<Entry> {
    let mut text = String::new();
    let unpacked = zstd::Decoder::new(bytes)?;
    io::Read::read_to_string(&mut io::Read::take(unpacked, RUN_BYTES_MAX as u64 + 1), &mut text)?;
    if RUN_BYTES_MAX < text.len() {
        return Err(Error::judge(format!("it unpacks to more than {RUN_BYTES_MAX} bytes")));
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let cut_off = || Error::judge("it is cut off before its end line");
    let end: EndLine =
        lines.pop().and_then(|line| serde_json::from_str(line).ok()).ok_or_else(cut_off)?;
    let (first, rows) = lines.split_first().ok_or_else(cut_off)?;
    let schema_is: serde_json::Value = serde_json::from_str(first).map_err(|_| cut_off())?;
    if schema_is["schema"] != SCHEMA {
        return Err(Error::judge(format!(
            "its format is {}, but this pacegate reads `{SCHEMA}`",
            schema_is["schema"]
        )));
    }
    let HeadLine { head, .. } =
        serde_json::from_str(first).map_err(|error| Error::judge(error.to_string()))?;
    let rows: Vec<Row> = rows
        .iter()
        .map(|row| serde_json::from_str(row).map_err(|error| Error::judge(error.to_string())))
        .collect::<Result<_>>()?;
    if rows.len() != end.end.rows {
        return Err(cut_off());
    }
    Ok(Entry { head, rows })
}

fn encode_event(event: &Event) -> Result<Vec<u8>> {
    let file = EventFile { schema: EVENT_SCHEMA.into(), event: event.clone() };
    let mut bytes = serde_json::to_vec_pretty(&file).map_err(|e| Error::judge(e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn decode_event(bytes: &[u8]) -> Result<Event> {
    let file: EventFile =
        serde_json::from_slice(bytes).map_err(|error| Error::judge(error.to_string()))?;
    if file.schema != EVENT_SCHEMA {
        return Err(Error::judge(format!("its format is `{}`", file.schema)));
    }
    Ok(file.event)
}

/// A folder. A file is written beside its place and moved there whole.
#[derive(Debug)]
struct Folder(PathBuf);

impl Files for Folder {
    fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        if !self.0.exists() {
            return Ok(listing);
        }
        for entry in walkdir::WalkDir::new(&self.0).sort_by_file_name() {
            let entry =
                entry.map_err(|error| Error::judge(error.to_string()).within(self.name()))?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !entry.file_type().is_file() || hidden {
                continue;
            }
            let below = entry.path().strip_prefix(&self.0).expect("the walk began there");
            let path: Vec<_> =
                below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            let bytes = entry.metadata().map_err(|e| Error::judge(e.to_string()))?.len();
            listing.files.insert(path.join("/"), bytes);
        }
        Ok(listing)
    }

    fn read(&self, _: &Listing, paths: &[String]) -> Result<Vec<Vec<u8>>> {
        let read = |path: &String| {
            let path = self.0.join(path);
            fs::read(&path).context(|| path.display().to_string())
        };
        paths.par_iter().map(read).collect()
    }

    fn change(&self, listing: &Listing, change: &Change) -> Result<Changed> {
        match change {
            Change::Create(files) => {
                for (path, bytes) in files {
                    let replaces = listing.files.contains_key(path);
                    let path = self.0.join(path);
                    let created = self.create(&path, bytes, replaces);
                    if created.context(|| path.display().to_string())? == Changed::Raced {
                        return Ok(Changed::Raced);
                    }
                }
                Ok(Changed::Yes)
            }
            Change::Remove(paths) => {
                for path in paths {
                    let path = self.0.join(path);
                    fs::remove_file(&path).context(|| path.display().to_string())?;
                    // A folder that still holds something stays.
                    for folder in path.ancestors().skip(1).take(2) {
                        if fs::remove_dir(folder).is_err() {
                            break;
                        }
                    }
                }
                Ok(Changed::Yes)
            }
        }
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }
}

impl Folder {
    fn create(&self, path: &Path, bytes: &[u8], replaces: bool) -> Result<Changed> {
        let folder = path.parent().expect("a run has a folder");
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".writing-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        if replaces {
            file.persist(path).map_err(|error| Error::from(error.error))?;
            return Ok(Changed::Yes);
        }
        match file.persist_noclobber(path) {
            Ok(_) => Ok(Changed::Yes),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Changed::Raced),
            Err(error) => Err(error.error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Action, Commit, Values};
    use crate::model::{BenchmarkId, Environment, Experiment, Metric};

    fn entry(commit: &str, score: f64) -> Entry {
        Entry {
            head: Head {
                pacegate: "0.1.0".into(),
                commit: Commit { id: commit.into(), position: Some(3), committed_s: None },
                shard: "all".into(),
                attempt: 1,
                measured_s: Some(1_700_000_000),
                session: Some("s".into()),
                environment: Environment::default(),
                baseline: None,
            },
            rows: vec![Row {
                id: BenchmarkId::new("suite", "group/bench"),
                metric: Metric::time(),
                experiment: Experiment::Plain,
                values: Values::Launches(vec![score, score * 1.01]),
                seconds: Some(1.5),
                identical: false,
            }],
        }
    }

    fn folder() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open("history", folder.path()).unwrap();
        (folder, store)
    }

    fn add(store: &Store, entry: Entry) -> Added {
        store.add(&[entry], None).unwrap().remove(0)
    }

    fn kept(added: Added) -> (String, u32) {
        match added {
            Added::Kept { path, attempt } => (path, attempt),
            Added::There { path } => panic!("{path} was there"),
        }
    }

    #[test]
    fn a_run_is_kept_once_and_a_rerun_beside_it() {
        let (_folder, store) = folder();
        assert_eq!(store.read().unwrap(), Kept::default());
        let (path, attempt) = kept(add(&store, entry("c0ffee", 100.0)));
        assert_eq!((path.as_str(), attempt), ("runs/unknown/c0ffee/all.1.jsonl.zst", 1));
        assert_eq!(add(&store, entry("c0ffee", 100.0)), Added::There { path });
        assert_eq!(kept(add(&store, entry("c0ffee", 101.0))).1, 2);
        assert!(matches!(add(&store, entry("c0ffee", 101.0)), Added::There { .. }));
        let error = store.add(&[entry("c0ffee", 102.0)], Some(1)).unwrap_err();
        assert!(error.to_string().contains("is another run"), "{error}");
        let read = store.read().unwrap();
        let scores: Vec<&Values> = read.entries.iter().map(|entry| &entry.rows[0].values).collect();
        assert_eq!(scores.len(), 2);
        assert_eq!(read.entries[0], entry("c0ffee", 100.0));
        assert_eq!(read.size.files, 2);
    }

    #[test]
    fn a_write_cut_at_any_byte_costs_no_other_run_and_is_made_good() {
        let (_folder, store) = folder();
        add(&store, entry("a", 1.0));
        let (path, _) = kept(add(&store, entry("b", 2.0)));
        let place = Path::new(&store.name()).join(&path);
        let whole = fs::read(&place).unwrap();
        for cut in 0..whole.len() {
            fs::write(&place, &whole[..cut]).unwrap();
            let read = store.read().unwrap();
            assert_eq!(read.entries, [entry("a", 1.0)], "cut at {cut}");
            assert_eq!(read.notices[0].kind, "damaged-run");
        }
        assert_eq!(kept(add(&store, entry("b", 2.0))), (path, 1));
        assert_eq!(store.read().unwrap().entries.len(), 2);
        assert_eq!(fs::read(&place).unwrap(), whole);
        // What a writer that died left beside the place is nobody's run.
        fs::write(place.with_file_name(".writing-x"), &whole[..9]).unwrap();
        assert_eq!(store.read().unwrap().notices, []);
    }

    #[test]
    fn eight_writers_keep_eight_runs() {
        let (_folder, store) = folder();
        thread::scope(|scope| {
            for number in 0..8 {
                let store = &store;
                scope.spawn(move || add(store, entry("same", f64::from(number))));
            }
        });
        let read = store.read().unwrap();
        let attempts: Vec<u32> = read.entries.iter().map(|entry| entry.head.attempt).collect();
        assert_eq!(attempts, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn many_runs_at_once_are_each_kept_once() {
        let (_folder, store) = folder();
        let all = [entry("a", 1.0), entry("a", 2.0), entry("a", 1.0), entry("b", 1.0)];
        let kept = |added: Vec<Added>| {
            added.iter().filter(|added| matches!(added, Added::Kept { .. })).count()
        };
        assert_eq!(kept(store.add(&all, None).unwrap()), 3);
        assert_eq!(kept(store.add(&all, None).unwrap()), 0);
        assert_eq!(store.read().unwrap().entries.len(), 3);
    }

    #[test]
    fn b75_a_full_store_is_an_error_and_a_filling_one_is_told() {
        let (_folder, store) = folder();
        add(&store, entry("a", 1.0));
        let size = store.size().unwrap();
        assert_eq!(store.fullness(size), None);
        let store = store.limited(size.bytes + 10);
        assert!(store.fullness(size).is_some());
        let error = store.add(&[entry("b", 1.0)], None).unwrap_err().to_string();
        assert!(error.contains("prune --keep"), "{error}");
        assert_eq!(store.prune(&["a".into(), "b".into()], 1).unwrap(), 1);
        add(&store, entry("b", 1.0));
    }

    #[test]
    fn events_are_kept_once() {
        let (_folder, store) = folder();
        let event = Event {
            class: "unknown".into(),
            commits: vec!["a".into()],
            benchmarks: Vec::new(),
            action: Action::Acknowledge,
            reason: "the new checks cost that".into(),
        };
        store.note(&event).unwrap();
        store.note(&event).unwrap();
        assert_eq!(store.read().unwrap().events, [event]);
    }

    #[test]
    fn names_are_safe_in_paths() {
        assert_eq!(plain("3f2c81a"), "3f2c81a");
        assert_eq!(plain("../a b"), "%2e.%2fa%20b");
        assert_eq!(plain(""), "%");
        assert!(plain(&"x".repeat(500)).len() < 100);
    }

    #[test]
    fn what_is_no_store_is_refused() {
        let error = Store::open("s3:bucket", Path::new(".")).unwrap_err().to_string();
        assert!(error.contains("is no store"), "{error}");
    }
}
