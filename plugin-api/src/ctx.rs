//! What a handler may use while it runs: the project, the engine, child processes, progress, the log.
//!
//! All of it goes through the host, so that a cancel reaches it, the journal sees it, and a test can script
//! it. The one exception is reading: a pack may read files below the project root by itself, through
//! [`crate::project_path`], because a search over thousands of files would be slow otherwise.
//!
//! Spec: P-33, services of the host.

use std::{ops::Range, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::{
    abi::{HostRef, Reply, code},
    desc::Mode,
    outcome::{Answer, ToolResult, fault},
    project_path::{ProjectPath, ProjectRoot},
    refusal::{Refusal, codes},
};

/// Names of the operations behind [`Ctx`] that go through the host's growth point.
pub mod ops {
    /// Answers [`super::CallContext`].
    pub const CALL_CONTEXT: &str = "call.context";
    /// Answers [`super::EngineInfo`], or refuses with `engine_unavailable`.
    pub const ENGINE_FIND: &str = "engine.find";
    /// Takes a [`super::ChildSpec`], answers a [`super::ChildReport`].
    pub const CHILD_RUN: &str = "child.run";
    /// Takes a list of [`super::Change`]s, answers a list of [`super::Written`]; since 1.1.
    pub const PROJECT_APPLY: &str = "project.apply";
    /// Answers the path of a folder that lives as long as the call; since 1.1.
    pub const SCRATCH_FOLDER: &str = "scratch.folder";
    /// Takes the name of an entry of the change journal, answers the entry; since 1.1.
    pub const JOURNAL_ENTRY: &str = "journal.entry";
    /// Takes [`super::Touched`], answers nothing when an editor leaves the files free; since 1.1.
    pub const EDITOR_CHECK: &str = "editor.check";
    /// Takes a [`super::RunRecord`], answers its `res://` path; since 1.1.
    pub const RECORD_WRITE: &str = "record.write";
    /// Takes a [`super::GameSpec`], answers a [`super::GameStarted`]; since 1.1.
    pub const GAME_START: &str = "game.start";
    /// Takes a [`super::GameCall`], answers the result of the method; since 1.1.
    pub const GAME_CALL: &str = "game.call";
    /// Takes a [`super::GameEnd`], answers a [`super::GameEnded`]; since 1.1.
    pub const GAME_END: &str = "game.end";
    /// Answers a list of [`crate::pipeline::Instance`]s; since 1.2.
    pub const PIPELINE_INSTANCES: &str = "pipeline.instances";
    /// Takes a [`crate::pipeline::Request`], answers a [`crate::pipeline::Reply`]; since 1.2.
    pub const PIPELINE_REQUEST: &str = "pipeline.request";
}

/// Where a call stands. Fixed for the call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallContext {
    /// The project's folder, canonical.
    pub project_root: PathBuf,
    /// The way in which this call answers.
    pub mode: Mode,
    /// The server's version.
    pub server_version: String,
    /// The runtime session that serves the call, or that a modern request named; 32 hex digits.
    #[serde(default)]
    pub runtime_session_id: Option<String>,
    /// Whether the call runs as a job, so that nobody waits for its answer; since 1.1.
    #[serde(default)]
    pub job: bool,
    /// What the preview that this run was approved by worked out; since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<RawValue>>,
}

/// An engine executable that can be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EngineInfo {
    /// The file that is run.
    pub executable: PathBuf,
    /// As `--version` prints it, such as `4.6.3.stable.official`.
    pub version: String,
}

/// What to run. There is no shell: arguments arrive as they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChildSpec {
    /// The program; absent, the engine that [`Ctx::engine`] finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Arguments.
    pub args: Vec<String>,
    /// Added to the child's environment.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Working folder: inside the project or the call's scratch folder; absent, the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Milliseconds after which the whole process tree is killed.
    pub timeout_ms: u64,
    /// Bytes kept of standard output and standard error together; the newest beyond it are dropped.
    pub max_output_bytes: usize,
}

/// How a child ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChildReport {
    /// Process id.
    pub pid: u32,
    /// Exit code; absent when a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Whether every process under it was seen to end.
    pub tree_exited: bool,
    /// Milliseconds that it ran.
    pub ran_ms: u64,
    /// Output in the order of arrival.
    pub lines: Vec<ChildLine>,
    /// Whether output was dropped at the bound.
    pub output_truncated: bool,
}

