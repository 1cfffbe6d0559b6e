//! One connection to an engine: requests out, answers in, one at a time, each within its deadline.
//!
//! A connection whose answers can no longer be told apart from one another (a wrong id, half a frame, an answer
//! that came too late) is not used again: it is dropped with whatever is still on its way.
//!
//! Spec: P-9, routes.

use std::{
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use didi_wire::{
    TOKEN_PARAM,
    envelope::{BridgeError, Request, RequestId, Response},
    frame::{self, Decoder},
    token::SessionToken,
};
use interprocess::local_socket::{GenericFilePath, Stream, ToFsName as _, prelude::*};
use serde_json::{Map, Value};

use super::failure::{Failure, Reason};
use crate::{cancel::Cancel, source};

/// How long a wait goes on before it looks whether the caller gave up.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Where a connection has no timeouts of its own, how long it sleeps between two looks.
#[cfg(not(unix))]
const POLL_EVERY: Duration = Duration::from_millis(2);
/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A request, its token and its time.
pub struct Asked<'a> {
    /// A method of the bridge.
    pub method: &'a str,
    /// Public parameters; the token is added to a copy.
    pub params: &'a Map<String, Value>,
    /// The session's token.
    pub token: &'a SessionToken,
    /// When the wait ends, connecting and writing included.
    pub deadline: Instant,
    /// Raised when nobody wants the answer any more.
    pub cancel: &'a Cancel,
}

/// How an idle connection is found.
pub enum Goodbye {
    /// Nothing came.
    StillThere,
    /// The engine hung up, or sent what nobody asked for.
    Closed,
    /// It said why it hangs up.
    Said(BridgeError),
}

/// A connection.
pub struct Link {
    stream: Stream,
    decoder: Decoder,
    next_id: u64,
    idle_since: Instant,
}

impl Link {
    /// Connects to an endpoint.
    ///
    /// # Errors
    /// What the system says.
    pub fn connect(endpoint: &str) -> io::Result<Self> {
        let stream = Stream::connect(endpoint.to_fs_name::<GenericFilePath>()?)?;
        prepare(&stream)?;
        Ok(Link { stream, decoder: Decoder::new(), next_id: 1, idle_since: source::now() })
    }

    /// How long nothing was asked over it.
    pub fn idle(&self) -> Duration {
        source::now().saturating_duration_since(self.idle_since)
    }

    /// Whether the other end still has it; nothing is owed over it, so whatever can be read ends it.
    pub fn is_open(&mut self) -> bool {
        let mut byte = [0];
        let looked = self.stream.set_nonblocking(true).and_then(|()| self.stream.read(&mut byte));
        let quiet = looked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        quiet && prepare(&self.stream).is_ok()
    }

    /// What the engine said without being asked before it hung up; nothing is owed over the connection.
    pub fn goodbye(&mut self) -> Goodbye {
        if self.stream.set_nonblocking(true).is_err() {
            return Goodbye::Closed;
        }
        let mut chunk = [0; 4096];
        loop {
            // It may have come together with the last answer.
            let said = self.decoder.next_frame().ok().flatten();
            match said.map(Response::from_slice) {
                Some(Ok(Response { id: None, body: Err(error) })) => return Goodbye::Said(error),
                Some(_) => return Goodbye::Closed,
                None => {}
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Goodbye::Closed,
                Ok(read) => self.decoder.push(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let _ = prepare(&self.stream);
                    return Goodbye::StillThere;
                }
                Err(_) => return Goodbye::Closed,
            }
        }
    }

