//! `shader_set_uniform`: sets one uniform of a shader material.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::{NO_SHADER_ASSIGNED, NOT_A_SHADER_MATERIAL};
use crate::attach_to_node::{EDITOR, NODE_CODES};

const METHOD: &str = "shader.setUniform";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 256))]
    property_name: String,
    #[schemars(length(min = 1, max = 256))]
    uniform_name: String,
    value: AnyValue,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "shader_set_uniform",
        "Sets a uniform of a ShaderMaterial that a node holds and reads it back. Undoable.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.target_node)
    .leaves(&[Work::Save])
    .refuses(NODE_CODES)
    .refuses(&[
        codes::NODE_NOT_OWNED,
        codes::SUBRESOURCE_NOT_SAVED,
        NOT_A_SHADER_MATERIAL,
        NO_SHADER_ASSIGNED,
    ])
}
