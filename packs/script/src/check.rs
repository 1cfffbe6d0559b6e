//! Whether a script compiles: asked of an engine where one is found, and of the grammar where not.
//!
//! `--check-only` loads one script without running it: no scene, no autoload. What it says about an
//! identifier is therefore weighed by [`names`] before it counts as the script's fault.
//!
//! Spec: P-53, scripts.

use didi_gdscript::{faults, lines};
use didi_plugin_api::prelude::*;

use crate::syntax;

mod names;
mod report;
pub(crate) mod scratch;

/// Milliseconds that the compiler may take.
const CHECK_MS: u64 = 5000;
/// Bytes of its output that are read.
const OUTPUT_BYTES: usize = 256 << 10;
/// Diagnostics listed.
const MAX_DIAGNOSTICS: usize = 100;

const LIMITATION: &str =
    "the script was compiled by itself: nothing was run, and scenes that use it were not looked at";
const LIMITATION_OFFLINE: &str =
    "only the syntax was read: names, types and base classes are for an engine to check";

/// Something that a compiler, or the grammar, says about the script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Diagnostic {
    pub(crate) severity: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    pub(crate) rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// The members of an answer that say how the check went.
#[derive(Default, Serialize)]
#[allow(clippy::struct_field_names, reason = "they stand among others in the answer")]
pub(crate) struct Engine {
    engine_checked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_backend: Option<&'static str>,
    engine_available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_unavailable_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_timed_out: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable_configured: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable_configured_rejected: Option<Value>,
    // No engine is attached to this tool, so neither is known.
    attached_engine_version: Option<String>,
    matches_attached_engine: Option<bool>,
}

/// What a check found, as the answers of several tools carry it.
#[derive(Serialize)]
pub(crate) struct Verdict {
    pub(crate) has_errors: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) diagnostics_count: usize,
    #[serde(flatten)]
    pub(crate) engine: Engine,
    pub(crate) limitation: &'static str,
    /// Whether something was left out of the list, or the compiler was stopped.
    #[serde(skip)]
    pub(crate) truncated: bool,
}

/// A script to check.
pub(crate) struct Subject<'s> {
    /// `res://` path, or empty for a text that has none.
    pub(crate) path: &'s str,
    /// The text.
    pub(crate) source: &'s str,
    /// The file that the compiler loads, where that is not the one at `path`; empty for none.
    pub(crate) copy: Option<&'s str>,
}

/// Checks a script. What can't be asked is said in the verdict and refuses nothing.
///
/// # Errors
/// `cancelled`.
pub(crate) fn verdict(ctx: &Ctx<'_>, subject: &Subject<'_>) -> Result<Verdict, Refusal> {
    let Some(text) = didi_gdscript::text_of(subject.source.as_bytes()) else {
        let message = "the text holds a NUL character, which ends it for the engine";
        let found = vec![Diagnostic { file: subject.file(), ..error("text", message) }];
        return Ok(Verdict::of(Engine::default(), found, LIMITATION_OFFLINE));
    };
    let Compiled { engine, diagnostics } = by_engine(ctx, subject)?;
    ctx.check()?;
    Ok(match diagnostics {
        Some(found) => Verdict::of(engine, found, LIMITATION),
        None => Verdict::of(engine, by_grammar(ctx, subject, text)?, LIMITATION_OFFLINE),
    })
}

impl Subject<'_> {
    fn file(&self) -> Option<String> {
        (!self.path.is_empty()).then(|| self.path.to_owned())
    }
}

impl Verdict {
    fn of(engine: Engine, mut found: Vec<Diagnostic>, limitation: &'static str) -> Self {
        let count = found.len();
        let has_errors = found.iter().any(|one| one.severity == "error");
        found.truncate(MAX_DIAGNOSTICS);
        let stopped = engine.engine_timed_out == Some(true);
        Verdict {
            has_errors,
            truncated: count > found.len() || stopped,
            diagnostics: found,
            diagnostics_count: count,
            engine,
            limitation,
        }
    }

    /// The verdict on bytes that are no text, which no compiler is asked about.
    pub(crate) fn invalid_encoding(path: &str, valid_bytes: usize, bytes: &[u8]) -> Self {
        let line = String::from_utf8_lossy(&bytes[..valid_bytes]).matches('\n').count() + 1;
        let found = Diagnostic {
            line: Some(line),
            file: Some(path.into()),
            ..error("invalid_encoding", "the file is not UTF-8 text")
        };
        Verdict::of(Engine::default(), vec![found], LIMITATION_OFFLINE)
    }

