//! Evidence files: everything that a verdict rests on, so that it can be judged again without measuring.
//!
//! JSON Lines, packed by zstd where the name ends in `.zst` (readers go by the content):
//!
//! ```text
//! {"schema":"pacegate.evidence/1","pacegate":"0.1.0","started":..,"policy":{..},"plan":{..},"arms":[{"arm":"baseline",..},..],"notices":[..]}
//! {"arm":"baseline","series":{"id":{..},"metric":{..},"experiment":"corun","evidence":{"sampled":[..]}}}
//! {"arm":"candidate","series":{..}}                            sorted by benchmark, metric, arm
//! {"arm":"candidate","failure":{"id":{..},"message":".."}}     after every series, sorted by benchmark, arm
//! {"end":{"lines":4}}                                          lines before this one: a cut-off file is noticed
//! ```
//!
//! Numbers are written as the shortest text that reads back as the same double, so a file that was read and
//! written again is the same to the byte.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use jiff::Timestamp;
use rayon::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::Limits;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::gate::Policy;
use crate::model::{Arm, Environment, Evidence, Failure, Notice, Revision, Run, Series, Spread};
use crate::report::Plan;

/// Name and version of the format.
pub const SCHEMA: &str = "pacegate.evidence/1";

/// How every zstd stream begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Text that is handed from the unpacking thread to the parsing ones at a time: enough lines for all of them,
/// and little memory.
const CHUNK_BYTES: usize = 2 << 20;

/// Everything that a verdict rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceFile {
    /// Version of pacegate that measured.
    pub pacegate: String,
    /// When the session began.
    pub started: Option<Timestamp>,
    /// Policy that was applied; judging again needs nothing else.
    pub policy: Policy,
    /// How the launches were made, where pacegate made them.
    pub plan: Option<Plan>,
    /// What is worth telling of the session.
    pub notices: Vec<Notice>,
    /// What was measured; the series of a run are read sorted by benchmark and metric, its failures by benchmark.
    pub runs: BTreeMap<Arm, Run>,
    /// Whether the session came to its end.
    pub ending: Ending,
}

