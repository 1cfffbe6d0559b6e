//! Configuration of clients: one entry `didi` in the file that each client reads from a project's folder.
//!
//! An entry is right when it starts this program on this project; what else a person wrote into it stays. A file that
//! can't be read is never written. How each format is edited is left to [`json`] and [`toml`].
//!
//! Spec: P-57, set-up and diagnosis.

mod json;
#[cfg(test)]
mod tests;
mod toml;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use super::report::{State, Step};
use crate::files::ProjectFiles;

/// The entry's name.
const NAME: &str = "didi";

/// Largest file of a client that is read, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A client that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Codex.
    Codex,
}

/// What the entry is to start.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// This program.
    pub(super) program: PathBuf,
    /// The project's folder.
    pub(super) project: PathBuf,
    /// The engine, where a person named one.
    pub(super) godot: Option<PathBuf>,
    /// Where a command without a folder is looked for.
    pub(super) search: Vec<PathBuf>,
}

/// The entry of a file as far as it matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Current {
    /// `None` when there is none, or it is no text.
    command: Option<String>,
    args: Vec<String>,
    /// Whether it says that it is spoken to over standard input and output.
    says_stdio: bool,
}

/// Why a file is not read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// From 1, where it is known.
    place: Option<(usize, usize)>,
    why: String,
}

impl Fault {
    fn new(why: impl Into<String>) -> Self {
        Fault { place: None, why: why.into() }
    }

    /// A fault at a byte of a text.
    fn at(text: &str, offset: usize, why: impl Into<String>) -> Self {
        let before = text.get(..offset.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        Fault { place: Some((line, before[begin..].chars().count() + 1)), why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl Client {
    /// All of them.
    pub(super) const ALL: [Client; 4] =
        [Client::ClaudeCode, Client::Cursor, Client::Vscode, Client::Codex];

    /// The word for it on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Codex => "codex",
        }
    }

    /// The file that it reads in a project.
    fn file(self) -> &'static str {
        match self {
            Client::ClaudeCode => "res://.mcp.json",
            Client::Cursor => "res://.cursor/mcp.json",
            Client::Vscode => "res://.vscode/mcp.json",
            Client::Codex => "res://.codex/config.toml",
        }
    }

    /// The file that it reads for what a project's people want it to know.
    pub(super) fn guide(self) -> &'static str {
        match self {
            Client::ClaudeCode => "res://CLAUDE.md",
            Client::Cursor | Client::Vscode | Client::Codex => "res://AGENTS.md",
        }
    }

