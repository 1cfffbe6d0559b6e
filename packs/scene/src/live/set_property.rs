//! `scene_set_property`: writes a property of a node, or many as one step of the undo history.
//!
//! The engine reads back what it made of each value; a path steps into resources that the node holds.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;
use serde::Deserializer;

use super::{codes, edit};

const METHOD: &str = "scene.setProperty";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    target_node: Option<String>,
    /// `a:b` steps into a held resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    property_name: Option<String>,
    /// Vectors `{x, y}`, colors `#rrggbb`, a resource by its path.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    value: Option<AnyValue>,
    /// Many at once, instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    writes: Option<Vec<Write>>,
    /// Copies the resources on the path first.
    #[serde(default)]
    make_unique: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    property_name: String,
    value: AnyValue,
}

/// `null` is a value, an absent member is none.
fn present<'de, D: Deserializer<'de>>(source: D) -> Result<Option<AnyValue>, D::Error> {
    AnyValue::deserialize(source).map(Some)
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_set_property",
        "Writes a node's property, or up to 64 as one undo step, and reads back what the engine holds.",
        Effects::SETS,
        METHOD,
        |args| args.target_node.as_deref().unwrap_or("the properties of `writes`"),
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::PROPERTY_NOT_FOUND,
        codes::PROPERTY_SLOT_EMPTY,
        codes::PROPERTY_PATH_INVALID,
        codes::PROPERTY_PATH_NOT_RESOURCE,
        codes::PROPERTY_TYPE_UNSUPPORTED,
        codes::PROPERTY_WRITE_EXCLUDED,
        codes::SUBRESOURCE_NOT_SAVED,
        codes::BATCH_WRITES_OVERLAP,
        codes::ANIMATION_LIBRARY_SLOT,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    match (&args.target_node, &args.property_name, &args.value, &args.writes) {
        (Some(_), Some(_), Some(_), None) | (None, None, None, Some(_)) => Ok(()),
        (.., Some(_)) => Err(Refusal::invalid("writes", FORMS)),
        (None, ..) => Err(Refusal::invalid("target_node", FORMS)),
        (_, None, ..) => Err(Refusal::invalid("property_name", FORMS)),
        _ => Err(Refusal::invalid("value", FORMS)),
    }
}

const FORMS: &str =
    "either `target_node`, `property_name` and `value` are needed, or `writes` alone";
