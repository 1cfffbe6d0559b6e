use didi_plugin_api::prelude::*;

use super::{Board, Gone, MAX_REMEMBERED, Who, patch, path::BoardPath, tree};

const NOW: u64 = 1_000_000;

fn at(path: &str) -> BoardPath {
    BoardPath::parse(path, "path").unwrap()
}

fn who(author: &str) -> Who {
    Who { author: Some(author.into()), reason: None }
}

fn board() -> Board {
    Board::empty("b", NOW)
}

fn put(board: &mut Board, path: &str, value: Value) -> Option<Value> {
    board.put(&at(path), value, &who("ann"), None).unwrap()
}

fn reopened(board: &mut Board, now_ms: u64) -> Board {
    Board::parse("b", &board.seal().unwrap(), now_ms).unwrap()
}

#[test]
fn a_path_is_read_in_three_forms_and_shown_in_one() {
    for (text, shown) in [
        ("a.b", "/a/b"),
        ("a/b.c", "/a/b.c"),
        ("/a/b", "/a/b"),
        ("/a~1b/~0", "/a~1b/~0"),
        ("a~1b", "/a~01b"),
        ("/", ""),
        ("", ""),
        ("ключ.имя", "/ключ/имя"),
    ] {
        let path = at(text);
        assert_eq!(path.to_string(), shown, "{text}");
        assert_eq!(BoardPath::pointer(shown).unwrap(), path, "{text}");
    }
    let deep = ["a"; 33].join(".");
    for bad in ["a..b", ".a", "a/", "/~2", deep.as_str()] {
        assert!(BoardPath::parse(bad, "path").is_err(), "{bad}");
    }
}

#[test]
fn a_value_is_put_and_the_objects_above_it_are_made() {
    let mut board = board();
    assert_eq!(put(&mut board, "a.b.c", json!(1)), None);
    assert_eq!(put(&mut board, "a.b.c", json!(null)), Some(json!(1)));
    assert_eq!(put(&mut board, "a.b.c", json!([1])), Some(Value::Null));
    assert_eq!(put(&mut board, "a.b.c.1", json!(2)), None);
    assert_eq!(put(&mut board, "a.b.c.0", json!({"x": 1})), Some(json!(1)));
    assert_eq!(put(&mut board, "a.b.c.0.y", json!(2)), None);
    assert_eq!(board.values, json!({"a": {"b": {"c": [{"x": 1, "y": 2}, 2]}}}));
    for bad in ["a.b.c.3", "a.b.c.-", "a.b.c.01", "a.b.c.1.x"] {
        let mut copy = board.clone();
        assert!(copy.put(&at(bad), json!(1), &Who::default(), None).is_err(), "{bad}");
    }
}

#[test]
fn a_stamp_moves_with_every_change_that_touches_the_path() {
    let mut board = board();
    assert_eq!(board.stamp(&at("a")), 0);
    put(&mut board, "a", json!({"x": 1, "y": 2}));
    let first = board.stamp(&at("a"));
    assert!(first >= NOW);
    assert_eq!(board.stamp(&at("a.x")), first);
    put(&mut board, "a.x", json!(3));
    assert!(board.stamp(&at("a")) > first);
    assert_eq!(board.stamp(&at("a.y")), first);
    let second = board.stamp(&at("a"));
    board.clear(&at("a.x"), &who("bob")).unwrap();
    assert!(board.stamp(&at("a")) > second);
    assert_eq!(board.stamp(&at("a.x")), 0);
    put(&mut board, "b", json!(1));
    let other = board.stamp(&at("a"));
    board.clear(&at("b"), &who("bob")).unwrap();
    assert_eq!(board.stamp(&at("a")), other);
}

#[test]
fn writing_a_container_replaces_what_is_known_of_its_inside() {
    let mut board = board();
    put(&mut board, "a.x", json!(1));
    put(&mut board, "ab", json!(1));
    board.put(&at("a"), json!({"x": 2}), &who("bob"), None).unwrap();
    let keys: Vec<String> = board.metadata(&at("a")).into_keys().collect();
    assert_eq!(keys, ["/a"]);
    assert_eq!(board.entry(&at("a.x")).unwrap().1.author.as_deref(), Some("bob"));
    assert_eq!(board.entry(&at("ab")).unwrap().1.author.as_deref(), Some("ann"));
}