    /// The member that holds a file's servers.
    fn section(self) -> &'static str {
        match self {
            Client::ClaudeCode | Client::Cursor => "mcpServers",
            Client::Vscode => "servers",
            Client::Codex => "mcp_servers",
        }
    }

    /// Whether its file may hold comments and commas before a closing bracket.
    fn takes_comments(self) -> bool {
        matches!(self, Client::Cursor | Client::Vscode)
    }

    /// The same for people.
    fn shown(self) -> &'static str {
        self.file().trim_start_matches("res://")
    }

    fn step(self) -> String {
        format!("client {}", self.name())
    }

    /// The entry in a file's text.
    fn current(self, text: &str) -> Result<Option<Current>, Fault> {
        match self {
            Client::Codex => toml::current(text, self.section()),
            _ => json::current(text, self.section(), self.takes_comments()),
        }
    }

    /// The text with the entry as it is to be.
    fn with_entry(self, text: &str, wanted: &Current) -> Result<String, Fault> {
        match self {
            Client::Codex => toml::with_entry(text, self.section(), wanted),
            _ => json::with_entry(text, self.section(), self.takes_comments(), wanted),
        }
    }

    /// Sets it up.
    pub(super) fn set_up(self, files: &ProjectFiles, entry: &Entry) -> Step {
        let (step, file) = (self.step(), self.shown());
        let before = match super::read(files, self.file()) {
            Ok(before) => before,
            Err(refusal) => return Step::refused(step, &refusal),
        };
        match self.edited(before.as_deref(), entry) {
            Err(fault) => unreadable(step, file, &fault),
            Ok(None) => Step::new(step, State::Unchanged, format!("`{file}` starts this program")),
            Ok(Some(after)) => match super::swap(files, self.file(), before.as_deref(), &after) {
                Ok(_) => Step::new(step, State::Done, self.done()),
                Err(refusal) => Step::refused(step, &refusal),
            },
        }
    }

    fn done(self) -> String {
        let file = self.shown();
        match self {
            Client::Codex => {
                format!("`{file}` starts this program; Codex reads it in a trusted project")
            }
            Client::ClaudeCode => {
                format!("`{file}` starts this program; Claude Code asks once whether it may")
            }
            Client::Cursor | Client::Vscode => format!("`{file}` starts this program"),
        }
    }

    /// The file with the entry; `None` when it has it already.
    fn edited(self, before: Option<&[u8]>, entry: &Entry) -> Result<Option<Vec<u8>>, Fault> {
        let (mark, body) = text_of(before.unwrap_or_default())?;
        let current = self.current(body)?;
        let wanted = entry.wanted(current.as_ref(), self);
        if current.as_ref() == Some(&wanted) {
            return Ok(None);
        }
        let after = self.with_entry(body, &wanted)?;
        // What was written has to read as it was meant.
        if self.current(&after)?.as_ref() != Some(&wanted) {
            return Err(Fault::new("the entry can't be put into a file of this form"));
        }
        Ok(Some(format!("{mark}{after}").into_bytes()))
    }

    /// What is to be said of it.
    pub(super) fn diagnose(self, files: &ProjectFiles, entry: &Entry) -> Step {
        let (step, file) = (self.step(), self.shown());
        let remedy = format!("run `didi setup --project` with --client {}", self.name());
        let missing = |seen: String| {
            Step::finding(
                self.step(),
                State::Skipped,
                "client_config_missing",
                seen,
                remedy.clone(),
            )
        };
        let bytes = match super::read(files, self.file()) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return missing(format!("`{file}` is not there")),
            Err(refusal) => return Step::refused(step, &refusal),
        };
        let current = text_of(&bytes).and_then(|(_, body)| self.current(body));
        let current = match current {
            Ok(Some(current)) => current,
            Ok(None) => return missing(format!("`{file}` has no server `{NAME}`")),
            Err(fault) => return unreadable(step, file, &fault),
        };
        let fail = |code, seen: String| {
            Step::finding(self.step(), State::Fail, code, seen, remedy.clone())
        };
        let Some(command) = &current.command else {
            return fail("client_config_incomplete", format!("`{file}` names no command"));
        };
        if self == Client::Vscode && !current.says_stdio {
            return fail(
                "client_config_incomplete",
                format!("`{file}` has no \"type\": \"stdio\""),
            );
        }
        match entry.resolve(command) {
            None => {
                let seen = format!("`{file}` starts `{command}`, which is not there");
                return fail("client_program_missing", seen);
            }
            Some(program) if program != entry.program => {
                let seen = format!(
                    "`{file}` starts `{command}`, and this is `{}`",
                    entry.program.display()
                );
                return Step::finding(step, State::Warn, "client_other_program", seen, remedy);
            }
            Some(_) => {}
        }
        match option(&current.args, &PROJECT) {
            None => fail("client_no_project", format!("`{file}` names no project")),
            Some(project) if !entry.is_project(project, self) => {
                fail("client_other_project", format!("`{file}` names the project `{project}`"))
            }
            Some(_) => {
                Step::new(step, State::Ok, format!("`{file}` starts this program on this project"))
            }
        }
    }
}

