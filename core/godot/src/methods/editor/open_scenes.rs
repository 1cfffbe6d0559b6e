//! `editor.openScenes`: the scenes in the editor's tabs.

use didi_engine::Answer;
use serde_json::json;

use crate::{
    methods::{Context, editor},
    params::Params,
};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let (readable, unsaved) = editor::unsaved_scenes();
    Ok(json!({
        "open_scenes": editor::open_scenes(),
        "unsaved_scenes_readable": readable,
        "unsaved_scenes": unsaved,
    }))
}
