//! Where a value is on a board: `a.b.c`, `a/b/c` or the JSON pointer `/a/b/c`, shown as a pointer.
//!
//! Spec: P-51, boards.

use std::fmt;

use didi_plugin_api::prelude::*;

/// Most parts of a path, and so the deepest nesting of a board, in levels.
pub(crate) const MAX_PARTS: usize = 32;

/// A place on a board; without parts it is the board itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BoardPath(Vec<String>);

impl BoardPath {
    /// Reads what a caller sends: a pointer when it starts with `/`, else parts between `/`, else between `.`.
    pub(crate) fn parse(text: &str, field: &str) -> Result<Self, Refusal> {
        if text == "/" {
            return Ok(BoardPath::default());
        }
        if text.is_empty() || text.starts_with('/') {
            return Self::pointer(text).map_err(|why| Refusal::invalid(field, why));
        }
        let mark = if text.contains('/') { '/' } else { '.' };
        let parts: Vec<String> = text.split(mark).map(Into::into).collect();
        if parts.iter().any(String::is_empty) {
            let why = format!("`{text}` has an empty part; a path reads `a.b.c` or `/a/b/c`");
            return Err(Refusal::invalid(field, why));
        }
        Self::of(parts, text).map_err(|why| Refusal::invalid(field, why))
    }

    /// Reads a JSON pointer (RFC 6901).
    pub(crate) fn pointer(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(BoardPath::default());
        }
        let Some(inner) = text.strip_prefix('/') else {
            return Err(format!("`{text}` is no JSON pointer: it starts with `/`"));
        };
        let parts: Option<Vec<String>> = inner.split('/').map(unescape).collect();
        match parts {
            Some(parts) => Self::of(parts, text),
            None => Err(format!("`{text}` has a `~` that is neither `~0` nor `~1`")),
        }
    }

    fn of(parts: Vec<String>, text: &str) -> Result<Self, String> {
        if parts.len() > MAX_PARTS {
            let count = parts.len();
            return Err(format!("`{text}` has {count} parts, and at most {MAX_PARTS} are taken"));
        }
        Ok(BoardPath(parts))
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn is_board(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of the first `count` parts.
    pub(crate) fn prefix(&self, count: usize) -> Self {
        BoardPath(self.0[..count.min(self.0.len())].to_vec())
    }

    /// The container that the path's last part is in; `None` for the board itself.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.len().checked_sub(1).map(|count| self.prefix(count))
    }

    /// The path with another last part.
    pub(crate) fn with_last(&self, last: String) -> Self {
        let mut parts = self.0[..self.0.len().saturating_sub(1)].to_vec();
        parts.push(last);
        BoardPath(parts)
    }

    /// The path one part further down.
    pub(crate) fn below(&self, part: &str) -> Self {
        let mut parts = self.0.clone();
        parts.push(part.into());
        BoardPath(parts)
    }

    /// Whether this path is `other` or lies below it.
    pub(crate) fn is_in(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for BoardPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|part| write!(out, "/{}", part.replace('~', "~0").replace('/', "~1")))
    }
}

fn unescape(part: &str) -> Option<String> {
    let mut out = String::with_capacity(part.len());
    let mut letters = part.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '~' => match letters.next()? {
                '0' => out.push('~'),
                '1' => out.push('/'),
                _ => return None,
            },
            _ => out.push(letter),
        }
    }
    Some(out)
}
