//! Units as tools write them, brought to one base: times to nanoseconds, sizes to bytes, rates to one second.
//!
//! ```text
//! us/op      time        ns       × 1e3
//! ops/ms     throughput  ops/s    × 1e3
//! MiB        bytes       B        × 2^20
//! MB/s       throughput  B/s      × 1e6
//! allocs/op  allocations          × 1
//! peak(MB)   peak        B        × 1e6
//! furlongs   (kept)      furlongs × 1, and no direction
//! ```

use crate::model::{Better, Metric, Unit};

/// A unit as a tool wrote it, understood.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ingest) struct Known {
    /// Metric that a value of this unit is of, with base unit and direction.
    pub(super) metric: Metric,
    /// What one unit is in base units.
    pub(super) factor: f64,
}

/// Understands a unit. One that says nothing of its direction gets [`Better::Unknown`].
pub(super) fn understand(unit: &str) -> Known {
    let unit = unit.trim();
    if let Some((name, inside)) = unit.strip_suffix(')').and_then(|unit| unit.split_once('(')) {
        let mut known = simple(inside.trim());
        let name = name.trim();
        if known.metric.better != Better::Unknown {
            if !name.is_empty() && simple(name).metric.better == Better::Unknown {
                known.metric.name = name.to_owned();
            }
            return known;
        }
    }
    simple(unit)
}

fn simple(unit: &str) -> Known {
    let (amount, per) = match unit.split_once('/') {
        Some((amount, per)) => (amount.trim(), Some(per.trim())),
        None => (unit, None),
    };
    let per_operation = per.is_some_and(|per| {
        let per = per.to_ascii_lowercase();
        let per = per.trim_end_matches(['s', '.']);
        matches!(per, "op" | "iter" | "iteration" | "run" | "call" | "item" | "elem" | "invocation")
    });
    if per.is_none() || per_operation {
        if let Some(factor) = time(amount) {
            return known("time", "ns", factor, Better::Lower);
        }
        if let Some(factor) = size(amount) {
            return known("bytes", "B", factor, Better::Lower);
        }
        if let Some(name) = count(amount) {
            return known(name, name, 1.0, Better::Lower);
        }
    } else if let Some(seconds) = per.and_then(time) {
        let per_second = 1e9 / seconds;
        if let Some(bytes) = size(amount) {
            return known("throughput", "B/s", bytes * per_second, Better::Higher);
        }
        let (amount, thousands) = scaled_rate(amount);
        return known("throughput", &format!("{amount}/s"), thousands * per_second, Better::Higher);
    }
    let lower = unit.to_ascii_lowercase();
    if lower.ends_with("bps") && lower.len() <= 4 {
        let bits = match lower.trim_end_matches("bps") {
            "" => 1.0,
            "k" => 1e3,
            "m" => 1e6,
            "g" => 1e9,
            _ => return unknown(unit),
        };
        return known("throughput", "bit/s", bits, Better::Higher);
    }
    match lower.as_str() {
        "fps" | "qps" | "rps" | "tps" | "ips" => known("throughput", &lower, 1.0, Better::Higher),
        "hz" => known("throughput", "ops/s", 1.0, Better::Higher),
        _ => unknown(unit),
    }
}

fn known(name: &str, unit: &str, factor: f64, better: Better) -> Known {
    Known { metric: Metric { name: name.to_owned(), unit: Unit::new(unit), better }, factor }
}

fn unknown(unit: &str) -> Known {
    let name = if unit.is_empty() { "value" } else { unit };
    known(name, unit, 1.0, Better::Unknown)
}

/// Nanoseconds in a unit of time. Capitals count: `m` is a minute, as Catch2 writes it, `M` nothing.
pub(super) fn time(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" | "picoseconds" => 1e-3,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" | "NANOSECONDS" => 1.0,
        "us" | "µs" | "usec" | "microsecond" | "microseconds" | "MICROSECONDS" => 1e3,
        "ms" | "msec" | "millisecond" | "milliseconds" | "MILLISECONDS" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" | "SECONDS" => 1e9,
        "m" | "min" | "minute" | "minutes" | "MINUTES" => 60e9,
        "h" | "hr" | "hour" | "hours" | "HOURS" => 3600e9,
        "day" | "days" | "DAYS" => 86_400e9,
        _ => return None,
    })
}

