//! The stdio front: bounded lines in, whole lines out.
//!
//! At start the protocol stream is moved to a descriptor of its own and standard output is pointed at
//! standard error, so that only protocol lines reach the client, whatever a pack or a library prints.
//!
//! Spec: P-1, lines and messages.

use std::{
    fs::File,
    io::{self, Read, Write},
    sync::{Mutex, PoisonError},
};

use crate::jsonrpc::MAX_LINE_BYTES;

/// Bytes asked of standard input at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of answers held back while more requests wait in the read buffer.
const FLUSH_AT_BYTES: usize = 64 * 1024;

/// The protocol's output. Lines are whole, whoever writes.
pub struct Output {
    inner: Mutex<Buffered>,
}

struct Buffered {
    file: File,
    held: Vec<u8>,
    closed: bool,
}

impl Output {
    /// Takes standard output over for the protocol and points descriptor 1 at standard error.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    #[cfg(unix)]
    pub fn take_stdout() -> io::Result<Self> {
        let protocol = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Output::over(File::from(protocol)))
    }

    /// Writes to a file.
    pub fn over(file: File) -> Self {
        Output { inner: Mutex::new(Buffered { file, held: Vec::new(), closed: false }) }
    }

    /// Writes a line now, behind whatever was held back.
    pub fn send(&self, line: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.hold(line);
        inner.flush();
    }

    /// Writes a line with the next flush.
    pub fn hold(&self, line: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.hold(line);
        if inner.held.len() >= FLUSH_AT_BYTES {
            inner.flush();
        }
    }

    /// Writes what was held back.
    pub fn flush(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }
}

impl Buffered {
    fn hold(&mut self, line: &[u8]) {
        self.held.extend_from_slice(line);
        self.held.push(b'\n');
    }

    fn flush(&mut self) {
        if self.held.is_empty() {
            return;
        }
        // A client that closed its end is seen at the end of input; nothing is left to tell it.
        if !self.closed && self.file.write_all(&self.held).is_err() {
            self.closed = true;
        }
        self.held.clear();
        self.held.shrink_to(FLUSH_AT_BYTES);
    }
}

/// One step of reading.
pub enum Step<'a> {
    /// A whole line, without its end.
    Line(&'a [u8]),
    /// A line past the bound; its rest is being skipped.
    TooLong,
    /// No whole line is buffered: the next step waits for the client.
    Drained,
    /// The client closed its end.
    End,
}

/// Splits a byte stream into lines of at most [`MAX_LINE_BYTES`].
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    searched: usize,
    skipping: bool,
    drained_told: bool,
}

impl<R: Read> Lines<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Lines {
            input,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: false,
            drained_told: false,
        }
    }

    /// The next step. A last line without an end is a line, too.
    pub fn step(&mut self) -> Step<'_> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let (from, to) = (self.start, self.searched + at);
                self.start = to + 1;
                self.searched = self.start;
                self.drained_told = false;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                if to - from > MAX_LINE_BYTES {
                    return Step::TooLong;
                }
                return Step::Line(&self.buffer[from..to]);
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > MAX_LINE_BYTES {
                self.forget();
                // The refusal goes out now, not with the line's end.
                self.drained_told = false;
                if !std::mem::replace(&mut self.skipping, true) {
                    return Step::TooLong;
                }
            }
            if !self.drained_told {
                self.drained_told = true;
                return Step::Drained;
            }
            match self.fill() {
                Ok(0) | Err(_) => return self.last(),
                Ok(_) => {}
            }
        }
    }

    fn last(&mut self) -> Step<'_> {
        let from = std::mem::replace(&mut self.start, self.buffer.len());
        if from == self.buffer.len() || self.skipping {
            return Step::End;
        }
        Step::Line(&self.buffer[from..])
    }

    fn forget(&mut self) {
        self.buffer = Vec::new();
        (self.start, self.searched) = (0, 0);
    }

    fn fill(&mut self) -> io::Result<usize> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(READ_CHUNK_BYTES);
            (self.start, self.searched) = (0, 0);
        } else if self.start > READ_CHUNK_BYTES {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        let have = self.buffer.len();
        self.buffer.resize(have + READ_CHUNK_BYTES, 0);
        let got = loop {
            match self.input.read(&mut self.buffer[have..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(have + *got.as_ref().unwrap_or(&0));
        got
    }
}

#[cfg(test)]
mod tests;
