//! Every place of a file that names another file of the project, with the bytes that name it.
//!
//! A place counts when its text is exactly a path or uid: in a header's attribute, a value, a setting, or a
//! string of code. Comments, longer strings and prefixes do not. Which files exist is left to the callers.
//!
//! Spec: P-50, references.

use std::ops::Range;

use didi_formats::{
    config::ConfigFile,
    document::{Document, ItemKind, Layout},
    uid,
};

use crate::code::{self, Dialect};

#[cfg(test)]
mod tests;

/// How a place names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `path=` of an external resource.
    ExtPath,
    /// `uid=` of an external resource.
    ExtUid,
    /// `instance_placeholder=` of a node.
    Placeholder,
    /// A string in a value of a scene or resource.
    Value,
    /// An entry of `[autoload]`.
    Autoload,
    /// Another value of `project.godot`.
    Setting,
    /// A value of an `.import` file.
    Import,
    /// `plugin.cfg`, `.gdextension` or another settings file.
    Config,
    /// A value of `export_presets.cfg`.
    Preset,
    /// `preload`, `load`, `extends`, `#include` and their like in code.
    Load,
    /// Another string of code.
    CodeText,
    /// A string of a JSON file.
    Json,
}

impl Kind {
    /// The word of `project_analyze_impact`.
    pub(crate) fn impact(self) -> &'static str {
        match self {
            Kind::ExtPath | Kind::ExtUid => "ext_resource",
            Kind::Load => "script_load",
            Kind::Autoload => "autoload",
            Kind::Setting | Kind::Preset => "project_setting",
            Kind::CodeText => "code_reference",
            Kind::Placeholder | Kind::Value | Kind::Import | Kind::Config | Kind::Json => {
                "resource_reference"
            }
        }
    }
}

/// How what stands between the quotes is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// A path needs no escape here.
    Plain,
    /// A string of code between single quotes.
    Single,
    /// Such a string inside of a string.
    NestedSingle,
}

/// A place that names a file.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) kind: Kind,
    /// `res://...` without a slash at its end, or `uid://...`.
    pub(crate) target: String,
    /// The bytes that name it: without quotes, marks before and sub-resources behind.
    pub(crate) span: Range<usize>,
    /// From 1.
    pub(crate) line: u32,
    /// Where in the file, for people.
    pub(crate) detail: String,
    /// Whether the path counts from the file's own folder.
    pub(crate) relative: bool,
    /// Whether it leaves `res://` out.
    pub(crate) bare: bool,
    pub(crate) quoting: Quoting,
}

impl Reference {
    pub(crate) fn by_uid(&self) -> bool {
        self.target.starts_with("uid://")
    }

    /// The text that names `target` at this place of a file that is then `holder`.
    pub(crate) fn written(&self, holder: &str, target: &str) -> String {
        let text = if self.relative {
            relative(holder, target)
        } else if self.bare {
            target.trim_start_matches("res://").to_owned()
        } else {
            target.to_owned()
        };
        match self.quoting {
            Quoting::Plain => text,
            Quoting::Single => text.replace('\'', "\\'"),
            Quoting::NestedSingle => text.replace('\'', "\\\\'"),
        }
    }
}

/// What kind of text a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `.tscn` and `.tres`.
    Tagged,
    /// Settings of one kind.
    Config(Kind),
    Code(Dialect),
    Json,
}

impl Format {
    /// By the file's `res://` path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default();
        Some(match (name, ending.as_str()) {
            (_, "tscn" | "tres" | "escn") => Format::Tagged,
            (_, "godot") | ("override.cfg", _) => Format::Config(Kind::Setting),
            ("export_presets.cfg", _) => Format::Config(Kind::Preset),
            (_, "import") => Format::Config(Kind::Import),
            (_, "cfg" | "gdextension") => Format::Config(Kind::Config),
            (_, "gd") => Format::Code(Dialect::Gdscript),
            (_, "cs") => Format::Code(Dialect::Csharp),
            (_, "gdshader" | "gdshaderinc") => Format::Code(Dialect::Shader),
            (_, "json") => Format::Json,
            _ => return None,
        })
    }
}

