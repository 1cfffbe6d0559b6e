//! Tests of `tokens`: the dialect as a table, and that quoting is its inverse.

use proptest::prelude::*;

use super::{Unfinished, quote, split};

#[test]
fn lines_split_as_the_dialect_says() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        (" \t\r\n ", &[]),
        ("a  \t b\n\nc\r\nd", &["a", "b", "c", "d"]),
        (r#""it's""#, &["it's"]),
        (r#"'say "hi"'"#, &[r#"say "hi""#]),
        (r#""a""b""#, &["ab"]),
        (r#"a"b c"d"#, &["ab cd"]),
        ("''", &[""]),
        (r#"--message """#, &["--message", ""]),
        (r"a\ b", &["a b"]),
        (r"\ ", &[" "]),
        (r#""x\"y""#, &[r#"x"y"#]),
        (r#""a\\b""#, &[r"a\b"]),
        (r"'a\b'", &[r"a\b"]),
        (r"'a\' b", &[r"a\", "b"]),
        (r#""a\nb""#, &["anb"]),
        (r"a\nb", &["anb"]),
        ("$HOME *.cs | ; ~ # && > <", &["$HOME", "*.cs", "|", ";", "~", "#", "&&", ">", "<"]),
        ("a\u{a0}b\u{3000}c", &["a\u{a0}b\u{3000}c"]),
        (r#"eval 'obj.name = "x";'"#, &["eval", r#"obj.name = "x";"#]),
        (r#"batch --operations '[{"a": 1}]'"#, &["batch", "--operations", r#"[{"a": 1}]"#]),
        ("\\é \"ü\\ß\"", &["é", "üß"]),
    ];
    for (line, tokens) in table {
        let expected: Vec<String> = tokens.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(split(line), Ok(expected), "{line:?}");
    }
}

#[test]
fn what_is_open_at_the_end_is_an_error_that_names_it() {
    for (line, word) in [
        (r#""open"#, "quote"),
        ("'open", "quote"),
        (r#"a "b' c"#, "quote"),
        (r#""a\""#, "quote"),
        (r"end\", "backslash"),
        (r#""end\"#, "backslash"),
        (r"\", "backslash"),
    ] {
        let why = split(line).expect_err(line).to_string();
        assert!(why.contains(word), "{line:?}: {why}");
    }
    assert_eq!(split("ab 'c"), Err(Unfinished::Quote { mark: '\'', at: 3 }));
}

#[test]
fn plain_tokens_stay_plain() {
    assert_eq!(
        quote(["say", "--to", "a b", "", "it's", r"c:\x"]),
        r#"say --to 'a b' '' "it's" 'c:\x'"#
    );
}

proptest! {
    #[test]
    fn quoting_inverts_splitting(tokens in prop::collection::vec(r#"[a-z "'\\\t\n\r=$*é-]{0,12}"#, 0..8)) {
        prop_assert_eq!(split(&quote(&tokens)), Ok(tokens));
    }

    #[test]
    fn any_token_survives(tokens in prop::collection::vec(any::<String>(), 0..4)) {
        prop_assert_eq!(split(&quote(&tokens)), Ok(tokens));
    }

    #[test]
    fn any_line_has_an_answer(line in any::<String>()) {
        if let Ok(tokens) = split(&line) {
            prop_assert!(tokens.iter().map(String::len).sum::<usize>() <= line.len());
        }
    }
}
