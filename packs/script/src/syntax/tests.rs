use didi_plugin_api::prelude::*;

use super::text_of;

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

/// Lines of the faults that the grammar reports, by way of a tool that has a context.
#[track_caller]
fn check_faults(text: &str, want: usize) {
    let folder = tempfile::tempdir().unwrap();
    let kit = didi_plugin_api::testkit::Kit::open::<crate::ScriptPack>(folder.path());
    let got = kit.call("script_get_symbols", &json!({ "source_text": text })).unwrap();
    assert_eq!(got["syntax_errors"].as_u64().unwrap_or(0), want as u64, "{text}");
}

#[test]
fn what_the_engine_compiles_is_no_fault() {
    check_faults("func f():\n\treturn { lua = 1, \"q r\" = 2 }\n", 0);
    check_faults("func g(): if true: return 2\n", 0);
    check_faults("@abstract func area() -> float\n", 0);
    check_faults("@abstract\nfunc area() -> float\n", 0);
    check_faults("", 0);
}

#[test]
fn what_the_engine_refuses_is_a_fault() {
    check_faults("func broken(\n", 1);
    check_faults("func broken()\n\tpass\n", 1);
    check_faults("var a = = 2\n", 1);
}
