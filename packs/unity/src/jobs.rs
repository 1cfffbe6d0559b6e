//! `unity_job_status` and `unity_job_cancel`: commands that were sent off as jobs.
//!
//! An instance forgets its jobs when it loads its code anew, so one that it does not know may have run.

use didi_plugin_api::{
    pipeline::{Question, inner_failure},
    prelude::*,
};

use crate::ask::{CODES, Cutter, LOOK_MS, Said, ask, refused, unknown};

/// Largest result of a job that is answered whole, in bytes.
const MAX_RESULT_BYTES: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or folder; else the only one that runs.
    #[schemars(length(max = 1024))]
    instance: Option<String>,
    /// From `unity_run_command`.
    #[schemars(length(min = 1, max = 256))]
    job_id: String,
}

pub(crate) fn status() -> Tool {
    Tool::new(
        "unity_job_status",
        "Tells where a job of a Unity instance stands, and its result when it has ended.",
        Effects::READS,
        |ctx, args: Args| {
            let question = Question::Job { id: args.job_id.clone() };
            answer(ask(ctx, args.instance.as_deref(), question, LOOK_MS)?, &args.job_id)
        },
    )
    .bounded("64 KiB of result")
    .refuses(&CODES)
}

pub(crate) fn cancel() -> Tool {
    // What a job was doing is left where it was.
    let effects = Effects { open_world: true, ..Effects::SETS };
    Tool::new(
        "unity_job_cancel",
        "Cancels a job of a Unity instance: a queued one never starts, a running one is asked to stop.",
        effects,
        |ctx, args: Args| {
            let question = Question::JobCancel { id: args.job_id.clone() };
            answer(ask(ctx, args.instance.as_deref(), question, LOOK_MS)?, &args.job_id)
        },
    )
    .bounded("64 KiB of result")
    .refuses(&CODES)
}

fn answer(said: Said, id: &str) -> ToolResult {
    if said.status == 404 {
        return Err(unknown(&said.instance, "forgotten", &format!("the job `{id}` is not known")));
    }
    if said.status != 200 || !said.body.is_object() {
        return Err(refused(&said));
    }
    let Said { instance, mut body, .. } = said;
    let mut cutter = Cutter::default();
    let failure = inner_failure(&body["result"]).map(|inner| cutter.text(&inner.message));
    let state = cutter.text(body["state"].as_str().unwrap_or("unknown"));
    let ended = matches!(state.as_str(), "completed" | "failed" | "canceled");
    let answer = Answer::of(json!({
        "instance": instance.name,
        "job_id": id,
        "state": state,
        "ended": ended,
        "succeeded": ended.then_some(state == "completed" && failure.is_none()),
        "inner_failure": failure,
        "result": cutter.to(MAX_RESULT_BYTES, body["result"].take()),
        "error": cutter.aside(body["error"].take()),
        "error_details": cutter.aside(body["errorDetails"].take()),
        "progress": cutter.aside(body["progress"].take()),
        "cancellation_requested": body["cancellationRequested"] == true,
    }))?;
    Ok(answer.truncated(cutter.has_cut))
}
