use super::{binary_class, whole_characters};

#[test]
fn a_binary_header_gives_its_class_in_both_byte_orders() {
    let little = b"RSRC\0\0\0\0\0\0\0\0\x04\0\0\0\x02\0\0\0\x05\0\0\0\x06\0\0\0Theme\0";
    assert_eq!(binary_class(little.to_vec()).as_deref(), Some("Theme"));
    let big = b"RSRC\0\0\0\x01\0\0\0\0\0\0\0\x04\0\0\0\x02\0\0\0\x05\0\0\0\x06Theme\0";
    assert_eq!(binary_class(big.to_vec()).as_deref(), Some("Theme"));
    for bad in [
        &b""[..],
        b"RSRC",
        b"RSCC\0\0\0\0",
        b"RSRC\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff",
    ] {
        assert_eq!(binary_class(bad.to_vec()), None);
    }
}

#[test]
fn a_cut_inside_a_character_is_mended_and_a_bad_byte_is_not() {
    assert_eq!(whole_characters("ab\u{44f}".as_bytes().split_last().unwrap().1), b"ab");
    assert_eq!(whole_characters(b"a\xffb"), b"a\xffb");
}
