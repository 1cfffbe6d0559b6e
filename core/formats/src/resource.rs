//! What an index of a project needs of a scene or resource, at little cost.
//!
//! The header alone from a file's first bytes, and the list of files it depends on. Resolving a path
//! against a uid (which of them is stale) is left to the index, which alone knows all files.

use std::borrow::Cow;

use memchr::memmem;

use crate::document::{Document, ItemKind, Layout, Section};
use crate::error::{Fault, FormatError};
use crate::lexer::{Kind, Lexer};
use crate::scene::Header;
use crate::text::{BOM, LineCursor};
use crate::variant::{self, Value};

#[cfg(test)]
mod tests;

/// A file that a scene or resource names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency<'a> {
    /// The stored path, `res://...` or sometimes `uid://...`; empty when the file gives none.
    pub path: Cow<'a, str>,
    /// The stored uid.
    pub uid: Option<Cow<'a, str>>,
    /// The resource type of an `ext_resource`; `PackedScene` for a placeholder.
    pub type_name: Cow<'a, str>,
    /// Whether it is the scene of an instance placeholder, which is loaded only on demand.
    pub placeholder: bool,
    /// The line, from 1.
    pub line: u32,
}

/// The files that a `.tscn` or `.tres` names, in file order.
///
/// A broken file gives those before the break, since a reference there is still one; a file of
/// another kind gives none.
pub fn dependencies(source: &[u8]) -> Vec<Dependency<'_>> {
    let document = naming_part(source);
    let mut lines = LineCursor::new(document.source().as_bytes());
    let mut found = Vec::new();
    for item in document.items() {
        let ItemKind::Section(section) = &item.kind else { continue };
        let name = document.section_name(section);
        let dependency = match &*name {
            "ext_resource" => external(&document, section),
            "node" => placeholder(&document, section),
            _ => None,
        };
        if let Some(dependency) = dependency {
            let line = lines.line_at(item.span.start as usize);
            found.push(Dependency { line, ..dependency });
        }
    }
    found
}

/// The part of a file up to the last section that can name a file, so that long values behind it are not read.
fn naming_part(source: &[u8]) -> Document<'_> {
    let last = [&b"ext_resource"[..], b"instance_placeholder"]
        .into_iter()
        // Forward, because hits are few and that way a search leaps over what holds none.
        .filter_map(|word| memmem::find_iter(source, word).last())
        .max();
    let behind = last.and_then(|at| Some(at + memmem::find(&source[at..], b"\n[")?));
    if let Some(end) = behind
        && let (document, None) = Document::parse_until_fault(&source[..end], Layout::Tagged)
    {
        return document;
    }
    Document::parse_until_fault(if last.is_some() { source } else { b"" }, Layout::Tagged).0
}

/// The header of a scene or resource from the file's first bytes.
///
/// `first_bytes` is any prefix that holds the first section, [`crate::limits::HEADER_BYTES`] in
/// practice; it may end anywhere, even inside a character. Nothing past the first section is looked at.
///
/// # Errors
/// When the first section does not end within these bytes, or is not `gd_scene` or `gd_resource`.
pub fn read_header(first_bytes: &[u8]) -> Result<Header<'_>, FormatError> {
    let end = header_end(valid_prefix(first_bytes)).map_err(|fault| fault.locate(first_bytes))?;
    let document = Document::parse_as(&first_bytes[..end], Layout::Tagged)?;
    Header::of(&document).map_err(|fault| fault.locate(first_bytes))
}

/// The byte after the first section's `]`.
fn header_end(text: &str) -> Result<usize, Fault> {
    let mut lexer = Lexer::new(text);
    if lexer.starts_with(BOM) {
        lexer.seek(BOM.len());
    }
    lexer.expect(b'[')?;
    // Attributes may hold brackets; those in strings are not tokens.
    let mut depth = 1;
    while depth > 0 {
        let token = lexer.next()?;
        match token.kind {
            Kind::Mark(b'[') => depth += 1,
            Kind::Mark(b']') => depth -= 1,
            Kind::End => {
                return Err(Fault::new(token.start, "the header does not end in these bytes"));
            }
            _ => {}
        }
    }
    Ok(lexer.pos())
}

/// An attribute's text: a string with its escapes undone, a number as written.
pub(crate) fn attribute_text<'a>(
    document: &Document<'a>,
    section: &Section,
    name: &str,
) -> Option<Cow<'a, str>> {
    let raw = document.attribute(section, name)?;
    // Nearly every attribute is a plain string.
    if let Some(inner) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return Some(variant::unescape(inner).text);
    }
    match variant::parse(raw) {
        Ok(Value::String(text) | Value::StringName(text) | Value::NodePath(text)) => Some(text),
        _ => Some(Cow::Borrowed(raw)),
    }
}

fn external<'a>(document: &Document<'a>, section: &Section) -> Option<Dependency<'a>> {
    let path = attribute_text(document, section, "path");
    let uid = attribute_text(document, section, "uid");
    if path.is_none() && uid.is_none() {
        return None;
    }
    Some(Dependency {
        path: path.unwrap_or_default(),
        uid,
        type_name: attribute_text(document, section, "type").unwrap_or_default(),
        placeholder: false,
        line: 0,
    })
}

fn placeholder<'a>(document: &Document<'a>, section: &Section) -> Option<Dependency<'a>> {
    Some(Dependency {
        path: attribute_text(document, section, "instance_placeholder")?,
        uid: None,
        type_name: Cow::Borrowed("PackedScene"),
        placeholder: true,
        line: 0,
    })
}

fn valid_prefix(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}
