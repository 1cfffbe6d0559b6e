//! The host as one call of a pack sees it.
//!
//! A value lives as long as the call. What a tool may do is held here, whatever the pack tries: a preview or a
//! read writes nothing and starts nothing that it did not declare, a bridge method outside the declaration is
//! not reached, and no panic of the host crosses into the pack.
//!
//! Spec: P-33, services of the host.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use abi_stable::{
    sabi_trait::TD_Opaque,
    sabi_types::RRef,
    std_types::{RSlice, RStr},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_plugin_api::{
    abi::{HostRef, HostV1, HostV1_TO, Reply, code},
    ctx::{CallContext, Change, ChildReport, ChildSpec, Touched, ops},
    desc::{Mode, ToolDesc},
    pipeline::Request,
    refusal::{Code, Refusal, codes},
};
use didi_wire::{
    QUIET_ENGINE_VAR, SessionKind, UNDO_GROUP_PARAM,
    methods::{self, Effect, Lookup},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use tempfile::TempDir;

use crate::{
    answer::Live,
    bridge::{self, Routes, route::Answered},
    cancel::Cancel,
    child,
    dispatch::route::{Route, SESSION_FIELD},
    engine::Engines,
    files::{ProjectFiles, WriteRecord},
    journal::Journal,
    pipeline::client::find::Places,
    recovery::Recovery,
    source,
};

mod behind;
mod games;
mod pipeline;

/// Largest attachment of one answer, in bytes before encoding.
pub const MAX_ATTACHMENT_BYTES: usize = 16 * 1024 * 1024;

/// Longest time that a child may be given.
pub const MAX_CHILD_LIMIT: Duration = Duration::from_secs(900);

/// Most output that is kept of a child, in bytes.
pub const MAX_CHILD_OUTPUT_BYTES: usize = 8 * 1024 * 1024;

/// Operations of the growth point, by which a pack's `needs` are checked.
pub const OPERATIONS: [&str; 12] = [
    ops::CALL_CONTEXT,
    ops::ENGINE_FIND,
    ops::CHILD_RUN,
    ops::PROJECT_APPLY,
    ops::EDITOR_CHECK,
    ops::RECORD_WRITE,
    ops::SCRATCH_FOLDER,
    ops::GAME_START,
    ops::GAME_CALL,
    ops::GAME_END,
    ops::PIPELINE_INSTANCES,
    ops::PIPELINE_REQUEST,
];

/// What all calls share.
#[derive(Clone)]
pub struct Shared {
    /// The project's files.
    pub files: ProjectFiles,
    /// The engine on this machine.
    pub engines: Arc<Engines>,
    /// The engines that this process is attached to.
    pub routes: Arc<Routes>,
    /// The editor of the server's own, if it has one.
    pub recovery: Option<Arc<Recovery>>,
    /// Where instances of the Pipeline are looked for.
    pub pipelines: Arc<Places>,
}

/// Takes progress notes.
pub type Progress = Arc<dyn Fn(u64, u64, &str) + Send + Sync>;

/// A binary part of an answer.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// MIME type.
    pub mime: String,
    /// The bytes.
    pub data: Vec<u8>,
}

/// The services of one call.
pub struct Services {
    shared: Shared,
    mode: Mode,
    may_write: bool,
    /// Whether it may start what reaches beyond the project.
    may_run: bool,
    previews: bool,
    job: bool,
    label: String,
    cancel: Cancel,
    progress: Option<Progress>,
    /// The engine that serves, and the methods of it that the call may reach.
    engine: Option<Arc<bridge::Route>>,
    methods: Vec<String>,
    session: Option<String>,
    plan: Option<Box<RawValue>>,
    caller: FileCaller,
    undo_group: Option<String>,
    done: Mutex<Done>,
    games: Mutex<BTreeMap<String, games::Game>>,
    scratch: Mutex<Option<TempDir>>,
}

/// What the caller of a tool that writes files said of an editor beside them.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileCaller {
    /// A request names its session or has none, so that no other is attached for it.
    pub modern: bool,
    /// The tool takes `discard_unsaved`.
    pub may_discard: bool,
    /// It is set: a tab's unsaved changes may be lost.
    pub discard_unsaved: bool,
}

