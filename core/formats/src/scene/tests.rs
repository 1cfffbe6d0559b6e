//! Tests of `scene`: the cases that broke other readers, by their number.

use std::fmt::Write as _;

use super::{Lookup, Problem, Scene, SceneKind, Severity};
use crate::variant::Value;

#[track_caller]
fn read(source: &str) -> Scene<'_> {
    Scene::parse(source.as_bytes()).unwrap()
}

fn names<'s>(scene: &'s Scene<'_>) -> Vec<&'s str> {
    scene.nodes().iter().map(|node| &*node.name).collect()
}

const GHOST: &str = r#"[gd_scene format=3]

[node name="Root" type="Label" unique_id=11]
text = "one

[node name=\"Ghost\" type=\"Node\" parent=\".\"]
; not a comment
two = 2"

[node name="Kid" type="Label" parent="." unique_id=12]
text = "x"
"#;

/// BL-01: a string that looks like a scene.
#[test]
fn a_string_that_looks_like_a_scene_is_one_value() {
    let scene = read(GHOST);
    assert_eq!(names(&scene), ["Root", "Kid"]);
    let text = scene.nodes()[0].property("text").unwrap().as_text().unwrap();
    assert_eq!(text.split('\n').count(), 5);
    assert!(text.contains("[node name=\"Ghost\""));
    assert_eq!(scene.nodes()[1].line, 10);
    assert_eq!(scene.nodes()[1].property("text").unwrap().line, 11);
    assert_eq!(scene.nodes()[1].unique_id, Some(12));
    assert_eq!(scene.problems(), []);
}

/// BL-02: the same with CRLF; lines count alike, and the string keeps its own line ends.
#[test]
fn crlf_is_kept_inside_strings_and_counts_as_one_line_end() {
    let source = GHOST.replace('\n', "\r\n");
    let scene = read(&source);
    let text = scene.nodes()[0].property("text").unwrap().as_text().unwrap();
    assert_eq!(text.matches("\r\n").count(), 4);
    assert_eq!(scene.nodes()[1].line, 10);
    assert_eq!(scene.document().to_bytes(), source.as_bytes());
}

/// BL-04: node names with every awkward character.
#[test]
fn awkward_node_names_are_addressable() {
    let scene = read(
        r#"[gd_scene format=3]

[node name="Ro\\ot" type="Control"]

[node name="O\'Neil" type="Button" parent="."]

[node name="Sp [x] = 1 #&" type="Button" parent="."]

[node name="Имя 名前 🎮" type="Button" parent="."]

[node name="In" type="Button" parent="Имя 名前 🎮"]

[connection signal="pressed" from="Имя 名前 🎮/In" to="Sp [x] = 1 #&" method="hide"]
"#,
    );
    assert_eq!(names(&scene), ["Ro\\ot", "O'Neil", "Sp [x] = 1 #&", "Имя 名前 🎮", "In"]);
    for node in 0..5 {
        let path = scene.node_path(node).unwrap();
        assert_eq!(scene.find(&path), Lookup::Node(node), "{path}");
    }
    let connection = &scene.connections()[0];
    assert_eq!((connection.from_node, connection.to_node), (Lookup::Node(4), Lookup::Node(2)));
    assert_eq!(scene.problems(), []);
}

/// BL-05: a hexadecimal escape beyond ASCII is flagged, with its line.
#[test]
fn a_lossy_escape_is_flagged() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Label\"]\ntext = \"\\u0041\"\nb = \"caf\\u00e9\"\n",
    );
    assert_eq!(scene.nodes()[0].property("text").unwrap().as_text().unwrap(), "A");
    assert_eq!(scene.problems(), [Problem::LossyEscape { line: 4 }]);
}

