//! The pin list: a file of digests, written elsewhere, that packs have to be on.
//!
//! Spec: P-37, pinned packs.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{Gate, Refused, Row, State};

/// Largest pin list, in bytes.
const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// A pin list: `didi packs pin` writes it, `--packs-lock` reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// The allowed packs.
    pub packs: Vec<Pin>,
}

/// One allowed pack. The digest decides; the rest is for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pin {
    /// The pack's name.
    pub name: String,
    /// The pack's version.
    pub version: String,
    /// The plugin-api version that it was built against.
    pub api: String,
    /// SHA-256 of the file, in lower-case hex.
    pub sha256: String,
}

impl Pins {
    /// Reads a list.
    ///
    /// # Errors
    /// One sentence for the person who named the file.
    pub fn read(file: &Path) -> Result<Self, String> {
        let say = |why: String| format!("the pin list `{}` {why}", file.display());
        let size =
            fs::metadata(file).map_err(|error| say(format!("can't be read: {error}")))?.len();
        if size > MAX_LIST_BYTES {
            return Err(say(format!("has more than {MAX_LIST_BYTES} bytes")));
        }
        let bytes = fs::read(file).map_err(|error| say(format!("can't be read: {error}")))?;
        serde_json::from_slice(&bytes).map_err(|error| say(format!("is not a pin list: {error}")))
    }

    /// The list of the packs that are served.
    pub fn of(rows: &[Row]) -> Self {
        let served = rows.iter().filter(|row| row.state == State::Loaded);
        let pin = |row: &Row| {
            let (stamp, sha256) = (row.stamp.as_ref()?, row.sha256.clone()?);
            let (name, version, api) =
                (stamp.pack.clone(), stamp.version.clone(), stamp.api.clone());
            Some(Pin { name, version, api, sha256 })
        };
        Pins { packs: served.filter_map(pin).collect() }
    }

    /// Refuses what is not on the list.
    pub fn check(&self, file: &Path, sha256: &str) -> Result<(), Refused> {
        if self.packs.iter().any(|pin| pin.sha256.eq_ignore_ascii_case(sha256)) {
            return Ok(());
        }
        let file = file.display();
        Err(Refused::new(
            Gate::Pin,
            format!(
                "`{file}` (sha256 {sha256}) is not on the pin list; check it and run `didi packs pin`"
            ),
        ))
    }
}
