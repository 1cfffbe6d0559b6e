use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A sound identity.
pub(crate) fn identity() -> Identity {
    let session_id = SessionId::parse("00112233445566778899aabbccddeeff").unwrap();
    let project_path =
        if cfg!(windows) { r"C:\projects\game" } else { "/projects/game" }.to_owned();
    Identity {
        schema_version: SCHEMA_VERSION,
        session_id,
        pid: 4242,
        kind: SessionKind::Editor,
        endpoint: endpoint::name(Path::new("/run/temp"), &project_path, 4242, session_id),
        project_path,
        started_at_ms: 1_700_000_000_000,
        protocol_version: PROTOCOL_VERSION.into(),
        build_id: Some("0.1.0".into()),
        engine_version: Some("4.6.3.stable".into()),
    }
}

pub(crate) fn descriptor() -> Descriptor {
    Descriptor { identity: identity(), token: SessionToken::random() }
}

fn json_of(descriptor: &Descriptor) -> Value {
    serde_json::from_slice(&descriptor.to_private_json()).unwrap()
}

/// Reads a sound descriptor with one change.
fn changed(change: impl FnOnce(&mut Value)) -> Result<Descriptor, DescriptorFault> {
    let mut value = json_of(&descriptor());
    change(&mut value);
    Descriptor::from_slice(value.to_string().as_bytes())
}

#[test]
fn a_descriptor_reads_back() {
    let descriptor = descriptor();
    assert_eq!(Descriptor::from_slice(&descriptor.to_private_json()).unwrap(), descriptor);
    assert!(Descriptor::from_slice(&descriptor.to_private_json()).is_ok());
}

#[test]
fn two_fields_may_be_absent() {
    let read = changed(|value| {
        value
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "build_id" && name != "engine_version");
    });
    let identity = read.unwrap().identity;
    assert_eq!((identity.build_id, identity.engine_version), (None, None));
}

#[test]
fn no_other_field_may_be_absent() {
    let fields: Vec<String> = json_of(&descriptor()).as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields.len(), 11);
    for field in fields.iter().filter(|field| !["build_id", "engine_version"].contains(&&***field))
    {
        let read = changed(|value| drop(value.as_object_mut().unwrap().remove(field)));
        assert!(matches!(read, Err(DescriptorFault::Shape(_))), "{field}: {read:?}");
    }
}

#[test]
fn a_field_holds_only_what_it_may() {
    let long = "a".repeat(64);
    let cases = [
        ("schema_version", vec![json!(2), json!(0), json!("1"), json!(null)]),
        (
            "session_id",
            vec![json!("x"), json!(long), json!("00112233445566778899AABBCCDDEEFF"), json!(1)],
        ),
        (
            "token",
            vec![json!(""), json!("A".repeat(64)), json!("a".repeat(63)), json!(1), json!(null)],
        ),
        (
            "pid",
            vec![
                json!(0),
                json!(-1),
                json!(1.5),
                json!("4242"),
                json!(4_294_967_296_u64),
                json!(7),
            ],
        ),
        ("kind", vec![json!("Editor"), json!("project"), json!(1)]),
        (
            "project_path",
            vec![
                json!(""),
                json!("game"),
                json!("/projects/../game"),
                json!("/projects//game"),
                json!("/projects/game/"),
                json!("/a\0b"),
                json!(1),
            ],
        ),
        (
            "endpoint",
            vec![
                json!(""),
                json!("/run/temp/godot_didi.sock"),
                json!("tcp://127.0.0.1:1"),
                json!(1),
            ],
        ),
        ("started_at_ms", vec![json!(0), json!(-1), json!("now"), json!(1e300)]),
        ("protocol_version", vec![json!("1.2"), json!("2.0"), json!(1.3)]),
        ("build_id", vec![json!(null), json!(1)]),
        ("engine_version", vec![json!(null), json!([])]),
    ];
    for (field, values) in cases {
        for bad in values {
            let read = changed(|value| value[field] = bad.clone());
            assert!(read.is_err(), "{field}: {bad}");
        }
    }
}

#[test]
fn what_is_no_object_of_exactly_these_fields_is_refused() {
    assert!(changed(|value| value["more"] = json!(1)).is_err());
    let text = String::from_utf8(descriptor().to_private_json()).unwrap();
    let twice = text.replacen('{', "{\"pid\": 4242,", 1);
    for text in [&*twice, &text[..text.len() - 1], "", "[]", "null", "{}", &format!("{text} x")] {
        assert!(Descriptor::from_slice(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Descriptor::from_slice(b"\xff\xfe").is_err());
}

#[test]
fn a_long_file_is_refused_unread() {
    let mut text = descriptor().to_private_json();
    text.resize(MAX_DESCRIPTOR_BYTES, b' ');
    assert!(Descriptor::from_slice(&text).is_ok());
    text.push(b' ');
    let refused = Descriptor::from_slice(&text);
    assert_eq!(refused, Err(DescriptorFault::TooLong(MAX_DESCRIPTOR_BYTES as u64 + 1)));
}

proptest! {
    #[test]
    fn no_public_form_has_the_token(bytes in any::<[u8; 32]>()) {
        let descriptor = Descriptor { identity: identity(), token: SessionToken::from_bytes(bytes) };
        let token = descriptor.token.reveal();
        prop_assert!(!serde_json::to_string(descriptor.public()).unwrap().contains(token));
        let shown = format!("{descriptor:?}");
        prop_assert!(!shown.contains(token), "{}", shown);
    }

    #[test]
    fn no_fault_quotes_the_token(bytes in any::<[u8; 32]>(), at in 0..11_usize) {
        let descriptor = Descriptor { identity: identity(), token: SessionToken::from_bytes(bytes) };
        let token = descriptor.token.reveal().to_owned();
        let mut value = json_of(&descriptor);
        let field = value.as_object().unwrap().keys().nth(at).unwrap().clone();
        // The token has slipped into another field.
        value[&field] = json!(token);
        if let Err(fault) = Descriptor::from_slice(value.to_string().as_bytes()) {
            prop_assert!(!fault.to_string().contains(&token), "{}", fault);
        }
        value[&field] = json!([token]);
        if let Err(fault) = Descriptor::from_slice(value.to_string().as_bytes()) {
            prop_assert!(!fault.to_string().contains(&token), "{}", fault);
        }
        value["kind"] = json!(token);
        let fault = Descriptor::from_slice(value.to_string().as_bytes()).unwrap_err();
        prop_assert!(!fault.to_string().contains(&token), "{}", fault);
    }
}
