//! The addon: where this program has its library, what lies in the project, and putting the one into the other.
//!
//! What lies there is judged from bytes alone: the description as the engine reads it, the library by its headers and
//! its stamp. Code of a project is never run; only a library with the very bytes of the own one is tried, in a child.
//!
//! Spec: P-57, set-up and diagnosis.

use std::{
    cmp::Ordering,
    env::consts::{ARCH, OS},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use didi_formats::config::{ConfigFile, ConfigSection};
use didi_plugin_api::{digest::sha256_hex, refusal::codes};
use didi_wire::addon::{self, AddonStamp, DESCRIPTION, ENTRY_SYMBOL, FOLDER, library_name};
use semver::Version;

use super::report::{State, Step};
use crate::{cancel::Cancel, child, files::ProjectFiles, loader::image};

/// The description that is installed.
pub(super) const TEMPLATE: &[u8] = include_bytes!("../../../godot/addon/didi.gdextension");

/// The list by which the engine finds extensions before it has looked through the project.
pub(super) const EXTENSION_LIST: &str = "res://.godot/extension_list.cfg";

/// Files that keep the engine from looking into a folder.
const HIDING: [&str; 2] = ["res://addons/.gdignore", "res://addons/didi/.gdignore"];

/// Folders beside the program in which its library may be.
const PLACES: [&str; 4] = ["", "addon", "../share/didi/addon", "../lib/didi"];

/// Largest library that is read, in bytes.
const MAX_LIBRARY_BYTES: u64 = 256 * 1024 * 1024;

/// How long a library may take to be loaded.
const TRY_LIMIT: Duration = Duration::from_secs(30);

/// What `--replace-addon` is for.
const REPLACE: &str =
    "run `didi setup` with --replace-addon to put this program's own in its place";

/// The library that goes with this program.
pub(super) struct Own {
    /// Where it is.
    pub(super) file: PathBuf,
    /// All of it.
    pub(super) bytes: Vec<u8>,
    /// What it is.
    pub(super) stamp: AddonStamp,
}

impl Own {
    /// The library of a named file or folder, or of the places beside the program.
    ///
    /// # Errors
    /// One sentence.
    pub(super) fn find(named: Option<&Path>) -> Result<Self, String> {
        let file = Self::place(named)?;
        let shown = file.display();
        let size = fs::metadata(&file).map_err(|error| format!("`{shown}`: {error}"))?.len();
        if size > MAX_LIBRARY_BYTES {
            return Err(format!("`{shown}` has more than {MAX_LIBRARY_BYTES} bytes"));
        }
        let bytes = fs::read(&file).map_err(|error| format!("`{shown}`: {error}"))?;
        let stamp = addon::find_stamp(&bytes)
            .ok_or_else(|| format!("`{shown}` is no build of the Didi addon"))?;
        if !stamp.is_for_this_system() {
            return Err(format!("`{shown}` was built for {} {}", stamp.os, stamp.arch));
        }
        Ok(Own { file, bytes, stamp })
    }

    fn place(named: Option<&Path>) -> Result<PathBuf, String> {
        let library = library_name();
        if let Some(named) = named {
            let file = if named.is_dir() { named.join(&library) } else { named.to_owned() };
            let file = std::path::absolute(&file).unwrap_or(file);
            return if file.is_file() { Ok(file) } else { Err(format!("no `{}`", file.display())) };
        }
        let own = std::env::current_exe().map_err(|error| format!("who runs this: {error}"))?;
        let folder = own.parent().unwrap_or(Path::new("."));
        let mut places = PLACES.iter().map(|place| folder.join(place).join(&library));
        places.find(|file| file.is_file()).ok_or_else(|| {
            format!("`{library}` lies neither beside `{}` nor in its share folder", own.display())
        })
    }
}

/// What of the addon lies in a project.
pub(super) struct Installed {
    /// The description's bytes, if it is there.
    pub(super) description: Option<Vec<u8>>,
    /// The library that the engine would load here.
    pub(super) binary: Library,
}

/// The library of an installed addon.
pub(super) enum Library {
    /// The description is missing or names none for this system.
    Unnamed(String),
    /// It is not there.
    Missing(String),
    /// It can't be loaded, and why.
    Broken(String),
    /// For another system.
    Elsewhere(String),
    /// It is another extension's, or has no stamp of Didi's.
    Foreign(String),
    /// A build of Didi's.
    Known {
        /// What it is.
        stamp: AddonStamp,
        /// SHA-256 of its bytes.
        sha256: String,
        /// Its `res://` path.
        path: String,
    },
}

impl Installed {
    /// Looks at a project.
    pub(super) fn look(files: &ProjectFiles) -> Self {
        let description = files.read(DESCRIPTION).ok();
        let binary = match &description {
            None => Library::Unnamed(format!("`{DESCRIPTION}` is missing")),
            Some(bytes) => match library_of(bytes) {
                Ok(path) => judge(files, path),
                Err(fault) => *fault,
            },
        };
        Installed { description, binary }
    }

    /// Whether nothing at all is there.
    pub(super) fn is_missing(&self, files: &ProjectFiles) -> bool {
        self.description.is_none() && files.read(&format!("{FOLDER}/{}", library_name())).is_err()
    }
}

/// The `res://` path of the library that a description names for this system.
fn library_of(description: &[u8]) -> Result<String, Box<Library>> {
    let unnamed = |why| Box::new(Library::Unnamed(why));
    let config = ConfigFile::parse(description)
        .map_err(|error| unnamed(format!("`{DESCRIPTION}` can't be read: {error}")))?;
    let Some(entry) = config.text("configuration", "entry_symbol") else {
        return Err(unnamed(format!("`{DESCRIPTION}` names no entry")));
    };
    if entry != ENTRY_SYMBOL {
        let why = format!("`{DESCRIPTION}` is another extension's: it enters at `{entry}`");
        return Err(Box::new(Library::Foreign(why)));
    }
    let processor = if ARCH == "aarch64" { "arm64" } else { ARCH };
    let features = [OS, "debug", "editor", processor, "universal"];
    let fits = |key: &str| key.split('.').all(|tag| features.contains(&tag));
    let mut entries = config.sections_named("libraries").flat_map(ConfigSection::entries);
    let named = entries
        .find(|entry| fits(&entry.key))
        .and_then(|entry| entry.raw().as_text().map(std::borrow::Cow::into_owned));
    let named = named
        .ok_or_else(|| unnamed(format!("`{DESCRIPTION}` names no library for {OS} {processor}")))?;
    Ok(if named.starts_with("res://") { named } else { format!("{FOLDER}/{named}") })
}

fn judge(files: &ProjectFiles, path: String) -> Library {
    let bytes = match files.read(&path) {
        Ok(bytes) => bytes,
        Err(refusal) => return Library::Missing(refusal.message.clone()),
    };
    match built_for(&bytes) {
        None => return Library::Broken(format!("`{path}` is no library ({} bytes)", bytes.len())),
        Some((os, arch)) if (os, arch) != (OS, ARCH) && (os, arch) != (OS, "universal") => {
            return Library::Elsewhere(format!(
                "`{path}` was built for {os} {arch}, and this is {OS} {ARCH}"
            ));
        }
        Some(_) => {}
    }
    if let Err(refused) = image::check_whole(&bytes) {
        return Library::Broken(format!("`{path}`: {refused}"));
    }
    match addon::find_stamp(&bytes) {
        None => Library::Foreign(format!("`{path}` is no build of the Didi addon")),
        Some(stamp) => Library::Known { stamp, sha256: sha256_hex(&bytes), path },
    }
}

/// What system a library is for, by its headers.
fn built_for(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.starts_with(b"\x7fELF") {
        let arch = match half(18)? {
            0x3e => "x86_64",
            0xb7 => "aarch64",
            _ => "another processor",
        };
        return Some(("linux", arch));
    }
    if bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe]) {
        return Some(("macos", "universal"));
    }
    if bytes.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
        let arch = if word(4)? == 0x0100_000c { "aarch64" } else { "x86_64" };
        return Some(("macos", arch));
    }
    if bytes.starts_with(b"MZ") {
        let header = usize::try_from(word(0x3c)?).ok()?;
        let arch = match half(header.checked_add(4)?)? {
            0x8664 => "x86_64",
            0xaa64 => "aarch64",
            _ => "another processor",
        };
        return Some(("windows", arch));
    }
    None
}

