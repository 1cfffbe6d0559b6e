use std::thread;

use didi_wire::methods::{self, Lookup};
use serde_json::{Map, json};

use super::*;

fn call(name: &str) -> Call {
    let Lookup::Method(method) = methods::lookup(name) else { panic!("{name}") };
    Call { method, params: Map::new(), undo_group: None }
}

/// Long enough for a loaded machine, and never waited for when all is well.
const PATIENCE: Duration = Duration::from_secs(20);

fn taken(queue: &Queue) -> Arc<Command> {
    assert!(queue.wait_until(Instant::now() + PATIENCE));
    queue.next().unwrap()
}

#[test]
fn commands_come_out_as_they_went_in_and_callers_get_their_answers() {
    let queue = Queue::new();
    thread::scope(|scope| {
        let mut callers = vec![];
        for name in ["scene.open", "scene.close", "scene.create"] {
            callers.push(scope.spawn(|| queue.run(call(name), PATIENCE)));
            while lock(&queue.waiting).commands.len() < callers.len() {
                thread::yield_now();
            }
        }
        for name in ["scene.open", "scene.close", "scene.create"] {
            let command = taken(&queue);
            assert_eq!(command.call().method.name, name);
            command.finish(Ok(json!(name)));
        }
        for (caller, name) in callers.into_iter().zip(["scene.open", "scene.close", "scene.create"])
        {
            assert_eq!(caller.join().unwrap().unwrap(), json!(name));
        }
    });
}

#[test]
fn a_command_that_was_not_begun_in_time_never_runs() {
    let queue = Queue::new();
    let late = queue.run(call("scene.open"), Duration::from_millis(1)).unwrap_err();
    assert_eq!((late.code, late.outcome()), (504, Some(Outcome::NotStarted)));
    assert!(!late.asks_for_quarantine());
    assert!(queue.next().is_none());
}

#[test]
fn a_command_that_was_begun_and_not_finished_has_an_unknown_outcome() {
    let queue = Queue::new();
    thread::scope(|scope| {
        let caller = scope.spawn(|| queue.run(call("scene.open"), Duration::from_millis(200)));
        let command = taken(&queue);
        let late = caller.join().unwrap().unwrap_err();
        assert_eq!((late.code, late.outcome()), (504, Some(Outcome::Unknown)));
        assert!(late.asks_for_quarantine());
        assert!(command.is_abandoned());
        command.finish(Ok(json!(1)));
    });
}

#[test]
fn closing_answers_all_that_waits_and_all_that_comes() {
    let queue = Queue::new();
    thread::scope(|scope| {
        let caller = scope.spawn(|| queue.run(call("scene.open"), PATIENCE));
        assert!(queue.wait_until(Instant::now() + PATIENCE));
        queue.close();
        let refused = caller.join().unwrap().unwrap_err();
        assert_eq!((refused.code, refused.outcome()), (503, Some(Outcome::NotStarted)));
    });
    assert_eq!(queue.run(call("scene.open"), PATIENCE).unwrap_err().code, 503);
    assert!(!queue.wait_until(Instant::now() + PATIENCE), "a closed queue is waited for");
}

#[test]
fn waiting_ends_when_its_time_has_come() {
    let queue = Queue::new();
    assert!(!queue.wait_until(Instant::now()));
    assert!(!queue.wait_until(Instant::now() + Duration::from_millis(1)));
}
