//! How a run of the client ended: what goes to standard output, what is wrong, and the exit code.
//!
//! | exit | meaning |
//! | --- | --- |
//! | 0 | delivered; a result that says that it failed counts as delivered unless `--strict` is given |
//! | 1 | a fault of this program or the system |
//! | 2 | bad arguments: of this program, or of the command |
//! | 3 | the instance does not accept the token |
//! | 4 | a precondition: a folder that is none, a descriptor that may not be read, no job without a server |
//! | 6 | the command failed, the instance is not ready, or several could be meant |
//! | 7 | the network: no instance, no answer, one that can't be read, too many jobs; the outcome may be unknown |
//! | 8 | tests ran and failed |
//! | 129, 130, 143 | hung up, interrupted, terminated |
//!
//! 5 and 9 are other tools' and never ours.
//!
//! Spec: P-71, the client on the command line.

use didi_pipeline::bind::{Problem as ArgProblem, ProblemKind};
use didi_plugin_api::pipeline::reason;
use serde_json::{Value, json};

use crate::pipeline::client::{
    Answer, Failure,
    find::{self, NotFound},
};

/// What is wrong with a whole run.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// A word for programs.
    pub code: &'static str,
    /// One sentence or more, for people.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
    /// The exit code.
    pub exit: u8,
    /// What else programs get, beside code and message.
    pub more: Box<Value>,
}

impl Trouble {
    /// A trouble with its code, its exit code and its message.
    pub fn new(code: &'static str, exit: u8, message: impl Into<String>) -> Self {
        Trouble { code, message: message.into(), hint: None, exit, more: Box::default() }
    }

    /// The same with a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with members for programs.
    #[must_use]
    pub fn with(mut self, more: Value) -> Self {
        *self.more = more;
        self
    }

    /// Bad arguments of this program.
    pub fn usage(message: impl Into<String>, hint: &str) -> Self {
        Trouble::new("INVALID_ARGUMENTS", 2, message).hint(hint)
    }

    /// A fault of the system.
    pub fn system(error: impl std::fmt::Display) -> Self {
        Trouble::new("SYSTEM_ERROR", 1, error.to_string())
    }

    /// A line of arguments that the client itself can tell is wrong.
    pub fn arguments(name: &str, problems: &[ArgProblem]) -> Self {
        let told: Vec<_> = problems.iter().map(|problem| problem.text(name)).collect();
        Trouble::new("INVALID_COMMAND_ARGS", 2, told.join(" "))
            .with(json!({"argProblems": problems}))
    }

    /// The entry in the list of errors.
    pub fn entry(&self) -> Value {
        let mut entry = json!({"code": self.code, "message": self.message});
        if let (Some(members), Value::Object(more)) = (entry.as_object_mut(), &*self.more) {
            members.extend(more.clone());
        }
        entry
    }
}

impl From<NotFound> for Trouble {
    fn from(why: NotFound) -> Self {
        let message = why.to_string();
        match why {
            NotFound::Nothing { .. } => Trouble::new("NO_INSTANCE", 7, message)
                .hint("open the project in its editor, start `didi pipeline serve`, or name another with --project-path"),
            NotFound::Ambiguous(found) => Trouble::new("AMBIGUOUS_EDITOR", 6, message)
                .hint("name one with --project-path")
                .with(json!({"candidates": found.iter().map(|it| find::identity(&it.descriptor)).collect::<Vec<_>>()})),
            NotFound::Denied { .. } => Trouble::new("PERMISSION_DENIED", 4, message)
                .hint("an instance may run here: use the account and the sandbox that it runs in"),
            NotFound::Unreadable { .. } => Trouble::new("BAD_DESCRIPTOR", 4, message)
                .hint("restart the instance, which writes the file anew"),
        }
    }
}

/// The way out where the outcome is not known.
const LOOK: &str = "it may have run: look at the project before running it again";

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        let unknown = || json!({"outcome": "unknown"});
        match failure {
            Failure::Refused(_) => Trouble::new("EDITOR_NOT_READY", 6, message)
                .hint("its process lives: it may load its code anew; give it a longer --timeout"),
            Failure::Denied(_) => Trouble::new("PERMISSION_DENIED", 4, message)
                .hint("allow connections to 127.0.0.1 from this shell"),
            Failure::Dead { .. } => Trouble::new("INSTANCE_GONE", 7, message)
                .hint("start it again; the descriptor is what it left behind"),
            Failure::Unanswered(_) => {
                Trouble::new("OUTCOME_UNKNOWN", 7, message).hint(LOOK).with(unknown())
            }
            Failure::BadAnswer(_) => {
                Trouble::new("BAD_REPLY", 7, message).hint(LOOK).with(unknown())
            }
            Failure::TimedOut { sent: true } => {
                Trouble::new("TIMED_OUT", 7, message).hint(LOOK).with(unknown())
            }
            Failure::TimedOut { sent: false } => Trouble::new("TIMED_OUT", 7, message),
            // The exit code of a signal is set by whoever took the signal.
            Failure::Cancelled { sent: true } => Trouble::new(
                "INTERRUPTED",
                130,
                "interrupted; the request was sent, and may still be worked on",
            )
            .with(unknown()),
            Failure::Cancelled { sent: false } => {
                Trouble::new("INTERRUPTED", 130, "interrupted; nothing was sent")
            }
        }
    }
}

