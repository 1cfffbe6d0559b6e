//! Refusals of the live tools that no other test comes by, each provoked in a real editor or a real game.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use didi_tests::{
    Caller, Project,
    caller::refusal_of,
    live::{Engine, ask_engine},
    until,
};
use serde_json::{Value, json};

use super::opened;
use crate::live::game::counter;

/// Calls a tool until it is refused with a code, while another client has the same engine do something again and again.
pub(super) fn refused_beside(
    engine: &Engine,
    (method, params): (&'static str, Value),
    caller: &mut Caller,
    (tool, arguments): (&str, &Value),
    code: &str,
) -> Value {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let mut other = engine.connect();
    let works = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            // It may come second itself.
            let _ = other.ask(method, params.clone());
        }
    });
    let refusal = until(&format!("`{code}` of {tool}"), || {
        let result = caller.result(tool, arguments);
        let refused = (result["isError"] == true).then(|| refusal_of(&result))?;
        assert_eq!(refused["data"]["code"], code, "{tool}: {refused}");
        Some(refused)
    });
    stop.store(true, Ordering::Relaxed);
    works.join().unwrap();
    refusal
}

#[test]
fn a_game_that_is_watched_explored_or_stepped_is_so_once_at_a_time() {
    let project = counter();
    let Some(engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    let watch = |duration_ms: u64| {
        json!({
            "invariants": [{"kind": "performance_between", "metric": "object_node_count", "minimum": 1}],
            "duration_ms": duration_ms,
        })
    };
    let (long, short) = (("runtime.watchInvariants", watch(500)), watch(100));
    let tool = ("runtime_watch_invariants", &short);
    let refusal = refused_beside(&engine, long, &mut caller, tool, "invariant_watch_active");
    assert!(refusal["data"]["retry_after_ms"].is_u64(), "{refusal}");

    let explore = |duration_ms: u64| {
        json!({
            "actions": ["walk_right"],
            "probes": [{"expression": "1"}],
            "duration_ms": duration_ms,
            "stuck_ms": 250,
            "pause_on_stuck": false,
        })
    };
    let (long, short) = (("runtime.exploreScene", explore(500)), explore(250));
    let tool = ("runtime_explore_scene", &short);
    let refusal = refused_beside(&engine, long, &mut caller, tool, "scene_exploration_active");
    assert!(refusal["data"]["retry_after_ms"].is_u64(), "{refusal}");

    caller.done("runtime_set_paused", json!({"paused": true}));
    for tool in ["runtime_step", "physics_simulate_step"] {
        let long = ("runtime.step", json!({"frames": 60}));
        let refusal =
            refused_beside(&engine, long, &mut caller, (tool, &json!({})), "runtime_step_active");
        assert!(refusal["data"]["retry_after_ms"].is_u64(), "{refusal}");
    }
}

#[test]
fn a_paused_game_holds_so_much_input_and_no_more() {
    let project = counter();
    let Some(_engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("runtime_set_paused", json!({"paused": true}));
    let walk = json!({"type": "action", "action_name": "walk_right", "pressed": true});
    let batch = json!({"events": vec![walk.clone(); 32]});
    for _ in 0..8 {
        assert_eq!(caller.done("runtime_inject_input", batch.clone())["queued_event_count"], 32);
    }
    let one = json!({"events": [walk]});
    let refusal = caller.refusal("runtime_inject_input", one.clone());
    assert_eq!(refusal["data"]["code"], "input_queue_full", "{refusal}");
    assert_eq!(refusal["data"]["next_call"]["tool"], "runtime_step", "{refusal}");
    let stepped = caller.done("runtime_step", json!({}));
    assert_eq!(stepped["released_input_events"], 256, "{stepped}");
    assert_eq!(caller.done("runtime_inject_input", one)["queued_event_count"], 1);
}

const HEARS: &str = "@tool\nextends Node2D\n\nvar call := Callable()\n\n\nfunc one(_a: int) -> void:\n\tpass\n\n\nfunc none() -> void:\n\tpass\n";

#[test]
fn an_open_scene_refuses_scripts_connections_tiles_and_libraries_that_do_not_fit() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    project.write("hears.gd", HEARS);
    project.write("button.gd", "extends Button\n");
    project.write("broken.gd", "extends Node2D\n\n\nfunc told( -> void:\n");
    project.write("broken.tres", "[gd_resource type=\"AnimationLibrary\" format=3]\n\n[resource\n");
    let attach = |node: &str, script: &str| json!({"target_node": node, "script_path": script});
    caller.edits("script_attach_to_node", attach("/root/Map", "res://hears.gd"));
    caller.edits("scene_instantiate_node", json!({"node_type": "TileMapLayer", "name": "Blank"}));
    caller.edits("scene_instantiate_node", json!({"node_type": "Node2D", "name": "Broken"}));
    caller.edits("script_attach_to_node", attach("Broken", "res://broken.gd"));
    let press = |target: &str, method: &str| json!({"emitter_node": "Panel/Button", "signal_name": "pressed", "target_node": target, "target_method": method});
    caller.edits("signal_connect", press("/root/Map", "none"));
    let before = caller.saved(&project, "map.tscn");
    let tile = json!([{"coords": [0, 0], "source_id": 0, "atlas_coords": [0, 0]}]);
    let library = |file: &str, name: &str| json!({"animation_player_path": "Player", "library_path": file, "library_name": name});
    for (tool, arguments, code) in [
        (
            "script_attach_to_node",
            attach("/root/Map", "res://player/player.gd"),
            "script_already_attached",
        ),
        ("script_attach_to_node", attach("Tiles", "res://button.gd"), "script_base_incompatible"),
        ("script_attach_to_node", attach("Tiles", "res://more.tres"), "script_assignment_rejected"),
        ("signal_connect", press("/root/Map", "none"), "signal_connection_already_exists"),
        ("signal_connect", press("/root/Map", "one"), "signal_target_arity_incompatible"),
        ("signal_connect", press("/root/Map", "nobody"), "target_method_not_found"),
        ("signal_connect", press("Broken", "told"), "target_script_not_compiled"),
        (
            "tilemap_set_cells",
            json!({"tilemap_path": "Blank", "cells": tile}),
            "tilemap_layer_has_no_tileset",
        ),
        ("anim_add_library", library("res://more.tres", ""), "animation_library_name_taken"),
        ("anim_add_library", library("res://broken.tres", "b"), "animation_library_unloadable"),
        (
            "scene_set_property",
            json!({"target_node": "Player", "property_name": "libraries/", "value": null}),
            "animation_library_slot",
        ),
    ] {
        let refusal = caller.refusal_either_way(tool, arguments);
        assert_eq!(refusal["data"]["code"], code, "{tool}: {refusal}");
    }
    assert_eq!(caller.saved(&project, "map.tscn"), before, "a refusal changes nothing");
    let call = json!({"target_node": "/root/Map", "property_name": "call"});
    assert_eq!(caller.refused("scene_get_property", call), "property_type_unsupported");
    assert_eq!(caller.refused("editor_redo", json!({})), "nothing_to_redo");
}

#[test]
fn a_library_whose_file_has_changed_is_taken_anew_when_that_is_said() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let library = |player: &str| json!({"animation_player_path": player, "library_path": "res://more.tres", "library_name": "more"});
    caller.edits("anim_add_library", library("Player"));
    caller
        .edits("scene_instantiate_node", json!({"node_type": "AnimationPlayer", "name": "Other"}));
    let length = |caller: &mut Caller| {
        let told = caller.done("anim_list_tracks", json!({"animation_player_path": "Player"}));
        let all = told["animations"].as_array().unwrap();
        all.iter().find(|one| one["name"] == "more/run").unwrap()["length"].clone()
    };
    let before = length(&mut caller);
    let text = project.text("more.tres").unwrap();
    let longer = "resource_name = \"run\"\nlength = 7.5";
    project.write("more.tres", text.replace("resource_name = \"run\"", longer));
    let refusal = caller.refusal_either_way("anim_add_library", library("Other"));
    assert_eq!(refusal["data"]["code"], "animation_library_differs_from_disk", "{refusal}");
    assert_eq!(refusal["data"]["retry_with"], json!({"reload_from_disk": true}), "{refusal}");
    let mut anew = library("Other");
    anew["reload_from_disk"] = true.into();
    let mut preview = anew.clone();
    preview["dry_run"] = true.into();
    let preview = caller.done("anim_add_library", preview)["mutation_preview"].clone();
    let seen = &preview["changes"][0]["before"];
    assert_eq!(seen["editor_copy_matches_file"], false, "{preview}");
    assert_eq!(length(&mut caller), before, "a preview reads nothing anew");
    let added = caller.edits("anim_add_library", anew);
    assert_eq!(added["reloaded_from_disk"], true, "{added}");
    assert_eq!(length(&mut caller), 7.5);
    let mut upper = library("Player");
    upper["library_path"] = "res://MORE.tres".into();
    let refusal = caller.refusal("anim_add_library", upper);
    assert_eq!(refusal["data"]["code"], "library_path_case_mismatch", "{refusal}");
    assert_eq!(refusal["data"]["library_path_on_disk"], "res://more.tres", "{refusal}");
    assert_eq!(refusal["data"]["retry_with"], json!({"library_path": "res://more.tres"}));
}

