use std::{
    cell::Cell,
    rc::Rc,
    thread::{self, ScopedJoinHandle},
};

use didi_wire::methods::{self, Lookup};
use serde_json::{Map, Value, json};

use super::*;
use crate::{backend::Answer, ring::Level};

const PATIENCE: Duration = Duration::from_secs(20);

/// A backend that does what a test says.
struct Scripted<F>(F);

impl<F: FnMut(&Call) -> Step> Backend for Scripted<F> {
    fn begin(&mut self, call: &Call) -> Step {
        (self.0)(call)
    }
}

struct Counted(usize);

impl Task for Counted {
    fn poll(&mut self) -> Option<Answer> {
        self.0 -= 1;
        (self.0 == 0).then(|| Ok(json!({"late": true})))
    }
}

struct Bench {
    queue: Arc<Queue>,
    output: Arc<LogRing>,
}

impl Bench {
    fn new() -> Self {
        Bench { queue: Arc::new(Queue::new()), output: Arc::new(LogRing::new()) }
    }

    fn pump(&self, kind: SessionKind) -> Pump {
        Pump::new(Arc::clone(&self.queue), Arc::clone(&self.output), kind)
    }

    fn send<'s>(
        &'s self,
        scope: &'s thread::Scope<'s, '_>,
        name: &str,
    ) -> ScopedJoinHandle<'s, Answer> {
        let Lookup::Method(method) = methods::lookup(name) else { panic!("{name}") };
        let caller = scope.spawn(move || {
            self.queue.run(Call { method, params: Map::new(), undo_group: None }, PATIENCE)
        });
        assert!(self.queue.wait_until(Instant::now() + PATIENCE));
        caller
    }
}

/// Runs one command through one frame of a backend.
fn once(bench: &Bench, kind: SessionKind, name: &str, script: impl FnMut(&Call) -> Step) -> Answer {
    thread::scope(|scope| {
        let caller = bench.send(scope, name);
        bench.pump(kind).frame(&mut Scripted(script), None);
        caller.join().unwrap()
    })
}

#[test]
fn a_command_runs_in_a_frame() {
    let answer = once(&Bench::new(), SessionKind::Editor, "scene.open", |call| {
        assert_eq!(call.method.name, "scene.open");
        Step::Done(Ok(json!({"scene_path": "res://a.tscn"})))
    });
    assert_eq!(answer.unwrap(), json!({"scene_path": "res://a.tscn"}));
}

#[test]
fn the_wrong_kind_runs_nothing() {
    let refused = once(&Bench::new(), SessionKind::Editor, "runtime.step", |_| panic!("it ran"));
    let refused = refused.unwrap_err();
    assert_eq!((refused.code, refused.code_name()), (409, Some("session_kind_rejected")));
    assert_eq!(refused.data["selected_session_kind"], "editor");
    assert_eq!(refused.data["allowed_session_kinds"], json!(["game"]));
    let refused = once(&Bench::new(), SessionKind::Game, "scene.open", |_| panic!("it ran"));
    assert_eq!(refused.unwrap_err().data["allowed_session_kinds"], json!(["editor"]));
}

#[test]
fn a_panic_is_an_answer_and_the_next_command_runs() {
    let bench = Bench::new();
    let answer = once(&bench, SessionKind::Editor, "scene.open", |_| panic!("on purpose"));
    let error = answer.unwrap_err();
    assert_eq!((error.code, error.code_name()), (500, Some("method_panicked")));
    assert_eq!((error.outcome(), error.asks_for_quarantine()), (Some(Outcome::Unknown), false));
    let answer = once(&bench, SessionKind::Editor, "editor.getState", |_| panic!("on purpose"));
    assert_eq!(answer.unwrap_err().outcome(), None);
    let answer = once(&bench, SessionKind::Editor, "scene.open", |_| Step::Done(Ok(Value::Null)));
    assert_eq!(answer.unwrap(), Value::Null);
}

