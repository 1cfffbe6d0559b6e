//! `batch`: up to 200 commands as one, with references to earlier results, and taken back when one fails.
//!
//! Everything that can be judged before the first operation runs is judged then, for all of them. What a
//! transaction takes back is what an editor's undo history took in: one step an operation, each taken back by its
//! entry of the change journal. A change of files has no such step and is refused in a transaction.
//!
//! Spec: P-69, batches.

use std::{
    collections::BTreeMap,
    sync::{MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use didi_pipeline::{
    command::Command,
    reply::{Reply, Shape},
};
use didi_plugin_api::desc::{Mode, Work};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use self::references::{Lookup, Path};
use super::{
    commands::{BATCH, Book},
    exec::{self, Exec},
    queue::Run,
    run,
};
use crate::{
    catalog::Tool,
    dispatch::{Change, schema},
    source,
};

mod references;

/// Operations of one batch.
pub const MAX_OPERATIONS: usize = 200;

/// How long operations may be started when nothing is said, in milliseconds.
pub const USUAL_BUDGET_MS: u64 = 50_000;

/// How long operations may be started at the most, in milliseconds.
pub const MAX_BUDGET_MS: u64 = 3_600_000;

/// Largest result that is shown whole, in bytes.
const MAX_RESULT_BYTES: usize = 16 * 1024;

/// Largest sum of the results that are shown, in bytes.
const MAX_RESULTS_BYTES: usize = 256 * 1024;

/// Takes back one step of an editor's history.
const UNDO: &str = "editor_undo";

/// Tools that are refused in a batch for what they do: they move the editor's histories or its open scenes from under
/// the other operations, or run code that nobody can foresee. What starts engines, jobs or sessions is known by its
/// declaration.
const NEVER: [&str; 6] =
    [UNDO, "editor_redo", "eval_gdscript", "scene_close", "scene_create", "scene_open"];

/// Whether one of the operations needs an editor's main thread.
pub fn needs_main_thread(arguments: &Map<String, Value>, book: &Book) -> bool {
    let operations = arguments.get("operations").and_then(Value::as_array);
    let needs = |operation: &Value| {
        let name = operation["command"].as_str().unwrap_or_default();
        book.find(name).is_some_and(|command| command.main_thread_required)
    };
    operations.is_some_and(|operations| operations.iter().any(needs))
}

/// The parameters.
#[derive(Deserialize)]
struct Wish {
    operations: Vec<Operation>,
    #[serde(default = "didi_plugin_api::schema::yes")]
    transactional: bool,
    #[serde(default)]
    on_error: OnError,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    result_fields: BTreeMap<String, Vec<String>>,
    #[serde(default = "usual_budget")]
    time_budget_ms: u64,
}

fn usual_budget() -> u64 {
    USUAL_BUDGET_MS
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum OnError {
    #[default]
    Abort,
    Continue,
}

impl OnError {
    fn word(self) -> &'static str {
        match self {
            OnError::Abort => "abort",
            OnError::Continue => "continue",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    #[serde(default)]
    id: Option<String>,
    command: String,
    #[serde(default)]
    params: Map<String, Value>,
}

/// What is wrong with an operation before anything ran.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    index: usize,
    code: &'static str,
    message: String,
}

/// Runs a batch.
pub fn run(
    host: &Exec,
    book: &Book,
    arguments: Map<String, Value>,
    run: &Run,
    shape: Shape,
) -> Reply {
    let wish = match read(arguments) {
        Ok(wish) => wish,
        Err(reply) => return *reply,
    };
    let problems = judge(&wish, book);
    if wish.dry_run {
        return Reply::value(&judged(&wish, &problems));
    }
    if let Some(first) = problems.first() {
        let message = format!("Operation {}: {}", first.index, first.message);
        let all: Vec<Value> = problems.iter().map(Problem::shown).collect();
        return Reply::invalid_parameters(message).with("batchProblems", all);
    }
    let changes = wish.operations.iter().any(|operation| {
        book.tool(&operation.command).is_some_and(|tool| run::changes(tool, &operation.params))
    });
    let _turn = if changes {
        // Nothing else changes the project between the operations.
        match host.dispatcher.lane.enter(&run.cancel) {
            Some(turn) => Some(turn),
            None => return run::cancelled(),
        }
    } else {
        None
    };
    Reply::value(&Batch::new(host, book, &wish, run, shape).perform())
}

fn read(arguments: Map<String, Value>) -> Result<Wish, Box<Reply>> {
    let refuse = |message: String| Box::new(Reply::invalid_parameters(message));
    let wish: Wish = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| refuse(format!("The batch can't be read: {error}")))?;
    let count = wish.operations.len();
    if count == 0 || count > MAX_OPERATIONS {
        return Err(refuse(format!("A batch takes 1 to {MAX_OPERATIONS} operations, not {count}")));
    }
    if wish.time_budget_ms == 0 || wish.time_budget_ms > MAX_BUDGET_MS {
        return Err(refuse(format!("'time_budget_ms' is 1 to {MAX_BUDGET_MS}")));
    }
    Ok(wish)
}

impl Wish {
    fn is_transactional(&self) -> bool {
        self.transactional && self.on_error == OnError::Abort
    }

    /// A name that no other step of an editor's history has.
    fn undo_group(&self) -> Option<String> {
        self.is_transactional().then(|| format!("Batch {}", source::random_hex::<4>()))
    }

    fn ids(&self) -> Lookup<'_> {
        Lookup::of(self.operations.iter().map(|operation| operation.id.as_deref()))
    }
}

impl Problem {
    fn shown(&self) -> Value {
        json!({"index": self.index, "code": self.code, "message": self.message})
    }
}

/// Everything that is wrong before anything ran, in the order of the operations.
fn judge(wish: &Wish, book: &Book) -> Vec<Problem> {
    let ids = wish.ids();
    let mut problems = vec![];
    for (index, operation) in wish.operations.iter().enumerate() {
        let mut found = |code: &'static str, message: String| {
            problems.push(Problem { index, code, message });
        };
        if let Some(id) = &operation.id {
            if !references::is_id(id) {
                found(
                    "invalidId",
                    format!("'{id}' is no id: a letter or _, then letters, digits, _ or -"),
                );
            } else if ids.place(id) != Some(index) {
                found("duplicateId", format!("the id '{id}' is taken by an operation before it"));
            }
        }
        if let Some((code, message)) = unfit(operation, wish, book) {
            found(code, message);
        }
        for message in references::faults(&operation.params, index, &ids) {
            found("invalidReference", message);
        }
    }
    problems.extend(judge_fields(wish, &ids));
    problems.sort_by_key(|problem| problem.index);
    problems
}

