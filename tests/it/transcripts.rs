//! Transcripts: what a client sends and what it has to get, one case a file under `fixtures/stdio`.
//!
//! The real program answers; `docs/testing.md` describes the form of a file. `DIDI_TRANSCRIPT=part` runs only
//! the files whose path contains the part.

use std::{
    collections::VecDeque,
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Instant,
};

use didi_tests::{
    Launch, Project, REMEDIES, Server,
    json::{Kept, matches, no_nulls},
    server::{AT_ONCE_MS, PATIENCE},
    stub_engine, tests_folder,
};
use serde_json::{Value, json};

/// Files that run side by side.
const AT_ONCE: usize = 4;

#[test]
fn every_transcript_holds() {
    let wanted = env::var("DIDI_TRANSCRIPT").unwrap_or_default();
    let folder = tests_folder().join("fixtures/stdio");
    let mut files = vec![];
    collect(&folder, &mut files);
    files.retain(|file| file.to_string_lossy().contains(&wanted));
    files.sort();
    assert!(!files.is_empty(), "no transcript is there");
    let queue = Mutex::new(VecDeque::from(files));
    let failed = Mutex::new(vec![]);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(file) = { queue.lock().unwrap().pop_front() } {
                    let ran = std::panic::catch_unwind(|| check(&file));
                    let outcome = ran.unwrap_or_else(|panic| Err(panic_text(&panic)));
                    if let Err(why) = outcome {
                        let name = file.strip_prefix(&folder).unwrap().display().to_string();
                        failed.lock().unwrap().push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    assert!(failed.is_empty(), "{} failed:\n\n{}", failed.len(), failed.join("\n\n"));
}

fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "txt") {
            files.push(path);
        }
    }
}

/// Plays one file.
fn check(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).unwrap();
    let mut play = Play::start(&text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !is_header(line)).peekable();
    while let Some((number, line)) = lines.next() {
        if play.unordered && line.starts_with("< ") {
            let mut block = vec![&line[2..]];
            while let Some((_, next)) = lines.next_if(|(_, next)| next.starts_with("< ")) {
                block.push(&next[2..]);
            }
            play.expect_in_any_order(&block).map_err(|why| at(number, &why))?;
            continue;
        }
        play.step(line).map_err(|why| at(number, &why))?;
    }
    play.end()
}

fn at(number: usize, why: &str) -> String {
    format!("line {}: {why}", number + 1)
}

const HEADERS: [&str; 7] =
    ["args:", "project:", "env:", "stub:", "initialize:", "capabilities:", "unordered"];

fn is_header(line: &str) -> bool {
    line.trim().is_empty()
        || line.starts_with('#')
        || HEADERS.iter().any(|header| line.starts_with(header))
}

/// One file being played.
struct Play {
    project: Project,
    server: Server,
    kept: Kept,
    unordered: bool,
}

