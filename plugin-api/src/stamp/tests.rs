//! A stamp as it lies in a library.

use serde_json::Value;

use super::{API_VERSION, PROFILE, RUSTC, STAMP_LEN, STAMP_MAGIC, Stamp, TARGET};

#[test]
fn a_stamp_is_its_magic_one_json_object_and_spaces() {
    const STAMP: Stamp = Stamp::of(&["{\"pack\":\"", "a-pack", "\"}"]);
    assert_eq!(STAMP.0.len(), STAMP_LEN);
    let (magic, body) = STAMP.0.split_at(STAMP_MAGIC.len());
    assert_eq!(magic, STAMP_MAGIC);
    let said: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(said["pack"], "a-pack");
    assert!(body.ends_with(b"   "));
}

#[test]
fn what_this_build_says_of_itself_is_there() {
    assert!(RUSTC.starts_with("rustc "), "{RUSTC}");
    assert!(TARGET.contains('-') && !PROFILE.is_empty(), "{TARGET} {PROFILE}");
    assert_eq!(API_VERSION.split('.').count(), 3);
}

#[test]
#[should_panic(expected = "too long")]
fn a_stamp_that_is_too_long_is_refused() {
    let _ = Stamp::of(&[&"x".repeat(STAMP_LEN)]);
}

#[test]
#[should_panic(expected = "no escapes")]
fn a_stamp_that_json_would_escape_is_refused() {
    let _ = Stamp::of(&["a\\b"]);
}
