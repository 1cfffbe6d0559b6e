//! Pictures through the server, looked at by their pixels, under a display that nobody sees.

use didi_plugin_api::testkit::real_engine;
use didi_tests::{
    Caller, Project,
    live::{Display, Engine},
    until,
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
        let mut all = Picture::all(result);
        assert!(!all.is_empty(), "no picture: {result}");
        all.remove(0)
    }

    /// Every picture in a result, in their order.
    fn all(result: &Value) -> Vec<Self> {
        let parts = result["content"].as_array().unwrap();
        parts.iter().filter(|part| part["type"] == "image").map(Picture::of_part).collect()
    }

    fn of_part(part: &Value) -> Self {
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
    until("such a picture", || {
        let result = caller.result("viewport_capture_frame", arguments);
        assert_eq!(result["isError"], false, "{result}");
        is_drawn(&Picture::of(&result)).then_some(result)
    })
}

/// The same, once two pictures in a row are equal: an editor lays its view out over some frames.
fn at_rest(caller: &mut Caller, arguments: &Value, is_drawn: impl Fn(&Picture) -> bool) -> Value {
    let mut last: Option<Picture> = None;
    until("picture that stays", || {
        let result = captured(caller, arguments, &is_drawn);
        let picture = Picture::of(&result);
        let stays = last.as_ref().is_some_and(|last| last.bytes == picture.bytes);
        last = Some(picture);
        stays.then_some(result)
    })
}

#[test]
fn a_frame_of_a_game_and_of_an_editor_has_the_colours_of_the_scene() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("halves.tscn", HALVES);
    project.set_main_scene("res://halves.tscn");
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
    // One branch alone: the other half's colour is not in it, and nothing of the scene was changed for it.
    let before = caller.saved(&project, "halves.tscn");
    let mut left = flat.clone();
    left["node_isolation_path"] = "/root/Halves/Left".into();
    captured(&mut caller, &left, |picture| holds(picture, red) && !holds(picture, blue));
    let clear = |picture: &Picture| (0..100).any(|x| picture.at(x, 99)[3] == 0);
    assert!(!clear(&Picture::of(&captured(&mut caller, &left, |picture| holds(picture, red)))));
    left["isolation_background"] = "transparent".into();
    captured(&mut caller, &left, |picture| holds(picture, red) && clear(picture));
    captured(&mut caller, &flat, |picture| holds(picture, blue) && !clear(picture));
    assert_eq!(caller.saved(&project, "halves.tscn"), before);
    left["node_isolation_path"] = "/root/Halves/Nobody".into();
    assert_eq!(caller.refused("viewport_capture_frame", left), "not_found");
}

/// Whether any place of the picture has this colour.
fn holds(picture: &Picture, colour: [u8; 4]) -> bool {
    picture.bytes.chunks_exact(4).any(|pixel| pixel == colour)
}

