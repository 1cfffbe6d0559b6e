//! What is there of an autoload before it is set.

use didi_plugin_api::testkit::Kit;

use super::*;
use crate::ProjectPack;

#[test]
fn the_preview_shows_what_would_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods, reason = "lays a plain file out for the test")]
    std::fs::write(folder.path().join("clock.gd"), "extends Node\n").unwrap();
    let kit = Kit::open::<ProjectPack>(folder.path()).mode(Mode::Live).bridge(|method, _| {
        assert_eq!(method, list_autoloads::METHOD);
        Ok(json!({"autoloads": [{"name": "Score", "path": "res://s.gd", "singleton": true}]}))
    });
    let args = |name: &str, path: &str, replace: bool| json!({"name": name, "path": path, "replace": replace});
    let preview = |args: &Value| kit.preview("project_set_autoload", args);
    let fresh = preview(&args("Clock", "res://clock.gd", false)).unwrap();
    assert_eq!((fresh.exists, fresh.before), (false, Value::Null));
    let taken = preview(&args("Score", "res://clock.gd", false)).unwrap_err();
    assert_eq!(
        (taken.code, &taken.data["retry_with"]),
        (codes::ALREADY_EXISTS, &json!({"replace": true}))
    );
    let replaced = preview(&args("Score", "res://clock.gd", true)).unwrap();
    assert_eq!((replaced.exists, &replaced.before["path"]), (true, &json!("res://s.gd")));
    let gone = preview(&args("Clock", "res://gone.gd", false)).unwrap_err();
    assert_eq!(gone.code, codes::NOT_FOUND);
}
