//! An entry in a JSON file, with the comments, blanks and order of everything else kept.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
    json,
};

use super::{Current, Fault, NAME};

/// JSON, and where a client takes them, comments and commas before a closing bracket.
fn options(takes_comments: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: takes_comments,
        allow_trailing_commas: takes_comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn parse(text: &str, takes_comments: bool) -> Result<CstRootNode, Fault> {
    // What the client will read has to be JSON to the letter; the editing reader is laxer in places.
    if !takes_comments && !text.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            Fault { place: Some((error.line(), error.column())), why: why.to_owned() }
        })?;
    }
    CstRootNode::parse(text, &options(takes_comments)).map_err(|error| Fault {
        place: Some((error.line_display(), error.column_display())),
        why: error.kind().to_string(),
    })
}

/// The object of a member; `None` when there is no such member.
fn member(object: &CstObject, name: &str) -> Result<Option<CstObject>, Fault> {
    let named = |property: &jsonc_parser::cst::CstObjectProp| {
        property.decoded_name().as_deref() == Some(name)
    };
    if object.properties().iter().filter(|property| named(property)).count() > 1 {
        return Err(Fault::new(format!("`{name}` occurs more than once")));
    }
    let Some(found) = object.get(name) else { return Ok(None) };
    found.object_value().map(Some).ok_or_else(|| Fault::new(format!("`{name}` is no object")))
}

fn root_object(root: &CstRootNode) -> Result<Option<CstObject>, Fault> {
    if root.value().is_none() {
        return Ok(None);
    }
    root.object_value().map(Some).ok_or_else(|| Fault::new("it holds no object"))
}

/// The entry of a text.
pub(super) fn current(
    text: &str,
    section: &str,
    takes_comments: bool,
) -> Result<Option<Current>, Fault> {
    let root = parse(text, takes_comments)?;
    let Some(object) = root_object(&root)? else { return Ok(None) };
    let Some(servers) = member(&object, section)? else { return Ok(None) };
    let Some(entry) = member(&servers, NAME)? else { return Ok(None) };
    let value = entry.to_serde_value().unwrap_or_default();
    let args = value["args"].as_array().into_iter().flatten();
    Ok(Some(Current {
        command: value["command"].as_str().map(ToOwned::to_owned),
        args: args.filter_map(|arg| arg.as_str().map(ToOwned::to_owned)).collect(),
        says_stdio: value["type"] == "stdio",
    }))
}

/// The text with the entry as wanted.
pub(super) fn with_entry(
    text: &str,
    section: &str,
    takes_comments: bool,
    wanted: &Current,
) -> Result<String, Fault> {
    let root = parse(text, takes_comments)?;
    root_object(&root)?;
    let not_made = || Fault::new("the entry has no place in it");
    let object = root.object_value_or_create().ok_or_else(not_made)?;
    let servers = object.object_value_or_create(section).ok_or_else(not_made)?;
    let current = current(text, section, takes_comments)?.unwrap_or_default();
    let entry = servers.object_value_or_create(NAME).ok_or_else(not_made)?;
    let set = |name: &str, value: CstInputValue| match entry.get(name) {
        Some(found) => found.set_value(value),
        None => {
            entry.append(name, value);
        }
    };
    if wanted.says_stdio && !current.says_stdio {
        set("type", json!("stdio"));
    }
    if wanted.command != current.command {
        set("command", json!(wanted.command.clone().unwrap_or_default()));
    }
    if wanted.args != current.args {
        let args = wanted.args.iter().map(|arg| json!(arg.clone())).collect();
        set("args", CstInputValue::Array(args));
    }
    let mut after = root.to_string();
    if text.is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok(after)
}
