//! Tests of splices.

use super::{Edit, Splice, key};
use crate::document::Span;

#[test]
fn splices_are_put_in_by_place() {
    let splice = |start, end, text: &str| Splice { span: Span { start, end }, text: text.into() };
    let edit = Edit::of(vec![splice(4, 5, "EE"), splice(0, 0, "<"), splice(2, 3, "")]);
    assert_eq!(edit.apply(b"abcdef"), b"<abdEEf");
    assert_eq!(Edit::default().apply(b"abc"), b"abc");
}

#[test]
fn keys_are_quoted_where_the_engine_does() {
    for bare in ["a", "a/b", "a.web", "x:y,z", "(a)"] {
        assert_eq!(key(bare), bare);
    }
    assert_eq!(key("a b"), "\"a b\"");
    assert_eq!(key(""), "\"\"");
    assert_eq!(key("a=\"\\"), "\"a=\\\"\\\\\"");
}