/// How an installed version stands to this program's.
pub(super) fn compare(installed: &AddonStamp) -> Ordering {
    let own = Version::parse(env!("CARGO_PKG_VERSION"));
    match (Version::parse(&installed.version), own) {
        (Ok(theirs), Ok(ours)) => theirs.cmp(&ours),
        // A version that nobody can read is not older than ours.
        _ => Ordering::Greater,
    }
}

/// Puts the own addon into the project, unless what is there is newer or somebody else's.
pub(super) fn install(files: &ProjectFiles, own: Result<Own, String>, replaces: bool) -> Step {
    const STEP: &str = "addon";
    let installed = Installed::look(files);
    let own = match own {
        Ok(own) => own,
        Err(why) => return without_own(&installed, &why),
    };
    if !replaces {
        match &installed.binary {
            Library::Known { stamp, .. } if compare(stamp) == Ordering::Greater => {
                let seen = format!(
                    "Didi {} is installed, newer than this program, and was left alone",
                    stamp.version
                );
                let remedy = format!("use the program of that version, or {REPLACE}");
                return Step::finding(STEP, State::Warn, "addon_newer", seen, remedy);
            }
            Library::Foreign(why) => {
                let seen = format!("{why}, and was left alone");
                return Step::finding(STEP, State::Fail, "addon_foreign", seen, REPLACE);
            }
            _ => {}
        }
    }
    let library = format!("{FOLDER}/{}", library_name());
    // The library first: a description without one is what the engine complains of.
    let written = super::put(files, &library, &own.bytes)
        .and_then(|changed| Ok(super::put(files, DESCRIPTION, TEMPLATE)? || changed));
    let seen = format!("Didi {} for {} {} in `{FOLDER}`", own.stamp.version, OS, ARCH);
    match written {
        Ok(true) => Step::new(STEP, State::Done, seen),
        Ok(false) => Step::new(STEP, State::Unchanged, seen),
        Err(refusal) => Step::refused(STEP, &refusal),
    }
}

