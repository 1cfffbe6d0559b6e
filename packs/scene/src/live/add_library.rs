//! `anim_add_library`: gives an animation player a library from a file.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::edit;

const METHOD: &str = "anim.addLibrary";

/// The file is there under another letter case.
const CASE_MISMATCH: Code = Code::new(400, "library_path_case_mismatch");
/// The editor's copy is another than the file.
const DIFFERS_FROM_DISK: Code = Code::new(409, "animation_library_differs_from_disk");
/// The player has a library of that name.
const NAME_TAKEN: Code = Code::new(409, "animation_library_name_taken");
/// The player has that library.
const ALREADY_ADDED: Code = Code::new(409, "animation_library_already_added");
/// The file holds something else.
const NOT_A_LIBRARY: Code = Code::new(422, "not_an_animation_library");
/// The file can't be loaded.
const UNLOADABLE: Code = Code::new(422, "animation_library_unloadable");
/// The file could not be loaded anew.
const RELOAD_FAILED: Code = Code::new(500, "animation_library_reload_failed");
/// The editor made no step of it.
const REGISTRATION_FAILED: Code = Code::new(500, "animation_library_undo_registration_failed");
/// The player does not hold it afterwards.
const POSTCONDITION: Code = Code::new(500, "animation_library_postcondition_mismatch");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    animation_player_path: String,
    /// A .tres or .res with an `AnimationLibrary`.
    #[schemars(length(min = 1, max = 1024))]
    library_path: String,
    /// Empty is the player's own.
    #[serde(default)]
    #[schemars(length(max = 256))]
    library_name: String,
    /// Rather than the editor's copy.
    #[serde(default)]
    reload_from_disk: bool,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "anim_add_library",
        "Gives an AnimationPlayer of the open scene a library from a file. Undoable.",
        Effects::ADDS,
        METHOD,
        |args| &args.animation_player_path,
    )
    .core()
    .checked(check)
    .refuses(&[
        CASE_MISMATCH,
        DIFFERS_FROM_DISK,
        NAME_TAKEN,
        ALREADY_ADDED,
        NOT_A_LIBRARY,
        UNLOADABLE,
        RELOAD_FAILED,
        REGISTRATION_FAILED,
        POSTCONDITION,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    let Args { library_name: name, .. } = args;
    if name.contains(['/', ':', ',', '[']) {
        return Err(Refusal::invalid("library_name", "a library's name holds none of `/ : , [`"));
    }
    Ok(())
}
