//! `scene.close`: closes the edited scene, unless that would lose what is not saved.

use std::time::Duration;

use didi_wire::BridgeError;
use godot::{classes::EditorInterface, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::file;
use crate::{
    methods::{Begun, Context, editor},
    node_path,
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long the editor may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    discard_unsaved: bool,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let path = node_path::edited_root()?.get_scene_file_path().to_string();
    let (readable, unsaved) = editor::unsaved_scenes();
    if !args.discard_unsaved {
        check(&path, readable, &unsaved)?;
    }
    let open_before = editor::open_scenes().len();
    EditorInterface::singleton().close_scene();
    let dirty_state = if args.discard_unsaved { "unchecked" } else { "clean" };
    let never_saved = path.is_empty();
    Ok(Until::boxed(CLOSE_LIMIT, not_closed, move || {
        let open = editor::open_scenes();
        let still_open = open.contains(&path);
        let gone = if never_saved {
            open.len() < open_before || file::edited().is_none_or(|now| !now.is_empty())
        } else {
            !still_open
        };
        gone.then(|| {
            Ok(json!({
                "closed": true,
                "scene_path": path,
                "dirty_state_readable": readable,
                "dirty_state": dirty_state,
                "discarded_unsaved": args.discard_unsaved,
                "still_open": if never_saved { Value::Null } else { still_open.into() },
            }))
        })
    }))
}

/// Refuses where unsaved changes cannot be ruled out.
fn check(path: &str, readable: bool, unsaved: &Value) -> Result<(), BridgeError> {
    let refuse = |code: &str, message: &str| {
        Err(refuse::conflict(code, message).with("retry_with", json!({ "discard_unsaved": true })))
    };
    if path.is_empty() {
        return refuse("scene_never_saved", "the edited scene was never saved");
    }
    if !readable {
        let message = "this engine does not tell which scenes have unsaved changes";
        return refuse("dirty_state_unavailable", message);
    }
    let dirty = unsaved.as_array().is_some_and(|scenes| scenes.iter().any(|scene| scene == path));
    if dirty { refuse("unsaved_changes", "the edited scene has unsaved changes") } else { Ok(()) }
}

fn not_closed() -> BridgeError {
    BridgeError::new(504, "scene_not_closed", "the editor did not close the scene in time")
        .with("outcome", "unknown_outcome")
        .with("retry_after_ms", 2000)
}