/// What a call did beside its answer.
#[derive(Default)]
pub struct Done {
    /// Files written, in order.
    pub writes: Vec<WriteRecord>,
    /// Whether they were written in passes of several.
    pub several: bool,
    /// Whether files have left their places.
    pub moved: bool,
    /// Binary parts of the answer.
    pub attachments: Vec<Attachment>,
    /// What calls over the bridge left.
    pub live: Live,
    /// The steps that the editor's undo histories gained, as the editor told them.
    pub undo_steps: Vec<Value>,
}

impl Services {
    /// Services for running or previewing a tool.
    pub fn new(
        shared: &Shared,
        tool: &ToolDesc,
        mode: Mode,
        preview: bool,
        cancel: &Cancel,
        progress: Option<Progress>,
    ) -> Self {
        Services {
            may_write: tool.effects.mutates_project && !preview,
            may_run: tool.effects.mutates_project && tool.effects.open_world && !preview,
            previews: preview,
            progress,
            methods: tool.bridge_methods.clone(),
            ..Self::of(shared, &tool.name, mode, cancel)
        }
    }

    /// Services for reading a resource.
    pub fn for_resource(shared: &Shared, uri: &str, mode: Mode, cancel: &Cancel) -> Self {
        Self::of(shared, uri, mode, cancel)
    }

    /// Services that read only, for whoever is called so in the log.
    fn of(shared: &Shared, label: &str, mode: Mode, cancel: &Cancel) -> Self {
        Services {
            shared: shared.clone(),
            mode,
            may_write: false,
            may_run: false,
            previews: true,
            job: false,
            label: label.to_owned(),
            cancel: cancel.clone(),
            progress: None,
            engine: None,
            methods: vec![],
            session: None,
            plan: None,
            undo_group: None,
            caller: FileCaller::default(),
            done: Mutex::default(),
            games: Mutex::default(),
            scratch: Mutex::default(),
        }
    }

    /// The same, served by a route; `named` is the session that the caller named.
    #[must_use]
    pub fn over(mut self, route: &Route, named: Option<&str>) -> Self {
        self.session = route.session().or_else(|| named.map(str::to_owned));
        self.engine = route.engine().cloned();
        self
    }

    /// The same, for a call that runs as a job.
    #[must_use]
    pub fn as_job(mut self, job: bool) -> Self {
        self.job = job;
        self
    }

    /// The same, for a caller who may have an editor open beside the files.
    #[must_use]
    pub fn beside(mut self, caller: FileCaller) -> Self {
        self.caller = caller;
        self
    }

    /// The same, for a change that shares a step of an editor's undo history with others.
    #[must_use]
    pub fn grouped(mut self, undo_group: Option<String>) -> Self {
        self.undo_group = undo_group;
        self
    }

    /// The same, with what the preview of the same call worked out.
    #[must_use]
    pub fn planned(mut self, plan: Option<Box<RawValue>>) -> Self {
        self.plan = plan;
        self
    }

    /// The same, with an engine and the methods of it that a resource may reach.
    #[must_use]
    pub fn reaching(mut self, engine: &Arc<bridge::Route>, methods: &[String]) -> Self {
        self.session = Some(engine.identity().session_id.to_string());
        self.engine = Some(Arc::clone(engine));
        self.methods = methods.to_vec();
        self
    }

