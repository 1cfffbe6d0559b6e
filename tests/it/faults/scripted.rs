//! Faults of a scripted engine, at exact points of a request's way.

use std::{
    fs,
    time::{Duration, Instant},
};

use didi_tests::{
    Project, Server, Signal,
    faulty::{Fault, Faulty, Plan, Point},
    live::sessions,
};
use serde_json::{Value, json};

use super::{
    CALL, HANDSHAKE, Made, Random, SLACK, Tally, ask, held_by, judged, nothing_left, serve,
};

/// Connections that a server may keep to one engine.
const KEPT: usize = 3;

/// What becomes of a request that a fault holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It goes on.
    GoesOn,
    /// Its engine is killed.
    EngineDies,
    /// Its client's server is killed, then it goes on.
    ClientDies,
    /// Nothing, until the caller was answered.
    Nothing,
}

/// One fault of one call.
#[derive(Debug, Clone, Copy)]
struct Turn {
    plan: Plan,
    then: Then,
    changes: bool,
}

impl Turn {
    /// All of it is drawn before any of it happens, so that a seed gives the same turns whatever comes of them.
    fn draw(random: &mut Random) -> Self {
        let fault = random.of(&Fault::ALL);
        let plan = Plan { fault, point: random.of(&Point::ALL), bytes: random.below(4096) };
        let mut then = random.of(&[
            Then::GoesOn,
            Then::GoesOn,
            Then::GoesOn,
            Then::EngineDies,
            Then::ClientDies,
        ]);
        match (fault, then) {
            (Fault::Kill, _) => then = Then::EngineDies,
            (Fault::Close, _) | (Fault::Delay, Then::EngineDies) => then = Then::GoesOn,
            _ => {}
        }
        Turn { plan, then, changes: random.below(3) > 0 }
    }

    /// An engine that is stopped and never goes on: the caller waits for the whole deadline.
    fn endless(changes: bool, random: &mut Random) -> Self {
        let point = random.of(&[Point::Arriving, Point::Arrived, Point::Done, Point::Answering]);
        let plan = Plan { fault: Fault::Stop, point, bytes: random.below(4096) };
        Turn { plan, then: Then::Nothing, changes }
    }
}

struct Worker {
    project: Project,
    server: Server,
    engine: Faulty,
    neighbour: Faulty,
    /// Whether the server holds a route to the engine: a fault meets the handshake otherwise.
    holds: bool,
    number: usize,
    changes: Vec<(String, Made)>,
    tally: Tally,
}

/// So many faults of one project's engines and clients.
pub(super) fn faults(count: usize, mut random: Random) -> Tally {
    let mut worker = Worker::new();
    let endless = [random.below(count / 2), count / 2 + random.below(count / 2)];
    for at in 0..count {
        let turn = match endless.iter().position(|one| *one == at) {
            Some(which) => Turn::endless(which == 0, &mut random),
            None => Turn::draw(&mut random),
        };
        worker.turn(turn);
    }
    worker.end()
}

impl Worker {
    fn new() -> Self {
        let project = Project::empty();
        let (engine, neighbour) = (engine(&project), engine(&project));
        let server = serve(&project);
        let (changes, tally) = (vec![], Tally::default());
        Worker { project, server, engine, neighbour, holds: false, number: 0, changes, tally }
    }

    fn turn(&mut self, turn: Turn) {
        let Turn { plan, then, changes } = turn;
        let way = if self.holds { "call" } else { "handshake" };
        let what = (plan.fault.as_str(), plan.point.as_str());
        self.tally.fault(format!("{} while a {way} is {}, then {then:?}", what.0, what.1));
        self.number += 1;
        let name = format!("N{}", self.number);
        self.engine.arm(plan);
        let started = Instant::now();
        let id = self.send(changes, &name);
        self.engine.wait_for_fault(plan.fault);
        if matches!(plan.fault, Fault::Stop | Fault::Delay) {
            self.neighbour_answers();
        }
        match (plan.fault, then) {
            (_, Then::ClientDies) => return self.client_dies(turn, name),
            (Fault::Stop, Then::EngineDies) => self.engine.signal(Signal::KILL),
            (Fault::Stop | Fault::Delay, Then::GoesOn) => self.let_go(plan.fault),
            _ => {}
        }
        let limit = self.limit(changes) + SLACK;
        let answer = self.server.answer_within(limit, id);
        self.tally.waited(started.elapsed());
        self.judge(turn, &name, &answer["result"]);
        if then == Then::Nothing {
            self.let_go(plan.fault);
        }
        if then == Then::EngineDies {
            self.engine.wait_for_end();
        }
        self.goes_on(then == Then::EngineDies);
    }

    fn send(&mut self, changes: bool, name: &str) -> u64 {
        let session = self.engine.session();
        if changes {
            let node = json!({"node_type": "Node", "name": name});
            return ask(&mut self.server, session, "scene_instantiate_node", &node);
        }
        let read = json!({"target_node": "Own", "property_name": name});
        ask(&mut self.server, session, "scene_get_property", &read)
    }

    /// How long the answer may take: what only reads is asked twice, and so is a handshake before it.
    fn limit(&self, changes: bool) -> Duration {
        let call = if changes { CALL } else { CALL * 2 };
        if self.holds { call } else { call + HANDSHAKE * 2 }
    }

