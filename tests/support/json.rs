//! Patterns of JSON: what an expected line says, and what it leaves open.
//!
//! `"[any]"` matches every value, `"[string]"`, `"[int]"`, `"[bool]"`, `"[object]"` and `"[array]"` every
//! value of that kind, `"[hex64]"` 64 hex digits, `"[*text*]"` a string that contains the text. `NAME` after a
//! `=`, as in `"[hex64=TOKEN]"`, keeps the value. An object has exactly the members named, unless it has
//! `"...": true`; an array has exactly the items named, unless its last is `"..."`. `{"[json]": pattern}` is a
//! string whose text is JSON that the pattern matches.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values that patterns kept.
pub type Kept = BTreeMap<String, Value>;

/// Compares a value with a pattern; values to keep go to `kept`.
///
/// # Errors
/// Where they differ, and how.
pub fn matches(pattern: &Value, value: &Value, kept: &mut Kept) -> Result<(), String> {
    at("$", pattern, value, kept)
}

fn at(path: &str, pattern: &Value, value: &Value, kept: &mut Kept) -> Result<(), String> {
    match (pattern, value) {
        (Value::String(text), _) if text.starts_with('[') && text.ends_with(']') => {
            open(path, &text[1..text.len() - 1], value, kept)
        }
        (Value::Object(wanted), Value::String(text)) if wanted.contains_key("[json]") => {
            let inner: Value = serde_json::from_str(text)
                .map_err(|error| format!("{path}: not JSON ({error}): {text}"))?;
            at(&format!("{path}(json)"), &wanted["[json]"], &inner, kept)
        }
        (Value::Object(wanted), Value::Object(members)) => object(path, wanted, members, kept),
        (Value::Array(wanted), Value::Array(items)) => array(path, wanted, items, kept),
        _ if pattern == value => Ok(()),
        _ => Err(format!("{path}: expected {pattern}, got {value}")),
    }
}

fn open(path: &str, pattern: &str, value: &Value, kept: &mut Kept) -> Result<(), String> {
    let inner = pattern.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
    let (kind, name) = match pattern.split_once('=') {
        Some((kind, name)) if inner.is_none() => (kind, Some(name)),
        _ => (pattern, None),
    };
    let fits = match (inner, kind) {
        (Some(part), _) => value.as_str().is_some_and(|text| text.contains(part)),
        (None, "any") => true,
        (None, "string") => value.is_string(),
        (None, "int") => value.is_i64() || value.is_u64(),
        (None, "bool") => value.is_boolean(),
        (None, "object") => value.is_object(),
        (None, "array") => value.is_array(),
        (None, "hex64") => value.as_str().is_some_and(is_hex64),
        (None, other) => return Err(format!("{path}: the pattern [{other}] is not known")),
    };
    if !fits {
        return Err(format!("{path}: expected [{pattern}], got {value}"));
    }
    if let Some(name) = name {
        kept.insert(name.to_owned(), value.clone());
    }
    Ok(())
}

fn is_hex64(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn object(
    path: &str,
    wanted: &Map<String, Value>,
    members: &Map<String, Value>,
    kept: &mut Kept,
) -> Result<(), String> {
    let more = wanted.get("...") == Some(&Value::Bool(true));
    for (name, pattern) in wanted.iter().filter(|(name, _)| *name != "...") {
        let Some(value) = members.get(name) else {
            return Err(format!("{path}.{name}: missing in {}", Value::Object(members.clone())));
        };
        at(&format!("{path}.{name}"), pattern, value, kept)?;
    }
    match members.keys().find(|name| !wanted.contains_key(*name)) {
        Some(name) if !more => Err(format!("{path}.{name}: not expected: {}", members[name])),
        _ => Ok(()),
    }
}

fn array(path: &str, wanted: &[Value], items: &[Value], kept: &mut Kept) -> Result<(), String> {
    let more = wanted.last().is_some_and(|last| last == "...");
    let wanted = if more { &wanted[..wanted.len() - 1] } else { wanted };
    if items.len() < wanted.len() || (items.len() > wanted.len() && !more) {
        return Err(format!("{path}: expected {} items, got {}", wanted.len(), items.len()));
    }
    for (place, (pattern, value)) in wanted.iter().zip(items).enumerate() {
        at(&format!("{path}[{place}]"), pattern, value, kept)?;
    }
    Ok(())
}

/// Members that are null on purpose: the id of an error that belongs to no request, and documented ones.
const MAY_BE_NULL: &[&str] = &[
    ".after",
    ".api_version_matches_project_features",
    ".attached_engine_version",
    ".before",
    ".default",
    ".details",
    ".engine_executable",
    ".id",
    ".matches_attached_engine",
    ".resource_type",
    ".undo",
    ".value",
];

/// Absent members are absent, never null.
///
/// # Errors
/// The paths of the nulls that no document allows.
pub fn no_nulls(message: &Value) -> Result<(), String> {
    let mut found = vec![];
    nulls(message, "", &mut found);
    found.retain(|path| !MAY_BE_NULL.iter().any(|allowed| path.ends_with(allowed)));
    if found.is_empty() { Ok(()) } else { Err(format!("null members {found:?} in {message}")) }
}

fn nulls(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(path.to_owned()),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                nulls(item, &format!("{path}[{place}]"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                nulls(member, &format!("{path}.{name}"), found);
            }
        }
        _ => {}
    }
}
