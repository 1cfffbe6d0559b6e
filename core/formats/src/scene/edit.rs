//! Edits of scenes and resources: properties, header attributes, external resources, as splices.
//!
//! Written as the engine writes: `key = value`, attributes in the header line, `load_steps` counted only
//! where the file has it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Scene, SceneKind};
use crate::document::{Item, ItemKind, PropertySpan, Section, Span};
use crate::edit::{
    self, Edit, EditError, Lines, Splice, check_value, properties_after, same_value,
};
use crate::resource::attribute_text;
use crate::variant::escaped;

#[cfg(test)]
mod tests;

/// A section of a scene or resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'p> {
    /// `[gd_scene ...]` or `[gd_resource ...]`.
    Header,
    /// The external resource of an id; of several the last.
    ExtResource(&'p str),
    /// The resource kept in this file under an id.
    SubResource(&'p str),
    /// The main resource of a resource file.
    Main,
    /// A node, by its index in [`Scene::nodes`].
    Node(usize),
    /// A connection, by its index in [`Scene::connections`].
    Connection(usize),
    /// An editable path, by its index in [`Scene::editable_paths`].
    Editable(usize),
}

/// What to do with an attribute of a section's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeChange<'c> {
    /// Set it to a value in the engine's text form; see [`escaped`] for a string.
    Set(&'c str),
    /// Give it another name and leave its value.
    Rename(&'c str),
    /// Take it away.
    Remove,
}

/// An external resource that a file is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewExternal<'n> {
    /// Its class, such as `Script`.
    pub type_name: &'n str,
    /// Its path, `res://...`.
    pub path: &'n str,
    /// Its uid, where it has one.
    pub uid: Option<&'n str>,
}

/// An external resource that a file has once the edit is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct External {
    /// What to change; empty when the file has the resource already.
    pub edit: Edit,
    /// Its id.
    pub id: String,
    /// The value that refers to it, such as `ExtResource("1_abc")`.
    pub reference: String,
}