/// BL-07: connections with binds, unbinds and flags, in the engine's odd spacing.
#[test]
fn connections_give_binds_unbinds_and_flags() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n[node name=\"B\" type=\"Button\" parent=\".\"]\n\
         [connection signal=\"pressed\" from=\"B\" to=\".\" method=\"set_name\" flags=3 binds= [\"a\", 5, \
         Vector2(1, 2)]]\n[connection signal=\"toggled\" from=\"B\" to=\".\" method=\"hide\" unbinds=1]\n",
    );
    let [first, second] = scene.connections() else { panic!() };
    assert_eq!((first.flags, first.unbinds), (3, 0));
    assert_eq!(first.binds, Some("[\"a\", 5, Vector2(1, 2)]"));
    assert_eq!((&*first.signal, &*first.method), ("pressed", "set_name"));
    assert_eq!((second.flags, second.unbinds, second.binds), (2, 1, None));
    assert_eq!(scene.problems(), []);
}

/// BL-08: a connection without `from`, and one from a missing node.
#[test]
fn broken_connections_are_found_with_their_line() {
    let head = "[gd_scene format=3]\n[node name=\"R\" type=\"Control\"]\n";
    let source = format!("{head}[connection signal=\"draw\" to=\".\" method=\"hide\"]\n");
    let scene = read(&source);
    assert_eq!(scene.problems(), [Problem::ConnectionWithout { attribute: "from", line: 3 }]);
    assert_eq!(scene.problems()[0].severity(), Severity::Fatal);
    let source =
        format!("{head}[connection signal=\"draw\" from=\"Gone\" to=\".\" method=\"hide\"]\n");
    let scene = read(&source);
    let path = "Gone".to_owned();
    assert_eq!(
        scene.problems(),
        [Problem::DanglingConnection { attribute: "from", path, line: 3 }]
    );
    assert_eq!(scene.problems()[0].severity(), Severity::Loss);
}

/// BL-10: the five attributes added in 4.6 are kept as written.
#[test]
fn newer_attributes_are_kept_verbatim() {
    let scene = read(
        "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://p.tscn\" id=\"1_p\"]\n\
         [node name=\"R\" type=\"Node\" unique_id=1]\n\
         [node name=\"Inst\" parent=\".\" unique_id=2001 instance=ExtResource(\"1_p\")]\n\
         [node name=\"Extra\" type=\"Label\" parent=\"Inst/Slot\" parent_id_path=PackedInt32Array(2001, 2002) \
         owner_uid_path=PackedInt32Array(1) index=\"0\" unique_id=1007]\n\
         [connection signal=\"a\" from=\"Inst/Slot\" to=\".\" method=\"b\" \
         from_uid_path=PackedInt32Array(2001, 2002) to_uid_path=PackedInt32Array(1)]\n",
    );
    let extra: Vec<_> = scene.attributes(2).collect();
    assert!(extra.contains(&("parent_id_path", "PackedInt32Array(2001, 2002)")));
    assert!(extra.contains(&("owner_uid_path", "PackedInt32Array(1)")));
    assert_eq!((scene.nodes()[2].index(), scene.nodes()[2].unique_id), (Some(0), Some(1007)));
    assert_eq!(scene.nodes()[2].parent, None);
    assert_eq!(scene.inside(1).collect::<Vec<_>>(), [2]);
    assert_eq!(scene.connections()[0].from_node, Lookup::Inside(1));
    assert_eq!(scene.instance_path(1), Some("res://p.tscn"));
    assert_eq!(scene.problems(), []);
}

/// BL-14: an override inside an instance that is not editable.
#[test]
fn an_override_without_the_editable_line_is_found() {
    let source = "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://b.tscn\" id=\"1\"]\n\
        [node name=\"R\" type=\"Node\"]\n[node name=\"Inst\" parent=\".\" instance=ExtResource(\"1\")]\n\
        [node name=\"Old\" parent=\"Inst\" index=\"0\"]\ntext = \"x\"\n";
    let scene = read(source);
    assert!(scene.nodes()[2].is_override());
    assert_eq!(scene.nodes()[2].property("text").unwrap().text, "\"x\"");
    assert_eq!(scene.problems(), [Problem::OverrideNotEditable { node: 2, instance: 1, line: 5 }]);
    let marked = format!("{source}[editable path=\"Inst\"]\n");
    let scene = read(&marked);
    assert_eq!(scene.problems(), []);
    assert_eq!(scene.editable_paths().collect::<Vec<_>>(), ["Inst"]);
}

