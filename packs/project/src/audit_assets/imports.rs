//! The health of `.import` files, and what the engine does not read of `project.godot`.
//!
//! Spec: P-50, the audit.

use std::{fs, time::SystemTime};

use didi_formats::config::{ConfigFile, ConfigProblem};
use didi_plugin_api::prelude::*;
use didi_project::facts::MAX_IMPORT_BYTES;

use crate::{
    md5,
    references::string_spans,
    scan::{self, Project, READS},
    settings::SETTINGS,
};

/// Most `.import` files that are read.
const MAX_METADATA: usize = 20_000;
/// Largest file that is compared with the engine's record, in bytes.
const MAX_HASHED_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Debug, Serialize)]
pub(super) struct ImportIssue {
    kind: &'static str,
    metadata: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct SettingsIssue {
    kind: &'static str,
    line: u32,
    detail: String,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) issues: Vec<ImportIssue>,
    pub(super) scanned: usize,
    pub(super) truncated: bool,
}

impl Found {
    /// Names the files of the issue that was pushed last.
    fn name(&mut self, source: &str, target: Option<&str>) {
        if let Some(last) = self.issues.last_mut() {
            last.source = Some(source.to_owned());
            last.target = target.map(ToOwned::to_owned);
        }
    }

    fn push(&mut self, kind: &'static str, metadata: &str, detail: impl Into<String>) {
        self.issues.push(ImportIssue {
            kind,
            metadata: metadata.to_owned(),
            source: None,
            target: None,
            detail: detail.into(),
            line: None,
        });
    }
}

pub(super) fn find(ctx: &Ctx<'_>, project: &Project) -> Result<Found, Refusal> {
    let mut found = Found::default();
    let root = ctx.project().root().folder().to_owned();
    // A project that was never imported lacks all outputs, which is one fact and no list of faults.
    let imported = root.join(".godot/imported").is_dir();
    for file in project.files.all.iter().filter(|file| file.extension() == "import") {
        ctx.check()?;
        if found.scanned == MAX_METADATA {
            found.truncated = true;
            break;
        }
        found.scanned += 1;
        let bytes = match scan::read(file, MAX_IMPORT_BYTES) {
            Ok(bytes) => bytes,
            Err(why) => {
                found.push("invalid_import_metadata", &file.path, why);
                continue;
            }
        };
        let config = match ConfigFile::parse(&bytes) {
            Ok(config) => config,
            Err(error) => {
                found.push("unparseable_import_metadata", &file.path, error.to_string());
                if let Some(last) = found.issues.last_mut() {
                    last.line = Some(error.line);
                }
                continue;
            }
        };
        if config.sections_named("remap").next().is_none() {
            found.push("invalid_import_metadata", &file.path, "it has no section `[remap]`");
            continue;
        }
        judge(ctx, &mut found, &file.path, &config, imported);
    }
    Ok(found)
}

