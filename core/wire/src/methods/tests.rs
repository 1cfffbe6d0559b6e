use serde_json::json;

use super::*;

fn method(name: &str) -> &'static Method {
    let Lookup::Method(method) = lookup(name) else { panic!("{name} is no method") };
    method
}

#[test]
fn both_lists_are_sorted_and_name_nothing_twice() {
    assert!(METHODS.windows(2).all(|pair| pair[0].name < pair[1].name));
    assert!(OFFLINE_ONLY.is_sorted());
    for name in OFFLINE_ONLY {
        assert!(!METHODS.iter().any(|method| method.name == *name), "{name}");
    }
}

#[test]
fn every_name_is_an_area_and_a_verb() {
    for method in METHODS {
        let (area, verb) = method.name.split_once('.').unwrap();
        assert!(area.chars().all(|letter| letter.is_ascii_lowercase()), "{}", method.name);
        assert!(verb.starts_with(|letter: char| letter.is_ascii_lowercase()), "{}", method.name);
    }
}

#[test]
fn only_reads_are_repeated() {
    let no_params = Map::new();
    assert!(method("scene.getHierarchy").may_repeat(&no_params));
    assert!(!method("scene.setProperty").may_repeat(&no_params));
    assert!(!method("editor.undo").may_repeat(&no_params));
}

#[test]
fn what_adds_to_the_view_is_not_repeated_and_what_replaces_it_is() {
    let ghosts = method("preview.renderGhost");
    let params = |value: Value| value.as_object().unwrap().clone();
    assert!(ghosts.may_repeat(&Map::new()));
    assert!(ghosts.may_repeat(&params(json!({"replace": true}))));
    assert!(!ghosts.may_repeat(&params(json!({"replace": false}))));
    assert!(!ghosts.may_repeat(&params(json!({"replace": "yes"}))));
}

#[test]
fn kinds_are_those_of_the_contract() {
    let games = ["runtime.setPaused", "runtime.step", "runtime.stop", "runtime.injectInput"];
    let games = games.iter().chain(&["runtime.watchInvariants", "runtime.exploreScene"]);
    for name in games.chain(&["anim.playTrack"]) {
        assert_eq!(method(name).kinds, Kinds::GAME, "{name}");
    }
    let reads = ["runtime.getLogs", "runtime.getOutput", "runtime.getTree", "ui.hitTest"];
    for name in reads.iter().chain(&["audio.configureBus", "engine.classExists", "nav.queryPath"]) {
        assert_eq!(method(name).kinds, Kinds::BOTH, "{name}");
    }
    assert_eq!(method("scene.open").kinds, Kinds::EDITOR);
    assert_eq!(Kinds::BOTH.iter().collect::<Vec<_>>(), [SessionKind::Editor, SessionKind::Game]);
    assert_eq!(Kinds::GAME.iter().collect::<Vec<_>>(), [SessionKind::Game]);
}

#[test]
fn nothing_that_changes_is_answered_beside_the_main_thread() {
    for method in METHODS.iter().filter(|method| method.thread != Thread::Main) {
        assert_eq!(method.effect, Effect::Reads, "{}", method.name);
    }
    assert_eq!(method("asset.reimportStatus").thread, Thread::Bridge);
}

#[test]
fn a_game_that_may_stand_is_answered_for_beside_its_main_thread() {
    let stack = method("runtime.getCallStack");
    assert_eq!(stack.effect, Effect::Reads);
    assert!(stack.thread.is_main(SessionKind::Editor));
    assert!(!stack.thread.is_main(SessionKind::Game));
    assert!(method("runtime.stop").thread.is_main(SessionKind::Game));
    assert!(!method("runtime.getLogs").thread.is_main(SessionKind::Editor));
}

#[test]
fn a_watched_window_is_waited_for_and_bounded() {
    let extra = |name: &str, params: Value| method(name).extra_time(params.as_object().unwrap());
    let window = json!({"duration_ms": 30_000, "timeout_seconds": 7});
    assert_eq!(extra("runtime.watchInvariants", window.clone()), Duration::from_secs(30));
    assert_eq!(extra("scene.callMethod", window.clone()), Duration::from_secs(7));
    assert_eq!(extra("runtime.controlDebugger", json!({})), Duration::from_secs(15));
    assert_eq!(extra("scene.open", window), Duration::ZERO);
    assert_eq!(extra("scene.callMethod", json!({"timeout_seconds": 1e30})), Duration::ZERO);
    assert_eq!(extra("scene.callMethod", json!({"timeout_seconds": u64::MAX})), MAX_EXTRA_TIME);
}

#[test]
fn other_names_are_told_apart() {
    assert_eq!(lookup("script.reflectClass"), Lookup::OfflineOnly);
    assert_eq!(lookup("scene.teleport"), Lookup::Unknown);
    assert_eq!(lookup(""), Lookup::Unknown);
}
