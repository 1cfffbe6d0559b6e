//! An engine in a process of its own that fails when and where a test tells it, and writes down every change that
//! reached it.
//!
//! [`play`] is the process, [`Faulty`] the test's hand on it. The test arms a fault over the process's input; the
//! next request that comes, whichever it is, meets it at one point of its way. What the process says is one word a
//! line on its output, so nobody waits for a time.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    str::FromStr,
    sync::{
        Mutex,
        mpsc::{self, Receiver},
    },
    thread,
};

use didi_wire::{
    Request, Response, SessionKind, TOKEN_PARAM, discovery,
    frame::{Decoder, encode},
    session_dir::SessionDir,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Signal, getpid, kill_process},
};
use serde_json::{Value, json};

use crate::{built_folder, process::state_of, scripted::descriptor, server::PATIENCE, until_ok};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The process is killed.
    Kill,
    /// The process is stopped, until somebody lets it go on.
    Stop,
    /// The connection is closed.
    Close,
    /// Nothing goes on until the test says so.
    Delay,
}

/// Where on a request's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// A part of the request has been read.
    Arriving,
    /// All of it has been read, and nothing done.
    Arrived,
    /// It is done, and nothing answered.
    Done,
    /// A part of the answer is sent.
    Answering,
    /// All of the answer is sent.
    Answered,
}

impl Fault {
    /// Every one.
    pub const ALL: [Fault; 4] = [Fault::Kill, Fault::Stop, Fault::Close, Fault::Delay];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::Kill => "kill",
            Fault::Stop => "stop",
            Fault::Close => "close",
            Fault::Delay => "delay",
        }
    }
}

impl Point {
    /// Every one, in their order.
    pub const ALL: [Point; 5] =
        [Point::Arriving, Point::Arrived, Point::Done, Point::Answering, Point::Answered];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Point::Arriving => "arriving",
            Point::Arrived => "arrived",
            Point::Done => "done",
            Point::Answering => "answering",
            Point::Answered => "answered",
        }
    }
}

/// One fault at one point; `bytes` is how much of a part, counted round if the whole is shorter.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// What.
    pub fault: Fault,
    /// Where.
    pub point: Point,
    /// How many bytes of the request or the answer pass before it.
    pub bytes: usize,
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [fault, point, bytes] = words[..] else { return Err(text.to_owned()) };
        let fault = Fault::ALL.into_iter().find(|one| one.as_str() == fault);
        let point = Point::ALL.into_iter().find(|one| one.as_str() == point);
        match (fault, point, bytes.parse()) {
            (Some(fault), Some(point), Ok(bytes)) => Ok(Plan { fault, point, bytes }),
            _ => Err(text.to_owned()),
        }
    }
}

/// The engine's process, as a test holds it.
pub struct Faulty {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<String>,
    session: String,
}

