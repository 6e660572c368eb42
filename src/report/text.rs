//! Numbers and foreign text for people: one way to write a time, a change, an interval, a p-value or a name.
//!
//! ```text
//! change     +9.8 %            of the measured quantity, as it is written on both sides: 100 to 230 is +130 %,
//!                              and 1,000 ops/s to 700 ops/s is -30.0 %
//! interval   [+8.9, +10.7] %   of the same change
//! word       slower            says what the sign means for this metric
//! ```
//!
//! Whatever cannot be told is `?`, and a change from nothing to something is `+∞ %`: better an honest sign than
//! a number that looks like one.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::gate::Row;
use crate::model::{Better, Metric};

/// Longest foreign name or label on a page, in columns; more is cut out of its middle.
pub(super) const NAME_LIMIT: usize = 120;

/// Columns of a cut name that still say which it is.
const NAME_LEAST: usize = 8;

/// Longest foreign sentence on a page, in columns.
const SENTENCE_LIMIT: usize = 600;

/// Replaces what could move the cursor, hide, or turn around the text near it by a visible `\u{…}`.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Controls, joiners and marks of direction, separators of lines, variation-free invisible signs and tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A name or label that came from elsewhere.
pub(super) fn name(text: &str) -> String {
    middle(&uncut(text), NAME_LIMIT)
}

/// The same, however long it is.
pub(super) fn uncut(text: &str) -> String {
    if text.is_empty() { "(no name)".into() } else { visible(text) }
}

/// What is known of a machine: a text in which nothing can act, and a word where it is empty.
pub(super) fn fact(value: &str) -> String {
    if value.is_empty() { "(none)".into() } else { name(value) }
}

/// A sentence that came from elsewhere: line breaks become spaces, and it has an end.
pub(super) fn sentence(text: &str) -> String {
    middle(&visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")), SENTENCE_LIMIT)
}

/// Columns that a terminal gives to the text.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts a text that is wider than `limit` columns: the beginning tells where a benchmark lives, the end, which
/// gets twice the room, which one it is.
pub(super) fn middle(text: &str, limit: usize) -> String {
    if width(text).max(text.chars().count()) <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(1);
    let head: String = text.chars().take(fitting(text.chars(), room / 3)).collect();
    let room = room - width(&head);
    let from = text.chars().count() - fitting(text.chars().rev(), room);
    let tail: String = text.chars().skip(from).collect();
    format!("{head}…{tail}")
}

/// How many of the characters fit into `limit` columns. None counts as less than one, or a name of combining marks
/// would have no end.
fn fitting(chars: impl Iterator<Item = char>, limit: usize) -> usize {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0).max(1);
            used <= limit
        })
        .count()
}

/// Shortens labels, each the name and what follows it uncut, so that no two different ones become the same; `None`
/// where only the whole would do: two would become the same, or next to nothing of the name would be left.
pub(super) fn shorten(labels: &[(String, String)], limit: usize) -> Vec<Option<String>> {
    let cut: Vec<String> = labels
        .iter()
        .map(|(name, rest)| middle(name, limit.saturating_sub(width(rest))) + rest)
        .collect();
    let mut sorted: Vec<(&String, &(String, String))> = cut.iter().zip(labels).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let alone = |short: &String| {
        let from = sorted.partition_point(|(other, _)| *other < short);
        sorted.get(from + 1).is_none_or(|(other, _)| *other != short)
    };
    let enough = |short: &str, (name, rest): &(String, String)| {
        short.starts_with(name.as_str()) || NAME_LEAST <= limit.saturating_sub(width(rest))
    };
    cut.iter()
        .zip(labels)
        .map(|(short, label)| (alone(short) && enough(short, label)).then(|| short.clone()))
        .collect()
}

/// A number in the unit that suits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) number: String,
    pub(super) unit: String,
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.number)?;
        if !self.unit.is_empty() {
            write!(f, " {}", self.unit)?;
        }
        Ok(())
    }
}

/// One value of a metric.
pub(super) fn quantity(metric: &Metric, value: f64) -> Quantity {
    scaled(metric, value, value)
}