    /// The services as they cross the boundary.
    pub fn as_host(&self) -> HostRef<'_> {
        HostV1_TO::from_ptr(RRef::new(self), TD_Opaque)
    }

    /// What the call did. An editor that has the project open reads what was written.
    pub fn into_done(self) -> Done {
        let mut done = std::mem::take(&mut *self.done());
        if !done.writes.is_empty()
            && let Some(editor) = self.editor_behind()
        {
            done.live.editor = editor.refresh(&self.shared.files, &done);
        }
        done
    }

    /// The editor that has the project open: the one that the caller named, or one that this process is attached to.
    fn editor_behind(&self) -> Option<behind::Behind<'_>> {
        let routes = &self.shared.routes;
        let editor = match &self.session {
            Some(session) => routes
                .named(session, SESSION_FIELD)
                .ok()
                .filter(|route| routes.is_own_editor(route)),
            None => routes.own_editor(!self.caller.modern),
        };
        let FileCaller { may_discard, discard_unsaved, .. } = self.caller;
        editor.map(|editor| behind::Behind {
            editor,
            discard_unsaved,
            may_discard,
            cancel: &self.cancel,
        })
    }

    /// Looks whether an editor leaves the files free. One that has ended meanwhile does.
    fn check_editor(&self, touched: &Touched) -> Result<(), Refusal> {
        if !behind::has_scene(touched) {
            return Ok(());
        }
        let Some(editor) = self.editor_behind() else { return Ok(()) };
        editor.check(touched).or_else(|refusal| match self.editor_behind() {
            Some(_) => Err(refusal),
            None => Ok(()),
        })
    }

    fn context(&self) -> CallContext {
        CallContext {
            project_root: self.shared.files.root().folder().to_owned(),
            mode: self.mode,
            server_version: env!("CARGO_PKG_VERSION").into(),
            runtime_session_id: self.session.clone(),
            job: self.job,
            plan: self.plan.clone(),
        }
    }

    /// Calls the engine. A method that was not declared is not reached, and a preview changes nothing.
    fn call_bridge(&self, method: &str, params: &[u8], limit_ms: u64) -> Reply {
        if !self.methods.iter().any(|declared| declared == method) {
            return fault(format!("`{}` does not declare `{method}` and called it", self.label));
        }
        let Some(engine) = &self.engine else {
            return answer::<Value>(Err(not_connected(&format!("`{method}`"))));
        };
        if self.previews && !is_read(method) {
            return fault(format!("`{}` tried to change the engine in a preview", self.label));
        }
        let mut params: Map<String, Value> = match serde_json::from_slice(params) {
            Ok(params) => params,
            Err(error) => {
                return fault(format!("the parameters of `{method}` are no object: {error}"));
            }
        };
        if let Some(group) = &self.undo_group
            && engine.kind() == SessionKind::Editor
            && !is_read(method)
        {
            params.insert(UNDO_GROUP_PARAM.into(), group.clone().into());
        }
        let limit = Duration::from_millis(limit_ms);
        answer(engine.call(method, &params, limit, &self.cancel).and_then(|it| self.take_in(it)))
    }

    /// Keeps what an engine said beside its result, and pictures as parts of the answer.
    fn take_in(&self, answered: Answered) -> Result<Value, Refusal> {
        let Answered { mut result, diagnostics, repeats } = answered;
        for image in take_pictures(&mut result) {
            let text = image["data"].as_str().unwrap_or_default();
            let mime = image["mime_type"].as_str().unwrap_or("image/png");
            let data = STANDARD.decode(text).map_err(|error| {
                let message = format!("the engine's picture can't be read: {error}");
                Refusal::new(codes::ENGINE_REFUSED, message)
                    .no_remedy("the extension sent something that is no picture")
            })?;
            self.attach(mime, data)?;
        }
        let mut done = self.done();
        done.live.diagnostics.extend(diagnostics);
        done.live.repeats += repeats;
        done.undo_steps.extend(take_undo_steps(&mut result));
        Ok(result)
    }

    fn attach(&self, mime: &str, data: Vec<u8>) -> Result<(), Refusal> {
        let mut done = self.done();
        let have: usize = done.attachments.iter().map(|one| one.data.len()).sum();
        if have + data.len() > MAX_ATTACHMENT_BYTES {
            let message = format!("the attachments exceed {MAX_ATTACHMENT_BYTES} bytes");
            return Err(Refusal::new(codes::RESPONSE_TOO_LARGE, message).field("arguments"));
        }
        done.attachments.push(Attachment { mime: mime.to_owned(), data });
        Ok(())
    }

    fn run_child(&self, spec: &ChildSpec) -> Result<ChildReport, Refusal> {
        let program = match &spec.program {
            Some(program) => program.clone(),
            None => self.shared.engines.find()?.executable,
        };
        let folder = self.child_folder(spec.folder.as_deref())?;
        let limit = Duration::from_millis(spec.timeout_ms).min(MAX_CHILD_LIMIT);
        let report = child::run(
            &child::Spec {
                program: &program,
                args: &spec.args,
                env: &errand(&spec.env),
                folder: &folder,
                limit,
                max_output_bytes: spec.max_output_bytes.min(MAX_CHILD_OUTPUT_BYTES),
                ends_with_us: true,
            },
            &self.cancel,
        )
        .map_err(|error| cannot_start(&program, &error))?;
        if self.cancel.is_raised() {
            return Err(cancelled());
        }
        Ok(report)
    }

    /// A child works in the project or in the call's scratch folder.
    fn child_folder(&self, asked: Option<&Path>) -> Result<PathBuf, Refusal> {
        let root = self.shared.files.root().folder();
        let Some(asked) = asked else { return Ok(root.to_owned()) };
        let real = asked.canonicalize().unwrap_or_else(|_| asked.to_owned());
        let scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = scratch.as_ref().and_then(|folder| folder.path().canonicalize().ok());
        if real.starts_with(root) || scratch.is_some_and(|folder| real.starts_with(folder)) {
            return Ok(real);
        }
        let message = format!(
            "`{}` is neither in the project nor in the call's scratch folder",
            asked.display()
        );
        Err(Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the tool's pack is at fault"))
    }

    /// The folder that goes with the call.
    fn scratch_folder(&self) -> Result<PathBuf, Refusal> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if scratch.is_none() {
            let made = tempfile::Builder::new().prefix("didi-scratch-").tempdir();
            *scratch = Some(made.map_err(|error| {
                Refusal::new(
                    codes::INTERNAL_ERROR,
                    format!("no scratch folder can be made: {error}"),
                )
                .no_remedy("the system has no room for temporary files")
            })?);
        }
        let path = scratch.as_ref().map(|folder| folder.path().to_owned()).unwrap_or_default();
        Ok(path.canonicalize().unwrap_or(path))
    }

    /// Games are started by tools that run something, and by no preview.
    fn game(&self, op: &str, payload: &[u8]) -> Reply {
        if !self.may_write {
            return fault(format!(
                "`{}` declares no running here and tried to start a game",
                self.label
            ));
        }
        match op {
            ops::GAME_START => ordered(payload, |spec| self.start_game(spec)),
            ops::GAME_CALL => ordered(payload, |call| self.call_game(call)),
            _ => ordered(payload, |end| self.end_game(end)),
        }
    }

    /// What may change something is asked by tools alone that declare it.
    fn pipeline(&self, payload: &[u8]) -> Reply {
        match serde_json::from_slice::<Request>(payload) {
            Ok(request) if self.may_ask(&request.question) => {
                answer(self.pipeline_request(&request))
            }
            Ok(_) => fault(format!(
                "`{}` declares no running here and tried to run something in an instance",
                self.label
            )),
            Err(error) => fault(format!("the request to an instance can't be read: {error}")),
        }
    }

    fn write_record(&self, record: &[u8]) -> Reply {
        if self.previews {
            return fault(format!(
                "`{}` tried to keep a record of a run that was none",
                self.label
            ));
        }
        match serde_json::from_slice(record) {
            Ok(record) => answer(self.shared.files.write_record(&record, &self.cancel)),
            Err(error) => fault(format!("the record can't be read: {error}")),
        }
    }

    fn apply(&self, changes: &[u8]) -> Reply {
        if !self.may_write {
            return fault(format!("`{}` declares no writing here and tried to write", self.label));
        }
        let changes: Vec<Change> = match serde_json::from_slice(changes) {
            Ok(changes) => changes,
            Err(error) => return fault(format!("the changes can't be read: {error}")),
        };
        let touched = Touched::by(&changes);
        let free = self.check_editor(&touched);
        let applied = free.and_then(|()| self.shared.files.apply(&changes, &self.cancel));
        answer(applied.map(|(written, records)| {
            let mut done = self.done();
            done.writes.extend(records);
            done.several = true;
            done.moved |= !touched.gone.is_empty();
            written
        }))
    }

    fn write(&self, path: &str, data: &[u8], options: &[u8]) -> Reply {
        if !self.may_write {
            return fault(format!("`{}` declares no writing here and tried to write", self.label));
        }
        let options = match serde_json::from_slice(options) {
            Ok(options) => options,
            Err(error) => return fault(format!("the options of a write can't be read: {error}")),
        };
        let touched = Touched { written: vec![path.to_owned()], gone: vec![] };
        let free = self.check_editor(&touched);
        let written =
            free.and_then(|()| self.shared.files.write(path, data, &options, &self.cancel));
        answer(written.map(|(written, record)| {
            if written.changed {
                self.done().writes.push(record);
            }
            written
        }))
    }

    fn done(&self) -> std::sync::MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_attachment(&self, mime: &str, data: &[u8]) -> Reply {
        match self.attach(mime, data.to_vec()) {
            Ok(()) => Reply::new(code::OK, Vec::new()),
            Err(refusal) => answer::<()>(Err(refusal)),
        }
    }
}

