//! Tools that the editor, or a running game, answers: what they have in common.
//!
//! A file of this folder is one tool: its arguments with their bounds, its effects, its codes. What a bridge method
//! does is the engine extension's; the host carries the call there and back.
//!
//! Spec: P-52, scenes.

use std::path::Path;

use didi_plugin_api::prelude::*;

mod add_library;
mod add_to_group;
mod close;
mod codes;
mod connect;
mod create;
mod get_property;
mod get_used_rect;
mod instantiate_node;
mod list_controls;
mod list_tracks;
mod open;
mod pack_branch;
mod redo;
mod remove_node;
mod save;
mod set_cells;
mod set_property;
mod undo;

#[cfg(test)]
mod tests;

pub(crate) const EDITOR: &[SessionKind] = &[SessionKind::Editor];
pub(crate) const BOTH: &[SessionKind] = &[SessionKind::Editor, SessionKind::Game];

/// The tools, in listing order.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        instantiate_node::tool(),
        remove_node::tool(),
        set_property::tool(),
        get_property::tool(),
        add_to_group::tool(),
        create::tool(),
        open::tool(),
        close::tool(),
        pack_branch::tool(),
        save::tool(),
        undo::tool(),
        redo::tool(),
        connect::tool(),
        list_tracks::tool(),
        add_library::tool(),
        set_cells::tool(),
        get_used_rect::tool(),
        list_controls::tool(),
    ]
}

/// An undoable edit of the open scene, which is not saved by itself. `of` names what it is about.
fn edit<A>(
    name: &str,
    about: &str,
    effects: Effects,
    method: &'static str,
    of: fn(&A) -> &str,
) -> Tool
where
    A: serde::de::DeserializeOwned + Serialize + JsonSchema + 'static,
{
    Tool::of_engine::<A>(name, about, effects, EDITOR, method)
        .core()
        .probed(method, of)
        .leaves(&[Work::Save])
}

/// A scene's path has the ending of a text scene.
fn check_scene_path(path: &str) -> Result<(), Refusal> {
    let ending = Path::new(path).extension();
    if path.starts_with("res://") && ending.is_some_and(|ending| ending == "tscn") {
        return Ok(());
    }
    Err(invalid("scene_path", format!("`{path}` is no `res://` path that ends in `.tscn`")))
}

/// An argument that can't be used.
fn invalid(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(codes::INVALID_ARGUMENTS, message).field(field)
}
