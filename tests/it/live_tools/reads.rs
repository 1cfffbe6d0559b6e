//! What the reading tools say of an open project, beside what a separate engine finds in the project's files.

use didi_tests::{
    Caller, Project,
    live::{Engine, ask_engine},
};
use serde_json::{Value, json};

use super::opened;

/// Saves what the reading tools are asked about: tiles, an instance of a scene, and a property that is no default.
fn filled() -> Option<(Project, Engine, Caller)> {
    let (project, engine, mut caller) = opened()?;
    let cells = json!([
        {"coords": [2, 3], "source_id": 0, "atlas_coords": [1, 0]},
        {"coords": [5, 4], "source_id": 0, "atlas_coords": [0, 0]},
    ]);
    caller.edits("tilemap_set_cells", json!({"tilemap_path": "Tiles", "cells": cells}));
    let lamp = json!({"scene_path": "res://lamps/lamp.tscn", "name": "Lamp", "properties": {"position": {"x": 7, "y": 9}}});
    caller.edits("scene_instantiate_node", lamp);
    caller.done("editor_save_scene", json!({}));
    Some((project, engine, caller))
}

/// A separate engine's answer about the saved scene, which it has as `map` in its tree.
fn of_the_map(project: &Project, body: &str) -> Value {
    let begin = "var map = load(\"res://map.tscn\").instantiate()\nroot.add_child(map)\n";
    ask_engine(project, &format!("{begin}{body}"))
}

/// Names and classes of a tree in its order, the root first.
fn flat(node: &Value, found: &mut Vec<Value>) {
    found.push(json!([node["name"], node["type"]]));
    node["children"].as_array().into_iter().flatten().for_each(|child| flat(child, found));
}

#[test]
fn the_open_scene_is_read_as_another_engine_loads_it() {
    let Some((project, engine, mut caller)) = filled() else { return };
    let said = of_the_map(
        &project,
        "var all = [map] + map.find_children(\"*\", \"\", true, false)\n\
         var controls = all.filter(func(one): return one is Control)\n\
         var boxes = controls.map(func(one): return [one.name, one.get_class(), one.get_global_rect().size.x, one.visible])\n\
         var walk = map.get_node(\"Player\").get_animation(\"walk\")\n\
         var used = map.get_node(\"Tiles\").get_used_rect()\n\
         return {\"tree\": all.map(func(one): return [one.name, one.get_class()]), \"boxes\": boxes,\n\
         \t\"track\": [str(walk.track_get_path(0)), walk.track_get_key_time(0, 1), walk.length, walk.loop_mode],\n\
         \t\"used\": [used.position.x, used.position.y, used.size.x, used.size.y],\n\
         \t\"held\": [map.get_node(\"Lamp\").position.y, map.get_node(\"Panel/Button\").text],\n\
         \t\"children\": map.get_child_count()}",
    );
    for (tool, member) in [("scene_get_hierarchy", "scene_tree"), ("runtime_get_tree", "tree")] {
        let mut found = vec![];
        flat(&caller.done(tool, json!({}))[member], &mut found);
        assert_eq!(json!(found), depth_first(&said["tree"]), "{tool}");
    }
    let controls = caller.done("ui_list_controls", json!({"visible_only": false}));
    let boxes = controls["controls"].as_array().unwrap().iter().map(|one| {
        let name = one["node_path"].as_str().unwrap().rsplit('/').next();
        json!([name, one["class"], one["global_rect"]["size"]["x"], one["visible"]])
    });
    assert_eq!(boxes.collect::<Value>(), said["boxes"]);
    let player = json!({"animation_player_path": "Player"});
    let walk = caller.done("anim_list_tracks", player)["animations"][0].clone();
    let track = &walk["tracks"][0];
    assert_eq!(
        json!([track["path"], track["key_times"][1], walk["length"], walk["loop_mode_id"]]),
        json!(["Tiles:modulate", 0.25, 0.5, 1])
    );
    assert_eq!(said["track"], json!(["Tiles:modulate", 0.25, 0.5, 1]));
    let used = caller.done("tilemap_get_used_rect", json!({"tilemap_path": "Tiles"}));
    let (at, size) = (&used["position"], &used["size"]);
    assert_eq!(numbers(&json!([at["x"], at["y"], size["x"], size["y"]])), numbers(&said["used"]));
    let reads = json!({"reads": [
        {"target_node": "Lamp", "property_name": "position"},
        {"target_node": "Panel/Button", "property_name": "text"},
    ]});
    let read = caller.done("scene_get_property", reads)["reads"].clone();
    assert_eq!(json!([read[0]["value"]["y"], read[1]["value"]]), said["held"]);
    let count = json!({"expression": "node.get_child_count()", "context_node": "/root/Map"});
    let count = caller.done("eval_gdscript", count)["value"].clone();
    assert_eq!(numbers(&json!([count])), numbers(&json!([said["children"]])));
    both_logs(&engine, &mut caller);
}

