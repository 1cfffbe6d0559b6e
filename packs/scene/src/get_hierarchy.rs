//! `scene_get_hierarchy`: the node tree of the edited scene, or of a scene file.
//!
//! An attached editor answers for its edited scene. A `res://` path is always read from the disk, and without
//! an editor the main scene stands in for it. A node path can only be answered by an editor and is never
//! guessed from a file.
//!
//! Spec: P-52, scenes.

use std::collections::BTreeMap;

use didi_formats::scene::Scene;
use didi_plugin_api::prelude::*;
use serde_json::Map;

mod file;
mod instances;
mod tree;

const METHOD: &str = "scene.getHierarchy";
/// Nodes in one answer.
const MAX_NODES: usize = 100_000;
/// Bytes of one answer, about.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Deepest tree in one answer. Readers of JSON often stop at 128 levels, of which a node takes two.
const MAX_ANSWER_DEPTH: usize = 60;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Node path, or a res:// .tscn to read from disk.
    #[serde(default = "default_root_path")]
    #[schemars(length(max = 1024))]
    root_path: String,
    #[serde(default = "default_max_depth")]
    #[schemars(range(max = 64))]
    max_depth: usize,
    #[schemars(range(min = 1, max = 100_000))]
    max_nodes: Option<usize>,
    /// Types kept, with their ancestors.
    #[schemars(length(min = 1, max = 64), inner(length(max = 128)))]
    class_filter: Option<Vec<String>>,
    // Of files only: the live walk has none.
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_properties: bool,
    /// Counts, not a tree.
    #[serde(default)]
    summary: bool,
}

fn default_root_path() -> String {
    "/root".into()
}

fn default_max_depth() -> usize {
    10
}

// The tree is a plain object in the published schema: it nests, and a schema that nests needs a reference.
#[derive(Serialize, JsonSchema)]
struct Out {
    scene_tree: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_root_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    substituted_main_scene: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scene_file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scene_is_unsaved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_fields: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_response_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts_by_type: Option<BTreeMap<String, usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branches: Option<Vec<Map<String, Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offline_reason: Option<String>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "scene_get_hierarchy",
        "Reads the node tree of the edited scene or a .tscn file. Use first, to learn node paths; \
         summary for big scenes.",
        Effects::READS,
        run,
    )
    .core()
    .legacy("get_scene_hierarchy")
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor], &[METHOD])
    .bounded("max_depth, max_nodes, and the live walk's 100,000 nodes / 8 MiB")
    .output::<Out>()
    .refuses(&[
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::UNPROCESSABLE,
        codes::ENGINE_REFUSED,
        codes::TIMEOUT,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    if args.summary && (args.max_nodes.is_some() || args.class_filter.is_some()) {
        let field = if args.max_nodes.is_some() { "max_nodes" } else { "class_filter" };
        let message = format!("`summary` counts all nodes, and `{field}` can't be sent beside it");
        return Err(Refusal::invalid(field, message));
    }
    if ctx.mode() == Mode::Live && !file::is_resource(&args.root_path) {
        return live(ctx, &args);
    }
    offline(ctx, &args)
}

fn live(ctx: &Ctx<'_>, args: &Args) -> ToolResult {
    let mut params = Map::new();
    params.insert("root_path".into(), json!(args.root_path));
    params.insert("max_depth".into(), json!(args.max_depth.min(MAX_ANSWER_DEPTH)));
    params.insert("summary".into(), json!(args.summary));
    if let Some(max_nodes) = args.max_nodes {
        params.insert("max_nodes".into(), json!(max_nodes));
    }
    if let Some(class_filter) = &args.class_filter {
        params.insert("class_filter".into(), json!(class_filter));
    }
    let mut data = ctx.bridge_call(METHOD, params)?;
    let mut truncated = false;
    if let Value::Object(members) = &mut data {
        // The host says it for every tool.
        truncated = members.remove("truncated") == Some(Value::Bool(true));
        members.retain(|_, value| !value.is_null());
        members.entry("source").or_insert_with(|| "live_scene_tree".into());
    }
    Ok(Answer::of(data)?.truncated(truncated))
}

fn offline(ctx: &Ctx<'_>, args: &Args) -> ToolResult {
    let found = file::locate(ctx, &args.root_path)?;
    let bytes = file::read(ctx, &found.path)?;
    let scene = Scene::parse(&bytes).map_err(|error| file::unparseable(&found.path, &error))?;
    let tree = tree::Tree::of(ctx, &scene)?;
    let mut out = Out {
        scene_tree: Map::new(),
        node_count: None,
        source: Some("parsed_tscn_file".into()),
        file_path: Some(found.path.res_path()),
        inherits: tree.inherits(),
        root_path: None,
        requested_root_path: Some(args.root_path.clone()),
        substituted_main_scene: Some(found.substituted),
        scene_file_path: None,
        scene_is_unsaved: None,
        omitted_fields: None,
        max_nodes: None,
        max_response_bytes: None,
        matched_nodes: None,
        counts_by_type: None,
        branches: None,
        message: tree.message(),
        offline_reason: found.substituted.then(|| {
            "no editor is attached, so the main scene's file was read in place of an edited scene"
                .into()
        }),
    };
    let truncated =
        if args.summary { tree.summarise(&mut out) } else { tree.walk(ctx, args, &mut out)? };
    Ok(Answer::of(out)?.truncated(truncated))
}

#[cfg(test)]
mod tests;
