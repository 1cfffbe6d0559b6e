//! `project.setAutoload`: has the project load a script or scene before its first scene.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{ClassDb, Engine, ResourceLoader},
    prelude::*,
};
use serde::Deserialize;
use serde_json::json;

use super::{file, list_autoloads};
use crate::{
    change::{Change, Planned},
    methods::Context,
    params::{self, Params},
    refuse,
};

/// What an answer says of the editor that is open.
pub(super) const LIMITATION: &str = "the editor that is open takes autoloads up when it is started again; a game that starts has them";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    name: String,
    path: String,
    #[serde(default = "params::yes")]
    singleton: bool,
    #[serde(default)]
    replace: bool,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    file::check_loads()?;
    check_name(&args.name)?;
    if !args.path.starts_with("res://") || !ResourceLoader::singleton().exists(&args.path) {
        let message = format!("there is no script or scene `{}`", args.path);
        let reason = "lists the scripts and scenes there are";
        return Err(refuse::not_found(message, "project_list_resources", reason));
    }
    let existing = list_autoloads::entry(&args.name);
    if let Some(existing) = existing.as_ref().filter(|_| !args.replace) {
        let message = format!("there is an autoload `{}` already", args.name);
        return Err(refuse::conflict("already_exists", message)
            .with("existing", existing.clone())
            .with("retry_with", json!({ "replace": true })));
    }
    Ok(Change::now(json!({ "autoload": existing }), move |_| make(&args)))
}

fn make(args: &Args) -> Answer {
    let text = format!("{}{}", if args.singleton { "*" } else { "" }, args.path);
    file::store(&format!("autoload/{}", args.name), &text.to_variant())?;
    Ok(json!({
        "name": args.name,
        "path": args.path,
        "singleton": args.singleton,
        "requires_editor_restart": true,
        "registered_in_attached_editor": false,
        "autoload": list_autoloads::entry(&args.name),
        "persisted": file::written(&format!("autoload/{}", args.name)).is_some(),
        "limitation": LIMITATION,
    }))
}

/// A singleton's name is an identifier that means nothing else.
fn check_name(name: &str) -> Result<(), BridgeError> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    if !begins || !letters.all(|letter| letter.is_alphanumeric() || letter == '_') {
        return Err(refuse::invalid("name", format!("`{name}` is no identifier")));
    }
    if ClassDb::singleton().class_exists(name) || Engine::singleton().has_singleton(name) {
        return Err(refuse::invalid("name", format!("`{name}` is a name of the engine's own")));
    }
    Ok(())
}
