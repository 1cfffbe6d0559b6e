//! `scene.instantiateNode`: adds a node of a class, or an instance of a scene, undoably.

use std::path::Path;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{ResourceLoader, packed_scene::GenEditState},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{create, packed};
use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    json,
    methods::Context,
    node_path,
    params::{self, Params},
    property, refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    node_type: Option<String>,
    scene_path: Option<String>,
    #[serde(default = "root")]
    parent_path: String,
    name: Option<String>,
    #[serde(default)]
    properties: Map<String, Value>,
}

fn root() -> String {
    "/root".into()
}

/// A node that can be added.
struct Ready {
    args: Args,
    root: Gd<Node>,
    parent: Gd<Node>,
    loose: Loose,
    not_applied: Vec<Value>,
}

/// A node that is in no tree yet, and that nobody else would free.
struct Loose {
    node: Gd<Node>,
    /// Set once the undo history keeps it.
    kept: bool,
}

impl Drop for Loose {
    fn drop(&mut self) {
        if !self.kept && self.node.is_instance_valid() {
            self.node.clone().free();
        }
    }
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, parent) = owned::find(&args.parent_path)?;
    let mut loose = Loose { node: instantiate(&args, &root)?, kept: false };
    let not_applied = prepare(&mut loose.node, &args)?;
    let before = json!({ "resolved": true, "parent": node_path::in_scene(&root, &parent) });
    let ready = Ready { args, root, parent, loose, not_applied };
    Ok(Change::now(before, move |_| make(ready)))
}

fn make(ready: Ready) -> Answer {
    let Ready { args, root, parent, mut loose, not_applied } = ready;
    add(&root, &parent, &loose.node)?;
    loose.kept = true;
    Ok(edit::done(told(&args, &root, &loose.node, not_applied)))
}

/// The node, not in the tree yet.
fn instantiate(args: &Args, root: &Gd<Node>) -> Result<Gd<Node>, BridgeError> {
    match (&args.node_type, &args.scene_path) {
        (Some(class), None) => create::instantiate(class, "node_type"),
        (None, Some(path)) => instance(path, &root.get_scene_file_path().to_string()),
        _ => {
            let message = "exactly one of `node_type` and `scene_path` is needed";
            Err(refuse::invalid("node_type", message))
        }
    }
}

fn instance(path: &str, open_scene: &str) -> Result<Gd<Node>, BridgeError> {
    if !path.starts_with("res://") || !ResourceLoader::singleton().exists(path) {
        let message = format!("there is no scene `{path}`");
        return Err(refuse::not_found(
            message,
            "project_list_resources",
            "lists the scenes there are",
        ));
    }
    check_cycle(path, open_scene)?;
    packed::check_whole(path)?;
    let scene = packed::load(path)?;
    scene.instantiate_ex().edit_state(GenEditState::INSTANCE).done().ok_or_else(|| {
        BridgeError::new(422, "not_a_packed_scene", format!("`{path}` holds no node"))
            .with("field", "scene_path")
    })
}

/// Refuses a scene that holds the open one, itself or through others.
fn check_cycle(path: &str, open_scene: &str) -> Result<(), BridgeError> {
    if open_scene.is_empty() {
        return Ok(());
    }
    let mut open = vec![vec![path.to_owned()]];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(chain) = open.pop() {
        let Some(last) = chain.last().cloned() else { continue };
        if last == open_scene {
            let message = format!("`{path}` holds the open scene, which cannot hold it in turn");
            return Err(refuse::conflict("cyclic_instance", message).with("chain", json!(chain)));
        }
        if seen.insert(last.clone()) {
            for next in packed::dependencies(&last).filter(|one| is_scene(&one.path)) {
                let mut longer = chain.clone();
                longer.push(next.path);
                open.push(longer);
            }
        }
    }
    Ok(())
}

fn is_scene(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "tscn" || ending == "scn")
}

/// Gives it its name and properties; what the engine made something else of is told.
fn prepare(node: &mut Gd<Node>, args: &Args) -> Result<Vec<Value>, BridgeError> {
    if let Some(name) = &args.name {
        if name.is_empty() || name.contains(['.', ':', '@', '/', '"', '%']) {
            let message =
                format!("`{name}` is no name of a node; it may not hold any of `. : @ / \" %`");
            return Err(refuse::invalid("name", message));
        }
        node.set_name(name);
    } else if args.node_type.is_some() {
        let class = node.get_class().to_string();
        node.set_name(&class);
    }
    let mut not_applied = vec![];
    for (name, value) in &args.properties {
        let mut found = property::find(node, name)?;
        let requested = found.read(value, "properties")?;
        found.holder.set(&found.name, &requested);
        let (held, requested) = (json::write(&found.get())?, json::write(&requested)?);
        if held != requested {
            not_applied.push(json!({
                "property_name": name,
                "requested_value": requested,
                "value": held,
                "outcome": "replaced",
                "detail": "the engine made another value of it",
                "engine_constraint": found.declared.constraint(),
            }));
        }
    }
    Ok(not_applied)
}

fn add(root: &Gd<Node>, parent: &Gd<Node>, node: &Gd<Node>) -> Result<(), BridgeError> {
    let (object, above) = (node.clone().upcast::<Object>(), parent.clone().upcast::<Object>());
    let mut action = Edit::begin(&format!("Add {}", node.get_name()), root)?;
    action.does(&above, "add_child", &[node.to_variant(), true.to_variant()]);
    action.does(&object, "set_owner", &[root.to_variant()]);
    action.keeps_done(&object);
    action.undoes(&above, "remove_child", &[node.to_variant()]);
    action.commit();
    Ok(())
}

fn told(args: &Args, root: &Gd<Node>, node: &Gd<Node>, not_applied: Vec<Value>) -> Value {
    let name = node.get_name().to_string();
    let mut told = json!({
        "node_path": node_path::in_scene(root, node),
        "node_type": node.get_class().to_string(),
    });
    if let Some(requested) = &args.name {
        told["node_name"] = name.as_str().into();
        if *requested != name {
            told["requested_name"] = requested.as_str().into();
            told["name_substituted"] = true.into();
        }
    }
    if let Some(path) = &args.scene_path {
        told["scene_path"] = path.as_str().into();
    }
    if !not_applied.is_empty() {
        told["properties_not_applied"] = not_applied.into();
    }
    told
}
