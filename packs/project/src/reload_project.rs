//! `editor_reload_project`: has the editor read the project's files anew, and waits until it has.
//!
//! Spec: P-8, jobs; P-50, settings.

use didi_plugin_api::prelude::*;

use crate::detached::Detached;

const WORK: Detached =
    Detached { begin: "editor.reloadProject", status: "editor.reloadStatus", id: "reload_id" };

/// Longest wait of a call, and of a job, in milliseconds.
const CALL_MS: u64 = 12_000;
const JOB_MS: u64 = 300_000;

/// Nobody asked for the work for too long.
const UNREAD: Code = Code::new(504, "reload_unread");
/// The editor keeps no such work.
const RELOAD_NOT_FOUND: Code = Code::new(404, "reload_not_found");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "editor_reload_project",
        "Has the editor scan all files of the project, and answers once it has.",
        Effects::CHANGES,
        run,
    )
    .core()
    .modes(&[Mode::Live])
    .live(&[SessionKind::Editor], &[WORK.begin, WORK.status])
    .confirm(Confirmation::Always)
    .job()
    .refuses(&[
        codes::NOT_CONNECTED,
        codes::EDITOR_IMPORT_BUSY,
        codes::EDITOR_SCANNING,
        UNREAD,
        RELOAD_NOT_FOUND,
    ])
}

fn run(ctx: &Ctx<'_>, Args {}: Args) -> ToolResult {
    let limit_ms = if ctx.is_job() { JOB_MS } else { CALL_MS };
    WORK.run(ctx, json!({}), limit_ms, || {
        Refusal::new(
            codes::EDITOR_SCANNING,
            "the editor does not tell that it has read the project",
        )
        .with("scan_applied", false)
        .with("outcome", "pending")
        .retry_after_ms(2000)
    })
}
