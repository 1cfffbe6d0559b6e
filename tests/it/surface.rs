//! The surface that was agreed on, `tests/contracts/surface.json`, against the one that the program publishes.
//!
//! Every tool is compared field by field. What differs on purpose is in `tests/contracts/differences.json`, with
//! the reason; an entry there that no longer describes a difference fails.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::contracts::{ledger, manifest};

/// Members of an argument's schema that are compared.
const BOUNDS: [&str; 10] = [
    "type",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "default",
    "minItems",
    "maxItems",
];

/// A tool as names of facts and their values; a fact that is absent is not there.
type Facts = BTreeMap<String, Value>;

fn sorted(list: &Value) -> Value {
    let mut items: Vec<String> =
        list.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().into()).collect();
    items.sort();
    json!(items)
}

fn agreed(tool: &Value) -> Facts {
    let mut facts = Facts::new();
    for (name, value) in tool.as_object().unwrap() {
        match name.as_str() {
            "args" => {}
            "hints" => {
                for (hint, value) in value.as_object().unwrap() {
                    facts.insert(format!("hints/{hint}"), value.clone());
                }
            }
            _ => drop(facts.insert(name.clone(), value.clone())),
        }
    }
    for (name, argument) in tool["args"].as_object().unwrap() {
        for (bound, value) in argument.as_object().unwrap() {
            facts.insert(format!("args/{name}/{bound}"), value.clone());
        }
    }
    facts
}

fn published(tool: &Value) -> Facts {
    let effects = &tool["effects"];
    let changes = effects["mutates_project"] == true || effects["changes_server"] == true;
    let mut facts = Facts::from([
        ("pack".into(), json!(tool["pack"].as_str().unwrap().trim_start_matches("didi-pack-"))),
        ("core_profile".into(), json!(tool["profile"] == "core")),
        ("modes".into(), sorted(&tool["modes"])),
        ("session_kinds".into(), sorted(&tool["sessions"])),
        ("bridge_methods".into(), sorted(&tool["bridge_methods"])),
        ("mutates".into(), effects["mutates_project"].clone()),
        ("hints/readOnly".into(), json!(!changes)),
        ("hints/destructive".into(), json!(changes && effects["only_adds"] == false)),
        ("hints/idempotent".into(), effects["same_when_repeated"].clone()),
        ("hints/openWorld".into(), effects["open_world"].clone()),
        ("confirmation".into(), tool["confirmation"].clone()),
        ("job".into(), tool["job"].clone()),
        ("bounded".into(), json!(tool["bound"].is_string())),
        ("sections".into(), sorted(&tool["sections"])),
        ("follow_ups".into(), sorted(&tool["follow_ups"])),
        ("legacy_names".into(), sorted(&tool["legacy_names"])),
    ]);
    let codes: BTreeSet<&str> = tool["codes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|code| code["name"].as_str().unwrap())
        .collect();
    facts.insert("codes".into(), json!(codes));
    arguments(&tool["input_schema"], &mut facts);
    facts
}

fn arguments(schema: &Value, facts: &mut Facts) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, argument) in schema["properties"].as_object().unwrap() {
        if required.contains(&json!(name)) {
            facts.insert(format!("args/{name}/required"), json!(true));
        }
        for bound in BOUNDS.into_iter().chain(["uniqueItems"]) {
            if let Some(value) = argument.get(bound) {
                facts.insert(format!("args/{name}/{bound}"), value.clone());
            }
        }
        if let Some(values) = argument["items"].get("enum") {
            facts.insert(format!("args/{name}/items.enum"), values.clone());
        }
    }
}

/// One fact on which the two differ; `Null` is a fact that is not there.
#[derive(Debug)]
struct Difference {
    tool: String,
    fact: String,
    agreed: Value,
    ours: Value,
}

