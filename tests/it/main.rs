//! The integration tests: one binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

#[cfg(all(target_os = "linux", feature = "github"))]
mod act;
#[cfg(feature = "github")]
mod alerts;
mod baselines;
mod browser;
mod cases;
mod cli;
#[cfg(feature = "parquet")]
mod columns;
mod compare;
mod config;
mod configuration;
#[cfg(feature = "github")]
mod contract;
mod desk;
mod docs;
mod fixtures;
mod formats;
mod gate;
#[cfg(feature = "github")]
mod github;
mod golden;
mod history;
#[cfg(feature = "github")]
mod hub;
mod ingest;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(feature = "object-store")]
mod objects;
mod pages;
mod readers;
mod runs;
mod site;
#[cfg(target_os = "linux")]
mod stored;
mod studies;
mod suite;
mod tidy;
mod workflows;
