//! A scene or resource file as resources, nodes, connections and findings.
//!
//! Built in one pass over the lossless model, in time linear to the file's bytes whatever the shape of
//! the tree, and without recursion. Values stay text. What a path or uid points to outside this file is
//! left to the index; which findings a tool shows is left to the tool.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::{
    Document, Item, ItemKind, Layout, Property, RawValue, ReferenceKind, Section, Span,
};
use crate::error::{Fault, FormatError};
use crate::resource::attribute_text;
use crate::text::{LineCursor, to_u32};
use crate::variant::{self, Value};

mod edit;
mod problem;
#[cfg(test)]
mod tests;
mod tree;

pub use edit::{AttributeChange, External, NewExternal, Place};
pub use problem::{Problem, Severity};
pub use tree::Lookup;
use tree::Tree;

/// The newest `format=` that the engine 4.6 reads.
pub const NEWEST_FORMAT: u32 = 4;

/// The flags of a connection that names none: kept with the scene.
pub const DEFAULT_CONNECTION_FLAGS: u32 = 2;

/// Which of the two kinds of file this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SceneKind {
    /// `[gd_scene ...]`.
    Scene,
    /// `[gd_resource ...]`.
    Resource,
}

/// The first section.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header<'a> {
    /// Scene or resource.
    pub kind: SceneKind,
    /// `format=`; 1 when the file gives none, as in the engine.
    pub format: u32,
    /// The file's own uid, `uid://...`.
    pub uid: Option<Cow<'a, str>>,
    /// The class of the main resource; scenes have none.
    pub resource_type: Option<Cow<'a, str>>,
    /// The global class name of the main resource's script.
    pub script_class: Option<Cow<'a, str>>,
}

/// A resource kept in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtResource<'a> {
    /// The id by which values refer to it; a number of an old file is given as its text.
    pub id: Cow<'a, str>,
    /// The stored path; empty when missing.
    pub path: Cow<'a, str>,
    /// The stored uid.
    pub uid: Option<Cow<'a, str>>,
    /// Its class, such as `Script`; empty when missing.
    pub type_name: Cow<'a, str>,
    /// The line of its section, from 1.
    pub line: u32,
    /// Where its section is.
    pub span: Span,
}

/// A resource kept in this file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubResource<'a> {
    /// The id by which values refer to it.
    pub id: Cow<'a, str>,
    /// Its class; empty when missing.
    pub type_name: Cow<'a, str>,
    /// The line of its section, from 1.
    pub line: u32,
    /// Where its section's header is.
    pub span: Span,
    entries: Entries<'a>,
}

/// A node, or the overrides of one that an instanced or inherited scene brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node<'a> {
    /// The name, escapes undone.
    pub name: Cow<'a, str>,
    /// The class; `None` for an instance, a placeholder and an override.
    pub type_name: Option<Cow<'a, str>>,
    /// The parent's index when the parent is a node of this file.
    pub parent: Option<usize>,
    /// `parent=` as stored: `.` for children of the root, `A/B` deeper; `None` for the root.
    pub path: Option<Cow<'a, str>>,
    /// The id of the external resource that this node is an instance of.
    pub instance: Option<Cow<'a, str>>,
    /// `unique_id=`, written by the engine from 4.6 on.
    pub unique_id: Option<i64>,
    /// The line of its section, from 1.
    pub line: u32,
    /// Where its section's header is.
    pub span: Span,
    section: Section,
    entries: Entries<'a>,
    /// A scene has tens of thousands of nodes, and few of them have any of it.
    rare: Option<Box<Rare<'a>>>,
}

/// What few nodes have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rare<'a> {
    instance_placeholder: Option<Cow<'a, str>>,
    groups: Vec<Cow<'a, str>>,
    index: Option<i64>,
    owner: Option<Cow<'a, str>>,
}

/// The properties of one section, which follow each other in the list of all of the file.
#[derive(Debug, Clone, Default)]
struct Entries<'a> {
    /// Set once the file is read.
    all: Option<Arc<Vec<Property<'a>>>>,
    first: u32,
    end: u32,
}

impl PartialEq for Entries<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Entries<'_> {}

impl<'a> Entries<'a> {
    fn get(&self) -> &[Property<'a>] {
        self.all.as_ref().map_or(&[], |all| &all[self.first as usize..self.end as usize])
    }
}

