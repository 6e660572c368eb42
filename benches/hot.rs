//! The hot paths of pacegate itself.
fn main() {}
