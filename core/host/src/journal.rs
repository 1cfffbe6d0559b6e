//! The change journal: every mutation of this project, by any server process, in `.didi/journal.json`.
//!
//! Values are redacted by the name of their key before they are written, and cut to a preview. A file that
//! does not parse is set aside by the next change, never overwritten.
//!
//! Spec: P-13, the change journal.

use std::{
    cmp::Ordering,
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use didi_plugin_api::{
    outcome::Target,
    refusal::{Code, Refusal},
};
use serde_json::{Map, Value, json};

use crate::{
    cancel::Cancel,
    files::{ProjectFiles, WriteRecord},
    source,
};

/// Entries that are kept.
pub const MAX_ENTRIES: usize = 200;

/// Entries that a read shows.
pub const SHOWN_ENTRIES: usize = 50;

/// Preview of one value, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// One entry, in bytes; larger ones lose their arguments.
const MAX_ENTRY_BYTES: usize = 4096;

/// Largest journal that is read, in bytes.
const MAX_JOURNAL_BYTES: u64 = 4 * 1024 * 1024;

/// Words that mark a key whose value is a secret.
const SECRET_WORDS: [&str; 9] = [
    "password",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "private_key",
    "credential",
    "authorization",
];

/// Why a journal of a later format is not read.
const NEWER: &str = "it has a newer format";

/// The journal has no entry of this name.
const JOURNAL_ENTRY_NOT_FOUND: Code = Code::new(404, "journal_entry_not_found");
/// The journal's file is not what this server writes.
const JOURNAL_UNREADABLE: Code = Code::new(409, "journal_unreadable");
/// The journal was written by a later version.
const JOURNAL_FORMAT_NEWER: Code = Code::new(409, "journal_format_newer");

/// The tool that takes back what an entry tells of.
const UNDO: &str = "editor_undo";

/// What stands in place of a secret.
const REDACTED: &str = "(redacted)";

/// What is recorded of one change.
pub struct Record<'a> {
    /// The tool's canonical name.
    pub tool: &'a str,
    /// Whether the call succeeded.
    pub applied: bool,
    /// What a preview saw, where one was made.
    pub target: Option<&'a Target>,
    /// The arguments.
    pub arguments: &'a Map<String, Value>,
    /// The files written.
    pub writes: &'a [WriteRecord],
    /// The steps that the editor's undo histories gained.
    pub undo_steps: &'a [Value],
    /// The session that they were gained in.
    pub session: Option<String>,
}

/// An attached editor, by which entries are judged.
pub struct Editor {
    /// Its session; 32 hex digits.
    pub session: String,
    /// Its undo histories as it tells them: `history_id`, the `version` that it stands at, and the `serials` of the steps
    /// that stand, in ranges of first and last.
    pub histories: Vec<Value>,
}

/// The journal of one project.
#[derive(Clone)]
pub struct Journal {
    files: ProjectFiles,
    last_id: Arc<Mutex<u64>>,
}

impl Journal {
    /// Nothing is read or made before the first change.
    pub fn new(files: ProjectFiles) -> Self {
        Journal { files, last_id: Arc::default() }
    }

    /// Adds an entry, and answers its name. A journal that can't be written is logged and does not undo the change.
    pub fn record(&self, record: &Record<'_>) -> Option<String> {
        self.append(record)
            .inspect_err(|error| tracing::error!("the change journal can't be written: {error}"))
            .ok()
    }

    /// The newest entries, as `godot://project/journal` shows them; an editor says which can be taken back.
    pub fn read(&self, editor: Option<&Editor>) -> Value {
        let kept = match self.load() {
            Ok(kept) => kept,
            Err(why) => {
                return json!({"status": "unreadable", "reason": why, "entries": [], "total": 0, "dropped": 0, "truncated": false});
            }
        };
        let newest = kept.entries.iter().rev().take(SHOWN_ENTRIES);
        let shown: Vec<Value> = newest
            .map(|entry| {
                let mut shown = judged(entry, editor);
                if let Some(by) = kept.undone_by(entry) {
                    shown["undone_by"] = by.clone();
                }
                shown
            })
            .collect();
        let by = match editor {
            Some(editor) => json!({"judged": true, "session_id": editor.session}),
            None => json!({"judged": false, "reason": "no editor is attached"}),
        };
        json!({
            "status": if kept.entries.is_empty() { "empty" } else { "ok" },
            "entries": shown,
            "total": kept.entries.len(),
            "dropped": kept.dropped,
            "truncated": kept.entries.len() > SHOWN_ENTRIES,
            "editor": by,
        })
    }

