#![allow(clippy::disallowed_methods, reason = "files that a test prepares")]

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread::{self, JoinHandle},
};

use serde_json::Value;

use super::{
    message::{Decoder, MAX_MESSAGE_BYTES, Unreadable, encode},
    *,
};

/// How long a test waits for what comes by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// Known by what comes, as the editor's panel sees it.
fn seen(arrivals: &Arrivals) -> Known {
    Known { arrivals: Some(arrivals.clone()), ..Known::default() }
}

/// An adapter that answers one client as it is told to: none of its requests, or with these messages.
struct Adapter {
    port: u16,
    served: JoinHandle<Vec<String>>,
}

impl Adapter {
    fn serve(mut answer: impl FnMut(&Value) -> Vec<Value> + Send + 'static) -> Self {
        Self::speak(move |stream| {
            let mut asked = vec![];
            let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                decoder.push(&buffer[..read]);
                while let Some(body) = decoder.next_body().unwrap() {
                    let request: Value = serde_json::from_slice(body).unwrap();
                    asked.push(request["command"].as_str().unwrap().to_owned());
                    let replies: Vec<u8> = answer(&request).iter().flat_map(encode).collect();
                    // A client that has heard enough is gone.
                    let _ = stream.write_all(&replies);
                }
            }
            asked
        })
    }

    fn speak(speak: impl FnOnce(&mut TcpStream) -> Vec<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            speak(&mut stream)
        });
        Adapter { port, served }
    }

    fn asked(self) -> Vec<String> {
        self.served.join().unwrap()
    }

    fn want(&self) -> Want {
        Want {
            port: self.port,
            max_frames: 32,
            with_position: true,
            project: "/games/boat".into(),
            known: Known::default(),
            end: Instant::now() + PATIENCE,
        }
    }
}

fn reply(request: &Value, body: Value) -> Value {
    json!({"type": "response", "request_seq": request["seq"], "success": true, "body": body})
}

fn refusal(request: &Value, why: &str) -> Value {
    json!({"type": "response", "request_seq": request["seq"], "success": false, "message": why})
}

fn frame(id: usize, name: &str, path: &str, line: usize) -> Value {
    json!({"id": id, "name": name, "line": line, "column": 0, "source": {"path": path}})
}

fn variable(name: &str, kind: &str, value: &str) -> Value {
    json!({"name": name, "type": kind, "value": value, "variablesReference": 0})
}

fn fault_of(said: Result<(Stack, Open), Fault>) -> Fault {
    said.map(|(stack, _)| stack).expect_err("it is no adapter")
}

/// The answers of an adapter whose game stands in two frames.
fn standing(request: &Value) -> Vec<Value> {
    let event = json!({"type": "event", "event": "output", "body": {"output": "so it goes"}});
    let body = match request["command"].as_str().unwrap() {
        "stackTrace" => json!({"stackFrames": [
            frame(0, "inner", "/games/boat/main.gd", 22),
            frame(1, "outer", "gdscript://-5.gd", 14),
        ]}),
        "scopes" => {
            let first = request["arguments"]["frameId"].as_i64().unwrap() * 3 + 1;
            json!({"scopes": [
                {"name": "Locals", "variablesReference": first},
                {"name": "Members", "variablesReference": first + 1},
                {"name": "Globals", "variablesReference": first + 2},
            ]})
        }
        "variables" => match request["arguments"]["variablesReference"].as_i64().unwrap() {
            1 => json!({"variables": [
                variable("value", "int", "14"),
                variable("text", "String", &"\u{e9}".repeat(700)),
            ]}),
            2 => json!({"variables": [
                variable("self", "Object", "<EncodedObjectAsID#-9223369600433845084>"),
            ]}),
            4 => json!({"variables": [variable("amount", "int", "7")]}),
            _ => json!({"variables": []}),
        },
        _ => Value::Null,
    };
    vec![event, reply(request, body)]
}