    /// Whether it compiles, where that is known.
    pub(crate) fn compiles(&self) -> Option<bool> {
        let asked = self.engine.engine_checked && self.engine.engine_available;
        (asked || self.has_errors).then_some(!self.has_errors)
    }
}

/// A finding without a place.
fn error(rule: &'static str, message: &str) -> Diagnostic {
    Diagnostic {
        severity: "error",
        message: message.into(),
        line: None,
        column: None,
        rule,
        file: None,
        note: None,
    }
}

fn by_grammar(
    ctx: &Ctx<'_>,
    subject: &Subject<'_>,
    text: &str,
) -> Result<Vec<Diagnostic>, Refusal> {
    let tree = syntax::parse(ctx, text)?;
    let at = |line, column, message: &str| Diagnostic {
        line: Some(line),
        column: Some(column),
        file: subject.file(),
        ..error("syntax", message)
    };
    let found = faults::of_tree(&tree, text, MAX_DIAGNOSTICS);
    let mut found: Vec<_> =
        found.into_iter().map(|fault| at(fault.line, fault.column, &fault.message)).collect();
    // The grammar reads both; the engine takes the first that a file uses, and refuses the other.
    if let Err(line) = lines::style(text, &lines::of(text)) {
        found.push(at(line, 1, "tabs and spaces are mixed in the indentation"));
        found.sort_by_key(|one| one.line);
    }
    Ok(found)
}

/// What an engine said. Without `diagnostics` no compiler answered.
struct Compiled {
    engine: Engine,
    diagnostics: Option<Vec<Diagnostic>>,
}

fn by_engine(ctx: &Ctx<'_>, subject: &Subject<'_>) -> Result<Compiled, Refusal> {
    let info = match ctx.engine() {
        Ok(info) => info,
        Err(refusal) => return Ok(unavailable(refusal)),
    };
    let script = subject.copy.unwrap_or(subject.path);
    if script.is_empty() {
        let why = "the compiler reads files, and the text could not be put into one";
        return Ok(reason(why.into()));
    }
    let spec = ChildSpec {
        program: None,
        args: arguments(ctx, script),
        env: vec![],
        folder: None,
        timeout_ms: CHECK_MS,
        max_output_bytes: OUTPUT_BYTES,
    };
    let ran = match ctx.run_child(&spec) {
        Ok(ran) => ran,
        Err(refusal) => return Ok(unavailable(refusal)),
    };
    let mut engine = Engine {
        engine_checked: !ran.timed_out,
        engine_backend: Some("check_only"),
        engine_available: !ran.timed_out,
        engine_version: Some(info.version),
        engine_executable: Some(info.executable.to_string_lossy().into_owned()),
        engine_exit_code: ran.exit_code,
        engine_duration_seconds: Some(seconds(ran.ran_ms)),
        engine_timed_out: Some(ran.timed_out),
        ..Engine::default()
    };
    if ran.timed_out {
        engine.engine_unavailable_reason =
            Some(format!("the compiler was stopped after {} s", CHECK_MS / 1000));
        return Ok(Compiled { engine, diagnostics: None });
    }
    let mut diagnostics = report::read(&ran, script);
    if subject.copy.is_some() {
        diagnostics = scratch::settle(ctx, subject, diagnostics)?;
    }
    names::weigh(ctx, subject.source, &mut diagnostics)?;
    Ok(Compiled { engine, diagnostics: Some(diagnostics) })
}

fn arguments(ctx: &Ctx<'_>, script: &str) -> Vec<String> {
    let project = ctx.project().root().folder().to_string_lossy().into_owned();
    ["--headless", "--path", &project, "--check-only", "--script", script]
        .map(str::to_owned)
        .to_vec()
}

fn reason(why: String) -> Compiled {
    let engine = Engine { engine_unavailable_reason: Some(why), ..Engine::default() };
    Compiled { engine, diagnostics: None }
}

fn unavailable(mut refusal: Refusal) -> Compiled {
    let engine = Engine {
        engine_unavailable_reason: Some(refusal.message),
        engine_executable_configured: refusal.data.remove("engine_executable_configured"),
        engine_executable_configured_rejected: refusal
            .data
            .remove("engine_executable_configured_rejected"),
        ..Engine::default()
    };
    Compiled { engine, diagnostics: None }
}

#[allow(clippy::cast_precision_loss, reason = "a run of a few seconds")]
pub(crate) fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
