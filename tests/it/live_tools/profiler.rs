//! What bounds the frames of games that are slow in a known way.

use std::thread;

use didi_tests::{Caller, Project, live::Engine, until};
use serde_json::json;

use super::refused::refused_beside;

/// A game that takes so many milliseconds in a function of every frame or tick.
fn slow(function: &str, millis: u32) -> Project {
    let project = Project::sample();
    let script = format!(
        "extends Node\n\n\nfunc {function}(_delta: float) -> void:\n\tOS.delay_msec({millis})\n"
    );
    project.write_scripted("Slow", "Node", script);
    project.set_main_scene("res://slow.tscn");
    project
}

#[test]
fn a_game_that_is_slow_is_said_to_be_bound_by_what_is_slow() {
    for (function, millis, bound, part) in
        [("_process", 40, "cpu", "process"), ("_physics_process", 40, "physics", "physics")]
    {
        let project = slow(function, millis);
        let Some(_engine) = Engine::game(&project) else { return };
        let mut caller = Caller::of(&project);
        let read =
            caller.done("runtime_read_profiler", json!({"duration_ms": 1500, "sample_count": 10}));
        assert_eq!(read["verdict"]["bound"], bound, "{read}");
        let median = read["verdict"]["median_ms"][part].as_f64().unwrap();
        assert!(median >= f64::from(millis), "the script alone takes {millis} ms: {read}");
        let metrics = read["metrics"].as_array().unwrap();
        assert_eq!(metrics.len(), 10, "{read}");
        let of = |name: &str| metrics.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(of("draw_calls")["available"], false, "a headless game draws nothing: {read}");
        assert!(of("nodes")["last"].as_f64().unwrap() >= 2.0, "{read}");
        assert!(
            of(&format!("{part}_time"))["max"].as_f64().unwrap() >= f64::from(millis),
            "{read}"
        );
    }
}

#[test]
fn a_quick_game_is_bound_by_nothing_and_a_stall_is_seen() {
    let project = slow("_process", 0);
    let Some(engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    let ask = json!({"duration_ms": 300, "sample_count": 3, "self_check": true, "categories": ["frame", "physics"]});
    let read = caller.done("runtime_read_profiler", ask);
    assert_eq!(read["verdict"]["bound"], "none", "{read}");
    assert_eq!(
        (&read["self_check"]["passed"], &read["self_check"]["bound"]),
        (&json!(true), &json!("cpu")),
        "{read}"
    );
    assert_eq!(read["metrics"].as_array().unwrap().len(), 4, "{read}");
    let once = caller.done("runtime_read_profiler", json!({"duration_ms": 0, "sample_count": 1}));
    assert_eq!(once["samples_collected"], 1, "{once}");
    let none = json!({"duration_ms": 0, "sample_count": 2});
    assert_eq!(caller.refused("runtime_read_profiler", none), "invalid_arguments");
    let dry = json!({"dry_run": true});
    assert_eq!(caller.refused("runtime_read_profiler", dry), "invalid_arguments");
    let long = ("runtime.readProfiler", json!({"duration_ms": 500, "sample_count": 1}));
    let short = json!({"duration_ms": 0, "sample_count": 1});
    let tool = ("runtime_read_profiler", &short);
    let refusal = refused_beside(&engine, long, &mut caller, tool, "profiler_read_active");
    assert_eq!(refusal["data"]["retry_after_ms"], 2000, "{refusal}");
}

#[test]
fn a_game_that_ends_while_it_is_measured_is_said_to_have_ended() {
    let project = slow("_process", 0);
    let Some(mut engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("runtime_get_tree", json!({"max_depth": 0}));
    let mut other = engine.connect();
    let stops = thread::spawn(move || {
        // Until it is being measured; then it is stopped.
        let short = json!({"duration_ms": 0, "sample_count": 1});
        until("another who measures", || other.ask("runtime.readProfiler", short.clone()).err());
        other.ask("runtime.stop", json!({"exit_code": 3})).is_ok()
    });
    // One of the two who measure comes first; the other asks again.
    let refusal = until("the end of the game", || {
        let refusal = caller.refusal("runtime_read_profiler", json!({"duration_ms": 5000}));
        (refusal["data"]["code"] != "profiler_read_active").then_some(refusal)
    });
    assert!(stops.join().unwrap());
    assert_eq!(engine.wait(), Some(3));
    let code = refusal["data"]["code"].as_str().unwrap();
    assert!(["live_session_ended", "engine_stopping"].contains(&code), "{refusal}");
}
