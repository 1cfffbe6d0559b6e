//! The one way in which a scene changes: an action of the editor's undo history.

pub(crate) mod group;
pub(crate) mod history;
pub(crate) mod made;
pub(crate) mod owned;

use didi_wire::BridgeError;
use godot::{
    classes::{EditorInterface, EditorUndoRedoManager, Node, Object, undo_redo::MergeMode},
    prelude::*,
};
use serde_json::{Map, Value};

use crate::refuse;

/// What every edit of the open scene says beside its own facts.
const LIMITATION: &str =
    "the change is in the open scene and not on disk; save the scene to keep it";

/// An action that is being put together. Nothing happens before [`Edit::commit`].
pub(crate) struct Edit {
    manager: Gd<EditorUndoRedoManager>,
    /// Its history, and its serial there.
    step: Option<(i32, i64)>,
}

impl Edit {
    /// Begins an action in the history of the scene of `root`.
    pub(crate) fn begin(name: &str, root: &Gd<Node>) -> Result<Self, BridgeError> {
        let manager = EditorInterface::singleton().get_editor_undo_redo();
        let mut manager = manager
            .ok_or_else(|| refuse::engine("undo_unavailable", "the editor has no undo history"))?;
        match group::current() {
            Some(group) => manager
                .create_action_ex(&group)
                .merge_mode(MergeMode::ALL)
                .custom_context(root)
                .done(),
            None => manager.create_action_ex(name).custom_context(root).done(),
        }
        let id = manager.get_object_history_id(root);
        let history = manager.get_history_undo_redo(id);
        let step = history.map(|mut history| (id, made::begin(id, &mut history)));
        Ok(Edit { manager, step })
    }

    /// What the action calls.
    pub(crate) fn does(
        &mut self,
        object: &Gd<Object>,
        method: &str,
        args: &[Variant],
    ) -> &mut Self {
        self.manager.add_do_method(object, method, args);
        self
    }

    /// What undoing it calls.
    pub(crate) fn undoes(
        &mut self,
        object: &Gd<Object>,
        method: &str,
        args: &[Variant],
    ) -> &mut Self {
        self.manager.add_undo_method(object, method, args);
        self
    }

    /// A property's value after and before.
    pub(crate) fn sets(
        &mut self,
        object: &Gd<Object>,
        property: &str,
        after: &Variant,
        before: &Variant,
    ) -> &mut Self {
        self.manager.add_do_property(object, property, after);
        self.manager.add_undo_property(object, property, before);
        self
    }

    /// Keeps an object alive that exists only while the action is done.
    pub(crate) fn keeps_done(&mut self, object: &Gd<Object>) -> &mut Self {
        self.manager.add_do_reference(object);
        self
    }

    /// Keeps an object alive that exists only while the action is undone.
    pub(crate) fn keeps_undone(&mut self, object: &Gd<Object>) -> &mut Self {
        self.manager.add_undo_reference(object);
        self
    }

    /// Does it.
    pub(crate) fn commit(mut self) {
        self.manager.commit_action();
        if let Some((id, serial)) = self.step {
            made::add(id, serial);
        }
        group::note_edit();
    }
}

/// The answer of an edit: its own facts, and that it is undoable and not saved.
pub(crate) fn done(facts: Value) -> Value {
    let mut members = if let Value::Object(members) = facts { members } else { Map::new() };
    members.insert("scene_saved".into(), false.into());
    members.insert("undo_redo_registered".into(), true.into());
    members.insert("limitation".into(), LIMITATION.into());
    members.into()
}