#[test]
fn an_inherited_scene_names_its_base_and_overrides_its_nodes() {
    let scene = read(
        "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://b.tscn\" id=\"1\"]\n\
         [node name=\"R\" instance=ExtResource(\"1\")]\n[node name=\"Old\" parent=\".\" index=\"0\"]\nx = 1\n\
         [node name=\"New\" type=\"Node\" parent=\"Deep/In/Base\"]\n[node name=\"Kid\" type=\"Node\" \
         parent=\"Deep/In/Base/New\"]\n",
    );
    assert_eq!(scene.inherits(), Some("res://b.tscn"));
    assert_eq!(scene.children(0).collect::<Vec<_>>(), [1]);
    assert_eq!(scene.inside(0).collect::<Vec<_>>(), [2]);
    assert_eq!(scene.nodes()[3].parent, Some(2));
    assert_eq!(scene.problems(), []);
}

/// BL-16, BL-17: unknown classes and scripts that do not compile change nothing in a reading of text.
#[test]
fn unknown_classes_and_their_values_are_read() {
    let scene = read(
        "[gd_scene format=3]\n[ext_resource type=\"Script\" path=\"res://hero.gd\" id=\"1\"]\n\
         [node name=\"Root\" type=\"Node\"]\nscript = ExtResource(\"1\")\nhp = 77\n\
         [node name=\"K\" type=\"AddonNode\" parent=\".\"]\nfoo = \"x\"\n",
    );
    let root: Vec<_> = scene.nodes()[0].properties().collect();
    assert_eq!(root, [("script", "ExtResource(\"1\")"), ("hp", "77")]);
    assert_eq!(scene.nodes()[1].type_name.as_deref(), Some("AddonNode"));
    assert_eq!(scene.nodes()[1].property("foo").unwrap().text, "\"x\"");
}

/// BL-22: a value of 3 MB is one span.
#[test]
fn a_very_long_value_is_not_built() {
    let numbers: Vec<String> = (0..400_000).map(|number: i32| number.to_string()).collect();
    let source = format!(
        "[gd_scene format=4]\n[node name=\"R\" type=\"Node\"]\nmetadata/a = PackedInt32Array({})\n\
         metadata/b = PackedByteArray(\"AQID/w==\")\n",
        numbers.join(", ")
    );
    let scene = read(&source);
    assert_eq!(scene.header().format, 4);
    let long = scene.nodes()[0].property("metadata/a").unwrap();
    assert_eq!(long.parse().unwrap().len(), Some(400_000));
    let bytes = scene.nodes()[0].property("metadata/b").unwrap().parse().unwrap();
    assert_eq!(bytes.len(), Some(4));
    assert_eq!(scene.problems(), []);
}

/// BL-23: very wide and very deep trees.
#[test]
fn wide_and_deep_trees_are_built() {
    let mut wide = "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n".to_owned();
    for index in 0..20_000 {
        writeln!(wide, "[node name=\"N{index}\" type=\"Node\" parent=\".\"]").unwrap();
    }
    let scene = read(&wide);
    assert_eq!(scene.children(0).count(), 20_000);
    assert_eq!(scene.find("N19999"), Lookup::Node(20_000));
    assert_eq!(scene.problems(), []);

    let mut deep = "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n".to_owned();
    let mut parent = ".".to_owned();
    for index in 0..3_000 {
        writeln!(deep, "[node name=\"N{index:04}\" type=\"Node\" parent=\"{parent}\"]").unwrap();
        parent = if index == 0 { "N0000".to_owned() } else { format!("{parent}/N{index:04}") };
    }
    let scene = read(&deep);
    assert_eq!(scene.problems(), []);
    assert_eq!(scene.find(&parent), Lookup::Node(3_000));
    let mut depth = 0;
    let mut at = scene.find(&parent);
    while let Lookup::Node(node) = at {
        let Some(above) = scene.nodes()[node].parent else { break };
        (depth, at) = (depth + 1, Lookup::Node(above));
    }
    assert_eq!(depth, 3_000);
    assert_eq!(scene.node_path(3_000).unwrap(), parent);
}

