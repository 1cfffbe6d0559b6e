//! Shader materials that nodes hold.

pub(crate) mod list_uniforms;
pub(crate) mod set_uniform;

use didi_wire::BridgeError;
use godot::{
    classes::{Shader, ShaderMaterial, shader::Mode},
    prelude::*,
};
use serde_json::json;

use crate::{node_path, property, refuse};

/// A material, its shader, and who holds it.
pub(super) struct Held {
    pub(super) node: Gd<Node>,
    pub(super) material: Gd<ShaderMaterial>,
    pub(super) shader: Gd<Shader>,
}

/// The shader material in a property of a node.
///
/// # Errors
/// `not_a_shader_material`, `no_shader_assigned` (409), and what finding the property refuses.
pub(super) fn held(path: &str, name: &str) -> Result<Held, BridgeError> {
    let node = node_path::edited(path)?;
    let value = property::find(&node, name)?.get();
    let Ok(material) = value.try_to::<Gd<ShaderMaterial>>() else {
        let found = property::class_held(&value).unwrap_or_else(|| "nothing".into());
        let message = format!("`{name}` holds {found} and no `ShaderMaterial`");
        return Err(
            refuse::conflict("not_a_shader_material", message).with("field", "property_name")
        );
    };
    let Some(shader) = material.get_shader() else {
        let error = refuse::conflict("no_shader_assigned", "the material has no shader");
        let arguments = json!({ "target_node": path, "property_name": format!("{name}:shader") });
        return Err(refuse::next_call(error, "scene_set_property", arguments, "gives it one"));
    };
    Ok(Held { node, material, shader })
}

/// The word for what a shader is for.
pub(super) fn mode(shader: &Gd<Shader>) -> &'static str {
    match shader.get_mode() {
        Mode::SPATIAL => "spatial",
        Mode::CANVAS_ITEM => "canvas_item",
        Mode::PARTICLES => "particles",
        Mode::SKY => "sky",
        Mode::FOG => "fog",
        _ => "unknown",
    }
}
