//! Where a report goes: files first, the terminal next, the exit code last.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};

use crate::error::{Context, Error, ErrorKind, Result};
use crate::gate::Outcome;
use crate::report::{self, Colour, Report, Screen, Verbosity};

use super::{Color, Output};

/// Writes the files of a report, prints it, and returns its exit code.
pub(super) fn deliver(report: &Report, output: &Output) -> Result<u8> {
    write_files(report, &output.out)?;
    print(&report::terminal(report, &screen(output)))?;
    Ok(report.exit_code)
}

/// Writes every file of a report.
pub(super) fn write_files(report: &Report, out: &Path) -> Result<()> {
    fs::create_dir_all(out).context(|| format!("{}: no folder for the reports", out.display()))?;
    for (name, text) in [
        ("verdict.json", report::json(report)),
        ("report.md", report::markdown(report)),
        ("report.html", report::html(report)),
        ("junit.xml", report::junit(report)),
        ("comparisons.csv", report::csv(report)),
    ] {
        let path = out.join(name);
        fs::write(&path, text).context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Says what went wrong on stderr and in verdict.json, so that a machine never waits for a file.
pub(super) fn fail(error: &Error, output: &Output) -> ExitCode {
    let outcome = match error.kind() {
        ErrorKind::Usage => Outcome::Usage,
        ErrorKind::NothingToCompare => Outcome::NothingToCompare,
        ErrorKind::NotComparable => Outcome::NotComparable,
        ErrorKind::Judge | ErrorKind::Interrupted => Outcome::Error,
    };
    say(&format!("pacegate: {error}"));
    if let Err(second) = write_files(&Report::failed(outcome, error.to_string()), &output.out) {
        say(&format!("pacegate: {second}"));
    }
    ExitCode::from(error.kind().exit_code())
}

/// Prints data. A reader that went away is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    ignore_broken_pipe(io::stdout().lock().write_all(text.as_bytes()))
}

/// Talks, on stderr.
pub(super) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The terminal as it is, or 80 columns without colour where there is none, so that logs of CI look alike.
pub(super) fn screen(output: &Output) -> Screen {
    let columns = io::stdout().is_terminal().then(terminal_columns).flatten();
    let colour = match output.color {
        Color::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        Color::Always => true,
        Color::Never => false,
    };
    Screen {
        width: columns.unwrap_or(80).clamp(60, 160),
        colour: if colour { Colour::Always } else { Colour::Never },
        verbosity: match (output.quiet, output.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
    }
}

fn terminal_columns() -> Option<usize> {
    #[cfg(unix)]
    return rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| size.ws_col.into());
    #[cfg(not(unix))]
    None
}

fn ignore_broken_pipe(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::from),
    }
}
