//! `unity_editor_status`: whether an instance takes commands, and which dialogs are in the way.
//!
//! Both are served without the engine's main thread, so they answer while a dialog blocks it.

use didi_plugin_api::{
    pipeline::{Instance, Question},
    prelude::*,
};

use crate::ask::{CODES, Cutter, glance, look};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or folder; else the only one that runs.
    #[schemars(length(max = 1024))]
    instance: Option<String>,
    /// Play mode, compilation and the like, too; waits behind running commands.
    #[serde(default)]
    details: bool,
}

#[derive(Serialize)]
struct Out {
    instance: Instance,
    ready: bool,
    /// Its own word: `ready`, `settling`, `blocked_by_dialog`.
    status: String,
    dialogs: Value,
    said: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "unity_editor_status",
        "Tells whether a Unity instance is ready for commands, and shows the dialogs that block it. Use before \
         unity_run_command, and after a lost answer.",
        Effects::READS,
        run,
    )
    .bounded("16 KiB for each part")
    .refuses(&CODES)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let said = look(ctx, args.instance.as_deref(), Question::Status)?;
    // Players and older editors have no such endpoint.
    let dialogs = glance(ctx, &said.instance, Question::Dialog);
    let dialogs = match dialogs {
        Some(mut told) => told["dialogs"].take(),
        None => said.body.get("dialog").map_or_else(|| json!([]), |one| json!([one])),
    };
    let details = args
        .details
        .then(|| look(ctx, Some(&said.instance.folder), Question::EditorStatus))
        .transpose()?;
    let mut cutter = Cutter::default();
    let status = cutter.text(said.body["status"].as_str().unwrap_or("unknown"));
    let answer = Answer::of(Out {
        ready: status == "ready",
        status,
        dialogs: cutter.aside(dialogs),
        said: cutter.aside(said.body),
        details: details.map(|details| cutter.aside(details.body)),
        instance: said.instance,
    })?;
    Ok(answer.truncated(cutter.has_cut))
}
