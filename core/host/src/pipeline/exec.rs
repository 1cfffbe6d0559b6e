//! One request to run a command, from its bytes to its reply, in the protocol's order of checks.
//!
//! How the bytes came is not known here: a server's listener and a client that found no server call the same.
//! A request is judged at once by [`Exec::begin`]; what it asks for then runs in the queue.
//!
//! Spec: P-65, running a command.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
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
    queue::{GivenUp, Queue, Refused, Run},
    run,
};
use crate::{dispatch::Dispatcher, source};

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

/// A request whose command waits or runs.
pub struct Waiting {
    /// How long the reply may take.
    pub limit: Duration,
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

    /// Runs a request to its end on the calling thread's time: for a client that is its own server.
    pub fn run(self: &Arc<Self>, body: &[u8]) -> Answer {
        self.gates.look();
        let (sender, answers) = mpsc::channel();
        let begun = self.begin(body, move |answer| {
            // Whoever waited may have gone.
            let _ = sender.send(answer);
        });
        match begun {
            Begun::Done(answer) => answer,
            Begun::Waiting(waiting) => match answers.recv_timeout(waiting.limit) {
                Ok(answer) => answer,
                Err(_) => self.late(&waiting).or_else(|| answers.recv().ok()).unwrap_or_else(lost),
            },
        }
    }

    /// Judges a request. What passes goes into the queue, and `done` gets its answer.
    pub fn begin(
        self: &Arc<Self>,
        body: &[u8],
        done: impl FnOnce(Answer) + Send + 'static,
    ) -> Begun {
        let request = match request::read(body) {
            Ok(request) => request,
            Err(unreadable) => {
                return Begun::Done(answer(&unreadable.reply, unreadable.shape, None));
            }
        };
        match self.judge(&request) {
            Ok((bound, book)) => self.start(request, bound, book, done),
            Err(reply) => Begun::Done(at_once(&reply, &request)),
        }
    }

    /// What is said when the reply takes too long; `None` when it came meanwhile.
    pub fn late(&self, waiting: &Waiting) -> Option<Answer> {
        let limit = waiting.limit.as_millis();
        let reply = match self.queue.give_up(&waiting.run) {
            GivenUp::Waiting => Reply::busy(
                "queued",
                format!("The command waited {limit} ms for its turn; it was not started"),
            ),
            GivenUp::Running => {
                let message = format!(
                    "The command did not end within {limit} ms and was asked to stop; whether it took effect is not known"
                );
                Reply::failed(400, "Command Execution Failed", message).with("timedOut", true)
            }
            GivenUp::Ended => return None,
        };
        let stamp = Stamp { command: waiting.run.command.clone(), ..now_stamp() };
        Some(answer(&reply, waiting.shape, Some(&stamp)))
    }

    /// Everything between the request's form and its turn.
    fn judge(&self, request: &Request) -> Result<(Bound, Arc<Book>), Box<Reply>> {
        let book = self.book();
        let Some(command) = book.find(&request.command) else {
            return Err(Box::new(not_found(&request.command)));
        };
        let bound = bind_arguments(command, &request.arguments)?;
        self.admit(command, &bound.arguments, &book)?;
        Ok((bound, book))
    }

    /// Holds commands back that need a main thread which does not serve them.
    fn admit(
        &self,
        command: &Command,
        arguments: &Map<String, Value>,
        book: &Book,
    ) -> Result<(), Box<Reply>> {
        let needed = command.main_thread_required
            || (command.name == BATCH && batch::needs_main_thread(arguments, book));
        if !needed {
            return Ok(());
        }
        let standing = self.gates.standing_for_command();
        let details = match &standing {
            Standing::Ready => return Ok(()),
            Standing::Settling => {
                "The editor is still settling after its start (it imports or compiles), so commands that need its main thread are not served yet. Retry shortly, or poll /api/status until it says 'ready'."
            }
            Standing::Blocked(_) => {
                "A dialog is open in the editor and blocks its main thread until somebody answers it."
            }
        };
        let reply = Reply::busy(standing.word(), details);
        let dialogs: Vec<Value> = standing.dialogs().iter().map(Dialog::shown).collect();
        Err(Box::new(if dialogs.is_empty() { reply } else { reply.with("dialogs", dialogs) }))
    }

