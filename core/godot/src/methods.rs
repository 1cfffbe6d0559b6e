//! The one dispatcher: from a method's name to the function that carries it out. A method is a file.
#![allow(clippy::unnecessary_wraps, reason = "every method has the same signature")]

mod anim;
mod asset;
mod audio;
mod editor;
mod engine;
mod export;
mod gridmap;
mod nav;
mod physics;
pub(crate) mod preview;
mod previews;
mod project;
mod resource;
mod runtime;
mod scene;
mod script;
mod shader;
mod signal;
mod tilemap;
mod ui;
mod vision;

use std::sync::Arc;

use didi_engine::{Answer, Task, server::Shared};
use didi_wire::{BridgeError, SessionKind};

use crate::{change::Planned, params::Params};

/// What a method is given beside its parameters.
pub(crate) struct Context {
    /// Editor or game.
    pub(crate) kind: SessionKind,
    /// What the bridge's own threads see too.
    pub(crate) shared: Arc<Shared>,
}

/// How a method runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Within the frame that takes it up.
    Now(fn(&Context, &Params) -> Answer),
    /// Checked and read first, then made; a preview is the first half.
    Change(fn(&Context, &Params) -> Planned),
    /// Over several frames.
    Later(fn(&Context, &Params) -> Begun),
}

/// A command that goes on in later frames, or was refused at once.
pub(crate) type Begun = Result<Box<dyn Task>, BridgeError>;

use Run::{Change, Later, Now};

/// Every method that this extension has, sorted by name.
const METHODS: &[(&str, Run)] = &[
    ("anim.addLibrary", Change(anim::add_library::plan)),
    ("anim.listTracks", Now(anim::list_tracks::run)),
    ("anim.playTrack", Now(anim::play_track::run)),
    ("asset.readImportedStream", Now(asset::read_imported_stream::run)),
    ("asset.reimport", Later(asset::reimport::run)),
    ("audio.addBus", Change(audio::add_bus::plan)),
    ("audio.configureBus", Now(audio::configure_bus::run)),
    ("audio.listBuses", Now(audio::list_buses::run)),
    ("editor.getProtocolServers", Now(editor::get_protocol_servers::run)),
    ("editor.getRecoveryState", Now(editor::get_recovery_state::run)),
    ("editor.getSelection", Now(editor::get_selection::run)),
    ("editor.getState", Now(editor::get_state::run)),
    ("editor.openScenes", Now(editor::open_scenes::run)),
    ("editor.redo", Now(editor::redo::run)),
    ("editor.reloadProject", Later(editor::reload_project::run)),
    ("editor.saveScene", Now(editor::save_scene::run)),
    ("editor.undo", Now(editor::undo::run)),
    ("engine.classExists", Now(engine::class_exists::run)),
    ("export.reloadPresets", Now(export::reload_presets::run)),
    ("gridmap.setCells", Change(gridmap::set_cells::plan)),
    ("nav.bakeMesh", Change(nav::bake_mesh::plan)),
    ("nav.queryPath", Now(nav::query_path::run)),
    ("physics.clearance", Now(physics::clearance::run)),
    ("physics.raycast", Now(physics::raycast::run)),
    ("physics.raycastBatch", Now(physics::raycast_batch::run)),
    ("physics.simulateStep", Later(physics::simulate_step::run)),
    ("preview.clearGhosts", Now(preview::clear_ghosts::run)),
    ("preview.renderGhost", Now(preview::render_ghost::run)),
    ("project.getSetting", Now(project::get_setting::run)),
    ("project.listAutoloads", Now(project::list_autoloads::run)),
    ("project.listInputActions", Now(project::list_input_actions::run)),
    ("project.removeAutoload", Change(project::remove_autoload::plan)),
    ("project.removeInputAction", Change(project::remove_input_action::plan)),
    ("project.resolveUids", Now(project::resolve_uids::run)),
    ("project.setAutoload", Change(project::set_autoload::plan)),
    ("project.setInputAction", Change(project::set_input_action::plan)),
    ("project.setSetting", Change(project::set_setting::plan)),
    ("resource.refreshCached", Later(resource::refresh_cached::run)),
    ("runtime.controlDebugger", Later(runtime::control_debugger::run)),
    ("runtime.evalGdscript", Now(runtime::eval_gdscript::run)),
    ("runtime.exploreScene", Later(runtime::explore_scene::run)),
    ("runtime.getCallStack", Later(runtime::get_call_stack::run)),
    ("runtime.getTree", Now(runtime::get_tree::run)),
    ("runtime.injectInput", Now(runtime::inject_input::run)),
    ("runtime.readProfiler", Later(runtime::read_profiler::run)),
    ("runtime.setPaused", Now(runtime::set_paused::run)),
    ("runtime.step", Later(runtime::step::run)),
    ("runtime.stop", Now(runtime::stop::run)),
    ("runtime.watchInvariants", Later(runtime::watch_invariants::run)),
    ("scene.addToGroup", Change(scene::add_to_group::plan)),
    ("scene.callMethod", Change(scene::call_method::plan)),
    ("scene.close", Later(scene::close::run)),
    ("scene.create", Change(scene::create::plan)),
    ("scene.duplicateNode", Change(scene::duplicate_node::plan)),
    ("scene.getGroupMembers", Now(scene::get_group_members::run)),
    ("scene.getHierarchy", Now(scene::get_hierarchy::run)),
    ("scene.getProperty", Now(scene::get_property::run)),
    ("scene.instantiateNode", Change(scene::instantiate_node::plan)),
    ("scene.listGroups", Now(scene::list_groups::run)),
    ("scene.open", Change(scene::open::plan)),
    ("scene.packBranch", Change(scene::pack_branch::plan)),
    ("scene.removeFromGroup", Change(scene::remove_from_group::plan)),
    ("scene.removeNode", Change(scene::remove_node::plan)),
    ("scene.reparentNode", Change(scene::reparent_node::plan)),
    ("scene.setProperty", Change(scene::set_property::plan)),
    ("script.attachToNode", Change(script::attach_to_node::plan)),
    ("script.detachFromNode", Change(script::detach_from_node::plan)),
    ("shader.getVisualGraph", Now(shader::get_visual_graph::run)),
    ("shader.listUniforms", Now(shader::list_uniforms::run)),
    ("shader.setUniform", Change(shader::set_uniform::plan)),
    ("signal.connect", Change(signal::connect::plan)),
    ("signal.disconnect", Change(signal::disconnect::plan)),
    ("signal.emit", Change(signal::emit::plan)),
    ("signal.listConnections", Now(signal::list_connections::run)),
    ("tilemap.getUsedRect", Now(tilemap::get_used_rect::run)),
    ("tilemap.setCells", Change(tilemap::set_cells::plan)),
    ("ui.hitTest", Now(ui::hit_test::run)),
    ("ui.listControls", Now(ui::list_controls::run)),
    ("vision.capturePasses", Later(vision::capture_passes::run)),
    ("vision.captureViewport", Later(vision::capture_viewport::run)),
    ("vision.diffViewport", Later(vision::diff_viewport::run)),
    ("vision.frustumQuery", Now(vision::frustum_query::run)),
    ("vision.setCameraTransform", Change(vision::set_camera_transform::plan)),
    ("vision.toggleDebugDraw", Change(vision::toggle_debug_draw::plan)),
];

/// The function of a method, where this extension has it.
pub(crate) fn find(name: &str) -> Option<Run> {
    let at = METHODS.binary_search_by_key(&name, |(method, _)| method).ok()?;
    Some(METHODS[at].1)
}

#[cfg(test)]
mod tests;
