//! JSON as values: plain JSON by its own kinds, `{"type": ...}` for what JSON has no kind for.
//!
//! A type that is wanted, because a class declares it or the file holds it, guides the reading: `[1, 2]` is
//! then a `Vector2`, `1` a float. What does not fit is a fault that names both types; nothing is guessed.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::write::{escaped, float_text, number_text, quoted, single_text};
use crate::lexer::{Shape, shape_of};

#[cfg(test)]
mod tests;

/// Deepest nesting that is taken, in levels.
pub const MAX_LEVELS: usize = 16;

/// JSON that is no value of the wanted type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonFault {
    /// Where, as a JSON pointer; empty for the whole.
    pub at: String,
    /// What is wrong, and what is accepted; one sentence without a final stop.
    pub message: String,
    /// The type wanted, where one was.
    pub expected: Option<String>,
    /// The type given.
    pub given: String,
}

/// A resource that a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'j> {
    /// `{"type": "ExtResource", "path": ...}`.
    External(&'j str),
    /// `{"type": "SubResource", "id": ...}`.
    Internal(&'j str),
}

/// Gives the text of a reference, or a sentence why there is none.
pub type Resolve<'r> = &'r mut dyn FnMut(Named<'_>) -> Result<String, String>;

/// The engine's text of a JSON value; `wanted` is an engine type such as `Vector2` or `Array[int]`.
///
/// # Errors
/// Where the JSON is no such value, with its place.
pub fn text(
    json: &Json,
    wanted: Option<&str>,
    eol: &str,
    resolve: Resolve<'_>,
) -> Result<String, JsonFault> {
    let mut reader = JsonReader { eol, at: Vec::new(), resolve };
    reader.value(json, wanted)
}

/// As [`text`], where no resource can be named.
///
/// # Errors
/// As [`text`].
pub fn plain_text(json: &Json, wanted: Option<&str>, eol: &str) -> Result<String, JsonFault> {
    text(json, wanted, eol, &mut |_| Err("a resource can't be named here".into()))
}

/// The engine's type that a JSON value is by itself.
pub fn type_of(json: &Json) -> &str {
    match json {
        Json::Null => "Nil",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float",
        Json::Number(_) => "int",
        Json::String(_) => "String",
        Json::Array(_) => "Array",
        Json::Object(map) => map
            .get("type")
            .and_then(Json::as_str)
            .filter(|name| knows(name))
            .unwrap_or("Dictionary"),
    }
}

/// Whether a type's name is one that `{"type": ...}` takes.
pub fn knows(name: &str) -> bool {
    matches!(name, "bool" | "int" | "float" | "String" | "StringName")
        || (shape_of(name) != Shape::Unknown && is_current(name))
}

/// The names that engines of today have.
fn is_current(name: &str) -> bool {
    match shape_of(name) {
        Shape::Numbers(_) => {
            !matches!(name, "Quat" | "Rect3" | "Matrix32" | "Matrix3" | "Transform")
        }
        Shape::PackedBytes | Shape::PackedNumbers(_) | Shape::PackedStrings => {
            name.starts_with("Packed") && !matches!(name, "PackedIntArray" | "PackedRealArray")
        }
        Shape::Handle | Shape::Object | Shape::Resource => false,
        _ => true,
    }
}

/// The names of a constructor's numbers, in order.
fn components(name: &str) -> &'static [&'static str] {
    match name {
        "Vector2" | "Vector2i" => &["x", "y"],
        "Vector3" | "Vector3i" => &["x", "y", "z"],
        "Vector4" | "Vector4i" | "Quaternion" => &["x", "y", "z", "w"],
        "Color" => &["r", "g", "b", "a"],
        "Rect2" | "Rect2i" => &["x", "y", "width", "height"],
        "Plane" => &["x", "y", "z", "d"],
        _ => &[],
    }
}

/// How a number of a type is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digits {
    Whole,
    Single,
    Double,
}

