//! `vision.captureViewport`: what a viewport shows, as a PNG.

use serde::Deserialize;
use serde_json::Value;

use super::capture::{self, Look};
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[allow(dead_code, reason = "reserved")]
    #[serde(default)]
    render_debug_flags: Option<Value>,
    #[serde(flatten)]
    look: Look,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let Args { look, .. } = params::read(params)?;
    let kind = context.kind;
    capture::take(kind, look, move |taken| {
        let (capture, mut facts) = (taken.capture, taken.facts);
        facts.insert("is_live_frame".into(), true.into());
        facts.insert("camera_identifier".into(), taken.view.into());
        facts.insert("status".into(), "success".into());
        facts.insert("session_kind".into(), kind.as_str().into());
        capture::beside(
            move || capture::encode(&capture.pixels, capture.width, capture.height),
            move |image| {
                facts.insert("image".into(), image);
                Ok(facts.into())
            },
        )
    })
}
