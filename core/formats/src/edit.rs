//! Edits as byte splices: what was not asked for stays byte for byte.
//!
//! `config` and `scene` work out what to splice from the lossless model; this module knows how lines end,
//! where a line may be added or taken away, and how splices are put into the source.
//!
//! Spec: P-42, Godot's text formats.

use std::borrow::Cow;

use crate::document::{Document, Item, ItemKind, PropertySpan, Span};
use crate::error::FormatError;
use crate::variant;

#[cfg(test)]
mod tests;

/// Bytes of the source that are replaced by a text; with an empty span, an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// Splices in ascending order, none overlapping another. Empty when nothing has to change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    splices: Vec<Splice>,
}

/// Why an edit is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text that was to be written is not exactly one value.
    #[error("the value is not one that the engine reads: {0}")]
    Value(FormatError),
    /// The file is read in a way that makes every write a risk.
    #[error("line {line}: {message}")]
    Refused {
        /// The line, from 1.
        line: u32,
        /// The finding, one sentence.
        message: String,
    },
    /// What was to be changed is not in the file.
    #[error("the file has no {0}")]
    NotFound(String),
    /// A name that no file can hold.
    #[error("{0}")]
    Name(String),
}

impl Edit {
    pub(crate) fn one(span: Span, text: impl Into<String>) -> Self {
        Edit { splices: vec![Splice { span, text: text.into() }] }
    }

    pub(crate) fn of(mut splices: Vec<Splice>) -> Self {
        splices.sort_by_key(|splice| splice.span);
        Edit { splices }
    }

    /// The splices, in ascending order.
    pub fn splices(&self) -> &[Splice] {
        &self.splices
    }

    /// Whether the file already is as asked.
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// The file with the splices in it. `source` is what the edit was worked out from.
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        let grown: usize = self.splices.iter().map(|splice| splice.text.len()).sum();
        let mut bytes = Vec::with_capacity(source.len() + grown);
        let mut done = 0;
        for Splice { span, text } in &self.splices {
            let range = span.range();
            bytes.extend_from_slice(&source[done..range.start]);
            bytes.extend_from_slice(text.as_bytes());
            done = range.end;
        }
        bytes.extend_from_slice(&source[done..]);
        bytes
    }
}

/// Checks that a text is exactly one value without blanks or comments around it.
pub(crate) fn check_value(text: &str) -> Result<(), EditError> {
    variant::check(text).map_err(EditError::Value)
}

/// Whether a value in a file already is the one asked for, however each is spelled.
pub(crate) fn same_value(written: &str, wanted: &str) -> bool {
    if written == wanted {
        return true;
    }
    match (variant::parse(written), variant::parse(wanted)) {
        (Ok(written), Ok(wanted)) => written == wanted,
        _ => false,
    }
}

/// A property's key as the engine writes it: bare where it can be, else in quotes.
pub fn key(name: &str) -> Cow<'_, str> {
    let quoted = name.is_empty()
        || name.bytes().any(|byte| !(33..=126).contains(&byte) || b"=\";[]".contains(&byte));
    if !quoted {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for letter in name.chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    Cow::Owned(text)
}

/// Where a line ends that begins with something else.
enum Tail {
    /// After the line's end, with whether anything but blanks stood before it.
    LineEnd(usize),
    /// The file ends without a line end, maybe in a comment.
    FileEnd { comment: bool },
    /// More text follows on the line.
    Text,
}

/// Lines and properties of a document, as an edit looks at them.
pub(crate) struct Lines<'d, 'a> {
    document: &'d Document<'a>,
    bytes: &'a [u8],
}

impl<'d, 'a> Lines<'d, 'a> {
    pub(crate) fn of(document: &'d Document<'a>) -> Self {
        Lines { document, bytes: document.source().as_bytes() }
    }

