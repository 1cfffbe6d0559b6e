//! The floor under every refusal: the remedy that a code carries when its site named none.
//!
//! Chosen by code, by tool where one code means several things, and by what the message names where one tool
//! can miss several kinds of thing. A fault of the server carries none, and says so.
//!
//! Spec: P-24, refusals and remedies.

use std::collections::BTreeMap;

use didi_plugin_api::refusal::{Code, Refusal, codes};
use serde_json::{Value, json};

use crate::{catalog::Catalog, recovery};

/// Codes of the host's own gates, which every tool can meet.
pub mod gate_codes {
    use super::Code;

    /// The call has to be confirmed first.
    pub const CONFIRMATION_REQUIRED: Code = Code::new(428, "confirmation_required");
    /// A confirmation was spent, or its time is over.
    pub const GONE: Code = Code::new(410, "gone");
    /// A person declined, or did not answer.
    pub const NOT_APPROVED: Code = Code::new(403, "not_approved");
    /// All jobs or calls that this server runs at once are taken.
    pub const RATE_LIMITED: Code = Code::new(429, "rate_limited");
    /// The `request_id` names a job of another call.
    pub const REQUEST_ID_CONFLICT: Code = Code::new(409, "request_id_conflict");
    /// The job was cancelled.
    pub const JOB_CANCELLED: Code = Code::new(409, "job_cancelled");
    /// A person sent this server away from the engine.
    pub const SESSION_DETACHED: Code = Code::new(409, "session_detached");
    /// The engine did not answer in time, or its connection failed.
    pub const ROUTE_DEADLINE_EXCEEDED: Code = Code::new(504, "route_deadline_exceeded");
    /// The engine's process ended under the call.
    pub const LIVE_SESSION_ENDED: Code = Code::new(502, "live_session_ended");
}

