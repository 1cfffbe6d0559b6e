//! The tree that `parent=` paths describe, found through a running hash of each path.
//!
//! A chain of 3,000 nodes spells out 24 MB of parent paths. Each path's bytes are hashed once and
//! compared once; no path is built, split into a map of parts, or walked by recursion.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Node;
use crate::text::to_u32;

/// Where a node path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// To a node of this file, by index.
    Node(usize),
    /// Into the scene that this file instances or inherits at the node of this index; whether the node
    /// is there only that scene's file can tell.
    Inside(usize),
    /// Nowhere.
    Missing,
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
const NONE: u32 = u32::MAX;

/// Where a node hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    SecondRoot,
    Under(usize),
    Inside(usize),
    Orphan,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    root: Option<usize>,
    places: Vec<Place>,
    /// The first node of each path, by the path's hash.
    by_hash: BTreeMap<u64, u32>,
    /// The next node whose path has the same hash, or `NONE`.
    same_hash: Vec<u32>,
    /// An earlier node with the same path.
    duplicate_of: Vec<Option<u32>>,
    children: Lists,
    inside: Lists,
}

/// Lists of nodes by node, as one array and its cuts.
#[derive(Debug, Clone, Default)]
struct Lists {
    cuts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Tree {
    /// Places every node and sets its `parent`.
    pub(super) fn build(nodes: &mut [Node<'_>]) -> Self {
        let mut tree =
            Tree { root: nodes.iter().position(|node| node.path.is_none()), ..Tree::default() };
        let parents: Vec<u64> = tree.hash_paths(nodes);
        for (index, hash) in parents.into_iter().enumerate() {
            let place = tree.place(nodes, index, hash);
            tree.places.push(place);
        }
        for (node, place) in nodes.iter_mut().zip(&tree.places) {
            if let Place::Under(parent) = place {
                node.parent = Some(*parent);
            }
        }
        tree.children = Lists::new(&tree.places, |place| match place {
            Place::Under(parent) => Some(parent),
            _ => None,
        });
        tree.inside = Lists::new(&tree.places, |place| match place {
            Place::Inside(host) => Some(host),
            _ => None,
        });
        tree
    }

    pub(super) fn root(&self) -> Option<usize> {
        self.root
    }

    pub(super) fn place_of(&self, node: usize) -> Place {
        self.places[node]
    }

    pub(super) fn duplicate_of(&self, node: usize) -> Option<usize> {
        self.duplicate_of[node].map(|first| first as usize)
    }

    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.children.of(node)
    }

    pub(super) fn inside(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.inside.of(node)
    }

    pub(super) fn orphans(&self) -> impl Iterator<Item = usize> + '_ {
        let orphan = |(index, place): (usize, &Place)| (*place == Place::Orphan).then_some(index);
        self.places.iter().enumerate().filter_map(orphan)
    }

