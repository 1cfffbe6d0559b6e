//! Tests of `document`: every byte accounted for, errors with their place, and no panic on anything.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Document, ItemKind, Layout};
use crate::FormatError;
use crate::config::ConfigFile;
use crate::resource::{dependencies, read_header};
use crate::scene::Scene;
use crate::variant;

const ODD: &str = "; by hand\n[gd_scene   format = 3 ][node name=\"Root\" type=\"Label\"]text=\"ab\"\n\
    metadata/a   = { \"k\" : [ 1, 2, ], }   ; tail\nmetadata/b=1 metadata/c=2\n\
    [node name=\"K\" type=\"Label\" parent=\".\"]text=\"k\"\n";

#[track_caller]
fn fails(source: &[u8]) -> FormatError {
    Document::parse(source).unwrap_err()
}

fn check_identity(source: &[u8]) -> Result<(), FormatError> {
    let document = Document::parse(source)?;
    assert!(document.to_bytes() == source, "the items do not add up to the file");
    let mut end = 0;
    for item in document.items() {
        assert_eq!(item.span.start, end, "a gap before {item:?}");
        assert!(!item.span.is_empty(), "an empty item {item:?}");
        end = item.span.end;
    }
    Ok(())
}

/// The corpus of real projects, which is kept beside the repository and is not part of it.
pub(crate) fn corpus() -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods, reason = "only tests look for the corpus")]
    let named = std::env::var_os("DIDI_TEST_CORPUS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = named.unwrap_or_else(beside);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no corpus at {}; name one in DIDI_TEST_CORPUS", folder.display());
    None
}

pub(crate) fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending != "md") {
            found.push(path);
        }
    }
}

/// Every file of the corpus comes back byte for byte, and means something in its own view.
#[test]
fn corpus_reads_back_byte_for_byte() {
    let Some(folder) = corpus() else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    let mut nodes = 0;
    let mut findings = Vec::new();
    for path in &files {
        let name = path.display();
        let source = std::fs::read(path).unwrap();
        check_identity(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("tscn" | "tres") => {
                let scene = Scene::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
                nodes += scene.nodes().len();
                let shown = scene.problems().iter().map(|at| format!("{name}:{}: {at}", at.line()));
                findings.extend(shown);
                assert_eq!(&read_header(&source).unwrap(), scene.header(), "{name}");
                check_values(scene.document(), path);
            }
            Some("uid") => {
                crate::uid::parse_uid_file(&source)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            _ => {
                let config =
                    ConfigFile::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(config.refuses_write(), None, "{name}");
                check_values(config.document(), path);
            }
        }
    }
    eprintln!("{} files, {nodes} nodes, {} findings", files.len(), findings.len());
    for finding in findings {
        eprintln!("{finding}");
    }
    assert!(!files.is_empty());
}

/// The fixture projects of this repository.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/projects")
}

/// Every scene and resource of the fixture projects, as the engine wrote them, is without a finding.
#[test]
fn fixture_projects_read_back_without_a_finding() {
    let mut files = Vec::new();
    files_below(&fixtures(), &mut files);
    let of = |path: &Path, endings: &[&str]| {
        path.extension().is_some_and(|ending| endings.iter().any(|at| ending == *at))
    };
    let mut count = 0;
    for path in files.iter().filter(|path| !path.components().any(|at| at.as_os_str() == ".godot"))
    {
        let source = std::fs::read(path).unwrap();
        if of(path, &["tscn", "tres"]) {
            let scene = Scene::parse(&source).unwrap();
            assert_eq!(scene.problems(), [], "{}", path.display());
            check_identity(&source).unwrap();
            count += 1;
        } else if of(path, &["godot", "cfg", "import"]) {
            let config = ConfigFile::parse(&source).unwrap();
            assert_eq!(config.problems(), [], "{}", path.display());
            check_identity(&source).unwrap();
            count += 1;
        }
    }
    assert!(count >= 15, "{count} files");
}

/// What the document accepts as a value, the typed view builds.
fn check_values(document: &Document<'_>, path: &Path) {
    for item in document.items() {
        if let ItemKind::Property(property) = &item.kind {
            let raw = document.text(property.value);
            variant::parse(raw)
                .unwrap_or_else(|error| panic!("{}: {raw}: {error}", path.display()));
        }
    }
}

/// BL-29: several things on one line.
#[test]
fn odd_layout_is_split_and_kept() {
    let document = Document::parse(ODD.as_bytes()).unwrap();
    assert_eq!(document.layout(), Layout::Tagged);
    let properties: Vec<_> = document
        .items()
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Property(at) => Some((document.key(at), document.text(at.value))),
            _ => None,
        })
        .collect();
    let wanted = [
        ("text", "\"ab\""),
        ("metadata/a", "{ \"k\" : [ 1, 2, ], }"),
        ("metadata/b", "1"),
        ("metadata/c", "2"),
        ("text", "\"k\""),
    ];
    assert_eq!(properties.len(), wanted.len());
    for ((key, value), wanted) in properties.iter().zip(wanted) {
        assert_eq!((&**key, *value), wanted);
    }
    check_identity(ODD.as_bytes()).unwrap();
    check_identity(ODD.replace('\n', "\r\n").as_bytes()).unwrap();
    // A lone `\r` is a blank; only `\n` ends a comment.
    check_identity(
        ODD.replace("; by hand\n", "").replace("; tail\n", "\r").replace('\n', "\r").as_bytes(),
    )
    .unwrap();
}

