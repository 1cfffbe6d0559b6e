use super::of;

fn check(text: &str, class_name: Option<&str>, extends: Option<&str>) {
    let head = of(text);
    assert_eq!((head.class_name, head.extends), (class_name, extends), "{text}");
}

#[test]
fn the_names_stand_wherever_the_engine_takes_them() {
    check("class_name Lamp extends Node\n", Some("Lamp"), Some("Node"));
    check("extends Node\nclass_name Lamp\n", Some("Lamp"), Some("Node"));
    check("\u{feff}@tool\n@icon(\"res://a) b.svg\")\nclass_name Größe\r\n", Some("Größe"), None);
    check("@tool class_name LabOne extends Node; var x", Some("LabOne"), Some("Node"));
    check(
        "## A lamp.\n\n# class_name No\nextends \"res://base.gd\".Inner\nclass_name Yes",
        Some("Yes"),
        Some("\"res://base.gd\".Inner"),
    );
    check("class_name \\\n\tLamp\\\n extends Control.Inner\n", Some("Lamp"), Some("Control.Inner"));
    check("\"\"\"\nclass_name No\n\"\"\"\nextends Node", None, Some("Node"));
}

#[test]
fn what_is_no_head_gives_no_names() {
    check("", None, None);
    check("extends Node\nconst DOC = \"\"\"\nclass_name NotMe\n\"\"\"\n", None, Some("Node"));
    check("var class_name_of = 1\nclass_name Late\n", None, None);
    check("class_names Lamp\n", None, None);
    check("class_name", None, None);
    check("@export_range(0, 1", None, None);
    check("'open", None, None);
    check("'ends in a backslash\\", None, None);
    check("@", None, None);
}

#[test]
fn a_text_that_was_cut_inside_its_head_says_so() {
    let text = "@tool\n## Lights the way.\nclass_name Lamp\nextends \"res://base.gd\"\nvar x = 1\n";
    let whole = of(text);
    assert!(whole.ended);
    for cut in 0..text.len() {
        let head = of(&text[..cut]);
        assert!(
            !head.ended || (head.class_name, head.extends) == (whole.class_name, whole.extends),
            "{cut}"
        );
    }
}
