//! The stamp: a JSON line in a pack's read-only data, readable without running any of its code.
//!
//! The loader finds it by its magic in the file's bytes and refuses a foreign or outdated pack before the
//! library is mapped.
//!
//! Spec: P-31, gates of the loader.

/// Bytes that a stamp occupies, magic included.
pub const STAMP_LEN: usize = 512;

/// Alignment of a stamp in the file, in bytes.
pub const STAMP_ALIGN: usize = 16;

/// Marker of the stamp format; its number changes only when the format does.
pub const STAMP_MAGIC: [u8; 16] = *b"\x7fDIDIPACK-STAMP1";

/// Version of this crate: the only version that a host compares with a pack's.
pub const API_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The compiler, as `rustc -V` prints it.
pub const RUSTC: &str = env!("DIDI_API_RUSTC");
/// The target triple.
pub const TARGET: &str = env!("DIDI_API_TARGET");
/// The cargo profile, `debug` or `release`.
pub const PROFILE: &str = env!("DIDI_API_PROFILE");

/// A stamp as it lies in the library.
#[repr(C, align(16))]
pub struct Stamp(pub [u8; STAMP_LEN]);

impl Stamp {
    /// Joins `parts` behind the magic and fills up with spaces.
    ///
    /// # Panics
    /// At compile time, when the parts are longer than a stamp or hold what JSON would escape.
    pub const fn of(parts: &[&str]) -> Stamp {
        let mut out = [b' '; STAMP_LEN];
        let mut end = 0;
        while end < STAMP_MAGIC.len() {
            out[end] = STAMP_MAGIC[end];
            end += 1;
        }
        let mut part = 0;
        while part < parts.len() {
            let bytes = parts[part].as_bytes();
            let mut at = 0;
            while at < bytes.len() {
                assert!(end < STAMP_LEN, "pack stamp too long");
                assert!(bytes[at] != b'\\' && bytes[at] >= 0x20, "no escapes in a pack stamp");
                out[end] = bytes[at];
                end += 1;
                at += 1;
            }
            part += 1;
        }
        Stamp(out)
    }
}

#[cfg(test)]
mod tests;
