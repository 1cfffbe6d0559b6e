//! `scene_instantiate_node`: adds a node of a class, or an instance of a scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;
use serde_json::Map;

use super::{codes, edit};

const METHOD: &str = "scene.instantiateNode";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A class, or instead `scene_path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    node_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    scene_path: Option<String>,
    #[serde(default = "root")]
    #[schemars(length(max = 1024))]
    parent_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    name: Option<String>,
    /// As `value` of `scene_set_property`, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    properties: Map<String, Value>,
}

fn root() -> String {
    "/root".into()
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_instantiate_node",
        "Adds a node of a class, or an instance of a scene, to the open scene. Undoable.",
        Effects::ADDS,
        METHOD,
        |args| &args.parent_path,
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::CYCLIC_INSTANCE,
        codes::NOT_A_PACKED_SCENE,
        codes::DEPENDENCIES_MISSING,
        codes::PROPERTY_NOT_FOUND,
        codes::PROPERTY_SLOT_EMPTY,
        codes::PROPERTY_PATH_INVALID,
        codes::PROPERTY_PATH_NOT_RESOURCE,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    match (&args.node_type, &args.scene_path) {
        (Some(_), None) | (None, Some(_)) => Ok(()),
        _ => Err(Refusal::invalid(
            "node_type",
            "exactly one of `node_type` and `scene_path` is needed",
        )),
    }
}
