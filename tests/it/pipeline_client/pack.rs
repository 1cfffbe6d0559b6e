//! The unity pack, loaded by the program like any other pack, against a scripted instance.

use didi_tests::{
    Caller, Launch, Project,
    unity::{Act, Unity},
};
use serde_json::{Value, json};

use super::quiet_machine;

/// A client of a server whose records lead to these instances.
fn caller(project: &Project, unities: &[&Unity]) -> Caller {
    for unity in unities {
        let root = unity.root();
        let args = ["status", "--project-path", root.to_str().unwrap()];
        let mut note = didi_tests::unity::client(project.outside(), project.outside(), &args);
        note.output().unwrap();
    }
    let launch = Launch::over(project.root())
        .env("DIDI_SESSION_DIR", project.outside().join("sessions"))
        .env("HOME", project.outside());
    Caller::over(launch, json!({}))
}

#[test]
fn an_instance_is_listed_looked_at_and_told_what_to_do() {
    let _machine = quiet_machine();
    let unity = Unity::running(|seen, _| match seen.body["job"].as_bool() {
        Some(true) => Act::done(json!({"jobId": "j1", "state": "queued"})),
        _ => Act::Reply(
            200,
            json!({"success": true, "result": "pong", "parameters": {"message": "hi"}, "warnings": ["odd"]}),
        ),
    });
    let project = Project::empty();
    let mut caller = caller(&project, &[&unity]);
    let listed = caller.answered("unity_list_instances", json!({}));
    assert_eq!(listed["instances"][0]["name"], "Game", "{listed}");
    assert_eq!(listed["instances"][0]["process"], "alive");
    assert!(!listed.to_string().contains("c2Nya"), "no token reaches a pack: {listed}");
    let status = caller.answered("unity_editor_status", json!({"instance": "Game"}));
    assert_eq!((&status["ready"], &status["dialogs"]), (&json!(true), &json!([])), "{status}");
    let commands = caller.answered("unity_list_commands", json!({"query": "log", "full": true}));
    assert_eq!(commands["commands"][0]["name"], "log_editor");
    let progress = caller.answered("unity_command_progress", json!({}));
    assert_eq!(progress["active"], false);
    let before = unity.execs();
    for form in [
        json!({"command": "log_editor", "parameters": {"message": "hi"}}),
        json!({"argv": ["log_editor", "hi"]}),
        json!({"command_line": "log_editor 'hi'"}),
    ] {
        assert_eq!(caller.refused("unity_run_command", form.clone()), "confirmation_required");
        let done = caller.confirmed("unity_run_command", form.clone());
        assert_eq!(
            (&done["delivered"], &done["succeeded"]),
            (&json!(true), &json!(true)),
            "{done}"
        );
        assert_eq!((&done["result"], &done["warnings"]), (&json!("pong"), &json!(["odd"])));
    }
    assert_eq!(unity.execs(), before + 3, "a preview runs nothing, and each call is sent once");
    let bodies: Vec<Value> =
        unity.seen().into_iter().filter(|it| it.path() == "/api/exec").map(|it| it.body).collect();
    assert_eq!(bodies[0]["parameters"], json!({"message": "hi"}));
    assert_eq!(bodies[1]["argv"], json!(["log_editor", "hi"]));
    assert_eq!(bodies[2]["commandLine"], "log_editor 'hi'");
    let sent = caller.confirmed("unity_run_command", json!({"command": "bake", "job": true}));
    assert_eq!((&sent["job_id"], &sent["delivered"]), (&json!("j1"), &json!(true)), "{sent}");
}

