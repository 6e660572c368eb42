//! The integration tests: one binary, so that it links once.

mod golden;
mod pages;
