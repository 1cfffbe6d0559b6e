//! One request to run a command, from its bytes to its reply, in the protocol's order of checks.
//!
//! How the bytes came is not known here: a server's listener and a client that found no server call the same.
//! A request is judged at once by [`Exec::judge`]; what it asks for then runs in the queue. In between it may have to wait
//! until an editor is attached that it would run in, unless [`Exec::known_standing`] tells how that stands.
//!
//! Spec: P-65, running a command.

use std::{
    borrow::Cow,
    ffi::OsStr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use didi_pipeline::{
    bind,
    command::{Command, Kind},
    reply::{Reply, Shape, Stamp},
    request::{self, Arguments, Request},
};
use serde_json::{Map, Value, json};

use super::{
    batch,
    commands::{BATCH, Book, EDITOR_STATUS, Shelf},
    gates::{Dialog, Gates, Standing},
    queue::{GivenUp, Queue, Refused, Run, stopping},
    run,
};
use crate::{cancel::Cancel, dispatch::Dispatcher, source};

/// How long the reply of a command that is done waits for its editor to tell of its dialogs.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// The command whose last run `/api/test-status` tells of.
const RUN_TESTS: &str = "project_run_tests";

/// A reply as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// A JSON object on one line.
    pub body: String,
}

/// How a request begins.
pub enum Begun {
    /// With its reply.
    Done(Answer),
    /// It waits for its turn, or runs.
    Waiting(Waiting),
}

/// A request that is in order.
pub struct Judged {
    command: String,
    shape: Shape,
    timeout: Duration,
    job: bool,
    bound: Bound,
    book: Arc<Book>,
    /// Whether it runs in the main thread of an editor, where one is attached.
    needs_main_thread: bool,
    asked: Instant,
}

/// A request whose command waits or runs.
pub struct Waiting {
    /// How long the reply may still take.
    pub limit: Duration,
    /// How long it might take in all.
    timeout: Duration,
    run: Arc<Run>,
    shape: Shape,
}

/// Runs requests.
pub struct Exec {
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) gates: Arc<Gates>,
    pub(super) queue: Queue,
    shelf: Shelf,
    tests: Arc<Mutex<TestRun>>,
}

/// The newest run of the project's tests.
#[derive(Default)]
struct TestRun {
    started_ms: Option<u64>,
    ended: Option<(u64, Reply)>,
}

/// A command with what it is called with.
struct Bound {
    arguments: Map<String, Value>,
    /// What is echoed; absent for named parameters.
    echo: Option<Value>,
}

impl Exec {
    /// Runs requests over a dispatcher.
    pub fn new(dispatcher: Arc<Dispatcher>, gates: Arc<Gates>) -> Arc<Self> {
        Arc::new(Exec {
            dispatcher,
            gates,
            queue: Queue::default(),
            shelf: Shelf::default(),
            tests: Arc::default(),
        })
    }

    /// How the editor stands, as it was seen last.
    pub fn standing(&self) -> Standing {
        self.gates.standing()
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        self.dispatcher.shared.files.root().folder()
    }

    /// The commands as they now are.
    pub fn book(&self) -> Arc<Book> {
        self.shelf.of(&self.dispatcher.catalog())
    }

    /// Judges a request and starts it; may wait for an editor. For a client that is its own server.
    pub fn begin(
        self: &Arc<Self>,
        body: &[u8],
        done: impl FnOnce(Answer) + Send + 'static,
    ) -> Begun {
        match self.judge(body) {
            Ok(judged) => {
                let standing = self.standing_for(&judged);
                self.start(judged, &standing, done)
            }
            Err(answer) => Begun::Done(answer),
        }
    }

