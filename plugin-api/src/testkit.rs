//! A scripted host, so that a pack kept elsewhere can test itself without a server.
//!
//! [`Kit::open`] opens the pack as the loader would, checks every declaration with [`crate::lint`], and calls
//! tools over a real folder. Writes really happen, atomically; the engine and child processes are what the
//! test scripts.
//!
//! Spec: P-34, testing a pack.
#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test kit fails by panicking, and writes plain files into a temporary folder"
)]

mod engine;

pub use engine::{left_out, real_engine, run_for_real};

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use abi_stable::{
    sabi_trait::TD_Opaque,
    sabi_types::RRef,
    std_types::{RSlice, RStr},
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    abi::{HostV1, HostV1_TO, Reply, code, phase},
    ctx::{
        CallContext, Change, ChildReport, ChildSpec, EngineInfo, Expect, RunRecord, Splice,
        WriteOptions, Written, ops,
    },
    desc::{Confirmation, Mode, ResourceDesc, ToolDesc},
    digest::sha256_hex,
    export::Opened,
    lint,
    outcome::{Answer, Target},
    pipeline,
    project_path::ProjectRoot,
    refusal::{Refusal, codes},
    tool::ToolPack,
};

type Child = Box<dyn Fn(&ChildSpec) -> Result<ChildReport, Refusal> + Send + Sync>;
type Pipeline = Box<dyn Fn(&pipeline::Request) -> Result<pipeline::Reply, Refusal> + Send + Sync>;
type Bridge = Box<dyn Fn(&str, &Value) -> Result<Value, Refusal> + Send + Sync>;

/// A pack under test, over one project folder.
pub struct Kit {
    opened: Opened,
    tools: BTreeMap<String, (u32, ToolDesc)>,
    resources: Vec<ResourceDesc>,
    host: Scripted,
}

/// What the pack did to its host during the calls so far.
#[derive(Debug, Default, Clone)]
pub struct Record {
    /// Progress notes, as `(done, total, note)`.
    pub progress: Vec<(u64, u64, String)>,
    /// Log lines.
    pub log: Vec<String>,
    /// Paths written, in order.
    pub written: Vec<String>,
    /// Attachments, as `(mime, bytes)`.
    pub attached: Vec<(String, usize)>,
}

struct Scripted {
    root: ProjectRoot,
    mode: Mode,
    job: bool,
    plan: Mutex<Option<Box<RawValue>>>,
    engine: Option<EngineInfo>,
    child: Option<Child>,
    bridge: Option<Bridge>,
    instances: Vec<pipeline::Instance>,
    pipeline: Option<Pipeline>,
    cancelled: AtomicBool,
    now_ms: AtomicU64,
    record: Mutex<Record>,
    scratch: Mutex<Option<Scratch>>,
}

impl Kit {
    /// Opens `P` over a project folder and checks every declaration.
    ///
    /// # Panics
    /// When the pack does not open or a declaration breaks a rule of [`crate::lint`].
    pub fn open<P: ToolPack>(project: impl Into<PathBuf>) -> Self {
        let opened = Opened::new::<P>("pack-under-test", "0.0.0").unwrap();
        let desc: crate::desc::PackDesc = serde_json::from_slice(opened.descriptor()).unwrap();
        let mut tools = BTreeMap::new();
        for (entry, tool) in desc.tools.iter().enumerate() {
            let tool: ToolDesc = serde_json::from_str(tool.get()).unwrap();
            let found = lint::tool(&tool);
            assert!(found.is_empty(), "`{}`: {}", tool.name, found.join("; "));
            let entry = u32::try_from(entry).unwrap();
            let twice = tools.insert(tool.name.clone(), (entry, tool));
            assert!(twice.is_none(), "a tool is declared twice");
        }
        let resources =
            desc.resources.iter().map(|one| serde_json::from_str(one.get()).unwrap()).collect();
        let root = ProjectRoot::canonical(project.into().canonicalize().unwrap());
        let host = Scripted {
            root,
            mode: Mode::Local,
            job: false,
            plan: Mutex::default(),
            engine: None,
            child: None,
            bridge: None,
            instances: vec![],
            pipeline: None,
            cancelled: AtomicBool::new(false),
            now_ms: AtomicU64::new(1_700_000_000_000),
            record: Mutex::default(),
            scratch: Mutex::default(),
        };
        Kit { opened, tools, resources, host }
    }

