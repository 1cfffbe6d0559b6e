//! Records of several kinds in one argument, such as the events of a batch: what each kind takes, as a table.
//!
//! A schema that spells out every kind costs every list more than its tool is worth. So the schema says "object",
//! the argument's description names the members, and this table is checked before anything is sent.
//!
//! Spec: P-21, tool schemas.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refusal::{Refusal, codes};

#[cfg(test)]
mod tests;

/// One record, unread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Record(pub Map<String, Value>);

impl JsonSchema for Record {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Record".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }

    fn inline_schema() -> bool {
        true
    }
}

/// What a member may hold.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// True or false.
    Flag,
    /// A text of 1 to so many bytes.
    Text(usize),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from the first to the second, which may be infinite.
    Number(f64, f64),
    /// `{x, y}`, numbers.
    Point,
    /// `{x, y, z}`, numbers at most so far from 0.
    Point3(f64),
    /// `{x, y}` or `{x, y, z}`, numbers at most so far from 0.
    Place(f64),
    /// The same, and each above 0.
    Size(f64),
    /// `{r, g, b}`, numbers from 0 to 1.
    Color,
    /// `[x, y]` or `{x, y}`, whole numbers from the first to the second.
    Cell(i64, i64),
    /// `[x, y, z]` or `{x, y, z}`, whole numbers from the first to the second.
    Cell3(i64, i64),
}

/// One member: its name, what it may hold, and whether it has to be there.
pub type Member = (&'static str, Rule, bool);

/// One kind of record: the word that says so, and its members. A list of one kind needs no word: an empty one.
pub type Kind = (&'static str, &'static [Member]);

/// Checks every record of the argument `field`. `tag` is the member that says a record's kind.
///
/// # Errors
/// `invalid_arguments` with `field`, naming the record's place, from 0, and its member.
pub fn check(field: &str, tag: &str, kinds: &[Kind], records: &[Record]) -> Result<(), Refusal> {
    for (place, Record(record)) in records.iter().enumerate() {
        one(tag, kinds, record).map_err(|fault| {
            let message = format!("`{field}[{place}]`: {fault}");
            Refusal::new(codes::INVALID_ARGUMENTS, message).with("index", place).field(field)
        })?;
    }
    Ok(())
}

fn one(tag: &str, kinds: &[Kind], record: &Map<String, Value>) -> Result<(), String> {
    let members = match kinds {
        [("", members)] => members,
        _ => kind_of(tag, kinds, record)?,
    };
    let known = |name: &str| members.iter().find(|(member, ..)| *member == name);
    for (name, value) in record.iter().filter(|(name, _)| tag.is_empty() || *name != tag) {
        let Some((_, rule, _)) = known(name) else {
            let accepted: Vec<&str> = members.iter().map(|(member, ..)| *member).collect();
            return Err(format!("`{name}` is not taken; accepted are {}", quoted(&accepted)));
        };
        if !rule.fits(value) {
            return Err(format!("`{name}` has to be {}", rule.words()));
        }
    }
    let missing = members.iter().find(|(name, _, needed)| *needed && !record.contains_key(*name));
    missing.map_or(Ok(()), |(name, ..)| Err(format!("`{name}` is missing")))
}

fn kind_of<'k>(
    tag: &str,
    kinds: &'k [Kind],
    record: &Map<String, Value>,
) -> Result<&'k &'static [Member], String> {
    let word = record.get(tag).and_then(Value::as_str);
    let found = kinds.iter().find(|(kind, _)| Some(*kind) == word);
    found.map(|(_, members)| members).ok_or_else(|| {
        let kinds: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
        format!("`{tag}` has to be one of {}", quoted(&kinds))
    })
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Rule {
    fn fits(self, value: &Value) -> bool {
        let whole = |value: &Value, least: i64, most: i64| {
            value.as_i64().is_some_and(|number| (least..=most).contains(&number))
        };
        match self {
            Rule::Flag => value.is_boolean(),
            Rule::Text(most) => value.as_str().is_some_and(|text| (1..=most).contains(&text.len())),
            Rule::Whole(least, most) => whole(value, least, most),
            Rule::Number(least, most) => {
                value.as_f64().is_some_and(|number| (least..=most).contains(&number))
            }
            Rule::Point => numbers(value, FLAT).is_some(),
            Rule::Point3(most) => numbers(value, DEEP).is_some_and(|all| within(&all, most)),
            Rule::Place(most) => place(value).is_some_and(|all| within(&all, most)),
            Rule::Size(most) => place(value)
                .is_some_and(|all| within(&all, most) && all.iter().all(|one| *one > 0.0)),
            Rule::Color => numbers(value, &["r", "g", "b"])
                .is_some_and(|all| all.iter().all(|one| (0.0..=1.0).contains(one))),
            Rule::Cell(least, most) => {
                cell(value, FLAT).is_some_and(|all| all.iter().all(|one| whole(one, least, most)))
            }
            Rule::Cell3(least, most) => {
                cell(value, DEEP).is_some_and(|all| all.iter().all(|one| whole(one, least, most)))
            }
        }
    }

    fn words(self) -> String {
        match self {
            Rule::Flag => "true or false".into(),
            Rule::Text(most) => format!("a text of 1 to {most} bytes"),
            Rule::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Rule::Number(least, most) if least.is_finite() => {
                format!("a number from {least} to {most}")
            }
            Rule::Number(..) => "a number".into(),
            Rule::Point => "`{x, y}` of numbers".into(),
            Rule::Point3(most) => format!("`{{x, y, z}}` of numbers within {most}"),
            Rule::Place(most) => format!("`{{x, y}}` or `{{x, y, z}}` of numbers within {most}"),
            Rule::Size(most) => {
                format!("`{{x, y}}` or `{{x, y, z}}` of numbers above 0 and within {most}")
            }
            Rule::Color => "`{r, g, b}` of numbers from 0 to 1".into(),
            Rule::Cell(least, most) => {
                format!("`[x, y]` or `{{x, y}}` of whole numbers from {least} to {most}")
            }
            Rule::Cell3(least, most) => {
                format!("`[x, y, z]` or `{{x, y, z}}` of whole numbers from {least} to {most}")
            }
        }
    }
}

const FLAT: &[&str] = &["x", "y"];
const DEEP: &[&str] = &["x", "y", "z"];

/// The members of an object that has these and no other.
fn members<'v>(value: &'v Value, names: &[&str]) -> Option<Vec<&'v Value>> {
    let members = value.as_object().filter(|members| members.len() == names.len())?;
    names.iter().map(|name| members.get(*name)).collect()
}

fn numbers(value: &Value, names: &[&str]) -> Option<Vec<f64>> {
    members(value, names)?.into_iter().map(Value::as_f64).collect()
}

fn place(value: &Value) -> Option<Vec<f64>> {
    numbers(value, FLAT).or_else(|| numbers(value, DEEP))
}

fn within(all: &[f64], most: f64) -> bool {
    all.iter().all(|one| one.abs() <= most)
}

/// The same as a list or as an object.
fn cell<'v>(value: &'v Value, names: &[&str]) -> Option<Vec<&'v Value>> {
    let listed = value.as_array().filter(|listed| listed.len() == names.len());
    listed.map(|listed| listed.iter().collect()).or_else(|| members(value, names))
}
