//! The listener: requests of HTTP on loopback, judged in the protocol's order before anything is looked at.
//!
//! Loopback, Host, Origin, preflight, token, path, method, size: what fails is answered, its body read to the end
//! within bounds, so that the connection serves the next request. What a command is is left to
//! [`exec`].
//!
//! Spec: P-68, the listener.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use didi_pipeline::{listing::Query, reply::Reply, request::MAX_BODY_BYTES};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Method, StatusCode, Uri, Version,
    body::{Body as _, Incoming},
    header::{self, HeaderName, HeaderValue},
    http::uri::{Authority, PathAndQuery},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{
        Mutex, Semaphore,
        oneshot::{self, error::TryRecvError},
    },
    time::{sleep, timeout, timeout_at},
};

use self::patient::Patient;
use super::{
    advert::{self, Advert},
    exec::{self, Answer, Begun, Exec, Judged},
    probes::{self, StatusPage, Told},
    queue::Snapshot,
};
use crate::source;

mod patient;

/// Largest body of a request to cancel a job, in bytes.
pub const MAX_CANCEL_BYTES: usize = 4096;

/// Bytes of a body past its bound that are read, so that its sender hears the answer.
pub const MAX_DRAIN_BYTES: usize = 8 * 1024 * 1024;

/// How long a request's head may take, and how long a connection may be idle.
pub const HEAD_LIMIT: Duration = Duration::from_secs(30);

/// How long a body may take.
pub const BODY_LIMIT: Duration = Duration::from_secs(15);

/// How long the other end may take nothing of an answer.
pub const STALL_LIMIT: Duration = Duration::from_secs(30);

/// How long the host's own questions may wait behind commands.
const QUESTION_LIMIT: Duration = Duration::from_secs(60);

/// Connections that are open at the most; more wait to be accepted.
pub const MAX_CONNECTIONS: usize = 1024;

/// Bodies up to this size are judged, and results written, at once; larger ones on a thread of their own.
const SMALL_BYTES: usize = 64 * 1024;

/// How long an answer is waited for before its thread is put to rest: about what it takes to be woken again.
const SOON: Duration = Duration::from_micros(150);

/// How often a lost listener is opened anew.
const REOPEN_EVERY: Duration = Duration::from_secs(5);

/// How long accepting rests after an error that passes, such as one connection too many.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// How long a browser may keep the answer to its preflight.
const PREFLIGHT_SECONDS: &str = "600";

/// What can be asked.
#[derive(Debug, Clone, Copy)]
enum Endpoint {
    Status,
    EditorStatus,
    Dialog,
    Commands,
    Exec,
    TestStatus,
    Progress,
    Job,
    CancelJob,
}

/// The endpoints, and the one method of each.
const ENDPOINTS: [(&str, Method, Endpoint); 9] = [
    ("/api/status", Method::GET, Endpoint::Status),
    ("/api/exec", Method::POST, Endpoint::Exec),
    ("/api/job", Method::GET, Endpoint::Job),
    ("/api/progress", Method::GET, Endpoint::Progress),
    ("/api/editor_status", Method::GET, Endpoint::EditorStatus),
    ("/api/dialog", Method::GET, Endpoint::Dialog),
    ("/api/commands", Method::GET, Endpoint::Commands),
    ("/api/test-status", Method::GET, Endpoint::TestStatus),
    ("/api/job/cancel", Method::POST, Endpoint::CancelJob),
];

type Request = hyper::Request<Incoming>;
type Response = hyper::Response<Full<Bytes>>;

/// What requests are answered from.
pub struct Door {
    /// Runs commands.
    pub exec: Arc<Exec>,
    /// Port, token and descriptor.
    pub advert: Arc<Advert>,
    /// Whether a page without an origin may call (`--allow-browser-clients`).
    allow_browser_clients: bool,
    page: StatusPage,
    /// Held while an editor is looked for, so that those who wait for that take one thread and not all.
    looking: Mutex<()>,
}

/// Serves until the process ends; a listener that is lost is opened anew on its port.
pub async fn serve(door: Arc<Door>, listener: std::net::TcpListener) {
    let port = door.advert.port();
    serve_on(port, listener, move |peer, request| answer(Arc::clone(&door), peer, request)).await;
}

