//! A scripted instance of the Unity Pipeline: an editor's descriptor and a listener that does what a test says,
//! in the ways of the documented servers and in those of broken ones.
//!
//! It reads whole requests off the socket by itself, because much of what it plays no HTTP library would do:
//! closing a connection that was answered with nothing, half an answer, no answer at all.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    didi, pack_cache,
    server::{PATIENCE, Ran, program_alone},
    wait::until,
};

/// The token of every scripted instance.
pub const TOKEN: &str = "c2NyaXB0ZWQtdG9rZW4=";

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Such as `GET`.
    pub method: String,
    /// With its query.
    pub target: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// `null` when there is none.
    pub body: Value,
}

impl Seen {
    /// Without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What the instance does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers with a JSON body.
    Reply(u16, Value),
    /// Answers with a body as it is.
    Raw(u16, String),
    /// Says that more comes than does, and closes.
    Half,
    /// Closes without a word.
    Close,
    /// Keeps the connection and says nothing.
    Stall,
}

impl Act {
    /// A command that ended well.
    pub fn done(result: Value) -> Self {
        Act::Reply(200, json!({"success": true, "result": result}))
    }

    /// A command that was refused.
    pub fn failed(error: &str, details: &str) -> Self {
        Act::Reply(400, json!({"success": false, "error": error, "errorDetails": details}))
    }

    /// A command that can't run now.
    pub fn busy(reason: &str) -> Self {
        Act::Reply(
            503,
            json!({"success": false, "error": "Server Busy", "errorDetails": "Not now.", "status": "busy",
                   "busyReason": reason, "retryable": true}),
        )
    }

    /// What the cheap endpoints of an editor at rest say.
    pub fn at_rest(seen: &Seen) -> Self {
        match seen.path() {
            "/api/status" => Act::Reply(200, json!({"status": "ready"})),
            "/api/dialog" => Act::Reply(200, json!({"active": false, "dialogs": []})),
            "/api/progress" => Act::Reply(200, json!({"active": false, "progress": null})),
            "/api/commands" => Act::Reply(
                200,
                json!({"commands": [commands()], "count": 1, "total": 1, "offset": 0, "limit": null,
                       "server": {"version": "0.0.1", "port": 1, "startTime": "2026-07-29T09:14:22.113Z"}}),
            ),
            _ => Act::Raw(404, "Not Found".into()),
        }
    }
}

/// The one command of a scripted editor.
pub fn commands() -> Value {
    json!({
        "name": "log_editor", "description": "Writes to the console. It is scripted.", "tags": ["observability"],
        "package": "Unity.Pipeline.Editor", "mainThreadRequired": true, "runtimeOnly": false,
        "parameters": [
            {"name": "message", "description": "", "type": "String", "required": true, "defaultValue": null},
            {"name": "count", "description": "", "type": "Int32", "required": false, "defaultValue": 1},
        ],
    })
}

type Script = dyn Fn(&Seen, usize) -> Act + Send + Sync;

/// What came so far.
#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    grown: Condvar,
}

/// An instance. Its process is the test's own, so it lives.
pub struct Unity {
    folder: TempDir,
    port: u16,
    log: Arc<Log>,
    /// Raised when the listener is to be closed.
    closing: Arc<AtomicBool>,
    /// Keeps the port on which nobody listens from everybody else: it is the near end of a connection.
    _unheard: (TcpListener, TcpStream),
}

impl Unity {
    /// An instance that answers by a script, which gets the request and how many came to the same path before.
    ///
    /// # Panics
    /// When the system gives no port or no folder.
    pub fn start(script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let unity = Unity::absent();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        unity.serve(listener, script)
    }

    /// An instance that answers commands alone by a script; the rest is an editor's at rest.
    ///
    /// # Panics
    /// As [`Unity::start`].
    pub fn running(script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        Unity::start(move |seen, nth| {
            if seen.path() == "/api/exec" { script(seen, nth) } else { Act::at_rest(seen) }
        })
    }

    /// A project whose descriptor names a port on which nobody listens.
    ///
    /// # Panics
    /// As [`Unity::start`].
    pub fn absent() -> Self {
        let folder = TempDir::with_prefix("didi-unity-").expect("a temporary folder can be made");
        let root = folder.path().join("Game");
        for part in ["Assets", "ProjectSettings", "Library/Pipeline"] {
            fs::create_dir_all(root.join(part)).expect("the project's folders can be made");
        }
        fs::create_dir(folder.path().join("sessions")).expect("a folder of records");
        let far = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let near = TcpStream::connect(far.local_addr().expect("it is bound")).expect("it listens");
        let port = near.local_addr().expect("it is bound").port();
        let (log, closing) = (Arc::default(), Arc::default());
        let unity = Unity { folder, port, log, closing, _unheard: (far, near) };
        unity.describe(&unity.descriptor());
        unity
    }