#[test]
fn a_task_is_looked_at_once_a_frame_while_others_run() {
    let bench = Bench::new();
    thread::scope(|scope| {
        let slow = bench.send(scope, "runtime.step");
        let mut pump = bench.pump(SessionKind::Game);
        pump.frame(&mut Scripted(|_: &Call| Step::Later(Box::new(Counted(3)))), None);
        let quick = bench.send(scope, "runtime.getTree");
        let mut done = Scripted(|_: &Call| Step::Done(Ok(json!({}))));
        pump.frame(&mut done, Some(Instant::now() + PATIENCE));
        assert_eq!(quick.join().unwrap().unwrap(), json!({}));
        assert!(pump.is_busy());
        pump.frame(&mut done, None);
        pump.frame(&mut done, None);
        assert!(!pump.is_busy());
        assert_eq!(slow.join().unwrap().unwrap(), json!({"late": true}));
    });
}

#[test]
fn a_task_that_panics_or_is_dropped_is_answered() {
    struct Panics;
    impl Task for Panics {
        fn poll(&mut self) -> Option<Answer> {
            panic!("on purpose")
        }
    }
    let bench = Bench::new();
    thread::scope(|scope| {
        let mut pump = bench.pump(SessionKind::Game);
        let first = bench.send(scope, "runtime.step");
        pump.frame(&mut Scripted(|_: &Call| Step::Later(Box::new(Panics))), None);
        pump.frame(&mut Scripted(|_: &Call| unreachable!()), None);
        assert_eq!(first.join().unwrap().unwrap_err().code_name(), Some("method_panicked"));
        let second = bench.send(scope, "runtime.step");
        pump.frame(&mut Scripted(|_: &Call| Step::Later(Box::new(Counted(9)))), None);
        drop(pump);
        let ended = second.join().unwrap().unwrap_err();
        assert_eq!((ended.code, ended.outcome()), (503, Some(Outcome::Unknown)));
    });
}

#[test]
fn a_frame_inside_a_command_begins_no_second_one() {
    let bench = Bench::new();
    let guarded: Rc<Guarded<Pump>> = Rc::new(Guarded::empty());
    guarded.replace(Some(bench.pump(SessionKind::Editor)));
    thread::scope(|scope| {
        let first = bench.send(scope, "editor.saveScene");
        let mut began = 0;
        let nested = Rc::clone(&guarded);
        let mut backend = Scripted(|_: &Call| {
            began += 1;
            assert_eq!(began, 1, "a second command began inside the first");
            let second = bench.send(scope, "scene.close");
            let inner =
                nested.with(|pump| pump.frame(&mut Scripted(|_: &Call| unreachable!()), None));
            assert!(inner.is_none());
            drop(second);
            Step::Done(Ok(json!({"saved": true})))
        });
        // One command is one frame here, so that the second stays where it is.
        guarded.with(|pump| {
            let command = pump.queue.next().unwrap();
            pump.begin(&mut backend, &command);
        });
        assert_eq!(first.join().unwrap().unwrap()["saved"], true);
        let mut last = Scripted(|call: &Call| Step::Done(Ok(json!(call.method.name))));
        assert!(guarded.with(|pump| pump.frame(&mut last, None)).is_some());
    });
}

#[test]
fn a_borrower_that_panics_gives_the_value_back() {
    let guarded = Guarded::empty();
    assert_eq!(guarded.with(|value: &mut u8| *value), None);
    guarded.replace(Some(7));
    let caught = catch_unwind(AssertUnwindSafe(|| guarded.with(|_| panic!("on purpose"))));
    assert!(caught.is_err());
    assert_eq!(guarded.with(|value| *value), Some(7));
}

