//! Exact ticks of a paused game's physics, counted by the game's own script and held against the integrator.

use didi_tests::{Caller, Project, live::Engine, until};
use serde_json::{Value, json};

const SCENE: &str = r#"[gd_scene load_steps=4 format=3]

[ext_resource type="Script" path="res://world.gd" id="1"]
[ext_resource type="Script" path="res://witness.gd" id="2"]

[sub_resource type="CircleShape2D" id="c"]

[node name="World" type="Node2D"]
script = ExtResource("1")

[node name="Ball" type="RigidBody2D" parent="."]
position = Vector2(50, 0)
linear_damp_mode = 1

[node name="Shape" type="CollisionShape2D" parent="Ball"]
shape = SubResource("c")

[node name="Witness" type="Node" parent="."]
process_mode = 3
script = ExtResource("2")

[node name="Still" type="StaticBody2D" parent="."]
position = Vector2(900, 0)
"#;

/// Counts the ticks that the game has.
const WORLD: &str = "extends Node2D\n\nvar ticks: Array[float] = []\n\n\n\
    func _physics_process(delta: float) -> void:\n\tticks.append(delta)\n";

/// Writes down what there is in every frame, paused or not.
const WITNESS: &str = r#"extends Node


func _process(_delta: float) -> void:
	var seen := {"ticks": get_parent().ticks, "y": $"../Ball".position.y, "frame": Engine.get_process_frames()}
	var file := FileAccess.open("res://seen.tmp", FileAccess.WRITE)
	file.store_string(JSON.stringify(seen))
	file.close()
	DirAccess.rename_absolute("res://seen.tmp", "res://seen.json")
"#;

const BALL: &str = "/root/World/Ball";

/// Gravity, and the length of a tick, as projects have them.
const GRAVITY: f64 = 980.0;
const TICK_S: f64 = 1.0 / 60.0;

/// What the witness saw in a frame after this one: the lengths of all ticks, and where the ball is.
fn seen(project: &Project) -> (Vec<f64>, f64) {
    let read = || serde_json::from_str::<Value>(&project.text("seen.json")?).ok();
    let frame = |seen: &Value| seen["frame"].as_u64().unwrap();
    let now = until("a first frame", read);
    // The frame in which an answer came may have been written down before it came.
    let later = || read().filter(|seen| frame(seen) > frame(&now) + 1);
    let seen = until("a later frame", later);
    let ticks = seen["ticks"].as_array().unwrap().iter().map(|tick| tick.as_f64().unwrap());
    (ticks.collect(), seen["y"].as_f64().unwrap())
}

/// How far a body falls: its speed grows first, and carries it then.
fn fall(speed: &mut f64, ticks: u32, tick_s: f64) -> f64 {
    let one = |_| {
        *speed += GRAVITY * tick_s;
        *speed * tick_s
    };
    (0..ticks).map(one).sum()
}

#[test]
fn a_paused_game_runs_for_exact_ticks_and_a_body_falls_as_the_integrator_says() {
    let project = Project::sample();
    project.write("world.gd", WORLD);
    project.write("witness.gd", WITNESS);
    project.write("world.tscn", SCENE);
    project.set_main_scene("res://world.tscn");
    let Some(_game) = Engine::game_with(&project, &["--didi-start-paused"]) else { return };
    let mut caller = Caller::of(&project);
    // It may have had a tick before it was paused.
    let ran_before = seen(&project).0.len();

    let preview = caller.done("physics_simulate_step", json!({"steps": 10, "dry_run": true}));
    let before = &preview["mutation_preview"]["changes"][0]["before"];
    assert_eq!(before["paused"], true, "{preview}");
    assert_eq!(seen(&project).0.len(), ran_before, "a preview runs nothing");

    let mut speed = 0.0;
    let mut place = fall(&mut speed, u32::try_from(ran_before).unwrap(), TICK_S);
    for (steps, delta) in [(10, None), (5, Some(0.05)), (1, None)] {
        let tick_s = delta.unwrap_or(TICK_S);
        let ran_before = seen(&project).0.len();
        let mut asked = json!({"steps": steps});
        if let Some(delta) = delta {
            asked["delta"] = delta.into();
        }
        let told = caller.done("physics_simulate_step", asked);
        place += fall(&mut speed, steps, tick_s);
        let (ticks, y) = seen(&project);
        let ran = &ticks[ran_before..];
        assert_eq!(ran.len(), steps as usize, "the game's own script counts the ticks");
        let lasted = |tick: &f64| (tick - tick_s).abs() < 1e-6;
        assert!(ran.iter().all(lasted), "ticks took {ran:?} s and not {tick_s}");
        assert!((y - place).abs() < 0.01, "the ball is at {y} and not at {place} after {steps}");
        let moved = told["moved"].as_array().unwrap();
        let moved: Vec<&str> = moved.iter().map(|one| one["node_path"].as_str().unwrap()).collect();
        assert_eq!(moved, [BALL, "/root/World/Ball/Shape"], "{told}");
        let one = &told["moved"][0];
        assert!((one["to"]["y"].as_f64().unwrap() - place).abs() < 0.01, "{one}");
        assert!((one["linear_velocity"]["y"].as_f64().unwrap() - speed).abs() < 0.01, "{one}");
    }
    // Nothing goes on by itself: the game is paused.
    assert_eq!(seen(&project), seen(&project));

    for (arguments, code) in [
        (json!({"steps": 0}), "invalid_arguments"),
        (json!({"steps": 61}), "invalid_arguments"),
        (json!({"delta": 0.5}), "invalid_arguments"),
        (json!({"delta": 0.0}), "invalid_arguments"),
    ] {
        assert_eq!(caller.refused("physics_simulate_step", arguments), code);
    }
    caller.done("runtime_set_paused", json!({"paused": false}));
    assert_eq!(caller.refused("physics_simulate_step", json!({})), "game_not_paused");
    assert_eq!(
        caller.refused("physics_simulate_step", json!({"dry_run": true})),
        "game_not_paused"
    );
}