fn differences(tool: &str, agreed: &Facts, ours: &Facts) -> Vec<Difference> {
    let names: BTreeSet<&String> = agreed.keys().chain(ours.keys()).collect();
    let mut found = vec![];
    for name in names {
        let of = |facts: &Facts| facts.get(name).cloned().unwrap_or(Value::Null);
        let (agreed, ours) = (of(agreed), of(ours));
        let (agreed, ours) = match name.as_str() {
            "codes" => (lacking(&agreed, &ours), json!([])),
            _ if name.rsplit('/').next() == Some("type") => {
                (sorted_type(agreed), sorted_type(ours))
            }
            _ => (agreed, ours),
        };
        if agreed != ours {
            found.push(Difference { tool: tool.into(), fact: name.clone(), agreed, ours });
        }
    }
    found
}

/// Codes that were agreed on and are not declared. More than those may be: `refusals.json` holds them all.
fn lacking(agreed: &Value, ours: &Value) -> Value {
    let declared = ours.as_array().unwrap();
    agreed.as_array().unwrap().iter().filter(|code| !declared.contains(code)).cloned().collect()
}

fn sorted_type(kind: Value) -> Value {
    if kind.is_array() { sorted(&kind) } else { kind }
}

/// Whether an entry of the list of differences describes this one.
fn describes(entry: &Value, difference: &Difference) -> bool {
    let tools = entry["tools"].as_array().unwrap();
    let value = |name: &str, value: &Value| entry[name] == "[any]" || entry[name] == *value;
    tools.iter().any(|tool| tool == "*" || *tool == *difference.tool)
        && fits(entry["fact"].as_str().unwrap(), &difference.fact)
        && value("agreed", &difference.agreed)
        && value("ours", &difference.ours)
}

/// A fact's name against one whose parts may be `*`.
fn fits(pattern: &str, fact: &str) -> bool {
    let (pattern, fact): (Vec<_>, Vec<_>) =
        (pattern.split('/').collect(), fact.split('/').collect());
    pattern.len() == fact.len()
        && pattern.iter().zip(&fact).all(|(want, is)| *want == "*" || want == is)
}

#[test]
fn the_surface_is_the_one_that_was_agreed_on() {
    let surface = ledger("surface");
    let list = ledger("differences");
    let entries = list["fields"].as_array().unwrap();
    let mut used = vec![false; entries.len()];
    let mut unlisted = vec![];
    for tool in manifest()["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let Some(wanted) = surface.get(name) else { continue };
        for difference in differences(name, &agreed(wanted), &published(tool)) {
            match entries.iter().position(|entry| describes(entry, &difference)) {
                Some(at) => used[at] = true,
                None => unlisted.push(difference),
            }
        }
    }
    assert!(unlisted.is_empty(), "differences that nobody meant: {unlisted:#?}");
    let stale: Vec<_> = entries.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(stale.is_empty(), "listed, and no longer true: {stale:#?}");
    for entry in entries {
        let reason = entry["reason"].as_str().unwrap_or_default();
        assert!(reason.len() > 8, "a difference says why: {entry}");
    }
}

#[test]
fn every_agreed_name_is_served_or_listed_as_still_to_come() {
    let surface = ledger("surface");
    let list = ledger("differences");
    let agreed: BTreeSet<&str> = surface.as_object().unwrap().keys().map(String::as_str).collect();
    let tools = manifest()["tools"].as_array().unwrap();
    let served: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let names = |key: &str| -> BTreeSet<&str> {
        let lists = list[key].as_object().unwrap().values();
        lists.flat_map(|list| list.as_array().unwrap()).map(|name| name.as_str().unwrap()).collect()
    };
    let missing: BTreeSet<&str> = agreed.difference(&served).copied().collect();
    assert_eq!(missing, names("to_come"), "what is not served yet");
    let beyond: BTreeSet<&str> = served.difference(&agreed).copied().collect();
    assert_eq!(beyond, names("beyond"), "what is served beyond the agreement");
}
