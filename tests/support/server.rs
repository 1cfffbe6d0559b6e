//! One server as a child process: lines in, lines out, every wait bounded.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::{built_folder, didi, pack_cache, until_ok};

/// Longest wait for one line, one log line or the end of the process.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Longest end of a server that ends at once, on a machine that has much else to do, in milliseconds. How long it takes on
/// an idle one is in `docs/benchmarks.md`.
pub const AT_ONCE_MS: u128 = 5_000;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Parameters with the `_meta` that every modern request carries. Members of `_meta` that are there stay.
///
/// # Panics
/// When `params` is no object.
pub fn modern(mut params: Value) -> Value {
    let members = params.as_object_mut().expect("parameters are an object");
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    let meta = meta.as_object_mut().expect("`_meta` is an object");
    meta.entry(VERSION_KEY).or_insert_with(|| "2026-07-28".into());
    meta.entry(CAPABILITIES_KEY).or_insert_with(|| json!({}));
    params
}

/// How a server is started.
#[derive(Debug)]
pub struct Launch {
    project: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    program: Option<PathBuf>,
}

impl Launch {
    /// A server over a project folder, with the default options.
    pub fn over(project: impl Into<PathBuf>) -> Self {
        Launch { project: project.into(), args: vec![], env: vec![], program: None }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I: IntoIterator<Item = A>, A: Into<OsString>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Runs another program than the one beside the tests.
    #[must_use]
    pub fn program(mut self, file: impl Into<PathBuf>) -> Self {
        self.program = Some(file.into());
        self
    }

    /// Starts the process. Variables of the caller's that mean something to the server are not passed on.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn start(self) -> Server {
        let program = self.program.unwrap_or_else(didi);
        let mut command = program_alone(&program);
        let has = |flag: &str| self.args.iter().any(|arg| arg == flag);
        command.arg("--project").arg(&self.project);
        if !has("--pack-cache") {
            command.arg("--pack-cache").arg(pack_cache());
        }
        if !has("--log-level") {
            command.args(["--log-level", "WARN"]);
        }
        // No engine of this machine is in reach, unless a test says where one publishes itself.
        command.env("DIDI_SESSION_DIR", built_folder().join("no-sessions"));
        command.args(&self.args).envs(self.env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap_or_else(|e| panic!("`{}`: {e}", program.display()));
        Server::over(child)
    }
}

/// What standard error said so far.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grown: Condvar,
}

/// A running server.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Arc<Log>,
    waiting: VecDeque<Value>,
    next_id: u64,
    received_bytes: usize,
}

/// How a server ended.
#[derive(Debug)]
pub struct Closed {
    /// Its exit status.
    pub status: ExitStatus,
    /// Milliseconds from the end of input to the end of the process.
    pub took_ms: u128,
    /// Lines that came after the end of input, and those that nobody had asked for.
    pub rest: Vec<Value>,
    /// Everything on standard error.
    pub log: String,
}

impl Server {
    /// A server over a project with the default options.
    pub fn over_project(project: &Path) -> Self {
        Launch::over(project).start()
    }

