//! Parses the arguments, calls `cli`, and turns the outcome into an exit code.

use std::process::ExitCode;

use pacegate::measure::reaper::{REAPER_ARGUMENT, reaper_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(REAPER_ARGUMENT) {
        reaper_main(arguments);
        return ExitCode::SUCCESS;
    }
    pacegate::cli::main(std::env::args_os())
}
