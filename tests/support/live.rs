//! Real engines with the built extension, and a client that speaks the bridge's own language to them.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{fs::DirBuilderExt as _, net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use didi_wire::{
    BridgeError, Descriptor, Outcome, Request, RequestId, Response, SessionId, SessionKind,
    TOKEN_PARAM, discovery,
    frame::{Decoder, encode},
    lock::{self, Holder},
    session_dir::{SESSION_DIR_VAR, SessionDir},
};
use serde_json::{Map, Value, json};

use crate::{Project, built_folder, godot, repository, server::PATIENCE, until_ok};

/// Where the addon lies in a project.
const ADDON: &str = "addons/didi";

/// How long an engine may take to open its session, on a loaded machine.
pub const START_LIMIT: Duration = Duration::from_secs(120);

/// What an engine with a window prints when it ends itself while it starts, now and then on a machine with far more
/// to do than it can. The stack of the thread that it comes from holds the engine and its C++ library alone, and no
/// code of the extension; why it happens is not known.
const OWN_FAULT: &str = "terminate called after throwing an instance of 'std::system_error'";

/// How often such an engine is started at most.
const STARTS: usize = 3;

/// How long an answer may take; longer than the engine's own deadline.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// The built extension.
///
/// # Panics
/// When it was not built.
pub fn extension() -> PathBuf {
    let file = built_folder().join("libdidi_godot.so");
    assert!(file.is_file(), "`{}` is missing: run `cargo build --workspace` first", file.display());
    file
}

/// Lays the addon into a project, as the set-up does; the list keeps the first import from ending badly.
///
/// # Panics
/// When a file can't be written.
pub fn install(project: &Project) {
    let folder = project.file(ADDON);
    fs::create_dir_all(&folder).expect("the addon's folder can be made");
    let description = repository().join("core/godot/addon/didi.gdextension");
    fs::copy(description, folder.join("didi.gdextension")).expect("the addon can be copied");
    let library = folder.join("libdidi_godot.so");
    let _ = fs::remove_file(&library);
    if fs::hard_link(extension(), &library).is_err() {
        fs::copy(extension(), &library).expect("the extension can be copied");
    }
    project.write(".godot/extension_list.cfg", format!("res://{ADDON}/didi.gdextension\n"));
}

/// A running engine with an open session.
#[derive(Debug)]
pub struct Engine {
    child: Child,
    descriptor: Descriptor,
    log: PathBuf,
}

