//! One real refusal of each code, kept as a snapshot, and each with a way out or the reason why there is none.
//!
//! `INSTA_UPDATE=always cargo test` rewrites the snapshots; a changed one is a changed promise.

use std::{collections::BTreeMap, fs, path::Path};

use didi_tests::{
    Launch, Project, REMEDIES, Server,
    live::sessions,
    modern,
    redact::redact,
    scripted::{Act, Scripted},
    stub_engine, tests_folder,
    unity::{self, Unity},
};
use didi_wire::{
    SessionKind,
    lock::{self, Holder},
};
use serde_json::{Map, Value, json};

use crate::contracts::{ledger, manifest};

/// A stub that works until it is told to go on.
const WAITS: &str = "while [ ! -e \"$3/go\" ]; do sleep 0.02; done; printf GDPC0000 > \"$6\"";
/// A stub that ends as an engine without export templates does.
const NO_TEMPLATES: &str = "echo 'No export template found at the expected path:'; \
                            echo '/nowhere/linux_release.x86_64'; exit 1";

/// A stub that ends as GUT does, with a report that holds what `CASES` is replaced by.
const GUT_RUN: &str = "for one in \"$@\"; do case \"$one\" in -gjunit_xml_file=*) out=${one#*=};; esac; done; \
                       printf '<testsuites><testsuite name=\"res://test/test_a.gd\">CASES</testsuite></testsuites>' \
                       > \"$out\"";
const TESTS: [&str; 5] = [
    "no_tests",
    "output_truncated",
    "project_not_imported",
    "scripts_did_not_load",
    "tests_failed",
];

const BRIDGE: [&str; 6] = [
    "foreign_project_session",
    "protocol_version_rejected",
    "request_failed",
    "route_deadline_exceeded",
    "session_detached",
    "session_kind_rejected",
];

/// What a server with an editor of its own refuses; its engine is a stub that ends at once.
const MANAGED: [&str; 4] =
    ["managed_session", "needs_reconciliation", "recovery_failed", "recovery_protection_failed"];

/// What is refused of an entry of the change journal, before the editor is asked or by what it then says.
const JOURNAL: [&str; 8] = [
    "invalid_undo_reference",
    "journal_entry_multi_step",
    "journal_entry_not_found",
    "journal_entry_not_undoable",
    "journal_format_newer",
    "journal_unreadable",
    "undo_entry_gone",
    "undo_entry_misdirected",
];

/// What is refused because of an instance of another engine.
const INSTANCES: [&str; 2] = ["instance_busy", "instance_unreachable"];

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a case is played on.
struct Stage {
    project: Project,
    server: Server,
    /// What has to stay while the case is played: an engine, a lock.
    kept: Vec<Box<dyn std::any::Any>>,
    /// Another project, where the case has one.
    other: Option<Project>,
}

impl Stage {
    /// A server without an engine.
    fn bare() -> Self {
        let project = Project::sample();
        let engine = project.outside().join("no-engine");
        let server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
        Stage { project, server, kept: vec![], other: None }
    }

    /// A server that finds the engines which publish themselves for the stage's project.
    fn bridged() -> Self {
        let project = Project::sample();
        let folder = sessions(&project).path;
        let server = Launch::over(project.root()).env("DIDI_SESSION_DIR", folder).start();
        Stage { project, server, kept: vec![], other: None }
    }

    /// Calls a tool on a session.
    fn call_on(&mut self, session: &str, tool: &str, arguments: Value) -> Value {
        let meta = json!({"didi": {"runtime_session_id": session}});
        self.server.call_with(tool, arguments, Map::from_iter([("_meta".to_owned(), meta)]))
    }

    /// A server whose engine is a shell script.
    fn stub(body: &str) -> Self {
        let project = Project::sample();
        let engine = stub_engine(project.outside(), body);
        let server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
        Stage { project, server, kept: vec![], other: None }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.server.call(tool, arguments)
    }

