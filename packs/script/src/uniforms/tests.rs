//! What the tools of scripts and shaders on nodes send to the editor.

use std::sync::{Arc, Mutex};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScriptPack;

#[test]
fn each_tool_sends_its_arguments_and_an_edit_leaves_a_save() {
    let folder = tempfile::tempdir().unwrap();
    let sent = Arc::new(Mutex::new(vec![]));
    let asked = Arc::clone(&sent);
    let kit =
        Kit::open::<ScriptPack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            asked.lock().unwrap().push((method.to_owned(), params.clone()));
            let reads = ["shader.listUniforms", "shader.getVisualGraph"].contains(&method);
            Ok(if reads {
                json!({"truncated": true})
            } else {
                json!({"scene_saved": false, "before": {"script": "res://a.gd"}})
            })
        });
    let held = json!({"target_node": "A", "property_name": "material"});
    let mut write = held.clone();
    write["uniform_name"] = "glow".into();
    write["value"] = Value::Null;
    for (tool, method, args, edits) in [
        ("script_detach_from_node", "script.detachFromNode", json!({"target_node": "A"}), true),
        ("shader_list_uniforms", "shader.listUniforms", held.clone(), false),
        ("shader_get_visual_graph", "shader.getVisualGraph", held, false),
        ("shader_set_uniform", "shader.setUniform", write, true),
    ] {
        let answer = kit.answer(tool, &args).unwrap();
        let facts: &[Fact] = if edits { &[Fact::SceneSaved(false)] } else { &[] };
        assert_eq!(answer.facts, facts, "{tool}");
        assert_eq!(answer.truncated, (!edits).then_some(true), "{tool}");
        assert_eq!(sent.lock().unwrap().pop().unwrap(), (method.to_owned(), args.clone()));
        if edits {
            assert_eq!(kit.preview(tool, &args).unwrap().before["script"], "res://a.gd");
            let (asked, probe) = sent.lock().unwrap().pop().unwrap();
            assert_eq!(
                (asked.as_str(), &probe["mutation"]["method"]),
                ("scene.getProperty", &json!(method))
            );
            assert_eq!(probe["mutation"]["params"], args);
        }
    }
}
