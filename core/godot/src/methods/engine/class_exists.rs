//! `engine.classExists`: which classes there are, and what they are good for.

use didi_engine::Answer;
use godot::{classes::ClassDb, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Most names of one question.
const MAX_NAMES: usize = 65;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    class_names: Vec<String>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if args.class_names.len() > MAX_NAMES {
        let message = format!("at most {MAX_NAMES} names are taken");
        return Err(refuse::invalid("class_names", message));
    }
    let classes: Vec<Value> = args.class_names.iter().map(|name| class(name)).collect();
    Ok(json!({ "classes": classes }))
}

fn class(name: &str) -> Value {
    let classes = ClassDb::singleton();
    if !classes.class_exists(name) {
        return json!({ "name": name, "exists": false });
    }
    json!({
        "name": name,
        "exists": true,
        "can_instantiate": classes.can_instantiate(name),
        "is_node": name == "Node" || classes.is_parent_class(name, "Node"),
        "is_resource": name == "Resource" || classes.is_parent_class(name, "Resource"),
        "parent": classes.get_parent_class(name).to_string(),
    })
}
