//! The editor's undo histories, read before and after a command, so that a journal can say which steps it
//! gained.

use didi_engine::Answer;
use didi_wire::SessionKind;
use godot::{
    classes::{EditorInterface, EditorUndoRedoManager, UndoRedo},
    prelude::*,
};
use serde_json::{Value, json};

use super::{group, made};

/// The editor's number of the history that no scene owns.
pub(crate) const GLOBAL: i32 = 0;

/// The histories that a command may add to, and how far each has come.
pub(crate) struct Histories {
    scene: Option<Reached>,
    global: Option<Reached>,
}

/// How far a history has come.
#[derive(Clone, Copy)]
struct Reached {
    id: i32,
    version: u64,
    /// The newest step that was made here.
    serial: Option<i64>,
}

impl Reached {
    fn of(id: i32, history: &Gd<UndoRedo>) -> Self {
        Reached { id, version: history.get_version(), serial: made::last(id) }
    }
}

/// The editor's manager of histories.
pub(crate) fn manager() -> Option<Gd<EditorUndoRedoManager>> {
    EditorInterface::singleton().get_editor_undo_redo()
}

/// The history of the edited scene.
pub(crate) fn of_scene() -> Option<(i32, Gd<UndoRedo>)> {
    let root = EditorInterface::singleton().get_edited_scene_root()?;
    let manager = manager()?;
    let id = manager.get_object_history_id(&root);
    Some((id, manager.get_history_undo_redo(id)?))
}

/// The history that no scene owns.
pub(crate) fn of_project() -> Option<Gd<UndoRedo>> {
    manager()?.get_history_undo_redo(GLOBAL)
}

impl Histories {
    /// As they stand; a game has none.
    pub(crate) fn read(kind: SessionKind) -> Option<Self> {
        (kind == SessionKind::Editor).then(|| Histories {
            scene: of_scene().map(|(id, history)| Reached::of(id, &history)),
            global: of_project().map(|history| Reached::of(GLOBAL, &history)),
        })
    }
}

/// How far each history has come, for whoever judges whether a step of it can still be taken back.
pub(crate) fn now() -> Vec<Value> {
    let scene = of_scene().map(|(id, history)| ("scene", id, history, edited_file()));
    let global = of_project().map(|history| ("global", GLOBAL, history, None));
    let told = |(name, id, history, file): (&str, i32, Gd<UndoRedo>, Option<String>)| {
        let stands: Vec<[i64; 2]> =
            made::ranges(id).into_iter().map(|range| [*range.start(), *range.end()]).collect();
        let version = history.get_version();
        let mut told =
            json!({"history": name, "history_id": id, "version": version, "serials": stands});
        if let Some(file) = file {
            told["scene_file_path"] = file.into();
        }
        told
    };
    scene.into_iter().chain(global).map(told).collect()
}

/// The file of the edited scene, once it has one.
fn edited_file() -> Option<String> {
    let root = EditorInterface::singleton().get_edited_scene_root()?;
    Some(root.get_scene_file_path().to_string()).filter(|file| !file.is_empty())
}

/// Puts the steps that a command gained beside its result, as `undo_steps`.
pub(crate) fn tell(answer: &mut Answer, before: Option<&Histories>) {
    let (Some(before), Ok(Value::Object(members))) = (before, answer) else { return };
    let scene = of_scene().and_then(|(id, history)| step("scene", before.scene, id, &history));
    let global = of_project().and_then(|history| step("global", before.global, GLOBAL, &history));
    let steps: Vec<Value> = scene.into_iter().chain(global).collect();
    if !steps.is_empty() {
        members.insert("undo_steps".into(), steps.into());
    }
}

fn step(name: &str, before: Option<Reached>, id: i32, history: &Gd<UndoRedo>) -> Option<Value> {
    let before = before.filter(|before| before.id == id)?;
    let Reached { version, serial, .. } = Reached::of(id, history);
    let version_before = before.version;
    // An edit that became part of its group's step adds none; the step is its own all the same. Edits are of scenes.
    let joined = version == version_before && id != GLOBAL && group::has_edited();
    let version_before = if joined { version - 1 } else { version_before };
    // An undo takes a step away and adds none.
    (version > version_before).then(|| {
        let mut step = json!({
            "history": name,
            "history_id": id,
            "version_before": version_before,
            "version": version,
            "action": history.get_current_action_name().to_string(),
        });
        if let Some(serial) = serial.filter(|_| serial != before.serial) {
            step["serial"] = serial.into();
        }
        if let Some(file) = edited_file().filter(|_| id != GLOBAL) {
            step["scene_file_path"] = file.into();
        }
        step
    })
}
