//! From what a handler gave back to the result of `tools/call`, alike for every tool.
//!
//! Facts become `follow_up`, bounds become `truncated`, a refusal gets its remedy, its tool and its count of
//! repeats; then comes provenance, and last what a client declined. An answer's data is serialised once, by
//! its pack, and passed on as text.
//!
//! Spec: P-25, answers.

pub mod economy;
pub mod floor;
pub mod repeat;

use base64::Engine as _;
use didi_plugin_api::{
    desc::{Mode, ToolDesc, Work},
    outcome::{Answer, Fact},
    refusal::Refusal,
};
use didi_wire::descriptor::Identity;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::services::Attachment;

/// Largest answer of a tool, in bytes of its data.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// How a call ended, before it is written for a client.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the tool said, or why it was refused.
    pub body: Result<Success, Refusal>,
    /// The way in which it answered.
    pub mode: Mode,
    /// Members of `_meta.didi`.
    pub meta: Map<String, Value>,
    /// The tool's name as called, and its canonical name.
    pub names: (String, String),
    /// The engine that served.
    pub session: Option<Box<Identity>>,
}

/// What calls over the bridge left beside their results.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// What the engine printed meanwhile, as it reported it.
    pub diagnostics: Map<String, Value>,
    /// How often a request was sent anew.
    pub repeats: u32,
    /// What an editor made of files that were written behind it.
    pub editor: Map<String, Value>,
}

impl Live {
    /// The members that an answer or a refusal gets.
    pub fn members(&self) -> Map<String, Value> {
        let mut members = self.diagnostics.clone();
        members.extend(self.editor.clone());
        if self.repeats > 0 {
            members.insert("transport".into(), json!({"repeats": self.repeats}));
        }
        members
    }
}

/// A success: `structuredContent` as text, and what comes beside it.
#[derive(Debug, Clone)]
pub struct Success {
    /// A JSON object on one line.
    pub structured: Box<RawValue>,
    /// Images and other binary parts.
    pub attachments: Vec<Attachment>,
}

/// What the host stamps onto a tool's own data.
pub fn success(
    desc: &ToolDesc,
    mode: Mode,
    answer: Answer,
    live: &Live,
    fields: Option<&[String]>,
) -> Box<RawValue> {
    let mut stamped = Map::new();
    stamped.insert("execution_mode".into(), mode.as_str().into());
    if desc.modes.contains(&Mode::Live) {
        stamped.insert("is_live_engine".into(), (mode == Mode::Live).into());
    }
    if desc.bound.is_some() {
        // A tool that declares a bound says whether it was reached; silence is not a claim of wholeness.
        stamped.insert("truncated".into(), answer.truncated.unwrap_or(true).into());
    }
    stamped.extend(live.members());
    for fact in &answer.facts {
        let (name, value) = published(fact);
        stamped.insert(name.into(), value);
    }
    let steps = follow_ups(&answer.facts);
    if !steps.is_empty() {
        stamped.insert("follow_up".into(), steps.into());
    }
    let data = match fields {
        Some(fields) => narrow(&answer.data, &desc.sections, fields, &mut stamped),
        None => answer.data,
    };
    splice(&stamped, &data)
}

/// An answer of the host's own, such as a preview.
pub fn own(mode: Mode, data: Value) -> Box<RawValue> {
    let mut whole = Map::new();
    whole.insert("execution_mode".into(), mode.as_str().into());
    if let Value::Object(members) = data {
        whole.extend(members);
    }
    raw(&whole)
}

/// An object as an answer's data.
pub fn whole(members: &Map<String, Value>) -> Box<RawValue> {
    raw(members)
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    // What is written here are trees of JSON values, which always serialise.
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The stamped members in front of the data's own, without taking the data apart.
fn splice(stamped: &Map<String, Value>, data: &RawValue) -> Box<RawValue> {
    let head = raw(stamped);
    let (head, data) = (head.get(), one_line(data.get()));
    let inner = data.trim_start_matches('{').trim_start();
    let mut text = String::with_capacity(head.len() + data.len() + 1);
    text.push_str(&head[..head.len() - 1]);
    if inner != "}" {
        text.push(',');
    }
    text.push_str(&data[data.len() - inner.len()..]);
    RawValue::from_string(text).unwrap_or_else(|_| raw(stamped))
}

/// A pack that wrote its JSON over several lines would break the protocol's framing.
fn one_line(data: &str) -> std::borrow::Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', data.as_bytes()).is_none() {
        return data.into();
    }
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    value.to_string().into()
}

/// Keeps the named sections and every member that is no section.
fn narrow(
    data: &RawValue,
    sections: &[String],
    fields: &[String],
    stamped: &mut Map<String, Value>,
) -> Box<RawValue> {
    let Ok(mut members) = serde_json::from_str::<IndexMap<String, Box<RawValue>>>(data.get())
    else {
        return data.to_owned();
    };
    let omitted: Vec<_> = sections.iter().filter(|name| !fields.contains(name)).collect();
    members.retain(|name, _| !omitted.contains(&name));
    stamped.insert("omitted_fields".into(), json!(omitted));
    raw(&members)
}