    /// Judges a request by itself, without waiting for anything.
    ///
    /// # Errors
    /// The answer to one that is not in order.
    pub fn judge(&self, body: &[u8]) -> Result<Judged, Answer> {
        let asked = source::now();
        let request = request::read(body)
            .map_err(|unreadable| Answer::of(&unreadable.reply, unreadable.shape, None))?;
        let Request { command, arguments, shape, timeout, job } = request;
        let book = self.book();
        let bound = match book.find(&command) {
            Some(known) => bind_arguments(known, arguments).map(|bound| {
                let needs = known.main_thread_required
                    || (command == BATCH && batch::needs_main_thread(&bound.arguments, &book));
                (bound, needs)
            }),
            None => Err(Box::new(not_found(&command))),
        };
        match bound {
            Ok((bound, needs_main_thread)) => {
                Ok(Judged { command, shape, timeout, job, bound, book, needs_main_thread, asked })
            }
            Err(reply) => Err(at_once(&reply, shape, &command)),
        }
    }

    /// How the editor stands that a request would run in; `None` where one may have to be attached first.
    pub fn known_standing(&self, judged: &Judged) -> Option<Standing> {
        if judged.needs_main_thread {
            self.gates.known_for_command(judged.asked)
        } else {
            Some(Standing::Ready)
        }
    }

    /// The same; waits until an editor is attached, where one is to be.
    pub fn standing_for(&self, judged: &Judged) -> Standing {
        let known = self.known_standing(judged);
        known.unwrap_or_else(|| self.gates.standing_for_command(judged.asked))
    }

    /// Puts a request into the queue, unless it is held back by how its editor stands; `done` gets its answer.
    pub fn start(
        self: &Arc<Self>,
        judged: Judged,
        standing: &Standing,
        done: impl FnOnce(Answer) + Send + 'static,
    ) -> Begun {
        if let Some(busy) = held_back(standing).or_else(|| too_late(&judged)) {
            return Begun::Done(at_once(&busy, judged.shape, &judged.command));
        }
        if judged.job {
            return self.start_job(judged);
        }
        if judged.command == EDITOR_STATUS
            && let Some(status) = self.status_of_blocked()
        {
            let reply = with_echo(status, judged.bound.echo);
            return Begun::Done(at_once(&reply, judged.shape, &judged.command));
        }
        self.start_run(judged, done)
    }

    /// What is said when the reply takes too long; `None` when it came meanwhile.
    pub fn late(&self, waiting: &Waiting) -> Option<Answer> {
        let reply = match self.queue.give_up(&waiting.run) {
            GivenUp::Waiting => waited_out(waiting.timeout),
            GivenUp::Running => {
                let limit = waiting.timeout.as_millis();
                let message = format!(
                    "The command did not end within {limit} ms and was asked to stop; whether it took effect is not known"
                );
                Reply::failed(400, "Command Execution Failed", message).with("timedOut", true)
            }
            GivenUp::Ended => return None,
        };
        Some(at_once(&reply, waiting.shape, &waiting.run.command))
    }

    fn start_job(self: &Arc<Self>, judged: Judged) -> Begun {
        let (exec, command, shape) = (Arc::clone(self), judged.command.clone(), judged.shape);
        let reply = match self.queue.submit_job(&command, move |run| exec.perform(judged, run)) {
            Ok(id) => Reply::value(&json!({"jobId": id, "state": "queued"})),
            Err(refused) => job_refused(&refused),
        };
        Begun::Done(at_once(&reply, shape, &command))
    }

