//! The project: files, search, settings, blackboards: the pack's table of contents.

use didi_plugin_api::prelude::*;

mod analyze_impact;
mod answer;
mod apply_changes;
mod asset_reimport;
mod audit_assets;
mod blackboard;
mod board;
mod code;
mod configure_import;
mod detached;
mod get_setting;
mod get_uid_map;
mod index;
mod inspect;
mod list_autoloads;
mod list_input_actions;
mod list_resources;
mod md5;
mod move_files;
mod names;
mod references;
mod reload_project;
mod remove_autoload;
mod remove_input_action;
mod rename_references;
mod resource_create;
mod resources;
mod run_tests;
mod scan;
mod search_symbols;
mod search_text;
mod searching;
mod set_autoload;
mod set_input_action;
mod set_setting;
mod settings;
mod verification;
mod verify_changes;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod tests;

/// The pack.
pub struct ProjectPack;

impl ToolPack for ProjectPack {
    fn open() -> Result<Self, String> {
        Ok(ProjectPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![
            list_resources::tool(),
            inspect::tool(),
            resource_create::tool(),
            search_text::tool(),
            search_symbols::tool(),
            analyze_impact::tool(),
            audit_assets::tool(),
            rename_references::tool(),
            move_files::tool(),
            get_setting::tool(),
            list_autoloads::tool(),
            set_setting::tool(),
            set_autoload::tool(),
            remove_autoload::tool(),
            list_input_actions::tool(),
            set_input_action::tool(),
            remove_input_action::tool(),
            asset_reimport::tool(),
            configure_import::tool(),
            reload_project::tool(),
            get_uid_map::tool(),
            run_tests::tool(),
            verify_changes::tool(),
            apply_changes::tool(),
            blackboard::write::tool(),
            blackboard::read::tool(),
            blackboard::patch::tool(),
            blackboard::list_keys::tool(),
            blackboard::clear::tool(),
            blackboard::task_create::tool(),
            blackboard::task_claim::tool(),
            blackboard::task_update::tool(),
            blackboard::task_complete::tool(),
            blackboard::task_list::tool(),
        ]
    }

    fn resources(&'static self) -> Vec<Resource> {
        vec![
            resources::tree::resource(),
            resources::scenarios::resource(),
            resources::boards::state(),
            resources::boards::tasks(),
        ]
    }
}

didi_plugin_api::export_pack!(ProjectPack);