    fn start(
        self: &Arc<Self>,
        request: Request,
        bound: Bound,
        book: Arc<Book>,
        done: impl FnOnce(Answer) + Send + 'static,
    ) -> Begun {
        let Request { command, shape, timeout, job, .. } = request;
        if command == EDITOR_STATUS && !job && !self.gates.standing().dialogs().is_empty() {
            // Nothing that it tells can change while the thread that would change it is blocked.
            let reply = with_echo(self.editor_status(), bound.echo);
            return Begun::Done(answer(&reply, shape, Some(&stamp_of(&command))));
        }
        let (exec, name) = (Arc::clone(self), command.clone());
        let nested = shape;
        let work = move |run: &Run| {
            let reply = exec.perform(&book, bound.arguments, run, nested);
            with_echo(reply, bound.echo)
        };
        if job {
            let reply = match self.queue.submit_job(&command, work) {
                Ok(id) => Reply::value(&json!({"jobId": id, "state": "queued"})),
                Err(refused) => job_refused(&refused),
            };
            return Begun::Done(answer(&reply, shape, Some(&stamp_of(&command))));
        }
        let stamp = Arc::new(Mutex::new(stamp_of(&command)));
        let (timed, told) = (Arc::clone(&stamp), stamp);
        let timed = move |run: &Run| {
            let (began, began_at) = (source::now(), stamp_of(&run.command));
            let reply = work(run);
            let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            *timed.lock().unwrap_or_else(PoisonError::into_inner) =
                Stamp { execution_time_ms: took, ..began_at };
            reply
        };
        let deliver = Box::new(move |reply: Reply| {
            let stamp = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            done(answer(&reply, shape, Some(&stamp)));
        });
        match self.queue.submit(&name, timed, deliver) {
            Ok(run) => Begun::Waiting(Waiting { limit: timeout, run, shape }),
            Err(refused) => {
                Begun::Done(answer(&refused_reply(&refused), shape, Some(&stamp_of(&name))))
            }
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
    fn perform(
        &self,
        book: &Book,
        arguments: Map<String, Value>,
        run: &Run,
        shape: Shape,
    ) -> Reply {
        let began_ms = source::now_ms();
        let mut reply = match run.command.as_str() {
            BATCH => batch::run(self, book, arguments, run, shape),
            EDITOR_STATUS => self.editor_status(),
            name => match book.tool(name) {
                Some(tool) => {
                    self.noted(run, |exec| run::run(&exec.dispatcher, tool, arguments, run))
                }
                None => not_found(name),
            },
        };
        if reply.is_done() {
            let dialogs = self.gates.dialogs_since(began_ms);
            if !dialogs.is_empty() {
                let dialogs: Vec<Value> = dialogs.iter().map(Dialog::shown).collect();
                reply = reply.with("dialogsDuringExecution", dialogs);
            }
        }
        reply
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
pub fn project_name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn answer(reply: &Reply, shape: Shape, stamp: Option<&Stamp>) -> Answer {
    Answer { status: reply.status, body: reply.body(shape, stamp) }
}

/// The answer to a request that was judged and does not run.
fn at_once(reply: &Reply, request: &Request) -> Answer {
    answer(reply, request.shape, Some(&stamp_of(&request.command)))
}

/// What is said when a command's answer is lost.
fn lost() -> Answer {
    let message = "The command ended without an answer";
    answer(&Reply::failed(400, "Internal Server Error", message), Shape::default(), None)
}

fn now_stamp() -> Stamp {
    Stamp { executed_at: source::iso8601(source::now_ms()), ..Stamp::default() }
}

fn stamp_of(command: &str) -> Stamp {
    Stamp { command: command.to_owned(), ..now_stamp() }
}

fn not_found(name: &str) -> Reply {
    let name = crate::text::clip(name);
    let message = format!("There is no command '{name}'; /api/commands lists them");
    Reply::failed(400, "Command Not Found", message)
}

fn refused_reply(refused: &Refused) -> Reply {
    match refused {
        Refused::Full => Reply::busy("queue_full", "Too many commands wait; retry shortly"),
        Refused::Closed => Reply::busy("stopping", "The server ends; the command was not started"),
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

fn bind_arguments(command: &Command, arguments: &Arguments) -> Result<Bound, Box<Reply>> {
    let bound = match arguments {
        Arguments::Named(given) => {
            missing(command, given)?;
            Bound { arguments: named(command, given)?, echo: None }
        }
        Arguments::Tokens(tokens) => {
            let bound = bind::bind(command, tokens)
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
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Box<Reply>> {
    known(command, given)?;
    let refuse = |message: String| Box::new(Reply::invalid_parameters(message));
    let mut arguments = Map::new();
    for (key, value) in given {
        // All are known, as was just seen.
        let Some(parameter) = command.parameter(key) else { continue };
        if value.is_null() && parameter.kind != Kind::Any {
            continue;
        }
        let value = match (&parameter.kind, value) {
            (Kind::Text | Kind::Any, value) => value.clone(),
            // A client that does not know the types sends text for everything.
            (kind, Value::String(text)) => bind::token(kind, text).ok_or_else(|| {
                let (text, wanted) = (crate::text::clip(text), kind.type_name());
                refuse(format!("'{key}' takes {wanted}, and '{text}' is none"))
            })?,
            (_, value) => value.clone(),
        };
        if arguments.insert(parameter.name.clone(), value).is_some() {
            return Err(refuse(format!("'{}' is given twice", parameter.name)));
        }
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests;
