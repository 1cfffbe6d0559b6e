//! Pictures of a game and of an editor, under a display that nobody sees.

use didi_plugin_api::testkit::real_engine;
use didi_tests::{
    Project,
    live::{Client, Display, Engine},
    until,
};
use serde_json::{Value, json};

/// The pixels of an answer's picture: width, height, and four bytes each.
fn pixels(answer: &Value) -> (u32, u32, Vec<u8>) {
    assert_eq!(answer["image"]["mime_type"], "image/png");
    let data = answer["image"]["data"].as_str().unwrap();
    let picture = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes)
}

/// Asks until the engine has drawn something.
fn captured(client: &mut Client, mut is_drawn: impl FnMut(&[u8]) -> bool) -> (u32, u32, Vec<u8>) {
    until("such a picture", || {
        let picture = pixels(&client.done("vision.captureViewport", json!({})));
        is_drawn(&picture.2).then_some(picture)
    })
}

#[test]
fn a_game_is_seen_as_it_is_drawn() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write(
        "red.tscn",
        "[gd_scene format=3]\n\n[node name=\"Red\" type=\"ColorRect\"]\nanchor_right = 1.0\nanchor_bottom = 1.0\n\
         color = Color(1, 0, 0, 1)\n",
    );
    project.set_main_scene("res://red.tscn");
    let display = Display::start();
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let red = |bytes: &[u8]| bytes.chunks_exact(4).all(|pixel| pixel == [255, 0, 0, 255]);
    let (width, height, _) = captured(&mut game.connect(), red);
    assert_eq!((width, height), (640, 360));
}

#[test]
fn an_editor_shows_its_view_and_a_headless_one_none() {
    let project = Project::sample();
    let Some(headless) = Engine::editor(&project) else { return };
    let mut client = headless.connect();
    let refused = client.ask("vision.captureViewport", json!({})).unwrap_err();
    assert_eq!((refused.code, refused.code_name()), (409, Some("headless_engine")));
    assert_eq!(refused.data["display_driver"], "headless");
    drop(headless);
    let display = Display::start();
    let Some(editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut client = editor.connect();
    client.done("scene.open", json!({"scene_path": "res://levels/meadow.tscn"}));
    let varied = |bytes: &[u8]| bytes.chunks_exact(4).any(|pixel| pixel != &bytes[..4]);
    let (width, height, _) = captured(&mut client, varied);
    assert!(width > 100 && height > 100, "{width} {height}");
    let deep = json!({"camera_identifier": "3d", "select_main_screen": true});
    let deep = client.done("vision.captureViewport", deep);
    assert_eq!(deep["camera_identifier"], "editor_3d", "{deep}");
    let screens = (&deep["main_screen_selected"], &deep["previous_main_screen"]);
    assert_eq!(screens, (&json!("3D"), &json!("2D")));
    assert_eq!(deep["main_screen_restored"], true);
    assert!(varied(&pixels(&deep).2));
    let again = client.done("vision.captureViewport", json!({}));
    assert_eq!(again["camera_identifier"], "editor_2d", "{again}");
    let unknown = json!({"camera_identifier": "moon"});
    assert_eq!(client.refused("vision.captureViewport", unknown).0, 404);
}
