//! `scene_open`: opens a scene in the editor.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "scene.open";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    scene_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_open",
        "Opens a scene in the editor, and answers once it is the edited one.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::ROUTE_DEADLINE_EXCEEDED,
    ])
}

/// The file stays as it is; that it is there is all that the preview has to know.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let mut found = Target::file(&ctx.project().resolve(&args.scene_path, "scene_path")?)?;
    if !found.exists {
        let message = format!("there is no scene `{}`", args.scene_path);
        return Err(Refusal::new(codes::NOT_FOUND, message).floor());
    }
    found.resolved_only = true;
    Ok(found)
}
