//! The trial: a pack's first load happens in a child, so that what kills a process kills that one.
//!
//! The child passes gates 5 and 6 and writes the descriptor document into a file; the parent reads it. A pack
//! that crashes, exits or never returns is refused by the way in which its child ended. Once per digest.
//!
//! Spec: P-31, gates of the loader.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use didi_plugin_api::desc::PackDesc;

use super::{image::Stamp, open};
use crate::{cancel::Cancel, child, source};

/// How long a pack may take to load and describe itself.
pub const TRIAL_LIMIT: Duration = Duration::from_secs(5);

/// Largest descriptor document, in bytes.
const MAX_DESCRIPTOR_BYTES: u64 = 16 * 1024 * 1024;

/// Exit code of a trial child that refuses the pack in an orderly way; its output says why.
pub const REFUSED_EXIT_CODE: u8 = 3;

/// Runs the trial of a private copy.
///
/// # Errors
/// One sentence that says how the trial ended.
pub fn run(copy: &Path, stamp: &Stamp) -> Result<PackDesc, String> {
    let own = std::env::current_exe().map_err(|error| format!("the trial has no host: {error}"))?;
    let document = copy.with_file_name(format!(".descriptor-{}.json", source::random_hex::<8>()));
    let args = ["packs", "trial", &stamp.pack, &stamp.api];
    let mut args: Vec<String> = args.map(ToOwned::to_owned).to_vec();
    args.extend([copy, &document].map(|path| path.to_string_lossy().into_owned()));
    let folder = copy.parent().unwrap_or(Path::new("/"));
    let spec = child::Spec {
        program: &own,
        args: &args,
        env: &[],
        folder,
        limit: TRIAL_LIMIT,
        max_output_bytes: 64 * 1024,
    };
    let report = child::run(&spec, &Cancel::default());
    let described = read_document(&document);
    let _ = fs::remove_file(&document);
    let report = report.map_err(|error| format!("the trial child can't be started: {error}"))?;
    if report.timed_out {
        let seconds = TRIAL_LIMIT.as_secs();
        return Err(format!(
            "it did not finish loading within {seconds} s in a trial; mend the pack's `open`"
        ));
    }
    if let Some(signal) = report.signal {
        return Err(format!(
            "loading it killed a trial process with signal {signal}; rebuild or mend the pack"
        ));
    }
    match (report.exit_code, described) {
        (Some(0), Ok(desc)) => Ok(desc),
        (Some(code), _) if code == i32::from(REFUSED_EXIT_CODE) => {
            let said = report.lines.iter().rev().find(|line| !line.stderr);
            Err(said.map_or_else(|| "it was refused in a trial".into(), |line| line.text.clone()))
        }
        (Some(0), Err(why)) => Err(format!("{why}; loading it ended the trial process early")),
        (code, _) => {
            let code =
                code.map_or_else(|| "no exit code".into(), |code| format!("exit code {code}"));
            Err(format!("loading it ended a trial process with {code}; mend the pack's `open`"))
        }
    }
}

fn read_document(file: &Path) -> Result<PackDesc, String> {
    let size = fs::metadata(file).map_err(|_| "it wrote no descriptor".to_owned())?.len();
    if size > MAX_DESCRIPTOR_BYTES {
        return Err(format!("its descriptor has more than {MAX_DESCRIPTOR_BYTES} bytes"));
    }
    let bytes = fs::read(file).map_err(|error| format!("its descriptor can't be read: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("its descriptor can't be read: {error}"))
}

/// The child's side: opens the copy, asks it to describe itself, writes the document down.
///
/// # Errors
/// One sentence for the parent to pass on.
#[allow(clippy::disallowed_methods, reason = "the document is the child's own file")]
pub fn child_main(pack: &str, api: &str, copy: &Path, document: &PathBuf) -> Result<(), String> {
    let root = open::open(copy, pack, api).map_err(|refused| refused.reason)?;
    let descriptor = open::describe(root, pack).map_err(|refused| refused.reason)?;
    fs::write(document, descriptor)
        .map_err(|error| format!("the descriptor can't be written down: {error}"))
}
