//! `scene_set_property`: writes a property of a node, or many as one step of the undo history.
//!
//! The engine reads back what it made of each value; a path steps into resources that the node holds.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;
use serde::Deserializer;

use super::{EDITOR, codes, get_property, invalid};

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
    Tool::of_engine::<Args>(
        "scene_set_property",
        "Writes a node's property, or up to 64 as one undo step, and reads back what the engine holds.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .live(EDITOR, &[METHOD, get_property::METHOD])
    .preview(preview)
    .checked(check)
    .leaves(&[Work::Save])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NODE_NOT_OWNED,
        codes::NOT_FOUND,
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
        (None, None, None, None) => Err(invalid("target_node", FORMS)),
        (.., Some(_)) => Err(invalid("writes", FORMS)),
        (None, ..) => Err(invalid("target_node", FORMS)),
        (_, None, ..) => Err(invalid("property_name", FORMS)),
        _ => Err(invalid("value", FORMS)),
    }
}

const FORMS: &str =
    "either `target_node`, `property_name` and `value` are needed, or `writes` alone";

/// What the properties hold now, beside what they are to hold.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let writes = args.writes.unwrap_or_else(|| {
        let one = (args.target_node, args.property_name, args.value);
        let (Some(target_node), Some(property_name), Some(value)) = one else { return vec![] };
        vec![Write { target_node, property_name, value }]
    });
    let reads: Vec<Value> = writes
        .iter()
        .map(|one| json!({"target_node": one.target_node, "property_name": one.property_name}))
        .collect();
    let mut said = ctx.bridge_call(get_property::METHOD, json!({ "reads": reads }))?;
    let subject = match writes.as_slice() {
        [one] => format!("{}:{}", one.target_node, one.property_name),
        many => format!("{} properties", many.len()),
    };
    let wanted: Vec<&AnyValue> = writes.iter().map(|one| &one.value).collect();
    Ok(Target::read(subject, true, said["reads"].take()).after(json!(wanted)))
}
