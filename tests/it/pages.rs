//! The two pages that are made from the program's own manifest: every tool, and every code. They are compared here, and
//! written anew with `DIDI_WRITE_PAGES=1`.

use std::{collections::BTreeMap, fs};

use didi_tests::repository;
use serde_json::Value;

use crate::contracts::manifest;

/// Compares a page with what it should be, or writes it.
fn hold(name: &str, wanted: &str) {
    let file = repository().join("docs").join(name);
    if std::env::var_os("DIDI_WRITE_PAGES").is_some() {
        fs::write(&file, wanted).unwrap();
    }
    let page = fs::read_to_string(&file).unwrap_or_default();
    let command = "DIDI_WRITE_PAGES=1 cargo test -p didi-tests --test it pages";
    assert!(page == wanted, "docs/{name} is not what the manifest says: {command}");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Words of a list, with commas.
fn words(value: &Value) -> String {
    list(value).iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A cell of a table keeps to its line.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn the_page_of_tools_is_what_the_manifest_says() {
    let mut packs: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for tool in list(&manifest()["tools"]) {
        packs.entry(text(&tool["pack"])).or_default().push(tool);
    }
    let count = list(&manifest()["tools"]).len();
    let mut page = vec![format!(
        "# Tools\n\nMade from `didi --dump-tool-manifest`; do not edit. {count} tools. Arguments that every tool of a kind has \
         (`dry_run`, `confirmation_token`, `request_id`, `fields`) are told in [protocol.md](protocol.md). What a tool may be \
         refused with beside its own codes is in [errors.md](errors.md).\n"
    )];
    for (pack, tools) in packs {
        page.push(format!("\n## {pack}\n"));
        for tool in tools {
            page.push(tool_entry(tool));
        }
    }
    hold("tools.md", &page.concat());
}

fn tool_entry(tool: &Value) -> String {
    let (name, about) = (text(&tool["name"]), text(&tool["description"]));
    let mut entry = vec![format!("\n### {name}\n\n{about}\n\n")];
    let mut facts = vec![format!("{} list", text(&tool["profile"])), words(&tool["modes"])];
    if tool["implemented"] == false {
        facts.push("a reserved name".into());
    }
    if !list(&tool["sessions"]).is_empty() {
        facts.push(format!("in {}", words(&tool["sessions"])));
    }
    facts.push(effect(&tool["effects"]).into());
    match text(&tool["confirmation"]) {
        "always" => facts.push("always confirmed".into()),
        "on_overwrite" => facts.push("confirmed when it replaces something".into()),
        _ => {}
    }
    if tool["job"] == true {
        facts.push("can be a job".into());
    }
    if let Some(bound) = tool["bound"].as_str() {
        facts.push(format!("bounded by {bound}"));
    }
    entry.push(format!("{}.\n", facts.join("; ")));
    if !list(&tool["legacy_names"]).is_empty() {
        entry.push(format!("Older names: {}.\n", words(&tool["legacy_names"])));
    }
    entry.push(arguments(&tool["input_schema"]));
    let codes: Vec<&str> = list(&tool["codes"]).iter().map(|code| text(&code["name"])).collect();
    if !codes.is_empty() {
        entry.push(format!("\nCodes: `{}`.\n", codes.join("`, `")));
    }
    entry.concat()
}

fn effect(effects: &Value) -> &'static str {
    let is = |name: &str| effects[name] == true;
    match (is("mutates_project"), is("only_adds"), is("same_when_repeated")) {
        (true, ..) if is("open_world") => "runs code that may reach beyond the project",
        (true, true, _) => "adds",
        (true, false, true) => "sets",
        (true, false, false) => "changes",
        (false, ..) if is("changes_server") => "changes the server's own state",
        _ => "reads",
    }
}

const MANNERS: [&str; 4] = ["dry_run", "confirmation_token", "request_id", "fields"];

fn arguments(schema: &Value) -> String {
    let required = list(&schema["required"]);
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let own: Vec<_> =
        properties.iter().filter(|(name, _)| !MANNERS.contains(&name.as_str())).collect();
    if own.is_empty() {
        return String::new();
    }
    let mut table = vec!["\n| argument | takes | |\n| --- | --- | --- |\n".to_owned()];
    for (name, property) in own {
        let needed = if required.contains(&Value::from(name.as_str())) { ", required" } else { "" };
        let about = cell(text(&property["description"]));
        let taken = cell(&taken(property));
        table.push(format!("| `{name}` | {taken}{needed} | {about} |\n"));
    }
    table.concat()
}

/// A property's type with its bounds.
fn taken(property: &Value) -> String {
    let kinds = &property["type"];
    let words_of = list(&property["enum"]);
    let kind = if !words_of.is_empty() {
        words_of.iter().map(|word| format!("`{}`", text(word))).collect::<Vec<_>>().join(", ")
    } else if kinds.is_string() {
        text(kinds).to_owned()
    } else if list(kinds).len() > 4 {
        "any value".into()
    } else {
        words(kinds).replace(", ", " or ")
    };
    let bounds = [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ];
    let mut parts = vec![kind];
    parts.extend(bounds.iter().filter_map(|(least, most, unit)| {
        match (property[least].as_f64(), property[most].as_f64()) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("at least {least}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        }
    }));
    parts.extend(property.get("default").map(|default| format!("usually `{default}`")));
    parts.join(", ")
}

#[test]
fn the_page_of_codes_is_what_the_manifest_says() {
    let mut tools: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in list(&manifest()["tools"]) {
        for code in list(&tool["codes"]) {
            tools.entry(text(&code["name"])).or_default().push(text(&tool["name"]));
        }
    }
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    for (code, told) in manifest()["refusals"]["remedied"].as_object().unwrap() {
        rows.insert(
            code,
            row(code, &told["status"], &way_out(&told["floor"]), tools.get(code.as_str())),
        );
    }
    for (code, told) in manifest()["refusals"]["without_remedy"].as_object().unwrap() {
        let why = format!("none: {}", text(&told["reason"]));
        rows.insert(code, row(code, &told["status"], &why, tools.get(code.as_str())));
    }
    for tool in list(&manifest()["tools"]) {
        for code in list(&tool["codes"]) {
            let name = text(&code["name"]);
            rows.entry(name).or_insert_with(|| {
                row(name, &code["status"], "said where it is refused", tools.get(name))
            });
        }
    }
    let mut page = format!(
        "# Codes\n\nMade from `didi --dump-tool-manifest`; do not edit. {} codes. A refusal carries its way out: \
         a call to make (`next_call`), arguments to add (`retry_with`), the argument at fault (`field`), a time to wait \
         (`retry_after_ms`), or why there is none (`no_remedy`). Where the place that refuses knows a better one, that one is \
         sent.\n\n| code | status | way out | tools |\n| --- | --- | --- | --- |\n",
        rows.len()
    );
    page.extend(rows.into_values());
    hold("errors.md", &page);
}

fn row(code: &str, status: &Value, way_out: &str, tools: Option<&Vec<&str>>) -> String {
    let tools = match tools {
        None => "any".into(),
        Some(tools) if tools.len() > 6 => format!("{} of them", tools.len()),
        Some(tools) => tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", "),
    };
    format!("| `{code}` | {status} | {} | {tools} |\n", cell(way_out))
}

fn way_out(floor: &Value) -> String {
    let Some((kind, told)) = floor.as_object().and_then(|floor| floor.iter().next()) else {
        return "said where it is refused".into();
    };
    match kind.as_str() {
        "next_call" => format!("`next_call` {}: {}", text(&told["tool"]), text(&told["reason"])),
        "no_remedy" => format!("`no_remedy`: {}", text(told)),
        "field" => format!("`field` {}", text(told)),
        _ => format!("`{kind}` `{told}`"),
    }
}

/// Requests that a page shows to be sent name commands and parameters that there are.
#[test]
fn requests_of_the_pages_are_ones_that_are_taken() {
    let tools = list(&manifest()["tools"]);
    let mut checked = 0;
    for page in ["README.md", "docs/pipeline.md"] {
        let page = fs::read_to_string(repository().join(page)).unwrap();
        let sent = page.split("-d '").skip(1).filter_map(|rest| rest.split_once('\''));
        for (body, _) in sent {
            let request: Value =
                serde_json::from_str(body).unwrap_or_else(|error| panic!("{body}: {error}"));
            let name = request["command"].as_str().unwrap_or_else(|| text(&request["argv"][0]));
            let tool = tools.iter().find(|tool| tool["name"] == name);
            let tool = tool.unwrap_or_else(|| panic!("{body}: no command `{name}`"));
            for key in request["parameters"].as_object().into_iter().flat_map(|given| given.keys())
            {
                assert!(!tool["input_schema"]["properties"][key].is_null(), "{body}: no `{key}`");
            }
            checked += 1;
        }
    }
    assert!(checked > 1, "the pages show some");
}
