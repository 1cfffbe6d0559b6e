//! Settings files by the engine's rules: `project.godot`, `export_presets.cfg`, `.import`, `plugin.cfg`.
//!
//! Only `;` begins a comment. A line without `=` runs on into the next key. The text between section
//! brackets is trimmed. Values may span lines. Keys may be quoted, and the blanks of a bare key are
//! dropped. Feature overrides (`key.web`) are keys like any other. What the keys mean is left to others.

use std::borrow::Cow;
use std::fmt;

use crate::document::{Document, Item, ItemKind, Layout, Property, RawValue, Span};
use crate::error::FormatError;
use crate::text::LineCursor;

mod edit;
#[cfg(test)]
mod tests;

pub use edit::{SettingPlace, setting_place};

/// A settings file.
#[derive(Debug, Clone)]
pub struct ConfigFile<'a> {
    document: Document<'a>,
    sections: Vec<ConfigSection<'a>>,
    problems: Vec<ConfigProblem>,
}

/// A section in file order. A name that occurs twice gives two of these.
#[derive(Debug, Clone)]
pub struct ConfigSection<'a> {
    name: Cow<'a, str>,
    line: u32,
    header: Option<Span>,
    entries: Vec<Property<'a>>,
}

/// What is odd in a settings file that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// A second key begins on the line where a value ends.
    TwoKeysOnOneLine {
        /// The line.
        line: u32,
        /// The second key.
        key: String,
    },
    /// Text at the end of the file that never reaches a `=`; the engine drops it.
    Unfinished {
        /// Its first line.
        line: u32,
    },
    /// The engine reads the mark as part of the first key or section.
    ByteOrderMark,
    /// A bare key whose blanks, comments or line ends the engine drops.
    KeyReadsDifferently {
        /// The line where the key begins.
        line: u32,
        /// The key as written.
        written: String,
        /// The key as read.
        read: String,
    },
    /// A key that occurs before in a section of the same name; the last one counts.
    DuplicateKey {
        /// The line of the later one.
        line: u32,
        /// The section, empty for the top of the file.
        section: String,
        /// The key.
        key: String,
    },
    /// A value without a key, which the engine reads over. It is no entry.
    ValueWithoutKey {
        /// The line.
        line: u32,
    },
    /// A constructor that this build does not know. The engine 4.6 reads nothing after it.
    UnknownConstructor {
        /// The line.
        line: u32,
        /// Its name.
        name: String,
    },
    /// A string escape that the engine does not read as the character it names.
    LossyEscape {
        /// The line.
        line: u32,
    },
}

impl<'a> ConfigFile<'a> {
    /// Reads a settings file.
    ///
    /// # Errors
    /// A file that is not UTF-8, or whose text the engine's parser would stop in, such as a value
    /// that is not closed or a `=` without a value.
    pub fn parse(source: &'a [u8]) -> Result<Self, FormatError> {
        let document = Document::parse_as(source, Layout::Config)?;
        let mut reader = ConfigReader {
            lines: LineCursor::new(source),
            document: &document,
            sections: vec![ConfigSection::top()],
            problems: Vec::new(),
            value_end: None,
        };
        reader.read();
        let ConfigReader { sections, mut problems, .. } = reader;
        add_duplicates(&sections, &mut problems);
        let mut lines = LineCursor::new(source);
        for offset in document.lossy_escapes() {
            problems.push(ConfigProblem::LossyEscape { line: lines.line_at(*offset as usize) });
        }
        let mut lines = LineCursor::new(source);
        for span in document.unknown_constructors() {
            let line = lines.line_at(span.start as usize);
            let name = document.text(*span).to_owned();
            problems.push(ConfigProblem::UnknownConstructor { line, name });
        }
        problems.sort_by_key(ConfigProblem::line);
        Ok(ConfigFile { document, sections, problems })
    }

    /// The file's lossless model.
    pub fn document(&self) -> &Document<'a> {
        &self.document
    }

    /// The sections in file order; the first is the top of the file, named `""`, even when empty.
    pub fn sections(&self) -> &[ConfigSection<'a>] {
        &self.sections
    }

    /// The keys before the first section, in file order.
    pub fn top(&self) -> &[Property<'a>] {
        self.sections.first().map_or(&[], |section| section.entries())
    }

    /// The sections of one name, in file order.
    pub fn sections_named<'s>(
        &'s self,
        name: &'s str,
    ) -> impl Iterator<Item = &'s ConfigSection<'a>> + 's {
        self.sections.iter().filter(move |section| section.name == name)
    }

    /// The value of a key; of several the last, over all sections of that name.
    pub fn get(&self, section: &str, key: &str) -> Option<RawValue<'a>> {
        let mut found = None;
        for section in self.sections_named(section) {
            found = section.get(key).or(found);
        }
        found
    }

    /// A string setting with its escapes undone; `None` when it is missing or no string.
    pub fn text(&self, section: &str, key: &str) -> Option<Cow<'a, str>> {
        self.get(section, key)?.as_text()
    }

    /// A project setting by its full path, `application/config/name`: the section is what stands
    /// before the first slash that gives a known key.
    pub fn setting(&self, path: &str) -> Option<RawValue<'a>> {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        let split = slashes.find_map(|at| self.get(&path[..at], &path[at + 1..]));
        split.or_else(|| self.get("", path))
    }

    /// What is odd, by line.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// The first finding for which the file must not be written: two keys on a line, text that
    /// never reaches a `=`, or a value without a key.
    pub fn refuses_write(&self) -> Option<&ConfigProblem> {
        self.problems.iter().find(|problem| problem.refuses_write())
    }
}

