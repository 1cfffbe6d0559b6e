//! `anim.addLibrary`: gives an animation player a library from a file, undoably.
//!
//! Whatever holds the library in the editor holds one copy of it. Where the file has changed since that was read, the
//! caller says which of the two is meant; the copy is read anew when the change is made, and not before.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{
        Animation, AnimationLibrary, AnimationPlayer, DirAccess, Resource, ResourceLoader,
        resource_loader::CacheMode,
    },
    global::var_to_str,
    prelude::*,
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    methods::{Context, anim},
    node_path,
    params::{self, Params},
    property, refuse,
};

/// Properties that tell where a resource is and not what it is.
const OWN_PLACE: [&str; 2] = ["resource_path", "resource_scene_unique_id"];

/// Most names told.
const MAX_NAMES: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    animation_player_path: String,
    #[serde(rename = "library_path")]
    file: String,
    #[serde(rename = "library_name", default)]
    name: String,
    #[serde(default)]
    reload_from_disk: bool,
}

/// A library that can be added.
struct Ready {
    args: Args,
    root: Gd<Node>,
    player: Gd<AnimationPlayer>,
    added: Gd<AnimationLibrary>,
    /// Whether the editor has a copy that is read anew.
    reloads: bool,
}

pub(crate) fn plan(context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let player = anim::player(context.kind, &args.animation_player_path)?;
    owned::check(&root, &player.clone().upcast())?;
    if args.name.contains(['/', ':', ',', '[']) {
        let message = "a library's name holds none of `/ : , [`";
        return Err(refuse::invalid("library_name", message));
    }
    check_path(&args.file)?;
    let was_held = ResourceLoader::singleton().has_cached(&args.file);
    let library = load(&args.file, CacheMode::REUSE)?;
    check(&args, &player, &library)?;
    let file = if was_held { load(&args.file, CacheMode::IGNORE_DEEP)? } else { library.clone() };
    let matches = are_alike(&library, &file);
    if !matches && !args.reload_from_disk {
        let message = format!("the editor's copy of `{}` is another than the file", args.file);
        return Err(refuse::conflict("animation_library_differs_from_disk", message)
            .with("retry_with", json!({ "reload_from_disk": true })));
    }
    let before = json!({
        "library_names": libraries(&player),
        "animations_to_add": animations(&file),
        "editor_copy_matches_file": matches,
    });
    let reloads = args.reload_from_disk && was_held;
    let ready = Ready { args, root, player, added: library, reloads };
    Ok(Change::now(before, move |_| make(&ready)))
}

fn make(ready: &Ready) -> Answer {
    let Ready { args, root, player, added, reloads } = ready;
    if *reloads {
        reload(&args.file, added)?;
    }
    let object: Gd<Object> = player.clone().upcast();
    let name = StringName::from(&args.name).to_variant();
    let mut action = Edit::begin("Add animation library", root)?;
    action.does(&object, "add_animation_library", &[name.clone(), added.to_variant()]);
    action.undoes(&object, "remove_animation_library", &[name]);
    action.commit();
    if !player.has_animation_library(&args.name) {
        let message = "the player does not hold the library after all";
        return Err(refuse::engine("animation_library_postcondition_mismatch", message)
            .with("outcome", "unknown"));
    }
    let mut names = anim::names(player);
    let count = names.len();
    names.truncate(MAX_NAMES);
    Ok(edit::done(json!({
        "status": "success",
        "animation_player_path": args.animation_player_path,
        "library_name": args.name,
        "library_path": args.file,
        "library_names": libraries(player),
        "animations_truncated": count > names.len(),
        "animations": names,
        "animation_count": count,
        "reloaded_from_disk": reloads,
    })))
}

/// Has every copy made anew of the file, animations in files of their own included, and looks whether it was.
fn reload(file: &str, copy: &Gd<AnimationLibrary>) -> Result<(), BridgeError> {
    let anew = load(file, CacheMode::REPLACE_DEEP).and_then(|_| load(file, CacheMode::IGNORE_DEEP));
    if anew.is_ok_and(|anew| are_alike(copy, &anew)) {
        return Ok(());
    }
    let message = format!("`{file}` could not be read anew");
    Err(refuse::engine("animation_library_reload_failed", message))
}

