//! Messages of the Debug Adapter Protocol as bytes: a header that says how long, then JSON.

use serde_json::Value;

/// Longest message, in bytes. A scope with many long texts is answered in one.
pub(super) const MAX_MESSAGE_BYTES: usize = 32 * 1024 * 1024;

/// Longest header, in bytes, its end included.
const MAX_HEADER_BYTES: usize = 1024;

/// What a header ends with.
const HEADER_END: &[u8] = b"\r\n\r\n";

/// The one field that a header has to have.
const LENGTH: &str = "content-length";

/// Bytes that are no message of the protocol, or a longer one than is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// A message as it is sent.
pub(super) fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// Messages out of a stream of bytes that arrives in any pieces. The buffer grows with what has arrived.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    buffer: Vec<u8>,
    /// Start of what has not been given out.
    start: usize,
}

impl Decoder {
    /// Takes what a read gave.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The body of the next whole message.
    pub(super) fn next_body(&mut self) -> Result<Option<&[u8]>, Unreadable> {
        let rest = &self.buffer[self.start..];
        let head = &rest[..rest.len().min(MAX_HEADER_BYTES)];
        let Some(end) = head.windows(HEADER_END.len()).position(|bytes| bytes == HEADER_END) else {
            return if rest.len() < MAX_HEADER_BYTES { Ok(None) } else { Err(Unreadable) };
        };
        let length = length(&rest[..end])?;
        let begin = end + HEADER_END.len();
        if rest.len() - begin < length {
            return Ok(None);
        }
        let begin = self.start + begin;
        self.start = begin + length;
        Ok(Some(&self.buffer[begin..self.start]))
    }
}

fn length(header: &[u8]) -> Result<usize, Unreadable> {
    let header = str::from_utf8(header).map_err(|_| Unreadable)?;
    let mut fields = header.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, length) =
        fields.find(|(name, _)| name.trim().eq_ignore_ascii_case(LENGTH)).ok_or(Unreadable)?;
    let length = length.trim().parse::<usize>().map_err(|_| Unreadable)?;
    if length <= MAX_MESSAGE_BYTES { Ok(length) } else { Err(Unreadable) }
}