impl Play {
    fn start(text: &str) -> Self {
        let headers = |name: &'static str| {
            text.lines().filter_map(move |line| line.strip_prefix(name)).map(str::trim)
        };
        let project = Project::copy(headers("project:").next().unwrap_or("sample"));
        let root = project.root().canonicalize().unwrap();
        let kept = Kept::from([("PROJECT".to_owned(), root.to_str().into())]);
        let mut launch = Launch::over(project.root());
        // No transcript may depend on an engine of the machine.
        let engine = match headers("stub:").next() {
            Some(body) => stub_engine(project.outside(), body),
            None => project.outside().join("no-engine"),
        };
        launch = launch.env("GODOT_BIN", engine);
        for variable in headers("env:") {
            let (name, value) = variable.split_once('=').expect("env: NAME=value");
            launch = launch.env(name, value);
        }
        for args in headers("args:") {
            launch = launch.args(args.split_whitespace());
        }
        let mut server = launch.start();
        if let Some(revision) = headers("initialize:").next() {
            let capabilities = headers("capabilities:").next().unwrap_or("{}");
            server.initialize(revision, serde_json::from_str(capabilities).unwrap());
        }
        Play { project, server, kept, unordered: headers("unordered").next().is_some() }
    }

    fn step(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            ">" => {
                let text = self.fill(rest);
                self.server.send_raw(format!("{text}\n").as_bytes());
                Ok(())
            }
            ">raw" => {
                self.server.send_raw(&unescape(rest));
                Ok(())
            }
            "<" => {
                let message = self.server.recv();
                self.compare(rest, &message)
            }
            "<answered" => self.answered(rest),
            "<refused" => self.refused(rest),
            "wait" => self.wait(rest),
            "silence" => self.silence(),
            "eof" => {
                self.server.end_input();
                Ok(())
            }
            "log" => {
                self.server.wait_for_log(&text_of(rest)?);
                Ok(())
            }
            "file" => self.file(rest),
            "until" => self.until(rest),
            "write" => {
                let (path, text) = rest.split_once(' ').ok_or("write PATH \"text\"")?;
                self.project.write(path, text_of(text)?);
                Ok(())
            }
            "remove" => fs::remove_file(self.project.file(rest)).map_err(|error| error.to_string()),
            other => Err(format!("`{other}` is no step")),
        }
    }

    /// `${NAME}` becomes what a pattern kept: a string's inside, or any other value's JSON.
    fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.kept {
            let shown = match value {
                Value::String(_) => {
                    let quoted = value.to_string();
                    quoted[1..quoted.len() - 1].to_owned()
                }
                other => other.to_string(),
            };
            text = text.replace(&format!("${{{name}}}"), &shown);
        }
        // Presets are pieces of JSON, not strings.
        for (name, piece) in PIECES {
            text = text.replace(&format!("${{{name}}}"), piece);
        }
        text
    }

    fn pattern(&self, text: &str) -> Result<Value, String> {
        let text = self.fill(text);
        serde_json::from_str(&text).map_err(|error| format!("the pattern is no JSON: {error}"))
    }

    fn compare(&mut self, pattern: &str, message: &Value) -> Result<(), String> {
        let pattern = self.pattern(pattern)?;
        no_nulls(message)?;
        matches(&pattern, message, &mut self.kept).map_err(|why| format!("{why}\n  in {message}"))
    }

    fn expect_in_any_order(&mut self, patterns: &[&str]) -> Result<(), String> {
        let mut left: Vec<&str> = patterns.to_vec();
        while !left.is_empty() {
            let message = self.server.recv();
            no_nulls(&message)?;
            let fits = |pattern: &&str| {
                let mut kept = self.kept.clone();
                self.pattern(pattern).is_ok_and(|one| matches(&one, &message, &mut kept).is_ok())
            };
            let Some(place) = left.iter().position(fits) else {
                return Err(format!("none of these was expected: {message}\n  left: {left:#?}"));
            };
            let pattern = left.remove(place);
            self.compare(pattern, &message)?;
        }
        Ok(())
    }

    /// `<answered ID PATTERN`: a tool's success whose data has the pattern's members, with its text copy.
    fn answered(&mut self, rest: &str) -> Result<(), String> {
        let (id, pattern) = rest.split_once(' ').ok_or("<answered ID PATTERN")?;
        let message = self.server.recv();
        let whole = json!({"jsonrpc": "2.0", "id": "[any]", "result": {"...": true,
            "content": "[array]", "structuredContent": "[object]", "isError": false}});
        self.compare(&whole.to_string(), &message)?;
        same_id(id, &message)?;
        let result = &message["result"];
        let copy = result["content"][0]["text"].as_str().unwrap_or_default();
        if serde_json::from_str::<Value>(copy).ok().as_ref() != Some(&result["structuredContent"]) {
            return Err(format!("the text is no copy of the data: {message}"));
        }
        let pattern = open(self.pattern(pattern)?);
        self.compare(&pattern.to_string(), &result["structuredContent"])
    }

    /// `<refused ID STATUS CODE PATTERN`: a tool's refusal whose `error.data` has the pattern's members.
    fn refused(&mut self, rest: &str) -> Result<(), String> {
        let words: Vec<&str> = rest.splitn(4, ' ').collect();
        let [id, status, code, pattern] = words[..] else {
            return Err("<refused ID STATUS CODE PATTERN".into());
        };
        let message = self.server.recv();
        let mut data = open(self.pattern(pattern)?);
        data["code"] = code.into();
        data["tool"] = "[string]".into();
        data["canonical_tool"] = "[string]".into();
        data["retryable"] = data.get("retryable").cloned().unwrap_or_else(|| "[bool]".into());
        let status: u16 = status.parse().map_err(|_| "a status is a number")?;
        let error = json!({"code": status, "message": "[string]", "data": data});
        let text = json!({"[json]": {"error": error, "execution_mode": "[string]"}});
        let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
        if message["result"].get("resultType").is_some() {
            result["resultType"] = "complete".into();
        }
        let whole = json!({"jsonrpc": "2.0", "id": "[any]", "result": result});
        self.compare(&whole.to_string(), &message)?;
        same_id(id, &message)?;
        has_remedy(&message)
    }

    /// Waits for the first message that matches, past others, which stay in line.
    fn wait(&mut self, pattern: &str) -> Result<(), String> {
        let pattern = self.pattern(pattern)?;
        let wanted = |message: &Value| matches(&pattern, message, &mut Kept::new()).is_ok();
        let message = self.server.wait_for(&pattern.to_string(), wanted);
        no_nulls(&message)?;
        matches(&pattern, &message, &mut self.kept)
    }

    /// Nothing was answered to what was sent so far: the next line answers a question asked now.
    fn silence(&mut self) -> Result<(), String> {
        self.server.send(&json!({"jsonrpc": "2.0", "id": "silence", "method": "server/discover"}));
        let message = self.server.recv();
        if message["id"] == "silence" { Ok(()) } else { Err(format!("not silent: {message}")) }
    }

    fn file(&self, rest: &str) -> Result<(), String> {
        let mut words = rest.splitn(3, ' ');
        let (path, check) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let text = self.project.text(path);
        let wanted = words.next().map(text_of).transpose()?;
        let holds = match (check, &text, &wanted) {
            ("missing", found, None) => found.is_none(),
            ("==", Some(found), Some(wanted)) => found == wanted,
            ("contains", Some(found), Some(wanted)) => found.contains(wanted.as_str()),
            ("lacks", Some(found), Some(wanted)) => !found.contains(wanted.as_str()),
            (_, None, _) => false,
            _ => return Err(format!("`{rest}` is no file check")),
        };
        if holds { Ok(()) } else { Err(format!("`{rest}` does not hold; the file: {text:?}")) }
    }

    /// Waits until a file is there.
    fn until(&self, path: &str) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !self.project.file(path).exists() {
            if Instant::now() > deadline {
                return Err(format!(
                    "`{path}` did not appear; standard error:\n{}",
                    self.server.log()
                ));
            }
            thread::yield_now();
        }
        Ok(())
    }

    /// Ends the server: it exits well and at once, and nothing that was not expected is left.
    fn end(self) -> Result<(), String> {
        let closed = self.server.close();
        if !closed.status.success() {
            return Err(format!("exit {}:\n{}", closed.status, closed.log));
        }
        if closed.took_ms >= AT_ONCE_MS {
            return Err(format!("the end took {} ms", closed.took_ms));
        }
        if closed.rest.is_empty() { Ok(()) } else { Err(format!("left over: {:?}", closed.rest)) }
    }
}

