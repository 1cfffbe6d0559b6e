//! Input for a paused game, held until its time goes on.

use std::cell::RefCell;

use godot::{
    classes::{Input, InputEvent},
    prelude::*,
};

/// Most events held.
pub(crate) const MAX_HELD: usize = 256;

thread_local! {
    static HELD: RefCell<Vec<Gd<InputEvent>>> = const { RefCell::new(Vec::new()) };
}

/// How many are held.
pub(crate) fn count() -> usize {
    HELD.with_borrow(Vec::len)
}

/// Holds more.
pub(crate) fn hold(events: Vec<Gd<InputEvent>>) {
    HELD.with_borrow_mut(|held| held.extend(events));
}

/// Hands all of them to the game, in their order.
pub(crate) fn release() -> usize {
    // Taken out first: the game's own code runs while they are handed over.
    let events = HELD.with_borrow_mut(std::mem::take);
    for event in &events {
        Input::singleton().parse_input_event(event);
    }
    events.len()
}