/// Why an operation can't be part of this batch.
fn unfit(operation: &Operation, wish: &Wish, book: &Book) -> Option<(&'static str, String)> {
    let name = &operation.command;
    let Some(command) = book.find(name) else {
        let name = crate::text::clip(name);
        return Some(("commandNotFound", format!("there is no command '{name}'")));
    };
    let tool = book.tool(name);
    if name == BATCH || tool.is_some_and(|tool| !is_batchable(tool)) {
        return Some(("not_batchable", format!("'{name}' can't be part of a batch")));
    }
    if let Err(reply) = judge_params(command, &operation.params) {
        let details = reply.outcome.err().map(|fault| fault.details).unwrap_or_default();
        return Some(("invalidParameters", details));
    }
    let tool = tool.filter(|tool| run::changes(tool, &operation.params))?;
    if wish.is_transactional() && !is_undoable(tool) {
        let message = format!(
            "'{name}' changes files, which no undo history takes back; set 'transactional' to false"
        );
        return Some(("not_batchable_transactional", message));
    }
    None
}

/// Judges parameters as they are judged when the operation runs, but for values that are not known yet.
fn judge_params(command: &Command, params: &Map<String, Value>) -> Result<(), Box<Reply>> {
    exec::missing(command, params)?;
    let unfitting = |message: String| Box::new(Reply::invalid_parameters(message));
    let (mut params, mut unknown) = (params.clone(), vec![]);
    for (key, value) in &mut params {
        if references::refers(value) {
            // Stands in, as a value of no type that text could be read as.
            *value = false.into();
            unknown.extend(command.parameter(key).map(|parameter| parameter.name.as_str()));
        } else {
            let nothing = Lookup::of(std::iter::empty());
            references::resolve(value, &nothing, &[]).map_err(unfitting)?;
        }
    }
    let mut arguments = exec::named(command, params)?;
    arguments.retain(|name, _| !unknown.contains(&name.as_str()));
    match schema::unfit(&command.schema, &arguments) {
        Some(why) => Err(unfitting(format!("{} can't use {why}", command.name))),
        None => Ok(()),
    }
}

