//! Edits of settings files: set a key, remove a key, as splices.

use std::fmt::Write as _;

use crate::document::{ItemKind, Property, PropertySpan};
use crate::edit::{self, Edit, EditError, Lines, check_value, same_value};

use super::{ConfigFile, ConfigSection};

#[cfg(test)]
mod tests;

/// Where the engine keeps a project setting: its section and the key in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingPlace<'p> {
    /// The section; empty for the top of the file.
    pub section: &'p str,
    /// The key.
    pub key: &'p str,
}

/// Where the engine writes a setting that no file has yet: what is before the first slash is the section.
pub fn setting_place(path: &str) -> SettingPlace<'_> {
    let (section, key) = path.split_once('/').unwrap_or(("", path));
    SettingPlace { section, key }
}

/// The line end after a comment: the engine ends one at `\n` only, so a lone `\r` is a part of it.
fn ends_comment(eol: &'static str) -> &'static str {
    if eol == "\r" { "\n" } else { eol }
}

impl ConfigFile<'_> {
    /// Sets a key to a value in the engine's text form.
    ///
    /// The last of several is the one that counts, and is replaced. A new key stands after the section's
    /// last one, a new section at the end of the file. An equal value is left as it is spelled.
    ///
    /// # Errors
    /// A file that [`ConfigFile::refuses_write`], a text that is not one value, or a name that no file can
    /// hold.
    pub fn set(&self, section: &str, key: &str, value: &str) -> Result<Edit, EditError> {
        self.check(section, key)?;
        check_value(value)?;
        if let Some(found) = self.get(section, key) {
            if same_value(found.text, value) {
                return Ok(Edit::default());
            }
            return Ok(Edit::one(found.span, value));
        }
        let lines = Lines::of(&self.document);
        let last_of = |section: &ConfigSection<'_>| section.entries.last().map(Property::span);
        let homes: Vec<&ConfigSection<'_>> = self.sections_named(section).collect();
        let home = homes.iter().rev().find(|home| !home.entries.is_empty()).or(homes.last());
        let Some(home) = home.filter(|home| home.header.is_some() || !home.entries.is_empty())
        else {
            return Ok(if section.is_empty() {
                self.first_line(key, value)
            } else {
                self.new_section(section, key, value)
            });
        };
        let line = |like: Option<&PropertySpan>| {
            format!("{}{}{value}", edit::key(key), lines.separator(like, "="))
        };
        if let Some(last) = last_of(home) {
            return Ok(lines.insert_after(last.value.end as usize, &[line(Some(&last))]));
        }
        let header = home.header.map_or(0, |header| header.end as usize);
        let mut text = vec![line(None)];
        if lines.blank_line_follows(header) {
            text.insert(0, String::new());
        }
        Ok(lines.insert_after(header, &text))
    }

    /// Removes a key with all lines of its value, wherever it occurs in sections of that name.
    ///
    /// # Errors
    /// A file that [`ConfigFile::refuses_write`].
    pub fn remove(&self, section: &str, key: &str) -> Result<Edit, EditError> {
        self.check(section, key)?;
        let lines = Lines::of(&self.document);
        let entries = self.sections_named(section).flat_map(ConfigSection::entries);
        let removed = entries.filter(|entry| entry.key == key);
        Ok(Edit::of(removed.map(|entry| lines.removal(&entry.span())).collect()))
    }

    /// Sets a project setting by its full path, where the file has it, else where the engine writes it.
    ///
    /// # Errors
    /// As [`ConfigFile::set`].
    pub fn set_setting(&self, path: &str, value: &str) -> Result<Edit, EditError> {
        let place = self.place_of(path).unwrap_or_else(|| setting_place(path));
        self.set(place.section, place.key, value)
    }

    /// Removes a project setting by its full path, in every section that can hold it.
    ///
    /// # Errors
    /// As [`ConfigFile::remove`].
    pub fn remove_setting(&self, path: &str) -> Result<Edit, EditError> {
        let mut splices = vec![];
        for place in places_of(path) {
            splices.extend_from_slice(self.remove(place.section, place.key)?.splices());
        }
        Ok(Edit::of(splices))
    }

    /// Where the file has a project setting; of several places the one that comes last and so counts.
    pub fn place_of<'p>(&self, path: &'p str) -> Option<SettingPlace<'p>> {
        let found = places_of(path)
            .filter_map(|place| Some((self.get(place.section, place.key)?.span, place)));
        found.max_by_key(|(span, _)| *span).map(|(_, place)| place)
    }

    fn check(&self, section: &str, key: &str) -> Result<(), EditError> {
        if let Some(problem) = self.refuses_write() {
            return Err(EditError::Refused { line: problem.line(), message: problem.to_string() });
        }
        let edge = |letter: char| letter <= ' ';
        if section.trim_matches(edge) != section || section.contains(['\n', '\r', '\\', '\0']) {
            return Err(EditError::Name(format!("no section can be called `{section}`")));
        }
        if key.is_empty() || key.contains(['\n', '\r', '\0']) {
            return Err(EditError::Name("a key is one line and not empty".into()));
        }
        Ok(())
    }

    /// A key before the first section of a file that has none there.
    fn first_line(&self, key: &str, value: &str) -> Edit {
        let lines = Lines::of(&self.document);
        let items = self.document.items();
        let first = items.iter().find(|item| {
            !matches!(item.kind, ItemKind::Blank | ItemKind::Comment | ItemKind::ByteOrderMark)
        });
        let at = first.map_or(self.document.source().len(), |item| item.span.start as usize);
        let eol = lines.line_end_at(at);
        let in_comment = first.is_none() && self.ends_in_comment();
        let begins_line = self.document.source()[..at].ends_with(['\n', '\r']) || at == 0;
        let before = match (in_comment, begins_line) {
            (true, _) => ends_comment(eol),
            (false, true) => "",
            (false, false) => eol,
        };
        let after = if first.is_some() { eol } else { "" };
        let text = format!("{before}{}={value}{eol}{after}", edit::key(key));
        Edit::one(crate::document::Span::new(at, at), text)
    }

    /// Whether what is added to the end of the file would belong to a comment.
    fn ends_in_comment(&self) -> bool {
        self.document.items().last().is_some_and(|item| item.kind == ItemKind::Comment)
    }

    fn new_section(&self, section: &str, key: &str, value: &str) -> Edit {
        let lines = Lines::of(&self.document);
        let source = self.document.source();
        let end = source.len();
        let eol = lines.line_end_at(end);
        let in_comment = self.ends_in_comment();
        let first = if in_comment { ends_comment(eol) } else { eol };
        let body = source.trim_start_matches('\u{feff}');
        let mut text = String::new();
        let ended = !in_comment && body.ends_with(['\n', '\r']);
        let blank = body.trim_end_matches([' ', '\t']);
        let blank = blank.strip_suffix(eol).is_some_and(|rest| rest.ends_with(['\n', '\r']));
        if !body.is_empty() && !ended {
            text.push_str(first);
        }
        if !body.is_empty() && !blank {
            text.push_str(eol);
        }
        text.push('[');
        text.push_str(&section.replace(']', "\\]"));
        text.push(']');
        text.push_str(eol);
        if self.separates_headers(&lines) {
            text.push_str(eol);
        }
        let _ = write!(text, "{}={value}", edit::key(key));
        // A file that ends without a line end goes on doing so.
        if body.is_empty() || ended {
            text.push_str(eol);
        }
        Edit::one(crate::document::Span::new(end, end), text)
    }

    /// Whether a blank line follows this file's section headers, as the engine writes it.
    fn separates_headers(&self, lines: &Lines<'_, '_>) -> bool {
        let mut headers = self.sections.iter().filter(|section| !section.entries.is_empty());
        let first = headers.find_map(|section| section.header);
        first.is_none_or(|header| lines.blank_line_follows(header.end as usize))
    }
}

/// Every section and key that a setting's path can be split into.
fn places_of(path: &str) -> impl Iterator<Item = SettingPlace<'_>> {
    let splits = path
        .match_indices('/')
        .map(|(at, _)| SettingPlace { section: &path[..at], key: &path[at + 1..] });
    std::iter::once(SettingPlace { section: "", key: path })
        .chain(splits)
        .filter(|place| !place.key.is_empty())
}
