//! The same calls with a real Godot. Left out, and said so, where none is found; with `CI=true` that fails.

use std::fs;

use didi_tests::{Launch, Project, Server, godot, modern};
use serde_json::json;

fn served(project: &Project) -> Option<Server> {
    let engine = godot()?;
    Some(Launch::over(project.root()).env("GODOT_BIN", engine).start())
}

#[test]
fn a_pack_is_exported_as_a_job() {
    let project = Project::sample();
    let Some(mut server) = served(&project) else { return };
    let mut export = json!({
        "preset": "Linux", "output_path": "res://build/game.pck", "mode": "pack",
        "request_id": "real-export-1",
    });
    let mut result = server.call("project_export", export.clone());
    while result["structuredContent"]["status"] == "working" {
        result = server.call("project_export", json!({"request_id": "real-export-1"}));
    }
    assert_eq!(result["isError"], false, "{result}");
    let size = fs::metadata(project.file("build/game.pck")).unwrap().len();
    assert_eq!(result["structuredContent"]["size_bytes"], size, "{result}");
    assert_eq!(result["_meta"]["didi"]["job"]["state"], "completed", "{result}");
    export["output_path"] = "res://build/other.pck".into();
    let conflict = server.call("project_export", export).to_string();
    assert!(conflict.contains("request_id_conflict"), "{conflict}");
}

#[test]
fn a_running_export_goes_on_as_a_task() {
    let project = Project::sample();
    let Some(mut server) = served(&project) else { return };
    let meta = json!({"io.modelcontextprotocol/clientCapabilities":
        {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    let arguments =
        json!({"preset": "Linux", "output_path": "res://build/game.pck", "mode": "pack"});
    let call = json!({"name": "project_export", "arguments": arguments, "_meta": meta});
    let task = server.request("tools/call", modern(call))["result"].clone();
    assert_eq!(task["resultType"], "task", "{task}");
    loop {
        let read = json!({"taskId": task["taskId"], "_meta": meta});
        let state = server.request("tasks/get", modern(read))["result"].clone();
        if state["status"] == "working" {
            continue;
        }
        assert_eq!(state["status"], "completed", "{state}");
        assert_eq!(state["result"]["structuredContent"]["success"], true, "{state}");
        return;
    }
}

#[test]
fn a_new_script_is_compiled_by_the_engine() {
    let project = Project::sample();
    let Some(mut server) = served(&project) else { return };
    let good =
        json!({"script_path": "res://good.gd", "source_text": "extends Node\n\nvar a: int = 1\n"});
    let good = server.call("script_create", good)["structuredContent"].clone();
    assert_eq!(
        (&good["engine_checked"], &good["has_errors"]),
        (&json!(true), &json!(false)),
        "{good}"
    );
    let bad = json!({"script_path": "res://bad.gd", "source_text": "extends Node\n\nvar a: int = \"x\"\n"});
    let bad = server.call("script_create", bad)["structuredContent"].clone();
    assert_eq!((&bad["engine_checked"], &bad["has_errors"]), (&json!(true), &json!(true)), "{bad}");
}

#[test]
fn the_game_runs_and_its_end_is_told() {
    let project = Project::sample();
    let Some(mut server) = served(&project) else { return };
    let result = server.call("runtime_launch", json!({"timeout_seconds": 3}));
    assert!(result["content"].is_array(), "{result}");
    assert_eq!(result["isError"], false, "{result}");
}
