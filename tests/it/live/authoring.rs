//! Scenes made and changed in the editor, each change undone again.

use didi_tests::{
    Project,
    live::{Client, Engine, ask_engine},
};
use didi_wire::UNDO_GROUP_PARAM;
use serde_json::{Value, json};

use super::parts::MAP;

/// An editor with a new scene open.
fn opened(project: &Project) -> Option<(Engine, Client)> {
    let engine = Engine::editor(project)?;
    let mut client = engine.connect();
    let params =
        json!({"scene_path": "res://made/new.tscn", "root_type": "Node2D", "root_name": "New"});
    let created = client.done("scene.create", params);
    assert_eq!((&created["opened"], &created["saved"]), (&json!(true), &json!(true)), "{created}");
    Some((engine, client))
}

/// The tree as an answer gives it.
fn tree(client: &mut Client) -> Value {
    client.done("scene.getHierarchy", json!({}))["scene_tree"].clone()
}

#[test]
fn a_scene_is_made_filled_saved_and_loaded_by_another_engine() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    let player = json!({"node_type": "CharacterBody2D", "name": "Player",
        "properties": {"position": {"x": 12.0, "y": 34.0}}});
    let added = client.done("scene.instantiateNode", player);
    assert_eq!(added["node_path"], "/root/New/Player", "{added}");
    assert_eq!(added["undo_redo_registered"], true);
    let lamp = json!({"scene_path": "res://lamps/lamp.tscn", "parent_path": "/root/New/Player"});
    let lamp = client.done("scene.instantiateNode", lamp)["node_path"].clone();
    let timer = json!({"node_type": "Timer", "name": "Tick"});
    client.done("scene.instantiateNode", timer);
    project.write("made/new.gd", "extends Node2D\n\nfunc on_tick():\n\tpass\n");
    let script = json!({"target_node": "/root/New", "script_path": "res://made/new.gd"});
    client.done("script.attachToNode", script);
    let connection = json!({"emitter_node": "/root/New/Tick", "signal_name": "timeout",
        "target_node": "/root/New", "target_method": "on_tick"});
    assert_eq!(client.done("signal.connect", connection)["connected"], true);
    let group = json!({"target_node": "Player", "group": "players"});
    assert_eq!(client.done("scene.addToGroup", group)["in_group"], true);
    let saved = client.done("editor.saveScene", json!({}));
    let bytes = project.text("made/new.tscn").unwrap().len();
    assert_eq!((&saved["saved"], &saved["file_bytes"]), (&json!(true), &json!(bytes)), "{saved}");
    let body = "var node = load(\"res://made/new.tscn\").instantiate()\n\
        var player = node.get_node(\"Player\")\nvar lamp = player.get_child(0)\n\
        var told = [node.get_class(), player.position.x, player.is_in_group(\"players\"), lamp.scene_file_path,\n\
        \tnode.get_node(\"Tick\").timeout.get_connections().size(), node.get_script().resource_path]\n\
        node.free()\nreturn told";
    let expected = json!(["Node2D", 12.0, true, "res://lamps/lamp.tscn", 1, "res://made/new.gd"]);
    assert_eq!(ask_engine(&project, body), expected);
    assert!(lamp.as_str().unwrap().starts_with("/root/New/Player/"));
}

#[test]
fn a_command_of_a_group_that_edits_nothing_claims_no_step() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    for (kind, name) in [("Timer", "Tick"), ("GridMap", "Grid")] {
        client.done("scene.instantiateNode", json!({"node_type": kind, "name": name}));
    }
    let grouped = |mut params: Value| {
        params[UNDO_GROUP_PARAM] = "Together".into();
        params
    };
    let wait = |seconds: f64| {
        grouped(json!({"target_node": "Tick", "property_name": "wait_time", "value": seconds}))
    };
    let set = client.done("scene.setProperty", wait(0.25));
    assert_eq!(set["undo_steps"][0]["action"], "Together", "{set}");
    for (method, params) in [
        ("signal.emit", json!({"emitter_node": "Tick", "signal_name": "timeout"})),
        ("audio.configureBus", json!({"bus": "Master", "volume_db": 0})),
        (
            "gridmap.setCells",
            json!({"gridmap_path": "Grid", "cells": [{"position": [0, 0, 0], "item": -1}]}),
        ),
        ("scene.getProperty", json!({"target_node": "Tick", "property_name": "wait_time"})),
    ] {
        let told = client.done(method, grouped(params));
        assert!(told.get("undo_steps").is_none(), "{method}: {told}");
    }
    // One that does edit is a step, whether it joined the one before it or not.
    let set = client.done("scene.setProperty", wait(0.5));
    assert_eq!(set["undo_steps"][0]["action"], "Together", "{set}");
}