/// A game to start: the project's engine with these arguments, which opens a session of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameSpec {
    /// Arguments of the engine.
    pub args: Vec<String>,
    /// Whether it stays when the call ends, and the server, too; it is then the selected session.
    pub keep: bool,
    /// Longest wait for its session, in milliseconds.
    pub wait_ms: u64,
    /// Bytes of output kept of a game that is not kept.
    pub max_output_bytes: usize,
}

/// A game that was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameStarted {
    /// Process id.
    pub pid: u32,
    /// The public descriptor of its session; absent when it published none in time. A kept game whose session
    /// could not be attached has `attach_error` beside `session_id`.
    #[serde(default)]
    pub session: Option<Value>,
    /// How it ended, when it did or had to.
    #[serde(default)]
    pub ended: Option<ChildReport>,
}

/// A call of a game that the same call of the tool started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameCall {
    /// Its session.
    pub session_id: String,
    /// A method of the bridge.
    pub method: String,
    /// Its parameters.
    pub params: serde_json::Map<String, Value>,
    /// Longest wait in milliseconds; 0 for that of every call.
    pub timeout_ms: u64,
}

/// The end of such a game.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameEnd {
    /// Its session.
    pub session_id: String,
    /// How long it may take to end by itself, in milliseconds.
    pub wait_ms: u64,
}

/// How such a game ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameEnded {
    /// Whether it took the request to stop.
    pub stop_requested: bool,
    /// Whether its session is gone.
    pub session_gone: bool,
    /// Milliseconds from the request to its end.
    pub waited_ms: u64,
    /// Its process.
    pub report: ChildReport,
}

/// One line of output.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChildLine {
    /// Whether it came from standard error.
    pub stderr: bool,
    /// The text without its line end; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// How a file is to be written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Nothing may be there; otherwise `already_exists`.
    Absent,
    /// These bytes have to be there, by SHA-256 in hex; otherwise `conflict`.
    Sha256(String),
    /// Whatever is there is replaced.
    Anything,
}

/// Options of a write, as they cross the boundary.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteOptions {
    /// What has to be there.
    pub expect: Expect,
}

/// One step of a change of several files.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Change {
    /// Replaces or makes a text file.
    Write {
        /// `res://` path.
        path: String,
        /// The whole new content.
        text: String,
        /// What has to be there.
        expect: Expect,
    },
    /// Puts texts in the places of byte ranges of a file that is there; only those cross the boundary.
    Edit {
        /// `res://` path.
        path: String,
        /// In ascending order, none overlapping another.
        splices: Vec<Splice>,
        /// What has to be there.
        expect: Expect,
    },
    /// Moves a file to a place where nothing is; a change of letter case alone counts as such a place.
    Move {
        /// `res://` path now.
        from: String,
        /// `res://` path afterwards.
        to: String,
        /// What has to be at `from`.
        expect: Expect,
    },
    /// Removes a file.
    Remove {
        /// `res://` path.
        path: String,
        /// What has to be there.
        expect: Expect,
    },
}

/// Bytes of a file that are replaced by a text; with an empty range, an insertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first byte that is replaced, from 0.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// What stands there afterwards.
    pub text: String,
}

impl Splice {
    /// A text in the place of these bytes.
    pub fn new(place: Range<usize>, text: impl Into<String>) -> Self {
        Splice { start: place.start as u64, end: place.end as u64, text: text.into() }
    }

    /// The bytes with the splices in them; `None` when one reaches beyond the end or into the one before it.
    pub fn apply(splices: &[Splice], source: &[u8]) -> Option<Vec<u8>> {
        let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
        let mut bytes = Vec::with_capacity(source.len() + grown);
        let mut done = 0;
        for splice in splices {
            let start = usize::try_from(splice.start).ok()?;
            let end = usize::try_from(splice.end).ok().filter(|end| start <= *end)?;
            bytes.extend_from_slice(source.get(done..start)?);
            bytes.extend_from_slice(splice.text.as_bytes());
            done = end;
        }
        bytes.extend_from_slice(source.get(done..)?);
        Some(bytes)
    }
}

