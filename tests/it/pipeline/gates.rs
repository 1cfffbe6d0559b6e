//! Settling and dialogs of the attached editor: a real one whose plugin asks a person, and a scripted one that takes its
//! time.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use didi_tests::{
    Pipeline, Project,
    live::{Engine, sessions},
    scripted::{Act, Scripted},
    until,
};
use serde_json::{Value, json};

use crate::live::activity::ASKER;

fn hierarchy() -> Value {
    json!({"command": "scene_get_hierarchy", "parameters": {}})
}

/// A server that meets the project's engines.
fn meeting(project: &Project) -> Pipeline {
    let folder = sessions(project).path;
    Pipeline::start(project, |launch| launch.env("DIDI_SESSION_DIR", folder))
}

#[test]
fn a_dialog_of_a_real_editor_holds_back_what_needs_its_main_thread() {
    let project = Project::sample();
    project.add_plugin("asker", ASKER);
    let Some(engine) = Engine::editor(&project) else { return };
    let pipeline = meeting(&project);
    let open = json!({"scene_path": "res://levels/meadow.tscn"});
    pipeline.result("scene_open", open);
    assert_eq!(pipeline.get("/api/status").json()["status"], "ready");
    assert_eq!(pipeline.get("/api/dialog").json(), json!({"active": false, "dialogs": []}));

    project.write(".godot/ask", "");
    let blocked = || {
        let status = pipeline.get("/api/status").json();
        (status["status"] == "blocked_by_dialog").then_some(status)
    };
    let status = until("a dialog", blocked);
    assert_eq!(status["dialog"]["title"], "Unsaved level", "{status}\n{}", engine.log());
    let dialog = pipeline.get("/api/dialog").json();
    assert_eq!(dialog["active"], true);
    let shown = &dialog["dialogs"][0];
    assert_eq!(shown["message"], "Throw the level away?");
    assert!(shown["buttons"].as_array().unwrap().contains(&json!("Save first")), "{shown}");
    assert_eq!((&shown["level"], &shown["source"]), (&json!("warning"), &json!("godot")));
    assert_eq!(shown["dismissedAt"], Value::Null);

    let held = pipeline.exec(&hierarchy());
    assert_eq!(held.status, 503);
    let held = held.json();
    assert_eq!(
        (&held["busyReason"], &held["retryable"]),
        (&json!("blocked_by_dialog"), &json!(true))
    );
    assert_eq!(held["dialogs"][0]["id"], shown["id"]);
    let job =
        pipeline.exec(&json!({"command": "scene_get_hierarchy", "parameters": {}, "job": true}));
    assert_eq!(job.status, 503, "no job is made that would wait for a person");
    // A malformed call is told before the editor is looked at, and files are read in any case.
    let wrong = json!({"argv": ["scene_get_hierarchy", "--max-dpth", "3"]});
    assert_eq!(pipeline.exec(&wrong).json()["errorCode"], "INVALID_COMMAND_ARGS");
    pipeline.result("project_list_resources", json!({}));
    let status = pipeline.get("/api/editor_status");
    assert_eq!(status.status, 200);
    let status = pipeline.exec(&json!({"command": "editor_status"})).json();
    assert_eq!(status["result"]["status"], "blocked_by_dialog", "{status}");

    fs::remove_file(project.file(".godot/ask")).unwrap();
    until("the end of the dialog", || {
        (pipeline.get("/api/status").json()["status"] == "ready").then_some(())
    });
    assert_eq!(pipeline.exec(&hierarchy()).status, 200);
}

#[test]
fn an_editor_settles_once_and_whoever_comes_early_is_asked_to_come_again() {
    let project = Project::sample();
    let settled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&settled);
    let root = project.root().canonicalize().unwrap();
    let _editor = Scripted::editor(&sessions(&project), &root, move |request, _| {
        match request.method.as_str() {
            "editor.getActivity" => Act::Answer(json!({
                "settled": flag.load(Ordering::SeqCst),
                "importing": !flag.load(Ordering::SeqCst),
                "frame_age_ms": 1,
                "dialogs": [],
                "closed_dialogs": [],
            })),
            _ => Act::Answer(json!({"scene_tree": {"name": "Root", "type": "Node"}})),
        }
    });
    let pipeline = meeting(&project);
    // The first command attaches the editor that it would run in, and finds it busy.
    let early = pipeline.exec(&hierarchy());
    assert_eq!(early.status, 503, "{}", early.text());
    let early = early.json();
    assert_eq!(
        (&early["error"], &early["busyReason"]),
        (&json!("Server Busy"), &json!("settling"))
    );
    assert_eq!((&early["status"], &early["retryable"]), (&json!("busy"), &json!(true)));
    assert_eq!(pipeline.get("/api/status").json()["status"], "settling");
    pipeline.result("project_list_resources", json!({}));
    settled.store(true, Ordering::SeqCst);
    let ready = || (pipeline.get("/api/status").json()["status"] == "ready").then_some(());
    until("readiness", ready);
    // It never settles again, whatever it imports later.
    settled.store(false, Ordering::SeqCst);
    let importing = || {
        let status = pipeline.get("/api/editor_status").json();
        (status.to_string().contains("\"importing\":true")).then_some(status)
    };
    until("an import", importing);
    assert_eq!(pipeline.get("/api/status").json()["status"], "ready");
}
