//! Scripts inside a scene or a resource: strings of `script/source`.
//!
//! Such a string keeps its line ends and tabs, and writes only `"` and `\` with a backslash before them. They are
//! taken back in place, byte for byte, so that a place in the script is a place in the file.
//!
//! Spec: P-50, search.

use super::{Declared, gdscript};

/// What the string of a script stands behind.
const KEY: &str = "\nscript/source = \"";

/// All declarations of built-in scripts, in file order.
pub(super) fn declarations(text: &str) -> Vec<Declared> {
    let mut found = vec![];
    let mut from = 0;
    while let Some(at) = text[from..].find(KEY) {
        let start = from + at + KEY.len();
        let source = source(&text[start..]);
        found.extend(
            gdscript::declarations(&source)
                .into_iter()
                .map(|one| Declared { at: start + one.at, ..one }),
        );
        from = start + source.len();
    }
    found
}

/// The script up to the end of its string, with blanks where a run of escapes was longer than what it means.
fn source(text: &str) -> String {
    let mut source = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next().filter(|letter| *letter != '"') {
        if letter != '\\' {
            source.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let mut meant = String::new();
        while let Some(escaped) = rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            meant.push(escaped);
            rest = &rest[1 + escaped.len_utf8()..];
        }
        if meant.is_empty() {
            break;
        }
        let blanks = " ".repeat(meant.chars().count());
        // A backslash that ends a line has to stay at its end.
        if rest.starts_with(['\n', '\r']) {
            source.push_str(&blanks);
            source.push_str(&meant);
        } else {
            source.push_str(&meant);
            source.push_str(&blanks);
        }
    }
    source
}