/// The same, where variables come as soon as they are asked for.
fn counting(arrivals: &Arrivals) -> impl FnMut(&Value) -> Vec<Value> + Send + use<> {
    let arrivals = arrivals.clone();
    move |request| {
        if request["command"] == "scopes" {
            arrivals.add();
        }
        standing(request)
    }
}

/// The adapter takes what comes for variables of the frame that was asked for last.
#[test]
fn a_frame_is_not_told_with_the_variables_of_another() {
    let (arrivals, on_their_way) = (Arrivals::default(), Arc::new(AtomicU64::new(0)));
    let (came, holds) = (arrivals.clone(), Arc::clone(&on_their_way));
    let adapter = Adapter::serve(move |request| {
        let arguments = &request["arguments"];
        match request["command"].as_str().unwrap() {
            "scopes" => {
                let frame = arguments["frameId"].as_u64().unwrap();
                let (came, holds) = (came.clone(), Arc::clone(&holds));
                // A game takes its time.
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(30));
                    holds.store(frame, Ordering::Release);
                    came.add();
                });
                standing(request)
            }
            "variables" => {
                let value = holds.load(Ordering::Acquire).to_string();
                let body = json!({"variables": [variable("of_frame", "int", &value)]});
                vec![reply(request, body)]
            }
            _ => standing(request),
        }
    });
    let want = Want { known: seen(&arrivals), ..adapter.want() };
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    let told = |frame: usize| {
        let scopes = stack.frames[frame].scopes.as_ref().expect("it has variables");
        scopes.locals.variables[0].value.as_deref()
    };
    assert_eq!((told(0), told(1), stack.truncated), (Some("0"), Some("1"), false));
}

#[test]
fn where_nobody_sees_variables_come_only_those_of_the_innermost_frame_are_told() {
    let adapter = Adapter::serve(standing);
    let (stack, _) = read_stack(&adapter.want(), &Leash::default()).unwrap();
    assert!(stack.frames[0].scopes.is_some() && stack.frames[1].scopes.is_none());
    assert!(stack.truncated);
}

#[test]
fn frames_and_variables_are_told_innermost_first() {
    let arrivals = Arrivals::default();
    let adapter = Adapter::serve(counting(&arrivals));
    let want = Want { known: seen(&arrivals), ..adapter.want() };
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    let told = serde_json::to_value(&stack).unwrap();
    let text = "\u{e9}".repeat(512);
    let wanted = json!({
        "frame_count": 2,
        "frames": [
            {
                "index": 0, "function": "inner", "file": "res://main.gd", "line": 22, "source_line": null,
                "locals": {"count": 2, "variables": [
                    {"name": "value", "type": "int", "value": "14"},
                    {"name": "text", "type": "String", "value": text, "value_truncated": true},
                ]},
                "members": {"count": 1, "variables": [{"name": "self", "type": "Object", "value": null}]},
                "globals": {"count": 0, "variables": []},
            },
            {
                "index": 1, "function": "outer", "file": "gdscript://-5.gd", "line": 14, "source_line": null,
                "locals": {"count": 1, "variables": [{"name": "amount", "type": "int", "value": "7"}]},
            },
        ],
        "truncated": true,
    });
    assert_eq!(told, wanted);
    let asked = adapter.asked();
    assert_eq!(asked.last().map(String::as_str), Some("scopes"), "the panel shows the first frame");
    assert!(!asked.contains(&"disconnect".to_owned()), "that would end the game");
}

#[test]
fn a_line_is_read_from_a_file_of_the_project_alone() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("boat");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("main.gd"), "extends Node\n\tvar here := 1\n").unwrap();
    std::fs::write(folder.path().join("secret.gd"), "a secret\n").unwrap();
    let inside = project.join("main.gd").display().to_string();
    let way_out = project.join("../secret.gd").display().to_string();
    let adapter = Adapter::serve(move |request| {
        if request["command"] != "stackTrace" {
            return standing(request);
        }
        let frames = json!([
            frame(0, "a", &inside, 2),
            frame(1, "b", &inside, 99),
            frame(2, "c", &way_out, 1),
            frame(3, "d", &format!("{inside}::GDScript_abc"), 2),
        ]);
        vec![reply(request, json!({"stackFrames": frames}))]
    });
    let mut want = adapter.want();
    want.project.clone_from(&project);
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    let told: Vec<_> = stack.frames.iter().map(|frame| frame.position.as_ref().unwrap()).collect();
    let lines: Vec<_> = told.iter().map(|place| place.source_line.as_deref()).collect();
    assert_eq!(lines, [Some("var here := 1"), None, None, None]);
    let files: Vec<_> = told.iter().map(|place| place.file.as_str()).collect();
    assert_eq!(files[0], "res://main.gd");
    assert_eq!(files[3], "res://main.gd::GDScript_abc");
}

