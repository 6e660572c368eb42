//! A bench target that keeps the built-in harness.

#[test]
fn passes() {}
