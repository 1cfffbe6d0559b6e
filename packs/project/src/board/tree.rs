//! Reading and changing one JSON tree by path. An error is a sentence; the tree may then be half changed,
//! so callers work on a copy.
//!
//! Spec: P-51, boards.

use serde_json::{Map, Value};

use super::path::BoardPath;

/// The value at a path.
pub(crate) fn get<'v>(root: &'v Value, path: &BoardPath) -> Option<&'v Value> {
    path.parts().iter().try_fold(root, |here, part| match here {
        Value::Object(map) => map.get(part),
        Value::Array(items) => items.get(index(part)?),
        _ => None,
    })
}

/// Puts a value at a path, makes the objects above it, and answers what was there.
///
/// Below a list only its items can be written, and the place behind the last one.
pub(crate) fn put(
    root: &mut Value,
    path: &BoardPath,
    value: Value,
) -> Result<Option<Value>, String> {
    let Some((last, above)) = path.parts().split_last() else {
        return Err("the board itself can't be written, only a path on it".into());
    };
    let mut here = root;
    for (level, part) in above.iter().enumerate() {
        here = match here {
            Value::Object(map) => map.entry(part).or_insert_with(|| Value::Object(Map::new())),
            Value::Array(items) => {
                let count = items.len();
                let item = index(part).and_then(|index| items.get_mut(index));
                item.ok_or_else(|| no_item(&path.prefix(level), part, count))?
            }
            other => return Err(no_container(&path.prefix(level), other)),
        };
    }
    match here {
        Value::Object(map) => Ok(map.insert(last.clone(), value)),
        Value::Array(items) => match index(last) {
            Some(index) if index < items.len() => {
                Ok(Some(std::mem::replace(&mut items[index], value)))
            }
            Some(index) if index == items.len() => {
                items.push(value);
                Ok(None)
            }
            _ => Err(no_item(&path.prefix(above.len()), last, items.len())),
        },
        other => Err(no_container(&path.prefix(above.len()), other)),
    }
}

/// Adds as RFC 6902 does: into an object, or before an item of a list, `-` being its end.
///
/// Answers the path with `-` resolved.
pub(crate) fn add(root: &mut Value, path: &BoardPath, value: Value) -> Result<BoardPath, String> {
    let Some(parent) = path.parent() else {
        return Err("the whole board can't be replaced; `blackboard_clear` empties it".into());
    };
    let last = &path.parts()[path.parts().len() - 1];
    match get_mut(root, &parent) {
        None => Err(format!("nothing is at `{parent}`, so nothing can be added below it")),
        Some(Value::Object(map)) => {
            map.insert(last.clone(), value);
            Ok(path.clone())
        }
        Some(Value::Array(items)) => {
            let at = if last == "-" { Some(items.len()) } else { index(last) };
            match at.filter(|at| *at <= items.len()) {
                Some(at) => {
                    items.insert(at, value);
                    Ok(path.with_last(at.to_string()))
                }
                None => Err(no_item(&parent, last, items.len())),
            }
        }
        Some(other) => Err(no_container(&parent, other)),
    }
}

/// Replaces a value that is there.
pub(crate) fn replace(root: &mut Value, path: &BoardPath, value: Value) -> Result<(), String> {
    if path.is_board() {
        return Err("the whole board can't be replaced; `blackboard_clear` empties it".into());
    }
    let place = get_mut(root, path).ok_or_else(|| format!("nothing is at `{path}`"))?;
    *place = value;
    Ok(())
}

/// Takes a value out; the items behind one in a list move up.
pub(crate) fn remove(root: &mut Value, path: &BoardPath) -> Option<Value> {
    let parent = path.parent()?;
    let last = path.parts().last()?;
    match get_mut(root, &parent)? {
        Value::Object(map) => map.shift_remove(last),
        Value::Array(items) => {
            index(last).filter(|index| *index < items.len()).map(|index| items.remove(index))
        }
        _ => None,
    }
}

/// How many parts of a path lie outside every list: where a path's metadata is kept, since the items of a
/// list move.
pub(crate) fn parts_before_a_list(root: &Value, path: &BoardPath) -> usize {
    let mut here = root;
    for (level, part) in path.parts().iter().enumerate() {
        match here {
            Value::Object(map) => match map.get(part) {
                Some(next) => here = next,
                None => return path.parts().len(),
            },
            Value::Array(_) => return level,
            _ => break,
        }
    }
    path.parts().len()
}

/// Levels of nesting: 0 for a scalar or an empty container.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.values().map(|inner| depth(inner) + 1).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(|inner| depth(inner) + 1).max().unwrap_or(0),
        _ => 0,
    }
}

/// How many keys there are: paths that hold a list, a scalar or an empty object.
pub(crate) fn count_keys(root: &Value) -> usize {
    match root {
        Value::Object(map) => map
            .values()
            .map(|inner| match inner {
                Value::Object(deeper) if !deeper.is_empty() => count_keys(inner),
                _ => 1,
            })
            .sum(),
        _ => 1,
    }
}

/// The keys at or below a path, in the order of the board.
pub(crate) fn keys(root: &Value, at: &BoardPath) -> Vec<BoardPath> {
    let mut found = vec![];
    if let Some(value) = get(root, at) {
        collect_keys(value, at, &mut found);
    }
    found
}

fn collect_keys(value: &Value, at: &BoardPath, found: &mut Vec<BoardPath>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, inner) in map {
                collect_keys(inner, &at.below(name), found);
            }
        }
        _ if at.is_board() => {}
        _ => found.push(at.clone()),
    }
}

/// Equality as RFC 6902 has it: numbers by value, objects without order.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => one == other,
    }
}

fn get_mut<'v>(root: &'v mut Value, path: &BoardPath) -> Option<&'v mut Value> {
    path.parts().iter().try_fold(root, |here, part| match here {
        Value::Object(map) => map.get_mut(part),
        Value::Array(items) => items.get_mut(index(part)?),
        _ => None,
    })
}

/// A place in a list: digits without a leading zero.
fn index(part: &str) -> Option<usize> {
    let plain = part == "0" || !part.starts_with('0');
    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
    (plain && digits).then(|| part.parse().ok()).flatten()
}

fn no_item(list: &BoardPath, part: &str, count: usize) -> String {
    format!("`{part}` is no place in the list at `{list}`, which has {count} items")
}

fn no_container(at: &BoardPath, value: &Value) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        _ => "a string",
    };
    format!("`{at}` holds {kind}, and nothing can be below it")
}
