//! JSON as engine values, guided by what is wanted.

use godot::{
    builtin::VariantType,
    classes::{ClassDb, Resource, ResourceLoader},
    prelude::*,
};
use serde_json::{Map, Value};

use super::{
    MAX_LEVELS,
    components::{self, Part},
};

/// What a value has to be.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The type; nil takes any.
    pub(crate) kind: VariantType,
    /// The class of an object.
    pub(crate) class: Option<String>,
    /// What is there now; typed lists and dictionaries are made like it.
    pub(crate) like: Variant,
}

/// Why a JSON value is not what is wanted: one sentence without a final stop.
pub(crate) type Fault = String;

impl Wanted {
    /// One type.
    pub(crate) fn of(kind: VariantType) -> Self {
        Wanted { kind, class: None, like: Variant::nil() }
    }
}

/// A JSON value as the engine value that is wanted.
///
/// # Errors
/// With both types where it does not fit; nothing is guessed.
pub(crate) fn read(json: &Value, wanted: &Wanted) -> Result<Variant, Fault> {
    at(json, wanted, 0)
}

fn at(json: &Value, wanted: &Wanted, level: usize) -> Result<Variant, Fault> {
    if level > MAX_LEVELS {
        return Err(format!("a value is nested at most {MAX_LEVELS} levels deep"));
    }
    if let Some((kind, inner)) = tagged(json, wanted.kind) {
        return at(&inner, &Wanted { kind, ..wanted.clone() }, level);
    }
    match wanted.kind {
        VariantType::NIL => natural(json, level),
        VariantType::BOOL => {
            json.as_bool().map(|value| value.to_variant()).ok_or_else(|| unfit(json, wanted))
        }
        VariantType::INT => Ok(whole(json, wanted)?.to_variant()),
        VariantType::FLOAT => Ok(number(json, wanted)?.to_variant()),
        VariantType::STRING => Ok(text(json, wanted)?.to_variant()),
        VariantType::STRING_NAME => Ok(StringName::from(text(json, wanted)?).to_variant()),
        VariantType::NODE_PATH => Ok(NodePath::from(text(json, wanted)?).to_variant()),
        VariantType::OBJECT => resource(json, wanted),
        VariantType::ARRAY => array(json, wanted, level),
        VariantType::DICTIONARY => dictionary(json, wanted, level),
        kind if components::element(kind).is_some() => packed(json, wanted, level),
        VariantType::COLOR if json.is_string() => {
            let text = json.as_str().unwrap_or_default();
            let digits = text.strip_prefix('#').filter(|digits| {
                matches!(digits.len(), 3 | 4 | 6 | 8)
                    && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            });
            let color = digits.and_then(Color::from_html);
            color.map(|color| color.to_variant()).ok_or_else(|| unfit(json, wanted))
        }
        kind if !components::of(kind).is_empty() => Ok(build(kind, &numbers(json, kind, wanted)?)),
        _ => Err(unfit(json, wanted)),
    }
}

/// `{"type": "Vector2", ..}`, without its tag. A dictionary that is wanted may have such a member of its own.
fn tagged(json: &Value, wanted: VariantType) -> Option<(VariantType, Value)> {
    let members = json.as_object()?;
    let kind = components::by_name(members.get("type")?.as_str()?)?;
    let free = wanted == VariantType::NIL || wanted == kind;
    if !free || wanted == VariantType::DICTIONARY {
        return None;
    }
    if let Some(inner) = members.get("value").or_else(|| members.get("values")) {
        return (members.len() == 2).then(|| (kind, inner.clone()));
    }
    let mut bare = members.clone();
    bare.remove("type");
    Some((kind, Value::Object(bare)))
}

fn natural(json: &Value, level: usize) -> Result<Variant, Fault> {
    Ok(match json {
        Value::Null => Variant::nil(),
        Value::Bool(value) => value.to_variant(),
        Value::Number(value) if value.is_f64() => value.as_f64().unwrap_or_default().to_variant(),
        Value::Number(_) => whole(json, &Wanted::of(VariantType::INT))?.to_variant(),
        Value::String(text) => text.to_variant(),
        Value::Array(_) => array(json, &Wanted::of(VariantType::ARRAY), level)?,
        Value::Object(_) => dictionary(json, &Wanted::of(VariantType::DICTIONARY), level)?,
    })
}

fn whole(json: &Value, wanted: &Wanted) -> Result<i64, Fault> {
    if let Some(value) = json.as_i64() {
        return Ok(value);
    }
    // Whole floats are exact up to 2^53.
    let float = json
        .as_f64()
        .filter(|value| value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0);
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
    float.filter(|_| json.is_f64()).map(|value| value as i64).ok_or_else(|| unfit(json, wanted))
}

fn number(json: &Value, wanted: &Wanted) -> Result<f64, Fault> {
    match json {
        Value::Number(value) => Ok(value.as_f64().unwrap_or_default()),
        Value::String(word) if matches!(word.as_str(), "inf" | "-inf" | "nan") => {
            Ok(word.parse().unwrap_or(f64::NAN))
        }
        _ => Err(unfit(json, wanted)),
    }
}