/// A signal connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection<'a> {
    /// The signal.
    pub signal: Cow<'a, str>,
    /// The emitting node's path from the root, as stored; `None` when missing.
    pub from: Option<Cow<'a, str>>,
    /// The receiving node's path from the root, as stored; `None` when missing.
    pub to: Option<Cow<'a, str>>,
    /// The method.
    pub method: Cow<'a, str>,
    /// The engine's connection flags; [`DEFAULT_CONNECTION_FLAGS`] when not written.
    pub flags: u32,
    /// The bound arguments' raw text, an array.
    pub binds: Option<&'a str>,
    /// How many of the signal's arguments are dropped.
    pub unbinds: u32,
    /// Where `from` leads.
    pub from_node: Lookup,
    /// Where `to` leads.
    pub to_node: Lookup,
    /// The line, from 1.
    pub line: u32,
    /// Where its section is.
    pub span: Span,
}

/// A scene or resource file.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    document: Document<'a>,
    header: Header<'a>,
    ext_resources: Vec<ExtResource<'a>>,
    sub_resources: Vec<SubResource<'a>>,
    main: Option<(u32, Entries<'a>)>,
    nodes: Vec<Node<'a>>,
    connections: Vec<Connection<'a>>,
    editables: Vec<(u32, Cow<'a, str>)>,
    tree: Tree,
    /// The last external resource of each id.
    external: BTreeMap<Cow<'a, str>, usize>,
    problems: Vec<Problem>,
}

impl<'a> Scene<'a> {
    /// Reads a scene or resource.
    ///
    /// # Errors
    /// A file that is neither, is not UTF-8, or whose text the engine's parser would stop in: line,
    /// column and a sentence. What can be read but is wrong is in [`Scene::problems`].
    pub fn parse(source: &'a [u8]) -> Result<Self, FormatError> {
        let document = Document::parse_as(source, Layout::Tagged)?;
        let header = Header::of(&document).map_err(|fault| fault.locate(source))?;
        let mut reader = SceneReader::new(&document, header);
        for item in document.items() {
            reader.item(item);
        }
        let mut scene = reader.finish();
        scene.tree = Tree::build(&mut scene.nodes);
        scene.resolve_connections();
        scene.document = document;
        problem::collect(&mut scene);
        Ok(scene)
    }

    /// The file's lossless model.
    pub fn document(&self) -> &Document<'a> {
        &self.document
    }

    /// The first section.
    pub fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// The external resources, in file order.
    pub fn ext_resources(&self) -> std::slice::Iter<'_, ExtResource<'a>> {
        self.ext_resources.iter()
    }

    /// The external resource of an id; of several the last.
    pub fn ext_resource(&self, id: &str) -> Option<&ExtResource<'a>> {
        self.ext_resources.get(*self.external.get(id)?)
    }

    /// The resources kept in this file, in file order.
    pub fn sub_resources(&self) -> std::slice::Iter<'_, SubResource<'a>> {
        self.sub_resources.iter()
    }

    /// The resource kept in this file under an id.
    pub fn sub_resource(&self, id: &str) -> Option<&SubResource<'a>> {
        self.sub_resources.iter().rev().find(|resource| resource.id == id)
    }

    /// The properties of a resource file's main resource, in file order; none for a scene.
    pub fn resource_entries(&self) -> &[Property<'a>] {
        self.main.as_ref().map_or(&[], |(_, entries)| entries.get())
    }

    /// The nodes, in file order. Indexes into this slice name nodes everywhere in this module.
    pub fn nodes(&self) -> &[Node<'a>] {
        &self.nodes
    }

    /// The root: the first node without `parent=`.
    pub fn root(&self) -> Option<usize> {
        self.tree.root()
    }

    /// The children that this file gives a node, in file order; none for an unknown index.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.children(node)
    }

    /// The nodes whose parent is not in this file but inside the instance at or above `node`.
    pub fn inside(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.inside(node)
    }

    /// The nodes whose parent does not exist, in file order.
    pub fn orphans(&self) -> impl Iterator<Item = usize> + '_ {
        self.tree.orphans()
    }

    /// The node at a path from the root, `.` for the root; of duplicates the first.
    ///
    /// The second of two siblings with one name has no path of its own; see [`Scene::problems`].
    pub fn find(&self, path: &str) -> Lookup {
        self.tree.find(&self.nodes, path)
    }

    /// A node's path from the root, `.` for the root itself. Names are as the engine reads them.
    pub fn node_path(&self, node: usize) -> Option<String> {
        let found = self.nodes.get(node)?;
        Some(match found.path.as_deref() {
            None => ".".to_owned(),
            Some(parent) => match tree::normal(parent) {
                parent if parent.is_empty() => found.name.clone().into_owned(),
                parent => format!("{parent}/{}", found.name),
            },
        })
    }

    /// A node's attributes as written, in file order, those this build does not know included.
    pub fn attributes(&self, node: usize) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        let attributes =
            self.nodes.get(node).map_or(&[][..], |node| self.document.attributes(&node.section));
        attributes.iter().map(|at| (self.document.text(at.name), self.document.text(at.value)))
    }

    /// The stored path of the scene that a node is an instance of.
    pub fn instance_path(&self, node: usize) -> Option<&str> {
        let id = self.nodes.get(node)?.instance.as_deref()?;
        Some(&self.ext_resource(id)?.path)
    }

    /// The signal connections, in file order.
    pub fn connections(&self) -> &[Connection<'a>] {
        &self.connections
    }

    /// The paths of instances whose children may be edited, as stored.
    pub fn editable_paths(&self) -> impl Iterator<Item = &str> {
        self.editables.iter().map(|(_, path)| &**path)
    }

    /// The stored path of the base scene, when the root is an instance.
    pub fn inherits(&self) -> Option<&str> {
        self.instance_path(self.root()?)
    }

    /// What is wrong or odd though the text can be read, by line.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn resolve_connections(&mut self) {
        for connection in &mut self.connections {
            let find = |path: &Option<Cow<'_, str>>| {
                path.as_deref().map_or(Lookup::Missing, |path| self.tree.find(&self.nodes, path))
            };
            connection.from_node = find(&connection.from);
            connection.to_node = find(&connection.to);
        }
    }
}

