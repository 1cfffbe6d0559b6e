//! `scene.setProperty`: writes a property, or many as one step of the undo history, and reads back what the
//! engine made of it.
//!
//! All writes are checked before the first one happens.

mod write;

use std::collections::BTreeSet;

use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use self::write::Ready;
use crate::{
    change::{Change, Planned},
    edit::{self, Edit, watch::Beside},
    methods::Context,
    node_path,
    params::{self, Params},
    property::Declarations,
    refuse,
};

/// Most writes of one call.
const MAX_WRITES: usize = 64;

/// Most names told of properties that were changed beside.
const MAX_BESIDE: usize = 32;

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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    target_node: String,
    property_name: String,
    value: Value,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    match (args.target_node, args.property_name, args.value, args.writes) {
        (Some(target_node), Some(property_name), Some(value), None) => {
            one(root, Write { target_node, property_name, value }, args.make_unique)
        }
        (None, None, None, Some(writes)) => many(root, writes, args.make_unique),
        _ => Err(refuse::invalid("target_node", WHICH)),
    }
}

fn one(root: Gd<Node>, write: Write, make_unique: bool) -> Planned {
    let name = format!("Set {}", write.property_name);
    let ready = write::plan(&root, write, make_unique, &mut Declarations::default())?;
    Ok(Change::now(ready.before()?, move |before| {
        let beside = commit(&root, &name, std::slice::from_ref(&ready))?;
        Ok(edit::done(with_beside(ready.outcome(before)?, &beside)))
    }))
}

fn many(root: Gd<Node>, writes: Vec<Write>, make_unique: bool) -> Planned {
    let ready = plan_all(&root, writes, make_unique)?;
    let before: Vec<Value> = ready.iter().map(Ready::before).collect::<Result<_, _>>()?;
    Ok(Change::now(json!({ "writes": before }), move |mut before| {
        let beside = commit(&root, &format!("Set {} properties", ready.len()), &ready)?;
        let outcome = |(at, write): (usize, &Ready)| write.outcome(before["writes"][at].take());
        let outcomes: Vec<Value> =
            ready.iter().enumerate().map(outcome).collect::<Result<_, _>>()?;
        Ok(edit::done(with_beside(json!({ "writes": outcomes }), &beside)))
    }))
}

fn plan_all(
    root: &Gd<Node>,
    writes: Vec<Write>,
    make_unique: bool,
) -> Result<Vec<Ready>, BridgeError> {
    if !(1..=MAX_WRITES).contains(&writes.len()) {
        return Err(refuse::invalid("writes", format!("1 to {MAX_WRITES} writes are taken")));
    }
    let (mut ready, mut known) = (vec![], Declarations::default());
    for (index, write) in writes.into_iter().enumerate() {
        let at = |error: BridgeError| error.with("index", index).with("field", "writes");
        ready.push(write::plan(root, write, make_unique, &mut known).map_err(at)?);
    }
    write::check_overlaps(&ready)?;
    Ok(ready)
}

/// Says which properties became others beside those that were written.
fn with_beside(mut told: Value, beside: &[Beside]) -> Value {
    let names: BTreeSet<&str> = beside.iter().flat_map(Beside::names).collect();
    if !names.is_empty() {
        let shown: Vec<&str> = names.iter().take(MAX_BESIDE).copied().collect();
        told["also_changed_truncated"] = (shown.len() < names.len()).into();
        told["also_changed"] = json!(shown);
    }
    told
}

fn commit(root: &Gd<Node>, name: &str, ready: &[Ready]) -> Result<Vec<Beside>, BridgeError> {
    let mut action = Edit::begin(name, root)?;
    for write in ready {
        write.add_do(&mut action);
    }
    // Undone last first, so that of two writes to one place the older value comes back.
    for write in ready.iter().rev() {
        write.add_undo(&mut action);
    }
    Ok(action.commit())
}

/// `null` is a value, an absent member is none.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}
