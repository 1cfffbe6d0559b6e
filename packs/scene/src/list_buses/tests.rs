#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{fs, path::Path};

use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine, run_for_real},
};

use crate::ScenePack;

const TOOL: &str = "audio_list_buses";
const HEADER: &str = "[gd_resource type=\"AudioBusLayout\" format=3 uid=\"uid://bmix1\"]\n";
const LAYOUT: &str = "default_bus_layout.tres";

type Files<'a> = &'a [(&'a str, &'a str)];

fn project(files: Files<'_>) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let kit = Kit::open::<ScenePack>(folder.path()).mode(Mode::OfflineFallback);
    (folder, kit)
}

fn ask(files: Files<'_>) -> Value {
    project(files).1.call(TOOL, &json!({})).unwrap()
}

fn layout(body: &str) -> String {
    format!("{HEADER}\n[resource]\n{body}")
}

const MIXED: &str = "bus/0/name = &\"Boss\"\nbus/0/volume_db = -3.5\nbus/0/mute = true\n\
    bus/1/name = &\"Music\"\nbus/1/bypass_fx = true\nbus/1/volume_db = -6.01\n\
    bus/1/send = &\"Master\"\nbus/3/name = \"SFX\"\nbus/3/send = &\"Music\"\nbus/3/solo = true\n\
    bus/4/name = &\"Music\"\nbus/5/volume_db = 1\nbus/6/name = 5\nbus/6/mute = 1\n\
    bus/6/name = \"Last\"\nbus/08/name = \"Odd\"\nbus/8/mute = \"yes\"\nbus/9/other = 1\n";

/// Projects whose buses the engine and the tool have to agree on.
fn projects() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let settings = |text: &str| ("project.godot", format!("config_version=5\n{text}"));
    let plain = || settings("");
    let named = |path: &str| settings(&format!("[audio]\nbuses/default_bus_layout=\"{path}\"\n"));
    vec![
        ("nothing", vec![plain()]),
        ("every kind of value", vec![plain(), (LAYOUT, layout(MIXED))]),
        ("named", vec![named("res://snd/mix.tres"), ("snd/mix.tres", layout(MIXED))]),
        ("named from the root", vec![named("snd/mix.tres"), ("snd/mix.tres", layout(MIXED))]),
        ("named and gone", vec![named("res://mix.tres"), (LAYOUT, layout(MIXED))]),
        ("set to nothing", vec![named(""), (LAYOUT, layout(MIXED))]),
        ("by uid", vec![named("uid://bmix1"), ("snd/mix.tres", layout(MIXED))]),
        ("by a uid of nobody", vec![named("uid://bmix2"), ("snd/mix.tres", layout(MIXED))]),
        (
            "a value is missing",
            vec![plain(), (LAYOUT, layout("bus/1/name = &\"A\"\nbus/2/name = \n"))],
        ),
        (
            "of another class",
            vec![plain(), (LAYOUT, layout(MIXED).replace("AudioBusLayout", "Resource"))],
        ),
        (
            "a scene",
            vec![
                plain(),
                (LAYOUT, "[gd_scene format=3]\n[node name=\"A\" type=\"Node\"]\n".into()),
            ],
        ),
        (
            "a loose effect",
            vec![
                plain(),
                (
                    LAYOUT,
                    layout("bus/1/name = &\"A\"\nbus/1/effect/0/effect = SubResource(\"q\")\n"),
                ),
            ],
        ),
        (
            "a missing effect",
            vec![
                plain(),
                (
                    LAYOUT,
                    format!(
                        "{HEADER}[ext_resource type=\"AudioEffectReverb\" path=\"res://no.tres\" id=\"1\"]\n\
                         [resource]\nbus/1/name = &\"A\"\nbus/1/effect/0/effect = ExtResource(\"1\")\n"
                    ),
                ),
            ],
        ),
        (
            "an effect",
            vec![
                plain(),
                (
                    LAYOUT,
                    format!(
                        "{HEADER}[sub_resource type=\"AudioEffectReverb\" id=\"a\"]\n\n[resource]\n\
                         bus/1/name = &\"A\"\nbus/1/effect/0/effect = SubResource(\"a\")\n\
                         bus/1/effect/0/enabled = true\n"
                    ),
                ),
            ],
        ),
        (
            "far out",
            vec![plain(), (LAYOUT, layout("bus/3/name = \"Near\"\nbus/600/name = \"Far\"\n"))],
        ),
        ("empty", vec![plain(), (LAYOUT, layout(""))]),
    ]
}

const PRINT: &str = "extends SceneTree\nfunc _init():\n\tvar all = []\n\
    \tfor i in mini(AudioServer.bus_count, 512):\n\t\tall.append({\"index\": i, \
    \"name\": AudioServer.get_bus_name(i), \"volume_db\": AudioServer.get_bus_volume_db(i), \
    \"mute\": AudioServer.is_bus_mute(i), \"solo\": AudioServer.is_bus_solo(i), \
    \"bypass_effects\": AudioServer.is_bus_bypassing_effects(i), \
    \"send\": AudioServer.get_bus_send(i)})\n\
    \tprint(\"BUSES \", JSON.stringify({\"count\": AudioServer.bus_count, \"buses\": all}, \"\", false, true))\n\tquit()\n";