#[test]
fn a_group_that_writes_one_place_twice_is_taken_back_to_what_was_there_first() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    client.done("scene.instantiateNode", json!({"node_type": "Timer", "name": "Tick"}));
    client.done("editor.saveScene", json!({}));
    let read = json!({"target_node": "Tick", "property_name": "wait_time"});
    let held =
        |client: &mut Client| client.done("scene.getProperty", read.clone())["value"].clone();
    let before = held(&mut client);
    for seconds in [0.25, 0.5, 0.75] {
        client.done("scene.setProperty", json!({"target_node": "Tick", "property_name": "wait_time", "value": seconds, UNDO_GROUP_PARAM: "Together"}));
    }
    while held(&mut client) != before {
        let undone = client.done("editor.undo", json!({}));
        assert_eq!(undone["undone"], "Together", "{undone}: {}", held(&mut client));
    }
    let redone = client.done("editor.redo", json!({}));
    assert_eq!(redone["redone"], "Together", "{redone}");
}

/// Connections but for those of the editor's own docks, which come and go a frame later.
fn without_the_editors(mut listed: Value) -> Value {
    match &mut listed {
        Value::Array(items) => {
            items.retain(|item| item["origin"] != "editor");
            for item in items {
                *item = without_the_editors(item.take());
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                *member = without_the_editors(member.take());
            }
        }
        _ => {}
    }
    listed
}

#[test]
fn every_edit_is_undone_and_redone() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    project.write("made/new.gd", "extends Node2D\n\nfunc on_tick():\n\tpass\n");
    for name in ["First", "Second", "Third"] {
        client.done("scene.instantiateNode", json!({"node_type": "Node2D", "name": name}));
    }
    client.done(
        "scene.instantiateNode",
        json!({"node_type": "Timer", "name": "Tick", "parent_path": "Second"}),
    );
    let script = json!({"target_node": "/root/New", "script_path": "res://made/new.gd"});
    let connected = json!({"emitter_node": "Second/Tick", "signal_name": "timeout",
        "target_node": "/root/New", "target_method": "queue_redraw"});
    client.done("signal.connect", connected.clone());
    client.done("scene.addToGroup", json!({"target_node": "Third", "group": "kept"}));
    let scripted = json!({"target_node": "Third", "script_path": "res://made/new.gd"});
    client.done("script.attachToNode", scripted);
    client.done(
        "scene.setProperty",
        json!({"target_node": "Second", "property_name": "position", "value": {"x": 50, "y": 60}}),
    );
    let edits = [
        ("signal.disconnect", connected),
        ("scene.removeFromGroup", json!({"target_node": "Third", "group": "kept"})),
        ("script.detachFromNode", json!({"target_node": "Third"})),
        ("scene.duplicateNode", json!({"target_node": "Second"})),
        ("scene.reparentNode", json!({"target_node": "Third", "new_parent_path": "Second"})),
        (
            "scene.reparentNode",
            json!({"target_node": "Second", "new_parent_path": "First",
            "keep_global_transform": false}),
        ),
        ("scene.instantiateNode", json!({"node_type": "Sprite2D", "name": "Pic"})),
        ("scene.removeNode", json!({"target_node": "/root/New/Second"})),
        ("scene.addToGroup", json!({"target_node": "First", "group": "g"})),
        ("script.attachToNode", script),
        (
            "scene.setProperty",
            json!({"writes": [
                {"target_node": "First", "property_name": "position", "value": {"x": 1, "y": 2}},
                {"target_node": "First", "property_name": "rotation", "value": 0.5},
                {"target_node": "First", "property_name": "visible", "value": false},
            ]}),
        ),
    ];
    let watched = json!({"reads": [
        {"target_node": "First", "property_name": "position"},
        {"target_node": "First", "property_name": "rotation"},
        {"target_node": "First", "property_name": "visible"},
        {"target_node": "/root/New", "property_name": "script"},
    ]});
    for (method, params) in edits {
        let seen = |client: &mut Client| {
            let read = client.done("scene.getProperty", watched.clone())["reads"].clone();
            let groups = client.done("scene.getGroupMembers", json!({"group": "kept"}));
            let tick = client.ask("signal.listConnections", json!({"emitter_node": "Second/Tick"}));
            let tick = tick.map(without_the_editors);
            let third = client.ask(
                "scene.getProperty",
                json!({"target_node": "Third", "property_name": "script"}),
            );
            (tree(client), read, groups, tick, third)
        };
        let before = seen(&mut client);
        let done = client.done(method, params);
        let steps = done["undo_steps"].as_array().unwrap_or_else(|| panic!("{method}: {done}"));
        assert_eq!(steps.len(), 1, "{method}: {done}");
        let after = seen(&mut client);
        let undone = client.done("editor.undo", json!({}));
        assert_eq!(undone["undone"], steps[0]["action"], "{method}: {undone}");
        assert_eq!(seen(&mut client), before, "{method}");
        client.done("editor.redo", json!({}));
        assert_eq!(seen(&mut client), after, "{method}");
        client.done("editor.undo", json!({}));
    }
}

