//! What has to hold of every reader, whatever the bytes: one function a fuzz target.
//!
//! Not only that nothing panics: what is read is written back byte for byte, an edit changes what it is asked
//! to and nothing else, and a value that is written reads back as itself.

use std::{cell::OnceCell, collections::BTreeSet, fs};

use didi_formats::{
    config::ConfigFile,
    document::{Document, Item, ItemKind, Layout},
    edit::Edit,
    limits::HEADER_BYTES,
    resource,
    scene::{AttributeChange, NewExternal, Place, Scene, SceneKind},
    uid,
    variant::{self, Value, json},
};
use didi_gdscript::{lines, symbols};
use didi_plugin_api::{project_path::ProjectRoot, testkit::Kit};
use serde_json::json;
use tempfile::TempDir;

/// The items add up to the file, and every span of them lies in it.
pub fn document(data: &[u8]) {
    for layout in [Layout::Tagged, Layout::Config] {
        let Ok(document) = Document::parse_as(data, layout) else { continue };
        assert!(document.to_bytes() == data, "the items do not add up to the file");
        let mut end = 0;
        for item in document.items() {
            assert_eq!(item.span.start, end, "a gap before {item:?}");
            assert!(!item.span.is_empty(), "an empty item");
            end = item.span.end;
            match &item.kind {
                ItemKind::Property(property) => {
                    let raw = document.text(property.value);
                    document.key(property);
                    assert!(variant::check(raw).is_ok(), "a value that is none: {raw}");
                }
                ItemKind::Section(section) => {
                    document.section_name(section);
                    for attribute in document.attributes(section) {
                        document.text(attribute.name);
                        document.text(attribute.value);
                    }
                }
                _ => {}
            }
        }
        for reference in document.references() {
            document.text(reference.id);
        }
    }
}

/// The texts of all sections and properties of a file.
fn parts(data: &[u8], layout: Layout) -> Vec<String> {
    let document = Document::parse_as(data, layout).expect("an edited file can be read");
    let part = |kind: &ItemKind| matches!(kind, ItemKind::Section(_) | ItemKind::Property(_));
    let items = document.items().iter().filter(|item| part(&item.kind));
    items.map(|item| document.text(item.span).to_owned()).collect()
}

/// Whether every line ends in CR LF, `None` where no line ends. Line ends in values and names are text.
fn line_ends(data: &[u8], layout: Layout) -> Option<bool> {
    let document = Document::parse_as(data, layout).expect("an edited file can be read");
    // The first half of the line end after a comment is the comment's. What else there is keeps ends apart.
    let ends = |kind: &ItemKind| matches!(kind, ItemKind::Blank | ItemKind::Comment);
    let piece = |item: &Item| if ends(&item.kind) { document.text(item.span) } else { "x" };
    let text: Vec<u8> = document.items().iter().flat_map(|item| piece(item).bytes()).collect();
    let count = |wanted: &[u8]| text.windows(wanted.len()).filter(|at| *at == wanted).count();
    let (feeds, returns, both) = (count(b"\n"), count(b"\r"), count(b"\r\n"));
    (feeds + returns > 0).then_some(feeds == both && returns == both)
}

/// Applies an edit and looks at what it changed: at most `replaced` of the parts, and no line end.
fn edited(data: &[u8], layout: Layout, edit: &Edit, replaced: usize) -> Vec<u8> {
    let after = edit.apply(data);
    let (old, new) = (parts(data, layout), parts(&after, layout));
    let same = |pair: &(&String, &String)| pair.0 == pair.1;
    let front = old.iter().zip(&new).take_while(same).count();
    let back = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    assert!(front + back + replaced >= old.len(), "more than one part changed: {old:?} {new:?}");
    if line_ends(data, layout) == Some(true) {
        assert_ne!(line_ends(&after, layout), Some(false), "line ends are mixed");
    }
    after
}

