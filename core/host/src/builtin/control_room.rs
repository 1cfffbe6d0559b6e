//! `didi_control_room`: the server's own state, for a person or a model that asks what is going on.
//!
//! Never a token, never an endpoint.
//!
//! Spec: P-19, the control room.

use std::{fs, path::Path, sync::Arc};

use didi_plugin_api::{desc::Profile, prelude::*};
use didi_wire::descriptor;

use super::State;
use crate::{
    catalog::{self, Catalog, current_mode},
    dispatch::Dispatcher,
    source,
};

/// Sessions that are listed.
const MAX_SESSIONS: usize = 50;
/// Tools that are listed.
const MAX_TOOLS: usize = 400;

const SECTIONS: [&str; 8] =
    ["server", "project", "surface", "facts", "tools", "sessions", "log", "journal"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Newest log records.
    #[serde(default = "default_log")]
    #[schemars(range(max = 500))]
    log_limit: usize,
}

fn default_log() -> usize {
    120
}

#[derive(Serialize, JsonSchema)]
struct Room {
    #[schemars(default)]
    captured_at: String,
    lights: Vec<Light>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface: Option<Surface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Vec<Fact>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<Vec<SessionRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected_session: Option<String>,
    #[schemars(default)]
    session_note: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Vec<LogRow>>,
    #[schemars(default)]
    log_available: usize,
    #[schemars(default)]
    log_returned: usize,
    #[schemars(default)]
    log_truncated: bool,
    #[schemars(default)]
    log_note: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<JournalFacts>,
}

#[derive(Serialize, JsonSchema)]
struct Light {
    name: &'static str,
    color: &'static str,
    reason: String,
}

#[derive(Serialize, JsonSchema)]
struct Server {
    name: &'static str,
    version: &'static str,
    started_at: String,
    confirmations_skipped: bool,
    tool_profile: &'static str,
    jobs_running: usize,
    jobs_kept: usize,
    packs: Vec<PackRow>,
}