/// An animation of one key, which puts its node at a place.
fn stride(kind: &str, x: f64) -> String {
    format!(
        "[{kind}]\nresource_name = \"stride\"\ntracks/0/type = \"value\"\ntracks/0/imported = false\ntracks/0/enabled = true\n\
         tracks/0/path = NodePath(\"Lamp:position\")\ntracks/0/interp = 1\ntracks/0/loop_wrap = true\ntracks/0/keys = {{\n\
         \"times\": PackedFloat32Array(0),\n\"transitions\": PackedFloat32Array(1),\n\"update\": 0,\n\
         \"values\": [Vector2({x}, 0)]\n}}\n\n"
    )
}

#[test]
fn a_library_is_compared_to_its_last_key_and_so_are_animations_in_files_of_their_own() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let lay = |own: f64, other: f64| {
        let animation = stride("resource", other);
        project
            .write("far.tres", format!("[gd_resource type=\"Animation\" format=3]\n\n{animation}"));
        project.write("Strides.tres", "");
        project.write("strides.tres", format!(
            "[gd_resource type=\"AnimationLibrary\" load_steps=3 format=3]\n\n[ext_resource type=\"Animation\" path=\"res://far.tres\" id=\"1\"]\n\n{}[resource]\n_data = {{\n&\"far\": ExtResource(\"1\"),\n&\"near\": SubResource(\"near\")\n}}\n",
            stride("sub_resource type=\"Animation\" id=\"near\"", own)
        ));
    };
    lay(1.0, 1.0);
    let library = |player: &str| json!({"animation_player_path": player, "library_path": "res://strides.tres", "library_name": "strides"});
    let mut players = (0..).map(|number| format!("Player{number}"));
    let mut player = |caller: &mut Caller| {
        let name = players.next().unwrap();
        let made = json!({"node_type": "AnimationPlayer", "name": name});
        caller.edits("scene_instantiate_node", made);
        name
    };
    let first = player(&mut caller);
    caller.edits("anim_add_library", library(&first));
    for (own, other) in [(2.0, 1.0), (2.0, 2.0)] {
        lay(own, other);
        let next = player(&mut caller);
        assert_eq!(
            caller.refused("anim_add_library", library(&next)),
            "animation_library_differs_from_disk"
        );
        let mut anew = library(&next);
        anew["reload_from_disk"] = true.into();
        caller.edits("anim_add_library", anew);
        // Every player has the one copy, and that is the file's now.
        let other = player(&mut caller);
        caller.edits("anim_add_library", library(&other));
    }
}

