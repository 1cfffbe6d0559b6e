//! Gates 3 and 4: the file is whole, and its stamp is one that this host speaks.
//!
//! Both read bytes alone. A library that was cut short maps without complaint and kills the process later, so
//! everything that its headers promise has to lie inside the file.
//!
//! Spec: P-31, gates of the loader.

use didi_plugin_api::stamp::{API_VERSION, STAMP_ALIGN, STAMP_LEN, STAMP_MAGIC, TARGET};
use memchr::memmem;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Gate, Refused};

/// What a pack's stamp says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stamp {
    /// The pack's crate name.
    pub pack: String,
    /// The pack's version.
    pub version: String,
    /// The plugin-api version that it was built against.
    pub api: String,
    /// The target triple.
    pub target: String,
    /// The compiler.
    pub rustc: String,
    /// The cargo profile.
    pub profile: String,
}

/// The stamp in a file's bytes.
pub fn stamp(bytes: &[u8]) -> Result<Stamp, Refused> {
    let body = memmem::find_iter(bytes, &STAMP_MAGIC)
        .filter(|at| at % STAMP_ALIGN == 0)
        .find_map(|at| bytes.get(at + STAMP_MAGIC.len()..at + STAMP_LEN))
        .ok_or_else(|| {
            Refused::new(
                Gate::Stamp,
                "it is a library but not a tool pack: no pack stamp is inside; take it out of the folder",
            )
        })?;
    serde_json::from_slice(body.trim_ascii_end()).map_err(|error| {
        Refused::new(Gate::Stamp, format!("its pack stamp can't be read: {error}"))
    })
}

/// Whether this host speaks what the stamp says.
pub fn check_stamp(stamp: &Stamp) -> Result<(), Refused> {
    let refuse = |reason| Err(Refused::new(Gate::Stamp, reason));
    let Stamp { pack, version, api, target, rustc, .. } = stamp;
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if pack.is_empty() || !pack.chars().all(legal) {
        return refuse("its stamp has no legal pack name".into());
    }
    if !speaks(api) {
        return refuse(format!(
            "pack `{pack}` {version} was built against plugin-api {api} ({rustc}); this host speaks \
             plugin-api {API_VERSION}; rebuild the pack with plugin-api \"{}\"",
            major(API_VERSION)
        ));
    }
    if target != TARGET {
        return refuse(format!(
            "pack `{pack}` {version} was built for {target}; this host is {TARGET}; rebuild the pack for it"
        ));
    }
    Ok(())
}

/// Same major. What a newer minor needs beyond this host it asks for by name and is refused by name.
fn speaks(api: &str) -> bool {
    Version::parse(api).is_ok_and(|theirs| theirs.major.to_string() == major(API_VERSION))
}

fn major(version: &str) -> String {
    version.split('.').next().unwrap_or(version).to_owned()
}

/// Whether a file of an older minor than this host's is at hand.
pub fn is_older(api: &str) -> bool {
    match (Version::parse(api), Version::parse(API_VERSION)) {
        (Ok(theirs), Ok(ours)) => theirs < ours,
        _ => false,
    }
}

/// Everything that the ELF headers promise lies inside the file.
#[cfg(target_os = "linux")]
pub fn check_whole(bytes: &[u8]) -> Result<(), Refused> {
    whole_elf(bytes).map_err(|why| {
        Refused::new(Gate::Image, format!("the file is damaged or cut short: {why}; copy it again"))
    })
}

/// Elsewhere the system's own loader checks its images.
#[cfg(not(target_os = "linux"))]
pub fn check_whole(_: &[u8]) -> Result<(), Refused> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn whole_elf(bytes: &[u8]) -> Result<(), String> {
    const SHARED_OBJECT: u64 = 3;
    let short = || format!("its headers lie past the end of the file ({} bytes)", bytes.len());
    let word = |at: u64, width: usize| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let field = bytes.get(at..at.checked_add(width)?)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    if bytes.len() < 64 || !bytes.starts_with(b"\x7fELF") {
        return Err("it is not an ELF file".into());
    }
    if bytes[4] != 2 || bytes[5] != 1 {
        return Err("it is not a 64-bit little-endian ELF file".into());
    }
    let field = |at, width| word(at, width).ok_or_else(short);
    if field(16, 2)? != SHARED_OBJECT {
        return Err("it is not a shared library".into());
    }
    let size = bytes.len() as u64;
    let (programs, sections) = (field(32, 8)?, field(40, 8)?);
    let (program_size, program_count) = (field(54, 2)?, field(56, 2)?);
    let (section_size, section_count) = (field(58, 2)?, field(60, 2)?);
    if sections.saturating_add(section_size * section_count) > size {
        return Err(format!("its section table ends past the end of the file ({size} bytes)"));
    }
    for number in 0..program_count {
        let header = programs.saturating_add(number * program_size);
        let (offset, length) =
            (field(header.saturating_add(8), 8)?, field(header.saturating_add(32), 8)?);
        if offset.saturating_add(length) > size {
            return Err(format!(
                "its segment {number} ends past the end of the file ({size} bytes)"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
