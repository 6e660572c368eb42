//! Parses the arguments, calls `cli`, and turns the outcome into an exit code.

use std::process::ExitCode;

use pacegate::measure::noise;
use pacegate::measure::reaper::{REAPER_ARGUMENT, reaper_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(REAPER_ARGUMENT) {
        reaper_main(arguments);
        return ExitCode::SUCCESS;
    }
    if noise::is_wanted() {
        let arguments: Vec<String> = std::env::args().collect();
        return match noise::noise_main(&arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    pacegate::cli::main(std::env::args_os())
}
