//! Turns a parsed scene into the tree of an answer.
//!
//! The order of the nodes, the sizes below them and the matches of a filter are worked out over lists, in
//! time linear to the file. Recursion is left to the nodes of the answer, whose depth is bounded.
//!
//! Spec: P-52, scenes.

use std::collections::{BTreeMap, BTreeSet};

use didi_formats::{
    scene::{Node, Scene, Severity},
    variant,
};
use didi_plugin_api::prelude::*;
use serde_json::Map;

use super::{Args, MAX_ANSWER_DEPTH, MAX_NODES, MAX_RESPONSE_BYTES, Out, instances::Instances};

/// Longest value quoted, in bytes.
const MAX_VALUE_BYTES: usize = 1024;
/// About what a node adds beside its texts, in bytes.
const NODE_BYTES: usize = 120;
/// Children listed by a summary.
const MAX_BRANCHES: usize = 200;
/// Types counted by name, of the whole scene and of one branch.
const MAX_TYPES: usize = 200;
const MAX_BRANCH_TYPES: usize = 16;
/// Counted as, where the class is in a file that was not read.
const UNKNOWN: &str = "(unknown)";

pub(super) struct Tree<'s, 'a> {
    scene: &'s Scene<'a>,
    root: usize,
    /// Nodes from the root down, parents first.
    order: Vec<usize>,
    /// Nodes at and below each node.
    sizes: Vec<usize>,
    /// The classes of nodes that are instances, where known.
    instanced: BTreeMap<usize, String>,
    editable: BTreeSet<&'s str>,
}

