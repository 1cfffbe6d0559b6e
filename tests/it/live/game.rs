//! A running game: its tree, its time, its input.

use didi_tests::{Project, live::Engine};
use serde_json::{Value, json};

/// A game whose one node counts frames and remembers input.
pub(crate) fn counter() -> Project {
    let project = Project::sample();
    project.write(
        "counter.gd",
        "extends Node\n\nvar frames := 0\nvar seen := \"\"\n\n\
         func _process(_delta):\n\tframes += 1\n\tname = \"At%d\" % frames\n\n\
         func _input(event):\n\tif event.is_action_pressed(\"walk_right\"):\n\t\tadd_to_group(\"walked\")\n\
         \t\tprint(\"walked right\")\n",
    );
    project.write(
        "counter.tscn",
        "[gd_scene load_steps=2 format=3]\n\n[ext_resource type=\"Script\" path=\"res://counter.gd\" id=\"1\"]\n\n\
         [node name=\"Main\" type=\"Node\"]\n\n[node name=\"Counter\" type=\"Node\" parent=\".\"]\nscript = ExtResource(\"1\")\n",
    );
    let text = project.text("project.godot").unwrap();
    project.write("project.godot", text.replace("res://levels/meadow.tscn", "res://counter.tscn"));
    project
}

/// How far the counter has come, read from its name in the tree.
fn frames(tree: &Value) -> u64 {
    let name = tree["tree"]["children"][0]["name"].as_str().unwrap();
    name.trim_start_matches("At").parse().unwrap_or(0)
}

#[test]
fn a_paused_game_stands_still_and_steps_frame_by_frame() {
    let Some(engine) = Engine::game(&counter()) else { return };
    let mut client = engine.connect();
    assert_eq!(client.refused("runtime.step", json!({})), (409, "game_not_paused".to_owned()));
    assert_eq!(client.done("runtime.setPaused", json!({"paused": true}))["paused"], true);
    let tree = json!({"root_path": "/root/Main", "max_depth": 1});
    let before = client.done("runtime.getTree", tree.clone());
    assert_eq!(before["paused"], true);
    assert_eq!(frames(&client.done("runtime.getTree", tree.clone())), frames(&before));
    let stepped = client.done("runtime.step", json!({"frames": 5}));
    assert_eq!((&stepped["frames"], &stepped["paused"]), (&json!(5), &json!(true)));
    assert_eq!(frames(&client.done("runtime.getTree", tree)), frames(&before) + 5);
}

#[test]
fn input_reaches_the_game_and_is_held_while_it_is_paused() {
    let Some(engine) = Engine::game(&counter()) else { return };
    let mut client = engine.connect();
    let walk = |pressed| json!({"events": [{"type": "action", "action_name": "walk_right", "pressed": pressed}]});
    client.done("runtime.setPaused", json!({"paused": true}));
    let held = client.done("runtime.injectInput", walk(true));
    assert_eq!((&held["queued_event_count"], &held["outcome"]), (&json!(1), &json!("queued")));
    let printed = |client: &mut didi_tests::live::Client| {
        let page = client.done("runtime.getOutput", json!({"limit": 500}));
        page["records"].to_string().contains("walked right")
    };
    assert!(!printed(&mut client));
    let resumed = client.done("runtime.setPaused", json!({"paused": false}));
    assert_eq!(resumed["released_input_events"], 1);
    // The game prints it in one of its next frames, each of which a call waits for.
    assert!((0..200).any(|_| {
        client.done("runtime.getTree", json!({"max_depth": 0}));
        printed(&mut client)
    }));
    let state = client.done("runtime.injectInput", walk(true));
    assert_eq!(state["input_state"]["action:walk_right"]["pressed"], true);
    let unknown = json!({"events": [{"type": "action", "action_name": "fly", "pressed": true}]});
    assert_eq!(client.refused("runtime.injectInput", unknown).0, 400);
}