fn judge(
    ctx: &Ctx<'_>,
    found: &mut Found,
    metadata: &str,
    config: &ConfigFile<'_>,
    imported: bool,
) {
    let beside = metadata.strip_suffix(".import").unwrap_or(metadata);
    let source = config.text("deps", "source_file").map_or_else(|| beside.into(), String::from);
    let time = |path: &str| -> Option<SystemTime> {
        let place = ctx.project().root().resolve(path).ok()?;
        fs::metadata(place.real()).ok()?.modified().ok()
    };
    let source_time = time(&source);
    if source_time.is_none() {
        found.push(
            "missing_import_source",
            metadata,
            "the file that it says how to import is gone",
        );
        found.name(&source, None);
        return;
    }
    let skipped =
        config.text("remap", "importer").is_some_and(|name| name == "keep" || name == "skip");
    let outputs = config.get("deps", "dest_files");
    let Some(outputs) = outputs.filter(|_| !skipped) else { return };
    let outputs: Vec<&str> =
        string_spans(outputs.text, true).into_iter().map(|span| &outputs.text[span]).collect();
    let mut newest_source = None;
    let mut missing = false;
    for output in &outputs {
        if output.starts_with("res://.godot/") && !imported {
            missing = true;
            continue;
        }
        match time(output) {
            None => {
                missing = true;
                let detail = "the imported file is gone; the next import makes it";
                found.push("missing_import_output", metadata, detail);
                found.name(&source, Some(output));
            }
            Some(made) if source_time.is_some_and(|changed| changed > made) => {
                newest_source = Some(*output);
            }
            Some(_) => {}
        }
    }
    if missing || outputs.is_empty() {
        return;
    }
    // The engine's own record knows; without one the files' times say what they can.
    let (kind, detail, target) = match record(ctx, &source, &outputs) {
        Record::Same => return,
        Record::Source => {
            ("source_changed_since_import", "the source is not the one that was imported", None)
        }
        Record::Output => (
            "output_changed_since_import",
            "the imported files are not those that the engine made",
            None,
        ),
        Record::TooLarge => (
            "import_freshness_unchecked",
            "the files are too large to be compared with the engine's record",
            None,
        ),
        Record::None => {
            let Some(output) = newest_source else { return };
            let detail = "the source is newer than the imported file";
            ("source_newer_than_output", detail, Some(output))
        }
    };
    found.push(kind, metadata, detail);
    found.name(&source, target);
}

/// What the engine's record of an import says.
enum Record {
    None,
    Same,
    Source,
    Output,
    TooLarge,
}

/// Compares an import with the digests that the engine noted beside it.
fn record(ctx: &Ctx<'_>, source: &str, outputs: &[&str]) -> Record {
    let name = source.rsplit('/').next().unwrap_or_default();
    let path = format!("res://.godot/imported/{name}-{}.md5", md5::hex([source.as_bytes()]));
    let read = |path: &str, max_bytes: u64| {
        ctx.project().root().resolve(path).ok().map(|place| place.read(max_bytes))
    };
    let Some(Ok(bytes)) = read(&path, MAX_IMPORT_BYTES) else { return Record::None };
    let Ok(noted) = ConfigFile::parse(&bytes) else { return Record::None };
    let (Some(source_md5), Some(dest_md5)) =
        (noted.text("", "source_md5"), noted.text("", "dest_md5"))
    else {
        return Record::None;
    };
    let Some(Ok(now)) = read(source, MAX_HASHED_BYTES) else { return Record::TooLarge };
    if md5::hex([now.as_slice()]) != source_md5 {
        return Record::Source;
    }
    let mut made = vec![];
    for output in outputs {
        let Some(Ok(bytes)) = read(output, MAX_HASHED_BYTES) else { return Record::TooLarge };
        made.push(bytes);
    }
    if md5::hex(made.iter().map(Vec::as_slice)) == dest_md5 { Record::Same } else { Record::Output }
}

/// What the engine does not read, or reads otherwise, in `project.godot`.
pub(super) fn settings(project: &Project) -> Vec<SettingsIssue> {
    let Some(at) = project.files.find(SETTINGS) else { return vec![] };
    let Ok(bytes) = scan::read(&project.files.all[at], READS.file_bytes) else { return vec![] };
    let config = match ConfigFile::parse(&bytes) {
        Ok(config) => config,
        Err(error) => {
            let detail = error.to_string();
            return vec![SettingsIssue {
                kind: "unparseable_project_settings",
                line: error.line,
                detail,
            }];
        }
    };
    let kind = |problem: &ConfigProblem| match problem {
        ConfigProblem::UnknownConstructor { .. } | ConfigProblem::LossyEscape { .. } => {
            "unloadable_setting_value"
        }
        _ => "unusable_setting_name",
    };
    config
        .problems()
        .iter()
        .map(|problem| SettingsIssue {
            kind: kind(problem),
            line: problem.line(),
            detail: problem.to_string(),
        })
        .collect()
}