#[test]
fn what_the_scenes_file_cannot_hold_is_refused() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    client.done("editor.saveScene", json!({}));
    let lamp = client.done("scene.instantiateNode", json!({"scene_path": "res://lamps/lamp.tscn"}));
    let path = lamp["node_path"].as_str().unwrap().to_owned();
    let children = client.done("scene.getHierarchy", json!({"root_path": path}));
    let inner = children["scene_tree"]["children"][0]["path"].clone();
    let code = |client: &mut Client, method: &str, params: Value| client.refused(method, params).1;
    let write = json!({"target_node": inner, "property_name": "process_mode", "value": 1});
    assert_eq!(code(&mut client, "scene.setProperty", write), "node_not_owned");
    let remove = json!({"target_node": inner});
    assert_eq!(code(&mut client, "scene.removeNode", remove), "node_not_owned");
    let root = json!({"target_node": "/root/New"});
    assert_eq!(code(&mut client, "scene.removeNode", root), "invalid_arguments");
    let itself = json!({"scene_path": "res://made/new.tscn"});
    assert_eq!(code(&mut client, "scene.instantiateNode", itself), "cyclic_instance");
    let nobody = json!({"target_node": "/root/New/Nobody"});
    assert_eq!(code(&mut client, "scene.removeNode", nobody), "not_found");
    let out = json!({"target_node": "/root/New/..", "property_name": "name"});
    assert_eq!(code(&mut client, "scene.getProperty", out), "not_found");
    let unknown = json!({"node_type": "Nod2D"});
    assert_eq!(code(&mut client, "scene.instantiateNode", unknown), "invalid_arguments");
    let resource = json!({"node_type": "Resource"});
    assert_eq!(code(&mut client, "scene.instantiateNode", resource), "invalid_arguments");
}

#[test]
fn a_moved_branch_stays_in_its_place_and_a_copy_keeps_what_it_holds() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    let at = |x: i32| json!({"position": {"x": x, "y": 0}});
    for (name, x) in [("A", 100), ("B", 30)] {
        let node = json!({"node_type": "Node2D", "name": name, "properties": at(x)});
        client.done("scene.instantiateNode", node);
    }
    client.done(
        "scene.instantiateNode",
        json!({"node_type": "Node2D", "name": "In", "parent_path": "B"}),
    );
    client.done("scene.addToGroup", json!({"target_node": "B", "group": "movers"}));
    let moved = json!({"target_node": "B", "new_parent_path": "A"});
    let moved = client.done("scene.reparentNode", moved);
    assert_eq!(moved["node_path"], "/root/New/A/B", "{moved}");
    let position = json!({"target_node": "A/B", "property_name": "position"});
    assert_eq!(client.done("scene.getProperty", position)["value"], json!({"x": -70.0, "y": 0.0}));
    let copied = client.done("scene.duplicateNode", json!({"target_node": "A"}));
    assert_eq!(copied["duplicated_node"], "/root/New/ACopy", "{copied}");
    let groups = client.done("scene.listGroups", json!({"target_node": "/root/New/ACopy/B"}));
    assert_eq!(groups["groups"], json!(["movers"]));
    let below = json!({"target_node": "A", "new_parent_path": "A/B"});
    assert_eq!(client.refused("scene.reparentNode", below).1, "invalid_arguments");
    client.done("editor.saveScene", json!({}));
    let body = "var node = load(\"res://made/new.tscn\").instantiate()\n\
        var told = [node.has_node(\"A/B/In\"), node.has_node(\"ACopy/B/In\"), node.get_node(\"A/B\").position.x]\n\
        node.free()\nreturn told";
    assert_eq!(ask_engine(&project, body), json!([true, true, -70.0]));
}

