//! The built server, alone in a folder of its own, with nothing but the packs that a test gives it.
//!
//! Spec: P-37, pinned packs; P-39, updating packs.
#![allow(
    clippy::disallowed_methods,
    reason = "starts the server under test, and writes pack files"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use didi_tests::{Launch, Server, executable::write_executable};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::fixtures::{library, library_name};

/// A copy of the server without packs beside it, a folder for packs, a project and a cache.
pub(crate) struct Host {
    folder: TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        let host = Host { folder: TempDir::with_prefix("didi-packs-").unwrap() };
        for name in ["bin", "packs", "project"] {
            fs::create_dir(host.at(name)).unwrap();
        }
        fs::write(host.at("project/project.godot"), "config_version=5\n").unwrap();
        write_executable(&host.binary(), &fs::read(didi_tests::didi()).unwrap());
        host
    }

    /// A place below the host's folder.
    pub(crate) fn at(&self, place: &str) -> PathBuf {
        self.folder.path().join(place)
    }

    pub(crate) fn binary(&self) -> PathBuf {
        self.at("bin").join(format!("didi{}", env::consts::EXE_SUFFIX))
    }

    /// Puts a built fixture into the pack folder.
    pub(crate) fn add(&self, pack: &str) -> PathBuf {
        let place = self.at("packs").join(library_name(pack));
        fs::copy(library(pack), &place).unwrap();
        place
    }

    /// Puts a changed copy of a fixture into the pack folder, under a file name of its own.
    pub(crate) fn add_changed(
        &self,
        pack: &str,
        name: &str,
        change: impl Fn(&mut Vec<u8>),
    ) -> PathBuf {
        let mut bytes = fs::read(library(pack)).unwrap();
        change(&mut bytes);
        let place = self.at("packs").join(library_name(name));
        fs::write(&place, bytes).unwrap();
        place
    }

    /// Runs a command of the server to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, &[])
    }

    /// The same, with additions to the environment.
    pub(crate) fn run_with(&self, args: &[&str], env: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(self.binary());
        command.arg("--packs").arg(self.at("packs")).arg("--pack-cache").arg(self.at("cache"));
        command.env_remove("DIDI_PACKS").args(args).envs(env.iter().copied());
        command.output().unwrap()
    }

    /// `packs list --json`, row by row.
    pub(crate) fn rows(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(&[args, &["packs", "list", "--json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut list: Value = serde_json::from_slice(&output.stdout).unwrap();
        serde_json::from_value(list["packs"].take()).unwrap()
    }

    /// The server over its pack folder, not yet started.
    pub(crate) fn launch(&self, args: &[&str]) -> Launch {
        let launch = Launch::over(self.at("project")).program(self.binary());
        let launch = launch.args(["--pack-cache".into(), self.at("cache").into_os_string()]);
        launch.args(["--packs".into(), self.at("packs").into_os_string()]).args(args)
    }

    /// Starts serving and says hello.
    pub(crate) fn serve(&self, args: &[&str]) -> Server {
        hello(self.launch(args))
    }
}

/// Starts a server and opens a session.
pub(crate) fn hello(launch: Launch) -> Server {
    let mut server = launch.start();
    server.initialize("2025-06-18", json!({}));
    server
}

/// Text of an output.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Calls a tool in a session and answers the structured content.
pub(crate) fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let id = ask(server, tool, arguments);
    said(server, id)
}

/// Sends a call that wants progress.
pub(crate) fn ask(server: &mut Server, tool: &str, arguments: Value) -> u64 {
    let meta = json!({"progressToken": tool});
    server.ask("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
}

/// What a call's answer says: its structured content, or the text of a refusal.
pub(crate) fn said(server: &mut Server, id: u64) -> Value {
    let answer = server.answer(id);
    let result = &answer["result"];
    if result["isError"] == true {
        return serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    }
    assert!(result["structuredContent"].is_object(), "{answer}");
    result["structuredContent"].clone()
}

/// The names of the listed tools.
pub(crate) fn tools(server: &mut Server) -> Vec<String> {
    let answer = server.request("tools/list", json!({}));
    assert!(answer["result"].get("nextCursor").is_none(), "{answer}");
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}
