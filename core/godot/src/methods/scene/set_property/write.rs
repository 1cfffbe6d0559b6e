//! One write, checked and ready: where it goes, what was there, and what the engine made of it.

use didi_wire::BridgeError;
use godot::{
    classes::{Object, Resource},
    prelude::*,
};
use serde_json::{Map, Value, json};

use super::Write;
use crate::{
    edit::{Edit, owned},
    json, node_path,
    property::{self, Declarations, Found, Sharing},
};

/// What another tool writes.
const EXCLUDED: [(&str, &str); 3] = [
    ("owner", "scene_reparent_node"),
    ("scene_file_path", "scene_instantiate_node"),
    ("resource_path", "scene_instantiate_node"),
];

/// A write that can be done.
pub(super) struct Ready {
    write: Write,
    node: Gd<Node>,
    found: Found,
    before: Variant,
    requested: Variant,
    resource_file: Option<String>,
    /// Other nodes that hold the resource which is written.
    sharing: Option<Sharing>,
    /// Copies that take the place of resources on the path, outermost first: the node's path to the slot, what
    /// is there, and the copy.
    copies: Vec<(String, Variant, Variant)>,
}

/// Checks a write whole.
pub(super) fn plan(
    root: &Gd<Node>,
    write: Write,
    make_unique: bool,
    known: &mut Declarations,
) -> Result<Ready, BridgeError> {
    check_excluded(&write.property_name)?;
    let node = node_path::edited(&write.target_node)?;
    owned::check(root, &node)?;
    let found = property::find_in(known, &node, &write.property_name)?;
    let scene = root.get_scene_file_path().to_string();
    property::check_saved_here(found.resource.as_ref(), &scene)?;
    let requested = found.read(&write.value, "value")?;
    check_library(&node, &write.property_name)?;
    let copies = if make_unique { copies(&node, &write.property_name) } else { vec![] };
    Ok(Ready {
        before: found.get(),
        resource_file: found.resource_file(&scene),
        sharing: found
            .resource
            .as_ref()
            .filter(|_| copies.is_empty())
            .map(|resource| property::shared_with(root, &node, resource)),
        write,
        node,
        found,
        requested,
        copies,
    })
}

fn check_excluded(path: &str) -> Result<(), BridgeError> {
    let name = path.rsplit(':').next().unwrap_or(path);
    let Some((_, tool)) = EXCLUDED.iter().find(|(excluded, _)| *excluded == name) else {
        return Ok(());
    };
    let message = format!("`{name}` is not written as a property");
    Err(BridgeError::new(400, "property_write_excluded", message)
        .with("field", "property_name")
        .with("use_tool", *tool))
}

/// Libraries are added with their names and undo of their own.
fn check_library(node: &Gd<Node>, path: &str) -> Result<(), BridgeError> {
    if !node.is_class("AnimationMixer") || !path.starts_with("libraries") {
        return Ok(());
    }
    let message = "animation libraries are not written as a property";
    Err(BridgeError::new(400, "animation_library_slot", message)
        .with("field", "property_name")
        .with("use_tool", "anim_add_library"))
}

/// Two writes of which one replaces what the other steps into.
pub(super) fn check_overlaps(ready: &[Ready]) -> Result<(), BridgeError> {
    for (index, Ready { write, .. }) in ready.iter().enumerate() {
        let slot = format!("{}:", write.property_name);
        let into = |Ready { write: other, .. }: &Ready| {
            other.target_node == write.target_node && other.property_name.starts_with(&slot)
        };
        if let Some(other) = ready.iter().position(into) {
            let message = format!(
                "write {index} replaces the resource that write {other} steps into; send the first on its own"
            );
            return Err(BridgeError::new(400, "batch_writes_overlap", message)
                .with("field", "writes")
                .with("index", index));
        }
    }
    Ok(())
}

/// Copies of the resources that a path steps into.
fn copies(node: &Gd<Node>, path: &str) -> Vec<(String, Variant, Variant)> {
    let steps: Vec<&str> = path.split(':').collect();
    let mut copies = vec![];
    let mut holder: Gd<Object> = node.clone().upcast();
    for end in 1..steps.len() {
        let now = holder.get(steps[end - 1]);
        let Ok(resource) = now.try_to::<Gd<Resource>>() else { break };
        let copy = resource.duplicate_resource();
        holder = copy.clone().upcast();
        copies.push((steps[..end].join(":"), now, copy.to_variant()));
    }
    copies
}

impl Ready {
    /// What doing it calls.
    pub(super) fn add_do(&self, action: &mut Edit) {
        action.watches(&self.node, &self.write.property_name);
        let node: Gd<Object> = self.node.clone().upcast();
        for (path, _, copy) in &self.copies {
            action.does(&node, "set_indexed", &[NodePath::from(path).to_variant(), copy.clone()]);
        }
        action.does(&node, "set_indexed", &[self.path(), self.requested.clone()]);
    }

    /// What undoing it calls.
    pub(super) fn add_undo(&self, action: &mut Edit) {
        let node: Gd<Object> = self.node.clone().upcast();
        if let Some((path, before, _)) = self.copies.first() {
            action.undoes(
                &node,
                "set_indexed",
                &[NodePath::from(path).to_variant(), before.clone()],
            );
        } else {
            action.undoes(&node, "set_indexed", &[self.path(), self.before.clone()]);
        }
    }

    fn path(&self) -> Variant {
        NodePath::from(&self.write.property_name).to_variant()
    }

    /// What the property holds before the write.
    pub(super) fn before(&self) -> Result<Value, BridgeError> {
        Ok(json!({
            "target_node": self.write.target_node,
            "property_name": self.write.property_name,
            "value": json::write(&self.before)?,
        }))
    }

    /// What the property holds now, beside what was asked for and what [`Ready::before`] read.
    pub(super) fn outcome(&self, mut before: Value) -> Result<Value, BridgeError> {
        let held = self.node.get_indexed(&NodePath::from(&self.write.property_name));
        let (value, old_value) = (json::write(&held)?, before["value"].take());
        let requested = json::write(&self.requested)?;
        let applied = value == requested;
        let mut told = Map::new();
        told.insert("target_node".into(), before["target_node"].take());
        told.insert("property_name".into(), before["property_name"].take());
        if !applied {
            told.insert("not_applied".into(), self.not_applied(value == old_value));
        }
        told.insert("value".into(), value);
        told.insert("old_value".into(), old_value);
        told.insert("requested_value".into(), requested);
        told.insert("applied".into(), applied.into());
        if let Some(file) = &self.resource_file {
            told.insert("resource_file".into(), file.as_str().into());
        }
        if let Some(sharing) = &self.sharing {
            told.insert("shared_with".into(), json!(sharing.paths));
            told.insert("shared_with_truncated".into(), sharing.truncated.into());
        }
        if !self.copies.is_empty() {
            let steps: Vec<&str> = self.copies.iter().map(|(path, ..)| path.as_str()).collect();
            told.insert("made_unique".into(), json!(steps));
        }
        Ok(told.into())
    }

    fn not_applied(&self, unchanged: bool) -> Value {
        let (outcome, detail) = if unchanged {
            ("unchanged", "the engine kept what was there")
        } else {
            ("replaced", "the engine made another value of it")
        };
        json!({
            "outcome": outcome,
            "detail": detail,
            "engine_constraint": self.found.declared.constraint(),
        })
    }
}