/// What a real engine has after loading the project.
fn engine_says(engine: &Path, folder: &Path, import: bool) -> Value {
    fs::write(folder.join("print.gd"), PRINT).unwrap();
    let run = |args: &[&str]| {
        let path = folder.to_string_lossy();
        let args = [&["--headless", "--path", &*path], args].concat();
        let spec = ChildSpec {
            program: None,
            args: args.into_iter().map(Into::into).collect(),
            env: vec![],
            folder: None,
            timeout_ms: 60_000,
            max_output_bytes: 1 << 20,
        };
        run_for_real(engine, folder, &spec).unwrap()
    };
    if import {
        run(&["--import"]);
    }
    let report = run(&["-s", "print.gd"]);
    let line = report.lines.iter().find_map(|line| line.text.strip_prefix("BUSES "));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{report:?}"))).unwrap()
}

#[test]
fn the_engine_and_the_answer_agree() {
    let Some(engine) = real_engine() else { return };
    for (name, files) in projects() {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        let (folder, kit) = project(&files);
        let answer = kit.answer(TOOL, &json!({})).unwrap();
        let truncated = answer.truncated;
        let answer: Value = serde_json::from_str(answer.data.get()).unwrap();
        let said = engine_says(&engine, folder.path(), name.contains("uid"));
        assert_eq!(answer["bus_count"].as_f64(), said["count"].as_f64(), "{name}: {answer}");
        assert_eq!(truncated, Some(said["count"].as_f64() > Some(512.0)), "{name}");
        let plain = |value: &Value| {
            // The engine's numbers are floats in its own JSON.
            let mut value = value.clone();
            value["index"] = json!(value["index"].as_f64());
            value
        };
        let ours: Vec<Value> = answer["buses"].as_array().unwrap().iter().map(plain).collect();
        let theirs: Vec<Value> = said["buses"].as_array().unwrap().iter().map(plain).collect();
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn says_which_layout_it_read_and_whether_it_loads() {
    let files = projects();
    let said = |wanted: &str| {
        let files = &files.iter().find(|(name, _)| *name == wanted).unwrap().1;
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        let data = ask(&files);
        (data["layout_present"].clone(), data["layout_loads"].clone(), data["layout_path"].clone())
    };
    assert_eq!(said("nothing"), (json!(false), json!(false), json!(null)));
    assert_eq!(said("by uid"), (json!(true), json!(true), json!("res://snd/mix.tres")));
    assert_eq!(said("named and gone"), (json!(false), json!(false), json!(null)));
    let broken = (json!(true), json!(false), json!(format!("res://{LAYOUT}")));
    assert_eq!(said("a value is missing"), broken);
    assert_eq!(said("of another class"), broken);
    assert_eq!(said("a loose effect"), broken);
    assert_eq!(said("a missing effect"), broken);
}

#[test]
fn a_bus_below_zero_ends_the_engine_and_is_named() {
    let data = ask(&[(LAYOUT, &layout("bus/1/name = \"A\"\nbus/-1/name = \"B\"\n"))]);
    assert_eq!(data["layout_loads"], false);
    assert!(data["layout_problem"].as_str().unwrap().starts_with("line 5:"), "{data}");
    assert_eq!(data["bus_count"], 1);
}

#[test]
fn a_volume_without_a_number_is_text() {
    let data = ask(&[(LAYOUT, &layout("bus/1/volume_db = -inf\n"))]);
    assert_eq!(data["buses"][1]["volume_db"], "-inf");
}

#[test]
fn settings_that_the_engine_refuses_are_refused_with_their_line() {
    let (_folder, kit) =
        project(&[("project.godot", "config_version=5\n\n[application]\nconfig/name=\n")]);
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!((refusal.code, &refusal.data["line"]), (codes::CONFLICT, &json!(5)));
}

#[test]
fn a_binary_layout_needs_an_engine() {
    let settings = "config_version=5\n[audio]\nbuses/default_bus_layout=\"res://mix.res\"\n";
    let (_folder, kit) = project(&[("project.godot", settings), ("mix.res", "RSRC")]);
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code, codes::UNPROCESSABLE);
    assert_eq!(refusal.data["next_call"]["tool"], "runtime_list_sessions");
}

#[test]
fn an_attached_engine_answers_and_its_silence_is_said() {
    let (folder, _) = project(&[(LAYOUT, &layout("bus/1/name = \"Disk\"\n"))]);
    let live = |answer: Result<Value, Refusal>| {
        let kit = Kit::open::<ScenePack>(folder.path()).mode(Mode::Live);
        let kit = kit.bridge(move |method, _| {
            assert_eq!(method, "audio.listBuses");
            answer.clone()
        });
        kit.answer(TOOL, &json!({}))
    };
    let engine = json!({"status": "success", "buses": [], "bus_count": 0, "truncated": true});
    let answer = live(Ok(engine)).unwrap();
    assert_eq!(answer.truncated, Some(true));
    assert_eq!(answer.data.get(), r#"{"status":"success","buses":[],"bus_count":0}"#);

    let silent = Refusal::new(codes::TIMEOUT, "no answer in 2 s").floor();
    let answer = live(Err(silent)).unwrap();
    let data: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!(data["live_error"], json!({"code": "timeout", "message": "no answer in 2 s"}));
    assert_eq!(data["buses"][1]["name"], "Disk");
    assert!(data["live_error_note"].is_string());

    let cancelled = Refusal::new(codes::CANCELLED, "given up").retry_after_ms(0);
    assert_eq!(live(Err(cancelled)).unwrap_err().code, codes::CANCELLED);
}
