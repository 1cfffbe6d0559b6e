//! The binary `didi`.
fn main() {}
