//! `anim.addLibrary`: gives an animation player a library from a file, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{AnimationLibrary, AnimationPlayer, ResourceLoader, resource_loader::CacheMode},
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
    refuse,
};

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
    reloaded: bool,
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
    let (library, reloaded) = load(&args)?;
    check(&args, &player, &library)?;
    let added = library.get_animation_list();
    let added: Vec<String> = added.iter_shared().map(|name| name.to_string()).collect();
    let before = json!({ "library_names": libraries(&player), "animations_to_add": added });
    let ready = Ready { args, root, player, added: library, reloaded };
    Ok(Change::now(before, move |_| make(&ready)))
}

fn make(ready: &Ready) -> Answer {
    let Ready { args, root, player, added, reloaded } = ready;
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
        "reloaded_from_disk": reloaded,
    })))
}

/// The library, from the editor's copy or anew.
fn load(args: &Args) -> Result<(Gd<AnimationLibrary>, bool), BridgeError> {
    let path = args.file.as_str();
    let mut loader = ResourceLoader::singleton();
    if !path.starts_with("res://") || !loader.exists(path) {
        let message = format!("there is no resource `{path}`");
        let reason = "lists the resources there are";
        return Err(refuse::not_found(message, "project_list_resources", reason));
    }
    let was_cached = loader.has_cached(path);
    let mode = if args.reload_from_disk { CacheMode::REPLACE } else { CacheMode::REUSE };
    let loaded = loader.load_ex(path).cache_mode(mode).done();
    let loaded = loaded.ok_or_else(|| {
        let message = format!("`{path}` could not be loaded");
        BridgeError::new(422, "animation_library_unloadable", message).with("field", "library_path")
    })?;
    let class = loaded.get_class();
    let library = loaded.try_cast::<AnimationLibrary>().map_err(|_| {
        let message = format!("`{path}` is a `{class}` and no `AnimationLibrary`");
        BridgeError::new(422, "not_an_animation_library", message).with("field", "library_path")
    })?;
    Ok((library, args.reload_from_disk && was_cached))
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
