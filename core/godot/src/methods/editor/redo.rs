//! `editor.redo`: one step forth, as the editor's own Redo makes it.

use didi_engine::Answer;
use serde_json::json;

use super::steps::{self, Direction};
use crate::{methods::Context, params::Params};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let stepped = steps::step(Direction::Forth)?;
    Ok(json!({
        "history": stepped.history,
        "redone": stepped.action,
        "observed": stepped.observed(),
        "limitation": "redo changes the open scene and not its file; save the scene to keep it",
    }))
}
