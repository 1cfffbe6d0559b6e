//! The files that a run's outcome depends on: tests, what they reach, autoloads and settings.
//!
//! Spec: P-50, test runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use didi_plugin_api::{digest::sha256_hex, prelude::*};
use didi_project::walk;

use super::framework::{Framework, GUT_CONFIG, TestPath};
use crate::{
    code::{self, Dialect},
    references::Kind,
    scan::{self, READS, Wanted},
    settings::SETTINGS,
};

/// Files that are hashed.
const MAX_HASHED: usize = 2_000;
/// Largest file that is hashed, in bytes; the list of runs reads no larger one either.
const MAX_HASHED_BYTES: u64 = 64 << 20;
/// Test scripts of one run.
const MAX_SCRIPTS: usize = 10_000;

pub(super) struct Reached {
    /// SHA-256 by path; `None` for a file that is not there or can't be read.
    pub(super) hashes: BTreeMap<String, Option<String>>,
    pub(super) truncated: bool,
}

/// The scripts in the places that are run.
pub(super) fn scripts(
    ctx: &Ctx<'_>,
    framework: Framework,
    paths: &[TestPath],
) -> Result<BTreeSet<String>, Refusal> {
    let mut found = BTreeSet::new();
    for path in paths {
        if path.place.is_file() {
            found.insert(path.path.clone());
            continue;
        }
        walk::engine_files(ctx, &path.place, |file| {
            let ending = file.extension();
            if ending == "gd" || (ending == "cs" && framework == Framework::Gdunit4) {
                found.insert(file.path);
            }
            if found.len() < MAX_SCRIPTS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
    }
    Ok(found)
}

/// The files behind a run, by following what each names: paths, uids and classes.
pub(super) fn reached(
    ctx: &Ctx<'_>,
    framework: Framework,
    scripts: &BTreeSet<String>,
) -> Result<Reached, Refusal> {
    let project = scan::project(ctx, &READS, &Wanted::All)?;
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut wanted: BTreeSet<String> = scripts.clone();
    for (at, references) in &project.references {
        let holder = project.files.texts[*at].path.as_str();
        for reference in references {
            let Some(target) = project.resolve(&reference.target) else { continue };
            if holder == SETTINGS {
                // Of the settings only the autoloads are part of every run.
                if reference.kind == Kind::Autoload {
                    wanted.insert(target.to_owned());
                }
            } else {
                names.entry(holder).or_default().insert(target.to_owned());
            }
        }
    }
    classes(ctx, &project, &mut names)?;
    let mut seen = BTreeSet::new();
    let mut next: Vec<String> = wanted.into_iter().collect();
    while let Some(path) = next.pop() {
        // The framework itself is not under test.
        let under_test = !path.starts_with(framework.folder()) && !project.folders.contains(&path);
        if !under_test || !seen.insert(path.clone()) {
            continue;
        }
        next.extend(names.get(path.as_str()).into_iter().flatten().cloned());
    }
    seen.insert(SETTINGS.into());
    if framework == Framework::Gut {
        seen.insert(GUT_CONFIG.into());
    }
    let truncated = project.files.truncated || seen.len() > MAX_HASHED;
    let mut hashes = BTreeMap::new();
    for path in seen.into_iter().take(MAX_HASHED) {
        ctx.check()?;
        let place = ctx.project().root().resolve(&path).ok();
        let bytes = place.filter(ProjectPath::is_file).map(|place| place.read(MAX_HASHED_BYTES));
        hashes.insert(path, bytes.and_then(Result::ok).map(|bytes| sha256_hex(&bytes)));
    }
    Ok(Reached { hashes, truncated })
}

/// Adds to each script the scripts whose class it names.
fn classes<'p>(
    ctx: &Ctx<'_>,
    project: &'p scan::Project,
    names: &mut BTreeMap<&'p str, BTreeSet<String>>,
) -> Result<(), Refusal> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let mut words: Vec<(&str, BTreeSet<String>)> = vec![];
    for file in project.files.texts.iter().filter(|file| file.extension() == "gd") {
        ctx.check()?;
        let Ok(bytes) = scan::read(file, READS.file_bytes) else { continue };
        let Ok(source) = String::from_utf8(bytes) else { continue };
        let mut said = BTreeSet::new();
        let mut declares = false;
        for token in code::tokens(&source, Dialect::Gdscript) {
            if token.kind != code::Kind::Word {
                declares = false;
                continue;
            }
            let word = &source[token.span];
            if declares {
                owners.insert(word.to_owned(), &file.path);
            }
            declares = word == "class_name";
            if word.starts_with(|first: char| first.is_alphabetic() || first == '_') {
                said.insert(word.to_owned());
            }
        }
        words.push((&file.path, said));
    }
    for (path, said) in words {
        let found = said.iter().filter_map(|word| owners.get(word));
        let found: Vec<String> =
            found.filter(|one| **one != path).map(|one| (*one).into()).collect();
        if !found.is_empty() {
            names.entry(path).or_default().extend(found);
        }
    }
    Ok(())
}
