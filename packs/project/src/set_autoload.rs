//! `project_set_autoload`: has the project load a script or scene before its first scene.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

use crate::list_autoloads;

#[cfg(test)]
mod tests;

const METHOD: &str = "project.setAutoload";
const EDITOR: &[SessionKind] = &[SessionKind::Editor];

/// `project.godot` can't be written.
pub(crate) const FILE_NOT_WRITABLE: Code = Code::new(409, "project_file_not_writable");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    name: String,
    /// A script or scene.
    #[schemars(length(min = 1, max = 1024))]
    path: String,
    #[serde(default = "yes")]
    singleton: bool,
    #[serde(default)]
    replace: bool,
}

fn yes() -> bool {
    true
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_set_autoload",
        "Adds or replaces an autoload in project.godot.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .live(EDITOR, &[METHOD, list_autoloads::METHOD])
    .preview(preview)
    .leaves(&[Work::Restart])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::ALREADY_EXISTS,
        FILE_NOT_WRITABLE,
    ])
}

/// The autoload of that name, and a file that is there.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    if !Target::file(&ctx.project().resolve(&args.path, "path")?)?.exists {
        let message = format!("there is no script or scene `{}`", args.path);
        return Err(Refusal::new(codes::NOT_FOUND, message).floor());
    }
    let said = ctx.bridge_call(list_autoloads::METHOD, json!({}))?;
    let listed = said["autoloads"].as_array().into_iter().flatten();
    let now = listed.into_iter().find(|one| one["name"] == args.name.as_str()).cloned();
    if now.is_some() && !args.replace {
        let message = format!("there is an autoload `{}` already", args.name);
        return Err(Refusal::new(codes::ALREADY_EXISTS, message)
            .with("existing", now)
            .retry_with(json!({"replace": true})));
    }
    let after = json!({"name": args.name, "path": args.path, "singleton": args.singleton});
    let subject = format!("autoload/{}", args.name);
    Ok(Target::read(subject, now.is_some(), now.into()).after(after))
}
