//! What each tool promises, said twice and compared both ways: in its declaration, which the manifest
//! publishes, and in `tests/contracts`, with the reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use didi_tests::{
    Launch, Project, Server, caller::refusal_of, json::no_nulls, modern, stub_engine, tests_folder,
};
use serde_json::{Map, Value, json};

pub(crate) use didi_tests::server::manifest;

/// A file of `tests/contracts`.
pub(crate) fn ledger(name: &str) -> Value {
    let file = tests_folder().join(format!("contracts/{name}.json"));
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("`{}`: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("`{}`: {e}", file.display()))
}

fn tools() -> BTreeMap<&'static str, &'static Value> {
    let tools = manifest()["tools"].as_array().unwrap();
    tools.iter().map(|tool| (tool["name"].as_str().unwrap(), tool)).collect()
}

/// The ledger has an entry for each of these tools, and for no other.
fn covers(name: &str, wanted: impl Fn(&Value) -> bool) -> Map<String, Value> {
    let ledger = ledger(name).as_object().unwrap().clone();
    let tools = tools();
    let named: BTreeSet<&str> =
        tools.iter().filter(|(_, tool)| wanted(tool)).map(|(name, _)| *name).collect();
    let entries: BTreeSet<&str> = ledger.keys().map(String::as_str).collect();
    let missing: Vec<_> = named.difference(&entries).collect();
    let stale: Vec<_> = entries.difference(&named).collect();
    assert!(missing.is_empty(), "tests/contracts/{name}.json has no entry for {missing:?}");
    assert!(stale.is_empty(), "tests/contracts/{name}.json has entries for no tool: {stale:?}");
    ledger
}

fn mutates(tool: &Value) -> bool {
    tool["effects"]["mutates_project"] == true
}

fn is_sentence(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > 8)
}

#[test]
fn every_change_says_what_it_leaves_undone() {
    for (name, entry) in covers("follow_ups", mutates) {
        let tool = tools()[name.as_str()];
        let mut declared: BTreeSet<String> = texts(&tool["follow_ups"]);
        if tool["job"] == true {
            // The host adds it to the answer of a job that still runs.
            declared.insert("poll".into());
        }
        assert_eq!(texts(&entry["work"]), declared, "`{name}`: work left undone");
        assert!(is_sentence(&entry["reason"]), "`{name}` says why");
    }
}

#[test]
fn every_read_is_bounded_or_says_why_not() {
    for (name, entry) in covers("bounded_reads", |tool| !mutates(tool)) {
        let bound = &tools()[name.as_str()]["bound"];
        assert_eq!(entry["bounded"] == true, bound.is_string(), "`{name}`: bounded");
        if bound.is_string() {
            assert_eq!(&entry["by"], bound, "`{name}`: what bounds it");
        } else {
            assert!(is_sentence(&entry["why"]) || entry["why"] == "one value", "`{name}` says why");
        }
    }
}

#[test]
fn every_tool_says_which_engines_it_needs() {
    for (name, entry) in covers("session_kinds", |_| true) {
        let declared = texts(&tools()[name.as_str()]["sessions"]);
        assert_eq!(texts(&entry["kinds"]), declared, "`{name}`: session kinds");
        assert!(is_sentence(&entry["reason"]), "`{name}` says why");
    }
}

