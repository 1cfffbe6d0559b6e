//! `shader.listUniforms`: what can be set of a shader, and what it is now.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    json,
    methods::{Context, shader},
    params::{self, Params},
    property::Declared,
};

/// Most uniforms told.
const MAX_UNIFORMS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
    property_name: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let held = shader::held(&args.target_node, &args.property_name)?;
    let list = held.shader.get_shader_uniform_list();
    let uniforms: Vec<Value> = list
        .iter_shared()
        .take(MAX_UNIFORMS)
        .filter_map(|uniform| uniform.try_to::<VarDictionary>().ok())
        .map(|uniform| {
            let name = uniform.get("name").unwrap_or_default().stringify().to_string();
            let declared = Declared::of(&uniform);
            let value = held.effective(&name);
            json!({
                "name": name,
                "type": declared.type_name(),
                "hint": shader::hint(&declared),
                "value": json::write(&value).unwrap_or_default(),
                "settable": true,
            })
        })
        .collect();
    let path = held.shader.get_path().to_string();
    Ok(json!({
        "target_node": args.target_node,
        "property_name": args.property_name,
        "shader_path": Some(path).filter(|path| !path.is_empty()),
        "shader_mode": shader::mode(&held.shader),
        "truncated": uniforms.len() < list.len(),
        "uniforms": uniforms,
        "uniform_count": list.len(),
    }))
}
