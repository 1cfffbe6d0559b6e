//! The health of `.import` files, and what the engine does not read of `project.godot`.
//!
//! Spec: P-50, the audit.

use std::{fs, time::SystemTime};

use didi_formats::config::{ConfigFile, ConfigProblem};
use didi_plugin_api::prelude::*;

use crate::{
    index::MAX_IMPORT_BYTES,
    references::string_spans,
    scan::{self, Project, READS},
    settings::SETTINGS,
};

/// Most `.import` files that are read.
const MAX_METADATA: usize = 20_000;

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
        if let Some(last) = found.issues.last_mut() {
            last.source = Some(source);
        }
        return;
    }
    let skipped =
        config.text("remap", "importer").is_some_and(|name| name == "keep" || name == "skip");
    let outputs = config.get("deps", "dest_files");
    let Some(outputs) = outputs.filter(|_| !skipped) else { return };
    for span in string_spans(outputs.text, true) {
        let output = &outputs.text[span];
        if output.starts_with("res://.godot/") && !imported {
            continue;
        }
        let (kind, detail) = match time(output) {
            None => {
                ("missing_import_output", "the imported file is gone; the next import makes it")
            }
            Some(made) if source_time.is_some_and(|changed| changed > made) => {
                ("source_newer_than_output", "the source is newer than the imported file")
            }
            Some(_) => continue,
        };
        found.push(kind, metadata, detail);
        if let Some(last) = found.issues.last_mut() {
            last.source = Some(source.clone());
            last.target = Some(output.to_owned());
        }
    }
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