#[test]
fn annotations_are_derived_as_the_surface_says() {
    let expected = covers("annotations", |_| true);
    for entry in listed("full") {
        let name = entry["name"].as_str().unwrap();
        let legacy = manifest()["names"]["legacy"][name].as_str();
        let canonical = legacy.unwrap_or(name);
        assert_eq!(entry["annotations"], expected[canonical], "`{name}`: the four hints");
    }
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// The entries of a profile's list, and the bytes that they take on the wire.
fn measured(profile: &str) -> (Vec<Value>, usize) {
    let project = Project::empty();
    let mut server = Launch::over(project.root()).args(["--tools", profile]).start();
    let answer = server.request("tools/list", modern(json!({})));
    let tools = answer["result"]["tools"].clone();
    let bytes = tools.to_string().len();
    (tools.as_array().unwrap().clone(), bytes)
}

fn listed(profile: &str) -> Vec<Value> {
    measured(profile).0
}

/// BL-61.
#[test]
fn lists_keep_their_budgets() {
    let budgets = ledger("tool_list_budgets");
    for profile in ["core", "full"] {
        let (tools, bytes) = measured(profile);
        let average = bytes / tools.len();
        let most = budgets["average_bytes"][profile].as_u64().unwrap();
        assert!(average as u64 <= most, "{profile}: {average} bytes a tool, {most} allowed");
        let most = budgets["total_bytes"][profile].as_u64().unwrap();
        assert!(bytes as u64 <= most, "{profile}: {bytes} bytes, {most} allowed");
    }
}

#[test]
fn the_full_list_has_every_name_and_core_has_its_own() {
    let names = |profile: &str| -> BTreeSet<String> {
        listed(profile).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let published = &manifest()["names"];
    let legacy = published["legacy"].as_object().unwrap().keys().cloned();
    let all: BTreeSet<String> = texts(&published["canonical"]).into_iter().chain(legacy).collect();
    assert_eq!(names("full"), all);
    assert_eq!(names("core"), texts(&published["core"]));
    // What authoring and running a game live needs; more would belong into the full list.
    assert!(names("core").len() <= 60, "core is what a model reads first");
}

#[test]
fn every_name_is_implemented_but_those_that_are_kept_for_older_clients() {
    let published = manifest();
    let legacy = published["names"]["legacy"].as_object().unwrap();
    for tool in published["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let reserved = legacy.get(name).is_some_and(Value::is_null);
        assert_eq!(tool["implemented"] == true, !reserved, "`{name}`");
    }
    for entry in listed("full") {
        let (name, meta) = (entry["name"].as_str().unwrap(), &entry["_meta"]["didi"]);
        let reserved = legacy.get(name).is_some_and(Value::is_null);
        assert_eq!(meta["implemented"] == true, !reserved, "`{name}`");
        assert_eq!(meta["legacy"] == true, legacy.contains_key(name), "`{name}`");
        assert_eq!(meta["reason"].is_string(), reserved, "`{name}` says why");
    }
}

#[test]
fn a_reserved_name_leads_to_a_call_of_arguments_that_it_takes() {
    let project = Project::sample();
    let before = project.tree();
    let mut server = Server::over_project(&project.root());
    let calls = [
        (
            "instantiate_asset",
            json!({"asset_path": "res://a.tscn", "parent_path": "/root/Level"}),
            "scene_instantiate_node",
            json!({"scene_path": "res://a.tscn", "parent_path": "/root/Level"}),
        ),
        (
            "instantiate_asset",
            json!({
                "asset_path": "res://a.tscn", "parent_path": "/root/Level", "collision_mode": "convex",
                "transform": {"position": [1, 2, 3]},
            }),
            "scene_instantiate_node",
            json!({"scene_path": "res://a.tscn", "parent_path": "/root/Level"}),
        ),
        (
            "mutate_scene_tree",
            json!({"action": "add", "target_node": "/root/Level"}),
            "scene_instantiate_node",
            json!({"parent_path": "/root/Level"}),
        ),
        (
            "mutate_scene_tree",
            json!({"action": "remove", "target_node": "/root/Level/A", "payload": {"x": 1}}),
            "scene_remove_node",
            json!({"target_node": "/root/Level/A"}),
        ),
        (
            "mutate_scene_tree",
            json!({"action": "modify", "target_node": "/root/Level/A"}),
            "scene_set_property",
            json!({"target_node": "/root/Level/A"}),
        ),
        (
            "mutate_scene_tree",
            json!({"action": "reparent", "target_node": "/root/Level/A"}),
            "scene_reparent_node",
            json!({"target_node": "/root/Level/A"}),
        ),
        (
            "mutate_scene_tree",
            json!({"action": "duplicate", "target_node": "/root/Level/A"}),
            "scene_duplicate_node",
            json!({"target_node": "/root/Level/A"}),
        ),
    ];
    for (name, arguments, instead, with) in calls {
        let inputs = &tools()[instead]["input_schema"]["properties"];
        for argument in with.as_object().unwrap().keys() {
            assert!(inputs.get(argument).is_some(), "`{instead}` takes `{argument}`");
        }
        for dry_run in [false, true] {
            let mut arguments = arguments.clone();
            arguments["dry_run"] = dry_run.into();
            let refused = server.call(name, arguments.clone());
            let error = refusal_of(&refused);
            assert_eq!(error["code"], 501, "{arguments}: {refused}");
            assert_eq!(error["data"]["next_call"]["tool"], instead, "{arguments}");
            assert_eq!(error["data"]["next_call"]["arguments"], with, "{arguments}");
        }
    }
    assert_eq!(project.tree(), before, "nothing ran");
}

#[test]
fn core_has_every_tool_that_the_guide_names() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    let guide = server.request("server/discover", json!({}))["result"]["instructions"].clone();
    let guide = guide.as_str().unwrap();
    let words: BTreeSet<&str> =
        guide.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    let core = texts(&manifest()["names"]["core"]);
    for name in texts(&manifest()["names"]["canonical"]) {
        assert!(!words.contains(name.as_str()) || core.contains(&name), "`{name}` is not in core");
    }
}

/// BL-61.
#[test]
fn lists_pass_the_lint_of_every_client() {
    for profile in ["core", "full"] {
        let mut seen = BTreeSet::new();
        for tool in listed(profile) {
            no_nulls(&tool).unwrap();
            let name = tool["name"].as_str().unwrap().to_owned();
            let mut faults = vec![];
            lint_entry(&tool, &mut faults);
            assert!(faults.is_empty(), "{profile} `{name}`: {faults:?}");
            assert!(seen.insert(name.clone()), "`{name}` is listed twice");
        }
    }
}

fn lint_entry(tool: &Value, faults: &mut Vec<String>) {
    let name = tool["name"].as_str().unwrap();
    // Clients put a prefix of their own before it, and count to 64.
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > 48 || !name.bytes().all(legal) {
        faults.push("its name".into());
    }
    let description = tool["description"].as_str().unwrap_or_default();
    if description.len() < 20 || !description.is_ascii() {
        faults.push("its description".into());
    }
    lint_root(&tool["inputSchema"], "inputSchema", faults);
    if tool["inputSchema"]["additionalProperties"] != false {
        faults.push("inputSchema is open".into());
    }
    let empty = Map::new();
    let input = tool["inputSchema"]["properties"].as_object().unwrap_or(&empty);
    let required = texts(&tool["inputSchema"]["required"]);
    for (name, property) in input {
        lint_input(name, property, required.contains(name), faults);
    }
    if let Some(output) = tool.get("outputSchema") {
        lint_root(output, "outputSchema", faults);
    }
}

fn lint_root(schema: &Value, path: &str, faults: &mut Vec<String>) {
    if schema["type"] != "object" {
        faults.push(format!("{path} is no object"));
    }
    for word in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        if schema.get(word).is_some() {
            faults.push(format!("{path} has {word} on top"));
        }
    }
    lint_schema(schema, path, faults);
}

