//! Prompts: two walks through the tools, as advice.
//!
//! Spec: P-17, prompts.

use serde_json::{Map, Value, json};

use super::{
    discover::{KEEP_MS, complete},
    era::Terms,
    list::refuse_cursor,
};
use crate::{jsonrpc::ProtocolError, text::clip};

struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    text: &'static str,
}

struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
}

/// Longest argument value, in characters.
const MAX_VALUE_CHARS: usize = 4096;

const PROMPTS: [Prompt; 2] = [
    Prompt {
        name: "godot_debug_visual_anomaly",
        title: "Debug a visual anomaly",
        description: "Finds out why something in a Godot project looks wrong, from its files first.",
        arguments: &[
            Argument {
                name: "target_resource_path",
                description: "res:// path of the scene or resource that looks wrong",
                required: true,
            },
            Argument {
                name: "symptom_description",
                description: "What is seen, and what was expected",
                required: false,
            },
        ],
        text: include_str!("../../data/prompt_visual_anomaly.txt"),
    },
    Prompt {
        name: "godot_generate_gameplay_slice",
        title: "Build a gameplay slice",
        description: "Builds one small playable feature in a Godot project, a checked step at a time.",
        arguments: &[
            Argument {
                name: "feature_name",
                description: "Short name of the feature",
                required: true,
            },
            Argument {
                name: "requirements",
                description: "What the feature has to do",
                required: true,
            },
        ],
        text: include_str!("../../data/prompt_gameplay_slice.txt"),
    },
];

/// `prompts/list`.
pub(super) fn list(terms: &Terms, params: &Map<String, Value>) -> Result<Value, ProtocolError> {
    refuse_cursor(params)?;
    let prompts: Vec<Value> = PROMPTS.iter().map(listed).collect();
    Ok(complete(terms, json!({"prompts": prompts}), Some((KEEP_MS, "public"))))
}

/// `prompts/get`.
pub(super) fn get(terms: &Terms, params: &Map<String, Value>) -> Result<Value, ProtocolError> {
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(ProtocolError::params("`name` has to be a string"));
    };
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else {
        let message = format!("Unknown prompt: {}", clip(name));
        return Err(ProtocolError::params(message).data(json!({"name": name})));
    };
    let empty = Map::new();
    let arguments = match params.get("arguments") {
        None => &empty,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(ProtocolError::params("`arguments` has to be an object")),
    };
    check(prompt, arguments)?;
    let text = fill(prompt, arguments);
    let result = json!({
        "description": prompt.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    });
    Ok(complete(terms, result, None))
}

fn listed(prompt: &Prompt) -> Value {
    let arguments: Vec<Value> = (prompt.arguments.iter())
        .map(|one| json!({"name": one.name, "description": one.description, "required": one.required}))
        .collect();
    json!({
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": arguments,
    })
}

fn check(prompt: &Prompt, arguments: &Map<String, Value>) -> Result<(), ProtocolError> {
    let accepted: Vec<&str> = prompt.arguments.iter().map(|one| one.name).collect();
    let fault = |argument: &str, message: String| {
        let data = json!({"argument": argument, "prompt": prompt.name, "accepted": accepted});
        Err(ProtocolError::params(message).data(data))
    };
    for (name, value) in arguments {
        if !accepted.contains(&name.as_str()) {
            return fault(name, format!("`{}` takes no argument `{}`", prompt.name, clip(name)));
        }
        match value.as_str() {
            Some(text) if text.chars().count() <= MAX_VALUE_CHARS => {}
            Some(_) => {
                return fault(name, format!("`{name}` has more than {MAX_VALUE_CHARS} characters"));
            }
            None => return fault(name, format!("`{name}` has to be a string")),
        }
    }
    let given = |name: &str| {
        arguments.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    match prompt.arguments.iter().find(|one| one.required && !given(one.name)) {
        Some(missing) => {
            fault(missing.name, format!("`{}` needs the argument `{}`", prompt.name, missing.name))
        }
        None => Ok(()),
    }
}

/// Puts the values in; lines about an argument that was not given fall away.
fn fill(prompt: &Prompt, arguments: &Map<String, Value>) -> String {
    let mut lines = vec![];
    for line in prompt.text.lines() {
        let mut line = line.to_owned();
        let mut keep = true;
        for argument in prompt.arguments {
            let place = format!("{{{}}}", argument.name);
            match arguments.get(argument.name).and_then(Value::as_str) {
                Some(value) => line = line.replace(&place, value),
                None => keep &= !line.contains(&place),
            }
        }
        if keep {
            lines.push(line);
        }
    }
    lines.join("\n")
}
