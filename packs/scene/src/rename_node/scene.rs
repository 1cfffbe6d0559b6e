//! The places of one scene that name the renamed node, as splices.
//!
//! Spec: P-52, scenes.

use std::collections::BTreeMap;

use didi_formats::{
    document::{Property, RawValue},
    edit::{Edit, Splice},
    scene::{AttributeChange, Place as Section, Scene},
    variant::{self, Value as Variant},
};

use super::{
    Place,
    paths::{Path, Renaming, joined, store, stored},
};

/// Classes of nodes whose sub-resources hold node paths, with the property that says from where they count.
const BASES: [(&str, &str); 5] = [
    ("AnimationPlayer", "root_node"),
    ("AnimationTree", "root_node"),
    ("AnimationMixer", "root_node"),
    ("MultiplayerSynchronizer", "root_path"),
    ("MultiplayerSpawner", "spawn_path"),
];

/// What a node path in a value begins with.
const NODE_PATH: &str = "NodePath(";

/// A scene's path to one of its nodes.
pub(super) fn node_path(scene: &Scene<'_>, index: usize) -> Path {
    let node = &scene.nodes()[index];
    match &node.path {
        None => vec![],
        Some(parent) => joined(&stored(parent), &[node.name.to_string()]),
    }
}

/// The nodes at a path; a broken scene has several.
pub(super) fn nodes_at(scene: &Scene<'_>, path: &[String]) -> Vec<usize> {
    // Paths are made of the few nodes whose name fits.
    let named = |index: &usize| {
        path.last().is_none_or(|name| *name == scene.nodes()[*index].name)
            && node_path(scene, *index) == path
    };
    (0..scene.nodes().len()).filter(named).collect()
}

/// Collects the places of one scene.
pub(super) struct Places<'s, 'a> {
    scene: &'s Scene<'a>,
    renaming: &'s Renaming<'s>,
    splices: Vec<Splice>,
    found: Vec<Place>,
}

impl<'s, 'a> Places<'s, 'a> {
    /// Looks through the whole scene. `own` says whether the node stands in this file or in one that it uses.
    pub(super) fn of(
        scene: &'s Scene<'a>,
        renaming: &'s Renaming<'s>,
        own: bool,
    ) -> (Vec<Splice>, Vec<Place>) {
        let mut places = Places { scene, renaming, splices: vec![], found: vec![] };
        places.nodes(own);
        places.connections();
        places.editables();
        places.values();
        places.splices.sort_by_key(|splice| splice.span);
        places.found.sort_by_key(|place| place.line);
        (places.splices, places.found)
    }

    fn nodes(&mut self, own: bool) {
        for (index, node) in self.scene.nodes().iter().enumerate() {
            let line = node.line as usize;
            if let Some(parent) = node.path.as_ref().filter(|path| self.renaming.can_be_in(path))
                && let Some(renamed) = self.renaming.in_scene(&stored(parent))
            {
                self.attribute(Section::Node(index), "parent", &store(&renamed), line, "parent");
            }
            let target = if self.renaming.aliases.iter().any(Vec::is_empty) {
                own && node.path.is_none()
            } else {
                node.name == self.renaming.old
                    && self.renaming.is_node(&node_path(self.scene, index))
                    && (own || node.is_override())
            };
            if target {
                self.attribute(Section::Node(index), "name", self.renaming.new, line, "name");
            }
        }
    }

    fn connections(&mut self) {
        for (index, connection) in self.scene.connections().iter().enumerate() {
            let ends = [("from", &connection.from), ("to", &connection.to)];
            for (name, end) in ends {
                if let Some(renamed) =
                    end.as_ref().and_then(|end| self.renaming.in_scene(&stored(end)))
                {
                    let line = connection.line as usize;
                    self.attribute(
                        Section::Connection(index),
                        name,
                        &store(&renamed),
                        line,
                        "connection",
                    );
                }
            }
        }
    }

    fn editables(&mut self) {
        for (index, path) in self.scene.editable_paths().enumerate() {
            if let Some(renamed) = self.renaming.in_scene(&stored(path)) {
                let line = self.line_of_text(path);
                self.attribute(
                    Section::Editable(index),
                    "path",
                    &store(&renamed),
                    line,
                    "editable",
                );
            }
        }
    }

    /// An attribute that was found is there, so its edit can be worked out.
    fn attribute(
        &mut self,
        section: Section<'_>,
        name: &str,
        value: &str,
        line: usize,
        kind: &'static str,
    ) {
        let written = variant::escaped(value);
        let change = self.scene.change_attribute(section, name, AttributeChange::Set(&written));
        for splice in change.iter().flat_map(Edit::splices) {
            let before = self.scene.document().text(splice.span).to_owned();
            self.splices.push(splice.clone());
            self.found.push(Place { line, kind: kind.into(), before, after: splice.text.clone() });
        }
    }

    fn line_of_text(&self, text: &str) -> usize {
        let source = self.scene.document().source();
        let at = source.find(&format!("[editable path={}", variant::escaped(text)));
        line_at(source, at.unwrap_or(0))
    }