    fn start_run(
        self: &Arc<Self>,
        judged: Judged,
        done: impl FnOnce(Answer) + Send + 'static,
    ) -> Begun {
        let (shape, limit, timeout) = (judged.shape, judged.left(), judged.timeout);
        let command = judged.command.clone();
        let watch = shape.verbose.then(|| Arc::new(Mutex::new(stamp_of(&command))));
        let (exec, timed) = (Arc::clone(self), watch.clone());
        let work = move |run: &Run| {
            let Some(stamp) = timed else { return exec.perform(judged, run) };
            let (began, began_at) = (source::now(), stamp_of(&run.command));
            let reply = exec.perform(judged, run);
            let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            *stamp.lock().unwrap_or_else(PoisonError::into_inner) =
                Stamp { execution_time_ms: took, ..began_at };
            reply
        };
        let deliver = Box::new(move |reply: Reply| {
            let stamp = watch.map(|it| it.lock().unwrap_or_else(PoisonError::into_inner).clone());
            done(Answer::of(&reply, shape, stamp.as_ref()));
        });
        match self.queue.submit(&command, work, deliver) {
            Ok(run) => Begun::Waiting(Waiting { limit, timeout, run, shape }),
            Err(refused) => Begun::Done(at_once(&refused_reply(&refused), shape, &command)),
        }
    }

    /// Puts one of the host's own questions into the queue, where it waits behind the commands.
    pub(super) fn ask(
        self: &Arc<Self>,
        name: &'static str,
        what: fn(&Exec) -> Reply,
        done: impl FnOnce(Reply) + Send + 'static,
    ) -> Result<Arc<Run>, Reply> {
        let exec = Arc::clone(self);
        self.queue
            .submit(name, move |_| what(&exec), Box::new(done))
            .map_err(|refused| refused_reply(&refused))
    }

    /// Takes a question back; `None` when it was answered meanwhile.
    pub(super) fn give_up(&self, run: &Arc<Run>) -> Option<Reply> {
        match self.queue.give_up(run) {
            GivenUp::Ended => None,
            _ => Some(Reply::busy("queued", "Commands run before this; ask again")),
        }
    }

    /// Runs a command whose turn has come.
    fn perform(&self, judged: Judged, run: &Run) -> Reply {
        let Judged { bound: Bound { arguments, echo }, book, shape, needs_main_thread, .. } =
            judged;
        let began_ms = source::now_ms();
        let reply = match run.command.as_str() {
            BATCH => batch::run(self, &book, arguments, run, shape),
            EDITOR_STATUS => self.editor_status(),
            name => match book.tool(name) {
                Some(tool) => {
                    self.noted(run, |exec| run::run(&exec.dispatcher, tool, arguments, run))
                }
                None => not_found(name),
            },
        };
        let reply = if needs_main_thread { self.with_dialogs(reply, began_ms) } else { reply };
        with_echo(reply, echo)
    }

    /// Adds the dialogs of the editor that were open meanwhile.
    fn with_dialogs(&self, reply: Reply, began_ms: u64) -> Reply {
        if !reply.is_done() || !self.gates.knows_editor() {
            return reply;
        }
        // One may have come and gone since the last look.
        self.gates.look(&Cancel::after(LAST_LOOK));
        let dialogs = self.gates.dialogs_since(began_ms);
        if dialogs.is_empty() {
            return reply;
        }
        let dialogs: Vec<Value> = dialogs.iter().map(Dialog::shown).collect();
        reply.with("dialogsDuringExecution", dialogs)
    }

    /// Keeps what became of a run of the project's tests.
    fn noted(&self, run: &Run, work: impl FnOnce(&Self) -> Reply) -> Reply {
        if run.command != RUN_TESTS {
            return work(self);
        }
        let note = || self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        *note() = TestRun { started_ms: Some(source::now_ms()), ended: None };
        let reply = work(self);
        note().ended = Some((source::now_ms(), reply.clone()));
        reply
    }

    /// How an editor stands that a dialog blocks; `None` while none does. It is told past the queue, as nothing of it can
    /// change while the thread that would change it is blocked.
    pub(super) fn status_of_blocked(&self) -> Option<Reply> {
        let is_blocked = !self.gates.standing().dialogs().is_empty();
        is_blocked.then(|| self.editor_status())
    }