fn lint_schema(schema: &Value, path: &str, faults: &mut Vec<String>) {
    let Some(members) = schema.as_object() else {
        faults.push(format!("{path} is no schema"));
        return;
    };
    for word in ["$ref", "$dynamicRef", "$defs", "format", "$schema"] {
        if members.contains_key(word) {
            faults.push(format!("{path} has {word}"));
        }
    }
    let kind = &schema["type"];
    let is = |name: &str| kind == name || texts_or_none(kind).contains(name);
    if is("array") && !schema["items"].is_object() {
        faults.push(format!("{path} is an array without items"));
    }
    if let Some(description) = schema["description"].as_str()
        && !description.is_ascii()
    {
        faults.push(format!("{path} has a description beyond ASCII"));
    }
    if schema["items"].is_object() {
        lint_schema(&schema["items"], &format!("{path}[]"), faults);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        lint_schema(property, &format!("{path}.{name}"), faults);
    }
}

fn texts_or_none(value: &Value) -> BTreeSet<String> {
    if value.is_array() { texts(value) } else { BTreeSet::new() }
}

/// Every argument has a type, and every text a length.
fn lint_input(name: &str, property: &Value, required: bool, faults: &mut Vec<String>) {
    // A board's value may be any JSON.
    let free = name == "value" && property.get("type").is_none();
    if !free && property.get("type").is_none() {
        faults.push(format!("{name} has no type"));
    }
    let text = property["type"] == "string" && property.get("enum").is_none();
    let bounded = property.get("maxLength").is_some() || property.get("pattern").is_some();
    if text && !bounded {
        faults.push(format!("{name} has no length"));
    }
    let may_be_empty = name == "source_text";
    let nonempty = property.get("minLength").is_some() || property.get("pattern").is_some();
    if text && required && !may_be_empty && !nonempty {
        faults.push(format!("{name} may be empty"));
    }
    if may_be_empty && required && property.get("minLength").is_some() {
        faults.push(format!("{name} may not be empty, yet an empty file is a file"));
    }
}

