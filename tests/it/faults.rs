//! A thousand random faults: engines that are killed, stopped, cut off or held at random points of random calls, and
//! clients that are killed meanwhile. Whatever happens, a success is one, no change is made twice, nothing waits
//! longer than its deadline, and nothing is left behind.
//!
//! Most meet a scripted engine in a process of its own, which writes down what reaches it; the rest a real game and a
//! real editor. `DIDI_FAULT_SEED` draws other faults.
//!
//! Spec: P-9, routes.

mod real;
mod scripted;

use std::{
    collections::BTreeMap,
    env, fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use didi_tests::{Launch, Project, Server, caller::refusal_of, live::sessions, modern};
use didi_wire::{discovery, endpoint};
use serde_json::{Value, json};

/// All of them.
const FAULTS: usize = 1_000;
/// Those that meet a real game, and a real editor.
const OF_A_GAME: usize = 60;
const OF_AN_EDITOR: usize = 20;
/// Projects with a scripted engine, side by side, between which the rest is shared.
const WORKERS: usize = 8;

/// How long a call may take, and a handshake before it; what only reads is asked twice.
const CALL: Duration = Duration::from_secs(17);
const HANDSHAKE: Duration = Duration::from_secs(8);
/// What a busy machine may add to a deadline.
const SLACK: Duration = Duration::from_secs(12);

/// Numbers that a seed gives, the same ones each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What happened how often.
#[derive(Default)]
struct Tally {
    faults: BTreeMap<String, usize>,
    answers: BTreeMap<String, usize>,
    longest: Duration,
}

impl Tally {
    fn fault(&mut self, what: String) {
        *self.faults.entry(what).or_default() += 1;
    }

    fn answer(&mut self, what: &str) {
        *self.answers.entry(what.to_owned()).or_default() += 1;
    }

    fn waited(&mut self, span: Duration) {
        self.longest = self.longest.max(span);
    }

    fn add(&mut self, other: Tally) {
        for (all, more) in [(&mut self.faults, other.faults), (&mut self.answers, other.answers)] {
            for (what, count) in more {
                *all.entry(what).or_default() += count;
            }
        }
        self.waited(other.longest);
    }
}

/// How often a change may have been made, by what its caller was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    Never,
    Once,
    AtMostOnce,
}

impl Made {
    fn holds(self, times: usize) -> bool {
        match self {
            Made::Never => times == 0,
            Made::Once => times == 1,
            Made::AtMostOnce => times <= 1,
        }
    }
}

/// A server over a project, whose client names a session with each request.
fn serve(project: &Project) -> Server {
    Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(project).path).start()
}

/// Sends a call to a session.
fn ask(server: &mut Server, session: &str, tool: &str, arguments: &Value) -> u64 {
    let meta = json!({"didi": {"runtime_session_id": session}});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    server.ask("tools/call", modern(params))
}

/// What a refusal of a call that got no answer says of the change, whatever it may be named by. Its remedy is there.
fn judged(result: &Value, tally: &mut Tally) -> Made {
    let refusal = refusal_of(result);
    let data = &refusal["data"];
    let code = data["code"].as_str().unwrap_or_default();
    let status = match code {
        "live_session_ended" => 502,
        "route_deadline_exceeded" | "main_thread_deadline" => 504,
        "not_found" => 404,
        _ => panic!("no refusal for a fault: {refusal}"),
    };
    assert_eq!(refusal["code"], status, "{refusal}");
    assert_eq!(data["next_call"]["tool"], "runtime_list_sessions", "{refusal}");
    let engine = data["engine"].as_str().unwrap_or("not looked at");
    let outcome = data["outcome"].as_str().unwrap_or("not sent");
    tally.answer(&format!("{code}, engine {engine}, {outcome}"));
    if outcome == "unknown_outcome" { Made::AtMostOnce } else { Made::Never }
}

/// Descriptors that a process holds of sockets, and of locks of sessions.
fn held_by(pid: u32) -> (usize, usize) {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links: Vec<_> =
        links.flatten().filter_map(|link| fs::read_link(link.path()).ok()).collect();
    let sockets = links.iter().filter(|link| link.to_string_lossy().starts_with("socket:")).count();
    let locks = links.iter().filter(|link| link.extension().is_some_and(|end| end == "lock"));
    (sockets, locks.count())
}

/// Nothing of a project runs, listens or is locked any more; what killed engines left is swept.
fn nothing_left(project: &Project) {
    let folder = sessions(project);
    let found = discovery::scan(&folder).unwrap();
    assert!(found.sessions.is_empty(), "{:?}", found.sessions);
    let swept = discovery::sweep(&folder, &found).unwrap();
    assert_eq!(swept.descriptors, found.stale.len());
    let is_left =
        |name: &str| Path::new(name).extension().is_some_and(|end| end == "json" || end == "lock");
    assert_eq!(names(&folder.path, is_left), [""; 0], "descriptors and locks");
    let key = endpoint::project_key(&project.root().canonicalize().unwrap().to_string_lossy());
    assert_eq!(names(&env::temp_dir(), |name| name.contains(&key)), [""; 0], "sockets");
    assert_eq!(project.processes(), [0; 0], "processes");
}

fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| wanted(name)).collect()
}

/// The same faults each time, so that a change is judged by itself; another number draws others.
fn seed() -> u64 {
    env::var("DIDI_FAULT_SEED").map_or(1, |text| text.parse().expect("a seed is a number"))
}

#[test]
fn a_thousand_faults_make_no_wrong_success_no_double_write_and_no_leak() {
    let seed = seed();
    eprintln!("DIDI_FAULT_SEED={seed}");
    let engine = didi_tests::godot();
    let start = Instant::now();
    let of_scripted = FAULTS - OF_A_GAME - OF_AN_EDITOR;
    let mut total = Tally::default();
    thread::scope(|scope| {
        let mut running = vec![];
        for worker in 0..WORKERS {
            let count = of_scripted / WORKERS + usize::from(worker < of_scripted % WORKERS);
            let random = Random(seed ^ (0x1000 + worker as u64));
            running.push(scope.spawn(move || scripted::faults(count, random)));
        }
        if engine.is_some() {
            running.push(scope.spawn(|| real::faults_of_a_game(OF_A_GAME, Random(seed ^ 1))));
            running.push(scope.spawn(|| real::faults_of_an_editor(OF_AN_EDITOR, Random(seed ^ 2))));
        }
        for worker in running {
            total.add(worker.join().unwrap_or_else(|_| panic!("DIDI_FAULT_SEED={seed}")));
        }
    });
    let counted: usize = total.faults.values().sum();
    eprintln!(
        "{counted} faults in {:?}, the longest answer after {:?}",
        start.elapsed(),
        total.longest
    );
    for (what, count) in total.faults.iter().chain(&total.answers) {
        eprintln!("{count:6} {what}");
    }
    let wanted = if engine.is_some() { FAULTS } else { of_scripted };
    assert_eq!(counted, wanted);
}
