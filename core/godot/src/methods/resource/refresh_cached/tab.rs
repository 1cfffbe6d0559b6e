//! Scenes that are open in a tab, which is rebuilt from the file.
//!
//! One tab a call: a second one in the same frame does nothing before 4.7.

use godot::{classes::EditorInterface, prelude::*};
use serde_json::{Map, Value};

use crate::methods::editor;

pub(super) struct Tabs {
    open: Vec<String>,
    discard_unsaved: bool,
    rebuilt: bool,
}

impl Tabs {
    pub(super) fn new(discard_unsaved: bool) -> Self {
        Tabs { open: editor::open_scenes(), discard_unsaved, rebuilt: false }
    }

    /// Rebuilds the tab of a file, where it has one and nothing would be lost.
    pub(super) fn rebuild(&mut self, path: &str, entry: &mut Map<String, Value>) {
        if !self.open.iter().any(|open| open == path) {
            return;
        }
        entry.insert("scene_open".into(), true.into());
        let (readable, unsaved) = editor::unsaved_scenes();
        let clean = readable
            && !unsaved.as_array().is_some_and(|scenes| scenes.iter().any(|scene| scene == path));
        let reloaded = (clean || self.discard_unsaved) && !self.rebuilt;
        entry.insert("scene_reloaded".into(), reloaded.into());
        if reloaded {
            self.rebuilt = true;
            rebuild(path, entry);
        } else if self.rebuilt {
            entry.insert("scene_reload_pending".into(), true.into());
        } else {
            let why = "its unsaved changes would be lost; send `discard_unsaved` to accept that";
            entry.insert("scene_reload_error".into(), why.into());
        }
    }
}

fn rebuild(path: &str, entry: &mut Map<String, Value>) {
    let edited = || {
        let root = EditorInterface::singleton().get_edited_scene_root();
        root.map(|root| root.get_scene_file_path().to_string())
    };
    let before = edited();
    EditorInterface::singleton().reload_scene_from_path(path);
    if let Some(before) = before.filter(|before| edited().as_ref() != Some(before)) {
        entry.insert("edited_scene_moved_from".into(), before.into());
    }
}