    /// One entry, as it was recorded.
    ///
    /// # Errors
    /// `journal_entry_not_found`, `journal_unreadable`, `journal_format_newer`.
    pub fn entry(&self, id: &str) -> Result<Value, Refusal> {
        let kept = self.load().map_err(|why| {
            let code = if why == NEWER { JOURNAL_FORMAT_NEWER } else { JOURNAL_UNREADABLE };
            Refusal::new(code, format!("the change journal can't be read: {why}")).floor()
        })?;
        kept.entries.into_iter().find(|entry| entry["id"] == id).ok_or_else(|| {
            let message = format!("the change journal has no entry `{id}`");
            Refusal::new(JOURNAL_ENTRY_NOT_FOUND, message).floor()
        })
    }

    fn place(&self) -> PathBuf {
        self.files.root().folder().join(".didi/journal.json")
    }

    fn append(&self, record: &Record<'_>) -> io::Result<String> {
        let busy = |refusal: Refusal| io::Error::other(refusal.message);
        let lock = self.files.lock(".didi/journal.json", &Cancel::default()).map_err(busy)?;
        let mut kept = if let Ok(kept) = self.load() {
            kept
        } else {
            let aside = format!(".didi/journal.unreadable-{}.json", source::now_ms());
            fs::rename(self.place(), self.files.root().folder().join(aside))?;
            Kept::default()
        };
        let entry = self.new_entry(record);
        let id = entry["id"].as_str().unwrap_or_default().to_owned();
        kept.entries.push(entry);
        let surplus = kept.entries.len().saturating_sub(MAX_ENTRIES);
        kept.entries.drain(..surplus);
        kept.dropped += surplus as u64;
        let document = json!({"format": 1, "dropped": kept.dropped, "entries": kept.entries});
        self.files.replace(&lock, &self.place(), document.to_string().as_bytes())?;
        Ok(id)
    }

    fn load(&self) -> Result<Kept, String> {
        let bytes = match fs::metadata(self.place()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
            Err(error) => return Err(error.to_string()),
            Ok(found) if found.len() > MAX_JOURNAL_BYTES => return Err("it is too large".into()),
            Ok(_) => fs::read(self.place()).map_err(|error| error.to_string())?,
        };
        let document: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if document["format"] != 1 {
            return Err(NEWER.into());
        }
        let entries = document["entries"].as_array().ok_or("it has no entries")?.clone();
        Ok(Kept { entries, dropped: document["dropped"].as_u64().unwrap_or(0) })
    }

    fn new_entry(&self, record: &Record<'_>) -> Value {
        let files: Vec<Value> = record.writes.iter().map(file_entry).collect();
        let side = |text: fn(&WriteRecord) -> Value| -> Value {
            match record.writes {
                [one] => text(one),
                _ => Value::Null,
            }
        };
        let target = record.target.map(|target| target.subject.clone());
        let target = target.or_else(|| record.writes.first().map(|one| one.path.clone()));
        let mut entry = json!({
            "id": self.next_id(),
            "at": source::iso8601(source::now_ms()),
            "tool": record.tool,
            "outcome": if record.applied { "applied" } else { "failed" },
            "target": target,
            "arguments": redacted(record.arguments),
            "before": side(|one| state(one.before.as_ref())),
            "after": side(|one| state(Some(&one.after))),
            "files": files,
        });
        if record.undo_steps.is_empty() {
            entry["undo"] = Value::Null;
            entry["undo_note"] = "no history of an editor has a step for it".into();
        } else {
            entry["undo"] = json!({"session_id": record.session, "steps": record.undo_steps});
        }
        let scene = record.undo_steps.iter().find_map(|step| step.get("scene_file_path"));
        if let Some(scene) = scene {
            entry["scene"] = scene.clone();
        }
        let meant = record.arguments.get("journal_entry").filter(|_| record.tool == UNDO);
        if let Some(undone) = meant.filter(|_| record.applied) {
            entry["undoes"] = undone.clone();
        }
        if entry.to_string().len() > MAX_ENTRY_BYTES {
            entry["arguments"] = json!({"elided_bytes": entry["arguments"].to_string().len()});
        }
        entry
    }

    /// Milliseconds since 1970, moved on where two changes fall into one.
    fn next_id(&self) -> String {
        let mut last = self.last_id.lock().unwrap_or_else(PoisonError::into_inner);
        *last = source::now_ms().max(*last + 1);
        format!("{:x}-{}", *last, source::random_hex::<3>())
    }
}

