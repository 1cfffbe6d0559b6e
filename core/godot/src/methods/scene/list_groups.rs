//! `scene.listGroups`: the groups that a node is in.

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::json;

use super::groups;
use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let node = node_path::edited(&args.target_node)?;
    Ok(json!({
        "status": "success",
        "target_node": args.target_node,
        "groups": groups::of(&node),
    }))
}
