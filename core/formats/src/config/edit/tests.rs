//! Tests of edits of settings: only the asked bytes change, whatever the file looks like.

use proptest::prelude::*;

use super::{SettingPlace, setting_place};
use crate::config::ConfigFile;
use crate::edit::EditError;
use crate::variant::Value;

const EVERYTHING: &str = "; my own comment\nconfig_version=5\n\ncustom_top=\"x\"\n\n[application]\n\n\
    config/name=\"My \\\"Game\\\"; with [brackets]\"\nconfig/description=\"line one\n\n[input]\nnot a \
    section\"\n\n[autoload]\n\nZeta=\"*res://z.gd\"\nAlpha=\"*res://a.gd\"\n\n[display]\n\n\
    window/size/viewport_width=1280\nwindow/size/viewport_width.web=640\n\n[mystuff]\n\nodd key=2\n";

const INPUT: &str = "[input]\n\njump={\n\"deadzone\": 0.5,\n\"events\": [Object(InputEventKey,\"device\":-1,\
    \"keycode\":0,\"script\":null)\n, Object(InputEventJoypadButton,\"device\":-1,\"script\":null)\n]\n}\n\
    \"move left\"={\n\"deadzone\": 0.2,\n\"events\": []\n}\n";

fn set(source: &str, section: &str, key: &str, value: &str) -> String {
    let file = ConfigFile::parse(source.as_bytes()).unwrap();
    let edit = file.set(section, key, value).unwrap();
    String::from_utf8(edit.apply(source.as_bytes())).unwrap()
}

fn remove(source: &str, section: &str, key: &str) -> String {
    let file = ConfigFile::parse(source.as_bytes()).unwrap();
    let edit = file.remove(section, key).unwrap();
    String::from_utf8(edit.apply(source.as_bytes())).unwrap()
}

/// BL-34: one line is added in that section; comment, top-level key, override and odd key stay.
#[test]
fn a_new_key_stands_after_the_last_of_its_section() {
    let after = set(EVERYTHING, "application", "config/version", "\"1.2\"");
    let expected =
        EVERYTHING.replace("not a section\"\n", "not a section\"\nconfig/version=\"1.2\"\n");
    assert_eq!(after, expected);
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let key = "window/size/viewport_width";
    let after = set(EVERYTHING, "display", key, "1920");
    assert_eq!(after, EVERYTHING.replace("=1280", "=1920"));
    let after = set(EVERYTHING, "display", "window/size/viewport_width.web", "320");
    assert_eq!(after, EVERYTHING.replace("=640", "=320"));
    let after = set(EVERYTHING, "application", "config/description", "\"short\"");
    assert_eq!(after, EVERYTHING.replace("\"line one\n\n[input]\nnot a section\"", "\"short\""));
}

#[test]
fn an_equal_value_is_left_as_it_is_spelled() {
    let source = "[a]\nx = Vector2( 1.0,2 )\n";
    assert_eq!(set("[a]\nx=1.50\n", "a", "x", "1.5"), "[a]\nx=1.50\n");
    assert_eq!(set(source, "a", "x", "Vector2(1.0, 2)"), source);
    assert_eq!(set("[a]\nx=1\n", "a", "x", "1.0"), "[a]\nx=1.0\n");
}

#[test]
fn of_two_the_last_is_replaced_and_both_are_removed() {
    let source = "[a]\nk=1\n[b]\nz=0\n[a]\nk=2\n";
    assert_eq!(set(source, "a", "k", "3"), "[a]\nk=1\n[b]\nz=0\n[a]\nk=3\n");
    assert_eq!(remove(source, "a", "k"), "[a]\n[b]\nz=0\n[a]\n");
}

/// BL-35: the quoted name stays, and nine lines go.
#[test]
fn values_over_many_lines() {
    let after = set(INPUT, "input", "move left", "{}");
    assert!(after.ends_with("}\n\"move left\"={}\n"), "{after}");
    let after = remove(INPUT, "input", "jump");
    assert_eq!(after, "[input]\n\n\"move left\"={\n\"deadzone\": 0.2,\n\"events\": []\n}\n");
    assert_eq!(remove(&INPUT.replace('\n', "\r\n"), "input", "jump").matches("\r\n").count(), 6);
}