fn open(mut pattern: Value) -> Value {
    pattern["..."] = true.into();
    pattern
}

fn same_id(id: &str, message: &Value) -> Result<(), String> {
    let sent: Value = serde_json::from_str(id).map_err(|error| error.to_string())?;
    if message["id"] == sent { Ok(()) } else { Err(format!("not {id}: {message}")) }
}

/// Every refusal says what fixes it, or that nothing does.
fn has_remedy(message: &Value) -> Result<(), String> {
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    let data = &whole["error"]["data"];
    if REMEDIES.iter().any(|name| data.get(name).is_some()) {
        return Ok(());
    }
    Err(format!("a refusal without a remedy: {data}"))
}

/// Pieces of JSON that would otherwise stand in every file.
const PIECES: [(&str, &str); 5] = [
    (
        "META",
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#,
    ),
    (
        "META_ELICIT",
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#,
    ),
    (
        "META_TASKS",
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#,
    ),
    (
        "META_ECONOMY",
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"didi/responseEconomy":{"omit":["textCopy"]}}}}"#,
    ),
    (
        "SERVER",
        r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"didi","title":"Didi","version":"[string]"}}"#,
    ),
];

/// A JSON string's text.
fn text_of(quoted: &str) -> Result<String, String> {
    serde_json::from_str(quoted).map_err(|error| format!("`{quoted}` is no JSON string: {error}"))
}

/// Bytes from text with `\n`, `\r`, `\t`, `\\` and `\xFF`.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut letters = text.bytes();
    while let Some(letter) = letters.next() {
        if letter != b'\\' {
            bytes.push(letter);
            continue;
        }
        match letters.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'x') => {
                let digits = [letters.next().unwrap(), letters.next().unwrap()];
                let digits = String::from_utf8(digits.to_vec()).unwrap();
                bytes.push(u8::from_str_radix(&digits, 16).expect("\\x takes two hex digits"));
            }
            other => bytes.extend(other),
        }
    }
    bytes
}