/// BL-25: duplicate siblings, orphans, children before their parent.
#[test]
fn broken_trees_give_three_distinct_findings() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n[node name=\"X\" type=\"Node\" parent=\".\"]\n\
         [node name=\"X\" type=\"Node\" parent=\".\"]\n[node name=\"K\" type=\"Node\" parent=\"Gone/Deep\"]\n\
         [node name=\"Early\" type=\"Node\" parent=\"Late\"]\n[node name=\"Late\" type=\"Node\" parent=\".\"]\n",
    );
    assert_eq!(
        scene.problems(),
        [
            Problem::DuplicateSibling { first: 1, second: 2, line: 4 },
            Problem::Orphan { node: 3, line: 5 },
            Problem::ChildBeforeParent { node: 4, parent: 5, line: 6 },
        ]
    );
    assert_eq!(scene.orphans().collect::<Vec<_>>(), [3]);
    assert_eq!(scene.children(0).collect::<Vec<_>>(), [1, 2, 5]);
    assert_eq!(scene.find("X"), Lookup::Node(1));
    assert_eq!(scene.find("Gone/Deep/K"), Lookup::Node(3));
    assert_eq!(scene.find("X/Y"), Lookup::Missing);
}

/// BL-26: a node without `parent` that is not the root.
#[test]
fn a_second_root_is_fatal() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n[node name=\"New\" type=\"Node2D\"]\n",
    );
    assert_eq!(scene.problems(), [Problem::SecondRoot { node: 1, line: 3 }]);
    assert_eq!(scene.problems()[0].severity(), Severity::Fatal);
    assert_eq!(scene.root(), Some(0));
    assert_eq!(read("[gd_scene format=3]\n").problems(), [Problem::NoRoot { line: 1 }]);
}

/// Seen while comparing with the engine: 4.6.3 crashes on this file.
#[test]
fn an_empty_parent_is_fatal() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n[node name=\"K\" type=\"Node\" parent=\"\"]\n",
    );
    assert_eq!(scene.problems(), [Problem::EmptyParent { node: 1, line: 3 }]);
    assert_eq!(scene.nodes()[1].parent, Some(0));
}

/// BL-28: the same property twice; the last counts.
#[test]
fn the_last_of_two_equal_keys_counts() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Label\"]\ntext = \"first\"\ntext = \"second\"\n",
    );
    assert_eq!(scene.nodes()[0].property("text").unwrap().text, "\"second\"");
    assert_eq!(scene.nodes()[0].properties().count(), 2);
    assert_eq!(scene.problems(), [Problem::DuplicateProperty { key: "text".to_owned(), line: 4 }]);
    assert_eq!(scene.problems()[0].severity(), Severity::Note);
}

/// BL-29: legal but odd layout, with lone carriage returns as well.
#[test]
fn odd_layout_gives_two_nodes_with_four_properties_and_one() {
    let source = "[gd_scene   format = 3 ][node name=\"Root\" type=\"Label\"]text=\"ab\"\n\
        metadata/a   = { \"k\" : [ 1, 2, ], }\nmetadata/b=1 metadata/c=2\n\
        [node name=\"K\" type=\"Label\" parent=\".\"]text=\"k\"\n";
    let by_hand = format!("; by hand\n{}", source.replace("], }\n", "], }   ; tail\n"));
    for source in [source.to_owned(), source.replace('\n', "\r"), by_hand] {
        let scene = read(&source);
        assert_eq!(names(&scene), ["Root", "K"]);
        let counts: Vec<_> = scene.nodes().iter().map(|node| node.properties().count()).collect();
        assert_eq!(counts, [4, 1]);
        assert_eq!(scene.nodes()[0].property("metadata/c").unwrap().text, "2");
        assert_eq!(scene.problems(), []);
    }
}