#[test]
fn the_items_of_a_list_share_the_metadata_of_the_list() {
    let mut board = board();
    put(&mut board, "list", json!([{"x": 1}]));
    board.put(&at("list.0.x"), json!(2), &who("bob"), None).unwrap();
    let keys: Vec<String> = board.metadata(&at("list")).into_keys().collect();
    assert_eq!(keys, ["/list"]);
    assert_eq!(board.entry(&at("list.0.x")).unwrap().1.author.as_deref(), Some("bob"));
    assert!(board.put(&at("list.0"), json!(1), &Who::default(), Some(NOW + 5)).is_err());
}

#[test]
fn a_value_expires_and_is_remembered_until_it_is_written_again() {
    let mut board = board();
    board.put(&at("a.x"), json!({}), &who("ann"), Some(NOW + 100)).unwrap();
    put(&mut board, "a.x.y", json!(1));
    let same = reopened(&mut board, NOW + 99);
    assert!(same.value(&at("a.x")).is_some());
    let mut later = reopened(&mut board, NOW + 100);
    assert_eq!(later.values, json!({"a": {}}));
    let Gone::Expired(gone) = later.gone(&at("a.x.y")) else { panic!() };
    assert_eq!((gone.at_ms, gone.author.as_deref()), (NOW + 100, Some("ann")));
    assert!(matches!(later.gone(&at("a.z")), Gone::NoRecord));
    later.clear(&at("a"), &who("bob")).unwrap();
    let Gone::Cleared(gone) = later.gone(&at("a.x")) else { panic!() };
    assert_eq!(gone.author.as_deref(), Some("bob"));
    put(&mut later, "a", json!(1));
    assert!(matches!(later.gone(&at("z")), Gone::NoRecord));
    assert!(later.expired.is_empty() && later.cleared.is_empty());
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut board = board();
    for index in 0..300 {
        let path = at(&format!("k{index}"));
        board.put(&path, json!(1), &Who::default(), Some(NOW + 1 + index)).unwrap();
        put(&mut board, &format!("c{index}"), json!(1));
        board.clear(&at(&format!("c{index}")), &Who::default()).unwrap();
    }
    let later = reopened(&mut board, NOW + 1_000);
    assert_eq!((later.expired.len(), later.cleared.len()), (MAX_REMEMBERED, MAX_REMEMBERED));
    assert!(matches!(later.gone(&at("k299")), Gone::Expired(_)));
    assert!(matches!(later.gone(&at("k0")), Gone::NoRecord));
}

#[test]
fn clearing_the_board_takes_tasks_and_keeps_the_count_of_writes() {
    let mut board = board();
    put(&mut board, "a.b", json!([1, 2]));
    put(&mut board, "a.c", json!({}));
    board
        .create_task(crate::board::tasks::NewTask { title: "t".into(), ..Default::default() })
        .unwrap();
    let mut board = reopened(&mut board, NOW);
    let removed = board.clear(&BoardPath::default(), &who("ann")).unwrap();
    assert_eq!((removed.keys, removed.tasks), (2, 1));
    let mut board = reopened(&mut board, NOW);
    assert_eq!(board.revision, 2);
    assert!(matches!(board.gone(&at("a.b")), Gone::Cleared(_)));
    assert!(board.clear(&BoardPath::default(), &who("ann")).is_none());
    let next =
        board.create_task(crate::board::tasks::NewTask { title: "t".into(), ..Default::default() });
    assert_eq!(next.unwrap(), "TASK-2");
}

#[test]
fn a_board_that_can_not_be_understood_is_an_error_and_unknown_members_stay() {
    for bad in [
        "",
        "[]",
        "{",
        "{\"format\":1}",
        "{\"format\":2,\"revision\":1,\"updated_at_ms\":1,\"values\":{}}",
        "{\"format\":1,\"revision\":1,\"updated_at_ms\":1,\"values\":[]}",
    ] {
        assert!(Board::parse("b", bad.as_bytes(), NOW).is_err(), "{bad}");
    }
    let newer = "\u{feff}{\"format\":1,\"revision\":7,\"updated_at_ms\":9,\"values\":{\"a\":1},\
        \"entries\":{\"/a\":{\"updated_at_ms\":9,\"mood\":\"good\"}},\"locks\":[1],\
        \"tasks\":[{\"task_id\":\"T\",\"title\":\"t\",\"status\":\"pending\",\"created_at_ms\":1,\"updated_at_ms\":1,\"color\":\"red\"}]}";
    let mut board = Board::parse("b", newer.as_bytes(), NOW).unwrap();
    put(&mut board, "z", json!(1));
    let written: Value = serde_json::from_slice(&board.seal().unwrap()).unwrap();
    assert_eq!(written["locks"], json!([1]));
    assert_eq!(written["entries"]["/a"]["mood"], "good");
    assert_eq!(written["tasks"][0]["color"], "red");
    assert_eq!(written["revision"], 8);
}