/// Whether a session came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything planned was measured.
    Complete,
    /// It was stopped; what was measured until then is there.
    Interrupted,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Header {
    schema: String,
    pacegate: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    policy: Policy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    arms: Vec<ArmHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notices: Vec<Notice>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArmHeader {
    arm: Arm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
    #[serde(default)]
    environment: Environment,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    executables: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notices: Vec<Notice>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Content<'a> {
    Series(&'a Series),
    Failure(&'a Failure),
}

#[derive(Serialize)]
struct LineOut<'a> {
    arm: Arm,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineIn {
    arm: Option<Arm>,
    series: Option<Series>,
    failure: Option<Failure>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct End {
    lines: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

/// The JSON schema of a line: the header, a series or failure, or the end.
pub fn schema() -> String {
    #[derive(JsonSchema)]
    #[schemars(untagged, title = "a line of pacegate.evidence/1")]
    #[expect(dead_code, reason = "it names the kinds of lines for the schema")]
    enum Line {
        Header(Header),
        Other(LineIn),
    }
    serde_json::to_string_pretty(&schema_for!(Line)).expect("a schema is JSON") + "\n"
}

/// Whether a file that begins like this is an evidence file. Packed files are taken to be one: nothing else
/// that pacegate reads is packed by zstd.
pub fn looks_like(start: &[u8]) -> bool {
    const HEADER: &[u8] = b"{\"schema\":\"pacegate.evidence";
    let text = start.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    start.starts_with(&ZSTD_MAGIC) || text.take(HEADER.len()).eq(HEADER.iter().copied())
}

impl EvidenceFile {
    /// Writes the file, packed where the name ends in `.zst`.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or a value is not finite.
    pub fn write(&self, path: &Path) -> Result<()> {
        let write = || -> Result<()> {
            let file = BufWriter::new(File::create(path)?);
            if path.extension().is_some_and(|extension| extension == "zst") {
                let mut packer = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                packer.include_checksum(true)?;
                self.to_writer(&mut packer)?;
                packer.finish()?.flush()?;
            } else {
                self.to_writer(file)?;
            }
            Ok(())
        };
        write().context(|| path.display().to_string())
    }

    /// Writes the lines, unpacked.
    ///
    /// # Errors
    ///
    /// As [`EvidenceFile::write`].
    pub fn to_writer(&self, mut writer: impl Write) -> Result<()> {
        line(&mut writer, &self.header())?;
        let mut series: Vec<(Arm, &Series)> = self.each(|run| &run.series);
        series.sort_by_key(|(arm, series)| (&series.id, &series.metric, *arm));
        let mut failures: Vec<(Arm, &Failure)> = self.each(|run| &run.failures);
        failures.sort_by_key(|(arm, failure)| (&failure.id, *arm));

        let mut lines = 1;
        for (arm, series) in series {
            if !is_finite(&series.evidence) {
                return Err(Error::judge(format!(
                    "{} {} of {arm} holds a value that is not finite, which no file can keep; measure again",
                    series.id, series.metric.name
                )));
            }
            line(&mut writer, &LineOut { arm, content: Content::Series(series) })?;
            lines += 1;
        }
        for (arm, failure) in failures {
            line(&mut writer, &LineOut { arm, content: Content::Failure(failure) })?;
            lines += 1;
        }
        #[derive(Serialize)]
        struct Last {
            end: End,
        }
        let interrupted = self.ending == Ending::Interrupted;
        line(&mut writer, &Last { end: End { lines, interrupted } })?;
        writer.flush()?;
        Ok(())
    }

    fn header(&self) -> Header {
        let arms = self.runs.iter().map(|(&arm, run)| ArmHeader {
            arm,
            session: run.session.clone(),
            revision: run.revision.clone(),
            environment: run.environment.clone(),
            executables: run.executables.clone(),
            notices: run.notices.clone(),
        });
        Header {
            schema: SCHEMA.to_owned(),
            pacegate: self.pacegate.clone(),
            started: self.started,
            policy: self.policy.clone(),
            plan: self.plan.clone(),
            arms: arms.collect(),
            notices: self.notices.clone(),
        }
    }

    fn each<'a, T>(&'a self, part: impl Fn(&'a Run) -> &'a Vec<T>) -> Vec<(Arm, &'a T)> {
        self.runs
            .iter()
            .flat_map(|(&arm, run)| part(run).iter().map(move |item| (arm, item)))
            .collect()
    }

    /// Reads a file, packed or not.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is cut off, was written in another version of the format, or is beyond a limit;
    /// the message names file and line.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self> {
        File::open(path)
            .map_err(Error::from)
            .and_then(|file| EvidenceFile::from_reader(file, limits))
            .context(|| path.display().to_string())
    }

    /// Reads lines, packed or not.
    ///
    /// # Errors
    ///
    /// As [`EvidenceFile::read`].
    pub fn from_reader(reader: impl Read + Send, limits: &Limits) -> Result<Self> {
        let (sender, receiver) = sync_channel(2);
        thread::scope(|scope| {
            scope.spawn(move || send_chunks(reader, limits.bytes, &sender));
            let mut parser = Parser { file: None, lines: 0, end: None, limits };
            // Returning early drops the receiver, which ends the other thread.
            parser.take_all(receiver)?;
            parser.finish()
        })
    }
}

/// One value on a line of its own.
fn line(writer: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *writer, value).map_err(io::Error::from)?;
    writer.write_all(b"\n")?;
    Ok(())
}

pub(super) fn is_finite(evidence: &Evidence) -> bool {
    match evidence {
        // A sample is finite by its invariant.
        Evidence::Sampled(launches) => launches
            .iter()
            .filter_map(|launch| launch.usage)
            .all(|usage| [usage.wall_s, usage.cpu_s, usage.wait_s].iter().all(|s| s.is_finite())),
        Evidence::Scored(scores) => {
            scores.iter().all(|launch| launch.score.is_finite() && launch.grain.is_finite())
        }
        Evidence::Summary(summaries) => summaries.iter().all(|summary| {
            summary.score.is_finite()
                && match summary.spread {
                    None => true,
                    Some(Spread::StandardDeviation(s) | Spread::StandardError(s)) => s.is_finite(),
                    Some(Spread::HalfWidth { value, confidence }) => {
                        value.is_finite() && confidence.is_finite()
                    }
                }
        }),
        Evidence::Exact(values) => values.iter().all(|value| value.is_finite()),
    }
}

/// Whole lines, or why there are no more.
type Chunk = io::Result<Vec<u8>>;

/// Unpacks and cuts the stream into chunks of whole lines, until it ends or nobody listens.
fn send_chunks(reader: impl Read, limit: u64, sender: &SyncSender<Chunk>) {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let result = match reader.fill_buf() {
        Ok(start) if start.starts_with(&ZSTD_MAGIC) => zstd::Decoder::with_buffer(reader)
            .and_then(|unpacked| cut(BufReader::with_capacity(1 << 17, unpacked), limit, sender)),
        Ok(_) => cut(reader, limit, sender),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        // Nobody listens after an earlier error of the parser.
        let _ = sender.send(Err(error));
    }
}

fn cut(reader: impl BufRead, limit: u64, sender: &SyncSender<Chunk>) -> io::Result<()> {
    let mut reader = reader.take(limit.saturating_add(1));
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES + (CHUNK_BYTES >> 3));
        (&mut reader).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        reader.read_until(b'\n', &mut chunk)?;
        if reader.limit() == 0 {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it unpacks to more than the {limit} bytes that are read"),
            ));
        }
        if chunk.is_empty() || sender.send(Ok(chunk)).is_err() {
            return Ok(());
        }
    }
}

