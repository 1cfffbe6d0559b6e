//! Reads what `--check-only` prints: a message, then the place in the line below it.
//!
//! ```text
//! SCRIPT ERROR: Parse Error: Expected parameter name.
//!           at: GDScript::reload (res://bad.gd:2)
//! ```
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::{Diagnostic, error};

/// The diagnostics of a run. A run that failed and says nothing about scripts gives its other errors.
pub(super) fn read(ran: &ChildReport, script: &str) -> Vec<Diagnostic> {
    let mut found = vec![];
    let mut others = vec![];
    let mut lines = ran.lines.iter().filter(|line| line.stderr).map(|line| line.text.trim());
    let mut next = lines.next();
    while let Some(line) = next {
        next = lines.next();
        let place = next.and_then(place_of);
        if let Some(message) = line.strip_prefix("SCRIPT ERROR: ") {
            let one = script_error(message, place);
            // The same fault is met once more for every use of the script.
            if !found.contains(&one) {
                found.push(one);
            }
        } else if let Some(message) = line.strip_prefix("ERROR: ") {
            others.push(error("engine", message));
        }
    }
    let failed = ran.exit_code != Some(0);
    if found.is_empty() && failed {
        found = others;
    }
    if found.is_empty() && failed {
        found.push(Diagnostic {
            file: Some(script.into()),
            ..error("engine", "the compiler failed and did not say why")
        });
    }
    found
}

fn script_error(message: &str, place: Option<(&str, usize)>) -> Diagnostic {
    let (rule, message) = if let Some(message) = message.strip_prefix("Parse Error: ") {
        ("parse_error", message)
    } else if let Some(message) = message.strip_prefix("Compile Error: ") {
        ("compile_error", message)
    } else {
        ("script_error", message)
    };
    Diagnostic {
        file: place.map(|(file, _)| file.into()),
        line: place.map(|(_, line)| line),
        ..error(rule, message)
    }
}

/// `at: GDScript::reload (res://bad.gd:2)` gives the file and the line.
fn place_of(line: &str) -> Option<(&str, usize)> {
    let (_, place) = line.strip_prefix("at: ")?.rsplit_once(" (")?;
    let (file, line) = place.strip_suffix(')')?.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
