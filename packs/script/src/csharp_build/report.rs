//! Reads what a build prints.
//!
//! ```text
//! /game/Player.cs(12,9): error CS1002: ; expected [/game/Game.csproj]
//! MSBUILD : error MSB1003: Specify a project or solution file.
//!   Game -> /game/.godot/mono/temp/bin/Debug/Game.dll
//! ```
//!
//! Spec: P-53, scripts.

use std::{collections::BTreeSet, path::Path};

use didi_plugin_api::prelude::*;

use super::Diagnostic;

/// What a build said, each thing once.
pub(super) struct Said {
    pub(super) found: Vec<Diagnostic>,
    /// Names of what was built.
    pub(super) built: BTreeSet<String>,
}

/// Reads the output of a build below `root`.
pub(super) fn read(ran: &ChildReport, root: &Path) -> Said {
    let mut said = Said { found: vec![], built: BTreeSet::new() };
    let mut seen = BTreeSet::new();
    for line in &ran.lines {
        let text = line.text.trim();
        if let Some(one) = diagnostic(text, root) {
            // A solution's build tells a fault once for every project that meets it.
            if seen.insert(one.clone()) {
                said.found.push(one);
            }
        } else if let Some((name, file)) = text.split_once(" -> ") {
            let is_library = Path::new(file.trim()).extension().is_some_and(|end| end == "dll");
            said.built.extend(is_library.then(|| name.trim().to_owned()));
        }
    }
    said
}

fn diagnostic(text: &str, root: &Path) -> Option<Diagnostic> {
    let (severity, (place, rest)) = ["error", "warning"]
        .into_iter()
        .filter_map(|word| Some((word, text.split_once(&format!(": {word} "))?)))
        .min_by_key(|(_, (place, _))| place.len())?;
    let (code, message) = rest.split_once(": ")?;
    if code.is_empty() || !code.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return None;
    }
    let (file, line, column) = place_of(place.trim());
    Some(Diagnostic {
        severity,
        code: code.into(),
        message: without_project(message).into(),
        path: (file != "MSBUILD" && !file.is_empty()).then(|| shown(file, root)),
        line,
        column,
    })
}

/// `file(12,9)` or `file(12)` or `file`.
fn place_of(place: &str) -> (&str, Option<usize>, Option<usize>) {
    let parts = place.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let Some((file, numbers)) = parts else { return (place, None, None) };
    let mut numbers = numbers.split(',').map(|number| number.trim().parse().ok());
    match numbers.next().flatten() {
        Some(line) => (file, Some(line), numbers.next().flatten()),
        None => (place, None, None),
    }
}

/// The message less the project that it is of, which stands in brackets at the end.
fn without_project(message: &str) -> &str {
    let message = message.trim();
    let own = message.strip_suffix(".csproj]").or_else(|| message.strip_suffix(".sln]"));
    own.and_then(|rest| rest.rfind(" [")).map_or(message, |at| message[..at].trim_end())
}

fn shown(file: &str, root: &Path) -> String {
    match Path::new(file).strip_prefix(root) {
        Ok(below) => format!("res://{}", below.to_string_lossy().replace('\\', "/")),
        Err(_) => file.to_owned(),
    }
}