async fn serve_on<A: Future<Output = Response> + Send + 'static>(
    port: u16,
    listener: std::net::TcpListener,
    answer: impl Fn(SocketAddr, Request) -> A + Clone + Send + 'static,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut listener = TcpListener::from_std(listener);
    loop {
        match listener {
            Ok(open) => {
                let lost = accept(&open, &answer, &places).await;
                tracing::warn!("the Pipeline's listener is lost: {lost}");
                drop(open);
            }
            Err(error) => {
                tracing::warn!("the Pipeline's listener can't be opened: {error}");
                sleep(REOPEN_EVERY).await;
            }
        }
        listener = advert::bind(port).and_then(TcpListener::from_std);
    }
}

/// Takes connections until the listener is lost; answers how.
async fn accept<A: Future<Output = Response> + Send + 'static>(
    listener: &TcpListener,
    answer: &(impl Fn(SocketAddr, Request) -> A + Clone + Send + 'static),
    places: &Arc<Semaphore>,
) -> io::Error {
    loop {
        // Never closed.
        let Ok(place) = Arc::clone(places).acquire_owned().await else { continue };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let answer = answer.clone();
                tokio::spawn(async move {
                    connection(stream, move |request| answer(peer, request)).await;
                    drop(place);
                });
            }
            Err(error) if is_passing(&error) => sleep(ACCEPT_REST).await,
            Err(error) => return error,
        }
    }
}

/// Whether an error is one of a single connection, or of a moment without descriptors.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let of_connection = matches!(
        error.kind(),
        Kind::ConnectionAborted
            | Kind::ConnectionReset
            | Kind::ConnectionRefused
            | Kind::Interrupted
            | Kind::WouldBlock
            | Kind::TimedOut
            | Kind::OutOfMemory
    );
    // Too many open files, of this process and of the system.
    of_connection || (cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)))
}

