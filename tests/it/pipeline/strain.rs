//! Clients that are slow, half gone, endless or many: none of them keeps `/api/status` from its answer.

use std::{io::Write, net::TcpStream, thread};

use didi_tests::{Pipeline, Project, http::Http, server::PATIENCE};
use serde_json::json;

/// BL-70.
#[test]
fn clients_that_do_not_finish_keep_nobody_waiting() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let head = pipeline.head("POST", "/api/exec", 1000);
    let chunked = head.replace("Content-Length: 1000", "Transfer-Encoding: chunked");
    let mut kept = vec![];
    // Connected and silent; a head that ends early; a body that ends early; a chunk that is never filled.
    for begun in [
        "",
        "GET /api/st",
        &head[..head.len() - 2],
        &head,
        &format!("{head}{{"),
        &format!("{chunked}ffff\r\nx"),
    ] {
        for _ in 0..20 {
            let mut http = Http::connect(pipeline.port);
            http.send(begun.as_bytes()).unwrap();
            kept.push(http);
        }
    }
    pipeline.status_is_quick();
    assert_eq!(pipeline.result("editor_status", json!({}))["status"], "ready");
    drop(kept);
    pipeline.status_is_quick();
}

/// BL-70.
#[test]
fn a_body_that_does_not_come_is_answered_in_time() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let mut http = pipeline.connect();
    http.send((pipeline.head("POST", "/api/exec", 100) + "{").as_bytes()).unwrap();
    let response = http.response();
    assert_eq!(response.status, 408, "{}", response.text());
    super::openapi::Document::read().check("POST", "/api/exec", &response);
    assert!(http.is_closed_within(PATIENCE));
}

#[test]
fn a_client_that_has_said_everything_still_gets_its_answer() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let body = r#"{"command":"editor_status"}"#;
    let mut http = pipeline.connect();
    http.send((pipeline.head("POST", "/api/exec", body.len()) + body).as_bytes()).unwrap();
    http.close_writing();
    assert_eq!(http.response().json()["success"], true);
    // What came of a body that broke off could be run; it is not.
    let body = r#"{"command":"blackboard_write","parameters":{"path":"/x","value":1}}"#;
    let mut http = pipeline.connect();
    http.send((pipeline.head("POST", "/api/exec", body.len() + 1) + body).as_bytes()).unwrap();
    http.close_writing();
    let response = http.try_response();
    assert!(response.is_none_or(|response| response.status == 400));
    let read = json!({"command": "blackboard_read", "parameters": {"path": "/x"}});
    let read = pipeline.exec(&read);
    assert_ne!(read.json()["result"]["value"], 1, "{}", read.text());
    pipeline.status_is_quick();
}

#[test]
fn an_endless_body_is_cut_off_while_others_are_served() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let head = pipeline
        .head("POST", "/api/exec", 0)
        .replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let port = pipeline.port;
    let endless = thread::spawn(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
        let mut sent = 0_usize;
        while stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
            assert!(sent < 1024 * 1024 * 1024, "it is never cut off");
        }
    });
    pipeline.status_is_quick();
    endless.join().unwrap();
    pipeline.status_is_quick();
}

#[test]
fn what_is_no_request_is_refused_and_the_next_connection_serves() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    for (text, answer) in [
        // Lines that are empty are passed over, and then nothing comes.
        ("\r\n\r\n\r\n", None),
        ("hello\r\n\r\n", Some(400)),
        ("GET\r\n\r\n", Some(400)),
        ("\x16\x03\x01\x02\x00\x01", Some(400)),
        ("GET / HTTP/9.9\r\n\r\n", Some(400)),
    ] {
        let mut http = pipeline.connect();
        http.send(text.as_bytes()).unwrap();
        http.close_writing();
        let status = http.try_response().map(|response| response.status);
        assert_eq!(status, answer, "{text:?}");
    }
    // A head with more in it than is read. What is on its way when the connection ends may take the answer with it.
    let mut http = pipeline.connect();
    let head = format!("GET /api/status HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(2_000_000));
    let _ = http.send(head.as_bytes());
    let status = http.try_response().map(|response| response.status);
    assert!(matches!(status, None | Some(431)), "{status:?}");
    pipeline.status_is_quick();
}

#[test]
fn several_requests_sent_at_once_are_answered_in_order() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let mut http = pipeline.connect();
    let first = pipeline.head("GET", "/api/dialog", 0);
    let second = r#"{"command":"editor_status"}"#;
    let all = first
        + &pipeline.head("POST", "/api/exec", second.len())
        + second
        + &pipeline.head("GET", "/api/progress", 0);
    http.send(all.as_bytes()).unwrap();
    assert_eq!(http.response().json()["dialogs"], json!([]));
    assert_eq!(http.response().json()["success"], true);
    assert!(http.response().json()["active"].is_boolean());
}

#[test]
fn a_question_about_the_head_alone_has_no_body() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let mut http = pipeline.connect();
    http.send(
        pipeline.head("HEAD", "/api/status", 0).replace("Content-Length: 0\r\n", "").as_bytes(),
    )
    .unwrap();
    let first = http.head();
    assert_eq!((first.status, first.header("allow")), (405, Some("GET")));
    assert_eq!(pipeline.ask(&mut http, "GET", "/api/dialog", "").status, 200);
}

#[test]
fn two_hundred_idle_connections_serve_on() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let mut many: Vec<Http> = (0..200).map(|_| pipeline.connect()).collect();
    for round in 0..2 {
        for http in &mut many {
            let response = pipeline.ask(http, "GET", "/api/status", "");
            assert_eq!(response.status, 200, "round {round}");
        }
    }
}

/// Any bytes get a reply of the documented kinds.
#[test]
fn any_bytes_to_exec_are_answered_below_five_hundred() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let mut http = pipeline.connect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: [&[u8]; 12] = [
        b"{",
        b"}",
        b"\"command\"",
        b":",
        b"\"argv\"",
        b"[",
        b"]",
        b",",
        b"\"project_get_setting\"",
        b"\"--\"",
        b"null",
        b"\xff\x00",
    ];
    for _ in 0..500 {
        let count = usize::try_from(next() % 12).unwrap();
        let body: Vec<u8> = (0..count)
            .flat_map(|_| words[usize::try_from(next()).unwrap_or_default() % words.len()].to_vec())
            .collect();
        http.send(&[pipeline.head("POST", "/api/exec", body.len()).as_bytes(), &body].concat())
            .unwrap();
        let response = http.response();
        assert!(response.status < 500, "{}: {}", String::from_utf8_lossy(&body), response.text());
    }
}
