//! The one integration binary: everything that needs files, folders or the program itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its files has nothing to test")]

mod config;
mod ingest;
