//! The editor's own Undo and Redo: the items of its Scene menu.
//!
//! A history stepped by itself would leave the editor's book of histories behind, so the menu is used; its items
//! are found by their shortcuts, whose names are no translated texts.

use didi_wire::BridgeError;
use godot::{
    classes::{EditorInterface, PopupMenu, UndoRedo},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{edit::history, refuse};

/// Which way to step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Back,
    Forth,
}

impl Direction {
    /// The name of the menu item's shortcut.
    fn shortcut(self) -> &'static str {
        match self {
            Direction::Back => "Undo",
            Direction::Forth => "Redo",
        }
    }

    fn can(self, history: &Gd<UndoRedo>) -> bool {
        match self {
            Direction::Back => history.has_undo(),
            Direction::Forth => history.has_redo(),
        }
    }

    fn step(self, history: &mut Gd<UndoRedo>) -> bool {
        match self {
            Direction::Back => history.undo(),
            Direction::Forth => history.redo(),
        }
    }
}

/// A step that was made.
pub(crate) struct Stepped {
    pub(crate) history: &'static str,
    pub(crate) action: String,
    pub(crate) version: u64,
    pub(crate) current_action: String,
}

/// Makes one step.
///
/// # Errors
/// `nothing_to_undo` (409) when neither the scene's history nor the project's has a step.
pub(crate) fn step(direction: Direction) -> Result<Stepped, BridgeError> {
    let histories = histories();
    let before: Vec<u64> = histories.iter().map(|(_, history)| history.get_version()).collect();
    let names: Vec<String> = histories
        .iter()
        .map(|(_, history)| history.get_current_action_name().to_string())
        .collect();
    if !histories.iter().any(|(_, history)| direction.can(history)) {
        let message = match direction {
            Direction::Back => "there is nothing to undo",
            Direction::Forth => "there is nothing to redo",
        };
        let error = refuse::conflict(nothing(direction), message);
        return Err(error.with("no_remedy", "the history has no step in this direction"));
    }
    press(direction);
    let moved = |(at, (_, history)): (usize, &(&str, Gd<UndoRedo>))| {
        (history.get_version() != before[at]).then_some(at)
    };
    let at = histories.iter().enumerate().find_map(moved).or_else(|| {
        // An editor without the menu item: the history itself.
        let mut stepped =
            histories.iter().enumerate().filter(|(_, (_, history))| direction.can(history));
        let (at, (_, history)) = stepped.next()?;
        direction.step(&mut history.clone()).then_some(at)
    });
    let Some(at) = at else {
        return Err(refuse::engine("undo_failed", "the editor did not make the step"));
    };
    let (name, history) = &histories[at];
    let current = history.get_current_action_name().to_string();
    let action = if direction == Direction::Back { names[at].clone() } else { current.clone() };
    Ok(Stepped { history: name, action, version: history.get_version(), current_action: current })
}

fn nothing(direction: Direction) -> &'static str {
    match direction {
        Direction::Back => "nothing_to_undo",
        Direction::Forth => "nothing_to_redo",
    }
}

impl Stepped {
    /// What was seen afterwards.
    pub(crate) fn observed(&self) -> Value {
        json!({ "version": self.version, "current_action": self.current_action })
    }
}

fn histories() -> Vec<(&'static str, Gd<UndoRedo>)> {
    let scene = history::of_scene().map(|(_, history)| ("scene", history));
    let global = history::of_project().map(|history| ("global", history));
    scene.into_iter().chain(global).collect()
}

/// Presses the menu item, where there is one.
fn press(direction: Direction) {
    let Some(base) = EditorInterface::singleton().get_base_control() else { return };
    let menus = base.find_children_ex("*").type_("PopupMenu").owned(false).done();
    for node in menus.iter_shared() {
        let Ok(mut menu) = node.try_cast::<PopupMenu>() else { continue };
        if let Some(id) = item(&menu, direction.shortcut()) {
            menu.emit_signal("id_pressed", &[id.to_variant()]);
            return;
        }
    }
}

fn item(menu: &Gd<PopupMenu>, shortcut: &str) -> Option<i32> {
    let undo_menu = |at: i32| {
        let found = menu.get_item_shortcut(at)?;
        (found.get_name() == shortcut).then(|| menu.get_item_id(at))
    };
    // Text fields have an Undo of their own; the Scene menu has Save beside it.
    let has_save = (0..menu.get_item_count())
        .any(|at| menu.get_item_shortcut(at).is_some_and(|found| found.get_name() == "Save Scene"));
    has_save.then(|| (0..menu.get_item_count()).find_map(undo_menu))?
}
