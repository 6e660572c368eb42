//! History for engines that query columns: Parquet, one row for each run, benchmark and metric.
//!
//! ```text
//!   DIR/class=<runner class>/month=2026-03/part-0.parquet        the folders are columns too
//! ```
//!
//! A file has what `COLUMNS` lists. Who needs other numbers than these makes them of the lists of scores and log ratios.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

use super::history::plain;
use crate::error::{Context, Error, Result};
use crate::history::{Entry, Row, Values};
use crate::model::Better;
use crate::stats;

/// The month of runs of which nobody knows when they were made, in the word that engines have for it.
const NO_MONTH: &str = "__HIVE_DEFAULT_PARTITION__";

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows.
    pub rows: usize,
    /// Files.
    pub files: usize,
}

/// A row of a run.
struct Line<'e> {
    entry: &'e Entry,
    row: &'e Row,
}

/// How a column is made of a line.
enum Cell {
    Text(fn(&Line<'_>) -> Option<String>),
    /// Seconds since 1970.
    Time(fn(&Line<'_>) -> Option<i64>),
    Integer(fn(&Line<'_>) -> Option<i64>),
    Real(fn(&Line<'_>) -> Option<f64>),
    Reals(fn(&Line<'_>) -> Vec<f64>),
}

/// The columns of every file. They only ever grow.
const COLUMNS: &[(&str, Cell)] = &[
    ("commit", Cell::Text(|of| Some(of.entry.head.commit.id.clone()))),
    ("position", Cell::Integer(|of| of.entry.head.commit.position.map(|n| n as i64))),
    ("committed_at", Cell::Time(|of| of.entry.head.commit.committed_s)),
    ("measured_at", Cell::Time(|of| of.entry.head.measured_s)),
    ("shard", Cell::Text(|of| Some(of.entry.head.shard.clone()))),
    ("attempt", Cell::Integer(|of| Some(of.entry.head.attempt.into()))),
    ("session", Cell::Text(|of| of.entry.head.session.clone())),
    ("baseline", Cell::Text(|of| of.entry.head.baseline.as_ref().map(|it| it.id.clone()))),
    ("suite", Cell::Text(|of| Some(of.row.id.suite.clone()))),
    ("benchmark", Cell::Text(|of| Some(of.row.id.name.clone()))),
    ("metric", Cell::Text(|of| Some(of.row.metric.name.clone()))),
    ("unit", Cell::Text(|of| Some(of.row.metric.unit.to_string()))),
    ("better", Cell::Text(|of| Some(better(of.row.metric.better).into()))),
    ("experiment", Cell::Text(|of| Some(of.row.experiment.to_string()))),
    ("launches", Cell::Integer(|of| Some(launches(&of.row.values) as i64))),
    // As a point of a series, in the metric's unit; nothing where the launches ran beside a partner.
    ("score", Cell::Real(|of| of.row.score().map(|score| score.value))),
    ("standard_error", Cell::Real(|of| standard_error(of.row))),
    ("scores", Cell::Reals(|of| scores(&of.row.values))),
    // ln(candidate / baseline) where it did, over all pairs and of each.
    ("log_ratio", Cell::Real(|of| Some(stats::paired(logs(&of.row.values), None)?.delta))),
    ("log_ratio_error", Cell::Real(|of| Some(stats::paired(logs(&of.row.values), None)?.se))),
    ("log_ratios", Cell::Reals(|of| logs(&of.row.values).to_vec())),
    ("seconds", Cell::Real(|of| of.row.seconds)),
];

/// Writes runs into a folder that is empty or not there yet. Equal runs give equal bytes.
///
/// # Errors
///
/// When the folder holds something, or cannot be written.
pub fn export(entries: &[Entry], folder: &Path) -> Result<Exported> {
    let shown = || folder.display().to_string();
    if folder.exists() && fs::read_dir(folder).context(shown)?.next().is_some() {
        return Err(Error::usage(
            "it holds something already, and rows of two exports would be counted twice; give an empty folder",
        )
        .within(shown()));
    }
    let schema = Arc::new(parse_message_type(&message()).expect("the message below is one"));
    let mut parts: BTreeMap<String, Vec<Line<'_>>> = BTreeMap::new();
    for entry in entries {
        let part = format!("class={}/month={}", plain(&entry.class()), month(entry));
        parts.entry(part).or_default().extend(entry.rows.iter().map(|row| Line { entry, row }));
    }
    parts.retain(|_, lines| !lines.is_empty());
    let mut exported = Exported::default();
    for (part, mut lines) in parts {
        // Neighbours that are alike pack well, and an engine skips what it does not want.
        lines.sort_by(|a, b| {
            let run = |line: &Line<'_>| {
                let head = &line.entry.head;
                (head.measured_s, head.commit.id.clone(), head.shard.clone(), head.attempt)
            };
            a.row.key().cmp(&b.row.key()).then_with(|| run(a).cmp(&run(b)))
        });
        let path = folder.join(part);
        fs::create_dir_all(&path).context(|| path.display().to_string())?;
        let path = path.join("part-0.parquet");
        let place = || path.display().to_string();
        let file = File::create(&path).context(place)?;
        write(file, &schema, &lines).map_err(|e| Error::judge(e.to_string())).context(place)?;
        exported.rows += lines.len();
        exported.files += 1;
    }
    Ok(exported)
}

fn write(file: File, schema: &TypePtr, lines: &[Line<'_>]) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(file, schema.clone(), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, cell) in COLUMNS {
        let mut column = group.next_column()?.expect("the schema has a column for each");
        cell.write(&mut column, lines)?;
        column.close()?;
    }
    group.close()?;
    writer.close().map(drop)
}

/// The schema in Parquet's own words.
fn message() -> String {
    let columns: String = COLUMNS.iter().map(|(name, cell)| cell.declared(name)).collect();
    format!("message run {{ {columns}}}")
}

impl Cell {
    fn declared(&self, name: &str) -> String {
        match self {
            Cell::Text(_) => format!("optional binary {name} (STRING); "),
            Cell::Time(_) => format!("optional int64 {name} (TIMESTAMP(MILLIS,true)); "),
            Cell::Integer(_) => format!("optional int64 {name}; "),
            Cell::Real(_) => format!("optional double {name}; "),
            Cell::Reals(_) => format!(
                "required group {name} (LIST) {{ repeated group list {{ required double element; }} }} "
            ),
        }
    }

    fn write(
        &self,
        column: &mut SerializedColumnWriter<'_>,
        lines: &[Line<'_>],
    ) -> Result<(), ParquetError> {
        match self {
            Cell::Text(of) => {
                let text = |line| Some(ByteArray::from(of(line)?.into_bytes()));
                optional::<ByteArrayType>(column, lines.iter().map(text))
            }
            Cell::Time(of) => {
                optional::<Int64Type>(column, lines.iter().map(|line| Some(of(line)? * 1000)))
            }
            Cell::Integer(of) => optional::<Int64Type>(column, lines.iter().map(of)),
            Cell::Real(of) => optional::<DoubleType>(column, lines.iter().map(of)),
            Cell::Reals(of) => {
                // A list that is empty has one level that says so; every other value but the first goes on with its list.
                let (mut values, mut there, mut goes_on) = (Vec::new(), Vec::new(), Vec::new());
                for list in lines.iter().map(of) {
                    there.extend(vec![1; list.len()]);
                    goes_on.extend((0..list.len()).map(|at| i16::from(0 < at)));
                    if list.is_empty() {
                        there.push(0);
                        goes_on.push(0);
                    }
                    values.extend(list);
                }
                let writer = column.typed::<DoubleType>();
                writer.write_batch(&values, Some(&there), Some(&goes_on)).map(drop)
            }
        }
    }
}

fn optional<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.collect();
    let there: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&values, Some(&there), None).map(drop)
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Unknown => "unknown",
    }
}

/// The month in which a run was made, in UTC.
fn month(entry: &Entry) -> String {
    let seconds = entry.head.measured_s.or(entry.head.commit.committed_s);
    let moment = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    moment.map_or_else(|| NO_MONTH.into(), |moment| moment.strftime("%Y-%m").to_string())
}

fn launches(values: &Values) -> usize {
    match values {
        Values::Launches(scores) | Values::Exact(scores) => scores.len(),
        Values::Pairs { logs, .. } => logs.len(),
        Values::Summary(summaries) => summaries.len(),
    }
}

/// The score of each launch alone.
fn scores(values: &Values) -> Vec<f64> {
    match values {
        Values::Launches(scores) | Values::Exact(scores) => scores.clone(),
        Values::Pairs { .. } => Vec::new(),
        Values::Summary(summaries) => summaries.iter().map(|summary| summary.score).collect(),
    }
}

/// Of the score, in the metric's unit.
fn standard_error(row: &Row) -> Option<f64> {
    let score = row.score()?;
    Some(score.value * score.squared_error?.sqrt())
}

fn logs(values: &Values) -> &[f64] {
    match values {
        Values::Pairs { logs, .. } => logs,
        _ => &[],
    }
}
