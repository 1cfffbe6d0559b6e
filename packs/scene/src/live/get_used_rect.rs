//! `tilemap_get_used_rect`: how far the cells of a layer of tiles reach.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

pub(super) const METHOD: &str = "tilemap.getUsedRect";

/// There is no such node.
pub(super) const TARGET_NOT_FOUND: Code = Code::new(404, "tilemap_target_not_found");
/// The node is no layer of tiles.
pub(super) const TARGET_WRONG_TYPE: Code = Code::new(409, "tilemap_target_wrong_type");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    tilemap_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "tilemap_get_used_rect",
        "Reads the rectangle of used cells of a TileMapLayer.",
        Effects::READS,
        EDITOR,
        METHOD,
    )
    .core()
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        TARGET_NOT_FOUND,
        TARGET_WRONG_TYPE,
    ])
}
