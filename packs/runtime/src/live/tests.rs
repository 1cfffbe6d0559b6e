//! What the live tools of a game send, and what they refuse before they send anything.

use std::sync::{Arc, Mutex};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::RuntimePack;

type Sent = Arc<Mutex<Vec<(String, Value)>>>;

/// A kit whose game answers so, and what it was asked.
fn game(answer: Value) -> (tempfile::TempDir, Kit, Sent) {
    let folder = tempfile::tempdir().unwrap();
    let sent = Sent::default();
    let asked = Arc::clone(&sent);
    let kit =
        Kit::open::<RuntimePack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            asked.lock().unwrap().push((method.to_owned(), params.clone()));
            Ok(answer.clone())
        });
    (folder, kit, sent)
}

fn last(sent: &Sent) -> (String, Value) {
    sent.lock().unwrap().last().cloned().expect("the game was asked")
}

#[test]
fn arguments_are_sent_with_their_defaults() {
    let (_folder, kit, sent) = game(json!({"truncated": true, "records": []}));
    let answer = kit.answer("runtime_read_output", &json!({"minimum_level": "error"})).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let page = json!({"cursor": 0, "limit": 100, "minimum_level": "error"});
    assert_eq!(last(&sent), ("runtime.getOutput".to_owned(), page));
    let (_folder, kit, sent) = game(json!({}));
    kit.call("runtime_step", &json!({})).unwrap();
    assert_eq!(last(&sent), ("runtime.step".to_owned(), json!({"frames": 1})));
    kit.call("eval_gdscript", &json!({"expression": "1 + 1"})).unwrap();
    assert_eq!(last(&sent).1, json!({"expression": "1 + 1", "timeout_ms": 1000}));
    let press = json!({"events": [{"type": "action", "action_name": "jump", "pressed": true}]});
    kit.call("runtime_inject_input", &press).unwrap();
    let (_, params) = last(&sent);
    assert_eq!((&params["events"], &params["paused_delivery"]), (&press["events"], &json!("hold")));
}

#[test]
fn a_stack_is_asked_for_with_its_defaults_and_the_game_is_let_go() {
    let (_folder, kit, sent) = game(json!({"stopped": true, "frames": [], "truncated": false}));
    let answer = kit.answer("runtime_get_call_stack", &json!({})).unwrap();
    assert_eq!(answer.truncated, Some(false));
    let wanted = json!({"max_frames": 32, "include_source_position": true});
    assert_eq!(last(&sent), ("runtime.getCallStack".to_owned(), wanted));
    let (_folder, kit, sent) = game(json!({"action": "continue", "stopped": false}));
    kit.call("runtime_control_debugger", &json!({"action": "continue"})).unwrap();
    let wanted = json!({"action": "continue"});
    assert_eq!(last(&sent), ("runtime.controlDebugger".to_owned(), wanted));
}

#[test]
fn a_preview_says_whether_the_game_is_paused() {
    let (_folder, kit, sent) = game(json!({"paused": false, "truncated": false}));
    let target = kit.preview("runtime_set_paused", &json!({"paused": true})).unwrap();
    assert_eq!(
        (target.before, target.after),
        (json!({"paused": false}), Some(json!({"paused": true})))
    );
    assert_eq!(last(&sent), ("runtime.getTree".to_owned(), json!({"max_depth": 0})));
}

#[test]
fn an_exploration_is_stuck_at_the_latest_when_it_ends() {
    let (_folder, kit, sent) = game(json!({}));
    let explore = |duration_ms: u64, stuck_ms: Option<u64>| {
        let mut args = json!({"actions": ["walk"], "probes": [{"expression": "1"}], "duration_ms": duration_ms});
        if let Some(stuck_ms) = stuck_ms {
            args["stuck_ms"] = stuck_ms.into();
        }
        kit.call("runtime_explore_scene", &args)
    };
    for (duration_ms, stuck_ms, sent_ms) in
        [(1000, None, 1000), (5000, None, 3000), (5000, Some(4000), 4000)]
    {
        explore(duration_ms, stuck_ms).unwrap();
        assert_eq!(last(&sent).1["stuck_ms"], sent_ms);
    }
    assert_eq!(explore(1000, Some(1001)).unwrap_err().data["field"], "stuck_ms");
    let twice = json!({"actions": ["walk", "walk"], "probes": [{"expression": "1"}]});
    assert_eq!(kit.call("runtime_explore_scene", &twice).unwrap_err().data["field"], "actions");
}

#[test]
fn records_that_do_not_fit_are_refused_before_they_are_sent() {
    let (_folder, kit, sent) = game(json!({}));
    for event in [
        json!({"type": "fly"}),
        json!({"type": "action", "action_name": "jump"}),
        json!({"type": "action", "action_name": "jump", "pressed": true, "strength": 2}),
        json!({"type": "mouse_button", "button_index": 10, "pressed": true}),
        json!({"type": "joypad_motion", "axis": 6, "axis_value": 0}),
        json!({"type": "mouse_motion", "position": [1, 2]}),
    ] {
        let refusal = kit.call("runtime_inject_input", &json!({"events": [event]})).unwrap_err();
        assert_eq!(
            (&refusal.data["field"], &refusal.data["index"]),
            (&json!("events"), &json!(0)),
            "{event}"
        );
    }
    for invariant in [
        json!({"kind": "performance_between", "metric": "time_fps"}),
        json!({"kind": "expression_between", "minimum": 0}),
        json!({"kind": "no_engine_errors", "minimum": 0}),
    ] {
        let args = json!({"invariants": [invariant]});
        let refusal = kit.call("runtime_watch_invariants", &args).unwrap_err();
        assert_eq!(refusal.data["field"], "invariants", "{invariant}");
    }
    let long = "1".repeat(2049);
    let wide = "\u{e9}".repeat(1025);
    for expression in [long, wide] {
        assert!(kit.call("eval_gdscript", &json!({"expression": expression})).is_err());
    }
    assert!(sent.lock().unwrap().is_empty(), "nothing of it was sent");
}

#[test]
fn a_profile_is_asked_for_with_its_defaults() {
    let (_folder, kit, sent) = game(json!({"metrics": []}));
    kit.call("runtime_read_profiler", &json!({})).unwrap();
    let wanted = json!({"duration_ms": 1000, "sample_count": 30, "categories": ["frame", "process", "physics", "render"], "self_check": false});
    assert_eq!(last(&sent), ("runtime.readProfiler".to_owned(), wanted));
    let none = kit.call("runtime_read_profiler", &json!({"duration_ms": 0})).unwrap_err();
    assert_eq!(none.data["field"], "sample_count");
}
