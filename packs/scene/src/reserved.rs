//! `instantiate_asset` and `mutate_scene_tree`: names that older clients know and that never did a thing.
//!
//! They are kept so that such a client is told which call does what it meant, with its own arguments in it. Nothing
//! runs: neither a call nor a preview.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::{prelude::*, refusal::Unfinished};
use serde::de::DeserializeOwned;
use serde_json::Map;

/// The name is kept and does nothing.
const UNIMPLEMENTED: Code = Code::new(501, "unimplemented");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Instance {
    /// A scene of the project.
    #[schemars(length(min = 1, max = 1024))]
    asset_path: String,
    #[serde(default = "root")]
    #[schemars(length(max = 1024))]
    parent_path: String,
    #[serde(default = "no_collision")]
    #[schemars(length(max = 64))]
    collision_mode: String,
    transform: Option<Map<String, Value>>,
}

fn root() -> String {
    "/root".into()
}

fn no_collision() -> String {
    "none".into()
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Remove,
    Modify,
    Reparent,
    Duplicate,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mutation {
    action: Action,
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[allow(dead_code, reason = "its members were never agreed on")]
    payload: Option<Map<String, Value>>,
}

pub(crate) fn tools() -> [Tool; 2] {
    [
        kept::<Instance>(
            "instantiate_asset",
            "Reserved, never runs: use scene_instantiate_node with scene_path.",
            of_asset,
        ),
        kept::<Mutation>(
            "mutate_scene_tree",
            "Reserved, never runs: use the scene tools of each action.",
            of_mutation,
        ),
    ]
}

/// A name whose every call is refused with the call to make instead.
fn kept<A>(name: &str, about: &str, instead: fn(A) -> Refusal) -> Tool
where
    A: DeserializeOwned + JsonSchema + 'static,
{
    Tool::new(name, about, Effects::ADDS, move |_, args| Err(instead(args)))
        .modes(&[Mode::Unimplemented])
        .preview(move |_, args| Err(instead(args)))
        .refuses(&[UNIMPLEMENTED])
}

fn of_asset(args: Instance) -> Refusal {
    let Instance { asset_path, parent_path, collision_mode, transform } = args;
    let mut reason = String::from("adds an instance of the scene");
    if transform.is_some() {
        reason += "; its `properties` take the place as `position` and the like";
    }
    if collision_mode != "none" {
        reason += "; collision shapes are nodes of their own and are added in the same way";
    }
    refused("instantiate_asset").next_call_with(
        "scene_instantiate_node",
        json!({"scene_path": asset_path, "parent_path": parent_path}),
        &reason,
    )
}

fn of_mutation(args: Mutation) -> Refusal {
    let node = args.target_node;
    let (tool, arguments, reason) = match args.action {
        Action::Add => (
            "scene_instantiate_node",
            json!({"parent_path": node}),
            "adds a node of `node_type`, or an instance of `scene_path`",
        ),
        Action::Remove => ("scene_remove_node", json!({"target_node": node}), "removes the node"),
        Action::Modify => (
            "scene_set_property",
            json!({"target_node": node}),
            "writes `property_name` with `value`, or many `writes`",
        ),
        Action::Reparent => (
            "scene_reparent_node",
            json!({"target_node": node}),
            "moves the node below `new_parent_path`",
        ),
        Action::Duplicate => {
            ("scene_duplicate_node", json!({"target_node": node}), "copies the node beside itself")
        }
    };
    refused("mutate_scene_tree").next_call_with(tool, arguments, reason)
}

fn refused(name: &str) -> Unfinished {
    Refusal::new(UNIMPLEMENTED, format!("`{name}` is a reserved name and runs nothing"))
}
