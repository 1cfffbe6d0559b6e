//! Tests of `resource`: headers from a prefix of a file, and what it depends on.

use super::{dependencies, read_header};
use crate::scene::SceneKind;

/// BL-20: every mix of uid and path.
#[test]
fn every_mix_of_uid_and_path_is_listed_as_stored() {
    let source = b"[gd_scene format=3]\n\n\
        [ext_resource type=\"Texture2D\" uid=\"uid://aaa\" id=\"1\"]\n\
        [ext_resource type=\"Texture2D\" uid=\"uid://bbb\" path=\"res://old.png\" id=\"2\"]\n\
        [ext_resource type=\"Texture2D\" path=\"uid://ccc\" id=\"3\"]\n\
        [ext_resource path=\"res://plain.png\" type=\"Texture2D\" id=4]\n\
        [ext_resource type=\"Texture2D\" id=\"5\"]\n";
    let found = dependencies(source);
    let stored: Vec<_> = found.iter().map(|at| (&*at.path, at.uid.as_deref(), at.line)).collect();
    assert_eq!(
        stored,
        [
            ("", Some("uid://aaa"), 3),
            ("res://old.png", Some("uid://bbb"), 4),
            ("uid://ccc", None, 5),
            ("res://plain.png", None, 6),
        ]
    );
}

/// BL-32: a placeholder counts as a reference.
#[test]
fn a_placeholder_is_a_dependency() {
    let source = b"[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n\
        [node name=\"Lazy\" parent=\".\" instance_placeholder=\"res://base.tscn\"]\nx = 1\n";
    let found = dependencies(source);
    assert_eq!((found.len(), &*found[0].path, found[0].placeholder), (1, "res://base.tscn", true));
}

#[test]
fn a_broken_file_still_tells_what_came_before_the_break() {
    let source =
        b"[gd_resource format=3]\n[ext_resource path=\"res://a.gd\" type=\"Script\" id=\"1\"]\n\
        [resource]\nx = [1\n";
    assert_eq!(dependencies(source)[0].path, "res://a.gd");
    assert!(dependencies(b"\xff\xff").is_empty());
}

#[test]
fn a_header_is_read_from_the_first_bytes_alone() {
    let source = "[gd_resource type=\"Resource\" script_class=\"Lamp[]]\" load_steps=2 format=3 \
        uid=\"uid://abc\"]\n\n[ext_resource broken é";
    let cut_inside_a_letter = &source.as_bytes()[..source.len() - 1];
    let header = read_header(cut_inside_a_letter).unwrap();
    assert_eq!(header.kind, SceneKind::Resource);
    assert_eq!(header.format, 3);
    assert_eq!(header.uid.as_deref(), Some("uid://abc"));
    assert_eq!(header.resource_type.as_deref(), Some("Resource"));
    assert_eq!(header.script_class.as_deref(), Some("Lamp[]]"));
}

#[test]
fn a_header_that_does_not_end_or_is_another_is_an_error() {
    assert!(read_header(b"[gd_scene format=3").is_err());
    assert!(read_header(b"[gd_scene uid=\"uid://a").is_err());
    assert!(read_header(b"").is_err());
    let error = read_header(b"; c\n[application]\n").unwrap_err();
    assert_eq!((error.line, error.column), (2, 1));
}

/// BL-29: comments and blanks before and in a header.
#[test]
fn an_odd_header_is_read() {
    let header = read_header(b"; by hand\n[gd_scene   format = 4 ][node").unwrap();
    assert_eq!((header.kind, header.format, header.uid), (SceneKind::Scene, 4, None));
}

/// The same, of a file read whole.
fn of_the_whole(source: &str) -> Vec<(String, u32)> {
    // A placeholder behind everything else makes the reader go to the end.
    let whole = format!("{source}\n[node name=\"Z\" instance_placeholder=\"res://z.tscn\"]\n");
    let mut found: Vec<_> =
        dependencies(whole.as_bytes()).iter().map(|one| (one.path.to_string(), one.line)).collect();
    found.pop();
    found
}

#[test]
fn what_stands_behind_the_last_name_is_not_read() {
    let head =
        "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://a.gd\" id=\"1\"]\n";
    for rest in [
        "",
        "\n[node name=\"A\" type=\"Node\"]\nbroken = = [\n",
        "[node name=\"A\" type=\"Node\"]\ntext = \"ext_resource\n[node\"\n",
        "[ext_resource type=\"Script\" path=\"res://b\n[c].gd\" id=\"2\"]\n\n[node name=\"A\"]\n",
        "[node name=\"A\" instance_placeholder=\"res://p.tscn\"]\nx = 1\n\n[node name=\"B\" parent=\".\"]\n",
        "\n[resource]\n[ext_resource path=\"res://late.gd\" id=\"3\"][node name=\"A\"]\n",
    ] {
        let source = format!("{head}{rest}");
        let found: Vec<_> = dependencies(source.as_bytes())
            .iter()
            .map(|one| (one.path.to_string(), one.line))
            .collect();
        assert_eq!(found[0], ("res://a.gd".into(), 3), "{source}");
        if !rest.contains("broken") {
            assert_eq!(found, of_the_whole(&source), "{source}");
        }
    }
}
