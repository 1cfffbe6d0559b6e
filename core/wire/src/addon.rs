//! The addon in a project: where it lies, what its library is called, and the stamp by which a build is known.
//!
//! The stamp is a line of JSON in the library's read-only data. It is read from the bytes of the file, so a library can
//! be told apart from an older, a newer or a foreign one without running any of its code. Installing is left to the
//! server's set-up.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// The addon's folder.
pub const FOLDER: &str = "res://addons/didi";

/// The file by which the engine finds the library.
pub const DESCRIPTION: &str = "res://addons/didi/didi.gdextension";

/// The function that the engine looks up in the library.
pub const ENTRY_SYMBOL: &str = "gdext_rust_init";

/// Bytes that a stamp occupies, magic included.
pub const STAMP_LEN: usize = 256;

/// Alignment of a stamp in the file, in bytes.
pub const STAMP_ALIGN: usize = 16;

/// What a stamp begins with. It is put together here, so that this program's own file holds none.
const MAGIC: [&str; 3] = ["\u{7f}DIDI", "ADDON-ST", "AMP"];

/// Bytes of [`MAGIC`].
const MAGIC_LEN: usize = 16;

/// The library's file name on this system.
pub fn library_name() -> String {
    format!("{DLL_PREFIX}didi_godot{DLL_SUFFIX}")
}

/// What a stamp says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonStamp {
    /// The version of the build, as the descriptor's `build_id` has it.
    pub version: String,
    /// The system that it was built for, as `std::env::consts::OS` names it.
    pub os: String,
    /// The processor that it was built for, as `std::env::consts::ARCH` names it.
    pub arch: String,
    /// The version of the link that it speaks.
    pub protocol: String,
}

impl AddonStamp {
    /// The stamp of a build of this version, for this system.
    pub fn own(version: &str) -> Self {
        AddonStamp {
            version: version.into(),
            os: OS.into(),
            arch: ARCH.into(),
            protocol: crate::PROTOCOL_VERSION.into(),
        }
    }

    /// Whether it was built for this system.
    pub fn is_for_this_system(&self) -> bool {
        self.os == OS && self.arch == ARCH
    }
}

/// A stamp as it lies in the library.
#[repr(C, align(16))]
pub struct Stamp(pub [u8; STAMP_LEN]);

impl Stamp {
    /// The stamp of a build of this version.
    ///
    /// # Panics
    /// At compile time, when the version is too long or holds what JSON would escape.
    pub const fn of(version: &str) -> Stamp {
        let parts = [
            MAGIC[0],
            MAGIC[1],
            MAGIC[2],
            r#"{"version":""#,
            version,
            r#"","os":""#,
            OS,
            r#"","arch":""#,
            ARCH,
            r#"","protocol":""#,
            crate::PROTOCOL_VERSION,
            r#""}"#,
        ];
        let mut out = [b' '; STAMP_LEN];
        let (mut end, mut part) = (0, 0);
        while part < parts.len() {
            let bytes = parts[part].as_bytes();
            let mut at = 0;
            while at < bytes.len() {
                assert!(end < STAMP_LEN, "stamp too long");
                assert!(bytes[at] != b'\\' && bytes[at] >= 0x20, "no escapes in a stamp");
                out[end] = bytes[at];
                end += 1;
                at += 1;
            }
            part += 1;
        }
        Stamp(out)
    }
}

/// The stamp in a library's bytes; `None` when it is no build of Didi's.
pub fn find_stamp(library: &[u8]) -> Option<AddonStamp> {
    let magic = MAGIC.concat();
    let magic = magic.as_bytes();
    let mut places = library.chunks_exact(STAMP_ALIGN).enumerate();
    places.find_map(|(number, chunk)| {
        if chunk != magic {
            return None;
        }
        let begin = number * STAMP_ALIGN;
        let body = library.get(begin + MAGIC_LEN..begin + STAMP_LEN)?;
        serde_json::from_slice(body.trim_ascii_end()).ok()
    })
}