#[test]
fn ghosts_are_seen_over_both_views_and_in_no_scene() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("halves.tscn", HALVES);
    project.write(
        "deep.tscn",
        "[gd_scene format=3 uid=\"uid://b3q1w0e8yddee\"]\n\n[node name=\"Deep\" type=\"Node3D\"]\n",
    );
    let display = Display::start();
    let Some(_editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    let magenta = [255, 0, 255, 255];
    let tint = json!({"r": 1, "g": 0, "b": 1});
    let flat = json!({"position": {"x": 100, "y": 100}, "size": {"x": 120, "y": 80}, "color": tint, "label": "here"});
    let deep = json!({"position": {"x": 0, "y": 0, "z": 0}, "size": {"x": 2, "y": 2, "z": 2}, "rotation_degrees": {"x": 0, "y": 30, "z": 0}, "color": tint});
    for (scene, view, ghost, dimension) in
        [("halves.tscn", "editor_2d", flat.clone(), 2), ("deep.tscn", "editor_3d", deep.clone(), 3)]
    {
        caller.done("scene_open", json!({"scene_path": format!("res://{scene}")}));
        let before = caller.saved(&project, scene);
        let look = json!({"camera_identifier": view, "select_main_screen": true});
        captured(&mut caller, &look, |picture| !holds(picture, magenta));
        let drawn = caller.done("editor_render_ghost_preview", json!({"previews": [ghost]}));
        assert_eq!(
            (&drawn["dimension"], &drawn["drawn"]),
            (&json!(dimension), &json!(1)),
            "{drawn}"
        );
        assert_eq!(drawn["previews"][0]["color_defaulted"], false, "{drawn}");
        captured(&mut caller, &look, |picture| holds(picture, magenta));
        assert_eq!(caller.saved(&project, scene), before, "no scene holds it");
        let id = drawn["preview_id"].clone();
        let cleared = caller.done("editor_clear_ghost_previews", json!({"preview_id": id}));
        assert_eq!((&cleared["cleared_shapes"], &cleared["live_shapes"]), (&json!(1), &json!(0)));
        captured(&mut caller, &look, |picture| !holds(picture, magenta));
        assert_eq!(
            caller.refused("editor_clear_ghost_previews", json!({"preview_id": id})),
            "not_found"
        );
    }
    let many: Value = (0..64).map(|_| flat.clone()).collect();
    let more = json!({"previews": many, "replace": false});
    for shown in [64, 128, 192, 256] {
        let drawn = caller.done("editor_render_ghost_preview", more.clone());
        assert_eq!(drawn["live_shapes"], shown, "{drawn}");
    }
    let one = json!({"previews": [flat], "replace": false});
    assert_eq!(caller.refused("editor_render_ghost_preview", one), "ghost_budget_exceeded");
    let replaced = caller.done("editor_render_ghost_preview", json!({"previews": [deep]}));
    assert_eq!((&replaced["replaced_shapes"], &replaced["live_shapes"]), (&json!(256), &json!(1)));
    assert_eq!(caller.done("editor_clear_ghost_previews", json!({}))["cleared_previews"], 1);
    for bad in [
        json!({"position": {"x": 0, "y": 0}, "size": {"x": 0, "y": 1}}),
        json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1, "z": 1}}),
        json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1}, "kind": "wish"}),
        json!({"position": {"x": 0, "y": 0}, "size": {"x": 1, "y": 1}, "rotation_degrees": {"x": 0, "y": 0, "z": 0}}),
    ] {
        let bad = json!({"previews": [bad]});
        assert_eq!(caller.refused("editor_render_ghost_preview", bad), "invalid_arguments");
    }
}

#[test]
fn what_changed_between_two_captures_is_measured_and_shown() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("halves.tscn", HALVES);
    let display = Display::start();
    let Some(editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://halves.tscn"}));
    let look = json!({"camera_identifier": "editor_2d", "select_main_screen": true});
    let (red, blue, green) = ([255, 0, 0, 255], [0, 0, 255, 255], [0, 255, 0, 255]);
    let first = at_rest(&mut caller, &look, |picture| holds(picture, red) && holds(picture, blue));
    let before = Picture::of(&first);
    let mut diff = look.clone();
    diff["baseline_capture_id"] = first["structuredContent"]["capture_id"].clone();
    diff["min_ssim"] = 0.99.into();
    diff["max_hamming_distance"] = 0.into();
    let same = caller.done("viewport_diff_capture", diff.clone());
    assert_eq!((&same["identical"], &same["changed_pixels"]), (&json!(true), &json!(0)), "{same}");
    assert_eq!((&same["ssim"], &same["bounding_box"]), (&json!(1.0), &Value::Null), "{same}");
    assert_eq!(same["perceptually_identical"], true, "{same}");
    let paint = json!({"target_node": "Right", "property_name": "color", "value": "#00ff00"});
    caller.edits("scene_set_property", paint);
    let after = Picture::of(&at_rest(&mut caller, &look, |picture| holds(picture, green)));
    let result = caller.result("viewport_diff_capture", &diff);
    let data = &result["structuredContent"];
    assert_eq!(
        (&data["identical"], &data["perceptually_identical"]),
        (&json!(false), &json!(false))
    );
    // The same count by the pixels of the two pictures.
    let pairs = before.bytes.chunks_exact(4).zip(after.bytes.chunks_exact(4));
    let places: Vec<usize> =
        pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
    assert_eq!(data["changed_pixels"], places.len(), "{data}");
    let left = places.iter().map(|at| at % before.width).min().unwrap();
    let top = places.iter().map(|at| at / before.width).min().unwrap();
    assert_eq!(
        (&data["bounding_box"]["x"], &data["bounding_box"]["y"]),
        (&json!(left), &json!(top)),
        "{data}"
    );
    assert_eq!(data["max_channel_delta"], 255, "{data}");
    assert!(data["ssim"].as_f64().unwrap() < 1.0, "{data}");
    let shown = Picture::of(&result);
    for (at, pixel) in shown.bytes.chunks_exact(4).enumerate() {
        let marked = pixel[0] >= 96 && pixel[1] == 0 && pixel[2] == 0;
        assert_eq!(marked, places.binary_search(&at).is_ok(), "pixel {at}: {pixel:?}");
    }
    let mut unknown = diff.clone();
    unknown["baseline_capture_id"] = "0".repeat(32).into();
    let refusal = caller.refusal("viewport_diff_capture", unknown);
    assert_eq!(refusal["data"]["next_call"]["tool"], "viewport_capture_frame", "{refusal}");
    drop(editor);
    let Some(_headless) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    assert_eq!(caller.refused("viewport_diff_capture", diff), "headless_engine");
    let passes = json!({"passes": ["color"]});
    assert_eq!(caller.refused("viewport_capture_passes", passes), "headless_engine");
}