/// Arguments that are good, as far as a schema can tell.
fn good(schema: &Value) -> Map<String, Value> {
    let mut arguments = Map::new();
    for name in texts(&schema["required"]) {
        arguments.insert(name.clone(), good_value(&schema["properties"][&name]));
    }
    arguments
}

fn good_value(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or("string") {
        "integer" | "number" => schema["minimum"].as_i64().unwrap_or(1).into(),
        "boolean" => true.into(),
        "array" => {
            let least = usize::try_from(schema["minItems"].as_u64().unwrap_or(0)).unwrap();
            (0..least).map(|_| good_value(&schema["items"])).collect()
        }
        "object" => good(schema).into(),
        _ if schema["pattern"].is_string() => "0".repeat(32).into(),
        _ => "res://x".into(),
    }
}

/// Values that a property with this schema may not take, as candidates.
fn doubtful(schema: &Value) -> Vec<Value> {
    let bound = |name: &str| schema[name].as_i64();
    let mut values =
        vec![json!(null), json!(7.5), json!("x"), json!(""), json!(true), json!([]), json!({})];
    values.extend(
        ["minimum", "maximum"]
            .iter()
            .filter_map(|name| bound(name))
            .flat_map(|edge| [json!(edge - 1), json!(edge), json!(edge + 1)]),
    );
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| *most < 5000) {
        let letter = "\u{e9}".repeat(usize::try_from(most).unwrap());
        values.extend([json!(letter), json!(format!("{letter}x"))]);
    }
    if let Some(most) = schema["maxItems"].as_u64() {
        let many = usize::try_from(most).unwrap() + 1;
        values.push((0..many).map(|_| good_value(&schema["items"])).collect());
    }
    values
}

#[test]
fn what_the_published_schema_refuses_the_server_refuses() {
    let project = Project::empty();
    let engine = project.outside().join("no-engine");
    let mut server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
    for (name, tool) in tools() {
        let schema = &tool["input_schema"];
        let validator = jsonschema::validator_for(schema).unwrap();
        for (argument, property) in schema["properties"].as_object().unwrap() {
            for value in doubtful(property) {
                let mut arguments = good(schema);
                arguments.insert(argument.clone(), value);
                let arguments = Value::Object(arguments);
                if validator.is_valid(&arguments) {
                    continue;
                }
                let text = server.call(name, arguments.clone()).to_string();
                assert!(text.contains("invalid_arguments"), "`{name}` {arguments}: {text}");
            }
        }
        let mut more = good(schema);
        more.insert("no_such_argument".into(), true.into());
        let text = server.call(name, Value::Object(more)).to_string();
        assert!(text.contains("no_such_argument"), "`{name}`: {text}");
    }
}

#[test]
fn no_argument_reaches_the_confirmation_switch() {
    for (name, tool) in tools() {
        for argument in tool["input_schema"]["properties"].as_object().unwrap().keys() {
            let argument = argument.to_lowercase();
            let bad = ["yolo", "skip", "confirmed", "approve", "force"];
            assert!(!bad.iter().any(|bad| argument.contains(bad)), "`{name}` takes `{argument}`");
        }
    }
}

#[test]
fn changes_take_a_dry_run_and_confirmed_ones_a_token() {
    for (name, tool) in tools() {
        let arguments = tool["input_schema"]["properties"].as_object().unwrap();
        assert_eq!(arguments.contains_key("dry_run"), mutates(tool), "`{name}`: dry_run");
        let confirmed = tool["confirmation"] != "never";
        assert_eq!(arguments.contains_key("confirmation_token"), confirmed, "`{name}`: token");
        assert_eq!(arguments.contains_key("request_id"), tool["job"] == true, "`{name}`: job");
        let sections = tool.get("sections").is_some();
        assert_eq!(arguments.contains_key("fields"), sections, "`{name}`: fields");
    }
}