fn without_own(installed: &Installed, why: &str) -> Step {
    let remedy =
        "name the library or its folder with --addon, or build it: `cargo build -p didi-godot`";
    match &installed.binary {
        Library::Known { stamp, .. } if compare(stamp) == Ordering::Equal => {
            let seen = format!("Didi {} is installed; {why}", stamp.version);
            Step::finding("addon", State::Warn, "addon_source_missing", seen, remedy)
        }
        _ => Step::finding("addon", State::Fail, "addon_source_missing", why, remedy),
    }
}

/// Puts the addon on the engine's list, so that the first import knows it from the start.
///
/// An engine that meets an extension for the first time in an import aborts at its end.
pub(super) fn list_extension(files: &ProjectFiles) -> Step {
    const STEP: &str = "extension list";
    let before = match files.read(EXTENSION_LIST) {
        Ok(bytes) => bytes,
        Err(refusal) if refusal.code == codes::NOT_FOUND => vec![],
        Err(refusal) => return Step::refused(STEP, &refusal),
    };
    if is_listed(&before) {
        return Step::new(STEP, State::Unchanged, format!("`{EXTENSION_LIST}` names the addon"));
    }
    let mut after = before;
    if !after.is_empty() && !after.ends_with(b"\n") {
        after.push(b'\n');
    }
    after.extend(format!("{DESCRIPTION}\n").bytes());
    match super::put(files, EXTENSION_LIST, &after) {
        Ok(_) => Step::new(STEP, State::Done, format!("`{EXTENSION_LIST}` names the addon now")),
        Err(refusal) => Step::refused(STEP, &refusal),
    }
}

fn is_listed(list: &[u8]) -> bool {
    list.split(|byte| *byte == b'\n').any(|line| line.trim_ascii() == DESCRIPTION.as_bytes())
}

