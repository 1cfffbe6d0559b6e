//! `resource.refreshCached`: has the editor read files anew that were written behind it.

mod index;
mod tab;

use std::time::{Duration, Instant};

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{FileAccess, ResourceLoader, Script, resource_loader::CacheMode},
    global::Error,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::{Scan, Until},
};

/// Most files of one call.
const MAX_PATHS: usize = 256;

/// How long a scan is waited for.
const SCAN_LIMIT: Duration = Duration::from_secs(8);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Option<String>,
    paths: Option<Vec<String>>,
    #[serde(default)]
    discard_unsaved: bool,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let (paths, single) = match (args.path, args.paths) {
        (Some(path), None) => (vec![path], true),
        (None, Some(paths)) if (1..=MAX_PATHS).contains(&paths.len()) => (paths, false),
        _ => {
            let message = format!("either `path` is needed, or 1 to {MAX_PATHS} `paths`");
            return Err(refuse::invalid("paths", message));
        }
    };
    let mut tabs = tab::Tabs::new(args.discard_unsaved);
    let mut entries: Vec<Map<String, Value>> = vec![];
    for path in &paths {
        let mut entry = refresh(path);
        tabs.rebuild(path, &mut entry);
        entries.push(entry);
    }
    let pending = entries.iter().any(|entry| entry.contains_key("index_pending"));
    Ok(wait(entries, single, pending))
}

/// Answers at once, or after the scan that files in new folders need.
fn wait(
    mut entries: Vec<Map<String, Value>>,
    single: bool,
    pending: bool,
) -> Box<dyn didi_engine::Task> {
    let end = Instant::now() + SCAN_LIMIT;
    let mut scan = Scan::default();
    Until::boxed(2 * SCAN_LIMIT, never, move || {
        if pending && !scan.is_applied() && Instant::now() < end {
            return None;
        }
        for entry in &mut entries {
            index::settle(entry);
        }
        Some(answer(std::mem::take(&mut entries), single))
    })
}

fn answer(mut entries: Vec<Map<String, Value>>, single: bool) -> Answer {
    if single {
        return Ok(entries.pop().unwrap_or_default().into());
    }
    Ok(json!({ "results": entries }))
}

fn never() -> BridgeError {
    refuse::engine("refresh_failed", "the editor did not come to an end")
}

/// Reads one file anew where the engine holds it, and has the editor list it.
fn refresh(path: &str) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("path".into(), path.into());
    let mut loader = ResourceLoader::singleton();
    let cached = loader.has_cached(path);
    entry.insert("cached".into(), cached.into());
    if cached {
        let reloaded = match loader.get_cached_ref(path).and_then(|held| held.try_cast().ok()) {
            Some(script) => reload_script(script, path),
            None => match loader.load_ex(path).cache_mode(CacheMode::REPLACE).done() {
                Some(_) => Ok(()),
                None => Err("the engine could not load it".to_owned()),
            },
        };
        entry.insert("reloaded".into(), reloaded.is_ok().into());
        if let Err(why) = reloaded {
            entry.insert("reload_error".into(), why.into());
        }
    }
    index::add(path, &mut entry);
    entry
}

/// A script keeps its code when it is only loaded again, so it is given the file's text.
fn reload_script(mut script: Gd<Script>, path: &str) -> Result<(), String> {
    let text = FileAccess::get_file_as_string(path);
    if text.is_empty() && FileAccess::get_open_error() != Error::OK {
        return Err("the file could not be read".into());
    }
    script.set_source_code(&text);
    match script.reload_ex().keep_state(true).done() {
        Error::OK => Ok(()),
        error => Err(format!("the engine said {error:?}")),
    }
}
