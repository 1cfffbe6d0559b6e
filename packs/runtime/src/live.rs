//! Tools that a running game answers, some of them the editor, too: what they have in common.
//!
//! A file of this folder is one tool: its arguments with their bounds, its effects, its codes. What a bridge method
//! does is the engine extension's; the host carries the call there and back.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

mod control_debugger;
mod debugger;
mod eval_gdscript;
mod explore_scene;
mod get_call_stack;
mod get_tree;
mod inject_input;
mod read_logs;
mod read_output;
mod read_profiler;
mod set_paused;
mod step;
mod stop;
mod watch_invariants;

#[cfg(test)]
mod tests;

const GAME: &[SessionKind] = &[SessionKind::Game];
const BOTH: &[SessionKind] = &[SessionKind::Editor, SessionKind::Game];

/// The attached engine is an editor.
const SESSION_KIND_REJECTED: Code = Code::new(409, "session_kind_rejected");
/// The game holds as much input as it can.
const INPUT_QUEUE_FULL: Code = Code::new(409, "input_queue_full");

/// The tools, in listing order.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        read_logs::tool(),
        read_output::tool(),
        read_profiler::tool(),
        get_tree::tool(),
        eval_gdscript::tool(),
        set_paused::tool(),
        step::tool(),
        inject_input::tool(),
        watch_invariants::tool(),
        explore_scene::tool(),
        stop::tool(),
        get_call_stack::tool(),
        control_debugger::tool(),
    ]
}

/// Whether the game is paused, read for a preview.
fn pause_state(ctx: &Ctx<'_>) -> Result<Target, Refusal> {
    let mut said = ctx.bridge_call(get_tree::METHOD, json!({"max_depth": 0}))?;
    Ok(Target::read("the running game", true, json!({"paused": said["paused"].take()})))
}

/// An argument that can't be used.
fn invalid(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(codes::INVALID_ARGUMENTS, message).field(field)
}