/// BL-31: the editor's own metadata.
#[test]
fn metadata_of_the_editor_is_read_verbatim() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\neditor_description = \"a\nb\"\n\
         metadata/_custom_type_script = \"uid://dk3q8n5w1x2yz\"\nmetadata/_edit_group_ = true\n",
    );
    let root = &scene.nodes()[0];
    assert_eq!(root.property("metadata/_edit_group_").unwrap().parse().unwrap(), Value::Bool(true));
    assert_eq!(root.property("editor_description").unwrap().as_text().unwrap(), "a\nb");
    assert_eq!(root.entries().len(), 3);
}

/// BL-32: an instance placeholder.
#[test]
fn a_placeholder_is_no_instance_and_no_override() {
    let scene = read(
        "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n\
         [node name=\"Lazy\" parent=\".\" instance_placeholder=\"res://base.tscn\"]\nx = 1\n",
    );
    let lazy = &scene.nodes()[1];
    assert_eq!(lazy.instance_placeholder(), Some("res://base.tscn"));
    assert!(lazy.instance.is_none() && !lazy.is_override());
    assert_eq!(scene.problems(), []);
}

#[test]
fn a_resource_gives_its_header_and_properties() {
    let scene = read(
        "[gd_resource type=\"Resource\" script_class=\"Lamp\" load_steps=3 format=3 uid=\"uid://abc\"]\n\
         [ext_resource type=\"Script\" path=\"res://lamp.gd\" id=\"1\"]\n\
         [sub_resource type=\"Gradient\" id=\"g\"]\noffsets = PackedFloat32Array(0, 1)\n\
         [resource]\nscript = ExtResource(\"1\")\nglow = SubResource(\"g\")\n",
    );
    assert_eq!(scene.header().kind, SceneKind::Resource);
    assert_eq!(scene.header().script_class.as_deref(), Some("Lamp"));
    assert_eq!(scene.sub_resource("g").unwrap().properties().count(), 1);
    assert_eq!(scene.resource_entries().len(), 2);
    assert_eq!(scene.ext_resources().next().unwrap().type_name, "Script");
    assert_eq!(scene.problems(), []);
}

#[test]
fn ids_of_old_files_are_numbers() {
    let scene = read(
        "[gd_scene load_steps=2 format=2]\n[ext_resource path=\"res://a.tscn\" type=\"PackedScene\" id=1]\n\
         [node name=\"R\" type=\"Node\" groups=[\n\"a\",\n\"b\",\n]]\n\
         [node name=\"I\" parent=\".\" instance=ExtResource( 1 )]\n",
    );
    assert_eq!(scene.instance_path(1), Some("res://a.tscn"));
    assert_eq!(scene.nodes()[0].groups(), ["a", "b"]);
    assert_eq!(scene.problems(), []);
}

#[test]
fn what_the_engine_does_not_load_is_found() {
    let scene = read(
        "\u{feff}[gd_scene format=5]\nstray = 1\n[node name=\"R\" type=\"Node\"]\nx = ExtResource(\"9\")\n\
         [sub_resource type=\"Gradient\" id=\"1\"]\n[sub_resource type=\"Gradient\"]\n[what]\n\
         [editable path=\"Gone\"]\ntail",
    );
    let found: Vec<_> = scene.problems().iter().map(|at| (at.line(), at.to_string())).collect();
    let wanted = [
        (1, "the engine does not load a file that begins with a byte-order mark"),
        (1, "format 5 is newer than the engine's 4"),
        (2, "the section above takes no properties"),
        (4, "no `[ext_resource]` has the id `9`"),
        (5, "`[sub_resource]` stands after sections that must follow it"),
        (6, "`[sub_resource]` has no `id`"),
        (6, "`[sub_resource]` stands after sections that must follow it"),
        (7, "the engine knows no section `[what]` here"),
        (8, "no node is at the editable path `Gone`"),
        (9, "the section above takes no properties"),
    ];
    let wanted: Vec<_> = wanted.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn another_file_is_refused_at_its_first_section() {
    let error = Scene::parse(b"; c\n[application]\nx=1\n").unwrap_err();
    assert_eq!((error.line, error.column), (2, 1));
    assert!(Scene::parse(b"").is_err());
    assert!(Scene::parse(b"x = 1\n[gd_scene format=3]\n").is_err());
    assert!(Scene::parse(b"[gd_scenery format=3]\n").is_err());
}
