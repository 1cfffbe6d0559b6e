//! Tests of `config`: the engine's rules for settings, each as 4.6.3 was seen to follow it.

use super::{ConfigFile, ConfigProblem};
use crate::variant::Value;

const EVERYTHING: &str = r#"; my own comment
config_version=5

custom_top="x"

[application]

config/name="My \"Game\"; with [brackets]"
config/description="line one

[input]
not a section"

[autoload]

Zeta="*res://z.gd"
Alpha="*res://a.gd"

[display]

window/size/viewport_width=1280
window/size/viewport_width.web=640

[mystuff]

odd key=2
"#;

fn names<'c>(config: &'c ConfigFile<'_>) -> Vec<&'c str> {
    config.sections().iter().map(super::ConfigSection::name).collect()
}

/// BL-34: project.godot with everything.
#[test]
fn everything_is_read_in_file_order() {
    for source in [EVERYTHING.to_owned(), EVERYTHING.replace('\n', "\r\n")] {
        let config = ConfigFile::parse(source.as_bytes()).unwrap();
        assert_eq!(names(&config), ["", "application", "autoload", "display", "mystuff"]);
        let top: Vec<_> = config.top().iter().map(|entry| (&*entry.key, entry.value)).collect();
        assert_eq!(top, [("config_version", "5"), ("custom_top", "\"x\"")]);
        let name = config.text("application", "config/name").unwrap();
        assert_eq!(name, "My \"Game\"; with [brackets]");
        let description = config.get("application", "config/description").unwrap();
        assert!(description.text.ends_with("not a section\""));
        assert_eq!(description.line, 9);
        let autoload: Vec<_> = config
            .sections_named("autoload")
            .flat_map(super::ConfigSection::entries)
            .map(|at| &*at.key)
            .collect();
        assert_eq!(autoload, ["Zeta", "Alpha"]);
        assert_eq!(config.get("display", "window/size/viewport_width.web").unwrap().text, "640");
        assert_eq!(config.setting("display/window/size/viewport_width").unwrap().text, "1280");
        assert_eq!(config.setting("custom_top").unwrap().text, "\"x\"");
        assert_eq!(config.setting("display/none"), None);
    }
}

/// BL-34: the blanks of a bare key are dropped, and that is said.
#[test]
fn an_odd_key_is_read_as_the_engine_reads_it() {
    let config = ConfigFile::parse(EVERYTHING.as_bytes()).unwrap();
    assert_eq!(config.get("mystuff", "oddkey").unwrap().text, "2");
    assert_eq!(config.get("mystuff", "odd key"), None);
    let [problem] = config.problems() else { panic!("{:?}", config.problems()) };
    assert_eq!(problem.line(), 26);
    assert!(!problem.refuses_write());
    assert_eq!(problem.to_string(), "the key written `odd key` is read as `oddkey`");
}

/// BL-35: quoted action names, and values over several lines.
#[test]
fn the_input_map_is_read() {
    let source = "[input]\n\njump={\n\"deadzone\": 0.5,\n\"events\": [Object(InputEventKey,\"device\":-1,\
        \"keycode\":0,\"physical_keycode\":32,\"unicode\":32,\"script\":null)\n\
        , Object(InputEventJoypadButton,\"device\":-1,\"button_index\":0,\"pressed\":false,\"script\":null)\n\
        ]\n}\n\"move left\"={\n\"deadzone\": 0.2,\n\"events\": []\n}\n";
    let config = ConfigFile::parse(source.as_bytes()).unwrap();
    assert_eq!(config.problems(), []);
    let jump = config.get("input", "jump").unwrap();
    assert_eq!(jump.text.lines().count(), 6);
    let jump = jump.parse().unwrap();
    let events = jump.get("events").unwrap().as_array().unwrap();
    assert_eq!(events[0].get("physical_keycode"), Some(&Value::Int(32)));
    assert_eq!(events[1].get("button_index"), Some(&Value::Int(0)));
    let left = config.get("input", "move left").unwrap();
    assert_eq!(
        (left.line, left.parse().unwrap().get("deadzone").unwrap().as_f64()),
        (9, Some(0.2))
    );
    let span = config.sections()[1].entries()[1].key_span;
    assert_eq!(config.document().text(span), "\"move left\"");
}