#[derive(Default)]
struct Kept {
    entries: Vec<Value>,
    dropped: u64,
}

impl Kept {
    /// The newest entry that took this one back.
    fn undone_by(&self, entry: &Value) -> Option<&Value> {
        let undo = self.entries.iter().rev().find(|one| one["undoes"] == entry["id"]);
        undo.map(|undo| &undo["id"])
    }
}

/// The entry, with whether its newest step can be taken back and what stands in the way.
fn judged(entry: &Value, editor: Option<&Editor>) -> Value {
    let mut entry = entry.clone();
    let step = entry["undo"]["steps"].as_array().and_then(|steps| steps.last()).cloned();
    let (state, why) = match (step, editor) {
        (None, _) => ("none", None),
        (Some(_), None) => ("unknown", None),
        (Some(_), Some(editor)) if entry["undo"]["session_id"] != editor.session.as_str() => {
            ("gone", None)
        }
        (Some(step), Some(editor)) => standing(&step, &editor.histories),
    };
    entry["undo_state"] = state.into();
    if let Some((name, value)) = why {
        entry[name] = value;
    }
    entry
}

/// How a step stands in the histories of the editor that made it.
fn standing(step: &Value, histories: &[Value]) -> (&'static str, Option<(&'static str, Value)>) {
    let own = histories.iter().find(|history| history["history_id"] == step["history_id"]);
    let Some(own) = own else {
        let file = step.get("scene_file_path").filter(|file| file.is_string());
        if histories.iter().any(|other| file.is_some() && other.get("scene_file_path") == file) {
            // Its scene was closed and opened again, and has another history.
            return ("gone", None);
        }
        // The history of a scene that is not the edited one can't be seen.
        let open = step.get("scene_file_path").cloned();
        return ("blocked", open.map(|scene| ("scene_open", json!({"scene_path": scene}))));
    };
    let number = |value: &Value| value["version"].as_u64().unwrap_or_default();
    let (made, now) = (number(step), number(own));
    if !stands(step, own) {
        return ("undone", None);
    }
    match now.cmp(&made) {
        Ordering::Equal => ("available", None),
        Ordering::Greater => ("later_history", Some(("later_actions", (now - made).into()))),
        Ordering::Less => ("undone", None),
    }
}

/// Whether the editor has a step among those that stand: another one may have its version by now. Who tells of no serials is
/// asked by versions alone.
fn stands(step: &Value, history: &Value) -> bool {
    let (Some(serial), Some(ranges)) = (step["serial"].as_i64(), history["serials"].as_array())
    else {
        return true;
    };
    let holds = |range: &Value| {
        let end = |at: usize| range[at].as_i64();
        end(0).is_some_and(|first| first <= serial) && end(1).is_some_and(|last| serial <= last)
    };
    ranges.iter().any(holds)
}

fn file_entry(write: &WriteRecord) -> Value {
    json!({
        "path": write.path,
        "before": state(write.before.as_ref()),
        "after": state(Some(&write.after)),
    })
}

fn state(found: Option<&(u64, String)>) -> Value {
    match found {
        Some((size, digest)) => json!({"exists": true, "size_bytes": size, "sha256": digest}),
        None => json!({"exists": false}),
    }
}

/// Arguments with secrets taken out and long values cut.
pub fn redacted(arguments: &Map<String, Value>) -> Value {
    redact_members(arguments)
}

fn redact_members(members: &Map<String, Value>) -> Value {
    // A setting or property that is named like a secret has its value beside the name.
    let names_secret = members.iter().any(|(key, value)| {
        ["setting", "property_name", "path", "name"].contains(&key.as_str())
            && value.as_str().is_some_and(is_secret)
    });
    let redact = |key: &String, value: &Value| {
        let beside = names_secret && (key == "value" || key == "values");
        if is_secret(key) || beside { REDACTED.into() } else { redact_value(value) }
    };
    Value::Object(members.iter().map(|(key, value)| (key.clone(), redact(key, value))).collect())
}

fn redact_value(value: &Value) -> Value {
    match value {
        Value::Object(members) => redact_members(members),
        Value::Array(items) => items.iter().map(redact_value).collect(),
        Value::String(text) if text.len() > MAX_VALUE_BYTES => {
            let mut end = MAX_VALUE_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            json!(format!("{}... ({} bytes)", &text[..end], text.len()))
        }
        plain => plain.clone(),
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase().replace(['-', ' '], "_");
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests;