#[test]
fn what_is_no_scene_or_lacks_a_part_is_not_instanced_and_not_opened() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    project.write("odd.tscn", "[gd_resource type=\"Gradient\" format=3]\n\n[resource]\n");
    project.write("lacks.tscn", "[gd_scene load_steps=2 format=3]\n\n[ext_resource type=\"Texture2D\" path=\"res://nowhere.png\" id=\"1\"]\n[ext_resource type=\"Gradient\" path=\"res://gone.tres\" id=\"2\"]\n\n[node name=\"Lacks\" type=\"Sprite2D\"]\ntexture = ExtResource(\"1\")\nmetadata/faint = ExtResource(\"2\")\n");
    // One whose settings are there, and neither the file nor what was imported of it.
    project.write("nowhere.png.import", "[remap]\n\nimporter=\"texture\"\ntype=\"CompressedTexture2D\"\npath=\"res://.godot/imported/nowhere.ctex\"\n\n[deps]\n\nsource_file=\"res://nowhere.png\"\n");
    let before = caller.saved(&project, "map.tscn");
    for (scene, code) in [
        ("res://odd.tscn", "not_a_packed_scene"),
        ("res://lacks.tscn", "packed_scene_dependencies_missing"),
    ] {
        let ask = json!({"scene_path": scene});
        let refusal = caller.refusal_either_way("scene_instantiate_node", ask);
        assert_eq!(refusal["data"]["code"], code, "{scene}: {refusal}");
        if code == "packed_scene_dependencies_missing" {
            assert_eq!(
                refusal["data"]["missing"],
                json!(["res://nowhere.png", "res://gone.tres"]),
                "{refusal}"
            );
            // An editor would ask a person, and leave out for good what is missing when it is saved.
            let opened = caller.refusal_either_way("scene_open", json!({"scene_path": scene}));
            assert_eq!(opened["data"]["code"], code, "{opened}");
            let missing = json!(["res://gone.tres", "res://nowhere.png"]);
            assert_eq!(opened["data"]["missing"], missing, "{opened}");
            project.write("holds.tscn", "[gd_scene load_steps=2 format=3]\n\n[ext_resource type=\"PackedScene\" path=\"res://lacks.tscn\" id=\"1\"]\n\n[node name=\"Holds\" instance=ExtResource(\"1\")]\n");
            let holds = json!({"scene_path": "res://holds.tscn"});
            let opened = caller.refusal_either_way("scene_open", holds);
            assert_eq!(opened["data"]["missing"], missing, "through another: {opened}");
            assert_eq!(refusal["data"]["next_call"]["tool"], "project_audit_assets");
        }
    }
    project.write(
        "torn.tscn",
        "[gd_scene format=3]\n\n[node name=\"Torn\" type=\"Node2D\"]\nposition = Vector2(1,\n",
    );
    for (scene, code) in [
        ("res://odd.tscn", "not_a_packed_scene"),
        ("res://torn.tscn", "packed_scene_dependencies_missing"),
    ] {
        let opened = caller.refusal("scene_open", json!({"scene_path": scene}));
        assert_eq!(opened["data"]["code"], code, "{opened}");
    }
    assert_eq!(caller.saved(&project, "map.tscn"), before, "it is the one in front still");
}

