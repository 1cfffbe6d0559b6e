use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::VisionPack;

fn kit() -> (tempfile::TempDir, Kit) {
    let dir = tempfile::tempdir().unwrap();
    let kit = Kit::open::<VisionPack>(dir.path()).mode(Mode::OfflineFallback);
    (dir, kit)
}

#[test]
fn the_stand_in_is_a_picture_and_says_that_it_is_no_frame() {
    let (_dir, kit) = kit();
    let answer = kit.call("viewport_capture_frame", &json!({})).unwrap();
    assert_eq!(answer["is_live_frame"], false);
    assert_eq!(answer["resolution"], json!({"width": 256, "height": 192}));
    assert_eq!(kit.record().attached[0].0, "image/png");
}

#[test]
fn the_picture_has_the_asked_size() {
    let png = super::grid(super::Size { width: 33, height: 17 }).unwrap();
    let decoder = png::Decoder::new(std::io::Cursor::new(png));
    let reader = decoder.read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (33, 17));
}

#[test]
fn what_only_an_engine_can_do_is_refused_with_the_way_out() {
    let (_dir, kit) = kit();
    let unknown =
        kit.call("viewport_capture_frame", &json!({"camera_identifier": "moon"})).unwrap_err();
    assert_eq!(
        (&*unknown.code.name, &unknown.data["field"]),
        ("not_found", &json!("camera_identifier"))
    );
    let branch = json!({"node_isolation_path": "/root/Main"});
    let branch = kit.call("viewport_capture_frame", &branch).unwrap_err();
    assert_eq!(branch.data["retry_with"], json!({"node_isolation_path": ""}));
}

#[test]
fn an_attached_engine_is_asked() {
    let (_dir, kit) = kit();
    let kit = kit.mode(Mode::Live).bridge(|method, params| {
        assert_eq!(
            (method, &params["camera_identifier"]),
            ("vision.captureViewport", &json!("editor_2d"))
        );
        Ok(json!({"is_live_frame": true}))
    });
    let answer =
        kit.call("viewport_capture_frame", &json!({"camera_identifier": "editor_2d"})).unwrap();
    assert_eq!(answer["is_live_frame"], true);
}
