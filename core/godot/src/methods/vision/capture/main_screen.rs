//! The editor's main screens: one is shown for a picture, and the one before comes back.

use godot::{classes::EditorInterface, prelude::*};
use serde_json::{Map, Value};

/// A screen that is shown for a while.
pub(in crate::methods::vision) struct MainScreen {
    selected: &'static str,
    previous: Option<&'static str>,
}

impl MainScreen {
    /// Shows the screen that a view is on.
    pub(in crate::methods::vision) fn select(view: Option<&str>) -> Self {
        let previous = current();
        let selected = match view.unwrap_or("active_editor_view") {
            "editor_3d" | "active_editor_view_3d" | "3d" => "3D",
            "active_editor_view" => previous.filter(|screen| *screen == "3D").unwrap_or("2D"),
            _ => "2D",
        };
        EditorInterface::singleton().set_main_screen_editor(selected);
        MainScreen { selected, previous }
    }

    /// Puts the screen before back, and says what was done.
    pub(in crate::methods::vision) fn put_back(&mut self) -> Map<String, Value> {
        let previous = self.previous.take();
        let restored = previous.is_some();
        show(previous);
        let mut told = Map::new();
        told.insert("main_screen_selected".into(), self.selected.into());
        told.insert("main_screen_restored".into(), restored.into());
        told.insert("previous_main_screen".into(), previous.into());
        if !restored {
            let note = "which screen was shown before could not be told";
            told.insert("main_screen_restore_note".into(), note.into());
        }
        told
    }
}

impl Drop for MainScreen {
    fn drop(&mut self) {
        // Its caller stopped waiting before the picture was taken.
        show(self.previous.take());
    }
}

fn show(screen: Option<&str>) {
    if let Some(screen) = screen {
        EditorInterface::singleton().set_main_screen_editor(screen);
    }
}

/// The screen that is shown, by the class of what is visible in its place.
fn current() -> Option<&'static str> {
    let place = EditorInterface::singleton().get_editor_main_screen()?;
    place.get_children().iter_shared().find_map(|child| {
        let visible = child.get("visible").try_to::<bool>().unwrap_or(false);
        match child.get_class().to_string().as_str() {
            _ if !visible => None,
            "CanvasItemEditor" => Some("2D"),
            "Node3DEditor" => Some("3D"),
            "WindowWrapper" if has(&child, "ScriptEditor") => Some("Script"),
            "WindowWrapper" => Some("Game"),
            "EditorAssetLibrary" => Some("AssetLib"),
            _ => None,
        }
    })
}

fn has(node: &Gd<Node>, class: &str) -> bool {
    !node.find_children_ex("*").type_(class).owned(false).done().is_empty()
}
