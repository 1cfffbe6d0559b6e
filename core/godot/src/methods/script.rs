//! Scripts on nodes.

pub(crate) mod attach_to_node;