impl Engine {
    /// A headless editor on a project; `None` where no engine is found.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn editor(project: &Project) -> Option<Self> {
        Self::start(project, SessionKind::Editor, &["--editor"])
    }

    /// A headless editor with options of its own.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn editor_with(project: &Project, options: &[&str]) -> Option<Self> {
        let args: Vec<&str> = ["--editor"].iter().chain(options).copied().collect();
        Self::start(project, SessionKind::Editor, &args)
    }

    /// A headless editor that may do what permissions allow and no more, whoever runs the tests.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn obedient_editor(project: &Project) -> Option<Self> {
        let mut command = obedient(project)?;
        command.args(["--headless", "--editor"]);
        Some(Self::run(command, project, SessionKind::Editor))
    }

    /// A headless editor that quits by itself after so many frames.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn passing_editor(project: &Project, frames: u32) -> Option<Self> {
        let frames = frames.to_string();
        Self::start(project, SessionKind::Editor, &["--editor", "--quit-after", &frames])
    }

    /// A headless game of a project.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn game(project: &Project) -> Option<Self> {
        Self::start(project, SessionKind::Game, &[])
    }

    /// A headless game with arguments of its own.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn game_with(project: &Project, args: &[&str]) -> Option<Self> {
        let args: Vec<&str> = ["--"].iter().chain(args).copied().collect();
        Self::start(project, SessionKind::Game, &args)
    }

    /// A game of a project that draws into a display of its own.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn windowed_game(project: &Project, display: &Display) -> Option<Self> {
        Self::shown(project, SessionKind::Game, &[], display)
    }

    /// The same, drawn by the engine's largest renderer and a Vulkan driver that needs no graphics card.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn vulkan_game(project: &Project, display: &Display) -> Option<Self> {
        let renderer = ["--rendering-method", "forward_plus", "--rendering-driver", "vulkan"];
        let mut command = shown(project, &renderer, display)?;
        command.env_remove(VULKAN_DRIVERS);
        Some(Self::run(command, project, SessionKind::Game))
    }

    /// An editor on a project that draws into a display of its own.
    ///
    /// # Panics
    /// When it opens no session in time.
    pub fn windowed_editor(project: &Project, display: &Display) -> Option<Self> {
        Self::shown(project, SessionKind::Editor, &["--editor"], display)
    }

    fn shown(
        project: &Project,
        kind: SessionKind,
        args: &[&str],
        display: &Display,
    ) -> Option<Self> {
        for _ in 1..STARTS {
            let command = shown(project, args, display)?;
            match Self::try_run(command, project, kind) {
                Ok(engine) => return Some(engine),
                Err(log) => anew(&log),
            }
        }
        Some(Self::run(shown(project, args, display)?, project, kind))
    }

    fn start(project: &Project, kind: SessionKind, args: &[&str]) -> Option<Self> {
        let mut command = command(project)?;
        command.arg("--headless").args(args);
        Some(Self::run(command, project, kind))
    }

    fn run(command: Command, project: &Project, kind: SessionKind) -> Self {
        Self::try_run(command, project, kind).unwrap_or_else(|log| panic!("it ended:\n{log}"))
    }

    /// Starts an engine. Gives what it printed where it ended itself by the fault that [`OWN_FAULT`] tells of; any
    /// other end is a failed test.
    fn try_run(mut command: Command, project: &Project, kind: SessionKind) -> Result<Self, String> {
        install(project);
        let log = project.outside().join(format!("{kind}.log"));
        let output = fs::File::create(&log).expect("the log can be made");
        let errors = output.try_clone().expect("a handle can be doubled");
        command.stdout(output).stderr(errors);
        let mut child = command.spawn().expect("the engine can be started");
        let end = Instant::now() + START_LIMIT;
        loop {
            let found =
                discovery::scan(&sessions(project)).expect("the folder is private").sessions;
            let own = |descriptor: &Descriptor| descriptor.identity.pid == child.id();
            if let Some(descriptor) = found.into_iter().find(own) {
                assert_eq!(descriptor.identity.kind, kind);
                let engine = Engine { child, descriptor, log };
                return match engine.wait_until_it_takes_commands(end) {
                    Ok(()) => Ok(engine),
                    Err(_) if engine.log().contains(OWN_FAULT) => Err(engine.log()),
                    Err(error) => panic!("it takes no command: {error}\n{}", engine.log()),
                };
            }
            let ended = child.try_wait().expect("a child can be asked");
            let text = || fs::read_to_string(&log).unwrap_or_default();
            if ended.is_some() && text().contains(OWN_FAULT) {
                return Err(text());
            }
            assert!(ended.is_none(), "the engine ended with {ended:?}:\n{}", text());
            assert!(Instant::now() < end, "no session was opened:\n{}", text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// An engine that still starts lets commands wait, and gives them up unbegun after a while. Fails where the
    /// connection does.
    fn wait_until_it_takes_commands(&self, end: Instant) -> io::Result<()> {
        let names = json!({ "class_names": [] });
        loop {
            let mut client = Client::try_of(&self.descriptor)?;
            let Err(error) = client.try_ask("engine.classExists", names.clone())? else {
                return Ok(());
            };
            assert_eq!(error.outcome(), Some(Outcome::NotStarted), "{error}");
            assert!(Instant::now() < end, "it takes no command:\n{}", self.log());
        }
    }

    /// Its private descriptor.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// All it has printed.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// A new connection.
    ///
    /// # Panics
    /// When nobody listens.
    pub fn connect(&self) -> Client {
        Client { log: Some(self.log.clone()), ..Client::of(&self.descriptor) }
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait(&mut self) -> Option<i32> {
        let status = until_ok(START_LIMIT, || {
            let ended = self.child.try_wait().expect("a child can be asked");
            ended.ok_or_else(|| format!("the engine does not end:\n{}", self.log()))
        });
        status.code()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A display that nobody sees.
#[derive(Debug)]
pub struct Display {
    child: Child,
    number: u32,
}

impl Display {
    /// Starts one under a number that is free.
    ///
    /// # Panics
    /// When there is no `Xvfb`, or it does not start.
    pub fn start() -> Self {
        Display::of(1280, 720)
    }

    /// The same, of so many pixels.
    ///
    /// # Panics
    /// As [`Display::start`].
    pub fn of(width: u32, height: u32) -> Self {
        let screen = format!("{width}x{height}x24");
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("`Xvfb` is installed beside the engine");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let number = lines.next().and_then(Result::ok).and_then(|line| line.trim().parse().ok());
        Display { child, number: number.expect("it says its number") }
    }
}

impl Display {
    /// What a program finds it by.
    pub fn name(&self) -> String {
        format!(":{}", self.number)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until nobody holds a session of a project's engines.
///
/// # Panics
/// When it is not given back.
pub fn until_free(project: &Project, session: SessionId) {
    let holder = Holder { pid: 1, name: "another".into(), since_ms: 1 };
    until_ok(PATIENCE, || {
        let taken = lock::acquire(&sessions(project), session, &holder);
        taken.map(drop).map_err(|fault| format!("the session is not given back: {fault}"))
    });
}

/// The folder of descriptors of a test's engines.
pub fn sessions(project: &Project) -> SessionDir {
    let path = project.sessions_folder();
    let _ = fs::DirBuilder::new().mode(0o700).create(&path);
    SessionDir { path, checked: true }
}

/// A Godot on a project, with folders of its own.
fn command(project: &Project) -> Option<Command> {
    Some(over(Command::new(godot()?), project))
}

/// The same, without the superuser's way around permissions.
fn obedient(project: &Project) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        return command(project);
    }
    let mut command = Command::new("setpriv");
    command.arg("--bounding-set=-dac_override").arg(godot()?);
    Some(over(command, project))
}

fn over(mut command: Command, project: &Project) -> Command {
    command
        .arg("--path")
        .arg(project.root())
        .env(SESSION_DIR_VAR, sessions(project).path)
        .env("XDG_CONFIG_HOME", project.outside().join("config"))
        .env("XDG_CACHE_HOME", project.outside().join("cache"))
        .stdin(Stdio::null());
    command
}

#[allow(clippy::print_stderr, reason = "a test that starts its engine twice says so")]
fn anew(log: &str) {
    eprintln!("the engine ended itself at its start, and is started anew:\n{log}");
}

/// The files that name the drivers of Vulkan. An editor looks for one in any case, and where it was installed from
/// another system than its own libraries, the two drivers' compilers can't live in one process.
const VULKAN_DRIVERS: &str = "VK_DRIVER_FILES";

/// An engine that draws into a display.
fn shown(project: &Project, args: &[&str], display: &Display) -> Option<Command> {
    let mut command = command(project)?;
    command.args(["--rendering-driver", "opengl3", "--audio-driver", "Dummy"]).args(args);
    command.env("DISPLAY", display.name()).env(VULKAN_DRIVERS, "none");
    Some(command)
}

/// Runs a script of its own in a separate engine, and gives the JSON after `RESULT ` in what it prints.
///
/// # Panics
/// When there is no such line.
pub fn ask_engine(project: &Project, body: &str) -> Value {
    let script = project.outside().join("question.gd");
    let text = format!(
        "extends SceneTree\nfunc answer():\n\t{}\nfunc _init():\n\tprint(\"RESULT \" + JSON.stringify(answer()))\n\tquit()\n",
        body.trim().replace('\n', "\n\t")
    );
    fs::write(&script, text).expect("the script can be written");
    let mut command = command(project).expect("an engine was found before");
    let output = command.args(["--headless", "-s"]).arg(&script).output().expect("it can be run");
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.lines().find_map(|line| line.strip_prefix("RESULT "));
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = line.unwrap_or_else(|| panic!("no result:\n{printed}\n{errors}"));
    serde_json::from_str(line).expect("the script prints JSON")
}

/// A plain client of the bridge.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    decoder: Decoder,
    token: String,
    next_id: u64,
    /// What the engine printed, for a test that fails.
    log: Option<PathBuf>,
}

impl Client {
    /// A connection to a session.
    ///
    /// # Panics
    /// When nobody listens.
    pub fn of(descriptor: &Descriptor) -> Self {
        Client::try_of(descriptor).expect("it listens")
    }

    fn try_of(descriptor: &Descriptor) -> io::Result<Self> {
        let stream = UnixStream::connect(&descriptor.identity.endpoint)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        let token = descriptor.token.reveal().to_owned();
        Ok(Client { stream, decoder: Decoder::new(), token, next_id: 1, log: None })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Panics
    /// When there is no answer, or one of another request.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, BridgeError> {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("`{method}` got no answer: {error}\n{}", self.log()))
    }

    /// The same, where the engine may hang up.
    fn try_ask(&mut self, method: &str, params: Value) -> io::Result<Result<Value, BridgeError>> {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let mut params: Map<String, Value> =
            serde_json::from_value(params).expect("parameters are an object");
        params.insert(TOKEN_PARAM.into(), self.token.clone().into());
        let request = Request { id, method: method.into(), params };
        let frame = encode(&request.to_vec()).expect("a request is short");
        self.stream.write_all(&frame)?;
        let answer = self.receive()?;
        assert_eq!(answer.id, Some(id), "the answer is another request's");
        Ok(answer.body)
    }

    /// As [`Client::ask`], for what has to succeed.
    ///
    /// # Panics
    /// When it is refused.
    pub fn done(&mut self, method: &str, params: Value) -> Value {
        let shown = params.to_string();
        self.ask(method, params).unwrap_or_else(|error| {
            panic!("{method} {shown}: {error}\n{}", json!(error.data));
        })
    }

    /// As [`Client::ask`], for what has to be refused: its status and code.
    ///
    /// # Panics
    /// When it succeeds.
    pub fn refused(&mut self, method: &str, params: Value) -> (u16, String) {
        let error = self.ask(method, params).expect_err(method);
        (error.code, error.code_name().unwrap_or_default().to_owned())
    }

    fn log(&self) -> String {
        self.log.as_ref().and_then(|log| fs::read_to_string(log).ok()).unwrap_or_default()
    }

    fn receive(&mut self) -> io::Result<Response> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            if let Some(payload) = self.decoder.next_frame().expect("the engine keeps its bounds") {
                let answer = Response::from_slice(payload);
                return Ok(answer.expect("the engine answers in its form"));
            }
            let read = self.stream.read(&mut buffer)?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the engine hung up"));
            }
            self.decoder.push(&buffer[..read]);
        }
    }
}

/// Whether a file lies below a folder, by its name's beginning.
pub fn has_file(folder: &Path, begin: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(begin))
}
