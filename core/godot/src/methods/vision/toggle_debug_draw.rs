//! `vision.toggleDebugDraw`: whether games that the editor starts draw collision shapes and navigation meshes.
//!
//! The editor keeps both beside the project, where its own menu keeps them, and reads them when it starts a game.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{EditorInterface, EditorSettings},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Where the editor keeps them.
const SECTION: &str = "debug_options";
const COLLISIONS: &str = "run_debug_collisions";
const NAVIGATION: &str = "run_debug_navigation";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    collision_shapes: Option<bool>,
    navigation_mesh: Option<bool>,
    wireframe: Option<bool>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    if args.collision_shapes.is_none() && args.navigation_mesh.is_none() {
        let message = "one of `collision_shapes` and `navigation_mesh` is needed";
        return Err(refuse::invalid("collision_shapes", message));
    }
    if args.wireframe == Some(true) {
        return Err(refuse::invalid("wireframe", "an editor starts no game that draws wires"));
    }
    let settings = settings()?;
    Ok(Change::now(told(&settings), move |previous| make(&args, settings, previous)))
}

fn make(args: &Args, mut settings: Gd<EditorSettings>, previous: Value) -> Answer {
    for (key, value) in [(COLLISIONS, args.collision_shapes), (NAVIGATION, args.navigation_mesh)] {
        if let Some(value) = value {
            settings.set_project_metadata(SECTION, key, &value.to_variant());
        }
    }
    Ok(json!({
        "previous": previous,
        "observed": told(&settings),
        "effective_scope": "future_games_run_from_editor",
        "rollback": "explicit_restore",
    }))
}

fn told(settings: &Gd<EditorSettings>) -> Value {
    let held = |key: &str| {
        // Without a default the engine prints an error for what was never set.
        let off = false.to_variant();
        let value = settings.get_project_metadata_ex(SECTION, key).default(&off).done();
        value.try_to::<bool>().unwrap_or(false)
    };
    json!({ "collision_shapes": held(COLLISIONS), "navigation_mesh": held(NAVIGATION) })
}

fn settings() -> Result<Gd<EditorSettings>, BridgeError> {
    let missing = || refuse::engine("editor_settings_missing", "the editor has no settings");
    EditorInterface::singleton().get_editor_settings().ok_or_else(missing)
}
