//! An entry in a TOML file, with the comments, blanks and order of everything else kept.
//!
//! A new entry is a table added at the end, so that every byte before it stays.

use toml_edit::{Array, DocumentMut, Item, TableLike, Value, value};

use super::{Current, Fault, NAME};

fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let why = error.message().to_owned();
        match error.span() {
            Some(span) => Fault::at(text, span.start, why),
            None => Fault::new(why),
        }
    })
}

fn table<'a>(parent: &'a dyn TableLike, name: &str) -> Result<Option<&'a dyn TableLike>, Fault> {
    let Some(found) = parent.get(name) else { return Ok(None) };
    found.as_table_like().map(Some).ok_or_else(|| Fault::new(format!("`{name}` is no table")))
}

/// The entry of a text.
pub(super) fn current(text: &str, section: &str) -> Result<Option<Current>, Fault> {
    let document = parse(text)?;
    let Some(servers) = table(document.as_table(), section)? else { return Ok(None) };
    let Some(entry) = table(servers, NAME)? else { return Ok(None) };
    let args = entry.get("args").and_then(Item::as_array).into_iter().flatten();
    Ok(Some(Current {
        command: entry.get("command").and_then(Item::as_str).map(ToOwned::to_owned),
        args: args.filter_map(|arg| arg.as_str().map(ToOwned::to_owned)).collect(),
        // A server without an address is spoken to in no other way.
        says_stdio: true,
    }))
}

/// The text with the entry as wanted.
pub(super) fn with_entry(text: &str, section: &str, wanted: &Current) -> Result<String, Fault> {
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(section) else {
        return Ok(appended(text, section, wanted, eol));
    };
    let is_plain = servers.as_table().is_some_and(|servers| !servers.is_dotted());
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| Fault::new(format!("`{section}` is no table")))?;
    if servers.get(NAME).is_none() && is_plain {
        return Ok(appended(text, section, wanted, eol));
    }
    let entry = servers.entry(NAME).or_insert_with(|| value(toml_edit::InlineTable::new()));
    let entry =
        entry.as_table_like_mut().ok_or_else(|| Fault::new(format!("`{NAME}` is no table")))?;
    set(entry, "command", wanted.command.clone().unwrap_or_default().into());
    let args: Array = wanted.args.iter().collect();
    set(entry, "args", args.into());
    with_line_ends(text, &document.to_string())
}

/// Sets a key; the blanks and comments around an old value stay.
fn set(entry: &mut dyn TableLike, key: &str, mut new: Value) {
    let same = |old: &Value| old.to_string().trim() == new.to_string().trim();
    match entry.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) if same(old) => {}
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            entry.insert(key, Item::Value(new));
        }
    }
}

fn appended(text: &str, section: &str, wanted: &Current, eol: &str) -> String {
    let args: Array = wanted.args.iter().collect();
    let command: Value = wanted.command.clone().unwrap_or_default().into();
    let mut after = text.to_owned();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(eol);
    }
    if !after.is_empty() {
        after.push_str(eol);
    }
    after + &format!("[{section}.{NAME}]{eol}command = {command}{eol}args = {args}{eol}")
}

/// The library ends lines with a line feed alone; a file whose lines all end otherwise gets its own back.
fn with_line_ends(before: &str, after: &str) -> Result<String, Fault> {
    let (all, carried) = (before.matches('\n').count(), before.matches("\r\n").count());
    match carried {
        0 => Ok(after.to_owned()),
        _ if carried == all => Ok(after.replace("\r\n", "\n").replace('\n', "\r\n")),
        _ => Err(Fault::new("its lines end in two ways; change the entry by hand")),
    }
}
