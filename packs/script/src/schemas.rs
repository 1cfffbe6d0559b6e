//! Schemas of answers, in the fewest bytes: the tool list pays for every word.

use schemars::{Schema, SchemaGenerator, json_schema};

/// An object of any members.
pub(crate) fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// A list of objects of any members.
pub(crate) fn objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

/// A member that is named and left open.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}
