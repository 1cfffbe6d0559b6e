//! The list of commands, as a query wants it: filtered, sorted, cut to a page, then grouped.
//!
//! Spec: P-61, commands.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    command::{Command, Detail},
    reply::Reply,
};

/// The query of an address.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads what stands behind the `?`.
    pub fn read(text: &str) -> Self {
        Query(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// A value by its name, in any case; several of one name are joined by commas, as lists are. An empty one is none.
    pub fn get(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self.values(name).collect();
        Some(values.join(",")).filter(|value| !value.is_empty())
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let own = move |pair: &&(String, String)| pair.0.eq_ignore_ascii_case(name);
        self.0.iter().filter(own).map(|pair| pair.1.as_str())
    }

    /// `omit_nulls`, and a warning where it is something else than true or false.
    pub fn omit_nulls(&self) -> (bool, Option<String>) {
        const NAME: &str = "omit_nulls";
        if self.values(NAME).next().is_none() {
            return (false, None);
        }
        match self.get(NAME).unwrap_or_default().to_ascii_lowercase().as_str() {
            "true" => (true, None),
            "false" => (false, None),
            other => {
                let warning =
                    format!("Ignored omit_nulls value '{other}'. Accepted values: true, false");
                (false, Some(warning))
            }
        }
    }
}

/// What is listed, and how.
#[derive(Debug, Clone)]
pub struct Wish {
    detail: Detail,
    query: Option<String>,
    tag: Option<String>,
    group: Group,
    by_package: bool,
    descending: bool,
    offset: usize,
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Flat,
    Package,
    Tag,
}

impl Wish {
    /// Reads a query.
    ///
    /// # Errors
    /// The reply to a value that is none of the accepted ones.
    pub fn read(query: &Query) -> Result<Self, Reply> {
        let lower = |name| query.get(name).map(|text| text.to_lowercase());
        let compact = one_of(query, "detail", &["compact", "full"], 1)? == 0;
        let group = one_of(query, "group_by", &["flat", "package", "tag"], 0)?;
        Ok(Wish {
            detail: if compact { Detail::Compact } else { Detail::Full },
            query: lower("query"),
            tag: lower("tag"),
            group: [Group::Flat, Group::Package, Group::Tag][group],
            by_package: one_of(query, "sort", &["name", "package"], 0)? == 1,
            descending: one_of(query, "order", &["asc", "desc"], 0)? == 1,
            offset: count(query, "offset")?.unwrap_or(0),
            limit: count(query, "limit")?,
        })
    }

    fn wants(&self, command: &Command) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(part);
        let matches = self.query.as_deref().is_none_or(|part| {
            let tagged = command.tags.iter().any(|tag| has(tag, part));
            has(&command.name, part) || has(&command.description, part) || tagged
        });
        let below = |tag: &String, top: &str| {
            let tag = tag.to_lowercase();
            tag.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let in_tag =
            self.tag.as_deref().is_none_or(|top| command.tags.iter().any(|tag| below(tag, top)));
        matches && in_tag
    }

    fn sort(&self, found: &mut [&Command]) {
        found.sort_by(|one, other| {
            let name = one.name.cmp(&other.name);
            let order =
                if self.by_package { one.package.cmp(&other.package).then(name) } else { name };
            if self.descending { order.reverse() } else { order }
        });
    }
}

/// The place of a value among the accepted ones.
fn one_of(query: &Query, name: &str, accepted: &[&str], usual: usize) -> Result<usize, Reply> {
    let Some(value) = query.get(name) else { return Ok(usual) };
    let place = accepted.iter().position(|one| value.eq_ignore_ascii_case(one));
    place.ok_or_else(|| {
        let accepted = accepted.join(", ");
        let message = format!("Unknown {name} value '{value}'. Accepted values: {accepted}");
        Reply::invalid_request(message)
    })
}

fn count(query: &Query, name: &str) -> Result<Option<usize>, Reply> {
    let Some(value) = query.get(name) else { return Ok(None) };
    let number = value.parse::<u32>().ok().filter(|_| !value.starts_with('+'));
    let number = number.ok_or_else(|| {
        let message = format!("Unknown {name} value '{value}'. Expected a non-negative integer");
        Reply::invalid_request(message)
    })?;
    Ok(Some(number as usize))
}

/// The body of a list; `server` says who answers.
pub fn list(commands: &[Command], wish: &Wish, server: Value) -> Value {
    let mut found: Vec<&Command> = commands.iter().filter(|one| wish.wants(one)).collect();
    wish.sort(&mut found);
    let total = found.len();
    let most = wish.limit.unwrap_or(usize::MAX);
    let page: Vec<&Command> = found.into_iter().skip(wish.offset).take(most).collect();
    let mut body = Map::new();
    match wish.group {
        Group::Flat => body.insert("commands".into(), entries(&page, wish.detail)),
        Group::Package => body.insert("groups".into(), by_package(&page, wish.detail)),
        Group::Tag => body.insert("groups".into(), by_tag(&page, wish.detail)),
    };
    body.insert("count".into(), page.len().into());
    body.insert("total".into(), total.into());
    body.insert("offset".into(), wish.offset.into());
    body.insert("limit".into(), wish.limit.into());
    body.insert("server".into(), server);
    Value::Object(body)
}

fn entries(commands: &[&Command], detail: Detail) -> Value {
    commands.iter().map(|command| command.entry(detail)).collect()
}

fn by_package(page: &[&Command], detail: Detail) -> Value {
    let mut groups: BTreeMap<&str, Vec<&Command>> = BTreeMap::new();
    for command in page {
        groups.entry(&command.package).or_default().push(command);
    }
    let group = |(package, commands): (&str, Vec<&Command>)| json!({"package": package, "count": commands.len(), "commands": entries(&commands, detail)});
    groups.into_iter().map(group).collect()
}

/// A node of the tree of tags.
#[derive(Default)]
struct Node<'a> {
    commands: Vec<&'a Command>,
    children: BTreeMap<String, Node<'a>>,
}

impl Node<'_> {
    /// Entries in the subtree; a command counts once a tag.
    fn count(&self) -> usize {
        self.commands.len() + self.children.values().map(Node::count).sum::<usize>()
    }

    fn shown(&self, tag: &str, detail: Detail) -> Value {
        json!({
            "tag": tag,
            "count": self.count(),
            "commands": entries(&self.commands, detail),
            "children": self.shown_children(tag, detail),
        })
    }

    fn shown_children(&self, above: &str, detail: Detail) -> Value {
        let path = |name: &String| {
            if above.is_empty() { name.clone() } else { format!("{above}/{name}") }
        };
        self.children.iter().map(|(name, node)| node.shown(&path(name), detail)).collect()
    }
}

fn by_tag(page: &[&Command], detail: Detail) -> Value {
    let mut top = Node::default();
    for command in page {
        let untagged = [String::new()];
        let tags: &[String] = if command.tags.is_empty() { &untagged } else { &command.tags };
        for tag in tags {
            let node = tag
                .split('/')
                .fold(&mut top, |node, part| node.children.entry(part.to_owned()).or_default());
            node.commands.push(command);
        }
    }
    top.shown_children("", detail)
}

#[cfg(test)]
mod tests;