    /// The line end used nearest before an offset, else after it, else `\n`.
    ///
    /// Line ends inside values are text of those values and do not count.
    pub(crate) fn line_end_at(&self, offset: usize) -> &'static str {
        let items = self.document.items();
        let split = items.partition_point(|item| (item.span.start as usize) < offset);
        let before = items[..split].iter().rev().filter_map(|item| self.line_end_in(item, true));
        let after = items[split..].iter().filter_map(|item| self.line_end_in(item, false));
        before.chain(after).next().unwrap_or("\n")
    }

    fn line_end_in(&self, item: &Item, last: bool) -> Option<&'static str> {
        if item.kind != ItemKind::Blank {
            return None;
        }
        let text = &self.bytes[item.span.range()];
        let at = if last {
            memchr::memrchr2(b'\n', b'\r', text)?
        } else {
            memchr::memchr2(b'\n', b'\r', text)?
        };
        // The `\r` of a line that ends in a comment belongs to the comment.
        let at = item.span.start as usize + at;
        let around = &self.bytes[at.saturating_sub(1)..(at + 2).min(self.bytes.len())];
        Some(match self.bytes[at] {
            _ if memchr::memmem::find(around, b"\r\n").is_some() => "\r\n",
            b'\r' => "\r",
            _ => "\n",
        })
    }

    fn is_line_end(byte: u8) -> bool {
        matches!(byte, b'\n' | b'\r')
    }

    fn is_edge(byte: u8) -> bool {
        byte <= b' ' && !Self::is_line_end(byte)
    }

    fn after_line_end(&self, at: usize) -> usize {
        at + if self.bytes[at..].starts_with(b"\r\n") { 2 } else { 1 }
    }

    /// What follows an item's last byte on its line.
    fn tail(&self, end: usize) -> Tail {
        let rest = &self.bytes[end..];
        let mut at = end + rest.iter().take_while(|byte| Self::is_edge(**byte)).count();
        let comment = self.bytes.get(at) == Some(&b';');
        if comment {
            // The engine ends a comment at `\n` only.
            at =
                memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |next| at + next);
        }
        match self.bytes.get(at) {
            None => Tail::FileEnd { comment },
            Some(byte) if Self::is_line_end(*byte) => Tail::LineEnd(self.after_line_end(at)),
            Some(_) => Tail::Text,
        }
    }

    /// A value in place of another. Where the next thing begins right behind, a blank keeps the two apart:
    /// `a="x"1=2` would go on as `a=51=2`.
    pub(crate) fn replacement(&self, value: Span, text: &str) -> Edit {
        let apart = if self.goes_on_at(value.end as usize) { " " } else { "" };
        Edit::one(value, format!("{text}{apart}"))
    }

    /// Whether a key, an attribute or another word begins at an offset.
    pub(crate) fn goes_on_at(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(|byte| *byte > b' ' && !b";[]".contains(byte))
    }

    /// An insertion of whole lines after what ends at `end`. `lines` come without their line ends.
    pub(crate) fn insert_after(&self, end: usize, lines: &[String]) -> Edit {
        let eol = self.line_end_at(end);
        let at = |offset| Span::new(offset, offset);
        match self.tail(end) {
            Tail::LineEnd(next) => {
                let text: String = lines.iter().flat_map(|line| [line.as_str(), eol]).collect();
                Edit::one(at(next), text)
            }
            Tail::FileEnd { comment } => {
                // The file goes on not ending in a line end.
                let first = if comment && eol == "\r" { "\n" } else { eol };
                let text = format!("{first}{}", lines.join(eol));
                Edit::one(at(self.bytes.len()), text)
            }
            Tail::Text => {
                let text = format!("{eol}{}{eol}", lines.join(eol));
                Edit::one(at(end), text)
            }
        }
    }

    /// Whether the line after the one where `end` stands is blank, or the file ends there.
    pub(crate) fn blank_line_follows(&self, end: usize) -> bool {
        let Tail::LineEnd(next) = self.tail(end) else { return false };
        let rest = &self.bytes[next..];
        let blanks = rest.iter().take_while(|byte| Self::is_edge(**byte)).count();
        rest.get(blanks).is_none_or(|byte| Self::is_line_end(*byte))
    }

    /// Takes a property away: its lines when it has them for itself, else its own bytes.
    pub(crate) fn removal(&self, property: &PropertySpan) -> Splice {
        let (start, end) = (property.key.start as usize, property.value.end as usize);
        let before = &self.bytes[..start];
        let blanks_before = before.iter().rev().take_while(|byte| Self::is_edge(**byte)).count();
        let line_start = start - blanks_before;
        let begins_line =
            self.bytes[..line_start].last().is_none_or(|byte| Self::is_line_end(*byte));
        let rest = &self.bytes[end..];
        let blanks = rest.iter().take_while(|byte| Self::is_edge(**byte)).count();
        let line_end = end + blanks;
        let span = match self.bytes.get(line_end) {
            Some(byte) if begins_line && Self::is_line_end(*byte) => {
                Span::new(line_start, self.after_line_end(line_end))
            }
            None if begins_line => Span::new(line_start, line_end),
            // A comment, or another property, goes on alone in the line.
            _ if begins_line => Span::new(start, line_end),
            _ => Span::new(start, end),
        };
        let meets = blanks_before == 0 && !begins_line && self.goes_on_at(span.end as usize);
        Splice { span, text: if meets { " ".into() } else { String::new() } }
    }

    /// How a property of this file separates key and value: a `=` with the blanks around it.
    pub(crate) fn separator(&self, like: Option<&PropertySpan>, usual: &'static str) -> &'a str {
        let Some(like) = like else { return usual };
        let between = like.key.end as usize..like.value.start as usize;
        let text = &self.document.source()[between];
        let plain = text.trim_matches(' ') == "=";
        if plain && text.len() <= 3 { text } else { usual }
    }
}

/// The properties between a section's item and the next section.
pub(crate) fn properties_after<'d>(
    document: &'d Document<'_>,
    section: usize,
) -> impl Iterator<Item = &'d PropertySpan> {
    let items = document.items().get(section + 1..).unwrap_or_default();
    items.iter().take_while(|item| !matches!(item.kind, ItemKind::Section(_))).filter_map(|item| {
        if let ItemKind::Property(span) = &item.kind { Some(span) } else { None }
    })
}
