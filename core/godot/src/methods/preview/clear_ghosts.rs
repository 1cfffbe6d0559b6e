//! `preview.clearGhosts`: takes one batch of ghosts away, or all.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use super::{clear, live_shapes};
use crate::{
    methods::Context,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    preview_id: Option<String>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let (batches, shapes) = clear(args.preview_id.as_deref());
    if let Some(id) = args.preview_id.filter(|_| batches == 0) {
        return Err(BridgeError::new(404, "not_found", format!("there is no preview `{id}`"))
            .with("field", "preview_id")
            .with("no_remedy", "it was cleared already, or never drawn"));
    }
    Ok(json!({
        "cleared_previews": batches,
        "cleared_shapes": shapes,
        "live_shapes": live_shapes(),
        "scene_modified": false,
    }))
}
