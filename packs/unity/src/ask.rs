//! Asking an instance, and its failures as refusals that name the way out.

use didi_plugin_api::{
    pipeline::{Instance, Outcome, Question, Request, reason},
    prelude::*,
};
use serde_json::Map;

/// A look may take this long; cheap endpoints answer at once.
pub(crate) const LOOK_MS: u64 = 10_000;
/// What to do again after, where nothing better is known.
const RETRY_MS: u64 = 1000;

/// The instance does not take commands at the moment; nothing ran.
pub(crate) const INSTANCE_BUSY: Code = Code::new(503, "instance_busy");
/// Nobody could be reached; nothing ran.
pub(crate) const INSTANCE_UNREACHABLE: Code = Code::new(503, "instance_unreachable");
/// Too many jobs wait in the instance.
const RATE_LIMITED: Code = Code::new(429, "rate_limited");

/// The codes of everything that asks an instance.
pub(crate) const CODES: [Code; 9] = [
    codes::NOT_FOUND,
    codes::CONFLICT,
    codes::FORBIDDEN,
    codes::INVALID_ARGUMENTS,
    codes::ENGINE_REFUSED,
    INSTANCE_BUSY,
    INSTANCE_UNREACHABLE,
    codes::UNKNOWN_OUTCOME,
    RATE_LIMITED,
];

/// What an instance said.
pub(crate) struct Said {
    pub(crate) instance: Instance,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// Asks, and refuses where nothing came back.
pub(crate) fn ask(
    ctx: &Ctx<'_>,
    instance: Option<&str>,
    question: Question,
    timeout_ms: u64,
) -> Result<Said, Refusal> {
    let instance = instance.map(str::to_owned);
    let changes = matches!(question, Question::Exec { .. } | Question::JobCancel { .. });
    let reply = ctx.pipeline_request(&Request { instance, question, timeout_ms })?;
    match reply.outcome {
        Outcome::Answered { status, body } => {
            let said = Said { instance: reply.instance, status, body };
            if changes { known(said) } else { Ok(said) }
        }
        Outcome::NotSent { why, message } => Err(unreachable(&reply.instance, &why, &message)),
        // A look that got lost changed nothing.
        Outcome::Unknown { why, message } if !changes => {
            Err(unreachable(&reply.instance, &why, &message))
        }
        Outcome::Unknown { why, message } => Err(unknown(&reply.instance, &why, &message)),
    }
}

/// An answer to what changes something, unless it leaves open whether it did: a success that can't be read, or the
/// instance's word that it gave up on what it had started.
fn known(said: Said) -> Result<Said, Refusal> {
    match said.status {
        200 if !said.body.is_object() => {
            Err(unknown(&said.instance, "bad_answer", "the answer is no object of JSON"))
        }
        400 if said.body["timedOut"] == true => {
            let refusal = unknown(&said.instance, "timed_out", &brief(&said));
            Err(refusal.with("reply", lean(&said.body)))
        }
        _ => Ok(said),
    }
}

pub(crate) fn unknown(instance: &Instance, why: &str, message: &str) -> Refusal {
    let message =
        format!("`{}`: {}; it may have run", instance.name, message.trim_end_matches('.'));
    Refusal::new(codes::UNKNOWN_OUTCOME, message)
        .with("why", why)
        .with("outcome", "unknown")
        .next_call(
            "unity_editor_status",
            "shows whether the instance is back or was restarted; then read what the command would have changed",
        )
}

/// Asks for what an instance tells of itself; anything but a success is refused.
pub(crate) fn look(
    ctx: &Ctx<'_>,
    instance: Option<&str>,
    question: Question,
) -> Result<Said, Refusal> {
    let said = ask(ctx, instance, question, LOOK_MS)?;
    if said.status == 200 && said.body.is_object() { Ok(said) } else { Err(refused(&said)) }
}

/// A look that a whole answer need not fail for.
pub(crate) fn glance(ctx: &Ctx<'_>, instance: &Instance, question: Question) -> Option<Value> {
    let said = ask(ctx, Some(&instance.folder), question, LOOK_MS).ok()?;
    (said.status == 200 && said.body.is_object()).then_some(said.body)
}

fn unreachable(instance: &Instance, why: &str, message: &str) -> Refusal {
    let message = format!("`{}` can't be reached: {message}", instance.name);
    let refusal = Refusal::new(INSTANCE_UNREACHABLE, message).with("why", why);
    match why {
        "dead" | "denied" => refusal.next_call("unity_list_instances", "shows which instances run"),
        _ => refusal.retry_after_ms(RETRY_MS),
    }
}

/// A reply that is no success.
pub(crate) fn refused(said: &Said) -> Refusal {
    let Said { instance, status, body } = said;
    let message = format!("`{}`: {}", instance.name, brief(said));
    let with_reply = |code: Code| {
        Refusal::new(code, message.clone())
            .with("instance", instance.name.clone())
            .with("reply", lean(body))
    };
    match status {
        503 => with_reply(INSTANCE_BUSY)
            .with("busy_reason", aside(body["busyReason"].clone()))
            .retry_after_ms(RETRY_MS),
        429 => with_reply(RATE_LIMITED).retry_after_ms(RETRY_MS),
        401 | 403 => with_reply(codes::FORBIDDEN)
            .no_remedy("the instance does not take the token of its own descriptor; restart it"),
        400 if body["errorCode"] == "INVALID_COMMAND_ARGS" => with_reply(codes::INVALID_ARGUMENTS)
            .with("arg_problems", aside(body["argProblems"].clone()))
            .with("command_schema", aside(body["commandSchema"].clone()))
            .field("arguments"),
        400 if body["error"] == "Command Not Found" => with_reply(codes::NOT_FOUND)
            .next_call("unity_list_commands", "shows the commands that there are"),
        400 if body["error"] == "Parameter Validation Failed" => {
            with_reply(codes::INVALID_ARGUMENTS).field("parameters")
        }
        _ => with_reply(codes::ENGINE_REFUSED)
            .no_remedy("the instance ran the request and reports a failure; its reply says why"),
    }
}

/// The reply without what stands elsewhere in the refusal.
fn lean(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        for told in ["argProblems", "commandSchema"] {
            members.shift_remove(told);
        }
    }
    let size = body.to_string().len();
    if size > MAX_REPLY_BYTES { json!({"omitted_bytes": size}) } else { body }
}