/// The body of an answer: an object when it is a success. Whatever else the status says is judged by it alone, as
/// what is refused before a request is looked at is often answered in plain text; the body is then null.
///
/// # Errors
/// [`Failure::BadAnswer`] for a success that can't be read.
pub fn body_of(answer: &Answer) -> Result<Value, Failure> {
    let body = answer.json();
    if answer.status != 200 {
        return Ok(body.unwrap_or_default());
    }
    let body = body?;
    if body.is_object() { Ok(body) } else { Err(Failure::BadAnswer("no object of JSON".into())) }
}

/// What a reply of `/api/exec` says when it is no success.
pub fn refused(answer: &Answer, body: &Value, command: &str) -> Trouble {
    let details = reason(answer.status, body);
    let told = body["error"].as_str().filter(|error| *error != details);
    let message = told.map_or_else(|| details.clone(), |error| format!("{error}: {details}"));
    if body["errorCode"] == "INVALID_COMMAND_ARGS" {
        return bad_arguments(body, command, &details);
    }
    let more = more_of(body);
    let code = &body["refusal"]["data"]["code"];
    if code == "tests_failed" {
        return Trouble::new("TESTS_FAILED", 8, message).with(more);
    }
    match answer.status {
        400 if body["timedOut"] == true => late(message, more),
        401 | 403 => Trouble::new("UNAUTHORIZED", 3, message)
            .hint("the descriptor is not this instance's, or it changed its token; try again"),
        429 => Trouble::new("TOO_MANY_JOBS", 7, message).hint("wait for some of them"),
        503 => {
            let reason = body["busyReason"].as_str().unwrap_or("busy");
            let dialogs = body["dialogs"].as_array().map(Vec::len).unwrap_or_default();
            let hint = match (reason, dialogs) {
                ("blocked_by_dialog", _) => "somebody has to answer the dialog that is open there",
                _ => "give it a longer --timeout, or wait with `didi status --until-ready`",
            };
            Trouble::new("EDITOR_NOT_READY", 6, message).hint(hint).with(more)
        }
        _ => {
            let hint = (code == "confirmation_required").then(|| {
                "look at what it would do with --dry-run, then run it with --confirm".into()
            });
            Trouble { hint, ..Trouble::new("COMMAND_FAILED", 6, message).with(more) }
        }
    }
}

/// The instance gave up on a command that it had started.
fn late(message: String, mut more: Value) -> Trouble {
    more["outcome"] = "unknown".into();
    Trouble::new("TIMED_OUT", 7, message).hint(LOOK).with(more)
}

/// What programs get of a refused reply: all of it but what the message has.
fn more_of(body: &Value) -> Value {
    let mut more = body.clone();
    if let Some(members) = more.as_object_mut() {
        for told in ["success", "error", "errorDetails", "warnings"] {
            members.shift_remove(told);
        }
    }
    more
}

/// Arguments that the instance could not bind: told in our words where the kinds are known.
fn bad_arguments(body: &Value, command: &str, details: &str) -> Trouble {
    let problems: Vec<ArgProblem> =
        serde_json::from_value(body["argProblems"].clone()).unwrap_or_default();
    let known = problems.iter().all(|problem| problem.kind != ProblemKind::Unknown);
    let message = if problems.is_empty() || !known {
        details.to_owned()
    } else {
        problems.iter().map(|problem| problem.text(command)).collect::<Vec<_>>().join(" ")
    };
    let ours = problems.iter().find_map(|problem| {
        let name = problem.name.as_deref().filter(|_| problem.kind == ProblemKind::UnknownName)?;
        OUR_FLAGS.contains(&name).then(|| format!("write --{name} before the command's name"))
    });
    let usage = || Some(format!("usage: {}", usage(command, &body["commandSchema"])));
    Trouble {
        hint: ours.or_else(usage),
        ..Trouble::new("INVALID_COMMAND_ARGS", 2, message).with(
            json!({"argProblems": body["argProblems"], "commandSchema": body["commandSchema"]}),
        )
    }
}

/// Options that people write after the command's name.
const OUR_FLAGS: [&str; 9] = [
    "json",
    "format",
    "quiet",
    "strict",
    "detach",
    "result-only",
    "timeout",
    "project-path",
    "runtime",
];

/// How a command is called, from its entry: required values in their order, then what is optional.
pub fn usage(command: &str, entry: &Value) -> String {
    let mut text = command.to_owned();
    let parameters: Vec<&Value> = entry["parameters"].as_array().into_iter().flatten().collect();
    let (required, optional): (Vec<_>, Vec<_>) =
        parameters.into_iter().partition(|parameter| parameter["required"] == true);
    for (parameters, open, close) in [(required, "<", ">"), (optional, "[--", "]")] {
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap_or("?");
            text.push(' ');
            text.push_str(open);
            text.push_str(name);
            if close == "]" && parameter["type"] != "Boolean" {
                text.push(' ');
                text.push_str(parameter["type"].as_str().unwrap_or("value"));
            }
            text.push_str(close);
        }
    }
    text
}

#[cfg(test)]
mod tests;
