//! Splices: bytes of a file replaced by others, everything else left as it is.
//!
//! Spec: P-42, Godot's text formats.

use std::ops::Range;

/// Puts texts in the places of byte ranges, which do not overlap.
pub(crate) fn apply(source: &[u8], mut splices: Vec<(Range<usize>, String)>) -> Vec<u8> {
    splices.sort_by_key(|(range, _)| range.start);
    let mut bytes = Vec::with_capacity(source.len());
    let mut done = 0;
    for (range, text) in splices {
        bytes.extend_from_slice(source.get(done..range.start).unwrap_or_default());
        bytes.extend_from_slice(text.as_bytes());
        done = range.end;
    }
    bytes.extend_from_slice(source.get(done..).unwrap_or_default());
    bytes
}