#[test]
fn a_scene_is_closed_only_when_nothing_can_be_lost() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    client.done("scene.open", json!({"scene_path": "res://lamps/lamp.tscn"}));
    let open = client.done("editor.openScenes", json!({}));
    // A first start opens the project's main scene by itself.
    let tabs = open["open_scenes"].as_array().unwrap().len();
    assert_eq!(open["open_scenes"][tabs - 1], "res://lamps/lamp.tscn", "{open}");
    if open["unsaved_scenes_readable"] == false {
        assert_eq!(client.refused("scene.close", json!({})).1, "dirty_state_unavailable");
    }
    let closed = client.done("scene.close", json!({"discard_unsaved": true}));
    assert_eq!(
        (&closed["closed"], &closed["still_open"]),
        (&json!(true), &json!(false)),
        "{closed}"
    );
    assert_eq!(closed["scene_path"], "res://lamps/lamp.tscn");
    let state = client.done("editor.getState", json!({}));
    assert_eq!(state["active_scene"]["scene_file_path"], "res://made/new.tscn", "{state}");
    for left in (0..tabs - 1).rev() {
        client.done("scene.close", json!({"discard_unsaved": true}));
        let open = client.done("editor.openScenes", json!({}));
        assert_eq!(open["open_scenes"].as_array().unwrap().len(), left, "{open}");
    }
    assert_eq!(client.refused("scene.getHierarchy", json!({})).1, "no_edited_scene");
    assert_eq!(client.refused("scene.open", json!({"scene_path": "res://none.tscn"})).0, 404);
    assert_eq!(client.done("editor.getSelection", json!({}))["count"], 0);
}

/// Nodes whose place is not told by where they are alone.
const TURNED: &str = "[gd_scene format=3]\n\n[node name=\"Turned\" type=\"Node2D\"]\n\n\
    [node name=\"Far\" type=\"Node2D\" parent=\".\"]\nposition = Vector2(7, 9)\nrotation = 0.3\n\n\
    [node name=\"Flip\" type=\"Node2D\" parent=\".\"]\nposition = Vector2(3, 4)\nrotation = 9.5\nscale = Vector2(-2, 1)\nskew = 0.25\n\n\
    [node name=\"Small\" type=\"Label\" parent=\".\"]\noffset_left = 24.0\noffset_top = 24.0\noffset_right = 64.0\noffset_bottom = 47.0\n\
    text = \"Longer than it is wide\"\n\n\
    [node name=\"Wide\" type=\"Label\" parent=\".\"]\nanchor_right = 1.0\noffset_top = 24.0\noffset_bottom = 47.0\n\n\
    [node name=\"Box\" type=\"VBoxContainer\" parent=\".\"]\noffset_right = 99.0\noffset_bottom = 99.0\n\n\
    [node name=\"Deep\" type=\"Node3D\" parent=\".\"]\ntransform = Transform3D(-1, 0, 0, 0, 2, 0, 0, 0, -1, 1, 2, 3)\n\n\
    [node name=\"Deeper\" type=\"Node3D\" parent=\".\"]\ntransform = Transform3D(0, 0, 1, 0, 1, 0, -1, 0, 0, 5, 5, 5)\n";

