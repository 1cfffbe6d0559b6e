use std::ops::ControlFlow;

use super::{Head, Kind, each, head};
use crate::parse;

fn listed(text: &str) -> Vec<(Kind, String, usize, usize)> {
    let tree = parse(text, &|| false).unwrap();
    let mut found = vec![];
    each(tree.root_node(), text, |symbol| {
        found.push((symbol.kind, symbol.path(), symbol.line(), symbol.column()));
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn declarations_come_in_file_order_with_their_place() {
    let text = "class_name Äther extends Node\nenum { A }\nclass In:\n\tsignal s\n\tclass Deep:\n\
                \t\tconst C = 1\nstatic func f(): pass\nvar v\n";
    let want = [
        (Kind::Script, "Äther", 1, 12),
        (Kind::Enum, "", 2, 1),
        (Kind::Class, "In", 3, 7),
        (Kind::Signal, "In.s", 4, 9),
        (Kind::Class, "In.Deep", 5, 8),
        (Kind::Constant, "In.Deep.C", 6, 9),
        (Kind::Function, "f", 7, 13),
        (Kind::Variable, "v", 8, 5),
    ];
    let want: Vec<_> =
        want.iter().map(|(kind, name, line, at)| (*kind, (*name).to_owned(), *line, *at)).collect();
    assert_eq!(listed(text), want);
}

#[test]
fn fake_code_in_strings_is_no_code() {
    let text =
        "const DOC = \"\"\"\nfunc fake():\n\tpass\nclass_name NotMe\n\"\"\"\nfunc real(): pass\n";
    let names: Vec<String> = listed(text).into_iter().map(|(_, name, ..)| name).collect();
    assert_eq!(names, ["DOC", "real"]);
}

#[test]
fn the_head_is_read() {
    let of = |text: &str| head(parse(text, &|| false).unwrap().root_node(), text);
    let want =
        |name: &str, base: &str| Head { class_name: Some(name.into()), extends: Some(base.into()) };
    assert_eq!(of("@tool class_name A extends Node\n"), want("A", "Node"));
    assert_eq!(of("extends \"res://b.gd\"\nclass_name B\n"), want("B", "\"res://b.gd\""));
    assert_eq!(of("class C extends Node:\n\tpass\n"), Head::default());
}
