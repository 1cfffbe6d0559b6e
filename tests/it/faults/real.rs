//! Faults of a real game and a real editor, at random times of a call's way.
//!
//! A game writes down what input reaches it, an editor's changes are looked up in the scene that it saves.

use std::{
    thread,
    time::{Duration, Instant},
};

use didi_tests::{Project, Server, Signal, faulty::wait_for_state, live::Engine};
use serde_json::{Value, json};

use super::{
    CALL, HANDSHAKE, Made, Random, SLACK, Tally, ask, held_by, judged, nothing_left, serve,
};

/// Longest time from the sending of a call to its fault, in microseconds: a call is answered in a frame or two.
const LATEST_US: usize = 16_000;

/// Sockets that an engine may have more after all faults than before: connections that are still served.
const MORE_SOCKETS: usize = 4;

/// What happens to a call that is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Its engine is killed.
    Kill,
    /// Its engine is stopped for a while.
    Delay,
    /// Its engine is stopped, and killed then.
    StopAndKill,
    /// Its engine is stopped until the caller has been answered.
    StopForLong,
    /// Its client is killed.
    Close,
}

/// One engine under faults.
struct Site {
    what: &'static str,
    start: fn(&Project) -> Option<Engine>,
    /// The call that makes a change by this number, and what it is called where changes are looked up.
    change: fn(usize) -> (&'static str, Value, String),
    /// All changes that can be found.
    made: fn(&Project) -> Vec<String>,
    /// What an engine that was started anew has to open; an editor does not always open what it had.
    opens: Option<&'static str>,
    project: Project,
    engine: Engine,
    server: Server,
    number: usize,
    changes: Vec<(String, Made)>,
    tally: Tally,
}

const GAME: &str = "config_version=5\n\n[application]\n\nrun/main_scene=\"res://record.tscn\"\n";
const RECORDER: &str = "extends Node\n\nvar file := FileAccess.open(\"res://record.txt\", FileAccess.READ_WRITE)\n\n\
    func _input(event):\n\tif event is InputEventKey:\n\t\tfile.seek_end()\n\t\tfile.store_line(str(event.unicode))\n\t\tfile.flush()\n";

/// So many faults of a game, which is started anew whenever it was killed.
pub(super) fn faults_of_a_game(count: usize, mut random: Random) -> Tally {
    let project = Project::empty();
    project.write("project.godot", GAME);
    project.write_scripted("Record", "Node", RECORDER);
    project.write("record.txt", "");
    let key = |number: usize| {
        let event = json!({"type": "key", "unicode": number, "pressed": true});
        ("runtime_inject_input", json!({"events": [event]}), number.to_string())
    };
    let read = |project: &Project| {
        let text = project.text("record.txt").unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let mut site = Site::new("a game", Engine::game, key, read, project);
    let sockets = held_by(site.engine.pid()).0;
    let long = random.below(count);
    let most = [Fault::Kill, Fault::Delay, Fault::Delay, Fault::StopAndKill, Fault::Close];
    let mut died = false;
    for at in 0..count {
        let fault = if at == long { Fault::StopForLong } else { random.of(&most) };
        died |= site.turn(fault, &mut random);
    }
    assert!(died || held_by(site.engine.pid()).0 <= sockets + MORE_SOCKETS, "sockets of the game");
    site.call("runtime_stop", &json!({}));
    assert_eq!(site.engine.wait(), Some(0), "{}", site.engine.log());
    site.end()
}

/// So many faults of an editor; a start takes long, so it is killed twice.
pub(super) fn faults_of_an_editor(count: usize, mut random: Random) -> Tally {
    let node = |number: usize| {
        // A second one of the same name would get another name.
        let name = format!("N{number}x");
        ("scene_instantiate_node", json!({"node_type": "Node", "name": name}), name)
    };
    let read = |project: &Project| {
        let text = project.text("own.tscn").unwrap_or_default();
        let names = text.lines().filter_map(|line| line.strip_prefix("[node name=\"N"));
        names.filter_map(|rest| Some(format!("N{}", rest.split_once('"')?.0))).collect()
    };
    let mut site = Site::new("an editor", Engine::editor, node, read, Project::empty());
    let scene = json!({"scene_path": "res://own.tscn", "root_type": "Node", "root_name": "Own"});
    site.call("scene_create", &scene);
    site.opens = Some("res://own.tscn");
    let sockets = held_by(site.engine.pid()).0;
    for at in 0..count {
        let ends = [(count / 3, Fault::Kill), (2 * count / 3, Fault::StopAndKill)];
        let end = ends.into_iter().find(|end| end.0 == at).map(|end| end.1);
        if end.is_none() {
            let fault = random.of(&[Fault::Delay, Fault::Delay, Fault::Close]);
            site.turn(fault, &mut random);
            continue;
        }
        let more = held_by(site.engine.pid()).0;
        assert!(more <= sockets + MORE_SOCKETS, "{sockets} sockets of the editor, then {more}");
        // What was not saved dies with the editor, and can't be looked up.
        site.call("editor_save_scene", &json!({}));
        let before = site.changes.len();
        site.turn(end.unwrap(), &mut random);
        site.changes[before..].iter_mut().for_each(|change| change.1 = Made::AtMostOnce);
    }
    site.call("editor_save_scene", &json!({}));
    site.end()
}

impl Site {
    fn new(
        what: &'static str,
        start: fn(&Project) -> Option<Engine>,
        change: fn(usize) -> (&'static str, Value, String),
        made: fn(&Project) -> Vec<String>,
        project: Project,
    ) -> Self {
        let engine = start(&project).expect("an engine was found before");
        let server = serve(&project);
        let (changes, tally) = (vec![], Tally::default());
        Site {
            what,
            start,
            change,
            made,
            opens: None,
            project,
            engine,
            server,
            number: 1000,
            changes,
            tally,
        }
    }

    /// One fault; answers whether the engine died of it.
    fn turn(&mut self, fault: Fault, random: &mut Random) -> bool {
        self.tally.fault(format!("{fault:?} at {}", self.what));
        self.number += 1;
        let changes = random.below(3) > 0;
        let (until, held) = (random.below(LATEST_US), random.below(40_000));
        let started = Instant::now();
        let (tool, arguments, name) = if changes {
            (self.change)(self.number)
        } else {
            let sum = json!({"expression": format!("{} + 0", self.number)});
            ("eval_gdscript", sum, self.number.to_string())
        };
        let id = self.ask(tool, &arguments);
        // Not a wait for anything: the random point at which the fault comes.
        thread::sleep(Duration::from_micros(until as u64));
        self.happens(fault, held);
        if fault == Fault::Close {
            self.client_died(changes.then_some(name));
            return false;
        }
        let calls = if changes { CALL } else { CALL * 2 };
        let answer = self.server.answer_within(calls + HANDSHAKE * 2 + SLACK, id);
        self.tally.waited(started.elapsed());
        let dies = matches!(fault, Fault::Kill | Fault::StopAndKill);
        let made = self.judge(fault, changes, &name, &answer["result"]);
        if changes {
            // An answer says that the game has got it, and not yet that the game looked at it.
            self.changes
                .push((name, if dies && made == Made::Once { Made::AtMostOnce } else { made }));
        }
        if fault == Fault::StopForLong {
            self.signal(Signal::CONT);
        }
        if dies {
            self.engine = (self.start)(&self.project).expect("it was found before");
            if let Some(scene) = self.opens {
                self.call("scene_open", &json!({"scene_path": scene}));
            }
        }
        self.goes_on();
        dies
    }

    fn happens(&mut self, fault: Fault, held_us: usize) {
        match fault {
            Fault::Kill => self.signal(Signal::KILL),
            Fault::Close => self.server.kill(),
            Fault::Delay | Fault::StopAndKill | Fault::StopForLong => {
                self.signal(Signal::STOP);
                wait_for_state(self.engine.pid(), "T", "it is not stopped");
            }
        }
        if matches!(fault, Fault::Delay | Fault::StopAndKill) {
            thread::sleep(Duration::from_micros(held_us as u64));
            self.signal(if fault == Fault::Delay { Signal::CONT } else { Signal::KILL });
        }
    }

    fn judge(&mut self, fault: Fault, changes: bool, name: &str, result: &Value) -> Made {
        if result["isError"] == false {
            self.tally.answer("success");
            let data = &result["structuredContent"];
            let repeats = data["transport"]["repeats"].as_u64().unwrap_or(0);
            assert!(repeats == 0 || !changes, "a change was asked twice: {result}");
            if !changes {
                assert_eq!(data["value"].to_string(), name, "{fault:?}: {result}");
            }
            return Made::Once;
        }
        assert_ne!(fault, Fault::Delay, "a short stop takes no answer away: {result}");
        let made = judged(result, &mut self.tally);
        let is = |code: &str| result.to_string().contains(code);
        match fault {
            Fault::StopForLong => assert!(is("route_deadline_exceeded"), "{result}"),
            _ => assert!(is("live_session_ended") || is("not_found"), "{fault:?}: {result}"),
        }
        made
    }

    fn client_died(&mut self, change: Option<String>) {
        self.tally.answer("nobody left to be told");
        self.server = serve(&self.project);
        self.changes.extend(change.map(|name| (name, Made::AtMostOnce)));
        self.goes_on();
    }

    /// The next call is served as if nothing had been.
    fn goes_on(&mut self) {
        let sum = json!({"expression": "40 + 2"});
        assert_eq!(self.call("eval_gdscript", &sum)["value"], 42);
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> u64 {
        let session = self.engine.descriptor().identity.session_id.to_string();
        ask(&mut self.server, &session, tool, arguments)
    }

    /// A call that nothing happens to.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.ask(tool, arguments);
        let result = self.server.answer(id)["result"].clone();
        assert_eq!(result["isError"], false, "{tool}: {result}\n{}", self.engine.log());
        result["structuredContent"].clone()
    }

    fn signal(&self, signal: Signal) {
        didi_tests::signal(self.engine.pid(), signal);
    }

    /// Compares what was made with what was told, ends everything, and looks for what is left.
    fn end(self) -> Tally {
        let made = (self.made)(&self.project);
        for one in &made {
            let asked = self.changes.iter().any(|(name, _)| name == one);
            assert!(asked, "{one} was made, and nobody asked for it: {made:?}");
        }
        for (name, wanted) in &self.changes {
            let times = made.iter().filter(|one| *one == name).count();
            assert!(wanted.holds(times), "{times} times {name}, {wanted:?} was due");
        }
        let Site { project, engine, server, tally, .. } = self;
        let (sockets, locks) = held_by(server.pid());
        assert!(sockets <= 3 && locks <= 1, "{sockets} sockets, {locks} locks");
        let closed = server.close();
        assert!(closed.status.success(), "{closed:?}");
        drop(engine);
        nothing_left(&project);
        tally
    }
}
