//! `runtime.stop`: asks the game to end with an exit code.

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::json;

use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    exit_code: u8,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let exit_code = args.exit_code;
    node_path::scene_tree()?.quit_ex().exit_code(exit_code.into()).done();
    Ok(json!({ "stop_requested": true, "exit_code": exit_code }))
}
