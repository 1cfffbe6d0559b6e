//! `runtime.getTree`: the tree as it runs, within bounds that every cut names.

use didi_engine::{Answer, ring::cut};
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Most nodes.
const MAX_NODES: usize = 10_000;

/// Most bytes of the whole answer, and what is left for everything beside the tree.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;
const RESERVED_BYTES: usize = 4 * 1024;

/// Longest fields, in bytes.
const MAX_NAME_BYTES: usize = 1024;
const MAX_TYPE_BYTES: usize = 256;
const MAX_PATH_BYTES: usize = 4096;

/// Deepest walk.
const MAX_DEPTH: u32 = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Args {
    root_path: String,
    max_depth: u32,
}

impl Default for Args {
    fn default() -> Self {
        Args { root_path: "/root".into(), max_depth: 4 }
    }
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if args.max_depth > MAX_DEPTH {
        return Err(refuse::invalid("max_depth", format!("0 to {MAX_DEPTH} are taken")));
    }
    let root = node_path::any(context.kind, &args.root_path)?;
    let mut walk = Walk { context, nodes: 0, bytes: RESERVED_BYTES, truncated: false };
    let tree = walk.node(&root, args.max_depth);
    Ok(json!({
        "tree": tree,
        "paused": node_path::scene_tree()?.is_paused(),
        "node_count": walk.nodes,
        "max_nodes": MAX_NODES,
        "max_response_bytes": MAX_RESPONSE_BYTES,
        "truncated": walk.truncated,
        "session_kind": context.kind.as_str(),
    }))
}

struct Walk<'c> {
    context: &'c Context,
    nodes: usize,
    bytes: usize,
    truncated: bool,
}

impl Walk<'_> {
    fn node(&mut self, node: &Gd<Node>, depth: u32) -> Option<Value> {
        let path = node_path::of(self.context.kind, node);
        let mut shown = json!({ "child_count": node.get_child_count() });
        self.field(&mut shown, "name", &node.get_name().to_string(), MAX_NAME_BYTES);
        self.field(&mut shown, "type", &node.get_class().to_string(), MAX_TYPE_BYTES);
        self.field(&mut shown, "path", &path, MAX_PATH_BYTES);
        let bytes =
            shown.to_string().len() + r#","children":[],"children_truncated":true"#.len() + 1;
        if self.nodes >= MAX_NODES || self.bytes + bytes > MAX_RESPONSE_BYTES {
            self.truncated = true;
            return None;
        }
        self.nodes += 1;
        self.bytes += bytes;
        self.children(&mut shown, node, depth);
        Some(shown)
    }

    fn children(&mut self, shown: &mut Value, node: &Gd<Node>, depth: u32) {
        let count = node.get_child_count();
        let mut children = vec![];
        if depth > 0 {
            for at in 0..count {
                let Some(child) = node.get_child(at).and_then(|child| self.node(&child, depth - 1))
                else {
                    break;
                };
                children.push(child);
            }
        }
        if children.len() < usize::try_from(count).unwrap_or(0) {
            shown["children_truncated"] = true.into();
            self.truncated = true;
        }
        shown["children"] = children.into();
    }

    fn field(&mut self, shown: &mut Value, name: &str, text: &str, max_bytes: usize) {
        let kept = cut(text, max_bytes);
        shown[name] = kept.into();
        if kept.len() < text.len() {
            shown[format!("{name}_truncated")] = true.into();
            self.truncated = true;
        }
    }
}
