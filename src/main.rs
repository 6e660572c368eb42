//! Parses the arguments, calls `cli`, and turns the outcome into an exit code.

fn main() {}