impl Faulty {
    /// Starts one that publishes itself and writes changes down in `record`, a line each.
    ///
    /// # Panics
    /// When it was not built or does not start.
    pub fn start(sessions: &SessionDir, project: &Path, record: &Path) -> Self {
        let program = built_folder().join("faulty-engine");
        let mut command = Command::new(&program);
        command.arg(&sessions.path).arg(project).arg(record);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("`{}`: {e}", program.display()));
        let (sender, said) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        thread::spawn(move || {
            // The end of the output ends the channel, which is how its end is seen.
            output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let input = child.stdin.take();
        let mut engine = Faulty { child, input, said, session: String::new() };
        engine.session = engine.hear("ready");
        engine
    }

    /// Its session's name.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets the next request that comes meet a fault.
    ///
    /// # Panics
    /// When the process does not take it.
    pub fn arm(&mut self, plan: Plan) {
        let Plan { fault, point, bytes } = plan;
        self.say(&format!("arm {} {} {bytes}", fault.as_str(), point.as_str()));
        self.hear("armed");
    }

    /// Waits until the fault that was armed is there; a stop has then happened.
    ///
    /// # Panics
    /// When no request comes to it in time.
    pub fn wait_for_fault(&mut self, fault: Fault) {
        self.hear("at");
        if fault == Fault::Stop {
            self.wait_for_state("T", "it is not stopped");
        }
    }

    /// Lets a delayed request go on, or a stopped one once its process does.
    ///
    /// # Panics
    /// When the process is gone.
    pub fn let_go(&mut self) {
        self.say("go");
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When the system refuses.
    pub fn signal(&self, signal: Signal) {
        crate::signal(self.pid(), signal);
    }

    /// Waits for the end of a killed one.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait_for_end(&mut self) -> Option<i32> {
        self.wait_for_state("Z", "it does not end");
        self.child.wait().expect("it is this process's child").code()
    }

    /// Tells it to end as an engine does that is closed, and waits for that.
    ///
    /// # Panics
    /// When it does not end well.
    pub fn close(mut self) {
        self.input = None;
        assert_eq!(self.wait_for_end(), Some(0), "it takes itself back");
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is not closed yet");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("it listens");
    }

    /// The rest of the next line, which has to begin so.
    fn hear(&self, word: &str) -> String {
        let line = self.said.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("`{word}` was not said: {error}"));
        let rest = line.strip_prefix(word);
        rest.unwrap_or_else(|| panic!("`{word}` was due, and it said `{line}`")).trim().to_owned()
    }

    /// Waits until the system shows one of these states. It offers no bounded wait for that.
    fn wait_for_state(&self, states: &str, otherwise: &str) {
        wait_for_state(self.pid(), states, otherwise);
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process is in one of these states of `/proc`.
///
/// # Panics
/// When it is not in time.
pub fn wait_for_state(pid: u32, states: &str, otherwise: &str) {
    until_ok(PATIENCE, || match state_of(pid) {
        Some(state) if states.contains(state) => Ok(()),
        seen => Err(format!("{otherwise}: {seen:?}")),
    });
}

/// What all connections of the process share.
struct Shared {
    token: String,
    handshake: Value,
    record: PathBuf,
    armed: Mutex<Option<Plan>>,
    go: Mutex<Receiver<()>>,
}

/// Whether the connection is still there after a point.
type Goes = bool;

/// The process: sessions folder, project and record are its arguments. Ends when its input does.
///
/// # Panics
/// When it can't listen, publish or write.
pub fn play() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let mut arg = || args.next().expect("three arguments");
    let (sessions, project, record) = (arg(), arg(), arg());
    let descriptor = descriptor(&project, SessionKind::Editor);
    let (identity, token) = (descriptor.identity.clone(), descriptor.token.reveal().to_owned());
    let mut handshake = json!(identity);
    handshake["status"] = "ok".into();
    let listener = UnixListener::bind(&identity.endpoint).expect("the endpoint is free");
    let sessions = SessionDir { path: sessions, checked: true };
    let published = discovery::publish(&sessions, descriptor).expect("it can be published");
    let (let_go, go) = mpsc::channel();
    let shared = Shared { token, handshake, record, armed: Mutex::default(), go: go.into() };
    let shared: &'static Shared = Box::leak(Box::new(shared));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || while serve_one(&stream, shared) {});
        }
    });
    tell(&format!("ready {}", identity.session_id));
    for line in std::io::stdin().lines().map_while(Result::ok) {
        if let Some(plan) = line.strip_prefix("arm ") {
            let plan = plan.parse().expect("the test speaks clearly");
            *shared.armed.lock().expect("nobody panics with it") = Some(plan);
            tell("armed");
        } else {
            let_go.send(()).expect("the receiver is leaked");
        }
    }
    published.retire().expect("it is there");
    fs::remove_file(&identity.endpoint).expect("it is there");
}

fn tell(word: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{word}").and_then(|()| output.flush()).expect("the test listens");
}

