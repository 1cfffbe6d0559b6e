//! Runtime sessions: which engines can be attached, and which one is.
//!
//! Never a token. What a route is and when one is taken by itself is `bridge::routes`.
//!
//! Spec: P-9, routes.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use didi_plugin_api::prelude::*;
use didi_wire::{
    descriptor::Identity,
    discovery::{self, Diagnostic, Scan},
};
use schemars::{Schema, SchemaGenerator, json_schema};

use super::State;
use crate::{
    answer::floor::gate_codes::RATE_LIMITED,
    bridge::{Route, routes::Foreign},
    cancel::Cancel,
    dispatch::route::SESSION_FIELD,
    services::not_connected,
};

/// The session's engine has another project open.
const FOREIGN_PROJECT_SESSION: Code = Code::new(409, "foreign_project_session");
/// Another client holds the session.
const REQUEST_FAILED: Code = Code::new(423, "request_failed");
/// The engine at the endpoint is another than its descriptor tells of.
const PROTOCOL_VERSION_REJECTED: Code = Code::new(409, "protocol_version_rejected");

/// Sessions that one answer lists.
const MAX_LISTED: usize = 256;

const CHANGES_ROUTE: Effects = Effects { changes_server: true, ..Effects::READS };

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Only sessions of this project folder.
    #[schemars(length(max = 4096))]
    project_path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    #[schemars(schema_with = "objects")]
    sessions: Vec<Session>,
    #[schemars(default, schema_with = "objects")]
    diagnostics: Vec<Shown>,
    #[schemars(default)]
    descriptor_directory: String,
}

/// A public descriptor; it never has a token.
#[derive(Serialize)]
struct Session {
    #[serde(flatten)]
    identity: Identity,
    alive: bool,
    stale: bool,
    /// Whether the engine has this server's project open.
    own_project: bool,
    /// Whether it is the one that serves calls which name none.
    selected: bool,
}

/// A file of the folder that is not served, and why.
#[derive(Serialize)]
struct Shown {
    file: String,
    code: &'static str,
    message: String,
}

/// Objects whose members are the session's own; spelling them out would cost every list its bytes.
fn objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "object"}})
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AttachArgs {
    /// From the session list.
    #[schemars(length(min = 32, max = 32), regex(pattern = "^[0-9a-f]{32}$"))]
    session_id: String,
    /// Also a session of another project.
    #[serde(default)]
    allow_foreign_project: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Serialize)]
struct Attached {
    connected: bool,
    session: Identity,
    handshake: Value,
    server_build_id: &'static str,
    bridge_build_matches: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bridge_build_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_mismatch: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_requested: Option<bool>,
    server_project_root: String,
}

#[derive(Serialize, JsonSchema)]
#[allow(clippy::struct_field_names, reason = "published names")]
struct Detached {
    detached: bool,
    connected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "Value")]
    detached_session: Option<Identity>,
}

/// The four session tools.
pub fn tools(state: &Arc<State>) -> Vec<Tool> {
    const MANAGEMENT: [Mode; 1] = [Mode::LocalSessionManagement];
    let of = || Arc::clone(state);
    let (listing, attaching, detaching, asking) = (of(), of(), of(), of());
    vec![
        Tool::new(
            "runtime_list_sessions",
            "Lists the running Godot editors and games that can be attached. Call it before attaching.",
            Effects::READS,
            move |_, args: ListArgs| list(&listing, &args),
        )
        .core()
        .modes(&MANAGEMENT)
        .output::<Listed>()
        .refuses(&[codes::FORBIDDEN]),
        Tool::new(
            "runtime_attach_session",
            "Attaches one listed session, so that live tools work in that engine.",
            CHANGES_ROUTE,
            move |_, args: AttachArgs| attach(&attaching, &args),
        )
        .core()
        .modes(&MANAGEMENT)
        .refuses(&[
            codes::NOT_FOUND,
            FOREIGN_PROJECT_SESSION,
            REQUEST_FAILED,
            RATE_LIMITED,
            PROTOCOL_VERSION_REJECTED,
        ]),
        Tool::new(
            "runtime_detach_session",
            "Lets the attached engine go. A success when none is attached, too.",
            CHANGES_ROUTE,
            move |_, _: NoArgs| {
                let before = detaching.routes.detach();
                let detached_session = before.as_ref().map(|route| route.identity().clone());
                Answer::of(Detached { detached: before.is_some(), connected: false, detached_session })
            },
        )
        .core()
        .modes(&MANAGEMENT)
        .output::<Detached>(),
        Tool::new(
            "runtime_get_session",
            "Asks the attached engine anew who it is.",
            Effects::READS,
            move |ctx, _: NoArgs| ask(&asking, ctx),
        )
        .core()
        .modes(&MANAGEMENT)
        .refuses(&[codes::NOT_CONNECTED, PROTOCOL_VERSION_REJECTED]),
    ]
}

