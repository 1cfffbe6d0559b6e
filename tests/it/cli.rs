//! The command line: bad options end with 2 and two plain lines, the rest with 1, and help is help.

use didi_tests::{Project, server::run};

/// Exit code, and the two lines that every failure has.
fn fails(args: &[&str], code: i32) -> (String, String) {
    let ran = run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    assert_eq!(ran.out, "", "{args:?} says nothing on standard output");
    assert!(!ran.err.contains('\u{1b}'), "{args:?} is readable without colour: {}", ran.err);
    let line = |start: &str| {
        let found = ran.err.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{args:?} has no `{start}`: {}", ran.err)).to_owned()
    };
    (line("error: "), line("hint: "))
}

#[test]
fn bad_options_end_with_two_and_a_hint() {
    let project = Project::empty();
    let root = project.root().display().to_string();
    for bad in [
        &["--project", &root, "--tools", "some"][..],
        &["--project", &root, "--log-level", "LOUD"],
        &["--project", &root, "--confirm-within", "0"],
        &["--project", &root, "--confirm-within", "121"],
        &["--project", &root, "--packs", "no-such-folder"],
        &["--project", &root, "--packs-lock", "no-such-file"],
        &["--project", &root, "--no-such-option"],
        &["--project", &root, "no-such-command"],
        &["--project", "no-such-folder"],
        &["--session-descriptor", "sometimes"],
        &["--text-copy", "never"],
    ] {
        fails(bad, 2);
    }
}

#[test]
fn a_folder_without_a_project_file_is_named() {
    let project = Project::empty();
    let outside = project.outside().display().to_string();
    let (error, hint) = fails(&["--project", &outside], 2);
    assert!(error.contains("project.godot"), "{error}");
    assert!(hint.contains("--project") && hint.contains("DIDI_PROJECT_ROOT"), "{hint}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    for flag in ["--help", "--version"] {
        let ran = run(&[flag]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.contains("didi") || ran.out.contains("Godot"), "{}", ran.out);
    }
}

#[test]
fn serve_is_the_default_word() {
    let project = Project::empty();
    let root = project.root().display().to_string();
    for args in [&["--project", &root][..], &["serve", "--project", &root]] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    }
}