#[test]
fn a_branch_that_is_moved_back_is_where_its_file_had_it_to_the_last_digit() {
    let project = Project::sample();
    project.write("turned.tscn", TURNED);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://turned.tscn"}));
    let saved = |client: &mut Client| {
        client.done("editor.saveScene", json!({}));
        project.text("turned.tscn").unwrap()
    };
    let before = saved(&mut client);
    for (node, parent) in [
        ("Flip", "Far"),
        ("Small", "Far"),
        ("Deep", "Deeper"),
        ("Small", "Deeper"),
        ("Wide", "Box"),
    ] {
        let keeps = node != "Wide";
        let ask =
            json!({"target_node": node, "new_parent_path": parent, "keep_global_transform": keeps});
        client.done("scene.reparentNode", ask);
        let moved = saved(&mut client);
        client.done("editor.undo", json!({}));
        assert_eq!(saved(&mut client), before, "{node} was below {parent}");
        client.done("editor.redo", json!({}));
        assert_eq!(saved(&mut client), moved, "{node} is below {parent} again");
        client.done("editor.undo", json!({}));
    }
}

/// Nodes of which a property changes others.
const COUPLED: &str = "[gd_scene load_steps=4 format=3]\n\n[ext_resource type=\"Script\" path=\"res://keeps.gd\" id=\"1\"]\n\n\
    [sub_resource type=\"BoxMesh\" id=\"box\"]\n\n[sub_resource type=\"StandardMaterial3D\" id=\"red\"]\nalbedo_color = Color(1, 0, 0, 1)\n\n\
    [node name=\"Coupled\" type=\"Node\"]\n\n\
    [node name=\"Small\" type=\"Label\" parent=\".\"]\nanchors_preset = 8\nanchor_left = 0.5\nanchor_top = 0.5\nanchor_right = 0.5\nanchor_bottom = 0.5\n\
    offset_left = -7.5\noffset_top = -11.5\noffset_right = 7.5\noffset_bottom = 11.5\ngrow_horizontal = 2\ngrow_vertical = 2\ntext = \"Longer than it is wide\"\n\n\
    [node name=\"Slider\" type=\"HSlider\" parent=\".\"]\nmax_value = 250.0\nvalue = 120.0\n\n\
    [node name=\"Turned\" type=\"Node3D\" parent=\".\"]\ntransform = Transform3D(0.775472, 0.453626, -0.439166, 0, 0.695563, 0.718465, 0.631382, -0.557149, 0.53939, -2.78761, 4.56046, 3.42378)\n\n\
    [node name=\"Body\" type=\"MeshInstance3D\" parent=\".\"]\nmesh = SubResource(\"box\")\nsurface_material_override/0 = SubResource(\"red\")\n\n\
    [node name=\"Menu\" type=\"ItemList\" parent=\".\"]\nitem_count = 2\nitem_0/text = \"Row\"\nitem_1/text = \"Sail\"\n\n\
    [node name=\"Line\" type=\"LineEdit\" parent=\".\"]\ntext = \"Lantern\"\n\n\
    [node name=\"Keeps\" type=\"Node\" parent=\".\"]\nscript = ExtResource(\"1\")\nlives = 7\nlabel = \"boat\"\n";