fn digits_of(name: &str) -> Digits {
    match name {
        "PackedByteArray" | "PackedInt32Array" | "PackedInt64Array" => Digits::Whole,
        "PackedFloat64Array" => Digits::Double,
        name if name.ends_with('i') => Digits::Whole,
        _ => Digits::Single,
    }
}

struct JsonReader<'r, 'e> {
    eol: &'e str,
    at: Vec<String>,
    resolve: Resolve<'r>,
}

type Text = Result<String, JsonFault>;

impl JsonReader<'_, '_> {
    fn value(&mut self, json: &Json, wanted: Option<&str>) -> Text {
        if self.at.len() >= MAX_LEVELS {
            return Err(self.fault(
                json,
                wanted,
                format!("a value is nested at most {MAX_LEVELS} deep"),
            ));
        }
        if let Json::Object(map) = json
            && let Some(kind) = map.get("type").and_then(Json::as_str)
        {
            return self.typed(json, map, kind, wanted);
        }
        match wanted {
            None | Some("Variant") => self.natural(json),
            Some(wanted) => self.wanted(json, wanted),
        }
    }

    fn natural(&mut self, json: &Json) -> Text {
        Ok(match json {
            Json::Null => "null".into(),
            Json::Bool(value) => value.to_string(),
            Json::Number(number) if number.is_f64() => {
                float_text(number.as_f64().unwrap_or_default())
            }
            Json::Number(_) => return self.whole(json, "int"),
            Json::String(text) => quoted(text),
            Json::Array(items) => self.array(items, None)?,
            Json::Object(map) => self.dictionary(map, None)?,
        })
    }

    fn wanted(&mut self, json: &Json, wanted: &str) -> Text {
        match (wanted, json) {
            ("bool", Json::Bool(_))
            | ("String", Json::String(_))
            | ("Array", Json::Array(_))
            | ("Dictionary", Json::Object(_))
            | ("Nil", Json::Null) => self.natural(json),
            ("int", Json::Number(_)) => self.whole(json, wanted),
            ("float", Json::Number(number)) => Ok(float_text(number.as_f64().unwrap_or_default())),
            ("float", Json::String(text)) if matches!(&**text, "inf" | "-inf" | "nan") => {
                Ok(float_text(text.parse().unwrap_or(f64::NAN)))
            }
            ("StringName", Json::String(text)) => Ok(format!("&{}", escaped(text))),
            ("NodePath", Json::String(text)) => Ok(format!("NodePath({})", escaped(text))),
            ("Color", Json::String(text)) => match hex_color(text) {
                Some(color) => Ok(color),
                None => Err(self.unfit(json, wanted)),
            },
            (_, Json::Array(items)) if wanted.starts_with("Array[") => {
                self.array(items, Some(wanted))
            }
            (_, Json::Object(map)) if wanted.starts_with("Dictionary[") => {
                self.dictionary(map, Some(wanted))
            }
            _ => match shape_of(wanted) {
                Shape::Numbers(count) => self.constructor(json, wanted, count),
                Shape::PackedBytes | Shape::PackedNumbers(_) | Shape::PackedStrings => {
                    self.packed(json, wanted)
                }
                // A class: a resource that is named, or none.
                Shape::Unknown
                    if *json == Json::Null && !wanted.starts_with(char::is_lowercase) =>
                {
                    Ok("null".into())
                }
                _ => Err(self.unfit(json, wanted)),
            },
        }
    }

