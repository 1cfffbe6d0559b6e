use std::{
    io::{Read as _, Write as _},
    time::Instant,
};

use didi_wire::{
    Outcome, Request, RequestId, Response, TOKEN_PARAM,
    frame::{Decoder, MAX_PAYLOAD_BYTES, encode},
    lock,
};
use interprocess::local_socket::{GenericFilePath, Stream, ToFsName as _};
use serde_json::Map;

use super::*;
use crate::{Backend, Call, Pump, Step, server::Shared};

/// Longer than anything here takes, so that a failure is a failure and not a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// The session goes before the folder that its socket is in.
struct Bench {
    session: Session,
    temp: tempfile::TempDir,
}

impl Bench {
    fn open(deadline: Duration) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let config = SessionConfig { main_thread_deadline: deadline, ..config(&temp) };
        let session = Session::open(config, Arc::new(LogRing::new())).unwrap();
        Bench { session, temp }
    }

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(self.session.shared())
    }

    fn client(&self) -> Client {
        let endpoint = self.session.identity().endpoint.clone();
        let token = self.session.shared().descriptor.token.reveal().to_owned();
        Client { stream: connect(&endpoint), decoder: Decoder::new(), token }
    }

    /// Runs a backend in frames until a caller is done.
    fn pumped<R: Send>(&self, backend: &mut dyn Backend, caller: impl FnOnce() -> R + Send) -> R {
        let shared = self.shared();
        let kind = self.session.identity().kind;
        let mut pump = Pump::new(Arc::clone(&shared.queue), Arc::clone(&shared.output), kind);
        thread::scope(|scope| {
            let caller = scope.spawn(caller);
            while !caller.is_finished() {
                pump.frame(backend, Some(Instant::now() + Duration::from_millis(5)));
            }
            caller.join().unwrap()
        })
    }
}

fn config(temp: &tempfile::TempDir) -> SessionConfig {
    let sessions = SessionDir { path: temp.path().join("sessions"), checked: true };
    let project = temp.path().to_string_lossy().into_owned();
    SessionConfig::new(SessionKind::Editor, project, temp.path().into(), sessions)
}

fn connect(endpoint: &str) -> Stream {
    let stream = Stream::connect(endpoint.to_fs_name::<GenericFilePath>().unwrap()).unwrap();
    stream.set_recv_timeout(Some(PATIENCE)).unwrap();
    stream
}

struct Client {
    stream: Stream,
    decoder: Decoder,
    token: String,
}

impl Client {
    fn send(&mut self, id: u64, method: &str, params: Value) {
        let mut params: Map<String, Value> = serde_json::from_value(params).unwrap();
        params.insert(TOKEN_PARAM.into(), self.token.clone().into());
        let request = Request { id: RequestId(id), method: method.into(), params };
        self.stream.write_all(&encode(&request.to_vec()).unwrap()).unwrap();
    }

    /// The next answer, or `None` when the other end has hung up.
    fn receive(&mut self) -> Option<Response> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(payload) = self.decoder.next_frame().unwrap() {
                return Some(Response::from_slice(payload).unwrap());
            }
            match self.stream.read(&mut buffer).unwrap() {
                0 => return None,
                read => self.decoder.push(&buffer[..read]),
            }
        }
    }

    fn ask(&mut self, method: &str) -> Response {
        self.send(1, method, json!({}));
        self.receive().unwrap()
    }
}

struct Echo;

impl Backend for Echo {
    fn begin(&mut self, call: &Call) -> Step {
        Step::Done(Ok(json!({ "method": call.method.name, "params": call.params })))
    }
}

#[test]
fn a_session_listens_before_it_is_found_and_is_gone_after() {
    let bench = Bench::open(PATIENCE);
    let dir = config(&bench.temp).sessions;
    let found = discovery::scan(&dir).unwrap();
    assert_eq!(found.sessions.len(), 1);
    assert_eq!(&found.sessions[0], &bench.session.shared().descriptor);
    let endpoint = found.sessions[0].identity.endpoint.clone();
    assert_eq!(bench.client().ask("session.handshake").body.unwrap()["status"], "ok");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&endpoint).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let Bench { temp, session } = bench;
    drop(session);
    assert!(discovery::scan(&dir).unwrap().sessions.is_empty());
    assert!(!std::path::Path::new(&endpoint).exists());
    drop(temp);
}

#[test]
fn a_request_reaches_the_backend_without_its_token() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    let answer = bench.pumped(&mut Echo, || {
        client.send(7, "scene.open", json!({"scene_path": "res://a.tscn"}));
        client.receive().unwrap()
    });
    assert_eq!(answer.id, Some(RequestId(7)));
    let expected = json!({"method": "scene.open", "params": {"scene_path": "res://a.tscn"}});
    assert_eq!(answer.body.unwrap(), expected);
}

#[test]
fn many_requests_of_one_connection_are_answered_in_order() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    bench.pumped(&mut Echo, || {
        for id in 0..200 {
            client.send(id, "editor.getState", json!({}));
        }
        for id in 0..200 {
            assert_eq!(client.receive().unwrap().id, Some(RequestId(id)));
        }
    });
}

#[test]
fn a_wrong_token_is_refused_and_the_connection_ends() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    client.token = "0".repeat(64);
    let refused = client.ask("session.handshake").body.unwrap_err();
    assert_eq!((refused.code, refused.code_name()), (401, Some("session_token_rejected")));
    assert_eq!(client.receive(), None);
}