    pub(super) fn find(&self, nodes: &[Node<'_>], path: &str) -> Lookup {
        let path = normal(path);
        self.lookup(nodes, &path, hash(SEED, &path))
    }

    /// Enters every node under the hash of its path; gives the hash of each parent path.
    fn hash_paths(&mut self, nodes: &[Node<'_>]) -> Vec<u64> {
        self.same_hash = vec![NONE; nodes.len()];
        self.duplicate_of = vec![None; nodes.len()];
        let mut parents = Vec::with_capacity(nodes.len());
        let mut last: (&str, u64) = ("", SEED);
        for (index, node) in nodes.iter().enumerate() {
            let Some(parent) = node.path.as_deref() else {
                parents.push(SEED);
                continue;
            };
            // Siblings follow each other, so the path before is often the same.
            if parent != last.0 {
                last = (parent, hash(SEED, &normal(parent)));
            }
            parents.push(last.1);
            let from = if last.1 == SEED { SEED } else { hash(last.1, "/") };
            self.enter(nodes, index, hash(from, &node.name));
        }
        parents
    }

    fn enter(&mut self, nodes: &[Node<'_>], index: usize, hash: u64) {
        let Some(first) = self.by_hash.get(&hash).copied() else {
            self.by_hash.insert(hash, to_u32(index));
            return;
        };
        let (node, mut at) = (&nodes[index], first);
        loop {
            let other = &nodes[at as usize];
            if other.name == node.name && same_path(other.path.as_deref(), node.path.as_deref()) {
                self.duplicate_of[index] = Some(at);
                return;
            }
            match self.same_hash[at as usize] {
                NONE => break,
                next => at = next,
            }
        }
        self.same_hash[at as usize] = to_u32(index);
    }

    fn place(&self, nodes: &[Node<'_>], index: usize, parent_hash: u64) -> Place {
        let Some(parent) = nodes[index].path.as_deref() else {
            return if self.root == Some(index) { Place::Root } else { Place::SecondRoot };
        };
        match self.lookup(nodes, &normal(parent), parent_hash) {
            Lookup::Node(parent) => Place::Under(parent),
            Lookup::Inside(host) => Place::Inside(host),
            Lookup::Missing => Place::Orphan,
        }
    }

    /// Finds a normal path whose hash is known.
    fn lookup(&self, nodes: &[Node<'_>], path: &str, path_hash: u64) -> Lookup {
        let Some(root) = self.root else { return Lookup::Missing };
        if path.is_empty() {
            return Lookup::Node(root);
        }
        match self.exact(nodes, path, path_hash) {
            Some(node) => Lookup::Node(node),
            None => self.nearest(nodes, path, root),
        }
    }

    fn exact(&self, nodes: &[Node<'_>], path: &str, path_hash: u64) -> Option<usize> {
        let mut at = *self.by_hash.get(&path_hash)?;
        while at != NONE {
            if is_path_of(&nodes[at as usize], path) {
                return Some(at as usize);
            }
            at = self.same_hash[at as usize];
        }
        None
    }

    /// A path that no node has: it may lead into the instance nearest above.
    fn nearest(&self, nodes: &[Node<'_>], path: &str, root: usize) -> Lookup {
        let mut above = root;
        let (mut from, mut running) = (0, SEED);
        for (slash, _) in path.match_indices('/') {
            running = hash(running, &path[from..slash]);
            above = self.exact(nodes, &path[..slash], running).unwrap_or(above);
            from = slash;
        }
        let node = &nodes[above];
        let opaque = node.instance.is_some() || node.is_override();
        if opaque { Lookup::Inside(above) } else { Lookup::Missing }
    }
}

impl Lists {
    fn new(places: &[Place], owner: impl Fn(Place) -> Option<usize>) -> Self {
        let mut cuts = vec![0_u32; places.len() + 1];
        for owner in places.iter().filter_map(|place| owner(*place)) {
            cuts[owner + 1] += 1;
        }
        for index in 1..cuts.len() {
            cuts[index] += cuts[index - 1];
        }
        let mut next = cuts.clone();
        let mut nodes = vec![0; cuts.last().map_or(0, |count| *count as usize)];
        for (node, place) in places.iter().enumerate() {
            if let Some(owner) = owner(*place) {
                nodes[next[owner] as usize] = to_u32(node);
                next[owner] += 1;
            }
        }
        Lists { cuts, nodes }
    }

    fn of(&self, owner: usize) -> impl Iterator<Item = usize> + '_ {
        let range = match self.cuts.get(owner..=owner + 1) {
            Some([from, to]) => *from as usize..*to as usize,
            _ => 0..0,
        };
        self.nodes[range].iter().map(|node| *node as usize)
    }
}

/// A path without `.`, `..` and empty parts; empty for the root.
pub(super) fn normal(path: &str) -> Cow<'_, str> {
    if path == "." {
        return Cow::Borrowed("");
    }
    if !path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Cow::Borrowed(path);
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Cow::Owned(parts.join("/"))
}

fn same_path(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || normal(a) == normal(b),
        _ => false,
    }
}

fn is_path_of(node: &Node<'_>, path: &str) -> bool {
    let Some(parent) = node.path.as_deref() else { return false };
    let Some(rest) = path.strip_suffix(&*node.name) else { return false };
    let parent = normal(parent);
    if parent.is_empty() { rest.is_empty() } else { rest.strip_suffix('/') == Some(&*parent) }
}

/// FNV-1a, which goes on from the hash of a prefix.
fn hash(from: u64, text: &str) -> u64 {
    text.bytes().fold(from, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
