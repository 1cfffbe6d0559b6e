//! `didi packs`: what lies in the pack folders, what the gates say, and the pin list.
//!
//! Spec: P-37, pinned packs.

use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};

use crate::{
    builtin,
    catalog::Catalog,
    cli::{Options, Usage},
    files,
    loader::{Candidate, State, pins::Pins},
    log::LogRing,
    serve::Parts,
};

/// What a command prints, and whether all was well.
pub struct Report {
    /// For standard output.
    pub text: String,
    /// Whether the exit code is 0.
    pub good: bool,
}

/// The catalog as `serve` would have it, without a project.
fn catalog(options: &Options) -> Result<Catalog, Usage> {
    Ok(Parts::new(options, std::env::temp_dir(), LogRing::default())?.catalog())
}

/// `packs list`.
///
/// # Errors
/// An option that can't be used.
pub fn list(options: &Options, as_json: bool) -> Result<Report, Usage> {
    let catalog = catalog(options)?;
    if as_json {
        let folders = options.pack_folders()?;
        let folders: Vec<_> = folders.iter().map(|folder| &folder.path).collect();
        let document = json!({"folders": folders, "packs": catalog.rows()});
        return Ok(Report { text: pretty(&document), good: true });
    }
    let mut text = String::new();
    for row in catalog.rows() {
        let state = match row.state {
            State::Loaded => "loaded",
            State::Refused => "refused",
            State::Shadowed => "shadowed",
        };
        let named = row.stamp.as_ref().map_or_else(
            || row.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            |stamp| format!("{} {} (api {})", stamp.pack, stamp.version, stamp.api),
        );
        // Writing into a String can't fail.
        let _ =
            writeln!(text, "{state:9} {named}, {} tools, {}", row.tools.len(), row.file.display());
        for reason in &row.reasons {
            let _ = writeln!(text, "          {reason}");
        }
    }
    if catalog.rows().is_empty() {
        text.push_str("no packs were found\n");
    }
    Ok(Report { text, good: true })
}

/// `packs check`: every gate, a fresh trial, and what the pack declares beside the host's own tools.
///
/// # Errors
/// An option that can't be used.
pub fn check(options: &Options, file: &Path) -> Result<Report, Usage> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let parts = Parts::new(options, std::env::temp_dir(), LogRing::default())?;
    let result = parts.loader.check(&file);
    let passed = result.as_ref().ok().cloned();
    let candidate = Candidate { file, folder: 0, result, kept: None };
    let catalog = Catalog::build(&builtin::open(&parts.state), vec![candidate]);
    let row = catalog.rows().first();
    let reasons = row.map_or(&[][..], |row| &row.reasons);
    if let (Some(pack), []) = (passed, reasons) {
        let stamp = &pack.stamp;
        let text = format!(
            "ok: pack {} {} passes every gate (plugin-api {}, {}, {} tools, sha256 {})\n",
            stamp.pack,
            stamp.version,
            stamp.api,
            stamp.rustc,
            pack.desc.tools.len(),
            pack.sha256
        );
        return Ok(Report { text, good: true });
    }
    let served = row.is_some_and(|row| row.state == State::Loaded);
    let verdict = if served { "not wholly served: gate" } else { "refused at gate" };
    let text = reasons.iter().fold(String::new(), |mut text, refused| {
        let gate = json!(refused.gate);
        // Writing into a String can't fail.
        let _ = writeln!(text, "{verdict} `{}`: {refused}", gate.as_str().unwrap_or_default());
        text
    });
    Ok(Report { text, good: false })
}

/// `packs pin`.
///
/// # Errors
/// An option that can't be used, or a file that can't be written.
pub fn pin(options: &Options, output: Option<&Path>) -> Result<Report, Usage> {
    let pins = Pins::of(catalog(options)?.rows());
    let text = pretty(&json!(pins));
    let Some(file) = output else { return Ok(Report { text, good: true }) };
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    files::replace_file(&file, text.as_bytes()).map_err(|error| Usage {
        error: format!("`{}` can't be written: {error}", file.display()),
        hint: "name a file in a folder that you can write".into(),
    })?;
    let text = format!("{} packs are pinned in {}\n", pins.packs.len(), file.display());
    Ok(Report { text, good: true })
}

/// JSON for people.
pub fn pretty(document: &Value) -> String {
    // A tree of JSON values always serialises.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}
