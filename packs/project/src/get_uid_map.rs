//! `project_get_uid_map`: uids and the files that have them, and what given references lead to.
//!
//! The map is made from headers, `.uid` and `.import` files. Two files with one uid are named, because the
//! engine keeps one of them only. An attached editor is asked about given references, and the files say
//! whether they agree.
//!
//! Spec: P-50, the project's files.

use std::collections::BTreeMap;

use didi_formats::uid;
use didi_plugin_api::prelude::*;
use didi_project::walk;

use crate::index;

#[cfg(test)]
mod tests;

const METHOD: &str = "project.resolveUids";

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_get_uid_map",
        "Maps uids to paths from project files, names duplicates, and resolves given references.",
        Effects::READS,
        run,
    )
    .core()
    .modes(&[Mode::Live, Mode::OfflineFallback, Mode::Local])
    .live(&[SessionKind::Editor], &[METHOD])
    .bounded("the 20,000-file index")
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_FOUND, codes::NOT_CONNECTED])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// uid:// or res:// strings.
    #[schemars(length(min = 1, max = 256), inner(length(max = 1024)))]
    resolve: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Out {
    uid_map: BTreeMap<String, String>,
    total_uids: usize,
    uid_map_source: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<Duplicate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Entry>>,
}

/// Files that claim one uid.
#[derive(Serialize)]
struct Duplicate {
    uid: String,
    paths: Vec<String>,
}

/// What a reference leads to.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
struct Entry {
    query: String,
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The files by uid, and the uids by path.
struct Map {
    /// By number, since two spellings of one uid exist: the spelling of the first, and the paths.
    files: BTreeMap<u64, (String, Vec<String>)>,
    uids: BTreeMap<String, Option<String>>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let start = walk::folder(ctx, "res://", "resolve")?;
    let listing = index::list(ctx, &start, true, |_| true)?;
    let mut map = Map { files: BTreeMap::new(), uids: BTreeMap::new() };
    for file in listing.files {
        if let Some((text, number)) =
            file.uid.as_ref().and_then(|uid| Some((uid, uid::number(uid)?)))
        {
            let known = map.files.entry(number).or_insert_with(|| (text.clone(), vec![]));
            known.1.push(file.path.clone());
        }
        map.uids.insert(file.path, file.uid);
    }
    let mut entries = args
        .resolve
        .map(|queries| queries.into_iter().map(|query| map.resolve(query)).collect::<Vec<_>>());
    if let Some(entries) = entries.as_mut().filter(|_| ctx.mode() == Mode::Live) {
        ask_engine(ctx, entries)?;
    }
    let duplicates = map.files.values().filter(|(_, paths)| paths.len() > 1);
    let duplicates =
        duplicates.map(|(uid, paths)| Duplicate { uid: uid.clone(), paths: paths.clone() });
    let out = Out {
        duplicates: duplicates.collect(),
        total_uids: map.files.len(),
        uid_map: map
            .files
            .into_values()
            .filter_map(|(uid, paths)| Some((uid, paths.into_iter().next()?)))
            .collect(),
        uid_map_source: "project_files",
        entries,
    };
    Ok(Answer::of(out)?.truncated(listing.truncated))
}

impl Map {
    fn resolve(&self, query: String) -> Entry {
        let entry = Entry { source: "index", ..Entry::default() };
        let missing = |reason, query| Entry { reason: Some(reason), query, ..entry.clone() };
        if query.starts_with("uid://") {
            let Some(number) = uid::number(&query) else { return missing("malformed_uid", query) };
            let Some((uid, paths)) = self.files.get(&number) else {
                return missing("not_in_project_files", query);
            };
            let (uid, path) = (Some(uid.clone()), paths.first().cloned());
            return Entry { query, found: true, uid, path, ..entry };
        }
        if !query.starts_with("res://") {
            return missing("unsupported_query", query);
        }
        match self.uids.get(&query) {
            Some(uid) => {
                Entry { uid: uid.clone(), path: Some(query.clone()), found: true, query, ..entry }
            }
            None => missing("not_in_project_files", query),
        }
    }
}

/// Puts what the editor knows before what the files say, and compares.
fn ask_engine(ctx: &Ctx<'_>, entries: &mut [Entry]) -> Result<(), Refusal> {
    let queries: Vec<&str> = entries.iter().map(|entry| entry.query.as_str()).collect();
    let said = ctx.bridge_call(METHOD, json!({ "queries": queries }))?;
    let answers = said["entries"].as_array().cloned().unwrap_or_default();
    for (entry, answer) in entries.iter_mut().zip(answers) {
        let text = |name: &str| answer[name].as_str().filter(|text| !text.is_empty());
        let (uid, path) = (text("uid").map(str::to_owned), text("path").map(str::to_owned));
        let found = answer["found"] == true;
        if !found {
            let unknown = !matches!(entry.reason, Some("malformed_uid" | "unsupported_query"));
            entry.index_state = Some(if entry.found { "differs" } else { "absent" });
            entry.reason = if unknown { Some("unknown_to_engine") } else { entry.reason };
            (entry.found, entry.uid, entry.path) = (false, None, None);
        } else if entry.found {
            let same = entry.path == path
                && entry.uid.as_deref().and_then(uid::number)
                    == uid.as_deref().and_then(uid::number);
            entry.index_state = Some(if same { "agrees" } else { "differs" });
            (entry.uid, entry.path) = (uid, path);
        } else {
            entry.index_state = Some("absent");
            (entry.found, entry.uid, entry.path, entry.reason) = (true, uid, path, None);
        }
        entry.source = "engine";
    }
    Ok(())
}