#[test]
fn an_import_waits_for_another_and_for_the_editors_own_scan() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let svg = project.text("icon.svg").unwrap();
    let mut client = engine.connect();
    let mut written = 0;
    let refusal = until("`asset_reimport_active`", || {
        // One that the editor has not seen is imported in a later frame than the one that takes it up.
        written += 1;
        let path = format!("first/{written}.svg");
        project.write(&path, &svg);
        let other = json!({"paths": [format!("res://{path}")], "detach_timeout_ms": 60_000});
        client.done("asset.reimport", other);
        let result = caller.result("asset_reimport", &json!({"paths": ["res://icon.svg"]}));
        let refused = (result["isError"] == true).then(|| refusal_of(&result))?;
        (refused["data"]["code"] == "asset_reimport_active").then_some(refused)
    });
    assert!(refusal["data"]["retry_after_ms"].is_u64(), "{refusal}");
    let refusal = until("`editor_import_busy`", || {
        written += 1;
        let path = format!("beside/{written}.svg");
        project.write(&path, &svg);
        let other = json!({"paths": [format!("res://{path}")], "detach_timeout_ms": 60_000});
        // The one before may go on still.
        client.ask("asset.reimport", other).ok()?;
        let refused =
            client.ask("editor.reloadProject", json!({"detach_timeout_ms": 60_000})).err()?;
        (refused.code_name() == Some("editor_import_busy")).then_some(refused)
    });
    assert!(refusal.data["retry_after_ms"].is_u64(), "{refusal:?}");
    let refusal = until("`editor_scanning`", || {
        // A file that the editor has not seen takes a scan, and a millisecond is none.
        written += 1;
        let path = format!("fresh/{written}.svg");
        project.write(&path, &svg);
        let ask = json!({"paths": [format!("res://{path}")], "timeout_ms": 1});
        let result = caller.result("asset_reimport", &ask);
        let refused = (result["isError"] == true).then(|| refusal_of(&result))?;
        (refused["data"]["code"] == "editor_scanning").then_some(refused)
    });
    assert_eq!(refusal["data"]["outcome"], "not_imported", "{refusal}");
    let unknown = "0".repeat(32);
    for (method, field, code) in [
        ("asset.reimportStatus", "reimport_id", "reimport_not_found"),
        ("editor.reloadStatus", "reload_id", "reload_not_found"),
    ] {
        assert_eq!(client.refused(method, json!({field: unknown})).1, code);
    }
}

