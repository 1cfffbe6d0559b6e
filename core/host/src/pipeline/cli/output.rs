//! What is printed, in the four forms: results to standard output, everything else to standard error.
//!
//! In JSON there is one envelope a run, `{success, command, data, errors, warnings}`; `ndjson` has a line for
//! each report of progress before it. Errors stand in the envelope and on standard error, so that a log of
//! either tells the whole.
//!
//! Spec: P-71, the client on the command line.

use std::io::{self, IsTerminal as _, Write};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::outcome::Trouble;
use crate::cli::client::{Format, OutputOptions};

/// What a run has to say.
pub struct Report {
    /// The word of the command line.
    pub verb: &'static str,
    /// For programs.
    pub data: Value,
    /// For people and for lines: what they came for.
    pub view: Value,
    /// What is wrong; the first decides the exit code.
    pub troubles: Vec<Trouble>,
    /// What is odd.
    pub warnings: Vec<String>,
    /// What people should know beside it; programs have it in `data`.
    pub notes: Vec<String>,
}

impl Report {
    /// A report of one thing.
    pub fn of(verb: &'static str, data: Value, view: Value) -> Self {
        Report { verb, data, view, troubles: vec![], warnings: vec![], notes: vec![] }
    }

    /// A report of what went wrong.
    pub fn failed(verb: &'static str, trouble: Trouble) -> Self {
        let data = match &*trouble.more {
            more if more["candidates"].is_array() => json!({"candidates": more["candidates"]}),
            _ => Value::Null,
        };
        Report { troubles: vec![trouble], ..Report::of(verb, data, Value::Null) }
    }
}

/// Prints reports and progress.
pub struct Printer<'w> {
    out: &'w mut dyn Write,
    format: Format,
    quiet: bool,
    result_only: bool,
    bar: Option<ProgressBar>,
    told: Value,
}

impl<'w> Printer<'w> {
    /// A printer as the options want it. `to_terminal` is whether `out` is one.
    pub fn new(options: &OutputOptions, out: &'w mut dyn Write, to_terminal: bool) -> Self {
        let usual = if to_terminal { Format::Human } else { Format::Tsv };
        let format = if options.json { Format::Json } else { options.format.unwrap_or(usual) };
        Printer {
            out,
            format,
            quiet: options.quiet,
            result_only: false,
            bar: None,
            told: Value::Null,
        }
    }

    /// The same, for a result alone.
    #[must_use]
    pub fn result_only(mut self, only: bool) -> Self {
        self.result_only = only;
        self
    }

    /// Whether somebody wants to know how far a command is.
    pub fn wants_progress(&self) -> bool {
        self.prints_progress() || (!self.quiet && io::stderr().is_terminal())
    }

    /// A result alone is alone, whatever the format.
    fn prints_progress(&self) -> bool {
        self.format == Format::Ndjson && !self.result_only
    }

    /// Shows how far a command is: as a bar on a terminal, as a line in `ndjson`.
    pub fn progress(&mut self, reported: &Value) {
        let progress = &reported["progress"];
        if !progress.is_object() || *progress == self.told {
            return;
        }
        self.told = progress.clone();
        if self.prints_progress() {
            let mut frame = json!({"type": "progress"});
            if let (Some(frame), Some(members)) = (frame.as_object_mut(), progress.as_object()) {
                frame.extend(members.clone());
            }
            self.line(&frame.to_string());
        }
        if !self.quiet && io::stderr().is_terminal() {
            self.draw(progress);
        }
    }

