//! What set-up and diagnosis say: a list of steps, for people as lines and for programs as JSON.
//!
//! Spec: P-57, set-up and diagnosis.

use std::io::{self, Write};

use didi_plugin_api::refusal::Refusal;
use serde::Serialize;
use serde_json::{Value, json};

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It was not so before, and is now.
    Done,
    /// It was so already.
    Unchanged,
    /// It was looked at and is well.
    Ok,
    /// It works, and should be known.
    Warn,
    /// It does not work, or was not done.
    Fail,
    /// It was not asked for, or can't be told here.
    Skipped,
}

impl State {
    /// The word of both forms.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Unchanged => "unchanged",
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "fail",
            State::Skipped => "skipped",
        }
    }
}

/// One step: what it is about, how it ended, what was seen, and the way out where one is needed.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Step {
    /// What it is about.
    #[serde(rename = "step")]
    pub(super) about: String,
    /// How it ended.
    pub(super) state: State,
    /// A word for programs, wherever something is to be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
    /// What was seen or done, one sentence.
    pub(super) seen: String,
    /// What mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<String>,
}

impl Step {
    /// A step without anything to mend.
    pub(super) fn new(about: impl Into<String>, state: State, seen: impl Into<String>) -> Self {
        Step { about: about.into(), state, code: None, seen: seen.into(), remedy: None }
    }

    /// A step with something to know: its code and the way out.
    pub(super) fn finding(
        about: impl Into<String>,
        state: State,
        code: &'static str,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Step { code: Some(code), remedy, ..Step::new(about, state, seen) }
    }

    /// A step whose file could not be read or written.
    pub(super) fn refused(about: impl Into<String>, refusal: &Refusal) -> Self {
        let remedy = "mend what keeps the file from being used, and run it again";
        Step::finding(about, State::Fail, "file_refused", refusal.message.clone(), remedy)
    }
}

/// Takes steps in as they end; a person sees each at once, a program all at the end.
pub(super) struct Report<'a> {
    out: &'a mut dyn Write,
    command: &'static str,
    project: String,
    as_json: bool,
    steps: Vec<Step>,
    /// Standard output is closed; the work goes on.
    broken: bool,
}

impl<'a> Report<'a> {
    /// Nothing yet.
    pub(super) fn new(
        out: &'a mut dyn Write,
        command: &'static str,
        project: String,
        as_json: bool,
    ) -> Self {
        let mut report = Report { out, command, project, as_json, steps: vec![], broken: false };
        if !as_json {
            let head = format!("Didi {} on {}\n", env!("CARGO_PKG_VERSION"), report.project);
            report.write(&head);
        }
        report
    }

    /// Takes a step in.
    pub(super) fn push(&mut self, step: Step) {
        if !self.as_json {
            let mut text = format!("{:9} {}: {}\n", step.state.as_str(), step.about, step.seen);
            if let Some(remedy) = &step.remedy {
                text = format!("{text}{:9} {remedy}\n", "");
            }
            self.write(&text);
        }
        self.steps.push(step);
    }

    /// Whether a step failed so far.
    pub(super) fn has_failed(&self) -> bool {
        self.steps.iter().any(|step| step.state == State::Fail)
    }

    /// Ends the report; answers whether all went well.
    pub(super) fn end(mut self) -> bool {
        let good = !self.has_failed();
        if self.as_json {
            let document = json!({
                "command": self.command,
                "version": env!("CARGO_PKG_VERSION"),
                "project": self.project,
                "ok": good,
                "steps": self.steps,
            });
            self.write(&pretty(&document));
        }
        good && !self.broken
    }

    fn write(&mut self, text: &str) {
        let written: io::Result<()> =
            self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.broken |= written.is_err();
    }
}

fn pretty(document: &Value) -> String {
    // A tree of JSON values always serialises.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}
