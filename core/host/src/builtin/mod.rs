//! Tools and resources that the host answers itself, declared and called as a pack's are.
//!
//! Spec: P-18, the host's own tools.

pub mod control_room;
pub mod recovery;
pub mod sessions;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use didi_plugin_api::{export::Opened, prelude::*};

use crate::{
    bridge::Routes, dispatch::Dispatcher, journal::Editor, log::LogRing, mcp::Facts,
    recovery::Recovery, source,
};

/// What the host's own tools look at.
pub struct State {
    /// What the process was started with.
    pub facts: Facts,
    /// The server's log.
    pub log: LogRing,
    /// The engines that are attached, and the folder where they publish themselves.
    pub routes: Arc<Routes>,
    /// Start of the process, in milliseconds since 1970.
    pub started_ms: u64,
    /// The editor of the server's own, if it has one.
    pub recovery: Option<Arc<Recovery>>,
    dispatcher: Mutex<Weak<Dispatcher>>,
}

impl State {
    /// A state that will know its dispatcher.
    pub fn new(
        facts: Facts,
        log: LogRing,
        routes: Arc<Routes>,
        recovery: Option<Arc<Recovery>>,
    ) -> Arc<Self> {
        Arc::new(State {
            facts,
            log,
            routes,
            started_ms: source::now_ms(),
            recovery,
            dispatcher: Mutex::default(),
        })
    }

    /// Introduces the dispatcher.
    pub fn introduce(&self, dispatcher: &Arc<Dispatcher>) {
        *self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner) =
            Arc::downgrade(dispatcher);
    }

    fn dispatcher(&self) -> Option<Arc<Dispatcher>> {
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

/// The host's own pack.
///
/// # Panics
/// Never: a descriptor of this crate's own declarations serialises.
pub fn open(state: &Arc<State>) -> Arc<Opened> {
    let mut tools = sessions::tools(state);
    tools.extend(recovery::tools(state));
    tools.push(control_room::tool(state));
    let opened = Opened::of("host", env!("CARGO_PKG_VERSION"), vec![], tools, resources(state));
    Arc::new(opened.expect("own declarations serialise"))
}

fn resources(state: &Arc<State>) -> Vec<Resource> {
    const LIVE_OR_FILES: [Mode; 2] = [Mode::Live, Mode::OfflineFallback];
    let journal = Arc::clone(state);
    vec![
        Resource::new(
            "godot://project/journal",
            "project-journal",
            "Changes made in this project by any server process, newest first.",
            move |ctx, _| match journal.dispatcher() {
                Some(dispatcher) => Answer::of(dispatcher.journal.read(judge(ctx)?.as_ref())),
                None => {
                    Answer::of(json!({"status": "unreadable", "reason": "the server is ending"}))
                }
            },
        )
        .modes(&LIVE_OR_FILES)
        .live(&[SessionKind::Editor], &[EDITOR_STATE]),
        Resource::new(
            "godot://editor/state",
            "editor-state",
            "What the attached editor has open.",
            editor_state,
        )
        .modes(&LIVE_OR_FILES)
        .live(&[SessionKind::Editor], &[EDITOR_STATE]),
        Resource::new(
            "godot://runtime/logs",
            "runtime-logs",
            "Structured log records of the attached engine.",
            runtime_logs,
        )
        .modes(&LIVE_OR_FILES)
        .live(&[SessionKind::Editor, SessionKind::Game], &[RUNTIME_LOGS]),
    ]
}

const EDITOR_STATE: &str = "editor.getState";
const RUNTIME_LOGS: &str = "runtime.getLogs";

/// The editor that judges the journal's entries; none without one.
fn judge(ctx: &Ctx<'_>) -> Result<Option<Editor>, Refusal> {
    let Some(session) = ctx.runtime_session_id().filter(|_| ctx.mode() == Mode::Live) else {
        return Ok(None);
    };
    let state = ctx.bridge_call(EDITOR_STATE, json!({}))?;
    let histories = state["undo_histories"].as_array().cloned().unwrap_or_default();
    Ok(Some(Editor { session, histories }))
}

fn editor_state(ctx: &Ctx<'_>, _: &str) -> ToolResult {
    if ctx.mode() == Mode::Live {
        return live(ctx.bridge_call(EDITOR_STATE, json!({}))?);
    }
    Answer::of(json!({
        "status": "no_editor",
        "editor_connected": false,
        "execution_mode": Mode::OfflineFallback,
        "is_live_engine": false,
        "message": "no editor is attached; runtime_list_sessions finds the ones that can be",
    }))
}

fn runtime_logs(ctx: &Ctx<'_>, _: &str) -> ToolResult {
    if ctx.mode() == Mode::Live {
        return live(ctx.bridge_call(RUNTIME_LOGS, json!({}))?);
    }
    Answer::of(json!({
        "records": [{
            "sequence": 1,
            "timestamp_ms": ctx.now_ms(),
            "level": "info",
            "source": "server",
            "message": "no engine is attached",
            "details": null,
        }],
        "oldest_cursor": 1,
        "next_cursor": 2,
        "dropped_before_cursor": 0,
        "execution_mode": Mode::OfflineFallback,
    }))
}

/// What an engine answered, with the way in which it did.
fn live(mut result: Value) -> ToolResult {
    if let Some(members) = result.as_object_mut() {
        members.insert("execution_mode".into(), json!(Mode::Live));
        members.insert("is_live_engine".into(), true.into());
    }
    Answer::of(result)
}
