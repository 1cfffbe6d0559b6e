//! `asset_reimport`: has the editor import files anew, and waits until it has.
//!
//! Spec: P-8, jobs; P-50, settings.

use didi_plugin_api::prelude::*;

use crate::detached::Detached;

#[cfg(test)]
mod tests;

pub(crate) const WORK: Detached =
    Detached { begin: "asset.reimport", status: "asset.reimportStatus", id: "reimport_id" };

/// Longest wait of a call, and the usual one of a job, in milliseconds.
const CALL_MS: u64 = 10_000;
const JOB_MS: u64 = 300_000;

/// The editor could not import a file.
pub(crate) const IMPORT_FAILED: Code = Code::new(422, "asset_import_failed");
/// The editor's index has no such file.
pub(crate) const NOT_INDEXED: Code = Code::new(409, "asset_not_indexed");
/// Another import goes on.
pub(crate) const REIMPORT_ACTIVE: Code = Code::new(409, "asset_reimport_active");
/// The editor did not come to it in time.
pub(crate) const IDLE_TIMEOUT: Code = Code::new(504, "reimport_idle_timeout");
/// So long a wait takes a job.
const NEEDS_JOB: Code = Code::new(400, "reimport_needs_job");
/// Nobody asked for the work for too long.
pub(crate) const UNREAD: Code = Code::new(504, "reimport_unread");
/// The editor keeps no such work.
pub(crate) const REIMPORT_NOT_FOUND: Code = Code::new(404, "reimport_not_found");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256), inner(length(min = 7, max = 1024)))]
    #[schemars(extend("uniqueItems" = true))]
    paths: Vec<String>,
    /// More than 10000 needs `request_id`.
    #[schemars(range(min = 1, max = 900_000), extend("default" = CALL_MS))]
    timeout_ms: Option<u64>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "asset_reimport",
        "Has the editor import source files anew, or take new ones up, and waits until it is done.",
        Effects::CHANGES,
        run,
    )
    .core()
    .modes(&[Mode::Live])
    .live(&[SessionKind::Editor], &[WORK.begin, WORK.status])
    .preview(preview)
    .job()
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::EDITOR_IMPORT_BUSY,
        codes::EDITOR_SCANNING,
        IMPORT_FAILED,
        NOT_INDEXED,
        REIMPORT_ACTIVE,
        IDLE_TIMEOUT,
        NEEDS_JOB,
        UNREAD,
        REIMPORT_NOT_FOUND,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let limit_ms = limit_ms(ctx.is_job(), args.timeout_ms)?;
    files(ctx, &args.paths)?;
    WORK.run(ctx, json!({ "paths": args.paths }), limit_ms, || {
        Refusal::new(IDLE_TIMEOUT, "the editor does not tell how the import ended")
            .with("outcome", "unknown_outcome")
            .field("request_id")
    })
}

/// How long the import may take: a caller waits for ten seconds at the most, a job longer.
fn limit_ms(job: bool, asked: Option<u64>) -> Result<u64, Refusal> {
    match (job, asked) {
        (true, asked) => Ok(asked.unwrap_or(JOB_MS)),
        (false, Some(asked)) if asked > CALL_MS => {
            let message = format!("more than {CALL_MS} ms are waited for in a job alone");
            Err(Refusal::new(NEEDS_JOB, message).field("request_id"))
        }
        (false, asked) => Ok(asked.unwrap_or(CALL_MS)),
    }
}

/// Every path is a file of the project; what is there of each.
fn files(ctx: &Ctx<'_>, paths: &[String]) -> Result<Vec<Value>, Refusal> {
    let mut found = vec![];
    for path in paths {
        let place = ctx.project().resolve(path, "paths")?;
        if place.res_path() != *path {
            let message = format!("`{path}` is written `{}` on the disk", place.res_path());
            return Err(Refusal::invalid("paths", message));
        }
        if !place.real().is_file() {
            let message = format!("there is no file `{path}`");
            return Err(Refusal::new(codes::NOT_FOUND, message).with("field", "paths").floor());
        }
        let sidecar = ctx.project().resolve(&format!("{path}.import"), "paths")?;
        found.push(json!({"path": path, "has_import_settings": sidecar.real().is_file()}));
    }
    Ok(found)
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let found = files(ctx, &args.paths)?;
    let subject = match args.paths.as_slice() {
        [one] => one.clone(),
        many => format!("{} files", many.len()),
    };
    Ok(Target::read(subject, true, found.into()))
}
