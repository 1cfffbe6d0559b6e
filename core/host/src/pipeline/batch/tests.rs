use std::sync::Arc;

use super::*;
use crate::catalog::Catalog;

fn wish(value: Value) -> Wish {
    read(value.as_object().unwrap().clone()).unwrap()
}

/// Problems of a batch over the host's own commands.
fn problems(operations: Value, more: Value) -> Vec<(usize, &'static str)> {
    let book = Book::of(Arc::new(Catalog::default()));
    let mut whole = json!({"operations": operations});
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    judge(&wish(whole), &book).into_iter().map(|one| (one.index, one.code)).collect()
}

#[test]
fn the_bounds_are_held() {
    let operation = json!({"command": "editor_status"});
    let count = |count: usize| json!({"operations": vec![operation.clone(); count]});
    for (bad, part) in [
        (count(0), "1 to 200"),
        (count(201), "1 to 200"),
        (json!({"operations": [{"command": "x", "extra": 1}]}), "extra"),
        (json!({"operations": [operation], "on_error": "stop"}), "on_error"),
        (json!({"operations": [operation], "time_budget_ms": 0}), "time_budget_ms"),
        (json!({"operations": [operation], "time_budget_ms": 3_600_001}), "time_budget_ms"),
    ] {
        let reply = read(bad.as_object().unwrap().clone()).err().unwrap();
        let details = reply.outcome.unwrap_err().details;
        assert!(details.contains(part) || details.contains("stop"), "{bad}: {details}");
    }
    assert!(read(count(200).as_object().unwrap().clone()).is_ok());
}

#[test]
fn what_can_be_judged_before_is_judged_for_all_with_the_index() {
    let status = |id: &str| json!({"id": id, "command": "editor_status"});
    assert_eq!(problems(json!([status("a"), status("b-1"), status("_")]), json!({})), []);
    assert_eq!(problems(json!([status("0"), status("ok")]), json!({})), [(0, "invalidId")]);
    assert_eq!(problems(json!([status("a"), status("a")]), json!({})), [(1, "duplicateId")]);
    let batch = json!({"command": "batch", "params": {"operations": []}});
    let other = json!({"command": "no_such"});
    let want = [(0, "not_batchable"), (1, "commandNotFound")];
    assert_eq!(problems(json!([batch, other]), json!({})), want);
    let unknown = json!({"command": "editor_status", "params": {"x": 1}});
    assert_eq!(problems(json!([unknown]), json!({})), [(0, "invalidParameters")]);
    let fields = json!({"result_fields": {"a": ["status"], "nope": ["x"], "1": ["a..b"]}});
    let want = [(0, "invalidResultFields"), (1, "invalidResultFields")];
    assert_eq!(problems(json!([status("a"), status("b")]), fields), want);
}

#[test]
fn references_are_backward_whole_strings() {
    let ids = Lookup::of([Some("a"), None, Some("b")].into_iter());
    let faults = |params: Value, index: usize| {
        references::faults(params.as_object().unwrap(), index, &ids).len()
    };
    assert_eq!(faults(json!({"x": "$a.path"}), 1), 0);
    assert_eq!(faults(json!({"x": ["$0.path", {"y": "$a.b.0.c"}]}), 1), 0);
    assert_eq!(faults(json!({"x": "$b.path"}), 1), 1);
    assert_eq!(faults(json!({"x": "$a.path"}), 0), 1);
    assert_eq!(faults(json!({"x": "$9.path", "y": "$nobody.path"}), 2), 2);
    // Text: part of a longer string, no path, an escape, a node of Godot's.
    for text in ["see $b.path", "$b", "$$b.path", "$Player/Camera", "$", "$.x", "$a.", "$a..b"] {
        assert_eq!(faults(json!({"x": text}), 1), 0, "{text}");
    }
}

#[test]
fn a_reference_becomes_the_value_in_its_own_type() {
    let ids = Lookup::of([Some("a"), Some("failed"), None].into_iter());
    let results =
        [Some(json!({"path": "res://a", "n": {"list": [1, true]}})), None, Some(Value::Null)];
    let resolved = |value: Value| {
        let mut value = value;
        references::resolve(&mut value, &ids, &results).map(|()| value)
    };
    assert_eq!(resolved(json!("$a.path")), Ok(json!("res://a")));
    assert_eq!(
        resolved(json!({"x": ["$a.n.list.1", "$0.n"]})),
        Ok(json!({"x": [true, {"list": [1, true]}]}))
    );
    assert_eq!(resolved(json!("$$literal")), Ok(json!("$literal")));
    assert_eq!(resolved(json!("see $a.path")), Ok(json!("see $a.path")));
    assert!(resolved(json!("$failed.path")).unwrap_err().contains("no result"));
    assert!(resolved(json!("$2.path")).unwrap_err().contains("no result"));
    assert!(resolved(json!("$a.missing")).unwrap_err().contains("not in that result"));
    assert!(resolved(json!("$a.n.list.7")).is_err());
}

#[test]
fn kept_fields_are_named_by_their_paths() {
    let whole = json!({"a": {"b": [1, 2]}, "c": null});
    let paths: Vec<String> = ["a.b.1", "c", "d"].map(String::from).to_vec();
    let (kept, lost) = references::keep(&whole, &paths);
    assert_eq!(kept, json!({"a.b.1": 2, "c": null}));
    assert_eq!(lost, ["d"]);
}
