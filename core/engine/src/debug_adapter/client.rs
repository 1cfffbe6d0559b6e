//! One connection to an adapter: a request, and the answer to it among whatever else the adapter tells.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::message::{self, Decoder, Unreadable};
use crate::lock;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// How long a connection may take to be made. The adapter is on this machine.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// Why an adapter told nothing.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Nobody listens.
    #[error("nothing takes a connection on port {port}")]
    Unreachable {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The connection ended.
    #[error("the connection to the adapter ended")]
    Ended,
    /// The time is up.
    #[error("the adapter did not answer in time")]
    Late,
    /// What listens does not speak the protocol, or says more than is read.
    #[error("what it answers is no message of the protocol, or too long a one")]
    Unreadable,
    /// The adapter refused a request.
    #[error("the adapter refused `{command}`: {why}")]
    Refused {
        /// The request.
        command: &'static str,
        /// The adapter's word for it.
        why: String,
    },
    /// A request that does something was sent, and no answer to it came: whether it was done is not known.
    #[error("`{command}` was sent, and no answer came")]
    Unanswered {
        /// The request.
        command: &'static str,
    },
    /// What it tells is not of the game that it is asked about.
    #[error("it tells of another game than this editor's")]
    Foreign,
}

impl From<Unreadable> for Fault {
    fn from(_: Unreadable) -> Self {
        Fault::Unreadable
    }
}

/// Lets another thread end a conversation that it no longer waits for.
#[derive(Debug, Clone, Default)]
pub struct Leash(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    cut: bool,
    stream: Option<TcpStream>,
}

impl Leash {
    /// Ends the conversation: whoever reads in it gets [`Fault::Ended`] at once.
    pub fn cut(&self) {
        let mut held = lock(&self.0);
        held.cut = true;
        if let Some(stream) = held.stream.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn hold(&self, stream: &TcpStream) -> Result<(), Fault> {
        let mut held = lock(&self.0);
        if held.cut {
            return Err(Fault::Ended);
        }
        // What could not be cut would be waited for without an end.
        held.stream = Some(stream.try_clone().map_err(|_| Fault::Ended)?);
        Ok(())
    }

    fn is_cut(&self) -> bool {
        lock(&self.0).cut
    }
}

/// A connection that is open. It is only ever closed: a client that was not attached and says `disconnect` ends
/// the game.
pub(super) struct Client {
    stream: TcpStream,
    decoder: Decoder,
    buffer: Vec<u8>,
    leash: Leash,
    last_seq: u64,
    end: Instant,
}

/// What every message has.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    request_seq: Option<u64>,
    #[serde(default)]
    success: bool,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Whole<T> {
    body: T,
}

impl Client {
    /// Connects on this machine, and says hello. All of it ends by `end`.
    pub(super) fn connect(port: u16, end: Instant, leash: &Leash) -> Result<Self, Fault> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let limit = left(end)?.min(CONNECT_LIMIT);
        let stream = TcpStream::connect_timeout(&address, limit)
            .map_err(|source| Fault::Unreachable { port, source })?;
        leash.hold(&stream)?;
        let mut client = Client {
            stream,
            decoder: Decoder::default(),
            buffer: vec![0; READ_BYTES],
            leash: leash.clone(),
            last_seq: 0,
            end,
        };
        client.do_it(
            "initialize",
            json!({
                "adapterID": "didi",
                "linesStartAt1": true,
                "columnsStartAt1": true,
                "supportsVariableType": true,
            }),
        )?;
        Ok(client)
    }

    /// Asks for something to be done, and for no more of an answer than that it was.
    pub(super) fn do_it(&mut self, command: &'static str, arguments: Value) -> Result<(), Fault> {
        self.answer(command, arguments, |_| Ok(()))
    }

    /// Asks for something to be told.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        command: &'static str,
        arguments: Value,
    ) -> Result<T, Fault> {
        self.answer(command, arguments, |body| {
            let whole: Whole<T> = serde_json::from_slice(body).map_err(|_| Fault::Unreadable)?;
            Ok(whole.body)
        })
    }

    fn answer<T>(
        &mut self,
        command: &'static str,
        arguments: Value,
        read: impl Fn(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.last_seq += 1;
        let seq = self.last_seq;
        let request =
            json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
        self.send(&message::encode(&request))?;
        loop {
            while let Some(body) = self.decoder.next_body()? {
                let head: Head = serde_json::from_slice(body).map_err(|_| Fault::Unreadable)?;
                if head.kind != "response" || head.request_seq != Some(seq) {
                    continue;
                }
                if head.success {
                    return read(body);
                }
                return Err(Fault::Refused { command, why: head.message.unwrap_or_default() });
            }
            self.receive()?;
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let limit = left(self.end)?;
        self.stream.set_write_timeout(Some(limit)).map_err(|_| Fault::Ended)?;
        self.stream.write_all(bytes).map_err(|error| fault(&error))
    }

    fn receive(&mut self) -> Result<(), Fault> {
        let limit = left(self.end)?;
        self.stream.set_read_timeout(Some(limit)).map_err(|_| Fault::Ended)?;
        match self.stream.read(&mut self.buffer) {
            Ok(0) => Err(Fault::Ended),
            Ok(read) => {
                self.decoder.push(&self.buffer[..read]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(fault(&error)),
        }
    }

    /// Reads and forgets, until the connection ends.
    pub(super) fn idle(mut self) {
        if self.stream.set_read_timeout(None).is_err() {
            return;
        }
        loop {
            match self.stream.read(&mut self.buffer) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            }
        }
    }

    /// Waits a little before what was not there yet is asked for again.
    pub(super) fn pause(&self, span: Duration) -> Result<(), Fault> {
        std::thread::sleep(left(self.end)?.min(span));
        if self.leash.is_cut() { Err(Fault::Ended) } else { Ok(()) }
    }
}

impl Drop for Client {
    /// The leash's handle goes along: as long as there is one, an adapter that still writes waits for it to be read,
    /// and its editor stands still.
    fn drop(&mut self) {
        lock(&self.leash.0).stream = None;
    }
}

/// The time until a deadline.
fn left(end: Instant) -> Result<Duration, Fault> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Fault::Late) } else { Ok(left) }
}

fn fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Fault::Late,
        _ => Fault::Ended,
    }
}
