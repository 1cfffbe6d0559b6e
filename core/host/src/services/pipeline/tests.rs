#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
//! Tests of `pipeline`: who may ask what.

use std::{path::Path, sync::Arc};

use didi_plugin_api::{
    abi::{HostV1 as _, code},
    ctx::ops,
    desc::{Effects, Mode, ToolDesc},
    pipeline::{Question, Request},
};
use didi_wire::session_dir::SessionDir;
use serde_json::{Map, json};

use super::{MAX_INSTANCES, Services};
use crate::{
    bridge::Routes,
    cancel::Cancel,
    engine::{Engines, Places},
    files::ProjectFiles,
    pipeline::client::find,
    services::Shared,
};

fn shared(folder: &Path) -> Shared {
    let sessions = SessionDir { path: folder.join("sessions"), checked: false };
    Shared {
        pipelines: Arc::new(find::Places { sessions: sessions.clone(), hub: None }),
        routes: Arc::new(Routes::new(sessions, folder.to_owned())),
        files: ProjectFiles::new(folder.to_owned()),
        engines: Arc::new(Engines::new(Places::default())),
        recovery: None,
    }
}

fn tool(effects: Effects) -> ToolDesc {
    let desc = json!({
        "name": "probe", "title": "Probe", "description": "x", "input_schema": {}, "modes": ["local"],
        "effects": effects,
    });
    serde_json::from_value(desc).unwrap()
}

/// The code of the reply; the instance that is asked is not there.
fn asks(effects: Effects, preview: bool, question: Question) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let shared = shared(&folder.path().canonicalize().unwrap());
    let cancel = Cancel::default();
    let services = Services::new(&shared, &tool(effects), Mode::Local, preview, &cancel, None);
    let request = Request { instance: Some("Nobody".into()), question, timeout_ms: 1 };
    let payload = serde_json::to_vec(&request).unwrap();
    services.request(ops::PIPELINE_REQUEST.into(), payload.as_slice().into()).code
}

#[test]
fn what_runs_something_is_asked_by_tools_that_declare_it_alone() {
    let running = [Question::Exec { body: Map::new() }, Question::JobCancel { id: "j1".into() }];
    for question in running {
        for (effects, preview, reply) in [
            (Effects::EXECUTES, false, code::REFUSED),
            (Effects::EXECUTES, true, code::FAULT),
            (Effects::CHANGES, false, code::FAULT),
            (Effects::READS, false, code::FAULT),
            (Effects { open_world: true, ..Effects::READS }, false, code::FAULT),
        ] {
            let got = asks(effects, preview, question.clone());
            assert_eq!(got, reply, "{effects:?} preview {preview} {question:?}");
        }
    }
    let looking = [
        Question::Status,
        Question::Dialog,
        Question::Progress,
        Question::Commands { query: vec![] },
        Question::Job { id: "j1".into() },
    ];
    for question in looking {
        assert_eq!(asks(Effects::READS, false, question.clone()), code::REFUSED, "{question:?}");
        assert_eq!(asks(Effects::EXECUTES, true, question), code::REFUSED);
    }
}