impl<'s, 'a> Tree<'s, 'a> {
    pub(super) fn of(ctx: &Ctx<'_>, scene: &'s Scene<'a>) -> Result<Self, Refusal> {
        let Some(root) = scene.root() else {
            let message = "the scene has no root, which is a node without `parent=`";
            return Err(Refusal::new(codes::UNPROCESSABLE, message).field("root_path"));
        };
        let editable = scene.editable_paths().collect();
        let mut tree = Tree {
            scene,
            root,
            order: vec![],
            sizes: vec![],
            instanced: BTreeMap::new(),
            editable,
        };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            ctx.check()?;
            tree.order.push(node);
            let from = open.len();
            open.extend(tree.children(node));
            open[from..].reverse();
        }
        tree.sizes = tree.counted(|_| true);
        tree.instanced = tree.instanced(ctx)?;
        Ok(tree)
    }

    fn instanced(&self, ctx: &Ctx<'_>) -> Result<BTreeMap<usize, String>, Refusal> {
        let mut instances = Instances::new(ctx);
        let mut found = BTreeMap::new();
        for node in self.order.iter().copied() {
            if self.node(node).instance.is_none() {
                continue;
            }
            ctx.check()?;
            let class = self.instance_of(node).and_then(|path| instances.class_of(path));
            found.extend(class.map(|class| (node, class)));
        }
        Ok(found)
    }

    /// How many nodes at and below each node are wanted.
    fn counted(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut counts = vec![0; self.scene.nodes().len()];
        for node in self.order.iter().rev() {
            let below: usize = self.children(*node).map(|child| counts[child]).sum();
            counts[*node] = below + usize::from(wanted(*node));
        }
        counts
    }

    /// The children in this file, and the changes to what an instanced scene brings along.
    fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.scene.children(node).chain(self.scene.inside(node))
    }

    fn node(&self, node: usize) -> &'s Node<'a> {
        &self.scene.nodes()[node]
    }

    /// The class; of an inherited node only another scene's file knows it.
    fn type_of(&self, node: usize) -> Option<&str> {
        let found = self.node(node);
        match &found.type_name {
            Some(name) => Some(name),
            None if found.instance_placeholder().is_some() => Some("InstancePlaceholder"),
            None => self.instanced.get(&node).map(String::as_str),
        }
    }

    fn instance_of(&self, node: usize) -> Option<&'s str> {
        if let Some(path) = self.node(node).instance_placeholder() {
            return Some(path);
        }
        let resource = self.scene.ext_resource(self.node(node).instance.as_deref()?)?;
        let uid = resource.uid.as_deref().unwrap_or_default();
        Some(if resource.path.is_empty() { uid } else { &resource.path })
    }

    /// The base scene.
    pub(super) fn inherits(&self) -> Option<String> {
        self.instance_of(self.root).map(str::to_owned)
    }

    /// `/root/Root/A/B`, as a running game spells it.
    fn path_of(&self, node: usize) -> String {
        let root = &self.node(self.root).name;
        match self.scene.node_path(node).as_deref() {
            Some(path) if path != "." && node != self.root => format!("/root/{root}/{path}"),
            _ => format!("/root/{root}"),
        }
    }

    /// What a reader should know beside the tree.
    pub(super) fn message(&self) -> Option<String> {
        let lost = self.scene.nodes().len() - self.order.len();
        let problems = self.scene.problems().iter();
        let bad = problems.filter(|one| one.severity() != Severity::Note).count();
        match (lost, bad) {
            (0, 0) => None,
            (0, bad) => {
                Some(format!("the file has {bad} problems that cost it something in the engine"))
            }
            (lost, _) => Some(format!(
                "{lost} nodes are left out, because their parent does not exist in the file"
            )),
        }
    }

    /// Counts in place of a tree. Answers whether something was left out.
    pub(super) fn summarise(&self, out: &mut Out) -> bool {
        let mut counts = BTreeMap::new();
        for node in &self.order {
            *counts.entry(self.type_of(*node).unwrap_or(UNKNOWN)).or_insert(0) += 1;
        }
        let children: Vec<usize> = self.children(self.root).collect();
        let shown = &children[..children.len().min(MAX_BRANCHES)];
        let omitted = children.len() - shown.len();
        let mut root = self.head(self.root);
        root.insert("children_omitted".into(), json!(children.len()));
        out.scene_tree = root;
        out.node_count = Some(self.order.len());
        let cut = counts.len() > MAX_TYPES;
        out.counts_by_type = Some(most(&counts, MAX_TYPES));
        out.branches = Some(shown.iter().map(|child| self.branch(*child)).collect());
        omitted > 0 || cut
    }

    fn branch(&self, node: usize) -> Map<String, Value> {
        let mut counts = BTreeMap::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            *counts.entry(self.type_of(node).unwrap_or(UNKNOWN)).or_insert(0) += 1;
            open.extend(self.children(node));
        }
        let mut branch = self.head(node);
        branch.insert("node_count".into(), json!(self.sizes[node]));
        branch.insert("counts_by_type".into(), json!(most(&counts, MAX_BRANCH_TYPES)));
        branch
    }

    /// Name, type, path and where a node comes from.
    fn head(&self, node: usize) -> Map<String, Value> {
        let found = self.node(node);
        let mut head = Map::new();
        head.insert("name".into(), json!(found.name));
        if let Some(class) = self.type_of(node) {
            head.insert("type".into(), json!(class));
        }
        head.insert("path".into(), json!(self.path_of(node)));
        if let Some(path) = self.instance_of(node) {
            head.insert("instance_of".into(), json!(path));
            let inner = self.scene.node_path(node).unwrap_or_default();
            if self.editable.contains(inner.as_str()) {
                head.insert("editable_instance".into(), json!(true));
            }
        }
        if found.is_override() {
            head.insert("inherited".into(), json!(true));
        }
        head.insert("owned_by_scene".into(), json!(!found.is_override()));
        head
    }

    /// The tree, bounded. Answers whether something was left out.
    pub(super) fn walk(&self, ctx: &Ctx<'_>, args: &Args, out: &mut Out) -> Result<bool, Refusal> {
        let filter = args.class_filter.as_ref().map(|names| {
            let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            self.counted(|node| self.type_of(node).is_some_and(|class| wanted.contains(class)))
        });
        let max_nodes = args.max_nodes.unwrap_or(MAX_NODES);
        let mut walk = Walk {
            tree: self,
            ctx,
            include_properties: args.include_properties,
            max_depth: args.max_depth.min(MAX_ANSWER_DEPTH),
            nodes_left: max_nodes,
            bytes_left: MAX_RESPONSE_BYTES,
            truncated: false,
            filter,
        };
        out.scene_tree = walk.node(self.root, 0)?;
        out.node_count = Some(max_nodes - walk.nodes_left);
        out.max_nodes = Some(max_nodes);
        out.matched_nodes = walk.filter.as_ref().map(|counts| counts[self.root]);
        Ok(walk.truncated)
    }
}