    /// Answers in this mode from now on.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.host.mode = mode;
        self
    }

    /// Runs every call as a job from now on.
    #[must_use]
    pub fn jobs(mut self) -> Self {
        self.host.job = true;
        self
    }

    /// Scripts child processes; the engine is then found, under the given version.
    #[must_use]
    pub fn children(
        mut self,
        engine_version: &str,
        run: impl Fn(&ChildSpec) -> Result<ChildReport, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.host.engine =
            Some(EngineInfo { executable: "godot".into(), version: engine_version.into() });
        self.host.child = Some(Box::new(run));
        self
    }

    /// Runs children for real, with the engine of this machine; `None` where there is none.
    ///
    /// # Panics
    /// As [`real_engine`], and when the engine does not say its version.
    #[must_use]
    pub fn real_children(self) -> Option<Self> {
        let engine = real_engine()?;
        let said = std::process::Command::new(&engine).arg("--version").output().unwrap().stdout;
        let version = String::from_utf8_lossy(&said).trim().to_owned();
        let project = self.host.root.folder().to_owned();
        Some(self.children(&version, move |spec| run_for_real(&engine, &project, spec)))
    }

    /// Scripts the engine behind the bridge.
    #[must_use]
    pub fn bridge(
        mut self,
        answer: impl Fn(&str, &Value) -> Result<Value, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.host.bridge = Some(Box::new(answer));
        self
    }

    /// Scripts the instances of the Pipeline, and what they answer.
    #[must_use]
    pub fn pipeline(
        mut self,
        instances: Vec<pipeline::Instance>,
        answer: impl Fn(&pipeline::Request) -> Result<pipeline::Reply, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.host.instances = instances;
        self.host.pipeline = Some(Box::new(answer));
        self
    }

    /// Moves the host's clock.
    pub fn set_now_ms(&self, now_ms: u64) {
        self.host.now_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Gives up every call from now on.
    pub fn cancel(&self) {
        self.host.cancelled.store(true, Ordering::Relaxed);
    }

    /// The declarations, by name.
    pub fn tools(&self) -> impl Iterator<Item = &ToolDesc> {
        self.tools.values().map(|(_, desc)| desc)
    }

    /// What the pack did to its host so far.
    pub fn record(&self) -> Record {
        self.host.record.lock().unwrap().clone()
    }

    /// Runs a tool and answers its data.
    ///
    /// # Errors
    /// The tool's refusal; the kit checks that its code is declared and that it names a way out or a code
    /// that the host's floor knows.
    pub fn call(&self, tool: &str, args: &Value) -> Result<Value, Refusal> {
        self.answer(tool, args).map(|answer| serde_json::from_str(answer.data.get()).unwrap())
    }

    /// Runs a tool and answers with its facts.
    ///
    /// # Errors
    /// As [`Kit::call`].
    pub fn answer(&self, tool: &str, args: &Value) -> Result<Answer, Refusal> {
        let (entry, desc) = &self.tools[tool];
        // As the host does: what is always confirmed was previewed in the same call.
        if desc.confirmation == Confirmation::Always && desc.previews {
            *self.host.plan.lock().unwrap() =
                self.preview(tool, args).ok().and_then(|found| found.plan);
        }
        let result: Result<Answer, Refusal> = self.enter(*entry, phase::RUN, &to_vec(args));
        match &result {
            Ok(answer) => assert_eq!(
                answer.truncated.is_some(),
                desc.bound.is_some(),
                "`{tool}` has to say `truncated` exactly when it declares a bound"
            ),
            Err(refusal) => Self::check_refusal(desc, refusal),
        }
        result
    }

    fn check_refusal(desc: &ToolDesc, refusal: &Refusal) {
        let declared = desc.codes.contains(&refusal.code)
            || [codes::INVALID_ARGUMENTS, codes::INTERNAL_ERROR, codes::CANCELLED]
                .contains(&refusal.code);
        assert!(declared, "`{}` refuses with the undeclared code {:?}", desc.name, refusal.code);
    }

    /// Reads a tool's target.
    ///
    /// # Errors
    /// The tool's refusal.
    pub fn preview(&self, tool: &str, args: &Value) -> Result<Target, Refusal> {
        self.enter(self.tools[tool].0, phase::PREVIEW, &to_vec(args))
    }

    /// Reads a resource, by its declared URI and the value of the template's variable.
    ///
    /// # Errors
    /// The resource's refusal.
    pub fn read(&self, uri: &str, variable: &str) -> Result<Value, Refusal> {
        let entry = self.resources.iter().position(|one| one.uri == uri).unwrap();
        let entry = u32::try_from(entry).unwrap();
        let answer: Answer = self.enter(entry, phase::RESOURCE, variable.as_bytes())?;
        Ok(serde_json::from_str(answer.data.get()).unwrap())
    }

    fn enter<T: serde::de::DeserializeOwned>(
        &self,
        entry: u32,
        asked: u32,
        args: &[u8],
    ) -> Result<T, Refusal> {
        let host = HostV1_TO::from_ptr(RRef::new(&self.host), TD_Opaque);
        let reply = self.opened.call(entry, asked, args, host);
        match reply.code {
            code::OK => Ok(serde_json::from_slice(&reply.body).unwrap()),
            code::REFUSED => Err(serde_json::from_slice(&reply.body).unwrap()),
            other => panic!("reply {other}: {}", String::from_utf8_lossy(&reply.body)),
        }
    }
}