/// A scene or resource: every edit is one part, reads back, and can be taken back.
pub fn scene(data: &[u8]) {
    resource::dependencies(data);
    let Ok(scene) = Scene::parse(data) else { return };
    assert_eq!(&resource::read_header(data).expect("the whole has a header"), scene.header());
    for node in 0..scene.nodes().len() {
        if let Some(path) = scene.node_path(node) {
            scene.find(&path);
        }
        scene.children(node).count();
    }
    let main = (scene.header().kind == SceneKind::Resource).then_some(Place::Main);
    let nodes = (0..scene.nodes().len().min(3)).map(Place::Node);
    for place in nodes.chain(main) {
        for name in ["text", "script", "brand/new é"] {
            property(&scene, data, place, name);
        }
    }
    for node in 0..scene.nodes().len().min(3) {
        let name = variant::escaped("O'Neil \"é\" \\ [x]");
        let change = AttributeChange::Set(&name);
        let Ok(edit) = scene.change_attribute(Place::Node(node), "name", change) else { continue };
        let after = edited(data, Layout::Tagged, &edit, 1);
        let again = Scene::parse(&after).expect("an edited scene can be read");
        assert_eq!(again.nodes()[node].name, "O'Neil \"é\" \\ [x]");
    }
    let new = NewExternal { type_name: "Script", path: "res://new.gd", uid: Some("uid://b2") };
    if let Ok(external) = scene.add_ext_resource(new) {
        let after = external.edit.apply(data);
        let again = Scene::parse(&after).expect("an edited scene can be read");
        assert_eq!(again.ext_resource(&external.id).expect("it was added").path, "res://new.gd");
    }
}

fn property(scene: &Scene<'_>, data: &[u8], place: Place<'_>, name: &str) {
    let entries = match place {
        Place::Node(node) => scene.nodes()[node].entries(),
        _ => scene.resource_entries(),
    };
    let old = entries.iter().filter(|entry| entry.key == name).count();
    let Ok(edit) = scene.set_property(place, name, "12345") else { return };
    let after = edited(data, Layout::Tagged, &edit, old.min(1));
    let again = Scene::parse(&after).expect("an edited scene can be read");
    let set = again.set_property(place, name, "12345").expect("it was set once");
    assert!(set.is_empty(), "the property is not what it was set to");
    if old == 0 {
        let gone = again.remove_property(place, name).expect("it is there").apply(&after);
        // A line end that was put in so that the new line stands alone may stay.
        assert_eq!(parts(&gone, Layout::Tagged), parts(data, Layout::Tagged), "not the way back");
    }
}

/// Settings: every edit is one part and reads back; what is removed is gone.
pub fn config(data: &[u8]) {
    let Ok(config) = ConfigFile::parse(data) else { return };
    for (section, key) in
        [("application", "config/name"), ("new one", "k"), ("", "top"), ("a", "b c")]
    {
        let Ok(edit) = config.set(section, key, "[1, 2]") else { continue };
        let old = usize::from(config.get(section, key).is_some());
        let after = edited(data, Layout::Config, &edit, old);
        let again = ConfigFile::parse(&after).expect("an edited file can be read");
        let value = again.get(section, key).expect("it was set");
        assert_eq!(variant::parse(value.text), variant::parse("[1, 2]"));
        assert!(again.set(section, key, "[1, 2]").expect("it was set once").is_empty());
        let gone = again.remove(section, key).expect("it is there").apply(&after);
        let gone = ConfigFile::parse(&gone).expect("an edited file can be read");
        assert!(gone.get(section, key).is_none(), "what was removed is there");
    }
}

/// Whether two values are the same, `nan` being itself. Floats may be neighbours: one in a hundred is none that
/// the engine reads from any digits.
fn same(one: &Value<'_>, other: &Value<'_>) -> bool {
    let all = |one: &[Value<'_>], other: &[Value<'_>]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
    };
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => near(*one, *other),
        // Inside a constructor a whole number is written without its point.
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
            near(*int as f64, *float)
        }
        (Value::Construct { name, args }, Value::Construct { name: named, args: others }) => {
            name == named && all(args, others)
        }
        (Value::Array { element, items }, Value::Array { element: of, items: others }) => {
            element == of && all(items, others)
        }
        (
            Value::Dictionary { types, entries },
            Value::Dictionary { types: of, entries: others },
        ) => {
            let pair = |(one, other): (&(Value<'_>, Value<'_>), &(Value<'_>, Value<'_>))| {
                same(&one.0, &other.0) && same(&one.1, &other.1)
            };
            types == of && entries.len() == others.len() && entries.iter().zip(others).all(pair)
        }
        (
            Value::Object { class, properties },
            Value::Object { class: named, properties: others },
        ) => {
            class == named
                && properties.len() == others.len()
                && properties
                    .iter()
                    .zip(others)
                    .all(|(one, other)| one.0 == other.0 && same(&one.1, &other.1))
        }
        _ => one == other,
    }
}