#[test]
fn a_request_that_can_not_be_read_is_the_packs_fault() {
    let folder = tempfile::tempdir().unwrap();
    let shared = shared(&folder.path().canonicalize().unwrap());
    let cancel = Cancel::default();
    let services = Services::new(&shared, &tool(Effects::READS), Mode::Local, false, &cancel, None);
    for payload in ["", "{}", r#"{"question": {"ask": "anything", "path": "/x"}, "timeout_ms": 1}"#]
    {
        let reply = services.request(ops::PIPELINE_REQUEST.into(), payload.as_bytes().into());
        assert_eq!(reply.code, code::FAULT, "{payload}");
    }
}

#[cfg(unix)]
mod reached {
    //! Instances that can be reached. Their process is the parent of this one, which lives and is another.

    use std::{
        fs,
        io::{BufRead as _, BufReader, Write as _},
        net::{TcpListener, TcpStream},
        os::unix::process::parent_id,
        path::PathBuf,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use didi_pipeline::descriptor::places;
    use didi_plugin_api::pipeline::{Outcome, Reply};
    use serde_json::Value;
    use tempfile::TempDir;

    use super::*;
    use crate::pipeline::client::{Answer, Failure};

    /// No system gives processes numbers from here on.
    const NO_PROCESS: u32 = 0x3fff_0000;

    /// Projects in one folder, all of which the Hub lists.
    struct Machine {
        folder: TempDir,
        shared: Shared,
        cancel: Cancel,
    }

    impl Machine {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let mut shared = shared(&root);
            let hub = Some(root.join("hub.json"));
            let sessions = shared.pipelines.sessions.clone();
            shared.pipelines = Arc::new(find::Places { sessions, hub });
            Machine { folder, shared, cancel: Cancel::default() }
        }

        /// A project with what its instance wrote.
        fn project(&self, folder: &str, pid: u32, port: u16) -> PathBuf {
            let project = self.folder.path().canonicalize().unwrap().join(folder);
            let [file, _] = places(&project);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text = json!({"pid": pid, "port": port, "projectPath": project, "projectName": "Game", "evalToken": "x"});
            fs::write(file, text.to_string()).unwrap();
            project
        }

        fn list(&self, projects: &[PathBuf]) {
            let named: Map<String, Value> =
                projects.iter().map(|it| (it.to_str().unwrap().to_owned(), json!({}))).collect();
            let hub = self.shared.pipelines.hub.as_ref().unwrap();
            fs::write(hub, json!({"data": named}).to_string()).unwrap();
        }

        fn services(&self) -> Services {
            let tool = tool(Effects::EXECUTES);
            Services::new(&self.shared, &tool, Mode::Local, false, &self.cancel, None)
        }

        fn ask(&self, instance: &str, question: Question) -> (u32, Vec<u8>) {
            let request = Request { instance: Some(instance.into()), question, timeout_ms: 30_000 };
            let payload = serde_json::to_vec(&request).unwrap();
            let reply =
                self.services().request(ops::PIPELINE_REQUEST.into(), payload.as_slice().into());
            (reply.code, reply.body.to_vec())
        }

        fn refusal(&self, instance: &str) -> Value {
            let (code, body) = self.ask(instance, Question::Status);
            assert_eq!(code, super::code::REFUSED);
            serde_json::from_slice(&body).unwrap()
        }
    }

    fn exec() -> Question {
        Question::Exec { body: Map::new() }
    }

    /// Reads the head of a request, does something, and answers or keeps the connection without a word.
    fn listen(answers: bool, on_request: impl Fn() + Send + 'static) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let came = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&came);
        thread::spawn(move || {
            let mut open: Vec<TcpStream> = vec![];
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
                let head = BufReader::new(&stream).lines().map_while(Result::ok);
                head.take_while(|line| !line.is_empty()).for_each(drop);
                on_request();
                if answers {
                    let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
                }
                open.push(stream);
            }
        });
        (port, came)
    }

    #[test]
    fn a_command_that_was_sent_is_not_told_as_stopped_work() {
        for answers in [false, true] {
            let machine = Machine::new();
            let cancel = machine.cancel.clone();
            let (port, came) = listen(answers, move || cancel.raise());
            let project = machine.project("Game", parent_id(), port);
            let (code, body) = machine.ask(project.to_str().unwrap(), exec());
            assert_eq!(code, super::code::OK, "{}", String::from_utf8_lossy(&body));
            let reply: Reply = serde_json::from_slice(&body).unwrap();
            match reply.outcome {
                Outcome::Answered { .. } => assert!(answers),
                Outcome::Unknown { why, .. } => assert_eq!(why, "cancelled"),
                not_sent @ Outcome::NotSent { .. } => panic!("{not_sent:?}"),
            }
            // Nobody wants the next one, and it is not sent.
            for question in [exec(), Question::Status] {
                let (code, body) = machine.ask(project.to_str().unwrap(), question);
                assert_eq!(code, super::code::REFUSED);
                assert!(String::from_utf8_lossy(&body).contains("cancelled"));
            }
            assert_eq!(came.load(Ordering::SeqCst), 1);
        }
    }

    #[test]
    fn a_look_that_was_given_up_is_cancelled() {
        let machine = Machine::new();
        let cancel = machine.cancel.clone();
        let (port, _) = listen(false, move || cancel.raise());
        let project = machine.project("Game", parent_id(), port);
        assert_eq!(machine.refusal(project.to_str().unwrap())["name"], "cancelled");
    }

    #[test]
    fn what_came_back_is_told_whoever_gave_up_meanwhile() {
        let machine = Machine::new();
        machine.cancel.raise();
        let services = machine.services();
        let answer = Answer { status: 200, body: b"{}".to_vec() };
        let told = services.told(Ok(answer), true);
        assert!(matches!(told, Ok(Outcome::Answered { status: 200, .. })), "{told:?}");
        let told = services.told(Err(Failure::TimedOut { sent: true }), true);
        assert!(matches!(told, Ok(Outcome::Unknown { .. })), "{told:?}");
        for (failure, changes) in [
            (Failure::Cancelled { sent: false }, true),
            (Failure::Cancelled { sent: true }, false),
            (Failure::Refused("x".into()), true),
        ] {
            assert!(services.told(Err(failure), changes).is_err());
        }
    }

    #[test]
    fn what_was_left_behind_hides_no_living_instance() {
        let machine = Machine::new();
        let (port, came) = listen(true, || {});
        let mut projects: Vec<PathBuf> = (NO_PROCESS..)
            .take(MAX_INSTANCES + 10)
            .map(|pid| machine.project(&format!("a{pid}"), pid, port))
            .collect();
        projects.push(machine.project("z", parent_id(), port));
        machine.list(&projects);
        let told = machine.services().pipeline_instances();
        assert_eq!(told.len(), MAX_INSTANCES);
        let living = &told[0];
        assert_eq!((living.name.as_str(), living.pid), ("Game", parent_id()), "{living:?}");
        assert!(told[1..].iter().all(|it| it.name.starts_with("Game (")), "{:?}", told[1]);
        assert_eq!(machine.ask("Game", exec()).0, super::code::OK);
        assert_eq!(came.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_name_that_several_have_is_a_conflict() {
        let machine = Machine::new();
        let (port, _) = listen(true, || {});
        let (other, _) = listen(true, || {});
        machine.list(&[
            machine.project("a", parent_id(), port),
            machine.project("b", parent_id(), other),
        ]);
        let refusal = machine.refusal("Game");
        assert_eq!(refusal["name"], "conflict", "{refusal}");
        let candidates = refusal["data"]["candidates"].as_array().unwrap();
        assert_eq!(candidates.len(), 2, "{refusal}");
        for candidate in candidates {
            let name = candidate["instance"].as_str().unwrap();
            assert_eq!(machine.ask(name, Question::Status).0, super::code::OK, "{name}");
        }
    }
}