#[test]
fn a_line_without_a_sign_runs_on_into_the_next_key() {
    let config = ConfigFile::parse(b"[a]\njust text\n# no comment\nkey=1 ; yes\n").unwrap();
    let entries = config.sections()[1].entries();
    assert_eq!((&*entries[0].key, entries[0].value), ("justtext#nocommentkey", "1"));
    assert_eq!(entries[0].line, 2);
}

#[test]
fn section_names_are_trimmed_and_may_hold_a_bracket() {
    let config =
        ConfigFile::parse(b"[  preset.0.options ]\nk=1\n[a\\]b]\nk=2\n[a]\nk=3\n[a]\nk=4\n")
            .unwrap();
    let nameless = ConfigFile::parse(b"[a]\nk=1\n[]\nl=2\n").unwrap();
    assert_eq!(nameless.get("a", "l").unwrap().text, "2");
    assert_eq!(names(&config), ["", "preset.0.options", "a]b", "a", "a"]);
    assert_eq!(config.get("preset.0.options", "k").unwrap().text, "1");
    assert_eq!(config.get("a]b", "k").unwrap().text, "2");
    assert_eq!(config.get("a", "k").unwrap().text, "4");
    assert_eq!(
        config.problems(),
        [ConfigProblem::DuplicateKey { line: 8, section: "a".to_owned(), key: "k".to_owned() }]
    );
}

#[test]
fn two_keys_on_a_line_are_read_and_refuse_a_write() {
    let config = ConfigFile::parse(b"[a]\nx=1 y=2\nz=[\n] w=3\nhex=0x10\nq=1\n").unwrap();
    assert_eq!(config.get("a", "y").unwrap().text, "2");
    assert_eq!(config.get("a", "hex").unwrap().text, "0");
    let found: Vec<_> = config
        .problems()
        .iter()
        .filter(|at| at.refuses_write())
        .map(|at| (at.line(), at.to_string()))
        .collect();
    assert_eq!(found.iter().map(|at| at.0).collect::<Vec<_>>(), [2, 4, 5]);
    assert_eq!(found[0].1, "`y` begins on the line where another value ends");
    assert!(config.refuses_write().is_some());
    let fine = ConfigFile::parse(b"[a] x=1 ; c\n[b]y=2\n").unwrap();
    assert_eq!(fine.refuses_write(), None);
}

#[test]
fn unfinished_text_is_read_over_and_refuses_a_write() {
    let config = ConfigFile::parse(b"[a]\nx=1\nhalf a key").unwrap();
    assert_eq!(config.problems(), [ConfigProblem::Unfinished { line: 3 }]);
    assert!(config.refuses_write().is_some());
}

/// 4.6.3 reads over a value without a key, and stops at a constructor that it does not know.
#[test]
fn a_value_without_a_key_and_an_unknown_constructor_are_found() {
    let config = ConfigFile::parse(b"[a]\n=5\nx=Future(1)\n").unwrap();
    let found: Vec<_> =
        config.problems().iter().map(|at| (at.line(), at.refuses_write())).collect();
    assert_eq!(found, [(2, true), (3, false)]);
    assert_eq!(config.sections()[1].entries().len(), 1);
}

#[test]
fn a_value_that_cannot_start_or_end_is_an_error() {
    let error = ConfigFile::parse(b"[a]\nx=\ny=2\n").unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 1: expected a value, found `y`");
    let error = ConfigFile::parse(b"[a]\nx={\n\"k\": 1\n[b]\ny=2\n").unwrap_err();
    assert_eq!((error.line, error.column), (4, 1));
    let error = ConfigFile::parse(b"[a\nx=1\n").unwrap_err();
    assert_eq!(error.to_string(), "line 1, column 1: the section's name is not closed by `]`");
}

/// BL-34: a mark at the start is skipped here and reported, since the engine does not skip it.
#[test]
fn a_byte_order_mark_is_reported() {
    let config = ConfigFile::parse("\u{feff}[a]\nk=\"\\u00e9\"\n".as_bytes()).unwrap();
    assert_eq!(config.get("a", "k").unwrap().line, 2);
    assert_eq!(
        config.problems(),
        [ConfigProblem::ByteOrderMark, ConfigProblem::LossyEscape { line: 2 }]
    );
}

#[test]
fn a_quoted_key_takes_the_place_of_what_stands_before() {
    let config = ConfigFile::parse(b"[a]\njunk \"real; \\\"key\\\"\"tail=1\n").unwrap();
    assert_eq!(config.sections()[1].entries()[0].key, "real; \"key\"tail");
}
