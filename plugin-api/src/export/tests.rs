//! What becomes of panics, and of packs that do not open.

use serde_json::json;

use super::{PackCell, Reply, describe, guard};
use crate::{
    abi::code,
    desc::Effects,
    outcome::Answer,
    schema::AnyValue,
    tool::{Tool, ToolPack},
};

fn words(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

#[test]
fn a_panic_becomes_a_fault_with_its_place_and_words() {
    let said = guard(|| panic!("number {}", 7));
    assert_eq!(said.code, code::FAULT);
    assert!(words(&said).contains("tests.rs:") && words(&said).ends_with(": number 7"));
    let odd = guard(|| std::panic::panic_any(7_u8));
    assert!(words(&odd).ends_with("a payload that is no text"), "{}", words(&odd));
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[test]
fn a_payload_that_panics_when_dropped_does_not_escape() {
    let said = guard(|| std::panic::panic_any(Bomb));
    assert_eq!(said.code, code::FAULT);
    assert_eq!(guard(|| Reply::new(code::OK, "fine")).code, code::OK, "the next call works");
}

struct Shut;

impl ToolPack for Shut {
    fn open() -> Result<Self, String> {
        Err("it is shut".into())
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

#[test]
fn a_pack_that_does_not_open_says_why_every_time() {
    static CELL: PackCell = PackCell::new();
    for _ in 0..2 {
        let said = describe::<Shut>(&CELL, "shut", "1.0.0");
        assert_eq!((said.code, words(&said)), (code::REFUSED, "it is shut".into()));
    }
}

struct Open;

impl ToolPack for Open {
    fn open() -> Result<Self, String> {
        Ok(Open)
    }

    fn tools(&'static self) -> Vec<Tool> {
        let echo = |_: &crate::ctx::Ctx<'_>, value: AnyValue| Answer::of(json!({"said": value}));
        vec![Tool::new("open_echo", "Echoes.", Effects::READS, echo)]
    }

    fn needs(&'static self) -> Vec<String> {
        vec!["host.teleport".into()]
    }
}

#[test]
fn an_open_pack_answers_one_document() {
    static CELL: PackCell = PackCell::new();
    let said = describe::<Open>(&CELL, "open", "1.2.3");
    assert_eq!(said.code, code::OK);
    let desc: crate::desc::PackDesc = serde_json::from_slice(&said.body).unwrap();
    assert_eq!((desc.name.as_str(), desc.version.as_str()), ("open", "1.2.3"));
    assert_eq!(desc.needs, ["host.teleport"]);
    let tool: serde_json::Value = serde_json::from_str(desc.tools[0].get()).unwrap();
    assert_eq!(tool["name"], "open_echo");
    assert_eq!(words(&describe::<Open>(&CELL, "open", "1.2.3")), words(&said));
}
