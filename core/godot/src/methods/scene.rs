//! The scene that is being edited: its nodes, their properties, and the files of scenes.

pub(crate) mod add_to_group;
pub(crate) mod call_method;
pub(crate) mod close;
pub(crate) mod create;
pub(crate) mod duplicate_node;
mod file;
pub(crate) mod get_group_members;
pub(crate) mod get_hierarchy;
pub(crate) mod get_property;
mod groups;
pub(crate) mod instantiate_node;
pub(crate) mod list_groups;
pub(crate) mod open;
pub(crate) mod pack_branch;
mod packed;
pub(crate) mod remove_from_group;
pub(crate) mod remove_node;
pub(crate) mod reparent_node;
pub(crate) mod set_property;
