//! The one way in which a scene changes: an action of the editor's undo history.

pub(crate) mod group;
pub(crate) mod history;
pub(crate) mod made;
pub(crate) mod owned;
pub(crate) mod watch;

use didi_wire::BridgeError;
use godot::{
    classes::{
        EditorInterface, EditorUndoRedoManager, Node, Object, UndoRedo, undo_redo::MergeMode,
    },
    prelude::*,
};
use serde_json::{Map, Value};

use self::watch::{Beside, Watch};
use crate::refuse;

/// What every edit of the open scene says beside its own facts.
const LIMITATION: &str =
    "the change is in the open scene and not on disk; save the scene to keep it";

/// An action that is being put together. Nothing happens before [`Edit::commit`].
pub(crate) struct Edit {
    manager: Gd<EditorUndoRedoManager>,
    /// Its history, and its serial there.
    step: Option<(i32, Gd<UndoRedo>, i64)>,
    undo: Vec<Undo>,
    watch: Watch,
}

/// What undoing an action does, in the order in which it is done.
enum Undo {
    Call(Gd<Object>, String, Vec<Variant>),
    Set(Gd<Object>, String, Variant),
}

impl Edit {
    /// Begins an action in the history of the scene of `root`.
    pub(crate) fn begin(name: &str, root: &Gd<Node>) -> Result<Self, BridgeError> {
        let manager = EditorInterface::singleton().get_editor_undo_redo();
        let mut manager = manager
            .ok_or_else(|| refuse::engine("undo_unavailable", "the editor has no undo history"))?;
        let group = group::current();
        let mode = if group.is_some() { MergeMode::ALL } else { MergeMode::DISABLE };
        // Backward, so that of two actions that become one step the later is undone first.
        manager
            .create_action_ex(group.as_deref().unwrap_or(name))
            .merge_mode(mode)
            .custom_context(root)
            .backward_undo_ops(true)
            .done();
        let id = manager.get_object_history_id(root);
        let history = manager.get_history_undo_redo(id);
        let step = history.map(|history| {
            let serial = made::begin(id, &history);
            (id, history, serial)
        });
        Ok(Edit { manager, step, undo: vec![], watch: Watch::default() })
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
        self.undo.push(Undo::Call(object.clone(), method.to_owned(), args.to_vec()));
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
        self.undo.push(Undo::Set(object.clone(), property.to_owned(), before.clone()));
        self
    }

    /// Has undoing it give a node also what the node's file holds of others than this property, where the action changes
    /// that beside it.
    pub(crate) fn watches(&mut self, node: &Gd<Node>, property: &str) -> &mut Self {
        self.watch.add(node, property);
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

    /// Does it, and says what it changed beside what it was to change.
    pub(crate) fn commit(mut self) -> Vec<Beside> {
        // The last in the order is added first, and the step is heard of when all else is done.
        if let Some((id, history, serial)) = &mut self.step {
            made::hear(*id, *serial, history);
        }
        for undo in self.undo.into_iter().rev() {
            match undo {
                Undo::Call(object, method, args) => {
                    self.manager.add_undo_method(&object, &method, &args);
                }
                Undo::Set(object, property, value) => {
                    self.manager.add_undo_property(&object, &property, &value);
                }
            }
        }
        if let Some((id, history, serial)) = self.step.as_mut().filter(|_| self.watch.is_any()) {
            made::look(*id, *serial, history);
        }
        self.manager.commit_action();
        let beside = self.watch.changed();
        if let Some((id, _, serial)) = self.step {
            made::add(id, serial, beside.clone());
        }
        group::note_edit();
        beside
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
