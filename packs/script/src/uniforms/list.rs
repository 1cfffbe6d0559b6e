//! `shader_list_uniforms`: what can be set of a shader, and what it is now.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::read;

pub(crate) fn tool() -> Tool {
    read(
        "shader_list_uniforms",
        "Lists the uniforms of a ShaderMaterial that a node holds, with type, hint and value.",
        "shader.listUniforms",
    )
    .bounded("256 uniforms")
}