/// How one code is remedied.
#[derive(Clone, Copy)]
enum Remedy {
    Field(&'static str),
    RetryWith(&'static str, bool),
    NextCall(&'static str, &'static str),
    RestartWith(&'static str),
    RetryAfterMs(u64),
    Nothing(&'static str),
}

/// What a session's refusal sends its caller to look for.
const SESSIONS_NOW: &str = "shows the sessions as they are now";

/// The same for the server's own editor.
const RECOVERY_NOW: &str = "says how the server's own editor stands, and what can be done";

/// Remedies by code. A code with several meanings is decided by tool in [`by_tool`] first.
const BY_CODE: &[(&str, Remedy)] = &[
    ("already_exists", Remedy::RetryWith("overwrite", true)),
    ("binary_or_invalid_utf8", Remedy::Field("file_path")),
    ("cancelled", Remedy::RetryAfterMs(0)),
    ("confirmation_required", Remedy::RetryWith("dry_run", true)),
    ("conflict", Remedy::RetryAfterMs(0)),
    ("engine_unavailable", Remedy::RestartWith("GODOT_BIN naming a Godot 4.5 or newer executable")),
    ("file_too_large", Remedy::Nothing("the file is larger than this tool reads")),
    ("foreign_project_session", Remedy::RetryWith("allow_foreign_project", true)),
    ("forbidden", Remedy::Nothing("the permissions keep the server from it")),
    ("gone", Remedy::RetryWith("dry_run", true)),
    ("editor_restarted", Remedy::NextCall("runtime_recovery_status", RECOVERY_NOW)),
    (
        "managed_mode_disabled",
        Remedy::RestartWith("--managed-editor GODOT and --recovery-workspace NEW_DIR"),
    ),
    ("managed_session", Remedy::NextCall("runtime_recovery_status", RECOVERY_NOW)),
    ("needs_reconciliation", Remedy::NextCall("runtime_recovery_status", RECOVERY_NOW)),
    ("headless_engine", Remedy::NextCall("runtime_launch", "starts the game with a window")),
    ("instance_busy", Remedy::RetryAfterMs(1000)),
    ("instance_unreachable", Remedy::NextCall("unity_list_instances", "shows which instances run")),
    ("invalid_arguments", Remedy::Field("arguments")),
    ("job_cancelled", Remedy::Field("request_id")),
    ("live_session_ended", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("not_approved", Remedy::Nothing("a person declined the change")),
    (
        "not_connected",
        Remedy::NextCall("runtime_list_sessions", "finds the engines that can be attached"),
    ),
    ("project_file_busy", Remedy::RetryAfterMs(1000)),
    ("recovery_failed", Remedy::NextCall("runtime_recovery_status", RECOVERY_NOW)),
    ("recovery_protection_failed", Remedy::NextCall("runtime_recovery_status", RECOVERY_NOW)),
    ("protocol_version_rejected", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("rate_limited", Remedy::RetryAfterMs(1000)),
    ("request_failed", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("request_id_conflict", Remedy::Field("request_id")),
    ("response_too_large", Remedy::Field("arguments")),
    ("route_deadline_exceeded", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("save_not_written", Remedy::NextCall("runtime_read_output", "shows what the editor said")),
    (
        "session_detached",
        Remedy::NextCall("runtime_attach_session", "attaches again, once the person wants that"),
    ),
    (
        "session_kind_rejected",
        Remedy::NextCall("runtime_list_sessions", "finds an engine of the right kind"),
    ),
    ("teardown_failed", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("timeout", Remedy::NextCall("runtime_list_sessions", "shows whether an engine still answers")),
    (
        "toolchain_unavailable",
        Remedy::Nothing("a program that the work needs is missing on this machine"),
    ),
    ("unprocessable", Remedy::Nothing("the file has to be mended before this tool can use it")),
];

/// Remedies of what an attached engine refuses; it names a closer one itself where it knows one.
const BY_LIVE_CODE: &[(&str, Remedy)] = &[
    ("animation_library_already_added", Remedy::Nothing("what was asked for is so already")),
    ("animation_library_differs_from_disk", Remedy::RetryWith("reload_from_disk", true)),
    ("animation_library_name_taken", Remedy::Field("library_name")),
    (
        "animation_library_postcondition_mismatch",
        Remedy::NextCall("anim_list_tracks", "tells what the player holds now"),
    ),
    (
        "animation_library_reload_failed",
        Remedy::NextCall("runtime_read_output", "tells what the engine said of the file"),
    ),
    (
        "animation_library_slot",
        Remedy::NextCall("anim_add_library", "adds a library with its name"),
    ),
    ("animation_library_undo_registration_failed", Remedy::RetryAfterMs(0)),
    ("animation_library_unloadable", Remedy::Field("library_path")),
    ("argument_count_mismatch", Remedy::Field("arguments")),
    ("argument_type_mismatch", Remedy::Field("arguments")),
    ("asset_import_failed", Remedy::Field("paths")),
    ("asset_not_indexed", Remedy::Field("paths")),
    ("asset_reimport_active", Remedy::RetryAfterMs(1000)),
    ("batch_writes_overlap", Remedy::Field("writes")),
    ("bus_name_changed_by_engine", Remedy::Field("name")),
    (
        "bus_name_differs_only_in_case",
        Remedy::NextCall("audio_configure_bus", "sets the bus there is"),
    ),
    ("bus_name_in_use", Remedy::NextCall("audio_configure_bus", "sets the bus there is")),
    ("camera_path_does_not_resolve_to_camera3d", Remedy::Field("camera_path")),
    ("cyclic_instance", Remedy::Field("scene_path")),
    ("debug_adapter_failed", Remedy::RetryAfterMs(1000)),
    (
        "debug_adapter_unavailable",
        Remedy::RestartWith(
            "the editor, with --dap-port naming a port that nothing else listens on",
        ),
    ),
    ("declared_signal_not_found", Remedy::Field("signal_name")),
    ("dirty_state_unavailable", Remedy::RetryWith("discard_unsaved", true)),
    ("duplicate_gridmap_position", Remedy::Field("cells")),
    ("duplicate_tilemap_coordinate", Remedy::Field("cells")),
    ("edited_scene_changed", Remedy::RetryAfterMs(0)),
    ("editor_import_busy", Remedy::RetryAfterMs(2000)),
    ("editor_scanning", Remedy::RetryAfterMs(2000)),
    ("engine_default_action", Remedy::RetryWith("include_engine_defaults", true)),
    ("expression_execution_failed", Remedy::Field("expression")),
    ("expression_parse_failed", Remedy::Field("expression")),
    (
        "game_already_playing",
        Remedy::NextCall("runtime_control_debugger", "ends the game that plays"),
    ),
    ("game_not_paused", Remedy::NextCall("runtime_set_paused", "pauses the game")),
    ("game_not_started", Remedy::NextCall("runtime_read_output", "tells what the editor said")),
    (
        "game_not_stopped",
        Remedy::NextCall(
            "runtime_list_sessions",
            "shows the game, which answers other tools while it runs",
        ),
    ),
    (
        "ghost_budget_exceeded",
        Remedy::NextCall("editor_clear_ghost_previews", "makes room for more"),
    ),
    ("gridmap_item_not_found", Remedy::Field("cells")),
    (
        "gridmap_target_not_found",
        Remedy::NextCall("scene_get_hierarchy", "lists the nodes there are"),
    ),
    ("gridmap_target_wrong_type", Remedy::Field("gridmap_path")),
    (
        "hand_edited_import_metadata",
        Remedy::NextCall("asset_reimport", "imports the file as it is now"),
    ),
    ("import_change_not_held", Remedy::Field("options")),
    ("input_action_not_found", Remedy::Field("action")),
    ("input_queue_full", Remedy::NextCall("runtime_step", "hands the held events over")),
    ("invalid_undo_reference", Remedy::Field("journal_entry")),
    ("invariant_watch_active", Remedy::RetryAfterMs(5000)),
    (
        "journal_entry_multi_step",
        Remedy::NextCall("editor_undo", "without an entry, once for each step"),
    ),
    ("journal_entry_not_found", Remedy::Field("journal_entry")),
    (
        "journal_entry_not_undoable",
        Remedy::Nothing("a change of files is not taken back by the editor's Undo"),
    ),
    ("journal_format_newer", Remedy::Nothing("a later version of the server wrote it")),
    (
        "journal_unreadable",
        Remedy::Nothing("the next change sets the file aside and begins a new one"),
    ),
    ("library_path_case_mismatch", Remedy::Field("library_path")),
    ("load_failed", Remedy::NextCall("asset_reimport", "imports the file anew")),
    ("malformed_input_map_entry", Remedy::RetryWith("replace", true)),
    ("method_not_declared", Remedy::Field("method_name")),
    ("method_private", Remedy::Field("method_name")),
    (
        "missing_or_ambiguous_signal_connection",
        Remedy::NextCall("signal_list_connections", "lists the connections there are"),
    ),
    (
        "navigation_bake_empty",
        Remedy::Nothing(
            "the region's mesh says which geometry it looks at, and there is none of it",
        ),
    ),
    ("navigation_mesh_missing", Remedy::NextCall("scene_set_property", "gives the region a mesh")),
    ("navigation_target_wrong_type", Remedy::Field("nav_node_path")),
    (
        "no_debugged_game",
        Remedy::NextCall("runtime_control_debugger", "runs the game from the editor"),
    ),
    ("no_edited_scene", Remedy::NextCall("scene_open", "opens a scene to edit")),
    (
        "no_import_metadata",
        Remedy::NextCall(
            "asset_reimport",
            "imports the file, which writes what it is imported with",
        ),
    ),
    ("no_main_scene", Remedy::NextCall("project_set_setting", "names the scene to begin with")),
    (
        "no_navigation_map",
        Remedy::NextCall("runtime_list_sessions", "finds a game, whose map is kept up"),
    ),
    ("no_script_attached", Remedy::Field("target_node")),
    ("no_shader_assigned", Remedy::NextCall("scene_set_property", "gives the material a shader")),
    (
        "no_space_state",
        Remedy::NextCall("runtime_list_sessions", "finds a game, which has a space"),
    ),
    ("node_has_no_script", Remedy::Field("target_node")),
    (
        "node_inherited",
        Remedy::Nothing(
            "the node belongs to the scene file that `base_scene` names, and is removed there",
        ),
    ),
    (
        "node_not_owned",
        Remedy::Nothing(
            "the node belongs to the scene file that `owner_scene` names, and is changed there",
        ),
    ),
    ("not_a_packed_scene", Remedy::Field("scene_path")),
    ("not_a_shader_material", Remedy::Field("property_name")),
    (
        "not_a_visual_shader",
        Remedy::NextCall("shader_list_uniforms", "lists what can be set of the shader"),
    ),
    ("not_an_animation_library", Remedy::Field("library_path")),
    (
        "not_under_debugger",
        Remedy::NextCall("runtime_read_output", "tells errors with file and line"),
    ),
    ("nothing_to_redo", Remedy::Nothing("the history has no step in this direction")),
    ("nothing_to_undo", Remedy::Nothing("the history has no step in this direction")),
    (
        "packed_scene_dependencies_missing",
        Remedy::NextCall("project_audit_assets", "finds what the scene names and is not there"),
    ),
    ("paused_game_session", Remedy::NextCall("runtime_set_paused", "lets the game go on")),
    ("press_refused", Remedy::Field("actions")),
    ("profiler_read_active", Remedy::RetryAfterMs(2000)),
    (
        "project_file_not_writable",
        Remedy::Nothing("the file's own permissions keep it from being written"),
    ),
    ("property_not_found", Remedy::Field("property_name")),
    ("property_path_invalid", Remedy::Field("property_name")),
    ("property_path_not_resource", Remedy::Field("property_name")),
    ("property_slot_empty", Remedy::Field("property_name")),
    ("property_type_unsupported", Remedy::Field("property_name")),
    ("property_write_excluded", Remedy::Field("property_name")),
    ("reimport_idle_timeout", Remedy::Field("request_id")),
    ("reimport_needs_job", Remedy::Field("request_id")),
    ("reimport_not_found", Remedy::Field("request_id")),
    ("reimport_unread", Remedy::Field("request_id")),
    ("reload_not_found", Remedy::Field("request_id")),
    ("reload_unread", Remedy::Field("request_id")),
    ("repause_failed", Remedy::NextCall("runtime_set_paused", "pauses the game")),
    ("runtime_step_active", Remedy::RetryAfterMs(500)),
    ("scene_exploration_active", Remedy::RetryAfterMs(5000)),
    ("scene_never_saved", Remedy::RetryWith("discard_unsaved", true)),
    ("script_already_attached", Remedy::Field("target_node")),
    ("script_assignment_rejected", Remedy::Field("script_path")),
    ("script_base_incompatible", Remedy::Field("target_node")),
    ("script_not_tool", Remedy::Field("target_node")),
    ("send_bus_not_found", Remedy::Field("send")),
    ("signal_connection_already_exists", Remedy::Nothing("what was asked for is so already")),
    ("signal_emit_argument_count_exceeded", Remedy::Field("arguments")),
    ("signal_emit_argument_type_mismatch", Remedy::Field("arguments")),
    ("signal_emit_arguments_too_large", Remedy::Field("arguments")),
    ("signal_emit_arity_mismatch", Remedy::Field("arguments")),
    ("signal_target_arity_incompatible", Remedy::Field("target_method")),
    (
        "stack_is_with_editor",
        Remedy::NextCall("runtime_list_sessions", "shows the editor, which has to be attached"),
    ),
    (
        "subresource_not_saved",
        Remedy::NextCall("scene_open", "opens the scene that keeps the resource"),
    ),
    ("target_method_not_found", Remedy::Field("target_method")),
    (
        "target_script_not_compiled",
        Remedy::NextCall("script_check_syntax", "tells what keeps the script from compiling"),
    ),
    (
        "tilemap_layer_has_no_tileset",
        Remedy::NextCall("scene_set_property", "gives the layer its `tile_set`"),
    ),
    (
        "tilemap_target_not_found",
        Remedy::NextCall("scene_get_hierarchy", "lists the nodes there are"),
    ),
    ("tilemap_target_wrong_type", Remedy::Field("tilemap_path")),
    ("tilemap_tile_not_found", Remedy::Field("cells")),
    (
        "undo_entry_blocked",
        Remedy::NextCall("scene_open", "brings the scene of the entry to the front"),
    ),
    ("undo_entry_gone", Remedy::Nothing("an editor's histories end with it")),
    (
        "undo_entry_later_history",
        Remedy::NextCall("editor_undo", "without an entry, takes back the later steps first"),
    ),
    (
        "undo_entry_misdirected",
        Remedy::NextCall("editor_redo", "makes the step again that was taken back by mistake"),
    ),
    ("undo_entry_undone", Remedy::Nothing("what was asked for is so already")),
    ("undo_failed", Remedy::NextCall("runtime_read_output", "tells what the editor said")),
    (
        "unknown_outcome",
        Remedy::NextCall(
            "runtime_list_sessions",
            "shows whether the engine still runs; read back what was done before it is sent again",
        ),
    ),
    (
        "unparseable_import_metadata",
        Remedy::Nothing("the file has to be mended at the line that is named"),
    ),
    ("unsafe_expression", Remedy::Field("expression")),
    ("unsaved_changes", Remedy::RetryWith("discard_unsaved", true)),
    ("unsaved_scan_limit", Remedy::RetryWith("discard_unsaved", true)),
    (
        "unsupported_existing_connection_flags",
        Remedy::Nothing("the engine or the editor made the connection"),
    ),
    ("unsupported_signal_emit_argument", Remedy::Field("arguments")),
];

/// Codes that carry no remedy, with the reason.
const WITHOUT_REMEDY: &[(&str, &str)] = &[
    (
        "unimplemented",
        "nothing runs under this name; where another tool does the work, the refusal names its call",
    ),
    ("internal_error", "the server is at fault, not the call"),
    ("engine_refused", "the engine ran and did not do it; its own words are in the message"),
];

/// Adds the remedy that the refusal's code carries, unless its site named one.
pub fn fill(refusal: &mut Refusal, tool: &str) {
    if refusal.has_remedy() {
        return;
    }
    let code = refusal.code.name.as_ref();
    let remedy = by_tool(code, tool, &refusal.message).or_else(|| {
        let mut known = BY_CODE.iter().chain(BY_LIVE_CODE);
        known.find(|(name, _)| *name == code).map(|(_, remedy)| *remedy)
    });
    let (key, value) = match remedy {
        Some(Remedy::Field(name)) => ("field", name.into()),
        Some(Remedy::RetryWith(name, value)) => ("retry_with", json!({ name: value })),
        Some(Remedy::NextCall(tool, reason)) => {
            ("next_call", json!({"tool": tool, "reason": reason}))
        }
        Some(Remedy::RestartWith(what)) => ("restart_with", what.into()),
        Some(Remedy::RetryAfterMs(wait_ms)) => ("retry_after_ms", wait_ms.into()),
        Some(Remedy::Nothing(why)) => ("no_remedy", why.into()),
        None => ("no_remedy", without(code).into()),
    };
    refusal.data.insert(key.into(), value);
}

fn without(code: &str) -> &'static str {
    let known = WITHOUT_REMEDY.iter().find(|(name, _)| *name == code).map(|(_, why)| *why);
    known.unwrap_or("the tool names no way out of this")
}

fn by_tool(code: &str, tool: &str, message: &str) -> Option<Remedy> {
    if code != codes::NOT_FOUND.name {
        return None;
    }
    let family = |name: &str| tool.starts_with(name);
    Some(if family("blackboard_task") {
        Remedy::NextCall("blackboard_task_list", "lists the board's tasks")
    } else if family("blackboard_") {
        Remedy::NextCall("blackboard_list_keys", "lists the board's paths")
    } else if family("project_export") {
        Remedy::NextCall("project_list_export_presets", "lists the presets that the engine reads")
    } else if family("project_get_setting") {
        Remedy::NextCall("runtime_list_sessions", "an attached engine knows the defaults, too")
    } else if family("runtime_") && !message.contains("res://") {
        Remedy::NextCall("runtime_list_sessions", "lists the sessions")
    } else {
        Remedy::NextCall("project_list_resources", "lists the project's files")
    })
}

/// Whether the same call can be worth sending again as it is or with what the refusal names.
pub fn retryable(refusal: &Refusal) -> bool {
    let by_code = ["confirmation_required", "rate_limited", "not_connected", "timeout"];
    by_code.contains(&refusal.code.name.as_ref()) || refusal.data.contains_key("retry_after_ms")
}

/// The codes in use: those of the gates, and those that the tools declare.
pub fn codes_in_use(catalog: &Catalog) -> BTreeMap<String, u16> {
    use gate_codes as gates;
    let gates = [
        codes::INVALID_ARGUMENTS,
        codes::INTERNAL_ERROR,
        codes::CANCELLED,
        codes::NOT_CONNECTED,
        codes::CONFLICT,
        gates::CONFIRMATION_REQUIRED,
        gates::GONE,
        gates::NOT_APPROVED,
        gates::RATE_LIMITED,
        gates::REQUEST_ID_CONFLICT,
        gates::JOB_CANCELLED,
        gates::SESSION_DETACHED,
        recovery::EDITOR_RESTARTED,
        recovery::MANAGED_SESSION,
        recovery::NEEDS_RECONCILIATION,
        recovery::PROTECTION_FAILED,
        recovery::RECOVERY_FAILED,
        codes::SESSION_KIND_REJECTED,
        gates::ROUTE_DEADLINE_EXCEEDED,
        gates::LIVE_SESSION_ENDED,
    ];
    let declared = catalog.tools().iter().flat_map(|tool| tool.desc.codes.iter().cloned());
    let mut found = BTreeMap::new();
    for code in gates.into_iter().chain(declared) {
        // `request_failed` has a status for each way of failing; the first is that of the sessions.
        found.entry(code.name.into_owned()).or_insert(code.status);
    }
    found
}

/// The tables as the manifest publishes them.
pub fn tables(catalog: &Catalog) -> Value {
    let mut remedied = serde_json::Map::new();
    let mut without_remedy = serde_json::Map::new();
    for (name, status) in codes_in_use(catalog) {
        if let Some((_, why)) = WITHOUT_REMEDY.iter().find(|(code, _)| *code == name) {
            without_remedy.insert(name, json!({"status": status, "reason": why}));
            continue;
        }
        let code = Code { status, name: name.clone().into() };
        let mut sample = Refusal { code, message: String::new(), data: Box::default() };
        fill(&mut sample, "");
        remedied.insert(name, json!({"status": status, "floor": *sample.data}));
    }
    json!({"remedied": remedied, "without_remedy": without_remedy})
}
