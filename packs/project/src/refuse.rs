//! Refusals that several tools of this pack give.

use didi_plugin_api::prelude::*;

/// An argument that can't be used.
pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(codes::INVALID_ARGUMENTS, message).field(field)
}
