//! SHA-256 in hex, the form in which the host and the packs name a file's content.

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes` as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing into a String can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
