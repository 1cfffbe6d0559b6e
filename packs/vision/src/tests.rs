//! What the live tools of pictures send to the engine, and what they refuse before they send anything.

use std::sync::{Arc, Mutex};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::VisionPack;

type Sent = Arc<Mutex<Vec<(String, Value)>>>;

/// A kit whose engine takes everything, and what it was asked.
fn engine() -> (tempfile::TempDir, Kit, Sent) {
    let folder = tempfile::tempdir().unwrap();
    let sent = Sent::default();
    let asked = Arc::clone(&sent);
    let kit =
        Kit::open::<VisionPack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            asked.lock().unwrap().push((method.to_owned(), params.clone()));
            Ok(json!({"before": {"fov": 75}}))
        });
    (folder, kit, sent)
}

#[test]
fn arguments_are_sent_with_their_defaults_and_nothing_else() {
    let (_folder, kit, sent) = engine();
    let id = "0".repeat(32);
    let ghost = json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1}});
    let place = json!({"camera_path": "Eye", "position": {"x": 1.0, "y": 2.0, "z": 3.0}});
    for (tool, args, wanted) in [
        ("viewport_set_camera_transform", place.clone(), place),
        (
            "viewport_toggle_debug_draw",
            json!({"navigation_mesh": true}),
            json!({"navigation_mesh": true}),
        ),
        (
            "editor_render_ghost_preview",
            json!({"previews": [ghost]}),
            json!({"previews": [ghost], "replace": true}),
        ),
        ("editor_clear_ghost_previews", json!({}), json!({})),
        (
            "viewport_diff_capture",
            json!({"baseline_capture_id": id}),
            json!({"baseline_capture_id": id, "threshold": 0, "camera_identifier": "active_editor_view",
                   "node_isolation_path": "", "isolation_background": "original", "select_main_screen": false}),
        ),
    ] {
        kit.call(tool, &args).unwrap();
        assert_eq!(sent.lock().unwrap().pop().unwrap().1, wanted, "{tool}");
    }
    let target =
        kit.preview("viewport_toggle_debug_draw", &json!({"collision_shapes": true})).unwrap();
    assert_eq!(target.before["fov"], 75);
    let (method, probe) = sent.lock().unwrap().pop().unwrap();
    assert_eq!(
        (method.as_str(), &probe["mutation"]["method"]),
        ("scene.getProperty", &json!("vision.toggleDebugDraw"))
    );
}

#[test]
fn what_can_not_be_drawn_or_placed_is_refused_before_it_is_sent() {
    let (_folder, kit, sent) = engine();
    let ghost = |more: Value| {
        let mut ghost = json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1}});
        ghost.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"previews": [ghost]})
    };
    let deep = json!({"position": {"x": 0, "y": 0, "z": 0}, "size": {"x": 1, "y": 1, "z": 1}});
    let flat = json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1}});
    let camera = |more: Value| {
        let mut camera = json!({"camera_path": "Eye", "position": {"x": 0, "y": 0, "z": 0}});
        camera.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        camera
    };
    for (tool, args, field) in [
        ("editor_render_ghost_preview", ghost(json!({"size": {"x": 1, "y": 0}})), "previews"),
        ("editor_render_ghost_preview", ghost(json!({"kind": "wish"})), "previews"),
        (
            "editor_render_ghost_preview",
            ghost(json!({"color": {"r": 2, "g": 0, "b": 0}})),
            "previews",
        ),
        (
            "editor_render_ghost_preview",
            ghost(json!({"rotation_degrees": {"x": 0, "y": 1, "z": 0}})),
            "previews",
        ),
        ("editor_render_ghost_preview", json!({"previews": [deep, flat]}), "previews"),
        ("viewport_toggle_debug_draw", json!({"wireframe": false}), "collision_shapes"),
        (
            "viewport_set_camera_transform",
            camera(json!({"position": {"x": 1e7, "y": 0, "z": 0}})),
            "position",
        ),
        (
            "viewport_set_camera_transform",
            camera(json!({"rotation_degrees": {"x": 1e6, "y": 0, "z": 0}})),
            "rotation_degrees",
        ),
    ] {
        let refusal = kit.call(tool, &args).unwrap_err();
        assert_eq!(
            (refusal.code.status, &refusal.data["field"]),
            (400, &json!(field)),
            "{tool} {args}"
        );
    }
    assert!(kit.call("viewport_diff_capture", &json!({})).is_err());
    assert!(sent.lock().unwrap().is_empty(), "nothing of it was sent");
}
