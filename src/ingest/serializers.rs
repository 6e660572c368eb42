//! Reads the table of the serializer comparisons of the Java world.
//!
//! ```text
//!                       create     ser   deser   total   size  +dfl
//! json/some/databind        61    1842    2421    4262    485   261
//! ```
//!
//! Times are nanoseconds per object, means whose values, number and spread are not said: they can be shown and
//! not tested. The sizes, plain and deflated, are bytes and do not vary. `total` is `ser` and `deser` together,
//! rounded after the sum.

use super::Format;
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit;
use crate::error::Result;
use crate::model::Summary;

pub(super) const FORMAT: Format = Format {
    name: "serializer table",
    signs: &["create", "deser", "+dfl"],
    claims: |input| {
        input.shape == Shape::Text && input.glance().lines().any(|line| columns(line).is_some())
    },
    read,
};

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut table: Option<Vec<&str>> = None;
    for (number, line) in input.lines() {
        if let Some(columns) = columns(line) {
            table = Some(columns);
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Some(columns), [name, cells @ ..]) = (&table, words.as_slice()) else {
            // The table ends with a blank line.
            table = None;
            continue;
        };
        let id = found.id("", name);
        if *name == "ERROR:" {
            found.incomplete("", format!("line {number}: `{}`", line.trim()));
            continue;
        }
        let values: Option<Vec<f64>> = cells.iter().map(|cell| unit::number(cell)).collect();
        let Some(values) = values.filter(|values| values.len() == columns.len()) else {
            found.fail(
                &id,
                format!("line {number}: it has not the {} numbers that the header names; give the whole row", columns.len()),
            );
            continue;
        };
        for (&column, &value) in columns.iter().zip(&values) {
            if is_size(column) {
                found.exact(&id, &named(column, "B"), value);
            } else {
                let summary = Summary { score: value, spread: None, n: None, launches: None };
                found.summary(&id, &named(column, "ns"), summary);
            }
        }
        let of = |name| columns.iter().zip(&values).find(|(column, _)| **column == name);
        if let (Some((_, total)), Some((_, ser)), Some((_, deser))) =
            (of("total"), of("ser"), of("deser"))
            && (total - (ser + deser)).abs() > 1.0
        {
            found.notice(
                "inconsistent-total",
                format!(
                    "line {number}: {id} has the total {total}, but {ser} and {deser} make {}",
                    ser + deser
                ),
                "look at which of the three was edited",
            );
        }
    }
    Ok(())
}

fn is_size(column: &str) -> bool {
    matches!(column, "size" | "+dfl")
}

/// The names of the columns, if a line is the header. Early versions have more times than the later ones.
fn columns(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let all = ["create", "ser", "deser", "total", "size", "+dfl"];
    all.iter()
        .all(|name| words.contains(name))
        .then_some(words)
        .filter(|w| w.first() == Some(&"create"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failures, notices, rows, run_of, survives};

    const HEADER: &str = "          create     ser   deser   total   size  +dfl\n";

    #[test]
    fn times_are_shown_and_sizes_are_exact() {
        let run = run_of(&format!(
            "words\n{HEADER}json/some   61    18   24    43   485   261\n\nmore words 1 2\n"
        ));
        assert_eq!(
            rows(&run),
            [
                "json/some +dfl B lower exactly 261",
                "json/some create ns lower score 61",
                "json/some deser ns lower score 24",
                "json/some ser ns lower score 18",
                "json/some size B lower exactly 485",
                "json/some total ns lower score 43",
            ]
        );
        assert!(run.failures.is_empty() && run.notices.is_empty());
    }

    #[test]
    fn a_total_that_does_not_add_up_is_told() {
        assert_eq!(
            notices(&run_of(&format!("{HEADER}some   61    18   24    44   485   261\n"))),
            ["inconsistent-total"]
        );
    }

    #[test]
    fn a_row_that_is_not_whole_fails_by_name() {
        let run = run_of(&format!(
            "{HEADER}good 1 2 3 5 6 7\ncut 61 18\nodd 61 x 24 42 485 261\nERROR: no\n"
        ));
        survives(&format!("{HEADER}good 1 2 3 5 6 7\ncut 61 18\n"));
        let message = "it has not the 6 numbers that the header names; give the whole row";
        assert_eq!(
            failures(&run),
            [
                "(whole run): line 5: `ERROR: no`; benchmarks may be missing, so measure again"
                    .to_owned(),
                format!("cut: line 3: {message}"),
                format!("odd: line 4: {message}"),
            ]
        );
    }
}