    /// How the editor stands.
    pub(super) fn editor_status(&self) -> Reply {
        let standing = self.gates.standing();
        let facts = self.gates.facts();
        let mut status = json!({
            "status": standing.word(),
            "projectPath": self.project().display().to_string(),
            "projectName": project_name(self.project()),
            "editorConnected": facts.is_some(),
            "editor": facts,
        });
        if let Some(dialog) = standing.dialogs().first() {
            status["dialog"] = dialog.shown();
        }
        Reply::value(&status)
    }

    /// What became of the newest run of the project's tests.
    pub(super) fn test_status(&self) -> Reply {
        let tests = self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |ms: Option<u64>| ms.map(source::iso8601);
        let mut told = json!({
            "status": match (tests.started_ms, &tests.ended) {
                (None, _) => "none",
                (Some(_), None) => "running",
                (Some(_), Some(_)) => "completed",
            },
            "command": RUN_TESTS,
            "startedAt": at(tests.started_ms),
            "completedAt": at(tests.ended.as_ref().map(|(ms, _)| *ms)),
            "success": tests.ended.as_ref().map(|(_, reply)| reply.is_done()),
            "result": null,
        });
        match tests.ended.as_ref().map(|(_, reply)| (&reply.outcome, &reply.more)) {
            Some((Ok(result), _)) => {
                told["result"] = serde_json::from_str(result.get()).unwrap_or_default();
            }
            Some((Err(fault), more)) => {
                told["error"] = fault.error.clone().into();
                told["errorDetails"] = fault.details.clone().into();
                told["refusal"] = more.get("refusal").cloned().unwrap_or_default();
            }
            None => {}
        }
        Reply::value(&told)
    }
}

/// The folder's name.
pub fn project_name(folder: &Path) -> Cow<'_, str> {
    folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default()
}

impl Judged {
    /// How long the reply may still take.
    fn left(&self) -> Duration {
        self.timeout.saturating_sub(source::now().saturating_duration_since(self.asked))
    }
}

impl Answer {
    fn of(reply: &Reply, shape: Shape, stamp: Option<&Stamp>) -> Self {
        Answer { status: reply.status, body: reply.body(shape, stamp) }
    }
}

/// The answer to a request that does not run, or not to its end.
fn at_once(reply: &Reply, shape: Shape, command: &str) -> Answer {
    // Nobody sees it otherwise.
    let stamp = shape.verbose.then(|| stamp_of(command));
    Answer::of(reply, shape, stamp.as_ref())
}

/// What is said when an answer is lost.
pub(super) fn lost() -> Reply {
    Reply::failed(400, "Internal Server Error", "The command ended without an answer")
}

fn stamp_of(command: &str) -> Stamp {
    let executed_at = source::iso8601(source::now_ms());
    Stamp { command: command.to_owned(), executed_at, ..Stamp::default() }
}

/// What is said to commands that need a main thread which does not serve them.
fn held_back(standing: &Standing) -> Option<Reply> {
    let details = match standing {
        Standing::Ready => return None,
        Standing::Settling => {
            "The editor is still settling after its start (it imports or compiles), so commands that need its main thread are not served yet. Retry shortly, or poll /api/status until it says 'ready'."
        }
        Standing::Blocked(_) => {
            "A dialog is open in the editor and blocks its main thread until somebody answers it."
        }
    };
    let reply = Reply::busy(standing.word(), details);
    let dialogs: Vec<Value> = standing.dialogs().iter().map(Dialog::shown).collect();
    Some(if dialogs.is_empty() { reply } else { reply.with("dialogs", dialogs) })
}

/// What is said to a command whose editor was waited for until its reply was due.
fn too_late(judged: &Judged) -> Option<Reply> {
    judged.left().is_zero().then(|| waited_out(judged.timeout))
}

/// What is said to a command whose turn did not come in time.
fn waited_out(limit: Duration) -> Reply {
    let message =
        format!("The command waited {} ms for its turn; it was not started", limit.as_millis());
    Reply::busy("queued", message)
}

fn not_found(name: &str) -> Reply {
    let name = crate::text::clip(name);
    let message = format!("There is no command '{name}'; /api/commands lists them");
    Reply::failed(400, "Command Not Found", message)
}

