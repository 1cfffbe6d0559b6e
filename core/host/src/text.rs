//! Texts from outside, made fit for a message.

/// Longest part of a client's text that a message repeats, in characters.
const MAX_SHOWN_CHARS: usize = 80;

/// The beginning of a client's text, short enough for a message.
pub fn clip(text: &str) -> String {
    text.chars().take(MAX_SHOWN_CHARS).collect()
}
