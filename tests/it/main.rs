//! The integration tests: one binary, so that it links once.

mod gate;
mod golden;
mod pages;
mod runs;
mod tidy;
