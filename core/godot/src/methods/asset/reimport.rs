//! `asset.reimport`: has the editor import files anew, within the call or as work that goes on after it.

use std::{
    fs,
    time::{Duration, Instant},
};

use didi_engine::{Answer, Task, server::REIMPORT};
use didi_wire::BridgeError;
use godot::{
    classes::{EditorFileSystem, ProjectSettings},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    background,
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::{self, Scan, Until},
};

/// Most files of one call.
const MAX_PATHS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    paths: Vec<String>,
    #[serde(default = "ten_seconds")]
    timeout_ms: u64,
    /// Asks for an answer at once, and for the work to take at most so long after it.
    detach_timeout_ms: Option<u64>,
}

fn ten_seconds() -> u64 {
    10_000
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    check(&args.paths)?;
    if background::is_busy() {
        let error = refuse::conflict("asset_reimport_active", "another import or scan goes on");
        return Err(error.with("retry_after_ms", 1000));
    }
    let limit = Duration::from_millis(args.detach_timeout_ms.unwrap_or(args.timeout_ms));
    let work = work(args.paths, limit);
    if args.detach_timeout_ms.is_none() {
        return Ok(work);
    }
    let kept_in = context.shared.reimports.clone();
    let id = kept_in.accept(Instant::now())?;
    background::go_on(id.clone(), kept_in, REIMPORT, work);
    let accepted = json!({ "status": "accepted", "reimport_id": id });
    let mut accepted = Some(Ok(accepted));
    Ok(Until::boxed(limit, late, move || accepted.take()))
}

/// Every path has to be a file of the project.
fn check(paths: &[String]) -> Result<(), BridgeError> {
    if !(1..=MAX_PATHS).contains(&paths.len()) {
        return Err(refuse::invalid("paths", format!("1 to {MAX_PATHS} files are taken")));
    }
    let missing: Vec<&String> =
        paths.iter().filter(|path| !path.starts_with("res://") || !is_file(path)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("{} of the files are not there", missing.len());
    let reason = "lists the files there are";
    Err(refuse::not_found(message, "project_list_resources", reason)
        .with("field", "paths")
        .with("missing", json!(missing)))
}

/// Waits for the editor's index, imports, and says what became of each file.
fn work(paths: Vec<String>, limit: Duration) -> Box<dyn Task> {
    // A file that was written behind the editor is in its index after a scan, and imported by it.
    let mut scan: Option<Scan> = None;
    Until::boxed(limit, late, move || {
        let mut files = waiting::file_system()?;
        if let Some(scan) = &mut scan {
            if !scan.is_applied() {
                return None;
            }
        } else if files.is_scanning() {
            return None;
        } else if paths.iter().any(|path| is_unknown(&files, path)) {
            scan = Some(Scan::default());
            return None;
        }
        Some(passed_over(&files, &paths).and_then(|()| import(&mut files, &paths)))
    })
}

/// Whether the editor does not know of a file, or not yet. Settings beside it say nothing: another editor may have made
/// them.
fn is_unknown(files: &Gd<EditorFileSystem>, path: &str) -> bool {
    files.get_file_type(path).is_empty()
}

/// Refuses files with import settings that the editor does not list though it looked: it would not import them, and
/// not say so.
fn passed_over(files: &Gd<EditorFileSystem>, paths: &[String]) -> Result<(), BridgeError> {
    let is_passed_over = |path: &&String| is_unknown(files, path) && has_sidecar(path);
    let missing: Vec<&String> = paths.iter().filter(is_passed_over).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the editor does not list {} of the files, as below a folder with a `.gdignore`",
        missing.len()
    );
    Err(refuse::conflict("asset_not_indexed", message)
        .with("field", "paths")
        .with("missing", json!(missing))
        .with("outcome", "not_imported"))
}

fn import(files: &mut Gd<EditorFileSystem>, paths: &[String]) -> Answer {
    let (with, without): (Vec<&String>, Vec<&String>) =
        paths.iter().partition(|path| has_sidecar(path));
    if !with.is_empty() {
        let list: PackedStringArray =
            with.iter().map(|path| GString::from(path.as_str())).collect();
        files.reimport_files(&list);
    }
    for path in &without {
        files.update_file(path.as_str());
    }
    let failed: Vec<&&String> = with.iter().filter(|path| !is_valid(path)).collect();
    let (imported, plain): (Vec<&String>, Vec<&String>) =
        without.into_iter().partition(|path| has_sidecar(path));
    let (refreshed, announced): (Vec<&String>, Vec<&String>) =
        plain.into_iter().partition(|path| !files.get_file_type(path.as_str()).is_empty());
    if !failed.is_empty() {
        let message = format!("{} of the files could not be imported", failed.len());
        let outcome =
            if failed.len() == paths.len() { "not_imported" } else { "partially_imported" };
        return Err(BridgeError::new(422, "asset_import_failed", message)
            .with("field", "paths")
            .with("failed", json!(failed))
            .with("imported", json!(imported))
            .with("announced", json!(announced))
            .with("outcome", outcome));
    }
    Ok(json!({
        "reimported": with,
        "refreshed": refreshed,
        "imported": imported,
        "announced": announced,
        "limitation": "a resource that something holds already keeps what it was made from",
    }))
}

fn on_disk(path: &str) -> String {
    ProjectSettings::singleton().globalize_path(path).to_string()
}

fn is_file(path: &str) -> bool {
    fs::metadata(on_disk(path)).is_ok_and(|found| found.is_file())
}

/// Whether the editor has import settings for the file.
fn has_sidecar(path: &str) -> bool {
    is_file(&format!("{path}.import"))
}

/// Whether the last import went well, as its own record says.
fn is_valid(path: &str) -> bool {
    let text = fs::read_to_string(on_disk(&format!("{path}.import"))).unwrap_or_default();
    !text.lines().any(|line| line.trim() == "valid=false")
}

fn late() -> BridgeError {
    let scanning = waiting::file_system().is_some_and(|files| files.is_scanning());
    let (code, message) = if scanning {
        ("editor_scanning", "the editor is still reading the project")
    } else {
        ("reimport_idle_timeout", "the editor did not import in time")
    };
    BridgeError::new(504, code, message)
        .with("editor_scanning", scanning)
        .with("outcome", "not_imported")
        .with("field", "request_id")
        .with("retry_with", json!({ "timeout_ms": 10_000 }))
        .with("session_kind", Value::from("editor"))
}
