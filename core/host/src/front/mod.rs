//! Bytes to messages and back. Owns standard output.

pub mod stdio;
