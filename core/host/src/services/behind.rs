//! The editor that has the project open while files are written behind it.
//!
//! Before a write: a scene that is open in a tab is not replaced while its tab may hold changes, and does not move
//! away from under it. After the writes the editor reads the files anew and rebuilds the tabs, and the answer says
//! what came of it.
//!
//! Spec: P-44, an editor beside the files.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use didi_plugin_api::{
    ctx::Touched,
    refusal::{Code, Refusal, codes},
};
use serde_json::{Map, Value, json};

use super::Done;
use crate::{bridge::Route, cancel::Cancel, files::ProjectFiles};

/// Files that the editor is told of in one request.
const MAX_PATHS: usize = 256;
/// Requests of one call: one a tab, as the editor rebuilds one at a time.
const MAX_REQUESTS: usize = 64;
/// How long the editor may take to read what it is told of.
const REFRESH_WITHIN: Duration = Duration::from_secs(12);
/// Endings of scenes, which have tabs.
const SCENES: [&str; 2] = ["tscn", "scn"];
/// Endings of files that no loader of the editor takes.
const NOT_LOADED: [&str; 6] = ["godot", "cfg", "import", "uid", "md", "txt"];
/// Folders that the editor does not list.
const NOT_LISTED: [&str; 2] = ["res://.didi/", "res://.godot/"];
/// The settings, which the editor keeps in memory.
const SETTINGS: &str = "res://project.godot";

/// The editor, as one call sees it.
pub(super) struct Behind<'c> {
    pub(super) editor: Arc<Route>,
    /// The caller accepts that a tab's changes are lost.
    pub(super) discard_unsaved: bool,
    /// The tool takes `discard_unsaved`.
    pub(super) may_discard: bool,
    pub(super) cancel: &'c Cancel,
}

/// Whether any of these files can be open in a tab.
pub(super) fn has_scene(touched: &Touched) -> bool {
    touched.written.iter().chain(&touched.gone).any(|path| SCENES.contains(&&*ending(path)))
}

