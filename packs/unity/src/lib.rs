//! Instances that speak the Unity Pipeline: the pack's table of contents.
//!
//! Where an instance listens and what opens it is the host's to know; a tool here names one and asks it.
//!
//! Spec: P-72, instances for packs.

use didi_plugin_api::prelude::*;

mod ask;
mod editor_status;
mod jobs;
mod list_commands;
mod list_instances;
mod progress;
mod run_command;

/// The pack.
pub struct UnityPack;

impl ToolPack for UnityPack {
    fn open() -> Result<Self, String> {
        Ok(UnityPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![
            list_instances::tool(),
            editor_status::tool(),
            list_commands::tool(),
            run_command::tool(),
            progress::tool(),
            jobs::status(),
            jobs::cancel(),
        ]
    }

    fn needs(&'static self) -> Vec<String> {
        // Without them there is nothing that the pack could do.
        vec!["pipeline.instances".into(), "pipeline.request".into()]
    }
}

didi_plugin_api::export_pack!(UnityPack);