/// The record of a run, kept in `.didi/scenarios/<name>.json`; a later run of the name replaces it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// 1 to 64 of letters, digits, `_` and `-`, a letter or digit first.
    pub name: String,
    /// A JSON object of at most 1 MiB.
    pub document: Value,
}

/// What a write did, read back from the disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Written {
    /// `res://` path in the letters that the disk has.
    pub path: String,
    /// Whether a file was there before.
    pub replaced: bool,
    /// Whether the file's bytes are now other than before.
    pub changed: bool,
    /// Bytes now in the file.
    pub size_bytes: u64,
    /// SHA-256 of the file now, in hex.
    pub sha256: String,
}

/// The files that changes touch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Touched {
    /// `res://` paths that have other bytes afterwards.
    pub written: Vec<String>,
    /// `res://` paths at which nothing is afterwards.
    pub gone: Vec<String>,
}

impl Touched {
    /// The files of these changes.
    pub fn by(changes: &[Change]) -> Self {
        let mut touched = Touched::default();
        for change in changes {
            match change {
                Change::Write { path, .. } | Change::Edit { path, .. } => {
                    touched.written.push(path.clone());
                }
                Change::Move { from: path, .. } | Change::Remove { path, .. } => {
                    touched.gone.push(path.clone());
                }
            }
        }
        touched
    }
}

/// Severity of a log line.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Level {
    /// Something broke.
    Error = 1,
    /// Something is odd.
    Warn = 2,
    /// Worth knowing.
    Info = 3,
    /// For whoever looks for a fault.
    Debug = 4,
}

/// The host during one call.
pub struct Ctx<'h> {
    host: HostRef<'h>,
    call: CallContext,
}

impl<'h> Ctx<'h> {
    /// Wraps the host of a call. Made by `export_pack!` and the test kit.
    ///
    /// # Errors
    /// `internal_error` when the host does not say where the call stands.
    #[doc(hidden)]
    pub fn new(host: HostRef<'h>) -> Result<Self, Refusal> {
        let call = request(&host, ops::CALL_CONTEXT, &Value::Null)?;
        Ok(Ctx { host, call })
    }

    /// The way in which this call answers.
    pub fn mode(&self) -> Mode {
        self.call.mode
    }

    /// The server's version.
    pub fn server_version(&self) -> &str {
        &self.call.server_version
    }

    /// The project.
    pub fn project(&self) -> Project<'_, 'h> {
        Project { root: ProjectRoot::canonical(self.call.project_root.clone()), ctx: self }
    }

    /// Asks the engine, within the host's own deadline.
    ///
    /// # Errors
    /// `not_connected` without an engine, and whatever the engine refuses.
    pub fn bridge_call(&self, method: &str, params: impl Serialize) -> Result<Value, Refusal> {
        self.bridge_call_within(method, params, Duration::ZERO)
    }

    /// Asks the engine within `limit`; zero is the host's own deadline.
    ///
    /// # Errors
    /// As [`Ctx::bridge_call`].
    pub fn bridge_call_within(
        &self,
        method: &str,
        params: impl Serialize,
        limit: Duration,
    ) -> Result<Value, Refusal> {
        let params = to_json(&params)?;
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        read(self.host.bridge_call(method.into(), params.as_slice().into(), limit_ms))
    }

    /// The engine that the host found: `GODOT_BIN`, `GODOT_PATH`, then known names.
    ///
    /// # Errors
    /// `engine_unavailable`, naming what was rejected.
    pub fn engine(&self) -> Result<EngineInfo, Refusal> {
        self.request(ops::ENGINE_FIND, &Value::Null)
    }

    /// Runs a child to its end or its time limit. A cancelled call kills it with everything under it.
    ///
    /// # Errors
    /// `engine_unavailable` or `toolchain_unavailable` when it can't be started; `cancelled`.
    pub fn run_child(&self, spec: &ChildSpec) -> Result<ChildReport, Refusal> {
        self.request(ops::CHILD_RUN, spec)
    }

    /// Starts a game of its own and waits for its session.
    ///
    /// # Errors
    /// `engine_unavailable`, `toolchain_unavailable`, `cancelled`, and what attaching its session gives.
    pub fn start_game(&self, spec: &GameSpec) -> Result<GameStarted, Refusal> {
        self.request(ops::GAME_START, spec)
    }

