//! Declarations that pass, and one spoilt in each way.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{HOST_ARGUMENTS, tool};
use crate::{
    desc::{Confirmation, Effects, Mode, SessionKind, ToolDesc, Work},
    outcome::{Answer, Target},
    tool::Tool,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn good() -> Tool {
    Tool::new("area_do_thing", "Does a thing.", Effects::READS, |_, _: Nothing| {
        Answer::of(json!({}))
    })
}

fn change() -> Tool {
    let mut tool = good();
    tool.desc.effects = Effects::CHANGES;
    tool
}

/// The one sentence that a spoilt declaration gets.
#[track_caller]
fn only(desc: &ToolDesc) -> String {
    let found = tool(desc);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[track_caller]
fn spoilt(spoil: impl Fn(&mut ToolDesc)) -> String {
    let mut desc = good().desc;
    spoil(&mut desc);
    only(&desc)
}

#[track_caller]
fn with_argument(schema: Value) -> Vec<String> {
    let mut desc = good().desc;
    desc.input_schema["properties"]["value"] = schema;
    tool(&desc)
}

#[test]
fn a_plain_declaration_passes() {
    assert_eq!(tool(&good().desc), Vec::<String>::new());
    let preview = |_: &crate::ctx::Ctx<'_>, _: Nothing| Ok(Target::read("x", true, json!(1)));
    let full = change().confirm(Confirmation::Always).preview(preview).leaves(&[Work::Save]);
    assert_eq!(tool(&full.desc), Vec::<String>::new());
    let live = good().modes(&[Mode::Live, Mode::OfflineFallback]);
    let live = live.live(&[SessionKind::Editor], &["scene.get"]);
    assert_eq!(tool(&live.desc), Vec::<String>::new());
}

#[test]
fn a_name_is_short_lower_case_and_begins_with_a_letter() {
    let long = "a".repeat(49);
    for name in ["", "Upper", "with-dash", "with space", "1st", "_x", "straße", &long] {
        assert!(spoilt(|desc| desc.name = name.into()).contains("the name"), "{name}");
    }
    assert!(spoilt(|desc| desc.legacy_names.push("Old".into())).contains("`Old`"));
    let mut desc = good().desc;
    desc.name = "a".repeat(48);
    assert_eq!(tool(&desc), Vec::<String>::new());
}

#[test]
fn a_description_is_there_bounded_and_ascii() {
    assert!(spoilt(|desc| desc.description = String::new()).contains("1 to 600 bytes"));
    assert!(spoilt(|desc| desc.description = "a".repeat(601)).contains("1 to 600 bytes"));
    assert!(spoilt(|desc| desc.description = "\u{2014}".into()).contains("ASCII"));
    assert!(spoilt(|desc| desc.title = "\u{e9}".into()).contains("ASCII"));
}

#[test]
fn what_the_host_adds_can_not_be_an_argument() {
    for name in HOST_ARGUMENTS {
        let mut desc = good().desc;
        desc.input_schema["properties"][name] = json!({"type": "boolean"});
        assert!(only(&desc).contains(name));
    }
}

#[test]
fn every_argument_has_a_type_and_every_string_a_length() {
    assert_eq!(with_argument(json!({})), ["the argument `value` has no type"]);
    assert_eq!(with_argument(json!(true)), ["the argument `value` has no type"]);
    assert_eq!(
        with_argument(json!({"type": "string"})),
        ["the string at `input.value` has no `maxLength`"]
    );
    for good in
        [json!({"type": "string", "maxLength": 9}), json!({"type": "string", "enum": ["a"]})]
    {
        assert_eq!(with_argument(good), Vec::<String>::new());
    }
    assert_eq!(
        with_argument(json!({"type": "array"})),
        ["the array at `input.value` has no `items`"]
    );
    assert_eq!(
        with_argument(json!({"type": "array", "items": {"type": "string"}})),
        ["the string at `input.value[]` has no `maxLength`"]
    );
    let nested = json!({"type": "object", "properties": {"deep": {"type": "string"}}});
    assert_eq!(with_argument(nested), ["the string at `input.value.deep` has no `maxLength`"]);
}

#[test]
fn references_and_alternatives_at_the_top_are_refused() {
    for key in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        assert!(spoilt(|desc| desc.input_schema[key] = json!([])).contains(key));
    }
    assert!(spoilt(|desc| desc.input_schema["$defs"] = json!({})).contains("$defs"));
    assert!(spoilt(|desc| desc.input_schema = json!({"type": "object"})).contains("properties"));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "here for its schema")]
struct Tree {
    branches: Vec<Tree>,
}

#[test]
fn a_type_that_holds_itself_is_refused_and_does_not_hang() {
    let tool_of_trees =
        Tool::new("area_tree", "Takes a tree.", Effects::READS, |_, _: Tree| Answer::of(json!({})));
    assert!(!tool(&tool_of_trees.desc).is_empty());
    let mut deep = json!({"type": "object", "properties": {}});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"in": deep}});
    }
    assert!(with_argument(deep)[0].contains("nested deeper"));
}

#[test]
fn live_parts_go_together() {
    let words = "go together";
    assert!(spoilt(|desc| desc.modes = vec![Mode::Live]).contains(words));
    assert!(spoilt(|desc| desc.sessions = vec![SessionKind::Game]).contains(words));
    assert!(spoilt(|desc| desc.bridge_methods = vec!["scene.get".into()]).contains(words));
    assert!(spoilt(|desc| desc.modes.clear()).contains("no mode"));
}

#[test]
fn a_read_asks_for_nothing_and_leaves_nothing() {
    assert!(spoilt(|desc| desc.confirmation = Confirmation::Always).contains("confirmation"));
    assert!(spoilt(|desc| desc.previews = true).contains("previews"));
    assert!(spoilt(|desc| desc.follow_ups = vec![Work::Save]).contains("follow-ups"));
}

#[test]
fn a_confirmation_on_overwrite_needs_the_argument_and_a_preview() {
    let mut desc = change().confirm(Confirmation::OnOverwrite).desc;
    assert!(only(&desc).contains("`overwrite`"));
    desc.input_schema["properties"]["overwrite"] = json!({"type": "boolean"});
    assert!(only(&desc).contains("a preview"));
    desc.previews = true;
    assert_eq!(tool(&desc), Vec::<String>::new());
}

#[test]
fn an_output_schema_is_an_object() {
    assert!(
        spoilt(|desc| desc.output_schema = Some(json!({"type": "array", "items": {}})))
            .contains("output schema")
    );
    let mut desc = good().desc;
    desc.output_schema = Some(json!({"type": "object", "properties": {"s": {"type": "string"}}}));
    assert_eq!(tool(&desc), Vec::<String>::new(), "an answer's strings need no bound");
}