#[derive(Serialize, JsonSchema)]
struct PackRow {
    file: String,
    state: String,
    tools: usize,
    reasons: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct ProjectFacts {
    root: String,
    name: String,
    addon_present: bool,
}

#[derive(Serialize, JsonSchema)]
struct Surface {
    canonical: usize,
    core: usize,
    legacy: usize,
    live: usize,
    resources: usize,
}

#[derive(Serialize, JsonSchema)]
struct Fact {
    label: &'static str,
    value: String,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    name: String,
    pack: String,
    mode: &'static str,
    mutates: bool,
}

/// A session of this project, without endpoint or token.
#[derive(Serialize, JsonSchema)]
struct SessionRow {
    session_id: String,
    kind: &'static str,
    pid: u32,
}

#[derive(Serialize, JsonSchema)]
struct LogRow {
    at: String,
    level: String,
    message: String,
}

#[derive(Serialize, JsonSchema)]
struct JournalFacts {
    status: String,
    total: u64,
}

/// The tool.
pub fn tool(state: &Arc<State>) -> Tool {
    let state = Arc::clone(state);
    Tool::new(
        "didi_control_room",
        "Reports the server's own state: lights, packs, tools, sessions, log. Use it when something seems off.",
        Effects::READS,
        move |_, args: Args| room(&state, &args),
    )
    .core()
    .modes(&[Mode::LocalStatus])
    .sections(&SECTIONS)
    .bounded("400 tool rows, 50 session rows, log_limit")
    .output::<Room>()
}

fn room(state: &State, args: &Args) -> ToolResult {
    let Some(dispatcher) = state.dispatcher() else {
        return Err(Refusal::new(codes::INTERNAL_ERROR, "the server is ending").floor());
    };
    let catalog = dispatcher.catalog();
    let (log, log_available) = state.log.newest(args.log_limit);
    let log_truncated = log.len() < log_available;
    let truncated = log_truncated || catalog.tools().len() > MAX_TOOLS;
    let journal = dispatcher.journal.read(None);
    let selected = state.routes.selected();
    let engine = selected.as_ref().map(|route| route.kind());
    let room = Room {
        captured_at: source::iso8601(source::now_ms()),
        lights: lights(state, &dispatcher, &catalog),
        server: Some(server(state, &dispatcher, &catalog)),
        project: Some(project(&dispatcher)),
        surface: Some(surface(&catalog)),
        facts: Some(facts(state, &dispatcher)),
        tools: Some(catalog.tools().iter().take(MAX_TOOLS).map(|tool| row(tool, engine)).collect()),
        sessions: Some(sessions(state)),
        selected_session: selected.map(|route| route.identity().session_id.to_string()),
        session_note: bridge(state).2,
        log_available,
        log_returned: log.len(),
        log_truncated,
        log_note: "records of this server, the newest last",
        log: Some(log.into_iter().map(|record| log_row(&record)).collect()),
        journal: Some(JournalFacts {
            status: journal["status"].as_str().unwrap_or_default().into(),
            total: journal["total"].as_u64().unwrap_or(0),
        }),
    };
    Ok(Answer::of(room)?.truncated(truncated))
}

fn lights(state: &State, dispatcher: &Dispatcher, catalog: &Catalog) -> Vec<Light> {
    let root = dispatcher.shared.files.root().folder();
    let refused = catalog.rows().iter().filter(|row| !row.reasons.is_empty()).count();
    let light = |name, color, reason: &str| Light { name, color, reason: reason.into() };
    vec![
        {
            let (name, color, reason) = bridge(state);
            light(name, color, &reason)
        },
        if !root.join("project.godot").is_file() {
            light("Project", "red", "project.godot is gone")
        } else if has_addon(root) {
            light("Project", "green", "project.godot and the addon are there")
        } else {
            light("Project", "amber", "the addon is not in the project; `didi setup` puts it there")
        },
        match refused {
            0 => light("Packs", "green", "every pack is served"),
            n => light("Packs", "amber", &format!("{n} pack files are refused or served in part")),
        },
        if state.facts.yolo {
            light("Safety", "red", "confirmations are skipped by a launch flag")
        } else if state.recovery.is_some() {
            light("Safety", "amber", "the server may end and start anew the editor that it owns")
        } else {
            light("Safety", "green", "confirmations are asked for")
        },
        if has_entries(&root.join(".didi/blackboard")) {
            light("Work", "green", "a board file is there")
        } else {
            light("Work", "amber", "no board was written yet")
        },
    ]
}

/// The light of the bridge: which engine is attached, or which one could be.
fn bridge(state: &State) -> (&'static str, &'static str, String) {
    let seen = state.routes.candidates().len();
    match state.routes.selected() {
        Some(route) if route.stop_requested() => {
            ("Bridge", "amber", "Game stopped: its engine was asked to end".into())
        }
        Some(route) => {
            let identity = route.identity();
            let who = format!("{} {} is attached", identity.kind.as_str(), identity.pid);
            ("Bridge", "green", who)
        }
        None if seen > 0 => {
            let runs = if seen == 1 {
                "engine of this project runs"
            } else {
                "engines of this project run"
            };
            ("Bridge", "amber", format!("{seen} {runs}, and none is selected"))
        }
        None => ("Bridge", "red", "no engine of this project runs, and none is attached".into()),
    }
}

fn sessions(state: &State) -> Vec<SessionRow> {
    let session = |identity: descriptor::Identity| SessionRow {
        session_id: identity.session_id.to_string(),
        kind: identity.kind.as_str(),
        pid: identity.pid,
    };
    state.routes.own_identities().into_iter().take(MAX_SESSIONS).map(session).collect()
}

fn has_addon(root: &Path) -> bool {
    root.join("addons/didi/didi.gdextension").is_file()
}

fn has_entries(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

fn profile(state: &State) -> &'static str {
    match state.facts.profile {
        Profile::Core => "core",
        Profile::Full => "full",
    }
}

fn server(state: &State, dispatcher: &Dispatcher, catalog: &Catalog) -> Server {
    let (jobs_running, jobs_kept) = dispatcher.jobs.counts();
    let packs = catalog.rows().iter().map(|row| PackRow {
        file: row.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        state: format!("{:?}", row.state).to_lowercase(),
        tools: row.tools.len(),
        reasons: row.reasons.iter().map(ToString::to_string).collect(),
    });
    Server {
        name: "didi",
        version: env!("CARGO_PKG_VERSION"),
        started_at: source::iso8601(state.started_ms),
        confirmations_skipped: state.facts.yolo,
        tool_profile: profile(state),
        jobs_running,
        jobs_kept,
        packs: packs.collect(),
    }
}

fn project(dispatcher: &Dispatcher) -> ProjectFacts {
    let root = dispatcher.shared.files.root().folder();
    let bytes = fs::read(root.join("project.godot")).unwrap_or_default();
    let name = didi_formats::config::ConfigFile::parse(&bytes).ok().and_then(|config| {
        config.text("application", "config/name").map(std::borrow::Cow::into_owned)
    });
    ProjectFacts {
        root: root.display().to_string(),
        name: name.unwrap_or_default(),
        addon_present: has_addon(root),
    }
}

fn surface(catalog: &Catalog) -> Surface {
    let tools = catalog.tools();
    let reserved = tools.iter().filter(|tool| tool.desc.is_reserved()).count();
    let older: usize = tools.iter().map(|tool| tool.desc.legacy_names.len()).sum();
    Surface {
        canonical: tools.len() - reserved,
        core: tools.iter().filter(|tool| tool.desc.profile == Profile::Core).count(),
        legacy: older + reserved,
        live: tools.iter().filter(|tool| tool.desc.modes.contains(&Mode::Live)).count(),
        resources: catalog.resources().len(),
    }
}

fn facts(state: &State, dispatcher: &Dispatcher) -> Vec<Fact> {
    let fact = |label, value: String| Fact { label, value };
    let uptime_s = source::now_ms().saturating_sub(state.started_ms) / 1000;
    let managed =
        state.recovery.as_ref().map(|recovery| fact("Managed editor", recovery.summary()));
    let mut facts = vec![
        fact("Project", dispatcher.shared.files.root().folder().display().to_string()),
        fact("Profile", profile(state).into()),
        fact("Confirmations", if state.facts.yolo { "skipped" } else { "asked for" }.into()),
        fact("Uptime", format!("{uptime_s} s")),
        fact("Session folder", state.routes.folder().path.display().to_string()),
    ];
    facts.extend(managed);
    facts
}

fn row(tool: &catalog::Tool, engine: Option<descriptor::SessionKind>) -> Row {
    Row {
        name: tool.desc.name.clone(),
        pack: tool.pack().into(),
        mode: current_mode(tool, engine),
        mutates: tool.desc.effects.mutates_project,
    }
}

fn log_row(record: &Value) -> LogRow {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    LogRow { at: text("at"), level: text("level"), message: text("message") }
}
