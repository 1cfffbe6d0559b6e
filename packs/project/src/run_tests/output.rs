//! What the engine's output says of scripts that did not load, and its end.
//!
//! ```text
//! SCRIPT ERROR: Parse Error: Expected parameter name.
//!           at: GDScript::reload (res://bad.gd:2)
//! ERROR: Failed to load script "res://bad.gd" with error "Parse error".
//! ```
//!
//! Spec: P-50, test runs.

use didi_plugin_api::prelude::*;

/// Lines of the output's end.
const MAX_TAIL_LINES: usize = 40;
/// Characters of one line.
const MAX_LINE_CHARS: usize = 400;
/// Scripts that are named.
const MAX_SCRIPTS: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) scripts: Vec<NotLoaded>,
    pub(super) addon_scripts: Vec<NotLoaded>,
    pub(super) tail: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NotLoaded {
    pub(super) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    pub(super) message: String,
}

pub(super) fn of(ran: &ChildReport) -> Said {
    let mut found: Vec<NotLoaded> = vec![];
    // The two streams are read apart, because lines of one may stand between those of the other.
    for stderr in [true, false] {
        let mut fault: Option<String> = None;
        let lines = ran.lines.iter().filter(|line| line.stderr == stderr);
        for line in lines.map(|line| plain(&line.text)) {
            if let Some(message) = line.strip_prefix("SCRIPT ERROR: ") {
                let fatal = ["Parse Error: ", "Compile Error: "];
                fault = fatal.iter().find_map(|head| message.strip_prefix(head)).map(Into::into);
            } else if let Some((file, at)) = place_of(line.trim_start()) {
                if let Some(message) = fault.take() {
                    add(&mut found, file, Some(at), message);
                }
            } else if let Some(file) = failed_to_load(&line) {
                add(&mut found, file, None, "the engine did not load it".into());
            }
        }
    }
    let (addon_scripts, scripts) =
        found.into_iter().partition(|one| one.file.starts_with("res://addons/"));
    let lines: Vec<String> = ran.lines.iter().map(|line| plain(&line.text)).collect();
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(MAX_TAIL_LINES)..].to_vec();
    Said { scripts, addon_scripts, tail }
}

/// The first fault of a script counts; the others follow from it.
fn add(found: &mut Vec<NotLoaded>, file: &str, line: Option<u32>, message: String) {
    if file.starts_with("res://")
        && found.len() < MAX_SCRIPTS
        && found.iter().all(|one| one.file != file)
    {
        found.push(NotLoaded { file: file.to_owned(), line, message });
    }
}

/// `at: GDScript::reload (res://bad.gd:2)`.
fn place_of(line: &str) -> Option<(&str, u32)> {
    let (_, place) = line.strip_prefix("at: ")?.rsplit_once(" (")?;
    let (file, line) = place.strip_suffix(')')?.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

fn failed_to_load(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("ERROR: Failed to load script \"")?;
    rest.split_once('"').map(|(file, _)| file)
}

/// A line without colours, cut to a bound.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().take(MAX_LINE_CHARS);
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
        } else if letters.next() == Some('[') {
            // A colour code ends with its first letter.
            letters.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    out.trim_end().to_owned()
}
