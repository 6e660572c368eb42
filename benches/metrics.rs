//! Exact metrics: numbers that a benchmark knows without measuring, such as the size of its output.
//!
//! They go to the file that the environment variable `PACEGATE_METRICS` names, one JSON object a
//! line, as `{"id":"write/serde_json","metric":"document","unit":"B","value":1127}`.

#![allow(dead_code, reason = "each bench target compiles this module and uses a part of it")]

use std::fs::OpenOptions;
use std::io::Write as _;

/// Appends the bytes of the document that the benchmark `id` reads or writes.
pub(crate) fn record_document_size(id: &str, bytes: usize) {
    record_bytes(id, "document", bytes);
}

/// Appends a number of bytes under a name of its own.
pub(crate) fn record_bytes(id: &str, metric: &str, bytes: usize) {
    let Some(path) = std::env::var_os("PACEGATE_METRICS") else { return };
    let line = serde_json::json!({
        "id": id, "metric": metric, "unit": "B", "value": bytes,
    });
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| writeln!(file, "{line}"))
        .unwrap_or_else(|error| {
            panic!("{}: {error}; name a writable file in PACEGATE_METRICS", path.display())
        });
}
