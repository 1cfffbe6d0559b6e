//! Running games: the pack's table of contents.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

mod launch;
mod live;
mod run_scenario;

/// The pack.
pub struct RuntimePack;

impl ToolPack for RuntimePack {
    fn open() -> Result<Self, String> {
        Ok(RuntimePack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        let mut tools = vec![launch::tool(), run_scenario::tool()];
        tools.extend(live::tools());
        tools
    }
}

didi_plugin_api::export_pack!(RuntimePack);
