//! Engine values as JSON.

use godot::{builtin::VariantType, classes::Resource, prelude::*};
use serde_json::{Map, Number, Value};

use super::{
    MAX_LEVELS, Unsupported,
    components::{self, Part},
};

/// A value as JSON. A resource is its path, or null while it has none; a node and a freed object are null.
///
/// # Errors
/// For what has no form: callables, signals, resource ids, dictionaries whose keys are neither texts nor whole
/// numbers, and what is nested too deep.
pub(crate) fn write(value: &Variant) -> Result<Value, Unsupported> {
    at(value, 0)
}

fn at(value: &Variant, level: usize) -> Result<Value, Unsupported> {
    if level > MAX_LEVELS {
        return Err(Unsupported(format!("a value is nested deeper than {MAX_LEVELS} levels")));
    }
    let kind = value.get_type();
    Ok(match kind {
        VariantType::NIL => Value::Null,
        VariantType::BOOL => value.to::<bool>().into(),
        VariantType::INT => value.to::<i64>().into(),
        VariantType::FLOAT => float(value.to::<f64>()),
        VariantType::STRING | VariantType::STRING_NAME | VariantType::NODE_PATH => {
            value.stringify().to_string().into()
        }
        VariantType::OBJECT => object(value),
        VariantType::ARRAY => list(value, level)?,
        VariantType::DICTIONARY => dictionary(value, level)?,
        _ if components::element(kind).is_some() => list(&as_array(value), level)?,
        _ => parts(value, kind)?,
    })
}

/// A float; what JSON has no number for is a word.
pub(crate) fn float(value: f64) -> Value {
    let word = if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    };
    Number::from_f64(value).map_or_else(|| word.into(), Value::Number)
}

/// A float that the engine keeps in 32 bit, in the digits that those need.
pub(crate) fn single(value: f32) -> Value {
    let shortest = value.to_string().parse().unwrap_or(f64::from(value));
    float(shortest)
}

fn parts(value: &Variant, kind: VariantType) -> Result<Value, Unsupported> {
    let parts = components::of(kind);
    if parts.is_empty() {
        let name = components::name(kind);
        return Err(Unsupported(format!("a `{name}` has no JSON form")));
    }
    let mut members = Map::new();
    for (index, part) in parts.iter().enumerate() {
        let inner = match part {
            Part::Number(_) => number(value, kind, index),
            Part::Of(..) => at(&composite(value, kind, index), 0)?,
        };
        members.insert(part.name().into(), inner);
    }
    Ok(members.into())
}

/// The number at a place of a type of numbers.
fn number(value: &Variant, kind: VariantType, index: usize) -> Value {
    let pick = |numbers: &[f32]| single(numbers[index]);
    match kind {
        VariantType::VECTOR2 => pick(&value.to::<Vector2>().to_array()),
        VariantType::VECTOR3 => pick(&value.to::<Vector3>().to_array()),
        VariantType::VECTOR4 => pick(&value.to::<Vector4>().to_array()),
        VariantType::VECTOR2I => value.to::<Vector2i>().to_array()[index].into(),
        VariantType::VECTOR3I => value.to::<Vector3i>().to_array()[index].into(),
        VariantType::VECTOR4I => value.to::<Vector4i>().to_array()[index].into(),
        VariantType::QUATERNION => {
            let q = value.to::<Quaternion>();
            pick(&[q.x, q.y, q.z, q.w])
        }
        VariantType::COLOR => {
            let c = value.to::<Color>();
            pick(&[c.r, c.g, c.b, c.a])
        }
        // The normal stands before it.
        VariantType::PLANE => single(value.to::<Plane>().d),
        _ => Value::Null,
    }
}

/// The value at a place of a type of values.
fn composite(value: &Variant, kind: VariantType, index: usize) -> Variant {
    match kind {
        VariantType::RECT2 => {
            let rect = value.to::<Rect2>();
            [rect.position, rect.size][index].to_variant()
        }
        VariantType::RECT2I => {
            let rect = value.to::<Rect2i>();
            [rect.position, rect.size][index].to_variant()
        }
        VariantType::AABB => {
            let aabb = value.to::<Aabb>();
            [aabb.position, aabb.size][index].to_variant()
        }
        VariantType::PLANE => value.to::<Plane>().normal.to_variant(),
        VariantType::TRANSFORM2D => {
            let transform = value.to::<Transform2D>();
            [transform.a, transform.b, transform.origin][index].to_variant()
        }
        VariantType::BASIS => {
            let basis = value.to::<Basis>();
            [basis.col_a(), basis.col_b(), basis.col_c()][index].to_variant()
        }
        VariantType::TRANSFORM3D => {
            let transform = value.to::<Transform3D>();
            if index == 0 { transform.basis.to_variant() } else { transform.origin.to_variant() }
        }
        VariantType::PROJECTION => value.to::<Projection>().cols[index].to_variant(),
        _ => Variant::nil(),
    }
}

fn object(value: &Variant) -> Value {
    let resource = value.try_to::<Gd<Resource>>().ok();
    let path = resource.map(|resource| resource.get_path().to_string());
    path.filter(|path| !path.is_empty()).map_or(Value::Null, Value::String)
}

fn list(value: &Variant, level: usize) -> Result<Value, Unsupported> {
    let items = value.to::<AnyArray>();
    items
        .iter_shared()
        .map(|item| at(&item, level + 1))
        .collect::<Result<Vec<_>, _>>()
        .map(Value::from)
}

/// A packed array as a plain one.
fn as_array(packed: &Variant) -> Variant {
    let array = i64::from(VariantType::ARRAY.ord());
    godot::global::type_convert(packed, array)
}

fn dictionary(value: &Variant, level: usize) -> Result<Value, Unsupported> {
    let mut members = Map::new();
    for (key, inner) in value.to::<AnyDictionary>().iter_shared() {
        let key = match key.get_type() {
            VariantType::STRING | VariantType::STRING_NAME | VariantType::INT => key.stringify(),
            other => {
                let name = components::name(other);
                let message = format!("a dictionary with a key of type `{name}` has no JSON form");
                return Err(Unsupported(message));
            }
        };
        members.insert(key.to_string(), at(&inner, level + 1)?);
    }
    Ok(members.into())
}
