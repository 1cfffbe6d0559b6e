//! `scene_get_property`: what a property of a node holds, with its declared type; or many at once.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "scene.getProperty";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    target_node: Option<String>,
    /// `a:b` steps into a held resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    property_name: Option<String>,
    /// Many at once, instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    reads: Option<Vec<Read>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    property_name: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_get_property",
        "Reads a node's property in the open scene, or up to 64, with type and constraint.",
        Effects::READS,
        EDITOR,
        METHOD,
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
        codes::PROPERTY_NOT_FOUND,
        codes::PROPERTY_SLOT_EMPTY,
        codes::PROPERTY_PATH_INVALID,
        codes::PROPERTY_PATH_NOT_RESOURCE,
        codes::PROPERTY_TYPE_UNSUPPORTED,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    let message = "either `target_node` and `property_name` are needed, or `reads` alone";
    match (&args.target_node, &args.property_name, &args.reads) {
        (Some(_), Some(_), None) | (None, None, Some(_)) => Ok(()),
        (.., Some(_)) => Err(Refusal::invalid("reads", message)),
        (None, ..) => Err(Refusal::invalid("target_node", message)),
        _ => Err(Refusal::invalid("property_name", message)),
    }
}