impl Behind<'_> {
    /// Looks whether the files may change.
    ///
    /// # Errors
    /// `unsaved_changes`, `dirty_state_unavailable`; `conflict` for a scene that would leave its open tab.
    pub(super) fn check(&self, touched: &Touched) -> Result<(), Refusal> {
        let said = self.ask("editor.openScenes", &Map::new(), Duration::ZERO)?;
        let names = |member: &str| -> Vec<&str> {
            said[member].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let open = names("open_scenes");
        let both = |paths: &[String]| -> Vec<String> {
            paths.iter().filter(|path| open.contains(&path.as_str())).cloned().collect()
        };
        let gone = both(&touched.gone);
        if !gone.is_empty() {
            let message = format!(
                "the editor has {} open in a tab, and would write it to the old place",
                list(&gone)
            );
            return Err(Refusal::new(codes::CONFLICT, message)
                .with("open_scenes", gone)
                .next_call("scene_close", "closes the tab of the edited scene"));
        }
        let written = both(&touched.written);
        if written.is_empty() || self.discard_unsaved {
            return Ok(());
        }
        if said["unsaved_scenes_readable"] != true {
            let message = format!(
                "the editor has {} open in a tab and does not tell whether it has unsaved changes",
                list(&written)
            );
            return Err(self.unsaved(codes::DIRTY_STATE_UNAVAILABLE, message, &written));
        }
        let unsaved = names("unsaved_scenes");
        let lost: Vec<String> =
            written.into_iter().filter(|path| unsaved.contains(&path.as_str())).collect();
        if lost.is_empty() {
            return Ok(());
        }
        let message = format!("the editor has unsaved changes in {}", list(&lost));
        Err(self.unsaved(codes::UNSAVED_CHANGES, message, &lost))
    }

    fn unsaved(&self, code: Code, message: String, scenes: &[String]) -> Refusal {
        let refusal = Refusal::new(code, message).with("open_scenes", scenes);
        if self.may_discard {
            refusal.retry_with(json!({"discard_unsaved": true}))
        } else {
            refusal.next_call("scene_close", "closes the tab of the edited scene, saved before")
        }
    }

    /// Has the editor read what was written, and answers the members that say so.
    pub(super) fn refresh(&self, files: &ProjectFiles, done: &Done) -> Map<String, Value> {
        let mut told = Told::default();
        if done.moved {
            self.scan(&mut told);
        }
        let there = |path: &&String| files.root().resolve(path).is_ok_and(|place| place.is_file());
        let paths = done.writes.iter().map(|one| &one.path);
        let paths = paths.filter(|path| is_loaded(path)).filter(there);
        let mut left: VecDeque<String> = paths.cloned().collect();
        for _ in 0..MAX_REQUESTS {
            if left.is_empty() {
                break;
            }
            let now: Vec<String> = left.drain(..left.len().min(MAX_PATHS)).collect();
            let params = json!({"paths": now, "discard_unsaved": self.discard_unsaved});
            let params = params.as_object().cloned().unwrap_or_default();
            match self.ask("resource.refreshCached", &params, REFRESH_WITHIN) {
                Ok(said) => left.extend(told.take(&said)),
                Err(refusal) => {
                    let why = Value::from(refusal.message);
                    told.errors.extend(now.into_iter().map(|path| (path, why.clone())));
                    break;
                }
            }
        }
        let unasked = Value::from("the editor was not asked to read it anew");
        told.errors.extend(left.into_iter().map(|path| (path, unasked.clone())));
        self.open_again(&told);
        if done.writes.iter().any(|one| one.path == SETTINGS) {
            let why =
                "the editor keeps its own settings and writes them over the file's; restart it";
            told.errors.push((SETTINGS.into(), why.into()));
        }
        if done.several { told.of_several() } else { told.of_one() }
    }

    /// What is gone from its place is dropped from the editor's list by a scan alone.
    fn scan(&self, told: &mut Told) {
        if let Err(refusal) = self.ask("editor.reloadProject", &Map::new(), REFRESH_WITHIN) {
            told.errors.push(("res://".into(), refusal.message.into()));
        }
    }

    /// Rebuilding a tab may leave another scene in front than before.
    fn open_again(&self, told: &Told) {
        let Some(scene) = &told.was_in_front else { return };
        let params = Map::from_iter([("scene_path".to_owned(), scene.as_str().into())]);
        if let Err(refusal) = self.ask("scene.open", &params, Duration::ZERO) {
            tracing::warn!(
                scene,
                "the scene was not brought to the front again: {}",
                refusal.message
            );
        }
    }

    fn ask(
        &self,
        method: &str,
        params: &Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, Refusal> {
        self.editor.call(method, params, limit, self.cancel).map(|answered| answered.result)
    }
}

/// What the editor said of the files.
#[derive(Default)]
struct Told {
    copies: Vec<String>,
    scenes: Vec<String>,
    pending: Vec<String>,
    errors: Vec<(String, Value)>,
    was_in_front: Option<String>,
}

impl Told {
    /// Takes an answer in; gives the scenes that have to be asked for again.
    fn take(&mut self, said: &Value) -> Vec<String> {
        let mut again = vec![];
        for entry in said["results"].as_array().into_iter().flatten() {
            let path = entry["path"].as_str().unwrap_or_default().to_owned();
            if let Some(scene) = entry["edited_scene_moved_from"].as_str() {
                self.was_in_front.get_or_insert_with(|| scene.to_owned());
            }
            if entry["index_pending"] == true {
                self.pending.push(path.clone());
            }
            for error in ["reload_error", "scene_reload_error"] {
                if let Some(why) = entry.get(error) {
                    self.errors.push((path.clone(), why.clone()));
                }
            }
            if entry["scene_reload_pending"] == true {
                again.push(path);
                continue;
            }
            if entry["scene_reloaded"] == true {
                self.scenes.push(path.clone());
            }
            if entry["reloaded"] == true {
                self.copies.push(path);
            }
        }
        again
    }

    fn of_one(self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("editor_copy_reloaded".into(), (!self.copies.is_empty()).into());
        if let Some((_, why)) = self.errors.into_iter().next() {
            members.insert("editor_copy_error".into(), why);
        }
        if !self.scenes.is_empty() {
            members.insert("editor_scenes_reloaded".into(), self.scenes.into());
        }
        if !self.pending.is_empty() {
            members.insert("editor_index_pending".into(), true.into());
        }
        members
    }

    fn of_several(self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("editor_copies_reloaded".into(), self.copies.into());
        members.insert("editor_scenes_reloaded".into(), self.scenes.into());
        if !self.errors.is_empty() {
            let error = |(path, error)| json!({"path": path, "error": error});
            let errors: Vec<Value> = self.errors.into_iter().map(error).collect();
            members.insert("editor_copy_errors".into(), errors.into());
        }
        if !self.pending.is_empty() {
            members.insert("editor_index_pending".into(), self.pending.into());
        }
        members
    }
}

fn is_loaded(path: &str) -> bool {
    !NOT_LISTED.iter().any(|folder| path.starts_with(folder))
        && !NOT_LOADED.contains(&&*ending(path))
}

fn ending(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default()
}

fn list(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|path| format!("`{path}`")).collect();
    let more = paths.len() - shown.len();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
