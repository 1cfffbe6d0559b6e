//! What both commands work on: the project, the engines, the sessions and the entry that clients get.

use std::path::{Path, PathBuf};

use super::clients::Entry;
use crate::{
    bridge::Routes,
    cli::{Options, Usage},
    engine::{Engines, Places},
    files::ProjectFiles,
};

/// The surroundings of one command.
pub(super) struct Work {
    /// The project's files.
    pub(super) files: ProjectFiles,
    /// Where engines are looked for.
    pub(super) engines: Engines,
    /// Whether one was named.
    pub(super) names_engine: bool,
    /// The sessions that can be seen.
    pub(super) routes: Routes,
    /// What a client is to start.
    pub(super) entry: Entry,
    /// Where the addon's library is, if that was named.
    pub(super) addon: Option<PathBuf>,
}

impl Work {
    /// The surroundings as the options want them.
    ///
    /// # Errors
    /// A project that is none, or a program that does not know itself.
    pub(super) fn new(
        options: &Options,
        godot: Option<&Path>,
        addon: Option<PathBuf>,
    ) -> Result<Self, Usage> {
        let project = options.project_root()?;
        let program = std::env::current_exe().map_err(|error| Usage {
            error: format!("this program can't find its own file: {error}"),
            hint: "start it by its full path".into(),
        })?;
        let program = program.canonicalize().unwrap_or(program);
        let godot = godot.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
        let places = options.engine_places();
        let search = places.search.clone();
        let places = Places { exact: godot.clone().or(places.exact), ..places };
        Ok(Work {
            files: ProjectFiles::new(project.clone()),
            names_engine: places.exact.is_some(),
            engines: Engines::new(places),
            routes: Routes::new(options.session_folder(), project.clone()),
            entry: Entry { program, project, godot, search },
            addon,
        })
    }
}
