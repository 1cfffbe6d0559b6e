//! A plain client of HTTP/1.1 over a socket: what is sent is written out, so that a test can send what no library would.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

use crate::server::PATIENCE;

/// One connection.
pub struct Http {
    stream: BufReader<TcpStream>,
}

/// One response.
#[derive(Debug, Clone)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }
}

impl Http {
    /// Connects to a port of this machine.
    ///
    /// # Panics
    /// When nobody listens.
    pub fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a span is given");
        stream.set_write_timeout(Some(PATIENCE)).expect("a span is given");
        stream.set_nodelay(true).expect("the socket is open");
        Http { stream: BufReader::new(stream) }
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// When the other end is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Says that nothing more comes.
    ///
    /// # Panics
    /// When the socket is gone.
    pub fn close_writing(&mut self) {
        self.stream.get_mut().shutdown(std::net::Shutdown::Write).expect("the socket is open");
    }

    /// The next response.
    ///
    /// # Panics
    /// When none comes in time, or it is none.
    pub fn response(&mut self) -> Response {
        self.try_response().expect("a response comes")
    }

    /// The next response; `None` when the other end closes instead.
    ///
    /// # Panics
    /// When neither comes in time, or what comes is no response.
    pub fn try_response(&mut self) -> Option<Response> {
        loop {
            let response = self.read()?;
            if response.status != 100 {
                return Some(response);
            }
        }
    }

    /// The next response, of which only the head comes.
    ///
    /// # Panics
    /// When none comes in time.
    pub fn head(&mut self) -> Response {
        self.read_head().expect("a head comes")
    }

    fn read(&mut self) -> Option<Response> {
        let mut response = self.read_head()?;
        response.body = self.body(&response)?;
        Some(response)
    }

    fn read_head(&mut self) -> Option<Response> {
        let first = self.line()?;
        let status =
            first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no line of a response: {first:?}"));
        let mut headers = vec![];
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) =
                line.split_once(':').unwrap_or_else(|| panic!("no header: {line:?}"));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Some(Response { status, headers, body: vec![] })
    }

    fn body(&mut self, response: &Response) -> Option<Vec<u8>> {
        let mut body = vec![];
        if response.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = self.line()?;
                let size = usize::from_str_radix(size.trim(), 16).expect("a chunk says its size");
                let mut chunk = self.exactly(size)?;
                self.line()?;
                if size == 0 {
                    return Some(body);
                }
                body.append(&mut chunk);
            }
        }
        let length = response.header("content-length").unwrap_or("0");
        self.exactly(length.parse().expect("a length is a number"))
    }

    fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        let read = self.stream.read_exact(&mut bytes);
        has_come(read.map(|()| 1)).map(|_| bytes)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        has_come(read).map(|_| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Whether the other end has closed, or does within `span`.
    ///
    /// # Panics
    /// When something else comes.
    pub fn is_closed_within(&mut self, span: Duration) -> bool {
        self.stream.get_ref().set_read_timeout(Some(span)).expect("a span is given");
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(0) => true,
            Ok(_) => panic!("something came where the end was expected"),
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
            ),
        }
    }
}

/// What a read came to; `None` when the other end is gone. One that stays and says nothing is a failure of the test.
fn has_come(read: io::Result<usize>) -> Option<usize> {
    use io::ErrorKind as Kind;
    match read {
        Ok(0) => None,
        Ok(length) => Some(length),
        Err(error) => match error.kind() {
            Kind::UnexpectedEof
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe => None,
            _ => panic!("nothing came: {error}"),
        },
    }
}