#[test]
fn pictures_of_two_sizes_are_not_compared() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("sized.gd", "extends Control\n\n\nfunc _input(event: InputEvent) -> void:\n\tif event.is_action_pressed(\"walk_right\"):\n\t\tget_window().size = Vector2i(500, 300)\n");
    let script = "[ext_resource type=\"Script\" path=\"res://sized.gd\" id=\"1\"]";
    let scene = HALVES
        .replace("[gd_scene format=3]", &format!("[gd_scene load_steps=2 format=3]\n\n{script}"))
        .replacen("anchor_bottom = 1.0\n", "anchor_bottom = 1.0\nscript = ExtResource(\"1\")\n", 1);
    project.write("halves.tscn", scene);
    project.set_main_scene("res://halves.tscn");
    let display = Display::start();
    let Some(_game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    let first = captured(&mut caller, &json!({}), |picture| holds(picture, [255, 0, 0, 255]));
    let diff = json!({"baseline_capture_id": first["structuredContent"]["capture_id"]});
    assert_eq!(caller.done("viewport_diff_capture", diff.clone())["identical"], true);
    let walk =
        json!({"events": [{"type": "action", "action_name": "walk_right", "pressed": true}]});
    caller.done("runtime_inject_input", walk);
    let refused = until("window of another size", || {
        let result = caller.result("viewport_diff_capture", &diff);
        (result["isError"] == true).then_some(result)
    });
    let refusal = didi_tests::caller::refusal_of(&refused);
    assert_eq!(refusal["data"]["code"], "conflict", "{refusal}");
    let mut isolated = diff;
    isolated["node_isolation_path"] = "/root/Halves/Left".into();
    assert_eq!(caller.refused("viewport_diff_capture", isolated), "session_kind_rejected");
}

