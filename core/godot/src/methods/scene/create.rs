//! `scene.create`: a new scene file with one node, opened in the editor.

use std::fs;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{ClassDb, EditorInterface, PackedScene, ResourceSaver},
    global::Error,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::file;
use crate::{
    change::{Change, Planned},
    methods::{Begun, Context, editor},
    params::{self, Params},
    refuse, waiting,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    scene_path: String,
    #[serde(default = "node_2d")]
    root_type: String,
    #[serde(default = "root")]
    root_name: String,
    #[serde(default)]
    overwrite: bool,
}

fn node_2d() -> String {
    "Node2D".into()
}

fn root() -> String {
    "Root".into()
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    file::check_free(&args.scene_path, args.overwrite)?;
    check_class(&args.root_type, "root_type")?;
    Ok(Change::later(file::before(&args.scene_path), move |_| make(args)))
}

fn make(args: Args) -> Begun {
    let path = args.scene_path;
    let previous = file::edited();
    let was_open = editor::open_scenes().contains(&path);
    save(&path, &args.root_type, &args.root_name)?;
    let shown = path.clone();
    let answer = move || finished(&shown, previous, was_open);
    if was_open {
        EditorInterface::singleton().reload_scene_from_path(path.as_str());
    }
    Ok(file::show(path, answer))
}

/// Writes the file and tells the editor of it.
fn save(path: &str, class: &str, name: &str) -> Result<(), BridgeError> {
    let mut root = instantiate(class, "root_type")?;
    root.set_name(name);
    let mut scene = PackedScene::new_gd();
    let packed = scene.pack(&root);
    root.free();
    if packed != Error::OK {
        return Err(refuse::engine("scene_not_packed", format!("the engine said {packed:?}")));
    }
    let file = file::on_disk(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| not_saved(path, &error.to_string()))?;
    }
    let saved = ResourceSaver::singleton().save_ex(&scene).path(path).done();
    if saved != Error::OK {
        return Err(not_saved(path, &format!("{saved:?}")));
    }
    waiting::announce(path);
    Ok(())
}

fn not_saved(path: &str, why: &str) -> BridgeError {
    refuse::engine("scene_not_saved", format!("`{path}` could not be saved: {why}"))
}

/// A new node of a class of the engine.
pub(super) fn instantiate(class: &str, field: &str) -> Result<Gd<Node>, BridgeError> {
    check_class(class, field)?;
    ClassDb::singleton().instantiate(class).try_to::<Gd<Node>>().map_err(|_| {
        refuse::engine("node_not_made", format!("the engine did not make a `{class}`"))
    })
}

/// Refuses what is no class of nodes that can be made.
fn check_class(class: &str, field: &str) -> Result<(), BridgeError> {
    let classes = ClassDb::singleton();
    if !classes.class_exists(class) {
        return Err(refuse::invalid(field, format!("the engine has no class `{class}`")));
    }
    if class != "Node" && !classes.is_parent_class(class, "Node") {
        return Err(refuse::invalid(field, format!("`{class}` is no kind of node")));
    }
    if !classes.can_instantiate(class) {
        return Err(refuse::invalid(field, format!("no `{class}` can be made")));
    }
    Ok(())
}

fn finished(path: &str, previous: Option<String>, was_open: bool) -> Answer {
    let (uid, registered) = file::uid(path);
    let edited_scene_changed = previous.as_deref() != Some(path);
    Ok(json!({
        "scene_path": path,
        "opened": true,
        "saved": file::on_disk(path).is_file(),
        "uid": uid,
        "uid_registered": registered,
        "uid_registration_deferred": !registered,
        "edited_scene_changed": edited_scene_changed,
        "previous_scene_file_path": previous.filter(|path| !path.is_empty()),
        "editor_scene_reloaded": was_open,
        "editor_scene_discarded_unsaved": Value::Null,
        "limitation": "the file is written at once; undo does not take it back",
    }))
}
