//! The lossless model of a Godot text file: spans that tile it, byte for byte.
//!
//! A file is a run of items: sections, properties, comments and the blanks between them. Values stay
//! byte ranges of the source, so that a long array costs nothing but a look at its end, and so that a
//! later edit can replace exactly one value. What the items mean is left to `scene` and `config`.

use std::borrow::Cow;

use crate::error::{Fault, FormatError};
use crate::lexer::{Kind, Lexer};
use crate::limits::MAX_FILE_BYTES;
use crate::text::{BOM, to_u32};
use crate::variant;

#[cfg(test)]
pub(crate) mod tests;

/// A byte range of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte, from 0.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// Offsets saturate at `u32::MAX`, which no readable file reaches.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span { start: to_u32(start), end: to_u32(end) }
    }

    /// The span as a range, to index the source with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// How the text between the brackets of a section is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Scenes and resources: `[tag attribute=value ...]`.
    Tagged,
    /// Settings: the whole text is the section's name, trimmed, `\]` standing for `]`.
    Config,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// The UTF-8 byte-order mark. The engine does not skip it.
    ByteOrderMark,
    /// Blanks, control characters and line ends.
    Blank,
    /// From `;` to the line end, which is left to the blank after it.
    Comment,
    /// From `[` to `]`.
    Section(Section),
    /// From a key to the end of its value.
    Property(PropertySpan),
    /// Text at the end of the file that never reaches a `=`. The engine drops it.
    Unfinished,
}

/// One item of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it is. The spans of a document's items follow each other without a gap.
    pub span: Span,
}

/// A section's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its tag (`node`), or its trimmed name in settings.
    pub name: Span,
    /// Indexes of its attributes in [`Document::attributes`]; empty in settings.
    attributes: (u32, u32),
}

/// One `name=value` of a section's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: Span,
    /// The raw value, without blanks around it.
    pub value: Span,
}

/// Where a property's key and value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertySpan {
    /// The key as written, quotes included, without blanks around it. In settings it may be empty.
    pub key: Span,
    /// The raw value, without blanks or comments around it.
    pub value: Span,
    /// Whether the key reads as it is written.
    plain_key: bool,
}

/// What kind of resource a value refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// `ExtResource(id)`.
    External,
    /// `SubResource(id)`.
    Internal,
}

/// A reference to a resource of the same file, anywhere in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Which list the id is looked up in.
    pub kind: ReferenceKind,
    /// The id as written: a string with its quotes, or a number.
    pub id: Span,
}

/// A property with its key decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property<'a> {
    /// The key as the engine reads it: blanks and comments inside dropped, quotes undone.
    pub key: Cow<'a, str>,
    /// The value as written.
    pub value: &'a str,
    /// The line of the key's first byte, from 1.
    pub line: u32,
    /// Where the key is, as written.
    pub key_span: Span,
    /// Where the value is.
    pub value_span: Span,
}

impl<'a> Property<'a> {
    /// The value with its place.
    pub fn raw(&self) -> RawValue<'a> {
        RawValue { text: self.value, line: self.line, span: self.value_span }
    }

    /// Where it is.
    pub(crate) fn span(&self) -> PropertySpan {
        PropertySpan { key: self.key_span, value: self.value_span, plain_key: false }
    }
}

/// A value as it is written in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawValue<'a> {
    /// The text, without blanks or comments around it.
    pub text: &'a str,
    /// The line of its key, from 1.
    pub line: u32,
    /// Where the text is.
    pub span: Span,
}

impl<'a> RawValue<'a> {
    /// The typed view.
    ///
    /// # Errors
    /// When the value is nested too deep to become a tree; line and column count from its first byte.
    pub fn parse(self) -> Result<variant::Value<'a>, FormatError> {
        variant::parse(self.text)
    }

    /// The text of a string or string name, escapes undone; `None` for any other value.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        match self.parse() {
            Ok(variant::Value::String(text) | variant::Value::StringName(text)) => Some(text),
            _ => None,
        }
    }
}

/// A file as spans of its source.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    source: &'a str,
    layout: Layout,
    items: Vec<Item>,
    attributes: Vec<Attribute>,
    references: Vec<Reference>,
    lossy_escapes: Vec<u32>,
    unknown_constructors: Vec<Span>,
}

impl<'a> Document<'a> {
    /// Reads a file, as a scene or resource when its first section says so, else as settings.
    ///
    /// # Errors
    /// A file that is not UTF-8, holds a NUL byte, is larger than [`MAX_FILE_BYTES`], or that the
    /// engine's parser would stop in: line, column and a sentence.
    pub fn parse(source: &'a [u8]) -> Result<Self, FormatError> {
        Self::parse_as(source, sniff(source))
    }

