//! The attached editor as the gates see it: asked over the bridge, on the bridge's own thread, so that it answers while
//! its main thread is stuck.
//!
//! An engine whose addon does not know the question counts as at rest.
//!
//! Spec: P-67, readiness.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, json};

use super::gates::{Dialog, Sight, Watched};
use crate::{bridge::Routes, cancel::Cancel};

const METHOD: &str = "editor.getActivity";

/// What opens the dialogs.
const SOURCE: &str = "godot";

/// The editor of this process's project, while one is attached.
pub struct AttachedEditor(pub Arc<Routes>);

/// What the editor says of itself.
#[derive(Deserialize)]
struct Activity {
    settled: bool,
    importing: bool,
    frame_age_ms: Option<u64>,
    dialogs: Vec<EngineDialog>,
    #[serde(default)]
    closed_dialogs: Vec<EngineDialog>,
}

#[derive(Deserialize)]
struct EngineDialog {
    id: String,
    class: String,
    title: String,
    message: String,
    buttons: Vec<String>,
    opened_at_ms: u64,
    dismissed_at_ms: Option<u64>,
}

impl Watched for AttachedEditor {
    fn look(&self, may_attach: bool, cancel: &Cancel) -> Option<Sight> {
        let editor = self.0.own_editor(may_attach)?;
        let identity = editor.identity();
        let session = identity.session_id.to_string();
        let answer = editor.call(METHOD, &Map::new(), Duration::ZERO, cancel);
        let mut facts = Map::new();
        facts.insert("session".into(), json!(session));
        facts.insert("engineVersion".into(), json!(identity.engine_version));
        let told: Option<Activity> =
            answer.ok().and_then(|answer| serde_json::from_value(answer.result).ok());
        let Some(activity) = told else {
            return Some(Sight { session, at_rest: true, facts, ..Sight::default() });
        };
        facts.insert("importing".into(), activity.importing.into());
        facts.insert("frameAgeMs".into(), json!(activity.frame_age_ms));
        let dialogs = activity.dialogs.into_iter().map(dialog).collect();
        let closed = activity.closed_dialogs.into_iter().map(dialog).collect();
        Some(Sight { session, at_rest: activity.settled, dialogs, closed, facts })
    }
}

fn dialog(seen: EngineDialog) -> Dialog {
    // The engine has no levels: a question waits for a choice, anything else only tells.
    let level = if seen.class == "ConfirmationDialog" { "warning" } else { "info" };
    Dialog {
        id: seen.id,
        source: SOURCE.into(),
        title: seen.title,
        message: seen.message,
        level: level.into(),
        buttons: seen.buttons,
        opened_ms: seen.opened_at_ms,
        dismissed_ms: seen.dismissed_at_ms,
    }
}