fn to_vec(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

fn reply<T: Serialize>(result: Result<T, Refusal>) -> Reply {
    match result {
        Ok(value) => Reply::new(code::OK, to_vec(&value)),
        Err(refusal) => Reply::new(code::REFUSED, to_vec(&refusal)),
    }
}

impl Scripted {
    fn write(&self, path: &str, data: &[u8], options: &WriteOptions) -> Result<Written, Refusal> {
        // Like the host's lock: comparing and replacing is one step for all kits of the process.
        static WRITES: Mutex<()> = Mutex::new(());
        let _one_at_a_time = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = self.root.resolve(path).map_err(|fault| fault.refusal("path"))?;
        let before = fs::read(place.real()).ok();
        let shown = place.res_path();
        compare(&shown, &options.expect, before.as_deref())?;
        fs::create_dir_all(place.real().parent().unwrap()).unwrap();
        let mut fresh = place.real().as_os_str().to_owned();
        fresh.push(".new");
        fs::write(&fresh, data).unwrap();
        fs::rename(&fresh, place.real()).unwrap();
        self.record.lock().unwrap().written.push(shown.clone());
        Ok(Written {
            path: shown,
            replaced: before.is_some(),
            changed: before.as_deref() != Some(data),
            size_bytes: data.len() as u64,
            sha256: sha256_hex(data),
        })
    }
}

impl Scripted {
    /// Applies changes one after the other, having compared them all first.
    fn apply(&self, changes: &[Change]) -> Result<Vec<Written>, Refusal> {
        let place = |path: &str| self.root.resolve(path).map_err(|fault| fault.refusal("path"));
        for change in changes {
            let (Change::Write { path, expect, .. }
            | Change::Edit { path, expect, .. }
            | Change::Move { from: path, expect, .. }
            | Change::Remove { path, expect }) = change;
            compare(
                &place(path)?.res_path(),
                expect,
                fs::read(place(path)?.real()).ok().as_deref(),
            )?;
        }
        changes.iter().map(|change| self.step(change)).collect()
    }

    fn step(&self, change: &Change) -> Result<Written, Refusal> {
        let place = |path: &str| self.root.resolve(path).map_err(|fault| fault.refusal("path"));
        let removed = |path: String| Written {
            path,
            replaced: true,
            changed: true,
            size_bytes: 0,
            sha256: sha256_hex(b""),
        };
        match change {
            Change::Write { path, text, expect } => {
                self.write(path, text.as_bytes(), &WriteOptions { expect: expect.clone() })
            }
            Change::Edit { path, splices, expect } => {
                let before = fs::read(place(path)?.real()).unwrap();
                let after = Splice::apply(splices, &before).expect("the splices fit the file");
                self.write(path, &after, &WriteOptions { expect: expect.clone() })
            }
            Change::Move { from, to, .. } => {
                let bytes = fs::read(place(from)?.real()).unwrap();
                fs::remove_file(place(from)?.real()).unwrap();
                self.write(to, &bytes, &WriteOptions { expect: Expect::Absent })
            }
            Change::Remove { path, .. } => {
                fs::remove_file(place(path)?.real()).unwrap();
                Ok(removed(place(path)?.res_path()))
            }
        }
    }

    fn scratch(&self) -> PathBuf {
        let mut scratch = self.scratch.lock().unwrap();
        scratch.get_or_insert_with(Scratch::make).0.clone()
    }
}

/// A folder that goes with the kit.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("didi-kit-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder.canonicalize().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn compare(shown: &str, expect: &Expect, have: Option<&[u8]>) -> Result<(), Refusal> {
    let conflict = |what: &str| {
        Err(Refusal::new(codes::CONFLICT, format!("`{shown}` {what}")).retry_after_ms(0))
    };
    match (expect, have) {
        (Expect::Absent, Some(_)) => {
            Err(Refusal::new(codes::ALREADY_EXISTS, format!("`{shown}` exists")).floor())
        }
        (Expect::Sha256(want), Some(have)) if *want != sha256_hex(have) => conflict("changed"),
        (Expect::Sha256(_), None) => conflict("is gone"),
        _ => Ok(()),
    }
}