async fn connection<A: Future<Output = Response>>(
    stream: TcpStream,
    answer: impl Fn(Request) -> A,
) {
    // Small answers leave at once.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answered = answer(request);
        async move { Ok::<_, Infallible>(answered.await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        // A client that has said everything still reads.
        .half_close(true)
        .serve_connection(TokioIo::new(Patient::new(stream, STALL_LIMIT)), service)
        .await;
    if let Err(error) = served {
        tracing::debug!("a connection of the Pipeline ended: {error}");
    }
}

/// Paths are compared in lower case; the query stays as it is.
fn lower_path(uri: &mut Uri) {
    if !uri.path().bytes().any(|letter| letter.is_ascii_uppercase()) {
        return;
    }
    let path = uri.path().to_ascii_lowercase();
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = whole.parse::<PathAndQuery>().ok();
    if let Ok(lowered) = Uri::from_parts(parts) {
        *uri = lowered;
    }
}

/// Answers a request, after everything that is looked at before it means something.
async fn answer(door: Arc<Door>, peer: SocketAddr, mut request: Request) -> Response {
    lower_path(request.uri_mut());
    let from_browser = request.headers().contains_key(header::ORIGIN);
    let mut response = match admitted(&door, peer, &request) {
        Ok(endpoint) => ask(&door, endpoint, request).await,
        Err(response) => {
            let drained = drain(request.into_body()).await;
            closing(*response, !drained)
        }
    };
    let is_forbidden = response.status() == StatusCode::FORBIDDEN;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if from_browser && door.allow_browser_clients && !is_forbidden {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}

async fn ask(door: &Arc<Door>, endpoint: Endpoint, request: Request) -> Response {
    match endpoint {
        Endpoint::Status => status(door, request).await,
        Endpoint::EditorStatus => editor_status(door, request).await,
        Endpoint::Dialog => dialog(door, request).await,
        Endpoint::Commands => commands(door, request).await,
        Endpoint::Exec => exec(door, request).await,
        Endpoint::TestStatus => test_status(door, request).await,
        Endpoint::Progress => progress(door, request).await,
        Endpoint::Job => job(door, request).await,
        Endpoint::CancelJob => cancel(door, request).await,
    }
}

/// What a request asks, in the protocol's order of checks.
///
/// # Errors
/// The answer to one that goes no further.
fn admitted(door: &Door, peer: SocketAddr, request: &Request) -> Result<Endpoint, Box<Response>> {
    let headers = request.headers();
    if !peer.ip().is_loopback() {
        return Err(Box::new(told(forbidden("Only this machine may connect"))));
    }
    if let Some(refused) = host_refusal(request) {
        return Err(Box::new(told(refused)));
    }
    if !origin_is_allowed(door, headers) {
        return Err(Box::new(told(forbidden("Cross-origin requests are not allowed"))));
    }
    let path = request.uri().path();
    let known = ENDPOINTS.iter().find(|(known, ..)| *known == path);
    if request.method() == Method::OPTIONS {
        return Err(Box::new(if headers.contains_key(header::ORIGIN) {
            preflight(headers)
        } else {
            let allowed = known.map_or("GET, POST", |(_, method, _)| method.as_str());
            wrong_method("OPTIONS is answered for browser clients only", allowed)
        }));
    }
    if !is_authorized(door, headers) {
        let details = "Send 'Authorization: Bearer <token>' with the token of the port descriptor";
        let mut response = told(probes::fault(401, "Unauthorized", details));
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Err(Box::new(response));
    }
    match known {
        None => Err(Box::new(written(404, "text/plain", "Not Found"))),
        Some((_, method, endpoint)) if request.method() == method => Ok(*endpoint),
        Some((_, method, _)) => {
            let details = format!("This endpoint only supports {method} requests");
            Err(Box::new(wrong_method(&details, method.as_str())))
        }
    }
}

fn forbidden(details: &str) -> Told {
    probes::fault(403, "Forbidden", details)
}

/// A page that has its name point to this machine sends that name; no program of this machine does.
fn host_refusal(request: &Request) -> Option<Told> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = named.next();
    if named.next().is_some() || (host.is_none() && request.version() == Version::HTTP_11) {
        return Some(probes::fault(400, "Bad Request", "Exactly one Host header is required"));
    }
    let in_target = request.uri().authority().map(Authority::as_str);
    let in_header = host.map(|host| host.to_str().unwrap_or("?"));
    let foreign = in_target.into_iter().chain(in_header).any(|name| !is_loopback_name(name));
    foreign.then(|| {
        forbidden("The Host header has to name this machine: 127.0.0.1, localhost or [::1]")
    })
}

/// `localhost`, `127.0.0.0/8` or `[::1]`, with any port.
fn is_loopback_name(text: &str) -> bool {
    // What nearly every client sends is told at a glance.
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    let name =
        text.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(text, |(name, _)| name);
    name == "127.0.0.1" || name == "localhost" || is_loopback_authority(text)
}

fn is_loopback_authority(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host();
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// No Origin, or the one of a page without an origin where that was allowed.
fn origin_is_allowed(door: &Door, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => door.allow_browser_clients && origin == "null",
        (Some(_), Some(_)) => false,
    }
}

fn is_authorized(door: &Door, headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return false };
    let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.trim().split_once(' '))
    else {
        return false;
    };
    scheme.eq_ignore_ascii_case("bearer") && door.advert.is_own_token(token.trim())
}

