//! `editor.reloadProject`: has the editor read the project's files anew, within the call or after it.

use std::time::{Duration, Instant};

use didi_engine::{Task, server::RELOAD};
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use crate::{
    background,
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::{Scan, Until},
};

/// How long a call waits.
const LIMIT: Duration = Duration::from_secs(12);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Asks for an answer at once, and for the work to take at most so long after it.
    detach_timeout_ms: Option<u64>,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let Some(detached) = args.detach_timeout_ms else { return Ok(scan(LIMIT)) };
    if background::is_busy() {
        let error = refuse::conflict("editor_import_busy", "another import or scan goes on");
        return Err(error.with("retry_after_ms", 2000));
    }
    let kept_in = context.shared.reloads.clone();
    let id = kept_in.accept(Instant::now())?;
    background::go_on(id.clone(), kept_in, RELOAD, scan(Duration::from_millis(detached)));
    let mut accepted = Some(Ok(json!({ "status": "accepted", "reload_id": id })));
    Ok(Until::boxed(LIMIT, late, move || accepted.take()))
}

/// Begins a scan once none runs, and waits until it was applied.
fn scan(limit: Duration) -> Box<dyn Task> {
    let mut scan = Scan::default();
    Until::boxed(limit, late, move || {
        scan.is_applied().then(|| Ok(json!({ "scan_applied": true })))
    })
}

fn late() -> BridgeError {
    BridgeError::new(504, "editor_scanning", "the editor is still reading the project")
        .with("scan_applied", false)
        .with("outcome", "pending")
        .with("retry_after_ms", 2000)
}
