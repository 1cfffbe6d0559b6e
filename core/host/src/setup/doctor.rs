//! Diagnosis: looks at everything that set-up makes and at what it needs, and changes nothing.
//!
//! Spec: P-57, set-up and diagnosis.

use didi_formats::config::ConfigFile;
use didi_plugin_api::refusal::Refusal;
use didi_wire::{
    discovery::DiagnosticCode,
    session_dir::{SessionDir, SessionDirFault},
};

use super::{
    addon::{self, Own},
    clients::Client,
    editor,
    report::{Report, State, Step},
    work::Work,
};
use crate::{bridge::Routes, files::ProjectFiles};

/// Sessions that are told one by one; the rest is a number.
const MAX_TOLD: usize = 20;

/// Looks at everything; what is seen goes into the report.
pub(super) fn run(work: &Work, report: &mut Report<'_>) {
    for step in project(&work.files) {
        report.push(step);
    }
    let own = Own::find(work.addon.as_deref());
    for step in addon::diagnose(&work.files, &own) {
        report.push(step);
    }
    report.push(engine(work));
    for step in sessions(&work.routes) {
        report.push(step);
    }
    for step in editor::diagnose(&work.routes) {
        report.push(step);
    }
    for step in clients(work) {
        report.push(step);
    }
}

/// The settings file, and what it says of plugins.
fn project(files: &ProjectFiles) -> Vec<Step> {
    const STEP: &str = "project";
    let bytes = match files.read("res://project.godot") {
        Ok(bytes) => bytes,
        Err(refusal) => return vec![Step::refused(STEP, &refusal)],
    };
    let config = match ConfigFile::parse(&bytes) {
        Ok(config) => config,
        Err(error) => {
            let seen = format!("`project.godot` can't be read: {error}");
            let remedy = "mend the file; the engine does not open such a project";
            return vec![Step::finding(STEP, State::Fail, "project_unreadable", seen, remedy)];
        }
    };
    let name = config.text("application", "config/name").unwrap_or_default();
    let mut steps =
        vec![Step::new(STEP, State::Ok, format!("`project.godot` is that of \"{name}\""))];
    // The addon has no plugin script: the engine loads its library by the description alone.
    let enabled = config.get("editor_plugins", "enabled").map_or("", |value| value.text);
    let plugin = format!("{}/plugin.cfg", didi_wire::addon::FOLDER);
    if enabled.contains(&plugin) && files.read(&plugin).is_err() {
        let seen = format!("`project.godot` enables `{plugin}`, which is not there");
        let remedy = "take that entry out under Project Settings, Plugins: the addon needs none";
        steps.push(Step::finding("plugin", State::Warn, "plugin_missing", seen, remedy));
    }
    steps
}

fn engine(work: &Work) -> Step {
    const STEP: &str = "engine";
    match work.engines.find() {
        Ok(found) => Step::new(
            STEP,
            State::Ok,
            format!("Godot {} in `{}`", found.version, found.executable.display()),
        ),
        Err(refusal) => no_engine(&refusal, work.names_engine),
    }
}

fn no_engine(refusal: &Refusal, was_named: bool) -> Step {
    const REMEDY: &str = "name a Godot 4.5 or newer with --godot, or in GODOT_BIN";
    let rejected = editor::rejected(refusal);
    let (code, seen) = match rejected.first() {
        Some(first) => ("engine_unusable", format!("{}: {first}", refusal.message)),
        None => ("engine_missing", refusal.message.clone()),
    };
    if was_named {
        return Step::finding("engine", State::Fail, "engine_unusable", seen, REMEDY);
    }
    Step::finding("engine", State::Warn, code, seen, REMEDY)
}

/// The folder of sessions, and what in it is of no use.
fn sessions(routes: &Routes) -> Vec<Step> {
    const STEP: &str = "sessions";
    let folder = routes.folder();
    let shown = folder.path.display();
    match folder.check() {
        Ok(true) => {}
        Ok(false) => {
            let seen = format!("`{shown}` is not there yet; the first engine makes it");
            return vec![Step::new(STEP, State::Ok, seen)];
        }
        Err(fault) => return vec![unusable(folder, &fault)],
    }
    let scan = match routes.scan() {
        Ok(scan) => scan,
        Err(refusal) => {
            let remedy = format!("make `{shown}` your own folder with mode 700, or remove it");
            let seen = refusal.message.clone();
            return vec![Step::finding(STEP, State::Fail, "session_folder_unusable", seen, remedy)];
        }
    };
    let mut steps = vec![Step::new(
        STEP,
        State::Ok,
        format!("`{shown}` shows {} of living engines", scan.sessions.len()),
    )];
    for told in scan.diagnostics.iter().take(MAX_TOLD) {
        let (code, remedy) = match told.code {
            DiagnosticCode::ProcessGone => {
                ("session_stale", "run `didi setup`, which takes away what ended engines left")
            }
            DiagnosticCode::NotPrivate => {
                ("session_not_private", "remove the file, or make it yours alone (mode 600)")
            }
            _ => ("session_unreadable", "remove the file if no engine of yours wrote it"),
        };
        let seen = format!("`{}`: {}", told.file, told.message);
        steps.push(Step::finding(STEP, State::Warn, code, seen, remedy));
    }
    steps
}

fn unusable(folder: &SessionDir, fault: &SessionDirFault) -> Step {
    let (code, why) = match fault {
        SessionDirFault::NotPrivate(_) => ("session_folder_not_private", permissions(folder)),
        SessionDirFault::Io(_, error) => ("session_folder_unusable", error.to_string()),
    };
    let shown = folder.path.display();
    let remedy = format!("make `{shown}` your own folder with mode 700, or remove it");
    Step::finding("sessions", State::Fail, code, format!("{fault}: {why}"), remedy)
}

#[cfg(unix)]
fn permissions(folder: &SessionDir) -> String {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::symlink_metadata(&folder.path) {
        Ok(found) if found.is_symlink() => "it is a link".into(),
        Ok(found) if !found.is_dir() => "it is no folder".into(),
        Ok(found) => format!(
            "it belongs to user {} with mode {:o}, and you are user {}",
            found.uid(),
            found.mode() & 0o7777,
            rustix::process::geteuid().as_raw()
        ),
        Err(error) => error.to_string(),
    }
}

#[cfg(not(unix))]
fn permissions(_: &SessionDir) -> String {
    "it is no folder".into()
}

/// Each client, and whether any is set up at all.
fn clients(work: &Work) -> Vec<Step> {
    let mut steps: Vec<Step> =
        Client::ALL.iter().map(|client| client.diagnose(&work.files, &work.entry)).collect();
    if steps.iter().all(|step| step.state == State::Skipped) {
        let seen = "no client is set up in this project";
        let remedy = "run `didi setup --project` on this project, or register the server by hand";
        steps.push(Step::finding("clients", State::Warn, "no_client", seen, remedy));
    }
    steps
}