    /// Calls a method of a game that this call started.
    ///
    /// # Errors
    /// The game's refusal, or a failure on the way to it.
    pub fn call_game(&self, call: &GameCall) -> Result<Value, Refusal> {
        self.request(ops::GAME_CALL, call)
    }

    /// Asks a game that this call started to end; one that does not is killed.
    ///
    /// # Errors
    /// `not_found` for a game of another call.
    pub fn end_game(&self, session_id: &str, wait_ms: u64) -> Result<GameEnded, Refusal> {
        self.request(ops::GAME_END, &GameEnd { session_id: session_id.into(), wait_ms })
    }

    /// A folder outside of the project that is there until the call ends; for copies that are only checked.
    ///
    /// # Errors
    /// `internal_error` when the system has no room for it.
    pub fn scratch_folder(&self) -> Result<PathBuf, Refusal> {
        self.request(ops::SCRATCH_FOLDER, &Value::Null)
    }

    /// Keeps the record of a run, the server's own file: a tool that only reads the project may, too.
    ///
    /// # Errors
    /// `invalid_arguments` for a name or document past its bounds, `forbidden` when it can't be written.
    pub fn write_record(&self, name: &str, document: Value) -> Result<String, Refusal> {
        let record = RunRecord { name: name.into(), document };
        self.request(ops::RECORD_WRITE, &record)
    }

    /// An entry of the project's change journal, as it was recorded: `tool`, `undo` and what else it says.
    ///
    /// # Errors
    /// `journal_entry_not_found`, `journal_unreadable`, `journal_format_newer`.
    pub fn journal_entry(&self, id: &str) -> Result<Value, Refusal> {
        self.request(ops::JOURNAL_ENTRY, &id)
    }

    /// Tells a waiting client how far the work is. `total` 0 means that it is not known.
    pub fn progress(&self, done: u64, total: u64, note: &str) {
        self.host.progress(done, total, note.into());
    }

    /// Writes a line to the host's log.
    pub fn log(&self, level: Level, text: &str) {
        self.host.log(level as u32, text.into());
    }

    /// Whether the caller has given up.
    pub fn cancelled(&self) -> bool {
        self.host.cancelled()
    }

    /// Ends the handler when the caller has given up: `ctx.check()?` in every long loop.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.cancelled() {
            return Ok(());
        }
        Err(Refusal::new(codes::CANCELLED, "the caller gave up, and the work was stopped")
            .retry_after_ms(0))
    }

    /// Whether the call runs as a job, so that it may take longer than a caller waits.
    pub fn is_job(&self) -> bool {
        self.call.job
    }

    /// Waits between two looks at work that goes on elsewhere.
    ///
    /// # Errors
    /// `cancelled`, before the wait and after it.
    pub fn pause(&self, span: Duration) -> Result<(), Refusal> {
        self.check()?;
        std::thread::sleep(span);
        self.check()
    }

    /// The runtime session that serves the call, or that its caller named; 32 hex digits.
    pub fn runtime_session_id(&self) -> Option<String> {
        self.call.runtime_session_id.clone()
    }

    /// Calls a bridge method with the tool's own arguments, and answers what the engine said.
    ///
    /// # Errors
    /// As [`Ctx::bridge_call`].
    pub fn answer_of_engine(&self, method: &str, params: impl Serialize) -> ToolResult {
        Answer::of_engine(self.bridge_call(method, params)?)
    }

    /// What the preview of this very call handed on with [`crate::outcome::Target::planned`]. `None` in a preview,
    /// without one, and with a host before 1.1: the run then works it out itself. The files may have changed since,
    /// so what is written has to expect them as the plan read them.
    ///
    /// # Errors
    /// `internal_error` for a plan of another shape.
    pub fn plan<T: DeserializeOwned>(&self) -> Result<Option<T>, Refusal> {
        let unread = |error| fault(&format!("the plan of the preview can't be read: {error}"));
        let read = |plan: &RawValue| serde_json::from_str(plan.get()).map_err(unread);
        self.call.plan.as_deref().map(read).transpose()
    }

    /// Milliseconds since 1970 by the host's clock. The only clock that a pack may use.
    pub fn now_ms(&self) -> u64 {
        self.host.clock_ms()
    }

    /// Adds binary content, such as an image, to the answer. The host encodes and limits it.
    ///
    /// # Errors
    /// `response_too_large`.
    pub fn attach(&self, mime: &str, data: &[u8]) -> Result<(), Refusal> {
        done(&self.host.attach(mime.into(), data.into()))
    }

    /// Asks for a host operation by name; see [`ops`].
    ///
    /// # Errors
    /// Whatever the host refuses; `internal_error` when it does not know the operation.
    pub fn request<T: DeserializeOwned>(
        &self,
        op: &str,
        payload: &impl Serialize,
    ) -> Result<T, Refusal> {
        request(&self.host, op, payload)
    }
}