/// The most frequent types.
fn most(counts: &BTreeMap<&str, usize>, limit: usize) -> BTreeMap<String, usize> {
    let mut sorted: Vec<(&str, usize)> =
        counts.iter().map(|(name, count)| (*name, *count)).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    sorted.into_iter().take(limit).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// The bounds while a tree is written.
struct Walk<'w, 's, 'a, 'h> {
    tree: &'w Tree<'s, 'a>,
    ctx: &'w Ctx<'h>,
    include_properties: bool,
    max_depth: usize,
    nodes_left: usize,
    bytes_left: usize,
    truncated: bool,
    /// Matches at and below each node, under a filter.
    filter: Option<Vec<usize>>,
}

impl Walk<'_, '_, '_, '_> {
    /// A node with what is below it. Recursion ends at `max_depth`.
    fn node(&mut self, node: usize, depth: usize) -> Result<Map<String, Value>, Refusal> {
        self.ctx.check()?;
        self.nodes_left = self.nodes_left.saturating_sub(1);
        let mut entry = self.tree.head(node);
        if self.matches(node) {
            entry.insert("matched".into(), json!(true));
        }
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map_or(0, str::len);
        self.spend(NODE_BYTES + text("name") + text("path") + text("instance_of"));
        if self.include_properties {
            entry.insert("properties".into(), self.properties(node).into());
        }
        self.children(node, depth, &mut entry)?;
        Ok(entry)
    }

    fn children(
        &mut self,
        node: usize,
        depth: usize,
        entry: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let wanted: Vec<usize> =
            self.tree.children(node).filter(|child| self.is_wanted(*child)).collect();
        let mut children: Vec<Value> = vec![];
        if depth < self.max_depth {
            for child in &wanted {
                if self.nodes_left == 0 || self.bytes_left == 0 {
                    break;
                }
                children.push(self.node(*child, depth + 1)?.into());
            }
        }
        let omitted = &wanted[children.len()..];
        if !omitted.is_empty() {
            self.truncated = true;
            let below: usize = omitted.iter().map(|child| self.weight(*child)).sum();
            entry.insert("children_omitted".into(), json!(omitted.len()));
            entry.insert("children_summary".into(), json!({ "node_count": below }));
        }
        entry.insert("children".into(), children.into());
        Ok(())
    }

    fn is_wanted(&self, node: usize) -> bool {
        self.filter.as_ref().is_none_or(|counts| counts[node] > 0)
    }

    /// Nodes at and below a node, or the matches among them.
    fn weight(&self, node: usize) -> usize {
        self.filter.as_ref().map_or(self.tree.sizes[node], |counts| counts[node])
    }

    fn matches(&self, node: usize) -> bool {
        let Some(counts) = &self.filter else { return false };
        let below: usize = self.tree.children(node).map(|child| counts[child]).sum();
        counts[node] > below
    }

    fn spend(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }

    /// The literal text of the file; long values are cut.
    fn properties(&mut self, node: usize) -> Map<String, Value> {
        let mut found = Map::new();
        for (key, value) in self.tree.node(node).properties() {
            let shown = if value.len() > MAX_VALUE_BYTES {
                self.truncated = true;
                format!("{} ({} bytes)", variant::cut(value, MAX_VALUE_BYTES), value.len())
            } else {
                value.to_owned()
            };
            self.spend(key.len() + shown.len() + 8);
            found.insert(key.to_owned(), shown.into());
            if self.bytes_left == 0 {
                self.truncated = true;
                break;
            }
        }
        found
    }
}
