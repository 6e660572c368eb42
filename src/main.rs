//! Parses the arguments, calls `cli`, and turns the outcome into an exit code.

fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(pacegate::measure::reaper::REAPER_ARGUMENT) {
        pacegate::measure::reaper_main(arguments);
    }
}
