//! Pictures through the server, looked at by their pixels, under a display that nobody sees.

use didi_plugin_api::testkit::real_engine;
use didi_tests::{
    Caller, Project,
    live::{Display, Engine},
    server::PATIENCE,
};
use serde_json::{Value, json};

/// The left half is red and the right one blue.
const HALVES: &str = "[gd_scene format=3]\n\n[node name=\"Halves\" type=\"Control\"]\nanchor_right = 1.0\nanchor_bottom = 1.0\n\n\
    [node name=\"Left\" type=\"ColorRect\" parent=\".\"]\nanchor_right = 0.5\nanchor_bottom = 1.0\ncolor = Color(1, 0, 0, 1)\n\n\
    [node name=\"Right\" type=\"ColorRect\" parent=\".\"]\nanchor_left = 0.5\nanchor_right = 1.0\nanchor_bottom = 1.0\n\
    color = Color(0, 0, 1, 1)\n";

/// A picture, row by row.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    bytes: Vec<u8>,
}

impl Picture {
    /// The picture in a result of the tool.
    pub(crate) fn of(result: &Value) -> Self {
        let parts = result["content"].as_array().unwrap();
        let part = parts.iter().find(|part| part["type"] == "image");
        let part = part.unwrap_or_else(|| panic!("no picture: {result}"));
        assert_eq!(part["mimeType"], "image/png");
        let engine = &base64::engine::general_purpose::STANDARD;
        let png = base64::Engine::decode(engine, part["data"].as_str().unwrap()).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgba);
        let side = |length: u32| usize::try_from(length).unwrap();
        Picture { width: side(info.width), height: side(info.height), bytes }
    }

    /// A pixel by its place in hundredths of the picture's sides.
    pub(crate) fn at(&self, x: usize, y: usize) -> [u8; 4] {
        let pixel = (self.height * y / 100) * self.width + self.width * x / 100;
        self.bytes[pixel * 4..][..4].try_into().unwrap()
    }
}

/// Asks until the engine has drawn what is wanted.
fn captured(caller: &mut Caller, arguments: &Value, is_drawn: impl Fn(&Picture) -> bool) -> Value {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let result = caller.result("viewport_capture_frame", arguments);
        assert_eq!(result["isError"], false, "{result}");
        if is_drawn(&Picture::of(&result)) {
            return result;
        }
        assert!(std::time::Instant::now() < end, "that was not drawn");
    }
}

#[test]
fn a_frame_of_a_game_and_of_an_editor_has_the_colours_of_the_scene() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("halves.tscn", HALVES);
    let text = project.text("project.godot").unwrap();
    project.write("project.godot", text.replace("res://levels/meadow.tscn", "res://halves.tscn"));
    let display = Display::start();
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    let (red, blue) = ([255, 0, 0, 255], [0, 0, 255, 255]);
    let halves = |picture: &Picture| {
        let column = |x| [10, 50, 90].map(|y| picture.at(x, y));
        column(10) == [red; 3] && column(45) == [red; 3] && column(55) == [blue; 3]
    };
    let result = captured(&mut caller, &json!({}), halves);
    let data = &result["structuredContent"];
    assert_eq!((&data["is_live_frame"], &data["session"]["kind"]), (&json!(true), &json!("game")));
    let picture = Picture::of(&result);
    assert_eq!((picture.width, picture.height), (640, 360));
    drop(game);

    let Some(_editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://halves.tscn"}));
    let flat = json!({"camera_identifier": "editor_2d", "select_main_screen": true});
    let holds =
        |picture: &Picture, colour| (0..100).any(|x| (0..100).any(|y| picture.at(x, y) == colour));
    captured(&mut caller, &flat, |picture| holds(picture, red) && holds(picture, blue));
}