#[test]
fn what_a_preview_shows_is_what_would_run() {
    let _machine = quiet_machine();
    let unity = Unity::running(|_, _| Act::done(json!(1)));
    let project = Project::empty();
    let mut caller = caller(&project, &[&unity]);
    let args = json!({"command": "log_editor", "parameters": {"message": "hi"}, "dry_run": true});
    let preview = caller.answered("unity_run_command", args)["mutation_preview"].clone();
    let text = preview.to_string();
    assert!(text.contains("Writes to the console."), "{text}");
    assert!(text.contains(r#""message":"hi""#), "{text}");
    assert_eq!(unity.execs(), 0);
}

#[test]
fn delivered_is_not_done() {
    let _machine = quiet_machine();
    let unity = Unity::running(|_, nth| match nth {
        0 => Act::done(json!({"success": false, "error": "compile"})),
        1 => Act::done(json!("{\"success\": false, \"message\": \"text\"}")),
        _ => Act::done(json!("x".repeat(5000))),
    });
    let project = Project::empty();
    let mut caller = caller(&project, &[&unity]);
    for why in ["compile", "text"] {
        let done = caller.confirmed("unity_run_command", json!({"command": "log_editor"}));
        assert_eq!(
            (&done["delivered"], &done["succeeded"]),
            (&json!(true), &json!(false)),
            "{done}"
        );
        assert_eq!(done["inner_failure"], why);
        assert!(done["result"].to_string().contains("success"), "the result stays visible: {done}");
    }
    let long = caller
        .confirmed("unity_run_command", json!({"command": "log_editor", "max_result_bytes": 1024}));
    assert_eq!(
        (&long["truncated"], &long["result"]["size_bytes"]),
        (&json!(true), &json!(5002)),
        "{long}"
    );
}

#[test]
fn every_failure_has_its_code_and_nothing_is_sent_again() {
    let _machine = quiet_machine();
    let problems = json!([{"kind": "unknownName", "name": "mesage", "suggestion": "message"}]);
    let told = problems.clone();
    let unity = Unity::running(move |_, nth| match nth {
        0 => Act::Close,
        1 => Act::busy("settling"),
        2 => Act::Reply(
            400,
            json!({"success": false, "error": "Invalid Command Arguments", "errorCode": "INVALID_COMMAND_ARGS", "argProblems": told, "errorDetails": "no --mesage."}),
        ),
        3 => Act::failed("Command Not Found", "none"),
        4 => Act::failed("Command Execution Failed", "boom"),
        5 => Act::Reply(429, json!({"success": false, "error": "Too Many Queued Jobs"})),
        6 => Act::Raw(200, "<html>".into()),
        7 => Act::Reply(200, json!([1])),
        8 => Act::Reply(
            400,
            json!({"success": false, "error": "Command Execution Failed", "timedOut": true, "errorDetails": "It was asked to stop."}),
        ),
        _ => Act::Reply(401, json!({"error": "Unauthorized"})),
    });
    let project = Project::empty();
    let mut caller = caller(&project, &[&unity]);
    let codes = [
        "unknown_outcome",
        "instance_busy",
        "invalid_arguments",
        "not_found",
        "engine_refused",
        "rate_limited",
        "unknown_outcome",
        "unknown_outcome",
        "unknown_outcome",
        "forbidden",
    ];
    for (nth, code) in codes.into_iter().enumerate() {
        let arguments = json!({"command": "log_editor", "dry_run": true});
        let preview = caller.answered("unity_run_command", arguments);
        let token = preview["mutation_preview"]["confirmation_token"].clone();
        let arguments = json!({"command": "log_editor", "confirmation_token": token});
        let refusal = caller.refusal("unity_run_command", arguments);
        assert_eq!(refusal["data"]["code"], code, "{nth}: {refusal}");
        assert_eq!(unity.execs(), nth + 1, "{code}");
        match nth {
            0 | 6 | 7 | 8 => assert_eq!(refusal["data"]["outcome"], "unknown", "{refusal}"),
            1 => assert_eq!(
                (&refusal["data"]["busy_reason"], &refusal["data"]["retry_after_ms"]),
                (&json!("settling"), &json!(1000))
            ),
            2 => assert_eq!(refusal["data"]["arg_problems"], problems),
            _ => {}
        }
    }
}

#[test]
fn jobs_end_are_cancelled_and_are_forgotten() {
    let _machine = quiet_machine();
    let unity = Unity::start(|seen, nth| match (seen.path(), nth) {
        ("/api/job", 0) => Act::Reply(
            200,
            json!({"jobId": "j1", "state": "running", "progress": {"title": "Baking", "pct": 0.5}}),
        ),
        ("/api/job", 1) => Act::Reply(
            200,
            json!({"jobId": "j1", "state": "completed", "result": {"success": false, "error": "inner"}}),
        ),
        ("/api/job", _) => Act::Reply(404, json!({"error": "Job Not Found"})),
        ("/api/job/cancel", _) => Act::Reply(
            200,
            json!({"jobId": "j1", "state": "running", "cancellationRequested": true}),
        ),
        _ => Act::at_rest(seen),
    });
    let project = Project::empty();
    let mut caller = caller(&project, &[&unity]);
    let job = json!({"job_id": "j1"});
    let running = caller.answered("unity_job_status", job.clone());
    assert_eq!(
        (&running["state"], &running["ended"]),
        (&json!("running"), &json!(false)),
        "{running}"
    );
    let ended = caller.answered("unity_job_status", job.clone());
    assert_eq!((&ended["succeeded"], &ended["inner_failure"]), (&json!(false), &json!("inner")));
    assert_eq!(caller.refused("unity_job_status", job.clone()), "unknown_outcome");
    let cancelled = caller.answered("unity_job_cancel", job);
    assert_eq!(cancelled["cancellation_requested"], true);
}

#[test]
fn a_dialog_is_shown_and_several_instances_have_to_be_named() {
    let _machine = quiet_machine();
    let blocked = Unity::start(|seen, _| {
        let dialog = json!({"id": "d1", "title": "Save?", "buttons": ["Yes", "No"]});
        match seen.path() {
            "/api/status" => {
                Act::Reply(200, json!({"status": "blocked_by_dialog", "dialog": dialog}))
            }
            "/api/dialog" => Act::Reply(200, json!({"active": true, "dialogs": [dialog]})),
            _ => Act::at_rest(seen),
        }
    });
    let other = Unity::running(|_, _| Act::done(json!(1)));
    let project = Project::empty();
    let mut caller = caller(&project, &[&blocked, &other]);
    let refusal = caller.refusal("unity_editor_status", json!({}));
    assert_eq!(refusal["data"]["code"], "conflict");
    assert_eq!(refusal["data"]["candidates"].as_array().unwrap().len(), 2, "{refusal}");
    let folder = blocked.root();
    let status = caller.answered("unity_editor_status", json!({"instance": folder}));
    assert_eq!(
        (&status["ready"], &status["dialogs"][0]["title"]),
        (&json!(false), &json!("Save?")),
        "{status}"
    );
    assert_eq!(caller.refused("unity_editor_status", json!({"instance": "Nobody"})), "not_found");
}
