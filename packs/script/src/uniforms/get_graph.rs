//! `shader_get_visual_graph`: the nodes of a visual shader and how they are connected.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::read;

/// The shader is text.
const NOT_A_VISUAL_SHADER: Code = Code::new(409, "not_a_visual_shader");

pub(crate) fn tool() -> Tool {
    read(
        "shader_get_visual_graph",
        "Reads the nodes and connections of a VisualShader, by shader type.",
        "shader.getVisualGraph",
    )
    .bounded("256 nodes and 512 connections per shader type")
    .refuses(&[NOT_A_VISUAL_SHADER])
}
