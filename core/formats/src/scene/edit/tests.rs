//! Tests of edits of scenes and resources.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{AttributeChange, NewExternal, Place};
use crate::edit::{Edit, EditError};
use crate::scene::Scene;
use crate::variant::escaped;

/// BL-01: a string that looks like a scene.
const GHOST: &str = "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Label\" unique_id=11]\ntext = \"one\n\n\
    [node name=\\\"Ghost\\\" type=\\\"Node\\\" parent=\\\".\\\"]\n; not a comment\ntwo = 2\"\n\n\
    [node name=\"Kid\" type=\"Label\" parent=\".\" unique_id=12]\ntext = \"x\"\n";

fn edited(source: &str, edit: impl FnOnce(&Scene<'_>) -> Result<Edit, EditError>) -> String {
    let scene = Scene::parse(source.as_bytes()).unwrap();
    let edit = edit(&scene).unwrap();
    String::from_utf8(edit.apply(source.as_bytes())).unwrap()
}

fn set(source: &str, place: Place<'_>, key: &str, value: &str) -> String {
    edited(source, |scene| scene.set_property(place, key, value))
}

/// BL-01.
#[test]
fn a_string_that_looks_like_a_scene() {
    let after = set(GHOST, Place::Node(1), "text", "\"y\"");
    assert_eq!(after, GHOST.replace("\"x\"", "\"y\""));
    let after = set(GHOST, Place::Node(0), "text", "\"short\"");
    assert_eq!(
        after,
        "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Label\" unique_id=11]\ntext = \"short\"\n\n\
         [node name=\"Kid\" type=\"Label\" parent=\".\" unique_id=12]\ntext = \"x\"\n"
    );
}

/// BL-02: every line goes on ending in CR LF.
#[test]
fn carriage_returns_stay() {
    let source = GHOST.replace('\n', "\r\n");
    let after = set(&source, Place::Node(0), "visible", "false");
    assert_eq!(after.replace("visible = false\r\n", ""), source);
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

/// BL-28: of two the last counts.
#[test]
fn of_two_properties_the_last_is_set_and_both_are_removed() {
    let source =
        "[gd_scene format=3]\n\n[node name=\"A\" type=\"Label\"]\ntext = \"1\"\ntext = \"2\"\n";
    let after = set(source, Place::Node(0), "text", "\"3\"");
    assert_eq!(after, source.replace("\"2\"", "\"3\""));
    let after = edited(source, |scene| scene.remove_property(Place::Node(0), "text"));
    assert_eq!(after, "[gd_scene format=3]\n\n[node name=\"A\" type=\"Label\"]\n");
}

/// BL-29: legal but odd layout.
#[test]
fn odd_layout_stays() {
    let source = "; by hand\n[gd_scene   format = 3 ][node name=\"Root\" type=\"Label\"]text=\"ab\"\n\
        metadata/a   = { \"k\" : [ 1, 2, ], }   ; tail\nmetadata/b=1 metadata/c=2\n\
        [node name=\"K\" type=\"Label\" parent=\".\"]text=\"k\"";
    assert_eq!(
        set(source, Place::Node(1), "text", "\"z\""),
        source.replace("\"k\"\n", "\n").replace("text=\"k\"", "text=\"z\"")
    );
    assert_eq!(set(source, Place::Node(1), "x", "1"), format!("{source}\nx=1"));
    assert_eq!(
        set(source, Place::Node(0), "metadata/b", "5"),
        source.replace("metadata/b=1", "metadata/b=5")
    );
    let after = edited(source, |scene| scene.remove_property(Place::Node(0), "metadata/c"));
    assert_eq!(after, source.replace(" metadata/c=2", " "));
    let after = edited(source, |scene| scene.remove_property(Place::Node(0), "text"));
    assert_eq!(after, source.replace("text=\"ab\"", ""));
    let after = set(source, Place::Node(0), "script", "null");
    assert_eq!(
        after,
        source.replace("\"Label\"]text=\"ab\"", "\"Label\"]\nscript=null\ntext=\"ab\"")
    );
}

/// BL-29: found by fuzzing; what begins right behind a value stays a thing of its own.
#[test]
fn what_stands_right_behind_an_edit_is_not_run_into() {
    let source = "[gd_scene format=3]\n\n[node name=\"A\"type=\"Label\"index=\"0\"]\na=1b=\"x\"2c=\"y\"3d=4\n";
    let keys = |text: &str| {
        let scene = Scene::parse(text.as_bytes()).unwrap();
        scene.nodes()[0].properties().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(source), ["a", "b", "2c", "3d"]);
    let after = set(source, Place::Node(0), "b", "5");
    assert_eq!((keys(&after), after.contains("b=5 2c")), (keys(source), true), "{after}");
    for gone in ["b", "2c"] {
        let after = edited(source, |scene| scene.remove_property(Place::Node(0), gone));
        let left: Vec<_> = keys(source).into_iter().filter(|key| key != gone).collect();
        assert_eq!(keys(&after), left, "{after}");
    }
    let after = edited(source, |scene| {
        scene.change_attribute(Place::Node(0), "type", AttributeChange::Remove)
    });
    assert!(after.contains("[node name=\"A\" index=\"0\"]"), "{after}");
    let after = edited(source, |scene| {
        scene.change_attribute(Place::Node(0), "name", AttributeChange::Set("7"))
    });
    assert!(after.contains("[node name=7 type="), "{after}");
}

#[test]
fn a_script_stands_before_what_it_declares() {
    let source = "[gd_scene format=3]\n\n[node name=\"A\" type=\"Node\"]\nhp = 3\n";
    let after = set(source, Place::Node(0), "script", "null");
    assert_eq!(after, source.replace("hp", "script = null\nhp"));
}

/// BL-04.
#[test]
fn names_are_escaped_by_the_engines_rules() {
    let name = escaped("Имя \"x\" \\ O'Neil");
    assert_eq!(name, r#""Имя \"x\" \\ O\'Neil""#);
    let after = edited(GHOST, |scene| {
        scene.change_attribute(Place::Node(1), "name", AttributeChange::Set(&name))
    });
    assert_eq!(after, GHOST.replace("name=\"Kid\"", &format!("name={name}")));
    assert_eq!(Scene::parse(after.as_bytes()).unwrap().nodes()[1].name, "Имя \"x\" \\ O'Neil");
    assert_eq!(set(GHOST, Place::Node(1), "odd é", "1"), format!("{GHOST}\"odd é\" = 1\n"));
}

#[test]
fn attributes_are_set_renamed_and_removed() {
    let change = |name: &'static str, change| {
        edited(GHOST, move |scene| scene.change_attribute(Place::Node(1), name, change))
    };
    let head = "[node name=\"Kid\" type=\"Label\" parent=\".\" unique_id=12]";
    assert_eq!(
        change("groups", AttributeChange::Set("[\"a\"]")),
        GHOST.replace(head, &head.replace(']', " groups=[\"a\"]]"))
    );
    assert_eq!(
        change("type", AttributeChange::Remove),
        GHOST.replace("\"Kid\" type=\"Label\"", "\"Kid\"")
    );
    assert_eq!(change("gone", AttributeChange::Remove), GHOST);
    assert_eq!(
        change("unique_id", AttributeChange::Rename("index")),
        GHOST.replace("unique_id=12", "index=12")
    );
    let scene = Scene::parse(GHOST.as_bytes()).unwrap();
    let failed = |name, change| scene.change_attribute(Place::Node(1), name, change).is_err();
    assert!(failed("gone", AttributeChange::Rename("x")));
    assert!(failed("a b", AttributeChange::Set("1")));
    assert!(failed("type", AttributeChange::Set("] [node")));
    assert!(scene.change_attribute(Place::Node(9), "x", AttributeChange::Remove).is_err());
}

#[test]
fn the_files_own_uid() {
    let after = edited(GHOST, |scene| scene.set_uid("uid://c0000000000b1"));
    assert_eq!(after, GHOST.replace("format=3", "format=3 uid=\"uid://c0000000000b1\""));
    let again = edited(&after, |scene| scene.set_uid("uid://b2"));
    assert_eq!(again, GHOST.replace("format=3", "format=3 uid=\"uid://b2\""));
    assert!(Scene::parse(GHOST.as_bytes()).unwrap().set_uid("uid://<invalid>").is_err());
}

fn script(path: &str) -> NewExternal<'_> {
    NewExternal { type_name: "Script", path, uid: None }
}

fn add(source: &str, new: NewExternal<'_>) -> (String, String) {
    let scene = Scene::parse(source.as_bytes()).unwrap();
    let external = scene.add_ext_resource(new).unwrap();
    let after = String::from_utf8(external.edit.apply(source.as_bytes())).unwrap();
    (after, external.reference)
}

#[test]
fn an_external_resource_is_added_once() {
    let source = GHOST.replace("format=3", "load_steps=1 format=3");
    let (after, reference) = add(&source, script("res://é.gd"));
    let id = reference.strip_prefix("ExtResource(\"1_").unwrap().strip_suffix("\")").unwrap();
    let line = format!("\n[ext_resource type=\"Script\" path=\"res://é.gd\" id=\"1_{id}\"]\n");
    let expected = source
        .replace("load_steps=1", "load_steps=2")
        .replace("format=3]\n", &format!("format=3]\n{line}"));
    assert_eq!(after, expected);
    assert_eq!(add(&after, script("res://é.gd")), (after.clone(), reference));
    let uid = Some("uid://b2");
    let (more, second) = add(&after, NewExternal { uid, ..script("res://b.gd") });
    assert!(second.starts_with("ExtResource(\"2_"), "{second}");
    let line = more.lines().nth(3).unwrap();
    assert!(
        line.starts_with(
            "[ext_resource type=\"Script\" uid=\"uid://b2\" path=\"res://b.gd\" id=\"2_"
        )
    );
    assert!(more.contains("load_steps=3"));
    assert_eq!(more.lines().count(), after.lines().count() + 1);
}

#[test]
fn an_old_file_counts_its_ids() {
    let source = "[gd_scene load_steps=3 format=2]\r\n\r\n[ext_resource path=\"res://a.gd\" type=\"Script\" id=1]\r\n\
        \r\n[sub_resource type=\"BoxShape\" id=4]\r\n\r\n[node name=\"A\" type=\"Node\"]\r\n";
    let (after, reference) = add(source, script("res://b.gd"));
    assert_eq!(reference, "ExtResource(5)");
    let line = "[ext_resource type=\"Script\" path=\"res://b.gd\" id=5]\r\n";
    let expected = source.replace("id=1]\r\n", &format!("id=1]\r\n{line}")).replace("=3 ", "=4 ");
    assert_eq!(after, expected);
    assert_eq!(add(source, script("res://a.gd")).1, "ExtResource(1)");
}

#[test]
fn a_resource_file() {
    let source = "[gd_resource type=\"Theme\" format=3]\n\n[sub_resource type=\"Curve\" id=\"c\"]\n\n[resource]\na = 1\n";
    let after = set(source, Place::Main, "b", "SubResource(\"c\")");
    assert_eq!(after, format!("{source}b = SubResource(\"c\")\n"));
    let after = set(source, Place::SubResource("c"), "min_value", "-1.0");
    assert_eq!(after, source.replace("\"c\"]\n", "\"c\"]\nmin_value = -1.0\n"));
    let scene = Scene::parse(source.as_bytes()).unwrap();
    for place in [Place::SubResource("d"), Place::Node(0), Place::Header, Place::Editable(0)] {
        assert!(
            matches!(scene.set_property(place, "b", "1"), Err(EditError::NotFound(_))),
            "{place:?}"
        );
    }
    assert!(matches!(scene.set_property(Place::Main, "b", "1 2"), Err(EditError::Value(_))));
}

fn scene() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("text = \"one\n\n[node name=\\\"G\\\"]\"".to_owned()),
        Just("; comment [x] = 1".to_owned()),
        Just(String::new()),
        Just("script = ExtResource(\"1\") ; s".to_owned()),
        Just("metadata/a   = { \"k\" : [ 1, 2, ], }".to_owned()),
        ("[a-d]", -9..9_i32).prop_map(|(key, value)| format!("{key} = {value}")),
    ];
    let node = (proptest::collection::vec(line, 0..5), "[a-zé \\[\\]=;]{1,5}");
    let nodes = proptest::collection::vec(node, 1..5);
    (nodes, prop_oneof![Just("\n"), Just("\r\n")], any::<bool>()).prop_map(|(nodes, eol, ended)| {
        let mut text = format!(
            "[gd_scene load_steps=2 format=3]{eol}{eol}[ext_resource type=\"Script\" path=\"res://a.gd\" id=\"1\"]{eol}"
        );
        for (at, (lines, name)) in nodes.into_iter().enumerate() {
            let parent = if at == 0 { "" } else { " parent=\".\"" };
            let _ = write!(text, "{eol}[node name=\"{name}{at}\" type=\"Node\"{parent}]{eol}");
            for line in lines {
                text.push_str(&line);
                text.push_str(eol);
            }
        }
        if !ended {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

proptest! {
    #[test]
    fn a_set_changes_one_place_reads_back_and_is_made_once(
        source in scene(),
        node in 0..4_usize,
        key in prop_oneof![Just("a"), Just("text"), Just("script"), Just("new/é x")],
        number in any::<i64>(),
        path in prop_oneof![Just("res://a.gd"), Just("res://b'.gd")],
    ) {
        let before = Scene::parse(source.as_bytes()).unwrap();
        let node = node % before.nodes().len();
        let old = before.nodes()[node].property(key).map_or(0, |raw| raw.text.len());
        let value = number.to_string();
        let edit = before.set_property(Place::Node(node), key, &value).unwrap();
        let after = edit.apply(source.as_bytes());
        let front = source.bytes().zip(&after).take_while(|(one, other)| one == *other).count();
        let back = source.bytes().rev().zip(after.iter().rev()).take_while(|(one, other)| one == *other);
        prop_assert!(front + back.count() + old >= source.len());
        let again = Scene::parse(&after).unwrap();
        prop_assert_eq!(again.nodes()[node].property(key).unwrap().text, &value);
        prop_assert!(again.set_property(Place::Node(node), key, &value).unwrap().is_empty());
        for (one, other) in before.nodes().iter().zip(again.nodes()) {
            prop_assert_eq!(&one.name, &other.name);
            let rest = |node: &crate::scene::Node<'_>| -> Vec<(String, String)> {
                let all = node.properties().map(|(name, text)| (name.to_owned(), text.to_owned()));
                all.filter(|(name, _)| name != key).collect()
            };
            prop_assert_eq!(rest(one), rest(other));
        }
        let gone = again.remove_property(Place::Node(node), key).unwrap().apply(&after);
        prop_assert!(Scene::parse(&gone).unwrap().nodes()[node].property(key).is_none());

        let external = before.add_ext_resource(script(path)).unwrap();
        let added = external.edit.apply(source.as_bytes());
        let added = Scene::parse(&added).unwrap();
        prop_assert_eq!(&added.ext_resource(&external.id).unwrap().path, path);
        let same = added.add_ext_resource(script(path)).unwrap();
        prop_assert!(same.edit.is_empty());
        prop_assert_eq!(same.reference, external.reference);
        prop_assert_eq!(added.nodes().len(), before.nodes().len());
    }
}