struct Parser<'a> {
    file: Option<EvidenceFile>,
    /// Lines taken so far.
    lines: u64,
    end: Option<End>,
    limits: &'a Limits,
}

impl Parser<'_> {
    fn take_all(&mut self, chunks: Receiver<Chunk>) -> Result<()> {
        for chunk in chunks {
            let chunk = chunk
                .map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => cut_off(),
                    io::ErrorKind::FileTooLarge => {
                        Error::judge(format!("{error}; split the session"))
                    }
                    _ => Error::judge(format!("{error}; fetch the file again")),
                })
                .context(|| format!("line {}", self.lines + 1))?;
            let mut lines =
                chunk.strip_suffix(b"\n").unwrap_or(&chunk).split(|&byte| byte == b'\n');
            if self.file.is_none() {
                let first = lines.next().unwrap_or_default();
                self.file = Some(header(first).context(|| "line 1".into())?);
                self.lines = 1;
            }
            let lines: Vec<&[u8]> = lines.collect();
            let parsed: Vec<serde_json::Result<LineIn>> =
                lines.par_iter().map(|line| serde_json::from_slice(line)).collect();
            for line in parsed {
                self.take(line).context(|| format!("line {}", self.lines + 1))?;
                self.lines += 1;
            }
        }
        Ok(())
    }

    fn take(&mut self, line: serde_json::Result<LineIn>) -> Result<()> {
        if self.end.is_some() {
            return Err(Error::judge("something follows the end line; fetch the file again"));
        }
        let line =
            line.map_err(
                |error| {
                    if error.is_eof() { cut_off() } else { Error::judge(unplaced(&error)) }
                },
            )?;
        match line {
            LineIn { arm: Some(arm), series: Some(series), failure: None, end: None } => {
                if let Evidence::Sampled(launches) = &series.evidence
                    && let Some(launch) = launches
                        .iter()
                        .find(|launch| self.limits.samples < launch.sample.totals().len())
                {
                    return Err(Error::judge(format!(
                        "{}: {} samples in a launch, more than the {} that are read; lower the sample size",
                        series.id,
                        launch.sample.totals().len(),
                        self.limits.samples
                    )));
                }
                self.run(arm)?.series.push(series);
            }
            LineIn { arm: Some(arm), series: None, failure: Some(failure), end: None } => {
                self.run(arm)?.failures.push(failure);
            }
            LineIn { arm: None, series: None, failure: None, end: Some(end) } => {
                if end.lines != self.lines {
                    return Err(Error::judge(format!(
                        "{} lines stand before the end line, which counts {}; fetch the file again",
                        self.lines, end.lines
                    )));
                }
                self.end = Some(end);
            }
            _ => {
                return Err(Error::judge(
                    "neither a series, a failure nor the end; fetch the file again",
                ));
            }
        }
        Ok(())
    }

    fn run(&mut self, arm: Arm) -> Result<&mut Run> {
        let file = self.file.as_mut().expect("the header is the first line");
        file.runs
            .get_mut(&arm)
            .ok_or_else(|| Error::judge(format!("no header for {arm}; fetch the file again")))
    }

    fn finish(self) -> Result<EvidenceFile> {
        let mut file = self
            .file
            .ok_or_else(|| Error::new(ErrorKind::NothingToCompare, "empty; measure again"))?;
        let end = self.end.ok_or_else(|| cut_off().within(format!("line {}", self.lines + 1)))?;
        if end.interrupted {
            file.ending = Ending::Interrupted;
        }
        for (arm, run) in &mut file.runs {
            run.series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
            run.failures.sort_by(|a, b| a.id.cmp(&b.id));
            for pair in run.series.windows(2) {
                if (&pair[0].id, &pair[0].metric) == (&pair[1].id, &pair[1].metric) {
                    return Err(Error::judge(format!(
                        "{arm} has {} of {} twice; measure again",
                        pair[0].metric.name, pair[0].id
                    )));
                }
            }
            let benchmarks = run.series.chunk_by(|a, b| a.id == b.id).count();
            if self.limits.benchmarks < benchmarks {
                return Err(Error::judge(format!(
                    "{arm} has {benchmarks} benchmarks, more than the {} that are read; split the suite",
                    self.limits.benchmarks
                )));
            }
        }
        Ok(file)
    }
}