fn refused_reply(refused: &Refused) -> Reply {
    match refused {
        Refused::Full => Reply::busy("queue_full", "Too many commands wait; retry shortly"),
        Refused::Closed => stopping(),
    }
}

fn job_refused(refused: &Refused) -> Reply {
    match refused {
        Refused::Full => {
            let most = super::queue::MAX_OPEN_JOBS;
            let message = format!("{most} jobs are queued or running, which is all that are taken");
            Reply::failed(429, "Too Many Queued Jobs", message)
        }
        Refused::Closed => refused_reply(refused),
    }
}

/// The echo stands in successes of raw forms alone.
fn with_echo(reply: Reply, echo: Option<Value>) -> Reply {
    match echo {
        Some(echo) if reply.is_done() => reply.with("parameters", echo),
        _ => reply,
    }
}

fn bind_arguments(command: &Command, arguments: Arguments) -> Result<Bound, Box<Reply>> {
    let bound = match arguments {
        Arguments::Named(given) => {
            missing(command, &given)?;
            Bound { arguments: named(command, given)?, echo: None }
        }
        Arguments::Tokens(tokens) => {
            let bound = bind::bind(command, &tokens)
                .map_err(|problems| Box::new(unbound(command, &problems)))?;
            missing(command, &bound.values)?;
            Bound { arguments: bound.values, echo: Some(Value::Object(bound.stored)) }
        }
    };
    Ok(bound)
}

fn unbound(command: &Command, problems: &[bind::Problem]) -> Reply {
    let details = bind::details(command, problems);
    Reply::failed(400, "Invalid Command Arguments", details)
        .with("errorCode", "INVALID_COMMAND_ARGS")
        .with("argProblems", json!(problems))
        .with("commandSchema", command.usage())
}

pub(super) fn missing(command: &Command, given: &Map<String, Value>) -> Result<(), Box<Reply>> {
    let missing = bind::missing(command, given);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let message = format!("{} needs {names}", command.name);
    Err(Box::new(Reply::invalid_parameters(message).with("missing", json!(missing))))
}

/// Refuses names that the command does not have.
pub(super) fn known(command: &Command, given: &Map<String, Value>) -> Result<(), Box<Reply>> {
    match given.keys().find(|key| command.parameter(key).is_none()) {
        None => Ok(()),
        Some(key) => {
            let accepted: Vec<_> = command.parameters.iter().map(|it| it.name.as_str()).collect();
            let (accepted, key) = (accepted.join(", "), crate::text::clip(key));
            let name = &command.name;
            let message = format!("{name} has no parameter '{key}'. It takes: {accepted}");
            Err(Box::new(Reply::invalid_parameters(message)))
        }
    }
}

/// Parameters under their declared names. A null is none, unless the parameter takes anything.
pub(super) fn named(
    command: &Command,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Box<Reply>> {
    known(command, &given)?;
    let refuse = |message: String| Box::new(Reply::invalid_parameters(message));
    let mut arguments = Map::with_capacity(given.len());
    for (key, value) in given {
        // All are known, as was just seen.
        let Some(parameter) = command.parameter(&key) else { continue };
        if value.is_null() && parameter.kind != Kind::Any {
            continue;
        }
        let value = match (&parameter.kind, value) {
            (Kind::Text | Kind::Any, value) => value,
            // A client that does not know the types sends text for everything.
            (kind, Value::String(text)) => bind::token(kind, &text).ok_or_else(|| {
                let (text, wanted) = (crate::text::clip(&text), kind.type_name());
                refuse(format!("'{key}' takes {wanted}, and '{text}' is none"))
            })?,
            (_, value) => value,
        };
        if arguments.insert(parameter.name.clone(), value).is_some() {
            return Err(refuse(format!("'{}' is given twice", parameter.name)));
        }
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests;
