//! Work of which there is one at a time: a game is being stepped, watched or explored, a view drawn otherwise, once each.

use std::{cell::Cell, thread::LocalKey};

/// Whether work of one kind goes on.
pub(crate) type Flag = LocalKey<Cell<bool>>;

/// Held while it goes on. Dropped with it, however it ends.
pub(crate) struct Active(&'static Flag);

impl Active {
    /// Begins; none while it goes on already.
    pub(crate) fn begin(flag: &'static Flag) -> Option<Self> {
        if flag.replace(true) { None } else { Some(Active(flag)) }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