    /// The same project with a listener, whose descriptor is written anew.
    #[must_use]
    pub fn serve(
        self,
        listener: TcpListener,
        script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().expect("it is bound").port();
        let unity = Unity { port, closing: Arc::default(), ..self };
        let (log, script): (_, Arc<Script>) = (Arc::clone(&unity.log), Arc::new(script));
        let closing = Arc::clone(&unity.closing);
        thread::spawn(move || {
            let open = |_: &TcpStream| !closing.load(Ordering::SeqCst);
            for stream in listener.incoming().map_while(Result::ok).take_while(open) {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                thread::spawn(move || serve_one(stream, &log, &*script));
            }
        });
        unity.describe(&unity.descriptor());
        unity
    }

    /// Closes the listener; the descriptor goes on naming its port.
    ///
    /// # Panics
    /// When it does not close.
    pub fn stop_listening(&self) {
        self.closing.store(true, Ordering::SeqCst);
        until("closed port", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_err().then_some(())
        });
    }

    /// What its descriptor says.
    pub fn descriptor(&self) -> Value {
        json!({
            "pid": std::process::id(), "port": self.port, "projectPath": self.root(), "projectName": "Game",
            "unityVersion": "6000.1.2f1", "mode": "editor", "startedAt": "2026-06-25T10:00:00Z",
            "lastHeartbeat": "2026-06-25T10:05:00Z", "evalToken": TOKEN,
            "capabilities": ["exec.argv", "exec.commandLine"],
        })
    }

    /// Writes another descriptor.
    pub fn describe(&self, descriptor: &Value) {
        self.write_descriptor(descriptor.to_string().as_bytes());
    }

    /// Writes bytes in the descriptor's place, as the vendor does.
    ///
    /// # Panics
    /// When they can't be written.
    pub fn write_descriptor(&self, bytes: &[u8]) {
        let file = self.root().join("Library/Pipeline/.unity-pipeline-port");
        fs::write(file, bytes).expect("the descriptor can be written");
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join("Game")
    }

    /// Where its records are, and what stands for the user's home.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Every request so far.
    ///
    /// # Panics
    /// Never, but for a panic of another thread.
    pub fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().expect("no panic").clone()
    }

    /// How many commands were sent.
    pub fn execs(&self) -> usize {
        self.seen().iter().filter(|seen| seen.path() == "/api/exec").count()
    }

    /// Waits until a request came to a path.
    ///
    /// # Panics
    /// When none comes.
    pub fn wait_for(&self, path: &str) {
        let seen = self.log.seen.lock().expect("no panic");
        let lacks = |seen: &mut Vec<Seen>| seen.iter().all(|one| one.path() != path);
        let waited = self.log.grown.wait_timeout_while(seen, PATIENCE, lacks).expect("no panic");
        assert!(!waited.1.timed_out(), "nothing came to {path}");
    }

    /// The program, in the project, with the test's own records and home, before it is started.
    pub fn command(&self, args: &[&str]) -> Command {
        client(self.around(), &self.root(), args)
    }

    /// Runs the program in the project to its end.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args))
    }
}

/// The program in a folder, with records and a home of the test's own.
pub fn client(around: &Path, folder: &Path, args: &[&str]) -> Command {
    let mut command = program_alone(&didi());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("XDG_") {
            command.env_remove(&name);
        }
    }
    command
        .args(["--log-level", "WARN", "--pack-cache"])
        .arg(pack_cache())
        .args(args)
        .current_dir(folder)
        .env("DIDI_SESSION_DIR", around.join("sessions"))
        .env("HOME", around)
        .stdin(Stdio::null());
    command
}

/// Runs a program to its end.
///
/// # Panics
/// When it can't be started.
pub fn ran(mut command: Command) -> Ran {
    let output = command.output().expect("the program can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// One request a connection.
fn serve_one(stream: TcpStream, log: &Log, script: &Script) {
    let Some(seen) = read(&stream) else { return };
    let nth = {
        let mut all = log.seen.lock().expect("no panic");
        let nth = all.iter().filter(|one| one.path() == seen.path()).count();
        all.push(seen.clone());
        log.grown.notify_all();
        nth
    };
    match script(&seen, nth) {
        Act::Reply(status, body) => answer(stream, status, "application/json", &body.to_string()),
        Act::Raw(status, body) => answer(stream, status, "text/plain", &body),
        Act::Half => {
            let mut stream = stream;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"success\":true,");
        }
        Act::Close => {}
        Act::Stall => {
            // Until the other side gives up.
            let mut rest = stream;
            let _ = rest.read(&mut [0; 16]);
        }
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).ok()? };
    Some(Seen { method, target, headers, body })
}

fn answer(mut stream: TcpStream, status: u16, kind: &str, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    // A client that gave up has closed its end.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}
