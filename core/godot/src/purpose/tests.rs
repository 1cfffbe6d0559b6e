use super::*;

fn kind(line: &str, is_editor: bool) -> Option<SessionKind> {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    session_kind(&arguments, is_editor, false)
}

#[test]
fn editors_and_games_open_a_session() {
    assert_eq!(kind("--headless --editor --path p", true), Some(SessionKind::Editor));
    assert_eq!(kind("--path p res://main.tscn", false), Some(SessionKind::Game));
    assert_eq!(kind("", false), Some(SessionKind::Game));
    assert_eq!(kind("--path p -- --script", false), Some(SessionKind::Game));
    assert_eq!(kind("--path p ++ -s", false), Some(SessionKind::Game));
}

#[test]
fn engines_on_an_errand_open_none() {
    for line in [
        "--headless --path p --import",
        "--headless --path p --export-pack Linux out.pck",
        "--headless --path p --export-debug Linux out",
        "--headless --path p -s run.gd",
        "--headless --path p --check-only --script run.gd",
        "--doctool out",
        "--dump-extension-api-with-docs",
    ] {
        assert_eq!(kind(line, true), None, "{line}");
        assert_eq!(kind(line, false), None, "{line}");
    }
}

#[test]
fn an_engine_that_was_asked_to_be_quiet_opens_none() {
    assert_eq!(session_kind(&[], true, true), None);
}

#[test]
fn a_game_begins_paused_when_its_own_arguments_say_so() {
    let paused =
        |line: &str| starts_paused(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    assert!(paused("--path p -- --didi-start-paused"));
    assert!(paused("--path p ++ --speed 2 --didi-start-paused"));
    assert!(!paused("--path p --didi-start-paused"));
    assert!(!paused("--path p --"));
}