/// Both sides of a row in one unit, unless they are more than a thousandfold apart.
pub(super) fn quantities(metric: &Metric, baseline: f64, candidate: f64) -> (Quantity, Quantity) {
    let (low, high) = (baseline.abs().min(candidate.abs()), baseline.abs().max(candidate.abs()));
    let shared = if low == 0.0 { high } else { low };
    let apart = high / shared;
    if apart.is_nan() || apart > 1000.0 {
        return (quantity(metric, baseline), quantity(metric, candidate));
    }
    let both = (scaled(metric, baseline, shared), scaled(metric, candidate, shared));
    if both.0 == both.1 && baseline != candidate && is_whole(baseline) && is_whole(candidate) {
        let unit = unit_beside_name(metric);
        return (
            Quantity { number: grouped(baseline), unit: unit.clone() },
            Quantity { number: grouped(candidate), unit },
        );
    }
    both
}

/// `12.31 -> 13.52 ms`; a side that is not there is left out.
pub(super) fn arrow(row: &Row) -> String {
    match (row.baseline, row.candidate) {
        (Some(baseline), Some(candidate)) => {
            let (baseline, candidate) = quantities(&row.metric, baseline, candidate);
            if baseline.unit == candidate.unit {
                format!("{} -> {candidate}", baseline.number)
            } else {
                format!("{baseline} -> {candidate}")
            }
        }
        (Some(baseline), None) => format!("{} ->", quantity(&row.metric, baseline)),
        (None, Some(candidate)) => format!("-> {}", quantity(&row.metric, candidate)),
        (None, None) => String::new(),
    }
}

