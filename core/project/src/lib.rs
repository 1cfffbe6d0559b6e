//! The files of a Godot project, as every pack sees them.
//!
//! [`walk`] lists them, [`parallel`] works on many at once, [`mod@facts`] says what a file tells of itself, and
//! [`words`] which words it can hold. Facts and words are kept between calls, by the state that the file was in
//! ([`kept`]): a file that changed is read again, so the files stay the truth. What a tool makes of them is left
//! to the packs.
//!
//! Spec: P-50, the project's files.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests write the files that they read")
)]

pub mod facts;
pub mod kept;
pub mod parallel;
pub mod walk;
pub mod words;

pub use facts::{Facts, Trust, facts};
pub use walk::File;