    fn over(mut child: Child) -> Self {
        let input = child.stdin.take();
        let output = child.stdout.take().expect("the output is piped");
        let errors = child.stderr.take().expect("the errors are piped");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        thread::spawn(move || {
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            while errors.read_until(b'\n', &mut line).is_ok_and(|got| got > 0) {
                kept.text.lock().expect("it only grows").push_str(&String::from_utf8_lossy(&line));
                kept.grown.notify_all();
                line.clear();
            }
        });
        let waiting = VecDeque::new();
        Server { child, input, lines, log, waiting, next_id: 1000, received_bytes: 0 }
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of all lines that were read from it so far.
    pub fn received_bytes(&self) -> usize {
        self.received_bytes
    }

    /// Sends bytes as they are. A server that ended is noticed by what it does not answer.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        if let Some(input) = self.input.as_mut() {
            let _ = input.write_all(bytes).and_then(|()| input.flush());
        }
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.send_raw(&line);
    }

    /// Sends a request under a fresh id, and answers the id.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next line: the oldest that was put aside, or a new one.
    ///
    /// # Panics
    /// When none comes in time, or it is no JSON object or array.
    pub fn recv(&mut self) -> Value {
        if let Some(message) = self.waiting.pop_front() {
            return message;
        }
        match self.read(PATIENCE) {
            Some(message) => message,
            None => panic!("no line came in {PATIENCE:?}; standard error:\n{}", self.log()),
        }
    }

    /// The next line if one comes within `span`. Only for proving that nothing more comes.
    pub fn recv_within(&mut self, span: Duration) -> Option<Value> {
        self.waiting.pop_front().or_else(|| self.read(span))
    }

    fn read(&mut self, span: Duration) -> Option<Value> {
        match self.lines.recv_timeout(span) {
            Ok(line) => {
                // With its line feed.
                self.received_bytes += line.len() + 1;
                Some(parsed(&line))
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Waits for the first message that `wanted` accepts; the others are put aside in order.
    ///
    /// # Panics
    /// When none comes in time.
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.wait_within(PATIENCE, what, wanted)
    }

    /// The same with a bound of its own.
    ///
    /// # Panics
    /// When none comes in time.
    pub fn wait_within(
        &mut self,
        span: Duration,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        if let Some(place) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(place).expect("the place was just found");
        }
        let deadline = Instant::now() + span;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(message) = self.read(left) else {
                panic!(
                    "{what} did not come in {span:?}; put aside: {:?}; standard error:\n{}",
                    self.waiting,
                    self.log()
                );
            };
            if wanted(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        self.answer_within(PATIENCE, id)
    }

    /// The same with a bound of its own.
    pub fn answer_within(&mut self, span: Duration, id: u64) -> Value {
        self.wait_within(span, &format!("the answer to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Sends a request and waits for its answer, whole: with `result` or `error`.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The next notification of a method, past everything else.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait_for(method, |message| message["method"] == method)
    }

    /// The answer to a request if it came already.
    pub fn answered(&mut self, id: u64) -> Option<Value> {
        while let Some(message) = self.read(Duration::ZERO) {
            self.waiting.push_back(message);
        }
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        let place = self.waiting.iter().position(is_answer)?;
        self.waiting.remove(place)
    }

    /// Opens a legacy session, and answers the result of `initialize`.
    ///
    /// # Panics
    /// When it is refused.
    pub fn initialize(&mut self, revision: &str, capabilities: Value) -> Value {
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": revision,
                "capabilities": capabilities,
                "clientInfo": {"name": "didi-tests", "version": "1"},
            }),
        );
        self.notify("notifications/initialized", json!({}));
        assert!(answer.get("result").is_some(), "initialize was refused: {answer}");
        answer["result"].clone()
    }

    /// Sends a tool's call as a modern client, and answers the request's id.
    pub fn ask_tool(&mut self, tool: &str, arguments: Value) -> u64 {
        self.ask("tools/call", modern(json!({"name": tool, "arguments": arguments})))
    }

    /// Calls a tool as a modern client, and answers the result.
    ///
    /// # Panics
    /// When the answer is a JSON-RPC error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(tool, arguments, Map::new())
    }

    /// The same, with more members of `params`.
    ///
    /// # Panics
    /// When the answer is a JSON-RPC error.
    pub fn call_with(&mut self, tool: &str, arguments: Value, more: Map<String, Value>) -> Value {
        let mut params =
            Map::from_iter([("name".to_owned(), tool.into()), ("arguments".to_owned(), arguments)]);
        params.extend(more);
        let answer = self.request("tools/call", modern(Value::Object(params)));
        assert!(answer.get("result").is_some(), "`{tool}` got an error: {answer}");
        answer["result"].clone()
    }

    /// What standard error said so far.
    ///
    /// # Panics
    /// Never: the lock is held for appending only.
    pub fn log(&self) -> String {
        self.log.text.lock().expect("it only grows").clone()
    }

    /// Waits until standard error contains a text.
    ///
    /// # Panics
    /// When it does not in time.
    pub fn wait_for_log(&self, wanted: &str) {
        let text = self.log.text.lock().expect("it only grows");
        let (text, timeout) = self
            .log
            .grown
            .wait_timeout_while(text, PATIENCE, |text| !text.contains(wanted))
            .expect("it only grows");
        assert!(!timeout.timed_out(), "`{wanted}` did not come on standard error:\n{text}");
    }

    /// Closes the server's input, and leaves it running.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Closes the server's input and waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn close(mut self) -> Closed {
        let start = Instant::now();
        self.end_input();
        let status = self.wait_for_exit();
        let took_ms = start.elapsed().as_millis();
        let mut rest: Vec<Value> = self.waiting.drain(..).collect();
        // The stream ends with the process, unless a child of it holds the other end.
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(parsed(&line));
        }
        Closed { status, took_ms, rest, log: self.log() }
    }

    /// The next line of standard output, from a process that speaks no protocol there.
    ///
    /// # Panics
    /// When none comes in time.
    pub fn output_line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line comes")
    }

    /// Ends the process at once, as the system does it to a process that it has no memory for.
    ///
    /// # Panics
    /// When the system refuses.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is this process's child");
        self.child.wait().expect("it is this process's child");
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait_for_exit(&mut self) -> ExitStatus {
        // The system offers no bounded wait for a child.
        until_ok(PATIENCE, || {
            let ended = self.child.try_wait().expect("it is this process's child");
            ended.ok_or_else(|| format!("the server did not end:\n{}", self.log()))
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line of the protocol. Anything else on that stream is a fault.
fn parsed(line: &str) -> Value {
    let message: Value = serde_json::from_str(line)
        .unwrap_or_else(|error| panic!("a line that is no message: {error}: {line}"));
    assert!(message.is_object() || message.is_array(), "a line that is no message: {line}");
    message
}

/// What a program printed that is run to its end.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A program to which none of the caller's variables that mean something to it are passed on.
pub fn program_alone(file: &Path) -> Command {
    let mut command = Command::new(file);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("DIDI_") || text.starts_with("GODOT_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The whole surface, as the program dumps it.
///
/// # Panics
/// When it dumps none.
pub fn manifest() -> &'static Value {
    static MANIFEST: OnceLock<Value> = OnceLock::new();
    MANIFEST.get_or_init(|| {
        let ran = run(&["--dump-tool-manifest"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        serde_json::from_str(&ran.out).expect("the manifest is JSON")
    })
}

/// Runs the program with arguments to its end; its input is empty.
///
/// # Panics
/// When it can't be started.
pub fn run(args: &[&str]) -> Ran {
    let mut command = program_alone(&didi());
    command.arg("--pack-cache").arg(pack_cache()).args(args).stdin(Stdio::null());
    let output = command.output().expect("the program can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
