//! Before step three, in builds with the feature `argument-normalization` alone: arguments of three reading tools that a
//! client wrote in another form are brought into the published one.
//!
//! It is done for a call that asks for it in its `_meta`, and for no other. Only forms that can mean one thing are taken:
//! an integer or a number that is written as a text, where the schema has an integer or a number, and `[x, y]` where it
//! has a point. What is of another form is left as it is, for the schema to judge. The answer names what was changed.
//!
//! Spec: P-11, argument checks.

use didi_plugin_api::refusal::Refusal;
use serde_json::{Map, Value, json};

use super::{Verdict, profile::Listed};
use crate::text::clip;

/// Where a request asks for it, in its `_meta`.
pub const META: &str = "didi/argumentNormalization";
/// The one set of rules that there is.
pub const PROFILE: &str = "safe-v1";

/// The tools that it is done for.
const TOOLS: [&str; 3] = ["scene_get_hierarchy", "ui_hit_test", "ui_list_controls"];
/// The deepest arguments that are looked through.
const MAX_DEPTH: usize = 8;
/// The most values in them.
const MAX_VALUES: usize = 4096;
/// Their largest size, in bytes of JSON.
const MAX_BYTES: usize = 65_536;

/// What a call asked for, and which of its arguments were changed.
pub struct Normalized(Option<Vec<String>>);

/// Brings arguments into the published form.
///
/// # Errors
/// `invalid_arguments` for a set of rules that is none, and for arguments that are over a bound.
pub fn apply(listed: &mut Listed) -> Result<Normalized, Refusal> {
    let Listed { call, tool } = listed;
    let Some(asked) = &call.caller.normalization else { return Ok(Normalized(None)) };
    if asked != PROFILE {
        let message = format!(
            "`_meta` asks for the normalization `{}`, and there is `{PROFILE}`",
            clip(asked)
        );
        return Err(Refusal::invalid(META, message));
    }
    if !TOOLS.contains(&tool.desc.name.as_str()) {
        return Ok(Normalized(None));
    }
    within_bounds(&call.arguments)?;
    let mut changed = vec![];
    for (name, value) in &mut call.arguments {
        let mut differs = false;
        normalize(&tool.input_schema["properties"][name], value, &mut differs);
        if differs {
            changed.push(name.clone());
        }
    }
    Ok(Normalized(Some(changed)))
}

impl Normalized {
    /// Says in an answer what was changed.
    pub fn note(self, mut verdict: Verdict) -> Verdict {
        if let (Verdict::Done(outcome), Some(changed)) = (&mut verdict, self.0) {
            let told = json!({"profile": PROFILE, "changed": changed});
            outcome.meta.insert("argumentNormalization".into(), told);
        }
        verdict
    }
}

fn within_bounds(arguments: &Map<String, Value>) -> Result<(), Refusal> {
    let mut values = 0;
    let shallow = arguments.values().all(|value| counted(value, 1, &mut values));
    let bytes = || {
        arguments.iter().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>()
    };
    if shallow && bytes() <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "arguments that are to be normalized have at most {MAX_DEPTH} levels, {MAX_VALUES} values and {MAX_BYTES} bytes"
    );
    Err(Refusal::invalid("arguments", message))
}

/// Whether a value and all in it are within depth and number.
fn counted(value: &Value, depth: usize, values: &mut usize) -> bool {
    *values += 1;
    if depth > MAX_DEPTH || *values > MAX_VALUES {
        return false;
    }
    match value {
        Value::Array(items) => items.iter().all(|item| counted(item, depth + 1, values)),
        Value::Object(members) => members.values().all(|member| counted(member, depth + 1, values)),
        _ => true,
    }
}

fn normalize(schema: &Value, value: &mut Value, differs: &mut bool) {
    if let Some(other) = in_form(schema, value) {
        *value = other;
        *differs = true;
    }
    match value {
        Value::Array(items) => {
            for item in items {
                normalize(&schema["items"], item, differs);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                normalize(&schema["properties"][name], member, differs);
            }
        }
        _ => {}
    }
}

/// A value in the form that the schema has, where it is of another that can mean one thing.
fn in_form(schema: &Value, value: &Value) -> Option<Value> {
    match (schema["type"].as_str()?, value) {
        ("integer", Value::String(text)) => integer(text),
        ("number", Value::String(text)) => number(text),
        ("object", Value::Array(items)) if is_point(schema) => match items.as_slice() {
            [x, y] => Some(json!({"x": x, "y": y})),
            _ => None,
        },
        _ => None,
    }
}

/// An integer as JSON writes it.
fn integer(text: &str) -> Option<Value> {
    let value: i64 = text.parse().ok()?;
    (value.to_string() == text).then(|| value.into())
}

/// A number as JSON writes it.
fn number(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    let has_digits_alone = text.bytes().all(|byte| !byte.is_ascii_whitespace());
    (value.is_number() && has_digits_alone).then_some(value)
}

fn is_point(schema: &Value) -> bool {
    let properties = schema["properties"].as_object();
    properties.is_some_and(|all| {
        all.len() == 2
            && ["x", "y"].iter().all(|name| all.get(*name).is_some_and(|it| it["type"] == "number"))
    })
}

#[cfg(test)]
mod tests;