#[test]
fn the_limits_of_a_board_are_kept() {
    let mut wide = board();
    let many: serde_json::Map<String, Value> =
        (0..10_001).map(|index| (format!("k{index}"), json!(1))).collect();
    put(&mut wide, "all", Value::Object(many));
    assert_eq!(wide.seal().unwrap_err().data["reason_code"], "board_full");
    wide.clear(&at("all.k0"), &Who::default()).unwrap();
    assert!(wide.seal().is_ok());

    let mut heavy = board();
    for index in 0..17 {
        put(&mut heavy, &format!("k{index}"), json!("x".repeat(250 * 1024)));
    }
    assert!(heavy.seal().unwrap_err().message.contains("bytes"));
}

fn patched(start: Value, operations: Value) -> Result<Value, Refusal> {
    let mut board = board();
    board.values = start;
    let operations: Vec<patch::Operation> = serde_json::from_value(operations).unwrap();
    patch::apply(&mut board, &operations, &who("ann"))?;
    Ok(board.values)
}

#[test]
fn patches_do_as_rfc_6902_says() {
    // The examples of the RFC's appendix that stay inside an object.
    for (start, operations, wanted) in [
        (
            json!({"foo": "bar"}),
            json!([{"op": "add", "path": "/baz", "value": "qux"}]),
            json!({"foo": "bar", "baz": "qux"}),
        ),
        (
            json!({"foo": ["bar", "baz"]}),
            json!([{"op": "add", "path": "/foo/1", "value": "qux"}]),
            json!({"foo": ["bar", "qux", "baz"]}),
        ),
        (
            json!({"baz": "qux", "foo": "bar"}),
            json!([{"op": "remove", "path": "/baz"}]),
            json!({"foo": "bar"}),
        ),
        (
            json!({"foo": ["bar", "qux", "baz"]}),
            json!([{"op": "remove", "path": "/foo/1"}]),
            json!({"foo": ["bar", "baz"]}),
        ),
        (
            json!({"baz": "qux"}),
            json!([{"op": "replace", "path": "/baz", "value": "boo"}]),
            json!({"baz": "boo"}),
        ),
        (
            json!({"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}),
            json!([{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}]),
            json!({"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}),
        ),
        (
            json!({"foo": ["all", "grass", "cows", "eat"]}),
            json!([{"op": "move", "from": "/foo/1", "path": "/foo/3"}]),
            json!({"foo": ["all", "cows", "eat", "grass"]}),
        ),
        (
            json!({"baz": "qux", "foo": ["a", 2, "c"]}),
            json!([{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2.0}]),
            json!({"baz": "qux", "foo": ["a", 2, "c"]}),
        ),
        (
            json!({"foo": "bar"}),
            json!([{"op": "add", "path": "/child", "value": {"grandchild": {}}}]),
            json!({"foo": "bar", "child": {"grandchild": {}}}),
        ),
        (
            json!({"foo": "bar"}),
            json!([{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}]),
            json!({"foo": "bar", "baz": "qux"}),
        ),
        (
            json!({"/": 9, "~1": 10}),
            json!([{"op": "test", "path": "/~01", "value": 10}]),
            json!({"/": 9, "~1": 10}),
        ),
        (
            json!({"foo": ["bar"]}),
            json!([{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}]),
            json!({"foo": ["bar", ["abc", "def"]]}),
        ),
        (
            json!({"a": 1}),
            json!([{"op": "add", "path": "/b", "value": null}, {"op": "copy", "from": "/b", "path": "/c"}]),
            json!({"a": 1, "b": null, "c": null}),
        ),
        (
            json!({"a": {"b": 1}}),
            json!([{"op": "move", "from": "/a/b", "path": "/a"}]),
            json!({"a": 1}),
        ),
    ] {
        assert_eq!(patched(start, operations.clone()).unwrap(), wanted, "{operations}");
    }
}

#[test]
fn a_patch_that_does_not_fit_names_its_operation() {
    let start = json!({"foo": "bar", "list": [1]});
    for (operation, says) in [
        (json!({"op": "test", "path": "/foo", "value": "qux"}), "test"),
        (json!({"op": "test", "path": "/nope", "value": null}), "nothing is at"),
        (json!({"op": "add", "path": "/baz/bat", "value": 1}), "nothing is at"),
        (json!({"op": "add", "path": "/foo/bat", "value": 1}), "holds a string"),
        (json!({"op": "add", "path": "/list/2", "value": 1}), "no place"),
        (json!({"op": "add", "path": "/list/01", "value": 1}), "no place"),
        (json!({"op": "add", "path": "/x"}), "needs a `value`"),
        (json!({"op": "add", "path": "x", "value": 1}), "no JSON pointer"),
        (json!({"op": "add", "path": "", "value": {}}), "whole board"),
        (json!({"op": "replace", "path": "/nope", "value": 1}), "nothing is at"),
        (json!({"op": "replace", "path": "", "value": {}}), "whole board"),
        (json!({"op": "remove", "path": "/list/1"}), "nothing is at"),
        (json!({"op": "remove", "path": ""}), "whole board"),
        (json!({"op": "move", "path": "/x"}), "needs a `from`"),
        (json!({"op": "move", "from": "/list", "path": "/list/0"}), "into itself"),
        (json!({"op": "move", "from": "/nope", "path": "/x"}), "nothing is at"),
        (json!({"op": "copy", "from": "/nope", "path": "/x"}), "nothing is at"),
        (json!({"op": "add", "path": "/x", "value": "x".repeat(256 * 1024)}), "at most"),
    ] {
        let first = json!({"op": "test", "path": "/list/0", "value": 1});
        let refusal = patched(start.clone(), json!([first, operation])).unwrap_err();
        assert!(refusal.message.contains(says), "{}", refusal.message);
        assert_eq!(refusal.data["index"], 1);
        assert_eq!(refusal.data["pointer"], operation["path"]);
        assert_eq!(refusal.data["field"], "operations");
    }
    let failed = patched(start, json!([{"op": "test", "path": "/foo", "value": 1}])).unwrap_err();
    assert_eq!(failed.data["found"], "bar");
}

#[test]
fn a_patch_can_not_double_a_board_until_it_bursts() {
    let start = json!({"a": {"text": "x".repeat(1_000)}});
    let doubling: Vec<Value> = (0..100)
        .map(|at| json!({"op": "copy", "from": "/a", "path": format!("/a/k{at}")}))
        .collect();
    let refusal = patched(start, json!(doubling)).unwrap_err();
    assert!(refusal.message.contains("bytes"), "{}", refusal.message);

    let nested = (0..20).fold(json!(1), |inner, _| json!({"a": inner}));
    let under = (0..13).fold(json!({}), |inner, _| json!({"b": inner}));
    let place = format!("{}/n", "/b".repeat(13));
    for (op, deep) in [("move", &place), ("copy", &place)] {
        let start = json!({"b": under["b"], "n": nested});
        let refusal = patched(start, json!([{"op": op, "from": "/n", "path": deep}])).unwrap_err();
        assert!(refusal.message.contains("levels"), "{}", refusal.message);
    }
}

#[test]
fn what_is_written_into_something_that_expires_expires_with_it() {
    let mut board = board();
    board.put(&at("a"), json!({}), &who("ann"), Some(NOW + 100)).unwrap();
    board.put(&at("a.b"), json!(1), &who("ann"), Some(NOW + 500)).unwrap();
    board.put(&at("a.c"), json!(1), &who("ann"), Some(NOW + 50)).unwrap();
    let ends = |path| board.entry(&at(path)).unwrap().1.expires_at_ms;
    assert_eq!((ends("a.b"), ends("a.c")), (Some(NOW + 100), Some(NOW + 50)));
    assert_eq!(reopened(&mut board, NOW + 100).values, json!({}));
}

#[test]
fn a_patch_keeps_the_metadata_in_step() {
    let mut board = board();
    put(&mut board, "a.b", json!({"c": 1}));
    put(&mut board, "a.b.c", json!(2));
    let operations = json!([{"op": "move", "from": "/a/b", "path": "/z"}]);
    let operations: Vec<patch::Operation> = serde_json::from_value(operations).unwrap();
    assert!(patch::apply(&mut board, &operations, &who("bob")).unwrap());
    let keys: Vec<String> = board.metadata(&BoardPath::default()).into_keys().collect();
    assert_eq!(keys, ["/a", "/z"]);
    assert_eq!(board.entry(&at("z.c")).unwrap().1.author.as_deref(), Some("bob"));
}

#[test]
fn keys_are_the_paths_that_hold_no_further_object() {
    let values = json!({"a": {"b": 1, "c": [1, {"d": 2}], "e": {}}, "f.g": null});
    let keys: Vec<String> =
        tree::keys(&values, &BoardPath::default()).iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["/a/b", "/a/c", "/a/e", "/f.g"]);
    assert_eq!(tree::count_keys(&values), 4);
    assert!(tree::keys(&values, &at("x")).is_empty());
    assert!(tree::keys(&json!({}), &BoardPath::default()).is_empty());
    assert_eq!(tree::depth(&values), 4);
}
