//! `editor_redo`: one step forth, as the editor's own Redo makes it.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes, undo};

const METHOD: &str = "editor.redo";

/// No history has a step in this direction.
const NOTHING_TO_REDO: Code = Code::new(409, "nothing_to_redo");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn tool() -> Tool {
    Tool::new("editor_redo", "Makes the editor's own Redo.", Effects::CHANGES, run)
        .modes(&[Mode::Live])
        .live(EDITOR, &[METHOD])
        .leaves(&[Work::Save])
        .refuses(&[codes::NOT_CONNECTED, undo::NOTHING_TO_UNDO, NOTHING_TO_REDO, undo::UNDO_FAILED])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    undo::answer(ctx.bridge_call(METHOD, args)?)
}
