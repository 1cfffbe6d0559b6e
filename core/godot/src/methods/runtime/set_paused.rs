//! `runtime.setPaused`: stops and resumes the game's time. Input that was held goes out on resuming.

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::json;

use super::held_input;
use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    paused: bool,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let mut tree = node_path::scene_tree()?;
    tree.set_pause(args.paused);
    let released = if args.paused { 0 } else { held_input::release() };
    Ok(json!({ "paused": tree.is_paused(), "released_input_events": released }))
}
