//! Accept records: slowdowns that a project has agreed to, in a file that is reviewed with the change.
//!
//! ```yaml
//! schema: pacegate.accepted/1
//! accepted:
//!   - benchmark: "parser::large"      # as it is shown
//!     metric: "time"                  # of which metric; time where it is not given
//!     ceiling: 6%                     # past this it is red again
//!     reason: "reads the new header"
//!     until: "1.6.0"                  # a version, or a day as 2027-03-01; for ever where it is not given
//! ```

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_yaml::Spanned;

use super::baseline::replace;
use crate::error::{Error, Result};
use crate::gate::{Accept, Until};
use crate::model::Metric;
use crate::yaml::{Fault, Text, from_yaml, percent};

/// Name of the file in the folder of baselines.
pub const FILE: &str = "accepted.yaml";

const SCHEMA: &str = "pacegate.accepted/1";

/// Most characters of a reason: it stands on top of every page.
const REASON_MAX: usize = 300;

/// `accepted.yaml`
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "accepted.yaml")]
struct Contents {
    /// Name and version of this format.
    #[schemars(with = "Option<String>")]
    schema: Option<Spanned<String>>,
    /// What was agreed to; no two for one metric of one benchmark.
    #[schemars(with = "Vec<Record>")]
    accepted: Option<Vec<Spanned<Record>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Record {
    /// Name of the benchmark as it is shown: `suite::name`.
    #[schemars(with = "String")]
    benchmark: Text<Name>,
    /// Metric; time where it is not given.
    metric: Option<String>,
    /// Largest change for the worse that is accepted, from 0.1% to 10000%.
    #[schemars(with = "String")]
    ceiling: Text<Ceiling>,
    /// Why, in up to 300 characters.
    #[schemars(with = "String")]
    reason: Text<Reason>,
    /// Last day or first version for which it no longer holds: `2027-03-01` or `1.6.0`.
    #[schemars(with = "Option<String>")]
    until: Option<Text<Until>>,
}

/// A ceiling as people write it, such as `6%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling(pub f64);

impl FromStr for Ceiling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = percent(text)?;
        if (0.001..=100.0).contains(&fraction) {
            Ok(Ceiling(fraction))
        } else {
            Err(format!("`{text}` is outside 0.1% to 10000%; write for example 6%"))
        }
    }
}

/// Why something is accepted: not nothing, and short enough for every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub String);

impl FromStr for Reason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("no reason; write why the slowdown is worth it".into()),
            text if text.chars().count() > REASON_MAX => {
                Err(format!("longer than {REASON_MAX} characters; write it shorter"))
            }
            text => Ok(Reason(text.into())),
        }
    }
}

struct Name(String);

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("no benchmark; write its name as reports show it".into());
        }
        Ok(Name(text.into()))
    }
}

/// Reads the records in a folder of baselines; none where there is no file.
///
/// # Errors
///
/// A usage error that names file, line and key, and shows the line.
pub fn read(folder: &Path) -> Result<Vec<Accept>> {
    let path = folder.join(FILE);
    let name = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => parse(&text, &name),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::usage(format!("{name}: {error}"))),
    }
}

/// Reads a text; `name` is what messages call it.
///
/// # Errors
///
/// As [`read`].
pub fn parse(text: &str, name: &str) -> Result<Vec<Accept>> {
    from_yaml::<Option<Contents>>(text)
        .and_then(|contents| contents.unwrap_or_default().resolve())
        .map_err(|fault| fault.show(text, name))
}

/// Adds a record, in the place of an older one for the same metric of the same benchmark. The file is written anew, sorted.
///
/// # Errors
///
/// When what is there cannot be read, or nothing can be written.
pub fn add(folder: &Path, record: Accept) -> Result<()> {
    let mut records = read(folder)?;
    records.retain(|other| !other.is_for(&record.benchmark, &record.metric));
    records.push(record);
    replace(&folder.join(FILE), &to_text(records))
}

/// The file that holds these records.
fn to_text(mut records: Vec<Accept>) -> String {
    records.sort_by(|a, b| (&a.benchmark, &a.metric).cmp(&(&b.benchmark, &b.metric)));
    let mut text = format!(
        "# Slowdowns that were agreed to. `pacegate accept` writes this file anew; delete what is no longer needed.\n\
         schema: {SCHEMA}\naccepted:\n"
    );
    // A JSON string is a YAML string.
    let quoted = |text: &str| serde_json::to_string(text).expect("a string is JSON");
    for record in &records {
        let _ = writeln!(text, "  - benchmark: {}", quoted(&record.benchmark));
        let _ = writeln!(text, "    metric: {}", quoted(&record.metric));
        let _ = writeln!(text, "    ceiling: {}%", in_percent(record.ceiling));
        let _ = writeln!(text, "    reason: {}", quoted(&record.reason));
        if let Some(until) = &record.until {
            let _ = writeln!(text, "    until: {}", quoted(&until.to_string()));
        }
    }
    text
}