/// The environment of a child: an engine that is started to answer one question opens no session of its own,
/// unless the tool says that it is to be found.
fn errand(env: &[(String, String)]) -> Vec<(String, String)> {
    let mut env = env.to_vec();
    if !env.iter().any(|(name, _)| name == QUIET_ENGINE_VAR) {
        env.push((QUIET_ENGINE_VAR.into(), "1".into()));
    }
    env
}

fn cannot_start(program: &Path, error: &std::io::Error) -> Refusal {
    let message = format!("`{}` can't be started: {error}", program.display());
    Refusal::new(codes::TOOLCHAIN_UNAVAILABLE, message)
        .no_remedy("the program is missing or can't be run on this machine")
}

/// Reads an order to a game and carries it out.
fn ordered<T: DeserializeOwned, R: Serialize>(
    payload: &[u8],
    work: impl FnOnce(&T) -> Result<R, Refusal>,
) -> Reply {
    match serde_json::from_slice(payload) {
        Ok(order) => answer(work(&order)),
        Err(error) => fault(format!("the order to a game can't be read: {error}")),
    }
}

/// The refusal of work that its caller gave up.
pub fn cancelled() -> Refusal {
    Refusal::new(codes::CANCELLED, "the caller gave up, and the work was stopped").retry_after_ms(0)
}

