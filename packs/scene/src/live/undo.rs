//! `editor_undo`: one step back, as the editor's own Undo makes it; on demand the step of one entry of the journal.
//!
//! The journal says which step of which history a change gained. The editor takes back only its newest step, so an
//! entry with later steps on top of it is refused, and so is one of an editor that has ended since.
//!
//! Spec: P-13, the change journal; P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "editor.undo";

/// No history has a step in this direction.
pub(super) const NOTHING_TO_UNDO: Code = Code::new(409, "nothing_to_undo");
/// The editor did not make the step.
pub(super) const UNDO_FAILED: Code = Code::new(500, "undo_failed");
/// Later steps stand on top of it.
const LATER_HISTORY: Code = Code::new(409, "undo_entry_later_history");
/// The history that holds it is not the one in front.
const BLOCKED: Code = Code::new(409, "undo_entry_blocked");
/// It was taken back already.
const UNDONE: Code = Code::new(409, "undo_entry_undone");
/// The editor that held it has ended.
const GONE: Code = Code::new(409, "undo_entry_gone");
/// The change has no step in a history.
const NOT_UNDOABLE: Code = Code::new(409, "journal_entry_not_undoable");
/// The change made several steps.
const MULTI_STEP: Code = Code::new(409, "journal_entry_multi_step");
/// Another step was taken back than the one meant.
const MISDIRECTED: Code = Code::new(500, "undo_entry_misdirected");
/// The reference names no step.
const INVALID_REFERENCE: Code = Code::new(409, "invalid_undo_reference");
/// The journal has no entry of this name.
const ENTRY_NOT_FOUND: Code = Code::new(404, "journal_entry_not_found");
/// The journal's file is not what this server writes.
const UNREADABLE: Code = Code::new(409, "journal_unreadable");
/// The journal was written by a later version.
const FORMAT_NEWER: Code = Code::new(409, "journal_format_newer");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// An entry's id in godot://project/journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    journal_entry: Option<String>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "editor_undo",
        "Makes the editor's own Undo; with an entry of the change journal only if that is the newest step.",
        Effects::CHANGES,
        run,
    )
    .modes(&[Mode::Live])
    .live(EDITOR, &[METHOD])
    .preview(preview)
    .leaves(&[Work::Save])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        NOTHING_TO_UNDO,
        UNDO_FAILED,
        LATER_HISTORY,
        BLOCKED,
        UNDONE,
        GONE,
        NOT_UNDOABLE,
        MULTI_STEP,
        MISDIRECTED,
        INVALID_REFERENCE,
        ENTRY_NOT_FOUND,
        UNREADABLE,
        FORMAT_NEWER,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let Some(id) = args.journal_entry else { return answer(ctx.bridge_call(METHOD, json!({}))?) };
    let step = step_of(ctx, &id)?;
    let mut said = ctx.bridge_call(METHOD, json!({ "journal_entry": step }))?;
    if said["undone"] != step["action"] {
        let message =
            format!("the editor took back {} where {} was meant", said["undone"], step["action"]);
        return Err(Refusal::new(MISDIRECTED, message)
            .with("undone", said["undone"].take())
            .next_call("editor_redo", "makes the step again that was taken back by mistake"));
    }
    said["journal_entry"] = id.into();
    answer(said)
}

/// The entry's step, judged as far as the journal can tell.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let Some(id) = args.journal_entry else {
        let mut newest = Target::read("the newest step", true, Value::Null);
        newest.resolved_only = true;
        return Ok(newest);
    };
    let step = step_of(ctx, &id)?;
    Ok(Target::read(id, true, step))
}

/// The one step that a change gained in the history of an editor that still runs.
fn step_of(ctx: &Ctx<'_>, id: &str) -> Result<Value, Refusal> {
    let entry = ctx.journal_entry(id)?;
    let undo = &entry["undo"];
    let Some(steps) = undo["steps"].as_array() else {
        return Err(Refusal::new(NOT_UNDOABLE, format!("`{id}` has no step in a history"))
            .no_remedy("a change of files is not taken back by the editor's Undo"));
    };
    let [step] = steps.as_slice() else {
        let message = format!("`{id}` made {} steps, and one is taken back at a time", steps.len());
        return Err(Refusal::new(MULTI_STEP, message)
            .with("steps", steps.clone())
            .next_call("editor_undo", "without an entry, once for each step"));
    };
    if undo["session_id"].as_str() != ctx.runtime_session_id().as_deref() {
        return Err(Refusal::new(
            GONE,
            format!("`{id}` was made in another session of the editor"),
        )
        .no_remedy("an editor's histories end with it"));
    }
    if !step["version"].is_u64() {
        return Err(Refusal::new(INVALID_REFERENCE, format!("`{id}` names no step of a history"))
            .no_remedy("the entry was not written as a change is"));
    }
    Ok(step.clone())
}

/// What the editor said. A step of the scene's history leaves its file as it was.
pub(super) fn answer(said: Value) -> ToolResult {
    let of_scene = said["history"] == "scene" && said.get("scene_saved").is_none();
    let answer = Answer::of_engine(said)?;
    Ok(if of_scene { answer.fact(Fact::SceneSaved(false)) } else { answer })
}
