//! Every place that names a signal, method or property, or a node, as text: connections, tracks, code.
//!
//! A word in code is only known to be the same word; what it belongs to is not resolved.
//!
//! Spec: P-50, references.

use std::ops::Range;

use didi_formats::{
    config::ConfigFile,
    document::{Document, ItemKind, Layout},
};

use crate::{
    code::{self, Dialect, Token},
    references::{Format, Kind as FileKind, string_spans},
};

#[cfg(test)]
mod tests;

/// What kind of place it is, in the words of `project_analyze_impact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Connection,
    Track,
    Resource,
    Autoload,
    Setting,
    Code,
    NodePath,
    /// The place declares it; the word says as what.
    Declared(&'static str),
}

impl Kind {
    pub(crate) fn impact(self) -> &'static str {
        match self {
            Kind::Connection => "scene_connection",
            Kind::Track => "animation_track",
            Kind::Resource => "resource_reference",
            Kind::Autoload => "autoload",
            Kind::Setting => "project_setting",
            Kind::Code => "code_reference",
            Kind::NodePath => "node_path_reference",
            Kind::Declared(word) => word,
        }
    }
}

/// A place.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    /// The bytes of the name alone.
    pub(crate) span: Range<usize>,
    /// From 1.
    pub(crate) line: u32,
    pub(crate) detail: String,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'w> {
    /// An identifier.
    Word(&'w str),
    /// A node's path; those below it count, too.
    Node(&'w str),
}

/// The places of a file, in file order.
///
/// # Errors
/// A sentence, when the file can't be understood.
pub(crate) fn of_file(path: &str, bytes: &[u8], wanted: Wanted<'_>) -> Result<Vec<Place>, String> {
    let Some(format) = Format::of(path) else { return Ok(vec![]) };
    let mut finder = Finder { wanted, found: vec![] };
    match format {
        Format::Tagged => finder.tagged(bytes)?,
        Format::Config(FileKind::Setting) => finder.settings(bytes)?,
        Format::Code(dialect) => {
            let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
            finder.code(text, dialect);
        }
        Format::Config(_) | Format::Json => {}
    }
    let mut found = finder.found;
    found.sort_by_key(|place| place.span.start);
    let (mut line, mut at) = (1, 0);
    for place in &mut found {
        let passed = bytes.get(at..place.span.start).unwrap_or_default();
        line += u32::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(0);
        at = place.span.start;
        place.line = line;
    }
    Ok(found)
}

/// Whether a text is an identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

/// A node path without what says where it starts: `$`, `./`, `../`.
pub(crate) fn plain_node_path(path: &str) -> &str {
    let mut path = path.strip_prefix('$').unwrap_or(path).trim_matches('"');
    while let Some(rest) = path.strip_prefix("./").or_else(|| path.strip_prefix("../")) {
        path = rest;
    }
    path.trim_end_matches('/')
}

struct Finder<'w> {
    wanted: Wanted<'w>,
    found: Vec<Place>,
}