fn same_picture(one: &Picture, other: &Picture, why: &str) {
    let pixels =
        |picture: &Picture| picture.bytes.chunks_exact(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!((one.width, one.bytes.len()), (other.width, other.bytes.len()), "{why}");
    let (one, other) = (pixels(one), pixels(other));
    let differing: Vec<_> = (0..one.len()).filter(|at| one[*at] != other[*at]).collect();
    let shown: Vec<_> = differing.iter().take(8).map(|at| (at, &one[*at], &other[*at])).collect();
    assert!(differing.is_empty(), "{why}: {} pixels differ: {shown:?}", differing.len());
}

/// A camera that looks along -z at the front faces of two boxes, 8 and 20 away.
const DEEP: &str = "[gd_scene format=3 uid=\"uid://c5x0r2k8wm3ty\"]\n\n[sub_resource type=\"BoxMesh\" id=\"box\"]\nsize = Vector3(2, 2, 2)\n\n\
    [sub_resource type=\"StandardMaterial3D\" id=\"red\"]\nshading_mode = 0\nalbedo_color = Color(1, 0, 0, 1)\n\n\
    [node name=\"Deep\" type=\"Node3D\"]\n\n[node name=\"Eye\" type=\"Camera3D\" parent=\".\"]\ncurrent = true\nfar = 100.0\n\n\
    [node name=\"Near\" type=\"MeshInstance3D\" parent=\".\"]\ntransform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, -3, 0, -9)\n\
    material_override = SubResource(\"red\")\nmesh = SubResource(\"box\")\n\n\
    [node name=\"Far\" type=\"MeshInstance3D\" parent=\".\"]\ntransform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 6, 0, -21)\n\
    mesh = SubResource(\"box\")\n\n[node name=\"Unseen\" type=\"MeshInstance3D\" parent=\".\"]\nvisible = false\nmesh = SubResource(\"box\")\n";

/// A game whose first body is another one in each frame.
const CHURN: &str = "extends Node3D\n\n\nfunc _process(_delta: float) -> void:\n\
    \tvar old := get_node_or_null(\"Churn\")\n\tif old:\n\t\told.free()\n\
    \tvar fresh := MeshInstance3D.new()\n\tfresh.name = \"Churn\"\n\tfresh.mesh = BoxMesh.new()\n\
    \tfresh.position = Vector3(0, 0, 50)\n\tadd_child(fresh)\n\tmove_child(fresh, 0)\n";

#[test]
fn segments_are_of_their_bodies_while_others_come_and_go() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("churn.gd", CHURN);
    let script = "[ext_resource type=\"Script\" path=\"res://churn.gd\" id=\"1\"]\n\n[sub_resource";
    let scene = DEEP.replacen("[sub_resource", script, 1);
    let root = "[node name=\"Deep\" type=\"Node3D\"]\n";
    let scene = scene.replace(root, &format!("{root}script = ExtResource(\"1\")\n"));
    project.write("deep.tscn", scene);
    project.set_main_scene("res://deep.tscn");
    let display = Display::start();
    let Some(_game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    at_rest(&mut caller, &json!({}), |picture| holds(picture, [255, 0, 0, 255]));
    let passes = json!({"passes": ["color", "segmentation"]});
    let data = caller.done("viewport_capture_passes", passes);
    let entries = data["segmentation"].as_array().unwrap();
    let place = |name: &str| {
        let path = format!("/root/Deep/{name}");
        let entry = entries.iter().find(|one| one["node_path"] == path);
        entry.unwrap_or_else(|| panic!("{name}: {data}"))["bounds"]["x"].as_u64().unwrap()
    };
    assert_eq!(entries.len(), 2, "{data}");
    assert!(place("Near") < place("Far"), "{data}");
}

#[test]
fn no_picture_is_taken_of_a_view_that_is_drawn_for_another() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("deep.tscn", DEEP);
    project.set_main_scene("res://deep.tscn");
    let display = Display::start();
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    at_rest(&mut caller, &json!({}), |picture| holds(picture, [255, 0, 0, 255]));
    let passes = ("vision.capturePasses", json!({"passes": ["depth", "normal"]}));
    for tool in ["viewport_capture_frame", "viewport_capture_passes"] {
        let ask = if tool.ends_with("frame") { json!({}) } else { json!({"passes": ["color"]}) };
        let refusal = super::refused::refused_beside(
            &game,
            passes.clone(),
            &mut caller,
            (tool, &ask),
            "conflict",
        );
        assert_eq!(refusal["data"]["retry_after_ms"], 100, "{refusal}");
    }
}

/// Draws green when the engine's own loop draws no more.
const UNDRAWN: &str = "extends ColorRect\n\n\n\
    func _ready() -> void:\n\
    \tset_anchors_and_offsets_preset(PRESET_FULL_RECT)\n\
    \tcolor = Color.RED\n\
    \tfor frame in 5:\n\t\tawait RenderingServer.frame_post_draw\n\
    \tRenderingServer.render_loop_enabled = false\n\
    \tcolor = Color.GREEN\n\
    \tFileAccess.open(\"res://green.txt\", FileAccess.WRITE).store_string(\"green\")\n";

#[test]
fn a_game_that_draws_nothing_by_itself_is_drawn_for_its_picture() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write_scripted("Undrawn", "ColorRect", UNDRAWN);
    project.set_main_scene("res://undrawn.tscn");
    let display = Display::start();
    let Some(_game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    until("the game to be green", || project.text("green.txt"));
    let result = caller.result("viewport_capture_frame", &json!({}));
    assert_eq!(Picture::of(&result).at(50, 50), [0, 255, 0, 255]);
}

/// A half that is half bright, and one that is dark; alpha is no part of a window.
const BRIGHT: [[u8; 3]; 2] = [[128, 64, 26], [13, 5, 2]];