fn list(state: &State, args: &ListArgs) -> ToolResult {
    let scan = state.routes.scan()?;
    sweep(state, &scan);
    let Scan { sessions, stale, diagnostics } = scan;
    let selected = state.routes.selected().map(|route| route.identity().session_id);
    let wanted = args.project_path.as_ref().map(|path| canonical(path));
    let sessions = sessions
        .into_iter()
        .map(|one| (one.identity, false))
        .chain(stale.into_iter().map(|one| (one.identity, true)))
        .filter(|(identity, _)| {
            wanted.as_ref().is_none_or(|path| path == Path::new(&identity.project_path))
        })
        .take(MAX_LISTED)
        .map(|(identity, stale)| Session {
            alive: !stale,
            stale,
            own_project: state.routes.is_own(&identity),
            selected: selected == Some(identity.session_id),
            identity,
        });
    Answer::of(Listed {
        sessions: sessions.collect(),
        diagnostics: diagnostics.into_iter().take(MAX_LISTED).map(shown).collect(),
        descriptor_directory: state.routes.folder().path.display().to_string(),
    })
}

/// Takes away what ended engines left; the list that is being made still shows it.
fn sweep(state: &State, scan: &Scan) {
    match discovery::sweep(state.routes.folder(), scan) {
        Ok(swept) => tracing::debug!(?swept, "the session folder was tidied"),
        Err(fault) => tracing::debug!("the session folder was not tidied: {fault}"),
    }
}

fn canonical(path: &str) -> PathBuf {
    let path = PathBuf::from(path);
    path.canonicalize().unwrap_or(path)
}

fn shown(diagnostic: Diagnostic) -> Shown {
    let Diagnostic { file, code, message } = diagnostic;
    Shown { file, code: code.as_str(), message }
}

fn attach(state: &State, args: &AttachArgs) -> ToolResult {
    let foreign = if args.allow_foreign_project { Foreign::Allowed } else { Foreign::Refused };
    let route = state.routes.attach(&args.session_id, foreign)?;
    answer(state, &route)
}

/// A modern request asks the session that it named, a legacy one the selected one.
fn ask(state: &State, ctx: &Ctx<'_>) -> ToolResult {
    let route = match ctx.runtime_session_id() {
        Some(session) => state.routes.named(&session, SESSION_FIELD)?,
        None => state.routes.selected().ok_or_else(|| not_connected("`runtime_get_session`"))?,
    };
    answer(state, &route)
}

/// Who the engine says it is, asked now.
fn answer(state: &State, route: &Route) -> ToolResult {
    let handshake = route.handshake(&Cancel::default())?;
    let identity = route.identity().clone();
    let own = env!("CARGO_PKG_VERSION");
    let matches = identity.build_id.as_ref().map(|build| build == own);
    let note = (matches != Some(true)).then(|| match &identity.build_id {
        Some(build) => {
            format!("the engine's extension is of build `{build}`, this server of `{own}`")
        }
        None => "the engine's extension does not say of which build it is".to_owned(),
    });
    Answer::of(Attached {
        connected: true,
        handshake,
        server_build_id: own,
        bridge_build_matches: matches,
        bridge_build_note: note,
        project_mismatch: (!state.routes.is_own(&identity)).then_some(true),
        stop_requested: route.stop_requested().then_some(true),
        server_project_root: state.routes.project().display().to_string(),
        session: identity,
    })
}
