//! The running game: its tree, its time, its input, its end.

pub(crate) mod active;
mod adapter;
pub(crate) mod control_debugger;
pub(crate) mod eval_gdscript;
pub(crate) mod explore_scene;
pub(crate) mod get_call_stack;
pub(crate) mod get_tree;
pub(crate) mod headless_run;
pub(crate) mod held_input;
pub(crate) mod inject_input;
pub(crate) mod read_profiler;
pub(crate) mod set_paused;
pub(crate) mod step;
pub(crate) mod stop;
pub(crate) mod watch_invariants;