    fn token(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut preview = arguments.clone();
        preview["dry_run"] = true.into();
        let preview = self.call(tool, preview);
        let mut confirmed = arguments.clone();
        confirmed["confirmation_token"] =
            preview["structuredContent"]["mutation_preview"]["confirmation_token"].clone();
        confirmed
    }

    /// Starts a job that goes on as a task, and answers the task's id.
    fn task(&mut self, arguments: Value) -> Value {
        let meta =
            json!({"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}});
        let more = Map::from_iter([("_meta".to_owned(), meta)]);
        self.server.call_with("project_export", arguments, more)["taskId"].clone()
    }
}

fn rewrite() -> Value {
    json!({"script_path": "res://lamps/lamp.gd", "source_text": "extends Node2D\n", "overwrite": true})
}

fn export(output: &str) -> Value {
    json!({"preset": "Linux", "output_path": output, "mode": "pack"})
}

/// A scripted Unity that is busy, or that nobody answers for.
fn instance(code: &str) -> (Stage, Value) {
    let busy = |_: &unity::Seen, _| unity::Act::busy("settling");
    let unity = if code == "instance_busy" { Unity::start(busy) } else { Unity::absent() };
    let mut stage = Stage::bare();
    let folder = unity.root();
    let result = stage.call("unity_editor_status", json!({"instance": folder}));
    stage.kept.push(Box::new(unity));
    (stage, result)
}

/// Provokes the refusal of a code, without an engine of the machine.
fn provoke(code: &str) -> Option<(Stage, Value)> {
    if TESTS.contains(&code) {
        return Some(test_run(code));
    }
    if BRIDGE.contains(&code) {
        return Some(session(code));
    }
    if MANAGED.contains(&code) {
        return Some(managed(code));
    }
    if INSTANCES.contains(&code) {
        return Some(instance(code));
    }
    if JOURNAL.contains(&code) || code == "reimport_needs_job" {
        return Some(attached(code));
    }
    let mut stage = match code {
        "engine_refused" => Stage::stub("echo 'ERROR: it broke'; exit 1"),
        "toolchain_unavailable" => Stage::stub(NO_TEMPLATES),
        "verification_failed" => Stage::stub("exit 1"),
        "timeout" | "rate_limited" | "job_cancelled" => Stage::stub(WAITS),
        "request_id_conflict" | "forbidden" => Stage::stub("printf GDPC0000 > \"$6\""),
        _ => Stage::bare(),
    };
    let result = match code {
        "already_exists" => stage.call(
            "script_create",
            json!({"script_path": "res://lamps/lamp.gd", "source_text": "extends Node2D\n"}),
        ),
        "binary_or_invalid_utf8" => {
            stage.project.write("res://bad.gd", b"var x = \"\xff\"\n");
            stage.call("script_get_symbols", json!({"file_path": "res://bad.gd"}))
        }
        "confirmation_required" => stage.call("script_create", rewrite()),
        "conflict" => {
            let confirmed = stage.token("script_create", &rewrite());
            stage.project.write("res://lamps/lamp.gd", "# edited meanwhile\n");
            stage.call("script_create", confirmed)
        }
        "unimplemented" => stage.call(
            "mutate_scene_tree",
            json!({"action": "duplicate", "target_node": "/root/Level/Lamp"}),
        ),
        "managed_mode_disabled" => stage.call("runtime_recovery_status", json!({})),
        "engine_unavailable" => stage.call("project_export", export("res://build/a.pck")),
        "engine_refused" | "toolchain_unavailable" => {
            stage.call("project_export", export("res://build/a.pck"))
        }
        "file_too_large" => {
            let file = fs::File::create(stage.project.file("res://big.gd")).unwrap();
            file.set_len(9 << 20).unwrap();
            stage.call("script_get_symbols", json!({"file_path": "res://big.gd"}))
        }
        // A file stands where the artifact's folder would have to be.
        "forbidden" => stage.call("project_export", export("res://icon.svg/a.pck")),
        "gone" => {
            let confirmed = stage.token("script_create", &rewrite());
            stage.call("script_create", confirmed.clone());
            stage.call("script_create", confirmed)
        }
        "invalid_arguments" => stage.call("script_create", json!({"path": "res://a.gd"})),
        "job_cancelled" => job_cancelled(&mut stage),
        "not_approved" => not_approved(&mut stage),
        "not_connected" => stage.call("runtime_get_session", json!({})),
        "not_found" => stage.call("resource_inspect", json!({"resource_path": "res://gone.tres"})),
        "project_file_busy" => project_file_busy(&mut stage),
        "rate_limited" => {
            for name in ["a", "b", "c", "d"] {
                stage.task(export(&format!("res://build/{name}.pck")));
            }
            let mut fifth = export("res://build/e.pck");
            fifth["request_id"] = "the-fifth".into();
            stage.call("project_export", fifth)
        }
        "request_id_conflict" => {
            let mut job = export("res://build/a.pck");
            job["request_id"] = "export-1".into();
            stage.call("project_export", job.clone());
            job["output_path"] = "res://build/b.pck".into();
            stage.call("project_export", job)
        }
        "setting_type_mismatch" => stage
            .call("project_set_setting", json!({"setting": "application/config/name", "value": 1})),
        "translation_source_registered" => {
            let made = "[deps]\n\nfiles=[\"res://words.de.translation\"]\n";
            stage.project.write("res://words.csv.import", made);
            translations(&mut stage, "res://words.csv")
        }
        "translation_source_not_imported" => translations(&mut stage, "res://words.csv"),
        "not_a_translation" => translations(&mut stage, "res://words.txt"),
        "timeout" => {
            let mut slow = export("res://build/a.pck");
            slow["timeout_seconds"] = 1.into();
            stage.call("project_export", slow)
        }
        "unprocessable" => {
            stage.project.write(".didi/blackboard/default.json", "no board");
            stage.call("blackboard_read", json!({}))
        }
        "verification_failed" => {
            let change = json!({"path": "res://bad.gd", "content": "extends Node\n"});
            let confirmed = stage.token("project_apply_changes", &json!({"changes": [change]}));
            stage.call("project_apply_changes", confirmed)
        }
        _ => return None,
    };
    Some((stage, result))
}

/// A run of GUT over one test script, by a stub that prints what an engine would.
fn test_run(code: &str) -> (Stage, Value) {
    let case = "<testcase name=\"test_a\" assertions=\"1\" status=\"pass\"/>";
    let failed = "<testcase name=\"test_a\"><failure>1 is not 2 at line 4</failure></testcase>";
    let report = |cases: &str| GUT_RUN.replace("CASES", cases);
    let broken = |file: &str| {
        format!(
            "echo 'SCRIPT ERROR: Parse Error: Identifier \"A\" not declared.' >&2; \
             echo '   at: GDScript::reload ({file}:2)' >&2; "
        )
    };
    let body = match code {
        "no_tests" => report(""),
        "output_truncated" => format!("yes x | head -c 2200000; {}", report(case)),
        "project_not_imported" => broken("res://addons/gut/gut.gd") + "exit 1",
        "scripts_did_not_load" => broken("res://player/player.gd") + &report(case),
        _ => report(failed) + "; exit 1",
    };
    let mut stage = Stage::stub(&body);
    stage.project.write("res://addons/gut/gut_cmdln.gd", "extends SceneTree\n");
    stage.project.write("res://test/test_a.gd", "extends RefCounted\n");
    let result = stage.call("project_run_tests", json!({}));
    (stage, result)
}

/// A refusal of a server that owns an editor.
fn managed(code: &str) -> (Stage, Value) {
    let project = Project::sample();
    let engine = stub_engine(project.outside(), "exit 1");
    let workspace = project.outside().join("recovery");
    let server = Launch::over(project.root())
        .args(["--managed-editor".as_ref(), engine.as_os_str()])
        .args(["--recovery-workspace".as_ref(), workspace.as_os_str()])
        .env("DIDI_SESSION_DIR", sessions(&project).path)
        .start();
    let mut stage = Stage { project, server, kept: vec![], other: None };
    // Waits until the editor was seen to fail.
    stage.call("project_get_setting", json!({"setting": "application/config/name"}));
    let mut change = |value: &str| {
        let change = json!({"setting": "application/config/name", "value": value});
        stage.server.call("project_set_setting", change)
    };
    let result = match code {
        "managed_session" => {
            stage.call("runtime_attach_session", json!({"session_id": "0".repeat(32)}))
        }
        "recovery_failed" => stage.call("runtime_recover_editor", json!({})),
        _ => {
            change("One");
            // The next checkpoint has no folder to go to.
            fs::rename(workspace.join("checkpoints"), workspace.join("away")).unwrap();
            fs::write(workspace.join("checkpoints"), "").unwrap();
            let failed = change("Two");
            if code == "needs_reconciliation" { change("Three") } else { failed }
        }
    };
    (stage, result)
}

/// A refusal about a session, by an engine that is scripted so.
fn session(code: &str) -> (Stage, Value) {
    let mut stage = Stage::bridged();
    let other = Project::sample();
    let project =
        if code == "foreign_project_session" { other.root() } else { stage.project.root() };
    let kind =
        if code == "session_kind_rejected" { SessionKind::Game } else { SessionKind::Editor };
    let lies = code == "protocol_version_rejected";
    let is_away = code == "session_detached";
    let folder = sessions(&stage.project);
    let engine = Scripted::start(
        &folder,
        &project,
        kind,
        move |_, _| if is_away { Act::Refuse(409, "session_detached", false) } else { Act::HangUp },
        move |identity| {
            let mut answer = json!(identity);
            answer["status"] = if lies { "later" } else { "ok" }.into();
            Act::Answer(answer)
        },
    );
    let id = engine.session();
    if code == "request_failed" {
        let holder = Holder { pid: 1, name: "another".into(), since_ms: 1 };
        stage.kept.push(Box::new(lock::acquire(&folder, id.parse().unwrap(), &holder).unwrap()));
    }
    let change = json!({"setting": "application/config/name", "value": "New"});
    let result = match code {
        "route_deadline_exceeded" | "session_detached" | "session_kind_rejected" => {
            stage.call_on(&id, "project_set_setting", change)
        }
        _ => stage.call("runtime_attach_session", json!({ "session_id": id })),
    };
    stage.kept.push(Box::new(engine));
    stage.other = Some(other);
    (stage, result)
}

/// A refusal of the server's own to a call that an editor would serve.
fn attached(code: &str) -> (Stage, Value) {
    let mut stage = Stage::bridged();
    let root = stage.project.root();
    let engine = Scripted::editor(&sessions(&stage.project), &root, |_, _| {
        Act::Answer(json!({"history": "scene", "undone": "Move Lamp"}))
    });
    let id = engine.session();
    let result = if code == "reimport_needs_job" {
        let long = json!({"paths": ["res://icon.svg"], "timeout_ms": 60_000});
        stage.call_on(&id, "asset_reimport", long)
    } else {
        stage.project.write(".didi/journal.json", journal(code, &id));
        stage.call_on(&id, "editor_undo", json!({"journal_entry": "1-abcdef"}))
    };
    stage.kept.push(Box::new(engine));
    (stage, result)
}

/// A journal whose one entry is refused so.
fn journal(code: &str, session: &str) -> String {
    let step = json!({"history": "scene", "history_id": 1, "version": 2, "action": "Add Lamp"});
    let steps = match code {
        "journal_entry_multi_step" => json!([step, step]),
        "invalid_undo_reference" => json!([{"history": "scene"}]),
        _ => json!([step]),
    };
    let session = if code == "undo_entry_gone" { "an older one" } else { session };
    let undo = match code {
        "journal_entry_not_undoable" => Value::Null,
        _ => json!({"session_id": session, "steps": steps}),
    };
    let name = if code == "journal_entry_not_found" { "2-abcdef" } else { "1-abcdef" };
    let format = if code == "journal_format_newer" { 2 } else { 1 };
    let entries = json!([{"id": name, "tool": "scene_instantiate_node", "undo": undo}]);
    let text = json!({"format": format, "dropped": 0, "entries": entries}).to_string();
    if code == "journal_unreadable" { text.replace('}', "") } else { text }
}

fn job_cancelled(stage: &mut Stage) -> Value {
    let mut job = export("res://build/a.pck");
    job["request_id"] = "export-1".into();
    let task = stage.task(job);
    let capabilities = json!({"extensions": {TASKS: {}}});
    let params = json!({
        "taskId": task,
        "_meta": {"io.modelcontextprotocol/clientCapabilities": capabilities},
    });
    stage.server.request("tasks/cancel", modern(params));
    stage.call("project_export", json!({"request_id": "export-1"}))
}

fn not_approved(stage: &mut Stage) -> Value {
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let mut more = Map::from_iter([("_meta".to_owned(), meta)]);
    let asked = stage.server.call_with("script_create", rewrite(), more.clone());
    more.insert("requestState".into(), asked["requestState"].clone());
    more.insert("inputResponses".into(), json!({"confirm": {"action": "decline"}}));
    stage.server.call_with("script_create", rewrite(), more)
}

/// Registers a file of words as the only translation.
fn translations(stage: &mut Stage, file: &str) -> Value {
    stage.project.write(file, "keys,de\n");
    let setting = "internationalization/locale/translations";
    stage.call("project_set_setting", json!({"setting": setting, "value": [file]}))
}

/// Another process holds the lock of the board's file.
fn project_file_busy(stage: &mut Stage) -> Value {
    let write = json!({"path": "/a", "value": 1});
    stage.call("blackboard_write", write.clone());
    let locks = fs::read_dir(stage.project.file(".didi/locks")).unwrap();
    let held: Vec<fs::File> = locks
        .map(|entry| fs::File::options().write(true).open(entry.unwrap().path()).unwrap())
        .collect();
    assert!(!held.is_empty(), "a change takes a lock");
    for file in &held {
        file.lock().unwrap();
    }
    stage.call("blackboard_write", write)
}

/// Codes that no test here can provoke, with the reason.
const UNPROVOKED: &[(&str, &str)] = &[
    (
        "bus_name_changed_by_engine",
        "the engine changes only names that are taken, which are refused before",
    ),
    ("cancelled", "a cancelled call gets no answer"),
    ("internal_error", "a fault of the server's; `packs.rs` shows one with a pack that panics"),
    ("headless_engine", "only an attached engine says so"),
    ("save_not_written", "only an attached editor says so"),
    ("scenario_failed", "only a game of a real engine fails so; `scenarios.rs` shows one"),
    ("teardown_failed", "only a game that does not end says so"),
    ("live_session_ended", "only an engine whose process has ended says so"),
    ("editor_restarted", "only an editor that died leads to it; `recovery.rs` shows one"),
    ("response_too_large", "no answer without an engine is that large"),
    ("setting_not_found", "only an attached engine says so"),
];

/// Codes that only a real engine gives, of what it found in its scenes, its project or its game: a test of the engine
/// names each.
const LIVE: &[&str] = &[
    "animation_library_already_added",
    "animation_library_differs_from_disk",
    "animation_library_name_taken",
    "animation_library_slot",
    "animation_library_unloadable",
    "argument_count_mismatch",
    "argument_type_mismatch",
    "asset_import_failed",
    "asset_not_indexed",
    "asset_reimport_active",
    "batch_writes_overlap",
    "bus_name_differs_only_in_case",
    "bus_name_in_use",
    "camera_path_does_not_resolve_to_camera3d",
    "cyclic_instance",
    "debug_adapter_unavailable",
    "declared_signal_not_found",
    "dirty_state_unavailable",
    "duplicate_gridmap_position",
    "duplicate_tilemap_coordinate",
    "edited_scene_changed",
    "editor_import_busy",
    "editor_scanning",
    "engine_default_action",
    "expression_execution_failed",
    "expression_parse_failed",
    "game_already_playing",
    "game_not_paused",
    "game_not_stopped",
    "ghost_budget_exceeded",
    "gridmap_item_not_found",
    "gridmap_target_not_found",
    "gridmap_target_wrong_type",
    "hand_edited_import_metadata",
    "import_change_not_held",
    "input_action_not_found",
    "input_queue_full",
    "invariant_watch_active",
    "library_path_case_mismatch",
    "malformed_input_map_entry",
    "method_not_declared",
    "method_private",
    "missing_or_ambiguous_signal_connection",
    "navigation_bake_empty",
    "navigation_mesh_missing",
    "navigation_target_wrong_type",
    "no_debugged_game",
    "no_edited_scene",
    "no_import_metadata",
    "no_main_scene",
    "no_navigation_map",
    "no_script_attached",
    "no_shader_assigned",
    "node_has_no_script",
    "node_inherited",
    "node_not_owned",
    "not_a_packed_scene",
    "not_a_shader_material",
    "not_a_visual_shader",
    "not_an_animation_library",
    "not_under_debugger",
    "nothing_to_redo",
    "nothing_to_undo",
    "packed_scene_dependencies_missing",
    "paused_game_session",
    "profiler_read_active",
    "project_file_not_writable",
    "property_not_found",
    "property_path_invalid",
    "property_path_not_resource",
    "property_slot_empty",
    "property_type_unsupported",
    "property_write_excluded",
    "reimport_not_found",
    "reload_not_found",
    "runtime_step_active",
    "scene_exploration_active",
    "scene_never_saved",
    "script_already_attached",
    "script_assignment_rejected",
    "script_base_incompatible",
    "script_not_tool",
    "send_bus_not_found",
    "signal_connection_already_exists",
    "signal_emit_argument_count_exceeded",
    "signal_emit_argument_type_mismatch",
    "signal_emit_arguments_too_large",
    "signal_emit_arity_mismatch",
    "signal_target_arity_incompatible",
    "stack_is_with_editor",
    "subresource_not_saved",
    "target_method_not_found",
    "target_script_not_compiled",
    "tilemap_layer_has_no_tileset",
    "tilemap_target_not_found",
    "tilemap_target_wrong_type",
    "tilemap_tile_not_found",
    "undo_entry_blocked",
    "undo_entry_later_history",
    "undo_entry_undone",
    "unknown_outcome",
    "unparseable_import_metadata",
    "unsafe_expression",
    "unsaved_changes",
    "unsupported_existing_connection_flags",
    "unsupported_signal_emit_argument",
];

/// Codes that only a real engine gives and that no test provokes, with the reason.
const UNSHOWN: &[(&str, &str)] = &[
    ("animation_library_postcondition_mismatch", "an engine that did not do what it was told"),
    ("animation_library_reload_failed", "a file that is read well is not read a moment later"),
    ("animation_library_undo_registration_failed", "the engine says nothing of a failed action"),
    (
        "debug_adapter_failed",
        "an adapter that answers no longer, or in words that are none of its protocol",
    ),
    ("game_not_started", "an editor that says yes and then runs no game"),
    ("load_failed", "a sound that was imported just now is loaded by the engine that imported it"),
    (
        "no_space_state",
        "every window has a world; an engine whose script takes it away ends at once (measured)",
    ),
    ("press_refused", "an action that there is can be pressed, and the others are refused before"),
    ("reimport_idle_timeout", "an editor that neither reads its files nor imports for so long"),
    ("reimport_unread", "work that nobody asks for within a minute; `detached/tests.rs` shows one"),
    ("reload_unread", "the same of a reload"),
    ("repause_failed", "an engine that does not pause"),
    ("undo_failed", "an engine that does not undo"),
    ("unsaved_scan_limit", "all open scenes are looked at, however many there are"),
];

#[test]
fn every_code_in_use_has_its_snapshot() {
    let manifest = manifest();
    let refusals = &manifest["refusals"];
    let codes = ["remedied", "without_remedy"]
        .iter()
        .flat_map(|part| refusals[*part].as_object().unwrap().keys().cloned().collect::<Vec<_>>());
    let mut unseen = vec![];
    for code in codes {
        let excused = UNPROVOKED.iter().any(|(known, _)| *known == code)
            || LIVE.contains(&code.as_str())
            || UNSHOWN.iter().any(|(known, _)| *known == code);
        match provoke(&code) {
            Some((stage, result)) => {
                assert!(!excused, "`{code}` can be provoked after all");
                keep(&code, &stage, &result);
            }
            None if excused => {}
            None => unseen.push(code),
        }
    }
    assert!(unseen.is_empty(), "codes that no test provokes: {unseen:?}");
}

fn keep(code: &str, stage: &Stage, result: &Value) {
    assert_eq!(result["isError"], true, "`{code}` was not provoked: {result}");
    assert!(result.get("structuredContent").is_none(), "a refusal has no data: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let refusal: Value = serde_json::from_str(text).unwrap();
    let data = &refusal["error"]["data"];
    assert_eq!(data["code"], code, "{refusal}");
    let has = REMEDIES.iter().any(|name| data.get(name).is_some());
    assert!(has, "`{code}` names no way out, and no reason why there is none: {refusal}");
    let root = stage.project.root().canonicalize().unwrap();
    let mut folders: Vec<(&Path, &str)> =
        vec![(&root, "[project]"), (stage.project.outside(), "[outside]")];
    if let Some(other) = &stage.other {
        folders.push((other.outside(), "[other]"));
    }
    let shown = redact(&refusal, &folders);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_json_snapshot!(format!("refusal__{code}"), shown));
}

#[test]
fn every_code_in_use_is_in_the_ledger() {
    let manifest = manifest();
    let mut published = BTreeMap::new();
    for (code, entry) in manifest["refusals"]["remedied"].as_object().unwrap() {
        let remedy = entry["floor"].as_object().unwrap().keys().next().unwrap().clone();
        let remedy = json!({"status": entry["status"], "remedy": remedy});
        published.insert(code.clone(), remedy);
    }
    for (code, entry) in manifest["refusals"]["without_remedy"].as_object().unwrap() {
        let why = json!({"status": entry["status"], "no_remedy": entry["reason"]});
        published.insert(code.clone(), why);
    }
    let ledger: BTreeMap<String, Value> =
        ledger("refusals").as_object().unwrap().clone().into_iter().collect();
    for (code, entry) in &published {
        assert_eq!(ledger.get(code), Some(entry), "`{code}` in tests/contracts/refusals.json");
    }
    for code in ledger.keys() {
        assert!(published.contains_key(code), "no tool or gate refuses with `{code}` any more");
    }
}

#[test]
fn codes_of_the_engine_are_named_by_its_tests_or_known_to_lack_one() {
    let mut tests = String::new();
    // A scripted engine gives whatever it is told to.
    let real = [
        "live",
        "live_tools",
        "live.rs",
        "live_tools.rs",
        "live_many.rs",
        "godot.rs",
        "arc.rs",
        "scenarios.rs",
    ];
    let mut open: Vec<_> = real.iter().map(|name| tests_folder().join("it").join(name)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") {
            tests += &fs::read_to_string(path).unwrap();
        }
    }
    let is_named =
        |code: &str| tests.contains(&format!("\"{code}\"")) || tests.contains(&format!("({code})"));
    let silent: Vec<_> = LIVE.iter().filter(|code| !is_named(code)).collect();
    assert!(silent.is_empty(), "codes that no test of the engine names: {silent:?}");
    let shown: Vec<_> = UNSHOWN.iter().filter(|(code, _)| is_named(code)).collect();
    assert!(shown.is_empty(), "codes that a test names after all: {shown:?}");
}