impl<'a> Header<'a> {
    /// Reads the header of a document.
    pub(crate) fn of(document: &Document<'a>) -> Result<Self, Fault> {
        let first = document.items().iter().find(|item| {
            !matches!(item.kind, ItemKind::Blank | ItemKind::Comment | ItemKind::ByteOrderMark)
        });
        let offset = first.map_or(0, |item| item.span.start as usize);
        let wanted = "expected `[gd_scene ...]` or `[gd_resource ...]` first";
        let Some(Item { kind: ItemKind::Section(section), .. }) = first else {
            return Err(Fault::new(offset, wanted));
        };
        let kind = match document.text(section.name) {
            "gd_scene" => SceneKind::Scene,
            "gd_resource" => SceneKind::Resource,
            _ => return Err(Fault::new(offset, wanted)),
        };
        let text = |name| attribute_text(document, section, name);
        Ok(Header {
            kind,
            format: number(document.attribute(section, "format")).unwrap_or(1),
            uid: text("uid"),
            resource_type: text("type"),
            script_class: text("script_class"),
        })
    }
}

impl<'a> Node<'a> {
    /// Keys and raw values, in file order; a key that is there twice comes twice.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.entries().iter().map(|entry| (&*entry.key, entry.value))
    }

    /// The properties with their places, in file order.
    pub fn entries(&self) -> &[Property<'a>] {
        self.entries.get()
    }

    /// A property's value; of two with one key the last, as in the engine.
    pub fn property(&self, key: &str) -> Option<RawValue<'a>> {
        last(self.entries(), key)
    }

    /// Whether this only changes a node that an instanced or inherited scene brings along.
    pub fn is_override(&self) -> bool {
        self.type_name.is_none() && self.instance.is_none() && self.instance_placeholder().is_none()
    }

    /// The scene that an instance placeholder loads on demand.
    pub fn instance_placeholder(&self) -> Option<&str> {
        self.rare.as_ref()?.instance_placeholder.as_deref()
    }

    /// The groups, in file order.
    pub fn groups(&self) -> &[Cow<'a, str>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.groups)
    }

    /// `index=`: the place among the siblings that an instanced scene brings along.
    pub fn index(&self) -> Option<i64> {
        self.rare.as_ref()?.index
    }

    /// `owner=` as stored.
    pub fn owner(&self) -> Option<&str> {
        self.rare.as_ref()?.owner.as_deref()
    }
}

impl<'a> SubResource<'a> {
    /// Keys and raw values, in file order.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.entries().iter().map(|entry| (&*entry.key, entry.value))
    }

    /// The properties with their places, in file order.
    pub fn entries(&self) -> &[Property<'a>] {
        self.entries.get()
    }

    /// A property's value; of two with one key the last.
    pub fn property(&self, key: &str) -> Option<RawValue<'a>> {
        last(self.entries(), key)
    }
}