impl<'a> ConfigSection<'a> {
    fn top() -> Self {
        ConfigSection { name: Cow::Borrowed(""), line: 1, header: None, entries: Vec::new() }
    }

    /// The name as the engine reads it; empty for the top of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line of its header, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Where its header is, brackets included; `None` for the top of the file.
    pub fn header(&self) -> Option<Span> {
        self.header
    }

    /// Its keys and values in file order.
    pub fn entries(&self) -> &[Property<'a>] {
        &self.entries
    }

    /// The last value of a key in this section.
    pub fn get(&self, key: &str) -> Option<RawValue<'a>> {
        self.entries.iter().rev().find(|entry| entry.key == key).map(Property::raw)
    }
}

impl ConfigProblem {
    /// The line it was found on, from 1.
    pub fn line(&self) -> u32 {
        match self {
            ConfigProblem::ByteOrderMark => 1,
            ConfigProblem::TwoKeysOnOneLine { line, .. }
            | ConfigProblem::Unfinished { line }
            | ConfigProblem::ValueWithoutKey { line }
            | ConfigProblem::UnknownConstructor { line, .. }
            | ConfigProblem::KeyReadsDifferently { line, .. }
            | ConfigProblem::DuplicateKey { line, .. }
            | ConfigProblem::LossyEscape { line } => *line,
        }
    }

    /// Whether the file must not be written while it holds this.
    pub fn refuses_write(&self) -> bool {
        matches!(
            self,
            ConfigProblem::TwoKeysOnOneLine { .. }
                | ConfigProblem::Unfinished { .. }
                | ConfigProblem::ValueWithoutKey { .. }
        )
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigProblem::TwoKeysOnOneLine { key, .. } => {
                write!(f, "`{key}` begins on the line where another value ends")
            }
            ConfigProblem::Unfinished { .. } => {
                f.write_str("text at the end of the file has no `=` and is dropped by the engine")
            }
            ConfigProblem::ValueWithoutKey { .. } => f.write_str("a value stands without a key"),
            ConfigProblem::UnknownConstructor { name, .. } => {
                write!(f, "the engine 4.6 knows no `{name}` and reads nothing after it")
            }
            ConfigProblem::ByteOrderMark => {
                f.write_str("the engine reads the byte-order mark as part of the first key or section")
            }
            ConfigProblem::KeyReadsDifferently { written, read, .. } => {
                write!(f, "the key written `{written}` is read as `{read}`")
            }
            ConfigProblem::DuplicateKey { section, key, .. } => {
                write!(f, "`{key}` occurs more than once in `[{section}]`, and the last one counts")
            }
            ConfigProblem::LossyEscape { .. } => f.write_str(
                "a string escape names a character beyond ASCII, which the engine reads differently",
            ),
        }
    }
}

/// Turns items into sections, in one pass.
struct ConfigReader<'d, 'a> {
    document: &'d Document<'a>,
    lines: LineCursor<'a>,
    sections: Vec<ConfigSection<'a>>,
    problems: Vec<ConfigProblem>,
    /// The line where the property before ended, while nothing but blanks has followed.
    value_end: Option<u32>,
}

impl ConfigReader<'_, '_> {
    fn read(&mut self) {
        for item in self.document.items() {
            let line = self.lines.line_at(item.span.start as usize);
            self.item(item, line);
        }
    }

    fn item(&mut self, item: &Item, line: u32) {
        match &item.kind {
            ItemKind::ByteOrderMark => self.problems.push(ConfigProblem::ByteOrderMark),
            ItemKind::Unfinished => self.problems.push(ConfigProblem::Unfinished { line }),
            ItemKind::Section(section) => {
                self.value_end = None;
                // The engine goes on with the section before when there is no name.
                let name = match self.sections.last() {
                    Some(before) if section.name.is_empty() => before.name.clone(),
                    _ => self.document.section_name(section),
                };
                self.sections.push(ConfigSection {
                    name,
                    line,
                    header: Some(item.span),
                    entries: Vec::new(),
                });
            }
            ItemKind::Property(span) if span.key.is_empty() => {
                self.problems.push(ConfigProblem::ValueWithoutKey { line });
            }
            ItemKind::Property(span) => {
                let property = self.document.property(span, line);
                self.check_key(&property);
                if self.value_end == Some(line) {
                    let key = property.key.clone().into_owned();
                    self.problems.push(ConfigProblem::TwoKeysOnOneLine { line, key });
                }
                self.value_end = Some(self.lines.line_at(item.span.end as usize));
                if let Some(section) = self.sections.last_mut() {
                    section.entries.push(property);
                }
            }
            ItemKind::Blank | ItemKind::Comment => {}
        }
    }

    fn check_key(&mut self, property: &Property<'_>) {
        let written = self.document.text(property.key_span);
        let quoted = written.starts_with('"') && written.ends_with('"');
        if !quoted && written != property.key {
            self.problems.push(ConfigProblem::KeyReadsDifferently {
                line: property.line,
                written: written.to_owned(),
                read: property.key.clone().into_owned(),
            });
        }
    }
}

fn add_duplicates(sections: &[ConfigSection<'_>], problems: &mut Vec<ConfigProblem>) {
    let mut keys: Vec<(&str, &str, u32)> = sections
        .iter()
        .flat_map(|section| {
            section.entries.iter().map(|entry| (section.name(), &*entry.key, entry.line))
        })
        .collect();
    keys.sort_unstable();
    for pair in keys.windows(2) {
        if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
            problems.push(ConfigProblem::DuplicateKey {
                line: pair[1].2,
                section: pair[1].0.to_owned(),
                key: pair[1].1.to_owned(),
            });
        }
    }
}