/// What is to be said of the addon in a project.
pub(super) fn diagnose(files: &ProjectFiles, own: &Result<Own, String>) -> Vec<Step> {
    const SETUP: &str = "run `didi setup --project` on this project";
    let installed = Installed::look(files);
    if installed.is_missing(files) {
        let seen = format!("nothing lies in `{FOLDER}`");
        return vec![Step::finding("addon", State::Fail, "addon_missing", seen, SETUP)];
    }
    let fail = |code, seen: &str| Step::finding("addon", State::Fail, code, seen, SETUP);
    let mut steps = vec![match &installed.binary {
        Library::Unnamed(why) => fail("addon_broken", why),
        Library::Missing(why) => fail("library_missing", why),
        Library::Broken(why) => fail("library_broken", why),
        Library::Elsewhere(why) => fail("library_other_system", why),
        Library::Foreign(why) => Step::finding("addon", State::Fail, "addon_foreign", why, REPLACE),
        Library::Known { stamp, sha256, path } => known(stamp, sha256, path, own),
    }];
    for hiding in HIDING {
        if files.read(hiding).is_ok() {
            let seen = format!("`{hiding}` keeps the engine from looking there");
            steps.push(Step::finding(
                "addon",
                State::Fail,
                "addon_hidden",
                seen,
                "remove the file",
            ));
        }
    }
    steps.push(match files.read(EXTENSION_LIST) {
        Ok(list) if is_listed(&list) => {
            Step::new("extension list", State::Ok, format!("`{EXTENSION_LIST}` names the addon"))
        }
        _ => Step::finding(
            "extension list",
            State::Warn,
            "extension_not_listed",
            format!("`{EXTENSION_LIST}` does not name the addon, and a first import would abort at its end"),
            SETUP,
        ),
    });
    steps
}

fn known(stamp: &AddonStamp, sha256: &str, path: &str, own: &Result<Own, String>) -> Step {
    const STEP: &str = "addon";
    const SETUP: &str = "close the editor and run `didi setup --project` on this project";
    let ours = env!("CARGO_PKG_VERSION");
    let theirs = &stamp.version;
    match compare(stamp) {
        Ordering::Greater => {
            let seen = format!("Didi {theirs} is installed, and this program is {ours}");
            let remedy = format!("use the program of that version, or {REPLACE}");
            return Step::finding(STEP, State::Warn, "addon_newer", seen, remedy);
        }
        Ordering::Less => {
            let seen = format!("Didi {theirs} is installed, and this program is {ours}");
            return Step::finding(STEP, State::Warn, "addon_older", seen, SETUP);
        }
        Ordering::Equal => {}
    }
    if stamp.protocol != didi_wire::PROTOCOL_VERSION {
        let seen = format!(
            "the addon speaks {} on the bridge, and this program {}",
            stamp.protocol,
            didi_wire::PROTOCOL_VERSION
        );
        return Step::finding(STEP, State::Fail, "addon_other_protocol", seen, SETUP);
    }
    match own {
        Ok(own) if sha256_hex(&own.bytes) != sha256 => {
            let seen = format!("`{path}` is Didi {theirs}, of another build than this program's");
            Step::finding(STEP, State::Warn, "addon_other_build", seen, SETUP)
        }
        Ok(own) => match try_library(&own.file) {
            Ok(()) => Step::new(
                STEP,
                State::Ok,
                format!("Didi {theirs} in `{FOLDER}`, as this program has it"),
            ),
            Err(why) => {
                let seen = format!("`{path}` can't be loaded: {why}");
                let remedy = "build the addon on this system, or take the build for it";
                Step::finding(STEP, State::Fail, "library_not_loadable", seen, remedy)
            }
        },
        Err(why) => Step::new(
            STEP,
            State::Ok,
            format!("Didi {theirs} in `{FOLDER}`; not compared, as {why}"),
        ),
    }
}

/// Loads the own library in a child of its own.
fn try_library(file: &Path) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let args = ["packs".into(), "try-addon".into(), file.to_string_lossy().into_owned()];
    let spec = child::Spec {
        program: &own,
        args: &args,
        env: &[],
        folder: file.parent().unwrap_or(Path::new(".")),
        limit: TRY_LIMIT,
        max_output_bytes: 4096,
        ends_with_us: true,
    };
    let report = child::run(&spec, &Cancel::default()).map_err(|error| error.to_string())?;
    let said = report.lines.iter().map(|line| line.text.trim()).find(|line| !line.is_empty());
    match (report.exit_code, report.signal) {
        (Some(0), _) => Ok(()),
        (_, Some(signal)) => Err(format!("signal {signal} ended the trial")),
        _ if report.timed_out => Err(format!("it took over {} s", TRY_LIMIT.as_secs())),
        _ => Err(said.unwrap_or("the trial failed").to_owned()),
    }
}

#[cfg(test)]
mod tests;
