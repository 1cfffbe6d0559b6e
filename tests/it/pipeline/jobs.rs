//! Jobs, progress, cancellation, the queue, and `curl` as a client that knows nothing of us.

use std::{path::Path, process::Command};

use didi_plugin_api::testkit::left_out;
use didi_tests::{Pipeline, Project, stub_engine, until, until_gone};
use serde_json::{Value, json};

/// A stub that says its process id, starts a child that outlives it, and works until it is told to go on.
const HELD: &str = "sleep 300 & echo $! > \"$3/child.pid\"; echo $$ > \"$3/engine.pid\"; \
                    while [ ! -e \"$3/go\" ]; do sleep 0.02; done; printf GDPC0000 > \"$6\"";

fn export() -> Value {
    json!({"preset": "Linux", "output_path": "res://build/a.pck", "mode": "pack"})
}

/// A server whose exports wait for the file `go`.
fn held(project: &Project) -> Pipeline {
    let engine = stub_engine(project.outside(), HELD);
    Pipeline::start(project, |launch| launch.env("GODOT_BIN", engine))
}

/// A process that a stub wrote down, once it is there.
fn pid(project: &Project, file: &str) -> u32 {
    until(file, || project.text(file)?.trim().parse().ok())
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_is_polled_to_its_end_while_probes_are_answered_and_questions_wait() {
    let project = Project::sample();
    let pipeline = held(&project);
    let id = pipeline.start_job("project_export", export());
    pid(&project, "engine.pid");
    let running = pipeline.job(&id);
    assert_eq!(
        (&running["state"], &running["command"]),
        (&json!("running"), &json!("project_export"))
    );
    assert_eq!((&running["completedAt"], &running["result"]), (&Value::Null, &Value::Null));
    assert_eq!(pipeline.get("/api/progress").json()["active"], true);
    pipeline.status_is_quick();
    assert_eq!(pipeline.get("/api/dialog").json()["active"], false);
    // Behind it waits a job, and what has a limit is answered that it was not started.
    let next = pipeline.start_job("editor_status", json!({}));
    assert_eq!(pipeline.job(&next)["state"], "queued");
    let late = pipeline.exec(&json!({"command": "editor_status", "timeout": 50}));
    let body = late.json();
    assert_eq!(
        (late.status, &body["busyReason"], &body["retryable"]),
        (503, &json!("queued"), &json!(true)),
        "{body}"
    );
    project.write("go", "");
    let done = pipeline.job_in(&id, "completed");
    assert_eq!(done["result"]["success"], true, "{done}");
    assert_eq!(done["error"], Value::Null);
    assert_eq!(pipeline.job(&id), done, "it can be read again");
    let lean = pipeline.get(&format!("/api/job?id={id}&omit_nulls=true")).json();
    assert!(lean.get("error").is_none() && lean["result"].is_object(), "{lean}");
    pipeline.job_in(&next, "completed");
    assert_eq!(pipeline.get("/api/progress").json(), json!({"active": false, "progress": null}));
}

#[cfg(target_os = "linux")]
#[test]
fn a_cancelled_job_ends_with_everything_under_it_and_a_queued_one_never_starts() {
    let project = Project::sample();
    let pipeline = held(&project);
    let running = pipeline.start_job("project_export", export());
    let queued = pipeline.start_job("project_export", export());
    let (engine, child) = (pid(&project, "engine.pid"), pid(&project, "child.pid"));
    let cancel = |id: &str| {
        let body = json!({"id": id}).to_string();
        pipeline
            .ask(&mut pipeline.connect(), "POST", "/api/job/cancel?omit_nulls=true", &body)
            .json()
    };
    let gone = cancel(&queued);
    assert_eq!(
        (&gone["state"], &gone["cancellationRequested"]),
        (&json!("canceled"), &json!(true)),
        "{gone}"
    );
    assert!(gone.get("startedAt").is_none(), "{gone}");
    assert_eq!(cancel(&running)["cancellationRequested"], true);
    let ended = pipeline.job_in(&running, "canceled");
    assert_eq!(ended["refusal"]["data"]["code"], "cancelled", "{ended}");
    until_gone(engine);
    until_gone(child);
    assert_eq!(cancel(&running)["state"], "canceled", "a second time changes nothing");
    assert_eq!(project.text("build/a.pck"), None);
    // The queue goes on.
    assert_eq!(pipeline.result("editor_status", json!({}))["status"], "ready");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_past_its_limit_is_stopped_and_said_to_be_of_unknown_effect() {
    let project = Project::sample();
    let pipeline = held(&project);
    // Until the engine had the time to start.
    let engine = [400, 2_000, 10_000, 20_000].into_iter().find_map(|timeout| {
        let late = pipeline.exec(
            &json!({"command": "project_export", "parameters": export(), "timeout": timeout}),
        );
        let body = late.json();
        assert_eq!((late.status, &body["timedOut"]), (400, &json!(true)), "{body}");
        assert_eq!(body["error"], "Command Execution Failed");
        project.text("engine.pid").and_then(|text| text.trim().parse().ok())
    });
    until_gone(engine.expect("the engine is started"));
    assert_eq!(pipeline.result("editor_status", json!({}))["status"], "ready");
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_jobs_are_taken_and_one_more_is_refused() {
    let project = Project::sample();
    let pipeline = held(&project);
    let first = pipeline.start_job("project_export", export());
    pid(&project, "engine.pid");
    let mut http = pipeline.connect();
    let body = json!({"command": "editor_status", "job": true}).to_string();
    for _ in 1..100 {
        assert_eq!(pipeline.ask(&mut http, "POST", "/api/exec", &body).status, 200);
    }
    let refused = pipeline.ask(&mut http, "POST", "/api/exec", &body);
    assert_eq!((refused.status, &refused.json()["error"]), (429, &json!("Too Many Queued Jobs")));
    super::openapi::Document::read().check("POST", "/api/exec", &refused);
    project.write("go", "");
    pipeline.job_in(&first, "completed");
    until("room for one more", || {
        (pipeline.ask(&mut pipeline.connect(), "POST", "/api/exec", &body).status == 200)
            .then_some(())
    });
}

/// What a job says validates, too.
#[cfg(target_os = "linux")]
#[test]
fn every_state_of_a_job_is_documented() {
    let project = Project::sample();
    let pipeline = held(&project);
    let document = super::openapi::Document::read();
    let id = pipeline.start_job("project_export", export());
    let check = |state: &str, id: &str| {
        pipeline.job_in(id, state);
        document.check("GET", "/api/job", &pipeline.get(&format!("/api/job?id={id}")));
    };
    check("running", &id);
    document.check("GET", "/api/progress", &pipeline.get("/api/progress"));
    let failing = pipeline.start_job("project_get_setting", json!({"setting": "no/such"}));
    check("queued", &failing);
    project.write("go", "");
    check("completed", &id);
    check("failed", &failing);
}

/// Runs `curl`; its output, and the status of HTTP on the last line.
fn curl(arguments: &[&str]) -> (u16, Value) {
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

/// The issue's second point: what a script of a build machine does.
#[cfg(target_os = "linux")]
#[test]
fn curl_runs_a_tool_submits_an_export_and_reads_its_end() {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        return left_out("curl");
    }
    let project = Project::sample();
    let pipeline = held(&project);
    let found = pipeline.descriptor().unwrap();
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", found["port"]);
    let token = format!("Authorization: Bearer {}", found["evalToken"].as_str().unwrap());
    let exec = url("/api/exec");
    let setting = r#"{"commandLine": "project_get_setting application/config/name"}"#;
    let (status, body) = curl(&["-H", &token, &exec, "-d", setting]);
    assert_eq!((status, &body["result"]["value_literal"]), (200, &json!("\"Lantern\"")));
    assert_eq!(curl(&[&exec, "-d", setting]).0, 401);
    assert_eq!(
        curl(&["-H", &token, "-H", "Origin: http://a.example", &exec, "-d", setting]).0,
        403
    );
    assert_eq!(curl(&["-H", &token, "-H", "Host: a.example", &exec, "-d", setting]).0, 403);
    let job = json!({"command": "project_export", "parameters": export(), "job": true}).to_string();
    let (status, body) = curl(&["-H", &token, &exec, "-d", &job]);
    assert_eq!((status, &body["result"]["state"]), (200, &json!("queued")));
    let job = url(&format!("/api/job?id={}", body["result"]["jobId"].as_str().unwrap()));
    pid(&project, "engine.pid");
    let (status, progress) = curl(&["-H", &token, &url("/api/progress")]);
    assert_eq!((status, &progress["active"]), (200, &json!(true)));
    project.write("go", "");
    let ended = until("the end of the export", || {
        Some(curl(&["-H", &token, &job]).1).filter(|job| job["completedAt"].is_string())
    });
    assert_eq!(
        (&ended["state"], &ended["result"]["success"]),
        (&json!("completed"), &json!(true)),
        "{ended}"
    );
    assert!(Path::new(&project.file("build/a.pck")).is_file());
    // The last test run of a server that ran none.
    assert_eq!(curl(&["-H", &token, &url("/api/test-status")]).1["status"], "none");
}