    /// Reads a file in a known layout.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse_as(source: &'a [u8], layout: Layout) -> Result<Self, FormatError> {
        let (document, fault) = Self::parse_until_fault(source, layout);
        match fault {
            Some(fault) => Err(fault.locate(source)),
            None => Ok(document),
        }
    }

    /// Reads as far as the file is good, and says what stopped it.
    pub(crate) fn parse_until_fault(source: &'a [u8], layout: Layout) -> (Self, Option<Fault>) {
        let (text, mut fault) = match check_encoding(source) {
            Ok(text) => (text, None),
            Err(fault) => ("", Some(fault)),
        };
        let mut reader =
            Reader { lexer: Lexer::new(text), layout, items: Vec::new(), attributes: Vec::new() };
        fault = fault.or(reader.read().err());
        let document = Document {
            source: text,
            layout,
            items: reader.items,
            attributes: reader.attributes,
            references: reader.lexer.references,
            lossy_escapes: reader.lexer.lossy_escapes,
            unknown_constructors: reader.lexer.unknown_constructors,
        };
        (document, fault)
    }

    /// A document of no file.
    pub(crate) fn empty() -> Self {
        Document {
            source: "",
            layout: Layout::Tagged,
            items: Vec::new(),
            attributes: Vec::new(),
            references: Vec::new(),
            lossy_escapes: Vec::new(),
            unknown_constructors: Vec::new(),
        }
    }

    /// The whole source.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// How sections were read.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All items, in file order and without a gap.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The text of a span of this document.
    pub fn text(&self, span: Span) -> &'a str {
        &self.source[span.range()]
    }

    /// A section's attributes, in file order.
    pub fn attributes(&self, section: &Section) -> &[Attribute] {
        let (from, to) = section.attributes;
        &self.attributes[from as usize..to as usize]
    }

    /// The raw value of a section's attribute; of two with one name the last, as the engine does.
    pub fn attribute(&self, section: &Section, name: &str) -> Option<&'a str> {
        let attributes = self.attributes(section).iter().rev();
        attributes
            .filter(|attribute| self.text(attribute.name) == name)
            .map(|attribute| self.text(attribute.value))
            .next()
    }

    /// A section's name as the engine reads it.
    pub fn section_name(&self, section: &Section) -> Cow<'a, str> {
        let written = self.text(section.name);
        match self.layout {
            Layout::Config if written.contains("\\]") => Cow::Owned(written.replace("\\]", "]")),
            Layout::Tagged if !written.bytes().all(is_tag_byte) => {
                Cow::Owned(written.chars().filter(|letter| *letter > ' ').collect())
            }
            _ => Cow::Borrowed(written),
        }
    }

    /// A property's key as the engine reads it.
    pub fn key(&self, property: &PropertySpan) -> Cow<'a, str> {
        let written = self.text(property.key);
        if property.plain_key { Cow::Borrowed(written) } else { Cow::Owned(decode_key(written)) }
    }

    /// A property with its key decoded; `line` is the caller's count.
    pub(crate) fn property(&self, property: &PropertySpan, line: u32) -> Property<'a> {
        Property {
            key: self.key(property),
            value: self.text(property.value),
            line,
            key_span: property.key,
            value_span: property.value,
        }
    }

    /// Every `ExtResource(...)` and `SubResource(...)` in a value, in file order.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Where string escapes stand that the engine does not read as the character they name.
    ///
    /// Byte offsets of the backslashes, at most [`crate::limits::MAX_REMARKS`].
    pub fn lossy_escapes(&self) -> &[u32] {
        &self.lossy_escapes
    }

    /// The names of constructors that this build does not know, in file order.
    ///
    /// The engine 4.6 does not load a file with one; a newer engine may have it. At most
    /// [`crate::limits::MAX_REMARKS`].
    pub fn unknown_constructors(&self) -> &[Span] {
        &self.unknown_constructors
    }

    /// The file again, put together from its items.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.source.len());
        for item in &self.items {
            bytes.extend_from_slice(self.text(item.span).as_bytes());
        }
        bytes
    }
}

