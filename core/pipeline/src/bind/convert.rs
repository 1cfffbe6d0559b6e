//! One token, or one JSON value, to the type of its parameter.
//!
//! Where a parameter is typed the token is kept as typed and converted on the way to the command, so that
//! `007` stays text for a text and is 7 for a number.

use serde_json::{Number, Value};

use crate::command::Kind;

/// Whether a flag without a value means `true` here.
pub(super) fn takes_a_bare_flag(kind: &Kind) -> bool {
    matches!(kind, Kind::Boolean | Kind::Any)
}

/// What is echoed for a token.
pub(super) fn stored(kind: &Kind, token: &str) -> Value {
    match kind {
        Kind::Any => scalar(token),
        _ => Value::String(token.to_owned()),
    }
}

/// What a command gets for a token; `None` when the type can't hold it.
pub fn token(kind: &Kind, token: &str) -> Option<Value> {
    match kind {
        Kind::Text => Some(Value::String(token.to_owned())),
        Kind::Integer => token.parse::<i64>().ok().map(Value::from),
        Kind::Number => number(token),
        Kind::Boolean => boolean(token).map(Value::Bool),
        Kind::Choice { words, .. } => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(token));
            word.map(|word| Value::String(word.clone()))
        }
        Kind::List(_) | Kind::Object => structure(token).filter(|value| fits(kind, value)),
        Kind::Any => Some(structure(token).unwrap_or_else(|| scalar(token))),
    }
}

/// Whether a JSON value is of the kind, as an item of a list or a member of a structured request. `null`
/// stands for what was left out, and fits everything.
pub fn fits(kind: &Kind, value: &Value) -> bool {
    if value.is_null() {
        return true;
    }
    match kind {
        Kind::Text => value.is_string(),
        Kind::Integer => value.is_i64(),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Choice { words, .. } => value
            .as_str()
            .is_some_and(|given| words.iter().any(|word| word.eq_ignore_ascii_case(given))),
        Kind::List(of) => {
            value.as_array().is_some_and(|items| items.iter().all(|item| fits(of, item)))
        }
        Kind::Object => value.is_object(),
        Kind::Any => true,
    }
}

/// A list or an object, written as JSON.
fn structure(token: &str) -> Option<Value> {
    let opens = token.trim_start().starts_with(['{', '[']);
    opens.then(|| serde_json::from_str(token).ok()).flatten()
}

/// What an untyped token looks like: true or false, whole digits, digits with one dot; else text.
fn scalar(token: &str) -> Value {
    if let Some(value) = boolean(token) {
        return Value::Bool(value);
    }
    let digits = token.strip_prefix('-').unwrap_or(token);
    if is_digits(digits) {
        // What is too large for the wire's numbers is kept to the digit, as text.
        return token.parse::<i64>().map_or_else(|_| Value::String(token.to_owned()), Value::from);
    }
    let decimal =
        digits.split_once('.').is_some_and(|(whole, part)| is_digits(whole) && is_digits(part));
    let number = decimal.then(|| token.parse().ok().and_then(Number::from_f64)).flatten();
    number.map_or_else(|| Value::String(token.to_owned()), Value::Number)
}

fn boolean(token: &str) -> Option<bool> {
    if token.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    token.eq_ignore_ascii_case("false").then_some(false)
}

/// A finite number; whole ones stay whole. `inf` and `nan` are words here.
fn number(token: &str) -> Option<Value> {
    if let Ok(whole) = token.parse::<i64>() {
        return Some(whole.into());
    }
    let written = token.bytes().all(|it| it.is_ascii_digit() || b"+-.eE".contains(&it));
    let number = written.then(|| token.parse().ok()).flatten()?;
    Number::from_f64(number).map(Value::Number)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}
