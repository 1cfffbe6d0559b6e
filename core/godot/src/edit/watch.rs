//! What a change of one property changes beside it.
//!
//! Many setters change others: a control's `size` its offsets, a slider's `max_value` its value, a node's `script` all
//! that the script declares. Setting the one property back does not give those back, so whatever the node's file holds is
//! looked at before and after, and what became another is given back when the step is undone.

use std::collections::BTreeSet;

use godot::{classes::Node, prelude::*};

use crate::property;

/// Properties whose setters change no other, written most: of all nodes, of what is drawn, of what has a place.
const PLAIN: [(&str, &[&str]); 3] = [
    ("Node", &["name", "process_mode", "process_priority", "editor_description"]),
    ("CanvasItem", &["visible", "modulate", "self_modulate", "z_index", "z_as_relative"]),
    ("Node2D", &["position", "rotation", "scale", "skew"]),
];

/// Nodes that are looked at while an action is made.
#[derive(Default)]
pub(super) struct Watch(Vec<Watched>);

/// A node of which properties are to be changed.
struct Watched {
    node: Gd<Node>,
    /// What is changed on purpose.
    meant: BTreeSet<String>,
    held: Held,
}

/// What a node's file holds, in the order in which it is given to the node.
pub(super) type Held = Vec<(String, Variant)>;

/// What an action changed of a node, beside what it was to change and of that: of several writes one can change what another
/// wrote.
#[derive(Clone)]
pub(crate) struct Beside {
    node: InstanceId,
    meant: BTreeSet<String>,
    before: Held,
}

impl Watch {
    /// Looks at a node of which a property is to be changed.
    pub(super) fn add(&mut self, node: &Gd<Node>, property: &str) {
        let first = property.split(':').next().unwrap_or(property);
        if is_plain(node, first) {
            return;
        }
        let at = self.0.iter().position(|watched| watched.node == *node).unwrap_or_else(|| {
            let held = property::stored(node);
            self.0.push(Watched { node: node.clone(), meant: BTreeSet::new(), held });
            self.0.len() - 1
        });
        self.0[at].meant.insert(first.to_owned());
    }

    /// Whether any node is looked at.
    pub(super) fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// What is another now.
    pub(super) fn changed(self) -> Vec<Beside> {
        let of = |Watched { node, meant, mut held }: Watched| {
            held.retain(|(name, before)| node.get(name.as_str()) != *before);
            Beside { node: node.instance_id(), meant, before: held }
        };
        self.0.into_iter().map(of).collect()
    }
}

impl Beside {
    /// The names of what was changed beside.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.before.iter().map(|(name, _)| name.as_str());
        names.filter(|name| !self.meant.contains(*name))
    }

    /// What the node holds before the step is undone.
    pub(super) fn look(&self) -> Held {
        self.node().map(|node| property::stored(&node)).unwrap_or_default()
    }

    /// Gives back what the step changed beside; and what its undo has changed beside is as it was.
    pub(super) fn restore(&self, looked: Held) {
        let Some(mut node) = self.node() else { return };
        let changed = |name: &str| self.before.iter().find(|(one, _)| one == name);
        let only_before =
            self.before.iter().filter(|(name, _)| !looked.iter().any(|(one, _)| one == name));
        let gone: Held = only_before.cloned().collect();
        for (name, value) in looked.into_iter().chain(gone) {
            let value = changed(&name).map_or(value, |(_, before)| before.clone());
            if node.get(name.as_str()) != value {
                node.set(&name, &value);
            }
        }
    }

    fn node(&self) -> Option<Gd<Node>> {
        Gd::try_from_instance_id(self.node).ok()
    }
}

fn is_plain(node: &Gd<Node>, property: &str) -> bool {
    property.starts_with("metadata/")
        || PLAIN.iter().any(|(class, names)| names.contains(&property) && node.is_class(*class))
}
