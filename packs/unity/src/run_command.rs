//! `unity_run_command`: runs one command of an instance, in one of the protocol's three forms.
//!
//! What a command does is the instance's to know: the protocol says nothing about it. So every call is
//! confirmed, and the preview shows what would be sent and the command's own entry, and sends nothing that
//! runs. Delivered is not done: a result that says that it failed is told as such. A request is sent once.

use didi_plugin_api::{
    pipeline::{Instance, Question, inner_failure},
    prelude::*,
};
use serde_json::Map;

use crate::ask::{CODES, Cutter, Said, ask, look, members, refused};

const DEFAULT_TIMEOUT_SECONDS: u64 = 60;
const DEFAULT_RESULT_BYTES: usize = 64 * 1024;
/// How much longer the host waits than the instance may take, so that its own word on that arrives.
const GRACE_MS: u64 = 2000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or folder; else the only one that runs.
    #[schemars(length(max = 1024))]
    instance: Option<String>,
    /// A command's name, with parameters. Or argv, or `command_line`.
    #[schemars(length(max = 256))]
    command: Option<String>,
    parameters: Option<Map<String, Value>>,
    /// The name and its arguments as tokens.
    #[schemars(length(min = 1, max = 256), inner(length(max = 65536)))]
    argv: Option<Vec<String>>,
    /// The same as one text in the instance's own quoting.
    #[schemars(length(max = 65536))]
    command_line: Option<String>,
    /// Sends it off and answers a job id.
    #[serde(default)]
    job: bool,
    #[serde(default = "default_timeout_seconds")]
    #[schemars(range(min = 1, max = 3600))]
    timeout_seconds: u64,
    #[serde(default = "default_result_bytes")]
    #[schemars(range(min = 1024, max = 1_048_576))]
    max_result_bytes: usize,
}

fn default_timeout_seconds() -> u64 {
    DEFAULT_TIMEOUT_SECONDS
}

fn default_result_bytes() -> usize {
    DEFAULT_RESULT_BYTES
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "unity_run_command",
        "Runs a command in a Unity instance. Give command with parameters, or argv, or command_line. For what \
         takes long set job and ask unity_job_status. Look at succeeded: delivered is not done.",
        Effects::EXECUTES,
        run,
    )
    .confirm(Confirmation::Always)
    .preview(preview)
    .bounded("max_result_bytes of result")
    .refuses(&CODES)
}

/// The form of the request, and the command's name where it can be told without splitting a line.
struct Form<'a> {
    capability: Option<&'static str>,
    name: Option<&'a str>,
    body: Map<String, Value>,
}

fn form(args: &Args) -> Result<Form<'_>, Refusal> {
    let given = [args.command.is_some(), args.argv.is_some(), args.command_line.is_some()];
    let wrong = |message: &str, field: &str| Err(Refusal::invalid(field, message));
    if given.iter().filter(|given| **given).count() != 1 {
        return wrong("exactly one of `command`, `argv` and `command_line` is given", "command");
    }
    if args.parameters.is_some() && args.command.is_none() {
        return wrong("`parameters` go with `command` alone", "parameters");
    }
    if let Some(name) = &args.command {
        if name.trim().is_empty() {
            return wrong("the command's name is empty", "command");
        }
        let mut body = members([("command", name.as_str().into())]);
        if let Some(parameters) = &args.parameters {
            body.insert("parameters".into(), parameters.clone().into());
        }
        return Ok(Form { capability: None, name: Some(name), body });
    }
    if let Some(argv) = &args.argv {
        let name = argv.first().map(String::as_str).filter(|name| !name.trim().is_empty());
        if name.is_none() {
            return wrong("the first of `argv` is the command's name", "argv");
        }
        let body = members([("argv", argv.as_slice().into())]);
        return Ok(Form { capability: Some("exec.argv"), name, body });
    }
    let line = args.command_line.as_deref().unwrap_or_default();
    if line.trim().is_empty() {
        return wrong("`command_line` names no command", "command_line");
    }
    let body = members([("commandLine", line.into())]);
    Ok(Form { capability: Some("exec.commandLine"), name: None, body })
}

/// The instance takes the form, as far as it says.
fn check_capability(instance: &Instance, form: &Form<'_>) -> Result<(), Refusal> {
    let Some(capability) = form.capability else { return Ok(()) };
    let claims = instance.capabilities.iter().flatten().any(|claimed| claimed == capability);
    if claims {
        return Ok(());
    }
    let message =
        format!("`{}` takes no raw command lines; its package is older than that", instance.name);
    Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
        .with("missing_capability", capability)
        .field("command"))
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let form = form(&args)?;
    let said = look(ctx, args.instance.as_deref(), Question::Status)?;
    check_capability(&said.instance, &form)?;
    let entry = match form.name {
        Some(name) => Some(entry(ctx, &said.instance, name)?),
        None => None,
    };
    let subject = format!("{}: {}", said.instance.folder, form.name.unwrap_or("a command line"));
    let before =
        json!({"instance": said.instance.name, "folder": said.instance.folder, "command": entry});
    Ok(Target::read(subject, true, before).after(json!({"sends": form.body, "job": args.job})))
}

/// The command's entry in the list. One that is not listed may run all the same: editors hide those of players.
fn entry(ctx: &Ctx<'_>, instance: &Instance, name: &str) -> Result<Value, Refusal> {
    let query = vec![("detail".into(), "full".into()), ("query".into(), name.to_owned())];
    let said = look(ctx, Some(&instance.folder), Question::Commands { query })?;
    let listed = said.body["commands"].as_array().into_iter().flatten();
    let mut entry = listed.filter(|entry| entry["name"] == name).cloned();
    let mut entry = entry.next().unwrap_or_else(|| json!({"name": name, "listed": false}));
    if let Some(members) = entry.as_object_mut() {
        members.shift_remove("schema");
    }
    Ok(entry)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let form = form(&args)?;
    if form.capability.is_some() {
        let said = look(ctx, args.instance.as_deref(), Question::Status)?;
        check_capability(&said.instance, &form)?;
    }
    let timeout_ms = args.timeout_seconds * 1000;
    let mut body = form.body;
    body.insert("timeout".into(), timeout_ms.into());
    if args.job {
        body.insert("job".into(), true.into());
    }
    let question = Question::Exec { body };
    let said = ask(ctx, args.instance.as_deref(), question, timeout_ms + GRACE_MS)?;
    if said.status != 200 || said.body["success"] != true {
        return Err(refused(&said));
    }
    delivered(said, &args)
}

fn delivered(said: Said, args: &Args) -> ToolResult {
    let Said { instance, mut body, .. } = said;
    let result = body["result"].take();
    let mut cutter = Cutter::default();
    let failure = inner_failure(&result).map(|inner| cutter.text(&inner.message));
    let job_id = args.job.then(|| cutter.aside(result["jobId"].clone()));
    let answer = Answer::of(json!({
        "instance": instance.name,
        "delivered": true,
        "succeeded": job_id.is_none().then_some(failure.is_none()),
        "inner_failure": failure,
        "job_id": job_id,
        "result": cutter.to(args.max_result_bytes, result),
        "parameters": cutter.aside(body["parameters"].take()),
        "message": cutter.aside(body["message"].take()),
        "warnings": cutter.aside(body["warnings"].take()),
        "dialogs_during_execution": cutter.aside(body["dialogsDuringExecution"].take()),
    }))?;
    Ok(answer.truncated(cutter.has_cut))
}

#[cfg(test)]
mod tests;
