//! `shader.setUniform`: sets a value of a shader, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    json,
    methods::{Context, shader},
    node_path,
    params::{self, Params},
    property::{self, Declared},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
    property_name: String,
    uniform_name: String,
    value: Value,
}

/// A value that the shader takes.
struct Written {
    args: Args,
    root: Gd<Node>,
    held: shader::Held,
    requested: Variant,
    before: Variant,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let held = shader::held(&args.target_node, &args.property_name)?;
    owned::check(&root, &held.node)?;
    let material = held.material.clone().upcast();
    property::check_saved_here(Some(&material), &root.get_scene_file_path().to_string())?;
    let declared = declared(&args, &held)?;
    let before = held.material.get_shader_parameter(args.uniform_name.as_str());
    let wanted = declared.wanted(before.clone());
    let requested = json::read(&args.value, &wanted)
        .map_err(|fault| refuse::invalid("value", format!("`{}`: {fault}", args.uniform_name)))?;
    let range = shader::Range::of(&declared);
    if let Some(fault) = range.zip(args.value.as_f64()).and_then(|(range, one)| range.fault(one)) {
        return Err(refuse::invalid("value", format!("`{}`: {fault}", args.uniform_name)));
    }
    let old_value = json::write(&held.effective(&args.uniform_name))?;
    let told = json!({ "uniform_name": args.uniform_name, "value": old_value });
    let written = Written { args, root, held, requested, before };
    Ok(Change::now(told, move |mut told| make(&written, told["value"].take())))
}

fn make(written: &Written, old_value: Value) -> Answer {
    let Written { args, root, held, requested, before } = written;
    let object: Gd<Object> = held.material.clone().upcast();
    let name = StringName::from(&args.uniform_name).to_variant();
    let mut action = Edit::begin(&format!("Set {}", args.uniform_name), root)?;
    action.does(&object, "set_shader_parameter", &[name.clone(), requested.clone()]);
    action.undoes(&object, "set_shader_parameter", &[name, before.clone()]);
    action.commit();
    let value = json::write(&held.material.get_shader_parameter(args.uniform_name.as_str()))?;
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "property_name": args.property_name,
        "uniform_name": args.uniform_name,
        "applied": value == json::write(requested)?,
        "value": value,
        "old_value": old_value,
    })))
}

fn declared(args: &Args, held: &shader::Held) -> Result<Declared, BridgeError> {
    let list = held.shader.get_shader_uniform_list();
    let found = list.iter_shared().find_map(|uniform| {
        let uniform = uniform.try_to::<VarDictionary>().ok()?;
        let named = uniform.get("name")?.stringify() == args.uniform_name.as_str();
        named.then(|| Declared::of(&uniform))
    });
    found.ok_or_else(|| {
        let message = format!("the shader has no uniform `{}`", args.uniform_name);
        let error = BridgeError::new(404, "not_found", message).with("field", "uniform_name");
        let arguments =
            json!({ "target_node": args.target_node, "property_name": args.property_name });
        refuse::next_call(error, "shader_list_uniforms", arguments, "lists them")
    })
}