fn near(one: f64, other: f64) -> bool {
    let (one, other) = if one.is_nan() && other.is_nan() { (0.0, 0.0) } else { (one, other) };
    one == other || one.to_bits().abs_diff(other.to_bits()) <= 2
}

/// A value reads back as itself once written, and is written the same again.
pub fn variant_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let escaped = variant::escaped(text);
    if !text.contains('\0') {
        let Ok(Value::String(back)) = variant::parse(&escaped) else { panic!("{escaped:?}") };
        assert_eq!(back, text, "a string does not survive its escapes");
    }
    variant::unescape(text);
    let Ok(value) = variant::parse(text) else { return };
    assert!(value.preview(80).len() <= 80, "a preview is longer than asked");
    let written = variant::write(&value, "\n");
    let again = variant::parse(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert!(same(&value, &again), "{value:?} became {again:?}");
}

/// Types that a property can want.
const WANTED: [Option<&str>; 16] = [
    None,
    Some("int"),
    Some("float"),
    Some("bool"),
    Some("String"),
    Some("StringName"),
    Some("NodePath"),
    Some("Vector2"),
    Some("Vector3i"),
    Some("Color"),
    Some("Transform3D"),
    Some("PackedByteArray"),
    Some("PackedStringArray"),
    Some("PackedVector4Array"),
    Some("Array[int]"),
    Some("Dictionary[String, Array]"),
];

/// Text made from JSON is one value, of the wanted type, and is made alike again.
pub fn variant_json(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(rest) else { return };
    let wanted = WANTED[usize::from(*first) % WANTED.len()];
    let Ok(text) = json::plain_text(&value, wanted, "\n") else { return };
    variant::check(&text).unwrap_or_else(|error| panic!("{value}: {text}: {error}"));
    let read = variant::parse(&text).unwrap_or_else(|error| panic!("{value}: {text}: {error}"));
    assert!(same(&read, &variant::parse(&variant::write(&read, "\n")).expect("it was written")));
    if let Some(wanted) = wanted.filter(|_| !value.is_null()) {
        let name = wanted.split('[').next().unwrap_or(wanted);
        assert_eq!(read.type_name(), name, "{value} became {text}");
    }
}

struct Bench {
    folder: TempDir,
    kit: Kit,
}

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

/// A script: lines tile the text, symbols lie in it, and a patch changes what it is asked to alone.
pub fn gdscript(data: &[u8]) {
    let Some(text) = didi_gdscript::text_of(data) else { return };
    let mut at = 0;
    for line in lines::of(text) {
        assert_eq!(line.range.start, at);
        assert!(line.range.end <= line.next && line.range.start + line.indent <= line.range.end);
        at = line.next;
    }
    assert_eq!(at, text.len(), "the lines do not add up to the text");
    let Some(tree) = didi_gdscript::parse(text, &|| false) else { return };
    didi_gdscript::faults::of_tree(&tree, text, 20);
    symbols::head(tree.root_node(), text);
    let mut names = BTreeSet::new();
    symbols::each(tree.root_node(), text, |symbol| {
        assert!(symbol.line() >= 1 && symbol.column() >= 1 && symbol.end_line() >= 1);
        symbol.parts();
        if symbol.kind == symbols::Kind::Function && symbol.class.is_empty() {
            names.insert(symbol.name.to_owned());
        }
        std::ops::ControlFlow::Continue(())
    });
    names.insert("brand_new".to_owned());
    BENCH.with(|bench| {
        let bench = bench.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let kit = Kit::open::<didi_pack_script::ScriptPack>(folder.path());
            Bench { folder, kit }
        });
        for name in names.iter().take(2) {
            patch(bench, data, name);
        }
    });
}

