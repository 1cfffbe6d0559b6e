use super::{parse, text_of};

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    assert_eq!(text_of(b"\xEF\xBB\xBFvar a"), Some("var a"));
    assert_eq!(text_of("var ä".as_bytes()), Some("var ä"));
}

#[test]
fn bytes_that_no_script_has_are_no_text() {
    assert_eq!(text_of(b"\xFF\xFEv\0"), None);
    assert_eq!(text_of(b"a\0b"), None);
}

#[test]
fn a_cancelled_parse_gives_no_tree() {
    let long = "var a = 1\n".repeat(20_000);
    assert!(parse(&long, &|| true).is_none());
    assert!(parse(&long, &|| false).is_some());
}