/// The project of a call.
pub struct Project<'c, 'h> {
    root: ProjectRoot,
    ctx: &'c Ctx<'h>,
}

impl Project<'_, '_> {
    /// The folder, for reading below it.
    pub fn root(&self) -> &ProjectRoot {
        &self.root
    }

    /// Resolves a `res://` path, contained and in the letters of the disk.
    ///
    /// # Errors
    /// `invalid_arguments` naming `field`.
    pub fn resolve(&self, path: &str, field: &str) -> Result<ProjectPath, Refusal> {
        self.root.resolve(path).map_err(|fault| fault.refusal(field))
    }

    /// Reads a whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// `not_found`, `forbidden`, `file_too_large`, each naming the path.
    pub fn read(&self, path: &ProjectPath, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
        path.read(max_bytes)
    }

    /// Replaces or makes a file in one step and answers what the disk then holds.
    ///
    /// # Errors
    /// `already_exists`, `conflict`, `project_file_busy`, `forbidden`.
    pub fn write(
        &self,
        path: &ProjectPath,
        data: &[u8],
        expect: Expect,
    ) -> Result<Written, Refusal> {
        let options = to_json(&WriteOptions { expect })?;
        let path = path.res_path();
        read(self.ctx.host.write_file(path.as_str().into(), data.into(), options.as_slice().into()))
    }

    /// Changes several files in one pass: everything is compared and prepared first, then renamed into place.
    ///
    /// Each file is whole at any moment, old or new. A step that fails takes the finished ones back. The
    /// answers are in the order of the changes; that of a removed file has no bytes.
    ///
    /// # Errors
    /// `already_exists`, `conflict`, `not_found`, `project_file_busy`, `forbidden`; nothing is then changed.
    pub fn apply(&self, changes: &[Change]) -> Result<Vec<Written>, Refusal> {
        self.ctx.request(ops::PROJECT_APPLY, &changes)
    }

    /// Looks whether an editor that has the project open leaves these files free, as [`Project::apply`] does: for
    /// previews. What the caller's `discard_unsaved` says is heard by the host.
    ///
    /// # Errors
    /// `unsaved_changes`, `dirty_state_unavailable`; `conflict` for a scene that would leave its open tab.
    pub fn check_editor(&self, touched: &Touched) -> Result<(), Refusal> {
        self.ctx.request(ops::EDITOR_CHECK, touched)
    }
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(value).map_err(|error| fault(&error.to_string()))
}

fn request<T: DeserializeOwned>(
    host: &HostRef<'_>,
    op: &str,
    payload: &impl Serialize,
) -> Result<T, Refusal> {
    let payload = to_json(payload)?;
    let reply = host.request(op.into(), payload.as_slice().into());
    if reply.code == code::UNKNOWN_OP {
        return Err(fault(&format!("this host does not know the operation `{op}`")));
    }
    read(reply)
}

fn read<T: DeserializeOwned>(reply: Reply) -> Result<T, Refusal> {
    done(&reply)?;
    serde_json::from_slice(&reply.body)
        .map_err(|error| fault(&format!("the host's answer can't be read: {error}")))
}

fn done(reply: &Reply) -> Result<(), Refusal> {
    match reply.code {
        code::OK => Ok(()),
        code::REFUSED => Err(serde_json::from_slice(&reply.body)
            .unwrap_or_else(|error| fault(&format!("the host's refusal can't be read: {error}")))),
        _ => Err(fault(&String::from_utf8_lossy(&reply.body))),
    }
}