impl HostV1 for Scripted {
    fn bridge_call(&self, method: RStr<'_>, params: RSlice<'_, u8>, _: u64) -> Reply {
        let Some(bridge) = &self.bridge else {
            let refusal = Refusal::new(codes::NOT_CONNECTED, "no engine is attached").floor();
            return reply::<Value>(Err(refusal));
        };
        let params = serde_json::from_slice(params.as_slice()).unwrap();
        reply(bridge(method.as_str(), &params))
    }

    fn read_file(&self, path: RStr<'_>) -> Reply {
        let read = self
            .root
            .resolve(path.as_str())
            .map_err(|fault| fault.refusal("path"))
            .and_then(|path| path.read(u64::MAX - 1));
        match read {
            Ok(bytes) => Reply::new(code::OK, bytes),
            Err(refusal) => reply::<Value>(Err(refusal)),
        }
    }

    fn write_file(&self, path: RStr<'_>, data: RSlice<'_, u8>, options: RSlice<'_, u8>) -> Reply {
        let options = serde_json::from_slice(options.as_slice()).unwrap();
        reply(self.write(path.as_str(), data.as_slice(), &options))
    }

    fn attach(&self, mime: RStr<'_>, data: RSlice<'_, u8>) -> Reply {
        self.record.lock().unwrap().attached.push((mime.to_string(), data.len()));
        Reply::new(code::OK, Vec::new())
    }

    fn progress(&self, done: u64, total: u64, note: RStr<'_>) {
        self.record.lock().unwrap().progress.push((done, total, note.to_string()));
    }

    fn log(&self, _: u32, text: RStr<'_>) {
        self.record.lock().unwrap().log.push(text.to_string());
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn request(&self, op: RStr<'_>, payload: RSlice<'_, u8>) -> Reply {
        match op.as_str() {
            ops::CALL_CONTEXT => reply(Ok(CallContext {
                project_root: self.root.folder().to_owned(),
                mode: self.mode,
                server_version: env!("CARGO_PKG_VERSION").into(),
                runtime_session_id: None,
                job: self.job,
                plan: self.plan.lock().unwrap().take(),
            })),
            // No editor is attached.
            ops::EDITOR_CHECK => reply(Ok(())),
            ops::ENGINE_FIND => reply(self.engine.clone().ok_or_else(|| {
                Refusal::new(codes::ENGINE_UNAVAILABLE, "no engine was scripted").floor()
            })),
            ops::RECORD_WRITE => {
                let record: RunRecord = serde_json::from_slice(payload.as_slice()).unwrap();
                let path = format!("res://.didi/scenarios/{}.json", record.name);
                let options = WriteOptions { expect: Expect::Anything };
                reply(self.write(&path, &to_vec(&record.document), &options).map(|done| done.path))
            }
            ops::SCRATCH_FOLDER => reply(Ok(self.scratch())),
            ops::PROJECT_APPLY => {
                let changes: Vec<Change> = serde_json::from_slice(payload.as_slice()).unwrap();
                reply(self.apply(&changes))
            }
            ops::PIPELINE_INSTANCES => reply(Ok(self.instances.clone())),
            ops::PIPELINE_REQUEST => {
                let request = serde_json::from_slice(payload.as_slice()).unwrap();
                let answer = self.pipeline.as_ref().expect("the test scripts instances");
                reply(answer(&request))
            }
            ops::CHILD_RUN => {
                let spec = serde_json::from_slice(payload.as_slice()).unwrap();
                let run = self.child.as_ref().expect("the test scripts child processes");
                reply(run(&spec))
            }
            _ => Reply::new(code::UNKNOWN_OP, Vec::new()),
        }
    }

    fn clock_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
