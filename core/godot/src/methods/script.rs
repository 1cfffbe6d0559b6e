//! Scripts on nodes.

pub(crate) mod attach_to_node;
pub(crate) mod detach_from_node;
