//! Changes that are one step of undo: the editor adds an action to the one before it when both have the name of the
//! group and come soon after one another.
//!
//! How soon is the engine's own: an action joins the newest one of its history if less than 800 ms lie between the two.
//! A command that takes longer makes a step of its own under the group's name, and so does the one after it; each is
//! told with its own versions, so whoever takes the group back goes through as many steps as there were.

use std::cell::RefCell;

/// The group of the command that runs.
struct Group {
    name: String,
    /// Whether the command has made an edit.
    edited: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Group>> = const { RefCell::new(None) };
}

/// Runs a command whose edits are part of a group, if it names one.
pub(crate) fn run<T>(name: Option<&String>, command: impl FnOnce() -> T) -> T {
    let _ended = Ended;
    CURRENT.set(name.map(|name| Group { name: name.clone(), edited: false }));
    command()
}

/// The name of the group of the command that runs.
pub(crate) fn current() -> Option<String> {
    CURRENT.with_borrow(|current| current.as_ref().map(|group| group.name.clone()))
}

/// Notes that the command has made an edit.
pub(super) fn note_edit() {
    CURRENT.with_borrow_mut(|current| {
        if let Some(group) = current {
            group.edited = true;
        }
    });
}

/// Whether the command that runs belongs to a group and has made an edit.
pub(super) fn has_edited() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(|group| group.edited))
}

/// Ends the group with the command, however that ends.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}