/// A property that is set back does not give back what it changed beside it.
#[test]
fn what_a_property_changes_beside_it_is_given_back_with_it() {
    let project = Project::sample();
    project.write("coupled.tscn", COUPLED);
    project
        .write("keeps.gd", "extends Node\n\n@export var lives := 3\n@export var label := \"\"\n");
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://coupled.tscn"}));
    let saved = |client: &mut Client| {
        client.done("editor.saveScene", json!({}));
        project.text("coupled.tscn").unwrap()
    };
    saved(&mut client);
    let before = saved(&mut client);
    for (kept, lines) in [
        ("Small", "offset_left = -7.5"),
        ("Body", "surface_material_override/0"),
        ("Keeps", "lives = 7"),
    ] {
        assert!(before.contains(lines), "{kept}: {before}");
    }
    let point = |x: f64, y: f64| json!({"x": x, "y": y});
    let triple = |x: f64, y: f64, z: f64| json!({"x": x, "y": y, "z": z});
    for (node, property, value, beside) in [
        ("Small", "position", point(31.0, 30.0), Some("offset_left")),
        ("Small", "size", point(310.0, 30.0), Some("offset_right")),
        ("Small", "anchor_left", json!(0.75), Some("anchor_right")),
        ("Small", "anchors_preset", json!(15), Some("anchor_left")),
        ("Slider", "max_value", json!(50), Some("value")),
        ("Turned", "scale", triple(2.37, 2.37, 2.37), Some("transform")),
        ("Turned", "rotation", triple(0.1, 9.0, 0.0), Some("transform")),
        ("Body", "mesh", Value::Null, None),
        ("Menu", "item_count", json!(0), None),
        ("Line", "max_length", json!(3), Some("text")),
        ("Keeps", "script", Value::Null, None),
        ("Keeps", "process_mode", json!(3), None),
    ] {
        let ask = json!({"target_node": node, "property_name": property, "value": value});
        let set = client.done("scene.setProperty", ask);
        let told = set["also_changed"].as_array().map_or(vec![], Clone::clone);
        if let Some(beside) = beside {
            assert!(told.contains(&json!(beside)), "{node}.{property}: {set}");
        }
        let changed = saved(&mut client);
        assert_ne!(changed, before, "{node}.{property}");
        client.done("editor.undo", json!({}));
        assert_eq!(saved(&mut client), before, "{node}.{property} is taken back");
        client.done("editor.redo", json!({}));
        assert_eq!(saved(&mut client), changed, "{node}.{property} is made again");
        client.done("editor.undo", json!({}));
        assert_eq!(saved(&mut client), before, "{node}.{property} is taken back again");
    }
    let write = |property: &str, value: Value| json!({"target_node": "Small", "property_name": property, "value": value});
    let both = json!([
        write("global_position", point(1.5, 2.5)),
        write("anchor_bottom", json!(0.75)),
        write("offset_right", json!(9.5))
    ]);
    client.done("scene.setProperty", json!({"writes": both}));
    client.done("editor.undo", json!({}));
    assert_eq!(saved(&mut client), before, "of several writes one changed what another wrote");
    client.done("script.detachFromNode", json!({"target_node": "Keeps"}));
    client.done("editor.undo", json!({}));
    assert_eq!(saved(&mut client), before, "a script comes back with what its node holds of it");
}

/// Two scenes can stand at one version; a step is of one of them.
#[test]
fn a_step_of_another_scene_is_not_taken_back() {
    let project = Project::sample();
    let Some((_engine, mut client)) = opened(&project) else { return };
    let node = json!({"node_type": "Node2D", "name": "Step"});
    let first = client.done("scene.instantiateNode", node.clone())["undo_steps"][0].clone();
    client.done("editor.saveScene", json!({}));
    let other =
        json!({"scene_path": "res://made/other.tscn", "root_type": "Node2D", "root_name": "Other"});
    client.done("scene.create", other);
    let second = client.done("scene.instantiateNode", node)["undo_steps"][0].clone();
    assert_eq!(first["version"], second["version"], "both are the first step of their scene");
    assert_ne!(first["history_id"], second["history_id"]);
    let refused = client.ask("editor.undo", json!({ "journal_entry": first })).unwrap_err();
    assert_eq!(refused.code_name(), Some("undo_entry_blocked"), "{refused:?}");
    let there = json!({"target_node": "Step", "property_name": "name"});
    client.done("scene.getProperty", there);
    client.done("editor.undo", json!({ "journal_entry": second }));
}

#[test]
fn a_scene_is_saved_as_the_engine_leaves_it_after_the_change_before() {
    let project = Project::sample();
    project.write("map.tscn", MAP);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://map.tscn"}));
    client.done("editor.saveScene", json!({}));
    let before = project.text("map.tscn").unwrap();
    let cells = json!({"tilemap_path": "Tiles",
        "cells": [{"coords": [2, 3], "source_id": 0, "atlas_coords": [1, 0]}]});
    // What a cell leaves behind is cleared at the end of a frame; a save in the same one would write it.
    for round in 0..10 {
        client.done("tilemap.setCells", cells.clone());
        client.done("editor.undo", json!({}));
        client.done("editor.redo", json!({}));
        client.done("editor.undo", json!({}));
        client.done("editor.saveScene", json!({}));
        assert_eq!(project.text("map.tscn").unwrap(), before, "round {round}");
    }
}