impl Finder<'_> {
    fn push(&mut self, kind: Kind, span: Range<usize>, detail: impl Into<String>) {
        self.found.push(Place { kind, span, line: 0, detail: detail.into() });
    }

    fn tagged(&mut self, bytes: &[u8]) -> Result<(), String> {
        let document =
            Document::parse_as(bytes, Layout::Tagged).map_err(|error| error.to_string())?;
        let mut in_animation = false;
        let mut main_class = "";
        for item in document.items() {
            match &item.kind {
                ItemKind::Section(section) => {
                    let name = document.section_name(section);
                    let mut class = document.attribute(section, "type").unwrap_or_default();
                    match &*name {
                        "gd_resource" => main_class = class,
                        "resource" => class = main_class,
                        _ => {}
                    }
                    in_animation = class == "\"Animation\"";
                    if let (Wanted::Node(path), "node") = (self.wanted, &*name) {
                        self.node(&document, section, path, item.span.range());
                    }
                    for attribute in document.attributes(section) {
                        let key = document.text(attribute.name);
                        let at = attribute.value.range().start;
                        self.attribute(&name, key, document.text(attribute.value), at);
                    }
                }
                ItemKind::Property(property) => {
                    let key = document.key(property);
                    let value = document.text(property.value);
                    let at = property.value.range().start;
                    if let Wanted::Word(word) = self.wanted
                        && key == word
                    {
                        self.push(Kind::Resource, property.key.range(), "property");
                    }
                    let track = in_animation && key.starts_with("tracks/");
                    self.value(&key, value, at, track);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A node that the wanted path is of.
    fn node(
        &mut self,
        document: &Document<'_>,
        section: &didi_formats::document::Section,
        wanted: &str,
        span: Range<usize>,
    ) {
        let text =
            |name| document.attribute(section, name).map(|raw| raw.trim_matches('"').to_owned());
        let Some(name) = text("name") else { return };
        let path = match text("parent").as_deref() {
            None => return,
            Some(".") => name.clone(),
            Some(parent) => format!("{parent}/{name}"),
        };
        if path == wanted || wanted.strip_prefix('%') == Some(&name) {
            self.push(Kind::Declared("node"), span, format!("node `{path}`"));
        }
    }

    fn attribute(&mut self, section: &str, key: &str, value: &str, at: usize) {
        let kind = match (section, key) {
            ("connection", "signal" | "method" | "from" | "to") => Kind::Connection,
            ("node", "parent") | ("editable", "path") => Kind::NodePath,
            _ => return,
        };
        let path = !matches!(key, "signal" | "method");
        for text in string_spans(value, true) {
            let inner = &value[text.clone()];
            let matches = match self.wanted {
                Wanted::Word(word) => !path && inner == word,
                Wanted::Node(node) => path && is_at(inner, node),
            };
            if matches {
                self.push(kind, at + text.start..at + text.end, format!("{section} {key}"));
            }
        }
    }

    /// A property's value: node paths, and the methods that an animation calls.
    fn value(&mut self, key: &str, value: &str, at: usize, track: bool) {
        let kind = if track { Kind::Track } else { Kind::Resource };
        let mut before = "";
        let mut end_before = 0;
        for text in string_spans(value, true) {
            let inner = &value[text.clone()];
            let lead = value[end_before..text.start - 1].trim_end();
            let span = at + text.start..at + text.end;
            match self.wanted {
                Wanted::Word(word) if lead.ends_with("NodePath(") => {
                    let mut start = span.start;
                    for (index, part) in inner.split(':').enumerate() {
                        if index > 0 && part == word {
                            self.push(kind, start..start + part.len(), key);
                        }
                        start += part.len() + 1;
                    }
                }
                Wanted::Word(word) if track && before == "method" && inner == word => {
                    self.push(Kind::Track, span, key);
                }
                Wanted::Node(node) if lead.ends_with("NodePath(") && is_at(inner, node) => {
                    let kind = if track { Kind::Track } else { Kind::NodePath };
                    self.push(kind, span, key);
                }
                _ => {}
            }
            before = inner;
            end_before = text.end + 1;
        }
    }

    fn settings(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Wanted::Word(word) = self.wanted else { return Ok(()) };
        let config = ConfigFile::parse(bytes).map_err(|error| error.to_string())?;
        for section in config.sections() {
            for entry in section.entries() {
                let kind = match section.name() {
                    "autoload" => Kind::Autoload,
                    "input" | "global_group" => Kind::Setting,
                    _ => continue,
                };
                if entry.key == word {
                    let detail = format!("{}/{}", section.name(), entry.key);
                    self.push(kind, entry.key_span.range(), detail);
                }
            }
        }
        Ok(())
    }

    fn code(&mut self, source: &str, dialect: Dialect) {
        let tokens = code::tokens(source, dialect);
        for (index, token) in tokens.iter().enumerate() {
            let inner = &source[token.inner.clone()];
            let before = index.checked_sub(1).map(|before| &tokens[before]);
            match (self.wanted, token.kind) {
                (Wanted::Word(word), code::Kind::Word) if inner == word => {
                    match before.and_then(|before| declares(source, before)) {
                        Some(kind) => self.push(Kind::Declared(kind), token.span.clone(), kind),
                        None => self.push(Kind::Code, token.span.clone(), "code"),
                    }
                }
                (Wanted::Word(word), code::Kind::Text(_)) if inner == word => {
                    self.push(Kind::Code, token.inner.clone(), "string");
                }
                (Wanted::Node(node), code::Kind::NodePath) if is_at(inner, node) => {
                    self.push(Kind::NodePath, token.inner.clone(), "code");
                }
                (Wanted::Node(node), code::Kind::Text(_)) if is_at(inner, node) => {
                    let asks = index.checked_sub(2).map(|at| &tokens[at]);
                    if node.contains('/') || names_nodes(source, before, asks) {
                        self.push(Kind::NodePath, token.inner.clone(), "string");
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a path is that of a node or of one below it.
fn is_at(path: &str, node: &str) -> bool {
    let path = plain_node_path(path);
    let Some(rest) = path.strip_prefix(node) else { return false };
    rest.is_empty() || rest.starts_with(['/', ':'])
}

/// What a keyword declares.
fn declares(source: &str, keyword: &Token) -> Option<&'static str> {
    let words = [
        ("func", "method"),
        ("var", "property"),
        ("const", "constant"),
        ("signal", "signal"),
        ("class_name", "class"),
        ("class", "class"),
        ("enum", "enum"),
        ("delegate", "signal"),
        ("uniform", "uniform"),
    ];
    words.iter().find(|(word, _)| keyword.is_word(source, word)).map(|(_, kind)| *kind)
}

/// Whether the string after these two tokens is a node path: `^"..."`, `get_node("...")`, `NodePath("...")`.
fn names_nodes(source: &str, before: Option<&Token>, asks: Option<&Token>) -> bool {
    let Some(before) = before else { return false };
    if before.is_mark(b'^') {
        return true;
    }
    let words =
        ["get_node", "get_node_or_null", "has_node", "NodePath", "GetNode", "GetNodeOrNull"];
    before.is_mark(b'(')
        && asks.is_some_and(|ask| {
            ask.is_mark(b'>') || words.iter().any(|word| ask.is_word(source, word))
        })
}
