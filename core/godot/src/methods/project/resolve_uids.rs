//! `project.resolveUids`: uids to paths and paths to uids, as the engine knows them.

use didi_engine::Answer;
use godot::{
    classes::{ResourceLoader, ResourceUid},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Most questions of one call.
const MAX_QUERIES: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    queries: Vec<String>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args { queries } = params::read(params)?;
    if queries.len() > MAX_QUERIES {
        return Err(refuse::invalid("queries", format!("at most {MAX_QUERIES} are taken")));
    }
    let entries: Vec<Value> = queries.iter().map(|query| entry(query)).collect();
    Ok(json!({ "entries": entries }))
}

fn entry(query: &str) -> Value {
    let uids = ResourceUid::singleton();
    if query.starts_with("uid://") {
        let id = uids.text_to_id(query);
        let path = uids.has_id(id).then(|| uids.get_id_path(id).to_string());
        return json!({ "query": query, "found": path.is_some(), "uid": query, "path": path });
    }
    let id = ResourceLoader::singleton().get_resource_uid(query);
    let uid = (id >= 0).then(|| uids.id_to_text(id).to_string());
    json!({ "query": query, "found": uid.is_some(), "uid": uid, "path": query })
}
