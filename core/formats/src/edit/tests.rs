//! Tests of splices, and of edits on real files.

use super::{Edit, Splice, key};
use crate::config::ConfigFile;
use crate::document::tests::{corpus, files_below};
use crate::document::{Document, ItemKind, Span};
use crate::scene::{NewExternal, Place, Scene, SceneKind};
use crate::variant;

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

/// Whether an edit left everything alone but one place, and every line end as it was.
fn check_edit(before: &[u8], edit: &Edit, replaced: usize, what: &str) -> Vec<u8> {
    let after = edit.apply(before);
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = before.iter().zip(&after).take_while(same).count();
    let back = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    assert!(front + back + replaced >= before.len(), "{what}: more than one place changed");
    let ends = |bytes: &[u8]| {
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        lines == memchr::memmem::find_iter(bytes, b"\r\n").count()
    };
    assert!(!ends(before) || before.is_empty() || ends(&after), "{what}: line ends are mixed");
    after
}

fn edit_scene(source: &[u8], what: &str) {
    let scene = Scene::parse(source).unwrap();
    let nodes = scene.nodes().iter().enumerate().step_by(50);
    let nodes = nodes.map(|(index, node)| (Place::Node(index), node.entries()));
    let main = (scene.header().kind == SceneKind::Resource)
        .then(|| (Place::Main, scene.resource_entries()));
    for (place, entries) in nodes.chain(main) {
        for name in ["text", "script", "position", "brand/new é"] {
            let old = entries.iter().rev().find(|entry| entry.key == name);
            let edit = scene.set_property(place, name, "12345").unwrap();
            let after = check_edit(source, &edit, old.map_or(0, |old| old.value.len()), what);
            let again = Scene::parse(&after).unwrap();
            assert!(again.set_property(place, name, "12345").unwrap().is_empty(), "{what}");
            assert_eq!(again.nodes().len(), scene.nodes().len(), "{what}");
            if old.is_none() {
                let gone = again.remove_property(place, name).unwrap().apply(&after);
                assert!(gone == source, "{what}: removing what was added is the way back");
            }
        }
    }
    let new = NewExternal { type_name: "Script", path: "res://new.gd", uid: Some("uid://b2") };
    let external = scene.add_ext_resource(new).unwrap();
    let after = external.edit.apply(source);
    let again = Scene::parse(&after).unwrap();
    assert_eq!(again.ext_resource(&external.id).unwrap().path, "res://new.gd", "{what}");
    assert_eq!(again.ext_resources().len(), scene.ext_resources().len() + 1, "{what}");
}

fn edit_config(source: &[u8], what: &str) {
    let config = ConfigFile::parse(source).unwrap();
    for (section, name) in
        [("application", "config/name"), ("new one", "k"), ("remap", "importer"), ("", "top")]
    {
        let old = config.get(section, name).map_or(0, |raw| raw.text.len());
        let edit = config.set(section, name, "[1, 2]").unwrap();
        let after = check_edit(source, &edit, old, what);
        let again = ConfigFile::parse(&after).unwrap();
        assert_eq!(again.get(section, name).unwrap().text, "[1, 2]", "{what}");
        assert!(again.set(section, name, "[1, 2]").unwrap().is_empty(), "{what}");
        let gone = again.remove(section, name).unwrap().apply(&after);
        assert_eq!(ConfigFile::parse(&gone).unwrap().get(section, name), None, "{what}");
    }
}

/// Every value is written again as the engine wrote it.
fn write_values(source: &[u8], what: &str) -> usize {
    let document = Document::parse(source).unwrap();
    let mut count = 0;
    for item in document.items() {
        let ItemKind::Property(property) = &item.kind else { continue };
        let written = document.text(property.value);
        let value = variant::parse(written).unwrap();
        // Projects of older engines have other spellings; their values are the same.
        let again = variant::write(&value, "\n");
        assert_eq!(variant::parse(&again).unwrap(), value, "{what}");
        count += usize::from(again == written);
    }
    count
}

#[test]
fn edits_of_the_corpus_change_one_place_each() {
    let Some(folder) = corpus() else { return };
    let mut files = vec![];
    files_below(&folder, &mut files);
    let (mut edited, mut values) = (0, 0);
    for path in files {
        let what = path.display().to_string();
        let source = std::fs::read(&path).unwrap();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("tscn" | "tres") => edit_scene(&source, &what),
            Some("godot" | "cfg" | "import") => edit_config(&source, &what),
            _ => continue,
        }
        values += write_values(&source, &what);
        edited += 1;
    }
    eprintln!("{edited} files edited, {values} values written as they stood");
    assert!(edited > 0);
}
