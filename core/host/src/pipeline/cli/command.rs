//! `didi command`: one command, or the list of them.

use std::time::Instant;

use didi_pipeline::bind;
use didi_plugin_api::pipeline::{InnerFailure, inner_failure};
use serde_json::{Value, json};

use super::{
    link::{Link, within},
    listing,
    outcome::{self, Trouble},
    output::{Printer, Report},
};
use crate::{
    cancel::Cancel,
    cli::{Options, client::CommandOptions},
    pipeline::client::{Answer, older},
};

const VERB: &str = "command";

/// Runs or lists.
pub fn run<'w>(
    options: &Options,
    wish: &CommandOptions,
    mut printer: Printer<'w>,
    cancel: &Cancel,
) -> (Printer<'w>, Report) {
    let report = match checked(wish) {
        Err(trouble) => Err(trouble),
        Ok(None) => listing::run(options, wish, cancel),
        Ok(Some((name, arguments))) => {
            let mut call = Call { wish, name, arguments, cancel, warnings: vec![] };
            call.run(options, &mut printer)
        }
    };
    (printer, report.unwrap_or_else(|trouble| Report::failed(VERB, trouble)))
}

/// What can be said without asking anybody.
fn checked(wish: &CommandOptions) -> Result<Option<(&str, &[String])>, Trouble> {
    let Some((name, arguments)) = wish.words.split_first() else {
        if wish.detach || wish.result_only {
            let hint = "name a command, or leave the option out to list them";
            return Err(Trouble::usage("`--detach` and `--result-only` go with a command", hint));
        }
        return Ok(None);
    };
    if name.starts_with('-') {
        let hint =
            "`didi command --help` lists the options; those of the command stand after its name";
        return Err(Trouble::usage(format!("unexpected argument '{name}'"), hint));
    }
    if name.trim().is_empty() {
        return Err(Trouble::usage("the command's name is empty", "`didi command` lists them"));
    }
    if let Some(option) = wish.listing.first_given() {
        let message = format!("`{option}` is for the list of commands and goes with no name");
        return Err(Trouble::usage(message, "options of the command stand after its name"));
    }
    let problems = bind::check_form(arguments);
    if problems.is_empty() {
        Ok(Some((name, arguments)))
    } else {
        Err(Trouble::arguments(name, &problems))
    }
}

/// One call of a command.
struct Call<'c> {
    wish: &'c CommandOptions,
    name: &'c str,
    arguments: &'c [String],
    cancel: &'c Cancel,
    warnings: Vec<String>,
}

