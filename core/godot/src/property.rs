//! Properties: what an object declares, the way to one inside a held resource, and what it holds.

use std::collections::BTreeMap;

use didi_wire::BridgeError;
use godot::{
    builtin::VariantType,
    classes::{Node, Object, Resource},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    json::{self, Wanted},
    refuse,
};

/// Most steps of a path.
pub(crate) const MAX_STEPS: usize = 8;

/// Most names offered beside a name that is not there.
const MAX_CANDIDATES: usize = 24;

/// Most nodes told that share a resource, and most looked at.
const MAX_SHARING: usize = 16;
const MAX_WALKED: usize = 1_000;

/// Hints that say what a value may be, by the engine's numbers.
const HINT_RANGE: i64 = 1;
const HINT_ENUM: i64 = 2;
const HINT_ENUM_SUGGESTION: i64 = 3;
const HINT_RESOURCE_TYPE: i64 = 17;

/// The usage of a property that a file holds.
const STORED: i64 = 2;

/// A property as its object declares it.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) kind: VariantType,
    class: String,
    hint: i64,
    hint_string: String,
}

/// A property found: the object that has it, and its declaration.
pub(crate) struct Found {
    pub(crate) holder: Gd<Object>,
    pub(crate) name: String,
    pub(crate) declared: Declared,
    /// The resource that the path stepped into last.
    pub(crate) resource: Option<Gd<Resource>>,
}

/// What objects declare, read once an object. It holds for as long as nothing is written.
#[derive(Default)]
pub(crate) struct Declarations {
    lists: BTreeMap<i64, Vec<(String, VarDictionary)>>,
}

impl Declarations {
    /// What an object declares of a property.
    fn of(
        &mut self,
        holder: &Gd<Object>,
        name: &str,
        inside: bool,
    ) -> Result<Declared, BridgeError> {
        let list = self.lists.entry(holder.instance_id().to_i64()).or_insert_with(|| {
            let list = holder.get_property_list();
            list.iter_shared().map(|property| (text(&property, "name"), property)).collect()
        });
        match list.iter().find(|(one, _)| one == name) {
            Some((_, property)) => Ok(Declared::of(property)),
            None => Err(undeclared(holder, list, name, inside)),
        }
    }
}

/// What a file holds of an object, in the order in which it is given to the object.
pub(crate) fn stored<T: Inherits<Object>>(object: &Gd<T>) -> Vec<(String, Variant)> {
    let object: Gd<Object> = object.clone().upcast();
    let list = object.get_property_list();
    let is_stored = |property: &VarDictionary| {
        let usage = property.get("usage").and_then(|usage| usage.try_to::<i64>().ok());
        usage.is_some_and(|usage| usage & STORED != 0)
    };
    let of = |property: VarDictionary| {
        let name = property.get("name")?.stringify().to_string();
        let value = object.get(name.as_str());
        Some((name, value))
    };
    list.iter_shared().filter(is_stored).filter_map(of).collect()
}

/// Finds a property of a node by a name, or by a path of names into resources that it holds.
///
/// # Errors
/// `property_path_invalid`, `property_path_not_resource`, `property_slot_empty`, `property_not_found`, `not_found`.
pub(crate) fn find(node: &Gd<Node>, path: &str) -> Result<Found, BridgeError> {
    find_in(&mut Declarations::default(), node, path)
}

/// The same for several properties of the same objects.
pub(crate) fn find_in(
    known: &mut Declarations,
    node: &Gd<Node>,
    path: &str,
) -> Result<Found, BridgeError> {
    let steps: Vec<&str> = path.split(':').collect();
    if steps.len() > MAX_STEPS || steps.iter().any(|step| step.is_empty()) {
        let message = format!("`{path}` is no path of 1 to {MAX_STEPS} names with colons between");
        return Err(
            BridgeError::new(400, "property_path_invalid", message).with("field", "property_name")
        );
    }
    let mut holder: Gd<Object> = node.clone().upcast();
    let mut resource = None;
    let (last, inner) = steps.split_last().unwrap_or((&"", &[]));
    for step in inner {
        known.of(&holder, step, resource.is_some())?;
        let next = step_into(&holder, step)?;
        holder = next.clone().upcast();
        resource = Some(next);
    }
    let declared = known.of(&holder, last, resource.is_some())?;
    Ok(Found { holder, name: (*last).to_owned(), declared, resource })
}

