//! Reads what an engine prints into log lines and diagnostics.
//!
//! A message is followed by indented lines: where it comes from, then the calls of the script, newest first.
//! Both streams share one list, so lines of the other stream may stand in between.
//!
//! ```text
//! ERROR: my err
//!    at: push_error (core/variant/variant_utility.cpp:1024)
//!    GDScript backtrace (most recent call first):
//!        [0] _ready (res://main.gd:4)
//! ```
//!
//! Spec: P-54, running games.

use std::fmt;

use didi_plugin_api::prelude::*;

/// Log lines answered: the first and the last of them.
const HEAD_LINES: usize = 200;
const TAIL_LINES: usize = 300;
/// Diagnostics and error messages answered.
const MAX_DIAGNOSTICS: usize = 100;
/// Calls listed with a diagnostic.
const MAX_FRAMES: usize = 16;
/// Characters of one line.
const MAX_LINE_CHARS: usize = 1000;

/// How an engine begins a message: the words, the level, and the rule that it falls under.
const HEADS: [(&str, &str, &str); 8] = [
    ("SCRIPT ERROR: ", "error", "script_error"),
    ("USER SCRIPT ERROR: ", "error", "script_error"),
    ("SHADER ERROR: ", "error", "shader_error"),
    ("USER ERROR: ", "error", "user_error"),
    ("ERROR: ", "error", "engine_error"),
    ("SCRIPT WARNING: ", "warning", "script_warning"),
    ("USER WARNING: ", "warning", "user_warning"),
    ("WARNING: ", "warning", "engine_warning"),
];

/// A line of output.
#[derive(Clone, Serialize)]
pub(super) struct LogLine {
    level: &'static str,
    pub(super) text: String,
    /// Whether it belongs to the message above it.
    continuation: bool,
}

/// A message of the engine with its place.
#[derive(Serialize)]
pub(super) struct Diagnostic {
    severity: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    rule: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<Place>,
    /// Times that it was printed.
    count: usize,
}

#[derive(Clone, PartialEq, Eq, Serialize)]
struct Place {
    function: String,
    file: String,
    line: u32,
}

/// All that a run printed.
#[derive(Default)]
pub(super) struct Report {
    pub(super) logs: Vec<LogLine>,
    pub(super) logs_omitted: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) errors: Vec<String>,
    pub(super) errors_count: usize,
    pub(super) warnings_count: usize,
}

/// A message that still takes lines.
struct Open {
    severity: &'static str,
    rule: &'static str,
    message: String,
    at: Option<Place>,
    frames: Vec<Place>,
}

impl Report {
    /// Reads the lines of a run.
    pub(super) fn read(lines: &[ChildLine]) -> Self {
        let mut report = Report::default();
        let mut open: Option<Open> = None;
        for line in lines {
            let text = plain(&line.text);
            let head = head_of(&text).filter(|_| line.stderr);
            let continues = line.stderr && head.is_none() && text.starts_with([' ', '\t']);
            let mut level = if line.stderr { "stderr" } else { "info" };
            if let Some((severity, rule, message)) = head {
                report.close(open.take());
                level = severity;
                open = Some(Open {
                    severity,
                    rule,
                    message: message.to_owned(),
                    at: None,
                    frames: vec![],
                });
            } else if let Some(message) = open.as_mut().filter(|_| continues) {
                level = message.severity;
                message.take(text.trim());
            } else if line.stderr {
                report.close(open.take());
            }
            let continuation = continues && open.is_some();
            report.logs.push(LogLine { level, text: cut(&text), continuation });
        }
        report.close(open);
        report.bound_logs();
        report
    }

    /// The first error, as one phrase.
    pub(super) fn first_error(&self) -> Option<String> {
        self.diagnostics.iter().find(|one| one.severity == "error").map(ToString::to_string)
    }

    /// Says of names that the engine does not know that they may be classes: it learns of those by an
    /// import, which has not been run.
    pub(super) fn class_cache_missing(&mut self) {
        let unknown = |message: &str| {
            let message = message.trim_start_matches("Parse Error: ");
            message.contains("Identifier not found: ")
                || (message.starts_with("Identifier \"") && message.contains("not declared"))
                || message.starts_with("Could not find type \"")
                || message.starts_with("Could not find base class \"")
        };
        for one in self.diagnostics.iter_mut().filter(|one| unknown(&one.message)) {
            one.rule = "class_cache_missing";
            one.message = format!("class cache missing, run an import: {}", one.message);
        }
    }

    fn close(&mut self, open: Option<Open>) {
        let Some(open) = open else { return };
        if open.severity == "error" {
            self.errors_count += 1;
        } else {
            self.warnings_count += 1;
        }
        let one = open.diagnostic();
        // A message of every frame is one finding.
        let same = |old: &&mut Diagnostic| {
            old.message == one.message && old.file == one.file && old.line == one.line
        };
        if let Some(old) = self.diagnostics.iter_mut().find(same) {
            old.count += 1;
            return;
        }
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            if one.severity == "error" {
                self.errors.push(one.message.clone());
            }
            self.diagnostics.push(one);
        }
    }

    fn bound_logs(&mut self) {
        let over = self.logs.len().saturating_sub(HEAD_LINES + TAIL_LINES);
        if over > 0 {
            self.logs.drain(HEAD_LINES..HEAD_LINES + over);
        }
        self.logs_omitted = over;
    }
}

impl Open {
    fn take(&mut self, line: &str) {
        if let Some(place) = line.strip_prefix("at: ").and_then(place_of) {
            self.at.get_or_insert(place);
        } else if let Some((_, call)) =
            line.strip_prefix('[').and_then(|rest| rest.split_once("] "))
        {
            let room = self.frames.len() < MAX_FRAMES;
            self.frames.extend(place_of(call).filter(|_| room));
        }
    }

    /// The place is the script's where one is known: the engine's own source helps nobody.
    fn diagnostic(self) -> Diagnostic {
        let in_project = |place: &Place| place.file.starts_with("res://");
        let pushed = self.at.as_ref().is_some_and(|at| at.function.starts_with("push_"));
        let place = match self.frames.first().cloned() {
            Some(frame) if !self.at.as_ref().is_some_and(in_project) => Some(frame),
            _ => self.at,
        };
        let rule = match (pushed, self.severity) {
            (true, "error") => "user_error",
            (true, _) => "user_warning",
            (false, _) if self.message.starts_with("Parse Error: ") => "parse_error",
            (false, _) => self.rule,
        };
        Diagnostic {
            severity: self.severity,
            message: cut(&self.message),
            file: place.as_ref().map(|place| place.file.clone()),
            line: place.as_ref().map(|place| place.line),
            function: place.map(|place| place.function),
            rule,
            frames: self.frames,
            count: 1,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message.trim_end_matches('.'))?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(out, " ({file}:{line})"),
            _ => Ok(()),
        }
    }
}

fn head_of(text: &str) -> Option<(&'static str, &'static str, &str)> {
    HEADS.iter().find_map(|(words, level, rule)| {
        text.strip_prefix(words).map(|message| (*level, *rule, message))
    })
}

/// `_ready (res://main.gd:8)`.
fn place_of(text: &str) -> Option<Place> {
    let (function, place) = text.rsplit_once(" (")?;
    let (file, line) = place.trim_end().strip_suffix(')')?.rsplit_once(':')?;
    Some(Place { function: function.into(), file: file.into(), line: line.parse().ok()? })
}

/// The text without the codes that colour a terminal.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        if letters.next() == Some('[') {
            // A code ends with its first letter.
            letters.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
