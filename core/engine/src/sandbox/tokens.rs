//! The words of an expression.

use super::Fault;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    Name,
    Sign,
}

/// A word and where it stands, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// Signs of two letters first, so that they are not read as two of one.
const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "**", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")",
    "[", "]", "{", "}", ",", ":", ".",
];

/// All words of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Fault> {
    let mut found = vec![];
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (kind, length) = word(rest).ok_or_else(|| {
            let letter = rest.chars().next().unwrap_or_default();
            Fault::Syntax { at, what: format!("`{letter}` is not expected here") }
        })?;
        found.push(Token { kind, text: &rest[..length], begin: at, end: at + length });
        at += length;
    }
    Ok(found)
}

fn word(rest: &str) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    if first.is_ascii_digit()
        || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
    {
        return Some((Kind::Number, number(rest)));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        return Some((Kind::Name, end.unwrap_or(rest.len())));
    }
    if matches!(first, '"' | '\'') {
        return quoted(rest, first).map(|length| (Kind::Text, length));
    }
    SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| (Kind::Sign, sign.len()))
}

/// Digits, a point, an exponent; or hexadecimal digits.
fn number(rest: &str) -> usize {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if let Some(hex) = rest.strip_prefix("0x") {
        return 2 + hex.len() - hex.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
    }
    let mut end = digits(rest);
    if rest[end..].starts_with('.') {
        end += 1 + digits(&rest[end + 1..]);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = digits(&rest[end + 1 + sign..]);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    end
}

/// A text up to its closing quote.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