/// A search finds level by level what a walk finds branch by branch; a name tells which is whose here.
fn depth_first(levels: &Value) -> Value {
    let order = ["Map", "Tiles", "Player", "Panel", "Button", "Hidden", "Lamp", "Light", "Shape"];
    let all = levels.as_array().unwrap();
    assert_eq!(all.len(), order.len(), "{levels}");
    order.iter().map(|name| all.iter().find(|one| one[0] == *name).unwrap().clone()).collect()
}

/// Whole numbers of a script come as floats.
fn numbers(all: &Value) -> Vec<f64> {
    all.as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect()
}

/// The output is what the engine's own streams got, the log what the bridge did.
fn both_logs(engine: &Engine, caller: &mut Caller) {
    let output = caller.done("runtime_read_output", json!({"limit": 500}));
    let records = output["records"].as_array().unwrap();
    assert!(records.len() > 10, "{output}");
    let streams = engine.log();
    for record in records {
        let message = record["message"].as_str().unwrap();
        let printed = message.lines().all(|line| streams.contains(line));
        assert!(printed, "nobody printed {record}");
    }
    let logs = caller.done("runtime_read_logs", json!({"limit": 500}));
    let of = |method: &str| {
        let records = logs["records"].as_array().unwrap();
        records.iter().filter(|one| one["details"]["method"] == method).count()
    };
    assert_eq!((of("tilemap.setCells"), of("scene.instantiateNode")), (1, 1), "{logs}");
}

#[test]
fn the_projects_settings_are_read_as_another_engine_reads_them() {
    let Some((project, _engine, mut caller)) = filled() else { return };
    project.write("gone.tres", "[gd_resource type=\"Resource\" load_steps=2 format=3]\n\n[ext_resource type=\"Texture2D\" path=\"res://nowhere.png\" id=\"1\"]\n\n[resource]\nmetadata/picture = ExtResource(\"1\")\n");
    let said = ask_engine(
        &project,
        "var scenes = [\"res://map.tscn\", \"res://lamps/lamp.tscn\", \"res://more.tres\"]\n\
         var uid = func(path): return ResourceUID.id_to_text(ResourceLoader.get_resource_uid(path))\n\
         var right = ProjectSettings.get_setting(\"input/walk_right\")\n\
         return {\"width\": ProjectSettings.get_setting(\"display/window/size/viewport_width\"),\n\
         \t\"score\": ProjectSettings.get_setting(\"autoload/Score\"), \"uids\": scenes.map(uid),\n\
         \t\"right\": [right.deadzone, right.events.size(), right.events[0].physical_keycode],\n\
         \t\"missing\": not ResourceLoader.exists(\"res://nowhere.png\")}",
    );
    let width = json!({"setting": "display/window/size/viewport_width"});
    let width = caller.done("project_get_setting", width)["value"].clone();
    assert_eq!(width.as_f64(), said["width"].as_f64());
    let autoloads = caller.done("project_list_autoloads", json!({}))["autoloads"].clone();
    assert_eq!(autoloads.as_array().unwrap().len(), 1, "{autoloads}");
    assert_eq!(format!("*{}", autoloads[0]["path"].as_str().unwrap()), said["score"]);
    let right = caller.done("project_list_input_actions", json!({"action": "walk_right"}));
    let right = right["actions"][0].clone();
    let events = right["events"].as_array().unwrap();
    let right = json!([right["deadzone"], events.len(), events[0]["physical_keycode"]]);
    assert_eq!(numbers(&right), numbers(&said["right"]));
    let wanted = ["res://map.tscn", "res://lamps/lamp.tscn", "res://more.tres"];
    let map = caller.done("project_get_uid_map", json!({"resolve": wanted}));
    let entries = map["entries"].as_array().unwrap();
    let uids: Value = entries.iter().map(|one| one["uid"].clone()).collect();
    assert_eq!(uids, said["uids"], "{map}");
    assert!(entries.iter().all(|one| one["source"] == "engine"), "{map}");
    let audit = caller.done("project_audit_assets", json!({}));
    let broken = audit["broken_references"].as_array().unwrap();
    let broken = broken.iter().find(|one| one["source"] == "res://gone.tres");
    let broken = broken.unwrap_or_else(|| panic!("it was not found: {audit}"));
    assert_eq!((&broken["target"], &broken["line"]), (&json!("res://nowhere.png"), &json!(3)));
    assert_eq!(broken["confirmed_by_engine"], said["missing"], "{audit}");
}

