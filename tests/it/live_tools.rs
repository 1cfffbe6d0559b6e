//! The live tools through the real server, in a real editor and a real game, as a client calls them. Effects are
//! looked at in saved files, by a separate engine, or in the engine's own state; never in a tool's own answer.

mod bakes;
mod behind;
mod call_stack;
mod edits;
mod further;
pub(crate) mod pictures;
mod presets;
mod profiler;
mod reads;
mod refused;
mod space;
mod ticks;

use didi_tests::{
    Caller, Project,
    live::{Engine, ask_engine},
};
use serde_json::{Value, json};

use crate::live::{
    game::counter,
    parts::{LIBRARY, MAP},
};

const JOURNAL: &str = "godot://project/journal";

/// An editor with the scene of tiles, animations and controls open.
fn opened() -> Option<(Project, Engine, Caller)> {
    let project = Project::sample();
    project.write("map.tscn", MAP);
    // With a name of its own: the editor gives a file without one its name while the test runs.
    let named = LIBRARY.replace("format=3]", "format=3 uid=\"uid://b5tq0w8yd1m2k\"]");
    project.write("more.tres", named);
    let engine = Engine::editor(&project)?;
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://map.tscn"}));
    Some((project, engine, caller))
}

/// The code of a refusal for the sake of what is not saved: an older editor does not tell what that is.
fn code_of_unsaved(engine: &Engine) -> &'static str {
    let open = engine.connect().done("editor.openScenes", json!({}));
    let readable = open["unsaved_scenes_readable"].as_bool();
    let readable = readable.unwrap_or_else(|| panic!("it says whether it tells: {open}"));
    if readable { "unsaved_changes" } else { "dirty_state_unavailable" }
}

#[test]
fn a_scene_is_authored_and_loaded_by_another_engine() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let scene =
        json!({"scene_path": "res://made/arena.tscn", "root_type": "Node2D", "root_name": "Arena"});
    caller.done("scene_create", scene.clone());
    assert_eq!(caller.refused("scene_create", scene), "already_exists");
    let script = json!({"script_path": "res://made/arena.gd", "source_text": "extends Node2D\n\n\nfunc on_tick() -> void:\n\tpass\n"});
    let written = caller.result("script_create", &script);
    assert_eq!(written["isError"], false, "{written}");
    for (tool, arguments) in [
        (
            "scene_instantiate_node",
            json!({"node_type": "CharacterBody2D", "name": "Hero", "properties": {"position": {"x": 12, "y": 34}}}),
        ),
        (
            "scene_instantiate_node",
            json!({"scene_path": "res://lamps/lamp.tscn", "parent_path": "/root/Arena/Hero", "name": "Lamp"}),
        ),
        ("scene_instantiate_node", json!({"node_type": "Timer", "name": "Tick"})),
        (
            "scene_set_property",
            json!({"target_node": "/root/Arena/Tick", "property_name": "wait_time", "value": 0.25}),
        ),
        (
            "scene_set_property",
            json!({"writes": [
                {"target_node": "Hero", "property_name": "rotation", "value": 0.5},
                {"target_node": "Hero", "property_name": "modulate", "value": "#ff0000"},
                {"target_node": "Tick", "property_name": "autostart", "value": true},
            ]}),
        ),
        ("scene_add_to_group", json!({"target_node": "Hero", "group": "heroes"})),
        (
            "script_attach_to_node",
            json!({"target_node": "/root/Arena", "script_path": "res://made/arena.gd"}),
        ),
        (
            "signal_connect",
            json!({"emitter_node": "Tick", "signal_name": "timeout", "target_node": "/root/Arena", "target_method": "on_tick"}),
        ),
    ] {
        caller.edits(tool, arguments);
    }
    let branch = json!({"target_node": "Hero", "scene_path": "res://made/hero.tscn"});
    caller.done("scene_pack_branch", branch);
    caller.done("editor_save_scene", json!({}));
    let body = "var arena = load(\"res://made/arena.tscn\").instantiate()\n\
        var hero = arena.get_node(\"Hero\")\nvar tick = arena.get_node(\"Tick\")\n\
        var told = [arena.get_script().resource_path, hero.position.y, hero.modulate.to_html(), hero.is_in_group(\"heroes\"),\n\
        \thero.get_node(\"Lamp\").scene_file_path, tick.wait_time, tick.autostart, tick.timeout.get_connections().size()]\n\
        arena.free()\nvar alone = load(\"res://made/hero.tscn\").instantiate()\n\
        told.append(alone.get_class())\nalone.free()\nreturn told";
    let wanted = json!([
        "res://made/arena.gd",
        34.0,
        "ff0000ff",
        true,
        "res://lamps/lamp.tscn",
        0.25,
        true,
        1,
        "CharacterBody2D"
    ]);
    assert_eq!(ask_engine(&project, body), wanted);
}

