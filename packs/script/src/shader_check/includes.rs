//! A shader and everything that it includes, each file once.
//!
//! Spec: P-53, scripts.

use std::collections::{BTreeSet, VecDeque};

use didi_plugin_api::prelude::*;

use super::Diagnostic;

/// Largest shader file, in bytes.
const MAX_SHADER_BYTES: u64 = 4 << 20;
/// Files of one shader.
const MAX_FILES: usize = 256;

/// One file.
pub(super) struct File {
    /// `res://` path.
    pub(super) path: String,
    pub(super) text: String,
}

/// What was found, the shader itself first.
pub(super) struct Sources {
    pub(super) files: Vec<File>,
    pub(super) problems: Vec<Diagnostic>,
    /// Why a copy can't be what the engine would compile in the project.
    pub(super) differs: Option<String>,
}

/// Reads a shader and what it includes. Only the shader itself can be refused.
pub(super) fn gather(ctx: &Ctx<'_>, shader: &ProjectPath) -> Result<Sources, Refusal> {
    let mut found = Sources { files: vec![], problems: vec![], differs: None };
    let mut seen = BTreeSet::from([shader.res_path()]);
    let mut open = VecDeque::from([read(ctx, shader)?]);
    while let Some(file) = open.pop_front() {
        ctx.check()?;
        for (line, name) in named(&file.text) {
            let Some(path) = resolved(&file.path, &name) else {
                let message = format!(
                    "the include `{name}` was not followed: in a copy only paths lead to a file"
                );
                found.problems.push(Diagnostic {
                    severity: "warning",
                    rule: "include_not_followed",
                    message: message.clone(),
                    path: file.path.clone(),
                    line: Some(line),
                });
                found.differs = Some(message);
                continue;
            };
            let place = ctx.project().resolve(&path, "shader_path");
            let included = place.and_then(|place| {
                let first = seen.insert(place.res_path());
                if first && seen.len() <= MAX_FILES {
                    read(ctx, &place).map(Some)
                } else {
                    Ok(None)
                }
            });
            match included {
                Ok(Some(included)) => open.push_back(included),
                Ok(None) => {}
                Err(why) => found.problems.push(Diagnostic {
                    severity: "error",
                    rule: "include",
                    message: format!("the include `{name}` can't be followed: {}", why.message),
                    path: file.path.clone(),
                    line: Some(line),
                }),
            }
        }
        found.files.push(file);
    }
    Ok(found)
}

fn read(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<File, Refusal> {
    let bytes = ctx.project().read(place, MAX_SHADER_BYTES)?;
    let path = place.res_path();
    let Ok(text) = String::from_utf8(bytes) else {
        let message = format!("`{path}` is not UTF-8 text");
        return Err(Refusal::new(codes::BINARY_OR_INVALID_UTF8, message).field("shader_path"));
    };
    Ok(File { path, text })
}

/// The includes of a text, each with its line from 1. Those in comments are none.
fn named(text: &str) -> Vec<(usize, String)> {
    let mut found = vec![];
    let mut in_comment = false;
    for (number, line) in text.lines().enumerate() {
        let code = without_comments(line, &mut in_comment);
        let rest = code.trim_start().strip_prefix('#').map(str::trim_start);
        let name = rest.and_then(|rest| rest.strip_prefix("include")).map(str::trim_start);
        let name = name.and_then(|name| name.strip_prefix('"')?.split_once('"'));
        found.extend(name.map(|(name, _)| (number + 1, name.to_owned())));
    }
    found
}

/// A line less its comments. A `//` inside quotes, such as that of `res://`, begins none.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        if *in_comment {
            let Some(end) = rest.find("*/") else { return code };
            *in_comment = false;
            rest = &rest[end + 2..];
            continue;
        }
        if !quoted && rest.starts_with("//") {
            return code;
        }
        if !quoted && rest.starts_with("/*") {
            *in_comment = true;
            rest = &rest[2..];
            continue;
        }
        quoted ^= letter == '"';
        code.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    code
}

/// The `res://` path of an include, which may be given from the folder of its file; none for a uid.
fn resolved(from: &str, name: &str) -> Option<String> {
    if name.starts_with("uid://") {
        return None;
    }
    if name.starts_with("res://") {
        return Some(name.to_owned());
    }
    let mut parts: Vec<&str> = from.strip_prefix("res://")?.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(format!("res://{}", parts.join("/")))
}
