//! The nodes at and below one, read once, parents before children.

use godot::prelude::*;

/// Where a node comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The open scene's file holds it.
    Scene,
    /// A scene that is instanced here brings it along.
    Instance,
}

/// One node.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) path: String,
    /// The scene that it is an instance of.
    pub(super) instance_of: Option<String>,
    pub(super) editable: bool,
    pub(super) origin: Origin,
    /// Positions of the children; their order is the scene's.
    pub(super) children: Vec<usize>,
}

/// All of them.
pub(super) struct Arena {
    entries: Vec<Entry>,
    cut: bool,
}

impl Arena {
    /// Reads at most `limit` nodes, depth first.
    pub(super) fn collect(scene: &Gd<Node>, root: &Gd<Node>, limit: usize) -> Self {
        let mut arena = Arena { entries: vec![], cut: false };
        let path = crate::node_path::in_scene(scene, root);
        let mut open = vec![(root.clone(), path, None)];
        while let Some((node, path, parent)) = open.pop() {
            if arena.entries.len() == limit {
                arena.cut = true;
                break;
            }
            let at = arena.entries.len();
            if let Some(parent) = parent {
                let parent: &mut Entry = &mut arena.entries[parent];
                parent.children.push(at);
            }
            for index in (0..node.get_child_count()).rev() {
                if let Some(child) = node.get_child(index) {
                    let path = format!("{path}/{}", child.get_name());
                    open.push((child, path, Some(at)));
                }
            }
            arena.entries.push(Entry::of(scene, &node, path));
        }
        arena
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nodes were left unread.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn get(&self, at: usize) -> &Entry {
        &self.entries[at]
    }

    /// How many nodes at and below each are wanted.
    pub(super) fn counted(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<usize> {
        let mut counts = vec![0; self.entries.len()];
        for (at, entry) in self.entries.iter().enumerate().rev() {
            let below: usize = entry.children.iter().map(|child| counts[*child]).sum();
            counts[at] = below + usize::from(wanted(entry));
        }
        counts
    }
}

impl Entry {
    fn of(scene: &Gd<Node>, node: &Gd<Node>, path: String) -> Self {
        let file = node.get_scene_file_path().to_string();
        let instance = !file.is_empty() && node != scene;
        Entry {
            name: node.get_name().to_string(),
            class: node.get_class().to_string(),
            path,
            editable: instance && scene.is_editable_instance(node),
            instance_of: instance.then_some(file),
            origin: if crate::edit::owned::holds(scene, node) {
                Origin::Scene
            } else {
                Origin::Instance
            },
            children: vec![],
        }
    }
}
