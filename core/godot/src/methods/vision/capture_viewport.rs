//! `vision.captureViewport`: what a viewport shows, as a PNG.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_wire::SessionId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::capture::{
    self, Look,
    store::{self, Capture},
};
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Args {
    camera_identifier: Option<String>,
    #[allow(dead_code, reason = "the size of an offline preview")]
    resolution: Option<Value>,
    #[allow(dead_code, reason = "reserved")]
    render_debug_flags: Option<Value>,
    node_isolation_path: Option<String>,
    isolation_background: Option<String>,
    select_main_screen: bool,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let kind = context.kind;
    let look = Look {
        camera_identifier: args.camera_identifier,
        isolated: args.node_isolation_path.filter(|path| !path.is_empty()),
        transparent: args.isolation_background.as_deref() == Some("transparent"),
        select_main_screen: args.select_main_screen,
    };
    capture::take(kind, look, move |taken| {
        let (width, height) = (taken.width, taken.height);
        let id = SessionId::random().to_string();
        let mut facts = taken.told;
        facts.insert("is_live_frame".into(), true.into());
        facts.insert("capture_id".into(), id.as_str().into());
        facts.insert("resolution".into(), json!({ "width": width, "height": height }));
        facts.insert("camera_identifier".into(), taken.view.into());
        facts.insert("status".into(), "success".into());
        facts.insert("session_kind".into(), kind.as_str().into());
        let kept = store::keep(Capture { id, width, height, pixels: taken.pixels });
        capture::beside(
            move || capture::encode(&kept.pixels, width, height),
            move |picture| {
                let image = json!({ "mime_type": "image/png", "data": STANDARD.encode(picture) });
                facts.insert("image".into(), image);
                Ok(facts.into())
            },
        )
    })
}
