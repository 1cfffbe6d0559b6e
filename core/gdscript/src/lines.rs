//! How the lines of a script hang together, and what they are indented with.
//!
//! Indentation counts only where a statement begins. A line that continues a string, a bracket or a line with a
//! backslash may begin anywhere, and a text is told from code by the engine's own rules: strings of one and of
//! three quotes run over line ends, a backslash keeps the next letter from ending one, raw or not.
//!
//! Spec: P-53, scripts.

use std::ops::Range;

/// What a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Blank,
    /// A comment.
    Comment,
    /// A statement, whose indentation counts.
    Statement,
    /// The rest of a bracket, or of a line that ended in a backslash.
    Continued,
    /// The rest of a string: not a byte of it may be touched.
    InString,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its bytes, without the line end.
    pub range: Range<usize>,
    /// Where the next line begins.
    pub next: usize,
    /// Bytes of white space that it begins with.
    pub indent: usize,
    /// What it begins with.
    pub kind: Kind,
}

/// The lines of a text. A text that ends in a line end has no empty line behind it.
pub fn of(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut state = State::default();
    let mut start = 0;
    while start < bytes.len() {
        let newline = bytes[start..].iter().position(|byte| *byte == b'\n');
        let next = newline.map_or(bytes.len(), |at| start + at + 1);
        let end = newline.map_or(bytes.len(), |at| start + at);
        let end = if bytes[start..end].ends_with(b"\r") { end - 1 } else { end };
        let line = &bytes[start..end];
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let kind = state.kind_of(&line[indent..]);
        found.push(Line { range: start..end, next, indent, kind });
        state.read(line, newline.is_some());
        start = next;
    }
    found
}

#[derive(Default)]
struct State {
    /// The quotes that end the string that is open.
    string: Option<&'static [u8]>,
    brackets: usize,
    backslash: bool,
}

impl State {
    fn kind_of(&self, rest: &[u8]) -> Kind {
        if self.string.is_some() {
            return Kind::InString;
        }
        if self.brackets > 0 || self.backslash {
            return Kind::Continued;
        }
        match rest.first() {
            None => Kind::Blank,
            Some(b'#') => Kind::Comment,
            Some(_) => Kind::Statement,
        }
    }

    fn read(&mut self, line: &[u8], has_end: bool) {
        self.backslash = false;
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            if let Some(quotes) = self.string {
                at += match rest[0] {
                    b'\\' => 2,
                    _ if rest.starts_with(quotes) => {
                        self.string = None;
                        quotes.len()
                    }
                    _ => 1,
                };
                continue;
            }
            match rest[0] {
                b'#' => return,
                b'"' | b'\'' => {
                    let quotes = quotes_of(rest);
                    self.string = Some(quotes);
                    at += quotes.len();
                    continue;
                }
                b'(' | b'[' | b'{' => self.brackets += 1,
                b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                b'\\' if at + 1 == line.len() => self.backslash = has_end,
                _ => {}
            }
            at += 1;
        }
    }
}

fn quotes_of(rest: &[u8]) -> &'static [u8] {
    let all: [&'static [u8]; 4] = [b"\"\"\"", b"'''", b"\"", b"'"];
    all.into_iter().find(|quotes| rest.starts_with(quotes)).unwrap_or(b"\"")
}

/// What one level of indentation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One tab.
    Tabs,
    /// So many spaces.
    Spaces(usize),
}

impl Style {
    /// White space of so many levels.
    pub fn levels(self, count: usize) -> String {
        match self {
            Style::Tabs => "\t".repeat(count),
            Style::Spaces(width) => " ".repeat(width * count),
        }
    }

    /// How many whole levels a piece of white space is, and how many spaces are left over.
    pub fn measure(self, space: &str) -> (usize, usize) {
        match self {
            Style::Tabs => {
                let tabs = space.bytes().take_while(|byte| *byte == b'\t').count();
                (tabs, space.len() - tabs)
            }
            Style::Spaces(width) => (space.len() / width, space.len() % width),
        }
    }
}

/// What a text is indented with, `None` where no statement is, and the first line (from 1) that mixes.
///
/// # Errors
/// The line whose indentation does not agree with the lines above it.
pub fn style(text: &str, lines: &[Line]) -> Result<Option<Style>, usize> {
    let mut style: Option<Style> = None;
    for (number, line) in lines.iter().enumerate() {
        if line.kind != Kind::Statement || line.indent == 0 {
            continue;
        }
        let space = &text[line.range.start..line.range.start + line.indent];
        let tabs = space.bytes().all(|byte| byte == b'\t');
        let spaces = space.bytes().all(|byte| byte == b' ');
        style = match style {
            None | Some(Style::Tabs) if tabs => Some(Style::Tabs),
            None if spaces => Some(Style::Spaces(line.indent)),
            Some(Style::Spaces(width)) if spaces => Some(Style::Spaces(common(width, line.indent))),
            _ => return Err(number + 1),
        };
    }
    Ok(style)
}

/// The greatest common divisor.
fn common(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests;
