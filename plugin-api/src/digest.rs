//! SHA-256 in hex, the form in which the host and the packs name a file's content.

use std::{fmt::Write, io, io::Read, thread};

use sha2::{Digest, Sha256};

/// From so many bytes on a digest is worth a thread.
const BESIDE_BYTES: usize = 1024 * 1024;

/// Bytes read at once from a stream.
const CHUNK_BYTES: usize = 64 * 1024;

/// SHA-256 of `bytes` as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of `bytes` as [`sha256_hex`], and what `work` gave: where there are many bytes, one beside the other.
pub fn sha256_hex_beside<R>(bytes: &[u8], work: impl FnOnce() -> R) -> (R, String) {
    if bytes.len() < BESIDE_BYTES {
        return (work(), sha256_hex(bytes));
    }
    thread::scope(|scope| {
        let digest = scope.spawn(|| sha256_hex(bytes));
        let done = work();
        match digest.join() {
            Ok(digest) => (done, digest),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// SHA-256 of all that is left of a stream, which is never held as a whole.
///
/// # Errors
/// What the stream says.
pub fn sha256_hex_of(mut stream: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(hex(&digest.finalize())),
            Ok(length) => digest.update(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing into a String can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