fn step_into(holder: &Gd<Object>, step: &str) -> Result<Gd<Resource>, BridgeError> {
    let value = holder.get(step);
    if value.is_nil() {
        let message = format!("`{step}` holds nothing to step into");
        return Err(
            BridgeError::new(404, "property_slot_empty", message).with("field", "property_name")
        );
    }
    value.try_to::<Gd<Resource>>().map_err(|_| {
        let kind = json::type_name(value.get_type());
        let message = format!("`{step}` holds a `{kind}`, and a path steps only into resources");
        BridgeError::new(400, "property_path_not_resource", message).with("field", "property_name")
    })
}

/// The refusal of a name that is not declared, with the nearest that are.
fn undeclared(
    holder: &Gd<Object>,
    list: &[(String, VarDictionary)],
    name: &str,
    inside: bool,
) -> BridgeError {
    let properties = list.iter().filter(|(_, property)| is_property(property));
    let candidates = nearest(name, properties.map(|(name, _)| name.clone()));
    let class = holder.get_class().to_string();
    let message = format!("`{class}` has no property `{name}`");
    let code = if inside { "property_not_found" } else { "not_found" };
    BridgeError::new(404, code, message)
        .with("field", "property_name")
        .with("holder_class", class)
        .with("candidates", candidates)
}

/// Group and category lines stand in the list beside properties.
fn is_property(property: &VarDictionary) -> bool {
    /// The engine's bits for groups, categories and subgroups.
    const HEADINGS: i64 = 64 | 128 | 256;
    number(property, "usage") & HEADINGS == 0
}

/// The names that share the most with one that is not there.
fn nearest(name: &str, names: impl Iterator<Item = String>) -> Vec<Value> {
    let shared = |other: &str| {
        let common = other.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        let within = other.contains(name) || name.contains(other);
        std::cmp::Reverse(common + usize::from(within) * 100)
    };
    let mut names: Vec<String> = names.collect();
    names.sort_by_key(|other| shared(other));
    names.truncate(MAX_CANDIDATES);
    names.into_iter().map(Value::from).collect()
}

fn text(property: &VarDictionary, key: &str) -> String {
    property.get(key).map(|value| value.stringify().to_string()).unwrap_or_default()
}

fn number(property: &VarDictionary, key: &str) -> i64 {
    property.get(key).and_then(|value| value.try_to().ok()).unwrap_or_default()
}

impl Declared {
    /// A declaration as the engine lists it.
    pub(crate) fn of(property: &VarDictionary) -> Self {
        let kind = i32::try_from(number(property, "type")).unwrap_or_default();
        Declared {
            kind: VariantType::try_from_ord(kind).unwrap_or(VariantType::NIL),
            class: text(property, "class_name"),
            hint: number(property, "hint"),
            hint_string: text(property, "hint_string"),
        }
    }

    /// The engine's name of the type; the class of an object.
    pub(crate) fn type_name(&self) -> &str {
        let class = Some(self.class.as_str()).filter(|_| self.kind == VariantType::OBJECT);
        class.filter(|class| !class.is_empty()).unwrap_or(json::type_name(self.kind))
    }

    /// What a value has to be; `like` is what is held now.
    pub(crate) fn wanted(&self, like: Variant) -> Wanted {
        let class = match self.hint {
            HINT_RESOURCE_TYPE => self.hint_string.clone(),
            _ => self.class.clone(),
        };
        Wanted { kind: self.kind, class: Some(class), like }
    }

