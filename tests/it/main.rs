//! The one integration binary: everything that needs files, folders or the program itself.

mod config;
mod ingest;
