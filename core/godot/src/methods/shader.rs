//! Shader materials that nodes hold.

pub(crate) mod get_visual_graph;
pub(crate) mod list_uniforms;
pub(crate) mod set_uniform;

use didi_wire::BridgeError;
use godot::{
    classes::{RenderingServer, Shader, ShaderMaterial, shader::Mode},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    node_path,
    property::{self, Declared},
    refuse,
};

/// Where a material is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    target_node: String,
    property_name: String,
}

impl Place {
    /// The material there, as [`held`] finds it.
    pub(super) fn held(&self) -> Result<Held, BridgeError> {
        held(&self.target_node, &self.property_name)
    }

    /// The same place as arguments of a call.
    pub(super) fn arguments(&self) -> Value {
        json!({ "target_node": self.target_node, "property_name": self.property_name })
    }
}

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

/// What a shader allows of a value beside its type.
pub(super) struct Range {
    minimum: f64,
    maximum: f64,
    step: Option<f64>,
    or_greater: bool,
    or_less: bool,
}

impl Range {
    /// The range that a uniform declares, if it does.
    pub(super) fn of(declared: &Declared) -> Option<Self> {
        let constraint = declared.constraint().filter(|one| one["kind"] == "range")?;
        let text = constraint["hint_string"].as_str()?.to_owned();
        let mut numbers = text.split(',').map_while(|part| part.trim().parse::<f64>().ok());
        Some(Range {
            minimum: numbers.next()?,
            maximum: numbers.next()?,
            step: numbers.next(),
            or_greater: text.contains("or_greater"),
            or_less: text.contains("or_less"),
        })
    }

    /// Which bound a number is beyond, with the bound.
    pub(super) fn fault(&self, number: f64) -> Option<String> {
        if number < self.minimum && !self.or_less {
            return Some(format!("{number} is below {}", self.minimum));
        }
        let above = number > self.maximum && !self.or_greater;
        above.then(|| format!("{number} is above {}", self.maximum))
    }

    fn told(&self, hint_string: &Value) -> Value {
        json!({
            "kind": "range",
            "minimum": self.minimum,
            "maximum": self.maximum,
            "step": self.step,
            "or_greater": self.or_greater,
            "or_less": self.or_less,
            "hint_string": hint_string,
        })
    }
}

/// What a uniform declares beside its type.
pub(super) fn hint(declared: &Declared) -> Option<Value> {
    let constraint = declared.constraint()?;
    let hint_string = &constraint["hint_string"];
    if let Some(range) = Range::of(declared) {
        return Some(range.told(hint_string));
    }
    if constraint["kind"] == "enum" {
        let options: Vec<&str> = hint_string.as_str().unwrap_or_default().split(',').collect();
        return Some(json!({ "kind": "enum", "options": options, "hint_string": hint_string }));
    }
    Some(json!({ "kind": "other", "hint_string": hint_string }))
}

impl Held {
    /// What every answer about the shader begins with.
    pub(super) fn told(&self, place: &Place) -> Value {
        let path = self.shader.get_path().to_string();
        let mut told = place.arguments();
        told["shader_path"] = Some(path).filter(|path| !path.is_empty()).into();
        told["shader_mode"] = mode(&self.shader).into();
        told
    }

    /// What a uniform is in effect: what the material says, or else the shader's own default.
    pub(super) fn effective(&self, name: &str) -> Variant {
        let set = self.material.get_shader_parameter(name);
        if !set.is_nil() {
            return set;
        }
        RenderingServer::singleton().shader_get_parameter_default(self.shader.get_rid(), name)
    }
}

/// The word for what a shader is for.
fn mode(shader: &Gd<Shader>) -> &'static str {
    match shader.get_mode() {
        Mode::SPATIAL => "spatial",
        Mode::CANVAS_ITEM => "canvas_item",
        Mode::PARTICLES => "particles",
        Mode::SKY => "sky",
        Mode::FOG => "fog",
        _ => "unknown",
    }
}
