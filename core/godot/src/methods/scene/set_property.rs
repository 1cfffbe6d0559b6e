//! `scene.setProperty`: writes a property, or many as one step of the undo history, and reads back what the
//! engine made of it.
//!
//! All writes are checked before the first one happens.

mod plan;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use self::plan::Planned;
use crate::{
    edit::{self, Edit},
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Most writes of one call.
const MAX_WRITES: usize = 64;

const WHICH: &str =
    "either `target_node`, `property_name` and `value` are needed, or `writes` alone";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: Option<String>,
    property_name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    writes: Option<Vec<Write>>,
    #[serde(default)]
    make_unique: bool,
}

/// One write.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Write {
    target_node: String,
    property_name: String,
    value: Value,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    match (args.target_node, args.property_name, args.value, args.writes) {
        (Some(target_node), Some(property_name), Some(value), None) => {
            let write = Write { target_node, property_name, value };
            let planned = plan::plan(&root, &write, "value", args.make_unique)?;
            let name = format!("Set {}", write.property_name);
            commit(&root, &name, std::slice::from_ref(&planned))?;
            Ok(edit::done(planned.outcome()?))
        }
        (None, None, None, Some(writes)) => many(&root, &writes, args.make_unique),
        _ => Err(refuse::invalid("target_node", WHICH)),
    }
}

/// What the targets hold, once every check of the writes has passed.
pub(crate) fn preview(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    match (args.target_node, args.property_name, args.value, args.writes) {
        (Some(target_node), Some(property_name), Some(value), None) => {
            let write = Write { target_node, property_name, value };
            plan::plan(&root, &write, "value", args.make_unique)?.before()
        }
        (None, None, None, Some(writes)) => {
            let planned = plan_all(&root, &writes, args.make_unique)?;
            let before: Vec<Value> =
                planned.iter().map(Planned::before).collect::<Result<_, _>>()?;
            Ok(json!({ "writes": before }))
        }
        _ => Err(refuse::invalid("target_node", WHICH)),
    }
}

fn many(root: &Gd<Node>, writes: &[Write], make_unique: bool) -> Answer {
    let planned = plan_all(root, writes, make_unique)?;
    commit(root, &format!("Set {} properties", planned.len()), &planned)?;
    let outcomes: Vec<Value> = planned.iter().map(Planned::outcome).collect::<Result<_, _>>()?;
    Ok(edit::done(json!({ "writes": outcomes })))
}

fn plan_all(
    root: &Gd<Node>,
    writes: &[Write],
    make_unique: bool,
) -> Result<Vec<Planned>, BridgeError> {
    if !(1..=MAX_WRITES).contains(&writes.len()) {
        return Err(refuse::invalid("writes", format!("1 to {MAX_WRITES} writes are taken")));
    }
    let mut planned = vec![];
    for (index, write) in writes.iter().enumerate() {
        let at = |error: BridgeError| error.with("index", index).with("field", "writes");
        planned.push(plan::plan(root, write, "value", make_unique).map_err(at)?);
    }
    plan::check_overlaps(writes)?;
    Ok(planned)
}

fn commit(root: &Gd<Node>, name: &str, planned: &[Planned]) -> Result<(), BridgeError> {
    let mut action = Edit::begin(name, root)?;
    for write in planned {
        write.add_do(&mut action);
    }
    // Undone last first, so that of two writes to one place the older value comes back.
    for write in planned.iter().rev() {
        write.add_undo(&mut action);
    }
    action.commit();
    Ok(())
}

/// `null` is a value, an absent member is none.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}