fn preflight(headers: &HeaderMap) -> Response {
    const PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
    const MAY_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let out = response.headers_mut();
    let mut say = |name, value| out.insert(name, HeaderValue::from_static(value));
    say(header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS");
    say(header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type");
    say(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
    if headers.contains_key(PRIVATE) {
        say(MAY_PRIVATE, "true");
    }
    response
}

fn wrong_method(details: &str, allowed: &str) -> Response {
    let mut response = told(probes::fault(405, "Method Not Allowed", details));
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// A body over several lines.
fn told((status, body): Told) -> Response {
    // A tree of JSON values always serialises.
    written(status, "application/json", serde_json::to_string_pretty(&body).unwrap_or_default())
}

fn written(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    // The numbers are constants of this program.
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn answered(answer: Answer) -> Response {
    written(answer.status, "application/json", answer.body)
}

/// With `Connection: close` where what was sent is not all read.
fn closing(mut response: Response, closes: bool) -> Response {
    if closes {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads a body to its end and forgets it; whether the end was reached.
async fn drain(body: Incoming) -> bool {
    if body.is_end_stream() {
        return true;
    }
    matches!(read(body, 0).await, Read::Whole(_) | Read::TooLarge { drained: true })
}

/// How reading a body ended.
enum Read {
    Whole(Vec<u8>),
    TooLarge { drained: bool },
    TooSlow,
    Broken,
}

async fn read(mut body: Incoming, limit: usize) -> Read {
    let deadline = tokio::time::Instant::now() + BODY_LIMIT;
    let announced = body.size_hint().lower();
    let mut too_large = announced > limit as u64;
    let (mut kept, mut seen) = (Vec::new(), 0);
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => return Read::TooSlow,
            Ok(None) if too_large => return Read::TooLarge { drained: true },
            Ok(None) => return Read::Whole(kept),
            Ok(Some(Err(_))) => return Read::Broken,
            Ok(Some(Ok(frame))) => frame,
        };
        let chunk: Bytes = frame.into_data().unwrap_or_default();
        seen += chunk.len();
        too_large = too_large || seen > limit;
        if too_large {
            kept = Vec::new();
            if seen > MAX_DRAIN_BYTES {
                return Read::TooLarge { drained: false };
            }
        } else {
            kept.extend_from_slice(&chunk);
        }
    }
}

/// The body within its bound, or the answer to it.
async fn body_of(request: Request, limit: usize) -> Result<Vec<u8>, Box<Response>> {
    match read(request.into_body(), limit).await {
        Read::Whole(body) => Ok(body),
        Read::TooLarge { drained } => {
            let details = format!("A request to this endpoint has at most {limit} bytes");
            let response = told(probes::fault(413, "Payload Too Large", &details));
            Err(Box::new(closing(response, !drained)))
        }
        Read::TooSlow => {
            let details = format!("The body did not come within {} s", BODY_LIMIT.as_secs());
            let response = told(probes::fault(408, "Request Timeout", &details));
            Err(Box::new(closing(response, true)))
        }
        Read::Broken => {
            let response = told(probes::fault(400, "Bad Request", "The body can't be read"));
            Err(Box::new(closing(response, true)))
        }
    }
}

/// The query of a request whose body, if it has one, says nothing.
async fn query_of(request: Request) -> Query {
    let (parts, body) = request.into_parts();
    drain(body).await;
    query(&parts.uri)
}

fn query(uri: &Uri) -> Query {
    Query::read(uri.query().unwrap_or_default())
}

async fn status(door: &Door, request: Request) -> Response {
    drain(request.into_body()).await;
    door.advert.beat();
    written(200, "application/json", door.page.text(&door.exec, door.advert.heartbeat_ms()))
}

async fn dialog(door: &Door, request: Request) -> Response {
    drain(request.into_body()).await;
    told(probes::dialog(&door.exec))
}

async fn progress(door: &Door, request: Request) -> Response {
    told(probes::progress(&door.exec, &query_of(request).await))
}

async fn job(door: &Door, request: Request) -> Response {
    let query = query_of(request).await;
    shown(probes::job(&door.exec, &query), query).await
}

async fn commands(door: &Arc<Door>, request: Request) -> Response {
    let (door, query) = (Arc::clone(door), query_of(request).await);
    // The whole list takes longer to write than everything else.
    aside(move || told(probes::commands(&door.exec, door.page.host(), &query))).await
}

async fn cancel(door: &Door, request: Request) -> Response {
    let query = query(request.uri());
    match body_of(request, MAX_CANCEL_BYTES).await {
        Ok(body) => shown(probes::cancel(&door.exec, &body), query).await,
        Err(response) => *response,
    }
}

/// A job, written where it keeps nobody when it is long.
async fn shown(job: Result<Snapshot, Told>, query: Query) -> Response {
    let write = move |job: &Snapshot| told(probes::job_told(job, &query));
    match job {
        Err(none) => told(none),
        Ok(job) if job.bytes() <= SMALL_BYTES => write(&job),
        Ok(job) => aside(move || write(&job)).await,
    }
}

/// The answer of work that takes a while, and that is done where it keeps nobody.
async fn aside(work: impl FnOnce() -> Response + Send + 'static) -> Response {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| lost())
}

async fn editor_status(door: &Arc<Door>, request: Request) -> Response {
    drain(request.into_body()).await;
    if let Some(status) = door.exec.status_of_blocked() {
        return told(probes::told(&status));
    }
    door.ask("editor_status", Exec::editor_status).await
}

async fn test_status(door: &Arc<Door>, request: Request) -> Response {
    drain(request.into_body()).await;
    door.ask("test_status", Exec::test_status).await
}

async fn exec(door: &Arc<Door>, request: Request) -> Response {
    let body = match body_of(request, MAX_BODY_BYTES).await {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let judged = match door.judge(body).await {
        Ok(judged) => judged,
        Err(answer) => return answer.map_or_else(lost, answered),
    };
    let (sender, mut answer) = oneshot::channel();
    let waiting = match door.start(judged, sender).await {
        Some(Begun::Waiting(waiting)) => waiting,
        Some(Begun::Done(answer)) => return answered(answer),
        None => return lost(),
    };
    let done = match soon(&mut answer) {
        Ok(answer) => Some(answer),
        Err(TryRecvError::Closed) => None,
        Err(TryRecvError::Empty) => match timeout(waiting.limit, &mut answer).await {
            Ok(answer) => answer.ok(),
            Err(_) => match door.exec.late(&waiting) {
                Some(late) => Some(late),
                None => answer.await.ok(),
            },
        },
    };
    done.map_or_else(lost, answered)
}

/// An answer that is there before this thread could be put to rest and woken again, which takes as long as a cheap command.
/// One whose sender is gone must not be waited for.
fn soon(answer: &mut oneshot::Receiver<Answer>) -> Result<Answer, TryRecvError> {
    let end = source::now() + SOON;
    loop {
        match answer.try_recv() {
            Err(TryRecvError::Empty) if source::now() < end => std::thread::yield_now(),
            told => return told,
        }
    }
}

/// The queue lets no answer fall, unless it broke off.
fn lost() -> Response {
    told(probes::told(&exec::lost()))
}

impl Door {
    /// A door to what runs commands, at the place that was taken.
    pub fn new(exec: Arc<Exec>, advert: Arc<Advert>, allow_browser_clients: bool) -> Self {
        let host = probes::Host { port: advert.port(), started_ms: advert.started_ms() };
        let page = StatusPage::of(&exec, host);
        Door { exec, advert, allow_browser_clients, page, looking: Mutex::default() }
    }

    /// Judges a request; a large one where it keeps nobody.
    ///
    /// # Errors
    /// The answer to one that is not in order; `None` when judging broke off.
    async fn judge(&self, body: Vec<u8>) -> Result<Judged, Option<Answer>> {
        if body.len() <= SMALL_BYTES {
            return self.exec.judge(&body).map_err(Some);
        }
        let exec = Arc::clone(&self.exec);
        let judged = tokio::task::spawn_blocking(move || exec.judge(&body)).await;
        judged.map_err(|_| None)?.map_err(Some)
    }

    /// Starts a request, where it keeps nobody if an editor has to be attached for it; `None` when it broke off.
    async fn start(&self, judged: Judged, sender: oneshot::Sender<Answer>) -> Option<Begun> {
        let done = move |answer| {
            // Whoever asked may have gone.
            let _ = sender.send(answer);
        };
        if let Some(standing) = self.exec.known_standing(&judged) {
            return Some(self.exec.start(judged, &standing, done));
        }
        let _looking = self.looking.lock().await;
        let exec = Arc::clone(&self.exec);
        let start = move || {
            let standing = exec.standing_for(&judged);
            exec.start(judged, &standing, done)
        };
        tokio::task::spawn_blocking(start).await.ok()
    }

    /// Asks a question of the host's own in the queue.
    async fn ask(&self, name: &'static str, what: fn(&Exec) -> Reply) -> Response {
        let (sender, mut reply) = oneshot::channel();
        let asked = self.exec.ask(name, what, move |reply| {
            // Whoever asked may have gone.
            let _ = sender.send(reply);
        });
        let run = match asked {
            Ok(run) => run,
            Err(reply) => return told(probes::told(&reply)),
        };
        let reply = match timeout(QUESTION_LIMIT, &mut reply).await {
            Ok(reply) => reply.ok(),
            Err(_) => match self.exec.give_up(&run) {
                Some(late) => Some(late),
                None => reply.await.ok(),
            },
        };
        reply.map_or_else(lost, |reply| told(probes::told(&reply)))
    }
}

#[cfg(test)]
mod tests;
