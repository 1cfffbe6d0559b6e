//! Reads what the engine prints about shaders.
//!
//! ```text
//! SHADER ERROR: Expected a ';'.
//!           at: (null) (:2)
//! ```
//!
//! The file is named only when it is an included one.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::{
    Diagnostic,
    scratch::{CANARY, END, SUBJECT},
};

/// What a run said.
pub(super) struct Said {
    pub(super) found: Vec<Diagnostic>,
    /// Why the shader was not really checked.
    pub(super) unchecked: Option<String>,
}

/// The findings about the shader in `ran`.
pub(super) fn read(ran: &ChildReport, shader: &str) -> Said {
    let lines: Vec<&str> =
        ran.lines.iter().filter(|line| line.stderr).map(|line| line.text.trim()).collect();
    let at = |mark: &str| lines.iter().position(|line| *line == mark);
    let (canary, subject, end) = (at(CANARY), at(SUBJECT), at(END));
    let subject_lines = subject.map_or(&[][..], |from| &lines[from..end.unwrap_or(lines.len())]);
    let found = findings(subject_lines, shader);
    let complains = canary.zip(subject).is_some_and(|(from, to)| {
        lines[from..to].iter().any(|line| line.starts_with("SHADER ERROR: "))
    });
    let unchecked = if ran.timed_out {
        Some("the engine was stopped at the time limit".into())
    } else if end.is_none() {
        Some("the engine ended before it had compiled the shader".into())
    } else if !complains {
        Some("this engine's headless renderer compiles no shaders".into())
    } else {
        None
    };
    Said { found, unchecked }
}

fn findings(lines: &[&str], shader: &str) -> Vec<Diagnostic> {
    let one = |rule, message: &str, path: &str, line| Diagnostic {
        severity: "error",
        rule,
        message: message.into(),
        path: path.into(),
        line,
    };
    let mut found: Vec<Diagnostic> = vec![];
    for (number, line) in lines.iter().enumerate() {
        if let Some(message) = line.strip_prefix("SHADER ERROR: ") {
            let place = lines.get(number + 1).and_then(|next| place_of(next));
            let (path, line) = place.unwrap_or_default();
            let path = if path.is_empty() { shader } else { path };
            found.push(one("shader_error", message, path, (line > 0).then_some(line)));
        }
    }
    if found.is_empty() {
        // What is no shader at all is met by the engine's own checks.
        let others = lines.iter().filter_map(|line| line.strip_prefix("ERROR: "));
        found.extend(others.take(1).map(|message| {
            let no_type =
                message.starts_with("Shader type") || message.starts_with("Parameter \"shader\"");
            if no_type {
                let message = "the shader has no `shader_type` that the engine knows";
                one("shader_type", message, shader, None)
            } else {
                one("engine", message, shader, None)
            }
        }));
    }
    found
}

/// `at: (null) (res://a.gdshaderinc:2)` gives the file and the line.
fn place_of(line: &str) -> Option<(&str, usize)> {
    let (_, place) = line.strip_prefix("at: ")?.rsplit_once(" (")?;
    let (file, line) = place.strip_suffix(')')?.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
