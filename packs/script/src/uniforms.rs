//! The tools of a shader material that a node holds: its uniforms, and the graph of a visual shader.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use crate::attach_to_node::{EDITOR, NODE_CODES};

pub(crate) mod get_graph;
pub(crate) mod list;
pub(crate) mod set;

/// The property holds no shader material.
const NOT_A_SHADER_MATERIAL: Code = Code::new(409, "not_a_shader_material");
/// The material has no shader.
const NO_SHADER_ASSIGNED: Code = Code::new(409, "no_shader_assigned");

/// Where a material is held.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Held {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    /// Such as `material`.
    #[schemars(length(min = 1, max = 256))]
    property_name: String,
}

/// A reading tool about a material.
fn read(name: &str, about: &str, method: &'static str) -> Tool {
    Tool::of_engine::<Held>(name, about, Effects::READS, EDITOR, method)
        .refuses(NODE_CODES)
        .refuses(&[NOT_A_SHADER_MATERIAL, NO_SHADER_ASSIGNED])
}

#[cfg(test)]
mod tests;