/// What starts engines, jobs or games, or moves what the others work on, is no part of a batch.
fn is_batchable(tool: &Tool) -> bool {
    let desc = &tool.desc;
    let runs = desc.job || desc.effects.open_world || desc.effects.changes_server;
    let in_game_alone = !desc.sessions.is_empty()
        && !desc.sessions.contains(&didi_plugin_api::desc::SessionKind::Editor);
    !runs && !in_game_alone && !NEVER.contains(&desc.name.as_str())
}

/// A change of the open scene, made in the editor alone, which its history takes in.
fn is_undoable(tool: &Tool) -> bool {
    tool.desc.modes == [Mode::Live] && tool.desc.follow_ups.contains(&Work::Save)
}

fn judge_fields(wish: &Wish, ids: &Lookup<'_>) -> Vec<Problem> {
    let mut problems = vec![];
    for (key, paths) in &wish.result_fields {
        let place = ids.place(key);
        let bad = paths.iter().find(|path| Path::read(path).is_none());
        let message = match (place, bad) {
            (None, _) => format!("'result_fields' names '{key}', which is no operation"),
            (Some(_), Some(path)) => format!("'{path}' in 'result_fields' is no path"),
            (Some(_), None) => continue,
        };
        problems.push(Problem { index: place.unwrap_or(0), code: "invalidResultFields", message });
    }
    problems
}

/// The answer to a dry run.
fn judged(wish: &Wish, problems: &[Problem]) -> Value {
    let result = |(index, operation): (usize, &Operation)| {
        let own: Vec<&Problem> = problems.iter().filter(|one| one.index == index).collect();
        let mut shown = head(operation);
        shown.insert("success".into(), own.is_empty().into());
        if let Some(first) = own.first() {
            shown.insert("error".into(), first.message.clone().into());
            shown.insert("code".into(), first.code.into());
        }
        Value::Object(shown)
    };
    json!({
        "dryRun": true,
        "valid": problems.is_empty(),
        "results": wish.operations.iter().enumerate().map(result).collect::<Vec<_>>(),
        "transactional": wish.is_transactional(),
        "onError": wish.on_error.word(),
        "problems": problems.iter().map(Problem::shown).collect::<Vec<_>>(),
    })
}

fn head(operation: &Operation) -> Map<String, Value> {
    let mut shown = Map::new();
    if let Some(id) = &operation.id {
        shown.insert("id".into(), id.clone().into());
    }
    shown.insert("command".into(), operation.command.clone().into());
    shown
}

/// A batch while it runs.
struct Batch<'a> {
    host: &'a Exec,
    book: &'a Book,
    wish: &'a Wish,
    ids: Lookup<'a>,
    run: &'a Run,
    shape: Shape,
    until: Instant,
    /// The whole result of each operation that succeeded.
    results: Vec<Option<Value>>,
    shown: Vec<Value>,
    shown_bytes: usize,
    applied: usize,
    /// Entries of the journal in their order, and the step of undo that they share.
    shared: run::Shared,
}

