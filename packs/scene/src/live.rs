//! Tools that the editor, or a running game, answers: what they have in common.
//!
//! A file of this folder is one tool: its arguments with their bounds, its effects, its codes. What a bridge method
//! does is the engine extension's; the host carries the call there and back.
//!
//! Spec: P-52, scenes.

use std::path::Path;

use didi_plugin_api::prelude::*;

mod add_bus;
mod add_library;
mod add_to_group;
mod bake_mesh;
mod call_method;
mod clearance;
mod close;
mod codes;
mod configure_bus;
mod connect;
mod create;
mod disconnect;
mod duplicate_node;
mod emit;
mod frustum;
mod get_group_members;
mod get_property;
mod get_selection;
mod get_used_rect;
mod hit_test;
mod instantiate_node;
mod list_connections;
mod list_controls;
mod list_groups;
mod list_tracks;
mod open;
mod pack_branch;
mod play_track;
mod query_path;
mod raycast;
mod raycast_batch;
mod redo;
mod remove_from_group;
mod remove_node;
mod reparent_node;
mod save;
mod set_cells;
mod set_grid_cells;
mod set_property;
mod simulate_step;
mod space;
mod undo;

#[cfg(test)]
mod tests;

pub(crate) const EDITOR: &[SessionKind] = &[SessionKind::Editor];
const GAME: &[SessionKind] = &[SessionKind::Game];
pub(crate) const BOTH: &[SessionKind] = &[SessionKind::Editor, SessionKind::Game];

/// The tools, in listing order.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        instantiate_node::tool(),
        remove_node::tool(),
        reparent_node::tool(),
        duplicate_node::tool(),
        set_property::tool(),
        get_property::tool(),
        call_method::tool(),
        get_selection::tool(),
        list_groups::tool(),
        get_group_members::tool(),
        add_to_group::tool(),
        remove_from_group::tool(),
        create::tool(),
        open::tool(),
        close::tool(),
        pack_branch::tool(),
        save::tool(),
        undo::tool(),
        redo::tool(),
        list_connections::tool(),
        connect::tool(),
        disconnect::tool(),
        emit::tool(),
        list_tracks::tool(),
        add_library::tool(),
        play_track::tool(),
        set_cells::tool(),
        get_used_rect::tool(),
        set_grid_cells::tool(),
        list_controls::tool(),
        hit_test::tool(),
        configure_bus::tool(),
        add_bus::tool(),
        raycast::tool(),
        raycast_batch::tool(),
        clearance::tool(),
        frustum::tool(),
        query_path::tool(),
        simulate_step::tool(),
        bake_mesh::tool(),
    ]
}

/// The arguments of a tool about one node.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneNode {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
}

/// What every tool about a node of the open scene may be refused with.
const NODE_CODES: &[Code] =
    &[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NO_EDITED_SCENE, codes::NOT_FOUND];

/// A reading tool about what is in a scene.
fn read<A>(name: &str, about: &str, kinds: &[SessionKind], method: &'static str) -> Tool
where
    A: serde::de::DeserializeOwned + Serialize + JsonSchema,
{
    Tool::of_engine::<A>(name, about, Effects::READS, kinds, method).refuses(NODE_CODES)
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
        .probed(method, of)
        .leaves(&[Work::Save])
        .refuses(NODE_CODES)
        .refuses(&[codes::NODE_NOT_OWNED])
}

/// A scene's path has the ending of a text scene.
fn check_scene_path(path: &str) -> Result<(), Refusal> {
    let ending = Path::new(path).extension();
    if path.starts_with("res://") && ending.is_some_and(|ending| ending == "tscn") {
        return Ok(());
    }
    Err(Refusal::invalid(
        "scene_path",
        format!("`{path}` is no `res://` path that ends in `.tscn`"),
    ))
}