fn published(fact: &Fact) -> (&'static str, Value) {
    match fact {
        Fact::SceneSaved(saved) => ("scene_saved", (*saved).into()),
        Fact::RequiresEditorRestart(needed) => ("requires_editor_restart", (*needed).into()),
        Fact::WrittenTo(file) => ("written_to", file.clone().into()),
        Fact::EditorReloaded(reloaded) => ("editor_reloaded", (*reloaded).into()),
        // The set of facts is open; one that this host does not know says nothing here.
        _ => ("fact", Value::Null),
    }
}

/// The steps that a success leaves undone.
fn follow_ups(facts: &[Fact]) -> Vec<Value> {
    let restart = |reason: &str| json!({"work": Work::Restart, "reason": reason});
    let step = |fact: &Fact| match fact {
        Fact::SceneSaved(false) => Some(json!({
            "work": Work::Save,
            "tool": "editor_save_scene",
            "reason": "the edited scene is changed in the editor and not yet on disk",
        })),
        Fact::RequiresEditorRestart(true) => {
            Some(restart("the attached editor takes this up only when it is started again"))
        }
        Fact::WrittenTo(_) => Some(restart(
            "the file was written while no editor was attached; an open editor keeps its old copy",
        )),
        Fact::EditorReloaded(false) => Some(restart("the editor did not take the written file up")),
        _ => None,
    };
    facts.iter().filter_map(step).collect()
}

/// What a client wants left out of a success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Economy {
    /// No text copy of `structuredContent`.
    pub omit_text_copy: bool,
    /// The session descriptor only when the client does not hold it.
    pub omit_session_descriptor: bool,
}

/// A success as one document, for callers that take no parts beside it: the session that served in front, and
/// pictures and other binary parts in `attachments`, in base64.
pub fn in_one(success: Success, session: Option<&Identity>) -> Box<RawValue> {
    let mut beside = Map::new();
    if let Some(identity) = session {
        beside.insert("session".into(), json!(identity));
    }
    if !success.attachments.is_empty() {
        let encode = |one: &Attachment| {
            let data = base64::engine::general_purpose::STANDARD.encode(&one.data);
            json!({"mime_type": one.mime, "data": data})
        };
        let parts: Vec<Value> = success.attachments.iter().map(encode).collect();
        beside.insert("attachments".into(), parts.into());
    }
    if beside.is_empty() { success.structured } else { splice(&beside, &success.structured) }
}

/// The result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Content {
    Text {
        text: String,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        mime: String,
    },
    Audio {
        data: String,
        #[serde(rename = "mimeType")]
        mime: String,
    },
    Resource {
        resource: Value,
    },
}

impl CallResult {
    /// Writes an outcome for a client. `result_type` is set for modern ones; `economy` says, too, whether the
    /// client holds the session's descriptor already.
    pub fn of(outcome: Outcome, economy: Economy, result_type: Option<&'static str>) -> Self {
        let meta = (!outcome.meta.is_empty()).then(|| json!({"didi": outcome.meta}));
        let (content, structured_content, is_error) = match outcome.body {
            Ok(mut success) => {
                if let Some(identity) = &outcome.session {
                    let session = json!({"session": shown(identity, economy)});
                    let session = session.as_object().cloned().unwrap_or_default();
                    success.structured = splice(&session, &success.structured);
                }
                let mut content = vec![];
                if !economy.omit_text_copy {
                    content.push(Content::Text { text: success.structured.get().to_owned() });
                }
                content.extend(success.attachments.into_iter().map(attached));
                (content, Some(success.structured), false)
            }
            Err(refusal) => {
                let text = error_document(
                    refusal,
                    outcome.mode,
                    &outcome.names,
                    outcome.session.as_deref(),
                )
                .to_string();
                (vec![Content::Text { text }], None, true)
            }
        };
        CallResult { result_type, content, structured_content, is_error, meta }
    }
}

fn attached(one: Attachment) -> Content {
    let data = base64::engine::general_purpose::STANDARD.encode(&one.data);
    let mime = one.mime;
    match mime.split('/').next() {
        Some("image") => Content::Image { data, mime },
        Some("audio") => Content::Audio { data, mime },
        _ => Content::Resource {
            resource: json!({"uri": "didi://attachment", "mimeType": mime, "blob": data}),
        },
    }
}

/// The envelope of a failure. Every failure is one; none is a bare sentence.
pub fn error_document(
    refusal: Refusal,
    mode: Mode,
    names: &(String, String),
    session: Option<&Identity>,
) -> Value {
    let mut data = Map::new();
    data.insert("code".into(), refusal.code.name.clone().into());
    data.insert("tool".into(), names.0.clone().into());
    data.insert("canonical_tool".into(), names.1.clone().into());
    let retryable = floor::retryable(&refusal);
    data.insert("retryable".into(), retryable.into());
    data.extend(*refusal.data);
    let mut document = json!({
        "error": {"code": refusal.code.status, "message": refusal.message, "data": data},
        "execution_mode": mode.as_str(),
    });
    if let Some(identity) = session {
        // Which route failed is said; the address to connect to is not published by a failure.
        let mut shown = json!(identity);
        shown.as_object_mut().map(|members| members.shift_remove("endpoint"));
        document["session"] = shown;
    }
    document
}

/// The session in a success: whole, or its name alone for a client that holds the rest.
fn shown(identity: &Identity, economy: Economy) -> Value {
    if economy.omit_session_descriptor {
        return json!({"session_id": identity.session_id, "kind": identity.kind});
    }
    json!(identity)
}

#[cfg(test)]
mod tests;