/// The references of a file, in file order.
///
/// # Errors
/// A sentence, when the file can't be understood.
pub(crate) fn of_file(path: &str, bytes: &[u8]) -> Result<Vec<Reference>, String> {
    let Some(format) = Format::of(path) else { return Ok(vec![]) };
    let mut finder = Finder { folder: folder_of(path), found: vec![] };
    match format {
        Format::Tagged => finder.tagged(bytes)?,
        Format::Config(kind) => finder.config(path, bytes, kind)?,
        Format::Code(dialect) => {
            let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
            finder.code(text, dialect);
        }
        Format::Json => {
            let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
            finder.strings(text, 0, false, Kind::Json, "");
        }
    }
    let mut found = finder.found;
    found.sort_by_key(|reference| reference.span.start);
    number_lines(bytes, &mut found);
    Ok(found)
}

/// The folder of a `res://` path, without a slash at its end except for `res://` itself.
pub(crate) fn folder_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((folder, _)) if folder != "res:/" => folder,
        _ => "res://",
    }
}

/// A path from a folder, `.` and `..` undone; `None` when it leaves the project.
fn joined(folder: &str, inner: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.trim_start_matches("res://").split('/').collect();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.retain(|part| !part.is_empty());
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(format!("res://{}", parts.join("/")))
}

/// `target` as the file `holder` writes it from its own folder.
fn relative(holder: &str, target: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        let inner = path.trim_start_matches("res://");
        inner.split('/').filter(|part| !part.is_empty()).map(Into::into).collect()
    };
    let (from, to) = (parts(folder_of(holder)), parts(target));
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    up.chain(to[common..].iter().cloned()).collect::<Vec<_>>().join("/")
}

struct Finder<'p> {
    folder: &'p str,
    found: Vec<Reference>,
}

