//! The project's scenes and resources as the engine sees them.
//!
//! Spec: P-52, scenes.

use std::ops::ControlFlow;

use didi_formats::uid;
use didi_plugin_api::prelude::*;
use didi_project::{
    facts::{self, Trust},
    walk::{self, File},
};

/// Files with an ending that are looked at.
const MAX_FILES: usize = 100_000;

/// Files with an ending, by name inside each folder.
pub(crate) fn files(ctx: &Ctx<'_>, extension: &str) -> Result<Vec<File>, Refusal> {
    let root = ctx.project().resolve("res://", "project")?;
    let mut found = vec![];
    walk::engine_files(ctx, &root, |file| {
        if file.extension() == extension {
            found.push(file);
        }
        if found.len() < MAX_FILES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// The file with an ending whose own header holds a uid.
pub(crate) fn by_uid(
    ctx: &Ctx<'_>,
    extension: &str,
    number: u64,
) -> Result<Option<ProjectPath>, Refusal> {
    let files = files(ctx, extension)?;
    let facts = facts::facts(ctx, &files, Trust::Kept)?;
    let holds = |text: &str| uid::number(text) == Some(number);
    let at = facts.iter().position(|facts| facts.uid.as_deref().is_some_and(holds));
    at.map(|at| ctx.project().resolve(&files[at].path, "path")).transpose()
}