fn cut_off() -> Error {
    Error::judge("the file is cut off before its end line; fetch it again, or measure again")
}

/// The message without serde_json's own line, which is always 1 here.
pub(super) fn unplaced(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    format!("column {}: {text}; fetch the file again", error.column())
}

fn header(line: &[u8]) -> Result<EvidenceFile> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let damaged = |error: serde_json::Error| {
        if error.is_eof() { cut_off() } else { Error::judge(unplaced(&error)) }
    };
    let Schema { schema } = serde_json::from_slice(line).map_err(damaged)?;
    if schema != SCHEMA {
        return Err(Error::judge(format!(
            "the format is `{schema}`, but this pacegate reads `{SCHEMA}`; use the version of pacegate that wrote the file"
        )));
    }
    let header: Header = serde_json::from_slice(line).map_err(damaged)?;
    let mut file = EvidenceFile {
        pacegate: header.pacegate,
        started: header.started,
        policy: header.policy,
        plan: header.plan,
        notices: header.notices,
        runs: BTreeMap::new(),
        ending: Ending::Complete,
    };
    for arm in header.arms {
        let run = Run {
            session: arm.session,
            revision: arm.revision,
            environment: arm.environment,
            executables: arm.executables,
            series: Vec::new(),
            failures: Vec::new(),
            notices: arm.notices,
        };
        if file.runs.insert(arm.arm, run).is_some() {
            return Err(Error::judge(format!("two headers for {}; measure again", arm.arm)));
        }
    }
    Ok(file)
}

