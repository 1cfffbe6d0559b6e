//! `didi setup` and `didi doctor`: everything between a built program and an assistant that works in a project, made in
//! one go and looked at when it does not work.
//!
//! Every step looks first and writes only what is not so yet, so a second run changes no byte. Writes are those of
//! [`crate::files`]: contained, atomic, compared with what was read, read back.
//!
//! Spec: P-57, set-up and diagnosis.

mod addon;
mod clients;
mod doctor;
mod editor;
mod guide;
mod report;
mod work;

use std::{
    io::{IsTerminal as _, Write},
    time::Duration,
};

use didi_plugin_api::{
    ctx::Expect,
    digest::sha256_hex,
    refusal::{Refusal, codes},
};
use didi_wire::discovery;

use self::{
    addon::Own,
    clients::Client,
    editor::Wish,
    report::{Report, State, Step},
    work::Work,
};
use crate::{
    bridge::Routes,
    cancel::Cancel,
    cli::{DoctorOptions, Options, SetupOptions, Usage},
    files::ProjectFiles,
};

/// `didi setup`. Answers whether all steps went well.
///
/// # Errors
/// An option that can't be used.
pub fn run(options: &Options, wish: &SetupOptions, out: &mut dyn Write) -> Result<bool, Usage> {
    let work = Work::new(options, wish.godot.as_deref(), wish.addon.clone())?;
    let project = work.files.root().folder().display().to_string();
    let mut report = Report::new(out, "setup", project, wish.json);
    if let Some(step) = named_engine(&work) {
        report.push(step);
    }
    let own = Own::find(work.addon.as_deref());
    report.push(addon::install(&work.files, own, wish.replace_addon));
    report.push(addon::list_extension(&work.files));
    report.push(tidy_sessions(&work.routes));
    let clients = wish.clients();
    for client in &clients {
        report.push(client.set_up(&work.files, &work.entry));
    }
    if wish.no_agent_guide {
        report.push(Step::new("guide", State::Skipped, "--no-agent-guide was given"));
    } else {
        for step in guide::write(&work.files, &clients) {
            report.push(step);
        }
    }
    report.push(bring_up(&work, wish, report.has_failed()));
    Ok(report.end())
}

/// `didi doctor`. Answers whether nothing is broken.
///
/// # Errors
/// An option that can't be used.
pub fn run_doctor(
    options: &Options,
    wish: &DoctorOptions,
    out: &mut dyn Write,
) -> Result<bool, Usage> {
    let work = Work::new(options, wish.godot.as_deref(), wish.addon.clone())?;
    let project = work.files.root().folder().display().to_string();
    let mut report = Report::new(out, "doctor", project, wish.json);
    doctor::run(&work, &mut report);
    Ok(report.end())
}

/// Puts the addon into a copy of a project that is this program's own.
///
/// # Errors
/// One sentence.
pub(crate) fn install_addon(files: &ProjectFiles) -> Result<(), String> {
    let steps = [addon::install(files, Own::find(None), true), addon::list_extension(files)];
    match steps.into_iter().find(|step| step.state == State::Fail) {
        Some(failed) => Err(failed.seen),
        None => Ok(()),
    }
}

/// An engine that was named has to be one, whether or not it is needed now: the clients are told of it.
fn named_engine(work: &Work) -> Option<Step> {
    let named = work.entry.godot.as_ref()?;
    Some(match work.engines.find() {
        Ok(found) => Step::new(
            "engine",
            State::Ok,
            format!("Godot {} in `{}`", found.version, named.display()),
        ),
        Err(refusal) => editor::no_engine(&refusal),
    })
}

fn bring_up(work: &Work, wish: &SetupOptions, has_failed: bool) -> Step {
    if has_failed && (wish.headless || wish.wait) {
        return Step::new("editor", State::Skipped, "a step before it failed");
    }
    let wish = Wish {
        headless: wish.headless,
        wait: wish.wait,
        timeout: Duration::from_secs(wish.timeout),
        shows_progress: !wish.json && std::io::stderr().is_terminal(),
    };
    editor::bring_up(&work.routes, || work.engines.find(), &wish)
}

/// Takes away what engines left that have provably ended.
fn tidy_sessions(routes: &Routes) -> Step {
    const STEP: &str = "sessions";
    let folder = routes.folder();
    let swept = discovery::scan(folder).and_then(|scan| discovery::sweep(folder, &scan));
    match swept {
        Ok(swept) if swept == discovery::Swept::default() => {
            Step::new(STEP, State::Unchanged, "no ended engine left anything")
        }
        Ok(swept) => Step::new(
            STEP,
            State::Done,
            format!(
                "{} sessions of ended engines and {} locks are gone",
                swept.descriptors, swept.locks
            ),
        ),
        Err(fault) => {
            let remedy = "`didi doctor` says what is wrong with the folder";
            Step::finding(STEP, State::Fail, "session_folder_unusable", fault.to_string(), remedy)
        }
    }
}

/// A file's bytes; `None` when it is not there.
fn read(files: &ProjectFiles, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
    match files.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(refusal) if refusal.code == codes::NOT_FOUND => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Writes a file that still has to be what was read; answers whether that changed it.
fn swap(
    files: &ProjectFiles,
    path: &str,
    before: Option<&[u8]>,
    after: &[u8],
) -> Result<bool, Refusal> {
    if before == Some(after) {
        return Ok(false);
    }
    let expect = before.map_or(Expect::Absent, |bytes| Expect::Sha256(sha256_hex(bytes)));
    files.write_own(path, after, &expect, &Cancel::default()).map(|written| written.changed)
}

/// Makes a file hold these bytes; answers whether it did not.
fn put(files: &ProjectFiles, path: &str, bytes: &[u8]) -> Result<bool, Refusal> {
    let before = read(files, path)?;
    swap(files, path, before.as_deref(), bytes)
}

impl SetupOptions {
    /// The clients that are set up: those that were named, or all.
    fn clients(&self) -> Vec<Client> {
        use crate::cli::ClientOption;
        let named = self.client.iter().flat_map(|option| match option {
            ClientOption::All => Client::ALL.to_vec(),
            ClientOption::ClaudeCode => vec![Client::ClaudeCode],
            ClientOption::Cursor => vec![Client::Cursor],
            ClientOption::Vscode => vec![Client::Vscode],
            ClientOption::Codex => vec![Client::Codex],
        });
        let mut clients: Vec<Client> = vec![];
        for client in named {
            if !clients.contains(&client) {
                clients.push(client);
            }
        }
        if clients.is_empty() { Client::ALL.to_vec() } else { clients }
    }
}