/// The refusal of a live path while nothing is attached.
pub fn not_connected(what: &str) -> Refusal {
    const NO_ENGINE: Code = codes::NOT_CONNECTED;
    Refusal::new(NO_ENGINE, format!("{what} needs an attached engine, and none is attached"))
        .with("blocked_on", "no_live_session")
        .with("needs_live_engine", true)
        .next_call("runtime_list_sessions", "finds the engines that can be attached")
}

/// The picture of a result, or its pictures in their order.
fn take_pictures(result: &mut Value) -> Vec<Value> {
    let Some(members) = result.as_object_mut() else { return vec![] };
    let mut pictures: Vec<Value> = members.shift_remove("image").into_iter().collect();
    match members.shift_remove("images") {
        Some(Value::Array(several)) => pictures.extend(several),
        Some(other) => drop(members.insert("images".into(), other)),
        None => {}
    }
    pictures
}

/// The steps that a command gained stand beside its result; they are the journal's.
fn take_undo_steps(result: &mut Value) -> Vec<Value> {
    let steps = result.as_object_mut().and_then(|members| members.shift_remove("undo_steps"));
    match steps {
        Some(Value::Array(steps)) => steps,
        _ => vec![],
    }
}

fn is_read(method: &str) -> bool {
    matches!(methods::lookup(method), Lookup::Method(known) if known.effect == Effect::Reads)
}

