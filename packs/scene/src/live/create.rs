//! `scene_create`: a new scene file with one node, opened in the editor.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, check_scene_path, codes, scene_to_write};

const METHOD: &str = "scene.create";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A res:// path ending in .tscn.
    #[schemars(length(min = 1, max = 1024))]
    scene_path: String,
    #[serde(default = "node_2d")]
    #[schemars(length(min = 1, max = 128))]
    root_type: String,
    #[serde(default = "root")]
    #[schemars(length(max = 256))]
    root_name: String,
    #[serde(default)]
    overwrite: bool,
}

fn node_2d() -> String {
    "Node2D".into()
}

fn root() -> String {
    "Root".into()
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_create",
        "Makes a scene file with one root node and opens it in the editor.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .preview(|ctx, args: Args| scene_to_write(ctx, &args.scene_path, args.overwrite))
    .checked(|args: &Args| check_scene_path(&args.scene_path))
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::ALREADY_EXISTS,
        codes::ROUTE_DEADLINE_EXCEEDED,
    ])
}