#[test]
fn an_option_that_the_engine_drops_is_put_back() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let text = project.text("icon.svg.import").unwrap();
    project.write("icon.svg.import", text.replace("[params]\n", "[params]\n\nold/option=1\n"));
    let ask = json!({"asset_path": "res://icon.svg", "options": {"old/option": 2}});
    let refusal = caller.refusal("asset_configure_import", ask);
    assert_eq!(refusal["data"]["code"], "import_change_not_held", "{refusal}");
    assert_eq!(refusal["data"]["divergences"][0]["key"], "old/option", "{refusal}");
    let both = (&refusal["data"]["rolled_back"], &refusal["data"]["reimported"]);
    assert_eq!(both, (&json!(true), &json!(true)), "{refusal}");
    let loads = "return load(\"res://icon.svg\") is Texture2D";
    assert_eq!(ask_engine(&project, loads), true);
}

#[test]
fn a_scene_that_was_never_saved_is_neither_saved_nor_closed() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    // The editor's own button makes such a scene; a script presses it here.
    let fresh = "@tool\nextends Node2D\n\n\nfunc fresh() -> void:\n\
        \tfor scene in EditorInterface.get_open_scenes():\n\t\tEditorInterface.close_scene.call_deferred()\n\
        \tEditorInterface.add_root_node.call_deferred(Node.new())\n";
    project.write("fresh.gd", fresh);
    let attach = json!({"target_node": "/root/Map", "script_path": "res://fresh.gd"});
    caller.edits("script_attach_to_node", attach);
    caller.done("editor_save_scene", json!({}));
    let call = json!({"target_node": "/root/Map", "method_name": "fresh"});
    caller.confirmed("scene_call_method", call);
    let refusal = until("a scene without a file", || {
        let result = caller.result("editor_save_scene", &json!({}));
        let refused = (result["isError"] == true).then(|| refusal_of(&result))?;
        // Between the closing and the adding there is none.
        (refused["data"]["code"] != "no_edited_scene").then_some(refused)
    });
    assert_eq!(refusal["data"]["code"], "scene_never_saved", "{refusal}");
    let refusal = caller.refusal("scene_close", json!({}));
    assert_eq!(refusal["data"]["code"], "scene_never_saved", "{refusal}");
    assert_eq!(refusal["data"]["retry_with"], json!({"discard_unsaved": true}), "{refusal}");
    caller.done("scene_close", json!({"discard_unsaved": true}));
}

#[test]
fn an_action_whose_entry_is_no_action_is_replaced_when_that_is_said() {
    let project = Project::sample();
    let text = project.text("project.godot").unwrap();
    project.write("project.godot", text.replace("[input]\n", "[input]\n\nodd=5\n"));
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let ask = json!({"action": "odd", "events": [{"type": "key", "physical_keycode": 32}]});
    let refusal = caller.refusal_either_way("project_set_input_action", ask);
    assert_eq!(refusal["data"]["code"], "malformed_input_map_entry", "{refusal}");
    let way = refusal["data"]["next_call"].clone();
    caller.done(way["tool"].as_str().unwrap(), way["arguments"].clone());
    let body = "var odd = ProjectSettings.get_setting(\"input/odd\")\nreturn odd.events.map(func(one): return one.physical_keycode)";
    assert_eq!(ask_engine(&project, body), json!([32]));
}

#[test]
fn a_project_file_that_may_not_be_written_stays_as_it_is() {
    let project = Project::sample();
    let file = project.file("project.godot");
    let Some(_engine) = Engine::obedient_editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    let before = project.text("project.godot");
    for (tool, arguments) in [
        ("project_set_setting", json!({"setting": "application/config/name", "value": "Other"})),
        ("project_set_autoload", json!({"name": "Again", "path": "res://data/score.gd"})),
        ("project_set_input_action", json!({"action": "fly"})),
        ("project_remove_autoload", json!({"name": "Score"})),
        ("project_remove_input_action", json!({"action": "walk_left"})),
    ] {
        let refusal = caller.refusal(tool, arguments);
        assert_eq!(refusal["data"]["code"], "project_file_not_writable", "{tool}: {refusal}");
        assert_eq!(refusal["data"]["rolled_back"], true, "{tool}: {refusal}");
    }
    assert_eq!(project.text("project.godot"), before);
}
