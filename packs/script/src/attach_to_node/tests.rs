//! What a script is attached to, and what the preview looks at.

use didi_plugin_api::testkit::Kit;

use super::*;
use crate::ScriptPack;

#[test]
fn the_preview_wants_a_script_that_is_there_and_reads_the_node() {
    let folder = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods, reason = "lays a plain file out for the test")]
    std::fs::write(folder.path().join("a.gd"), "extends Node\n").unwrap();
    let kit = Kit::open::<ScriptPack>(folder.path()).mode(Mode::Live).bridge(|method, params| {
        assert_eq!((method, &params["root_path"]), (HIERARCHY, &json!("Lamp")));
        Ok(json!({"scene_tree": {"name": "Lamp"}}))
    });
    let args = |script: &str| json!({"target_node": "Lamp", "script_path": script});
    let target = kit.preview("script_attach_to_node", &args("res://a.gd")).unwrap();
    assert_eq!(target.before["node"]["name"], "Lamp");
    assert_eq!(target.before["script"]["exists"], true);
    let refusal = kit.preview("script_attach_to_node", &args("res://b.gd")).unwrap_err();
    assert_eq!(refusal.code, codes::NOT_FOUND);
}