/// Largest reply that a refusal repeats, in bytes.
const MAX_REPLY_BYTES: usize = 16 * 1024;
/// Largest thing that is told beside a result, in bytes.
const MAX_ASIDE_BYTES: usize = 16 * 1024;
/// Longest reason that a refusal repeats, in bytes.
const MAX_REASON_BYTES: usize = 2048;

/// Cuts what an instance says to what an answer may hold, and knows whether anything had to be cut.
#[derive(Default)]
pub(crate) struct Cutter {
    pub(crate) has_cut: bool,
}

impl Cutter {
    /// A value of at most so many bytes, or how large it is and how it begins.
    pub(crate) fn to(&mut self, max_bytes: usize, value: Value) -> Value {
        let (value, is_cut) = bounded(value, max_bytes);
        self.has_cut |= is_cut;
        value
    }

    /// What is told beside a result.
    pub(crate) fn aside(&mut self, value: Value) -> Value {
        self.to(MAX_ASIDE_BYTES, value)
    }

    /// A text, or its beginning: a word of the instance's own, or a reason.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let kept = begin(text, MAX_REASON_BYTES);
        self.has_cut |= kept.len() < text.len();
        kept.to_owned()
    }
}

/// What a refusal tells beside its message.
fn aside(value: Value) -> Value {
    Cutter::default().aside(value)
}

/// A reply's reason, as long as a message may be.
fn brief(said: &Said) -> String {
    let reason = reason(said.status, &said.body);
    begin(&reason, MAX_REASON_BYTES).trim_end_matches('.').to_owned()
}

/// A text's beginning of at most so many bytes.
fn begin(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A value that fits, or how large it is and how it begins.
fn bounded(value: Value, max_bytes: usize) -> (Value, bool) {
    let text = value.to_string();
    if text.len() <= max_bytes {
        return (value, false);
    }
    let shown = match &value {
        Value::String(text) => text.as_str(),
        _ => text.as_str(),
    };
    let begins = begin(shown, max_bytes);
    (json!({"truncated": true, "size_bytes": text.len(), "begins": begins}), true)
}

/// Members of an object.
pub(crate) fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
