//! `project.removeAutoload`: the project loads it no more.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{file, list_autoloads, set_autoload};
use crate::{
    change::{Change, Planned},
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    name: String,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let Args { name } = params::read(params)?;
    file::check_loads()?;
    let Some(entry) = list_autoloads::entry(&name) else {
        let message = format!("there is no autoload `{name}`");
        return Err(refuse::not_found(message, "project_list_autoloads", "lists them")
            .with("field", "name"));
    };
    Ok(Change::now(json!({ "autoload": entry }), move |_| make(&name)))
}

fn make(name: &str) -> Answer {
    let setting = format!("autoload/{name}");
    file::store(&setting, &Variant::nil())?;
    Ok(json!({
        "name": name,
        "requires_editor_restart": true,
        "registered_in_attached_editor": false,
        "autoload": Value::Null,
        "persisted": file::written(&setting).is_none(),
        "limitation": set_autoload::LIMITATION,
    }))
}
