//! What the engine reads of scenes and resources, and whether it is what is read here.
//!
//! Spec: P-42, Godot's text formats.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use didi_formats::{
    document::Property,
    scene::{Scene, SceneKind},
    variant::{self, Packed, Value},
};
use serde_json::Value as Json;

/// The engine; a test that is left out without one says so.
pub(crate) fn engine() -> Option<PathBuf> {
    let named = ["DIDI_TEST_GODOT", "GODOT_BIN"].iter().filter_map(std::env::var_os);
    let usual = std::iter::once("/usr/local/bin/godot".into());
    let found = named.chain(usual).map(PathBuf::from).find(|file| file.is_file());
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have a Godot");
        let line = "left out: the generated corpus needs Godot; name one in DIDI_TEST_GODOT";
        // The print macros are captured; a line written to the stream itself is seen.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    found
}

/// Runs the script that makes the corpus. What the engine says about single values does not matter here.
pub(crate) fn run(engine: &Path, project: &Path, args: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/make.gd");
    let ran = Command::new("timeout")
        .arg("120")
        .arg(engine)
        .args(["--headless", "--path"])
        .arg(project)
        .arg("--script")
        .arg(script)
        .arg("--")
        .args(args)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&ran.stdout);
    let done = out.lines().any(|line| line.starts_with("> made") || line.starts_with("> reported"));
    let last = out.lines().last().unwrap_or_default();
    assert!(ran.status.success() && done, "{args:?} ended with {}, after {last}", ran.status);
    assert!(!out.contains("\n! "), "not every file was saved: {out}");
}

/// Lets the engine learn the uids of a project.
pub(crate) fn import(engine: &Path, project: &Path) {
    let ran = Command::new("timeout")
        .arg("120")
        .arg(engine)
        .args(["--headless", "--import", "--path"])
        .arg(project)
        .output()
        .unwrap();
    assert!(ran.status.success(), "the import ended with {}", ran.status);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn text_hex(text: &str) -> String {
    hex(text.as_bytes())
}

fn double_hex(number: f64) -> String {
    if number.is_nan() { "nan".into() } else { hex(&number.to_le_bytes()) }
}

#[allow(clippy::cast_possible_truncation, reason = "the engine keeps these in 32 bit")]
fn single_hex(number: f64) -> String {
    if number.is_nan() { "nan".into() } else { hex(&(number as f32).to_le_bytes()) }
}

#[allow(clippy::cast_possible_truncation, reason = "as the engine does it")]
fn narrow(number: f64) -> f64 {
    f64::from(number as f32)
}

/// Whether a property is the class's own, and not kept as it is.
fn kept_by_class(property: &Property<'_>) -> bool {
    !property.key.starts_with("metadata/")
}

/// A value as the script of the corpus reports it.
fn canonical(value: &Value<'_>, scene: &Scene<'_>) -> String {
    let list = |values: &[Value<'_>]| {
        values.iter().map(|one| canonical(one, scene)).collect::<Vec<_>>().join(",")
    };
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => format!("i{value}"),
        Value::Float(value) => format!("f{}", double_hex(*value)),
        Value::String(text) => format!("s{}", text_hex(text)),
        Value::StringName(text) => format!("n{}", text_hex(text)),
        Value::NodePath(text) => format!("p{}", text_hex(text)),
        Value::Construct { name, args } => {
            let number = |one: &Value<'_>| match one {
                Value::Int(whole) if name.ends_with('i') => whole.to_string(),
                other => single_hex(other.as_f64().unwrap()),
            };
            format!("{name}({})", args.iter().map(number).collect::<Vec<_>>().join(","))
        }
        Value::Packed(packed) => packed_text(packed),
        Value::Array { element, items } => {
            let element =
                element.map_or(String::new(), |element| format!("<{}>", kind(element, scene)));
            format!("[{element}{}]", list(items))
        }
        Value::Dictionary { types, entries } => {
            let types = types.map_or(String::new(), |(key, of)| {
                format!("<{}|{}>", kind(key, scene), kind(of, scene))
            });
            let pair = |(key, value): &(Value<'_>, Value<'_>)| {
                format!("{}:{}", canonical(key, scene), canonical(value, scene))
            };
            format!("{{{types}{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(","))
        }
        Value::ExtResource(id) => format!("E{}", scene.ext_resource(id).unwrap().path),
        Value::SubResource(id) => format!("S{id}"),
        other => panic!("the corpus has no such value: {other:?}"),
    }
}