/// A number that fits into 32 bit, as the engine rounds it.
fn single(json: &Value, wanted: &Wanted) -> Result<f64, Fault> {
    let value = number(json, wanted)?;
    if value.is_finite() && value.abs() > f64::from(f32::MAX) {
        return Err(format!("{value} is beyond what a `{}` holds", components::name(wanted.kind)));
    }
    #[allow(clippy::cast_possible_truncation, reason = "the engine keeps 32 bit")]
    Ok(f64::from(value as f32))
}

fn text<'j>(json: &'j Value, wanted: &Wanted) -> Result<&'j str, Fault> {
    json.as_str().ok_or_else(|| unfit(json, wanted))
}

/// The numbers of a type of numbers, in the engine's order. Both 32 bit kinds fit into a float of 64.
fn numbers(json: &Value, kind: VariantType, wanted: &Wanted) -> Result<Vec<f64>, Fault> {
    let parts = components::of(kind);
    let mut found = vec![];
    match json {
        Value::Object(members) => {
            check_members(members, kind)?;
            for part in parts {
                match (members.get(part.name()), part) {
                    // An opaque colour may leave its last member out.
                    (None, _) => found.push(1.0),
                    (Some(inner), Part::Of(_, kind)) => {
                        found.extend(numbers(inner, *kind, wanted)?);
                    }
                    (Some(inner), Part::Number(_)) => found.push(component(inner, kind, wanted)?),
                }
            }
        }
        Value::Array(items) => {
            let flat = parts.iter().all(|part| matches!(part, Part::Number(_)));
            if !flat || items.len() != parts.len() {
                return Err(unfit(json, wanted));
            }
            for item in items {
                found.push(component(item, kind, wanted)?);
            }
        }
        _ => return Err(unfit(json, wanted)),
    }
    Ok(found)
}

fn component(json: &Value, kind: VariantType, wanted: &Wanted) -> Result<f64, Fault> {
    if !components::is_whole(kind) {
        return single(json, wanted);
    }
    i32::try_from(whole(json, wanted)?)
        .map(f64::from)
        .map_err(|_| format!("{json} is beyond what a `{}` holds", components::name(kind)))
}

fn check_members(members: &Map<String, Value>, kind: VariantType) -> Result<(), Fault> {
    let names: Vec<&str> = components::of(kind).iter().map(|part| part.name()).collect();
    let unknown = members.keys().find(|name| !names.contains(&name.as_str()));
    let optional = |name: &str| kind == VariantType::COLOR && name == "a";
    let missing = names.iter().find(|name| !members.contains_key(**name) && !optional(name));
    match (unknown, missing) {
        (None, None) => Ok(()),
        _ => Err(format!(
            "a `{}` takes exactly the members `{}`",
            components::name(kind),
            names.join("`, `")
        )),
    }
}

/// A type of numbers from its numbers.
#[allow(clippy::cast_possible_truncation, reason = "each was made of one of 32 bit")]
fn build(kind: VariantType, numbers: &[f64]) -> Variant {
    let i = |at: usize| numbers[at] as i32;
    let n = |at: usize| numbers[at] as f32;
    let v2 = |at: usize| Vector2::new(n(at), n(at + 1));
    let v3 = |at: usize| Vector3::new(n(at), n(at + 1), n(at + 2));
    let v4 = |at: usize| Vector4::new(n(at), n(at + 1), n(at + 2), n(at + 3));
    let basis = || Basis::from_cols(v3(0), v3(3), v3(6));
    match kind {
        VariantType::VECTOR2 => v2(0).to_variant(),
        VariantType::VECTOR3 => v3(0).to_variant(),
        VariantType::VECTOR4 => v4(0).to_variant(),
        VariantType::VECTOR2I => Vector2i::new(i(0), i(1)).to_variant(),
        VariantType::VECTOR3I => Vector3i::new(i(0), i(1), i(2)).to_variant(),
        VariantType::VECTOR4I => Vector4i::new(i(0), i(1), i(2), i(3)).to_variant(),
        VariantType::QUATERNION => Quaternion::new(n(0), n(1), n(2), n(3)).to_variant(),
        VariantType::COLOR => Color::from_rgba(n(0), n(1), n(2), n(3)).to_variant(),
        VariantType::RECT2 => Rect2::new(v2(0), v2(2)).to_variant(),
        VariantType::RECT2I => {
            Rect2i::new(Vector2i::new(i(0), i(1)), Vector2i::new(i(2), i(3))).to_variant()
        }
        VariantType::AABB => Aabb::new(v3(0), v3(3)).to_variant(),
        VariantType::PLANE => Plane { normal: v3(0), d: n(3) }.to_variant(),
        VariantType::TRANSFORM2D => Transform2D::from_cols(v2(0), v2(2), v2(4)).to_variant(),
        VariantType::BASIS => basis().to_variant(),
        VariantType::TRANSFORM3D => Transform3D::new(basis(), v3(9)).to_variant(),
        VariantType::PROJECTION => Projection::from_cols(v4(0), v4(4), v4(8), v4(12)).to_variant(),
        _ => Variant::nil(),
    }
}

