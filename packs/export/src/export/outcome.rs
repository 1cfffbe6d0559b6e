//! Tells from an engine's output why an export failed.
//!
//! Spec: P-56, exports.

use didi_plugin_api::prelude::*;

use super::{Args, ExportMode, shown};

/// Lines of the engine's output that an answer carries.
const MAX_LINES: usize = 40;
/// Characters of one line.
const MAX_LINE_CHARS: usize = 400;
/// Longest time limit that the tool takes, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 900;

/// Refuses when a run failed.
pub(super) fn check(args: &Args, ran: &ChildReport) -> Result<(), Refusal> {
    if ran.timed_out {
        return Err(timed_out(args));
    }
    let said = said(ran);
    let has = |words: &str| said.iter().any(|line| line.contains(words));
    if has("Invalid export preset name") {
        return Err(unseen(args, &said));
    }
    if has("doesn't end with a supported extension") {
        let message = format!("the platform exports no file named like `{}`", args.output_path);
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("engine_output", tail(&said))
            .field("output_path"));
    }
    if ran.exit_code == Some(0) && !has("Project export for preset") {
        return Ok(());
    }
    let configuration = configuration_errors(&said);
    if said.iter().any(|line| is_about_templates(line)) {
        return Err(no_templates(args, &said, configuration));
    }
    if !configuration.is_empty() {
        let message =
            format!("the preset `{}` can't be exported as it is set", shown(&args.preset));
        return Err(Refusal::new(codes::UNPROCESSABLE, message)
            .with("reason", "export_configuration_errors")
            .with("configuration_errors", configuration)
            .field("preset"));
    }
    let ended = match (ran.exit_code, ran.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".into(),
    };
    Err(engine_refused("export_failed", &format!("the engine failed the export with {ended}"), ran))
}

pub(super) fn engine_refused(reason: &str, message: &str, ran: &ChildReport) -> Refusal {
    Refusal::new(codes::ENGINE_REFUSED, message)
        .with("reason", reason)
        .with("engine_output", tail(&said(ran)))
        .no_remedy("the engine's own output says what is wrong in the project or its settings")
}

/// The messages of a good run.
pub(super) fn messages(ran: &ChildReport) -> Vec<String> {
    let heads = ["ERROR: ", "WARNING: ", "SCRIPT ERROR: "];
    let mut found = said(ran);
    found.retain(|line| heads.iter().any(|head| line.starts_with(head)));
    found.dedup();
    found.truncate(MAX_LINES);
    found
}

fn timed_out(args: &Args) -> Refusal {
    let seconds = args.timeout_seconds;
    let refusal =
        Refusal::new(codes::TIMEOUT, format!("the export did not end within {seconds} s"))
            .with("timed_out", true);
    if seconds < MAX_TIMEOUT_SECONDS {
        let longer = (seconds * 3).min(MAX_TIMEOUT_SECONDS);
        return refusal.retry_with(json!({ "timeout_seconds": longer }));
    }
    refusal.no_remedy("it has had the longest time that an export may take")
}

fn unseen(args: &Args, said: &[String]) -> Refusal {
    let detected: Vec<&str> = said
        .iter()
        .skip_while(|line| !line.contains("presets were detected"))
        .skip(1)
        .map_while(|line| line.trim().strip_prefix('"')?.strip_suffix('"'))
        .collect();
    let message = format!("the engine detected no preset `{}`", shown(&args.preset));
    Refusal::new(codes::NOT_FOUND, message)
        .with("reason", "not_detected_by_engine")
        .with("detected_presets", detected)
        .with("engine_looked_for", args.preset.clone())
        .with("engine_output", tail(said))
        .next_call("project_list_export_presets", "lists the presets and what keeps one unseen")
}

fn is_about_templates(line: &str) -> bool {
    line.contains("No export template found")
        || line.contains("copy export template")
        || line.contains("Template file not found")
}

fn no_templates(args: &Args, said: &[String], configuration: Vec<String>) -> Refusal {
    let places = said.windows(2).filter(|pair| pair[0].contains("No export template found"));
    let mut missing: Vec<&str> = places.map(|pair| pair[1].trim()).collect();
    missing.dedup();
    let (stem, ending) =
        args.output_path.rsplit_once('.').unwrap_or((args.output_path.as_str(), ""));
    let mut retry = json!({ "mode": ExportMode::Pack });
    if !matches!(ending.to_ascii_lowercase().as_str(), "pck" | "zip") {
        retry["output_path"] = json!(format!("{stem}.pck"));
    }
    Refusal::new(
        codes::TOOLCHAIN_UNAVAILABLE,
        "the export templates of this platform are not installed, and only a pack needs none",
    )
    .with("reason", "export_templates_missing")
    .with("missing_templates", missing)
    .with("configuration_errors", configuration)
    .with("engine_output", tail(said))
    .retry_with(retry)
}

/// The lines below `due to configuration errors:`, up to the place in the engine's source.
fn configuration_errors(said: &[String]) -> Vec<String> {
    said.iter()
        .skip_while(|line| !line.contains("due to configuration errors"))
        .skip(1)
        .take_while(|line| !line.trim_start().starts_with("at: ") && !line.starts_with("ERROR: "))
        .take(MAX_LINES)
        .cloned()
        .collect()
}

/// What the engine said, less blank lines, colours and the progress bar.
fn said(ran: &ChildReport) -> Vec<String> {
    let lines = ran.lines.iter().map(|line| plain(&line.text));
    lines.filter(|line| !line.trim().is_empty() && !is_progress(line)).collect()
}

/// `[  50% ] savepack | ...` and `[ DONE ] savepack`.
fn is_progress(line: &str) -> bool {
    let inner = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inner.is_some_and(|(inner, _)| inner.contains('%') || inner.trim() == "DONE")
}

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

/// The last lines, from the first message on where that is later.
fn tail(said: &[String]) -> Vec<String> {
    said[said.len().saturating_sub(MAX_LINES)..].to_vec()
}
