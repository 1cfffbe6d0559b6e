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
use serde::de::DeserializeOwned;

use super::{Gate, Refused, image::Stamp, open};
use crate::{cancel::Cancel, child, source};

/// How long a pack may take to load and describe itself.
pub const TRIAL_LIMIT: Duration = Duration::from_secs(5);

/// Largest descriptor document, in bytes.
const MAX_DESCRIPTOR_BYTES: u64 = 16 * 1024 * 1024;

/// Exit code of a trial child that refuses the pack in an orderly way, and wrote down why.
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
    fn orderly(written: Result<Refused, String>) -> Self {
        match written {
            Ok(refused) => Failed { lasting: refused.gate == Gate::Layout, refused },
            Err(why) => Failed::lasting(format!("{why}; mend the pack's `open`")),
        }
    }

    fn killed(signal: i32) -> Self {
        const SENT_BY_SOMEBODY: [i32; 3] = [2, 9, 15];
        let why = format!(
            "loading it killed a trial process with signal {signal}; rebuild or mend the pack"
        );
        Failed { lasting: !SENT_BY_SOMEBODY.contains(&signal), ..Failed::lasting(why) }
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
        ends_with_us: true,
    };
    let report = child::run(&spec, &Cancel::default());
    let written = read_document(&document);
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
        return Err(Failed::killed(signal));
    }
    match report.exit_code {
        Some(0) => written.and_then(|bytes| read(&bytes)).map_err(|why| {
            let how = "loading it ended the trial process early";
            Failed::lasting(format!("{why}: {how}; mend the pack's `open`"))
        }),
        Some(code) if code == i32::from(REFUSED_EXIT_CODE) => {
            Err(Failed::orderly(written.and_then(|bytes| read(&bytes))))
        }
        code => {
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

/// What the child wrote down: the descriptor document, or its refusal.
fn read_document(file: &Path) -> Result<Vec<u8>, String> {
    let size = fs::metadata(file).map_err(|_| "it wrote no descriptor".to_owned())?.len();
    if size > MAX_DESCRIPTOR_BYTES {
        return Err(format!("its descriptor has more than {MAX_DESCRIPTOR_BYTES} bytes"));
    }
    fs::read(file).map_err(|error| format!("its descriptor can't be read: {error}"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("its descriptor can't be read: {error}"))
}

/// The child's side: opens the copy, asks it to describe itself, writes the document down.
///
/// # Errors
/// The refusal, which is written down for the parent, too.
#[allow(clippy::disallowed_methods, reason = "the document is the child's own file")]
pub fn child_main(pack: &str, api: &str, copy: &Path, document: &PathBuf) -> Result<(), String> {
    let tried = open::open(copy, pack, api).and_then(|root| {
        let descriptor = open::describe(root, pack)?;
        fs::write(document, descriptor).map_err(|error| {
            Refused::new(Gate::Trial, format!("the descriptor can't be written down: {error}"))
        })
    });
    tried.map_err(|refused| {
        // Without the file the parent only knows that there was a refusal.
        let _ = fs::write(document, serde_json::json!(refused).to_string());
        refused.reason
    })
}
