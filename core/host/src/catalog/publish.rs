//! How tools are published: stamped schemas, derived hints, and the listing of each profile.
//!
//! Spec: P-21, tool schemas; P-22, listings.

use std::sync::Arc;

use didi_plugin_api::desc::{Confirmation, Effects, Mode, Profile, ToolDesc};
use didi_wire::descriptor::SessionKind;
use serde_json::{Map, Value, json, value::RawValue};

use super::{Catalog, Tool};
use crate::{dispatch::kind::allows, page};

/// Bounds of the caller's `request_id`.
pub const REQUEST_ID_PATTERN: &str = "^[A-Za-z0-9._:-]{8,64}$";

/// What a listing depends on beside the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListView {
    /// The profile of the process.
    pub profile: Profile,
    /// Whether confirmations are skipped in this process.
    pub confirmations_skipped: bool,
    /// The kind of the engine that would serve the client's calls.
    pub engine: Option<SessionKind>,
    /// Whether the client is told of the control room's page.
    pub page: bool,
}

/// States of the bridge that a listing tells apart: without an engine, with an editor, with a game.
const ENGINES: usize = 3;

/// Listings that are kept: one for each of them, with the control room's page and without.
pub(super) const LISTINGS: usize = 2 * ENGINES;

/// The pack's input schema, taken out of what it declares, with the host's arguments and a bound on every string.
pub(super) fn stamp_input(desc: &mut ToolDesc) -> Value {
    let mut schema = desc.input_schema.take();
    let required: Vec<String> = (schema["required"].as_array().into_iter().flatten())
        .filter_map(|name| name.as_str().map(ToOwned::to_owned))
        .collect();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return schema };
    for (name, property) in properties.iter_mut() {
        let text = property["type"] == "string" && property.get("enum").is_none();
        // A required string names something, and nothing is named by an empty one.
        if text && required.contains(name) && property.get("minLength").is_none() {
            property["minLength"] = json!(1);
        }
        // What a switch, a text or a list is when nobody touches it goes without saying.
        if [json!(false), json!(""), json!([])].contains(&property["default"]) {
            property.as_object_mut().map(|map| map.remove("default"));
        }
        // A lower bound of nothing was written down to say just that; clients need not read it.
        if property["minLength"] == 0 {
            property.as_object_mut().map(|map| map.remove("minLength"));
        }
    }
    if desc.effects.mutates_project {
        properties.insert("dry_run".into(), json!({"type": "boolean"}));
    }
    if desc.confirmation != Confirmation::Never {
        properties.insert(
            "confirmation_token".into(),
            json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        );
    }
    if desc.job {
        properties
            .insert("request_id".into(), json!({"type": "string", "pattern": REQUEST_ID_PATTERN}));
    }
    if !desc.sections.is_empty() {
        properties.insert(
            "fields".into(),
            json!({"type": "array", "items": {"type": "string", "enum": desc.sections}, "minItems": 1, "uniqueItems": true}),
        );
    }
    schema
}

/// The pack's output schema, taken out as well, with what the host stamps on every answer.
pub(super) fn stamp_output(desc: &mut ToolDesc) -> Option<Value> {
    let mut schema = desc.output_schema.take()?;
    let mut stamped = vec![("execution_mode", json!({"type": "string"}), true)];
    if desc.modes.contains(&Mode::Live) {
        stamped.push(("is_live_engine", json!({}), false));
    }
    if desc.bound.is_some() {
        stamped.push(("truncated", json!({"type": "boolean"}), true));
    }
    if !desc.follow_ups.is_empty() || desc.job {
        stamped.push(("follow_up", json!({}), false));
    }
    if !desc.sections.is_empty() {
        stamped.push(("omitted_fields", json!({}), false));
    }
    for (name, property, always) in stamped {
        schema["properties"][name] = property;
        if always {
            match schema.get_mut("required") {
                Some(Value::Array(required)) => required.push(name.into()),
                _ => schema["required"] = json!([name]),
            }
        }
    }
    Some(schema)
}

/// The four hints, derived from what the tool does to the world.
fn annotations(effects: Effects) -> Value {
    json!({
        "readOnlyHint": !effects.mutates_project && !effects.changes_server,
        "destructiveHint": (effects.mutates_project || effects.changes_server) && !effects.only_adds,
        "idempotentHint": effects.same_when_repeated,
        "openWorldHint": effects.open_world,
    })
}