#[test]
fn a_stack_that_was_forgotten_and_variables_to_come_are_waited_for() {
    let (mut looks, arrivals) = (0, Arrivals::default());
    let came = arrivals.clone();
    let adapter = Adapter::serve(move |request| match request["command"].as_str().unwrap() {
        "scopes" => {
            came.add();
            standing(request)
        }
        "stackTrace" if looks < 3 => {
            looks += 1;
            vec![reply(request, json!({"stackFrames": []}))]
        }
        "variables" if looks < 9 => {
            looks += 1;
            vec![refusal(request, "unknown")]
        }
        "godot/put_msg" => {
            assert_eq!(request["arguments"], json!({"message": "get_stack_dump", "data": []}));
            came.add();
            vec![reply(request, json!({}))]
        }
        _ => standing(request),
    });
    let want = Want { known: seen(&arrivals), ..adapter.want() };
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    assert_eq!(stack.frame_count, 2);
    assert_eq!(stack.frames[0].scopes.as_ref().unwrap().locals.variables[0].name, "value");
    let asked = adapter.asked();
    assert_eq!(asked.iter().filter(|command| *command == "godot/put_msg").count(), 1);
}

#[test]
fn many_frames_and_variables_are_cut_and_counted() {
    let arrivals = Arrivals::default();
    let mut others = counting(&arrivals);
    let adapter = Adapter::serve(move |request| {
        let body = match request["command"].as_str().unwrap() {
            "stackTrace" => {
                let frames = (0..600).map(|id| frame(id, "deep", "/games/boat/a.gd", 8));
                json!({"stackFrames": frames.collect::<Vec<_>>()})
            }
            "variables" => {
                let value = "v".repeat(5000);
                let all = (0..100).map(|number| variable(&format!("v{number}"), "String", &value));
                json!({"variables": all.collect::<Vec<_>>()})
            }
            _ => return others(request),
        };
        vec![reply(request, body)]
    });
    let mut want = Want { known: seen(&arrivals), ..adapter.want() };
    want.max_frames = 128;
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    assert_eq!((stack.frame_count, stack.frames.len(), stack.truncated), (600, 128, true));
    let told: Vec<_> = stack.frames.iter().filter_map(|frame| frame.scopes.as_ref()).collect();
    assert_eq!(told.len(), 8, "frames with variables");
    assert_eq!((told[0].locals.count, told[0].locals.variables.len()), (100, 64));
    let bytes = serde_json::to_vec(&stack).unwrap().len();
    assert!(bytes < 256 * 1024, "{bytes} bytes");
}

#[test]
fn frames_are_told_without_the_variables_that_do_not_come() {
    let adapter = Adapter::serve(|request| match request["command"].as_str().unwrap() {
        "variables" => vec![reply(request, json!({"nothing": "of it"}))],
        _ => standing(request),
    });
    let (stack, _) = read_stack(&adapter.want(), &Leash::default()).unwrap();
    assert_eq!((stack.frames.len(), stack.truncated), (2, true));
    assert!(stack.frames[0].scopes.is_none());
}

