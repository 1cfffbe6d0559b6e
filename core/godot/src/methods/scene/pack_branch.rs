//! `scene.packBranch`: writes a branch of the edited scene as a scene of its own.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{PackedScene, ResourceLoader, ResourceSaver, resource_loader::CacheMode},
    global::Error,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::file;
use crate::{
    change::{Change, Planned},
    methods::{Context, editor},
    node_path,
    params::{self, Params},
    refuse, waiting,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
    scene_path: String,
    #[serde(default)]
    overwrite: bool,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let node = node_path::edited(&args.target_node)?;
    if file::is_edited(&args.scene_path) {
        let message = "the edited scene's own file cannot be replaced by one of its branches";
        return Err(refuse::invalid("scene_path", message));
    }
    file::check_free(&args.scene_path, args.overwrite)?;
    let path = args.scene_path;
    Ok(Change::now(file::before(&path), move |_| make(&node, &path)))
}

fn make(node: &Gd<Node>, path: &str) -> Answer {
    let held = ResourceLoader::singleton().has_cached(path);
    save(node, path)?;
    if held {
        let _ = ResourceLoader::singleton().load_ex(path).cache_mode(CacheMode::REPLACE).done();
    }
    let (uid, registered) = file::uid(path);
    Ok(json!({
        "scene_path": path,
        "saved": file::on_disk(path).is_file(),
        "uid": uid,
        "uid_registered": registered,
        "uid_registration_deferred": !registered,
        "editor_copy_reloaded": held,
        "editor_scene_reloaded": false,
        "editor_scene_discarded_unsaved": Value::Null,
        "scene_open": editor::open_scenes().iter().any(|open| open == path),
        "limitation": "the file is written at once; undo does not take it back, and the branch stays as it is",
    }))
}

/// Packs a copy whose nodes belong to its root, so that the scene that is open stays as it is.
fn save(node: &Gd<Node>, path: &str) -> Result<(), BridgeError> {
    let Some(copy) = node.duplicate_node_ex().done_or_null() else {
        return Err(refuse::engine("branch_not_copied", "the engine did not copy the branch"));
    };
    own(&copy, node);
    let mut scene = PackedScene::new_gd();
    let packed = scene.pack(&copy);
    copy.free();
    if packed != Error::OK {
        return Err(refuse::engine("scene_not_packed", format!("the engine said {packed:?}")));
    }
    if let Some(folder) = file::on_disk(path).parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| refuse::engine("scene_not_saved", error.to_string()))?;
    }
    let saved = ResourceSaver::singleton().save_ex(&scene).path(path).done();
    if saved != Error::OK {
        let message = format!("`{path}` could not be saved: {saved:?}");
        return Err(refuse::engine("scene_not_saved", message));
    }
    waiting::announce(path);
    Ok(())
}

/// Gives the nodes of a copy to its root, as the scene that is open owns the originals.
fn own(copy: &Gd<Node>, original: &Gd<Node>) {
    let scene = original.get_owner().unwrap_or_else(|| original.clone());
    let mut open = vec![(copy.clone(), original.clone())];
    while let Some((copied, from)) = open.pop() {
        for at in 0..from.get_child_count().min(copied.get_child_count()) {
            let (Some(mut child), Some(source)) = (copied.get_child(at), from.get_child(at)) else {
                continue;
            };
            if source.get_owner().as_ref() == Some(&scene)
                || source.get_owner().as_ref() == Some(original)
            {
                child.set_owner(copy);
            }
            open.push((child, source));
        }
    }
}