/// The project's file is written at once: no step of the undo history, and put back by the same tool.
#[test]
fn a_setting_an_autoload_and_an_action_are_written_and_put_back() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let seen = |project: &Project| {
        ask_engine(
            project,
            "var right = ProjectSettings.get_setting(\"input/walk_right\")\n\
             return [ProjectSettings.get_setting(\"application/config/name\"), ProjectSettings.get_setting(\"autoload/Score\"),\n\
             \tright.deadzone, right.events.map(func(one): return one.physical_keycode)]",
        )
    };
    let setting = |value: &str| json!({"setting": "application/config/name", "value": value});
    let autoload = |path: &str| json!({"name": "Score", "path": path, "replace": true});
    let action = |deadzone: f64, key: u32| {
        let event = json!({"type": "key", "physical_keycode": key});
        json!({"action": "walk_right", "deadzone": deadzone, "events": [event], "replace": true})
    };
    let before = seen(&project);
    assert_eq!(before, json!(["Lantern", "*res://data/score.gd", 0.2, [68]]));
    caller.done("project_set_setting", setting("Dark"));
    caller.done("project_set_autoload", autoload("res://hud/hud.gd"));
    caller.done("project_set_input_action", action(0.5, 69));
    let wanted = json!(["Dark", "*res://hud/hud.gd", 0.5, [69]]);
    assert_eq!(seen(&project), wanted);
    let code = caller.refused("editor_undo", json!({}));
    assert_eq!(code, "nothing_to_undo");
    assert_eq!(seen(&project), wanted, "no step of the history");
    caller.done("project_set_setting", setting("Lantern"));
    caller.done("project_set_autoload", autoload("res://data/score.gd"));
    caller.done("project_set_input_action", action(0.2, 68));
    assert_eq!(seen(&project), before);
}

/// Numbers of many digits, which a reader that rounds twice takes for their neighbours.
const LONG: [f64; 5] = [
    94.527_069_555_392_23,
    23.308_445_025_757_262,
    99.254_341_217_606_51,
    12.088_995_980_580_641,
    95.711_628_146_022_69,
];

/// A file that the editor itself saves says the shortest digits, which the engine may read as the number beside it; so the
/// file is looked at where the server wrote it.
#[test]
fn a_number_of_many_digits_is_the_one_that_was_sent_to_its_last_bit() {
    let project = Project::sample();
    let call = |number: usize, value: f64| json!({"setting": format!("long/numbers/n{number}"), "value": value, "create": true});
    let mut caller = Caller::of(&project);
    for (number, value) in LONG.into_iter().enumerate() {
        caller.answered("project_set_setting", call(number, value));
    }
    let said = ask_engine(
        &project,
        "var read = func(number): return ProjectSettings.get_setting(\"long/numbers/n%d\" % number)\n\
         return range(5).map(func(number): return var_to_bytes(read.call(number)).slice(4).hex_encode())",
    );
    let bytes = LONG.map(|value| format!("{:016x}", value.to_bits().swap_bytes()));
    assert_eq!(said, json!(bytes));
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    for (number, value) in LONG.into_iter().rev().enumerate() {
        let call = call(number, value);
        caller.done("project_set_setting", call.clone());
        let read = caller.done("project_get_setting", json!({"setting": call["setting"]}));
        assert_eq!(read["value"].as_f64().map(f64::to_bits), Some(value.to_bits()), "{value}");
    }
}
