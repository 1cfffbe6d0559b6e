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
    project.set_main_scene("res://counter.tscn");
    project
}

/// How far the counter has come, read from its name in the tree.
fn frames(tree: &Value) -> u64 {
    let name = tree["tree"]["children"][0]["name"].as_str().unwrap();
    name.trim_start_matches("At").parse().unwrap_or(0)
}

#[test]
fn a_paused_game_stands_still_and_steps_frame_by_frame() {
    let project = counter();
    let Some(engine) = Engine::game(&project) else { return };
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
    let project = counter();
    let Some(engine) = Engine::game(&project) else { return };
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

#[test]
fn held_input_goes_out_whichever_way_time_goes_on() {
    for (method, params) in
        [("runtime.step", json!({"frames": 3})), ("physics.simulateStep", json!({"steps": 3}))]
    {
        let project = counter();
        let Some(engine) = Engine::game(&project) else { return };
        let mut client = engine.connect();
        client.done("runtime.setPaused", json!({"paused": true}));
        let walk =
            json!({"events": [{"type": "action", "action_name": "walk_right", "pressed": true}]});
        client.done("runtime.injectInput", walk);
        let stepped = client.done(method, params.clone());
        assert_eq!(stepped["released_input_events"], 1, "{method}: {stepped}");
        let page = client.done("runtime.getOutput", json!({"limit": 500}));
        let walked = page["records"].to_string().contains("walked right");
        assert!(walked, "{method}: the game saw nothing of it: {page}");
        assert_eq!(client.done(method, params)["released_input_events"], 0, "{method}");
    }
}

#[test]
fn conditions_are_watched_and_a_broken_one_pauses_the_game() {
    let project = counter();
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let held = json!({"duration_ms": 200, "invariants": [
        {"kind": "performance_between", "metric": "object_node_count", "minimum": 1},
        {"kind": "expression_between", "expression": "node.get_child_count()", "context_node": "/root/Main",
            "minimum": 1, "maximum": 1},
        {"kind": "no_engine_errors"},
    ]});
    let held = client.done("runtime.watchInvariants", held);
    assert_eq!((&held["outcome"], &held["paused"]), (&json!("held"), &json!(false)), "{held}");
    assert!(held["invariants"][1]["samples"].as_u64().unwrap() > 1, "{held}");
    let broken = json!({"invariants": [
        {"kind": "expression_between", "name": "few", "expression": "node.get_child_count()",
            "context_node": "/root/Main", "maximum": 0},
    ]});
    let broken = client.done("runtime.watchInvariants", broken);
    assert_eq!((&broken["outcome"], &broken["paused"]), (&json!("violated"), &json!(true)));
    assert_eq!(
        (&broken["violation"]["name"], &broken["violation"]["value"]),
        (&json!("few"), &json!(1.0))
    );
    let unbounded = json!({"invariants": [{"kind": "performance_between", "metric": "time_fps"}]});
    assert_eq!(client.refused("runtime.watchInvariants", unbounded).0, 400);
}

#[test]
fn an_exploration_tells_where_nothing_moved() {
    let project = counter();
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let explore = |probe: &str, node: &str| {
        json!({"actions": ["walk_left", "walk_right"], "duration_ms": 1000, "action_hold_ms": 50, "stuck_ms": 300,
            "probes": [{"expression": probe, "context_node": node, "name": "probe"}]})
    };
    let still = explore("node.get_child_count()", "/root/Main");
    let still = client.done("runtime.exploreScene", still);
    assert_eq!(
        (&still["stopped_reason"], &still["paused"]),
        (&json!("stuck"), &json!(true)),
        "{still}"
    );
    assert_eq!(still["stuck_intervals"].as_array().unwrap().len(), 1, "{still}");
    let paused = explore("node.get_child_count()", "/root/Main");
    assert_eq!(client.refused("runtime.exploreScene", paused).1, "paused_game_session");
    client.done("runtime.setPaused", json!({"paused": false}));
    let moving = explore("node.get_path()", "/root/Main");
    let mut moving = moving;
    moving["pause_on_stuck"] = json!(false);
    let over = client.done("runtime.exploreScene", moving);
    assert_eq!(over["stopped_reason"], "duration_elapsed", "{over}");
    let output = client.done("runtime.getOutput", json!({"limit": 500}));
    assert!(output["records"].to_string().contains("walked right"), "{output}");
    let unknown = json!({"actions": ["fly"], "probes": [{"expression": "1"}]});
    assert_eq!(client.refused("runtime.exploreScene", unknown).0, 400);
}

#[test]
fn a_game_for_a_scenario_stands_still_from_its_first_frame() {
    let project = counter();
    let Some(engine) = Engine::game_with(&project, &["--didi-start-paused"]) else { return };
    let mut client = engine.connect();
    let tree = json!({"root_path": "/root/Main", "max_depth": 1});
    let first = client.done("runtime.getTree", tree.clone());
    assert_eq!(first["paused"], true, "{first}");
    assert!(frames(&first) <= 1, "{first}");
    client.done("runtime.step", json!({"frames": 3}));
    assert_eq!(frames(&client.done("runtime.getTree", tree)), frames(&first) + 3);
    let logs = client.done("runtime.getLogs", json!({}));
    assert_eq!(logs["records"][0]["message"], "session opened");
    assert!(logs["records"].to_string().contains("runtime.step"), "{logs}");
}