/// The type of a typed collection's elements: a name, or the script of a class.
fn kind(text: &str, scene: &Scene<'_>) -> String {
    match variant::parse(text.trim()) {
        Ok(script @ Value::ExtResource(_)) => canonical(&script, scene),
        _ => text.trim().to_owned(),
    }
}

fn packed_text(packed: &Packed<'_>) -> String {
    let name = packed.type_name();
    let items: Vec<String> = match name {
        "PackedByteArray" => return format!("{name}({})", hex(&bytes_of(packed))),
        "PackedStringArray" => {
            packed.strings().unwrap().iter().map(|text| text_hex(text)).collect()
        }
        // As text: 64 bits do not fit into the number that the view gives.
        "PackedInt32Array" | "PackedInt64Array" => {
            let body = packed.body().split(',').map(str::trim).filter(|one| !one.is_empty());
            body.map(str::to_owned).collect()
        }
        "PackedFloat64Array" => packed.numbers().map(double_hex).collect(),
        _ => packed.numbers().map(single_hex).collect(),
    };
    format!("{name}({})", items.join(","))
}

fn bytes_of(packed: &Packed<'_>) -> Vec<u8> {
    if !packed.is_base64() {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "they are bytes"
        )]
        return packed.numbers().map(|number| number as u8).collect();
    }
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let body = packed.body().trim().trim_matches('"').trim_end_matches('=');
    let (mut bytes, mut bits, mut held) = (vec![], 0_u32, 0);
    for letter in body.bytes() {
        let digit = letters.iter().position(|one| *one == letter).unwrap();
        bits = bits << 6 | u32::try_from(digit).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
        }
    }
    bytes
}

/// One file of ours against one of the engine's reports.
pub(crate) struct Compared<'r> {
    pub(crate) file: &'r str,
    pub(crate) report: &'r Json,
    pub(crate) values: usize,
    pub(crate) classes: BTreeSet<String>,
    pub(crate) faults: Vec<String>,
}

impl<'r> Compared<'r> {
    pub(crate) fn new(file: &'r str, report: &'r Json) -> Self {
        Compared { file, report, values: 0, classes: BTreeSet::new(), faults: vec![] }
    }

    fn same(&mut self, what: &str, ours: &str, theirs: &Json) {
        self.values += 1;
        if theirs.as_str() != Some(ours) {
            self.faults.push(format!("{}: {what}: {ours} is {theirs} to the engine", self.file));
        }
    }

