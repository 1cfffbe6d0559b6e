//! The script that a call names: a file of the project, or a text that was sent.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

/// Largest script read, in bytes.
pub(crate) const MAX_SCRIPT_BYTES: u64 = 8 << 20;

/// Where a script is.
pub(crate) fn place(ctx: &Ctx<'_>, path: &str) -> Result<ProjectPath, Refusal> {
    let place = ctx.project().resolve(path, "file_path")?;
    if place.extension() == "gd" {
        return Ok(place);
    }
    let message = format!("`{}` is not a `.gd` script", place.res_path());
    Err(Refusal::invalid("file_path", message))
}

/// The bytes of a script's file.
pub(crate) fn read(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<Vec<u8>, Refusal> {
    ctx.project().read(place, MAX_SCRIPT_BYTES)
}

/// The refusal of a call that names no script.
pub(crate) fn neither() -> Refusal {
    let message = "neither `file_path` nor `source_text` was sent, and one of them is needed";
    Refusal::invalid("file_path", message)
}

/// The refusal of bytes that are no script.
pub(crate) fn not_text(file_path: &str) -> Refusal {
    let (field, what) = if file_path.is_empty() {
        ("source_text", "the text sent")
    } else {
        ("file_path", file_path)
    };
    let message = format!("`{what}` is not UTF-8 text without NUL, which scripts have to be");
    Refusal::new(codes::BINARY_OR_INVALID_UTF8, message).field(field)
}