#[test]
fn line_ends_marks_and_empty_files_come_back() {
    for source in
        ["", "\n", "\r", "\u{feff}", "; only", "\u{feff}[a]\r\nk=1", "uid://abc\n", "x", "[a]"]
    {
        check_identity(source.as_bytes()).unwrap();
    }
}

#[test]
fn errors_name_line_and_column_in_code_points() {
    let error = fails("[gd_scene format=3]\n[node name=\"é\" é]\n".as_bytes());
    assert_eq!((error.line, error.column), (2, 16));
    assert_eq!(error.to_string(), "line 2, column 16: unexpected character `é`");

    let error = fails("[a]\r\nx = 1\r\né = \"open\r\n".as_bytes());
    assert_eq!((error.line, error.column), (3, 5));
    assert_eq!(error.message, "the string is not closed");

    let error = fails(b"[a]\rx = [1\ry = 2");
    assert_eq!((error.line, error.column), (3, 1));

    let error = fails(b"k = \n[b]\n");
    assert_eq!((error.line, error.message.as_str()), (2, "expected a value, found `b`"));
}

/// A line that breaks is where the engine says so, too: a value without its closing bracket.
#[test]
fn a_value_that_never_ends_is_an_error() {
    for source in [
        "k=",
        "k={\"a\":",
        "k=[1,",
        "k=Object(Node,\"a\":1",
        "k=Vector2(1",
        "[open",
        "[gd_scene]=5",
    ] {
        assert!(Document::parse(source.as_bytes()).is_err(), "{source}");
    }
}

#[test]
fn other_encodings_are_named() {
    let error = fails(b"[a]\nk=\"caf\xe9\"\n");
    assert_eq!(error.to_string(), "line 2, column 7: the file is not UTF-8");
    assert_eq!(fails(b"[\0g\0").message, "the file holds a NUL byte");
    assert_eq!(fails(b"\xff\xfe[\0").message, "the file is not UTF-8");
}

/// BL-59.
#[test]
fn depth_is_bounded_without_recursion() {
    let deep = |levels: usize| format!("[a]\nk = {}{}\n", "[".repeat(levels), "]".repeat(levels));
    check_identity(deep(5_000).as_bytes()).unwrap();
    assert!(fails(deep(5_001).as_bytes()).message.contains("5000 levels"));
    assert!(Document::parse("k=[".repeat(200_000).as_bytes()).is_err());
}

fn read_every_way(source: &[u8]) {
    let _ = check_identity(source);
    let _ = read_header(source);
    let _ = dependencies(source);
    let _ = crate::uid::parse_uid_file(source);
    if let Ok(config) = ConfigFile::parse(source) {
        let _ = (config.problems().len(), config.get("a", "b"));
    }
    if let Ok(scene) = Scene::parse(source) {
        for node in 0..scene.nodes().len() {
            let path = scene.node_path(node).unwrap();
            let _ = scene.find(&path);
        }
    }
    for layout in [Layout::Tagged, Layout::Config] {
        let Ok(document) = Document::parse_as(source, layout) else { continue };
        assert!(document.to_bytes() == source);
        for item in document.items() {
            if let ItemKind::Property(property) = &item.kind {
                let _ = document.key(property);
                // The only reason that is left is the depth of the tree.
                if let Err(error) = variant::parse(document.text(property.value)) {
                    assert!(error.message.contains("levels"), "{error}");
                }
            }
        }
    }
}

const SEEDS: [&str; 4] = [
    ODD,
    "[gd_scene load_steps=2 format=3 uid=\"uid://abc\"]\n\n[ext_resource type=\"Script\" path=\"res://a.gd\" \
     id=\"1_a\"]\n\n[sub_resource type=\"Gradient\" id=\"g\"]\ncolors = PackedColorArray(1, 1, 1, 1)\n\n\
     [node name=\"Root\" type=\"Node\" groups=[\"a\", \"b\"]]\nscript = ExtResource(\"1_a\")\n\n\
     [node name=\"In\" parent=\".\" unique_id=5 instance=ExtResource(\"1_a\")]\n\n\
     [connection signal=\"x\" from=\"In\" to=\".\" method=\"y\" binds= [\"a\", 5]]\n\n[editable path=\"In\"]\n",
    "config_version=5\n\n[input]\n\"move left\"={\n\"events\": [Object(InputEventKey,\"device\":-1)\n]\n}\n\
     odd key=\"\\u00e9 \\ud83d\\ude00\"\n",
    "\u{feff}[gd_resource type=\"Resource\" format=4]\r\n[resource]\r\nb = PackedByteArray(\"AQID/w==\")\r\n",
];

/// Written for this test, and real files that the engine wrote.
fn seeds() -> Vec<Vec<u8>> {
    let real = [
        "sample/levels/meadow.tscn",
        "sample/lamps/paper_lantern.tscn",
        "sample/data/paper_lantern.tres",
        "sample/project.godot",
        "sample/icon.svg.import",
        "studio/addons/night_tools/plugin.cfg",
    ];
    let real = real.iter().map(|name| std::fs::read(fixtures().join(name)).unwrap());
    SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).chain(real).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_or_refused(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_every_way(&source);
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        seed in prop::sample::select(seeds()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6),
    ) {
        let mut source = seed;
        for (at, byte, edit) in edits {
            let at = at.index(source.len().max(1)).min(source.len().saturating_sub(1));
            let marks = b"[]{}()\"\\=;,:\n\r& #^.-e0";
            match edit {
                _ if source.is_empty() => {}
                0 => source[at] = byte,
                1 => source[at] = marks[usize::from(byte) % marks.len()],
                2 => { source.remove(at); }
                _ => source.truncate(at.max(1)),
            }
        }
        read_every_way(&source);
    }
}