#[test]
fn a_new_section_stands_at_the_end_in_the_files_style() {
    assert_eq!(
        set(EVERYTHING, "rendering", "quality", "1"),
        format!("{EVERYTHING}\n[rendering]\n\nquality=1\n")
    );
    assert_eq!(set("[a]\nx=1\n", "b", "y", "2"), "[a]\nx=1\n\n[b]\ny=2\n");
    assert_eq!(set("[a]\r\n\r\nx=1", "b", "y", "2"), "[a]\r\n\r\nx=1\r\n\r\n[b]\r\n\r\ny=2");
    assert_eq!(set("[a]\rx=1\r", "b", "y", "2"), "[a]\rx=1\r\r[b]\ry=2\r");
    assert_eq!(set("", "b", "y", "2"), "[b]\n\ny=2\n");
    assert_eq!(set("x=1 ; tail", "b", "y", "2"), "x=1 ; tail\n\n[b]\n\ny=2");
    assert_eq!(set("[a]\nx=1\n\n", "b]c", "y", "2"), "[a]\nx=1\n\n[b\\]c]\ny=2\n");
}

#[test]
fn an_empty_section_is_filled() {
    assert_eq!(set("[a]\n\n[b]\n", "a", "k", "1"), "[a]\n\nk=1\n\n[b]\n");
    assert_eq!(set("[a]\n[b]\nx=1\n", "a", "k", "1"), "[a]\nk=1\n[b]\nx=1\n");
    assert_eq!(set("[a] [b]\nx=1\n", "a", "k", "1"), "[a]\nk=1\n [b]\nx=1\n");
}

#[test]
fn a_key_at_the_top_of_the_file() {
    assert_eq!(set(EVERYTHING, "", "custom_top", "\"y\""), EVERYTHING.replace("\"x\"", "\"y\""));
    assert_eq!(set("; c\n\n[a]\nx=1\n", "", "top", "1"), "; c\n\ntop=1\n\n[a]\nx=1\n");
    assert_eq!(set("a=1\n\n[b]\n", "", "top", "1"), "a=1\ntop=1\n\n[b]\n");
}

#[test]
fn comments_and_layout_stay() {
    let source = "\u{feff}[a] ; head\r\nx = 1 ; one\r\n\r\n; about b\r\n[b]\r\ny=2";
    assert_eq!(set(source, "a", "x", "7"), source.replace("x = 1", "x = 7"));
    assert_eq!(set(source, "a", "z", "7"), source.replace("; one\r\n", "; one\r\nz = 7\r\n"));
    assert_eq!(set(source, "b", "z", "7"), format!("{source}\r\nz=7"));
    assert_eq!(remove(source, "a", "x"), source.replace("x = 1 ; one", "; one"));
    assert_eq!(remove(source, "b", "y"), source.replace("y=2", ""));
    // A file that the engine wrote keeps CR LF inside a string only.
    assert_eq!(set("[a]\nx=\"p\r\nq\"\n", "a", "z", "1"), "[a]\nx=\"p\r\nq\"\nz=1\n");
}

#[test]
fn keys_are_written_as_the_engine_does() {
    assert_eq!(set("[a]\n", "a", "odd key", "1"), "[a]\n\n\"odd key\"=1\n");
    assert_eq!(set("[a]\n", "a", "é\"", "1"), "[a]\n\n\"é\\\"\"=1\n");
    assert_eq!(set("[a]\n", "a", "x/y.web:z,", "1"), "[a]\n\nx/y.web:z,=1\n");
}

#[test]
fn what_would_break_the_file_is_refused() {
    let refused = |source: &str| {
        let file = ConfigFile::parse(source.as_bytes()).unwrap();
        matches!(file.set("a", "z", "1"), Err(EditError::Refused { .. }))
            && matches!(file.remove("a", "x"), Err(EditError::Refused { .. }))
    };
    assert!(refused("[a]\nx=1 y=2\n"));
    assert!(refused("[a]\nx=1\nrest"));
    assert!(refused("[a]\n=1\n"));
    let file = ConfigFile::parse(b"[a]\n").unwrap();
    for value in ["", "1 2", "1\n[b]", " 1", "1;", "[1", "\"a", "nonsense", "x=1"] {
        assert!(matches!(file.set("a", "z", value), Err(EditError::Value(_))), "{value:?}");
    }
    for key in ["", "a\nb"] {
        assert!(matches!(file.set("a", key, "1"), Err(EditError::Name(_))), "{key:?}");
    }
    assert!(matches!(file.set("a\nb", "k", "1"), Err(EditError::Name(_))));
}

#[test]
fn a_setting_is_found_wherever_the_engine_would() {
    let place = |section, key| SettingPlace { section, key };
    assert_eq!(setting_place("a/b/c"), place("a", "b/c"));
    assert_eq!(setting_place("plain"), place("", "plain"));
    let source = "a/b/c=1\n[a]\nb/c=2\n[a/b]\nc=3\n";
    let file = ConfigFile::parse(source.as_bytes()).unwrap();
    assert_eq!(file.place_of("a/b/c"), Some(place("a/b", "c")));
    let edit = file.set_setting("a/b/c", "9").unwrap();
    assert_eq!(edit.apply(source.as_bytes()), source.replace('3', "9").into_bytes());
    let edit = file.remove_setting("a/b/c").unwrap();
    assert_eq!(edit.apply(source.as_bytes()), b"[a]\n[a/b]\n");
}

