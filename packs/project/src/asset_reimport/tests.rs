//! An import that goes on after its call, looked at until it has ended.

use std::sync::{Arc, Mutex};

use didi_plugin_api::testkit::Kit;

use super::*;
use crate::ProjectPack;

/// A kit with one file, whose editor works for one look, then ends so; and how long it was given.
fn editor(end: fn() -> Result<Value, Refusal>) -> (tempfile::TempDir, Kit, Arc<Mutex<Vec<Value>>>) {
    let folder = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods, reason = "lays a plain file out for the test")]
    std::fs::write(folder.path().join("a.svg"), "<svg/>").unwrap();
    let asked = Arc::new(Mutex::new(vec![]));
    let heard = Arc::clone(&asked);
    let kit =
        Kit::open::<ProjectPack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            let mut heard = heard.lock().unwrap();
            heard.push(params.clone());
            match (method, heard.len()) {
                ("asset.reimport", 1) => Ok(json!({"status": "accepted", "reimport_id": "w1"})),
                ("asset.reimportStatus", 2) => Ok(json!({"state": "working", "reimport_id": "w1"})),
                ("asset.reimportStatus", 3) => end(),
                other => panic!("{other:?}"),
            }
        });
    (folder, kit, asked)
}

fn finished() -> Result<Value, Refusal> {
    Ok(json!({"state": "finished", "reimport_id": "w1", "reimported": ["res://a.svg"]}))
}

#[test]
fn a_call_waits_ten_seconds_and_a_job_longer() {
    let paths = json!({"paths": ["res://a.svg"]});
    let (_folder, kit, asked) = editor(finished);
    let answer = kit.call("asset_reimport", &paths).unwrap();
    assert_eq!(answer, json!({"reimported": ["res://a.svg"]}));
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0], json!({"paths": ["res://a.svg"], "detach_timeout_ms": 10_000}));
    assert_eq!(asked[1..], [json!({"reimport_id": "w1"}), json!({"reimport_id": "w1"})]);
    let (_folder, kit, asked) = editor(finished);
    let answer = kit.jobs().call("asset_reimport", &paths).unwrap();
    assert_eq!(answer["reimport_id"], "w1");
    assert_eq!(asked.lock().unwrap()[0]["detach_timeout_ms"], 300_000);
}

#[test]
fn what_the_editor_refused_is_refused() {
    let (_folder, kit, _) =
        editor(|| Err(Refusal::new(IMPORT_FAILED, "it is no picture").field("paths")));
    let refusal = kit.call("asset_reimport", &json!({"paths": ["res://a.svg"]})).unwrap_err();
    assert_eq!(refusal.code, IMPORT_FAILED);
}

#[test]
fn a_long_wait_and_a_file_that_is_not_there_are_refused_before() {
    let (_folder, kit, asked) = editor(finished);
    let long = json!({"paths": ["res://a.svg"], "timeout_ms": 10_001});
    let refusal = kit.call("asset_reimport", &long).unwrap_err();
    assert_eq!((refusal.code, &refusal.data["field"]), (NEEDS_JOB, &json!("request_id")));
    let gone = json!({"paths": ["res://b.svg"]});
    assert_eq!(kit.call("asset_reimport", &gone).unwrap_err().code, codes::NOT_FOUND);
    assert_eq!(kit.preview("asset_reimport", &gone).unwrap_err().code, codes::NOT_FOUND);
    let found = kit.preview("asset_reimport", &json!({"paths": ["res://a.svg"]})).unwrap();
    assert_eq!(found.before, json!([{"path": "res://a.svg", "has_import_settings": false}]));
    assert!(asked.lock().unwrap().is_empty());
}