impl<'a> Batch<'a> {
    fn new(host: &'a Exec, book: &'a Book, wish: &'a Wish, run: &'a Run, shape: Shape) -> Self {
        Batch {
            host,
            book,
            wish,
            ids: wish.ids(),
            run,
            shape,
            until: source::now() + Duration::from_millis(wish.time_budget_ms),
            results: vec![],
            shown: vec![],
            shown_bytes: 0,
            applied: 0,
            shared: run::Shared { undo_group: wish.undo_group(), ..run::Shared::default() },
        }
    }

    fn perform(mut self) -> Value {
        let mut ended: Option<String> = None;
        let mut failed: Option<String> = None;
        let count = self.wish.operations.len();
        for (index, operation) in self.wish.operations.iter().enumerate() {
            ended = ended.or_else(|| self.end());
            if ended.is_some() || (failed.is_some() && self.wish.on_error == OnError::Abort) {
                self.skip(operation);
                continue;
            }
            let note = format!("op {}/{count}: {}", index + 1, operation.command);
            self.run.report(&note, index as u64, count as u64);
            if let Err(error) = self.one(index, operation) {
                failed.get_or_insert(format!("operation {index} failed: {error}"));
            }
        }
        let error = ended.or(failed);
        let has_changed = !self.changes().is_empty();
        let takes_back = error.is_some() && self.wish.is_transactional() && has_changed;
        let reverted = takes_back && self.revert();
        self.told(error, reverted)
    }

    /// Why no more operation starts.
    fn end(&self) -> Option<String> {
        if self.run.cancel.is_raised() {
            return Some("batch canceled".into());
        }
        (source::now() >= self.until).then(|| "batch time budget exceeded".into())
    }

    fn skip(&mut self, operation: &Operation) {
        let mut shown = head(operation);
        shown.insert("success".into(), false.into());
        shown.insert("skipped".into(), true.into());
        self.results.push(None);
        self.shown.push(Value::Object(shown));
    }

    /// Runs one operation; its error, if it failed.
    fn one(&mut self, index: usize, operation: &Operation) -> Result<(), String> {
        let (began, began_at) = (source::now(), source::iso8601(source::now_ms()));
        let before = self.changes().len();
        let reply = self.call(operation);
        let mut shown = head(operation);
        shown.insert("success".into(), reply.is_done().into());
        let outcome = match reply.outcome {
            Ok(result) => {
                self.show_result(index, &result, &mut shown);
                Ok(())
            }
            Err(fault) => {
                self.results.push(None);
                shown.insert("error".into(), fault.error.into());
                shown.insert("errorDetails".into(), fault.details.clone().into());
                Err(fault.details)
            }
        };
        shown.extend(*reply.more);
        let revertible = {
            let changes = self.changes();
            let own = changes.get(before..).filter(|own| !own.is_empty());
            let can_be = |change: &Change| change.entry.is_some() && change.undo_steps.len() == 1;
            own.map(|own| own.iter().all(can_be))
        };
        if let Some(revertible) = revertible {
            self.applied += 1;
            shown.insert("revertible".into(), revertible.into());
        }
        if self.shape.verbose {
            let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            shown.insert("executedAt".into(), began_at.into());
            shown.insert("executionTimeMs".into(), took.into());
            for name in ["id", "result", "error", "errorDetails"] {
                shown.entry(name).or_insert(Value::Null);
            }
        }
        self.shown.push(Value::Object(shown));
        outcome
    }

