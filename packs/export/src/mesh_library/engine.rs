//! The engine's part: a script beside its request in the scratch folder, and what came of it.
//!
//! What the script found is read from a file and not from the output, which the project's own scripts write
//! into as well.
//!
//! Spec: P-56, mesh libraries.
#![allow(clippy::disallowed_methods, reason = "writes into the scratch folder of its own call")]

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use didi_plugin_api::prelude::*;

use super::{Args, MAX_LIBRARY_BYTES, MAX_TIMEOUT_SECONDS, Plan};

const SCRIPT: &str = include_str!("convert.gd");
/// Bytes of the engine's output that are read.
const OUTPUT_BYTES: usize = 1 << 20;
/// Lines of it that a refusal carries.
const MAX_LINES: usize = 40;
/// Characters of one line.
const MAX_LINE_CHARS: usize = 400;
/// Largest note of the script, in bytes.
const MAX_RESULT_BYTES: u64 = 8 << 20;
/// Children without a mesh that are named.
const MAX_SKIPPED: usize = 32;

/// A library that the engine made and loaded again.
pub(super) struct Made {
    pub(super) bytes: Vec<u8>,
    pub(super) item_count: u64,
    pub(super) skipped: Vec<String>,
    pub(super) ran_ms: u64,
}

/// What the script wrote down.
#[derive(Deserialize)]
struct Note {
    #[serde(default)]
    item_count: Option<f64>,
    #[serde(default)]
    skipped: Vec<String>,
    #[serde(default)]
    failed: Option<String>,
    #[serde(default)]
    why: Option<String>,
}

pub(super) fn convert(ctx: &Ctx<'_>, args: &Args, plan: &Plan) -> Result<Made, Refusal> {
    let folder = ctx.scratch_folder()?;
    let request = json!({
        "scene": plan.scene.res_path(), "output": plan.output.res_path(),
        "replaces": plan.output.is_file(), "collisions": args.generate_collisions
    });
    put(&folder.join("convert.gd"), SCRIPT)?;
    put(&folder.join("request.json"), &request.to_string())?;
    let ran = ctx.run_child(&ChildSpec {
        program: None,
        args: vec![
            "--headless".into(),
            "--path".into(),
            ctx.project().root().folder().to_string_lossy().into_owned(),
            "-s".into(),
            folder.join("convert.gd").to_string_lossy().into_owned(),
        ],
        env: vec![],
        folder: None,
        timeout_ms: args.timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    })?;
    if ran.timed_out {
        return Err(timed_out(args.timeout_seconds));
    }
    let note = get(&folder.join("result.json"), MAX_RESULT_BYTES).ok();
    let Some(note) = note.and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok()) else {
        return Err(failed(&ran, "the engine ended before the library was made"));
    };
    if note.failed.as_deref() == Some("empty") {
        return Err(no_meshes(plan, note.skipped));
    }
    let why = note.why.as_deref().unwrap_or("the engine made no library");
    let count = note.item_count.filter(|count| *count >= 1.0 && ran.exit_code == Some(0));
    let Some(count) = count else { return Err(failed(&ran, why)) };
    let bytes = get(&folder.join("made.meshlib"), MAX_LIBRARY_BYTES)
        .map_err(|why| failed(&ran, &format!("the library that was made can't be read: {why}")))?;
    let mut skipped = note.skipped;
    skipped.truncate(MAX_SKIPPED);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small count that the engine's JSON gives as a float"
    )]
    let item_count = count as u64;
    Ok(Made { bytes, item_count, skipped, ran_ms: ran.ran_ms })
}

fn put(file: &Path, text: &str) -> Result<(), Refusal> {
    fs::write(file, text).map_err(|error| {
        let message = format!("the scratch folder can't be written: {error}");
        Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the system has no room for it")
    })
}

fn get(file: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    let opened = File::open(file).map_err(|error| error.to_string())?;
    opened.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max_bytes {
        return Err(format!("it is larger than {max_bytes} bytes"));
    }
    Ok(bytes)
}

fn timed_out(seconds: u64) -> Refusal {
    let message = format!("the library was not made within {seconds} s");
    let refusal = Refusal::new(codes::TIMEOUT, message).with("timed_out", true);
    if seconds < MAX_TIMEOUT_SECONDS {
        let longer = (seconds * 3).min(MAX_TIMEOUT_SECONDS);
        return refusal.retry_with(json!({ "timeout_seconds": longer }));
    }
    refusal.no_remedy("it has had the longest time that it may take")
}

fn no_meshes(plan: &Plan, mut skipped: Vec<String>) -> Refusal {
    let shown = plan.scene.res_path();
    let message =
        format!("no direct child of the root of `{shown}` holds a mesh, so no item is made");
    skipped.truncate(MAX_SKIPPED);
    Refusal::new(codes::UNPROCESSABLE, message)
        .with("skipped_children", skipped)
        .field("source_scene")
}

fn failed(ran: &ChildReport, why: &str) -> Refusal {
    let said: Vec<String> = ran
        .lines
        .iter()
        .map(|line| line.text.chars().take(MAX_LINE_CHARS).collect::<String>())
        .filter(|line| !line.trim().is_empty())
        .collect();
    let tail = said[said.len().saturating_sub(MAX_LINES)..].to_vec();
    Refusal::new(codes::INTERNAL_ERROR, format!("no library was made: {why}"))
        .with("engine_output", tail)
        .with("exit_code", ran.exit_code)
        .no_remedy("the engine's own output says what is wrong in the scene or the project")
}
