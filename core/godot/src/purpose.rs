//! What this engine was started for: only an editor that stays and a game that plays open a session.

use didi_wire::SessionKind;

#[cfg(test)]
mod tests;

/// Options after which an engine does one thing and ends.
const ERRANDS: [&str; 17] = [
    "--import",
    "--export-release",
    "--export-debug",
    "--export-pack",
    "--export-patch",
    "--install-android-build-template",
    "--check-only",
    "--script",
    "-s",
    "--doctool",
    "--gdscript-docs",
    "--gdextension-docs",
    "--dump-extension-api",
    "--dump-extension-api-with-docs",
    "--dump-gdextension-interface",
    "--validate-extension-api",
    "--build-solutions",
];

/// The game's own argument by which it is started paused.
const START_PAUSED: &str = "--didi-start-paused";

/// Whether the game is to stand still from its first frame on: who started it will step it.
pub(crate) fn starts_paused(arguments: &[String]) -> bool {
    let own = arguments.iter().skip_while(|argument| !matches!(argument.as_str(), "--" | "++"));
    own.skip(1).any(|argument| argument == START_PAUSED)
}

/// The kind of session that such an engine opens, if any.
pub(crate) fn session_kind(
    arguments: &[String],
    is_editor: bool,
    is_quiet: bool,
) -> Option<SessionKind> {
    // What follows is the game's own.
    let own = arguments.iter().take_while(|argument| !matches!(argument.as_str(), "--" | "++"));
    let errand = own.map(|argument| argument.split('=').next().unwrap_or_default());
    if is_quiet || errand.into_iter().any(|argument| ERRANDS.contains(&argument)) {
        return None;
    }
    Some(if is_editor { SessionKind::Editor } else { SessionKind::Game })
}
