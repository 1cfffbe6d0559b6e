//! The one form in which values cross the bridge.
//!
//! Numbers, texts and lists are themselves; `Vector2` and its kind are objects of their components, a resource is
//! its path, a node null. [`read`](read()) takes what a property declares as its guide, so that `{"x": 1, "y": 2}`
//! is what the property wants it to be; where nothing is declared, `{"type": "Vector2", ..}` says it.

pub(crate) mod components;
mod read;
mod write;

pub(crate) use components::name as type_name;
pub(crate) use read::{Wanted, read};
pub(crate) use write::write;

use didi_wire::BridgeError;

/// Deepest nesting of arrays and dictionaries.
pub(crate) const MAX_LEVELS: usize = 16;

/// A value that JSON has no form for here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsupported(pub(crate) String);

impl From<Unsupported> for BridgeError {
    fn from(Unsupported(what): Unsupported) -> Self {
        BridgeError::new(400, "property_type_unsupported", what)
    }
}
