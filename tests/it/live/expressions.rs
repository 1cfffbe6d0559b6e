//! Read-only expressions in a running game, and what they refuse.

use didi_tests::{Project, live::Engine};
use serde_json::{Value, json};

#[test]
fn an_expression_reads_and_never_runs_the_games_code() {
    let project = Project::sample();
    project.write(
        "trap.gd",
        "extends Node2D\n\nvar calls := 0\n\nfunc _get(property):\n\tcalls += 1\n\tprint(\"the trap ran\")\n\treturn null\n",
    );
    project.write(
        "trap.tscn",
        "[gd_scene load_steps=2 format=3]\n\n[ext_resource type=\"Script\" path=\"res://trap.gd\" id=\"1\"]\n\n\
         [node name=\"Trap\" type=\"Node2D\"]\nposition = Vector2(3, 4)\nscript = ExtResource(\"1\")\n",
    );
    project.set_main_scene("res://trap.tscn");
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let ask = |text: &str| json!({"expression": text, "context_node": "/root/Trap"});
    let mut value = |text: &str| client.done("runtime.evalGdscript", ask(text))["value"].clone();
    assert_eq!(value("1 + 2 * 3"), json!(7));
    assert_eq!(value("node.get(\"position\").x * 2"), json!(6.0));
    assert_eq!(value("node.get(\"position\")"), json!({"x": 3.0, "y": 4.0}));
    assert_eq!(value("[node.get_class(), node.has_method(\"_get\")]"), json!(["Node2D", true]));
    assert_eq!(value("{\"a\": [1, INF]}"), json!({"a": [1, "inf"]}));
    assert_eq!(value("\"ab\".repeat(2)"), json!("abab"));
    let mut refused = |text: &str| client.refused("runtime.evalGdscript", ask(text));
    assert_eq!(refused("node.queue_free()"), (403, "unsafe_expression".into()));
    assert_eq!(refused("node.get(\"calls\")"), (403, "unsafe_expression".into()));
    assert_eq!(refused("node.get(\"script\")"), (403, "unsafe_expression".into()));
    assert_eq!(refused("1 +"), (422, "expression_parse_failed".into()));
    assert_eq!(refused("[1][5]"), (422, "expression_execution_failed".into()));
    assert!(!engine.log().contains("the trap ran"), "{}", engine.log());
    let nobody = json!({"expression": "1", "context_node": "/root/Nobody"});
    assert_eq!(client.refused("runtime.evalGdscript", nobody), (404, "not_found".into()));
    let _: Value = client.done("runtime.getTree", json!({}));
}
