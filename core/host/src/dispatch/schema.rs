//! Step four: the arguments against the published schema, all problems in one refusal.
//!
//! The check walks the very document that clients were given, so a client that validates before sending
//! reaches the same verdict. Where one misnamed argument is the only fault, the refusal says the right name
//! and the call to send.
//!
//! Spec: P-11, argument checks.

use std::sync::Arc;

use didi_plugin_api::{
    near::distance,
    refusal::{Refusal, codes},
};
use regex_lite::Regex;
use serde_json::{Map, Value, json};

use super::{Call, job_key::Keyed};
use crate::catalog::Tool;

/// Largest value that a suggested retry repeats, in bytes.
const MAX_RETRY_VALUE_BYTES: usize = 1024;

/// Problems that one refusal names.
const MAX_PROBLEMS: usize = 8;

/// A call whose arguments fit the published schema.
pub struct Validated {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    pub(super) request_id: Option<String>,
}

/// Checks the arguments.
///
/// # Errors
/// `invalid_arguments` with `missing`, `unknown`, `accepted` and, for a single fault, `field` or
/// `did_you_mean` with `retry_with`.
pub fn check(keyed: Keyed) -> Result<Validated, Refusal> {
    let Keyed { call, tool, request_id } = keyed;
    let found = Findings::of(&tool.input_schema, &call.arguments);
    if found.is_clean() {
        return Ok(Validated { call, tool, request_id });
    }
    Err(found.refusal(&tool.desc.name, &tool.input_schema, &call.arguments))
}

/// What is wrong with the values of those arguments that a schema names, if something is.
pub fn unfit(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    let problems = Findings::of(schema, arguments).problems;
    let told = problems.iter().take(MAX_PROBLEMS).map(|(path, why)| format!("'{path}': {why}"));
    (!problems.is_empty()).then(|| told.collect::<Vec<_>>().join(", "))
}

/// What is wrong with a set of arguments.
#[derive(Debug, Default)]
struct Findings {
    missing: Vec<String>,
    unknown: Vec<String>,
    problems: Vec<(String, String)>,
}

