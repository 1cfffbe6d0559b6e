use super::*;

#[test]
fn names_of_this_machine_are_told_from_others() {
    for own in [
        "localhost",
        "localhost:80",
        "LocalHost:80",
        "127.0.0.1",
        "127.0.0.1:7800",
        "127.255.0.9:1",
        "[::1]",
        "[::1]:7800",
    ] {
        assert!(is_loopback_name(own), "{own}");
    }
    for other in [
        "",
        "localhost.",
        "evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "[::]",
        "x@localhost",
        "x@127.0.0.1:80",
        "localhost:80:80",
        "evil.example:127.0.0.1",
        "::1",
        "2130706433",
    ] {
        assert!(!is_loopback_name(other), "{other}");
    }
}

#[test]
fn paths_are_lowered_and_queries_are_not() {
    let lowered = |text: &str| {
        let mut uri: Uri = text.parse().unwrap();
        lower_path(&mut uri);
        uri.to_string()
    };
    assert_eq!(lowered("/API/Job?id=AbC"), "/api/job?id=AbC");
    assert_eq!(lowered("/api/job?id=AbC"), "/api/job?id=AbC");
    assert_eq!(lowered("http://Host/API/X"), "http://Host/api/x");
    assert_eq!(lowered("*"), "*");
}

/// A listener whose socket breaks is opened anew on the same port.
#[cfg(target_os = "linux")]
#[test]
fn a_lost_listener_is_opened_anew_on_its_port() {
    use std::{
        io::{Read as _, Write as _},
        net::{Shutdown, TcpStream as Plain},
        os::fd::OwnedFd,
        sync::mpsc,
        thread,
    };
    let listener = advert::bind(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let broken = listener.try_clone().unwrap();
    let nowhere = |_, _| async { written(404, "text/plain", "Not Found") };
    // It serves for as long as the process lives.
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve_on(port, listener, nowhere));
    });
    let ask = move || -> Option<String> {
        let mut stream = Plain::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        text.starts_with("HTTP/1.1 404").then_some(text)
    };
    assert!(ask().is_some());
    Plain::from(OwnedFd::from(broken)).shutdown(Shutdown::Both).unwrap();
    let (found, answer) = mpsc::channel();
    thread::spawn(move || {
        while ask().is_none() {
            thread::yield_now();
        }
        found.send(()).unwrap();
    });
    answer.recv_timeout(Duration::from_secs(60)).expect("it is opened anew");
}