impl Call<'_> {
    fn run(&mut self, options: &Options, printer: &mut Printer<'_>) -> Result<Report, Trouble> {
        let link = if self.wish.detach {
            Link::to_instance(options, &self.wish.target, self.cancel, nobody_keeps_jobs)?
        } else {
            Link::open(options, &self.wish.target, self.cancel)?
        };
        let deadline = within(self.wish.limit());
        let (answer, echo) = self.send(&link, deadline, printer)?;
        let body = outcome::body_of(&answer)?;
        self.warnings.extend(texts(&body["warnings"]));
        if answer.status != 200 || body["success"] != true {
            let trouble = outcome::refused(&answer, &body, self.name);
            let warnings = std::mem::take(&mut self.warnings);
            let notes = link.info().into_iter().collect();
            return Ok(Report { warnings, notes, ..Report::failed(VERB, trouble) });
        }
        let notes = link.info().into_iter().collect();
        Ok(Report { notes, ..self.delivered(&link, &body, echo) })
    }

    /// Sends the arguments in a form that the instance takes.
    fn send(
        &mut self,
        link: &Link,
        deadline: Instant,
        printer: &mut Printer<'_>,
    ) -> Result<(Answer, Option<Value>), Trouble> {
        if link.takes_argv() {
            let argv: Vec<&str> =
                [self.name].into_iter().chain(self.arguments.iter().map(String::as_str)).collect();
            let answer = self.exec(link, json!({"argv": argv}), deadline, printer)?;
            if !is_unknown_form(&answer) {
                return Ok((answer, None));
            }
            // The claim was wrong: nothing was resolved, so nothing ran.
        }
        let body = self.structured(link, deadline)?;
        let echo = body.get("parameters").cloned();
        Ok((self.exec(link, body, deadline, printer)?, echo))
    }

    fn exec(
        &self,
        link: &Link,
        mut body: Value,
        deadline: Instant,
        printer: &mut Printer<'_>,
    ) -> Result<Answer, Trouble> {
        if self.wish.detach {
            body["job"] = true.into();
        }
        let wants = printer.wants_progress();
        let mut watch = |progress: &Value| printer.progress(progress);
        let watch: Option<&mut dyn FnMut(&Value)> = if wants { Some(&mut watch) } else { None };
        Ok(link.exec(&body, deadline, self.cancel, watch)?)
    }

    /// The body for an instance that takes no raw command lines.
    fn structured(&mut self, link: &Link, deadline: Instant) -> Result<Value, Trouble> {
        self.warnings.push(
            "the instance takes no raw command lines; the arguments were bound here. Update its package".into(),
        );
        if self.arguments.is_empty() {
            return Ok(json!({"command": self.name}));
        }
        let answer = link.get(&older::listing_of(self.name), deadline)?;
        let listing = outcome::body_of(&answer)?;
        if answer.status != 200 {
            return Err(outcome::refused(&answer, &listing, self.name));
        }
        let entry = older::entry(&listing, self.name).ok_or_else(|| {
            Trouble::new("COMMAND_FAILED", 6, format!("Command Not Found: {}", self.name))
                .hint("`didi command` lists them")
        })?;
        older::structured(self.name, entry, self.arguments).map_err(|(told, problems)| {
            let usage = format!("usage: {}", outcome::usage(self.name, entry));
            Trouble { message: told, ..Trouble::arguments(self.name, &problems) }.hint(usage)
        })
    }

    fn delivered(&mut self, link: &Link, body: &Value, echo: Option<Value>) -> Report {
        let result = body["result"].clone();
        let mut data = json!({
            "command": self.name,
            "parameters": echo.unwrap_or_else(|| body["parameters"].clone()),
            "target": link.target(),
            "result": result,
        });
        if let Some(dialogs) = body.get("dialogsDuringExecution") {
            data["dialogsDuringExecution"] = dialogs.clone();
            let count = dialogs.as_array().map_or(0, Vec::len);
            self.warnings.push(format!("{count} dialog(s) opened or closed while it ran"));
        }
        let view = match (self.wish.detach, &result["jobId"]) {
            (true, Value::String(id)) => Value::String(id.clone()),
            _ => result.clone(),
        };
        let mut report = Report::of(VERB, data, view);
        if let Some(inner) = inner_failure(&result) {
            tell_inner(&mut report, &mut self.warnings, inner, self.wish.strict);
        }
        report.warnings = std::mem::take(&mut self.warnings);
        report
    }
}

fn nobody_keeps_jobs() -> Trouble {
    Trouble::new("PRECONDITION_FAILED", 4, "no server runs that could keep a job")
        .hint("start `didi pipeline serve --project DIR`, or leave --detach out")
}

/// A delivered result that says that it failed: told always, and with `--strict` a failure.
pub fn tell_inner(
    report: &mut Report,
    warnings: &mut Vec<String>,
    inner: InnerFailure,
    strict: bool,
) {
    let message =
        format!("the command was delivered, and its result says that it failed: {}", inner.message);
    if !strict {
        warnings.push(message);
    } else if inner.tests_failed {
        report.troubles.push(Trouble::new("TESTS_FAILED", 8, message));
    } else {
        report.troubles.push(Trouble::new("COMMAND_FAILED", 6, message));
    }
}

/// An answer of a server that does not know the raw form, whatever it claimed.
fn is_unknown_form(answer: &Answer) -> bool {
    let Ok(body) = answer.json() else { return false };
    answer.status == 400
        && body.get("errorCode").is_none_or(Value::is_null)
        && matches!(body["error"].as_str(), Some("Invalid JSON" | "Invalid Request"))
}

/// The texts of a list.
pub fn texts(list: &Value) -> Vec<String> {
    let told = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    list.as_array().into_iter().flatten().map(told).collect()
}