    /// `{"type": kind, ...}`.
    fn typed(
        &mut self,
        json: &Json,
        map: &Map<String, Json>,
        kind: &str,
        wanted: Option<&str>,
    ) -> Text {
        if !knows(kind) {
            let message = format!(
                "`{kind}` is no type; a dictionary that has a `type` of its own is written \
                 {{\"type\": \"Dictionary\", \"entries\": {{..}}}}"
            );
            return Err(self.fault(json, wanted, message));
        }
        let resource = matches!(kind, "ExtResource" | "SubResource");
        let class = wanted
            .is_none_or(|wanted| wanted == "Variant" || (!knows(wanted) && !wanted.contains('[')));
        let base = wanted.map(|wanted| wanted.split('[').next().unwrap_or(wanted));
        if (resource && !class)
            || (!resource && base.is_some_and(|base| base != kind && base != "Variant"))
        {
            return Err(self.unfit(json, wanted.unwrap_or("Resource")));
        }
        let member = |names: &[&str]| names.iter().find_map(|name| map.get(*name));
        match kind {
            "ExtResource" | "SubResource" => {
                let name = if kind == "ExtResource" { "path" } else { "id" };
                let Some(text) = map.get(name).and_then(Json::as_str) else {
                    let message = format!("`{kind}` needs a `{name}`, a string");
                    return Err(self.fault(json, wanted, message));
                };
                self.only(json, map, &[name])?;
                let named = if kind == "ExtResource" {
                    Named::External(text)
                } else {
                    Named::Internal(text)
                };
                (self.resolve)(named).map_err(|message| self.fault(json, wanted, message))
            }
            "Array" => {
                self.only(json, map, &["values", "element_type"])?;
                let items =
                    member(&["values"]).and_then(Json::as_array).cloned().unwrap_or_default();
                let element = map.get("element_type").and_then(Json::as_str);
                let own = element.map(|element| format!("Array[{element}]"));
                let wanted = wanted.filter(|wanted| wanted.contains('['));
                self.array(&items, own.as_deref().or(wanted))
            }
            "Dictionary" => {
                self.only(json, map, &["entries"])?;
                match member(&["entries"]) {
                    Some(Json::Array(pairs)) => self.pairs(json, pairs),
                    Some(Json::Object(map)) => {
                        self.dictionary(map, wanted.filter(|wanted| wanted.contains('[')))
                    }
                    _ => Ok("{}".into()),
                }
            }
            _ => {
                if let Some(inner) = member(&["value", "values"]) {
                    self.only(json, map, &["value", "values"])?;
                    return self.wanted(inner, kind);
                }
                let mut bare = map.clone();
                bare.shift_remove("type");
                self.wanted(&Json::Object(bare), kind)
            }
        }
    }