    /// Lets what is held go on.
    fn let_go(&mut self, fault: Fault) {
        if fault == Fault::Stop {
            self.engine.signal(Signal::CONT);
        }
        self.engine.let_go();
    }

    /// Another engine of the same server answers while this one is held.
    fn neighbour_answers(&mut self) {
        let read = json!({"target_node": "Own", "property_name": "beside"});
        let id = ask(&mut self.server, self.neighbour.session(), "scene_get_property", &read);
        let answer = self.server.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["value"], "beside", "{answer}");
    }

    /// What the caller was told has to be what happened, and what has to happen at this point.
    fn judge(&mut self, turn: Turn, name: &str, result: &Value) {
        let Turn { plan, then, changes } = turn;
        // The answer to a handshake is not yet the answer to the call behind it, which goes out over a connection
        // that is just being closed, or over a new one.
        let races = plan.point == Point::Answered && !self.holds;
        let has_to_be_lost = match (plan.fault, then) {
            (_, Then::Nothing) => true,
            (_, Then::EngineDies) => plan.point != Point::Answered || !self.holds,
            // What only reads, a handshake too, is asked once more.
            (Fault::Close, _) => changes && self.holds && plan.point != Point::Answered,
            _ => false,
        };
        let lost = result["isError"] == true;
        let may_be_lost = races && plan.fault == Fault::Close && changes;
        assert!(
            lost == has_to_be_lost || may_be_lost,
            "{turn:?}, a route held: {}: {result}",
            self.holds
        );
        let times = self.times(name);
        let made = if lost {
            let made = judged(result, &mut self.tally);
            let refusal = result.to_string();
            if then == Then::Nothing {
                assert!(refusal.contains("route_deadline_exceeded"), "{turn:?}: {refusal}");
            }
            if then == Then::EngineDies {
                assert!(refusal.contains("live_session_ended"), "{turn:?}: {refusal}");
            }
            if changes && !races {
                // What a handshake did not lead to was not begun, and what was sent may have been.
                assert_eq!(made == Made::AtMostOnce, self.holds, "{turn:?}: {refusal}");
            }
            made
        } else {
            let data = &result["structuredContent"];
            let (field, wanted) = if changes {
                ("node_path", format!("/root/Own/{name}"))
            } else {
                ("value", name.to_owned())
            };
            assert_eq!(data[field], wanted, "{turn:?}: {result}");
            let repeats = data["transport"]["repeats"].as_u64().unwrap_or(0);
            self.tally.answer(if repeats == 0 { "success" } else { "success, asked twice" });
            assert!(repeats == 0 || !changes, "a change was asked twice: {result}");
            Made::Once
        };
        self.holds = !lost;
        if changes {
            assert!(made.holds(times), "{turn:?}: {times} times {name}: {result}");
            self.changes.push((name.to_owned(), made));
        } else {
            assert_eq!(times, 0, "a read changed something");
        }
    }

    /// The client's server is killed in mid-call. The session is free at once, and the next client is served.
    fn client_dies(&mut self, turn: Turn, name: String) {
        self.server.kill();
        self.tally.answer("nobody left to be told");
        self.let_go(turn.plan.fault);
        self.server = serve(&self.project);
        self.holds = false;
        if turn.changes {
            self.changes.push((name, Made::AtMostOnce));
        }
        self.goes_on(false);
    }

    /// The next call is served as if nothing had been, or told that its engine is gone.
    fn goes_on(&mut self, dead: bool) {
        let read = json!({"target_node": "Own", "property_name": "after"});
        let id = ask(&mut self.server, self.engine.session(), "scene_get_property", &read);
        let result = self.server.answer_within(CALL * 2 + SLACK, id)["result"].clone();
        if !dead {
            assert_eq!(result["structuredContent"]["value"], "after", "{result}");
            self.holds = true;
            return;
        }
        assert_eq!(result["isError"], true, "the engine is dead: {result}");
        judged(&result, &mut self.tally);
        self.engine = engine(&self.project);
        self.holds = false;
    }

    /// How often a change has reached an engine.
    fn times(&self, name: &str) -> usize {
        let text = fs::read_to_string(record(&self.project)).unwrap_or_default();
        text.lines().filter(|line| *line == name).count()
    }

    /// Ends everything as it is ended on a good day, and looks for what is left.
    fn end(self) -> Tally {
        let (sockets, locks) = held_by(self.server.pid());
        assert!(sockets <= 2 * KEPT, "{sockets} sockets of two engines");
        assert!(locks <= 2, "{locks} locks of two engines");
        for (name, made) in &self.changes {
            let times = self.times(name);
            assert!(made.holds(times), "{times} times {name}, which was to be {made:?}");
        }
        let Worker { project, server, engine, neighbour, tally, .. } = self;
        let closed = server.close();
        assert!(closed.status.success() && closed.rest.is_empty(), "{closed:?}");
        engine.close();
        neighbour.close();
        nothing_left(&project);
        tally
    }
}

fn engine(project: &Project) -> Faulty {
    Faulty::start(&sessions(project), &project.root(), &record(project))
}

fn record(project: &Project) -> std::path::PathBuf {
    project.outside().join("record.txt")
}
