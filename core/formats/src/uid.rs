//! Resource identifiers in text: `uid://` and letters or digits.

use crate::FormatError;
use crate::error::Fault;
use crate::text::BOM;

#[cfg(test)]
mod tests;

const PREFIX: &str = "uid://";
const LETTERS: u64 = 25;
const BASE: u64 = LETTERS + 9;

/// Whether `text` is a uid as the engine reads one: `uid://`, then lower-case letters and digits.
///
/// `uid://<invalid>`, which the engine writes for "none", is not one.
pub fn is_uid(text: &str) -> bool {
    number(text).is_some()
}

/// The number behind a uid, as the engine's own cache counts it; `None` when it is not a uid.
///
/// Two spellings of one number exist (`z` reads as `0`), so compare numbers and not texts.
pub fn number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix(PREFIX).filter(|digits| !digits.is_empty())?;
    let value = digits.bytes().try_fold(0_u64, |value, byte| {
        let digit = match byte {
            b'a'..=b'z' => u64::from(byte - b'a'),
            b'0'..=b'9' => u64::from(byte - b'0') + LETTERS,
            _ => return None,
        };
        Some(value.wrapping_mul(BASE).wrapping_add(digit))
    })?;
    Some(value & (u64::MAX >> 1))
}

/// The uid that a `.uid` file holds: one line, white space around it ignored.
///
/// # Errors
/// When the file holds anything but one uid.
pub fn parse_uid_file(source: &[u8]) -> Result<&str, FormatError> {
    let bytes = source.strip_prefix(BOM).unwrap_or(source).trim_ascii();
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| is_uid(text))
        .ok_or_else(|| Fault::new(0, "expected one line with a uid, `uid://...`").locate(source))
}