    fn call(&self, operation: &Operation) -> Reply {
        let mut params = operation.params.clone();
        for value in params.values_mut() {
            if let Err(message) = references::resolve(value, &self.ids, &self.results) {
                return Reply::invalid_parameters(message);
            }
        }
        let name = operation.command.as_str();
        let Some(command) = self.book.find(name) else {
            return Reply::failed(400, "Command Not Found", name);
        };
        let arguments = match exec::named(command, params) {
            Ok(arguments) => arguments,
            Err(reply) => return *reply,
        };
        let part = self.run.part(name);
        match self.book.tool(name) {
            Some(tool) => {
                let host = &self.host.dispatcher;
                run::run_in_lane(host, tool, arguments, &part, Some(&self.shared))
            }
            // Of the host's own commands this is the one that can be part of a batch.
            None => self.host.editor_status(),
        }
    }

    /// Keeps a result for the operations behind, and shows what was asked for of it.
    fn show_result(&mut self, index: usize, text: &RawValue, shown: &mut Map<String, Value>) {
        // It was written as JSON, and reads as such.
        let whole: Value = serde_json::from_str(text.get()).unwrap_or_default();
        let id = self.wish.operations[index].id.as_deref();
        let fields = id.and_then(|id| self.wish.result_fields.get(id));
        let fields = fields.or_else(|| self.wish.result_fields.get(&index.to_string()));
        let kept = fields.map(|paths| {
            let (kept, lost) = references::keep(&whole, paths);
            if !lost.is_empty() {
                shown.insert("invalidResultFields".into(), lost.into());
            }
            kept
        });
        let bytes = kept.as_ref().map_or(text.get().len(), |kept| kept.to_string().len());
        if bytes > MAX_RESULT_BYTES || self.shown_bytes + bytes > MAX_RESULTS_BYTES {
            shown.insert("result".into(), json!({"truncated": true, "bytes": bytes}));
            shown.insert("resultTruncated".into(), true.into());
        } else {
            self.shown_bytes += bytes;
            shown.insert("result".into(), kept.unwrap_or_else(|| whole.clone()));
        }
        self.results.push(Some(whole));
    }

    /// What was changed so far.
    fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        self.shared.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what was applied, from the newest on; whether all of it is.
    fn revert(&self) -> bool {
        let Some(undo) = self.book.tool(UNDO) else { return false };
        // A batch that was cancelled is taken back all the same.
        let part = Run::uncancelled(UNDO);
        let changes = self.changes().clone();
        // Operations that came soon after one another are one step.
        let mut taken_back = vec![];
        for Change { entry, undo_steps } in changes.iter().rev() {
            // Which step of which history took the change in.
            let step = undo_steps.first().map(|step| (&step["history_id"], &step["version"]));
            if taken_back.contains(&step) {
                continue;
            }
            let Some(entry) = entry else {
                tracing::warn!("a change of a batch has no entry in the journal, so it stays");
                return false;
            };
            let arguments =
                json!({"journal_entry": entry}).as_object().cloned().unwrap_or_default();
            let reply = run::run_in_lane(&self.host.dispatcher, undo, arguments, &part, None);
            if let Err(fault) = &reply.outcome {
                tracing::warn!(%entry, "a change of a batch could not be taken back: {}", fault.details);
                return false;
            }
            taken_back.push(step);
        }
        true
    }

    fn told(self, error: Option<String>, reverted: bool) -> Value {
        let entries: Vec<String> =
            self.changes().iter().filter_map(|one| one.entry.clone()).collect();
        let mut told = json!({
            "success": error.is_none(),
            "results": self.shown,
            "applied": self.applied,
            "reverted": reverted,
            "transactional": self.wish.is_transactional(),
            "onError": self.wish.on_error.word(),
        });
        if let Some(error) = error {
            told["error"] = error.into();
        }
        if !entries.is_empty() {
            told["journalEntries"] = entries.into();
            if let Some(group) = self.shared.undo_group {
                told["undoGroup"] = group.into();
            }
        }
        told
    }
}

#[cfg(test)]
mod tests;
