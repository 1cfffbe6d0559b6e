//! The nodes that were read as the tree of an answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    MAX_RESPONSE_BYTES,
    arena::{Arena, Entry, Origin},
};

/// About what a node adds beside its texts, in bytes.
const NODE_BYTES: usize = 120;

/// Children listed by a summary, and types counted by name.
const MAX_BRANCHES: usize = 200;
const MAX_TYPES: usize = 200;
const MAX_BRANCH_TYPES: usize = 16;

/// Writes the tree within its bounds.
pub(super) struct Tree<'a> {
    arena: &'a Arena,
    max_depth: usize,
    nodes_left: usize,
    max_nodes: usize,
    bytes_left: usize,
    /// Nodes at and below each, or the matches among them.
    weights: Vec<usize>,
    filter: Option<&'a [String]>,
    truncated: bool,
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        arena: &'a Arena,
        max_depth: usize,
        max_nodes: usize,
        filter: Option<&'a [String]>,
    ) -> Self {
        let weights = arena.counted(|entry| is_match(filter, entry));
        Tree {
            arena,
            max_depth,
            nodes_left: max_nodes,
            max_nodes,
            bytes_left: MAX_RESPONSE_BYTES,
            weights,
            filter,
            truncated: arena.is_cut(),
        }
    }

    pub(super) fn root(&mut self) -> Map<String, Value> {
        self.node(0, 0)
    }

    /// Nodes told so far.
    pub(super) fn told(&self) -> usize {
        self.max_nodes - self.nodes_left
    }

    /// Nodes that match the filter, where there is one.
    pub(super) fn matched(&self) -> Option<usize> {
        self.filter.map(|_| self.weights[0])
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.truncated
    }

    fn node(&mut self, at: usize, depth: usize) -> Map<String, Value> {
        let entry = self.arena.get(at);
        let instance = entry.instance_of.as_ref().map_or(0, String::len);
        let bytes = NODE_BYTES + entry.name.len() + entry.path.len() + instance;
        self.nodes_left = self.nodes_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        let mut shown = head(self.arena, at);
        if self.filter.is_some() && is_match(self.filter, entry) {
            shown.insert("matched".into(), true.into());
        }
        shown.insert("properties".into(), json!({}));
        self.children(entry, depth, &mut shown);
        shown
    }

    fn children(&mut self, entry: &Entry, depth: usize, shown: &mut Map<String, Value>) {
        let weights = &self.weights;
        let wanted: Vec<usize> =
            entry.children.iter().copied().filter(|child| weights[*child] > 0).collect();
        let mut children: Vec<Value> = vec![];
        if depth < self.max_depth {
            for child in &wanted {
                if self.nodes_left == 0 || self.bytes_left == 0 {
                    break;
                }
                children.push(self.node(*child, depth + 1).into());
            }
        }
        let omitted = &wanted[children.len()..];
        if !omitted.is_empty() {
            self.truncated = true;
            let below: usize = omitted.iter().map(|child| self.weights[*child]).sum();
            shown.insert("children_omitted".into(), omitted.len().into());
            shown.insert("children_summary".into(), json!({ "node_count": below }));
        }
        shown.insert("children".into(), children.into());
    }
}

/// Without a filter every node matches.
fn is_match(filter: Option<&[String]>, entry: &Entry) -> bool {
    filter.is_none_or(|classes| classes.contains(&entry.class))
}

/// Name, type, path and where a node comes from.
pub(super) fn head(arena: &Arena, at: usize) -> Map<String, Value> {
    let entry = arena.get(at);
    let mut head = Map::new();
    head.insert("name".into(), entry.name.as_str().into());
    head.insert("type".into(), entry.class.as_str().into());
    head.insert("path".into(), entry.path.as_str().into());
    if let Some(scene) = &entry.instance_of {
        head.insert("instance_of".into(), scene.as_str().into());
        if entry.editable {
            head.insert("editable_instance".into(), true.into());
        }
    }
    if entry.origin == Origin::Instance {
        head.insert("inherited".into(), true.into());
    }
    head.insert("owned_by_scene".into(), (entry.origin == Origin::Scene).into());
    head
}

/// Counts by type, and one level of branches with their own.
pub(super) fn summary(arena: &Arena) -> (Value, Value) {
    let sizes = arena.counted(|_| true);
    let branches: Vec<Value> = arena
        .get(0)
        .children
        .iter()
        .take(MAX_BRANCHES)
        .map(|child| {
            let mut branch = head(arena, *child);
            branch.insert("node_count".into(), sizes[*child].into());
            branch.insert("counts_by_type".into(), counts(arena, *child, MAX_BRANCH_TYPES));
            branch.into()
        })
        .collect();
    (counts(arena, 0, MAX_TYPES), branches.into())
}

/// The most frequent types at and below a node.
fn counts(arena: &Arena, root: usize, limit: usize) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut open = vec![root];
    while let Some(at) = open.pop() {
        let entry = arena.get(at);
        *counts.entry(&entry.class).or_default() += 1;
        open.extend(&entry.children);
    }
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kept: BTreeMap<&str, usize> = sorted.into_iter().take(limit).collect();
    json!(kept)
}
