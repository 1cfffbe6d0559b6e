//! The words and strings of source code, so that a comment or a longer string is never taken for a name.
//!
//! It knows comments, strings and node paths of `GDScript`, C# and the shader language, and nothing of grammar.
//! What a word means is left to its callers.
//!
//! Spec: P-50, references.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// Words after which a `%` of `GDScript` begins a node's unique name and not a remainder.
const BEFORE_A_VALUE: [&str; 11] =
    ["return", "in", "and", "or", "not", "if", "elif", "while", "else", "await", "is"];

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Gdscript,
    Csharp,
    Shader,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, a keyword or a number.
    Word,
    /// A string; `inner` is what stands between its quotes, and the byte is the quote.
    Text(u8),
    /// `$A/B` or `%Name` of `GDScript`; `inner` is the path.
    NodePath,
    /// Any other byte.
    Mark(u8),
}

/// A token of a source.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
    pub(crate) inner: Range<usize>,
}

impl Token {
    pub(crate) fn is_mark(&self, byte: u8) -> bool {
        self.kind == Kind::Mark(byte)
    }

    pub(crate) fn is_word(&self, source: &str, word: &str) -> bool {
        self.kind == Kind::Word && &source[self.span.clone()] == word
    }
}

/// The tokens of a source, comments and blanks left out.
pub(crate) fn tokens(source: &str, dialect: Dialect) -> Vec<Token> {
    let mut lexer = Lexer { bytes: source.as_bytes(), source, dialect, at: 0, found: vec![] };
    while lexer.at < lexer.bytes.len() {
        lexer.step();
    }
    lexer.found
}

struct Lexer<'s> {
    bytes: &'s [u8],
    source: &'s str,
    dialect: Dialect,
    at: usize,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        let gdscript = self.dialect == Dialect::Gdscript;
        match byte {
            b'#' if gdscript => self.skip_line(),
            b'/' if !gdscript && self.starts("//") => self.skip_line(),
            b'/' if !gdscript && self.starts("/*") => self.skip_block(),
            b'"' | b'\'' => self.text(false),
            b'@' if self.dialect == Dialect::Csharp && self.starts("@\"") => {
                self.at += 1;
                self.text(true);
            }
            b'$' if gdscript => self.node_path(1),
            b'%' if gdscript && self.begins_unique_name() => self.node_path(0),
            byte if is_word(byte) => self.word(),
            byte if byte <= b' ' => self.at += 1,
            byte => {
                let span = self.at..self.at + 1;
                self.at += 1;
                self.push(Kind::Mark(byte), span.clone(), span);
            }
        }
    }

    fn push(&mut self, kind: Kind, span: Range<usize>, inner: Range<usize>) {
        self.found.push(Token { kind, span, inner });
    }

    fn starts(&self, what: &str) -> bool {
        self.bytes[self.at..].starts_with(what.as_bytes())
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    fn skip_block(&mut self) {
        let end = self.source.get(self.at + 2..).and_then(|rest| rest.find("*/"));
        self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
    }

    fn word(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
        self.push(Kind::Word, start..self.at, start..self.at);
    }

    /// A string from its quote on. `doubled`: a quote inside is written twice, and `\` is itself.
    fn text(&mut self, doubled: bool) {
        let start = self.at;
        let quote = self.bytes[start];
        let three = [quote; 3];
        let long = !doubled
            && self.bytes[start..].starts_with(&three)
            && self.dialect != Dialect::Shader
            && (quote == b'"' || self.dialect == Dialect::Gdscript);
        let width = if long { 3 } else { 1 };
        let mut at = start + width;
        loop {
            match self.bytes.get(at) {
                None => break,
                Some(b'\\') if !doubled => at += 2,
                Some(byte) if *byte == quote => {
                    if doubled && self.bytes.get(at + 1) == Some(&quote) {
                        at += 2;
                    } else if !long || self.bytes[at..].starts_with(&three) {
                        break;
                    } else {
                        at += 1;
                    }
                }
                // A string of one line that is not closed ends with its line.
                Some(b'\n') if !long && !doubled => break,
                Some(_) => at += 1,
            }
        }
        let end = at.min(self.bytes.len());
        let closed = self.bytes.get(end) == Some(&quote);
        self.at = if closed { end + width } else { end };
        self.push(Kind::Text(quote), start..self.at, start + width..end);
    }

    /// `$` and a path, or `%Name`; `skipped` bytes before the path are not part of it.
    fn node_path(&mut self, skipped: usize) {
        let start = self.at;
        self.at += skipped;
        if self.bytes.get(self.at) == Some(&b'"') {
            self.text(false);
            if let Some(path) = self.found.last_mut() {
                path.kind = Kind::NodePath;
                path.span.start = start;
            }
            return;
        }
        let inner = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            let part = is_word(*byte) || matches!(byte, b'/' | b'%');
            if !part && !self.starts("..") && !self.source[inner..self.at].ends_with('.') {
                break;
            }
            if !part && *byte != b'.' {
                break;
            }
            self.at += 1;
        }
        self.push(Kind::NodePath, start..self.at, inner..self.at);
    }

    fn begins_unique_name(&self) -> bool {
        if !self.bytes.get(self.at + 1).is_some_and(|byte| is_word(*byte)) {
            return false;
        }
        match self.found.last() {
            Some(Token { kind: Kind::Mark(b')' | b']' | b'}'), .. }) => false,
            None | Some(Token { kind: Kind::Mark(_), .. }) => true,
            Some(token @ Token { kind: Kind::Word, .. }) => {
                BEFORE_A_VALUE.iter().any(|word| token.is_word(self.source, word))
            }
            Some(_) => false,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