    /// Asks, and waits for the answer. After a failure the connection is not to be used again.
    ///
    /// # Errors
    /// Why there is no answer; the engine's own refusal is an answer.
    pub fn ask(&mut self, asked: &Asked<'_>) -> Result<Result<Value, BridgeError>, Failure> {
        let started = source::now();
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let mut params = asked.params.clone();
        params.insert(TOKEN_PARAM.into(), asked.token.reveal().into());
        let request = Request { id, method: asked.method.into(), params };
        let failure = |begun: bool, (reason, detail): (Reason, String)| Failure {
            reason,
            detail,
            request_started: begun,
            waited: source::now().saturating_duration_since(started),
        };
        let frame = frame::encode(&request.to_vec())
            .map_err(|error| failure(false, (Reason::IoError, error.to_string())))?;
        drop(request);
        self.send(&frame, asked).map_err(|(sent, why)| failure(sent > 0, why))?;
        let response = self.receive(asked).map_err(|why| failure(true, why))?;
        if response.id != Some(id) {
            let why = (Reason::IoError, "the answer is to another request".to_owned());
            return Err(failure(true, why));
        }
        self.idle_since = source::now();
        Ok(response.body)
    }

    fn send(&mut self, frame: &[u8], asked: &Asked<'_>) -> Result<(), (usize, (Reason, String))> {
        let mut sent = 0;
        while sent < frame.len() {
            let step = self.step(asked).map_err(|why| (sent, why))?;
            set_send_timeout(&self.stream, step);
            match self.stream.write(&frame[sent..]) {
                Ok(0) => return Err((sent, (Reason::PeerClosed, "the engine hung up".into()))),
                Ok(written) => sent += written,
                Err(error) if waits(&error) => pause(),
                Err(error) => return Err((sent, io_reason(&error))),
            }
        }
        Ok(())
    }

    fn receive(&mut self, asked: &Asked<'_>) -> Result<Response, (Reason, String)> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match self.decoder.next_frame() {
                Ok(Some(payload)) => {
                    return Response::from_slice(payload)
                        .map_err(|error| (Reason::IoError, error.to_string()));
                }
                Ok(None) => {}
                Err(error) => return Err((Reason::IoError, error.to_string())),
            }
            set_receive_timeout(&self.stream, self.step(asked)?);
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err((Reason::PeerClosed, "the engine hung up".into())),
                Ok(read) => self.decoder.push(&chunk[..read]),
                Err(error) if waits(&error) => pause(),
                Err(error) => return Err(io_reason(&error)),
            }
        }
    }

    /// How long the next wait may take.
    #[allow(clippy::unused_self, reason = "a wait is the connection's")]
    fn step(&self, asked: &Asked<'_>) -> Result<Duration, (Reason, String)> {
        if asked.cancel.is_raised() {
            return Err((Reason::Stopped, "the caller gave up".into()));
        }
        let left = asked.deadline.saturating_duration_since(source::now());
        if left.is_zero() {
            return Err((Reason::Deadline, "the time for an answer is over".into()));
        }
        Ok(left.min(LOOK_EVERY))
    }
}

fn io_reason(error: &io::Error) -> (Reason, String) {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let closed =
        matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
    (if closed { Reason::PeerClosed } else { Reason::IoError }, error.to_string())
}

fn waits(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

#[cfg(unix)]
fn prepare(stream: &Stream) -> io::Result<()> {
    stream.set_nonblocking(false)
}

/// Pipes know no timeouts; there, waiting is looking again.
#[cfg(not(unix))]
fn prepare(stream: &Stream) -> io::Result<()> {
    stream.set_nonblocking(true)
}

#[cfg(unix)]
fn set_send_timeout(stream: &Stream, span: Duration) {
    let _ = stream.set_send_timeout(Some(span));
}

#[cfg(unix)]
fn set_receive_timeout(stream: &Stream, span: Duration) {
    let _ = stream.set_recv_timeout(Some(span));
}

#[cfg(unix)]
fn pause() {}

#[cfg(not(unix))]
fn set_send_timeout(_: &Stream, _: Duration) {}

#[cfg(not(unix))]
fn set_receive_timeout(_: &Stream, _: Duration) {}

#[cfg(not(unix))]
fn pause() {
    std::thread::sleep(POLL_EVERY);
}
