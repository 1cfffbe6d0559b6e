use super::{Kind, Style, of, style};

#[track_caller]
fn check_kinds(text: &str, want: &[Kind]) {
    let kinds: Vec<Kind> = of(text).iter().map(|line| line.kind).collect();
    assert_eq!(kinds, want, "{text}");
}

/// BL-44.
#[test]
fn strings_brackets_and_backslashes_go_on() {
    use Kind::{Blank, Comment, Continued, InString, Statement};
    check_kinds(
        "var s = \"first\nsecond\"\nvar t = 'a\\\nb'\nif x \\\nand y:\n\tf(\n1,\n)\n\n# c\n\t# d\n",
        &[
            Statement, InString, Statement, InString, Statement, Continued, Statement, Continued,
            Continued, Blank, Comment, Comment,
        ],
    );
    check_kinds(
        "const D = \"\"\"\nfunc a():\n\"\"\" # \"\nvar r = r\"\\\"\"\nvar q = 1",
        &[Statement, InString, InString, Statement, Statement],
    );
    check_kinds("var a = \"it's\" # don't (\r\nvar b\r\n", &[Statement, Statement]);
}

#[test]
fn the_ranges_leave_line_ends_out() {
    let lines = of("a\r\n\tb\nc");
    assert_eq!(lines[0].range, 0..1);
    assert_eq!(lines[0].next, 3);
    assert_eq!((lines[1].range.clone(), lines[1].indent), (3..5, 1));
    assert_eq!((lines[2].range.clone(), lines[2].next), (6..7, 7));
    assert_eq!(of(""), []);
}

#[test]
fn the_style_is_what_statements_are_indented_with() {
    let of_text = |text: &str| style(text, &of(text));
    assert_eq!(of_text("a\n"), Ok(None));
    assert_eq!(of_text("a\n\tb\n\t\tc\n"), Ok(Some(Style::Tabs)));
    assert_eq!(of_text("a\n    b\n        c\n"), Ok(Some(Style::Spaces(4))));
    assert_eq!(of_text("a\n      b\n    c\n"), Ok(Some(Style::Spaces(2))));
    assert_eq!(of_text("a\n\tf(\n    1)\n"), Ok(Some(Style::Tabs)), "brackets do not count");
    assert_eq!(of_text("a\n\tb\n    c\n"), Err(3));
    assert_eq!(of_text("a\n\t b\n"), Err(2));
}
