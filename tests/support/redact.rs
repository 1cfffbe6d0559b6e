//! What differs from run to run, replaced by its name: one list for every snapshot.

use std::path::Path;

use serde_json::Value;

/// Members whose number or text is never the same twice.
const MEMBERS: &[(&str, &str)] = &[
    ("pid", "[pid]"),
    ("taskId", "[task]"),
    ("job_id", "[job]"),
    ("checkpoint_id", "[checkpoint]"),
    ("at", "[time]"),
    ("started_at", "[time]"),
    ("started_at_ms", "[time]"),
    ("createdAt", "[time]"),
    ("lastUpdatedAt", "[time]"),
    ("timestamp_ms", "[time]"),
    ("updated_at_ms", "[time]"),
    ("created_at_ms", "[time]"),
    ("elapsed_ms", "[ms]"),
    ("waited_ms", "[ms]"),
    ("duration_ms", "[ms]"),
    ("ran_at", "[time]"),
    ("ran_ms", "[ms]"),
    ("requestState", "[state]"),
    ("version", "[version]"),
    ("rustc", "[version]"),
];

/// Replaces what differs: known members, 64 hex digits, and the given folders.
pub fn redact(value: &Value, folders: &[(&Path, &str)]) -> Value {
    match value {
        Value::String(text) => redact_text(text, folders).into(),
        Value::Array(items) => items.iter().map(|item| redact(item, folders)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), member(name, value, folders)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        plain => plain.clone(),
    }
}

fn member(name: &str, value: &Value, folders: &[(&Path, &str)]) -> Value {
    let known = MEMBERS.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, shown)) if value.is_string() || value.is_number() => (*shown).into(),
        _ => redact(value, folders),
    }
}

fn redact_text(text: &str, folders: &[(&Path, &str)]) -> String {
    let mut text = text.to_owned();
    for (folder, shown) in folders {
        text = text.replace(&folder.display().to_string(), shown);
    }
    hide_hex(&text)
}

/// Every run of 64 hex digits becomes `[hex64]`, every one of 32 `[hex32]`.
fn hide_hex(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_hexdigit()) {
        let run = &rest[start..];
        let end = run.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(run.len());
        shown.push_str(&rest[..start]);
        shown.push_str(match end {
            64 => "[hex64]",
            32 => "[hex32]",
            _ => &run[..end],
        });
        rest = &run[end..];
    }
    shown + rest
}