fn answer<T: Serialize>(result: Result<T, Refusal>) -> Reply {
    let (code, body) = match result {
        Ok(value) => (code::OK, serde_json::to_vec(&value)),
        Err(refusal) => (code::REFUSED, serde_json::to_vec(&refusal)),
    };
    body.map_or_else(|error| fault(error.to_string()), |body| Reply::new(code, body))
}

fn fault(message: String) -> Reply {
    Reply::new(code::FAULT, message)
}

/// Runs a service so that a panic of the host does not cross into the pack.
fn guard(work: impl FnOnce() -> Reply) -> Reply {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| fault("the host panicked in a service; its log says where".into()))
}

fn quietly(work: impl FnOnce()) {
    // The hook has logged the panic; a lost note is all that it costs the pack.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

impl HostV1 for Services {
    fn bridge_call(&self, method: RStr<'_>, params: RSlice<'_, u8>, limit_ms: u64) -> Reply {
        guard(|| self.call_bridge(method.as_str(), params.as_slice(), limit_ms))
    }

    fn read_file(&self, path: RStr<'_>) -> Reply {
        guard(|| match self.shared.files.read(path.as_str()) {
            Ok(bytes) => Reply::new(code::OK, bytes),
            Err(refusal) => answer::<()>(Err(refusal)),
        })
    }

    fn write_file(&self, path: RStr<'_>, data: RSlice<'_, u8>, options: RSlice<'_, u8>) -> Reply {
        guard(|| self.write(path.as_str(), data.as_slice(), options.as_slice()))
    }

    fn attach(&self, mime: RStr<'_>, data: RSlice<'_, u8>) -> Reply {
        guard(|| self.keep_attachment(mime.as_str(), data.as_slice()))
    }

    fn progress(&self, done: u64, total: u64, note: RStr<'_>) {
        quietly(|| {
            if let Some(progress) = &self.progress {
                progress(done, total, note.as_str());
            }
        });
    }

    fn log(&self, level: u32, text: RStr<'_>) {
        quietly(|| match level {
            0 | 1 => tracing::error!(tool = %self.label, "{text}"),
            2 => tracing::warn!(tool = %self.label, "{text}"),
            3 => tracing::info!(tool = %self.label, "{text}"),
            _ => tracing::debug!(tool = %self.label, "{text}"),
        });
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_raised()
    }

    fn request(&self, op: RStr<'_>, payload: RSlice<'_, u8>) -> Reply {
        guard(|| match op.as_str() {
            ops::CALL_CONTEXT => answer(Ok(self.context())),
            ops::ENGINE_FIND => answer(self.shared.engines.find()),
            ops::PROJECT_APPLY => self.apply(payload.as_slice()),
            ops::EDITOR_CHECK => match serde_json::from_slice(payload.as_slice()) {
                Ok(touched) => answer(self.check_editor(&touched)),
                Err(error) => fault(format!("the touched files can't be read: {error}")),
            },
            ops::RECORD_WRITE => self.write_record(payload.as_slice()),
            ops::JOURNAL_ENTRY => match serde_json::from_slice::<String>(payload.as_slice()) {
                Ok(id) => answer(Journal::new(self.shared.files.clone()).entry(&id)),
                Err(error) => {
                    fault(format!("the name of a journal's entry can't be read: {error}"))
                }
            },
            ops::SCRATCH_FOLDER => answer(self.scratch_folder()),
            ops::GAME_START | ops::GAME_CALL | ops::GAME_END => self.game(op.as_str(), &payload),
            ops::PIPELINE_INSTANCES => answer(Ok(self.pipeline_instances())),
            ops::PIPELINE_REQUEST => self.pipeline(payload.as_slice()),
            ops::CHILD_RUN => match serde_json::from_slice(payload.as_slice()) {
                Ok(spec) => answer(self.run_child(&spec)),
                Err(error) => fault(format!("the child's description can't be read: {error}")),
            },
            _ => Reply::new(code::UNKNOWN_OP, Vec::new()),
        })
    }

    fn clock_ms(&self) -> u64 {
        source::now_ms()
    }
}
