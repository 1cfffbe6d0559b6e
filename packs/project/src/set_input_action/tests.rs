//! Events of an action: checked before they are sent.

use std::sync::{Arc, Mutex};

use didi_plugin_api::testkit::Kit;

use super::*;
use crate::ProjectPack;

#[test]
fn events_are_checked_and_then_sent_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let sent = Arc::new(Mutex::new(vec![]));
    let heard = Arc::clone(&sent);
    let kit = Kit::open::<ProjectPack>(folder.path()).mode(Mode::Live).bridge(move |_, params| {
        heard.lock().unwrap().push(params.clone());
        Ok(json!({"persisted": true}))
    });
    let set = |events: Value| {
        kit.call("project_set_input_action", &json!({"action": "jump", "events": events}))
    };
    for event in [
        json!({"type": "key", "shift": true}),
        json!({"type": "key", "keycode": 32, "pressed": true}),
        json!({"type": "mouse_button", "button_index": 0}),
        json!({"type": "joypad_motion", "axis": 1}),
        json!({"button_index": 1}),
    ] {
        assert_eq!(set(json!([event])).unwrap_err().data["field"], "events", "{event}");
    }
    let slash = json!({"action": "a/b"});
    let refusal = kit.call("project_set_input_action", &slash).unwrap_err();
    assert_eq!(refusal.data["field"], "action");
    assert!(sent.lock().unwrap().is_empty(), "nothing of it was sent");
    let events = json!([{"type": "key", "physical_keycode": 32, "ctrl": true}, {"type": "joypad_motion", "axis": 1, "axis_value": -1}]);
    set(events.clone()).unwrap();
    let params = json!({"action": "jump", "deadzone": 0.2, "events": events, "replace": false});
    assert_eq!(sent.lock().unwrap()[..], [params]);
}

#[test]
fn the_preview_shows_the_action_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let kit = Kit::open::<ProjectPack>(folder.path()).mode(Mode::Live).bridge(|_, params| {
        if params["action"] == "jump" {
            return Ok(json!({"actions": [{"action": "jump", "defined_by_project": true}]}));
        }
        Err(Refusal::new(list_input_actions::ACTION_NOT_FOUND, "there is none").field("action"))
    });
    let preview = |args: Value| kit.preview("project_set_input_action", &args);
    assert!(!preview(json!({"action": "fly"})).unwrap().exists);
    assert_eq!(preview(json!({"action": "jump"})).unwrap_err().code, codes::ALREADY_EXISTS);
    assert!(preview(json!({"action": "jump", "replace": true})).unwrap().exists);
}
