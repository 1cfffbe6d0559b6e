//! The one error of this crate: where a file stops being readable, and why.

use std::borrow::Cow;

use crate::text;

/// A file, or one value, that cannot be read.
///
/// Displays as `line L, column C: message`. The message is one sentence without a final stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct FormatError {
    /// Line, from 1. `\n`, `\r\n` and a lone `\r` each end one.
    pub line: u32,
    /// Column in code points, from 1. A byte-order mark is not counted.
    pub column: u32,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// An error that still carries a byte offset; the outermost caller turns it into a [`FormatError`].
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) message: Cow<'static, str>,
}

impl Fault {
    pub(crate) fn new(offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Fault { offset, message: message.into() }
    }

    pub(crate) fn locate(self, source: &[u8]) -> FormatError {
        let (line, column) = text::position(source, self.offset);
        FormatError { line, column, message: self.message.into_owned() }
    }
}