#[test]
fn every_edit_is_taken_back_and_made_again() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    project.write("map.gd", "extends Node2D\n\n\nfunc on_press() -> void:\n\tpass\n");
    let press = json!({"emitter_node": "Panel/Button", "signal_name": "pressed", "target_node": "/root/Map", "target_method": "queue_free"});
    let edits = vec![
        ("scene_instantiate_node", json!({"node_type": "Node2D", "name": "New"})),
        ("scene_remove_node", json!({"target_node": "Panel"})),
        (
            "scene_set_property",
            json!({"writes": [
                {"target_node": "Panel/Button", "property_name": "text", "value": "Put it out"},
                {"target_node": "Tiles", "property_name": "visible", "value": false},
            ]}),
        ),
        ("scene_add_to_group", json!({"target_node": "Panel", "group": "panels"})),
        (
            "script_attach_to_node",
            json!({"target_node": "/root/Map", "script_path": "res://map.gd"}),
        ),
        ("signal_connect", press),
        (
            "anim_add_library",
            json!({"animation_player_path": "Player", "library_path": "res://more.tres", "library_name": "more"}),
        ),
        (
            "tilemap_set_cells",
            json!({"tilemap_path": "Tiles", "cells": [{"coords": [2, 3], "source_id": 0, "atlas_coords": [1, 0]}]}),
        ),
    ];
    taken_back_and_made_again(&mut caller, &project, "map.tscn", edits);
}

/// Makes each edit of the open scene, takes it back, makes it again and takes it back, looking at the saved file.
fn taken_back_and_made_again(
    caller: &mut Caller,
    project: &Project,
    file: &str,
    edits: Vec<(&str, Value)>,
) {
    let before = caller.saved(project, file);
    for (tool, arguments) in edits {
        caller.edits(tool, arguments);
        let after = caller.saved(project, file);
        assert_ne!(after, before, "{tool}");
        caller.edits("editor_undo", json!({}));
        assert_eq!(caller.saved(project, file), before, "{tool} is taken back");
        caller.edits("editor_redo", json!({}));
        assert_eq!(caller.saved(project, file), after, "{tool} is made again");
        caller.edits("editor_undo", json!({}));
        assert_eq!(caller.saved(project, file), before, "{tool} is taken back again");
    }
}

#[test]
fn an_entry_of_the_journal_is_taken_back_when_it_is_the_newest_step() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let before = caller.saved(&project, "map.tscn");
    let made = json!({"node_type": "Node2D", "name": "First"});
    let made = caller.edits("scene_instantiate_node", made);
    assert_eq!(made.get("engine_diagnostics"), None, "an edit is nothing to warn of: {made}");
    let first = caller.resource(JOURNAL)["entries"][0].clone();
    assert_eq!(first["tool"], "scene_instantiate_node", "{first}");
    assert_eq!(first["undo"]["steps"][0]["history"], "scene", "{first}");
    caller.edits("scene_instantiate_node", json!({"node_type": "Node2D", "name": "Second"}));
    let second = caller.resource(JOURNAL)["entries"][0].clone();
    let entry = |entry: &Value| json!({"journal_entry": entry["id"]});
    let states = |caller: &mut Caller| -> Vec<Value> {
        let journal = caller.resource(JOURNAL);
        assert_eq!(journal["editor"]["judged"], true, "{journal}");
        let of = |one: &Value| {
            let entries = journal["entries"].as_array().unwrap().iter();
            entries
                .filter(|entry| entry["id"] == one["id"])
                .map(|entry| entry["undo_state"].clone())
                .next()
        };
        [&first, &second].into_iter().filter_map(of).collect()
    };
    assert_eq!(states(&mut caller), ["later_history", "available"]);
    caller.done("scene_open", json!({"scene_path": "res://levels/meadow.tscn"}));
    assert_eq!(states(&mut caller), ["blocked", "blocked"]);
    let blocked = caller.refusal("editor_undo", entry(&second));
    assert_eq!(blocked["data"]["code"], "undo_entry_blocked", "{blocked}");
    let way = json!({"scene_path": "res://map.tscn"});
    assert_eq!(blocked["data"]["next_call"]["arguments"], way, "{blocked}");
    caller.done("scene_open", json!({"scene_path": "res://map.tscn"}));
    assert_eq!(caller.refused("editor_undo", entry(&first)), "undo_entry_later_history");
    let both = caller.saved(&project, "map.tscn");
    assert!(both.contains("First") && both.contains("Second"), "a refusal takes nothing back");
    caller.edits("editor_undo", entry(&second));
    caller.edits("editor_undo", entry(&first));
    assert_eq!(states(&mut caller), ["undone", "undone"]);
    assert_eq!(caller.refused("editor_undo", entry(&first)), "undo_entry_undone");
    assert_eq!(caller.saved(&project, "map.tscn"), before);
    let saves = caller.resource(JOURNAL)["entries"][0].clone();
    assert_eq!(caller.refused("editor_undo", entry(&saves)), "journal_entry_not_undoable");
}

