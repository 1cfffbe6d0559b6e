//! Scenarios and games that stay, in a real engine with the built extension.

use std::{fs, path::Path};

use didi_tests::{
    Launch, Project, Server, Signal, godot,
    live::{install, sessions},
    signal,
};
use serde_json::{Value, json};

const PLAYER: &str = "extends Node2D\n\nvar speed := 120.0\n\nfunc _ready():\n\tprint(\"ready to go\")\n\n\
    func _physics_process(delta):\n\tif Input.is_action_pressed(\"go\"):\n\t\tposition.x += speed * delta\n";
const SETTINGS: &str = "config_version=5\n\n[application]\n\nconfig/name=\"Walk\"\nrun/main_scene=\"res://player.tscn\"\n\n\
    [input]\n\ngo={\n\"deadzone\": 0.5,\n\"events\": []\n}\n";

/// A game in which one node walks while an action is held, with the addon, and a server over it.
fn walk() -> Option<(Project, Server)> {
    let engine = godot()?;
    let project = Project::empty();
    project.write("res://project.godot", SETTINGS);
    project.write_scripted("Player", "Node2D", PLAYER);
    install(&project);
    let server = Launch::over(project.root())
        .env("GODOT_BIN", engine)
        .env("DIDI_SESSION_DIR", sessions(&project).path)
        .start();
    Some((project, server))
}

fn scenario(name: &str, steps: Value) -> Value {
    json!({"name": name, "scene_path": "res://player.tscn", "steps": steps})
}

fn error(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    serde_json::from_str::<Value>(text).unwrap()["error"].clone()
}

