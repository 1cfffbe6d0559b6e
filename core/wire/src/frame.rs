//! Frames: four bytes of length, little end first, then that many bytes of UTF-8 JSON.
//!
//! No reading and no writing here: the decoder takes whatever a read gave, the encoder gives one buffer to
//! write. What the bytes mean is left to [`crate::envelope`].

#[cfg(test)]
mod tests;

/// Bytes of the length before a payload.
pub const PREFIX_BYTES: usize = 4;

/// Longest payload, in bytes. A longer one is refused before anything is allocated for it.
pub const MAX_PAYLOAD_BYTES: usize = 128 * 1024 * 1024;

/// Room that stays allocated between frames, in bytes; a larger one is given back.
const KEPT_BYTES: usize = 64 * 1024;

/// A payload that is too long, on its way out or announced by the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {bytes} bytes is over the limit of {MAX_PAYLOAD_BYTES} bytes")]
pub struct FrameTooLong {
    /// Its length.
    pub bytes: usize,
}

/// A payload with its length in front, ready for one write.
///
/// # Errors
/// When it is longer than [`MAX_PAYLOAD_BYTES`].
pub fn encode(payload: &[u8]) -> Result<Vec<u8>, FrameTooLong> {
    let length = checked(payload.len())?;
    let mut frame = Vec::with_capacity(PREFIX_BYTES + payload.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(payload);
    Ok(frame)
}

/// Frames out of a stream of bytes that arrives in any pieces.
///
/// The buffer grows with what has arrived and never by what a peer only announced.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Start of what has not been given out.
    start: usize,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what a read gave.
    pub fn push(&mut self, bytes: &[u8]) {
        self.compact();
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole payload, or `None` until more has arrived.
    ///
    /// # Errors
    /// When the peer announces more than [`MAX_PAYLOAD_BYTES`]. Where the next frame would begin is then
    /// unknown, so every later call fails alike.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameTooLong> {
        let rest = &self.buffer[self.start..];
        let Some((prefix, rest)) = rest.split_first_chunk::<PREFIX_BYTES>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_le_bytes(*prefix)).unwrap_or(usize::MAX);
        checked(length)?;
        if rest.len() < length {
            return Ok(None);
        }
        let begin = self.start + PREFIX_BYTES;
        self.start = begin + length;
        Ok(Some(&self.buffer[begin..self.start]))
    }

    /// Whether a part of a frame is waiting for its rest.
    pub fn is_mid_frame(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// Drops what was given out.
    fn compact(&mut self) {
        if self.start == 0 {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.len() < KEPT_BYTES {
            self.buffer.shrink_to(KEPT_BYTES);
        }
    }
}

fn checked(bytes: usize) -> Result<u32, FrameTooLong> {
    u32::try_from(bytes).ok().filter(|_| bytes <= MAX_PAYLOAD_BYTES).ok_or(FrameTooLong { bytes })
}
