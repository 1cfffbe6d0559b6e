//! Trying the engine's extension: mapped in a child process that has nothing else to do.
//!
//! Only the library that goes with this program is tried, never one that a project brought.
//!
//! Spec: P-57, set-up and diagnosis.
#![allow(unsafe_code, reason = "mapping a library runs its initialisers")]

use std::path::Path;

use didi_wire::addon::ENTRY_SYMBOL;
use libloading::Library;

/// Maps a library and looks for the engine's entry.
///
/// # Errors
/// What the system's loader says.
pub fn child_main(file: &Path) -> Result<(), String> {
    // SAFETY: this process was started for nothing else, and ends right after.
    let library = unsafe { Library::new(file) }.map_err(|error| error.to_string())?;
    // SAFETY: the symbol is looked up and not called.
    let entry = unsafe { library.get::<*const ()>(ENTRY_SYMBOL.as_bytes()) };
    let found = entry.map(|_| ()).map_err(|error| error.to_string());
    // Unloading could run code of a library that was never entered.
    std::mem::forget(library);
    found
}