/// The percentage that is read back as the same fraction: the decimal point of its shortest text, shifted.
fn in_percent(fraction: f64) -> String {
    let text = fraction.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let rest = format!("{rest:0<2}");
    let (shifted, rest) = rest.split_at(2);
    let number = format!("{whole}{shifted}.{rest}");
    let number = number.trim_start_matches('0').trim_end_matches('.');
    if number.starts_with('.') { format!("0{number}") } else { number.to_owned() }
}

impl Contents {
    fn resolve(self) -> Result<Vec<Accept>, Fault> {
        if let Some(schema) = self.schema.filter(|schema| schema.value != SCHEMA) {
            let message = format!("`{}` is not `{SCHEMA}`; update pacegate", schema.value);
            return Err(Fault::at(&schema, message));
        }
        let mut records: Vec<Accept> = Vec::new();
        for spanned in self.accepted.unwrap_or_default() {
            let Record { benchmark, metric, ceiling, reason, until } = &spanned.value;
            let record = Accept {
                benchmark: benchmark.0.0.clone(),
                metric: metric.clone().unwrap_or_else(|| Metric::time().name),
                ceiling: ceiling.0.0,
                reason: reason.0.0.clone(),
                until: until.as_ref().map(|until| until.0.clone()),
            };
            if records.iter().any(|other| other.is_for(&record.benchmark, &record.metric)) {
                let message = format!(
                    "{} of `{}` is accepted a second time; keep one of them",
                    record.metric, record.benchmark
                );
                return Err(Fault::at(&spanned, message));
            }
            records.push(record);
        }
        Ok(records)
    }
}

/// The JSON schema of the file, for editors.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schema_for!(Contents)).expect("a schema is JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TWO: &str = "\
schema: pacegate.accepted/1
accepted:
  - benchmark: parser::large
    ceiling: 6%
    reason: reads the new header
    until: 1.6.0
  - benchmark: parser::large
    metric: allocations
    ceiling: 12.5%
    reason: one more buffer
";

    #[test]
    fn every_key_is_read() {
        let records = parse(TWO, "accepted.yaml").unwrap();
        let record = |metric: &str, ceiling: f64, reason: &str, until: Option<&str>| Accept {
            benchmark: "parser::large".into(),
            metric: metric.into(),
            ceiling,
            reason: reason.into(),
            until: until.map(|until| until.parse().unwrap()),
        };
        let time = record("time", 0.06, "reads the new header", Some("1.6.0"));
        assert_eq!(records, [time, record("allocations", 0.125, "one more buffer", None)]);
        assert_eq!(parse("", "accepted.yaml"), Ok(Vec::new()));
    }

    #[test]
    fn mistakes_are_told_with_file_line_and_key() {
        let check = |from: &str, to: &str, place: &str, words: &str| {
            assert!(TWO.contains(from));
            let error = parse(&TWO.replacen(from, to, 1), "accepted.yaml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("accepted.yaml:{place}: ")), "{error}");
            assert!(error.contains(words), "{error}");
        };
        check("accepted/1", "accepted/2", "1:9", "update pacegate");
        check("ceiling: 6%", "ceiling: 6", "4:14", "`6` has no unit; write 6%");
        check("ceiling: 6%", "ceiling: 0%", "4:14", "`0%` is outside");
        check("ceiling: 6%", "cieling: 6%", "4:5", "did you mean `ceiling`?");
        check("until: 1.6.0", "until: soon", "6:12", "`soon` is neither a day nor a version");
        check("reason: reads the new header", "reason: \"\"", "5:13", "write why");
        check(
            "metric: allocations",
            "metric: time",
            "7:5",
            "time of `parser::large` is accepted a second time",
        );
        let long = format!("reason: {}", "x".repeat(REASON_MAX + 1));
        check("reason: reads the new header", &long, "5:13", "longer than 300 characters");
        let fits = format!("reason: {}", "x".repeat(REASON_MAX));
        assert!(parse(&TWO.replacen("reason: reads the new header", &fits, 1), "f").is_ok());
        let error = parse("accepted:\n  - benchmark: a\n    ceiling: 6%\n", "f").unwrap_err();
        assert!(error.to_string().contains("`reason` is missing"), "{error}");
    }

    #[test]
    fn a_record_takes_the_place_of_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = parse(TWO, "f").unwrap().remove(0);
        add(folder.path(), record.clone()).unwrap();
        record.ceiling = 0.08;
        add(folder.path(), record.clone()).unwrap();
        assert_eq!(read(folder.path()), Ok(vec![record.clone()]));
        let other = Accept { metric: "size".into(), ..record.clone() };
        add(folder.path(), other.clone()).unwrap();
        assert_eq!(read(folder.path()), Ok(vec![other, record]));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            names in prop::collection::btree_set(("\\PC{1,20}", any::<String>()), 0..5),
            ceiling in 0.001f64..=100.0,
            reason in "\\PC{0,40}[a-z\"\\\\:#]",
        ) {
            let record = |(benchmark, metric): (String, String)| Accept {
                benchmark,
                metric,
                ceiling,
                reason: reason.trim().to_owned(),
                until: "2027-03-01".parse().ok(),
            };
            let records: Vec<Accept> = names.into_iter().map(record).collect();
            prop_assert_eq!(parse(&to_text(records.clone()), "accepted.yaml"), Ok(records));
        }
    }
}
