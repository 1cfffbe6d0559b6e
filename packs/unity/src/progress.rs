//! `unity_command_progress`: how far the command is that an instance runs now.

use didi_plugin_api::{pipeline::Question, prelude::*};

use crate::ask::{CODES, Cutter, look};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or folder; else the only one that runs.
    #[schemars(length(max = 1024))]
    instance: Option<String>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "unity_command_progress",
        "Tells how far the command is that a Unity instance runs now. Use while a long command or job runs.",
        Effects::READS,
        run,
    )
    .bounded("16 KiB of progress")
    .refuses(&CODES)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let mut said = look(ctx, args.instance.as_deref(), Question::Progress)?;
    let mut cutter = Cutter::default();
    let answer = Answer::of(json!({
        "instance": said.instance.name,
        "active": said.body["active"] == true,
        "progress": cutter.aside(said.body["progress"].take()),
    }))?;
    Ok(answer.truncated(cutter.has_cut))
}
