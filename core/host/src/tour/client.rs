//! A small MCP client over a child's pipes, for the tour.
//!
//! Spec: P-38, the command line.
#![allow(clippy::disallowed_methods, reason = "the tour starts the server as a client would")]

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// A server that was started for the tour.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
}

impl Client {
    /// Starts this very program as a server on a project, and says hello.
    ///
    /// # Errors
    /// One sentence.
    pub(super) fn start(project: &Path, pass_on: &[String]) -> Result<(Self, Value), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .arg("serve")
            .arg("--project")
            .arg(project)
            .args(["--log-level", "ERROR"])
            .args(pass_on)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the server can't be started: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the server has no output")?;
        let (tx, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if serde_json::from_str(&line).is_ok_and(|value| tx.send(value).is_err()) {
                    break;
                }
            }
        });
        let mut client = Client { child, input, lines, next_id: 0 };
        let hello = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "didi-try", "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok((client, hello))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// One sentence: no answer, or the server's error.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let line = self
                .lines
                .recv_timeout(ANSWER_LIMIT)
                .map_err(|_| format!("the server gave no answer to `{method}`"))?;
            if line["id"] != id {
                continue;
            }
            return match line.get("error") {
                Some(error) => Err(error["message"].as_str().unwrap_or("an error").to_owned()),
                None => Ok(line["result"].clone()),
            };
        }
    }

    /// Calls a tool; `Err` holds a refusal's document.
    ///
    /// # Errors
    /// The outer one is a sentence, the inner one the tool's refusal.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: Value,
    ) -> Result<Result<Value, Value>, String> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            return Ok(Err(serde_json::from_str(text).unwrap_or_default()));
        }
        Ok(Ok(result["structuredContent"].clone()))
    }

    /// Closes the server's input and waits for its end.
    pub(super) fn end(mut self) {
        self.input = None;
        let _ = self.child.wait();
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the server's input is closed")?;
        writeln!(input, "{message}").map_err(|error| format!("the server is gone: {error}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