impl Finder<'_> {
    fn tagged(&mut self, bytes: &[u8]) -> Result<(), String> {
        let document =
            Document::parse_as(bytes, Layout::Tagged).map_err(|error| error.to_string())?;
        // A class in the header of a resource file is that of its `[resource]`.
        let mut main_class = "";
        let mut embedded = None;
        for item in document.items() {
            match &item.kind {
                ItemKind::Section(section) => {
                    let section_kind = document.section_name(section);
                    let mut class = document.attribute(section, "type").unwrap_or_default();
                    match &*section_kind {
                        "gd_resource" => main_class = class,
                        "resource" => class = main_class,
                        _ => {}
                    }
                    embedded = match class {
                        "\"GDScript\"" => Some(("script/source", Dialect::Gdscript)),
                        "\"Shader\"" => Some(("code", Dialect::Shader)),
                        _ => None,
                    };
                    for attribute in document.attributes(section) {
                        let name = document.text(attribute.name);
                        let value = document.text(attribute.value);
                        let at = attribute.value.range().start;
                        let kind = match (&*section_kind, name) {
                            ("ext_resource", "path") => Kind::ExtPath,
                            ("ext_resource", "uid") => Kind::ExtUid,
                            ("node", "instance_placeholder") => Kind::Placeholder,
                            ("connection", _) => Kind::Value,
                            _ => continue,
                        };
                        self.strings(value, at, true, kind, name);
                        if kind == Kind::ExtPath {
                            self.relative_attribute(value, at);
                        }
                    }
                }
                ItemKind::Property(property) => {
                    let key = document.key(property);
                    let value = document.text(property.value);
                    let at = property.value.range().start;
                    match embedded {
                        Some((source, dialect)) if source == key => {
                            self.embedded(value, at, dialect);
                        }
                        _ => self.strings(value, at, true, Kind::Value, &key),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// `path="beside.tscn"`, which counts from the file's folder.
    fn relative_attribute(&mut self, value: &str, at: usize) {
        for text in string_spans(value, true) {
            let name = &value[text.clone()];
            if !name.contains("://") && !name.contains('\\') && !name.is_empty() {
                let span = at + text.start..at + text.end;
                self.push_relative(Kind::ExtPath, name, span, "path", Quoting::Plain);
            }
        }
    }

    fn config(&mut self, path: &str, bytes: &[u8], kind: Kind) -> Result<(), String> {
        let config = ConfigFile::parse(bytes).map_err(|error| error.to_string())?;
        let is_plugin = path.ends_with("/plugin.cfg");
        let is_extension = path.ends_with(".gdextension");
        for section in config.sections() {
            for entry in section.entries() {
                let at = entry.value_span.range().start;
                let kind = match kind {
                    Kind::Setting if section.name() == "autoload" => Kind::Autoload,
                    kind => kind,
                };
                let detail = match section.name() {
                    "" => entry.key.to_string(),
                    name => format!("{name}/{}", entry.key),
                };
                if kind == Kind::Preset && is_filter(&entry.key) {
                    self.filters(entry.value, at, &detail);
                    continue;
                }
                self.strings(entry.value, at, true, kind, &detail);
                if (is_plugin && entry.key == "script")
                    || (is_extension && section.name() != "configuration")
                {
                    self.relative_strings(entry.value, at, kind, &detail);
                }
            }
        }
        Ok(())
    }

    fn relative_strings(&mut self, value: &str, at: usize, kind: Kind, detail: &str) {
        for text in string_spans(value, true) {
            let name = &value[text.clone()];
            if name.contains('.') && !name.contains("://") && !name.contains('\\') {
                let span = at + text.start..at + text.end;
                self.push_relative(kind, name, span, detail, Quoting::Plain);
            }
        }
    }

    /// The entries of a filter: a file, or the folder before the first wildcard.
    fn filters(&mut self, value: &str, at: usize, detail: &str) {
        for text in string_spans(value, true) {
            let mut start = text.start;
            for entry in value[text.clone()].split(',') {
                let begin = start + (entry.len() - entry.trim_start().len());
                start += entry.len() + 1;
                let mut name = entry.trim();
                if let Some(wild) = name.find(['*', '?']) {
                    name = name[..wild].rsplit_once('/').map_or("", |(folder, _)| folder);
                }
                if name.is_empty() || name.contains('\\') {
                    continue;
                }
                let bare = !name.starts_with("res://");
                let Some(target) = joined("res://", name.trim_start_matches("res://")) else {
                    continue;
                };
                let span = at + begin..at + begin + name.len();
                self.found.push(Reference {
                    kind: Kind::Preset,
                    target,
                    span,
                    line: 0,
                    detail: detail.into(),
                    relative: false,
                    bare,
                    quoting: Quoting::Plain,
                });
            }
        }
    }

    fn code(&mut self, source: &str, dialect: Dialect) {
        let tokens = code::tokens(source, dialect);
        for (index, token) in tokens.iter().enumerate() {
            let code::Kind::Text(quote) = token.kind else { continue };
            let written = &source[token.inner.clone()];
            let name = written.replace("\\'", "'");
            if name.is_empty() || name.contains(['\\', '\n']) {
                continue;
            }
            let quoting = if quote == b'\'' { Quoting::Single } else { Quoting::Plain };
            let loads = loader(source, &tokens[..index]);
            let kind = if loads.is_some() { Kind::Load } else { Kind::CodeText };
            let detail = loads.unwrap_or("string");
            if name.contains("://") {
                self.push(kind, &name, written, token.inner.start, detail, quoting);
            } else if loads.is_some_and(|word| word != "load") {
                self.push_relative(Kind::Load, &name, token.inner.clone(), detail, quoting);
            }
        }
    }

    /// Code that is kept in a string of a scene.
    fn embedded(&mut self, value: &str, at: usize, dialect: Dialect) {
        let Some(text) = string_spans(value, true).into_iter().next() else { return };
        let (source, offsets) = unescaped(&value[text.clone()]);
        let mut inner = Finder { folder: self.folder, found: vec![] };
        inner.code(&source, dialect);
        let base = at + text.start;
        self.found.extend(inner.found.into_iter().map(|mut reference| {
            reference.span =
                base + offsets[reference.span.start]..base + offsets[reference.span.end];
            if reference.quoting == Quoting::Single {
                reference.quoting = Quoting::NestedSingle;
            }
            reference
        }));
    }

    /// The strings of a value that are paths or uids.
    fn strings(&mut self, value: &str, at: usize, comments: bool, kind: Kind, detail: &str) {
        if !value.contains("://") && !value.contains(":\\/\\/") {
            return;
        }
        for text in string_spans(value, comments) {
            let written = &value[text.clone()];
            let name = written.replace("\\/", "/").replace("\\'", "'");
            if !name.contains('\\') {
                self.push(kind, &name, written, at + text.start, detail, Quoting::Plain);
            }
        }
    }

    /// Takes a string that is a path or uid, perhaps with a mark before or something behind.
    fn push(
        &mut self,
        kind: Kind,
        name: &str,
        written: &str,
        at: usize,
        detail: &str,
        quoting: Quoting,
    ) {
        let mark = usize::from(kind == Kind::Autoload && name.starts_with('*'));
        let (name, written) = (&name[mark..], &written[mark..]);
        let at = at + mark;
        if uid::is_uid(name) {
            let span = at..at + written.len();
            return self.found.push(Reference {
                kind,
                target: name.into(),
                span,
                line: 0,
                detail: detail.into(),
                relative: false,
                bare: false,
                quoting,
            });
        }
        let Some(inner) = name.strip_prefix("res://") else { return };
        // `res://a.tscn::Id` is a resource inside of the file, `res://a.png:fr` a translated one.
        let inner = inner.split(':').next().unwrap_or_default();
        let Some(target) = joined("res://", inner) else { return };
        if target == "res://" {
            return;
        }
        let tail = name.len() - "res://".len() - inner.trim_end_matches('/').len();
        let span = at..at + written.len() - tail;
        self.found.push(Reference {
            kind,
            target,
            span,
            line: 0,
            detail: detail.into(),
            relative: false,
            bare: false,
            quoting,
        });
    }

    fn push_relative(
        &mut self,
        kind: Kind,
        name: &str,
        span: Range<usize>,
        detail: &str,
        quoting: Quoting,
    ) {
        let Some(target) = joined(self.folder, name) else { return };
        self.found.push(Reference {
            kind,
            target,
            span,
            line: 0,
            detail: detail.into(),
            relative: true,
            bare: false,
            quoting,
        });
    }
}

fn is_filter(key: &str) -> bool {
    key.ends_with("_filter") && key != "export_filter" || key.ends_with("_filters")
}

/// The word that loads the string after these tokens, if one does.
fn loader(source: &str, before: &[code::Token]) -> Option<&'static str> {
    let mut before = before.iter().rev();
    let last = before.next()?;
    if last.is_word(source, "extends") {
        return Some("extends");
    }
    if last.is_word(source, "include") && before.next().is_some_and(|mark| mark.is_mark(b'#')) {
        return Some("include");
    }
    if !last.is_mark(b'(') {
        return None;
    }
    let word = before.next()?;
    // `GD.Load<Texture2D>("...")` has its type between.
    let word = if word.is_mark(b'>') {
        before.by_ref().find(|token| token.is_mark(b'<'))?;
        before.next()?
    } else {
        word
    };
    let loads = [
        ("preload", "preload"),
        ("load", "load"),
        ("Load", "load"),
        ("load_threaded_request", "load"),
        ("LoadThreadedRequest", "load"),
        ("change_scene_to_file", "load"),
        ("ChangeSceneToFile", "load"),
    ];
    loads.iter().find(|(name, _)| word.is_word(source, name)).map(|(_, shown)| *shown)
}

/// What stands between the quotes of each string of a value, in order.
pub(crate) fn string_spans(value: &str, comments: bool) -> Vec<Range<usize>> {
    let bytes = value.as_bytes();
    let mut found = vec![];
    let mut at = 0;
    while let Some(next) = memchr::memchr2(b'"', b';', &bytes[at..]) {
        at += next;
        if bytes[at] == b';' {
            at += 1;
            if comments {
                at += memchr::memchr2(b'\n', b'\r', &bytes[at..]).unwrap_or(bytes.len() - at);
            }
            continue;
        }
        let start = at + 1;
        let mut end = start;
        while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[end.min(bytes.len())..]) {
            end += next;
            if bytes[end] == b'"' {
                break;
            }
            end += 2;
        }
        if bytes.get(end) != Some(&b'"') {
            break;
        }
        found.push(start..end);
        at = end + 1;
    }
    found
}

/// A string with `\"` and its like undone, and where each of its bytes stands in what was written.
fn unescaped(written: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(written.len());
    let mut offsets = Vec::with_capacity(written.len() + 1);
    let mut letters = written.char_indices();
    while let Some((at, letter)) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => '\n',
                Some((_, 't')) => '\t',
                Some((_, 'r')) => '\r',
                Some((_, other)) => other,
                None => break,
            },
            letter => letter,
        };
        offsets.extend(std::iter::repeat_n(at, letter.len_utf8()));
        text.push(letter);
    }
    offsets.push(written.len());
    (text, offsets)
}

/// Gives each reference its line; they are in file order.
fn number_lines(bytes: &[u8], found: &mut [Reference]) {
    let (mut line, mut at) = (1_u32, 0);
    for reference in found {
        let passed = bytes.get(at..reference.span.start).unwrap_or_default();
        line = line.saturating_add(u32::try_from(line_ends(passed)).unwrap_or(u32::MAX));
        at = reference.span.start;
        reference.line = line;
    }
}

/// Counts `\n`, `\r\n` and lone `\r`; the bytes do not end inside of a `\r\n`.
fn line_ends(bytes: &[u8]) -> usize {
    let lone = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n'));
    memchr::memchr_iter(b'\n', bytes).count() + lone.count()
}
