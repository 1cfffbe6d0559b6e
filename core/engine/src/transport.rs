//! The local socket: binding it for its owner alone, and a connection that another thread can end.

use std::{
    io::{self, Read, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use interprocess::local_socket::{
    GenericFilePath, Listener, ListenerOptions, Name, Stream, ToFsName as _, prelude::*,
};

/// How long a peer may take none of an answer before it counts as gone.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// Binds an endpoint that nothing listens on.
pub(crate) fn bind(endpoint: &str) -> io::Result<Listener> {
    let options = || -> io::Result<ListenerOptions<'_>> {
        Ok(ListenerOptions::new().name(name(endpoint)?).reclaim_name(true))
    };
    private(options()?, endpoint, options)
}

/// Has whoever accepts look up: by ending the listening, and by a connection for systems where that does not
/// wake it. The first works as well when the socket's name is gone.
pub(crate) fn wake(listener: &Listener, endpoint: &str) {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;

        let Listener::UdSocket(socket) = listener;
        let _ = rustix::net::shutdown(socket.as_fd(), rustix::net::Shutdown::Both);
    }
    #[cfg(not(unix))]
    let _ = listener;
    if let Ok(name) = name(endpoint) {
        drop(Stream::connect(name));
    }
}

fn name(endpoint: &str) -> io::Result<Name<'_>> {
    endpoint.to_fs_name::<GenericFilePath>()
}

#[cfg(unix)]
fn private<'n>(
    options: ListenerOptions<'n>,
    endpoint: &str,
    again: impl FnOnce() -> io::Result<ListenerOptions<'n>>,
) -> io::Result<Listener> {
    use std::os::unix::fs::PermissionsExt as _;

    use didi_wire::endpoint::SOCKET_MODE;
    use interprocess::os::unix::local_socket::ListenerOptionsExt as _;

    match options.mode(SOCKET_MODE as _).create_sync() {
        // Where the mode cannot be had from the start it is set before anybody is accepted.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let listener = again()?.create_sync()?;
            let mode = std::fs::Permissions::from_mode(SOCKET_MODE);
            std::fs::set_permissions(endpoint, mode)?;
            Ok(listener)
        }
        bound => bound,
    }
}

#[cfg(windows)]
fn private<'n>(
    options: ListenerOptions<'n>,
    _endpoint: &str,
    _again: impl FnOnce() -> io::Result<ListenerOptions<'n>>,
) -> io::Result<Listener> {
    use didi_wire::endpoint::PIPE_SECURITY;
    use interprocess::os::windows::{
        local_socket::ListenerOptionsExt as _, security_descriptor::SecurityDescriptor,
    };

    let text: Vec<u16> = PIPE_SECURITY.encode_utf16().chain([0]).collect();
    let text = widestring::U16CStr::from_slice(&text).map_err(io::Error::other)?;
    options.security_descriptor(SecurityDescriptor::deserialize(text)?).create_sync()
}

/// A connection.
pub(crate) struct Peer {
    stream: Stream,
    ended: AtomicBool,
}

impl Peer {
    pub(crate) fn new(stream: Stream) -> io::Result<Self> {
        // Windows pipes know no timeouts; there, reading looks for an end now and then.
        if cfg!(unix) {
            stream.set_send_timeout(Some(SEND_TIMEOUT))?;
        } else {
            stream.set_nonblocking(true)?;
        }
        Ok(Peer { stream, ended: AtomicBool::new(false) })
    }

    /// What has arrived; nothing at the end.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.ended.load(Ordering::Acquire) {
                return Ok(0);
            }
            match (&self.stream).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => poll_again(),
                read => return read,
            }
        }
    }

    /// Sends all of it.
    pub(crate) fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match (&self.stream).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if cfg!(windows) && error.kind() == io::ErrorKind::WouldBlock => {
                    if self.ended.load(Ordering::Acquire) {
                        return Err(error);
                    }
                    poll_again();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Has its thread read the end; an answer on its way is still sent.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        #[cfg(unix)]
        {
            use std::os::fd::AsFd as _;

            let Stream::UdSocket(socket) = &self.stream;
            let _ = rustix::net::shutdown(socket.as_fd(), rustix::net::Shutdown::Read);
        }
    }
}

fn poll_again() {
    std::thread::sleep(Duration::from_millis(2));
}