#[test]
fn the_stack_of_another_game_is_not_told_and_that_game_not_let_go() {
    let top = |function: &str, line, frame_count| {
        Some(Top { function: function.into(), line, frame_count })
    };
    for (known, foreign) in [
        (Known { has_stack: Some(true), arrivals: None, top: top("inner", 22, 2) }, false),
        (Known { has_stack: Some(true), arrivals: None, top: top("inner", 23, 2) }, true),
        (Known { has_stack: Some(true), arrivals: None, top: top("other", 22, 2) }, true),
        (Known { has_stack: Some(true), arrivals: None, top: top("inner", 22, 3) }, true),
        (Known { has_stack: Some(false), ..Known::default() }, true),
        (Known::default(), false),
    ] {
        let adapter = Adapter::serve(standing);
        let said = resume(adapter.port, &known, Instant::now() + PATIENCE, &Leash::default());
        assert_eq!(matches!(said, Err(Fault::Foreign)), foreign, "{known:?}: {said:?}");
        let continued = adapter.asked().contains(&"continue".to_owned());
        assert_eq!(continued, !foreign, "{known:?}");
    }
}

#[test]
fn what_became_of_a_request_that_was_not_answered_is_not_guessed() {
    let resumed = |adapter: &Adapter| {
        let end = Instant::now() + Duration::from_millis(500);
        resume(adapter.port, &Known::default(), end, &Leash::default()).unwrap_err()
    };
    let silent = Adapter::serve(|request| match request["command"].as_str().unwrap() {
        "continue" => vec![],
        _ => standing(request),
    });
    assert_eq!(resumed(&silent).to_string(), "`continue` was sent, and no answer came");
    let before = Adapter::serve(|request| match request["command"].as_str().unwrap() {
        "stackTrace" => vec![],
        _ => standing(request),
    });
    assert!(matches!(resumed(&before), Fault::Late));
    assert!(!before.asked().contains(&"continue".to_owned()));
}

#[test]
fn a_game_that_stands_outside_of_scripts_has_no_frames() {
    let adapter = Adapter::serve(|request| match request["command"].as_str().unwrap() {
        "stackTrace" => vec![reply(request, json!({"stackFrames": []}))],
        _ => standing(request),
    });
    let mut want = adapter.want();
    want.known.has_stack = Some(false);
    let (stack, _) = read_stack(&want, &Leash::default()).unwrap();
    assert_eq!((stack.frame_count, stack.truncated), (0, false));
    assert!(!adapter.asked().contains(&"godot/put_msg".to_owned()));
}

#[test]
fn what_is_no_adapter_is_told_apart() {
    let read = |adapter: &Adapter, span: Duration| {
        let mut want = adapter.want();
        want.end = Instant::now() + span;
        fault_of(read_stack(&want, &Leash::default()))
    };
    let web = Adapter::speak(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        vec![]
    });
    assert!(matches!(read(&web, PATIENCE), Fault::Unreadable));
    let endless = Adapter::speak(|stream| {
        let _ = stream.write_all(&[b'x'; 4096]);
        vec![]
    });
    assert!(matches!(read(&endless, PATIENCE), Fault::Unreadable));
    let closes = Adapter::speak(|_| vec![]);
    assert!(matches!(read(&closes, PATIENCE), Fault::Ended));
    let silent = Adapter::serve(|_| vec![]);
    assert!(matches!(read(&silent, Duration::from_millis(50)), Fault::Late));
    let refuses = Adapter::serve(|request| match request["command"].as_str().unwrap() {
        "stackTrace" => vec![refusal(request, "not_running")],
        _ => standing(request),
    });
    let fault = read(&refuses, PATIENCE);
    assert_eq!(fault.to_string(), "the adapter refused `stackTrace`: not_running");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fault = resume(gone, &Known::default(), Instant::now() + PATIENCE, &Leash::default());
    assert!(matches!(fault, Err(Fault::Unreachable { .. })), "{fault:?}");
}

#[test]
fn an_adapter_is_never_left_writing_to_nobody() {
    let (told, ended) = std::sync::mpsc::channel();
    let endless = Adapter::speak(move |stream| {
        let length = MAX_MESSAGE_BYTES + 1;
        let _ = write!(stream, "Content-Length: {length}\r\n\r\n");
        while stream.write_all(&[b' '; 4096]).is_ok() {}
        told.send(()).unwrap();
        vec![]
    });
    let leash = Leash::default();
    assert!(matches!(read_stack(&endless.want(), &leash), Err(Fault::Unreadable)));
    ended.recv_timeout(PATIENCE).expect("its connection has ended, though the leash is still held");
    drop(leash);
}

