//! `tilemap.getUsedRect`: the rectangle around all cells that hold a tile.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::{
    json,
    methods::{Context, tilemap},
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    tilemap_path: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let rect = tilemap::layer(&args.tilemap_path)?.get_used_rect();
    Ok(json!({
        "tilemap_path": args.tilemap_path,
        "position": json::write(&rect.position.to_variant())?,
        "size": json::write(&rect.size.to_variant())?,
        "end": json::write(&rect.end().to_variant())?,
    }))
}
