//! `scene_pack_branch`: writes a branch of the open scene as a scene of its own.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, HIERARCHY, check_scene_path, codes, node, scene_to_write};

const METHOD: &str = "scene.packBranch";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    scene_path: String,
    #[serde(default)]
    overwrite: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_pack_branch",
        "Saves a copy of a branch of the open scene as a scene file of its own.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .live(EDITOR, &[METHOD, HIERARCHY])
    .preview(|ctx, args: Args| {
        node(ctx, &args.target_node)?;
        scene_to_write(ctx, &args.scene_path, args.overwrite)
    })
    .checked(|args: &Args| check_scene_path(&args.scene_path))
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
        codes::ALREADY_EXISTS,
    ])
}