/// Times as text.
pub(super) mod rfc3339 {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
    pub(in crate::store) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&time.as_ref().expect("skipped when absent"))
    }

    pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Some).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{
        BenchmarkId, Better, Experiment, Launch, Look, Metric, Sample, SamplingMode, Score,
        Summary, Unit, Usage,
    };

    const LIMITS: Limits = Limits { benchmarks: 10, samples: 10, bytes: 1 << 20 };

    fn number() -> impl Strategy<Value = f64> {
        use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
        POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
    }

    fn usage() -> impl Strategy<Value = Usage> {
        (number(), number(), any::<(u64, u64, u32)>()).prop_map(|(wall_s, cpu_s, n)| Usage {
            wall_s,
            cpu_s,
            wait_s: 0.0,
            voluntary_switches: n.0,
            involuntary_switches: n.1,
            cpu: n.2,
        })
    }

    fn launch() -> impl Strategy<Value = Launch> {
        let mode = prop_oneof![Just(SamplingMode::Flat), Just(SamplingMode::Linear)];
        let samples = prop::collection::vec((1u64.., number().prop_map(f64::abs)), 1..6);
        (0u32..9, mode, samples, prop::option::of(usage())).prop_filter_map(
            "a total above zero",
            |(pair, mode, samples, usage)| {
                let (iters, totals) = samples.into_iter().unzip();
                Some(Launch { pair, sample: Sample::new(mode, iters, totals).ok()?, usage })
            },
        )
    }

    fn evidence() -> impl Strategy<Value = Evidence> {
        let spread = prop_oneof![
            number().prop_map(Spread::StandardDeviation),
            number().prop_map(Spread::StandardError),
            (number(), number())
                .prop_map(|(value, confidence)| Spread::HalfWidth { value, confidence }),
        ];
        let optional = (prop::option::of(spread), any::<(Option<u32>, Option<u32>)>());
        let summary = (number(), optional).prop_map(|(score, (spread, (n, launches)))| Summary {
            score,
            spread,
            n,
            launches,
        });
        prop_oneof![
            prop::collection::vec(launch(), 0..4).prop_map(Evidence::Sampled),
            prop::collection::vec(summary, 0..4).prop_map(Evidence::Summary),
            prop::collection::vec(number(), 0..4).prop_map(Evidence::Exact),
            prop::collection::vec((number(), any::<u32>(), number()), 0..4).prop_map(|scores| {
                let score = |(score, samples, grain)| Score { score, samples, grain };
                Evidence::Scored(scores.into_iter().map(score).collect())
            }),
        ]
    }

    fn run() -> impl Strategy<Value = Run> {
        let key = (any::<(String, String)>(), "[a-z]{1,3}", any::<bool>());
        let value = (evidence(), prop::collection::vec((any::<u32>(), number()), 0..3));
        let series = prop::collection::btree_map(key, value, 0..4).prop_map(|all| {
            let one =
                |(((suite, name), metric, lower), (evidence, looks)): (_, (_, Vec<_>))| Series {
                    id: BenchmarkId::new(suite, name),
                    metric: Metric {
                        name: metric,
                        unit: Unit::new("u"),
                        better: if lower { Better::Lower } else { Better::Higher },
                    },
                    experiment: Experiment::Turnstile,
                    evidence,
                    looks: looks
                        .into_iter()
                        .map(|(pairs, weight)| Look { pairs, weight })
                        .collect(),
                };
            let mut series: Vec<Series> = all.into_iter().map(one).collect();
            series.sort_by(|a, b| (&a.id, &a.metric).cmp(&(&b.id, &b.metric)));
            series
        });
        let failures =
            prop::collection::vec(any::<(String, String, String)>(), 0..3).prop_map(|all| {
                let mut failures: Vec<Failure> = all
                    .into_iter()
                    .map(|(name, message, output)| Failure {
                        id: BenchmarkId::new("s", name),
                        message,
                        output,
                    })
                    .collect();
                failures.sort_by(|a, b| a.id.cmp(&b.id));
                failures
            });
        let head = (any::<Option<String>>(), any::<Option<(String, String, Option<u32>)>>());
        (head, any::<BTreeMap<String, String>>(), series, failures).prop_map(
            |((session, revision), facts, series, failures)| Run {
                session,
                revision: revision.map(|(id, name, distance)| Revision { id, name, distance }),
                environment: Environment {
                    hard: facts.clone(),
                    soft: BTreeMap::new(),
                    info: facts,
                },
                executables: BTreeMap::from([("suite".into(), "ab12".into())]),
                series,
                failures,
                notices: vec![Notice::new("kind", "seen", "")],
            },
        )
    }

    fn file() -> impl Strategy<Value = EvidenceFile> {
        let arm = prop_oneof![
            Just(Arm::Baseline),
            Just(Arm::Candidate),
            Just(Arm::Release),
            Just(Arm::Alone)
        ];
        let session = (any::<bool>(), 0i64..4_000_000_000, any::<u64>());
        (prop::collection::btree_map(arm, run(), 0..4), session, number()).prop_map(
            |(runs, (interrupted, seconds, seed), tolerance)| EvidenceFile {
                pacegate: "0.1.0".into(),
                started: Timestamp::from_second(seconds).ok(),
                policy: Policy { tolerance, ..Policy::default() },
                plan: Some(Plan {
                    seed,
                    profile: "default".into(),
                    cpus: vec![0, 1],
                    launches: 3,
                    repeated: 0,
                    budget_spent: interrupted,
                }),
                notices: vec![Notice::new("kind", "seen", "advice")],
                runs,
                ending: if interrupted { Ending::Interrupted } else { Ending::Complete },
            },
        )
    }

    fn written(file: &EvidenceFile) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.to_writer(&mut bytes).unwrap();
        bytes
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read(file in file()) {
            let bytes = written(&file);
            for source in [bytes.clone(), packed(&bytes)] {
                let read = EvidenceFile::from_reader(source.as_slice(), &LIMITS).unwrap();
                prop_assert_eq!(&read, &file);
                // Equality of floats is blind to the sign of zero; bytes are not.
                prop_assert_eq!(written(&read), bytes.clone());
            }
        }

        #[test]
        fn a_cut_off_file_is_never_read(file in file(), cut in any::<prop::sample::Index>()) {
            let bytes = written(&file);
            // Without its last newline the file is still whole.
            let cut = cut.index(bytes.len() - 1);
            for source in [bytes[..cut].to_vec(), packed(&bytes[..cut])] {
                prop_assert!(EvidenceFile::from_reader(source.as_slice(), &LIMITS).is_err());
            }
            let packed = packed(&bytes);
            let cut = cut % packed.len();
            prop_assert!(EvidenceFile::from_reader(&packed[..cut], &LIMITS).is_err());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let header = written(&small());
            let line = header.split_inclusive(|&byte| byte == b'\n').next().unwrap();
            for source in [bytes.clone(), [line, &bytes].concat(), [&ZSTD_MAGIC, bytes.as_slice()].concat()] {
                let _ = EvidenceFile::from_reader(source.as_slice(), &LIMITS);
            }
        }
    }

    /// Two benchmarks of two samples on one arm.
    fn small() -> EvidenceFile {
        let series = |name: &str| Series {
            id: BenchmarkId::new("s", name),
            metric: Metric::time(),
            experiment: Experiment::Plain,
            evidence: Evidence::Sampled(vec![Launch {
                pair: 0,
                sample: Sample::of_values(vec![1.0, 2.0]).unwrap(),
                usage: None,
            }]),
            looks: Vec::new(),
        };
        let run = Run { series: vec![series("a"), series("b")], ..Run::default() };
        EvidenceFile {
            pacegate: "0.1.0".into(),
            started: None,
            policy: Policy::default(),
            plan: None,
            notices: Vec::new(),
            runs: BTreeMap::from([(Arm::Candidate, run)]),
            ending: Ending::Complete,
        }
    }

    /// Reads the small file after a change of its text, and looks at the message.
    #[track_caller]
    fn check(from: &str, to: &str, limits: Limits, message: &str) {
        let text = String::from_utf8(written(&small())).unwrap();
        assert!(text.contains(from), "{text}");
        let text = text.replacen(from, to, 1);
        let error = EvidenceFile::from_reader(text.as_bytes(), &limits).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }

    #[test]
    fn errors_name_the_line() {
        check(
            "evidence/1",
            "evidence/2",
            LIMITS,
            "line 1: the format is `pacegate.evidence/2`, but",
        );
        check("\"policy\"", "\"polity\"", LIMITS, "line 1: column ");
        check("\"series\"", "\"serial\"", LIMITS, "line 2: column 27: unknown field `serial`");
        check("[1.0,2.0]", "[0.0,0.0]", LIMITS, "line 2: column ");
        check("[1.0,2.0]", "[1.0,2.0", LIMITS, "line 2: column ");
        check(
            "\"candidate\",\"series\"",
            "\"release\",\"series\"",
            LIMITS,
            "line 2: no header for release",
        );
        check(
            "\"lines\":3",
            "\"lines\":4",
            LIMITS,
            "line 4: 3 lines stand before the end line, which counts 4",
        );
        check(
            "\"lines\":3}}\n",
            "\"lines\":3}}\n\n",
            LIMITS,
            "line 5: something follows the end line",
        );
        check(
            "{\"end\":{\"lines\":3}}\n",
            "",
            LIMITS,
            "line 4: the file is cut off before its end line",
        );
        check("\"lines\":3}}\n", "\"li", LIMITS, "line 4: the file is cut off");
        check("\"name\":\"b\"", "\"name\":\"a\"", LIMITS, "candidate has time of s::a twice");
        assert_eq!(
            EvidenceFile::from_reader(&b""[..], &LIMITS).map_err(|e| e.kind()),
            Err(ErrorKind::NothingToCompare)
        );
    }

    #[test]
    fn limits_hold_at_the_limit_and_one_past_it() {
        let bytes = written(&small());
        let limits = Limits { benchmarks: 2, samples: 2, bytes: bytes.len() as u64 };
        for source in [bytes.clone(), packed(&bytes)] {
            assert!(EvidenceFile::from_reader(source.as_slice(), &limits).is_ok());
            let tight = Limits { bytes: limits.bytes - 1, ..limits };
            let error = EvidenceFile::from_reader(source.as_slice(), &tight).unwrap_err();
            assert!(error.to_string().contains("unpacks to more than"), "{error}");
        }
        let message = "candidate has 2 benchmarks, more than the 1";
        check("", "", Limits { benchmarks: 1, ..limits }, message);
        let message = "line 2: s::a: 2 samples in a launch, more than the 1";
        check("", "", Limits { samples: 1, ..limits }, message);
    }

    #[test]
    fn what_no_file_can_keep_is_not_written() {
        let mut file = small();
        let series = &mut file.runs.get_mut(&Arm::Candidate).unwrap().series[0];
        series.evidence = Evidence::Exact(vec![f64::NAN]);
        let error = file.to_writer(Vec::new()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("s::a time of candidate holds a value that is not finite")
        );
    }

    #[test]
    fn a_name_says_whether_to_pack_and_the_content_says_how_to_read() {
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in [("e.jsonl", *b"{\"sc"), ("e.jsonl.zst", ZSTD_MAGIC)] {
            let path = folder.path().join(name);
            small().write(&path).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(&magic));
            let renamed = folder.path().join("e");
            std::fs::rename(&path, &renamed).unwrap();
            assert_eq!(EvidenceFile::read(&renamed, &LIMITS), Ok(small()));
        }
    }
}