/// Refuses a file that is not there, or is there under another letter case.
fn check_path(path: &str) -> Result<(), BridgeError> {
    let exists = path.starts_with("res://") && ResourceLoader::singleton().exists(path);
    let there = on_disk(path);
    // A disk without letter case has the file under every spelling, and the copy of one is not that of another.
    if exists && there.as_ref().is_none_or(|there| there == path) {
        return Ok(());
    }
    if let Some(there) = there {
        let message = format!("`{path}` is there as `{there}`");
        return Err(BridgeError::new(400, "library_path_case_mismatch", message)
            .with("library_path_on_disk", there.as_str())
            .with("retry_with", json!({ "library_path": there })));
    }
    let message = format!("there is no resource `{path}`");
    let reason = "lists the resources there are";
    Err(refuse::not_found(message, "project_list_resources", reason))
}

/// The path as it is on disk, where at most letter case differs.
fn on_disk(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.strip_prefix("res://")?.split('/').collect();
    let (file, folders) = parts.split_last()?;
    let mut found = "res://".to_owned();
    for folder in folders {
        let inside = DirAccess::get_directories_at(&found);
        found = format!("{found}{}/", alike_in_case(&inside, folder)?);
    }
    let inside = DirAccess::get_files_at(&found);
    Some(format!("{found}{}", alike_in_case(&inside, file)?))
}

fn alike_in_case(names: &PackedStringArray, wanted: &str) -> Option<String> {
    let lower = wanted.to_lowercase();
    let names = names.as_slice().iter().map(ToString::to_string);
    let alike: Vec<String> = names.filter(|name| name.to_lowercase() == lower).collect();
    let same = alike.iter().find(|name| *name == wanted);
    same.or(alike.first()).cloned()
}

/// The library: the editor's copy, the file past every copy, or the copy made anew of the file.
fn load(path: &str, mode: CacheMode) -> Result<Gd<AnimationLibrary>, BridgeError> {
    let loaded = ResourceLoader::singleton().load_ex(path).cache_mode(mode).done();
    let loaded = loaded.ok_or_else(|| {
        let message = format!("`{path}` could not be loaded");
        BridgeError::new(422, "animation_library_unloadable", message).with("field", "library_path")
    })?;
    let class = loaded.get_class();
    loaded.try_cast::<AnimationLibrary>().map_err(|_| {
        let message = format!("`{path}` is a `{class}` and no `AnimationLibrary`");
        BridgeError::new(422, "not_an_animation_library", message).with("field", "library_path")
    })
}

fn animations(library: &Gd<AnimationLibrary>) -> Vec<String> {
    library.get_animation_list().iter_shared().map(|name| name.to_string()).collect()
}

/// Whether two libraries hold the same animations, each to its last key.
fn are_alike(one: &Gd<AnimationLibrary>, other: &Gd<AnimationLibrary>) -> bool {
    let names = animations(one);
    let same = |name: &String| {
        let [one, other] = [one, other].map(|library| library.get_animation(name.as_str()));
        one.zip(other).is_some_and(|(one, other)| told(&one) == told(&other))
    };
    names == animations(other) && names.iter().all(same)
}

/// What is stored of an animation, as text. Objects in it are told by their files: each copy has its own.
fn told(animation: &Gd<Animation>) -> Vec<(String, String)> {
    let stored = property::stored(animation).into_iter();
    let own = stored.filter(|(name, _)| !OWN_PLACE.contains(&name.as_str()));
    own.map(|(name, value)| (name, text_of(&value))).collect()
}

fn text_of(value: &Variant) -> String {
    let joined = |parts: Vec<String>| parts.join(",");
    if let Ok(object) = value.try_to::<Gd<Resource>>() {
        return object.get_path().to_string();
    }
    if let Ok(items) = value.try_to::<VarArray>() {
        return joined(items.iter_shared().map(|item| text_of(&item)).collect());
    }
    if let Ok(members) = value.try_to::<VarDictionary>() {
        let member = |(name, value): (Variant, Variant)| format!("{name}={}", text_of(&value));
        return joined(members.iter_shared().map(member).collect());
    }
    var_to_str(value).to_string()
}

fn check(
    args: &Args,
    player: &Gd<AnimationPlayer>,
    library: &Gd<AnimationLibrary>,
) -> Result<(), BridgeError> {
    for name in libraries(player) {
        let held = player.get_animation_library(name.as_str());
        let held_path = held.as_ref().map(|held| held.get_path().to_string()).unwrap_or_default();
        if held.as_ref() == Some(library) {
            let message = format!("the player holds this library already, as `{name}`");
            return Err(refuse::already("animation_library_already_added", message));
        }
        if name == args.name {
            let message = format!("the player has a library `{name}` already");
            return Err(refuse::conflict("animation_library_name_taken", message)
                .with("field", "library_name")
                .with("existing_library_path", held_path));
        }
    }
    Ok(())
}

fn libraries(player: &Gd<AnimationPlayer>) -> Vec<String> {
    player.get_animation_library_list().iter_shared().map(|name| name.to_string()).collect()
}