/// What a tool would answer with now.
pub(crate) fn current_mode(tool: &Tool, engine: Option<SessionKind>) -> &'static str {
    match engine {
        Some(kind) if tool.desc.modes.contains(&Mode::Live) => {
            if allows(&tool.desc.sessions, kind) { Mode::Live.as_str() } else { "unavailable" }
        }
        _ => tool.offline_mode().map_or("unavailable", Mode::as_str),
    }
}

fn entry(tool: &Tool, name: &str, view: ListView) -> Value {
    let desc = &tool.desc;
    let legacy = name != desc.name;
    let mut meta = Map::new();
    meta.insert("executionModes".into(), json!(desc.modes));
    meta.insert("implemented".into(), (!tool.desc.is_reserved()).into());
    let current = current_mode(tool, view.engine);
    meta.insert("currentMode".into(), current.into());
    meta.insert("liveAvailable".into(), (current == Mode::Live.as_str()).into());
    if view.profile == Profile::Full {
        meta.insert("editorConnected".into(), (view.engine == Some(SessionKind::Editor)).into());
        if let Some(kind) = view.engine {
            meta.insert("sessionKind".into(), kind.as_str().into());
        }
        meta.insert("confirmationsSkipped".into(), view.confirmations_skipped.into());
    }
    if legacy {
        meta.insert("legacy".into(), true.into());
        meta.insert("canonical".into(), desc.name.clone().into());
    }
    if tool.desc.is_reserved() {
        meta.insert("legacy".into(), true.into());
        meta.insert("reason".into(), "a reserved name; a call tells what to call instead".into());
    }
    let mut entry = Map::new();
    entry.insert("name".into(), name.into());
    // A title that only repeats the name in words is the client's own to make.
    if !repeats_name(&desc.title, &desc.name) {
        entry.insert("title".into(), desc.title.clone().into());
    }
    let description =
        if legacy { format!("Older name: use {}.", desc.name) } else { desc.description.clone() };
    entry.insert("description".into(), description.into());
    entry.insert("inputSchema".into(), tool.input_schema.clone());
    // Answers validate without their schema, too: the short list leaves it out.
    if let Some(output) = &tool.output_schema
        && view.profile == Profile::Full
        && !legacy
    {
        entry.insert("outputSchema".into(), output.clone());
    }
    entry.insert("annotations".into(), annotations(desc.effects));
    let mut meta = json!({"didi": meta});
    if view.page && name == page::TOOL {
        meta["ui"] = json!({"resourceUri": page::URI});
    }
    entry.insert("_meta".into(), meta);
    Value::Object(entry)
}

fn repeats_name(title: &str, name: &str) -> bool {
    title.to_lowercase().replace(' ', "_") == name
}

/// What makes two builds of a tool the same to a client.
pub(super) fn identity(tool: &Tool) -> String {
    let view = ListView {
        profile: Profile::Full,
        confirmations_skipped: false,
        engine: None,
        page: false,
    };
    let mut text = entry(tool, &tool.desc.name, view).to_string();
    text.push_str(&tool.desc.legacy_names.join(","));
    text
}

impl Catalog {
    /// The `tools` member of a listing, serialised once.
    pub fn listing(&self, view: ListView) -> Arc<RawValue> {
        // What else the view holds is fixed for the process.
        let engine = match view.engine {
            None => 0,
            Some(SessionKind::Editor) => 1,
            Some(SessionKind::Game) => 2,
        };
        let place = engine + if view.page { ENGINES } else { 0 };
        Arc::clone(self.listings[place].get_or_init(|| self.make_listing(view)))
    }

    fn make_listing(&self, view: ListView) -> Arc<RawValue> {
        let mut entries = vec![];
        for tool in &self.tools {
            for name in super::names_of(&tool.desc) {
                if self.shows(view.profile, name) {
                    entries.push(entry(tool, name, view));
                }
            }
        }
        // A list of JSON values always serialises.
        let text = serde_json::to_string(&entries).unwrap_or_else(|_| "[]".into());
        Arc::from(RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}
