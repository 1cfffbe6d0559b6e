//! The trial: a pack's first load happens in a child, so that what kills a process kills that one.
//!
//! The child passes gates 5 and 6 and writes the descriptor document into a file; the parent reads it. A pack
//! that crashes, exits or never returns is refused by the way in which its child ended. Once per digest.
//!
//! Spec: P-31, gates of the loader.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use didi_plugin_api::desc::PackDesc;

use super::{Gate, Refused, image::Stamp, open};
use crate::{cancel::Cancel, child, source};

/// How long a pack may take to load and describe itself.
pub const TRIAL_LIMIT: Duration = Duration::from_secs(5);

/// Largest descriptor document, in bytes.
const MAX_DESCRIPTOR_BYTES: u64 = 16 * 1024 * 1024;

/// Exit code of a trial child that refuses the pack in an orderly way; its output says why.
pub const REFUSED_EXIT_CODE: u8 = 3;

/// A trial that did not end with a descriptor.
pub struct Failed {
    /// Why the pack is not served.
    pub refused: Refused,
    /// Whether another trial of the same bytes would end alike. What a pack's `open` says of the machine, or
    /// a child that could not be started, may be otherwise tomorrow.
    pub lasting: bool,
}

impl Failed {
    fn lasting(why: impl Into<String>) -> Self {
        Failed { refused: Refused::new(Gate::Trial, why), lasting: true }
    }

    fn passing(why: impl Into<String>) -> Self {
        Failed { refused: Refused::new(Gate::Trial, why), lasting: false }
    }

    /// What the child refused by itself.
    fn said(line: Option<&str>) -> Self {
        let refused = line.and_then(|line| serde_json::from_str::<Refused>(line).ok());
        let Some(refused) = refused else { return Failed::lasting("it was refused in a trial") };
        let lasting = refused.gate != Gate::Descriptor;
        Failed { refused, lasting }
    }
}

/// Runs the trial of a private copy.
///
/// # Errors
/// How the trial ended.
pub fn run(copy: &Path, stamp: &Stamp) -> Result<PackDesc, Failed> {
    let own = own_program()
        .map_err(|error| Failed::passing(format!("the trial has no host: {error}")))?;
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
    let report = report
        .map_err(|error| Failed::passing(format!("the trial child can't be started: {error}")))?;
    if report.timed_out {
        let seconds = TRIAL_LIMIT.as_secs();
        return Err(Failed::lasting(format!(
            "it did not finish loading within {seconds} s in a trial; mend the pack's `open`, or run \
             `didi packs check` on it to try again"
        )));
    }
    if let Some(signal) = report.signal {
        return Err(Failed::lasting(format!(
            "loading it killed a trial process with signal {signal}; rebuild or mend the pack"
        )));
    }
    match (report.exit_code, described) {
        (Some(0), Ok(desc)) => Ok(desc),
        (Some(code), _) if code == i32::from(REFUSED_EXIT_CODE) => {
            let said = report.lines.iter().rev().find(|line| !line.stderr);
            Err(Failed::said(said.map(|line| line.text.as_str())))
        }
        (Some(0), Err(why)) => Err(Failed::lasting(format!(
            "{why}: loading it ended the trial process early; mend the pack's `open`"
        ))),
        (code, _) => {
            let code =
                code.map_or_else(|| "no exit code".into(), |code| format!("exit code {code}"));
            Err(Failed::lasting(format!(
                "loading it ended a trial process with {code}; mend the pack's `open`"
            )))
        }
    }
}

/// This very program, also when its file was replaced since it started.
fn own_program() -> io::Result<PathBuf> {
    const OWN: &str = "/proc/self/exe";
    if cfg!(target_os = "linux") && fs::symlink_metadata(OWN).is_ok() {
        return Ok(OWN.into());
    }
    std::env::current_exe()
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
/// What the parent passes on: a gate and its reason, as one line of JSON.
#[allow(clippy::disallowed_methods, reason = "the document is the child's own file")]
pub fn child_main(pack: &str, api: &str, copy: &Path, document: &PathBuf) -> Result<(), String> {
    let tried = open::open(copy, pack, api).and_then(|root| {
        let descriptor = open::describe(root, pack)?;
        fs::write(document, descriptor).map_err(|error| {
            Refused::new(Gate::Trial, format!("the descriptor can't be written down: {error}"))
        })
    });
    // A pack may have left a line on standard output unfinished.
    tried.map_err(|refused| format!("\n{}\n", serde_json::json!(refused)))
}