    fn draw(&mut self, progress: &Value) {
        const STEPS: u64 = 1000;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(STEPS);
            // The template is ours; a bar without it draws all the same.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent}% {msg}")
            {
                bar.set_style(style);
            }
            bar
        });
        let text = |name: &str| progress[name].as_str().unwrap_or_default().to_owned();
        let part = progress["pct"].as_f64().unwrap_or_else(|| {
            let total = progress["total"].as_f64().filter(|total| *total > 0.0);
            total.map_or(0.0, |total| progress["current"].as_f64().unwrap_or(0.0) / total)
        });
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        bar.set_position((part.clamp(0.0, 1.0) * 1000.0) as u64);
        bar.set_prefix(text("title"));
        bar.set_message(text("info"));
    }

    /// Prints a report and gives its exit code.
    pub fn finish(mut self, report: &Report) -> u8 {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.complain(report);
        let exit = report.troubles.first().map_or(0, |trouble| trouble.exit);
        let printed = match self.format {
            _ if self.result_only => self.print_result(report),
            Format::Json => self.document(&envelope(report)),
            Format::Ndjson => {
                let mut frame = json!({"type": "result"});
                if let (Some(frame), Value::Object(members)) =
                    (frame.as_object_mut(), envelope(report))
                {
                    frame.extend(members);
                }
                self.line(&frame.to_string())
            }
            Format::Human => self.print_text(&human(&report.view)),
            Format::Tsv => self.print_text(&tsv(&report.view)),
        };
        // A pipe that was closed early is its reader's wish.
        if printed || exit != 0 { exit } else { 1 }
    }

    fn print_result(&mut self, report: &Report) -> bool {
        if report.view.is_null() && !report.troubles.is_empty() {
            return true;
        }
        let view = report.view.clone();
        self.document(&view)
    }

    #[allow(clippy::print_stderr, reason = "everything but results goes to standard error")]
    fn complain(&self, report: &Report) {
        if !self.quiet {
            for note in &report.notes {
                eprintln!("note: {note}");
            }
            for warning in &report.warnings {
                eprintln!("warning: {warning}");
            }
        }
        for trouble in &report.troubles {
            eprintln!("error: {}", trouble.message);
            if let Some(hint) = trouble.hint.as_ref().filter(|_| !self.quiet) {
                eprintln!("hint: {hint}");
            }
        }
    }

    fn document(&mut self, value: &Value) -> bool {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        self.line(&text)
    }

    fn print_text(&mut self, text: &str) -> bool {
        text.is_empty() || self.line(text.trim_end_matches('\n'))
    }

    fn line(&mut self, text: &str) -> bool {
        let written = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        written.is_ok() || written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

fn envelope(report: &Report) -> Value {
    json!({
        "success": report.troubles.is_empty(),
        "command": report.verb,
        "data": report.data,
        "errors": report.troubles.iter().map(Trouble::entry).collect::<Vec<_>>(),
        "warnings": report.warnings,
    })
}

/// A text as it is, a list of objects as a table, anything else as JSON that is laid out.
fn human(view: &Value) -> String {
    match view {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(rows) if is_table(rows) => table(rows),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// A list of objects with its columns in the first line, an object as names and values, anything else as one
/// value a line.
fn tsv(view: &Value) -> String {
    match view {
        Value::Null => String::new(),
        Value::Array(rows) if is_table(rows) => {
            let columns = columns(rows);
            let head = columns.iter().map(|column| cell(&Value::String(column.clone())));
            let mut lines = vec![head.collect::<Vec<_>>().join("\t")];
            lines.extend(rows.iter().map(|row| {
                columns.iter().map(|column| cell(&row[column])).collect::<Vec<_>>().join("\t")
            }));
            lines.join("\n")
        }
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{}\t{}", cell(&Value::String(name.clone())), cell(value)))
            .collect::<Vec<_>>()
            .join("\n"),
        other => cell(other),
    }
}

/// A value on one line without a tab: texts with their breaks written out, structures as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text
            .replace('\\', "\\\\")
            .replace('\t', "\\t")
            .replace('\n', "\\n")
            .replace('\r', "\\r"),
        other => other.to_string(),
    }
}

fn is_table(rows: &[Value]) -> bool {
    !rows.is_empty() && rows.iter().all(Value::is_object)
}

/// Every member's name, in the order in which they first appear.
fn columns(rows: &[Value]) -> Vec<String> {
    let mut seen = Map::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for name in row.keys() {
            seen.entry(name).or_insert(Value::Null);
        }
    }
    seen.keys().cloned().collect()
}

/// Columns as wide as their longest value; the last is as long as it is.
fn table(rows: &[Value]) -> String {
    let columns = columns(rows);
    let mut lines: Vec<Vec<String>> =
        vec![columns.iter().map(|column| column.to_uppercase()).collect()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|column| shown(&row[column])).collect()));
    let width = |nth: usize| lines.iter().map(|line| line[nth].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let padded = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    padded.collect::<Vec<_>>().join("\n")
}

/// A cell for people: lists of texts with commas.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => cell(other),
    }
}

#[cfg(test)]
mod tests;