/// Serves one request of a connection: reads, does, answers, and fails where it was told to.
fn serve_one(mut stream: &UnixStream, shared: &Shared) -> Goes {
    let mut decoder = Decoder::new();
    let mut first = [0; 1];
    if !stream.read(&mut first).is_ok_and(|read| read == 1) {
        return false;
    }
    decoder.push(&first);
    // Taken once something has come: the fault is this request's from here on. What lies in a connection that its
    // server has given up, while this process was stopped, is not the request that the fault is meant for.
    let mut armed = shared.armed.lock().expect("nobody panics with it");
    let plan = if has_hung_up(stream) { None } else { armed.take() };
    drop(armed);
    let Some(payload) = read_request(stream, decoder, plan.as_ref(), shared) else { return false };
    let mut request = Request::from_slice(&payload).expect("servers send sound requests");
    let shown = request.params.shift_remove(TOKEN_PARAM);
    assert_eq!(shown.as_ref().and_then(Value::as_str), Some(&*shared.token), "the token is right");
    let meets = |point| meet(stream, plan.as_ref(), point, shared);
    if !meets(Point::Arrived) {
        return false;
    }
    let answer = act(&request, shared);
    if !meets(Point::Done) {
        return false;
    }
    let frame = encode(&Response::success(request.id, answer).to_vec()).expect("it is short");
    let part = plan.map_or(0, |plan| plan.bytes % frame.len());
    // A server that hung up meanwhile has its reasons.
    stream.write_all(&frame[..part]).is_ok()
        && meets(Point::Answering)
        && stream.write_all(&frame[part..]).is_ok()
        && meets(Point::Answered)
}

fn read_request(
    mut stream: &UnixStream,
    mut decoder: Decoder,
    plan: Option<&Plan>,
    shared: &Shared,
) -> Option<Vec<u8>> {
    let mut byte = [0; 1];
    let mut left = plan.map_or(0, |plan| plan.bytes % 64);
    let mut met = false;
    loop {
        if left == 0 && !met {
            met = true;
            if !meet(stream, plan, Point::Arriving, shared) {
                return None;
            }
        }
        if let Some(payload) = decoder.next_frame().expect("servers send sound frames") {
            return Some(payload.to_vec());
        }
        if !stream.read(&mut byte).is_ok_and(|read| read == 1) {
            return None;
        }
        decoder.push(&byte);
        left = left.saturating_sub(1);
    }
}

/// Does what a request asks for: a change is written down before anything is said about it.
fn act(request: &Request, shared: &Shared) -> Value {
    let text = |name: &str| request.params[name].as_str().unwrap_or_default().to_owned();
    match request.method.as_str() {
        "session.handshake" => shared.handshake.clone(),
        "scene.instantiateNode" => {
            let name = text("name");
            let mut file = fs::OpenOptions::new();
            let mut file = file.create(true).append(true).open(&shared.record).expect("it opens");
            file.write_all(format!("{name}\n").as_bytes()).expect("it can be written");
            json!({"node_path": format!("/root/Own/{name}"), "scene_saved": false})
        }
        "scene.getProperty" => json!({"value": text("property_name")}),
        other => panic!("`{other}` is not asked by these tests"),
    }
}

/// Whether the other end is closed, whatever is still to be read.
fn has_hung_up(stream: &UnixStream) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&now)).is_ok() && asked[0].revents().contains(PollFlags::HUP)
}

/// The fault, if this is its point.
fn meet(stream: &UnixStream, plan: Option<&Plan>, point: Point, shared: &Shared) -> Goes {
    let Some(plan) = plan.filter(|plan| plan.point == point) else { return true };
    let own = |signal| kill_process(getpid(), signal).expect("a process may signal itself");
    tell("at");
    match plan.fault {
        Fault::Kill => own(Signal::KILL),
        Fault::Stop => own(Signal::STOP),
        Fault::Close => {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return false;
        }
        Fault::Delay => {}
    }
    // A signal to the process may reach this thread a little later than the next line would.
    let go = shared.go.lock().expect("nobody panics with it");
    go.recv().is_ok()
}
