//! `shader.listUniforms`: what can be set of a shader, and what it is now.

use didi_engine::Answer;
use godot::prelude::*;
use serde_json::{Value, json};

use crate::{
    json,
    methods::{Context, shader},
    params::{self, Params},
    property::Declared,
};

/// Most uniforms told.
const MAX_UNIFORMS: usize = 256;

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let place: shader::Place = params::read(params)?;
    let held = place.held()?;
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
    let mut told = held.told(&place);
    told["truncated"] = (uniforms.len() < list.len()).into();
    told["uniforms"] = uniforms.into();
    told["uniform_count"] = list.len().into();
    Ok(told)
}
