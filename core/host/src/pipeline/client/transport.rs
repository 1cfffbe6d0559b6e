//! One request to one instance over a connection of its own, and exactly how it failed.
//!
//! A connection a request, and no pool: what a caller has to know is whether anything was sent, and a kept
//! connection that the other side just closed can't tell. The address is always 127.0.0.1 and never a name;
//! there is no proxy and no `Origin`. Whether to try again is left to [`super::Client`].
//!
//! Spec: P-70, the client of the Pipeline.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Instant,
};

use bytes::Bytes;
use didi_pipeline::descriptor::Secret;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1,
    header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout_at};

/// Largest answer that is taken, in bytes: a capture may come in one.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// What to do at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Look; may be done again.
    Get {
        /// Path and query.
        path: String,
    },
    /// Do something; may have been done when nothing comes back.
    Post {
        /// Path.
        path: &'static str,
        /// JSON.
        body: Vec<u8>,
    },
}

impl Ask {
    /// Looks at a path.
    pub fn get(path: impl Into<String>) -> Self {
        Ask::Get { path: path.into() }
    }
}

/// What came back, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why nothing came back that can be read.
#[derive(Debug)]
pub enum Failure {
    /// Nobody listens, or the connection ended before anything of the request went out: it surely did not run.
    Refused(String),
    /// The system does not let this process connect.
    Denied(io::Error),
    /// The request went out and the connection ended before an answer: it may have run.
    Unanswered(String),
    /// The time was over.
    TimedOut {
        /// Whether the request went out before that, so that it may have run.
        sent: bool,
    },
    /// An answer came and can't be read: it may have run.
    BadAnswer(String),
    /// Its process has ended.
    Dead {
        /// The process.
        pid: u32,
    },
    /// The caller gave up.
    Cancelled {
        /// Whether the request went out before that.
        sent: bool,
    },
}

impl Failure {
    /// Whether a command of this request may have run.
    pub fn may_have_run(&self) -> bool {
        match self {
            Failure::Unanswered(_) | Failure::BadAnswer(_) => true,
            Failure::TimedOut { sent } | Failure::Cancelled { sent } => *sent,
            Failure::Refused(_) | Failure::Denied(_) | Failure::Dead { .. } => false,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(why) => write!(out, "no connection came about: {why}"),
            Failure::Denied(error) => write!(out, "connecting is not permitted here: {error}"),
            Failure::Unanswered(why) => {
                write!(
                    out,
                    "the connection ended after the request was sent and before an answer: {why}"
                )
            }
            Failure::TimedOut { sent: true } => {
                out.write_str("the request was sent, and no answer came in time")
            }
            Failure::TimedOut { sent: false } => out.write_str("no connection came about in time"),
            Failure::BadAnswer(why) => write!(out, "the answer can't be read: {why}"),
            Failure::Dead { pid } => write!(out, "the process {pid} of the instance has ended"),
            Failure::Cancelled { .. } => out.write_str("the caller gave up"),
        }
    }
}

impl std::error::Error for Failure {}

/// Sends one request and takes its answer. One deadline bounds all of it.
///
/// # Errors
/// How it failed; see [`Failure`].
pub async fn exchange(
    port: u16,
    token: Secret,
    ask: Ask,
    deadline: Instant,
) -> Result<Answer, Failure> {
    let deadline = deadline.into();
    let connecting = connect(port);
    let mut sender =
        timeout_at(deadline, connecting).await.unwrap_or(Err(Failure::TimedOut { sent: false }))?;
    let request = request(port, &token, ask)?;
    let answering = async {
        let response = sender.try_send_request(request).await.map_err(|mut error| {
            // The request handed back is one of which nothing went out.
            let unsent = error.take_message().is_some();
            let why = chain(error.error());
            if unsent { Failure::Refused(why) } else { failed_later(error.error(), why) }
        })?;
        collect(response).await
    };
    timeout_at(deadline, answering).await.unwrap_or(Err(Failure::TimedOut { sent: true }))
}

async fn connect(port: u16) -> Result<http1::SendRequest<Full<Bytes>>, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Failure::Denied(error),
        kind => Failure::Refused(kind.to_string()),
    })?;
    // A small request should not wait for a fuller packet.
    let _ = stream.set_nodelay(true);
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| Failure::Refused(chain(&error)))?;
    // Its end is told by the request's own error.
    tokio::spawn(connection);
    Ok(sender)
}

fn request(port: u16, token: &Secret, ask: Ask) -> Result<Request<Full<Bytes>>, Failure> {
    let bearer = format!("Bearer {}", token.reveal());
    let mut bearer = hyper::header::HeaderValue::try_from(bearer)
        .map_err(|_| Failure::Refused("the token of the descriptor can't be sent".into()))?;
    bearer.set_sensitive(true);
    let builder = Request::builder()
        .header(HOST, format!("127.0.0.1:{port}"))
        .header(CONNECTION, "close")
        .header(AUTHORIZATION, bearer);
    let built = match ask {
        Ask::Get { path } => builder.method("GET").uri(path).body(Full::default()),
        Ask::Post { path, body } => builder
            .method("POST")
            .uri(path)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body.into())),
    };
    built.map_err(|error| Failure::Refused(format!("the request can't be made: {error}")))
}

async fn collect(response: Response<Incoming>) -> Result<Answer, Failure> {
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES);
    let body = body.collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            let message = format!("it is longer than {MAX_ANSWER_BYTES} bytes");
            return Failure::BadAnswer(message);
        }
        Failure::Unanswered(format!("in the middle of an answer: {error}"))
    })?;
    Ok(Answer { status, body: body.to_bytes().to_vec() })
}

/// The request went out: something other than HTTP came back, or nothing.
fn failed_later(error: &hyper::Error, why: String) -> Failure {
    if error.is_parse() { Failure::BadAnswer(why) } else { Failure::Unanswered(why) }
}

/// An error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
