//! Work on a game of which there is one at a time: it is being stepped, watched or explored, once each.

use std::{cell::Cell, thread::LocalKey};

/// Whether work of one kind goes on.
pub(super) type Flag = LocalKey<Cell<bool>>;

/// Held while it goes on. Dropped with it, however it ends.
pub(crate) struct Active(&'static Flag);

impl Active {
    /// Begins; none while it goes on already.
    pub(super) fn begin(flag: &'static Flag) -> Option<Self> {
        if flag.replace(true) { None } else { Some(Active(flag)) }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
