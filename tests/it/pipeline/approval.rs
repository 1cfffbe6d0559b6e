//! Changes over the Pipeline: looked at, confirmed, or refused with what they would do. Nothing passes the gate.

use didi_tests::{Launch, Pipeline, Project, until};
use serde_json::{Value, json};

const SCRIPT: &str = "res://player/player.gd";

fn patch(more: Value) -> Value {
    let mut parameters = json!({"script_path": "res://new.gd", "source_text": "extends Node2D\n", "overwrite": true});
    parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"command": "script_create", "parameters": parameters})
}

/// A project with a script that a change would replace.
fn project() -> Project {
    let project = Project::empty();
    project.write("new.gd", "extends Node\n");
    project
}

const OLD: Option<&str> = Some("extends Node\n");
const NEW: Option<&str> = Some("extends Node2D\n");

#[test]
fn an_unconfirmed_change_is_refused_with_its_preview_whose_token_opens_it_once() {
    let project = project();
    let pipeline = Pipeline::over(&project);
    let refused = pipeline.exec(&patch(json!({})));
    assert_eq!(refused.status, 400);
    let refused = refused.json();
    assert_eq!(refused["error"], "Command Execution Failed", "{refused}");
    let data = &refused["refusal"]["data"];
    assert_eq!(data["code"], "confirmation_required");
    let preview = &data["mutation_preview"];
    assert_eq!(preview["changes"][0]["target"], "res://new.gd", "{preview}");
    assert_eq!(project.text("new.gd").as_deref(), OLD);
    let token = preview["confirmation_token"].clone();
    let confirmed = pipeline.exec(&patch(json!({"confirmation_token": token}))).json();
    assert_eq!(
        (&confirmed["success"], &confirmed["confirmation"]),
        (&json!(true), &json!("agent"))
    );
    assert_eq!(project.text("new.gd").as_deref(), NEW);
    let again = pipeline.exec(&patch(json!({"confirmation_token": token}))).json();
    assert_eq!(again["refusal"]["data"]["code"], "gone", "{again}");
}

#[test]
fn a_token_opens_only_the_target_that_was_looked_at() {
    let project = project();
    let pipeline = Pipeline::over(&project);
    let preview = pipeline.exec(&patch(json!({"dry_run": true}))).json();
    let token = preview["result"]["mutation_preview"]["confirmation_token"].clone();
    assert!(token.is_string(), "{preview}");
    project.write("new.gd", "extends Control\n");
    let refused = pipeline.exec(&patch(json!({"confirmation_token": token}))).json();
    assert_eq!(refused["refusal"]["data"]["target_changed"], true, "{refused}");
    assert_eq!(project.text("new.gd").as_deref(), Some("extends Control\n"));
}

#[test]
fn the_callers_word_runs_a_change_and_a_dry_run_wins_over_it() {
    let project = project();
    let pipeline = Pipeline::over(&project);
    let looked = pipeline.exec(&patch(json!({"dry_run": true, "confirm": true}))).json();
    assert_eq!(looked["result"]["dry_run"], true, "{looked}");
    assert_eq!(project.text("new.gd").as_deref(), OLD);
    let refused = pipeline.exec(&patch(json!({"confirm": false}))).json();
    assert_eq!(refused["refusal"]["data"]["code"], "confirmation_required");
    let confirmed = pipeline.exec(&patch(json!({"confirm": true}))).json();
    assert_eq!(
        (&confirmed["success"], &confirmed["confirmation"]),
        (&json!(true), &json!("agent"))
    );
    assert_eq!(project.text("new.gd").as_deref(), NEW);
    // A command line can say it, too.
    let line = format!("script_create res://new.gd 'extends Node{}' --overwrite --confirm", "3D");
    let confirmed = pipeline.exec(&json!({"commandLine": line})).json();
    assert_eq!(confirmed["success"], true, "{confirmed}");
    assert_eq!(project.text("new.gd").as_deref(), Some("extends Node3D"));
}

#[test]
fn a_word_that_a_command_does_not_take_is_refused() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let body = json!({"command": "script_get_symbols", "parameters": {"file_path": SCRIPT, "confirm": true}});
    let refused = pipeline.exec(&body).json();
    assert_eq!(refused["error"], "Parameter Validation Failed", "{refused}");
    assert!(refused["errorDetails"].as_str().unwrap().contains("'confirm'"), "{refused}");
}

/// A change of a client on standard input and one of the Pipeline do not run at the same time.
#[cfg(unix)]
#[test]
fn changes_from_both_fronts_exclude_each_other() {
    let project = Project::sample();
    let engine = didi_tests::stub_engine(
        project.outside(),
        "touch \"$3/running\"; while [ ! -e \"$3/go\" ]; do sleep 0.02; done; printf GDPC0000 > \"$6\"",
    );
    let server = Launch::over(project.root())
        .args(["--pipeline", "--pipeline-port", "0"])
        .env("GODOT_BIN", engine)
        .start();
    let mut pipeline = Pipeline::of(server, &project);
    let export = json!({"preset": "Linux", "output_path": "res://build/a.pck", "mode": "pack"});
    let job = pipeline.start_job("project_export", export);
    until("the export", || project.text("running"));
    pipeline.server.initialize("2025-11-25", json!({}));
    let write = pipeline.server.ask_tool("blackboard_write", json!({"path": "/a", "value": 1}));
    // A read is answered past the change that waits.
    let read =
        pipeline.server.call("project_get_setting", json!({"setting": "application/config/name"}));
    assert_eq!(read["isError"], false, "{read}");
    assert_eq!(pipeline.server.answered(write), None);
    assert_eq!(pipeline.job(&job)["state"], "running");
    project.write("go", "");
    let written = pipeline.server.answer(write);
    assert_eq!(written["result"]["isError"], false, "{written}");
    pipeline.job_in(&job, "completed");
}
