//! A command line as text to its tokens, and tokens back to such a line.
//!
//! The dialect is the protocol's own, the same on every system and no shell's: blanks separate, quotes group,
//! a backslash takes the next character as it is, and nothing is ever expanded. What the tokens mean is left
//! to [`crate::bind`].
//!
//! Blanks are the space, the tab and the ends of lines. Every other character is text, the blanks of Unicode
//! included: a line that was pasted with a non-breaking space keeps it, and the unknown name shows it.
//!
//! Spec: P-62, command lines.

use std::fmt;

#[cfg(test)]
mod tests;

/// Why a line has no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// A quote that nothing closes.
    Quote {
        /// `"` or `'`.
        mark: char,
        /// Bytes before it.
        at: usize,
    },
    /// A backslash with nothing after it.
    Backslash,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfinished::Quote { mark, at } => {
                write!(out, "Unbalanced quote: {mark} at byte {at} is never closed")
            }
            Unfinished::Backslash => out.write_str("Dangling backslash at the end of the line"),
        }
    }
}

impl std::error::Error for Unfinished {}

/// Where in a line the reader stands.
#[derive(Clone, Copy)]
enum State {
    Plain,
    Double { at: usize },
    Single { at: usize },
}

/// Splits a line into its tokens. A line of blanks has none.
///
/// # Errors
/// A quote that is not closed, or a backslash at the end.
pub fn split(line: &str) -> Result<Vec<String>, Unfinished> {
    let mut tokens = vec![];
    let mut token: Option<String> = None;
    let mut state = State::Plain;
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (state, letter) {
            (State::Plain, letter) if is_blank(letter) => tokens.extend(token.take()),
            (State::Plain, '"') => {
                // A pair of quotes with nothing between them is a token all the same.
                token.get_or_insert_default();
                state = State::Double { at };
            }
            (State::Plain, '\'') => {
                token.get_or_insert_default();
                state = State::Single { at };
            }
            (State::Double { .. }, '"') | (State::Single { .. }, '\'') => state = State::Plain,
            (State::Plain | State::Double { .. }, '\\') => {
                let (_, taken) = letters.next().ok_or(Unfinished::Backslash)?;
                token.get_or_insert_default().push(taken);
            }
            (_, letter) => token.get_or_insert_default().push(letter),
        }
    }
    match state {
        State::Plain => {
            tokens.extend(token);
            Ok(tokens)
        }
        State::Double { at } => Err(Unfinished::Quote { mark: '"', at }),
        State::Single { at } => Err(Unfinished::Quote { mark: '\'', at }),
    }
}

/// Writes tokens as one line that [`split`] takes apart into the same tokens.
pub fn quote<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (index, token) in tokens.into_iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        quote_one(token.as_ref(), &mut line);
    }
    line
}

/// Single quotes take everything but themselves, so they come first where a token needs any.
fn quote_one(token: &str, line: &mut String) {
    if !token.is_empty() && !token.contains(needs_quotes) {
        line.push_str(token);
    } else if !token.contains('\'') {
        line.push('\'');
        line.push_str(token);
        line.push('\'');
    } else {
        line.push('"');
        for letter in token.chars() {
            if matches!(letter, '"' | '\\') {
                line.push('\\');
            }
            line.push(letter);
        }
        line.push('"');
    }
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

fn needs_quotes(letter: char) -> bool {
    is_blank(letter) || matches!(letter, '"' | '\'' | '\\')
}