#[test]
fn an_oversized_frame_is_refused_and_the_connection_ends() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    let length = u32::try_from(MAX_PAYLOAD_BYTES + 1).unwrap();
    client.stream.write_all(&length.to_le_bytes()).unwrap();
    let refused = client.receive().unwrap();
    assert_eq!((refused.id, refused.body.unwrap_err().code), (None, 413));
    assert_eq!(client.receive(), None);
    assert!(bench.client().ask("session.handshake").body.is_ok());
}

#[test]
fn half_a_frame_and_a_hang_up_disturb_nobody() {
    let bench = Bench::open(PATIENCE);
    for _ in 0..8 {
        let mut client = bench.client();
        client.stream.write_all(&[9, 0, 0, 0, b'{']).unwrap();
    }
    assert!(bench.client().ask("session.handshake").body.is_ok());
}

#[test]
fn garbage_is_refused_and_the_next_request_is_served() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    client.stream.write_all(&encode(b"garbage").unwrap()).unwrap();
    let refused = client.receive().unwrap();
    assert_eq!((refused.id, refused.body.unwrap_err().code), (None, 400));
    assert!(client.ask("session.handshake").body.is_ok());
}

#[test]
fn an_engine_that_does_not_come_to_it_says_that_nothing_was_begun() {
    let bench = Bench::open(Duration::from_millis(20));
    let late = bench.client().ask("scene.open").body.unwrap_err();
    assert_eq!((late.code, late.outcome()), (504, Some(Outcome::NotStarted)));
}

#[test]
fn an_engine_that_does_not_finish_leaves_the_outcome_unknown() {
    struct Never;
    impl crate::Task for Never {
        fn poll(&mut self) -> Option<crate::Answer> {
            None
        }
    }
    struct Slow;
    impl Backend for Slow {
        fn begin(&mut self, _call: &Call) -> Step {
            Step::Later(Box::new(Never))
        }
    }
    let bench = Bench::open(Duration::from_millis(300));
    let mut client = bench.client();
    let late = bench.pumped(&mut Slow, || client.ask("scene.open")).body.unwrap_err();
    assert_eq!((late.code, late.outcome()), (504, Some(Outcome::Unknown)));
    assert!(late.asks_for_quarantine());
}

#[test]
fn methods_of_the_bridge_are_answered_while_the_main_thread_stands_still() {
    let bench = Bench::open(PATIENCE);
    let logs = bench.client().ask("runtime.getLogs").body.unwrap();
    assert_eq!(logs["records"][0]["message"], "session opened");
}

#[test]
fn a_session_closes_though_its_socket_was_removed() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    assert!(client.ask("session.handshake").body.is_ok());
    let Bench { session, temp } = bench;
    temp.close().unwrap();
    let (tx, rx) = std::sync::mpsc::channel();
    thread::spawn(move || {
        drop(session);
        tx.send(()).unwrap();
    });
    rx.recv_timeout(PATIENCE).unwrap();
    assert_eq!(client.receive(), None);
}

#[test]
fn closing_answers_what_waits() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    client.send(1, "scene.open", json!({}));
    let shared = bench.shared();
    assert!(shared.queue.wait_until(Instant::now() + PATIENCE));
    drop(bench);
    let refused = client.receive().unwrap().body.unwrap_err();
    assert_eq!((refused.code, refused.outcome()), (503, Some(Outcome::NotStarted)));
    assert_eq!(client.receive(), None);
}

#[test]
fn four_connections_are_served_and_a_fifth_waits_for_a_place() {
    let bench = Bench::open(PATIENCE);
    let mut clients: Vec<Client> = (0..4).map(|_| bench.client()).collect();
    for client in &mut clients {
        assert!(client.ask("session.handshake").body.is_ok());
    }
    assert_eq!(bench.shared().attached_clients(), 4);
    let mut fifth = bench.client();
    fifth.send(1, "session.handshake", json!({}));
    clients.pop();
    assert!(fifth.receive().unwrap().body.is_ok());
    assert_eq!(bench.shared().attached_clients(), 4);
}

#[test]
fn detaching_ends_the_connections_and_not_the_session() {
    let bench = Bench::open(PATIENCE);
    let mut client = bench.client();
    assert!(client.ask("session.handshake").body.is_ok());
    let holder = |since_ms| lock::Holder { pid: 7, name: "test".into(), since_ms };
    let sessions = bench.shared().sessions.clone().unwrap();
    let session = bench.session.identity().session_id;
    let held = lock::acquire(&sessions, session, &holder(1)).unwrap();
    bench.session.detach_clients();
    let code =
        |answer: &Response| answer.body.as_ref().err().unwrap().code_name().map(str::to_owned);
    let goodbye = client.receive().unwrap();
    assert_eq!((goodbye.id, code(&goodbye).as_deref()), (None, Some("session_detached")));
    assert_eq!(client.receive(), None);
    for method in ["runtime.getLogs", "session.handshake", "scene.open"] {
        let refused = bench.client().ask(method);
        assert_eq!(code(&refused).as_deref(), Some("session_detached"), "{method}");
    }
    drop(held);
    let _held = lock::acquire(&sessions, session, &holder(2)).unwrap();
    assert!(bench.client().ask("session.handshake").body.is_ok());
    assert!(bench.client().ask("runtime.getLogs").body.is_ok());
}

#[test]
fn a_session_that_cannot_be_published_leaves_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let mut config = config(&temp);
    config.sessions.path = temp.path().join("file");
    std::fs::File::create(&config.sessions.path).unwrap();
    assert!(Session::open(config, Arc::new(LogRing::new())).is_err());
    let left: Vec<_> = std::fs::read_dir(temp.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
