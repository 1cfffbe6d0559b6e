//! Codes of the tools in this folder, beside those that other packs have, too.

use didi_plugin_api::prelude::Code;
pub(super) use didi_plugin_api::refusal::codes::{
    ALREADY_EXISTS, CONFLICT, DIRTY_STATE_UNAVAILABLE, GAME_NOT_PAUSED, INVALID_ARGUMENTS,
    NO_CAMERA, NO_EDITED_SCENE, NODE_NOT_OWNED, NOT_CONNECTED, NOT_FOUND, REPAUSE_FAILED,
    RUNTIME_STEP_ACTIVE, SESSION_KIND_REJECTED, SUBRESOURCE_NOT_SAVED, TIMEOUT, UNKNOWN_OUTCOME,
    UNSAVED_CHANGES,
};

/// The node comes from a scene that the open one inherits.
pub(super) const NODE_INHERITED: Code = Code::new(409, "node_inherited");
/// The scene holds the open one, itself or through others.
pub(super) const CYCLIC_INSTANCE: Code = Code::new(409, "cyclic_instance");
/// The file holds no scene.
pub(super) const NOT_A_PACKED_SCENE: Code = Code::new(422, "not_a_packed_scene");
/// The scene names files that are not there.
pub(super) const DEPENDENCIES_MISSING: Code = Code::new(422, "packed_scene_dependencies_missing");
/// A resource on the path has no such property.
pub(super) const PROPERTY_NOT_FOUND: Code = Code::new(404, "property_not_found");
/// A slot on the path holds nothing.
pub(super) const PROPERTY_SLOT_EMPTY: Code = Code::new(404, "property_slot_empty");
/// The path is none.
pub(super) const PROPERTY_PATH_INVALID: Code = Code::new(400, "property_path_invalid");
/// The path steps into something that is no resource.
pub(super) const PROPERTY_PATH_NOT_RESOURCE: Code = Code::new(400, "property_path_not_resource");
/// The property's value has no JSON form.
pub(super) const PROPERTY_TYPE_UNSUPPORTED: Code = Code::new(400, "property_type_unsupported");
/// Another tool writes that property.
pub(super) const PROPERTY_WRITE_EXCLUDED: Code = Code::new(400, "property_write_excluded");
/// One write replaces what another steps into.
pub(super) const BATCH_WRITES_OVERLAP: Code = Code::new(400, "batch_writes_overlap");
/// Animation libraries are no plain property.
pub(super) const ANIMATION_LIBRARY_SLOT: Code = Code::new(400, "animation_library_slot");
/// The scene has no file yet.
pub(super) const SCENE_NEVER_SAVED: Code = Code::new(409, "scene_never_saved");
/// Too many scenes are open to tell.
pub(super) const UNSAVED_SCAN_LIMIT: Code = Code::new(409, "unsaved_scan_limit");
/// The editor did not write the file.
pub(super) const SAVE_NOT_WRITTEN: Code = Code::new(409, "save_not_written");
/// The editor did not answer in time.
pub(super) const ROUTE_DEADLINE_EXCEEDED: Code = Code::new(504, "route_deadline_exceeded");