    fn only(&self, json: &Json, map: &Map<String, Json>, names: &[&str]) -> Result<(), JsonFault> {
        let known = |name: &String| name == "type" || names.contains(&name.as_str());
        match map.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(other) => {
                let message =
                    format!("`{other}` is not taken; beside `type` stands `{}`", names[0]);
                Err(self.fault(json, None, message))
            }
        }
    }

    fn array(&mut self, items: &[Json], wanted: Option<&str>) -> Text {
        let element = wanted.and_then(|wanted| wanted.strip_prefix("Array[")?.strip_suffix(']'));
        let mut out = String::new();
        if let Some(element) = element {
            let _ = write!(out, "Array[{element}](");
        }
        out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str(&self.inside(&index.to_string(), item, element)?);
        }
        out.push_str(if element.is_some() { "])" } else { "]" });
        Ok(out)
    }

    fn dictionary(&mut self, map: &Map<String, Json>, wanted: Option<&str>) -> Text {
        let types = wanted
            .and_then(|wanted| wanted.strip_prefix("Dictionary[")?.strip_suffix(']'))
            .and_then(|types| types.split_once(','));
        let types = types.map(|(key, value)| (key.trim(), value.trim()));
        let mut entries = vec![];
        for (key, value) in map {
            let key_text = self.wanted_key(key, types.map(|types| types.0), value)?;
            entries.push((key_text, self.inside(key, value, types.map(|types| types.1))?));
        }
        let body = self.lines_of(&entries);
        Ok(match types {
            Some((key, value)) => format!("Dictionary[{key}, {value}]({body})"),
            None => body,
        })
    }

    fn wanted_key(&mut self, key: &str, wanted: Option<&str>, beside: &Json) -> Text {
        match wanted {
            None | Some("String" | "Variant") => Ok(quoted(key)),
            Some("StringName") => Ok(format!("&{}", escaped(key))),
            Some("int") if key.parse::<i64>().is_ok() => Ok(key.to_owned()),
            Some(_) => Err(self.fault(
                beside,
                wanted,
                format!(
                    "`{key}` is no key of this dictionary; send `entries` as [[key, value], ..]"
                ),
            )),
        }
    }

    /// Entries whose keys are no strings.
    fn pairs(&mut self, json: &Json, pairs: &[Json]) -> Text {
        let mut entries = vec![];
        for (index, pair) in pairs.iter().enumerate() {
            let Some([key, value]) = pair.as_array().map(Vec::as_slice) else {
                let message = format!("entry {index} is not [key, value]");
                return Err(self.fault(json, None, message));
            };
            let place = index.to_string();
            entries.push((self.inside(&place, key, None)?, self.inside(&place, value, None)?));
        }
        Ok(self.lines_of(&entries))
    }

    fn lines_of(&self, entries: &[(String, String)]) -> String {
        if entries.is_empty() {
            return "{}".into();
        }
        let lines: Vec<String> =
            entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        format!("{{{eol}{}{eol}}}", lines.join(&format!(",{}", self.eol)), eol = self.eol)
    }

    fn inside(&mut self, place: &str, json: &Json, wanted: Option<&str>) -> Text {
        self.at.push(place.replace('~', "~0").replace('/', "~1"));
        let text = self.value(json, wanted)?;
        self.at.pop();
        Ok(text)
    }

    fn whole(&self, json: &Json, wanted: &str) -> Text {
        let number = json.as_i64().or_else(|| {
            let float = json.as_f64().filter(|float| json.is_f64() && float.fract() == 0.0)?;
            // Whole floats are exact up to 2^53.
            #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
            (float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
        });
        match number {
            Some(number) => Ok(number.to_string()),
            None if json.is_u64() => {
                Err(self.fault(json, Some(wanted), format!("{json} is beyond 64 bit with a sign")))
            }
            None => Err(self.unfit(json, wanted)),
        }
    }

    fn number(&self, json: &Json, wanted: &str) -> Text {
        match (digits_of(wanted), json.as_f64()) {
            (Digits::Whole, Some(_)) => self.whole(json, wanted),
            (Digits::Single, Some(number)) => Ok(single_text(number)),
            (Digits::Double, Some(number)) => Ok(number_text(number)),
            (Digits::Single | Digits::Double, None)
                if matches!(json.as_str(), Some("inf" | "-inf" | "nan")) =>
            {
                Ok(number_text(
                    json.as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN),
                ))
            }
            _ => Err(self.unfit(json, wanted)),
        }
    }

    /// `Vector2` and its kind, from an array of numbers or an object of components.
    fn constructor(&self, json: &Json, wanted: &str, count: usize) -> Text {
        let numbers = match json {
            Json::Array(items) => items.clone(),
            Json::Object(map) => self.by_name(json, map, wanted)?,
            Json::String(text) if wanted == "Color" => {
                return hex_color(text).ok_or_else(|| self.unfit(json, wanted));
            }
            _ => return Err(self.unfit(json, wanted)),
        };
        let mut texts: Vec<String> =
            numbers.iter().map(|number| self.number(number, wanted)).collect::<Result<_, _>>()?;
        if wanted == "Color" && texts.len() == 3 {
            texts.push("1".into());
        }
        if texts.len() != count {
            let message =
                format!("`{wanted}` takes {count} numbers, and {} were sent", texts.len());
            return Err(self.fault(json, Some(wanted), message));
        }
        Ok(format!("{wanted}({})", texts.join(", ")))
    }

    fn by_name(
        &self,
        json: &Json,
        map: &Map<String, Json>,
        wanted: &str,
    ) -> Result<Vec<Json>, JsonFault> {
        let names = components(wanted);
        let known = !names.is_empty() && map.keys().all(|key| names.contains(&key.as_str()));
        let missing = names
            .iter()
            .find(|name| !map.contains_key(**name) && (wanted, **name) != ("Color", "a"));
        if known && missing.is_none() {
            return Ok(names.iter().filter_map(|name| map.get(*name)).cloned().collect());
        }
        let message = if names.is_empty() {
            format!("`{wanted}` takes its numbers in order under `values`")
        } else {
            format!("`{wanted}` takes the members `{}`", names.join("`, `"))
        };
        Err(self.fault(json, Some(wanted), message))
    }

    fn packed(&self, json: &Json, wanted: &str) -> Text {
        let Some(items) = json.as_array() else { return Err(self.unfit(json, wanted)) };
        let mut texts = vec![];
        let shape = shape_of(wanted);
        let per = if let Shape::PackedNumbers(per) = shape { per } else { 1 };
        for item in items {
            match (shape, item) {
                (Shape::PackedStrings, Json::String(text)) => texts.push(escaped(text)),
                (Shape::PackedStrings, _) => return Err(self.unfit(item, "String")),
                (_, Json::Number(_) | Json::String(_)) => texts.push(self.number(item, wanted)?),
                (_, Json::Array(numbers)) if numbers.len() == per && per > 1 => {
                    for number in numbers {
                        texts.push(self.number(number, wanted)?);
                    }
                }
                (_, Json::Object(map)) if per > 1 => {
                    let element = wanted.trim_start_matches("Packed").trim_end_matches("Array");
                    for number in self.by_name(item, map, element)? {
                        texts.push(self.number(&number, wanted)?);
                    }
                    if element == "Color" && !map.contains_key("a") {
                        texts.push("1".into());
                    }
                }
                _ => return Err(self.unfit(item, wanted)),
            }
        }
        let out_of_range = |text: &String| text.parse::<u8>().is_err();
        if shape == Shape::PackedBytes && texts.iter().any(out_of_range) {
            return Err(self.fault(json, Some(wanted), "a byte is 0 to 255".into()));
        }
        if texts.len() % per > 0 {
            let message = format!("`{wanted}` takes {per} numbers for each element");
            return Err(self.fault(json, Some(wanted), message));
        }
        Ok(format!("{wanted}({})", texts.join(", ")))
    }

    fn unfit(&self, json: &Json, wanted: &str) -> JsonFault {
        let given = type_of(json);
        self.fault(
            json,
            Some(wanted),
            format!(
                "{} `{wanted}` is needed, and {} `{given}` was sent",
                article(wanted),
                article(given)
            ),
        )
    }

    fn fault(&self, json: &Json, wanted: Option<&str>, message: String) -> JsonFault {
        let at: String = self.at.iter().flat_map(|part| ["/", part.as_str()]).collect();
        let message = if at.is_empty() { message } else { format!("at `{at}`: {message}") };
        JsonFault {
            at,
            message,
            expected: wanted.map(str::to_owned),
            given: type_of(json).to_owned(),
        }
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" }
}

/// `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa` as a colour of numbers.
fn hex_color(text: &str) -> Option<String> {
    let digits = text.strip_prefix('#')?;
    let per = match digits.len() {
        3 | 4 => 1,
        6 | 8 => 2,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut parts = vec![];
    for at in (0..digits.len()).step_by(per) {
        let value = u8::from_str_radix(&digits[at..at + per].repeat(3 - per), 16).ok()?;
        parts.push(single_text(f64::from(value) / 255.0));
    }
    if parts.len() == 3 {
        parts.push("1".into());
    }
    Some(format!("Color({})", parts.join(", ")))
}
