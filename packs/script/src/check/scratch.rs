//! A text that is in no file, or not yet: compiled from a copy outside of the project.
//!
//! The copy has another path than the script will have. What the compiler says only because of that is taken
//! out, or said to be unsure.
//!
//! Spec: P-53, scripts.
#![allow(clippy::disallowed_methods, reason = "writes into the scratch folder of its own call")]

use std::{fs, path::PathBuf};

use didi_plugin_api::prelude::*;

use super::{Diagnostic, Subject};
use crate::scripts;

/// Writes the text into the call's scratch folder, under a name that no script of a project has.
///
/// # Errors
/// `internal_error` when there is no scratch folder, or no room in it.
pub(crate) fn copy(ctx: &Ctx<'_>, source: &str) -> Result<PathBuf, Refusal> {
    let file = ctx.scratch_folder()?.join("unsaved_text.gd");
    fs::write(&file, source).map_err(|error| {
        let message = format!("a copy of the text can't be written: {error}");
        Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the scratch folder can't be used")
    })?;
    Ok(file)
}

/// Gives findings the script's own path, and weighs those that come from the copy's place.
pub(super) fn settle(
    ctx: &Ctx<'_>,
    subject: &Subject<'_>,
    found: Vec<Diagnostic>,
) -> Result<Vec<Diagnostic>, Refusal> {
    let Some(copy) = subject.copy else { return Ok(found) };
    let folder = copy.rsplit_once('/').map_or(copy, |(folder, _)| folder);
    let mut settled = vec![];
    for mut one in found {
        // The file of the same class is what the text is to replace.
        if hides_itself(ctx, &one.message, subject)? {
            continue;
        }
        if one.file.as_deref() == Some(copy) {
            one.file = subject.file();
        }
        if one.message.contains(folder) {
            one.note = Some(format!(
                "a relative path is looked for from the script's folder, and the text was compiled in \
                 another one; the engine said: {}",
                one.message.replace(folder, "..")
            ));
            one.message = "a relative path could not be followed from an unsaved text".into();
            one.severity = "warning";
            one.rule = "relative_path_unsaved";
        }
        settled.push(one);
    }
    Ok(settled)
}

/// Whether the class that the text would hide is the one that it declares in its own file.
fn hides_itself(ctx: &Ctx<'_>, message: &str, subject: &Subject<'_>) -> Result<bool, Refusal> {
    let name = message
        .strip_prefix("Class \"")
        .and_then(|rest| rest.strip_suffix("\" hides a global script class."));
    let Some(name) = name.filter(|name| scripts::declares(subject.source, name)) else {
        return Ok(false);
    };
    // A text without a path may be that of any file.
    if !subject.path.starts_with("res://") {
        return Ok(true);
    }
    let mut classes = scripts::classes(ctx)?.into_iter();
    Ok(!classes.any(|(file, class)| file.path != subject.path && class == name))
}
