//! References between the operations of a batch: a whole string `$id.path` or `$0.path` is a value of an earlier
//! result, in the type that it has there. `$$` at the start is a dollar sign; every other string is text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Deepest path, in steps.
const MAX_STEPS: usize = 64;

/// Whether a text can name an operation.
pub(super) fn is_id(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || b"_-".contains(&letter))
}

/// The places of operations, by id or by index.
pub(super) struct Lookup<'a> {
    ids: BTreeMap<&'a str, usize>,
    count: usize,
}

impl<'a> Lookup<'a> {
    /// Of the ids in order; of two that are alike the first counts.
    pub(super) fn of(ids: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut lookup = Lookup { ids: BTreeMap::new(), count: 0 };
        for id in ids {
            if let Some(id) = id {
                lookup.ids.entry(id).or_insert(lookup.count);
            }
            lookup.count += 1;
        }
        lookup
    }

    /// The place of an operation; an id wins over an index.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        // As it is written and no other way, so that a place has one name.
        let is_index = |index: &usize| *index < self.count && index.to_string() == name;
        let by_index = || name.parse().ok().filter(is_index);
        self.ids.get(name).copied().or_else(by_index)
    }
}

/// A way into a value: members by name, items by their place.
pub(super) struct Path<'a>(Vec<&'a str>);

impl<'a> Path<'a> {
    /// Reads `a.b.0`; none of its steps is empty.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let steps: Vec<&str> = text.split('.').collect();
        let good = steps.len() <= MAX_STEPS && steps.iter().all(|step| !step.is_empty());
        good.then_some(Path(steps))
    }

    /// What stands there.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match value {
            Value::Object(members) => members.get(*step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

/// A string as it is meant.
enum Text<'a> {
    Plain,
    /// With its first dollar sign taken off.
    Dollar(&'a str),
    Reference {
        name: &'a str,
        path: Path<'a>,
    },
}

fn read(text: &str) -> Text<'_> {
    let Some(rest) = text.strip_prefix('$') else { return Text::Plain };
    if rest.starts_with('$') {
        return Text::Dollar(rest);
    }
    let Some((name, path)) = rest.split_once('.') else { return Text::Plain };
    let named = is_id(name) || (!name.is_empty() && name.bytes().all(|it| it.is_ascii_digit()));
    match Path::read(path).filter(|_| named) {
        Some(path) => Text::Reference { name, path },
        None => Text::Plain,
    }
}

/// What is wrong with the references of an operation before anything ran.
pub(super) fn faults(params: &Map<String, Value>, index: usize, ids: &Lookup<'_>) -> Vec<String> {
    let mut faults = vec![];
    for value in params.values() {
        each_text(value, &mut |text| {
            let Text::Reference { name, .. } = read(text) else { return };
            let text = crate::text::clip(text);
            match ids.place(name) {
                None => faults.push(format!(
                    "'{text}' names no operation; '$$' at the start is a plain dollar sign"
                )),
                Some(place) if place >= index => {
                    faults.push(format!(
                        "'{text}' refers to operation {place}, which does not run before it"
                    ));
                }
                Some(_) => {}
            }
        });
    }
    faults
}

/// Whether a value is, or has in it, one of an earlier result.
pub(super) fn refers(value: &Value) -> bool {
    let mut refers = false;
    each_text(value, &mut |text| refers |= matches!(read(text), Text::Reference { .. }));
    refers
}

fn each_text(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, look)),
        Value::Object(members) => members.values().for_each(|value| each_text(value, look)),
        _ => {}
    }
}

/// Puts values in the place of references, at every depth.
pub(super) fn resolve(
    value: &mut Value,
    ids: &Lookup<'_>,
    results: &[Option<Value>],
) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let found = match read(text) {
                Text::Plain => return Ok(()),
                Text::Dollar(text) => text.into(),
                Text::Reference { name, path } => {
                    let whole = ids.place(name).and_then(|place| results.get(place)?.as_ref());
                    let whole = whole.filter(|whole| !whole.is_null()).ok_or_else(|| {
                        format!("'{text}' refers to an operation that has no result")
                    })?;
                    let found = path.find(whole);
                    found.ok_or_else(|| format!("'{text}' is not in that result"))?.clone()
                }
            };
            *value = found;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| resolve(item, ids, results)),
        Value::Object(members) => {
            members.values_mut().try_for_each(|value| resolve(value, ids, results))
        }
        _ => Ok(()),
    }
}

/// The values at some paths of a result, by path, and the paths that lead nowhere.
pub(super) fn keep(whole: &Value, paths: &[String]) -> (Value, Vec<String>) {
    let (mut kept, mut lost) = (Map::new(), vec![]);
    for path in paths {
        match Path::read(path).and_then(|path| path.find(whole).cloned()) {
            Some(value) => drop(kept.insert(path.clone(), value)),
            None => lost.push(path.clone()),
        }
    }
    (Value::Object(kept), lost)
}
