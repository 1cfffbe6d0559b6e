//! Options are checked against the file, written, imported and read back; what is not held is put back.
#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use didi_plugin_api::{prelude::*, testkit::Kit};

use super::RETRY_MS;
use crate::ProjectPack;

const SIDECAR: &str = "[remap]\n\nimporter=\"texture\"\nuid=\"uid://abc\"\n\n[params]\n\nmipmaps/generate=false\nmipmaps/limit=-1\nsvg/scale=1.0\n";

/// A kit whose editor imports, and writes so many scales into the file when it does.
fn editor(scale: Option<&'static str>) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.svg"), "").unwrap();
    let file = folder.path().join("a.svg.import");
    fs::write(&file, SIDECAR).unwrap();
    let kit =
        Kit::open::<ProjectPack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            assert_eq!((method, &params["paths"]), ("asset.reimport", &json!(["res://a.svg"])));
            if let Some(scale) = scale {
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, text.replace("svg/scale=2.0", scale)).unwrap();
            }
            Ok(json!({"reimported": params["paths"]}))
        });
    (folder, kit)
}

fn ask(options: Value) -> Value {
    json!({"asset_path": "res://a.svg", "options": options})
}

#[test]
fn options_are_written_and_the_answer_tells_the_way_back() {
    let (folder, kit) = editor(None);
    let options = json!({"svg/scale": 2, "mipmaps/generate": true});
    let target = kit.preview("asset_configure_import", &ask(options.clone())).unwrap();
    assert_eq!(target.before["options"], json!({"svg/scale": 1.0, "mipmaps/generate": false}));
    assert_eq!(target.after.unwrap()["options"]["svg/scale"], 2.0);
    let done = kit.call("asset_configure_import", &ask(options)).unwrap();
    assert_eq!(
        done["way_back"]["arguments"]["options"],
        json!({"svg/scale": 1.0, "mipmaps/generate": false})
    );
    assert_eq!((&done["uid"], &done["stream"]), (&json!("uid://abc"), &Value::Null));
    let wanted =
        SIDECAR.replace("generate=false", "generate=true").replace("scale=1.0", "scale=2.0");
    assert_eq!(fs::read_to_string(folder.path().join("a.svg.import")).unwrap(), wanted);
}

#[test]
fn what_the_engine_does_not_hold_is_put_back() {
    let (folder, kit) = editor(Some("svg/scale=1.5"));
    let refusal = kit.call("asset_configure_import", &ask(json!({"svg/scale": 2}))).unwrap_err();
    assert_eq!(refusal.code.name, "import_change_not_held");
    assert_eq!(
        refusal.data["divergences"][0],
        json!({"key": "svg/scale", "requested": 2.0, "observed": 1.5})
    );
    assert_eq!(refusal.data["rolled_back"], true);
    assert_eq!(fs::read_to_string(folder.path().join("a.svg.import")).unwrap(), SIDECAR);
}

#[test]
fn what_the_file_does_not_have_is_refused_and_nothing_is_written() {
    let (folder, kit) = editor(None);
    for (options, key) in [
        (json!({"svg/scal": 2}), "svg/scal"),
        (json!({"svg/scale": "big"}), "svg/scale"),
        (json!({"mipmaps/generate": 1}), "mipmaps/generate"),
    ] {
        let refusal = kit.call("asset_configure_import", &ask(options)).unwrap_err();
        assert_eq!((refusal.code.status, &refusal.data["key"]), (400, &json!(key)), "{refusal:?}");
    }
    let file = folder.path().join("a.svg.import");
    assert_eq!(fs::read_to_string(&file).unwrap(), SIDECAR);
    for (text, code) in [
        ("[remap]\n\nimporter=\"texture\"\n", "hand_edited_import_metadata"),
        ("[remap]\n\nimporter=\n", "unparseable_import_metadata"),
    ] {
        fs::write(&file, text).unwrap();
        let refusal =
            kit.call("asset_configure_import", &ask(json!({"svg/scale": 2}))).unwrap_err();
        assert_eq!(refusal.code.name, code, "{refusal:?}");
    }
    fs::remove_file(&file).unwrap();
    let refusal = kit.call("asset_configure_import", &ask(json!({"svg/scale": 2}))).unwrap_err();
    assert_eq!(
        (refusal.code.name.as_ref(), &refusal.data["next_call"]["tool"]),
        ("no_import_metadata", &json!("asset_reimport"))
    );
}

const SOUND: &str =
    "[remap]\n\nimporter=\"wav\"\nuid=\"uid://snd\"\n\n[params]\n\nedit/normalize=false\n";