/// A history counts its steps, so what is made in the place of a step has its number, and often its name.
#[test]
fn an_entry_is_not_taken_back_for_the_one_in_its_place() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let newest = |caller: &mut Caller| caller.resource(JOURNAL)["entries"][0].clone();
    let add = |caller: &mut Caller, group: &str| {
        caller.edits("scene_add_to_group", json!({"target_node": "/root/Map", "group": group}));
        newest(caller)
    };
    let entry = |entry: &Value| json!({"journal_entry": entry["id"]});
    let first = add(&mut caller, "one");
    caller.edits("editor_undo", entry(&first));
    let undo = newest(&mut caller);
    caller.edits("editor_redo", json!({}));
    caller.edits("editor_undo", entry(&first));
    let other = add(&mut caller, "one");
    let version = |entry: &Value| entry["undo"]["steps"][0]["version"].clone();
    assert_eq!(version(&first), version(&other), "{first}\n{other}");
    let journal = caller.resource(JOURNAL);
    let told = |meant: &Value, what: &str| {
        let mut entries = journal["entries"].as_array().unwrap().iter();
        entries.find(|one| one["id"] == meant["id"]).unwrap()[what].clone()
    };
    assert_eq!(
        (told(&first, "undo_state"), told(&other, "undo_state")),
        ("undone".into(), "available".into())
    );
    assert_ne!(told(&first, "undone_by"), undo["id"], "the newest that took it back");
    assert_eq!(
        (told(&undo, "undoes"), told(&first, "scene")),
        (first["id"].clone(), "res://map.tscn".into())
    );
    assert_eq!(caller.refused("editor_undo", entry(&first)), "undo_entry_undone");
    assert!(caller.saved(&project, "map.tscn").contains("\"one\""), "it takes nothing back");

    caller.done("scene_close", json!({"discard_unsaved": true}));
    caller.done("scene_open", json!({"scene_path": "res://map.tscn"}));
    assert_eq!(caller.refused("editor_undo", entry(&other)), "undo_entry_gone");
}

#[test]
fn a_preview_changes_nothing_and_misses_what_the_call_would() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let before = caller.saved(&project, "map.tscn");
    let gone = "/root/Map/Nobody";
    for (tool, arguments) in [
        ("scene_remove_node", json!({"target_node": gone})),
        ("scene_instantiate_node", json!({"node_type": "Timer", "parent_path": gone})),
        ("scene_set_property", json!({"target_node": gone, "property_name": "name", "value": "x"})),
        ("scene_add_to_group", json!({"target_node": gone, "group": "g"})),
        (
            "script_attach_to_node",
            json!({"target_node": gone, "script_path": "res://player/player.gd"}),
        ),
        ("scene_pack_branch", json!({"target_node": gone, "scene_path": "res://gone.tscn"})),
        (
            "anim_add_library",
            json!({"animation_player_path": gone, "library_path": "res://more.tres"}),
        ),
    ] {
        let mut preview = arguments.clone();
        preview["dry_run"] = true.into();
        assert_eq!(caller.refused(tool, preview), "not_found", "{tool}");
        assert_eq!(caller.refused(tool, arguments), "not_found", "{tool}");
    }
    let tiles = json!({"tilemap_path": gone, "cells": [{"coords": [0, 0], "erase": true}], "dry_run": true});
    assert_eq!(caller.refused("tilemap_set_cells", tiles), "tilemap_target_not_found");
    let preview = json!({"target_node": "Panel", "dry_run": true});
    let seen = caller.done("scene_remove_node", preview)["mutation_preview"].clone();
    assert_eq!(seen["changes"][0]["before"]["path"], "/root/Map/Panel", "{seen}");
    assert_eq!(caller.saved(&project, "map.tscn"), before);
}

