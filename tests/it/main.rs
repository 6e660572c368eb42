//! The one integration binary.

mod gate;
mod runs;
mod tidy;