#[test]
fn a_game_that_draws_in_hdr_has_the_colours_that_its_window_shows() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    let color = |[r, g, b]: [u8; 3]| format!("Color8({r}, {g}, {b})");
    let script = format!(
        "extends ColorRect\n\n\nfunc _ready() -> void:\n\tsize = Vector2(640, 360)\n\tcolor = {}\n\
         \tvar dark := ColorRect.new()\n\tdark.size = Vector2(320, 360)\n\tdark.color = {}\n\tadd_child(dark)\n",
        color(BRIGHT[0]),
        color(BRIGHT[1]),
    );
    project.write_scripted("Bright", "ColorRect", script);
    project.set_main_scene("res://bright.tscn");
    project.set_rendering("viewport/hdr_2d=true");
    let display = Display::start();
    let Some(_game) = Engine::vulkan_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    let result = at_rest(&mut caller, &json!({}), |picture| picture.at(75, 50)[0] != 0);
    let picture = Picture::of(&result);
    for (x, [r, g, b]) in [(75, BRIGHT[0]), (25, BRIGHT[1])] {
        assert_eq!(picture.at(x, 50), [r, g, b, 255]);
    }
}

/// A game of two bodies, drawn by one line of settings.
fn deep_game(
    rendering: &str,
    start: fn(&Project, &Display) -> Option<Engine>,
) -> Option<(Project, Display, Engine, Caller)> {
    real_engine()?;
    let project = Project::sample();
    project.write("deep.tscn", DEEP);
    project.set_main_scene("res://deep.tscn");
    project.set_rendering(rendering);
    let display = Display::start();
    let game = start(&project, &display)?;
    let caller = Caller::of(&project);
    Some((project, display, game, caller))
}

/// Segments of two bodies: nothing in the picture but their own colours and the background's.
fn check_two_segments(caller: &mut Caller) {
    let result = caller.result("viewport_capture_passes", &json!({"passes": ["segmentation"]}));
    let data = &result["structuredContent"];
    assert_eq!(
        data.get("engine_diagnostics"),
        None,
        "nothing for the engine to complain of: {data}"
    );
    let entries = data["segmentation"].as_array().unwrap();
    let names: Vec<&Value> = entries.iter().map(|entry| &entry["node_path"]).collect();
    assert_eq!(names, ["/root/Deep/Near", "/root/Deep/Far"], "{data}");
    let picture = Picture::of(&result);
    let mut colors: Vec<[u8; 4]> =
        picture.bytes.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect();
    colors.sort_unstable();
    colors.dedup();
    assert_eq!(colors.len(), 3, "{colors:?}");
}

#[test]
fn segments_are_of_whole_pixels_where_the_scene_is_drawn_smaller() {
    let Some((_project, _display, _game, mut caller)) =
        deep_game("scaling_3d/scale=0.37", Engine::windowed_game)
    else {
        return;
    };
    let before = at_rest(&mut caller, &json!({}), |picture| holds(picture, [255, 0, 0, 255]));
    check_two_segments(&mut caller);
    let plain = json!({"passes": ["color"]});
    let result = caller.result("viewport_capture_passes", &plain);
    assert_eq!(result["structuredContent"]["painted_node_count"], 0, "{result}");
    same_picture(&Picture::of(&result), &Picture::of(&before), "drawn as small as before");
}

#[test]
fn segments_have_their_colours_where_the_game_draws_in_hdr() {
    let Some((_project, _display, _game, mut caller)) =
        deep_game("viewport/hdr_2d=true", Engine::vulkan_game)
    else {
        return;
    };
    at_rest(&mut caller, &json!({}), |picture| holds(picture, [255, 0, 0, 255]));
    check_two_segments(&mut caller);
}

