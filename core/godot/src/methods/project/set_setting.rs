//! `project.setSetting`: sets or removes a setting and saves the project's file.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{builtin::VariantType, classes::ProjectSettings, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::file;
use crate::{
    change::{Change, Planned},
    json::{self, Wanted},
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    setting: String,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    #[serde(default)]
    remove: bool,
    #[serde(default)]
    create: bool,
}

/// A setting that can be written.
struct Ready {
    args: Args,
    by_engine: bool,
    value: Variant,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    file::check_loads()?;
    let setting = args.setting.as_str();
    check_name(setting)?;
    let previous = file::literal(setting);
    let known = ProjectSettings::singleton().has_setting(setting);
    let by_engine = file::is_defined_by_engine(setting) || (known && previous.is_none());
    let value = match (&args.value, args.remove) {
        (Some(value), false) => read(&args, value, known)?,
        (None, true) if known => removal(setting, by_engine),
        (None, true) => return Err(unknown(setting)),
        _ => return Err(refuse::invalid("value", "exactly one of `value` and `remove` is needed")),
    };
    let ready = Ready { args, by_engine, value };
    Ok(Change::now(json!({ "literal": previous }), move |before| make(&ready, &before["literal"])))
}

fn make(ready: &Ready, previous: &Value) -> Answer {
    let Ready { args, by_engine, value } = ready;
    let setting = args.setting.as_str();
    file::store(setting, value)?;
    Ok(json!({
        "persisted": true,
        "previous_value": previous,
        "value_written": file::literal(setting),
        "defined_by_engine": by_engine,
        "limitation": file::LIMITATION,
    }))
}

/// What other tools write.
fn check_name(setting: &str) -> Result<(), BridgeError> {
    let tool = match setting.split('/').next() {
        Some("autoload") => "project_set_autoload",
        Some("input") => "project_set_input_action",
        _ => return Ok(()),
    };
    let error = refuse::invalid("setting", format!("`{setting}` is not written as a setting"));
    Err(refuse::next_call(error, tool, json!({}), "writes it, checked as what it is"))
}

fn unknown(setting: &str) -> BridgeError {
    let message = format!("there is no setting `{setting}`");
    BridgeError::new(404, "setting_not_found", message)
        .with("field", "setting")
        .with("retry_with", json!({ "create": true }))
}

fn read(args: &Args, value: &Value, known: bool) -> Result<Variant, BridgeError> {
    let setting = args.setting.as_str();
    if !known && !args.create {
        return Err(unknown(setting));
    }
    let now = file::held(setting);
    let wanted = Wanted { like: now.clone(), ..Wanted::of(now.get_type()) };
    json::read(value, &wanted).map_err(|fault| {
        let given = json::read(value, &Wanted::of(VariantType::NIL));
        let given = given.map_or("Variant", |given| file::type_of(&given));
        refuse::conflict("setting_type_mismatch", format!("`{setting}`: {fault}"))
            .with("field", "value")
            .with("expected_type", file::type_of(&now))
            .with("given_type", given)
    })
}

/// What stands for a setting that is taken out: the engine's default, or nothing.
fn removal(setting: &str, by_engine: bool) -> Variant {
    let settings = ProjectSettings::singleton();
    if by_engine { settings.property_get_revert(setting) } else { Variant::nil() }
}

/// `null` is a value, an absent member is none.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}