#[test]
fn a_conversation_that_nobody_waits_for_ends_at_once() {
    let (asked, was_asked) = std::sync::mpsc::channel();
    let adapter = Adapter::serve(move |_| {
        asked.send(()).unwrap();
        vec![]
    });
    let (leash, want) = (Leash::default(), adapter.want());
    let held = leash.clone();
    let reader = thread::spawn(move || fault_of(read_stack(&want, &held)));
    was_asked.recv_timeout(PATIENCE).unwrap();
    leash.cut();
    assert!(matches!(reader.join().unwrap(), Fault::Ended));
    let late = read_stack(&Adapter::serve(|_| vec![]).want(), &leash);
    assert!(matches!(late, Err(Fault::Ended)), "a leash that was cut holds nothing");
}

#[test]
fn a_connection_that_is_kept_reads_on_until_its_leash_is_cut() {
    let (asked, was_asked) = std::sync::mpsc::channel();
    let arrivals = Arrivals::default();
    let mut answer = counting(&arrivals);
    let adapter = Adapter::speak(move |stream| {
        let (mut decoder, mut buffer, mut asked_for) = (Decoder::default(), [0; 4096], vec![]);
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            decoder.push(&buffer[..read]);
            while let Some(body) = decoder.next_body().unwrap() {
                let request: Value = serde_json::from_slice(body).unwrap();
                let replies: Vec<u8> = answer(&request).iter().flat_map(encode).collect();
                let _ = stream.write_all(&replies);
                asked_for.push(request["command"].as_str().unwrap().to_owned());
            }
            if asked_for.last().is_some_and(|last| last == "scopes") && asked_for.len() > 8 {
                // More than any buffer between the two holds.
                stream.write_all(&vec![b' '; 16 * 1024 * 1024]).unwrap();
                asked.send(()).unwrap();
            }
        }
        asked_for
    });
    let want = Want { known: seen(&arrivals), ..adapter.want() };
    let leash = Leash::default();
    let held = leash.clone();
    let reader = thread::spawn(move || read_stack(&want, &held).unwrap().1.stay());
    was_asked.recv_timeout(PATIENCE).expect("whatever is written is read");
    leash.cut();
    reader.join().unwrap();
    assert_eq!(adapter.asked().len(), 9);
}

#[test]
fn messages_come_in_any_pieces_and_lengths_are_bounded() {
    let messages = [json!({"a": "\u{e9}"}), json!({}), json!({"b": [1, 2]})];
    let bytes: Vec<u8> = messages.iter().flat_map(encode).collect();
    for size in 1..=bytes.len() {
        let (mut decoder, mut told) = (Decoder::default(), vec![]);
        for piece in bytes.chunks(size) {
            decoder.push(piece);
            while let Some(body) = decoder.next_body().unwrap() {
                told.push(serde_json::from_slice::<Value>(body).unwrap());
            }
        }
        assert_eq!(told, messages, "pieces of {size}");
    }
    let read = |text: &str| {
        let mut decoder = Decoder::default();
        decoder.push(text.as_bytes());
        decoder.next_body().map(|body| body.map(<[u8]>::to_vec))
    };
    assert_eq!(read("content-length: 2\r\nX: y\r\n\r\n{}"), Ok(Some(b"{}".to_vec())));
    assert_eq!(read("Content-Length: 2\r\n\r\n{"), Ok(None));
    for text in ["X: 2\r\n\r\n{}", "Content-Length: two\r\n\r\n{}", "Content-Length: -2\r\n\r\n{}"]
    {
        assert_eq!(read(text), Err(Unreadable), "{text}");
    }
    let long = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE_BYTES + 1);
    assert_eq!(read(&long), Err(Unreadable));
}