/// Files put together from lines of every kind.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("[a]".to_owned()),
        Just("[b]".to_owned()),
        Just("[a/b] ; tail".to_owned()),
        Just("; a comment = [x]".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        Just("k=\"one\n; two\n\n[three]\"".to_owned()),
        Just("\"odd key\" = [1, 2,\n3]".to_owned()),
        ("[a-d]", -9..9_i32).prop_map(|(key, value)| format!("{key}={value}")),
        ("[a-d]", "[a-zé ;=]{0,6}").prop_map(|(key, text)| format!("  {key} = \"{text}\" ; c")),
        Just("d={\n\"x\": Vector2(1, 2)\n}".to_owned()),
    ];
    let eol = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")];
    let lines = proptest::collection::vec((line, eol), 0..14);
    (any::<bool>(), lines, any::<bool>()).prop_map(|(mark, lines, ended)| {
        let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
        let last = lines.len();
        for (at, (line, eol)) in lines.into_iter().enumerate() {
            text.push_str(&line);
            if ended || at + 1 < last {
                text.push_str(eol);
            }
        }
        text
    })
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "[a-z\"\\\\é\n;\\[\\]=]{0,8}"
            .prop_map(|text| crate::variant::write(&Value::String(text.into()), "\n")),
        Just("Vector2(1, 2)".to_owned()),
        Just("{\n\"a\": [true, null]\n}".to_owned()),
    ]
}

/// Whether one text is the other with one run of bytes put in, changed or taken out.
fn same_around(before: &[u8], after: &[u8], changed: usize) -> bool {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = before.iter().zip(after).take_while(same).count();
    let back = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    front + back + changed >= before.len()
}

proptest! {
    #[test]
    fn a_set_changes_one_place_reads_back_and_is_made_once(
        source in file(),
        section in prop_oneof![Just("a"), Just("b"), Just("new")],
        key in prop_oneof![Just("a"), Just("d"), Just("odd key"), Just("fresh/key.web")],
        value in value(),
    ) {
        let before = ConfigFile::parse(source.as_bytes()).unwrap();
        prop_assume!(before.refuses_write().is_none());
        let old = before.get(section, key).map(|raw| raw.text.len());
        let edit = before.set(section, key, &value).unwrap();
        let after = edit.apply(source.as_bytes());
        prop_assert!(same_around(source.as_bytes(), &after, old.unwrap_or(0)));
        let again = ConfigFile::parse(&after).unwrap();
        let read = again.get(section, key).unwrap().parse().unwrap();
        prop_assert_eq!(read, crate::variant::parse(&value).unwrap());
        prop_assert!(again.refuses_write().is_none());
        prop_assert!(again.set(section, key, &value).unwrap().is_empty());
        // Every other key reads as before.
        for one in before.sections() {
            for entry in one.entries().iter().filter(|entry| (one.name(), &*entry.key) != (section, key)) {
                prop_assert_eq!(
                    again.get(one.name(), &entry.key).map(|raw| raw.text),
                    before.get(one.name(), &entry.key).map(|raw| raw.text)
                );
            }
        }
        let gone = again.remove(section, key).unwrap().apply(&after);
        let gone_file = ConfigFile::parse(&gone).unwrap();
        prop_assert!(gone_file.get(section, key).is_none());
        prop_assert!(gone_file.remove(section, key).unwrap().is_empty());
        let count = |file: &ConfigFile<'_>| -> usize {
            file.sections().iter().map(|one| one.entries().len()).sum()
        };
        let named = again.sections_named(section).flat_map(super::ConfigSection::entries);
        prop_assert_eq!(count(&gone_file) + named.filter(|entry| entry.key == key).count(), count(&again));
    }
}

/// Found by fuzzing: a comment goes on over lone carriage returns, up to the end of the file.
#[test]
fn what_is_added_behind_a_comment_is_no_part_of_it() {
    for source in ["; only\r\r", "a=1\n; last\r", "; only"] {
        for section in ["", "new"] {
            let edit =
                ConfigFile::parse(source.as_bytes()).unwrap().set(section, "k", "5").unwrap();
            let after = edit.apply(source.as_bytes());
            let again = ConfigFile::parse(&after).unwrap();
            assert_eq!(
                again.get(section, "k").map(|raw| raw.text),
                Some("5"),
                "{source:?} {section}"
            );
        }
    }
}
