//! `export.reloadPresets`: would have the editor read `export_presets.cfg` anew, which was written behind it.
//!
//! The engine has no call for that. It reads the file again when an export platform comes or goes, but doing that on
//! purpose has ended an editor with a damaged heap (decision 0016), so the way out that is told is a restart.

use didi_engine::Answer;
use didi_wire::BridgeError;

use crate::{
    methods::Context,
    params::{self, Params},
};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args {} = params::read(params)?;
    let message = "an open editor has no safe way to read its export presets anew";
    Err(BridgeError::new(501, "not_implemented", message)
        .with("restart_with", "the editor, which reads the file when it starts"))
}
