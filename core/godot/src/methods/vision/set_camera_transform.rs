//! `vision.setCameraTransform`: places a camera of the edited scene, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::Camera3D, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Triple;
use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    json,
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    camera_path: String,
    position: Triple,
    rotation_degrees: Option<Triple>,
    fov: Option<f32>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    check(&args)?;
    let (root, node) = owned::find(&args.camera_path)?;
    let Ok(camera) = node.try_cast::<Camera3D>() else {
        let message = format!("`{}` is no `Camera3D`", args.camera_path);
        let code = "camera_path_does_not_resolve_to_camera3d";
        return Err(BridgeError::new(404, code, message).with("field", "camera_path"));
    };
    Ok(Change::now(told(&camera), move |old| make(&args, &root, &camera, old)))
}

fn make(args: &Args, root: &Gd<Node>, camera: &Gd<Camera3D>, old: Value) -> Answer {
    let object: Gd<Object> = camera.clone().upcast();
    let mut action = Edit::begin("Place camera", root)?;
    let node: Gd<Node> = camera.clone().upcast();
    let mut set = |name: &str, value: Variant| {
        action.watches(&node, name);
        action.sets(&object, name, &value, &camera.get(name));
    };
    set("position", args.position.vector().to_variant());
    if let Some(rotation) = args.rotation_degrees {
        set("rotation_degrees", rotation.vector().to_variant());
    }
    if let Some(fov) = args.fov {
        set("fov", fov.to_variant());
    }
    action.commit();
    Ok(edit::done(json!({ "old": old, "new": told(camera) })))
}

fn check(args: &Args) -> Result<(), BridgeError> {
    let placed = args.position.is_within(1_000_000.0);
    let turned = args.rotation_degrees.is_none_or(|rotation| rotation.is_within(360_000.0));
    if !placed || !turned || args.fov.is_some_and(|fov| !(1.0..=179.0).contains(&fov)) {
        let message = "a position within a million, a rotation within 360,000 and a field of 1 to 179 \
                       degrees are taken";
        return Err(refuse::invalid("position", message));
    }
    Ok(())
}

fn told(camera: &Gd<Camera3D>) -> Value {
    let value = |name: &str| json::write(&camera.get(name)).unwrap_or_default();
    json!({
        "position": value("position"),
        "rotation_degrees": value("rotation_degrees"),
        "fov": value("fov"),
    })
}
