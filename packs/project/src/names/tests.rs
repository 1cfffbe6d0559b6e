use super::{Kind, Wanted, of_file};

fn found(path: &str, text: &str, wanted: Wanted<'_>) -> Vec<(Kind, u32, String)> {
    let all = of_file(path, text.as_bytes(), wanted).unwrap();
    all.into_iter().map(|one| (one.kind, one.line, text[one.span].to_owned())).collect()
}

const SCENE: &str = r#"[gd_scene format=3]
[sub_resource type="Animation" id="a"]
tracks/0/path = NodePath("A/B:hp:x")
tracks/0/keys = {"values": [{"args": ["hp"], "method": &"hp"}]}
[node name="Root" type="Node"]
hp = 5
[node name="A" type="Node" parent="."]
[node name="B" type="Node" parent="A"]
target = NodePath("../A/B:hp")
text = "hp"
[connection signal="hp" from="A/B" to="." method="on_hp"]
"#;

#[test]
fn a_word_is_found_where_it_names_a_member() {
    let places = found("res://a.tscn", SCENE, Wanted::Word("hp"));
    let expected = [
        (Kind::Track, 3, "hp".into()),
        (Kind::Track, 4, "hp".into()),
        (Kind::Resource, 6, "hp".into()),
        (Kind::Resource, 9, "hp".into()),
        (Kind::Connection, 11, "hp".into()),
    ];
    assert_eq!(places, expected);
    let code = "signal hp # hp\nvar hpx = 1\nfunc f():\n\thp.emit(\"hp\", \"an hp\")\n";
    let kinds: Vec<_> = found("res://a.gd", code, Wanted::Word("hp")).into_iter().collect();
    let expected = [
        (Kind::Declared("signal"), 1, "hp".into()),
        (Kind::Code, 4, "hp".into()),
        (Kind::Code, 4, "hp".into()),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_node_is_found_with_those_below_it() {
    let places = found("res://a.tscn", SCENE, Wanted::Node("A/B"));
    let kinds: Vec<_> = places.iter().map(|(kind, line, _)| (*kind, *line)).collect();
    let expected = [
        (Kind::Track, 3),
        (Kind::Declared("node"), 8),
        (Kind::NodePath, 9),
        (Kind::Connection, 11),
    ];
    assert_eq!(kinds, expected);
    let code = "$A/B.x\nget_node(\"A/B/C\")\nget_node(\"A/Bx\")\nvar p = ^\"A/B\"\n# $A/B\n";
    let lines: Vec<_> =
        found("res://a.gd", code, Wanted::Node("A/B")).iter().map(|one| one.1).collect();
    assert_eq!(lines, [1, 2, 4]);
}
