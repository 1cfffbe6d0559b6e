//! Changes that are one step of undo: the editor adds an action to the one before it when both have the name of the
//! group and come soon after one another.

use std::cell::RefCell;

thread_local! {
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a command whose edits are part of a group, if it names one.
pub(crate) fn run<T>(name: Option<&String>, command: impl FnOnce() -> T) -> T {
    let _ended = Ended;
    CURRENT.with(|current| current.replace(name.cloned()));
    command()
}

/// The group of the command that runs.
pub(crate) fn current() -> Option<String> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Ends the group with the command, however that ends.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(None));
    }
}
