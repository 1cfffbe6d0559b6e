//! Settling and dialogs of the attached editor: a real one whose plugin asks a person, and a scripted one that takes its
//! time.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use didi_tests::{
    Pipeline, Project,
    live::{Engine, sessions},
    scripted::{Act, Scripted},
    until,
};
use didi_wire::{Identity, SessionKind};
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

/// Commands that would attach an editor which accepts and then stalls, over connections that ask nothing else.
fn stalling(handshake: impl Fn(&Identity) -> Act + Send + Sync + 'static) {
    let project = Project::sample();
    let met = Arc::new(AtomicBool::new(false));
    let (shaken, asked) = (Arc::clone(&met), Arc::clone(&met));
    let root = project.root().canonicalize().unwrap();
    let _editor = Scripted::start(
        &sessions(&project),
        &root,
        SessionKind::Editor,
        move |_, _| {
            asked.store(true, Ordering::SeqCst);
            Act::Silence
        },
        move |identity| {
            let act = handshake(identity);
            if matches!(act, Act::Silence) {
                shaken.store(true, Ordering::SeqCst);
            }
            act
        },
    );
    let pipeline = meeting(&project);
    let body = hierarchy().to_string();
    let request = pipeline.head("POST", "/api/exec", body.len()) + &body;
    let mut kept: Vec<_> = (0..8).map(|_| pipeline.connect()).collect();
    for http in &mut kept {
        http.send(request.as_bytes()).unwrap();
    }
    until("the editor to be spoken to", || met.load(Ordering::SeqCst).then_some(()));
    for _ in 0..50 {
        pipeline.status_is_quick();
    }
    assert_eq!(pipeline.get("/api/commands").status, 200);
}

#[test]
fn an_editor_that_holds_its_handshake_keeps_nobody_from_the_status() {
    stalling(|_| Act::Silence);
}

#[test]
fn an_editor_that_holds_its_first_answer_keeps_nobody_from_the_status() {
    stalling(|identity| {
        let mut answer = json!(identity);
        answer["status"] = "ok".into();
        Act::Answer(answer)
    });
}

#[test]
fn a_command_whose_editor_is_attached_too_late_is_not_started() {
    let project = Project::sample();
    let root = project.root().canonicalize().unwrap();
    let editor = Scripted::start(
        &sessions(&project),
        &root,
        SessionKind::Editor,
        |request, _| match request.method.as_str() {
            "editor.getActivity" => at_rest(&[]),
            _ => Act::Answer(json!({"scene_tree": {"name": "Root", "type": "Node"}})),
        },
        |identity| {
            thread::sleep(Duration::from_millis(600));
            let mut answer = json!(identity);
            answer["status"] = "ok".into();
            Act::Answer(answer)
        },
    );
    for job in [false, true] {
        let pipeline = meeting(&project);
        let mut request = hierarchy();
        request["timeout"] = 300.into();
        request["job"] = job.into();
        let late = pipeline.exec(&request);
        assert_eq!(late.status, 503, "{}", late.text());
        let late = late.json();
        assert_eq!(late["busyReason"], "queued", "{late}");
        assert_eq!(
            late["errorDetails"],
            "The command waited 300 ms for its turn; it was not started"
        );
    }
    assert!(editor.asked() > 0, "it was met");
}

#[test]
fn a_command_that_is_done_does_not_wait_for_an_editor_that_fell_silent() {
    let project = Project::sample();
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    let root = project.root().canonicalize().unwrap();
    let _editor = Scripted::editor(&sessions(&project), &root, move |request, _| {
        if request.method != "editor.getActivity" {
            flag.store(true, Ordering::SeqCst);
            return Act::Answer(json!({"scene_tree": {"name": "Root", "type": "Node"}}));
        }
        if flag.load(Ordering::SeqCst) { Act::Silence } else { at_rest(&[]) }
    });
    let pipeline = meeting(&project);
    let mut request = hierarchy();
    request["timeout"] = 10_000.into();
    let done = pipeline.exec(&request);
    assert_eq!(done.status, 200, "{}", done.text());
    assert!(ran.load(Ordering::SeqCst));
}

/// What an editor tells that is at rest, with the dialogs that were closed.
fn at_rest(closed: &[Value]) -> Act {
    Act::Answer(json!({
        "settled": true,
        "importing": false,
        "frame_age_ms": 1,
        "dialogs": [],
        "closed_dialogs": closed,
    }))
}

/// A dialog may come and go between two looks.
#[test]
fn a_dialog_that_opens_and_closes_while_a_command_runs_is_told_with_it() {
    let project = Project::sample();
    let closed_ms = Arc::new(AtomicU64::new(0));
    let at = Arc::clone(&closed_ms);
    let root = project.root().canonicalize().unwrap();
    let _editor = Scripted::editor(&sessions(&project), &root, move |request, _| {
        if request.method != "editor.getActivity" {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            at.store(u64::try_from(since.as_millis()).unwrap(), Ordering::SeqCst);
            return Act::Answer(json!({"scene_tree": {"name": "Root", "type": "Node"}}));
        }
        let dialog = |closed_ms: u64| {
            json!({
                "id": format!("7-{closed_ms}"),
                "class": "ConfirmationDialog",
                "title": "Please confirm",
                "message": "Reload from disk?",
                "buttons": ["Reload"],
                "opened_at_ms": closed_ms,
                "dismissed_at_ms": closed_ms,
            })
        };
        // One of long ago, and then the one of the command.
        let closed = [1, at.load(Ordering::SeqCst)].into_iter().filter(|ms| *ms > 0);
        at_rest(&closed.map(dialog).collect::<Vec<_>>())
    });
    let pipeline = meeting(&project);
    let told = pipeline.exec(&hierarchy()).json();
    let dialogs = told["dialogsDuringExecution"].as_array().unwrap_or_else(|| panic!("{told}"));
    assert_eq!(dialogs.len(), 1, "{told}");
    assert_eq!(dialogs[0]["id"], format!("7-{}", closed_ms.load(Ordering::SeqCst)));
    assert_eq!(dialogs[0]["message"], "Reload from disk?");
    assert!(dialogs[0]["dismissedAt"].is_string(), "{told}");
    // Those that read files alone have none to tell of.
    let other = pipeline.exec(&json!({"command": "editor_status"})).json();
    assert!(other.get("dialogsDuringExecution").is_none(), "{other}");
}
