use super::*;

#[test]
fn arithmetic_comparison_and_literals_are_taken() {
    for text in [
        "1 + 2 * 3",
        "-(1.5e3) ** 2 % 7",
        "0xff == 255 and not false or !true",
        "[1, 2, [3,],].size() > 2",
        "{\"a\": 1, 'b': [2]}.has(\"a\")",
        "\"ab\".repeat(3) == \"ababab\"",
        "clamp(5, 0, 3) + min(1, 2) + abs(-1)",
        "Vector2(1, 2).x + Color(1, 0, 0).r",
        "3 in [1, 2, 3]",
        "PI * 2 == TAU",
        "[1, 2][0]",
        "node.get_child_count() > 0",
        "node.is_in_group(\"players\") && node.is_class('Node2D')",
    ] {
        assert_eq!(check(text).map(|checked| checked.text), Ok(text.to_owned()));
    }
}

#[test]
fn what_could_change_something_is_refused() {
    for text in [
        "OS.execute(\"sh\", [])",
        "node.queue_free()",
        "node.set(\"position\", 1)",
        "node.get_parent()",
        "node.position",
        "node.call(\"free\")",
        "[node][0].queue_free()",
        "[node]",
        "{1: node}",
        "max(node, 1)",
        "load(\"res://a.gd\")",
        "Engine",
        "self",
        "get_tree()",
        "[1].append(2)",
        "[1].clear()",
        "\"a\".repeat(1000000)",
        "\"a\".repeat(0x7fffffff)",
        "\"a\".repeat(99999999999999999999)",
        "(\"aaaaaaaaaa\").repeat(500000)",
        "\"a\".repeat(1000).repeat(1000)",
        "\"a\".to_utf8_buffer()",
        "(1).x.y.free()",
        "node.get_class().repeat(9)",
        "node.get(\"a\\u0062\")",
        "str(1)",
    ] {
        assert!(matches!(check(text), Err(Fault::Unsafe(_))), "{text}: {:?}", check(text));
    }
}

#[test]
fn what_is_no_expression_says_where() {
    for text in [
        "",
        "1 +",
        "(1",
        "[1",
        "{1}",
        "1 2",
        "\"open",
        "a = 1",
        "var x",
        "1;2",
        "node.",
        "$Node",
        "@tool",
        "x\0y",
        "if true: 1",
        "func f(): pass",
        "\"a\".repeat(-1)",
        "node.get(name)",
        "node.get()",
        "node[\"position\"]",
    ] {
        assert!(check(text).is_err(), "{text}");
    }
    assert!(matches!(check("1 +"), Err(Fault::Syntax { at: 3, .. })));
    assert!(check(&"1".repeat(MAX_BYTES + 1)).is_err());
    assert!(check(&"(".repeat(1000)).is_err());
}

#[test]
fn properties_become_bound_names() {
    let checked = check("node.get(\"position\").x > 3 and (node).get('visible')").unwrap();
    assert_eq!(checked.text, "_read_0.x > 3 and _read_1");
    let properties: Vec<&str> = checked.reads.iter().map(|read| read.property.as_str()).collect();
    assert_eq!(properties, ["position", "visible"]);
    // Nobody can name what is bound.
    assert!(check("_read_0").is_err());
}

#[test]
fn no_text_makes_it_panic() {
    let letters =
        ["node", ".", "get", "(", ")", "\"a\"", "[", "]", "repeat", "1", ",", "{", ":", "é", "'"];
    let mut state = 7_usize;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(letters[(state >> 33) % letters.len()]);
        }
        let _ = check(&text);
    }
}