#[test]
fn passes_tell_depth_normals_and_segments_and_leave_the_scene_alone() {
    if real_engine().is_none() {
        return;
    }
    let project = Project::sample();
    project.write("deep.tscn", DEEP);
    project.set_main_scene("res://deep.tscn");
    let display = Display::start();
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    let red = [255, 0, 0, 255];
    let before = at_rest(&mut caller, &json!({}), |picture| holds(picture, red));
    let passes = json!({"passes": ["depth", "color", "segmentation", "normal"], "depth_far": 40});
    let result = caller.result("viewport_capture_passes", &passes);
    let data = &result["structuredContent"];
    assert_eq!(data["pass_order"], passes["passes"], "{data}");
    let pictures = Picture::all(&result);
    let [depth, color, segments, normal] = pictures.as_slice() else { panic!("{data}") };
    same_picture(color, &Picture::of(&before), "the colours are those of a plain picture");
    // Where the middles of the front faces are, by the camera's angle of 75 degrees.
    let middle = |x: f64, distance: f64| {
        let half = distance * 37.5_f64.to_radians().tan() * 16.0 / 9.0;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in hundredths"
        )]
        let at = (50.0 + 50.0 * x / half).round() as usize;
        at
    };
    let (near, far) = (middle(-3.0, 8.0), middle(6.0, 20.0));
    let close = |is: [u8; 4], wanted: [u8; 3]| (0..3).all(|at| is[at].abs_diff(wanted[at]) <= 2);
    for (picture, x, wanted) in [
        (depth, near, [51; 3]),
        (depth, far, [128; 3]),
        (depth, 1, [255; 3]),
        (normal, near, [128, 128, 255]),
        (normal, far, [128, 128, 255]),
        (normal, 1, [0; 3]),
        (segments, 1, [0; 3]),
    ] {
        assert!(close(picture.at(x, 50), wanted), "{x}: {:?}, not {wanted:?}", picture.at(x, 50));
    }
    let entries = data["segmentation"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{data}");
    for (name, x) in [("Near", near), ("Far", far)] {
        let path = format!("/root/Deep/{name}");
        let entry = entries.iter().find(|one| one["node_path"] == path).unwrap();
        let color = segments.at(x, 50);
        let hex = format!("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
        assert_eq!(entry["observed_color"], hex, "{entry}");
        let places: Vec<(usize, usize)> = (segments.bytes.chunks_exact(4).enumerate())
            .filter(|(_, pixel)| **pixel == color)
            .map(|(at, _)| (at % segments.width, at / segments.width))
            .collect();
        assert_eq!(entry["pixels"], places.len(), "{entry}");
        let span = |part: fn(&(usize, usize)) -> usize| {
            let all = || places.iter().map(part);
            let (first, last) = (all().min().unwrap(), all().max().unwrap());
            (first, last - first + 1)
        };
        let ((x, width), (y, height)) = (span(|place| place.0), span(|place| place.1));
        assert_eq!(entry["bounds"], json!({"x": x, "y": y, "width": width, "height": height}));
    }
    let all = segments.width * segments.height;
    let claimed: u64 = entries.iter().map(|entry| entry["pixels"].as_u64().unwrap()).sum();
    assert_eq!(data["segmentation_unclaimed_pixels"], all as u64 - claimed);
    assert_eq!((&data["painted_node_count"], &data["truncated"]), (&json!(2), &json!(false)));
    let after = caller.result("viewport_capture_frame", &json!({}));
    same_picture(&Picture::of(&after), &Picture::of(&before), "drawn as before");
    for (wrong, code) in [
        (json!({"passes": ["depth"], "camera_identifier": "editor_3d"}), "invalid_arguments"),
        (json!({"passes": ["depth"], "select_main_screen": true}), "session_kind_rejected"),
        (json!({"passes": ["depth"], "depth_far": 0}), "invalid_arguments"),
    ] {
        assert_eq!(caller.refused("viewport_capture_passes", wrong.clone()), code, "{wrong}");
    }
    drop(game);

    let Some(_editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://deep.tscn"}));
    let saved = caller.saved(&project, "deep.tscn");
    let asked = json!({"passes": ["segmentation", "depth"], "select_main_screen": true});
    let data = until("both boxes", || {
        let data = caller.done("viewport_capture_passes", asked.clone());
        (data["segmentation"].as_array().unwrap().len() == 2).then_some(data)
    });
    let named: Vec<&Value> =
        data["segmentation"].as_array().unwrap().iter().map(|one| &one["node_path"]).collect();
    assert_eq!(named, ["/root/Deep/Near", "/root/Deep/Far"], "{data}");
    assert_eq!(caller.saved(&project, "deep.tscn"), saved, "no property was changed");
    let flat = json!({"passes": ["depth"], "camera_identifier": "editor_2d"});
    assert_eq!(caller.refused("viewport_capture_passes", flat), "not_found");
}
