//! `scene.getHierarchy`: the nodes of the edited scene, whole, filtered or summed up.

mod arena;
mod tree;

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::{arena::Arena, tree::Tree};
use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Most nodes looked at, and told.
const MAX_NODES: usize = 100_000;

/// Most bytes of the tree.
const MAX_RESPONSE_BYTES: usize = 8 * 1024 * 1024;

/// Deepest walk.
const MAX_DEPTH: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Args {
    root_path: String,
    max_depth: usize,
    max_nodes: Option<usize>,
    class_filter: Option<Vec<String>>,
    #[allow(dead_code, reason = "values of a live scene are read one by one")]
    include_properties: bool,
    summary: bool,
}

impl Default for Args {
    fn default() -> Self {
        Args {
            root_path: "/root".into(),
            max_depth: 10,
            max_nodes: None,
            class_filter: None,
            include_properties: true,
            summary: false,
        }
    }
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let max_nodes = args.max_nodes.unwrap_or(MAX_NODES);
    if args.max_depth > MAX_DEPTH || !(1..=MAX_NODES).contains(&max_nodes) {
        let message = format!("`max_depth` is 0 to {MAX_DEPTH}, `max_nodes` 1 to {MAX_NODES}");
        return Err(refuse::invalid("max_depth", message));
    }
    if args.summary && (args.max_nodes.is_some() || args.class_filter.is_some()) {
        let message = "`summary` goes with neither `max_nodes` nor `class_filter`";
        return Err(refuse::invalid("summary", message));
    }
    let scene = node_path::edited_root()?;
    let root = node_path::edited(&args.root_path)?;
    let arena = Arena::collect(&scene, &root, MAX_NODES);
    let mut answer = facts(&scene, &args.root_path, max_nodes);
    if args.summary {
        let (counts, branches) = tree::summary(&arena);
        answer.insert("scene_tree".into(), tree::head(&arena, 0).into());
        answer.insert("node_count".into(), arena.len().into());
        answer.insert("counts_by_type".into(), counts);
        answer.insert("branches".into(), branches);
        answer.insert("truncated".into(), arena.is_cut().into());
    } else {
        let mut tree = Tree::new(&arena, args.max_depth, max_nodes, args.class_filter.as_deref());
        answer.insert("scene_tree".into(), tree.root().into());
        answer.insert("node_count".into(), tree.told().into());
        if let Some(matched) = tree.matched() {
            answer.insert("matched_nodes".into(), matched.into());
        }
        answer.insert("truncated".into(), tree.is_truncated().into());
    }
    Ok(answer.into())
}

/// What is told of the scene itself.
fn facts(scene: &Gd<Node>, root_path: &str, max_nodes: usize) -> Map<String, Value> {
    let file = scene.get_scene_file_path().to_string();
    let facts = json!({
        "root_path": root_path,
        "scene_is_unsaved": file.is_empty(),
        "scene_file_path": Some(file).filter(|file| !file.is_empty()),
        "source": "live_scene_tree",
        "omitted_fields": ["bulk_properties", "signals", "scripts"],
        "max_nodes": max_nodes,
        "max_response_bytes": MAX_RESPONSE_BYTES,
    });
    if let Value::Object(facts) = facts { facts } else { Map::new() }
}
