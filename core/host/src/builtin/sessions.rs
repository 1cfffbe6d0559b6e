//! Runtime sessions: which engines could be attached, and which one is.
//!
//! The bridge is not part of this build, so no engine can be attached: the list says what lies in the session
//! folder, and attaching is refused with the reason.
//!
//! Spec: P-9, routes.

use std::{fs, sync::Arc};

use didi_plugin_api::prelude::*;

use super::State;
use crate::services::not_connected;

/// A session that is named and not there.
const SESSION_NOT_FOUND: Code = codes::NOT_FOUND;

/// Descriptor files that are looked at.
const MAX_DESCRIPTORS: usize = 1000;

const CHANGES_ROUTE: Effects = Effects { changes_server: true, ..Effects::READS };

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Only sessions of this project folder.
    #[schemars(length(max = 4096))]
    #[allow(dead_code, reason = "without sessions there is nothing to filter yet")]
    project_path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    sessions: Vec<Session>,
    #[schemars(default)]
    diagnostics: Vec<String>,
    #[schemars(default)]
    descriptor_directory: String,
}

/// A public descriptor; it never has a token.
#[derive(Serialize, JsonSchema)]
struct Session {
    session_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AttachArgs {
    /// From the session list.
    #[schemars(length(min = 32, max = 32), regex(pattern = "^[0-9a-f]{32}$"))]
    session_id: String,
    /// Also a session of another project.
    #[serde(default)]
    #[allow(dead_code, reason = "the session is refused before its project is compared")]
    allow_foreign_project: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Serialize, JsonSchema)]
struct Detached {
    detached: bool,
    connected: bool,
}

/// The four session tools.
pub fn tools(state: &Arc<State>) -> Vec<Tool> {
    const MANAGEMENT: [Mode; 1] = [Mode::LocalSessionManagement];
    let listing = Arc::clone(state);
    vec![
        Tool::new(
            "runtime_list_sessions",
            "Lists the running Godot editors and games that can be attached. Call it before attaching.",
            Effects::READS,
            move |_, _: ListArgs| Answer::of(list(&listing)),
        )
        .core()
        .modes(&MANAGEMENT)
        .output::<Listed>(),
        Tool::new(
            "runtime_attach_session",
            "Attaches one listed session, so that live tools work in that engine.",
            CHANGES_ROUTE,
            |_, args: AttachArgs| attach(&args),
        )
        .core()
        .modes(&MANAGEMENT)
        .refuses(&[SESSION_NOT_FOUND]),
        Tool::new(
            "runtime_detach_session",
            "Lets the attached engine go. A success when none is attached, too.",
            CHANGES_ROUTE,
            |_, _: NoArgs| Answer::of(Detached { detached: false, connected: false }),
        )
        .core()
        .modes(&MANAGEMENT)
        .output::<Detached>(),
        Tool::new(
            "runtime_get_session",
            "Asks the attached engine anew who it is.",
            Effects::READS,
            |_, _: NoArgs| Err(not_connected("`runtime_get_session`")),
        )
        .core()
        .modes(&MANAGEMENT)
        .refuses(&[codes::NOT_CONNECTED]),
    ]
}

fn list(state: &State) -> Listed {
    let folder = &state.session_folder;
    let found = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_DESCRIPTORS);
    let diagnostics = found
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "json"))
        .map(|name| format!("`{name}` is a session that this build can't attach: it has no bridge"))
        .collect();
    Listed { sessions: vec![], diagnostics, descriptor_directory: folder.display().to_string() }
}

fn attach(args: &AttachArgs) -> ToolResult {
    let message = format!("no session `{}` can be attached", args.session_id);
    Err(Refusal::new(SESSION_NOT_FOUND, message)
        .next_call("runtime_list_sessions", "lists the sessions that can be attached"))
}