impl Findings {
    fn of(schema: &Value, arguments: &Map<String, Value>) -> Self {
        let mut found = Findings::default();
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !arguments.contains_key(name) {
                found.missing.push(name.into());
            }
        }
        for (name, value) in arguments {
            match properties.get(name) {
                Some(property) => check_value(property, value, name, &mut found.problems),
                None => found.unknown.push(name.clone()),
            }
        }
        found
    }

    fn is_clean(&self) -> bool {
        self.missing.is_empty() && self.unknown.is_empty() && self.problems.is_empty()
    }

    fn refusal(&self, tool: &str, schema: &Value, arguments: &Map<String, Value>) -> Refusal {
        let accepted: Vec<String> = (schema["properties"].as_object().into_iter().flatten())
            .map(|(name, _)| name.clone())
            .collect();
        let mut refusal =
            Refusal::new(codes::INVALID_ARGUMENTS, self.message(tool, &accepted)).floor();
        if !self.missing.is_empty() {
            refusal = refusal.with("missing", self.missing.clone());
        }
        if !self.unknown.is_empty() {
            refusal = refusal.with("unknown", self.unknown.clone());
        }
        refusal = refusal.with("accepted", accepted.clone());
        if let Some((path, _)) = self.problems.first() {
            refusal = refusal.with("field", path.clone());
        } else if let Some(name) = self.unknown.first() {
            refusal = refusal.with("field", name.clone());
        }
        self.suggest(refusal, schema, &accepted, arguments)
    }

    fn message(&self, tool: &str, accepted: &[String]) -> String {
        let mut parts = vec![];
        if !self.missing.is_empty() {
            parts.push(format!("is missing {}", quoted(&self.missing)));
        }
        if !self.unknown.is_empty() {
            parts.push(format!("does not take {}", quoted(&self.unknown)));
        }
        for (path, why) in self.problems.iter().take(MAX_PROBLEMS) {
            parts.push(format!("can't use `{path}`: {why}"));
        }
        let takes = if accepted.is_empty() {
            "it takes no arguments".to_owned()
        } else {
            format!("it takes {}", quoted(accepted))
        };
        format!("`{tool}` {}; {takes}", parts.join(", "))
    }

    /// One misnamed argument, and nothing else: the right name, and the call that is then valid.
    fn suggest(
        &self,
        refusal: Refusal,
        schema: &Value,
        accepted: &[String],
        arguments: &Map<String, Value>,
    ) -> Refusal {
        let [unknown] = self.unknown.as_slice() else { return refusal };
        if !self.problems.is_empty() || self.missing.len() > 1 {
            return refusal;
        }
        let right = match self.missing.first() {
            Some(missing) => missing.clone(),
            None => match closest(unknown, accepted, arguments) {
                Some(name) => name,
                None => return refusal,
            },
        };
        let mut moved = arguments.clone();
        let Some(value) = moved.shift_remove(unknown) else { return refusal };
        moved.insert(right.clone(), value.clone());
        if !Findings::of(schema, &moved).is_clean() {
            return refusal;
        }
        let refusal =
            refusal.with("argument", unknown.as_str()).with("did_you_mean", right.as_str());
        if value.to_string().len() > MAX_RETRY_VALUE_BYTES {
            return refusal;
        }
        refusal.with("retry_with", json!({ right: value }))
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// An accepted name that is not used yet and at most two letters, or a third of the name, away.
fn closest(name: &str, accepted: &[String], arguments: &Map<String, Value>) -> Option<String> {
    let near = |other: &&String| {
        let away = distance(name, other);
        away <= 2.max(name.len() / 3).min(name.len() / 2)
    };
    accepted
        .iter()
        .filter(|other| !arguments.contains_key(*other))
        .filter(near)
        .min_by_key(|other| distance(name, other))
        .cloned()
}

fn check_value(schema: &Value, value: &Value, path: &str, problems: &mut Vec<(String, String)>) {
    let mut problem = |why: String| problems.push((path.to_owned(), why));
    if !type_fits(&schema["type"], value) {
        problem(format!("it has to be {}, not {}", type_words(&schema["type"]), kind_of(value)));
        return;
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        let allowed: Vec<_> = allowed.iter().map(|one| one.to_string().replace('"', "`")).collect();
        problem(format!("it has to be one of {}", allowed.join(", ")));
        return;
    }
    match value {
        Value::String(text) => check_text(schema, text, &mut problem),
        Value::Number(_) => check_number(schema, value, &mut problem),
        Value::Array(items) => check_items(schema, items, path, problems),
        Value::Object(members) => check_members(schema, members, path, problems),
        _ => {}
    }
}

fn check_text(schema: &Value, text: &str, problem: &mut impl FnMut(String)) {
    let bound = |name: &str| {
        schema[name].as_u64().map(|bound| usize::try_from(bound).unwrap_or(usize::MAX))
    };
    // Bytes bound characters from above, so most texts need no counting.
    let long = |bound: usize| text.len() > bound && text.chars().count() > bound;
    if let Some(least) = bound("minLength")
        && text.chars().take(least).count() < least
    {
        problem(if least == 1 {
            "it is empty".into()
        } else {
            format!("it has fewer than {least} characters")
        });
    }
    if let Some(most) = bound("maxLength")
        && long(most)
    {
        problem(format!("it has more than {most} characters"));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && !Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
    {
        problem(format!("it does not match `{pattern}`"));
    }
}

fn check_number(schema: &Value, value: &Value, problem: &mut impl FnMut(String)) {
    // Bounds are small numbers; a value that f64 rounds lies far outside them either way.
    let number = value.as_f64().unwrap_or(f64::NAN);
    if let Some(least) = schema["minimum"].as_f64()
        && number < least
    {
        problem(format!("it is less than {}", schema["minimum"]));
    }
    if let Some(most) = schema["maximum"].as_f64()
        && number > most
    {
        problem(format!("it is more than {}", schema["maximum"]));
    }
}

fn check_items(schema: &Value, items: &[Value], path: &str, problems: &mut Vec<(String, String)>) {
    let count = items.len() as u64;
    let mut problem = |why: String| problems.push((path.to_owned(), why));
    if let Some(least) = schema["minItems"].as_u64()
        && count < least
    {
        problem(format!("it has fewer than {least} items"));
    }
    if let Some(most) = schema["maxItems"].as_u64()
        && count > most
    {
        problem(format!("it has more than {most} items"));
        return;
    }
    if schema["uniqueItems"] == true && has_twins(items) {
        problem("an item stands in it twice".into());
    }
    if !schema["items"].is_object() {
        return;
    }
    for (place, item) in items.iter().enumerate() {
        check_value(&schema["items"], item, &format!("{path}[{place}]"), problems);
    }
}

fn has_twins(items: &[Value]) -> bool {
    let texts: std::collections::BTreeSet<_> = items.iter().map(super::value_digest).collect();
    texts.len() < items.len()
}

fn check_members(
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
    problems: &mut Vec<(String, String)>,
) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            problems.push((format!("{path}.{name}"), "it is missing".into()));
        }
    }
    for (name, value) in members {
        let inner = format!("{path}.{name}");
        match properties.get(name) {
            Some(property) => check_value(property, value, &inner, problems),
            None if schema["additionalProperties"] == false => {
                let known: Vec<String> = properties.keys().cloned().collect();
                problems.push((inner, format!("it is not one of {}", quoted(&known))));
            }
            None => {}
        }
    }
}

fn type_fits(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::String(name) => is_of(name, value),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).any(|name| is_of(name, value))
        }
        _ => true,
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "number" => value.is_number(),
        other => kind_of(value).ends_with(other),
    }
}

fn type_words(wanted: &Value) -> String {
    let word = |name: &str| match name {
        "integer" => "an integer".to_owned(),
        "array" | "object" => format!("an {name}"),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    match wanted {
        Value::String(name) => word(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
