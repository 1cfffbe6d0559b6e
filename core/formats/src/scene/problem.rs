//! What is wrong or odd in a scene that can be read, and what the engine 4.6 makes of it.

use std::collections::BTreeSet;
use std::fmt;

use super::tree::{Lookup, Place};
use super::{
    NEWEST_FORMAT, Node, Property, ReferenceKind, Scene, SceneKind, SubResource, declared,
};
use crate::text::LineCursor;
use crate::variant;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The engine reads the file, and a reader may be surprised.
    Note,
    /// The engine reads the file and loses or moves something, at the latest when it saves.
    Loss,
    /// The engine does not load the file, or makes nothing of it.
    Fatal,
}

/// A finding. Lines count from 1; nodes are indexes into [`Scene::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by the line above")]
pub enum Problem {
    /// Two nodes with one parent and one name; the engine drops the second when it saves.
    DuplicateSibling { first: usize, second: usize, line: u32 },
    /// A node whose parent does not exist.
    Orphan { node: usize, line: u32 },
    /// A node listed before its parent.
    ChildBeforeParent { node: usize, parent: usize, line: u32 },
    /// Another node without `parent=`.
    SecondRoot { node: usize, line: u32 },
    /// A node with `parent=""`. The engine 4.6.3 crashes when it loads the file.
    EmptyParent { node: usize, line: u32 },
    /// A scene none of whose nodes is without `parent=`.
    NoRoot { line: u32 },
    /// A node without type, instance and anything to override.
    OverrideOfNothing { node: usize, line: u32 },
    /// A changed node inside an instance that is not marked editable.
    OverrideNotEditable { node: usize, instance: usize, line: u32 },
    /// A connection without `from` or `to`.
    ConnectionWithout { attribute: &'static str, line: u32 },
    /// A connection from or to a node that does not exist.
    DanglingConnection { attribute: &'static str, path: String, line: u32 },
    /// An `[editable]` whose path leads nowhere.
    DanglingEditable { path: String, line: u32 },
    /// A section without an attribute that the engine insists on.
    MissingAttribute { section: String, attribute: &'static str, line: u32 },
    /// A section that scenes and resources do not have.
    UnknownSection { name: String, line: u32 },
    /// A section after those that must follow it.
    MisplacedSection { name: String, line: u32 },
    /// A property, or text without a `=`, under a section that takes none.
    StrayProperty { line: u32 },
    /// A key that stands before in the same section; the last one counts.
    DuplicateProperty { key: String, line: u32 },
    /// Two resources of one kind with one id.
    DuplicateResourceId { id: String, line: u32 },
    /// A reference to a resource that this file does not list.
    UndeclaredResource { kind: ReferenceKind, id: String, line: u32 },
    /// A string escape that the engine does not read as the character it names.
    LossyEscape { line: u32 },
    /// A constructor that this build does not know.
    UnknownConstructor { name: String, line: u32 },
    /// Text at the end of the file without a `=`, under a section that takes properties.
    TrailingText { line: u32 },
    /// A byte-order mark, with which the engine does not load the file.
    ByteOrderMark,
    /// A `format=` that the engine does not know yet.
    NewerFormat { format: u32 },
}

impl Problem {
    /// The line it was found on, from 1.
    pub fn line(&self) -> u32 {
        match self {
            Problem::ByteOrderMark | Problem::NewerFormat { .. } => 1,
            Problem::DuplicateSibling { line, .. }
            | Problem::Orphan { line, .. }
            | Problem::ChildBeforeParent { line, .. }
            | Problem::SecondRoot { line, .. }
            | Problem::EmptyParent { line, .. }
            | Problem::NoRoot { line }
            | Problem::OverrideOfNothing { line, .. }
            | Problem::OverrideNotEditable { line, .. }
            | Problem::ConnectionWithout { line, .. }
            | Problem::DanglingConnection { line, .. }
            | Problem::DanglingEditable { line, .. }
            | Problem::MissingAttribute { line, .. }
            | Problem::UnknownSection { line, .. }
            | Problem::MisplacedSection { line, .. }
            | Problem::StrayProperty { line }
            | Problem::DuplicateProperty { line, .. }
            | Problem::DuplicateResourceId { line, .. }
            | Problem::UndeclaredResource { line, .. }
            | Problem::UnknownConstructor { line, .. }
            | Problem::LossyEscape { line }
            | Problem::TrailingText { line } => *line,
        }
    }

    /// What the engine 4.6 makes of it.
    pub fn severity(&self) -> Severity {
        match self {
            // The engine makes up a name.
            Problem::MissingAttribute { section, .. } if section == "node" => Severity::Loss,
            Problem::SecondRoot { .. }
            | Problem::EmptyParent { .. }
            | Problem::NoRoot { .. }
            | Problem::ConnectionWithout { .. }
            | Problem::MissingAttribute { .. }
            | Problem::UnknownSection { .. }
            | Problem::MisplacedSection { .. }
            | Problem::StrayProperty { .. }
            | Problem::UndeclaredResource { .. }
            | Problem::UnknownConstructor { .. }
            | Problem::ByteOrderMark
            | Problem::NewerFormat { .. } => Severity::Fatal,
            Problem::DuplicateProperty { .. } | Problem::DanglingEditable { .. } => Severity::Note,
            _ => Severity::Loss,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::DuplicateSibling { .. } => f.write_str(
                "a sibling before has this name; the engine drops this node and its children on save",
            ),
            Problem::Orphan { .. } => f.write_str("the parent of this node does not exist"),
            Problem::ChildBeforeParent { .. } => f.write_str("this node stands before its parent"),
            Problem::SecondRoot { .. } => {
                f.write_str("a node other than the root has no `parent`; the scene gives no tree")
            }
            Problem::EmptyParent { .. } => {
                f.write_str("the `parent` of this node is empty; a child of the root has `.`")
            }
            Problem::NoRoot { .. } => f.write_str("the scene has no root node"),
            Problem::OverrideOfNothing { .. } => {
                f.write_str("the node has neither a type nor an instance that brings it along")
            }
            Problem::OverrideNotEditable { .. } => f.write_str(
                "the instance around this node is not marked editable; the engine drops the change on save",
            ),
            Problem::ConnectionWithout { attribute, .. } => {
                write!(f, "the connection has no `{attribute}`; the engine does not load the file")
            }
            Problem::DanglingConnection { attribute, path, .. } => write!(
                f,
                "`{attribute}` of the connection leads to no node (`{path}`); the engine drops it on save"
            ),
            Problem::DanglingEditable { path, .. } => {
                write!(f, "no node is at the editable path `{path}`")
            }
            Problem::MissingAttribute { section, attribute, .. } => {
                write!(f, "`[{section}]` has no `{attribute}`")
            }
            Problem::UnknownSection { name, .. } => {
                write!(f, "the engine knows no section `[{name}]` here")
            }
            Problem::MisplacedSection { name, .. } => {
                write!(f, "`[{name}]` stands after sections that must follow it")
            }
            Problem::StrayProperty { .. } => {
                f.write_str("the section above takes no properties")
            }
            Problem::DuplicateProperty { key, .. } => {
                write!(f, "`{key}` is set before in this section; the last one counts")
            }
            Problem::DuplicateResourceId { id, .. } => {
                write!(f, "a resource before has the id `{id}`")
            }
            Problem::UndeclaredResource { kind, id, .. } => {
                let list = match kind {
                    ReferenceKind::External => "ext_resource",
                    ReferenceKind::Internal => "sub_resource",
                };
                write!(f, "no `[{list}]` has the id `{id}`")
            }
            Problem::UnknownConstructor { name, .. } => {
                write!(f, "the engine 4.6 knows no `{name}` and does not load the file")
            }
            Problem::LossyEscape { .. } => f.write_str(
                "a string escape names a character beyond ASCII, which the engine reads differently",
            ),
            Problem::TrailingText { .. } => {
                f.write_str("text at the end of the file has no `=` and is dropped by the engine")
            }
            Problem::ByteOrderMark => {
                f.write_str("the engine does not load a file that begins with a byte-order mark")
            }
            Problem::NewerFormat { format } => {
                write!(f, "format {format} is newer than the engine's {NEWEST_FORMAT}")
            }
        }
    }
}

/// Adds what only the whole file shows, and sorts all by line.
pub(super) fn collect(scene: &mut Scene<'_>) {
    let mut found = std::mem::take(&mut scene.problems);
    if scene.header.format > NEWEST_FORMAT {
        found.push(Problem::NewerFormat { format: scene.header.format });
    }
    if scene.header.kind == SceneKind::Scene && scene.root().is_none() {
        found.push(Problem::NoRoot { line: scene.nodes.first().map_or(1, |node| node.line) });
    }
    add_tree(scene, &mut found);
    add_overrides(scene, &mut found);
    add_connections(scene, &mut found);
    add_duplicate_properties(scene, &mut found);
    add_resources(scene, &mut found);
    let mut lines = LineCursor::new(scene.document.source().as_bytes());
    for offset in scene.document.lossy_escapes() {
        found.push(Problem::LossyEscape { line: lines.line_at(*offset as usize) });
    }
    let mut lines = LineCursor::new(scene.document.source().as_bytes());
    for span in scene.document.unknown_constructors() {
        let line = lines.line_at(span.start as usize);
        let name = scene.document.text(*span).to_owned();
        found.push(Problem::UnknownConstructor { name, line });
    }
    found.sort_by_key(Problem::line);
    scene.problems = found;
}

fn add_tree(scene: &Scene<'_>, found: &mut Vec<Problem>) {
    for (node, at) in scene.nodes.iter().enumerate() {
        let line = at.line;
        match scene.tree.place_of(node) {
            Place::SecondRoot => found.push(Problem::SecondRoot { node, line }),
            Place::Orphan => found.push(Problem::Orphan { node, line }),
            Place::Under(parent) if parent > node => {
                found.push(Problem::ChildBeforeParent { node, parent, line });
            }
            _ => {}
        }
        if at.path.as_deref() == Some("") {
            found.push(Problem::EmptyParent { node, line });
        }
        if let Some(first) = scene.tree.duplicate_of(node) {
            found.push(Problem::DuplicateSibling { first, second: node, line });
        }
    }
}

fn add_overrides(scene: &Scene<'_>, found: &mut Vec<Problem>) {
    let editable: BTreeSet<usize> = scene
        .editables
        .iter()
        .filter_map(|(_, path)| match scene.find(path) {
            Lookup::Node(node) => Some(node),
            _ => None,
        })
        .collect();
    for (line, path) in &scene.editables {
        if scene.find(path) == Lookup::Missing {
            found.push(Problem::DanglingEditable { path: path.clone().into_owned(), line: *line });
        }
    }
    let hosts = hosts(scene);
    for (node, at) in scene.nodes.iter().enumerate().filter(|(_, at)| at.is_override()) {
        let host = match scene.tree.place_of(node) {
            Place::Under(parent) | Place::Inside(parent) => hosts[parent],
            Place::Root => None,
            Place::SecondRoot | Place::Orphan => continue,
        };
        match host {
            None => found.push(Problem::OverrideOfNothing { node, line: at.line }),
            Some(instance) if Some(instance) == scene.root() || editable.contains(&instance) => {}
            Some(instance) => {
                found.push(Problem::OverrideNotEditable { node, instance, line: at.line });
            }
        }
    }
}

/// For every node, itself or the nearest node above it that is an instance.
fn hosts(scene: &Scene<'_>) -> Vec<Option<usize>> {
    let mut hosts: Vec<Option<usize>> = Vec::with_capacity(scene.nodes.len());
    for (node, at) in scene.nodes.iter().enumerate() {
        let above = match scene.tree.place_of(node) {
            Place::Under(parent) | Place::Inside(parent) => hosts.get(parent).copied().flatten(),
            _ => None,
        };
        hosts.push(if at.instance.is_some() { Some(node) } else { above });
    }
    hosts
}

fn add_connections(scene: &Scene<'_>, found: &mut Vec<Problem>) {
    for connection in &scene.connections {
        let ends = [
            ("from", &connection.from, connection.from_node),
            ("to", &connection.to, connection.to_node),
        ];
        for (attribute, path, lookup) in ends {
            if let (Some(path), Lookup::Missing) = (path, lookup) {
                let path = path.clone().into_owned();
                found.push(Problem::DanglingConnection { attribute, path, line: connection.line });
            }
        }
    }
}

fn add_duplicate_properties(scene: &Scene<'_>, found: &mut Vec<Problem>) {
    let nodes = scene.nodes.iter().map(Node::entries);
    let resources = scene.sub_resources.iter().map(SubResource::entries);
    let mut order: Vec<&Property<'_>> = vec![];
    for entries in nodes.chain(resources).chain([scene.resource_entries()]) {
        order.clear();
        order.extend(entries);
        order.sort_by(|a, b| a.key.cmp(&b.key));
        for pair in order.windows(2).filter(|pair| pair[0].key == pair[1].key) {
            let key = pair[1].key.clone().into_owned();
            found.push(Problem::DuplicateProperty { key, line: pair[1].line });
        }
    }
}

fn add_resources(scene: &Scene<'_>, found: &mut Vec<Problem>) {
    let external = || scene.ext_resources.iter().map(|resource| (&*resource.id, resource.line));
    let internal = || scene.sub_resources.iter().map(|resource| (&*resource.id, resource.line));
    let (known_external, known_internal) = (declared(external()), declared(internal()));
    let repeats = external().filter(|(id, line)| known_external[id] != *line);
    for (id, line) in repeats.chain(internal().filter(|(id, line)| known_internal[id] != *line)) {
        found.push(Problem::DuplicateResourceId { id: id.to_owned(), line });
    }
    let mut lines = LineCursor::new(scene.document.source().as_bytes());
    for reference in scene.document.references() {
        let written = scene.document.text(reference.id);
        let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let id = inner.map_or(written.into(), |inner| variant::unescape(inner).text);
        let known = match reference.kind {
            ReferenceKind::External => &known_external,
            ReferenceKind::Internal => &known_internal,
        };
        if !known.contains_key(&*id) {
            found.push(Problem::UndeclaredResource {
                kind: reference.kind,
                id: id.into_owned(),
                line: lines.line_at(reference.id.start as usize),
            });
        }
    }
}
