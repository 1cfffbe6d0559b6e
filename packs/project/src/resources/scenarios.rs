//! `godot://project/scenarios`: the last run of every scenario and test run, and whether it still holds.
//!
//! A record is `.didi/scenarios/<name>.json`. It names the files that it was made from under `files`, each
//! with its SHA-256, or null when the file was not there. A record is stale when one of them is now other than
//! it was, or when it names none: what can't be checked is not proven.
//!
//! Spec: P-50, resources.

use std::{cmp::Reverse, collections::BTreeMap, fs, path::Path};

use didi_plugin_api::{digest::sha256_hex, prelude::*};
use serde_json::Map;

/// The folder of the records.
const FOLDER: &str = "res://.didi/scenarios";
/// Most records that are shown.
const MAX_RECORDS: usize = 64;
/// Most files of the folder that are read.
const MAX_SEEN: usize = 1_000;
/// Largest record, in bytes.
const MAX_RECORD_BYTES: u64 = 1024 * 1024;
/// Largest file that is hashed, in bytes.
const MAX_HASHED_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) fn resource() -> Resource {
    Resource::new(
        "godot://project/scenarios",
        "project-scenarios",
        "Last result of every scenario and test run, and whether its files changed since",
        read,
    )
}

/// A record as far as it is understood; what a scenario or a test run adds is passed on as it is.
#[derive(Deserialize)]
struct Record {
    name: String,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    verdict: Option<String>,
    #[serde(default)]
    ran_at: Value,
    #[serde(default)]
    files: BTreeMap<String, Option<String>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Default, Serialize)]
struct Shown {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    ran_at: Value,
    record: String,
    stale: bool,
    changed_files: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    unreadable: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize)]
struct Out {
    scenarios: Vec<Shown>,
    count: usize,
    truncated: bool,
}

fn read(ctx: &Ctx<'_>, _: &str) -> ToolResult {
    let names = names(ctx)?;
    let mut truncated = names.len() > MAX_SEEN;
    let mut records = vec![];
    for name in names.iter().take(MAX_SEEN) {
        ctx.check()?;
        records.push((name, load(ctx, name)));
    }
    records.sort_by_key(|(name, record)| (Reverse(ran_at(record.as_ref())), *name));
    truncated |= records.len() > MAX_RECORDS;
    records.truncate(MAX_RECORDS);
    let mut scenarios = vec![];
    for (name, record) in records {
        scenarios.push(show(ctx, name, record)?);
    }
    Answer::of(Out { count: scenarios.len(), scenarios, truncated })
}

/// The record files' names, ordered.
fn names(ctx: &Ctx<'_>) -> Result<Vec<String>, Refusal> {
    let folder = ctx.project().resolve(FOLDER, "uri")?;
    let Ok(entries) = fs::read_dir(folder.real()) else { return Ok(vec![]) };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "json"))
        .collect();
    names.sort();
    Ok(names)
}

fn load(ctx: &Ctx<'_>, name: &str) -> Option<Record> {
    let project = ctx.project();
    let place = project.root().resolve(&format!("{FOLDER}/{name}")).ok()?;
    serde_json::from_slice(&place.read(MAX_RECORD_BYTES).ok()?).ok()
}

/// When a record was made, for ordering: milliseconds, or a text that orders by itself.
fn ran_at(record: Option<&Record>) -> (u64, String) {
    match record.map(|record| &record.ran_at) {
        Some(Value::String(text)) => (0, text.clone()),
        Some(value) => (value.as_u64().unwrap_or(0), String::new()),
        None => (0, String::new()),
    }
}

fn show(ctx: &Ctx<'_>, name: &str, record: Option<Record>) -> Result<Shown, Refusal> {
    let path = format!("{FOLDER}/{name}");
    let Some(record) = record else {
        let name = name.trim_end_matches(".json").into();
        return Ok(Shown { name, record: path, stale: true, unreadable: true, ..Shown::default() });
    };
    let mut changed_files = vec![];
    for (file, hash) in &record.files {
        ctx.check()?;
        if hash_of(ctx, file).as_ref() != hash.as_ref() {
            changed_files.push(file.clone());
        }
    }
    Ok(Shown {
        name: record.name,
        kind: record.kind,
        verdict: record.verdict,
        ran_at: record.ran_at,
        record: path,
        stale: record.files.is_empty() || !changed_files.is_empty(),
        changed_files,
        unreadable: false,
        rest: shown_members(record.rest),
    })
}

/// The members that a list shows; steps and output stay in the record.
fn shown_members(mut rest: Map<String, Value>) -> Map<String, Value> {
    let shown = ["scene_path", "assertions", "frames", "framework", "paths", "counts"];
    rest.retain(|name, value| shown.contains(&name.as_str()) && !value.is_null());
    rest
}

/// SHA-256 of a project file; `None` when it is not there or can't be read.
fn hash_of(ctx: &Ctx<'_>, path: &str) -> Option<String> {
    let place = ctx.project().root().resolve(path).ok()?;
    place.read(MAX_HASHED_BYTES).ok().map(|bytes| sha256_hex(&bytes))
}