fn resource(json: &Value, wanted: &Wanted) -> Result<Variant, Fault> {
    if json.is_null() {
        return Ok(Variant::nil());
    }
    let path = text(json, wanted)?;
    if !path.starts_with("res://") && !path.starts_with("uid://") {
        return Err(format!("`{path}` is no `res://` path of a resource"));
    }
    let mut loader = ResourceLoader::singleton();
    if !loader.exists(path) {
        return Err(format!("there is no resource `{path}`"));
    }
    let loaded = loader.load(path).ok_or_else(|| format!("`{path}` could not be loaded"))?;
    let class = wanted.class.as_deref().filter(|class| !class.is_empty());
    match class {
        Some(classes) if !classes.split(',').any(|class| is_of(&loaded, class)) => {
            let given = loaded.get_class();
            Err(format!("`{path}` is a `{given}`, and a `{classes}` is needed"))
        }
        _ => Ok(loaded.to_variant()),
    }
}

/// Whether a resource is of a class of the engine or of a script; what the engine does not know is let through.
fn is_of(resource: &Gd<Resource>, class: &str) -> bool {
    !ClassDb::singleton().class_exists(class) || resource.is_class(class)
}

fn array(json: &Value, wanted: &Wanted, level: usize) -> Result<Variant, Fault> {
    let items = json.as_array().ok_or_else(|| unfit(json, wanted))?;
    let typed = wanted.like.get_type() == VariantType::ARRAY;
    let target = if typed { emptied(&wanted.like) } else { VarArray::new().to_variant() };
    let element = element_of(&target);
    for item in items {
        target.call("push_back", &[at(item, &element, level + 1)?]);
    }
    Ok(target)
}

/// What the elements of an array have to be.
fn element_of(array: &Variant) -> Wanted {
    let kind = array.call("get_typed_builtin", &[]).to::<i32>();
    let class = array.call("get_typed_class_name", &[]).stringify().to_string();
    Wanted { class: Some(class), ..Wanted::of(kind_of(kind)) }
}

fn dictionary(json: &Value, wanted: &Wanted, level: usize) -> Result<Variant, Fault> {
    let members = json.as_object().ok_or_else(|| unfit(json, wanted))?;
    let typed = wanted.like.get_type() == VariantType::DICTIONARY;
    let target = if typed { emptied(&wanted.like) } else { VarDictionary::new().to_variant() };
    let half =
        |which: &str| kind_of(target.call(&format!("get_typed_{which}_builtin"), &[]).to::<i32>());
    let (keys, values) = (half("key"), Wanted::of(half("value")));
    for (key, inner) in members {
        let key = match keys {
            VariantType::NIL | VariantType::STRING => key.to_variant(),
            VariantType::STRING_NAME => StringName::from(key).to_variant(),
            VariantType::INT => key
                .parse::<i64>()
                .map_err(|_| {
                    format!("`{key}` is no whole number, as the keys of this dictionary are")
                })?
                .to_variant(),
            other => {
                let name = components::name(other);
                return Err(format!("a dictionary with keys of type `{name}` has no JSON form"));
            }
        };
        target.call("set", &[key, at(inner, &values, level + 1)?]);
    }
    Ok(target)
}

/// An empty collection of the same types.
fn emptied(like: &Variant) -> Variant {
    let copy = like.call("duplicate", &[]);
    copy.call("clear", &[]);
    copy
}

fn packed(json: &Value, wanted: &Wanted, level: usize) -> Result<Variant, Fault> {
    let items = json.as_array().ok_or_else(|| unfit(json, wanted))?;
    let element = Wanted::of(components::element(wanted.kind).unwrap_or(VariantType::NIL));
    let mut values = VarArray::new();
    for item in items {
        let value = at(item, &element, level + 1)?;
        check_range(item, &value, wanted.kind)?;
        values.push(&value);
    }
    Ok(godot::global::type_convert(&values.to_variant(), i64::from(wanted.kind.ord())))
}

/// Whole numbers that a packed array would cut off.
fn check_range(json: &Value, value: &Variant, kind: VariantType) -> Result<(), Fault> {
    let range = match kind {
        VariantType::PACKED_BYTE_ARRAY => 0..=i64::from(u8::MAX),
        VariantType::PACKED_INT32_ARRAY => i64::from(i32::MIN)..=i64::from(i32::MAX),
        _ => return Ok(()),
    };
    if range.contains(&value.to::<i64>()) {
        return Ok(());
    }
    Err(format!("{json} is not within {} to {}", range.start(), range.end()))
}

fn kind_of(number: i32) -> VariantType {
    VariantType::try_from_ord(number).unwrap_or(VariantType::NIL)
}

fn unfit(json: &Value, wanted: &Wanted) -> Fault {
    let given = match json {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(value) if value.is_f64() => "a number with a fraction",
        Value::Number(_) => "a whole number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let class = wanted.class.as_deref().filter(|class| !class.is_empty());
    let name = class.unwrap_or(components::name(wanted.kind));
    format!("a `{name}` is needed, and {given} was sent")
}
