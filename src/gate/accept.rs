//! Slowdowns that a project has agreed to: up to a ceiling, for a reason, until a day or a version.
//!
//! ```text
//!   0 %        tolerance          ceiling
//! ───┼────────────┼──────────────────┼──────────
//!    ├─────┤      │                  │             unchanged: the record asks to be deleted
//!    │            │  ├────┤          │             worse, and accepted
//!    │            │             ├────┼─●──┤        open: is it past the ceiling?
//!    │            │                  │   ├────┤    red again
//! ```
//!
//! What day it is and what version is under test are told to the gate, which asks no clock.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{BenchmarkId, Metric};

/// What a project has agreed to, and when it is judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The records; no two share benchmark and metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Accept>,
    /// The day on which it is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub today: Option<Day>,
    /// The version that is under test, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub version: Option<Version>,
}

/// One slowdown that was agreed to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The benchmark's name as it is shown: `suite::name`.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// Largest change for the worse that is accepted, as a fraction.
    pub ceiling: f64,
    /// Why.
    pub reason: String,
    /// When it ends; never, where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Until>,
}

/// When an acceptance ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Until {
    /// After this day.
    Day(Day),
    /// With this version.
    Version(Version),
}

/// A day of the calendar, written `2027-03-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

/// A version, written `1.5.0` or `1.5.0-rc.1`. Among versions of the same numbers any with a tail comes before the one
/// without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    numbers: [u64; 3],
    release: bool,
    tail: String,
}

/// Whether a record holds today.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing<'a> {
    /// It holds.
    InForce(&'a Accept),
    /// Its day is over, or its version has come.
    Ended(&'a Accept),
}

impl Accepted {
    /// What was agreed for a metric of a benchmark.
    pub fn standing(&self, id: &BenchmarkId, metric: &Metric) -> Option<Standing<'_>> {
        if self.records.is_empty() {
            return None;
        }
        let shown = id.to_string();
        let record = self.records.iter().find(|record| record.is_for(&shown, &metric.name))?;
        Some(if self.has_ended(record) {
            Standing::Ended(record)
        } else {
            Standing::InForce(record)
        })
    }

    /// Whether a record's day is over or its version has come. What is not known has not ended it.
    pub fn has_ended(&self, record: &Accept) -> bool {
        match &record.until {
            None => false,
            Some(Until::Day(day)) => self.today.is_some_and(|today| *day < today),
            Some(Until::Version(version)) => {
                self.version.as_ref().is_some_and(|now| version <= now)
            }
        }
    }
}

impl Accept {
    /// Whether it speaks of this metric of the benchmark that is shown by this name.
    pub fn is_for(&self, benchmark: &str, metric: &str) -> bool {
        self.benchmark == benchmark && self.metric == metric
    }
}

impl Day {
    /// A day of the calendar.
    ///
    /// ```
    /// use pacegate::gate::Day;
    /// assert!(Day::new(2028, 2, 29).is_some());
    /// assert_eq!(Day::new(2027, 2, 29), None);
    /// ```
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=length).contains(&day) && (1..=9999).contains(&year)).then_some(Day {
            year,
            month,
            day,
        })
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('-').collect();
        let day = match parts.as_slice() {
            [year, month, day] if [year.len(), month.len(), day.len()] == [4, 2, 2] => {
                let numbers = (year.parse().ok(), month.parse().ok(), day.parse().ok());
                match numbers {
                    (Some(year), Some(month), Some(day)) => Day::new(year, month, day),
                    _ => None,
                }
            }
            _ => None,
        };
        day.ok_or_else(|| format!("`{text}` is no day; write for example 2027-03-01"))
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (core, tail) =
            text.split_once('-').map_or((text, None), |(core, tail)| (core, Some(tail)));
        // What stands behind a plus sign orders nothing.
        let core = core.split('+').next().unwrap_or_default();
        let numbers: Vec<u64> = core.split('.').filter_map(|part| part.parse().ok()).collect();
        match numbers.as_slice() {
            &[major, minor, patch] if core.split('.').count() == 3 && tail.is_none_or(is_tail) => {
                let tail = tail.unwrap_or_default().to_owned();
                Ok(Version { numbers: [major, minor, patch], release: tail.is_empty(), tail })
            }
            _ => Err(format!("`{text}` is no version; write for example 1.5.0")),
        }
    }
}

fn is_tail(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Until::Day).or_else(|_| text.parse().map(Until::Version)).map_err(
            |_: String| {
                format!("`{text}` is neither a day nor a version; write 2027-03-01 or 1.5.0")
            },
        )
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if self.release { Ok(()) } else { write!(f, "-{}", self.tail) }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Day(day) => day.fmt(f),
            Until::Version(version) => version.fmt(f),
        }
    }
}

/// Written and read as text.
macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    )*};
}

as_text!(Day, Version, Until);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_day_or_a_version() {
        for text in ["2027-03-01", "2028-02-29", "1.5.0", "0.10.2", "2.0.0-rc.1"] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), text);
        }
        for text in
            ["", "2027-02-29", "2027-3-1", "27-03-01", "1.5", "1.5.0.1", "1.x.0", "1.5.0-", "+1"]
        {
            assert!(text.parse::<Until>().is_err(), "{text}");
        }
    }

    #[test]
    fn versions_come_in_order() {
        let ordered = ["0.9.9", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0", "1.0.1", "1.2.0", "1.10.0"];
        let versions: Vec<Version> = ordered.map(|text| text.parse().unwrap()).into();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    }

    #[test]
    fn a_record_holds_through_its_day_and_up_to_its_version() {
        let check = |until: &str, today: &str, version: &str, ended: bool| {
            let record = Accept {
                benchmark: "s::a".into(),
                metric: "time".into(),
                ceiling: 0.06,
                reason: "it is worth it".into(),
                until: (!until.is_empty()).then(|| until.parse().unwrap()),
            };
            let accepted = Accepted {
                records: vec![record],
                today: today.parse().ok(),
                version: version.parse().ok(),
            };
            let standing = accepted.standing(&BenchmarkId::new("s", "a"), &Metric::time());
            assert_eq!(
                matches!(standing, Some(Standing::Ended(_))),
                ended,
                "{until} {today} {version}"
            );
            assert!(standing.is_some());
            assert_eq!(accepted.standing(&BenchmarkId::new("s", "b"), &Metric::time()), None);
        };
        check("", "2027-03-01", "1.5.0", false);
        check("2027-03-01", "2027-03-01", "", false);
        check("2027-03-01", "2027-03-02", "", true);
        check("1.5.0", "2027-03-01", "1.4.9", false);
        check("1.5.0", "2027-03-01", "1.5.0-rc.1", false);
        check("1.5.0", "2027-03-01", "1.5.0", true);
        check("1.5.0", "2027-03-01", "", false);
        check("2027-03-01", "", "1.5.0", false);
    }
}
