//! `vision.diffViewport`: a new picture of a view beside an earlier one.
//!
//! The picture is taken on the main thread; the comparison and the picture of what differs are made beside it.

mod compare;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_wire::{BridgeError, SessionId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::compare::{Comparison, compare, hamming};
use super::capture::{
    self, Look,
    store::{self, Capture},
};
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    baseline_capture_id: String,
    #[serde(default)]
    threshold: u8,
    #[serde(flatten)]
    view: View,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct View {
    min_ssim: Option<f64>,
    max_hamming_distance: Option<u32>,
    camera_identifier: Option<String>,
    #[allow(dead_code, reason = "the size of an offline preview")]
    resolution: Option<Value>,
    node_isolation_path: Option<String>,
    isolation_background: Option<String>,
    select_main_screen: bool,
}

/// How alike two pictures have to be to count as the same to the eye.
#[derive(Clone, Copy)]
struct Tolerance {
    min_ssim: Option<f64>,
    max_hamming_distance: Option<u32>,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    // An engine that draws nothing has no earlier picture either, and says the nearer of the two.
    capture::check_display(context.kind)?;
    let view = args.view;
    let Some(baseline) = store::find(&args.baseline_capture_id) else {
        let message = "there is no such capture any more";
        let error =
            BridgeError::new(404, "not_found", message).with("field", "baseline_capture_id");
        let reason = "takes one to compare with";
        return Err(refuse::next_call(error, "viewport_capture_frame", json!({}), reason));
    };
    let look = Look {
        camera_identifier: view.camera_identifier,
        isolated: view.node_isolation_path.filter(|path| !path.is_empty()),
        transparent: view.isolation_background.as_deref() == Some("transparent"),
        select_main_screen: view.select_main_screen,
    };
    let tolerance =
        Tolerance { min_ssim: view.min_ssim, max_hamming_distance: view.max_hamming_distance };
    let (kind, threshold) = (context.kind, args.threshold);
    capture::take(kind, look, move |taken| {
        let (width, height) = (taken.width, taken.height);
        let id = SessionId::random().to_string();
        let mut facts = taken.told;
        facts.insert("baseline_capture_id".into(), baseline.id.as_str().into());
        facts.insert("capture_id".into(), id.as_str().into());
        facts.insert("resolution".into(), json!({ "width": width, "height": height }));
        let kept = store::keep(Capture { id, width, height, pixels: taken.pixels });
        let fits = (baseline.width, baseline.height) == (width, height);
        let sizes = [(baseline.width, baseline.height), (width, height)];
        capture::beside(
            move || {
                if !fits {
                    return Some(None);
                }
                let side = usize::try_from(width).ok()?;
                let compared = compare(&baseline.pixels, &kept.pixels, side, threshold);
                let picture = capture::encode(&compared.picture, width, height)?;
                Some(Some((compared, picture)))
            },
            move |compared| {
                let (compared, picture) = compared.ok_or_else(|| other_size(sizes))?;
                tell(&mut facts, &compared, tolerance);
                let image = json!({ "mime_type": "image/png", "data": STANDARD.encode(picture) });
                facts.insert("image".into(), image);
                Ok(facts.into())
            },
        )
    })
}

fn other_size([before, now]: [(i32, i32); 2]) -> BridgeError {
    let message = format!(
        "the earlier picture has {} x {} pixels and the new one {} x {}",
        before.0, before.1, now.0, now.1
    );
    let error = refuse::conflict("conflict", message);
    let reason = "takes one of the size that the view has now";
    refuse::next_call(error, "viewport_capture_frame", json!({}), reason)
}

fn tell(facts: &mut Map<String, Value>, compared: &Comparison, tolerance: Tolerance) {
    let distance = hamming(compared.hashes);
    let mut tell = |name: &str, value: Value| facts.insert(name.into(), value);
    tell("identical", (compared.changed == 0).into());
    tell("changed_pixels", compared.changed.into());
    tell("total_pixels", compared.total.into());
    tell("changed_ratio", compared.changed_ratio().into());
    tell("mean_absolute_error", compared.mean_absolute_error.into());
    tell("max_channel_delta", compared.max_delta.into());
    let bounds = compared.bounds.map(|bounds| {
        json!({ "x": bounds.x, "y": bounds.y, "width": bounds.width, "height": bounds.height })
    });
    tell("bounding_box", bounds.into());
    tell("ssim", compared.ssim.into());
    let hash = |hash: u64| format!("{hash:016x}");
    tell(
        "perceptual_hash",
        json!({
            "baseline": hash(compared.hashes[0]),
            "current": hash(compared.hashes[1]),
            "hamming_distance": distance,
        }),
    );
    if tolerance.min_ssim.is_some() || tolerance.max_hamming_distance.is_some() {
        let alike = tolerance.min_ssim.is_none_or(|least| compared.ssim >= least)
            && tolerance.max_hamming_distance.is_none_or(|most| distance <= most);
        tell("perceptually_identical", alike.into());
        tell(
            "perceptual_tolerance",
            json!({
                "min_ssim": tolerance.min_ssim,
                "max_hamming_distance": tolerance.max_hamming_distance,
            }),
        );
    }
}
