//! The files that a run depends on: its scene, all that it names, one through the other, and the settings.
//!
//! Spec: P-54, running games.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use didi_formats::uid;
use didi_plugin_api::{digest::sha256_hex, prelude::*};
use didi_project::{
    facts::{self, Trust},
    walk,
};

/// Files that are hashed.
const MAX_HASHED: usize = 256;
/// Largest file that is hashed, in bytes; the list of runs reads no larger one either.
const MAX_HASHED_BYTES: u64 = 64 << 20;
/// Files of the project that are looked through.
const MAX_FILES: usize = 100_000;

/// Digests by path; `None` for a file that is not there or can't be read. And whether there are more.
pub(super) fn reached(
    ctx: &Ctx<'_>,
    scene: &ProjectPath,
) -> Result<(BTreeMap<String, Option<String>>, bool), Refusal> {
    let named = names(ctx)?;
    let mut found = BTreeSet::from(["res://project.godot".to_owned()]);
    let mut next = vec![scene.res_path()];
    let mut cut = false;
    while let Some(path) = next.pop() {
        if found.len() >= MAX_HASHED {
            cut = true;
            break;
        }
        if found.insert(path.clone()) {
            next.extend(named.get(&path).into_iter().flatten().cloned());
        }
    }
    let hash = |path: String| {
        let place = ctx.project().resolve(&path, "scene_path").ok();
        let bytes = place.and_then(|place| ctx.project().read(&place, MAX_HASHED_BYTES).ok());
        let digest = bytes.map(|bytes| sha256_hex(&bytes));
        (path, digest)
    };
    Ok((found.into_iter().map(hash).collect(), cut))
}

/// What each scene and resource names, by path; a uid is looked up.
fn names(ctx: &Ctx<'_>) -> Result<BTreeMap<String, Vec<String>>, Refusal> {
    let root = ctx.project().resolve("res://", "scene_path")?;
    let mut files = vec![];
    walk::engine_files(ctx, &root, |file| {
        files.push(file);
        if files.len() < MAX_FILES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let facts = facts::facts(ctx, &files, Trust::Kept)?;
    let mut uids = BTreeMap::new();
    for (file, facts) in files.iter().zip(&facts) {
        if let Some(number) = facts.uid.as_deref().and_then(uid::number) {
            uids.entry(number).or_insert_with(|| facts::owner(&file.path).to_owned());
        }
    }
    let resolve = |named: &facts::Named| {
        let number = named.uid.as_deref().unwrap_or(&named.path);
        let known = uid::number(number).and_then(|number| uids.get(&number).cloned());
        known.or_else(|| Some(named.path.clone()).filter(|path| path.starts_with("res://")))
    };
    Ok(files
        .into_iter()
        .zip(facts)
        .filter(|(_, facts)| !facts.names.is_empty())
        .map(|(file, facts)| (file.path, facts.names.iter().filter_map(resolve).collect()))
        .collect())
}
