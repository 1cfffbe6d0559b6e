use super::*;

#[test]
fn a_block_is_added_replaced_and_then_left() {
    let first = with_block(b"# Mine\n").unwrap();
    assert!(first.starts_with("# Mine\n\n<!-- BEGIN DIDI"), "{first}");
    assert_eq!(with_block(first.as_bytes()).unwrap(), first);
    let older = "# Mine\n<!-- BEGIN DIDI v0 -->\nold\n<!-- END DIDI -->\nmore\n";
    let newer = with_block(older.as_bytes()).unwrap();
    assert!(
        newer.starts_with("# Mine\n<!-- BEGIN DIDI:") && newer.ends_with("-->\nmore\n"),
        "{newer}"
    );
    assert!(!newer.contains("\nold\n"));
    assert_eq!(with_block(b"").unwrap().matches("DIDI -->").count(), 1);
}

#[test]
fn line_ends_stay() {
    let after = with_block(b"a\r\nb").unwrap();
    assert!(after.starts_with("a\r\nb\r\n\r\n<!--"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

#[test]
fn broken_markers_are_left_to_a_person() {
    for text in [
        "<!-- BEGIN DIDI -->\n",
        "<!-- END DIDI -->\n",
        "<!-- END DIDI -->\n<!-- BEGIN DIDI -->\n",
        "<!-- BEGIN DIDI -->\n<!-- BEGIN DIDI -->\n<!-- END DIDI -->\n",
        "<!-- BEGIN DIDI -->\n<!-- END DIDI",
    ] {
        assert!(with_block(text.as_bytes()).is_err(), "{text}");
    }
    assert!(with_block(b"\xff").is_err());
}
