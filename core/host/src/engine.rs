//! Finding a Godot executable that can be used, and saying why one can't.
//!
//! `GODOT_BIN` names the exact file, `GODOT_PATH` a folder; then known names are looked for on the search
//! path and in known places. A candidate counts when `--version` answers 4.5 or newer.
//!
//! Spec: P-36, finding an engine.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use didi_plugin_api::{
    ctx::EngineInfo,
    refusal::{Refusal, codes},
};
use serde_json::json;

use crate::{cancel::Cancel, child};

/// How long a candidate may take to say its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// Oldest engine line served.
const OLDEST: (u32, u32) = (4, 5);

/// File names that a Godot executable goes by.
const NAMES: [&str; 6] = ["godot", "godot4", "Godot", "godot.exe", "Godot.exe", "godot-editor"];

/// Folders beside the search path where one may be.
const PLACES: [&str; 5] = [
    "/opt/godot/bin",
    "/usr/local/bin",
    "/snap/bin",
    "/var/lib/flatpak/exports/bin",
    "/Applications/Godot.app/Contents/MacOS",
];

/// Where to look, as the command line and the environment said at start.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// `GODOT_BIN`: the exact executable.
    pub exact: Option<PathBuf>,
    /// `GODOT_PATH`: a folder.
    pub folder: Option<PathBuf>,
    /// The folders of `PATH`.
    pub search: Vec<PathBuf>,
}

/// The engine that this server uses, looked for on first need.
pub struct Engines {
    places: Places,
    found: Mutex<Option<EngineInfo>>,
}

impl Engines {
    /// Nothing is looked for yet.
    pub fn new(places: Places) -> Self {
        Engines { places, found: Mutex::new(None) }
    }

    /// The engine to use; one that was found before and is still there is not asked again.
    ///
    /// # Errors
    /// `engine_unavailable`, naming the configured file and why it was rejected.
    pub fn find(&self) -> Result<EngineInfo, Refusal> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = found.as_ref().filter(|engine| engine.executable.is_file()) {
            return Ok(engine.clone());
        }
        let engine = self.look()?;
        *found = Some(engine.clone());
        Ok(engine)
    }

    fn look(&self) -> Result<EngineInfo, Refusal> {
        if let Some(exact) = &self.places.exact {
            // A configured file that can't be used is said, never passed over.
            return judge(exact).map_err(|why| {
                let message = format!("`GODOT_BIN` names `{}`, which {why}", exact.display());
                Refusal::new(codes::ENGINE_UNAVAILABLE, message)
                    .with("engine_executable_configured", exact.display().to_string())
                    .with("engine_executable_configured_rejected", why)
                    .restart_with("GODOT_BIN naming a Godot 4.5 or newer executable")
            });
        }
        let mut rejected = vec![];
        for candidate in self.candidates() {
            match judge(&candidate) {
                Ok(engine) => return Ok(engine),
                Err(why) => rejected.push(json!({"file": candidate, "rejected": why})),
            }
        }
        let message = "no Godot 4.5 or newer was found on the search path or in the known places";
        Err(Refusal::new(codes::ENGINE_UNAVAILABLE, message)
            .with("rejected", rejected)
            .restart_with("GODOT_BIN naming a Godot 4.5 or newer executable"))
    }

    /// Existing files in order of preference, each once.
    fn candidates(&self) -> Vec<PathBuf> {
        let folders = (self.places.folder.iter().cloned())
            .chain(self.places.search.iter().cloned())
            .chain(PLACES.iter().map(PathBuf::from));
        let mut found: Vec<PathBuf> = vec![];
        for folder in folders {
            let known = NAMES.iter().map(|name| folder.join(name)).filter(|file| file.is_file());
            for file in known.chain(versioned(&folder)) {
                if !found.contains(&file) {
                    found.push(file);
                }
            }
        }
        found
    }
}

/// Files named like an official download, such as `Godot_v4.6-stable_linux.x86_64`, newest first.
fn versioned(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with("Godot_v4.")) && path.is_file()
        })
        .collect();
    files.sort();
    files.reverse();
    files
}

/// Asks a candidate for its version.
fn judge(file: &Path) -> Result<EngineInfo, String> {
    if !file.is_file() {
        return Err("is not a file".into());
    }
    let spec = child::Spec {
        program: file,
        args: &["--version".to_owned()],
        env: &[],
        folder: Path::new("."),
        limit: VERSION_LIMIT,
        max_output_bytes: 4096,
        ends_with_us: true,
    };
    let report = child::run(&spec, &Cancel::default())
        .map_err(|error| format!("can't be started: {error}"))?;
    let version = report
        .lines
        .iter()
        .map(|line| line.text.trim())
        .find(|text| version_line(text).is_some())
        .ok_or("does not answer `--version` as Godot does")?
        .to_owned();
    match version_line(&version) {
        Some(line) if line >= OLDEST => Ok(EngineInfo { executable: file.to_owned(), version }),
        _ => Err(format!("is Godot {version}, older than 4.5")),
    }
}

/// `4.6.3.stable.official` is line 4.6.
fn version_line(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    parts.next().map(|_| (major, minor))
}

#[cfg(test)]
mod tests {
    use super::version_line;

    #[test]
    fn engine_lines_are_read_from_versions() {
        assert_eq!(version_line("4.6.3.stable.debian4.6.3+ds-2"), Some((4, 6)));
        assert_eq!(version_line("4.10.stable.official.abc"), Some((4, 10)));
        assert_eq!(version_line("hello"), None);
        assert_eq!(version_line("4.6"), None);
    }
}