    /// What the engine does with a value, where it says so.
    pub(crate) fn constraint(&self) -> Option<Value> {
        let kind = match self.hint {
            HINT_RANGE => "range",
            HINT_ENUM => "enum",
            HINT_ENUM_SUGGESTION => "enum_suggestion",
            HINT_RESOURCE_TYPE => "resource_type",
            _ => return None,
        };
        Some(json!({ "kind": kind, "hint_string": self.hint_string }))
    }
}

impl Found {
    /// What it holds.
    pub(crate) fn get(&self) -> Variant {
        self.holder.get(&self.name)
    }

    /// A JSON value as what the property wants.
    ///
    /// # Errors
    /// `invalid_arguments` with `field`, where it is no such value.
    pub(crate) fn read(&self, value: &Value, field: &str) -> Result<Variant, BridgeError> {
        let wanted = self.declared.wanted(self.get());
        json::read(value, &wanted).map_err(|fault| {
            let name = &self.name;
            refuse::invalid(field, format!("`{name}`: {fault}"))
                .with("expected_type", self.declared.type_name())
        })
    }

    /// The file that keeps the resource that the path stepped into: its own, or the scene's.
    pub(crate) fn resource_file(&self, scene: &str) -> Option<String> {
        let path = self.resource.as_ref()?.get_path().to_string();
        let file = path.split("::").next().unwrap_or_default();
        Some(if file.is_empty() { scene.to_owned() } else { file.to_owned() })
    }
}

/// Refuses a resource that another scene's file keeps, and that is not saved with this one.
pub(crate) fn check_saved_here(
    resource: Option<&Gd<Resource>>,
    scene: &str,
) -> Result<(), BridgeError> {
    let Some(resource) = resource else { return Ok(()) };
    let path = resource.get_path().to_string();
    let Some((file, _)) = path.split_once("::") else { return Ok(()) };
    if file == scene {
        return Ok(());
    }
    let message = format!("the resource is kept in `{file}`, which the open scene does not save");
    let error = refuse::conflict("subresource_not_saved", message).with("resource_file", file);
    let arguments = json!({ "scene_path": file });
    Err(refuse::next_call(error, "scene_open", arguments, "opens the scene that keeps it"))
}

/// The class of the object that a value is.
pub(crate) fn class_held(value: &Variant) -> Option<String> {
    if value.get_type() != VariantType::OBJECT || is_freed(value) {
        return None;
    }
    value.try_to::<Gd<Object>>().ok().map(|object| object.get_class().to_string())
}

/// Whether a value is an object that is no more.
pub(crate) fn is_freed(value: &Variant) -> bool {
    let is_object = value.get_type() == VariantType::OBJECT;
    is_object && value.object_id_unchecked().is_some() && value.object_id().is_none()
}

/// Who else of a scene holds a resource.
pub(crate) struct Sharing {
    /// Their paths, in the order of the scene.
    pub(crate) paths: Vec<String>,
    /// Whether more of them, or more of the scene, was left out.
    pub(crate) truncated: bool,
}

/// Nodes of a scene, beside one, that hold a resource in a property of their own.
pub(crate) fn shared_with(root: &Gd<Node>, node: &Gd<Node>, resource: &Gd<Resource>) -> Sharing {
    let mut sharing = Sharing { paths: vec![], truncated: false };
    let (mut open, mut walked) = (vec![root.clone()], 0);
    while let Some(next) = open.pop() {
        walked += 1;
        let holds = next != *node && holds(&next, resource);
        if walked > MAX_WALKED || (holds && sharing.paths.len() == MAX_SHARING) {
            sharing.truncated = true;
            break;
        }
        if holds {
            sharing.paths.push(crate::node_path::in_scene(root, &next));
        }
        let children: Vec<Gd<Node>> = next.get_children().iter_shared().collect();
        open.extend(children.into_iter().rev());
    }
    sharing
}

fn holds(node: &Gd<Node>, resource: &Gd<Resource>) -> bool {
    let object = i64::from(VariantType::OBJECT.ord());
    node.get_property_list().iter_shared().any(|property| {
        number(&property, "type") == object
            && node
                .get(&text(&property, "name"))
                .try_to::<Gd<Resource>>()
                .is_ok_and(|held| held == *resource)
    })
}