/// A value in the unit that suits another one.
fn scaled(metric: &Metric, value: f64, suits: f64) -> Quantity {
    const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    const SIZES: &[(f64, &str)] =
        &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
    const RATES: &[(f64, &str)] = &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let pick = |scale: &[(f64, &'static str)]| {
        let step = scale.iter().find(|(step, _)| *step <= suits.abs());
        *step.or(scale.last()).expect("a scale has a step")
    };
    let unit = metric.unit.as_str();
    match unit {
        "ns" => {
            let (step, unit) = pick(TIMES);
            Quantity { number: significant(value / step), unit: unit.into() }
        }
        "B" | "bytes" | "B/s" | "bytes/s" => {
            let (step, size) = pick(SIZES);
            let number = if step == 1.0 { counted(value) } else { significant(value / step) };
            let rate = if unit.ends_with("/s") { "/s" } else { "" };
            Quantity { number, unit: format!("{size}{rate}") }
        }
        rate if rate.ends_with("/s") => {
            let (step, prefix) = pick(RATES);
            let unit = name(rate);
            Quantity { number: format!("{}{prefix}", significant(value / step)), unit }
        }
        _ => Quantity { number: counted(value), unit: unit_beside_name(metric) },
    }
}

/// The unit, unless the metric's name says it already.
fn unit_beside_name(metric: &Metric) -> String {
    if metric.name == metric.unit.as_str() { String::new() } else { name(metric.unit.as_str()) }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 1e15
}

/// Whole numbers as they are, others to four digits.
pub(super) fn counted(value: f64) -> String {
    if is_whole(value) { grouped(value) } else { significant(value) }
}

/// `1,234,567`.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Four significant digits: enough to see a change of a tenth of a percent.
fn significant(value: f64) -> String {
    if value.is_nan() {
        return "?".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "-∞".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    let rounded = format!("{value:.3e}");
    let exponent: i32 =
        rounded.split('e').nth(1).and_then(|e| e.parse().ok()).expect("{:e} writes an exponent");
    match exponent {
        -4..=14 => format!("{value:.*}", usize::try_from(3 - exponent).unwrap_or(0)),
        _ => rounded,
    }
}

/// The change of the measured quantity: `+9.8 %`.
pub(super) fn change(row: &Row) -> String {
    match (row.ratio, row.baseline, row.candidate) {
        (Some(ratio), ..) => percent(ratio - 1.0),
        (None, Some(0.0), Some(0.0)) => percent(0.0),
        (None, Some(0.0), Some(candidate)) if candidate > 0.0 => percent(f64::INFINITY),
        _ => "?".into(),
    }
}

/// The interval of the change: `[+8.9, +10.7] %`; empty where there is none.
pub(super) fn interval(row: &Row) -> String {
    row.ci.map_or_else(String::new, |(low, high)| bounds(low, high))
}

/// An interval of a ratio, as one of its change.
pub(super) fn bounds(low: f64, high: f64) -> String {
    format!("[{}, {}] %", signed(low - 1.0), signed(high - 1.0))
}

/// How much worse, for a sentence: `9.8 % (8.9 to 10.7 %)`. The word beside it says the direction.
pub(super) fn amount(row: &Row) -> String {
    let towards_worse = match row.metric.better {
        Better::Lower | Better::Unknown => 1.0,
        Better::Higher => -1.0,
    };
    let Some(ratio) = row.ratio else { return change(row).replace('+', "") };
    let worse = |ratio: f64| towards_worse * (ratio - 1.0);
    let mut text = format!("{} %", magnitude(worse(ratio)));
    if let Some((lo, hi)) = row.ci {
        let (low, high) = (worse(lo).min(worse(hi)), worse(lo).max(worse(hi)));
        text.push_str(&format!(" ({} to {} %)", magnitude(low), magnitude(high)));
    }
    text
}

/// A signed fraction as a percentage: `+9.8 %`.
pub(super) fn percent(fraction: f64) -> String {
    format!("{} %", signed(fraction))
}

fn signed(fraction: f64) -> String {
    let text = magnitude(fraction);
    if text.starts_with('-') || text == "?" || text.trim_matches(['0', '.']).is_empty() {
        text
    } else {
        format!("+{text}")
    }
}

/// Percent with one digit behind the point; more for what would vanish, fewer for what is large.
fn magnitude(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent.abs() {
        size if size.is_nan() => "?".into(),
        size if size.is_infinite() => if percent > 0.0 { "∞" } else { "-∞" }.into(),
        size if size >= 1e6 => format!("{percent:.1e}"),
        size if size >= 99.95 => format!("{percent:.0}"),
        size if (0.0005..0.0995).contains(&size) => {
            format!("{percent:.3}").trim_end_matches('0').into()
        }
        _ => format!("{percent:.1}")
            .trim_start_matches(if percent > -0.05 { "-" } else { "" })
            .into(),
    }
}

/// A fraction that somebody chose, with no more digits than they wrote: `2 %`, `0.5 %`.
pub(super) fn share(fraction: f64) -> String {
    // Six digits swallow what a hundredfold adds to a decimal fraction: 0.07 * 100 is 7.000000000000001.
    let digits = format!("{:.6}", fraction * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A probability to at most three digits.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 1e-12 => "<1e-12".into(),
        Some(p) if p < 1e-3 => trimmed_exponent(p),
        Some(p) if p <= 1.0 => {
            let text = format!(
                "{p:.*}",
                if p < 0.01 {
                    5
                } else if p < 0.1 {
                    4
                } else {
                    3
                }
            );
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        _ => "?".into(),
    }
}

/// `1.2e-7` for 1.20e-7.
fn trimmed_exponent(p: f64) -> String {
    let text = format!("{p:.2e}");
    let (digits, exponent) = text.split_once('e').expect("{:e} writes an exponent");
    format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// What a change for the worse, and one for the better, is called.
pub(super) fn words(metric: &Metric) -> (&'static str, &'static str) {
    let unit = metric.unit.as_str();
    match metric.better {
        Better::Lower if unit == "ns" => ("slower", "faster"),
        Better::Higher if unit.ends_with("/s") => ("slower", "faster"),
        Better::Lower if matches!(unit, "B" | "bytes") => ("larger", "smaller"),
        Better::Lower | Better::Unknown => ("higher", "lower"),
        Better::Higher => ("lower", "higher"),
    }
}

/// `1 benchmark`, `3 benchmarks`.
pub(super) fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Breaks a text between words at `width` columns. The first line begins with `first`, later ones with `indent`
/// blanks.
pub(super) fn wrap(first: &str, text: &str, width: usize, indent: usize) -> String {
    let mut out = String::from(first);
    let mut used = self::width(first);
    let mut begun = false;
    for word in text.split(' ') {
        let wide = self::width(word);
        if begun && used + 1 + wide > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if begun {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += wide;
        begun = true;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;

    fn metric(name: &str, unit: &str, better: Better) -> Metric {
        Metric { name: name.into(), unit: Unit::new(unit), better }
    }

    #[test]
    fn values_read_well() {
        let check = |unit: &str, baseline: f64, candidate: f64, expected: &str| {
            let metric = metric("m", unit, Better::Lower);
            let (a, b) = quantities(&metric, baseline, candidate);
            assert_eq!(format!("{a} | {b}"), expected);
        };
        check("ns", 12_312_000.0, 13_520_000.0, "12.31 ms | 13.52 ms");
        check("ns", 990.0, 1100.0, "990.0 ns | 1100 ns");
        check("ns", 0.4, 0.5, "0.4000 ns | 0.5000 ns");
        check("ns", 999.96, 999.96, "1000 ns | 1000 ns");
        check("ns", 6.22e9, 1.71e11, "6.220 s | 171.0 s");
        check("ns", 2.0, 3e9, "2.000 ns | 3.000 s");
        check("ns", 0.0, 3e6, "0 ms | 3.000 ms");
        check("ns", 0.0, 0.0, "0 ns | 0 ns");
        check("B", 512.0, 513.0, "512 B | 513 B");
        check("B", 1_234_567.0, 1_300_000.0, "1.177 MiB | 1.240 MiB");
        check("B", 1_234_567.0, 1_234_568.0, "1,234,567 B | 1,234,568 B");
        check("ops/s", 1_234_567.0, 998_000.0, "1235k ops/s | 998.0k ops/s");
        check("B/s", 3e9, 2e9, "2.794 GiB/s | 1.863 GiB/s");
        check("allocations", 0.0, 12.0, "0 allocations | 12 allocations");
        check("m", 1_000_000.0, 1_000_001.0, "1,000,000 | 1,000,001");
        check("m", 2.5, f64::NAN, "2.500 | ?");
        check("m", 2.5, f64::INFINITY, "2.500 | ∞");
        check("m", 1e-9, 1e200, "1.000e-9 | 1.000e200");
    }

    #[test]
    fn percentages() {
        let check = |fraction: f64, expected: &str| assert_eq!(percent(fraction), expected);
        check(0.098, "+9.8 %");
        check(1.30, "+130 %");
        check(26.0, "+2600 %");
        check(-0.3, "-30.0 %");
        check(0.9996, "+100 %");
        check(0.0, "0.0 %");
        check(-0.0, "0.0 %");
        check(-1e-9, "0.0 %");
        check(0.000_04, "+0.004 %");
        check(-0.0004, "-0.04 %");
        check(0.000_999, "+0.1 %");
        check(1e9, "+1.0e11 %");
        check(f64::INFINITY, "+∞ %");
        check(f64::NAN, "? %");
        assert_eq!(share(0.07), "7 %");
        assert_eq!(share(0.005), "0.5 %");
        assert_eq!(share(0.0), "0 %");
    }

    #[test]
    fn p_values() {
        let check = |p: f64, expected: &str| assert_eq!(p_value(Some(p)), expected);
        check(1.0, "1");
        check(0.5, "0.5");
        check(0.0123, "0.0123");
        check(0.012_345, "0.0123");
        check(0.001_234, "0.00123");
        check(1.2e-7, "1.2e-7");
        check(3.172e-4, "3.17e-4");
        check(1e-13, "<1e-12");
        check(0.0, "<1e-12");
        check(f64::NAN, "?");
        assert_eq!(p_value(None), "?");
    }

    #[test]
    fn names_stay_apart_when_cut() {
        assert_eq!(middle("parser::read/serde_json", 13), "pars…rde_json");
        assert_eq!(width(&middle("漢字漢字漢字漢字", 9)), 9);
        let labels = ["select/aaaa/1", "select/bbbb/1", "short"];
        let labels = labels.map(|label| (label.to_owned(), " [B]".to_owned()));
        assert_eq!(shorten(&labels, 8), [None, None, None]);
        assert_eq!(
            shorten(&labels, 12),
            [Some("se…aaa/1"), Some("se…bbb/1"), Some("short")]
                .map(|cut| cut.map(|cut| format!("{cut} [B]")))
        );
        let rows = ["row/1/wide", "row/2/wide"].map(|label| (label.to_owned(), String::new()));
        assert_eq!(shorten(&rows, 8), [None, None]);
        let whole = labels.each_ref().map(|(name, rest)| Some(format!("{name}{rest}")));
        assert_eq!(shorten(&labels, 17), whole);
    }

    #[test]
    fn hidden_characters_show() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c\td"), "a\\u{1b}[31mb\\u{202e}c\\u{9}d");
        assert_eq!(visible("größe/µs 漢字 👍"), "größe/µs 漢字 👍");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("- ", "one two three", 9, 2), "- one two\n  three");
        assert_eq!(wrap("", "endlesslylongword x", 5, 2), "endlesslylongword\n  x");
    }
}
