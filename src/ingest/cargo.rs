//! Knows the lines that cargo and a crashing program print around the output of benches.
//!
//! ```text
//!      Running unittests src/lib.rs (target/release/deps/store-1f2e3d4c5b6a7988)     newer cargo
//!      Running target/release/deps/fib-1f2e3d4c5b6a7988                              older cargo
//! thread 'main' panicked at benches/fib.rs:12:5:
//! error: bench failed, to rerun pass `--bench fib`
//! ```

/// Name of the bench target whose executable a line announces: `store`.
pub(super) fn target(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("Running ")?;
    let path = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((_, path)) => path,
        None => rest,
    };
    let (folder, file) = path.rsplit_once(['/', '\\'])?;
    if !folder.ends_with("deps") {
        return None;
    }
    let file = file.strip_suffix(".exe").unwrap_or(file);
    match file.rsplit_once('-') {
        Some((name, hash)) if hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some(name),
        _ => Some(file),
    }
}

/// Whether a line tells that a program did not end well.
pub(super) fn crashed(line: &str) -> bool {
    let line = line.trim_start();
    [
        "panicked at",
        "process didn't exit successfully",
        "Process completed with exit code",
        "has overflowed its stack",
    ]
    .iter()
    .any(|sign| line.contains(sign))
        || ["error: bench failed", "error: test failed", "test result: FAILED"]
            .iter()
            .any(|sign| line.starts_with(sign))
}

/// The words of a line, short enough for a message.
pub(super) fn quoted(line: &str) -> String {
    let line = line.trim();
    let mut short: String = line.chars().take(80).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    format!("`{short}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_names_its_bench_target() {
        for (line, name) in [
            ("     Running benches/fib.rs (target/release/deps/fib-0a1b2c3d4e5f6071)", Some("fib")),
            ("Running target/release/deps/my_bench-0a1b2c3d4e5f6071", Some("my_bench")),
            (r"  Running x.rs (target\release\deps\x_y-0a1b2c3d4e5f6071.exe)", Some("x_y")),
            ("     Running unittests (target/release/deps/odd-name)", Some("odd-name")),
            ("Running target/release/tool", None),
            ("Running 3 of 7", None),
            ("running 3 tests", None),
            ("", None),
        ] {
            assert_eq!(target(line), name, "{line}");
        }
    }

    #[test]
    fn a_crash_is_not_a_mention_of_one() {
        for (line, told) in [
            ("thread 'main' panicked at benches/fib.rs:12:5:", true),
            ("error: bench failed, to rerun pass `--bench fib`", true),
            ("  process didn't exit successfully: `fib --bench` (exit status: 101)", true),
            ("##[error]Process completed with exit code 1.", true),
            ("test result: FAILED. 0 passed; 1 failed", true),
            ("test result: ok. 0 passed; 0 failed", false),
            ("    Finished `bench` profile [optimized] target(s) in 0.03s", false),
        ] {
            assert_eq!(crashed(line), told, "{line}");
        }
    }
}
