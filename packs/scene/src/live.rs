//! Tools that the editor, or a running game, answers: what they have in common.
//!
//! A file of this folder is one tool: its arguments with their bounds, its effects, its codes. What a bridge method
//! does is the engine extension's; the host carries the call there and back.
//!
//! Spec: P-52, scenes.

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

/// Reads a node, for previews.
const HIERARCHY: &str = "scene.getHierarchy";

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

/// An undoable edit of the open scene, which is not saved by itself. Its preview reads the node that `of` names.
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
        .live(EDITOR, &[method, HIERARCHY])
        .preview(move |ctx, args: A| node(ctx, of(&args)))
        .leaves(&[Work::Save])
}

/// A node as it is now; one that is not there is refused.
fn node(ctx: &Ctx<'_>, path: &str) -> Result<Target, Refusal> {
    let mut said = ctx.bridge_call(HIERARCHY, json!({"root_path": path, "max_depth": 0}))?;
    Ok(Target::read(path, true, said["scene_tree"].take()))
}

/// The file of a scene that a call writes; one that is there is refused unless it may be replaced.
fn scene_to_write(ctx: &Ctx<'_>, path: &str, overwrite: bool) -> Result<Target, Refusal> {
    let found = Target::file(&ctx.project().resolve(path, "scene_path")?)?;
    if found.exists && !overwrite {
        let message = format!("`{path}` is there already");
        return Err(Refusal::new(didi_plugin_api::refusal::codes::ALREADY_EXISTS, message).floor());
    }
    Ok(found)
}

/// A scene's path has the ending of a text scene.
fn check_scene_path(path: &str) -> Result<(), Refusal> {
    if path.starts_with("res://") && path.ends_with(".tscn") {
        return Ok(());
    }
    Err(invalid("scene_path", format!("`{path}` is no `res://` path that ends in `.tscn`")))
}

/// An argument that can't be used.
fn invalid(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(didi_plugin_api::refusal::codes::INVALID_ARGUMENTS, message).field(field)
}
