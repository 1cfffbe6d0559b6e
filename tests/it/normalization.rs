//! A build with the feature `argument-normalization`, beside the usual one: what each does with arguments of another form.

use std::{env, fs, path::PathBuf};

use didi_plugin_api::testkit::left_out;
use didi_tests::{Launch, Project, Server, caller::refusal_of};
use serde_json::{Map, Value, json};

/// The program with the feature; without one a test is left out, and with `CI=true` it fails.
fn program() -> Option<PathBuf> {
    let named = env::var_os("DIDI_TEST_NORMALIZING").map(PathBuf::from);
    if named.is_none() {
        left_out("a build with `argument-normalization`; name it in DIDI_TEST_NORMALIZING");
    }
    named.map(|file| {
        fs::canonicalize(&file).unwrap_or_else(|why| panic!("`{}`: {why}", file.display()))
    })
}

/// Calls with the rules that are asked for, if any.
fn call(server: &mut Server, rules: Option<Value>, tool: &str, arguments: Value) -> Value {
    let meta =
        rules.map_or_else(|| json!({}), |rules| json!({"didi/argumentNormalization": rules}));
    server.call_with(tool, arguments, Map::from_iter([("_meta".to_owned(), meta)]))
}

fn written() -> Value {
    json!({"root_path": "res://levels/cave.tscn", "max_depth": "1", "max_nodes": "50"})
}

#[test]
fn arguments_of_another_form_are_taken_where_they_are_asked_to_be() {
    let Some(program) = program() else { return };
    let project = Project::sample();
    let mut server = Launch::over(project.root()).program(program).start();
    let usual = call(
        &mut server,
        None,
        "scene_get_hierarchy",
        json!({"root_path": "res://levels/cave.tscn", "max_depth": 1, "max_nodes": 50}),
    );
    let taken = call(&mut server, Some("safe-v1".into()), "scene_get_hierarchy", written());
    assert_eq!(taken["structuredContent"], usual["structuredContent"]);
    assert_eq!(
        taken["_meta"]["didi"]["argumentNormalization"],
        json!({"profile": "safe-v1", "changed": ["max_depth", "max_nodes"]})
    );
    // Only where a request asks for it.
    let strict = refusal_of(&call(&mut server, None, "scene_get_hierarchy", written()));
    assert_eq!(strict["data"]["field"], "max_depth");
    // A bound is a bound, in whatever form it is met.
    let over = json!({"root_path": "res://levels/cave.tscn", "max_depth": "65"});
    let over = refusal_of(&call(&mut server, Some("safe-v1".into()), "scene_get_hierarchy", over));
    assert_eq!(over["data"]["field"], "max_depth");
    for rules in [json!("safe-v2"), json!(true)] {
        let unknown = refusal_of(&call(&mut server, Some(rules), "scene_get_hierarchy", written()));
        assert_eq!(unknown["data"]["field"], "didi/argumentNormalization");
    }
    let other = json!({"query": "lamp", "max_results": "3"});
    let other =
        refusal_of(&call(&mut server, Some("safe-v1".into()), "project_search_text", other));
    assert_eq!(other["data"]["field"], "max_results", "no other tool");
}

#[test]
fn the_usual_build_takes_the_published_form_alone() {
    let project = Project::sample();
    let mut server = Server::over_project(&project.root());
    let refused = call(&mut server, Some("safe-v1".into()), "scene_get_hierarchy", written());
    assert_eq!(refusal_of(&refused)["data"]["field"], "max_depth");
}
