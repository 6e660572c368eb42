//! The integration tests: one binary, so that it links once.

mod config;
mod gate;
mod golden;
mod ingest;
mod pages;
mod runs;
mod tidy;
