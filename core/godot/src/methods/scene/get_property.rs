//! `scene.getProperty`: what a property holds, with its declared type; many at once; or what a
//! change would land on.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    json,
    methods::{
        Context,
        previews::{self, Mutation},
    },
    node_path,
    params::{self, Params},
    property::{self, Found},
    refuse,
};

/// Most reads of one call.
const MAX_READS: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: Option<String>,
    property_name: Option<String>,
    reads: Option<Vec<Read>>,
    mutation: Option<Mutation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    target_node: String,
    property_name: String,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if let Some(mutation) = &args.mutation {
        return previews::read(context, mutation);
    }
    match (args.target_node, args.property_name, args.reads) {
        (Some(target_node), Some(property_name), None) => {
            let mut answer = one(&Read { target_node, property_name })?;
            answer.insert("status".into(), "success".into());
            Ok(answer.into())
        }
        (None, None, Some(reads)) => many(&reads),
        _ => {
            let message = "either `target_node` and `property_name` are needed, or `reads` alone";
            Err(refuse::invalid("target_node", message))
        }
    }
}

fn many(reads: &[Read]) -> Answer {
    if !(1..=MAX_READS).contains(&reads.len()) {
        return Err(refuse::invalid("reads", format!("1 to {MAX_READS} reads are taken")));
    }
    let mut answers: Vec<Value> = vec![];
    for (index, read) in reads.iter().enumerate() {
        let at = |error: BridgeError| error.with("index", index).with("field", "reads");
        answers.push(one(read).map_err(at)?.into());
    }
    Ok(json!({ "status": "success", "reads": answers }))
}

fn one(read: &Read) -> Result<Map<String, Value>, BridgeError> {
    let root = node_path::edited_root()?;
    let node = node_path::edited(&read.target_node)?;
    let found = property::find(&node, &read.property_name)?;
    let value = found.get();
    let mut told = Map::new();
    told.insert("target_node".into(), read.target_node.as_str().into());
    told.insert("property_name".into(), read.property_name.as_str().into());
    told.insert("type".into(), found.declared.type_name().into());
    told.insert("value".into(), json::write(&value)?);
    describe(&mut told, &found, &value);
    let scene = root.get_scene_file_path().to_string();
    if let Some(file) = found.resource_file(&scene) {
        told.insert("resource_file".into(), file.into());
    }
    Ok(told)
}

fn describe(told: &mut Map<String, Value>, found: &Found, value: &godot::builtin::Variant) {
    if let Some(constraint) = found.declared.constraint() {
        told.insert("engine_constraint".into(), constraint);
    }
    if let Some(class) = property::class_held(value) {
        told.insert("holds".into(), class.into());
    } else if property::is_freed(value) {
        told.insert("freed".into(), true.into());
    }
}
