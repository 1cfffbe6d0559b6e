//! Gate 5: maps a private copy and compares the interface's layout both ways.
//!
//! The own check of `abi_stable` lets a library be newer than its user, never older: right for a library, wrong for
//! packs, which are mostly older than the host. So the older side is the expectation, whichever it is.
//! A library is opened through its own header and never unmapped.
//!
//! Spec: P-31, gates of the loader.
#![allow(unsafe_code, reason = "maps foreign code and reads its header")]

use std::path::Path;

use abi_stable::{
    StableAbi, abi_stability::abi_checking::check_layout_compatibility, library::AbiHeaderRef,
    library::LibHeader,
};
use didi_plugin_api::{
    abi::{PackV1Ref, code},
    stamp::API_VERSION,
};
use libloading::Library;

use super::{Gate, Refused, image};

/// Maps the copy and answers the pack's root.
///
/// # Errors
/// What the system's linker says, or which part of the interface is laid out otherwise.
pub fn open(copy: &Path, pack: &str, api: &str) -> Result<PackV1Ref, Refused> {
    let refuse = |why: String| Refused::new(Gate::Layout, why);
    let library = map(copy).map_err(|error| {
        refuse(format!("pack `{pack}`: the system's linker refuses it: {error}"))
    })?;
    let symbol = format!("didi_pack_v1_{pack}");
    // SAFETY: the stamp says that this symbol is a library header, and its magic is checked by `upgrade`.
    let header = unsafe { library.get::<AbiHeaderRef>(symbol.as_bytes()) }
        .map(|header| *header)
        .map_err(|_| refuse(format!("pack `{pack}` exports no symbol `{symbol}`; rebuild it")))?;
    // Never unmapped: running calls and the pack's own threads may still be in it.
    std::mem::forget(library);
    let header = header.upgrade().map_err(|_| {
        refuse(format!(
            "pack `{pack}` was built with another abi_stable; rebuild it with plugin-api"
        ))
    })?;
    check_layout(header, api).map_err(|first| {
        refuse(format!(
            "pack `{pack}` (plugin-api {api}) lays the interface out otherwise than this host's plugin-api \
             {API_VERSION} ({first}); rebuild it with an unchanged plugin-api"
        ))
    })?;
    // SAFETY: the layouts were compared above, and prefix types know at run time which fields exist.
    unsafe { header.unchecked_layout::<PackV1Ref>() }
        .map_err(|error| refuse(format!("pack `{pack}` hands over no root: {error}")))
}

/// Opens the pack itself, and answers its descriptor document.
///
/// # Errors
/// What the pack says of why it does not open, or how its `open` panicked.
pub fn describe(root: PackV1Ref, pack: &str) -> Result<Vec<u8>, Refused> {
    let reply = root.describe()();
    let body = reply.body.into_vec();
    let refuse = |said: &str| {
        let said = format!(
            "pack `{pack}` {said}{}; mend the pack's `open`",
            String::from_utf8_lossy(&body)
        );
        Err(Refused::new(Gate::Descriptor, said))
    };
    match reply.code {
        code::OK => Ok(body),
        code::REFUSED => refuse("does not open: "),
        _ => refuse(""),
    }
}

#[cfg(unix)]
fn map(copy: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the file passed the gates before this one; its initialisers run here, in the trial child first.
    unsafe { UnixLibrary::open(Some(copy), RTLD_NOW | RTLD_LOCAL) }.map(Library::from)
}

#[cfg(not(unix))]
fn map(copy: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: as above.
    unsafe { Library::new(copy) }
}

/// Compares with the older side as the expectation; answers the first difference in one line.
fn check_layout(header: &'static LibHeader, api: &str) -> Result<(), String> {
    let ours = <PackV1Ref as StableAbi>::LAYOUT;
    let theirs = header.layout().ok_or("the pack carries no layout")?;
    let (expected, found) = if image::is_older(api) { (theirs, ours) } else { (ours, theirs) };
    check_layout_compatibility(expected, found).map_err(|errors| {
        tracing::debug!("layout report: {errors}");
        let report = errors.to_string();
        let telling = |line: &&str| line.starts_with("Error:") || line.contains("mismatch");
        report.lines().map(str::trim).find(telling).unwrap_or("a type differs").to_owned()
    })
}
