//! The scripts of the project, as far as their heads tell which classes they declare.
//!
//! Spec: P-53, scripts.

use std::{fs, io::Read, ops::ControlFlow, path::Path};

use didi_gdscript::head;
use didi_plugin_api::prelude::*;
use didi_project::{
    facts::{self, Trust},
    walk::{self, File},
};

/// Scripts looked into for a `class_name`.
const MAX_SCRIPTS: usize = 20_000;

/// Whether a script declares a global class.
pub(crate) fn declares(script: &str, name: &str) -> bool {
    head::of(script).class_name == Some(name)
}

/// The scripts of the project that declare a class, each with its name.
///
/// # Errors
/// `cancelled` when the caller gave up.
pub(crate) fn classes(ctx: &Ctx<'_>) -> Result<Vec<(File, String)>, Refusal> {
    let root = ctx.project().resolve("res://", "project")?;
    let mut scripts = vec![];
    walk::engine_files(ctx, &root, |file| {
        if file.extension() == "gd" {
            scripts.push(file);
        }
        if scripts.len() < MAX_SCRIPTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let facts = facts::facts(ctx, &scripts, Trust::Kept)?;
    let named = scripts.into_iter().zip(facts);
    Ok(named.filter_map(|(file, facts)| Some((file, facts.class_name.clone()?))).collect())
}

/// The first bytes of a file.
pub(crate) fn head_of(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    fs::File::open(path).ok()?.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