/// Bytes in a unit of size: `k` is 1000, `Ki` is 1024.
pub(super) fn size(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" | "b" | "byte" | "bytes" | "Byte" | "Bytes" => 1.0,
        "kB" | "KB" | "kilobytes" => 1e3,
        "MB" | "megabytes" | "Megabytes" => 1e6,
        "GB" | "gigabytes" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

/// What is counted, by one name.
fn count(unit: &str) -> Option<&'static str> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "allocs" | "allocations" | "alloc" => "allocations",
        "instructions" | "instrs" | "insn" => "instructions",
        "cycles" | "cpu-cycles" => "cycles",
        "cache-misses" => "cache-misses",
        "branches" => "branches",
        "branch-misses" => "branch-misses",
        "page-faults" => "page-faults",
        _ => return None,
    })
}

/// `Melem` is a million `elem`, as criterion writes throughputs.
fn scaled_rate(amount: &str) -> (&str, f64) {
    for (prefix, factor) in [("K", 1e3), ("k", 1e3), ("M", 1e6), ("G", 1e9)] {
        if let Some(rest) = amount.strip_prefix(prefix)
            && matches!(rest, "elem" | "ops" | "items" | "item" | "Elem")
        {
            return (rest, factor);
        }
    }
    let operations = matches!(amount, "op" | "ops" | "Ops" | "iter" | "iterations");
    (if operations { "ops" } else { amount }, 1.0)
}

/// A number as tools print it: `1,234.5`, `1_234.5`, `1 234.5`, `1e3`. A comma is a thousands separator only where it is
/// followed by three digits; `None` for anything else, among it decimal commas, NaN and infinities.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_start_matches('≈').trim();
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let separator = [',', '_', '\u{a0}', '\u{202f}', '’'].into_iter().find(|&s| whole.contains(s));
    let digits = match separator {
        None => whole.to_owned(),
        Some(separator) => {
            let mut groups = whole.split(separator);
            let first = groups.next()?.trim_start_matches('-');
            if first.is_empty() || first.len() > 3 || groups.any(|group| group.len() != 3) {
                return None;
            }
            whole.replace(separator, "")
        }
    };
    let text = fraction.map_or(digits.clone(), |fraction| format!("{digits}.{fraction}"));
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.' || c == '+') {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_one_base() {
        let check = |unit: &str, name: &str, base: &str, factor: f64, better: Better| {
            let known = understand(unit);
            assert_eq!(
                (known.metric.name.as_str(), known.metric.unit.as_str()),
                (name, base),
                "{unit}"
            );
            assert!((known.factor / factor - 1.0).abs() < 1e-12, "{unit}: {}", known.factor);
            assert_eq!(known.metric.better, better, "{unit}");
        };
        check("ns/iter", "time", "ns", 1.0, Better::Lower);
        check("us/op", "time", "ns", 1e3, Better::Lower);
        check("µs", "time", "ns", 1e3, Better::Lower);
        check("m", "time", "ns", 60e9, Better::Lower);
        check("s/op", "time", "ns", 1e9, Better::Lower);
        check("B/op", "bytes", "B", 1.0, Better::Lower);
        check("KiB", "bytes", "B", 1024.0, Better::Lower);
        check("allocs/op", "allocations", "allocations", 1.0, Better::Lower);
        check("ops/ms", "throughput", "ops/s", 1e3, Better::Higher);
        check("ops/min", "throughput", "ops/s", 1.0 / 60.0, Better::Higher);
        check("iter/sec", "throughput", "ops/s", 1.0, Better::Higher);
        check("MB/s", "throughput", "B/s", 1e6, Better::Higher);
        check("MiB/s", "throughput", "B/s", 1024.0 * 1024.0, Better::Higher);
        check("Melem/s", "throughput", "elem/s", 1e6, Better::Higher);
        check("docs/ms", "throughput", "docs/s", 1e3, Better::Higher);
        check("qps", "throughput", "qps", 1.0, Better::Higher);
        check("peak (MB)", "peak", "B", 1e6, Better::Lower);
        check("nanoseconds (ns)", "time", "ns", 1.0, Better::Lower);
        check("share(%)", "share(%)", "share(%)", 1.0, Better::Unknown);
        check("((((", "((((", "((((", 1.0, Better::Unknown);
        check("furlongs", "furlongs", "furlongs", 1.0, Better::Unknown);
        check("%", "%", "%", 1.0, Better::Unknown);
        check("", "value", "", 1.0, Better::Unknown);
    }

    #[test]
    fn a_number_keeps_its_size_or_is_none() {
        for (text, value) in [
            ("3,104,227", Some(3_104_227.0)),
            ("1,234.5", Some(1234.5)),
            ("12_000", Some(12_000.0)),
            ("1e3", Some(1000.0)),
            ("≈ 0.001", Some(0.001)),
            ("-5", Some(-5.0)),
            (".5", Some(0.5)),
            ("1,5", None),
            ("1,23,456", None),
            ("NaN", None),
            ("inf", None),
            ("infinity", None),
            ("", None),
            ("ns", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
    }
}