/// A kit with a sound, whose editor answers imports and looks at the stream so; it gets the `.import` file and how
/// many calls came before.
fn sound(
    answer: impl Fn(&str, &Path, usize) -> Result<Value, Refusal> + Send + Sync + 'static,
) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.wav"), "").unwrap();
    let file = folder.path().join("a.wav.import");
    fs::write(&file, SOUND).unwrap();
    let asked = AtomicUsize::new(0);
    let kit = Kit::open::<ProjectPack>(folder.path())
        .mode(Mode::Live)
        .bridge(move |method, _| answer(method, &file, asked.fetch_add(1, Ordering::Relaxed)));
    (folder, kit)
}

fn louder() -> Value {
    json!({"asset_path": "res://a.wav", "options": {"edit/normalize": true}})
}

#[test]
fn a_sound_that_does_not_load_is_put_back() {
    let (folder, kit) = sound(|method, _, _| match method {
        "asset.reimport" => Ok(json!({"reimported": ["res://a.wav"]})),
        _ => Err(Refusal::new(codes::NOT_FOUND, "there is no stream").floor()),
    });
    let refusal = kit.call("asset_configure_import", &louder()).unwrap_err();
    assert_eq!(refusal.code.name, "load_failed");
    assert_eq!(
        (&refusal.data["rolled_back"], &refusal.data["reimported"]),
        (&true.into(), &true.into())
    );
    assert_eq!(fs::read_to_string(folder.path().join("a.wav.import")).unwrap(), SOUND);
}

#[test]
fn an_import_that_fails_names_the_options_and_tells_both_halves_of_the_way_back() {
    let (folder, kit) = sound(|_, _, _| {
        let code = Code::new(422, "asset_import_failed");
        Err(Refusal::new(code, "1 of the files could not be imported").field("paths"))
    });
    let refusal = kit.call("asset_configure_import", &louder()).unwrap_err();
    assert_eq!(
        (refusal.code.name.as_ref(), &refusal.data["field"]),
        ("asset_import_failed", &"options".into())
    );
    // The file is as it was; the editor could not import it then, either.
    assert_eq!(
        (&refusal.data["rolled_back"], &refusal.data["reimported"]),
        (&true.into(), &false.into())
    );
    assert_eq!(fs::read_to_string(folder.path().join("a.wav.import")).unwrap(), SOUND);
}

fn late() -> Refusal {
    let code = Code::new(504, "reimport_idle_timeout");
    Refusal::new(code, "the editor did not import in time")
        .retry_with(json!({"timeout_ms": 10_000}))
}

#[test]
fn an_import_that_ends_late_is_undone_by_one_behind_it() {
    let (folder, kit) = sound(|_, file, nth| match nth {
        0 => Err(late()),
        // The first ends now, and writes what it was begun with; this one reads that.
        1 => {
            let text = SOUND.replace("normalize=false", "normalize=true");
            fs::write(file, text).unwrap();
            Ok(json!({"reimported": ["res://a.wav"]}))
        }
        _ => Ok(json!({"reimported": ["res://a.wav"]})),
    });
    let refusal = kit.call("asset_configure_import", &louder()).unwrap_err();
    assert_eq!(refusal.data["retry_after_ms"], RETRY_MS, "{refusal:?}");
    assert_eq!(
        (&refusal.data["rolled_back"], &refusal.data["reimported"]),
        (&true.into(), &true.into())
    );
    assert_eq!(fs::read_to_string(folder.path().join("a.wav.import")).unwrap(), SOUND);
}

#[test]
fn an_import_that_may_still_end_leaves_open_what_will_be_there() {
    let (_folder, kit) = sound(|_, _, _| Err(late()));
    let refusal = kit.call("asset_configure_import", &louder()).unwrap_err();
    assert_eq!(
        (&refusal.data["rolled_back"], &refusal.data["reimported"]),
        (&"unknown".into(), &false.into())
    );
}

#[test]
fn an_asset_that_is_gone_is_refused_before_its_settings_are_touched() {
    let (folder, kit) = sound(|_, _, _| Ok(Value::Null));
    fs::remove_file(folder.path().join("a.wav")).unwrap();
    for refusal in [
        kit.call("asset_configure_import", &louder()).unwrap_err(),
        kit.preview("asset_configure_import", &louder()).unwrap_err(),
    ] {
        assert_eq!(
            (refusal.code.name.as_ref(), &refusal.data["field"]),
            ("not_found", &"asset_path".into())
        );
    }
    assert_eq!(fs::read_to_string(folder.path().join("a.wav.import")).unwrap(), SOUND);
}