    fn values(&mut self) {
        let bases = self.bases();
        let scene = self.scene;
        for (index, node) in scene.nodes().iter().enumerate() {
            let holds = |entry: &&Property<'_>| entry.value.contains(NODE_PATH);
            let mut entries = node.entries().iter().filter(holds).peekable();
            if entries.peek().is_none() {
                continue;
            }
            let base = [node_path(scene, index)];
            for entry in entries {
                self.value(&base, entry.value, entry.value_span.start as usize, "node_path");
            }
        }
        for resource in scene.sub_resources() {
            let Some(base) = bases.get(resource.id.as_ref()) else { continue };
            for entry in resource.entries() {
                let track = entry.key.starts_with("tracks/");
                let kind = if track { "animation_track" } else { "node_path" };
                self.value(base, entry.value, entry.value_span.start as usize, kind);
            }
        }
    }

    /// From which nodes the paths in a sub-resource count.
    fn bases(&self) -> BTreeMap<String, Vec<Path>> {
        let mut bases: BTreeMap<String, Vec<Path>> = BTreeMap::new();
        for (index, node) in self.scene.nodes().iter().enumerate() {
            let class = node.type_name.as_deref().unwrap_or_default();
            let Some((_, property)) = BASES.iter().find(|(name, _)| *name == class) else {
                continue;
            };
            let said = node.property(property).and_then(RawValue::as_text);
            let Some(base) = walked(&node_path(self.scene, index), said.as_deref().unwrap_or(".."))
            else {
                continue;
            };
            for id in self.reached(index) {
                bases.entry(id).or_default().push(base.clone());
            }
        }
        bases
    }

    /// The sub-resources that a node's properties lead to, one through the other.
    fn reached(&self, node: usize) -> Vec<String> {
        let ids = |value: &str| {
            let parts = value.split("SubResource(\"").skip(1);
            parts.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect::<Vec<_>>()
        };
        let mut next: Vec<String> =
            self.scene.nodes()[node].entries().iter().flat_map(|entry| ids(entry.value)).collect();
        let mut reached: Vec<String> = vec![];
        while let Some(id) = next.pop() {
            if reached.contains(&id) {
                continue;
            }
            if let Some(resource) = self.scene.sub_resource(&id) {
                next.extend(resource.entries().iter().flat_map(|entry| ids(entry.value)));
            }
            reached.push(id);
        }
        reached
    }

    /// Every `NodePath("...")` of a value. The same path from two places that differ is left and told.
    fn value(&mut self, bases: &[Path], value: &str, start: usize, kind: &'static str) {
        for (at, raw) in node_path_literals(value) {
            let Ok(Variant::String(text)) = variant::parse(raw) else { continue };
            let mut renamed = bases.iter().filter_map(|base| self.renaming.seen_from(base, &text));
            let Some(after) = renamed.next() else { continue };
            let written = variant::escaped(&after);
            let from = start + at;
            let source = self.scene.document().source();
            self.found.push(Place {
                line: line_at(source, from),
                kind: kind.into(),
                before: raw.to_owned(),
                after: written.clone(),
            });
            let span = didi_formats::document::Span {
                start: u32::try_from(from).unwrap_or(u32::MAX),
                end: u32::try_from(from + raw.len()).unwrap_or(u32::MAX),
            };
            self.splices.push(Splice { span, text: written });
        }
    }
}

/// A path from a node, by its text alone; `None` above the scene's root.
fn walked(from: &[String], text: &str) -> Option<Path> {
    let mut here = from.to_vec();
    for part in text.split(':').next().unwrap_or_default().split('/') {
        match part {
            "" | "." => {}
            ".." => {
                here.pop()?;
            }
            name => here.push(name.to_owned()),
        }
    }
    Some(here)
}

/// The quoted texts of `NodePath("...")` outside of strings, with their places in the value.
fn node_path_literals(value: &str) -> Vec<(usize, &str)> {
    let mut found = vec![];
    let mut at = 0;
    while at < value.len() {
        let rest = &value[at..];
        if rest.starts_with('"') {
            at += quoted_len(rest);
        } else if let Some(inner) = rest.strip_prefix(NODE_PATH) {
            let blank = inner.len() - inner.trim_start().len();
            at += NODE_PATH.len() + blank;
            let length = quoted_len(&value[at..]);
            if value[at..].starts_with('"') {
                found.push((at, &value[at..at + length]));
            }
            at += length;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// Bytes of a quoted text, its quotes included; 0 where none begins.
fn quoted_len(text: &str) -> usize {
    if !text.starts_with('"') {
        return 0;
    }
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The line of a byte, from 1.
pub(super) fn line_at(source: &str, at: usize) -> usize {
    source.get(..at).unwrap_or(source).matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::node_path_literals;

    #[test]
    fn node_paths_are_found_outside_of_strings() {
        let value = r#"[NodePath("A"), "NodePath(\"B\")", {"k": NodePath( "C\"d")}, &"NodePath("]"#;
        let found: Vec<_> = node_path_literals(value).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, ["\"A\"", "\"C\\\"d\""]);
    }
}