    fn entries(&mut self, what: &str, entries: &[Property<'_>], scene: &Scene<'_>, theirs: &Json) {
        for (at, entry) in entries.iter().enumerate() {
            // Of two the last counts. A script that does not compile is left out by the engine, and an animation
            // makes its keys anew, in another order, whenever it is asked for them.
            let again = entries[at + 1..].iter().any(|later| later.key == entry.key);
            let made_anew = entry.key.starts_with("tracks/") && entry.key.ends_with("/keys");
            // A texture gives a copy of its picture.
            let made_anew = made_anew || theirs[text_hex(&entry.key)] == "E";
            if again || made_anew || entry.key == "script" {
                continue;
            }
            let value = variant::parse(entry.value).unwrap();
            let theirs = &theirs[text_hex(&entry.key)];
            // A class may keep a float of its own in 32 bit; what it is given is the file's.
            let narrowed = value.as_f64().map(|number| format!("f{}", double_hex(narrow(number))));
            if narrowed.is_some() && theirs.as_str() == narrowed.as_deref() && kept_by_class(entry)
            {
                self.values += 1;
                continue;
            }
            self.same(&format!("{what} {}", entry.key), &canonical(&value, scene), theirs);
        }
    }

    /// Compares the whole of a file.
    pub(crate) fn whole(&mut self, scene: &Scene<'_>) {
        if scene.header().kind == SceneKind::Resource {
            let class = scene.header().resource_type.as_deref().unwrap();
            self.same("class", class, &self.report["class"]);
            self.classes.insert(class.to_owned());
            self.entries("main", scene.resource_entries(), scene, &self.report["values"]);
        } else {
            self.tree(scene);
        }
        for sub in scene.sub_resources() {
            let theirs = &self.report["subs"][&*sub.id];
            // What only an internal of the file refers to is not reached by the report's way.
            if theirs.is_object() {
                self.same(&sub.id, &sub.type_name, &theirs["class"]);
                self.classes.insert(sub.type_name.to_string());
                self.entries(&sub.id, sub.entries(), scene, &theirs["values"]);
            }
        }
    }

    fn tree(&mut self, scene: &Scene<'_>) {
        let nodes = self.report["nodes"].as_array().unwrap();
        assert_eq!(scene.nodes().len(), nodes.len(), "{}", self.file);
        for (index, (node, theirs)) in scene.nodes().iter().zip(nodes).enumerate() {
            let what = format!("node {index}");
            self.same(&what, &text_hex(&node.name), &theirs["name"]);
            self.same(&what, node.type_name.as_deref().unwrap_or_default(), &theirs["class"]);
            self.classes.extend(node.type_name.as_ref().map(ToString::to_string));
            let path = match node.path.as_deref() {
                None => ".".to_owned(),
                Some(".") => format!("./{}", node.name),
                Some(parent) => format!("./{parent}/{}", node.name),
            };
            self.same(&what, &text_hex(&path), &theirs["path"]);
            let instance = scene.instance_path(index).unwrap_or_default();
            self.same(&what, instance, &theirs["instance"]);
            let groups: Vec<String> = node.groups().iter().map(|group| text_hex(group)).collect();
            assert_eq!(Json::from(groups), theirs["groups"], "{} {what}", self.file);
            let ours: BTreeSet<String> =
                node.entries().iter().map(|entry| text_hex(&entry.key)).collect();
            let values = theirs["values"].as_object().unwrap();
            assert!(ours.iter().eq(values.keys().collect::<BTreeSet<_>>()), "{} {what}", self.file);
            self.entries(&what, node.entries(), scene, &theirs["values"]);
        }
        let connections = self.report["connections"].as_array().unwrap();
        assert_eq!(scene.connections().len(), connections.len(), "{}", self.file);
        for (connection, theirs) in scene.connections().iter().zip(connections) {
            let path = |path: &Option<std::borrow::Cow<'_, str>>| {
                let path = path.as_deref().unwrap();
                text_hex(path)
            };
            // Below an instance the engine gives the path without its dot.
            let plain = |path: &Json| Json::from(path.as_str().unwrap().replacen("2e2f", "", 1));
            let binds = connection.binds.map(|binds| variant::parse(binds).unwrap());
            let binds = binds.map_or("[]".into(), |binds| canonical(&binds, scene));
            self.same("from", &path(&connection.from), &plain(&theirs[0]));
            self.same("signal", &connection.signal, &theirs[1]);
            self.same("to", &path(&connection.to), &plain(&theirs[2]));
            self.same("method", &connection.method, &theirs[3]);
            self.same("binds", &binds, &theirs[6]);
            let numbers = [u64::from(connection.flags), u64::from(connection.unbinds)];
            let theirs = [&theirs[4], &theirs[5]].map(|one| one.as_f64().unwrap());
            #[allow(clippy::cast_precision_loss, reason = "they are small")]
            let ours = numbers.map(|one| one as f64);
            assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "{}", self.file);
        }
    }
}
