//! Schemas of answers that schemars has no type for.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Any JSON value, in the fewest bytes.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// An object of any members.
pub(crate) fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// A list of objects of any members.
pub(crate) fn objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}