fn patch(bench: &Bench, data: &[u8], name: &str) {
    let file = bench.folder.path().join("f.gd");
    fs::write(&file, data).expect("a file of the test");
    let definition = format!("func {name}() -> void:\n\tpass\n");
    let args = json!({"file_path": "res://f.gd", "method_name": name,
        "new_definition": definition, "create_if_missing": true});
    let Ok(answer) = bench.kit.call("script_patch_method", &args) else {
        assert!(fs::read(&file).expect("a file of the test") == data, "refused, and changed");
        return;
    };
    let after = fs::read(&file).expect("a file of the test");
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = data.iter().zip(&after).take_while(same).count();
    let back = data.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let previous = answer["previous_definition"].as_str().map_or(0, str::len);
    // A definition that is there is replaced; a new one may need a line end before it.
    let grown = front + back + previous + 4 * data.len() * usize::from(answer["replaced"] == true);
    assert!(grown + 4 >= data.len().min(after.len()), "{answer}");
    let text = didi_gdscript::text_of(&after).expect("a patched script is text");
    assert!(text.contains(&format!("func {name}() -> void:")), "the definition is not there");
}

/// Files beside files: uids, imports, and headers cut off anywhere.
pub fn sidecars(data: &[u8]) {
    if let Ok(found) = uid::parse_uid_file(data) {
        assert!(uid::is_uid(found) && uid::number(found).is_some());
        let lines = format!("\u{FEFF} {found}\r\n");
        assert_eq!(uid::parse_uid_file(lines.as_bytes()), Ok(found));
    }
    if let Ok(import) = ConfigFile::parse(data) {
        for key in ["importer", "uid", "path"] {
            let text = import.text("remap", key);
            let raw = import.get("remap", key);
            assert!(text.is_none() || raw.is_some(), "a text of nothing");
        }
        if let Ok(edit) = import.set("remap", "uid", "\"uid://b2\"") {
            let again = edit.apply(data);
            let again = ConfigFile::parse(&again).expect("an edited file can be read");
            assert_eq!(again.text("remap", "uid").as_deref(), Some("uid://b2"));
        }
    }
    let head = &data[..data.len().min(HEADER_BYTES)];
    if let Ok(header) = resource::read_header(head) {
        let longer = [head, b"\n[node name=\"X\"]\n"].concat();
        let again = resource::read_header(&longer).expect("more behind a header changes nothing");
        assert_eq!(again, header);
    }
    for end in 0..head.len().min(200) {
        let _ = resource::read_header(&head[..end]);
    }
}

struct Places {
    folder: TempDir,
    root: ProjectRoot,
}

thread_local! {
    static PLACES: OnceCell<Places> = const { OnceCell::new() };
}

fn places() -> Places {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let real = folder.path().canonicalize().expect("it was just made");
    let project = real.join("project");
    fs::create_dir_all(project.join("a/b")).expect("a folder of the test");
    fs::create_dir(real.join("outside")).expect("a folder of the test");
    fs::write(project.join("a/x.gd"), "x").expect("a file of the test");
    #[cfg(unix)]
    for (to, at) in [("../outside", "out"), ("a", "in"), ("nowhere", "gone"), ("loop", "loop")] {
        std::os::unix::fs::symlink(to, project.join(at)).expect("a link of the test");
    }
    Places { folder, root: ProjectRoot::canonical(project) }
}

/// A path is refused, or lies in the project, and its own spelling leads to the same place.
pub fn paths(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    PLACES.with(|places_of| {
        let places = places_of.get_or_init(places);
        for path in [text.to_owned(), format!("res://{text}"), format!("res://a/{text}")] {
            let Ok(place) = places.root.resolve(&path) else { continue };
            let project = places.folder.path().canonicalize().expect("it is there");
            let project = project.join("project");
            assert!(place.real().starts_with(&project), "{path:?} leads to {place:?}");
            let parts = place.real().components();
            let climbs = |part| matches!(part, std::path::Component::ParentDir);
            assert!(!parts.into_iter().any(climbs), "{path:?} climbs");
            let there = place.real().canonicalize();
            assert!(there.is_err() || there.is_ok_and(|real| real.starts_with(&project)));
            let spelled = place.res_path();
            let again = places.root.resolve(&spelled);
            let again = again.unwrap_or_else(|fault| panic!("{path:?} is {spelled:?}: {fault}"));
            assert_eq!(again.real(), place.real());
        }
    });
}
