use std::{future::poll_fn, io::Read as _, thread};

use tokio::net::TcpListener;

use super::*;

/// Writes all of it to a connection whose other end does something.
fn write_to<T: Send + 'static>(
    limit: Duration,
    bytes: &[u8],
    other: impl FnOnce(std::net::TcpStream) -> T + Send + 'static,
) -> (io::Result<()>, thread::JoinHandle<T>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let other = thread::spawn(move || other(std::net::TcpStream::connect(address).unwrap()));
        let mut patient = Patient::new(listener.accept().await.unwrap().0, limit);
        let mut rest = bytes;
        while !rest.is_empty() {
            match poll_fn(|context| Pin::new(&mut patient).poll_write(context, rest)).await {
                Ok(written) => rest = &rest[written..],
                Err(error) => return (Err(error), other),
            }
        }
        (Ok(()), other)
    })
}

#[test]
fn what_is_taken_is_written() {
    let bytes = vec![1; 8 * 1024 * 1024];
    let (written, other) = write_to(Duration::from_secs(60), &bytes, |mut stream| {
        let mut all = vec![];
        stream.read_to_end(&mut all).unwrap();
        all.len()
    });
    written.unwrap();
    assert_eq!(other.join().unwrap(), bytes.len());
}

#[test]
fn a_reader_that_takes_nothing_is_given_up() {
    // More than the system keeps for a connection; the other end is kept open and not read.
    let bytes = vec![1; 64 * 1024 * 1024];
    let (written, other) = write_to(Duration::from_millis(20), &bytes, |stream| stream);
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    drop(other.join().unwrap());
}