fn record(project: &Project, name: &str) -> Value {
    let file = project.file(&format!(".didi/scenarios/{name}.json"));
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// No engine of the project runs any more, and none has left anything in the session folder.
fn nothing_left(project: &Project) {
    let folder = sessions(project).path;
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "json")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_behaviour_that_is_there_is_proven_and_recorded() {
    let Some((project, mut server)) = walk() else { return };
    let steps = json!([
        {"kind": "assert", "expression": "node.get(\"position\").x", "context_node": "/root/Player", "minimum": 0, "maximum": 0},
        {"kind": "press", "action": "go", "frames": 30, "label": "walk for half a second"},
        {"kind": "assert", "expression": "node.get(\"position\").x", "context_node": "/root/Player", "minimum": 55, "maximum": 65},
        {"kind": "wait", "frames": 100},
        {"kind": "assert", "expression": "node.get(\"position\").x < 66.0", "context_node": "/root/Player"},
        {"kind": "assert_output", "text": "ready to go"},
        {"kind": "assert_output", "text": "went wrong", "absent": true},
    ]);
    let result = server.call("runtime_run_scenario", scenario("walks", steps));
    let report = &result["structuredContent"];
    assert_eq!(report["verdict"], "pass", "{result}");
    assert_eq!(report["assertions"], json!({"total": 5, "held": 5, "failed": 0, "not_run": 0}));
    assert_eq!((&report["frames"], &report["game"]["started_paused"]), (&json!(130), &json!(true)));
    assert_eq!(report["teardown"]["ok"], true, "{report}");
    let files: Vec<&String> = report["files"].as_object().unwrap().keys().collect();
    assert_eq!(files, ["res://player.gd", "res://player.tscn", "res://project.godot"]);
    assert_eq!(record(&project, "walks")["verdict"], "pass");
    nothing_left(&project);
}

#[test]
fn a_behaviour_that_is_not_there_fails_with_the_step_that_shows_it() {
    let Some((project, mut server)) = walk() else { return };
    project.write("res://player.gd", PLAYER.replace("120.0", "0.0"));
    let steps = json!([
        {"kind": "press", "action": "go", "frames": 30},
        {"kind": "assert", "expression": "node.get(\"position\").x", "context_node": "/root/Player", "minimum": 55},
        {"kind": "assert_output", "text": "ready to go"},
    ]);
    let result = server.call("runtime_run_scenario", scenario("stands", steps));
    let refusal = error(&result);
    assert_eq!(
        (&refusal["code"], &refusal["data"]["code"]),
        (&json!(422), &json!("scenario_failed"))
    );
    let report = &refusal["data"]["report"];
    assert_eq!(report["verdict"], "fail", "{refusal}");
    assert_eq!(
        (&report["failure"]["step"], &report["failure"]["reason"]),
        (&json!(1), &json!("not_held"))
    );
    let outcomes: Vec<&Value> =
        report["steps"].as_array().unwrap().iter().map(|step| &step["outcome"]).collect();
    assert_eq!(outcomes, ["done", "failed", "not_run"]);
    assert_eq!(record(&project, "stands")["verdict"], "fail");
    nothing_left(&project);
}

#[test]
fn a_list_of_steps_that_proves_nothing_starts_no_game() {
    let Some((project, mut server)) = walk() else { return };
    for (steps, part) in [
        (json!([{"kind": "wait", "frames": 10}]), "prove nothing"),
        (json!([{"kind": "assert_output", "text": "x", "absent": true}]), "prove nothing"),
        (json!([{"kind": "assert"}]), "needs `expression`"),
        (json!([{"kind": "capture"}, {"kind": "assert", "expression": "true"}]), "headless"),
        (json!([{"kind": "press"}, {"kind": "assert", "expression": "true"}]), "needs `action`"),
    ] {
        let result = server.call("runtime_run_scenario", scenario("none", steps));
        let refusal = error(&result);
        assert_eq!(refusal["data"]["code"], "invalid_arguments", "{refusal}");
        assert!(refusal["message"].as_str().unwrap().contains(part), "{refusal}");
    }
    let mut gone = scenario("none", json!([{"kind": "assert", "expression": "true"}]));
    gone["scene_path"] = "res://gone.tscn".into();
    assert_eq!(error(&server.call("runtime_run_scenario", gone))["code"], 404);
    assert!(!project.file(".didi/scenarios").exists(), "nothing was recorded");
}

#[test]
fn a_game_without_the_addon_is_an_error_and_no_pass() {
    let Some((project, mut server)) = walk() else { return };
    fs::remove_file(project.file(".godot/extension_list.cfg")).unwrap();
    fs::remove_dir_all(project.file("addons")).unwrap();
    let mut call = scenario("bare", json!([{"kind": "assert", "expression": "true"}]));
    call["timeout_seconds"] = 5.into();
    let refusal = error(&server.call("runtime_run_scenario", call));
    assert_eq!(refusal["data"]["report"]["failure"]["reason"], "no_session", "{refusal}");
    assert_eq!(refusal["data"]["report"]["verdict"], "error");
}

#[test]
fn a_detached_game_stays_is_selected_and_is_driven() {
    let Some((project, mut server)) = walk() else { return };
    server.initialize("2025-06-18", json!({}));
    let mut call = |tool: &str, arguments: Value| {
        let answer = server.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = answer["result"].clone();
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    };
    let launched = call("runtime_launch", json!({"detach": true, "timeout_seconds": 60}));
    assert_eq!(
        (&launched["success"], &launched["session_published"]),
        (&json!(true), &json!(true)),
        "{launched}"
    );
    let session = call("runtime_get_session", json!({}));
    assert_eq!(session["session"]["session_id"], launched["game_session"]["session_id"]);
    assert_eq!(session["session"]["kind"], "game");
    let pid = launched["pid"].as_u64().unwrap();
    server.kill();
    // The game outlives its server; another one finds it.
    let mut next =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(&project).path).start();
    let listed = next.call("runtime_list_sessions", json!({}));
    assert_eq!(listed["structuredContent"]["sessions"][0]["pid"], pid, "{listed}");
    signal(pid.try_into().unwrap(), Signal::TERM);
}