fn last<'a>(entries: &[Property<'a>], key: &str) -> Option<RawValue<'a>> {
    entries.iter().rev().find(|entry| entry.key == key).map(Property::raw)
}

fn number<T: std::str::FromStr>(raw: Option<&str>) -> Option<T> {
    raw?.trim_matches('"').parse().ok()
}

/// Whose properties follow.
#[derive(Clone, Copy)]
enum Owner {
    SubResource,
    Main,
    Node,
    /// A section that takes none.
    Nobody,
}

/// Turns items into the parts of a scene, in one pass.
struct SceneReader<'d, 'a> {
    document: &'d Document<'a>,
    lines: LineCursor<'a>,
    scene: Scene<'a>,
    /// Of all sections.
    properties: Vec<Property<'a>>,
    owner: Owner,
    /// How far the file has come: header 0, external resources 1, internal ones 2, the rest 3.
    rank: Option<u8>,
}

impl<'d, 'a> SceneReader<'d, 'a> {
    fn new(document: &'d Document<'a>, header: Header<'a>) -> Self {
        let scene = Scene {
            document: Document::empty(),
            header,
            ext_resources: Vec::new(),
            sub_resources: Vec::new(),
            main: None,
            nodes: Vec::new(),
            connections: Vec::new(),
            editables: Vec::new(),
            tree: Tree::default(),
            external: BTreeMap::new(),
            problems: Vec::new(),
        };
        let lines = LineCursor::new(document.source().as_bytes());
        SceneReader { document, lines, scene, properties: vec![], owner: Owner::Nobody, rank: None }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Blank | ItemKind::Comment => {}
            ItemKind::ByteOrderMark => self.scene.problems.push(Problem::ByteOrderMark),
            ItemKind::Unfinished => {
                let line = self.line(item);
                self.scene.problems.push(match self.owner {
                    Owner::Nobody => Problem::StrayProperty { line },
                    _ => Problem::TrailingText { line },
                });
            }
            ItemKind::Section(section) => {
                let line = self.line(item);
                self.section(section, item.span, line);
            }
            ItemKind::Property(span) => {
                let line = self.line(item);
                let property = self.document.property(span, line);
                self.property(property);
            }
        }
    }

    fn line(&mut self, item: &Item) -> u32 {
        self.lines.line_at(item.span.start as usize)
    }

    fn property(&mut self, property: Property<'a>) {
        let line = property.line;
        let scene = &mut self.scene;
        let entries = match self.owner {
            Owner::SubResource => scene.sub_resources.last_mut().map(|last| &mut last.entries),
            Owner::Main => scene.main.as_mut().map(|(_, entries)| entries),
            Owner::Node => scene.nodes.last_mut().map(|last| &mut last.entries),
            Owner::Nobody => None,
        };
        let Some(entries) = entries else {
            return scene.problems.push(Problem::StrayProperty { line });
        };
        self.properties.push(property);
        entries.end = to_u32(self.properties.len());
    }

    /// The properties of a section that begins here: none so far.
    fn no_entries(&self) -> Entries<'a> {
        let here = to_u32(self.properties.len());
        Entries { all: None, first: here, end: here }
    }

    /// The scene, with every property at its owner.
    fn finish(self) -> Scene<'a> {
        let mut scene = self.scene;
        let all = Arc::new(self.properties);
        let nodes = scene.nodes.iter_mut().map(|node| &mut node.entries);
        let resources = scene.sub_resources.iter_mut().map(|resource| &mut resource.entries);
        let main = scene.main.iter_mut().map(|(_, entries)| entries);
        for entries in nodes.chain(resources).chain(main) {
            entries.all = Some(Arc::clone(&all));
        }
        scene
    }

    fn section(&mut self, section: &Section, span: Span, line: u32) {
        self.owner = Owner::Nobody;
        let name = self.document.text(section.name);
        let rank = match name {
            "gd_scene" | "gd_resource" => 0,
            "ext_resource" => {
                self.ext_resource(section, span, line);
                1
            }
            "sub_resource" => {
                self.sub_resource(section, span, line);
                2
            }
            "resource" if self.scene.header.kind == SceneKind::Resource => {
                self.owner = Owner::Main;
                self.scene.main = Some((line, self.no_entries()));
                3
            }
            "node" if self.scene.header.kind == SceneKind::Scene => {
                self.node(section, span, line);
                3
            }
            "connection" if self.scene.header.kind == SceneKind::Scene => {
                self.connection(section, span, line);
                3
            }
            "editable" if self.scene.header.kind == SceneKind::Scene => {
                self.editable(section, line);
                3
            }
            _ => {
                let name = name.to_owned();
                self.scene.problems.push(Problem::UnknownSection { name, line });
                return;
            }
        };
        let second_header = rank == 0 && self.rank.is_some();
        if Some(rank) < self.rank || second_header {
            self.scene.problems.push(Problem::MisplacedSection { name: name.to_owned(), line });
        }
        self.rank = self.rank.max(Some(rank));
    }

    /// A text attribute that the engine insists on.
    fn required(&mut self, section: &Section, attribute: &'static str, line: u32) -> Cow<'a, str> {
        attribute_text(self.document, section, attribute).unwrap_or_else(|| {
            let section = self.document.text(section.name).to_owned();
            self.scene.problems.push(Problem::MissingAttribute { section, attribute, line });
            Cow::Borrowed("")
        })
    }

    fn ext_resource(&mut self, section: &Section, span: Span, line: u32) {
        let resource = ExtResource {
            id: self.required(section, "id", line),
            path: self.required(section, "path", line),
            uid: attribute_text(self.document, section, "uid"),
            type_name: self.required(section, "type", line),
            line,
            span,
        };
        self.scene.external.insert(resource.id.clone(), self.scene.ext_resources.len());
        self.scene.ext_resources.push(resource);
    }

    fn sub_resource(&mut self, section: &Section, span: Span, line: u32) {
        self.owner = Owner::SubResource;
        let resource = SubResource {
            id: self.required(section, "id", line),
            type_name: self.required(section, "type", line),
            line,
            span,
            entries: self.no_entries(),
        };
        self.scene.sub_resources.push(resource);
    }

    fn node(&mut self, section: &Section, span: Span, line: u32) {
        self.owner = Owner::Node;
        let document = self.document;
        let text = |name| attribute_text(document, section, name);
        let groups = document.attribute(section, "groups").and_then(|raw| variant::parse(raw).ok());
        let rare = Rare {
            instance_placeholder: text("instance_placeholder"),
            groups: groups.and_then(|groups| groups.as_texts()).unwrap_or_default(),
            index: number(document.attribute(section, "index")),
            owner: text("owner"),
        };
        let node = Node {
            type_name: text("type"),
            parent: None,
            path: text("parent"),
            instance: document.attribute(section, "instance").and_then(instance_id),
            unique_id: number(document.attribute(section, "unique_id")),
            name: self.required(section, "name", line),
            line,
            span,
            section: section.clone(),
            entries: self.no_entries(),
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
        };
        self.scene.nodes.push(node);
    }

    fn connection(&mut self, section: &Section, span: Span, line: u32) {
        let document = self.document;
        let text = |name| attribute_text(document, section, name);
        let (from, to) = (text("from"), text("to"));
        for (attribute, missing) in [("from", from.is_none()), ("to", to.is_none())] {
            if missing {
                self.scene.problems.push(Problem::ConnectionWithout { attribute, line });
            }
        }
        let flags = number(document.attribute(section, "flags"));
        let connection = Connection {
            signal: self.required(section, "signal", line),
            from,
            to,
            method: self.required(section, "method", line),
            flags: flags.unwrap_or(DEFAULT_CONNECTION_FLAGS),
            binds: document.attribute(section, "binds"),
            unbinds: number(document.attribute(section, "unbinds")).unwrap_or(0),
            from_node: Lookup::Missing,
            to_node: Lookup::Missing,
            line,
            span,
        };
        self.scene.connections.push(connection);
    }

    fn editable(&mut self, section: &Section, line: u32) {
        let path = self.required(section, "path", line);
        self.scene.editables.push((line, path));
    }
}

fn instance_id(raw: &str) -> Option<Cow<'_, str>> {
    match variant::parse(raw).ok()? {
        Value::ExtResource(id) => Some(id),
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// The ids of one kind of resource, with the line of the first.
fn declared<'s>(ids: impl Iterator<Item = (&'s str, u32)>) -> BTreeMap<&'s str, u32> {
    let mut declared = BTreeMap::new();
    for (id, line) in ids {
        declared.entry(id).or_insert(line);
    }
    declared
}