/// Real calls of the tools that publish what they return.
fn sample_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("blackboard_list_keys", json!({})),
        (
            "blackboard_list_keys",
            json!({"prefix": "/level", "max_keys": 1, "include_metadata": true}),
        ),
        ("blackboard_read", json!({})),
        ("blackboard_read", json!({"path": "/level", "deep": false})),
        ("blackboard_read", json!({"path": "/nobody"})),
        ("blackboard_task_list", json!({})),
        ("didi_control_room", json!({})),
        ("didi_control_room", json!({"fields": ["server"]})),
        ("project_add_export_preset", json!({"name": "Added", "platform": "Web"})),
        ("project_list_export_presets", json!({})),
        ("project_list_resources", json!({})),
        ("project_list_resources", json!({"fuzzy_query": "lamp", "include_uid": false})),
        ("project_search_symbols", json!({"query": "l", "match": "contains"})),
        ("project_search_text", json!({"query": "lamp"})),
        ("project_search_text", json!({"query": "lamp", "whole_word": true, "max_results": 1})),
        ("resource_inspect", json!({"resource_path": "res://icon.svg"})),
        ("resource_inspect", json!({"resource_path": "res://lamps/lamp.tscn"})),
        ("resource_inspect", json!({"resource_path": "res://data/oil_lamp.tres"})),
        ("runtime_detach_session", json!({})),
        ("runtime_list_sessions", json!({})),
        ("scene_get_hierarchy", json!({"root_path": "res://levels/meadow.tscn"})),
        ("scene_get_hierarchy", json!({"root_path": "res://levels/meadow.tscn", "summary": true})),
        ("script_check_syntax", json!({"file_path": "res://player/player.gd"})),
        ("script_check_syntax", json!({"source_text": "func broken(:\n"})),
        ("script_get_symbols", json!({"file_path": "res://player/player.gd"})),
        ("script_get_symbols", json!({"source_text": "class_name X\nfunc broken(:\n"})),
        ("script_reflect_class", json!({"class_name": "Node2D"})),
        ("script_reflect_class", json!({"class_name": "Timer.start", "fields": ["methods"]})),
        ("viewport_capture_frame", json!({})),
        ("viewport_capture_frame", json!({"resolution": {"width": 64, "height": 48}})),
    ]
}

#[test]
fn published_answers_are_what_their_schemas_say() {
    for project in [Project::sample(), Project::empty(), Project::studio()] {
        let engine = stub_engine(project.outside(), "exit 1");
        let mut server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
        fill_board(&mut server);
        let tools = tools();
        for (name, arguments) in sample_calls() {
            let Some(schema) = tools.get(name).and_then(|tool| tool.get("output_schema")) else {
                panic!("`{name}` publishes no schema any more");
            };
            let result = server.call(name, arguments.clone());
            no_nulls(&result).unwrap_or_else(|why| panic!("`{name}` {arguments}: {why}"));
            if result["isError"] == true {
                // A project without the file is refused; the schema is about successes.
                assert!(result.get("structuredContent").is_none(), "{result}");
                continue;
            }
            let data = &result["structuredContent"];
            let checked = jsonschema::validate(schema, data);
            assert!(checked.is_ok(), "`{name}` {arguments}: {checked:?}\n{data}");
            let mut undeclared = vec![];
            undeclared_keys(schema, data, "$", &mut undeclared);
            assert!(undeclared.is_empty(), "`{name}` {arguments} returns {undeclared:?}");
        }
    }
}

fn fill_board(server: &mut Server) {
    let value = json!({"name": "meadow", "lamps": [1, 2]});
    let write = json!({"path": "/level", "value": value, "author": "a", "reason": "r"});
    assert_eq!(server.call("blackboard_write", write)["isError"], false);
    let task = json!({"title": "Light the lamps", "tags": ["art"], "priority": 2});
    assert_eq!(server.call("blackboard_task_create", task)["isError"], false);
}

/// Members that an object schema with properties does not name; one without properties is left open.
fn undeclared_keys(schema: &Value, data: &Value, path: &str, found: &mut Vec<String>) {
    match data {
        Value::Object(members) => {
            let Some(properties) = schema["properties"].as_object() else { return };
            for (name, value) in members {
                match properties.get(name) {
                    Some(inner) => undeclared_keys(inner, value, &format!("{path}.{name}"), found),
                    None => found.push(format!("{path}.{name}")),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                undeclared_keys(&schema["items"], item, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_publishing_tool_is_called_for_real() {
    let called: BTreeSet<&str> = sample_calls().iter().map(|(name, _)| *name).collect();
    for (name, tool) in tools() {
        if tool.get("output_schema").is_some() {
            assert!(called.contains(name), "`{name}` publishes a schema that nothing checks");
        }
    }
    // Said of every project, so at least once with success: the sample has all that is asked for.
    let project = Project::sample();
    let engine = project.outside().join("no-engine");
    let mut server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
    fill_board(&mut server);
    for (name, arguments) in sample_calls() {
        let result = server.call(name, arguments.clone());
        assert_eq!(result["isError"], false, "`{name}` {arguments}: {result}");
    }
}