#[test]
fn what_the_open_scene_holds_is_read() {
    let Some((_project, _engine, mut caller)) = opened() else { return };
    let text = json!({"target_node": "/root/Map/Panel/Button", "property_name": "text"});
    assert_eq!(caller.done("scene_get_property", text)["value"], "Light it");
    let reads = json!({"reads": [
        {"target_node": "Panel", "property_name": "offset_right"},
        {"target_node": "Tiles", "property_name": "tile_set:tile_size"},
    ]});
    let read = caller.done("scene_get_property", reads)["reads"].clone();
    assert_eq!((&read[0]["value"], &read[1]["value"]), (&json!(200.0), &json!({"x": 16, "y": 16})));
    let tracks = caller.done("anim_list_tracks", json!({"animation_player_path": "Player"}));
    assert_eq!(
        (&tracks["animations"][0]["name"], &tracks["truncated"]),
        (&json!("walk"), &json!(false))
    );
    let used = caller.done("tilemap_get_used_rect", json!({"tilemap_path": "Tiles"}));
    assert_eq!(used["size"], json!({"x": 0, "y": 0}));
    let controls = caller.done("ui_list_controls", json!({"class_filter": ["BaseButton"]}));
    assert_eq!(
        (&controls["match_count_total"], &controls["controls"][0]["text"]),
        (&json!(1), &json!("Light it"))
    );
    let count = json!({"expression": "node.get_child_count()", "context_node": "/root/Map/Panel"});
    assert_eq!(caller.done("eval_gdscript", count)["value"], 2);
    let tree = caller.done("runtime_get_tree", json!({"max_depth": 1}));
    assert_eq!((&tree["tree"]["child_count"], &tree["truncated"]), (&json!(3), &json!(true)));
    let logs = caller.done("runtime_read_logs", json!({"limit": 500}));
    assert!(logs["records"].to_string().contains("session opened"), "{logs}");
    let actions = caller.done("project_list_input_actions", json!({}));
    assert_eq!(actions["actions"][1]["action"], "walk_right", "{actions}");
    assert_eq!(caller.refused("runtime_step", json!({})), "session_kind_rejected");
}

#[test]
fn scenes_are_opened_and_closed() {
    let Some((project, engine, mut caller)) = opened() else { return };
    let open = |engine: &Engine| {
        engine.connect().done("editor.openScenes", json!({}))["open_scenes"].clone()
    };
    let code = code_of_unsaved(&engine);
    caller.done("scene_open", json!({"scene_path": "res://levels/meadow.tscn"}));
    assert!(open(&engine).to_string().contains("res://levels/meadow.tscn"));
    caller.edits("scene_instantiate_node", json!({"node_type": "Node2D", "name": "Lost"}));
    assert_eq!(caller.refused("scene_close", json!({})), code);
    caller.done("scene_close", json!({"discard_unsaved": true}));
    assert_eq!(open(&engine), json!(["res://map.tscn"]));
    assert!(!project.text("levels/meadow.tscn").unwrap().contains("Lost"));
    assert_eq!(caller.refused("scene_open", json!({"scene_path": "res://gone.tscn"})), "not_found");
}

#[test]
fn the_projects_settings_and_files_are_those_of_another_engine() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    project.write("data/clock.gd", "extends Node\n");
    let clock = json!({"name": "Clock", "path": "res://data/clock.gd"});
    let set = caller.done("project_set_autoload", clock.clone());
    assert_eq!(
        (&set["requires_editor_restart"], &set["follow_up"][0]["work"]),
        (&json!(true), &json!("restart"))
    );
    assert_eq!(caller.refused("project_set_autoload", clock), "already_exists");
    let jump = json!({"action": "jump", "deadzone": 0.25, "events": [{"type": "key", "physical_keycode": 32}]});
    caller.done("project_set_input_action", jump.clone());
    assert_eq!(caller.refused("project_set_input_action", jump), "already_exists");
    let listed = caller.done("project_list_input_actions", json!({"action": "jump"}));
    assert_eq!(listed["actions"][0]["events"][0]["physical_keycode"], 32);
    let svg = project.text("icon.svg").unwrap();
    project.write("art/new.svg", &svg);
    project.write("fresh/thing.gd", "class_name FreshThing\nextends Node\n");
    caller.done("asset_reimport", json!({"paths": ["res://art/new.svg"]}));
    let job = json!({"paths": ["res://icon.svg"], "timeout_ms": 60_000, "request_id": "import-1"});
    let job = caller.finished("asset_reimport", &job);
    assert_eq!(job["reimported"], json!(["res://icon.svg"]), "{job}");
    let token = caller.done("editor_reload_project", json!({"dry_run": true}));
    let token = token["mutation_preview"]["confirmation_token"].clone();
    assert_eq!(caller.refused("editor_reload_project", json!({})), "confirmation_required");
    let reload = json!({"confirmation_token": token});
    assert_eq!(caller.done("editor_reload_project", reload)["scan_applied"], true);
    let body = "var jump = ProjectSettings.get_setting(\"input/jump\")\n\
        var classes = ProjectSettings.get_global_class_list().map(func(one): return one.class)\n\
        return [ProjectSettings.get_setting(\"autoload/Clock\"), jump.deadzone, jump.events[0].physical_keycode,\n\
        \tload(\"res://art/new.svg\").get_class(), \"FreshThing\" in classes]";
    let wanted = json!(["*res://data/clock.gd", 0.25, 32, "CompressedTexture2D", true]);
    assert_eq!(ask_engine(&project, body), wanted);
}

