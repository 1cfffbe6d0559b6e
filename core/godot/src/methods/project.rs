//! The project's own settings: values, autoloads, input actions, and the uids of its resources.

mod file;
pub(crate) mod get_setting;
mod input;
pub(crate) mod list_autoloads;
pub(crate) mod list_input_actions;
pub(crate) mod remove_autoload;
pub(crate) mod remove_input_action;
pub(crate) mod resolve_uids;
pub(crate) mod set_autoload;
pub(crate) mod set_input_action;
pub(crate) mod set_setting;