impl Scene<'_> {
    /// Sets a property of a section to a value in the engine's text form.
    ///
    /// Of several with one key the last counts, and is replaced. A new property stands after the others;
    /// a new `script` before them, because the engine reads what a script declares only after it. An equal
    /// value is left as it is spelled.
    ///
    /// # Errors
    /// A section that is not there or takes no properties, or a text that is not one value.
    pub fn set_property(
        &self,
        place: Place<'_>,
        key: &str,
        value: &str,
    ) -> Result<Edit, EditError> {
        let (index, item, _) = self.owner(place)?;
        check_value(value)?;
        if key.is_empty() || key.contains('\0') {
            return Err(EditError::Name("a property's name is not empty".into()));
        }
        let lines = Lines::of(&self.document);
        let entries: Vec<&PropertySpan> = properties_after(&self.document, index).collect();
        if let Some(found) = entries.iter().rev().find(|entry| self.document.key(entry) == key) {
            if same_value(self.document.text(found.value), value) {
                return Ok(Edit::default());
            }
            return Ok(lines.replacement(found.value, value));
        }
        let last = entries.last().copied();
        let line = format!("{}{}{value}", edit::key(key), lines.separator(last, " = "));
        let after = match last {
            Some(last) if key != "script" => last.value.end,
            _ => item.span.end,
        };
        Ok(lines.insert_after(after as usize, &[line]))
    }

    /// Removes a property of a section, every occurrence of it.
    ///
    /// # Errors
    /// A section that is not there or takes no properties.
    pub fn remove_property(&self, place: Place<'_>, key: &str) -> Result<Edit, EditError> {
        let (index, ..) = self.owner(place)?;
        let lines = Lines::of(&self.document);
        let entries = properties_after(&self.document, index);
        let removed = entries.filter(|entry| self.document.key(entry) == key);
        Ok(Edit::of(removed.map(|entry| lines.removal(entry)).collect()))
    }

    /// Changes an attribute of a section's header. Removing what is not there changes nothing.
    ///
    /// # Errors
    /// A section or an attribute that is not there, a text that is not one value, or a name that no
    /// attribute can have.
    pub fn change_attribute(
        &self,
        place: Place<'_>,
        name: &str,
        change: AttributeChange<'_>,
    ) -> Result<Edit, EditError> {
        let (_, _, section) = self.section_at(place)?;
        check_attribute_name(name)?;
        let attributes = self.document.attributes(section);
        let lines = Lines::of(&self.document);
        let found: Vec<usize> = (0..attributes.len())
            .filter(|at| self.document.text(attributes[*at].name) == name)
            .collect();
        let end_before = |at: usize| {
            let before = at.checked_sub(1).map(|before| attributes[before].value.end);
            before.unwrap_or(section.name.end)
        };
        match (change, found.last()) {
            (AttributeChange::Set(value), Some(at)) => {
                check_value(value)?;
                let written = attributes[*at].value;
                if same_value(self.document.text(written), value) {
                    return Ok(Edit::default());
                }
                Ok(lines.replacement(written, value))
            }
            (AttributeChange::Set(value), None) => {
                check_value(value)?;
                let end = end_before(attributes.len());
                Ok(Edit::one(Span { start: end, end }, format!(" {name}={value}")))
            }
            (AttributeChange::Rename(to), Some(at)) => {
                check_attribute_name(to)?;
                Ok(Edit::one(attributes[*at].name, to))
            }
            (AttributeChange::Rename(_), None) => {
                Err(EditError::NotFound(format!("attribute `{name}` in that section")))
            }
            (AttributeChange::Remove, _) => {
                let gone = |at: usize| {
                    let span = Span { start: end_before(at), end: attributes[at].value.end };
                    let meets = lines.goes_on_at(span.end as usize);
                    Splice { span, text: if meets { " ".into() } else { String::new() } }
                };
                Ok(Edit::of(found.into_iter().map(gone).collect()))
            }
        }
    }

    /// Sets the file's own uid.
    ///
    /// # Errors
    /// A text that is no uid.
    pub fn set_uid(&self, uid: &str) -> Result<Edit, EditError> {
        if !crate::uid::is_uid(uid) {
            return Err(EditError::Name(format!("`{uid}` is no uid")));
        }
        self.change_attribute(Place::Header, "uid", AttributeChange::Set(&escaped(uid)))
    }

    /// Makes sure that the file has an external resource, and says how a value refers to it.
    ///
    /// One with the same path is taken as it is. A new one stands after the others, under an id that the
    /// file does not use: a number where the file's ids are numbers, else a number and letters.
    ///
    /// # Errors
    /// A uid that is none.
    pub fn add_ext_resource(&self, new: NewExternal<'_>) -> Result<External, EditError> {
        if let Some(uid) = new.uid.filter(|uid| !crate::uid::is_uid(uid)) {
            return Err(EditError::Name(format!("`{uid}` is no uid")));
        }
        let numbers = self.has_numeric_ids();
        let text = |id: &str| if numbers { id.to_owned() } else { escaped(id) };
        let reference = |id: &str| format!("ExtResource({})", text(id));
        let reachable = self.external.values().filter_map(|index| self.ext_resources.get(*index));
        let mut known: Vec<_> = reachable.filter(|known| known.path == new.path).collect();
        known.sort_by_key(|known| known.span);
        if let Some(known) = known.first() {
            let (id, reference) = (known.id.clone().into_owned(), reference(&known.id));
            return Ok(External { edit: Edit::default(), id, reference });
        }
        let id = self.fresh_id(new.path, numbers);
        let mut line = format!("[ext_resource type={}", escaped(new.type_name));
        if let Some(uid) = new.uid {
            let _ = write!(line, " uid={}", escaped(uid));
        }
        let _ = write!(line, " path={} id={}]", escaped(new.path), text(&id));
        let mut splices = self.insert_external(line).splices().to_vec();
        splices.extend(self.counted_steps(1));
        Ok(External { edit: Edit::of(splices), reference: reference(&id), id })
    }

    fn insert_external(&self, line: String) -> Edit {
        let lines = Lines::of(&self.document);
        let mut last = None;
        for (_, item, section) in self.sections() {
            match self.document.text(section.name) {
                "ext_resource" => last = Some((item, true)),
                "gd_scene" | "gd_resource" if last.is_none() => last = Some((item, false)),
                _ => break,
            }
        }
        match last {
            Some((item, true)) => lines.insert_after(item.span.end as usize, &[line]),
            Some((item, false)) => {
                let end = item.span.end as usize;
                let blank = lines.blank_line_follows(end);
                let text = if blank { vec![String::new(), line] } else { vec![line] };
                lines.insert_after(end, &text)
            }
            // A scene always has a header.
            None => Edit::default(),
        }
    }

    /// `load_steps` raised, where the header has it as a number.
    fn counted_steps(&self, by: u32) -> Option<Splice> {
        let (.., section) = self.sections().next()?;
        let attributes = self.document.attributes(section).iter().rev();
        let steps = attributes
            .filter(|attribute| self.document.text(attribute.name) == "load_steps")
            .map(|attribute| attribute.value)
            .next()?;
        let count: u32 = self.document.text(steps).parse().ok()?;
        Some(Splice { span: steps, text: count.saturating_add(by).to_string() })
    }

    /// Whether ids of this file are numbers, as in the engine's second generation.
    fn has_numeric_ids(&self) -> bool {
        let ids = self.sections().filter_map(|(_, _, section)| {
            let name = self.document.text(section.name);
            let numbered = matches!(name, "ext_resource" | "sub_resource");
            numbered.then(|| self.document.attribute(section, "id")).flatten()
        });
        let mut ids = ids.peekable();
        match ids.peek() {
            None => self.header.format < 3,
            Some(_) => ids.all(|id| id.parse::<u64>().is_ok()),
        }
    }

    fn fresh_id(&self, path: &str, numbers: bool) -> String {
        let used: BTreeSet<&str> = self
            .ext_resources
            .iter()
            .map(|resource| &*resource.id)
            .chain(self.sub_resources.iter().filter(|_| numbers).map(|resource| &*resource.id))
            .collect();
        if numbers {
            let largest = used.iter().filter_map(|id| id.parse::<u64>().ok()).max();
            return (largest.unwrap_or(0) + 1).to_string();
        }
        let number = self.ext_resources.len() + 1;
        (0..=u64::MAX)
            .map(|salt| format!("{number}_{}", letters(path, salt)))
            .find(|id| !used.contains(id.as_str()))
            .unwrap_or_default()
    }

    fn sections(&self) -> impl Iterator<Item = (usize, &Item, &Section)> {
        let items = self.document.items().iter().enumerate();
        items.filter_map(|(index, item)| match &item.kind {
            ItemKind::Section(section) => Some((index, item, section)),
            _ => None,
        })
    }

    /// A section that takes properties.
    fn owner(&self, place: Place<'_>) -> Result<(usize, &Item, &Section), EditError> {
        if matches!(place, Place::SubResource(_) | Place::Main | Place::Node(_)) {
            return self.section_at(place);
        }
        Err(EditError::NotFound(format!("properties in {}", describe(place))))
    }

    fn section_at(&self, place: Place<'_>) -> Result<(usize, &Item, &Section), EditError> {
        let at_span = |span: Option<Span>| {
            let span = span?;
            let items = self.document.items();
            let index = items.binary_search_by_key(&span.start, |item| item.span.start).ok()?;
            match &items[index].kind {
                ItemKind::Section(section) => Some((index, &items[index], section)),
                _ => None,
            }
        };
        let named = |name: &'static str| {
            self.sections().filter(move |(_, _, section)| self.document.text(section.name) == name)
        };
        let found = match place {
            Place::Header => self.sections().next(),
            Place::ExtResource(id) => at_span(self.ext_resource(id).map(|found| found.span)),
            Place::SubResource(id) => at_span(self.sub_resource(id).map(|found| found.span)),
            Place::Main if self.header.kind == SceneKind::Resource => named("resource").last(),
            Place::Main => None,
            Place::Node(index) => at_span(self.nodes.get(index).map(|found| found.span)),
            Place::Connection(index) => {
                at_span(self.connections.get(index).map(|found| found.span))
            }
            Place::Editable(index) => {
                named("editable").nth(index).filter(|_| self.header.kind == SceneKind::Scene)
            }
        };
        found.ok_or_else(|| EditError::NotFound(describe(place)))
    }

    /// The text of an attribute of a section's header, escapes undone.
    pub fn attribute(&self, place: Place<'_>, name: &str) -> Option<String> {
        let (.., section) = self.section_at(place).ok()?;
        attribute_text(&self.document, section, name).map(std::borrow::Cow::into_owned)
    }
}

fn describe(place: Place<'_>) -> String {
    match place {
        Place::Header => "header".into(),
        Place::ExtResource(id) => format!("external resource `{id}`"),
        Place::SubResource(id) => format!("sub-resource `{id}`"),
        Place::Main => "main resource".into(),
        Place::Node(index) => format!("node {index}"),
        Place::Connection(index) => format!("connection {index}"),
        Place::Editable(index) => format!("editable path {index}"),
    }
}

fn check_attribute_name(name: &str) -> Result<(), EditError> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if starts && name.bytes().all(legal) {
        return Ok(());
    }
    Err(EditError::Name(format!("no attribute can be called `{name}`")))
}

/// Five letters and digits, the same for the same path: nothing here is random.
fn letters(path: &str, salt: u64) -> String {
    const LETTERS: &[u8; 34] = b"abcdefghijklmnopqrstuvwxy012345678";
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = path.bytes().chain(salt.to_le_bytes());
    let mut hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let mut out = String::new();
    for _ in 0..5 {
        let index = usize::try_from(hash % 34).unwrap_or(0);
        out.push(char::from(LETTERS[index]));
        hash /= 34;
    }
    out
}
