//! `script_attach_to_node`: gives a node of the open scene a script.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

const METHOD: &str = "script.attachToNode";
/// Reads a node, for the preview.
const HIERARCHY: &str = "scene.getHierarchy";
const EDITOR: &[SessionKind] = &[SessionKind::Editor];

/// The node has a script.
const ALREADY_ATTACHED: Code = Code::new(409, "script_already_attached");
/// The script extends another class than the node's.
const BASE_INCOMPATIBLE: Code = Code::new(422, "script_base_incompatible");
/// The engine did not take the script.
const ASSIGNMENT_REJECTED: Code = Code::new(409, "script_assignment_rejected");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    script_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "script_attach_to_node",
        "Gives a node of the open scene an existing script. Undoable.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .live(EDITOR, &[METHOD, HIERARCHY])
    .preview(preview)
    .leaves(&[Work::Save])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NODE_NOT_OWNED,
        codes::NOT_FOUND,
        ALREADY_ATTACHED,
        BASE_INCOMPATIBLE,
        ASSIGNMENT_REJECTED,
    ])
}

/// The node as it is, and a script that is there.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let script = Target::file(&ctx.project().resolve(&args.script_path, "script_path")?)?;
    if !script.exists {
        let message = format!("there is no script `{}`", args.script_path);
        return Err(Refusal::new(codes::NOT_FOUND, message).floor());
    }
    let params = json!({"root_path": args.target_node, "max_depth": 0});
    let mut said = ctx.bridge_call(HIERARCHY, params)?;
    let before = json!({"node": said["scene_tree"].take(), "script": script.before});
    Ok(Target::read(args.target_node, true, before))
}

#[cfg(test)]
mod tests;
