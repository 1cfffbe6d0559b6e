//! The editor's dialogs that wait for a person: windows that are shown and keep the others from being used.
//!
//! Only windows that are shown are looked at, so this costs nothing that grows with the editor.

use didi_engine::activity::SeenDialog;
use godot::{
    classes::{AcceptDialog, Button, DisplayServer, Window},
    prelude::*,
};

use crate::node_path;

/// The dialogs that are open now.
pub(crate) fn open() -> Vec<SeenDialog> {
    shown_windows().iter().filter(|window| waits(window)).map(read).collect()
}

/// Windows of their own, and those that are drawn inside the main one.
fn shown_windows() -> Vec<Gd<Window>> {
    let Ok(tree) = node_path::scene_tree() else { return vec![] };
    let Some(root) = tree.get_root() else { return vec![] };
    let mut windows: Vec<_> = root.get_embedded_subwindows().iter_shared().collect();
    let display = DisplayServer::singleton();
    let own = |id: &i32| {
        let instance = display.window_get_attached_instance_id_ex().window_id(*id).done();
        let instance = (instance != 0).then(|| InstanceId::from_i64(instance.cast_signed()))?;
        Gd::<Window>::try_from_instance_id(instance).ok()
    };
    let ids = display.get_window_list();
    windows.extend(ids.as_slice().iter().filter_map(own).filter(|window| *window != root));
    windows
}

fn waits(window: &Gd<Window>) -> bool {
    window.is_visible() && window.is_exclusive()
}

fn read(window: &Gd<Window>) -> SeenDialog {
    let dialog = window.clone().try_cast::<AcceptDialog>().ok();
    SeenDialog {
        id: window.instance_id().to_i64(),
        class: window.get_class().to_string(),
        title: window.get_title().to_string(),
        message: dialog.as_ref().map(|dialog| dialog.get_text().to_string()).unwrap_or_default(),
        buttons: dialog.map(buttons).unwrap_or_default(),
    }
}

/// Labels of the buttons that are shown, those of the dialog's maker among them.
fn buttons(dialog: Gd<AcceptDialog>) -> Vec<String> {
    let row = dialog.get_ok_button().and_then(|ok| ok.get_parent());
    let Some(row) = row else { return vec![] };
    row.get_children_ex()
        .include_internal(true)
        .done()
        .iter_shared()
        .filter_map(|child| child.try_cast::<Button>().ok())
        .filter(|button| button.is_visible())
        .map(|button| button.get_text().to_string())
        .collect()
}
