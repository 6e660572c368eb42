//! The one integration binary.

mod measure;
