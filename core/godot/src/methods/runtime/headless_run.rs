//! What a headless editor gives to the games that it starts: that there is no display, which it does not hand over by
//! itself. It is put into the editor's run arguments in memory, and taken back when the game was started; it is never saved.

use std::cell::RefCell;

use godot::{
    classes::{DisplayServer, ProjectSettings},
    prelude::*,
};

/// Arguments that the editor gives to a game.
const RUN_ARGUMENTS: &str = "editor/run/main_run_args";

/// What a game needs where there is no display.
const HEADLESS: &str = "--headless";

/// Where the arguments name the command that they belong to, what stands before it is another program's.
const COMMAND: &str = "%command%";

thread_local! {
    /// The change that is in memory now.
    static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct Change {
    before: Variant,
    with: Variant,
}

/// Changed arguments, until this is dropped.
pub(super) struct HeadlessRun(());

impl HeadlessRun {
    /// Where this editor has no display and its games would look for one.
    pub(super) fn begin() -> Option<Self> {
        if DisplayServer::singleton().get_name() != "headless" {
            return None;
        }
        let before = ProjectSettings::singleton().get_setting(RUN_ARGUMENTS);
        let with = with_headless(&before.stringify().to_string())?.to_variant();
        set(&with);
        CHANGE.set(Some(Change { before, with }));
        Some(HeadlessRun(()))
    }
}

impl Drop for HeadlessRun {
    fn drop(&mut self) {
        if let Some(change) = CHANGE.take() {
            replace(&change.with, &change.before);
        }
    }
}

/// Puts other arguments in the place of these. Whoever has set them meanwhile meant it.
fn replace(these: &Variant, others: &Variant) {
    if ProjectSettings::singleton().get_setting(RUN_ARGUMENTS) == *these {
        set(others);
    }
}

fn set(arguments: &Variant) {
    ProjectSettings::singleton().set_setting(RUN_ARGUMENTS, arguments);
}

/// Saves the project's settings without the change.
pub(crate) fn aside<T>(save: impl FnOnce() -> T) -> T {
    let Some(change) = CHANGE.with_borrow(Clone::clone) else { return save() };
    replace(&change.with, &change.before);
    let saved = save();
    replace(&change.before, &change.with);
    saved
}

/// The arguments with what is missing in front of the engine's own: behind a `--` of theirs it would be the game's.
fn with_headless(arguments: &str) -> Option<String> {
    let (program, own) = arguments.split_once(COMMAND).unwrap_or(("", arguments));
    let mut engines =
        own.split_whitespace().take_while(|argument| *argument != "--" && *argument != "++");
    if engines.any(|argument| argument == HEADLESS) {
        return None;
    }
    let command = if arguments.contains(COMMAND) { COMMAND } else { "" };
    Some(format!("{program}{command} {HEADLESS} {own}").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_told_in_front_of_what_is_the_games() {
        for (given, told) in [
            ("", Some("--headless")),
            ("--time-scale 2", Some("--headless --time-scale 2")),
            ("-- --headless", Some("--headless -- --headless")),
            ("++ --level=2", Some("--headless ++ --level=2")),
            ("prime-run %command% -- x", Some("prime-run %command% --headless  -- x")),
            ("%command%", Some("%command% --headless")),
            ("--verbose --headless -- x", None),
            ("prime-run %command% --headless", None),
        ] {
            assert_eq!(with_headless(given).as_deref(), told, "{given}");
        }
    }
}