#[test]
fn at_most_64_commands_begin_in_a_frame() {
    let bench = Bench::new();
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let Lookup::Method(method) = methods::lookup("editor.getState") else { panic!() };
            for _ in 0..=MAX_COMMANDS_A_FRAME {
                let call = Call { method, params: Map::new(), undo_group: None };
                bench.queue.run(call, PATIENCE).unwrap();
            }
        });
        let mut begun = 0;
        let mut backend = Scripted(|_: &Call| {
            begun += 1;
            Step::Done(Ok(Value::Null))
        });
        let mut pump = bench.pump(SessionKind::Editor);
        pump.frame(&mut backend, Some(Instant::now() + PATIENCE));
        assert!(bench.queue.wait_until(Instant::now() + PATIENCE));
        pump.frame(&mut backend, None);
        caller.join().unwrap();
        assert_eq!(begun, MAX_COMMANDS_A_FRAME + 1);
    });
}

#[test]
fn commands_wait_while_the_engine_is_not_ready() {
    struct Importing;
    impl Backend for Importing {
        fn begin(&mut self, _call: &Call) -> Step {
            panic!("it ran")
        }
        fn is_ready(&mut self) -> bool {
            false
        }
    }
    let bench = Bench::new();
    thread::scope(|scope| {
        let caller = bench.send(scope, "scene.open");
        bench.pump(SessionKind::Editor).frame(&mut Importing, Some(Instant::now() + PATIENCE));
        assert!(bench.queue.wait_until(Instant::now()));
        bench.queue.close();
        assert_eq!(caller.join().unwrap().unwrap_err().code, 503);
    });
}

#[test]
fn what_the_engine_prints_stands_beside_the_answer() {
    let bench = Bench::new();
    let output = Arc::clone(&bench.output);
    output.push(Level::Error, "engine", "before", Value::Null);
    let answer = once(&bench, SessionKind::Editor, "scene.open", |_| {
        output.push(Level::Error, "engine", "during", Value::Null);
        Step::Done(Ok(json!({})))
    });
    let lines = answer.unwrap()["engine_diagnostics"].clone();
    assert_eq!(lines.as_array().unwrap().len(), 1);
    assert_eq!(lines[0]["message"], "during");
}

#[test]
fn a_frame_goes_on_soon_after_a_change_whatever_it_could_wait_for() {
    let bench = Bench::new();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..3).map(|_| bench.send(scope, "scene.setProperty")).collect();
        let begun = Cell::new(0);
        let mut backend = Scripted(|_: &Call| {
            begun.set(begun.get() + 1);
            Step::Done(Ok(Value::Null))
        });
        let mut pump = bench.pump(SessionKind::Editor);
        let started = Instant::now();
        // A caller may come after a frame has gone on; it has the next one then.
        while begun.get() < callers.len() {
            pump.frame(&mut backend, Some(Instant::now() + 10 * PATIENCE));
        }
        assert!(started.elapsed() < PATIENCE, "a frame stayed for all of its time");
        for caller in callers {
            caller.join().unwrap().unwrap();
        }
    });
}

#[test]
fn what_comes_after_a_change_has_a_frame_of_its_own() {
    let bench = Bench::new();
    thread::scope(|scope| {
        let calls =
            ["scene.setProperty", "scene.setProperty", "editor.saveScene", "editor.getState"];
        let callers = calls.map(|name| bench.send(scope, name));
        // The order in which they come in is not ours to say, nor whether all are there for the first frame.
        let mut ran = 0;
        let mut pump = bench.pump(SessionKind::Editor);
        while ran < calls.len() {
            let mut begun = vec![];
            let mut backend = Scripted(|call: &Call| {
                begun.push(call.method);
                Step::Done(Ok(Value::Null))
            });
            pump.frame(&mut backend, Some(Instant::now() + SETTLE));
            for (before, after) in begun.iter().zip(begun.iter().skip(1)) {
                let shares = before.shares_frame && after.shares_frame;
                assert!(
                    shares || before.effect == Effect::Reads,
                    "{} ran in the frame that {} had changed",
                    after.name,
                    before.name
                );
            }
            ran += begun.len();
        }
        for caller in callers {
            caller.join().unwrap().unwrap();
        }
    });
}
