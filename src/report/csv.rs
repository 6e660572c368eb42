//! The rows as comma-separated values, for spreadsheets: one line a row, in the order of the report.
//!
//! Numbers are whole, in base units, with a point; whatever is not known, or not finite, is empty. RFC 4180 quotes
//! what holds a comma, a quote or a line break. Text that a spreadsheet would run as a formula gets a `'` in front;
//! the verdict file has it as it is.

use super::{Report, text};
use crate::gate::Row;

const COLUMNS: [&str; 25] = [
    "suite",
    "benchmark",
    "metric",
    "unit",
    "reference",
    "mode",
    "experiment",
    "verdict",
    "cleared",
    "gated",
    "baseline",
    "candidate",
    "ratio",
    "interval_low",
    "interval_high",
    "confidence",
    "tolerance",
    "p_raw",
    "p_regression",
    "p_improvement",
    "baseline_launches",
    "candidate_launches",
    "launches_needed",
    "detectable",
    "reason",
];

/// Renders the rows as CSV.
pub fn csv(report: &Report) -> String {
    let mut out = COLUMNS.join(",") + "\r\n";
    for row in &report.rows {
        out.push_str(&fields(row).join(","));
        out.push_str("\r\n");
    }
    out
}

fn fields(row: &Row) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or_else(String::new, |value| word(&value))
    };
    [
        quoted(&text::visible(&row.id.suite)),
        quoted(&text::uncut(&row.id.name)),
        quoted(&text::visible(&row.metric.name)),
        quoted(&text::visible(row.metric.unit.as_str())),
        word(&row.reference),
        word(&row.mode),
        word(&row.experiment),
        row.verdict.name().into(),
        row.cleared.to_string(),
        row.gated.to_string(),
        number(row.baseline),
        number(row.candidate),
        number(row.ratio),
        number(row.ci.map(|ci| ci.0)),
        number(row.ci.map(|ci| ci.1)),
        number(Some(row.confidence)),
        number(Some(row.tolerance)),
        number(row.p_raw),
        number(row.p_regression),
        number(row.p_improvement),
        row.launches.0.to_string(),
        row.launches.1.to_string(),
        row.launches_needed.map_or_else(String::new, |needed| needed.to_string()),
        number(row.detectable),
        quoted(&text::sentence(&row.reason)),
    ]
}

/// A word or a number of ours as it stands in the verdict file.
fn word(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).expect("a word or a finite number is JSON");
    json.trim_matches('"').to_owned()
}

fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let check = |text: &str, expected: &str| assert_eq!(quoted(text), expected);
        check("a b", "a b");
        check("a,b", "\"a,b\"");
        check("say \"a\"", "\"say \"\"a\"\"\"");
        check("=1+1", "'=1+1");
        check("@x,y", "\"'@x,y\"");
    }
}