/// A file's byte order mark, if it has one, and its text behind that.
fn text_of(bytes: &[u8]) -> Result<(&str, &str), Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::new(format!("it has more than {MAX_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        Fault::at(valid, valid.len(), "it is not UTF-8")
    })?;
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    Ok(text.split_at(mark))
}

fn unreadable(step: String, file: &str, fault: &Fault) -> Step {
    let seen = format!("`{file}` is left as it is: {fault}");
    let remedy = "mend the file, and run `didi setup` again";
    Step::finding(step, State::Fail, "client_config_unreadable", seen, remedy)
}

/// How the project is named among the arguments, and the engine.
const PROJECT: [&str; 2] = ["--project", "-p"];
const GODOT: [&str; 1] = ["--godot-bin"];

/// The value of an option among arguments, as the command line reads it.
fn option<'a>(args: &'a [String], names: &[&str]) -> Option<&'a str> {
    args.iter().enumerate().find_map(|(at, arg)| {
        if names.contains(&arg.as_str()) {
            return args.get(at + 1).map(String::as_str);
        }
        let (name, value) = arg.split_once('=')?;
        names.contains(&name).then_some(value)
    })
}

/// The arguments with an option set, where it stands or at the end.
fn with_option(mut args: Vec<String>, names: &[&str], value: &str) -> Vec<String> {
    let place =
        args.iter().position(|arg| names.contains(&arg.split('=').next().unwrap_or_default()));
    match place {
        Some(at) if args[at].contains('=') => args[at] = format!("{}={value}", names[0]),
        Some(at) if at + 1 < args.len() => value.clone_into(&mut args[at + 1]),
        Some(_) => args.push(value.to_owned()),
        None => args.extend([names[0].to_owned(), value.to_owned()]),
    }
    args
}

impl Entry {
    /// The entry as it is to be, with all of the current one that is right or not ours to judge.
    fn wanted(&self, current: Option<&Current>, client: Client) -> Current {
        let Some(current) = current.filter(|current| current.command.is_some()) else {
            let args = with_option(vec![], &PROJECT, &self.project.to_string_lossy());
            return Current { says_stdio: true, ..self.command(self.with_godot(args)) };
        };
        let mut args = current.args.clone();
        if !option(&args, &PROJECT).is_some_and(|project| self.is_project(project, client)) {
            args = with_option(args, &PROJECT, &self.project.to_string_lossy());
        }
        let mut wanted = self.command(self.with_godot(args));
        let command = current.command.as_deref().unwrap_or_default();
        if self.resolve(command).as_deref() == Some(self.program.as_path()) {
            wanted.command.clone_from(&current.command);
        }
        Current { says_stdio: current.says_stdio || client == Client::Vscode, ..wanted }
    }

    fn command(&self, args: Vec<String>) -> Current {
        let command = Some(self.program.to_string_lossy().into_owned());
        Current { command, args, says_stdio: false }
    }

    fn with_godot(&self, args: Vec<String>) -> Vec<String> {
        let Some(godot) = &self.godot else { return args };
        let godot = godot.to_string_lossy();
        if option(&args, &GODOT) == Some(&*godot) {
            return args;
        }
        with_option(args, &GODOT, &godot)
    }

    /// The program that a command starts, by its real path.
    fn resolve(&self, command: &str) -> Option<PathBuf> {
        let path = Path::new(command);
        if path.components().count() > 1 {
            return path.canonicalize().ok().filter(|file| file.is_file());
        }
        let mut found = self.search.iter().map(|folder| folder.join(command));
        found.find(|file| file.is_file())?.canonicalize().ok()
    }

    /// Whether a text names this project; two clients have a word for the folder that they have open.
    fn is_project(&self, text: &str, client: Client) -> bool {
        let has_word = matches!(client, Client::Cursor | Client::Vscode);
        has_word && text == "${workspaceFolder}"
            || Path::new(text).is_absolute()
                && Path::new(text).canonicalize().is_ok_and(|path| path == self.project)
    }
}