/// Reads items; what was read before a fault stays.
struct Reader<'a> {
    lexer: Lexer<'a>,
    layout: Layout,
    items: Vec<Item>,
    attributes: Vec<Attribute>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Fault> {
        if self.lexer.starts_with(BOM) {
            self.lexer.seek(BOM.len());
            self.push(ItemKind::ByteOrderMark, 0);
        }
        while let Some(byte) = self.lexer.peek_byte() {
            let start = self.lexer.pos();
            let kind = match byte {
                b';' => {
                    self.lexer.skip_comment();
                    ItemKind::Comment
                }
                b'[' => self.section()?,
                byte if byte > b' ' => self.property()?,
                _ => {
                    self.lexer.skip_blank();
                    ItemKind::Blank
                }
            };
            self.push(kind, start);
        }
        Ok(())
    }

    fn push(&mut self, kind: ItemKind, start: usize) {
        self.items.push(Item { kind, span: Span::new(start, self.lexer.pos()) });
    }

    fn section(&mut self) -> Result<ItemKind, Fault> {
        let from = to_u32(self.attributes.len());
        let name = match self.layout {
            Layout::Config => self.lexer.config_section()?,
            Layout::Tagged => self.tag()?,
        };
        Ok(ItemKind::Section(Section { name, attributes: (from, to_u32(self.attributes.len())) }))
    }

    fn tag(&mut self) -> Result<Span, Fault> {
        self.lexer.expect(b'[')?;
        let mut word = self.word("expected the name of a section")?;
        let mut name = Span::new(word.start, word.end);
        let mut in_name = true;
        loop {
            word = self.lexer.next()?;
            if word.is(b']') {
                return Ok(name);
            }
            if in_name && (word.is(b'.') || word.is(b':')) {
                word = self.word("expected the rest of the section's name")?;
                name.end = to_u32(word.end);
                continue;
            }
            in_name = false;
            if word.kind != Kind::Word {
                let found = self.lexer.describe(word);
                let message = format!("expected an attribute or `]`, found {found}");
                return Err(Fault::new(word.start, message));
            }
            self.lexer.expect(b'=')?;
            let value = self.lexer.skip_value()?;
            self.attributes.push(Attribute { name: Span::new(word.start, word.end), value });
        }
    }

    fn word(&mut self, wanted: &str) -> Result<crate::lexer::Token, Fault> {
        let token = self.lexer.next()?;
        if token.kind == Kind::Word {
            return Ok(token);
        }
        let found = self.lexer.describe(token);
        Err(Fault::new(token.start, format!("{wanted}, found {found}")))
    }

    fn property(&mut self) -> Result<ItemKind, Fault> {
        let start = self.lexer.pos();
        let Some((key, plain_key)) = self.lexer.key()? else {
            return Ok(ItemKind::Unfinished);
        };
        if key.is_empty() && self.layout == Layout::Tagged {
            return Err(Fault::new(start, "a value stands without a key"));
        }
        let value = self.lexer.skip_value()?;
        Ok(ItemKind::Property(PropertySpan { key, value, plain_key }))
    }
}

fn check_encoding(source: &[u8]) -> Result<&str, Fault> {
    if source.len() > MAX_FILE_BYTES {
        return Err(Fault::new(0, format!("the file is larger than {MAX_FILE_BYTES} bytes")));
    }
    let text = std::str::from_utf8(source)
        .map_err(|error| Fault::new(error.valid_up_to(), "the file is not UTF-8"))?;
    match memchr::memchr(0, source) {
        Some(at) => Err(Fault::new(at, "the file holds a NUL byte")),
        None => Ok(text),
    }
}

/// Whether the first section is that of a scene or a resource.
pub(crate) fn sniff(source: &[u8]) -> Layout {
    let mut rest = source.strip_prefix(BOM).unwrap_or(source);
    loop {
        let blanks = rest.iter().take_while(|byte| **byte <= b' ').count();
        rest = &rest[blanks..];
        match rest.first() {
            Some(b';') => rest = memchr::memchr(b'\n', rest).map_or(&[], |at| &rest[at..]),
            Some(b'[') => break,
            _ => return Layout::Config,
        }
    }
    let word = rest[1..].trim_ascii_start();
    let tagged = [&b"gd_scene"[..], b"gd_resource"].iter().any(|tag| {
        word.strip_prefix(*tag)
            .is_some_and(|rest| !rest.first().is_some_and(|byte| is_tag_byte(*byte)))
    });
    if tagged { Layout::Tagged } else { Layout::Config }
}

fn is_tag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':')
}

/// The engine's reading of a key: what is not blank, a comment or quoted is strung together, and a
/// quoted part takes the place of all before it.
fn decode_key(written: &str) -> String {
    let mut key = String::new();
    let mut lexer = Lexer::new(written);
    while let Some(letter) = written[lexer.pos()..].chars().next() {
        match letter {
            ';' => lexer.skip_comment(),
            '"' => match lexer.next() {
                Ok(token) => {
                    let inner = &written[token.start + 1..token.end - 1];
                    key = variant::unescape(inner).text.into_owned();
                }
                Err(_) => return key,
            },
            _ => {
                if letter > ' ' {
                    key.push(letter);
                }
                lexer.seek(lexer.pos() + letter.len_utf8());
            }
        }
    }
    key
}
