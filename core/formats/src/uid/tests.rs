//! Tests of `uid`: what is one, and the number behind it as the engine 4.6.3 counts it.

use super::{is_uid, number, parse_uid_file};

#[test]
fn numbers_are_those_of_the_engine() {
    assert_eq!(number("uid://dk3q8n5w1x2yz"), Some(7_919_984_197_839_370_189));
    assert_eq!(number("uid://c0000000000b1"), Some(6_580_735_824_729_459_672));
    assert_eq!(number("uid://zzzzzzzzzzzzzzzz"), Some(2_822_958_594_259_230_471));
}

#[test]
fn other_texts_are_none() {
    for text in ["uid://", "uid://9Z", "uid://<invalid>", "res://a.tscn", "UID://abc", ""] {
        assert!(!is_uid(text), "{text}");
    }
}

#[test]
fn a_uid_file_is_one_line() {
    assert_eq!(parse_uid_file(b"uid://abc123\n").unwrap(), "uid://abc123");
    assert_eq!(parse_uid_file(b"\xef\xbb\xbfuid://abc123\r\n").unwrap(), "uid://abc123");
    assert!(parse_uid_file(b"uid://abc\nuid://def\n").is_err());
    assert!(parse_uid_file(b"\xff\xfe").is_err());
}
