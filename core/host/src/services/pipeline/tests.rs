//! Tests of `pipeline`: who may ask what.

use std::{path::Path, sync::Arc};

use didi_plugin_api::{
    abi::{HostV1 as _, code},
    ctx::ops,
    desc::{Effects, Mode, ToolDesc},
    pipeline::{Question, Request},
};
use didi_wire::session_dir::SessionDir;
use serde_json::{Map, json};

use super::Services;
use crate::{
    bridge::Routes,
    cancel::Cancel,
    engine::{Engines, Places},
    files::ProjectFiles,
    pipeline::client::find,
    services::Shared,
};

fn shared(folder: &Path) -> Shared {
    let sessions = SessionDir { path: folder.join("sessions"), checked: false };
    Shared {
        pipelines: Arc::new(find::Places { sessions: sessions.clone(), hub: None }),
        routes: Arc::new(Routes::new(sessions, folder.to_owned())),
        files: ProjectFiles::new(folder.to_owned()),
        engines: Arc::new(Engines::new(Places::default())),
        recovery: None,
    }
}

fn tool(effects: Effects) -> ToolDesc {
    let desc = json!({
        "name": "probe", "title": "Probe", "description": "x", "input_schema": {}, "modes": ["local"],
        "effects": effects,
    });
    serde_json::from_value(desc).unwrap()
}

/// The code of the reply; the instance that is asked is not there.
fn asks(effects: Effects, preview: bool, question: Question) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let shared = shared(&folder.path().canonicalize().unwrap());
    let cancel = Cancel::default();
    let services = Services::new(&shared, &tool(effects), Mode::Local, preview, &cancel, None);
    let request = Request { instance: Some("Nobody".into()), question, timeout_ms: 1 };
    let payload = serde_json::to_vec(&request).unwrap();
    services.request(ops::PIPELINE_REQUEST.into(), payload.as_slice().into()).code
}

#[test]
fn what_runs_something_is_asked_by_tools_that_declare_it_alone() {
    let running = [Question::Exec { body: Map::new() }, Question::JobCancel { id: "j1".into() }];
    for question in running {
        for (effects, preview, reply) in [
            (Effects::EXECUTES, false, code::REFUSED),
            (Effects::EXECUTES, true, code::FAULT),
            (Effects::CHANGES, false, code::FAULT),
            (Effects::READS, false, code::FAULT),
            (Effects { open_world: true, ..Effects::READS }, false, code::FAULT),
        ] {
            let got = asks(effects, preview, question.clone());
            assert_eq!(got, reply, "{effects:?} preview {preview} {question:?}");
        }
    }
    let looking = [
        Question::Status,
        Question::Dialog,
        Question::Progress,
        Question::Commands { query: vec![] },
        Question::Job { id: "j1".into() },
    ];
    for question in looking {
        assert_eq!(asks(Effects::READS, false, question.clone()), code::REFUSED, "{question:?}");
        assert_eq!(asks(Effects::EXECUTES, true, question), code::REFUSED);
    }
}

#[test]
fn a_request_that_can_not_be_read_is_the_packs_fault() {
    let folder = tempfile::tempdir().unwrap();
    let shared = shared(&folder.path().canonicalize().unwrap());
    let cancel = Cancel::default();
    let services = Services::new(&shared, &tool(Effects::READS), Mode::Local, false, &cancel, None);
    for payload in ["", "{}", r#"{"question": {"ask": "anything", "path": "/x"}, "timeout_ms": 1}"#]
    {
        let reply = services.request(ops::PIPELINE_REQUEST.into(), payload.as_bytes().into());
        assert_eq!(reply.code, code::FAULT, "{payload}");
    }
}
