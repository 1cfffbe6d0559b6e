//! The components of types that are made of numbers, by name and in order.

use godot::builtin::VariantType;

/// One member of such a type: a number, or a type of its own.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Number(&'static str),
    Of(&'static str, VariantType),
}

use Part::{Number, Of};

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Number(name) | Of(name, _) => name,
        }
    }
}

/// What a type is made of; nothing for every other type.
pub(super) fn of(kind: VariantType) -> &'static [Part] {
    const V2: VariantType = VariantType::VECTOR2;
    const V2I: VariantType = VariantType::VECTOR2I;
    const V3: VariantType = VariantType::VECTOR3;
    const V4: VariantType = VariantType::VECTOR4;
    match kind {
        VariantType::VECTOR2 | VariantType::VECTOR2I => &[Number("x"), Number("y")],
        VariantType::VECTOR3 | VariantType::VECTOR3I => &[Number("x"), Number("y"), Number("z")],
        VariantType::VECTOR4 | VariantType::VECTOR4I | VariantType::QUATERNION => {
            &[Number("x"), Number("y"), Number("z"), Number("w")]
        }
        VariantType::COLOR => &[Number("r"), Number("g"), Number("b"), Number("a")],
        VariantType::RECT2 => &[Of("position", V2), Of("size", V2)],
        VariantType::RECT2I => &[Of("position", V2I), Of("size", V2I)],
        VariantType::AABB => &[Of("position", V3), Of("size", V3)],
        VariantType::PLANE => &[Of("normal", V3), Number("d")],
        VariantType::TRANSFORM2D => &[Of("x", V2), Of("y", V2), Of("origin", V2)],
        VariantType::BASIS => &[Of("x", V3), Of("y", V3), Of("z", V3)],
        VariantType::TRANSFORM3D => &[Of("basis", VariantType::BASIS), Of("origin", V3)],
        VariantType::PROJECTION => &[Of("x", V4), Of("y", V4), Of("z", V4), Of("w", V4)],
        _ => &[],
    }
}

/// Whether such a type holds whole numbers alone.
pub(super) fn is_whole(kind: VariantType) -> bool {
    matches!(
        kind,
        VariantType::VECTOR2I | VariantType::VECTOR3I | VariantType::VECTOR4I | VariantType::RECT2I
    )
}

/// What a packed array holds.
pub(super) fn element(kind: VariantType) -> Option<VariantType> {
    Some(match kind {
        VariantType::PACKED_BYTE_ARRAY
        | VariantType::PACKED_INT32_ARRAY
        | VariantType::PACKED_INT64_ARRAY => VariantType::INT,
        VariantType::PACKED_FLOAT32_ARRAY | VariantType::PACKED_FLOAT64_ARRAY => VariantType::FLOAT,
        VariantType::PACKED_STRING_ARRAY => VariantType::STRING,
        VariantType::PACKED_VECTOR2_ARRAY => VariantType::VECTOR2,
        VariantType::PACKED_VECTOR3_ARRAY => VariantType::VECTOR3,
        VariantType::PACKED_VECTOR4_ARRAY => VariantType::VECTOR4,
        VariantType::PACKED_COLOR_ARRAY => VariantType::COLOR,
        _ => return None,
    })
}

/// The engine's own names of its types.
const NAMES: [(&str, VariantType); 39] = [
    ("Nil", VariantType::NIL),
    ("bool", VariantType::BOOL),
    ("int", VariantType::INT),
    ("float", VariantType::FLOAT),
    ("String", VariantType::STRING),
    ("Vector2", VariantType::VECTOR2),
    ("Vector2i", VariantType::VECTOR2I),
    ("Rect2", VariantType::RECT2),
    ("Rect2i", VariantType::RECT2I),
    ("Vector3", VariantType::VECTOR3),
    ("Vector3i", VariantType::VECTOR3I),
    ("Transform2D", VariantType::TRANSFORM2D),
    ("Vector4", VariantType::VECTOR4),
    ("Vector4i", VariantType::VECTOR4I),
    ("Plane", VariantType::PLANE),
    ("Quaternion", VariantType::QUATERNION),
    ("AABB", VariantType::AABB),
    ("Basis", VariantType::BASIS),
    ("Transform3D", VariantType::TRANSFORM3D),
    ("Projection", VariantType::PROJECTION),
    ("Color", VariantType::COLOR),
    ("StringName", VariantType::STRING_NAME),
    ("NodePath", VariantType::NODE_PATH),
    ("RID", VariantType::RID),
    ("Object", VariantType::OBJECT),
    ("Callable", VariantType::CALLABLE),
    ("Signal", VariantType::SIGNAL),
    ("Dictionary", VariantType::DICTIONARY),
    ("Array", VariantType::ARRAY),
    ("PackedByteArray", VariantType::PACKED_BYTE_ARRAY),
    ("PackedInt32Array", VariantType::PACKED_INT32_ARRAY),
    ("PackedInt64Array", VariantType::PACKED_INT64_ARRAY),
    ("PackedFloat32Array", VariantType::PACKED_FLOAT32_ARRAY),
    ("PackedFloat64Array", VariantType::PACKED_FLOAT64_ARRAY),
    ("PackedStringArray", VariantType::PACKED_STRING_ARRAY),
    ("PackedVector2Array", VariantType::PACKED_VECTOR2_ARRAY),
    ("PackedVector3Array", VariantType::PACKED_VECTOR3_ARRAY),
    ("PackedColorArray", VariantType::PACKED_COLOR_ARRAY),
    ("PackedVector4Array", VariantType::PACKED_VECTOR4_ARRAY),
];

/// The engine's name of a type.
pub(crate) fn name(kind: VariantType) -> &'static str {
    NAMES.iter().find(|(_, one)| *one == kind).map_or("Variant", |(name, _)| name)
}

/// The type of a name.
pub(super) fn by_name(name: &str) -> Option<VariantType> {
    NAMES.iter().find(|(one, _)| *one == name).map(|(_, kind)| *kind)
}