#[test]
fn a_game_is_paused_stepped_played_watched_and_stopped() {
    let project = counter();
    let script = project.text("counter.gd").unwrap();
    let written =
        "FileAccess.open(\"res://frames.txt\", FileAccess.WRITE).store_string(str(frames))";
    let counts = "frames += 1\n";
    project.write("counter.gd", script.replace(counts, &format!("{counts}\t{written}\n")));
    let Some(mut engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    let tree = json!({"root_path": "/root/Main", "max_depth": 1});
    // The game writes down how many frames it has seen, and names its counter after them.
    let frames = |caller: &mut Caller| -> u64 {
        let name =
            caller.done("runtime_get_tree", tree.clone())["tree"]["children"][0]["name"].clone();
        let written = project.text("frames.txt").unwrap();
        assert_eq!(name, format!("At{written}"), "what the tree says is what the game wrote");
        written.parse().unwrap()
    };
    let refusal = caller.refusal_either_way("runtime_step", json!({}));
    assert_eq!(refusal["data"]["code"], "game_not_paused", "{refusal}");
    caller.done("runtime_set_paused", json!({"paused": true}));
    let before = frames(&mut caller);
    assert_eq!(frames(&mut caller), before, "its time stands still");
    let preview = caller.done("runtime_step", json!({"frames": 7, "dry_run": true}));
    assert_eq!(preview["mutation_preview"]["changes"][0]["before"]["paused"], true);
    caller.done("runtime_step", json!({"frames": 7}));
    assert_eq!(frames(&mut caller), before + 7);
    let walk =
        json!({"events": [{"type": "action", "action_name": "walk_right", "pressed": true}]});
    caller.done("inject_input_event", walk);
    assert!(!engine.log().contains("walked right"), "input to a paused game is held");
    caller.done("runtime_set_paused", json!({"paused": false}));
    let fly = json!({"events": [{"type": "action", "action_name": "fly", "pressed": true}]});
    assert_eq!(caller.refused("runtime_inject_input", fly), "invalid_arguments");
    let held = json!({"invariants": [{"kind": "performance_between", "metric": "object_node_count", "minimum": 1}], "duration_ms": 100});
    assert_eq!(caller.done("runtime_watch_invariants", held)["outcome"], "held");
    assert!(engine.log().contains("walked right"), "{}", engine.log());
    let output = caller.done("runtime_read_output", json!({"limit": 500}));
    assert!(output["records"].to_string().contains("walked right"), "{output}");
    let walked = |engine: &Engine| engine.log().matches("walked right").count();
    let before = walked(&engine);
    let explore = json!({
        "actions": ["walk_right"],
        "probes": [{"expression": "node.get_child_count()", "context_node": "/root/Main"}],
        "duration_ms": 600,
        "pause_on_stuck": false,
    });
    let explored = caller.done("runtime_explore_scene", explore);
    assert_eq!(
        (&explored["verdict"], &explored["measured"]),
        (&json!("none"), &json!(true)),
        "{explored}"
    );
    assert!(walked(&engine) > before, "{}", engine.log());
    let broken = json!({"invariants": [{"kind": "expression_between", "expression": "node.get_child_count()", "context_node": "/root/Main", "maximum": 0}]});
    assert_eq!(caller.done("runtime_watch_invariants", broken)["outcome"], "violated");
    let stands = frames(&mut caller);
    assert_eq!(frames(&mut caller), stands, "the game stands where the condition broke");
    let class = json!({"expression": "node.get_class()", "context_node": "/root/Main"});
    assert_eq!(caller.done("eval_gdscript", class)["value"], "Node");
    let call = json!({"expression": "node.queue_free()"});
    assert_eq!(caller.refused("eval_gdscript", call), "unsafe_expression");
    assert_eq!(
        caller.refused("scene_open", json!({"scene_path": "res://counter.tscn"})),
        "session_kind_rejected"
    );
    caller.done("runtime_stop", json!({"exit_code": 9}));
    assert_eq!(engine.wait(), Some(9));
}
