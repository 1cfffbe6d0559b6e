//! The guide for the model behind a client: a few lines between markers in the file that its client reads.
//!
//! Everything outside the markers is the project's. Claude Code reads `CLAUDE.md`, the others `AGENTS.md`; where the
//! former imports or is the latter, one block is enough.
//!
//! Spec: P-57, set-up and diagnosis.

use super::{
    clients::Client,
    report::{State, Step},
};
use crate::files::ProjectFiles;

#[cfg(test)]
mod tests;

/// What the block begins and ends with.
const BEGIN: &str =
    "<!-- BEGIN DIDI: written by `didi setup`, which replaces what stands up to END -->";
const END: &str = "<!-- END DIDI -->";

/// By these the markers are found, whatever an older version wrote behind the word.
const BEGIN_MARK: &str = "<!-- BEGIN DIDI";
const END_MARK: &str = "<!-- END DIDI";

/// What a model should know before its first call.
const GUIDE: &str = include_str!("guide/guide.md");

/// Where Claude Code and the others read.
const CLAUDE: &str = "res://CLAUDE.md";
const AGENTS: &str = "res://AGENTS.md";

/// Writes the guide for these clients.
pub(super) fn write(files: &ProjectFiles, clients: &[Client]) -> Vec<Step> {
    let mut places: Vec<&str> = clients.iter().map(|client| client.guide()).collect();
    if places.contains(&CLAUDE) && leads_to_agents(files) {
        places.retain(|place| *place != CLAUDE);
        places.push(AGENTS);
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| into(files, place)).collect()
}

/// Whether what Claude Code reads is, or takes in, what the others read.
fn leads_to_agents(files: &ProjectFiles) -> bool {
    let real = |path: &str| files.root().resolve(path).ok().map(|place| place.real().to_owned());
    let (claude, agents) = (real(CLAUDE), real(AGENTS));
    let canonical =
        |path: Option<std::path::PathBuf>| path.and_then(|path| path.canonicalize().ok());
    if let (Some(claude), Some(agents)) = (canonical(claude), canonical(agents))
        && claude == agents
    {
        return true;
    }
    let text = files.read(CLAUDE).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().any(|line| matches!(line.trim(), "@AGENTS.md" | "@./AGENTS.md"))
}

fn into(files: &ProjectFiles, place: &str) -> Step {
    let shown = place.trim_start_matches("res://");
    let step = format!("guide {shown}");
    let before = match super::read(files, place) {
        Ok(before) => before,
        Err(refusal) => return Step::refused(step, &refusal),
    };
    let after = match with_block(before.as_deref().unwrap_or_default()) {
        Ok(after) => after,
        Err(why) => {
            let seen = format!("`{shown}` is left as it is: {why}");
            let remedy =
                "leave one BEGIN DIDI line with one END DIDI line after it, or none at all";
            return Step::finding(step, State::Fail, "guide_markers", seen, remedy);
        }
    };
    if before.as_deref() == Some(after.as_bytes()) {
        return Step::new(step, State::Unchanged, format!("`{shown}` has the guide"));
    }
    match super::swap(files, place, before.as_deref(), after.as_bytes()) {
        Ok(_) => {
            Step::new(step, State::Done, format!("`{shown}` has the guide between its markers"))
        }
        Err(refusal) => Step::refused(step, &refusal),
    }
}

/// A text with the block in it: in the place of an older one, or at the end.
fn with_block(before: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(before).map_err(|_| "it is not UTF-8")?;
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = format!("{BEGIN}\n{}\n{END}", GUIDE.trim()).replace('\n', eol);
    let places =
        |mark: &str| -> Vec<usize> { text.match_indices(mark).map(|(at, _)| at).collect() };
    match (&places(BEGIN_MARK)[..], &places(END_MARK)[..]) {
        ([], []) => {
            let gap = match text {
                "" => String::new(),
                _ if text.ends_with('\n') => eol.to_owned(),
                _ => eol.repeat(2),
            };
            Ok(format!("{text}{gap}{block}{eol}"))
        }
        (&[begin], &[end]) if begin < end => {
            let close = text[end..].find("-->").ok_or("its END marker is not closed")?;
            Ok(format!("{}{block}{}", &text[..begin], &text[end + close + 3..]))
        }
        _ => Err("its markers are not one BEGIN before one END".into()),
    }
}
