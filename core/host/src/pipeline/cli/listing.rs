//! `didi command` without a name: the commands of an instance, or their tags.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    link::{Link, within},
    outcome::{self, Trouble},
    output::Report,
};
use crate::{
    cancel::Cancel,
    cli::{
        Options,
        client::{CommandOptions, ListingOptions},
    },
};

/// Lists.
pub fn run(options: &Options, wish: &CommandOptions, cancel: &Cancel) -> Result<Report, Trouble> {
    let link = Link::open(options, &wish.target, cancel)?;
    let answer = link.get(&path(&wish.listing), within(wish.limit()))?;
    let body = outcome::body_of(&answer)?;
    if answer.status != 200 {
        return Err(outcome::refused(&answer, &body, "commands"));
    }
    let mut report = if wish.listing.tags {
        let tags = tags(&body);
        Report::of("command", json!({"tags": tags, "target": link.target()}), tags)
    } else {
        let view = view(&body, &wish.listing);
        let mut data = body.clone();
        data["target"] = link.target();
        Report::of("command", data, view)
    };
    report.warnings.extend(super::command::texts(&body["warnings"]));
    Ok(report)
}

/// The path with its query; what was not given is left to the instance, but for the amount.
fn path(wish: &ListingOptions) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("detail", wish.detail.as_deref().unwrap_or("compact"));
    let texts = [
        ("query", &wish.query),
        ("tag", &wish.tag),
        ("group_by", &wish.group_by),
        ("sort", &wish.sort),
        ("order", &wish.order),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    for (name, value) in [("offset", wish.offset), ("limit", wish.limit)] {
        if let Some(value) = value {
            query.append_pair(name, &value.to_string());
        }
    }
    format!("/api/commands?{}", query.finish())
}

/// Every tag with how many commands have it or one below it, in the order of the tags.
fn tags(body: &Value) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for command in body["commands"].as_array().into_iter().flatten() {
        let tags = command["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut own: Vec<&str> = tags.flat_map(with_parents).collect();
        own.sort_unstable();
        own.dedup();
        for tag in own {
            *counts.entry(tag).or_default() += 1;
        }
    }
    counts.into_iter().map(|(tag, count)| json!({"tag": tag, "commands": count})).collect()
}

/// `assets/import` and `assets`.
fn with_parents(tag: &str) -> Vec<&str> {
    let ends = tag.match_indices('/').map(|(at, _)| &tag[..at]);
    ends.chain([tag]).collect()
}

/// What people read of a list: names with what they do, or the groups as they are.
fn view(body: &Value, wish: &ListingOptions) -> Value {
    let Some(commands) = body["commands"].as_array() else { return body["groups"].clone() };
    if wish.detail.as_deref() == Some("full") {
        let full = commands.iter().map(|command| {
            let name = command["name"].as_str().unwrap_or_default();
            json!({"usage": outcome::usage(name, command), "description": command["description"]})
        });
        return full.collect();
    }
    let short = commands.iter().map(|command| {
        let description = command["description"].as_str().unwrap_or_default();
        let first = description.split_inclusive(". ").next().unwrap_or_default().trim_end();
        json!({"name": command["name"], "tags": command["tags"], "description": first})
    });
    short.collect()
}
