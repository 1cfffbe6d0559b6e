//! Opening, finding and closing a session.

use std::path::Path;

use didi_tests::{
    Project,
    live::{Engine, START_LIMIT, ask_engine, has_file, install, sessions},
    until_ok,
};
use didi_wire::{Identity, SessionKind, discovery, process};
use serde_json::json;

#[test]
fn an_editor_is_found_and_says_who_it_is() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let identity = &engine.descriptor().identity;
    assert_eq!(Path::new(&identity.project_path), project.root().canonicalize().unwrap());
    assert_eq!(process::liveness(engine.pid(), identity.started_at_ms), process::Liveness::Alive);
    let mut client = engine.connect();
    let mut answer = client.done("session.handshake", json!({}));
    assert_eq!(answer.as_object_mut().unwrap().remove("status"), Some(json!("ok")));
    assert_eq!(&serde_json::from_value::<Identity>(answer).unwrap(), identity);
    let state = client.done("editor.getState", json!({}));
    assert_eq!(state["status"], "connected");
    assert!(!engine.log().contains(engine.descriptor().token.reveal()));
    assert_eq!(
        client.refused("runtime.step", json!({})),
        (409, "session_kind_rejected".to_owned())
    );
}

#[test]
fn a_game_that_is_told_to_stop_leaves_nothing_behind() {
    let project = Project::sample();
    let Some(mut engine) = Engine::game(&project) else { return };
    assert_eq!(engine.descriptor().identity.kind, SessionKind::Game);
    let answer = engine.connect().done("runtime.stop", json!({"exit_code": 7}));
    assert_eq!(answer["stop_requested"], true);
    assert_eq!(engine.wait(), Some(7), "{}", engine.log());
    assert!(!Path::new(&engine.descriptor().identity.endpoint).exists());
    let found = discovery::scan(&sessions(&project)).unwrap();
    assert!(found.sessions.is_empty() && found.diagnostics.is_empty(), "{found:?}");
    assert!(!engine.log().contains("Leaked instance"), "{}", engine.log());
}

#[test]
fn an_engine_on_an_errand_opens_no_session() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    drop(engine);
    install(&project);
    let before = discovery::scan(&sessions(&project)).unwrap();
    assert_eq!(ask_engine(&project, "return Engine.get_version_info().major"), json!(4));
    let after = discovery::scan(&sessions(&project)).unwrap();
    assert_eq!(before.diagnostics, after.diagnostics);
    assert!(after.sessions.is_empty());
    // The errand would have left a tombstone; the killed game left its descriptor.
    assert!(!has_file(&sessions(&project).path, ".didi-retired-"));
}

#[test]
fn an_editor_that_quits_leaves_nothing_behind() {
    let project = Project::sample();
    let Some(mut engine) = Engine::passing_editor(&project, 600) else { return };
    engine.connect().done("editor.getState", json!({}));
    assert_eq!(engine.wait(), Some(0), "{}", engine.log());
    assert!(!Path::new(&engine.descriptor().identity.endpoint).exists());
    let found = discovery::scan(&sessions(&project)).unwrap();
    assert!(found.sessions.is_empty() && found.diagnostics.is_empty(), "{found:?}");
    let log = engine.log();
    assert!(!log.contains("Leaked instance") && !log.contains("panicked"), "{log}");
}

#[test]
fn a_reloaded_extension_opens_a_session_of_its_own() {
    let project = Project::sample();
    project.write_scripted(
        "Again",
        "Node",
        "@tool\nextends Node\n\n@export var now := false:\n\tset(value):\n\t\tif value and Engine.is_editor_hint():\n\
         \t\t\tGDExtensionManager.reload_extension.call_deferred(\"res://addons/didi/didi.gdextension\")\n",
    );
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://again.tscn"}));
    let again = json!({"target_node": "/root/Again", "property_name": "now", "value": true});
    // The session ends with the extension, before or after it answers.
    drop(client.ask("scene.setProperty", again));
    let second = until_ok(START_LIMIT, || {
        let found = discovery::scan(&sessions(&project)).unwrap().sessions;
        let other = |one: &didi_wire::Descriptor| one.identity != engine.descriptor().identity;
        let second = found.into_iter().find(other);
        second.ok_or_else(|| format!("there is no second session:\n{}", engine.log()))
    });
    assert_eq!(second.identity.pid, engine.pid());
    assert!(!Path::new(&engine.descriptor().identity.endpoint).exists());
    let mut client = didi_tests::live::Client::of(&second);
    assert_eq!(client.done("editor.getState", json!({}))["status"], "connected");
    assert!(!engine.log().contains("panicked"), "{}", engine.log());
}
